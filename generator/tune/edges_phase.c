/* edges_phase.c: see edges_phase.h. */
#include "edges_phase.h"
#include "baseline.h"

#include <math.h>
#include <string.h>

/* Evaluations at a time; how many times as many configurations as the last time. */
enum { MOST_TOGETHER = 8 * NUM_PAIRS, GROWTH = 4 };

/* Evaluates a few configurations at once, for the first so many pairs. */
static void evaluate_together(struct tuner *tuner, const struct precision *precision,
        unsigned num_pairs, const struct config *configs, unsigned num, bool passes[MOST_TOGETHER])
{
    struct evaluation evaluations[MOST_TOGETHER] = { 0 };
    struct record results[MOST_TOGETHER];
    for (unsigned i = 0; i < num * num_pairs; i++)
        evaluations[i] = (struct evaluation){ .config = configs[i / num_pairs],
            .problem = problem_of_pair(precision, (int) (i % num_pairs)) };
    tuner_evaluate_each(tuner, RECORD_EDGES, evaluations, num * num_pairs, results);
    for (unsigned i = 0; i < num; i++)
        passes[i] = true;
    for (unsigned i = 0; i < num * num_pairs; i++)
        if (strcmp(results[i].outcome, "ok"))
            passes[i / num_pairs] = false;
}

/* How many come next, when each of the last ones took so long: as many as there is time for. The
 * number grows in steps, as some may take far longer than the last ones did. */
static unsigned next_size(unsigned last, double cost, double left, unsigned most)
{
    const unsigned many = GROWTH * last < most ? GROWTH * last : most;
    return cost * many <= left ? many : (unsigned) fmin(fmax(left / cost, 1), many);
}

static bool is_generic(const struct tuner *tuner, const struct precision *precision,
        const struct config *config)
{
    struct config generic[BASELINE_MAX];
    const size_t num = tuner_list(tuner, tuner->generic, precision, generic, BASELINE_MAX);
    for (size_t i = 0; i < num; i++)
        if (config_equal(&generic[i], config))
            return true;
    return false;
}

unsigned verify_pairs(struct tuner *tuner, const struct precision *precision, unsigned num_pairs,
        struct config *configs, unsigned num, double end)
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
        evaluate_together(tuner, precision, num_pairs, &configs[i], size, passes);
        for (unsigned j = 0; j < size; j++, i++)
            if (passes[j]) {
                has_own = has_own || !is_generic(tuner, precision, &configs[i]);
                configs[kept++] = configs[i];
            }
        size = next_size(size, (tuner->spent - before) / size, end - tuner->spent,
                MOST_TOGETHER / num_pairs);
    }
    tuner->limit = limit;
    return kept;
}

unsigned verify_all(struct tuner *tuner, const struct precision *precision, struct config *configs,
        unsigned num, double end)
{
    return verify_pairs(tuner, precision, NUM_PAIRS, configs, num, end);
}

bool verify_one(struct tuner *tuner, const struct precision *precision, const struct config *config)
{
    bool passes[MOST_TOGETHER];
    evaluate_together(tuner, precision, NUM_PAIRS, config, 1, passes);
    return passes[0];
}
