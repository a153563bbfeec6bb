/* replay.c: searches on recordings, many seeds each, as tables. */
#include "replay.h"
#include "recording.h"
#include "../../core/expr.h"
#include "../../search/search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FROM_WINNERS = 4, FROM_RANK = 8, MAX_START = FROM_WINNERS + FROM_RANK };

/* After so many points the best is noted. */
static const unsigned marks[] = { 25, 50, 100, 200, 400 };
enum { NUM_MARKS = sizeof marks / sizeof marks[0], NAME_WIDTH = 40 };

static const struct rank {
    const char *name, *expr;
} ranks[] = {
#define RANK(name, expr) { #name, expr },
#include "ranks.inc"
#undef RANK
};

struct start {
    struct point points[MAX_START];
    unsigned num;
};

/* A row's place in an order: by its merit, and by lot among equals. */
struct ticket {
    double merit;
    uint64_t lot;
    size_t row;
};

/* A recording and what a search may know of it before it begins. */
struct stage {
    const char *path;
    struct recording recording;
    struct start winners;              /* of a similar device */
    struct ticket *tickets;            /* a row each */
};

/* ---- what is known at the start ---- */

static bool rank_row(const char *expr, const struct recording *recording, size_t row,
        struct scope *scope, int64_t *rank, struct expr_error *error)
{
    scope->num = 0;
    for (unsigned p = 0; p < recording->num_params; p++)
        if (!scope_set(scope, recording->names[p],
                    recording->values[p][recording->rows[row].point.at[p]]))
            return false;
    return expr_eval(expr, strlen(expr), scope, rank, error);
}

/* Ranks every row. False when the expression does not fit the recording. */
static bool rank_rows(const char *expr, struct recording *recording, struct expr_error *error)
{
    struct scope *scope = calloc(1, sizeof *scope);
    bool ok = scope != NULL;
    snprintf(error->what, sizeof error->what, "out of memory");
    for (size_t i = 0; ok && i < recording->num_rows; i++)
        ok = rank_row(expr, recording, i, scope, &recording->rows[i].rank, error);
    free(scope);
    recording->is_ranked = ok;
    return ok;
}

/* The rank asked for, or else the first of ranks.inc that fits, or none. */
static bool rank_stage(struct stage *stage, const char *expr, char error[FILES_ERROR_BYTES])
{
    struct expr_error cause;
    if (expr) {
        const bool ok = rank_rows(expr, &stage->recording, &cause);
        if (!ok)
            snprintf(error, FILES_ERROR_BYTES, "%.100s: rank: %s", stage->path, cause.what);
        return ok;
    }
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0] && !stage->recording.is_ranked; i++)
        rank_rows(ranks[i].expr, &stage->recording, &cause);
    return true;
}

static int compare_tickets(const void *a, const void *b)
{
    const struct ticket *x = a, *y = b;
    if (x->merit != y->merit)
        return x->merit < y->merit ? 1 : -1;
    return (x->lot > y->lot) - (x->lot < y->lot);
}

/* Adds a point that is no near copy of those added since `first`. */
static void add_start(struct start *start, unsigned first, const struct point *point,
        unsigned num_params)
{
    if (search_is_diverse(start->points + first, start->num - first, point, num_params))
        start->points[start->num++] = *point;
}

/* The best configurations of a similar device that are legal here. */
static bool find_winners(struct stage *stage, const struct recording *other)
{
    struct ticket *tickets = calloc(other->num_rows, sizeof *tickets);
    if (!tickets)
        return false;
    for (size_t i = 0; i < other->num_rows; i++)
        tickets[i] = (struct ticket) { -other->rows[i].cost, i, i };
    qsort(tickets, other->num_rows, sizeof *tickets, compare_tickets);
    for (size_t i = 0; i < other->num_rows && stage->winners.num < FROM_WINNERS; i++) {
        const struct recording_row *row = &other->rows[tickets[i].row];
        const struct recording_row *here = row->cost < HUGE_VAL
                ? recording_translate(&stage->recording, other, row) : NULL;
        if (here)
            add_start(&stage->winners, 0, &here->point, stage->recording.num_params);
    }
    free(tickets);
    return true;
}

/* Adds the rows that rank best. */
static void add_ranked(struct stage *stage, uint64_t seed, struct start *start)
{
    const struct recording *recording = &stage->recording;
    const unsigned first = start->num, most = first + FROM_RANK;
    for (size_t i = 0; i < recording->num_rows; i++)
        stage->tickets[i] = (struct ticket) {
            (double) recording->rows[i].rank, random_next(&seed), i
        };
    qsort(stage->tickets, recording->num_rows, sizeof *stage->tickets, compare_tickets);
    for (size_t i = 0; i < recording->num_rows && start->num < most; i++)
        add_start(start, first, &recording->rows[stage->tickets[i].row].point,
                recording->num_params);
}

/* ---- running ---- */

static bool is_legal(void *env, const struct point *point)
{
    return recording_find(env, point) != NULL;
}

static bool uses_start(const struct search_strategy *strategy)
{
    return !strcmp(strategy->name, "guided");
}

/* Points that were proposed and whose costs the search was not told yet. */
struct queue {
    struct point at[REPLAY_MAX_AHEAD + 1];
    unsigned num, most;
};

/* Tells the cost of the first point in the queue. False when there is none left. */
static bool try_next(struct search *search, const struct recording *recording, struct queue *queue)
{
    while (queue->num < queue->most && search_propose(search, &queue->at[queue->num]))
        queue->num++;
    if (!queue->num)
        return false;
    const struct point first = queue->at[0];
    memmove(queue->at, queue->at + 1, --queue->num * sizeof queue->at[0]);
    search_observe(search, &first, recording_find(recording, &first)->cost);
    return true;
}

/* One run: adds the fraction of the optimum at each mark. A run that has it can only keep it. */
static bool run_once(struct stage *stage, const struct search_strategy *strategy,
        const struct start *known, unsigned ahead, uint64_t seed, double sums[NUM_MARKS])
{
    struct recording *recording = &stage->recording;
    struct start start = *known;
    struct search search;
    struct queue queue = { .most = ahead + 1 };
    unsigned tried = 0;
    if (recording->is_ranked && uses_start(strategy))
        add_ranked(stage, seed, &start);
    const struct search_space space = {
        .num_params = recording->num_params, .num_values = recording->num_values,
        .legal = is_legal, .env = recording, .start = start.points, .num_start = start.num,
    };
    if (!search_init(&search, strategy, &space, seed))
        return false;
    for (unsigned m = 0; m < NUM_MARKS; m++) {
        for (; tried < marks[m] && search.best_cost > recording->best_cost &&
               try_next(&search, recording, &queue); tried++)
            continue;
        sums[m] += recording->best_cost / search.best_cost;
    }
    search_free(&search);
    return true;
}

static bool add_row(struct stage *stage, const struct search_strategy *strategy,
        const struct start *known, const struct replay_options *options, const char *note,
        struct text *text)
{
    double sums[NUM_MARKS] = { 0 };
    char name[NAME_WIDTH + 1];
    for (unsigned seed = 1; seed <= options->seeds; seed++)
        if (!run_once(stage, strategy, known, options->ahead, seed, sums))
            return false;
    snprintf(name, sizeof name, "%s%s", strategy->name, note);
    text_add(text, "  %-*s", NAME_WIDTH, name);
    for (unsigned m = 0; m < NUM_MARKS; m++)
        text_add(text, "  %5.3f", sums[m] / options->seeds);
    text_add(text, "\n");
    return true;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A strategy's row; and one with the winners of another device, where it uses them. */
static bool add_rows(struct stage *stage, const struct search_strategy *strategy,
        const struct replay_options *options, struct text *text)
{
    static const struct start nothing = { .num = 0 };
    char note[NAME_WIDTH];
    if (!add_row(stage, strategy, &nothing, options, "", text))
        return false;
    if (!stage->winners.num || !uses_start(strategy))
        return true;
    snprintf(note, sizeof note, ", start %s", base_name(options->start));
    return add_row(stage, strategy, &stage->winners, options, note, text);
}

static bool add_table(struct stage *stage, const struct replay_options *options, struct text *text)
{
    const struct recording *recording = &stage->recording;
    bool ok = true;
    text_add(text, "%s%s%s: %zu configurations of %u parameters, best %.6g ms, %u seeds\n",
            base_name(stage->path), recording->title[0] ? ", " : "", recording->title,
            recording->num_rows, recording->num_params, recording->best_cost, options->seeds);
    text_add(text, "  %-*s", NAME_WIDTH, "fraction of the best after");
    for (unsigned m = 0; m < NUM_MARKS; m++)
        text_add(text, "  %5u", marks[m]);
    text_add(text, "\n");
    for (size_t i = 0; ok && i < num_search_strategies; i++)
        if (!strcmp(options->strategy, "all") ||
            !strcmp(options->strategy, search_strategies[i]->name))
            ok = add_rows(stage, search_strategies[i], options, text);
    return ok;
}

/* ---- files ---- */

static bool load(const char *path, struct recording *recording, char error[FILES_ERROR_BYTES])
{
    char cause[RECORDING_ERROR_BYTES];
    char *bytes = files_read(path, error);
    const bool ok = bytes && recording_parse(bytes, recording, cause);
    if (bytes && !ok)
        snprintf(error, FILES_ERROR_BYTES, "%.100s: %.150s", path, cause);
    free(bytes);
    return ok;
}

/* Fills a stage that is all zeros. */
static bool set_stage(struct stage *stage, const char *path, const struct recording *other,
        const char *rank, char error[FILES_ERROR_BYTES])
{
    stage->path = path;
    if (!load(path, &stage->recording, error) || !rank_stage(stage, rank, error))
        return false;
    snprintf(error, FILES_ERROR_BYTES, "out of memory");
    stage->tickets = calloc(stage->recording.num_rows, sizeof *stage->tickets);
    return stage->tickets && (!other || find_winners(stage, other));
}

static bool report_one(const char *path, const struct recording *other,
        const struct replay_options *options, struct text *text, char error[FILES_ERROR_BYTES])
{
    struct stage *stage = calloc(1, sizeof *stage);
    snprintf(error, FILES_ERROR_BYTES, "out of memory");
    const bool ok = stage && set_stage(stage, path, other, options->rank, error) &&
                    add_table(stage, options, text);
    if (stage) {
        recording_free(&stage->recording);
        free(stage->tickets);
    }
    free(stage);
    return ok;
}

bool replay_report(const struct replay_options *options, struct text *text,
        char error[FILES_ERROR_BYTES])
{
    struct recording *other = NULL;
    bool ok = true;
    if (options->start) {
        other = calloc(1, sizeof *other);
        snprintf(error, FILES_ERROR_BYTES, "out of memory");
        ok = other && load(options->start, other, error);
    }
    for (int i = 0; ok && i < options->num_paths; i++)
        ok = report_one(options->paths[i], other, options, text, error);
    if (other)
        recording_free(other);
    free(other);
    return ok;
}
