/* need.c: what a call takes before it is launched: the recipe of a complex problem, and the room of
 * whichever recipe serves it in the end.
 */
#include "internal.h"

/* The recipe of a complex problem, and the real one that it leaves. */
enum kiln_status kiln_problem_split(struct kiln_context *context,
        const struct kiln_problem *problem, struct kiln_choice *own, struct kiln_problem *real)
{
    enum kiln_status status = kiln_search_first(context, problem, own);
    return status == KILN_SUCCESS ? kiln_complex_split(context, problem, &own->plan, real) : status;
}

/* A recipe that can not be built for the moment may serve the call in the end: what is told does
 * for it as well. `before` is what the real product of a complex one finds taken. */
static enum kiln_status most_workspace(struct kiln_context *context,
        const struct kiln_problem *problem, size_t before, size_t *bytes)
{
    struct kiln_search search = {0};
    struct kiln_choice choice;
    enum kiln_status first = KILN_SUCCESS, status = KILN_SUCCESS;
    size_t most = 0;
    while (kiln_search_next(context, problem, &search, &choice, &status)) {
        most = choice.plan.workspace_bytes > most ? choice.plan.workspace_bytes : most;
        if (status == KILN_SUCCESS) {
            return kiln_add(before, most, bytes) ? KILN_SUCCESS : KILN_SIZE_OVERFLOW;
        }
        first = first == KILN_SUCCESS ? status : first;
    }
    return first == KILN_SUCCESS ? kiln_search_failure(problem) : first;
}

/* Of a problem whose operands are whole. */
static enum kiln_status workspace_of_whole(struct kiln_context *context,
        const struct kiln_problem *problem, size_t before, size_t *bytes)
{
    struct kiln_problem real;
    struct kiln_choice own;
    if (!kiln_product_is_complex(&problem->product)) {
        return most_workspace(context, problem, before, bytes);
    }
    enum kiln_status status = kiln_problem_split(context, problem, &own, &real);
    if (status == KILN_SUCCESS && !kiln_add(before, own.plan.workspace_bytes, &before)) {
        status = KILN_SIZE_OVERFLOW;
    }
    if (status == KILN_SUCCESS && !real.is_nothing) {
        return most_workspace(context, &real, before, bytes);
    }
    *bytes = before;
    return status;
}

enum kiln_status kiln_workspace_needed(struct kiln_context *context,
        const struct kiln_problem *problem, size_t *bytes)
{
    struct kiln_mirroring mirroring;
    return kiln_mirroring_make(problem, &mirroring)
            ? workspace_of_whole(context, &mirroring.rest, mirroring.bytes, bytes)
            : KILN_SIZE_OVERFLOW;
}
