/* timer.c: wall-clock samples. A sample is long beside the clock's resolution and short beside the
 * drift of the machine; what is left of the drift is met by interleaving the peers. */
#include "timer.h"

#include <time.h>

enum { TIMER_MAX_BATCH = 10000, TIMER_MAX_GROWTH = 16 };

static double timer_read(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

double timer_now(void)
{
    return timer_read(CLOCK_MONOTONIC);
}

bool timer_sample(bool (*once)(void *user), void *user, double min_seconds, struct sample *sample)
{
    double start = timer_now();
    double elapsed;
    double runs = 0;

    *sample = (struct sample){ { 0 } };
    if (!once(user)) {
        return false;
    }
    elapsed = timer_now() - start;
    if (elapsed >= min_seconds) {
        sample->seconds[CLOCK_WALL] = elapsed;
        return true;
    }
    start = timer_now();
    do {
        if (!once(user)) {
            return false;
        }
        runs++;
        elapsed = timer_now() - start;
    } while (elapsed < min_seconds);
    sample->seconds[CLOCK_WALL] = elapsed / runs;
    return true;
}

/* How many of the multiplications of which `count` took `elapsed` last a little over
 * `min_seconds`. A first batch is often several times slower than the next, so the number grows
 * in steps. */
static size_t timer_grow(size_t count, double elapsed, double min_seconds)
{
    double wanted = 1.1 * (double) count * min_seconds / elapsed;
    size_t most = count * TIMER_MAX_GROWTH;

    most = most < TIMER_MAX_BATCH ? most : TIMER_MAX_BATCH;
    return wanted < (double) most ? (size_t) wanted + 1 : most;
}

bool timer_sample_batches(timer_batch *batch, void *user, double min_seconds, struct sample *sample)
{
    size_t count = 1;

    while (true) {
        double start = timer_now();
        double elapsed;

        if (!batch(user, count, NULL)) {
            return false;
        }
        elapsed = timer_now() - start;
        sample->seconds[CLOCK_WALL] = elapsed / (double) count;
        if (elapsed >= min_seconds || count == TIMER_MAX_BATCH) {
            break;
        }
        count = timer_grow(count, elapsed, min_seconds);
    }
    if (!batch(user, count, &sample->seconds[CLOCK_DEVICE])) {
        return false;
    }
    sample->seconds[CLOCK_DEVICE] /= (double) count;
    return sample->seconds[CLOCK_DEVICE] > 0;
}

void timer_wait_until_idle(void)
{
    const struct timespec pause = { .tv_nsec = 2000000 };
    const double busy = 2e-4; /* seconds of processor time within one pause */

    for (int i = 0; i < 200; i++) {
        double before = timer_read(CLOCK_PROCESS_CPUTIME_ID);

        nanosleep(&pause, NULL);
        if (timer_read(CLOCK_PROCESS_CPUTIME_ID) - before < busy) {
            return;
        }
    }
}
