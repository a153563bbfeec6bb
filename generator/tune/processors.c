/* processors.c: see processors.h. */
#define _GNU_SOURCE /* for sched_getaffinity */
#include "processors.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

long processors_usable(void)
{
    cpu_set_t may_use;
    if (sched_getaffinity(0, sizeof may_use, &may_use) == 0)
        return CPU_COUNT(&may_use);
    return sysconf(_SC_NPROCESSORS_ONLN);
}

void processors_bind_pocl(void)
{
    if (processors_usable() == sysconf(_SC_NPROCESSORS_ONLN))
        setenv("POCL_AFFINITY", "1", 0);
}
