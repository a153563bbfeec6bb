/* data.c: see data.h. */
#include "data.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/random.h"

/* In [0, 1), by the highest 24 of 32 bits. */
static double data_unit(uint64_t bits)
{
    return (double) (bits >> 8 & 0xffffff) / 16777216.0;
}

static float data_uniform(size_t i, size_t lines, size_t p, size_t depth, bool is_b, uint64_t bits)
{
    (void) i, (void) lines, (void) p, (void) depth, (void) is_b;
    return (float) (2 * data_unit(bits) - 1);
}

static float data_positive(size_t i, size_t lines, size_t p, size_t depth, bool is_b, uint64_t bits)
{
    (void) i, (void) lines, (void) p, (void) depth, (void) is_b;
    return (float) data_unit(bits);
}

static float data_normal(size_t i, size_t lines, size_t p, size_t depth, bool is_b, uint64_t bits)
{
    (void) i, (void) lines, (void) p, (void) depth, (void) is_b;
    double radius = sqrt(-2 * log(1 - data_unit(bits)));

    return (float) (radius * cos(6.283185307179586 * data_unit(bits >> 32)));
}

static float data_wide(size_t i, size_t lines, size_t p, size_t depth, bool is_b, uint64_t bits)
{
    (void) i, (void) lines, (void) p, (void) depth, (void) is_b;
    return (float) ((2 * data_unit(bits) - 1) * exp(20 * data_unit(bits >> 32) - 10));
}

static float data_powers(size_t i, size_t lines, size_t p, size_t depth, bool is_b, uint64_t bits)
{
    (void) i, (void) lines, (void) p, (void) depth, (void) is_b;
    return (float) ldexp(2 * data_unit(bits) - 1, (int) ((bits >> 32) % 40) - 20);
}

static float data_graded(size_t i, size_t lines, size_t p, size_t depth, bool is_b, uint64_t bits)
{
    (void) p, (void) depth, (void) is_b;
    return (float) ldexp(2 * data_unit(bits) - 1, -(int) (60 * i / lines));
}

static float data_inverse(size_t i, size_t lines, size_t p, size_t depth, bool is_b, uint64_t bits)
{
    (void) i, (void) lines;
    const int grade = (int) (60 * p / depth) - 30;

    return (float) ldexp(2 * data_unit(bits) - 1, is_b ? grade : -grade);
}

/* Less steep than a line is cut. */
static float data_inclined(size_t i, size_t lines, size_t p, size_t depth, bool is_b, uint64_t bits)
{
    (void) i, (void) lines;
    const int grade = (int) (30 * p / depth) - 15;

    return (float) ldexp(1 + data_unit(bits), is_b ? grade : -grade);
}

/* Two k after each other cancel, and the last of an odd depth is 0. */
static float data_cancels(size_t i, size_t lines, size_t p, size_t depth, bool is_b, uint64_t bits)
{
    (void) lines, (void) bits;
    uint64_t state = (uint64_t) i << 32 ^ (uint64_t) (p / 2) << 1 ^ is_b;
    const float x = (float) (2 * data_unit(random_next(&state)) - 1);

    return depth % 2 == 1 && p == depth - 1 ? 0 : p % 2 == 1 && !is_b ? -x : x;
}

static float data_integers(size_t i, size_t lines, size_t p, size_t depth, bool is_b, uint64_t bits)
{
    (void) i, (void) lines, (void) p, (void) depth, (void) is_b;
    return (float) ((int) (bits % 17) - 8);
}

/* Elements of A below the least normal number, so that products with B are normal. */
static float data_subnormal(size_t i, size_t lines, size_t p, size_t depth, bool is_b,
        uint64_t bits)
{
    (void) i, (void) lines, (void) p, (void) depth;
    return (float) ldexp(2 * data_unit(bits) - 1, is_b ? 100 : -126);
}

static float data_infinity(size_t i, size_t lines, size_t p, size_t depth, bool is_b, uint64_t bits)
{
    return i == lines / 2 && p == depth / 3 && !is_b ? INFINITY
                                                     : data_uniform(i, lines, p, depth, is_b, bits);
}

static float data_nan(size_t i, size_t lines, size_t p, size_t depth, bool is_b, uint64_t bits)
{
    return i == lines / 3 && p == depth / 2 && is_b ? NAN
                                                    : data_uniform(i, lines, p, depth, is_b, bits);
}

const struct data_kind data_kinds[] = {
    {"uniform", "from -1 to 1", true, data_uniform},
    {"positive", "from 0 to 1: all sums grow", true, data_positive},
    {"normal", "of a normal distribution", true, data_normal},
    {"wide", "exponents over e^20", true, data_wide},
    {"powers", "over 40 powers of two", true, data_powers},
    {"graded", "rows of A, columns of B fall by 2^60", true, data_graded},
    {"inclined", "A falls along k by 2^30, B rises", true, data_inclined},
    {"inverse", "the same by 2^60", true, data_inverse},
    {"cancels", "every sum is 0", true, data_cancels},
    {"integers", "from -8 to 8", true, data_integers},
    {"subnormal", "A is below the normal numbers", true, data_subnormal},
    {"infinity", "one infinity in A", false, data_infinity},
    {"nan", "one NaN in B", false, data_nan},
};
const size_t data_num_kinds = sizeof(data_kinds) / sizeof(data_kinds[0]);

static void data_fill_operand(const struct data_kind *kind, float *matrix, size_t lines,
        size_t depth, bool by_depth, bool is_b, double *most)
{
    uint64_t state = is_b ? 2 : 1;

    for (size_t i = 0; i < lines; i++) {
        most[i] = 0;
    }
    for (size_t x = 0; x < lines * depth; x++) {
        const size_t i = by_depth ? x % lines : x / depth;
        const size_t p = by_depth ? x / lines : x % depth;

        matrix[x] = kind->element(i, lines, p, depth, is_b, random_next(&state));
        most[i] = isfinite(matrix[x]) ? fmax(most[i], fabs(matrix[x])) : most[i];
    }
}

void data_fill(const struct data_kind *kind, struct problem *problem, double *a_most,
        double *b_most)
{
    data_fill_operand(kind, problem->a, problem->m, problem->k, problem->transa, false, a_most);
    data_fill_operand(kind, problem->b, problem->n, problem->k, !problem->transb, true, b_most);
}

bool data_take(const struct data_kind *kind, struct problem *problem)
{
    double *most = malloc((problem->m + problem->n) * sizeof(double));

    if (most != NULL) {
        data_fill(kind, problem, most, most + problem->m);
        problem_measure_lines(problem);
    }
    free(most);
    return most != NULL;
}
