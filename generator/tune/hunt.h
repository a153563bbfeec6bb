/* hunt.h: the search for the fastest configuration of any family, for one problem at one shape. */
#ifndef KILN_TUNE_HUNT_H
#define KILN_TUNE_HUNT_H

#include "tuner.h"

/* What is searched for, and what is known already. */
struct quarry {
    struct problem problem;
    struct shape shape;
    const struct config *known;        /* winners of shapes searched before, tried first */
    unsigned num_known;
};

/* Searches every family that is not for the record, the better ones longer, until tuner->spent
 * reaches `until` or nothing is left to try. The answers stand in tuner->records. False when the
 * run must stop. */
bool hunt(struct tuner *tuner, const struct quarry *quarry, double until);

#endif
