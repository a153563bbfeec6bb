/* embed_probe: multiplies two small matrices with the bundles it is linked with and says from what
 * its kernels were made. Prints "right", "wrong" or the status. */
#include "kiln/kiln.h"

#include <stdio.h>

enum { N = 24 };

static int say(enum kiln_status status)
{
    printf("%s\n", kiln_status_string(status));
    return status == KILN_SUCCESS ? 0 : 1;
}

static int multiply(struct kiln_context *kiln, cl_context cl, cl_command_queue queue)
{
    float a[N * N], c[N * N];
    char text[4096];
    for (int i = 0; i < N * N; i++)
        a[i] = (float) (i % 5 - 2);
    const cl_mem_flags copy = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
    cl_mem x = clCreateBuffer(cl, copy, sizeof a, a, NULL);
    cl_mem z = clCreateBuffer(cl, CL_MEM_READ_WRITE, sizeof c, NULL, NULL);
    const struct kiln_gemm gemm = { .m = N, .n = N, .k = N, .alpha = 1, .a = x, .b = x, .c = z };
    enum kiln_status status = kiln_gemm_enqueue(kiln, &gemm, queue, 0, NULL, NULL);
    if (status == KILN_SUCCESS)
        status = kiln_gemm_explain(kiln, &gemm, text, sizeof text);
    if (status == KILN_SUCCESS) {
        int wrong = clEnqueueReadBuffer(queue, z, CL_TRUE, 0, sizeof c, c, 0, NULL, NULL) != 0;
        for (int i = 0; i < N * N; i++) {
            float sum = 0;
            for (int k = 0; k < N; k++)
                sum += a[i / N * N + k] * a[k * N + i % N];
            wrong += sum != c[i];
        }
        printf("%s%s\n", text, wrong ? "wrong" : "right");
    }
    clReleaseMemObject(x);
    clReleaseMemObject(z);
    return say(status);
}

int main(void)
{
    cl_platform_id platform;
    cl_device_id device;
    struct kiln_context *kiln;
    if (clGetPlatformIDs(1, &platform, NULL) ||
            clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
        return 77;
    cl_context cl = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_command_queue queue = clCreateCommandQueue(cl, device, 0, NULL);
    enum kiln_status status = kiln_context_create(cl, device, NULL, &kiln);
    const int failed = status == KILN_SUCCESS ? multiply(kiln, cl, queue) : say(status);
    kiln_context_destroy(&kiln);
    clReleaseCommandQueue(queue);
    clReleaseContext(cl);
    return failed;
}
