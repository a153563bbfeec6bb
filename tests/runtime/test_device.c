/* test_device.c: what only a real driver can show: workspaces given up while kernels that use them
 * may still be queued, queues that the driver holds references to, what kernels make of an alpha
 * that does not count, and packs that outlive the matrices they were made of. Links the library as
 * it is shipped.
 */
#include "internal.h"
#include "reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_NO_DEVICE = 77, MAX_PLATFORMS = 16, SIZE = 48, NUM_QUEUES = 40 };

struct device {
    cl_device_id id;
    cl_context cl;
    cl_command_queue_properties order;     /* out of order, where the device can */
    cl_mem a, b;
};

struct call {
    cl_mem c;
    cl_event done;
};

/* A recipe that needs a workspace: packs A into it, and multiplies from there. */
static const char text[] =
    "kernel void pack(int k, global const float *a, global float *packed, long start)\n"
    "{\n"
    "    size_t at = get_global_id(1) * k + get_global_id(0);\n"
    "    packed[start + at] = a[at];\n"
    "}\n"
    "kernel void multiply(int n, int k, float alpha, global const float *packed, long start,\n"
    "    global const float *b, int b_offset, global float *c)\n"
    "{\n"
    "    size_t i = get_global_id(1), j = get_global_id(0);\n"
    "    float sum = 0;\n"
    "    for (int p = 0; p < k; p++) {\n"
    "        sum += packed[start + i * k + p] * b[b_offset + p * n + j];\n"
    "    }\n"
    "    c[i * n + j] = alpha * sum;\n"
    "}";
static const uint32_t line = 0;
static const uint16_t symbol = 0;

/* The newline that ends the text is not in it. */
static struct kiln_program program = { .num_symbols = 1, .text_bytes = sizeof text };

static const struct kiln_region region = {
    .dim = {KILN_DIM_M, KILN_DIM_K}, .round = {1, 1}, .element_bytes = sizeof(cl_float),
    .holds = KILN_PREPARED_A,
};

static const struct kiln_stage stages[] = {
    {.entry = "pack", .work_dim = 2, .dim = {KILN_DIM_K, KILN_DIM_M}, .tile = {1, 1},
     .local = {1, 1}, .num_args = 4,
     .args = {KILN_ARG_K, KILN_ARG_A, KILN_ARG_PACKED_A, KILN_ARG_PACKED_A_AT},
     .prepares = KILN_PREPARED_A},
    {.entry = "multiply", .work_dim = 2, .dim = {KILN_DIM_N, KILN_DIM_M}, .tile = {1, 1},
     .local = {1, 1}, .num_args = 8,
     .args = {KILN_ARG_N, KILN_ARG_K, KILN_ARG_ALPHA, KILN_ARG_PACKED_A, KILN_ARG_PACKED_A_AT,
              KILN_ARG_B, KILN_ARG_B_OFFSET, KILN_ARG_C}},
};

static const struct kiln_recipe recipe = {
    .name = "packs", .precision = KILN_SINGLE, .index_bits = 32, .num_stages = 2,
    .stages = stages, .num_regions = 1, .regions = &region, .tile = {1, 1, 1},
    .reach = {1, 1, 1},
};

static const struct kiln_bundle bundle = {
    .format = KILN_BUNDLE_FORMAT, .name = "packs", .num_programs = 1, .programs = &program,
    .num_recipes = 1, .recipes = &recipe,
    .pool = {.text_bytes = sizeof text, .num_lines = 1, .num_symbols = 1, .text = text,
             .lines = &line, .symbols = &symbol},
};

static void check(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "FAILED: %s\n", what);
        exit(EXIT_FAILURE);
    }
}

static cl_device_id find_device(const char *wanted)
{
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_device_id device = NULL;
    cl_uint num = 0;
    char name[256];
    if (clGetPlatformIDs(MAX_PLATFORMS, platforms, &num) != CL_SUCCESS) {
        num = 0;
    }
    for (cl_uint i = 0; i < num && i < MAX_PLATFORMS; i++) {
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL) == CL_SUCCESS &&
                clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL) == CL_SUCCESS &&
                strstr(name, wanted) != NULL) {
            return device;
        }
    }
    fputs("no OpenCL device\n", stderr);
    exit(EXIT_NO_DEVICE);
}

/* A square matrix of small integers, so that products are exact. */
static cl_mem matrix(const struct device *device, unsigned modulus)
{
    cl_float values[SIZE * SIZE];
    for (unsigned i = 0; i < SIZE * SIZE; i++) {
        values[i] = (cl_float) (i % modulus) - 1;
    }
    return clCreateBuffer(device->cl, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof values,
            values, NULL);
}

static void open_device(struct device *device, const char *wanted)
{
    cl_command_queue_properties orders = 0;
    device->id = find_device(wanted);
    device->cl = clCreateContext(NULL, 1, &device->id, NULL, NULL, NULL);
    clGetDeviceInfo(device->id, CL_DEVICE_QUEUE_PROPERTIES, sizeof orders, &orders, NULL);
    device->order = orders & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    device->a = matrix(device, 7);
    device->b = matrix(device, 5);
    check(device->cl != NULL && device->a != NULL && device->b != NULL, "buffers");
}

static struct kiln_context *open_kiln(const struct device *device, const struct kiln_bundle *wanted)
{
    const struct kiln_context_params params = { .bundle = wanted };
    struct kiln_context *kiln = NULL;
    check(kiln_context_create(device->cl, device->id, &params, &kiln) == KILN_SUCCESS, "context");
    return kiln;
}

/* C = scale A B into a buffer of its own. */
static struct call enqueue(const struct device *device, struct kiln_context *kiln,
        cl_command_queue queue, double scale)
{
    struct call call = { .c = matrix(device, 3) };
    const struct kiln_gemm gemm = {
        .m = SIZE,
        .n = SIZE,
        .k = SIZE,
        .alpha = scale,
        .a = device->a,
        .b = device->b,
        .c = call.c,
    };
    check(kiln_gemm_enqueue(kiln, &gemm, queue, 0, NULL, &call.done) == KILN_SUCCESS, "call");
    return call;
}

static void check_product(cl_command_queue queue, const struct call *call, int scale)
{
    cl_float found[SIZE * SIZE];
    check(clEnqueueReadBuffer(queue, call->c, CL_TRUE, 0, sizeof found, found, 1, &call->done,
                  NULL) == CL_SUCCESS,
            "read");
    for (int i = 0; i < SIZE; i++) {
        for (int j = 0; j < SIZE; j++) {
            int sum = 0;
            for (int p = 0; p < SIZE; p++) {
                sum += ((i * SIZE + p) % 7 - 1) * ((p * SIZE + j) % 5 - 1);
            }
            check(found[i * SIZE + j] == (cl_float) (scale * sum), "a product is wrong");
        }
    }
}

/* Every queue is released as soon as its call is enqueued; nothing is waited for until the end. */
static void many_queues_keep_few_workspaces(const struct device *device)
{
    struct kiln_context *kiln = open_kiln(device, &bundle);
    struct call calls[NUM_QUEUES];
    for (int i = 0; i < NUM_QUEUES; i++) {
        cl_command_queue queue = clCreateCommandQueue(device->cl, device->id,
                i % 2 == 0 ? 0 : device->order, NULL);
        check(queue != NULL, "queue");
        calls[i] = enqueue(device, kiln, queue, i + 1);
        clFlush(queue);
        clReleaseCommandQueue(queue);
        check(kiln->num_workspaces <= KILN_MAX_WORKSPACES, "the workspaces pile up");
    }
    check(kiln->num_workspaces == KILN_MAX_WORKSPACES, "the recipe uses no workspace");
    kiln_context_destroy(&kiln);
    cl_command_queue reader = clCreateCommandQueue(device->cl, device->id, 0, NULL);
    for (int i = 0; i < NUM_QUEUES; i++) {
        check_product(reader, &calls[i], i + 1);
        clReleaseEvent(calls[i].done);
        clReleaseMemObject(calls[i].c);
    }
    clReleaseCommandQueue(reader);
}

/* Packs an operand of a call and destroys the matrix: the product can come from the pack alone. */
static struct kiln_pack pack_once(const struct device *device, struct kiln_context *kiln,
        cl_command_queue queue, struct kiln_gemm *gemm, enum kiln_pack_operand operand)
{
    cl_mem matrix = operand == KILN_PACK_A ? gemm->a : gemm->b;
    const cl_float ruin = NAN;
    struct kiln_pack pack;
    cl_event packed = NULL;
    size_t bytes = 0;
    check(kiln_pack_bytes(kiln, gemm, operand, &bytes) == KILN_SUCCESS, "bytes of a pack");
    cl_mem room = clCreateBuffer(device->cl, CL_MEM_READ_WRITE, 256 + bytes, NULL, NULL);
    check(kiln_pack_enqueue(kiln, gemm, operand, room, 256, queue, 0, NULL, &packed, &pack) ==
                    KILN_SUCCESS,
            "packing");
    check(clEnqueueFillBuffer(queue, matrix, &ruin, sizeof ruin, 0, SIZE * SIZE * sizeof ruin, 1,
                  &packed, NULL) == CL_SUCCESS,
            "fill");
    clFinish(queue);
    clReleaseEvent(packed);
    return pack;
}

/* In the form of the recipe above, where B is a plain copy, and of the linked bundles' kernels. */
static void one_pack_serves_many_calls(const struct device *device,
        const struct kiln_bundle *wanted, cl_command_queue_properties order)
{
    struct kiln_context *kiln = open_kiln(device, wanted);
    cl_command_queue queue = clCreateCommandQueue(device->cl, device->id, order, NULL);
    struct kiln_gemm gemm = {
        .m = SIZE,
        .n = SIZE,
        .k = SIZE,
        .a = matrix(device, 7),
        .b = matrix(device, 5),
    };
    const struct kiln_pack a = pack_once(device, kiln, queue, &gemm, KILN_PACK_A);
    gemm.packed_a = &a;
    const struct kiln_pack b = pack_once(device, kiln, queue, &gemm, KILN_PACK_B);
    gemm.packed_b = &b;
    struct call calls[NUM_QUEUES];
    for (int i = 0; i < NUM_QUEUES; i++) {
        gemm.alpha = i + 1;
        gemm.c = calls[i].c = matrix(device, 3);
        check(kiln_gemm_enqueue(kiln, &gemm, queue, 0, NULL, &calls[i].done) == KILN_SUCCESS,
                "a call with packs");
    }
    for (int i = 0; i < NUM_QUEUES; i++) {
        check_product(queue, &calls[i], i + 1);
        clReleaseEvent(calls[i].done);
        clReleaseMemObject(calls[i].c);
    }
    clReleaseMemObject(a.buffer);
    clReleaseMemObject(b.buffer);
    clReleaseMemObject(gemm.a);
    clReleaseMemObject(gemm.b);
    clReleaseCommandQueue(queue);
    kiln_context_destroy(&kiln);
}

/* With k of 0 and beta of 0, C becomes +0 whatever alpha is. */
static void alpha_without_a_product_does_not_count(const struct device *device)
{
    static const double alphas[] = { -1, INFINITY, NAN };
    struct kiln_context *kiln = open_kiln(device, NULL);
    cl_command_queue queue = clCreateCommandQueue(device->cl, device->id, 0, NULL);
    for (size_t i = 0; i < sizeof alphas / sizeof *alphas; i++) {
        cl_float found[SIZE * SIZE];
        cl_mem c = matrix(device, 3);
        const struct kiln_gemm gemm = { .m = SIZE, .n = SIZE, .alpha = alphas[i], .c = c };
        check(kiln_gemm_enqueue(kiln, &gemm, queue, 0, NULL, NULL) == KILN_SUCCESS, "scaling");
        check(clEnqueueReadBuffer(queue, c, CL_TRUE, 0, sizeof found, found, 0, NULL, NULL) ==
                        CL_SUCCESS,
                "read");
        for (int j = 0; j < SIZE * SIZE; j++) {
            check(found[j] == 0 && !signbit(found[j]), "an empty product is not +0");
        }
        clReleaseMemObject(c);
    }
    clReleaseCommandQueue(queue);
    kiln_context_destroy(&kiln);
}

static cl_int status_of(cl_event event)
{
    cl_int status = CL_QUEUED;
    clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    return status;
}

/* An event that the call waits for fails: then nothing of the call runs, on whatever queue, and its
 * event tells. What comes to lie in C otherwise is the product of what lay in the workspace. */
static void a_failed_wait_list_leaves_c(const struct device *device,
        cl_command_queue_properties order)
{
    struct kiln_context *kiln = open_kiln(device, &bundle);
    cl_command_queue queue = clCreateCommandQueue(device->cl, device->id, order, NULL);
    struct call first = enqueue(device, kiln, queue, 1);
    clFinish(queue);
    cl_event gate = clCreateUserEvent(device->cl, NULL), done = NULL;
    cl_mem c = matrix(device, 3);
    const struct kiln_gemm gemm = {
        .m = SIZE,
        .n = SIZE,
        .k = SIZE,
        .alpha = 1,
        .a = device->b,
        .b = device->a,
        .c = c,
    };
    cl_float before[SIZE * SIZE], after[SIZE * SIZE];
    clEnqueueReadBuffer(queue, c, CL_TRUE, 0, sizeof before, before, 0, NULL, NULL);
    check(kiln_gemm_enqueue(kiln, &gemm, queue, 1, &gate, &done) == KILN_SUCCESS, "gated call");
    clFlush(queue);
    clSetUserEventStatus(gate, -1);
    clWaitForEvents(1, &done);
    check(status_of(done) < 0, "the event of a call whose wait list failed tells of success");
    cl_command_queue reader = clCreateCommandQueue(device->cl, device->id, 0, NULL);
    check(clEnqueueReadBuffer(reader, c, CL_TRUE, 0, sizeof after, after, 0, NULL, NULL) ==
                    CL_SUCCESS,
            "read");
    check(memcmp(before, after, sizeof before) == 0, "a call whose wait list failed writes C");
    struct call next = enqueue(device, kiln, queue, 2);
    check_product(queue, &next, 2); /* what failed is over */
    clReleaseEvent(next.done);
    clReleaseMemObject(next.c);
    clReleaseEvent(first.done);
    clReleaseMemObject(first.c);
    clReleaseEvent(gate);
    clReleaseEvent(done);
    clReleaseMemObject(c);
    kiln_context_destroy(&kiln);
    clReleaseCommandQueue(queue);
    clReleaseCommandQueue(reader);
}

/* A and its copy for kernels that take it as it is lie in one buffer, or in two parts of one. */
static void an_operand_is_packed_within_its_buffer(const struct device *device, bool in_parts)
{
    enum { LD = SIZE + 3, START = 64 * 1024, BYTES = 2 * START };
    struct kiln_context *kiln = open_kiln(device, NULL);
    cl_command_queue queue = clCreateCommandQueue(device->cl, device->id, 0, NULL);
    cl_mem whole = clCreateBuffer(device->cl, CL_MEM_READ_WRITE, BYTES, NULL, NULL);
    const cl_buffer_region parts[] = { { 0, START }, { START, START } };
    cl_mem from = in_parts ? clCreateSubBuffer(whole, CL_MEM_READ_WRITE,
                                     CL_BUFFER_CREATE_TYPE_REGION, &parts[0], NULL)
                           : whole;
    cl_mem to = in_parts ? clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
                                   &parts[1], NULL)
                         : whole;
    struct call call = { .c = matrix(device, 3) };
    struct kiln_gemm gemm = { .m = SIZE,
        .n = SIZE,
        .k = SIZE,
        .alpha = 1,
        .a = from,
        .lda = LD,
        .b = device->b,
        .c = call.c };
    struct kiln_pack pack;
    check(clEnqueueCopyBufferRect(queue, device->a, whole, (size_t[]){ 0, 0, 0 },
                  (size_t[]){ 0, 0, 0 }, (size_t[]){ SIZE * sizeof(cl_float), SIZE, 1 },
                  SIZE * sizeof(cl_float), 0, LD * sizeof(cl_float), 0, 0, NULL,
                  NULL) == CL_SUCCESS,
            "rows");
    check(kiln_pack_enqueue(kiln, &gemm, KILN_PACK_A, to, in_parts ? 0 : START, queue, 0, NULL,
                  NULL, &pack) == KILN_SUCCESS,
            "packing within a buffer");
    gemm.packed_a = &pack;
    gemm.a = NULL;
    check(kiln_gemm_enqueue(kiln, &gemm, queue, 0, NULL, &call.done) == KILN_SUCCESS, "call");
    check_product(queue, &call, 1);
    clReleaseEvent(call.done);
    clReleaseMemObject(call.c);
    if (in_parts) {
        clReleaseMemObject(from);
        clReleaseMemObject(to);
    }
    clReleaseMemObject(whole);
    kiln_context_destroy(&kiln);
    clReleaseCommandQueue(queue);
}

/* Its event does not wait for commands that the call has nothing to do with. */
static void a_call_without_work_is_complete(const struct device *device)
{
    struct kiln_context *kiln = open_kiln(device, NULL);
    cl_command_queue queue = clCreateCommandQueue(device->cl, device->id, device->order, NULL);
    cl_event gate = clCreateUserEvent(device->cl, NULL), done = NULL;
    const cl_float zero = 0;
    cl_mem other = matrix(device, 3);
    const struct kiln_gemm gemm = { .m = 0, .n = SIZE, .k = SIZE, .alpha = 1 };
    check(clEnqueueFillBuffer(queue, other, &zero, sizeof zero, 0, sizeof zero, 1, &gate, NULL) ==
                    CL_SUCCESS,
            "fill");
    check(kiln_gemm_enqueue(kiln, &gemm, queue, 0, NULL, &done) == KILN_SUCCESS, "empty call");
    if (device->order != 0) {
        clWaitForEvents(1, &done); /* or this never ends */
    }
    clSetUserEventStatus(gate, CL_COMPLETE);
    clFinish(queue);
    check(status_of(done) == CL_COMPLETE, "an empty call does not complete");
    clReleaseEvent(gate);
    clReleaseEvent(done);
    clReleaseMemObject(other);
    kiln_context_destroy(&kiln);
    clReleaseCommandQueue(queue);
}

/* The argument is a part of the device's name; without one the first device does. */
int main(int argc, char **argv)
{
    struct device device;
    size_t bytes;
    program.hash = kiln_pool_hash(&bundle.pool, &program, &bytes);
    open_device(&device, argc > 1 ? argv[1] : "");
    a_failed_wait_list_leaves_c(&device, 0);
    a_failed_wait_list_leaves_c(&device, device.order);
    an_operand_is_packed_within_its_buffer(&device, false);
    an_operand_is_packed_within_its_buffer(&device, true);
    a_call_without_work_is_complete(&device);
    many_queues_keep_few_workspaces(&device);
    alpha_without_a_product_does_not_count(&device);
    one_pack_serves_many_calls(&device, &bundle, 0);
    one_pack_serves_many_calls(&device, &bundle, device.order);
    one_pack_serves_many_calls(&device, NULL, 0);
    one_pack_serves_many_calls(&device, NULL, device.order);
    clReleaseMemObject(device.a);
    clReleaseMemObject(device.b);
    clReleaseContext(device.cl);
    return EXIT_SUCCESS;
}
