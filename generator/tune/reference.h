/* reference.h: what a multiplication must give, computed by the host in higher precision.
 *
 * Half and single are accumulated in double, where their products are exact; double in two doubles
 * whose sum is the value (TwoSum and TwoProduct: Dekker 1971, Knuth 1969; Ogita, Rump, Oishi 2005).
 */
#ifndef KILN_TUNE_REFERENCE_H
#define KILN_TUNE_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>

/* One multiplication on dense row-major matrices: op(A) is m x k, op(B) k x n, C m x n. */
struct reference {
    size_t m, n, k;
    double alpha, beta;
    const double *a, *b;
    const double *c;                   /* not read when beta is 0 */
    bool is_double;                    /* accumulate in two doubles instead of one */
    double *high, *low;                /* out: the result is high + low, m x n each */
    double *magnitude;                 /* out: |alpha| sum|a||b| + |beta||c|, m x n */
};

/* False when out of memory. */
bool reference_gemm(const struct reference *reference);

#endif
