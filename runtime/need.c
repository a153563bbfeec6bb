/* need.c: how much workspace a call needs, whichever recipe serves it in the end.
 */
#include "internal.h"

static enum kiln_status most_workspace(struct kiln_context *context,
        const struct kiln_problem *problem, size_t *bytes);

/* The workspace of one recipe and, where it leaves a real product, of what computes that. */
static enum kiln_status workspace_of(struct kiln_context *context,
        const struct kiln_problem *problem, struct kiln_choice *choice, size_t *bytes)
{
    struct kiln_problem real;
    size_t more = 0;
    *bytes = choice->plan.workspace_bytes;
    if (choice->plan.recipe->routine != KILN_ROUTINE_TO_REAL) {
        return KILN_SUCCESS;
    }
    enum kiln_status status = kiln_complex_split(problem, &choice->plan, &real);
    if (status == KILN_SUCCESS && !real.is_nothing) {
        status = most_workspace(context, &real, &more);
    }
    return status == KILN_SUCCESS && !kiln_add(choice->plan.workspace_bytes, more, bytes)
                 ? KILN_SIZE_OVERFLOW
                 : status;
}

/* A recipe that can not be built at the moment may serve the call in the end, so the answer must be
 * enough for it too. */
static enum kiln_status most_workspace(struct kiln_context *context,
        const struct kiln_problem *problem, size_t *bytes)
{
    struct kiln_attempts attempts = { .counts_put_off = true };
    struct kiln_choice choice;
    enum kiln_status status = KILN_SUCCESS;
    *bytes = 0;
    while (kiln_attempt_next(context, problem, &attempts, &choice, &status)) {
        size_t needed = 0;
        const enum kiln_status built = status;
        status = workspace_of(context, problem, &choice, &needed);
        *bytes = needed > *bytes ? needed : *bytes;
        status = built != KILN_SUCCESS ? built : status;
        if (status == KILN_SUCCESS) {
            return KILN_SUCCESS;
        }
    }
    return kiln_attempts_failure(context, problem, &attempts);
}

enum kiln_status kiln_workspace_needed(struct kiln_context *context,
        const struct kiln_problem *problem, size_t *bytes)
{
    struct kiln_mirroring mirroring;
    size_t rest = 0;
    if (!kiln_mirroring_make(problem, &mirroring)) {
        return KILN_SIZE_OVERFLOW;
    }
    enum kiln_status status = most_workspace(context, &mirroring.rest, &rest);
    return status == KILN_SUCCESS && !kiln_add(mirroring.bytes, rest, bytes)
                 ? KILN_SIZE_OVERFLOW
                 : status;
}
