/* shim.c: netlib's names over Kiln, so that Debian's compiled BLAS testers test Kiln.
 *
 * Preloaded before the tester it takes the calls of gemm in S, D, C and Z, by C's names and
 * Fortran's: the operands are copied to the device, Kiln multiplies, C is copied back whole, so
 * that the tester sees what lies between the columns too. Bad arguments go through Kiln's own
 * checks; its status is reported through the tester's cblas_xerbla() or xerbla_() as the
 * argument's number.
 */
#include "shim.h"

#include <stdio.h>
#include <stdlib.h>

enum { EXIT_NO_DEVICE = 77, MAX_PLATFORMS = 16 };

/* The tester's; it takes the number of the bad argument. */
void cblas_xerbla(int argument, const char *routine, const char *format, ...) __attribute__((weak));

/* The library's part of an agreement with the C tester: while this is set, the numbers reported
 * are those of the column-major call that a row-major one amounts to. */
extern int RowMajorStrg;
int RowMajorStrg = 0;

void cblas_sgemm(int layout, int transa, int transb, int m, int n, int k, float alpha,
        const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
void cblas_dgemm(int layout, int transa, int transb, int m, int n, int k, double alpha,
        const double *a, int lda, const double *b, int ldb, double beta, double *c, int ldc);
void cblas_cgemm(int layout, int transa, int transb, int m, int n, int k, const void *alpha,
        const void *a, int lda, const void *b, int ldb, const void *beta, void *c, int ldc);
void cblas_zgemm(int layout, int transa, int transb, int m, int n, int k, const void *alpha,
        const void *a, int lda, const void *b, int ldb, const void *beta, void *c, int ldc);
void cgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
        const float *alpha, const void *a, const int *lda, const void *b, const int *ldb,
        const float *beta, void *c, const int *ldc);
void zgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
        const double *alpha, const void *a, const int *lda, const void *b, const int *ldb,
        const double *beta, void *c, const int *ldc);
void sgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
        const float *alpha, const float *a, const int *lda, const float *b, const int *ldb,
        const float *beta, float *c, const int *ldc);
void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
        const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
        const double *beta, double *c, const int *ldc);

struct call {
    enum kiln_precision precision;
    int layout, transa, transb, m, n, k;
    double alpha, beta;
    struct operand a, b, c;
    double alpha_imag, beta_imag;
};

struct shim_device shim_device;

void shim_check(const char *what, int status)
{
    if (status == 0) {
        return;
    }
    fprintf(stderr, "netlib shim: %s: %s (%d)\n", what,
            kiln_status_string((enum kiln_status) status), status);
    exit(EXIT_FAILURE);
}

static void close_device(void)
{
    fprintf(stderr, "netlib shim: Kiln served %lu calls\n", shim_device.calls);
    if (shim_device.a.buffer != NULL) {
        clReleaseMemObject(shim_device.a.buffer);
    }
    if (shim_device.b.buffer != NULL) {
        clReleaseMemObject(shim_device.b.buffer);
    }
    if (shim_device.c.buffer != NULL) {
        clReleaseMemObject(shim_device.c.buffer);
    }
    kiln_context_destroy(&shim_device.kiln);
    clReleaseCommandQueue(shim_device.queue);
    clReleaseContext(shim_device.context);
}

/* The first device of the first platform that has one. */
static cl_device_id find_device(void)
{
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint num_platforms = 0;
    if (clGetPlatformIDs(MAX_PLATFORMS, platforms, &num_platforms) != CL_SUCCESS) {
        num_platforms = 0;
    }
    for (cl_uint p = 0; p < num_platforms && p < MAX_PLATFORMS; p++) {
        cl_device_id id;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 1, &id, NULL) == CL_SUCCESS) {
            return id;
        }
    }
    fputs("netlib shim: no OpenCL device\n", stderr);
    exit(EXIT_NO_DEVICE);
}

void shim_open(void)
{
    cl_int status;
    if (shim_device.kiln != NULL) {
        return;
    }
    cl_device_id id = find_device();
    shim_device.context = clCreateContext(NULL, 1, &id, NULL, NULL, &status);
    shim_check("clCreateContext", status);
    shim_device.queue = clCreateCommandQueue(shim_device.context, id, 0, &status);
    shim_check("clCreateCommandQueue", status);
    shim_check("kiln_context_create",
            (int) kiln_context_create(shim_device.context, id, NULL, &shim_device.kiln));
    if (atexit(close_device) != 0) {
        shim_check("atexit", KILN_OUT_OF_MEMORY);
    }
}

static size_t element_bytes(const struct call *call)
{
    switch (call->precision) {
    case KILN_DOUBLE: return sizeof(cl_double);
    case KILN_COMPLEX_SINGLE: return sizeof(cl_float2);
    case KILN_COMPLEX_DOUBLE: return sizeof(cl_double2);
    default: return sizeof(cl_float);
    }
}

/* Sets how much of an operand there is: `lines` of `length` elements, as they lie in memory. An
 * operand whose leading dimension is too short is not touched: Kiln has to say that it is. */
static void measure(const struct call *call, struct operand *operand, int lines, int length)
{
    operand->bytes = 0;
    if (lines > 0 && length > 0 && operand->ld >= length) {
        operand->bytes = ((size_t) (lines - 1) * (size_t) operand->ld + (size_t) length) *
                         element_bytes(call);
    }
}

static void measure_operands(struct call *call)
{
    int columns = call->layout == KILN_COL_MAJOR;
    int plain_a = (call->transa == KILN_NO_TRANS) == columns;
    int plain_b = (call->transb == KILN_NO_TRANS) == columns;
    measure(call, &call->a, plain_a ? call->k : call->m, plain_a ? call->m : call->k);
    measure(call, &call->b, plain_b ? call->n : call->k, plain_b ? call->k : call->n);
    measure(call, &call->c, columns ? call->n : call->m, columns ? call->m : call->n);
}

/* Brings an operand to the device, `offset` bytes into its buffer. */
void shim_upload(struct operand *operand, struct store *store, size_t offset)
{
    size_t needed = offset + operand->bytes + sizeof(cl_double2);
    cl_int status;
    if (store->bytes < needed) {
        if (store->buffer != NULL) {
            clReleaseMemObject(store->buffer);
        }
        store->buffer = clCreateBuffer(shim_device.context, CL_MEM_READ_WRITE, 2 * needed, NULL,
                &status);
        shim_check("clCreateBuffer", status);
        store->bytes = 2 * needed;
    }
    operand->buffer = store->buffer;
    if (operand->bytes > 0) {
        shim_check("clEnqueueWriteBuffer",
                clEnqueueWriteBuffer(shim_device.queue, store->buffer, CL_FALSE, offset,
                        operand->bytes, operand->data, 0, NULL, NULL));
    }
}

static enum kiln_status enqueue(const struct call *call)
{
    enum kiln_layout layout = (enum kiln_layout) call->layout;
    enum kiln_transpose transa = (enum kiln_transpose) call->transa;
    enum kiln_transpose transb = (enum kiln_transpose) call->transb;
    size_t m = (size_t) call->m, n = (size_t) call->n, k = (size_t) call->k;
    size_t lda = (size_t) call->a.ld, ldb = (size_t) call->b.ld, ldc = (size_t) call->c.ld;
    if (call->precision == KILN_SINGLE) {
        return kiln_sgemm(shim_device.kiln, layout, transa, transb, m, n, k, (float) call->alpha,
                call->a.buffer, OFFSET_A, lda, call->b.buffer, OFFSET_B, ldb, (float) call->beta,
                call->c.buffer, OFFSET_C, ldc, shim_device.queue, 0, NULL, NULL);
    }
    if (call->precision == KILN_COMPLEX_SINGLE) {
        const cl_float2 alpha = { { (float) call->alpha, (float) call->alpha_imag } };
        const cl_float2 beta = { { (float) call->beta, (float) call->beta_imag } };
        return kiln_cgemm(shim_device.kiln, layout, transa, transb, m, n, k, alpha, call->a.buffer,
                OFFSET_A, lda, call->b.buffer, OFFSET_B, ldb, beta, call->c.buffer, OFFSET_C, ldc,
                shim_device.queue, 0, NULL, NULL);
    }
    if (call->precision == KILN_COMPLEX_DOUBLE) {
        const cl_double2 alpha = { { call->alpha, call->alpha_imag } };
        const cl_double2 beta = { { call->beta, call->beta_imag } };
        return kiln_zgemm(shim_device.kiln, layout, transa, transb, m, n, k, alpha, call->a.buffer,
                OFFSET_A, lda, call->b.buffer, OFFSET_B, ldb, beta, call->c.buffer, OFFSET_C, ldc,
                shim_device.queue, 0, NULL, NULL);
    }
    return kiln_dgemm(shim_device.kiln, layout, transa, transb, m, n, k, call->alpha,
            call->a.buffer, OFFSET_A, lda, call->b.buffer, OFFSET_B, ldb, call->beta,
            call->c.buffer, OFFSET_C, ldc, shim_device.queue, 0, NULL, NULL);
}

/* Which argument of the cblas call a status speaks of. */
static int argument_number(enum kiln_status status)
{
    switch (status) {
    case KILN_SUCCESS: return 0;
    case KILN_INVALID_LAYOUT: return 1;
    case KILN_INVALID_TRANSPOSE_A: return 2;
    case KILN_INVALID_TRANSPOSE_B: return 3;
    case KILN_INVALID_LDA: return 9;
    case KILN_INVALID_LDB: return 11;
    case KILN_INVALID_LDC: return 14;
    default: shim_check("gemm", (int) status); return 0;
    }
}

/* Does the call. Returns 0, or the number of the bad argument in the order of cblas. */
static int multiply(struct call *call, void *result)
{
    if (call->m < 0) { /* Kiln's extents have no sign to be wrong */
        return 4;
    }
    if (call->n < 0) {
        return 5;
    }
    if (call->k < 0) {
        return 6;
    }
    shim_open();
    measure_operands(call);
    shim_upload(&call->a, &shim_device.a, OFFSET_A * element_bytes(call));
    shim_upload(&call->b, &shim_device.b, OFFSET_B * element_bytes(call));
    shim_upload(&call->c, &shim_device.c, OFFSET_C * element_bytes(call));
    int argument = argument_number(enqueue(call));
    shim_device.calls++;
    if (argument == 0 && call->c.bytes > 0) {
        shim_check("clEnqueueReadBuffer",
                clEnqueueReadBuffer(shim_device.queue, call->c.buffer, CL_TRUE,
                        OFFSET_C * element_bytes(call), call->c.bytes, result, 0, NULL, NULL));
    }
    shim_check("clFinish", clFinish(shim_device.queue));
    return argument;
}

/* --- C --- */

static int swap_sides(int argument)
{
    switch (argument) {
    case 4: return 5;
    case 5: return 4;
    case 9: return 11;
    case 11: return 9;
    default: return argument;
    }
}

static void cblas_call(struct call *call, void *result, const char *routine)
{
    RowMajorStrg = call->layout == KILN_ROW_MAJOR;
    int argument = multiply(call, result);
    if (argument != 0 && cblas_xerbla != NULL) {
        cblas_xerbla(RowMajorStrg ? swap_sides(argument) : argument, routine, "");
    }
    RowMajorStrg = 0;
}

void cblas_sgemm(int layout, int transa, int transb, int m, int n, int k, float alpha,
        const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc)
{
    struct call call = { KILN_SINGLE, layout, transa, transb, m, n, k, (double) alpha,
        (double) beta, { a, lda, 0, NULL }, { b, ldb, 0, NULL }, { c, ldc, 0, NULL }, 0, 0 };
    cblas_call(&call, c, "cblas_sgemm");
}

void cblas_dgemm(int layout, int transa, int transb, int m, int n, int k, double alpha,
        const double *a, int lda, const double *b, int ldb, double beta, double *c, int ldc)
{
    struct call call = { KILN_DOUBLE, layout, transa, transb, m, n, k, alpha, beta,
        { a, lda, 0, NULL }, { b, ldb, 0, NULL }, { c, ldc, 0, NULL }, 0, 0 };
    cblas_call(&call, c, "cblas_dgemm");
}

void cblas_cgemm(int layout, int transa, int transb, int m, int n, int k, const void *alpha,
        const void *a, int lda, const void *b, int ldb, const void *beta, void *c, int ldc)
{
    const float *x = alpha, *y = beta;
    struct call call = { KILN_COMPLEX_SINGLE, layout, transa, transb, m, n, k, (double) x[0],
        (double) y[0], { a, lda, 0, NULL }, { b, ldb, 0, NULL }, { c, ldc, 0, NULL }, (double) x[1],
        (double) y[1] };
    cblas_call(&call, c, "cblas_cgemm");
}

void cblas_zgemm(int layout, int transa, int transb, int m, int n, int k, const void *alpha,
        const void *a, int lda, const void *b, int ldb, const void *beta, void *c, int ldc)
{
    const double *x = alpha, *y = beta;
    struct call call = { KILN_COMPLEX_DOUBLE, layout, transa, transb, m, n, k, x[0], y[0],
        { a, lda, 0, NULL }, { b, ldb, 0, NULL }, { c, ldc, 0, NULL }, x[1], y[1] };
    cblas_call(&call, c, "cblas_zgemm");
}

/* --- Fortran --- */

/* Kiln's value for a letter; 0, which Kiln refuses, for what BLAS does not know. */
static int transpose_of(char letter)
{
    switch (letter) {
    case 'N':
    case 'n': return KILN_NO_TRANS;
    case 'T':
    case 't': return KILN_TRANS;
    case 'C':
    case 'c': return KILN_CONJ_TRANS;
    default: return 0;
    }
}

/* Fortran's call has no layout, so that its arguments are one less. */
static void fortran_call(struct call *call, void *result, const char *routine)
{
    int argument = multiply(call, result) - 1;
    if (argument > 0 && xerbla_ != NULL) {
        xerbla_(routine, &argument, 6);
    }
}

void sgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
        const float *alpha, const float *a, const int *lda, const float *b, const int *ldb,
        const float *beta, float *c, const int *ldc)
{
    struct call call = { KILN_SINGLE, KILN_COL_MAJOR, transpose_of(*transa), transpose_of(*transb),
        *m, *n, *k, (double) *alpha, (double) *beta, { a, *lda, 0, NULL }, { b, *ldb, 0, NULL },
        { c, *ldc, 0, NULL }, 0, 0 };
    fortran_call(&call, c, "SGEMM ");
}

void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
        const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
        const double *beta, double *c, const int *ldc)
{
    struct call call = { KILN_DOUBLE, KILN_COL_MAJOR, transpose_of(*transa), transpose_of(*transb),
        *m, *n, *k, *alpha, *beta, { a, *lda, 0, NULL }, { b, *ldb, 0, NULL }, { c, *ldc, 0, NULL },
        0, 0 };
    fortran_call(&call, c, "DGEMM ");
}

void cgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
        const float *alpha, const void *a, const int *lda, const void *b, const int *ldb,
        const float *beta, void *c, const int *ldc)
{
    struct call call = { KILN_COMPLEX_SINGLE, KILN_COL_MAJOR, transpose_of(*transa),
        transpose_of(*transb), *m, *n, *k, (double) alpha[0], (double) beta[0],
        { a, *lda, 0, NULL }, { b, *ldb, 0, NULL }, { c, *ldc, 0, NULL }, (double) alpha[1],
        (double) beta[1] };
    fortran_call(&call, c, "CGEMM ");
}

void zgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
        const double *alpha, const void *a, const int *lda, const void *b, const int *ldb,
        const double *beta, void *c, const int *ldc)
{
    struct call call = { KILN_COMPLEX_DOUBLE, KILN_COL_MAJOR, transpose_of(*transa),
        transpose_of(*transb), *m, *n, *k, alpha[0], beta[0], { a, *lda, 0, NULL },
        { b, *ldb, 0, NULL }, { c, *ldc, 0, NULL }, alpha[1], beta[1] };
    fortran_call(&call, c, "ZGEMM ");
}
