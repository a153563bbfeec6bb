/* share.h: makes a bundle's text small, for what is emitted.
 *
 * Pairs of neighbours that stand in the programs three times at least become symbols of their own,
 * the most frequent first, until there are none (Larsson and Moffat's Re-Pair, on lines). The same
 * programs give the same pool. Pure.
 */
#ifndef KILN_CORE_SHARE_H
#define KILN_CORE_SHARE_H

#include "pool.h"

struct shared {
    struct pool pool;
    struct kiln_program *programs;     /* the bundle's, with symbols of this pool */
};

/* False when out of memory, or when the bundle has too many lines. Free it in any case. */
bool share_text(const struct kiln_bundle *bundle, struct shared *shared);
void share_free(struct shared *shared);

#endif
