/* special.c: see checks.h. */
#include "checks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NUM_SCALARS = 9, NUM_SUMS = 6, NUM_C = 8 };

/* Tiny and huge are such that sums times huge overflow only where a part of a sum does so too. */
static double scalar(const struct precision *precision, int i)
{
    const double tiny = precision->real_bytes == 8 ? 1e-300 : 1e-30;
    const double huge_one = precision->real_bytes == 8 ? 1e308 : 2e38;
    const double scalars[NUM_SCALARS] = { 0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, tiny,
        huge_one };
    return scalars[i];
}

static double c_before(size_t i, size_t j)
{
    static const double values[NUM_C] = { 0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 0.5 };
    return values[(i / NUM_SUMS + j) % NUM_C];
}

/* op(B) is all ones; a row of op(A) adds up to one of these. The first has 4 at the one end of K
 * and -3 at the other, which belong to different parts where K is cut. */
static double sum_of(const struct verify_case *of, size_t i)
{
    static const double sums[NUM_SUMS] = { 1, 0, 2, -1, INFINITY, -2 };
    return of->k < 2 ? 0 : sums[i % NUM_SUMS];
}

static void fill(struct plain *plain)
{
    const struct verify_case *of = plain->of;
    for (size_t p = 0; p < of->k; p++) {
        for (size_t i = 0; i < of->m; i++)
            plain_set_a(plain, i, p, 0);
        for (size_t j = 0; j < of->n; j++)
            plain_set_b(plain, p, j, 1);
    }
    for (size_t i = 0; i < of->m && of->k >= 2; i++) {
        plain_set_a(plain, i, of->k / 2, sum_of(of, i));
        if (i % NUM_SUMS == 0) {
            plain_set_a(plain, i, of->k / 2, 0);
            plain_set_a(plain, i, 0, 4);
            plain_set_a(plain, i, of->k - 1, -3);
        }
    }
}

/* What plain arithmetic makes of an element: products and sums may be fused, either of the two. */
static void wanted_values(const struct verify_case *of, size_t i, size_t j, double wanted[3])
{
    const double alpha = of->alpha, beta = of->beta, sum = sum_of(of, i), c = c_before(i, j);
    const bool is_double = of->problem.precision->real_bytes == 8;
    const float a = (float) alpha, b = (float) beta, s = (float) sum, d = (float) c;
    const double product = is_double ? alpha * sum : (double) (a * s);
    const double old = is_double ? beta * c : (double) (b * d);
    if (alpha == 0 || of->k == 0 || beta == 0) {
        const bool is_dropped = alpha == 0 || of->k == 0;
        const double only = is_dropped ? (beta == 0 ? 0.0 : old) : product;
        wanted[0] = wanted[1] = wanted[2] = only;
        return;
    }
    wanted[0] = is_double ? product + old : (double) ((float) product + (float) old);
    wanted[1] = is_double ? fma(alpha, sum, old) : (double) fmaf(a, s, (float) old);
    wanted[2] = is_double ? fma(beta, c, product) : (double) fmaf(b, d, (float) product);
}

static bool is_one_of(const struct matrix *c, size_t i, size_t j, const double wanted[3])
{
    bool found = false;
    for (int w = 0; w < 3; w++)
        found = found ||
                (isnan(wanted[w]) ? isnan(matrix_get(c, i, j)) != 0
                                  : matrix_bits(c, i, j) == matrix_bits_of(c->storage, wanted[w]));
    return found;
}

static enum verify_verdict judge(const struct plain *plain, char message[VERIFY_MESSAGE_BYTES])
{
    const struct verify_case *of = plain->of;
    for (size_t i = 0; i < of->m; i++)
        for (size_t j = 0; j < of->n; j++) {
            double wanted[3];
            wanted_values(of, i, j, wanted);
            if (is_one_of(&plain->c, i, j, wanted))
                continue;
            snprintf(message, VERIFY_MESSAGE_BYTES,
                    "C[%zu][%zu] is %g, not %g = %g * %g + %g * %g; %zu x %zu x %zu", i, j,
                    matrix_get(&plain->c, i, j), wanted[0], of->alpha, sum_of(of, i), of->beta,
                    c_before(i, j), of->m, of->n, of->k);
            return VERIFY_WRONG;
        }
    return VERIFY_OK;
}

static enum verify_verdict run_pair(struct plain *plain, struct verifier *verifier,
        struct kiln_context *context, const cl_mem buffers[3], char message[VERIFY_MESSAGE_BYTES])
{
    const struct verify_case *of = plain->of;
    const struct kiln_gemm gemm = plain_gemm(plain, buffers);
    matrix_poison(&plain->c);
    for (size_t i = 0; i < of->m; i++)
        for (size_t j = 0; j < of->n; j++)
            matrix_set(&plain->c, i, j, c_before(i, j));
    enum kiln_status status = (enum kiln_status) clEnqueueWriteBuffer(verifier->launcher->queue,
            buffers[2], CL_TRUE, 0, plain_bytes(&plain->c), plain_begin(&plain->c), 0, NULL, NULL);
    if (status == KILN_SUCCESS)
        status = plain_run(plain, verifier, context, &gemm);
    if (status == KILN_SUCCESS)
        return judge(plain, message);
    snprintf(message, VERIFY_MESSAGE_BYTES, "%s", kiln_status_string(status));
    return VERIFY_FAILED;
}

/* All pairs at the case's k, or at 0. */
static enum verify_verdict run_pairs(struct verify_case *of, struct verifier *verifier,
        struct kiln_context *context, char message[VERIFY_MESSAGE_BYTES])
{
    struct plain plain;
    cl_mem buffers[3] = { NULL };
    enum verify_verdict verdict = VERIFY_IMPOSSIBLE;
    snprintf(message, VERIFY_MESSAGE_BYTES, "out of memory");
    if (plain_init(&plain, of)) {
        const struct matrix *const matrices[3] = { &plain.a, &plain.b, &plain.c };
        fill(&plain);
        for (int i = 0; i < 3; i++)
            buffers[i] = clCreateBuffer(verifier->launcher->context,
                    CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, plain_bytes(matrices[i]),
                    plain_begin(matrices[i]), NULL);
        verdict = buffers[0] && buffers[1] && buffers[2] ? VERIFY_OK : VERIFY_IMPOSSIBLE;
    }
    for (int i = 0; i < NUM_SCALARS * NUM_SCALARS && verdict == VERIFY_OK; i++) {
        of->alpha = scalar(of->problem.precision, i / NUM_SCALARS);
        of->beta = scalar(of->problem.precision, i % NUM_SCALARS);
        message[0] = '\0';
        verdict = run_pair(&plain, verifier, context, buffers, message);
    }
    for (int i = 0; i < 3; i++)
        if (buffers[i])
            clReleaseMemObject(buffers[i]);
    plain_free(&plain);
    return verdict;
}

enum verify_verdict check_special_values(struct verifier *verifier, struct kiln_context *context,
        const struct verify_case *given, char message[VERIFY_MESSAGE_BYTES])
{
    struct verify_case of = *given;
    enum verify_verdict verdict = run_pairs(&of, verifier, context, message);
    of.k = 0;
    if (verdict == VERIFY_OK)
        verdict = run_pairs(&of, verifier, context, message);
    return verdict;
}
