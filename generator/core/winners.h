/* winners.h: what a bundle is made from, as plain rows (winners.tsv).
 *
 *   kiln-winners  4
 *   bundle        NAME
 *   platform      GLOB          device GLOB, driver GLOB|GLOB...: each once; absent means any
 *   verified      GLOB|GLOB...  drivers that it was verified on but not tuned (bundle.h)
 *   vector        16            CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT; absent means any
 *   capability    90            compute capability of NVIDIA's devices; absent means any device
 *   provenance    TEXT          generator, device and driver it was tuned with
 *   fact          NAME VALUE    the device facts it was tuned for (facts.inc); some of them go into
 *                               the bundle, for relatives of the device to be told by
 *   recipe        PRECISION  CONFIGURATION  HASH-NN HASH-NT HASH-TN HASH-TT
 *   triangle      likewise; for products of which one triangle is stored
 *   time          PRECISION  RECIPE  COEFFICIENT ...    (runtime/bundle.h, enum kiln_term)
 *   kind          PRECISION  RECIPE  cpu|other  VECTOR  (runtime/bundle.h, enum kiln_kind)
 *   pin           PRECISION  M N K  [batch=N]  RECIPE ...        (four pairs: NN NT TN TT;
 *                                                                - for none)
 *   loss          PRECISION  KIND  SHAPES  MEAN  P95  WORST
 *
 * A row time that is older than the last terms has no coefficients for them: they are 0. A recipe's
 * number is its place among the rows recipe and triangle of its precision, from 0. A hash is that
 * of what the kernel text says, whatever its comments and its layout; 0: it was neither timed nor
 * rendered since. No two recipes of a kind are the same. A recipe with a row kind is for CPUs with
 * vectors alone, or for what is no CPU, and for native vectors of at least VECTOR floats (0: any).
 * A loss is what the choice by times costs at shapes of a kind (draw.h), or all, that were used for
 * nothing else: the time of what is chosen over that of the fastest recipe known there; geometric
 * mean, 95th percentile and worst. Fields are separated by tabs.
 */
#ifndef KILN_CORE_WINNERS_H
#define KILN_CORE_WINNERS_H

#include "assemble.h"
#include "text.h"

enum {
    WINNERS_MAX_RECIPES = 256, WINNERS_MAX_PINS = 384, WINNERS_MAX_LOSSES = 32,
    WINNERS_TEXT_BYTES = 192, WINNERS_KIND_BYTES = 16
};

struct winner {
    const struct precision *precision;
    struct config config;
    bool triangle;                     /* for products of which one triangle is stored */
    uint64_t hash[NUM_PAIRS];
    bool is_changed[NUM_PAIRS];        /* its text was another when it was timed; not in the file */
    bool is_timed;
    struct kiln_time time;             /* if it is timed */
    uint8_t kinds, vector_floats;      /* as in bundle.h; 0: any */
};

struct winner_pin {
    const struct precision *precision;
    WITH_SHAPE;
    int recipe[NUM_PAIRS];             /* among those of the precision; -1: none */
};

struct winner_loss {
    const struct precision *precision;
    char kind[WINNERS_KIND_BYTES];     /* of shapes (draw.h); "all" */
    unsigned shapes;
    double mean, p95, worst;           /* factors, 1: nothing is lost */
};

/* It and others that hold a few recipes each are too large for a stack: functions keep theirs in
 * static storage, fill it anew at each call and leave nothing there. No two threads call them, and
 * none calls itself. */
struct winners {
    char name[64];
    char platform[WINNERS_TEXT_BYTES], device[WINNERS_TEXT_BYTES], driver[WINNERS_TEXT_BYTES];
    char verified[WINNERS_TEXT_BYTES];
    char provenance[2 * WINNERS_TEXT_BYTES];
    uint32_t vector, capability;
    struct device_facts facts;
    bool has_facts;                    /* those of a device, not the least that there is */
    unsigned num_recipes, num_pins, num_losses;
    struct winner recipes[WINNERS_MAX_RECIPES];
    struct winner_pin pins[WINNERS_MAX_PINS];
    struct winner_loss losses[WINNERS_MAX_LOSSES];
};

/* Whether a bundle may be called so: up to 63 letters, digits, . _ -. Its name is in paths, options
 * and C. */
bool winners_is_name(const char *name);

/* Parses text; on failure a message with the line's number stands in error. */
bool winners_parse(const char *text, struct winners *winners, char error[FAMILY_ERROR_BYTES]);
void winners_format(const struct winners *winners, struct text *text);

/* Renders the winners into a bundle. The assembly is initialised here; free it in any case. */
bool winners_assemble(const struct winners *winners, struct assembly *assembly,
        char error[FAMILY_ERROR_BYTES]);

/* The head comment of the emitted C: what it was made for and how well it chooses. */
void winners_comment(const struct winners *winners, struct text *text);

/* What a committed bundle must have and these rows do not; NULL: nothing. */
const char *winners_wanting(const struct winners *winners);

/* The i-th recipe of a precision, or NULL. */
const struct winner *winners_recipe(const struct winners *winners,
        const struct precision *precision, int i);

/* The loss of a kind of shapes, "all" for instance, or NULL. */
const struct winner_loss *winners_loss(const struct winners *winners,
        const struct precision *precision, const char *kind);

/* What a winner is for. */
struct problem winner_problem(const struct winner *winner, int pair);

/* Fills each recipe's hashes from what its kernels render to now. */
bool winners_rehash(struct winners *winners, char error[FAMILY_ERROR_BYTES]);
/* Finds for which pairs their texts have changed since they were timed (is_changed). */
bool winners_find_changed(struct winners *winners, char error[FAMILY_ERROR_BYTES]);

#endif
