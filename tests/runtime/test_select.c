/* test_select.c: which bundles serve a device, and which are not fit to be read at all. */
#include "fixture.h"

#include "internal.h"

#include <string.h>

static void globs_match(void **state)
{
    static const struct {
        const char *pattern, *text;
        bool matches;
    } cases[] = {
        {"", "", true}, {"", "a", false}, {"a", "", false}, {"*", "", true}, {"*", "abc", true},
        {"abc", "abc", true}, {"abc", "abcd", false}, {"abc*", "abcd", true},
        {"*bcd", "abcd", true}, {"a*d", "abcd", true}, {"a*d", "abcde", false},
        {"a*b*c", "aXbYbZc", true}, {"a**c", "ac", true}, {"*a*", "bbb", false},
        {"*ab", "aab", true}, {"A", "a", false}, {"a?c", "abc", false}, {"abc***", "abc", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(kiln_glob_match(cases[i].pattern, cases[i].text), cases[i].matches);
    }
}

static void every_fact_of_a_match_counts(void **state)
{
    struct kiln_device_facts facts = {.platform = "P", .device = "D", .driver = "V",
                                      .native_vector_float = 8};
    struct kiln_bundle bundle = tuned_bundle;
    (void)state;
    bundle.match = (struct kiln_match){0};
    assert_true(kiln_bundle_matches(&bundle, &facts));
    bundle.match = (struct kiln_match){"P", "D", "V", 8};
    assert_true(kiln_bundle_matches(&bundle, &facts));
    bundle.match.platform = "Q";
    assert_false(kiln_bundle_matches(&bundle, &facts));
    bundle.match = (struct kiln_match){"P", "E", "V", 8};
    assert_false(kiln_bundle_matches(&bundle, &facts));
    bundle.match = (struct kiln_match){"P", "D", "W", 8};
    assert_false(kiln_bundle_matches(&bundle, &facts));
    bundle.match = (struct kiln_match){"P", "D", "V", 16};
    assert_false(kiln_bundle_matches(&bundle, &facts));
}

/* A bundle of one recipe of which everything may be changed. */
struct clay {
    const char *pieces[1];
    struct kiln_binary binary;
    struct kiln_program program;
    struct kiln_stage stage;
    struct kiln_region region;
    struct kiln_recipe recipe;
    struct kiln_anchor anchor;
    struct kiln_dispatch dispatch;
    struct kiln_bundle bundle;
};

static void clay_make(struct clay *c)
{
    static const unsigned char data[] = "data";
    memset(c, 0, sizeof *c);
    c->pieces[0] = "kernel void mul(int m)\n{\n}\n";
    c->binary = (struct kiln_binary){.platform = "P", .device = "D", .driver = "V", .data = data,
                                     .size = sizeof data};
    c->program = (struct kiln_program){.pieces = c->pieces, .num_pieces = 1, .num_binaries = 1,
                                       .binaries = &c->binary};
    c->stage = (struct kiln_stage){.entry = "mul", .work_dim = 1, .dim = {KILN_DIM_M},
                                   .tile = {1}, .local = {1}, .num_args = 1,
                                   .args = {KILN_ARG_REGION_0}};
    c->region = (struct kiln_region){.dim = {KILN_DIM_M, KILN_DIM_K}, .round = {1, 1},
                                     .element_bytes = 4};
    c->recipe = (struct kiln_recipe){.name = "mul", .precision = 32, .index_bits = 32,
                                     .num_stages = 1, .num_regions = 1, .stages = &c->stage,
                                     .regions = &c->region};
    c->anchor = (struct kiln_anchor){1, 1, 1, {0, KILN_NO_RECIPE, KILN_NO_RECIPE,
                                               KILN_NO_RECIPE}};
    c->dispatch = (struct kiln_dispatch){.precision = 32, .num_anchors = 1,
                                         .anchors = &c->anchor};
    c->bundle = (struct kiln_bundle){.format = KILN_BUNDLE_FORMAT, .name = "clay",
                                     .num_programs = 1, .num_recipes = 1, .num_dispatches = 1,
                                     .programs = &c->program, .recipes = &c->recipe,
                                     .dispatches = &c->dispatch};
}

static void spoil_program(struct clay *c, int fault)
{
    c->pieces[0] = fault == 0 ? NULL : c->pieces[0];
    c->program.pieces = fault == 1 ? NULL : c->program.pieces;
    c->program.num_binaries = fault == 1 ? 0 : c->program.num_binaries;
    c->program.binaries = fault == 2 ? NULL : c->program.binaries;
    c->binary.data = fault == 3 ? NULL : c->binary.data;
    c->binary.size = fault == 4 ? 0 : c->binary.size;
}

static void spoil_stage(struct clay *c, int fault)
{
    c->stage.entry = fault == 0 ? NULL : c->stage.entry;
    c->stage.work_dim = fault == 1 ? 0 : fault == 2 ? 4 : c->stage.work_dim;
    c->stage.dim[0] = fault == 3 ? KILN_NUM_DIMS : c->stage.dim[0];
    c->stage.tile[0] = fault == 4 ? 0 : c->stage.tile[0];
    c->stage.local[0] = fault == 5 ? 0 : c->stage.local[0];
    c->stage.num_args = fault == 6 ? KILN_MAX_ARGS + 1 : c->stage.num_args;
    c->stage.args[0] = fault == 7 ? KILN_NUM_ARG_CODES
            : fault == 8 ? KILN_ARG_REGION_1 : c->stage.args[0];
    if (fault == 9) {
        c->stage.args[0] = KILN_ARG_WORKSPACE_IMAGE;
        c->recipe.num_regions = 0;
    }
}

static void spoil_recipe(struct clay *c, int fault)
{
    c->recipe.name = fault == 0 ? NULL : c->recipe.name;
    c->recipe.precision = fault == 1 ? 8 : c->recipe.precision;
    c->recipe.transa = fault == 2 ? 2 : 0;
    c->recipe.transb = fault == 3 ? 2 : 0;
    c->recipe.index_bits = fault == 4 ? 0 : c->recipe.index_bits;
    c->recipe.program = fault == 5 ? 1 : 0;
    c->recipe.num_stages = fault == 6 ? 0 : c->recipe.num_stages;
    c->recipe.stages = fault == 7 ? NULL : c->recipe.stages;
    c->recipe.regions = fault == 8 ? NULL : c->recipe.regions;
    c->region.dim[1] = fault == 9 ? KILN_NUM_DIMS : c->region.dim[1];
    c->region.round[0] = fault == 10 ? 0 : c->region.round[0];
    c->region.element_bytes = fault == 11 ? 0 : c->region.element_bytes;
}

static void spoil_dispatch(struct clay *c, int fault)
{
    c->dispatch.precision = fault == 0 ? 1 : c->dispatch.precision;
    c->dispatch.anchors = fault == 1 ? NULL : c->dispatch.anchors;
    c->anchor.recipe[0] = fault == 2 ? 1 : 0;
    c->anchor.recipe[3] = fault == 3 ? 0 : c->anchor.recipe[3];
    c->dispatch.precision = fault == 4 ? 64 : c->dispatch.precision;
}

static void spoil_bundle(struct clay *c, int fault)
{
    c->bundle.format = fault == 0 ? 0 : c->bundle.format;
    c->bundle.name = fault == 1 ? NULL : c->bundle.name;
    c->bundle.programs = fault == 2 ? NULL : c->bundle.programs;
    c->bundle.recipes = fault == 3 ? NULL : c->bundle.recipes;
    c->bundle.dispatches = fault == 4 ? NULL : c->bundle.dispatches;
    c->bundle.num_recipes = fault == 5 ? KILN_NO_RECIPE : c->bundle.num_recipes;
}

static void each_fault_makes_a_bundle_unsound(void **state)
{
    static const struct {
        void (*spoil)(struct clay *c, int fault);
        int num_faults;
    } parts[] = {{spoil_program, 5}, {spoil_stage, 10}, {spoil_recipe, 12}, {spoil_dispatch, 5},
                 {spoil_bundle, 6}};
    struct clay c;
    (void)state;
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

static void unknown_precisions_have_no_row(void **state)
{
    (void)state;
    for (unsigned precision = 0; precision <= 256; precision++) {
        size_t slot = kiln_precision_slot(precision);
        bool known = precision == KILN_HALF || precision == KILN_SINGLE || precision == KILN_DOUBLE;
        assert_true(known == (slot < KILN_NUM_PRECISIONS));
        assert_true(!known || kiln_precisions[slot].element_bytes * 8 == precision);
    }
}

static void the_chain_ends_in_the_last_bundle(void **state)
{
    struct kiln_device_facts facts = {.platform = "Stub Platform", .device = "Stub Device",
                                      .driver = "1.0", .native_vector_float = 8};
    const struct kiln_bundle *chain[KILN_MAX_LINKS];
    const struct kiln_bundle *const none[] = {NULL};
    unsigned num = 0;
    (void)state;
    assert_int_equal(kiln_select_bundles(NULL, kiln_linked_bundles, &facts, chain, &num),
            KILN_SUCCESS);
    assert_int_equal(num, 2);
    assert_ptr_equal(chain[0], &tuned_bundle);
    assert_ptr_equal(chain[1], &generic_bundle);
    assert_int_equal(kiln_select_bundles(&generic_bundle, kiln_linked_bundles, &facts, chain,
            &num), KILN_SUCCESS);
    assert_int_equal(num, 1);
    assert_int_equal(kiln_select_bundles(&tuned_bundle, none, &facts, chain, &num), KILN_SUCCESS);
    assert_int_equal(num, 1);
    assert_int_equal(kiln_select_bundles(NULL, none, &facts, chain, &num), KILN_NO_KERNEL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(globs_match),
        cmocka_unit_test(every_fact_of_a_match_counts),
        cmocka_unit_test(each_fault_makes_a_bundle_unsound),
        cmocka_unit_test(unknown_precisions_have_no_row),
        cmocka_unit_test(the_chain_ends_in_the_last_bundle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
