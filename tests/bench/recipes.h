/* recipes.h: the recipes of the linked bundles as peers, each alone, to see what choosing among
 * them loses. A recipe is opened when a problem first comes that it may serve, and stays open, so
 * that its program is built once. */
#ifndef BENCH_RECIPES_H
#define BENCH_RECIPES_H

#include <stdint.h>

#include "peers.h"

struct kiln_bundle;

struct recipe_peer {
    const struct kiln_bundle *bundle;
    uint32_t index;                    /* of the recipe in the bundle */
    bool is_open;                      /* tried, and there is a message on stderr, when false */
    struct peer peer;                  /* its key is the recipe's name */
};

/* Only `setup` and `emulates` are for others to set. */
struct recipes {
    const struct peer_setup *setup;
    bool emulates;                     /* single precision may be emulated */
    struct recipe_peer **items;
    size_t count;
    struct peer_room room;             /* workspace of whichever of them multiplies */
};

/* The recipes of the bundle of that name whose guards let the problem pass, in a new list that the
 * caller frees; the peers stay with `recipes`. False when memory is short. */
bool recipes_find(struct recipes *recipes, const char *bundle, const struct problem *problem,
        struct recipe_peer ***list, size_t *count);
void recipes_close(struct recipes *recipes);

#endif
