/* plan.c: how the budget of one precision is spent.
 *
 *   speed    see how fast the generic bundle is, and make the problems fit the device
 *   search   look for the best configuration at a few shapes that differ in kind
 *   look     time the best of that again, at all of these shapes, where the strategy asks for it
 *   edges    verify the finalists on every edge class, for each transpose pair
 *   matrix   time the finalists against each other, interleaved, at every anchor, and generic;
 *            a recipe of its that wins is verified and becomes a finalist
 *   held     the same at shapes that are not used for choosing
 *
 * A shard of a search ends after the first one; a run over the merged journal of all shards begins
 * with the second one. Each phase ends at its share of the budget. Nothing here looks at a clock:
 * only at tuner->spent.
 */
#include "baseline.h"
#include "hunt.h"
#include "tuner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_FINALISTS = 31, PER_SEARCH = 2, MAX_SEARCHES = 22, MAX_KINDS = 15, MAX_LOOKS = 64,
    LOOKS_TOGETHER = 10, MERGED_LOOKS = 30
};

/* The ends of the phases, as parts of a precision's budget; second looks take the last of the
 * search's. */
static const double search_end = 0.55, edges_end = 0.75, matrix_end = 0.95, looks_share = 0.1;

/* How far the last question of one search may go beyond its end. As long as nothing is verified,
 * edges may take all that is left. */
static const double grace = 0.1;

/* More than any budget, seconds. */
static const double endless = 1e9;

/* Of the time for one search, what one operation of generic may take. */
static const double operation_share = 1.0 / 12;

/* One problem to search for. */
struct quest {
    struct shape shape;
    int pair;
    unsigned parts;                    /* of the search's time, in proportion to the others' */
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

double plan_share(const struct tuner *tuner)
{
    const struct journal_head *head = &tuner->records.head;
    if (head->shard.num)
        return search_end / head->shard.num;
    return head->merged ? 1 - search_end : 1;
}

/* The plan of a precision that has `seconds` left of its whole budget. What a shard, or the shards,
 * spend elsewhere counts as spent here, so that phases end at the same shares. */
static struct plan plan_of(struct tuner *tuner, const struct precision *precision, double seconds)
{
    const struct journal_head *head = &tuner->records.head;
    struct plan plan = { .tuner = tuner, .precision = precision, .start = tuner->spent,
            .seconds = seconds };
    if (head->shard.num)
        plan.seconds = seconds / search_end;
    else if (head->merged) {
        plan.seconds = seconds / (1 - search_end);
        plan.start -= search_end * plan.seconds;
    }
    return plan;
}

static double used(const struct plan *plan)
{
    return (plan->tuner->spent - plan->start) / plan->seconds;
}

/* Whether the run must stop, and not only a phase whose time is over. */
static bool must_stop(const struct plan *plan)
{
    return plan->tuner->failed || *plan->tuner->stop;
}

/* No question goes on beyond this part of the precision's budget; but where the budget is not
 * strict, the first ones, without which there is nothing. */
static void set_limit(struct plan *plan, double part, bool is_first)
{
    plan->tuner->limit = is_first && !plan->tuner->is_strict
            ? HUGE_VAL : fmin(plan->start + part * plan->seconds, plan->tuner->budget);
}

/* Whether this is one shard of a search, which compares with generic no more than it chooses. */
static bool is_part(const struct tuner *tuner)
{
    return tuner->records.head.shard.num;
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

static bool differs(const struct config *from, unsigned num, const struct config *config,
        unsigned least)
{
    for (unsigned i = 0; i < num; i++)
        if (difference(&from[i], config) < least)
            return false;
    return true;
}

static bool is_row_of(const struct record *r, enum record_kind kind, const struct plan *plan,
        const struct quest *quest)
{
    const bool fits = r->kind == kind ||
                      (kind == RECORD_SEARCH && r->kind == RECORD_GENERIC && r->used);
    return fits && r->precision == plan->precision && r->pair == quest->pair &&
           r->m == quest->shape.m && r->n == quest->shape.n && r->k == quest->shape.k;
}

/* The fastest configuration of a quest that differs from each of the taken ones in at least so many
 * parameters. */
static const struct record *next_best(const struct plan *plan, enum record_kind kind,
        const struct quest *quest, const struct config *taken, unsigned num_taken, unsigned least)
{
    const struct records *records = &plan->tuner->records;
    const struct record *best = NULL;
    for (size_t i = 0; i < records->num; i++) {
        const struct record *r = &records->rows[i];
        if (is_row_of(r, kind, plan, quest) && !strcmp(r->outcome, "ok") &&
            (!best || r->seconds < best->seconds) && differs(taken, num_taken, &r->config, least))
            best = r;
    }
    return best;
}

static void add_finalist(struct plan *plan, const struct config *config)
{
    if (plan->num_finalists < MAX_FINALISTS &&
        differs(plan->finalists, plan->num_finalists, config, 1))
        plan->finalists[plan->num_finalists++] = *config;
}

/* The best of a search, and others that are not its near copies: those would win and lose alike.
 * Second looks, where they were taken, count more than the first one. */
static void add_finalists(struct plan *plan, const struct quest *quest, unsigned from, unsigned to)
{
    const struct shape *s = &quest->shape;
    for (unsigned i = from; i < to; i++) {
        const unsigned least = i ? 2 : 1;
        const struct record *best = next_best(plan, RECORD_LOOK, quest, plan->finalists,
                plan->num_finalists, least);
        if (!best)
            best = next_best(plan, RECORD_SEARCH, quest, plan->finalists, plan->num_finalists,
                    least);
        if (!best)
            return;
        add_finalist(plan, &best->config);
        plan->rate = fmax(plan->rate, 2 * (double) s->m * (double) s->n * (double) s->k /
                                      best->seconds);
    }
}

/* ---- search ---- */

/* One that runs out of time leaves the others theirs. */
static void search_one(struct plan *plan, const struct quest *quest, double end)
{
    const struct quarry quarry = {
        .problem = problem_of_pair(plan->precision, quest->pair), .shape = quest->shape,
        .known = plan->finalists, .num_known = plan->num_finalists,
    };
    progress_phase(plan->tuner, "%s search %zux%zux%zu %s", plan->precision->name,
            quest->shape.m, quest->shape.n, quest->shape.k, pair_names[quest->pair]);
    set_limit(plan, end + grace, !plan->num_finalists);
    hunt(plan->tuner, &quarry, plan->start + end * plan->seconds);
    const struct record *best = next_best(plan, RECORD_SEARCH, quest, NULL, 0, 0);
    if (!is_part(plan->tuner) && !must_stop(plan))
        baseline_ask(plan->tuner, &quarry.problem, quest->shape, best ? best->seconds : 0);
}

/* ---- second looks ---- */

/* The best of all quests, a quest's turn each, best first. */
static unsigned list_looks(const struct plan *plan, const struct quest *quests, size_t num_quests,
        unsigned most, struct config looks[MAX_LOOKS])
{
    unsigned num = 0;
    for (size_t idle = 0, q = 0; idle < num_quests && num < most && num < MAX_LOOKS;
         q = (q + 1) % num_quests) {
        const struct record *best = next_best(plan, RECORD_SEARCH, &quests[q], looks, num, 1);
        idle = best ? 0 : idle + 1;
        if (best)
            looks[num++] = best->config;
    }
    return num;
}

/* Times a few configurations against each other at every quest's shape; at the first one however
 * small the budget. */
static bool look_at(struct plan *plan, const struct quest *quests, size_t num_quests,
        const struct config *looks, unsigned num, double end)
{
    struct record answers[LOOKS_TOGETHER];
    for (size_t q = 0; q < num_quests && (q == 0 || used(plan) < end); q++) {
        const struct problem problem = problem_of_pair(plan->precision, quests[q].pair);
        if (!tuner_ask(plan->tuner, RECORD_LOOK, &problem, quests[q].shape, looks, num, 0,
                    answers))
            return false;
    }
    return true;
}

/* The logarithm of a configuration's second time at a quest over the best one's there. */
static double look_loss(const struct plan *plan, const struct quest *quest,
        const struct config *config)
{
    const struct records *records = &plan->tuner->records;
    const struct record *best = next_best(plan, RECORD_LOOK, quest, NULL, 0, 0);
    for (size_t i = 0; best && i < records->num; i++) {
        const struct record *r = &records->rows[i];
        if (is_row_of(r, RECORD_LOOK, plan, quest) && record_is_timed(r) &&
            config_equal(&r->config, config))
            return log(r->seconds / best->seconds);
    }
    return HUGE_VAL;
}

/* The winner of all shapes together (Matsumoto 2012's third stage). */
static void add_all_round(struct plan *plan, const struct quest *quests, size_t num_quests,
        const struct config *looks, unsigned num)
{
    const struct config *best = NULL;
    double least = HUGE_VAL;
    for (unsigned i = 0; i < num; i++) {
        double loss = 0;
        for (size_t q = 0; q < num_quests; q++)
            loss += look_loss(plan, &quests[q], &looks[i]);
        if (loss < least) {
            best = &looks[i];
            least = loss;
        }
    }
    if (best)
        add_finalist(plan, best);
}

/* Looks at the best few again, then at the next ones, until `end`. */
static bool look_again(struct plan *plan, const struct quest *quests, size_t num_quests,
        unsigned most, double end)
{
    struct config looks[MAX_LOOKS];
    const unsigned num = list_looks(plan, quests, num_quests, most, looks);
    progress_phase(plan->tuner, "%s second looks", plan->precision->name);
    set_limit(plan, end + grace, false);
    for (unsigned i = 0; i < num && (i == 0 || used(plan) < end); i += LOOKS_TOGETHER)
        if (!look_at(plan, quests, num_quests, looks + i,
                    num - i < LOOKS_TOGETHER ? num - i : LOOKS_TOGETHER, end))
            return false;
    plan->num_finalists = 0;
    add_all_round(plan, quests, num_quests, looks, num);
    for (size_t q = 0; q < num_quests; q++)
        add_finalists(plan, &quests[q], 0, PER_SEARCH);
    return true;
}

/* ---- edges ---- */

/* Whether a configuration passes every edge class; false also when it could not be asked. */
static bool passes_edges(struct plan *plan, const struct config *config)
{
    for (int pair = 0; pair < NUM_PAIRS; pair++) {
        const struct problem problem = problem_of_pair(plan->precision, pair);
        struct record answer;
        if (!tuner_ask(plan->tuner, RECORD_EDGES, &problem, (struct shape) { 0, 0, 0 }, config, 1,
                    0, &answer) || strcmp(answer.outcome, "ok"))
            return false;
    }
    return true;
}

static bool is_generic(const struct plan *plan, const struct config *config)
{
    struct config generic[BASELINE_MAX];
    const size_t num = plan->tuner->generic
            ? plan->tuner->generic(plan->precision, generic, BASELINE_MAX) : 0;
    return !differs(generic, (unsigned) num, config, 1);
}

/* Drops the finalists that fail an edge class, or for which there is no time. */
static bool check_edges(struct plan *plan)
{
    unsigned kept = 0;
    bool has_own = false;              /* one that is not generic's */
    progress_phase(plan->tuner, "%s edges", plan->precision->name);
    for (unsigned i = 0; i < plan->num_finalists && !must_stop(plan); i++) {
        if (has_own && used(plan) > edges_end)
            break;
        set_limit(plan, 1, !has_own);
        if (!passes_edges(plan, &plan->finalists[i]))
            continue;
        has_own = has_own || !is_generic(plan, &plan->finalists[i]);
        plan->finalists[kept++] = plan->finalists[i];
    }
    set_limit(plan, 1, false);
    plan->num_finalists = kept;
    return !must_stop(plan);
}

/* Verifies the recipes of generic that won somewhere: they become finalists. */
static bool check_generic(struct plan *plan)
{
    struct config generic[BASELINE_MAX];
    const size_t num = plan->tuner->generic
            ? plan->tuner->generic(plan->precision, generic, BASELINE_MAX) : 0;
    for (size_t i = 0; i < num && plan->num_finalists && !must_stop(plan); i++)
        if (differs(plan->finalists, plan->num_finalists, &generic[i], 1) &&
            baseline_wins(plan->tuner, plan->precision, &generic[i]) &&
            passes_edges(plan, &generic[i]))
            add_finalist(plan, &generic[i]);
    return !must_stop(plan);
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
    { { 1000, 16, 500 }, "0123" }, { { 16, 1000, 500 }, "0123" }, { { 1, 2000, 2000 }, "0123" },
    { { 2000, 1, 2000 }, "0123" }, { { 50, 50, 4000 }, "0123" }, { { 512, 512, 512 }, "0123" },
    { { 1000, 1000, 1000 }, "0123" }, { { 120, 120, 120 }, "0" }, { { 2048, 2048, 2048 }, "0" },
    { { 16, 16, 16 }, "0123" }, { { 30, 30, 30 }, "0" }, { { 2000, 128, 128 }, "0" },
    { { 128, 2000, 128 }, "0" }, { { 256, 256, 2048 }, "0" }, { { 1000, 1000, 60 }, "0" },
    { { 7, 7, 7 }, "0" }, { { 4000, 30, 64 }, "0" }, { { 30, 4000, 64 }, "0" },
    { { 1024, 1024, 1024 }, "123" },
};

static const struct trial_shape gpu_anchors[] = {
    { { 4096, 4096, 4096 }, "0123" }, { { 1501, 1501, 1501 }, "0123" },
    { { 2049, 2049, 2049 }, "0123" }, { { 2048, 2048, 2048 }, "0123" },
    { { 1000, 1000, 1000 }, "0123" }, { { 512, 512, 512 }, "0123" }, { { 250, 250, 250 }, "0123" },
    { { 64, 64, 64 }, "0123" }, { { 64, 64, 16384 }, "0123" }, { { 4096, 32, 4096 }, "0123" },
    { { 32, 4096, 4096 }, "0123" }, { { 4096, 16, 4096 }, "0123" }, { { 16, 4096, 4096 }, "0123" },
    { { 1, 4000, 4000 }, "0123" }, { { 4000, 1, 4000 }, "0123" }, { { 4, 4000, 4000 }, "0123" },
    { { 4000, 4, 4000 }, "0123" }, { { 1, 3001, 3001 }, "0" }, { { 3001, 1, 3001 }, "0" },
    { { 1024, 1024, 1024 }, "0" },
    { { 256, 256, 256 }, "0123" }, { { 128, 128, 128 }, "0" }, { { 3001, 3001, 3001 }, "0" },
    { { 4097, 4097, 4097 }, "0" },
    { { 25600, 32, 256 }, "0" }, { { 128, 128, 8192 }, "0" }, { { 4096, 64, 1024 }, "0" },
    { { 120, 8000, 250 }, "0" }, { { 16, 16, 16 }, "0" }, { { 4000, 4000, 128 }, "0" },
    { { 500, 500, 500 }, "0" }, { { 8192, 8192, 8192 }, "0" }, { { 351, 351, 351 }, "0" },
};

/* Shapes that are not used for choosing. */
static const struct trial_shape held_shapes[] = {
    { { 768, 768, 768 }, "0" }, { { 200, 200, 200 }, "03" }, { { 96, 700, 300 }, "01" },
    { { 1500, 40, 400 }, "02" }, { { 48, 48, 2000 }, "0" }, { { 900, 900, 900 }, "0" },
};

#define COUNT(array) (sizeof array / sizeof array[0])

/* About what one question costs, in parts of the budget: launches of each of so many finalists,
 * most of them to verify and to be sure. */
static double estimate(const struct plan *plan, struct shape s, unsigned num)
{
    const double operations = 2 * (double) s.m * (double) s.n * (double) s.k;
    return num * (0.05 + (plan->rate > 0 ? 8 * operations / plan->rate : 0)) / plan->seconds;
}

/* The finalists that take a shape. */
static unsigned list_takers(const struct plan *plan, const struct problem *problem, struct shape s,
        struct config takers[MAX_FINALISTS])
{
    unsigned num = 0;
    for (unsigned i = 0; i < plan->num_finalists; i++)
        if (config_takes(&plan->finalists[i], problem, &plan->tuner->facts, s.m, s.n, s.k))
            takers[num++] = plan->finalists[i];
    return num;
}

static bool is_own(const struct tuner *tuner, struct shape s)
{
    for (size_t i = 0; i < tuner->num_shapes; i++)
        if (tuner->shapes[i].m == s.m && tuner->shapes[i].n == s.n && tuner->shapes[i].k == s.k)
            return true;
    return false;
}

/* Times generic beside finalists that were timed at a shape; one of them may be its own recipe. */
static bool time_generic(struct plan *plan, const struct problem *problem, struct shape shape,
        unsigned num, const struct record *answers)
{
    double best = 0;
    for (unsigned i = 0; i < num; i++)
        if (record_is_timed(&answers[i]) && (!(best > 0) || answers[i].seconds < best))
            best = answers[i].seconds;
    return baseline_ask(plan->tuner, problem, shape, best);
}

static bool time_shapes(struct plan *plan, enum record_kind kind, const struct trial_shape *shapes,
        size_t num, double end)
{
    struct record answers[MAX_FINALISTS];
    struct config takers[MAX_FINALISTS];
    progress_phase(plan->tuner, "%s %s", plan->precision->name, record_kind_words[kind]);
    for (size_t i = 0; i < num; i++)
        for (const char *p = shapes[i].pairs; *p; p++) {
            const struct problem problem = problem_of_pair(plan->precision, *p - '0');
            const unsigned num_takers = list_takers(plan, &problem, shapes[i].shape, takers);
            if (!num_takers || used(plan) + estimate(plan, shapes[i].shape, num_takers) > end ||
                (kind == RECORD_HELD && is_own(plan->tuner, shapes[i].shape)))
                continue;
            if (!tuner_ask(plan->tuner, kind, &problem, shapes[i].shape, takers, num_takers, 0,
                        answers) ||
                (kind == RECORD_MATRIX && (!time_generic(plan, &problem, shapes[i].shape,
                        num_takers, answers) || !check_generic(plan))))
                return !must_stop(plan);
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

static size_t num_own(const struct tuner *tuner)
{
    const size_t most = MAX_SEARCHES - MAX_KINDS;
    return tuner->num_shapes < most ? tuner->num_shapes : most;
}

/* What is searched for: problems that differ in kind, before them the application's own. Some
 * transpose A or B, because that decides whether packing pays. On GPUs two have rows that begin
 * anywhere, one of them nearly whole tiles, and one is too small for the device but for its depth.
 * The first, the large one, gets much more time than each of the rest, and those of few rows or
 * columns less. */
static size_t list_quests(const struct tuner *tuner, struct quest quests[MAX_SEARCHES])
{
    static const struct quest cpu[] = {
        { { 1024, 1024, 1024 }, 0, 46 }, { { 384, 384, 384 }, 2, 11 }, { { 64, 64, 64 }, 0, 11 },
        { { 16, 1000, 500 }, 1, 11 }, { { 1000, 16, 500 }, 0, 11 }, { { 1, 2000, 2000 }, 0, 5 },
        { { 2000, 1, 2000 }, 0, 5 }
    };
    static const struct quest gpu[] = {
        { { 4096, 4096, 4096 }, 0, 28 }, { { 2048, 2048, 2048 }, 3, 8 },
        { { 1501, 1501, 1501 }, 0, 8 }, { { 2049, 2049, 2049 }, 0, 6 },
        { { 1000, 1000, 1000 }, 2, 8 }, { { 256, 256, 256 }, 0, 8 }, { { 64, 64, 16384 }, 0, 8 },
        { { 16, 4096, 4096 }, 1, 8 }, { { 4096, 16, 4096 }, 0, 8 },
        { { 25600, 32, 256 }, 0, 4 }, { { 1, 4096, 4096 }, 0, 4 }, { { 4096, 1, 4096 }, 0, 4 },
        { { 4, 4096, 4096 }, 0, 4 }, { { 4096, 4, 4096 }, 0, 4 }, { { 512, 512, 512 }, 1, 6 }
    };
    const bool is_cpu = tuner->facts.value[FACT_IS_CPU];
    const struct quest *kinds = is_cpu ? cpu : gpu;
    const size_t num_kinds = is_cpu ? COUNT(cpu) : COUNT(gpu);
    size_t num = 0;
    for (; num < num_own(tuner); num++)
        quests[num] = (struct quest) { tuner->shapes[num], 0, 1 };
    memcpy(&quests[num], kinds, num_kinds * sizeof *kinds);
    return num + num_kinds;
}

static unsigned sum_parts(const struct quest *quests, size_t num)
{
    unsigned sum = 0;
    for (size_t i = 0; i < num; i++)
        sum += quests[i].parts;
    return sum;
}

/* How much of the search is over after the i-th problem. The application's own shapes get most. */
static double search_share(const struct quest *quests, size_t i, size_t own, size_t num)
{
    const double for_own = own ? 0.7 : 0;
    if (i < own)
        return for_own * sum_parts(quests, i + 1) / sum_parts(quests, own);
    return for_own + (1 - for_own) * sum_parts(quests + own, i + 1 - own) /
                             sum_parts(quests + own, num - own);
}

/* How long one operation of a search may take generic, seconds. */
static double operation_time(const struct plan *plan, const struct quest *quests, size_t i,
        size_t num)
{
    const size_t own = num_own(plan->tuner);
    const double share = search_share(quests, i, own, num) -
                         (i ? search_share(quests, i - 1, own, num) : 0);
    return operation_share * search_end * share * plan->seconds;
}

static bool search_each(struct plan *plan, const struct quest *quests, size_t num, double end)
{
    const size_t own = num_own(plan->tuner);
    for (size_t i = 0; i < num && !must_stop(plan); i++) {
        search_one(plan, &quests[i], end * search_share(quests, i, own, num));
        add_finalists(plan, &quests[i], 0, PER_SEARCH);
    }
    plan->num_finalists = 0;           /* the best of each first: time may not do for all */
    for (unsigned rank = 0; rank < PER_SEARCH; rank++)
        for (size_t i = 0; i < num; i++)
            add_finalists(plan, &quests[i], rank, rank + 1);
    return !must_stop(plan);
}

/* Makes problems that would take a slow device too long smaller. What is searched in shards must be
 * the same for all. */
static void fit_quests(struct plan *plan, struct quest *quests, size_t num)
{
    const struct journal_head *head = &plan->tuner->records.head;
    double enough = 0;
    if (head->shard.num || head->merged)
        return;
    for (size_t i = 0; i < num; i++) {
        const struct shape *s = &quests[i].shape;
        enough = fmax(enough, 2 * (double) s->m * (double) s->n * (double) s->k /
                              operation_time(plan, quests, i, num));
    }
    progress_phase(plan->tuner, "%s speed", plan->precision->name);
    const double rate = baseline_rate(plan->tuner, plan->precision,
            operation_time(plan, quests, 0, num), enough);
    for (size_t i = 0; i < num && rate > 0; i++)
        quests[i].shape = baseline_shrink(quests[i].shape,
                rate * operation_time(plan, quests, i, num));
}

/* Second looks are taken when the strategy asks for them, and at what was searched elsewhere. */
static bool search_all(struct plan *plan)
{
    struct quest quests[MAX_SEARCHES];
    const struct journal_head *head = &plan->tuner->records.head;
    const size_t num = list_quests(plan->tuner, quests);
    const unsigned looks = plan->tuner->strategy->second_looks;
    set_limit(plan, search_end + grace, false);
    fit_quests(plan, quests, num);
    if (head->merged)
        return look_again(plan, quests, num, looks > MERGED_LOOKS ? looks : MERGED_LOOKS,
                search_end + looks_share);
    return search_each(plan, quests, num, search_end - (looks ? looks_share : 0)) &&
           (!looks || head->shard.num || look_again(plan, quests, num, looks, search_end));
}

bool plan_finish(struct tuner *tuner, const struct precision *precision)
{
    struct plan plan = plan_of(tuner, precision, endless);
    for (size_t i = 0; i < tuner->records.num && !plan.num_finalists; i++) {
        const struct record *r = &tuner->records.rows[i];
        const struct quest quest = { { r->m, r->n, r->k }, r->pair, 1 };
        if (r->kind == RECORD_SEARCH && r->precision == precision)
            add_finalists(&plan, &quest, 0, 1);
    }
    return check_edges(&plan);
}

bool plan_precision(struct tuner *tuner, const struct precision *precision, double seconds)
{
    struct plan plan = plan_of(tuner, precision, seconds);
    const bool is_cpu = tuner->facts.value[FACT_IS_CPU];
    search_all(&plan);
    if (must_stop(&plan) || is_part(tuner))
        return !must_stop(&plan);
    return check_edges(&plan) && time_own_shapes(&plan) &&
           time_shapes(&plan, RECORD_MATRIX, is_cpu ? cpu_anchors : gpu_anchors,
                   is_cpu ? COUNT(cpu_anchors) : COUNT(gpu_anchors), matrix_end) &&
           time_shapes(&plan, RECORD_HELD, held_shapes, COUNT(held_shapes), 1);
}
