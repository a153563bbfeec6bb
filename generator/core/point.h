/* point.h: a configuration as a point of its search space: one value index per parameter. */
#ifndef KILN_CORE_POINT_H
#define KILN_CORE_POINT_H

#include <stdint.h>

enum { POINT_MAX_PARAMS = 24 };

struct point {
    unsigned char at[POINT_MAX_PARAMS];
};

/* A small repeatable generator (Steele, Lea and Flood 2014, splitmix64). */
static inline uint64_t point_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

#endif
