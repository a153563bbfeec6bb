/* test_complex.c: complex products that two kinds of recipes can serve: one that multiplies complex
 * numbers, and one that leaves a real product. */
#include "fixture.h"

#include "internal.h"

#include <string.h>

/* The kernels are those of the tuned bundle, in other roles. */
enum { REAL, FORM, NATIVE, NUM_RECIPES };
enum { EXPAND, ROTATE, SCALE, DIAGONAL, NUM_STAGES };
#define BYTES (2 * sizeof(cl_float))

static const uint8_t rotate_args[] = {
    KILN_ARG_WORKSPACE, KILN_ARG_REGION_2, KILN_ARG_PACKED_B, KILN_ARG_PACKED_B_AT, KILN_ARG_M,
    KILN_ARG_N, KILN_ARG_K, KILN_ARG_ALPHA, KILN_ARG_ALPHA_IMAG, KILN_ARG_WORKSPACE, KILN_ARG_M,
    KILN_ARG_N,
};
static const uint8_t scale_args[] = {
    KILN_ARG_WORKSPACE, KILN_ARG_REGION_2, KILN_ARG_PACKED_B, KILN_ARG_PACKED_B_AT, KILN_ARG_M,
    KILN_ARG_N, KILN_ARG_K, KILN_ARG_BETA, KILN_ARG_BETA_IMAG, KILN_ARG_C, KILN_ARG_C_OFFSET,
    KILN_ARG_LDC,
};
static const struct kiln_region regions[] = {
    {.dim = {KILN_DIM_ONE, KILN_DIM_ONE}, .round = {1, 1}, .element_bytes = 1},
    {.dim = {KILN_DIM_K, KILN_DIM_N}, .round = {1, 2}, .element_bytes = 2 * BYTES,
     .holds = KILN_PREPARED_B},
    {.dim = {KILN_DIM_K, KILN_DIM_N}, .round = {1, 2}, .element_bytes = 2 * BYTES},
};

static struct {
    struct kiln_time times[NUM_RECIPES];
    struct kiln_stage stages[NUM_STAGES], native;
    struct kiln_recipe recipes[NUM_RECIPES];
    struct kiln_bundle bundle;
} two;

/* Microseconds of a call of each. */
static void begin(struct fixture *f, float real, float own, float native)
{
    const struct kiln_context_params params = { .bundle = &two.bundle };
    const float times[] = { real, own, native };
    for (unsigned i = 0; i < NUM_RECIPES; i++) {
        two.recipes[i] = tuned_recipes[i == REAL   ? TUNED_SMALL
                                       : i == FORM ? TUNED_PACKED
                                                   : TUNED_ALIGNED];
        two.times[i] = (struct kiln_time){
            { [KILN_TERM_CALL] = times[i] > 0 ? 1e6f * times[i] : 0 }
        };
        two.recipes[i].time = &two.times[i];
        two.recipes[i].precision = i == REAL ? KILN_SINGLE : KILN_COMPLEX_SINGLE;
    }
    const struct kiln_stage *packed = tuned_recipes[TUNED_PACKED].stages;
    two.stages[EXPAND] = packed[1];
    two.stages[ROTATE] = two.stages[SCALE] = two.stages[DIAGONAL] = packed[2];
    two.stages[ROTATE].role = KILN_ROLE_ROTATE;
    two.stages[SCALE].role = KILN_ROLE_SCALE;
    two.stages[DIAGONAL].role = KILN_ROLE_DIAGONAL;
    memcpy(two.stages[ROTATE].args, rotate_args, sizeof rotate_args);
    memcpy(two.stages[SCALE].args, scale_args, sizeof scale_args);
    memcpy(two.stages[DIAGONAL].args, scale_args, sizeof scale_args);
    struct kiln_recipe *form = &two.recipes[FORM], *mul = &two.recipes[NATIVE];
    form->name = "form";
    form->routine = KILN_ROUTINE_TO_REAL;
    form->stages = two.stages;
    form->num_stages = NUM_STAGES;
    form->regions = regions;
    form->num_regions = 3;
    mul->name = "native";
    mul->guard = (struct kiln_guard){ 0 };
    two.bundle = tuned_bundle;
    two.bundle.recipes = two.recipes;
    two.bundle.num_recipes = NUM_RECIPES;
    fixture_new_context(f, &params);
}

static struct kiln_gemm product(const struct fixture *f)
{
    struct kiln_gemm gemm = fixture_gemm(f, 24, 20, 30);
    gemm.precision = KILN_COMPLEX_SINGLE;
    return gemm;
}

static void end(struct fixture *f)
{
    stub_clear_plans();
    kiln_context_destroy(&f->kiln);
}

static enum kiln_status call(struct fixture *f, const struct kiln_gemm *gemm, cl_event *event)
{
    return kiln_gemm_enqueue(f->kiln, gemm, f->queue, 0, NULL, event);
}

/* The recipe that leaves a real product takes its own time and that of the product; without a time
 * of its own it comes last. */
static void the_times_decide(void **state)
{
    static const struct {
        float real, own, native;
        bool leaves_real;
    } rows[] = {
        { 10, 5, 20, true },
        { 10, 5, 14, false },
        { 10, 15, 20, false },
        { 30, 0, 20, false },
        { 10, -1, 20, false },
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin(f, rows[i].real, rows[i].own, rows[i].native);
        const struct kiln_gemm gemm = product(f);
        const bool leaves_real = rows[i].leaves_real;
        two.recipes[FORM].time = rows[i].own < 0 ? NULL : two.recipes[FORM].time;
        fixture_expect_recipe(f, &gemm, "tuned", leaves_real ? "tuned_small" : "native");
        fixture_run(f, &gemm);
        fixture_expect(leaves_real ? "pack_b" : "aligned_mul", leaves_real ? "small_mul" : NULL,
                NULL);
        end(f);
    }
}

/* Room for B at twice its size, to the byte; none where complex numbers are multiplied. */
static void what_is_told_does(void **state)
{
    struct fixture *f = *state;
    for (unsigned native = 0; native < 2; native++) {
        begin(f, 10, 5, native ? 1 : 99);
        struct kiln_gemm gemm = product(f);
        size_t bytes = 1;
        assert_int_equal(kiln_gemm_workspace_bytes(f->kiln, &gemm, &bytes), KILN_SUCCESS);
        assert_in_range(bytes, native ? 0 : 2 * 30 * 20 * BYTES,
                native ? 0 : 2 * 30 * 20 * BYTES + 2 * KILN_REGION_ALIGN);
        cl_int error = CL_SUCCESS;
        for (unsigned less = 0; less < 2 && bytes > 0; less++) {
            gemm.workspace = clCreateBuffer(f->cl, CL_MEM_READ_WRITE, bytes - less, NULL, &error);
            assert_int_equal(error, CL_SUCCESS);
            assert_int_equal(call(f, &gemm, NULL), less ? KILN_WORKSPACE_TOO_SMALL : KILN_SUCCESS);
            clReleaseMemObject(gemm.workspace);
        }
        end(f);
    }
}

/* Each real recipe asks for B again; when none works, complex numbers are multiplied. The event is
 * that of what serves in the end, on a queue in order too. */
static void another_kind_serves(void **state)
{
    struct fixture *f = *state;
    begin(f, 10, 5, 99);
    const struct kiln_gemm gemm = product(f);
    cl_event event = NULL;
    stub_clear_records();
    for (unsigned nth = 1; nth <= 3; nth++) {
        stub_fail("clEnqueueNDRangeKernel", nth, CL_OUT_OF_RESOURCES);
    }
    assert_int_equal(call(f, &gemm, &event), KILN_SUCCESS);
    fixture_expect("aligned_mul", NULL);
    assert_non_null(event);
    assert_int_equal(stub_record_of(event), 0);
    clReleaseEvent(event);
    end(f);
}

static void what_can_not_be_built_leaves_the_other_kind(void **state)
{
    struct fixture *f = *state;
    char text[4096];
    begin(f, 10, 5, 99);
    const struct kiln_gemm gemm = product(f);
    stub_fail_build("small_mul", CL_BUILD_PROGRAM_FAILURE);
    stub_fail_build("generic_s_nn", CL_BUILD_PROGRAM_FAILURE);
    fixture_run(f, &gemm);
    fixture_expect("aligned_mul", NULL);
    assert_int_equal(kiln_gemm_explain(f->kiln, &gemm, text, sizeof text), KILN_SUCCESS);
    assert_non_null(strstr(text, "kernel: native\n"));
    end(f);
}

/* C was multiplied by beta, and nothing may do that again. */
static void a_complex_beta_counts_once(void **state)
{
    struct fixture *f = *state;
    begin(f, 10, 5, 99);
    struct kiln_gemm gemm = product(f);
    gemm.beta_imag = 0.5;
    fixture_run(f, &gemm);
    fixture_expect("pack_b", "packed_mul", "small_mul", NULL);
    stub_clear_records();
    for (unsigned nth = 3; nth <= 5; nth++) {
        stub_fail("clEnqueueNDRangeKernel", nth, CL_OUT_OF_RESOURCES);
    }
    assert_int_equal(call(f, &gemm, NULL), CL_OUT_OF_RESOURCES);
    fixture_expect("pack_b", "packed_mul", NULL);
    stub_clear_plans();
    stub_clear_records();
    gemm.beta_imag = 0; /* C is not read: it may be done again */
    stub_fail("clEnqueueNDRangeKernel", 2, CL_OUT_OF_RESOURCES);
    assert_int_equal(call(f, &gemm, NULL), KILN_SUCCESS);
    end(f);
}

static void malformed_ones_are_refused(void **state)
{
    struct fixture *f = *state;
    for (unsigned fault = 0; fault < 12; fault++) {
        begin(f, 10, 5, 99);
        assert_true(kiln_bundle_is_sound(&two.bundle));
        two.recipes[FORM].precision = fault == 0 ? KILN_SINGLE : KILN_COMPLEX_SINGLE;
        two.recipes[FORM].as_is = fault == 1 ? KILN_PREPARED_B : 0;
        two.recipes[FORM].num_stages = fault == 2 ? NUM_STAGES - 1 : NUM_STAGES;
        two.recipes[FORM].routine = fault == 3 ? KILN_ROUTINE_TO_REAL + 1 : KILN_ROUTINE_TO_REAL;
        two.native = tuned_recipes[TUNED_ALIGNED].stages[0];
        if (fault == 4 || fault == 5) {
            two.native.args[PLAIN_BETA] = KILN_ARG_TRIANGLE;
        }
        two.recipes[NATIVE].triangles = fault == 4 ? KILN_TRIANGLES_ALSO
                                      : fault == 5 ? KILN_TRIANGLES_ALWAYS
                                                   : KILN_TRIANGLES_NEVER;
        two.stages[EXPAND].role = fault == 6 ? KILN_ROLE_ROTATE : KILN_ROLE_NONE;
        two.stages[SCALE].role = fault == 7 ? KILN_ROLE_ROTATE : KILN_ROLE_SCALE;
        two.native.role = fault == 8 ? KILN_ROLE_SCALE : KILN_ROLE_NONE;
        two.stages[ROTATE].role = fault == 9 ? KILN_ROLE_NONE : KILN_ROLE_ROTATE;
        two.stages[DIAGONAL].role = fault == 10 ? KILN_ROLE_NONE
                                  : fault == 11 ? KILN_NUM_ROLES
                                                : KILN_ROLE_DIAGONAL;
        two.recipes[NATIVE].stages = &two.native;
        assert_false(kiln_bundle_is_sound(&two.bundle));
        end(f);
    }
}

/* What each fault above is made in is sound without one. */
static void a_kernel_of_its_own_is_sound(void **state)
{
    struct fixture *f = *state;
    begin(f, 10, 5, 99);
    two.native = tuned_recipes[TUNED_ALIGNED].stages[0];
    two.recipes[NATIVE].stages = &two.native;
    assert_true(kiln_bundle_is_sound(&two.bundle));
    end(f);
}

/* A kernel of complex numbers that stores a triangle is told whether C is Hermitian. */
static void hermitian_matrices_are_told(void **state)
{
    struct fixture *f = *state;
    for (unsigned hermitian = 0; hermitian < 2; hermitian++) {
        begin(f, 99, 99, 1);
        two.native = tuned_recipes[TUNED_ALIGNED].stages[0];
        two.native.args[PLAIN_ALPHA] = KILN_ARG_HERMITIAN;
        two.native.args[PLAIN_BETA] = KILN_ARG_TRIANGLE;
        two.recipes[NATIVE].triangles = KILN_TRIANGLES_ALWAYS;
        two.recipes[NATIVE].stages = &two.native;
        assert_true(kiln_bundle_is_sound(&two.bundle));
        struct kiln_gemm gemm = fixture_gemm(f, 24, 24, 30);
        gemm.precision = KILN_COMPLEX_SINGLE;
        gemm.uplo_c = KILN_UPPER;
        gemm.hermitian = (int) hermitian;
        fixture_run(f, &gemm);
        const struct stub_record *r = fixture_only("aligned_mul");
        assert_int_equal(stub_record_int(r, PLAIN_ALPHA), hermitian);
        assert_int_equal(stub_record_int(r, PLAIN_BETA), KILN_TRIANGLE_UPPER);
        end(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_times_decide, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(what_is_told_does, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(another_kind_serves, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(what_can_not_be_built_leaves_the_other_kind, fixture_setup,
                fixture_teardown),
        cmocka_unit_test_setup_teardown(a_complex_beta_counts_once, fixture_setup,
                fixture_teardown),
        cmocka_unit_test_setup_teardown(malformed_ones_are_refused, fixture_setup,
                fixture_teardown),
        cmocka_unit_test_setup_teardown(a_kernel_of_its_own_is_sound, fixture_setup,
                fixture_teardown),
        cmocka_unit_test_setup_teardown(hermitian_matrices_are_told, fixture_setup,
                fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
