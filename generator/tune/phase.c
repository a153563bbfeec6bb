/* phase.c: see phase.h. */
#include "phase.h"

#include <math.h>
#include <stdio.h>

/* How far the last evaluation of one search may go beyond its end. As long as nothing is verified,
 * edge classes may take all the time that is left. */
static const double grace = 0.1;

double phases_used(const struct phases *phases)
{
    return (phases->tuner->spent - phases->start) / phases->seconds;
}

void phases_out_of_memory(struct phases *phases)
{
    phases->tuner->failed = true;
    snprintf(phases->tuner->error, sizeof phases->tuner->error, "out of memory");
}

bool phases_must_stop(const struct phases *phases)
{
    return phases->tuner->failed || *phases->tuner->stop;
}

void phases_limit(struct phases *phases, double part, bool is_first)
{
    phases->tuner->limit = is_first && !phases->tuner->is_strict
                                 ? HUGE_VAL
                                 : fmin(phases->start + part * phases->seconds,
                                           phases->tuner->budget);
}

void phases_limit_beyond(struct phases *phases, double end, bool is_first)
{
    phases_limit(phases, end + grace, is_first);
}

bool phases_is_part(const struct tuner *tuner)
{
    return tuner->records.head.shard.num;
}

double shape_operations(struct shape s)
{
    return 2 * (double) s.m * (double) s.n * (double) s.k * (double) shape_members(s);
}
