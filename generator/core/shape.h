/* shape.h: the shape of a multiplication, C (M x N) += A (M x K) B (K x N), or of each of a batch.
 */
#ifndef KILN_CORE_SHAPE_H
#define KILN_CORE_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

/* batch: members, 2 at least; 0: a single multiplication. */
#define SHAPE_FIELDS size_t m, n, k, batch

struct shape {
    SHAPE_FIELDS;
};

/* In a structure that has a shape: as a whole, and by its parts. */
#define WITH_SHAPE \
    union { \
        struct shape shape; \
        struct { \
            SHAPE_FIELDS; \
        }; \
    }

static inline bool shape_equal(struct shape a, struct shape b)
{
    return a.m == b.m && a.n == b.n && a.k == b.k && a.batch == b.batch;
}

/* How many multiplications they are. */
static inline size_t shape_members(struct shape shape)
{
    return shape.batch > 0 ? shape.batch : 1;
}

enum { SHAPE_MOST_BATCH = 1 << 24, SHAPE_BATCH_BYTES = 32, SHAPE_TEXT_BYTES = 96 };

/* "64x64x64", or "64x64x64 batch=100". */
void shape_format(struct shape shape, char text[SHAPE_TEXT_BYTES]);

/* What a file has behind the extents of a batch: a separator and "batch=100"; else "". */
void shape_format_batch(struct shape shape, char separator, char text[SHAPE_BATCH_BYTES]);
/* "batch=N", N from 1 to SHAPE_MOST_BATCH; of one member *batch is 0. False when it is no such
 * field. */
bool shape_parse_batch(const char *field, size_t *batch);

#endif
