/* peer_kiln.c: Kiln as a peer: as it comes; held to the generic bundle, which shows what tuning
 * gives; with both operands packed before, which is not timed; where single precision may be
 * emulated; and held to one recipe. */
#include "peers.h"

#include <stdlib.h>
#include <string.h>

#include "bundle.h"
#include "plan.h"

#ifdef HAVE_GENERIC
extern const struct kiln_bundle kiln_bundle_generic;
#endif

enum { PEER_KILN_OPERANDS = 2, PEER_KILN_EXPLAIN_BYTES = 4096 };

/* A bundle in memory of one recipe, with a name that no linked bundle has. */
#define PEER_KILN_ALONE "kiln-bench, one recipe"
struct peer_kiln_alone {
    struct kiln_bundle bundle;
    struct kiln_recipe recipe;
    struct peer_room *room;
};

struct peer_kiln {
    const struct device *device;
    struct kiln_context *context;
    struct peer_kiln_alone *alone;             /* NULL: the bundle is none of the bench's */
    bool packs;
    struct kiln_pack packed[PEER_KILN_OPERANDS];
    cl_mem rooms[PEER_KILN_OPERANDS];          /* of the packs; NULL: nothing to pack */
    struct kiln_gemm gemm;
    const struct problem *problem;
    const struct operands *operands;
};

/* The room may have grown since the problem was taken up. */
static void peer_kiln_use_room(struct peer_kiln *kiln)
{
    if (kiln->alone != NULL) {
        kiln->gemm.workspace = kiln->alone->room->buffer;
    }
}

static bool peer_kiln_enqueue(void *user, cl_command_queue queue, cl_event *event)
{
    struct peer_kiln *kiln = user;

    peer_kiln_use_room(kiln);
    return kiln_gemm_enqueue(kiln->context, &kiln->gemm, queue, 0, NULL, event) == KILN_SUCCESS;
}

static void peer_kiln_unpack(struct peer_kiln *kiln)
{
    for (size_t i = 0; i < PEER_KILN_OPERANDS; i++) {
        if (kiln->rooms[i] != NULL) {
            clReleaseMemObject(kiln->rooms[i]);
            kiln->rooms[i] = NULL;
        }
    }
    kiln->gemm.packed_a = kiln->gemm.packed_b = NULL;
}

/* Packs an operand of `gemm` into a room of its own. */
static enum kiln_status peer_kiln_pack(struct peer_kiln *kiln, size_t i)
{
    const enum kiln_pack_operand operand = i == 0 ? KILN_PACK_A : KILN_PACK_B;
    const cl_command_queue queue = kiln->device->queue;
    size_t bytes = 0;
    cl_int error = CL_SUCCESS;
    enum kiln_status status = kiln_pack_bytes(kiln->context, &kiln->gemm, operand, &bytes);

    if (status == KILN_SUCCESS && bytes > 0) {
        kiln->rooms[i] = clCreateBuffer(kiln->device->context, CL_MEM_READ_WRITE, bytes, NULL,
                &error);
        status = (enum kiln_status) error;
    }
    if (status == KILN_SUCCESS) {
        status = kiln_pack_enqueue(kiln->context, &kiln->gemm, operand, kiln->rooms[i], 0, queue, 0,
                NULL, NULL, &kiln->packed[i]);
    }
    if (status == KILN_SUCCESS) {
        status = (enum kiln_status) clFinish(queue);
    }
    return status;
}

static enum peer_answer peer_kiln_pack_both(struct peer *peer)
{
    struct peer_kiln *kiln = peer->state;

    for (size_t i = 0; i < PEER_KILN_OPERANDS; i++) {
        enum kiln_status status = peer_kiln_pack(kiln, i);

        if (status != KILN_SUCCESS) {
            fprintf(stderr, "kiln-bench: %s: %s\n", peer->key, kiln_status_string(status));
            return PEER_FAILED;
        }
        if (kiln->rooms[i] != NULL) {
            *(i == 0 ? &kiln->gemm.packed_a : &kiln->gemm.packed_b) = &kiln->packed[i];
        }
    }
    return PEER_OK;
}

/* ---- One recipe ---- */

static bool peer_kiln_room_fits(const struct peer_kiln *kiln, size_t bytes)
{
    struct peer_room *room = kiln->alone->room;

    if (bytes <= room->bytes) {
        return true;
    }
    if (room->buffer != NULL) {
        clReleaseMemObject(room->buffer);
    }
    room->buffer = clCreateBuffer(kiln->device->context, CL_MEM_READ_WRITE, bytes, NULL, NULL);
    room->bytes = room->buffer != NULL ? bytes : 0;
    return room->buffer != NULL;
}

/* Behind the bundle of one recipe the library has the generic one, which must not be timed in its
 * place. */
static enum peer_answer peer_kiln_prepare_alone(struct peer *peer)
{
    static const char wanted[] = "bundle: " PEER_KILN_ALONE "\n";
    struct peer_kiln *kiln = peer->state;
    char text[PEER_KILN_EXPLAIN_BYTES];
    size_t bytes = 0;
    enum kiln_status status = kiln_gemm_explain(kiln->context, &kiln->gemm, text, sizeof(text));

    if (status == KILN_NO_KERNEL ||
            (status == KILN_SUCCESS && strncmp(text, wanted, sizeof(wanted) - 1) != 0)) {
        return PEER_REFUSED;
    }
    if (status == KILN_SUCCESS) {
        status = kiln_gemm_workspace_bytes(kiln->context, &kiln->gemm, &bytes);
    }
    if (status == KILN_SUCCESS && !peer_kiln_room_fits(kiln, bytes)) {
        status = KILN_OUT_OF_MEMORY;
    }
    if (status != KILN_SUCCESS) {
        fprintf(stderr, "kiln-bench: %s: %s\n", peer->key, kiln_status_string(status));
        return PEER_FAILED;
    }
    return PEER_OK;
}

static enum peer_answer peer_kiln_prepare(struct peer *peer, const struct problem *problem,
        const struct operands *operands)
{
    struct peer_kiln *kiln = peer->state;

    peer_kiln_unpack(kiln);
    kiln->problem = problem;
    kiln->operands = operands;
    kiln->gemm = (struct kiln_gemm){
        .precision = problem->precision,
        .transa = problem->transa ? KILN_TRANS : KILN_NO_TRANS,
        .transb = problem->transb ? KILN_TRANS : KILN_NO_TRANS,
        .m = problem->m,
        .n = problem->n,
        .k = problem->k,
        .alpha = 1,
        .a = operands->a,
        .b = operands->b,
        .c = operands->c,
        .lda = problem->lda,
        .ldb = problem->ldb,
        .ldc = problem->ldc,
        .batch_count = problem->batch,
        .a_stride = problem->a_stride,
        .b_stride = problem->b_stride,
        .c_stride = problem->c_stride,
    };
    if ((problem_is_wide(problem) && !kiln->device->has_double) ||
            (kiln->packs && problem->batch > 1)) {
        return PEER_REFUSED;
    }
    if (kiln->alone != NULL) {
        return peer_kiln_prepare_alone(peer);
    }
    return kiln->packs ? peer_kiln_pack_both(peer) : PEER_OK;
}

static enum peer_answer peer_kiln_result(struct peer *peer, void *c)
{
    struct peer_kiln *kiln = peer->state;
    enum kiln_status status;

    if (!operands_poison(kiln->operands, kiln->device, kiln->problem)) {
        return PEER_FAILED;
    }
    peer_kiln_use_room(kiln);
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
                 ? PEER_OK
                 : PEER_FAILED;
}

/* The first two lines of the library's own explanation. */
static void peer_kiln_explain(struct peer *peer, char *text, size_t size)
{
    struct peer_kiln *kiln = peer->state;
    char full[PEER_KILN_EXPLAIN_BYTES];
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

    peer_kiln_unpack(kiln);
    kiln_context_destroy(&kiln->context);
    free(kiln->alone);
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
    status = kiln_context_create(setup->device->context, setup->device->id, params, &kiln->context);
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

static bool peer_kiln_open_packed_with(struct peer *peer, const struct peer_setup *setup,
        const struct kiln_context_params *params)
{
    if (!peer_kiln_open_with(peer, setup, params)) {
        return false;
    }
    ((struct peer_kiln *) peer->state)->packs = true;
    return true;
}

bool peer_kiln_packed_open(struct peer *peer, const struct peer_setup *setup)
{
    snprintf(peer->detail, sizeof(peer->detail), "both operands packed before");
    return peer_kiln_open_packed_with(peer, setup, NULL);
}

static const struct kiln_context_params peer_kiln_emulates = { .arithmetic = KILN_ALLOW_EMULATION };

bool peer_kiln_emulated_open(struct peer *peer, const struct peer_setup *setup)
{
    snprintf(peer->detail, sizeof(peer->detail), "may emulate single precision");
    return peer_kiln_open_with(peer, setup, &peer_kiln_emulates);
}

bool peer_kiln_emulated_packed_open(struct peer *peer, const struct peer_setup *setup)
{
    snprintf(peer->detail, sizeof(peer->detail), "likewise, both operands packed before");
    return peer_kiln_open_packed_with(peer, setup, &peer_kiln_emulates);
}

bool peer_kiln_recipe_open(struct peer *peer, const struct peer_setup *setup,
        const struct kiln_bundle *bundle, uint32_t recipe, struct peer_room *room)
{
    struct peer_kiln_alone *alone = malloc(sizeof(*alone));

    if (alone == NULL) {
        fprintf(stderr, "kiln-bench: out of memory\n");
        return false;
    }
    alone->recipe = bundle->recipes[recipe];
    alone->recipe.program = 0;
    alone->room = room;
    alone->bundle = (struct kiln_bundle){
        .format = bundle->format,
        .name = PEER_KILN_ALONE,
        .traits = bundle->traits,
        .pool = bundle->pool,
        .num_programs = 1,
        .programs = &bundle->programs[bundle->recipes[recipe].program],
        .num_recipes = 1,
        .recipes = &alone->recipe,
    };
    const struct kiln_context_params params = {
        .bundle = &alone->bundle,
        .arithmetic = alone->recipe.precision == KILN_ID_EMULATED ? KILN_ALLOW_EMULATION : 0,
    };

    snprintf(peer->detail, sizeof(peer->detail), "of bundle %s", bundle->name);
    if (!peer_kiln_open_with(peer, setup, &params)) {
        free(alone);
        return false;
    }
    ((struct peer_kiln *) peer->state)->alone = alone;
    return true;
}

#ifdef HAVE_GENERIC
bool peer_kiln_generic_open(struct peer *peer, const struct peer_setup *setup)
{
    const struct kiln_context_params params = { .bundle = &kiln_bundle_generic };

    snprintf(peer->detail, sizeof(peer->detail), "bundle generic");
    return peer_kiln_open_with(peer, setup, &params);
}
#endif

/* ---- The bundle ---- */

void peer_kiln_bundle(const struct device *device, char *name, size_t size)
{
    static const char key[] = "bundle: ";
    const struct kiln_gemm gemm = { .precision = KILN_SINGLE, .m = 64, .n = 64, .k = 64 };
    struct kiln_context *context = NULL;
    char text[PEER_KILN_EXPLAIN_BYTES] = "";

    name[0] = '\0';
    if (kiln_context_create(device->context, device->id, NULL, &context) == KILN_SUCCESS &&
            kiln_gemm_explain(context, &gemm, text, sizeof(text)) == KILN_SUCCESS &&
            strncmp(text, key, sizeof(key) - 1) == 0) {
        const char *from = text + sizeof(key) - 1;

        snprintf(name, size, "%.*s", (int) strcspn(from, "\n"), from);
    }
    kiln_context_destroy(&context);
}
