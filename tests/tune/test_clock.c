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

static cl_ulong nanoseconds; /* that every event says it took */
static unsigned num_late;    /* the next samples that take LATE times as long */
static double incumbent;     /* of the request, seconds; 0: none */

enum { LATE = 6 };

cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t size, void *value,
        size_t *needed)
{
    const bool is_end = what == CL_PROFILING_COMMAND_END;
    const cl_ulong took = num_late ? LATE * nanoseconds : nanoseconds;
    const cl_ulong time = is_end ? 1000 + took : 1000;
    (void) event;
    (void) needed;
    if (!value || size != sizeof time)
        return CL_INVALID_VALUE;
    if (is_end && num_late)
        num_late--;
    memcpy(value, &time, sizeof time);
    return CL_SUCCESS;
}

static struct device_facts facts;
static struct launcher launcher;

static void begin(void *user, unsigned entry)
{
    (void) user;
    (void) entry;
}

/* Times one multiplication of 64 cubed. */
static void run(struct trial_result *result)
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
    candidates_init(&candidates, &launcher, &verifier, &facts);
    struct candidate *candidate = candidate_get(&candidates, &config, &problem);
    assert_true(candidate_verify(&candidates, candidate, SIZE, SIZE, SIZE, 0, result));
    assert_int_equal(timing_data_reserve(&data, &launcher, problem.precision, elements),
            KILN_SUCCESS);
    struct timing_entry entry = { .context = candidate->context,
        .result = result,
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
    assert_int_equal(launcher_prepare(&launcher, candidate->context, &entry.gemm), KILN_SUCCESS);
    const struct timing_limits limits = { .incumbent = incumbent,
        .sample = 1e-3,
        .least = 2.0 * SIZE * SIZE * SIZE / 1e15 };
    timing_run(&launcher, &entry, 1, &limits, begin, NULL);
    timing_data_free(&data);
    candidates_free(&candidates);
    verifier_free(&verifier);
}

static void a_clock_that_stands_is_not_believed(void **state)
{
    struct trial_result result = { .outcome = TRIAL_OK };
    (void) state;
    nanoseconds = 0;
    launcher.by_wall = false;
    run(&result);
    assert_int_equal(result.outcome, TRIAL_OK);
    assert_true(launcher.by_wall);
    assert_true(result.seconds > 1e-9);
}

/* A second for each event is more than went by, so that it can only be the events' own. */
static void one_that_goes_is(void **state)
{
    struct trial_result result = { .outcome = TRIAL_OK };
    (void) state;
    nanoseconds = 1000000000;
    launcher.by_wall = false;
    run(&result);
    assert_int_equal(result.outcome, TRIAL_OK);
    assert_false(launcher.by_wall);
    assert_true(result.seconds == 1);
}

/* 1.5 ms are within reach of an incumbent of 1.2. */
static void run_beside_incumbent(unsigned late, struct trial_result *result)
{
    nanoseconds = 1500000;
    num_late = late;
    incumbent = 1.2e-3;
    launcher.by_wall = false;
    run(result);
    num_late = 0;
    incumbent = 0;
}

static void a_late_first_sample_is_not_the_time(void **state)
{
    struct trial_result result = { .outcome = TRIAL_OK };
    (void) state;
    run_beside_incumbent(2, &result);
    assert_int_equal(result.outcome, TRIAL_OK);
    assert_true(result.seconds == 1.5e-3);
}

static void what_stays_slow_is_given_up(void **state)
{
    struct trial_result result = { .outcome = TRIAL_OK };
    (void) state;
    run_beside_incumbent(100, &result);
    assert_int_equal(result.outcome, TRIAL_SLOW);
    assert_true(result.seconds == LATE * 1.5e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clock_that_stands_is_not_believed),
        cmocka_unit_test(one_that_goes_is),
        cmocka_unit_test(a_late_first_sample_is_not_the_time),
        cmocka_unit_test(what_stays_slow_is_given_up),
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
