/* test_fallback.c: what libkiln-clblast makes of Kiln's answers. The functions of Kiln are here,
 * and answer as a test wants; CLBlast is the fake one, in any place where it is looked for. */
#define _GNU_SOURCE /* dladdr, RTLD_NEXT */
#include "kiln_clblast.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static enum kiln_status creation, enqueueing;
static int num_calls;

/* While gates are wanted, each call that Kiln takes has a user event as its own, and is over when
 * the test says so. Batches whose members lie side by side or overlap are refused then. Those that
 * wait for the one before are counted. */
enum { MAX_GATES = 4 };
static int wants_gates, num_gates, num_waiting;
static cl_event gates[MAX_GATES];
static cl_context context;
static cl_command_queue queue, unordered;

enum kiln_status kiln_context_create(cl_context cl, cl_device_id device,
        const struct kiln_context_params *params, struct kiln_context **out)
{
    (void) cl, (void) device, (void) params;
    *out = NULL;
    return creation;
}

void kiln_context_destroy(struct kiln_context **kiln)
{
    *kiln = NULL;
}

enum kiln_status kiln_gemm_enqueue(struct kiln_context *kiln, const struct kiln_gemm *gemm,
        cl_command_queue to, cl_uint num_events, const cl_event *events, cl_event *event)
{
    (void) kiln;
    num_calls++;
    if (enqueueing != KILN_SUCCESS || !wants_gates) {
        return enqueueing;
    }
    if (gemm->batch_count > 1 && gemm->c_stride < (gemm->m - 1) * gemm->ldc + gemm->n) {
        return KILN_INVALID_BATCH_STRIDE;
    }
    cl_int error;
    assert_true(num_gates < MAX_GATES);
    if (num_events > 0) {
        assert_int_equal(num_events, 1);
        assert_true(num_gates > 0 && events[0] == gates[num_gates - 1]);
        num_waiting++;
    }
    cl_event gate = gates[num_gates++] = clCreateUserEvent(context, &error);
    assert_int_equal(error, CL_SUCCESS);
    if (event != NULL) {
        *event = gate;
        clRetainEvent(gate);
    }
    return (enum kiln_status) clEnqueueMarkerWithWaitList(to, 1, &gate, NULL);
}

enum kiln_status kiln_gemm_workspace_bytes(struct kiln_context *kiln, const struct kiln_gemm *gemm,
        size_t *bytes)
{
    (void) kiln, (void) gemm;
    *bytes = 0;
    return enqueueing;
}

static int sgemm(void)
{
    return CLBlastSgemm(101, 111, 111, 2, 3, 4, 1, NULL, 0, 4, NULL, 0, 3, 0, NULL, 0, 3, &queue,
            NULL);
}

static int *fake_calls(void)
{
    void *handle = dlopen(getenv("KILN_CLBLAST_FALLBACK"), RTLD_LAZY | RTLD_LOCAL);
    assert_non_null(handle);
    return dlsym(handle, "fake_calls");
}

/* Of CLBlast and of the fake, as long as neither is loaded. */
static void loads_nothing_to_clear_it(void **state)
{
    const char *files[] = { getenv("KILN_CLBLAST_FALLBACK"), "libclblast.so.1" };
    (void) state;
    assert_int_equal(CLBlastClearCache(), 0);
    for (int i = 0; i < 2; i++) {
        assert_null(dlopen(files[i], RTLD_LAZY | RTLD_NOLOAD));
    }
}

static void passes_on_what_kiln_has_no_kernel_for(void **state)
{
    (void) state;
    int *calls = fake_calls(), before = *calls;
    creation = KILN_SUCCESS;
    enqueueing = KILN_NO_KERNEL;
    assert_int_equal(sgemm(), 1020304);
    assert_int_equal(*calls, before + 1);
    assert_int_equal(num_calls, 1);
    /* Of doubles it has none. */
    assert_int_equal(CLBlastDgemm(101, 111, 111, 2, 3, 4, 1, NULL, 0, 4, NULL, 0, 3, 0, NULL, 0, 3,
                             &queue, NULL),
            KILN_CLBLAST_NOT_IMPLEMENTED);
    assert_int_equal(CLBlastClearCache(), 7);
    creation = KILN_NO_KERNEL;
    assert_int_equal(sgemm(), 1020304);
}

/* CLBlast's functions in C call those in C++ by names that are this library's too. */
static void hands_back_what_clblast_calls_by_name(void **state)
{
    (void) state;
    int *calls = fake_calls(), before = *calls;
    creation = KILN_SUCCESS;
    enqueueing = KILN_NO_KERNEL;
    num_calls = 0;
    assert_int_equal(CLBlastSsyrk(101, 121, 111, 2, 3, 1, NULL, 0, 3, 0, NULL, 0, 2, &queue, NULL),
            2000203);
    assert_int_equal(*calls, before + 1);
    assert_int_equal(num_calls, 1);
    /* That of doubles calls one that is not there. */
    assert_int_equal(CLBlastDsyrk(101, 121, 111, 2, 3, 1, NULL, 0, 3, 0, NULL, 0, 2, &queue, NULL),
            KILN_CLBLAST_NOT_IMPLEMENTED);
    assert_int_equal(num_calls, 2);
    /* Nothing is left over for the next call. */
    enqueueing = KILN_SUCCESS;
    assert_int_equal(CLBlastDsyrk(101, 121, 111, 2, 3, 1, NULL, 0, 3, 0, NULL, 0, 2, &queue, NULL),
            0);
    assert_int_equal(num_calls, 3);
}

static void keeps_what_kiln_has_done_or_refused(void **state)
{
    static const struct {
        enum kiln_status kilns;
        int clblasts;
    } rows[] = {
        { KILN_SUCCESS, 0 },
        { KILN_INVALID_QUEUE, -36 },
        { KILN_INVALID_BUFFER_A, -1022 },
        { KILN_INVALID_BUFFER_C, -1020 },
        { KILN_INVALID_LDB, -1015 },
        { KILN_BUFFER_A_TOO_SMALL, -1011 },
        { KILN_OFFSET_B_PAST_END, -1010 },
        { KILN_BUFFER_C_TOO_SMALL, -1009 },
        { KILN_WORKSPACE_TOO_SMALL, -2050 },
        { KILN_NO_DOUBLE, -2044 },
        { KILN_OUT_OF_MEMORY, -6 },
        { KILN_INVALID_LAYOUT, -30 },
        { (enum kiln_status) CL_OUT_OF_RESOURCES, -5 },
    };
    (void) state;
    int *calls = fake_calls(), before = *calls;
    creation = KILN_SUCCESS;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enqueueing = rows[i].kilns;
        assert_int_equal(sgemm(), rows[i].clblasts);
    }
    assert_int_equal(*calls, before);
    /* What stands on the right is Kiln's B. */
    enqueueing = KILN_BUFFER_B_TOO_SMALL;
    assert_int_equal(CLBlastSsymm(101, 142, 121, 2, 3, 1, NULL, 0, 3, NULL, 0, 3, 0, NULL, 0, 3,
                             &queue, NULL),
            -1011);
    enqueueing = KILN_INVALID_LDA;
    assert_int_equal(CLBlastSsymm(101, 142, 121, 2, 3, 1, NULL, 0, 3, NULL, 0, 3, 0, NULL, 0, 3,
                             &queue, NULL),
            -1015);
    assert_int_equal(CLBlastSsymm(101, 141, 121, 2, 3, 1, NULL, 0, 2, NULL, 0, 3, 0, NULL, 0, 3,
                             &queue, NULL),
            -1016);
}

/* What stands in the way of dladdr: it fails, or tells no name, or that of another place. */
static enum { NOTHING, FAILS, NAMES_NOTHING, NAMES_ANOTHER } dladdr_trouble;

int dladdr(const void *address, Dl_info *info)
{
    int (*real)(const void *, Dl_info *);
    *(void **) &real = dlsym(RTLD_NEXT, "dladdr");
    const int result = dladdr_trouble == FAILS ? 0 : real(address, info);
    if (dladdr_trouble == NAMES_NOTHING) {
        info->dli_sname = NULL;
        info->dli_saddr = NULL;
    } else if (dladdr_trouble == NAMES_ANOTHER) {
        info->dli_saddr = (char *) info->dli_saddr - 16;
    }
    return result;
}

/* Where a function's name or library is not known, none is called in its place. */
static void calls_nothing_that_it_does_not_know(void **state)
{
    (void) state;
    int *calls = fake_calls(), before = *calls;
    creation = KILN_SUCCESS;
    enqueueing = KILN_NO_KERNEL;
    for (dladdr_trouble = FAILS; dladdr_trouble <= NAMES_ANOTHER; dladdr_trouble++) {
        assert_int_equal(
                CLBlastSsyrk(101, 121, 111, 2, 3, 1, NULL, 0, 3, 0, NULL, 0, 2, &queue, NULL),
                KILN_CLBLAST_NOT_IMPLEMENTED);
    }
    dladdr_trouble = NOTHING;
    assert_int_equal(*calls, before);
    assert_int_equal(CLBlastSsyrk(101, 121, 111, 2, 3, 1, NULL, 0, 3, 0, NULL, 0, 2, &queue, NULL),
            2000203);
}

static cl_int state_of(cl_event event)
{
    cl_int state = CL_QUEUED;
    assert_int_equal(
            clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL),
            CL_SUCCESS);
    return state;
}

/* The event is over with the last call that Kiln took, whichever that is, and not before. Until
 * then nothing may be called that blocks behind the gates. */
static void ends_with_all(cl_event event, int expected, int last)
{
    assert_int_equal(num_gates, expected);
    for (int i = 0; i < expected; i++) {
        assert_true(state_of(event) > CL_COMPLETE);
        clSetUserEventStatus(gates[(last + 1 + i) % expected], CL_COMPLETE);
    }
    assert_int_equal(clWaitForEvents(1, &event), CL_SUCCESS);
    assert_int_equal(state_of(event), CL_COMPLETE);
    clReleaseEvent(event);
    while (num_gates > 0) {
        clReleaseEvent(gates[--num_gates]);
    }
}

/* Members of 2 2 2, each in a place and with an alpha of its own, or the same for all. */
static void waits_for_all_members(void **state)
{
    static const size_t at[MAX_GATES] = { 0, 4, 8, 12 };
    static const float ones[MAX_GATES] = { 1, 1, 1, 1 };
    static const struct {
        float alphas[MAX_GATES];
        int runs;
    } rows[] = { { { 1, 2, 3, 4 }, 4 }, { { 1, 1, 2, 2 }, 2 }, { { 1, 1, 1, 2 }, 2 },
        { { 1, 1, 1, 1 }, 1 } };
    cl_command_queue *const queues[] = { &queue, &unordered };
    (void) state;
    cl_mem x = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL);
    creation = enqueueing = KILN_SUCCESS;
    wants_gates = 1;
    for (int q = 0; q < 2; q++) {
        cl_event event;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            for (int last = 0; last < rows[i].runs; last++) {
                assert_int_equal(CLBlastSgemmBatched(101, 111, 111, 2, 2, 2, rows[i].alphas, x, at,
                                         2, x, at, 2, ones, x, at, 2, MAX_GATES, queues[q], &event),
                        0);
                ends_with_all(event, rows[i].runs, last);
            }
        }
        for (int last = 0; last < 4; last++) {
            assert_int_equal(CLBlastSgemmStridedBatched(101, 111, 111, 2, 1, 2, 1, x, 0, 2, 0, x, 0,
                                     1, 0, 0, x, 0, 4, 1, 4, queues[q], &event),
                    0);
            ends_with_all(event, 4, last);
        }
        assert_int_equal(num_waiting, 0);
    }
    wants_gates = 0;
    clReleaseMemObject(x);
}

/* The queue has no order: each waits for the one before, with an event or without. */
static void computes_members_that_overlap_in_turn(void **state)
{
    static const struct {
        int layout;
        size_t m, n, c_ld, c_stride;
    } rows[] = { { 101, 2, 3, 3, 1 }, { 101, 2, 3, 8, 2 }, { 101, 2, 3, 11, 3 },
        { 102, 3, 2, 3, 1 }, { 102, 3, 2, 8, 2 }, { 102, 3, 2, 11, 3 } };
    (void) state;
    cl_mem x = clCreateBuffer(context, CL_MEM_READ_WRITE, 256, NULL, NULL);
    creation = enqueueing = KILN_SUCCESS;
    wants_gates = 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cl_event event = NULL;
        for (int has_event = 0; has_event < 2; has_event++) {
            num_waiting = 0;
            assert_int_equal(
                    CLBlastSgemmStridedBatched(rows[i].layout, 111, 111, rows[i].m, rows[i].n, 2, 1,
                            x, 0, 3, 0, x, 0, 3, 0, 1, x, 0, rows[i].c_ld, rows[i].c_stride,
                            MAX_GATES, &unordered, has_event ? &event : NULL),
                    0);
            assert_int_equal(num_waiting, MAX_GATES - 1);
            if (has_event) {
                ends_with_all(event, MAX_GATES, MAX_GATES - 1);
            }
            while (num_gates > 0) {
                clSetUserEventStatus(gates[--num_gates], CL_COMPLETE);
                clReleaseEvent(gates[num_gates]);
            }
        }
    }
    num_waiting = wants_gates = 0;
    clReleaseMemObject(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_nothing_to_clear_it),
        cmocka_unit_test(passes_on_what_kiln_has_no_kernel_for),
        cmocka_unit_test(hands_back_what_clblast_calls_by_name),
        cmocka_unit_test(calls_nothing_that_it_does_not_know),
        cmocka_unit_test(keeps_what_kiln_has_done_or_refused),
        cmocka_unit_test(waits_for_all_members),
        cmocka_unit_test(computes_members_that_overlap_in_turn),
    };
    cl_platform_id platform;
    cl_device_id device;
    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
            clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
        return 77;
    }
    context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    queue = clCreateCommandQueue(context, device, 0, NULL);
    unordered = clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, NULL);
    unordered = unordered != NULL ? unordered : queue;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
