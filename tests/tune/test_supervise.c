/* test_supervise.c: generator/tune/{supervise,child}.c against a child that misbehaves.
 *
 * Usage: test_supervise PATH-OF-FAKE-CHILD. The fake child's device name and each config's TM say
 * what it does (fake_child.c). A deadline is so long that only a child that hangs meets it: it then
 * has the clock put forward.
 */
#include "ahead.h"
#include "child.h"
#include "clock.h"
#include "leap.h"
#include "lock.h"
#include "supervise.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { GOOD = 1, CRASH = 2, HANG = 4, GARBAGE = 6, PARTIAL = 8, FLOOD = 12, EXIT = 14 };

static const char *program;

static struct supervisor *open_good(const char *device)
{
    struct device_facts facts;
    char error[TRIAL_MESSAGE_BYTES];
    struct supervisor *supervisor = supervise_open(program, device, NULL, &facts, error);
    if (!supervisor)
        fail_msg("%s", error);
    return supervisor;
}

/* A request whose configs have these TM. */
static void make_request(struct trial_request *request, const int *tm, unsigned num)
{
    memset(request, 0, sizeof *request);
    request->kind = TRIAL_MEASURE;
    request->problem.precision = precision_find("single");
    request->m = request->n = request->k = 64;
    request->num_configs = num;
    request->deadline = LEAP_SECONDS / 2;
    for (unsigned i = 0; i < num; i++) {
        char text[64], error[FAMILY_ERROR_BYTES];
        snprintf(text, sizeof text, "direct TM=%d", tm[i]);
        assert_true(config_parse(text, &request->configs[i], error));
    }
}

static int open_files(void)
{
    int num = 0;
    DIR *folder = opendir("/proc/self/fd");
    if (!folder)
        return 0;
    while (readdir(folder))
        num++;
    closedir(folder);
    return num;
}

static void test_facts_come_from_the_child(void **state)
{
    struct device_facts facts;
    char error[TRIAL_MESSAGE_BYTES];
    (void) state;
    struct supervisor *supervisor = supervise_open(program, "good", NULL, &facts, error);
    assert_non_null(supervisor);
    assert_string_equal(facts.platform, "Fake");
    assert_string_equal(facts.device, "Fake device 9000");
    assert_string_equal(facts.driver, "1.0 beta");
    assert_string_equal(facts.unit, "0:65:0.0");
    for (int i = 0; i < NUM_FACTS; i++)
        assert_int_equal(facts.value[i], 11 + i);
    supervise_close(&supervisor);
    assert_null(supervisor);
}

static void test_slow_greeting_is_waited_for(void **state)
{
    (void) state;
    struct supervisor *supervisor = open_good("slow-greeting");
    supervise_close(&supervisor);
}

static void test_open_fails_with_the_cause(void **state)
{
    static const struct {
        const char *device, *message;
    } expected[] = {
        { "bad-greeting", "good morning" },
        { "crash-greeting", "signal 6" },
        { "no-device", "no OpenCL device was found" },
        { "no-context", "no context on this device" },
        { "bad-canary", "the device computed a wrong answer" },
    };
    (void) state;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        struct device_facts facts;
        char error[TRIAL_MESSAGE_BYTES];
        assert_null(supervise_open(program, expected[i].device, NULL, &facts, error));
        if (!strstr(error, expected[i].message))
            fail_msg("'%s' is not in '%s'", expected[i].message, error);
    }
}

/* A build wants to know whether there is a device before it tunes, and whether it works is another
 * question. */
static void test_probe_tells_absent_from_broken(void **state)
{
    static const struct {
        const char *device;
        enum supervise_probe found;
    } expected[] = {
        { "good", SUPERVISE_FOUND },
        { "bad-canary", SUPERVISE_FOUND },
        { "no-device", SUPERVISE_ABSENT },
        { "no-context", SUPERVISE_BROKEN },
        { "crash-greeting", SUPERVISE_BROKEN },
    };
    (void) state;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        struct device_facts facts;
        char error[TRIAL_MESSAGE_BYTES];
        if (supervise_probe(program, expected[i].device, &facts, error) != expected[i].found)
            fail_msg("%s: %s", expected[i].device, error);
        if (expected[i].found == SUPERVISE_FOUND)
            assert_string_equal(facts.device, "Fake device 9000");
    }
}

/* When the time for all has passed, what was answered stays, and the rest is late, not guilty. */
static void test_what_the_time_does_not_do_for_is_late(void **state)
{
    static const int tm[] = { GOOD, HANG, GOOD };
    struct trial_request request;
    struct trial_result results[3];
    (void) state;
    make_request(&request, tm, 3);
    request.deadline = 60;
    request.total = 0.5;
    struct supervisor *supervisor = open_good("good");
    assert_true(supervise_run(supervisor, &request, results, NULL));
    assert_int_equal(results[0].outcome, TRIAL_OK);
    assert_int_equal(results[1].outcome, TRIAL_LATE);
    assert_int_equal(results[2].outcome, TRIAL_LATE);
    make_request(&request, tm, 1); /* the next one finds a child that works */
    assert_true(supervise_run(supervisor, &request, results, NULL));
    assert_int_equal(results[0].outcome, TRIAL_OK);
    supervise_close(&supervisor);
}

static void test_program_that_does_not_exist(void **state)
{
    struct device_facts facts;
    char error[TRIAL_MESSAGE_BYTES];
    (void) state;
    assert_null(supervise_open("/nonexistent/program", "", NULL, &facts, error));
    assert_non_null(strstr(error, "exit 127"));
}

static void test_good_configs(void **state)
{
    static const int tm[] = { GOOD, GOOD, GOOD };
    struct trial_request request;
    struct trial_result results[3];
    (void) state;
    make_request(&request, tm, 3);
    struct supervisor *supervisor = open_good("good");
    for (int repeat = 0; repeat < 3; repeat++) {
        assert_true(supervise_run(supervisor, &request, results, NULL));
        for (int i = 0; i < 3; i++) {
            assert_int_equal(results[i].outcome, TRIAL_OK);
            assert_true(results[i].seconds == 0.001 && results[i].spread == 0.01);
            assert_string_equal(results[i].message, "");
        }
    }
    request.kind = TRIAL_EDGES;
    assert_true(supervise_run(supervisor, &request, results, NULL));
    assert_int_equal(results[2].outcome, TRIAL_OK);
    supervise_close(&supervisor);
}

/* One that misbehaves costs one config, whatever it does; those around it are measured. */
static void test_each_misbehaviour_costs_one_config(void **state)
{
    static const struct {
        int tm;
        enum trial_outcome outcome;
        const char *message;
    } expected[] = {
        { CRASH, TRIAL_CRASH, "signal 11: assertion failed in a driver" },
        { HANG, TRIAL_TIMEOUT, "no answer within 500 s" },
        { GARBAGE, TRIAL_CRASH, "I am not part of any protocol" },
        { PARTIAL, TRIAL_CRASH, "exit 0" },
        { FLOOD, TRIAL_CRASH, "not an answer" },
        { EXIT, TRIAL_CRASH, "exit 3" },
    };
    (void) state;
    const int files = open_files();
    for (int interleaved = 0; interleaved < 2; interleaved++) {
        struct supervisor *supervisor = open_good(interleaved ? "interleaved" : "good");
        for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
            struct trial_request request;
            struct trial_result results[3];
            make_request(&request, (int[]){ GOOD, expected[i].tm, GOOD }, 3);
            assert_true(supervise_run(supervisor, &request, results, NULL));
            assert_int_equal(results[0].outcome, TRIAL_OK);
            assert_int_equal(results[2].outcome, TRIAL_OK);
            assert_int_equal(results[1].outcome, expected[i].outcome);
            if (!strstr(results[1].message, expected[i].message))
                fail_msg("'%s' is not in '%s'", expected[i].message, results[1].message);
            assert_null(strpbrk(results[1].message, "\t\n"));
        }
        supervise_close(&supervisor);
    }
    assert_int_equal(open_files(), files);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
}

static void test_all_at_once(void **state)
{
    static const int tm[] = { CRASH, GOOD, HANG, GARBAGE, GOOD, PARTIAL, FLOOD, EXIT, GOOD };
    struct trial_request request;
    struct trial_result results[9];
    (void) state;
    make_request(&request, tm, 9);
    struct supervisor *supervisor = open_good("interleaved");
    assert_true(supervise_run(supervisor, &request, results, NULL));
    for (int i = 0; i < 9; i++)
        assert_int_equal(results[i].outcome, tm[i] == GOOD   ? TRIAL_OK
                                             : tm[i] == HANG ? TRIAL_TIMEOUT
                                                             : TRIAL_CRASH);
    assert_true(results[2].cost >= LEAP_SECONDS / 2);
    supervise_close(&supervisor);
}

/* A config's deadline counts its own time only, in however many pieces: here two, each of them
 * about a leap, as a signal may come a moment early. */
static void test_costs_are_booked_per_config(void **state)
{
    static const int tm[] = { GOOD, GOOD, GOOD, GOOD };
    struct trial_request request;
    struct trial_result results[4];
    double sum = 0;
    (void) state;
    make_request(&request, tm, 4);
    request.deadline = 5.5 * LEAP_SECONDS;
    struct supervisor *supervisor = open_good("unhurried");
    const double begin = clock_now();
    const int leaps = num_leaps;
    assert_true(supervise_run(supervisor, &request, results, NULL));
    for (int i = 0; i < 4; i++) {
        assert_int_equal(results[i].outcome, TRIAL_OK);
        sum += results[i].cost;
    }
    assert_int_equal(num_leaps - leaps, 8);
    assert_true(sum >= 7 * LEAP_SECONDS && sum <= clock_now() - begin);
    supervise_close(&supervisor);
}

/* A child that ended between two requests is nobody's fault. */
static void test_child_that_died_idle(void **state)
{
    static const int tm[] = { GOOD, GOOD };
    struct trial_request request;
    struct trial_result results[2];
    (void) state;
    make_request(&request, tm, 2);
    struct supervisor *supervisor = open_good("die-idle");
    for (int repeat = 0; repeat < 3; repeat++) {
        assert_true(supervise_run(supervisor, &request, results, NULL));
        assert_int_equal(results[0].outcome, TRIAL_OK);
        assert_int_equal(results[1].outcome, TRIAL_OK);
    }
    supervise_close(&supervisor);
}

/* Somebody else's SIGKILL or SIGTERM is no verdict; where it comes again, it is one. */
static void test_killed_by_somebody_else(void **state)
{
    static const int tm[] = { GOOD, HANG, HANG, GOOD };
    static const char *const how[] = { "kill", "end" }, *const signals[] = { "signal 9",
        "signal 15" };
    (void) state;
    for (int i = 0; i < 2; i++)
        for (int again = 0; again < 2; again++) {
            char path[] = "/tmp/kiln-test-XXXXXX", device[64];
            struct trial_request request;
            struct trial_result results[4];
            const int file = mkstemp(path);
            assert_true(file >= 0);
            close(file);
            unlink(path);
            snprintf(device, sizeof device, "%s:%s", how[i], again ? "" : path);
            make_request(&request, tm, 4);
            struct supervisor *supervisor = open_good(device);
            assert_true(supervise_run(supervisor, &request, results, NULL));
            for (int c = 0; c < 4; c++) {
                const bool is_bad = again && tm[c] == HANG;
                assert_int_equal(results[c].outcome, is_bad ? TRIAL_CRASH : TRIAL_OK);
                assert_string_equal(results[c].message, is_bad ? signals[i] : "");
            }
            supervise_close(&supervisor);
            unlink(path);
        }
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* Once its output is closed, a child has time to die of its own cause. What does not die by then is
 * killed, and that is no somebody else: the config is not tried again. */
static void test_slow_death(void **state)
{
    char path[] = "/tmp/kiln-test-XXXXXX", device[64];
    struct trial_request request;
    struct trial_result results[3];
    (void) state;
    make_request(&request, (int[]){ GOOD, HANG, GOOD }, 3);
    struct supervisor *supervisor = open_good("die-slowly");
    assert_true(supervise_run(supervisor, &request, results, NULL));
    assert_int_equal(results[0].outcome, TRIAL_OK);
    assert_int_equal(results[1].outcome, TRIAL_CRASH);
    assert_int_equal(results[2].outcome, TRIAL_OK);
    assert_string_equal(results[1].message, "signal 11: the device is let go");
    supervise_close(&supervisor);

    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    unlink(path);
    snprintf(device, sizeof device, "linger:%s", path);
    supervisor = open_good(device);
    assert_true(supervise_run(supervisor, &request, results, NULL));
    assert_int_equal(results[0].outcome, TRIAL_OK);
    assert_int_equal(results[1].outcome, TRIAL_CRASH);
    assert_string_equal(results[1].message, "signal 9");
    assert_int_equal(results[2].outcome, TRIAL_OK);
    supervise_close(&supervisor);
    unlink(path);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* The config that broke the device is named; what comes after it is not measured. */
static void test_device_that_breaks(void **state)
{
    char path[] = "/tmp/kiln-test-XXXXXX", device[64];
    struct trial_request request;
    struct trial_result results[2];
    (void) state;
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    unlink(path);
    snprintf(device, sizeof device, "break:%s", path);
    struct supervisor *supervisor = open_good(device);
    make_request(&request, (int[]){ CRASH }, 1);
    assert_true(supervise_run(supervisor, &request, results, NULL));
    assert_int_equal(results[0].outcome, TRIAL_CRASH);
    make_request(&request, (int[]){ GOOD, GOOD }, 2);
    assert_false(supervise_run(supervisor, &request, results, NULL));
    assert_int_equal(results[0].outcome, TRIAL_DEVICE);
    assert_int_equal(results[1].outcome, TRIAL_DEVICE);
    assert_non_null(strstr(results[0].message, "canary failed"));
    unlink(path);
    assert_true(supervise_run(supervisor, &request, results, NULL));
    supervise_close(&supervisor);
    unlink(path);
}

static volatile int stop;

static void stop_now(int number)
{
    (void) number;
    stop = 1;
}

/* Here the child that hangs is a person's cue. */
static void test_stop(void **state)
{
    struct trial_request request;
    struct trial_result results[3];
    (void) state;
    make_request(&request, (int[]){ GOOD, HANG, GOOD }, 3);
    struct supervisor *supervisor = open_good("good");
    on_signal(stop_now);
    stop = 0;
    assert_false(supervise_run(supervisor, &request, results, &stop));
    on_signal(leap);
    assert_int_equal(results[0].outcome, TRIAL_OK);
    for (int i = 1; i < 3; i++) {
        assert_int_equal(results[i].outcome, TRIAL_TIMEOUT);
        assert_string_equal(results[i].message, "stopped");
    }
    assert_false(supervise_run(supervisor, &request, results, &stop));
    stop = 0;
    make_request(&request, (int[]){ GOOD }, 1);
    assert_true(supervise_run(supervisor, &request, results, &stop));
    assert_int_equal(results[0].outcome, TRIAL_OK);
    supervise_close(&supervisor);
}

/* While another tuner has the device nothing is asked of the child. */
static void test_waits_for_its_turn(void **state)
{
    struct device_facts facts;
    struct trial_request request;
    struct trial_result result;
    char error[TRIAL_MESSAGE_BYTES];
    double waited;
    (void) state;
    struct supervisor *supervisor = supervise_open(program, "good", NULL, &facts, error);
    assert_non_null(supervisor);
    struct lock *lock = lock_open(LOCK_FOLDER, &facts);
    assert_true(lock_take(lock, NULL, &waited));
    make_request(&request, (int[]){ GOOD }, 1);
    stop = 0;
    signal(SIGALRM, stop_now);
    alarm(1);
    assert_false(supervise_run(supervisor, &request, &result, &stop));
    assert_string_equal(result.message, "stopped");
    stop = 0;
    lock_close(&lock);
    assert_true(supervise_run(supervisor, &request, &result, &stop));
    assert_int_equal(result.outcome, TRIAL_OK);
    supervise_close(&supervisor);
}

/* ---- Building ahead ---- */

static enum trial_outcome outcome_of(struct supervisor *supervisor, int tm)
{
    struct trial_request request;
    struct trial_result result;
    make_request(&request, &tm, 1);
    assert_true(supervise_run(supervisor, &request, &result, NULL));
    return result.outcome;
}

static void build(struct supervisor *supervisor, int tm)
{
    struct trial_request request;
    make_request(&request, &tm, 1);
    assert_true(supervise_build(supervisor, &request));
}

/* What goes wrong while a candidate is built ahead costs that candidate, and no other. */
static void test_building_ahead(void **state)
{
    static const int bad[] = { CRASH, EXIT, HANG };
    (void) state;
    struct supervisor *supervisor = open_good("good");
    build(supervisor, GOOD);
    assert_int_equal(outcome_of(supervisor, GOOD), TRIAL_OK);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        build(supervisor, bad[i]);
        assert_int_equal(outcome_of(supervisor, bad[i]),
                bad[i] == HANG ? TRIAL_TIMEOUT : TRIAL_CRASH);
        assert_int_equal(outcome_of(supervisor, GOOD), TRIAL_OK);
    }
    build(supervisor, CRASH);
    nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
    assert_int_equal(outcome_of(supervisor, GOOD), TRIAL_OK);
    supervise_close(&supervisor);
}

static struct supervisor *take(struct ahead *ahead, int tm)
{
    struct trial_request request;
    make_request(&request, &tm, 1);
    return ahead_take(ahead, &request);
}

static void build_ahead(struct ahead *ahead, int tm)
{
    struct trial_request request;
    make_request(&request, &tm, 1);
    ahead_build(ahead, &request, NULL);
}

static void test_each_builds_its_own(void **state)
{
    (void) state;
    struct ahead *ahead = ahead_open(program, "good", 3);
    assert_non_null(ahead);
    assert_null(take(ahead, 1));
    build_ahead(ahead, 1);
    build_ahead(ahead, 2);
    build_ahead(ahead, 12); /* three cores are for two builders */
    struct supervisor *one = take(ahead, 1), *two = take(ahead, 2);
    assert_true(one && two && one != two);
    assert_null(take(ahead, 1));
    assert_null(take(ahead, 12));
    assert_int_equal(outcome_of(one, 1), TRIAL_OK);
    assert_int_equal(outcome_of(two, 2), TRIAL_CRASH);
    build_ahead(ahead, 12);
    assert_ptr_equal(take(ahead, 12), one);
    ahead_close(&ahead);
    assert_null(ahead);
}

static void test_nothing_is_built_ahead_without_cores(void **state)
{
    (void) state;
    struct ahead *ahead = ahead_open(program, "good", 2);
    build_ahead(ahead, 1);
    assert_null(take(ahead, 1));
    ahead_close(&ahead);
    ahead = ahead_open("/nowhere/kiln-tune", "good", 8);
    build_ahead(ahead, 1);
    assert_null(take(ahead, 1));
    ahead_close(&ahead);
}

static void test_close_of_nothing(void **state)
{
    struct supervisor *supervisor = NULL;
    (void) state;
    supervise_close(&supervisor);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts_come_from_the_child),
        cmocka_unit_test(test_slow_greeting_is_waited_for),
        cmocka_unit_test(test_open_fails_with_the_cause),
        cmocka_unit_test(test_probe_tells_absent_from_broken),
        cmocka_unit_test(test_what_the_time_does_not_do_for_is_late),
        cmocka_unit_test(test_program_that_does_not_exist),
        cmocka_unit_test(test_good_configs),
        cmocka_unit_test(test_each_misbehaviour_costs_one_config),
        cmocka_unit_test(test_all_at_once),
        cmocka_unit_test(test_costs_are_booked_per_config),
        cmocka_unit_test(test_child_that_died_idle),
        cmocka_unit_test(test_killed_by_somebody_else),
        cmocka_unit_test(test_slow_death),
        cmocka_unit_test(test_device_that_breaks),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_waits_for_its_turn),
        cmocka_unit_test(test_building_ahead),
        cmocka_unit_test(test_each_builds_its_own),
        cmocka_unit_test(test_nothing_is_built_ahead_without_cores),
        cmocka_unit_test(test_close_of_nothing),
    };
    if (argc != 2) {
        fprintf(stderr, "usage: test_supervise FAKE-CHILD\n");
        return EXIT_FAILURE;
    }
    program = argv[1];
    on_signal(leap);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
