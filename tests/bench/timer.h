/* timer.h: wall-clock time, and the one way in which every peer takes a sample. */
#ifndef BENCH_TIMER_H
#define BENCH_TIMER_H

#include <stdbool.h>

/* Seconds of the monotonic clock. */
double timer_now(void);

/* Runs `once` until `min_seconds` have passed and gives the mean time of one run. The first run
 * only warms up, unless it fills the sample alone. False as soon as a run fails. */
bool timer_sample(bool (*once)(void *user), void *user, double min_seconds, double *seconds);

/* Waits until no thread of this process uses the processor: a library's workers may spin for a
 * while after a call, and would take time from the peer that is measured next. */
void timer_wait_until_idle(void);

#endif
