/* hunt.h: the search for the fastest configuration of any family, for one problem at one shape. */
#ifndef KILN_TUNE_HUNT_H
#define KILN_TUNE_HUNT_H

#include "tuner.h"

/* What is searched for, and what is known already. */
struct quarry {
    struct problem problem;
    struct shape shape;
    const struct config *known;        /* tried first, in this order */
    unsigned num_known;
    bool is_informed;                  /* they are the best for the shape, as far as is known:
                                          families without one are left alone */
};

/* Searches every family that is not for the record, the better ones longer, until tuner->spent
 * reaches `until` or nothing is left to try. The answers stand in tuner->records. False when the
 * run must stop. */
bool hunt(struct tuner *tuner, const struct quarry *quarry, double until);

#endif
