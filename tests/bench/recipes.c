/* recipes.c: finds the recipes of a bundle that may serve a problem, and keeps them open. */
#include "recipes.h"

#include <stdlib.h>
#include <string.h>

#include "element.h"
#include "plan.h"

static const struct kiln_bundle *recipes_bundle(const char *name)
{
    for (size_t i = 0; kiln_linked_bundles[i] != NULL; i++) {
        if (strcmp(kiln_linked_bundles[i]->name, name) == 0) {
            return kiln_linked_bundles[i];
        }
    }
    return NULL;
}

/* The problem as a product, in canonical form: rows of C as they are. */
static struct kiln_product recipes_product(const struct recipes *recipes,
        const struct problem *problem)
{
    bool emulates = recipes->emulates && problem->precision == KILN_SINGLE;
    unsigned precision = emulates ? KILN_ID_EMULATED : problem->precision;
    struct kiln_product product = kiln_product_dense(precision,
            kiln_element_bytes(problem->precision), problem->transa, problem->transb, problem->m,
            problem->n, problem->k);

    product.a.ld = problem->lda;
    product.b.ld = problem->ldb;
    product.c.ld = problem->ldc;
    product.batch_count = problem->batch;
    if (problem->batch > 1) {
        product.a.stride = problem->a_stride;
        product.b.stride = problem->b_stride;
        product.c.stride = problem->c_stride;
    }
    return product;
}

static struct recipe_peer *recipes_add(struct recipes *recipes, const struct kiln_bundle *bundle,
        uint32_t index)
{
    struct recipe_peer *added = calloc(1, sizeof(*added));
    struct recipe_peer **grown = realloc(recipes->items,
            (recipes->count + 1) * sizeof(struct recipe_peer *));

    if (grown != NULL) {
        recipes->items = grown;
    }
    if (added == NULL || grown == NULL) {
        free(added);
        return NULL;
    }
    added->bundle = bundle;
    added->index = index;
    added->peer.key = added->peer.title = bundle->recipes[index].name;
    added->is_open = peer_kiln_recipe_open(&added->peer, recipes->setup, bundle, index,
            &recipes->room);
    recipes->items[recipes->count++] = added;
    return added;
}

static struct recipe_peer *recipes_get(struct recipes *recipes, const struct kiln_bundle *bundle,
        uint32_t index)
{
    for (size_t i = 0; i < recipes->count; i++) {
        if (recipes->items[i]->bundle == bundle && recipes->items[i]->index == index) {
            return recipes->items[i];
        }
    }
    return recipes_add(recipes, bundle, index);
}

bool recipes_find(struct recipes *recipes, const char *bundle, const struct problem *problem,
        struct recipe_peer ***list, size_t *count)
{
    const struct kiln_bundle *found = recipes_bundle(bundle);
    const struct kiln_product product = recipes_product(recipes, problem);

    *count = 0;
    *list = NULL;
    if (found == NULL || found->num_recipes == 0) {
        return true;
    }
    *list = calloc(found->num_recipes, sizeof(struct recipe_peer *));
    if (*list == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < found->num_recipes; i++) {
        /* So that no kernel of another bundle is built for what the recipe leaves to it; one that
           makes a real product of a complex one leaves all of it. What else rules a recipe out, its
           peer finds when it takes up the problem. */
        if (found->recipes[i].routine == KILN_ROUTINE_MULTIPLY &&
                kiln_recipe_takes(&found->recipes[i], &product)) {
            struct recipe_peer *peer = recipes_get(recipes, found, i);

            if (peer == NULL) {
                free(*list);
                *list = NULL;
                return false;
            }
            (*list)[(*count)++] = peer;
        }
    }
    return true;
}

void recipes_close(struct recipes *recipes)
{
    for (size_t i = 0; i < recipes->count; i++) {
        struct recipe_peer *recipe = recipes->items[i];

        if (recipe->is_open) {
            recipe->peer.class->close(&recipe->peer);
        }
        free(recipe);
    }
    free(recipes->items);
    if (recipes->room.buffer != NULL) {
        clReleaseMemObject(recipes->room.buffer);
    }
    *recipes = (struct recipes){ 0 };
}
