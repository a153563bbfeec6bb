/* search_phase.h: the best configuration is sought for each of a few tasks, and the best of all are
 * evaluated again. */
#ifndef KILN_TUNE_SEARCH_PHASE_H
#define KILN_TUNE_SEARCH_PHASE_H

#include "phase.h"

/* Searches until phases->search_end; what is best becomes finalists. It is evaluated again when the
 * strategy asks for that, and when it was searched elsewhere. False when the time is over or the
 * run must stop. */
bool search_all(struct phases *phases);

#endif
