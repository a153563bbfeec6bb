/* claim.c: the workspace that a call holds while it enqueues, and its hold on the queue.
 *
 * A call with a workspace, whoever owns it, holds the queue from its first stage to its last.
 */
#include "launch.h"

/* If the last call with the workspace failed, its event and memory are dropped: a command that
 * waits for a failed event fails too. */
static void leave_failed_user(struct kiln_queue_workspace *kept)
{
    cl_int execution = CL_COMPLETE;
    if (kept->last != NULL &&
            clGetEventInfo(kept->last, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof execution,
                    &execution, NULL) == CL_SUCCESS &&
            execution < 0) {
        clReleaseEvent(kept->last);
        kept->last = NULL;
        kiln_queue_workspace_empty(kept);
    }
}

/* From here to the end of the call, no stage of another call comes between those of this one. */
static void hold_queue(struct launch *launch)
{
    if (!launch->holds_queue) {
        kiln_queue_lock(launch->context, launch->request->queue, &launch->queue);
        launch->holds_queue = true;
    }
}

enum kiln_status kiln_claim_own(struct launch *launch, size_t bytes, cl_mem *workspace)
{
    hold_queue(launch);
    if (launch->kept == NULL) {
        enum kiln_status status = kiln_queue_workspace_acquire(launch->context,
                launch->request->queue, &launch->kept, &launch->evicted);
        if (status != KILN_SUCCESS) {
            return status;
        }
        leave_failed_user(launch->kept);
    }
    enum kiln_status status = kiln_queue_workspace_reserve(launch->context, launch->kept, bytes);
    *workspace = launch->kept->buffer;
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
    hold_queue(launch);
    *workspace = problem->workspace;
    return plan->workspace_bytes <= problem->workspace_bytes
                 ? KILN_SUCCESS
                 : KILN_WORKSPACE_TOO_SMALL;
}

/* A driver that allocates at first use may find only now that a workspace is too large. It would
 * find so every time, so the next call that needs a workspace gets a new one. */
void kiln_claim_give_up(struct launch *launch, enum kiln_status status)
{
    if (launch->kept != NULL && kiln_is_passing(status)) {
        kiln_queue_workspace_empty(launch->kept);
    }
}

/* What was enqueued goes on using the workspace even when the call failed. Where no event tells
 * when it ends, the next call gets new memory. */
static void leave_workspace(struct launch *launch)
{
    struct kiln_queue_workspace *kept = launch->kept;
    if (launch->request->queue_facts.out_of_order && launch->follows) {
        if (kept->last != NULL) {
            clReleaseEvent(kept->last);
        }
        kept->last = clRetainEvent(launch->last) == CL_SUCCESS ? launch->last : NULL;
        if (kept->last == NULL) {
            kiln_queue_workspace_empty(kept);
        }
    }
    kiln_queue_workspace_release(launch->context, kept);
}

void kiln_claim_leave(struct launch *launch)
{
    if (launch->kept != NULL) {
        leave_workspace(launch);
    }
    if (launch->holds_queue) {
        kiln_queue_unlock(launch->context, &launch->queue);
    }
    kiln_workspaces_free(launch->evicted);
}
