/* test_ninja.c: a tuner that ninja runs waits for ninja's other jobs, generator/tune/ninja.c. Ninja
 * is a process of that name, which Linux lets it choose. */
#include "ninja.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static void sleep_ms(long ms)
{
    const struct timespec length = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };
    nanosleep(&length, NULL);
}

static int status_of(pid_t pid)
{
    int status = 0;
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
        return 99;
    return WEXITSTATUS(status);
}

static volatile int stop;

static void ask_to_stop(int signal_number)
{
    (void) signal_number;
    stop = 1;
}

/* The tuner's end: whether the other job had ended. It is asked to stop in a second (0: never). */
static void tune(int ended, unsigned seconds)
{
    struct pollfd job = { .fd = ended, .events = POLLIN };
    signal(SIGALRM, ask_to_stop);
    alarm(seconds);
    ninja_wait(&stop, true);
    _exit(poll(&job, 1, 0) == 1 ? 1 : 0);
}

/* In a process called `name`: a job that takes so long, or for ever (-1), and the tuner, below a
 * process in between as a shell is. What the tuner ends with. */
static int run(const char *name, long job_ms, unsigned stop_seconds)
{
    int ends[2];
    const pid_t parent = fork();
    if (parent != 0)
        return status_of(parent);
    if (prctl(PR_SET_NAME, name) || pipe(ends))
        _exit(98);
    const pid_t job = fork();
    if (job == 0) {
        prctl(PR_SET_NAME, "compiler");
        sleep_ms(job_ms < 0 ? 3600000 : job_ms);
        _exit(write(ends[1], "", 1) == 1 ? 0 : 1);
    }
    const pid_t between = fork();
    if (between == 0) {
        prctl(PR_SET_NAME, "a (shell) S 1");
        const pid_t tuner = fork();
        if (tuner == 0)
            tune(ends[0], stop_seconds);
        _exit(status_of(tuner));
    }
    const int status = status_of(between);
    if (job_ms < 0)
        kill(job, SIGKILL);
    status_of(job);
    _exit(status);
}

static void other_jobs_end_first(void **state)
{
    (void) state;
    assert_int_equal(run("ninja", 700, 0), 1);
    assert_int_equal(run("samu", 700, 0), 1);
    assert_int_equal(run("ninja-build", 700, 0), 1);
}

static void what_is_no_ninja_is_not_waited_for(void **state)
{
    (void) state;
    assert_int_equal(run("make", -1, 0), 0);
}

static void who_is_asked_to_stop_does(void **state)
{
    (void) state;
    assert_int_equal(run("ninja", -1, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_jobs_end_first),
        cmocka_unit_test(what_is_no_ninja_is_not_waited_for),
        cmocka_unit_test(who_is_asked_to_stop_does),
    };
    if (access("/proc/self/stat", R_OK) != 0)
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
