/* brief.h: which cases to leave out where each takes long, as on a simulator.
 *
 * Every value of every parameter, every precision and every transpose pair meets every edge class
 * at least once (pairwise covering), and every program runs at least one of its cases. */
#ifndef KILN_TESTS_KERNELS_BRIEF_H
#define KILN_TESTS_KERNELS_BRIEF_H

#include "core/family.h"

enum {
    BRIEF_MAX_CLASSES = 128, BRIEF_NAME_BYTES = 32,
    BRIEF_PRECISIONS = FAMILY_MAX_PARAMS * FAMILY_MAX_VALUES, BRIEF_PAIRS = BRIEF_PRECISIONS + 8,
    BRIEF_SLOTS = BRIEF_PAIRS + NUM_PAIRS
};

/* One family's. All zero: nothing has been run. */
struct brief {
    char classes[BRIEF_MAX_CLASSES][BRIEF_NAME_BYTES];
    unsigned num_classes, num_programs;
    bool has_met[BRIEF_SLOTS][BRIEF_MAX_CLASSES];
};

/* The next program begins. */
void brief_begin(struct brief *brief);

/* Whether the program's case of the class is to be run; it is then taken to have been. */
bool brief_takes(struct brief *brief, const struct config *config, const struct problem *problem,
        const char *class);

#endif
