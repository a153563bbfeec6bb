/* fibers.h: the work-items of a work-group, each with a stack of its own. */
#ifndef KILN_TESTS_WARPS_FIBERS_H
#define KILN_TESTS_WARPS_FIBERS_H

#include <stdbool.h>

enum { FIBERS_MOST = 1024, FIBERS_WARP = 32 };

/* Where some of them wait for each other. All 0 at first. */
struct fibers_meeting {
    unsigned arrived, generation;
};

/* Runs `body` as `num` fibers, until all have returned. When none can go on the program ends, with
 * a message. */
void fibers_run(unsigned num, void (*body)(const void *), const void *user);

/* Of a fiber: its number, and how many there are. */
unsigned fibers_self(void);
unsigned fibers_count(void);

/* Waits until `num` fibers have come to the meeting. The last one calls `last` (NULL: nothing)
 * before any goes on. */
void fibers_meet(struct fibers_meeting *meeting, unsigned num, void (*last)(void *), void *user);

/* Waits until it is so; whoever makes it so says that something has moved. */
void fibers_wait(bool (*is_so)(const void *), const void *user);
void fibers_moved(void);

/* By chance. */
bool fibers_toss(void);

/* Ends the program with a message. */
__attribute__((noreturn)) void fibers_fail(const char *what);

#endif
