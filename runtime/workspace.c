/* workspace.c: where the regions of a recipe lie, and the memory for them.
 *
 * A context holds one buffer per queue, grown to the largest need seen. Two queues never share one,
 * and the calls on one queue take turns: the lock keeps their stages together, and the order of the
 * queue (or, where it has none, the event of the last stage) keeps them from overwriting each
 * other.
 */
#include "internal.h"

#include <stdlib.h>

static size_t greatest_common_divisor(size_t a, size_t b)
{
    while (b != 0) {
        size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static bool region_bytes(const struct kiln_problem *problem, const struct kiln_region *region,
        size_t *bytes)
{
    size_t rows = 0, columns = 0, elements = 0;
    return kiln_round_up(kiln_extent(problem, region->dim[0]), region->round[0], &rows) &&
           kiln_round_up(kiln_extent(problem, region->dim[1]), region->round[1], &columns) &&
           kiln_multiply(rows, columns, &elements) &&
           kiln_multiply(elements, region->element_bytes, bytes);
}

/* Kernels address a region in its own elements from the start of the buffer, so that its place must
 * be a multiple of the element as well as of the alignment, counted with the caller's offset. */
bool kiln_plan_regions(const struct kiln_problem *problem, struct kiln_plan *plan)
{
    size_t base = problem->workspace != NULL ? problem->workspace_offset : 0;
    size_t end = base;
    for (unsigned i = 0; i < plan->recipe->num_regions; i++) {
        const struct kiln_region *region = &plan->recipe->regions[i];
        size_t element = region->element_bytes, unit = 0, bytes = 0, start = 0;
        size_t factor = KILN_REGION_ALIGN / greatest_common_divisor(KILN_REGION_ALIGN, element);
        if (!kiln_multiply(element, factor, &unit) || !kiln_round_up(end, unit, &start) ||
            !region_bytes(problem, region, &bytes) || !kiln_add(start, bytes, &end)) {
            return false;
        }
        plan->region_start[i] = start / element;
    }
    plan->workspace_bytes = end - base;
    return true;
}

static void space_clear(struct kiln_space *space)
{
    if (space->last != NULL) {
        clReleaseEvent(space->last);
        space->last = NULL;
    }
    if (space->buffer != NULL) {
        clReleaseMemObject(space->buffer);
        space->buffer = NULL;
        space->bytes = 0;
    }
}

static void space_free(struct kiln_space *space)
{
    space_clear(space);
    clReleaseCommandQueue(space->queue);
    pthread_mutex_destroy(&space->lock);
    free(space);
}

static enum kiln_status space_make(cl_command_queue queue, struct kiln_space **out)
{
    struct kiln_space *space = calloc(1, sizeof *space);
    if (space == NULL || pthread_mutex_init(&space->lock, NULL) != 0) {
        free(space);
        return KILN_OUT_OF_MEMORY;
    }
    cl_int error = clRetainCommandQueue(queue);
    if (error != CL_SUCCESS) {
        pthread_mutex_destroy(&space->lock);
        free(space);
        return (enum kiln_status)error;
    }
    space->queue = queue;
    *out = space;
    return KILN_SUCCESS;
}

/* Frees the workspaces of queues that only this context still knows: whoever could enqueue there
 * has let go of the queue, so no call is under way on it and none can come. */
static void drop_abandoned(struct kiln_context *context)
{
    size_t kept = 0;
    for (size_t i = 0; i < context->num_spaces; i++) {
        struct kiln_space *space = context->spaces[i];
        cl_uint references = 0;
        cl_int error = clGetCommandQueueInfo(space->queue, CL_QUEUE_REFERENCE_COUNT,
                sizeof references, &references, NULL);
        if (error == CL_SUCCESS && references == 1) {
            space_free(space);
        } else {
            context->spaces[kept++] = space;
        }
    }
    context->num_spaces = kept;
}

static enum kiln_status list_append(struct kiln_context *context, cl_command_queue queue,
        struct kiln_space **space)
{
    drop_abandoned(context);
    if (context->num_spaces == context->max_spaces) {
        size_t max = context->max_spaces > 0 ? 2 * context->max_spaces : 4;
        struct kiln_space **grown = realloc(context->spaces, max * sizeof *grown);
        if (grown == NULL) {
            return KILN_OUT_OF_MEMORY;
        }
        context->spaces = grown;
        context->max_spaces = max;
    }
    enum kiln_status status = space_make(queue, space);
    if (status == KILN_SUCCESS) {
        context->spaces[context->num_spaces++] = *space;
    }
    return status;
}

static enum kiln_status list_find(struct kiln_context *context, cl_command_queue queue,
        struct kiln_space **space)
{
    for (size_t i = 0; i < context->num_spaces; i++) {
        if (context->spaces[i]->queue == queue) {
            *space = context->spaces[i];
            return KILN_SUCCESS;
        }
    }
    return list_append(context, queue, space);
}

enum kiln_status kiln_space_acquire(struct kiln_context *context, cl_command_queue queue,
        struct kiln_space **space)
{
    pthread_mutex_lock(&context->spaces_lock);
    enum kiln_status status = list_find(context, queue, space);
    pthread_mutex_unlock(&context->spaces_lock);
    if (status == KILN_SUCCESS) {
        pthread_mutex_lock(&(*space)->lock);
    }
    return status;
}

/* The old buffer goes first, to make room; the driver keeps it until the kernels that use it are
 * done. Growth at least doubles, as far as the device allows, so that a rising need settles soon.
 * */
enum kiln_status kiln_space_reserve(const struct kiln_context *context, struct kiln_space *space,
        size_t bytes)
{
    if (bytes <= space->bytes) {
        return KILN_SUCCESS;
    }
    size_t most = context->facts.max_alloc_bytes < SIZE_MAX
            ? (size_t)context->facts.max_alloc_bytes : SIZE_MAX;
    size_t wanted = space->bytes <= most / 2 ? 2 * space->bytes : most;
    wanted = wanted > bytes ? wanted : bytes;
    if (space->buffer != NULL) {
        clReleaseMemObject(space->buffer);
        space->bytes = 0;
    }
    cl_int error = CL_SUCCESS;
    space->buffer = clCreateBuffer(context->context, CL_MEM_READ_WRITE, wanted, NULL, &error);
    if (space->buffer == NULL && wanted > bytes) {
        wanted = bytes;
        space->buffer = clCreateBuffer(context->context, CL_MEM_READ_WRITE, wanted, NULL, &error);
    }
    if (space->buffer == NULL) {
        return (enum kiln_status)(error != CL_SUCCESS ? error : CL_MEM_OBJECT_ALLOCATION_FAILURE);
    }
    space->bytes = wanted;
    return KILN_SUCCESS;
}

void kiln_space_release(struct kiln_space *space)
{
    pthread_mutex_unlock(&space->lock);
}

void kiln_spaces_free(struct kiln_context *context)
{
    for (size_t i = 0; i < context->num_spaces; i++) {
        space_free(context->spaces[i]);
    }
    free(context->spaces);
    context->spaces = NULL;
    context->num_spaces = 0;
}
