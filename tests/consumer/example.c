/* example.c: a program that uses Kiln, start to end: multiply two random matrices on an OpenCL
 * device, time it, and check the result.
 *
 *     kiln-example [--precision s|d|h] [--device SUBSTRING] [M N K]
 *
 * Everything about Kiln is in multiply() and describe(); the rest is OpenCL, time and arithmetic.
 * The largest error is given in units of eps * (|alpha| sum |A||B| + |beta||C|), the gauge of the
 * netlib tests, which pass below 16. It is taken over all elements of a small result, and over
 * randomly chosen rows of a big one, as many as REFERENCE_FLOPS allow.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* clock_gettime() */
#endif
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <kiln/kiln.h>

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    EXIT_NO_DEVICE = 77,               /* as test drivers have it: skipped, nothing failed */
    MAX_PLATFORMS = 16,
    MAX_DEVICES = 16,
    MAX_RUNS = 25
};

static const double REFERENCE_FLOPS = 1e8; /* a fraction of a second on the host */
static const double TIMING_SECONDS = 0.5;
static const double NETLIB_THRESHOLD = 16.0;
static const double ALPHA = 0.75, BETA = -0.5;

struct options {
    enum kiln_precision precision;
    const char *device;                /* substring of its name; NULL: the first one */
    size_t m, n, k;
};

/* A dense row-major matrix on the host. */
struct matrix {
    enum kiln_precision precision;
    size_t rows, columns;
    void *data;
};

struct opencl {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_mem a, b, c;
};

struct result {
    double median_seconds;
    double largest_error;              /* netlib units */
    size_t rows_checked;
};

static void fail(const char *what, int status)
{
    fprintf(stderr, "kiln-example: %s: %s (%d)\n", what,
            kiln_status_string((enum kiln_status) status), status);
    exit(EXIT_FAILURE);
}

static void usage(FILE *stream)
{
    fputs("usage: kiln-example [--precision s|d|h] [--device SUBSTRING] [M N K]\n", stream);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

/* --- Options --- */

static enum kiln_precision parse_precision(const char *text)
{
    if (strcmp(text, "s") == 0) {
        return KILN_SINGLE;
    }
    if (strcmp(text, "d") == 0) {
        return KILN_DOUBLE;
    }
    if (strcmp(text, "h") == 0) {
        return KILN_HALF;
    }
    fprintf(stderr, "kiln-example: precision is s, d or h, not \"%s\"\n", text);
    exit(EXIT_FAILURE);
}

static size_t parse_extent(const char *text)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || value == 0 || value > 1u << 20) {
        fprintf(stderr, "kiln-example: an extent is 1 to 1048576, not \"%s\"\n", text);
        exit(EXIT_FAILURE);
    }
    return (size_t) value;
}

static struct options parse_options(int argc, char **argv)
{
    struct options options = { KILN_SINGLE, NULL, 1024, 1024, 1024 };
    int i = 1;
    for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
        if (strcmp(argv[i], "--precision") == 0) {
            options.precision = parse_precision(argv[i + 1]);
        } else if (strcmp(argv[i], "--device") == 0) {
            options.device = argv[i + 1];
        } else {
            break;
        }
    }
    if (i + 1 == argc && strcmp(argv[i], "--help") == 0) {
        usage(stdout);
        exit(EXIT_SUCCESS);
    }
    if (i != argc && i + 3 != argc) {
        usage(stderr);
        exit(EXIT_FAILURE);
    }
    if (i != argc) {
        options.m = parse_extent(argv[i]);
        options.n = parse_extent(argv[i + 1]);
        options.k = parse_extent(argv[i + 2]);
    }
    return options;
}

/* --- Matrices on the host --- */

static size_t element_bytes(enum kiln_precision precision)
{
    return precision == KILN_HALF   ? sizeof(cl_half)
         : precision == KILN_DOUBLE ? sizeof(cl_double)
                                    : sizeof(cl_float);
}

static size_t matrix_bytes(const struct matrix *matrix)
{
    return matrix->rows * matrix->columns * element_bytes(matrix->precision);
}

static double half_value(uint16_t bits)
{
    int exponent = bits >> 10 & 31;
    double significand = bits & 1023;
    double magnitude;
    if (exponent == 31) {
        magnitude = significand == 0 ? INFINITY : NAN;
    } else if (exponent == 0) {
        magnitude = ldexp(significand, -24);
    } else {
        magnitude = ldexp(significand + 1024, exponent - 25);
    }
    return bits >> 15 ? -magnitude : magnitude;
}

static double element(const struct matrix *matrix, size_t row, size_t column)
{
    size_t i = row * matrix->columns + column;
    switch (matrix->precision) {
    case KILN_HALF: return half_value(((const uint16_t *) matrix->data)[i]);
    case KILN_SINGLE: return (double) ((const float *) matrix->data)[i];
    default: return ((const double *) matrix->data)[i];
    }
}

/* A linear congruential generator, Knuth's constants; its upper bits are good. */
static uint64_t random_bits(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 11;
}

/* Zero-mean values of magnitude below 1. */
static struct matrix random_matrix(enum kiln_precision precision, size_t rows, size_t columns,
        uint64_t *state)
{
    struct matrix matrix = { precision, rows, columns, NULL };
    matrix.data = malloc(matrix_bytes(&matrix));
    if (matrix.data == NULL) {
        fail("a matrix of the host", KILN_OUT_OF_MEMORY);
    }
    for (size_t i = 0; i < rows * columns; i++) {
        uint64_t bits = random_bits(state);
        double value = (double) bits / 4503599627370496.0 - 1.0;
        if (precision == KILN_HALF) { /* sign, exponent of 1/16 to 1, fraction */
            ((uint16_t *) matrix.data)[i] = (uint16_t) ((bits >> 37 & 0x8000u) |
                                                        (11 + (bits >> 12 & 3u)) << 10 |
                                                        (bits & 0x3ffu));
        } else if (precision == KILN_SINGLE) {
            ((float *) matrix.data)[i] = (float) value;
        } else {
            ((double *) matrix.data)[i] = value;
        }
    }
    return matrix;
}

/* --- OpenCL --- */

static cl_device_id find_device(const char *substring)
{
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint num_platforms = 0;
    if (clGetPlatformIDs(MAX_PLATFORMS, platforms, &num_platforms) != CL_SUCCESS) {
        num_platforms = 0;
    }
    for (cl_uint p = 0; p < num_platforms && p < MAX_PLATFORMS; p++) {
        cl_device_id devices[MAX_DEVICES];
        cl_uint num_devices = 0;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MAX_DEVICES, devices, &num_devices)) {
            continue;
        }
        for (cl_uint d = 0; d < num_devices && d < MAX_DEVICES; d++) {
            char name[256] = "";
            if (clGetDeviceInfo(devices[d], CL_DEVICE_NAME, sizeof name, name, NULL)) {
                continue;
            }
            if (substring == NULL || strstr(name, substring) != NULL) {
                return devices[d];
            }
        }
    }
    fputs("kiln-example: no such OpenCL device\n", stderr);
    exit(EXIT_NO_DEVICE);
}

static cl_mem create_buffer(cl_context context, const struct matrix *matrix)
{
    cl_int status;
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
            matrix_bytes(matrix), matrix->data, &status);
    if (status != CL_SUCCESS) {
        fail("clCreateBuffer", status);
    }
    return buffer;
}

static struct opencl open_device(const struct options *options, const struct matrix *a,
        const struct matrix *b, const struct matrix *c)
{
    cl_int status;
    struct opencl cl = { 0 };
    cl.device = find_device(options->device);
    cl.context = clCreateContext(NULL, 1, &cl.device, NULL, NULL, &status);
    if (status != CL_SUCCESS) {
        fail("clCreateContext", status);
    }
    cl.queue = clCreateCommandQueue(cl.context, cl.device, 0, &status);
    if (status != CL_SUCCESS) {
        fail("clCreateCommandQueue", status);
    }
    cl.a = create_buffer(cl.context, a);
    cl.b = create_buffer(cl.context, b);
    cl.c = create_buffer(cl.context, c);
    return cl;
}

static void close_device(struct opencl *cl)
{
    clReleaseMemObject(cl->a);
    clReleaseMemObject(cl->b);
    clReleaseMemObject(cl->c);
    clReleaseCommandQueue(cl->queue);
    clReleaseContext(cl->context);
}

/* --- Kiln --- */

/* The whole call as one struct. For one precision, kiln_sgemm() and its siblings say the same. */
static struct kiln_gemm describe(const struct options *options, const struct opencl *cl)
{
    return (struct kiln_gemm){ .precision = options->precision,
        .m = options->m,
        .n = options->n,
        .k = options->k,
        .alpha = ALPHA,
        .beta = BETA,
        .a = cl->a,
        .b = cl->b,
        .c = cl->c };
}

/* C = alpha A B + beta C, and wait for it. */
static void multiply(struct kiln_context *kiln, const struct kiln_gemm *gemm,
        cl_command_queue queue)
{
    enum kiln_status status = kiln_gemm_enqueue(kiln, gemm, queue, 0, NULL, NULL);
    if (status != KILN_SUCCESS) {
        fail("kiln_gemm_enqueue", (int) status);
    }
    cl_int finished = clFinish(queue);
    if (finished != CL_SUCCESS) {
        fail("clFinish", finished);
    }
}

static struct kiln_context *create_kiln(const struct opencl *cl)
{
    struct kiln_context *kiln;
    enum kiln_status status = kiln_context_create(cl->context, cl->device, NULL, &kiln);
    if (status != KILN_SUCCESS) {
        fail("kiln_context_create", (int) status);
    }
    return kiln;
}

/* --- Time and error --- */

static int compare_doubles(const void *x, const void *y)
{
    double a = *(const double *) x, b = *(const double *) y;
    return (a > b) - (a < b);
}

/* The median of runs for about TIMING_SECONDS, after the one that built the kernels. */
static double time_multiply(struct kiln_context *kiln, const struct kiln_gemm *gemm,
        cl_command_queue queue)
{
    double seconds[MAX_RUNS], start = now();
    int runs = 0;
    while (runs < MAX_RUNS && (runs == 0 || now() - start < TIMING_SECONDS)) {
        double before = now();
        multiply(kiln, gemm, queue);
        seconds[runs++] = now() - before;
    }
    qsort(seconds, (size_t) runs, sizeof seconds[0], compare_doubles);
    return seconds[runs / 2];
}

static double machine_epsilon(enum kiln_precision precision)
{
    if (precision == KILN_HALF) {
        return 1.0 / 1024.0;
    }
    return precision == KILN_SINGLE ? (double) FLT_EPSILON : DBL_EPSILON;
}

/* The error of one element of the product, in netlib units; NaN counts as infinite. */
static double element_error(const struct matrix *a, const struct matrix *b,
        const struct matrix *before, const struct matrix *after, size_t row, size_t column)
{
    long double sum = 0, magnitude = 0;
    for (size_t k = 0; k < a->columns; k++) {
        long double product = (long double) element(a, row, k) * element(b, k, column);
        sum += product;
        magnitude += fabsl(product);
    }
    long double old = element(before, row, column);
    long double gauge = fabsl(ALPHA) * magnitude + fabsl(BETA * old);
    long double expected = ALPHA * sum + BETA * old;
    long double error = fabsl(element(after, row, column) - expected);
    if (error == 0) {
        return 0;
    }
    double units = (double) (error / (gauge * machine_epsilon(a->precision)));
    return isnan(units) ? INFINITY : units;
}

/* Every row when REFERENCE_FLOPS allow, otherwise rows chosen at random, the last among them. */
static void check_result(const struct matrix *a, const struct matrix *b,
        const struct matrix *before, const struct matrix *after, struct result *result)
{
    uint64_t state = 7;
    double row_flops = 2.0 * (double) b->rows * (double) b->columns;
    size_t rows = after->rows, affordable = (size_t) (REFERENCE_FLOPS / row_flops) + 1;
    if (rows > affordable) {
        rows = affordable;
    }
    result->rows_checked = rows;
    result->largest_error = 0;
    for (size_t i = 0; i < rows; i++) {
        size_t row = i;
        if (rows < after->rows) {
            row = i == 0 ? after->rows - 1 : (size_t) (random_bits(&state) % after->rows);
        }
        for (size_t column = 0; column < after->columns; column++) {
            double error = element_error(a, b, before, after, row, column);
            if (error > result->largest_error) {
                result->largest_error = error;
            }
        }
    }
}

/* --- The program --- */

/* Prints the device, and what serves the call: explain's first two lines are bundle and kernel. */
static void print_choice(struct kiln_context *kiln, const struct kiln_gemm *gemm,
        cl_device_id device)
{
    char name[256] = "", text[4096] = "";
    cl_int status = clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL);
    if (status != CL_SUCCESS) {
        fail("clGetDeviceInfo", status);
    }
    printf("device: %s\n", name);
    enum kiln_status explained = kiln_gemm_explain(kiln, gemm, text, sizeof text);
    if (explained != KILN_SUCCESS && explained != KILN_TEXT_TOO_SMALL) {
        fail("kiln_gemm_explain", (int) explained);
    }
    const char *line = text;
    for (int i = 0; i < 2; i++) {
        int length = (int) strcspn(line, "\n");
        printf("%.*s\n", length, line);
        line += length + (line[length] == '\n');
    }
}

static void print_result(const struct options *options, const struct result *result)
{
    const char *precision = options->precision == KILN_HALF   ? "half"
                          : options->precision == KILN_SINGLE ? "single"
                                                              : "double";
    double flops = 2.0 * (double) options->m * (double) options->n * (double) options->k;
    printf("size: %zu x %zu x %zu, %s\n", options->m, options->n, options->k, precision);
    printf("speed: %.1f GFLOP/s (median, %.3f ms)\n", 1e-9 * flops / result->median_seconds,
            1e3 * result->median_seconds);
    printf("largest error: %.3f netlib units over %zu of %zu rows (passes below %.0f)\n",
            result->largest_error, result->rows_checked, options->m, NETLIB_THRESHOLD);
}

/* Multiplies once for the result, which `product` receives, then again for the time. */
static double run(struct kiln_context *kiln, const struct kiln_gemm *gemm, cl_command_queue queue,
        struct matrix *product)
{
    multiply(kiln, gemm, queue);
    cl_int status = clEnqueueReadBuffer(queue, gemm->c, CL_TRUE, 0, matrix_bytes(product),
            product->data, 0, NULL, NULL);
    if (status != CL_SUCCESS) {
        fail("clEnqueueReadBuffer", status);
    }
    return time_multiply(kiln, gemm, queue);
}

int main(int argc, char **argv)
{
    uint64_t state = 42;
    struct options options = parse_options(argc, argv);
    struct matrix a = random_matrix(options.precision, options.m, options.k, &state);
    struct matrix b = random_matrix(options.precision, options.k, options.n, &state);
    struct matrix c = random_matrix(options.precision, options.m, options.n, &state);
    struct matrix product = random_matrix(options.precision, options.m, options.n, &state);

    struct opencl cl = open_device(&options, &a, &b, &c);
    struct kiln_context *kiln = create_kiln(&cl);
    struct kiln_gemm gemm = describe(&options, &cl);
    struct result result;
    print_choice(kiln, &gemm, cl.device);
    result.median_seconds = run(kiln, &gemm, cl.queue, &product);
    check_result(&a, &b, &c, &product, &result);
    print_result(&options, &result);

    kiln_context_destroy(&kiln);
    close_device(&cl);
    free(a.data);
    free(b.data);
    free(c.data);
    free(product.data);
    if (fflush(stdout) || ferror(stdout))
        return EXIT_FAILURE;
    return result.largest_error < NETLIB_THRESHOLD ? EXIT_SUCCESS : EXIT_FAILURE;
}
