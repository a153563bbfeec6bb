/* shape.h: how near two shapes are. The dispatch and the generator's selection share it. */
#ifndef KILN_SHAPE_H
#define KILN_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Extents that differ by one have points of their own up to 2^16. */
enum { KILN_LOG_FRACTION_BITS = 16 };

/* log2 of a shape, in 1/65536. Shapes whose rows begin anywhere and those whose rows all begin at
 * multiples of 16 bytes want other kernels: `rows` puts them an octave apart. */
struct kiln_point {
    int32_t m, n, k, rows;
};

/* The bits below the leading one stand for the fraction: off by at most 0.09, the same for all. */
static inline int32_t kiln_log2_fixed(size_t value)
{
    const uint64_t x = value > 0 ? value : 1;
    const int exponent = 63 - __builtin_clzll(x);
    const uint64_t below = x - (UINT64_C(1) << exponent);
    const uint64_t fraction = exponent >= KILN_LOG_FRACTION_BITS
            ? below >> (exponent - KILN_LOG_FRACTION_BITS)
            : below << (KILN_LOG_FRACTION_BITS - exponent);
    return (int32_t) (((uint64_t) exponent << KILN_LOG_FRACTION_BITS) + fraction);
}

/* Whether elements at this distance are a multiple of 16 bytes apart. */
static inline bool kiln_is_whole(size_t elements, size_t element_bytes)
{
    return elements * element_bytes % 16 == 0;
}

static inline struct kiln_point kiln_point_of(size_t m, size_t n, size_t k, bool rows_are_whole)
{
    return (struct kiln_point) { kiln_log2_fixed(m), kiln_log2_fixed(n), kiln_log2_fixed(k),
            rows_are_whole ? 0 : 1 << KILN_LOG_FRACTION_BITS };
}

/* The point of matrices without gaps between their rows. */
static inline struct kiln_point kiln_point_of_dense(size_t m, size_t n, size_t k, bool transa,
        bool transb, size_t element_bytes)
{
    return kiln_point_of(m, n, k, kiln_is_whole(transa ? m : k, element_bytes) &&
            kiln_is_whole(transb ? k : n, element_bytes) && kiln_is_whole(n, element_bytes));
}

/* Squared distance; a difference is below 2^22. */
static inline int64_t kiln_point_distance(const struct kiln_point *p, const struct kiln_point *q)
{
    const int64_t m = p->m - q->m, n = p->n - q->n, k = p->k - q->k, rows = p->rows - q->rows;
    return m * m + n * n + k * k + rows * rows;
}

#endif
