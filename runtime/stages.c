/* stages.c: enqueues the kernels of a recipe.
 *
 * To pack an operand is to enqueue the stages that prepare it alone; a call that brings packs
 * leaves those stages out.
 */
#include "launch.h"

#include <string.h>

/* Of so many members of the batch. */
static cl_int enqueue_stage(struct launch *launch, const struct kiln_plan *plan, unsigned index,
        cl_kernel kernel, size_t members, bool is_final)
{
    const struct kiln_request *request = launch->request;
    const struct kiln_stage *stage = &plan->recipe->stages[index];
    size_t local[3] = { 1, 1, 1 }, global[3] = { 1, 1, 1 };
    for (unsigned d = 0; d < stage->work_dim; d++) {
        local[d] = stage->local[d];
        global[d] = plan->global[index][d];
    }
    global[2] *= members;
    cl_event event = NULL;
    struct kiln_waits waits;
    cl_int error = kiln_command_begin(launch, &waits);
    if (error != CL_SUCCESS) {
        return error;
    }
    bool writes_c = memchr(stage->args, KILN_ARG_C, stage->num_args) != NULL;
    error = clEnqueueNDRangeKernel(request->queue, kernel, members > 1 ? 3 : stage->work_dim, NULL,
            global, local, waits.num, waits.events,
            kiln_command_wants_event(launch, is_final) || launch->image != NULL ? &event : NULL);
    launch->touched = launch->touched || (error == CL_SUCCESS && writes_c);
    return kiln_command_end(launch, &waits, error, event);
}

/* Is the stage one of those that the request is about, and not done by a pack already? */
static bool stage_is_wanted(const struct launch *launch, const struct kiln_plan *plan,
        unsigned index)
{
    unsigned prepares = plan->recipe->stages[index].prepares;
    bool concerns = launch->request->prepared != KILN_PREPARED_NONE
                          ? prepares == launch->request->prepared
                          : kiln_stage_is_needed(plan->recipe, index, plan->ready);
    return concerns && !kiln_stage_is_empty(plan, index);
}

/* One after the last stage that is enqueued. */
static unsigned end_of_stages(const struct launch *launch, const struct kiln_plan *plan)
{
    unsigned end = plan->recipe->num_stages;
    while (end > 0 && !stage_is_wanted(launch, plan, end - 1)) {
        end--;
    }
    return end;
}

/* The next members of the batch, so many. */
static cl_int enqueue_members(struct launch *launch, const struct kiln_plan *plan,
        struct kiln_kernel_set *set, cl_mem workspace, size_t members)
{
    struct kiln_argument arguments[KILN_NUM_ARG_CODES];
    bool are_final = launch->member + members == launch->num_members && !launch->goes_on;
    unsigned end = end_of_stages(launch, plan);
    kiln_arguments_fill(launch, plan, workspace, arguments);
    cl_int error = CL_SUCCESS;
    for (unsigned i = 0; i < end && error == CL_SUCCESS; i++) {
        if (stage_is_wanted(launch, plan, i)) {
            error = kiln_arguments_set(&plan->recipe->stages[i], i, set, arguments);
        }
    }
    for (unsigned i = 0; i < end && error == CL_SUCCESS; i++) {
        if (stage_is_wanted(launch, plan, i)) {
            error = enqueue_stage(launch, plan, i, set->kernels[i], members,
                    are_final && i + 1 == end);
        }
    }
    return error;
}

enum kiln_status kiln_stages_enqueue(struct launch *launch, const struct kiln_choice *choice,
        cl_mem workspace)
{
    struct kiln_link *link = &launch->context->links[choice->link];
    struct kiln_kernel_set *set = NULL;
    enum kiln_status status = KILN_SUCCESS;
    if (launch->request->prepared == KILN_PREPARED_NONE) {
        status = kiln_image_make(launch, &choice->plan, workspace);
    }
    if (status == KILN_SUCCESS) {
        status = kiln_recipe_take(link, choice->recipe, &set);
    }
    if (status != KILN_SUCCESS) {
        kiln_image_drop(launch);
        return status;
    }
    while (status == KILN_SUCCESS && launch->member < launch->num_members) {
        const size_t left = launch->num_members - launch->member;
        const size_t members = left < choice->plan.members ? left : choice->plan.members;
        status = (enum kiln_status) enqueue_members(launch, &choice->plan, set, workspace, members);
        if (status == KILN_SUCCESS) {
            launch->member += members;
            launch->touched = false;
        }
    }
    kiln_recipe_give(link, choice->recipe, set);
    kiln_image_drop(launch);
    if (status != KILN_SUCCESS) {
        kiln_command_drop_events(launch);
        kiln_claim_give_up(launch, status);
    }
    return status;
}
