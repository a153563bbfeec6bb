/* crew.h: trial processes that do side by side what needs no device of its own: they verify and
 * build, and time nothing.
 *
 * A driver's compiler may take a second a program, and the threads of one process wait for each
 * other in it; processes do not. While a crew works, the supervisor that has the device's turns
 * holds one (supervise_hold).
 *
 * Each member is a thread with a supervisor. A member whose process does not start, or whose device
 * does not work, leaves the crew, and its job is free for another member. If nobody is left, the
 * device is at fault.
 */
#ifndef KILN_TUNE_CREW_H
#define KILN_TUNE_CREW_H

#include "supervise.h"

enum { CREW_MOST = 12 };

enum job_state { JOB_FREE, JOB_TAKEN, JOB_DONE };

/* What a member is asked at a time. */
struct job {
    struct problem problem;
    struct config config;
    enum job_state state;              /* starts as FREE */
    struct trial_result result;        /* of one that is DONE; LATE among them */
};

struct crew_work {
    enum trial_kind kind;              /* TRIAL_EDGES or TRIAL_COMPILE */
    struct job *jobs;                  /* begun in this order */
    unsigned num;
    double deadline;                   /* seconds for each */
    double until;                      /* by clock_now(); nothing is begun later. HUGE_VAL: never */
    const volatile int *stop;
};

struct crew;

/* How many members a crew has on so many cores with so much memory (bytes), as each member has a
 * compiler in it. 0 is no crew. */
unsigned crew_size(long cores, double memory);

/* The same for the processors that this process may use, less so many. */
unsigned crew_size_here(long left_alone);

/* Nothing is started before it is needed. NULL when out of memory. */
struct crew *crew_open(const char *program, const char *device, unsigned size);
void crew_close(struct crew **crew);

/* Begins work, which must stay until crew_end. There are at most as many processes as jobs. */
void crew_begin(struct crew *crew, const struct crew_work *work);

/* Waits for one job. False when nobody will do it: the time is over, *stop became non-zero, or no
 * member is left. */
bool crew_await(struct crew *crew, unsigned job);

/* Begins no further job, and waits for those that were begun. */
void crew_end(struct crew *crew);

#endif
