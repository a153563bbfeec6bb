/* dispatch.c: which recipes can serve a call, best first.
 *
 * The recipes of a bundle come in the order of rank.h: what is pinned to the shape, then the least
 * predicted time. The next bundle's follow in the same way. Whether they can be built is not asked
 * here.
 */
#include "internal.h"

/* One buffer holds the plan's workspace and what lies beside it. */
static bool is_allocatable(const struct kiln_context *context, const struct kiln_problem *problem,
        size_t bytes)
{
    const cl_ulong most = context->facts.max_alloc_bytes;
    return bytes == 0 || (problem->beside <= most && bytes <= most - problem->beside);
}

enum kiln_fit kiln_fit_of(const struct kiln_context *context, const struct kiln_problem *problem,
        unsigned link, uint32_t recipe, struct kiln_plan *plan)
{
    const struct kiln_recipe *asked = &context->links[link].bundle->recipes[recipe];
    if (context->links[link].left_out[recipe]) {
        return KILN_FIT_NOT_FOR_DEVICE;
    }
    if (!kiln_guard_takes(&asked->guard, &problem->product)) {
        return KILN_FIT_GUARD;
    }
    if (!kiln_indices_fit(asked, &problem->product)) {
        return KILN_FIT_INDICES;
    }
    if (!kiln_plan_make(asked, &problem->product, &problem->places, context->facts.compute_units,
                plan)) {
        return KILN_FIT_WORKSPACE;
    }
    if (asked->routine == KILN_ROUTINE_TO_REAL) {
        kiln_complex_trim(problem, plan);
    }
    if (!is_allocatable(context, problem, plan->workspace_bytes) ||
            plan->pixels > context->facts.max_pixels) {
        return KILN_FIT_WORKSPACE;
    }
    return KILN_FITS;
}

/* The next recipes of a link's bundle in order, without those that are not for the device. */
static unsigned rank(const struct kiln_context *context, unsigned link,
        const struct kiln_product *product, const struct kiln_rank *after,
        struct kiln_rank ranks[KILN_RANKED])
{
    return kiln_rank(context->links[link].bundle, context->links[link].left_out, product,
            context->facts.compute_units, after, ranks);
}

static bool emulates(const struct kiln_context *context, unsigned link, uint32_t recipe)
{
    return context->links[link].bundle->recipes[recipe].precision == KILN_EMULATED;
}

/* False: the recipe does not take the product, asks for more than the device has, or does not
 * emulate where only that may (the self-test). */
static bool choose(const struct kiln_context *context, const struct kiln_problem *problem,
        unsigned link, uint32_t recipe, struct kiln_choice *choice)
{
    choice->link = link;
    choice->recipe = recipe;
    if (context->emulates_only && problem->product.precision == KILN_EMULATED &&
            !emulates(context, link, recipe)) {
        return false;
    }
    return kiln_fit_of(context, problem, link, recipe, &choice->plan) == KILN_FITS;
}

/* Packs are in the form of one recipe, and no other can read them. No ranking has checked that this
 * recipe is for the call's transposes. */
static bool bound_recipe(const struct kiln_context *context, const struct kiln_problem *problem,
        struct kiln_walk *walk, struct kiln_choice *choice)
{
    const unsigned link = problem->bound_link;
    const uint32_t recipe = problem->bound_recipe;
    const bool is_first = walk->place < context->num_links;
    walk->place = context->num_links;
    return is_first &&
           kiln_recipe_takes(&context->links[link].bundle->recipes[recipe], &problem->product) &&
           choose(context, problem, link, recipe, choice);
}

static void take_order(const struct kiln_rank *ranks, struct kiln_walk *walk)
{
    for (unsigned i = 0; i < walk->num; i++) {
        walk->order[i] = (uint16_t) ranks[i].recipe;
    }
    walk->at = 0;
}

/* Logs the shape as a line of a file of the application's own shapes. */
static void log_shape(const struct kiln_context *context, const struct kiln_product *product)
{
    static const char *const pairs[] = { " nn", " nt", " tn", " tt" };
    const size_t extents[] = { product->m, product->n, product->k };
    char shape[96], batch[32];
    struct kiln_text text;
    kiln_text_begin(&text, shape, sizeof shape);
    for (unsigned i = 0; i < 3; i++) {
        kiln_text_add_number(&text, extents[i]);
        kiln_text_add(&text, " ");
    }
    kiln_text_begin(&text, batch, sizeof batch);
    if (kiln_joint_members(product) > 1) {
        kiln_text_add(&text, " batch=");
        kiln_text_add_number(&text, product->batch_count);
    }
    kiln_log(context, "shape: ", shape, kiln_precision_find(product->precision)->name,
            pairs[kiln_pair(product->transa, product->transb)], batch, NULL);
}

/* Where emulation is allowed and the first link has none, the first link that has it is walked
 * twice: ahead of all, until a recipe that does not emulate fits, and again in its own place. */
static bool one_goes_ahead(const struct kiln_context *context, const struct kiln_product *product)
{
    return product->precision == KILN_EMULATED && context->emulating_link > 0;
}

/* The link at a place of the order: the one that goes ahead, then all as they are linked. */
static unsigned link_at(const struct kiln_context *context, const struct kiln_product *product,
        unsigned place)
{
    if (!one_goes_ahead(context, product)) {
        return place;
    }
    return place == 0 ? context->emulating_link : place - 1;
}

/* Whether none of the bundles before this place has recipes for the product. */
static bool is_first_to_rank(const struct kiln_context *context, const struct kiln_product *product,
        unsigned place)
{
    struct kiln_rank ranks[KILN_RANKED];
    unsigned before = 0;
    while (before < place &&
            rank(context, link_at(context, product, before), product, NULL, ranks) == 0) {
        before++;
    }
    return before == place;
}

/* Gives the first recipes of a bundle in order: those remembered for such a shape, or else it ranks
 * them. */
static void rank_first(const struct kiln_context *context, const struct kiln_product *product,
        struct kiln_walk *walk)
{
    const struct kiln_recent_key key = kiln_recent_key(walk->link, product);
    walk->num = kiln_recent_recall(context->recent, &key, walk->order);
    if (walk->num == 0) {
        struct kiln_rank ranks[KILN_RANKED];
        walk->num = rank(context, walk->link, product, NULL, ranks);
        take_order(ranks, walk);
        kiln_recent_note(context->recent, &key, ranks, walk->num);
        /* For a complex product, the real one in its place is logged. */
        if (context->logs_calls && walk->num > 0 &&
                !kiln_precision_is_complex(product->precision) &&
                product->routine == KILN_ROUTINE_MULTIPLY &&
                is_first_to_rank(context, product, walk->place)) {
            log_shape(context, product);
        }
    }
}

/* Gives the recipes that come after the last ones. */
static void rank_next(const struct kiln_context *context, const struct kiln_product *product,
        struct kiln_walk *walk)
{
    const struct kiln_bundle *bundle = context->links[walk->link].bundle;
    const struct kiln_rank last = kiln_rank_of(bundle, context->links[walk->link].left_out,
            walk->order[walk->num - 1], product, context->facts.compute_units);
    struct kiln_rank ranks[KILN_RANKED];
    walk->num = rank(context, walk->link, product, &last, ranks);
    take_order(ranks, walk);
}

/* The next recipe of the walk's bundle, in order; false when there are no more. */
static bool next_in_order(const struct kiln_context *context, const struct kiln_product *product,
        struct kiln_walk *walk, uint32_t *recipe)
{
    if (!walk->has_begun) {
        rank_first(context, product, walk);
        walk->has_begun = true;
    } else if (walk->at == walk->num && walk->num == KILN_RANKED) {
        rank_next(context, product, walk);
    }
    if (walk->at == walk->num) {
        return false;
    }
    *recipe = walk->order[walk->at++];
    return true;
}

/* The beginning of a link. */
static struct kiln_walk walk_at(unsigned place)
{
    const struct kiln_walk walk = { .place = place };
    return walk;
}

bool kiln_walk_next(const struct kiln_context *context, const struct kiln_problem *problem,
        struct kiln_walk *walk, struct kiln_choice *choice)
{
    if (problem->bound != 0) {
        return bound_recipe(context, problem, walk, choice);
    }
    const bool is_ahead = one_goes_ahead(context, &problem->product);
    const unsigned num_places = context->num_links + is_ahead;
    for (; walk->place < num_places; *walk = walk_at(walk->place + 1)) {
        const bool only_emulates = is_ahead && walk->place == 0;
        uint32_t recipe = 0;
        bool has_ended = false;
        walk->link = link_at(context, &problem->product, walk->place);
        while (!has_ended && next_in_order(context, &problem->product, walk, &recipe)) {
            if (choose(context, problem, walk->link, recipe, choice)) {
                has_ended = only_emulates && !emulates(context, walk->link, recipe);
                if (!has_ended) {
                    return true;
                }
            }
        }
    }
    return false;
}
