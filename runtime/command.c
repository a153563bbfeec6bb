/* command.c: what each command of a call waits for, and the events that are handed out.
 *
 * In-order queues keep the stages in order by themselves. On others each stage waits for the event
 * of the one before, and the first that may use the workspace of the queue for the last call that
 * did.
 */
#include "launch.h"

#include <stdlib.h>

/* In PoCL 3.1 a marker waits for all that was enqueued before, whatever its list; so no marker
 * stands for several events. */
cl_int kiln_command_begin(const struct launch *launch, struct kiln_waits *waits)
{
    const struct kiln_request *request = launch->request;
    cl_event last_user = launch->kept != NULL && !launch->follows ? launch->kept->last : NULL;
    cl_uint num_listed = launch->started ? 0 : request->num_wait;
    cl_event *events = waits->own;
    waits->allocated = NULL;
    /* If an event of the list fails, some drivers go on with the next command of an in-order queue.
     * So each stage waits for the list: else C would be computed from a workspace that nothing
     * filled. */
    if (!request->queue_facts.out_of_order) {
        waits->num = request->num_wait;
        waits->events = request->wait;
        return CL_SUCCESS;
    }
    if (num_listed > KILN_OWN_WAITS - 2) {
        events = waits->allocated = (cl_event *) calloc(num_listed + (size_t) 2, sizeof *events);
        if (events == NULL) {
            return KILN_OUT_OF_MEMORY;
        }
    }
    for (waits->num = 0; waits->num < num_listed; waits->num++) {
        events[waits->num] = request->wait[waits->num];
    }
    if (launch->last != NULL) {
        events[waits->num++] = launch->last;
    }
    if (last_user != NULL) {
        events[waits->num++] = last_user;
    }
    waits->events = waits->num > 0 ? events : NULL;
    return CL_SUCCESS;
}

static bool is_of_batch(const struct launch *launch)
{
    return launch->problem->product.batch_count > 1;
}

/* Takes over the event of the stage just enqueued. The stage may write C, so a failure must end the
 * call: CL_INVALID_EVENT does. */
static cl_int note_event(struct launch *launch, cl_event event)
{
    if (launch->last != NULL) {
        clReleaseEvent(launch->last);
    }
    launch->last = event;
    if (launch->request->stage_events != NULL) {
        if (clRetainEvent(event) != CL_SUCCESS) {
            return CL_INVALID_EVENT;
        }
        if (is_of_batch(launch) && launch->num_stage_events == 2) {
            clReleaseEvent(launch->request->stage_events[--launch->num_stage_events]);
        }
        launch->request->stage_events[launch->num_stage_events++] = event;
    }
    return CL_SUCCESS;
}

/* Of a batch the events of the first stage and of the last are handed out: all others would only
 * make it slower. */
bool kiln_command_wants_event(const struct launch *launch, bool is_final)
{
    const struct kiln_request *request = launch->request;
    bool is_handed_out = request->stage_events != NULL &&
                         (!is_of_batch(launch) || is_final || launch->num_stage_events == 0);
    return request->queue_facts.out_of_order || is_handed_out ||
           (is_final && request->event != NULL);
}

cl_int kiln_command_end(struct launch *launch, const struct kiln_waits *waits, cl_int error,
        cl_event event)
{
    free(waits->allocated);
    if (error == CL_SUCCESS) {
        launch->started = true;
        launch->follows = launch->kept != NULL;
        if (event != NULL) {
            error = note_event(launch, event);
        }
    }
    return error;
}

void kiln_command_drop_events(struct launch *launch)
{
    while (launch->num_stage_events > 0) {
        clReleaseEvent(launch->request->stage_events[--launch->num_stage_events]);
    }
}

/* An event that is complete. A marker without a wait list, on an out-of-order queue, would wait for
 * all that was enqueued before; in PoCL 3.1 one with a list does so too. */
static enum kiln_status make_complete_event(cl_context context, cl_event *event)
{
    cl_int error = CL_SUCCESS;
    cl_event made = clCreateUserEvent(context, &error);
    if (made == NULL) {
        return (enum kiln_status) error;
    }
    error = clSetUserEventStatus(made, CL_COMPLETE);
    if (error == CL_SUCCESS) {
        *event = made;
    } else {
        clReleaseEvent(made);
    }
    return (enum kiln_status) error;
}

/* On an out-of-order queue, the only event of a wait list says as much as a marker behind it would,
 * and is refused where the marker would be. */
static enum kiln_status wait_by_itself(const struct kiln_context *context,
        const struct kiln_request *request)
{
    cl_context owner = NULL;
    cl_int error = clGetEventInfo(request->wait[0], CL_EVENT_CONTEXT, sizeof owner, &owner, NULL);
    if (error != CL_SUCCESS) {
        return kiln_conclude(error, (enum kiln_status) CL_INVALID_EVENT_WAIT_LIST);
    }
    if (owner != context->context) {
        return (enum kiln_status) CL_INVALID_CONTEXT;
    }
    if (request->event != NULL) {
        error = clRetainEvent(request->wait[0]);
    }
    if (request->event != NULL && error == CL_SUCCESS) {
        *request->event = request->wait[0];
    }
    return (enum kiln_status) error;
}

/* Commands that follow the call on an in-order queue count on the wait list being complete, whether
 * the call had work to do or not. */
enum kiln_status kiln_command_none(const struct kiln_context *context,
        const struct kiln_request *request)
{
    if (request->event == NULL && request->num_wait == 0) {
        return KILN_SUCCESS;
    }
    if (request->num_wait == 0 && request->queue_facts.out_of_order) {
        return make_complete_event(context->context, request->event);
    }
    if (request->num_wait == 1 && request->queue_facts.out_of_order) {
        return wait_by_itself(context, request);
    }
    return (enum kiln_status) clEnqueueMarkerWithWaitList(request->queue, request->num_wait,
            request->wait, request->event);
}
