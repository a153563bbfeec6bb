/* group.h: instructions of warp groups, and what stands in a kernel itself. */
#ifndef KILN_TESTS_WARPS_GROUP_H
#define KILN_TESTS_WARPS_GROUP_H

/* Before and after each work-group. */
void group_begin(void);
void group_end(void);

#endif
