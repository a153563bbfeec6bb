/* tuner.c: questions, answered by the journal or else by the trial process. */
#include "tuner.h"
#include "clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With less than this there is no time to ask, seconds. */
static const double least_time = 0.1;

/* What there is time for, seconds. */
static double time_left(const struct tuner *tuner)
{
    const double end = tuner->limit > 0 ? tuner->limit : tuner->budget;
    return end + tuner->slack - tuner->spent;
}

/* A row that came late holds what time there was; with more of it the question is asked again. */
static struct record *find_answer(const struct tuner *tuner, const struct record *question)
{
    struct record *late = NULL;
    for (size_t i = 0; i < tuner->records.num; i++) {
        struct record *r = &tuner->records.rows[i];
        if (!record_same_question(r, question))
            continue;
        if (!record_is_late(r))
            return r;
        late = r;
    }
    return late && tuner->supervisor && time_left(tuner) > 1.25 * late->seconds + 1 ? NULL : late;
}

/* Fills what the journal knows; lists the rest in missing[]. */
static unsigned recall(struct tuner *tuner, struct record *answers, unsigned num,
        unsigned missing[TRIAL_MAX_CONFIGS])
{
    unsigned num_missing = 0;
    for (unsigned i = 0; i < num; i++) {
        struct record *known = find_answer(tuner, &answers[i]);
        if (!known) {
            missing[num_missing++] = i;
            continue;
        }
        answers[i] = *known;
        if (known->used)
            continue;
        known->used = true;
        tuner->spent += known->cost;
        tuner->num_answered++;
        progress_row(tuner, known, false);
    }
    return num_missing;
}

/* A configuration may take as long as a cold compiler needs, and a hundred times the incumbent. */
static double patience(double incumbent)
{
    return 30 + fmin(100 * incumbent, 60);
}

/* As the journal will read them back, so that a resumed run sees the same numbers. */
static double rounded(const char *format, double value)
{
    char digits[64];
    snprintf(digits, sizeof digits, format, value);
    return strtod(digits, NULL);
}

static void fill_answer(struct record *answer, const struct trial_result *result, double cost)
{
    snprintf(answer->outcome, sizeof answer->outcome, "%s", trial_outcome_words[result->outcome]);
    snprintf(answer->message, sizeof answer->message, "%s", result->message);
    for (char *p = answer->message; *p; p++)
        if (*p == '\t' || *p == '\n' || *p == '\r')
            *p = ' ';
    answer->seconds = rounded("%.9g", result->seconds);
    answer->spread = rounded("%.3g", result->spread);
    answer->cost = rounded("%.6f", cost);
    answer->used = true;
}

/* Whether a result says something about the candidate, and not only that the run ended. */
static bool is_answer(const struct trial_result *result, bool whole)
{
    return result->outcome == TRIAL_TIMEOUT ? whole : result->outcome != TRIAL_DEVICE;
}

static bool keep(struct tuner *tuner, const struct record *rows, unsigned num)
{
    if (!journal_append(tuner->journal, rows, num, tuner->error)) {
        tuner->failed = true;
        return false;
    }
    for (unsigned i = 0; i < num; i++) {
        if (!records_add(&tuner->records, &rows[i])) {
            snprintf(tuner->error, sizeof tuner->error, "out of memory");
            tuner->failed = true;
            return false;
        }
        tuner->spent += rows[i].cost;
        tuner->num_asked++;
        progress_row(tuner, &rows[i], true);
    }
    return true;
}

/* Asks the trial process. What it answered is kept even when it could not answer everything. */
static bool measure(struct tuner *tuner, const struct trial_request *request,
        struct record *answers, const unsigned *missing)
{
    struct trial_result results[TRIAL_MAX_CONFIGS];
    struct record rows[TRIAL_MAX_CONFIGS];
    unsigned num = 0;
    struct supervisor *supervisor = tuner->ahead && request->num_configs == 1
            ? ahead_take(tuner->ahead, request) : NULL;
    if (!supervisor)
        supervisor = tuner->supervisor;
    const bool whole = supervise_run(supervisor, request, results, tuner->stop);
    tuner->last_event += supervise_waited(supervisor);         /* no candidate's cost */
    if (!whole && !*tuner->stop) {
        tuner->failed = tuner->is_lost = true;
        snprintf(tuner->error, sizeof tuner->error, "%s", results[0].message);
    }
    const double now = clock_now();
    const double cost = (now - tuner->last_event) / request->num_configs;
    tuner->last_event = now;
    for (unsigned i = 0; i < request->num_configs; i++)
        if (is_answer(&results[i], whole)) {
            if (results[i].outcome == TRIAL_LATE)
                results[i].seconds = request->total;
            fill_answer(&answers[missing[i]], &results[i], cost);
            rows[num++] = answers[missing[i]];
        }
    return keep(tuner, rows, num) && num == request->num_configs;
}

static struct record question_of(enum record_kind kind, const struct problem *problem,
        struct shape shape, const struct config *config)
{
    return (struct record) {
        .kind = kind, .precision = problem->precision, .pair = pair_of_problem(problem),
        .m = shape.m, .n = shape.n, .k = shape.k, .config = *config,
    };
}

void tuner_expect(struct tuner *tuner, const struct problem *problem, struct shape shape,
        const struct config *config)
{
    const struct record question = question_of(RECORD_SEARCH, problem, shape, config);
    struct trial_request request = { .kind = TRIAL_BUILD_ONLY, .problem = *problem,
            .num_configs = 1 };
    if (!tuner->ahead || *tuner->stop || find_answer(tuner, &question))
        return;
    request.configs[0] = *config;
    ahead_build(tuner->ahead, &request, tuner->stop);
}

bool tuner_ask(struct tuner *tuner, enum record_kind kind, const struct problem *problem,
        struct shape shape, const struct config *configs, unsigned num, double incumbent,
        struct record *answers)
{
    unsigned missing[TRIAL_MAX_CONFIGS];
    struct trial_request request = {
        .kind = kind == RECORD_EDGES ? TRIAL_EDGES : TRIAL_MEASURE, .problem = *problem,
        .m = shape.m, .n = shape.n, .k = shape.k, .incumbent = incumbent,
    };
    if (*tuner->stop || tuner->failed)
        return false;
    for (unsigned i = 0; i < num; i++)
        answers[i] = question_of(kind, problem, shape, &configs[i]);
    request.num_configs = recall(tuner, answers, num, missing);
    if (!request.num_configs)
        return true;
    request.total = time_left(tuner);
    if (!tuner->supervisor || request.total < least_time)
        return false;
    for (unsigned i = 0; i < request.num_configs; i++)
        request.configs[i] = configs[missing[i]];
    request.deadline = patience(incumbent);
    return measure(tuner, &request, answers, missing);
}
