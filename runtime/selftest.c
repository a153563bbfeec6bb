/* selftest.c: multiplies small integer matrices on the device and compares exactly.
 *
 * It catches a driver that miscompiles a kernel, at the price of building one recipe for each
 * precision and transpose pair, and one more for triangles. All values are small integers, which
 * every precision holds exactly, so that any difference is an error. No extent is a multiple of a
 * tile.
 */
#include "element.h"
#include "internal.h"

#include <stdlib.h>
#include <string.h>

enum { TEST_M = 7, TEST_N = 5, TEST_K = 21, TEST_MOST = 2 * TEST_K * TEST_M };

struct test {
    struct kiln_context *context;
    cl_command_queue queue;
    const struct kiln_precision_facts *precision;
    unsigned transa, transb;
    bool is_triangle;                  /* A is Hermitian, its lower triangle stored, and so is the
                                          upper one of C; all matrices have TEST_M rows */
};

/* A number, whose imaginary part counts in complex precisions alone. */
struct number {
    int re, im;
};

static struct number number_of(int re, int im)
{
    const struct number made = { re, im };
    return made;
}

static struct number number_times(struct number x, struct number y)
{
    return number_of(x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re);
}

static struct number number_plus(struct number x, struct number y)
{
    return number_of(x.re + y.re, x.im + y.im);
}

static size_t columns_of(const struct test *test)
{
    return test->is_triangle ? TEST_M : TEST_N;
}

static size_t depth_of(const struct test *test)
{
    return test->is_triangle ? TEST_M : TEST_K;
}

/* Small integers, in no pattern that a wrong index would keep. */
static struct number value(const struct test *test, unsigned seed, size_t i, size_t j)
{
    const bool is_complex = kiln_precision_is_complex(test->precision->precision);
    return number_of((int) ((i * (5 + seed) + j * 3) % 7) - 3,
            is_complex ? (int) ((i * 2 + j * (11 + seed)) % 5) - 2 : 0);
}

static struct number value_a(const struct test *test, size_t i, size_t p)
{
    if (!test->is_triangle) {
        return value(test, 0, i, p);
    }
    const struct number x = value(test, 0, i > p ? i : p, i > p ? p : i);
    return number_of(x.re, i == p ? 0 : i < p ? -x.im : x.im);
}

static struct number value_b(const struct test *test, size_t p, size_t j)
{
    return value(test, 1, p, j);
}

static struct number value_c(const struct test *test, size_t i, size_t j)
{
    const struct number x = value(test, 2, i, j);
    return number_of(x.re, test->is_triangle && i == j ? 0 : x.im);
}

/* What A holds. Where one triangle is stored, something else is in the other one. */
static struct number stored_a(const struct test *test, size_t i, size_t p)
{
    return test->is_triangle && p > i ? value(test, 3, i, p) : value_a(test, i, p);
}

/* Alpha and beta. Beta is positive so that no exact 0 turns out as -0, and real where C is
 * Hermitian. */
static struct number factor(const struct test *test, int re)
{
    const bool is_complex = kiln_precision_is_complex(test->precision->precision);
    return number_of(re, is_complex && !test->is_triangle ? 1 : 0);
}

/* alpha A B + beta C, or what C holds. */
static struct number expected(const struct test *test, size_t i, size_t j)
{
    struct number sum = { 0, 0 };
    if (test->is_triangle && j < i) {
        return value_c(test, i, j);
    }
    for (size_t p = 0; p < depth_of(test); p++) {
        sum = number_plus(sum, number_times(value_a(test, i, p), value_b(test, p, j)));
    }
    sum = number_plus(number_times(factor(test, 2), sum),
            number_times(factor(test, 3), value_c(test, i, j)));
    return number_of(sum.re, test->is_triangle && i == j ? 0 : sum.im);
}

/* Stores element(i, j) for a matrix of rows x columns, transposed in memory or not. Cold: small
 * rather than fast. */
__attribute__((cold))
static void fill(const struct test *test, void *matrix, size_t rows, size_t columns,
        bool transposed,
        struct number (*element)(const struct test *test, size_t i, size_t j))
{
    const size_t bytes = kiln_element_bytes(test->precision->precision);
    const enum kiln_storage storage = kiln_precision_storage(test->precision->precision);
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < columns; j++) {
            unsigned char *at = (unsigned char *) matrix +
                                (transposed ? j * rows + i : i * columns + j) * bytes;
            const struct number x = element(test, i, j);
            kiln_real_put(storage, at, x.re);
            if (kiln_precision_is_complex(test->precision->precision)) {
                kiln_real_put(storage, at + bytes / 2, x.im);
            }
        }
    }
}

static cl_mem matrix_buffer(const struct test *test, size_t rows, size_t columns, bool transposed,
        struct number (*element)(const struct test *test, size_t i, size_t j), cl_int *error)
{
    double matrix[TEST_MOST];
    fill(test, matrix, rows, columns, transposed, element);
    return clCreateBuffer(test->context->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
            rows * columns * kiln_element_bytes(test->precision->precision), matrix, error);
}

static enum kiln_status multiply(const struct test *test, cl_mem a, cl_mem b, cl_mem c)
{
    const struct number alpha = factor(test, 2), beta = factor(test, 3);
    struct kiln_gemm gemm = {
        .precision = kiln_precision_of_call(test->precision->precision),
        .transa = test->transa ? KILN_TRANS : KILN_NO_TRANS,
        .transb = test->transb ? KILN_TRANS : KILN_NO_TRANS,
        .m = TEST_M,
        .n = columns_of(test),
        .k = depth_of(test),
        .alpha = (double) alpha.re,
        .beta = (double) beta.re,
        .alpha_imag = (double) alpha.im,
        .beta_imag = (double) beta.im,
        .a = a,
        .b = b,
        .c = c,
        .arithmetic = kiln_arithmetic_of_call(test->precision->precision),
    };
    if (test->is_triangle) {
        gemm.uplo_a = KILN_LOWER;
        gemm.uplo_c = KILN_UPPER;
        gemm.hermitian = 1;
    }
    return kiln_gemm_enqueue(test->context, &gemm, test->queue, 0, NULL, NULL);
}

static enum kiln_status compare(const struct test *test, cl_mem c)
{
    double wanted[TEST_MOST], found[TEST_MOST];
    size_t bytes = TEST_M * columns_of(test) * kiln_element_bytes(test->precision->precision);
    fill(test, wanted, TEST_M, columns_of(test), false, expected);
    cl_int error = clEnqueueReadBuffer(test->queue, c, CL_TRUE, 0, bytes, found, 0, NULL, NULL);
    if (error != CL_SUCCESS) {
        return (enum kiln_status) error;
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
    cl_int errors[3] = { CL_SUCCESS, CL_SUCCESS, CL_SUCCESS };
    enum kiln_status status = KILN_SUCCESS;
    const size_t n = columns_of(test), k = depth_of(test);
    cl_mem a = matrix_buffer(test, TEST_M, k, test->transa, stored_a, &errors[0]);
    cl_mem b = matrix_buffer(test, k, n, test->transb, value_b, &errors[1]);
    cl_mem c = matrix_buffer(test, TEST_M, n, false, value_c, &errors[2]);
    for (unsigned i = 0; i < 3 && status == KILN_SUCCESS; i++) {
        status = (enum kiln_status) errors[i];
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

/* A bundle may leave a precision out altogether, and so may a device. */
static bool is_served(const struct kiln_context *context, unsigned precision)
{
    if (precision == KILN_EMULATED) {
        return context->has_emulation;
    }
    if (!kiln_precision_runs(precision, &context->facts)) {
        return false;
    }
    for (unsigned i = 0; i < context->num_links; i++) {
        const struct kiln_link *link = &context->links[i];
        for (uint32_t r = 0; r < link->num_recipes; r++) {
            if (link->bundle->recipes[r].precision == precision && !link->left_out[r]) {
                return true;
            }
        }
    }
    return false;
}

static enum kiln_status test_all(struct kiln_context *context, cl_command_queue queue)
{
    for (size_t i = 0; i < KILN_NUM_PRECISIONS; i++) {
        const struct kiln_precision_facts *precision = kiln_precision_at(i);
        context->emulates_only = precision->precision == KILN_EMULATED;
        for (unsigned t = 0; is_served(context, precision->precision) && t <= 4; t++) {
            const struct test test = { context, queue, precision, t / 2 % 2, t % 2, t == 4 };
            enum kiln_status status = test_one(&test);
            /* A bundle may have nothing for triangles. */
            if (status != KILN_SUCCESS &&
                    !(test.is_triangle && status == kiln_nothing_serves(context))) {
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
        return (enum kiln_status) error;
    }
    enum kiln_status status = test_all(context, queue);
    context->emulates_only = false;
    kiln_workspaces_free(
            context->workspaces); /* nobody else has the context yet: all are its queue's */
    context->workspaces = NULL;
    context->num_workspaces = 0;
    clReleaseCommandQueue(queue);
    return status;
}
