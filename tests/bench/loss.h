/* loss.h: what is lost by choosing: the time of the call as Kiln dispatches it over that of the
 * fastest recipe of the same bundle, measured in the same turns. The fastest is found in one half
 * of the rounds and judged by the other, for both halves. */
#ifndef BENCH_LOSS_H
#define BENCH_LOSS_H

#include "compare.h"

struct loss {
    double times;                      /* 1: the best was chosen */
    size_t best;                       /* index into the row's recipes */
};

/* The name of the recipe that was chosen. */
const char *loss_chosen(const struct row *row);

/* False unless Kiln and at least one recipe were timed in the row. */
bool loss_of_row(const struct comparison *comparison, const struct row *row, struct loss *loss);

struct losses {
    size_t count;                      /* rows */
    double mean;                       /* geometric */
    double percentile_95;              /* the least that 95 % of the rows do not exceed */
    double worst;
};

/* Over the selected rows; false when there are none, or memory is short. */
bool loss_of_rows(const struct comparison *comparison, const struct selection *selection,
        struct losses *losses);

/* The rows that lose most, the worst first; returns how many, `max` at most. */
size_t loss_worst_rows(const struct comparison *comparison, const struct row **rows, size_t max);

#endif
