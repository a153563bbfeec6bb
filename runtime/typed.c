/* typed.c: the typed calls, as calls by struct kiln_gemm.
 *
 * Those of symmetric and Hermitian matrices are cold: small rather than fast, by some nanoseconds a
 * call.
 */
#include "internal.h"

/* What a typed call wants of its queue. */
#define REQUEST \
    { .queue = queue, .num_wait = num_events_in_wait_list, .wait = event_wait_list, .event = event }

/* Scalars as the fields that they fill. */
#define REAL(a, b) .alpha = a, .beta = b
#define COMPLEX(a, b) .alpha = a.s[0], .beta = b.s[0], .alpha_imag = a.s[1], .beta_imag = b.s[1]

/* ---- General matrices ---- */

#define DEFINE_GEMM(name, type, scalar, SCALARS) \
    enum kiln_status name(struct kiln_context *context, enum kiln_layout layout, \
            enum kiln_transpose transa, enum kiln_transpose transb, size_t m, size_t n, size_t k, \
            scalar alpha, cl_mem a, size_t a_offset, size_t lda, cl_mem b, size_t b_offset, \
            size_t ldb, scalar beta, cl_mem c, size_t c_offset, size_t ldc, \
            cl_command_queue queue, cl_uint num_events_in_wait_list, \
            const cl_event *event_wait_list, cl_event *event) \
    { \
        struct kiln_request request = REQUEST; \
        const struct kiln_gemm gemm = { \
            .precision = type, .layout = layout, .transa = transa, .transb = transb, .m = m, \
            .n = n, .k = k, SCALARS(alpha, beta), .a = a, .b = b, .c = c, .a_offset = a_offset, \
            .b_offset = b_offset, .c_offset = c_offset, .lda = lda, .ldb = ldb, .ldc = ldc, \
        }; \
        return kiln_gemm_request(context, &gemm, KILN_SUCCESS, &request); \
    }
DEFINE_GEMM(kiln_sgemm, KILN_SINGLE, float, REAL)
DEFINE_GEMM(kiln_dgemm, KILN_DOUBLE, double, REAL)
DEFINE_GEMM(kiln_hgemm, KILN_HALF, float, REAL)
DEFINE_GEMM(kiln_cgemm, KILN_COMPLEX_SINGLE, cl_float2, COMPLEX)
DEFINE_GEMM(kiln_zgemm, KILN_COMPLEX_DOUBLE, cl_double2, COMPLEX)

/* ---- Symmetric and Hermitian matrices ---- */

/* 0 is no triangle in a typed call. */
static enum kiln_uplo strict(enum kiln_uplo uplo)
{
    return uplo != 0 ? uplo : (enum kiln_uplo) - 1;
}

/* gemm: all but A and B, which change places where A is on the right. */
__attribute__((cold, noinline))
static enum kiln_status symm(struct kiln_context *context, struct kiln_gemm gemm,
        enum kiln_side side, enum kiln_uplo uplo, struct kiln_request *request)
{
    const bool is_right = side == KILN_RIGHT;
    gemm.k = is_right ? gemm.n : gemm.m;
    gemm.transa = gemm.transb = KILN_NO_TRANS;
    *(is_right ? &gemm.uplo_b : &gemm.uplo_a) = strict(uplo);
    if (is_right) {
        struct kiln_gemm left = gemm;
        gemm.a = left.b, gemm.a_offset = left.b_offset, gemm.lda = left.ldb;
        gemm.b = left.a, gemm.b_offset = left.a_offset, gemm.ldb = left.lda;
    }
    const bool has_side = is_right || side == KILN_LEFT;
    return kiln_gemm_request(context, &gemm, has_side ? KILN_SUCCESS : KILN_INVALID_SIDE, request);
}

/* gemm: all but B, which is A once more. */
__attribute__((cold, noinline))
static enum kiln_status syrk(struct kiln_context *context, struct kiln_gemm gemm,
        enum kiln_uplo uplo, enum kiln_transpose trans, struct kiln_request *request)
{
    const bool is_complex = kiln_precision_is_complex(gemm.precision);
    const enum kiln_transpose other = gemm.hermitian ? KILN_CONJ_TRANS : KILN_TRANS;
    const bool is_known = trans == KILN_NO_TRANS || trans == other ||
                          (!is_complex && trans == KILN_CONJ_TRANS);
    gemm.m = gemm.n;
    gemm.transa = is_known ? trans : (enum kiln_transpose) - 1;
    gemm.transb = trans == KILN_NO_TRANS ? other : KILN_NO_TRANS;
    gemm.b = gemm.a, gemm.b_offset = gemm.a_offset, gemm.ldb = gemm.lda;
    gemm.uplo_c = strict(uplo);
    return kiln_gemm_request(context, &gemm, KILN_SUCCESS, request);
}

#define DEFINE_SYMM(name, type, scalar, SCALARS, is_hermitian) \
    __attribute__((cold)) \
    enum kiln_status name(struct kiln_context *context, enum kiln_layout layout, \
            enum kiln_side side, enum kiln_uplo uplo, size_t m, size_t n, scalar alpha, cl_mem a, \
            size_t a_offset, size_t lda, cl_mem b, size_t b_offset, size_t ldb, scalar beta, \
            cl_mem c, size_t c_offset, size_t ldc, cl_command_queue queue, \
            cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event) \
    { \
        struct kiln_request request = REQUEST; \
        const struct kiln_gemm gemm = { \
            .precision = type, .layout = layout, .m = m, .n = n, SCALARS(alpha, beta), \
            .a = a, .b = b, .c = c, .a_offset = a_offset, .b_offset = b_offset, \
            .c_offset = c_offset, .lda = lda, .ldb = ldb, .ldc = ldc, .hermitian = is_hermitian, \
        }; \
        return symm(context, gemm, side, uplo, &request); \
    }
DEFINE_SYMM(kiln_ssymm, KILN_SINGLE, float, REAL, 0)
DEFINE_SYMM(kiln_dsymm, KILN_DOUBLE, double, REAL, 0)
DEFINE_SYMM(kiln_csymm, KILN_COMPLEX_SINGLE, cl_float2, COMPLEX, 0)
DEFINE_SYMM(kiln_zsymm, KILN_COMPLEX_DOUBLE, cl_double2, COMPLEX, 0)
DEFINE_SYMM(kiln_chemm, KILN_COMPLEX_SINGLE, cl_float2, COMPLEX, 1)
DEFINE_SYMM(kiln_zhemm, KILN_COMPLEX_DOUBLE, cl_double2, COMPLEX, 1)

#define DEFINE_SYRK(name, type, scalar, SCALARS, is_hermitian) \
    __attribute__((cold)) \
    enum kiln_status name(struct kiln_context *context, enum kiln_layout layout, \
            enum kiln_uplo uplo, enum kiln_transpose trans, size_t n, size_t k, scalar alpha, \
            cl_mem a, size_t a_offset, size_t lda, scalar beta, cl_mem c, size_t c_offset, \
            size_t ldc, cl_command_queue queue, cl_uint num_events_in_wait_list, \
            const cl_event *event_wait_list, cl_event *event) \
    { \
        struct kiln_request request = REQUEST; \
        const struct kiln_gemm gemm = { \
            .precision = type, .layout = layout, .n = n, .k = k, SCALARS(alpha, beta), \
            .a = a, .c = c, .a_offset = a_offset, .c_offset = c_offset, .lda = lda, .ldc = ldc, \
            .hermitian = is_hermitian, \
        }; \
        return syrk(context, gemm, uplo, trans, &request); \
    }
DEFINE_SYRK(kiln_ssyrk, KILN_SINGLE, float, REAL, 0)
DEFINE_SYRK(kiln_dsyrk, KILN_DOUBLE, double, REAL, 0)
DEFINE_SYRK(kiln_csyrk, KILN_COMPLEX_SINGLE, cl_float2, COMPLEX, 0)
DEFINE_SYRK(kiln_zsyrk, KILN_COMPLEX_DOUBLE, cl_double2, COMPLEX, 0)
DEFINE_SYRK(kiln_cherk, KILN_COMPLEX_SINGLE, float, REAL, 1)
DEFINE_SYRK(kiln_zherk, KILN_COMPLEX_DOUBLE, double, REAL, 1)
