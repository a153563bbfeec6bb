/* compare.c: for each problem, every peer multiplies once and is checked; then they take turns, one
 * sample each, round by round, so that drift of the machine meets all of them alike. */
#include "compare.h"

#include <stdlib.h>
#include <string.h>

#include "stats.h"

/* ---- Checking ---- */

/* The results of all peers at one problem; NULL where there is none. */
struct check {
    const struct problem *problem;
    void *results[PEERS_MAX];
};

static void compare_note_error(struct entry *entry, double error)
{
    if (error > entry->error) {
        entry->error = error;
    }
    if (entry->error >= PROBLEM_WRONG) {
        entry->outcome = OUTCOME_WRONG;
    }
}

/* Wider arithmetic decides who is right where two results differ most. */
static void compare_check_pair(const struct check *check, struct row *row, size_t left,
        size_t right)
{
    const struct problem *problem = check->problem;
    size_t i = 0;
    size_t j = 0;

    if (problem_difference(problem, check->results[left], check->results[right], &i, &j) > 0) {
        compare_note_error(&row->entries[left],
                problem_error_at(problem, check->results[left], i, j));
        compare_note_error(&row->entries[right],
                problem_error_at(problem, check->results[right], i, j));
    }
}

/* Every pair, as two peers may be wrong in the same way. */
static void compare_check_results(const struct check *check, struct row *row, size_t num_peers)
{
    for (size_t i = 0; i < num_peers; i++) {
        if (check->results[i] == NULL) {
            continue;
        }
        compare_note_error(&row->entries[i], problem_error(check->problem, check->results[i]));
        for (size_t j = 0; j < i; j++) {
            if (check->results[j] != NULL) {
                compare_check_pair(check, row, i, j);
            }
        }
    }
}

static enum outcome compare_outcome(enum peer_answer answer)
{
    switch (answer) {
    case PEER_OK:
        return OUTCOME_TIMED;
    case PEER_REFUSED:
        return OUTCOME_REFUSED;
    default:
        return OUTCOME_FAILED;
    }
}

/* Lets a peer take up the problem and multiply once; its result is NULL unless it did. */
static bool compare_get_result(struct peer *peer, struct entry *entry,
        const struct problem *problem, const struct operands *operands, void **result)
{
    enum peer_answer answer = peer->class->prepare(peer, problem, operands);

    if (answer == PEER_OK) {
        *result = malloc(problem->c_bytes);
        if (*result == NULL) {
            return false;
        }
        answer = peer->class->result(peer, *result);
    }
    if (answer != PEER_OK) {
        free(*result);
        *result = NULL;
    }
    entry->outcome = compare_outcome(answer);
    return true;
}

/* What is left as OUTCOME_TIMED after this is right. False when memory is short. */
static bool compare_check(struct comparison *comparison, struct row *row,
        const struct problem *problem, const struct operands *operands)
{
    struct check check = {.problem = problem};
    bool good = true;

    for (size_t i = 0; good && i < comparison->num_peers; i++) {
        good = compare_get_result(&comparison->peers[i], &row->entries[i], problem, operands,
                &check.results[i]);
    }
    if (good) {
        compare_check_results(&check, row, comparison->num_peers);
    }
    for (size_t i = 0; i < PEERS_MAX; i++) {
        free(check.results[i]);
    }
    return good;
}

/* ---- Timing ---- */

static void compare_time(struct comparison *comparison, struct row *row)
{
    for (size_t round = 0; round < comparison->rounds; round++) {
        for (size_t i = 0; i < comparison->num_peers; i++) {
            struct peer *peer = &comparison->peers[i];
            struct entry *entry = &row->entries[i];
            enum peer_answer answer;
            struct sample sample;

            if (entry->outcome != OUTCOME_TIMED) {
                continue;
            }
            answer = peer->class->sample(peer, comparison->min_seconds, &sample);
            if (answer != PEER_OK) {
                entry->outcome = OUTCOME_FAILED;
                continue;
            }
            for (int clock = 0; clock < NUM_CLOCKS; clock++) {
                entry->samples[clock][round] = sample.seconds[clock];
            }
        }
    }
}

static bool compare_summarise(const struct comparison *comparison, struct row *row)
{
    size_t bytes = comparison->rounds * sizeof(double);
    double *sorted = malloc(bytes);

    if (sorted == NULL) {
        return false;
    }
    for (size_t i = 0; i < comparison->num_peers; i++) {
        struct entry *entry = &row->entries[i];

        for (int clock = 0; entry->outcome == OUTCOME_TIMED && clock < NUM_CLOCKS; clock++) {
            memcpy(sorted, entry->samples[clock], bytes);
            entry->medians[clock] = stats_median(sorted, comparison->rounds);
        }
    }
    free(sorted);
    return true;
}

/* ---- Rows ---- */

static void compare_explain(struct comparison *comparison, struct row *row)
{
    for (size_t i = 0; i < comparison->num_peers; i++) {
        struct peer *peer = &comparison->peers[i];

        if (peer->class->explain != NULL && row->entries[i].outcome == OUTCOME_TIMED) {
            peer->class->explain(peer, row->explain, sizeof(row->explain));
            return;
        }
    }
}

static bool compare_measure(struct comparison *comparison, struct row *row,
        const struct problem *problem, const struct device *device)
{
    struct operands operands;
    bool good;

    if (!operands_create(&operands, device, problem)) {
        return false;
    }
    good = compare_check(comparison, row, problem, &operands);
    if (good) {
        compare_explain(comparison, row);
        compare_time(comparison, row);
        good = compare_summarise(comparison, row);
    }
    operands_destroy(&operands);
    return good;
}

static bool compare_allocate_samples(struct comparison *comparison, struct row *row)
{
    for (size_t i = 0; i < comparison->num_peers * NUM_CLOCKS; i++) {
        double **samples = &row->entries[i / NUM_CLOCKS].samples[i % NUM_CLOCKS];

        *samples = calloc(comparison->rounds, sizeof(double));
        if (*samples == NULL) {
            return false;
        }
    }
    return true;
}

static bool compare_row(struct comparison *comparison, struct row *row,
        const struct device *device)
{
    struct problem problem;
    bool good;

    if (!compare_allocate_samples(comparison, row)
            || !problem_create(&problem, row->precision, row->transa, row->transb, &row->shape)) {
        return false;
    }
    row->flops = problem_flops(&problem);
    good = compare_measure(comparison, row, &problem, device);
    problem_destroy(&problem);
    return good;
}

bool compare_run(struct comparison *comparison, const struct options *options,
        const struct device *device, void (*report)(const struct comparison *, const struct row *))
{
    size_t per_precision = options->num_transposes * options->shapes.count;
    size_t count = options->num_precisions * per_precision;

    comparison->rows = calloc(count, sizeof(*comparison->rows));
    if (comparison->rows == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        struct row *row = &comparison->rows[i];
        size_t transpose = i % per_precision / options->shapes.count;

        row->precision = options->precisions[i / per_precision];
        row->transa = options->transposes[transpose].a;
        row->transb = options->transposes[transpose].b;
        row->shape = options->shapes.items[i % options->shapes.count];
        comparison->num_rows++;
        if (!compare_row(comparison, row, device)) {
            return false;
        }
        report(comparison, row);
    }
    return true;
}

void compare_free(struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->num_rows; i++) {
        for (size_t j = 0; j < PEERS_MAX * NUM_CLOCKS; j++) {
            free(comparison->rows[i].entries[j / NUM_CLOCKS].samples[j % NUM_CLOCKS]);
        }
    }
    free(comparison->rows);
    comparison->rows = NULL;
    comparison->num_rows = 0;
}

/* ---- What follows from the rows ---- */

bool compare_is_clean(const struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->num_rows; i++) {
        for (size_t j = 0; j < comparison->num_peers; j++) {
            enum outcome outcome = comparison->rows[i].entries[j].outcome;

            if (outcome == OUTCOME_FAILED || outcome == OUTCOME_WRONG) {
                return false;
            }
        }
    }
    return true;
}

bool compare_is_timed(const struct row *row, size_t peer, enum timer_clock clock)
{
    const struct entry *entry = &row->entries[peer];

    return entry->outcome == OUTCOME_TIMED && entry->medians[clock] > 0;
}

double compare_gflops(const struct row *row, size_t peer, enum timer_clock clock)
{
    return 1e-9 * row->flops / row->entries[peer].medians[clock];
}

bool compare_speedup(const struct row *row, const struct versus *versus, double *speedup)
{
    enum timer_clock clock = versus->clock;

    if (!compare_is_timed(row, versus->peer, clock)
            || !compare_is_timed(row, versus->other, clock)) {
        return false;
    }
    double theirs = row->entries[versus->other].medians[clock];
    if (compare_is_timed(row, versus->rival, clock)
            && row->entries[versus->rival].medians[clock] < theirs) {
        theirs = row->entries[versus->rival].medians[clock];
    }
    *speedup = theirs / row->entries[versus->peer].medians[clock];
    return true;
}

static bool compare_is_selected(const struct row *row, const struct selection *selection)
{
    const char *group = row->shape.group;

    return row->precision == selection->precision
            && (selection->group == NULL
                    || (group != NULL && strcmp(group, selection->group) == 0));
}

bool compare_mean_speedup(const struct comparison *comparison, const struct selection *selection,
        const struct versus *versus, double *speedup)
{
    double *speedups = calloc(comparison->num_rows + 1, sizeof(*speedups));
    size_t count = 0;

    if (speedups == NULL) {
        return false;
    }
    for (size_t i = 0; i < comparison->num_rows; i++) {
        const struct row *row = &comparison->rows[i];

        if (compare_is_selected(row, selection)
                && compare_speedup(row, versus, &speedups[count])) {
            count++;
        }
    }
    if (count > 0) {
        *speedup = stats_geometric_mean(speedups, count);
    }
    free(speedups);
    return count > 0;
}

size_t compare_groups(const struct comparison *comparison, const char **groups, size_t max)
{
    size_t count = 0;

    for (size_t i = 0; i < comparison->num_rows; i++) {
        const char *group = comparison->rows[i].shape.group;
        bool is_new = group != NULL;

        for (size_t j = 0; is_new && j < count; j++) {
            is_new = strcmp(groups[j], group) != 0;
        }
        if (is_new && count < max) {
            groups[count++] = group;
        }
    }
    return count;
}

char compare_precision_letter(enum kiln_precision precision)
{
    switch (precision) {
    case KILN_HALF:
        return 'H';
    case KILN_DOUBLE:
        return 'D';
    default:
        return 'S';
    }
}
