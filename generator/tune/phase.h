/* phase.h: what the phases of one precision have in common: its budget and its finalists. */
#ifndef KILN_TUNE_PHASE_H
#define KILN_TUNE_PHASE_H

#include "tuner.h"

enum { MAX_FINALISTS = 64, STARTERS = 8 };
_Static_assert((int) MAX_FINALISTS <= (int) TRIAL_MAX_CONFIGS, "a request holds all");

/* The tuning of one precision. */
struct phases {
    struct tuner *tuner;
    const struct precision *precision;
    double start, seconds;             /* of tuner->spent; the budget of this precision */
    double rate;                       /* best so far, operations per second */
    double generic_rate;               /* 0: not known */
    double most_ops;                   /* of a drawn shape; 0: what fits the speed and the budget */
    double search_end, edges_end;      /* of these phases, as parts of the budget */
    struct config known[MAX_FINALISTS];          /* before the search: starters, then others */
    bool is_kin[MAX_FINALISTS];        /* of these: a relative's recipe */
    unsigned num_known;
    struct config finalists[MAX_FINALISTS];
    unsigned num_finalists;
};

/* The part of the precision's budget that is spent. */
double phases_used(const struct phases *phases);

/* Whether the run must stop, and not only a phase whose time is over. */
bool phases_must_stop(const struct phases *phases);

/* Ends the run. */
void phases_out_of_memory(struct phases *phases);

/* No evaluation goes on beyond this part of the precision's budget. If the budget is not strict,
 * the first ones may, as without them there is nothing. */
void phases_limit(struct phases *phases, double part, bool is_first);
/* The same a little beyond the end of a phase, for its last evaluation. */
void phases_limit_beyond(struct phases *phases, double end, bool is_first);

/* Whether this is one shard of a search, which neither chooses nor compares with generic. */
bool phases_is_part(const struct tuner *tuner);

double shape_operations(struct shape s);

#endif
