/* errors.c: errors of all elements of C. The reference is computed on the device in double
 * precision by Kiln, and so is sum |a||b|, which errors are measured by. */
#include "errors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/files.h"
#include "data.h"
#include "element.h"

static const char *const errors_source =
    "__kernel void chain(__global const float *A, __global const float *B, __global float *C,\n"
    "        ulong k, ulong ai, ulong ap, ulong bp, ulong bj, ulong n)\n"
    "{ const ulong i = get_global_id(1), j = get_global_id(0); float c = 0;\n"
    "  for (ulong p = 0; p < k; p++) c = fma(A[i * ai + p * ap], B[p * bp + j * bj], c);\n"
    "  C[i * n + j] = c; }\n"
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    "__kernel void widen(__global const float *x, __global double *y, int is_absolute)\n"
    "{ const size_t i = get_global_id(0); y[i] = is_absolute ? fabs(x[i]) : x[i]; }\n";

struct errors_bench {
    const struct device *device;
    struct kiln_context *kiln;
    cl_program program;
    cl_kernel chain, widen;
    double *exact, *sums;              /* m x n */
    double *a_most, *b_most;           /* of the rows of op(A) and the columns of op(B) */
    float *c, *chained;
};

static bool errors_open(struct errors_bench *bench, const struct device *device)
{
    cl_int error[2] = { CL_SUCCESS, CL_SUCCESS };
    const char *source = errors_source;

    *bench = (struct errors_bench){ .device = device };
    if (!device->has_double) {
        fprintf(stderr, "kiln-bench: --errors needs a device with double precision\n");
        return false;
    }
    bench->program = clCreateProgramWithSource(device->context, 1, &source, NULL, &error[0]);
    if (error[0] != CL_SUCCESS ||
            clBuildProgram(bench->program, 1, &device->id, "", NULL, NULL) != CL_SUCCESS) {
        fprintf(stderr, "kiln-bench: --errors: its kernels do not build\n");
        return false;
    }
    bench->chain = clCreateKernel(bench->program, "chain", &error[0]);
    bench->widen = clCreateKernel(bench->program, "widen", &error[1]);
    return error[0] == CL_SUCCESS && error[1] == CL_SUCCESS &&
           kiln_context_create(device->context, device->id, NULL, &bench->kiln) == KILN_SUCCESS;
}

static void errors_close(struct errors_bench *bench)
{
    kiln_context_destroy(&bench->kiln);
    if (bench->chain != NULL) {
        clReleaseKernel(bench->chain);
    }
    if (bench->widen != NULL) {
        clReleaseKernel(bench->widen);
    }
    if (bench->program != NULL) {
        clReleaseProgram(bench->program);
    }
}

/* ---- The reference ---- */

/* A new buffer with the elements of another in double precision; NULL when it cannot be. */
static cl_mem errors_widened(const struct errors_bench *bench, cl_mem narrow, size_t count,
        cl_int is_absolute)
{
    cl_int error = CL_SUCCESS;
    cl_mem wide = clCreateBuffer(bench->device->context, CL_MEM_READ_WRITE, count * sizeof(double),
            NULL, &error);

    if (error != CL_SUCCESS) {
        return NULL;
    }
    clSetKernelArg(bench->widen, 0, sizeof(narrow), &narrow);
    clSetKernelArg(bench->widen, 1, sizeof(wide), &wide);
    clSetKernelArg(bench->widen, 2, sizeof(is_absolute), &is_absolute);
    if (clEnqueueNDRangeKernel(bench->device->queue, bench->widen, 1, NULL, &count, NULL, 0, NULL,
                NULL) != CL_SUCCESS) {
        clReleaseMemObject(wide);
        return NULL;
    }
    return wide;
}

/* op(A) op(B), or the sums of |a||b|, in double precision. */
static bool errors_multiply(const struct errors_bench *bench, const struct problem *problem,
        const struct operands *operands, bool is_absolute, double *result)
{
    const size_t bytes = problem->m * problem->n * sizeof(double);
    cl_mem a = errors_widened(bench, operands->a, problem->m * problem->k, is_absolute);
    cl_mem b = errors_widened(bench, operands->b, problem->k * problem->n, is_absolute);
    cl_mem c = clCreateBuffer(bench->device->context, CL_MEM_READ_WRITE, bytes, NULL, NULL);
    const struct kiln_gemm gemm = {
        .precision = KILN_DOUBLE,
        .transa = problem->transa ? KILN_TRANS : KILN_NO_TRANS,
        .transb = problem->transb ? KILN_TRANS : KILN_NO_TRANS,
        .m = problem->m,
        .n = problem->n,
        .k = problem->k,
        .alpha = 1,
        .a = a,
        .b = b,
        .c = c,
    };
    const bool good = a != NULL && b != NULL && c != NULL &&
                      kiln_gemm_enqueue(bench->kiln, &gemm, bench->device->queue, 0, NULL, NULL) ==
                              KILN_SUCCESS &&
                      clEnqueueReadBuffer(bench->device->queue, c, CL_TRUE, 0, bytes, result, 0,
                              NULL, NULL) == CL_SUCCESS;

    for (size_t i = 0; i < 3; i++) {
        const cl_mem buffer = i == 0 ? a : i == 1 ? b : c;

        if (buffer != NULL) {
            clReleaseMemObject(buffer);
        }
    }
    return good;
}

static bool errors_chain(const struct errors_bench *bench, const struct problem *problem,
        const struct operands *operands)
{
    const cl_mem buffers[] = { operands->a, operands->b, operands->c };
    const size_t items[] = { problem->n, problem->m };
    const cl_ulong numbers[] = {
        problem->k,
        problem->transa ? 1 : problem->lda,
        problem->transa ? problem->lda : 1,
        problem->transb ? 1 : problem->ldb,
        problem->transb ? problem->ldb : 1,
        problem->n,
    };

    for (cl_uint i = 0; i < 3; i++) {
        clSetKernelArg(bench->chain, i, sizeof(buffers[i]), &buffers[i]);
    }
    for (cl_uint i = 0; i < 6; i++) {
        clSetKernelArg(bench->chain, 3 + i, sizeof(numbers[i]), &numbers[i]);
    }
    return clEnqueueNDRangeKernel(bench->device->queue, bench->chain, 2, NULL, items, NULL, 0, NULL,
                   NULL) == CL_SUCCESS &&
           operands_read(operands, bench->device, problem, bench->chained);
}

/* ---- Errors ---- */

static int errors_class(double x)
{
    return isnan(x) ? 0 : isinf(x) ? (x > 0 ? 1 : 2) : 3;
}

/* Elements that are infinite or no number count by their class alone, which is the chain's. */
static struct errors errors_of(const struct errors_bench *bench, const struct problem *problem,
        const float *c)
{
    const size_t count = problem->m * problem->n;
    struct errors errors = { 0 };
    size_t finite = 0;

    for (size_t i = 0; i < count; i++) {
        const double unit = ldexp(bench->sums[i], -24), k = (double) problem->k;
        const double difference = fabs((double) c[i] - bench->exact[i]);
        const double bound =
                (192 + k / 16) * unit +
                ldexp(k * bench->a_most[i / problem->n] * bench->b_most[i % problem->n], -48);

        if (errors_class(c[i]) != errors_class(bench->chained[i])) {
            errors.wrong++;
        } else if (errors_class(c[i]) == 3 && difference > 0) {
            errors.most = fmax(errors.most, difference / unit);
            errors.mean += difference / unit;
            errors.beyond += difference > bound;
        }
        finite += errors_class(bench->chained[i]) == 3;
    }
    errors.mean /= finite > 0 ? (double) finite : 1;
    return errors;
}

static void errors_print(const char *title, const struct errors *errors)
{
    printf("  %-20s %9.3g %9.3g", title, errors->most, errors->mean);
    if (errors->wrong > 0) {
        printf("   %zu of another class", errors->wrong);
    }
    printf("\n");
}

static bool errors_of_kind(const struct errors_bench *bench, const struct problem *problem,
        const struct operands *operands, struct peer *peers, size_t num_peers,
        struct errors_row *row)
{
    bool good = errors_multiply(bench, problem, operands, false, bench->exact) &&
                errors_multiply(bench, problem, operands, true, bench->sums) &&
                errors_chain(bench, problem, operands);

    if (!good) {
        fprintf(stderr, "kiln-bench: --errors: the reference cannot be computed\n");
        return false;
    }
    row->chain = errors_of(bench, problem, bench->chained);
    errors_print("chain", &row->chain);
    for (size_t i = 0; i < num_peers; i++) {
        if (peers[i].class->prepare(&peers[i], problem, operands) != PEER_OK ||
                peers[i].class->result(&peers[i], bench->c) != PEER_OK) {
            printf("  %-20s refused\n", peers[i].key);
            continue;
        }
        const struct errors of = errors_of(bench, problem, bench->c);
        const bool is_beyond = of.beyond > 0 && of.most > row->chain.most;

        row->has[i] = true;
        row->peers[i] = of;
        errors_print(peers[i].key, &of);
        if (strncmp(peers[i].key, "kiln", 4) == 0 && (of.wrong > 0 || is_beyond)) {
            fprintf(stderr, "kiln-bench: %s: %zu elements beyond the bound, %zu of another class\n",
                    peers[i].key, of.beyond, of.wrong);
            good = false;
        }
    }
    files_flush_output();
    return good;
}

static bool errors_of_shape(struct errors_bench *bench, const struct bench_shape *shape,
        bool transa, bool transb, struct peer *peers, size_t num_peers, struct errors_table *table)
{
    const size_t count = shape->m * shape->n;
    struct problem problem;
    bool good = problem_create(&problem, KILN_SINGLE, transa, transb, shape);

    bench->exact = malloc(count * sizeof(double));
    bench->sums = malloc(count * sizeof(double));
    bench->a_most = malloc(shape->m * sizeof(double));
    bench->b_most = malloc(shape->n * sizeof(double));
    bench->c = malloc(count * sizeof(float));
    bench->chained = malloc(count * sizeof(float));
    if (!good || bench->exact == NULL || bench->sums == NULL || bench->a_most == NULL ||
            bench->b_most == NULL || bench->c == NULL || bench->chained == NULL) {
        fprintf(stderr, "kiln-bench: out of memory\n");
        good = false;
    }
    for (size_t i = 0; good && i < data_num_kinds; i++) {
        struct operands operands;

        data_fill(&data_kinds[i], &problem, bench->a_most, bench->b_most);
        printf("%zu x %zu x %zu %c%c, %s: %s\n", shape->m, shape->n, shape->k, transa ? 't' : 'n',
                transb ? 't' : 'n', data_kinds[i].name, data_kinds[i].about);
        if (!operands_create(&operands, bench->device, &problem)) {
            fprintf(stderr, "kiln-bench: out of memory\n");
            good = false;
            break;
        }
        struct errors_row *row = &table->rows[table->num_rows++];

        *row = (struct errors_row){ *shape, transa, transb, &data_kinds[i] };
        good &= errors_of_kind(bench, &problem, &operands, peers, num_peers, row);
        operands_destroy(&operands);
    }
    free(bench->exact);
    free(bench->sums);
    free(bench->a_most);
    free(bench->b_most);
    free(bench->c);
    free(bench->chained);
    problem_destroy(&problem);
    return good;
}

bool errors_report(const struct options *options, const struct device *device, struct peer *peers,
        size_t num_peers, struct errors_table *table)
{
    struct errors_bench bench;
    bool good = errors_open(&bench, device);

    table->rows = calloc(options->shapes.count * options->num_transposes * data_num_kinds,
            sizeof(*table->rows));
    if (table->rows == NULL) {
        fprintf(stderr, "kiln-bench: out of memory\n");
        good = false;
    }
    if (good) {
        printf("errors of all elements, in units of 2^-24 sum |a||b|\n\n  %-20s %9s %9s\n", "",
                "largest", "mean");
    }
    for (size_t s = 0; good && s < options->shapes.count; s++) {
        for (size_t t = 0; t < options->num_transposes; t++) {
            good &= errors_of_shape(&bench, &options->shapes.items[s], options->transposes[t].a,
                    options->transposes[t].b, peers, num_peers, table);
        }
    }
    errors_close(&bench);
    return good;
}
