/* build.c: has the driver build a program, from source or binary, and reads the result. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/* The compiler's own words, which may be long and end in newlines. */
static void log_build(const struct kiln_context *context, cl_program program)
{
    size_t size = 0;
    if (context->log == NULL ||
            clGetProgramBuildInfo(program, context->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) !=
                    CL_SUCCESS ||
            size <= 1) {
        return;
    }
    char *text = (char *) calloc(size + 1, 1);
    if (text != NULL && clGetProgramBuildInfo(program, context->device, CL_PROGRAM_BUILD_LOG, size,
                                text, NULL) == CL_SUCCESS) {
        for (size_t end = strlen(text); end > 0 && text[end - 1] == '\n'; end--) {
            text[end - 1] = '\0';
        }
        context->log(context->log_user, text);
    }
    free(text);
}

enum kiln_status kiln_program_build(const struct kiln_context *context, cl_program program)
{
    cl_int error = clBuildProgram(program, 1, &context->device, NULL, NULL, NULL);
    if (error == CL_SUCCESS) {
        return KILN_SUCCESS;
    }
    kiln_log(context, "a program does not build: ", kiln_status_string((enum kiln_status) error),
            NULL);
    log_build(context, program);
    clReleaseProgram(program);
    return kiln_conclude(error, KILN_NO_KERNEL);
}

/* The place of the context's device among those of a program. */
static enum kiln_status find_device(const struct kiln_context *context, cl_program program,
        cl_uint num_devices, cl_uint *place)
{
    cl_device_id *devices = (cl_device_id *) calloc(num_devices, sizeof *devices);
    if (devices == NULL) {
        return KILN_OUT_OF_MEMORY;
    }
    cl_int error = clGetProgramInfo(program, CL_PROGRAM_DEVICES, num_devices * sizeof *devices,
            devices, NULL);
    *place = 0;
    while (error == CL_SUCCESS && *place < num_devices && devices[*place] != context->device) {
        (*place)++;
    }
    free(devices);
    return error != CL_SUCCESS   ? (enum kiln_status) error
         : *place == num_devices ? KILN_NO_KERNEL
                                 : KILN_SUCCESS;
}

/* `sizes` and `binaries` have room for one entry per device. */
static enum kiln_status copy_binary(cl_program program, cl_uint num_devices, cl_uint place,
        size_t *sizes, unsigned char **binaries, size_t spare)
{
    cl_int error = clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, num_devices * sizeof *sizes,
            sizes, NULL);
    if (error != CL_SUCCESS) {
        return (enum kiln_status) error;
    }
    if (sizes[place] == 0) {
        return KILN_NO_KERNEL;
    }
    binaries[place] = (unsigned char *) calloc(sizes[place] + spare, 1);
    if (binaries[place] == NULL) {
        return KILN_OUT_OF_MEMORY;
    }
    return (enum kiln_status) clGetProgramInfo(program, CL_PROGRAM_BINARIES,
            num_devices * sizeof *binaries, binaries, NULL);
}

enum kiln_status kiln_program_binary(const struct kiln_context *context, cl_program program,
        size_t spare, unsigned char **data, size_t *size)
{
    cl_uint num_devices = 0, place = 0;
    cl_int error = clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof num_devices,
            &num_devices, NULL);
    if (error != CL_SUCCESS) {
        return (enum kiln_status) error;
    }
    enum kiln_status status = find_device(context, program, num_devices, &place);
    if (status != KILN_SUCCESS) {
        return status;
    }
    status = KILN_OUT_OF_MEMORY;
    size_t *sizes = (size_t *) calloc(num_devices, sizeof *sizes);
    unsigned char **binaries = (unsigned char **) calloc(num_devices, sizeof *binaries);
    if (sizes != NULL && binaries != NULL) {
        status = copy_binary(program, num_devices, place, sizes, binaries, spare);
        if (status == KILN_SUCCESS) {
            *data = binaries[place];
            *size = sizes[place];
        } else {
            free(binaries[place]);
        }
    }
    free(binaries);
    free(sizes);
    return status;
}
