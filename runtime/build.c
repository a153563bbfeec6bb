/* build.c: has the driver build a program, whatever it was made from. */
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
