/* quiet.c: see quiet.h. */
#define _GNU_SOURCE /* for sched_getaffinity */
#include "quiet.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

void quieten_pocl(void)
{
    cpu_set_t may_use;
    if (sched_getaffinity(0, sizeof may_use, &may_use) == 0 &&
            CPU_COUNT(&may_use) == sysconf(_SC_NPROCESSORS_ONLN))
        setenv("POCL_AFFINITY", "1", 0);
}
