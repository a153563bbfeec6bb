/* workspace.c: the memory that the regions of a recipe lie in.
 *
 * A context holds one buffer per queue, grown to the largest need seen. Two queues never share one,
 * and the calls on one queue take turns: that keeps their stages together, and the order of the
 * queue (or, where it has none, the event of the last stage) keeps them from overwriting each
 * other. OpenCL does not tell when the application has let go of a queue, so the workspaces used
 * longest ago give way to new ones.
 */
#include "internal.h"

#include <stdlib.h>

/* Buffers are made in steps of these bytes, so that needs which differ little share one. */
enum { SPACE_STEP = 64 * 1024 };

void kiln_space_empty(struct kiln_space *space)
{
    if (space->buffer != NULL) {
        clReleaseMemObject(space->buffer);
        space->buffer = NULL;
        space->bytes = 0;
    }
}

void kiln_spaces_free(struct kiln_space *space)
{
    while (space != NULL) {
        struct kiln_space *next = space->next;
        kiln_space_empty(space);
        if (space->last != NULL) {
            clReleaseEvent(space->last);
        }
        clReleaseCommandQueue(space->queue);
        free(space);
        space = next;
    }
}

static enum kiln_status space_make(cl_command_queue queue, struct kiln_space **out)
{
    struct kiln_space *space = (struct kiln_space *) calloc(1, sizeof *space);
    if (space == NULL) {
        return KILN_OUT_OF_MEMORY;
    }
    cl_int error = clRetainCommandQueue(queue);
    if (error != CL_SUCCESS) {
        free(space);
        return (enum kiln_status) error;
    }
    space->queue = queue;
    *out = space;
    return KILN_SUCCESS;
}

static void list_push(struct kiln_space **list, struct kiln_space *space)
{
    space->next = *list;
    *list = space;
}

/* Takes a space out of the list. */
static struct kiln_space *list_take(struct kiln_space **place)
{
    struct kiln_space *space = *place;
    *place = space->next;
    return space;
}

/* Moves spaces that no call uses from the end of the context's list to another one, until there is
 * room for one more. */
static void make_room(struct kiln_context *context, struct kiln_space **evicted)
{
    while (context->num_spaces >= KILN_MAX_SPACES) {
        struct kiln_space **oldest = NULL;
        for (struct kiln_space **at = &context->spaces; *at != NULL; at = &(*at)->next) {
            if ((*at)->num_users == 0) {
                oldest = at;
            }
        }
        if (oldest == NULL) {
            return;
        }
        list_push(evicted, list_take(oldest));
        context->num_spaces--;
    }
}

/* The queue's space, made if there is none; it becomes the first of the list. */
static enum kiln_status find_or_make(struct kiln_context *context, cl_command_queue queue,
        struct kiln_space **space, struct kiln_space **evicted)
{
    for (struct kiln_space **at = &context->spaces; *at != NULL; at = &(*at)->next) {
        if ((*at)->queue == queue) {
            *space = list_take(at);
            list_push(&context->spaces, *space);
            return KILN_SUCCESS;
        }
    }
    enum kiln_status status = space_make(queue, space);
    if (status == KILN_SUCCESS) {
        make_room(context, evicted);
        list_push(&context->spaces, *space);
        context->num_spaces++;
    }
    return status;
}

static bool is_taken(const struct kiln_context *context, cl_command_queue queue)
{
    const struct kiln_turn *turn = context->turns;
    while (turn != NULL && turn->queue != queue) {
        turn = turn->next;
    }
    return turn != NULL;
}

void kiln_turn_take(struct kiln_context *context, cl_command_queue queue, struct kiln_turn *turn)
{
    pthread_mutex_lock(&context->turns_lock);
    while (is_taken(context, queue)) {
        pthread_cond_wait(&context->turns_change, &context->turns_lock);
    }
    turn->next = context->turns;
    turn->queue = queue;
    context->turns = turn;
    pthread_mutex_unlock(&context->turns_lock);
}

void kiln_turn_give(struct kiln_context *context, struct kiln_turn *turn)
{
    pthread_mutex_lock(&context->turns_lock);
    struct kiln_turn **place = &context->turns;
    while (*place != turn) {
        place = &(*place)->next;
    }
    *place = turn->next;
    pthread_cond_broadcast(&context->turns_change);
    pthread_mutex_unlock(&context->turns_lock);
}

enum kiln_status kiln_space_acquire(struct kiln_context *context, cl_command_queue queue,
        struct kiln_space **space, struct kiln_space **evicted)
{
    pthread_mutex_lock(&context->spaces_lock);
    enum kiln_status status = find_or_make(context, queue, space, evicted);
    if (status == KILN_SUCCESS) {
        (*space)->num_users++;
    }
    pthread_mutex_unlock(&context->spaces_lock);
    return status;
}

/* The old buffer goes first, to make room; the driver keeps it until the kernels that use it are
 * done. No more is asked for than is needed: a driver that allocates late would refuse the excess
 * only when a kernel is enqueued. */
enum kiln_status kiln_space_reserve(const struct kiln_context *context, struct kiln_space *space,
        size_t bytes)
{
    size_t wanted = 0;
    if (bytes <= space->bytes) {
        return KILN_SUCCESS;
    }
    if (!kiln_round_up(bytes, SPACE_STEP, &wanted) || wanted > context->facts.max_alloc_bytes) {
        wanted = bytes;
    }
    kiln_space_empty(space);
    cl_int error = CL_SUCCESS;
    space->buffer = clCreateBuffer(context->context, CL_MEM_READ_WRITE, wanted, NULL, &error);
    if (space->buffer == NULL) {
        return (enum kiln_status)(error != CL_SUCCESS ? error : CL_MEM_OBJECT_ALLOCATION_FAILURE);
    }
    space->bytes = wanted;
    return KILN_SUCCESS;
}

void kiln_space_release(struct kiln_context *context, struct kiln_space *space)
{
    pthread_mutex_lock(&context->spaces_lock);
    space->num_users--;
    pthread_mutex_unlock(&context->spaces_lock);
}
