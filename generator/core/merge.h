/* merge.h: joins the journals of several devices of one kind into one. Pure.
 *
 * Rows of searches and of edges, and failures, are kept, in the order of the journals. All other
 * times are dropped: they mean something only beside each other, on one device, and are taken again
 * there. The head says that the journal is a merged one, so that what tunes over it searches no
 * more.
 */
#ifndef KILN_CORE_MERGE_H
#define KILN_CORE_MERGE_H

#include "text.h"

#include <stdbool.h>

enum { MERGE_ERROR_BYTES = 1024 };

struct merge_part {
    const char *path;                  /* for messages */
    char *text;
};

/* Adds the merged journal to *merged, and to *notes what the user may want to know, a line each.
 * False with a message: a journal that is damaged, of another version of the kernels, or of another
 * platform, device, driver or fact than the first; shards that overlap. */
bool merge_journals(const struct merge_part *parts, unsigned num, struct text *merged,
        struct text *notes, char error[MERGE_ERROR_BYTES]);

#endif
