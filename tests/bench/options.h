/* options.h: the command line. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "core/draw.h"
#include "core/precision.h"
#include "data.h"
#include "device.h"
#include "kiln/kiln.h"
#include "shapes.h"

enum mode {
    MODE_COMPARE,
    MODE_HOST_OVERHEAD,
    MODE_FIRST_RESULT,
    MODE_ERRORS,
    MODE_TRIANGLES,
    MODE_LIST_PEERS,                   /* from here on nothing is measured */
    MODE_LIST_SHAPES,
    MODE_HELP,
    MODE_VERSION
};

enum { OPTIONS_MAX_PRECISIONS = KILN_NUM_PRECISIONS, OPTIONS_MAX_TRANSPOSES = 4 };

/* What shapes are drawn; a limit of 0 is left to the device. */
struct options_random {
    bool wanted;
    bool batches;                      /* wanted too */
    const char *needing;               /* an option that was given and is for random shapes alone */
    const char *drawing;               /* likewise, or for batches */
    size_t seed, count;
    struct draw_limits limits;
};

/* A grid of M and N for one K. It goes to the largest extent of random shapes. */
struct options_grid {
    bool wanted;
    const char *needing;               /* as above */
    size_t k;
};

struct options {
    enum mode mode;
    struct shapes shapes;
    struct options_random random;
    struct options_grid grid;
    enum kiln_precision precisions[OPTIONS_MAX_PRECISIONS];
    size_t num_precisions;
    size_t num_common;                 /* of them: for shapes without a precision of their own */
    struct { bool a, b; } transposes[OPTIONS_MAX_TRANSPOSES];
    size_t num_transposes;
    bool has_precisions, has_transposes;   /* they were given, and take the place of a shape's
                                          own */
    bool best;                         /* every recipe of the bundle takes part */
    size_t rounds;
    double min_seconds;                /* length of a sample */
    size_t size;                       /* extent for MODE_FIRST_RESULT */
    const char *peers;                 /* comma list; NULL: all */
    const char *device;                /* substring; NULL: the first */
    bool device_clock;                 /* time a CPU device by its own clock too, as all others */
    const struct data_kind *data;      /* what A and B hold; NULL: random numbers */
    const char *json;                  /* path; NULL: none */
    const char *const *arguments;      /* of the command line, as they came */
    size_t num_arguments;
    bool failed;                       /* the command line is right, but a file cannot be read */
};

/* False with a message on stderr. Free with options_free in any case. */
bool options_parse(struct options *options, int argc, char **argv);

/* Adds the random shapes and the grid, if they are wanted, within the limits given and what suits
 * the device; the limits are filled in. False with a message on stderr. */
bool options_draw(struct options *options, const struct device *device);
void options_free(struct options *options);
void options_print_help(FILE *out);

#endif
