/* test_hash.c: generator/core/hash.c: whatever changes in a family's table, or in what is assembled
 * of it, changes the hash. Bytes are walked, so that a new field is tested as well. And the hash of
 * what a kernel's text says (tokens.h). */
#include "wide.h"
#include "assemble.h"
#include "hash.h"
#include "tokens.h"

#include <stdio.h>
#include <string.h>

/* ---- Tables ---- */

enum { MOST_ROWS = 80, MOST_ROW_BYTES = 128 };

/* In place of a text it is another text, in place of a number another number. */
static const char changed[] = "changed";

/* The hash of the family when one word is another: of the family, or of a row's copy that it points
 * to. */
static uint64_t hash_with(const struct family *family, void *word)
{
    const void *other = changed;
    unsigned char before[sizeof other];
    memcpy(before, word, sizeof before);
    memcpy(word, &other, sizeof other);
    const uint64_t hash = hash_family(KILN_HASH_BEGIN, family);
    memcpy(word, before, sizeof before);
    return hash;
}

static void check_word(const struct family *family, void *word, const char *what, size_t offset)
{
    if (hash_with(family, word) == hash_family(KILN_HASH_BEGIN, family))
        fail_msg("%s: %s, byte %zu, is not hashed", family->name, what, offset);
}

/* Nothing is before a preset's last field, a double, but what the host may need to align it. */
static bool is_padding(const char *what, size_t offset)
{
    const size_t begin = offsetof(struct family_preset, figure.extent) + sizeof(long);
    return !strcmp(what, "presets") && offset >= begin &&
           offset < offsetof(struct family_preset, figure.gflops);
}

/* Each word of each row of one table, and the number of rows. `table` and `num` are in `family`. */
static void check_table(struct family *family, const void **table, unsigned *num, size_t row_bytes,
        const char *what)
{
    static unsigned char rows[MOST_ROWS * MOST_ROW_BYTES];
    const void *original = *table;
    const uint64_t hash = hash_family(KILN_HASH_BEGIN, family);
    assert_in_range(row_bytes, 1, MOST_ROW_BYTES);
    assert_in_range(*num, 0, MOST_ROWS);
    if (!*num)
        return;
    memcpy(rows, original, *num * row_bytes);
    *table = rows;
    for (size_t at = 0; at < *num * row_bytes; at += sizeof(void *))
        if (!is_padding(what, at % row_bytes))
            check_word(family, rows + at, what, at % row_bytes);
    *table = original;
    --*num;
    assert_true(hash_family(KILN_HASH_BEGIN, family) != hash);
    ++*num;
}

/* The fields of the family itself; what tells of its tables lies between two of them. */
static void check_fields(struct family *family)
{
    unsigned char *bytes = (unsigned char *) family;
    const size_t first = offsetof(struct family, params), last = offsetof(struct family, prelude);
    for (size_t at = 0; at < sizeof *family; at += sizeof(void *))
        if (at < first || at >= last)
            check_word(family, bytes + at, "family", at);
}

#define CHECK_TABLE(table) \
    check_table(&family, (const void **) &family.table, &family.num_##table, \
            sizeof family.table[0], #table)

static void each_field_of_a_table_counts(void **state)
{
    (void) state;
    for (size_t f = 0; f < num_families; f++) {
        struct family family = *families[f];
        check_fields(&family);
        CHECK_TABLE(params);
        CHECK_TABLE(rules);
        CHECK_TABLE(values);
        CHECK_TABLE(stages);
        CHECK_TABLE(regions);
        CHECK_TABLE(presets);
    }
}

static void rows_do_not_run_together(void **state)
{
    (void) state;
    assert_true(hash_text(hash_text(1, "ab"), "c") != hash_text(hash_text(1, "a"), "bc"));
    assert_true(hash_text(1, "") != hash_text(1, NULL));
    assert_true(hash_text(1, "") != 1);
}

/* ---- What a kernel's text says ---- */

static void comments_and_layout_do_not_count(void **state)
{
    static const char text[] = "#define X 1\nint a = b + X; // why\n";
    static const char *const same[] = { "#define X 1\nint a = b + X;",
        "// what\n#define X 1\n\n    int a\n= b + X ; /* why */\n", "#define X 1\nint/**/a=b+X;" };
    static const char *const others[] = { "", "#define X 1\nint a = b - X;",
        "#define X 2\nint a = b + X;", "#define X 1 int a = b + X;", "#define X 1\ninta = b + X;",
        "#define X 1\nint a = b ++ X;", "#define X 1\nint a = \"b + X;\"",
        "#define X 1\nint a = b + X; // why\n;" };
    (void) state;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        assert_true(tokens_hash(same[i]) == tokens_hash(text));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_true(tokens_hash(others[i]) != tokens_hash(text));
    assert_true(tokens_hash("f(\"a // b\");") != tokens_hash("f(\"a // c\");"));
    /* Strings side by side are one. */
    assert_true(tokens_hash("f(\"a, b\");") == tokens_hash("f(\"a, \" // why\n\"b\");"));
    assert_true(tokens_hash("f(\"a\", \"b\");") != tokens_hash("f(\"a\" \"b\");"));
    assert_true(tokens_hash("f(\"ab\");") != tokens_hash("f(ab);"));
    assert_true(tokens_hash("\"a\"") != tokens_hash("\"a"));
}

/* ---- Bundles ---- */

/* A bundle whose parts may be changed, of a family with stages of every kind. */
struct clay {
    struct assembly assembly;
    struct kiln_recipe recipe;
    struct kiln_program program;
    struct kiln_stage stages[KILN_MAX_STAGES + 1];
    struct kiln_region regions[KILN_MAX_REGIONS + 1];
};

static void clay_make(struct clay *clay)
{
    struct device_facts facts;
    struct config config;
    char error[FAMILY_ERROR_BYTES];
    unsigned index;
    const struct problem problem = problem_of_pair(precision_find("single"), 0);
    facts_ample(&facts);
    assert_true(assembly_init(&clay->assembly, "clay", &facts));
    assert_true(config_parse("tma BM=64 BN=64 WM=32 STREAM=1", &config, error));
    if (!assembly_add(&clay->assembly, &config, &problem, &index, error))
        fail_msg("%s", error);
    clay->recipe = clay->assembly.recipes[0];
    clay->program = clay->assembly.programs[0];
    for (unsigned i = 0; i <= KILN_MAX_STAGES; i++)
        clay->stages[i] = clay->recipe.stages[0]; /* for there to be one more */
    memset(clay->regions, 0, sizeof clay->regions);
    memcpy(clay->stages, clay->recipe.stages, clay->recipe.num_stages * sizeof clay->stages[0]);
    memcpy(clay->regions, clay->recipe.regions, clay->recipe.num_regions * sizeof clay->regions[0]);
    /* The last code has no neighbour by its lowest bit. */
    for (unsigned i = 0; i <= KILN_MAX_STAGES; i++)
        for (unsigned d = 0; d < 3; d++)
            clay->stages[i].dim[d] %= KILN_DIM_UNITS;
    for (unsigned i = 0; i <= KILN_MAX_REGIONS; i++)
        for (unsigned d = 0; d < 2; d++)
            clay->regions[i].dim[d] %= KILN_DIM_UNITS;
    clay->recipe.stages = clay->stages;
    clay->recipe.regions = clay->regions;
    clay->assembly.bundle.recipes = &clay->recipe;
    clay->assembly.bundle.programs = &clay->program;
}

/* Fields of a struct: where they are, and how large. */
struct place {
    const char *name;
    size_t at, bytes;
};
#define PLACE(type, field) { #field, offsetof(struct type, field), \
        sizeof ((struct type *) 0)->field }

/* Each byte of the places changes the hash by its lowest bit, which keeps codes valid. */
static void check_places(const struct clay *clay, void *object, const struct place *places,
        size_t num)
{
    const struct kiln_bundle *bundle = &clay->assembly.bundle;
    const uint64_t hash = hash_bundle(KILN_HASH_BEGIN, bundle);
    for (size_t i = 0; i < num; i++)
        for (size_t at = places[i].at; at < places[i].at + places[i].bytes; at++) {
            ((unsigned char *) object)[at] ^= 1;
            if (hash_bundle(KILN_HASH_BEGIN, bundle) == hash)
                fail_msg("%s is not hashed", places[i].name);
            ((unsigned char *) object)[at] ^= 1;
        }
}

/* The bytes of a struct that are in no place are padding or pointers: so many. A new field changes
 * the number. */
static size_t bytes_elsewhere(size_t size, const struct place *places, size_t num)
{
    for (size_t i = 0; i < num; i++)
        size -= places[i].bytes;
    return size;
}

static const struct place recipe_places[] = {
    PLACE(kiln_recipe, precision), PLACE(kiln_recipe, transa), PLACE(kiln_recipe, transb),
    PLACE(kiln_recipe, routine), PLACE(kiln_recipe, triangles),
    PLACE(kiln_recipe, index_bits), PLACE(kiln_recipe, guard.m), PLACE(kiln_recipe, guard.n),
    PLACE(kiln_recipe, guard.k), PLACE(kiln_recipe, guard.a), PLACE(kiln_recipe, guard.b),
    PLACE(kiln_recipe, guard.c), PLACE(kiln_recipe, guard.most), PLACE(kiln_recipe, guard.rest),
    PLACE(kiln_recipe, tile), PLACE(kiln_recipe, reach), PLACE(kiln_recipe, unit_parts),
    PLACE(kiln_recipe, unit_turns),
    PLACE(kiln_recipe, shares), PLACE(kiln_recipe, as_is), PLACE(kiln_recipe, batches),
    PLACE(kiln_recipe, program), PLACE(kiln_recipe, num_stages), PLACE(kiln_recipe, num_regions),
    PLACE(kiln_recipe, kinds), PLACE(kiln_recipe, vector_floats),
};
static const struct place stage_places[] = {
    PLACE(kiln_stage, work_dim), PLACE(kiln_stage, dim), PLACE(kiln_stage, tile),
    PLACE(kiln_stage, local), PLACE(kiln_stage, local_bytes), PLACE(kiln_stage, num_args),
    PLACE(kiln_stage, prepares), PLACE(kiln_stage, role),
};
static const struct place args_place[] = { PLACE(kiln_stage, args) };
static const struct place region_places[] = {
    PLACE(kiln_region, dim), PLACE(kiln_region, round), PLACE(kiln_region, more),
    PLACE(kiln_region, element_bytes), PLACE(kiln_region, holds), PLACE(kiln_region, each_part),
    PLACE(kiln_region, each_member),
};
static const struct place program_places[] = {
    PLACE(kiln_program, hash), PLACE(kiln_program, ptx),
};
#define PLACES(list) list, sizeof list / sizeof list[0]

static void each_field_of_a_recipe_counts(void **state)
{
    struct clay clay;
    (void) state;
    clay_make(&clay);
    check_places(&clay, &clay.recipe, PLACES(recipe_places));
    for (unsigned i = 0; i < clay.recipe.num_stages; i++) {
        check_places(&clay, &clay.stages[i], PLACES(stage_places));
        /* Arguments that are not used are not emitted. */
        const uint8_t num_args = clay.stages[i].num_args;
        clay.stages[i].num_args = KILN_MAX_ARGS;
        check_places(&clay, &clay.stages[i], PLACES(args_place));
        clay.stages[i].num_args = num_args;
    }
    for (unsigned i = 0; i < clay.recipe.num_regions; i++)
        check_places(&clay, &clay.regions[i], PLACES(region_places));
    check_places(&clay, &clay.program, PLACES(program_places));
    assembly_free(&clay.assembly);
}

/* As many digits of a coefficient as are emitted. */
static void each_coefficient_of_a_time_counts(void **state)
{
    struct clay clay;
    (void) state;
    clay_make(&clay);
    const struct kiln_bundle *bundle = &clay.assembly.bundle;
    const uint64_t without = hash_bundle(KILN_HASH_BEGIN, bundle);
    struct kiln_time time = { { 0 } };
    clay.recipe.time = &time;
    const uint64_t zero = hash_bundle(KILN_HASH_BEGIN, bundle);
    assert_true(zero != without);
    for (unsigned t = 0; t < KILN_NUM_TERMS; t++) {
        time.coefficient[t] = 12345.6f;
        const uint64_t with = hash_bundle(KILN_HASH_BEGIN, bundle);
        time.coefficient[t] = 12345.7f;
        const uint64_t other = hash_bundle(KILN_HASH_BEGIN, bundle);
        assert_true(with != zero && other != with && other != zero);
        time.coefficient[t] = 0;
    }
    assembly_free(&clay.assembly);
}

static void each_field_of_a_pin_counts(void **state)
{
    static const struct place places[] = {
        PLACE(kiln_pin, precision),
        PLACE(kiln_pin, m),
        PLACE(kiln_pin, n),
        PLACE(kiln_pin, k),
        PLACE(kiln_pin, batch),
        PLACE(kiln_pin, recipe),
    };
    struct kiln_pin pin = { KILN_ID_SINGLE, 1, 2, 3, 1, { 0, 1, 2, KILN_NO_RECIPE } };
    struct clay clay;
    (void) state;
    clay_make(&clay);
    clay.assembly.bundle.pins = &pin;
    clay.assembly.bundle.num_pins = 1;
    check_places(&clay, &pin, PLACES(places));
    assert_int_equal(bytes_elsewhere(sizeof pin, PLACES(places)), 3);
    assembly_free(&clay.assembly);
}

static void no_field_is_elsewhere(void **state)
{
    (void) state;
    if (sizeof(void *) != 8)
        skip();
    assert_int_equal(bytes_elsewhere(sizeof(struct kiln_recipe), PLACES(recipe_places)),
            4 * sizeof(void *) + 13);
    assert_int_equal(bytes_elsewhere(sizeof(struct kiln_stage), PLACES(stage_places)),
            sizeof(void *) + 7 + KILN_MAX_ARGS);
    assert_int_equal(bytes_elsewhere(sizeof(struct kiln_region), PLACES(region_places)), 3);
}

static void each_text_of_a_recipe_counts(void **state)
{
    struct clay clay;
    (void) state;
    clay_make(&clay);
    const uint64_t hash = hash_bundle(KILN_HASH_BEGIN, &clay.assembly.bundle);
    clay.recipe.name = changed;
    assert_true(hash_bundle(KILN_HASH_BEGIN, &clay.assembly.bundle) != hash);
    clay.recipe.name = clay.assembly.recipes[0].name;
    for (unsigned i = 0; i < clay.recipe.num_stages; i++) {
        const char *entry = clay.stages[i].entry;
        clay.stages[i].entry = changed;
        assert_true(hash_bundle(KILN_HASH_BEGIN, &clay.assembly.bundle) != hash);
        clay.stages[i].entry = entry;
    }
    clay.assembly.pool.text[0] ^= 1;
    assert_true(hash_bundle(KILN_HASH_BEGIN, &clay.assembly.bundle) != hash);
    assembly_free(&clay.assembly);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_field_of_a_table_counts),
        cmocka_unit_test(rows_do_not_run_together),
        cmocka_unit_test(comments_and_layout_do_not_count),
        cmocka_unit_test(each_field_of_a_recipe_counts),
        cmocka_unit_test(each_coefficient_of_a_time_counts),
        cmocka_unit_test(each_field_of_a_pin_counts),
        cmocka_unit_test(no_field_is_elsewhere),
        cmocka_unit_test(each_text_of_a_recipe_counts),
    };
    return cmocka_run_group_tests_name("hash", tests, NULL, NULL);
}
