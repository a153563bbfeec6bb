/* test_copy.c: packing for recipes that take an operand as it is: plain copies. */
#include "packing.h"

#include "internal.h"

#include <limits.h>
#include <string.h>

static void check_copy(const struct stub_record *record, cl_mem from, size_t start, size_t pitch,
        size_t to_start, size_t to_pitch)
{
    assert_int_equal(record->command, STUB_COPY);
    assert_ptr_equal(record->from.buffer, from);
    assert_int_equal(record->from.start, start);
    assert_int_equal(record->from.pitch, pitch);
    assert_int_equal(record->to.start, to_start);
    assert_int_equal(record->to.pitch, to_pitch);
}

/* Its rows are of 40 elements; they begin at odd ones, as those of the operand do. */
static void a_recipe_that_prepares_nothing_gets_a_copy(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = small_gemm(f);
    struct kiln_pack a;
    cl_mem room = stub_make_buffer(f->cl, 512 + 60 * 41 * 4);
    gemm.lda = 45;
    gemm.a_offset = 100;
    assert_int_equal(bytes_for(f, &gemm, KILN_PACK_A), 60 * 41 * 4);
    assert_int_equal(
            kiln_pack_enqueue(f->kiln, &gemm, KILN_PACK_A, room, 512, f->queue, 0, NULL, NULL, &a),
            KILN_SUCCESS);
    assert_int_equal(stub_num_records(), 1);
    check_copy(stub_record_at(0), f->a, 100 * 4, 45 * 4, 512, 41 * 4);
    assert_int_equal(stub_record_at(0)->num_rows, 60);
    assert_int_equal(stub_record_at(0)->row_bytes, 40 * 4);
    gemm.packed_a = &a;
    gemm.a = NULL;
    fixture_run(f, &gemm);
    const struct stub_record *mul = fixture_only("small_mul");
    assert_ptr_equal(stub_record_mem(mul, PLAIN_A), room);
    assert_int_equal(stub_record_int(mul, PLAIN_A_OFFSET), 512 / 4);
    assert_int_equal(stub_record_int(mul, PLAIN_LDA), 41);
    assert_ptr_equal(stub_record_mem(mul, PLAIN_B), f->b);
    a.bytes = 60 * 40 * 4 - 1;
    assert_int_equal(kiln_gemm_enqueue(f->kiln, &gemm, f->queue, 0, NULL, NULL), KILN_INVALID_PACK);
    clReleaseMemObject(room);
}

/* A driver may not know how to copy rows of a sub-buffer. */
static void rows_are_copied_between_parents(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = small_gemm(f);
    struct kiln_pack a;
    cl_mem room = stub_make_buffer(f->cl, 1 << 20);
    cl_mem part = stub_make_part(room, 4096, 60 * 41 * 4);
    gemm.a = stub_make_part(f->a, 1024, 1 << 20);
    gemm.lda = 45;
    assert_int_equal(
            kiln_pack_enqueue(f->kiln, &gemm, KILN_PACK_A, part, 0, f->queue, 0, NULL, NULL, &a),
            KILN_SUCCESS);
    check_copy(stub_record_at(0), f->a, 1024, 45 * 4, 4096, 41 * 4);
    assert_ptr_equal(stub_record_at(0)->to.buffer, room);
    assert_ptr_equal(a.buffer, part);
    clReleaseMemObject(gemm.a);
    clReleaseMemObject(part);
    clReleaseMemObject(room);
}

/* What the recipe wants of leading dimension and offset, a copy has: here an odd number, which the
 * multiples of 256 bytes are not multiples of. */
static void a_copy_meets_the_guard(void **state)
{
    struct fixture *f = *state;
    struct kiln_recipe recipes[NUM_TUNED];
    struct kiln_bundle bundle = tuned_bundle;
    struct kiln_gemm gemm = small_gemm(f);
    struct packed a;
    memcpy(recipes, tuned_recipes, sizeof recipes);
    recipes[TUNED_SMALL].guard.a = 3;
    bundle.recipes = recipes;
    fixture_new_context(f, &(struct kiln_context_params){ .bundle = &bundle });
    gemm.lda = 60;
    size_t bytes = bytes_for(f, &gemm, KILN_PACK_A);
    assert_int_equal(bytes, 60 * 60 * 4 + 2 * 256);
    a.buffer = stub_make_buffer(f->cl, 256 + bytes);
    assert_int_equal(kiln_pack_enqueue(f->kiln, &gemm, KILN_PACK_A, a.buffer, 256, f->queue, 0,
                             NULL, NULL, &a.pack),
            KILN_SUCCESS);
    check_copy(stub_record_at(0), f->a, 0, 60 * 4, 768, 60 * 4);
    gemm.packed_a = &a.pack;
    gemm.lda = 0;
    fixture_run(f, &gemm);
    assert_int_equal(stub_record_int(fixture_only("small_mul"), PLAIN_LDA), 60);
    assert_int_equal(stub_record_int(stub_record_at(0), PLAIN_A_OFFSET), 768 / 4);
    let_go(&a);
    kiln_context_destroy(&f->kiln);
}

/* Rows without gaps are one piece of memory, and so is one row, whatever its leading dimension: one
 * whose bytes are beyond counting is legal. */
static void what_has_no_gaps_is_copied_in_one_piece(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = small_gemm(f);
    struct kiln_pack made;
    cl_mem from = stub_make_buffer(f->cl, 1 << 16), room = stub_make_buffer(f->cl, 1 << 16);
    gemm.a = from;
    assert_int_equal(
            kiln_pack_enqueue(f->kiln, &gemm, KILN_PACK_A, room, 0, f->queue, 0, NULL, NULL, &made),
            KILN_SUCCESS);
    check_copy(stub_record_at(0), from, 0, 60 * 40 * 4, 0, 60 * 40 * 4);
    gemm.m = 1;
    for (unsigned shift = 12; shift < CHAR_BIT * sizeof(size_t); shift++) {
        stub_clear_records();
        gemm.lda = (size_t) 1 << shift;
        assert_int_equal(kiln_pack_enqueue(f->kiln, &gemm, KILN_PACK_A, room, 0, f->queue, 0, NULL,
                                 NULL, &made),
                KILN_SUCCESS);
        assert_int_equal(stub_num_records(), 1);
        check_copy(stub_record_at(0), from, 0, 40 * 4, 0, 40 * 4);
        gemm.packed_a = NULL;
        fixture_run(f, &gemm);
        assert_true(stub_record_int(fixture_only("small_mul"), PLAIN_LDA) >= 40);
    }
    clReleaseMemObject(from);
    clReleaseMemObject(room);
}

/* A network's weights may all lie in one buffer. OpenCL does not spread rows within one. */
static void check_within(struct fixture *f, cl_command_queue queue, cl_mem whole, cl_mem from,
        size_t from_start, cl_mem to, size_t to_start)
{
    struct kiln_gemm gemm = small_gemm(f);
    struct kiln_pack made;
    cl_event done = NULL;
    gemm.a = from;
    gemm.a_offset = 100;
    gemm.lda = 45;
    stub_clear_records();
    assert_int_equal(kiln_pack_enqueue(f->kiln, &gemm, KILN_PACK_A, to, to == whole ? to_start : 0,
                             queue, 0, NULL, &done, &made),
            KILN_SUCCESS);
    assert_int_equal(stub_num_records(), 2);
    const struct stub_record *away = stub_record_at(0), *back = stub_record_at(1);
    check_copy(away, whole, from_start + 100 * 4, 45 * 4, 0, 41 * 4);
    assert_int_equal(away->num_rows, 60);
    assert_ptr_equal(back->from.buffer, away->to.buffer);
    assert_ptr_equal(back->to.buffer, whole);
    assert_int_equal(back->to.start, to_start);
    assert_int_equal(back->row_bytes, (59 * 41 + 40) * 4);
    assert_true(stub_record_depends(1, 0));
    assert_int_equal(stub_record_of(done), 1);
    clReleaseEvent(done);
}

static void rows_may_move_within_a_buffer(void **state)
{
    struct fixture *f = *state;
    cl_mem arena = stub_make_buffer(f->cl, 1 << 20);
    cl_mem from = stub_make_part(arena, 4096, 1 << 16);
    cl_mem to = stub_make_part(arena, 1 << 17, 1 << 16);
    for (int i = 0; i < 2; i++) {
        cl_command_queue queue = i == 0 ? f->queue : f->loose;
        check_within(f, queue, arena, arena, 0, arena, 1 << 18);
        check_within(f, queue, arena, from, 4096, to, 1 << 17);
    }
    clReleaseMemObject(from);
    clReleaseMemObject(to);
    clReleaseMemObject(arena);
}

/* A way that ends in the middle is a failure like any other. */
static void a_way_that_ends_leaves_nothing(void **state)
{
    static const char *const steps[] = { "clEnqueueCopyBufferRect", "clEnqueueCopyBuffer" };
    struct fixture *f = *state;
    cl_mem arena = stub_make_buffer(f->cl, 1 << 20);
    for (size_t i = 0; i < 2; i++) {
        struct kiln_gemm gemm = small_gemm(f);
        struct kiln_pack made;
        gemm.a = arena;
        gemm.lda = 45;
        memset(&made, 1, sizeof made);
        stub_fail(steps[i], 0, CL_INVALID_OPERATION);
        assert_int_equal(kiln_pack_enqueue(f->kiln, &gemm, KILN_PACK_A, arena, 1 << 18, f->loose, 0,
                                 NULL, NULL, &made),
                CL_INVALID_OPERATION);
        assert_null(made.buffer);
        stub_clear_plans();
        check_within(f, f->loose, arena, arena, 0, arena, 1 << 18);
    }
    clReleaseMemObject(arena);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_recipe_that_prepares_nothing_gets_a_copy),
        TEST(rows_are_copied_between_parents),
        TEST(a_copy_meets_the_guard),
        TEST(what_has_no_gaps_is_copied_in_one_piece),
        TEST(rows_may_move_within_a_buffer),
        TEST(a_way_that_ends_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
