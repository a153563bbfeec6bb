/* test_assemble.c: configurations as bundles in memory, generator/core/assemble.c.
 *
 * Every preset is assembled for every precision and transpose pair that it is legal for, and looked
 * at as the runtime and a reader of kernel names would.
 */
#include "wide.h"
#include "assemble.h"
#include "tidy.h"
#include "fnv.h"
#include "internal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void each_recipe(const struct assembly *assembly, const struct config *config,
        const struct problem *problem);

/* One preset in so many is assembled: code under a sanitizer is much slower. */
#ifdef __SANITIZE_ADDRESS__
enum { PRESETS_APART = 4 };
#else
enum { PRESETS_APART = 1 };
#endif

/* Calls `each` for every legal preset x precision x pair, each in an assembly of its own. Returns
 * how many there are. */
static unsigned for_each_recipe_on(const struct device_facts *facts, each_recipe *each)
{
    unsigned num = 0;
    for (size_t i = 0; i < num_families * KILN_NUM_PRECISIONS * 4; i++) {
        const struct family *family = families[i / 4 / KILN_NUM_PRECISIONS];
        const struct problem problem = { &precisions[i / 4 % KILN_NUM_PRECISIONS], i & 2, i & 1 };
        for (unsigned p = 0; p < family->num_presets; p++) {
            if ((i + p) % PRESETS_APART)
                continue;
            struct assembly assembly;
            struct config config;
            const char *reason;
            char error[FAMILY_ERROR_BYTES];
            unsigned index;
            assert_true(config_parse(family->presets[p].config, &config, error));
            if (!config_legal(&config, &problem, facts, &reason))
                continue;
            num++;
            assert_true(assembly_init(&assembly, "test", facts));
            if (!assembly_add(&assembly, &config, &problem, &index, error))
                fail_msg("%s: %s", family->presets[p].config, error);
            each(&assembly, &config, &problem);
            assembly_free(&assembly);
        }
    }
    return num;
}

static void for_each_recipe(each_recipe *each)
{
    const struct device_facts facts = facts_wide();
    assert_true(for_each_recipe_on(&facts, each) > 0);
}

/* ---- Names ---- */

/* What a kernel's name says. */
struct parsed {
    const struct precision *precision;
    const struct family *family;
    char stage[32];
};

/* The next part of a name up to an underscore or its end. */
static bool next_part(const char **at, char part[32])
{
    const size_t len = strcspn(*at, "_");
    if (!len || len >= 32)
        return false;
    snprintf(part, 32, "%.*s", (int) len, *at);
    *at += len + ((*at)[len] == '_');
    return true;
}

/* kiln_Pgemm_FAMILY_STAGE */
static bool parse_name(const char *name, struct parsed *parsed)
{
    char part[32];
    *parsed = (struct parsed){ .precision = NULL };
    if (!next_part(&name, part) || strcmp(part, "kiln") || !next_part(&name, part) ||
            strlen(part) != 5 || strcmp(part + 1, "gemm"))
        return false;
    part[1] = '\0';
    parsed->precision = precision_find(part);
    if (!parsed->precision || !next_part(&name, part))
        return false;
    parsed->family = family_find(part);
    if (!parsed->family || !next_part(&name, parsed->stage))
        return false;
    return !*name;
}

static void check_name(const struct assembly *assembly, const struct config *config,
        const struct problem *problem)
{
    const struct kiln_recipe *recipe = &assembly->bundle.recipes[0];
    for (unsigned s = 0; s < recipe->num_stages; s++) {
        const char *entry = recipe->stages[s].entry;
        struct parsed parsed;
        bool has_stage = false;
        assert_in_range(strlen(entry), 1, ENTRY_NAME_BYTES - 2);
        if (!parse_name(entry, &parsed))
            fail_msg("cannot parse '%s'", entry);
        assert_ptr_equal(parsed.precision, problem->precision);
        assert_ptr_equal(parsed.family, config->family);
        for (unsigned i = 0; i < config->family->num_stages; i++) {
            const struct family_stage *stage = &config->family->stages[i];
            char name[ENTRY_NAME_BYTES];
            assemble_entry_name(config, problem, stage, name);
            has_stage = has_stage || (!strcmp(name, entry) && !strcmp(parsed.stage, stage->name));
        }
        assert_true(has_stage);
    }
}

static void names_can_be_read_back(void **state)
{
    (void) state;
    for_each_recipe(check_name);
}

/* ---- Texts and launches ---- */

static char *whole_text(const struct assembly *assembly, uint32_t program)
{
    char *text = pool_text(&assembly->bundle.pool, &assembly->programs[program]);
    assert_non_null(text);
    return text;
}

static void check_program(const struct assembly *assembly, const struct config *config,
        const struct problem *problem)
{
    const struct kiln_program *program = &assembly->bundle.programs[0];
    (void) config;
    (void) problem;
    assert_int_equal(assembly->bundle.num_programs, 1);
    char *text = whole_text(assembly, 0);
    const size_t len = strlen(text);
    assert_true(len > 1);
    assert_int_equal(text[len - 1], '\n');
    assert_int_equal(program->text_bytes, len);
    assert_true(program->hash == kiln_hash(KILN_HASH_BEGIN, text, len));
    free(text);
}

static void programs_have_the_hash_of_their_text(void **state)
{
    (void) state;
    for_each_recipe(check_program);
}

/* Where the parameters of a kernel begin; it is defined exactly once. */
static const char *parameters_of(const char *text, const char *entry)
{
    char pattern[ENTRY_NAME_BYTES + 8];
    snprintf(pattern, sizeof pattern, "void %s(", entry);
    const char *at = strstr(text, pattern);
    if (!at || strstr(at + 1, pattern))
        fail_msg("'%s' is not defined exactly once", entry);
    return at + strlen(pattern);
}

static unsigned count_parameters(const char *at)
{
    unsigned num = 1;
    for (; *at != ')'; at++)
        num += *at == ',';
    return num;
}

/* The attribute in front of the kernel says the local size that the launch uses. */
static void check_local_size(const char *text, const char *parameters,
        const struct kiln_stage *stage)
{
    static const char attribute[] = "reqd_work_group_size(";
    const char *at = NULL;
    unsigned size[3];
    for (const char *p = text; (p = strstr(p, attribute)) && p < parameters; p++)
        at = p;
    assert_non_null(at);
    assert_int_equal(sscanf(at + strlen(attribute), "%u, %u, %u", &size[0], &size[1], &size[2]), 3);
    for (int d = 0; d < 3; d++)
        assert_int_equal(size[d], stage->local[d]);
}

static void check_stage(const struct assembly *assembly, const struct kiln_stage *stage,
        const char *text)
{
    const char *parameters = parameters_of(text, stage->entry);
    assert_int_equal(count_parameters(parameters), stage->num_args);
    check_local_size(text, parameters, stage);
    assert_in_range(stage->work_dim, 1, 3);
    for (unsigned d = 0; d < 3; d++) {
        assert_true(stage->tile[d] >= 1 && stage->local[d] >= 1);
        assert_true(stage->dim[d] < KILN_NUM_DIMS);
        assert_true(d < stage->work_dim || (stage->tile[d] == 1 && stage->local[d] == 1));
    }
    const unsigned items = stage->local[0] * stage->local[1] * stage->local[2];
    assert_true((long) items <= assembly->facts.value[FACT_MAX_ITEMS]);
    // Work-items that compute C share it evenly, be it that several have an element together.
    const struct kiln_recipe *recipe = &assembly->bundle.recipes[0];
    const unsigned elements = stage->tile[0] * stage->tile[1] * stage->tile[2];
    if (stage == &recipe->stages[recipe->num_stages - 1])
        assert_true(elements % items == 0 || items % elements == 0);
    assert_true((long) stage->local_bytes <= assembly->facts.value[FACT_LOCAL_BYTES]);
    const char *local = strstr(parameters, "__local"), *end = strstr(parameters, "\n}\n");
    assert_int_equal(local && local < end, stage->local_bytes != 0);
    for (unsigned i = 0; i < stage->num_args; i++)
        assert_true(stage->args[i] < KILN_NUM_ARG_CODES);
}

static void check_launch(const struct assembly *assembly, const struct config *config,
        const struct problem *problem)
{
    const struct kiln_recipe *recipe = &assembly->bundle.recipes[0];
    char name[CONFIG_TEXT_BYTES];
    char *text = whole_text(assembly, recipe->program);
    config_format(config, name);
    assert_string_equal(recipe->name, name);
    assert_int_equal(recipe->precision, problem->precision->id);
    const bool multiplies = recipe->routine != KILN_ROUTINE_MIRROR;
    assert_int_equal(recipe->routine, config->family->routine);
    assert_int_equal(recipe->transa, multiplies && problem->transa);
    assert_int_equal(recipe->transb, multiplies && problem->transb);
    assert_true(recipe->index_bits == 32 || recipe->index_bits == 64);
    assert_true(recipe->guard.m && recipe->guard.n && recipe->guard.k);
    assert_in_range(recipe->num_stages, 1, KILN_MAX_STAGES);
    for (unsigned i = 0; i < recipe->num_stages; i++)
        check_stage(assembly, &recipe->stages[i], text);
    for (unsigned i = 0; i < recipe->num_regions; i++) {
        const struct kiln_region *region = &recipe->regions[i];
        assert_true(region->round[0] >= 1 && region->round[1] >= 1 && region->element_bytes >= 1);
        assert_true(region->dim[0] < KILN_NUM_DIMS && region->dim[1] < KILN_NUM_DIMS);
    }
    free(text);
}

static void launches_fit_the_text(void **state)
{
    (void) state;
    for_each_recipe(check_launch);
}

/* ---- Soundness ---- */

static void check_sound(const struct assembly *assembly, const struct config *config,
        const struct problem *problem)
{
    char name[CONFIG_TEXT_BYTES];
    config_format(config, name);
    if (!kiln_bundle_is_sound(&assembly->bundle))
        fail_msg("%c %s: the runtime refuses it", problem->precision->letter, name);
}

/* What the runtime demands of a bundle, of families for one kind of device too. */
static void the_runtime_takes_every_recipe(void **state)
{
    (void) state;
    struct device_facts facts = facts_wide();
    const unsigned anywhere = for_each_recipe_on(&facts, check_sound);
    facts.value[FACT_COMPUTE_CAPABILITY] = 90;
    assert_true(for_each_recipe_on(&facts, check_sound) > anywhere);
}

static void check_prepared(const struct assembly *assembly, const struct config *config,
        const struct problem *problem)
{
    const struct kiln_recipe *recipe = &assembly->bundle.recipes[0];
    const bool is_packed = !strcmp(config->family->name, "packed");
    const bool is_complex = !strcmp(config->family->name, "complex");
    (void) problem;
    assert_int_equal(kiln_prepared_region(recipe, KILN_PREPARED_B) != NULL,
            is_packed || is_complex);
    assert_int_equal(recipe->stages[recipe->num_stages - 1].prepares, KILN_PREPARED_NONE);
    if (is_packed)
        assert_int_equal(recipe->stages[recipe->num_stages - 2].prepares, KILN_PREPARED_B);
}

static void prepared_operands_are_marked(void **state)
{
    (void) state;
    for_each_recipe(check_prepared);
}

/* ---- Tiles ---- */

/* Where the stage that multiplies has a work-group for each tile, it is launched by the tile. */
static void check_launched_tile(const struct kiln_recipe *recipe)
{
    for (unsigned i = 0; i < recipe->num_stages; i++) {
        const struct kiln_stage *stage = &recipe->stages[i];
        uint32_t tile[KILN_NUM_DIMS] = { 0 };
        for (unsigned d = 0; d < stage->work_dim; d++)
            tile[stage->dim[d]] = stage->tile[d];
        if (stage->prepares || !tile[KILN_DIM_M] || !tile[KILN_DIM_N])
            continue;
        assert_int_equal(tile[KILN_DIM_M], recipe->tile[0]);
        assert_int_equal(tile[KILN_DIM_N], recipe->tile[1]);
        return;
    }
}

static void check_tile(const struct assembly *assembly, const struct config *config,
        const struct problem *problem)
{
    const struct kiln_recipe *recipe = &assembly->recipes[0];
    const struct assembly_edges *edges = &assembly->edges[0];
    (void) config;
    (void) problem;
    check_launched_tile(recipe);
    for (unsigned d = 0; d < 3; d++) {
        uint32_t most = recipe->tile[d];
        for (unsigned i = 0; i < edges->num[d]; i++) {
            const uint32_t unit = edges->unit[d][i];
            assert_true(unit > 1 && unit != recipe->tile[d]);
            assert_true(i == 0 || unit > edges->unit[d][i - 1]);
            most = unit > most ? unit : most;
        }
        assert_int_equal(recipe->reach[d], most);
    }
}

static void tiles_are_what_is_launched(void **state)
{
    (void) state;
    struct device_facts facts;
    facts_ample(&facts);
    assert_true(for_each_recipe_on(&facts, check_tile) > 0);
}

/* Work-groups that take tiles in turn have the tiles of one for each, whose launch shows them. */
static void turns_do_not_change_the_tile(void **state)
{
    (void) state;
    const struct {
        const char *in_turn, *each;
        uint32_t turns;
    } rows[] = {
        { "tma BM=64 BN=32 WM=32 WN=16 STREAM=1", "tma BM=64 BN=32 WM=32 WN=16", 132 },
        { "tma BM=64 BN=32 WM=32 WN=16 STREAM=2 SHARED=0", "tma BM=64 BN=32 WM=32 WN=16", 264 },
        { "async BM=64 BN=32 WN=16 STREAM=4", "async BM=64 BN=32 WN=16", 528 },
    };
    const struct problem problem = problem_of_pair(precision_find("single"), 1);
    struct device_facts facts;
    facts_ample(&facts);
    facts.value[FACT_UNITS] = 132;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct assembly assembly;
        struct config config;
        char error[FAMILY_ERROR_BYTES];
        unsigned in_turn, each;
        assert_true(assembly_init(&assembly, "tiles", &facts));
        assert_true(config_parse(rows[i].in_turn, &config, error));
        if (!assembly_add(&assembly, &config, &problem, &in_turn, error))
            fail_msg("%s", error);
        assert_true(config_parse(rows[i].each, &config, error));
        if (!assembly_add(&assembly, &config, &problem, &each, error))
            fail_msg("%s", error);
        assert_memory_equal(assembly.recipes[in_turn].tile, assembly.recipes[each].tile,
                sizeof assembly.recipes[each].tile);
        assert_int_equal(assembly.edges[in_turn].turns, rows[i].turns);
        assert_int_equal(assembly.edges[each].turns, 0);
        assembly_free(&assembly);
    }
}

/* ---- Sharing ---- */

static void add(struct assembly *assembly, const char *text, bool ta, bool tb, unsigned *index)
{
    const struct problem problem = { precision_find("single"), ta, tb };
    struct config config;
    char error[FAMILY_ERROR_BYTES];
    assert_true(config_parse(text, &config, error));
    if (!assembly_add(assembly, &config, &problem, index, error))
        fail_msg("%s: %s", text, error);
}

static void identical_text_is_shared(void **state)
{
    (void) state;
    const struct device_facts facts = facts_wide();
    struct assembly assembly;
    unsigned nn, nt, again, other;
    assert_true(assembly_init(&assembly, "share", &facts));
    add(&assembly, "packed TM=6 NV=2 VEC=8", false, false, &nn);
    add(&assembly, "packed TM=6 NV=2 VEC=8", false, true, &nt);
    add(&assembly, "packed TM=6 NV=2 VEC=8 MP=4", false, false, &again);
    assert_int_equal(nn, again);
    assert_int_not_equal(nn, nt);
    assert_int_equal(assembly.bundle.num_recipes, 2);
    assert_int_equal(assembly.bundle.num_programs, 2);
    /* Prelude, packing of A and multiplication are the same; the packing of B is not. */
    const struct kiln_program *a = &assembly.programs[assembly.recipes[nn].program];
    const struct kiln_program *b = &assembly.programs[assembly.recipes[nt].program];
    assert_true(a->hash != b->hash);
    assert_true(assembly.bundle.pool.num_symbols == a->num_symbols + b->num_symbols);
    assert_true(assembly.bundle.pool.num_lines < a->num_symbols + b->num_symbols / 2);
    char *text = whole_text(&assembly, assembly.recipes[nn].program);
    char *other_text = whole_text(&assembly, assembly.recipes[nt].program);
    assert_string_not_equal(text, other_text);
    free(text);
    free(other_text);
    add(&assembly, "direct", false, false, &other);
    assert_int_equal(assembly.bundle.num_recipes, 3);
    assembly_free(&assembly);
}

static void text_is_that_of_the_program(void **state)
{
    (void) state;
    const struct device_facts facts = facts_wide();
    const struct problem problem = { precision_find("half"), true, false };
    struct assembly assembly;
    struct config config;
    char error[FAMILY_ERROR_BYTES];
    unsigned index;
    assert_true(config_parse("tiled TM=8 NV=2 VEC=4", &config, error));
    assert_true(assembly_init(&assembly, "text", &facts));
    assert_true(assembly_add(&assembly, &config, &problem, &index, error));
    char *text = assemble_text(&config, &problem, &facts, error);
    char *expected = whole_text(&assembly, 0);
    assert_non_null(text);
    assert_non_null(strstr(text, "\n// "));
    assert_null(strstr(expected, "\n// "));
    tidy_drop_comments(text);
    assert_string_equal(text, expected);
    assert_null(strstr(text, "${"));
    assert_null(strstr(text, "\n@"));
    free(text);
    free(expected);
    assembly_free(&assembly);
}

/* A recipe without regions asks for no workspace. */
static void regions_are_there_where_used(void **state)
{
    (void) state;
    const struct device_facts facts = facts_wide();
    struct assembly assembly;
    unsigned whole, filled;
    assert_true(assembly_init(&assembly, "regions", &facts));
    add(&assembly, "tiled", false, false, &whole);
    add(&assembly, "tiled FILL=4", false, false, &filled);
    assert_int_equal(assembly.recipes[whole].num_regions, 0);
    assert_int_equal(assembly.recipes[whole].num_stages, 1);
    assert_int_equal(assembly.recipes[filled].num_regions, 1);
    assert_int_equal(assembly.recipes[filled].regions[0].element_bytes, 4);
    assert_int_equal(assembly.recipes[filled].regions[0].each_part, 1);
    assert_int_equal(assembly.recipes[filled].num_stages, 2);
    assembly_free(&assembly);
}

static void illegal_configurations_are_refused(void **state)
{
    (void) state;
    struct device_facts facts;
    const struct problem problem = { precision_find("single"), false, false };
    struct assembly assembly;
    struct config config;
    char error[FAMILY_ERROR_BYTES];
    unsigned index;
    facts_minimal(&facts);
    assert_true(config_parse("packed TM=12 NV=2 VEC=16", &config, error));
    assert_true(assembly_init(&assembly, "text", &facts));
    assert_false(assembly_add(&assembly, &config, &problem, &index, error));
    assert_string_equal(error, "illegal configuration: vectors wider than the device's");
    assert_int_equal(assembly.bundle.num_recipes, 0);
    assert_null(assemble_text(&config, &problem, &facts, error));
    assembly_free(&assembly);
}

static void times_and_pins_are_copied(void **state)
{
    (void) state;
    const struct device_facts facts = facts_wide();
    struct assembly assembly;
    struct kiln_time time = { { 1, 2 } };
    struct kiln_pin pins[2] = {
        { KILN_ID_SINGLE, 64, 65, 66, 1, { 0, KILN_NO_RECIPE, KILN_NO_RECIPE, KILN_NO_RECIPE } },
        { KILN_ID_SINGLE, 8, 8, 8, 1, { KILN_NO_RECIPE, 1, KILN_NO_RECIPE, KILN_NO_RECIPE } },
    };
    unsigned nn, nt;
    assert_true(assembly_init(&assembly, "copies", &facts));
    add(&assembly, "direct", false, false, &nn);
    add(&assembly, "direct", false, true, &nt);
    assert_null(assembly.recipes[nn].time);
    assert_true(assembly_time(&assembly, nn, &time));
    assert_true(assembly_pins(&assembly, pins, 2));
    time.coefficient[1] = 3;
    pins[0].m = 1;
    assert_true(assembly.recipes[nn].time->coefficient[1] == 2);
    assert_int_equal(assembly.bundle.num_pins, 2);
    assert_int_equal(assembly.bundle.pins[0].m, 64);
    assert_int_equal(assembly.bundle.pins[1].recipe[1], 1);
    assert_true(assembly_time(&assembly, nt, &time));
    assert_true(assembly.recipes[nt].time->coefficient[1] == 3);
    assert_true(assembly.recipes[nn].time->coefficient[1] == 2);
    assert_true(kiln_bundle_is_sound(&assembly.bundle));
    assembly_free(&assembly);
}

/* What fits coefficients sees what the bundle will say, without the text and the launches. */
static void check_traits(const struct assembly *assembly, const struct config *config,
        const struct problem *problem)
{
    const struct kiln_recipe *recipe = &assembly->recipes[0];
    struct kiln_recipe traits;
    char error[FAMILY_ERROR_BYTES];
    if (!assemble_traits(config, problem, &assembly->facts, &traits, error))
        fail_msg("%s", error);
    assert_int_equal(traits.precision, recipe->precision);
    assert_int_equal(traits.transa, recipe->transa);
    assert_int_equal(traits.transb, recipe->transb);
    assert_int_equal(traits.index_bits, recipe->index_bits);
    assert_memory_equal(&traits.guard, &recipe->guard, sizeof traits.guard);
    assert_memory_equal(traits.tile, recipe->tile, sizeof traits.tile);
    assert_memory_equal(traits.reach, recipe->reach, sizeof traits.reach);
    assert_int_equal(traits.unit_parts, recipe->unit_parts);
    assert_int_equal(traits.unit_turns, recipe->unit_turns);
    assert_int_equal(traits.shares, recipe->shares);
    assert_int_equal(traits.as_is, recipe->as_is);
    assert_int_equal(traits.batches, recipe->batches);
}

static void traits_are_those_of_the_recipe(void **state)
{
    struct device_facts facts;
    (void) state;
    facts_ample(&facts);
    assert_true(for_each_recipe_on(&facts, check_traits) > 0);
}

/* The stage that multiplies is launched with work-groups for each tile, for each part of K where K
 * is shared, or with those that take tiles in turn, however many tiles there are. */
static void check_parts(const struct assembly *assembly, const struct config *config,
        const struct problem *problem)
{
    const struct kiln_recipe *recipe = &assembly->recipes[0];
    const struct kiln_stage *stage = recipe->stages;
    uint32_t fixed = 1, each_unit = 1;
    bool each_part = false;
    (void) problem;
    while (stage->prepares)
        stage++;
    for (unsigned d = 0; d < stage->work_dim; d++) {
        fixed *= stage->dim[d] == KILN_DIM_ONE ? stage->tile[d] : 1;
        each_unit *= stage->dim[d] == KILN_DIM_UNITS ? stage->tile[d] : 1;
        each_part |= stage->dim[d] == KILN_DIM_PARTS;
    }
    if (fixed != 1 || each_unit != (recipe->unit_turns ? recipe->unit_turns : 1) ||
            each_part != (recipe->unit_parts > 0))
        fail_msg("%s: %u work-groups, %u for each unit, told %u; parts of K: %u",
                config->family->name, fixed, each_unit, recipe->unit_turns, recipe->unit_parts);
}

static void parts_are_what_is_launched(void **state)
{
    struct device_facts facts;
    (void) state;
    facts_ample(&facts);
    assert_true(for_each_recipe_on(&facts, check_parts) > 0);
}

static void parts_and_turns_are_told(void **state)
{
    const struct {
        const char *config;
        uint32_t unit_parts, unit_turns, shares, as_is;
    } rows[] = {
        { "direct", 0, 0, 0, 0 },
        { "tiled", 0, 0, 0, 0 },
        { "tiled FILL=4", 4, 0, 0, 0 },
        { "tma BM=64 BN=32 WM=32 WN=16", 0, 0, 0, KILN_PREPARED_BOTH },
        { "tma BM=64 BN=32 WM=32 WN=16 STREAM=1", 0, 1, 1, KILN_PREPARED_BOTH },
        { "tma BM=64 BN=32 WM=32 WN=16 STREAM=2 SHARED=0", 0, 2, 0, KILN_PREPARED_BOTH },
        { "async BM=64 BN=32 WN=16", 0, 0, 0, 0 },
        { "async BM=64 BN=32 WN=16 STREAM=4 COPY=1", 0, 4, 1, KILN_PREPARED_NONE },
        { "fused TM=4 NV=1 TURNS=4", 0, 4, 0, 0 },
    };
    const struct problem problem = problem_of_pair(precision_find("single"), 1);
    struct device_facts facts;
    (void) state;
    facts_ample(&facts);
    facts.value[FACT_UNITS] = 132;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct kiln_recipe recipe;
        struct config config;
        char error[FAMILY_ERROR_BYTES];
        assert_true(config_parse(rows[i].config, &config, error));
        if (!assemble_traits(&config, &problem, &facts, &recipe, error))
            fail_msg("%s: %s", rows[i].config, error);
        assert_int_equal(recipe.unit_parts, rows[i].unit_parts);
        assert_int_equal(recipe.unit_turns, rows[i].unit_turns);
        assert_int_equal(recipe.shares, rows[i].shares);
        assert_int_equal(recipe.as_is, rows[i].as_is);
    }
}

static void traits_of_illegal_configurations_are_refused(void **state)
{
    struct device_facts facts;
    const struct problem problem = { precision_find("single"), false, false };
    struct kiln_recipe recipe;
    struct config config;
    char error[FAMILY_ERROR_BYTES];
    (void) state;
    facts_minimal(&facts);
    assert_true(config_parse("packed TM=12 NV=2 VEC=16", &config, error));
    assert_false(assemble_traits(&config, &problem, &facts, &recipe, error));
    assert_string_equal(error, "illegal configuration: vectors wider than the device's");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_can_be_read_back),
        cmocka_unit_test(programs_have_the_hash_of_their_text),
        cmocka_unit_test(launches_fit_the_text),
        cmocka_unit_test(the_runtime_takes_every_recipe),
        cmocka_unit_test(prepared_operands_are_marked),
        cmocka_unit_test(tiles_are_what_is_launched),
        cmocka_unit_test(turns_do_not_change_the_tile),
        cmocka_unit_test(identical_text_is_shared),
        cmocka_unit_test(text_is_that_of_the_program),
        cmocka_unit_test(regions_are_there_where_used),
        cmocka_unit_test(illegal_configurations_are_refused),
        cmocka_unit_test(times_and_pins_are_copied),
        cmocka_unit_test(traits_are_those_of_the_recipe),
        cmocka_unit_test(parts_are_what_is_launched),
        cmocka_unit_test(parts_and_turns_are_told),
        cmocka_unit_test(traits_of_illegal_configurations_are_refused),
    };
    return cmocka_run_group_tests_name("assemble", tests, NULL, NULL);
}
