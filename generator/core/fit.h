/* fit.h: coefficients of a recipe's time (runtime/predict.h) from measured times. Pure.
 *
 * Non-negative least squares on relative errors (nnls.h), weighted so that times told too short
 * count like those told too long. Some tens of shapes are enough. With fewer, and for shapes unlike
 * them, the times of the family's other recipes tell more, by the recipe's tile (struct
 * fit_family): what they tell counts as a few more measured times. Where the same configuration was
 * fitted on the device or a relative, to more shapes than there are here, its coefficients say more
 * of how the time depends on the shape: then what was measured here only scales them (times.c).
 * Where a bundle's own are fitted anew, they count as the many shapes that they were fitted to.
 */
#ifndef KILN_CORE_FIT_H
#define KILN_CORE_FIT_H

#include "predict.h"

#include <stdbool.h>
#include <stddef.h>

/* One measured time: of the configuration's recipe for one pair of transposes. */
struct fit_sample {
    uint64_t terms[KILN_NUM_TERMS];
    double seconds;                    /* above 0 */
};

/* The fewest samples that say anything by themselves. */
enum { FIT_LEAST = 4 };

/* From so many samples on a prior counts no more. */
enum { FIT_ENOUGH = 100 };

/* What the family tells counts as so many samples, and what the coefficients tell that are fitted
 * anew: those of a bundle were fitted to some hundreds of shapes (tuned/MEASUREMENTS.md). Those of
 * an older text of the recipe say less of it. */
enum { FIT_FAMILY_COUNTS = 8, FIT_PRIOR_COUNTS = 200, FIT_OLDER_COUNTS = 30 };

/* By how much longer all recipes of a bundle for the device took counts as so many samples of each:
 * the machine may be faster than it was, for all of them. */
enum { FIT_COMMON_COUNTS = 20 };

/* The fewest samples, of all its recipes, that say anything of a family. */
enum { FIT_FAMILY_LEAST = 10 };

/* Times that are not measured, at any number of shapes: what a recipe's family tells of it, or
 * coefficients that are fitted anew. */
struct fit_guesses {
    const struct fit_sample *samples;
    size_t num;                        /* 0: there are none */
    double count;                      /* as so many measured times, all together */
};

/* Fits a configuration's coefficients. False when there are no guesses and fewer than FIT_LEAST
 * samples. */
bool fit_time(const struct fit_sample *samples, size_t num, const struct fit_guesses *guesses,
        struct kiln_time *time);

/* The median of the samples' times over those that a prior tells; 1 without samples. Only the first
 * FIT_ENOUGH count. */
double fit_factor_over(const struct kiln_time *prior, const struct fit_sample *samples, size_t num);

/* Multiplies every time that the coefficients tell by the factor. */
void fit_lengthen(struct kiln_time *time, double factor);

/* ---- families ---- */

/* With what of the tile a term's coefficient grows. */
enum fit_by_tile {
    FIT_BY_NONE,                       /* one size for all */
    FIT_BY_PRODUCTS,                   /* m n k */
    FIT_BY_FETCHED,                    /* (m + n) k */
    FIT_BY_STORED,                     /* m n */
    FIT_NUM_BY
};

/* What the recipes of a family have in common: how long a unit of each term takes, and for each
 * product, element fetched and element stored of a tile. */
struct fit_family {
    bool is_known;
    double coefficient[FIT_NUM_BY][KILN_NUM_TERMS];
};

/* A measured time of one of its recipes. */
struct fit_timing {
    struct fit_sample sample;
    const uint32_t *tile;              /* m, n, k */
    unsigned candidate;                /* which of the recipes, below num_candidates */
};

/* The factor by which a recipe takes longer than its family tells. */
struct fit_factor {
    double times;                      /* 1 where there is no time of it */
    double sum;                        /* of logarithms, of so many times */
    unsigned num;
};

/* Fits a family to times of its recipes, and the factors of all recipes to the family. It is not
 * known from fewer than FIT_FAMILY_LEAST times. */
void fit_family(const struct fit_timing *const *timings, size_t num, unsigned num_candidates,
        struct fit_factor *factors, struct fit_family *family);

/* The time that a family tells of a recipe with such a tile, in seconds. */
double fit_guess(const struct fit_family *family, const uint32_t tile[3],
        const uint64_t terms[KILN_NUM_TERMS]);

#endif
