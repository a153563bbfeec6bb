/* stub_queue.c: the fake driver's buffers, queues, events, and the commands that are enqueued.
 * Commands end before their call returns. */
#include "stub_internal.h"

#include <string.h>

static atomic_ulong clock_us;

cl_command_queue stub_make_queue(cl_context context, cl_device_id device, bool out_of_order)
{
    cl_command_queue queue = stub_new(STUB_QUEUE, sizeof *queue);
    queue->context = context;
    queue->device = device;
    queue->properties = CL_QUEUE_PROFILING_ENABLE |
                        (out_of_order ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0);
    return queue;
}

cl_command_queue CL_API_CALL clCreateCommandQueue(cl_context context, cl_device_id device,
        cl_command_queue_properties properties, cl_int *error_ret)
{
    cl_int error = stub_enter(STUB_clCreateCommandQueue);
    if (error == CL_SUCCESS && !stub_valid(context, STUB_CONTEXT)) {
        error = CL_INVALID_CONTEXT;
    } else if (error == CL_SUCCESS && !stub_valid(device, STUB_DEVICE)) {
        error = CL_INVALID_DEVICE;
    }
    stub_set_error(error_ret, error);
    if (error != CL_SUCCESS) {
        return NULL;
    }
    cl_command_queue queue = stub_make_queue(context, device, false);
    queue->properties = properties;
    return queue;
}

cl_int CL_API_CALL clRetainCommandQueue(cl_command_queue queue)
{
    return stub_retain(STUB_clRetainCommandQueue, queue, STUB_QUEUE, CL_INVALID_COMMAND_QUEUE);
}

cl_int CL_API_CALL clReleaseCommandQueue(cl_command_queue queue)
{
    return stub_release(STUB_clReleaseCommandQueue, queue, STUB_QUEUE, CL_INVALID_COMMAND_QUEUE);
}

cl_int CL_API_CALL clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info name,
        size_t capacity, void *out, size_t *bytes)
{
    cl_int error = stub_enter(STUB_clGetCommandQueueInfo);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (!stub_valid(queue, STUB_QUEUE)) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    cl_uint refs = (cl_uint) stub_refs(queue);
    switch (name) {
    case CL_QUEUE_CONTEXT:
        return stub_put(&queue->context, sizeof queue->context, capacity, out, bytes);
    case CL_QUEUE_DEVICE:
        return stub_put(&queue->device, sizeof queue->device, capacity, out, bytes);
    case CL_QUEUE_REFERENCE_COUNT: return stub_put(&refs, sizeof refs, capacity, out, bytes);
    case CL_QUEUE_PROPERTIES:
        return stub_put(&queue->properties, sizeof queue->properties, capacity, out, bytes);
    default: return CL_INVALID_VALUE;
    }
}

cl_mem stub_make_buffer(cl_context context, size_t bytes)
{
    cl_mem buffer = stub_new(STUB_MEM, sizeof *buffer);
    buffer->context = context;
    buffer->type = CL_MEM_OBJECT_BUFFER;
    buffer->flags = CL_MEM_READ_WRITE;
    buffer->size = bytes;
    return buffer;
}

cl_mem stub_make_part(cl_mem parent, size_t offset, size_t bytes)
{
    cl_mem part = stub_make_buffer(parent->context, bytes);
    part->parent = parent;
    part->offset = offset;
    return part;
}

cl_mem stub_make_image(cl_context context, size_t bytes)
{
    cl_mem image = stub_make_buffer(context, bytes);
    image->type = CL_MEM_OBJECT_IMAGE2D;
    return image;
}

cl_mem CL_API_CALL clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host,
        cl_int *error_ret)
{
    cl_int error = stub_enter(STUB_clCreateBuffer);
    if (error == CL_SUCCESS && !stub_valid(context, STUB_CONTEXT)) {
        error = CL_INVALID_CONTEXT;
    } else if (error == CL_SUCCESS &&
               (size == 0 || size > context->devices[0]->facts.max_alloc_bytes)) {
        error = CL_INVALID_BUFFER_SIZE;
    }
    stub_set_error(error_ret, error);
    if (error != CL_SUCCESS) {
        return NULL;
    }
    cl_mem buffer = stub_make_buffer(context, size);
    buffer->flags = flags;
    if ((flags & CL_MEM_USE_HOST_PTR) != 0) {
        buffer->host = host;
    } else if ((flags & CL_MEM_COPY_HOST_PTR) != 0) {
        memcpy(stub_buffer_data(buffer), host, size);
    }
    return buffer;
}

cl_mem CL_API_CALL clCreateSubBuffer(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type,
        const void *info, cl_int *error_ret)
{
    const cl_buffer_region *region = info;
    cl_int error = stub_enter(STUB_clCreateSubBuffer);
    if (error == CL_SUCCESS && (!stub_valid(buffer, STUB_MEM) || buffer->parent != NULL)) {
        error = CL_INVALID_MEM_OBJECT;
    } else if (error == CL_SUCCESS && (type != CL_BUFFER_CREATE_TYPE_REGION || region == NULL ||
                                              region->origin > buffer->size ||
                                              region->size > buffer->size - region->origin)) {
        error = CL_INVALID_VALUE;
    } else if (error == CL_SUCCESS && region->size == 0) {
        error = CL_INVALID_BUFFER_SIZE;
    }
    stub_set_error(error_ret, error);
    if (error != CL_SUCCESS) {
        return NULL;
    }
    cl_mem part = stub_make_part(buffer, region->origin, region->size);
    part->flags = flags;
    return part;
}

enum { PIXEL_BYTES = 16 };

size_t stub_image_pixels(cl_mem image, cl_mem *buffer)
{
    *buffer = image->under;
    return image->size / PIXEL_BYTES;
}

/* Of images, those over a buffer, whose pixels are four 32-bit words. */
static cl_int check_image(cl_context context, const cl_image_format *format,
        const cl_image_desc *shape)
{
    size_t most = context->devices[0]->facts.max_pixels;
    if (most == 0) {
        return CL_INVALID_OPERATION;
    }
    if (format->image_channel_order != CL_RGBA ||
            format->image_channel_data_type != CL_UNSIGNED_INT32) {
        return CL_IMAGE_FORMAT_NOT_SUPPORTED;
    }
    if (shape->image_type != CL_MEM_OBJECT_IMAGE1D_BUFFER || !stub_valid(shape->buffer, STUB_MEM) ||
            shape->buffer->context != context) {
        return CL_INVALID_IMAGE_DESCRIPTOR;
    }
    size_t room = shape->buffer->size / PIXEL_BYTES, width = shape->image_width;
    return width > 0 && width <= most && width <= room ? CL_SUCCESS : CL_INVALID_IMAGE_SIZE;
}

cl_mem CL_API_CALL clCreateImage(cl_context context, cl_mem_flags flags,
        const cl_image_format *format, const cl_image_desc *shape, void *host, cl_int *error_ret)
{
    cl_int error = stub_enter(STUB_clCreateImage);
    if (error == CL_SUCCESS && !stub_valid(context, STUB_CONTEXT)) {
        error = CL_INVALID_CONTEXT;
    } else if (error == CL_SUCCESS && host != NULL) {
        error = CL_INVALID_HOST_PTR;
    } else if (error == CL_SUCCESS) {
        error = check_image(context, format, shape);
    }
    stub_set_error(error_ret, error);
    if (error != CL_SUCCESS) {
        return NULL;
    }
    cl_mem image = stub_make_buffer(context, shape->image_width * PIXEL_BYTES);
    image->type = CL_MEM_OBJECT_IMAGE1D_BUFFER;
    image->flags = flags;
    image->under = shape->buffer;
    return image;
}

cl_int CL_API_CALL clRetainMemObject(cl_mem buffer)
{
    return stub_retain(STUB_clRetainMemObject, buffer, STUB_MEM, CL_INVALID_MEM_OBJECT);
}

cl_int CL_API_CALL clReleaseMemObject(cl_mem buffer)
{
    return stub_release(STUB_clReleaseMemObject, buffer, STUB_MEM, CL_INVALID_MEM_OBJECT);
}

cl_int CL_API_CALL clGetMemObjectInfo(cl_mem buffer, cl_mem_info name, size_t capacity, void *out,
        size_t *bytes)
{
    cl_int error = stub_enter(STUB_clGetMemObjectInfo);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (!stub_valid(buffer, STUB_MEM)) {
        return CL_INVALID_MEM_OBJECT;
    }
    switch (name) {
    case CL_MEM_TYPE: return stub_put(&buffer->type, sizeof buffer->type, capacity, out, bytes);
    case CL_MEM_FLAGS: return stub_put(&buffer->flags, sizeof buffer->flags, capacity, out, bytes);
    case CL_MEM_SIZE: return stub_put(&buffer->size, sizeof buffer->size, capacity, out, bytes);
    case CL_MEM_CONTEXT:
        return stub_put(&buffer->context, sizeof buffer->context, capacity, out, bytes);
    case CL_MEM_HOST_PTR: return stub_put(&buffer->host, sizeof buffer->host, capacity, out, bytes);
    case CL_MEM_OFFSET:
        return stub_put(&buffer->offset, sizeof buffer->offset, capacity, out, bytes);
    case CL_MEM_ASSOCIATED_MEMOBJECT:
        return stub_put(&buffer->parent, sizeof buffer->parent, capacity, out, bytes);
    default: return CL_INVALID_VALUE;
    }
}

static cl_event new_event_locked(cl_context context, cl_command_queue queue, cl_command_type type)
{
    cl_event event = stub_new_locked(STUB_EVENT, sizeof *event);
    event->context = context;
    event->queue = queue;
    event->type = type;
    event->time = 1000 * atomic_fetch_add_explicit(&clock_us, 1, memory_order_relaxed);
    return event;
}

cl_event stub_make_event(cl_context context)
{
    pthread_mutex_lock(&stub_mutex);
    cl_event event = new_event_locked(context, NULL, CL_COMMAND_USER);
    pthread_mutex_unlock(&stub_mutex);
    return event;
}

cl_event CL_API_CALL clCreateUserEvent(cl_context context, cl_int *error_ret)
{
    cl_int error = stub_enter(STUB_clCreateUserEvent);
    if (error == CL_SUCCESS && !stub_valid(context, STUB_CONTEXT)) {
        error = CL_INVALID_CONTEXT;
    }
    stub_set_error(error_ret, error);
    return error == CL_SUCCESS ? stub_make_event(context) : NULL;
}

cl_int CL_API_CALL clSetUserEventStatus(cl_event event, cl_int status)
{
    (void) status;
    cl_int error = stub_enter(STUB_clSetUserEventStatus);
    if (error != CL_SUCCESS) {
        return error;
    }
    return stub_valid(event, STUB_EVENT) ? CL_SUCCESS : CL_INVALID_EVENT;
}

/* Commands complete at once, and so is the callback called at once. */
cl_int CL_API_CALL clSetEventCallback(cl_event event, cl_int type,
        void(CL_CALLBACK *notify)(cl_event, cl_int, void *), void *user)
{
    cl_int error = stub_enter(STUB_clSetEventCallback);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (!stub_valid(event, STUB_EVENT)) {
        return CL_INVALID_EVENT;
    }
    if (notify == NULL || type != CL_COMPLETE) {
        return CL_INVALID_VALUE;
    }
    notify(event, CL_COMPLETE, user);
    return CL_SUCCESS;
}

cl_int CL_API_CALL clRetainEvent(cl_event event)
{
    return stub_retain(STUB_clRetainEvent, event, STUB_EVENT, CL_INVALID_EVENT);
}

cl_int CL_API_CALL clReleaseEvent(cl_event event)
{
    return stub_release(STUB_clReleaseEvent, event, STUB_EVENT, CL_INVALID_EVENT);
}

cl_int CL_API_CALL clGetEventInfo(cl_event event, cl_event_info name, size_t capacity, void *out,
        size_t *bytes)
{
    cl_int error = stub_enter(STUB_clGetEventInfo);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (!stub_valid(event, STUB_EVENT)) {
        return CL_INVALID_EVENT;
    }
    cl_int status = CL_COMPLETE;
    switch (name) {
    case CL_EVENT_COMMAND_EXECUTION_STATUS:
        return stub_put(&status, sizeof status, capacity, out, bytes);
    case CL_EVENT_COMMAND_QUEUE:
        return stub_put(&event->queue, sizeof event->queue, capacity, out, bytes);
    case CL_EVENT_CONTEXT:
        return stub_put(&event->context, sizeof event->context, capacity, out, bytes);
    case CL_EVENT_COMMAND_TYPE:
        return stub_put(&event->type, sizeof event->type, capacity, out, bytes);
    default: return CL_INVALID_VALUE;
    }
}

cl_int CL_API_CALL clGetEventProfilingInfo(cl_event event, cl_profiling_info name, size_t capacity,
        void *out, size_t *bytes)
{
    cl_int error = stub_enter(STUB_clGetEventProfilingInfo);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (!stub_valid(event, STUB_EVENT)) {
        return CL_INVALID_EVENT;
    }
    cl_ulong time = event->time + (name == CL_PROFILING_COMMAND_END ? 1000 : 0);
    return stub_put(&time, sizeof time, capacity, out, bytes);
}

cl_int CL_API_CALL clWaitForEvents(cl_uint num_events, const cl_event *events)
{
    cl_int error = stub_enter(STUB_clWaitForEvents);
    if (error != CL_SUCCESS) {
        return error;
    }
    if (num_events == 0 || events == NULL) {
        return CL_INVALID_VALUE;
    }
    for (cl_uint i = 0; i < num_events; i++) {
        if (!stub_valid(events[i], STUB_EVENT)) {
            return CL_INVALID_EVENT;
        }
    }
    return CL_SUCCESS;
}

static cl_int check_queue(enum stub_function function, cl_command_queue queue)
{
    cl_int error = stub_enter(function);
    if (error != CL_SUCCESS) {
        return error;
    }
    return stub_valid(queue, STUB_QUEUE) ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE;
}

cl_int CL_API_CALL clFlush(cl_command_queue queue)
{
    return check_queue(STUB_clFlush, queue);
}

cl_int CL_API_CALL clFinish(cl_command_queue queue)
{
    return check_queue(STUB_clFinish, queue);
}

static cl_int check_waits(cl_command_queue queue, cl_uint num_waits, const cl_event *waits)
{
    if ((num_waits == 0) != (waits == NULL)) {
        return CL_INVALID_EVENT_WAIT_LIST;
    }
    for (cl_uint i = 0; i < num_waits; i++) {
        if (!stub_valid(waits[i], STUB_EVENT)) {
            return CL_INVALID_EVENT_WAIT_LIST;
        }
        if (waits[i]->context != queue->context) {
            return CL_INVALID_CONTEXT;
        }
    }
    return CL_SUCCESS;
}

static cl_int enqueue(const struct stub_record *command, cl_command_type type, cl_uint num_waits,
        const cl_event *waits, cl_event *event)
{
    cl_int error = check_waits(command->queue, num_waits, waits);
    if (error != CL_SUCCESS) {
        return error;
    }
    pthread_mutex_lock(&stub_mutex);
    struct stub_record *record = stub_alloc(sizeof *record);
    *record = *command;
    record->thread = stub_thread_number();
    record->num_waits = num_waits;
    if (num_waits > 0) {
        cl_event *copy = stub_alloc(num_waits * sizeof *copy);
        memcpy(copy, waits, num_waits * sizeof *copy);
        record->waits = copy;
    }
    if (event != NULL) {
        record->event = new_event_locked(command->queue->context, command->queue, type);
        *event = record->event;
    }
    stub_keep_record(record);
    if (record->command == STUB_NDRANGE) {
        stub_run_emulator(record);
    }
    pthread_mutex_unlock(&stub_mutex);
    stub_maybe_yield();
    return CL_SUCCESS;
}

static cl_int check_sizes(cl_command_queue queue, cl_kernel kernel, cl_uint work_dim,
        const size_t *global, const size_t *local)
{
    if (work_dim < 1 || work_dim > 3) {
        return CL_INVALID_WORK_DIMENSION;
    }
    if (global == NULL) {
        return CL_INVALID_GLOBAL_WORK_SIZE;
    }
    size_t group = 1;
    for (cl_uint i = 0; i < work_dim; i++) {
        if (global[i] == 0) {
            return CL_INVALID_GLOBAL_WORK_SIZE;
        }
        if (local != NULL && (local[i] == 0 || global[i] % local[i] != 0)) {
            return CL_INVALID_WORK_GROUP_SIZE;
        }
        if (local != NULL && local[i] > queue->device->facts.max_work_items[i]) {
            return CL_INVALID_WORK_ITEM_SIZE;
        }
        group *= local != NULL ? local[i] : 1;
    }
    return group <= stub_kernel_limit(kernel, queue->device)
                 ? CL_SUCCESS
                 : CL_INVALID_WORK_GROUP_SIZE;
}

/* Pointers among the arguments must be living buffers of the queue's context, or NULL. */
static cl_int check_args(cl_command_queue queue, cl_kernel kernel)
{
    for (unsigned i = 0; i < kernel->num_args; i++) {
        if (kernel->args[i].size == 0) {
            return CL_INVALID_KERNEL_ARGS;
        }
    }
    for (unsigned i = 0; i < kernel->num_args; i++) {
        cl_mem buffer;
        memcpy(&buffer, kernel->args[i].bytes, sizeof buffer);
        if (kernel->arg_is_mem[i] && buffer != NULL &&
                (!stub_valid(buffer, STUB_MEM) || buffer->context != queue->context)) {
            return CL_INVALID_MEM_OBJECT;
        }
    }
    return CL_SUCCESS;
}

/* The launch ends what clSetKernelArg began: it must be the same thread's. */
static void note_launch(cl_kernel kernel)
{
    unsigned long setter = atomic_exchange_explicit(&kernel->setter, 0, memory_order_relaxed);
    if (setter != 0 && setter != stub_thread_number()) {
        stub_misuse("a kernel was launched by another thread than the one that set it up");
    }
}

cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel,
        cl_uint work_dim, const size_t *offset, const size_t *global, const size_t *local,
        cl_uint num_waits, const cl_event *waits, cl_event *event)
{
    (void) offset;
    cl_int error = check_queue(STUB_clEnqueueNDRangeKernel, queue);
    if (error == CL_SUCCESS && !stub_valid(kernel, STUB_KERNEL)) {
        error = CL_INVALID_KERNEL;
    }
    if (error == CL_SUCCESS) {
        note_launch(kernel);
        error = check_sizes(queue, kernel, work_dim, global, local);
    }
    if (error == CL_SUCCESS) {
        error = check_args(queue, kernel);
    }
    if (error != CL_SUCCESS) {
        return error;
    }
    struct stub_record record = {
        .command = STUB_NDRANGE,
        .queue = queue,
        .kernel = kernel,
        .entry = kernel->entry,
        .text = kernel->program->text,
        .work_dim = work_dim,
        .global = { 1, 1, 1 },
        .num_args = kernel->num_args,
    };
    for (cl_uint i = 0; i < 3; i++) {
        record.global[i] = i < work_dim ? global[i] : 1;
        record.local[i] = local == NULL ? 0 : i < work_dim ? local[i] : 1;
    }
    memcpy(record.args, kernel->args, sizeof record.args);
    return enqueue(&record, CL_COMMAND_NDRANGE_KERNEL, num_waits, waits, event);
}

cl_int CL_API_CALL clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint num_waits,
        const cl_event *waits, cl_event *event)
{
    cl_int error = check_queue(STUB_clEnqueueMarkerWithWaitList, queue);
    struct stub_record record = { .command = STUB_MARKER, .queue = queue };
    return error != CL_SUCCESS ? error
                               : enqueue(&record, CL_COMMAND_MARKER, num_waits, waits, event);
}

cl_int CL_API_CALL clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint num_waits,
        const cl_event *waits, cl_event *event)
{
    cl_int error = check_queue(STUB_clEnqueueBarrierWithWaitList, queue);
    struct stub_record record = { .command = STUB_BARRIER, .queue = queue };
    return error != CL_SUCCESS ? error
                               : enqueue(&record, CL_COMMAND_BARRIER, num_waits, waits, event);
}

static cl_int check_range(cl_mem buffer, size_t offset, size_t size)
{
    if (!stub_valid(buffer, STUB_MEM)) {
        return CL_INVALID_MEM_OBJECT;
    }
    bool fits = size > 0 && size <= buffer->size && offset <= buffer->size - size;
    return fits ? CL_SUCCESS : CL_INVALID_VALUE;
}

cl_int CL_API_CALL clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
        size_t offset, size_t size, void *out, cl_uint num_waits, const cl_event *waits,
        cl_event *event)
{
    (void) blocking;
    cl_int error = check_queue(STUB_clEnqueueReadBuffer, queue);
    if (error == CL_SUCCESS) {
        error = check_range(buffer, offset, size);
    }
    if (error != CL_SUCCESS) {
        return error;
    }
    memcpy(out, (const char *) stub_buffer_data(buffer) + offset, size);
    struct stub_record record = { .command = STUB_READ, .queue = queue };
    return enqueue(&record, CL_COMMAND_READ_BUFFER, num_waits, waits, event);
}

cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
        size_t offset, size_t size, const void *from, cl_uint num_waits, const cl_event *waits,
        cl_event *event)
{
    (void) blocking;
    cl_int error = check_queue(STUB_clEnqueueWriteBuffer, queue);
    if (error == CL_SUCCESS) {
        error = check_range(buffer, offset, size);
    }
    if (error != CL_SUCCESS) {
        return error;
    }
    memcpy((char *) stub_buffer_data(buffer) + offset, from, size);
    struct stub_record record = { .command = STUB_WRITE, .queue = queue };
    return enqueue(&record, CL_COMMAND_WRITE_BUFFER, num_waits, waits, event);
}

cl_int CL_API_CALL clEnqueueCopyBuffer(cl_command_queue queue, cl_mem source, cl_mem target,
        size_t source_offset, size_t target_offset, size_t size, cl_uint num_waits,
        const cl_event *waits, cl_event *event)
{
    cl_int error = check_queue(STUB_clEnqueueCopyBuffer, queue);
    if (error == CL_SUCCESS) {
        error = check_range(source, source_offset, size);
    }
    if (error == CL_SUCCESS) {
        error = check_range(target, target_offset, size);
    }
    if (error == CL_SUCCESS && source == target && source_offset < target_offset + size &&
            target_offset < source_offset + size) {
        error = CL_MEM_COPY_OVERLAP;
    }
    if (error != CL_SUCCESS) {
        return error;
    }
    memmove((char *) stub_buffer_data(target) + target_offset,
            (const char *) stub_buffer_data(source) + source_offset, size);
    struct stub_record record = {
        .command = STUB_COPY,
        .queue = queue,
        .from = { source, source_offset, size },
        .to = { target, target_offset, size },
        .num_rows = 1,
        .row_bytes = size,
    };
    return enqueue(&record, CL_COMMAND_COPY_BUFFER, num_waits, waits, event);
}

/* The rules of OpenCL 1.2 for one side of a copy of rows; a pitch of 0 means dense. */
static cl_int check_rows(cl_mem buffer, const size_t origin[3], const size_t region[3],
        size_t row_pitch, size_t slice_pitch, struct stub_rows *rows)
{
    size_t pitch = row_pitch != 0 ? row_pitch : region[0];
    size_t slice = slice_pitch != 0 ? slice_pitch : region[1] * pitch;
    if (region[0] == 0 || region[1] == 0 || region[2] != 1 || pitch < region[0] ||
            slice < region[1] * pitch || slice % pitch != 0) {
        return CL_INVALID_VALUE;
    }
    *rows = (struct stub_rows){ buffer, origin[2] * slice + origin[1] * pitch + origin[0], pitch };
    return check_range(buffer, rows->start, (region[1] - 1) * pitch + region[0]);
}

static bool copies_rows;

void stub_copy_rows(bool is_done)
{
    copies_rows = is_done;
}

static void copy_rows(const struct stub_record *record)
{
    const char *from = (const char *) stub_buffer_data(record->from.buffer) + record->from.start;
    char *to = (char *) stub_buffer_data(record->to.buffer) + record->to.start;
    for (size_t row = 0; row < record->num_rows; row++) {
        memmove(to + row * record->to.pitch, from + row * record->from.pitch, record->row_bytes);
    }
}

cl_int CL_API_CALL clEnqueueCopyBufferRect(cl_command_queue queue, cl_mem source, cl_mem target,
        const size_t *source_origin, const size_t *target_origin, const size_t *region,
        size_t source_row_pitch, size_t source_slice_pitch, size_t target_row_pitch,
        size_t target_slice_pitch, cl_uint num_waits, const cl_event *waits, cl_event *event)
{
    struct stub_record record = { .command = STUB_COPY, .queue = queue };
    cl_int error = check_queue(STUB_clEnqueueCopyBufferRect, queue);
    if (error == CL_SUCCESS) {
        error = check_rows(source, source_origin, region, source_row_pitch, source_slice_pitch,
                &record.from);
    }
    if (error == CL_SUCCESS) {
        error = check_rows(target, target_origin, region, target_row_pitch, target_slice_pitch,
                &record.to);
    }
    if (error == CL_SUCCESS && source == target && record.from.pitch != record.to.pitch) {
        error = CL_INVALID_VALUE;
    }
    if (error != CL_SUCCESS) {
        return error;
    }
    record.row_bytes = region[0];
    record.num_rows = region[1];
    if (copies_rows) {
        copy_rows(&record);
    }
    return enqueue(&record, CL_COMMAND_COPY_BUFFER_RECT, num_waits, waits, event);
}

cl_int CL_API_CALL clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void *pattern,
        size_t pattern_size, size_t offset, size_t size, cl_uint num_waits, const cl_event *waits,
        cl_event *event)
{
    cl_int error = check_queue(STUB_clEnqueueFillBuffer, queue);
    if (error == CL_SUCCESS) {
        error = check_range(buffer, offset, size);
    }
    if (error == CL_SUCCESS && (pattern_size == 0 || size % pattern_size != 0)) {
        error = CL_INVALID_VALUE;
    }
    if (error != CL_SUCCESS) {
        return error;
    }
    char *data = (char *) stub_buffer_data(buffer) + offset;
    for (size_t at = 0; at < size; at += pattern_size) {
        memcpy(data + at, pattern, pattern_size);
    }
    struct stub_record record = { .command = STUB_FILL, .queue = queue };
    return enqueue(&record, CL_COMMAND_FILL_BUFFER, num_waits, waits, event);
}
