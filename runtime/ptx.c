/* ptx.c: kernels that NVIDIA's OpenCL compiler does not build in one step.
 *
 * Some instructions (wgmma, tensormap.replace) exist for one compute capability alone, sm_90a, and
 * the compiler targets sm_90. A text with such instructions masks them as PTX comments that begin
 * with "//@". It is compiled to PTX, which the driver gives out as the program's binary; with the
 * masks taken away and the target named, this PTX is loaded as a device binary.
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

static const char mask[] = "//@";

static void put_target(char target[16], uint32_t capability)
{
    struct kiln_text text;
    kiln_text_begin(&text, target, 16);
    kiln_text_add(&text, ".target sm_");
    kiln_text_add_number(&text, capability);
}

bool kiln_ptx_unmask(char *text, size_t size, uint32_t capability)
{
    char target[16];
    put_target(target, capability);
    char *at = strstr(text, target);
    size_t length = strlen(text);
    if (at == NULL || length + 2 > size) {
        return false;
    }
    at += strlen(target);
    if (*at != 'a') {
        memmove(at + 1, at, length - (size_t)(at - text) + 1);
        *at = 'a';
    }
    char *to = text;
    const char *from = text;
    while (*from != '\0') {
        if (strncmp(from, mask, sizeof mask - 1) == 0) {
            from += sizeof mask - 1;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
    return true;
}

/* The program's PTX, with room for one byte more; to be freed. The context of a masked program has
 * one device of interest, but the program may belong to several: the first that has a binary is
 * ours, as it was built for ours alone. */
static char *ptx_of(cl_program program, size_t *size)
{
    cl_uint num = 0;
    char *text = NULL;
    if (clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof num, &num, NULL) != CL_SUCCESS) {
        return NULL;
    }
    size_t *sizes = calloc(num, sizeof *sizes);
    char **binaries = calloc(num, sizeof *binaries);
    cl_uint place = 0;
    if (sizes != NULL && binaries != NULL && clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES,
            num * sizeof *sizes, sizes, NULL) == CL_SUCCESS) {
        while (place < num && sizes[place] == 0) {
            place++;
        }
        if (place < num) {
            *size = sizes[place] + 2;
            text = binaries[place] = calloc(*size, 1);
        }
    }
    if (text != NULL && clGetProgramInfo(program, CL_PROGRAM_BINARIES, num * sizeof *binaries,
            binaries, NULL) != CL_SUCCESS) {
        free(text);
        text = NULL;
    }
    free(binaries);
    free(sizes);
    return text;
}

static cl_program load(const struct kiln_context *context, const char *text)
{
    cl_int status = CL_SUCCESS, error = CL_SUCCESS;
    size_t size = strlen(text) + 1;
    cl_program program = clCreateProgramWithBinary(context->context, 1, &context->device, &size,
            (const unsigned char *[]){(const unsigned char *)text}, &status, &error);
    if (program == NULL) {
        kiln_log(context, "the driver refuses unmasked PTX: ",
                kiln_status_string((enum kiln_status)error), NULL);
        return NULL;
    }
    return kiln_program_build(context, program) ? program : NULL;
}

cl_program kiln_ptx_build(const struct kiln_context *context, cl_program source,
        uint32_t capability)
{
    size_t size = 0;
    if (context->facts.compute_capability != capability) {
        kiln_log(context, "a program is for another compute capability", NULL);
        clReleaseProgram(source);
        return NULL;
    }
    if (!kiln_program_build(context, source)) {
        return NULL;
    }
    char *text = ptx_of(source, &size);
    clReleaseProgram(source);
    cl_program program = NULL;
    if (text == NULL || !kiln_ptx_unmask(text, size, capability)) {
        kiln_log(context, "the driver's binary is not PTX for the device", NULL);
    } else {
        program = load(context, text);
    }
    free(text);
    return program;
}
