/* fence.h: memory of the host in front of and behind which nothing may be touched, as the memory of
 * a buffer. Shows what a kernel reads or writes beyond its operands only where the device uses the
 * host's memory in place, as CPUs do. */
#ifndef KILN_TESTS_FENCE_H
#define KILN_TESTS_FENCE_H

#include "setup.h"

/* Where the memory lies between the two fences. */
enum { FENCE_AT_END = -1 }; /* else so many bytes behind the first fence */

struct fence {
    unsigned char *map, *at;
    size_t map_bytes, bytes;
    cl_mem buffer;
};

void fence_make(struct fence *fence, size_t bytes, long place);
/* The buffer; the memory may be written by kernels only if `writable`. */
void fence_close(const struct setup *setup, struct fence *fence, bool writable);
void fence_free(struct fence *fence);

#endif
