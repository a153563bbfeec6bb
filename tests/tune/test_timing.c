/* test_timing.c: the arithmetic of generator/tune/timing.c; test_trial times real kernels. */
#include "timing.h"
#include "element.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

const struct kiln_bundle *const kiln_linked_bundles[] = { NULL };

static void test_summary(void **state)
{
    double five[] = { 5, 1, 4, 2, 3 }, four[] = { 4, 1, 3, 2 }, three[] = { 9, 2, 4 };
    double one[] = { 7 };
    double fastest, spread;
    (void) state;
    timing_summarise(five, 5, false, &fastest, &spread);
    assert_true(fastest == 1 && spread == 2);
    timing_summarise(four, 4, false, &fastest, &spread);
    assert_true(fastest == 1 && spread == 2);
    timing_summarise(three, 3, false, &fastest, &spread);
    assert_true(fastest == 2 && spread == 3.5);
    timing_summarise(one, 1, false, &fastest, &spread);
    assert_true(fastest == 7 && spread == 0);
}

/* Of a device whose clock follows its power the median counts. */
static void test_sustained(void **state)
{
    double five[] = { 5, 1, 4, 2, 3 }, four[] = { 4, 1, 3, 2 }, one[] = { 7 };
    double median, spread;
    (void) state;
    timing_summarise(five, 5, true, &median, &spread);
    assert_true(median == 3 && spread == 2);
    timing_summarise(four, 4, true, &median, &spread);
    assert_true(median == 2 && spread == 2);
    timing_summarise(one, 1, true, &median, &spread);
    assert_true(median == 7 && spread == 0);
}

/* The bound is below what the device can do and above what a broken clock would claim. */
static void test_least_time(void **state)
{
    struct device_facts facts;
    (void) state;
    facts_minimal(&facts);
    facts.value[FACT_IS_CPU] = 1;
    facts.value[FACT_UNITS] = 2;
    facts.value[FACT_CLOCK_MHZ] = 2600;
    facts.value[FACT_VECTOR_BYTES] = 64;
    const double flops = 2.0 * 1000 * 1000 * 1000;
    const double single = timing_least(&facts, precision_find("single"),
            (struct shape){ 1000, 1000, 1000 });
    const double twice = timing_least(&facts, precision_find("double"),
            (struct shape){ 1000, 1000, 1000 });
    const double peak = 2 * 2.6e9 * 16 * 4; /* two fused multiply-adds a cycle */
    assert_true(flops / single >= 2 * peak && flops / single <= 10 * peak);
    assert_true(fabs(twice / single - 2) < 1e-9);
    facts.value[FACT_CLOCK_MHZ] = 1; /* a simulator's: taken for a usual one */
    const double simulated = timing_least(&facts, precision_find("single"),
            (struct shape){ 1000, 1000, 1000 });
    assert_true(simulated > single && simulated < 3 * single);
    facts.value[FACT_CLOCK_MHZ] = 0; /* unknown: no bound */
    assert_true(timing_least(&facts, precision_find("single"),
                        (struct shape){ 1000, 1000, 1000 }) == 0);
}

/* On a GPU each sample is longer where few are timed together, which leave it idle. */
static void test_samples(void **state)
{
    struct device_facts facts;
    struct timing_limits few = { .incumbent = 1 }, many = { .incumbent = 1 };
    (void) state;
    facts_minimal(&facts);
    facts.value[FACT_IS_CPU] = 0;
    timing_choose_samples(&facts, 1, &few);
    timing_choose_samples(&facts, 30, &many);
    assert_true(!few.is_broad && many.is_broad && few.sustained && many.sustained);
    assert_true(few.sample > many.sample && few.enough > many.enough);
    assert_true(few.incumbent == 1 && many.incumbent == 1); /* left alone */
    facts.value[FACT_IS_CPU] = 1;
    timing_choose_samples(&facts, 1, &few);
    timing_choose_samples(&facts, 30, &many);
    assert_true(!few.is_broad && many.is_broad && !few.sustained && !many.sustained);
    assert_true(many.sample > 0 && few.sample > many.sample && few.enough > many.enough);
}

/* Every number, and both parts of every complex one, is normal and of a size; bits are mixed. */
static void test_fill(void **state)
{
    enum { BYTES = 4096 };
    (void) state;
    for (size_t p = 0; p < KILN_NUM_PRECISIONS; p++) {
        const size_t bytes = kiln_storage_bytes(precisions[p].storage);
        unsigned char block[BYTES + 16];
        double last = 0;
        unsigned negative = 0, changes = 0;
        memset(block, 0xff, sizeof block);
        timing_fill(&precisions[p], BYTES, block);
        for (size_t at = 0; at < BYTES; at += bytes) {
            const double value = kiln_real_get(precisions[p].storage, block + at);
            assert_true(fabs(value) >= 0.5 && fabs(value) <= 1);
            negative += value < 0;
            changes += value != last;
            last = value;
        }
        assert_in_range(negative, BYTES / bytes / 4, BYTES / bytes * 3 / 4);
        assert_true(changes > BYTES / bytes * 9 / 10);
        for (size_t at = BYTES; at < sizeof block; at++)
            assert_int_equal(block[at], 0xff);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_summary),
        cmocka_unit_test(test_sustained),
        cmocka_unit_test(test_least_time),
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_fill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
