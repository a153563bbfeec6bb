/* host_memory.c: see checks.h. */
#include "checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64, PAGE = 4096, CHUNK = 16 };

struct host_check {
    struct plain plain;
    double *wanted;                    /* m x n */
    unsigned char *c_before;
};

/* Memory of the application, so many bytes past a page, and the buffer over it. */
struct hosted {
    unsigned char *room;
    cl_mem buffer;
};

static double a_value(size_t i, size_t p)
{
    return (double) ((i * 7 + p * 3) % 5) - 2;
}

static double b_value(size_t p, size_t j)
{
    return (double) ((p * 5 + j * 11) % 7) - 3;
}

static double c_value(size_t i, size_t j)
{
    return (double) ((i + 3 * j) % 9) - 4;
}

static void fill(struct host_check *check)
{
    const struct verify_case *of = check->plain.of;
    for (size_t i = 0; i < of->m; i++)
        for (size_t p = 0; p < of->k; p++)
            plain_set_a(&check->plain, i, p, a_value(i, p));
    for (size_t p = 0; p < of->k; p++)
        for (size_t j = 0; j < of->n; j++)
            plain_set_b(&check->plain, p, j, b_value(p, j));
    for (size_t i = 0; i < of->m; i++)
        for (size_t j = 0; j < of->n; j++) {
            double sum = 0;
            for (size_t p = 0; p < of->k; p++)
                sum += a_value(i, p) * b_value(p, j);
            check->wanted[i * of->n + j] = of->alpha * sum + of->beta * c_value(i, j);
            matrix_set(&check->plain.c, i, j, c_value(i, j));
        }
}

static bool host_check_init(struct host_check *check, const struct verify_case *of)
{
    *check = (struct host_check){ .wanted = calloc(of->m * of->n + 1, sizeof(double)) };
    if (!plain_init(&check->plain, of) || !check->wanted)
        return false;
    check->c_before = malloc(plain_bytes(&check->plain.c));
    if (check->c_before) {
        fill(check);
        memcpy(check->c_before, plain_begin(&check->plain.c), plain_bytes(&check->plain.c));
    }
    return check->c_before != NULL;
}

static void host_check_free(struct host_check *check)
{
    plain_free(&check->plain);
    free(check->wanted);
    free(check->c_before);
}

/* `contents` may be NULL, for bytes that are NaNs of any precision. */
static struct hosted hosted_init(const struct verifier *verifier, const void *contents,
        size_t bytes, size_t skew)
{
    struct hosted hosted = { .room = aligned_alloc(PAGE, (skew + bytes + PAGE) / PAGE * PAGE) };
    if (!hosted.room)
        return hosted;
    if (contents)
        memcpy(hosted.room + skew, contents, bytes);
    else
        memset(hosted.room + skew, 0xff, bytes);
    hosted.buffer = clCreateBuffer(verifier->launcher->context,
            CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, hosted.room + skew, NULL);
    return hosted;
}

static void hosted_free(struct hosted *hosted)
{
    if (hosted->buffer)
        clReleaseMemObject(hosted->buffer);
    free(hosted->room);
}

/* The first element of C that is wrong, or what was overwritten; "" when all is well. */
static void judge(const struct host_check *check, char message[VERIFY_MESSAGE_BYTES])
{
    const struct verify_case *of = check->plain.of;
    const struct matrix *c = &check->plain.c;
    char where[MATRIX_MESSAGE_BYTES];
    message[0] = '\0';
    for (size_t i = 0; i < of->m * of->n && !message[0]; i++) {
        const size_t row = i / of->n, col = i % of->n;
        const double wanted = matrix_get(c, row, col);
        if (matrix_bits_of(c->storage, check->wanted[i] + 0.0) !=
                matrix_bits_of(c->storage, wanted + 0.0))
            snprintf(message, VERIFY_MESSAGE_BYTES, "C[%zu][%zu] is %g, not %g", row, col, wanted,
                    check->wanted[i]);
    }
    if (!message[0] && !matrix_is_intact(c, where))
        snprintf(message, VERIFY_MESSAGE_BYTES, "%s", where);
}

/* One run on these buffers, in a workspace so many bytes past a page. */
static enum kiln_status run_on(struct host_check *check, struct verifier *verifier,
        struct kiln_context *context, const struct hosted hosted[3], size_t skew)
{
    const cl_mem buffers[3] = { hosted[0].buffer, hosted[1].buffer, hosted[2].buffer };
    struct kiln_gemm gemm = plain_gemm(&check->plain, buffers);
    struct hosted workspace = { .room = NULL };
    size_t bytes = 0;
    enum kiln_status status = kiln_gemm_workspace_bytes(context, &gemm, &bytes);
    if (status == KILN_SUCCESS && bytes) {
        workspace = hosted_init(verifier, NULL, bytes, skew);
        gemm.workspace = workspace.buffer;
        status = workspace.buffer ? KILN_SUCCESS : KILN_OUT_OF_MEMORY;
    }
    if (status == KILN_SUCCESS)
        status = plain_run(&check->plain, verifier, context, &gemm);
    hosted_free(&workspace);
    return status;
}

/* The i-th run. Factors are odd: each matrix comes to every place, beside others elsewhere. */
static enum verify_verdict run_at(struct host_check *check, struct verifier *verifier,
        struct kiln_context *context, size_t i, char message[VERIFY_MESSAGE_BYTES])
{
    const struct plain *plain = &check->plain;
    const size_t element = plain->c.element_bytes, num = LINE / element;
    const size_t skews[] = { i * element, (3 * i + 1) % num * element, (5 * i + 2) % num * element,
        i * CHUNK % LINE };
    struct hosted hosted[3] = {
        hosted_init(verifier, plain_begin(&plain->a), plain_bytes(&plain->a), skews[0]),
        hosted_init(verifier, plain_begin(&plain->b), plain_bytes(&plain->b), skews[1]),
        hosted_init(verifier, check->c_before, plain_bytes(&plain->c), skews[2]),
    };
    const enum kiln_status status = run_on(check, verifier, context, hosted, skews[3]);
    for (int operand = 0; operand < 3; operand++)
        hosted_free(&hosted[operand]);
    if (status == KILN_SUCCESS)
        judge(check, message);
    else
        snprintf(message, VERIFY_MESSAGE_BYTES, "%s", kiln_status_string(status));
    const size_t length = strlen(message);
    if (length)
        snprintf(message + length, VERIFY_MESSAGE_BYTES - length,
                "; %zu x %zu x %zu, A, B, C and workspace %zu, %zu, %zu, %zu bytes past a page",
                plain->of->m, plain->of->n, plain->of->k, skews[0], skews[1], skews[2], skews[3]);
    return !length ? VERIFY_OK : status == KILN_SUCCESS ? VERIFY_WRONG : VERIFY_FAILED;
}

enum verify_verdict check_host_memory(struct verifier *verifier, struct kiln_context *context,
        const struct verify_case *of, char message[VERIFY_MESSAGE_BYTES])
{
    struct host_check check;
    enum verify_verdict verdict = VERIFY_IMPOSSIBLE;
    snprintf(message, VERIFY_MESSAGE_BYTES, "out of memory");
    if (host_check_init(&check, of))
        verdict = VERIFY_OK;
    for (size_t i = 0; verdict == VERIFY_OK && i < LINE / check.plain.c.element_bytes; i++)
        verdict = run_at(&check, verifier, context, i, message);
    host_check_free(&check);
    return verdict;
}
