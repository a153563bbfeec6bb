/* problem.c: random matrices and the error of a result. The reference is exact enough for every
 * precision (long double) but is taken at a sample of elements only; two peers are compared with
 * each other at all of them. */
#include "problem.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/random.h"
#include "element.h"

enum { PROBLEM_SAMPLES = 256 };

/* Bits of the significand, the leading one included. */
static int problem_digits(enum kiln_precision precision)
{
    switch (precision) {
    case KILN_HALF: return 11;
    case KILN_DOUBLE:
    case KILN_COMPLEX_DOUBLE: return DBL_MANT_DIG;
    default: return FLT_MANT_DIG;
    }
}

/* A number in [-1, 1) that a significand of `digits` bits holds exactly and fills. */
static double problem_random(uint64_t *state, int digits)
{
    int64_t integer = (int64_t) (random_next(state) >> (63 - digits));

    return (double) (integer - ((int64_t) 1 << digits)) / (double) ((int64_t) 1 << digits);
}

/* The real numbers that an element is made of. */
static size_t problem_parts(const struct problem *problem)
{
    return problem->precision == KILN_COMPLEX_SINGLE || problem->precision == KILN_COMPLEX_DOUBLE
                 ? 2
                 : 1;
}

bool problem_is_wide(const struct problem *problem)
{
    return problem->precision == KILN_DOUBLE || problem->precision == KILN_COMPLEX_DOUBLE;
}

static double problem_get(const struct problem *problem, const void *matrix, size_t index,
        size_t part)
{
    size_t parts = problem_parts(problem);
    size_t bytes = kiln_element_bytes(problem->precision) / parts;

    return kiln_element_load((const unsigned char *) matrix + (index * parts + part) * bytes,
            bytes);
}

static double problem_get_a(const struct problem *problem, size_t i, size_t p, size_t part)
{
    size_t lda = problem->lda;

    return problem_get(problem, problem->a, problem->transa ? p * lda + i : i * lda + p, part);
}

static double problem_get_b(const struct problem *problem, size_t p, size_t j, size_t part)
{
    size_t ldb = problem->ldb;

    return problem_get(problem, problem->b, problem->transb ? j * ldb + p : p * ldb + j, part);
}

static void problem_fill(const struct problem *problem, void *matrix, size_t count, uint64_t seed)
{
    int digits = problem_digits(problem->precision);
    size_t parts = problem_parts(problem);
    size_t bytes = kiln_element_bytes(problem->precision) / parts;
    uint64_t state = seed ^
                     ((uint64_t) problem->m << 42 ^ (uint64_t) problem->n << 21 ^ problem->k);

    for (size_t i = 0; i < count * parts; i++) {
        kiln_element_store((unsigned char *) matrix + i * bytes, bytes,
                problem_random(&state, digits));
    }
}

/* The lengths of a matrix's columns, or of its rows; in the order of memory, which counts at large
 * sizes. */
static void problem_measure(const struct problem *problem, const void *matrix, size_t rows,
        size_t columns, bool of_columns, double *norms)
{
    size_t parts = problem_parts(problem);

    for (size_t i = 0; i < (of_columns ? columns : rows); i++) {
        norms[i] = 0;
    }
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < columns * parts; j++) {
            double value = problem_get(problem, matrix, i * columns + j / parts, j % parts);

            norms[of_columns ? j / parts : i] += value * value;
        }
    }
    for (size_t i = 0; i < (of_columns ? columns : rows); i++) {
        norms[i] = sqrt(norms[i]);
    }
}

void problem_measure_lines(struct problem *problem)
{
    size_t m = problem->m;
    size_t n = problem->n;
    size_t k = problem->k;

    problem_measure(problem, problem->a, problem->transa ? k : m, problem->lda, problem->transa,
            problem->a_norms);
    problem_measure(problem, problem->b, problem->transb ? n : k, problem->ldb, !problem->transb,
            problem->b_norms);
}

bool problem_create(struct problem *problem, enum kiln_precision precision, bool transa,
        bool transb, const struct shape *shape)
{
    size_t element = kiln_element_bytes(precision);

    *problem = (struct problem){
        .precision = precision,
        .transa = transa,
        .transb = transb,
        .m = shape->m,
        .n = shape->n,
        .k = shape->k,
        .lda = transa ? shape->m : shape->k,
        .ldb = transb ? shape->k : shape->n,
        .ldc = shape->n,
        .a_bytes = shape->m * shape->k * element,
        .b_bytes = shape->k * shape->n * element,
        .c_bytes = shape->m * shape->n * element,
    };
    problem->a = malloc(problem->a_bytes);
    problem->b = malloc(problem->b_bytes);
    problem->a_norms = calloc(problem->m, sizeof(double));
    problem->b_norms = calloc(problem->n, sizeof(double));
    if (problem->a == NULL || problem->b == NULL || problem->a_norms == NULL ||
            problem->b_norms == NULL) {
        problem_destroy(problem);
        return false;
    }
    problem_fill(problem, problem->a, problem->m * problem->k, 1);
    problem_fill(problem, problem->b, problem->k * problem->n, 2);
    problem_measure_lines(problem);
    return true;
}

void problem_destroy(struct problem *problem)
{
    free(problem->a);
    free(problem->b);
    free(problem->a_norms);
    free(problem->b_norms);
    *problem = (struct problem){ 0 };
}

double problem_flops(const struct problem *problem)
{
    double multiplications = problem_parts(problem) == 2 ? 4.0 : 1.0;

    return 2.0 * multiplications * (double) problem->m * (double) problem->n * (double) problem->k;
}

/* The unit in which errors at (i, j) are counted; never 0, so that it can divide. */
static double problem_unit(const struct problem *problem, size_t i, size_t j)
{
    double unit = problem->a_norms[i] * problem->b_norms[j] /
                  (double) ((int64_t) 1 << (problem_digits(problem->precision) - 1));

    return unit > 0 ? unit : DBL_MIN;
}

static double problem_in_units(double difference, double unit)
{
    return isnan(difference) ? INFINITY : fabs(difference) / unit;
}

/* One part of an element. */
static long double problem_exact(const struct problem *problem, size_t i, size_t j, size_t part)
{
    bool is_complex = problem_parts(problem) == 2;
    long double exact = 0;

    for (size_t p = 0; p < problem->k; p++) {
        exact += (long double) problem_get_a(problem, i, p, 0) * problem_get_b(problem, p, j, part);
        if (is_complex) {
            long double other = (long double) problem_get_a(problem, i, p, 1) *
                                problem_get_b(problem, p, j, 1 - part);

            exact += part == 0 ? -other : other;
        }
    }
    return exact;
}

double problem_error_at(const struct problem *problem, const void *c, size_t i, size_t j)
{
    double worst = 0;

    for (size_t part = 0; part < problem_parts(problem); part++) {
        double value = problem_get(problem, c, i * problem->ldc + j, part);

        worst = fmax(worst, problem_in_units((double) (value - problem_exact(problem, i, j, part)),
                                    problem_unit(problem, i, j)));
    }
    return worst;
}

void problem_reference(const struct problem *problem, double *reference)
{
    for (size_t i = 0; i < problem->m; i++) {
        for (size_t j = 0; j < problem->n; j++) {
            reference[i * problem->ldc + j] = (double) problem_exact(problem, i, j, 0);
        }
    }
}

double problem_error_from(const struct problem *problem, const void *c, const double *reference)
{
    double worst = 0;

    for (size_t i = 0; i < problem->m; i++) {
        for (size_t j = 0; j < problem->n; j++) {
            size_t index = i * problem->ldc + j;
            double difference = problem_get(problem, c, index, 0) - reference[index];

            worst = fmax(worst, problem_in_units(difference, problem_unit(problem, i, j)));
        }
    }
    return worst;
}

double problem_error(const struct problem *problem, const void *c)
{
    uint64_t state = 3;
    double worst = 0;

    for (int sample = 0; sample < PROBLEM_SAMPLES; sample++) {
        size_t i = random_next(&state) % problem->m;
        size_t j = random_next(&state) % problem->n;

        if (sample < 4) {
            i = sample % 2 == 0 ? 0 : problem->m - 1;
            j = sample / 2 == 0 ? 0 : problem->n - 1;
        }
        worst = fmax(worst, problem_error_at(problem, c, i, j));
    }
    return worst;
}

double problem_difference(const struct problem *problem, const void *c, const void *other,
        size_t *i, size_t *j)
{
    size_t parts = problem_parts(problem);
    double worst = -1;

    for (size_t row = 0; row < problem->m; row++) {
        for (size_t at = 0; at < problem->n * parts; at++) {
            size_t column = at / parts, index = row * problem->ldc + column;
            double difference = problem_get(problem, c, index, at % parts) -
                                problem_get(problem, other, index, at % parts);

            difference = problem_in_units(difference, problem_unit(problem, row, column));
            if (difference > worst) {
                worst = difference;
                *i = row;
                *j = column;
            }
        }
    }
    return worst;
}
