/* test_lock.c: turns on a device, generator/tune/lock.c. */
#include "clock.h"
#include "lock.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

/* Whether the lock can be had at once. */
static bool is_free(const char *device, const char *unit)
{
    const volatile int stop = 0;
    double waited;
    struct lock *lock = open_lock(device, unit);
    const pid_t pid = fork();
    if (pid == 0) {
        alarm(1);
        _exit(lock_take(lock, &stop, &waited) ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    lock_close(&lock);
    assert_null(lock);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
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
    assert_true(waited < 0.5);
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

static volatile int stopped;

static void stop_now(int number)
{
    (void) number;
    stopped = 1;
}

static void waiting_ends_with_a_stop(void **state)
{
    double waited;
    (void) state;
    const pid_t pid = hold("stopped");
    struct lock *lock = open_lock("stopped", "");
    signal(SIGALRM, stop_now);
    alarm(1);
    assert_false(lock_take(lock, &stopped, &waited));
    assert_true(waited > 0.5 && waited < 30);
    assert_false(lock_take(lock, &stopped, &waited));
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    stopped = 0;
    assert_true(lock_take(lock, &stopped, &waited));
    lock_close(&lock);
}

/* Writes its letter at each of its turns, which it asks for as soon as the last one is over. */
static pid_t take_turns(int to, char letter, int turns)
{
    const pid_t pid = fork();
    if (pid)
        return pid;
    const struct timespec work = { 0, 10000000 };
    struct lock *lock = open_lock("turns", "");
    double waited;
    for (int i = 0; i < turns; i++) {
        if (!lock_take(lock, NULL, &waited) || write(to, &letter, 1) != 1)
            _exit(1);
        nanosleep(&work, NULL);
        lock_release(lock);
    }
    _exit(0);
}

/* Once both are there, neither comes twice while the other waits, but for a few times when the
 * machine stops one of them between two turns. */
static void two_take_turns(void **state)
{
    enum { TURNS = 60 };
    int pipes[2];
    char order[2 * TURNS];
    unsigned changes = 0;
    size_t num = 0;
    ssize_t got;
    (void) state;
    assert_int_equal(pipe(pipes), 0);
    const pid_t a = take_turns(pipes[1], 'a', TURNS), b = take_turns(pipes[1], 'b', TURNS);
    close(pipes[1]);
    while (num < sizeof order && (got = read(pipes[0], order + num, sizeof order - num)) > 0)
        num += (size_t) got;
    close(pipes[0]);
    waitpid(a, NULL, 0);
    waitpid(b, NULL, 0);
    assert_int_equal(num, sizeof order);
    for (size_t i = 1; i < num; i++)
        changes += order[i] != order[i - 1];
    assert_in_range(changes, TURNS, 2 * TURNS);
}

/* What cannot be locked is measured on all the same; a link is not followed. */
static void no_file_is_no_obstacle(void **state)
{
    const struct device_facts facts = make_facts("none", "");
    char path[128];
    double waited;
    (void) state;
    struct lock *lock = lock_open("/nowhere", &facts);
    assert_non_null(lock);
    assert_true(lock_take(lock, NULL, &waited));
    lock_release(lock);
    lock_close(&lock);
    snprintf(path, sizeof path, "%s/kiln-device-A-platform-R-none", folder);
    assert_int_equal(symlink("/tmp/kiln-made-by-a-link", path), 0);
    lock = lock_open(folder, &facts);
    assert_true(lock_take(lock, NULL, &waited));
    lock_close(&lock);
    assert_int_not_equal(access("/tmp/kiln-made-by-a-link", F_OK), 0);
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
