/* device.c: finds the device, and moves matrices to it and back. */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tune/absent.h"

enum { DEVICE_MAX = 32 };

static bool device_has_extension(cl_device_id id, const char *extension)
{
    size_t size = 0;
    char *list;
    bool has;

    if (clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, 0, NULL, &size) != CL_SUCCESS) {
        return false;
    }
    list = calloc(size + 1, 1);
    if (list == NULL) {
        return false;
    }
    has = clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, size, list, NULL) == CL_SUCCESS &&
          strstr(list, extension) != NULL;
    free(list);
    return has;
}

/* The first device of the platform whose name fits, or NULL. */
static cl_device_id device_find_on(cl_platform_id platform, const char *substring)
{
    cl_device_id ids[DEVICE_MAX];
    cl_uint count = 0;
    char name[256];

    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, DEVICE_MAX, ids, &count) != CL_SUCCESS) {
        return NULL;
    }
    for (cl_uint i = 0; i < count && i < DEVICE_MAX; i++) {
        if (clGetDeviceInfo(ids[i], CL_DEVICE_NAME, sizeof(name), name, NULL) == CL_SUCCESS &&
                strstr(name, substring) != NULL) {
            return ids[i];
        }
    }
    return NULL;
}

/* NULL: none, and why that is stands in error. */
static cl_device_id device_find(const char *substring, char *error, size_t size)
{
    cl_platform_id platforms[DEVICE_MAX];
    cl_uint count = 0;
    cl_device_id found = NULL;
    bool has_any = false;

    if (clGetPlatformIDs(DEVICE_MAX, platforms, &count) != CL_SUCCESS) {
        count = 0;
    }
    for (cl_uint i = 0; found == NULL && i < count && i < DEVICE_MAX; i++) {
        found = device_find_on(platforms[i], substring);
        has_any = has_any || device_find_on(platforms[i], "") != NULL;
    }
    if (found == NULL && has_any) {
        snprintf(error, size, "no OpenCL device is called %s", substring);
    } else if (found == NULL) {
        absent_explain(error, size);
    }
    return found;
}

static bool device_is_cpu(cl_device_id id)
{
    cl_device_type type = 0;

    clGetDeviceInfo(id, CL_DEVICE_TYPE, sizeof(type), &type, NULL);
    return (type & CL_DEVICE_TYPE_CPU) != 0;
}

static unsigned device_compute_units(cl_device_id id)
{
    cl_uint units = 0;

    clGetDeviceInfo(id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(units), &units, NULL);
    return units;
}

/* As many threads for the host's peers as the device has, so that both have the same cores. */
static int device_host_threads(const struct device *device)
{
    return device->is_cpu && device->compute_units > 0
                 ? (int) device->compute_units
                 : (int) sysconf(_SC_NPROCESSORS_ONLN);
}

static uint64_t device_bytes(cl_device_id id, cl_device_info what)
{
    cl_ulong bytes = 0;

    clGetDeviceInfo(id, what, sizeof(bytes), &bytes, NULL);
    return bytes;
}

static void device_describe(struct device *device)
{
    cl_platform_id platform = NULL;

    clGetDeviceInfo(device->id, CL_DEVICE_NAME, sizeof(device->name), device->name, NULL);
    clGetDeviceInfo(device->id, CL_DRIVER_VERSION, sizeof(device->driver), device->driver, NULL);
    clGetDeviceInfo(device->id, CL_DEVICE_PLATFORM, sizeof(platform), &platform, NULL);
    clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof(device->platform), device->platform, NULL);
    device->has_half = device_has_extension(device->id, "cl_khr_fp16");
    device->has_double = device_has_extension(device->id, "cl_khr_fp64");
    device->is_cpu = device_is_cpu(device->id);
    device->is_nvidia = device_has_extension(device->id, "cl_nv_device_attribute_query");
    device->most_buffer_bytes = device_bytes(device->id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    device->memory_bytes = device_bytes(device->id, CL_DEVICE_GLOBAL_MEM_SIZE);
    device->compute_units = device_compute_units(device->id);
    device->host_threads = device_host_threads(device);
}

/* The queues; an OpenCL status. */
static cl_int device_open_queues(struct device *device)
{
    cl_int status = CL_SUCCESS;

    device->queue = clCreateCommandQueue(device->context, device->id, 0, &status);
    if (device->queue != NULL && device->has_clock) {
        device->profiling_queue = clCreateCommandQueue(device->context, device->id,
                CL_QUEUE_PROFILING_ENABLE, &status);
    }
    return status;
}

bool device_open(struct device *device, const char *substring, bool wants_clock, char *error,
        size_t size)
{
    cl_int status = CL_SUCCESS;

    *device = (struct device){ 0 };
    device->id = device_find(substring != NULL ? substring : "", error, size);
    if (device->id == NULL) {
        return false;
    }
    device_describe(device);
    device->has_clock = !device->is_cpu || wants_clock;
    device->context = clCreateContext(NULL, 1, &device->id, NULL, NULL, &status);
    if (device->context != NULL) {
        status = device_open_queues(device);
    }
    if (status != CL_SUCCESS) {
        snprintf(error, size, "the device gives no context or queue (OpenCL status %d)",
                (int) status);
        device_close(device);
        return false;
    }
    return true;
}

const char *device_affinity(const struct device *device)
{
    bool is_pocl = strcmp(device->platform, "Portable Computing Language") == 0;

    return is_pocl ? getenv("POCL_AFFINITY") : NULL;
}

void device_close(struct device *device)
{
    if (device->profiling_queue != NULL) {
        clReleaseCommandQueue(device->profiling_queue);
    }
    if (device->queue != NULL) {
        clReleaseCommandQueue(device->queue);
    }
    if (device->context != NULL) {
        clReleaseContext(device->context);
    }
    *device = (struct device){ 0 };
}

/* ---- Samples ---- */

struct device_work {
    const struct device *device;
    device_enqueue *enqueue;
    void *user;
};

static bool device_once(void *user)
{
    const struct device_work *work = user;

    return work->enqueue(work->user, work->device->queue, NULL) &&
           clFinish(work->device->queue) == CL_SUCCESS;
}

/* Seconds from the end of one command to the end of another, both complete. */
static bool device_span(const cl_event events[2], double *seconds)
{
    cl_ulong ends[2] = { 0, 0 };

    for (int i = 0; i < 2; i++) {
        if (clGetEventProfilingInfo(events[i], CL_PROFILING_COMMAND_END, sizeof(ends[i]), &ends[i],
                    NULL) != CL_SUCCESS) {
            return false;
        }
    }
    *seconds = 1e-9 * ((double) ends[1] - (double) ends[0]);
    return true;
}

static bool device_plain_batch(const struct device_work *work, size_t count)
{
    bool good = true;

    for (size_t i = 0; good && i < count; i++) {
        good = work->enqueue(work->user, work->device->queue, NULL);
    }
    return clFinish(work->device->queue) == CL_SUCCESS && good;
}

/* For timer_sample_batches. */
static bool device_batch(void *user, size_t count, double *device_seconds)
{
    const struct device_work *work = user;
    cl_command_queue queue = work->device->profiling_queue;
    cl_event events[2] = { NULL, NULL };
    bool good;

    if (device_seconds == NULL) {
        return device_plain_batch(work, count);
    }
    good = work->enqueue(work->user, queue, &events[0]);
    for (size_t i = 0; good && i < count; i++) {
        good = work->enqueue(work->user, queue, i + 1 == count ? &events[1] : NULL);
    }
    good = clFinish(queue) == CL_SUCCESS && good && device_span(events, device_seconds);
    for (int i = 0; i < 2; i++) {
        if (events[i] != NULL) {
            clReleaseEvent(events[i]);
        }
    }
    return good;
}

bool device_sample(const struct device *device, device_enqueue *enqueue, void *user,
        double min_seconds, struct sample *sample)
{
    struct device_work work = { device, enqueue, user };

    if (device->has_clock) {
        return timer_sample_batches(device_batch, &work, min_seconds, sample);
    }
    return timer_sample(device_once, &work, min_seconds, sample);
}

/* ---- Operands ---- */

bool operands_create(struct operands *operands, const struct device *device,
        const struct problem *problem)
{
    const cl_mem_flags input = CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;

    *operands = (struct operands){ 0 };
    operands->a = clCreateBuffer(device->context, input, problem->a_bytes, problem->a, NULL);
    operands->b = clCreateBuffer(device->context, input, problem->b_bytes, problem->b, NULL);
    operands->c = clCreateBuffer(device->context, CL_MEM_READ_WRITE, problem->c_bytes, NULL, NULL);
    if (operands->a == NULL || operands->b == NULL || operands->c == NULL) {
        operands_destroy(operands);
        return false;
    }
    return true;
}

void operands_destroy(struct operands *operands)
{
    cl_mem buffers[3] = { operands->a, operands->b, operands->c };

    for (int i = 0; i < 3; i++) {
        if (buffers[i] != NULL) {
            clReleaseMemObject(buffers[i]);
        }
    }
    *operands = (struct operands){ 0 };
}

bool operands_poison(const struct operands *operands, const struct device *device,
        const struct problem *problem)
{
    const unsigned char not_a_number = 0xff;

    return clEnqueueFillBuffer(device->queue, operands->c, &not_a_number, 1, 0, problem->c_bytes, 0,
                   NULL, NULL) == CL_SUCCESS &&
           clFinish(device->queue) == CL_SUCCESS;
}

bool operands_read(const struct operands *operands, const struct device *device,
        const struct problem *problem, void *c)
{
    return clEnqueueReadBuffer(device->queue, operands->c, CL_TRUE, 0, problem->c_bytes, c, 0, NULL,
                   NULL) == CL_SUCCESS;
}
