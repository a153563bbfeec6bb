/* losses.h: what choosing costs at shapes that are held out, rows `loss` of winners.tsv. Pure. */
#ifndef KILN_CORE_LOSSES_H
#define KILN_CORE_LOSSES_H

#include "times.h"
#include "winners.h"

/* Adds to `winners` what the precision loses at the tasks of `times`, by kind of shape and for all:
 * the time of the chosen recipe that would be dispatched, over the best. A task where that recipe
 * was not measured does not count. False when out of memory. */
bool losses_add(const struct times *times, const bool chosen[TIMES_MAX_CANDIDATES],
        struct winners *winners);

/* Adds the losses that `from` has of the precision, as far as there is room. */
void losses_copy(const struct winners *from, const struct precision *precision,
        struct winners *winners);

#endif
