/* names.c: the functions that programs call, Fortran's and C's, made of the table of routines. */
#include "blas.h"

#include <ctype.h>

#define EXPORT __attribute__((visibility("default")))

/* Fortran passes the length of each text behind the arguments. The fallback may be Fortran and is
 * given them; here they are not declared, because callers in C leave them out. */
#define LENGTHS size_t, size_t

/* alpha and beta in C: real ones are values. */
typedef const void *pointer;
#define ADDRESS_float(x) (&(x))
#define ADDRESS_double(x) (&(x))
#define ADDRESS_pointer(x) (x)

/* The number that a letter stands for in C; 0: none, which the fallback will refuse. */
static int trans_of(char letter)
{
    switch (toupper((unsigned char) letter)) {
    case 'N': return KILN_NO_TRANS;
    case 'T': return KILN_TRANS;
    case 'C': return KILN_CONJ_TRANS;
    default: return 0;
    }
}

static int side_of(char letter)
{
    const int upper = toupper((unsigned char) letter);
    return upper == 'L' ? KILN_LEFT : upper == 'R' ? KILN_RIGHT : 0;
}

static int uplo_of(char letter)
{
    const int upper = toupper((unsigned char) letter);
    return upper == 'U' ? KILN_UPPER : upper == 'L' ? KILN_LOWER : 0;
}

#define ROUTINE(name, precision, is_hermitian) \
    &(const struct kiln_blas_routine) { KILN_BLAS_##name, KILN_##precision, is_hermitian }

/* Defines a function that serves a call, or hands it over to the fallback's of the given type. */
#define DEFINE(function, id, params, call, type, arguments) \
    EXPORT void function params; \
    EXPORT void function params \
    { \
        struct kiln_blas_call wanted = call; \
        if (!kiln_blas_serve(&wanted)) { \
            ((type) kiln_blas_fallback(KILN_BLAS_##id)) arguments; \
        } \
    }

#define GEMM(name, precision, scalar, is_hermitian) \
    DEFINE(name##_, name, \
            (const char *transa, const char *transb, const int *m, const int *n, const int *k, \
                    const void *alpha, const void *a, const int *lda, const void *b, \
                    const int *ldb, const void *beta, void *c, const int *ldc), \
            kiln_blas_gemm(ROUTINE(name, precision, is_hermitian), KILN_COL_MAJOR, \
                    trans_of(*transa), trans_of(*transb), *m, *n, *k, alpha, a, *lda, b, *ldb, \
                    beta, c, *ldc), \
            void (*)(const char *, const char *, const int *, const int *, const int *, \
                    const void *, const void *, const int *, const void *, const int *, \
                    const void *, void *, const int *, LENGTHS), \
            (transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, 1, 1)) \
    DEFINE(cblas_##name, cblas_##name, \
            (int layout, int transa, int transb, int m, int n, int k, scalar alpha, \
                    const void *a, int lda, const void *b, int ldb, scalar beta, void *c, \
                    int ldc), \
            kiln_blas_gemm(ROUTINE(cblas_##name, precision, is_hermitian), layout, transa, transb, \
                    m, n, k, ADDRESS_##scalar(alpha), a, lda, b, ldb, ADDRESS_##scalar(beta), c, \
                    ldc), \
            __typeof__(&cblas_##name), \
            (layout, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc))

#define SYMM(name, precision, scalar, is_hermitian) \
    DEFINE(name##_, name, \
            (const char *side, const char *uplo, const int *m, const int *n, const void *alpha, \
                    const void *a, const int *lda, const void *b, const int *ldb, \
                    const void *beta, void *c, const int *ldc), \
            kiln_blas_symm(ROUTINE(name, precision, is_hermitian), KILN_COL_MAJOR, side_of(*side), \
                    uplo_of(*uplo), *m, *n, alpha, a, *lda, b, *ldb, beta, c, *ldc), \
            void (*)(const char *, const char *, const int *, const int *, const void *, \
                    const void *, const int *, const void *, const int *, const void *, void *, \
                    const int *, LENGTHS), \
            (side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc, 1, 1)) \
    DEFINE(cblas_##name, cblas_##name, \
            (int layout, int side, int uplo, int m, int n, scalar alpha, const void *a, int lda, \
                    const void *b, int ldb, scalar beta, void *c, int ldc), \
            kiln_blas_symm(ROUTINE(cblas_##name, precision, is_hermitian), layout, side, uplo, m, \
                    n, ADDRESS_##scalar(alpha), a, lda, b, ldb, ADDRESS_##scalar(beta), c, ldc), \
            __typeof__(&cblas_##name), \
            (layout, side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc))

#define SYRK(name, precision, scalar, is_hermitian) \
    DEFINE(name##_, name, \
            (const char *uplo, const char *trans, const int *n, const int *k, const void *alpha, \
                    const void *a, const int *lda, const void *beta, void *c, const int *ldc), \
            kiln_blas_syrk(ROUTINE(name, precision, is_hermitian), KILN_COL_MAJOR, uplo_of(*uplo), \
                    trans_of(*trans), *n, *k, alpha, a, *lda, beta, c, *ldc), \
            void (*)(const char *, const char *, const int *, const int *, const void *, \
                    const void *, const int *, const void *, void *, const int *, LENGTHS), \
            (uplo, trans, n, k, alpha, a, lda, beta, c, ldc, 1, 1)) \
    DEFINE(cblas_##name, cblas_##name, \
            (int layout, int uplo, int trans, int n, int k, scalar alpha, const void *a, int lda, \
                    scalar beta, void *c, int ldc), \
            kiln_blas_syrk(ROUTINE(cblas_##name, precision, is_hermitian), layout, uplo, trans, n, \
                    k, ADDRESS_##scalar(alpha), a, lda, ADDRESS_##scalar(beta), c, ldc), \
            __typeof__(&cblas_##name), \
            (layout, uplo, trans, n, k, alpha, a, lda, beta, c, ldc))

#include "routines.inc"
