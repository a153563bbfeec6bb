/* compare.c: for each problem, every peer multiplies once and is checked; then they take turns, one
 * sample each, round by round, so that drift of the machine meets all of them alike. The recipes of
 * the bundle that serves, where they take part, have turns of their own in each round. */
#include "compare.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/precision.h"
#include "stats.h"
#include "tune/interrupt.h"

/* A recipe that takes this many times as long as the fastest in the first round is not the best. */
#define COMPARE_SLOW 3.0
#define COMPARE_WARM_SECONDS 0.02

/* ---- Entries: of the peers, and then of the recipes ---- */

static size_t compare_num_entries(const struct comparison *comparison, const struct row *row)
{
    return comparison->num_peers + row->num_recipes;
}

static struct entry *compare_entry(const struct comparison *comparison, struct row *row, size_t i)
{
    return i < comparison->num_peers ? &row->entries[i]
                                     : &row->recipes[i - comparison->num_peers].entry;
}

static struct peer *compare_peer(const struct comparison *comparison, const struct row *row,
        size_t i)
{
    return i < comparison->num_peers ? &comparison->peers[i]
                                     : row->recipes[i - comparison->num_peers].peer;
}

static bool compare_allocate_samples(const struct comparison *comparison, struct entry *entry)
{
    for (int clock = 0; clock < NUM_CLOCKS; clock++) {
        entry->samples[clock] = calloc(comparison->rounds, sizeof(double));
        if (entry->samples[clock] == NULL) {
            return false;
        }
    }
    return true;
}

static void compare_free_samples(struct entry *entry)
{
    for (int clock = 0; clock < NUM_CLOCKS; clock++) {
        free(entry->samples[clock]);
    }
}

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
static void compare_check_pair(const struct problem *problem, const void *left,
        struct entry *left_entry, const void *right, struct entry *right_entry)
{
    size_t i = 0;
    size_t j = 0;

    if (problem_difference(problem, left, right, &i, &j) > 0) {
        compare_note_error(left_entry, problem_error_at(problem, left, i, j));
        compare_note_error(right_entry, problem_error_at(problem, right, i, j));
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
                compare_check_pair(check->problem, check->results[i], &row->entries[i],
                        check->results[j], &row->entries[j]);
            }
        }
    }
}

static enum outcome compare_outcome(enum peer_answer answer)
{
    switch (answer) {
    case PEER_OK: return OUTCOME_TIMED;
    case PEER_REFUSED: return OUTCOME_REFUSED;
    default: return OUTCOME_FAILED;
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

/* ---- Recipes ---- */

/* Reads "bundle: NAME", "kernel: NAME" in two lines, and cuts the text between. */
static bool compare_read_names(char *explain, const char **bundle, const char **kernel)
{
    static const char first[] = "bundle: ";
    static const char second[] = "kernel: ";
    char *end = strchr(explain, '\n');

    if (end == NULL || strncmp(explain, first, sizeof(first) - 1) != 0 ||
            strncmp(end + 1, second, sizeof(second) - 1) != 0) {
        return false;
    }
    *end = '\0';
    *bundle = explain + sizeof(first) - 1;
    *kernel = end + sizeof(second);
    return true;
}

/* Makes an entry of each recipe that may serve the row. */
static bool compare_add_recipes(struct comparison *comparison, struct row *row,
        const struct problem *problem)
{
    char explain[sizeof(row->explain)];
    const char *bundle = "";
    const char *kernel = "";
    struct recipe_peer **list = NULL;
    size_t count = 0;
    bool good;

    memcpy(explain, row->explain, sizeof(explain));
    if (!compare_read_names(explain, &bundle, &kernel)) {
        return true;
    }
    good = recipes_find(comparison->recipes, bundle, problem, &list, &count);
    row->recipes = good ? calloc(count + 1, sizeof(*row->recipes)) : NULL;
    good = row->recipes != NULL;
    for (size_t i = 0; good && i < count; i++) {
        struct recipe_entry *recipe = &row->recipes[row->num_recipes++];

        recipe->name = list[i]->peer.key;
        recipe->peer = &list[i]->peer;
        recipe->entry.outcome = list[i]->is_open ? OUTCOME_TIMED : OUTCOME_FAILED;
        good = compare_allocate_samples(comparison, &recipe->entry);
    }
    free(list);
    row->dispatched = 0;
    while (row->dispatched < row->num_recipes &&
            strcmp(row->recipes[row->dispatched].name, kernel) != 0) {
        row->dispatched++;
    }
    return good;
}

/* Beside Kiln's own result, which is right. */
static bool compare_check_recipes(struct comparison *comparison, struct row *row,
        const struct problem *problem, const struct operands *operands, const void *right)
{
    for (size_t i = 0; i < row->num_recipes; i++) {
        struct recipe_entry *recipe = &row->recipes[i];
        void *result = NULL;

        if (recipe->entry.outcome == OUTCOME_FAILED) {
            continue;
        }
        if (!compare_get_result(recipe->peer, &recipe->entry, problem, operands, &result)) {
            return false;
        }
        if (result != NULL) {
            compare_note_error(&recipe->entry, problem_error(problem, result));
            compare_check_pair(problem, result, &recipe->entry, right,
                    &row->entries[comparison->kiln]);
        }
        free(result);
    }
    return true;
}

/* What is left as OUTCOME_TIMED after this is right. False when memory is short. */
static bool compare_check(struct comparison *comparison, struct row *row,
        const struct problem *problem, const struct operands *operands)
{
    struct check check = { .problem = problem };
    bool good = true;

    for (size_t i = 0; good && i < comparison->num_peers; i++) {
        good = compare_get_result(&comparison->peers[i], &row->entries[i], problem, operands,
                &check.results[i]);
    }
    if (good) {
        compare_check_results(&check, row, comparison->num_peers);
        compare_explain(comparison, row);
    }
    if (good && comparison->recipes != NULL &&
            row->entries[comparison->kiln].outcome == OUTCOME_TIMED) {
        good = compare_add_recipes(comparison, row, problem) &&
               compare_check_recipes(comparison, row, problem, operands,
                       check.results[comparison->kiln]);
    }
    for (size_t i = 0; i < PEERS_MAX; i++) {
        free(check.results[i]);
    }
    return good;
}

/* ---- Timing ---- */

static void compare_take_sample(struct comparison *comparison, struct peer *peer,
        struct entry *entry, size_t round)
{
    struct sample sample;

    if (peer->class->sample(peer, comparison->min_seconds, &sample) != PEER_OK) {
        entry->outcome = OUTCOME_FAILED;
        return;
    }
    for (int clock = 0; clock < NUM_CLOCKS; clock++) {
        entry->samples[clock][round] = sample.seconds[clock];
    }
}

/* Recipes that the first round shows to be far from the best would take most of the time. The one
 * that Kiln chose stays. */
static void compare_drop_slow(const struct comparison *comparison, struct row *row)
{
    enum timer_clock clock = comparison->clock;
    double least = 0;

    for (size_t i = 0; i < row->num_recipes; i++) {
        const struct entry *entry = &row->recipes[i].entry;

        if (entry->outcome == OUTCOME_TIMED && (least == 0 || entry->samples[clock][0] < least)) {
            least = entry->samples[clock][0];
        }
    }
    for (size_t i = 0; i < row->num_recipes; i++) {
        struct entry *entry = &row->recipes[i].entry;

        if (i != row->dispatched && entry->outcome == OUTCOME_TIMED &&
                entry->samples[clock][0] > COMPARE_SLOW * least) {
            entry->outcome = OUTCOME_SLOW;
        }
    }
}

/* Which entry has turn `i` of a round. Who comes after another library has an advantage where that
 * left the processors idle; so with recipes, the other peers come first, and then Kiln and the
 * recipes, each round from the next of them on. */
static size_t compare_turn(const struct comparison *comparison, const struct row *row, size_t round,
        size_t i)
{
    size_t num_others = comparison->num_peers - 1;
    size_t place;

    if (row->num_recipes == 0) {
        return i;
    }
    if (i < num_others) {
        return i < comparison->kiln ? i : i + 1;
    }
    place = (i - num_others + round) % (row->num_recipes + 1);
    return place == 0 ? comparison->kiln : comparison->num_peers + place - 1;
}

/* While the host checks results a device lowers its clock. A sample that does not count brings it
 * back. */
static void compare_warm(struct comparison *comparison, struct row *row)
{
    struct entry *entry = &row->entries[comparison->kiln];
    struct peer *kiln = &comparison->peers[comparison->kiln];
    struct sample sample;

    if (entry->outcome == OUTCOME_TIMED &&
            kiln->class->sample(kiln, COMPARE_WARM_SECONDS, &sample) != PEER_OK) {
        entry->outcome = OUTCOME_FAILED;
    }
}

static void compare_time(struct comparison *comparison, struct row *row)
{
    for (size_t round = 0; round < comparison->rounds; round++) {
        for (size_t i = 0; i < compare_num_entries(comparison, row); i++) {
            size_t turn = compare_turn(comparison, row, round, i);
            struct entry *entry = compare_entry(comparison, row, turn);

            if (entry->outcome == OUTCOME_TIMED) {
                compare_take_sample(comparison, compare_peer(comparison, row, turn), entry, round);
            }
        }
        if (round == 0) {
            compare_drop_slow(comparison, row);
        }
    }
}

/* Of one that was timed once, that is the median. */
static bool compare_summarise(const struct comparison *comparison, struct row *row)
{
    size_t bytes = comparison->rounds * sizeof(double);
    double *sorted = malloc(bytes);

    if (sorted == NULL) {
        return false;
    }
    for (size_t i = 0; i < compare_num_entries(comparison, row); i++) {
        struct entry *entry = compare_entry(comparison, row, i);

        for (int clock = 0; entry->outcome == OUTCOME_TIMED && clock < NUM_CLOCKS; clock++) {
            memcpy(sorted, entry->samples[clock], bytes);
            entry->medians[clock] = stats_median(sorted, comparison->rounds);
        }
        for (int clock = 0; entry->outcome == OUTCOME_SLOW && clock < NUM_CLOCKS; clock++) {
            entry->medians[clock] = entry->samples[clock][0];
        }
    }
    free(sorted);
    return true;
}

/* ---- Rows ---- */

static bool compare_measure(struct comparison *comparison, struct row *row,
        const struct problem *problem, const struct device *device)
{
    struct operands operands;
    bool good;

    if (!operands_create(&operands, device, problem)) {
        return false;
    }
    good = compare_check(comparison, row, problem, &operands);
    if (good && !device->is_cpu) {
        compare_warm(comparison, row);
    }
    if (good) {
        compare_time(comparison, row);
        good = compare_summarise(comparison, row);
    }
    operands_destroy(&operands);
    return good;
}

static bool compare_allocate_entries(struct comparison *comparison, struct row *row)
{
    for (size_t i = 0; i < comparison->num_peers; i++) {
        if (!compare_allocate_samples(comparison, &row->entries[i])) {
            return false;
        }
    }
    return true;
}

static bool compare_row(struct comparison *comparison, struct row *row, const struct device *device)
{
    struct problem problem;
    bool good;

    if (!compare_allocate_entries(comparison, row) ||
            !problem_create(&problem, row->precision, row->transa, row->transb, &row->shape)) {
        return false;
    }
    good = comparison->data == NULL || row->precision != KILN_SINGLE ||
           data_take(comparison->data, &problem);
    row->flops = problem_flops(&problem);
    good = good && problem_take_samples(&problem) &&
           compare_measure(comparison, row, &problem, device);
    problem_destroy(&problem);
    return good;
}

/* Whether a shape is compared in the precision of that number: in its own alone, if it has one. */
static bool compare_in_precision(const struct options *options, const struct bench_shape *shape,
        size_t number)
{
    return shape->precision == 0 || options->has_precisions
                 ? number < options->num_common
                 : options->precisions[number] == shape->precision;
}

static void compare_free_row(const struct comparison *comparison, struct row *row)
{
    for (size_t i = 0; i < compare_num_entries(comparison, row); i++) {
        compare_free_samples(compare_entry(comparison, row, i));
    }
    free(row->recipes);
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
    for (size_t i = 0; i < count && !interrupt_caught; i++) {
        struct row *row = &comparison->rows[comparison->num_rows];
        size_t transpose = i % per_precision / options->shapes.count;
        const struct bench_shape *shape = &options->shapes.items[i % options->shapes.count];
        bool has_own = shape->has_pair && !options->has_transposes;

        if ((has_own && transpose > 0) ||
                !compare_in_precision(options, shape, i / per_precision)) {
            continue;
        }
        row->precision = options->precisions[i / per_precision];
        row->transa = has_own ? shape->transa : options->transposes[transpose].a;
        row->transb = has_own ? shape->transb : options->transposes[transpose].b;
        row->shape = *shape;
        comparison->num_rows++;
        if (!compare_row(comparison, row, device)) {
            return false;
        }
        if (interrupt_caught) { /* perhaps its peers' processes too */
            comparison->num_rows--;
            compare_free_row(comparison, row);
        } else {
            report(comparison, row);
        }
    }
    comparison->is_interrupted = interrupt_caught != 0;
    return true;
}

void compare_free(struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->num_rows; i++) {
        compare_free_row(comparison, &comparison->rows[i]);
    }
    free(comparison->rows);
    comparison->rows = NULL;
    comparison->num_rows = 0;
}

/* ---- What follows from the rows ---- */

bool compare_is_clean(const struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->num_rows; i++) {
        struct row *row = &comparison->rows[i];

        for (size_t j = 0; j < compare_num_entries(comparison, row); j++) {
            enum outcome outcome = compare_entry(comparison, row, j)->outcome;

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

    if (!compare_is_timed(row, versus->peer, clock) ||
            !compare_is_timed(row, versus->other, clock)) {
        return false;
    }
    double theirs = row->entries[versus->other].medians[clock];
    if (compare_is_timed(row, versus->rival, clock) &&
            row->entries[versus->rival].medians[clock] < theirs) {
        theirs = row->entries[versus->rival].medians[clock];
    }
    *speedup = theirs / row->entries[versus->peer].medians[clock];
    return true;
}

bool compare_is_selected(const struct row *row, const struct selection *selection)
{
    const char *group = row->shape.group;

    return row->precision == selection->precision &&
           (selection->group == NULL || (group != NULL && strcmp(group, selection->group) == 0));
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

        if (compare_is_selected(row, selection) && compare_speedup(row, versus, &speedups[count])) {
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
    return (char) toupper(precision_of_id(precision)->letter);
}
