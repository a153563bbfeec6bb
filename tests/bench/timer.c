/* timer.c: wall-clock samples. A sample is long beside the clock's resolution and short beside the
 * drift of the machine; what is left of the drift is met by interleaving the peers. */
#include "timer.h"

#include <stddef.h>
#include <time.h>

static double timer_read(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double timer_now(void)
{
    return timer_read(CLOCK_MONOTONIC);
}

bool timer_sample(bool (*once)(void *user), void *user, double min_seconds, double *seconds)
{
    double start = timer_now();
    double elapsed;
    double runs = 0;

    if (!once(user)) {
        return false;
    }
    elapsed = timer_now() - start;
    if (elapsed >= min_seconds) {
        *seconds = elapsed;
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
    *seconds = elapsed / runs;
    return true;
}

void timer_wait_until_idle(void)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    const double busy = 2e-4;          /* seconds of processor time within one pause */

    for (int i = 0; i < 200; i++) {
        double before = timer_read(CLOCK_PROCESS_CPUTIME_ID);

        nanosleep(&pause, NULL);
        if (timer_read(CLOCK_PROCESS_CPUTIME_ID) - before < busy) {
            return;
        }
    }
}
