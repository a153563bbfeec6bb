/* test_known.c: what the tuner learns from the bundles that are linked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "known.h"

#include <string.h>

const struct kiln_bundle *const kiln_linked_bundles[] = { NULL };

/* Configurations of family direct, which differ in KU alone. */
#define NAME(ku) "direct WGM=8 WGN=8 TM=4 NV=1 VEC=4 KU=" #ku " INDEX=64"
#define RECIPES(bundle, ku) \
    static const struct kiln_recipe bundle##_recipes[] = { \
        { .name = NAME(ku), .precision = 32 }, { .name = NAME(ku), .precision = 32, .transa = 1 }, \
        { .name = NAME(4), .precision = 64 }, { .name = "no family X=1", .precision = 32 }, \
    }
#define BUNDLE(bundle, glob, units, capability) \
    static const struct kiln_bundle bundle = { \
        .format = KILN_BUNDLE_FORMAT, .name = #bundle, .num_recipes = 4, \
        .recipes = bundle##_recipes, \
        .match = { .platform = "NVIDIA CUDA", .device = glob }, \
        .traits = { 0, units, 1, 1024, capability } }

RECIPES(stranger, 1);
RECIPES(distant, 2);
RECIPES(near_by, 4);
RECIPES(universal, 1);
BUNDLE(stranger, "S", 8, 90);
BUNDLE(distant, "D", 64, 80);
BUNDLE(near_by, "N*", 9, 80);
static const struct kiln_bundle universal = {
    .format = KILN_BUNDLE_FORMAT, .name = "universal", .num_recipes = 4,
    .recipes = universal_recipes,
};

extern const struct kiln_bundle *const kiln_known_bundles[];
const struct kiln_bundle *const kiln_known_bundles[] = {
    &stranger, &distant, &near_by, &universal, NULL
};

static struct device_facts facts_of(const char *device)
{
    struct device_facts facts;
    facts_minimal(&facts);
    strcpy(facts.platform, "NVIDIA CUDA");
    strcpy(facts.device, device);
    facts.value[FACT_UNITS] = 8;
    facts.value[FACT_VECTOR_BYTES] = 4;
    facts.value[FACT_LOCAL_BYTES] = 1024;
    facts.value[FACT_COMPUTE_CAPABILITY] = 80;
    return facts;
}

static void expect_unrolls(const char *device, size_t max, size_t num, const long unrolls[])
{
    const struct device_facts facts = facts_of(device);
    struct config configs[4];
    assert_int_equal(known_configs(&facts, precision_find("single"), configs, max), num);
    for (size_t i = 0; i < num; i++) {
        char text[CONFIG_TEXT_BYTES], *at;
        config_format(&configs[i], text);
        at = strstr(text, "KU=");
        assert_non_null(at);
        assert_int_equal(at[3] - '0', unrolls[i]);
    }
}

static void the_nearest_bundles_come_first(void **state)
{
    (void) state;
    expect_unrolls("new", 4, 3, (const long[]) { 4, 2, 1 });
    expect_unrolls("D", 4, 3, (const long[]) { 2, 4, 1 });
    expect_unrolls("S", 4, 3, (const long[]) { 1, 4, 2 });
    expect_unrolls("new", 2, 2, (const long[]) { 4, 2 });
}

static void a_relative_is_no_match(void **state)
{
    struct device_facts facts = facts_of("new");
    (void) state;
    assert_false(known_match(&facts));
    facts = facts_of("N1");
    assert_true(known_match(&facts));
}

static void generic_is_known_by_itself(void **state)
{
    struct config configs[4];
    (void) state;
    assert_int_equal(known_generic(precision_find("single"), configs, 4), 1);
    assert_int_equal(known_generic(precision_find("double"), configs, 4), 1);
    assert_int_equal(known_generic(precision_find("half"), configs, 4), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_bundles_come_first),
        cmocka_unit_test(a_relative_is_no_match),
        cmocka_unit_test(generic_is_known_by_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
