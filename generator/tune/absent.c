/* absent.c: see absent.h. */
#include "absent.h"

#include <CL/cl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MAX_PLATFORMS = 32 };

/* Adds to the `at` characters that are there; returns how many there are then. */
static size_t explain_platform(cl_platform_id platform, bool is_first, char *text, size_t size,
        size_t at)
{
    char name[64] = "";
    cl_uint num = 0;
    const cl_int status = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &num);
    if (clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, NULL) != CL_SUCCESS)
        snprintf(name, sizeof name, "a platform");
    name[sizeof name - 1] = '\0';
    const int added = snprintf(text + at, size - at, "%s %s: clGetDeviceIDs gives status %d",
            is_first ? "" : ";", name, (int) status);
    return at + (size_t) added < size ? at + (size_t) added : size - 1;
}

void absent_explain(char *text, size_t size)
{
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint num = 0;
    const cl_int status = clGetPlatformIDs(MAX_PLATFORMS, platforms, &num);
    snprintf(text, size, "no OpenCL device was found:");
    size_t at = strlen(text);
    if (status != CL_SUCCESS || !num)
        snprintf(text + at, size - at,
                " clGetPlatformIDs gives status %d and no platform; OCL_ICD_VENDORS, or else "
                "/etc/OpenCL/vendors, names the drivers",
                (int) status);
    else
        for (cl_uint i = 0; i < num && i < MAX_PLATFORMS; i++)
            at = explain_platform(platforms[i], !i, text, size, at);
    for (; *text; text++)
        if ((unsigned char) *text < ' ')
            *text = ' ';
}
