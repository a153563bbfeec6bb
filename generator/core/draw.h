/* draw.h: shapes of multiplications drawn from a distribution, for the tuner and for the bench.
 *
 * Six classes take turns, so that the first few shapes hold all of them. Every second shape of a
 * class has extents that are multiples of 16, but for the thin one of a thin shape; the others are
 * as they come. Extents are log-uniform: as many from 100 to 200 as from 1000 to 2000. A shape that
 * lies outside of the limits, or is not of its class, is drawn anew.
 *
 *   large, medium, small    no extent stands out; the operations are in the upper, middle or lower
 *                           third, by logarithm, of what the limits allow
 *   thin                    M or N from 1 to 64, the other extents at least four times that and big
 *   deep                    K at least eight times M and N
 *   flat                    M and N big, and at least eight times K
 *
 * Big is what reaches the extent of the smallest cube of the middle third.
 *
 * Only integers are used: the same seed, purpose and limits give the same shapes on every machine.
 * A shape depends on its number in the stream, and not on what was drawn before. Streams of
 * different purposes have nothing in common, so that what is judged on one was not chosen by it.
 */
#ifndef KILN_CORE_DRAW_H
#define KILN_CORE_DRAW_H

#include "shape.h"

#include <stdint.h>

enum {
    DRAW_NUM_CLASSES = 6,
    DRAW_UNIT = 16,                    /* of aligned extents */
    DRAW_THIN_MOST = 64,
    DRAW_THIN_TIMES = 4,               /* the other extents over the thin one, at least */
    DRAW_DEEP_TIMES = 8,               /* K over M and N */
    DRAW_FLAT_TIMES = 8                /* M and N over K */
};

/* What draw_limits_error lets pass. */
enum { DRAW_LEAST_OPS = 1000, DRAW_LARGEST_LEAST = 16, DRAW_LARGEST_MOST = 1 << 20 };
#define DRAW_MOST_OPS UINT64_C(1000000000000000)

struct draw_limits {
    uint64_t least_ops, most_ops;      /* 2 m n k */
    uint64_t most_elements;            /* of A, B and C together */
    size_t largest;                    /* extent; K of a deep shape is up to DRAW_DEEP_TIMES that */
};

/* What stands out in a shape, whatever the limits are. */
enum draw_kind { DRAW_THIN, DRAW_DEEP, DRAW_FLAT, DRAW_EVEN, DRAW_NUM_KINDS };
extern const char *const draw_kind_names[DRAW_NUM_KINDS];
enum draw_kind draw_kind_of(struct shape shape);

/* A stream, and how far it was drawn. */
struct draw {
    struct draw_limits limits;
    uint64_t key;                      /* of seed and purpose */
    uint64_t next;                     /* number of the next shape */
};

struct drawn {
    WITH_SHAPE;
    bool transa, transb;               /* a pair of its own: each of the four is as likely */
    bool aligned;                      /* multiples of DRAW_UNIT by intent, but for a thin one */
    unsigned class;                    /* for draw_class_name */
};

const char *draw_class_name(unsigned class);

/* What is wrong with limits, or NULL. */
const char *draw_limits_error(const struct draw_limits *limits);

/* The limits must be in order. The purpose, "bench" say, is part of the key. */
void draw_begin(struct draw *draw, const char *purpose, uint64_t seed,
        const struct draw_limits *limits);

/* The next shape of the stream. False when its class has none within the limits that can be found;
 * `drawn` says which class, and the stream goes on behind it all the same. */
bool draw_shape(struct draw *draw, struct drawn *drawn);

#endif
