/* exact.h: matrices whose product is known at any size.
 *
 * op(A) = U V' and op(B) = V" X' have factors of few columns, so that C = U (V' V") X' is cheap.
 * The factors hold signs. With an odd rank their products are odd numbers, and a product of two odd
 * numbers is odd: a term that is missed or taken twice always shows.
 *
 * Of complex matrices the factors V are complex: the imaginary part of a row is another pattern,
 * which follows from that of its real part. What is filled and judged are the parts, as real
 * matrices of twice the columns.
 *
 * A factor's row is one of a few patterns, and C before the multiplication has a period. So there
 * are few different rows of each matrix: what is filled is copied, and what is judged is compared
 * bit by bit, a row at a time. Only a row that differs is gone through element by element.
 */
#ifndef KILN_TUNE_EXACT_H
#define KILN_TUNE_EXACT_H

#include "matrix.h"

enum { EXACT_RANK = 3, EXACT_PATTERNS = 1 << EXACT_RANK, EXACT_PERIOD = 13 };

/* A factor has a pattern for each row: bit r is the sign in column r. */
struct exact_factors {
    size_t m, n, k;
    int rank;                          /* columns; 1 or EXACT_RANK */
    unsigned parts;                    /* of an element: 2 where it is complex, else 1 */
    unsigned char *u, *v_a, *v_b, *x;
    unsigned char *kind;               /* of each column of C: pattern, part, place in the period */
    long core[2][EXACT_RANK][EXACT_RANK];   /* V' V", real part and imaginary part */
};

/* False when out of memory; to be freed all the same. */
bool exact_init(struct exact_factors *factors, size_t m, size_t n, size_t k, int rank,
        unsigned parts);
void exact_free(struct exact_factors *factors);

/* Fill a matrix, whatever was in it: op(A), op(B), each as it is stored, and C before the
 * multiplication, small multiples of 4. `threads` as in parallel.h. */
void exact_fill_a(struct matrix *a, const struct exact_factors *factors, bool trans,
        unsigned threads);
void exact_fill_b(struct matrix *b, const struct exact_factors *factors, bool trans,
        unsigned threads);
void exact_fill_c(struct matrix *c, const struct exact_factors *factors, unsigned threads);

/* What C should be afterwards. */
struct exact_goal {
    const struct exact_factors *factors;
    double alpha, beta;
};

struct exact_wrong {
    size_t row, col;
    double wanted;
};

/* Whether each element of C is what it should be; if not, which is the first that is not. Zeros of
 * either sign are the same. */
bool exact_judge(const struct exact_goal *goal, const struct matrix *c, unsigned threads,
        struct exact_wrong *wrong);

#endif
