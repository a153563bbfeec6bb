/* search_phase.h: the best configuration is sought for each of a few tasks, and second looks are
 * taken at the best of all. */
#ifndef KILN_TUNE_SEARCH_PHASE_H
#define KILN_TUNE_SEARCH_PHASE_H

#include "phases.h"

/* Searches until plan->search_end; what is best becomes finalists. Second looks are taken when the
 * strategy asks for them, and at what was searched elsewhere. False when the time is over or the
 * run must stop. */
bool search_all(struct plan *plan);

#endif
