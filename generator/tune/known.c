/* known.c: what the linked bundles hold already. */
#include "known.h"
#include "internal.h"

/* The bundles of option "bundles"; kiln_linked_bundles is empty in the tuner, so that a candidate
 * that is refused has nothing to fall back to. Made by tuned/meson.build. */
extern const struct kiln_bundle *const kiln_known_bundles[];

bool known_match(cl_device_id device)
{
    struct kiln_device_facts facts;
    bool found = false;
    if (kiln_device_facts_query(device, &facts) != KILN_SUCCESS)
        return false;
    for (size_t i = 0; kiln_known_bundles[i] && kiln_known_bundles[i + 1]; i++)
        found = found || kiln_bundle_matches(kiln_known_bundles[i], &facts);
    kiln_device_facts_free(&facts);
    return found;
}

/* Adds the configuration of a recipe, given by the recipe's name, unless it is listed. */
static size_t add_config(const char *name, struct config *configs, size_t num)
{
    char error[FAMILY_ERROR_BYTES];
    if (!config_parse(name, &configs[num], error))
        return num;
    for (size_t i = 0; i < num; i++)
        if (config_equal(&configs[i], &configs[num]))
            return num;
    return num + 1;
}

size_t known_configs(const struct precision *precision, struct config *configs, size_t max)
{
    size_t num = 0;
    for (size_t b = 0; kiln_known_bundles[b] && kiln_known_bundles[b + 1]; b++)
        for (uint32_t r = 0; r < kiln_known_bundles[b]->num_recipes && num < max; r++)
            if (kiln_known_bundles[b]->recipes[r].precision == precision->bits)
                num = add_config(kiln_known_bundles[b]->recipes[r].name, configs, num);
    return num;
}
