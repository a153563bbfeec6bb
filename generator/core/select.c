/* select.c: greedy cover of the matrix of times. */
#include "select.h"
#include "shape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CANDIDATES = 64, MAX_CHOSEN = 16, FEW_TASKS = 8 };

/* What a recipe must lower the mean loss by, to be worth its size: on a CPU, and elsewhere, where
 * times repeat better and what is fast for one kind of shape is far behind for others. */
static const double worth_on_cpu = 0.007, worth = 0.001;
/* And what exchanging it for another must gain. */
static const double worth_exchange = 0.001;

/* A lead of the generic bundle that is not just noise. */
static const double clear_lead = 1.05;

/* What a missing time counts as, in units of the best time's logarithm. */
static const double missing_loss = 3;

struct task {
    size_t m, n, k;
    int pair;
    double seconds[MAX_CANDIDATES];    /* HUGE_VAL: not measured */
    double best;
    double generic;                    /* of the generic bundle's recipe; HUGE_VAL: not measured */
    int by_generic;                    /* which candidate that is; -1: none */
};

struct table {
    const struct precision *precision;
    struct config candidate[MAX_CANDIDATES];
    unsigned num_candidates;
    struct task *tasks;
    unsigned num_tasks, capacity;
    bool chosen[MAX_CANDIDATES];
    double worth;                      /* what a recipe must lower the mean loss by */
    const struct device_facts *facts;
};

static int find_candidate(const struct table *table, const struct config *config)
{
    for (unsigned i = 0; i < table->num_candidates; i++)
        if (config_equal(&table->candidate[i], config))
            return (int) i;
    return -1;
}

/* Whether a configuration may ship: it passed the edge classes for all four transpose pairs, and
 * nowhere gave a wrong result, died or hung. */
static bool may_ship(const struct records *records, const struct precision *precision,
        const struct config *config)
{
    bool ok[NUM_PAIRS] = { false };
    for (size_t i = 0; i < records->num; i++) {
        const struct record *r = &records->rows[i];
        if (r->precision != precision || !config_equal(&r->config, config))
            continue;
        if (!strcmp(r->outcome, "wrong") || !strcmp(r->outcome, "crash") ||
            !strcmp(r->outcome, "timeout"))
            return false;
        if (r->kind == RECORD_EDGES)
            ok[r->pair] = !strcmp(r->outcome, "ok");
    }
    return ok[0] && ok[1] && ok[2] && ok[3];
}

static void find_candidates(const struct records *records, struct table *table)
{
    for (size_t i = 0; i < records->num && table->num_candidates < MAX_CANDIDATES; i++) {
        const struct record *r = &records->rows[i];
        if (r->kind == RECORD_EDGES && r->precision == table->precision &&
            find_candidate(table, &r->config) < 0 &&
            may_ship(records, table->precision, &r->config))
            table->candidate[table->num_candidates++] = r->config;
    }
}

static struct task *find_task(struct table *table, const struct record *r)
{
    for (unsigned i = 0; i < table->num_tasks; i++) {
        struct task *t = &table->tasks[i];
        if (t->m == r->m && t->n == r->n && t->k == r->k && t->pair == r->pair)
            return t;
    }
    if (table->num_tasks == table->capacity) {
        const unsigned capacity = table->capacity ? 2 * table->capacity : 64;
        struct task *tasks = realloc(table->tasks, capacity * sizeof *tasks);
        if (!tasks)
            return NULL;
        table->tasks = tasks;
        table->capacity = capacity;
    }
    struct task *t = &table->tasks[table->num_tasks++];
    *t = (struct task) { .m = r->m, .n = r->n, .k = r->k, .pair = r->pair, .best = HUGE_VAL,
            .generic = HUGE_VAL, .by_generic = -1 };
    for (unsigned c = 0; c < MAX_CANDIDATES; c++)
        t->seconds[c] = HUGE_VAL;
    return t;
}

/* Adds the times of one kind of row. */
static bool fill_tasks(const struct records *records, enum record_kind kind, struct table *table)
{
    for (size_t i = 0; i < records->num; i++) {
        const struct record *r = &records->rows[i];
        const int c = r->kind == kind && r->precision == table->precision && record_is_timed(r)
                ? find_candidate(table, &r->config) : -1;
        if (c < 0)
            continue;
        struct task *t = find_task(table, r);
        if (!t)
            return false;
        t->seconds[c] = fmin(t->seconds[c], r->seconds);
        t->best = fmin(t->best, r->seconds);
    }
    return true;
}

/* Adds what the generic bundle takes at the tasks there are. A recipe of it that passed the edge
 * classes is a candidate as well. */
static void fill_generic(const struct records *records, struct table *table)
{
    for (size_t i = 0; i < records->num; i++) {
        const struct record *r = &records->rows[i];
        if (r->kind != RECORD_GENERIC || r->precision != table->precision || !record_is_timed(r))
            continue;
        const int c = find_candidate(table, &r->config);
        for (unsigned t = 0; t < table->num_tasks; t++) {
            struct task *task = &table->tasks[t];
            if (task->m != r->m || task->n != r->n || task->k != r->k || task->pair != r->pair)
                continue;
            task->generic = fmin(task->generic, r->seconds);
            if (c >= 0) {
                task->by_generic = c;
                task->seconds[c] = fmin(task->seconds[c], r->seconds);
                task->best = fmin(task->best, r->seconds);
            }
        }
    }
}

/* log(time of the best chosen recipe / best time), for one task. */
static double task_loss(const struct table *table, const struct task *task)
{
    double seconds = HUGE_VAL;
    for (unsigned c = 0; c < table->num_candidates; c++)
        if (table->chosen[c])
            seconds = fmin(seconds, task->seconds[c]);
    return seconds < HUGE_VAL ? log(seconds / task->best) : missing_loss;
}

/* Time is spent in large problems: a loss counts by the logarithm of the work, in units of a small
 * problem, 64 cubed; 2 gives those that are smaller still a say. */
static double task_weight(const struct task *task)
{
    return log(2 + (double) task->m * (double) task->n * (double) task->k * 0x1p-18);
}

static double mean_loss(const struct table *table)
{
    double sum = 0, weights = 0;
    for (unsigned i = 0; i < table->num_tasks; i++) {
        const double weight = task_weight(&table->tasks[i]);
        sum += weight * task_loss(table, &table->tasks[i]);
        weights += weight;
    }
    return sum / weights;
}

/* The mean loss with one candidate chosen that is not, and another one not that is (-1: none). */
static double loss_with(struct table *table, int in, int out)
{
    if (out >= 0)
        table->chosen[out] = false;
    table->chosen[in] = true;
    const double loss = mean_loss(table);
    table->chosen[in] = false;
    if (out >= 0)
        table->chosen[out] = true;
    return loss;
}

/* Adds the candidate that lowers the mean loss most, if by what it is worth. */
static bool choose_another(struct table *table, double *loss)
{
    int best = -1;
    double best_loss = *loss < HUGE_VAL ? *loss - table->worth : *loss;
    for (int c = 0; c < (int) table->num_candidates; c++) {
        const double with = table->chosen[c] ? HUGE_VAL : loss_with(table, c, -1);
        if (with < best_loss) {
            best = c;
            best_loss = with;
        }
    }
    if (best < 0)
        return false;
    table->chosen[best] = true;
    *loss = best_loss;
    return true;
}

/* Puts a candidate in the place of a chosen one, the two that lower the mean loss most: what was
 * chosen first, when it had to serve everything, may no longer be worth its place. */
static bool exchange(struct table *table, double *loss)
{
    int best_in = -1, best_out = -1;
    double best_loss = *loss - worth_exchange;
    for (int out = 0; out < (int) table->num_candidates; out++)
        for (int in = 0; in < (int) table->num_candidates; in++) {
            if (!table->chosen[out] || table->chosen[in])
                continue;
            const double with = loss_with(table, in, out);
            if (with < best_loss) {
                best_in = in;
                best_out = out;
                best_loss = with;
            }
        }
    if (best_in < 0)
        return false;
    table->chosen[best_out] = false;
    table->chosen[best_in] = true;
    *loss = best_loss;
    return true;
}

static void choose(struct table *table)
{
    double loss = HUGE_VAL;
    for (int round = 0; round < MAX_CHOSEN && choose_another(table, &loss); round++)
        while (exchange(table, &loss))
            continue;
}

/* The chosen candidate that was fastest, or -1. */
static int fastest(const struct table *table, const struct task *task)
{
    int best = -1;
    for (unsigned c = 0; c < table->num_candidates; c++)
        if (table->chosen[c] && task->seconds[c] < HUGE_VAL &&
            (best < 0 || task->seconds[c] < task->seconds[best]))
            best = (int) c;
    return best;
}

static bool loses_to_generic(const struct table *table, const struct task *task)
{
    const int c = fastest(table, task);
    return c >= 0 && task->seconds[c] > clear_lead * task->generic;
}

/* However little it is worth on the whole, nobody is to lose by a tuned bundle. */
static void choose_generic(struct table *table)
{
    for (unsigned i = 0; i < table->num_tasks; i++)
        if (table->tasks[i].by_generic >= 0 && loses_to_generic(table, &table->tasks[i]))
            table->chosen[table->tasks[i].by_generic] = true;
}

static struct winner_anchor *find_anchor(struct winners *winners, const struct table *table,
        const struct task *task)
{
    for (unsigned i = 0; i < winners->num_anchors; i++) {
        struct winner_anchor *a = &winners->anchors[i];
        if (a->precision == table->precision && a->m == task->m && a->n == task->n &&
            a->k == task->k)
            return a;
    }
    if (winners->num_anchors == WINNERS_MAX_ANCHORS)
        return NULL;
    struct winner_anchor *a = &winners->anchors[winners->num_anchors++];
    *a = (struct winner_anchor) { .precision = table->precision, .m = (uint32_t) task->m,
            .n = (uint32_t) task->n, .k = (uint32_t) task->k, .recipe = { -1, -1, -1, -1 } };
    return a;
}

/* Adds anchors that name candidates, and returns which candidates they use. */
static void add_anchors(const struct table *table, struct winners *winners,
        bool used[MAX_CANDIDATES])
{
    for (unsigned i = 0; i < table->num_tasks; i++) {
        const int c = fastest(table, &table->tasks[i]);
        struct winner_anchor *a = c < 0 ? NULL : find_anchor(winners, table, &table->tasks[i]);
        if (!a)
            continue;
        a->recipe[table->tasks[i].pair] = c;
        a->seconds[table->tasks[i].pair] = table->tasks[i].seconds[c];
        used[c] = true;
    }
}

static struct kiln_point point_of(const struct table *table, size_t m, size_t n, size_t k, int pair)
{
    return kiln_point_of_dense(m, n, k, pair / 2, pair % 2, table->precision->element_bytes);
}

/* Whether the candidate takes an anchor's shape, of matrices without gaps. */
static bool takes(const struct table *table, int candidate, const struct winner_anchor *anchor,
        int pair)
{
    const struct problem problem = { table->precision, pair / 2, pair % 2 };
    return config_takes(&table->candidate[candidate], &problem, table->facts, anchor->m, anchor->n,
            anchor->k);
}

/* The recipe of the nearest anchor where this pair was measured, if it takes the shape; or -1. */
static int nearest_measured(const struct table *table, const struct winners *winners,
        const struct winner_anchor *to, int pair, int64_t *distance)
{
    const struct kiln_point at = point_of(table, to->m, to->n, to->k, pair);
    int recipe = -1;
    *distance = INT64_MAX;
    for (unsigned i = 0; i < winners->num_anchors; i++) {
        const struct winner_anchor *a = &winners->anchors[i];
        const struct kiln_point point = point_of(table, a->m, a->n, a->k, pair);
        const int64_t here = kiln_point_distance(&point, &at);
        if (a->precision == table->precision && a->seconds[pair] > 0 && here < *distance &&
            takes(table, a->recipe[pair], to, pair)) {
            *distance = here;
            recipe = a->recipe[pair];
        }
    }
    return recipe;
}

/* A pair that was not measured at an anchor is served as at an anchor nearby where it was; where
 * that is more than 0.7 octaves away, as the anchor's other pairs are. */
static int guess(const struct table *table, const struct winners *winners,
        const struct winner_anchor *anchor, int pair)
{
    static const int64_t nearby = INT64_C(1) << (2 * KILN_LOG_FRACTION_BITS - 1);
    int64_t distance;
    int known = -1;
    for (int other = NUM_PAIRS; other-- > 0; )
        known = anchor->seconds[other] > 0 ? anchor->recipe[other] : known;
    const int near = nearest_measured(table, winners, anchor, pair, &distance);
    return near >= 0 && (distance < nearby || !takes(table, known, anchor, pair)) ? near : known;
}

static void fill_pairs(const struct table *table, struct winners *winners)
{
    for (unsigned i = 0; i < winners->num_anchors; i++) {
        struct winner_anchor *a = &winners->anchors[i];
        for (int pair = 0; pair < NUM_PAIRS && a->precision == table->precision; pair++)
            if (!(a->seconds[pair] > 0))
                a->recipe[pair] = guess(table, winners, a, pair);
    }
}

/* Turns candidate numbers into recipe numbers and adds the recipes. */
static bool add_recipes(const struct table *table, struct winners *winners,
        const bool used[MAX_CANDIDATES])
{
    int number[MAX_CANDIDATES], next = 0;
    for (unsigned c = 0; c < table->num_candidates; c++) {
        number[c] = used[c] ? next++ : -1;
        if (!used[c])
            continue;
        if (winners->num_recipes == WINNERS_MAX_RECIPES)
            return false;
        winners->recipes[winners->num_recipes++] = (struct winner) {
            .precision = table->precision, .config = table->candidate[c]
        };
    }
    for (unsigned i = 0; i < winners->num_anchors; i++)
        for (int pair = 0; pair < NUM_PAIRS; pair++) {
            struct winner_anchor *a = &winners->anchors[i];
            if (a->precision == table->precision && a->recipe[pair] >= 0)
                a->recipe[pair] = number[a->recipe[pair]];
        }
    return true;
}

/* What the library would take for a task: the recipe of the nearest anchor, of those whose recipe
 * takes the shape, which shows in that it was timed. Its number, and its time; -1 when there is
 * none. */
static int dispatched(const struct winners *winners, const struct table *table,
        const struct task *task, double *seconds)
{
    const struct kiln_point at = point_of(table, task->m, task->n, task->k, task->pair);
    int64_t best = INT64_MAX;
    int recipe = -1;
    for (unsigned i = 0; i < winners->num_anchors; i++) {
        const struct winner_anchor *a = &winners->anchors[i];
        const struct kiln_point point = point_of(table, a->m, a->n, a->k, task->pair);
        const int64_t here = kiln_point_distance(&point, &at);
        const struct winner *winner = a->precision == table->precision && here < best
                ? winners_recipe(winners, table->precision, a->recipe[task->pair]) : NULL;
        const int c = winner ? find_candidate(table, &winner->config) : -1;
        if (c >= 0 && task->seconds[c] < HUGE_VAL) {
            best = here;
            recipe = a->recipe[task->pair];
            *seconds = task->seconds[c];
        }
    }
    return recipe;
}

static void add_regret(const struct records *records, struct table *table,
        struct winners *winners)
{
    double sum = 0, seconds;
    unsigned shapes = 0;
    table->num_tasks = 0;
    if (!fill_tasks(records, RECORD_HELD, table))
        return;
    for (unsigned i = 0; i < table->num_tasks; i++) {
        if (dispatched(winners, table, &table->tasks[i], &seconds) < 0)
            continue;
        sum += log(seconds / table->tasks[i].best);
        shapes++;
    }
    if (shapes)
        winners->regrets[winners->num_regrets++] = (struct winner_regret) {
            .precision = table->precision, .shapes = shapes,
            .factor = round(1e4 * exp(sum / shapes)) / 1e4,    /* as winners.tsv holds it */
        };
}

bool select_list(const struct records *records, const struct winners *winners,
        const struct precision *precision, enum record_kind kind, struct selection **list,
        unsigned *num)
{
    struct table table = { .precision = precision };
    *num = 0;
    *list = NULL;
    find_candidates(records, &table);
    bool ok = fill_tasks(records, kind, &table);
    if (ok && table.num_tasks) {
        *list = calloc(table.num_tasks, sizeof **list);
        ok = *list != NULL;
    }
    for (unsigned i = 0; ok && i < table.num_tasks; i++) {
        const struct task *task = &table.tasks[i];
        struct selection *s = &(*list)[*num];
        *s = (struct selection) { .m = task->m, .n = task->n, .k = task->k, .pair = task->pair,
                .best = task->best };
        s->recipe = dispatched(winners, &table, task, &s->seconds);
        *num += s->recipe >= 0;
    }
    free(table.tasks);
    return ok;
}

/* Fills a table and chooses. False when out of memory; without tasks nothing is chosen. */
static bool choose_precision(const struct records *records, const struct precision *precision,
        struct table *table)
{
    const bool is_cpu = records->head.facts.value[FACT_IS_CPU];
    *table = (struct table) { .precision = precision, .worth = is_cpu ? worth_on_cpu : worth,
            .facts = &records->head.facts };
    find_candidates(records, table);
    bool ok = fill_tasks(records, RECORD_MATRIX, table);
    if (ok && table->num_tasks < FEW_TASKS)    /* stopped early: what the search saw must help */
        ok = fill_tasks(records, RECORD_SEARCH, table);
    fill_generic(records, table);
    if (ok && table->num_tasks) {
        choose(table);
        choose_generic(table);
    }
    return ok;
}

/* Whether all that is chosen are recipes of the generic bundle, which has more of them. */
static bool is_only_generic(const struct records *records, const struct table *table)
{
    unsigned num = 0, generic = 0;
    for (unsigned c = 0; c < table->num_candidates; c++) {
        bool found = false;
        for (size_t i = 0; i < records->num && table->chosen[c] && !found; i++)
            found = records->rows[i].kind == RECORD_GENERIC &&
                    records->rows[i].precision == table->precision &&
                    config_equal(&records->rows[i].config, &table->candidate[c]);
        num += table->chosen[c];
        generic += found;
    }
    return num && num == generic;
}

/* Compares what is chosen with the generic bundle. */
static void compare_generic(const struct records *records, const struct table *table,
        struct select_generic *out)
{
    double sum = 0, weights = 0;
    *out = (struct select_generic) { .shapes = 0 };
    for (unsigned i = 0; i < table->num_tasks; i++) {
        const struct task *task = &table->tasks[i];
        const int c = fastest(table, task);
        if (c < 0 || !(task->generic < HUGE_VAL))
            continue;
        const double weight = task_weight(task);
        out->shapes++;
        out->slower += loses_to_generic(table, task);
        sum += weight * log(task->seconds[c] / task->generic);
        weights += weight;
    }
    out->factor = weights > 0 ? exp(sum / weights) : 0;
    out->is_left = out->factor > clear_lead || is_only_generic(records, table);
}

bool select_generic(const struct records *records, const struct precision *precision,
        struct select_generic *out)
{
    struct table table;
    const bool ok = choose_precision(records, precision, &table);
    compare_generic(records, &table, out);
    free(table.tasks);
    return ok;
}

static bool select_precision(const struct records *records, const struct precision *precision,
        struct winners *winners)
{
    struct table table;
    struct select_generic against;
    bool used[MAX_CANDIDATES] = { false };
    bool ok = choose_precision(records, precision, &table);
    compare_generic(records, &table, &against);
    if (ok && table.num_tasks && !against.is_left) {
        add_anchors(&table, winners, used);
        fill_pairs(&table, winners);
        ok = add_recipes(&table, winners, used);
        add_regret(records, &table, winners);
    }
    free(table.tasks);
    return ok;
}

/* Lower case letters and digits, the rest as single dashes. */
static void make_name(const char *device, char *name, size_t bytes)
{
    size_t len = 0;
    for (; *device && len + 1 < bytes; device++) {
        const char c = *device;
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
            name[len++] = c;
        else if (c >= 'A' && c <= 'Z')
            name[len++] = (char) (c - 'A' + 'a');
        else if (len && name[len - 1] != '-')
            name[len++] = '-';
    }
    while (len && name[len - 1] == '-')
        len--;
    name[len] = '\0';
    if (!len)
        snprintf(name, bytes, "device");
}

static void describe(const struct records *records, const char *name, struct winners *winners)
{
    const struct device_facts *facts = &records->head.facts;
    if (name)
        snprintf(winners->name, sizeof winners->name, "%s", name);
    else
        make_name(facts->device, winners->name, sizeof winners->name);
    snprintf(winners->platform, sizeof winners->platform, "%s", facts->platform);
    snprintf(winners->device, sizeof winners->device, "%s", facts->device);
    snprintf(winners->provenance, sizeof winners->provenance,
            "tuned on %.120s, %.100s, driver %.60s", facts->device, facts->platform, facts->driver);
    /* Its compiler may take the process down, and does so by version. */
    if (winners_want_driver(facts->platform))
        snprintf(winners->driver, sizeof winners->driver, "%s", facts->driver);
    winners->facts = *facts;
    winners->has_facts = true;
}

bool select_from_records(const struct records *records, const char *name, struct winners *winners,
        char error[FAMILY_ERROR_BYTES])
{
    *winners = (struct winners) { .num_recipes = 0 };
    describe(records, name, winners);
    for (size_t i = 0; i < num_precisions; i++)
        if (!select_precision(records, &precisions[i], winners)) {
            snprintf(error, FAMILY_ERROR_BYTES, "out of memory, or too many recipes");
            return false;
        }
    if (!winners->num_recipes) {
        snprintf(error, FAMILY_ERROR_BYTES,
                "nothing in the journal may ship: it passed no edge classes, or is not faster than "
                "generic");
        return false;
    }
    return winners_rehash(winners, error);
}

bool select_winners(const char *journal, const char *name, struct winners *winners,
        char error[FAMILY_ERROR_BYTES])
{
    struct records records;
    if (!records_parse(journal, &records, error))
        return false;
    bool ok = records.head.generator == record_generator_hash();
    if (!ok)
        snprintf(error, FAMILY_ERROR_BYTES,
                "the journal was made by another version of the kernels");
    ok = ok && select_from_records(&records, name, winners, error);
    records_free(&records);
    return ok;
}
