/* test_explain.c: what explain says of the recipes that come first in the order of the bundle. */
#include "fixture.h"

#include "internal.h"
#include "packing.h"

#include <string.h>

/* Fails unless these are all the lines about candidates. */
static void check_candidates(struct kiln_context *kiln, const struct kiln_gemm *gemm,
        const char *lines)
{
    char text[4096];
    assert_int_equal(kiln_gemm_explain(kiln, gemm, text, sizeof text), KILN_SUCCESS);
    const char *found = strstr(text, "candidate: ");
    assert_string_equal(found != NULL ? found : "", lines);
}

/* Microseconds, of which further digits are dropped. The first would take 2.04, but the host takes
 * longer to enqueue it. */
static void times_have_two_digits(void **state)
{
    struct fixture *f = *state;
    const struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
    check_candidates(f->kiln, &gemm,
            "candidate: 5.93 us, tuned_small (chosen)\n"
            "candidate: 9.16 us, tuned_aligned\n"
            "candidate: 10.08 us, tuned_packed\n"
            "candidate: 20.08 us, tuned_packed_64\n");
}

static void the_chosen_one_need_not_be_first(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 1024, 1024, 1024);
    gemm.lda = 1025;
    check_candidates(f->kiln, &gemm,
            "candidate: 21.53 us, tuned_aligned (not for such leading dimensions and offsets)\n"
            "candidate: 31.07 us, tuned_packed (chosen)\n"
            "candidate: 41.07 us, tuned_packed_64\n"
            "candidate: 116.09 us, tuned_small\n");
}

/* What the extents rule out is no candidate. */
static void without_times_and_with_pins(void **state)
{
    static const struct kiln_pin pin = { KILN_SINGLE, 63, 64, 64, 1,
        { TUNED_PACKED_64, KILN_NO_RECIPE, KILN_NO_RECIPE, KILN_NO_RECIPE } };
    struct fixture *f = *state;
    struct kiln_bundle bundle = tuned_bundle;
    struct kiln_gemm gemm = fixture_gemm(f, 63, 64, 64);
    gemm.transa = KILN_TRANS;
    check_candidates(f->kiln, &gemm, "candidate: not timed, tuned_tn (chosen)\n");
    gemm.transa = KILN_NO_TRANS;
    bundle.pins = &pin;
    bundle.num_pins = 1;
    fixture_new_context(f, &(struct kiln_context_params){ .bundle = &bundle });
    check_candidates(f->kiln, &gemm,
            "candidate: pinned, tuned_packed_64 (chosen)\n"
            "candidate: 5.93 us, tuned_small\n"
            "candidate: 10.08 us, tuned_packed\n");
    kiln_context_destroy(&f->kiln);
}

static void indices_that_are_too_short(void **state)
{
    fixture_need_large_buffers();
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
    gemm.c_offset = (size_t) 1 << 32;
    check_candidates(f->kiln, &gemm,
            "candidate: 5.93 us, tuned_small (its 32-bit indices are too short)\n"
            "candidate: 9.16 us, tuned_aligned (its 32-bit indices are too short)\n"
            "candidate: 10.08 us, tuned_packed (its 32-bit indices are too short)\n"
            "candidate: 20.08 us, tuned_packed_64 (chosen)\n");
}

static void what_the_device_lacks(void **state)
{
    const struct kiln_gemm gemm = { .m = 1024, .n = 1024, .k = 1024, .alpha = 1.0 };
    struct stub_facts facts = stub_default_facts();
    struct kiln_context *kiln = NULL;
    (void) state;
    facts.local_bytes = 8191;
    facts.max_alloc_bytes = (1024 + 8) * 1024 * 4;
    cl_device_id device = stub_make_device(&facts);
    cl_context cl = stub_make_context(1, &device);
    assert_int_equal(kiln_context_create(cl, device, NULL, &kiln), KILN_SUCCESS);
    check_candidates(kiln, &gemm,
            "candidate: 31.07 us, tuned_packed (its workspace is too large)\n"
            "candidate: 41.07 us, tuned_packed_64 (chosen)\n"
            "candidate: 116.09 us, tuned_small\n");
    kiln_context_destroy(&kiln);
}

static void what_the_driver_refused(void **state)
{
    struct fixture *f = *state;
    const struct kiln_gemm gemm = fixture_gemm(f, 1024, 1024, 1024);
    stub_limit_kernel("aligned_mul", 64);
    stub_limit_kernel("packed_mul", 127);
    check_candidates(f->kiln, &gemm,
            "candidate: 21.53 us, tuned_aligned (the driver refused it)\n"
            "candidate: 31.07 us, tuned_packed (the driver refused it)\n"
            "candidate: 41.07 us, tuned_packed_64 (chosen)\n"
            "candidate: 116.09 us, tuned_small\n");
}

static void a_call_with_packs_has_no_candidates(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    struct packed a = pack(f, &gemm, KILN_PACK_A);
    gemm.packed_a = &a.pack;
    check_candidates(f->kiln, &gemm, "");
    let_go(&a);
}

static void the_generic_bundle_has_its_own(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
    gemm.precision = KILN_HALF;
    check_candidates(f->kiln, &gemm,
            "candidate: not timed, generic_h_nn (chosen)\n"
            "candidate: not timed, generic_h_nn_64\n");
}

/* As many as are ranked at a time; times that are no real ones are told all the same. */
static void at_most_as_many_as_are_ranked(void **state)
{
    enum { NUM = KILN_RANKED + 2 };
    struct fixture *f = *state;
    struct kiln_time times[NUM];
    struct kiln_recipe recipes[NUM];
    struct kiln_bundle bundle = tuned_bundle;
    for (unsigned i = 0; i < NUM; i++) {
        memset(&times[i], 0, sizeof times[i]);
        times[i].coefficient[KILN_TERM_CALL] = (float) (1u << i) * 9999;
        recipes[i] = tuned_recipes[TUNED_SMALL];
        recipes[i].time = &times[i];
    }
    times[0].coefficient[KILN_TERM_CALL] = 0x1.fffffep61f;
    times[1].coefficient[KILN_TERM_CALL] = 0;
    bundle.recipes = recipes;
    bundle.num_recipes = NUM - 1;
    bundle.traits.is_cpu = 1; /* times are told as they are */
    fixture_new_context(f, &(struct kiln_context_params){ .bundle = &bundle });
    const struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
    check_candidates(f->kiln, &gemm,
            "candidate: 0.00 us, tuned_small (chosen)\n"
            "candidate: 0.03 us, tuned_small\n"
            "candidate: 0.07 us, tuned_small\n"
            "candidate: 0.15 us, tuned_small\n"
            "candidate: 0.31 us, tuned_small\n"
            "candidate: 0.63 us, tuned_small\n");
    bundle.num_recipes = 2;
    fixture_new_context(f, &(struct kiln_context_params){ .bundle = &bundle });
    check_candidates(f->kiln, &gemm,
            "candidate: 0.00 us, tuned_small (chosen)\n"
            "candidate: 4611685743549.48 us, tuned_small\n");
    kiln_context_destroy(&f->kiln);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(times_have_two_digits),
        TEST(the_chosen_one_need_not_be_first),
        TEST(without_times_and_with_pins),
        TEST(indices_that_are_too_short),
        TEST(what_the_device_lacks),
        TEST(what_the_driver_refused),
        TEST(a_call_with_packs_has_no_candidates),
        TEST(the_generic_bundle_has_its_own),
        TEST(at_most_as_many_as_are_ranked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
