/* ptx.c: see ptx.h. */
#include "ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char mask[] = "//@";

bool ptx_unmask(char *text, size_t size, long capability)
{
    char target[32];
    snprintf(target, sizeof target, ".target sm_%ld", capability);
    char *at = strstr(text, target);
    const size_t len = strlen(text);
    if (!at || len + 2 > size)
        return false;
    at += strlen(target);
    if (*at != 'a') {
        memmove(at + 1, at, len - (size_t) (at - text) + 1);
        *at = 'a';
    }
    char *to = text;
    for (const char *from = text; *from; ) {
        const size_t skip = !strncmp(from, mask, sizeof mask - 1) ? sizeof mask - 1 : 0;
        from += skip;
        if (!skip)
            *to++ = *from++;
    }
    *to = '\0';
    return true;
}

/* The first line of the build log that tells of an error, or its first line. */
static void tell_log(cl_program program, cl_device_id device, char error[FAMILY_ERROR_BYTES])
{
    size_t size = 0;
    char *log = NULL;
    if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) == CL_SUCCESS)
        log = calloc(size + 1, 1);
    if (log && clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log, NULL) ==
            CL_SUCCESS) {
        const char *at = strstr(log, "error");
        at = at ? at : log;
        snprintf(error, FAMILY_ERROR_BYTES, "%.*s", (int) strcspn(at, "\n"), at);
    }
    free(log);
}

/* The driver's binary as text, with room for one byte more. To be freed. */
static char *binary_text(cl_program program, size_t *size)
{
    size_t bytes = 0;
    if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL) !=
            CL_SUCCESS || !bytes)
        return NULL;
    char *text = calloc(bytes + 2, 1);
    if (text && clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof text, &text, NULL) !=
            CL_SUCCESS) {
        free(text);
        return NULL;
    }
    *size = bytes + 2;
    return text;
}

static char *build(const struct kiln_program *source, long capability, cl_context context,
        cl_device_id device, char error[FAMILY_ERROR_BYTES])
{
    cl_int status;
    size_t size = 0;
    char *text = NULL;
    cl_program program = clCreateProgramWithSource(context, source->num_pieces,
            (const char **) source->pieces, NULL, &status);
    snprintf(error, FAMILY_ERROR_BYTES, "the driver refuses a source for PTX");
    if (!program)
        return NULL;
    if (clBuildProgram(program, 1, &device, NULL, NULL, NULL) != CL_SUCCESS)
        tell_log(program, device, error);
    else
        text = binary_text(program, &size);
    if (text && !ptx_unmask(text, size, capability)) {
        snprintf(error, FAMILY_ERROR_BYTES, "the driver's binary is not PTX for sm_%ld",
                capability);
        free(text);
        text = NULL;
    }
    clReleaseProgram(program);
    return text;
}

static bool attach(struct assembly *assembly, uint32_t index, cl_context context,
        cl_device_id device, char error[FAMILY_ERROR_BYTES])
{
    char *text = build(&assembly->programs[index], assembly->ptx[index], context, device, error);
    if (!text)
        return false;
    const bool ok = assembly_set_ptx(assembly, index, text);
    free(text);
    if (!ok)
        snprintf(error, FAMILY_ERROR_BYTES, "out of memory");
    return ok;
}

bool ptx_attach(struct assembly *assembly, cl_context context, cl_device_id device,
        char error[FAMILY_ERROR_BYTES])
{
    for (uint32_t i = 0; i < assembly->bundle.num_programs; i++)
        if (assembly->ptx[i] && !assembly->programs[i].num_binaries &&
            !attach(assembly, i, context, device, error))
            return false;
    return true;
}
