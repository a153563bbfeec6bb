/* device.c: a device of compute capability 8.0 or 9.0 (WARPS_MAJOR) for the fake driver (../stub),
 * on which each launch is run. It is there before main. */
#include "fibers.h"
#include "program.h"
#include "stub_internal.h"
#include "warp.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With four units and the seven steps of edges.c some work-groups that share tiles begin behind
 * their first step (nv/tiles:each), whatever STREAM is. */
enum { UNITS = 4, LOCAL_BYTES = (WARPS_MAJOR < 9 ? 99 : 227) * 1024, ALIGNMENT = 256 };

/* A launch under way. */
struct launch {
    struct program_kernel kernel;
    const void *arguments[STUB_MAX_ARGS];
    void *memory[STUB_MAX_ARGS];
    cl_mem shadowed[STUB_MAX_ARGS];    /* the buffer that the memory is a copy of, or NULL */
};

static void run_item(const void *user)
{
    const struct launch *launch = user;
    launch->kernel.call(launch->arguments);
}

/* Memory of the application may begin anywhere; the device's own copy of it does not. Of several
 * arguments the first one of a buffer has its copy. */
static void *memory_of(struct launch *launch, unsigned argument, cl_mem buffer)
{
    void *data = buffer ? stub_buffer_data(buffer) : NULL;
    launch->shadowed[argument] = NULL;
    if (!buffer || !buffer->host || (uintptr_t) data % ALIGNMENT == 0)
        return data;
    for (unsigned i = 0; i < argument; i++)
        if (launch->shadowed[i] == buffer)
            return launch->memory[i];
    void *copy = aligned_alloc(ALIGNMENT, (buffer->size / ALIGNMENT + 1) * ALIGNMENT);
    if (!copy) {
        fprintf(stderr, "warps: out of memory\n");
        exit(1);
    }
    launch->shadowed[argument] = buffer;
    return memcpy(copy, data, buffer->size);
}

static void put_back(struct launch *launch)
{
    for (unsigned i = 0; i < launch->kernel.num_arguments; i++)
        if (launch->shadowed[i]) {
            memcpy(launch->shadowed[i]->host, launch->memory[i], launch->shadowed[i]->size);
            free(launch->memory[i]);
        }
}

static void prepare(const struct stub_record *record, struct launch *launch)
{
    launch->kernel = program_find(record->text, record->entry);
    if (record->num_args != launch->kernel.num_arguments) {
        fprintf(stderr, "warps: %s: %u arguments\n", record->entry, record->num_args);
        exit(1);
    }
    for (unsigned i = 0; i < record->num_args; i++) {
        const bool is_memory = launch->kernel.is_memory[i];
        launch->memory[i] = memory_of(launch, i, is_memory ? stub_record_mem(record, i) : NULL);
        launch->arguments[i] = is_memory ? (const void *) &launch->memory[i]
                                         : record->args[i].bytes;
    }
}

static void run_group(const struct launch *launch, const struct warp_grid *grid,
        const unsigned group[WARP_AXES])
{
    warp_begin(grid, group);
    fibers_run(grid->items[0] * grid->items[1] * grid->items[2], run_item, launch);
    warp_end();
}

static void run(void *user, const struct stub_record *record)
{
    struct launch launch;
    (void) user;
    prepare(record, &launch);
    struct warp_grid grid;
    for (unsigned axis = 0; axis < WARP_AXES; axis++) {
        grid.items[axis] = (unsigned) record->local[axis];
        grid.groups[axis] = (unsigned) (record->global[axis] / record->local[axis]);
    }
    for (unsigned z = 0; z < grid.groups[2]; z++)
        for (unsigned y = 0; y < grid.groups[1]; y++)
            for (unsigned x = 0; x < grid.groups[0]; x++)
                run_group(&launch, &grid, (const unsigned[WARP_AXES]){ x, y, z });
    put_back(&launch);
}

__attribute__((constructor)) static void begin(void)
{
    struct stub_facts facts = stub_default_facts();
    facts.platform_name = "NVIDIA CUDA";
    facts.name = "NVIDIA, of fibers";
    facts.type = CL_DEVICE_TYPE_GPU;
    facts.extensions = "cl_khr_fp64 cl_nv_device_attribute_query";
    facts.compute_units = UNITS;
    facts.local_bytes = LOCAL_BYTES;
    facts.max_work_group = facts.max_work_items[0] = facts.max_work_items[1] = FIBERS_MOST;
    facts.nv_major = WARPS_MAJOR;
    facts.nv_minor = 0;
    facts.binary_head = WARPS_MAJOR < 9 ? NULL : "//.target sm_90\n"; /* it passes for PTX */
    stub_reset();
    stub_make_device(&facts);
    stub_copy_rows(true);
    stub_emulate(run, NULL);
}
