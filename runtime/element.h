/* element.h: a real number as it lies in a matrix, from and to a double; shared with the generator.
 */
#ifndef KILN_ELEMENT_H
#define KILN_ELEMENT_H

#include "plan.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Round to nearest, ties to even; too large becomes infinity; NaN stays NaN. */
static inline uint16_t kiln_half_from_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint16_t sign = (uint16_t) (bits >> 16 & 0x8000);
    uint32_t rest = bits & 0x7fffffff;
    if (rest > 0x7f800000) {
        return (uint16_t) (sign | 0x7e00 | (rest >> 13 & 0x1ff));
    }
    if (rest >= 0x477ff000) { /* 65520, half way to what would be 65536 */
        return (uint16_t) (sign | 0x7c00);
    }
    if (rest < 0x33000000) { /* below half of the least subnormal, 2^-25 */
        return sign;
    }
    /* A subnormal half keeps fewer bits: the significand moves further to the right. */
    uint32_t exponent = rest >> 23;
    bool subnormal = exponent < 113;
    unsigned shift = subnormal ? 126 - exponent : 13;
    uint32_t from = subnormal ? (rest & 0x7fffff) | 0x800000 : rest - (112u << 23);
    uint32_t cut = from & ((1u << shift) - 1), tie = 1u << (shift - 1);
    uint32_t half = from >> shift;
    half += cut > tie || (cut == tie && (half & 1));
    return (uint16_t) (sign | half);
}

static inline float kiln_half_to_float(uint16_t half)
{
    uint32_t rest = half & 0x7fff, bits = (rest << 13) + (112u << 23);
    float value;
    memcpy(&value, &bits, sizeof value);
    if (rest < 0x400) {
        value = (float) rest * 0x1p-24f;
    } else if (rest >= 0x7c00) {
        value = rest > 0x7c00 ? NAN : INFINITY;
    }
    return half & 0x8000 ? -value : value;
}

static inline void kiln_real_put(enum kiln_storage storage, void *at, double value)
{
    switch (storage) {
    case KILN_STORED_HALF: {
        const uint16_t half = kiln_half_from_float((float) value);
        memcpy(at, &half, sizeof half);
        break;
    }
    case KILN_STORED_FLOAT: {
        const float single = (float) value;
        memcpy(at, &single, sizeof single);
        break;
    }
    case KILN_STORED_DOUBLE: memcpy(at, &value, sizeof value); break;
    }
}

static inline double kiln_real_get(enum kiln_storage storage, const void *at)
{
    switch (storage) {
    case KILN_STORED_HALF: {
        uint16_t half;
        memcpy(&half, at, sizeof half);
        return kiln_half_to_float(half);
    }
    case KILN_STORED_FLOAT: {
        float single;
        memcpy(&single, at, sizeof single);
        return single;
    }
    case KILN_STORED_DOUBLE: {
        double value;
        memcpy(&value, at, sizeof value);
        return value;
    }
    }
    return NAN;
}

#endif
