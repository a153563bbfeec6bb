/* family.h: kernel families as tables, and configurations as points in them.
 *
 * A family is a table of parameters, rules, derived values, launch stages and workspace regions,
 * and the templates of its stages (kernels/NAME/NAME.c beside NAME.cl.in). Every expression in a
 * table sees the device facts (facts.inc), the precision (HALF, SINGLE, DOUBLE, ELEM_BYTES,
 * REAL_BYTES), the transposes (TA, TB), the parameters, and the derived values above it.
 */
#ifndef KILN_CORE_FAMILY_H
#define KILN_CORE_FAMILY_H

#include "precision.h"
#include "scope.h"
#include "tmpl.h"
#include <stdint.h>

enum {
    FAMILY_MAX_PARAMS = 24,
    FAMILY_MAX_VALUES = 16,
    FAMILY_ERROR_BYTES = 256,
    CONFIG_TEXT_BYTES = 256,
    ENTRY_NAME_BYTES = 64
};

/* In rows of tables every field takes a machine word, so that there is no padding (hash.c). */
struct family_param {
    const char *name;                  /* upper case */
    const char *values;                /* "1 2 4 8", at most FAMILY_MAX_VALUES */
    long default_value;                /* renders what was rendered before the row was added */
    const char *meaning;
    const char *origin;                /* who introduced it, with that work's symbol */
    long sibling;                      /* 1: says less of how fast a tile is than of which shapes it
                                          is for; the tuner tries other values of it */
};

struct family_rule {
    const char *expr;                  /* must hold */
    const char *reason;                /* shown when it does not */
};

struct family_value {
    const char *name, *expr;
};

struct family_stage {
    const char *name;                  /* in kernel names */
    const char *when;                  /* expression; NULL: always */
    const char *template;              /* as of @include: "fused/fused", "halves/cut:both" */
    const char *bind;                  /* "NAME = EXPR; ..." for this stage's text; or NULL */
    const char *dims;                  /* extents along axis 0, 1, 2: "N M" */
    const char *tiles, *locals;        /* expressions, as many as dims: "BLKN; BLKM" */
    const char *local_bytes;           /* expression; NULL: 0 */
    const char *args;                  /* "M N K A LDA; WORKSPACE as __global ${R} *work": codes of
                                          bundle.h and declarations (signature.h) */
    const char *prepares;              /* "A", "B" or "BOTH": brings them into their
                                          regions, no more; NULL */
    const char *role;                  /* of bundle.h: "ADD"; NULL: none */
};

struct family_region {
    const char *when;                  /* as of a stage */
    const char *dims;                  /* "M K" */
    const char *rounds;                /* expressions: "TM; 1" */
    const char *element_bytes;
    const char *holds;                 /* "A" or "B", prepared; NULL */
    const char *more;                  /* expression: rows that say something of each column; NULL:
                                          none */
    long each_part;                    /* 1: there is one for each part of K */
    long each_member;                  /* 1: one for each member of a batch in a launch */
};

/* What was published of a kernel, in the preset's precision. */
struct family_figure {
    const char *device;                /* as its authors call it; NULL: nothing was */
    const char *pair;                  /* transposes, row-major: "nn"; NULL: nn */
    long extent;                       /* of the square problem; 0: not said */
    double gflops;                     /* 0: not said */
};

/* A configuration with a name, which no other preset of any family has: one known to be good, where
 * searches start, or one of the literature. */
struct family_preset {
    const char *name, *config;
    long precision;                    /* letter of the one that it is meant for; 0: whatever is
                                          legal, single first */
    const char *origin;                /* NULL: our own */
    struct family_figure figure;
};

struct family {
    const char *name;
    const char *meaning;
    long literature;                   /* 1: for the record: a default search leaves it out */
    long triangles;                    /* 1: it can store a triangle of C: texts have TRIANGLE, and
                                          the name STORED for what tells columns of a row of C */
    long routine;                      /* enum kiln_routine; what multiplies is searched */
    const char *serves;                /* expression: which precisions it is for; NULL: HALF,
                                          SINGLE and DOUBLE */
    const struct family_param *params;
    const struct family_rule *rules;
    const struct family_value *values;
    const struct family_stage *stages;
    const struct family_region *regions;
    const struct family_preset *presets;
    unsigned num_params, num_rules, num_values, num_stages, num_regions, num_presets;
    const char *prelude;               /* likewise; rendered once before the stages of a program */
    const char *guard[3];              /* expressions: what must divide M, N, K */
    const char *align[3];              /* what must divide leading dimension and offset of A, B and
                                          C; NULL: 1 */
    const char *most[3];               /* the largest M, N, K; NULL or 0: any */
    const char *rest[3];               /* the largest remainder of M, N, K by guard that is taken
                                          all the same; NULL: none */
    const char *tile[3];               /* rows and columns of C that a work-group computes at a time
                                          (stream-K: one tile), and the depth of a step over K */
    const char *edges[3];              /* by what other parts any stage goes through M, N and K:
                                          blocks of a work-item, warps, vectors, chunks of copies,
                                          panels, slices and parts of K: "TM; WGM"; NULL: nothing.
                                          Verification goes to either side of each */
    const char *unit_turns;            /* work-groups for each compute unit that take tiles in turn;
                                          NULL or 0: each has a tile of its own */
    const char *shares;                /* whether they share the steps of tiles that make no whole
                                          turn (kiln_whole_tiles of plan.h); NULL: not */
    const char *as_is[2];              /* whether A and B, which are prepared, are taken as they are
                                          where their rows are aligned; NULL: not */
    const char *batches;               /* whether a launch may take several members of a batch, as
                                          kernels are told of strides; NULL: not */
    const char *block[2];              /* rows and columns of C that are given out together to those
                                          that take turns; NULL: the tile */
    const char *unit_parts;            /* work-groups for each compute unit, for which K is shared
                                          where tiles are fewer (kiln_num_parts of plan.h); NULL or
                                          0: K is not shared */
    long capability;                   /* a compute capability of NVIDIA's for which its rules hold,
                                          80 for 8.0; tests pretend a device has it. 0: the family
                                          is for any device */
    const char *ptx;                   /* compute capability that its text is masked PTX for
                                          (runtime/ptx.c); NULL or 0: plain OpenCL C */
    const char *rank;                  /* a guess at the merit, higher is better: where a search
                                          begins, and no more */
};

/* Device facts that rules may name, in the order of facts.inc. */
enum fact {
#define FACT(name, meaning) FACT_##name,
#include "facts.inc"
#undef FACT
    NUM_FACTS
};

struct device_facts {
    long value[NUM_FACTS];
    char platform[128], device[192], driver[96];
    char unit[24];                     /* which of several equal devices of a machine; no file
                                          holds it */
};

extern const char *const fact_names[NUM_FACTS];
extern const char *const fact_meanings[NUM_FACTS];

/* Which problem a kernel is for. Row-major C; transposes as stored. */
struct problem {
    const struct precision *precision;
    bool transa, transb;
    bool triangle;                     /* one triangle of C is stored */
};

/* Pairs of transposes as kiln_pair() numbers them. */
enum { NUM_PAIRS = KILN_NUM_PAIRS };
extern const char *const pair_names[NUM_PAIRS];
/* -1 when the name is none of "nn", "nt", "tn", "tt". */
int pair_find(const char *name);
struct problem problem_of_pair(const struct precision *precision, int pair);
int pair_of_problem(const struct problem *problem);

/* A shape of the problem, of matrices without gaps between their rows, all at offset 0; the members
 * of a batch lie one behind the other. */
struct kiln_product product_dense(const struct problem *problem, struct shape shape);

struct config {
    const struct family *family;
    long value[FAMILY_MAX_PARAMS];     /* by family->params */
};

extern const struct family *const families[];
extern const size_t num_families;
extern const struct tmpl_file template_files[];
extern const size_t num_template_files;

const struct family *family_find(const char *name);

/* The values of a parameter; returns how many. */
unsigned param_values(const struct family_param *param, long values[FAMILY_MAX_VALUES]);

void config_default(const struct family *family, struct config *config);

/* "packed MR=12 NR=32": absent parameters take their defaults. False with a message in error. */
bool config_parse(const char *text, struct config *config, char error[FAMILY_ERROR_BYTES]);
/* The inverse, every parameter named; at most CONFIG_TEXT_BYTES. */
void config_format(const struct config *config, char text[CONFIG_TEXT_BYTES]);
bool config_equal(const struct config *a, const struct config *b);

/* Is there anything for the precision on the device: a preset that is legal, of a family that is
 * searched? */
bool precision_is_there(const struct precision *precision, const struct device_facts *facts);

/* The preset called `name` of any family, and its configuration. NULL with a message, which
 * suggests a preset of a similar name. */
const struct family_preset *preset_find(const char *name, struct config *config,
        char error[FAMILY_ERROR_BYTES]);
/* Is the preset one of ours (not a published one), for just this precision? */
bool preset_is_meant(const struct family_preset *preset, const struct precision *precision);
/* The problem that a preset's figure is of, or else the first for which the preset is legal. */
struct problem preset_problem(const struct family_preset *preset, const struct config *config,
        const struct device_facts *facts);

/* Fills scope with every name an expression of the family may use. */
bool config_scope(const struct config *config, const struct problem *problem,
        const struct device_facts *facts, struct scope *scope, char error[FAMILY_ERROR_BYTES]);

/* Does a default search look at the family? */
static inline bool family_is_searched(const struct family *family)
{
    return !family->literature && family->routine == KILN_ROUTINE_MULTIPLY;
}

/* Is the family for problems of this precision? */
bool family_serves(const struct family *family, const struct precision *precision);

/* Whether the configuration is legal for problem and device; if not, *reason is the broken
 * rule's. */
bool config_legal(const struct config *config, const struct problem *problem,
        const struct device_facts *facts, const char **reason);

/* The guard of the configuration that the scope was made of. False with a message when an
 * expression has no value, or one out of range. */
bool family_guard(const struct family *family, const struct scope *scope, struct kiln_guard *guard,
        char error[FAMILY_ERROR_BYTES]);

/* Whether the configuration, which is legal, takes a shape as product_dense has it. */
bool config_takes(const struct config *config, const struct problem *problem,
        const struct device_facts *facts, struct shape shape);

/* The family's rank expression; 0 when it has none. */
int64_t config_rank(const struct config *config, const struct problem *problem,
        const struct device_facts *facts);

/* Facts of the least device that OpenCL 1.2's full profile allows; rendering needs no device. */
void facts_minimal(struct device_facts *facts);
/* Facts of a device on which every preset is legal for some precision. */
void facts_ample(struct device_facts *facts);
/* Reads the facts of a device from a text that holds a row "fact NAME VALUE" for each, as winners
 * and journals do, or "NAME VALUE ...", as device.tsv does. Tabs separate the fields; other rows
 * are passed over, but for those with another name in capitals. What is not in it is as on the
 * least device. False with a message when a name is no fact's, a value is no whole number or is
 * negative, or there is no fact at all. */
bool facts_parse(const char *text, struct device_facts *facts, char error[FAMILY_ERROR_BYTES]);
/* The same of a file; the message begins with its path. */
bool facts_read(const char *path, struct device_facts *facts, char error[FAMILY_ERROR_BYTES]);
/* Limits what a device can do to what `least` can: memory, work-groups, vectors, registers, double
 * precision, compute capability, images and shuffles. What the device is stays: its names, its
 * kind, its compute units and its clock. */
void facts_lessen(struct device_facts *facts, const struct device_facts *least);

#endif
