/* workspace.c: the memory that the regions of a recipe lie in.
 *
 * A context holds one buffer per queue, grown to the largest need seen. Two queues never share one,
 * and calls on one queue wait for each other: that keeps their stages together, and the order of
 * the queue (or, where it has none, the event of the last stage) keeps them from overwriting each
 * other. OpenCL does not tell when the application has let go of a queue, so the workspaces used
 * longest ago give way to new ones.
 */
#include "internal.h"

#include <stdlib.h>

/* Buffers are made in steps of these bytes, so that needs which differ little share one. */
enum { SPACE_STEP = 64 * 1024 };

void kiln_queue_workspace_empty(struct kiln_queue_workspace *kept)
{
    if (kept->buffer != NULL) {
        clReleaseMemObject(kept->buffer);
        kept->buffer = NULL;
        kept->bytes = 0;
    }
}

void kiln_workspaces_free(struct kiln_queue_workspace *kept)
{
    while (kept != NULL) {
        struct kiln_queue_workspace *next = kept->next;
        kiln_queue_workspace_empty(kept);
        if (kept->last != NULL) {
            clReleaseEvent(kept->last);
        }
        clReleaseCommandQueue(kept->queue);
        free(kept);
        kept = next;
    }
}

static enum kiln_status make_workspace(cl_command_queue queue, struct kiln_queue_workspace **out)
{
    struct kiln_queue_workspace *kept = (struct kiln_queue_workspace *) calloc(1, sizeof *kept);
    if (kept == NULL) {
        return KILN_OUT_OF_MEMORY;
    }
    cl_int error = clRetainCommandQueue(queue);
    if (error != CL_SUCCESS) {
        free(kept);
        return (enum kiln_status) error;
    }
    kept->queue = queue;
    *out = kept;
    return KILN_SUCCESS;
}

static void list_push(struct kiln_queue_workspace **list, struct kiln_queue_workspace *kept)
{
    kept->next = *list;
    *list = kept;
}

/* Takes a workspace out of the list. */
static struct kiln_queue_workspace *list_take(struct kiln_queue_workspace **place)
{
    struct kiln_queue_workspace *kept = *place;
    *place = kept->next;
    return kept;
}

/* Moves spaces that no call uses from the end of the context's list to another one, until there is
 * room for one more. */
static void make_room(struct kiln_context *context, struct kiln_queue_workspace **evicted)
{
    while (context->num_workspaces >= KILN_MAX_WORKSPACES) {
        struct kiln_queue_workspace **oldest = NULL;
        for (struct kiln_queue_workspace **at = &context->workspaces; *at != NULL;
                at = &(*at)->next) {
            if ((*at)->num_users == 0) {
                oldest = at;
            }
        }
        if (oldest == NULL) {
            return;
        }
        list_push(evicted, list_take(oldest));
        context->num_workspaces--;
    }
}

/* The queue's workspace, made if there is none; it becomes the first of the list. */
static enum kiln_status find_or_make(struct kiln_context *context, cl_command_queue queue,
        struct kiln_queue_workspace **kept, struct kiln_queue_workspace **evicted)
{
    for (struct kiln_queue_workspace **at = &context->workspaces; *at != NULL; at = &(*at)->next) {
        if ((*at)->queue == queue) {
            *kept = list_take(at);
            list_push(&context->workspaces, *kept);
            return KILN_SUCCESS;
        }
    }
    enum kiln_status status = make_workspace(queue, kept);
    if (status == KILN_SUCCESS) {
        make_room(context, evicted);
        list_push(&context->workspaces, *kept);
        context->num_workspaces++;
    }
    return status;
}

static bool is_held(const struct kiln_context *context, cl_command_queue queue)
{
    const struct kiln_held_queue *held = context->held_queues;
    while (held != NULL && held->queue != queue) {
        held = held->next;
    }
    return held != NULL;
}

void kiln_queue_lock(struct kiln_context *context, cl_command_queue queue,
        struct kiln_held_queue *held)
{
    pthread_mutex_lock(&context->queues_lock);
    while (is_held(context, queue)) {
        pthread_cond_wait(&context->queues_change, &context->queues_lock);
    }
    held->next = context->held_queues;
    held->queue = queue;
    context->held_queues = held;
    pthread_mutex_unlock(&context->queues_lock);
}

void kiln_queue_unlock(struct kiln_context *context, struct kiln_held_queue *held)
{
    pthread_mutex_lock(&context->queues_lock);
    struct kiln_held_queue **place = &context->held_queues;
    while (*place != held) {
        place = &(*place)->next;
    }
    *place = held->next;
    pthread_cond_broadcast(&context->queues_change);
    pthread_mutex_unlock(&context->queues_lock);
}

enum kiln_status kiln_queue_workspace_acquire(struct kiln_context *context, cl_command_queue queue,
        struct kiln_queue_workspace **kept, struct kiln_queue_workspace **evicted)
{
    pthread_mutex_lock(&context->workspaces_lock);
    enum kiln_status status = find_or_make(context, queue, kept, evicted);
    if (status == KILN_SUCCESS) {
        (*kept)->num_users++;
    }
    pthread_mutex_unlock(&context->workspaces_lock);
    return status;
}

/* The old buffer goes first, to make room; the driver keeps it until the kernels that use it are
 * done. No more is asked for than is needed: a driver that allocates late would refuse the excess
 * only when a kernel is enqueued. */
enum kiln_status kiln_queue_workspace_reserve(const struct kiln_context *context,
        struct kiln_queue_workspace *kept, size_t bytes)
{
    size_t wanted = 0;
    if (bytes <= kept->bytes) {
        return KILN_SUCCESS;
    }
    if (!kiln_round_up(bytes, SPACE_STEP, &wanted) || wanted > context->facts.max_alloc_bytes) {
        wanted = bytes;
    }
    kiln_queue_workspace_empty(kept);
    cl_int error = CL_SUCCESS;
    kept->buffer = clCreateBuffer(context->context, CL_MEM_READ_WRITE, wanted, NULL, &error);
    if (kept->buffer == NULL) {
        return (enum kiln_status)(error != CL_SUCCESS ? error : CL_MEM_OBJECT_ALLOCATION_FAILURE);
    }
    kept->bytes = wanted;
    return KILN_SUCCESS;
}

void kiln_queue_workspace_release(struct kiln_context *context, struct kiln_queue_workspace *kept)
{
    pthread_mutex_lock(&context->workspaces_lock);
    kept->num_users--;
    pthread_mutex_unlock(&context->workspaces_lock);
}
