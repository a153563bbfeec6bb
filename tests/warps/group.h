/* group.h: instructions of warp groups, and what stands in a kernel itself. */
#ifndef KILN_TESTS_WARPS_GROUP_H
#define KILN_TESTS_WARPS_GROUP_H

/* Before each work-group. */
void group_begin(void);

#endif
