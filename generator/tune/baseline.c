/* baseline.c: see baseline.h. */
#include "baseline.h"

#include <math.h>
#include <string.h>

/* A recipe of generic's that takes less than this part of the best time is worth verifying. */
static const double worth_verifying = 0.97;

/* Whether this run has found that the driver does not build it. Rows that this run has not reached
 * do not count, so that a run that resumes evaluates the same. */
static bool is_refused(const struct tuner *tuner, const struct problem *problem,
        const struct config *config)
{
    for (size_t i = 0; i < tuner->records.num; i++) {
        const struct record *r = &tuner->records.rows[i];
        if (r->used && r->precision == problem->precision && r->pair == pair_of_problem(problem) &&
                config_equal(&r->config, config) &&
                !strcmp(r->outcome, trial_outcome_words[TRIAL_BUILD]))
            return true;
    }
    return false;
}

static size_t list_takers(const struct tuner *tuner, const struct problem *problem,
        struct shape shape, struct config takers[BASELINE_MAX])
{
    struct config all[BASELINE_MAX];
    size_t num = 0;
    const size_t num_all = tuner_list(tuner, tuner->generic, problem->precision, all, BASELINE_MAX);
    for (size_t i = 0; i < num_all; i++)
        if (config_takes(&all[i], problem, &tuner->facts, shape) &&
                !is_refused(tuner, problem, &all[i]))
            takers[num++] = all[i];
    return num;
}

/* *seconds becomes the time that was found, or 0. */
static bool evaluate(struct tuner *tuner, const struct problem *problem, struct shape shape,
        double incumbent, double *seconds)
{
    struct config takers[BASELINE_MAX];
    const size_t num = list_takers(tuner, problem, shape, takers);
    *seconds = 0;
    for (size_t i = 0; i < num && !(*seconds > 0); i++) {
        struct record result;
        if (!tuner_evaluate(tuner, RECORD_GENERIC, problem, shape, &takers[i], 1, incumbent,
                    &result))
            return false;
        *seconds = record_is_timed(&result) ? result.seconds : 0;
    }
    return true;
}

bool baseline_evaluate(struct tuner *tuner, const struct problem *problem, struct shape shape,
        double incumbent)
{
    double seconds;
    return evaluate(tuner, problem, shape, incumbent, &seconds);
}

double baseline_rate(struct tuner *tuner, const struct precision *precision, double seconds,
        double enough)
{
    static const size_t sizes[] = { 64, 256, 1024 };
    const struct problem problem = problem_of_pair(precision, 0);
    double rate = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const struct shape shape = { sizes[i], sizes[i], sizes[i], 0 };
        const double operations = precision_operations(precision, shape);
        double found;
        /* Small ones are over before the device is busy: larger ones tell more, where they fit. */
        if (i && (!(rate > 0) || rate >= enough || operations / rate > seconds))
            break;
        if (!evaluate(tuner, &problem, shape, 0, &found) || !(found > 0))
            break;
        rate = operations / found;
    }
    return rate;
}

/* The best time for choosing at the shape of a row, among the rows that this run has used: rows of
 * an earlier run may lie ahead. HUGE_VAL when there is none. */
static double best_beside(const struct records *records, const struct record *row)
{
    double best = HUGE_VAL;
    for (size_t i = 0; i < records->num; i++) {
        const struct record *r = &records->rows[i];
        const bool counts = r->used && (r->kind == RECORD_MATRIX || r->kind == RECORD_OWN);
        if (counts && r->precision == row->precision && r->pair == row->pair &&
                shape_equal(r->shape, row->shape) && record_is_timed(r))
            best = fmin(best, r->seconds);
    }
    return best;
}

bool baseline_wins(const struct tuner *tuner, const struct precision *precision,
        const struct config *config)
{
    const struct records *records = &tuner->records;
    for (size_t i = 0; i < records->num; i++) {
        const struct record *r = &records->rows[i];
        if (r->used && r->kind == RECORD_GENERIC && r->precision == precision &&
                record_is_timed(r) && config_equal(&r->config, config) &&
                best_beside(records, r) < HUGE_VAL &&
                r->seconds < worth_verifying * best_beside(records, r))
            return true;
    }
    return false;
}
