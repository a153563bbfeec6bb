/* test_special.c: every recipe of the linked bundles with values that arithmetic treats in a way of
 * its own, compared with what BLAS makes of them:
 * - alpha of 0, or k of 0: A and B are not read, and C becomes beta C, the sign of a 0 included;
 * - beta of 0: C is not read;
 * - else C is alpha times the whole sum, plus beta C, by plain arithmetic. Whether the product and
 *   the sum are rounded once or twice is left open.
 * Beyond the matrices lie NaNs, which must reach nothing.
 */
#include "setup.h"
#include "element.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAD = 3, OFFSET = 5, NUM_PLACES = 3 };

/* What A, B and C hold. The element that is unlike the others lies first, in the middle or last. */
enum content {
    ORDINARY,                          /* small integers of both signs */
    CANCELLING,                        /* a sum of 1 whose parts are 4 and -3, far apart */
    A_IS_INFINITE, A_IS_NAN, B_IS_INFINITE, B_IS_NAN, C_IS_INFINITE, C_IS_NAN,    /* in one place */
    ALL_ARE_NAN,                       /* A and B */
    C_IS_MINUS_ZERO, C_IS_ZERO
};

static const char *const content_names[] = {
    "ordinary", "cancelling", "infinity in A", "NaN in A", "infinity in B", "NaN in B",
    "infinity in C", "NaN in C", "A and B NaN", "C of -0", "C of 0"
};

struct test {
    struct setup setup;
    struct kiln_context *kiln;
    const struct kiln_recipe *recipe;
    struct kiln_gemm gemm;
    enum content content;
    unsigned place;
    unsigned num_served;
    double *a, *b, *c, *sums;          /* op(A), op(B), C, op(A) op(B); dense */
    unsigned char *image, *found;      /* of C */
};

static struct test test;
static bool is_open;

/* ---- The values ---- */

static size_t place_in(size_t extent)
{
    return test.place == 0 ? 0 : test.place == 1 ? extent / 2 : extent - 1;
}

static bool is_place(size_t i, size_t rows, size_t j, size_t columns)
{
    return i == place_in(rows) && j == place_in(columns);
}

static double value_a(size_t i, size_t p)
{
    const size_t m = test.gemm.m, k = test.gemm.k;
    switch (test.content) {
    case CANCELLING: return p == 0 ? 4 : p == k - 1 ? -3 : 0;
    case A_IS_INFINITE: return is_place(i, m, p, k) ? INFINITY : 1 + (double) ((i + p) % 2);
    case A_IS_NAN: return is_place(i, m, p, k) ? NAN : 1 + (double) ((i + p) % 2);
    case B_IS_INFINITE: return 1 + (double) ((i + p) % 2);
    case ALL_ARE_NAN: return NAN;
    default: return (double) ((i * 7 + p * 3) % 5) - 2;
    }
}

static double value_b(size_t p, size_t j)
{
    const size_t k = test.gemm.k, n = test.gemm.n;
    switch (test.content) {
    case CANCELLING: return 1;
    case A_IS_INFINITE: return 1 + (double) ((p + j) % 2);
    case B_IS_INFINITE: return is_place(p, k, j, n) ? INFINITY : 1 + (double) ((p + j) % 2);
    case B_IS_NAN: return is_place(p, k, j, n) ? NAN : 1 + (double) ((p + j) % 2);
    case ALL_ARE_NAN: return NAN;
    default: return (double) ((p * 5 + j * 2) % 7) - 3;
    }
}

static double value_c(size_t i, size_t j)
{
    const bool is_here = is_place(i, test.gemm.m, j, test.gemm.n);
    switch (test.content) {
    case C_IS_INFINITE: return is_here ? INFINITY : 1;
    case C_IS_NAN: return is_here ? NAN : 1;
    case C_IS_MINUS_ZERO: return -0.0;
    case C_IS_ZERO: return 0;
    default: return (double) ((i * 3 + j) % 9) - 4;
    }
}

static void fill_dense(void)
{
    const size_t m = test.gemm.m, n = test.gemm.n, k = test.gemm.k;
    for (size_t i = 0; i < m * k; i++) {
        test.a[i] = value_a(i / k, i % k);
    }
    for (size_t i = 0; i < k * n; i++) {
        test.b[i] = value_b(i / n, i % n);
    }
    for (size_t i = 0; i < m * n; i++) {
        test.c[i] = value_c(i / n, i % n);
        test.sums[i] = 0;
        for (size_t p = 0; p < k; p++) {
            test.sums[i] += test.a[i / n * k + p] * test.b[p * n + i % n];
        }
    }
}

/* ---- What BLAS gives ---- */

/* A value in the precision that alpha, beta and the sums have, and in that of C. */
static double as_real(double value)
{
    return test.gemm.precision == KILN_DOUBLE ? value : (double) (float) value;
}

static double as_element(double value)
{
    uint64_t bits = 0;
    element_set(test.gemm.precision, &bits, 0, value);
    return element_get(test.gemm.precision, &bits, 0);
}

static double fused(double a, double b, double c)
{
    return test.gemm.precision == KILN_DOUBLE ? fma(a, b, c)
                                              : (double) fmaf((float) a, (float) b, (float) c);
}

static bool is_same(double a, double b, bool with_sign)
{
    if (isnan(a) || isnan(b)) {
        return isnan(a) && isnan(b);
    }
    return a == b && (a != 0 || !with_sign || signbit(a) == signbit(b));
}

static bool is_right(double sum, double c, double found)
{
    const double alpha = as_real(test.gemm.alpha), beta = as_real(test.gemm.beta);
    const double scaled = as_real(alpha * sum), added = as_real(beta * c);
    if (alpha == 0 || test.gemm.k == 0) {
        return is_same(found, beta == 0 ? 0 : beta == 1 ? c : as_element(added), true);
    }
    if (beta == 0) {
        return is_same(found, as_element(scaled), false);
    }
    return is_same(found, as_element(as_real(scaled + added)), false) ||
           is_same(found, as_element(fused(alpha, sum, added)), false) ||
           is_same(found, as_element(fused(beta, c, scaled)), false);
}

/* ---- Calls ---- */

static size_t image_bytes(size_t rows, size_t ld)
{
    return (OFFSET + rows * ld) * (kiln_element_bytes(test.recipe->precision));
}

/* NaNs, and in them a dense matrix, perhaps transposed. */
static unsigned char *image_of(const double *values, size_t rows, size_t columns, size_t ld,
        bool transposed)
{
    unsigned char *image = malloc(image_bytes(rows, ld));
    need(image != NULL, "memory");
    memset(image, 0xff, image_bytes(rows, ld));
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < columns; j++) {
            element_set(test.gemm.precision, image, OFFSET + i * ld + j,
                    transposed ? values[j * rows + i] : values[i * columns + j]);
        }
    }
    return image;
}

static cl_mem matrix(const double *values, size_t rows, size_t columns, size_t ld, bool transposed)
{
    unsigned char *image = image_of(values, rows, columns, ld, transposed);
    cl_mem buffer = setup_buffer(&test.setup, image_bytes(rows, ld), image);
    free(image);
    return buffer;
}

static double *numbers(size_t num)
{
    double *made = malloc((num + 1) * sizeof *made);
    need(made != NULL, "memory");
    return made;
}

static void open_matrices(void)
{
    struct kiln_gemm *g = &test.gemm;
    const bool ta = test.recipe->transa, tb = test.recipe->transb;
    test.a = numbers(g->m * g->k);
    test.b = numbers(g->k * g->n);
    test.c = numbers(g->m * g->n);
    test.sums = numbers(g->m * g->n);
    fill_dense();
    g->a = matrix(test.a, ta ? g->k : g->m, ta ? g->m : g->k, g->lda, ta);
    g->b = matrix(test.b, tb ? g->n : g->k, tb ? g->k : g->n, g->ldb, tb);
    g->c = matrix(test.c, g->m, g->n, g->ldc, false);
    test.image = image_of(test.c, g->m, g->n, g->ldc, false);
    test.found = malloc(image_bytes(g->m, g->ldc));
    need(test.found != NULL, "memory");
    g->a_offset = g->b_offset = g->c_offset = OFFSET;
}

static void close_matrices(void)
{
    clReleaseMemObject(test.gemm.a);
    clReleaseMemObject(test.gemm.b);
    clReleaseMemObject(test.gemm.c);
    free(test.a);
    free(test.b);
    free(test.c);
    free(test.sums);
    free(test.image);
    free(test.found);
}

static unsigned fail(size_t index, double found)
{
    const size_t n = test.gemm.n;
    printf("FAILED: %s: sum %g, C %g give %g at %zu, %zu\n", children_noted(), test.sums[index],
            test.c[index], found, index / n, index % n);
    return 1;
}

/* The elements, one by one; and that nothing else has changed. */
static unsigned judge(void)
{
    const struct kiln_gemm *g = &test.gemm;
    const size_t element_bytes = kiln_element_bytes(test.recipe->precision);
    setup_read(&test.setup, g->c, image_bytes(g->m, g->ldc), test.found);
    for (size_t i = 0; i < g->m * g->n; i++) {
        const size_t at = OFFSET + i / g->n * g->ldc + i % g->n;
        const double found = element_get(g->precision, test.found, at);
        if (!is_right(test.sums[i], test.c[i], found)) {
            return fail(i, found);
        }
        memcpy(test.found + at * element_bytes, test.image + at * element_bytes, element_bytes);
    }
    if (memcmp(test.found, test.image, image_bytes(g->m, g->ldc)) != 0) {
        printf("FAILED: %s: wrote beyond C\n", children_noted());
        return 1;
    }
    return 0;
}

static unsigned multiply(double alpha, double beta)
{
    struct kiln_gemm *g = &test.gemm;
    g->alpha = alpha;
    g->beta = beta;
    children_note("%s, %d bits, %zu x %zu x %zu, %s at %u, alpha %g, beta %g", test.recipe->name,
            g->precision, g->m, g->n, g->k, content_names[test.content], test.place, alpha, beta);
    need(clEnqueueWriteBuffer(test.setup.queue, g->c, CL_TRUE, 0, image_bytes(g->m, g->ldc),
                 test.image, 0, NULL, NULL) == CL_SUCCESS,
            "a write");
    const enum kiln_status status = kiln_gemm_enqueue(test.kiln, g, test.setup.queue, 0, NULL,
            NULL);
    if (status != KILN_SUCCESS) {
        printf("FAILED: %s: %s\n", children_noted(), kiln_status_string(status));
        return 1;
    }
    return judge();
}

/* All factors on one content; 0, of either sign, among them or alone. */
static unsigned multiply_all(const double *alphas, size_t num_alphas, const double *betas,
        size_t num_betas)
{
    unsigned failures = 0;
    open_matrices();
    if (recipe_serves(test.recipe, test.kiln, &test.gemm)) {
        test.num_served++;
        for (size_t i = 0; i < num_alphas; i++) {
            for (size_t j = 0; j < num_betas; j++) {
                failures += multiply(alphas[i], betas[j]);
            }
        }
    }
    close_matrices();
    return failures;
}

/* ---- Recipes ---- */

static void set_call(size_t m, size_t n, size_t k, enum content content, unsigned place)
{
    test.gemm = recipe_call(test.recipe, (const size_t[3]){ m, n, k }, PAD);
    test.content = content;
    test.place = place;
}

static unsigned do_factors(void)
{
    const bool is_double = test.recipe->precision == KILN_DOUBLE;
    const double tiny = is_double ? 3e-320 : 1e-40, huge = is_double ? 1.5e308 : 3e38;
    const double factors[] = { 0.0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, tiny, huge, 1.5 };
    const size_t num = sizeof factors / sizeof *factors;
    unsigned failures = 0;
    set_call(13, 11, 19, ORDINARY, 0);
    failures += multiply_all(factors, num, factors, num);
    return failures;
}

static unsigned do_zeros(void)
{
    static const double zeros[] = { 0.0, -0.0 }, any[] = { 1, -1, INFINITY, NAN };
    static const double betas[] = { 0.0, -0.0, 1, -1, 2 };
    static const enum content contents[] = { C_IS_MINUS_ZERO, C_IS_ZERO, ALL_ARE_NAN };
    unsigned failures = 0;
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
        set_call(13, 11, 19, contents[i], 0);
        failures += multiply_all(zeros, 2, betas, 5);
        set_call(13, 11, 19, contents[i], 0);
        test.gemm.k = 0;
        failures += multiply_all(any, 4, betas, 5);
    }
    return failures;
}

static unsigned do_contents(void)
{
    static const double alphas[] = { 1, -2 }, betas[] = { 0.0, 0.5 };
    unsigned failures = 0;
    for (unsigned content = A_IS_INFINITE; content <= C_IS_NAN; content++) {
        for (unsigned place = 0; place < NUM_PLACES; place++) {
            set_call(21, 23, 19, (enum content) content, place);
            failures += multiply_all(alphas, 2, betas, 2);
        }
    }
    return failures;
}

/* Alpha belongs to the whole sum, however it is divided. */
static unsigned do_sums(void)
{
    const double most = test.recipe->precision == KILN_DOUBLE ? 1.5e308 : 2e38;
    const double alphas[] = { most, INFINITY, -most };
    static const double betas[] = { 0.0, 1 };
    unsigned failures = 0;
    set_call(17, 19, 1000, CANCELLING, 0);
    failures += multiply_all(alphas, 3, betas, 2);
    set_call(70, 66, 4100, CANCELLING, 0);
    failures += multiply_all(alphas, 3, betas, 1);
    return failures;
}

static unsigned do_recipe(const struct options *options, unsigned long number)
{
    const struct kiln_bundle *bundle = NULL;
    uint32_t index = 0;
    struct solo solo;
    unsigned failures = 0;
    if (!is_taken(options, number)) {
        return 0;
    }
    if (!is_open) {
        setup_open(options, &test.setup);
        is_open = true;
    }
    need(linked_recipe(number, &bundle, &index), "a recipe");
    if (kiln_precision_is_complex(bundle->recipes[index].precision) ||
            bundle->recipes[index].routine != KILN_ROUTINE_MULTIPLY ||
            bundle->recipes[index].triangles == KILN_TRIANGLES_ALWAYS) {
        return 0; /* they serve no call of a whole product: runtime-forms */
    }
    solo_make(&solo, bundle, index);
    test.recipe = &solo.recipe;
    test.num_served = 0;
    test.kiln = setup_kiln(&test.setup, &solo.bundle);
    if (kiln_bundle_distance(bundle, &test.kiln->facts) <= 1) {
        failures = do_factors() + do_zeros() + do_contents() + do_sums();
        if (test.num_served == 0) {
            printf("FAILED: %s: no call comes to this recipe\n", test.recipe->name);
            failures++;
        }
    }
    kiln_context_destroy(&test.kiln);
    return failures;
}

int main(int argc, char **argv)
{
    const struct options options = options_of(argc, argv);
    return children_run(&options, num_linked_recipes(), do_recipe);
}
