/* test_dispatch.c: which recipe serves which call, and what exactly its launches are. */
#include "fixture.h"

#include "internal.h"

#include <stdio.h>
#include <string.h>

/* By test_bundle.c's times; the work-groups are too few for those that count them to differ. */
static void the_least_time_serves(void **state)
{
    struct fixture *f = *state;
    static const struct {
        size_t m, n, k;
        const char *recipe;
    } cases[] = {
        { 64, 64, 64, "tuned_small" },
        { 1, 1, 1, "tuned_small" },
        { 240, 240, 240, "tuned_small" },   /* 9.16 us against 10.06 */
        { 272, 272, 272, "tuned_aligned" }, /* 11.12 us against 10.28 */
        { 271, 272, 272, "tuned_small" },   /* not for tuned_aligned */
        { 1024, 1024, 1024, "tuned_aligned" },
        { 8192, 8192, 8192, "tuned_aligned" },
        { 16, 16, 4096, "tuned_packed" },
        { 8, 32, 2000, "tuned_packed" },
        { 8, 32, 200, "tuned_small" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kiln_gemm gemm = fixture_gemm(f, cases[i].m, cases[i].n, cases[i].k);
        fixture_expect_recipe(f, &gemm, "tuned", cases[i].recipe);
    }
    assert_int_equal(stub_num_records(), 0);
}

static void transposes_and_precisions_choose(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
    gemm.transa = KILN_TRANS;
    fixture_expect_recipe(f, &gemm, "tuned", "tuned_tn");
    gemm.transb = KILN_TRANS;
    fixture_expect_recipe(f, &gemm, "generic", "generic_s_tt");
    gemm.transa = KILN_NO_TRANS;
    fixture_expect_recipe(f, &gemm, "generic", "generic_s_nt");
    gemm.precision = KILN_DOUBLE;
    fixture_expect_recipe(f, &gemm, "generic", "generic_d_nt");
    gemm.transb = KILN_NO_TRANS;
    fixture_expect_recipe(f, &gemm, "tuned", "tuned_double");
    gemm.precision = KILN_HALF;
    fixture_expect_recipe(f, &gemm, "generic", "generic_h_nn");
}

/* What a recipe does not take goes to that with the next time. */
static void each_guard_refuses(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm good = fixture_gemm(f, 1024, 1024, 1024);
    good.a_offset = good.b_offset = good.c_offset = 8;
    good.lda = good.ldb = good.ldc = 1028;
    fixture_expect_recipe(f, &good, "tuned", "tuned_aligned");
    for (int i = 0; i < 9; i++) {
        struct kiln_gemm gemm = good;
        size_t *const fields[] = { &gemm.m, &gemm.n, &gemm.k, &gemm.a_offset, &gemm.b_offset,
            &gemm.c_offset, &gemm.lda, &gemm.ldb, &gemm.ldc };
        *fields[i] += 2;
        fixture_expect_recipe(f, &gemm, "tuned", "tuned_packed");
    }
}

/* A copy of the tuned bundle of which one recipe and its stage may be changed. */
struct variant {
    struct kiln_recipe recipes[NUM_TUNED];
    struct kiln_stage stage;
    struct kiln_bundle bundle;
    struct kiln_context_params params;
};

static void make_variant(struct variant *v, unsigned recipe)
{
    memcpy(v->recipes, tuned_recipes, sizeof v->recipes);
    v->stage = tuned_recipes[recipe].stages[0];
    v->recipes[recipe].stages = &v->stage;
    v->bundle = tuned_bundle;
    v->bundle.recipes = v->recipes;
    v->params = (struct kiln_context_params){ .bundle = &v->bundle };
}

static void equal_times_serve_in_the_order_of_the_bundle(void **state)
{
    static const struct kiln_time same = { { [KILN_TERM_CALL] = 7 } };
    struct fixture *f = *state;
    struct variant v;
    make_variant(&v, TUNED_SMALL);
    for (unsigned i = 0; i < NUM_TUNED; i++) {
        v.recipes[i].time = &same;
    }
    fixture_new_context(f, &v.params);
    struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
    fixture_expect_recipe(f, &gemm, "tuned", "tuned_aligned");
    gemm = fixture_gemm(f, 63, 64, 64);
    fixture_expect_recipe(f, &gemm, "tuned", "tuned_packed");
    kiln_context_destroy(&f->kiln);
}

static void what_has_no_time_serves_at_last(void **state)
{
    static const struct kiln_time longest = { { [KILN_TERM_A] = 0x1p61f } };
    struct fixture *f = *state;
    struct variant v;
    make_variant(&v, TUNED_SMALL);
    for (unsigned i = 0; i < NUM_TUNED; i++) {
        v.recipes[i].time = NULL;
    }
    fixture_new_context(f, &v.params);
    struct kiln_gemm gemm = fixture_gemm(f, 63, 64, 64);
    fixture_expect_recipe(f, &gemm, "tuned", "tuned_packed");
    v.recipes[TUNED_SMALL].time = &longest;
    fixture_new_context(f, &v.params);
    fixture_expect_recipe(f, &gemm, "tuned", "tuned_small");
    kiln_context_destroy(&f->kiln);
}

/* It counts for its shape alone, with whatever leading dimensions. */
static void a_pin_comes_before_every_time(void **state)
{
    enum { NONE = KILN_NO_RECIPE };
    static const struct kiln_pin pins[] = {
        { KILN_SINGLE, 1024, 1024, 1024, 1, { TUNED_SMALL, NONE, NONE, NONE } },
        { KILN_DOUBLE, 64, 64, 64, 1, { TUNED_DOUBLE, NONE, NONE, NONE } },
        { KILN_SINGLE, 63, 64, 64, 1, { TUNED_ALIGNED, NONE, TUNED_TN, NONE } },
        { KILN_SINGLE, 64, 64, 64, 1, { TUNED_PACKED, NONE, NONE, NONE } },
    };
    static const struct {
        size_t m, n, k;
        const char *recipe;
    } cases[] = {
        { 1024, 1024, 1024, "tuned_small" }, { 1024, 1024, 1023, "tuned_packed" },
        { 1024, 1016, 1024, "tuned_aligned" }, { 1016, 1024, 1024, "tuned_aligned" },
        { 64, 64, 64, "tuned_packed" }, { 64, 64, 60, "tuned_small" },
        { 63, 64, 64, "tuned_small" }, /* its pin does not take it */
    };
    struct fixture *f = *state;
    struct variant v;
    make_variant(&v, TUNED_SMALL);
    v.bundle.pins = pins;
    v.bundle.num_pins = sizeof pins / sizeof *pins;
    fixture_new_context(f, &v.params);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kiln_gemm gemm = fixture_gemm(f, cases[i].m, cases[i].n, cases[i].k);
        fixture_expect_recipe(f, &gemm, "tuned", cases[i].recipe);
        gemm.ldc = 1028;
        fixture_expect_recipe(f, &gemm, "tuned", cases[i].recipe);
    }
    kiln_context_destroy(&f->kiln);
}

/* A leading dimension, an offset and a stride of C each decide whether its rows are whole. */
static void ragged_rows_of_c_count(void **state)
{
    static const struct kiln_time time = { { [KILN_TERM_RAGGED_C] = 9e6f / (64 * 64) * 4 / 256 } };
    struct fixture *f = *state;
    struct variant v;
    make_variant(&v, TUNED_SMALL);
    v.recipes[TUNED_PACKED].time = &time;
    v.recipes[TUNED_ALIGNED].guard.most[0] = 1;
    fixture_new_context(f, &v.params);
    struct kiln_gemm whole = fixture_gemm(f, 64, 64, 64);
    whole.batch_count = 2;
    whole.a_stride = whole.b_stride = whole.c_stride = 8192;
    for (int i = 0; i < 9; i++) {
        struct kiln_gemm gemm = whole;
        size_t *const fields[] = { &gemm.ldc, &gemm.c_offset, &gemm.c_stride, &gemm.lda, &gemm.ldb,
            &gemm.a_offset, &gemm.b_offset, &gemm.a_stride, &gemm.b_stride };
        *fields[i] += i == 0 || i == 3 || i == 4 ? 65 : 1; /* ld is 0 for dense */
        fixture_expect_recipe(f, &gemm, "tuned", i < 3 ? "tuned_small" : "tuned_packed");
        *fields[i] += 15; /* 64 bytes */
        fixture_expect_recipe(f, &gemm, "tuned", "tuned_packed");
    }
    kiln_context_destroy(&f->kiln);
}

/* Of twenty that are alike, each serves once those before it are not for the device. */
static void more_recipes_than_are_ranked_at_a_time(void **state)
{
    enum { NUM = 3 * KILN_RANKED + 2 };
    struct fixture *f = *state;
    struct kiln_recipe recipes[NUM];
    struct kiln_stage stages[NUM];
    struct kiln_time times[NUM];
    char names[NUM][16];
    struct kiln_bundle bundle = tuned_bundle;
    bundle.recipes = recipes;
    bundle.num_recipes = NUM;
    for (unsigned i = 0; i < NUM; i++) {
        stages[i] = tuned_recipes[TUNED_SMALL].stages[0];
        recipes[i] = tuned_recipes[TUNED_SMALL];
        recipes[i].stages = &stages[i];
        snprintf(names[i], sizeof names[i], "number %u", i * 7 % NUM);
        recipes[i].name = names[i];
        times[i] = (struct kiln_time){ { 1e7f * (float) (i * 7 % NUM / 2) } }; /* two are equal */
        recipes[i].time = i * 7 % NUM < NUM - 4 ? &times[i] : NULL;
    }
    const struct kiln_context_params params = { .bundle = &bundle };
    struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
    uint64_t served = 0;
    for (unsigned i = 0; i < NUM; i++) {
        char text[4096];
        unsigned at = 0;
        fixture_new_context(f, &params);
        assert_int_equal(kiln_gemm_explain(f->kiln, &gemm, text, sizeof text), KILN_SUCCESS);
        const char *name = strstr(text, "kernel: number ");
        assert_non_null(name);
        assert_int_equal(sscanf(name, "kernel: number %u", &at), 1);
        assert_true(at / 2 == i / 2 || (at >= NUM - 4 && i >= NUM - 4));
        assert_int_equal(served >> at & 1, 0);
        served |= (uint64_t) 1 << at;
        for (unsigned j = 0; j < NUM; j++) {
            stages[j].local_bytes = j * 7 % NUM == at ? UINT32_MAX : stages[j].local_bytes;
        }
    }
    fixture_new_context(f, &params);
    fixture_expect_recipe(f, &gemm, "generic", "generic_s_nn");
    kiln_context_destroy(&f->kiln);
}

/* Calls of many shapes, each in turn with others, get what each gets in a context of its own. */
static void a_shape_is_recalled_as_it_was_ranked(void **state)
{
    enum { NUM = 3 * KILN_NUM_RECENT };
    static char texts[NUM][4096];
    struct fixture *f = *state;
    for (int turn = 0; turn < 3; turn++) {
        for (unsigned i = 0; i < NUM; i++) {
            char text[4096];
            struct kiln_gemm gemm = fixture_gemm(f, 8 + i % 7 * 16, 8 + i % 11 * 8, 4 * (i % 5));
            gemm.k += 200 * (i / 2);
            gemm.transa = i % 4 == 3 ? KILN_TRANS : KILN_NO_TRANS;
            gemm.ldc = i % 3 == 0 ? 1001 : 0;
            gemm.precision = i % 13 == 12 ? KILN_DOUBLE : KILN_SINGLE;
            if (turn == 0) {
                fixture_new_context(f, NULL);
            }
            assert_int_equal(
                    kiln_gemm_explain(f->kiln, &gemm, turn == 0 ? texts[i] : text, sizeof text),
                    KILN_SUCCESS);
            if (turn > 0) {
                assert_string_equal(text, texts[i]);
            }
        }
    }
    kiln_context_destroy(&f->kiln);
}

static void an_extent_beyond_the_most_refuses(void **state)
{
    struct fixture *f = *state;
    struct variant v;
    make_variant(&v, TUNED_ALIGNED);
    for (int i = 0; i < 3; i++)
        v.recipes[TUNED_ALIGNED].guard.most[i] = 1024 + 64 * i;
    fixture_new_context(f, &v.params);
    for (int i = 0; i < 3; i++) {
        struct kiln_gemm gemm = fixture_gemm(f, 1024, 1024, 1024);
        size_t *const extents[] = { &gemm.m, &gemm.n, &gemm.k };
        *extents[i] = 1024 + 64 * i;
        fixture_expect_recipe(f, &gemm, "tuned", "tuned_aligned");
        *extents[i] += 8;
        fixture_expect_recipe(f, &gemm, "tuned", "tuned_packed");
    }
    kiln_context_destroy(&f->kiln);
}

static void an_extent_may_leave_a_rest(void **state)
{
    struct fixture *f = *state;
    struct variant v;
    make_variant(&v, TUNED_ALIGNED);
    for (int i = 0; i < 3; i++)
        v.recipes[TUNED_ALIGNED].guard.rest[i] = (uint32_t) i;
    fixture_new_context(f, &v.params);
    for (size_t i = 0; i < 3; i++) {
        struct kiln_gemm gemm = fixture_gemm(f, 1024, 1024, 1024);
        size_t *const extents[] = { &gemm.m, &gemm.n, &gemm.k };
        gemm.lda = gemm.ldb = gemm.ldc = 1028;
        *extents[i] = 1024 + i;
        fixture_expect_recipe(f, &gemm, "tuned", "tuned_aligned");
        *extents[i] += 1;
        fixture_expect_recipe(f, &gemm, "tuned", "tuned_packed");
    }
    kiln_context_destroy(&f->kiln);
}

/* An axis without an extent has as many work-groups as its tile says, whatever the shape; one of
 * compute units has as many for each of these. */
static void an_axis_without_extent_has_tile_work_groups(void **state)
{
    static const size_t shapes[][2] = { { 60, 1 }, { 60, 500 }, { 1, 60 } };
    struct fixture *f = *state;
    for (int of_units = 0; of_units < 2; of_units++) {
        struct variant v;
        make_variant(&v, TUNED_SMALL);
        v.stage.dim[0] = of_units ? KILN_DIM_UNITS : KILN_DIM_ONE;
        v.stage.tile[0] = 6;
        fixture_new_context(f, &v.params);
        const uint32_t times = of_units ? f->kiln->facts.compute_units : 1;
        assert_true(times > 1 || !of_units);
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            struct kiln_gemm gemm = fixture_gemm(f, shapes[i][0], shapes[i][1], 40);
            fixture_run(f, &gemm);
            const struct stub_record *r = fixture_only("small_mul");
            assert_int_equal(r->global[0], 6 * times * 16);
            assert_int_equal(r->global[1], (gemm.m + 15) / 16 * 16);
        }
        kiln_context_destroy(&f->kiln);
    }
}

/* A batch's stride is an offset as far as a guard is concerned. */
static void strides_count_as_offsets(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 1024, 1024, 1024);
    gemm.batch_count = 2;
    gemm.a_stride = 0;
    gemm.b_stride = 1024 * 1024;
    gemm.c_stride = 1024 * 1024;
    fixture_expect_recipe(f, &gemm, "tuned", "tuned_aligned");
    gemm.c_stride += 1;
    fixture_expect_recipe(f, &gemm, "tuned", "tuned_packed");
}

static void large_indices_need_64_bits(void **state)
{
    fixture_need_large_buffers();
    struct fixture *f = *state;
    const size_t beyond = (size_t) 1 << 31;
    struct kiln_gemm good = fixture_gemm(f, 1024, 1024, 1024);
    for (int i = 0; i < 6; i++) {
        struct kiln_gemm gemm = good;
        size_t *const fields[] = { &gemm.a_offset, &gemm.b_offset, &gemm.c_offset, &gemm.lda,
            &gemm.ldb, &gemm.ldc };
        *fields[i] = beyond;
        fixture_expect_recipe(f, &gemm, "tuned", "tuned_packed_64");
        *fields[i] = beyond >> 11; /* 2^20: 1023 such rows stay below 2^31 */
        fixture_expect_recipe(f, &gemm, "tuned", "tuned_aligned");
        gemm.lda = gemm.ldb = gemm.ldc = beyond >> 9;
        fixture_expect_recipe(f, &gemm, "tuned", "tuned_packed_64");
    }
}

/* One row long enough, one dense matrix large enough, and the last member of a batch. */
static void large_shapes_need_64_bits(void **state)
{
    fixture_need_large_buffers();
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 65536, 65536, 64);
    fixture_expect_recipe(f, &gemm, "tuned", "tuned_packed_64");
    gemm.precision = KILN_DOUBLE;
    fixture_expect_recipe(f, &gemm, "generic", "generic_d_nn_64");
    gemm = fixture_gemm(f, 64, 64, 64);
    gemm.batch_count = 3;
    gemm.c_stride = (size_t) 1 << 30;
    fixture_expect_recipe(f, &gemm, "tuned", "tuned_packed_64");
    gemm.batch_count = 2;
    fixture_expect_recipe(f, &gemm, "tuned", "tuned_small");
}

/* Leaves of the recipes for this problem one, and that with 64-bit indices. */
static void make_variant_alone(struct variant *v, unsigned recipe)
{
    make_variant(v, recipe);
    v->recipes[recipe].stages = tuned_recipes[recipe].stages;
    for (unsigned i = 0; i < NUM_TUNED; i++) {
        v->recipes[i].guard.most[0] = i == recipe || i == TUNED_PACKED_64 ? 0 : 1;
    }
}

/* The last index counts as if M, N and K were larger by twice the recipe's reach. */
static void indices_reach_beyond_the_extents(void **state)
{
    fixture_need_large_buffers();
    struct fixture *f = *state;
    struct variant v;
    make_variant_alone(&v, TUNED_SMALL);
    for (unsigned dim = 0; dim < 3; dim++) {
        for (unsigned reach = 16; reach <= 1024; reach *= 8) {
            struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
            size_t padded[] = { 64 + 32, 64 + 32, 64 + 2 };
            v.recipes[TUNED_SMALL].reach[dim] = reach;
            padded[dim] = 64 + 2 * reach;
            /* C begins where the last row, in the last column, has the largest index. */
            size_t *offset = dim == 2 ? &gemm.a_offset : &gemm.c_offset;
            *offset = INT32_MAX - (padded[0] - 1) * 64 - (padded[dim == 2 ? 2 : 1] - 1);
            fixture_new_context(f, &v.params);
            fixture_expect_recipe(f, &gemm, "tuned", "tuned_small");
            ++*offset;
            fixture_expect_recipe(f, &gemm, "tuned", "tuned_packed_64");
        }
        v.recipes[TUNED_SMALL].reach[dim] = tuned_recipes[TUNED_SMALL].reach[dim];
    }
    kiln_context_destroy(&f->kiln);
}

/* And so do those within the workspace. */
static void indices_reach_beyond_regions(void **state)
{
    fixture_need_large_buffers();
    struct fixture *f = *state;
    struct variant v;
    make_variant_alone(&v, TUNED_PACKED);
    struct kiln_region regions[2] = { tuned_recipes[TUNED_PACKED].regions[0],
        tuned_recipes[TUNED_PACKED].regions[1] };
    struct kiln_gemm gemm = fixture_gemm(f, 16, 16, 4096);
    regions[0].round[0] = 500000; /* rows of 4104 elements: 4096, and twice 4 */
    v.recipes[TUNED_PACKED].regions = regions;
    fixture_new_context(f, &v.params);
    fixture_expect_recipe(f, &gemm, "tuned", "tuned_packed");
    regions[0].round[0] = INT32_MAX / 4104 + 1;
    fixture_new_context(f, &v.params);
    fixture_expect_recipe(f, &gemm, "tuned", "tuned_packed_64");
    kiln_context_destroy(&f->kiln);
}

static void check_launch(const struct stub_record *r, unsigned work_dim, const size_t *global,
        const size_t *local)
{
    assert_int_equal(r->work_dim, work_dim);
    for (unsigned i = 0; i < work_dim; i++) {
        assert_int_equal(r->global[i], global[i]);
        assert_int_equal(r->local[i], local[i]);
    }
}

static void check_pack_a(const struct fixture *f, const struct stub_record *r)
{
    check_launch(r, 2, (size_t[]){ 1004, 24 }, (size_t[]){ 4, 8 }); /* k 1001 of 4, m 21 of 8 */
    assert_int_equal(stub_record_int(r, PACK_A_M), 21);
    assert_int_equal(stub_record_int(r, PACK_A_K), 1001);
    assert_ptr_equal(stub_record_mem(r, PACK_A_SOURCE), f->a);
    assert_int_equal(stub_record_int(r, PACK_A_OFFSET), 5);
    assert_int_equal(stub_record_int(r, PACK_A_LD), 1003);
    assert_int_equal(stub_record_int(r, PACK_A_REGION), 0);
}

static void check_pack_b(const struct fixture *f, const struct stub_record *r, size_t region)
{
    check_launch(r, 1, (size_t[]){ 32 }, (size_t[]){ 16 }); /* n 19 of 16 */
    assert_int_equal(stub_record_int(r, PACK_B_K), 1001);
    assert_int_equal(stub_record_int(r, PACK_B_N), 19);
    assert_ptr_equal(stub_record_mem(r, PACK_B_SOURCE), f->b);
    assert_int_equal(stub_record_int(r, PACK_B_OFFSET), 6);
    assert_int_equal(stub_record_int(r, PACK_B_LD), 20);
    assert_int_equal(stub_record_int(r, PACK_B_REGION), region);
}

static void check_packed_mul(const struct fixture *f, const struct stub_record *r, size_t region)
{
    check_launch(r, 3, (size_t[]){ 16, 8, 1 }, (size_t[]){ 16, 8, 1 });
    assert_int_equal(stub_record_int(r, MUL_REGION_A), 0);
    assert_int_equal(stub_record_int(r, MUL_REGION_B), region);
    assert_int_equal(stub_record_int(r, MUL_M), 21);
    assert_int_equal(stub_record_int(r, MUL_N), 19);
    assert_int_equal(stub_record_int(r, MUL_K), 1001);
    assert_true(stub_record_real(r, MUL_ALPHA) == 1.5);
    assert_true(stub_record_real(r, MUL_BETA) == -0.25);
    assert_ptr_equal(stub_record_mem(r, MUL_C), f->c);
    assert_int_equal(stub_record_int(r, MUL_C_OFFSET), 7);
    assert_int_equal(stub_record_int(r, MUL_LDC), 23);
}

static void three_stages_with_regions(void **state)
{
    struct fixture *f = *state;
    size_t region = 0;
    size_t bytes = test_bundle_packed_bytes(21, 19, 1001, &region);
    size_t asked = 0;
    struct kiln_gemm gemm = fixture_gemm(f, 21, 19, 1001);
    gemm.alpha = 1.5;
    gemm.beta = -0.25;
    gemm.a_offset = 5;
    gemm.b_offset = 6;
    gemm.c_offset = 7;
    gemm.lda = 1003;
    gemm.ldb = 20;
    gemm.ldc = 23;
    assert_int_equal(kiln_gemm_workspace_bytes(f->kiln, &gemm, &asked), KILN_SUCCESS);
    assert_int_equal(asked, bytes);
    fixture_run(f, &gemm);
    fixture_expect("pack_a", "pack_b", "packed_mul", NULL);
    check_pack_a(f, stub_record_at(0));
    check_pack_b(f, stub_record_at(1), region);
    check_packed_mul(f, stub_record_at(2), region);
    cl_mem work = stub_record_mem(stub_record_at(0), PACK_A_WORK);
    size_t size = 0;
    assert_int_equal(clGetMemObjectInfo(work, CL_MEM_SIZE, sizeof size, &size, NULL), CL_SUCCESS);
    assert_true(size >= bytes);
    assert_ptr_equal(stub_record_mem(stub_record_at(1), PACK_B_WORK), work);
    assert_ptr_equal(stub_record_mem(stub_record_at(2), MUL_WORK), work);
}

static void wide_indices_are_passed_whole(void **state)
{
    fixture_need_large_buffers();
    struct fixture *f = *state;
    const size_t far = ((size_t) 1 << 35) + 3;
    struct kiln_gemm gemm = fixture_gemm(f, 50, 60, 70);
    gemm.a_offset = far;
    gemm.ldc = far + 1;
    fixture_run(f, &gemm);
    fixture_expect("pack_b_64", "mul_64", NULL);
    const struct stub_record *r = stub_record_at(1);
    check_launch(r, 2, (size_t[]){ 16, 16 }, (size_t[]){ 16, 8 });
    assert_int_equal(r->args[MUL_64_M].size, sizeof(cl_long));
    assert_int_equal(stub_record_int(r, MUL_64_M), 50);
    assert_int_equal(stub_record_int(r, MUL_64_A_OFFSET), far);
    assert_int_equal(stub_record_int(r, MUL_64_LDA), 70);
    assert_int_equal(stub_record_int(r, MUL_64_LDC), far + 1);
}

/* By columns, C = A B is by rows C' = B' A': operands, extents and flags change places. */
static void columns_swap_the_operands(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 33, 47, 20);
    gemm.layout = KILN_COL_MAJOR;
    gemm.transb = KILN_TRANS;
    gemm.a_offset = 1;
    gemm.b_offset = 2;
    gemm.c_offset = 3;
    gemm.lda = 40;
    gemm.ldb = 50;
    gemm.ldc = 60;
    gemm.alpha = 2.0;
    gemm.beta = 3.0;
    fixture_run(f, &gemm);
    const struct stub_record *r = fixture_only("tn_mul");
    check_launch(r, 2, (size_t[]){ 48, 48 }, (size_t[]){ 16, 16 });
    assert_int_equal(stub_record_int(r, PLAIN_M), 47);
    assert_int_equal(stub_record_int(r, PLAIN_N), 33);
    assert_int_equal(stub_record_int(r, PLAIN_K), 20);
    assert_ptr_equal(stub_record_mem(r, PLAIN_A), f->b);
    assert_int_equal(stub_record_int(r, PLAIN_A_OFFSET), 2);
    assert_int_equal(stub_record_int(r, PLAIN_LDA), 50);
    assert_ptr_equal(stub_record_mem(r, PLAIN_B), f->a);
    assert_int_equal(stub_record_int(r, PLAIN_B_OFFSET), 1);
    assert_int_equal(stub_record_int(r, PLAIN_LDB), 40);
    assert_ptr_equal(stub_record_mem(r, PLAIN_C), f->c);
    assert_int_equal(stub_record_int(r, PLAIN_C_OFFSET), 3);
    assert_int_equal(stub_record_int(r, PLAIN_LDC), 60);
    assert_true(stub_record_real(r, PLAIN_ALPHA) == 2.0);
    assert_true(stub_record_real(r, PLAIN_BETA) == 3.0);
}

static void dense_leading_dimensions(void **state)
{
    struct fixture *f = *state;
    static const struct {
        enum kiln_layout layout;
        enum kiln_transpose transa, transb;
        long long lda, ldb, ldc; /* of the canonical form */
    } cases[] = {
        { KILN_ROW_MAJOR, KILN_NO_TRANS, KILN_NO_TRANS, 7, 6, 6 },
        { KILN_ROW_MAJOR, KILN_TRANS, KILN_TRANS, 5, 7, 6 },
        { KILN_COL_MAJOR, KILN_NO_TRANS, KILN_NO_TRANS, 7, 5, 5 },
        { KILN_COL_MAJOR, KILN_TRANS, KILN_TRANS, 6, 7, 5 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kiln_gemm gemm = fixture_gemm(f, 5, 6, 7);
        gemm.layout = cases[i].layout;
        gemm.transa = cases[i].transa;
        gemm.transb = cases[i].transb;
        fixture_run(f, &gemm);
        const struct stub_record *r = stub_record_at(0);
        assert_int_equal(stub_record_int(r, PLAIN_LDA), cases[i].lda);
        assert_int_equal(stub_record_int(r, PLAIN_LDB), cases[i].ldb);
        assert_int_equal(stub_record_int(r, PLAIN_LDC), cases[i].ldc);
    }
}

static void reals_follow_the_precision(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 9, 9, 9);
    gemm.alpha = 0.1;
    fixture_run(f, &gemm);
    assert_true(stub_record_real(stub_record_at(0), PLAIN_ALPHA) == (double) 0.1f);
    gemm.precision = KILN_HALF;
    fixture_run(f, &gemm);
    assert_int_equal(fixture_only("generic_h_nn")->args[PLAIN_BETA].size, sizeof(cl_float));
    assert_true(stub_record_real(stub_record_at(0), PLAIN_ALPHA) == (double) 0.1f);
    gemm.precision = KILN_DOUBLE;
    fixture_run(f, &gemm);
    assert_true(stub_record_real(fixture_only("double_mul"), PLAIN_ALPHA) == 0.1);
}

static void typed_calls_are_the_call(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(kiln_dgemm(f->kiln, KILN_ROW_MAJOR, KILN_NO_TRANS, KILN_NO_TRANS, 5, 6, 7, 0.1,
                             f->a, 1, 11, f->b, 2, 12, 0.2, f->c, 3, 13, f->queue, 0, NULL, NULL),
            KILN_SUCCESS);
    const struct stub_record *r = fixture_only("double_mul");
    static const unsigned ints[][2] = { { PLAIN_M, 5 }, { PLAIN_N, 6 }, { PLAIN_K, 7 },
        { PLAIN_A_OFFSET, 1 }, { PLAIN_LDA, 11 }, { PLAIN_B_OFFSET, 2 }, { PLAIN_LDB, 12 },
        { PLAIN_C_OFFSET, 3 }, { PLAIN_LDC, 13 } };
    for (size_t i = 0; i < sizeof ints / sizeof *ints; i++) {
        assert_int_equal(stub_record_int(r, ints[i][0]), ints[i][1]);
    }
    assert_true(stub_record_real(r, PLAIN_ALPHA) == 0.1);
    assert_true(stub_record_real(r, PLAIN_BETA) == 0.2);
    stub_clear_records();
    assert_int_equal(kiln_hgemm(f->kiln, KILN_ROW_MAJOR, KILN_TRANS, KILN_TRANS, 5, 6, 7, 1.0f,
                             f->a, 0, 5, f->b, 0, 7, 0.0f, f->c, 0, 6, f->queue, 0, NULL, NULL),
            KILN_SUCCESS);
    fixture_only("generic_h_tt");
}

static void a_small_work_group_limit_refuses(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 1024, 1024, 1024);
    stub_limit_kernel("aligned_mul", 64);
    stub_limit_kernel("packed_mul", 127);
    fixture_run(f, &gemm);
    fixture_expect("pack_b_64", "mul_64", NULL);
    fixture_expect_recipe(f, &gemm, "tuned", "tuned_packed_64");
}

/* NVIDIA's driver rounds the limit of a kernel down; that of the device counts there. */
static void on_nvidia_the_device_limits_work_groups(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 1024, 1024, 1024);
    struct stub_facts facts = fixture_nvidia_facts(8, 0);
    char text[1024];
    stub_limit_kernel("aligned_mul", 64);
    facts.max_work_group = 128;
    struct fixture_nvidia nvidia = fixture_nvidia_open(&facts, NULL);
    fixture_expect_recipe_on(nvidia.kiln, &gemm, "tuned", "tuned_aligned");
    fixture_nvidia_close(&nvidia);
    facts.max_work_group = 127;
    nvidia = fixture_nvidia_open(&facts, NULL);
    assert_int_equal(kiln_gemm_explain(nvidia.kiln, &gemm, text, sizeof text), KILN_NO_KERNEL);
    fixture_nvidia_close(&nvidia);
    facts.max_work_group = 128;
    facts.extensions = "";
    nvidia = fixture_nvidia_open(&facts, NULL);
    fixture_expect_recipe_on(nvidia.kiln, &gemm, "tuned", "tuned_packed");
    fixture_nvidia_close(&nvidia);
}

/* More than the driver tells of, which 9.0 has all the same. */
static void on_9_0_a_work_group_may_declare_more(void **state)
{
    static const struct {
        cl_uint major;
        uint32_t bytes;
        const char *recipe;
    } cases[] = { { 9, 227 * 1024, "tuned_aligned" }, { 9, 227 * 1024 + 1, "tuned_small" },
        { 8, 227 * 1024, "tuned_small" } };
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 1024, 1024, 1024);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct variant v;
        struct stub_facts facts = fixture_nvidia_facts(cases[i].major, 0);
        make_variant(&v, TUNED_ALIGNED);
        v.stage.local_bytes = cases[i].bytes;
        v.recipes[TUNED_PACKED].guard.m = v.recipes[TUNED_PACKED_64].guard.m = 7;
        struct fixture_nvidia nvidia = fixture_nvidia_open(&facts, &v.params);
        fixture_expect_recipe_on(nvidia.kiln, &gemm, "tuned", cases[i].recipe);
        fixture_nvidia_close(&nvidia);
    }
}

static void the_exact_work_group_limit_serves(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 1024, 1024, 1024);
    stub_limit_kernel("aligned_mul", 128);
    fixture_run(f, &gemm);
    fixture_only("aligned_mul");
}

/* Of those that the device can run, the one with the least time serves. */
static void local_memory_refuses(void **state)
{
    struct stub_facts facts = stub_default_facts();
    facts.local_bytes = 8191;
    cl_device_id device = stub_make_device(&facts);
    cl_context cl = stub_make_context(1, &device);
    struct kiln_context *kiln = NULL;
    struct kiln_gemm gemm = { .m = 1024, .n = 1024, .k = 1024, .alpha = 1.0 };
    char text[4096];
    (void) state;
    assert_int_equal(kiln_context_create(cl, device, NULL, &kiln), KILN_SUCCESS);
    assert_int_equal(kiln_gemm_explain(kiln, &gemm, text, sizeof text), KILN_SUCCESS);
    assert_non_null(strstr(text, "kernel: tuned_packed\n"));
    kiln_context_destroy(&kiln);
}

static void a_call_without_work_has_no_kernel(void **state)
{
    struct fixture *f = *state;
    char text[1024];
    struct kiln_gemm gemm = fixture_gemm(f, 0, 64, 64);
    assert_int_equal(kiln_gemm_explain(f->kiln, &gemm, text, sizeof text), KILN_SUCCESS);
    assert_non_null(strstr(text, "bundle: tuned\nkernel: none"));
}

/* Work-items are limited along each axis as well: 16 x 16 fit a group of 256, but not 8 high. */
static void each_axis_has_its_limit(void **state)
{
    struct stub_facts facts = stub_default_facts();
    facts.max_work_items[1] = 8;
    cl_device_id device = stub_make_device(&facts);
    cl_context cl = stub_make_context(1, &device);
    struct kiln_context *kiln = NULL;
    struct kiln_gemm gemm = { .m = 64, .n = 64, .k = 64, .alpha = 1.0 };
    char text[1024];
    (void) state;
    assert_int_equal(kiln_context_create(cl, device, NULL, &kiln), KILN_SUCCESS);
    assert_int_equal(kiln_gemm_explain(kiln, &gemm, text, sizeof text), KILN_SUCCESS);
    assert_non_null(strstr(text, "kernel: tuned_aligned\n"));
    gemm.transb = KILN_TRANS;
    assert_int_equal(kiln_gemm_explain(kiln, &gemm, text, sizeof text), KILN_NO_KERNEL);
    kiln_context_destroy(&kiln);
}

static void a_stranger_gets_the_generic_bundle(void **state)
{
    struct stub_facts facts = stub_default_facts();
    facts.platform_name = "Another Platform";
    cl_device_id device = stub_make_device(&facts);
    cl_context cl = stub_make_context(1, &device);
    struct kiln_context *kiln = NULL;
    struct kiln_gemm gemm = { .m = 64, .n = 64, .k = 64, .alpha = 1.0 };
    char text[4096];
    (void) state;
    assert_int_equal(kiln_context_create(cl, device, NULL, &kiln), KILN_SUCCESS);
    assert_int_equal(kiln_gemm_explain(kiln, &gemm, text, sizeof text), KILN_SUCCESS);
    assert_memory_equal(text, "bundle: generic\nkernel: generic_s_nn\n", 37);
    kiln_context_destroy(&kiln);
}

static void a_bundle_of_the_caller_comes_first(void **state)
{
    struct fixture *f = *state;
    struct kiln_bundle own = tuned_bundle;
    own.name = "own";
    own.match.device = "no such device";
    fixture_new_context(f, &(struct kiln_context_params){ .bundle = &own });
    struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
    fixture_expect_recipe(f, &gemm, "own", "tuned_small");
    gemm.transb = KILN_TRANS;
    fixture_expect_recipe(f, &gemm, "generic", "generic_s_nt");
    kiln_context_destroy(&f->kiln);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_least_time_serves),
        TEST(equal_times_serve_in_the_order_of_the_bundle),
        TEST(what_has_no_time_serves_at_last),
        TEST(a_pin_comes_before_every_time),
        TEST(ragged_rows_of_c_count),
        TEST(more_recipes_than_are_ranked_at_a_time),
        TEST(a_shape_is_recalled_as_it_was_ranked),
        TEST(transposes_and_precisions_choose),
        TEST(each_guard_refuses),
        TEST(an_extent_may_leave_a_rest),
        TEST(an_extent_beyond_the_most_refuses),
        TEST(an_axis_without_extent_has_tile_work_groups),
        TEST(strides_count_as_offsets),
        TEST(large_indices_need_64_bits),
        TEST(large_shapes_need_64_bits),
        TEST(indices_reach_beyond_the_extents),
        TEST(indices_reach_beyond_regions),
        TEST(three_stages_with_regions),
        TEST(wide_indices_are_passed_whole),
        TEST(columns_swap_the_operands),
        TEST(dense_leading_dimensions),
        TEST(reals_follow_the_precision),
        TEST(typed_calls_are_the_call),
        TEST(a_small_work_group_limit_refuses),
        TEST(on_nvidia_the_device_limits_work_groups),
        TEST(on_9_0_a_work_group_may_declare_more),
        TEST(the_exact_work_group_limit_serves),
        TEST(local_memory_refuses),
        TEST(a_call_without_work_has_no_kernel),
        TEST(each_axis_has_its_limit),
        TEST(a_stranger_gets_the_generic_bundle),
        TEST(a_bundle_of_the_caller_comes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
