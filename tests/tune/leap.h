/* leap.h: the clock that all of a test sees, in place of the library's: a real one, put forward by
 * signals. For one source of a program. */
#ifndef KILN_TESTS_TUNE_LEAP_H
#define KILN_TESTS_TUNE_LEAP_H

#include <signal.h>
#include <time.h>

enum { LEAP_SECONDS = 1000 };
static volatile sig_atomic_t num_leaps;

int clock_gettime(clockid_t clock, struct timespec *time)
{
    (void) clock;
    timespec_get(time, TIME_UTC);
    time->tv_sec += LEAP_SECONDS * num_leaps;
    return 0;
}

static void leap(int number)
{
    (void) number;
    num_leaps++;
}

/* What is done when a child sends its signal, each time. */
static void on_signal(void (*action)(int number))
{
    sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = action }, NULL);
}

#endif
