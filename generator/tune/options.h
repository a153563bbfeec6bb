/* options.h: what the command line of kiln-tune says. */
#ifndef KILN_TUNE_OPTIONS_H
#define KILN_TUNE_OPTIONS_H

#include "../core/space.h"
#include "../search/search.h"
#include "internal.h"

enum embed { EMBED_SOURCE, EMBED_BINARY, EMBED_BOTH };

struct options {
    const char *program;               /* argv[0] as a path that can be executed */
    const char *device;                /* substring of a name; "" is the first */
    const char *output;                /* folder */
    const char *journal;               /* NULL: output/journal.tsv */
    const char *facts;                 /* file of a lesser device to tune as for; NULL: none */
    const char *name, *shapes_file, *stem;
    char **words;                      /* arguments that are no options */
    int num_words;
    const struct search_strategy *strategy;
    const struct precision *precisions[KILN_NUM_PRECISIONS];
    size_t num_precisions;
    const struct precision *precision; /* of repro */
    int pair;
    struct shape shape;                /* likewise */
    size_t size;                       /* of literature: extent of its problems; 0: by device */
    size_t bundle_kib;                 /* what the bundle may take; 0: any number */
    double seconds, preset_seconds;    /* of tune; of one preset of literature */
    uint64_t seed;
    struct shard shard;
    enum embed embed;
    bool unless_matched, or_generic, set_aside, replay, json, quiet;
    bool is_member;                    /* of trial: in a crew */
};

/* Tunes, selects and writes winners.tsv, device.tsv and bundle.c. Returns an exit status. */
int tune_main(const struct options *options);

/* Joins the journals that the words name into the one of option journal. Returns an exit status. */
int merge_main(const struct options *options);

#endif
