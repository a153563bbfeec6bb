/* search.h: strategies that look for the cheapest configuration of a search space.
 *
 * A strategy proposes configurations and is told their costs, in the order of the proposals but
 * maybe a few proposals later; it knows neither OpenCL nor multiplication. To it a configuration is
 * a point of the space: the index of a value for each parameter (core/point.h). For a given seed
 * and the same costs it proposes the same points, never an illegal one, never one twice.
 */
#ifndef KILN_SEARCH_SEARCH_H
#define KILN_SEARCH_SEARCH_H

#include "../core/point.h"
#include "../core/random.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a strategy sees of a search space (core/space.h). */
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
    size_t state_bytes;                /* of search->state, which begins as zeros */
    unsigned num_reevaluated;          /* how many of the best are to be evaluated again, at more
                                          shapes, before one is chosen; 0: as the tuner likes */
};

struct search {
    const struct search_strategy *strategy;
    struct search_space space;
    uint64_t random;                   /* state of random_next */
    size_t num_tried;
    struct point best;
    double best_cost;                  /* HUGE_VAL until a point succeeded */
    uint64_t scanned;                  /* every legal index below it was proposed: search_scan */
    void *state;                       /* the strategy's own */
    uint64_t *seen;                    /* hash set of indices proposed so far */
    size_t num_seen, seen_capacity;
};

/* strategies.c: all there are. */
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

/* Whether a point differs from each of the others in at least a third of the parameters. The best
 * points of a device are near copies of each other: a search that starts from all learns little. */
bool search_is_diverse(const struct point *others, size_t num, const struct point *point,
        unsigned num_params);

/* For strategies: how many points there are, legal or not, and the one of an index. */
uint64_t search_size(const struct search *search);
struct point search_point(const struct search *search, uint64_t index);
/* Whether a point is legal and was not proposed before. */
bool search_is_new(const struct search *search, const struct point *point);
/* A random legal new point. When many draws found none, the first one in order. */
bool search_draw(struct search *search, struct point *point);
/* The first legal new point in order; gives up after so many indices. What it finds must be
 * proposed: it does not look there again. */
bool search_scan(struct search *search, struct point *point, uint64_t most);

#endif
