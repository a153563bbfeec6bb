/* candidate.h: configurations that are built, and kept built for a while.
 *
 * Compiling takes longer than anything else that is done with a candidate. So one that is needed
 * again, at another shape or when finalists are timed against each other, is kept here, with what
 * was found out about it.
 */
#ifndef KILN_TUNE_CANDIDATE_H
#define KILN_TUNE_CANDIDATE_H

#include "../core/assemble.h"
#include "launcher.h"
#include "supervise.h"
#include "verify.h"

/* At most so many are kept. */
enum { CANDIDATES_KEPT = 256, CANDIDATE_LOG_BYTES = 4096 };

/* What the library and the driver's compiler had to say. */
struct candidate_log {
    char text[CANDIDATE_LOG_BYTES];
    size_t length;
};

struct candidate {
    struct config config;
    struct problem problem;
    struct assembly assembly;          /* a bundle of this one recipe */
    struct kiln_context *context;
    struct candidate_log log;
    bool is_checked;                   /* it has passed the check cases */
    enum trial_outcome outcome;        /* OK until something is found to be wrong; then what that
                                          is */
    char message[TRIAL_MESSAGE_BYTES];
    unsigned long used;                /* 0: the place is empty */
};

struct candidates {
    struct launcher *launcher;
    struct verifier *verifier;
    const struct device_facts *facts;
    struct candidate places[CANDIDATES_KEPT];
    unsigned num_kept;                 /* of the places */
    unsigned long clock;
};

/* A member of a crew is asked for one configuration at a time, and keeps a few. */
void candidates_init(struct candidates *candidates, struct launcher *launcher,
        struct verifier *verifier, const struct device_facts *facts, bool is_member);
void candidates_free(struct candidates *candidates);

/* The candidate, assembled if it is new; its outcome says whether that went well. */
struct candidate *candidate_get(struct candidates *candidates, const struct config *config,
        const struct problem *problem);

/* Compiles its kernels, which is otherwise done when they are first needed. */
void candidate_build(struct candidate *candidate);

/* Verifies at one shape; the check cases come first if they were not run yet. ILLEGAL, at this
 * shape only: the recipe does not take it. SLOW: the launch that verifies shows already that the
 * candidate is far slower than the incumbent (seconds; 0: none). True when it may be timed. */
bool candidate_verify(struct candidates *candidates, struct candidate *candidate,
        struct shape shape, double incumbent, struct trial_result *result);

/* Verifies on every edge class. */
bool candidate_verify_edges(struct candidates *candidates, struct candidate *candidate,
        struct trial_result *result);

#endif
