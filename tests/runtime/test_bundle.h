/* test_bundle.h: two hand-written bundles for the host-logic tests, linked as the library's own.
 *
 * "tuned" is for the fake driver's default device and has a recipe for each thing that dispatch
 * and launch must get right; "generic" has one kernel per precision, transposes and index width.
 * Kernels whose arguments are in the order of BLAS are called plain; see enum plain_arg.
 */
#ifndef KILN_TESTS_TEST_BUNDLE_H
#define KILN_TESTS_TEST_BUNDLE_H

#include "stub.h"

#include "bundle.h"
#include "kiln/kiln.h"

/* The tuned recipes. At large shapes those that have a time are tried in the order of the bundle;
 * at small ones the last of them comes first. */
enum {
    TUNED_ALIGNED,                     /* NN, guarded: m, n of 8, k of 4, all matrices of 4 */
    TUNED_PACKED,                      /* NN, prepares both: pack_a, pack_b, packed_mul */
    TUNED_PACKED_64,                   /* NN, 64-bit indices, pack_b_64 and mul_64 with a region of
                                          the workspace that is not marked as prepared B */
    TUNED_SMALL,                       /* NN, plain */
    TUNED_TN,                          /* TN, plain */
    TUNED_DOUBLE,                      /* NN in double precision, plain */
    NUM_TUNED
};

enum {
    PROGRAM_ALIGNED,
    PROGRAM_PACKED,
    PROGRAM_PACKED_64,
    PROGRAM_SMALL,
    PROGRAM_DOUBLE,
    NUM_TUNED_PROGRAMS
};

/* Words that name one program each, for plans of build failures. */
#define MARK_ALIGNED "aligned_mul("
#define MARK_PACKED "packed_mul("
#define MARK_PACKED_64 "mul_64("
#define MARK_SMALL "small_mul("
#define MARK_GENERIC_SINGLE "generic_s_nn("

enum plain_arg {
    PLAIN_M, PLAIN_N, PLAIN_K, PLAIN_ALPHA, PLAIN_A, PLAIN_A_OFFSET, PLAIN_LDA, PLAIN_B,
    PLAIN_B_OFFSET, PLAIN_LDB, PLAIN_BETA, PLAIN_C, PLAIN_C_OFFSET, PLAIN_LDC, NUM_PLAIN_ARGS
};

enum { PACK_A_M, PACK_A_K, PACK_A_SOURCE, PACK_A_OFFSET, PACK_A_LD, PACK_A_WORK, PACK_A_REGION };
enum { PACK_B_K, PACK_B_N, PACK_B_SOURCE, PACK_B_OFFSET, PACK_B_LD, PACK_B_WORK, PACK_B_REGION };
enum {
    MUL_WORK,
    MUL_REGION_A,
    MUL_WORK_B,
    MUL_REGION_B,
    MUL_M,
    MUL_N,
    MUL_K,
    MUL_ALPHA,
    MUL_BETA,
    MUL_C,
    MUL_C_OFFSET,
    MUL_LDC
};
enum {
    MUL_64_M,
    MUL_64_N,
    MUL_64_K,
    MUL_64_ALPHA,
    MUL_64_A,
    MUL_64_A_OFFSET,
    MUL_64_LDA,
    MUL_64_WORK,
    MUL_64_REGION,
    MUL_64_BETA,
    MUL_64_C,
    MUL_64_C_OFFSET,
    MUL_64_LDC
};

extern const struct kiln_recipe tuned_recipes[NUM_TUNED];
extern const struct kiln_bundle tuned_bundle;
extern const struct kiln_bundle generic_bundle;

/* Fills in the hash and the bytes of a program's text. */
void test_bundle_finish(const struct kiln_pool *pool, struct kiln_program *program);
/* The bytes that the packed recipe needs for a shape, and where its second region starts. */
size_t test_bundle_packed_bytes(size_t m, size_t n, size_t k, size_t *second_region);

#endif
