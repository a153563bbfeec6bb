/* space.c: mixed-radix enumeration of a family's parameters. */
#include "space.h"
#include "random.h"

#include <stdio.h>
#include <string.h>

bool shard_parse(const char *text, struct shard *shard)
{
    char rest;
    return strlen(text) < sizeof "9999/9999" && !text[strspn(text, "0123456789/")] &&
           sscanf(text, "%u/%u%c", &shard->index, &shard->num, &rest) == 2 && shard->index >= 1 &&
           shard->index <= shard->num && shard->num <= MAX_SHARDS;
}

void space_init(struct space *space, const struct family *family, const struct problem *problem,
        const struct device_facts *facts)
{
    *space = (struct space){ .family = family,
        .problem = *problem,
        .facts = *facts,
        .num_params = family->num_params };
    for (unsigned i = 0; i < family->num_params; i++)
        space->num_values[i] = param_values(&family->params[i], space->values[i]);
}

uint64_t space_size(const struct space *space)
{
    return point_count(space->num_values, space->num_params);
}

struct point space_point(const struct space *space, uint64_t index)
{
    return point_of_index(index, space->num_values, space->num_params);
}

uint64_t space_index(const struct space *space, const struct point *point)
{
    return point_index(point, space->num_values, space->num_params);
}

void space_config(const struct space *space, const struct point *point, struct config *config)
{
    *config = (struct config){ .family = space->family };
    for (unsigned i = 0; i < space->num_params; i++)
        config->value[i] = space->values[i][point->at[i]];
}

bool space_locate(const struct space *space, const struct config *config, struct point *point)
{
    *point = (struct point){ { 0 } };
    for (unsigned i = 0; i < space->num_params; i++) {
        unsigned v = 0;
        while (v < space->num_values[i] && space->values[i][v] != config->value[i])
            v++;
        if (v == space->num_values[i])
            return false;
        point->at[i] = (unsigned char) v;
    }
    return true;
}

/* Neighbouring points fall into different shards, so that each shard is a sample of the whole
 * space. */
static bool in_shard(const struct space *space, const struct point *point)
{
    uint64_t state = space_index(space, point);
    return !space->shard.num || random_next(&state) % space->shard.num + 1 == space->shard.index;
}

bool space_legal(const struct space *space, const struct point *point, const char **reason)
{
    struct config config;
    if (!in_shard(space, point)) {
        *reason = "in another shard";
        return false;
    }
    space_config(space, point, &config);
    if (!config_legal(&config, &space->problem, &space->facts, reason))
        return false;
    if (!space->shape.m || config_takes(&config, &space->problem, &space->facts, space->shape))
        return true;
    *reason = "does not take the shape";
    return false;
}
