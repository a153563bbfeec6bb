/* prepare.c: of the recipes that can serve a call, those whose kernels are there.
 *
 * What was refused once is passed over. A passing failure is told, and others may be tried.
 */
#include "internal.h"

/* Is the recipe tried now? At first those are left out that are put off, then all others are. */
static bool is_to_be_tried(struct kiln_link *link, const struct kiln_recipe *recipe,
        struct kiln_attempts *attempts)
{
    if (attempts->insists) {
        return kiln_program_is_doubtful(link, recipe->program);
    }
    bool put_off = kiln_program_is_put_off(link, recipe->program);
    attempts->has_put_off = attempts->has_put_off || put_off;
    return !put_off;
}

static bool attempt_once(struct kiln_context *context, const struct kiln_problem *problem,
        struct kiln_attempts *attempts, struct kiln_choice *choice, enum kiln_status *status)
{
    while (kiln_walk_next(context, problem, &attempts->walk, choice)) {
        struct kiln_link *link = &context->links[choice->link];
        if (is_to_be_tried(link, choice->plan.recipe, attempts)) {
            *status = kiln_recipe_prepare(context, link, choice->recipe);
            if (*status != KILN_NO_KERNEL) {
                return true;
            }
        } else if (attempts->counts_put_off && !attempts->insists) {
            *status = KILN_NO_KERNEL;
            return true;
        }
    }
    return false;
}

bool kiln_attempt_next(struct kiln_context *context, const struct kiln_problem *problem,
        struct kiln_attempts *attempts, struct kiln_choice *choice, enum kiln_status *status)
{
    if (attempts->failure == KILN_SUCCESS && *status != KILN_NO_KERNEL &&
            *status != kiln_nothing_serves(context)) {
        attempts->failure = *status;
    }
    if (attempt_once(context, problem, attempts, choice, status)) {
        return true;
    }
    if (attempts->insists || !attempts->has_put_off) {
        return false;
    }
    const struct kiln_attempts insisting = { .failure = attempts->failure, .insists = true };
    *attempts = insisting;
    return attempt_once(context, problem, attempts, choice, status);
}

enum kiln_status kiln_attempts_failure(const struct kiln_context *context,
        const struct kiln_problem *problem, const struct kiln_attempts *attempts)
{
    return attempts->failure != KILN_SUCCESS ? attempts->failure
         : problem->bound != 0               ? KILN_PACK_UNSUITABLE
                                             : kiln_nothing_serves(context);
}

enum kiln_status kiln_attempt_first(struct kiln_context *context,
        const struct kiln_problem *problem, struct kiln_choice *choice)
{
    struct kiln_attempts attempts = { .insists = false };
    enum kiln_status status = KILN_SUCCESS;
    while (kiln_attempt_next(context, problem, &attempts, choice, &status)) {
        if (status == KILN_SUCCESS) {
            return KILN_SUCCESS;
        }
    }
    return kiln_attempts_failure(context, problem, &attempts);
}
