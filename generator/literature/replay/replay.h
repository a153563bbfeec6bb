/* replay.h: searches on recordings instead of devices, to compare strategies. */
#ifndef KILN_LITERATURE_REPLAY_H
#define KILN_LITERATURE_REPLAY_H

#include "../../core/files.h"
#include "../../core/text.h"

#include <stdbool.h>

enum { REPLAY_MAX_AHEAD = 63 };

struct replay_options {
    const char *strategy;              /* a name, or "all" */
    unsigned seeds;                    /* how many runs a row is the mean of */
    const char *start;                 /* a recording of a similar device, or NULL */
    unsigned ahead;                    /* how many points a search proposes beyond the one whose
                                          cost it is told next */
    const char *rank;                  /* analytic merit as an expression; NULL: of ranks.inc */
    char **paths;                      /* the recordings */
    int num_paths;
};

/* Adds a table per recording: the mean fraction of the optimum after so many points, by strategy.
 * False with a message in error. */
bool replay_report(const struct replay_options *options, struct text *text,
        char error[FILES_ERROR_BYTES]);

#endif
