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

/* The clock at which that time is over; what was done since the last row has taken some of it. */
static double time_ends(const struct tuner *tuner)
{
    return tuner->last_event + time_left(tuner);
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

/* A result that came late gets the time that there was. */
static void fill_answer(struct record *answer, const struct trial_result *result, double time,
        double cost)
{
    const double seconds = result->outcome == TRIAL_LATE ? time : result->seconds;
    snprintf(answer->outcome, sizeof answer->outcome, "%s", trial_outcome_words[result->outcome]);
    snprintf(answer->message, sizeof answer->message, "%s", result->message);
    for (char *p = answer->message; *p; p++)
        if (*p == '\t' || *p == '\n' || *p == '\r')
            *p = ' ';
    answer->seconds = rounded("%.9g", seconds);
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
static bool measure(struct tuner *tuner, struct trial_request *request, struct record *answers,
        const unsigned *missing)
{
    struct trial_result results[TRIAL_MAX_CONFIGS];
    struct record rows[TRIAL_MAX_CONFIGS];
    const double time = time_left(tuner);
    unsigned num = 0;
    request->total = fmax(time_ends(tuner) - clock_now(), least_time);
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
            fill_answer(&answers[missing[i]], &results[i], time, cost);
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

/* Whether a question that the journal does not answer may be asked. */
static bool may_ask(const struct tuner *tuner)
{
    return tuner->supervisor && time_left(tuner) >= least_time && !*tuner->stop && !tuner->failed;
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
    if (!may_ask(tuner))
        return false;
    for (unsigned i = 0; i < request.num_configs; i++)
        request.configs[i] = configs[missing[i]];
    request.deadline = patience(incumbent);
    return measure(tuner, &request, answers, missing);
}

/* ---- Side by side ---- */

/* Begins work of the crew, in a turn on the device. */
static bool begin_work(struct tuner *tuner, enum trial_kind kind, struct job *jobs, unsigned num)
{
    if (!supervise_hold(tuner->supervisor, tuner->stop))
        return false;
    tuner->last_event += supervise_waited(tuner->supervisor);
    const struct crew_work work = { .kind = kind, .jobs = jobs, .num = num,
            .deadline = patience(0), .until = time_ends(tuner), .stop = tuner->stop };
    crew_begin(tuner->crew, &work);
    return true;
}

static void end_work(struct tuner *tuner)
{
    crew_end(tuner->crew);
    supervise_release(tuner->supervisor);
}

static void fill_job(struct job *job, const struct question *question)
{
    *job = (struct job) { .problem = question->problem, .config = question->config };
}

/* Has the crew answer what it can. A row is written when those before it are, so that a kill loses
 * little more than what is under way; its cost is the time since the one before, as always. */
static void ask_crew(struct tuner *tuner, const struct question *questions, struct record *answers,
        const unsigned *missing, unsigned num)
{
    struct job jobs[TRIAL_MAX_CONFIGS];
    const double time = time_left(tuner);
    for (unsigned i = 0; i < num; i++)
        fill_job(&jobs[i], &questions[missing[i]]);
    if (!begin_work(tuner, TRIAL_EDGES, jobs, num))
        return;
    for (unsigned i = 0; i < num && !tuner->failed; i++) {
        struct record *answer = &answers[missing[i]];
        if (!crew_await(tuner->crew, i))
            continue;
        const double now = clock_now();
        fill_answer(answer, &jobs[i].result, time, now - tuner->last_event);
        tuner->last_event = now;
        keep(tuner, answer, 1);
    }
    end_work(tuner);
}

bool tuner_ask_each(struct tuner *tuner, enum record_kind kind, const struct question *questions,
        unsigned num, struct record *answers)
{
    unsigned missing[TRIAL_MAX_CONFIGS];
    for (unsigned i = 0; i < num; i++)
        answers[i] = question_of(kind, &questions[i].problem, questions[i].shape,
                &questions[i].config);
    if (*tuner->stop || tuner->failed)
        return false;
    const unsigned num_missing = recall(tuner, answers, num, missing);
    if (tuner->crew && num_missing > 1 && may_ask(tuner))
        ask_crew(tuner, questions, answers, missing, num_missing);
    for (unsigned i = 0; i < num_missing; i++) {
        const struct question *question = &questions[missing[i]];
        struct record *answer = &answers[missing[i]];
        if (!answer->outcome[0] && !tuner_ask(tuner, kind, &question->problem, question->shape,
                    &question->config, 1, 0, answer))
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
    struct job *jobs = tuner->crew && may_ask(tuner) ? calloc(num + 1, sizeof *jobs) : NULL;
    unsigned num_jobs = 0;
    for (unsigned i = 0; i < num && jobs; i++)
        if (!is_known(tuner, problem, &configs[i]))
            fill_job(&jobs[num_jobs++],
                    &(struct question) { .problem = *problem, .config = configs[i] });
    if (num_jobs && begin_work(tuner, TRIAL_COMPILE, jobs, num_jobs)) {
        for (unsigned i = 0; i < num_jobs; i++)
            crew_await(tuner->crew, i);
        end_work(tuner);
    }
    free(jobs);
}
