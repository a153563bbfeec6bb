/* launcher.c: see launcher.h. */
#include "launcher.h"
#include "clock.h"

#include <stdio.h>

bool launcher_open(struct launcher *launcher, cl_device_id device,
        char error[LAUNCHER_MESSAGE_BYTES])
{
    cl_int code = CL_SUCCESS;
    cl_bool compiles = CL_TRUE;
    *launcher = (struct launcher){ .device = device };
    if (clGetDeviceInfo(device, CL_DEVICE_COMPILER_AVAILABLE, sizeof compiles, &compiles, NULL) ==
                    CL_SUCCESS &&
            !compiles) {
        snprintf(error, LAUNCHER_MESSAGE_BYTES,
                "the device has no compiler (CL_DEVICE_COMPILER_AVAILABLE): tune with a driver "
                "that has one");
        return false;
    }
    launcher->context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    if (launcher->context)
        launcher->queue = clCreateCommandQueue(launcher->context, device, CL_QUEUE_PROFILING_ENABLE,
                &code);
    if (launcher->queue)
        return true;
    snprintf(error, LAUNCHER_MESSAGE_BYTES, "the device gives no %s: %s",
            launcher->context ? "queue" : "context", kiln_status_string((enum kiln_status) code));
    launcher_close(launcher);
    return false;
}

void launcher_close(struct launcher *launcher)
{
    if (launcher->workspace)
        clReleaseMemObject(launcher->workspace);
    if (launcher->queue)
        clReleaseCommandQueue(launcher->queue);
    if (launcher->context)
        clReleaseContext(launcher->context);
    *launcher = (struct launcher){ .device = NULL };
}

enum { CANARY_ITEMS = 256 };

static cl_int canary_run(struct launcher *launcher, cl_kernel kernel, cl_mem buffer,
        cl_uint *answers)
{
    const size_t items = CANARY_ITEMS;
    cl_int error = clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
    if (error == CL_SUCCESS)
        error = clEnqueueNDRangeKernel(launcher->queue, kernel, 1, NULL, &items, NULL, 0, NULL,
                NULL);
    if (error == CL_SUCCESS)
        error = clEnqueueReadBuffer(launcher->queue, buffer, CL_TRUE, 0,
                CANARY_ITEMS * sizeof *answers, answers, 0, NULL, NULL);
    return error;
}

struct kiln_gemm launcher_gemm(const struct problem *problem, struct shape shape)
{
    return (struct kiln_gemm){
        .precision = kiln_precision_of_call(problem->precision->id),
        .arithmetic = kiln_arithmetic_of_call(problem->precision->id),
        .layout = KILN_ROW_MAJOR,
        .transa = problem->transa ? KILN_TRANS : KILN_NO_TRANS,
        .transb = problem->transb ? KILN_TRANS : KILN_NO_TRANS,
        .m = shape.m,
        .n = shape.n,
        .k = shape.k,
        .batch_count = shape.batch,
        .a_stride = shape.m * shape.k,
        .b_stride = shape.k * shape.n,
        .c_stride = shape.m * shape.n,
        .alpha = 1,
    };
}

bool launcher_canary(struct launcher *launcher, char error[LAUNCHER_MESSAGE_BYTES])
{
    const char *text = "__kernel void canary(__global uint *out)\n"
                       "{\n"
                       "    const uint i = get_global_id(0);\n"
                       "    out[i] = i * i + 3 * i + 7;\n"
                       "}\n";
    cl_uint answers[CANARY_ITEMS] = { 0 };
    cl_int code = CL_SUCCESS;
    cl_kernel kernel = NULL;
    cl_mem buffer = clCreateBuffer(launcher->context, CL_MEM_READ_WRITE, sizeof answers, NULL,
            &code);
    cl_program program = clCreateProgramWithSource(launcher->context, 1, &text, NULL, &code);
    if (program &&
            (code = clBuildProgram(program, 1, &launcher->device, NULL, NULL, NULL)) == CL_SUCCESS)
        kernel = clCreateKernel(program, "canary", &code);
    if (kernel && buffer)
        code = canary_run(launcher, kernel, buffer, answers);
    bool right = kernel && buffer && code == CL_SUCCESS;
    snprintf(error, LAUNCHER_MESSAGE_BYTES, "%s",
            right ? "" : kiln_status_string((enum kiln_status) code));
    for (cl_uint i = 0; right && i < CANARY_ITEMS; i++)
        if (answers[i] != i * i + 3 * i + 7) {
            snprintf(error, LAUNCHER_MESSAGE_BYTES, "the canary kernel computed a wrong answer");
            right = false;
        }
    if (kernel)
        clReleaseKernel(kernel);
    if (program)
        clReleaseProgram(program);
    if (buffer)
        clReleaseMemObject(buffer);
    return right;
}

static enum kiln_status reserve(struct launcher *launcher, size_t bytes)
{
    cl_int error = CL_SUCCESS;
    if (bytes <= launcher->workspace_bytes)
        return KILN_SUCCESS;
    if (launcher->workspace)
        clReleaseMemObject(launcher->workspace);
    launcher->workspace_bytes = 0;
    launcher->workspace = clCreateBuffer(launcher->context, CL_MEM_READ_WRITE, bytes, NULL, &error);
    if (launcher->workspace)
        launcher->workspace_bytes = bytes;
    return (enum kiln_status) error;
}

enum kiln_status launcher_prepare(struct launcher *launcher, struct kiln_context *context,
        struct kiln_gemm *gemm)
{
    size_t bytes = 0;
    gemm->workspace = NULL;
    if (launcher->is_plain)
        return KILN_SUCCESS;
    enum kiln_status status = kiln_gemm_workspace_bytes(context, gemm, &bytes);
    if (status == KILN_SUCCESS && bytes) {
        status = reserve(launcher, bytes);
        gemm->workspace = launcher->workspace;
    }
    return status;
}

static enum kiln_status pack_one(struct launcher *launcher, struct kiln_context *context,
        const struct kiln_gemm *gemm, int i, struct launcher_packs *packs)
{
    const enum kiln_pack_operand operand = i ? KILN_PACK_B : KILN_PACK_A;
    size_t bytes = 0;
    cl_int error = CL_SUCCESS;
    enum kiln_status status = kiln_pack_bytes(context, gemm, operand, &bytes);
    if (status == KILN_SUCCESS && bytes) {
        packs->buffer[i] = clCreateBuffer(launcher->context, CL_MEM_READ_WRITE, bytes, NULL,
                &error);
        status = (enum kiln_status) error;
    }
    return status != KILN_SUCCESS ? status
                                  : kiln_pack_enqueue(context, gemm, operand, packs->buffer[i], 0,
                                            launcher->queue, 0, NULL, NULL, &packs->pack[i]);
}

enum kiln_status launcher_pack(struct launcher *launcher, struct kiln_context *context,
        struct kiln_gemm *gemm, unsigned which, struct launcher_packs *packs)
{
    enum kiln_status status = KILN_SUCCESS;
    *packs = (struct launcher_packs){ .buffer = { NULL, NULL } };
    for (int i = 0; i < 2 && status == KILN_SUCCESS; i++) {
        if (!(which >> i & 1))
            continue;
        status = pack_one(launcher, context, gemm, i, packs);
        *(i ? &gemm->packed_b : &gemm->packed_a) = &packs->pack[i];
    }
    return status;
}

void launcher_packs_free(struct launcher_packs *packs)
{
    for (int i = 0; i < 2; i++)
        if (packs->buffer[i])
            clReleaseMemObject(packs->buffer[i]);
}

/* From the start of the first event to the end of the last; 0 when the driver does not tell. */
static double span_of(const cl_event *events, unsigned num)
{
    cl_ulong start = 0, end = 0;
    if (!num || clGetEventProfilingInfo(events[0], CL_PROFILING_COMMAND_START, sizeof start, &start,
                        NULL) != CL_SUCCESS)
        return 0;
    if (clGetEventProfilingInfo(events[num - 1], CL_PROFILING_COMMAND_END, sizeof end, &end,
                NULL) != CL_SUCCESS)
        return 0;
    return ((double) end - (double) start) * 1e-9;
}

/* Enqueues by the public call, whose event stands for all stages. */
static enum kiln_status enqueue_plain(struct launcher *launcher, struct kiln_context *context,
        const struct kiln_gemm *gemm, cl_event *event, unsigned *num)
{
    const enum kiln_status status = kiln_gemm_enqueue(context, gemm, launcher->queue, 0, NULL,
            event);
    *num = status == KILN_SUCCESS;
    return status;
}

enum kiln_status launcher_run(struct launcher *launcher, struct kiln_context *context,
        const struct kiln_gemm *gemm, double *seconds)
{
    cl_event stages[KILN_MAX_STAGES];
    unsigned num = 0;
    const double before = clock_now();
    enum kiln_status status = launcher->is_plain
                                    ? enqueue_plain(launcher, context, gemm, stages, &num)
                                    : kiln_gemm_enqueue_profiled(context, gemm, launcher->queue,
                                              stages, &num);
    const cl_int finished = clFinish(launcher->queue);
    if (status == KILN_SUCCESS)
        status = (enum kiln_status) finished;
    *seconds = launcher->by_wall && num ? clock_now() - before : span_of(stages, num);
    for (unsigned i = 0; i < num; i++) {
        cl_int state = CL_COMPLETE;
        clGetEventInfo(stages[i], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
        if (status == KILN_SUCCESS && state < 0)
            status = (enum kiln_status) state;
        clReleaseEvent(stages[i]);
    }
    return status;
}
