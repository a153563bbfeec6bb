/* first_phase.h: what is known before any search: the recipes of linked bundles that are legal on
 * the device, nearest relative first, and the presets. They are timed beside each other at a few
 * shapes (on CPUs only those that were verified for NN in time), and sorted by how much they are
 * worth verifying. */
#ifndef KILN_TUNE_FIRST_PHASE_H
#define KILN_TUNE_FIRST_PHASE_H

#include "phase.h"

enum { FIRST_MOST = 80, FIRST_MOST_SHAPES = 108 };

struct first {
    struct config configs[FIRST_MOST];
    bool is_kin[FIRST_MOST];           /* the device's own bundles or its relatives' hold it */
    bool is_left_out[FIRST_MOST];      /* it is not timed; until they are sorted */
    unsigned num, num_kin;             /* how many; how many of them are kin */
    unsigned num_good;                 /* after sorting: those that are fast somewhere, which come
                                          first, and those of relatives */
    struct shape untimed[FIRST_MOST_SHAPES];     /* for which there was no time */
    unsigned num_untimed;
};

void first_list(const struct tuner *tuner, const struct precision *precision, struct first *first);

/* Times those that take the shape and are not left out. Gives the best time in seconds; 0 when none
 * has one. */
double first_time(struct tuner *tuner, const struct problem *problem, struct shape shape,
        const struct first *first);

/* Sorts them: each is the one that gains most at the shapes beside those before it; then come
 * relatives' recipes that take none of these shapes, then those that are near the best somewhere,
 * then the rest of relatives'. At shapes that were not timed relatives' recipes have the times that
 * their bundles predict, and others none. The first one that can store triangles of C is the second
 * of all at the latest. */
void first_sort(const struct tuner *tuner, const struct precision *precision, struct first *first);

#endif
