/* tuner.c: questions, answered by the journal or else by the trial process. */
#include "tuner.h"
#include "clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const struct record *find_answer(const struct tuner *tuner, const struct record *question)
{
    for (size_t i = 0; i < tuner->records.num; i++)
        if (record_same_question(&tuner->records.rows[i], question))
            return &tuner->records.rows[i];
    return NULL;
}

/* Fills what the journal knows; lists the rest in missing[]. */
static unsigned recall(struct tuner *tuner, struct record *answers, unsigned num,
        unsigned missing[TRIAL_MAX_CONFIGS])
{
    unsigned num_missing = 0;
    for (unsigned i = 0; i < num; i++) {
        const struct record *known = find_answer(tuner, &answers[i]);
        if (!known) {
            missing[num_missing++] = i;
            continue;
        }
        answers[i] = *known;
        tuner->spent += known->cost;
        tuner->num_answered++;
        progress_row(tuner, known, false);
    }
    return num_missing;
}

/* A configuration may take as long as a cold compiler needs, and a hundred times the incumbent. */
static double deadline_of(double incumbent)
{
    return 30 + fmin(100 * incumbent, 60);
}

static bool write_answer(struct tuner *tuner, struct record *answer,
        const struct trial_result *result, double cost)
{
    snprintf(answer->outcome, sizeof answer->outcome, "%s", trial_outcome_words[result->outcome]);
    snprintf(answer->message, sizeof answer->message, "%s", result->message);
    for (char *p = answer->message; *p; p++)
        if (*p == '\t' || *p == '\n' || *p == '\r')
            *p = ' ';
    /* As the journal will read them back, so that a resumed run sees the same numbers. */
    char digits[64];
    snprintf(digits, sizeof digits, "%.9g", result->seconds);
    sscanf(digits, "%lf", &answer->seconds);
    snprintf(digits, sizeof digits, "%.3g", result->spread);
    sscanf(digits, "%lf", &answer->spread);
    snprintf(digits, sizeof digits, "%.6f", cost);
    sscanf(digits, "%lf", &answer->cost);
    if (!journal_append(tuner->journal, answer, tuner->error) ||
        !records_add(&tuner->records, answer)) {
        tuner->failed = true;
        return false;
    }
    tuner->spent += answer->cost;
    tuner->num_asked++;
    progress_row(tuner, answer, true);
    return true;
}

static bool measure(struct tuner *tuner, const struct trial_request *request,
        struct record *answers, const unsigned *missing)
{
    struct trial_result results[TRIAL_MAX_CONFIGS];
    if (!supervise_run(tuner->supervisor, request, results, tuner->stop)) {
        if (!*tuner->stop) {
            tuner->failed = true;
            snprintf(tuner->error, sizeof tuner->error, "%s", results[0].message);
        }
        return false;
    }
    const double now = clock_now();
    const double cost = (now - tuner->last_event) / request->num_configs;
    tuner->last_event = now;
    for (unsigned i = 0; i < request->num_configs; i++)
        if (!write_answer(tuner, &answers[missing[i]], &results[i], cost))
            return false;
    return true;
}

bool tuner_ask(struct tuner *tuner, enum record_kind kind, const struct problem *problem,
        struct shape shape, const struct config *configs, unsigned num, double incumbent,
        struct record *answers)
{
    unsigned missing[TRIAL_MAX_CONFIGS];
    struct trial_request request = {
        .kind = kind == RECORD_EDGES ? TRIAL_EDGES : TRIAL_MEASURE, .problem = *problem,
        .m = shape.m, .n = shape.n, .k = shape.k, .incumbent = incumbent,
        .deadline = deadline_of(incumbent),
    };
    if (*tuner->stop || tuner->failed)
        return false;
    for (unsigned i = 0; i < num; i++)
        answers[i] = (struct record) {
            .kind = kind, .precision = problem->precision,
            .pair = 2 * problem->transa + problem->transb,
            .m = shape.m, .n = shape.n, .k = shape.k, .config = configs[i],
        };
    request.num_configs = recall(tuner, answers, num, missing);
    if (!request.num_configs)
        return true;
    if (!tuner->supervisor)
        return false;
    for (unsigned i = 0; i < request.num_configs; i++)
        request.configs[i] = configs[missing[i]];
    return measure(tuner, &request, answers, missing);
}
