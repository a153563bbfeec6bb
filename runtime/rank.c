/* rank.c: in which order the recipes of a bundle are tried; see rank.h. */
#include "rank.h"

static bool comes_before(const struct kiln_rank *a, const struct kiln_rank *b)
{
    return a->time < b->time || (a->time == b->time && a->recipe < b->recipe);
}

/* The recipe that is pinned to the product's shape, or KILN_NO_RECIPE. */
static uint16_t pinned_recipe(const struct kiln_bundle *bundle, const struct kiln_product *product)
{
    for (uint32_t i = 0; i < bundle->num_pins; i++) {
        const struct kiln_pin *pin = &bundle->pins[i];
        if (pin->m == product->m && pin->n == product->n && pin->k == product->k &&
                pin->batch == kiln_joint_members(product) && pin->precision == product->precision) {
            return pin->recipe[kiln_pair(product->transa, product->transb)];
        }
    }
    return KILN_NO_RECIPE;
}

static uint64_t time_of_one(const struct kiln_bundle *bundle, const struct kiln_recipe *recipe,
        const struct kiln_product *product, uint32_t units)
{
    if (recipe->time == NULL) {
        return KILN_RANK_UNTIMED;
    }
    const uint64_t time = kiln_time_predict(recipe, product, units);
    if (bundle->traits.is_cpu) {
        return 1 + kiln_time_on_cpu(recipe, product, time);
    }
    const bool is_for_cpus = recipe->kinds == KILN_KIND_CPU; /* in a bundle for any device */
    return 1 + (is_for_cpus ? time : kiln_time_with_host(recipe, product, units, time));
}

static bool is_candidate(const struct kiln_recipe *recipe, const struct kiln_product *product)
{
    return kiln_recipe_is_for(recipe, product) &&
           kiln_guard_takes_extents(&recipe->guard, product->m, product->n, product->k);
}

/* The time of the recipe that is fastest for the real product that is left of a complex one. */
static uint64_t time_of_real(const struct kiln_bundle *bundle, const bool *left_out,
        const struct kiln_product *product, uint32_t units)
{
    const struct kiln_product real = kiln_product_real(product);
    uint64_t least = KILN_RANK_UNTIMED;
    for (uint32_t i = 0; i < bundle->num_recipes; i++) {
        const struct kiln_recipe *recipe = &bundle->recipes[i];
        if ((left_out == NULL || !left_out[i]) && is_candidate(recipe, &real)) {
            const uint64_t time = time_of_one(bundle, recipe, &real, units);
            least = time < least ? time : least;
        }
    }
    return least;
}

static uint64_t time_of(const struct kiln_bundle *bundle, const bool *left_out,
        const struct kiln_recipe *recipe, const struct kiln_product *product, uint32_t units)
{
    const uint64_t own = time_of_one(bundle, recipe, product, units);
    if (recipe->routine != KILN_ROUTINE_TO_REAL || own == KILN_RANK_UNTIMED) {
        return own;
    }
    const uint64_t real = time_of_real(bundle, left_out, product, units);
    return real < KILN_RANK_UNTIMED - own ? real + own : KILN_RANK_UNTIMED;
}

struct kiln_rank kiln_rank_of(const struct kiln_bundle *bundle, const bool *left_out,
        uint32_t recipe, const struct kiln_product *product, uint32_t units)
{
    const bool is_pinned = pinned_recipe(bundle, product) == recipe;
    const struct kiln_rank rank = {
        is_pinned ? KILN_RANK_PINNED
                  : time_of(bundle, left_out, &bundle->recipes[recipe], product, units),
        recipe,
    };
    return rank;
}

/* Puts one in its place among the best so far. */
static unsigned insert(const struct kiln_rank *rank, struct kiln_rank ranks[KILN_RANKED],
        unsigned num)
{
    unsigned at = num < KILN_RANKED ? num : (unsigned) KILN_RANKED;
    for (; at > 0 && comes_before(rank, &ranks[at - 1]); at--) {
        if (at < KILN_RANKED) {
            ranks[at] = ranks[at - 1];
        }
    }
    if (at < KILN_RANKED) {
        ranks[at] = *rank;
    }
    return num < KILN_RANKED ? num + 1 : num;
}

unsigned kiln_rank(const struct kiln_bundle *bundle, const bool *left_out,
        const struct kiln_product *product, uint32_t units, const struct kiln_rank *after,
        struct kiln_rank ranks[KILN_RANKED])
{
    const uint16_t pinned = pinned_recipe(bundle, product);
    unsigned num = 0;
    for (uint32_t i = 0; i < bundle->num_recipes; i++) {
        const struct kiln_recipe *recipe = &bundle->recipes[i];
        if ((left_out != NULL && left_out[i]) || !is_candidate(recipe, product)) {
            continue;
        }
        const struct kiln_rank rank = {
            i == pinned ? KILN_RANK_PINNED : time_of(bundle, left_out, recipe, product, units),
            i,
        };
        if (after == NULL || comes_before(after, &rank)) {
            num = insert(&rank, ranks, num);
        }
    }
    return num;
}
