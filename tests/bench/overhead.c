/* overhead.c: host time of a warm kiln_sgemm against host time of bare launches.
 *
 * Batches of calls are enqueued behind a user event that is not set until the clock has stopped:
 * the device is idle meanwhile, so no kernel competes with the host for its cores.
 */
#include "overhead.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bundle.h"
#include "internal.h"
#include "stats.h"
#include "timer.h"

enum { OVERHEAD_EXTENT = 64, OVERHEAD_CALLS = 32, OVERHEAD_WARM_UP = 10 };

/* A kernel that does nothing, with one argument, and one with the arguments of a GEMM. */
static const char *const overhead_source =
    "__kernel void trivial(__global float *c) { if (get_global_id(0) == 1u << 30) c[0] = 0; }\n"
    "__kernel void wide(int m, int n, int k, float alpha, float beta,\n"
    "        __global const float *a, int a_offset, int lda,\n"
    "        __global const float *b, int b_offset, int ldb,\n"
    "        __global float *c, int c_offset, int ldc)\n"
    "{ if (get_global_id(0) == 1u << 30) c[0] = 0; }\n";

struct overhead_bench {
    const struct device *device;
    struct operands operands;
    struct kiln_context *context;
    cl_program program;
    cl_kernel trivial, wide;
    unsigned stages;
};

/* ---- Calls and launches ---- */

static bool overhead_call(const struct overhead_bench *bench, const cl_event *gate)
{
    const size_t n = OVERHEAD_EXTENT;
    const struct operands *o = &bench->operands;

    enum kiln_status status;

    status = kiln_sgemm(bench->context, KILN_ROW_MAJOR, KILN_NO_TRANS, KILN_NO_TRANS, n, n, n, 1,
            o->a, 0, n, o->b, 0, n, 0, o->c, 0, n, bench->device->queue, gate != NULL, gate, NULL);
    return status == KILN_SUCCESS;
}

/* As many launches as one call makes. */
static bool overhead_launch(const struct overhead_bench *bench, cl_kernel kernel,
        const cl_event *gate)
{
    const size_t one = 1;

    for (unsigned stage = 0; stage < bench->stages; stage++) {
        if (clEnqueueNDRangeKernel(bench->device->queue, kernel, 1, NULL, &one, &one,
                    stage == 0 && gate != NULL, stage == 0 ? gate : NULL, NULL) != CL_SUCCESS) {
            return false;
        }
    }
    return true;
}

/* Microseconds of host time for each call of a batch; a NULL kernel stands for Kiln. */
static bool overhead_batch(const struct overhead_bench *bench, cl_kernel kernel, double *us)
{
    cl_event gate = clCreateUserEvent(bench->device->context, NULL);
    bool good = gate != NULL;
    double start = timer_now();

    for (int call = 0; good && call < OVERHEAD_CALLS; call++) {
        const cl_event *wait = call == 0 ? &gate : NULL;

        good = kernel == NULL ? overhead_call(bench, wait) : overhead_launch(bench, kernel, wait);
    }
    *us = 1e6 * (timer_now() - start) / OVERHEAD_CALLS;
    if (gate != NULL) {
        clSetUserEventStatus(gate, CL_COMPLETE);
        clReleaseEvent(gate);
    }
    return clFinish(bench->device->queue) == CL_SUCCESS && good;
}

/* ---- Setting up ---- */

/* Sets the wide kernel's arguments; their values do not matter. */
static bool overhead_set_wide(const struct overhead_bench *bench)
{
    const cl_mem buffers[3] = { bench->operands.a, bench->operands.b, bench->operands.c };
    const cl_int integer = 0;
    const cl_float real = 0;
    cl_int status = CL_SUCCESS;

    for (cl_uint i = 0; status == CL_SUCCESS && i < 14; i++) {
        if (i == 5 || i == 8 || i == 11) {
            status = clSetKernelArg(bench->wide, i, sizeof(cl_mem), &buffers[(i - 5) / 3]);
        } else if (i == 3 || i == 4) {
            status = clSetKernelArg(bench->wide, i, sizeof(real), &real);
        } else {
            status = clSetKernelArg(bench->wide, i, sizeof(integer), &integer);
        }
    }
    return status == CL_SUCCESS;
}

static bool overhead_build(struct overhead_bench *bench)
{
    const char *source = overhead_source;
    const struct device *device = bench->device;

    bench->program = clCreateProgramWithSource(device->context, 1, &source, NULL, NULL);
    if (bench->program == NULL ||
            clBuildProgram(bench->program, 1, &device->id, NULL, NULL, NULL) != CL_SUCCESS) {
        return false;
    }
    bench->trivial = clCreateKernel(bench->program, "trivial", NULL);
    bench->wide = clCreateKernel(bench->program, "wide", NULL);
    return bench->trivial != NULL && bench->wide != NULL &&
           clSetKernelArg(bench->trivial, 0, sizeof(cl_mem), &bench->operands.c) == CL_SUCCESS &&
           overhead_set_wide(bench);
}

/* Learns how many launches a call makes. */
static bool overhead_count_stages(struct overhead_bench *bench)
{
    const size_t n = OVERHEAD_EXTENT;
    const struct kiln_gemm gemm = {
        .m = n,
        .n = n,
        .k = n,
        .alpha = 1,
        .a = bench->operands.a,
        .b = bench->operands.b,
        .c = bench->operands.c,
    };
    cl_event events[KILN_MAX_STAGES];
    cl_command_queue queue;

    queue = clCreateCommandQueue(bench->device->context, bench->device->id,
            CL_QUEUE_PROFILING_ENABLE, NULL);
    if (queue == NULL) {
        return false;
    }
    bench->stages = 0;
    if (kiln_gemm_enqueue_profiled(bench->context, &gemm, queue, events, &bench->stages) ==
            KILN_SUCCESS) {
        clFinish(queue);
    }
    for (unsigned i = 0; i < bench->stages; i++) {
        clReleaseEvent(events[i]);
    }
    clReleaseCommandQueue(queue);
    return bench->stages > 0;
}

static bool overhead_open(struct overhead_bench *bench)
{
    const struct bench_shape shape = { OVERHEAD_EXTENT, OVERHEAD_EXTENT, OVERHEAD_EXTENT };
    struct problem problem;
    bool good;

    if (!problem_create(&problem, KILN_SINGLE, false, false, &shape)) {
        return false;
    }
    good = operands_create(&bench->operands, bench->device, &problem) &&
           kiln_context_create(bench->device->context, bench->device->id, NULL, &bench->context) ==
                   KILN_SUCCESS &&
           overhead_build(bench) && overhead_count_stages(bench);
    problem_destroy(&problem);
    return good;
}

static void overhead_close(struct overhead_bench *bench)
{
    if (bench->trivial != NULL) {
        clReleaseKernel(bench->trivial);
    }
    if (bench->wide != NULL) {
        clReleaseKernel(bench->wide);
    }
    if (bench->program != NULL) {
        clReleaseProgram(bench->program);
    }
    kiln_context_destroy(&bench->context);
    operands_destroy(&bench->operands);
}

/* ---- Measuring ---- */

static bool overhead_run(const struct overhead_bench *bench, struct overhead *overhead)
{
    const cl_kernel kernels[OVERHEAD_SERIES] = { NULL, bench->trivial, bench->wide };
    double stages = bench->stages;

    *overhead = (struct overhead){ .stages = bench->stages, .calls = OVERHEAD_CALLS };
    for (int batch = -OVERHEAD_WARM_UP; batch < OVERHEAD_BATCHES; batch++) {
        for (int i = 0; i < OVERHEAD_SERIES; i++) {
            double *sample = &overhead->samples[i][batch < 0 ? 0 : batch];

            if (!overhead_batch(bench, kernels[i], sample)) {
                return false;
            }
        }
    }
    overhead->call_us = stats_median(overhead->samples[0], OVERHEAD_BATCHES);
    overhead->launch_us = stats_median(overhead->samples[1], OVERHEAD_BATCHES) / stages;
    overhead->launch_wide_us = stats_median(overhead->samples[2], OVERHEAD_BATCHES) / stages;
    overhead->beyond_us = overhead->call_us / stages - overhead->launch_us;
    overhead->beyond_wide_us = overhead->call_us / stages - overhead->launch_wide_us;
    return true;
}

bool overhead_measure(const struct device *device, struct overhead *overhead)
{
    struct overhead_bench bench = { .device = device };
    bool good = overhead_open(&bench) && overhead_run(&bench, overhead);

    if (!good) {
        fprintf(stderr, "kiln-bench: the host's overhead cannot be measured on this device\n");
    }
    overhead_close(&bench);
    return good;
}

void overhead_report(const struct overhead *overhead)
{
    printf("\nhost time of a warm kiln_sgemm, %dx%dx%d, medians of %d batches of %zu calls\n\n",
            OVERHEAD_EXTENT, OVERHEAD_EXTENT, OVERHEAD_EXTENT, OVERHEAD_BATCHES, overhead->calls);
    printf("  launches (stages) of a call              %8u\n", overhead->stages);
    printf("  one call                                 %8.2f us\n", overhead->call_us);
    printf("  one clEnqueueNDRangeKernel, 1 argument   %8.2f us\n", overhead->launch_us);
    printf("  one clEnqueueNDRangeKernel, 14 arguments %8.2f us\n", overhead->launch_wide_us);
    printf("  beyond the launch, per stage             %8.2f us\n", overhead->beyond_us);
    printf("  beyond the launch of 14 arguments        %8.2f us\n", overhead->beyond_wide_us);
}
