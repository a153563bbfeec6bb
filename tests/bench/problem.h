/* problem.h: one multiplication in host memory: the same numbers for every peer, in every process,
 * and the measure of how wrong a result is. Knows no device. */
#ifndef BENCH_PROBLEM_H
#define BENCH_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>

#include "kiln/kiln.h"
#include "shapes.h"

/* A result whose error reaches this is wrong; the netlib testers draw the same line. */
#define PROBLEM_WRONG 16.0

/* An element of C, and its parts in wider arithmetic. Rows of a batch count on from one C to the
 * next. */
struct problem_sample {
    size_t i, j;
    long double exact[2];
};

/* C = op(A) op(B), row-major and dense. */
struct problem {
    enum kiln_precision precision;
    bool transa, transb;
    size_t m, n, k;
    size_t batch;                      /* >= 1: so many such products, one behind the other */
    size_t lda, ldb, ldc;              /* elements */
    size_t a_stride, b_stride, c_stride;         /* elements of a matrix */
    size_t a_bytes, b_bytes, c_bytes;  /* of all of them */
    void *a, *b;                       /* elements of the precision; random, every bit in use */
    double *a_norms, *b_norms;         /* lengths of the rows of all op(A), one behind the other,
                                          and of the columns of all op(B) */
    struct problem_sample *samples;    /* NULL before problem_take_samples */
};

/* False when memory is short. The numbers follow from the precision and the shape alone. */
bool problem_create(struct problem *problem, enum kiln_precision precision, bool transa,
        bool transb, const struct bench_shape *shape);
void problem_destroy(struct problem *problem);

/* The lengths of op(A)'s rows and of op(B)'s columns, when A and B hold other numbers. */
void problem_measure_lines(struct problem *problem);

/* Computes a fixed sample of C's elements, corners among them. False when memory is short. */
bool problem_take_samples(struct problem *problem);

/* Does it take a device with double precision? */
bool problem_is_wide(const struct problem *problem);

/* Floating-point operations of the multiplication: eight for a product and sum of complex
 * numbers. */
double problem_flops(const struct problem *problem);

/* The error of element (i, j) of `c` against wider arithmetic, in units of eps |a_i| |b_j|: the
 * product of the lengths of row and column, which bounds sum |a||b|. NaN becomes infinite. */
double problem_error_at(const struct problem *problem, const void *c, size_t i, size_t j);

/* The largest error of the elements that problem_take_samples computed. */
double problem_error(const struct problem *problem, const void *c);

/* The element at which two results differ most in those units. Returns the difference. */
double problem_difference(const struct problem *problem, const void *c, const void *other,
        size_t *i, size_t *j);

/* The exact result, rounded to double, in `reference` (m x n); slow, for small real problems. */
void problem_reference(const struct problem *problem, double *reference);

/* The largest error of all elements against that. */
double problem_error_from(const struct problem *problem, const void *c, const double *reference);

#endif
