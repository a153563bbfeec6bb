/* launch.c: the last room of a call: what is planned and prepared is enqueued.
 *
 * Recipes are tried in the order of prepare.c. As long as no stage that writes C is enqueued, C is
 * untouched and the next recipe may be tried; it may still be where C is not read. The members of a
 * batch are done one after the other, each in that way; one that is enqueued is done, whatever
 * becomes of the next.
 */
#include "launch.h"

static enum kiln_status launch_pack(struct launch *launch, const struct kiln_choice *choice)
{
    const struct kiln_request *request = launch->request;
    const struct kiln_problem *problem = launch->problem;
    struct kiln_pack_layout layout;
    if (!kiln_pack_layout(choice->plan.recipe, &problem->product, request->prepared,
            problem->places.packed_offset[request->prepared], &layout)) {
        return KILN_SIZE_OVERFLOW;
    }
    if (layout.end > request->pack_end) {
        return KILN_PACK_BUFFER_TOO_SMALL;
    }
    return layout.is_plain ? kiln_copy_operand(launch, &layout)
                           : kiln_stages_enqueue(launch, choice, NULL);
}

static enum kiln_status launch_choice(struct launch *launch, const struct kiln_choice *choice)
{
    cl_mem workspace = NULL;
    if (launch->request->prepared != KILN_PREPARED_NONE) {
        return launch_pack(launch, choice);
    }
    enum kiln_status status = kiln_claim_workspace(launch, &choice->plan, &workspace);
    return status == KILN_SUCCESS ? kiln_stages_enqueue(launch, choice, workspace) : status;
}

/* Does the failure of one recipe say nothing of the next? Memory may do for another; sizes and
 * kernels are the recipe's own, and so are arguments that the driver does not take. */
static bool is_about_recipe(enum kiln_status status)
{
    switch ((int)status) {
    case CL_INVALID_WORK_GROUP_SIZE:
    case CL_INVALID_WORK_ITEM_SIZE:
    case CL_INVALID_GLOBAL_WORK_SIZE:
    case CL_INVALID_BUFFER_SIZE:
    case CL_INVALID_IMAGE_SIZE:
    case CL_IMAGE_FORMAT_NOT_SUPPORTED:
    case CL_INVALID_KERNEL:            /* one that the driver made, and then does not take */
    case CL_INVALID_ARG_INDEX:
    case CL_INVALID_ARG_VALUE:
    case CL_INVALID_ARG_SIZE:
    case CL_INVALID_KERNEL_ARGS:
        return true;
    default:
        return kiln_is_passing(status);
    }
}

static void report_choice(const struct kiln_request *request, const struct kiln_choice *choice)
{
    if (request->served != NULL) {
        *request->served = *choice;
    }
}

/* A caller's workspace, or buffer for a pack, must do for the recipe that serves the call, as
 * kiln_gemm_workspace_bytes or kiln_pack_bytes told; a later one that is too hungry is passed
 * over, and the first failure is what counts. */
static enum kiln_status launch_first_that_works(struct launch *launch)
{
    struct kiln_search search = {0};
    struct kiln_choice choice;
    enum kiln_status first = KILN_SUCCESS, status = KILN_SUCCESS;
    while (kiln_search_next(launch->context, launch->problem, &search, &choice, &status)) {
        if (status == KILN_SUCCESS) {
            status = launch_choice(launch, &choice);
        }
        if (status == KILN_SUCCESS) {
            report_choice(launch->request, &choice);
            return KILN_SUCCESS;
        }
        bool is_too_small = status == KILN_WORKSPACE_TOO_SMALL ||
                            status == KILN_PACK_BUFFER_TOO_SMALL;
        bool go_on = is_about_recipe(status) || (is_too_small && first != KILN_SUCCESS);
        bool is_spoilt = launch->touched && launch->problem->beta != 0;
        first = first == KILN_SUCCESS ? status : first;
        if (!go_on || is_spoilt) {
            return first;
        }
        kiln_log(launch->context, choice.plan.recipe->name, " passed over: ",
                kiln_status_string(status), NULL);
    }
    return first == KILN_SUCCESS ? kiln_search_failure(launch->problem) : first;
}

enum kiln_status kiln_launch(struct kiln_context *context, const struct kiln_problem *problem,
        const struct kiln_request *request)
{
    if (problem->is_nothing) {
        return kiln_command_none(context, request);
    }
    struct launch launch = {
        .context = context,
        .problem = problem,
        .request = request,
        .num_members = request->prepared != KILN_PREPARED_NONE ? 1 : problem->product.batch_count,
    };
    enum kiln_status status = launch_first_that_works(&launch);
    kiln_claim_leave(&launch);
    if (status == KILN_SUCCESS && request->event != NULL) {
        *request->event = launch.last;
    } else if (launch.last != NULL) {
        clReleaseEvent(launch.last);
    }
    if (request->num_stage_events != NULL) {
        *request->num_stage_events = launch.num_stage_events;
    }
    return status;
}
