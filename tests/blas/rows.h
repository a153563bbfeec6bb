/* rows.h: the routines of libkiln-blas as a table, each with a way to call it by both its names. */
#ifndef KILN_TEST_BLAS_ROWS_H
#define KILN_TEST_BLAS_ROWS_H

#include <stdbool.h>

enum family { GEMM, SYMM, SYRK };

/* Arguments of any routine; what it has not is not looked at. */
struct arguments {
    int layout;
    int modes[2];                      /* transa transb, side uplo, uplo trans */
    int m, n, k;
    int lda, ldb, ldc;
    const void *alpha, *beta, *a, *b;
    void *c;
};

struct row {
    const char *name;
    enum family family;
    bool is_double, is_complex, is_hermitian;
    /* By the name of C. */
    void (*call)(void *function, const struct arguments *arguments);
};

enum { NUM_ROWS = 16 };
extern const struct row table[NUM_ROWS];

/* By Fortran's name; modes are letters in `letters`. */
void call_fortran(enum family family, void *function, const char *letters,
        const struct arguments *arguments);

#endif
