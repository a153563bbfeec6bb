/* routines.c: calls of BLAS written as Kiln's: what each routine allows, which matrices it has. */
#include "blas.h"

/* Which elements a matrix has: rows and columns as the call sees them. */
struct extent {
    int rows, columns;
};

static bool is_double(enum kiln_precision precision)
{
    return precision == KILN_DOUBLE || precision == KILN_COMPLEX_DOUBLE;
}

static bool is_complex(enum kiln_precision precision)
{
    return precision == KILN_COMPLEX_SINGLE || precision == KILN_COMPLEX_DOUBLE;
}

/* The real part (0) or the imaginary one (1) of alpha or beta. */
static double part_of(enum kiln_precision precision, const void *scalar, int part)
{
    return is_double(precision) ? ((const double *) scalar)[part]
                                : (double) ((const float *) scalar)[part];
}

static bool is_trans(int value)
{
    return value == KILN_NO_TRANS || value == KILN_TRANS || value == KILN_CONJ_TRANS;
}

static bool is_uplo(int value)
{
    return value == KILN_UPPER || value == KILN_LOWER;
}

/* op(X) of the given extent, as X is stored. */
static struct extent stored(int trans, int rows, int columns)
{
    return trans == KILN_NO_TRANS ? (struct extent){ rows, columns }
                                  : (struct extent){ columns, rows };
}

/* False: the leading dimension is too short. */
static bool set_operand(struct kiln_blas_call *call, int which, const void *host,
        struct extent extent, int ld)
{
    const bool by_columns = call->gemm.layout == KILN_COL_MAJOR;
    const int length = by_columns ? extent.rows : extent.columns;
    call->operands[which] = (struct kiln_blas_operand){
        .host = (char *) (uintptr_t) host,
        .lines = (size_t) (by_columns ? extent.columns : extent.rows),
        .length = (size_t) length,
        .ld = (size_t) ld,
    };
    return ld >= (length > 1 ? length : 1);
}

/* What all calls have. Scalars are two numbers where `complex_scalars`. */
static struct kiln_blas_call begin(const struct kiln_blas_routine *routine, int layout,
        bool complex_scalars, const void *alpha, const void *beta)
{
    const enum kiln_precision precision = routine->precision;
    const struct kiln_blas_call call = {
        .name = routine->name,
        .element_bytes = (is_double(precision) ? sizeof(cl_double) : sizeof(cl_float)) *
                         (is_complex(precision) ? 2 : 1),
        .gemm = {
            .precision = precision,
            .layout = (enum kiln_layout) layout,
            .hermitian = routine->is_hermitian,
            .transa = KILN_NO_TRANS,
            .transb = KILN_NO_TRANS,
            .alpha = part_of(precision, alpha, 0),
            .beta = part_of(precision, beta, 0),
            .alpha_imag = complex_scalars ? part_of(precision, alpha, 1) : 0,
            .beta_imag = complex_scalars ? part_of(precision, beta, 1) : 0,
        },
    };
    return call;
}

/* What is the same for all calls, done at the end. */
static void finish(struct kiln_blas_call *call, bool is_valid)
{
    struct kiln_gemm *gemm = &call->gemm;
    const bool reads_inputs = gemm->k > 0 && (gemm->alpha != 0 || gemm->alpha_imag != 0);
    if (!is_valid || (gemm->layout != KILN_ROW_MAJOR && gemm->layout != KILN_COL_MAJOR)) {
        call->refusal = "an argument is not valid";
    } else if (gemm->m == 0 || gemm->n == 0 ||
               (!reads_inputs && gemm->beta == 1 && gemm->beta_imag == 0)) {
        call->refusal = "there is nothing to do";
    }
    if (!reads_inputs) {
        call->operands[KILN_BLAS_A].lines = call->operands[KILN_BLAS_B].lines = 0;
    }
}

static void set_extents(struct kiln_gemm *gemm, int m, int n, int k)
{
    gemm->m = (size_t) m, gemm->n = (size_t) n, gemm->k = (size_t) k;
}

struct kiln_blas_call kiln_blas_gemm(const struct kiln_blas_routine *routine, int layout,
        int transa, int transb, int m, int n, int k, const void *alpha, const void *a, int lda,
        const void *b, int ldb, const void *beta, void *c, int ldc)
{
    struct kiln_blas_call call = begin(routine, layout, is_complex(routine->precision), alpha,
            beta);
    bool is_valid = is_trans(transa) && is_trans(transb) && m >= 0 && n >= 0 && k >= 0;
    is_valid &= set_operand(&call, KILN_BLAS_A, a, stored(transa, m, k), lda);
    is_valid &= set_operand(&call, KILN_BLAS_B, b, stored(transb, k, n), ldb);
    is_valid &= set_operand(&call, KILN_BLAS_C, c, (struct extent){ m, n }, ldc);
    call.gemm.transa = (enum kiln_transpose) transa;
    call.gemm.transb = (enum kiln_transpose) transb;
    set_extents(&call.gemm, m, n, k);
    finish(&call, is_valid);
    return call;
}

struct kiln_blas_call kiln_blas_symm(const struct kiln_blas_routine *routine, int layout, int side,
        int uplo, int m, int n, const void *alpha, const void *a, int lda, const void *b, int ldb,
        const void *beta, void *c, int ldc)
{
    struct kiln_blas_call call = begin(routine, layout, is_complex(routine->precision), alpha,
            beta);
    const bool is_right = side == KILN_RIGHT;
    const int order = is_right ? n : m;
    bool is_valid = (is_right || side == KILN_LEFT) && is_uplo(uplo) && m >= 0 && n >= 0;
    /* Kiln's A is what stands on the left. */
    is_valid &= set_operand(&call, is_right ? KILN_BLAS_B : KILN_BLAS_A, a,
            (struct extent){ order, order }, lda);
    is_valid &= set_operand(&call, is_right ? KILN_BLAS_A : KILN_BLAS_B, b, (struct extent){ m, n },
            ldb);
    is_valid &= set_operand(&call, KILN_BLAS_C, c, (struct extent){ m, n }, ldc);
    *(is_right ? &call.gemm.uplo_b : &call.gemm.uplo_a) = (enum kiln_uplo) uplo;
    set_extents(&call.gemm, m, n, order);
    finish(&call, is_valid);
    return call;
}

struct kiln_blas_call kiln_blas_syrk(const struct kiln_blas_routine *routine, int layout, int uplo,
        int trans, int n, int k, const void *alpha, const void *a, int lda, const void *beta,
        void *c, int ldc)
{
    const bool is_hermitian = routine->is_hermitian;
    struct kiln_blas_call call = begin(routine, layout,
            is_complex(routine->precision) && !is_hermitian, alpha, beta);
    const enum kiln_transpose other = is_hermitian ? KILN_CONJ_TRANS : KILN_TRANS;
    const bool is_plain = trans == KILN_NO_TRANS;
    bool is_valid = is_uplo(uplo) && n >= 0 && k >= 0 &&
                    (is_plain || trans == (int) other ||
                            (trans == KILN_CONJ_TRANS && !is_complex(routine->precision)));
    is_valid &= set_operand(&call, KILN_BLAS_A, a, stored(trans, n, k), lda);
    is_valid &= set_operand(&call, KILN_BLAS_C, c, (struct extent){ n, n }, ldc);
    call.operands[KILN_BLAS_B] = call.operands[KILN_BLAS_A];
    call.gemm.transa = is_plain ? KILN_NO_TRANS : other;
    call.gemm.transb = is_plain ? other : KILN_NO_TRANS;
    call.gemm.uplo_c = (enum kiln_uplo) uplo;
    set_extents(&call.gemm, n, n, k);
    finish(&call, is_valid);
    return call;
}
