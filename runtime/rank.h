/* rank.h: in which order the recipes of a bundle are tried for a product. Pure, like plan.h. */
#ifndef KILN_RANK_H
#define KILN_RANK_H

#include "predict.h"

enum { KILN_RANKED = 6 }; /* recipes that are ordered at a time */

/* A recipe's place in the order. What is pinned to the shape comes first, then the predicted time
 * counts, and among recipes without one, or with the same, the order of the bundle. */
struct kiln_rank {
    uint64_t time;                     /* KILN_RANK_PINNED, picoseconds + 1, KILN_RANK_UNTIMED */
    uint32_t recipe;                   /* index in the bundle */
};
#define KILN_RANK_PINNED UINT64_C(0)
#define KILN_RANK_UNTIMED (KILN_TIME_MAX + 2)

/* Finds the next recipes, in order, that are for the product's precision, transposes and extents;
 * they may or may not take its leading dimensions and offsets. left_out: those that do not count,
 * by their indices; NULL: all count. after: the last one found before, NULL at first. units: the
 * device's compute units. Returns how many; fewer than KILN_RANKED: there are no more. */
KILN_INTERNAL unsigned kiln_rank(const struct kiln_bundle *bundle, const bool *left_out,
        const struct kiln_product *product, uint32_t units, const struct kiln_rank *after,
        struct kiln_rank ranks[KILN_RANKED]);

/* The place of one recipe. One that leaves a real product takes its own time, if it is known, and
 * that of the bundle's recipe that is fastest for this. */
KILN_INTERNAL struct kiln_rank kiln_rank_of(const struct kiln_bundle *bundle, const bool *left_out,
        uint32_t recipe, const struct kiln_product *product, uint32_t units);

#endif
