/* baseline.h: how fast the generic bundle is, which serves whatever is not tuned.
 *
 * Its recipes are timed in the same run as the candidates, so that nothing ships that loses to
 * them, and so that there is a candidate on devices where nothing else works. Their speed also says
 * how large a shape the device can be given.
 */
#ifndef KILN_TUNE_BASELINE_H
#define KILN_TUNE_BASELINE_H

#include "tuner.h"

enum { BASELINE_MAX = 8 };

/* Times the recipe that generic uses at a shape: the first one that takes it and works. `incumbent`
 * as in tuner_evaluate. False as in tuner_evaluate; true also when there is no such recipe. */
bool baseline_evaluate(struct tuner *tuner, const struct problem *problem, struct shape shape,
        double incumbent);

/* Generic's speed, operations per second, found at shapes that fit in `seconds`; 0 when it is
 * not known. It stops at a speed that is enough. */
double baseline_rate(struct tuner *tuner, const struct precision *precision, double seconds,
        double enough);

/* Whether generic, with this recipe, beat all that was timed for choosing at some shape. */
bool baseline_wins(const struct tuner *tuner, const struct precision *precision,
        const struct config *config);

#endif
