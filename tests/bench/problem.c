/* problem.c: random matrices and the error of a result. The reference is exact enough for every
 * precision (long double) but is taken at a sample of elements only; two peers are compared with
 * each other at all of them. */
#include "problem.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/precision.h"
#include "core/random.h"
#include "element.h"

enum { PROBLEM_SAMPLES = 256 };

/* Bits of the significand, the leading one included. */
static int problem_digits(enum kiln_precision precision)
{
    return precision_of_id(precision)->significand_bits + 1;
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
    return kiln_precision_parts(problem->precision);
}

/* Of all C. */
static size_t problem_rows(const struct problem *problem)
{
    return problem->batch * problem->m;
}

bool problem_is_wide(const struct problem *problem)
{
    return kiln_precision_storage(problem->precision) == KILN_STORED_DOUBLE;
}

static double problem_get(const struct problem *problem, const void *matrix, size_t index,
        size_t part)
{
    size_t parts = problem_parts(problem);
    enum kiln_storage storage = kiln_precision_storage(problem->precision);

    return kiln_real_get(storage,
            (const unsigned char *) matrix + (index * parts + part) * kiln_storage_bytes(storage));
}

/* Of row i of all op(A). */
static double problem_get_a(const struct problem *problem, size_t i, size_t p, size_t part)
{
    size_t lda = problem->lda, row = i % problem->m;
    size_t first = i / problem->m * problem->a_stride;

    return problem_get(problem, problem->a,
            first + (problem->transa ? p * lda + row : row * lda + p), part);
}

/* Of the op(B) that goes with row i of all C. */
static double problem_get_b(const struct problem *problem, size_t i, size_t p, size_t j,
        size_t part)
{
    size_t ldb = problem->ldb, first = i / problem->m * problem->b_stride;

    return problem_get(problem, problem->b, first + (problem->transb ? j * ldb + p : p * ldb + j),
            part);
}

static void problem_fill(const struct problem *problem, void *matrix, size_t count, uint64_t seed)
{
    int digits = problem_digits(problem->precision);
    size_t parts = problem_parts(problem);
    enum kiln_storage storage = kiln_precision_storage(problem->precision);
    uint64_t state = seed ^
                     ((uint64_t) problem->m << 42 ^ (uint64_t) problem->n << 21 ^ problem->k);

    for (size_t i = 0; i < count * parts; i++) {
        kiln_real_put(storage, (unsigned char *) matrix + i * kiln_storage_bytes(storage),
                problem_random(&state, digits));
    }
}

/* The lengths of a matrix's columns, or of its rows; in the order of memory, which counts at large
 * sizes. */
static void problem_measure(const struct problem *problem, const void *matrix, size_t first,
        size_t rows, size_t columns, bool of_columns, double *norms)
{
    size_t parts = problem_parts(problem);

    for (size_t i = 0; i < (of_columns ? columns : rows); i++) {
        norms[i] = 0;
    }
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < columns * parts; j++) {
            double value = problem_get(problem, matrix, first + i * columns + j / parts, j % parts);

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

    for (size_t i = 0; i < problem->batch; i++) {
        problem_measure(problem, problem->a, i * problem->a_stride, problem->transa ? k : m,
                problem->lda, problem->transa, problem->a_norms + i * m);
        problem_measure(problem, problem->b, i * problem->b_stride, problem->transb ? n : k,
                problem->ldb, !problem->transb, problem->b_norms + i * n);
    }
}

bool problem_create(struct problem *problem, enum kiln_precision precision, bool transa,
        bool transb, const struct bench_shape *shape)
{
    size_t element = kiln_element_bytes(precision);
    size_t batch = shape->batch > 1 ? shape->batch : 1;

    *problem = (struct problem){
        .precision = precision,
        .transa = transa,
        .transb = transb,
        .m = shape->m,
        .n = shape->n,
        .k = shape->k,
        .batch = batch,
        .lda = transa ? shape->m : shape->k,
        .ldb = transb ? shape->k : shape->n,
        .ldc = shape->n,
        .a_stride = shape->m * shape->k,
        .b_stride = shape->k * shape->n,
        .c_stride = shape->m * shape->n,
        .a_bytes = batch * shape->m * shape->k * element,
        .b_bytes = batch * shape->k * shape->n * element,
        .c_bytes = batch * shape->m * shape->n * element,
    };
    problem->a = malloc(problem->a_bytes);
    problem->b = malloc(problem->b_bytes);
    problem->a_norms = calloc(batch * problem->m, sizeof(double));
    problem->b_norms = calloc(batch * problem->n, sizeof(double));
    if (problem->a == NULL || problem->b == NULL || problem->a_norms == NULL ||
            problem->b_norms == NULL) {
        problem_destroy(problem);
        return false;
    }
    problem_fill(problem, problem->a, batch * problem->a_stride, 1);
    problem_fill(problem, problem->b, batch * problem->b_stride, 2);
    problem_measure_lines(problem);
    return true;
}

void problem_destroy(struct problem *problem)
{
    free(problem->a);
    free(problem->b);
    free(problem->a_norms);
    free(problem->b_norms);
    free(problem->samples);
    *problem = (struct problem){ 0 };
}

double problem_flops(const struct problem *problem)
{
    double multiplications = problem_parts(problem) == 2 ? 4.0 : 1.0;

    return 2.0 * multiplications * (double) problem->batch * (double) problem->m *
           (double) problem->n * (double) problem->k;
}

/* The unit in which errors at (i, j) are counted; never 0, so that it can divide. */
static double problem_unit(const struct problem *problem, size_t i, size_t j)
{
    double unit = problem->a_norms[i] * problem->b_norms[i / problem->m * problem->n + j] /
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
        exact += (long double) problem_get_a(problem, i, p, 0) *
                 problem_get_b(problem, i, p, j, part);
        if (is_complex) {
            long double other = (long double) problem_get_a(problem, i, p, 1) *
                                problem_get_b(problem, i, p, j, 1 - part);

            exact += part == 0 ? -other : other;
        }
    }
    return exact;
}

/* The largest error of a part. */
static double problem_error_from_exact(const struct problem *problem, const void *c, size_t i,
        size_t j, const long double exact[2])
{
    double worst = 0;

    for (size_t part = 0; part < problem_parts(problem); part++) {
        double value = problem_get(problem, c, i * problem->ldc + j, part);

        worst = fmax(worst,
                problem_in_units((double) (value - exact[part]), problem_unit(problem, i, j)));
    }
    return worst;
}

static void problem_find_exact(const struct problem *problem, size_t i, size_t j,
        long double exact[2])
{
    for (size_t part = 0; part < problem_parts(problem); part++) {
        exact[part] = problem_exact(problem, i, j, part);
    }
}

double problem_error_at(const struct problem *problem, const void *c, size_t i, size_t j)
{
    long double exact[2];

    problem_find_exact(problem, i, j, exact);
    return problem_error_from_exact(problem, c, i, j, exact);
}

void problem_reference(const struct problem *problem, double *reference)
{
    for (size_t i = 0; i < problem_rows(problem); i++) {
        for (size_t j = 0; j < problem->n; j++) {
            reference[i * problem->ldc + j] = (double) problem_exact(problem, i, j, 0);
        }
    }
}

double problem_error_from(const struct problem *problem, const void *c, const double *reference)
{
    double worst = 0;

    for (size_t i = 0; i < problem_rows(problem); i++) {
        for (size_t j = 0; j < problem->n; j++) {
            size_t index = i * problem->ldc + j;
            double difference = problem_get(problem, c, index, 0) - reference[index];

            worst = fmax(worst, problem_in_units(difference, problem_unit(problem, i, j)));
        }
    }
    return worst;
}

bool problem_take_samples(struct problem *problem)
{
    uint64_t state = 3;

    problem->samples = calloc(PROBLEM_SAMPLES, sizeof(*problem->samples));
    for (int s = 0; problem->samples != NULL && s < PROBLEM_SAMPLES; s++) {
        struct problem_sample *sample = &problem->samples[s];

        sample->i = random_next(&state) % problem_rows(problem);
        sample->j = random_next(&state) % problem->n;
        if (s < 4) {
            sample->i = s % 2 == 0 ? 0 : problem_rows(problem) - 1;
            sample->j = s / 2 == 0 ? 0 : problem->n - 1;
        }
        problem_find_exact(problem, sample->i, sample->j, sample->exact);
    }
    return problem->samples != NULL;
}

double problem_error(const struct problem *problem, const void *c)
{
    double worst = 0;

    for (int s = 0; s < PROBLEM_SAMPLES; s++) {
        const struct problem_sample *sample = &problem->samples[s];

        worst = fmax(worst,
                problem_error_from_exact(problem, c, sample->i, sample->j, sample->exact));
    }
    return worst;
}

/* The place in a row, of parts that lie so, where two results differ most; -1: nowhere by more
 * than `worst`, which becomes the difference there. A difference of NaN is infinite. `unit` is that
 * of the row, and goes with the lengths of the columns. */
static inline long problem_row_difference(const unsigned char *c, const unsigned char *other,
        size_t parts, size_t columns, enum kiln_storage storage, double unit, const double *lengths,
        double *worst)
{
    const size_t bytes = kiln_storage_bytes(storage);
    long place = -1;

    for (size_t at = 0; at < columns * parts; at++) {
        double difference = kiln_real_get(storage, c + at * bytes) -
                            kiln_real_get(storage, other + at * bytes);
        double of = unit * lengths[at / parts];

        of = of > 0 ? of : DBL_MIN;
        if (*worst < INFINITY && !(fabs(difference) <= *worst * of)) {
            *worst = problem_in_units(difference, of);
            place = (long) at;
        }
    }
    return place;
}

/* For each way in which a part lies apart, so that the compiler knows it. */
static long problem_place(const struct problem *problem, const unsigned char *c,
        const unsigned char *other, double unit, const double *lengths, double *worst)
{
    switch (kiln_precision_storage(problem->precision)) {
#define STORAGE(constant, ...) \
    case KILN_STORED_##constant: \
        return problem_row_difference(c, other, problem_parts(problem), problem->n, \
                KILN_STORED_##constant, unit, lengths, worst);
#include "precisions.inc"
#undef STORAGE
    }
    return -1;
}

double problem_difference(const struct problem *problem, const void *c, const void *other,
        size_t *i, size_t *j)
{
    size_t parts = problem_parts(problem);
    size_t row_bytes = problem->ldc * kiln_element_bytes(problem->precision);
    double worst = -1;

    for (size_t row = 0; row < problem_rows(problem); row++) {
        const unsigned char *left = (const unsigned char *) c + row * row_bytes;
        const unsigned char *right = (const unsigned char *) other + row * row_bytes;
        double unit = problem->a_norms[row] /
                      (double) ((int64_t) 1 << (problem_digits(problem->precision) - 1));
        const double *lengths = problem->b_norms + row / problem->m * problem->n;
        long place = problem_place(problem, left, right, unit, lengths, &worst);

        if (place >= 0) {
            *i = row;
            *j = (size_t) place / parts;
        }
    }
    return worst;
}
