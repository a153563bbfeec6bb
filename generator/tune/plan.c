/* plan.c: how the budget of one precision is spent.
 *
 *   search   look for the best configuration at a few shapes that differ in kind
 *   edges    verify the finalists on every edge class, for each transpose pair
 *   matrix   time the finalists against each other, interleaved, at every anchor
 *   held     the same at shapes that are not used for choosing
 *
 * Each phase ends at its share of the budget. Nothing here looks at a clock: only at tuner->spent.
 */
#include "known.h"
#include "tuner.h"
#include "../core/space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_FAMILIES = 8, MAX_START = 24, MAX_FINALISTS = 10, PER_SEARCH = 2, RANKED = 4,
    RANK_DRAWS = 2000, MAX_SEARCHES = 16, PATIENCE = 2, NUM_KINDS = 5, MAX_KNOWN = 12
};

/* The ends of the phases, as parts of a precision's budget. */
static const double search_end = 0.55, edges_end = 0.75, matrix_end = 0.95;

/* One problem to search for. */
struct quest {
    struct shape shape;
    int pair;
};

/* What the plan knows about one precision. */
struct plan {
    struct tuner *tuner;
    const struct precision *precision;
    double start, seconds;             /* of tuner->spent; the budget of this precision */
    double rate;                       /* best so far, operations per second */
    struct config finalists[MAX_FINALISTS];
    unsigned num_finalists;
};

static double used(const struct plan *plan)
{
    return (plan->tuner->spent - plan->start) / plan->seconds;
}

/* ---- search ---- */

/* The search of one family at one shape. */
struct hunt {
    struct space space;
    struct point start[MAX_START];
    size_t num_start;
    struct search search;
    bool open, done;                   /* done: nothing is left to try */
};

static bool hunt_legal(void *env, const struct point *point)
{
    const char *reason;
    return space_legal(env, point, &reason);
}

static void add_start(struct hunt *hunt, const struct config *config)
{
    struct point point;
    const char *reason;
    if (hunt->num_start < MAX_START && config->family == hunt->space.family &&
        space_locate(&hunt->space, config, &point) && space_legal(&hunt->space, &point, &reason))
        hunt->start[hunt->num_start++] = point;
}

/* The winners of similar devices. */
static void add_known(struct hunt *hunt)
{
    struct config known[MAX_KNOWN];
    const size_t num = known_configs(hunt->space.problem.precision, known, MAX_KNOWN);
    for (size_t i = 0; i < num; i++)
        add_start(hunt, &known[i]);
}

static void add_presets(struct hunt *hunt)
{
    const struct family *family = hunt->space.family;
    struct config config;
    char error[FAMILY_ERROR_BYTES];
    for (unsigned i = 0; i < family->num_presets; i++)
        if (config_parse(family->presets[i].config, &config, error))
            add_start(hunt, &config);
}

/* Of many random points, those that the family's rank puts first. */
static void add_ranked(struct hunt *hunt, uint64_t seed)
{
    struct config best[RANKED] = { 0 };
    long rank[RANKED] = { 0 };
    unsigned num = 0;
    for (int draw = 0; draw < RANK_DRAWS; draw++) {
        const struct point point = space_point(&hunt->space,
                point_random(&seed) % space_size(&hunt->space));
        struct config config;
        const char *reason;
        if (!space_legal(&hunt->space, &point, &reason))
            continue;
        space_config(&hunt->space, &point, &config);
        const long r = config_rank(&config, &hunt->space.problem, &hunt->space.facts);
        unsigned at = num < RANKED ? num++ : RANKED;
        for (; at > 0 && r > rank[at - 1]; at--)
            if (at < RANKED) {
                best[at] = best[at - 1];
                rank[at] = rank[at - 1];
            }
        if (at < RANKED) {
            best[at] = config;
            rank[at] = r;
        }
    }
    for (unsigned i = 0; i < num; i++)
        add_start(hunt, &best[i]);
}

static bool hunt_open(struct hunt *hunt, const struct plan *plan, const struct family *family,
        const struct problem *problem)
{
    const struct tuner *tuner = plan->tuner;
    space_init(&hunt->space, family, problem, &tuner->facts);
    hunt->num_start = 0;
    hunt->done = family->literature;
    for (unsigned i = 0; !hunt->done && i < plan->num_finalists; i++)
        add_start(hunt, &plan->finalists[i]);
    if (!hunt->done) {
        add_known(hunt);
        add_presets(hunt);
        add_ranked(hunt, tuner->seed);
    }
    const struct search_space space = {
        .num_params = hunt->space.num_params, .num_values = hunt->space.num_values,
        .legal = hunt_legal, .env = &hunt->space, .start = hunt->start,
        .num_start = hunt->num_start,
    };
    hunt->open = search_init(&hunt->search, tuner->strategy, &space, tuner->seed);
    return hunt->open;
}

/* Proposes, asks and observes once. */
static bool hunt_step(struct hunt *hunt, struct tuner *tuner, struct shape shape, double incumbent)
{
    struct point point;
    struct config config;
    struct record answer;
    hunt->done = !search_propose(&hunt->search, &point);
    if (hunt->done)
        return true;
    space_config(&hunt->space, &point, &config);
    if (!tuner_ask(tuner, RECORD_SEARCH, &hunt->space.problem, shape, &config, 1, incumbent,
                &answer))
        return false;
    search_observe(&hunt->search, &point,
            !strcmp(answer.outcome, "ok") ? answer.seconds : HUGE_VAL);
    return true;
}

static double best_of(const struct hunt *hunts, size_t num)
{
    double best = HUGE_VAL;
    for (size_t i = 0; i < num; i++)
        best = fmin(best, hunts[i].search.best_cost);
    return best;
}

/* The family that is best so far, of those that are not done; `but` is left out. -1: none. */
static int best_hunt(const struct hunt *hunts, int but)
{
    int best = -1;
    for (int i = 0; i < (int) num_families; i++)
        if (i != but && !hunts[i].done &&
            (best < 0 || hunts[i].search.best_cost < hunts[best].search.best_cost))
            best = i;
    return best;
}

/* After its start the best family goes on, and one in four turns the next best, as long as that one
 * is not far behind. -1: all are done. */
static int next_hunt(const struct hunt *hunts, unsigned turn)
{
    const int first = best_hunt(hunts, -1);
    const int second = first < 0 ? -1 : best_hunt(hunts, first);
    const bool near = second >= 0 &&
            hunts[second].search.best_cost < 1.3 * hunts[first].search.best_cost;
    return near && turn % 4 == 3 ? second : first;
}

static double incumbent_of(double best)
{
    return best < HUGE_VAL ? best : 0;
}

/* Whether a family's start goes on: one that is far behind after a few tries is left alone. */
static bool worth_opening(const struct hunt *hunts, size_t i, size_t step)
{
    return step < hunts[i].num_start &&
           (step < PATIENCE || hunts[i].search.best_cost < 2 * best_of(hunts, num_families));
}

static bool hunt_all(struct plan *plan, struct hunt *hunts, struct shape shape, double end)
{
    int next;
    for (size_t step = 0; step < MAX_START && used(plan) < end; step++)
        for (size_t i = 0; i < num_families && used(plan) < end; i++)
            if (worth_opening(hunts, i, step) &&
                !hunt_step(&hunts[i], plan->tuner, shape,
                        incumbent_of(best_of(hunts, num_families))))
                return false;
    for (unsigned turn = 0; used(plan) < end && (next = next_hunt(hunts, turn)) >= 0; turn++)
        if (!hunt_step(&hunts[next], plan->tuner, shape,
                    incumbent_of(best_of(hunts, num_families))))
            return false;
    return true;
}

/* ---- finalists ---- */

/* In how many parameters two configurations differ; all, when their families do. */
static unsigned difference(const struct config *a, const struct config *b)
{
    unsigned num = 0;
    if (a->family != b->family)
        return FAMILY_MAX_PARAMS;
    for (unsigned i = 0; i < a->family->num_params; i++)
        num += a->value[i] != b->value[i];
    return num;
}

static bool differs(const struct plan *plan, const struct config *config, unsigned least)
{
    for (unsigned i = 0; i < plan->num_finalists; i++)
        if (difference(&plan->finalists[i], config) < least)
            return false;
    return true;
}

/* The fastest configuration of a search that differs from every finalist in so many parameters. */
static const struct record *next_best(const struct plan *plan, const struct quest *quest,
        unsigned least)
{
    const struct records *records = &plan->tuner->records;
    const struct record *best = NULL;
    for (size_t i = 0; i < records->num; i++) {
        const struct record *r = &records->rows[i];
        if (r->kind == RECORD_SEARCH && r->precision == plan->precision &&
            r->pair == quest->pair && r->m == quest->shape.m && r->n == quest->shape.n &&
            r->k == quest->shape.k && !strcmp(r->outcome, "ok") &&
            (!best || r->seconds < best->seconds) && differs(plan, &r->config, least))
            best = r;
    }
    return best;
}

/* The best of a search, and others that are not its near copies: those would win and lose alike. */
static void add_finalists(struct plan *plan, const struct quest *quest, unsigned most)
{
    const struct shape *s = &quest->shape;
    for (unsigned i = 0; i < most && plan->num_finalists < MAX_FINALISTS; i++) {
        const struct record *best = next_best(plan, quest, i ? 2 : 1);
        if (!best)
            return;
        plan->finalists[plan->num_finalists++] = best->config;
        plan->rate = fmax(plan->rate, 2 * (double) s->m * (double) s->n * (double) s->k /
                                      best->seconds);
    }
}

static bool search_one(struct plan *plan, const struct quest *quest, double end)
{
    const struct problem problem = problem_of_pair(plan->precision, quest->pair);
    struct hunt *hunts = calloc(num_families, sizeof *hunts);
    bool ok = hunts != NULL;
    progress_phase(plan->tuner, "%s search %zux%zux%zu %s", plan->precision->name,
            quest->shape.m, quest->shape.n, quest->shape.k, pair_names[quest->pair]);
    for (size_t i = 0; ok && i < num_families; i++)
        ok = hunt_open(&hunts[i], plan, families[i], &problem);
    if (!ok) {
        plan->tuner->failed = true;
        snprintf(plan->tuner->error, sizeof plan->tuner->error, "out of memory");
    }
    ok = ok && hunt_all(plan, hunts, quest->shape, end);
    for (size_t i = 0; hunts && i < num_families; i++)
        if (hunts[i].open)
            search_free(&hunts[i].search);
    free(hunts);
    return ok;
}

/* ---- edges ---- */

/* Drops the finalists that fail an edge class. One is always tried, whatever the budget. */
static bool check_edges(struct plan *plan)
{
    unsigned kept = 0;
    progress_phase(plan->tuner, "%s edges", plan->precision->name);
    for (unsigned i = 0; i < plan->num_finalists; i++) {
        bool ok = true;
        if (kept && used(plan) > edges_end)
            break;
        for (int pair = 0; pair < NUM_PAIRS && ok; pair++) {
            const struct problem problem = problem_of_pair(plan->precision, pair);
            struct record answer;
            if (!tuner_ask(plan->tuner, RECORD_EDGES, &problem, (struct shape) { 0, 0, 0 },
                        &plan->finalists[i], 1, 0, &answer))
                return false;
            ok = !strcmp(answer.outcome, "ok");
        }
        if (ok)
            plan->finalists[kept++] = plan->finalists[i];
    }
    plan->num_finalists = kept;
    return true;
}

/* ---- matrix and held ---- */

struct trial_shape {
    struct shape shape;
    const char *pairs;                 /* which transpose pairs, as digits */
};

/* Most important first, because the budget may end anywhere: each class once for all four pairs.
 * Ragged shapes and powers of two take turns, because a kernel may be fast on whole tiles alone. */
static const struct trial_shape cpu_anchors[] = {
    { { 1024, 1024, 1024 }, "0" }, { { 250, 250, 250 }, "0123" }, { { 64, 64, 64 }, "0123" },
    { { 1000, 16, 500 }, "0123" }, { { 16, 1000, 500 }, "0123" }, { { 50, 50, 4000 }, "0123" },
    { { 512, 512, 512 }, "0123" }, { { 1000, 1000, 1000 }, "0123" }, { { 120, 120, 120 }, "0" },
    { { 2048, 2048, 2048 }, "0" }, { { 1, 1000, 1000 }, "0123" }, { { 1000, 1, 1000 }, "0123" },
    { { 16, 16, 16 }, "0123" }, { { 30, 30, 30 }, "0" }, { { 2000, 128, 128 }, "0" },
    { { 128, 2000, 128 }, "0" }, { { 256, 256, 2048 }, "0" }, { { 1000, 1000, 60 }, "0" },
    { { 7, 7, 7 }, "0" }, { { 4000, 30, 64 }, "0" }, { { 30, 4000, 64 }, "0" },
    { { 1024, 1024, 1024 }, "123" },
};

static const struct trial_shape gpu_anchors[] = {
    { { 4096, 4096, 4096 }, "0" }, { { 1000, 1000, 1000 }, "0123" }, { { 250, 250, 250 }, "0123" },
    { { 4096, 32, 4096 }, "0123" }, { { 32, 4000, 4000 }, "0123" }, { { 64, 64, 16384 }, "0123" },
    { { 2048, 2048, 2048 }, "0123" }, { { 64, 64, 64 }, "0123" }, { { 512, 512, 512 }, "0" },
    { { 1024, 1024, 1024 }, "0" }, { { 1, 4000, 4000 }, "0123" }, { { 4000, 1, 4000 }, "0123" },
    { { 8192, 128, 256 }, "0" }, { { 120, 8000, 250 }, "0" }, { { 16, 16, 16 }, "0" },
    { { 4000, 4000, 128 }, "0" }, { { 3001, 3001, 3001 }, "0" },
};

/* Shapes that are not used for choosing. */
static const struct trial_shape held_shapes[] = {
    { { 768, 768, 768 }, "0" }, { { 200, 200, 200 }, "03" }, { { 96, 700, 300 }, "01" },
    { { 1500, 40, 400 }, "02" }, { { 48, 48, 2000 }, "0" }, { { 900, 900, 900 }, "0" },
};

#define COUNT(array) (sizeof array / sizeof array[0])

/* About what one question costs, in parts of the budget: launches of every finalist, most of them
 * to verify and to be sure. */
static double estimate(const struct plan *plan, struct shape s)
{
    const double operations = 2 * (double) s.m * (double) s.n * (double) s.k;
    return plan->num_finalists * (0.05 + (plan->rate > 0 ? 8 * operations / plan->rate : 0)) /
           plan->seconds;
}

static bool is_own(const struct tuner *tuner, struct shape s)
{
    for (size_t i = 0; i < tuner->num_shapes; i++)
        if (tuner->shapes[i].m == s.m && tuner->shapes[i].n == s.n && tuner->shapes[i].k == s.k)
            return true;
    return false;
}

static bool time_shapes(struct plan *plan, enum record_kind kind, const struct trial_shape *shapes,
        size_t num, double end)
{
    struct record answers[MAX_FINALISTS];
    progress_phase(plan->tuner, "%s %s", plan->precision->name, record_kind_words[kind]);
    for (size_t i = 0; i < num; i++)
        for (const char *p = shapes[i].pairs; *p; p++) {
            const struct problem problem = problem_of_pair(plan->precision, *p - '0');
            if (used(plan) + estimate(plan, shapes[i].shape) > end ||
                (kind == RECORD_HELD && is_own(plan->tuner, shapes[i].shape)))
                continue;
            if (!tuner_ask(plan->tuner, kind, &problem, shapes[i].shape, plan->finalists,
                        plan->num_finalists, 0, answers))
                return false;
        }
    return true;
}

/* The application's own shapes are anchors, so that a call of theirs is served by what was measured
 * for exactly it. */
static bool time_own_shapes(struct plan *plan)
{
    for (size_t i = 0; i < plan->tuner->num_shapes; i++) {
        const struct trial_shape own = { plan->tuner->shapes[i], "0123" };
        if (!time_shapes(plan, RECORD_MATRIX, &own, 1, matrix_end))
            return false;
    }
    return true;
}

/* ---- the plan ---- */

/* What is searched for: a large, a middling, a small, a wide and a tall problem; before them the
 * application's own. One transposes A and one B, because that decides whether packing pays. */
static size_t list_quests(const struct tuner *tuner, struct quest quests[MAX_SEARCHES])
{
    static const struct quest cpu[NUM_KINDS] = {
        { { 1024, 1024, 1024 }, 0 }, { { 384, 384, 384 }, 2 }, { { 64, 64, 64 }, 0 },
        { { 16, 1000, 500 }, 1 }, { { 1000, 16, 500 }, 0 }
    };
    static const struct quest gpu[NUM_KINDS] = {
        { { 4096, 4096, 4096 }, 0 }, { { 1000, 1000, 1000 }, 2 }, { { 128, 128, 128 }, 0 },
        { { 32, 4096, 2048 }, 1 }, { { 4096, 32, 2048 }, 0 }
    };
    const bool is_cpu = tuner->facts.value[FACT_IS_CPU];
    size_t num = 0;
    for (; num < tuner->num_shapes && num < MAX_SEARCHES - NUM_KINDS; num++)
        quests[num] = (struct quest) { tuner->shapes[num], 0 };
    for (size_t i = 0; i < NUM_KINDS; i++)
        quests[num++] = is_cpu ? cpu[i] : gpu[i];
    return num;
}

/* How much of the search is over after the i-th problem. The application's own shapes get most of
 * it; of the others the first, the large one, as much as the rest together. */
static double search_share(size_t i, size_t own, size_t num)
{
    const double for_own = own ? 0.7 : 0;
    if (i < own)
        return for_own * (double) (i + 1) / (double) own;
    return for_own + (1 - for_own) * (0.5 + 0.5 * (double) (i - own) / (double) (num - own - 1));
}

static bool search_all(struct plan *plan)
{
    struct quest quests[MAX_SEARCHES];
    const size_t num = list_quests(plan->tuner, quests);
    const size_t own = num - NUM_KINDS;
    for (size_t i = 0; i < num; i++) {
        if (!search_one(plan, &quests[i], search_end * search_share(i, own, num)))
            return false;
        add_finalists(plan, &quests[i], PER_SEARCH);
    }
    return true;
}

bool plan_finish(struct tuner *tuner, const struct precision *precision)
{
    struct plan plan = { .tuner = tuner, .precision = precision, .start = tuner->spent,
            .seconds = 1 };
    struct quest quests[MAX_SEARCHES];
    const size_t num = list_quests(tuner, quests);
    for (size_t i = 0; i < num && !plan.num_finalists; i++)
        add_finalists(&plan, &quests[i], 1);
    return check_edges(&plan);
}

bool plan_precision(struct tuner *tuner, const struct precision *precision, double seconds)
{
    struct plan plan = { .tuner = tuner, .precision = precision, .start = tuner->spent,
            .seconds = seconds };
    const bool is_cpu = tuner->facts.value[FACT_IS_CPU];
    const bool searched = search_all(&plan);
    if (!searched && (tuner->failed || *tuner->stop))
        return false;
    return check_edges(&plan) && time_own_shapes(&plan) &&
           time_shapes(&plan, RECORD_MATRIX, is_cpu ? cpu_anchors : gpu_anchors,
                   is_cpu ? COUNT(cpu_anchors) : COUNT(gpu_anchors), matrix_end) &&
           time_shapes(&plan, RECORD_HELD, held_shapes, COUNT(held_shapes), 1);
}
