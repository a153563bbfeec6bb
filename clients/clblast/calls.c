/* calls.c: calls of CLBlast written as Kiln's. */
#include "kiln_clblast.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static bool is_complex(enum kiln_precision precision)
{
    return precision == KILN_COMPLEX_SINGLE || precision == KILN_COMPLEX_DOUBLE;
}

static size_t element_bytes(enum kiln_precision precision)
{
    switch (precision) {
    case KILN_HALF: return sizeof(cl_half);
    case KILN_SINGLE: return sizeof(cl_float);
    case KILN_COMPLEX_DOUBLE: return sizeof(cl_double2);
    default: return sizeof(cl_double);
    }
}

/* ---- what is multiplied ---- */

/* Kiln takes a leading dimension of 0 for the least there is; to CLBlast it is too short. */
static int least_status(size_t a_ld, size_t b_ld, size_t c_ld)
{
    const size_t lds[] = { a_ld, b_ld, c_ld };
    for (int i = 0; i < 3; i++) {
        if (lds[i] == 0) {
            return KILN_CLBLAST_INVALID_LD_A + i;
        }
    }
    return 0;
}

static struct kiln_clblast_call call_of(const char *name, enum kiln_precision precision, int layout,
        size_t m, size_t n, size_t k)
{
    const struct kiln_clblast_call call = {
        .name = name,
        .status = m == 0 || n == 0 || k == 0 ? KILN_CLBLAST_INVALID_DIMENSION
                  : layout == 0              ? KILN_CLBLAST_INVALID_VALUE /* Kiln's default */
                                             : 0,
        .gemm = {
            .precision = precision,
            .layout = (enum kiln_layout) layout,
            .transa = KILN_NO_TRANS,
            .transb = KILN_NO_TRANS,
            .m = m,
            .n = n,
            .k = k,
        },
    };
    return call;
}

struct kiln_clblast_call kiln_clblast_gemm(const char *name, enum kiln_precision precision,
        int layout, int a_transpose, int b_transpose, size_t m, size_t n, size_t k, size_t a_ld,
        size_t b_ld, size_t c_ld)
{
    struct kiln_clblast_call call = call_of(name, precision, layout, m, n, k);
    call.gemm.transa = (enum kiln_transpose) a_transpose;
    call.gemm.transb = (enum kiln_transpose) b_transpose;
    call.gemm.lda = a_ld, call.gemm.ldb = b_ld, call.gemm.ldc = c_ld;
    if (call.status == 0 && (a_transpose == 0 || b_transpose == 0)) {
        call.status = KILN_CLBLAST_INVALID_VALUE;
    }
    call.status = call.status != 0 ? call.status : least_status(a_ld, b_ld, c_ld);
    return call;
}

struct kiln_clblast_call kiln_clblast_symm(const char *name, enum kiln_precision precision,
        int hermitian, int layout, int side, int triangle, size_t m, size_t n, size_t a_ld,
        size_t b_ld, size_t c_ld)
{
    const bool is_right = side == KILN_RIGHT;
    struct kiln_clblast_call call = call_of(name, precision, layout, m, n, is_right ? n : m);
    /* Kiln's A is what stands on the left. */
    call.is_swapped = is_right;
    call.gemm.lda = is_right ? b_ld : a_ld;
    call.gemm.ldb = is_right ? a_ld : b_ld;
    call.gemm.ldc = c_ld;
    call.gemm.hermitian = hermitian;
    *(is_right ? &call.gemm.uplo_b : &call.gemm.uplo_a) = (enum kiln_uplo) triangle;
    if (call.status == 0 && ((side != KILN_LEFT && !is_right) || triangle == 0)) {
        call.status = KILN_CLBLAST_INVALID_VALUE;
    }
    call.status = call.status != 0 ? call.status : least_status(a_ld, b_ld, c_ld);
    return call;
}

struct kiln_clblast_call kiln_clblast_syrk(const char *name, enum kiln_precision precision,
        int hermitian, int layout, int triangle, int a_transpose, size_t n, size_t k, size_t a_ld,
        size_t c_ld)
{
    const enum kiln_transpose other = hermitian ? KILN_CONJ_TRANS : KILN_TRANS;
    const bool is_plain = a_transpose == KILN_NO_TRANS;
    const bool is_other = a_transpose == KILN_TRANS || a_transpose == KILN_CONJ_TRANS;
    struct kiln_clblast_call call = call_of(name, precision, layout, n, n, k);
    call.gemm.transa = is_plain ? KILN_NO_TRANS : other;
    call.gemm.transb = is_plain ? other : KILN_NO_TRANS;
    call.gemm.lda = call.gemm.ldb = a_ld;
    call.gemm.ldc = c_ld;
    call.gemm.uplo_c = (enum kiln_uplo) triangle;
    call.gemm.hermitian = hermitian;
    if (call.status == 0 && (triangle == 0 || (!is_plain && !is_other))) {
        call.status = KILN_CLBLAST_INVALID_VALUE;
    }
    call.status = call.status != 0 ? call.status : least_status(a_ld, a_ld, c_ld);
    return call;
}

/* ---- scalars ---- */

static double of_half(cl_half bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double size = exponent == 31 ? (fraction != 0 ? (double) NAN : (double) INFINITY)
                      : exponent > 0   ? ldexp(1024 + fraction, exponent - 25)
                                       : ldexp(fraction, -24);
    return (bits & 0x8000) != 0 ? -size : size;
}

/* The real part (0) or the imaginary one (1) of a scalar. */
static double part_of(enum kiln_precision precision, const void *scalar, int part)
{
    switch (precision) {
    case KILN_HALF: return of_half(*(const cl_half *) scalar);
    case KILN_SINGLE:
    case KILN_COMPLEX_SINGLE: return (double) ((const cl_float *) scalar)[part];
    default: return ((const cl_double *) scalar)[part];
    }
}

void kiln_clblast_scalars(struct kiln_clblast_call *call, const void *alpha, const void *beta)
{
    struct kiln_gemm *gemm = &call->gemm;
    if (call->status != 0) {
        return;
    }
    const bool is_real = !is_complex(gemm->precision) || (gemm->hermitian && gemm->uplo_c != 0);
    gemm->alpha = part_of(gemm->precision, alpha, 0);
    gemm->beta = part_of(gemm->precision, beta, 0);
    gemm->alpha_imag = is_real ? 0 : part_of(gemm->precision, alpha, 1);
    gemm->beta_imag = is_real ? 0 : part_of(gemm->precision, beta, 1);
}

/* ---- operands ---- */

void kiln_clblast_operands(struct kiln_clblast_call *call, cl_mem a, size_t a_offset, cl_mem b,
        size_t b_offset, cl_mem c, size_t c_offset)
{
    struct kiln_gemm *gemm = &call->gemm;
    gemm->a = call->is_swapped ? b : a;
    gemm->a_offset = call->is_swapped ? b_offset : a_offset;
    gemm->b = call->is_swapped ? a : b;
    gemm->b_offset = call->is_swapped ? a_offset : b_offset;
    gemm->c = c;
    gemm->c_offset = c_offset;
}

void kiln_clblast_strides(struct kiln_clblast_call *call, size_t a_stride, size_t b_stride,
        size_t c_stride, size_t batch_count)
{
    struct kiln_gemm *gemm = &call->gemm;
    gemm->a_stride = a_stride;
    gemm->b_stride = b_stride;
    gemm->c_stride = c_stride;
    gemm->batch_count = batch_count;
    /* To CLBlast a stride of 0 is as bad as a size of 0, of a single member too. */
    if (batch_count == 0) {
        call->status = KILN_CLBLAST_INVALID_BATCH_COUNT;
    } else if (c_stride == 0) {
        call->status = KILN_CLBLAST_INVALID_DIMENSION;
    }
}

/* ---- enqueueing ---- */

/* Kiln's status in the caller's names of the operands. */
static int status_of(const struct kiln_clblast_call *call, enum kiln_status status)
{
    const int became = kiln_clblast_status(status);
    const int first[] = { -1022, KILN_CLBLAST_INVALID_LD_A, KILN_CLBLAST_TOO_SMALL_A };
    for (size_t i = 0; call->is_swapped && i < sizeof first / sizeof *first; i++) {
        if (became == first[i] || became == first[i] + 1) {
            return 2 * first[i] + 1 - became;
        }
    }
    return became;
}

/* Whether rows of one C lie between those of another, each for itself. */
static bool are_side_by_side(const struct kiln_gemm *gemm)
{
    const size_t row = gemm->layout == KILN_COL_MAJOR ? gemm->m : gemm->n;
    return gemm->c_stride >= row && (gemm->batch_count - 1) * gemm->c_stride + row <= gemm->ldc;
}

/* Enqueues the members one after the other, where C of one begins before that of another ends: a
 * batch does not allow it. Kiln has checked everything else. If they may overlap, each waits for
 * the one before: the queue may have no order. */
static enum kiln_status enqueue_apart(struct kiln_context *context, struct kiln_gemm gemm,
        cl_command_queue queue, cl_event *event)
{
    const size_t count = gemm.batch_count;
    const bool is_ordered = !are_side_by_side(&gemm);
    enum kiln_status status = KILN_SUCCESS;
    cl_event last = NULL;
    gemm.batch_count = 1;
    for (size_t i = 0; i < count && status == KILN_SUCCESS; i++) {
        const cl_event before = last;
        last = NULL;
        status = kiln_gemm_enqueue(context, &gemm, queue, before != NULL,
                before != NULL ? &before : NULL, is_ordered ? &last : NULL);
        if (before != NULL) {
            clReleaseEvent(before);
        }
        gemm.a_offset += gemm.a_stride;
        gemm.b_offset += gemm.b_stride;
        gemm.c_offset += gemm.c_stride;
    }
    if (status == KILN_SUCCESS && event != NULL) {
        status = (enum kiln_status) clEnqueueMarkerWithWaitList(queue, 0, NULL, event);
    }
    if (last != NULL) {
        clReleaseEvent(last);
    }
    return status;
}

/* What is known to be wrong before Kiln is asked. CLBlast asks the queue first. */
static int refusal(const struct kiln_clblast_call *call, const cl_command_queue *queue)
{
    return queue == NULL || *queue == NULL ? KILN_CLBLAST_INVALID_COMMAND_QUEUE : call->status;
}

int kiln_clblast_enqueue(const struct kiln_clblast_call *call, const cl_command_queue *queue,
        cl_event *event)
{
    struct kiln_context *context;
    const int refused = refusal(call, queue);
    if (refused != 0) {
        return refused;
    }
    enum kiln_status status = kiln_clblast_enter(*queue, &context);
    if (status == KILN_SUCCESS) {
        status = kiln_gemm_enqueue(context, &call->gemm, *queue, 0, NULL, event);
        if (status == KILN_INVALID_BATCH_STRIDE) {
            status = enqueue_apart(context, call->gemm, *queue, event);
        }
        kiln_clblast_leave();
    }
    return status_of(call, status);
}

/* The largest need of three calls, as alpha and beta matter too and are not known yet: C is only
 * scaled, or scalars are real, or complex. */
static enum kiln_status most_workspace(struct kiln_context *context, struct kiln_gemm gemm,
        size_t *bytes)
{
    enum kiln_status status = KILN_SUCCESS;
    *bytes = 0;
    gemm.beta = 2;
    for (int i = 0; i < 3 && status == KILN_SUCCESS; i++) {
        size_t here;
        gemm.alpha = i > 0;
        gemm.alpha_imag = gemm.beta_imag = i > 1;
        status = kiln_gemm_workspace_bytes(context, &gemm, &here);
        *bytes = here > *bytes ? here : *bytes;
    }
    return status;
}

int kiln_clblast_workspace(const struct kiln_clblast_call *call, const cl_command_queue *queue,
        size_t *bytes)
{
    struct kiln_context *context;
    const int refused = refusal(call, queue);
    if (refused == KILN_CLBLAST_INVALID_COMMAND_QUEUE || bytes == NULL) {
        return bytes == NULL ? KILN_CLBLAST_INVALID_VALUE : refused;
    }
    *bytes = 0;
    if (refused != 0) {
        return 0; /* the product will be refused, and says why, as with CLBlast */
    }
    enum kiln_status status = kiln_clblast_enter(*queue, &context);
    if (status == KILN_SUCCESS) {
        status = most_workspace(context, call->gemm, bytes);
        kiln_clblast_leave();
    }
    return status >= KILN_INVALID_LAYOUT && status <= KILN_INVALID_LDC
                 ? 0
                 : status_of(call, status);
}

/* ---- members that lie anywhere ---- */

/* Elements from the first of a matrix to behind its last. */
static size_t span(const struct kiln_gemm *gemm, size_t rows, size_t columns, size_t ld)
{
    const bool by_columns = gemm->layout == KILN_COL_MAJOR;
    return ((by_columns ? columns : rows) - 1) * ld + (by_columns ? rows : columns);
}

struct members {
    const struct kiln_clblast_call *call;
    size_t count, element_bytes, scalar_bytes, c_span;
    const char *alphas, *betas;
    const size_t *a_offsets, *b_offsets, *c_offsets;
};

/* The product of the members from `first` on that follow each other at one distance and have one
 * alpha and beta. */
static struct kiln_clblast_call run_of(const struct members *members, size_t first)
{
    struct kiln_clblast_call call = *members->call;
    const size_t *a = members->a_offsets + first, *b = members->b_offsets + first,
                 *c = members->c_offsets + first;
    size_t num = 1;
    kiln_clblast_scalars(&call, members->alphas + first * members->scalar_bytes,
            members->betas + first * members->scalar_bytes);
    for (; first + num < members->count; num++) {
        struct kiln_clblast_call next = *members->call;
        kiln_clblast_scalars(&next, members->alphas + (first + num) * members->scalar_bytes,
                members->betas + (first + num) * members->scalar_bytes);
        if (next.gemm.alpha != call.gemm.alpha || next.gemm.alpha_imag != call.gemm.alpha_imag ||
                next.gemm.beta != call.gemm.beta || next.gemm.beta_imag != call.gemm.beta_imag ||
                a[num] < a[0] || b[num] < b[0] || c[num] < c[0] + members->c_span ||
                (a[num] - a[0]) != num * (a[1] - a[0]) || (b[num] - b[0]) != num * (b[1] - b[0]) ||
                (c[num] - c[0]) != num * (c[1] - c[0])) {
            break;
        }
    }
    call.gemm.a_offset = a[0], call.gemm.b_offset = b[0], call.gemm.c_offset = c[0];
    if (num > 1) {
        kiln_clblast_strides(&call, a[1] - a[0], b[1] - b[0], c[1] - c[0], num);
    }
    return call;
}

/* Does a member read A and B? */
static bool member_reads(const struct members *members, size_t i)
{
    struct kiln_clblast_call call = *members->call;
    kiln_clblast_scalars(&call, members->alphas + i * members->scalar_bytes,
            members->betas + i * members->scalar_bytes);
    return call.gemm.alpha != 0 || call.gemm.alpha_imag != 0;
}

/* Whether the last member ends within the buffer, as far as OpenCL tells. is_c: else those count
 * that read A and B. */
static bool fits(const struct members *members, bool is_c, cl_mem buffer, const size_t *offsets,
        size_t span)
{
    const size_t bytes = members->element_bytes;
    size_t size = 0, last = 0, num = 0;
    for (size_t i = 0; i < members->count; i++) {
        if (is_c || member_reads(members, i)) {
            last = offsets[i] > last ? offsets[i] : last;
            num++;
        }
    }
    return num == 0 ||
           clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof size, &size, NULL) != CL_SUCCESS ||
           (last <= size / bytes && span <= size / bytes - last);
}

/* Where each member lies is checked before any is enqueued. Other errors in the arguments are the
 * same for all members that read A and B, or for all, and are found at the first. */
static int check(const struct members *members)
{
    const struct kiln_gemm *gemm = &members->call->gemm;
    const bool a_is_plain = gemm->transa == KILN_NO_TRANS,
               b_is_plain = gemm->transb == KILN_NO_TRANS;
    const size_t a_span = span(gemm, a_is_plain ? gemm->m : gemm->k, a_is_plain ? gemm->k : gemm->m,
            gemm->lda);
    const size_t b_span = span(gemm, b_is_plain ? gemm->k : gemm->n, b_is_plain ? gemm->n : gemm->k,
            gemm->ldb);
    if (!fits(members, false, gemm->a, members->a_offsets, a_span)) {
        return KILN_CLBLAST_TOO_SMALL_A;
    }
    if (!fits(members, false, gemm->b, members->b_offsets, b_span)) {
        return KILN_CLBLAST_TOO_SMALL_A + 1;
    }
    return fits(members, true, gemm->c, members->c_offsets, members->c_span)
                 ? 0
                 : KILN_CLBLAST_TOO_SMALL_A + 2;
}

/* Runs of the members from `begin` to `end`, one after the other; the events of all are kept where
 * one is wanted. */
static int enqueue_runs(const struct members *members, size_t begin, size_t end,
        const cl_command_queue *queue, cl_event *events, size_t *num_events)
{
    int status = 0;
    for (size_t i = begin; i < end && status == 0;) {
        const struct kiln_clblast_call run = run_of(members, i);
        status = kiln_clblast_enqueue(&run, queue, events != NULL ? &events[*num_events] : NULL);
        *num_events += status == 0;
        i += run.gemm.batch_count > 0 ? run.gemm.batch_count : 1;
        /* Only at the first run may CLBlast serve: it would compute all of them. */
        if (status == KILN_CLBLAST_NOT_IMPLEMENTED && *num_events > 0) {
            status = CL_OUT_OF_RESOURCES;
        }
    }
    return status;
}

int kiln_clblast_enqueue_members(const struct kiln_clblast_call *call, size_t count,
        const void *alphas, const size_t *a_offsets, const size_t *b_offsets, const void *betas,
        const size_t *c_offsets, const cl_command_queue *queue, cl_event *event)
{
    const size_t bytes = element_bytes(call->gemm.precision);
    const struct members members = {
        .call = call,
        .count = count,
        .element_bytes = bytes,
        .scalar_bytes = bytes,
        .c_span = call->status == 0 ? span(&call->gemm, call->gemm.m, call->gemm.n, call->gemm.ldc)
                                    : 0,
        .alphas = alphas,
        .betas = betas,
        .a_offsets = a_offsets,
        .b_offsets = b_offsets,
        .c_offsets = c_offsets,
    };
    const int refused = refusal(call, queue);
    if (refused != 0 || count == 0) {
        return refused == KILN_CLBLAST_INVALID_COMMAND_QUEUE || count > 0
                     ? refused
                     : KILN_CLBLAST_INVALID_BATCH_COUNT;
    }
    if (alphas == NULL || betas == NULL || a_offsets == NULL || b_offsets == NULL ||
            c_offsets == NULL) {
        return KILN_CLBLAST_INVALID_VALUE;
    }
    size_t first = 0; /* that reads A and B */
    while (first < count && !member_reads(&members, first)) {
        first++;
    }
    const cl_mem buffers[] = { call->gemm.a, call->gemm.b, call->gemm.c };
    for (int i = first < count ? 0 : 2; i < 3; i++) {
        if (buffers[i] == NULL) {
            return -1022 + i;
        }
    }
    int status = check(&members);
    if (status != 0) {
        return status;
    }
    cl_event *events = event != NULL && count <= SIZE_MAX / sizeof *events
                             ? malloc(count * sizeof *events)
                             : NULL;
    if (event != NULL && events == NULL) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    /* What is wrong with A and B is found at the first that reads them, so that it comes first. No
     * member before it is of its run. */
    size_t num = 0;
    status = enqueue_runs(&members, first, count, queue, events, &num);
    if (status == 0) {
        status = enqueue_runs(&members, 0, first, queue, events, &num);
    }
    if (status == 0 && event != NULL && num == 1) {
        *event = events[0];
        num = 0;
    } else if (status == 0 && event != NULL) {
        status = clEnqueueMarkerWithWaitList(*queue, (cl_uint) num, events, event);
    }
    for (size_t i = 0; events != NULL && i < num; i++) {
        clReleaseEvent(events[i]);
    }
    free(events);
    return status;
}
