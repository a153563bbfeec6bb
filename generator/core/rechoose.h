/* rechoose.h: the recipes of a bundle chosen anew, and their times fitted anew, by what kiln-bench
 * --best measured of them. Pure.
 *
 * A tuning times many configurations at few shapes each. The bench times the few recipes of a
 * bundle at as many shapes as there is patience for, all in turn at every shape. So coefficients
 * fitted to its times choose better, and it tells which few of many recipes are enough.
 */
#ifndef KILN_CORE_RECHOOSE_H
#define KILN_CORE_RECHOOSE_H

#include "bench.h"
#include "select.h"

/* Fewer shapes of a precision do not say how long a recipe takes at others. */
enum { RECHOOSE_LEAST_SHAPES = 40 };

/* About one of six shapes of a precision is held out: it is used for the losses alone. */
enum { RECHOOSE_HELD_ONE_OF = 6 };

/* What was done to a precision. */
struct rechosen {
    const struct precision *precision;
    unsigned of, recipes;              /* how many there were; how many there are, or got new
                                          times */
    unsigned shapes, held;             /* that were measured, each once on devices of a size; of
                                          these, held out */
    double before, now;                /* time of what is chosen over that of the fastest recipe, at
                                          the shapes held out: geometric mean */
};

/* Chooses among the recipes of `old`, of each precision that was measured, as select.h does. Other
 * precisions, what the bundle is for, and recipes that are pinned to shapes stay as they are. The
 * forms (forms.h) are for the caller to add anew. done has room for KILN_NUM_PRECISIONS. False
 * with error when another device was measured than the one that the bundle names, or at too few
 * shapes, when the bundle is for devices of several kinds, or when a recipe's result was wrong. */
bool rechoose(const struct winners *old, const struct bench *benches, unsigned num_benches,
        struct select_budget *budget, struct winners *now, struct rechosen *done,
        unsigned *num_done, char error[FAMILY_ERROR_BYTES]);

/* Chooses nothing: fits anew the times of a family's recipes that were measured, or where it is
 * NULL of all. A family is for shapes of one kind, which would count too much in a choice. All else
 * stays; where all are fitted, the rows `loss` of the precisions that were measured are made anew,
 * if shapes were held out. The forms are for the caller. False likewise, and when no such recipe
 * was measured. */
bool rechoose_times(const struct winners *old, const struct bench *benches, unsigned num_benches,
        const struct family *family, struct winners *now, struct rechosen *done, unsigned *num_done,
        char error[FAMILY_ERROR_BYTES]);

#endif
