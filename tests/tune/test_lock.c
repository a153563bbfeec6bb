/* test_lock.c: turns on a device, generator/tune/lock.c.
 *
 * A lock that is not free is waited for in pauses; they are counted here, so that no test has to
 * guess how long to wait.
 */
#include "lock.h"

#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/kiln-lock-XXXXXX";

static struct device_facts make_facts(const char *device, const char *unit)
{
    struct device_facts facts;
    facts_minimal(&facts);
    strcpy(facts.platform, "A platform (R)");
    strcpy(facts.device, device);
    strcpy(facts.unit, unit);
    return facts;
}

static struct lock *open_lock(const char *device, const char *unit)
{
    const struct device_facts facts = make_facts(device, unit);
    struct lock *lock = lock_open(folder, &facts);
    assert_non_null(lock);
    return lock;
}

/* In place of the library's: stops the one that waits after as many pauses as it is given. */
static volatile int stopped;
static int pauses, pauses_given;

int nanosleep(const struct timespec *time, struct timespec *rest)
{
    stopped = ++pauses >= pauses_given;
    return clock_nanosleep(CLOCK_MONOTONIC, 0, time, rest);
}

/* Whether the lock is had within so many pauses. */
static bool take_within(struct lock *lock, int given, double *waited)
{
    stopped = 0;
    pauses = 0;
    pauses_given = given;
    return lock_take(lock, &stopped, waited);
}

/* Whether the lock can be had at once. */
static bool is_free(const char *device, const char *unit)
{
    double waited;
    struct lock *lock = open_lock(device, unit);
    const bool taken = take_within(lock, 1, &waited);
    assert_int_equal(pauses, taken ? 0 : 1);
    lock_close(&lock);
    assert_null(lock);
    return taken;
}

static int make_folder(void **state)
{
    (void) state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[64];
    (void) state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static void one_device_is_one_lock(void **state)
{
    double waited;
    (void) state;
    struct lock *lock = open_lock("GPU", "0:1:0.0");
    assert_true(lock_take(lock, NULL, &waited));
    assert_false(is_free("GPU", "0:1:0.0"));
    assert_true(is_free("GPU", "0:2:0.0"));
    assert_true(is_free("GPU", ""));
    assert_true(is_free("CPU", "0:1:0.0"));
    lock_release(lock);
    assert_true(is_free("GPU", "0:1:0.0"));
    lock_close(&lock);
}

static pid_t hold(const char *device)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        double waited;
        struct lock *lock = open_lock(device, "");
        if (lock_take(lock, NULL, &waited) && write(ready[1], "", 1) == 1)
            for (;;)
                pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static void a_killed_holder_lets_go(void **state)
{
    (void) state;
    const pid_t pid = hold("killed");
    assert_false(is_free("killed", ""));
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_true(is_free("killed", ""));
}

static void waiting_ends_with_a_stop(void **state)
{
    double waited;
    (void) state;
    const pid_t pid = hold("stopped");
    struct lock *lock = open_lock("stopped", "");
    assert_false(take_within(lock, 20, &waited));
    assert_int_equal(pauses, 20);
    assert_true(waited > 0);
    assert_false(lock_take(lock, &stopped, &waited));
    assert_int_equal(pauses, 20);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_true(take_within(lock, 1, &waited));
    lock_close(&lock);
}

/* The file behind a device's lock, or behind the place of the next one. */
static void file_of(const char *device, const char *suffix, char path[128])
{
    snprintf(path, 128, "%s/kiln-device-A-platform-R--%s%s", folder, device, suffix);
}

/* Waits until another process waits to be the next one on the device. */
static void await_next(const char *device)
{
    char path[128];
    file_of(device, ".next", path);
    const int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    while (!flock(fd, LOCK_EX | LOCK_NB)) {
        flock(fd, LOCK_UN);
        sched_yield();
    }
    close(fd);
}

/* Takes the device again and again, and writes a letter each time that it has it. */
static pid_t take_for_ever(int to)
{
    const pid_t pid = fork();
    if (pid)
        return pid;
    struct lock *lock = open_lock("turns", "");
    double waited;
    while (lock_take(lock, NULL, &waited) && write(to, "", 1) == 1)
        lock_release(lock);
    _exit(1);
}

/* Who asks again as soon as its turn is over comes after the one that waits, however slow that one
 * is. */
static void two_take_turns(void **state)
{
    int pipes[2];
    char letters[64];
    double waited;
    (void) state;
    assert_int_equal(pipe(pipes), 0);
    fcntl(pipes[0], F_SETFL, O_NONBLOCK);
    struct lock *lock = open_lock("turns", "");
    assert_true(lock_take(lock, NULL, &waited));
    const pid_t pid = take_for_ever(pipes[1]);
    for (int turn = 0; turn < 20; turn++) {
        await_next("turns");
        lock_release(lock);
        assert_true(lock_take(lock, NULL, &waited));
        assert_true(read(pipes[0], letters, sizeof letters) > 0);
        while (read(pipes[0], letters, sizeof letters) > 0) {
        }
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    lock_close(&lock);
    close(pipes[0]);
    close(pipes[1]);
}

/* What cannot be locked is measured on all the same; a link is not followed. */
static void no_file_is_no_obstacle(void **state)
{
    const struct device_facts facts = make_facts("none", "");
    char path[128], elsewhere[128];
    double waited;
    (void) state;
    struct lock *lock = lock_open("/nowhere", &facts);
    assert_non_null(lock);
    assert_true(lock_take(lock, NULL, &waited));
    lock_release(lock);
    lock_close(&lock);
    struct lock *other = open_lock("elsewhere", "");
    assert_true(lock_take(other, NULL, &waited));
    file_of("none", "", path);
    file_of("elsewhere", "", elsewhere);
    assert_int_equal(symlink(elsewhere, path), 0);
    assert_true(is_free("none", ""));
    lock_close(&other);
    assert_int_equal(unlink(path), 0);
    assert_true(is_free("none", ""));
    assert_int_equal(access(path, F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_device_is_one_lock),
        cmocka_unit_test(a_killed_holder_lets_go),
        cmocka_unit_test(waiting_ends_with_a_stop),
        cmocka_unit_test(two_take_turns),
        cmocka_unit_test(no_file_is_no_obstacle),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
