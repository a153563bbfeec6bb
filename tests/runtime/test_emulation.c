/* test_emulation.c: who gets recipes of emulated single precision: those who allow it, where they
 * are predicted to be faster. */
#include "packing.h"

#include "internal.h"

#include <string.h>

/* The tuned bundle, with two recipes that emulate: one like the small one and faster, and one like
 * the one that packs, slower. */
enum { EMULATED_SMALL = NUM_TUNED, EMULATED_PACKED, NUM_RECIPES };

static struct {
    struct kiln_recipe recipes[NUM_RECIPES];
    struct kiln_time times[2];
    struct kiln_stage stage;           /* of the small one: half as many work-groups along N */
    struct kiln_bundle bundle;
} emulating;

static void begin(struct fixture *f, enum kiln_arithmetic arithmetic)
{
    const struct kiln_context_params params = {
        .bundle = &emulating.bundle,
        .arithmetic = arithmetic,
    };
    memcpy(emulating.recipes, tuned_recipes, sizeof tuned_recipes);
    for (unsigned i = 0; i < 2; i++) {
        struct kiln_recipe *recipe = &emulating.recipes[EMULATED_SMALL + i];
        *recipe = tuned_recipes[i == 0 ? TUNED_SMALL : TUNED_PACKED];
        emulating.times[i] = *recipe->time;
        emulating.times[i].coefficient[KILN_TERM_CALL] += 1;
        recipe->time = &emulating.times[i];
        recipe->precision = KILN_EMULATED;
    }
    emulating.times[0] = (struct kiln_time){ { [KILN_TERM_CALL] = 1 } };
    emulating.stage = tuned_recipes[TUNED_SMALL].stages[0];
    emulating.stage.tile[0] *= 2;
    emulating.recipes[EMULATED_SMALL].name = "emulated_small";
    emulating.recipes[EMULATED_SMALL].stages = &emulating.stage;
    emulating.recipes[EMULATED_SMALL].reach[1] *= 2;
    emulating.recipes[EMULATED_SMALL].guard.most[0] = 1000;
    emulating.recipes[EMULATED_PACKED].name = "emulated_packed";
    emulating.bundle = tuned_bundle;
    emulating.bundle.recipes = emulating.recipes;
    emulating.bundle.num_recipes = NUM_RECIPES;
    fixture_new_context(f, &params);
}

static void expect(struct fixture *f, enum kiln_arithmetic arithmetic, size_t m, const char *recipe)
{
    struct kiln_gemm gemm = fixture_gemm(f, m, 64, 64);
    gemm.arithmetic = arithmetic;
    fixture_expect_recipe(f, &gemm, "tuned", recipe);
}

static void calls_get_it_that_allow_it(void **state)
{
    struct fixture *f = *state;
    for (enum kiln_arithmetic of_context = 0; of_context <= KILN_ALLOW_EMULATION; of_context++) {
        const bool is_default = of_context == KILN_ALLOW_EMULATION;
        begin(f, of_context);
        expect(f, 0, 64, is_default ? "emulated_small" : "tuned_small");
        expect(f, KILN_NATIVE, 64, "tuned_small");
        expect(f, KILN_ALLOW_EMULATION, 64, "emulated_small");
        kiln_context_destroy(&f->kiln);
    }
}

static size_t items_of_typed_call(struct fixture *f)
{
    stub_clear_records();
    assert_int_equal(kiln_sgemm(f->kiln, KILN_ROW_MAJOR, KILN_NO_TRANS, KILN_NO_TRANS, 64, 64, 64,
                             1, f->a, 0, 64, f->b, 0, 64, 0, f->c, 0, 64, f->queue, 0, NULL, NULL),
            KILN_SUCCESS);
    return fixture_only("small_mul")->global[0];
}

static void typed_calls_go_by_the_context(void **state)
{
    struct fixture *f = *state;
    begin(f, KILN_NATIVE);
    const size_t native = items_of_typed_call(f);
    begin(f, KILN_ALLOW_EMULATION);
    assert_int_equal(items_of_typed_call(f), native / 2);
    kiln_context_destroy(&f->kiln);
}

static void native_recipes_serve_what_is_faster_so(void **state)
{
    struct fixture *f = *state;
    begin(f, 0);
    expect(f, KILN_ALLOW_EMULATION, 1000, "emulated_small");
    expect(f, KILN_ALLOW_EMULATION, 1001, "tuned_small"); /* its guard; the other is slower */
    kiln_context_destroy(&f->kiln);
}

static void other_precisions_have_one_arithmetic(void **state)
{
    struct fixture *f = *state;
    begin(f, KILN_ALLOW_EMULATION);
    struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
    gemm.arithmetic = KILN_ALLOW_EMULATION;
    gemm.precision = KILN_DOUBLE;
    fixture_expect_recipe(f, &gemm, "tuned", "tuned_double");
    gemm.precision = (enum kiln_precision) KILN_EMULATED; /* no precision of a call */
    assert_int_equal(call(f, &gemm), KILN_INVALID_PRECISION);
    kiln_context_destroy(&f->kiln);
}

static void an_unknown_arithmetic_is_refused_last(void **state)
{
    struct fixture *f = *state;
    const struct kiln_context_params params = { .arithmetic = (enum kiln_arithmetic) 3 };
    struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
    struct kiln_context *kiln = NULL;
    size_t bytes = 0;
    gemm.arithmetic = (enum kiln_arithmetic) 3;
    assert_int_equal(call(f, &gemm), KILN_INVALID_ARITHMETIC);
    assert_int_equal(kiln_gemm_workspace_bytes(f->kiln, &gemm, &bytes), KILN_INVALID_ARITHMETIC);
    assert_int_equal(kiln_pack_bytes(f->kiln, &gemm, KILN_PACK_A, &bytes), KILN_INVALID_ARITHMETIC);
    gemm.b = NULL;
    assert_int_equal(call(f, &gemm), KILN_INVALID_BUFFER_B);
    assert_int_equal(stub_num_records(), 0);
    assert_int_equal(kiln_context_create(f->cl, f->device, &params, &kiln),
            KILN_INVALID_ARITHMETIC);
    assert_null(kiln);
}

static void explain_says_what_is_allowed(void **state)
{
    static const char none[] = "arithmetic: native: no bundle has emulation for the device\n";
    static const char emulated[] = "precision: single\narithmetic: emulated\n";
    static const char native[] = "arithmetic: native, though emulation is allowed\n";
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
    char text[4096];
    gemm.arithmetic = KILN_ALLOW_EMULATION;
    assert_int_equal(kiln_gemm_explain(f->kiln, &gemm, text, sizeof text), KILN_SUCCESS);
    assert_non_null(strstr(text, none));
    begin(f, 0);
    assert_int_equal(kiln_gemm_explain(f->kiln, &gemm, text, sizeof text), KILN_SUCCESS);
    assert_non_null(strstr(text, emulated));
    gemm.m = 1001;
    assert_int_equal(kiln_gemm_explain(f->kiln, &gemm, text, sizeof text), KILN_SUCCESS);
    assert_non_null(strstr(text, native));
    gemm.arithmetic = 0;
    assert_int_equal(kiln_gemm_explain(f->kiln, &gemm, text, sizeof text), KILN_SUCCESS);
    assert_null(strstr(text, "arithmetic"));
    kiln_context_destroy(&f->kiln);
}

/* A bundle of a relative may have it where the device's own has not. */
static void a_link_that_has_it_comes_first(void **state)
{
    struct fixture *f = *state;
    begin(f, 0);
    assert_int_equal(f->kiln->num_links, 2);
    const struct kiln_link first = f->kiln->links[0];
    f->kiln->links[0] = f->kiln->links[1];
    f->kiln->links[1] = first;
    f->kiln->emulating_link = 1;
    struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
    fixture_expect_recipe(f, &gemm, "generic", "generic_s_nn");
    gemm.arithmetic = KILN_ALLOW_EMULATION;
    fixture_expect_recipe(f, &gemm, "tuned", "emulated_small");
    gemm.transa = gemm.transb = KILN_TRANS;
    fixture_expect_recipe(f, &gemm, "generic", "generic_s_tt");
    gemm = fixture_gemm(f, 1001, 64, 64); /* natively it is faster: by the first link */
    gemm.arithmetic = KILN_ALLOW_EMULATION;
    fixture_expect_recipe(f, &gemm, "generic", "generic_s_nn");
    kiln_context_destroy(&f->kiln);
}

static void the_self_test_emulates(void **state)
{
    struct fixture *f = *state;
    begin(f, 0);
    emulating.times[0] = (struct kiln_time){ { [KILN_TERM_CALL] = 0x1p60f } };
    struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
    gemm.arithmetic = KILN_ALLOW_EMULATION;
    fixture_expect_recipe(f, &gemm, "tuned", "tuned_small");
    f->kiln->emulates_only = true;
    fixture_expect_recipe(f, &gemm, "tuned", "emulated_packed");
    gemm.arithmetic = KILN_NATIVE;
    fixture_expect_recipe(f, &gemm, "tuned", "tuned_small");
    kiln_context_destroy(&f->kiln);
}

/* Bound to a recipe that emulates, a pack is for calls that allow it. */
static void packs_keep_to_what_they_were_made_for(void **state)
{
    struct fixture *f = *state;
    begin(f, 0);
    emulating.times[1] = (struct kiln_time){ { 0 } };
    struct kiln_gemm gemm = packed_gemm(f);
    gemm.arithmetic = KILN_ALLOW_EMULATION;
    struct packed b = pack(f, &gemm, KILN_PACK_B);
    assert_int_equal(b.pack.recipe, EMULATED_PACKED);
    assert_int_equal(b.pack.precision, KILN_SINGLE);
    gemm.packed_b = &b.pack;
    assert_int_equal(call(f, &gemm), KILN_SUCCESS);
    fixture_expect("pack_a", "packed_mul", NULL);
    gemm.arithmetic = KILN_NATIVE;
    assert_int_equal(call(f, &gemm), KILN_PACK_UNSUITABLE);
    let_go(&b);

    gemm = packed_gemm(f);
    b = pack(f, &gemm, KILN_PACK_B);
    assert_int_equal(b.pack.recipe, TUNED_PACKED);
    gemm.packed_b = &b.pack;
    gemm.arithmetic = KILN_ALLOW_EMULATION; /* that its recipe is native does no harm */
    assert_int_equal(call(f, &gemm), KILN_SUCCESS);
    let_go(&b);
    kiln_context_destroy(&f->kiln);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(calls_get_it_that_allow_it),
        TEST(typed_calls_go_by_the_context),
        TEST(native_recipes_serve_what_is_faster_so),
        TEST(other_precisions_have_one_arithmetic),
        TEST(an_unknown_arithmetic_is_refused_last),
        TEST(explain_says_what_is_allowed),
        TEST(a_link_that_has_it_comes_first),
        TEST(the_self_test_emulates),
        TEST(packs_keep_to_what_they_were_made_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
