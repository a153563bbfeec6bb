/* ptx.c: kernels that NVIDIA's OpenCL compiler does not build in one step.
 *
 * Some instructions (wgmma, tensormap.replace) exist for one compute capability alone, sm_90a, and
 * the compiler targets sm_90. A text with such instructions masks them as PTX comments that begin
 * with "//@". It is compiled to PTX, which the driver gives out as the program's binary; with the
 * masks taken away and the target named, this PTX is loaded as a device binary.
 *
 * Where warps leave registers to others (setmaxnreg), ptxas must know how many they have at first.
 * From .reqntid alone it does not, and it ignores the instruction; with .minnctapersm beside it, it
 * does.
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

static const char mask[] = "//@";

static const char ptx_gives[] = "setmaxnreg", ptx_items[] = ".reqntid ",
                  ptx_bound[] = ".minnctapersm 1\n";

static void put_target(char target[16], uint32_t capability)
{
    struct kiln_text text;
    kiln_text_begin(&text, target, 16);
    kiln_text_add(&text, ".target sm_");
    kiln_text_add_number(&text, capability);
}

static bool begins_with(const char *text, const char *what)
{
    return strncmp(text, what, strlen(what)) == 0;
}

/* How many kernels lack what setmaxnreg needs. */
static size_t kernels_to_bound(const char *text)
{
    size_t num = 0;
    if (strstr(text, ptx_gives) != NULL && strstr(text, ".minnctapersm") == NULL) {
        for (const char *at = text; (at = strstr(at, ptx_items)) != NULL; at++) {
            num++;
        }
    }
    return num;
}

bool kiln_ptx_unmask(char *text, size_t size, uint32_t capability)
{
    char target[16];
    put_target(target, capability);
    const char *at = strstr(text, target);
    const size_t length = strlen(text), bounds = kernels_to_bound(text);
    if (at == NULL || length + 2 + bounds * strlen(ptx_bound) > size) {
        return false;
    }
    const bool is_targeted = at[strlen(target)] == 'a';
    /* The text moves to the end of its buffer, and is written anew from the beginning. */
    char *const end = text + size - length - 1;
    memmove(end, text, length + 1);
    const char *from = end;
    const char *behind_target = is_targeted ? NULL : strstr(from, target) + strlen(target);
    for (char *to = text; (*to = *from) != '\0';) {
        if (from == behind_target) {
            *to++ = 'a';
        }
        if (begins_with(from, mask)) {
            from += strlen(mask);
        } else if (bounds != 0 && begins_with(from, ptx_items)) {
            memcpy(to, ptx_bound, strlen(ptx_bound));
            to += strlen(ptx_bound);
            memmove(to, from, strlen(ptx_items));
            to += strlen(ptx_items);
            from += strlen(ptx_items);
        } else {
            *to++ = *from++;
        }
    }
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
    status = kiln_program_binary(context, source, 1 + KILN_PTX_ROOM, &text, &size);
    clReleaseProgram(source);
    if (status == KILN_SUCCESS &&
            !kiln_ptx_unmask((char *) text, size + 1 + KILN_PTX_ROOM, capability)) {
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
