/* assemble.h: configurations -> a bundle in memory.
 *
 * The structs made here are those of runtime/bundle.h. The tuner hands them to the library to time
 * a candidate, and emit.c prints them as C: what was timed is what ships. Pure.
 */
#ifndef KILN_CORE_ASSEMBLE_H
#define KILN_CORE_ASSEMBLE_H

#include "arena.h"
#include "bundle.h"
#include "family.h"
#include "pool.h"

enum { ASSEMBLY_MAX_RECIPES = 1024 };

enum { ASSEMBLY_MAX_EDGES = 8 };

/* What a family's table says of a recipe beside its tile (family.h): for M, N and K the units above
 * 1, in ascending order and each once; the work-groups that take turns on this device, or 0, and
 * the rows and columns of C that are given out together to these; and the work-groups among which
 * there is room for parts of K, or 0. */
struct assembly_edges {
    unsigned num[3];
    uint32_t unit[3][ASSEMBLY_MAX_EDGES];
    uint32_t turns, block[2];
    uint32_t room;
};

struct assembly {
    struct arena arena;
    struct kiln_bundle bundle;         /* valid after each call that succeeded */
    struct kiln_program *programs;
    struct kiln_recipe *recipes;
    struct assembly_edges *edges;      /* of each recipe */
    struct pool pool;                  /* the bundle's, in which there are no pairs */
    struct device_facts facts;
    bool keeps_comments;               /* in texts that are added: for readers, not for devices */
};

/* An empty bundle called `name` for a device. False when out of memory. Free it in any case. */
bool assembly_init(struct assembly *assembly, const char *name, const struct device_facts *facts);
void assembly_free(struct assembly *assembly);

/* Adds the recipe of a configuration for a problem, or finds it; *index is its place in the bundle.
 * On failure (illegal, a template's error, too many) a message stands in error. */
bool assembly_add(struct assembly *assembly, const struct config *config,
        const struct problem *problem, unsigned *index, char error[FAMILY_ERROR_BYTES]);

/* The same for a recipe that is for some kinds of devices alone (bundle.h), apart from those of the
 * same configuration that are for others. */
bool assembly_add_for(struct assembly *assembly, const struct config *config,
        const struct problem *problem, unsigned kinds, unsigned vector_floats, unsigned *index,
        char error[FAMILY_ERROR_BYTES]);

/* Says how long a recipe takes; recipes with the same coefficients share them. False when out of
 * memory. */
bool assembly_time(struct assembly *assembly, unsigned recipe, const struct kiln_time *time);

/* Adds a copy of the pins. False when out of memory. */
bool assembly_pins(struct assembly *assembly, const struct kiln_pin *pins, unsigned num);

/* What the recipe of a configuration says of itself: all but its name, its text, its launches and
 * its time. False with a message when the configuration is illegal or a table malformed. */
bool assemble_traits(const struct config *config, const struct problem *problem,
        const struct device_facts *facts, struct kiln_recipe *recipe,
        char error[FAMILY_ERROR_BYTES]);

/* A kernel's name by the grammar kiln_Pgemm[t]_FAMILY_STAGE; t: of triangles. It is unique only
 * within its program: recipes of other configurations and transposes share it. */
void assemble_entry_name(const struct config *config, const struct problem *problem,
        const struct family_stage *stage, char name[ENTRY_NAME_BYTES]);

/* The stages of a configuration as text, prelude first; freed by the caller. NULL with error. */
char *assemble_text(const struct config *config, const struct problem *problem,
        const struct device_facts *facts, char error[FAMILY_ERROR_BYTES]);

/* The codes of bundle.h by their names there, without prefix. */
extern const char *const assemble_dim_names[KILN_NUM_DIMS];
extern const char *const assemble_prepared_names[KILN_PREPARED_BOTH + 1];
extern const char *const assemble_role_names[KILN_NUM_ROLES];

#endif
