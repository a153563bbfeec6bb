/* space.h: the search space of a family: its legal configurations.
 *
 * A space may be one shard of several: then only the points that a hash of their index gives to
 * this shard are legal. The shards of a space share no point and leave none out.
 *
 * A point is a configuration as one index per parameter into that parameter's values. Searches move
 * between points and know neither OpenCL nor multiplication.
 */
#ifndef KILN_CORE_SPACE_H
#define KILN_CORE_SPACE_H

#include "family.h"
#include "point.h"

/* The index-th of num parts, from 1; num is 0 for a whole. */
enum { MAX_SHARDS = 9999 };
struct shard {
    unsigned index, num;
};

/* "2/8": the second of eight parts. False when it is none. */
bool shard_parse(const char *text, struct shard *shard);

struct space {
    const struct family *family;
    struct problem problem;
    struct device_facts facts;
    struct shard shard;
    struct shape shape;                /* that legal points take; all 0: any */
    unsigned num_params;
    unsigned num_values[FAMILY_MAX_PARAMS];
    long values[FAMILY_MAX_PARAMS][FAMILY_MAX_VALUES];
};

/* The whole space; set `shard` or `shape` for less. */
void space_init(struct space *space, const struct family *family, const struct problem *problem,
        const struct device_facts *facts);

/* The number of points, legal or not. */
uint64_t space_size(const struct space *space);

struct point space_point(const struct space *space, uint64_t index);
uint64_t space_index(const struct space *space, const struct point *point);
void space_config(const struct space *space, const struct point *point, struct config *config);
/* False when a value of the configuration is not in the table. */
bool space_locate(const struct space *space, const struct config *config, struct point *point);
bool space_legal(const struct space *space, const struct point *point, const char **reason);

#endif
