/* test_family.c: the families' tables, and configurations to and from text,
 * generator/core/family.c. */
#include "wide.h"
#include "expr.h"
#include "point.h"
#include "random.h"
#include "space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void names_of_families_and_precisions(void **state)
{
    (void) state;
    for (size_t i = 0; i < num_families; i++) {
        assert_ptr_equal(family_find(families[i]->name), families[i]);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(families[i]->name, families[j]->name);
        assert_true(families[i]->meaning[0]);
    }
    assert_null(family_find("none"));
    for (size_t i = 0; i < KILN_NUM_PRECISIONS; i++) {
        const char letter[] = { precisions[i].letter, '\0' };
        assert_ptr_equal(precision_find(precisions[i].name), &precisions[i]);
        assert_ptr_equal(precision_find(letter), &precisions[i]);
        assert_ptr_equal(precision_of_id(precisions[i].id), &precisions[i]);
    }
    assert_null(precision_find("quadruple"));
    assert_null(precision_find(""));
    assert_null(precision_of_id(99));
}

static size_t count_words(const char *text)
{
    size_t num = 0;
    for (; *(text += strspn(text, " ")); text += strcspn(text, " "))
        num++;
    return num;
}

/* Values are increasing numbers, none is cut off, and the default is one of them. */
static void check_values(const struct family *family, const struct family_param *param)
{
    long values[FAMILY_MAX_VALUES];
    const unsigned num = param_values(param, values);
    bool has_default = false;
    if (num == 0 || num != count_words(param->values))
        fail_msg("%s %s: values '%s'", family->name, param->name, param->values);
    for (unsigned i = 0; i < num; i++) {
        has_default = has_default || values[i] == param->default_value;
        if (values[i] < 0 || (i > 0 && values[i] <= values[i - 1]))
            fail_msg("%s %s: value %ld", family->name, param->name, values[i]);
    }
    if (!has_default)
        fail_msg("%s %s: the default is not a value", family->name, param->name);
}

/* Upper-case letters alone: kernel names are read back by where the digits begin. */
static void check_name(const struct family *family, const char *name)
{
    if (strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != strlen(name) || !*name)
        fail_msg("%s: the name '%s'", family->name, name);
}

/* No name of the scope hides another one. */
static void check_scope(const struct family *family)
{
    static struct scope scope;
    const struct device_facts facts = facts_wide();
    const struct problem problem = { &precisions[0], false, false };
    struct config config;
    char error[FAMILY_ERROR_BYTES];
    config_default(family, &config);
    assert_true(config_scope(&config, &problem, &facts, &scope, error));
    for (size_t i = 0; i < scope.num; i++)
        if (scope_find(&scope, scope.entries[i].name, strlen(scope.entries[i].name)) !=
                &scope.entries[i])
            fail_msg("%s: '%s' means two things", family->name, scope.entries[i].name);
}

static void tables_are_well_formed(void **state)
{
    (void) state;
    for (size_t f = 0; f < num_families; f++) {
        const struct family *family = families[f];
        assert_in_range(family->num_params, 1, FAMILY_MAX_PARAMS);
        for (unsigned i = 0; i < family->num_params; i++) {
            check_name(family, family->params[i].name);
            check_values(family, &family->params[i]);
            assert_true(family->params[i].meaning[0]);
        }
        for (unsigned i = 0; i < family->num_rules; i++)
            assert_true(family->rules[i].reason[0]);
        check_scope(family);
    }
}

/* On any point a rule is kept or broken; it is never in error, nor is the rank. */
static void rules_always_have_a_value(void **state)
{
    (void) state;
    static struct scope scope;
    const struct device_facts facts[2] = { facts_wide(), { .value = { 0 } } };
    for (size_t f = 0; f < num_families; f++)
        for (uint64_t draw = 0, random = 1; draw < 3000; draw++) {
            const struct problem problem = { &precisions[draw % KILN_NUM_PRECISIONS], draw % 2,
                draw % 4 / 2 };
            struct space space;
            struct config config;
            char error[FAMILY_ERROR_BYTES];
            space_init(&space, families[f], &problem, &facts[draw % 2]);
            const struct point point = space_point(&space,
                    random_next(&random) % space_size(&space));
            space_config(&space, &point, &config);
            assert_true(config_scope(&config, &problem, &space.facts, &scope, error));
            for (unsigned i = 0; i < families[f]->num_rules; i++) {
                const char *rule = families[f]->rules[i].expr;
                struct expr_error e;
                int64_t value;
                if (!expr_eval(rule, strlen(rule), &scope, &value, &e))
                    fail_msg("%s: '%s': %s", families[f]->name, rule, e.what);
            }
        }
}

/* Whether each part of a list separated by semicolons has a value, and none is below the least. */
static bool parts_have_values(const char *list, const struct scope *scope, long least)
{
    while (list) {
        const size_t len = strcspn(list, ";");
        struct expr_error e;
        long value;
        if (!expr_eval(list, len, scope, &value, &e) || value < least || value > INT32_MAX)
            return false;
        list = list[len] ? list + len + 1 : NULL;
    }
    return true;
}

/* Every family states its tile, which has a value wherever the family is legal, and so have the
 * further edges and the turns. */
static void tiles_are_stated(void **state)
{
    (void) state;
    static struct scope scope;
    struct device_facts facts;
    facts_ample(&facts);
    for (size_t f = 0; f < num_families; f++)
        for (uint64_t draw = 0, random = 3, legal = 0; draw < 200000 && legal < 300; draw++) {
            const struct family *family = families[f];
            const struct problem problem = problem_of_pair(&precisions[draw % KILN_NUM_PRECISIONS],
                    (int) (draw / KILN_NUM_PRECISIONS % NUM_PAIRS));
            struct space space;
            struct config config;
            const char *reason;
            char error[FAMILY_ERROR_BYTES];
            space_init(&space, family, &problem, &facts);
            const struct point point = space_point(&space,
                    random_next(&random) % space_size(&space));
            space_config(&space, &point, &config);
            if (!config_legal(&config, &problem, &facts, &reason))
                continue;
            legal++;
            assert_true(config_scope(&config, &problem, &facts, &scope, error));
            for (int i = 0; i < 3; i++)
                if (!family->tile[i] || !parts_have_values(family->tile[i], &scope, 1) ||
                        !parts_have_values(family->edges[i], &scope, 0))
                    fail_msg("%s: the tile or the edges of %c", family->name, "MNK"[i]);
            assert_true(parts_have_values(family->shares, &scope, 0));
            assert_true(parts_have_values(family->as_is[0], &scope, 0));
            assert_true(parts_have_values(family->as_is[1], &scope, 0));
            assert_true(parts_have_values(family->batches, &scope, 0));
            assert_true(parts_have_values(family->unit_turns, &scope, 0));
            assert_true(parts_have_values(family->block[0], &scope, 1));
            assert_true(parts_have_values(family->block[1], &scope, 1));
        }
}

/* Each is legal for some precision on a wide device, and its name is no other's. */
static void presets_are_legal(void **state)
{
    (void) state;
    struct device_facts facts = facts_wide();
    for (size_t f = 0; f < num_families; f++)
        for (unsigned i = 0; i < families[f]->num_presets; i++) {
            facts.value[FACT_COMPUTE_CAPABILITY] = families[f]->capability;
            const struct family_preset *preset = &families[f]->presets[i];
            struct config config;
            char error[FAMILY_ERROR_BYTES] = "";
            const char *reason = NULL;
            bool legal = false;
            if (!config_parse(preset->config, &config, error))
                fail_msg("%s:%s: %s", families[f]->name, preset->name, error);
            assert_ptr_equal(config.family, families[f]);
            for (size_t p = 0; p < KILN_NUM_PRECISIONS; p++) {
                const struct problem problem = { &precisions[p], false, false };
                legal = config_legal(&config, &problem, &facts, &reason) || legal;
            }
            if (!legal)
                fail_msg("%s:%s: %s", families[f]->name, preset->name, reason);
            assert_ptr_equal(preset_find(preset->name, &config, error), preset);
        }
}

static bool is_known_letter(char letter)
{
    const char name[] = { letter, '\0' };
    return !letter || precision_find(name);
}

/* A figure says of what it is, and the preset is legal for just that on an ample device. */
static void figures_are_whole(void **state)
{
    (void) state;
    struct device_facts facts;
    facts_ample(&facts);
    for (size_t f = 0; f < num_families; f++)
        for (unsigned i = 0; i < families[f]->num_presets; i++) {
            const struct family_preset *preset = &families[f]->presets[i];
            const struct family_figure *figure = &preset->figure;
            struct config config;
            char error[FAMILY_ERROR_BYTES] = "";
            const char *reason;
            assert_true(is_known_letter((char) preset->precision));
            assert_true(!figure->pair || pair_find(figure->pair) >= 0);
            assert_true(config_parse(preset->config, &config, error));
            const struct problem problem = preset_problem(preset, &config, &facts);
            if (!config_legal(&config, &problem, &facts, &reason))
                fail_msg("%s: %s", preset->name, reason);
            if (figure->gflops > 0 && (!figure->device || !preset->precision ||
                                              figure->extent < 0 || !preset->origin))
                fail_msg("%s: a figure of nothing", preset->name);
        }
}

static void precisions_are_there_by_the_device(void **state)
{
    struct device_facts facts = facts_wide();
    (void) state;
    for (size_t p = 0; p < KILN_NUM_PRECISIONS; p++) {
        facts.value[FACT_COMPUTE_CAPABILITY] = 90;
        facts.value[FACT_HAS_DOUBLE] = 1;
        assert_true(precision_is_there(&precisions[p], &facts));
        facts.value[FACT_COMPUTE_CAPABILITY] = 80;
        assert_true(precision_is_there(&precisions[p], &facts));
        facts.value[FACT_COMPUTE_CAPABILITY] = 75;
        assert_int_equal(precision_is_there(&precisions[p], &facts),
                precisions[p].id != KILN_ID_EMULATED);
        facts.value[FACT_HAS_DOUBLE] = 0;
        assert_int_equal(precision_is_there(&precisions[p], &facts),
                precisions[p].id != KILN_ID_EMULATED && precisions[p].real_bytes < 8);
    }
}

static void preset_names_are_found(void **state)
{
    (void) state;
    struct config config;
    char error[FAMILY_ERROR_BYTES] = "";
    assert_non_null(preset_find("avx512", &config, error));
    assert_ptr_equal(config.family, family_find("packed"));
    assert_null(preset_find("axv512", &config, error));
    assert_string_equal(error, "no preset 'axv512'; is 'avx512' meant?");
    assert_null(preset_find("", &config, error));
    assert_string_equal(error, "no preset ''; 'kiln-gen presets' lists them");
}

/* The default configuration must render everywhere: it is what users see first. */
static void a_legal_configuration_on_the_least_device(void **state)
{
    (void) state;
    struct device_facts facts;
    facts_minimal(&facts);
    for (size_t f = 0; f < num_families; f++) {
        const size_t p = served_precision(families[f], 1);
        const struct problem problem = { &precisions[p], false, false };
        struct config config;
        const char *reason = "";
        config_default(families[f], &config);
        facts.value[FACT_COMPUTE_CAPABILITY] = families[f]->capability;
        if (!config_legal(&config, &problem, &facts, &reason))
            fail_msg("%s: %s", families[f]->name, reason);
    }
}

static void texts_come_back(void **state)
{
    (void) state;
    const struct device_facts facts = facts_wide();
    const struct problem problem = { &precisions[0], false, false };
    for (size_t f = 0; f < num_families; f++)
        for (uint64_t draw = 0, random = 7; draw < 500; draw++) {
            struct space space;
            struct config config, again;
            char text[CONFIG_TEXT_BYTES], error[FAMILY_ERROR_BYTES];
            space_init(&space, families[f], &problem, &facts);
            const struct point point = space_point(&space,
                    random_next(&random) % space_size(&space));
            space_config(&space, &point, &config);
            config_format(&config, text);
            if (!config_parse(text, &again, error))
                fail_msg("%s: %s", text, error);
            assert_true(config_equal(&config, &again));
        }
}

/* Every value at its longest fits the text. */
static void texts_fit(void **state)
{
    (void) state;
    for (size_t f = 0; f < num_families; f++) {
        size_t bytes = strlen(families[f]->name);
        for (unsigned i = 0; i < families[f]->num_params; i++) {
            long values[FAMILY_MAX_VALUES];
            const unsigned num = param_values(&families[f]->params[i], values);
            bytes += (size_t) snprintf(NULL, 0, " %s=%ld", families[f]->params[i].name,
                    values[num - 1]);
        }
        assert_in_range(bytes, 1, CONFIG_TEXT_BYTES - 1);
    }
}

static void absent_parameters_take_defaults(void **state)
{
    (void) state;
    struct config config, expected;
    char error[FAMILY_ERROR_BYTES];
    config_default(family_find("packed"), &expected);
    assert_true(config_parse("packed", &config, error));
    assert_true(config_equal(&config, &expected));
    assert_true(config_parse("  packed  TM=12   KC=256 ", &config, error));
    expected.value[0] = 12;
    expected.value[5] = 256;
    assert_true(config_equal(&config, &expected));
}

static void wrong_texts_are_refused(void **state)
{
    (void) state;
    const struct {
        const char *text, *error;
    } rows[] = {
        { "", "no family ''" },
        { "packd TM=8", "no family 'packd'" },
        { "packed TM", "'TM' is not NAME=VALUE" },
        { "packed MT=8", "family 'packed' has no parameter 'MT'" },
        { "packed TM=", "'TM=': TM is one of: 1 2 3 4 6 8 10 12 14 16 20 24" },
        { "packed TM=5", "'TM=5': TM is one of: 1 2 3 4 6 8 10 12 14 16 20 24" },
        { "packed TM=8x", "'TM=8x': TM is one of: 1 2 3 4 6 8 10 12 14 16 20 24" },
        { "packed PACKA=99999999999999999999",
                "'PACKA=99999999999999999999': PACKA is one of: 0 1" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct config config;
        char error[FAMILY_ERROR_BYTES] = "";
        assert_false(config_parse(rows[i].text, &config, error));
        assert_string_equal(error, rows[i].error);
    }
}

static void rejection_has_a_reason(void **state)
{
    (void) state;
    struct device_facts facts = facts_wide();
    struct problem problem = { precision_find("double"), false, false };
    struct config config;
    char error[FAMILY_ERROR_BYTES];
    const char *reason;
    assert_true(config_parse("packed TM=8 NV=1 VEC=4", &config, error));
    assert_true(config_legal(&config, &problem, &facts, &reason));
    assert_null(reason);
    facts.value[FACT_HAS_DOUBLE] = 0;
    assert_false(config_legal(&config, &problem, &facts, &reason));
    assert_string_equal(reason, "the device has no double precision");
    assert_true(config_parse("packed TM=8 NV=1 VEC=4 KC=128", &config, error));
    problem.precision = precision_find("half");
    assert_true(config_legal(&config, &problem, &facts, &reason));
    facts.value[FACT_LOCAL_BYTES] = 2047;
    assert_false(config_legal(&config, &problem, &facts, &reason));
    assert_string_equal(reason, "the sums of slices of K exceed local memory");
}

static void each_extent_has_its_most_and_its_rest(void **state)
{
    const struct {
        const char *text;
        size_t m, n;
        bool takes;
    } rows[] = {
        { "thin SIDE=0 SHORT=2", 4, 1000, true },
        { "thin SIDE=0 SHORT=2", 5, 1000, false },
        { "thin SIDE=1 SHORT=2", 1000, 4, true },
        { "thin SIDE=1 SHORT=2", 1000, 5, false },
        { "tma BM=128 BN=64 EDGES=1", 1025, 1028, true },
        { "tma BM=128 BN=64 EDGES=1", 1029, 1028, false },
        { "tma BM=128 BN=64 EDGES=1", 1025, 1029, false },
        { "tma BM=128 BN=64 EDGES=1 STREAM=1", 1029, 1029, true },
        { "tma BM=128 BN=64 EDGES=1 STREAM=1", 1029, 1032, true },
        { "direct", 1000, 1000, true },
    };
    const struct problem problem = problem_of_pair(precision_find("single"), 0);
    const struct device_facts facts = facts_wide();
    (void) state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct config config;
        char error[FAMILY_ERROR_BYTES];
        assert_true(config_parse(rows[i].text, &config, error));
        assert_int_equal(config_takes(&config, &problem, &facts,
                                 (struct shape){ rows[i].m, rows[i].n, 1000 }),
                rows[i].takes);
    }
}

static void facts_are_read(void **state)
{
    (void) state;
    static const struct {
        const char *text, *error;
    } wrong[] = {
        { "", "no facts of a device in it" },
        { "name\tvalue\nUnit\t3\nUNITS\n", "no facts of a device in it" },
        { "name\tvalue\nUNITS\t3\nMAX_ITMES\t8\n", "line 3: no fact 'MAX_ITMES'" },
        { "fact\tUNITS\t3\nfact\tUNIT\t3\n", "line 2: no fact 'UNIT'" },
        { "UNITS\t3\nIS_CPU\t-1\n", "line 2: IS_CPU is not a whole number, 0 or more" },
        { "name\tvalue\nUNITS\tmany\n", "line 2: UNITS is not a whole number, 0 or more" },
        { "fact\tUNITS\t8x\n", "line 1: UNITS is not a whole number, 0 or more" },
        { "UNITS\t\nIS_CPU\t1\n", "line 1: UNITS is not a whole number, 0 or more" },
        { "UNITS\t9223372036854775808\n", "line 1: UNITS is not a whole number, 0 or more" },
    };
    struct device_facts facts, least;
    char error[FAMILY_ERROR_BYTES];
    facts_minimal(&least);
    assert_true(facts_parse("name\tvalue\tmeaning\nUNITS\t12\tof computing\r\nfact\tIS_CPU\t1",
            &facts, error));
    assert_true(facts.value[FACT_UNITS] == 12 && facts.value[FACT_IS_CPU] == 1);
    assert_true(facts.value[FACT_LOCAL_BYTES] == least.value[FACT_LOCAL_BYTES]);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_false(facts_parse(wrong[i].text, &facts, error));
        assert_string_equal(error, wrong[i].error);
    }
}

static void a_device_passes_for_a_lesser_one(void **state)
{
    struct device_facts facts, least;
    (void) state;
    facts_ample(&facts);
    facts_minimal(&least);
    strcpy(facts.device, "real");
    facts.value[FACT_UNITS] = 132;
    facts.value[FACT_IS_CPU] = 0;
    facts.value[FACT_CLOCK_MHZ] = 1980;
    facts.value[FACT_LOCAL_BYTES] = 16384;
    least.value[FACT_IS_CPU] = 1;
    least.value[FACT_HAS_DOUBLE] = 0;
    facts_lessen(&facts, &least);
    assert_string_equal(facts.device, "real");
    assert_int_equal(facts.value[FACT_UNITS], 132);
    assert_int_equal(facts.value[FACT_IS_CPU], 0);
    assert_int_equal(facts.value[FACT_CLOCK_MHZ], 1980);
    assert_int_equal(facts.value[FACT_LOCAL_BYTES], 16384);
    assert_int_equal(facts.value[FACT_MAX_ITEMS], 64);
    assert_int_equal(facts.value[FACT_VECTOR_BYTES], 16);
    assert_int_equal(facts.value[FACT_REGISTER_BYTES], 512);
    assert_int_equal(facts.value[FACT_COMPUTE_CAPABILITY], 0);
    assert_int_equal(facts.value[FACT_IMAGE_PIXELS], 0);
    assert_int_equal(facts.value[FACT_HAS_DOUBLE], 0);
    /* Shuffles of another kind are none. */
    facts.value[FACT_SHUFFLES] = 2;
    least.value[FACT_SHUFFLES] = 1;
    facts_lessen(&facts, &least);
    assert_int_equal(facts.value[FACT_SHUFFLES], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_families_and_precisions),
        cmocka_unit_test(facts_are_read),
        cmocka_unit_test(a_device_passes_for_a_lesser_one),
        cmocka_unit_test(tables_are_well_formed),
        cmocka_unit_test(rules_always_have_a_value),
        cmocka_unit_test(tiles_are_stated),
        cmocka_unit_test(presets_are_legal),
        cmocka_unit_test(figures_are_whole),
        cmocka_unit_test(precisions_are_there_by_the_device),
        cmocka_unit_test(preset_names_are_found),
        cmocka_unit_test(a_legal_configuration_on_the_least_device),
        cmocka_unit_test(texts_come_back),
        cmocka_unit_test(texts_fit),
        cmocka_unit_test(absent_parameters_take_defaults),
        cmocka_unit_test(wrong_texts_are_refused),
        cmocka_unit_test(rejection_has_a_reason),
        cmocka_unit_test(each_extent_has_its_most_and_its_rest),
    };
    return cmocka_run_group_tests_name("family", tests, NULL, NULL);
}
