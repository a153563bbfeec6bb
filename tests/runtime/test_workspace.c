/* test_workspace.c: whose memory a call's regions lie in, how large it is, and for how long it is
 * held. How calls take turns on it is in test_launch.c. */
#include "fixture.h"

#include "internal.h"

enum { STEP = 64 * 1024, NUM_QUEUES = 20 };

/* A shape that the packed recipe of three stages serves; its last stage is packed_mul. */
static struct kiln_gemm packed_gemm(const struct fixture *f)
{
    return fixture_gemm(f, 16, 16, 4096);
}

static void run_on(struct fixture *f, const struct kiln_gemm *gemm, cl_command_queue queue)
{
    assert_int_equal(kiln_gemm_enqueue(f->kiln, gemm, queue, 0, NULL, NULL), KILN_SUCCESS);
}

static cl_mem workspace_of_last(void)
{
    const struct stub_record *last = stub_record_at(stub_num_records() - 1);
    assert_string_equal(last->entry, "packed_mul");
    return stub_record_mem(last, MUL_WORK);
}

static size_t bytes_of(cl_mem buffer)
{
    size_t bytes = 0;
    clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof bytes, &bytes, NULL);
    return bytes;
}

static size_t packed_bytes(const struct kiln_gemm *gemm)
{
    size_t region = 0;
    return test_bundle_packed_bytes(gemm->m, gemm->n, gemm->k, &region);
}

static void the_workspace_grows_and_stays(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    run_on(f, &gemm, f->queue);
    cl_mem first = workspace_of_last();
    run_on(f, &gemm, f->queue);
    assert_ptr_equal(workspace_of_last(), first);
    gemm.k = 40960;
    run_on(f, &gemm, f->queue);
    cl_mem second = workspace_of_last();
    assert_ptr_not_equal(second, first);
    assert_int_equal(stub_refs(first), 0);
    gemm.k = 4096;
    run_on(f, &gemm, f->queue);
    assert_ptr_equal(workspace_of_last(), second);
    assert_int_equal(stub_calls("clCreateBuffer"), 2);
}

/* No more than the next step above the need, however much there was before. */
static void the_workspace_is_as_large_as_needed(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    for (gemm.k = 4096; gemm.k <= 8192; gemm.k += 1000) {
        run_on(f, &gemm, f->queue);
        size_t bytes = bytes_of(workspace_of_last());
        assert_true(bytes >= packed_bytes(&gemm) && bytes < packed_bytes(&gemm) + STEP);
        assert_int_equal(bytes % STEP, 0);
    }
}

static void the_step_stops_at_what_the_device_allows(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    gemm.k = 4100;
    f->kiln->facts.max_alloc_bytes = packed_bytes(&gemm);
    run_on(f, &gemm, f->queue);
    assert_int_equal(bytes_of(workspace_of_last()), packed_bytes(&gemm));
}

/* A driver that allocates at first use refuses the kernel, not the buffer. */
static void a_workspace_that_fails_late_is_made_anew(void **state)
{
    static const cl_int codes[] = { CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES };
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    for (size_t i = 0; i < 4; i++) {
        cl_command_queue queue = i < 2 ? f->queue : f->loose;
        gemm.k = 8192;
        run_on(f, &gemm, queue);
        cl_mem large = workspace_of_last();
        gemm.k = 4096;
        stub_fail("clEnqueueNDRangeKernel", 1, codes[i % 2]);
        run_on(f, &gemm, queue);
        assert_string_equal(stub_record_at(stub_num_records() - 1)->entry, "aligned_mul");
        assert_int_equal(stub_refs(large), 0);
        stub_clear_plans();
        run_on(f, &gemm, queue);
        assert_true(bytes_of(workspace_of_last()) < packed_bytes(&gemm) + STEP);
    }
}

static void another_failure_keeps_the_workspace(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    run_on(f, &gemm, f->queue);
    cl_mem first = workspace_of_last();
    stub_fail("clEnqueueNDRangeKernel", 1, CL_INVALID_WORK_GROUP_SIZE);
    run_on(f, &gemm, f->queue);
    run_on(f, &gemm, f->queue);
    assert_ptr_equal(workspace_of_last(), first);
}

static void queues_have_their_own_workspace(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    run_on(f, &gemm, f->queue);
    cl_mem first = workspace_of_last();
    run_on(f, &gemm, f->loose);
    assert_ptr_not_equal(workspace_of_last(), first);
    run_on(f, &gemm, f->queue);
    assert_ptr_equal(workspace_of_last(), first);
}

/* A context that outlives many queues keeps little of those that the application let go, even where
 * the driver holds references of its own: here one of each queue is never released. */
static void released_queues_are_forgotten(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    unsigned queues = stub_live(STUB_QUEUE);
    unsigned buffers = stub_live(STUB_MEM);
    cl_command_queue made[NUM_QUEUES];
    for (int i = 0; i < NUM_QUEUES; i++) {
        made[i] = stub_make_queue(f->cl, f->device, i % 2 == 0);
        clRetainCommandQueue(made[i]);
        run_on(f, &gemm, made[i]);
        clReleaseCommandQueue(made[i]);
        assert_true(stub_live(STUB_MEM) <= buffers + KILN_MAX_WORKSPACES);
    }
    for (int i = 0; i < NUM_QUEUES; i++) {
        clReleaseCommandQueue(made[i]);
    }
    assert_int_equal(stub_live(STUB_QUEUE), queues + KILN_MAX_WORKSPACES);
    assert_int_equal(f->kiln->num_workspaces, KILN_MAX_WORKSPACES);
}

/* Between any two calls on the first queue there are at most seven on others. */
static void the_least_recently_used_gives_way(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    run_on(f, &gemm, f->queue);
    cl_mem first = workspace_of_last();
    for (int i = 0; i < NUM_QUEUES; i++) {
        cl_command_queue queue = stub_make_queue(f->cl, f->device, false);
        run_on(f, &gemm, queue);
        clReleaseCommandQueue(queue);
        if (i % 7 == 6) {
            run_on(f, &gemm, f->queue);
            assert_ptr_equal(workspace_of_last(), first);
        }
    }
    assert_int_equal(stub_refs(first), 1);
}

/* Once every queue has its place, calls on all of them in turn make and free nothing. */
static void warm_calls_evict_nothing(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    cl_command_queue queues[KILN_MAX_WORKSPACES];
    for (int i = 0; i < 5 * KILN_MAX_WORKSPACES; i++) {
        if (i < KILN_MAX_WORKSPACES) {
            queues[i] = stub_make_queue(f->cl, f->device, false);
        }
        run_on(f, &gemm, queues[i % KILN_MAX_WORKSPACES]);
    }
    assert_int_equal(stub_calls("clCreateBuffer"), KILN_MAX_WORKSPACES);
    assert_int_equal(stub_calls("clReleaseMemObject"), 0);
    for (int i = 0; i < KILN_MAX_WORKSPACES; i++) {
        clReleaseCommandQueue(queues[i]);
    }
}

/* A call holds its workspace for as long as it enqueues, whatever happens on other queues. */
static void workspaces_in_use_stay(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    cl_command_queue queues[NUM_QUEUES];
    struct kiln_queue_workspace *held[NUM_QUEUES], *evicted = NULL;
    for (size_t i = 0; i < NUM_QUEUES; i++) {
        queues[i] = stub_make_queue(f->cl, f->device, false);
        assert_int_equal(kiln_queue_workspace_acquire(f->kiln, queues[i], &held[i], &evicted),
                KILN_SUCCESS);
        assert_int_equal(kiln_queue_workspace_reserve(f->kiln, held[i], 1000), KILN_SUCCESS);
    }
    run_on(f, &gemm, f->queue);
    assert_int_equal(f->kiln->num_workspaces, NUM_QUEUES + 1);
    run_on(f, &gemm, f->loose);
    assert_int_equal(f->kiln->num_workspaces, NUM_QUEUES + 1);
    for (size_t i = 0; i < NUM_QUEUES; i++) {
        assert_int_equal(stub_refs(queues[i]), 2);
        assert_int_equal(stub_refs(held[i]->buffer), 1);
        kiln_queue_workspace_release(f->kiln, held[i]);
        clReleaseCommandQueue(queues[i]);
    }
    run_on(f, &gemm, f->queue);
    assert_int_equal(f->kiln->num_workspaces, KILN_MAX_WORKSPACES);
}

static void a_workspace_of_the_caller_is_used(void **state)
{
    struct fixture *f = *state;
    size_t region = 0;
    struct kiln_gemm gemm = packed_gemm(f);
    size_t bytes = test_bundle_packed_bytes(gemm.m, gemm.n, gemm.k, &region);
    gemm.workspace = stub_make_buffer(f->cl, bytes + 512);
    gemm.workspace_offset = 512;
    run_on(f, &gemm, f->queue);
    fixture_expect("pack_a", "pack_b", "packed_mul", NULL);
    assert_ptr_equal(workspace_of_last(), gemm.workspace);
    assert_int_equal(stub_record_int(stub_record_at(0), PACK_A_REGION), 512 / 4);
    assert_int_equal(stub_record_int(stub_record_at(2), MUL_REGION_A), 512 / 4);
    assert_int_equal(stub_record_int(stub_record_at(2), MUL_REGION_B), 512 / 8 + region);
    assert_int_equal(stub_calls("clCreateBuffer"), 0);
    assert_int_equal(stub_refs(gemm.workspace), 1);
    clReleaseMemObject(gemm.workspace);
}

static void no_workspace_is_no_bytes(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
    size_t bytes = 1;
    assert_int_equal(kiln_gemm_workspace_bytes(f->kiln, &gemm, &bytes), KILN_SUCCESS);
    assert_int_equal(bytes, 0);
    gemm.m = 0;
    bytes = 1;
    assert_int_equal(kiln_gemm_workspace_bytes(f->kiln, &gemm, &bytes), KILN_SUCCESS);
    assert_int_equal(bytes, 0);
}

static void a_queue_that_cannot_be_held_fails_the_call(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    stub_fail("clRetainCommandQueue", 1, CL_INVALID_OPERATION);
    assert_int_equal(kiln_gemm_enqueue(f->kiln, &gemm, f->queue, 0, NULL, NULL),
            CL_INVALID_OPERATION);
    assert_int_equal(stub_num_records(), 0);
    fixture_run(f, &gemm);
    fixture_expect("pack_a", "pack_b", "packed_mul", NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_workspace_grows_and_stays),
        TEST(the_workspace_is_as_large_as_needed),
        TEST(the_step_stops_at_what_the_device_allows),
        TEST(a_workspace_that_fails_late_is_made_anew),
        TEST(another_failure_keeps_the_workspace),
        TEST(queues_have_their_own_workspace),
        TEST(released_queues_are_forgotten),
        TEST(the_least_recently_used_gives_way),
        TEST(warm_calls_evict_nothing),
        TEST(workspaces_in_use_stay),
        TEST(a_workspace_of_the_caller_is_used),
        TEST(no_workspace_is_no_bytes),
        TEST(a_queue_that_cannot_be_held_fails_the_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
