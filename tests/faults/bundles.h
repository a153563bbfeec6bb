/* bundles.h: small bundles, for what the linked ones may not do on the device at hand. They serve
 * single precision without transposes, by a recipe of their own and a plain one after it. */
#ifndef KILN_TESTS_BUNDLES_H
#define KILN_TESTS_BUNDLES_H

#include "bundle.h"
#include "fnv.h"

/* Of a recipe; of a binary. */
#define SINGLE .precision = KILN_SINGLE, .index_bits = 32, .tile = { 1, 1, 1 }, \
               .reach = { 1, 1, 1 }
#define BINARY(bytes, num) \
    .data = (bytes), .size = (num), .data_hash = kiln_hash(KILN_HASH_BEGIN, bytes, num)

const struct kiln_bundle *staged_bundle(void); /* prepares A and B, each by a stage */
const struct kiln_bundle *imaged_bundle(void); /* reads A from the workspace, as an image */
const struct kiln_bundle *split_bundle(void);  /* writes C in two stages, half in each */

#endif
