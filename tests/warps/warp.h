/* warp.h: what the instructions must know of the kernel that runs. */
#ifndef KILN_TESTS_WARPS_WARP_H
#define KILN_TESTS_WARPS_WARP_H

#include <stdint.h>

/* A launch, along two axes: work-groups, and work-items of each. */
struct warp_grid {
    unsigned groups[2], items[2];
};

/* Before each work-group: its place among the others; any address of the kernel's object, near which
 * its local memory is, as an address in local memory is the low half of one. */
void warp_begin(const struct warp_grid *of, const unsigned group[2], uintptr_t object);

#endif
