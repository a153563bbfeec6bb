/* embed_check: on a device without a compiler, all that a bundle of binaries in single precision
 * has, at odd sizes, exactly; then what it has not. Prints "right", and the status of the rest. */
#include "kiln/kiln.h"

#include <stdio.h>

enum { MOST = 71, FLOATS = 2 * MOST * MOST };

static cl_context cl;
static cl_device_id device;
static cl_command_queue queue;
static struct kiln_context *kiln;
static float a[FLOATS], b[FLOATS], c[FLOATS], before[FLOATS];
static cl_mem x, y, z;
static unsigned num_wrong;

static void fill(float *matrix, int seed)
{
    for (int i = 0; i < FLOATS; i++)
        matrix[i] = (float) ((i * (seed + 5) + i / 7) % 7 - 3);
}

static void expect(const char *what, enum kiln_status status)
{
    if (status != KILN_SUCCESS) {
        printf("%s: %s\n", what, kiln_status_string(status));
        num_wrong++;
    }
}

static void send(void)
{
    clEnqueueWriteBuffer(queue, x, CL_TRUE, 0, sizeof a, a, 0, NULL, NULL);
    clEnqueueWriteBuffer(queue, y, CL_TRUE, 0, sizeof b, b, 0, NULL, NULL);
    clEnqueueWriteBuffer(queue, z, CL_TRUE, 0, sizeof before, before, 0, NULL, NULL);
}

static void fetch(void)
{
    num_wrong += clEnqueueReadBuffer(queue, z, CL_TRUE, 0, sizeof c, c, 0, NULL, NULL) != 0;
}

/* Dense, row-major; what is behind C stays as it is. */
static void check_gemm(int m, int n, int k, int ta, int tb, float alpha, float beta)
{
    send();
    expect("gemm",
            kiln_sgemm(kiln, KILN_ROW_MAJOR, ta ? KILN_TRANS : KILN_NO_TRANS,
                    tb ? KILN_TRANS : KILN_NO_TRANS, (size_t) m, (size_t) n, (size_t) k, alpha, x,
                    0,
                    (size_t) (ta      ? m
                              : k > 0 ? k
                                      : 1),
                    y, 0, (size_t) (tb ? k : n), beta, z, 0, (size_t) n, queue, 0, NULL, NULL));
    fetch();
    for (int i = 0; i < m * n; i++) {
        float sum = 0;
        for (int p = 0; p < k; p++)
            sum += a[ta ? p * m + i / n : i / n * k + p] * b[tb ? i % n * k + p : p * n + i % n];
        num_wrong += c[i] != alpha * sum + beta * before[i];
    }
    for (int i = m * n; i < FLOATS; i++)
        num_wrong += c[i] != before[i];
}

/* C = A A', its lower triangle; then C = S B, of S the upper triangle stored. */
static void check_triangles(int n, int k)
{
    send();
    expect("syrk",
            kiln_ssyrk(kiln, KILN_ROW_MAJOR, KILN_LOWER, KILN_NO_TRANS, (size_t) n, (size_t) k, 1,
                    x, 0, (size_t) k, 0, z, 0, (size_t) n, queue, 0, NULL, NULL));
    fetch();
    for (int i = 0; i < n * n; i++) {
        float sum = 0;
        for (int p = 0; p < k; p++)
            sum += a[i / n * k + p] * a[i % n * k + p];
        num_wrong += c[i] != (i % n <= i / n ? sum : before[i]);
    }
    expect("symm",
            kiln_ssymm(kiln, KILN_ROW_MAJOR, KILN_LEFT, KILN_UPPER, (size_t) n, (size_t) k, 1, x, 0,
                    (size_t) n, y, 0, (size_t) k, 0, z, 0, (size_t) k, queue, 0, NULL, NULL));
    fetch();
    for (int i = 0; i < n * k; i++) {
        float sum = 0;
        for (int p = 0; p < n; p++) {
            const int row = i / k < p ? i / k : p, column = i / k < p ? p : i / k;
            sum += a[row * n + column] * b[p * k + i % k];
        }
        num_wrong += c[i] != sum;
    }
}

static void check_complex(int n)
{
    const struct kiln_gemm gemm = { .precision = KILN_COMPLEX_SINGLE,
        .m = (size_t) n,
        .n = (size_t) n,
        .k = (size_t) n,
        .alpha = 1,
        .a = x,
        .b = y,
        .c = z };
    send();
    expect("complex", kiln_gemm_enqueue(kiln, &gemm, queue, 0, NULL, NULL));
    fetch();
    for (int i = 0; i < n * n; i++) {
        float re = 0, im = 0;
        for (int p = 0; p < n; p++) {
            const float *u = &a[2 * (i / n * n + p)], *v = &b[2 * (p * n + i % n)];
            re += u[0] * v[0] - u[1] * v[1];
            im += u[0] * v[1] + u[1] * v[0];
        }
        num_wrong += c[2 * i] != re || c[2 * i + 1] != im;
    }
}

static void check_all(void)
{
    static const int sizes[] = { 1, 2, 5, 17, 33, 64, MOST };
    enum { NUM = sizeof sizes / sizeof *sizes };
    for (int i = 0; i < NUM * NUM; i++)
        for (int pair = 0; pair < 4; pair++)
            check_gemm(sizes[i % NUM], sizes[i / NUM], sizes[(i + i / NUM + pair) % NUM], pair / 2,
                    pair % 2, i % 3 ? 1 : -2, i % 2 ? 3 : 0);
    check_gemm(5, 7, 0, 0, 0, 1, 2);
    for (int i = 0; i < NUM; i++) {
        check_triangles(sizes[i], sizes[(i + 3) % NUM]);
        check_complex(sizes[i] < 40 ? sizes[i] : 40);
    }
}

/* The device says that it has no compiler, and that is so. */
static int has_no_compiler(void)
{
    cl_bool compiles = CL_TRUE;
    const char *text = "kernel void f(global int *x) { *x = 1; }";
    clGetDeviceInfo(device, CL_DEVICE_COMPILER_AVAILABLE, sizeof compiles, &compiles, NULL);
    cl_program program = clCreateProgramWithSource(cl, 1, &text, NULL, NULL);
    const cl_int error = clBuildProgram(program, 1, &device, NULL, NULL, NULL);
    clReleaseProgram(program);
    return !compiles && error == CL_COMPILER_NOT_AVAILABLE;
}

static void say_line(void *user, const char *message)
{
    (void) user;
    printf("log: %s\n", message);
}

int main(void)
{
    cl_platform_id platform;
    const struct kiln_context_params params = { .log = say_line, .self_test = 1 };
    if (clGetPlatformIDs(1, &platform, NULL) ||
            clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
        return 77;
    cl = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    queue = clCreateCommandQueue(cl, device, 0, NULL);
    if (!has_no_compiler()) {
        printf("the device has a compiler\n");
        return 1;
    }
    const enum kiln_status status = kiln_context_create(cl, device, &params, &kiln);
    if (status != KILN_SUCCESS) {
        printf("%s\n", kiln_status_string(status));
        return 1;
    }
    x = clCreateBuffer(cl, CL_MEM_READ_WRITE, sizeof a, NULL, NULL);
    y = clCreateBuffer(cl, CL_MEM_READ_WRITE, sizeof b, NULL, NULL);
    z = clCreateBuffer(cl, CL_MEM_READ_WRITE, sizeof c, NULL, NULL);
    fill(a, 0);
    fill(b, 4);
    fill(before, 1);
    check_all();
    const struct kiln_gemm half = { .precision = KILN_HALF,
        .m = 8,
        .n = 8,
        .k = 8,
        .alpha = 1,
        .a = x,
        .b = y,
        .c = z };
    printf("half: %s\n", kiln_status_string(kiln_gemm_enqueue(kiln, &half, queue, 0, NULL, NULL)));
    printf(num_wrong ? "%u wrong\n" : "right\n", num_wrong);
    kiln_context_destroy(&kiln);
    clReleaseMemObject(x);
    clReleaseMemObject(y);
    clReleaseMemObject(z);
    clReleaseCommandQueue(queue);
    clReleaseContext(cl);
    return num_wrong != 0;
}
