/* test_batch.c: several members of a batch in one launch: how many, where they are told to lie, and
 * what becomes of them when launches fail. */
#include "fixture.h"

#include "internal.h"
#include "reader.h"

#include <string.h>

enum { M = 8, N = 12, K = 4, MOST = KILN_MOST_MEMBERS };

static const char text[] =
    "kernel void mul(global const float *a, int a_offset, int a_stride, global const float *b,\n"
    "    int b_offset, int b_stride, global float *c, int c_offset, int c_stride,\n"
    "    global float *work, long region)\n"
    "{\n"
    "}\n";

/* Where mul has them. */
enum { A_OFFSET = 1, A_STRIDE = 2, B_STRIDE = 5, C_OFFSET = 7, C_STRIDE = 8 };

static const struct kiln_stage stage = {
    .entry = "mul", .work_dim = 2, .dim = {KILN_DIM_N, KILN_DIM_M}, .tile = {4, 4},
    .local = {2, 3}, .num_args = 11,
    .args = {KILN_ARG_A, KILN_ARG_A_OFFSET, KILN_ARG_A_STRIDE, KILN_ARG_B, KILN_ARG_B_OFFSET,
             KILN_ARG_B_STRIDE, KILN_ARG_C, KILN_ARG_C_OFFSET, KILN_ARG_C_STRIDE,
             KILN_ARG_WORKSPACE, KILN_ARG_REGION_0},
};

static const struct kiln_region region = {
    .dim = {KILN_DIM_ONE, KILN_DIM_ONE}, .round = {1, 1}, .element_bytes = 256, .each_member = 1,
};

static struct {
    struct kiln_stage stages[2][2];
    uint32_t line;
    uint16_t symbol;
    struct kiln_program program;
    struct kiln_recipe recipes[2];
    struct kiln_bundle bundle;
} batching;

/* Two recipes, so that one can follow the other; work-groups of the second have one column. */
static void make_bundle(unsigned num_stages)
{
    memset(&batching, 0, sizeof batching);
    batching.program = (struct kiln_program){ .num_symbols = 1 };
    for (unsigned i = 0; i < 2; i++) {
        batching.stages[i][0] = batching.stages[i][1] = stage;
        batching.stages[i][0].local[0] = batching.stages[i][1].local[0] = 2 - i;
        batching.recipes[i] = (struct kiln_recipe){ .name = i == 0 ? "first" : "second",
            .precision = KILN_SINGLE,
            .index_bits = 32,
            .tile = { 4, 4, 1 },
            .reach = { 4, 4, 1 },
            .batches = 1,
            .num_stages = (uint8_t) num_stages,
            .num_regions = 1,
            .stages = batching.stages[i],
            .regions = &region };
    }
    batching.bundle = (struct kiln_bundle){ .format = KILN_BUNDLE_FORMAT,
        .name = "batching",
        .num_programs = 1,
        .num_recipes = 2,
        .programs = &batching.program,
        .recipes = batching.recipes,
        .pool = { .text_bytes = sizeof text,
                .num_lines = 1,
                .num_symbols = 1,
                .text = text,
                .lines = &batching.line,
                .symbols = &batching.symbol } };
    test_bundle_finish(&batching.bundle.pool, &batching.program);
}

static struct kiln_gemm begin(struct fixture *f, size_t members, unsigned num_stages)
{
    struct kiln_context_params params = { .bundle = &batching.bundle };
    make_bundle(num_stages);
    fixture_new_context(f, &params);
    struct kiln_gemm gemm = fixture_gemm(f, M, N, K);
    gemm.batch_count = members;
    gemm.a_offset = 1;
    gemm.a_stride = 100;
    gemm.c_offset = 3;
    gemm.c_stride = 1000;
    return gemm;
}

static void expect_launch(unsigned at, unsigned recipe, size_t first, size_t members)
{
    const struct stub_record *record = stub_record_at(at);
    const size_t local[3] = { 2 - recipe, 3, 1 };
    const size_t global[3] = { N / 4 * local[0], M / 4 * local[1], members };
    assert_string_equal(record->entry, "mul");
    assert_int_equal(record->work_dim, members > 1 ? 3 : 2);
    assert_memory_equal(record->global, global, sizeof global);
    assert_memory_equal(record->local, local, sizeof local);
    assert_int_equal(stub_record_int(record, A_OFFSET), 1 + first * 100);
    assert_int_equal(stub_record_int(record, C_OFFSET), 3 + first * 1000);
}

static void a_batch_is_one_launch(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = begin(f, 7, 1);
    char explained[1024];
    fixture_run(f, &gemm);
    fixture_expect("mul", NULL);
    expect_launch(0, 0, 0, 7);
    assert_int_equal(stub_record_int(stub_record_at(0), A_STRIDE), 100);
    assert_int_equal(stub_record_int(stub_record_at(0), B_STRIDE), 0);
    assert_int_equal(stub_record_int(stub_record_at(0), C_STRIDE), 1000);
    size_t bytes = 0;
    assert_int_equal(kiln_gemm_workspace_bytes(f->kiln, &gemm, &bytes), KILN_SUCCESS);
    assert_int_equal(bytes, 7 * 256);
    assert_int_equal(kiln_gemm_explain(f->kiln, &gemm, explained, sizeof explained), KILN_SUCCESS);
    assert_non_null(strstr(explained, "groups=3x2x7 local=2x3x1\n"));
    gemm.batch_count = 1;
    fixture_run(f, &gemm);
    expect_launch(0, 0, 0, 1);
    assert_int_equal(stub_record_int(stub_record_at(0), A_STRIDE), 0);
}

/* In column-major layout the members of A are those of the canonical B. */
static void strides_go_with_their_operands(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = begin(f, 2, 1);
    gemm.layout = KILN_COL_MAJOR;
    fixture_run(f, &gemm);
    assert_int_equal(stub_record_int(stub_record_at(0), A_STRIDE), 0);
    assert_int_equal(stub_record_int(stub_record_at(0), B_STRIDE), 100);
}

static void more_than_a_launch_takes_are_several(void **state)
{
    static const size_t counts[] = { MOST - 1, MOST, MOST + 1, MOST + 2, 2 * MOST + 5 };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct kiln_gemm gemm = begin(f, counts[i], 1);
        cl_event wait = stub_make_event(f->cl), done = NULL;
        stub_clear_records();
        assert_int_equal(kiln_gemm_enqueue(f->kiln, &gemm, f->loose, 1, &wait, &done),
                KILN_SUCCESS);
        const size_t launches = (counts[i] + MOST - 1) / MOST;
        assert_int_equal(stub_num_records(), launches);
        for (size_t j = 0; j < launches; j++) {
            const size_t left = counts[i] - j * MOST;
            expect_launch((unsigned) j, 0, j * MOST, left < MOST ? left : MOST);
            assert_true(stub_record_awaits(j, wait));
        }
        assert_int_equal(stub_record_of(done), launches - 1);
        clReleaseEvent(wait);
        clReleaseEvent(done);
    }
}

/* What is enqueued stays; another recipe goes on with the rest. */
static void another_recipe_goes_on_with_the_rest(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = begin(f, MOST + 9, 1);
    stub_clear_records();
    stub_fail("clEnqueueNDRangeKernel", 2, CL_OUT_OF_RESOURCES);
    gemm.beta = 1;
    fixture_run(f, &gemm);
    assert_int_equal(stub_num_records(), 2);
    expect_launch(0, 0, 0, MOST);
    expect_launch(1, 1, MOST, 9);
}

/* But not over a C that is read and that the first stage of these members may have written. */
static void none_goes_on_where_c_is_spoilt(void **state)
{
    static const struct {
        double beta;
        unsigned fails;
        size_t records;
        bool is_spoilt;
    } rows[] = {
        { 0, 1, 4, false },
        { 0, 2, 5, false },
        { 0, 3, 4, false },
        { 0, 4, 5, false },
        { 1, 1, 4, false },
        { 1, 2, 1, true },
        { 1, 3, 4, false },
        { 1, 4, 3, true },
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct kiln_gemm gemm = begin(f, MOST + 9, 2);
        gemm.beta = rows[i].beta;
        stub_clear_records();
        stub_fail("clEnqueueNDRangeKernel", rows[i].fails, CL_OUT_OF_RESOURCES);
        assert_int_equal(kiln_gemm_enqueue(f->kiln, &gemm, f->queue, 0, NULL, NULL),
                rows[i].is_spoilt ? (int) CL_OUT_OF_RESOURCES : KILN_SUCCESS);
        assert_int_equal(stub_num_records(), rows[i].records);
        if (!rows[i].is_spoilt) {
            const size_t first = rows[i].fails > 2 ? MOST : 0;
            expect_launch((unsigned) rows[i].records - 1, 1, MOST, 9);
            expect_launch(rows[i].fails - 1, 1, first, first > 0 ? 9 : MOST);
        }
        stub_clear_plans();
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_batch_is_one_launch),
        TEST(strides_go_with_their_operands),
        TEST(more_than_a_launch_takes_are_several),
        TEST(another_recipe_goes_on_with_the_rest),
        TEST(none_goes_on_where_c_is_spoilt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
