/* test_clock.c: what generator/tune/timing.c makes of a driver's times: events that hold none, as
 * there are; first launches that take many times as long as all others. In place of the driver's
 * answer stands one of this file. 77 without a device. */
#include "candidate.h"
#include "device.h"
#include "internal.h"
#include "timing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The library wants bundles; candidates bring their own. */
extern const struct kiln_bundle *const kiln_linked_bundles[];
const struct kiln_bundle *const kiln_linked_bundles[] = { NULL };

enum { LATE = 6, MOST_ENTRIES = 5 };

static cl_ulong nanoseconds[MOST_ENTRIES]; /* that an operation of each entry takes by its events */
static unsigned num_late; /* the next samples, of which each takes LATE times that */
static unsigned num_samples[MOST_ENTRIES];
static struct timing_entry entries[MOST_ENTRIES];
static unsigned current;

/* The first event of a sample begins and the last one ends. */
cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t size, void *value,
        size_t *needed)
{
    const bool is_end = what == CL_PROFILING_COMMAND_END;
    const cl_ulong took = nanoseconds[current] * entries[current].repeat * (num_late ? LATE : 1);
    const cl_ulong time = is_end ? 1000 + took : 1000;
    (void) event;
    (void) needed;
    if (!value || size != sizeof time)
        return CL_INVALID_VALUE;
    if (is_end) {
        num_samples[current]++;
        num_late -= num_late > 0;
    }
    memcpy(value, &time, sizeof time);
    return CL_SUCCESS;
}

static struct device_facts facts;
static struct launcher launcher;

static void begin(void *user, unsigned entry)
{
    (void) user;
    current = entry;
}

/* Times one multiplication of 64 cubed, or several of the same kind beside each other. */
static void run(unsigned num, double incumbent, struct trial_result *results)
{
    enum { SIZE = 64 };
    static struct candidates candidates;
    const struct problem problem = problem_of_pair(precision_find("single"), 0);
    const size_t elements[3] = { SIZE * SIZE, SIZE * SIZE, SIZE * SIZE };
    struct verifier verifier;
    struct timing_data data = { .precision = NULL };
    struct config config;
    char error[FAMILY_ERROR_BYTES];
    assert_true(config_parse("direct WGM=1 WGN=1 TM=4 NV=1 VEC=4 INDEX=64", &config, error));
    verifier_init(&verifier, &launcher);
    candidates_init(&candidates, &launcher, &verifier, &facts, false);
    struct candidate *candidate = candidate_get(&candidates, &config, &problem);
    assert_true(candidate_verify(&candidates, candidate, (struct shape){ SIZE, SIZE, SIZE }, 0,
            &results[0]));
    assert_int_equal(timing_data_reserve(&data, &launcher, problem.precision, elements),
            KILN_SUCCESS);
    for (unsigned i = 0; i < num; i++) {
        num_samples[i] = 0;
        entries[i] = (struct timing_entry){ .context = candidate->context,
            .result = &results[i],
            .gemm = { .precision = KILN_SINGLE,
                    .layout = KILN_ROW_MAJOR,
                    .transa = KILN_NO_TRANS,
                    .transb = KILN_NO_TRANS,
                    .m = SIZE,
                    .n = SIZE,
                    .k = SIZE,
                    .alpha = 1,
                    .a = data.buffers[0].memory,
                    .b = data.buffers[1].memory,
                    .c = data.buffers[2].memory } };
    }
    assert_int_equal(launcher_prepare(&launcher, candidate->context, &entries[0].gemm),
            KILN_SUCCESS);
    struct timing_limits limits = { .incumbent = incumbent,
        .least = 2.0 * SIZE * SIZE * SIZE / 1e15 };
    timing_choose_samples(&facts, num, &limits);
    launcher.by_wall = false;
    timing_run(&launcher, entries, num, &limits, begin, NULL);
    timing_data_free(&data);
    candidates_free(&candidates);
    verifier_free(&verifier);
}

static bool is_near(double seconds, double right)
{
    return seconds > 0.99 * right && seconds < 1.01 * right;
}

static void a_clock_that_stands_is_not_believed(void **state)
{
    struct trial_result result = { .outcome = TRIAL_OK };
    (void) state;
    nanoseconds[0] = 0;
    run(1, 0, &result);
    assert_int_equal(result.outcome, TRIAL_OK);
    assert_true(launcher.by_wall);
    assert_true(result.seconds > 1e-9);
}

/* A second for each operation is more than went by, so that it can only be the events' own. */
static void one_that_goes_is(void **state)
{
    struct trial_result result = { .outcome = TRIAL_OK };
    (void) state;
    nanoseconds[0] = 1000000000;
    run(1, 0, &result);
    assert_int_equal(result.outcome, TRIAL_OK);
    assert_false(launcher.by_wall);
    assert_true(is_near(result.seconds, 1));
}

/* 20 us are within reach of an incumbent of 15. The samples that warm up are late. */
static void late_samples_are_not_the_time(void **state)
{
    struct trial_result result = { .outcome = TRIAL_OK };
    (void) state;
    nanoseconds[0] = 20000;
    num_late = 3;
    run(1, 15e-6, &result);
    assert_int_equal(num_late, 0);
    assert_int_equal(result.outcome, TRIAL_OK);
    assert_true(is_near(result.seconds, 20e-6));
    assert_true(entries[0].repeat * 20e-6 > 0.99 * 10e-3); /* samples are as long as all are */
}

/* Two samples to warm up, and two more. */
static void what_stays_slow_is_given_up(void **state)
{
    struct trial_result result = { .outcome = TRIAL_OK };
    (void) state;
    nanoseconds[0] = 120000;
    run(1, 15e-6, &result);
    assert_int_equal(result.outcome, TRIAL_SLOW);
    assert_true(is_near(result.seconds, 120e-6));
    assert_int_equal(num_samples[0], 2 + 2);
}

/* What takes long is not asked again. */
static void what_is_long_is_asked_once(void **state)
{
    struct trial_result result = { .outcome = TRIAL_OK };
    (void) state;
    nanoseconds[0] = 500000000;
    run(1, 1e-3, &result);
    assert_int_equal(result.outcome, TRIAL_SLOW);
    assert_int_equal(num_samples[0], 1);
}

/* Of several that are timed beside each other the first is late, and the last one slow. */
static void so_it_is_beside_others(void **state)
{
    enum { LAST = MOST_ENTRIES - 1 };
    struct trial_result results[MOST_ENTRIES] = { { .outcome = TRIAL_OK } };
    (void) state;
    for (unsigned i = 0; i < MOST_ENTRIES; i++)
        nanoseconds[i] = i < LAST ? 20000 : 120000;
    num_late = 3;
    run(MOST_ENTRIES, 0, results);
    for (unsigned i = 0; i < LAST; i++) {
        assert_int_equal(results[i].outcome, TRIAL_OK);
        assert_true(is_near(results[i].seconds, 20e-6));
    }
    assert_int_equal(results[LAST].outcome, TRIAL_SLOW);
    assert_true(is_near(results[LAST].seconds, 120e-6));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clock_that_stands_is_not_believed),
        cmocka_unit_test(one_that_goes_is),
        cmocka_unit_test(late_samples_are_not_the_time),
        cmocka_unit_test(what_stays_slow_is_given_up),
        cmocka_unit_test(what_is_long_is_asked_once),
        cmocka_unit_test(so_it_is_beside_others),
    };
    char error[FAMILY_ERROR_BYTES];
    cl_device_id device;
    if (!device_find("", &device, error)) {
        fprintf(stderr, "%s\n", error);
        return 77;
    }
    if (!device_facts(device, &facts, error) || !launcher_open(&launcher, device, error)) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    const int failures = cmocka_run_group_tests(tests, NULL, NULL);
    launcher_close(&launcher);
    return failures;
}
