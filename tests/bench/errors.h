/* errors.h: how wrong the results of single precision are, on data of every kind. */
#ifndef BENCH_ERRORS_H
#define BENCH_ERRORS_H

#include <stdbool.h>

#include "device.h"
#include "options.h"
#include "peers.h"

/* Prints, for each shape and kind of data, the errors of each peer and of a chain of fused
 * multiply-adds, over all elements. False with a message on stderr, also when a peer of Kiln is
 * beyond what kiln.h says of emulation, and beyond the chain, or gives a number where the chain
 * gives none. */
bool errors_report(const struct options *options, const struct device *device, struct peer *peers,
        size_t num_peers);

#endif
