/* test_linked.c: what the tuner learns from the bundles that are linked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "linked.h"

#include <string.h>

const struct kiln_bundle *const kiln_linked_bundles[] = { NULL };

/* Configurations of family direct, which differ in KU alone. */
#define NAME(ku) "direct WGM=8 WGN=8 TM=4 NV=1 VEC=4 KU=" #ku " INDEX=64"
#define RECIPES(bundle, ku, how_long) \
    static const struct kiln_recipe bundle##_recipes[] = { \
        { .name = NAME(ku), .precision = KILN_SINGLE, .time = how_long }, \
        { .name = NAME(ku), .precision = KILN_SINGLE, .transa = 1 }, \
        { .name = NAME(4), .precision = KILN_DOUBLE }, \
        { .name = "no family X=1", .precision = KILN_SINGLE }, \
    }
#define BUNDLE(bundle, glob, units, capability) \
    static const struct kiln_bundle bundle = { \
        .format = KILN_BUNDLE_FORMAT, .name = #bundle, .num_recipes = 4, \
        .recipes = bundle##_recipes, \
        .match = { .platform = "NVIDIA CUDA", .device = glob }, \
        .traits = { 0, units, 1, 1024, capability } }

static const struct kiln_time time_of_kind = { .coefficient = { 1 } };
static const struct kiln_time time_of_near = { .coefficient = { 2 } };
static const struct kiln_time time_of_distant = { .coefficient = { 3 } };
RECIPES(stranger, 1, NULL);
RECIPES(distant, 2, &time_of_distant);
RECIPES(near_by, 4, &time_of_near);
BUNDLE(stranger, "S", 8, 90);
BUNDLE(distant, "D", 64, 80);
BUNDLE(near_by, "N*", 9, 80);
static const struct kiln_recipe universal_recipes[] = {
    { .name = NAME(1), .precision = KILN_SINGLE, .kinds = KILN_KIND_CPU, .vector_floats = 8,
      .time = &time_of_kind },
    { .name = NAME(2), .precision = KILN_SINGLE, .kinds = KILN_KIND_OTHER },
    { .name = NAME(4), .precision = KILN_SINGLE }, { .name = NAME(4), .precision = KILN_DOUBLE },
};
static const struct kiln_bundle universal = {
    .format = KILN_BUNDLE_FORMAT, .name = "universal", .num_recipes = 4,
    .recipes = universal_recipes,
};

const struct kiln_bundle *const kiln_tuner_bundles[] = {
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

typedef size_t list_known(const void *bundles, const struct device_facts *facts,
        const struct precision *precision, struct config *configs, size_t max);

static void expect_listed(list_known *list, const char *device, size_t max, size_t num,
        const long unrolls[])
{
    const struct device_facts facts = facts_of(device);
    struct config configs[4];
    assert_int_equal(list(kiln_tuner_bundles, &facts, precision_find("single"), configs, max), num);
    for (size_t i = 0; i < num; i++) {
        char text[CONFIG_TEXT_BYTES], *at;
        config_format(&configs[i], text);
        at = strstr(text, "KU=");
        assert_non_null(at);
        assert_int_equal(at[3] - '0', unrolls[i]);
    }
}

static size_t list_all(const void *bundles, const struct device_facts *facts,
        const struct precision *precision, struct config *configs, size_t max)
{
    (void) bundles;
    return linked_configs(facts, precision, configs, max);
}

static void expect_unrolls(const char *device, size_t max, size_t num, const long unrolls[])
{
    expect_listed(list_all, device, max, num, unrolls);
}

static void the_nearest_bundles_come_first(void **state)
{
    (void) state;
    expect_unrolls("new", 4, 3, (const long[]){ 4, 2, 1 });
    expect_unrolls("D", 4, 3, (const long[]){ 2, 4, 1 });
    expect_unrolls("S", 4, 3, (const long[]){ 1, 4, 2 });
    expect_unrolls("new", 2, 2, (const long[]){ 4, 2 });
}

/* A bundle for devices of another kind is none of a relative. */
static void only_relatives_are_kin(void **state)
{
    (void) state;
    expect_listed(linked_kin, "new", 4, 2, (const long[]){ 4, 2 });
    expect_listed(linked_kin, "D", 4, 2, (const long[]){ 2, 4 });
    expect_listed(linked_kin, "S", 4, 3, (const long[]){ 1, 4, 2 });
    expect_listed(linked_kin, "new", 1, 1, (const long[]){ 4 });
}

/* Expects the time; returns in which bundle it is. */
static unsigned expect_time(const char *device, const char *precision, const char *name,
        const struct kiln_time *time, bool is_for_device)
{
    const struct device_facts facts = facts_of(device);
    struct prior_source source = { .bundle = 0 };
    struct config config;
    char error[FAMILY_ERROR_BYTES];
    assert_true(config_parse(name, &config, error));
    assert_ptr_equal(
            linked_time(kiln_tuner_bundles, &facts, precision_find(precision), &config, &source),
            time);
    assert_int_equal(time && source.is_for_device, is_for_device);
    return source.bundle;
}

static void times_tell_whose_they_are(void **state)
{
    (void) state;
    for (int i = 0; i < 3; i++) {
        const char *const device = (const char *const[]){ "new", "N1", "S" }[i];
        assert_int_not_equal(expect_time(device, "single", NAME(4), &time_of_near, i == 1),
                expect_time(device, "single", NAME(2), &time_of_distant, false));
    }
    expect_time("new", "single", NAME(1), NULL, false);
    expect_time("new", "double", NAME(4), NULL, false);
}

static void a_relative_is_no_match(void **state)
{
    struct device_facts facts = facts_of("new");
    (void) state;
    assert_false(linked_match(&facts));
    facts = facts_of("N1");
    assert_true(linked_match(&facts));
}

static void generic_is_known_by_itself(void **state)
{
    static const char *const served[] = { "single", "double", "half" };
    struct config configs[4];
    (void) state;
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(
                linked_generic(kiln_tuner_bundles, NULL, precision_find(served[i]), configs, 4),
                i < 2);
}

/* A digit for each of the configurations. */
static long unrolls_of_kind(long is_cpu, long vector_bytes)
{
    long unrolls = 0;
    struct device_facts facts = facts_of("new");
    struct config configs[4];
    facts.value[FACT_IS_CPU] = is_cpu;
    facts.value[FACT_VECTOR_BYTES] = vector_bytes;
    facts.value[FACT_COMPUTE_CAPABILITY] = 0;
    const size_t num = linked_of_kind(kiln_tuner_bundles, &facts, precision_find("single"), configs,
            4);
    for (size_t c = 0; c < num; c++)
        for (unsigned i = 0; i < configs[c].family->num_params; i++)
            if (!strcmp(configs[c].family->params[i].name, "KU"))
                unrolls = 10 * unrolls + configs[c].value[i];
    return unrolls;
}

static void generic_has_recipes_for_a_kind(void **state)
{
    (void) state;
    assert_int_equal(unrolls_of_kind(1, 64), 14);
    assert_int_equal(unrolls_of_kind(1, 32), 14);
    assert_int_equal(unrolls_of_kind(1, 16), 4);
    assert_int_equal(unrolls_of_kind(1, 4), 4);
    assert_int_equal(unrolls_of_kind(0, 4), 24);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_bundles_come_first),
        cmocka_unit_test(only_relatives_are_kin),
        cmocka_unit_test(times_tell_whose_they_are),
        cmocka_unit_test(a_relative_is_no_match),
        cmocka_unit_test(generic_is_known_by_itself),
        cmocka_unit_test(generic_has_recipes_for_a_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
