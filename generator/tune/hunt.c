/* hunt.c: one search per family, taking turns.
 *
 * Each family's start is tried first, side by side, so that a family that is far behind is left
 * alone after a few tries. Then the best family goes on, and one in four turns the next best.
 */
#include "hunt.h"
#include "known.h"
#include "../core/space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_START = 32, RANKED = 4, RANK_DRAWS = 2000, PATIENCE = 2, MAX_KNOWN = 12
};

/* The search of one family. */
struct hunt {
    struct space space;
    struct point start[MAX_START];
    size_t num_start, num_meant;       /* how many of the start are tried in any case */
    struct search search;
    bool open, done;                   /* done: nothing is left to try */
};

struct hunts {
    struct tuner *tuner;
    const struct quarry *quarry;
    size_t started;                    /* how many turns of the families' starts are over */
    unsigned turn;                     /* after the starts */
    struct hunt at[];                  /* by families[] */
};

/* A point that was proposed and not yet measured. */
struct proposal {
    struct hunt *hunt;
    struct point point;
};

/* ---- where a family's search starts ---- */

static bool is_legal(void *env, const struct point *point)
{
    const char *reason;
    return space_legal(env, point, &reason);
}

static bool locate(const struct hunt *hunt, const struct config *config, struct point *point)
{
    const char *reason;
    return config->family == hunt->space.family && space_locate(&hunt->space, config, point) &&
           space_legal(&hunt->space, point, &reason);
}

static void add_start(struct hunt *hunt, const struct point *point)
{
    if (hunt->num_start < MAX_START)
        hunt->start[hunt->num_start++] = *point;
}

/* Adds a point that is no near copy of those there. */
static bool add_diverse(struct hunt *hunt, const struct point *point)
{
    const bool is_new = search_is_diverse(hunt->start, hunt->num_start, point,
            hunt->space.num_params);
    if (is_new)
        add_start(hunt, point);
    return is_new;
}

static void add_configs(struct hunt *hunt, const struct config *configs, size_t num)
{
    struct point point;
    for (size_t i = 0; i < num; i++)
        if (locate(hunt, &configs[i], &point))
            add_start(hunt, &point);
}

/* The winners of similar devices. */
static void add_known(struct hunt *hunt)
{
    struct config known[MAX_KNOWN];
    struct point point;
    const size_t num = known_configs(&hunt->space.facts, hunt->space.problem.precision, known,
            MAX_KNOWN);
    for (size_t i = 0; i < num; i++)
        if (locate(hunt, &known[i], &point))
            add_diverse(hunt, &point);
}

/* Whether a preset is one of ours for just this precision. */
static bool is_meant(const struct hunt *hunt, const struct family_preset *preset)
{
    return !preset->figure.device &&
           preset->figure.precision == hunt->space.problem.precision->letter;
}

/* Those that are meant for the precision, or the others; as many as leave room for those that rank
 * best. */
static void add_presets(struct hunt *hunt, bool meant)
{
    const struct family *family = hunt->space.family;
    struct config config;
    char error[FAMILY_ERROR_BYTES];
    for (unsigned i = 0; i < family->num_presets && hunt->num_start + RANKED < MAX_START; i++)
        if (is_meant(hunt, &family->presets[i]) == meant &&
            config_parse(family->presets[i].config, &config, error))
            add_configs(hunt, &config, 1);
}

/* A random point and the family's rank of it. */
struct draw {
    int64_t rank;
    int number;
    struct point point;
};

static int compare_draws(const void *a, const void *b)
{
    const struct draw *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

static size_t draw_ranked(const struct hunt *hunt, uint64_t seed, struct draw draws[RANK_DRAWS])
{
    size_t num = 0;
    for (int i = 0; i < RANK_DRAWS; i++) {
        const struct point point = space_point(&hunt->space,
                point_random(&seed) % space_size(&hunt->space));
        struct config config;
        const char *reason;
        if (!space_legal(&hunt->space, &point, &reason))
            continue;
        space_config(&hunt->space, &point, &config);
        draws[num++] = (struct draw) {
            config_rank(&config, &hunt->space.problem, &hunt->space.facts), i, point
        };
    }
    return num;
}

/* Of many random points, those that the family's rank puts first. False when out of memory. */
static bool add_ranked(struct hunt *hunt, uint64_t seed)
{
    struct draw *draws = malloc(RANK_DRAWS * sizeof *draws);
    unsigned added = 0;
    if (!draws)
        return false;
    const size_t num = draw_ranked(hunt, seed, draws);
    qsort(draws, num, sizeof *draws, compare_draws);
    for (size_t i = 0; i < num && added < RANKED; i++)
        added += add_diverse(hunt, &draws[i].point);
    free(draws);
    return true;
}

static bool has_known(const struct quarry *quarry, const struct family *family)
{
    for (unsigned i = 0; i < quarry->num_known; i++)
        if (quarry->known[i].family == family)
            return true;
    return false;
}

/* Where a family starts of which nothing is known at the shape. */
static void add_guesses(struct hunt *hunt, const struct hunts *hunts)
{
    const bool is_cpu = hunts->tuner->facts.value[FACT_IS_CPU];
    // A GPU's presets differ in kind, one for each kind of shape.
    if (!is_cpu) {
        add_presets(hunt, true);
        hunt->num_meant = hunt->num_start;
    }
    add_configs(hunt, hunts->quarry->known, hunts->quarry->num_known);
    add_known(hunt);
    if (is_cpu)
        add_presets(hunt, true);
    add_presets(hunt, false);
}

static bool open_one(struct hunts *hunts, size_t family)
{
    struct hunt *hunt = &hunts->at[family];
    const struct tuner *tuner = hunts->tuner;
    space_init(&hunt->space, families[family], &hunts->quarry->problem, &tuner->facts);
    hunt->space.shard = tuner->records.head.shard;
    hunt->space.m = hunts->quarry->shape.m;
    hunt->space.n = hunts->quarry->shape.n;
    hunt->space.k = hunts->quarry->shape.k;
    hunt->search.best_cost = HUGE_VAL;
    hunt->done = families[family]->literature ||
                 (hunts->quarry->is_informed && !has_known(hunts->quarry, families[family]));
    if (hunt->done)
        return true;
    if (hunts->quarry->is_informed)
        add_configs(hunt, hunts->quarry->known, hunts->quarry->num_known);
    else
        add_guesses(hunt, hunts);
    if (!add_ranked(hunt, tuner->seed))
        return false;
    const struct search_space space = {
        .num_params = hunt->space.num_params, .num_values = hunt->space.num_values,
        .legal = is_legal, .env = &hunt->space, .start = hunt->start,
        .num_start = hunt->num_start,
    };
    hunt->open = search_init(&hunt->search, tuner->strategy, &space, tuner->seed);
    return hunt->open;
}

/* ---- whose turn it is ---- */

static double best_of(const struct hunts *hunts)
{
    double best = HUGE_VAL;
    for (size_t i = 0; i < num_families; i++)
        best = fmin(best, hunts->at[i].search.best_cost);
    return best;
}

/* The family that is best so far, of those that are not done; `but` is left out. */
static struct hunt *best_hunt(struct hunts *hunts, const struct hunt *but)
{
    struct hunt *best = NULL;
    for (struct hunt *hunt = hunts->at; hunt < hunts->at + num_families; hunt++)
        if (hunt != but && !hunt->done &&
            (!best || hunt->search.best_cost < best->search.best_cost))
            best = hunt;
    return best;
}

/* After the starts: the best family, and one in four turns the next best, as long as that one is
 * not far behind. NULL: all are done. */
static struct hunt *next_by_merit(struct hunts *hunts)
{
    struct hunt *first = best_hunt(hunts, NULL);
    struct hunt *second = first ? best_hunt(hunts, first) : NULL;
    const bool near = second && second->search.best_cost < 1.3 * first->search.best_cost;
    return hunts->turn++ % 4 == 3 && near ? second : first;
}

/* Whether a family's start goes on: one that is far behind after a few tries, and all that it is
 * sure to have, is left alone. */
static bool worth_opening(const struct hunts *hunts, const struct hunt *hunt, size_t step)
{
    return step < hunt->num_start &&
           (step < PATIENCE || step < hunt->num_meant ||
            hunt->search.best_cost < 2 * best_of(hunts));
}

static struct hunt *next_hunt(struct hunts *hunts)
{
    while (hunts->started < MAX_START * num_families) {
        const size_t step = hunts->started / num_families;
        struct hunt *hunt = &hunts->at[hunts->started++ % num_families];
        if (!hunt->done && worth_opening(hunts, hunt, step))
            return hunt;
    }
    return next_by_merit(hunts);
}

/* The next point, or false when nothing is left to try. */
static bool propose(struct hunts *hunts, struct proposal *proposal)
{
    while ((proposal->hunt = next_hunt(hunts))) {
        proposal->hunt->done = !search_propose(&proposal->hunt->search, &proposal->point);
        if (!proposal->hunt->done)
            return true;
    }
    return false;
}

/* ---- asking ---- */

/* The next points are proposed before the present one is measured, for as many as can be built
 * meanwhile; on a CPU none. The order is the same whatever was built, so that a run can be resumed
 * and replayed. */
struct queue {
    struct proposal at[AHEAD + 1];
    unsigned num, most;
};

static void fill(struct hunts *hunts, struct queue *queue)
{
    struct config config;
    while (queue->num < queue->most && propose(hunts, &queue->at[queue->num])) {
        const struct proposal *proposal = &queue->at[queue->num++];
        space_config(&proposal->hunt->space, &proposal->point, &config);
        tuner_expect(hunts->tuner, &hunts->quarry->problem, hunts->quarry->shape, &config);
    }
}

static struct proposal take_first(struct queue *queue)
{
    const struct proposal first = queue->at[0];
    queue->num--;
    memmove(queue->at, queue->at + 1, queue->num * sizeof queue->at[0]);
    return first;
}

static bool ask(struct hunts *hunts, const struct proposal *proposal)
{
    const struct quarry *quarry = hunts->quarry;
    const double best = best_of(hunts);
    struct config config;
    struct record answer;
    space_config(&proposal->hunt->space, &proposal->point, &config);
    if (!tuner_ask(hunts->tuner, RECORD_SEARCH, &quarry->problem, quarry->shape, &config, 1,
                best < HUGE_VAL ? best : 0, &answer))
        return false;
    search_observe(&proposal->hunt->search, &proposal->point,
            record_is_timed(&answer) ? answer.seconds : HUGE_VAL);
    return true;
}

/* One is asked for in any case, and no more when the time is over before it begins. What was
 * proposed when it ends is measured all the same: it is built already. */
static bool run(struct hunts *hunts, double until)
{
    const bool is_over = hunts->tuner->spent >= until;
    struct queue queue = {
        .most = hunts->tuner->facts.value[FACT_IS_CPU] || is_over ? 1 : AHEAD + 1
    };
    for (bool first = true;; first = false) {
        if (first || hunts->tuner->spent < until)
            fill(hunts, &queue);
        if (!queue.num)
            return true;
        const struct proposal proposal = take_first(&queue);
        if (!ask(hunts, &proposal))
            return false;
    }
}

bool hunt(struct tuner *tuner, const struct quarry *quarry, double until)
{
    struct hunts *hunts = calloc(1, sizeof *hunts + num_families * sizeof hunts->at[0]);
    bool ok = hunts != NULL;
    if (hunts) {
        hunts->tuner = tuner;
        hunts->quarry = quarry;
    }
    for (size_t i = 0; ok && i < num_families; i++)
        ok = open_one(hunts, i);
    if (!ok) {
        tuner->failed = true;
        snprintf(tuner->error, sizeof tuner->error, "out of memory");
    }
    ok = ok && run(hunts, until);
    for (size_t i = 0; hunts && i < num_families; i++)
        if (hunts->at[i].open)
            search_free(&hunts->at[i].search);
    free(hunts);
    return ok;
}
