/* checks.h: what a kernel must bear beside the edge classes, each on matrices of its own. */
#ifndef KILN_TESTS_KERNELS_CHECKS_H
#define KILN_TESTS_KERNELS_CHECKS_H

#include "tune/verify.h"

/* `context` holds the candidate alone. The message is one line, "" when all is well. */
typedef enum verify_verdict kernel_check(struct verifier *verifier, struct kiln_context *context,
        const struct verify_case *of, char message[VERIFY_MESSAGE_BYTES]);

/* The next two are for real precisions. */

/* Buffers over memory of the application (CL_MEM_USE_HOST_PTR), each at every multiple of the
 * element below 64 bytes; the workspace at every multiple of 16, a pixel of an image. A kernel that
 * assumes more of an address takes the process down on a CPU. */
kernel_check check_host_memory;

/* All pairs of alpha and beta out of 0, -0, 1, -1, infinities, NaN, tiny and huge, over values of C
 * like these, and sums that are 0, infinite, or small though parts of them are not. */
kernel_check check_special_values;

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

/* The case on these buffers, which may be NULL. */
struct kiln_gemm plain_gemm(const struct plain *plain, const cl_mem buffers[3]);

/* Runs it, in the launcher's workspace if it has none, and reads C back. KILN_OUT_OF_MEMORY when a
 * buffer is NULL. */
enum kiln_status plain_run(struct plain *plain, struct verifier *verifier,
        struct kiln_context *context, const struct kiln_gemm *gemm);

#endif
