/* buffer.c: what the driver knows of a buffer. */
#include "internal.h"

enum kiln_status kiln_buffer_query(cl_mem buffer, enum kiln_status invalid,
        struct kiln_buffer_facts *facts)
{
    cl_mem_object_type type = 0;
    size_t origin = 0;
    if (buffer == NULL) {
        return invalid;
    }
    cl_int error = clGetMemObjectInfo(buffer, CL_MEM_TYPE, sizeof type, &type, NULL);
    if (error == CL_SUCCESS && type != CL_MEM_OBJECT_BUFFER) {
        error = CL_INVALID_MEM_OBJECT;
    }
    if (error == CL_SUCCESS) {
        error = clGetMemObjectInfo(buffer, CL_MEM_CONTEXT, sizeof facts->owner, &facts->owner,
                NULL);
    }
    if (error == CL_SUCCESS) {
        error = clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof facts->bytes, &facts->bytes, NULL);
    }
    /* NVIDIA's driver makes sub-buffers that begin at any byte; a queue that uses one breaks
     * down. */
    if (error == CL_SUCCESS) {
        error = clGetMemObjectInfo(buffer, CL_MEM_OFFSET, sizeof origin, &origin, NULL);
    }
    if (error == CL_SUCCESS && origin % KILN_ORIGIN_ALIGN != 0) {
        error = CL_INVALID_MEM_OBJECT;
    }
    return kiln_conclude(error, invalid);
}
