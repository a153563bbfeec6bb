/* serve.c: who computes a call, and the call itself on the device.
 *
 * If anything goes wrong before C is written, the fallback computes the call.
 */
#include "blas.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* A call is the device's from so many operations on: some for the call, some for each byte of A and
 * B, some for each byte of C. README.md says how they were measured. */
struct limit {
    double least_ops, ops_per_input_byte, ops_per_result_byte;
};

static const struct limit limit_of_zero_copy = { 3e7, 0, 20 };
static const struct limit limit_of_copies = { 1e8, 40, 80 };

/* Held while the device works for a call: it gets one at a time. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
/* The process that has used OpenCL, or 0. One that is forked from it must not. */
static atomic_long owner;

/* Multiplications and additions of real numbers. */
static double operations(const struct kiln_blas_call *call)
{
    const struct kiln_gemm *gemm = &call->gemm;
    const bool is_complex = gemm->precision == KILN_COMPLEX_SINGLE ||
                            gemm->precision == KILN_COMPLEX_DOUBLE;
    const double all = 2.0 * (double) gemm->m * (double) gemm->n * (double) gemm->k;
    return all * (is_complex ? 4 : 1) / (gemm->uplo_c != 0 ? 2 : 1);
}

static double bytes_of(const struct kiln_blas_call *call, int which)
{
    const struct kiln_blas_operand *operand = &call->operands[which];
    return (double) operand->lines * (double) operand->length * (double) call->element_bytes;
}

/* Is the call large enough? */
static bool is_worth(const struct kiln_blas_call *call, const struct limit *limit)
{
    double least = kiln_blas_settings()->least_ops;
    if (least < 0) {
        const double inputs = bytes_of(call, KILN_BLAS_A) + bytes_of(call, KILN_BLAS_B);
        least = limit->least_ops + limit->ops_per_input_byte * inputs +
                limit->ops_per_result_byte * bytes_of(call, KILN_BLAS_C);
    }
    return operations(call) >= least;
}

static bool is_owner(void)
{
    const long self = (long) getpid();
    long found = 0;
    return atomic_compare_exchange_strong(&owner, &found, self) || found == self;
}

/* NULL: done. Otherwise why not; *touched says whether C may have been written. */
static const char *compute(struct kiln_blas_device *device, struct kiln_blas_call *call,
        bool *touched)
{
    struct kiln_gemm *gemm = &call->gemm;
    const struct kiln_blas_operand *a = &call->operands[KILN_BLAS_A];
    const struct kiln_blas_operand *b = &call->operands[KILN_BLAS_B];
    const struct kiln_blas_operand *c = &call->operands[KILN_BLAS_C];
    cl_event event = NULL;
    const char *problem = kiln_blas_bring(device, call);
    if (problem == NULL) {
        gemm->a = a->buffer, gemm->a_offset = a->device_offset, gemm->lda = a->device_ld;
        gemm->b = b->buffer, gemm->b_offset = b->device_offset, gemm->ldb = b->device_ld;
        gemm->c = c->buffer, gemm->c_offset = c->device_offset, gemm->ldc = c->device_ld;
        const enum kiln_status status = kiln_gemm_enqueue(device->kiln, gemm, device->queue, 0,
                NULL, &event);
        problem = status == KILN_SUCCESS ? kiln_blas_fetch(device, call, event, touched)
                                         : kiln_status_string(status);
    }
    if (event != NULL) {
        clReleaseEvent(event);
    }
    if (problem != NULL) {
        clFinish(device->queue); /* what was enqueued may still read A and B */
    }
    kiln_blas_release(device, call);
    return problem;
}

/* NULL: done. */
static const char *try_device(struct kiln_blas_call *call)
{
    struct kiln_blas_device *device = kiln_blas_open();
    if (device == NULL) {
        return "there is no device";
    }
    if (!device->has_double &&
            (call->gemm.precision == KILN_DOUBLE || call->gemm.precision == KILN_COMPLEX_DOUBLE)) {
        return "the device has no double precision";
    }
    if (!is_worth(call, device->zero_copy ? &limit_of_zero_copy : &limit_of_copies)) {
        return "it is small";
    }
    bool touched = false;
    const char *problem = compute(device, call, &touched);
    if (problem != NULL && touched && (call->gemm.beta != 0 || call->gemm.beta_imag != 0)) {
        kiln_blas_say("%s: %s, when C was being written: the program ends",
                kiln_blas_symbol(call->name), problem);
        abort();
    }
    return problem;
}

static double seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

bool kiln_blas_serve(struct kiln_blas_call *call)
{
    const bool is_verbose = kiln_blas_settings()->verbose;
    const double begin = is_verbose ? seconds() : 0;
    const char *reason = call->refusal;
    if (reason == NULL && !is_worth(call, &limit_of_zero_copy)) {
        reason = "it is small";
    }
    if (reason == NULL && !is_owner()) {
        reason = "the process was forked from one that used OpenCL";
    }
    if (reason == NULL) {
        int before; /* a thread that is cancelled while it holds the lock would keep it */
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
        pthread_mutex_lock(&turn);
        reason = try_device(call);
        pthread_mutex_unlock(&turn);
        pthread_setcancelstate(before, &before);
    }
    if (is_verbose && reason == NULL) {
        kiln_blas_say("%s %zu %zu %zu: Kiln, %.6f s", kiln_blas_symbol(call->name), call->gemm.m,
                call->gemm.n, call->gemm.k, seconds() - begin);
    } else if (is_verbose) {
        kiln_blas_say("%s %zu %zu %zu: fallback, %s", kiln_blas_symbol(call->name), call->gemm.m,
                call->gemm.n, call->gemm.k, reason);
    }
    return reason == NULL;
}
