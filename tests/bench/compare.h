/* compare.h: the comparison itself. */
#ifndef BENCH_COMPARE_H
#define BENCH_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "options.h"
#include "peers.h"

enum outcome {
    OUTCOME_TIMED,
    OUTCOME_REFUSED,                   /* the peer has no such multiplication */
    OUTCOME_FAILED,
    OUTCOME_WRONG                      /* it ran, but not to the right numbers: not timed */
};

struct entry {                         /* one peer at one problem */
    enum outcome outcome;
    double *samples;                   /* seconds a multiplication, in the order they were taken */
    double median;                     /* seconds */
    double error;                      /* see problem_error_at */
};

struct row {                           /* one problem */
    enum kiln_precision precision;
    bool transa, transb;
    struct shape shape;
    double flops;
    char explain[512];                 /* what Kiln says it does, two lines */
    struct entry entries[PEERS_MAX];   /* one for each peer */
};

struct comparison {
    struct peer *peers;
    size_t num_peers;
    size_t rounds;
    double min_seconds;
    struct row *rows;
    size_t num_rows;
};

/* Measures every precision, transposition and shape of the options. `report` is handed each row
 * as it is finished. False when memory is short, on host or device; the rows so far are there. */
bool compare_run(struct comparison *comparison, const struct options *options,
        const struct device *device, void (*report)(const struct comparison *, const struct row *));
void compare_free(struct comparison *comparison);

/* Whether no peer failed or was wrong. */
bool compare_is_clean(const struct comparison *comparison);

double compare_gflops(const struct row *row, size_t peer);

/* Writes how much faster peer `peer` is than `other` in the row; false unless both were timed. */
bool compare_speedup(const struct row *row, size_t peer, size_t other, double *speedup);

/* The geometric mean of those over the rows of a precision; false when there are none. */
bool compare_mean_speedup(const struct comparison *comparison, enum kiln_precision precision,
        size_t peer, size_t other, double *speedup);

char compare_precision_letter(enum kiln_precision precision);

#endif
