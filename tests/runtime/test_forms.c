/* test_forms.c: complex matrices, and those of which one triangle counts, on a device, with
 * the library as it is shipped: both layouts, all operations, alpha and beta real or not, batches,
 * packs, and a workspace of the caller's that has not a byte too many. Each is compared with a sum
 * in double precision.
 *
 *     test_forms [DEVICE]
 *
 * DEVICE is a part of a device's name; then there are few calls, for Oclgrind, and small ones.
 */
#include "element.h"
#include "kiln/kiln.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EXIT_NO_DEVICE = 77, MAX_PLATFORMS = 16, MAX_BATCH = 3, PAD = 3, ANYWHERE = 5,
    NUM_CASES = 400, FEW_CASES = 20, TEXT_BYTES = 8192,
    SMALL = 40, LARGE = 160, EACH_LARGE = 8,   /* extents, and which calls have the larger ones */
    LINE = 8                                   /* elements: rows that begin at a multiple */
};

/* A bundle whatever the device, of which other recipes serve than those that are fastest on it. */
#ifdef FORMS_BUNDLE
extern const struct kiln_bundle FORMS_BUNDLE;
static const struct kiln_context_params params = { .bundle = &FORMS_BUNDLE };
#else
static const struct kiln_context_params params = { .bundle = NULL };
#endif

struct device {
    cl_device_id id;
    cl_context cl;
    cl_command_queue queue;
    struct kiln_context *kiln;
    bool has_double;
};

struct number {
    double re, im;
};

/* A matrix as stored: lines of `length` elements, `ld` apart, in members of a batch. */
struct matrix {
    size_t lines, length, ld, stride, elements;
    struct number *host;
    cl_mem buffer;
};

struct call {
    struct kiln_gemm gemm;
    size_t batch, offset;
    bool is_aligned;                   /* rows begin at multiples of LINE */
    struct matrix a, b, c;
};

static uint64_t state = 1;

static unsigned draw(unsigned below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned) (state >> 33) % below;
}

static double real_number(void)
{
    return (double) draw(2001) / 1000 - 1;
}

static void fail(const char *what, int status)
{
    fprintf(stderr, "test_forms: %s: %s (%d)\n", what,
            kiln_status_string((enum kiln_status) status), status);
    exit(EXIT_FAILURE);
}

static void check(const char *what, int status)
{
    if (status != 0) {
        fail(what, status);
    }
}

static bool is_complex(const struct call *call)
{
    return call->gemm.precision == KILN_COMPLEX_DOUBLE ||
           call->gemm.precision == KILN_COMPLEX_SINGLE;
}

static size_t element_bytes(const struct call *call)
{
    return kiln_element_bytes(call->gemm.precision);
}

/* Of one part of a complex number, or of a real one. */
static size_t part_bytes(const struct call *call)
{
    return element_bytes(call) / (is_complex(call) ? 2 : 1);
}

static enum kiln_storage storage_of(const struct call *call)
{
    return kiln_precision_storage(call->gemm.precision);
}

/* What the element type makes of a number. */
static double narrow(const struct call *call, double value)
{
    double part = 0;
    kiln_real_put(storage_of(call), &part, value);
    return kiln_real_get(storage_of(call), &part);
}

static void *to_elements(const struct call *call, const struct matrix *matrix)
{
    const size_t bytes = part_bytes(call);
    unsigned char *elements = malloc(matrix->elements * element_bytes(call));
    for (size_t i = 0; elements != NULL && i < matrix->elements; i++) {
        unsigned char *at = elements + i * element_bytes(call);
        kiln_real_put(storage_of(call), at, matrix->host[i].re);
        if (is_complex(call)) {
            kiln_real_put(storage_of(call), at + bytes, matrix->host[i].im);
        }
    }
    return elements;
}

static void matrix_make(const struct device *device, const struct call *call, size_t lines,
        size_t length, bool is_shared, struct matrix *matrix)
{
    cl_int error = CL_SUCCESS;
    matrix->lines = lines;
    matrix->length = length;
    matrix->ld = call->is_aligned ? (length + LINE - 1) / LINE * LINE : length + draw(PAD);
    matrix->stride = is_shared ? 0 : lines * matrix->ld + (call->is_aligned ? 0 : draw(PAD));
    matrix->elements = call->offset + matrix->stride * (call->batch - 1) + lines * matrix->ld;
    matrix->host = calloc(matrix->elements, sizeof *matrix->host);
    if (matrix->host == NULL) {
        fail("calloc", KILN_OUT_OF_MEMORY);
    }
    for (size_t i = 0; i < matrix->elements; i++) {
        matrix->host[i] = (struct number){ narrow(call, real_number()),
            is_complex(call) ? narrow(call, real_number()) : 0 };
    }
    void *elements = to_elements(call, matrix);
    matrix->buffer = clCreateBuffer(device->cl, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
            matrix->elements * element_bytes(call), elements, &error);
    check("clCreateBuffer", error);
    free(elements);
}

static void matrix_free(struct matrix *matrix)
{
    clReleaseMemObject(matrix->buffer);
    free(matrix->host);
}

/* Does element (i, j) lie in the triangle? */
static bool is_in(enum kiln_uplo uplo, size_t i, size_t j)
{
    return uplo == 0 || (uplo == KILN_LOWER ? j <= i : j >= i);
}

/* Element (i, j) of a matrix of which a triangle is stored, or all. */
static struct number stored(const struct call *call, const struct matrix *matrix,
        enum kiln_uplo uplo, size_t member, size_t i, size_t j)
{
    const bool by_columns = call->gemm.layout == KILN_COL_MAJOR;
    const bool is_across = !is_in(uplo, i, j);
    const size_t line = is_across != by_columns ? j : i, at = is_across != by_columns ? i : j;
    struct number x = matrix->host[call->offset + member * matrix->stride + line * matrix->ld + at];
    if (uplo != 0 && call->gemm.hermitian) {
        x.im = i == j ? 0 : is_across ? -x.im : x.im;
    }
    return x;
}

/* Element (i, j) of op(X). */
static struct number element(const struct call *call, const struct matrix *matrix,
        enum kiln_uplo uplo, enum kiln_transpose trans, size_t member, size_t i, size_t j)
{
    const bool is_turned = trans != KILN_NO_TRANS;
    struct number x = stored(call, matrix, uplo, member, is_turned ? j : i, is_turned ? i : j);
    x.im = trans == KILN_CONJ_TRANS ? -x.im : x.im;
    return x;
}

static struct number times(struct number x, struct number y)
{
    return (struct number){ x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re };
}

/* What the call makes of element (i, j) of C; *size becomes a bound of the sum of all sizes. */
static struct number expected(const struct call *call, size_t member, size_t i, size_t j,
        double *size)
{
    const struct kiln_gemm *gemm = &call->gemm;
    struct number sum = { 0, 0 };
    *size = 0;
    for (size_t p = 0; p < gemm->k; p++) {
        struct number product = times(
                element(call, &call->a, gemm->uplo_a, gemm->transa, member, i, p),
                element(call, &call->b, gemm->uplo_b, gemm->transb, member, p, j));
        sum.re += product.re;
        sum.im += product.im;
        *size += 4;
    }
    const struct number c = element(call, &call->c, 0, KILN_NO_TRANS, member, i, j);
    const struct number one = times((struct number){ gemm->alpha, gemm->alpha_imag }, sum);
    const struct number two = times((struct number){ gemm->beta, gemm->beta_imag }, c);
    *size = (*size * (fabs(gemm->alpha) + fabs(gemm->alpha_imag)) +
             4 * (fabs(gemm->beta) + fabs(gemm->beta_imag)));
    const bool is_real = gemm->uplo_c != 0 && gemm->hermitian && i == j && is_complex(call);
    return (struct number){ one.re + two.re, is_real ? 0 : one.im + two.im };
}

/* The element that a place of C has. */
static size_t row_of(const struct call *call, size_t line, size_t place)
{
    return call->gemm.layout == KILN_COL_MAJOR ? place : line;
}

/* Is C left as it is by the call, the diagonal of a Hermitian matrix too? */
static bool leaves_c(const struct kiln_gemm *gemm)
{
    return (gemm->k == 0 || (gemm->alpha == 0 && gemm->alpha_imag == 0)) && gemm->beta == 1 &&
           gemm->beta_imag == 0;
}

static struct number found(const struct call *call, const void *elements, size_t at)
{
    const size_t bytes = part_bytes(call);
    const unsigned char *from = (const unsigned char *) elements + at * element_bytes(call);
    return (struct number){ kiln_real_get(storage_of(call), from),
        is_complex(call) ? kiln_real_get(storage_of(call), from + bytes) : 0 };
}

/* What is multiplied, for a reader of a failure. */
static void describe(const struct kiln_gemm *gemm)
{
    fprintf(stderr,
            "precision %d, layout %d, ops %d %d, %zu x %zu x %zu, alpha (%g, %g), beta "
            "(%g, %g), triangles %d %d %d, hermitian %d, batch %zu\n",
            (int) gemm->precision, (int) gemm->layout, (int) gemm->transa, (int) gemm->transb,
            gemm->m, gemm->n, gemm->k, gemm->alpha, gemm->alpha_imag, gemm->beta, gemm->beta_imag,
            (int) gemm->uplo_a, (int) gemm->uplo_b, (int) gemm->uplo_c, gemm->hermitian,
            gemm->batch_count);
}

/* All elements, those between the rows included, which stay as they were. */
static void compare(const struct device *device, const struct call *call, const char *how)
{
    const struct matrix *c = &call->c;
    const size_t bytes = part_bytes(call);
    const double eps = bytes == sizeof(cl_double) ? 0x1p-52
                     : bytes == sizeof(cl_float)  ? 0x1p-23
                                                  : 0x1p-10;
    void *elements = malloc(c->elements * element_bytes(call));
    unsigned char *meant = calloc(c->elements, 1);
    if (elements == NULL || meant == NULL) {
        fail("malloc", KILN_OUT_OF_MEMORY);
    }
    check("clFinish", clFinish(device->queue));
    check("clEnqueueReadBuffer",
            clEnqueueReadBuffer(device->queue, c->buffer, CL_TRUE, 0,
                    c->elements * element_bytes(call), elements, 0, NULL, NULL));
    for (size_t member = 0; member < call->batch; member++) {
        for (size_t line = 0; line < c->lines; line++) {
            for (size_t place = 0; place < c->length; place++) {
                const size_t at = call->offset + member * c->stride + line * c->ld + place;
                const size_t row = row_of(call, line, place), column = line + place - row;
                double size = 0;
                if (!is_in(call->gemm.uplo_c, row, column) || leaves_c(&call->gemm)) {
                    continue;
                }
                const struct number right = expected(call, member, row, column, &size);
                const struct number got = found(call, elements, at);
                meant[at] = 1;
                if (!(fabs(got.re - right.re) <= 2 * eps * size) ||
                        !(fabs(got.im - right.im) <= 2 * eps * size)) {
                    describe(&call->gemm);
                    fprintf(stderr, "%s: member %zu, line %zu, place %zu: (%g, %g), not (%g, %g)\n",
                            how, member, line, place, got.re, got.im, right.re, right.im);
                    exit(EXIT_FAILURE);
                }
            }
        }
    }
    for (size_t i = 0; i < c->elements; i++) {
        const struct number got = found(call, elements, i);
        if (!meant[i] && (got.re != c->host[i].re || got.im != c->host[i].im)) {
            describe(&call->gemm);
            fprintf(stderr, "%s: element %zu of %zu, which is none of C's, was written\n", how, i,
                    c->elements);
            exit(EXIT_FAILURE);
        }
    }
    free(meant);
    free(elements);
}

/* Intel's CPU runtime 2026.22 may still be writing when a blocking write is over. */
static void restore(const struct device *device, const struct call *call)
{
    void *elements = to_elements(call, &call->c);
    check("clEnqueueWriteBuffer",
            clEnqueueWriteBuffer(device->queue, call->c.buffer, CL_TRUE, 0,
                    call->c.elements * element_bytes(call), elements, 0, NULL, NULL));
    check("clFinish", clFinish(device->queue));
    free(elements);
}

/* One byte less than told: nothing is done. */
static void run_without_room(const struct device *device, const struct call *call,
        const struct kiln_gemm *gemm, size_t bytes)
{
    cl_int error = CL_SUCCESS;
    struct kiln_gemm small = *gemm;
    struct call nothing = *call;
    if (gemm->workspace_offset + bytes == 1) {
        return; /* no buffer is smaller */
    }
    small.workspace = clCreateBuffer(device->cl, CL_MEM_READ_WRITE,
            gemm->workspace_offset + bytes - 1, NULL, &error);
    check("clCreateBuffer", error);
    restore(device, call);
    if (kiln_gemm_enqueue(device->kiln, &small, device->queue, 0, NULL, NULL) !=
            KILN_WORKSPACE_TOO_SMALL) {
        fail("a workspace that is too small is taken", KILN_SUCCESS);
    }
    nothing.gemm.alpha = nothing.gemm.alpha_imag = nothing.gemm.beta_imag = 0;
    nothing.gemm.beta = 1;
    compare(device, &nothing, "without room");
    clReleaseMemObject(small.workspace);
}

/* The workspace has what was told, and not a byte more. */
static void run_with_workspace(const struct device *device, struct call *call)
{
    size_t bytes = 0;
    cl_int error = CL_SUCCESS;
    char text[TEXT_BYTES];
    struct kiln_gemm gemm = call->gemm;
    gemm.workspace_offset = 256 * draw(3);
    check("kiln_gemm_workspace_bytes",
            (int) kiln_gemm_workspace_bytes(device->kiln, &gemm, &bytes));
    check("kiln_gemm_explain", (int) kiln_gemm_explain(device->kiln, &gemm, text, sizeof text));
    if (is_complex(call) != (strstr(text, "precision: complex_") != NULL)) {
        fail("explain tells no precision", KILN_SUCCESS);
    }
    if (bytes == 0) {
        return;
    }
    gemm.workspace = clCreateBuffer(device->cl, CL_MEM_READ_WRITE, gemm.workspace_offset + bytes,
            NULL, &error);
    check("clCreateBuffer", error);
    restore(device, call);
    check("kiln_gemm_enqueue",
            (int) kiln_gemm_enqueue(device->kiln, &gemm, device->queue, 0, NULL, NULL));
    compare(device, call, "with a workspace");
    clReleaseMemObject(gemm.workspace);
    run_without_room(device, call, &gemm, bytes);
}

static cl_mem pack(const struct device *device, const struct kiln_gemm *gemm,
        enum kiln_pack_operand which, struct kiln_pack *packed)
{
    size_t bytes = 0;
    cl_int error = CL_SUCCESS;
    check("kiln_pack_bytes", (int) kiln_pack_bytes(device->kiln, gemm, which, &bytes));
    if (bytes == 0) {
        return NULL;
    }
    cl_mem room = clCreateBuffer(device->cl, CL_MEM_READ_WRITE, 256 + bytes, NULL, &error);
    check("clCreateBuffer", error);
    check("kiln_pack_enqueue", (int) kiln_pack_enqueue(device->kiln, gemm, which, room, 256,
                                       device->queue, 0, NULL, NULL, packed));
    check("clFinish", clFinish(device->queue));
    return room;
}

/* A, B or both packed. */
static void run_with_packs(const struct device *device, struct call *call)
{
    struct kiln_pack packs[2];
    cl_mem rooms[2] = { NULL, NULL };
    const unsigned which = 1 + draw(3);
    struct kiln_gemm gemm = call->gemm;
    if ((which & 1) != 0 && call->a.stride == 0 && gemm.uplo_a == 0) {
        rooms[0] = pack(device, &gemm, KILN_PACK_A, &packs[0]);
        gemm.packed_a = rooms[0] != NULL ? &packs[0] : NULL;
    }
    if ((which & 2) != 0 && call->b.stride == 0 && gemm.uplo_b == 0) {
        rooms[1] = pack(device, &gemm, KILN_PACK_B, &packs[1]);
        gemm.packed_b = rooms[1] != NULL ? &packs[1] : NULL;
    }
    restore(device, call);
    check("kiln_gemm_enqueue with packs",
            (int) kiln_gemm_enqueue(device->kiln, &gemm, device->queue, 0, NULL, NULL));
    compare(device, call, "with packs");
    for (unsigned i = 0; i < 2; i++) {
        if (rooms[i] != NULL) {
            clReleaseMemObject(rooms[i]);
        }
    }
}

static double factor(const struct call *call)
{
    static const double common[] = { 0, 1, -1 };
    const unsigned which = draw(6);
    return which < 3 ? common[which] : narrow(call, real_number());
}

/* Some calls are of triangles: then the matrices are square. */
static void draw_triangles(struct kiln_gemm *gemm)
{
    static const enum kiln_uplo triangles[] = { KILN_UPPER, KILN_LOWER };
    const unsigned which = draw(8);
    if ((which & 1) != 0) {
        gemm->uplo_a = triangles[draw(2)];
        gemm->k = gemm->m;
    }
    if ((which & 2) != 0) {
        gemm->uplo_b = triangles[draw(2)];
        gemm->n = gemm->k > 0 ? gemm->k : 1;
        gemm->k = gemm->n;
        gemm->m = gemm->uplo_a != 0 ? gemm->k : gemm->m;
    }
    if ((which & 4) != 0) {
        gemm->uplo_c = triangles[draw(2)];
        gemm->n = gemm->uplo_b != 0 ? gemm->n : gemm->m;
        gemm->m = gemm->n;
        gemm->k = gemm->uplo_a != 0 ? gemm->m : gemm->k;
    }
    gemm->hermitian = (int) draw(2);
}

static enum kiln_precision draw_precision(const struct device *device)
{
    static const enum kiln_precision precisions[] = { KILN_HALF, KILN_SINGLE, KILN_COMPLEX_SINGLE,
        KILN_DOUBLE, KILN_COMPLEX_DOUBLE };
    return precisions[draw(device->has_double ? 5 : 3)];
}

static void run_case(const struct device *device, unsigned most)
{
    static const enum kiln_transpose ops[] = { KILN_NO_TRANS, KILN_TRANS, KILN_CONJ_TRANS };
    struct call call = { .batch = draw(4) == 0 ? 1 + draw(MAX_BATCH) : 1 };
    struct kiln_gemm *gemm = &call.gemm;
    const bool is_shared = draw(2) == 0 || call.batch == 1;
    gemm->precision = draw_precision(device);
    gemm->layout = draw(2) ? KILN_COL_MAJOR : KILN_ROW_MAJOR;
    gemm->transa = ops[draw(3)];
    gemm->transb = ops[draw(3)];
    gemm->m = 1 + draw(most);
    gemm->n = 1 + draw(most);
    gemm->k = draw(most == LARGE ? 2 * LARGE : SMALL);
    call.is_aligned = draw(3) == 0;
    call.offset = call.is_aligned ? LINE : ANYWHERE;
    draw_triangles(gemm);
    gemm->alpha = factor(&call);
    gemm->alpha_imag = !is_complex(&call) || draw(2) ? 0 : factor(&call);
    gemm->beta = factor(&call);
    gemm->beta_imag = !is_complex(&call) || draw(2) ? 0 : factor(&call);
    const bool by_columns = gemm->layout == KILN_COL_MAJOR;
    const bool a_by_k = (gemm->transa == KILN_NO_TRANS) != by_columns;
    const bool b_by_n = (gemm->transb == KILN_NO_TRANS) != by_columns;
    const size_t k = gemm->k > 0 ? gemm->k : 1;
    matrix_make(device, &call, a_by_k ? gemm->m : k, a_by_k ? k : gemm->m, is_shared, &call.a);
    matrix_make(device, &call, b_by_n ? k : gemm->n, b_by_n ? gemm->n : k, is_shared, &call.b);
    matrix_make(device, &call, by_columns ? gemm->n : gemm->m, by_columns ? gemm->m : gemm->n,
            false, &call.c);
    gemm->a = call.a.buffer;
    gemm->b = call.b.buffer;
    gemm->c = call.c.buffer;
    gemm->a_offset = gemm->b_offset = gemm->c_offset = call.offset;
    gemm->lda = call.a.ld;
    gemm->ldb = call.b.ld;
    gemm->ldc = call.c.ld;
    gemm->batch_count = call.batch;
    gemm->a_stride = call.a.stride;
    gemm->b_stride = call.b.stride;
    gemm->c_stride = call.c.stride;
    cl_event event = NULL;
    const enum kiln_status status = kiln_gemm_enqueue(device->kiln, gemm, device->queue, 0, NULL,
            &event);
    if (status != KILN_SUCCESS) {
        describe(gemm);
    }
    check("kiln_gemm_enqueue", (int) status);
    check("clWaitForEvents", clWaitForEvents(1, &event));
    clReleaseEvent(event);
    compare(device, &call, "by itself");
    run_with_workspace(device, &call);
    run_with_packs(device, &call);
    matrix_free(&call.a);
    matrix_free(&call.b);
    matrix_free(&call.c);
}

/* beta of 0 does not read C; a pack of the conjugate transpose is none of the transpose. */
static void run_special(const struct device *device)
{
    struct kiln_pack packed;
    size_t bytes = 0;
    const float ones[4] = { 1, 0, 0, 1 };
    float c[2] = { NAN, NAN };
    cl_int error = CL_SUCCESS;
    cl_mem a = clCreateBuffer(device->cl, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof ones,
            (void *) ones, &error);
    cl_mem result = clCreateBuffer(device->cl, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof c,
            c, &error);
    check("clCreateBuffer", error);
    const cl_float2 i = { { 0, 1 } }, zero = { { 0, 0 } };
    check("kiln_cgemm",
            (int) kiln_cgemm(device->kiln, KILN_ROW_MAJOR, KILN_NO_TRANS, KILN_CONJ_TRANS, 1, 1, 1,
                    i, a, 0, 1, a, 1, 1, zero, result, 0, 1, device->queue, 0, NULL, NULL));
    check("clFinish", clFinish(device->queue));
    check("clEnqueueReadBuffer",
            clEnqueueReadBuffer(device->queue, result, CL_TRUE, 0, sizeof c, c, 0, NULL, NULL));
    if (c[0] != 1 || c[1] != 0) { /* i * 1 * conj(i) */
        fail("i times the conjugate of i is not 1", KILN_SUCCESS);
    }
    struct kiln_gemm gemm = {
        .precision = KILN_COMPLEX_SINGLE,
        .transb = KILN_CONJ_TRANS,
        .m = 1,
        .n = 1,
        .k = 1,
        .alpha = 1,
        .a = a,
        .b = a,
        .c = result,
    };
    cl_mem room = pack(device, &gemm, KILN_PACK_B, &packed);
    gemm.packed_b = &packed;
    gemm.transb = KILN_TRANS;
    if (kiln_gemm_workspace_bytes(device->kiln, &gemm, &bytes) != KILN_PACK_TRANSPOSE_MISMATCH) {
        fail("a pack of the conjugate is taken for the transpose", KILN_SUCCESS);
    }
    clReleaseMemObject(room);
    clReleaseMemObject(a);
    clReleaseMemObject(result);
}

/* The first device of the platform whose name has the text in it; NULL. */
static cl_device_id find_device(cl_platform_id platform, const char *wanted)
{
    cl_device_id id = NULL;
    char name[256];
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &id, NULL) != CL_SUCCESS ||
            clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof name, name, NULL) != CL_SUCCESS) {
        return NULL;
    }
    return wanted == NULL || strstr(name, wanted) != NULL ? id : NULL;
}

static void open_queue(struct device *device, cl_command_queue_properties order)
{
    cl_int error = CL_SUCCESS;
    device->queue = clCreateCommandQueue(device->cl, device->id, order, &error);
    check("clCreateCommandQueue", error);
}

static void open_device(const char *wanted, struct device *device)
{
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint num = 0;
    cl_int error = CL_SUCCESS;
    size_t size = 0;
    if (clGetPlatformIDs(MAX_PLATFORMS, platforms, &num) != CL_SUCCESS) {
        num = 0;
    }
    for (cl_uint i = 0; i < num && i < MAX_PLATFORMS && device->id == NULL; i++) {
        device->id = find_device(platforms[i], wanted);
    }
    if (device->id == NULL) {
        fputs("no OpenCL device\n", stderr);
        exit(EXIT_NO_DEVICE);
    }
    device->cl = clCreateContext(NULL, 1, &device->id, NULL, NULL, &error);
    check("clCreateContext", error);
    check("clGetDeviceInfo", clGetDeviceInfo(device->id, CL_DEVICE_EXTENSIONS, 0, NULL, &size));
    char *extensions = calloc(size + 1, 1);
    if (extensions == NULL) {
        fail("calloc", KILN_OUT_OF_MEMORY);
    }
    clGetDeviceInfo(device->id, CL_DEVICE_EXTENSIONS, size, extensions, NULL);
    device->has_double = strstr(extensions, "cl_khr_fp64") != NULL;
    free(extensions);
    check("kiln_context_create",
            (int) kiln_context_create(device->cl, device->id, &params, &device->kiln));
}

int main(int argc, char **argv)
{
    struct device device = { .id = NULL };
    const unsigned num = argc > 1 ? FEW_CASES : NUM_CASES;
    open_device(argc > 1 ? argv[1] : NULL, &device);
    for (unsigned order = 0; order < 2; order++) {
        open_queue(&device, order ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0);
        run_special(&device);
        for (unsigned i = 0; i < num / 2; i++) {
            run_case(&device, num == NUM_CASES && i % EACH_LARGE == 0 ? LARGE : SMALL);
        }
        check("clFinish", clFinish(device.queue));
        clReleaseCommandQueue(device.queue);
    }
    kiln_context_destroy(&device.kiln);
    clReleaseContext(device.cl);
    printf("%u calls, each in three ways\n", num);
    return 0;
}
