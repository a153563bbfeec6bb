/* times.h: the times of one precision in a journal, as a table of tasks by configurations, and
 * what the fitted coefficients (fit.h) make of them. Pure.
 */
#ifndef KILN_CORE_TIMES_H
#define KILN_CORE_TIMES_H

#include "predict.h"
#include "record.h"

enum { TIMES_MAX_CANDIDATES = 128 };

/* In the place of a predicted time where there are no coefficients: longer than any. */
#define TIMES_UNTIMED (KILN_TIME_MAX + 1)

/* A task that was measured: a pair and a shape, on a device with so many compute units. */
struct times_task {
    WITH_SHAPE;
    int pair;
    uint32_t units;                    /* as in its rows */
    double seconds[TIMES_MAX_CANDIDATES];        /* HUGE_VAL: not measured */
    uint64_t predicted[TIMES_MAX_CANDIDATES];    /* picoseconds, TIMES_UNTIMED; UINT64_MAX: it does
                                                    not take the shape */
    double best;                       /* of all candidates; of those timed again if some were */
    bool is_again;                     /* some were */
    bool is_guess;                     /* no time was measured: all are predicted */
    uint8_t order[TIMES_MAX_CANDIDATES];         /* the candidates that take it, least predicted
                                                    time first */
    unsigned num_takers;
    double generic;                    /* of the generic bundle's recipe; HUGE_VAL: not measured */
    int by_generic;                    /* which candidate that is; -1: none */
};

/* A configuration that may ship. */
struct times_candidate {
    struct config config;
    struct kiln_recipe recipe[NUM_PAIRS];        /* what it says of itself */
    bool is_fitted;
    bool has_prior;                    /* it is known of a bundle, */
    bool is_for_device;                /* which is for the device, not for a relative */
    size_t num_samples;                /* of its own */
    struct kiln_time time;             /* if it is fitted */
};

struct times {
    const struct precision *precision;
    bool only_used;
    const struct device_facts *facts;
    struct times_candidate *candidates;
    unsigned num_candidates;
    struct times_task *tasks;
    unsigned num_tasks, num_guesses, capacity;
};

/* Lists the candidates of a precision: those that passed the edge classes for all four pairs, and
 * nowhere gave a wrong result, died or hung. Fits their coefficients to all their times but those
 * that are held out, and to what their families tell (fit.h), or scales those that a bundle has of
 * them. A candidate of which neither family nor bundle knows anything, and which was timed at few
 * of the shapes that it takes, gets none. only_used: rows that the present run has not used yet do
 * not count. False when out of memory. Free it in any case. */
bool times_open(const struct records *records, const struct precision *precision, bool only_used,
        struct times *times);
void times_free(struct times *times);

/* Adds the tasks of one kind of row; held-out tasks include what was timed again. False when out of
 * memory. */
bool times_add(const struct records *records, enum record_kind kind, struct times *times);
/* Adds what the generic bundle takes for the tasks there are. A generic recipe that is a candidate
 * too counts as a candidate there. */
void times_add_generic(const struct records *records, struct times *times);
/* Adds tasks whose times are guesses, at up to `most` shapes drawn (draw.h) from the region of the
 * journal's shapes that are not held out; none if that is too small. False when out of memory. */
bool times_add_guesses(const struct records *records, unsigned most, struct times *times);
/* Forgets the tasks, not the candidates. */
void times_clear(struct times *times);

/* The candidate's number; -1: there is none. */
int times_find(const struct times *times, const struct config *config);

/* The library's predicted time of a candidate on the journal's device, picoseconds, without what is
 * added on a CPU (kiln_time_on_cpu); TIMES_UNTIMED: it has no coefficients; UINT64_MAX: it does not
 * take the shape. */
uint64_t times_predict(const struct times *times, int candidate, int pair, struct shape shape);

/* Which of the chosen candidates the library would take for a task: the one with the least
 * predicted time; those without a time come last. -1: none. */
int times_dispatched(const struct times_task *task, const bool chosen[TIMES_MAX_CANDIDATES]);

#endif
