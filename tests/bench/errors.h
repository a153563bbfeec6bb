/* errors.h: how wrong the results of single precision are, on data of every kind. */
#ifndef BENCH_ERRORS_H
#define BENCH_ERRORS_H

#include <stdbool.h>

#include "device.h"
#include "options.h"
#include "peers.h"

/* One result's errors, in units of 2^-24 sum |a||b|. */
struct errors {
    double most, mean;
    size_t wrong;                      /* elements of another class: NaN, infinite, finite */
    size_t beyond;                     /* elements beyond the bound of kiln.h */
};

/* Of one shape, its transposes, and one kind of data. */
struct errors_row {
    struct bench_shape shape;
    bool transa, transb;
    const struct data_kind *kind;
    struct errors chain;               /* of a chain of fused multiply-adds */
    struct errors peers[PEERS_MAX];
    bool has[PEERS_MAX];               /* whether the peer did not refuse */
};

/* Zero-initialised is empty; free() the rows. */
struct errors_table {
    struct errors_row *rows;
    size_t num_rows;
};

/* Prints, for each shape and kind of data, the errors of each peer and of a chain of fused
 * multiply-adds, over all elements. False with a message on stderr, also when a peer of Kiln is
 * beyond what kiln.h says of emulation, and beyond the chain, or gives a number where the chain
 * gives none. */
bool errors_report(const struct options *options, const struct device *device, struct peer *peers,
        size_t num_peers, struct errors_table *table);

#endif
