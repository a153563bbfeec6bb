/* triangles.c: Fortran's names of symm, hemm, syrk and herk over Kiln; see shim.c. */
#include "shim.h"

#include <ctype.h>

/* Kiln's values for letters; -1, which Kiln refuses, for what BLAS does not know. */
static int side_of(char letter)
{
    return toupper(letter) == 'L' ? KILN_LEFT : toupper(letter) == 'R' ? KILN_RIGHT : -1;
}

static int uplo_of(char letter)
{
    return toupper(letter) == 'L' ? KILN_LOWER : toupper(letter) == 'U' ? KILN_UPPER : -1;
}

static int trans_of(char letter)
{
    return toupper(letter) == 'N' ? KILN_NO_TRANS
         : toupper(letter) == 'T' ? KILN_TRANS
         : toupper(letter) == 'C' ? KILN_CONJ_TRANS
                                  : -1;
}

/* By columns: `lines` columns of `length` elements. One whose leading dimension is too short is not
 * touched: Kiln has to say that it is. */
static struct operand operand_of(const void *data, int ld, int length, int lines, size_t bytes)
{
    struct operand operand = { data, ld, 0, NULL };
    if (lines > 0 && length > 0 && ld >= length)
        operand.bytes = ((size_t) (lines - 1) * (size_t) ld + (size_t) length) * bytes;
    return operand;
}

/* Which argument of Fortran's call a status speaks of; each family of routines has its own. */
struct numbers {
    int side, uplo, trans, lda, ldb, ldc;
};

static int number_of(enum kiln_status status, const struct numbers *numbers)
{
    switch (status) {
    case KILN_SUCCESS: return 0;
    case KILN_INVALID_SIDE: return numbers->side;
    case KILN_INVALID_UPLO: return numbers->uplo;
    case KILN_INVALID_TRANSPOSE_A: return numbers->trans;
    case KILN_INVALID_LDA: return numbers->lda;
    case KILN_INVALID_LDB: return numbers->ldb;
    case KILN_INVALID_LDC: return numbers->ldc;
    default: shim_check("a call of triangles", (int) status); return 0;
    }
}

static void report(int number, const char *routine)
{
    if (number != 0 && xerbla_ != NULL)
        xerbla_(routine, &number, 6);
}

/* What comes after the call. */
static void finish(struct operand *c, void *result, size_t bytes, int number, const char *routine)
{
    shim_device.calls++;
    if (number == 0 && c->bytes > 0)
        shim_check("clEnqueueReadBuffer",
                clEnqueueReadBuffer(shim_device.queue, c->buffer, CL_TRUE, OFFSET_C * bytes,
                        c->bytes, result, 0, NULL, NULL));
    shim_check("clFinish", clFinish(shim_device.queue));
    report(number, routine);
}

#define SAME(x) *(x)
#define PAIR_OF_SINGLES(x) \
    (cl_float2) \
    { \
        { \
            (x)[0], (x)[1] \
        } \
    }
#define PAIR_OF_DOUBLES(x) \
    (cl_double2) \
    { \
        { \
            (x)[0], (x)[1] \
        } \
    }

#define SYMM(name, call, real, elements, SCALAR, NAME) \
    void name(const char *side, const char *uplo, const int *m, const int *n, const real *alpha, \
            const void *a, const int *lda, const void *b, const int *ldb, const real *beta, \
            void *c, const int *ldc); \
    void name(const char *side, const char *uplo, const int *m, const int *n, const real *alpha, \
            const void *a, const int *lda, const void *b, const int *ldb, const real *beta, \
            void *c, const int *ldc) \
    { \
        const size_t bytes = sizeof(real) * elements; \
        const int is_right = side_of(*side) == KILN_RIGHT, order = is_right ? *n : *m; \
        const struct numbers numbers = { 1, 2, 0, is_right ? 9 : 7, is_right ? 7 : 9, 12 }; \
        if (side_of(*side) > 0 && uplo_of(*uplo) > 0 && (*m < 0 || *n < 0)) { \
            report(*m < 0 ? 3 : 4, NAME); \
            return; \
        } \
        struct operand x = operand_of(a, *lda, order, order, bytes); \
        struct operand y = operand_of(b, *ldb, *m, *n, bytes); \
        struct operand z = operand_of(c, *ldc, *m, *n, bytes); \
        shim_open(); \
        shim_upload(&x, &shim_device.a, OFFSET_A * bytes); \
        shim_upload(&y, &shim_device.b, OFFSET_B * bytes); \
        shim_upload(&z, &shim_device.c, OFFSET_C * bytes); \
        const enum kiln_status status = call(shim_device.kiln, KILN_COL_MAJOR, \
                (enum kiln_side)side_of(*side), (enum kiln_uplo)uplo_of(*uplo), (size_t)*m, \
                (size_t)*n, SCALAR(alpha), x.buffer, OFFSET_A, (size_t)*lda, y.buffer, OFFSET_B, \
                (size_t)*ldb, SCALAR(beta), z.buffer, OFFSET_C, (size_t)*ldc, shim_device.queue, \
                0, NULL, NULL); \
        finish(&z, c, bytes, number_of(status, &numbers), NAME); \
    }
SYMM(ssymm_, kiln_ssymm, float, 1, SAME, "SSYMM ")
SYMM(dsymm_, kiln_dsymm, double, 1, SAME, "DSYMM ")
SYMM(csymm_, kiln_csymm, float, 2, PAIR_OF_SINGLES, "CSYMM ")
SYMM(zsymm_, kiln_zsymm, double, 2, PAIR_OF_DOUBLES, "ZSYMM ")
SYMM(chemm_, kiln_chemm, float, 2, PAIR_OF_SINGLES, "CHEMM ")
SYMM(zhemm_, kiln_zhemm, double, 2, PAIR_OF_DOUBLES, "ZHEMM ")

#define SYRK(name, call, real, elements, SCALAR, NAME) \
    void name(const char *uplo, const char *trans, const int *n, const int *k, const real *alpha, \
            const void *a, const int *lda, const real *beta, void *c, const int *ldc); \
    void name(const char *uplo, const char *trans, const int *n, const int *k, const real *alpha, \
            const void *a, const int *lda, const real *beta, void *c, const int *ldc) \
    { \
        const size_t bytes = sizeof(real) * elements; \
        const int is_plain = trans_of(*trans) == KILN_NO_TRANS; \
        const struct numbers numbers = { 0, 1, 2, 7, 7, 10 }; \
        if (uplo_of(*uplo) > 0 && trans_of(*trans) > 0 && (*n < 0 || *k < 0)) { \
            report(*n < 0 ? 3 : 4, NAME); \
            return; \
        } \
        struct operand x = operand_of(a, *lda, is_plain ? *n : *k, is_plain ? *k : *n, bytes); \
        struct operand z = operand_of(c, *ldc, *n, *n, bytes); \
        shim_open(); \
        shim_upload(&x, &shim_device.a, OFFSET_A * bytes); \
        shim_upload(&z, &shim_device.c, OFFSET_C * bytes); \
        const enum kiln_status status = call(shim_device.kiln, KILN_COL_MAJOR, \
                (enum kiln_uplo)uplo_of(*uplo), (enum kiln_transpose)trans_of(*trans), \
                (size_t)*n, (size_t)*k, SCALAR(alpha), x.buffer, OFFSET_A, (size_t)*lda, \
                SCALAR(beta), z.buffer, OFFSET_C, (size_t)*ldc, shim_device.queue, 0, NULL, \
                NULL); \
        finish(&z, c, bytes, number_of(status, &numbers), NAME); \
    }
SYRK(ssyrk_, kiln_ssyrk, float, 1, SAME, "SSYRK ")
SYRK(dsyrk_, kiln_dsyrk, double, 1, SAME, "DSYRK ")
SYRK(csyrk_, kiln_csyrk, float, 2, PAIR_OF_SINGLES, "CSYRK ")
SYRK(zsyrk_, kiln_zsyrk, double, 2, PAIR_OF_DOUBLES, "ZSYRK ")
SYRK(cherk_, kiln_cherk, float, 2, SAME, "CHERK ")
SYRK(zherk_, kiln_zherk, double, 2, SAME, "ZHERK ")
