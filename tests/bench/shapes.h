/* shapes.h: which multiplications are compared. */
#ifndef BENCH_SHAPES_H
#define BENCH_SHAPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "kiln/kiln.h"

struct draw_limits;

struct bench_shape {
    size_t m, n, k;
    const char *group;                 /* static; of which a mean is taken. NULL: none */
    bool has_pair, transa, transb;     /* has_pair: transposes of its own */
    enum kiln_precision precision;     /* of its own; 0: every one that is compared */
    size_t batch;                      /* products of the shape in one call; 0 is 1 */
};

enum { SHAPES_MAX_GROUPS = 16 };

/* A growing list; zero-initialised is empty. */
struct shapes {
    struct bench_shape *items;
    size_t count;
};

/* Each adds to the list and returns false with a message in `error` when it cannot: the name is not
 * known, the text is not MxNxK, the file has a bad line, or memory is short. A shape that the list
 * holds already is not added twice. The group of a named list's shapes is the list, unless they say
 * otherwise; other shapes belong to none. */
bool shapes_add_named(struct shapes *shapes, const char *name, char *error, size_t size);
bool shapes_add_text(struct shapes *shapes, const char *text, char *error, size_t size);
bool shapes_add_file(struct shapes *shapes, const char *path, char *error, size_t size);

/* Adds `count` shapes from the distribution, each with transposes of its own and its class for its
 * group; the same for the same arguments. False with a message when the limits are bad, or when a
 * class has no shape within them. */
bool shapes_add_drawn(struct shapes *shapes, const struct draw_limits *limits, uint64_t seed,
        size_t count, char *error, size_t size);

/* Adds `count` random batches, each with transposes of its own: M and N up to 511, K up to 1023, up
 * to 8191 members, every second one of multiples of 8; what has from 3e7 to 1.5e10 operations and
 * no more than 1e7 elements. The same for the same seed. False with a message when memory is
 * short. */
bool shapes_add_batches(struct shapes *shapes, uint64_t seed, size_t count, char *error,
        size_t size);

/* Adds the grid of that K: M and N are all powers of two from 16 to the largest extent of the
 * limits. What has more elements than these allow is left out. False with a message when nothing is
 * left. */
bool shapes_add_grid(struct shapes *shapes, const struct draw_limits *limits, size_t k, char *error,
        size_t size);
void shapes_free(struct shapes *shapes);

/* Prints every named list with its shapes. */
void shapes_print_lists(FILE *out);

#endif
