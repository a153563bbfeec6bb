/* peer_clblast.c: CLBlast as a peer, on the same queue and buffers as Kiln. Compiled only when
 * CLBlast was found. */
#include "peers.h"

#include <clblast_c.h>
#include <stdlib.h>

enum { CLBLAST_HALF_ONE = 0x3c00 };

struct peer_clblast {
    const struct device *device;
    const struct problem *problem;
    const struct operands *operands;
};

/* In the precision of that letter: one product, or a batch. */
#define CLBLAST_GEMM(X, one, zero) \
    (p->batch > 1 ? CLBlast##X##gemmStridedBatched(layout, transa, transb, p->m, p->n, p->k, one, \
                            o->a, 0, p->lda, p->a_stride, o->b, 0, p->ldb, p->b_stride, zero, \
                            o->c, 0, p->ldc, p->c_stride, p->batch, &queue, event) \
                  : CLBlast##X##gemm(layout, transa, transb, p->m, p->n, p->k, one, o->a, 0, \
                            p->lda, o->b, 0, p->ldb, zero, o->c, 0, p->ldc, &queue, event))

static CLBlastStatusCode peer_clblast_enqueue(const struct peer_clblast *clblast,
        cl_command_queue queue, cl_event *event)
{
    const struct problem *p = clblast->problem;
    const struct operands *o = clblast->operands;
    const CLBlastLayout layout = CLBlastLayoutRowMajor;
    CLBlastTranspose transa = p->transa ? CLBlastTransposeYes : CLBlastTransposeNo;
    CLBlastTranspose transb = p->transb ? CLBlastTransposeYes : CLBlastTransposeNo;

    const cl_float2 one = { { 1, 0 } }, zero = { { 0, 0 } };
    const cl_double2 wide_one = { { 1, 0 } }, wide_zero = { { 0, 0 } };

    switch (p->precision) {
    case KILN_HALF: return CLBLAST_GEMM(H, CLBLAST_HALF_ONE, 0);
    case KILN_DOUBLE: return CLBLAST_GEMM(D, 1, 0);
    case KILN_COMPLEX_SINGLE: return CLBLAST_GEMM(C, one, zero);
    case KILN_COMPLEX_DOUBLE: return CLBLAST_GEMM(Z, wide_one, wide_zero);
    default: return CLBLAST_GEMM(S, 1, 0);
    }
}

/* Enqueues the multiplication and waits for it. */
static CLBlastStatusCode peer_clblast_multiply(const struct peer_clblast *clblast)
{
    CLBlastStatusCode status = peer_clblast_enqueue(clblast, clblast->device->queue, NULL);

    if (status == CLBlastSuccess && clFinish(clblast->device->queue) != CL_SUCCESS) {
        status = CLBlastUnexpectedError;
    }
    return status;
}

static bool peer_clblast_sample_one(void *user, cl_command_queue queue, cl_event *event)
{
    return peer_clblast_enqueue(user, queue, event) == CLBlastSuccess;
}

static enum peer_answer peer_clblast_prepare(struct peer *peer, const struct problem *problem,
        const struct operands *operands)
{
    struct peer_clblast *clblast = peer->state;

    clblast->problem = problem;
    clblast->operands = operands;
    if ((problem->precision == KILN_HALF && !clblast->device->has_half) ||
            (problem_is_wide(problem) && !clblast->device->has_double)) {
        return PEER_REFUSED;
    }
    return PEER_OK;
}

static enum peer_answer peer_clblast_result(struct peer *peer, void *c)
{
    struct peer_clblast *clblast = peer->state;
    CLBlastStatusCode status;

    if (!operands_poison(clblast->operands, clblast->device, clblast->problem)) {
        return PEER_FAILED;
    }
    status = peer_clblast_multiply(clblast);
    if (status == CLBlastNoHalfPrecision || status == CLBlastNoDoublePrecision) {
        return PEER_REFUSED;
    }
    if (status != CLBlastSuccess) {
        fprintf(stderr, "kiln-bench: %s: status %d\n", peer->key, (int) status);
        return PEER_FAILED;
    }
    return operands_read(clblast->operands, clblast->device, clblast->problem, c)
                 ? PEER_OK
                 : PEER_FAILED;
}

static enum peer_answer peer_clblast_sample(struct peer *peer, double min_seconds,
        struct sample *sample)
{
    const struct peer_clblast *clblast = peer->state;

    return device_sample(clblast->device, peer_clblast_sample_one, peer->state, min_seconds, sample)
                 ? PEER_OK
                 : PEER_FAILED;
}

static void peer_clblast_close(struct peer *peer)
{
    CLBlastClearCache();
    free(peer->state);
    peer->state = NULL;
}

static const struct peer_class peer_clblast_class = {
    .prepare = peer_clblast_prepare,
    .result = peer_clblast_result,
    .sample = peer_clblast_sample,
    .explain = NULL,
    .close = peer_clblast_close,
};

bool peer_clblast_open(struct peer *peer, const struct peer_setup *setup)
{
    struct peer_clblast *clblast = calloc(1, sizeof(*clblast));

    if (clblast == NULL) {
        fprintf(stderr, "kiln-bench: out of memory\n");
        return false;
    }
    clblast->device = setup->device;
    peer->class = &peer_clblast_class;
    peer->state = clblast;
    snprintf(peer->detail, sizeof(peer->detail), "%s", CLBLAST_VERSION);
    return true;
}

bool peer_clblast_once(const struct device *device, const struct problem *problem,
        const struct operands *operands)
{
    const struct peer_clblast clblast = { device, problem, operands };

    return peer_clblast_multiply(&clblast) == CLBlastSuccess;
}
