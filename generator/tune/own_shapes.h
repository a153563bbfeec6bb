/* own_shapes.h: the application's own shapes: a file of them (core/extents.h), and what became of
 * each. */
#ifndef KILN_TUNE_OWN_SHAPES_H
#define KILN_TUNE_OWN_SHAPES_H

#include "options.h"
#include "tuner.h"
#include "../core/extents.h"
#include "../core/winners.h"

enum { OWN_MAX = 64 };

struct own_shape {
    struct shape shape;
    const struct precision *precision; /* NULL: all that are tuned */
    int pair;                          /* -1: all four */
    double weight;                     /* the file's, times the members of a batch */
};

struct own_shapes {
    struct own_shape at[OWN_MAX];
    size_t num;
};

/* Reads a file. Lines that name the same problems become one, with the sum of their weights; what
 * weighs most comes first. Of a file without shapes num is 0, and error says so. */
bool own_shapes_read(const char *path, struct own_shapes *own, char error[EXTENTS_ERROR_BYTES]);

bool own_shape_is_for(const struct own_shape *own, const struct precision *precision);

/* For each of the tuner's own shapes what was pinned to it, its speed and the generic bundle's;
 * and warnings: what was not measured, and why. */
void own_shapes_report(const struct options *options, const struct tuner *tuner,
        const struct winners *winners);

#endif
