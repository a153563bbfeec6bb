/* peer_kiln.c: Kiln as a peer, twice: as it comes, and held to the generic bundle, which shows what
 * tuning gives. */
#include "peers.h"

#include <stdlib.h>
#include <string.h>

#include "bundle.h"

#ifdef HAVE_GENERIC
extern const struct kiln_bundle kiln_bundle_generic;
#endif

struct peer_kiln {
    const struct device *device;
    struct kiln_context *context;
    struct kiln_gemm gemm;
    const struct problem *problem;
    const struct operands *operands;
};

static bool peer_kiln_enqueue(void *user, cl_command_queue queue, cl_event *event)
{
    struct peer_kiln *kiln = user;

    return kiln_gemm_enqueue(kiln->context, &kiln->gemm, queue, 0, NULL, event) == KILN_SUCCESS;
}

static enum peer_answer peer_kiln_prepare(struct peer *peer, const struct problem *problem,
        const struct operands *operands)
{
    struct peer_kiln *kiln = peer->state;

    kiln->problem = problem;
    kiln->operands = operands;
    kiln->gemm = (struct kiln_gemm){
        .precision = problem->precision,
        .transa = problem->transa ? KILN_TRANS : KILN_NO_TRANS,
        .transb = problem->transb ? KILN_TRANS : KILN_NO_TRANS,
        .m = problem->m, .n = problem->n, .k = problem->k,
        .alpha = 1,
        .a = operands->a, .b = operands->b, .c = operands->c,
        .lda = problem->lda, .ldb = problem->ldb, .ldc = problem->ldc,
    };
    if (problem->precision == KILN_DOUBLE && !kiln->device->has_double) {
        return PEER_REFUSED;
    }
    return PEER_OK;
}

static enum peer_answer peer_kiln_result(struct peer *peer, void *c)
{
    struct peer_kiln *kiln = peer->state;
    enum kiln_status status;

    if (!operands_poison(kiln->operands, kiln->device, kiln->problem)) {
        return PEER_FAILED;
    }
    status = kiln_gemm_enqueue(kiln->context, &kiln->gemm, kiln->device->queue, 0, NULL, NULL);
    if (status != KILN_SUCCESS) {
        fprintf(stderr, "kiln-bench: %s: %s\n", peer->key, kiln_status_string(status));
        return PEER_FAILED;
    }
    return operands_read(kiln->operands, kiln->device, kiln->problem, c) ? PEER_OK : PEER_FAILED;
}

static enum peer_answer peer_kiln_sample(struct peer *peer, double min_seconds,
        struct sample *sample)
{
    const struct peer_kiln *kiln = peer->state;

    return device_sample(kiln->device, peer_kiln_enqueue, peer->state, min_seconds, sample)
            ? PEER_OK : PEER_FAILED;
}

/* The first two lines of the library's own explanation. */
static void peer_kiln_explain(struct peer *peer, char *text, size_t size)
{
    struct peer_kiln *kiln = peer->state;
    char full[4096];
    char *end;

    if (kiln_gemm_explain(kiln->context, &kiln->gemm, full, sizeof(full)) != KILN_SUCCESS) {
        full[0] = '\0';
    }
    end = strchr(full, '\n');
    end = end != NULL ? strchr(end + 1, '\n') : NULL;
    if (end != NULL) {
        *end = '\0';
    }
    snprintf(text, size, "%s", full);
}

static void peer_kiln_close(struct peer *peer)
{
    struct peer_kiln *kiln = peer->state;

    kiln_context_destroy(&kiln->context);
    free(kiln);
    peer->state = NULL;
}

static const struct peer_class peer_kiln_class = {
    .prepare = peer_kiln_prepare,
    .result = peer_kiln_result,
    .sample = peer_kiln_sample,
    .explain = peer_kiln_explain,
    .close = peer_kiln_close,
};

static bool peer_kiln_open_with(struct peer *peer, const struct peer_setup *setup,
        const struct kiln_context_params *params)
{
    struct peer_kiln *kiln = calloc(1, sizeof(*kiln));
    enum kiln_status status;

    if (kiln == NULL) {
        fprintf(stderr, "kiln-bench: out of memory\n");
        return false;
    }
    status = kiln_context_create(setup->device->context, setup->device->id, params,
            &kiln->context);
    if (status != KILN_SUCCESS) {
        fprintf(stderr, "kiln-bench: %s: %s\n", peer->key, kiln_status_string(status));
        free(kiln);
        return false;
    }
    kiln->device = setup->device;
    peer->class = &peer_kiln_class;
    peer->state = kiln;
    return true;
}

bool peer_kiln_open(struct peer *peer, const struct peer_setup *setup)
{
    snprintf(peer->detail, sizeof(peer->detail), "its own choice of bundle");
    return peer_kiln_open_with(peer, setup, NULL);
}

#ifdef HAVE_GENERIC
bool peer_kiln_generic_open(struct peer *peer, const struct peer_setup *setup)
{
    const struct kiln_context_params params = {.bundle = &kiln_bundle_generic};

    snprintf(peer->detail, sizeof(peer->detail), "bundle generic");
    return peer_kiln_open_with(peer, setup, &params);
}
#endif
