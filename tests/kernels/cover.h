/* cover.h: a few configurations of a family that together take every value of every parameter. */
#ifndef KILN_TESTS_KERNELS_COVER_H
#define KILN_TESTS_KERNELS_COVER_H

#include "core/family.h"

enum { COVER_MAX_CONFIGS = 64 };

struct cover {
    struct config configs[COVER_MAX_CONFIGS];
    unsigned num, num_presets;         /* the presets come first */
};

/* Whether a legal configuration may be taken; `env` is the caller's. */
typedef bool cover_accepts(void *env, const struct config *config, const struct problem *problem);

/* The family's presets for the precision that are legal on the device and accepted, then
 * configurations chosen so that every value that some legal configuration has appears, and so do
 * many pairs of values. The same arguments give the same configurations. */
void cover_make(const struct family *family, const struct problem *problem,
        const struct device_facts *facts, cover_accepts *accepts, void *env, struct cover *cover);

#endif
