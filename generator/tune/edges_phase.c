/* edges_phase.c: see edges_phase.h. */
#include "edges_phase.h"
#include "baseline.h"

#include <math.h>
#include <string.h>

/* Verified at once, each for all transpose pairs. */
enum { MOST_TOGETHER = 8 };

/* One pair after the other, and none after one that fails. */
static bool passes_in_turn(struct tuner *tuner, const struct precision *precision,
        const struct config *config)
{
    for (int pair = 0; pair < NUM_PAIRS; pair++) {
        const struct problem problem = problem_of_pair(precision, pair);
        struct record result;
        if (!tuner_evaluate(tuner, RECORD_EDGES, &problem, (struct shape){ 0, 0, 0 }, config, 1, 0,
                    &result) ||
                strcmp(result.outcome, "ok"))
            return false;
    }
    return true;
}

/* Evaluates a few configurations at once, all pairs of each. */
static void evaluate_together(struct tuner *tuner, const struct precision *precision,
        const struct config *configs, unsigned num, bool passes[MOST_TOGETHER])
{
    struct evaluation evaluations[MOST_TOGETHER * NUM_PAIRS] = { 0 };
    struct record results[MOST_TOGETHER * NUM_PAIRS];
    for (unsigned i = 0; i < num * NUM_PAIRS; i++)
        evaluations[i] = (struct evaluation){ .config = configs[i / NUM_PAIRS],
            .problem = problem_of_pair(precision, (int) (i % NUM_PAIRS)) };
    tuner_evaluate_each(tuner, RECORD_EDGES, evaluations, num * NUM_PAIRS, results);
    for (unsigned i = 0; i < num; i++)
        passes[i] = true;
    for (unsigned i = 0; i < num * NUM_PAIRS; i++)
        if (strcmp(results[i].outcome, "ok"))
            passes[i / NUM_PAIRS] = false;
}

static void evaluate_some(struct tuner *tuner, const struct precision *precision,
        const struct config *configs, unsigned num, bool passes[MOST_TOGETHER])
{
    if (tuner->facts.value[FACT_IS_CPU])
        for (unsigned i = 0; i < num; i++)
            passes[i] = passes_in_turn(tuner, precision, &configs[i]);
    else
        evaluate_together(tuner, precision, configs, num, passes);
}

/* How many come next when the last ones took so long each: as many as there is time for. */
static unsigned next_size(const struct tuner *tuner, double cost, double end)
{
    if (tuner->facts.value[FACT_IS_CPU])
        return 1;
    if (cost * MOST_TOGETHER <= end - tuner->spent)
        return MOST_TOGETHER;
    return (unsigned) fmin(fmax((end - tuner->spent) / cost, 1), MOST_TOGETHER);
}

static bool is_generic(const struct tuner *tuner, const struct precision *precision,
        const struct config *config)
{
    struct config generic[BASELINE_MAX];
    const size_t num = tuner->generic ? tuner->generic(precision, generic, BASELINE_MAX) : 0;
    for (size_t i = 0; i < num; i++)
        if (config_equal(&generic[i], config))
            return true;
    return false;
}

unsigned verify_all(struct tuner *tuner, const struct precision *precision, struct config *configs,
        unsigned num, double end)
{
    const double limit = tuner->limit;
    unsigned kept = 0, size = 1;
    bool has_own = false; /* one that is not generic's */
    for (unsigned i = 0; i < num && !tuner->failed && !*tuner->stop;) {
        const double before = tuner->spent;
        bool passes[MOST_TOGETHER];
        if (has_own && before > end)
            break;
        size = size < num - i ? size : num - i;
        tuner->limit = has_own || tuner->is_strict ? limit : HUGE_VAL;
        evaluate_some(tuner, precision, &configs[i], size, passes);
        for (unsigned j = 0; j < size; j++, i++)
            if (passes[j]) {
                has_own = has_own || !is_generic(tuner, precision, &configs[i]);
                configs[kept++] = configs[i];
            }
        size = next_size(tuner, (tuner->spent - before) / size, end);
    }
    tuner->limit = limit;
    return kept;
}

bool verify_one(struct tuner *tuner, const struct precision *precision, const struct config *config)
{
    bool passes[MOST_TOGETHER];
    evaluate_some(tuner, precision, config, 1, passes);
    return passes[0];
}
