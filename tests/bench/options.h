/* options.h: the command line. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "kiln/kiln.h"
#include "shapes.h"

enum mode {
    MODE_COMPARE,
    MODE_HOST_OVERHEAD,
    MODE_FIRST_RESULT,
    MODE_LIST_PEERS,
    MODE_LIST_SHAPES,
    MODE_HELP,
    MODE_VERSION
};

enum { OPTIONS_MAX_PRECISIONS = 3, OPTIONS_MAX_TRANSPOSES = 4 };

struct options {
    enum mode mode;
    struct shapes shapes;
    enum kiln_precision precisions[OPTIONS_MAX_PRECISIONS];
    size_t num_precisions;
    struct { bool a, b; } transposes[OPTIONS_MAX_TRANSPOSES];
    size_t num_transposes;
    size_t rounds;
    double min_seconds;                /* length of a sample */
    size_t size;                       /* extent for MODE_FIRST_RESULT */
    const char *peers;                 /* comma list; NULL: all */
    const char *device;                /* substring; NULL: the first */
    bool device_clock;                 /* time a CPU device by its own clock too, as all others */
    const char *json;                  /* path; NULL: none */
    bool failed;                       /* the command line is right, but a file cannot be read */
};

/* False with a message on stderr. Free with options_free in any case. */
bool options_parse(struct options *options, int argc, char **argv);
void options_free(struct options *options);
void options_print_help(FILE *out);

#endif
