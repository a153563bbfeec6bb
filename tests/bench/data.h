/* data.h: kinds of matrices on which arithmetics differ. */
#ifndef BENCH_DATA_H
#define BENCH_DATA_H

#include "problem.h"

struct data_kind {
    const char *name, *about;
    bool is_finite;                    /* a result of it can be judged by its error alone */
    /* Element (i, p) of op(A), or element (p, i) of op(B), from random bits; `lines` and `depth`
     * are the extents of i and p. */
    float (*element)(size_t i, size_t lines, size_t p, size_t depth, bool is_b, uint64_t bits);
};

extern const struct data_kind data_kinds[];
extern const size_t data_num_kinds;

/* Fills A and B of a problem of single precision. The largest finite elements of the rows of op(A)
 * and the columns of op(B) go to a_most (m of them) and b_most (n). */
void data_fill(const struct data_kind *kind, struct problem *problem, double *a_most,
        double *b_most);

/* The same, and measures the problem's lines anew. False when memory is short. */
bool data_take(const struct data_kind *kind, struct problem *problem);

#endif
