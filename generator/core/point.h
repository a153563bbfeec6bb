/* point.h: a configuration as a point of its search space: one value index per parameter. */
#ifndef KILN_CORE_POINT_H
#define KILN_CORE_POINT_H

#include <stdint.h>

enum { POINT_MAX_PARAMS = 24 };

struct point {
    unsigned char at[POINT_MAX_PARAMS];
};

/* ---- All points of a space, in mixed-radix order ---- */

/* UINT64_MAX: more than can be counted. */
static inline uint64_t point_count(const unsigned *num_values, unsigned num_params)
{
    uint64_t count = 1;
    for (unsigned i = 0; i < num_params; i++)
        if (__builtin_mul_overflow(count, (uint64_t) num_values[i], &count))
            return UINT64_MAX;
    return count;
}

static inline struct point point_of_index(uint64_t index, const unsigned *num_values,
        unsigned num_params)
{
    struct point point = { { 0 } };
    for (unsigned i = num_params; i-- > 0; index /= num_values[i])
        point.at[i] = (unsigned char) (index % num_values[i]);
    return point;
}

static inline uint64_t point_index(const struct point *point, const unsigned *num_values,
        unsigned num_params)
{
    uint64_t index = 0;
    for (unsigned i = 0; i < num_params; i++)
        index = index * num_values[i] + point->at[i];
    return index;
}

#endif
