/* pack.c: operands packed once for many calls.
 *
 * A pack is what the stages of one recipe that prepare an operand would write to the workspace,
 * kept in a buffer of the caller's; of a recipe that has no such stages, a plain copy of the
 * matrix. A call with packs is bound to their recipe. Nothing is kept on the host but what struct
 * kiln_pack says, and where the operand lies in the buffer is computed anew from it.
 */
#include "internal.h"

_Static_assert((int)KILN_PACK_A == (int)KILN_PREPARED_A &&
               (int)KILN_PACK_B == (int)KILN_PREPARED_B, "an operand has one code");

bool kiln_stage_is_needed(const struct kiln_problem *problem, const struct kiln_recipe *recipe,
        unsigned index)
{
    unsigned packed = KILN_PREPARED_NONE, prepares = recipe->stages[index].prepares;
    bool is_alone = prepares == KILN_PREPARED_A || prepares == KILN_PREPARED_B;
    bool both_at_once = false;
    for (unsigned operand = KILN_PREPARED_A; operand < KILN_NUM_PREPARED; operand++) {
        packed |= problem->packed[operand].buffer != NULL ? operand : 0;
    }
    for (unsigned i = 0; i < recipe->num_stages; i++) {
        both_at_once |= recipe->stages[i].prepares == KILN_PREPARED_BOTH;
    }
    if (is_alone && both_at_once && packed == KILN_PREPARED_NONE) {
        return false;
    }
    return (prepares & packed) == 0;
}

static struct kiln_operand *operand_of(struct kiln_problem *problem, unsigned prepared)
{
    return prepared == KILN_PREPARED_A ? &problem->a : &problem->b;
}

/* ---- Where an operand lies in a pack ---- */

/* What is to be placed: so many elements, starting at a multiple of `step` bytes. */
struct content {
    size_t elements, element_bytes, step;
};

/* The rows of a plain copy start where the recipe can read them. */
static bool plain_content(const struct kiln_problem *problem, const struct kiln_operand *operand,
        uint32_t divisor, struct content *content, size_t *ld)
{
    size_t unit = divisor > 0 ? divisor : 1;
    content->element_bytes = problem->element_bytes;
    return kiln_round_up(operand->row_length, unit, ld) &&
           kiln_multiply(operand->rows, *ld, &content->elements) &&
           kiln_multiply(problem->element_bytes, unit, &content->step);
}

static bool region_content(const struct kiln_problem *problem, const struct kiln_region *region,
        struct content *content)
{
    content->element_bytes = content->step = region->element_bytes;
    return kiln_region_elements(problem, region, &content->elements);
}

bool kiln_pack_layout(const struct kiln_problem *problem, const struct kiln_recipe *recipe,
        unsigned prepared, size_t offset, struct kiln_pack_layout *layout)
{
    const struct kiln_region *region = kiln_prepared_region(recipe, prepared);
    bool is_a = prepared == KILN_PREPARED_A;
    struct content content;
    size_t unit = 0, start = 0, bytes = 0;
    *layout = (struct kiln_pack_layout){.is_plain = region == NULL};
    bool countable = region != NULL
            ? region_content(problem, region, &content)
            : plain_content(problem, is_a ? &problem->a : &problem->b,
                    is_a ? recipe->guard.a : recipe->guard.b, &content, &layout->ld);
    if (!countable || !kiln_place_unit(content.step, &unit) ||
        !kiln_round_up(offset, unit, &start) ||
        !kiln_multiply(content.elements, content.element_bytes, &bytes) ||
        !kiln_add(start, bytes, &layout->end)) {
        return false;
    }
    layout->start = start / content.element_bytes;
    layout->slack = unit - KILN_REGION_ALIGN;
    return true;
}

/* ---- Calls with packs ---- */

/* A pack that a call brings, and what it is brought for. */
struct brought {
    const struct kiln_pack *pack;      /* NULL: none */
    unsigned prepared;                 /* the operand's canonical code */
    size_t stride;
    cl_context owner;                  /* of the pack's buffer */
};

/* op(A) is M x K, op(B) is K x N. */
static struct kiln_pack pack_of(const struct kiln_problem *problem, unsigned prepared)
{
    bool is_a = prepared == KILN_PREPARED_A;
    return (struct kiln_pack){
        .precision = problem->precision,
        .operand = (enum kiln_pack_operand)prepared,
        .trans = (is_a ? problem->transa : problem->transb) ? KILN_TRANS : KILN_NO_TRANS,
        .rows = is_a ? problem->m : problem->k,
        .columns = is_a ? problem->k : problem->n,
    };
}

/* A pack that was never made, or whose buffer is none that could hold it, is invalid. */
static enum kiln_status look_at_pack(struct brought *brought)
{
    const struct kiln_pack *pack = brought->pack;
    struct kiln_buffer_facts facts = {0};
    enum kiln_status status = kiln_buffer_query(pack->buffer, KILN_INVALID_PACK, &facts);
    brought->owner = facts.owner;
    if (status != KILN_SUCCESS) {
        return status;
    }
    return pack->bundle != NULL && pack->offset % KILN_REGION_ALIGN == 0 &&
           pack->offset <= facts.bytes && pack->bytes <= facts.bytes - pack->offset
            ? KILN_SUCCESS : KILN_INVALID_PACK;
}

static unsigned link_of(const struct kiln_context *context, const struct kiln_pack *pack)
{
    unsigned i = 0;
    while (i < context->num_links && (context->links[i].bundle != pack->bundle ||
           pack->recipe >= pack->bundle->num_recipes)) {
        i++;
    }
    return i;
}

/* What is wrong with one pack of a call. */
static enum kiln_status check_pack(const struct kiln_context *context,
        const struct kiln_problem *problem, struct brought *brought)
{
    const struct kiln_pack *pack = brought->pack;
    const struct kiln_pack wanted = pack_of(problem, brought->prepared);
    enum kiln_status status = look_at_pack(brought);
    if (status != KILN_SUCCESS) {
        return status;
    }
    const struct {
        bool fits;
        enum kiln_status status;
    } checks[] = {
        {brought->owner == context->context, KILN_PACK_CONTEXT_MISMATCH},
        {pack->operand == wanted.operand, KILN_PACK_OPERAND_MISMATCH},
        {pack->precision == wanted.precision, KILN_PACK_PRECISION_MISMATCH},
        {pack->trans == wanted.trans, KILN_PACK_TRANSPOSE_MISMATCH},
        {pack->rows == wanted.rows && pack->columns == wanted.columns, KILN_PACK_SHAPE_MISMATCH},
        {brought->stride == 0, KILN_PACK_BATCH_MISMATCH},
        {link_of(context, pack) < context->num_links, KILN_PACK_BUNDLE_MISMATCH},
    };
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        if (!checks[i].fits) {
            return checks[i].status;
        }
    }
    return KILN_SUCCESS;
}

/* A plain copy is an operand like any other. What is prepared is no operand any more: no kernel
 * that is launched takes it, so that any demand on its place is met. */
static enum kiln_status bind(const struct kiln_context *context, const struct kiln_pack *pack,
        struct kiln_problem *problem)
{
    struct kiln_operand *operand = operand_of(problem, pack->operand);
    struct kiln_pack_layout layout;
    unsigned link = link_of(context, pack);
    if (problem->bound != 0 &&
        (problem->bound_link != link || problem->bound_recipe != pack->recipe)) {
        return KILN_PACK_RECIPE_MISMATCH;
    }
    problem->bound |= pack->operand;
    problem->bound_link = link;
    problem->bound_recipe = pack->recipe;
    if (!kiln_pack_layout(problem, &pack->bundle->recipes[pack->recipe], pack->operand,
            pack->offset, &layout)) {
        return KILN_SIZE_OVERFLOW;
    }
    operand->buffer = pack->buffer;
    operand->offset = layout.is_plain ? layout.start : 0;
    operand->ld = layout.ld;
    if (!layout.is_plain) {
        problem->packed[pack->operand] = (struct kiln_packed){pack->buffer, pack->offset};
    }
    return KILN_SUCCESS;
}

/* Of two packs the one with the lower status counts, as everywhere. */
static enum kiln_status check_packs(const struct kiln_context *context,
        const struct kiln_problem *problem, struct brought brought[2])
{
    enum kiln_status status = KILN_SUCCESS;
    for (unsigned i = 0; i < 2; i++) {
        if (brought[i].pack != NULL) {
            status = kiln_lower(status, check_pack(context, problem, &brought[i]));
        }
    }
    return status;
}

static bool reads_a_and_b(const struct kiln_problem *problem)
{
    return problem->m > 0 && problem->n > 0 && problem->k > 0;
}

/* Puts the packs that a call brings in the place of its operands, if they fit and are read. */
static enum kiln_status bind_packs(const struct kiln_context *context,
        const struct kiln_gemm *gemm, struct kiln_problem *problem)
{
    if (!reads_a_and_b(problem)) {
        return KILN_SUCCESS;
    }
    bool swap = gemm->layout == KILN_COL_MAJOR;
    struct brought brought[2] = {
        {.pack = swap ? gemm->packed_b : gemm->packed_a, .prepared = KILN_PREPARED_A,
         .stride = problem->a.stride},
        {.pack = swap ? gemm->packed_a : gemm->packed_b, .prepared = KILN_PREPARED_B,
         .stride = problem->b.stride},
    };
    enum kiln_status status = check_packs(context, problem, brought);
    for (unsigned i = 0; i < 2 && status == KILN_SUCCESS; i++) {
        if (brought[i].pack != NULL) {
            status = bind(context, brought[i].pack, problem);
        }
    }
    return status;
}

enum kiln_status kiln_problem_make(const struct kiln_context *context,
        const struct kiln_gemm *gemm, enum kiln_checks checks, struct kiln_problem *problem)
{
    enum kiln_status status = kiln_problem_check(context, gemm, checks, problem);
    return status == KILN_SUCCESS ? bind_packs(context, gemm, problem) : status;
}

/* ---- Packing ---- */

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

/* The call whose operand is packed, as far as it matters: alpha is not 0, and it needs no
 * workspace. `prepared` becomes the operand's canonical code; 0 when there is nothing to pack.
 * Without a target nobody asks where to. */
static enum kiln_status make_problem(const struct kiln_context *context,
        const struct kiln_gemm *call, enum kiln_pack_operand which, struct target *target,
        struct kiln_problem *problem, unsigned *prepared)
{
    struct kiln_gemm gemm = *call;
    bool is_a = which == KILN_PACK_A, is_b = which == KILN_PACK_B;
    enum kiln_checks checks = target == NULL || (!is_a && !is_b) ? KILN_CHECK_SHAPE
            : is_a ? KILN_CHECK_A : KILN_CHECK_B;
    *prepared = KILN_PREPARED_NONE;
    gemm.alpha = 1;
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
    if (!reads_a_and_b(problem)) {
        return KILN_SUCCESS;
    }
    *prepared = is_a == (gemm.layout != KILN_COL_MAJOR) ? KILN_PREPARED_A : KILN_PREPARED_B;
    if (target != NULL) {
        status = check_target(context, target);
    }
    if (operand_of(problem, *prepared)->stride != 0) {
        status = kiln_lower(status, KILN_PACK_BATCH_MISMATCH);
    }
    return kiln_lower(status, bind_packs(context, &gemm, problem));
}

/* As with a workspace, what is told does for recipes that can not be built for the moment too. */
enum kiln_status kiln_pack_bytes(struct kiln_context *context, const struct kiln_gemm *gemm,
        enum kiln_pack_operand which, size_t *bytes)
{
    struct kiln_problem problem;
    struct kiln_plan plan;
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
    struct kiln_search search = {0};
    enum kiln_status first = KILN_SUCCESS;
    size_t most = 0;
    while (kiln_search_next(context, &problem, &search, &plan, &status)) {
        size_t needed = 0;
        if (!kiln_pack_layout(&problem, plan.recipe, prepared, 0, &layout) ||
            !kiln_add(layout.end, layout.slack, &needed)) {
            return KILN_SIZE_OVERFLOW;
        }
        most = needed > most ? needed : most;
        if (status == KILN_SUCCESS) {
            *bytes = most;
            return KILN_SUCCESS;
        }
        first = first == KILN_SUCCESS ? status : first;
    }
    return first == KILN_SUCCESS ? kiln_search_failure(&problem) : first;
}

void kiln_pack_fill(const struct kiln_problem *problem, const struct kiln_plan *plan,
        unsigned prepared, const struct kiln_pack_layout *layout, struct kiln_pack *pack)
{
    *pack = pack_of(problem, prepared);
    pack->buffer = problem->packed[prepared].buffer;
    pack->offset = problem->packed[prepared].offset;
    pack->bytes = layout->end - pack->offset;
    pack->bundle = plan->link->bundle;
    pack->recipe = plan->recipe_index;
}

enum kiln_status kiln_pack_enqueue(struct kiln_context *context, const struct kiln_gemm *gemm,
        enum kiln_pack_operand which, cl_mem buffer, size_t offset, cl_command_queue queue,
        cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event,
        struct kiln_pack *pack)
{
    struct kiln_pack made = {0};
    struct kiln_request request = {
        .queue = queue,
        .num_wait = num_events_in_wait_list,
        .wait = event_wait_list,
        .event = event,
        .pack = &made,
    };
    struct kiln_problem problem;
    struct target target = {.buffer = buffer, .offset = offset};
    if (pack != NULL) {
        *pack = made;
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
        problem.packed[request.prepared] = (struct kiln_packed){buffer, offset};
        request.pack_end = target.end;
    }
    status = kiln_launch(context, &problem, &request);
    *pack = made;
    return status;
}
