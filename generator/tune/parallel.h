/* parallel.h: the rows of a matrix divided among threads, for work that takes the host long. */
#ifndef KILN_TUNE_PARALLEL_H
#define KILN_TUNE_PARALLEL_H

#include <stddef.h>

enum { PARALLEL_MOST = 8, PARALLEL_ELEMENTS = 1 << 20 };

/* How many parts suit a matrix on a machine with so many cores: one where threads would gain
 * little, or would take cores from the device's driver and from other trial processes. */
unsigned parallel_parts(long cores, size_t rows, size_t cols);

/* Does `function` for each part of the rows, [first, end), and returns when all are done. There are
 * 1 to PARALLEL_MOST parts. The caller does the first one, the others have threads of their own; a
 * part whose thread does not start is done by the caller. Each part knows its number, so that
 * results need no locks, and depend neither on order nor on threads. */
void parallel_rows(size_t rows, unsigned parts,
        void (*function)(void *user, unsigned part, size_t first, size_t end), void *user);

#endif
