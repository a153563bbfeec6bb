/* task_search.c: one search per family, taking turns.
 *
 * The starts of all families are tried first, in turn; a family that is far behind is dropped after
 * a few tries. Then the best family goes on, and in one of four turns the next best.
 */
#include "task_search.h"
#include "linked.h"
#include "../core/space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_START = 32, RANKED = 4, RANK_DRAWS = 2000, PATIENCE = 2, MAX_KNOWN = 12
};

/* The search of one family's space. */
struct family_search {
    struct space space;
    struct point start[MAX_START];
    size_t num_start, num_meant;       /* how many of the start are tried in any case */
    struct search search;
    bool open, done;                   /* done: nothing is left to try */
};

struct task_search {
    struct tuner *tuner;
    struct problem problem;
    struct shape shape;
    const struct initial_configs *initial;
    size_t started;                    /* how many turns of the families' starts are over */
    unsigned turn;                     /* after the starts */
    struct family_search at[];         /* by families[] */
};

/* A point that was proposed and not yet measured. */
struct proposal {
    struct family_search *from;
    struct point point;
};

/* ---- where a family's search starts ---- */

static bool is_legal(void *env, const struct point *point)
{
    const char *reason;
    return space_legal(env, point, &reason);
}

static bool locate(const struct family_search *one, const struct config *config,
        struct point *point)
{
    const char *reason;
    return config->family == one->space.family && space_locate(&one->space, config, point) &&
           space_legal(&one->space, point, &reason);
}

static void add_start(struct family_search *one, const struct point *point)
{
    if (one->num_start < MAX_START)
        one->start[one->num_start++] = *point;
}

/* Adds a point unless it is a near copy of one that is there. */
static bool add_diverse(struct family_search *one, const struct point *point)
{
    const bool is_new = search_is_diverse(one->start, one->num_start, point, one->space.num_params);
    if (is_new)
        add_start(one, point);
    return is_new;
}

static void add_configs(struct family_search *one, const struct config *configs, size_t num)
{
    struct point point;
    for (size_t i = 0; i < num; i++)
        if (locate(one, &configs[i], &point))
            add_start(one, &point);
}

/* The winners of similar devices. */
static void add_known(struct family_search *one)
{
    struct config known[MAX_KNOWN];
    struct point point;
    const size_t num = linked_configs(&one->space.facts, one->space.problem.precision, known,
            MAX_KNOWN);
    for (size_t i = 0; i < num; i++)
        if (locate(one, &known[i], &point))
            add_diverse(one, &point);
}

/* Adds those meant for the precision, or the others; as many as leave room for those that rank
 * best. */
static void add_presets(struct family_search *one, bool meant)
{
    const struct family *family = one->space.family;
    struct config config;
    char error[FAMILY_ERROR_BYTES];
    for (unsigned i = 0; i < family->num_presets && one->num_start + RANKED < MAX_START; i++)
        if (preset_is_meant(&family->presets[i], one->space.problem.precision) == meant &&
                config_parse(family->presets[i].config, &config, error))
            add_configs(one, &config, 1);
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

static size_t draw_ranked(const struct family_search *one, uint64_t seed,
        struct draw draws[RANK_DRAWS])
{
    size_t num = 0;
    for (int i = 0; i < RANK_DRAWS; i++) {
        const struct point point = space_point(&one->space,
                random_next(&seed) % space_size(&one->space));
        struct config config;
        const char *reason;
        if (!space_legal(&one->space, &point, &reason))
            continue;
        space_config(&one->space, &point, &config);
        draws[num++] = (struct draw){ config_rank(&config, &one->space.problem, &one->space.facts),
            i, point };
    }
    return num;
}

/* Of many random points, those that the family's rank puts first. False when out of memory. */
static bool add_ranked(struct family_search *one, uint64_t seed)
{
    struct draw *draws = malloc(RANK_DRAWS * sizeof *draws);
    unsigned added = 0;
    if (!draws)
        return false;
    const size_t num = draw_ranked(one, seed, draws);
    qsort(draws, num, sizeof *draws, compare_draws);
    for (size_t i = 0; i < num && added < RANKED; i++)
        added += add_diverse(one, &draws[i].point);
    free(draws);
    return true;
}

static bool has_initial(const struct initial_configs *initial, const struct family *family)
{
    for (unsigned i = 0; i < initial->num; i++)
        if (initial->configs[i].family == family)
            return true;
    return false;
}

/* Where a family starts if nothing is known of it for the task. */
static void add_guesses(struct family_search *one, const struct task_search *all)
{
    const bool is_cpu = all->tuner->facts.value[FACT_IS_CPU];
    /* A GPU's presets differ in kind, one for each kind of shape. */
    if (!is_cpu) {
        add_presets(one, true);
        one->num_meant = one->num_start;
    }
    add_configs(one, all->initial->configs, all->initial->num);
    add_known(one);
    if (is_cpu)
        add_presets(one, true);
    add_presets(one, false);
}

static bool open_one(struct task_search *all, size_t family)
{
    struct family_search *one = &all->at[family];
    const struct tuner *tuner = all->tuner;
    space_init(&one->space, families[family], &all->problem, &tuner->facts);
    one->space.shard = tuner->records.head.shard;
    one->space.shape = all->shape;
    one->search.best_cost = HUGE_VAL;
    one->done = !family_is_searched(families[family]) ||
                (all->initial->is_informed && !has_initial(all->initial, families[family]));
    if (one->done)
        return true;
    if (all->initial->is_informed)
        add_configs(one, all->initial->configs, all->initial->num);
    else
        add_guesses(one, all);
    if (!add_ranked(one, tuner->seed))
        return false;
    const struct search_space space = {
        .num_params = one->space.num_params,
        .num_values = one->space.num_values,
        .legal = is_legal,
        .env = &one->space,
        .start = one->start,
        .num_start = one->num_start,
    };
    one->open = search_init(&one->search, tuner->strategy, &space, tuner->seed);
    return one->open;
}

/* ---- whose turn it is ---- */

static double best_of(const struct task_search *all)
{
    double best = HUGE_VAL;
    for (size_t i = 0; i < num_families; i++)
        best = fmin(best, all->at[i].search.best_cost);
    return best;
}

/* The family that is best so far, of those that are not done; `but` is left out. */
static struct family_search *best_one(struct task_search *all, const struct family_search *but)
{
    struct family_search *best = NULL;
    for (struct family_search *one = all->at; one < all->at + num_families; one++)
        if (one != but && !one->done && (!best || one->search.best_cost < best->search.best_cost))
            best = one;
    return best;
}

/* After the starts: the best family, and in one of four turns the next best, as long as it is not
 * far behind. NULL: all are done. */
static struct family_search *next_by_merit(struct task_search *all)
{
    struct family_search *first = best_one(all, NULL);
    struct family_search *second = first ? best_one(all, first) : NULL;
    const bool near = second && second->search.best_cost < 1.3 * first->search.best_cost;
    return all->turn++ % 4 == 3 && near ? second : first;
}

/* Whether a family's start goes on: not if the family is far behind after a few tries and all that
 * it is sure to get. */
static bool worth_opening(const struct task_search *all, const struct family_search *one,
        size_t step)
{
    return step < one->num_start &&
           (step < PATIENCE || step < one->num_meant || one->search.best_cost < 2 * best_of(all));
}

static struct family_search *next_one(struct task_search *all)
{
    while (all->started < MAX_START * num_families) {
        const size_t step = all->started / num_families;
        struct family_search *one = &all->at[all->started++ % num_families];
        if (!one->done && worth_opening(all, one, step))
            return one;
    }
    return next_by_merit(all);
}

/* The next point, or false when nothing is left to try. */
static bool propose(struct task_search *all, struct proposal *proposal)
{
    while ((proposal->from = next_one(all))) {
        proposal->from->done = !search_propose(&proposal->from->search, &proposal->point);
        if (!proposal->from->done)
            return true;
    }
    return false;
}

/* ---- evaluating ---- */

/* Points are proposed before the present one is measured, as many as can be built meanwhile; on a
 * CPU none. The order is the same whatever was built, so that a run can be resumed and replayed. */
struct queue {
    struct proposal at[AHEAD + 1];
    unsigned num, most;
};

static void fill(struct task_search *all, struct queue *queue)
{
    struct config config;
    while (queue->num < queue->most && propose(all, &queue->at[queue->num])) {
        const struct proposal *proposal = &queue->at[queue->num++];
        space_config(&proposal->from->space, &proposal->point, &config);
        tuner_expect(all->tuner, &all->problem, all->shape, &config);
    }
}

static struct proposal take_first(struct queue *queue)
{
    const struct proposal first = queue->at[0];
    queue->num--;
    memmove(queue->at, queue->at + 1, queue->num * sizeof queue->at[0]);
    return first;
}

static bool evaluate(struct task_search *all, const struct proposal *proposal)
{
    const double best = best_of(all);
    struct config config;
    struct record result;
    space_config(&proposal->from->space, &proposal->point, &config);
    if (!tuner_evaluate(all->tuner, RECORD_SEARCH, &all->problem, all->shape, &config, 1,
                best < HUGE_VAL ? best : 0, &result))
        return false;
    search_observe(&proposal->from->search, &proposal->point,
            record_is_timed(&result) ? result.seconds : HUGE_VAL);
    return true;
}

/* One point is evaluated in any case. No other is begun when the time is over. What was proposed by
 * then is measured all the same: it is built already. */
static bool run(struct task_search *all, double until)
{
    const bool is_over = all->tuner->spent >= until;
    struct queue queue = {
        .most = all->tuner->facts.value[FACT_IS_CPU] || is_over ? 1 : AHEAD + 1
    };
    for (bool first = true;; first = false) {
        if (first || all->tuner->spent < until)
            fill(all, &queue);
        if (!queue.num)
            return true;
        const struct proposal proposal = take_first(&queue);
        if (!evaluate(all, &proposal))
            return false;
    }
}

bool task_search(struct tuner *tuner, const struct precision *precision, const struct task *task,
        const struct initial_configs *initial, double until)
{
    struct task_search *all = calloc(1, sizeof *all + num_families * sizeof all->at[0]);
    bool ok = all != NULL;
    if (all) {
        all->tuner = tuner;
        all->problem = problem_of_pair(precision, task->pair);
        all->shape = task->shape;
        all->initial = initial;
    }
    for (size_t i = 0; ok && i < num_families; i++)
        ok = open_one(all, i);
    if (!ok) {
        tuner->failed = true;
        snprintf(tuner->error, sizeof tuner->error, "out of memory");
    }
    ok = ok && run(all, until);
    for (size_t i = 0; all && i < num_families; i++)
        if (all->at[i].open)
            search_free(&all->at[i].search);
    free(all);
    return ok;
}
