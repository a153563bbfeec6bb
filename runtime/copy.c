/* copy.c: copies a matrix into a pack, for recipes that take the operand as it is. */
#include "launch.h"

/* A place in memory, by the buffer that was made of it. */
struct place {
    cl_mem buffer;
    size_t bytes;
};

/* PoCL 3.1 crashes when rows are copied from or to a sub-buffer, so its parent is used. */
static cl_int find_place(cl_mem buffer, size_t bytes, struct place *place)
{
    cl_mem parent = NULL;
    size_t offset = 0;
    cl_int error = clGetMemObjectInfo(buffer, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent,
            NULL);
    if (error == CL_SUCCESS && parent != NULL) {
        error = clGetMemObjectInfo(buffer, CL_MEM_OFFSET, sizeof offset, &offset, NULL);
    }
    place->buffer = parent != NULL ? parent : buffer;
    place->bytes = bytes + offset;
    return error;
}

/* Rows to be copied: their bytes, and the bytes from one to the next at either end. One row has no
 * distance to the next. */
struct rows {
    size_t num, bytes;
    size_t from_pitch, to_pitch;
};

/* Copies so many bytes in a row. */
static cl_int copy_bytes(struct launch *launch, const struct place *from, const struct place *to,
        size_t bytes)
{
    const struct kiln_request *request = launch->request;
    cl_event event = NULL;
    struct kiln_waits waits;
    cl_int error = kiln_command_begin(launch, &waits);
    if (error != CL_SUCCESS) {
        return error;
    }
    error = clEnqueueCopyBuffer(request->queue, from->buffer, to->buffer, from->bytes, to->bytes,
            bytes, waits.num, waits.events, kiln_command_wants_event(launch, true) ? &event : NULL);
    return kiln_command_end(launch, &waits, error, event);
}

/* Copies rows from one buffer to another. The origin of the source is given in rows and a rest,
 * which is what drivers expect of a part of a matrix. */
static cl_int copy_rows(struct launch *launch, const struct place *from, const struct place *to,
        const struct rows *rows)
{
    const struct kiln_request *request = launch->request;
    const size_t origin[3] = { from->bytes % rows->from_pitch, from->bytes / rows->from_pitch, 0 };
    const size_t target[3] = { to->bytes, 0, 0 };
    const size_t region[3] = { rows->bytes, rows->num, 1 };
    cl_event event = NULL;
    struct kiln_waits waits;
    cl_int error = kiln_command_begin(launch, &waits);
    if (error != CL_SUCCESS) {
        return error;
    }
    error = clEnqueueCopyBufferRect(request->queue, from->buffer, to->buffer, origin, target,
            region, rows->from_pitch, 0, rows->to_pitch, 0, waits.num, waits.events,
            kiln_command_wants_event(launch, true) ? &event : NULL);
    return kiln_command_end(launch, &waits, error, event);
}

/* OpenCL copies rows within one buffer only if they are equally far apart in both places. So they
 * go through the queue's workspace, where they are laid out as they will be in the end. */
static enum kiln_status copy_within(struct launch *launch, const struct place *from,
        const struct place *to, const struct rows *rows)
{
    struct place between = { NULL, 0 };
    size_t bytes = (rows->num - 1) * rows->to_pitch + rows->bytes;
    enum kiln_status status = kiln_claim_own(launch, bytes, &between.buffer);
    if (status == KILN_SUCCESS) {
        status = (enum kiln_status) copy_rows(launch, from, &between, rows);
    }
    if (status == KILN_SUCCESS) {
        status = (enum kiln_status) copy_bytes(launch, &between, to, bytes);
    }
    if (status != KILN_SUCCESS) {
        kiln_claim_give_up(launch, status);
    }
    return status;
}

static enum kiln_status copy_matrix(struct launch *launch, const struct place *from,
        const struct place *to, const struct rows *rows)
{
    bool is_dense = rows->from_pitch == rows->bytes && rows->to_pitch == rows->bytes;
    if (rows->num == 1 || is_dense) {
        return (enum kiln_status) copy_bytes(launch, from, to, rows->num * rows->bytes);
    }
    if (from->buffer == to->buffer) {
        return copy_within(launch, from, to, rows);
    }
    return (enum kiln_status) copy_rows(launch, from, to, rows);
}

enum kiln_status kiln_copy_operand(struct launch *launch, const struct kiln_pack_layout *layout)
{
    const struct kiln_problem *problem = launch->problem;
    unsigned prepared = launch->request->prepared;
    const struct kiln_matrix *matrix = kiln_operand(&problem->product, prepared);
    size_t bytes = problem->product.element_bytes;
    const struct rows rows = {
        .num = matrix->rows,
        .bytes = matrix->row_length * bytes,
        .from_pitch = matrix->ld * bytes,
        .to_pitch = layout->ld * bytes,
    };
    struct place from, to;
    cl_int error = find_place(prepared == KILN_PREPARED_A ? problem->a : problem->b,
            matrix->offset * bytes, &from);
    if (error == CL_SUCCESS) {
        error = find_place(problem->packs[prepared], layout->start * bytes, &to);
    }
    return error == CL_SUCCESS ? copy_matrix(launch, &from, &to, &rows) : (enum kiln_status) error;
}
