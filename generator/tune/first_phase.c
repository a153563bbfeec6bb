/* first_phase.c: see first_phase.h. */
#include "first_phase.h"
#include "../core/assemble.h"
#include "predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PRESETS = 64 }; /* of a family */

/* The gain of serving a shape that nothing serves yet, as a logarithm of times; the gain below
 * which one more is no better than another; and the factor by which a configuration may be slower
 * than the best everywhere and still be worth a verification. */
static const double unserved = 3, least_gain = 0.01, near_best = 1.4;

static bool is_listed(const struct first *first, const struct config *config)
{
    for (unsigned i = 0; i < first->num; i++)
        if (config_equal(&first->configs[i], config))
            return true;
    return false;
}

static void add(const struct tuner *tuner, const struct precision *precision,
        const struct config *config, struct first *first)
{
    const struct problem problem = problem_of_pair(precision, 0);
    const char *reason;
    if (first->num < FIRST_MOST && !is_listed(first, config) &&
            config_legal(config, &problem, &tuner->facts, &reason))
        first->configs[first->num++] = *config;
}

/* A preset, and what decides its place among those of its family. */
struct preset {
    struct config config;
    int64_t rank;
    bool is_meant;                     /* for the precision; others are for any */
};

/* By the family's rank; then those meant for the precision before others. */
static bool is_before(const struct preset *a, const struct preset *b)
{
    return a->rank != b->rank ? a->rank > b->rank : a->is_meant && !b->is_meant;
}

static void sort_presets(struct preset *presets, unsigned num)
{
    for (unsigned i = 1; i < num; i++) {
        const struct preset preset = presets[i];
        unsigned at = i;
        for (; at && is_before(&preset, &presets[at - 1]); at--)
            presets[at] = presets[at - 1];
        presets[at] = preset;
    }
}

/* Presets of a family that are legal and meant for the precision or for any, in order. */
struct preset_list {
    struct preset presets[MOST_PRESETS];
    unsigned num;
};

static void list_presets(const struct tuner *tuner, const struct precision *precision,
        const struct family *family, struct preset_list *list)
{
    const struct problem problem = problem_of_pair(precision, 0);
    for (unsigned i = 0; i < family->num_presets && list->num < MOST_PRESETS; i++) {
        const struct family_preset *from = &family->presets[i];
        struct preset preset = {
            .is_meant = preset_is_meant(from, precision),
        };
        char error[FAMILY_ERROR_BYTES];
        const char *reason;
        if ((!preset.is_meant && from->precision) ||
                !config_parse(from->config, &preset.config, error) ||
                !config_legal(&preset.config, &problem, &tuner->facts, &reason))
            continue;
        preset.rank = config_rank(&preset.config, &problem, &tuner->facts);
        list->presets[list->num++] = preset;
    }
    sort_presets(list->presets, list->num);
}

/* The first of each family, then the second of each: where there is no time to compile all, as on
 * CPUs, those are left out that their families rank lowest. */
static void add_presets(const struct tuner *tuner, const struct precision *precision,
        struct first *first)
{
    struct preset_list *lists = calloc(num_families, sizeof *lists);
    if (!lists)
        return; /* the search begins with less */
    for (size_t f = 0; f < num_families; f++)
        if (family_is_searched(families[f]))
            list_presets(tuner, precision, families[f], &lists[f]);
    for (unsigned place = 0; place < MOST_PRESETS; place++)
        for (size_t f = 0; f < num_families; f++)
            if (place < lists[f].num)
                add(tuner, precision, &lists[f].presets[place].config, first);
    free(lists);
}

void first_list(const struct tuner *tuner, const struct precision *precision, struct first *first)
{
    struct config known[FIRST_MOST];
    *first = (struct first){ .num = 0 };
    size_t num_known = tuner_list(tuner, tuner->kin, precision, known, FIRST_MOST);
    for (size_t i = 0; i < num_known; i++)
        add(tuner, precision, &known[i], first);
    first->num_kin = first->num;
    for (unsigned i = 0; i < first->num_kin; i++)
        first->is_kin[i] = true;
    num_known = tuner_list(tuner, tuner->of_kind, precision, known, FIRST_MOST);
    for (size_t i = 0; i < num_known; i++)
        add(tuner, precision, &known[i], first);
    add_presets(tuner, precision, first);
}

double first_time(struct tuner *tuner, const struct problem *problem, struct shape shape,
        const struct first *first)
{
    struct config takers[MAX_FINALISTS];
    struct record results[MAX_FINALISTS];
    double best = 0;
    for (unsigned from = 0; from < first->num;) {
        unsigned num = 0;
        for (; from < first->num && num < MAX_FINALISTS; from++)
            if (!first->is_left_out[from] &&
                    config_takes(&first->configs[from], problem, &tuner->facts, shape))
                takers[num++] = first->configs[from];
        if (num && !tuner_evaluate(tuner, RECORD_FIRST, problem, shape, takers, num, 0, results))
            break;
        for (unsigned i = 0; i < num; i++)
            if (record_is_timed(&results[i]) && (!(best > 0) || results[i].seconds < best))
                best = results[i].seconds;
    }
    return best;
}

/* The logarithms of the times, by shape and configuration; of predicted times, those of their
 * ratios to the best of the same bundle. */
struct table {
    struct shape shapes[FIRST_MOST_SHAPES];
    unsigned num;
    double log_seconds[FIRST_MOST_SHAPES][FIRST_MOST];     /* HUGE_VAL: neither timed nor
                                                              predicted */
};

static unsigned place_of(struct table *table, struct shape shape)
{
    unsigned s = 0;
    while (s < table->num && !shape_equal(table->shapes[s], shape))
        s++;
    if (s == table->num && s < FIRST_MOST_SHAPES) {
        table->shapes[table->num++] = shape;
        for (unsigned c = 0; c < FIRST_MOST; c++)
            table->log_seconds[s][c] = HUGE_VAL;
    }
    return s;
}

static void fill(const struct tuner *tuner, const struct precision *precision,
        const struct first *first, struct table *table)
{
    for (size_t i = 0; i < tuner->records.num; i++) {
        const struct record *r = &tuner->records.rows[i];
        if (r->kind != RECORD_FIRST || r->precision != precision || !r->used || !record_is_timed(r))
            continue;
        const unsigned s = place_of(table, r->shape);
        for (unsigned c = 0; c < first->num && s < FIRST_MOST_SHAPES; c++)
            if (config_equal(&first->configs[c], &r->config))
                table->log_seconds[s][c] = log(r->seconds);
    }
}

/* Fills in what a relative's bundle predicts for a recipe, at the shapes from a row on; returns
 * which bundle it is. */
static unsigned predict(const struct tuner *tuner, const struct problem *problem,
        const struct first *first, unsigned number, unsigned from, struct table *table)
{
    struct kiln_recipe recipe;
    char error[FAMILY_ERROR_BYTES];
    struct prior_source source = { .bundle = 0 };
    if (!assemble_traits(&first->configs[number], problem, &tuner->facts, &recipe, error))
        return source.bundle;
    recipe.time = tuner->records.prior(tuner->records.prior_user, &tuner->facts, problem->precision,
            &first->configs[number], &source);
    for (unsigned s = from; s < table->num && recipe.time; s++) {
        const struct kiln_product product = product_dense(problem, table->shapes[s]);
        const uint64_t time = kiln_guard_takes(&recipe.guard, &product)
                                    ? kiln_time_predict(&recipe, &product,
                                              (uint32_t) tuner->facts.value[FACT_UNITS])
                                    : 0;
        if (time > 0)
            table->log_seconds[s][number] = log((double) time * 1e-12);
    }
    return source.bundle;
}

/* Times that different bundles predict do not compare. So each counts by how far it is behind the
 * best of its own bundle. */
static void relate(double *row, const unsigned *bundles, unsigned num)
{
    double related[FIRST_MOST];
    for (unsigned c = 0; c < num; c++) {
        double best = HUGE_VAL;
        for (unsigned other = 0; other < num; other++)
            if (bundles[other] == bundles[c])
                best = fmin(best, row[other]);
        related[c] = row[c] < HUGE_VAL ? row[c] - best : HUGE_VAL;
    }
    memcpy(row, related, num * sizeof *row);
}

/* Adds the shapes that were not timed: there relatives' recipes have what their bundles predict. */
static void fill_predicted(const struct tuner *tuner, const struct precision *precision,
        const struct first *first, struct table *table)
{
    const struct problem problem = problem_of_pair(precision, 0);
    const unsigned timed = table->num;
    unsigned bundles[FIRST_MOST];
    if (!tuner->records.prior || !first->num_kin)
        return;
    for (unsigned i = 0; i < first->num_untimed; i++)
        place_of(table, first->untimed[i]);
    for (unsigned c = 0; c < first->num_kin; c++)
        bundles[c] = predict(tuner, &problem, first, c, timed, table);
    for (unsigned s = timed; s < table->num; s++)
        relate(table->log_seconds[s], bundles, first->num_kin);
}

/* What one more configuration gains at the shapes, beside the best so far at each. */
static double gain_of(const struct table *table, const double *best, unsigned c)
{
    double gain = 0;
    for (unsigned s = 0; s < table->num; s++)
        if (table->log_seconds[s][c] < best[s])
            gain += best[s] < HUGE_VAL ? best[s] - table->log_seconds[s][c] : unserved;
    return gain;
}

/* Of those not taken, the one with the largest gain; where nothing serves a shape yet, faster ones
 * are preferred. */
static unsigned next_of(const struct table *table, const double *best, const bool *taken,
        unsigned num, double *gain)
{
    unsigned next = num;
    *gain = 0;
    for (unsigned c = 0; c < num; c++) {
        double here = taken[c] ? -1 : gain_of(table, best, c);
        for (unsigned s = 0; s < table->num && here > 0; s++) {
            double fastest = HUGE_VAL;
            for (unsigned other = 0; other < num; other++)
                fastest = fmin(fastest, table->log_seconds[s][other]);
            if (!(best[s] < HUGE_VAL) && table->log_seconds[s][c] < HUGE_VAL)
                here -= fmin(unserved, table->log_seconds[s][c] - fastest);
        }
        if (here > *gain) {
            *gain = here;
            next = c;
        }
    }
    return next;
}

/* How far a configuration is behind the best where it is nearest to it, as a logarithm. */
static double least_lag(const struct table *table, unsigned c, unsigned num)
{
    double least = HUGE_VAL;
    for (unsigned s = 0; s < table->num; s++) {
        double best = HUGE_VAL;
        for (unsigned other = 0; other < num; other++)
            best = fmin(best, table->log_seconds[s][other]);
        if (table->log_seconds[s][c] < HUGE_VAL)
            least = fmin(least, table->log_seconds[s][c] - best);
    }
    return least;
}

/* The least lag of those not taken; `num` when there are no more. */
static unsigned next_near(const struct table *table, const bool *taken, unsigned num)
{
    unsigned next = num;
    double least = HUGE_VAL;
    for (unsigned c = 0; c < num; c++) {
        const double lag = taken[c] ? HUGE_VAL : least_lag(table, c, num);
        if (lag < least) {
            least = lag;
            next = c;
        }
    }
    return least <= log(near_best) ? next : num;
}

/* Whether a configuration takes one of the shapes, even if it failed there. */
static bool takes_some(const struct tuner *tuner, const struct problem *problem,
        const struct config *config, const struct table *table)
{
    for (unsigned s = 0; s < table->num; s++)
        if (config_takes(config, problem, &tuner->facts, table->shapes[s]))
            return true;
    return false;
}

/* The next of relatives' recipes, nearest relative first, among those that take none of the shapes
 * (where `takes` is given) or among all. `num` when there are no more. */
static unsigned next_kin(const struct first *first, const bool *taken, const bool *takes)
{
    for (unsigned c = 0; c < first->num_kin; c++)
        if (!taken[c] && (!takes || !takes[c]))
            return c;
    return first->num;
}

static void copy(const struct first *from, unsigned i, struct first *to)
{
    to->is_kin[to->num] = from->is_kin[i];
    to->configs[to->num++] = from->configs[i];
}

/* Moves a configuration that also serves triangles of C to the second place at the latest, so that
 * it is verified if there is time for two: else a bundle may have nothing for triangles. */
static void put_triangles_early(struct first *sorted)
{
    unsigned i = 0;
    while (i < sorted->num && !sorted->configs[i].family->triangles)
        i++;
    if (i == sorted->num)
        return;
    for (; i > 1; i--) {
        const struct config config = sorted->configs[i];
        const bool is_kin = sorted->is_kin[i];
        sorted->configs[i] = sorted->configs[i - 1];
        sorted->is_kin[i] = sorted->is_kin[i - 1];
        sorted->configs[i - 1] = config;
        sorted->is_kin[i - 1] = is_kin;
    }
}

void first_sort(const struct tuner *tuner, const struct precision *precision, struct first *first)
{
    static struct table table; /* too large for the stack; one run at a time */
    struct first sorted = { .num = 0 };
    bool taken[FIRST_MOST] = { false }, takes[FIRST_MOST];
    const struct problem problem = problem_of_pair(precision, 0);
    double best[FIRST_MOST_SHAPES], gain;
    table.num = 0;
    fill(tuner, precision, first, &table);
    fill_predicted(tuner, precision, first, &table);
    for (unsigned s = 0; s < table.num; s++)
        best[s] = HUGE_VAL;
    for (unsigned c = 0; c < first->num; c++)
        takes[c] = takes_some(tuner, &problem, &first->configs[c], &table);
    for (unsigned i = 0; i < first->num; i++) {
        unsigned c = next_of(&table, best, taken, first->num, &gain);
        if (c == first->num || gain < least_gain)
            c = next_kin(first, taken, takes);
        if (c == first->num)
            c = next_near(&table, taken, first->num);
        if (c == first->num)
            c = next_kin(first, taken, NULL);
        if (c == first->num)
            break;
        taken[c] = true;
        copy(first, c, &sorted);
        for (unsigned s = 0; s < table.num; s++)
            best[s] = fmin(best[s], table.log_seconds[s][c]);
    }
    put_triangles_early(&sorted);
    sorted.num_good = sorted.num;
    for (unsigned c = 0; c < first->num; c++)
        if (!taken[c])
            copy(first, c, &sorted);
    sorted.num_kin = first->num_kin;
    *first = sorted;
}
