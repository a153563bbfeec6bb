/* device.c: finds and opens the OpenCL device.
 *
 * Nothing is released when the program ends: drivers may have ended by then. The fallback serves
 * calls that come even later.
 */
#include "blas.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PLATFORMS = 16, MAX_DEVICES = 64, NUM_RANKS = 3 };

/* How much of the device's memory the pool may keep between calls. */
enum { POOL_DIVISOR = 4 };

static struct kiln_blas_device opened;
enum state { UNTRIED, OPEN, ABSENT };
static atomic_int state; /* set to ABSENT by the thread that ends the program, too */

/* GPUs are taken before other devices, CPUs come last. */
static int rank_of(cl_device_type type)
{
    return (type & CL_DEVICE_TYPE_GPU) != 0 ? 0 : (type & CL_DEVICE_TYPE_CPU) != 0 ? 2 : 1;
}

/* What matters of a device. False: the driver does not tell. */
static bool describe(cl_device_id id, struct kiln_blas_device *device, int *rank)
{
    const int wish = kiln_blas_settings()->zero_copy;
    cl_device_type type = 0;
    cl_ulong bytes = 0;
    cl_device_fp_config doubles = 0;
    *device = (struct kiln_blas_device){ .id = id };
    if (clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof device->name, device->name, NULL) !=
                    CL_SUCCESS ||
            clGetDeviceInfo(id, CL_DEVICE_TYPE, sizeof type, &type, NULL) != CL_SUCCESS ||
            clGetDeviceInfo(id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof bytes, &bytes, NULL) !=
                    CL_SUCCESS) {
        return false;
    }
    *rank = rank_of(type);
    device->has_double = clGetDeviceInfo(id, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof doubles, &doubles,
                                 NULL) == CL_SUCCESS &&
                         doubles != 0;
    device->zero_copy = wish >= 0 ? wish > 0 : (type & CL_DEVICE_TYPE_CPU) != 0;
    device->pool_bytes = (size_t) (bytes / POOL_DIVISOR);
    return true;
}

static bool open_device(struct kiln_blas_device *device)
{
    cl_int error;
    device->context = clCreateContext(NULL, 1, &device->id, NULL, NULL, &error);
    if (device->context == NULL) {
        return false;
    }
    device->queue = clCreateCommandQueue(device->context, device->id, 0, &error);
    if (device->queue != NULL &&
            kiln_context_create(device->context, device->id, NULL, &device->kiln) == KILN_SUCCESS) {
        return true;
    }
    if (device->queue != NULL) {
        clReleaseCommandQueue(device->queue);
    }
    clReleaseContext(device->context);
    return false;
}

/* Opens the first device, by rank and then as the drivers list them, whose name holds `part`. */
static bool open_first(const cl_device_id *ids, size_t num_ids, const char *part)
{
    for (int rank = 0; rank < NUM_RANKS; rank++) {
        for (size_t i = 0; i < num_ids; i++) {
            int found;
            if (describe(ids[i], &opened, &found) && found == rank &&
                    (part == NULL || strstr(opened.name, part) != NULL) && open_device(&opened)) {
                return true;
            }
        }
    }
    return false;
}

static void stop(void)
{
    state = ABSENT;
}

static bool find_device(void)
{
    const char *part = kiln_blas_settings()->device;
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint num_platforms = 0;
    cl_device_id ids[MAX_DEVICES];
    size_t num_ids = 0;
    if (clGetPlatformIDs(MAX_PLATFORMS, platforms, &num_platforms) != CL_SUCCESS) {
        return false;
    }
    for (cl_uint p = 0; p < num_platforms && p < MAX_PLATFORMS && num_ids < MAX_DEVICES; p++) {
        const cl_uint room = (cl_uint) (MAX_DEVICES - num_ids);
        cl_uint num = 0;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, room, ids + num_ids, &num) ==
                CL_SUCCESS) {
            num_ids += num < room ? num : room;
        }
    }
    if (part != NULL) {
        if (open_first(ids, num_ids, part)) {
            return true;
        }
        kiln_blas_say("KILN_BLAS_DEVICE=%s is ignored: no such device can be opened", part);
    }
    return open_first(ids, num_ids, NULL);
}

struct kiln_blas_device *kiln_blas_open(void)
{
    if (state == UNTRIED) {
        state = find_device() && atexit(stop) == 0 ? OPEN : ABSENT;
    }
    return state == OPEN ? &opened : NULL;
}
