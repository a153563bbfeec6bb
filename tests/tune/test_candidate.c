/* test_candidate.c: what is built is kept, generator/tune/candidate.c. Needs a device; 77 without
 * one. */
#include "candidate.h"
#include "device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

const struct kiln_bundle *const kiln_linked_bundles[] = { NULL };

static struct launcher launcher;
static struct device_facts facts;
static struct verifier verifier;
static struct candidates candidates;

static int begin(void **state)
{
    (void) state;
    candidates_init(&candidates, &launcher, &verifier, &facts, false);
    return 0;
}

static int end(void **state)
{
    (void) state;
    candidates_free(&candidates);
    return 0;
}

static struct candidate *get(const char *text, const char *precision, int pair)
{
    struct config config;
    char error[FAMILY_ERROR_BYTES];
    const struct problem problem = problem_of_pair(precision_find(precision), pair);
    if (!config_parse(text, &config, error))
        fail_msg("%s", error);
    struct candidate *candidate = candidate_get(&candidates, &config, &problem);
    if (candidate->outcome != TRIAL_OK)
        fail_msg("%s", candidate->message);
    return candidate;
}

/* What comes back is what was made before, with the kernels that its context holds. */
static void test_is_found_again(void **state)
{
    (void) state;
    struct candidate *first = get("direct TM=2", "single", 0);
    const struct kiln_context *context = first->context;
    assert_ptr_not_equal(get("direct TM=4", "single", 0), first);
    assert_ptr_not_equal(get("direct TM=2", "single", 1), first);
    assert_ptr_not_equal(get("direct TM=2", "half", 0), first);
    assert_ptr_equal(get("direct TM=2", "single", 0), first);
    assert_ptr_equal(first->context, context);
}

/* The one that was not asked for longest makes room. */
static void test_the_oldest_makes_room(void **state)
{
    struct candidate *first = get("direct TM=2", "single", 0);
    struct candidate *second = get("direct TM=2", "half", 0);
    unsigned num = 2;
    (void) state;
    assert_true(candidates.num_kept >= TRIAL_MAX_CONFIGS);
    for (int i = 0; num < candidates.num_kept; i++, num++) {
        static const int values[] = { 1, 2, 4 };
        char text[64];
        assert_true(i < 3 * 3 * 3 * 3 * 4);
        snprintf(text, sizeof text, "direct TM=1 NV=%d KU=%d WGM=%d WGN=%d", values[i / 4 % 3],
                values[i / 12 % 3], values[i / 36 % 3], values[i / 108 % 3]);
        get(text, "single", i % 4);
    }
    assert_ptr_equal(get("direct TM=2", "single", 0), first);
    assert_ptr_equal(get("direct TM=4", "single", 0), second);
    assert_ptr_equal(get("direct TM=2", "single", 0), first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_is_found_again, begin, end),
        cmocka_unit_test_setup_teardown(test_the_oldest_makes_room, begin, end),
    };
    cl_device_id device;
    char error[FAMILY_ERROR_BYTES];
    if (!device_find("", &device, error)) {
        printf("skipped: %s\n", error);
        return 77;
    }
    if (!device_facts(device, &facts, error) || !launcher_open(&launcher, device, error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_FAILURE;
    }
    verifier_init(&verifier, &launcher);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    verifier_free(&verifier);
    launcher_close(&launcher);
    return failed;
}
