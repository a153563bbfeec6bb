/* test_select.c: which bundles serve a device, and which are not fit to be read at all. */
#include "fixture.h"

#include "internal.h"
#include "reader.h"

#include <float.h>
#include <math.h>
#include <string.h>

static void globs_match(void **state)
{
    static const struct {
        const char *pattern, *text;
        bool matches;
    } cases[] = {
        { "", "", true },
        { "", "a", false },
        { "a", "", false },
        { "*", "", true },
        { "*", "abc", true },
        { "abc", "abc", true },
        { "abc", "abcd", false },
        { "abc*", "abcd", true },
        { "*bcd", "abcd", true },
        { "a*d", "abcd", true },
        { "a*d", "abcde", false },
        { "a*b*c", "aXbYbZc", true },
        { "a**c", "ac", true },
        { "*a*", "bbb", false },
        { "*ab", "aab", true },
        { "A", "a", false },
        { "a?c", "abc", false },
        { "abc***", "abc", true },
    };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(kiln_glob_match(cases[i].pattern, cases[i].text), cases[i].matches);
    }
}

static void every_fact_of_a_match_counts(void **state)
{
    struct kiln_device_facts facts = { .platform = "P",
        .device = "D",
        .driver = "V",
        .native_vector_float = 8,
        .compute_capability = 90 };
    struct kiln_bundle bundle = tuned_bundle;
    (void) state;
    bundle.match = (struct kiln_match){ 0 };
    assert_true(kiln_bundle_matches(&bundle, &facts));
    bundle.match = (struct kiln_match){ "P", "D", "V", 8, 90 };
    assert_true(kiln_bundle_matches(&bundle, &facts));
    bundle.match.platform = "Q";
    assert_false(kiln_bundle_matches(&bundle, &facts));
    bundle.match = (struct kiln_match){ "P", "E", "V", 8 };
    assert_false(kiln_bundle_matches(&bundle, &facts));
    bundle.match = (struct kiln_match){ "P", "D", "W", 8 };
    assert_false(kiln_bundle_matches(&bundle, &facts));
    bundle.match = (struct kiln_match){ "P", "D", "V", 16 };
    assert_false(kiln_bundle_matches(&bundle, &facts));
    bundle.match = (struct kiln_match){ "P", "D", "V", 8, 80 };
    assert_false(kiln_bundle_matches(&bundle, &facts));
    bundle.match = (struct kiln_match){ .compute_capability = 90 };
    assert_true(kiln_bundle_matches(&bundle, &facts));
    facts.compute_capability = 0;
    assert_false(kiln_bundle_matches(&bundle, &facts));
}

/* A bundle of one recipe of which everything may be changed. */
struct clay {
    char text[32];
    uint32_t lines[2];
    struct kiln_pair pairs[2];
    uint16_t symbols[3];
    struct kiln_binary binary;
    struct kiln_program program;
    struct kiln_stage stages[3];       /* the first prepares A, the second multiplies; the third is
                                          there for those that add up */
    struct kiln_region regions[2];     /* the second holds A */
    struct kiln_recipe recipe;
    struct kiln_time time;
    struct kiln_pin pin;
    struct kiln_bundle bundle;
};

static void clay_make(struct clay *c)
{
    static const unsigned char data[] = "data";
    memset(c, 0, sizeof *c);
    memcpy(c->text, "kernel void mul(int m)\n{\0}", sizeof "kernel void mul(int m)\n{\0}");
    c->lines[1] = (uint32_t) strlen(c->text) + 1;
    c->pairs[0] = (struct kiln_pair){ 0, 1 };
    c->pairs[1] = (struct kiln_pair){ 2, 2 };
    memcpy(c->symbols, (uint16_t[]){ 0, 3, 1 }, sizeof c->symbols);
    c->binary = (struct kiln_binary){ .platform = "P",
        .device = "D",
        .driver = "V",
        .data = data,
        .size = sizeof data };
    c->program = (struct kiln_program){ .num_symbols = 3,
        .num_binaries = 1,
        .binaries = &c->binary };
    c->stages[0] = (struct kiln_stage){ .entry = "pack",
        .work_dim = 2,
        .dim = { KILN_DIM_M, KILN_DIM_K },
        .tile = { 1, 1 },
        .local = { 1, 1 },
        .num_args = 7,
        .args = { KILN_ARG_M, KILN_ARG_K, KILN_ARG_A, KILN_ARG_A_OFFSET, KILN_ARG_LDA,
                KILN_ARG_PACKED_A, KILN_ARG_PACKED_A_AT },
        .prepares = KILN_PREPARED_A };
    c->stages[1] = (struct kiln_stage){ .entry = "mul",
        .work_dim = 1,
        .dim = { KILN_DIM_M },
        .tile = { 1 },
        .local = { 1 },
        .num_args = 4,
        .args = { KILN_ARG_REGION_0, KILN_ARG_PACKED_A, KILN_ARG_PACKED_A_AT, KILN_ARG_B } };
    c->stages[2] = (struct kiln_stage){ .entry = "add",
        .work_dim = 1,
        .dim = { KILN_DIM_M },
        .tile = { 1 },
        .local = { 1 },
        .num_args = 2,
        .args = { KILN_ARG_REGION_0, KILN_ARG_PARTS } };
    for (int i = 0; i < 2; i++) {
        c->regions[i] = (struct kiln_region){ .dim = { KILN_DIM_M, KILN_DIM_K },
            .round = { 1, 1 },
            .element_bytes = 4 };
    }
    c->regions[1].holds = KILN_PREPARED_A;
    c->recipe = (struct kiln_recipe){ .name = "mul",
        .precision = KILN_SINGLE,
        .index_bits = 32,
        .num_stages = 2,
        .num_regions = 2,
        .stages = c->stages,
        .regions = c->regions,
        .tile = { 1, 1, 1 },
        .reach = { 1, 1, 1 },
        .time = &c->time };
    c->pin = (struct kiln_pin){ KILN_SINGLE, 1, 1, 1, 1,
        { 0, KILN_NO_RECIPE, KILN_NO_RECIPE, KILN_NO_RECIPE } };
    c->bundle = (struct kiln_bundle){ .format = KILN_BUNDLE_FORMAT,
        .name = "clay",
        .num_programs = 1,
        .num_recipes = 1,
        .num_pins = 1,
        .programs = &c->program,
        .recipes = &c->recipe,
        .pins = &c->pin,
        .pool = { .text_bytes = sizeof c->text,
                .num_lines = 2,
                .num_pairs = 2,
                .num_symbols = 3,
                .text = c->text,
                .lines = c->lines,
                .pairs = c->pairs,
                .symbols = c->symbols } };
    test_bundle_finish(&c->bundle.pool, &c->program);
}

/* Most leave the text that the program is made of as it is. */
static void spoil_pool(struct clay *c, int fault)
{
    struct kiln_pool *pool = &c->bundle.pool;
    pool->text = fault == 0 ? NULL : pool->text;
    pool->lines = fault == 1 ? NULL : pool->lines;
    pool->pairs = fault == 2 ? NULL : pool->pairs;
    pool->symbols = fault == 3 ? NULL : pool->symbols;
    c->text[sizeof c->text - 1] = fault == 4 ? '}' : '\0';
    c->lines[1] = fault == 5 ? sizeof c->text : c->lines[1];
    c->pairs[0].second = fault == 6 ? 2 : c->pairs[0].second; /* itself */
    c->pairs[0].first = fault == 7 ? 3 : c->pairs[0].first;   /* what comes after it */
    c->symbols[2] = fault == 8 ? 4 : c->symbols[2];
    c->program.num_symbols += fault == 9;
    c->program.first_symbol = fault == 10 ? 4 : fault == 11 ? UINT32_MAX : 0;
}

/* The tables stay sound. */
static void spoil_text(struct clay *c, int fault)
{
    c->program.text_bytes += fault == 0;
    c->program.text_bytes -= fault == 1;
    c->program.hash += fault == 2;
    c->pairs[1].second = fault == 3 ? 1 : c->pairs[1].second;
    c->text[3] = fault == 4 ? 'x' : c->text[3];
    c->program.num_symbols -= fault == 5;
    c->program.first_symbol += fault == 6;
    c->program.num_symbols -= fault == 6;
}

static void spoil_program(struct clay *c, int fault)
{
    c->program.num_symbols = fault == 0 ? 0 : c->program.num_symbols;
    c->program.num_binaries = fault == 0 ? 0 : c->program.num_binaries;
    c->program.binaries = fault == 1 ? NULL : c->program.binaries;
    c->binary.data = fault == 2 ? NULL : c->binary.data;
    c->binary.size = fault == 3 ? 0 : c->binary.size;
}

static void spoil_stage(struct clay *c, int fault)
{
    struct kiln_stage *mul = &c->stages[1];
    mul->entry = fault == 0 ? NULL : mul->entry;
    mul->work_dim = fault == 1 ? 0 : fault == 2 ? 4 : mul->work_dim;
    mul->dim[0] = fault == 3 ? KILN_NUM_DIMS : mul->dim[0];
    mul->tile[0] = fault == 4 ? 0 : mul->tile[0];
    mul->local[0] = fault == 5 ? 0 : mul->local[0];
    mul->num_args = fault == 6 ? KILN_MAX_ARGS + 1 : mul->num_args;
    mul->args[0] = fault == 7 ? KILN_NUM_ARG_CODES : fault == 8 ? KILN_ARG_REGION_2 : mul->args[0];
    if (fault == 9) { /* an image over nothing */
        mul->args[0] = KILN_ARG_WORKSPACE_IMAGE;
        mul->num_args = 1;
        c->recipe.stages = mul;
        c->recipe.num_stages = 1;
        c->recipe.num_regions = 0;
    }
}

/* What is prepared may come from a pack: nothing may count on its lying in the workspace, and its
 * preparation may depend on nothing else. */
static void spoil_preparation(struct clay *c, int fault)
{
    struct kiln_stage *pack = &c->stages[0], *mul = &c->stages[1];
    mul->args[0] = fault == 0  ? KILN_ARG_REGION_1 /* the region of prepared A */
                 : fault == 1  ? KILN_ARG_A
                 : fault == 2  ? KILN_ARG_LDA
                 : fault == 3  ? KILN_ARG_PACKED_B
                 : fault == 4  ? KILN_ARG_PACKED_B_AT
                 : fault == 23 ? KILN_ARG_PACKED_LDA
                 : fault == 24 ? KILN_ARG_PACKED_LDB
                               : mul->args[0];
    pack->args[0] = fault == 5  ? KILN_ARG_N
                  : fault == 6  ? KILN_ARG_B
                  : fault == 7  ? KILN_ARG_WORKSPACE
                  : fault == 8  ? KILN_ARG_REGION_0
                  : fault == 9  ? KILN_ARG_PACKED_B
                  : fault == 10 ? KILN_ARG_C
                  : fault == 11 ? KILN_ARG_ALPHA
                                : pack->args[0];
    pack->dim[0] = fault == 12 ? KILN_DIM_N : pack->dim[0];
    pack->prepares = fault == 13 ? KILN_PREPARED_BOTH
                   : fault == 14 ? KILN_PREPARED_NONE
                   : fault == 15 ? KILN_PREPARED_B
                                 : pack->prepares;
    mul->prepares = fault == 16 ? KILN_PREPARED_A : mul->prepares;
    c->regions[1].holds = fault == 17 ? KILN_NUM_PREPARED
                        : fault == 18 ? KILN_PREPARED_NONE
                                      : c->regions[1].holds;
    c->regions[0].holds = fault == 19 ? KILN_PREPARED_A
                        : fault == 20 ? KILN_PREPARED_B
                                      : c->regions[0].holds;
    c->regions[1].dim[0] = fault == 21 ? KILN_DIM_N : c->regions[1].dim[0];
    pack->prepares = fault == 22 ? KILN_PREPARED_BOTH + 1 : pack->prepares;
}

static void spoil_recipe(struct clay *c, int fault)
{
    c->recipe.name = fault == 0 ? NULL : c->recipe.name;
    c->recipe.precision = fault == 1 ? 8 : c->recipe.precision;
    c->recipe.transa = fault == 2 ? 2 : 0;
    c->recipe.transb = fault == 3 ? 2 : 0;
    c->recipe.index_bits = fault == 4 ? 0 : c->recipe.index_bits;
    c->recipe.program = fault == 5 ? 1 : 0;
    c->recipe.num_stages = fault == 6 ? 0 : fault == 25 || fault == 35 ? 3 : 2;
    c->recipe.stages = fault == 7 ? NULL : c->recipe.stages;
    c->recipe.regions = fault == 8 ? NULL : c->recipe.regions;
    struct kiln_region *region = &c->regions[0];
    region->dim[1] = fault == 9 ? KILN_DIM_UNITS : region->dim[1];
    region->round[0] = fault == 10 ? 0 : region->round[0];
    region->element_bytes = fault == 11 ? 0 : region->element_bytes;
    for (int i = 0; i < 3; i++) {
        c->recipe.tile[i] = fault == 12 + i ? 0 : fault == 15 + i ? 2 : 1;
        c->recipe.reach[i] = fault == 18 + i ? 0 : 1;
    }
    c->stages[0].dim[0] = fault == 39 ? KILN_DIM_PARTS : KILN_DIM_M;
    c->stages[1].dim[0] = fault == 37 || fault == 40 ? KILN_DIM_PARTS : KILN_DIM_M;
    c->stages[1].tile[0] = fault == 21 || fault == 37 ? 2 : 1; /* beyond the reach; of parts */
    c->regions[0].dim[0] = fault == 38 ? KILN_DIM_PARTS : KILN_DIM_M;
    c->recipe.index_bits = fault == 38 ? 64 : c->recipe.index_bits;
    c->recipe.unit_parts = fault == 22 || (fault >= 32 && fault < 40 && fault != 36);
    c->recipe.shares = fault == 23 || (fault >= 29 && fault < 32) ? 1 : fault == 24 ? 2 : 0;
    c->recipe.unit_turns = fault == 22 || fault == 24 || (fault >= 29 && fault < 32);
    c->stages[1].role = fault == 29 || fault == 34 ? KILN_ROLE_ADD : KILN_ROLE_NONE;
    c->stages[2].role = fault == 25 ? KILN_ROLE_ADD : fault == 35 ? KILN_NUM_ROLES : KILN_ROLE_NONE;
    c->stages[0].role = fault == 30 ? KILN_ROLE_ADD : KILN_ROLE_NONE; /* it prepares */
    c->regions[0].each_part = fault == 32 ? 2 : fault == 36;
    c->regions[1].each_part = fault == 33; /* it holds an operand */
    c->regions[0].each_member = fault == 41 ? 2 : 0;
    c->regions[1].each_member = fault == 42;                   /* likewise */
    c->recipe.batches = fault == 46 ? 1 : fault == 47 ? 2 : 0; /* it is told of no strides */
    c->regions[0].each_member = fault == 48 ? 1 : c->regions[0].each_member; /* without batches */
    if (fault >= 43 && fault < 46) { /* not told of all strides; told where nothing is multiplied */
        struct kiln_stage *stage = &c->stages[fault == 45 ? 0 : 1];
        stage->args[stage->num_args++] = fault == 43 ? KILN_ARG_C_STRIDE
                                       : fault == 44 ? KILN_ARG_PACKED_A_STRIDE
                                                     : KILN_ARG_A_STRIDE;
    }
    c->recipe.as_is = fault == 26 ? KILN_PREPARED_B
                    : fault == 27 ? KILN_PREPARED_A
                    : fault == 28 ? KILN_PREPARED_BOTH + 1
                    : fault == 31 ? KILN_PREPARED_A
                                  : 0;                 /* mul is not told lda */
    c->regions[1].element_bytes = fault == 27 ? 8 : 4; /* no matrix of floats */
}

/* One fault for each term and kind of coefficient that is none, in turn. */
static void spoil_time(struct clay *c, int fault)
{
    static const float bad[] = { NAN, -NAN, INFINITY, -INFINITY, -1, -0x1p-149f, 0x1p62f, FLT_MAX };
    c->time.coefficient[fault / 8] = bad[fault % 8];
}

static void spoil_pin(struct clay *c, int fault)
{
    c->pin.precision = fault == 0 ? 1 : c->pin.precision;
    c->pin.recipe[0] = fault == 1 ? 1 : 0;
    c->pin.recipe[3] = fault == 2 ? 0 : c->pin.recipe[3];
    c->pin.precision = fault == 3 ? 64 : c->pin.precision;
    c->pin.recipe[1] = fault == 4 ? 0 : c->pin.recipe[1];
    if (fault == 5) { /* nothing is pinned, in a precision that is not there */
        c->pin.recipe[0] = KILN_NO_RECIPE;
        c->pin.precision = 8;
    }
}

static void spoil_bundle(struct clay *c, int fault)
{
    c->bundle.format = fault == 0 ? 0 : c->bundle.format;
    c->bundle.name = fault == 1 ? NULL : c->bundle.name;
    c->bundle.programs = fault == 2 ? NULL : c->bundle.programs;
    c->bundle.recipes = fault == 3 ? NULL : c->bundle.recipes;
    c->bundle.pins = fault == 4 ? NULL : c->bundle.pins;
    c->bundle.num_recipes = fault == 5 ? KILN_NO_RECIPE : c->bundle.num_recipes;
}

static void each_fault_makes_a_bundle_unsound(void **state)
{
    static const struct {
        void (*spoil)(struct clay *c, int fault);
        int num_faults;
    } parts[] = { { spoil_pool, 12 }, { spoil_program, 4 }, { spoil_stage, 10 },
        { spoil_preparation, 25 }, { spoil_recipe, 49 }, { spoil_time, 8 * KILN_NUM_TERMS },
        { spoil_pin, 6 }, { spoil_bundle, 6 } };
    struct clay c;
    (void) state;
    clay_make(&c);
    assert_true(kiln_bundle_is_sound(&c.bundle));
    for (size_t part = 0; part < sizeof parts / sizeof *parts; part++) {
        for (int fault = 0; fault < parts[part].num_faults; fault++) {
            clay_make(&c);
            parts[part].spoil(&c, fault);
            if (kiln_bundle_is_sound(&c.bundle)) {
                fail_msg("part %zu, fault %d is not found", part, fault);
            }
        }
    }
}

static void parts_of_k_are_sound(void **state)
{
    struct clay c;
    (void) state;
    clay_make(&c);
    c.recipe.unit_parts = 4;
    c.recipe.num_stages = 3;
    c.stages[1].dim[0] = KILN_DIM_PARTS;
    c.stages[2].role = KILN_ROLE_ADD;
    c.regions[0].each_part = 1;
    assert_true(kiln_bundle_is_sound(&c.bundle));
}

/* A launch of several members of a batch needs axis 2 for them, and all strides. */
static void members_have_an_axis(void **state)
{
    static const struct {
        unsigned dim, local, routine;
        bool is_sound;
    } rows[] = {
        { KILN_DIM_ONE, 1, KILN_ROUTINE_MULTIPLY, true },
        { KILN_DIM_ONE, 2, KILN_ROUTINE_MULTIPLY, false },
        { KILN_DIM_M, 1, KILN_ROUTINE_MULTIPLY, false },
        { KILN_DIM_K, 1, KILN_ROUTINE_MULTIPLY, false },
        { KILN_DIM_ONE, 1, KILN_ROUTINE_MIRROR, false },
    };
    struct clay c;
    (void) state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        clay_make(&c);
        struct kiln_stage *mul = &c.stages[1];
        mul->args[mul->num_args++] = KILN_ARG_PACKED_A_STRIDE;
        mul->args[mul->num_args++] = KILN_ARG_B_STRIDE;
        c.recipe.batches = 1;
        c.regions[0].each_member = 1;
        assert_true(kiln_bundle_is_sound(&c.bundle));
        mul->work_dim = 3;
        for (unsigned d = 1; d < 3; d++) {
            mul->dim[d] = d == 1 ? KILN_DIM_ONE : (uint8_t) rows[i].dim;
            mul->tile[d] = 1;
            mul->local[d] = d == 1 ? 1 : (uint16_t) rows[i].local;
        }
        c.recipe.routine = (uint8_t) rows[i].routine;
        if (kiln_bundle_is_sound(&c.bundle) != rows[i].is_sound) {
            fail_msg("row %zu", i);
        }
    }
}

static void each_fault_of_a_text_is_seen(void **state)
{
    enum { NUM_FAULTS = 7 };
    struct clay c;
    (void) state;
    clay_make(&c);
    assert_true(kiln_pool_is_whole(&c.bundle.pool, &c.program));
    for (int fault = 0; fault < NUM_FAULTS; fault++) {
        clay_make(&c);
        spoil_text(&c, fault);
        assert_true(kiln_bundle_is_sound(&c.bundle));
        if (kiln_pool_is_whole(&c.bundle.pool, &c.program)) {
            fail_msg("fault %d is not found", fault);
        }
    }
}

static void flip(void *data, size_t bit)
{
    ((unsigned char *) data)[bit / 8] ^= (unsigned char) (1u << bit % 8);
}

/* Whatever bit of a pool is wrong, what is sound and whole has the text that was meant. */
static void no_bit_of_a_pool_leads_astray(void **state)
{
    struct clay c;
    (void) state;
    clay_make(&c);
    const struct {
        void *data;
        size_t size;
    } parts[] = { { c.text, sizeof c.text }, { c.lines, sizeof c.lines },
        { c.pairs, sizeof c.pairs }, { c.symbols, sizeof c.symbols } };
    char meant[128], text[128];
    assert_true(c.program.text_bytes < sizeof text);
    kiln_pool_copy(&c.bundle.pool, &c.program, meant);
    for (size_t part = 0; part < sizeof parts / sizeof *parts; part++) {
        for (size_t bit = 0; bit < 8 * parts[part].size; bit++) {
            flip(parts[part].data, bit);
            if (kiln_bundle_is_sound(&c.bundle) && kiln_pool_is_whole(&c.bundle.pool, &c.program)) {
                kiln_pool_copy(&c.bundle.pool, &c.program, text);
                assert_string_equal(text, meant);
            }
            flip(parts[part].data, bit);
        }
    }
}

/* The text of a line, of so many more of another, and of both once more. */
static void fill_text(struct clay *c, unsigned more)
{
    const char *first = "kernel void mul(int m)\n{\n", *second = "}\n";
    uint64_t hash = kiln_hash(KILN_HASH_BEGIN, first, strlen(first));
    for (unsigned i = 0; i < more; i++) {
        hash = kiln_hash(hash, second, strlen(second));
    }
    hash = kiln_hash(hash, first, strlen(first));
    c->program.hash = kiln_hash(hash, second, strlen(second));
    c->program.text_bytes = (uint32_t) (2 * strlen(first) + (more + 1) * strlen(second));
}

/* A reader waits with the second of each pair that it is in. */
static void pairs_lie_as_deep_as_a_reader_waits(void **state)
{
    struct clay c;
    struct kiln_pair pairs[KILN_MAX_DEPTH + 1];
    (void) state;
    for (unsigned depth = 1; depth <= KILN_MAX_DEPTH + 1; depth++) {
        clay_make(&c);
        for (unsigned i = 0; i < depth; i++) {
            pairs[i] = (struct kiln_pair){ (uint16_t) (i == 0 ? 0 : 1 + i), 1 };
        }
        c.bundle.pool.pairs = pairs;
        c.bundle.pool.num_pairs = depth;
        c.symbols[0] = (uint16_t) (1 + depth);
        c.symbols[1] = 0;
        fill_text(&c, depth);
        assert_true(kiln_bundle_is_sound(&c.bundle));
        assert_int_equal(kiln_pool_is_whole(&c.bundle.pool, &c.program), depth <= KILN_MAX_DEPTH);
    }
}

/* The stages of a recipe that prepares both operands at once, and the regions. */
enum { BOTH, ONLY_A, ONLY_B, MUL, NUM_STAGES };

struct pair {
    struct clay clay;
    struct kiln_stage stages[NUM_STAGES];
    struct kiln_region regions[2];
};

static void pair_make(struct pair *p)
{
    clay_make(&p->clay);
    p->stages[BOTH] = p->stages[ONLY_A] = p->clay.stages[0];
    p->stages[BOTH].dim[0] = KILN_DIM_N;
    p->stages[BOTH].args[0] = KILN_ARG_N;
    p->stages[BOTH].args[2] = KILN_ARG_B;
    p->stages[BOTH].args[5] = KILN_ARG_PACKED_B;
    p->stages[BOTH].prepares = KILN_PREPARED_BOTH;
    p->stages[ONLY_B] = (struct kiln_stage){ .entry = "pack",
        .work_dim = 1,
        .dim = { KILN_DIM_N },
        .tile = { 1 },
        .local = { 1 },
        .num_args = 2,
        .args = { KILN_ARG_B, KILN_ARG_PACKED_B },
        .prepares = KILN_PREPARED_B };
    p->stages[MUL] = p->clay.stages[1];
    p->stages[MUL].args[0] = KILN_ARG_K;
    p->stages[MUL].args[3] = KILN_ARG_PACKED_B;
    for (int i = 0; i < 2; i++) {
        p->regions[i] = (struct kiln_region){ .dim = { KILN_DIM_K, KILN_DIM_K },
            .round = { 1, 1 },
            .element_bytes = 4,
            .holds = i == 0 ? KILN_PREPARED_A : KILN_PREPARED_B };
    }
    p->clay.recipe.stages = p->stages;
    p->clay.recipe.num_stages = NUM_STAGES;
    p->clay.recipe.regions = p->regions;
}

static void both_operands_may_be_prepared_at_once(void **state)
{
    enum { NUM_FAULTS = 6 };
    struct pair p;
    (void) state;
    pair_make(&p);
    assert_true(kiln_bundle_is_sound(&p.clay.bundle));
    for (int fault = 0; fault < NUM_FAULTS; fault++) {
        pair_make(&p);
        p.stages[ONLY_A] = fault == 0 ? p.stages[ONLY_B] : p.stages[ONLY_A];
        p.stages[ONLY_B] = fault == 1 ? p.stages[ONLY_A] : p.stages[ONLY_B];
        p.clay.recipe.num_regions = fault == 2 ? 1 : 2;
        p.stages[BOTH].args[0] = fault == 3 ? KILN_ARG_C
                               : fault == 4 ? KILN_ARG_ALPHA
                                            : p.stages[BOTH].args[0];
        p.stages[MUL].prepares = fault == 5 ? KILN_PREPARED_BOTH : KILN_PREPARED_NONE;
        if (kiln_bundle_is_sound(&p.clay.bundle)) {
            fail_msg("fault %d is not found", fault);
        }
    }
}

static void unknown_precisions_have_no_row(void **state)
{
    (void) state;
    for (unsigned precision = 0; precision <= 256; precision++) {
        const struct kiln_precision_facts *row = kiln_precision_find(precision);
        bool known = precision == KILN_HALF || precision == KILN_SINGLE ||
                     precision == KILN_DOUBLE || precision == KILN_EMULATED ||
                     kiln_precision_is_complex(precision);
        assert_true(known == (row != NULL));
        assert_true(!known || row->precision == precision);
    }
}

static void the_chain_ends_in_the_last_bundle(void **state)
{
    struct kiln_device_facts facts = { .platform = "Stub Platform",
        .device = "Stub Device",
        .driver = "1.0",
        .native_vector_float = 8 };
    const struct kiln_bundle *chain[KILN_MAX_LINKS];
    const struct kiln_bundle *const none[] = { NULL };
    unsigned num = 0;
    (void) state;
    assert_int_equal(kiln_select_bundles(NULL, kiln_linked_bundles, false, &facts, chain, &num),
            KILN_SUCCESS);
    assert_int_equal(num, 2);
    assert_ptr_equal(chain[0], &tuned_bundle);
    assert_ptr_equal(chain[1], &generic_bundle);
    assert_int_equal(
            kiln_select_bundles(&generic_bundle, kiln_linked_bundles, false, &facts, chain, &num),
            KILN_SUCCESS);
    assert_int_equal(num, 1);
    assert_int_equal(kiln_select_bundles(&tuned_bundle, none, false, &facts, chain, &num),
            KILN_SUCCESS);
    assert_int_equal(num, 1);
    assert_int_equal(kiln_select_bundles(NULL, none, false, &facts, chain, &num), KILN_NO_KERNEL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(globs_match),
        cmocka_unit_test(every_fact_of_a_match_counts),
        cmocka_unit_test(each_fault_makes_a_bundle_unsound),
        cmocka_unit_test(parts_of_k_are_sound),
        cmocka_unit_test(members_have_an_axis),
        cmocka_unit_test(each_fault_of_a_text_is_seen),
        cmocka_unit_test(no_bit_of_a_pool_leads_astray),
        cmocka_unit_test(pairs_lie_as_deep_as_a_reader_waits),
        cmocka_unit_test(both_operands_may_be_prepared_at_once),
        cmocka_unit_test(unknown_precisions_have_no_row),
        cmocka_unit_test(the_chain_ends_in_the_last_bundle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
