/* brief.h: which programs and which of their cases to leave out where each takes long, as on a
 * simulator.
 *
 * Every value of every parameter, every precision and every transpose pair is in at least
 * BRIEF_LEAST programs, if there are so many, and meets every edge class of these programs at least
 * once (pairwise covering). Every program runs at least one of its cases. Sparsely, that holds of
 * precisions and transpose pairs alone, and every program runs an eighth of its cases. */
#ifndef KILN_TESTS_KERNELS_BRIEF_H
#define KILN_TESTS_KERNELS_BRIEF_H

#include "core/family.h"

enum {
    BRIEF_MAX_CLASSES = 128, BRIEF_NAME_BYTES = 32,
    BRIEF_PRECISIONS = FAMILY_MAX_PARAMS * FAMILY_MAX_VALUES, BRIEF_PAIRS = BRIEF_PRECISIONS + 8,
    BRIEF_SLOTS = BRIEF_PAIRS + NUM_PAIRS, BRIEF_LEAST = 2, BRIEF_SPARSE = 8
};

/* One family's. All zero, but for `sparsely`: nothing has been run. */
struct brief {
    bool sparsely;
    char classes[BRIEF_MAX_CLASSES][BRIEF_NAME_BYTES];
    unsigned num_classes, num_programs;
    unsigned in_programs[BRIEF_SLOTS];
    bool has_met[BRIEF_SLOTS][BRIEF_MAX_CLASSES];
};

/* Whether the next program is to be run: whether it has anything that is in too few of those
 * before. It is then taken to have begun. */
bool brief_begin(struct brief *brief, const struct config *config, const struct problem *problem);

/* Whether the program's case of the class is to be run; it is then taken to have been. */
bool brief_takes(struct brief *brief, const struct config *config, const struct problem *problem,
        const char *class);

#endif
