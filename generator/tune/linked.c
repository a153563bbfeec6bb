/* linked.c: what the linked bundles hold already. */
#include "linked.h"

#include <stdio.h>
#include <string.h>

/* The facts as the library knows them, with strings of their own. */
struct matched {
    char platform[sizeof ((struct device_facts *) 0)->platform];
    char device[sizeof ((struct device_facts *) 0)->device];
    char driver[sizeof ((struct device_facts *) 0)->driver];
    struct kiln_device_facts facts;
};

static void matched_make(const struct device_facts *facts, struct matched *matched)
{
    memcpy(matched->platform, facts->platform, sizeof matched->platform);
    memcpy(matched->device, facts->device, sizeof matched->device);
    memcpy(matched->driver, facts->driver, sizeof matched->driver);
    matched->facts = (struct kiln_device_facts){
        .platform = matched->platform,
        .device = matched->device,
        .driver = matched->driver,
        .is_cpu = facts->value[FACT_IS_CPU] != 0,
        .compute_units = (cl_uint) facts->value[FACT_UNITS],
        .native_vector_float = (cl_uint) facts->value[FACT_VECTOR_BYTES] / 4,
        .local_bytes = (cl_ulong) facts->value[FACT_LOCAL_BYTES],
        .compute_capability = (cl_uint) facts->value[FACT_COMPUTE_CAPABILITY],
    };
}

bool linked_match(const struct device_facts *facts)
{
    struct matched matched;
    matched_make(facts, &matched);
    for (size_t i = 0; kiln_tuner_bundles[i]; i++)
        if (!kiln_bundle_is_generic(kiln_tuner_bundles[i]) &&
                kiln_bundle_matches(kiln_tuner_bundles[i], &matched.facts))
            return true;
    return false;
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

/* Which of a bundle's recipes. Generic holds some for any device, in an order of their own, and
 * others that were tuned on some kind of device. */
enum which { ALL, FOR_ANY, FOR_KIND };

static bool is_wanted(const struct kiln_recipe *recipe, enum which which,
        const struct kiln_device_facts *facts)
{
    const bool is_for_any = !recipe->kinds && !recipe->time;
    return which == ALL ||
           (which == FOR_ANY ? is_for_any : !is_for_any && !kiln_recipe_kind_misfit(recipe, facts));
}

static size_t add_configs(const struct kiln_bundle *bundle, const struct precision *precision,
        enum which which, const struct kiln_device_facts *facts, struct config *configs, size_t num,
        size_t max)
{
    for (uint32_t r = 0; r < bundle->num_recipes && num < max; r++)
        if (bundle->recipes[r].precision == precision->id &&
                bundle->recipes[r].routine == KILN_ROUTINE_MULTIPLY &&
                bundle->recipes[r].triangles != KILN_TRIANGLES_ALWAYS &&
                is_wanted(&bundle->recipes[r], which, facts))
            num = add_config(bundle->recipes[r].name, configs, num);
    return num;
}

/* Those of bundles nearer than a distance, nearest first. */
static size_t list_configs(const struct kiln_bundle *const *bundles,
        const struct device_facts *facts, const struct precision *precision, int64_t distance,
        struct config *configs, size_t max)
{
    struct matched matched;
    struct kiln_kin kin = { .bundle = NULL };
    size_t num = 0;
    matched_make(facts, &matched);
    while (kiln_kin_next(bundles, &matched.facts, &kin))
        if (!kiln_bundle_is_generic(kin.bundle) && kin.distance <= distance)
            num = add_configs(kin.bundle, precision, ALL, NULL, configs, num, max);
    return num;
}

size_t linked_configs(const struct device_facts *facts, const struct precision *precision,
        struct config *configs, size_t max)
{
    return list_configs(kiln_tuner_bundles, facts, precision, INT64_MAX, configs, max);
}

size_t linked_kin(const void *bundles, const struct device_facts *facts,
        const struct precision *precision, struct config *configs, size_t max)
{
    return list_configs(bundles, facts, precision, INT64_MAX - 1, configs, max);
}

static size_t list_generic(const struct kiln_bundle *const *bundles,
        const struct precision *precision, enum which which, const struct kiln_device_facts *facts,
        struct config *configs, size_t num, size_t max)
{
    for (; *bundles; bundles++)
        if (kiln_bundle_is_generic(*bundles))
            num = add_configs(*bundles, precision, which, facts, configs, num, max);
    return num;
}

const struct kiln_time *linked_time(const void *bundles, const struct device_facts *facts,
        const struct precision *precision, const struct config *config, struct prior_source *source)
{
    struct matched matched;
    struct kiln_kin kin = { .bundle = NULL };
    char name[CONFIG_TEXT_BYTES];
    config_format(config, name);
    matched_make(facts, &matched);
    for (unsigned nth = 0; kiln_kin_next(bundles, &matched.facts, &kin) && kin.distance < INT64_MAX;
            nth++)
        for (uint32_t r = 0; r < kin.bundle->num_recipes; r++) {
            const struct kiln_recipe *recipe = &kin.bundle->recipes[r];
            if (recipe->time && recipe->precision == precision->id &&
                    !kiln_bundle_is_generic(kin.bundle) && !strcmp(recipe->name, name)) {
                *source = (struct prior_source){ .bundle = nth,
                    .is_for_device = kin.distance == 0 };
                return recipe->time;
            }
        }
    return NULL;
}

size_t linked_generic(const void *bundles, const struct device_facts *facts,
        const struct precision *precision, struct config *configs, size_t max)
{
    (void) facts;
    return list_generic(bundles, precision, FOR_ANY, NULL, configs, 0, max);
}

size_t linked_of_kind(const void *bundles, const struct device_facts *facts,
        const struct precision *precision, struct config *configs, size_t max)
{
    struct matched matched;
    matched_make(facts, &matched);
    const size_t num = list_generic(bundles, precision, FOR_KIND, &matched.facts, configs, 0, max);
    return list_generic(bundles, precision, FOR_ANY, NULL, configs, num, max);
}

/* The name of the recipe that one bundle serves a call with. */
static bool dispatch_bundle(const struct launcher *launcher, const struct kiln_bundle *bundle,
        const struct kiln_gemm *gemm, char name[CONFIG_TEXT_BYTES])
{
    const struct kiln_context_params params = { .bundle = bundle };
    struct kiln_context *context = NULL;
    struct kiln_problem problem;
    struct kiln_choice choice;
    const bool found = kiln_context_create(launcher->context, launcher->device, &params,
                               &context) == KILN_SUCCESS &&
                       kiln_problem_make(context, gemm, KILN_CHECK_SHAPE, &problem) ==
                               KILN_SUCCESS &&
                       kiln_attempt_first(context, &problem, &choice) == KILN_SUCCESS;
    if (found)
        snprintf(name, CONFIG_TEXT_BYTES, "%s", choice.plan.recipe->name);
    kiln_context_destroy(&context);
    return found;
}

bool linked_dispatch(const struct launcher *launcher, const struct problem *problem,
        struct shape shape, struct config *config)
{
    const struct kiln_gemm gemm = launcher_gemm(problem, shape);
    const struct kiln_bundle *chain[KILN_MAX_LINKS];
    struct kiln_device_facts facts;
    char name[CONFIG_TEXT_BYTES], error[FAMILY_ERROR_BYTES];
    unsigned num = 0;
    bool found = false;
    if (kiln_device_facts_query(launcher->device, &facts) != KILN_SUCCESS)
        return false;
    if (kiln_select_bundles(NULL, kiln_tuner_bundles, false, &facts, chain, &num) != KILN_SUCCESS)
        num = 0;
    for (unsigned i = 0; i < num && !found; i++)
        found = dispatch_bundle(launcher, chain[i], &gemm, name) &&
                config_parse(name, config, error);
    kiln_device_facts_free(&facts);
    return found;
}
