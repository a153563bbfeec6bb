/* timer.h: wall-clock time, and the two ways in which a peer takes a sample: call by call, and in
 * batches where the device has a clock of its own. */
#ifndef BENCH_TIMER_H
#define BENCH_TIMER_H

#include <stdbool.h>
#include <stddef.h>

/* Mean times of one multiplication, seconds. */
enum timer_clock { CLOCK_WALL, CLOCK_DEVICE, NUM_CLOCKS };
struct sample {
    double seconds[NUM_CLOCKS];        /* 0: not taken by this clock */
};

/* Seconds of the monotonic clock. */
double timer_now(void);

/* Runs `once` until `min_seconds` have passed and gives the mean time of one run. The first run
 * only warms up, unless it fills the sample alone. False as soon as a run fails. */
bool timer_sample(bool (*once)(void *user), void *user, double min_seconds, struct sample *sample);

/* Multiplies `count` times back to back and waits for the last. With `device_seconds` it does so
 * behind one more, which only warms up, and writes the time from the end of that one to the end of
 * the last, by the device's own clock. */
typedef bool timer_batch(void *user, size_t count, double *device_seconds);

/* Finds how many multiplications last `min_seconds`; those are the sample by the wall clock, and as
 * many once more the one by the device's. False as soon as a batch fails. */
bool timer_sample_batches(timer_batch *batch, void *user, double min_seconds,
        struct sample *sample);

/* Waits until no thread of this process uses the processor: a library's workers may spin for a
 * while after a call, and would take time from the peer that is measured next. */
void timer_wait_until_idle(void);

#endif
