/* warp.h: what the instructions must know of the kernel that runs. */
#ifndef KILN_TESTS_WARPS_WARP_H
#define KILN_TESTS_WARPS_WARP_H

enum { WARP_AXES = 3 };

/* A launch: work-groups, and work-items of each. */
struct warp_grid {
    unsigned groups[WARP_AXES], items[WARP_AXES];
};

/* Before each work-group: its place among the others. */
void warp_begin(const struct warp_grid *of, const unsigned group[WARP_AXES]);

/* After it: nothing that it has begun may be under way. */
void warp_end(void);

#endif
