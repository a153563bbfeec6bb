/* test_members.c: which members of a batch are launched together, and with how many work-groups, as
 * plan.c says. */
#include "plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

enum { FLOATS = 4 };

static const struct kiln_places at_start;

static struct kiln_product dense(size_t m, size_t n, size_t k)
{
    return kiln_product_dense(KILN_ID_SINGLE, FLOATS, 0, 0, m, n, k);
}

/* A recipe whose one stage takes members of a batch; a tile is 32 x 64. */
static struct kiln_recipe batching(const struct kiln_stage *stage)
{
    return (struct kiln_recipe){ .name = "batching",
        .index_bits = 64,
        .tile = { 32, 64, 16 },
        .reach = { 32, 64, 16 },
        .batches = 1,
        .num_stages = 1,
        .stages = stage };
}

/* On a device of four units. */
static void members_are_launched_together_where_they_gain(void **state)
{
    static const struct kiln_stage stage = {
        .entry = "mul",
        .work_dim = 2,
        .dim = { KILN_DIM_N, KILN_DIM_M },
        .tile = { 64, 32 },
        .local = { 1, 1 },
        .num_args = 2,
        .args = { KILN_ARG_C, KILN_ARG_C_STRIDE },
    };
    static const struct kiln_region region = { .dim = { KILN_DIM_M, KILN_DIM_K },
        .round = { 1, 1 },
        .element_bytes = 4,
        .holds = KILN_PREPARED_A };
    enum { DEEP = 16 * KILN_SHARED_STEPS, SHALLOW = DEEP - 16, MOST = KILN_MOST_MEMBERS };
    static const struct {
        unsigned unit_parts, unit_turns, shares;
        size_t m, k, batch, members;
    } rows[] = {
        { 0, 0, 0, 32, DEEP, 1, 1 },
        { 0, 0, 0, 32, DEEP, 2, 2 },
        { 0, 0, 0, 3200, DEEP, 7, 7 },
        { 0, 0, 0, 32, DEEP, MOST, MOST },
        { 0, 0, 0, 32, DEEP, (size_t) MOST + 1, MOST },
        /* Parts of K: eight work-groups. Half of them with a tile, and one more. */
        { 2, 0, 0, 32, DEEP, 4, 1 },
        { 2, 0, 0, 32, DEEP, 5, 5 },
        { 2, 0, 0, 32, SHALLOW, 2, 2 },
        { 2, 0, 0, 3200, DEEP, 2, 2 },
        /* Tiles that are shared: likewise; and where one member has a tile for each. */
        { 0, 2, 1, 32, DEEP, 4, 1 },
        { 0, 2, 1, 32, DEEP, 5, 5 },
        { 0, 2, 1, 32, SHALLOW, 2, 2 },
        { 0, 2, 1, 7 * 32, DEEP, 2, 2 },
        { 0, 2, 1, 8 * 32, DEEP, 2, 1 },
        { 0, 2, 1, 8 * 32, SHALLOW, 2, 1 },
        /* Whole tiles in turn. */
        { 0, 2, 0, 32, DEEP, 2, 2 },
        { 0, 2, 0, 8 * 32, DEEP, 2, 2 },
    };
    (void) state;
    struct kiln_recipe recipe = batching(&stage);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct kiln_product p = dense(rows[i].m, 64, rows[i].k);
        p.batch_count = rows[i].batch;
        recipe.unit_parts = (uint16_t) rows[i].unit_parts;
        recipe.unit_turns = (uint16_t) rows[i].unit_turns;
        recipe.shares = (uint8_t) rows[i].shares;
        if (kiln_num_members(&recipe, &p, 0, 4) != rows[i].members)
            fail_msg("row %zu: %zu members", i, kiln_num_members(&recipe, &p, 0, 4));
        p.one_by_one = true;
        assert_int_equal(kiln_num_members(&recipe, &p, 0, 4), 1);
    }
    struct kiln_product p = dense(32, 64, 16);
    p.batch_count = 3;
    recipe = batching(&stage);
    recipe.num_regions = 1;
    recipe.regions = &region;
    assert_int_equal(kiln_num_members(&recipe, &p, 0, 4), 1);
    assert_int_equal(kiln_num_members(&recipe, &p, KILN_PREPARED_A, 4), 3);
    recipe = batching(&stage);
    recipe.batches = 0;
    assert_int_equal(kiln_num_members(&recipe, &p, 0, 4), 1);
}

/* Those that take tiles in turn: where they share, one for each tile; else enough of all members
 * for a few turns. Each member has a region of its own, and nothing is added up. */
static void members_have_groups_and_regions(void **state)
{
    static const struct kiln_stage stages[] = {
        { .entry = "mul",
                .work_dim = 1,
                .dim = { KILN_DIM_UNITS },
                .tile = { 2 },
                .local = { 8 },
                .num_args = 2,
                .args = { KILN_ARG_C, KILN_ARG_C_STRIDE } },
        { .entry = "add",
                .work_dim = 1,
                .dim = { KILN_DIM_UNITS },
                .tile = { 2 },
                .local = { 8 },
                .role = KILN_ROLE_ADD },
    };
    static const struct kiln_region region = { .dim = { KILN_DIM_ONE, KILN_DIM_ONE },
        .round = { 1, 1 },
        .element_bytes = 256,
        .each_member = 1 };
    static const struct {
        unsigned shares;
        size_t m, batch, groups;
    } rows[] = {
        { 1, 32, 5, 1 },
        { 1, 7 * 32, 5, 7 },
        { 0, 3200, 2, 8 },
        { 0, 3200, 8, 4 },
        { 0, 3200, 9, 4 },
        { 0, 3200, 32, 1 },
        { 0, 3200, 1000, 1 },
        { 0, 3 * 32, 2, 3 },
    };
    (void) state;
    struct kiln_recipe recipe = batching(stages);
    recipe.num_stages = 2;
    recipe.unit_turns = 2;
    recipe.num_regions = 1;
    recipe.regions = &region;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct kiln_product p = dense(rows[i].m, 64, 4000);
        struct kiln_plan plan;
        p.batch_count = rows[i].batch;
        recipe.shares = (uint8_t) rows[i].shares;
        assert_true(kiln_plan_make(&recipe, &p, &at_start, 4, &plan));
        assert_int_equal(plan.members, rows[i].batch);
        if (plan.groups[0][0] != rows[i].groups)
            fail_msg("row %zu: %zu groups", i, plan.groups[0][0]);
        assert_int_equal(plan.global[0][0], 8 * rows[i].groups);
        assert_true(kiln_stage_is_empty(&plan, 1));
        assert_int_equal(plan.workspace_bytes, 256 * rows[i].batch);
    }
}

/* Those that would share K do not, as nothing adds up. */
static void members_have_one_part_of_k(void **state)
{
    static const struct kiln_stage stages[] = {
        { .entry = "mul",
                .work_dim = 3,
                .dim = { KILN_DIM_N, KILN_DIM_M, KILN_DIM_PARTS },
                .tile = { 64, 32, 1 },
                .local = { 1, 1, 1 },
                .num_args = 2,
                .args = { KILN_ARG_C, KILN_ARG_C_STRIDE } },
        { .entry = "add",
                .work_dim = 1,
                .dim = { KILN_DIM_M },
                .tile = { 1 },
                .local = { 1 },
                .role = KILN_ROLE_ADD },
    };
    static const struct kiln_region region = { .dim = { KILN_DIM_M, KILN_DIM_N },
        .round = { 1, 1 },
        .element_bytes = 4,
        .each_part = 1 };
    struct kiln_product p = dense(32, 64, 16 * KILN_SHARED_STEPS);
    struct kiln_plan plan;
    struct kiln_recipe recipe = batching(stages);
    (void) state;
    recipe.num_stages = 2;
    recipe.unit_parts = 2;
    recipe.num_regions = 1;
    recipe.regions = &region;
    assert_true(kiln_plan_make(&recipe, &p, &at_start, 4, &plan));
    assert_true(plan.parts > 1 && !kiln_stage_is_empty(&plan, 1));
    p.batch_count = 5;
    assert_true(kiln_plan_make(&recipe, &p, &at_start, 4, &plan));
    assert_int_equal(plan.members, 5);
    assert_int_equal(plan.parts, 1);
    assert_int_equal(plan.groups[0][2], 1);
    assert_true(kiln_stage_is_empty(&plan, 1));
}

/* The real product that is left of a complex one is prepared anew for each member. */
static void real_products_are_launched_one_by_one(void **state)
{
    static const struct kiln_stage stage = { .entry = "mul" };
    const struct kiln_recipe recipe = batching(&stage);
    struct kiln_product product = kiln_product_dense(KILN_ID_COMPLEX_SINGLE, 2 * FLOATS, 0, 0, 64,
            64, 64);
    (void) state;
    product.batch_count = 5;
    const struct kiln_product real = kiln_product_real(&product);
    assert_int_equal(real.batch_count, 5);
    assert_int_equal(kiln_joint_members(&product), 5);
    assert_int_equal(kiln_joint_members(&real), 1);
    assert_int_equal(kiln_num_members(&recipe, &product, 0, 4), 5);
    assert_int_equal(kiln_num_members(&recipe, &real, 0, 4), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_launched_together_where_they_gain),
        cmocka_unit_test(members_have_groups_and_regions),
        cmocka_unit_test(members_have_one_part_of_k),
        cmocka_unit_test(real_products_are_launched_one_by_one),
    };
    return cmocka_run_group_tests_name("members", tests, NULL, NULL);
}
