/* finals.c: see finals.h. */
#include "finals.h"
#include "baseline.h"
#include "edges_phase.h"
#include "finalists.h"
#include "own_shapes.h"
#include "../core/times.h"

#include <math.h>

enum { GENERIC_SHAPES = 12, FITTED_FROM = 12, FIT_EVERY = 6, NARROW_OCTAVES = 4, AGAIN_MOST = 4 };

/* A finalist is timed only if its predicted time is at most so many times the best one's. On CPUs
 * those left out have no second chance (finals_fill), but more shapes are worth more. At held-out
 * shapes a wrong prediction must show. */
static const double far_behind = 2, far_behind_on_cpu = 1.3, far_behind_held = 4;
/* A finalist that was left out is timed where later fits predict it to be within this factor of the
 * best. */
static const double near_best = 1.2;

/* The part of a precision's whole budget that one operation of the best so far may take; and the
 * part that it may take where the budget is so short, or the device so slow, that shapes would get
 * too small. */
static const double drawn_share = 5e-4, slow_share = 5e-3;

/* What is drawn: operations, extents, and elements of A, B and C together. */
static const uint64_t least_ops = 20000, slow_most_ops = 10000000, least_most_ops = 160000;
/* On CPUs the smallest shape, whose time is mostly that of a launch, is at least so many times less
 * than the largest. */
static const uint64_t cpu_range = 2048;
/* The least where native recipes serve the same calls, and are faster for few operations. */
static const uint64_t least_emulated_ops = 10000000;
static const struct draw_limits cpu_most = { .most_ops = UINT64_C(20000000000),
    .largest = 4096,
    .most_elements = UINT64_C(1) << 26 };
static const struct draw_limits gpu_most = { .most_ops = UINT64_C(500000000000),
    .largest = 8192,
    .most_elements = UINT64_C(1) << 27 };

/* Operations of the largest shapes: these take the best configuration known no longer than their
 * share of the budget. */
static double most_ops(const struct phases *phases)
{
    const double in_budget = fmax(phases->rate, phases->generic_rate) * phases->seconds;
    if (phases->most_ops > 0)
        return fmax(phases->most_ops, (double) least_most_ops);
    if (!(in_budget > 0))
        return (double) slow_most_ops;
    return fmax(fmax(in_budget * drawn_share, (double) least_most_ops),
            fmin(in_budget * slow_share, (double) slow_most_ops));
}

static struct draw_limits limits_of(const struct phases *phases)
{
    const bool is_cpu = phases->tuner->facts.value[FACT_IS_CPU];
    struct draw_limits limits = is_cpu ? cpu_most : gpu_most;
    limits.most_ops = (uint64_t) fmin((double) limits.most_ops, most_ops(phases));
    limits.least_ops = least_ops;
    if (is_cpu && limits.most_ops / cpu_range > least_ops)
        limits.least_ops = limits.most_ops / cpu_range;
    if (phases->precision->id == KILN_ID_EMULATED && limits.most_ops / 64 > least_emulated_ops)
        limits.least_ops = least_emulated_ops;
    return limits;
}

struct draw finals_draw(const struct phases *phases, const char *purpose)
{
    const struct draw_limits limits = limits_of(phases);
    struct draw draw;
    draw_begin(&draw, purpose, phases->tuner->seed, &limits);
    return draw;
}

/* ---- who is timed ---- */

/* About what one evaluation costs, as a part of the budget: several launches of each of so many
 * finalists, most of them for verification and for sure times. */
static double estimate(const struct phases *phases, struct shape s, unsigned num)
{
    const double verifying = (double) s.m * (double) s.n * (double) shape_members(s) * 1e-9;
    const double running = phases->rate > 0 ? 8 * shape_operations(s) / phases->rate : 0;
    return num * (0.02 + verifying + running) / phases->seconds;
}

/* The predicted time of a finalist; 0 when nothing is known of it. */
static uint64_t predicted(const struct times *fitted, const struct config *config, int pair,
        struct shape s)
{
    const int c = fitted->candidates ? times_find(fitted, config) : -1;
    const uint64_t time = c < 0 ? 0 : times_predict(fitted, c, pair, s);
    return time < TIMES_UNTIMED ? time : 0;
}

/* The finalists that take a shape and are predicted not to be far behind there. */
static unsigned list_takers(const struct phases *phases, const struct times *fitted,
        const struct problem *problem, struct shape s, double far,
        struct config takers[MAX_FINALISTS])
{
    const int pair = pair_of_problem(problem);
    uint64_t time[MAX_FINALISTS], best = UINT64_MAX;
    unsigned num = 0;
    for (unsigned i = 0; i < phases->num_finalists; i++) {
        if (!config_takes(&phases->finalists[i], problem, &phases->tuner->facts, s))
            continue;
        time[num] = predicted(fitted, &phases->finalists[i], pair, s);
        best = time[num] && time[num] < best ? time[num] : best;
        takers[num++] = phases->finalists[i];
    }
    unsigned kept = 0;
    for (unsigned i = 0; i < num; i++)
        if ((double) time[i] <= far * (double) best)
            takers[kept++] = takers[i];
    return kept;
}

/* ---- times ---- */

/* Verifies the recipes of generic that won somewhere: they become finalists. */
static bool check_generic(struct phases *phases)
{
    struct config generic[BASELINE_MAX];
    const size_t num = tuner_list(phases->tuner, phases->tuner->generic, phases->precision, generic,
            BASELINE_MAX);
    for (size_t i = 0; i < num && phases->num_finalists && !phases_must_stop(phases); i++)
        if (finalists_differ(phases->finalists, phases->num_finalists, &generic[i], 1) &&
                baseline_wins(phases->tuner, phases->precision, &generic[i]) &&
                verify_one(phases->tuner, phases->precision, &generic[i]))
            finalists_add(phases, &generic[i]);
    return !phases_must_stop(phases);
}

/* Times generic beside finalists that were timed at a shape; one of them may be its own recipe. */
static bool time_generic(struct phases *phases, const struct problem *problem, struct shape shape,
        unsigned num, const struct record *results)
{
    double best = 0;
    for (unsigned i = 0; i < num; i++)
        if (record_is_timed(&results[i]) && (!(best > 0) || results[i].seconds < best))
            best = results[i].seconds;
    return baseline_evaluate(phases->tuner, problem, shape, best);
}

/* Which of those that were timed at a shape is predicted to be the fastest there. */
static unsigned predicted_first(const struct times *fitted, const struct problem *problem,
        struct shape shape, const struct config *takers, unsigned num)
{
    uint64_t best = UINT64_MAX;
    unsigned first = 0;
    for (unsigned i = 0; i < num; i++) {
        const uint64_t time = predicted(fitted, &takers[i], pair_of_problem(problem), shape);
        first = time && time < best ? i : first;
        best = time && time < best ? time : best;
    }
    return first;
}

static void swap(struct config *configs, struct record *results, unsigned i, unsigned j)
{
    const struct config config = configs[i];
    const struct record result = results[i];
    configs[i] = configs[j];
    results[i] = results[j];
    configs[j] = config;
    results[j] = result;
}

/* Of many that are timed together the fastest was also lucky. So the few fastest, and the one that
 * is predicted to be, are timed again, for longer; then the second times count (core/times.c). */
static bool time_again(struct phases *phases, const struct times *fitted,
        const struct problem *problem, struct shape shape, struct config *takers, unsigned num,
        struct record *results)
{
    unsigned timed = 0;
    for (unsigned i = 0; i < num; i++)
        if (record_is_timed(&results[i]))
            swap(takers, results, timed++, i);
    if (timed < 2)
        return true;
    swap(takers, results, 0, predicted_first(fitted, problem, shape, takers, timed));
    const unsigned few = timed < AGAIN_MOST ? timed : AGAIN_MOST;
    for (unsigned i = 1; i < few; i++)
        for (unsigned j = i + 1; j < timed; j++)
            if (results[j].seconds < results[i].seconds)
                swap(takers, results, i, j);
    return tuner_evaluate(phases->tuner, RECORD_AGAIN, problem, shape, takers, few, 0, results);
}

/* Times the finalists at a shape, if there is time for it. False when the phase is over. */
static bool time_shape(struct phases *phases, enum record_kind kind, const struct times *fitted,
        struct shape shape, int pair, bool with_generic, double end)
{
    struct record results[MAX_FINALISTS];
    struct config takers[MAX_FINALISTS];
    const struct problem problem = problem_of_pair(phases->precision, pair);
    const bool is_held = kind == RECORD_HELD, is_cpu = phases->tuner->facts.value[FACT_IS_CPU];
    const double far = is_held ? far_behind_held : is_cpu ? far_behind_on_cpu : far_behind;
    const unsigned num = list_takers(phases, fitted, &problem, shape, far, takers);
    if (phases_used(phases) > end)
        return false;
    if (!num ||
            phases_used(phases) + estimate(phases, shape, num + (is_held ? AGAIN_MOST : 0)) > end)
        return true;
    return tuner_evaluate(phases->tuner, kind, &problem, shape, takers, num, 0, results) &&
           (!with_generic || (time_generic(phases, &problem, shape, num, results) &&
                                     check_generic(phases))) &&
           (!is_held || time_again(phases, fitted, &problem, shape, takers, num, results));
}

bool finals_has_fewer_beside(struct shape shape)
{
    const enum draw_kind kind = draw_kind_of(shape);
    return kind == DRAW_THIN || kind == DRAW_DEEP;
}

/* The one of 1, 2, 4 or 8 rows or columns beside a shape of the matrix. */
static struct shape narrowed(struct shape shape, unsigned number)
{
    size_t *least = shape.m < shape.n ? &shape.m : &shape.n;
    *least = (size_t) 1 << number / DRAW_NUM_CLASSES % NARROW_OCTAVES;
    return shape;
}

int finals_pair(unsigned number)
{
    const unsigned class = number % DRAW_NUM_CLASSES, round = number / DRAW_NUM_CLASSES;
    return (int) ((class + class / 2 + round + round / NUM_PAIRS) % NUM_PAIRS);
}

/* Times the finalists at the shape with the number in the stream. False when the phase is over. */
static bool time_number(struct phases *phases, enum record_kind kind, const struct times *fitted,
        const struct drawn *drawn, unsigned number, double end)
{
    const bool with_generic = kind == RECORD_MATRIX && number < GENERIC_SHAPES;
    const struct shape shape = drawn->shape;
    const int pair = kind == RECORD_MATRIX ? finals_pair(number)
                                           : (int) kiln_pair(drawn->transa, drawn->transb);
    if (!time_shape(phases, kind, fitted, shape, pair, with_generic, end))
        return false;
    return kind != RECORD_MATRIX || !finals_has_fewer_beside(shape) ||
           time_shape(phases, kind, fitted, narrowed(shape, number), pair, with_generic, end);
}

bool finals_time(struct phases *phases, enum record_kind kind, const char *purpose, unsigned num,
        double end)
{
    struct draw draw = finals_draw(phases, purpose);
    struct times fitted = { .candidates = NULL };
    bool goes_on = true;
    progress_phase(phases->tuner, "%s %s", phases->precision->name, record_kind_words[kind]);
    for (unsigned i = 0; i < num && goes_on; i++) {
        struct drawn drawn;
        if (kind == RECORD_HELD ? i == 0 : i >= FITTED_FROM && i % FIT_EVERY == 0) {
            times_free(&fitted);
            goes_on = times_open(&phases->tuner->records, phases->precision, true, &fitted);
            if (!goes_on)
                phases_out_of_memory(phases);
        }
        if (goes_on && draw_shape(&draw, &drawn))
            goes_on = time_number(phases, kind, &fitted, &drawn, i, end);
    }
    times_free(&fitted);
    return !phases_must_stop(phases);
}

/* Whether the matrix has a row of the configuration, or of any (NULL), at a shape. */
static bool has_row(const struct phases *phases, const struct problem *problem, struct shape shape,
        const struct config *config)
{
    const struct records *records = &phases->tuner->records;
    for (size_t i = 0; i < records->num; i++) {
        const struct record *r = &records->rows[i];
        if (r->kind == RECORD_MATRIX && r->used && r->precision == problem->precision &&
                r->pair == pair_of_problem(problem) && shape_equal(r->shape, shape) &&
                (!config || config_equal(&r->config, config)))
            return true;
    }
    return false;
}

/* Times the finalists that are missing at a shape. False when the phase is over. */
static bool fill_shape(struct phases *phases, const struct times *fitted, struct shape shape,
        int pair, double end)
{
    struct record results[MAX_FINALISTS];
    struct config takers[MAX_FINALISTS];
    const struct problem problem = problem_of_pair(phases->precision, pair);
    unsigned num = 0;
    if (!has_row(phases, &problem, shape, NULL))
        return true;
    const unsigned num_near = list_takers(phases, fitted, &problem, shape, near_best, takers);
    for (unsigned i = 0; i < num_near; i++)
        if (!has_row(phases, &problem, shape, &takers[i]))
            takers[num++] = takers[i];
    if (phases_used(phases) > end)
        return false;
    return !num || phases_used(phases) + estimate(phases, shape, num) > end ||
           tuner_evaluate(phases->tuner, RECORD_MATRIX, &problem, shape, takers, num, 0, results);
}

bool finals_fill(struct phases *phases, const char *purpose, unsigned num, double end)
{
    struct draw draw = finals_draw(phases, purpose);
    struct times fitted;
    if (phases->tuner->facts.value[FACT_IS_CPU])
        return true;
    bool goes_on = times_open(&phases->tuner->records, phases->precision, true, &fitted);
    if (!goes_on)
        phases_out_of_memory(phases);
    progress_phase(phases->tuner, "%s fill", phases->precision->name);
    for (unsigned i = 0; i < num && goes_on; i++) {
        struct drawn drawn;
        if (!draw_shape(&draw, &drawn))
            continue;
        const struct shape shape = drawn.shape;
        const int pair = finals_pair(i);
        goes_on = fill_shape(phases, &fitted, shape, pair, end) &&
                  fill_shape(phases, &fitted, narrowed(shape, i), pair, end);
    }
    times_free(&fitted);
    return !phases_must_stop(phases);
}

bool finals_time_own(struct phases *phases, double end)
{
    const struct times nothing = { .candidates = NULL };
    for (size_t i = 0; i < phases->tuner->num_own; i++)
        for (int pair = 0; pair < NUM_PAIRS; pair++) {
            const struct own_shape *own = &phases->tuner->own[i];
            if (!own_shape_is_for(own, phases->precision) || (own->pair >= 0 && own->pair != pair))
                continue;
            progress_phase(phases->tuner, "%s %s", phases->precision->name,
                    record_kind_words[RECORD_OWN]);
            if (!time_shape(phases, RECORD_OWN, &nothing, own->shape, pair, true, end))
                return !phases_must_stop(phases);
        }
    return true;
}
