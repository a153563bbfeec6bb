/* embed.c: takes binaries from the library that built them. */
#include "embed.h"
#include "device.h"
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>

static bool add_binary(struct assembly *assembly, struct kiln_context *context, uint32_t program,
        const struct device_facts *facts)
{
    unsigned char *data = NULL;
    size_t size = 0;
    struct arena *arena = &assembly->arena;
    if (kiln_context_binary(context, program, &data, &size) != KILN_SUCCESS)
        return false;
    struct kiln_binary binary = {
        .source_hash = assembly->programs[program].hash,
        .data_hash = kiln_hash(KILN_HASH_BEGIN, data, size),
        .data = arena_copy(arena, data, size), .size = size,
        .compute_capability = assembly->programs[program].ptx,
    };
    /* PTX is for every device and driver of its compute capability. */
    if (!binary.compute_capability) {
        binary.platform = arena_string(arena, facts->platform);
        binary.device = arena_string(arena, facts->device);
        binary.driver = arena_string(arena, facts->driver);
    }
    free(data);
    struct kiln_binary *kept = arena_copy(arena, &binary, sizeof binary);
    if (!binary.data || !kept || (!binary.compute_capability &&
                                  (!binary.platform || !binary.device || !binary.driver)))
        return false;
    assembly->programs[program].binaries = kept;
    assembly->programs[program].num_binaries = 1;
    return true;
}

static bool add_all(struct assembly *assembly, cl_context cl, cl_device_id device,
        const struct device_facts *facts, char error[FAMILY_ERROR_BYTES])
{
    const struct kiln_context_params params = { .bundle = &assembly->bundle };
    struct kiln_context *context;
    const enum kiln_status status = kiln_context_create(cl, device, &params, &context);
    if (status != KILN_SUCCESS) {
        snprintf(error, FAMILY_ERROR_BYTES, "embedding binaries: %s", kiln_status_string(status));
        return false;
    }
    bool ok = true;
    for (uint32_t i = 0; i < assembly->bundle.num_programs && ok; i++)
        ok = add_binary(assembly, context, i, facts);
    kiln_context_destroy(&context);
    if (!ok)
        snprintf(error, FAMILY_ERROR_BYTES, "the driver gives no binary of a program");
    return ok;
}

/* A context of the device alone; NULL with a message in error. */
static cl_context open_device(const char *name, cl_device_id *device, struct device_facts *facts,
        char error[FAMILY_ERROR_BYTES])
{
    cl_int status;
    if (!device_find(name, device, error) || !device_facts(*device, facts, error))
        return NULL;
    cl_context context = clCreateContext(NULL, 1, device, NULL, NULL, &status);
    if (!context)
        snprintf(error, FAMILY_ERROR_BYTES, "clCreateContext: %d", status);
    return context;
}

bool embed_binaries(struct assembly *assembly, const char *device_name, bool keep_source,
        char error[FAMILY_ERROR_BYTES])
{
    cl_device_id device;
    struct device_facts facts;
    cl_context context = open_device(device_name, &device, &facts, error);
    if (!context)
        return false;
    const bool ok = add_all(assembly, context, device, &facts, error);
    clReleaseContext(context);
    for (uint32_t i = 0; ok && !keep_source && i < assembly->bundle.num_programs; i++) {
        assembly->programs[i].pieces = NULL;
        assembly->programs[i].num_pieces = 0;
    }
    return ok;
}
