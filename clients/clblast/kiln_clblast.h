/* kiln_clblast.h: what the files of libkiln-clblast share.
 *
 * A call goes this way: names.c (templates.cpp for C++) has the functions of CLBlast, calls.c
 * writes the arguments as Kiln wants them and enqueues the call, with the context that contexts.c
 * keeps for the queue. What Kiln has no kernel for goes to CLBlast's function of the same name,
 * where that is found (fallback.c).
 *
 * Layouts, transposes, sides and triangles are CLBlast's numbers, which are CBLAS's and Kiln's.
 * Sizes, offsets, leading dimensions and strides are in elements. What a function returns is
 * CLBlast's status: 0, OpenCL's codes, or its own.
 */
#ifndef KILN_CLBLAST_H
#define KILN_CLBLAST_H

#include <kiln/kiln.h>

#ifdef __cplusplus
#define KILN_CLBLAST_THREAD_LOCAL __thread
extern "C" {
#else
#define KILN_CLBLAST_THREAD_LOCAL _Thread_local
#endif

/* ---- names.c ---- */

#define GEMM(X, precision, scalar) \
    int CLBlast##X##gemm(int layout, int a_transpose, int b_transpose, size_t m, size_t n, \
            size_t k, scalar alpha, cl_mem a, size_t a_offset, size_t a_ld, cl_mem b, \
            size_t b_offset, size_t b_ld, scalar beta, cl_mem c, size_t c_offset, size_t c_ld, \
            cl_command_queue *queue, cl_event *event); \
    int CLBlast##X##gemmWithTempBuffer(int layout, int a_transpose, int b_transpose, size_t m, \
            size_t n, size_t k, scalar alpha, cl_mem a, size_t a_offset, size_t a_ld, cl_mem b, \
            size_t b_offset, size_t b_ld, scalar beta, cl_mem c, size_t c_offset, size_t c_ld, \
            cl_command_queue *queue, cl_event *event, cl_mem temp_buffer); \
    int CLBlast##X##GemmTempBufferSize(int layout, int a_transpose, int b_transpose, size_t m, \
            size_t n, size_t k, size_t a_offset, size_t a_ld, size_t b_offset, size_t b_ld, \
            size_t c_offset, size_t c_ld, cl_command_queue *queue, size_t *temp_buffer_size); \
    int CLBlast##X##gemmBatched(int layout, int a_transpose, int b_transpose, size_t m, size_t n, \
            size_t k, const scalar *alphas, cl_mem a, const size_t *a_offsets, size_t a_ld, \
            cl_mem b, const size_t *b_offsets, size_t b_ld, const scalar *betas, cl_mem c, \
            const size_t *c_offsets, size_t c_ld, size_t batch_count, cl_command_queue *queue, \
            cl_event *event); \
    int CLBlast##X##gemmStridedBatched(int layout, int a_transpose, int b_transpose, size_t m, \
            size_t n, size_t k, scalar alpha, cl_mem a, size_t a_offset, size_t a_ld, \
            size_t a_stride, cl_mem b, size_t b_offset, size_t b_ld, size_t b_stride, scalar beta, \
            cl_mem c, size_t c_offset, size_t c_ld, size_t c_stride, size_t batch_count, \
            cl_command_queue *queue, cl_event *event);
#define SYMM(Name, precision, scalar, hermitian) \
    int CLBlast##Name(int layout, int side, int triangle, size_t m, size_t n, scalar alpha, \
            cl_mem a, size_t a_offset, size_t a_ld, cl_mem b, size_t b_offset, size_t b_ld, \
            scalar beta, cl_mem c, size_t c_offset, size_t c_ld, cl_command_queue *queue, \
            cl_event *event);
#define SYRK(Name, precision, scalar, hermitian) \
    int CLBlast##Name(int layout, int triangle, int a_transpose, size_t n, size_t k, \
            scalar alpha, cl_mem a, size_t a_offset, size_t a_ld, scalar beta, cl_mem c, \
            size_t c_offset, size_t c_ld, cl_command_queue *queue, cl_event *event);
#include "routines.inc"

int CLBlastClearCache(void);
int CLBlastFillCache(cl_device_id device);

enum {
    KILN_CLBLAST_INVALID_VALUE = -30,
    KILN_CLBLAST_INVALID_COMMAND_QUEUE = -36,
    KILN_CLBLAST_NOT_IMPLEMENTED = -1024,
    KILN_CLBLAST_INVALID_DIMENSION = -1017,
    KILN_CLBLAST_INVALID_LD_A = -1016,  /* of B and C: one and two more */
    KILN_CLBLAST_TOO_SMALL_A = -1011,   /* likewise */
    KILN_CLBLAST_INVALID_BATCH_COUNT = -2049,
};

/* The product that a call describes. */
struct kiln_clblast_call {
    const char *name;                  /* by which it was called */
    struct kiln_gemm gemm;
    int status;                        /* not 0: what is wrong with it */
    int is_swapped;                    /* Kiln's A is what the caller named B, and the reverse */
};

/* ---- status.c ---- */

/* Kiln's status as CLBlast would say it. */
int kiln_clblast_status(enum kiln_status status);

/* A line on standard error of what became of the call, where KILN_CLBLAST_VERBOSE is 1. */
void kiln_clblast_say(const struct kiln_clblast_call *call, int status, int is_by_clblast);

/* ---- calls.c ---- */

struct kiln_clblast_call kiln_clblast_gemm(const char *name, enum kiln_precision precision,
        int layout, int a_transpose, int b_transpose, size_t m, size_t n, size_t k, size_t a_ld,
        size_t b_ld, size_t c_ld);
struct kiln_clblast_call kiln_clblast_symm(const char *name, enum kiln_precision precision,
        int hermitian, int layout, int side, int triangle, size_t m, size_t n, size_t a_ld,
        size_t b_ld, size_t c_ld);
struct kiln_clblast_call kiln_clblast_syrk(const char *name, enum kiln_precision precision,
        int hermitian, int layout, int triangle, int a_transpose, size_t n, size_t k, size_t a_ld,
        size_t c_ld);

/* What is left to say of it. Scalars are of the precision; those of a Hermitian syrk are real. */
void kiln_clblast_scalars(struct kiln_clblast_call *call, const void *alpha, const void *beta);
void kiln_clblast_operands(struct kiln_clblast_call *call, cl_mem a, size_t a_offset, cl_mem b,
        size_t b_offset, cl_mem c, size_t c_offset);
void kiln_clblast_strides(struct kiln_clblast_call *call, size_t a_stride, size_t b_stride,
        size_t c_stride, size_t batch_count);

/* Enqueues it. KILN_CLBLAST_NOT_IMPLEMENTED: Kiln has no kernel for it. */
int kiln_clblast_enqueue(const struct kiln_clblast_call *call, const cl_command_queue *queue,
        cl_event *event);
/* Members that lie anywhere, each with scalars of its own. */
int kiln_clblast_enqueue_members(const struct kiln_clblast_call *call, size_t count,
        const void *alphas, const size_t *a_offsets, const size_t *b_offsets, const void *betas,
        const size_t *c_offsets, const cl_command_queue *queue, cl_event *event);
int kiln_clblast_workspace(const struct kiln_clblast_call *call, const cl_command_queue *queue,
        size_t *bytes);

/* ---- contexts.c ---- */

/* Kiln's context for the queue's context and device, made at the first call and kept. On success
 * kiln_clblast_leave must follow; until then it is not destroyed. */
enum kiln_status kiln_clblast_enter(cl_command_queue queue, struct kiln_context **context);
void kiln_clblast_leave(void);

/* ---- fallback.c ---- */

typedef void (*kiln_clblast_function)(void);

/* CLBlast's function of this name, as linkers see it; NULL: there is no CLBlast, or it has none.
 * CLBlast is loaded for it, if it is not and may be. */
kiln_clblast_function kiln_clblast_fallback(const char *name, int may_load);

/* Whether this thread is in a function of CLBlast's that this library has called. CLBlast's
 * functions in C call those in C++ by name. If this library was loaded first, these calls come
 * here, and must be passed on to CLBlast. */
extern KILN_CLBLAST_THREAD_LOCAL int kiln_clblast_is_passed_on;

#ifdef __cplusplus
}
#endif

#endif
