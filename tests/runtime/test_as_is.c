/* test_as_is.c: a recipe that takes operands as they are where their rows are aligned, and prepares
 * them elsewhere; and a stage that adds up what work-groups share, where they share something. */
#include "fixture.h"

#include "internal.h"
#include "reader.h"

#include <string.h>

/* Columns are tiles of UNIT: two turns of the stub's compute units, and what is shared. */
enum { M = 20, K = 28, UNIT = 4, TURN = 4, NUM_STAGES = 5 };

static const char text[] =
    "kernel void both(int m, int k, global const float *a, int a_offset, int lda,\n"
    "    global float *packed_a, long a_at, int n, global const float *b, int b_offset, int ldb,\n"
    "    global float *packed_b, long b_at)\n"
    "{\n"
    "}\n"
    "kernel void only_a(int m, int k, global const float *a, int a_offset, int lda,\n"
    "    global float *packed_a, long a_at)\n"
    "{\n"
    "}\n"
    "kernel void only_b(int k, int n, global const float *b, int b_offset, int ldb,\n"
    "    global float *packed_b, long b_at)\n"
    "{\n"
    "}\n"
    "kernel void mul(global const float *a, long a_at, int lda, global const float *b, long b_at,\n"
    "    int ldb, global float *c)\n"
    "{\n"
    "}\n"
    "kernel void add(global float *c)\n"
    "{\n"
    "}\n";

static const struct kiln_stage stages[NUM_STAGES] = {
    {.entry = "both", .work_dim = 1, .dim = {KILN_DIM_UNITS}, .tile = {1}, .local = {8},
     .num_args = 13,
     .args = {KILN_ARG_M, KILN_ARG_K, KILN_ARG_A, KILN_ARG_A_OFFSET, KILN_ARG_LDA,
              KILN_ARG_PACKED_A, KILN_ARG_PACKED_A_AT, KILN_ARG_N, KILN_ARG_B, KILN_ARG_B_OFFSET,
              KILN_ARG_LDB, KILN_ARG_PACKED_B, KILN_ARG_PACKED_B_AT},
     .prepares = KILN_PREPARED_BOTH},
    {.entry = "only_a", .work_dim = 1, .dim = {KILN_DIM_UNITS}, .tile = {1}, .local = {8},
     .num_args = 7,
     .args = {KILN_ARG_M, KILN_ARG_K, KILN_ARG_A, KILN_ARG_A_OFFSET, KILN_ARG_LDA,
              KILN_ARG_PACKED_A, KILN_ARG_PACKED_A_AT}, .prepares = KILN_PREPARED_A},
    {.entry = "only_b", .work_dim = 1, .dim = {KILN_DIM_UNITS}, .tile = {1}, .local = {8},
     .num_args = 7,
     .args = {KILN_ARG_K, KILN_ARG_N, KILN_ARG_B, KILN_ARG_B_OFFSET, KILN_ARG_LDB,
              KILN_ARG_PACKED_B, KILN_ARG_PACKED_B_AT}, .prepares = KILN_PREPARED_B},
    {.entry = "mul", .work_dim = 1, .dim = {KILN_DIM_UNITS}, .tile = {1}, .local = {8},
     .num_args = 7,
     .args = {KILN_ARG_PACKED_A, KILN_ARG_PACKED_A_AT, KILN_ARG_PACKED_LDA, KILN_ARG_PACKED_B,
              KILN_ARG_PACKED_B_AT, KILN_ARG_PACKED_LDB, KILN_ARG_C}},
    {.entry = "add", .work_dim = 1, .dim = {KILN_DIM_UNITS}, .tile = {1}, .local = {8},
     .num_args = 1, .args = {KILN_ARG_C}, .role = KILN_ROLE_ADD},
};

/* Where mul has the operands' arguments. */
enum { MUL_A = 0, MUL_B = 3 };

static const struct kiln_region regions[2] = {
    {.dim = {KILN_DIM_M, KILN_DIM_K}, .round = {1, UNIT}, .element_bytes = 4,
     .holds = KILN_PREPARED_A},
    {.dim = {KILN_DIM_N, KILN_DIM_K}, .round = {UNIT, 1}, .element_bytes = 4,
     .holds = KILN_PREPARED_B},
};

static struct {
    uint32_t line;
    uint16_t symbol;
    struct kiln_program program;
    struct kiln_recipe recipe;
    struct kiln_bundle bundle;
} copying;

/* A call of two turns of tiles and `rest` tiles more. */
static struct kiln_gemm begin(struct fixture *f, unsigned rest)
{
    struct kiln_context_params params = { .bundle = &copying.bundle };
    memset(&copying, 0, sizeof copying);
    copying.program = (struct kiln_program){ .num_symbols = 1 };
    copying.recipe = (struct kiln_recipe){ .name = "copying",
        .precision = KILN_SINGLE,
        .index_bits = 32,
        .tile = { M, UNIT, UNIT },
        .reach = { M, UNIT, UNIT },
        .unit_turns = 1,
        .shares = 1,
        .as_is = KILN_PREPARED_BOTH,
        .num_stages = NUM_STAGES,
        .num_regions = 2,
        .stages = stages,
        .regions = regions };
    copying.bundle = (struct kiln_bundle){ .format = KILN_BUNDLE_FORMAT,
        .name = "copying",
        .num_programs = 1,
        .num_recipes = 1,
        .programs = &copying.program,
        .recipes = &copying.recipe,
        .pool = { .text_bytes = sizeof text,
                .num_lines = 1,
                .num_symbols = 1,
                .text = text,
                .lines = &copying.line,
                .symbols = &copying.symbol } };
    test_bundle_finish(&copying.bundle.pool, &copying.program);
    fixture_new_context(f, &params);
    assert_int_equal(f->kiln->facts.compute_units, TURN);
    return fixture_gemm(f, M, UNIT * (2 * TURN + rest), K);
}

static void expect_operand(unsigned stage, unsigned arg, cl_mem buffer, size_t at, size_t ld)
{
    const struct stub_record *record = stub_record_at(stage);
    assert_string_equal(record->entry, "mul");
    assert_ptr_equal(stub_record_mem(record, arg), buffer);
    assert_int_equal(stub_record_int(record, arg + 1), at);
    assert_int_equal(stub_record_int(record, arg + 2), ld);
}

static void what_is_aligned_is_taken_as_it_is(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = begin(f, 0);
    gemm.lda = K + UNIT;
    gemm.ldb = gemm.n + UNIT;
    gemm.a_offset = 2 * UNIT;
    fixture_run(f, &gemm);
    fixture_expect("mul", NULL);
    expect_operand(0, MUL_A, f->a, 2 * UNIT, K + UNIT);
    expect_operand(0, MUL_B, f->b, 0, gemm.ldb);
    size_t bytes = 1;
    assert_int_equal(kiln_gemm_workspace_bytes(f->kiln, &gemm, &bytes), KILN_SUCCESS);
    assert_int_equal(bytes, 0);
}

static void what_is_not_is_prepared(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = begin(f, 0);
    gemm.lda = K + 1;
    fixture_run(f, &gemm);
    fixture_expect("only_a", "mul", NULL);
    assert_ptr_not_equal(stub_record_mem(stub_record_at(1), MUL_A), f->a);
    assert_int_equal(stub_record_int(stub_record_at(1), MUL_A + 2), K);
    expect_operand(1, MUL_B, f->b, 0, gemm.n);
    gemm.lda = K;
    gemm.b_offset = UNIT + 1;
    fixture_run(f, &gemm);
    fixture_expect("only_b", "mul", NULL);
    expect_operand(1, MUL_A, f->a, 0, K);
    assert_int_equal(stub_record_int(stub_record_at(1), MUL_B + 2), gemm.n);
    gemm.a_offset = UNIT - 1;
    fixture_run(f, &gemm);
    fixture_expect("both", "mul", NULL);
}

/* Each member begins elsewhere; one stride that is not aligned, and all are prepared. */
static void members_of_a_batch_are_taken_one_by_one(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = begin(f, 0);
    gemm.batch_count = 2;
    gemm.a_stride = M * K + UNIT;
    gemm.c_stride = M * gemm.n;
    fixture_run(f, &gemm);
    fixture_expect("mul", "mul", NULL);
    expect_operand(0, MUL_A, f->a, 0, K);
    expect_operand(1, MUL_A, f->a, M * K + UNIT, K);
    gemm.a_stride = M * K + 1;
    fixture_run(f, &gemm);
    fixture_expect("only_a", "mul", "only_a", "mul", NULL);
}

/* A pack is prepared, whatever the operand's rows, and then used. */
static void packs_are_prepared(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = begin(f, 0);
    struct kiln_pack pack;
    size_t bytes = 0;
    assert_int_equal(kiln_pack_bytes(f->kiln, &gemm, KILN_PACK_A, &bytes), KILN_SUCCESS);
    cl_mem room = stub_make_buffer(f->cl, bytes);
    stub_clear_records();
    assert_int_equal(
            kiln_pack_enqueue(f->kiln, &gemm, KILN_PACK_A, room, 0, f->queue, 0, NULL, NULL, &pack),
            KILN_SUCCESS);
    fixture_expect("only_a", NULL);
    gemm.packed_a = &pack;
    fixture_run(f, &gemm);
    fixture_expect("mul", NULL);
    expect_operand(0, MUL_A, room, 0, K);
    clReleaseMemObject(room);
}

static void what_is_shared_is_added_up(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = begin(f, 1);
    char explained[1024];
    fixture_run(f, &gemm);
    fixture_expect("mul", "add", NULL);
    assert_int_equal(kiln_gemm_explain(f->kiln, &gemm, explained, sizeof explained), KILN_SUCCESS);
    assert_non_null(strstr(explained, "add"));
    gemm.n -= UNIT;
    fixture_run(f, &gemm);
    fixture_expect("mul", NULL);
    gemm.n += 3 * UNIT; /* three quarters of a turn are a turn */
    fixture_run(f, &gemm);
    fixture_expect("mul", NULL);
    gemm.n -= UNIT;
    fixture_run(f, &gemm);
    fixture_expect("mul", "add", NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_aligned_is_taken_as_it_is),
        TEST(what_is_not_is_prepared),
        TEST(members_of_a_batch_are_taken_one_by_one),
        TEST(packs_are_prepared),
        TEST(what_is_shared_is_added_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
