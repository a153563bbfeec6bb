/* test_clblast.c: libkiln-clblast on the device at hand, in what CLBlast's testers leave out:
 * halves, members of batches that lie anywhere, events of out-of-order queues, temporary buffers,
 * statuses, and threads that call while the cache is cleared. */
#include "kiln_clblast.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROW = 101, COLUMN = 102, NO = 111 };

static cl_context context;
static cl_command_queue queue, unordered, reading;

static cl_mem buffer_of(size_t bytes, const void *data)
{
    cl_int error;
    cl_mem buffer = clCreateBuffer(context,
            CL_MEM_READ_WRITE | (data != NULL ? CL_MEM_COPY_HOST_PTR : 0u), bytes,
            (void *) (uintptr_t) data, &error);
    assert_int_equal(error, CL_SUCCESS);
    return buffer;
}

/* Small integers, so that all sums are exact. */
static float value(size_t i)
{
    return (float) (i * 7 % 5) - 2;
}

static cl_mem floats(size_t num, float *copy)
{
    float *data = malloc(num * sizeof *data);
    assert_non_null(data);
    for (size_t i = 0; i < num; i++) {
        data[i] = value(i);
    }
    if (copy != NULL) {
        memcpy(copy, data, num * sizeof *data);
    }
    cl_mem buffer = buffer_of(num * sizeof *data, data);
    free(data);
    return buffer;
}

/* Row-major, nothing transposed, all at the start of what is given. */
static void expect(float *c, const float *a, const float *b, size_t m, size_t n, size_t k,
        float alpha, float beta)
{
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < n; j++) {
            float sum = 0;
            for (size_t l = 0; l < k; l++) {
                sum += a[i * k + l] * b[l * n + j];
            }
            c[i * n + j] = alpha * sum + beta * c[i * n + j];
        }
    }
}

static void multiplies_halves(void **state)
{
    /* 1, 2, 3, 4 and -0.5 as halves. */
    const cl_half a[] = { 0x3c00, 0x4000, 0x4200, 0x4400 },
                  b[] = { 0x4000, 0x3c00, 0x4200, 0x4400 };
    const cl_half c[] = { 0x3c00, 0x3c00, 0x3c00, 0x3c00 };
    /* -(1 2; 3 4)(2 1; 3 4) / 2 + 2 = -(8 9; 18 19) / 2 + 2 */
    const cl_half expected[] = { 0xc000, 0xc100, 0xc700, 0xc780 };
    cl_half result[4];
    (void) state;
    cl_mem x = buffer_of(sizeof a, a), y = buffer_of(sizeof b, b), z = buffer_of(sizeof c, c);
    assert_int_equal(CLBlastHgemm(ROW, NO, NO, 2, 2, 2, 0xb800, x, 0, 2, y, 0, 2, 0x4000, z, 0, 2,
                             &queue, NULL),
            0);
    assert_int_equal(
            clEnqueueReadBuffer(queue, z, CL_TRUE, 0, sizeof result, result, 0, NULL, NULL), 0);
    assert_memory_equal(result, expected, sizeof expected);
    clReleaseMemObject(x), clReleaseMemObject(y), clReleaseMemObject(z);
}

enum { M = 19, N = 21, K = 17, MEMBERS = 7, ROOM = 9000 };

/* Members at one distance with one alpha, others anywhere, backwards, with shared operands. They
 * begin when the gate opens; what blocks comes later, or it would wait for ever. The queue that
 * reads knows of them by the event alone. */
static void multiplies_members_that_lie_anywhere(void **state)
{
    const size_t a_at[MEMBERS] = { 0, 400, 800, 5, 5, 2000, 1000 };
    const size_t b_at[MEMBERS] = { 100, 500, 900, 4000, 4000, 3, 7 };
    const size_t c_at[MEMBERS] = { 0, 401, 802, 8000, 2000, 5000, 4000 };
    const float alphas[MEMBERS] = { 1, 1, 1, 1, 2, 2, 0 }, betas[MEMBERS] = { 0, 0, 0, 1, 1, 2, 3 };
    static float a[ROOM], b[ROOM], c[ROOM], result[ROOM];
    cl_command_queue *queues[] = { &queue, &unordered };
    (void) state;
    for (int q = 0; q < 2; q++) {
        cl_mem x = floats(ROOM, a), y = floats(ROOM, b), z = floats(ROOM, c);
        cl_event event = NULL, gate = clCreateUserEvent(context, NULL);
        cl_int progress = 0;
        assert_int_equal(clEnqueueBarrierWithWaitList(*queues[q], 1, &gate, NULL), 0);
        assert_int_equal(CLBlastSgemmBatched(ROW, NO, NO, M, N, K, alphas, x, a_at, K, y, b_at, N,
                                 betas, z, c_at, N, MEMBERS, queues[q], &event),
                0);
        assert_int_equal(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof progress,
                                 &progress, NULL),
                0);
        assert_true(progress > CL_COMPLETE);
        assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), 0);
        assert_int_equal(clFlush(*queues[q]), 0);
        assert_int_equal(
                clEnqueueReadBuffer(reading, z, CL_TRUE, 0, sizeof result, result, 1, &event, NULL),
                0);
        clReleaseEvent(gate);
        for (int i = 0; i < MEMBERS; i++) {
            expect(c + c_at[i], a + a_at[i], b + b_at[i], M, N, K, alphas[i], betas[i]);
        }
        assert_memory_equal(result, c, sizeof result);
        clReleaseEvent(event);
        clReleaseMemObject(x), clReleaseMemObject(y), clReleaseMemObject(z);
    }
}

/* Two products side by side in one matrix. */
static void multiplies_strided_members_side_by_side(void **state)
{
    static float a[M * K], b[2 * K * N], c[M * 2 * N], result[M * 2 * N], product[M * N];
    (void) state;
    cl_mem x = floats(M * K, a), y = floats(2 * K * N, b), z = floats(M * 2 * N, c);
    cl_event event;
    assert_int_equal(CLBlastSgemmStridedBatched(ROW, NO, NO, M, N, K, 1, x, 0, K, 0, y, 0, N, K * N,
                             0, z, 0, 2 * N, N, 2, &unordered, &event),
            0);
    assert_int_equal(
            clEnqueueReadBuffer(unordered, z, CL_TRUE, 0, sizeof result, result, 1, &event, NULL),
            0);
    for (size_t i = 0; i < 2; i++) {
        expect(product, a, b + i * K * N, M, N, K, 1, 0);
        for (size_t row = 0; row < M; row++) {
            assert_memory_equal(result + row * 2 * N + i * N, product + row * N,
                    N * sizeof *product);
        }
    }
    clReleaseEvent(event);
    clReleaseMemObject(x), clReleaseMemObject(y), clReleaseMemObject(z);
}

/* Each begins a column behind the one before, and adds to what that has left. */
static void multiplies_strided_members_that_overlap(void **state)
{
    enum { COUNT = 6, SPAN = M * N + COUNT - 1 };
    static float a[M * K], b[COUNT * K * N], c[SPAN], result[SPAN];
    cl_command_queue *queues[] = { &queue, &unordered };
    (void) state;
    for (int q = 0; q < 2; q++) {
        cl_mem x = floats(M * K, a), y = floats(COUNT * K * N, b), z = floats(SPAN, c);
        cl_event event;
        assert_int_equal(CLBlastSgemmStridedBatched(ROW, NO, NO, M, N, K, 1, x, 0, K, 0, y, 0, N,
                                 K * N, 2, z, 0, N, 1, COUNT, queues[q], &event),
                0);
        assert_int_equal(clEnqueueReadBuffer(*queues[q], z, CL_TRUE, 0, sizeof result, result, 1,
                                 &event, NULL),
                0);
        for (size_t i = 0; i < COUNT; i++) {
            expect(c + i, a, b + i * K * N, M, N, K, 1, 2);
        }
        assert_memory_equal(result, c, sizeof result);
        clReleaseEvent(event);
        clReleaseMemObject(x), clReleaseMemObject(y), clReleaseMemObject(z);
    }
}

static void checks_all_members_before_any(void **state)
{
    size_t a_at[] = { 0, 400 }, b_at[] = { 0, 400 }, c_at[] = { 0, 400 };
    const float alphas[] = { 1, 2 }, betas[] = { 0, 0 };
    static float before[ROOM], after[ROOM];
    const struct {
        size_t *offsets;
        int status;
    } rows[] = { { a_at, -1011 }, { b_at, -1010 }, { c_at, -1009 } };
    (void) state;
    cl_mem x = floats(ROOM, NULL), y = floats(ROOM, NULL), z = floats(ROOM, before);
    for (size_t i = 0; i < 3; i++) {
        for (int huge = 0; huge < 2; huge++) {
            rows[i].offsets[1] = huge ? SIZE_MAX : ROOM - 100;
            assert_int_equal(CLBlastSgemmBatched(ROW, NO, NO, M, N, K, alphas, x, a_at, K, y, b_at,
                                     N, betas, z, c_at, N, 2, &queue, NULL),
                    rows[i].status);
        }
        rows[i].offsets[1] = 400;
    }
    assert_int_equal(CLBlastSgemmBatched(ROW, NO, NO, M, N, K, alphas, x, a_at, K, y, b_at, N,
                             betas, z, c_at, N, 0, &queue, NULL),
            -2049);
    assert_int_equal(clEnqueueReadBuffer(queue, z, CL_TRUE, 0, sizeof after, after, 0, NULL, NULL),
            0);
    assert_memory_equal(before, after, sizeof after);
    clReleaseMemObject(x), clReleaseMemObject(y), clReleaseMemObject(z);
}

static void takes_temporary_buffers(void **state)
{
    enum { SIZE = 257 };
    static float a[SIZE * SIZE], b[SIZE * SIZE], c[SIZE * SIZE], result[SIZE * SIZE];
    size_t bytes = SIZE_MAX;
    (void) state;
    cl_mem x = floats(SIZE * SIZE, a), y = floats(SIZE * SIZE, b), z = floats(SIZE * SIZE, c);
    assert_int_equal(CLBlastSGemmTempBufferSize(COLUMN, NO, NO, SIZE, SIZE, SIZE, 0, SIZE, 0, SIZE,
                             0, SIZE, &queue, &bytes),
            0);
    assert_true(bytes < SIZE_MAX);
    cl_mem enough = buffer_of(bytes + 1, NULL), little = buffer_of(1, NULL);
    bool is_too_little = bytes <= 1; /* for one alpha at least: what is told does for any */
    for (int alpha = 0; alpha < 2; alpha++) {
        const int status = CLBlastSgemmWithTempBuffer(COLUMN, NO, NO, SIZE, SIZE, SIZE,
                (float) alpha, x, 0, SIZE, y, 0, SIZE, 2, z, 0, SIZE, &queue, NULL, little);
        assert_true(status == 0 || status == -2050);
        is_too_little |= status == -2050;
    }
    assert_true(is_too_little);
    assert_int_equal(CLBlastSgemmWithTempBuffer(COLUMN, NO, NO, SIZE, SIZE, SIZE, 1, y, 0, SIZE, x,
                             0, SIZE, 0, z, 0, SIZE, &queue, NULL, enough),
            0);
    assert_int_equal(
            clEnqueueReadBuffer(queue, z, CL_TRUE, 0, sizeof result, result, 0, NULL, NULL), 0);
    expect(c, a, b, SIZE, SIZE, SIZE, 1, 0);
    assert_memory_equal(result, c, sizeof result);
    clReleaseMemObject(x), clReleaseMemObject(y), clReleaseMemObject(z);
    clReleaseMemObject(enough), clReleaseMemObject(little);
}

/* What is told does for the product whatever alpha and beta are. */
static void temporary_buffers_do_for_all_scalars(void **state)
{
    enum { SIZE = 512 };
    static const double scalars[] = { 0, 1, 2 };
    size_t bytes = SIZE_MAX;
    (void) state;
    cl_mem x = buffer_of(sizeof(double) * SIZE * SIZE, NULL);
    cl_mem y = buffer_of(sizeof(double) * SIZE * SIZE, NULL);
    const int status = CLBlastDGemmTempBufferSize(ROW, NO, NO, SIZE, SIZE, SIZE, 0, SIZE, 0, SIZE,
            0, SIZE, &queue, &bytes);
    if (status == -2044) {
        skip();
    }
    assert_int_equal(status, 0);
    cl_mem room = buffer_of(bytes > 0 ? bytes : 1, NULL);
    for (size_t i = 0; i < 9; i++) {
        assert_int_equal(
                CLBlastDgemmWithTempBuffer(ROW, NO, NO, SIZE, SIZE, SIZE, scalars[i % 3], x, 0,
                        SIZE, x, 0, SIZE, scalars[i / 3], y, 0, SIZE, &queue, NULL, room),
                0);
    }
    clFinish(queue);
    clReleaseMemObject(x), clReleaseMemObject(y), clReleaseMemObject(room);
}

static void members_of_alpha_0_read_nothing(void **state)
{
    const float none[] = { 0, 0 }, some[] = { 0, 1 }, betas[] = { 2, 3 };
    const size_t wild[] = { SIZE_MAX, 0 }, at[] = { 0, 16 };
    static float before[32], after[32];
    (void) state;
    cl_mem x = floats(16, NULL), z = floats(32, before);
    assert_int_equal(CLBlastSgemmBatched(ROW, NO, NO, 4, 4, 4, none, NULL, wild, 4, NULL, wild, 4,
                             betas, z, at, 4, 2, &queue, NULL),
            0);
    assert_int_equal(clEnqueueReadBuffer(queue, z, CL_TRUE, 0, sizeof after, after, 0, NULL, NULL),
            0);
    for (size_t i = 0; i < 32; i++) {
        assert_true(after[i] == (i < 16 ? 2 : 3) * before[i]);
    }
    assert_int_equal(CLBlastSgemmBatched(ROW, NO, NO, 4, 4, 4, some, x, wild, 4, x, wild, 4, betas,
                             z, at, 4, 2, &queue, NULL),
            0);
    assert_int_equal(CLBlastSgemmBatched(ROW, NO, NO, 4, 4, 4, some, NULL, wild, 4, x, wild, 4,
                             betas, z, at, 4, 2, &queue, NULL),
            -1022);
    clReleaseMemObject(x), clReleaseMemObject(z);
}

/* What is wrong with A is found before anything is enqueued, though the first member reads none. */
static void a_later_member_may_be_wrong(void **state)
{
    const float alphas[] = { 0, 0, 1, 0 }, betas[] = { 5, 5, 5, 6 };
    const size_t at[] = { 0, 16, 32, 48 };
    static float before[64], after[64];
    cl_device_id device;
    (void) state;
    assert_int_equal(clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL),
            0);
    cl_context other = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    assert_non_null(other);
    cl_mem foreign = clCreateBuffer(other, CL_MEM_READ_WRITE, sizeof before, NULL, NULL);
    cl_mem x = floats(64, NULL), z = floats(64, before);
    assert_int_equal(CLBlastSgemmBatched(ROW, NO, NO, 4, 4, 4, alphas, foreign, at, 4, x, at, 4,
                             betas, z, at, 4, 4, &queue, NULL),
            CL_INVALID_MEM_OBJECT);
    assert_int_equal(clEnqueueReadBuffer(queue, z, CL_TRUE, 0, sizeof after, after, 0, NULL, NULL),
            0);
    assert_memory_equal(after, before, sizeof before);
    assert_int_equal(CLBlastSgemmBatched(ROW, NO, NO, 4, 4, 4, alphas, x, at, 4, x, at, 4, betas, z,
                             at, 4, 4, &queue, NULL),
            0);
    assert_int_equal(clEnqueueReadBuffer(queue, z, CL_TRUE, 0, sizeof after, after, 0, NULL, NULL),
            0);
    for (size_t i = 0; i < 64; i++) {
        assert_true(i / 16 == 2 || after[i] == betas[i / 16] * before[i]);
    }
    clReleaseMemObject(x), clReleaseMemObject(z), clReleaseMemObject(foreign);
    clReleaseContext(other);
}

static void tells_what_is_wrong(void **state)
{
    (void) state;
    cl_mem x = floats(64, NULL);
    cl_command_queue none = NULL;
#define SGEMM(m, n, k, a, a_ld, b, b_ld, c, c_offset, c_ld, q) \
    CLBlastSgemm(ROW, NO, NO, m, n, k, 1, a, 0, a_ld, b, 0, b_ld, 0, c, c_offset, c_ld, q, NULL)
    assert_int_equal(SGEMM(0, 8, 8, x, 8, x, 8, x, 0, 8, &queue), -1017);
    assert_int_equal(SGEMM(8, 0, 8, x, 8, x, 8, x, 0, 8, &queue), -1017);
    assert_int_equal(SGEMM(8, 8, 0, x, 8, x, 8, x, 0, 8, &queue), -1017);
    assert_int_equal(SGEMM(8, 8, 8, x, 7, x, 8, x, 0, 8, &queue), -1016);
    assert_int_equal(SGEMM(8, 8, 8, x, 0, x, 8, x, 0, 8, &queue), -1016);
    assert_int_equal(SGEMM(8, 8, 8, x, 8, x, 0, x, 0, 8, &queue), -1015);
    assert_int_equal(SGEMM(8, 8, 8, x, 8, x, 8, x, 0, 7, &queue), -1014);
    assert_int_equal(SGEMM(8, 8, 8, NULL, 8, x, 8, x, 0, 8, &queue), -1022);
    assert_int_equal(SGEMM(8, 8, 8, x, 8, NULL, 8, x, 0, 8, &queue), -1021);
    assert_int_equal(SGEMM(8, 8, 8, x, 8, x, 8, NULL, 0, 8, &queue), -1020);
    assert_int_equal(SGEMM(8, 8, 8, x, 9, x, 8, x, 0, 8, &queue), -1011);
    assert_int_equal(SGEMM(8, 8, 8, x, 8, x, 9, x, 0, 8, &queue), -1010);
    assert_int_equal(SGEMM(8, 8, 8, x, 8, x, 8, x, 1, 8, &queue), -1009);
    assert_int_equal(SGEMM(8, 8, 8, x, 8, x, 8, x, 0, 8, NULL), -36);
    assert_int_equal(SGEMM(8, 8, 8, x, 8, x, 8, x, 0, 8, &none), -36);
    assert_int_equal(
            CLBlastSgemm(0, NO, NO, 8, 8, 8, 1, x, 0, 8, x, 0, 8, 0, x, 0, 8, &queue, NULL), -30);
    assert_int_equal(CLBlastSsyrk(ROW, 0, NO, 8, 8, 1, x, 0, 8, 0, x, 0, 8, &queue, NULL), -30);
    assert_int_equal(CLBlastSsymm(ROW, 0, 121, 8, 8, 1, x, 0, 8, x, 0, 8, 0, x, 0, 8, &queue, NULL),
            -30);
    assert_int_equal(CLBlastFillCache(NULL), CL_INVALID_DEVICE);
    assert_int_equal(SGEMM(0, 8, 8, x, 8, x, 8, x, 0, 8, &none), -36);
    /* In a batch the number of members counts before their sizes. */
    const float one = 1;
    const size_t at = 0;
    size_t bytes = 1;
    assert_int_equal(CLBlastSgemmBatched(ROW, NO, NO, 0, 8, 8, &one, x, &at, 8, x, &at, 8, &one, x,
                             &at, 8, 0, &queue, NULL),
            -2049);
    assert_int_equal(CLBlastSgemmBatched(ROW, NO, NO, 0, 8, 8, &one, x, &at, 8, x, &at, 8, &one, x,
                             &at, 8, 1, &queue, NULL),
            -1017);
    /* The sizes and C's stride count before all else. */
#define STRIDED(m, a, a_ld, c_stride, num, q) \
    CLBlastSgemmStridedBatched(ROW, NO, NO, m, 4, 4, 1, a, 0, a_ld, 0, x, 0, 4, 0, 0, x, 0, 4, \
            c_stride, num, q, NULL)
    assert_int_equal(STRIDED(4, x, 4, 0, 0, &none), -36);
    assert_int_equal(STRIDED(0, x, 4, 0, 0, &queue), -2049);
    for (size_t num = 1; num < 4; num += 2) {
        assert_int_equal(STRIDED(4, x, 4, 0, num, &queue), -1017);
        assert_int_equal(STRIDED(0, x, 4, 0, num, &queue), -1017);
        assert_int_equal(STRIDED(0, x, 4, 16, num, &queue), -1017);
        assert_int_equal(STRIDED(4, x, 3, 0, num, &queue), -1017);
        assert_int_equal(STRIDED(4, NULL, 4, 0, num, &queue), -1017);
    }
    assert_int_equal(STRIDED(4, x, 3, 16, 3, &queue), -1016);
    /* Of a product that will be refused no temporary buffer is wanted. */
    assert_int_equal(
            CLBlastSGemmTempBufferSize(ROW, NO, NO, 0, 8, 8, 0, 8, 0, 8, 0, 8, &queue, &bytes), 0);
    assert_int_equal(bytes, 0);
    assert_int_equal(
            CLBlastSGemmTempBufferSize(ROW, NO, NO, 8, 8, 8, 0, 3, 0, 8, 0, 8, &queue, &bytes), 0);
    clReleaseMemObject(x);
}

enum { NUM_THREADS = 4, CALLS = 60, CLEARINGS = 30 };

static void *call_often(void *failures)
{
    static const float ones[4] = { 1, 1, 1, 1 };
    cl_int error;
    cl_device_id device;
    clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof device, &device, NULL);
    cl_command_queue own = clCreateCommandQueue(context, device, 0, &error);
    cl_mem x = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof ones,
            (void *) (uintptr_t) ones, &error);
    cl_mem z = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof ones, NULL, &error);
    for (int i = 0; i < CALLS; i++) {
        float c[4] = { 0 };
        *(int *) failures += CLBlastSgemm(ROW, NO, NO, 2, 2, 2, 1, x, 0, 2, x, 0, 2, 0, z, 0, 2,
                                     &own, NULL) != 0 ||
                             clEnqueueReadBuffer(own, z, CL_TRUE, 0, sizeof c, c, 0, NULL, NULL) !=
                                     0 ||
                             c[0] != 2 || c[3] != 2;
    }
    clReleaseMemObject(x);
    clReleaseMemObject(z);
    clReleaseCommandQueue(own);
    return NULL;
}

static void keeps_contexts_that_are_in_use(void **state)
{
    pthread_t threads[NUM_THREADS];
    int failures[NUM_THREADS] = { 0 };
    (void) state;
    for (int i = 0; i < NUM_THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, &failures[i]), 0);
    }
    for (int i = 0; i < CLEARINGS; i++) {
        assert_int_equal(CLBlastClearCache(), 0);
    }
    for (int i = 0; i < NUM_THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(failures[i], 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(multiplies_halves),
        cmocka_unit_test(multiplies_members_that_lie_anywhere),
        cmocka_unit_test(multiplies_strided_members_side_by_side),
        cmocka_unit_test(multiplies_strided_members_that_overlap),
        cmocka_unit_test(checks_all_members_before_any),
        cmocka_unit_test(takes_temporary_buffers),
        cmocka_unit_test(temporary_buffers_do_for_all_scalars),
        cmocka_unit_test(members_of_alpha_0_read_nothing),
        cmocka_unit_test(a_later_member_may_be_wrong),
        cmocka_unit_test(tells_what_is_wrong),
        cmocka_unit_test(keeps_contexts_that_are_in_use),
    };
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;
    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
            clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
        return 77;
    }
    context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    queue = clCreateCommandQueue(context, device, 0, NULL);
    reading = clCreateCommandQueue(context, device, 0, NULL);
    unordered = clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
            &error);
    unordered = unordered != NULL ? unordered : queue;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
