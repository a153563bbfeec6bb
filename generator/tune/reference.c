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

uint16_t half_from_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint16_t sign = (uint16_t) (bits >> 16 & 0x8000);
    const uint32_t rest = bits & 0x7fffffff;
    if (rest > 0x7f800000)
        return (uint16_t) (sign | 0x7e00 | (rest >> 13 & 0x1ff));
    if (rest >= 0x477ff000)            /* 65520, half way to what would be 65536 */
        return (uint16_t) (sign | 0x7c00);
    if (rest < 0x33000000)             /* below half of the least subnormal, 2^-25 */
        return sign;
    /* A subnormal half keeps fewer bits: the significand moves further to the right. */
    const uint32_t exponent = rest >> 23;
    const bool subnormal = exponent < 113;
    const unsigned shift = subnormal ? 126 - exponent : 13;
    const uint32_t from = subnormal ? (rest & 0x7fffff) | 0x800000 : rest - (112u << 23);
    const uint32_t cut = from & ((1u << shift) - 1), tie = 1u << (shift - 1);
    uint32_t half = from >> shift;
    half += cut > tie || (cut == tie && (half & 1));
    return (uint16_t) (sign | half);
}

float half_to_float(uint16_t half)
{
    const uint32_t exponent = half >> 10 & 31, fraction = half & 0x3ff;
    float value;
    if (exponent == 31)
        value = fraction ? NAN : INFINITY;
    else if (exponent == 0)
        value = ldexpf((float) fraction, -24);
    else
        value = ldexpf((float) (fraction | 0x400), (int) exponent - 25);
    return half & 0x8000 ? -value : value;
}

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
    const double shifted = 134217729.0 * x;      /* 2^27 + 1 */
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
            (r->is_double ? add_double : add_single)(&sums, r->a[i * r->k + p],
                    block + p * BLOCK, width);
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
