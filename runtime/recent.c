/* recent.c: the orders of recipes for shapes that were seen lately, so that a call of one of them
 * needs no prediction.
 *
 * Each place is guarded by a version that is odd while it is written (a sequence lock): readers do
 * not wait, and a writer that finds another one at work gives up. What is remembered is what would
 * be computed again, so that losing it changes nothing.
 */
#include "internal.h"

#include <assert.h>

/* Where, in the last part of a key, those things lie that are no extents. */
enum {
    SHIFT_REAL = 4,
    SHIFT_TRANSA = 8,
    SHIFT_TRANSB = 9,
    SHIFT_RAGGED = 10,
    SHIFT_ALIGNED = 13,
    SHIFT_MEETING = 15,
    SHIFT_TRIANGLE = 17,
    SHIFT_ROUTINE = 20,
    SHIFT_ONE_BY_ONE = 21,
    SHIFT_LINK = 22
};

#define PRECISION(constant, value, ...) \
    static_assert((value) < 1 << SHIFT_REAL, #constant " has no room in a key");
#include "precisions.inc"
#undef PRECISION

struct kiln_recent_key kiln_recent_key(unsigned link, const struct kiln_product *product)
{
    unsigned aligned =
            (kiln_is_aligned(product, KILN_PREPARED_A) ? (unsigned) KILN_PREPARED_A : 0u) |
            (kiln_is_aligned(product, KILN_PREPARED_B) ? (unsigned) KILN_PREPARED_B : 0u);
    size_t kind = product->precision | product->real_precision << SHIFT_REAL |
                  product->transa << SHIFT_TRANSA | product->transb << SHIFT_TRANSB |
                  kiln_time_ragged(product) << SHIFT_RAGGED | aligned << SHIFT_ALIGNED |
                  kiln_time_meeting(product) << SHIFT_MEETING |
                  (unsigned) (product->triangle + 2) << SHIFT_TRIANGLE |
                  product->routine << SHIFT_ROUTINE |
                  (unsigned) product->one_by_one << SHIFT_ONE_BY_ONE | link << SHIFT_LINK;
    const struct kiln_recent_key key = {
        { product->m, product->n, product->k, product->batch_count, kind },
    };
    return key;
}

static struct kiln_recent *recent_place(struct kiln_recent recent[KILN_NUM_RECENT],
        const struct kiln_recent_key *key)
{
    uint64_t hash = KILN_HASH_BEGIN;
    for (unsigned i = 0; i < KILN_RECENT_KEYS; i++) {
        hash = (hash ^ key->part[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return &recent[hash % KILN_NUM_RECENT];
}

unsigned kiln_recent_recall(struct kiln_recent recent[KILN_NUM_RECENT],
        const struct kiln_recent_key *key, uint16_t recipes[KILN_RANKED])
{
    struct kiln_recent *place = recent_place(recent, key);
    const size_t version = __atomic_load_n(&place->version, __ATOMIC_ACQUIRE);
    bool is_same = version % 2 == 0;
    for (unsigned i = 0; i < KILN_RECENT_KEYS; i++) {
        is_same = is_same && __atomic_load_n(&place->key[i], __ATOMIC_ACQUIRE) == key->part[i];
    }
    if (!is_same) {
        return 0;
    }
    unsigned num = __atomic_load_n(&place->num, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < KILN_RANKED; i++) {
        recipes[i] = __atomic_load_n(&place->recipes[i], __ATOMIC_ACQUIRE);
    }
    return __atomic_load_n(&place->version, __ATOMIC_RELAXED) == version ? num : 0;
}

void kiln_recent_note(struct kiln_recent recent[KILN_NUM_RECENT], const struct kiln_recent_key *key,
        const struct kiln_rank *ranks, unsigned num)
{
    struct kiln_recent *place = recent_place(recent, key);
    size_t version = __atomic_load_n(&place->version, __ATOMIC_RELAXED);
    if (version % 2 != 0 || !__atomic_compare_exchange_n(&place->version, &version, version + 1,
                                    false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        return;
    }
    for (unsigned i = 0; i < KILN_RECENT_KEYS; i++) {
        __atomic_store_n(&place->key[i], key->part[i], __ATOMIC_RELEASE);
    }
    for (unsigned i = 0; i < num; i++) {
        __atomic_store_n(&place->recipes[i], (uint16_t) ranks[i].recipe, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&place->num, num, __ATOMIC_RELEASE);
    __atomic_store_n(&place->version, version + 2, __ATOMIC_RELEASE);
}
