/* test_launch.c: order, events, turns on a workspace, batches, degenerate calls, and failures of
 * the driver while a call is enqueued. */
#include "fixture.h"

#include "internal.h"

#include <math.h>
#include <string.h>

/* A shape that the packed recipe of three stages serves, and one of the one-stage recipe. */
static struct kiln_gemm packed_gemm(const struct fixture *f)
{
    return fixture_gemm(f, 16, 16, 4096);
}

static struct kiln_gemm small_gemm(const struct fixture *f)
{
    return fixture_gemm(f, 64, 64, 64);
}

static void run_on(struct fixture *f, const struct kiln_gemm *gemm, cl_command_queue queue)
{
    assert_int_equal(kiln_gemm_enqueue(f->kiln, gemm, queue, 0, NULL, NULL), KILN_SUCCESS);
}

enum { MAX_WAITS = 40 };

static void check_events(struct fixture *f, cl_command_queue queue, const struct kiln_gemm *gemm,
        cl_uint num_waits)
{
    cl_event waits[MAX_WAITS];
    cl_event done = NULL;
    for (cl_uint i = 0; i < num_waits; i++) {
        waits[i] = stub_make_event(f->cl);
    }
    stub_clear_records();
    assert_int_equal(kiln_gemm_enqueue(f->kiln, gemm, queue, num_waits, waits, &done),
            KILN_SUCCESS);
    assert_non_null(done);
    size_t last = stub_record_of(done);
    assert_int_equal(last, stub_num_records() - 1);
    for (size_t i = 0; i <= last; i++) {
        bool is_launch = stub_record_at(i)->command == STUB_NDRANGE;
        assert_true(!is_launch || stub_record_awaits(i, waits[0]));
        assert_true(!is_launch || stub_record_awaits(i, waits[num_waits - 1]));
        assert_true(i == last || !is_launch || stub_record_depends(last, i));
    }
    clReleaseEvent(done);
    for (cl_uint i = 0; i < num_waits; i++) {
        clReleaseEvent(waits[i]);
    }
}

/* Long lists too, which do not fit into a stage's own. */
static void events_bound_the_call(void **state)
{
    static const cl_uint lengths[] = { 1, 2, 15, 16, MAX_WAITS };
    struct fixture *f = *state;
    struct kiln_gemm packed = packed_gemm(f);
    struct kiln_gemm small = small_gemm(f);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        check_events(f, f->queue, &packed, lengths[i]);
        check_events(f, f->loose, &packed, lengths[i]);
        check_events(f, f->queue, &small, lengths[i]);
        check_events(f, f->loose, &small, lengths[i]);
    }
}

/* A driver may go on after a command whose wait list failed. */
static void each_stage_waits_for_the_list(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    cl_event wait = stub_make_event(f->cl);
    assert_int_equal(kiln_gemm_enqueue(f->kiln, &gemm, f->queue, 1, &wait, NULL), KILN_SUCCESS);
    fixture_expect("pack_a", "pack_b", "packed_mul", NULL);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(stub_record_at(i)->num_waits, 1);
        assert_ptr_equal(stub_record_at(i)->waits[0], wait);
    }
    clReleaseEvent(wait);
}

static void no_event_is_made_that_nobody_wants(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm packed = packed_gemm(f);
    fixture_run(f, &packed);
    for (size_t i = 0; i < stub_num_records(); i++) {
        assert_null(stub_record_at(i)->event);
    }
    assert_int_equal(stub_calls("clFinish") + stub_calls("clWaitForEvents"), 0);
}

static void stages_keep_their_order_on_a_loose_queue(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm packed = packed_gemm(f);
    run_on(f, &packed, f->loose);
    fixture_expect("pack_a", "pack_b", "packed_mul", NULL);
    assert_true(stub_record_depends(2, 0));
    assert_true(stub_record_depends(2, 1));
}

/* The second call may not overwrite panels that the first still reads. */
static void calls_share_a_workspace_in_turn(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm packed = packed_gemm(f);
    struct kiln_gemm small = small_gemm(f);
    run_on(f, &packed, f->loose);
    run_on(f, &small, f->loose);
    run_on(f, &packed, f->loose);
    fixture_expect("pack_a", "pack_b", "packed_mul", "small_mul", "pack_a", "pack_b", "packed_mul",
            NULL);
    assert_true(stub_record_depends(4, 2));
    assert_true(stub_record_depends(5, 2));
    assert_false(stub_record_depends(3, 2));
}

static void check_member(const struct stub_record *r, long long member)
{
    assert_int_equal(stub_record_int(r, PLAIN_A_OFFSET), 1 + member * 5000);
    assert_int_equal(stub_record_int(r, PLAIN_B_OFFSET), 2);
    assert_int_equal(stub_record_int(r, PLAIN_C_OFFSET), 3 + member * 4096);
}

static void batches_are_enqueued_member_by_member(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = small_gemm(f);
    cl_event wait = stub_make_event(f->cl);
    cl_event done = NULL;
    gemm.batch_count = 4;
    gemm.a_offset = 1;
    gemm.b_offset = 2;
    gemm.c_offset = 3;
    gemm.a_stride = 5000;
    gemm.c_stride = 4096;
    assert_int_equal(kiln_gemm_enqueue(f->kiln, &gemm, f->loose, 1, &wait, &done), KILN_SUCCESS);
    fixture_expect("small_mul", "small_mul", "small_mul", "small_mul", NULL);
    size_t last = stub_record_of(done);
    for (size_t i = 0; i < 4; i++) {
        check_member(stub_record_at(i), (long long) i);
        assert_true(stub_record_awaits(i, wait));
        assert_true(i == last || stub_record_depends(last, i));
    }
    clReleaseEvent(wait);
    clReleaseEvent(done);
}

static void batches_share_a_workspace_in_turn(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    gemm.batch_count = 3;
    gemm.c_stride = 16 * 16;
    run_on(f, &gemm, f->loose);
    assert_int_equal(stub_num_records(), 9);
    assert_true(stub_record_depends(3, 2));
    assert_true(stub_record_depends(4, 2));
    assert_true(stub_record_depends(6, 5));
    assert_int_equal(stub_record_int(stub_record_at(8), MUL_C_OFFSET), 2 * 16 * 16);
}

static void strides_of_a_single_call_mean_nothing(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = small_gemm(f);
    gemm.batch_count = 1;
    gemm.a_stride = gemm.b_stride = SIZE_MAX;
    fixture_run(f, &gemm);
    fixture_only("small_mul");
}

/* The one event of a list may stand for itself. */
static void expect_marker(struct fixture *f, const struct kiln_gemm *gemm)
{
    cl_event waits[] = { stub_make_event(f->cl), stub_make_event(f->cl) };
    cl_event done = NULL;
    stub_clear_records();
    assert_int_equal(kiln_gemm_enqueue(f->kiln, gemm, f->loose, 2, waits, &done), KILN_SUCCESS);
    assert_int_equal(stub_num_records(), 1);
    assert_int_equal(stub_record_at(0)->command, STUB_MARKER);
    assert_int_equal(stub_record_at(0)->num_waits, 2);
    assert_ptr_equal(stub_record_at(0)->waits[1], waits[1]);
    assert_ptr_equal(stub_record_at(0)->event, done);
    clReleaseEvent(done);
    assert_int_equal(kiln_gemm_enqueue(f->kiln, gemm, f->loose, 1, waits, &done), KILN_SUCCESS);
    assert_ptr_equal(done, waits[0]);
    assert_int_equal(kiln_gemm_enqueue(f->kiln, gemm, f->loose, 1, waits, NULL), KILN_SUCCESS);
    assert_int_equal(stub_num_records(), 1);
    clReleaseEvent(done);
    clReleaseEvent(waits[0]);
    clReleaseEvent(waits[1]);
    fixture_run(f, gemm);
    assert_int_equal(stub_num_records(), 0);
}

/* Without an event too: what comes next on an in-order queue must find the list waited for. */
static void expect_order(struct fixture *f, const struct kiln_gemm *gemm)
{
    struct kiln_gemm next = small_gemm(f);
    cl_event wait = stub_make_event(f->cl);
    stub_clear_records();
    assert_int_equal(kiln_gemm_enqueue(f->kiln, gemm, f->queue, 1, &wait, NULL), KILN_SUCCESS);
    run_on(f, &next, f->queue);
    assert_int_equal(stub_num_records(), 2);
    assert_int_equal(stub_record_at(0)->command, STUB_MARKER);
    assert_null(stub_record_at(0)->event);
    assert_true(stub_record_awaits(1, wait));
    clReleaseEvent(wait);
}

static void calls_without_work_wait_all_the_same(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 0, 64, 64);
    expect_order(f, &gemm);
    gemm = fixture_gemm(f, 64, 64, 0);
    gemm.beta = 1.0;
    expect_order(f, &gemm);
}

/* Nothing of C changes, so nothing runs, and buffers need not even be there where m or n is 0. */
static void calls_without_work_are_markers(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 0, 64, 64);
    expect_marker(f, &gemm);
    gemm = fixture_gemm(f, 64, 0, 64);
    expect_marker(f, &gemm);
    gemm.a = gemm.b = gemm.c = NULL;
    expect_marker(f, &gemm);
    gemm = fixture_gemm(f, 64, 64, 0);
    gemm.beta = 1.0;
    expect_marker(f, &gemm);
    gemm = fixture_gemm(f, 64, 64, 64);
    gemm.alpha = 0.0;
    gemm.beta = 1.0;
    expect_marker(f, &gemm);
    assert_int_equal(stub_calls("clBuildProgram"), 0);
}

/* As a marker would, on an out-of-order queue. */
static void a_call_without_work_does_not_wait_for_others(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm small = small_gemm(f), empty = fixture_gemm(f, 0, 64, 64);
    cl_event done = NULL;
    run_on(f, &small, f->loose);
    assert_int_equal(kiln_gemm_enqueue(f->kiln, &empty, f->loose, 0, NULL, &done), KILN_SUCCESS);
    assert_int_equal(stub_num_records(), 1);
    assert_int_equal(stub_refs(done), 1);
    clReleaseEvent(done);
    run_on(f, &small, f->queue);
    assert_int_equal(kiln_gemm_enqueue(f->kiln, &empty, f->queue, 0, NULL, &done), KILN_SUCCESS);
    assert_true(stub_record_depends(2, 1));
    clReleaseEvent(done);
    stub_fail("clSetUserEventStatus", 1, CL_OUT_OF_HOST_MEMORY);
    assert_int_equal(kiln_gemm_enqueue(f->kiln, &empty, f->loose, 0, NULL, &done),
            CL_OUT_OF_HOST_MEMORY);
    stub_fail("clCreateUserEvent", 1, CL_OUT_OF_HOST_MEMORY);
    assert_int_equal(kiln_gemm_enqueue(f->kiln, &empty, f->loose, 0, NULL, &done),
            CL_OUT_OF_HOST_MEMORY);
}

/* A marker would refuse it. */
static void a_call_without_work_refuses_events_of_others(void **state)
{
    struct fixture *f = *state;
    const struct kiln_gemm empty = fixture_gemm(f, 0, 64, 64);
    cl_context other = stub_make_context(1, &f->device);
    cl_event foreign = clCreateUserEvent(other, NULL), done = NULL;
    cl_command_queue queues[] = { f->queue, f->loose };
    for (int i = 0; i < 4; i++) {
        assert_int_equal(kiln_gemm_enqueue(f->kiln, &empty, queues[i % 2], 1, &foreign,
                                 i < 2 ? &done : NULL),
                CL_INVALID_CONTEXT);
        assert_null(done);
    }
    clReleaseEvent(foreign);
    clReleaseContext(other);
    cl_event own = clCreateUserEvent(f->cl, NULL);
    stub_fail("clGetEventInfo", 1, CL_OUT_OF_HOST_MEMORY);
    assert_int_equal(kiln_gemm_enqueue(f->kiln, &empty, f->loose, 1, &own, NULL),
            CL_OUT_OF_HOST_MEMORY);
    assert_int_equal(kiln_gemm_enqueue(f->kiln, &empty, f->loose, 1, &own, NULL), KILN_SUCCESS);
    clReleaseEvent(own);
}

static void check_scaled(struct fixture *f, struct kiln_gemm gemm, double beta)
{
    gemm.beta = beta;
    fixture_run(f, &gemm);
    const struct stub_record *r = stub_record_at(0);
    assert_int_equal(stub_num_records(), 1);
    assert_int_equal(stub_record_int(r, PLAIN_M), 64);
    assert_int_equal(stub_record_int(r, PLAIN_N), 64);
    assert_int_equal(stub_record_int(r, PLAIN_K), 0);
    assert_true(stub_record_real(r, PLAIN_BETA) == beta);
    assert_true(stub_record_real(r, PLAIN_ALPHA) == 0.0);
    assert_int_equal(!!signbit(stub_record_real(r, PLAIN_ALPHA)), beta != 0);
    assert_ptr_equal(stub_record_mem(r, PLAIN_C), f->c);
}

/* k = 0 and alpha = 0 scale C, and neither looks at A or B. No kernel gets an alpha that makes NaN
 * of an empty sum. Where it adds beta C, the sum must be -0, which changes nothing; else 0. */
static void calls_without_a_product_scale(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 0);
    check_scaled(f, gemm, 0.5);
    check_scaled(f, gemm, 0.0);
    gemm.a = gemm.b = NULL;
    check_scaled(f, gemm, 0.5);
    gemm.alpha = -1.0;
    check_scaled(f, gemm, 0.0);
    gemm.alpha = INFINITY;
    check_scaled(f, gemm, 0.0);
    gemm.alpha = NAN;
    check_scaled(f, gemm, 0.5);
    gemm = fixture_gemm(f, 64, 64, 64);
    gemm.alpha = -0.0;
    check_scaled(f, gemm, 0.5);
    check_scaled(f, gemm, 0.0);
    gemm.layout = KILN_COL_MAJOR;
    gemm.transa = gemm.transb = KILN_TRANS;
    gemm.precision = KILN_DOUBLE;
    check_scaled(f, gemm, -2.0);
}

/* Packing has nothing to pack along k: a stage without work-groups is left out. */
static void empty_stages_are_left_out(void **state)
{
    struct fixture *f = *state;
    const struct kiln_pin pin = { KILN_SINGLE, 64, 64, 0, 1,
        { TUNED_PACKED, KILN_NO_RECIPE, KILN_NO_RECIPE, KILN_NO_RECIPE } };
    struct kiln_bundle bundle = tuned_bundle;
    bundle.pins = &pin;
    bundle.num_pins = 1;
    fixture_new_context(f, &(struct kiln_context_params){ .bundle = &bundle });
    struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 0);
    gemm.beta = 0.5;
    fixture_run(f, &gemm);
    const struct stub_record *last = stub_record_at(stub_num_records() - 1);
    assert_string_equal(last->entry, "packed_mul");
    assert_int_equal(stub_record_int(last, MUL_K), 0);
    for (size_t i = 0; i < stub_num_records(); i++) {
        assert_string_not_equal(stub_record_at(i)->entry, "pack_a");
    }
    kiln_context_destroy(&f->kiln);
}

static void beta_one_with_a_product_is_a_launch(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = small_gemm(f);
    gemm.beta = 1.0;
    fixture_run(f, &gemm);
    assert_true(stub_record_real(fixture_only("small_mul"), PLAIN_BETA) == 1.0);
}

/* Whatever stage fails for good: its code comes back, no event, and the last stage never ran. */
static void a_failing_stage_fails_the_call(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    for (unsigned nth = 1; nth <= 3; nth++) {
        cl_command_queue queue = nth == 2 ? f->loose : f->queue;
        cl_event done = NULL;
        stub_clear_records();
        stub_fail("clEnqueueNDRangeKernel", nth, CL_INVALID_OPERATION);
        assert_int_equal(kiln_gemm_enqueue(f->kiln, &gemm, queue, 0, NULL, &done),
                CL_INVALID_OPERATION);
        assert_null(done);
        assert_int_equal(stub_num_records(), nth - 1);
        stub_clear_plans();
        stub_clear_records();
        run_on(f, &gemm, queue);
        fixture_expect("pack_a", "pack_b", "packed_mul", NULL);
    }
}

static void a_failing_argument_fails_the_call(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    for (unsigned nth = 1; nth <= 20; nth++) {
        fixture_new_context(f, NULL);
        stub_clear_records();
        stub_fail("clSetKernelArg", nth, CL_INVALID_OPERATION);
        assert_int_equal(kiln_gemm_enqueue(f->kiln, &gemm, f->queue, 0, NULL, NULL),
                CL_INVALID_OPERATION);
        assert_int_equal(stub_num_records(), 0);
        stub_clear_plans();
        stub_clear_records();
        gemm.alpha += 1.0;
        run_on(f, &gemm, f->queue);
        assert_true(stub_record_real(stub_record_at(2), MUL_ALPHA) == gemm.alpha);
    }
}

/* Resources that one recipe lacks, the next may not need. */
static void lack_of_resources_tries_the_next_recipe(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    stub_fail("clEnqueueNDRangeKernel", 3, CL_OUT_OF_RESOURCES);
    run_on(f, &gemm, f->loose);
    assert_string_equal(stub_record_at(0)->entry, "pack_a");
    size_t last = stub_num_records() - 1;
    assert_string_equal(stub_record_at(last)->entry, "aligned_mul");
    stub_clear_plans();
    stub_clear_records();
    stub_fail("clCreateBuffer", 0, CL_MEM_OBJECT_ALLOCATION_FAILURE);
    gemm.k = 1 << 20;
    run_on(f, &gemm, f->queue);
    fixture_only("aligned_mul");
}

/* What else says nothing about the next recipe; that of the packed one comes first. */
static void other_lacks_try_the_next_recipe(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *function;
        cl_int code;
    } faults[] = {
        { "clEnqueueNDRangeKernel", CL_INVALID_GLOBAL_WORK_SIZE },
        { "clEnqueueNDRangeKernel", CL_INVALID_KERNEL },
        { "clEnqueueNDRangeKernel", CL_OUT_OF_HOST_MEMORY },
        { "clSetKernelArg", CL_OUT_OF_HOST_MEMORY },
        { "clCreateBuffer", CL_OUT_OF_HOST_MEMORY },
        { "clRetainCommandQueue", CL_OUT_OF_HOST_MEMORY },
    };
    struct kiln_gemm gemm = packed_gemm(f);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        fixture_new_context(f, NULL);
        stub_fail(faults[i].function, 1, faults[i].code);
        fixture_run(f, &gemm);
        fixture_only("aligned_mul");
        stub_clear_plans();
        fixture_run(f, &gemm);
        fixture_expect("pack_a", "pack_b", "packed_mul", NULL);
    }
}

static void a_wait_list_holds_for_the_recipe_after_a_failure(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    cl_event wait = stub_make_event(f->cl);
    stub_fail("clEnqueueNDRangeKernel", 1, CL_OUT_OF_RESOURCES);
    assert_int_equal(kiln_gemm_enqueue(f->kiln, &gemm, f->loose, 1, &wait, NULL), KILN_SUCCESS);
    size_t last = stub_num_records() - 1;
    assert_string_equal(stub_record_at(last)->entry, "aligned_mul");
    assert_true(stub_record_awaits(last, wait));
    clReleaseEvent(wait);
}

/* A batch whose first recipe, without workspace, gives up midway goes on with one that uses the
 * workspace: that one must wait for the call before, which still may. */
static void a_late_workspace_waits_for_its_last_user(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm packed = packed_gemm(f);
    run_on(f, &packed, f->loose);
    struct kiln_gemm gemm = fixture_gemm(f, 1024, 1024, 1024);
    gemm.batch_count = 2;
    gemm.c_stride = 1024 * 1024;
    stub_fail("clEnqueueNDRangeKernel", 2, CL_OUT_OF_RESOURCES);
    run_on(f, &gemm, f->loose);
    size_t last = stub_num_records() - 1;
    assert_string_equal(stub_record_at(3)->entry, "aligned_mul");
    assert_string_equal(stub_record_at(last)->entry, "packed_mul");
    assert_string_equal(stub_record_at(last - 2)->entry, "pack_a");
    assert_true(stub_record_depends(last - 2, 2));
    assert_true(stub_record_depends(last, 3));
}

static void failing_events_and_markers_leave_nothing(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm empty = fixture_gemm(f, 0, 1, 1);
    struct kiln_gemm packed = packed_gemm(f);
    cl_event wait = stub_make_event(f->cl);
    cl_event done = NULL;
    stub_fail("clEnqueueMarkerWithWaitList", 0, CL_INVALID_OPERATION);
    assert_int_equal(kiln_gemm_enqueue(f->kiln, &empty, f->queue, 0, NULL, &done),
            CL_INVALID_OPERATION);
    assert_null(done);
    run_on(f, &packed, f->loose);
    enum kiln_status status = kiln_gemm_enqueue(f->kiln, &packed, f->loose, 1, &wait, NULL);
    assert_true(status == KILN_SUCCESS || (int) status == CL_INVALID_OPERATION);
    clReleaseEvent(wait);
}

static void profiled_calls_give_each_stage_an_event(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    cl_event events[KILN_MAX_STAGES] = { NULL };
    unsigned num = 0;
    for (int i = 0; i < 4; i++) {
        stub_clear_records();
        assert_int_equal(kiln_gemm_enqueue_profiled(f->kiln, &gemm,
                                 i % 2 == 0 ? f->queue : f->loose, events, &num),
                KILN_SUCCESS);
        assert_int_equal(num, 3);
        for (unsigned j = 0; j < num; j++) {
            assert_int_equal(stub_record_of(events[j]), j);
            clReleaseEvent(events[j]);
        }
    }
    stub_fail("clEnqueueNDRangeKernel", 3, CL_INVALID_OPERATION);
    assert_int_equal(kiln_gemm_enqueue_profiled(f->kiln, &gemm, f->queue, events, &num),
            CL_INVALID_OPERATION);
    assert_int_equal(num, 0);
}

static void a_profiled_batch_gives_the_first_event_and_the_last(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    cl_event events[KILN_MAX_STAGES] = { NULL };
    unsigned num = 0;
    gemm.batch_count = 3;
    gemm.c_stride = 16 * 16;
    for (int i = 0; i < 2; i++) {
        stub_clear_records();
        assert_int_equal(kiln_gemm_enqueue_profiled(f->kiln, &gemm, i == 0 ? f->queue : f->loose,
                                 events, &num),
                KILN_SUCCESS);
        assert_int_equal(num, 2);
        assert_int_equal(stub_record_of(events[0]), 0);
        assert_int_equal(stub_record_of(events[1]), 8);
        clReleaseEvent(events[0]);
        clReleaseEvent(events[1]);
    }
    stub_fail("clEnqueueNDRangeKernel", 5, CL_INVALID_OPERATION);
    assert_int_equal(kiln_gemm_enqueue_profiled(f->kiln, &gemm, f->queue, events, &num),
            CL_INVALID_OPERATION);
    assert_int_equal(num, 0);
    /* Another recipe would go on with the second member; what it took alone is not the time. */
    stub_clear_plans();
    stub_fail("clEnqueueNDRangeKernel", 4, CL_OUT_OF_RESOURCES);
    fixture_run(f, &gemm);
    stub_clear_plans();
    stub_fail("clEnqueueNDRangeKernel", 4, CL_OUT_OF_RESOURCES);
    assert_int_equal(kiln_gemm_enqueue_profiled(f->kiln, &gemm, f->queue, events, &num),
            CL_OUT_OF_RESOURCES);
    assert_int_equal(num, 0);
}

/* Whoever used the memory before, the launch comes after: it waits, or has other memory. */
static void expect_after_users(size_t first)
{
    cl_mem memory = stub_record_mem(stub_record_at(first), PACK_A_WORK);
    for (size_t i = 0; i < first; i++) {
        const struct stub_record *record = stub_record_at(i);
        bool used = record->command == STUB_NDRANGE && strcmp(record->entry, "packed_mul") == 0 &&
                    stub_record_mem(record, MUL_WORK) == memory;
        assert_true(!used || stub_record_depends(first, i));
    }
}

static void an_event_that_is_not_retained_is_not_released(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = packed_gemm(f);
    for (unsigned nth = 1; nth <= 3; nth++) {
        cl_event done = NULL;
        run_on(f, &gemm, f->loose);
        stub_fail("clRetainEvent", nth, CL_OUT_OF_HOST_MEMORY);
        enum kiln_status status = kiln_gemm_enqueue(f->kiln, &gemm, f->loose, 0, NULL, &done);
        assert_true((status == KILN_SUCCESS) == (done != NULL));
        stub_clear_plans();
        size_t first = stub_num_records();
        run_on(f, &gemm, f->loose);
        expect_after_users(first);
        if (done != NULL) {
            clReleaseEvent(done);
        }
    }
}

/* A recipe of which two stages write C. Between them no other may begin, unless it does not read
 * C. */
static void a_c_that_is_half_written_is_not_read(void **state)
{
    struct fixture *f = *state;
    struct kiln_recipe recipes[NUM_TUNED];
    struct kiln_bundle bundle = tuned_bundle;
    struct kiln_gemm gemm = small_gemm(f);
    memcpy(recipes, tuned_recipes, sizeof recipes);
    const struct kiln_stage stages[] = { recipes[TUNED_SMALL].stages[0],
        recipes[TUNED_SMALL].stages[0] };
    recipes[TUNED_SMALL].stages = stages;
    recipes[TUNED_SMALL].num_stages = 2;
    bundle.recipes = recipes;
    fixture_new_context(f, &(struct kiln_context_params){ .bundle = &bundle });
    for (int i = 0; i < 2; i++) {
        stub_clear_records();
        stub_fail("clEnqueueNDRangeKernel", 2, CL_OUT_OF_RESOURCES);
        gemm.beta = i;
        assert_int_equal(kiln_gemm_enqueue(f->kiln, &gemm, f->queue, 0, NULL, NULL),
                i == 0 ? KILN_SUCCESS : CL_OUT_OF_RESOURCES);
        assert_int_equal(stub_num_records(), i == 0 ? 2 : 1);
        assert_string_equal(stub_record_at(0)->entry, "small_mul");
        stub_clear_plans();
    }
    gemm.batch_count = 2; /* the first member is done when the second begins */
    gemm.c_stride = 64 * 64;
    for (unsigned nth = 3; nth <= 4; nth++) {
        stub_clear_records();
        stub_fail("clEnqueueNDRangeKernel", nth, CL_OUT_OF_RESOURCES);
        assert_int_equal(kiln_gemm_enqueue(f->kiln, &gemm, f->loose, 0, NULL, NULL),
                nth == 3 ? KILN_SUCCESS : CL_OUT_OF_RESOURCES);
        assert_int_equal(stub_num_records(), 3);
        stub_clear_plans();
    }
    kiln_context_destroy(&f->kiln);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(events_bound_the_call),
        TEST(each_stage_waits_for_the_list),
        TEST(no_event_is_made_that_nobody_wants),
        TEST(stages_keep_their_order_on_a_loose_queue),
        TEST(calls_share_a_workspace_in_turn),
        TEST(batches_are_enqueued_member_by_member),
        TEST(batches_share_a_workspace_in_turn),
        TEST(strides_of_a_single_call_mean_nothing),
        TEST(calls_without_work_are_markers),
        TEST(calls_without_work_wait_all_the_same),
        TEST(a_call_without_work_does_not_wait_for_others),
        TEST(a_call_without_work_refuses_events_of_others),
        TEST(calls_without_a_product_scale),
        TEST(empty_stages_are_left_out),
        TEST(beta_one_with_a_product_is_a_launch),
        TEST(a_failing_stage_fails_the_call),
        TEST(a_failing_argument_fails_the_call),
        TEST(lack_of_resources_tries_the_next_recipe),
        TEST(other_lacks_try_the_next_recipe),
        TEST(a_wait_list_holds_for_the_recipe_after_a_failure),
        TEST(a_late_workspace_waits_for_its_last_user),
        TEST(failing_events_and_markers_leave_nothing),
        TEST(profiled_calls_give_each_stage_an_event),
        TEST(a_profiled_batch_gives_the_first_event_and_the_last),
        TEST(an_event_that_is_not_retained_is_not_released),
        TEST(a_c_that_is_half_written_is_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
