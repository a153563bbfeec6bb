/* memory.h: local memory, and what moves into it by itself: copies, barriers that wait for them,
 * the copy engine. */
#ifndef KILN_TESTS_WARPS_MEMORY_H
#define KILN_TESTS_WARPS_MEMORY_H

#include <stdint.h>

/* Before and after each work-group. */
void memory_begin(void);
void memory_end(void);

/* What is at an address that warp_local_address has given, or beyond. */
unsigned char *memory_at(uint32_t address);

/* Where what belongs at an address lies: in a line of 32, 64 or 128 bytes (swizzle 1, 2, 3) the
 * chunks of 16 change places, from line to line; 0: there. */
uint32_t memory_swizzled(uint32_t address, uint32_t swizzle);

/* Of a work-item's copies: what it has begun is a group; waits until so many groups at most are
 * under way. */
void warp_commit_copies(void);
void warp_wait_for_copies(unsigned but);

#endif
