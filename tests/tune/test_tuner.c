/* test_tuner.c: evaluations, the journal and the budget, generator/tune/tuner.c, with the fake
 * child for a device. A child that hangs has the clock put forward.
 *
 * Usage: test_tuner PATH-OF-FAKE-CHILD.
 */
#include "clock.h"
#include "leap.h"
#include "tuner.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { GOOD = 1, CRASH = 2, HANG = 4, OTHER = 14 };

static const char *program;
static char folder[] = "/tmp/kiln-tuner-XXXXXX";
static char path[64], mark[72];
static const volatile int never;

static struct tuner tuner;

static int make_folder(void **state)
{
    (void) state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/journal.tsv", folder);
    snprintf(mark, sizeof mark, "break:%s/mark", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void) state;
    return rmdir(folder);
}

/* A run over the journal, with so many seconds. */
static void begin(const char *device, double seconds)
{
    struct journal_head head = { .generator = 77 };
    tuner = (struct tuner){ .budget = seconds, .quiet = true, .stop = &never };
    tuner.supervisor = supervise_open(program, device, NULL, &tuner.facts, tuner.error);
    if (!tuner.supervisor)
        fail_msg("%s", tuner.error);
    head.facts = tuner.facts;
    tuner.journal = journal_open(path, &head, false, &tuner.records, tuner.error);
    if (!tuner.journal)
        fail_msg("%s", tuner.error);
    tuner.last_event = clock_now();
}

static int end(void **state)
{
    (void) state;
    supervise_close(&tuner.supervisor);
    journal_close(tuner.journal);
    records_free(&tuner.records);
    tuner.journal = NULL;
    return 0;
}

static int end_all(void **state)
{
    unlink(path);
    unlink(mark + strlen("break:"));
    return end(state);
}

static bool evaluate(int tm, struct record *result)
{
    const struct problem problem = problem_of_pair(precision_find("single"), 0);
    struct config config;
    char text[64], error[FAMILY_ERROR_BYTES];
    snprintf(text, sizeof text, "direct TM=%d", tm);
    assert_true(config_parse(text, &config, error));
    return tuner_evaluate(&tuner, RECORD_SEARCH, &problem, (struct shape){ 64, 64, 64 }, &config, 1,
            0, result);
}

/* What hangs costs the time that there was, is written down, and then nothing is evaluated. */
static void the_budget_holds(void **state)
{
    struct record result;
    (void) state;
    begin("good", 0.5);
    assert_true(evaluate(HANG, &result));
    assert_string_equal(result.outcome, "late");
    assert_true(tuner.spent >= 0.4);
    assert_false(evaluate(GOOD, &result));
    assert_false(tuner.failed);
    assert_int_equal(tuner.records.num, 1);
}

/* A phase ends before the budget does. */
static void a_phase_has_a_limit(void **state)
{
    struct record result;
    (void) state;
    begin("good", 1e6);
    tuner.limit = 0.5;
    assert_true(evaluate(HANG, &result));
    assert_string_equal(result.outcome, "late");
    assert_false(evaluate(GOOD, &result));
    tuner.limit = 0;
    assert_true(evaluate(GOOD, &result));
    assert_string_equal(result.outcome, "ok");
}

/* The same run resumed takes the result from the journal; one with more time evaluates again. */
static void more_time_evaluates_again(void **state)
{
    struct record result;
    (void) state;
    begin("good", 0.5);
    assert_true(evaluate(HANG, &result));
    end(NULL);
    begin("good", 0.5);
    assert_true(evaluate(HANG, &result));
    assert_string_equal(result.outcome, "late");
    assert_int_equal(tuner.num_recalled, 1);
    assert_int_equal(tuner.num_measured, 0);
    end(NULL);
    begin("good", 3);
    assert_true(evaluate(HANG, &result));
    assert_int_equal(tuner.num_measured, 1);
    assert_true(result.seconds > 2); /* what there was time for */
}

/* A device that goes away ends the run, and it is told from a journal that cannot be written. */
static void a_lost_device_is_told(void **state)
{
    struct record result;
    (void) state;
    begin(mark, 1000);
    assert_true(evaluate(GOOD, &result));
    assert_true(evaluate(CRASH, &result));  /* its process dies */
    assert_false(evaluate(OTHER, &result)); /* and the canary of the next one fails */
    assert_true(tuner.failed && tuner.is_lost);
    assert_non_null(strstr(tuner.error, "canary"));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_budget_holds, end_all),
        cmocka_unit_test_teardown(a_phase_has_a_limit, end_all),
        cmocka_unit_test_teardown(more_time_evaluates_again, end_all),
        cmocka_unit_test_teardown(a_lost_device_is_told, end_all),
    };
    if (argc != 2)
        return 2;
    program = argv[1];
    on_signal(leap);
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
