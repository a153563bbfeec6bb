/* own_shapes.c: see own_shapes.h. */
#include "own_shapes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

static bool is_same(const struct own_shape *a, const struct own_shape *b)
{
    return shape_equal(a->shape, b->shape) && a->precision == b->precision && a->pair == b->pair;
}

static const char *take(void *user, const struct extents_line *line)
{
    struct own_shapes *own = user;
    const struct own_shape shape = {
        .shape = line->shape,
        .precision = line->precision,
        .pair = line->pair,
        .weight = line->weight * (double) shape_members(line->shape),
    };
    for (size_t i = 0; i < own->num; i++)
        if (is_same(&own->at[i], &shape)) {
            own->at[i].weight += shape.weight;
            return NULL;
        }
    if (own->num == OWN_MAX)
        return "more than 64 shapes";
    own->at[own->num++] = shape;
    return NULL;
}

/* Shapes of one weight stay in the order of the file. */
static void sort(struct own_shapes *own)
{
    for (size_t i = 1; i < own->num; i++) {
        const struct own_shape shape = own->at[i];
        size_t at = i;
        for (; at && own->at[at - 1].weight < shape.weight; at--)
            own->at[at] = own->at[at - 1];
        own->at[at] = shape;
    }
}

bool own_shapes_read(const char *path, struct own_shapes *own, char error[EXTENTS_ERROR_BYTES])
{
    own->num = 0;
    if (!extents_read_file(path, take, own, error))
        return false;
    if (!own->num)
        snprintf(error, EXTENTS_ERROR_BYTES, "no shapes in %.250s", path);
    sort(own);
    return true;
}

bool own_shape_is_for(const struct own_shape *own, const struct precision *precision)
{
    return !own->precision || own->precision == precision;
}

/* ---- what became of them ---- */

static bool is_at(const struct record *r, enum record_kind kind, const struct precision *precision,
        int pair, struct shape s)
{
    return r->kind == kind && r->precision == precision && r->pair == pair &&
           shape_equal(r->shape, s);
}

/* The least time that was measured; of one configuration, or of all (NULL). HUGE_VAL: none. */
static double least_seconds(const struct records *records, enum record_kind kind,
        const struct precision *precision, int pair, struct shape s, const struct config *config)
{
    double least = HUGE_VAL;
    for (size_t i = 0; i < records->num; i++) {
        const struct record *r = &records->rows[i];
        if (is_at(r, kind, precision, pair, s) && record_is_timed(r) &&
                (!config || config_equal(config, &r->config)))
            least = fmin(least, r->seconds);
    }
    return least;
}

static const struct winner *pinned(const struct winners *winners, const struct precision *precision,
        int pair, struct shape s)
{
    for (unsigned i = 0; i < winners->num_pins; i++) {
        const struct winner_pin *pin = &winners->pins[i];
        if (pin->precision == precision && shape_equal(pin->shape, s))
            return pin->recipe[pair] < 0 ? NULL
                                         : winners_recipe(winners, precision, pin->recipe[pair]);
    }
    return NULL;
}

static const char *why_unmeasured(const struct tuner *tuner, const struct winners *winners,
        const struct precision *precision, int pair, struct shape s)
{
    bool asked = false;
    for (size_t i = 0; i < tuner->records.num; i++) {
        const struct record *r = &tuner->records.rows[i];
        asked = asked || (is_at(r, RECORD_OWN, precision, pair, s) && !record_is_late(r));
    }
    return asked && winners_recipe(winners, precision, 0) ? "no candidate served it"
         : winners_recipe(winners, precision, 0)
                 ? "the budget ended before, or no candidate takes it"
                 : "the generic bundle serves this precision";
}

/* "64 x 64 x 64", or "64 x 64 x 64 batch=100". */
static void say_shape(struct shape s, char text[SHAPE_TEXT_BYTES])
{
    char batch[SHAPE_BATCH_BYTES];
    shape_format_batch(s, ' ', batch);
    snprintf(text, SHAPE_TEXT_BYTES, "%zu x %zu x %zu%s", s.m, s.n, s.k, batch);
}

static void say_pinned(const struct tuner *tuner, const struct winner *winner, int pair,
        struct shape s)
{
    const double seconds = least_seconds(&tuner->records, RECORD_OWN, winner->precision, pair, s,
            &winner->config);
    const double generic = least_seconds(&tuner->records, RECORD_GENERIC, winner->precision, pair,
            s, NULL);
    const double operations = precision_operations(winner->precision, s);
    char config[CONFIG_TEXT_BYTES], shape[SHAPE_TEXT_BYTES], against[48] = "";
    say_shape(s, shape);
    config_format(&winner->config, config);
    if (generic < HUGE_VAL)
        snprintf(against, sizeof against, ", %.2f times generic", generic / seconds);
    fprintf(stderr, "kiln-tune: %s %s %s: %.4g GFLOP/s%s: %s\n", shape, winner->precision->name,
            pair_names[pair], 1e-9 * operations / seconds, against, config);
}

/* Pairs that were not measured for the same reason share a warning. */
static void report_one(const struct tuner *tuner, const struct winners *winners,
        const struct own_shape *own, const struct precision *precision)
{
    const char *why[NUM_PAIRS];
    char shape[SHAPE_TEXT_BYTES];
    const struct shape s = own->shape;
    say_shape(s, shape);
    for (int pair = 0; pair < NUM_PAIRS; pair++) {
        const struct winner *winner = pinned(winners, precision, pair, s);
        const bool is_asked = own->pair < 0 || own->pair == pair;
        why[pair] = is_asked && !winner ? why_unmeasured(tuner, winners, precision, pair, s) : NULL;
        if (is_asked && winner && !tuner->quiet)
            say_pinned(tuner, winner, pair, s);
    }
    for (int pair = 0; pair < NUM_PAIRS; pair++) {
        const char *same = why[pair];
        if (!same)
            continue;
        fprintf(stderr, "kiln-tune: warning: %s %s", shape, precision->name);
        for (int other = pair; other < NUM_PAIRS; other++)
            if (why[other] && !strcmp(why[other], same)) {
                fprintf(stderr, " %s", pair_names[other]);
                why[other] = NULL;
            }
        fprintf(stderr, " was not measured: %s\n", same);
    }
}

void own_shapes_report(const struct options *options, const struct tuner *tuner,
        const struct winners *winners)
{
    for (size_t i = 0; i < tuner->num_own; i++) {
        const struct own_shape *own = &tuner->own[i];
        bool is_tuned = false;
        for (size_t p = 0; p < options->num_precisions; p++)
            if (own_shape_is_for(own, options->precisions[p])) {
                const bool runs = precision_is_there(options->precisions[p], &tuner->facts);
                is_tuned = true;
                if (runs || own->precision)
                    report_one(tuner, winners, own, options->precisions[p]);
            }
        if (!is_tuned) {
            char shape[SHAPE_TEXT_BYTES];
            say_shape(own->shape, shape);
            fprintf(stderr,
                    "kiln-tune: warning: %s %s%s%s was not measured: the precision is not tuned\n",
                    shape, own->precision->name, own->pair < 0 ? "" : " ",
                    own->pair < 0 ? "" : pair_names[own->pair]);
        }
    }
}
