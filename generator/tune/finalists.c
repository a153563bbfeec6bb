/* finalists.c: see finalists.h. */
#include "finalists.h"

#include <math.h>
#include <string.h>

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

bool finalists_differ(const struct config *from, unsigned num, const struct config *config,
        unsigned least)
{
    for (unsigned i = 0; i < num; i++)
        if (difference(&from[i], config) < least)
            return false;
    return true;
}

bool finalists_is_row_of(const struct record *r, enum record_kind kind, const struct phases *phases,
        const struct task *task)
{
    /* Re-evaluations of an earlier run, which this run has not reached, do not count. */
    const bool fits = (r->kind == kind && (kind != RECORD_LOOK || r->used)) ||
                      (kind == RECORD_SEARCH &&
                              (r->kind == RECORD_FIRST || (r->kind == RECORD_GENERIC && r->used)));
    return fits && r->precision == phases->precision && r->pair == task->pair &&
           shape_equal(r->shape, task->shape);
}

const struct record *finalists_best(const struct phases *phases, enum record_kind kind,
        const struct task *task, const struct config *taken, unsigned num_taken, unsigned least)
{
    const struct records *records = &phases->tuner->records;
    const struct record *best = NULL;
    for (size_t i = 0; i < records->num; i++) {
        const struct record *r = &records->rows[i];
        if (finalists_is_row_of(r, kind, phases, task) && !strcmp(r->outcome, "ok") &&
                (!best || r->seconds < best->seconds) &&
                finalists_differ(taken, num_taken, &r->config, least))
            best = r;
    }
    return best;
}

void finalists_add(struct phases *phases, const struct config *config)
{
    if (phases->num_finalists < MAX_FINALISTS &&
            finalists_differ(phases->finalists, phases->num_finalists, config, 1))
        phases->finalists[phases->num_finalists++] = *config;
}

/* The next value of a parameter, in a direction, with which the configuration is legal. */
static bool move(const struct phases *phases, unsigned param, int step, struct config *config)
{
    const struct problem problem = problem_of_pair(phases->precision, 0);
    long values[FAMILY_MAX_VALUES];
    const int num = (int) param_values(&config->family->params[param], values);
    const char *reason;
    int at = 0;
    while (at < num && values[at] != config->value[param])
        at++;
    for (at += step; at >= 0 && at < num; at += step) {
        config->value[param] = values[at];
        if (config_legal(config, &problem, &phases->tuner->facts, &reason))
            return true;
    }
    return false;
}

void finalists_add_siblings(struct phases *phases)
{
    const unsigned num = phases->num_finalists;
    for (unsigned i = 0; i < num; i++) {
        const struct family *family = phases->finalists[i].family;
        for (unsigned p = 0; p < family->num_params; p++)
            for (int step = -1; step <= 1 && family->params[p].sibling; step += 2) {
                struct config sibling = phases->finalists[i];
                if (move(phases, p, step, &sibling))
                    finalists_add(phases, &sibling);
            }
    }
}

void finalists_add_best(struct phases *phases, const struct task *task, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        const unsigned least = i ? 2 : 1;
        const struct record *best = finalists_best(phases, RECORD_LOOK, task, phases->finalists,
                phases->num_finalists, least);
        if (!best)
            best = finalists_best(phases, RECORD_SEARCH, task, phases->finalists,
                    phases->num_finalists, least);
        if (!best)
            return;
        finalists_add(phases, &best->config);
        phases->rate = fmax(phases->rate, shape_operations(task->shape) / best->seconds);
    }
}
