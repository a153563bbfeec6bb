/* peer_cublas.c: cuBLAS as a peer, on the same device as Kiln, with copies of the same operands in
 * CUDA's memory. Compiled only where CUDA was found, and then into a module of its own, so that
 * kiln-bench runs where CUDA does not (peer_cublas_load.c).
 *
 * cuBLAS knows column-major matrices only. Row-major C = op(A) op(B) is column-major
 * C' = op(B)' op(A)', and a row-major matrix is its transpose by columns: the operands change
 * places, and nothing else does. */
#include "peers.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

enum { CL_DEVICE_UUID = 0x106a, UUID_BYTES = 16 }; /* cl_khr_device_uuid */

struct peer_cublas {
    cublasHandle_t handle;
    cudaEvent_t events[2];
    void *a, *b, *c;
    const struct problem *problem;
};

static bool cublas_cuda(const char *what, cudaError_t status)
{
    if (status != cudaSuccess) {
        fprintf(stderr, "kiln-bench: cublas: %s: %s\n", what, cudaGetErrorString(status));
    }
    return status == cudaSuccess;
}

static bool cublas_good(const char *what, cublasStatus_t status)
{
    if (status != CUBLAS_STATUS_SUCCESS) {
        fprintf(stderr, "kiln-bench: cublas: %s: %s\n", what, cublasGetStatusString(status));
    }
    return status == CUBLAS_STATUS_SUCCESS;
}

/* ---- Multiplying ---- */

/* Single precision means just that: no TF32. */
static cublasMath_t cublas_math(enum kiln_precision precision)
{
    const bool is_single = precision == KILN_SINGLE || precision == KILN_COMPLEX_SINGLE;

    return is_single ? CUBLAS_PEDANTIC_MATH : CUBLAS_DEFAULT_MATH;
}

/* In the precision of that letter: one product, or a batch. */
#define CUBLAS_GEMM(X, one, zero) \
    (p->batch > 1 ? cublas##X##gemmStridedBatched(handle, transb, transa, n, m, k, one, cublas->b, \
                            ldb, b_stride, cublas->a, lda, a_stride, zero, cublas->c, ldc, \
                            c_stride, num) \
                  : cublas##X##gemm(handle, transb, transa, n, m, k, one, cublas->b, ldb, \
                            cublas->a, lda, zero, cublas->c, ldc))

static bool cublas_multiply(const struct peer_cublas *cublas)
{
    const struct problem *p = cublas->problem;
    const cublasHandle_t handle = cublas->handle;
    const cublasOperation_t transa = p->transa ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasOperation_t transb = p->transb ? CUBLAS_OP_T : CUBLAS_OP_N;
    const int m = (int) p->m, n = (int) p->n, k = (int) p->k, num = (int) p->batch;
    const int lda = (int) p->lda, ldb = (int) p->ldb, ldc = (int) p->ldc;
    const long long a_stride = (long long) p->a_stride, b_stride = (long long) p->b_stride;
    const long long c_stride = (long long) p->c_stride;
    const float one = 1, zero = 0;
    const double wide_one = 1, wide_zero = 0;
    const cuComplex complex_one = { 1, 0 }, complex_zero = { 0, 0 };
    const cuDoubleComplex complex_wide_one = { 1, 0 }, complex_wide_zero = { 0, 0 };
    cublasStatus_t status;

    switch (p->precision) {
    case KILN_HALF:
        status = p->batch > 1
                       ? cublasGemmStridedBatchedEx(handle, transb, transa, n, m, k, &one,
                                 cublas->b, CUDA_R_16F, ldb, b_stride, cublas->a, CUDA_R_16F, lda,
                                 a_stride, &zero, cublas->c, CUDA_R_16F, ldc, c_stride, num,
                                 CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT)
                       : cublasGemmEx(handle, transb, transa, n, m, k, &one, cublas->b, CUDA_R_16F,
                                 ldb, cublas->a, CUDA_R_16F, lda, &zero, cublas->c, CUDA_R_16F, ldc,
                                 CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
        break;
    case KILN_DOUBLE: status = CUBLAS_GEMM(D, &wide_one, &wide_zero); break;
    case KILN_COMPLEX_SINGLE: status = CUBLAS_GEMM(C, &complex_one, &complex_zero); break;
    case KILN_COMPLEX_DOUBLE: status = CUBLAS_GEMM(Z, &complex_wide_one, &complex_wide_zero); break;
    default: status = CUBLAS_GEMM(S, &one, &zero); break;
    }
    return cublas_good("multiplying", status);
}

/* For timer_sample_batches. */
static bool cublas_batch(void *user, size_t count, double *device_seconds)
{
    const struct peer_cublas *cublas = user;
    const bool by_device = device_seconds != NULL;
    float milliseconds = 0;
    bool good = true;

    if (by_device) {
        good = cublas_multiply(cublas) &&
               cublas_cuda("an event", cudaEventRecord(cublas->events[0], NULL));
    }
    for (size_t i = 0; good && i < count; i++) {
        good = cublas_multiply(cublas);
    }
    if (good && by_device) {
        good = cublas_cuda("an event", cudaEventRecord(cublas->events[1], NULL));
    }
    good = cublas_cuda("waiting", cudaDeviceSynchronize()) && good;
    if (good && by_device) {
        good = cublas_cuda("the time",
                cudaEventElapsedTime(&milliseconds, cublas->events[0], cublas->events[1]));
        *device_seconds = 1e-3 * (double) milliseconds;
    }
    return good;
}

/* ---- The peer ---- */

static void cublas_free_operands(struct peer_cublas *cublas)
{
    cudaFree(cublas->a);
    cudaFree(cublas->b);
    cudaFree(cublas->c);
    cublas->a = cublas->b = cublas->c = NULL;
}

static bool cublas_copy(void **to, const void *from, size_t bytes)
{
    return cublas_cuda("memory", cudaMalloc(to, bytes)) &&
           (from == NULL ||
                   cublas_cuda("copying", cudaMemcpy(*to, from, bytes, cudaMemcpyHostToDevice)));
}

static enum peer_answer peer_cublas_prepare(struct peer *peer, const struct problem *problem,
        const struct operands *operands)
{
    struct peer_cublas *cublas = peer->state;

    (void) operands;
    cublas_free_operands(cublas);
    cublas->problem = problem;
    return cublas_copy(&cublas->a, problem->a, problem->a_bytes) &&
                           cublas_copy(&cublas->b, problem->b, problem->b_bytes) &&
                           cublas_copy(&cublas->c, NULL, problem->c_bytes) &&
                           cublas_good("its mode", cublasSetMathMode(cublas->handle,
                                                           cublas_math(problem->precision)))
                 ? PEER_OK
                 : PEER_FAILED;
}

static enum peer_answer peer_cublas_result(struct peer *peer, void *c)
{
    struct peer_cublas *cublas = peer->state;
    size_t bytes = cublas->problem->c_bytes;

    return cublas_cuda("poisoning", cudaMemset(cublas->c, 0xff, bytes)) &&
                           cublas_multiply(cublas) &&
                           cublas_cuda("the result",
                                   cudaMemcpy(c, cublas->c, bytes, cudaMemcpyDeviceToHost))
                 ? PEER_OK
                 : PEER_FAILED;
}

static enum peer_answer peer_cublas_sample(struct peer *peer, double min_seconds,
        struct sample *sample)
{
    return timer_sample_batches(cublas_batch, peer->state, min_seconds, sample)
                 ? PEER_OK
                 : PEER_FAILED;
}

static void peer_cublas_close(struct peer *peer)
{
    struct peer_cublas *cublas = peer->state;

    cublas_free_operands(cublas);
    for (int i = 0; i < 2; i++) {
        if (cublas->events[i] != NULL) {
            cudaEventDestroy(cublas->events[i]);
        }
    }
    if (cublas->handle != NULL) {
        cublasDestroy(cublas->handle);
    }
    free(cublas);
    peer->state = NULL;
}

static const struct peer_class peer_cublas_class = {
    .prepare = peer_cublas_prepare,
    .result = peer_cublas_result,
    .sample = peer_cublas_sample,
    .explain = NULL,
    .close = peer_cublas_close,
};

/* CUDA's number of the OpenCL device. A driver that does not tell its UUID leaves no choice but the
 * only device there is. */
static bool cublas_find_device(cl_device_id id, int *number)
{
    unsigned char uuid[UUID_BYTES];
    bool knows = clGetDeviceInfo(id, CL_DEVICE_UUID, sizeof(uuid), uuid, NULL) == CL_SUCCESS;
    int count = 0;

    if (!cublas_cuda("looking for devices", cudaGetDeviceCount(&count))) {
        return false;
    }
    for (int i = 0; i < count; i++) {
        struct cudaDeviceProp properties;

        if (!cublas_cuda("a device", cudaGetDeviceProperties(&properties, i))) {
            return false;
        }
        if (knows ? memcmp(uuid, &properties.uuid, UUID_BYTES) == 0 : count == 1) {
            *number = i;
            return true;
        }
    }
    fprintf(stderr, "kiln-bench: cublas: none of CUDA's %d devices is the OpenCL device\n", count);
    return false;
}

static void cublas_describe(struct peer *peer, const struct peer_cublas *cublas)
{
    int version = 0;
    int runtime = 0;

    cublasGetVersion(cublas->handle, &version);
    cudaRuntimeGetVersion(&runtime);
    snprintf(peer->detail, sizeof(peer->detail),
            "version %d, CUDA %d.%d; S with pedantic math, H accumulated in single", version,
            runtime / 1000, runtime % 1000 / 10);
}

bool peer_cublas_open(struct peer *peer, const struct peer_setup *setup)
{
    struct peer_cublas *cublas = calloc(1, sizeof(*cublas));
    int number = 0;

    if (cublas == NULL) {
        fprintf(stderr, "kiln-bench: out of memory\n");
        return false;
    }
    peer->class = &peer_cublas_class;
    peer->state = cublas;
    if (!cublas_find_device(setup->device->id, &number) ||
            !cublas_cuda("choosing the device", cudaSetDevice(number)) ||
            !cublas_cuda("an event", cudaEventCreate(&cublas->events[0])) ||
            !cublas_cuda("an event", cudaEventCreate(&cublas->events[1])) ||
            !cublas_good("opening", cublasCreate(&cublas->handle))) {
        peer_cublas_close(peer);
        return false;
    }
    cublas_describe(peer, cublas);
    return true;
}
