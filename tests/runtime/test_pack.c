/* test_pack.c: operands packed once: what packing enqueues, what a call with packs leaves out and
 * where it reads from. */
#include "packing.h"

#include "internal.h"

#include <string.h>

/* ---- Packing ---- */

static void packing_runs_the_stages_that_prepare(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    struct kiln_pack a, b;
    cl_mem room = stub_make_buffer(f->cl, 1024 + A_BYTES + B_BYTES);
    gemm.a_offset = 7;
    gemm.ldb = N + 3;
    assert_int_equal(bytes_for(f, &gemm, KILN_PACK_A), A_BYTES);
    assert_int_equal(bytes_for(f, &gemm, KILN_PACK_B), B_BYTES);
    assert_int_equal(
            kiln_pack_enqueue(f->kiln, &gemm, KILN_PACK_A, room, 1024, f->queue, 0, NULL, NULL, &a),
            KILN_SUCCESS);
    assert_int_equal(kiln_pack_enqueue(f->kiln, &gemm, KILN_PACK_B, room, 1024 + A_BYTES, f->queue,
                             0, NULL, NULL, &b),
            KILN_SUCCESS);
    fixture_expect("pack_a", "pack_b", NULL);
    const struct stub_record *pack_a = stub_record_at(0), *pack_b = stub_record_at(1);
    assert_ptr_equal(stub_record_mem(pack_a, PACK_A_SOURCE), f->a);
    assert_int_equal(stub_record_int(pack_a, PACK_A_OFFSET), 7);
    assert_ptr_equal(stub_record_mem(pack_a, PACK_A_WORK), room);
    assert_int_equal(stub_record_int(pack_a, PACK_A_REGION), 1024 / 4);
    assert_int_equal(stub_record_int(pack_b, PACK_B_LD), N + 3);
    assert_ptr_equal(stub_record_mem(pack_b, PACK_B_WORK), room);
    assert_int_equal(stub_record_int(pack_b, PACK_B_REGION), (1024 + A_BYTES) / 8);
    assert_null(pack_a->event);
    assert_int_equal(stub_calls("clCreateBuffer"), 0);
    clReleaseMemObject(room);
}

static void a_pack_says_what_it_is(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    struct packed b;
    gemm.n = 24;
    b = pack(f, &gemm, KILN_PACK_B);
    assert_ptr_equal(b.pack.buffer, b.buffer);
    assert_int_equal(b.pack.offset, 0);
    assert_int_equal(b.pack.bytes, K * 32 * 8);
    assert_ptr_equal(b.pack.bundle, &tuned_bundle);
    assert_int_equal(b.pack.recipe, TUNED_PACKED);
    assert_int_equal(b.pack.precision, KILN_SINGLE);
    assert_int_equal(b.pack.operand, KILN_PACK_B);
    assert_int_equal(b.pack.trans, KILN_NO_TRANS);
    assert_int_equal(b.pack.rows, K);
    assert_int_equal(b.pack.columns, 24);
    let_go(&b);
}

/* The operand's own buffer is checked as in a call, the others may be missing. */
static void packing_looks_at_its_operand_only(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    struct packed a;
    gemm.b = gemm.c = NULL;
    gemm.alpha = 0;
    a = pack(f, &gemm, KILN_PACK_A);
    assert_int_equal(kiln_pack_enqueue(f->kiln, &gemm, KILN_PACK_B, a.buffer, 0, f->queue, 0, NULL,
                             NULL, &a.pack),
            KILN_INVALID_BUFFER_B);
    gemm.a = stub_make_buffer(f->cl, M * K * 4 - 1);
    assert_int_equal(kiln_pack_enqueue(f->kiln, &gemm, KILN_PACK_A, a.buffer, 0, f->queue, 0, NULL,
                             NULL, &a.pack),
            KILN_BUFFER_A_TOO_SMALL);
    assert_int_equal(stub_num_records(), 0);
    clReleaseMemObject(gemm.a);
    let_go(&a);
}

static void check_events(struct fixture *f, const struct kiln_gemm *gemm, cl_command_queue queue)
{
    cl_event wait = stub_make_event(f->cl), done = NULL;
    struct packed b = pack(f, gemm, KILN_PACK_B);
    assert_int_equal(kiln_pack_enqueue(f->kiln, gemm, KILN_PACK_B, b.buffer, 0, queue, 1, &wait,
                             &done, &b.pack),
            KILN_SUCCESS);
    assert_int_equal(stub_num_records(), 1);
    assert_int_equal(stub_record_of(done), 0);
    assert_true(stub_record_awaits(0, wait));
    clReleaseEvent(wait);
    clReleaseEvent(done);
    let_go(&b);
}

static void events_bound_the_packing(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm packed = packed_gemm(f), small = small_gemm(f);
    check_events(f, &packed, f->queue);
    check_events(f, &packed, f->loose);
    check_events(f, &small, f->queue);
    check_events(f, &small, f->loose);
}

static void nothing_to_pack_is_no_pack(void **state)
{
    struct fixture *f = *state;
    size_t *extents[3];
    for (int i = 0; i < 3; i++) {
        struct kiln_gemm gemm = packed_gemm(f);
        struct kiln_pack made;
        cl_event done = NULL;
        size_t bytes = 1;
        extents[0] = &gemm.m;
        extents[1] = &gemm.n;
        extents[2] = &gemm.k;
        *extents[i] = 0;
        memset(&made, 1, sizeof made);
        assert_int_equal(kiln_pack_bytes(f->kiln, &gemm, KILN_PACK_A, &bytes), KILN_SUCCESS);
        assert_int_equal(bytes, 0);
        assert_int_equal(kiln_pack_enqueue(f->kiln, &gemm, KILN_PACK_A, NULL, 0, f->queue, 0, NULL,
                                 &done, &made),
                KILN_SUCCESS);
        assert_int_equal(stub_record_at(stub_record_of(done))->command, STUB_MARKER);
        clReleaseEvent(done);
        assert_null(made.bundle);
        gemm.packed_a = &made;
        assert_int_equal(call(f, &gemm), KILN_SUCCESS);
        /* What else is wrong is told all the same. */
        gemm.arithmetic = 99;
        assert_int_equal(kiln_pack_bytes(f->kiln, &gemm, KILN_PACK_A, &bytes),
                KILN_INVALID_ARITHMETIC);
        gemm.arithmetic = 0;
        gemm.uplo_b = (enum kiln_uplo) 77;
        assert_int_equal(kiln_pack_bytes(f->kiln, &gemm, KILN_PACK_A, &bytes), KILN_INVALID_UPLO);
        gemm.uplo_b = (enum kiln_uplo) 0;
        *extents[i] = 1;
        assert_int_equal(call(f, &gemm), KILN_INVALID_PACK);
    }
}

/* A region of the workspace that is not said to hold B is no form of B. */
static void a_region_that_is_not_marked_stays_in_the_workspace(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    struct packed b;
    stub_fail_build(MARK_ALIGNED, CL_BUILD_PROGRAM_FAILURE);
    stub_fail_build(MARK_PACKED, CL_BUILD_PROGRAM_FAILURE);
    b = pack(f, &gemm, KILN_PACK_B);
    assert_int_equal(b.pack.recipe, TUNED_PACKED_64);
    assert_int_equal(b.pack.bytes, K * N * 4);
    gemm.packed_b = &b.pack;
    fixture_run(f, &gemm);
    fixture_expect("pack_b_64", "mul_64", NULL);
    assert_ptr_equal(stub_record_mem(stub_record_at(0), PACK_B_SOURCE), b.buffer);
    let_go(&b);
}

/* ---- Calls with packs ---- */

static void what_is_packed_is_left_out(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    struct packed a = pack(f, &gemm, KILN_PACK_A), b = pack(f, &gemm, KILN_PACK_B);
    size_t bytes = 0;
    gemm.packed_a = &a.pack;
    gemm.a = NULL;
    assert_int_equal(kiln_gemm_workspace_bytes(f->kiln, &gemm, &bytes), KILN_SUCCESS);
    assert_int_equal(bytes, B_BYTES);
    fixture_run(f, &gemm);
    fixture_expect("pack_b", "packed_mul", NULL);
    const struct stub_record *mul = stub_record_at(1);
    assert_ptr_equal(stub_record_mem(mul, MUL_WORK), a.buffer);
    assert_int_equal(stub_record_int(mul, MUL_REGION_A), 0);
    assert_ptr_equal(stub_record_mem(mul, MUL_WORK_B),
            stub_record_mem(stub_record_at(0), PACK_B_WORK));
    assert_ptr_not_equal(stub_record_mem(mul, MUL_WORK_B), a.buffer);
    gemm.packed_b = &b.pack;
    gemm.b = NULL;
    unsigned long buffers = stub_calls("clCreateBuffer");
    for (int i = 0; i < 3; i++) {
        fixture_run(f, &gemm);
        mul = fixture_only("packed_mul");
        assert_ptr_equal(stub_record_mem(mul, MUL_WORK), a.buffer);
        assert_ptr_equal(stub_record_mem(mul, MUL_WORK_B), b.buffer);
    }
    assert_int_equal(kiln_gemm_workspace_bytes(f->kiln, &gemm, &bytes), KILN_SUCCESS);
    assert_int_equal(bytes, 0);
    assert_int_equal(stub_calls("clCreateBuffer"), buffers);
    let_go(&a);
    let_go(&b);
}

static void what_is_left_out_needs_no_workspace(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    struct packed a = pack(f, &gemm, KILN_PACK_A);
    gemm.packed_a = &a.pack;
    gemm.workspace = stub_make_buffer(f->cl, 512 + B_BYTES);
    gemm.workspace_offset = 512;
    fixture_run(f, &gemm);
    fixture_expect("pack_b", "packed_mul", NULL);
    assert_ptr_equal(stub_record_mem(stub_record_at(1), MUL_WORK_B), gemm.workspace);
    assert_int_equal(stub_record_int(stub_record_at(1), MUL_REGION_B), 512 / 8);
    gemm.workspace_offset = 768;
    assert_int_equal(call(f, &gemm), KILN_WORKSPACE_TOO_SMALL);
    clReleaseMemObject(gemm.workspace);
    let_go(&a);
}

static void explain_names_the_packs(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    char text[2048];
    struct packed a = pack(f, &gemm, KILN_PACK_A), b = pack(f, &gemm, KILN_PACK_B);
    gemm.packed_a = &a.pack;
    assert_int_equal(kiln_gemm_explain(f->kiln, &gemm, text, sizeof text), KILN_SUCCESS);
    assert_non_null(strstr(text, "kernel: tuned_packed\n"));
    assert_non_null(strstr(text, "packed: A\n"));
    assert_null(strstr(text, "pack_a"));
    assert_non_null(strstr(text, "pack_b"));
    gemm.packed_b = &b.pack;
    assert_int_equal(kiln_gemm_explain(f->kiln, &gemm, text, sizeof text), KILN_SUCCESS);
    assert_non_null(strstr(text, "packed: A B\n"));
    assert_null(strstr(text, "pack_b"));
    assert_non_null(strstr(text, "workspace: 0 bytes\n"));
    gemm.packed_a = gemm.packed_b = NULL;
    assert_int_equal(kiln_gemm_explain(f->kiln, &gemm, text, sizeof text), KILN_SUCCESS);
    assert_null(strstr(text, "packed:"));
    let_go(&a);
    let_go(&b);
}

/* By columns, C = A B is by rows C' = B' A': what is packed as A is prepared as B. */
static void columns_are_rows_of_the_other_operand(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    struct packed a;
    gemm.layout = KILN_COL_MAJOR;
    gemm.m = 24;
    a = pack(f, &gemm, KILN_PACK_A);
    assert_int_equal(a.pack.operand, KILN_PACK_B);
    assert_int_equal(a.pack.rows, K);
    assert_int_equal(a.pack.columns, 24);
    gemm.packed_a = &a.pack;
    fixture_run(f, &gemm);
    fixture_expect("pack_a", "packed_mul", NULL);
    assert_ptr_equal(stub_record_mem(stub_record_at(0), PACK_A_SOURCE), f->b);
    assert_ptr_equal(stub_record_mem(stub_record_at(1), MUL_WORK_B), a.buffer);
    /* The same memory, read the same way by a call by rows. */
    gemm = fixture_gemm(f, N, 24, K);
    gemm.packed_b = &a.pack;
    fixture_run(f, &gemm);
    fixture_expect("pack_a", "packed_mul", NULL);
    gemm.packed_a = &a.pack;
    gemm.packed_b = NULL;
    assert_int_equal(call(f, &gemm), KILN_PACK_OPERAND_MISMATCH);
    let_go(&a);
}

static void a_batch_shares_a_pack(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    struct packed a;
    gemm.batch_count = 2;
    gemm.b_stride = K * N;
    gemm.c_stride = M * N;
    a = pack(f, &gemm, KILN_PACK_A);
    gemm.packed_a = &a.pack;
    fixture_run(f, &gemm);
    fixture_expect("pack_b", "packed_mul", "pack_b", "packed_mul", NULL);
    assert_int_equal(stub_record_int(stub_record_at(2), PACK_B_OFFSET), K * N);
    assert_ptr_equal(stub_record_mem(stub_record_at(3), MUL_WORK), a.buffer);
    gemm.a_stride = M * K;
    assert_int_equal(call(f, &gemm), KILN_PACK_BATCH_MISMATCH);
    gemm.batch_count = 1;
    assert_int_equal(call(f, &gemm), KILN_SUCCESS);
    let_go(&a);
}

/* The extent that the packed operand does not have may differ. */
static void the_other_extent_may_change(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    struct packed a = pack(f, &gemm, KILN_PACK_A);
    gemm.packed_a = &a.pack;
    for (gemm.n = 1; gemm.n < 10000; gemm.n = gemm.n * 3 + 1) {
        fixture_run(f, &gemm);
        fixture_expect("pack_b", "packed_mul", NULL);
        assert_int_equal(stub_record_int(stub_record_at(1), MUL_N), gemm.n);
    }
    let_go(&a);
}

/* The kernels that the call itself would use, unless the other operand's pack says otherwise. */
static void the_first_pack_chooses_for_the_second(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f), other = fixture_gemm(f, 16 * K, N, K);
    struct packed a = pack(f, &gemm, KILN_PACK_A), b = pack(f, &other, KILN_PACK_B);
    assert_int_equal(a.pack.recipe, TUNED_PACKED);
    assert_int_equal(b.pack.recipe, TUNED_ALIGNED);
    gemm.packed_a = &a.pack;
    gemm.packed_b = &b.pack;
    assert_int_equal(call(f, &gemm), KILN_PACK_RECIPE_MISMATCH);
    let_go(&b);
    gemm.packed_a = gemm.packed_b = NULL;
    stub_fail("clEnqueueNDRangeKernel", 1, CL_OUT_OF_RESOURCES);
    struct packed late = pack(f, &gemm, KILN_PACK_A);
    stub_clear_plans();
    assert_int_equal(late.pack.recipe, TUNED_ALIGNED);
    gemm.packed_a = &late.pack;
    b = pack(f, &gemm, KILN_PACK_B);
    assert_int_equal(b.pack.recipe, TUNED_ALIGNED);
    gemm.packed_b = &b.pack;
    fixture_run(f, &gemm);
    fixture_only("aligned_mul");
    let_go(&a);
    let_go(&b);
    let_go(&late);
}

static void a_call_with_packs_has_one_recipe(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    struct packed a = pack(f, &gemm, KILN_PACK_A);
    gemm.packed_a = &a.pack;
    stub_fail("clEnqueueNDRangeKernel", 2, CL_OUT_OF_RESOURCES);
    assert_int_equal(call(f, &gemm), CL_OUT_OF_RESOURCES);
    fixture_expect("pack_b", NULL);
    stub_clear_plans();
    fixture_run(f, &gemm);
    fixture_expect("pack_b", "packed_mul", NULL);
    let_go(&a);
}

/* The recipes that are left after a refusal take more than the first; its failure counts. */
static void a_buffer_must_do_for_the_recipe_that_is_left(void **state)
{
    struct fixture *f = *state;
    struct kiln_recipe recipes[NUM_TUNED];
    struct kiln_region regions[2];
    struct kiln_bundle bundle = tuned_bundle;
    struct kiln_gemm gemm = packed_gemm(f);
    struct kiln_pack made;
    memcpy(recipes, tuned_recipes, sizeof recipes);
    memcpy(regions, tuned_recipes[TUNED_PACKED].regions, sizeof regions);
    regions[0].element_bytes = 2;
    recipes[TUNED_PACKED].regions = regions;
    bundle.recipes = recipes;
    fixture_new_context(f, &(struct kiln_context_params){ .bundle = &bundle });
    cl_mem room = stub_make_buffer(f->cl, bytes_for(f, &gemm, KILN_PACK_A));
    stub_fail("clEnqueueNDRangeKernel", 1, CL_OUT_OF_RESOURCES);
    memset(&made, 1, sizeof made);
    assert_int_equal(
            kiln_pack_enqueue(f->kiln, &gemm, KILN_PACK_A, room, 0, f->queue, 0, NULL, NULL, &made),
            CL_OUT_OF_RESOURCES);
    assert_int_equal(stub_num_records(), 0);
    assert_null(made.buffer);
    stub_clear_plans();
    assert_int_equal(
            kiln_pack_enqueue(f->kiln, &gemm, KILN_PACK_A, room, 0, f->queue, 0, NULL, NULL, &made),
            KILN_SUCCESS);
    clReleaseMemObject(room);
    kiln_context_destroy(&f->kiln);
}

/* A context for the same bundle takes the packs of another. */
static void contexts_with_one_bundle_share_packs(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    struct packed a = pack(f, &gemm, KILN_PACK_A);
    gemm.packed_a = &a.pack;
    fixture_new_context(f, NULL);
    fixture_run(f, &gemm);
    fixture_expect("pack_b", "packed_mul", NULL);
    fixture_new_context(f, &(struct kiln_context_params){ .bundle = &generic_bundle });
    assert_int_equal(call(f, &gemm), KILN_PACK_BUNDLE_MISMATCH);
    let_go(&a);
}

static void a_call_that_reads_nothing_ignores_packs(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    const struct kiln_pack none = { 0 };
    gemm.packed_a = gemm.packed_b = &none;
    gemm.alpha = 0;
    assert_int_equal(call(f, &gemm), KILN_SUCCESS);
    gemm.alpha = 1;
    gemm.k = 0;
    assert_int_equal(call(f, &gemm), KILN_SUCCESS);
    gemm.k = K;
    assert_int_equal(call(f, &gemm), KILN_INVALID_PACK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(packing_runs_the_stages_that_prepare),
        TEST(a_pack_says_what_it_is),
        TEST(packing_looks_at_its_operand_only),
        TEST(events_bound_the_packing),
        TEST(nothing_to_pack_is_no_pack),
        TEST(a_region_that_is_not_marked_stays_in_the_workspace),
        TEST(what_is_packed_is_left_out),
        TEST(what_is_left_out_needs_no_workspace),
        TEST(explain_names_the_packs),
        TEST(columns_are_rows_of_the_other_operand),
        TEST(a_batch_shares_a_pack),
        TEST(the_other_extent_may_change),
        TEST(the_first_pack_chooses_for_the_second),
        TEST(a_call_with_packs_has_one_recipe),
        TEST(a_buffer_must_do_for_the_recipe_that_is_left),
        TEST(contexts_with_one_bundle_share_packs),
        TEST(a_call_that_reads_nothing_ignores_packs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
