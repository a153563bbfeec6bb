/* test_plan.c: what the planning core says of recipes and products, at its limits. */
#include "plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FLOATS = 4 };

static struct kiln_product dense(size_t m, size_t n, size_t k)
{
    return kiln_product_dense(KILN_ID_SINGLE, FLOATS, 0, 0, m, n, k);
}

/* One stage that multiplies tiles of 8 x 16, with indices of 32 bits. */
static const struct kiln_stage multiply = {
    .entry = "multiply", .work_dim = 2, .dim = { KILN_DIM_N, KILN_DIM_M }, .tile = { 16, 8 },
    .local = { 4, 2 }, .num_args = 1, .args = { KILN_ARG_C },
};

static struct kiln_recipe one_stage(void)
{
    return (struct kiln_recipe){
        .name = "one",
        .precision = KILN_ID_SINGLE,
        .index_bits = 32,
        .tile = { 8, 16, 4 },
        .reach = { 8, 16, 4 },
        .num_stages = 1,
        .stages = &multiply,
    };
}

static void dense_products_have_no_gaps(void **state)
{
    (void) state;
    for (unsigned pair = 0; pair < 4; pair++) {
        const unsigned transa = pair / 2, transb = pair % 2;
        const struct kiln_product p = kiln_product_dense(KILN_ID_DOUBLE, 8, transa, transb, 3, 5,
                7);
        size_t end = 0;
        assert_int_equal(p.a.rows, transa ? 7 : 3);
        assert_int_equal(p.b.rows, transb ? 5 : 7);
        assert_int_equal(p.c.rows, 3);
        assert_true(kiln_matrix_end(&p.a, 1, &end) && end == 3 * 7);
        assert_true(kiln_matrix_end(&p.b, 1, &end) && end == 5 * 7);
        assert_true(kiln_matrix_end(&p.c, 1, &end) && end == 3 * 5);
        assert_int_equal(kiln_extent(&p, 4, KILN_DIM_ONE), 1);
        assert_int_equal(kiln_extent(&p, 4, KILN_DIM_M), 3);
        assert_int_equal(kiln_extent(&p, 4, KILN_DIM_N), 5);
        assert_int_equal(kiln_extent(&p, 4, KILN_DIM_K), 7);
        assert_int_equal(kiln_extent(&p, 4, KILN_DIM_UNITS), 4);
        assert_int_equal(kiln_extent(&p, 0, KILN_DIM_UNITS), 1);
        assert_ptr_equal(kiln_operand(&p, KILN_PREPARED_A), &p.a);
        assert_ptr_equal(kiln_operand(&p, KILN_PREPARED_B), &p.b);
    }
}

static void ends_count_offset_gaps_and_batch(void **state)
{
    struct kiln_matrix matrix = { .offset = 5,
        .ld = 10,
        .stride = 100,
        .rows = 3,
        .row_length = 7 };
    size_t end = 0;
    (void) state;
    assert_true(kiln_matrix_span(&matrix, &end) && end == 2 * 10 + 7);
    assert_true(kiln_matrix_end(&matrix, 4, &end) && end == 5 + 3 * 100 + 2 * 10 + 7);
    matrix.stride = SIZE_MAX / 3;
    assert_false(kiln_matrix_end(&matrix, 4, &end));
    matrix.stride = 0;
    assert_true(kiln_matrix_end(&matrix, SIZE_MAX, &end) && end == 5 + 2 * 10 + 7);
    matrix.ld = SIZE_MAX / 2 - 2;
    assert_false(kiln_matrix_end(&matrix, 1, &end));
    matrix.ld = SIZE_MAX / 2 - 6;
    assert_true(kiln_matrix_end(&matrix, 1, &end) && end == SIZE_MAX - 1);
}

/* ---- Guards ---- */

static void guards_look_at_each_extent(void **state)
{
    const struct kiln_guard open = { .m = 1 };
    const struct kiln_guard guard = { .m = 16,
        .n = 8,
        .k = 4,
        .most = { 64, 0, 100 },
        .rest = { 0, 3, 0 } };
    static const struct {
        size_t m, n, k;
        bool takes;
    } cases[] = {
        { 64, 80, 100, true },
        { 0, 0, 0, true },
        { 16, 8, 4, true },
        { 80, 80, 100, false },
        { 64, 80, 104, false }, /* beyond the most */
        { 8, 80, 100, false },
        { 63, 80, 100, false },
        { 64, 80, 98, false },
        { 64, 83, 100, true },
        { 64, 84, 100, false },
        { 64, 3, 100, true }, /* with a rest */
        { 64, SIZE_MAX - 7, 100, true },
        { 64, SIZE_MAX - 3, 100, false },
    };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct kiln_product p = dense(cases[i].m, cases[i].n, cases[i].k);
        assert_true(kiln_guard_takes_extents(&guard, p.m, p.n, p.k) == cases[i].takes);
        assert_true(kiln_guard_takes(&guard, &p) == cases[i].takes);
        assert_true(kiln_guard_takes(&open, &p));
    }
}

static void guards_look_at_each_matrix(void **state)
{
    const struct kiln_guard guard = { .a = 4, .b = 2, .c = 8 };
    struct kiln_product p = dense(3, 5, 7);
    struct kiln_matrix *const matrices[] = { &p.a, &p.b, &p.c };
    static const size_t units[] = { 4, 2, 8 };
    (void) state;
    p.a.ld = p.b.ld = p.c.ld = 8;
    p.a.offset = p.b.offset = p.c.offset = 16;
    p.a.stride = p.b.stride = p.c.stride = 64;
    assert_true(kiln_guard_takes(&guard, &p));
    for (int i = 0; i < 3; i++) {
        size_t *const fields[] = { &matrices[i]->ld, &matrices[i]->offset, &matrices[i]->stride };
        for (int j = 0; j < 3; j++) {
            const size_t before = *fields[j];
            *fields[j] += units[i];
            assert_true(kiln_guard_takes(&guard, &p));
            *fields[j] -= units[i] / 2;
            assert_false(kiln_guard_takes(&guard, &p));
            *fields[j] = before;
        }
    }
    assert_true(kiln_guard_takes_extents(&guard, 3, 5, 7));
}

static void recipes_take_their_own_problem(void **state)
{
    struct kiln_recipe recipe = one_stage();
    const struct kiln_product good = dense(10, 10, 10);
    struct kiln_product other = good;
    (void) state;
    assert_true(kiln_recipe_takes(&recipe, &good));
    other.precision = KILN_ID_DOUBLE;
    assert_false(kiln_recipe_takes(&recipe, &other));
    other = good;
    other.transa = 1;
    assert_false(kiln_recipe_takes(&recipe, &other));
    other = good;
    other.transb = 1;
    assert_false(kiln_recipe_takes(&recipe, &other));
    recipe.guard.k = 4;
    assert_false(kiln_recipe_takes(&recipe, &good));
}

static void only_open_recipes_take_all(void **state)
{
    struct kiln_recipe recipe = one_stage();
    struct kiln_guard *const guard = &recipe.guard;
    uint16_t *const units[] = { &guard->m, &guard->n, &guard->k, &guard->a, &guard->b, &guard->c };
    (void) state;
    assert_false(kiln_recipe_takes_all(&recipe));
    recipe.index_bits = 64;
    assert_true(kiln_recipe_takes_all(&recipe));
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        *units[i] = 2;
        assert_false(kiln_recipe_takes_all(&recipe));
        *units[i] = 0;
    }
    for (size_t i = 0; i < 3; i++) {
        guard->most[i] = 2;
        assert_false(kiln_recipe_takes_all(&recipe));
        guard->most[i] = 0;
    }
}

/* ---- Indices ---- */

/* The largest value of a field at which indices still fit. */
static size_t largest_fit(const struct kiln_recipe *recipe, struct kiln_product *product,
        size_t *field, size_t least)
{
    size_t fits = least, fails = (size_t) INT32_MAX + 1;
    while (fails - fits > 1) {
        *field = fits + (fails - fits) / 2;
        if (kiln_indices_fit(recipe, product))
            fits = *field;
        else
            fails = *field;
    }
    return fits;
}

static void indices_fit_up_to_the_last(void **state)
{
    struct kiln_recipe recipe = one_stage();
    struct kiln_product p = dense(100, 200, 50);
    (void) state;
    /* A: (100 + 2 * 8 - 1) rows of ld, and 50 + 2 * 4 elements. */
    assert_int_equal(largest_fit(&recipe, &p, &p.a.ld, 50), ((size_t) INT32_MAX + 1 - 58) / 115);
    p = dense(100, 200, 50);
    /* B: 50 + 2 * 4 - 1 rows of 200, and 200 + 2 * 16 elements. */
    assert_int_equal(largest_fit(&recipe, &p, &p.b.offset, 0),
            (size_t) INT32_MAX + 1 - (57 * 200 + 232));
    p = dense(100, 200, 50);
    p.batch_count = 3;
    /* C: 100 + 2 * 8 - 1 rows of 200, and 200 + 2 * 16 elements, twice a stride on. */
    assert_int_equal(largest_fit(&recipe, &p, &p.c.stride, 0),
            ((size_t) INT32_MAX + 1 - (115 * 200 + 232)) / 2);
    recipe.index_bits = 64;
    p.c.stride = SIZE_MAX;
    assert_true(kiln_indices_fit(&recipe, &p));
}

static void transposed_matrices_have_other_rows(void **state)
{
    const struct kiln_recipe recipe = one_stage();
    struct kiln_product p = kiln_product_dense(KILN_ID_SINGLE, FLOATS, 1, 1, 100, 200, 50);
    (void) state;
    assert_int_equal(largest_fit(&recipe, &p, &p.a.ld, 100), ((size_t) INT32_MAX + 1 - 116) / 57);
    p = kiln_product_dense(KILN_ID_SINGLE, FLOATS, 1, 1, 100, 200, 50);
    assert_int_equal(largest_fit(&recipe, &p, &p.b.ld, 50), ((size_t) INT32_MAX + 1 - 58) / 231);
}

static void indices_of_regions_count(void **state)
{
    const struct kiln_region region = { .dim = { KILN_DIM_M, KILN_DIM_ONE },
        .round = { 1, 1 << 20 },
        .element_bytes = 1 };
    struct kiln_recipe recipe = one_stage();
    struct kiln_product p = dense(1, 1, 1);
    (void) state;
    recipe.num_regions = 1;
    recipe.regions = &region;
    /* M + 2 * 8 rows of 2^20 elements, below 2^31. */
    assert_int_equal(largest_fit(&recipe, &p, &p.m, 1), 2047 - 16);
}

static void what_overflows_does_not_fit(void **state)
{
    struct kiln_recipe recipe = one_stage();
    struct kiln_product p = dense(1, 1, 1);
    (void) state;
    p.m = SIZE_MAX;
    assert_false(kiln_indices_fit(&recipe, &p));
    p = dense(1, 1, 1);
    p.c.offset = SIZE_MAX;
    assert_false(kiln_indices_fit(&recipe, &p));
    p = dense(1, 1, 1);
    recipe.reach[2] = UINT32_MAX;
    assert_false(kiln_indices_fit(&recipe, &p));
}

/* ---- Stages ---- */

enum { BOTH, ONLY_A, ONLY_B, SUM, NUM_STAGES };

/* A and B into regions of their own, at once or one by one; then parts of K, of which there are
 * none when k is 0. */
static const struct kiln_stage stages[NUM_STAGES] = {
    [BOTH] = { .entry = "both", .work_dim = 3,
        .dim = { KILN_DIM_K, KILN_DIM_ONE, KILN_DIM_K }, .tile = { 4, 7, 1 }, .local = { 1, 1, 1 },
        .prepares = KILN_PREPARED_BOTH },
    [ONLY_A] = { .entry = "a", .work_dim = 2, .dim = { KILN_DIM_K, KILN_DIM_M }, .tile = { 4, 8 },
        .local = { 2, 3 }, .prepares = KILN_PREPARED_A },
    [ONLY_B] = { .entry = "b", .work_dim = 1, .dim = { KILN_DIM_N }, .tile = { 16 },
        .local = { 5 }, .prepares = KILN_PREPARED_B },
    [SUM] = { .entry = "sum", .work_dim = 3, .dim = { KILN_DIM_N, KILN_DIM_M, KILN_DIM_K },
        .tile = { 16, 8, 10 }, .local = { 4, 2, 1 } },
};

static const struct kiln_region regions[] = {
    { .dim = { KILN_DIM_M, KILN_DIM_K }, .round = { 8, 4 }, .element_bytes = 4,
        .holds = KILN_PREPARED_A },
    { .dim = { KILN_DIM_ONE, KILN_DIM_ONE }, .round = { 1, 1 }, .element_bytes = 1 },
    { .dim = { KILN_DIM_K, KILN_DIM_N }, .round = { 1, 16 }, .element_bytes = 12,
        .holds = KILN_PREPARED_B },
};

static struct kiln_recipe packing(void)
{
    return (struct kiln_recipe){
        .name = "packing",
        .precision = KILN_ID_SINGLE,
        .index_bits = 64,
        .tile = { 8, 16, 4 },
        .reach = { 8, 16, 10 },
        .num_stages = NUM_STAGES,
        .stages = stages,
        .num_regions = 3,
        .regions = regions,
    };
}

static const struct kiln_places at_start;

static void grids_cover_the_extents(void **state)
{
    const struct kiln_recipe recipe = packing();
    const struct kiln_product p = dense(17, 32, 21);
    struct kiln_plan plan;
    (void) state;
    assert_true(kiln_plan_make(&recipe, &p, &at_start, 1, &plan));
    static const size_t groups[NUM_STAGES][3] = { { 6, 7, 21 }, { 6, 3, 0 }, { 2, 0, 0 },
        { 2, 3, 3 } };
    assert_ptr_equal(plan.recipe, &recipe);
    for (unsigned i = 0; i < NUM_STAGES; i++) {
        assert_false(kiln_stage_is_empty(&plan, i));
        for (unsigned d = 0; d < stages[i].work_dim; d++) {
            assert_int_equal(plan.groups[i][d], groups[i][d]);
            assert_int_equal(plan.global[i][d], groups[i][d] * stages[i].local[d]);
        }
    }
}

/* As many work-groups for each compute unit, whatever the shape. */
static void units_have_groups(void **state)
{
    static const struct kiln_stage stage = { .entry = "mul",
        .work_dim = 2,
        .dim = { KILN_DIM_UNITS, KILN_DIM_M },
        .tile = { 3, 8 },
        .local = { 2, 1 } };
    static const struct {
        uint32_t units;
        size_t groups;
    } rows[] = { { 0, 3 }, { 1, 3 }, { 4, 12 }, { UINT32_MAX, 3 * (size_t) UINT32_MAX } };
    const struct kiln_recipe recipe = { .name = "units", .num_stages = 1, .stages = &stage };
    const struct kiln_product p = dense(17, 32, 21);
    struct kiln_plan plan;
    (void) state;
    struct kiln_stage many = stage;
    const struct kiln_recipe too_many = { .name = "too many", .num_stages = 1, .stages = &many };
    many.tile[0] = UINT32_MAX;
    many.local[0] = UINT16_MAX;
    assert_false(kiln_plan_make(&too_many, &p, &at_start, UINT32_MAX, &plan));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] - (sizeof(size_t) < 8); i++) {
        assert_true(kiln_plan_make(&recipe, &p, &at_start, rows[i].units, &plan));
        assert_int_equal(plan.groups[0][0], rows[i].groups);
        assert_int_equal(plan.global[0][0], 2 * rows[i].groups);
        assert_int_equal(plan.groups[0][1], 3);
    }
}

/* Regions may have a part for each compute unit. */
static void units_have_parts_of_regions(void **state)
{
    static const struct kiln_stage stage = { .entry = "mul",
        .work_dim = 1,
        .dim = { KILN_DIM_UNITS },
        .tile = { 1 },
        .local = { 1 } };
    static const struct kiln_region region = { .dim = { KILN_DIM_UNITS, KILN_DIM_ONE },
        .round = { 1, 100 },
        .element_bytes = 4 };
    const struct kiln_recipe recipe = { .name = "units",
        .index_bits = 64,
        .num_stages = 1,
        .stages = &stage,
        .num_regions = 1,
        .regions = &region };
    const struct kiln_product p = dense(17, 32, 21);
    struct kiln_plan plan;
    (void) state;
    assert_true(kiln_plan_make(&recipe, &p, &at_start, 132, &plan));
    assert_int_equal(plan.workspace_bytes, 132 * 100 * 4);
    assert_true(kiln_plan_make(&recipe, &p, &at_start, 0, &plan));
    assert_int_equal(plan.workspace_bytes, 100 * 4);
}

/* K is shared where tiles are fewer than work-groups that are to be there, and is deep enough. */
static void parts_of_k_fill_the_device(void **state)
{
    static const struct {
        size_t m, n, k;
        uint32_t unit_parts, units, parts;
    } rows[] = {
        { 32, 64, 1600, 0, 4, 1 },
        { 32, 64, 1600, 1, 4, 4 },
        { 32, 64, 1600, 2, 4, 8 },
        { 32, 65, 1600, 2, 4, 4 },  /* two tiles */
        { 32, 129, 1600, 2, 4, 2 }, /* three: 2 are whole parts of 8 work-groups */
        { 32, 321, 1600, 2, 4, 1 }, /* six */
        { 32, 64, 369, 3, 4, 6 },   /* 24 steps of 16, 4 a part */
        { 32, 64, 368, 3, 4, 1 },
        { 32, 64, 0, 2, 4, 1 },
        { 0, 64, 1600, 2, 4, 1 },
        { 32, 64, 1600, 2, 0, 2 },
        { 32, 64, 16 * 4 * 5000, 65535, UINT32_MAX, 4096 },
        { SIZE_MAX, SIZE_MAX, SIZE_MAX, 65535, UINT32_MAX, 1 },
    };
    (void) state;
    struct kiln_recipe recipe = { .tile = { 32, 64, 16 } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct kiln_product p = dense(rows[i].m, rows[i].n, rows[i].k);
        recipe.unit_parts = (uint16_t) rows[i].unit_parts;
        if (kiln_num_parts(&recipe, &p, rows[i].units) != rows[i].parts)
            fail_msg("row %zu: %u parts", i, kiln_num_parts(&recipe, &p, rows[i].units));
    }
}

/* Each part has work-groups and a region of its own; where there is one, what adds up is left out,
 * and there is no region. */
static void parts_of_k_have_groups_and_regions(void **state)
{
    static const struct kiln_stage both[] = {
        { .entry = "mul",
                .work_dim = 2,
                .dim = { KILN_DIM_M, KILN_DIM_PARTS },
                .tile = { 32, 1 },
                .local = { 8, 1 } },
        { .entry = "add",
                .work_dim = 1,
                .dim = { KILN_DIM_M },
                .tile = { 8 },
                .local = { 8 },
                .role = KILN_ROLE_ADD },
    };
    static const struct kiln_region region = { .dim = { KILN_DIM_M, KILN_DIM_N },
        .round = { 32, 1 },
        .element_bytes = 4,
        .each_part = 1 };
    const struct kiln_recipe recipe = { .name = "parts",
        .index_bits = 32,
        .tile = { 32, 64, 16 },
        .reach = { 32, 64, 16 },
        .unit_parts = 1,
        .num_stages = 2,
        .stages = both,
        .num_regions = 1,
        .regions = &region };
    const struct kiln_product p = dense(17, 60, 1000);
    struct kiln_plan plan;
    (void) state;
    assert_true(kiln_plan_make(&recipe, &p, &at_start, 3, &plan));
    assert_int_equal(plan.parts, 3);
    assert_int_equal(plan.groups[0][0], 1);
    assert_int_equal(plan.groups[0][1], 3);
    assert_int_equal(plan.groups[1][0], 3);
    assert_false(kiln_stage_is_empty(&plan, 1));
    assert_int_equal(plan.workspace_bytes, 3 * 32 * 60 * 4);
    assert_true(kiln_plan_make(&recipe, &p, &at_start, 1, &plan));
    assert_int_equal(plan.parts, 1);
    assert_int_equal(plan.groups[0][1], 1);
    assert_true(kiln_stage_is_empty(&plan, 1));
    assert_int_equal(plan.workspace_bytes, 0);
}

static void whole_turns_are_not_shared(void **state)
{
    static const struct {
        unsigned shares;
        uint64_t tiles, whole;
        uint32_t units;
    } rows[] = {
        { 1, 0, 0, 4 },
        { 1, 5, 0, 4 },
        { 1, 6, 6, 4 },
        { 1, 7, 7, 4 },
        { 1, 8, 8, 4 },
        { 1, 9, 8, 4 },
        { 1, 13, 8, 4 },
        { 1, 14, 14, 4 },
        { 0, 9, 9, 4 },
        { 1, 1, 1, 0 },
        { 1, 2, 2, 0 },
    };
    struct kiln_recipe recipe = { .unit_turns = 2 };
    (void) state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        recipe.shares = (uint8_t) rows[i].shares;
        assert_int_equal(kiln_whole_tiles(&recipe, rows[i].tiles, rows[i].units), rows[i].whole);
    }
    recipe.unit_turns = recipe.shares = 0;
    assert_int_equal(kiln_whole_tiles(&recipe, 7, 4), 7);
}

/* As many as have an element of the triangle, counted one by one. */
static void stored_tiles_have_an_element_of_the_triangle(void **state)
{
    static const int triangles[] = { 1, -1, 2, -2 };
    static const uint32_t sizes[] = { 1, 3, 8, 16, 40 };
    (void) state;
    for (unsigned i = 0; i < 4 * 5 * 5 * 30; i++) {
        const int triangle = triangles[i % 4], pair = abs(triangle);
        const struct kiln_recipe recipe = { .tile = { sizes[i / 4 % 5], sizes[i / 20 % 5], 1 } };
        const size_t m = 1 + i / 100 * 3, n = m * (size_t) pair;
        struct kiln_product product = dense(m, n, 1);
        uint64_t stored = 0;
        for (size_t row = 0; row < m; row += recipe.tile[0])
            for (size_t col = 0; col < n; col += recipe.tile[1]) {
                const size_t last_row = row + recipe.tile[0] - 1, last = m - 1;
                const size_t end = col + recipe.tile[1] < n ? col + recipe.tile[1] : n;
                stored += triangle > 0 ? col / (size_t) pair <= (last_row < last ? last_row : last)
                                       : (end - 1) / (size_t) pair >= row;
            }
        product.triangle = triangle;
        assert_int_equal(kiln_stored_tiles(&recipe, &product), stored);
        product.triangle = KILN_TRIANGLE_NONE;
        assert_int_equal(kiln_stored_tiles(&recipe, &product),
                kiln_ceil_div(m, recipe.tile[0]) * kiln_ceil_div(n, recipe.tile[1]));
    }
}

static void without_k_the_last_stage_alone_runs(void **state)
{
    const struct kiln_recipe recipe = packing();
    const struct kiln_product p = dense(17, 32, 0);
    struct kiln_plan plan;
    (void) state;
    assert_true(kiln_plan_make(&recipe, &p, &at_start, 1, &plan));
    assert_true(kiln_stage_is_empty(&plan, BOTH));
    assert_int_equal(plan.groups[BOTH][1], 7); /* along ONE, whatever the shape */
    assert_true(kiln_stage_is_empty(&plan, ONLY_A));
    assert_false(kiln_stage_is_empty(&plan, ONLY_B)); /* its grid does not depend on k */
    assert_false(kiln_stage_is_empty(&plan, SUM));
    assert_int_equal(plan.groups[SUM][2], 1);
}

static void grids_that_overflow_are_none(void **state)
{
    const struct kiln_recipe recipe = one_stage();
    struct kiln_product p = dense(1, 1, 1);
    struct kiln_plan plan;
    (void) state;
    p.n = SIZE_MAX; /* a quarter as many work-items */
    assert_true(kiln_plan_make(&recipe, &p, &at_start, 1, &plan));
    assert_int_equal(plan.groups[0][0], SIZE_MAX / 16 + 1);
    struct kiln_stage wide = multiply;
    struct kiln_recipe wider = recipe;
    wide.local[0] = 16;
    wider.stages = &wide;
    assert_false(kiln_plan_make(&wider, &p, &at_start, 1, &plan));
}

/* The rows: which operands packs stand for, and which stages a call enqueues. */
static void packs_take_the_place_of_stages(void **state)
{
    static const struct {
        unsigned packed;
        bool at_once, needed[NUM_STAGES];
    } rows[] = {
        { KILN_PREPARED_NONE, true, { true, false, false, true } },
        { KILN_PREPARED_A, true, { false, false, true, true } },
        { KILN_PREPARED_B, true, { false, true, false, true } },
        { KILN_PREPARED_BOTH, true, { false, false, false, true } },
        { KILN_PREPARED_NONE, false, { false, true, true, true } },
        { KILN_PREPARED_A, false, { false, false, true, true } },
        { KILN_PREPARED_B, false, { false, true, false, true } },
        { KILN_PREPARED_BOTH, false, { false, false, false, true } },
    };
    (void) state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct kiln_recipe recipe = packing();
        const unsigned first = rows[i].at_once ? BOTH : ONLY_A;
        recipe.stages += first;
        recipe.num_stages = (uint8_t) (NUM_STAGES - first);
        for (unsigned s = first; s < NUM_STAGES; s++)
            assert_true(
                    kiln_stage_is_needed(&recipe, s - first, rows[i].packed) == rows[i].needed[s]);
    }
}

/* ---- Regions and packs ---- */

static void regions_lie_one_after_another(void **state)
{
    const struct kiln_recipe recipe = packing();
    const struct kiln_product p = dense(17, 33, 21);
    const struct kiln_places places = { .workspace_offset = 512 };
    struct kiln_plan plan;
    (void) state;
    /* A: 24 x 24 floats, from 512 to 2816; a byte; B: 21 x 48 of 12 bytes, at a multiple of 768. */
    assert_true(kiln_plan_make(&recipe, &p, &places, 1, &plan));
    assert_int_equal(plan.region_start[0], 512 / 4);
    assert_int_equal(plan.region_start[1], 2816);
    assert_int_equal(plan.region_start[2], 3072 / 12);
    assert_int_equal(plan.packed_start[KILN_PREPARED_A], 512 / 4);
    assert_int_equal(plan.packed_start[KILN_PREPARED_B], 3072 / 12);
    assert_int_equal(plan.workspace_bytes, 3072 + 21 * 48 * 12 - 512);
    assert_int_equal(plan.pixels, 0);
}

/* What prepares an operand may write more than the operand, as the exponents of its rows, and does
 * so where K is 0. */
static void room_beside_an_operand_is_there_without_k(void **state)
{
    struct kiln_recipe recipe = packing();
    struct kiln_region both[3];
    const struct kiln_product p = dense(17, 33, 0);
    struct kiln_plan plan;
    (void) state;
    memcpy(both, regions, sizeof both);
    recipe.regions = both;
    for (unsigned i = 0; i < 3; i++) {
        if (both[i].holds == KILN_PREPARED_A) {
            both[i].dim[0] = KILN_DIM_K;
            both[i].dim[1] = KILN_DIM_M;
            both[i].round[0] = both[i].round[1] = 1;
            both[i].more = 5;
        }
    }
    assert_true(kiln_plan_make(&recipe, &p, &at_start, 1, &plan));
    assert_true(plan.workspace_bytes >= 5 * 17 * sizeof(float));
}

static void packed_operands_need_no_workspace(void **state)
{
    const struct kiln_recipe recipe = packing();
    const struct kiln_product p = dense(17, 33, 21);
    const struct kiln_places places = { .packed = KILN_PREPARED_BOTH,
        .packed_offset = { [KILN_PREPARED_A] = 256, [KILN_PREPARED_B] = 256 } };
    struct kiln_pack_layout layout;
    struct kiln_plan plan;
    (void) state;
    assert_true(kiln_plan_make(&recipe, &p, &places, 1, &plan));
    assert_int_equal(plan.workspace_bytes, 1);
    assert_int_equal(plan.packed_start[KILN_PREPARED_A], 256 / 4);
    assert_int_equal(plan.packed_start[KILN_PREPARED_B], 768 / 12);
    for (unsigned operand = KILN_PREPARED_A; operand <= KILN_PREPARED_B; operand++) {
        assert_true(kiln_pack_layout(&recipe, &p, operand, 256, &layout));
        assert_false(layout.is_plain);
        assert_int_equal(layout.start, plan.packed_start[operand]);
        assert_int_equal(layout.slack, operand == KILN_PREPARED_A ? 0 : 768 - 256);
    }
    assert_int_equal(layout.end, 768 + 21 * 48 * 12);
}

static void plain_packs_suit_the_guard(void **state)
{
    struct kiln_recipe recipe = one_stage();
    const struct kiln_product p = dense(17, 33, 21);
    struct kiln_pack_layout layout;
    (void) state;
    recipe.guard.a = 8;
    assert_true(kiln_pack_layout(&recipe, &p, KILN_PREPARED_A, 0, &layout));
    assert_true(layout.is_plain);
    assert_int_equal(layout.ld, 24);
    assert_int_equal(layout.end, 17 * 24 * 4);
    assert_true(kiln_pack_layout(&recipe, &p, KILN_PREPARED_B, 256, &layout));
    assert_int_equal(layout.ld, 33);
    assert_int_equal(layout.start, 64);
    assert_int_equal(layout.end, 256 + 21 * 33 * 4);
    struct kiln_product large = p;
    large.a.rows = SIZE_MAX / 24 + 1;
    assert_false(kiln_pack_layout(&recipe, &large, KILN_PREPARED_A, 0, &layout));
    assert_false(kiln_pack_layout(&recipe, &p, KILN_PREPARED_A, SIZE_MAX - 255, &layout));
}

/* Kernels choose by alignment how they load, and with that in which order they add up. */
static void plain_packs_are_aligned_as_the_operand_is(void **state)
{
    static const struct {
        size_t columns, ld, offset, expected;
    } rows[] = {
        { 21, 21, 0, 21 },
        { 21, 32, 0, 32 },
        { 21, 32, 81, 21 },
        { 21, 32, 6, 22 },
        { 21, 28, 0, 28 },
        { 24, 24, 0, 24 },
        { 24, 25, 0, 25 },
        { 24, 40, 48, 24 },
        { 48, 64, 0, 48 },
        { 48, 48, 8, 56 },
        { 48, 48, 1, 49 },
        { 1, 1, 7, 1 },
        { 1, 3, 0, 3 },
        { 1, 64, 0, 16 },
        { 1, 2, 0, 2 },
    };
    const struct kiln_recipe recipe = one_stage();
    struct kiln_pack_layout layout;
    (void) state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct kiln_product p = dense(17, 33, rows[i].columns);
        p.a.ld = rows[i].ld;
        p.a.offset = rows[i].offset;
        assert_true(kiln_pack_layout(&recipe, &p, KILN_PREPARED_A, 0, &layout));
        assert_int_equal(layout.ld, rows[i].expected);
        assert_int_equal(layout.end, 17 * 4 * rows[i].expected);
    }
}

static void regions_that_overflow_have_no_plan(void **state)
{
    struct kiln_region region = { .dim = { KILN_DIM_M, KILN_DIM_K },
        .round = { 1, 1 },
        .element_bytes = 8 };
    struct kiln_recipe recipe = one_stage();
    struct kiln_product p = dense(1, 1, 1);
    struct kiln_places places = { .workspace_offset = 0 };
    struct kiln_plan plan;
    const size_t half = (size_t) 1 << (sizeof(size_t) * 4); /* its square is one too many */
    (void) state;
    recipe.num_regions = 1;
    recipe.regions = &region;
    p.m = p.k = half;
    assert_false(kiln_plan_make(&recipe, &p, &places, 1, &plan)); /* elements */
    p.m = half - 1;
    assert_false(kiln_plan_make(&recipe, &p, &places, 1, &plan)); /* bytes */
    region.element_bytes = 1;
    assert_true(kiln_plan_make(&recipe, &p, &places, 1, &plan));
    assert_int_equal(plan.workspace_bytes, (half - 1) * half);
    places.workspace_offset = half;
    assert_false(kiln_plan_make(&recipe, &p, &places, 1, &plan)); /* with the offset */
    p.m = SIZE_MAX;
    p.k = 1;
    region.round[0] = 2;
    assert_false(kiln_plan_make(&recipe, &p, &at_start, 1, &plan)); /* rounded up */
}

/* Beside the rounded extent, which they are no part of. */
static void regions_may_have_more_rows(void **state)
{
    struct kiln_region region = { .dim = { KILN_DIM_K, KILN_DIM_M },
        .round = { 8, 4 },
        .more = 3,
        .element_bytes = 4 };
    struct kiln_recipe recipe = one_stage();
    struct kiln_product p = dense(10, 1, 9);
    struct kiln_plan plan;
    (void) state;
    recipe.num_regions = 1;
    recipe.regions = &region;
    assert_true(kiln_plan_make(&recipe, &p, &at_start, 1, &plan));
    assert_int_equal(plan.workspace_bytes, (16 + 3) * 12 * 4);
    region.round[0] = 1;
    p.k = SIZE_MAX - 2;
    assert_false(kiln_plan_make(&recipe, &p, &at_start, 1, &plan));
}

static void images_begin_with_the_buffer(void **state)
{
    const struct kiln_region region = { .dim = { KILN_DIM_K, KILN_DIM_ONE },
        .round = { 1, 1 },
        .element_bytes = 16 };
    struct kiln_stage reads = multiply;
    struct kiln_recipe recipe = one_stage();
    const struct kiln_places places = { .workspace_offset = 256 };
    struct kiln_product p = dense(3, 3, 5);
    struct kiln_plan plan;
    (void) state;
    assert_false(kiln_recipe_reads_image(&recipe));
    reads.args[0] = KILN_ARG_WORKSPACE_IMAGE;
    recipe.stages = &reads;
    recipe.num_regions = 1;
    recipe.regions = &region;
    assert_true(kiln_recipe_reads_image(&recipe));
    assert_true(kiln_plan_make(&recipe, &p, &places, 1, &plan));
    assert_int_equal(plan.pixels, 16 + 5);
    p = dense(3, 3, 0);
    assert_true(kiln_plan_make(&recipe, &p, &at_start, 1, &plan));
    assert_int_equal(plan.workspace_bytes, KILN_PIXEL_BYTES);
    assert_int_equal(plan.pixels, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_products_have_no_gaps),
        cmocka_unit_test(ends_count_offset_gaps_and_batch),
        cmocka_unit_test(guards_look_at_each_extent),
        cmocka_unit_test(guards_look_at_each_matrix),
        cmocka_unit_test(recipes_take_their_own_problem),
        cmocka_unit_test(only_open_recipes_take_all),
        cmocka_unit_test(indices_fit_up_to_the_last),
        cmocka_unit_test(transposed_matrices_have_other_rows),
        cmocka_unit_test(indices_of_regions_count),
        cmocka_unit_test(what_overflows_does_not_fit),
        cmocka_unit_test(grids_cover_the_extents),
        cmocka_unit_test(units_have_groups),
        cmocka_unit_test(units_have_parts_of_regions),
        cmocka_unit_test(parts_of_k_fill_the_device),
        cmocka_unit_test(parts_of_k_have_groups_and_regions),
        cmocka_unit_test(whole_turns_are_not_shared),
        cmocka_unit_test(without_k_the_last_stage_alone_runs),
        cmocka_unit_test(grids_that_overflow_are_none),
        cmocka_unit_test(packs_take_the_place_of_stages),
        cmocka_unit_test(regions_lie_one_after_another),
        cmocka_unit_test(room_beside_an_operand_is_there_without_k),
        cmocka_unit_test(packed_operands_need_no_workspace),
        cmocka_unit_test(stored_tiles_have_an_element_of_the_triangle),
        cmocka_unit_test(plain_packs_suit_the_guard),
        cmocka_unit_test(plain_packs_are_aligned_as_the_operand_is),
        cmocka_unit_test(regions_that_overflow_have_no_plan),
        cmocka_unit_test(regions_may_have_more_rows),
        cmocka_unit_test(images_begin_with_the_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
