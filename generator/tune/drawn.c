/* drawn.c: see drawn.h. */
#include "drawn.h"
#include "baseline.h"
#include "edges_phase.h"
#include "finalists.h"
#include "own.h"
#include "../core/times.h"

#include <math.h>

enum { GENERIC_SHAPES = 12, FITTED_FROM = 12, FIT_EVERY = 6, NARROW_OCTAVES = 4, AGAIN_MOST = 4 };

/* By this factor a finalist's predicted time may be behind the best one's; others are not timed. At
 * shapes that are held back a false prediction must show. */
static const double far_behind = 2, far_behind_held = 4;
/* And who was left out is timed where later fits predict it to be within this of the best. */
static const double near_best = 1.2;

/* Of a precision's whole budget, what one operation of the best so far may take; and what it may
 * where the budget is so short, or the device so slow, that shapes would get too small. */
static const double drawn_share = 5e-4, slow_share = 5e-3;

/* What is drawn: operations, extents, and elements of A, B and C together. */
static const uint64_t least_ops = 20000, slow_most_ops = 10000000, least_most_ops = 160000;
static const struct draw_limits cpu_most = { .most_ops = UINT64_C(20000000000), .largest = 4096,
        .most_elements = UINT64_C(1) << 26 };
static const struct draw_limits gpu_most = { .most_ops = UINT64_C(500000000000), .largest = 8192,
        .most_elements = UINT64_C(1) << 27 };

/* Operations of the largest shapes: these take the best configuration known no longer than their
 * share of the budget. */
static double most_ops(const struct plan *plan)
{
    const double in_budget = fmax(plan->rate, plan->generic_rate) * plan->seconds;
    if (plan->most_ops > 0)
        return fmax(plan->most_ops, (double) least_most_ops);
    if (!(in_budget > 0))
        return (double) slow_most_ops;
    return fmax(fmax(in_budget * drawn_share, (double) least_most_ops),
            fmin(in_budget * slow_share, (double) slow_most_ops));
}

static struct draw_limits limits_of(const struct plan *plan)
{
    struct draw_limits limits = plan->tuner->facts.value[FACT_IS_CPU] ? cpu_most : gpu_most;
    limits.least_ops = least_ops;
    limits.most_ops = (uint64_t) fmin((double) limits.most_ops, most_ops(plan));
    return limits;
}

struct draw drawn_begin(const struct plan *plan, const char *purpose)
{
    const struct draw_limits limits = limits_of(plan);
    struct draw draw;
    draw_begin(&draw, purpose, plan->tuner->seed, &limits);
    return draw;
}

/* ---- who is timed ---- */

/* About what one evaluation costs, in parts of the budget: launches of each of so many finalists,
 * most of them to verify and to be sure. */
static double estimate(const struct plan *plan, struct shape s, unsigned num)
{
    const double verifying = (double) s.m * (double) s.n * 1e-9;
    return num * (0.02 + verifying + (plan->rate > 0 ? 8 * shape_operations(s) / plan->rate : 0)) /
           plan->seconds;
}

/* The predicted time of a finalist; 0 when nothing is known of it. */
static uint64_t predicted(const struct times *fitted, const struct config *config, int pair,
        struct shape s)
{
    const int c = fitted->candidates ? times_find(fitted, config) : -1;
    const uint64_t time = c < 0 ? 0 : times_predict(fitted, c, pair, s.m, s.n, s.k);
    return time < TIMES_UNTIMED ? time : 0;
}

/* The finalists that take a shape and are not far behind there, as far as that can be foretold. */
static unsigned list_takers(const struct plan *plan, const struct times *fitted,
        const struct problem *problem, struct shape s, double far,
        struct config takers[MAX_FINALISTS])
{
    const int pair = pair_of_problem(problem);
    uint64_t time[MAX_FINALISTS], best = UINT64_MAX;
    unsigned num = 0;
    for (unsigned i = 0; i < plan->num_finalists; i++) {
        if (!config_takes(&plan->finalists[i], problem, &plan->tuner->facts, s.m, s.n, s.k))
            continue;
        time[num] = predicted(fitted, &plan->finalists[i], pair, s);
        best = time[num] && time[num] < best ? time[num] : best;
        takers[num++] = plan->finalists[i];
    }
    unsigned kept = 0;
    for (unsigned i = 0; i < num; i++)
        if ((double) time[i] <= far * (double) best)
            takers[kept++] = takers[i];
    return kept;
}

/* ---- times ---- */

/* Verifies the recipes of generic that won somewhere: they become finalists. */
static bool check_generic(struct plan *plan)
{
    struct config generic[BASELINE_MAX];
    const size_t num = plan->tuner->generic
            ? plan->tuner->generic(plan->precision, generic, BASELINE_MAX) : 0;
    for (size_t i = 0; i < num && plan->num_finalists && !plan_must_stop(plan); i++)
        if (finalists_differ(plan->finalists, plan->num_finalists, &generic[i], 1) &&
            baseline_wins(plan->tuner, plan->precision, &generic[i]) &&
            verify_one(plan->tuner, plan->precision, &generic[i]))
            finalists_add(plan, &generic[i]);
    return !plan_must_stop(plan);
}

/* Times generic beside finalists that were timed at a shape; one of them may be its own recipe. */
static bool time_generic(struct plan *plan, const struct problem *problem, struct shape shape,
        unsigned num, const struct record *results)
{
    double best = 0;
    for (unsigned i = 0; i < num; i++)
        if (record_is_timed(&results[i]) && (!(best > 0) || results[i].seconds < best))
            best = results[i].seconds;
    return baseline_evaluate(plan->tuner, problem, shape, best);
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

/* Of many that are timed together the fastest was lucky. So the few fastest, and the one that is
 * predicted to be, are timed again, for longer; then the second times count (core/times.c). */
static bool time_again(struct plan *plan, const struct times *fitted,
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
    return tuner_evaluate(plan->tuner, RECORD_AGAIN, problem, shape, takers, few, 0, results);
}

/* Times the finalists at a shape, if there is time for it. False when the phase is over. */
static bool time_shape(struct plan *plan, enum record_kind kind, const struct times *fitted,
        struct shape shape, int pair, bool with_generic, double end)
{
    struct record results[MAX_FINALISTS];
    struct config takers[MAX_FINALISTS];
    const struct problem problem = problem_of_pair(plan->precision, pair);
    const bool is_held = kind == RECORD_HELD;
    const unsigned num = list_takers(plan, fitted, &problem, shape,
            is_held ? far_behind_held : far_behind, takers);
    if (plan_used(plan) > end)
        return false;
    if (!num || plan_used(plan) + estimate(plan, shape, num + (is_held ? AGAIN_MOST : 0)) > end)
        return true;
    return tuner_evaluate(plan->tuner, kind, &problem, shape, takers, num, 0, results) &&
           (!with_generic || (time_generic(plan, &problem, shape, num, results) &&
                              check_generic(plan))) &&
           (!is_held || time_again(plan, fitted, &problem, shape, takers, num, results));
}

/* Beside each thin shape of the matrix one of 1, 2, 4 or 8 rows or columns: there are kernels for
 * these alone, which drawn shapes seldom meet. */
static struct shape narrowed(struct shape shape, unsigned number)
{
    size_t *least = shape.m < shape.n ? &shape.m : &shape.n;
    *least = (size_t) 1 << number / DRAW_NUM_CLASSES % NARROW_OCTAVES;
    return shape;
}

/* Times the finalists at the shape with the number in the stream. False when the phase is over. */
static bool time_number(struct plan *plan, enum record_kind kind, const struct times *fitted,
        const struct drawn *drawn, unsigned number, double end)
{
    const bool with_generic = kind == RECORD_MATRIX && number < GENERIC_SHAPES;
    const struct shape shape = { drawn->m, drawn->n, drawn->k };
    const int pair = 2 * drawn->transa + drawn->transb;
    if (!time_shape(plan, kind, fitted, shape, pair, with_generic, end))
        return false;
    return kind != RECORD_MATRIX || draw_kind_of(shape.m, shape.n, shape.k) != DRAW_THIN ||
           time_shape(plan, kind, fitted, narrowed(shape, number), pair, with_generic, end);
}

bool drawn_time(struct plan *plan, enum record_kind kind, const char *purpose, unsigned num,
        double end)
{
    struct draw draw = drawn_begin(plan, purpose);
    struct times fitted = { .candidates = NULL };
    bool goes_on = true;
    progress_phase(plan->tuner, "%s %s", plan->precision->name, record_kind_words[kind]);
    for (unsigned i = 0; i < num && goes_on; i++) {
        struct drawn drawn;
        if (kind == RECORD_HELD ? i == 0 : i >= FITTED_FROM && i % FIT_EVERY == 0) {
            times_free(&fitted);
            goes_on = times_open(&plan->tuner->records, plan->precision, true, &fitted);
            if (!goes_on)
                plan_out_of_memory(plan);
        }
        if (goes_on && draw_shape(&draw, &drawn))
            goes_on = time_number(plan, kind, &fitted, &drawn, i, end);
    }
    times_free(&fitted);
    return !plan_must_stop(plan);
}

/* Whether the matrix has a row of the configuration, or of any (NULL), at a shape. */
static bool has_row(const struct plan *plan, const struct problem *problem, struct shape shape,
        const struct config *config)
{
    const struct records *records = &plan->tuner->records;
    for (size_t i = 0; i < records->num; i++) {
        const struct record *r = &records->rows[i];
        if (r->kind == RECORD_MATRIX && r->used && r->precision == problem->precision &&
            r->pair == pair_of_problem(problem) && r->m == shape.m && r->n == shape.n &&
            r->k == shape.k && (!config || config_equal(&r->config, config)))
            return true;
    }
    return false;
}

/* Times who is missing at a shape. False when the phase is over. */
static bool fill_shape(struct plan *plan, const struct times *fitted, struct shape shape, int pair,
        double end)
{
    struct record results[MAX_FINALISTS];
    struct config takers[MAX_FINALISTS];
    const struct problem problem = problem_of_pair(plan->precision, pair);
    unsigned num = 0;
    if (!has_row(plan, &problem, shape, NULL))
        return true;
    const unsigned num_near = list_takers(plan, fitted, &problem, shape, near_best, takers);
    for (unsigned i = 0; i < num_near; i++)
        if (!has_row(plan, &problem, shape, &takers[i]))
            takers[num++] = takers[i];
    if (plan_used(plan) > end)
        return false;
    return !num || plan_used(plan) + estimate(plan, shape, num) > end ||
           tuner_evaluate(plan->tuner, RECORD_MATRIX, &problem, shape, takers, num, 0, results);
}

bool drawn_fill(struct plan *plan, const char *purpose, unsigned num, double end)
{
    struct draw draw = drawn_begin(plan, purpose);
    struct times fitted;
    if (plan->tuner->facts.value[FACT_IS_CPU])
        return true;
    bool goes_on = times_open(&plan->tuner->records, plan->precision, true, &fitted);
    if (!goes_on)
        plan_out_of_memory(plan);
    progress_phase(plan->tuner, "%s fill", plan->precision->name);
    for (unsigned i = 0; i < num && goes_on; i++) {
        struct drawn drawn;
        if (!draw_shape(&draw, &drawn))
            continue;
        const struct shape shape = { drawn.m, drawn.n, drawn.k };
        const int pair = 2 * drawn.transa + drawn.transb;
        goes_on = fill_shape(plan, &fitted, shape, pair, end) &&
                  fill_shape(plan, &fitted, narrowed(shape, i), pair, end);
    }
    times_free(&fitted);
    return !plan_must_stop(plan);
}

bool drawn_time_own(struct plan *plan, double end)
{
    const struct times nothing = { .candidates = NULL };
    for (size_t i = 0; i < plan->tuner->num_own; i++)
        for (int pair = 0; pair < NUM_PAIRS; pair++) {
            const struct own_shape *own = &plan->tuner->own[i];
            if (!own_is_for(own, plan->precision) || (own->pair >= 0 && own->pair != pair))
                continue;
            progress_phase(plan->tuner, "%s %s", plan->precision->name,
                    record_kind_words[RECORD_OWN]);
            if (!time_shape(plan, RECORD_OWN, &nothing, own->shape, pair, true, end))
                return !plan_must_stop(plan);
        }
    return true;
}
