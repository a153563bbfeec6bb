/* plan.c: how the budget of one precision is spent: breadth first.
 *
 *   speed    see how fast the generic bundle is, so that shapes fit the device
 *   first    time what is known already, of relatives and presets, at a shape of each class; the
 *            few that are best together are verified: from here on every class is served
 *   search   look for the best configuration at shapes of each class
 *   look     evaluate the best of that again, at all of these shapes, where the strategy asks for it
 *   edges    verify the finalists on every edge class, for each transpose pair
 *   own      time the finalists at the application's own shapes
 *   matrix   time them against each other, interleaved, at drawn shapes, and generic beside them;
 *            a recipe of its that wins is verified and becomes a finalist
 *   fill     at these shapes, finalists that were left out there and may be the best after all
 *   held     the same at shapes that are used for nothing but to tell what choosing costs; the few
 *            that matter there once more, for longer
 *
 * Shapes are drawn from one distribution (core/draw.h), in a stream for each phase. A shard of a
 * search does that alone; a run over the merged journal of all shards does all the rest. Each phase
 * ends at its share of the budget. Nothing here looks at a clock: only at tuner->spent.
 */
#include "phases.h"
#include "baseline.h"
#include "drawn.h"
#include "edges_phase.h"
#include "finalists.h"
#include "first.h"
#include "search_phase.h"

#include <math.h>
#include <stdio.h>

enum { FIRST_SHAPES = 3 * DRAW_NUM_CLASSES, MATRIX_SHAPES = 400, HELD_SHAPES = 60 };

/* The ends of the phases, as parts of a precision's budget; the re-evaluation takes the last of the
 * search's. Where relatives have searched already, more is left for what comes after it; and on
 * what is no CPU, where presets and their siblings leave a search little to find and many finalists
 * want many shapes, unless the application has shapes of its own. Shards and what is merged of them
 * keep to the long search. */
static const double first_end = 0.12, starters_end = 0.18, search_end = 0.50,
        short_search_end = 0.28, edges_end = 0.70, short_edges_end = 0.55, drawn_end = 0.89,
        matrix_end = 0.92;

/* From so many configurations of relatives on. */
enum { MANY_KIN = 6 };

/* How far the last evaluation of one search may go beyond its end. As long as nothing is verified,
 * edges may take all that is left. */
static const double grace = 0.1;

/* More than any budget, seconds. */
static const double endless = 1e9;

/* Cycles per second; seconds of one operation at the largest shape that a shard searches at. */
static const double usual_clock = 2e9, shard_operation = 0.02;

/* Of the time for one search, what one operation of generic may take. */
static const double operation_share = 1.0 / 12;

double plan_share(const struct tuner *tuner)
{
    const struct journal_head *head = &tuner->records.head;
    if (head->shard.num)
        return search_end / head->shard.num;
    return head->merged ? 1 - search_end : 1;
}

/* Operations of the largest shape of a shard, which must search at the shapes of all others: it
 * cannot go by what it measures, nor by what is left of its time, but by a usual speed of such a
 * device. Nor by the clock, of which drivers may report the present one. */
static double shard_ops(const struct device_facts *facts)
{
    const double units = (double) facts->value[FACT_UNITS];
    const double lanes = (double) facts->value[FACT_VECTOR_BYTES] / 4;
    return shard_operation * units * usual_clock *
           (facts->value[FACT_IS_CPU] ? fmax(lanes, 1) : 64);
}

/* The plan of a precision that has `seconds` left of its whole budget. What a shard, or the shards,
 * spend elsewhere counts as spent here, so that phases end at the same shares. */
static struct plan plan_of(struct tuner *tuner, const struct precision *precision, double seconds)
{
    const struct journal_head *head = &tuner->records.head;
    struct plan plan = { .tuner = tuner, .precision = precision, .start = tuner->spent,
            .seconds = seconds, .search_end = search_end };
    if (head->shard.num) {
        plan.seconds = seconds / search_end;
        plan.most_ops = shard_ops(&tuner->facts);
    } else if (head->merged) {
        plan.seconds = seconds / (1 - search_end);
        plan.start -= search_end * plan.seconds;
    }
    return plan;
}

double plan_used(const struct plan *plan)
{
    return (plan->tuner->spent - plan->start) / plan->seconds;
}

void plan_out_of_memory(struct plan *plan)
{
    plan->tuner->failed = true;
    snprintf(plan->tuner->error, sizeof plan->tuner->error, "out of memory");
}

bool plan_must_stop(const struct plan *plan)
{
    return plan->tuner->failed || *plan->tuner->stop;
}

void plan_limit(struct plan *plan, double part, bool is_first)
{
    plan->tuner->limit = is_first && !plan->tuner->is_strict
            ? HUGE_VAL : fmin(plan->start + part * plan->seconds, plan->tuner->budget);
}

void plan_limit_beyond(struct plan *plan, double end, bool is_first)
{
    plan_limit(plan, end + grace, is_first);
}

bool plan_is_part(const struct tuner *tuner)
{
    return tuner->records.head.shard.num;
}

double shape_operations(struct shape s)
{
    return 2 * (double) s.m * (double) s.n * (double) s.k;
}

/* ---- phases ---- */

/* Whether no other run has searched, or will search, for this one. The searches of shards began at
 * what is known. */
static bool is_whole(const struct tuner *tuner)
{
    return !tuner->records.head.shard.num && !tuner->records.head.merged;
}

/* How fast generic is, on problems that take it no longer than a part of the first search. */
static void find_speed(struct plan *plan)
{
    const double seconds = operation_share * search_end * plan->seconds / 6;
    if (!is_whole(plan->tuner))
        return;
    progress_phase(plan->tuner, "%s speed", plan->precision->name);
    plan_limit(plan, first_end, true);
    plan->generic_rate = baseline_rate(plan->tuner, plan->precision, seconds, HUGE_VAL);
}

/* Is the search short? */
static bool is_short(const struct plan *plan, unsigned num_kin)
{
    return num_kin >= MANY_KIN ||
           (!plan->tuner->facts.value[FACT_IS_CPU] && !plan->tuner->num_own);
}

/* The verified ones of what is known; the others remain candidates. Where kernels compile fast, a
 * shape of each class is transposed, A and B both, so that each operand is read both ways. */
static bool time_first(struct plan *plan)
{
    struct first first = { .num = 0 };
    first_list(plan->tuner, plan->precision, &first);
    plan->search_end = is_short(plan, first.num_kin) ? short_search_end : search_end;
    progress_phase(plan->tuner, "%s first", plan->precision->name);
    plan_limit_beyond(plan, first_end, true);
    const struct problem problems[2] = { problem_of_pair(plan->precision, 0),
            problem_of_pair(plan->precision, NUM_PAIRS - 1) };
    bool takes_turns = false;
    tuner_warm(plan->tuner, &problems[0], first.configs, first.num);
    struct draw draw = drawn_begin(plan, "first");
    for (unsigned i = 0; i < FIRST_SHAPES && plan_used(plan) < first_end; i++) {
        struct drawn drawn;
        if (i == DRAW_NUM_CLASSES && !plan->tuner->facts.value[FACT_IS_CPU] &&
            plan_used(plan) < first_end / 2) {
            takes_turns = true;
            tuner_warm(plan->tuner, &problems[1], first.configs, first.num);
        }
        const bool is_drawn = draw_shape(&draw, &drawn);
        const struct shape shape = { drawn.m, drawn.n, drawn.k };
        const struct problem *problem = &problems[takes_turns && i / DRAW_NUM_CLASSES % 2];
        const double seconds = is_drawn ? first_time(plan->tuner, problem, shape, &first) : 0;
        if (plan_must_stop(plan))
            return false;
        if (seconds > 0)
            plan->rate = fmax(plan->rate, shape_operations(shape) / seconds);
    }
    first_sort(plan->tuner, plan->precision, &first);
    progress_phase(plan->tuner, "%s edges", plan->precision->name);
    plan_limit(plan, 1, false);
    for (unsigned i = 0; i < first.num_good && plan->num_known < MAX_FINALISTS; i++) {
        plan->known[plan->num_known++] = first.configs[i];
        finalists_add(plan, &first.configs[i]);
    }
    verify_all(plan->tuner, plan->precision, first.configs,
            first.num_good < STARTERS ? first.num_good : STARTERS,
            plan->start + starters_end * plan->seconds);
    return !plan_must_stop(plan);
}

/* Drops the finalists that fail an edge class, or for which there is no time. */
static bool check_edges(struct plan *plan)
{
    progress_phase(plan->tuner, "%s edges", plan->precision->name);
    plan_limit(plan, 1, false);
    plan->num_finalists = verify_all(plan->tuner, plan->precision, plan->finalists,
            plan->num_finalists, plan->start + plan->seconds *
                    (plan->search_end < search_end ? short_edges_end : edges_end));
    return !plan_must_stop(plan);
}

/* ---- the plan ---- */

bool plan_finish(struct tuner *tuner, const struct precision *precision)
{
    struct plan plan = plan_of(tuner, precision, endless);
    for (size_t i = 0; i < tuner->records.num && !plan.num_finalists; i++) {
        const struct record *r = &tuner->records.rows[i];
        const struct task task = { { r->m, r->n, r->k }, r->pair, 1 };
        if ((r->kind == RECORD_SEARCH || r->kind == RECORD_FIRST) && r->precision == precision)
            finalists_add_best(&plan, &task, 0, 1);
    }
    return check_edges(&plan);
}

bool plan_precision(struct tuner *tuner, const struct precision *precision, double seconds)
{
    struct plan plan = plan_of(tuner, precision, seconds);
    find_speed(&plan);
    if (plan_must_stop(&plan) || (is_whole(tuner) && !time_first(&plan)))
        return !plan_must_stop(&plan);
    search_all(&plan);
    if (plan_must_stop(&plan) || plan_is_part(tuner))
        return !plan_must_stop(&plan);
    return check_edges(&plan) && drawn_time_own(&plan, matrix_end) &&
           drawn_time(&plan, RECORD_MATRIX, "tune", MATRIX_SHAPES, drawn_end) &&
           drawn_fill(&plan, "tune", MATRIX_SHAPES, matrix_end) &&
           drawn_time(&plan, RECORD_HELD, "held", HELD_SHAPES, 1);
}
