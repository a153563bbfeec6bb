/* dispatch.c: which recipe serves a call.
 *
 * The measured shape nearest to the call's in (log m, log n, log k) and in whether rows begin at
 * multiples of 16 bytes (shape.h), of those whose recipe takes the call's shape, names the recipe.
 * Where none can serve, the bundle's recipes are tried in order, then the next bundle's in the same
 * way. Everything is computed in integers, so the choice is the same on every machine.
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

bool kiln_grid_make(const struct kiln_dispatch *dispatch, struct kiln_grid *grid)
{
    grid->dispatch = dispatch;
    grid->points = calloc(dispatch->num_anchors > 0 ? dispatch->num_anchors : 1,
            sizeof *grid->points);
    if (grid->points == NULL) {
        return false;
    }
    size_t bytes = kiln_precisions[kiln_precision_slot(dispatch->precision)].element_bytes;
    for (uint32_t i = 0; i < dispatch->num_anchors; i++) {
        const struct kiln_anchor *anchor = &dispatch->anchors[i];
        for (unsigned pair = 0; pair < 4; pair++) {
            grid->points[i][pair] = kiln_point_of_dense(anchor->m, anchor->n, anchor->k,
                    pair / 2, pair % 2, bytes);
        }
    }
    return true;
}

static bool divides(uint32_t divisor, size_t value)
{
    return divisor <= 1 || value % divisor == 0;
}

static bool operand_is_aligned(uint32_t divisor, const struct kiln_operand *operand)
{
    return divides(divisor, operand->ld) && divides(divisor, operand->offset) &&
           divides(divisor, operand->stride);
}

static bool is_at_most(size_t most, size_t value)
{
    return most == 0 || value <= most;
}

/* An extent that a recipe for multiples of the unit takes. */
static bool is_nearly_whole(uint32_t unit, uint32_t rest, size_t extent)
{
    return unit <= 1 || extent % unit <= rest;
}

static bool guard_passes(const struct kiln_guard *guard, const struct kiln_problem *problem)
{
    return is_at_most(guard->most[0], problem->m) && is_at_most(guard->most[1], problem->n) &&
           is_at_most(guard->most[2], problem->k) &&
           is_nearly_whole(guard->m, guard->rest[0], problem->m) &&
           is_nearly_whole(guard->n, guard->rest[1], problem->n) &&
           is_nearly_whole(guard->k, guard->rest[2], problem->k) &&
           operand_is_aligned(guard->a, &problem->a) &&
           operand_is_aligned(guard->b, &problem->b) && operand_is_aligned(guard->c, &problem->c);
}

static bool anchor_serves(const struct kiln_link *link, const struct kiln_anchor *anchor,
        const struct kiln_problem *problem)
{
    uint16_t recipe = anchor->recipe[problem->transa * 2 + problem->transb];
    return recipe != KILN_NO_RECIPE && !link->recipes[recipe].is_left_out &&
           guard_passes(&link->bundle->recipes[recipe].guard, problem);
}

static bool operand_is_whole(const struct kiln_operand *operand, size_t bytes)
{
    return kiln_is_whole(operand->ld, bytes) && kiln_is_whole(operand->offset, bytes) &&
           kiln_is_whole(operand->stride, bytes);
}

/* The nearest anchor whose recipe takes the shape: one that is for whole tiles alone leaves ragged
 * shapes to the next, and one that is not for the device leaves it all. */
static const struct kiln_anchor *nearest_anchor(const struct kiln_link *link,
        const struct kiln_grid *grid, const struct kiln_problem *problem)
{
    const struct kiln_anchor *best = NULL;
    int64_t best_distance = INT64_MAX;
    size_t bytes = problem->element_bytes;
    unsigned pair = problem->transa * 2 + problem->transb;
    struct kiln_point point = kiln_point_of(problem->m, problem->n, problem->k,
            operand_is_whole(&problem->a, bytes) && operand_is_whole(&problem->b, bytes) &&
            operand_is_whole(&problem->c, bytes));
    uint32_t num = grid->dispatch != NULL ? grid->dispatch->num_anchors : 0;
    for (uint32_t i = 0; i < num && best_distance > 0; i++) {
        int64_t here = kiln_point_distance(&grid->points[i][pair], &point);
        if (here < best_distance && anchor_serves(link, &grid->dispatch->anchors[i], problem)) {
            best_distance = here;
            best = &grid->dispatch->anchors[i];
        }
    }
    return best;
}

/* The extents, and as far beyond them as kernels may go. */
static bool padded_extents(const struct kiln_recipe *recipe, const struct kiln_problem *problem,
        struct kiln_problem *padded)
{
    *padded = *problem;
    size_t *extents[3] = {&padded->m, &padded->n, &padded->k};
    for (unsigned i = 0; i < 3; i++) {
        size_t beyond = 0;
        if (!kiln_multiply(2, recipe->reach[i], &beyond) ||
            !kiln_add(*extents[i], beyond, extents[i])) {
            return false;
        }
    }
    return true;
}

/* The offset of the last batch member counts: the host adds the strides before a kernel sees it. */
static bool last_index_fits(const struct kiln_operand *operand, size_t batch_count, size_t rows,
        size_t row_length)
{
    struct kiln_operand padded = *operand;
    size_t end = 0;
    padded.rows = rows;
    padded.row_length = row_length;
    return kiln_operand_end(&padded, batch_count, &end) && end - 1 <= INT32_MAX;
}

static bool regions_fit(const struct kiln_recipe *recipe, const struct kiln_problem *padded)
{
    for (unsigned i = 0; i < recipe->num_regions; i++) {
        size_t elements = 0;
        if (!kiln_region_elements(padded, &recipe->regions[i], &elements) ||
            elements > INT32_MAX) {
            return false;
        }
    }
    return true;
}

/* May a recipe with 32-bit indices serve the call?
 *
 * Every value that such a kernel computes must fit a signed 32-bit integer, those that it computes
 * and then does not use included, since overflow is undefined in OpenCL C. Kernels go through M, N
 * and K by parts: tiles, slices, vectors, unrolled steps. The last part may end beyond the extent,
 * and the place of the next one may be computed before it is found that there is none; so a row, a
 * column or a k goes less than twice the largest part, the recipe's reach, beyond the extent. What
 * counts is the last element of matrices of such extents:
 *     offset + (padded rows - 1) * ld + padded row length - 1.
 * This bounds M, N, K and ld as well. Within the workspace a kernel counts from the start of a
 * region, which is as large as such extents would make it. */
static bool indices_fit(const struct kiln_recipe *recipe, const struct kiln_problem *problem)
{
    struct kiln_problem padded;
    if (recipe->index_bits == 64) {
        return true;
    }
    if (!padded_extents(recipe, problem, &padded)) {
        return false;
    }
    const size_t m = padded.m, n = padded.n, k = padded.k, batch = problem->batch_count;
    return last_index_fits(&problem->a, batch, problem->transa ? k : m, problem->transa ? m : k) &&
           last_index_fits(&problem->b, batch, problem->transb ? n : k, problem->transb ? k : n) &&
           last_index_fits(&problem->c, batch, m, n) && regions_fit(recipe, &padded);
}

static size_t num_groups(const struct kiln_problem *problem, const struct kiln_stage *stage,
        unsigned d)
{
    size_t extent = kiln_extent(problem, stage->dim[d]);
    if (stage->dim[d] == KILN_DIM_ONE) {
        return stage->tile[d];
    }
    return extent / stage->tile[d] + (extent % stage->tile[d] != 0);
}

bool kiln_plan_groups(const struct kiln_problem *problem, struct kiln_plan *plan)
{
    for (unsigned i = 0; i < plan->recipe->num_stages; i++) {
        const struct kiln_stage *stage = &plan->recipe->stages[i];
        for (unsigned d = 0; d < stage->work_dim; d++) {
            size_t groups = num_groups(problem, stage, d);
            groups = groups == 0 && i + 1 == plan->recipe->num_stages ? 1 : groups;
            plan->groups[i][d] = groups;
            if (!kiln_multiply(groups, stage->local[d], &plan->global[i][d])) {
                return false;
            }
        }
    }
    return true;
}

bool kiln_recipe_takes_all(const struct kiln_recipe *recipe)
{
    const struct kiln_guard *guard = &recipe->guard;
    const uint32_t units[] = {guard->m, guard->n, guard->k, guard->a, guard->b, guard->c};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (units[i] > 1) {
            return false;
        }
    }
    return guard->most[0] == 0 && guard->most[1] == 0 && guard->most[2] == 0 &&
           recipe->index_bits == 64;
}

bool kiln_stage_is_empty(const struct kiln_plan *plan, unsigned index)
{
    for (unsigned d = 0; d < plan->recipe->stages[index].work_dim; d++) {
        if (plan->groups[index][d] == 0) {
            return true;
        }
    }
    return false;
}

/* Is it the recipe's turn? A first search leaves out what is put off, and a second one all else. */
static bool is_its_turn(struct kiln_link *link, const struct kiln_recipe *recipe,
        struct kiln_search *search)
{
    if (search->insists) {
        return kiln_program_is_doubtful(link, recipe->program);
    }
    bool put_off = kiln_program_is_put_off(link, recipe->program);
    search->has_put_off = search->has_put_off || put_off;
    return !put_off;
}

/* False: the recipe can not serve the problem. Otherwise *status is KILN_SUCCESS, or a passing
 * failure to prepare it. */
static bool plan_make(struct kiln_context *context, const struct kiln_problem *problem,
        struct kiln_search *search, struct kiln_link *link, uint32_t index, struct kiln_plan *plan,
        enum kiln_status *status)
{
    const struct kiln_recipe *recipe = &link->bundle->recipes[index];
    if (recipe->precision != problem->precision || recipe->transa != problem->transa ||
        recipe->transb != problem->transb || !guard_passes(&recipe->guard, problem) ||
        !indices_fit(recipe, problem)) {
        return false;
    }
    memset(plan, 0, sizeof *plan);
    plan->link = link;
    plan->recipe_index = index;
    plan->recipe = recipe;
    if (!kiln_plan_groups(problem, plan) || !kiln_plan_regions(problem, plan) ||
        plan->workspace_bytes > context->facts.max_alloc_bytes ||
        kiln_plan_pixels(problem, plan) > context->facts.max_pixels ||
        !is_its_turn(link, recipe, search)) {
        return false;
    }
    *status = kiln_recipe_prepare(context, link, index);
    return *status != KILN_NO_KERNEL;
}

/* The recipe that a bundle's dispatch table names, or KILN_NO_RECIPE. */
static void look_up(const struct kiln_link *link, const struct kiln_problem *problem,
        struct kiln_search *search)
{
    search->anchor = nearest_anchor(link,
            &link->grids[kiln_precision_slot(problem->precision)], problem);
    search->dispatched = search->anchor != NULL
            ? search->anchor->recipe[problem->transa * 2 + problem->transb]
            : KILN_NO_RECIPE;
    search->in_scan = true;
    search->next = 0;
}

/* Goes on with the bundle's recipes in order, without the dispatched one. */
static bool scan(struct kiln_context *context, const struct kiln_problem *problem,
        struct kiln_search *search, struct kiln_plan *plan, enum kiln_status *status)
{
    struct kiln_link *link = &context->links[search->link];
    while (search->next < link->bundle->num_recipes) {
        uint32_t index = search->next++;
        if (index != search->dispatched &&
            plan_make(context, problem, search, link, index, plan, status)) {
            return true;
        }
    }
    return false;
}

/* Packs are in the form of one recipe, which alone can read them. */
static bool bound_recipe(struct kiln_context *context, const struct kiln_problem *problem,
        struct kiln_search *search, struct kiln_plan *plan, enum kiln_status *status)
{
    bool is_first = search->link < context->num_links;
    search->link = context->num_links;
    return is_first && plan_make(context, problem, search, &context->links[problem->bound_link],
            problem->bound_recipe, plan, status);
}

static bool search_once(struct kiln_context *context, const struct kiln_problem *problem,
        struct kiln_search *search, struct kiln_plan *plan, enum kiln_status *status)
{
    if (problem->bound != 0) {
        return bound_recipe(context, problem, search, plan, status);
    }
    for (; search->link < context->num_links; search->link++, search->in_scan = false) {
        struct kiln_link *link = &context->links[search->link];
        if (!search->in_scan) {
            look_up(link, problem, search);
            if (search->dispatched != KILN_NO_RECIPE &&
                plan_make(context, problem, search, link, search->dispatched, plan, status)) {
                plan->anchor = search->anchor;
                return true;
            }
        }
        if (scan(context, problem, search, plan, status)) {
            return true;
        }
    }
    return false;
}

bool kiln_search_next(struct kiln_context *context, const struct kiln_problem *problem,
        struct kiln_search *search, struct kiln_plan *plan, enum kiln_status *status)
{
    if (search_once(context, problem, search, plan, status)) {
        return true;
    }
    if (search->insists || !search->has_put_off) {
        return false;
    }
    *search = (struct kiln_search){.insists = true};
    return search_once(context, problem, search, plan, status);
}

enum kiln_status kiln_search_failure(const struct kiln_problem *problem)
{
    return problem->bound != 0 ? KILN_PACK_UNSUITABLE : KILN_NO_KERNEL;
}

enum kiln_status kiln_search_first(struct kiln_context *context,
        const struct kiln_problem *problem, struct kiln_plan *plan)
{
    struct kiln_search search = {0};
    enum kiln_status first = KILN_SUCCESS, status = KILN_SUCCESS;
    while (kiln_search_next(context, problem, &search, plan, &status)) {
        if (status == KILN_SUCCESS) {
            return KILN_SUCCESS;
        }
        first = first == KILN_SUCCESS ? status : first;
    }
    return first == KILN_SUCCESS ? kiln_search_failure(problem) : first;
}
