/* ninja.h: waits for ninja's other jobs, compilers above all, which would share the processors with
 * what is timed. */
#ifndef KILN_TUNE_NINJA_H
#define KILN_TUNE_NINJA_H

#include <stdbool.h>

/* Where ninja runs this program, directly or through another ninja: waits until none of them runs a
 * job but tuners for a moment, for ten minutes at most, or until *stop is set. Elsewhere, and
 * without Linux's /proc, returns at once. Says on standard error that it waits, unless is_quiet. */
void ninja_wait(const volatile int *stop, bool is_quiet);

#endif
