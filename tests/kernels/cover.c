/* cover.c: greedy. For each value that no configuration has yet, random configurations with that
 * value are drawn, and the one that brings most that is new is taken. */
#include "cover.h"
#include "core/random.h"
#include "core/space.h"

#include <stdlib.h>

enum {
    DRAWS = 4000,                      /* random points per value, legal or not */
    CHOICES = 12,                      /* of which so many legal ones compete */
    SLOTS = FAMILY_MAX_PARAMS * FAMILY_MAX_VALUES
};

struct maker {
    struct space space;
    cover_accepts *accepts;
    void *env;
    struct cover *cover;
    bool pairs[SLOTS][SLOTS];          /* pairs[s][s] says whether a value was taken at all */
};

static unsigned slot(const struct point *point, unsigned param)
{
    return param * FAMILY_MAX_VALUES + point->at[param];
}

/* What a point would add: a new value outweighs all new pairs. */
static unsigned gain(const struct maker *maker, const struct point *point)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < maker->space.num_params; i++)
        for (unsigned j = i; j < maker->space.num_params; j++)
            if (!maker->pairs[slot(point, i)][slot(point, j)])
                sum += i == j ? 1000 : 1;
    return sum;
}

static bool may_take(const struct maker *maker, const struct point *point)
{
    const char *reason;
    struct config config;
    if (!space_legal(&maker->space, point, &reason))
        return false;
    space_config(&maker->space, point, &config);
    return maker->accepts(maker->env, &config, &maker->space.problem);
}

static void take(struct maker *maker, const struct point *point)
{
    struct cover *cover = maker->cover;
    if (cover->num == COVER_MAX_CONFIGS)
        return;
    space_config(&maker->space, point, &cover->configs[cover->num++]);
    for (unsigned i = 0; i < maker->space.num_params; i++)
        for (unsigned j = i; j < maker->space.num_params; j++)
            maker->pairs[slot(point, i)][slot(point, j)] = true;
}

/* Those that are meant for this precision. */
static void take_presets(struct maker *maker)
{
    const struct family *family = maker->space.family;
    const char letter = maker->space.problem.precision->letter;
    char error[FAMILY_ERROR_BYTES];
    for (unsigned i = 0; i < family->num_presets; i++) {
        const long meant = family->presets[i].precision;
        struct config config;
        struct point point;
        if (meant && meant != letter)
            continue;
        if (config_parse(family->presets[i].config, &config, error) &&
                space_locate(&maker->space, &config, &point) && may_take(maker, &point))
            take(maker, &point);
    }
    maker->cover->num_presets = maker->cover->num;
}

/* Takes the best of some random points whose parameter `param` has its value number `value`. */
static void take_value(struct maker *maker, unsigned param, unsigned value)
{
    /* Each precision gets configurations of its own. */
    uint64_t random = (uint64_t) maker->space.problem.precision->id * SLOTS +
                      param * FAMILY_MAX_VALUES + value;
    struct point best = { { 0 } };
    unsigned best_gain = 0, choices = 0;
    for (int draw = 0; draw < DRAWS && choices < CHOICES; draw++) {
        struct point point = space_point(&maker->space,
                random_next(&random) % space_size(&maker->space));
        point.at[param] = (unsigned char) value;
        if (!may_take(maker, &point))
            continue;
        choices++;
        if (gain(maker, &point) > best_gain) {
            best_gain = gain(maker, &point);
            best = point;
        }
    }
    if (best_gain)
        take(maker, &best);
}

void cover_make(const struct family *family, const struct problem *problem,
        const struct device_facts *facts, cover_accepts *accepts, void *env, struct cover *cover)
{
    struct maker *maker = calloc(1, sizeof *maker);
    cover->num = cover->num_presets = 0;
    if (!maker)
        return;
    space_init(&maker->space, family, problem, facts);
    maker->accepts = accepts;
    maker->env = env;
    maker->cover = cover;
    take_presets(maker);
    for (unsigned i = 0; i < family->num_params; i++)
        for (unsigned v = 0; v < maker->space.num_values[i]; v++) {
            const unsigned s = i * FAMILY_MAX_VALUES + v;
            if (!maker->pairs[s][s])
                take_value(maker, i, v);
        }
    free(maker);
}
