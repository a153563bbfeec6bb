/* test_alloc.c: a warm call allocates nothing, and an allocation that fails is reported, with
 * nothing lost. The linker puts the functions below in the place of malloc and its kin for the
 * runtime and this file; the fake driver calls none of them. */
#include "fixture.h"

#include "internal.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static unsigned long num_allocations;
static unsigned long failing; /* the allocation that fails; 0: none */

static int fails(void)
{
    return ++num_allocations == failing;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails() ? NULL : __real_realloc(old, size);
}

/* Packs B in the form of a recipe and as a copy, and multiplies with it. */
static void run_packed(struct fixture *f)
{
    static const size_t shapes[][3] = { { 16, 16, 4096 }, { 64, 64, 64 } };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct kiln_gemm gemm = fixture_gemm(f, shapes[i][0], shapes[i][1], shapes[i][2]);
        struct kiln_pack b;
        size_t bytes = 0;
        assert_int_equal(kiln_pack_bytes(f->kiln, &gemm, KILN_PACK_B, &bytes), KILN_SUCCESS);
        assert_int_equal(kiln_pack_enqueue(f->kiln, &gemm, KILN_PACK_B, f->c, 0, f->queue, 0, NULL,
                                 NULL, &b),
                KILN_SUCCESS);
        gemm.packed_b = &b;
        assert_int_equal(kiln_gemm_enqueue(f->kiln, &gemm, f->loose, 0, NULL, NULL), KILN_SUCCESS);
    }
}

static void run_all(struct fixture *f)
{
    static const size_t shapes[][3] = { { 64, 64, 64 }, { 1024, 1024, 1024 }, { 16, 16, 4096 },
        { 0, 1, 1 }, { 64, 64, 0 } };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct kiln_gemm gemm = fixture_gemm(f, shapes[i][0], shapes[i][1], shapes[i][2]);
        cl_event done = NULL;
        assert_int_equal(kiln_gemm_enqueue(f->kiln, &gemm, f->queue, 0, NULL, NULL), KILN_SUCCESS);
        assert_int_equal(kiln_gemm_enqueue(f->kiln, &gemm, f->loose, 0, NULL, &done), KILN_SUCCESS);
        clReleaseEvent(done);
    }
    run_packed(f);
}

static void warm_calls_allocate_nothing(void **state)
{
    struct fixture *f = *state;
    failing = 0;
    run_all(f);
    unsigned long before = num_allocations;
    unsigned long buffers = stub_calls("clCreateBuffer");
    unsigned long kernels = stub_calls("clCreateKernel");
    assert_true(before > 0);
    for (int i = 0; i < 100; i++) {
        run_all(f);
    }
    assert_int_equal(num_allocations, before);
    assert_int_equal(stub_calls("clCreateBuffer"), buffers);
    assert_int_equal(stub_calls("clCreateKernel"), kernels);
}

static void questions_of_a_warm_context_allocate_nothing(void **state)
{
    struct fixture *f = *state;
    char text[2048];
    size_t bytes;
    struct kiln_gemm gemm = fixture_gemm(f, 16, 16, 4096);
    failing = 0;
    run_all(f);
    unsigned long before = num_allocations;
    assert_int_equal(kiln_gemm_explain(f->kiln, &gemm, text, sizeof text), KILN_SUCCESS);
    assert_int_equal(kiln_gemm_workspace_bytes(f->kiln, &gemm, &bytes), KILN_SUCCESS);
    assert_int_equal(num_allocations, before);
}

static enum kiln_status create_with_failure(struct fixture *f, unsigned long nth,
        struct kiln_context **kiln)
{
    num_allocations = 0;
    failing = nth;
    enum kiln_status status = kiln_context_create(f->cl, f->device, NULL, kiln);
    failing = 0;
    return status;
}

/* Each allocation of the creation in turn; the teardown finds what is lost. */
static void creation_survives_any_failing_allocation(void **state)
{
    struct fixture *f = *state;
    struct kiln_context *kiln = NULL;
    unsigned long nth = 1;
    kiln_context_destroy(&f->kiln);
    for (; create_with_failure(f, nth, &kiln) != KILN_SUCCESS; nth++) {
        assert_null(kiln);
        assert_int_equal(create_with_failure(f, nth, &kiln), KILN_OUT_OF_MEMORY);
        assert_true(nth < 100);
    }
    assert_true(nth > 3);
    kiln_context_destroy(&kiln);
}

/* A call that lacks memory for one recipe is served by another, and the next call works. */
static void calls_survive_any_failing_allocation(void **state)
{
    struct fixture *f = *state;
    for (unsigned long nth = 1; nth < 8; nth++) {
        struct kiln_gemm gemm = fixture_gemm(f, 16, 16, 4096);
        fixture_new_context(f, NULL);
        stub_clear_records();
        num_allocations = 0;
        failing = nth;
        enum kiln_status status = kiln_gemm_enqueue(f->kiln, &gemm, f->queue, 0, NULL, NULL);
        failing = 0;
        assert_int_equal(status, KILN_SUCCESS);
        assert_true(stub_num_records() > 0);
        fixture_run(f, &gemm);
        assert_true(stub_num_records() > 0);
    }
}

/* As above, for the kernels of a second call under way at once. */
static void a_second_set_of_kernels_may_lack_memory(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 16, 16, 4096);
    struct kiln_link *link = &f->kiln->links[0];
    struct kiln_kernel_set *set = NULL;
    fixture_run(f, &gemm);
    fixture_expect("pack_a", "pack_b", "packed_mul", NULL);
    assert_int_equal(kiln_recipe_take(link, TUNED_PACKED, &set), KILN_SUCCESS);
    num_allocations = 0;
    failing = 1;
    fixture_run(f, &gemm);
    failing = 0;
    fixture_only("aligned_mul");
    kiln_recipe_give(link, TUNED_PACKED, set);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(warm_calls_allocate_nothing),
        TEST(questions_of_a_warm_context_allocate_nothing),
        TEST(creation_survives_any_failing_allocation),
        TEST(calls_survive_any_failing_allocation),
        TEST(a_second_set_of_kernels_may_lack_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
