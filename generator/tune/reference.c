/* reference.c: see reference.h.
 *
 * Columns are taken a block at a time, so that a block's sums stay in the nearest cache while k
 * runs; the innermost loops run over the block and have no dependences, so that compilers vectorise
 * them.
 */
#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64 };

/* The sums of one row of C over a block of columns. */
struct sums {
    double high[BLOCK], low[BLOCK], magnitude[BLOCK];
};

static void add_single(struct sums *sums, double a, const double *restrict b, size_t width)
{
    for (size_t j = 0; j < width; j++) {
        const double product = a * b[j];
        sums->high[j] += product;
        sums->magnitude[j] += fabs(product);
    }
}

/* x = upper + lower with 26 bits each, so that products of the parts are exact. */
static void split(double x, double *upper, double *lower)
{
    const double shifted = 134217729.0 * x; /* 2^27 + 1 */
    *upper = shifted - (shifted - x);
    *lower = x - *upper;
}

/* a + b = *sum + the value returned, exactly. */
static double two_sum(double a, double b, double *sum)
{
    *sum = a + b;
    const double b_part = *sum - a;
    return (a - (*sum - b_part)) + (b - b_part);
}

/* a * b = *product + the value returned, exactly. */
static double two_product(double a, double b, double *product)
{
    double a_upper, a_lower, b_upper, b_lower;
    split(a, &a_upper, &a_lower);
    split(b, &b_upper, &b_lower);
    *product = a * b;
    return a_lower * b_lower -
           (((*product - a_upper * b_upper) - a_lower * b_upper) - a_upper * b_lower);
}

static void add_double(struct sums *sums, double a, const double *restrict b, size_t width)
{
    for (size_t j = 0; j < width; j++) {
        double product, sum;
        const double below_product = two_product(a, b[j], &product);
        const double below_sum = two_sum(sums->high[j], product, &sum);
        sums->high[j] = sum;
        sums->low[j] += below_sum + below_product;
        sums->magnitude[j] += fabs(product);
    }
}

/* alpha sum + beta c in two doubles. */
static void finish(const struct reference *r, const struct sums *sums, size_t at, size_t width)
{
    for (size_t j = 0; j < width; j++) {
        const double c = r->beta == 0 ? 0 : r->c[at + j];
        double ab, bc, sum;
        double below = two_product(r->alpha, sums->high[j], &ab) + r->alpha * sums->low[j];
        below += two_product(r->beta, c, &bc);
        below += two_sum(ab, bc, &sum);
        r->low[at + j] = two_sum(sum, below, &r->high[at + j]);
        r->magnitude[at + j] = fabs(r->alpha) * sums->magnitude[j] + fabs(r->beta) * fabs(c);
    }
}

/* `block` has room for a block of columns of B, side by side. */
static void multiply_block(const struct reference *r, size_t first, size_t width, double *block)
{
    const size_t k = r->alpha == 0 ? 0 : r->k;
    for (size_t p = 0; p < k; p++)
        memcpy(block + p * BLOCK, r->b + p * r->n + first, width * sizeof *block);
    for (size_t i = 0; i < r->m; i++) {
        struct sums sums = { { 0 }, { 0 }, { 0 } };
        for (size_t p = 0; p < k; p++)
            (r->is_double ? add_double : add_single)(&sums, r->a[i * r->k + p], block + p * BLOCK,
                    width);
        finish(r, &sums, i * r->n + first, width);
    }
}

bool reference_gemm(const struct reference *reference)
{
    double *block = calloc(reference->k + 1, BLOCK * sizeof *block);
    if (!block)
        return false;
    for (size_t first = 0; first < reference->n; first += BLOCK) {
        const size_t rest = reference->n - first;
        multiply_block(reference, first, rest < BLOCK ? rest : BLOCK, block);
    }
    free(block);
    return true;
}
