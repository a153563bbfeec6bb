/* selftest.c: multiplies small integer matrices on the device and compares exactly.
 *
 * It catches a driver that miscompiles a kernel, at the price of building one recipe for each
 * precision and transpose pair. All values are small integers, which every precision holds exactly,
 * so that any difference is an error. No extent is a multiple of a tile.
 */
#include "element.h"
#include "internal.h"

#include <stdlib.h>
#include <string.h>

enum { TEST_M = 7, TEST_N = 5, TEST_K = 21, TEST_MOST = TEST_K * TEST_M };

struct test {
    struct kiln_context *context;
    cl_command_queue queue;
    const struct kiln_precision_facts *precision;
    unsigned transa, transb;
};

/* Small integers without a pattern that a wrong index could keep. */
static int value_a(size_t i, size_t p)
{
    return (int)((i * 5 + p * 3) % 7) - 3;
}

static int value_b(size_t p, size_t j)
{
    return (int)((p * 2 + j * 11) % 5) - 2;
}

static int value_c(size_t i, size_t j)
{
    return (int)((i * 3 + j) % 9) - 4;
}

/* 2 A B + 3 C. Beta is positive so that no exact 0 turns out as -0. */
static int expected(size_t i, size_t j)
{
    int sum = 0;
    for (size_t p = 0; p < TEST_K; p++) {
        sum += value_a(i, p) * value_b(p, j);
    }
    return 2 * sum + 3 * value_c(i, j);
}

/* Stores value(i, j) for a matrix of rows x columns, transposed in memory or not. Cold: small
 * rather than fast. */
__attribute__((cold))
static void fill(const struct kiln_precision_facts *precision, void *matrix, size_t rows,
        size_t columns, bool transposed, int (*value)(size_t i, size_t j))
{
    size_t bytes = precision->element_bytes;
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < columns; j++) {
            size_t index = transposed ? j * rows + i : i * columns + j;
            kiln_element_store((unsigned char *)matrix + index * bytes, bytes, value(i, j));
        }
    }
}

static cl_mem matrix_buffer(const struct test *test, size_t rows, size_t columns, bool transposed,
        int (*value)(size_t i, size_t j), cl_int *error)
{
    double matrix[TEST_MOST];
    fill(test->precision, matrix, rows, columns, transposed, value);
    return clCreateBuffer(test->context->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
            rows * columns * test->precision->element_bytes, matrix, error);
}

static enum kiln_status multiply(const struct test *test, cl_mem a, cl_mem b, cl_mem c)
{
    const struct kiln_gemm gemm = {
        .precision = kiln_precision_of_call(test->precision->precision),
        .arithmetic = kiln_arithmetic_of_call(test->precision->precision),
        .transa = test->transa ? KILN_TRANS : KILN_NO_TRANS,
        .transb = test->transb ? KILN_TRANS : KILN_NO_TRANS,
        .m = TEST_M, .n = TEST_N, .k = TEST_K, .alpha = 2, .beta = 3,
        .a = a, .b = b, .c = c,
    };
    return kiln_gemm_enqueue(test->context, &gemm, test->queue, 0, NULL, NULL);
}

static enum kiln_status compare(const struct test *test, cl_mem c)
{
    double wanted[TEST_MOST], found[TEST_MOST];
    size_t bytes = TEST_M * TEST_N * test->precision->element_bytes;
    fill(test->precision, wanted, TEST_M, TEST_N, false, expected);
    cl_int error = clEnqueueReadBuffer(test->queue, c, CL_TRUE, 0, bytes, found, 0, NULL, NULL);
    if (error != CL_SUCCESS) {
        return (enum kiln_status)error;
    }
    return memcmp(wanted, found, bytes) == 0 ? KILN_SUCCESS : KILN_SELF_TEST_FAILED;
}

static void release(cl_mem buffer)
{
    if (buffer != NULL) {
        clReleaseMemObject(buffer);
    }
}

static enum kiln_status test_one(const struct test *test)
{
    cl_int errors[3] = {CL_SUCCESS, CL_SUCCESS, CL_SUCCESS};
    enum kiln_status status = KILN_SUCCESS;
    cl_mem a = matrix_buffer(test, TEST_M, TEST_K, test->transa, value_a, &errors[0]);
    cl_mem b = matrix_buffer(test, TEST_K, TEST_N, test->transb, value_b, &errors[1]);
    cl_mem c = matrix_buffer(test, TEST_M, TEST_N, false, value_c, &errors[2]);
    for (unsigned i = 0; i < 3 && status == KILN_SUCCESS; i++) {
        status = (enum kiln_status)errors[i];
    }
    if (status == KILN_SUCCESS) {
        status = multiply(test, a, b, c);
    }
    if (status == KILN_SUCCESS) {
        status = compare(test, c);
    }
    release(a);
    release(b);
    release(c);
    return status;
}

/* A bundle may leave a precision out altogether. */
static bool is_served(const struct kiln_context *context, unsigned precision)
{
    if (precision == KILN_EMULATED) {
        return context->has_emulation;
    }
    /* Complex products are real ones. */
    if (kiln_precision_is_complex(precision) || !kiln_precision_runs(precision, &context->facts)) {
        return false;
    }
    for (unsigned i = 0; i < context->num_links; i++) {
        const struct kiln_bundle *bundle = context->links[i].bundle;
        for (uint32_t r = 0; r < bundle->num_recipes; r++) {
            if (bundle->recipes[r].precision == precision) {
                return true;
            }
        }
    }
    return false;
}

static enum kiln_status test_all(struct kiln_context *context, cl_command_queue queue)
{
    for (size_t i = 0; i < KILN_NUM_PRECISIONS; i++) {
        const struct kiln_precision_facts *precision = &kiln_precisions[i];
        context->emulates_only = precision->precision == KILN_EMULATED;
        for (unsigned trans = 0; is_served(context, precision->precision) && trans < 4; trans++) {
            const struct test test = {context, queue, precision, trans / 2, trans % 2};
            enum kiln_status status = test_one(&test);
            if (status != KILN_SUCCESS) {
                kiln_log(context, "self-test: ", kiln_status_string(status), NULL);
                return status;
            }
        }
    }
    return KILN_SUCCESS;
}

enum kiln_status kiln_self_test(struct kiln_context *context)
{
    cl_int error = CL_SUCCESS;
    cl_command_queue queue = clCreateCommandQueue(context->context, context->device, 0, &error);
    if (queue == NULL) {
        return (enum kiln_status)error;
    }
    enum kiln_status status = test_all(context, queue);
    context->emulates_only = false;
    kiln_spaces_free(context->spaces); /* nobody else has the context yet: all are its queue's */
    context->spaces = NULL;
    context->num_spaces = 0;
    clReleaseCommandQueue(queue);
    return status;
}
