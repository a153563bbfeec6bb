/* tuner.h: one run of the tuner: evaluations, their results, budget and progress.
 *
 * What the journal holds is not evaluated again. The budget is kept in the costs of the
 * rows that were used, old or new, so that a run that resumes takes every decision as it was taken
 * before, and a run over a complete journal is a replay.
 */
#ifndef KILN_TUNE_TUNER_H
#define KILN_TUNE_TUNER_H

#include "../core/record.h"
#include "../search/search.h"
#include "ahead.h"
#include "crew.h"
#include "journal.h"
#include "supervise.h"

/* Of one configuration for one task. */
struct evaluation {
    struct problem problem;
    struct shape shape;
    struct config config;
};

struct own_shape;

/* Lists what is known already for a precision; returns how many. */
typedef size_t tuner_lister(const void *known, const struct device_facts *facts,
        const struct precision *precision, struct config *configs, size_t max);

struct tuner {
    struct supervisor *supervisor;     /* NULL: only what the journal holds (replay) */
    struct ahead *ahead;               /* NULL: nothing is built ahead */
    struct crew *crew;                 /* NULL: nothing is done side by side */
    struct journal *journal;
    struct records records;            /* all rows of the journal, old and new */
    struct device_facts facts;
    const struct search_strategy *strategy;
    uint64_t seed;
    double seconds;                    /* of the whole run */
    double budget, slack;              /* seconds for evaluations, and what may be over them */
    bool is_strict;                    /* the budget holds even if nothing is verified by then */
    double limit;                      /* of spent, where the present phase's evaluations end; 0: at
                                          the budget's end */
    double spent;                      /* of the rows used so far */
    double last_event;                 /* clock when the last row was written */
    size_t num_measured, num_recalled; /* evaluations that were done, or found in the journal */
    const struct own_shape *own;       /* the application's own shapes, by weight (own_shapes.h) */
    size_t num_own;
    bool json, quiet;
    tuner_lister *kin;                 /* recipes of the device's own bundles and of its relatives';
                                          NULL: none are known */
    tuner_lister *generic;             /* generic's recipes for any device, in order; NULL: not
                                          compared with */
    tuner_lister *of_kind;             /* and all for this kind; NULL: none */
    const void *known;                 /* handed to these */
    bool failed;                       /* the journal or the child gave up: message in error */
    bool is_lost;                      /* it was the child: the device or its driver */
    const volatile int *stop;          /* Ctrl-C */
    bool is_interrupted;               /* it has ended the measuring */
    bool is_done[KILN_NUM_PRECISIONS]; /* of precisions[]: it used its part of the budget */
    char error[FAMILY_ERROR_BYTES];
    char phase[96];                    /* for progress */
    double last_line;                  /* clock when the last line of progress was printed */
    double best_gflops;                /* 0: none yet */
};

/* What one of the tuner's listers lists; 0 where there is none. */
static inline size_t tuner_list(const struct tuner *tuner, tuner_lister *lister,
        const struct precision *precision, struct config *configs, size_t max)
{
    return lister ? lister(tuner->known, &tuner->facts, precision, configs, max) : 0;
}

/* Says which configuration will be evaluated soon, so that it may be built meanwhile. */
void tuner_expect(struct tuner *tuner, const struct problem *problem, struct shape shape,
        const struct config *config);

/* Evaluates several configurations for one task at once, interleaved; results in the order of
 * configs. What is not done when the phase's time is over is "late". `incumbent`: the best time so
 * far, seconds; 0: none. False when there is no time left, and when the run must stop: a signal, a
 * failure, or a replay without the row. */
bool tuner_evaluate(struct tuner *tuner, enum record_kind kind, const struct problem *problem,
        struct shape shape, const struct config *configs, unsigned num, double incumbent,
        struct record *results);

/* Evaluations that time nothing, RECORD_EDGES, at most TRIAL_MAX_CONFIGS of them, side by side
 * where there is a crew. Rows and results come in the order of the evaluations. Where a result
 * could not be had its outcome is empty; then false, for the reasons of tuner_evaluate. */
bool tuner_evaluate_each(struct tuner *tuner, enum record_kind kind,
        const struct evaluation *evaluations, unsigned num, struct record *results);

/* Has the crew build what will be evaluated, as a driver keeps what it has built for all
 * processes. Without a crew nothing happens. What the journal has a row about was built before.
 * The time this takes is part of the next row's cost. */
void tuner_warm(struct tuner *tuner, const struct problem *problem, const struct config *configs,
        unsigned num);

/* The part of a run's time that the tuner uses: less than all of it when it searches one shard
 * only, or when its journal was merged from others, which have searched. */
double phases_share(const struct tuner *tuner);

/* Tunes one precision within `seconds` of budget. False when the run must stop; what was measured
 * is kept. */
bool phases_run(struct tuner *tuner, const struct precision *precision, double seconds);

/* After an interruption: verifies the best configuration of a precision on every edge class, so
 * that it may ship. */
bool phases_finish(struct tuner *tuner, const struct precision *precision);

/* progress.c: a line on standard error when it is a terminal, else one every few seconds; with
 * json, one object per row on standard output. */
void progress_row(struct tuner *tuner, const struct record *record, bool measured);
void progress_phase(struct tuner *tuner, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
void progress_end(struct tuner *tuner);

#endif
