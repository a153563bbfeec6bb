/* tuner.c: evaluations, by the journal or else by the trial process. */
#include "tuner.h"
#include "clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With less than this there is no time to evaluate, seconds. */
static const double least_time = 0.1;

/* How much longer a kernel may take on a CPU where a crew's processes share its cores. */
enum { CROWDED = 4 };

/* The time that is left, seconds. */
static double time_left(const struct tuner *tuner)
{
    const double end = tuner->limit > 0 ? tuner->limit : tuner->budget;
    return end + tuner->slack - tuner->spent;
}

/* The clock's value when that time is over; what was done since the last row has used some of
 * it. */
static double time_ends(const struct tuner *tuner)
{
    return tuner->last_event + time_left(tuner);
}

/* A row "late" holds the time that was left then; with more time it is evaluated again. */
static struct record *find_result(const struct tuner *tuner, const struct record *sought)
{
    struct record *late = NULL;
    for (size_t i = 0; i < tuner->records.num; i++) {
        struct record *r = &tuner->records.rows[i];
        if (!record_same_evaluation(r, sought))
            continue;
        if (!record_is_late(r))
            return r;
        late = r;
    }
    return late && tuner->supervisor && time_left(tuner) > 1.25 * late->seconds + 1 ? NULL : late;
}

/* Fills what the journal knows; lists the rest in missing[]. */
static unsigned recall(struct tuner *tuner, struct record *results, unsigned num,
        unsigned missing[TRIAL_MAX_CONFIGS])
{
    unsigned num_missing = 0;
    for (unsigned i = 0; i < num; i++) {
        struct record *known = find_result(tuner, &results[i]);
        if (!known) {
            missing[num_missing++] = i;
            continue;
        }
        results[i] = *known;
        if (known->used)
            continue;
        known->used = true;
        tuner->spent += known->cost;
        tuner->num_recalled++;
        progress_row(tuner, known, false);
    }
    return num_missing;
}

/* A configuration may take as long as a cold compiler needs, and a hundred times the incumbent. */
static double patience(double incumbent)
{
    return 30 + fmin(100 * incumbent, 60);
}

/* A number as the journal will read it back, so that a resumed run sees the same. */
static double rounded(const char *format, double value)
{
    char digits[64];
    snprintf(digits, sizeof digits, format, value);
    return strtod(digits, NULL);
}

/* The row of a trial's result. One that is "late" gets the time that was left. */
static void fill_result(struct record *result, const struct trial_result *trial, double time,
        double cost)
{
    const double seconds = trial->outcome == TRIAL_LATE ? time : trial->seconds;
    snprintf(result->outcome, sizeof result->outcome, "%s", trial_outcome_words[trial->outcome]);
    snprintf(result->message, sizeof result->message, "%s", trial->message);
    for (char *p = result->message; *p; p++)
        if (*p == '\t' || *p == '\n' || *p == '\r')
            *p = ' ';
    result->seconds = rounded("%.9g", seconds);
    result->spread = rounded("%.3g", trial->spread);
    result->cost = rounded("%.6f", cost);
    result->used = true;
}

/* Whether this says something about the candidate, and not only that the run ended. */
static bool is_result(const struct trial_result *trial, bool whole)
{
    return trial->outcome == TRIAL_TIMEOUT ? whole : trial->outcome != TRIAL_DEVICE;
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
        tuner->num_measured++;
        progress_row(tuner, &rows[i], true);
    }
    return true;
}

/* Evaluates by the trial process. What it answered is kept even when it could not answer
 * everything. */
static bool measure(struct tuner *tuner, struct trial_request *request, struct record *results,
        const unsigned *missing)
{
    struct trial_result trials[TRIAL_MAX_CONFIGS];
    struct record rows[TRIAL_MAX_CONFIGS];
    const double time = time_left(tuner);
    unsigned num = 0;
    request->total = fmax(time_ends(tuner) - clock_now(), least_time);
    struct supervisor *supervisor = tuner->ahead && request->num_configs == 1
                                          ? ahead_take(tuner->ahead, request)
                                          : NULL;
    if (!supervisor)
        supervisor = tuner->supervisor;
    const bool whole = supervise_run(supervisor, request, trials, tuner->stop);
    tuner->last_event += supervise_waited(supervisor); /* no candidate's cost */
    if (!whole && !*tuner->stop) {
        tuner->failed = tuner->is_lost = true;
        snprintf(tuner->error, sizeof tuner->error, "%s", trials[0].message);
    }
    const double now = clock_now();
    const double cost = (now - tuner->last_event) / request->num_configs;
    tuner->last_event = now;
    for (unsigned i = 0; i < request->num_configs; i++)
        if (is_result(&trials[i], whole)) {
            fill_result(&results[missing[i]], &trials[i], time, cost);
            rows[num++] = results[missing[i]];
        }
    return keep(tuner, rows, num) && num == request->num_configs;
}

/* The row of an evaluation, as yet without its result. */
static struct record row_of(enum record_kind kind, const struct problem *problem,
        struct shape shape, const struct config *config)
{
    return (struct record){
        .kind = kind,
        .precision = problem->precision,
        .pair = pair_of_problem(problem),
        .shape = shape,
        .config = *config,
    };
}

void tuner_expect(struct tuner *tuner, const struct problem *problem, struct shape shape,
        const struct config *config)
{
    const struct record row = row_of(RECORD_SEARCH, problem, shape, config);
    struct trial_request request = { .kind = TRIAL_BUILD_ONLY,
        .problem = *problem,
        .num_configs = 1 };
    if (!tuner->ahead || *tuner->stop || find_result(tuner, &row))
        return;
    request.configs[0] = *config;
    ahead_build(tuner->ahead, &request, tuner->stop);
}

/* Whether what the journal does not know may be evaluated. */
static bool may_evaluate(const struct tuner *tuner)
{
    return tuner->supervisor && time_left(tuner) >= least_time && !*tuner->stop && !tuner->failed;
}

bool tuner_evaluate(struct tuner *tuner, enum record_kind kind, const struct problem *problem,
        struct shape shape, const struct config *configs, unsigned num, double incumbent,
        struct record *results)
{
    unsigned missing[TRIAL_MAX_CONFIGS];
    struct trial_request request = {
        .kind = kind == RECORD_EDGES ? TRIAL_EDGES : TRIAL_MEASURE,
        .problem = *problem,
        .shape = shape,
        .incumbent = incumbent,
    };
    if (*tuner->stop || tuner->failed)
        return false;
    for (unsigned i = 0; i < num; i++)
        results[i] = row_of(kind, problem, shape, &configs[i]);
    request.num_configs = recall(tuner, results, num, missing);
    if (!request.num_configs)
        return true;
    if (!may_evaluate(tuner))
        return false;
    for (unsigned i = 0; i < request.num_configs; i++)
        request.configs[i] = configs[missing[i]];
    request.deadline = patience(incumbent);
    return measure(tuner, &request, results, missing);
}

/* ---- Side by side ---- */

/* Begins work of the crew, in a turn on the device. */
static bool begin_work(struct tuner *tuner, enum trial_kind kind, struct job *jobs, unsigned num)
{
    if (!supervise_hold(tuner->supervisor, tuner->stop))
        return false;
    tuner->last_event += supervise_waited(tuner->supervisor);
    const struct crew_work work = { .kind = kind,
        .jobs = jobs,
        .num = num,
        .deadline = patience(0) * (tuner->facts.value[FACT_IS_CPU] ? CROWDED : 1),
        .until = time_ends(tuner),
        .stop = tuner->stop };
    crew_begin(tuner->crew, &work);
    return true;
}

static void end_work(struct tuner *tuner)
{
    crew_end(tuner->crew);
    supervise_release(tuner->supervisor);
}

static void fill_job(struct job *job, const struct evaluation *evaluation)
{
    *job = (struct job){ .problem = evaluation->problem, .config = evaluation->config };
}

/* Has the crew do what it can. A row is written when those before it are, so that a kill loses
 * little more than what is under way; its cost is the time since the one before, as always. */
static void evaluate_in_crew(struct tuner *tuner, const struct evaluation *evaluations,
        struct record *results, const unsigned *missing, unsigned num)
{
    struct job jobs[TRIAL_MAX_CONFIGS];
    const double time = time_left(tuner);
    for (unsigned i = 0; i < num; i++)
        fill_job(&jobs[i], &evaluations[missing[i]]);
    if (!begin_work(tuner, TRIAL_EDGES, jobs, num))
        return;
    for (unsigned i = 0; i < num && !tuner->failed; i++) {
        struct record *result = &results[missing[i]];
        if (!crew_await(tuner->crew, i))
            continue;
        const double now = clock_now();
        fill_result(result, &jobs[i].result, time, now - tuner->last_event);
        tuner->last_event = now;
        keep(tuner, result, 1);
    }
    end_work(tuner);
}

bool tuner_evaluate_each(struct tuner *tuner, enum record_kind kind,
        const struct evaluation *evaluations, unsigned num, struct record *results)
{
    unsigned missing[TRIAL_MAX_CONFIGS];
    for (unsigned i = 0; i < num; i++)
        results[i] = row_of(kind, &evaluations[i].problem, evaluations[i].shape,
                &evaluations[i].config);
    if (*tuner->stop || tuner->failed)
        return false;
    const unsigned num_missing = recall(tuner, results, num, missing);
    if (tuner->crew && num_missing > 1 && may_evaluate(tuner))
        evaluate_in_crew(tuner, evaluations, results, missing, num_missing);
    for (unsigned i = 0; i < num_missing; i++) {
        const struct evaluation *next = &evaluations[missing[i]];
        struct record *result = &results[missing[i]];
        if (!result->outcome[0] && !tuner_evaluate(tuner, kind, &next->problem, next->shape,
                                           &next->config, 1, 0, result))
            return false;
    }
    return !tuner->failed;
}

/* Whether the journal has a row about a configuration for a problem, at any shape. */
static bool is_known(const struct tuner *tuner, const struct problem *problem,
        const struct config *config)
{
    for (size_t i = 0; i < tuner->records.num; i++) {
        const struct record *r = &tuner->records.rows[i];
        if (r->precision == problem->precision && r->pair == pair_of_problem(problem) &&
                config_equal(&r->config, config))
            return true;
    }
    return false;
}

void tuner_warm(struct tuner *tuner, const struct problem *problem, const struct config *configs,
        unsigned num)
{
    struct job *jobs = tuner->crew && may_evaluate(tuner) ? calloc(num + 1, sizeof *jobs) : NULL;
    unsigned num_jobs = 0;
    for (unsigned i = 0; i < num && jobs; i++)
        if (!is_known(tuner, problem, &configs[i]))
            fill_job(&jobs[num_jobs++],
                    &(struct evaluation){ .problem = *problem, .config = configs[i] });
    if (num_jobs && begin_work(tuner, TRIAL_COMPILE, jobs, num_jobs)) {
        for (unsigned i = 0; i < num_jobs; i++)
            crew_await(tuner->crew, i);
        end_work(tuner);
    }
    free(jobs);
}
