/* device.c: finds the device, and moves matrices to it and back. */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    has = clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, size, list, NULL) == CL_SUCCESS
            && strstr(list, extension) != NULL;
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
        if (clGetDeviceInfo(ids[i], CL_DEVICE_NAME, sizeof(name), name, NULL) == CL_SUCCESS
                && strstr(name, substring) != NULL) {
            return ids[i];
        }
    }
    return NULL;
}

static cl_device_id device_find(const char *substring)
{
    cl_platform_id platforms[DEVICE_MAX];
    cl_uint count = 0;
    cl_device_id found = NULL;

    if (clGetPlatformIDs(DEVICE_MAX, platforms, &count) != CL_SUCCESS) {
        return NULL;
    }
    for (cl_uint i = 0; found == NULL && i < count && i < DEVICE_MAX; i++) {
        found = device_find_on(platforms[i], substring);
    }
    return found;
}

/* As many threads for the host's peers as the device has, so that both have the same cores. */
static int device_host_threads(cl_device_id id)
{
    cl_device_type type = 0;
    cl_uint units = 0;

    clGetDeviceInfo(id, CL_DEVICE_TYPE, sizeof(type), &type, NULL);
    clGetDeviceInfo(id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(units), &units, NULL);
    if ((type & CL_DEVICE_TYPE_CPU) != 0 && units > 0) {
        return (int)units;
    }
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

static void device_describe(struct device *device)
{
    cl_platform_id platform = NULL;

    clGetDeviceInfo(device->id, CL_DEVICE_NAME, sizeof(device->name), device->name, NULL);
    clGetDeviceInfo(device->id, CL_DRIVER_VERSION, sizeof(device->driver), device->driver, NULL);
    clGetDeviceInfo(device->id, CL_DEVICE_PLATFORM, sizeof(platform), &platform, NULL);
    clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof(device->platform), device->platform,
            NULL);
    device->has_half = device_has_extension(device->id, "cl_khr_fp16");
    device->has_double = device_has_extension(device->id, "cl_khr_fp64");
    device->host_threads = device_host_threads(device->id);
}

bool device_open(struct device *device, const char *substring, char *error, size_t size)
{
    cl_int status = CL_SUCCESS;

    *device = (struct device){0};
    device->id = device_find(substring != NULL ? substring : "");
    if (device->id == NULL) {
        snprintf(error, size, "no OpenCL device%s%s", substring != NULL ? " is called " : "",
                substring != NULL ? substring : "");
        return false;
    }
    device->context = clCreateContext(NULL, 1, &device->id, NULL, NULL, &status);
    if (device->context != NULL) {
        device->queue = clCreateCommandQueue(device->context, device->id, 0, &status);
    }
    if (device->queue == NULL) {
        snprintf(error, size, "the device gives no context or queue (OpenCL status %d)",
                (int)status);
        device_close(device);
        return false;
    }
    device_describe(device);
    return true;
}

void device_close(struct device *device)
{
    if (device->queue != NULL) {
        clReleaseCommandQueue(device->queue);
    }
    if (device->context != NULL) {
        clReleaseContext(device->context);
    }
    *device = (struct device){0};
}

bool operands_create(struct operands *operands, const struct device *device,
        const struct problem *problem)
{
    const cl_mem_flags input = CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;

    *operands = (struct operands){0};
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
    cl_mem buffers[3] = {operands->a, operands->b, operands->c};

    for (int i = 0; i < 3; i++) {
        if (buffers[i] != NULL) {
            clReleaseMemObject(buffers[i]);
        }
    }
    *operands = (struct operands){0};
}

bool operands_poison(const struct operands *operands, const struct device *device,
        const struct problem *problem)
{
    const unsigned char not_a_number = 0xff;

    return clEnqueueFillBuffer(device->queue, operands->c, &not_a_number, 1, 0, problem->c_bytes,
                   0, NULL, NULL) == CL_SUCCESS
            && clFinish(device->queue) == CL_SUCCESS;
}

bool operands_read(const struct operands *operands, const struct device *device,
        const struct problem *problem, void *c)
{
    return clEnqueueReadBuffer(device->queue, operands->c, CL_TRUE, 0, problem->c_bytes, c, 0,
                   NULL, NULL) == CL_SUCCESS;
}
