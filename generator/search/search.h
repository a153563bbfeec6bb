/* search.h: strategies that look for the cheapest point of a discrete space.
 *
 * A strategy proposes points and is told their costs; it knows neither OpenCL nor multiplication. For
 * a given seed and the same answers it proposes the same points, never an illegal one, never one
 * twice.
 */
#ifndef KILN_SEARCH_SEARCH_H
#define KILN_SEARCH_SEARCH_H

#include "../core/point.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct search_space {
    unsigned num_params;
    const unsigned *num_values;        /* per parameter */
    bool (*legal)(void *env, const struct point *point);
    void *env;
    const struct point *start;         /* points worth trying first, best first */
    size_t num_start;
};

struct search;

struct search_strategy {
    const char *name, *meaning;
    /* The next point, or false when the strategy has no more. */
    bool (*propose)(struct search *search, struct point *point);
    /* Called after search_observe noted the cost; may be NULL. */
    void (*observe)(struct search *search, const struct point *point, double cost);
};

struct search {
    const struct search_strategy *strategy;
    struct search_space space;
    uint64_t random;                   /* state of point_random */
    size_t num_tried;
    struct point best;
    double best_cost;                  /* HUGE_VAL until a point succeeded */
    struct point current;              /* where a local search stands */
    double current_cost;
    uint64_t next;                     /* exhaustive: the next index; others: their own count */
    uint64_t *seen;                    /* hash set of indices proposed so far */
    size_t num_seen, seen_capacity;
};

extern const struct search_strategy *const search_strategies[];
extern const size_t num_search_strategies;
const struct search_strategy *search_find(const char *name);

/* False when out of memory. The space's arrays must outlive the search. */
bool search_init(struct search *search, const struct search_strategy *strategy,
        const struct search_space *space, uint64_t seed);
void search_free(struct search *search);

/* The next point to try: legal and new. False when there is none, or none is found. */
bool search_propose(struct search *search, struct point *point);

/* The cost of a proposed point; HUGE_VAL when it failed. */
void search_observe(struct search *search, const struct point *point, double cost);

/* For strategies: whether a point is legal and was not proposed before. */
bool search_is_new(const struct search *search, const struct point *point);
/* A random legal new point; false when many draws found none. */
bool search_draw(struct search *search, struct point *point);

#endif
