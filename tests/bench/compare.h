/* compare.h: the comparison itself. */
#ifndef BENCH_COMPARE_H
#define BENCH_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "options.h"
#include "peers.h"
#include "recipes.h"

enum outcome {
    OUTCOME_TIMED,
    OUTCOME_REFUSED,                   /* the peer has no such multiplication */
    OUTCOME_FAILED,
    OUTCOME_WRONG,                     /* it ran, but not to the right numbers: not timed */
    OUTCOME_SLOW                       /* a recipe that is far from the best: timed once */
};

struct entry { /* one peer at one problem */
    enum outcome outcome;
    double *samples[NUM_CLOCKS]; /* seconds a multiplication, in the order they were taken */
    double medians[NUM_CLOCKS];  /* seconds; 0: not by this clock */
    double error;                /* see problem_error_at */
};

/* A recipe of the bundle that serves a row, alone. */
struct recipe_entry {
    const char *name;
    struct peer *peer;
    struct entry entry;
};

struct row { /* one problem */
    enum kiln_precision precision;
    bool transa, transb;
    struct bench_shape shape;
    double flops;
    char explain[512];               /* what Kiln says it does, two lines */
    struct entry entries[PEERS_MAX]; /* one for each peer */
    struct recipe_entry *recipes;    /* those that may serve; none unless they take part */
    size_t num_recipes;
    size_t dispatched; /* which of them Kiln chose; num_recipes: not known */
};

struct comparison {
    struct peer *peers;
    size_t num_peers;
    struct recipes *recipes;           /* they take part beside Kiln; NULL: not */
    size_t kiln;                       /* index of the peer Kiln; num_peers: not there */
    const struct data_kind *data;      /* of A and B in single precision; NULL: random numbers */
    size_t rounds;
    double min_seconds;
    enum timer_clock clock;            /* that counts; the wall clock is taken in any case */
    struct row *rows;
    size_t num_rows;
    bool is_interrupted;               /* by a signal: rows are missing */
};

/* Measures every precision, transposition and shape of the options. `report` is handed each row as
 * it is finished. Ends early where a signal was caught (tune/interrupt.h). False when memory is
 * short, on host or device; the rows so far are there. */
bool compare_run(struct comparison *comparison, const struct options *options,
        const struct device *device, void (*report)(const struct comparison *, const struct row *));
void compare_free(struct comparison *comparison);

/* Whether no peer and no recipe failed or was wrong. */
bool compare_is_clean(const struct comparison *comparison);

/* Whether the peer was timed by that clock in the row. The functions below ask for this first. */
bool compare_is_timed(const struct row *row, size_t peer, enum timer_clock clock);
double compare_gflops(const struct row *row, size_t peer, enum timer_clock clock);

/* How much faster is peer `peer` than `other`? */
struct versus {
    size_t peer, other;
    size_t rival;                      /* stands for the other where it was faster; or the same */
    enum timer_clock clock;
};

/* False unless both were timed in the row. */
bool compare_speedup(const struct row *row, const struct versus *versus, double *speedup);

/* Rows of a precision; with `group` those alone whose shape belongs to it. */
struct selection {
    enum kiln_precision precision;
    const char *group;
};

bool compare_is_selected(const struct row *row, const struct selection *selection);

/* The geometric mean of the speed-ups over the selected rows; false when there are none. */
bool compare_mean_speedup(const struct comparison *comparison, const struct selection *selection,
        const struct versus *versus, double *speedup);

/* Writes the names of the rows' groups of shapes, each once, in the order of the rows; returns how
 * many, `max` at most. */
size_t compare_groups(const struct comparison *comparison, const char **groups, size_t max);

char compare_precision_letter(enum kiln_precision precision);

#endif
