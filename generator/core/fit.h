/* fit.h: coefficients of a recipe's time (runtime/predict.h) from measured times. Pure.
 *
 * Non-negative least squares on relative errors (Lawson and Hanson 1974, chapter 23), with a
 * small ridge: some tens of shapes are enough. Where the same configuration was fitted on a
 * relative of the device, to more shapes than there are here, its coefficients say more of how
 * the time depends on the shape: then what was measured here only scales them.
 */
#ifndef KILN_CORE_FIT_H
#define KILN_CORE_FIT_H

#include "predict.h"

#include <stdbool.h>

/* One measured time: of the configuration's recipe for one pair of transposes. */
struct fit_sample {
    uint64_t terms[KILN_NUM_TERMS];
    double seconds;                    /* above 0 */
};

/* The fewest samples that say anything. */
enum { FIT_LEAST = 4 };

/* From so many samples on a prior counts no more. */
enum { FIT_ENOUGH = 150 };

/* Fits a configuration's coefficients. prior: those of the same configuration on a relative, or
 * NULL. False when there are fewer than FIT_LEAST samples and no prior. */
bool fit_time(const struct fit_sample *samples, size_t num, const struct kiln_time *prior,
        struct kiln_time *time);

#endif
