/* rechoose.c: see rechoose.h. */
#include "rechoose.h"
#include "fnv.h"
#include "forms.h"
#include "losses.h"
#include "predict.h"
#include "random.h"
#include "times.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- what was measured, as rows of a journal ---- */

static const struct winner *find_recipe(const struct winners *winners,
        const struct precision *precision, const struct config *config)
{
    for (unsigned i = 0; i < winners->num_recipes; i++) {
        const struct winner *winner = &winners->recipes[i];
        if (winner->precision == precision && !form_is(winner) &&
                config_equal(&winner->config, config))
            return winner;
    }
    return NULL;
}

/* The compute units of a bench's device; 0: as many as the bundle's. */
static uint32_t units_of(const struct winners *winners, const struct bench *bench)
{
    return bench->units == (uint32_t) winners->facts.value[FACT_UNITS] ? 0 : bench->units;
}

/* Is the row of the precision, and has it times of the bundle's recipes? */
static bool counts(const struct winners *winners, const struct precision *precision,
        const struct bench_row *row)
{
    bool found = false;
    for (size_t i = 0; i < row->num_times && row->precision == precision; i++)
        found = found || find_recipe(winners, precision, &row->times[i].config);
    return found;
}

static bool same_shape(const struct bench_row *a, const struct bench_row *b)
{
    return a->precision == b->precision && a->pair == b->pair && shape_equal(a->shape, b->shape);
}

/* Whether no row before it is of the same shape. */
static bool is_first(const struct winners *winners, const struct bench *benches, unsigned bench,
        size_t number)
{
    const struct bench_row *row = &benches[bench].rows[number];
    for (unsigned b = 0; b <= bench; b++)
        for (size_t i = 0; i < (b == bench ? number : benches[b].num_rows); i++)
            if (units_of(winners, &benches[b]) == units_of(winners, &benches[bench]) &&
                    same_shape(&benches[b].rows[i], row) &&
                    counts(winners, row->precision, &benches[b].rows[i]))
                return false;
    return true;
}

/* Chosen by a hash, so that the same shape always gives the same answer. (Drawn shapes come in
 * turns of their classes.) */
static bool is_held_out(const struct bench_row *row)
{
    const uint64_t shape[] = { (uint64_t) row->pair, row->m, row->n, row->k, row->batch };
    const size_t num = row->batch > 0 ? 5 : 4;
    uint64_t state = KILN_HASH_BEGIN;
    for (size_t i = 0; i < num; i++)
        state = random_next(&state) ^ shape[i];
    return random_next(&state) % RECHOOSE_HELD_ONE_OF == 0;
}

static bool add_row(const struct bench_row *row, const struct bench_time *time, uint32_t units,
        enum record_kind kind, struct records *records)
{
    struct record record = { .kind = kind,
        .precision = row->precision,
        .pair = row->pair,
        .shape = row->shape,
        .units = units,
        .config = time->config,
        .seconds = time->seconds,
        .outcome = "ok" };
    return records_add(records, &record);
}

/* The bundle's recipes were verified, or they would not be in it. */
static bool add_verified(const struct winner *winner, struct records *records)
{
    bool ok = true;
    for (int pair = 0; pair < NUM_PAIRS && ok; pair++) {
        const struct bench_row row = { .precision = winner->precision, .pair = pair };
        const struct bench_time time = { .config = winner->config };
        ok = add_row(&row, &time, 0, RECORD_EDGES, records);
    }
    return ok;
}

/* Adds a precision to the journal. False when out of memory. */
static bool add_precision(const struct winners *old, const struct bench *benches,
        unsigned num_benches, struct rechosen *done, struct records *records)
{
    bool ok = true;
    for (unsigned b = 0; b < num_benches; b++)
        for (size_t i = 0; i < benches[b].num_rows && ok; i++) {
            const struct bench_row *row = &benches[b].rows[i];
            if (!counts(old, done->precision, row))
                continue;
            const bool is_new = is_first(old, benches, b, i);
            const bool is_held = is_held_out(row);
            for (size_t t = 0; t < row->num_times && ok; t++)
                ok = !find_recipe(old, done->precision, &row->times[t].config) ||
                     add_row(row, &row->times[t], units_of(old, &benches[b]),
                             is_held ? RECORD_HELD : RECORD_MATRIX, records);
            done->shapes += is_new;
            done->held += is_new && is_held;
        }
    for (unsigned i = 0; i < old->num_recipes && ok && done->shapes; i++)
        if (old->recipes[i].precision == done->precision && !form_is(&old->recipes[i])) {
            ok = add_verified(&old->recipes[i], records);
            done->of++;
        }
    return ok;
}

/* ---- what is known already ---- */

/* The times of a bundle, struct winners. */
static const struct kiln_time *known_time(const void *bundle, const struct device_facts *facts,
        const struct precision *precision, const struct config *config, struct prior_source *source)
{
    const struct winner *winner = find_recipe(bundle, precision, config);
    (void) facts;
    *source = (struct prior_source){ .is_for_device = true };
    for (int pair = 0; pair < NUM_PAIRS && winner; pair++)
        source->is_older = source->is_older || winner->is_changed[pair];
    return winner && winner->is_timed ? &winner->time : NULL;
}

/* ---- what is lost ---- */

/* Adds to `told` what the bundle loses at the shapes held out, by the times that it has, and tells
 * the mean. False when out of memory. */
static bool add_losses(const struct winners *winners, const struct records *records,
        const struct precision *precision, struct winners *told, double *mean)
{
    bool is_there[TIMES_MAX_CANDIDATES] = { false };
    struct times times;
    bool ok = times_open(records, precision, false, &times);
    for (unsigned c = 0; c < times.num_candidates && ok; c++) {
        struct times_candidate *candidate = &times.candidates[c];
        const struct winner *winner = find_recipe(winners, precision, &candidate->config);
        is_there[c] = winner;
        candidate->is_fitted = winner && winner->is_timed;
        if (candidate->is_fitted)
            candidate->time = winner->time;
    }
    ok = ok && times_add(records, RECORD_HELD, &times) && losses_add(&times, is_there, told);
    times_free(&times);
    const struct winner_loss *loss = ok ? winners_loss(told, precision, "all") : NULL;
    *mean = loss ? loss->mean : 1;
    return ok;
}

/* ---- the new bundle ---- */

static const struct rechosen *find_done(const struct rechosen *done, unsigned num_done,
        const struct precision *precision)
{
    for (unsigned i = 0; i < num_done; i++)
        if (done[i].precision == precision)
            return &done[i];
    return NULL;
}

/* Where a recipe stands among those of its precision; it is added if it is not there. -1: there is
 * no room. */
static int place_of(struct winners *now, const struct winner *winner)
{
    int place = 0;
    for (unsigned i = 0; i < now->num_recipes; i++)
        if (now->recipes[i].precision == winner->precision) {
            if (config_equal(&now->recipes[i].config, &winner->config) &&
                    now->recipes[i].triangle == winner->triangle)
                return place;
            place++;
        }
    if (now->num_recipes == WINNERS_MAX_RECIPES)
        return -1;
    now->recipes[now->num_recipes++] = *winner;
    return place;
}

/* The forms of a precision, or its other recipes. False when there are too many. */
static bool add_recipes(const struct winners *from, const struct precision *precision, bool forms,
        struct winners *now)
{
    bool ok = true;
    for (unsigned i = 0; i < from->num_recipes && ok; i++)
        ok = from->recipes[i].precision != precision || form_is(&from->recipes[i]) != forms ||
             place_of(now, &from->recipes[i]) >= 0;
    return ok;
}

/* Recipes that are pinned stay, whether they were chosen or not. They stand before the forms, which
 * the caller makes anew. */
static bool add_pinned(const struct winners *old, const struct precision *precision,
        struct winners *now)
{
    bool ok = true;
    for (unsigned i = 0; i < old->num_pins && ok; i++)
        for (int pair = 0; pair < NUM_PAIRS && ok; pair++) {
            const struct winner_pin *pin = &old->pins[i];
            const struct winner *winner = winners_recipe(old, precision, pin->recipe[pair]);
            ok = pin->precision != precision || !winner || form_is(winner) ||
                 place_of(now, winner) >= 0;
        }
    return ok;
}

/* Keeps the pins, with the recipes' new places. */
static bool keep_pins(const struct winners *old, struct winners *now)
{
    memcpy(now->pins, old->pins, sizeof now->pins);
    now->num_pins = old->num_pins;
    for (unsigned i = 0; i < now->num_pins; i++)
        for (int pair = 0; pair < NUM_PAIRS; pair++) {
            int *recipe = &now->pins[i].recipe[pair];
            const struct winner *winner = winners_recipe(old, now->pins[i].precision, *recipe);
            *recipe = winner ? place_of(now, winner) : -1;
            if (winner && *recipe < 0)
                return false;
        }
    return true;
}

/* Replaces the old recipes by the chosen ones. */
static bool compose(const struct winners *old, const struct winners *chosen, struct rechosen *done,
        unsigned num_done, struct winners *now)
{
    *now = *old;
    now->num_recipes = now->num_losses = 0;
    for (size_t p = 0; p < KILN_NUM_PRECISIONS; p++) {
        const bool is_new = find_done(done, num_done, &precisions[p]) != NULL;
        const struct winners *from = is_new ? chosen : old;
        if (!add_recipes(from, &precisions[p], false, now) ||
                !add_pinned(old, &precisions[p], now) ||
                !add_recipes(old, &precisions[p], true, now))
            return false;
        losses_copy(from, &precisions[p], now);
    }
    for (unsigned i = 0; i < num_done; i++) {
        const struct winner_loss *loss = winners_loss(chosen, done[i].precision, "all");
        done[i].now = loss ? loss->mean : 1;
        done[i].recipes = 0;
        for (unsigned r = 0; r < chosen->num_recipes; r++)
            done[i].recipes += chosen->recipes[r].precision == done[i].precision;
    }
    return keep_pins(old, now);
}

/* Were the results of all recipes of the bundle right? */
static bool are_right(const struct winners *old, const struct bench *bench,
        char error[FAMILY_ERROR_BYTES])
{
    for (size_t i = 0; i < bench->num_rows; i++)
        for (size_t t = 0; t < bench->rows[i].num_times; t++) {
            const struct bench_row *row = &bench->rows[i];
            char name[CONFIG_TEXT_BYTES];
            if (!row->times[t].is_wrong || !find_recipe(old, row->precision, &row->times[t].config))
                continue;
            config_format(&row->times[t].config, name);
            snprintf(error, FAMILY_ERROR_BYTES, "%s %s %zux%zux%zu: the result of %.120s was wrong",
                    row->precision->name, pair_names[row->pair], row->m, row->n, row->k, name);
            return false;
        }
    return true;
}

static bool may_be(const struct winners *old, const struct bench *benches, unsigned num_benches,
        char error[FAMILY_ERROR_BYTES])
{
    const bool is_for_one = old->device[0] && !strchr(old->device, '*');
    if (!old->has_facts) {
        snprintf(error, FAMILY_ERROR_BYTES, "the bundle has no facts of a device");
        return false;
    }
    for (unsigned i = 0; i < old->num_recipes; i++)
        if (old->recipes[i].kinds) {
            snprintf(error, FAMILY_ERROR_BYTES, "the bundle is for devices of several kinds");
            return false;
        }
    for (unsigned b = 0; b < num_benches; b++)
        if (is_for_one && strcmp(benches[b].device, old->device)) {
            snprintf(error, FAMILY_ERROR_BYTES,
                    "the bundle is for \"%.100s\", and \"%.100s\" was measured", old->device,
                    benches[b].device);
            return false;
        }
    for (unsigned b = 0; b < num_benches; b++)
        if (!are_right(old, &benches[b], error))
            return false;
    return true;
}

static bool add_all(const struct winners *old, const struct bench *benches, unsigned num_benches,
        struct records *records, struct rechosen *done, unsigned *num_done,
        char error[FAMILY_ERROR_BYTES])
{
    static struct winners before; /* of it the losses alone */
    before.num_losses = 0;
    for (size_t p = 0; p < KILN_NUM_PRECISIONS; p++) {
        struct rechosen one = { .precision = &precisions[p] };
        if (!add_precision(old, benches, num_benches, &one, records) ||
                (one.shapes && !add_losses(old, records, one.precision, &before, &one.before))) {
            snprintf(error, FAMILY_ERROR_BYTES, "out of memory");
            return false;
        }
        if (one.shapes && one.shapes < RECHOOSE_LEAST_SHAPES) {
            snprintf(error, FAMILY_ERROR_BYTES,
                    "%s: recipes of the bundle were timed at %u shapes; %d are the fewest that "
                    "tell of others",
                    one.precision->name, one.shapes, RECHOOSE_LEAST_SHAPES);
            return false;
        }
        if (one.shapes)
            done[(*num_done)++] = one;
    }
    if (*num_done)
        return true;
    snprintf(error, FAMILY_ERROR_BYTES,
            "no recipe of the bundle was timed: kiln-bench --best times them");
    return false;
}

/* What was measured, as a journal; freed by the caller in any case. */
static bool read_all(const struct winners *old, const struct bench *benches, unsigned num_benches,
        struct records *records, struct rechosen *done, unsigned *num_done,
        char error[FAMILY_ERROR_BYTES])
{
    *records = (struct records){ .head = { .facts = old->facts },
        .prior = known_time,
        .prior_user = old,
        .prior_is_own = true };
    *num_done = 0;
    return may_be(old, benches, num_benches, error) &&
           add_all(old, benches, num_benches, records, done, num_done, error);
}

bool rechoose(const struct winners *old, const struct bench *benches, unsigned num_benches,
        struct select_budget *budget, struct winners *now, struct rechosen *done,
        unsigned *num_done, char error[FAMILY_ERROR_BYTES])
{
    static struct winners chosen;
    struct records records;
    budget->is_in_turn = true;
    bool ok = read_all(old, benches, num_benches, &records, done, num_done, error) &&
              select_within(&records, old->name, budget, &chosen, error);
    if (ok && !compose(old, &chosen, done, *num_done, now)) {
        snprintf(error, FAMILY_ERROR_BYTES, "too many recipes");
        ok = false;
    }
    records_free(&records);
    return ok;
}

/* ---- times alone ---- */

/* Fits to shapes that are not held out. What else is known of a recipe counts as guesses. */
static bool is_measured(const struct records *records, const struct winner *winner)
{
    for (size_t i = 0; i < records->num; i++) {
        const struct record *row = &records->rows[i];
        if (row->kind == RECORD_MATRIX && row->precision == winner->precision &&
                config_equal(&row->config, &winner->config))
            return true;
    }
    return false;
}

/* Writes what is lost by the new times to `told`. False when out of memory. */
static bool fit_precision(const struct records *records, const struct family *family,
        struct rechosen *done, struct winners *now, struct winners *told)
{
    struct times times;
    const bool ok = times_open(records, done->precision, false, &times);
    done->recipes = 0;
    for (unsigned i = 0; i < now->num_recipes && ok; i++) {
        struct winner *winner = &now->recipes[i];
        if (winner->precision != done->precision || form_is(winner) ||
                (family && winner->config.family != family))
            continue;
        const int c = times_find(&times, &winner->config);
        if (c < 0 || !times.candidates[c].is_fitted || !is_measured(records, winner))
            continue;
        memset(winner->hash, 0, sizeof winner->hash); /* the caller's, of the text that was timed */
        winner->is_timed = true;
        winner->time = times.candidates[c].time;
        done->recipes++;
    }
    times_free(&times);
    return ok && add_losses(now, records, done->precision, told, &done->now);
}

/* Takes the losses of each precision from `told`, or keeps the old ones where it has none. */
static void renew_losses(const struct winners *old, const struct winners *told, struct winners *now)
{
    now->num_losses = 0;
    for (size_t p = 0; p < KILN_NUM_PRECISIONS; p++)
        losses_copy(winners_loss(told, &precisions[p], "all") ? told : old, &precisions[p], now);
}

bool rechoose_times(const struct winners *old, const struct bench *benches, unsigned num_benches,
        const struct family *family, struct winners *now, struct rechosen *done, unsigned *num_done,
        char error[FAMILY_ERROR_BYTES])
{
    static struct winners told; /* of it the losses alone */
    struct records records;
    unsigned num = 0;
    told.num_losses = 0;
    bool ok = read_all(old, benches, num_benches, &records, done, num_done, error);
    *now = *old;
    for (unsigned i = 0; i < *num_done && ok; i++) {
        ok = fit_precision(&records, family, &done[i], now, &told);
        num += done[i].recipes;
        if (!ok)
            snprintf(error, FAMILY_ERROR_BYTES, "out of memory");
    }
    if (ok && !family)
        renew_losses(old, &told, now);
    if (ok && !num) {
        snprintf(error, FAMILY_ERROR_BYTES, "no recipe of %s was timed",
                family ? family->name : "the bundle");
        ok = false;
    }
    records_free(&records);
    return ok;
}
