/* half_device.c: preloaded, it makes each device say that it has cl_khr_fp16. CLBlast's testers
 * leave out halves on other devices, which its kernels need and Kiln's do not. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#include <CL/cl.h>

#define EXPORT __attribute__((visibility("default")))

typedef cl_int get_device_info(cl_device_id, cl_device_info, size_t, void *, size_t *);

EXPORT cl_int clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t capacity,
        void *value, size_t *size)
{
    static const char extension[] = " cl_khr_fp16";
    get_device_info *driver;
    size_t bytes = 0;

    *(void **) &driver = dlsym(RTLD_NEXT, "clGetDeviceInfo");
    if (name != CL_DEVICE_EXTENSIONS)
        return driver(device, name, capacity, value, size);
    cl_int status = driver(device, name, 0, NULL, &bytes);
    if (status != CL_SUCCESS)
        return status;
    if (size != NULL)
        *size = bytes + strlen(extension);
    if (value == NULL)
        return CL_SUCCESS;
    if (capacity < bytes + strlen(extension))
        return CL_INVALID_VALUE;
    status = driver(device, name, capacity, value, NULL);
    if (status == CL_SUCCESS)
        strcat(value, extension);
    return status;
}
