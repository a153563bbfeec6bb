/* launch.c: enqueues a call.
 *
 * Recipes are tried in the order of dispatch.c. As long as no stage that writes C is enqueued, C is
 * untouched and the next recipe may be tried; it may still be where C is not read. The members of a
 * batch are done one after the other, each in that way; one that is enqueued is done, whatever
 * becomes of the next.
 *
 * To pack an operand is the same with the stages that prepare it alone, or with a copy in their
 * place; a call that brings packs leaves those stages out.
 *
 * In-order queues keep the stages in order by themselves. On others each stage waits for the event
 * of the one before, and the first that may use the workspace of the queue for the last call that
 * did. A call with a workspace, whoever owns it, has the queue's turn from its first stage to its
 * last.
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/* A call under way. */
struct launch {
    struct kiln_context *context;
    const struct kiln_problem *problem;
    const struct kiln_request *request;
    bool has_turn;                     /* since a recipe needed a workspace: */
    struct kiln_turn turn;
    struct kiln_space *space;          /* kept; NULL until a recipe needs the context's */
    bool follows;                      /* the last user of the space has been waited for */
    struct kiln_space *evicted;        /* by the space; to be freed in the end */
    struct kiln_image *image;          /* of the workspace; NULL unless the recipe reads one */
    cl_event last;                     /* of the stage before; NULL where the queue keeps order */
    bool started;                      /* a stage is enqueued: the wait list has been waited for */
    bool touched;                      /* so is one that writes the C of the member under way */
    unsigned num_stage_events;
    size_t num_members;                /* of the batch; 1 to pack an operand */
    size_t member;                     /* those before it are enqueued */
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

/* The two arguments of a prepared operand: its buffer, and where it starts there. */
static void packed_arguments(const struct kiln_problem *problem, const struct kiln_plan *plan,
        cl_mem workspace, unsigned prepared, struct argument arguments[2])
{
    cl_mem pack = problem->packed[prepared].buffer;
    arguments[0] = buffer_argument(pack != NULL ? pack : workspace);
    arguments[1] = long_argument(plan->packed_start[prepared]);
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
    packed_arguments(problem, plan, workspace, KILN_PREPARED_A, &arguments[KILN_ARG_PACKED_A]);
    packed_arguments(problem, plan, workspace, KILN_PREPARED_B, &arguments[KILN_ARG_PACKED_B]);
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

/* What a stage waits for: the wait list, the stage before, the last user of the workspace. */
enum { OWN_WAITS = 16 };

struct waits {
    cl_uint num;
    const cl_event *events;
    cl_event own[OWN_WAITS];
    cl_event *allocated;               /* for a longer list; NULL or to be freed */
};

/* PoCL 3.1 lets a marker wait for all that was enqueued before, whatever its list; so none stands
 * for several events. */
static cl_int gather_waits(const struct launch *launch, struct waits *waits)
{
    const struct kiln_request *request = launch->request;
    cl_event last_user = launch->space != NULL && !launch->follows ? launch->space->last : NULL;
    cl_uint num_listed = launch->started ? 0 : request->num_wait;
    cl_event *events = waits->own;
    waits->allocated = NULL;
    /* Where an event of the list fails, some drivers go on with the next command of an in-order
     * queue: each stage waits, lest C be computed from a workspace that nobody filled. */
    if (!request->queue_facts.out_of_order) {
        waits->num = request->num_wait;
        waits->events = request->wait;
        return CL_SUCCESS;
    }
    if (num_listed > OWN_WAITS - 2) {
        events = waits->allocated = calloc(num_listed + (size_t)2, sizeof *events);
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

/* Takes the event of the stage just enqueued over. The stage may have been one that writes C, so
 * that a failure must end the call: CL_INVALID_EVENT does. */
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
        launch->request->stage_events[launch->num_stage_events++] = event;
    }
    return CL_SUCCESS;
}

static bool wants_event(const struct kiln_request *request, bool is_final)
{
    return request->queue_facts.out_of_order || request->stage_events != NULL ||
           (is_final && request->event != NULL);
}

/* Ends what gather_waits began, whether the command was enqueued or not. */
static cl_int note_command(struct launch *launch, const struct waits *waits, cl_int error,
        cl_event event)
{
    free(waits->allocated);
    if (error == CL_SUCCESS) {
        launch->started = true;
        launch->follows = launch->space != NULL;
        if (event != NULL) {
            error = note_event(launch, event);
        }
    }
    return error;
}

static cl_int enqueue_stage(struct launch *launch, const struct kiln_plan *plan, unsigned index,
        cl_kernel kernel, bool is_final)
{
    const struct kiln_request *request = launch->request;
    const struct kiln_stage *stage = &plan->recipe->stages[index];
    size_t local[3] = {stage->local[0], stage->local[1], stage->local[2]};
    cl_event event = NULL;
    struct waits waits;
    cl_int error = gather_waits(launch, &waits);
    if (error != CL_SUCCESS) {
        return error;
    }
    bool writes_c = memchr(stage->args, KILN_ARG_C, stage->num_args) != NULL;
    error = clEnqueueNDRangeKernel(request->queue, kernel, stage->work_dim, NULL,
            plan->global[index], local, waits.num, waits.events,
            wants_event(request, is_final) || launch->image != NULL ? &event : NULL);
    launch->touched = launch->touched || (error == CL_SUCCESS && writes_c);
    return note_command(launch, &waits, error, event);
}

/* Is the stage one of those that the request is about, and not done by a pack already? */
static bool stage_is_wanted(const struct launch *launch, const struct kiln_plan *plan,
        unsigned index)
{
    unsigned prepares = plan->recipe->stages[index].prepares;
    bool concerns = launch->request->prepared != KILN_PREPARED_NONE
            ? prepares == launch->request->prepared
            : kiln_stage_is_needed(launch->problem, plan->recipe, index);
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

static cl_int launch_member(struct launch *launch, const struct kiln_plan *plan,
        struct kiln_kernel_set *set, cl_mem workspace)
{
    struct argument arguments[KILN_NUM_ARG_CODES];
    bool is_final_member = launch->member + 1 == launch->num_members;
    unsigned end = end_of_stages(launch, plan);
    fill_arguments(launch->problem, plan, workspace, launch->member, arguments);
    arguments[KILN_ARG_WORKSPACE_IMAGE] =
            buffer_argument(launch->image != NULL ? launch->image->image : NULL);
    cl_int error = CL_SUCCESS;
    for (unsigned i = 0; i < end && error == CL_SUCCESS; i++) {
        if (stage_is_wanted(launch, plan, i)) {
            error = set_arguments(&plan->recipe->stages[i], i, set, arguments);
        }
    }
    for (unsigned i = 0; i < end && error == CL_SUCCESS; i++) {
        if (stage_is_wanted(launch, plan, i)) {
            error = enqueue_stage(launch, plan, i, set->kernels[i],
                    is_final_member && i + 1 == end);
        }
    }
    return error;
}

/* The memory of a call that failed is no place to wait for: whoever waits fails with it. */
static void leave_failed_user(struct kiln_space *space)
{
    cl_int execution = CL_COMPLETE;
    if (space->last != NULL &&
        clGetEventInfo(space->last, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof execution,
                &execution, NULL) == CL_SUCCESS && execution < 0) {
        clReleaseEvent(space->last);
        space->last = NULL;
        kiln_space_empty(space);
    }
}

/* From here to the end of the call no other one's stages come between this one's. */
static void take_turn(struct launch *launch)
{
    if (!launch->has_turn) {
        kiln_turn_take(launch->context, launch->request->queue, &launch->turn);
        launch->has_turn = true;
    }
}

/* The workspace that the context holds for the queue. */
static enum kiln_status own_workspace(struct launch *launch, size_t bytes, cl_mem *workspace)
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
        return own_workspace(launch, plan->workspace_bytes, workspace);
    }
    take_turn(launch);
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
    if (shape.image_width == 0) {
        return KILN_SUCCESS;
    }
    launch->image = calloc(1, sizeof *launch->image);
    if (launch->image == NULL) {
        return KILN_OUT_OF_MEMORY;
    }
    launch->image->image = clCreateImage(launch->context->context, CL_MEM_READ_ONLY, &format,
            &shape, NULL, &error);
    if (launch->image->image == NULL) {
        free(launch->image);
        launch->image = NULL;
        return (enum kiln_status)(error != CL_SUCCESS ? error : CL_MEM_OBJECT_ALLOCATION_FAILURE);
    }
    return KILN_SUCCESS;
}

void kiln_images_free(struct kiln_image *images)
{
    while (images != NULL) {
        struct kiln_image *next = images->next;
        clReleaseMemObject(images->image);
        free(images);
        images = next;
    }
}

static void CL_CALLBACK release_image(cl_event event, cl_int status, void *image)
{
    (void)event;
    (void)status;
    kiln_images_free(image);
}

/* PoCL 3.1 crashes when an image is released before the kernels that read it are done, although
 * OpenCL lets it. An image whose end nobody tells goes with the context. */
static void drop_image(struct launch *launch)
{
    struct kiln_context *context = launch->context;
    struct kiln_image *image = launch->image;
    launch->image = NULL;
    if (image == NULL) {
        return;
    }
    if (launch->last == NULL) {
        kiln_images_free(image);
    } else if (clSetEventCallback(launch->last, CL_COMPLETE, release_image, image) != CL_SUCCESS) {
        pthread_mutex_lock(&context->spaces_lock);
        image->next = context->images;
        context->images = image;
        pthread_mutex_unlock(&context->spaces_lock);
    }
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
    if (launch->space != NULL && kiln_is_passing(status)) {
        kiln_space_empty(launch->space);
    }
}

/* The kernels of each member of the batch. */
static enum kiln_status launch_members(struct launch *launch, const struct kiln_plan *plan,
        cl_mem workspace)
{
    struct kiln_kernel_set *set = NULL;
    enum kiln_status status = KILN_SUCCESS;
    if (launch->request->prepared == KILN_PREPARED_NONE) {
        status = make_image(launch, plan, workspace);
    }
    if (status == KILN_SUCCESS) {
        status = kiln_recipe_take(plan->link, plan->recipe_index, &set);
    }
    if (status != KILN_SUCCESS) {
        drop_image(launch);
        return status;
    }
    while (status == KILN_SUCCESS && launch->member < launch->num_members) {
        status = (enum kiln_status)launch_member(launch, plan, set, workspace);
        if (status == KILN_SUCCESS) {
            launch->member++;
            launch->touched = false;
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

/* A place in memory, by the buffer that was made of it. */
struct place {
    cl_mem buffer;
    size_t bytes;
};

/* PoCL 3.1 crashes when rows are copied from or to a sub-buffer, so that its parent is named. */
static cl_int find_place(cl_mem buffer, size_t bytes, struct place *place)
{
    cl_mem parent = NULL;
    size_t offset = 0;
    cl_int error = clGetMemObjectInfo(buffer, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent,
            NULL);
    if (error == CL_SUCCESS && parent != NULL) {
        error = clGetMemObjectInfo(buffer, CL_MEM_OFFSET, sizeof offset, &offset, NULL);
    }
    *place = (struct place){parent != NULL ? parent : buffer, bytes + offset};
    return error;
}

/* Rows to be copied: their bytes, and the bytes from one to the next at either end. One row has no
 * distance to the next. */
struct rows {
    size_t num, bytes;
    size_t from_pitch, to_pitch;
};

/* Copies so many bytes in a row. */
static cl_int copy_bytes(struct launch *launch, const struct place *from, const struct place *to,
        size_t bytes)
{
    const struct kiln_request *request = launch->request;
    cl_event event = NULL;
    struct waits waits;
    cl_int error = gather_waits(launch, &waits);
    if (error != CL_SUCCESS) {
        return error;
    }
    error = clEnqueueCopyBuffer(request->queue, from->buffer, to->buffer, from->bytes, to->bytes,
            bytes, waits.num, waits.events, wants_event(request, true) ? &event : NULL);
    return note_command(launch, &waits, error, event);
}

/* Copies rows from one buffer to another. The origin of the source is given in rows and a rest,
 * which is what drivers expect of a part of a matrix. */
static cl_int copy_rows(struct launch *launch, const struct place *from, const struct place *to,
        const struct rows *rows)
{
    const struct kiln_request *request = launch->request;
    const size_t origin[3] = {from->bytes % rows->from_pitch, from->bytes / rows->from_pitch, 0};
    const size_t target[3] = {to->bytes, 0, 0};
    const size_t region[3] = {rows->bytes, rows->num, 1};
    cl_event event = NULL;
    struct waits waits;
    cl_int error = gather_waits(launch, &waits);
    if (error != CL_SUCCESS) {
        return error;
    }
    error = clEnqueueCopyBufferRect(request->queue, from->buffer, to->buffer, origin, target,
            region, rows->from_pitch, 0, rows->to_pitch, 0, waits.num, waits.events,
            wants_event(request, true) ? &event : NULL);
    return note_command(launch, &waits, error, event);
}

/* OpenCL copies rows within one buffer only while they lie equally far apart, so that they take the
 * way through the queue's workspace, where they come to lie as they will. */
static enum kiln_status copy_within(struct launch *launch, const struct place *from,
        const struct place *to, const struct rows *rows)
{
    struct place between = {NULL, 0};
    size_t bytes = (rows->num - 1) * rows->to_pitch + rows->bytes;
    enum kiln_status status = own_workspace(launch, bytes, &between.buffer);
    if (status == KILN_SUCCESS) {
        status = (enum kiln_status)copy_rows(launch, from, &between, rows);
    }
    if (status == KILN_SUCCESS) {
        status = (enum kiln_status)copy_bytes(launch, &between, to, bytes);
    }
    if (status != KILN_SUCCESS) {
        give_up_space(launch, status);
    }
    return status;
}

static enum kiln_status copy_matrix(struct launch *launch, const struct place *from,
        const struct place *to, const struct rows *rows)
{
    bool is_dense = rows->from_pitch == rows->bytes && rows->to_pitch == rows->bytes;
    if (rows->num == 1 || is_dense) {
        return (enum kiln_status)copy_bytes(launch, from, to, rows->num * rows->bytes);
    }
    if (from->buffer == to->buffer) {
        return copy_within(launch, from, to, rows);
    }
    return (enum kiln_status)copy_rows(launch, from, to, rows);
}

/* Packs an operand that the recipe takes as it is. */
static enum kiln_status copy_operand(struct launch *launch, const struct kiln_pack_layout *layout)
{
    const struct kiln_problem *problem = launch->problem;
    unsigned prepared = launch->request->prepared;
    const struct kiln_operand *operand = prepared == KILN_PREPARED_A ? &problem->a : &problem->b;
    size_t bytes = problem->element_bytes;
    const struct rows rows = {
        .num = operand->rows,
        .bytes = operand->row_length * bytes,
        .from_pitch = operand->ld * bytes,
        .to_pitch = layout->ld * bytes,
    };
    struct place from, to;
    cl_int error = find_place(operand->buffer, operand->offset * bytes, &from);
    if (error == CL_SUCCESS) {
        error = find_place(problem->packed[prepared].buffer, layout->start * bytes, &to);
    }
    return error == CL_SUCCESS ? copy_matrix(launch, &from, &to, &rows) : (enum kiln_status)error;
}

static enum kiln_status launch_pack(struct launch *launch, const struct kiln_plan *plan)
{
    const struct kiln_request *request = launch->request;
    const struct kiln_problem *problem = launch->problem;
    struct kiln_pack_layout layout;
    if (!kiln_pack_layout(problem, plan->recipe, request->prepared,
            problem->packed[request->prepared].offset, &layout)) {
        return KILN_SIZE_OVERFLOW;
    }
    if (layout.end > request->pack_end) {
        return KILN_PACK_BUFFER_TOO_SMALL;
    }
    enum kiln_status status = layout.is_plain ? copy_operand(launch, &layout)
                                              : launch_members(launch, plan, NULL);
    if (status == KILN_SUCCESS) {
        kiln_pack_fill(problem, plan, request->prepared, &layout, request->pack);
    }
    return status;
}

static enum kiln_status launch_plan(struct launch *launch, const struct kiln_plan *plan)
{
    cl_mem workspace = NULL;
    if (launch->request->prepared != KILN_PREPARED_NONE) {
        return launch_pack(launch, plan);
    }
    enum kiln_status status = find_workspace(launch, plan, &workspace);
    return status == KILN_SUCCESS ? launch_members(launch, plan, workspace) : status;
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

/* A caller's workspace, or buffer for a pack, must do for the recipe that serves the call, as
 * kiln_gemm_workspace_bytes or kiln_pack_bytes told; a later one that is too hungry is passed
 * over, and the first failure is what counts. */
static enum kiln_status launch_first_that_works(struct launch *launch)
{
    struct kiln_search search = {0};
    struct kiln_plan plan;
    enum kiln_status first = KILN_SUCCESS, status = KILN_SUCCESS;
    while (kiln_search_next(launch->context, launch->problem, &search, &plan, &status)) {
        if (status == KILN_SUCCESS) {
            status = launch_plan(launch, &plan);
        }
        if (status == KILN_SUCCESS) {
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
        kiln_log(launch->context, plan.recipe->name, " passed over: ",
                kiln_status_string(status), NULL);
    }
    return first == KILN_SUCCESS ? kiln_search_failure(launch->problem) : first;
}

/* What was enqueued keeps using the workspace even when the call failed. Where nothing can be said
 * of its end, the next call gets new memory. */
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

static void leave_queue(struct launch *launch)
{
    if (launch->space != NULL) {
        leave_space(launch);
    }
    if (launch->has_turn) {
        kiln_turn_give(launch->context, &launch->turn);
    }
    kiln_spaces_free(launch->evicted);
}

/* An event that is complete. A marker without a wait list, on an out-of-order queue, would wait for
 * all that was enqueued before; PoCL 3.1 lets one with a list wait for it as well. */
static enum kiln_status make_complete_event(cl_context context, cl_event *event)
{
    cl_int error = CL_SUCCESS;
    cl_event made = clCreateUserEvent(context, &error);
    if (made == NULL) {
        return (enum kiln_status)error;
    }
    error = clSetUserEventStatus(made, CL_COMPLETE);
    if (error == CL_SUCCESS) {
        *event = made;
    } else {
        clReleaseEvent(made);
    }
    return (enum kiln_status)error;
}

/* On a queue without order, the one event of a wait list says all that a marker behind it would. */
static enum kiln_status wait_by_itself(const struct kiln_request *request)
{
    cl_int error = CL_SUCCESS;
    if (request->event != NULL) {
        error = clRetainEvent(request->wait[0]);
    }
    if (request->event != NULL && error == CL_SUCCESS) {
        *request->event = request->wait[0];
    }
    return (enum kiln_status)error;
}

/* Who enqueues after the call on an in-order queue counts on the wait list being over, whether the
 * call had work to do or not. */
static enum kiln_status launch_nothing(const struct kiln_context *context,
        const struct kiln_request *request)
{
    if (request->event == NULL && request->num_wait == 0) {
        return KILN_SUCCESS;
    }
    if (request->num_wait == 0 && request->queue_facts.out_of_order) {
        return make_complete_event(context->context, request->event);
    }
    if (request->num_wait == 1 && request->queue_facts.out_of_order) {
        return wait_by_itself(request);
    }
    return (enum kiln_status)clEnqueueMarkerWithWaitList(request->queue, request->num_wait,
            request->wait, request->event);
}

enum kiln_status kiln_launch(struct kiln_context *context, const struct kiln_problem *problem,
        const struct kiln_request *request)
{
    if (problem->is_nothing) {
        return launch_nothing(context, request);
    }
    struct launch launch = {
        .context = context,
        .problem = problem,
        .request = request,
        .num_members = request->prepared != KILN_PREPARED_NONE ? 1 : problem->batch_count,
    };
    enum kiln_status status = launch_first_that_works(&launch);
    leave_queue(&launch);
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
