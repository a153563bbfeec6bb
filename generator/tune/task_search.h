/* task_search.h: the search for one task: the fastest configuration of any family. */
#ifndef KILN_TUNE_TASK_SEARCH_H
#define KILN_TUNE_TASK_SEARCH_H

#include "tuner.h"

/* What is searched for, in one precision. */
struct task {
    struct shape shape;
    int pair;
    double parts;                      /* of the search's time, in proportion to the others' */
};

/* What is evaluated first, in this order. */
struct initial_configs {
    const struct config *configs;
    unsigned num;
    bool is_informed;                  /* they are the best for the task, as far as is known:
                                          families without one are left alone */
};

/* Searches every family that is not for the record, the better ones longer, until tuner->spent
 * reaches `until` or nothing is left to try. The results stand in tuner->records. False when the
 * run must stop. */
bool task_search(struct tuner *tuner, const struct precision *precision, const struct task *task,
        const struct initial_configs *initial, double until);

#endif
