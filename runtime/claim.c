/* claim.c: the workspace that a call holds while it enqueues, and the turn of its queue.
 *
 * A call with a workspace, whoever owns it, has the queue's turn from its first stage to its last.
 */
#include "launch.h"

/* If the last call with the space failed, the space forgets its event and memory: a command that
 * waits for a failed event fails too. */
static void leave_failed_user(struct kiln_space *space)
{
    cl_int execution = CL_COMPLETE;
    if (space->last != NULL &&
            clGetEventInfo(space->last, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof execution,
                    &execution, NULL) == CL_SUCCESS &&
            execution < 0) {
        clReleaseEvent(space->last);
        space->last = NULL;
        kiln_space_empty(space);
    }
}

/* From here to the end of the call, no stage of another call comes between those of this one. */
static void take_turn(struct launch *launch)
{
    if (!launch->has_turn) {
        kiln_turn_take(launch->context, launch->request->queue, &launch->turn);
        launch->has_turn = true;
    }
}

enum kiln_status kiln_claim_own(struct launch *launch, size_t bytes, cl_mem *workspace)
{
    take_turn(launch);
    if (launch->space == NULL) {
        enum kiln_status status = kiln_space_acquire(launch->context, launch->request->queue,
                &launch->space, &launch->evicted);
        if (status != KILN_SUCCESS) {
            return status;
        }
        leave_failed_user(launch->space);
    }
    enum kiln_status status = kiln_space_reserve(launch->context, launch->space, bytes);
    *workspace = launch->space->buffer;
    return status;
}

/* A recipe without regions gets C in place of a workspace, and does not touch it. */
enum kiln_status kiln_claim_workspace(struct launch *launch, const struct kiln_plan *plan,
        cl_mem *workspace)
{
    const struct kiln_problem *problem = launch->problem;
    *workspace = problem->c;
    if (plan->workspace_bytes == 0) {
        return KILN_SUCCESS;
    }
    if (problem->workspace == NULL) {
        return kiln_claim_own(launch, plan->workspace_bytes, workspace);
    }
    take_turn(launch);
    *workspace = problem->workspace;
    return plan->workspace_bytes <= problem->workspace_bytes
                 ? KILN_SUCCESS
                 : KILN_WORKSPACE_TOO_SMALL;
}

/* A driver that allocates at first use may find only now that a workspace is too large. It would
 * find so every time, so the next call that needs a workspace gets a new one. */
void kiln_claim_give_up(struct launch *launch, enum kiln_status status)
{
    if (launch->space != NULL && kiln_is_passing(status)) {
        kiln_space_empty(launch->space);
    }
}

/* What was enqueued goes on using the workspace even when the call failed. Where no event tells
 * when it ends, the next call gets new memory. */
static void leave_space(struct launch *launch)
{
    struct kiln_space *space = launch->space;
    if (launch->request->queue_facts.out_of_order && launch->follows) {
        if (space->last != NULL) {
            clReleaseEvent(space->last);
        }
        space->last = clRetainEvent(launch->last) == CL_SUCCESS ? launch->last : NULL;
        if (space->last == NULL) {
            kiln_space_empty(space);
        }
    }
    kiln_space_release(launch->context, space);
}

void kiln_claim_leave(struct launch *launch)
{
    if (launch->space != NULL) {
        leave_space(launch);
    }
    if (launch->has_turn) {
        kiln_turn_give(launch->context, &launch->turn);
    }
    kiln_spaces_free(launch->evicted);
}
