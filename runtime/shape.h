/* shape.h: how near two shapes are. The dispatch and the generator's selection share it. */
#ifndef KILN_SHAPE_H
#define KILN_SHAPE_H

#include <stddef.h>
#include <stdint.h>

enum { KILN_LOG_FRACTION_BITS = 8 };

/* log2 of a shape, in 1/256. */
struct kiln_point {
    int32_t m, n, k;
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

static inline struct kiln_point kiln_point_of(size_t m, size_t n, size_t k)
{
    return (struct kiln_point) { kiln_log2_fixed(m), kiln_log2_fixed(n), kiln_log2_fixed(k) };
}

/* Squared distance; a difference is below 2^14, so that the sum of three squares fits. */
static inline int32_t kiln_point_distance(const struct kiln_point *p, const struct kiln_point *q)
{
    const int32_t m = p->m - q->m, n = p->n - q->n, k = p->k - q->k;
    return m * m + n * n + k * k;
}

#endif
