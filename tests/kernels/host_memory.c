/* host_memory.c: see checks.h. */
#include "checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64, PAGE = 4096, CHUNK = 16, NUM_ROOMS = 4 };     /* of A, B, C and the workspace */

struct host_check {
    struct plain plain;
    double *wanted;                    /* m x n */
    unsigned char *c_before;
    unsigned char *rooms[NUM_ROOMS];
    size_t bytes[NUM_ROOMS];
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

static bool host_check_init(struct host_check *check, const struct verify_case *of,
        size_t workspace_bytes)
{
    *check = (struct host_check) { .wanted = calloc(of->m * of->n + 1, sizeof(double)) };
    if (!plain_init(&check->plain, of) || !check->wanted)
        return false;
    const size_t bytes[NUM_ROOMS] = { plain_bytes(&check->plain.a), plain_bytes(&check->plain.b),
            plain_bytes(&check->plain.c), workspace_bytes };
    for (int i = 0; i < NUM_ROOMS; i++) {
        check->bytes[i] = bytes[i];
        check->rooms[i] = aligned_alloc(PAGE, (bytes[i] + LINE + PAGE) / PAGE * PAGE);
        if (!check->rooms[i])
            return false;
    }
    check->c_before = malloc(check->bytes[2]);
    if (check->c_before) {
        fill(check);
        memcpy(check->c_before, plain_begin(&check->plain.c), check->bytes[2]);
    }
    return check->c_before != NULL;
}

static void host_check_free(struct host_check *check)
{
    plain_free(&check->plain);
    free(check->wanted);
    free(check->c_before);
    for (int i = 0; i < NUM_ROOMS; i++)
        free(check->rooms[i]);
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
        if (matrix_bits_of(c->element_bytes, check->wanted[i] + 0.0) !=
            matrix_bits_of(c->element_bytes, wanted + 0.0))
            snprintf(message, VERIFY_MESSAGE_BYTES, "C[%zu][%zu] is %g, not %g", row, col, wanted,
                    check->wanted[i]);
    }
    if (!message[0] && !matrix_is_intact(c, where))
        snprintf(message, VERIFY_MESSAGE_BYTES, "%s", where);
}

/* One run with each buffer so many bytes past a page. */
static enum verify_verdict run_at(struct host_check *check, struct verifier *verifier,
        struct kiln_context *context, const size_t skews[NUM_ROOMS],
        char message[VERIFY_MESSAGE_BYTES])
{
    const unsigned char *contents[NUM_ROOMS] = { plain_begin(&check->plain.a),
            plain_begin(&check->plain.b), check->c_before, NULL };
    cl_mem buffers[NUM_ROOMS] = { NULL };
    for (int i = 0; i < NUM_ROOMS; i++) {
        unsigned char *at = check->rooms[i] + skews[i];
        if (contents[i])
            memcpy(at, contents[i], check->bytes[i]);
        else
            memset(at, 0xff, check->bytes[i]);
        buffers[i] = clCreateBuffer(verifier->launcher->context,
                CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, check->bytes[i], at, NULL);
    }
    const enum kiln_status status = plain_run(&check->plain, verifier, context, buffers,
            buffers[NUM_ROOMS - 1]);
    for (int i = 0; i < NUM_ROOMS; i++)
        if (buffers[i])
            clReleaseMemObject(buffers[i]);
    if (status == KILN_SUCCESS)
        judge(check, message);
    else
        snprintf(message, VERIFY_MESSAGE_BYTES, "%s", kiln_status_string(status));
    const size_t length = strlen(message);
    if (length)
        snprintf(message + length, VERIFY_MESSAGE_BYTES - length,
                "; %zu x %zu x %zu, A, B, C and workspace %zu, %zu, %zu, %zu bytes past a page",
                check->plain.of->m, check->plain.of->n, check->plain.of->k, skews[0], skews[1],
                skews[2], skews[3]);
    return !length ? VERIFY_OK : status == KILN_SUCCESS ? VERIFY_WRONG : VERIFY_FAILED;
}

enum verify_verdict check_host_memory(struct verifier *verifier, struct kiln_context *context,
        const struct verify_case *of, char message[VERIFY_MESSAGE_BYTES])
{
    const size_t element = (size_t) of->problem.precision->element_bytes;
    const size_t num = LINE / element;
    struct host_check check;
    enum verify_verdict verdict = VERIFY_IMPOSSIBLE;
    snprintf(message, VERIFY_MESSAGE_BYTES, "out of memory");
    if (host_check_init(&check, of, verifier->launcher->workspace_bytes))
        verdict = VERIFY_OK;
    /* Odd factors: each matrix comes to every place, beside others at other places. */
    for (size_t i = 0; i < num && verdict == VERIFY_OK; i++) {
        const size_t skews[NUM_ROOMS] = { i * element, (3 * i + 1) % num * element,
                (5 * i + 2) % num * element, i * CHUNK % LINE };
        verdict = run_at(&check, verifier, context, skews, message);
    }
    host_check_free(&check);
    return verdict;
}
