/* rows.c: see rows.h. */
#include "rows.h"

#include <stddef.h>

typedef const void *pointer;
#define VALUE_float(x) (*(const float *) (x))
#define VALUE_double(x) (*(const double *) (x))
#define VALUE_pointer(x) (x)

/* Pointers from dlsym, as POSIX has it. */
#define FUNCTION(type, address) (*(type **) &(address))

#define GEMM(name, precision, scalar, hermitian) \
    static void call_##name(void *function, const struct arguments *x) \
    { \
        typedef void type(int, int, int, int, int, int, scalar, const void *, int, const void *, \
                int, scalar, void *, int); \
        FUNCTION(type, function) \
        (x->layout, x->modes[0], x->modes[1], x->m, x->n, x->k, VALUE_##scalar(x->alpha), x->a, \
                x->lda, x->b, x->ldb, VALUE_##scalar(x->beta), x->c, x->ldc); \
    }
#define SYMM(name, precision, scalar, hermitian) \
    static void call_##name(void *function, const struct arguments *x) \
    { \
        typedef void type(int, int, int, int, int, scalar, const void *, int, const void *, int, \
                scalar, void *, int); \
        FUNCTION(type, function) \
        (x->layout, x->modes[0], x->modes[1], x->m, x->n, VALUE_##scalar(x->alpha), x->a, x->lda, \
                x->b, x->ldb, VALUE_##scalar(x->beta), x->c, x->ldc); \
    }
#define SYRK(name, precision, scalar, hermitian) \
    static void call_##name(void *function, const struct arguments *x) \
    { \
        typedef void type(int, int, int, int, int, scalar, const void *, int, scalar, void *, \
                int); \
        FUNCTION(type, function) \
        (x->layout, x->modes[0], x->modes[1], x->n, x->k, VALUE_##scalar(x->alpha), x->a, x->lda, \
                VALUE_##scalar(x->beta), x->c, x->ldc); \
    }
#include "routines.inc"

#define IS_DOUBLE_SINGLE false, false
#define IS_DOUBLE_DOUBLE true, false
#define IS_DOUBLE_COMPLEX_SINGLE false, true
#define IS_DOUBLE_COMPLEX_DOUBLE true, true

const struct row table[NUM_ROWS] = {
#define GEMM(name, precision, scalar, hermitian) \
    { #name, GEMM, IS_DOUBLE_##precision, hermitian, call_##name },
#define SYMM(name, precision, scalar, hermitian) \
    { #name, SYMM, IS_DOUBLE_##precision, hermitian, call_##name },
#define SYRK(name, precision, scalar, hermitian) \
    { #name, SYRK, IS_DOUBLE_##precision, hermitian, call_##name },
#include "routines.inc"
};

void call_fortran(enum family family, void *function, const char *letters,
        const struct arguments *x)
{
    typedef const void *p;
    typedef void gemm(p, p, p, p, p, p, p, p, p, p, p, void *, p, size_t, size_t);
    typedef void symm(p, p, p, p, p, p, p, p, p, p, void *, p, size_t, size_t);
    typedef void syrk(p, p, p, p, p, p, p, p, void *, p, size_t, size_t);
    const char *first = letters, *second = letters + 1;
    if (family == GEMM) {
        FUNCTION(gemm, function)
        (first, second, &x->m, &x->n, &x->k, x->alpha, x->a, &x->lda, x->b, &x->ldb, x->beta, x->c,
                &x->ldc, 1, 1);
    } else if (family == SYMM) {
        FUNCTION(symm, function)
        (first, second, &x->m, &x->n, x->alpha, x->a, &x->lda, x->b, &x->ldb, x->beta, x->c,
                &x->ldc, 1, 1);
    } else {
        FUNCTION(syrk, function)
        (first, second, &x->n, &x->k, x->alpha, x->a, &x->lda, x->beta, x->c, &x->ldc, 1, 1);
    }
}
