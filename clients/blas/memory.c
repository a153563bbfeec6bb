/* memory.c: where the operands are for the device.
 *
 * With zero copy they stay where they are, in buffers over the program's own memory. Operands whose
 * spans overlap or interleave share a buffer, because OpenCL does not define what two buffers over
 * the same memory do. Without it they are copied to buffers of a pool, without what lies between
 * their lines, and C is copied back.
 */
#include "blas.h"

#include <stdint.h>
#include <string.h>

/* Bytes that a line in the pool is a multiple of. */
enum { LINE_BYTES = 128 };

/* The pool. A buffer grows with its operand and is kept for the next call. */
static struct {
    cl_mem buffer;
    size_t bytes;
} pool[KILN_BLAS_NUM_OPERANDS];

static const char *conclude(cl_int error)
{
    return error == CL_SUCCESS ? NULL : kiln_status_string((enum kiln_status) error);
}

/* Bytes from the first element to the last. */
static size_t span_of(const struct kiln_blas_call *call, const struct kiln_blas_operand *operand)
{
    return ((operand->lines - 1) * operand->ld + operand->length) * call->element_bytes;
}

static bool reads_c(const struct kiln_blas_call *call)
{
    return call->gemm.beta != 0 || call->gemm.beta_imag != 0;
}

/* ---- Zero copy ---- */

/* Memory that one buffer is made over. */
struct stretch {
    uintptr_t begin, end;
    unsigned operands;                 /* a bit for each */
};

/* The stretch of operand `which`, and of all operands that it overlaps. */
static struct stretch stretch_of(const struct kiln_blas_call *call, int which)
{
    struct stretch stretch = { 0, 0, 0 };
    unsigned before;
    do {
        before = stretch.operands;
        for (int i = 0; i < KILN_BLAS_NUM_OPERANDS; i++) {
            const struct kiln_blas_operand *operand = &call->operands[i];
            if (operand->lines == 0) {
                continue;
            }
            const uintptr_t begin = (uintptr_t) operand->host;
            const uintptr_t end = begin + span_of(call, operand);
            if (i == which && stretch.operands == 0) {
                stretch = (struct stretch){ begin, end, 1u << i };
            } else if (stretch.operands != 0 && begin < stretch.end && stretch.begin < end) {
                stretch.begin = begin < stretch.begin ? begin : stretch.begin;
                stretch.end = end > stretch.end ? end : stretch.end;
                stretch.operands |= 1u << i;
            }
        }
    } while (stretch.operands != before);
    return stretch;
}

static const char *share(struct kiln_blas_device *device, struct kiln_blas_call *call)
{
    for (int which = 0; which < KILN_BLAS_NUM_OPERANDS; which++) {
        if (call->operands[which].lines == 0 || call->operands[which].buffer != NULL) {
            continue;
        }
        const struct stretch stretch = stretch_of(call, which);
        const bool is_written = (stretch.operands & 1u << KILN_BLAS_C) != 0;
        cl_int error;
        cl_mem buffer = clCreateBuffer(device->context,
                CL_MEM_USE_HOST_PTR | (is_written ? CL_MEM_READ_WRITE : CL_MEM_READ_ONLY),
                stretch.end - stretch.begin, (void *) stretch.begin, &error);
        if (buffer == NULL) {
            return conclude(error);
        }
        bool is_aligned = true;
        for (int i = 0; i < KILN_BLAS_NUM_OPERANDS; i++) {
            struct kiln_blas_operand *operand = &call->operands[i];
            if ((stretch.operands & 1u << i) != 0) {
                const size_t offset = (uintptr_t) operand->host - stretch.begin;
                is_aligned &= (uintptr_t) operand->host % call->element_bytes == 0;
                operand->buffer = buffer;
                operand->device_offset = offset / call->element_bytes;
                operand->device_ld = operand->ld;
            }
        }
        /* Kernels need elements at multiples of their size. */
        if (!is_aligned) {
            return "an operand begins at a part of an element";
        }
    }
    return NULL;
}

/* The host may look at what the device wrote when it has mapped it. */
static const char *map_once(struct kiln_blas_device *device, const struct kiln_blas_call *call,
        cl_event done)
{
    const struct kiln_blas_operand *c = &call->operands[KILN_BLAS_C];
    cl_int error, state = CL_COMPLETE;
    void *mapped = clEnqueueMapBuffer(device->queue, c->buffer, CL_TRUE, CL_MAP_READ,
            c->device_offset * call->element_bytes, span_of(call, c), 1, &done, NULL, &error);
    if (error == CL_SUCCESS) {
        error = clEnqueueUnmapMemObject(device->queue, c->buffer, mapped, 0, NULL, NULL);
    }
    if (error == CL_SUCCESS) {
        error = clFinish(device->queue);
    }
    if (error == CL_SUCCESS) {
        error = clGetEventInfo(done, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    }
    return conclude(error != CL_SUCCESS ? error : state);
}

static void unshare(struct kiln_blas_call *call)
{
    cl_mem *const a = &call->operands[KILN_BLAS_A].buffer;
    cl_mem *const b = &call->operands[KILN_BLAS_B].buffer;
    cl_mem *const c = &call->operands[KILN_BLAS_C].buffer;
    if (*a != NULL) {
        clReleaseMemObject(*a);
    }
    if (*b != NULL && *b != *a) {
        clReleaseMemObject(*b);
    }
    if (*c != NULL && *c != *a && *c != *b) {
        clReleaseMemObject(*c);
    }
}

/* ---- Copies ---- */

/* Gives an operand a buffer of the pool. */
static cl_int place(struct kiln_blas_device *device, struct kiln_blas_call *call, int which)
{
    struct kiln_blas_operand *operand = &call->operands[which];
    const size_t multiple = LINE_BYTES / call->element_bytes;
    const size_t padded = (operand->length + multiple - 1) / multiple * multiple;
    operand->device_ld = operand->ld == operand->length ? operand->length : padded;
    const size_t bytes = operand->lines * operand->device_ld * call->element_bytes;
    cl_int error = CL_SUCCESS;
    if (pool[which].bytes < bytes) {
        if (pool[which].buffer != NULL) {
            clReleaseMemObject(pool[which].buffer);
        }
        pool[which].buffer = clCreateBuffer(device->context, CL_MEM_READ_WRITE, bytes, NULL,
                &error);
        pool[which].bytes = pool[which].buffer != NULL ? bytes : 0;
    }
    operand->buffer = pool[which].buffer;
    return error;
}

/* What is needed to copy an operand. One without gaps is copied as one line. */
struct rectangle {
    size_t region[3], device_pitch, host_pitch;
};

static struct rectangle rectangle_of(const struct kiln_blas_call *call,
        const struct kiln_blas_operand *operand)
{
    const size_t bytes = call->element_bytes;
    if (operand->ld == operand->length) {
        return (struct rectangle){ { operand->length * operand->lines * bytes, 1, 1 }, 0, 0 };
    }
    return (struct rectangle){ { operand->length * bytes, operand->lines, 1 },
        operand->device_ld * bytes, operand->ld * bytes };
}

static const size_t origin[3] = { 0, 0, 0 };

static bool is_same(const struct kiln_blas_operand *a, const struct kiln_blas_operand *b)
{
    return a->host == b->host && a->lines == b->lines && a->length == b->length && a->ld == b->ld;
}

static const char *upload(struct kiln_blas_device *device, struct kiln_blas_call *call)
{
    cl_int error = CL_SUCCESS;
    for (int i = 0; i < KILN_BLAS_NUM_OPERANDS && error == CL_SUCCESS; i++) {
        struct kiln_blas_operand *operand = &call->operands[i];
        if (operand->lines == 0) {
            continue;
        }
        if (i == KILN_BLAS_B && is_same(operand, &call->operands[KILN_BLAS_A])) {
            *operand = call->operands[KILN_BLAS_A];
            continue;
        }
        error = place(device, call, i);
        if (error == CL_SUCCESS && (i != KILN_BLAS_C || reads_c(call))) {
            const struct rectangle r = rectangle_of(call, operand);
            error = clEnqueueWriteBufferRect(device->queue, operand->buffer, CL_FALSE, origin,
                    origin, r.region, r.device_pitch, 0, r.host_pitch, 0, operand->host, 0, NULL,
                    NULL);
        }
    }
    return conclude(error);
}

/* Copies one triangle of C, line by line, out of the mapped buffer. */
static const char *download_triangle(struct kiln_blas_device *device,
        const struct kiln_blas_call *call)
{
    const struct kiln_blas_operand *c = &call->operands[KILN_BLAS_C];
    const bool is_head = (call->gemm.uplo_c == KILN_UPPER) == (call->gemm.layout == KILN_COL_MAJOR);
    const size_t bytes = call->element_bytes;
    cl_int error;
    char *mapped = clEnqueueMapBuffer(device->queue, c->buffer, CL_TRUE, CL_MAP_READ, 0,
            c->lines * c->device_ld * bytes, 0, NULL, NULL, &error);
    if (error != CL_SUCCESS) {
        return conclude(error);
    }
    for (size_t i = 0; i < c->lines; i++) {
        const size_t first = is_head ? 0 : i, num = is_head ? i + 1 : c->length - i;
        memcpy(c->host + (i * c->ld + first) * bytes, mapped + (i * c->device_ld + first) * bytes,
                num * bytes);
    }
    clEnqueueUnmapMemObject(device->queue, c->buffer, mapped, 0, NULL, NULL);
    clFinish(device->queue);
    return NULL;
}

static const char *download(struct kiln_blas_device *device, const struct kiln_blas_call *call,
        cl_event done, bool *touched)
{
    const struct kiln_blas_operand *c = &call->operands[KILN_BLAS_C];
    const struct rectangle r = rectangle_of(call, c);
    const cl_int error = clWaitForEvents(1, &done);
    if (error != CL_SUCCESS) {
        return conclude(error);
    }
    if (call->gemm.uplo_c != 0) {
        return download_triangle(device, call);
    }
    *touched = true;
    return conclude(clEnqueueReadBufferRect(device->queue, c->buffer, CL_TRUE, origin, origin,
            r.region, r.device_pitch, 0, r.host_pitch, 0, c->host, 0, NULL, NULL));
}

/* Empties the pool if it is larger than it may stay. */
static void trim(const struct kiln_blas_device *device)
{
    size_t bytes = 0;
    for (int i = 0; i < KILN_BLAS_NUM_OPERANDS; i++) {
        bytes += pool[i].bytes;
    }
    for (int i = 0; i < KILN_BLAS_NUM_OPERANDS && bytes > device->pool_bytes; i++) {
        if (pool[i].buffer != NULL) {
            clReleaseMemObject(pool[i].buffer);
        }
        pool[i].buffer = NULL;
        pool[i].bytes = 0;
    }
}

/* ---- Both ---- */

const char *kiln_blas_bring(struct kiln_blas_device *device, struct kiln_blas_call *call)
{
    return device->zero_copy ? share(device, call) : upload(device, call);
}

const char *kiln_blas_fetch(struct kiln_blas_device *device, struct kiln_blas_call *call,
        cl_event done, bool *touched)
{
    *touched = device->zero_copy;
    return device->zero_copy ? map_once(device, call, done) : download(device, call, done, touched);
}

void kiln_blas_release(struct kiln_blas_device *device, struct kiln_blas_call *call)
{
    if (device->zero_copy) {
        unshare(call);
    } else {
        trim(device);
    }
}
