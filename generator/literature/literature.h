/* literature.h: every preset of every family, run where we are and set beside what was
 * published. */
#ifndef KILN_LITERATURE_LITERATURE_H
#define KILN_LITERATURE_LITERATURE_H

#include "../tune/options.h"

/* Whether the name of a preset has this part. */
bool literature_has(const char *part);

/* Verifies and times each preset, interleaved with the kernel that the library itself would serve
 * the call with, and prints one table. Returns an exit status: a failure when a preset computed
 * something wrong, did not build, or took its process down. */
int literature_main(const struct options *options);

#endif
