/* quiet.c: see quiet.h. */
#define _GNU_SOURCE /* for sched_getaffinity */
#include "quiet.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

long usable_processors(void)
{
    cpu_set_t may_use;
    if (sched_getaffinity(0, sizeof may_use, &may_use) == 0)
        return CPU_COUNT(&may_use);
    return sysconf(_SC_NPROCESSORS_ONLN);
}

void quieten_pocl(void)
{
    if (usable_processors() == sysconf(_SC_NPROCESSORS_ONLN))
        setenv("POCL_AFFINITY", "1", 0);
}
