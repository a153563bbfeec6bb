/* alone.h: what ninja runs beside the tuner, compilers above all, would share the processors with
 * what is timed. */
#ifndef KILN_TUNE_ALONE_H
#define KILN_TUNE_ALONE_H

#include <stdbool.h>

/* Where ninja runs this program, itself or by another ninja: returns when none of them has run a job
 * but tuners for a moment, after ten minutes at most, or when *stop is set. Elsewhere, and without
 * Linux's /proc, at once. Says on standard error that it waits, unless is_quiet. */
void alone_wait(const volatile int *stop, bool is_quiet);

#endif
