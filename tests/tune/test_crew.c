/* test_crew.c: evaluations side by side, generator/tune/{crew,edges_phase}.c and
 * tuner_evaluate_each of tuner.c, with the fake child for a device. A child that hangs has the
 * clock put forward.
 *
 * Usage: test_crew PATH-OF-FAKE-CHILD.
 */
#include "clock.h"
#include "edges_phase.h"
#include "leap.h"
#include "lock.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* WAIT and MEET are so on the device "meet". */
enum { GOOD = 1, CRASH = 2, HANG = 4, WAIT = 6, MEET = 8, EXIT = 14 };

static volatile int stop;

static void stop_now(int number)
{
    (void) number;
    stop = 1;
}

static const char *program;
static char folder[] = "/tmp/kiln-crew-XXXXXX";
static char path[64], mark[64];
static char alone[72], breaks[72], meet[72]; /* devices' names */

static struct tuner tuner;

static int make_folder(void **state)
{
    (void) state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/journal.tsv", folder);
    snprintf(mark, sizeof mark, "%s/mark", folder);
    snprintf(alone, sizeof alone, "alone:%s", mark);
    snprintf(breaks, sizeof breaks, "break:%s", mark);
    snprintf(meet, sizeof meet, "meet:%s", mark);
    return 0;
}

static int remove_folder(void **state)
{
    (void) state;
    return rmdir(folder);
}

/* A run over the journal, with so many seconds and a crew of this size; 0 is none. */
static void begin(const char *device, double seconds, unsigned size)
{
    struct journal_head head = { .generator = 77 };
    stop = 0;
    on_signal(leap);
    tuner = (struct tuner){ .budget = seconds, .quiet = true, .stop = &stop };
    tuner.supervisor = supervise_open(program, device, NULL, &tuner.facts, tuner.error);
    if (!tuner.supervisor)
        fail_msg("%s", tuner.error);
    head.facts = tuner.facts;
    tuner.crew = size ? crew_open(program, device, size) : NULL;
    tuner.journal = journal_open(path, &head, false, &tuner.records, tuner.error);
    if (!tuner.journal)
        fail_msg("%s", tuner.error);
    tuner.last_event = clock_now();
}

static int end(void **state)
{
    (void) state;
    crew_close(&tuner.crew);
    supervise_close(&tuner.supervisor);
    journal_close(tuner.journal);
    records_free(&tuner.records);
    tuner.journal = NULL;
    return waitpid(-1, NULL, WNOHANG) == -1 ? 0 : -1; /* no child is left */
}

/* So that the next run knows nothing. */
static int end_all(void **state)
{
    unlink(path);
    unlink(mark);
    return end(state);
}

static struct config config_of(int tm, int nv)
{
    struct config config;
    char text[64], error[FAMILY_ERROR_BYTES];
    snprintf(text, sizeof text, "direct TM=%d NV=%d", tm, nv);
    if (!config_parse(text, &config, error))
        fail_msg("%s", error);
    return config;
}

/* Evaluates configurations with these TM, each different from the others. */
static bool evaluate(const int *tm, unsigned num, struct record *results)
{
    struct evaluation evaluations[TRIAL_MAX_CONFIGS] = { 0 };
    for (unsigned i = 0; i < num; i++)
        evaluations[i] = (struct evaluation){ .config = config_of(tm[i], 1 << i / NUM_PAIRS),
            .problem = problem_of_pair(precision_find("single"), (int) i % NUM_PAIRS) };
    return tuner_evaluate_each(&tuner, RECORD_EDGES, evaluations, num, results);
}

static void expect_rows(const int *tm, const char *const *outcomes, unsigned num)
{
    assert_int_equal(tuner.records.num, num);
    for (unsigned i = 0; i < num; i++) {
        const struct record *r = &tuner.records.rows[i];
        const struct config config = config_of(tm[i], 1 << i / NUM_PAIRS);
        assert_int_equal(r->kind, RECORD_EDGES);
        assert_int_equal(r->pair, i % NUM_PAIRS);
        assert_true(config_equal(&r->config, &config));
        assert_string_equal(r->outcome, outcomes[i]);
    }
}

/* The first evaluation ends after the second one, which shows that both were under way; their
 * rows come in order. What they cost is the time it took. */
static void rows_come_in_the_order_of_the_evaluations(void **state)
{
    static const int tm[] = { WAIT, MEET, GOOD };
    static const char *const outcomes[] = { "ok", "ok", "ok" };
    struct record results[3];
    (void) state;
    begin(meet, 1e6, 2);
    const double before = tuner.last_event;
    assert_true(evaluate(tm, 3, results));
    const double spent = tuner.spent;
    const double took = tuner.last_event - before - supervise_waited(tuner.supervisor);
    assert_true(spent > 0 && fabs(spent - took) < 1e-4);
    expect_rows(tm, outcomes, 3);
    for (int i = 0; i < 3; i++)
        assert_string_equal(results[i].outcome, "ok");
    end(NULL);
    begin("good", 1e6, 0); /* what the journal has is not done again */
    assert_true(evaluate(tm, 3, results));
    assert_int_equal(tuner.num_measured, 0);
    assert_int_equal(tuner.num_recalled, 3);
    assert_true(fabs(spent - tuner.spent) < 1e-9);
    expect_rows(tm, outcomes, 3);
}

/* One that takes its process down costs itself alone; all is the same without a crew. */
static void each_misbehaviour_costs_one(void **state)
{
    static const int tm[] = { GOOD, CRASH, GOOD, EXIT, CRASH, GOOD, GOOD };
    static const char *const outcomes[] = { "ok", "crash", "ok", "crash", "crash", "ok", "ok" };
    static const unsigned sizes[] = { 0, 1, 2, CREW_MOST };
    (void) state;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        struct record results[7];
        begin("good", 1e6, sizes[s]);
        assert_true(evaluate(tm, 7, results));
        expect_rows(tm, outcomes, 7);
        for (int i = 0; i < 7; i++)
            assert_string_equal(results[i].outcome, outcomes[i]);
        assert_non_null(strstr(results[1].message, "signal 11"));
        assert_false(tuner.failed);
        end_all(NULL);
    }
}

/* What is under way when the time is over is late; what is not is not begun. A run with the same
 * time takes it so, one with more does it again. */
static void the_time_holds(void **state)
{
    static const int tm[] = { HANG, HANG, HANG, HANG };
    static const int other[] = { GOOD, GOOD, GOOD, GOOD };
    struct record results[4];
    (void) state;
    begin("good", LEAP_SECONDS / 2, 2);
    assert_false(evaluate(tm, 4, results));
    assert_string_equal(results[3].outcome, "");
    assert_false(tuner.failed);
    const size_t num = tuner.records.num;
    assert_in_range(num, 1, 2); /* the clock may leap before both processes have begun */
    for (size_t i = 0; i < num; i++)
        assert_string_equal(tuner.records.rows[i].outcome, "late");
    assert_false(evaluate(other, 4, results));
    end(NULL);
    begin("good", LEAP_SECONDS / 2, 2);
    assert_false(evaluate(tm, 4, results));
    assert_int_equal(tuner.num_measured, 0);
    assert_int_equal(tuner.num_recalled, num);
    end(NULL);
    begin("good", 1e6, 2);
    assert_true(evaluate(tm, 1, results));
    assert_string_equal(results[0].outcome, "timeout");
}

/* Ctrl-C ends what is under way, which leaves no row, and keeps what is done. */
static void stop_ends_all(void **state)
{
    static const int all[] = { HANG, HANG, HANG, GOOD }, one[] = { GOOD, HANG, GOOD };
    static const char *const outcomes[] = { "ok" };
    struct record results[4];
    (void) state;
    begin("good", 1e6, 3);
    on_signal(stop_now);
    assert_false(evaluate(all, 4, results));
    assert_int_equal(tuner.records.num, 0);
    assert_false(tuner.failed);
    end_all(NULL);
    begin("good", 1e6, 1);
    on_signal(stop_now);
    assert_false(evaluate(one, 3, results));
    expect_rows(one, outcomes, 1);
    stop = 0;
    assert_true(evaluate((const int[]){ GOOD, GOOD, GOOD }, 3, results)); /* it goes on */
}

/* While another tuner has the device nothing is evaluated. */
static void a_crew_waits_for_the_turn(void **state)
{
    static const int tm[] = { GOOD, GOOD, GOOD };
    struct record results[3];
    double waited;
    (void) state;
    begin("good", 1e6, 2);
    struct lock *lock = lock_open(LOCK_FOLDER, &tuner.facts);
    assert_true(lock_take(lock, NULL, &waited));
    signal(SIGALRM, stop_now);
    alarm(1);
    assert_false(evaluate(tm, 3, results));
    assert_int_equal(tuner.records.num, 0);
    lock_close(&lock);
    stop = 0;
    assert_true(evaluate(tm, 3, results));
}

/* Processes that do not start are not missed: the first one does all. */
static void without_members_one_answers(void **state)
{
    static const int tm[] = { GOOD, GOOD, EXIT };
    static const char *const outcomes[] = { "ok", "ok", "crash" };
    struct record results[3];
    (void) state;
    begin(alone, 1e6, 2);
    assert_true(evaluate(tm, 3, results));
    expect_rows(tm, outcomes, 3);
    assert_false(tuner.failed);
}

/* A device that goes away ends the run. */
static void a_lost_device_is_told(void **state)
{
    struct record results[3];
    (void) state;
    begin(breaks, 1e6, 2);
    assert_true(evaluate((const int[]){ CRASH }, 1, results));
    assert_false(evaluate((const int[]){ CRASH, GOOD, GOOD }, 3, results));
    assert_true(tuner.failed && tuner.is_lost);
    assert_non_null(strstr(tuner.error, "canary"));
    assert_int_equal(tuner.records.num, 1);
}

/* A run that verified side by side, then does nothing. Ends by a signal only. */
static void run_until_killed(int ready)
{
    static const int tm[] = { GOOD, GOOD, GOOD };
    struct record results[3];
    begin("good", 1e6, 3);
    const bool ok = evaluate(tm, 3, results);
    if (write(ready, ok ? "1" : "0", 1) != 1)
        _exit(1);
    for (;;)
        pause();
}

/* Members end with the tuner, however it ends: each has the pipe open as long as it lives. */
static void no_member_outlives_the_tuner(void **state)
{
    int ends[2];
    char byte = 0;
    (void) state;
    assert_int_equal(pipe(ends), 0);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        run_until_killed(ends[1]);
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    assert_int_equal(byte, '1');
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(read(ends[0], &byte, 1), 0);
    close(ends[0]);
}

static void a_crew_is_two_at_least(void **state)
{
    (void) state;
    assert_int_equal(crew_size(-1, 64e9), 0);
    assert_int_equal(crew_size(1, 64e9), 0);
    assert_int_equal(crew_size(2, 64e9), 2);
    assert_int_equal(crew_size(16, 64e9), 12);
    assert_int_equal(crew_size(4, 1e9), 0);
    assert_int_equal(crew_size(4, 2e9), 3);
    assert_int_equal(crew_size(4, -1), 0);
}

/* ---- Building ---- */

static void warm(const int *tm, unsigned num)
{
    const struct problem problem = problem_of_pair(precision_find("single"), 0);
    struct config configs[4];
    for (unsigned i = 0; i < num; i++)
        configs[i] = config_of(tm[i], 1);
    tuner_warm(&tuner, &problem, configs, num);
}

/* Side by side, without rows. */
static void building_leaves_no_rows(void **state)
{
    (void) state;
    begin(meet, 1e6, 2);
    warm((const int[]){ WAIT, MEET, GOOD }, 3);
    assert_int_equal(tuner.records.num, 0);
    assert_int_equal(access(mark, F_OK), 0);
    assert_true(tuner.spent == 0);
    end(NULL);
    unlink(mark);
    begin(meet, 1e6, 0);
    warm((const int[]){ MEET }, 1); /* nobody does it */
    assert_int_equal(access(mark, F_OK), -1);
}

/* The time shows in the next row, once; what has a row is not built again. */
static void building_costs_its_time(void **state)
{
    struct record results[2];
    (void) state;
    begin("good", 1e6, 2);
    int leaps = num_leaps;
    warm((const int[]){ HANG, CRASH, GOOD }, 3);
    assert_true(num_leaps > leaps);
    assert_true(evaluate((const int[]){ GOOD }, 1, results));
    assert_true(results[0].cost >= LEAP_SECONDS / 2);
    assert_true(evaluate((const int[]){ HANG }, 1, results));
    leaps = num_leaps;
    warm((const int[]){ HANG }, 1);
    assert_int_equal(num_leaps, leaps);
    assert_true(evaluate((const int[]){ EXIT }, 1, results));
    assert_true(results[0].cost < LEAP_SECONDS / 2);
}

/* ---- Verifying ---- */

/* Rows of one configuration. */
static unsigned count_rows(const struct config *config)
{
    unsigned num = 0;
    for (size_t i = 0; i < tuner.records.num; i++)
        num += config_equal(&tuner.records.rows[i].config, config);
    return num;
}

/* All pairs of all. */
static void what_passes_is_kept_in_order(void **state)
{
    const struct config all[] = { config_of(CRASH, 1), config_of(GOOD, 1), config_of(EXIT, 1),
        config_of(GOOD, 2), config_of(GOOD, 4) };
    (void) state;
    for (unsigned size = 0; size <= 3; size += 3) {
        const struct precision *single = precision_find("single");
        struct config configs[5];
        begin("good", 1e6, size);
        tuner.limit = 7e5;
        for (unsigned num_pairs = 1; num_pairs <= NUM_PAIRS; num_pairs += NUM_PAIRS - 1) {
            memcpy(configs, all, sizeof all);
            assert_int_equal(verify_pairs(&tuner, single, num_pairs, configs, 5, 5e5), 3);
            assert_true(tuner.limit == 7e5);
            assert_true(config_equal(&configs[0], &all[1]));
            assert_true(config_equal(&configs[1], &all[3]));
            assert_true(config_equal(&configs[2], &all[4]));
            assert_int_equal(count_rows(&all[1]), num_pairs);
            assert_int_equal(count_rows(&all[2]), num_pairs);
        }
        assert_false(verify_one(&tuner, single, &all[0]));
        assert_true(verify_one(&tuner, single, &all[1]));
        assert_int_equal(tuner.num_recalled, 0);
        end_all(NULL);
    }
}

static size_t first_is_generic(const void *user, const struct device_facts *facts,
        const struct precision *precision, struct config *configs, size_t max)
{
    (void) user;
    (void) facts;
    (void) precision;
    (void) max;
    configs[0] = config_of(GOOD, 1);
    return 1;
}

/* When the time is over there is one that is not generic's. */
static void one_is_verified_however_late(void **state)
{
    const struct config all[] = { config_of(GOOD, 1), config_of(CRASH, 1), config_of(GOOD, 2),
        config_of(GOOD, 4) };
    struct config configs[4];
    (void) state;
    memcpy(configs, all, sizeof all);
    begin("good", 1e6, 3);
    tuner.generic = first_is_generic;
    tuner.limit = 1e-9;
    assert_int_equal(verify_all(&tuner, precision_find("single"), configs, 4, 0), 2);
    assert_true(config_equal(&configs[0], &all[0]));
    assert_true(config_equal(&configs[1], &all[2]));
    assert_int_equal(count_rows(&all[3]), 0);
    end(NULL);
    memcpy(configs, all, sizeof all);
    begin("good", 1e6, 0); /* the journal alone gives the same */
    tuner.generic = first_is_generic;
    tuner.limit = 1e-9;
    supervise_close(&tuner.supervisor);
    assert_int_equal(verify_all(&tuner, precision_find("single"), configs, 4, 0), 2);
    end_all(NULL);
    memcpy(configs, all, sizeof all);
    begin("good", 1e6, 3); /* a budget that is strict holds */
    tuner.limit = 1e-9;
    tuner.is_strict = true;
    assert_int_equal(verify_all(&tuner, precision_find("single"), configs, 4, 0), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(rows_come_in_the_order_of_the_evaluations, end_all),
        cmocka_unit_test_teardown(each_misbehaviour_costs_one, end_all),
        cmocka_unit_test_teardown(the_time_holds, end_all),
        cmocka_unit_test_teardown(stop_ends_all, end_all),
        cmocka_unit_test_teardown(a_crew_waits_for_the_turn, end_all),
        cmocka_unit_test_teardown(without_members_one_answers, end_all),
        cmocka_unit_test_teardown(a_lost_device_is_told, end_all),
        cmocka_unit_test_teardown(no_member_outlives_the_tuner, end_all),
        cmocka_unit_test_teardown(a_crew_is_two_at_least, end_all),
        cmocka_unit_test_teardown(building_leaves_no_rows, end_all),
        cmocka_unit_test_teardown(building_costs_its_time, end_all),
        cmocka_unit_test_teardown(what_passes_is_kept_in_order, end_all),
        cmocka_unit_test_teardown(one_is_verified_however_late, end_all),
    };
    if (argc != 2)
        return 2;
    program = argv[1];
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
