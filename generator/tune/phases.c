/* phases.c: how the budget of one precision is spent: breadth first.
 *
 *   speed    see how fast the generic bundle is, so that shapes fit the device
 *   first    time what is known already, of relatives and presets, at a shape of each class (on
 *            CPUs what was verified before, for NN); the few that are best together are verified:
 *            from here on every class is served
 *   search   look for the best configuration at shapes of each class
 *   look     evaluate the best of that again, at all of these shapes, where the strategy wants that
 *   edges    verify the finalists on every edge class, for each transpose pair
 *   own      time the finalists at the application's own shapes
 *   matrix   time them against each other, interleaved, at drawn shapes, and generic beside them; a
 *            generic recipe that wins is verified and becomes a finalist
 *   fill     at these shapes, finalists that were left out there and may be the best after all
 *   held     the same at shapes that are used for nothing but to tell what choosing costs; the few
 *            that matter there once more, for longer
 *
 * Shapes are drawn from one distribution (core/draw.h), in a stream for each phase. A shard of a
 * search does that alone; a run over the merged journal of all shards does all the rest. Each phase
 * ends at its share of the budget. Nothing here looks at a clock: only at tuner->spent.
 */
#include "phase.h"
#include "baseline.h"
#include "edges_phase.h"
#include "finalists.h"
#include "finals.h"
#include "first_phase.h"
#include "search_phase.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    FIRST_SHAPES = 6 * DRAW_NUM_CLASSES,
    FIRST_BESIDE = 3,
    MATRIX_SHAPES = 400,
    HELD_SHAPES = 60
};
_Static_assert((int) (FIRST_SHAPES *FIRST_BESIDE) <= (int) FIRST_MOST_SHAPES, "room for all");

/* The ends of the phases, as parts of a precision's budget; the re-evaluation takes the last of the
 * search's. Presets and what relatives found leave a search little to find, and many finalists want
 * many shapes: more is left for what comes after the search, unless the application has shapes of
 * its own that no relative knows. Shards and what is merged of them keep to the long search. */
static const struct ends {
    double verified;                   /* on CPUs, before they are timed */
    double first, round;               /* round: where shapes are each the first of a class */
    double starters;                   /* how much comes behind that for their edges */
} cpu_ends = { 0.12, 0.17, 0.17, 0.03 }, gpu_ends = { 0, 0.22, 0.35, 0.04 };
static const double long_search_end = 0.50, short_search_end = 0.28, long_edges_end = 0.70,
                    short_edges_end = 0.55, drawn_end = 0.89, matrix_end = 0.92;

/* The search is short where relatives have so many configurations, or the application has no shapes
 * of its own. */
enum { MANY_KIN = 6 };

/* More than any budget, seconds. */
static const double endless = 1e9;

/* A usual clock, cycles per second; and how long one product of the largest shape that a shard
 * searches at takes, seconds. */
static const double usual_clock = 2e9, shard_call_seconds = 0.02;

/* Of the time of one search, the part that one product by generic may take. */
static const double call_share = 1.0 / 12;

double phases_share(const struct tuner *tuner)
{
    const struct journal_head *head = &tuner->records.head;
    if (head->shard.num)
        return long_search_end / head->shard.num;
    return head->merged ? 1 - long_search_end : 1;
}

/* Operations of the largest shape of a shard. All shards must search at the same shapes, so this
 * depends neither on what a shard measures nor on what is left of its time, but on a usual speed of
 * such a device; nor on the clock, as some drivers report the present one. */
static double shard_ops(const struct device_facts *facts)
{
    const double units = (double) facts->value[FACT_UNITS];
    const double lanes = (double) facts->value[FACT_VECTOR_BYTES] / 4;
    return shard_call_seconds * units * usual_clock *
           (facts->value[FACT_IS_CPU] ? fmax(lanes, 1) : 64);
}

/* The phases of a precision that has `seconds` left of its whole budget. What a shard, or the
 * shards, spend elsewhere counts as spent here, so that phases end at the same shares. */
static struct phases phases_of(struct tuner *tuner, const struct precision *precision,
        double seconds)
{
    const struct journal_head *head = &tuner->records.head;
    struct phases phases = { .tuner = tuner,
        .precision = precision,
        .start = tuner->spent,
        .seconds = seconds,
        .search_end = long_search_end,
        .edges_end = long_edges_end };
    if (head->shard.num) {
        phases.seconds = seconds / long_search_end;
        phases.most_ops = shard_ops(&tuner->facts);
    } else if (head->merged) {
        phases.seconds = seconds / (1 - long_search_end);
        phases.start -= long_search_end * phases.seconds;
    }
    return phases;
}

/* Whether no other run searches for this one. The searches of shards began at what is known. */
static bool is_whole(const struct tuner *tuner)
{
    return !tuner->records.head.shard.num && !tuner->records.head.merged;
}

static bool is_cpu(const struct phases *phases)
{
    return phases->tuner->facts.value[FACT_IS_CPU];
}

static const struct ends *ends_of(const struct phases *phases)
{
    return is_cpu(phases) ? &cpu_ends : &gpu_ends;
}

/* How fast generic is, on problems that take it no longer than call_share of the search of one
 * class. */
static void find_speed(struct phases *phases)
{
    const double seconds = call_share * long_search_end * phases->seconds / DRAW_NUM_CLASSES;
    if (!is_whole(phases->tuner))
        return;
    progress_phase(phases->tuner, "%s speed", phases->precision->name);
    phases_limit(phases, ends_of(phases)->first, true);
    phases->generic_rate = baseline_rate(phases->tuner, phases->precision, seconds, HUGE_VAL);
}

/* Is the search short? */
static bool is_short(const struct phases *phases, unsigned num_kin)
{
    return num_kin >= MANY_KIN || !phases->tuner->num_own;
}

/* Lists a drawn shape. Beside a thin or deep one, but not on CPUs, also products of a vector with
 * the same matrix and with its transpose. Returns how many. */
static unsigned first_shapes(const struct phases *phases, struct shape drawn,
        struct shape shapes[FIRST_BESIDE])
{
    unsigned num = 0;
    shapes[num++] = drawn;
    if (is_cpu(phases) || !finals_has_fewer_beside(drawn))
        return num;
    const size_t long_side = drawn.m > drawn.n ? drawn.m : drawn.n;
    shapes[num++] = (struct shape){ 1, long_side, drawn.k };
    shapes[num++] = (struct shape){ long_side, 1, drawn.k };
    return num;
}

/* Times what is known at a shape, or notes that there was no time. False when the run must stop. */
static bool time_first_at(struct phases *phases, const struct problem *problem, struct shape shape,
        double end, struct first *first)
{
    double seconds = 0;
    if (phases_used(phases) < end)
        seconds = first_time(phases->tuner, problem, shape, first);
    if (seconds > 0)
        phases->rate = fmax(phases->rate, shape_operations(shape) / seconds);
    else if (phases_used(phases) >= end)
        first->untimed[first->num_untimed++] = shape;
    return !phases_must_stop(phases);
}

/* On CPUs compiling takes longer than timing, and processes compile side by side. So what is known
 * is first verified for NN, in its order, as far as there is time; the rest is left out. */
static void verify_known(struct phases *phases, struct first *first)
{
    struct config verified[FIRST_MOST];
    memcpy(verified, first->configs, sizeof verified);
    phases_limit(phases, 1, false);
    const unsigned num = verify_pairs(phases->tuner, phases->precision, 1, verified, first->num,
            phases->start + ends_of(phases)->verified * phases->seconds);
    for (unsigned i = 0; i < first->num; i++)
        first->is_left_out[i] = finalists_differ(verified, num, &first->configs[i], 1);
}

/* The best of what is known: finalists, of which the first few are verified. */
static bool verify_starters(struct phases *phases, struct first *first)
{
    first_sort(phases->tuner, phases->precision, first);
    progress_phase(phases->tuner, "%s edges", phases->precision->name);
    phases_limit(phases, 1, false);
    for (unsigned i = 0; i < first->num_good && phases->num_known < MAX_FINALISTS; i++) {
        phases->is_kin[phases->num_known] = first->is_kin[i];
        phases->known[phases->num_known++] = first->configs[i];
        finalists_add(phases, &first->configs[i]);
    }
    const double end = fmax(phases_used(phases), ends_of(phases)->first) +
                       ends_of(phases)->starters;
    verify_all(phases->tuner, phases->precision, first->configs,
            first->num_good < STARTERS ? first->num_good : STARTERS,
            phases->start + end * phases->seconds);
    return !phases_must_stop(phases);
}

/* Times what is known and verifies the best of it; the others remain candidates. Where kernels
 * compile fast, a shape of each class is transposed, A and B both, so that each operand is read
 * both ways. */
static bool time_first(struct phases *phases)
{
    struct first first = { .num = 0 };
    first_list(phases->tuner, phases->precision, &first);
    if (is_short(phases, first.num_kin)) {
        phases->search_end = short_search_end;
        phases->edges_end = short_edges_end;
    }
    progress_phase(phases->tuner, "%s first", phases->precision->name);
    if (is_cpu(phases))
        verify_known(phases, &first);
    phases_limit_beyond(phases, ends_of(phases)->round, true);
    const struct problem problems[2] = { problem_of_pair(phases->precision, 0),
        problem_of_pair(phases->precision, NUM_PAIRS - 1) };
    bool takes_turns = false, has_shape = false;
    if (!is_cpu(phases))
        tuner_warm(phases->tuner, &problems[0], first.configs, first.num);
    struct draw draw = finals_draw(phases, "first");
    for (unsigned i = 0; i < FIRST_SHAPES; i++) {
        struct shape shapes[FIRST_BESIDE];
        struct drawn drawn;
        if (!draw_shape(&draw, &drawn))
            continue;
        if (i == DRAW_NUM_CLASSES && !is_cpu(phases) &&
                phases_used(phases) < ends_of(phases)->first / 2) {
            takes_turns = true;
            tuner_warm(phases->tuner, &problems[1], first.configs, first.num);
        }
        const struct problem *problem = &problems[takes_turns && i / DRAW_NUM_CLASSES % 2];
        const unsigned num = first_shapes(phases, drawn.shape, shapes);
        const double end = !has_shape           ? HUGE_VAL
                         : i < DRAW_NUM_CLASSES ? ends_of(phases)->round
                                                : ends_of(phases)->first;
        for (unsigned j = 0; j < num; j++)
            if (!time_first_at(phases, problem, shapes[j], end, &first))
                return false;
        has_shape = true;
    }
    return verify_starters(phases, &first);
}

/* Drops the finalists that fail an edge class, or for which there is no time. */
static bool check_edges(struct phases *phases)
{
    progress_phase(phases->tuner, "%s edges", phases->precision->name);
    phases_limit(phases, 1, false);
    phases->num_finalists = verify_all(phases->tuner, phases->precision, phases->finalists,
            phases->num_finalists, phases->start + phases->seconds * phases->edges_end);
    return !phases_must_stop(phases);
}

/* ---- all of them ---- */

bool phases_finish(struct tuner *tuner, const struct precision *precision)
{
    struct phases phases = phases_of(tuner, precision, endless);
    for (size_t i = 0; i < tuner->records.num && !phases.num_finalists; i++) {
        const struct record *r = &tuner->records.rows[i];
        const struct task task = { r->shape, r->pair, 1 };
        if ((r->kind == RECORD_SEARCH || r->kind == RECORD_FIRST) && r->precision == precision)
            finalists_add_best(&phases, &task, 0, 1);
    }
    return check_edges(&phases);
}

static bool run_all(struct tuner *tuner, const struct precision *precision, double seconds)
{
    struct phases phases = phases_of(tuner, precision, seconds);
    find_speed(&phases);
    if (phases_must_stop(&phases) || (is_whole(tuner) && !time_first(&phases)))
        return !phases_must_stop(&phases);
    search_all(&phases);
    if (phases_must_stop(&phases) || phases_is_part(tuner))
        return !phases_must_stop(&phases);
    return check_edges(&phases) && finals_time_own(&phases, matrix_end) &&
           finals_time(&phases, RECORD_MATRIX, "tune", MATRIX_SHAPES, drawn_end) &&
           finals_fill(&phases, "tune", MATRIX_SHAPES, matrix_end) &&
           finals_time(&phases, RECORD_HELD, "held", HELD_SHAPES, 1);
}

bool phases_run(struct tuner *tuner, const struct precision *precision, double seconds)
{
    tuner->is_done[precision - precisions] = run_all(tuner, precision, seconds);
    return tuner->is_done[precision - precisions];
}
