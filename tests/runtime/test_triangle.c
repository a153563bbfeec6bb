/* test_triangle.c: matrices of which one triangle counts: what is refused, what is launched, and in
 * which room. */
#include "fixture.h"

#include "internal.h"

#include <string.h>

/* The tuned bundle with a recipe that mirrors, and the small one once more, for triangles. Both
 * have the small one's kernel, which is told of the triangle in the place of beta. */
enum { MIRROR = NUM_TUNED, TRIANGLE, NUM_RECIPES };

static struct {
    struct kiln_recipe recipes[NUM_RECIPES];
    struct kiln_stage mirror, triangle;
    struct kiln_bundle bundle;
} symmetric;

static void begin(struct fixture *f)
{
    const struct kiln_context_params params = { .bundle = &symmetric.bundle };
    const struct kiln_stage *small = tuned_recipes[TUNED_SMALL].stages;
    memcpy(symmetric.recipes, tuned_recipes, sizeof tuned_recipes);
    symmetric.mirror = symmetric.triangle = *small;
    symmetric.mirror.args[PLAIN_BETA] = symmetric.triangle.args[PLAIN_BETA] = KILN_ARG_TRIANGLE;
    struct kiln_recipe *mirror = &symmetric.recipes[MIRROR];
    struct kiln_recipe *triangle = &symmetric.recipes[TRIANGLE];
    *mirror = *triangle = tuned_recipes[TUNED_SMALL];
    mirror->name = "mirror";
    mirror->routine = KILN_ROUTINE_MIRROR;
    mirror->triangles = KILN_TRIANGLES_ALSO;
    mirror->stages = &symmetric.mirror;
    mirror->time = NULL;
    triangle->name = "triangle";
    triangle->triangles = KILN_TRIANGLES_ALWAYS;
    triangle->stages = &symmetric.triangle;
    symmetric.bundle = tuned_bundle;
    symmetric.bundle.recipes = symmetric.recipes;
    symmetric.bundle.num_recipes = NUM_RECIPES;
    fixture_new_context(f, &params);
}

static enum kiln_status call(struct fixture *f, const struct kiln_gemm *gemm)
{
    return kiln_gemm_enqueue(f->kiln, gemm, f->queue, 0, NULL, NULL);
}

static void bad_triangles_are_refused_last(void **state)
{
    struct fixture *f = *state;
    size_t bytes = 0;
    struct kiln_gemm gemm = fixture_gemm(f, 64, 32, 64), good = gemm;
    gemm.uplo_a = (enum kiln_uplo) 1;
    assert_int_equal(call(f, &gemm), KILN_INVALID_UPLO);
    gemm.arithmetic = (enum kiln_arithmetic) 9;
    assert_int_equal(call(f, &gemm), KILN_INVALID_ARITHMETIC);
    gemm = good;
    gemm.uplo_b = KILN_LOWER; /* 64 x 32 */
    assert_int_equal(call(f, &gemm), KILN_NOT_SQUARE);
    gemm.uplo_b = 0;
    gemm.uplo_c = KILN_UPPER;
    assert_int_equal(call(f, &gemm), KILN_NOT_SQUARE);
    assert_int_equal(kiln_gemm_workspace_bytes(f->kiln, &gemm, &bytes), KILN_NOT_SQUARE);
    gemm.b = NULL;
    assert_int_equal(call(f, &gemm), KILN_INVALID_BUFFER_B);
    gemm = good;
    gemm.uplo_a = KILN_LOWER;
    assert_int_equal(kiln_pack_bytes(f->kiln, &gemm, KILN_PACK_A, &bytes), KILN_PACK_OF_TRIANGLE);
    assert_int_equal(stub_num_records(), 0);
}

/* Nothing is enqueued where the bundle has no recipe for it. */
static void without_a_recipe_nothing_is_done(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
    gemm.uplo_a = KILN_LOWER;
    assert_int_equal(call(f, &gemm), KILN_NO_KERNEL);
    gemm.uplo_a = 0;
    gemm.uplo_c = KILN_LOWER;
    assert_int_equal(call(f, &gemm), KILN_NO_KERNEL);
    assert_int_equal(stub_num_records(), 0);
}

static cl_int int_argument(const struct stub_record *record, unsigned index)
{
    cl_int value = 0;
    memcpy(&value, record->args[index].bytes, sizeof value);
    return value;
}

static void a_triangle_of_c_goes_to_its_own_kernels(void **state)
{
    struct fixture *f = *state;
    begin(f);
    struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
    for (unsigned i = 0; i < 4; i++) {
        gemm.uplo_c = i % 2 ? KILN_LOWER : KILN_UPPER;
        gemm.layout = i / 2 ? KILN_COL_MAJOR : KILN_ROW_MAJOR;
        fixture_expect_recipe(f, &gemm, "tuned", "triangle");
        fixture_run(f, &gemm);
        const struct stub_record *record = fixture_only("small_mul");
        assert_int_equal(int_argument(record, PLAIN_BETA), (i % 2 == 1) == (i / 2 == 0) ? 1 : -1);
    }
    kiln_context_destroy(&f->kiln);
}

/* The whole matrix lies in the workspace, which has not a byte more than was told. */
static void an_operand_is_mirrored_first(void **state)
{
    struct fixture *f = *state;
    size_t bytes = 0;
    char text[2048];
    begin(f);
    struct kiln_gemm gemm = fixture_gemm(f, 60, 50, 60);
    gemm.uplo_a = KILN_UPPER;
    gemm.workspace_offset = 256;
    assert_int_equal(kiln_gemm_workspace_bytes(f->kiln, &gemm, &bytes), KILN_SUCCESS);
    assert_int_equal(bytes, 60 * 64 * sizeof(cl_float)); /* rows of whole 64 bytes */
    assert_int_equal(kiln_gemm_explain(f->kiln, &gemm, text, sizeof text), KILN_SUCCESS);
    assert_non_null(strstr(text, " a=symmetric,upper\n"));
    assert_non_null(strstr(text, "first: mirror, bundle: tuned\n"));
    assert_non_null(strstr(text, "then: a product\n"));
    cl_int error = CL_SUCCESS;
    cl_mem rooms[2];
    for (unsigned i = 0; i < 2; i++) {
        rooms[i] = clCreateBuffer(f->cl, CL_MEM_READ_WRITE, 256 + bytes - i, NULL, &error);
        assert_int_equal(error, CL_SUCCESS);
    }
    gemm.workspace = rooms[1];
    assert_int_equal(call(f, &gemm), KILN_WORKSPACE_TOO_SMALL);
    assert_int_equal(stub_num_records(), 0);
    gemm.workspace = rooms[0];
    assert_int_equal(call(f, &gemm), KILN_SUCCESS);
    fixture_expect("small_mul", "small_mul", NULL);
    clReleaseMemObject(rooms[0]);
    clReleaseMemObject(rooms[1]);
    kiln_context_destroy(&f->kiln);
}

/* One buffer is to hold the whole matrix and the workspace behind it. */
static void what_is_told_can_be_had(void **state)
{
    struct fixture *f = *state;
    size_t bytes = 0;
    begin(f);
    struct kiln_gemm gemm = fixture_gemm(f, 4096, 16, 4096);
    const size_t whole = (size_t) 4096 * 4096 * sizeof(float);
    gemm.uplo_a = KILN_LOWER;
    assert_int_equal(kiln_gemm_workspace_bytes(f->kiln, &gemm, &bytes), KILN_SUCCESS);
    assert_true(bytes > whole);
    f->kiln->facts.max_alloc_bytes = bytes - 1;
    assert_int_equal(kiln_gemm_workspace_bytes(f->kiln, &gemm, &bytes), KILN_SUCCESS);
    assert_true(bytes >= whole && bytes <= f->kiln->facts.max_alloc_bytes);
    assert_int_equal(call(f, &gemm), KILN_SUCCESS);
    kiln_context_destroy(&f->kiln);
}

/* A pack of the other operand is in the form of a recipe for which there is room beside the whole
 * matrix. */
static void a_pack_leaves_room_for_the_whole(void **state)
{
    struct fixture *f = *state;
    const size_t whole = (size_t) 4096 * 4096 * sizeof(float);
    struct kiln_pack pack;
    size_t bytes = 0;
    begin(f);
    struct kiln_gemm gemm = fixture_gemm(f, 4096, 16, 4096);
    gemm.uplo_a = KILN_LOWER;
    f->kiln->facts.max_alloc_bytes = whole + 4096;
    assert_int_equal(kiln_pack_bytes(f->kiln, &gemm, KILN_PACK_B, &bytes), KILN_SUCCESS);
    cl_mem buffer = stub_make_buffer(f->cl, bytes);
    assert_int_equal(kiln_pack_enqueue(f->kiln, &gemm, KILN_PACK_B, buffer, 0, f->queue, 0, NULL,
                             NULL, &pack),
            KILN_SUCCESS);
    gemm.packed_b = &pack;
    assert_int_equal(call(f, &gemm), KILN_SUCCESS);
    clReleaseMemObject(buffer);
    kiln_context_destroy(&f->kiln);
}

/* A call without a workspace of the caller's is told of none. */
static void a_lack_of_memory_is_told_as_one(void **state)
{
    struct fixture *f = *state;
    begin(f);
    struct kiln_gemm gemm = fixture_gemm(f, 4096, 16, 4096);
    gemm.uplo_a = KILN_LOWER;
    assert_int_equal(call(f, &gemm), KILN_SUCCESS);
    begin(f);
    stub_clear_records();
    stub_fail("clCreateBuffer", 1, CL_MEM_OBJECT_ALLOCATION_FAILURE);
    for (int i = 2; i < 12; i++)
        stub_fail("clEnqueueNDRangeKernel", i, CL_OUT_OF_RESOURCES);
    assert_int_equal(call(f, &gemm), CL_MEM_OBJECT_ALLOCATION_FAILURE);
    stub_clear_plans();
    kiln_context_destroy(&f->kiln);
}

static enum kiln_status symm(struct fixture *f, int side, int uplo, size_t lda)
{
    return kiln_ssymm(f->kiln, KILN_ROW_MAJOR, (enum kiln_side) side, (enum kiln_uplo) uplo, 8, 4,
            1, f->a, 0, lda, f->b, 0, 4, 0, f->c, 0, 4, f->queue, 0, NULL, NULL);
}

static enum kiln_status herk(struct fixture *f, int uplo, int trans)
{
    return kiln_cherk(f->kiln, KILN_ROW_MAJOR, (enum kiln_uplo) uplo, (enum kiln_transpose) trans,
            8, 4, 1, f->a, 0, 8, 0, f->c, 0, 8, f->queue, 0, NULL, NULL);
}

static void typed_calls_take_no_default(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(symm(f, 0, KILN_LOWER, 8), KILN_INVALID_SIDE);
    assert_int_equal(symm(f, KILN_LEFT, 0, 8), KILN_INVALID_UPLO);
    assert_int_equal(symm(f, 0, 0, 8), KILN_INVALID_SIDE);
    assert_int_equal(symm(f, 0, 0, 7), KILN_INVALID_LDA);
    assert_int_equal(symm(f, KILN_RIGHT, KILN_LOWER, 3), KILN_INVALID_LDB);
    assert_int_equal(herk(f, 0, KILN_NO_TRANS), KILN_INVALID_UPLO);
    assert_int_equal(herk(f, KILN_UPPER, KILN_TRANS), KILN_INVALID_TRANSPOSE_A);
    assert_int_equal(herk(f, KILN_UPPER, 0), KILN_INVALID_TRANSPOSE_A);
    assert_int_equal(stub_num_records(), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(bad_triangles_are_refused_last),
        TEST(without_a_recipe_nothing_is_done),
        TEST(a_triangle_of_c_goes_to_its_own_kernels),
        TEST(an_operand_is_mirrored_first),
        TEST(what_is_told_can_be_had),
        TEST(a_pack_leaves_room_for_the_whole),
        TEST(a_lack_of_memory_is_told_as_one),
        TEST(typed_calls_take_no_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
