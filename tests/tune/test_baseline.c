/* test_baseline.c: how the generic bundle is compared with, generator/tune/baseline.c, with made-up
 * times in place of a device. */
#include "baseline.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- In place of the device and of the generic bundle ---- */

static const char *const texts[] = { "direct WGM=8 WGN=8 TM=4", "direct WGM=8 WGN=8 TM=1",
    "direct WGM=1 WGN=1 TM=4" };
enum { NUM_GENERIC = sizeof texts / sizeof texts[0] };

static double rate;          /* operations per second */
static unsigned num_refused; /* so many of the recipes are not built */
static struct tuner tuner;

static struct config generic_at(size_t i)
{
    struct config config;
    char error[FAMILY_ERROR_BYTES];
    if (!config_parse(texts[i], &config, error))
        fail_msg("%s", error);
    return config;
}

static size_t generic(const void *user, const struct device_facts *facts,
        const struct precision *precision, struct config *configs, size_t max)
{
    (void) user;
    (void) facts;
    (void) precision;
    assert_true(max >= NUM_GENERIC);
    for (size_t i = 0; i < NUM_GENERIC; i++)
        configs[i] = generic_at(i);
    return NUM_GENERIC;
}

static double operations(struct shape s)
{
    return 2 * (double) s.m * (double) s.n * (double) s.k;
}

bool tuner_evaluate(struct tuner *of, enum record_kind kind, const struct problem *problem,
        struct shape shape, const struct config *configs, unsigned num, double incumbent,
        struct record *results)
{
    bool refused = false;
    (void) incumbent;
    assert_int_equal(num, 1);
    for (size_t i = 0; i < num_refused; i++) {
        const struct config config = generic_at(i);
        refused = refused || config_equal(&config, &configs[0]);
    }
    results[0] = (struct record){ .kind = kind,
        .precision = problem->precision,
        .pair = pair_of_problem(problem),
        .m = shape.m,
        .n = shape.n,
        .k = shape.k,
        .config = configs[0],
        .seconds = refused ? 0 : operations(shape) / rate,
        .used = true };
    strcpy(results[0].outcome, refused ? "build" : "ok");
    assert_true(records_add(&of->records, &results[0]));
    return true;
}

static int begin(void **state)
{
    (void) state;
    tuner = (struct tuner){ .generic = generic };
    facts_minimal(&tuner.facts);
    tuner.facts.value[FACT_MAX_ITEMS] = tuner.facts.value[FACT_MAX_ITEMS_X] =
            tuner.facts.value[FACT_MAX_ITEMS_Y] = 256;
    num_refused = 0;
    rate = 1e9;
    return 0;
}

static int end(void **state)
{
    (void) state;
    records_free(&tuner.records);
    return 0;
}

static double find_rate(double seconds, double enough)
{
    return baseline_rate(&tuner, precision_find("single"), seconds, enough);
}

/* ---- Tests ---- */

/* Problems grow until the speed is enough, or the next one would take too long. */
static void the_speed_is_found_in_time(void **state)
{
    (void) state;
    assert_true(fabs(find_rate(1, 1e6) / rate - 1) < 1e-9);
    assert_int_equal(tuner.records.num, 1);
    assert_int_equal(tuner.records.rows[0].kind, RECORD_GENERIC);
    find_rate(1, 1e12); /* 256 cubed takes 34 ms, 1024 cubed more than a second */
    assert_int_equal(tuner.records.num, 1 + 2);
    rate = 1e5; /* 64 cubed takes 5 s */
    assert_true(fabs(find_rate(1, 1e12) / rate - 1) < 1e-9);
    assert_int_equal(tuner.records.num, 1 + 2 + 1);
}

static void without_generic_nothing_is_known(void **state)
{
    (void) state;
    tuner.generic = NULL;
    assert_true(find_rate(1, 1) == 0);
    assert_int_equal(tuner.records.num, 0);
}

/* As the library does, the next recipe is taken where the first is not built; and then at once. */
static void the_first_that_is_built_is_generic(void **state)
{
    const struct problem problem = problem_of_pair(precision_find("single"), 0);
    const struct config last = generic_at(NUM_GENERIC - 1);
    (void) state;
    num_refused = 2;
    assert_true(baseline_evaluate(&tuner, &problem, (struct shape){ 64, 64, 64 }, 0));
    assert_int_equal(tuner.records.num, 3);
    assert_true(config_equal(&tuner.records.rows[2].config, &last));
    assert_true(baseline_evaluate(&tuner, &problem, (struct shape){ 9, 9, 9 }, 0));
    assert_int_equal(tuner.records.num, 4);
    assert_true(config_equal(&tuner.records.rows[3].config, &last));
}

/* A recipe of generic is worth verifying where it beats all that was timed for choosing. */
static void who_wins(void **state)
{
    const struct precision *precision = precision_find("single");
    const struct problem problem = problem_of_pair(precision, 0);
    const struct config first = generic_at(0), other = generic_at(1);
    struct record row;
    (void) state;
    assert_true(baseline_evaluate(&tuner, &problem, (struct shape){ 64, 64, 64 }, 0));
    assert_false(baseline_wins(&tuner, precision, &first)); /* nothing to compare with */
    rate = 2e9;
    tuner_evaluate(&tuner, RECORD_MATRIX, &problem, (struct shape){ 64, 64, 64 }, &other, 1, 0,
            &row);
    assert_false(baseline_wins(&tuner, precision, &first));
    rate = 1e9;
    assert_true(baseline_evaluate(&tuner, &problem, (struct shape){ 9, 9, 9 }, 0));
    rate = 0.5e9;
    tuner_evaluate(&tuner, RECORD_MATRIX, &problem, (struct shape){ 9, 9, 9 }, &other, 1, 0, &row);
    assert_true(baseline_wins(&tuner, precision, &first));
    assert_false(baseline_wins(&tuner, precision, &other));
    assert_false(baseline_wins(&tuner, precision_find("double"), &first));
}

/* The application's own shapes count as well as drawn ones; what a search has seen does not. */
static void who_wins_at_an_own_shape(void **state)
{
    const struct precision *precision = precision_find("single");
    const struct problem problem = problem_of_pair(precision, 0);
    const struct config first = generic_at(0), other = generic_at(1);
    const struct shape shape = { 64, 64, 64 };
    struct record row;
    (void) state;
    assert_true(baseline_evaluate(&tuner, &problem, shape, 0));
    rate = 0.5e9;
    tuner_evaluate(&tuner, RECORD_SEARCH, &problem, shape, &other, 1, 0, &row);
    assert_false(baseline_wins(&tuner, precision, &first));
    tuner_evaluate(&tuner, RECORD_OWN, &problem, shape, &other, 1, 0, &row);
    assert_true(baseline_wins(&tuner, precision, &first));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_speed_is_found_in_time, begin, end),
        cmocka_unit_test_setup_teardown(without_generic_nothing_is_known, begin, end),
        cmocka_unit_test_setup_teardown(the_first_that_is_built_is_generic, begin, end),
        cmocka_unit_test_setup_teardown(who_wins, begin, end),
        cmocka_unit_test_setup_teardown(who_wins_at_an_own_shape, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
