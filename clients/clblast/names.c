/* names.c: the functions that programs in C call, made of the table of routines. */
#include "kiln_clblast.h"

#define EXPORT __attribute__((visibility("default")))

/* How a function ends: with the call's status or, where Kiln has no kernel, with that of CLBlast
 * for the same arguments. */
#define FINISH(name, status, arguments) \
    do { \
        int became = status; \
        const kiln_clblast_function other = \
                became == KILN_CLBLAST_NOT_IMPLEMENTED && !kiln_clblast_is_passed_on \
                        ? kiln_clblast_fallback(#name, 1) \
                        : NULL; \
        if (other != NULL) { \
            kiln_clblast_is_passed_on = 1; \
            became = ((__typeof__(&name)) other) arguments; \
            kiln_clblast_is_passed_on = 0; \
        } \
        kiln_clblast_say(&call, became, other != NULL); \
        return became; \
    } while (0)

#define GEMM(X, precision, scalar) \
    EXPORT int CLBlast##X##gemmWithTempBuffer(int layout, int a_transpose, int b_transpose, \
            size_t m, size_t n, size_t k, scalar alpha, cl_mem a, size_t a_offset, size_t a_ld, \
            cl_mem b, size_t b_offset, size_t b_ld, scalar beta, cl_mem c, size_t c_offset, \
            size_t c_ld, cl_command_queue *queue, cl_event *event, cl_mem temp_buffer) \
    { \
        struct kiln_clblast_call call = kiln_clblast_gemm("CLBlast" #X "gemm", KILN_##precision, \
                layout, a_transpose, b_transpose, m, n, k, a_ld, b_ld, c_ld); \
        kiln_clblast_scalars(&call, &alpha, &beta); \
        kiln_clblast_operands(&call, a, a_offset, b, b_offset, c, c_offset); \
        call.gemm.workspace = temp_buffer; \
        FINISH(CLBlast##X##gemmWithTempBuffer, kiln_clblast_enqueue(&call, queue, event), \
                (layout, a_transpose, b_transpose, m, n, k, alpha, a, a_offset, a_ld, b, b_offset, \
                        b_ld, beta, c, c_offset, c_ld, queue, event, temp_buffer)); \
    } \
    EXPORT int CLBlast##X##gemm(int layout, int a_transpose, int b_transpose, size_t m, size_t n, \
            size_t k, scalar alpha, cl_mem a, size_t a_offset, size_t a_ld, cl_mem b, \
            size_t b_offset, size_t b_ld, scalar beta, cl_mem c, size_t c_offset, size_t c_ld, \
            cl_command_queue *queue, cl_event *event) \
    { \
        return CLBlast##X##gemmWithTempBuffer(layout, a_transpose, b_transpose, m, n, k, alpha, a, \
                a_offset, a_ld, b, b_offset, b_ld, beta, c, c_offset, c_ld, queue, event, NULL); \
    } \
    EXPORT int CLBlast##X##GemmTempBufferSize(int layout, int a_transpose, int b_transpose, \
            size_t m, size_t n, size_t k, size_t a_offset, size_t a_ld, size_t b_offset, \
            size_t b_ld, size_t c_offset, size_t c_ld, cl_command_queue *queue, \
            size_t *temp_buffer_size) \
    { \
        struct kiln_clblast_call call = kiln_clblast_gemm("CLBlast" #X "GemmTempBufferSize", \
                KILN_##precision, layout, a_transpose, b_transpose, m, n, k, a_ld, b_ld, c_ld); \
        kiln_clblast_operands(&call, NULL, a_offset, NULL, b_offset, NULL, c_offset); \
        FINISH(CLBlast##X##GemmTempBufferSize, \
                kiln_clblast_workspace(&call, queue, temp_buffer_size), \
                (layout, a_transpose, b_transpose, m, n, k, a_offset, a_ld, b_offset, b_ld, \
                        c_offset, c_ld, queue, temp_buffer_size)); \
    } \
    EXPORT int CLBlast##X##gemmBatched(int layout, int a_transpose, int b_transpose, size_t m, \
            size_t n, size_t k, const scalar *alphas, cl_mem a, const size_t *a_offsets, \
            size_t a_ld, cl_mem b, const size_t *b_offsets, size_t b_ld, const scalar *betas, \
            cl_mem c, const size_t *c_offsets, size_t c_ld, size_t batch_count, \
            cl_command_queue *queue, cl_event *event) \
    { \
        struct kiln_clblast_call call = kiln_clblast_gemm("CLBlast" #X "gemmBatched", \
                KILN_##precision, layout, a_transpose, b_transpose, m, n, k, a_ld, b_ld, c_ld); \
        kiln_clblast_operands(&call, a, 0, b, 0, c, 0); \
        FINISH(CLBlast##X##gemmBatched, \
                kiln_clblast_enqueue_members(&call, batch_count, alphas, a_offsets, b_offsets, \
                        betas, c_offsets, queue, event), \
                (layout, a_transpose, b_transpose, m, n, k, alphas, a, a_offsets, a_ld, b, \
                        b_offsets, b_ld, betas, c, c_offsets, c_ld, batch_count, queue, event)); \
    } \
    EXPORT int CLBlast##X##gemmStridedBatched(int layout, int a_transpose, int b_transpose, \
            size_t m, size_t n, size_t k, scalar alpha, cl_mem a, size_t a_offset, size_t a_ld, \
            size_t a_stride, cl_mem b, size_t b_offset, size_t b_ld, size_t b_stride, scalar beta, \
            cl_mem c, size_t c_offset, size_t c_ld, size_t c_stride, size_t batch_count, \
            cl_command_queue *queue, cl_event *event) \
    { \
        struct kiln_clblast_call call = kiln_clblast_gemm("CLBlast" #X "gemmStridedBatched", \
                KILN_##precision, layout, a_transpose, b_transpose, m, n, k, a_ld, b_ld, c_ld); \
        kiln_clblast_scalars(&call, &alpha, &beta); \
        kiln_clblast_operands(&call, a, a_offset, b, b_offset, c, c_offset); \
        kiln_clblast_strides(&call, a_stride, b_stride, c_stride, batch_count); \
        FINISH(CLBlast##X##gemmStridedBatched, kiln_clblast_enqueue(&call, queue, event), \
                (layout, a_transpose, b_transpose, m, n, k, alpha, a, a_offset, a_ld, a_stride, b, \
                        b_offset, b_ld, b_stride, beta, c, c_offset, c_ld, c_stride, batch_count, \
                        queue, event)); \
    }

#define SYMM(Name, precision, scalar, hermitian) \
    EXPORT int CLBlast##Name(int layout, int side, int triangle, size_t m, size_t n, scalar alpha, \
            cl_mem a, size_t a_offset, size_t a_ld, cl_mem b, size_t b_offset, size_t b_ld, \
            scalar beta, cl_mem c, size_t c_offset, size_t c_ld, cl_command_queue *queue, \
            cl_event *event) \
    { \
        struct kiln_clblast_call call = kiln_clblast_symm("CLBlast" #Name, KILN_##precision, \
                hermitian, layout, side, triangle, m, n, a_ld, b_ld, c_ld); \
        kiln_clblast_scalars(&call, &alpha, &beta); \
        kiln_clblast_operands(&call, a, a_offset, b, b_offset, c, c_offset); \
        FINISH(CLBlast##Name, kiln_clblast_enqueue(&call, queue, event), \
                (layout, side, triangle, m, n, alpha, a, a_offset, a_ld, b, b_offset, b_ld, beta, \
                        c, c_offset, c_ld, queue, event)); \
    }

#define SYRK(Name, precision, scalar, hermitian) \
    EXPORT int CLBlast##Name(int layout, int triangle, int a_transpose, size_t n, size_t k, \
            scalar alpha, cl_mem a, size_t a_offset, size_t a_ld, scalar beta, cl_mem c, \
            size_t c_offset, size_t c_ld, cl_command_queue *queue, cl_event *event) \
    { \
        struct kiln_clblast_call call = kiln_clblast_syrk("CLBlast" #Name, KILN_##precision, \
                hermitian, layout, triangle, a_transpose, n, k, a_ld, c_ld); \
        kiln_clblast_scalars(&call, &alpha, &beta); \
        kiln_clblast_operands(&call, a, a_offset, a, a_offset, c, c_offset); \
        FINISH(CLBlast##Name, kiln_clblast_enqueue(&call, queue, event), \
                (layout, triangle, a_transpose, n, k, alpha, a, a_offset, a_ld, beta, c, c_offset, \
                        c_ld, queue, event)); \
    }

#include "routines.inc"
