/* ahead.h: candidates that are built before it is their turn to be measured, each by a trial
 * process of its own, while another process measures.
 *
 * The process that has built a candidate also measures it. Building ahead changes no result: a
 * candidate that was not built ahead, or whose process died over it, is built when it is measured.
 * Not for CPUs, where the compiler would disturb what is measured.
 */
#ifndef KILN_TUNE_AHEAD_H
#define KILN_TUNE_AHEAD_H

#include "supervise.h"

/* How many candidates a search proposes beyond the one that is measured. */
enum { AHEAD = 3 };

struct ahead;

/* For a machine with so many cores, of which one is left alone. No process is started before it is
 * needed. NULL when out of memory. */
struct ahead *ahead_open(const char *program, const char *device, long cores);
void ahead_close(struct ahead **ahead);

/* Has the request's one candidate built, if a process is free. */
void ahead_build(struct ahead *ahead, const struct trial_request *request,
        const volatile int *stop);

/* The process that builds, or has built, the request's one candidate; from here on it is free for
 * another one. NULL when there is none. */
struct supervisor *ahead_take(struct ahead *ahead, const struct trial_request *request);

#endif
