/* verify.h: whether a kernel computes what it should, everywhere and nowhere else.
 *
 * Two checks, each over all elements and with guard zones (matrix.h). The exact one multiplies
 * odd integers whose product is known at any size and compares bit by bit (exact.h). The gauge one
 * multiplies random numbers of full significands and compares with a reference in higher precision,
 * in units of eps (|alpha| sum|A||B| + |beta||C|), as the testers of netlib's BLAS do.
 */
#ifndef KILN_TUNE_VERIFY_H
#define KILN_TUNE_VERIFY_H

#include "../core/assemble.h"
#include "exact.h"
#include "launcher.h"
#include "matrix.h"

enum { VERIFY_MESSAGE_BYTES = 240, VERIFY_LIMIT = 16, VERIFY_NUM_SLOTS = 2 };

/* One multiplication. The exact check wants alpha and beta to be multiples of 1/4, up to 8. */
struct verify_case {
    struct problem problem;
    size_t m, n, k;
    size_t pad_a, pad_b, pad_c;        /* elements by which leading dimensions exceed the least */
    size_t offset_a, offset_b, offset_c;
    double alpha, beta;
    bool poison_inputs;                /* A and B are NaN: for alpha = 0 */
    bool by_columns;                   /* the library is asked for the same in column-major
                                          layout */
    unsigned repeats;                  /* times that it is done again; must be bitwise the same */
    unsigned packed;                   /* then with packs: bit 0 for A, bit 1 for B */
    size_t members;                    /* not 0: it is done as a batch of so many, which divide C by
                                          rows and share B; or if m is 1 by columns, sharing A */
};

enum verify_verdict {
    VERIFY_OK,
    VERIFY_WRONG,                      /* a wrong element, or a write outside C */
    VERIFY_REFUSED,                    /* no kernel: it did not build or does not take the shape */
    VERIFY_FAILED,                     /* the library or the driver reports an error */
    VERIFY_IMPOSSIBLE                  /* out of memory, or too deep to be verified exactly */
};

struct verify_operands {
    struct matrix a, b, c;
};

/* The inputs of an exact check, kept on the device for the next candidate at the same shape. No
 * matrix has an image of its own. */
struct verify_slot {
    struct verify_case of;
    struct verify_operands operands;
    struct exact_factors factors;
    unsigned long used;                /* 0: empty */
};

struct verifier {
    struct launcher *launcher;
    struct verify_slot slots[VERIFY_NUM_SLOTS];
    unsigned long clock;
    unsigned char *image;              /* lent to one matrix of a slot at a time */
    size_t image_bytes;
    long cores;                        /* of this machine, for what the host does (parallel.h) */
    double seconds;                    /* that the last candidate's multiplication took */
    struct kiln_gemm gemm;             /* the last call; its buffers may be gone */
};

void verifier_init(struct verifier *verifier, struct launcher *launcher);
void verifier_free(struct verifier *verifier);

/* `context` holds the candidate alone. The message is one line, "" when all is well. */
enum verify_verdict verify_exact(struct verifier *verifier, struct kiln_context *context,
        const struct verify_case *of, char message[VERIFY_MESSAGE_BYTES]);
enum verify_verdict verify_gauge(struct verifier *verifier, struct kiln_context *context,
        const struct verify_case *of, char message[VERIFY_MESSAGE_BYTES]);

/* Of a shape as it is timed; of a batch all members as one. */
struct verify_case verify_case_of(const struct problem *problem, struct shape shape);

/* Makes the row-major call for a whole case one for its members, if it has any. */
void verify_make_batch(const struct verify_case *of, struct kiln_gemm *gemm);

/* ---- edges.c: which multiplications to verify ---- */

enum { VERIFY_MAX_EDGES = 96, VERIFY_EDGE_BYTES = 24 };

struct edge_case {
    char name[VERIFY_EDGE_BYTES];
    struct verify_case of;
};

/* The edge classes of a recipe, as its guards want, each case once: a tile less one, whole and one
 * more in each dimension, several, the same of its further edges, more and fewer tiles than
 * work-groups that take them in turn, and what is an edge for all kernels. Returns how many. */
unsigned verify_edges(const struct problem *problem, const struct kiln_recipe *recipe,
        const struct assembly_edges *edges, struct edge_case cases[VERIFY_MAX_EDGES]);

/* Whether the case is small enough for the gauge check. */
bool verify_has_reference(const struct verify_case *of);

/* Whether inputs made for one case serve another. */
bool verify_same_inputs(const struct verify_case *x, const struct verify_case *y);

/* The cases that a candidate must pass before it is timed: no multiples of its tiles, across the
 * border of at least one in each direction. The second is small enough for a reference. */
void verify_check_cases(const struct problem *problem, const struct kiln_recipe *recipe,
        const struct assembly_edges *edges, struct verify_case *exact, struct verify_case *gauge);

/* Changes the extents as little as the guard wants: up to a multiple, or down to the largest. */
void verify_fit(const struct kiln_guard *guard, size_t *m, size_t *n, size_t *k);

#endif
