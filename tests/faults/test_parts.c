/* test_parts.c: complex products in which one call to OpenCL or to the allocator fails, each in its
 * turn. A bundle that has no recipe of its own for them (tests/runtime/forms_real.tsv) does such a
 * product by two that share a workspace, or by three where one triangle of A is stored. What
 * succeeds in spite of the failure must be right, and what does not must leave C alone, unless beta
 * is no real number. All is given back in the end. In the short form every seventh call fails,
 * other ones for each kind of product and of failure; where the calls of one function alone fail,
 * which are few, every one.
 */
#include "setup.h"
#include "wrap.h"

#include <stdio.h>
#include <string.h>

extern const struct kiln_bundle kiln_bundle_forms_real;

enum { M = 20, N = 12, K = 24, BATCH = 2, MOST_CALLS = 400, SHORT_STRIDE = 7 };

/* A real beta, one that is not, and a Hermitian A of K x K. */
enum form { PLAIN, TURNED, HERMITIAN, NUM_FORMS };

/* Elements are whole numbers, so that results are exact. */
struct matrices {
    cl_float2 a[K * K], b[K * N], c[BATCH * K * N], right[BATCH * K * N];
};

static const double alpha = 2, beta = 3;

static cl_float2 number(size_t i)
{
    return (cl_float2){ { (float) (i * 7 % 5) - 2, (float) (i * 11 % 7) - 3 } };
}

static cl_float2 sum_of(cl_float2 x, cl_float2 y, cl_float2 z)
{
    return (cl_float2){ { z.s[0] + x.s[0] * y.s[0] - x.s[1] * y.s[1],
            z.s[1] + x.s[0] * y.s[1] + x.s[1] * y.s[0] } };
}

static size_t rows_of(enum form form)
{
    return form == HERMITIAN ? K : M;
}

/* Element (row, p) of A^H, or of A of which the lower triangle is stored. */
static cl_float2 element_of_a(const struct matrices *x, enum form form, size_t row, size_t p)
{
    if (form == HERMITIAN && p <= row) {
        const cl_float2 a = x->a[row * K + p];
        return (cl_float2){ { a.s[0], p < row ? a.s[1] : 0 } };
    }
    const cl_float2 a = x->a[p * rows_of(form) + row];
    return (cl_float2){ { a.s[0], -a.s[1] } };
}

/* C = alpha A^H B + beta C, of both members, which share A and B. */
static void fill(enum form form, struct matrices *x)
{
    const cl_float2 none = { { 0, 0 } }, factor = { { (float) beta, form == TURNED ? 1 : 0 } };
    const size_t rows = rows_of(form);
    for (size_t i = 0; i < K * K; i++) {
        x->a[i] = number(i);
    }
    for (size_t i = 0; i < K * N; i++) {
        x->b[i] = number(i + 3);
    }
    for (size_t i = 0; i < BATCH * rows * N; i++) {
        const size_t row = i / N % rows, column = i % N;
        cl_float2 sum = none;
        for (size_t p = 0; p < K; p++) {
            sum = sum_of(element_of_a(x, form, row, p), x->b[p * N + column], sum);
        }
        x->c[i] = number(i + 5);
        x->right[i] = sum_of(factor, x->c[i],
                (cl_float2){ { (float) alpha * sum.s[0], (float) alpha * sum.s[1] } });
    }
}

/* Returns whether a call failed. */
static bool run(const struct setup *setup, const struct fault *fault, enum form form,
        unsigned *failures)
{
    static struct matrices x;
    static cl_float2 result[BATCH * K * N];
    const size_t rows = rows_of(form), bytes = rows * N * sizeof *result;
    fill(form, &x);
    wrap_begin_quietly();
    struct kiln_context *kiln = setup_kiln(setup, &kiln_bundle_forms_real);
    wrap_end();
    struct kiln_gemm gemm = {
        .precision = KILN_COMPLEX_SINGLE,
        .m = rows,
        .n = N,
        .k = K,
        .transa = form == HERMITIAN ? KILN_NO_TRANS : KILN_CONJ_TRANS,
        .uplo_a = form == HERMITIAN ? KILN_LOWER : (enum kiln_uplo) 0,
        .hermitian = 1,
        .alpha = alpha,
        .beta = beta,
        .beta_imag = form == TURNED ? 1 : 0,
        .a = setup_buffer(setup, sizeof x.a, x.a),
        .b = setup_buffer(setup, sizeof x.b, x.b),
        .c = setup_buffer(setup, sizeof x.c, x.c),
        .batch_count = BATCH,
        .c_stride = rows * N,
    };
    wrap_begin(fault);
    const enum kiln_status status = kiln_gemm_enqueue(kiln, &gemm, setup->queue, 0, NULL, NULL);
    const struct wrap_report report = wrap_end();
    need(clFinish(setup->queue) == CL_SUCCESS, "clFinish");
    setup_read(setup, gemm.c, sizeof result, result);
    const bool is_right = memcmp(result, x.right, BATCH * bytes) == 0;
    const bool is_first = memcmp(result, x.right, bytes) == 0 &&
                          memcmp(result + rows * N, x.c + rows * N, bytes) == 0;
    const bool is_old = memcmp(result, x.c, BATCH * bytes) == 0;
    if (status == KILN_SUCCESS ? !is_right : form != TURNED && !is_old && !is_first) {
        printf("FAILED: form %d, call %lu (%s): %s, and C is %s\n", (int) form, fault->at,
                report.failed != NULL ? report.failed : "none", kiln_status_string(status),
                is_old ? "as it was" : "wrong");
        ++*failures;
    }
    clReleaseMemObject(gemm.a);
    clReleaseMemObject(gemm.b);
    clReleaseMemObject(gemm.c);
    wrap_begin_quietly();
    kiln_context_destroy(&kiln);
    wrap_end();
    return report.failed != NULL;
}

int main(int argc, char **argv)
{
    static const char *const only[] = { "clEnqueueNDRangeKernel", "clCreateBuffer", NULL };
    const struct options options = options_of(argc, argv);
    struct setup setup;
    unsigned failures = 0, num = 0;
    wrap_enter_thread();
    setup_open(&options, &setup);
    for (unsigned i = 0; i < NUM_FORMS * NUM_FAULT_KINDS * (sizeof only / sizeof *only); i++) {
        struct fault fault = {
            .kind = (enum fault_kind)(i / NUM_FORMS % NUM_FAULT_KINDS),
            .only = only[i / NUM_FORMS / NUM_FAULT_KINDS],
        };
        bool goes_on = true;
        const unsigned stride = options.whole || fault.only ? 1 : SHORT_STRIDE;
        const unsigned before = num;
        for (fault.at = 1 + i % stride; goes_on && fault.at < MOST_CALLS; fault.at += stride) {
            goes_on = run(&setup, &fault, (enum form)(i % NUM_FORMS), &failures);
            num += goes_on;
        }
        if (num == before) {
            printf("FAILED: form %u, %s: no call failed\n", i % NUM_FORMS,
                    fault.only ? fault.only : "any");
            failures++;
        }
    }
    setup_close(&setup);
    if (wrap_held() != 0 || wrap_given_too_often() != 0 || wrap_allocated() != 0) {
        printf("FAILED: %ld references held, %ld given back too often, %ld allocations left\n",
                wrap_held(), wrap_given_too_often(), wrap_allocated());
        failures++;
    }
    printf("%u calls, %u failures\n", num, failures);
    return failures == 0 ? 0 : 1;
}
