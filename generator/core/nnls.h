/* nnls.h: non-negative least squares on relative errors (Lawson and Hanson 1974, chapter 23), with
 * a small ridge. Pure.
 */
#ifndef KILN_CORE_NNLS_H
#define KILN_CORE_NNLS_H

enum { NNLS_MOST_TERMS = 40 };

/* Equations so far, as sums. All 0 but num_terms: none. */
struct nnls {
    unsigned num_terms;
    double gram[NNLS_MOST_TERMS][NNLS_MOST_TERMS];       /* the lower half */
    double right[NNLS_MOST_TERMS];
    double largest[NNLS_MOST_TERMS];   /* of a term, relative to the value */
    double weights;
};

/* Adds an equation: the sum of terms times coefficients is `value`, which is above 0. */
void nnls_add(struct nnls *nnls, const double *terms, double value, double weight);

/* The coefficients, none below 0, with the least weighted sum of squares of relative errors. Of a
 * term that never occurs, 0. */
void nnls_solve(const struct nnls *nnls, double *coefficients);

#endif
