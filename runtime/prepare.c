/* prepare.c: of the recipes that can serve a call, those whose kernels are there.
 *
 * What was refused once is passed over. A passing failure is told, and the search may go on.
 */
#include "internal.h"

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

static bool search_once(struct kiln_context *context, const struct kiln_problem *problem,
        struct kiln_search *search, struct kiln_choice *choice, enum kiln_status *status)
{
    while (kiln_walk_next(context, problem, &search->walk, choice)) {
        struct kiln_link *link = &context->links[choice->link];
        if (is_its_turn(link, choice->plan.recipe, search)) {
            *status = kiln_recipe_prepare(context, link, choice->recipe);
            if (*status != KILN_NO_KERNEL) {
                return true;
            }
        }
    }
    return false;
}

bool kiln_search_next(struct kiln_context *context, const struct kiln_problem *problem,
        struct kiln_search *search, struct kiln_choice *choice, enum kiln_status *status)
{
    search->failure = search->failure == KILN_SUCCESS ? *status : search->failure;
    if (search_once(context, problem, search, choice, status)) {
        return true;
    }
    if (search->insists || !search->has_put_off) {
        return false;
    }
    const struct kiln_search insisting = { .failure = search->failure, .insists = true };
    *search = insisting;
    return search_once(context, problem, search, choice, status);
}

enum kiln_status kiln_search_failure(const struct kiln_context *context,
        const struct kiln_problem *problem, const struct kiln_search *search)
{
    return search->failure != KILN_SUCCESS ? search->failure
         : problem->bound != 0             ? KILN_PACK_UNSUITABLE
                                           : kiln_nothing_serves(context);
}

enum kiln_status kiln_search_first(struct kiln_context *context, const struct kiln_problem *problem,
        struct kiln_choice *choice)
{
    struct kiln_search search = { .insists = false };
    enum kiln_status status = KILN_SUCCESS;
    while (kiln_search_next(context, problem, &search, choice, &status)) {
        if (status == KILN_SUCCESS) {
            return KILN_SUCCESS;
        }
    }
    return kiln_search_failure(context, problem, &search);
}
