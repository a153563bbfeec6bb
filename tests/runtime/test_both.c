/* test_both.c: a recipe with a stage that prepares A and B at once, and one for each alone: which
 * of them calls, calls with packs, packs and batches enqueue. */
#include "fixture.h"

#include "internal.h"
#include "reader.h"

#include <string.h>

enum { M = 16, N = 16, K = 4096, NUM_STAGES = 4 };

/* The packed recipe of the tuned bundle, with one stage more. */
static struct {
    char text[2048];
    uint32_t line;
    uint16_t symbol;
    struct kiln_program program;
    struct kiln_stage stages[NUM_STAGES];
    struct kiln_recipe recipe;
    struct kiln_bundle bundle;
} both;

static const char pack_both[] =
    "kernel void pack_both(int m, int k, global const float *a, int a_offset, int lda,\n"
    "    global float *packed_a, long a_at, int n, global const float *b, int b_offset, int ldb,\n"
    "    global double *packed_b, long b_at)\n"
    "{\n"
    "}\n";

static void make_bundle(void)
{
    const struct kiln_recipe *packed = &tuned_recipes[TUNED_PACKED];
    const struct kiln_program *rest = &tuned_bundle.programs[PROGRAM_PACKED];
    memcpy(both.text, pack_both, sizeof pack_both);
    assert_true(sizeof pack_both + rest->text_bytes < sizeof both.text);
    kiln_pool_copy(&tuned_bundle.pool, rest, both.text + strlen(pack_both));
    both.program = (struct kiln_program){ .num_symbols = 1 };
    both.stages[0] = (struct kiln_stage){ .entry = "pack_both",
        .work_dim = 3,
        .dim = { KILN_DIM_K, KILN_DIM_M, KILN_DIM_N },
        .tile = { 4, 8, 8 },
        .local = { 4, 8, 8 },
        .num_args = 13,
        .args = { KILN_ARG_M, KILN_ARG_K, KILN_ARG_A, KILN_ARG_A_OFFSET, KILN_ARG_LDA,
                KILN_ARG_PACKED_A, KILN_ARG_PACKED_A_AT, KILN_ARG_N, KILN_ARG_B, KILN_ARG_B_OFFSET,
                KILN_ARG_LDB, KILN_ARG_PACKED_B, KILN_ARG_PACKED_B_AT },
        .prepares = KILN_PREPARED_BOTH };
    memcpy(both.stages + 1, packed->stages, 3 * sizeof both.stages[0]);
    both.recipe = *packed;
    both.recipe.num_stages = NUM_STAGES;
    both.recipe.stages = both.stages;
    both.recipe.program = 0;
    both.bundle = (struct kiln_bundle){ .format = KILN_BUNDLE_FORMAT,
        .name = "both",
        .num_programs = 1,
        .num_recipes = 1,
        .programs = &both.program,
        .recipes = &both.recipe,
        .pool = { .text_bytes = sizeof both.text,
                .num_lines = 1,
                .num_symbols = 1,
                .text = both.text,
                .lines = &both.line,
                .symbols = &both.symbol } };
    test_bundle_finish(&both.bundle.pool, &both.program);
}

/* A context on that bundle, and the call that the tests make. */
static struct kiln_gemm begin(struct fixture *f)
{
    struct kiln_context_params params = { .bundle = &both.bundle };
    make_bundle();
    fixture_new_context(f, &params);
    return fixture_gemm(f, M, N, K);
}

static struct kiln_pack pack(struct fixture *f, const struct kiln_gemm *gemm,
        enum kiln_pack_operand operand, cl_mem *room, const char *entry)
{
    struct kiln_pack packed;
    size_t bytes = 0;
    assert_int_equal(kiln_pack_bytes(f->kiln, gemm, operand, &bytes), KILN_SUCCESS);
    *room = stub_make_buffer(f->cl, bytes);
    stub_clear_records();
    assert_int_equal(
            kiln_pack_enqueue(f->kiln, gemm, operand, *room, 0, f->queue, 0, NULL, NULL, &packed),
            KILN_SUCCESS);
    fixture_expect(entry, NULL);
    return packed;
}

static void expect_explained(struct fixture *f, const struct kiln_gemm *gemm, const char *with,
        const char *without)
{
    char text[1024];
    assert_int_equal(kiln_gemm_explain(f->kiln, gemm, text, sizeof text), KILN_SUCCESS);
    assert_non_null(strstr(text, with));
    assert_null(strstr(text, without));
}

static void a_call_prepares_both_at_once(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = begin(f);
    fixture_run(f, &gemm);
    fixture_expect("pack_both", "packed_mul", NULL);
}

static void a_batch_prepares_both_for_each_member(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = begin(f);
    gemm.batch_count = 2;
    gemm.a_stride = M * K;
    gemm.b_stride = K * N;
    gemm.c_stride = M * N;
    fixture_run(f, &gemm);
    fixture_expect("pack_both", "packed_mul", "pack_both", "packed_mul", NULL);
    stub_clear_records();
    assert_int_equal(kiln_gemm_enqueue(f->kiln, &gemm, f->loose, 0, NULL, NULL), KILN_SUCCESS);
    fixture_expect("pack_both", "packed_mul", "pack_both", "packed_mul", NULL);
}

static void packs_leave_the_other_operand(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = begin(f);
    cl_mem room_a, room_b;
    const struct kiln_pack a = pack(f, &gemm, KILN_PACK_A, &room_a, "pack_a");
    const struct kiln_pack b = pack(f, &gemm, KILN_PACK_B, &room_b, "pack_b");
    gemm.packed_a = &a;
    fixture_run(f, &gemm);
    fixture_expect("pack_b", "packed_mul", NULL);
    gemm.packed_b = &b;
    fixture_run(f, &gemm);
    fixture_expect("packed_mul", NULL);
    gemm.packed_a = NULL;
    fixture_run(f, &gemm);
    fixture_expect("pack_a", "packed_mul", NULL);
    clReleaseMemObject(room_a);
    clReleaseMemObject(room_b);
}

static void explain_names_what_is_enqueued(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = begin(f);
    cl_mem room;
    const struct kiln_pack a = pack(f, &gemm, KILN_PACK_A, &room, "pack_a");
    expect_explained(f, &gemm, "pack_both", "pack_a");
    gemm.packed_a = &a;
    expect_explained(f, &gemm, "pack_b", "pack_both");
    clReleaseMemObject(room);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_call_prepares_both_at_once),
        TEST(a_batch_prepares_both_for_each_member),
        TEST(packs_leave_the_other_operand),
        TEST(explain_names_what_is_enqueued),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
