/* test_sizes.c: what is told of a workspace's or a pack's size is enough later on, and can be had.
 */
#include "fixture.h"

#include "internal.h"

static size_t pack_bytes(struct fixture *f, const struct kiln_gemm *gemm,
        enum kiln_pack_operand which)
{
    size_t bytes = 0;
    assert_int_equal(kiln_pack_bytes(f->kiln, gemm, which, &bytes), KILN_SUCCESS);
    return bytes;
}

static size_t workspace_bytes(struct fixture *f, const struct kiln_gemm *gemm)
{
    size_t bytes = 0;
    assert_int_equal(kiln_gemm_workspace_bytes(f->kiln, gemm, &bytes), KILN_SUCCESS);
    return bytes;
}

static enum kiln_status pack_into(struct fixture *f, const struct kiln_gemm *gemm,
        enum kiln_pack_operand which, size_t bytes)
{
    struct kiln_pack pack;
    cl_mem buffer = stub_make_buffer(f->cl, bytes);
    const enum kiln_status status = kiln_pack_enqueue(f->kiln, gemm, which, buffer, 0, f->queue, 0,
            NULL, NULL, &pack);
    clReleaseMemObject(buffer);
    return status;
}

/* The regions of both operands are larger than a buffer may be, or that of one alone. */
static void a_pack_is_told_as_it_is_made(void **state)
{
    struct fixture *f = *state;
    const struct kiln_gemm gemm = fixture_gemm(f, 16, 16, 4096);
    const size_t step = 50000;
    bool was_plain = false, was_packed = false;
    for (size_t most = 6 * step; most < 20 * step; most += step) {
        f->kiln->facts.max_alloc_bytes = most;
        for (int which = KILN_PACK_A; which <= KILN_PACK_B; which++) {
            const size_t bytes = pack_bytes(f, &gemm, (enum kiln_pack_operand) which);
            assert_true(bytes <= most);
            assert_int_equal(pack_into(f, &gemm, (enum kiln_pack_operand) which, bytes),
                    KILN_SUCCESS);
            was_plain = was_plain || bytes == sizeof(float) * 16 * 4096;
            was_packed = was_packed || bytes > sizeof(float) * 16 * 4096;
        }
    }
    assert_true(was_plain && was_packed);
}

/* Calls fail until the kernel is put off, and others serve. */
static void put_off(struct fixture *f, const struct kiln_gemm *gemm)
{
    fixture_new_context(f, NULL);
    stub_fail_build("packed_mul", CL_OUT_OF_HOST_MEMORY);
    for (int i = 0; i < 20; i++)
        kiln_gemm_enqueue(f->kiln, gemm, f->queue, 0, NULL, NULL);
}

static void what_is_put_off_counts(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 16, 16, 4096);
    const size_t needed = workspace_bytes(f, &gemm), packed = pack_bytes(f, &gemm, KILN_PACK_B);
    put_off(f, &gemm);
    assert_int_equal(workspace_bytes(f, &gemm), needed);
    assert_int_equal(pack_bytes(f, &gemm, KILN_PACK_B), packed);
    stub_clear_plans();
    cl_mem workspace = stub_make_buffer(f->cl, needed);
    gemm.workspace = workspace;
    for (int i = 0; i < 200; i++) {
        assert_int_equal(kiln_gemm_enqueue(f->kiln, &gemm, f->queue, 0, NULL, NULL), KILN_SUCCESS);
        assert_int_equal(pack_into(f, &gemm, KILN_PACK_B, packed), KILN_SUCCESS);
    }
    clReleaseMemObject(workspace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_pack_is_told_as_it_is_made, fixture_setup,
                fixture_teardown),
        cmocka_unit_test_setup_teardown(what_is_put_off_counts, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
