/* search.c: what every strategy shares: the set of points tried, and the best of them. */
#include "search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 20000, SCANS = 1000000 };

bool search_init(struct search *search, const struct search_strategy *strategy,
        const struct search_space *space, uint64_t seed)
{
    *search = (struct search){
        .strategy = strategy,
        .space = *space,
        .random = seed,
        .best_cost = HUGE_VAL,
        .seen_capacity = 1024,
    };
    search->seen = calloc(search->seen_capacity, sizeof *search->seen);
    search->state = calloc(1, strategy->state_bytes ? strategy->state_bytes : 1);
    if (search->seen && search->state)
        return true;
    search_free(search);
    return false;
}

void search_free(struct search *search)
{
    free(search->seen);
    free(search->state);
    search->seen = NULL;
    search->state = NULL;
}

static unsigned count_differences(const struct point *a, const struct point *b, unsigned num_params)
{
    unsigned num = 0;
    for (unsigned p = 0; p < num_params; p++)
        num += a->at[p] != b->at[p];
    return num;
}

bool search_is_diverse(const struct point *others, size_t num, const struct point *point,
        unsigned num_params)
{
    const unsigned least = num_params / 3 > 0 ? num_params / 3 : 1;
    for (size_t i = 0; i < num; i++)
        if (count_differences(&others[i], point, num_params) < least)
            return false;
    return true;
}

uint64_t search_size(const struct search *search)
{
    return point_count(search->space.num_values, search->space.num_params);
}

struct point search_point(const struct search *search, uint64_t index)
{
    return point_of_index(index, search->space.num_values, search->space.num_params);
}

/* The point's place among all, plus one: 0 marks a free slot. */
static uint64_t key_of(const struct search *search, const struct point *point)
{
    return point_index(point, search->space.num_values, search->space.num_params) + 1;
}

/* The slot that holds key, or the free one where it belongs. */
static size_t slot_of(const uint64_t *seen, size_t capacity, uint64_t key)
{
    uint64_t state = key;
    size_t slot = (size_t) (random_next(&state) & (capacity - 1));
    while (seen[slot] && seen[slot] != key)
        slot = (slot + 1) & (capacity - 1);
    return slot;
}

static bool grow(struct search *search)
{
    const size_t capacity = search->seen_capacity * 2;
    uint64_t *seen = calloc(capacity, sizeof *seen);
    if (!seen)
        return false;
    for (size_t i = 0; i < search->seen_capacity; i++)
        if (search->seen[i])
            seen[slot_of(seen, capacity, search->seen[i])] = search->seen[i];
    free(search->seen);
    search->seen = seen;
    search->seen_capacity = capacity;
    return true;
}

static bool remember(struct search *search, const struct point *point)
{
    if (search->num_seen * 2 >= search->seen_capacity && !grow(search))
        return false;
    const uint64_t key = key_of(search, point);
    search->seen[slot_of(search->seen, search->seen_capacity, key)] = key;
    search->num_seen++;
    return true;
}

bool search_is_new(const struct search *search, const struct point *point)
{
    const uint64_t key = key_of(search, point);
    return !search->seen[slot_of(search->seen, search->seen_capacity, key)] &&
           search->space.legal(search->space.env, point);
}

bool search_draw(struct search *search, struct point *point)
{
    for (int draw = 0; draw < DRAWS; draw++) {
        *point = (struct point){ { 0 } };
        for (unsigned i = 0; i < search->space.num_params; i++)
            point->at[i] = (unsigned char) (random_next(&search->random) %
                                            search->space.num_values[i]);
        if (search_is_new(search, point))
            return true;
    }
    return search_scan(search, point, SCANS);
}

bool search_scan(struct search *search, struct point *point, uint64_t most)
{
    const uint64_t size = search_size(search);
    for (uint64_t i = 0; i < most && search->scanned < size; i++) {
        *point = search_point(search, search->scanned++);
        if (search_is_new(search, point))
            return true;
    }
    return false;
}

bool search_propose(struct search *search, struct point *point)
{
    return search->strategy->propose(search, point) && remember(search, point);
}

void search_observe(struct search *search, const struct point *point, double cost)
{
    search->num_tried++;
    if (cost < search->best_cost) {
        search->best = *point;
        search->best_cost = cost;
    }
    if (search->strategy->observe)
        search->strategy->observe(search, point, cost);
}
