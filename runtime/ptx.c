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
        memmove(at + 1, at, length - (size_t) (at - text) + 1);
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

static enum kiln_status load(const struct kiln_context *context, const char *text,
        cl_program *program)
{
    cl_int status = CL_SUCCESS, error = CL_SUCCESS;
    const unsigned char *binary = (const unsigned char *) text;
    size_t size = strlen(text) + 1;
    *program = clCreateProgramWithBinary(context->context, 1, &context->device, &size, &binary,
            &status, &error);
    if (*program == NULL) {
        kiln_log(context,
                "the driver refuses unmasked PTX: ", kiln_status_string((enum kiln_status) error),
                NULL);
        return kiln_conclude(error, KILN_NO_KERNEL);
    }
    return kiln_program_build(context, *program);
}

enum kiln_status kiln_ptx_build(const struct kiln_context *context, cl_program source,
        uint32_t capability, cl_program *program)
{
    size_t size = 0;
    unsigned char *text = NULL;
    if (context->facts.compute_capability != capability) {
        kiln_log(context, "a program is for another compute capability", NULL);
        clReleaseProgram(source);
        return KILN_NO_KERNEL;
    }
    enum kiln_status status = kiln_program_build(context, source);
    if (status != KILN_SUCCESS) {
        return status;
    }
    /* A NUL, and the byte that unmasking wants. */
    status = kiln_program_binary(context, source, 2, &text, &size);
    clReleaseProgram(source);
    if (status == KILN_SUCCESS && !kiln_ptx_unmask((char *) text, size + 2, capability)) {
        status = KILN_NO_KERNEL;
    }
    if (status == KILN_SUCCESS) {
        status = load(context, (char *) text, program);
    } else {
        kiln_log(context, "no PTX for the device: ", kiln_status_string(status), NULL);
        status = kiln_conclude((cl_int) status, KILN_NO_KERNEL);
    }
    free(text);
    return status;
}
