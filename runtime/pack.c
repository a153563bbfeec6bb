/* pack.c: operands packed once for many calls.
 *
 * A pack is what the stages of one recipe that prepare an operand would write to the workspace,
 * kept in a buffer of the caller's; of a recipe that has no such stages, a plain copy of the
 * matrix. To pack is a call of its own, which takes the same steps as one that multiplies.
 */
#include "internal.h"

#include <string.h>

/* Where an operand is to be packed. */
struct target {
    cl_mem buffer;
    size_t offset;                     /* bytes, as the next one */
    size_t end;                        /* of the buffer */
};

static enum kiln_status check_target(const struct kiln_context *context, struct target *target)
{
    struct kiln_buffer_facts facts;
    enum kiln_status status = kiln_buffer_query(target->buffer, KILN_INVALID_PACK_BUFFER, &facts);
    if (status != KILN_SUCCESS) {
        return status;
    }
    target->end = facts.bytes;
    if (target->offset % KILN_REGION_ALIGN != 0) {
        return KILN_INVALID_PACK_BUFFER;
    }
    return facts.owner == context->context ? KILN_SUCCESS : KILN_PACK_CONTEXT_MISMATCH;
}

/* An operand of which one triangle is stored is whole when the call reads it. */
static bool take_whole(struct kiln_problem *problem)
{
    struct kiln_mirroring mirroring;
    if (!kiln_mirroring_make(problem, &mirroring)) {
        return false;
    }
    problem->product = mirroring.rest.product;
    problem->beside = mirroring.rest.beside;
    problem->triangle_a = problem->triangle_b = KILN_TRIANGLE_NONE;
    return true;
}

/* The call whose operand is packed, as far as it matters: alpha is not 0, and it needs no
 * workspace. `prepared` becomes the operand's canonical code; 0 when there is nothing to pack.
 * target: NULL where only the size is asked for. */
static enum kiln_status make_problem(const struct kiln_context *context,
        const struct kiln_gemm *call, enum kiln_pack_operand which, struct target *target,
        struct kiln_problem *problem, unsigned *prepared)
{
    struct kiln_gemm gemm = *call;
    bool is_a = which == KILN_PACK_A, is_b = which == KILN_PACK_B;
    enum kiln_checks checks = target == NULL || (!is_a && !is_b) ? KILN_CHECK_SHAPE
                            : is_a                               ? KILN_CHECK_A
                                                                 : KILN_CHECK_B;
    *prepared = KILN_PREPARED_NONE;
    gemm.alpha = 1;
    gemm.alpha_imag = 0;
    gemm.workspace = NULL;
    gemm.workspace_offset = 0;
    *(is_a ? &gemm.packed_a : &gemm.packed_b) = NULL;
    enum kiln_status status = kiln_problem_check(context, &gemm, checks, problem);
    if (status != KILN_SUCCESS) {
        return status;
    }
    if (!is_a && !is_b) {
        return KILN_INVALID_PACK_OPERAND;
    }
    if (!kiln_reads_operands(&problem->product)) {
        return kiln_check_forms(&gemm);
    }
    if (!take_whole(problem)) {
        return KILN_SIZE_OVERFLOW;
    }
    *prepared = is_a == (gemm.layout != KILN_COL_MAJOR) ? KILN_PREPARED_A : KILN_PREPARED_B;
    if (target != NULL) {
        status = check_target(context, target);
    }
    if (kiln_operand(&problem->product, *prepared)->stride != 0) {
        status = kiln_lower(status, KILN_PACK_BATCH_MISMATCH);
    }
    status = kiln_lower(status, kiln_problem_bind(context, &gemm, problem));
    status = kiln_lower(status, kiln_check_forms(&gemm));
    const bool is_triangle = (is_a ? gemm.uplo_a : gemm.uplo_b) != 0;
    return kiln_lower(status, is_triangle ? KILN_PACK_OF_TRIANGLE : KILN_SUCCESS);
}

/* As with a workspace, the answer is enough for recipes that can not be built at the moment too.
 * Cold: small rather than fast. */
__attribute__((cold))
enum kiln_status kiln_pack_bytes(struct kiln_context *context, const struct kiln_gemm *gemm,
        enum kiln_pack_operand which, size_t *bytes)
{
    struct kiln_problem problem;
    struct kiln_choice choice;
    struct kiln_pack_layout layout;
    unsigned prepared = 0;
    if (bytes != NULL) {
        *bytes = 0;
    }
    if (context == NULL || gemm == NULL || bytes == NULL) {
        return KILN_INVALID_ARGUMENT;
    }
    enum kiln_status status = make_problem(context, gemm, which, NULL, &problem, &prepared);
    if (status != KILN_SUCCESS || prepared == KILN_PREPARED_NONE) {
        return status;
    }
    kiln_problem_place(&problem, prepared, NULL, 0);
    struct kiln_attempts attempts = { .counts_put_off = true };
    size_t most = 0;
    while (kiln_attempt_next(context, &problem, &attempts, &choice, &status)) {
        size_t needed = 0;
        if (!kiln_pack_layout(choice.plan.recipe, &problem.product, prepared, 0, &layout) ||
                !kiln_add(layout.end, layout.slack, &needed)) {
            return KILN_SIZE_OVERFLOW;
        }
        if (needed > context->facts.max_alloc_bytes) {
            status = KILN_NO_KERNEL; /* as launch.c has it */
            continue;
        }
        most = needed > most ? needed : most;
        if (status == KILN_SUCCESS) {
            *bytes = most;
            return KILN_SUCCESS;
        }
    }
    return kiln_attempts_failure(context, &problem, &attempts);
}

/* What a pack is, once it is enqueued: the operand of the problem, in the form of the choice. */
static void describe(const struct kiln_context *context, const struct kiln_problem *problem,
        const struct kiln_choice *choice, unsigned prepared, struct kiln_pack *pack)
{
    struct kiln_pack_layout layout;
    size_t offset = problem->places.packed_offset[prepared];
    if (kiln_pack_layout(choice->plan.recipe, &problem->product, prepared, offset, &layout)) {
        *pack = kiln_pack_of(&problem->product, prepared);
        pack->buffer = problem->packs[prepared];
        pack->offset = offset;
        pack->bytes = layout.end - offset;
        pack->bundle = context->links[choice->link].bundle;
        pack->recipe = choice->recipe;
    }
}

enum kiln_status kiln_pack_enqueue(struct kiln_context *context, const struct kiln_gemm *gemm,
        enum kiln_pack_operand which, cl_mem buffer, size_t offset, cl_command_queue queue,
        cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event,
        struct kiln_pack *pack)
{
    struct kiln_choice served;
    struct kiln_request request = {
        .queue = queue,
        .num_wait = num_events_in_wait_list,
        .wait = event_wait_list,
        .event = event,
        .served = &served,
    };
    struct kiln_problem problem;
    struct target target = { .buffer = buffer, .offset = offset };
    if (pack != NULL) {
        memset(pack, 0, sizeof *pack);
    }
    if (pack == NULL || context == NULL || gemm == NULL) {
        return KILN_INVALID_ARGUMENT;
    }
    enum kiln_status status = kiln_check_request(context, &request);
    if (status == KILN_SUCCESS) {
        status = make_problem(context, gemm, which, &target, &problem, &request.prepared);
    }
    if (status != KILN_SUCCESS) {
        return status;
    }
    if (request.prepared == KILN_PREPARED_NONE) {
        problem.is_nothing = true;
    } else {
        kiln_problem_place(&problem, request.prepared, buffer, offset);
        request.pack_end = target.end;
    }
    status = kiln_launch(context, &problem, &request);
    if (status == KILN_SUCCESS && request.prepared != KILN_PREPARED_NONE) {
        describe(context, &problem, &served, request.prepared, pack);
    }
    return status;
}
