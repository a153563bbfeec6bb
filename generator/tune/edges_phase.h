/* edges_phase.h: verifies configurations on every edge class, for all transpose pairs or some. */
#ifndef KILN_TUNE_EDGES_PHASE_H
#define KILN_TUNE_EDGES_PHASE_H

#include "tuner.h"

/* Keeps the configurations that pass, in order, and returns how many. None is begun when
 * tuner->spent is beyond `end`, except the first ones, until one that is not generic's is verified.
 * No evaluation takes longer than tuner->limit; where the budget is not strict, those first ones
 * may.
 *
 * What is decided looks at costs, not at the crew: a run that resumes or replays
 * with another crew, or none, decides the same. */
unsigned verify_all(struct tuner *tuner, const struct precision *precision, struct config *configs,
        unsigned num, double end);

/* The same for the first so many pairs. */
unsigned verify_pairs(struct tuner *tuner, const struct precision *precision, unsigned num_pairs,
        struct config *configs, unsigned num, double end);

/* Whether one passes; false also when it could not be evaluated. */
bool verify_one(struct tuner *tuner, const struct precision *precision,
        const struct config *config);

#endif
