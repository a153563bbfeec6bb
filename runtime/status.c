/* status.c: every status in words. */
#include "internal.h"

static const char *const kiln_status_strings[] = {
    [KILN_SUCCESS] = "success",
    [KILN_INVALID_ARGUMENT] = "a required pointer is NULL",
    [KILN_INVALID_CONTEXT] = "invalid OpenCL context",
    [KILN_INVALID_DEVICE] = "invalid device, or not a device of the context",
    [KILN_INVALID_QUEUE] = "invalid command queue",
    [KILN_QUEUE_CONTEXT_MISMATCH] = "the queue belongs to another OpenCL context",
    [KILN_QUEUE_DEVICE_MISMATCH] = "the queue belongs to another device",
    [KILN_INVALID_WAIT_LIST] = "invalid event wait list",
    [KILN_INVALID_PRECISION] = "invalid precision",
    [KILN_INVALID_LAYOUT] = "invalid layout",
    [KILN_INVALID_TRANSPOSE_A] = "invalid transpose of A",
    [KILN_INVALID_TRANSPOSE_B] = "invalid transpose of B",
    [KILN_INVALID_LDA] = "the leading dimension of A is too short",
    [KILN_INVALID_LDB] = "the leading dimension of B is too short",
    [KILN_INVALID_LDC] = "the leading dimension of C is too short",
    [KILN_INVALID_BUFFER_A] = "invalid buffer A",
    [KILN_INVALID_BUFFER_B] = "invalid buffer B",
    [KILN_INVALID_BUFFER_C] = "invalid buffer C",
    [KILN_BUFFER_CONTEXT_MISMATCH] = "a buffer belongs to another OpenCL context",
    [KILN_OFFSET_A_PAST_END] = "the offset of A is past the end of its buffer",
    [KILN_OFFSET_B_PAST_END] = "the offset of B is past the end of its buffer",
    [KILN_OFFSET_C_PAST_END] = "the offset of C is past the end of its buffer",
    [KILN_BUFFER_A_TOO_SMALL] = "buffer A is too small",
    [KILN_BUFFER_B_TOO_SMALL] = "buffer B is too small",
    [KILN_BUFFER_C_TOO_SMALL] = "buffer C is too small",
    [KILN_SIZE_OVERFLOW] = "the size of a matrix overflows",
    [KILN_INVALID_BATCH_STRIDE] = "the members of a batch overlap in C",
    [KILN_INVALID_WORKSPACE] = "invalid workspace buffer or offset",
    [KILN_WORKSPACE_TOO_SMALL] = "the workspace is too small",
    [KILN_NO_DOUBLE] = "the device has no double precision",
    [KILN_NO_KERNEL] = "no kernel runs on the device",
    [KILN_INVALID_BUNDLE] = "invalid bundle",
    [KILN_SELF_TEST_FAILED] = "the self-test found a wrong result",
    [KILN_OUT_OF_MEMORY] = "out of host memory",
    [KILN_TEXT_TOO_SMALL] = "the text buffer is too small",
};

_Static_assert(sizeof kiln_status_strings / sizeof *kiln_status_strings == KILN_NUM_STATUSES,
        "every status needs a string");

/* The codes of OpenCL 1.2, by their negated value; NULL in the gaps. */
static const char *const kiln_opencl_strings[] = {
    [1] = "CL_DEVICE_NOT_FOUND",
    [2] = "CL_DEVICE_NOT_AVAILABLE",
    [3] = "CL_COMPILER_NOT_AVAILABLE",
    [4] = "CL_MEM_OBJECT_ALLOCATION_FAILURE",
    [5] = "CL_OUT_OF_RESOURCES",
    [6] = "CL_OUT_OF_HOST_MEMORY",
    [7] = "CL_PROFILING_INFO_NOT_AVAILABLE",
    [8] = "CL_MEM_COPY_OVERLAP",
    [9] = "CL_IMAGE_FORMAT_MISMATCH",
    [10] = "CL_IMAGE_FORMAT_NOT_SUPPORTED",
    [11] = "CL_BUILD_PROGRAM_FAILURE",
    [12] = "CL_MAP_FAILURE",
    [13] = "CL_MISALIGNED_SUB_BUFFER_OFFSET",
    [14] = "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
    [15] = "CL_COMPILE_PROGRAM_FAILURE",
    [16] = "CL_LINKER_NOT_AVAILABLE",
    [17] = "CL_LINK_PROGRAM_FAILURE",
    [18] = "CL_DEVICE_PARTITION_FAILED",
    [19] = "CL_KERNEL_ARG_INFO_NOT_AVAILABLE",
    [30] = "CL_INVALID_VALUE",
    [31] = "CL_INVALID_DEVICE_TYPE",
    [32] = "CL_INVALID_PLATFORM",
    [33] = "CL_INVALID_DEVICE",
    [34] = "CL_INVALID_CONTEXT",
    [35] = "CL_INVALID_QUEUE_PROPERTIES",
    [36] = "CL_INVALID_COMMAND_QUEUE",
    [37] = "CL_INVALID_HOST_PTR",
    [38] = "CL_INVALID_MEM_OBJECT",
    [39] = "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR",
    [40] = "CL_INVALID_IMAGE_SIZE",
    [41] = "CL_INVALID_SAMPLER",
    [42] = "CL_INVALID_BINARY",
    [43] = "CL_INVALID_BUILD_OPTIONS",
    [44] = "CL_INVALID_PROGRAM",
    [45] = "CL_INVALID_PROGRAM_EXECUTABLE",
    [46] = "CL_INVALID_KERNEL_NAME",
    [47] = "CL_INVALID_KERNEL_DEFINITION",
    [48] = "CL_INVALID_KERNEL",
    [49] = "CL_INVALID_ARG_INDEX",
    [50] = "CL_INVALID_ARG_VALUE",
    [51] = "CL_INVALID_ARG_SIZE",
    [52] = "CL_INVALID_KERNEL_ARGS",
    [53] = "CL_INVALID_WORK_DIMENSION",
    [54] = "CL_INVALID_WORK_GROUP_SIZE",
    [55] = "CL_INVALID_WORK_ITEM_SIZE",
    [56] = "CL_INVALID_GLOBAL_OFFSET",
    [57] = "CL_INVALID_EVENT_WAIT_LIST",
    [58] = "CL_INVALID_EVENT",
    [59] = "CL_INVALID_OPERATION",
    [60] = "CL_INVALID_GL_OBJECT",
    [61] = "CL_INVALID_BUFFER_SIZE",
    [62] = "CL_INVALID_MIP_LEVEL",
    [63] = "CL_INVALID_GLOBAL_WORK_SIZE",
    [64] = "CL_INVALID_PROPERTY",
    [65] = "CL_INVALID_IMAGE_DESCRIPTOR",
    [66] = "CL_INVALID_COMPILER_OPTIONS",
    [67] = "CL_INVALID_LINKER_OPTIONS",
    [68] = "CL_INVALID_DEVICE_PARTITION_COUNT",
};

const char *kiln_status_string(enum kiln_status status)
{
    const int num_opencl = (int)(sizeof kiln_opencl_strings / sizeof *kiln_opencl_strings);
    int code = (int)status;
    if (code >= 0 && code < KILN_NUM_STATUSES) {
        return kiln_status_strings[code];
    }
    if (code < 0 && code > -num_opencl && kiln_opencl_strings[-code] != NULL) {
        return kiln_opencl_strings[-code];
    }
    return code < 0 ? "unknown OpenCL error" : "unknown status";
}
