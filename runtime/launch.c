/* launch.c: enqueues a call.
 *
 * Recipes are tried in the order of dispatch.c. All stages of a recipe but its last write to the
 * workspace only, so that as long as the last stage is not enqueued, C is untouched and the next
 * recipe may be tried. The members of a batch are done one after the other, each in that way; one
 * that is enqueued is done, whatever becomes of the next.
 *
 * In-order queues keep the stages in order by themselves. On others each stage waits for the event
 * of the one before, and the first for the last call that used the same workspace.
 */
#include "internal.h"

#include <string.h>

/* A call under way. */
struct launch {
    struct kiln_context *context;
    const struct kiln_problem *problem;
    const struct kiln_request *request;
    struct kiln_space *space;          /* locked; NULL until a recipe needs it */
    cl_mem image;                      /* of the workspace; NULL unless the recipe reads one */
    cl_event last;                     /* of the stage before; NULL where the queue keeps order */
    bool started;                      /* a stage is enqueued: the wait list has been waited for */
    unsigned num_stage_events;
    size_t member;                     /* of the batch: those before it are enqueued */
};

/* An argument as clSetKernelArg takes it. */
struct argument {
    size_t size;
    cl_mem buffer;                     /* not NULL: this one */
    uint64_t scalar;                   /* else the first `size` bytes of this one */
};

static struct argument buffer_argument(cl_mem buffer)
{
    return (struct argument){.size = sizeof buffer, .buffer = buffer};
}

static struct argument long_argument(size_t value)
{
    struct argument argument = {.size = sizeof(cl_long)};
    cl_long number = (cl_long)value;
    memcpy(&argument.scalar, &number, sizeof number);
    return argument;
}

static struct argument index_argument(unsigned bits, size_t value)
{
    if (bits == 64) {
        return long_argument(value);
    }
    struct argument argument = {.size = sizeof(cl_int)};
    cl_int number = (cl_int)value;
    memcpy(&argument.scalar, &number, sizeof number);
    return argument;
}

static struct argument real_argument(size_t bytes, double value)
{
    struct argument argument = {.size = bytes};
    if (bytes == sizeof(cl_float)) {
        cl_float narrow = (cl_float)value;
        memcpy(&argument.scalar, &narrow, sizeof narrow);
    } else {
        memcpy(&argument.scalar, &value, sizeof value);
    }
    return argument;
}

/* The three arguments of a matrix: buffer, offset of the batch member, leading dimension. */
static void operand_arguments(const struct kiln_operand *operand, size_t member, unsigned bits,
        struct argument arguments[3])
{
    arguments[0] = buffer_argument(operand->buffer);
    arguments[1] = index_argument(bits, operand->offset + member * operand->stride);
    arguments[2] = index_argument(bits, operand->ld);
}

static void fill_arguments(const struct kiln_problem *problem, const struct kiln_plan *plan,
        cl_mem workspace, size_t member, struct argument arguments[KILN_NUM_ARG_CODES])
{
    unsigned bits = plan->recipe->index_bits;
    arguments[KILN_ARG_M] = index_argument(bits, problem->m);
    arguments[KILN_ARG_N] = index_argument(bits, problem->n);
    arguments[KILN_ARG_K] = index_argument(bits, problem->k);
    arguments[KILN_ARG_ALPHA] = real_argument(problem->real_bytes, problem->alpha);
    arguments[KILN_ARG_BETA] = real_argument(problem->real_bytes, problem->beta);
    operand_arguments(&problem->a, member, bits, &arguments[KILN_ARG_A]);
    operand_arguments(&problem->b, member, bits, &arguments[KILN_ARG_B]);
    operand_arguments(&problem->c, member, bits, &arguments[KILN_ARG_C]);
    arguments[KILN_ARG_WORKSPACE] = buffer_argument(workspace);
    for (unsigned i = 0; i < KILN_MAX_REGIONS; i++) {
        arguments[KILN_ARG_REGION_0 + i] = long_argument(plan->region_start[i]);
    }
}

/* Equal scalars are still there from an earlier call. Buffers are set always: a handle may have
 * been released and given out again, and then means another buffer. */
static cl_int set_arguments(const struct kiln_stage *stage, unsigned index,
        struct kiln_kernel_set *set, const struct argument arguments[KILN_NUM_ARG_CODES])
{
    for (unsigned i = 0; i < stage->num_args; i++) {
        const struct argument *argument = &arguments[stage->args[i]];
        bool is_buffer = argument->buffer != NULL;
        if (!is_buffer && set->known[index][i] && set->scalars[index][i] == argument->scalar) {
            continue;
        }
        const void *value = is_buffer ? (const void *)&argument->buffer : &argument->scalar;
        cl_int error = clSetKernelArg(set->kernels[index], i, argument->size, value);
        if (error != CL_SUCCESS) {
            return error;
        }
        set->known[index][i] = !is_buffer;
        set->scalars[index][i] = argument->scalar;
    }
    return CL_SUCCESS;
}

/* What a stage waits for: at most the stage before and a marker that stands for the wait list. */
struct waits {
    cl_uint num;
    const cl_event *events;
    cl_event own[2];
    cl_event marker;                   /* NULL or to be released */
};

static cl_int gather_waits(const struct launch *launch, struct waits *waits)
{
    const struct kiln_request *request = launch->request;
    bool after_list = !launch->started && request->num_wait > 0;
    *waits = (struct waits){0};
    if (after_list && launch->last == NULL) {
        waits->num = request->num_wait;
        waits->events = request->wait;
        return CL_SUCCESS;
    }
    if (after_list) {
        cl_int error = clEnqueueMarkerWithWaitList(request->queue, request->num_wait,
                request->wait, &waits->marker);
        if (error != CL_SUCCESS) {
            return error;
        }
        waits->own[waits->num++] = waits->marker;
    }
    if (launch->last != NULL && request->queue_facts.out_of_order) {
        waits->own[waits->num++] = launch->last;
    }
    waits->events = waits->num > 0 ? waits->own : NULL;
    return CL_SUCCESS;
}

/* Takes the event of the stage just enqueued over. */
static void note_event(struct launch *launch, cl_event event)
{
    if (launch->last != NULL) {
        clReleaseEvent(launch->last);
    }
    launch->last = event;
    if (launch->request->stage_events != NULL) {
        clRetainEvent(event);
        launch->request->stage_events[launch->num_stage_events++] = event;
    }
}

static cl_int enqueue_stage(struct launch *launch, const struct kiln_plan *plan, unsigned index,
        cl_kernel kernel, bool is_final)
{
    const struct kiln_request *request = launch->request;
    const struct kiln_stage *stage = &plan->recipe->stages[index];
    bool wants_event = request->queue_facts.out_of_order || request->stage_events != NULL ||
                       (is_final && request->event != NULL) || launch->image != NULL;
    size_t local[3] = {stage->local[0], stage->local[1], stage->local[2]};
    cl_event event = NULL;
    struct waits waits;
    cl_int error = gather_waits(launch, &waits);
    if (error != CL_SUCCESS) {
        return error;
    }
    error = clEnqueueNDRangeKernel(request->queue, kernel, stage->work_dim, NULL,
            plan->global[index], local, waits.num, waits.events, wants_event ? &event : NULL);
    if (waits.marker != NULL) {
        clReleaseEvent(waits.marker);
    }
    if (error == CL_SUCCESS) {
        launch->started = true;
        if (wants_event) {
            note_event(launch, event);
        }
    }
    return error;
}

/* A stage without work-groups (k is 0, and it packs A or B) must not be enqueued. */
static bool stage_is_empty(const struct kiln_plan *plan, unsigned index)
{
    for (unsigned d = 0; d < plan->recipe->stages[index].work_dim; d++) {
        if (plan->groups[index][d] == 0) {
            return true;
        }
    }
    return false;
}

static cl_int launch_member(struct launch *launch, const struct kiln_plan *plan,
        struct kiln_kernel_set *set, cl_mem workspace)
{
    struct argument arguments[KILN_NUM_ARG_CODES];
    bool is_final_member = launch->member + 1 == launch->problem->batch_count;
    unsigned num_stages = plan->recipe->num_stages;
    fill_arguments(launch->problem, plan, workspace, launch->member, arguments);
    arguments[KILN_ARG_WORKSPACE_IMAGE] = buffer_argument(launch->image);
    for (unsigned i = 0; i < num_stages; i++) {
        if (stage_is_empty(plan, i)) {
            continue;
        }
        cl_int error = set_arguments(&plan->recipe->stages[i], i, set, arguments);
        if (error == CL_SUCCESS) {
            error = enqueue_stage(launch, plan, i, set->kernels[i],
                    is_final_member && i + 1 == num_stages);
        }
        if (error != CL_SUCCESS) {
            return error;
        }
    }
    return CL_SUCCESS;
}

/* Orders the call behind the last one that used the workspace. A call may come here with stages of
 * its own enqueued, when a recipe without workspace gave up in the middle of a batch. */
static cl_int follow_last_user(struct launch *launch)
{
    cl_event before[2] = {launch->last, launch->space->last};
    if (before[1] == NULL) {
        return CL_SUCCESS;
    }
    if (before[0] == NULL) {
        launch->last = before[1];
        return clRetainEvent(before[1]);
    }
    cl_event both = NULL;
    cl_int error = clEnqueueMarkerWithWaitList(launch->request->queue, 2, before, &both);
    if (error == CL_SUCCESS) {
        clReleaseEvent(launch->last);
        launch->last = both;
    }
    return error;
}

/* The queue's own workspace, locked from here to the end of the call, so that the stages of two
 * threads do not mix. */
static enum kiln_status own_workspace(struct launch *launch, const struct kiln_plan *plan,
        cl_mem *workspace)
{
    if (launch->space == NULL) {
        enum kiln_status status = kiln_space_acquire(launch->context, launch->request->queue,
                &launch->space);
        if (status != KILN_SUCCESS) {
            return status;
        }
        cl_int error = follow_last_user(launch);
        if (error != CL_SUCCESS) {
            kiln_space_release(launch->context, launch->space);
            launch->space = NULL;
            return (enum kiln_status)error;
        }
    }
    enum kiln_status status = kiln_space_reserve(launch->context, launch->space,
            plan->workspace_bytes);
    *workspace = launch->space->buffer;
    return status;
}

/* A recipe without regions gets C in the place of a workspace, which it does not touch. */
static enum kiln_status find_workspace(struct launch *launch, const struct kiln_plan *plan,
        cl_mem *workspace)
{
    const struct kiln_problem *problem = launch->problem;
    *workspace = problem->c.buffer;
    if (plan->workspace_bytes == 0) {
        return KILN_SUCCESS;
    }
    if (problem->workspace == NULL) {
        return own_workspace(launch, plan, workspace);
    }
    *workspace = problem->workspace;
    return plan->workspace_bytes <= problem->workspace_bytes ? KILN_SUCCESS
                                                             : KILN_WORKSPACE_TOO_SMALL;
}

/* Made for the call: the workspace may be the caller's, or another one by the next call. */
static enum kiln_status make_image(struct launch *launch, const struct kiln_plan *plan,
        cl_mem workspace)
{
    const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT32};
    const cl_image_desc shape = {
        .image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER,
        .image_width = kiln_plan_pixels(launch->problem, plan),
        .buffer = workspace,
    };
    cl_int error = CL_SUCCESS;
    if (shape.image_width > 0) {
        launch->image = clCreateImage(launch->context->context, CL_MEM_READ_ONLY, &format, &shape,
                NULL, &error);
    }
    return (enum kiln_status)error;
}

static void CL_CALLBACK release_image(cl_event event, cl_int status, void *image)
{
    (void)event;
    (void)status;
    clReleaseMemObject(image);
}

/* PoCL 3.1 crashes when an image is released before the kernels that read it are done, although
 * OpenCL lets it. */
static void drop_image(struct launch *launch)
{
    if (launch->image == NULL) {
        return;
    }
    if (launch->last == NULL ||
        clSetEventCallback(launch->last, CL_COMPLETE, release_image, launch->image) !=
                CL_SUCCESS) {
        clReleaseMemObject(launch->image);
    }
    launch->image = NULL;
}

static void drop_stage_events(struct launch *launch)
{
    while (launch->num_stage_events > 0) {
        clReleaseEvent(launch->request->stage_events[--launch->num_stage_events]);
    }
}

/* A driver that allocates at first use may find only now that a workspace is too large. It would
 * find so for ever, so the next call that needs one starts anew. */
static void give_up_space(struct launch *launch, enum kiln_status status)
{
    bool lacks_memory = status == (enum kiln_status)CL_MEM_OBJECT_ALLOCATION_FAILURE ||
                        status == (enum kiln_status)CL_OUT_OF_RESOURCES;
    if (launch->space != NULL && lacks_memory) {
        kiln_space_empty(launch->space);
    }
}

static enum kiln_status launch_plan(struct launch *launch, const struct kiln_plan *plan)
{
    cl_mem workspace = NULL;
    struct kiln_kernel_set *set = NULL;
    enum kiln_status status = find_workspace(launch, plan, &workspace);
    if (status == KILN_SUCCESS) {
        status = make_image(launch, plan, workspace);
    }
    if (status == KILN_SUCCESS) {
        status = kiln_recipe_take(plan->link, plan->recipe_index, &set);
    }
    if (status != KILN_SUCCESS) {
        drop_image(launch);
        return status;
    }
    while (status == KILN_SUCCESS && launch->member < launch->problem->batch_count) {
        status = (enum kiln_status)launch_member(launch, plan, set, workspace);
        if (status == KILN_SUCCESS) {
            launch->member++;
        }
    }
    kiln_recipe_give(plan->link, plan->recipe_index, set);
    drop_image(launch);
    if (status != KILN_SUCCESS) {
        drop_stage_events(launch);
        give_up_space(launch, status);
    }
    return status;
}

/* Does the failure of one recipe say nothing about the next? */
static bool is_about_resources(enum kiln_status status)
{
    switch ((int)status) {
    case CL_INVALID_WORK_GROUP_SIZE:
    case CL_INVALID_WORK_ITEM_SIZE:
    case CL_INVALID_GLOBAL_WORK_SIZE:
    case CL_OUT_OF_RESOURCES:
    case CL_OUT_OF_HOST_MEMORY:
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_INVALID_BUFFER_SIZE:
    case CL_INVALID_IMAGE_SIZE:
    case CL_IMAGE_FORMAT_NOT_SUPPORTED:
    case CL_INVALID_KERNEL:            /* one that the driver made, and then does not take */
    case KILN_OUT_OF_MEMORY:           /* for a set of kernels or a workspace */
        return true;
    default:
        return false;
    }
}

/* A caller's workspace must do for the recipe that serves the call, as kiln_gemm_workspace_bytes
 * told; a later one that is too hungry is passed over, and the first failure is what counts. */
static enum kiln_status launch_first_that_works(struct launch *launch)
{
    struct kiln_search search = {0};
    struct kiln_plan plan;
    enum kiln_status first = KILN_SUCCESS;
    while (kiln_search_next(launch->context, launch->problem, &search, &plan)) {
        enum kiln_status status = launch_plan(launch, &plan);
        if (status == KILN_SUCCESS) {
            return KILN_SUCCESS;
        }
        bool go_on = is_about_resources(status) ||
                     (status == KILN_WORKSPACE_TOO_SMALL && first != KILN_SUCCESS);
        if (!go_on) {
            return status;
        }
        first = first == KILN_SUCCESS ? status : first;
        kiln_log(launch->context, plan.recipe->name, " passed over: ",
                kiln_status_string(status), NULL);
    }
    return first == KILN_SUCCESS ? KILN_NO_KERNEL : first;
}

/* What was enqueued keeps using the workspace even when the call failed. */
static void leave_space(struct launch *launch)
{
    if (launch->space == NULL) {
        return;
    }
    if (launch->request->queue_facts.out_of_order && launch->last != launch->space->last) {
        if (launch->space->last != NULL) {
            clReleaseEvent(launch->space->last);
        }
        clRetainEvent(launch->last);
        launch->space->last = launch->last;
    }
    kiln_space_release(launch->context, launch->space);
}

/* Who enqueues after the call on an in-order queue counts on the wait list being over, whether the
 * call had work to do or not. */
static enum kiln_status launch_nothing(const struct kiln_request *request)
{
    if (request->event == NULL && request->num_wait == 0) {
        return KILN_SUCCESS;
    }
    return (enum kiln_status)clEnqueueMarkerWithWaitList(request->queue, request->num_wait,
            request->wait, request->event);
}

enum kiln_status kiln_launch(struct kiln_context *context, const struct kiln_problem *problem,
        const struct kiln_request *request)
{
    if (problem->is_nothing) {
        return launch_nothing(request);
    }
    struct launch launch = {.context = context, .problem = problem, .request = request};
    enum kiln_status status = launch_first_that_works(&launch);
    leave_space(&launch);
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
