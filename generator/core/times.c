/* times.c: see times.h. */
#include "times.h"
#include "assemble.h"
#include "fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int times_find(const struct times *times, const struct config *config)
{
    for (unsigned i = 0; i < times->num_candidates; i++)
        if (config_equal(&times->candidates[i].config, config))
            return (int) i;
    return -1;
}

/* ---- candidates ---- */

/* Whether a row of the table's precision counts. */
static bool counts(const struct times *times, const struct record *r)
{
    return r->precision == times->precision && (r->used || !times->only_used);
}

static bool may_ship(const struct records *records, const struct times *times,
        const struct config *config)
{
    bool ok[NUM_PAIRS] = { false };
    for (size_t i = 0; i < records->num; i++) {
        const struct record *r = &records->rows[i];
        if (!counts(times, r) || !config_equal(&r->config, config))
            continue;
        if (!strcmp(r->outcome, "wrong") || !strcmp(r->outcome, "crash") ||
            !strcmp(r->outcome, "timeout"))
            return false;
        if (r->kind == RECORD_EDGES)
            ok[r->pair] = !strcmp(r->outcome, "ok");
    }
    return ok[0] && ok[1] && ok[2] && ok[3];
}

static bool add_candidate(struct times *times, const struct config *config)
{
    struct times_candidate *candidate = &times->candidates[times->num_candidates];
    char error[FAMILY_ERROR_BYTES];
    *candidate = (struct times_candidate) { .config = *config };
    for (int pair = 0; pair < NUM_PAIRS; pair++) {
        const struct problem problem = problem_of_pair(times->precision, pair);
        if (!assemble_traits(config, &problem, times->facts, &candidate->recipe[pair], error))
            return false;
    }
    times->num_candidates++;
    return true;
}

static void find_candidates(const struct records *records, struct times *times)
{
    for (size_t i = 0; i < records->num && times->num_candidates < TIMES_MAX_CANDIDATES; i++) {
        const struct record *r = &records->rows[i];
        if (r->kind == RECORD_EDGES && counts(times, r) && times_find(times, &r->config) < 0 &&
            may_ship(records, times, &r->config))
            add_candidate(times, &r->config);
    }
}

static struct kiln_product product_of(const struct precision *precision, int pair, size_t m,
        size_t n, size_t k)
{
    const struct problem problem = problem_of_pair(precision, pair);
    return product_dense(&problem, m, n, k);
}

static uint32_t units_of(const struct times *times)
{
    return (uint32_t) times->facts->value[FACT_UNITS];
}

/* Whether a row's time is one to fit a candidate by. */
static bool is_sample(const struct times *times, const struct record *r,
        const struct times_candidate *candidate)
{
    return r->kind != RECORD_HELD && counts(times, r) && record_is_timed(r) && r->seconds > 0 &&
           config_equal(&r->config, &candidate->config);
}

static void fit_candidate(const struct records *records, struct times *times,
        struct times_candidate *candidate, struct fit_sample *samples)
{
    size_t num = 0;
    for (size_t i = 0; i < records->num; i++) {
        const struct record *r = &records->rows[i];
        if (!is_sample(times, r, candidate))
            continue;
        const struct kiln_product product = product_of(times->precision, r->pair, r->m, r->n, r->k);
        kiln_time_terms(&candidate->recipe[r->pair], &product, units_of(times),
                samples[num].terms);
        samples[num++].seconds = r->seconds;
    }
    const struct kiln_time *prior = records->prior
            ? records->prior(times->facts, times->precision, &candidate->config) : NULL;
    candidate->has_prior = prior;
    candidate->is_fitted = fit_time(samples, num, prior, &candidate->time);
}

bool times_open(const struct records *records, const struct precision *precision, bool only_used,
        struct times *times)
{
    *times = (struct times) { .precision = precision, .only_used = only_used,
            .facts = &records->head.facts };
    times->candidates = calloc(TIMES_MAX_CANDIDATES, sizeof *times->candidates);
    struct fit_sample *samples = calloc(records->num + 1, sizeof *samples);
    const bool ok = times->candidates && samples;
    if (ok)
        find_candidates(records, times);
    for (unsigned i = 0; ok && i < times->num_candidates; i++)
        fit_candidate(records, times, &times->candidates[i], samples);
    free(samples);
    return ok;
}

void times_free(struct times *times)
{
    free(times->candidates);
    free(times->tasks);
    *times = (struct times) { .num_tasks = 0 };
}

/* ---- problems ---- */

void times_clear(struct times *times)
{
    times->num_tasks = 0;
}

uint64_t times_predict(const struct times *times, int number, int pair, size_t m, size_t n,
        size_t k)
{
    const struct times_candidate *candidate = &times->candidates[number];
    const struct kiln_product product = product_of(times->precision, pair, m, n, k);
    struct kiln_recipe recipe = candidate->recipe[pair];
    recipe.time = &candidate->time;
    return !kiln_guard_takes(&recipe.guard, &product) ? UINT64_MAX
         : candidate->is_fitted ? kiln_time_predict(&recipe, &product, units_of(times))
                                : TIMES_UNTIMED;
}

static struct times_task *find_task(struct times *times, const struct record *r)
{
    for (unsigned i = 0; i < times->num_tasks; i++) {
        struct times_task *t = &times->tasks[i];
        if (t->m == r->m && t->n == r->n && t->k == r->k && t->pair == r->pair)
            return t;
    }
    return NULL;
}

static struct times_task *new_task(struct times *times, const struct record *r)
{
    if (times->num_tasks == times->capacity) {
        const unsigned capacity = times->capacity ? 2 * times->capacity : 64;
        struct times_task *tasks = realloc(times->tasks, capacity * sizeof *tasks);
        if (!tasks)
            return NULL;
        times->tasks = tasks;
        times->capacity = capacity;
    }
    struct times_task *t = &times->tasks[times->num_tasks++];
    *t = (struct times_task) { .m = r->m, .n = r->n, .k = r->k, .pair = r->pair, .best = HUGE_VAL,
            .generic = HUGE_VAL, .by_generic = -1 };
    for (unsigned c = 0; c < TIMES_MAX_CANDIDATES; c++) {
        t->seconds[c] = HUGE_VAL;
        t->predicted[c] = c < times->num_candidates
                ? times_predict(times, (int) c, t->pair, t->m, t->n, t->k) : UINT64_MAX;
    }
    return t;
}

bool times_add(const struct records *records, enum record_kind kind, struct times *times)
{
    for (size_t i = 0; i < records->num; i++) {
        const struct record *r = &records->rows[i];
        const int c = r->kind == kind && r->precision == times->precision && record_is_timed(r)
                ? times_find(times, &r->config) : -1;
        if (c < 0)
            continue;
        struct times_task *t = find_task(times, r);
        if (!t && !(t = new_task(times, r)))
            return false;
        t->seconds[c] = fmin(t->seconds[c], r->seconds);
        t->best = fmin(t->best, r->seconds);
    }
    return true;
}

void times_add_generic(const struct records *records, struct times *times)
{
    for (size_t i = 0; i < records->num; i++) {
        const struct record *r = &records->rows[i];
        if (r->kind != RECORD_GENERIC || r->precision != times->precision || !record_is_timed(r))
            continue;
        struct times_task *task = find_task(times, r);
        if (!task)
            continue;
        const int c = times_find(times, &r->config);
        task->generic = fmin(task->generic, r->seconds);
        if (c >= 0) {
            task->by_generic = c;
            task->seconds[c] = fmin(task->seconds[c], r->seconds);
            task->best = fmin(task->best, r->seconds);
        }
    }
}

int times_dispatched(const struct times *times, const struct times_task *task,
        const bool chosen[TIMES_MAX_CANDIDATES])
{
    int first = -1;
    for (unsigned c = 0; c < times->num_candidates; c++)
        if (chosen[c] && task->predicted[c] < UINT64_MAX &&
            (first < 0 || task->predicted[c] < task->predicted[first]))
            first = (int) c;
    return first;
}
