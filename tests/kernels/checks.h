/* checks.h: what a kernel must bear beside the edge classes, each on matrices of its own. */
#ifndef KILN_TESTS_KERNELS_CHECKS_H
#define KILN_TESTS_KERNELS_CHECKS_H

#include "tune/verify.h"

/* `context` holds the candidate alone. The message is one line, "" when all is well. */
typedef enum verify_verdict check(struct verifier *verifier, struct kiln_context *context,
        const struct verify_case *of, char message[VERIFY_MESSAGE_BYTES]);

/* Buffers over memory of the application (CL_MEM_USE_HOST_PTR), each at every multiple of the
 * element below 64 bytes; the workspace at every multiple of 16, a pixel of an image. A kernel that
 * assumes more of an address takes the process down on a CPU. */
check check_host_memory;

/* All pairs of alpha and beta out of 0, -0, 1, -1, infinities, NaN, tiny and huge, over values of C
 * like these, and sums that are 0, infinite, or small though parts of them are not. */
check check_special_values;

/* ---- plain.c: multiplications of matrices that the check fills ---- */

/* A case with these extents, or as near as the recipe takes, without gaps that it does not want;
 * alpha and beta are 1. */
struct verify_case plain_case(const struct problem *problem, const struct kiln_recipe *recipe,
        size_t m, size_t n, size_t k);

struct plain {
    const struct verify_case *of;
    struct matrix a, b, c;             /* as stored, on the host; never uploaded */
};

/* Matrices of the case's extents, full of poison. */
bool plain_init(struct plain *plain, const struct verify_case *of);
void plain_free(struct plain *plain);

/* Sets op(A)[i][p] or op(B)[p][j]. */
void plain_set_a(struct plain *plain, size_t i, size_t p, double value);
void plain_set_b(struct plain *plain, size_t p, size_t j, double value);

/* A matrix without its zones: what a buffer holds. */
size_t plain_bytes(const struct matrix *matrix);
unsigned char *plain_begin(const struct matrix *matrix);

/* Runs the case on these buffers; a buffer that is NULL is KILN_OUT_OF_MEMORY. C is read back. */
enum kiln_status plain_run(struct plain *plain, struct verifier *verifier,
        struct kiln_context *context, const cl_mem buffers[3], cl_mem workspace);

#endif
