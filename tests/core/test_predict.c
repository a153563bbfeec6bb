/* test_predict.c: the terms of a recipe's time and their sum, runtime/predict.c, against examples
 * worked out by hand and against wider arithmetic. */
#include "predict.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "random.h"

enum { FLOATS = 4 };

/* Tiles of 32 x 64, 16 steps deep. */
static struct kiln_recipe tiles(void)
{
    return (struct kiln_recipe){
        .name = "tiles",
        .precision = KILN_ID_SINGLE,
        .index_bits = 32,
        .tile = { 32, 64, 16 },
        .reach = { 32, 64, 16 },
    };
}

static struct kiln_product dense(size_t m, size_t n, size_t k)
{
    return kiln_product_dense(KILN_ID_SINGLE, FLOATS, 0, 0, m, n, k);
}

#define CHECK(terms, name, value) assert_true((terms)[KILN_TERM_##name] == (value))

/* What so many units share evenly. */
#define EVENLY(count, units) ((uint64_t) (count) *256 / (units))

/* Each work-group has a tile; a unit takes the next when one is done. */
static void rounds_are_whole(void **state)
{
    static const struct {
        size_t m, n;
        uint64_t rounds, paired;
    } rows[] = {
        { 32, 64, 1, 2 },   /* one tile: alone, or one of two at a time */
        { 128, 64, 1, 2 },  /* 4, one for each unit */
        { 129, 64, 2, 2 },  /* a fifth */
        { 128, 129, 3, 4 }, /* 12: 3 rounds of 4; 2 of 8, as long as 4 */
        { 128, 256, 4, 4 },
        { 128, 257, 5, 6 },
    };
    const struct kiln_recipe recipe = tiles();
    uint64_t terms[KILN_NUM_TERMS];
    (void) state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct kiln_product product = dense(rows[i].m, rows[i].n, 100);
        kiln_time_terms(&recipe, &product, 4, terms);
        CHECK(terms, CALL, 1);
        CHECK(terms, ROUNDS, rows[i].rounds);
        CHECK(terms, PAIRED_ROUNDS, rows[i].paired);
        CHECK(terms, STEPS, rows[i].rounds * 7); /* 7 steps of 16 */
        CHECK(terms, PAIRED_STEPS, rows[i].paired * 7);
        CHECK(terms, DEPTH, 7);
    }
}

/* Members of a batch in one launch count as so many times the tiles of one, none of them shared;
 * launched one by one, each takes as long as one. Alone, small ones wait for the host. */
static void members_are_tiles_of_one_launch(void **state)
{
    const struct kiln_time time = {
        .coefficient = { [KILN_TERM_CALL] = 500, [KILN_TERM_ROUNDS] = 1000, [KILN_TERM_C] = 1 }
    };
    const uint64_t enqueued = 6000000;
    struct kiln_recipe recipe = tiles();
    struct kiln_product product = dense(33, 64, 100); /* two tiles */
    uint64_t terms[KILN_NUM_TERMS];
    (void) state;
    recipe.batches = 1;
    recipe.time = &time;
    product.batch_count = 11;
    for (unsigned turns = 0; turns < 3; turns++) {
        recipe.unit_turns = (uint16_t) turns;
        recipe.shares = turns == 2;
        kiln_time_terms(&recipe, &product, 4, terms);
        CHECK(terms, CALL, 1);
        CHECK(terms, ROUNDS, turns == 2 ? 3 : 6); /* 22 tiles */
        CHECK(terms, DEPTH, 7);
        CHECK(terms, C, EVENLY(11 * 33 * 64, 4));
        CHECK(terms, FETCHED_A, EVENLY(11 * 33 * 100, 4));
        CHECK(terms, SHARED, 0);
    }
    recipe.unit_turns = recipe.shares = 0;
    recipe.unit_parts = 3; /* work-groups enough for parts of K, but members have none */
    product.k = 390;
    kiln_time_terms(&recipe, &product, 4, terms);
    CHECK(terms, DEPTH, 25);
    CHECK(terms, ROUNDS, 6);
    recipe.unit_parts = 0;
    product.k = 100;
    const uint64_t together = 500 + 6 * 1000 + EVENLY(11 * 33 * 64, 4);
    const uint64_t alone = 500 + 1 * 1000 + EVENLY(33 * 64, 4);
    assert_true(kiln_time_predict(&recipe, &product, 4) == together);
    assert_true(kiln_time_with_host(&recipe, &product, 4, 0) < enqueued);
    assert_true(kiln_time_with_host(&recipe, &product, 4, enqueued) == enqueued);
    product.one_by_one = true;
    assert_true(kiln_time_predict(&recipe, &product, 4) == 11 * alone);
    assert_true(kiln_time_with_host(&recipe, &product, 4, enqueued) > 10 * enqueued);
    product.one_by_one = false;
    product.batch_count = 2 * (size_t) KILN_MOST_MEMBERS + 1;
    assert_true(kiln_time_with_host(&recipe, &product, 4, 0) > 2 * enqueued);
}

/* Parts of K have work-groups of their own, and each a part of the depth. */
static void parts_of_k_are_groups(void **state)
{
    struct kiln_recipe recipe = tiles();
    const struct kiln_product product = dense(64, 64, 390), flat = dense(64, 64, 100);
    uint64_t terms[KILN_NUM_TERMS];
    (void) state;
    recipe.unit_parts = 3;
    kiln_time_terms(&recipe, &product, 3, terms);
    CHECK(terms, DEPTH, 7);  /* 25 steps in 4 parts */
    CHECK(terms, ROUNDS, 3); /* 2 tiles in 4 parts, on 3 units */
    CHECK(terms, STEPS, 3 * 7);
    CHECK(terms, PAIRED_ROUNDS, 4);
    CHECK(terms, PAIRED_STEPS, 4 * 7);
    CHECK(terms, EVEN, EVENLY(8 * 7, 3));
    CHECK(terms, COPIES, 1); /* the launch that adds up */
    CHECK(terms, SHARED, EVENLY(2 * 32 * 64, 3));
    CHECK(terms, KEPT, EVENLY(8 * 32 * 64, 3));
    kiln_time_terms(&recipe, &flat, 3, terms);
    CHECK(terms, DEPTH, 7); /* too few to be shared */
    CHECK(terms, COPIES, 0);
    CHECK(terms, SHARED, 0);
    CHECK(terms, KEPT, 0);
}

/* Those that take tiles in turn share the steps of what makes no whole turn, or nothing. */
static void turns_share_the_steps(void **state)
{
    struct kiln_recipe recipe = tiles();
    uint64_t terms[KILN_NUM_TERMS];
    (void) state;
    recipe.unit_turns = 2; /* of each unit */
    recipe.shares = 1;
    const struct kiln_product product = dense(96, 128, 100);
    kiln_time_terms(&recipe, &product, 2, terms);
    CHECK(terms, STEPS, 7 + 4); /* 6 tiles of 7 steps: 4 in turn, 14 steps among 4 */
    CHECK(terms, ROUNDS, 2);
    CHECK(terms, SHARED, EVENLY(2 * 32 * 64, 2));
    CHECK(terms, KEPT, EVENLY((2 + 4) * 32 * 64, 2));
    CHECK(terms, PAIRED_STEPS, 2 * 7 + 7); /* of a unit: 4 tiles, and 14 steps */
    CHECK(terms, PAIRED_ROUNDS, 3);
    CHECK(terms, DEPTH, 7);
    CHECK(terms, EVEN, EVENLY(6 * 7, 2));
    kiln_time_terms(&recipe, &product, 200, terms);
    CHECK(terms, STEPS, 1); /* 42 steps among 400 */
    CHECK(terms, ROUNDS, 1);
    CHECK(terms, SHARED, EVENLY(6 * 32 * 64, 200));
    CHECK(terms, KEPT, EVENLY((6 + 42) * 32 * 64, 200));
    kiln_time_terms(&recipe, &product, 4, terms);
    CHECK(terms, STEPS, 7); /* 6 of 8 are a turn */
    CHECK(terms, SHARED, 0);
    CHECK(terms, KEPT, 0);
    recipe.shares = 0;
    kiln_time_terms(&recipe, &product, 2, terms);
    CHECK(terms, STEPS, 2 * 7);
    CHECK(terms, ROUNDS, 2);
    CHECK(terms, PAIRED_STEPS, 3 * 7);
    CHECK(terms, SHARED, 0);
}

/* What is prepared where its rows are not aligned costs a launch, and its elements. */
static void copies_are_counted(void **state)
{
    static const struct {
        size_t lda, b_offset;
        bool a, b;
    } rows[] = {
        { 104, 0, false, false },
        { 101, 0, true, false },
        { 104, 6, false, true },
        { 102, 1, true, true },
    };
    struct kiln_recipe recipe = tiles();
    (void) state;
    for (int as_is = 0; as_is <= KILN_PREPARED_BOTH; as_is++)
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            struct kiln_product product = dense(96, 128, 100);
            uint64_t terms[KILN_NUM_TERMS];
            const bool a = rows[i].a && as_is & KILN_PREPARED_A;
            const bool b = rows[i].b && as_is & KILN_PREPARED_B;
            product.a.ld = rows[i].lda;
            product.b.offset = rows[i].b_offset;
            recipe.as_is = (uint8_t) as_is;
            kiln_time_terms(&recipe, &product, 4, terms);
            CHECK(terms, COPIES, a || b);
            CHECK(terms, COPIED_A, a ? EVENLY(96 * 100, 4) : 0);
            CHECK(terms, COPIED_B, b ? EVENLY(100 * 128, 4) : 0);
        }
}

static void even_counts_in_parts(void **state)
{
    const struct kiln_recipe recipe = tiles();
    const struct kiln_product product = dense(32, 64, 16);
    uint64_t terms[KILN_NUM_TERMS];
    (void) state;
    kiln_time_terms(&recipe, &product, 1, terms);
    CHECK(terms, EVEN, 256);
    kiln_time_terms(&recipe, &product, 16, terms);
    CHECK(terms, EVEN, 16);
    kiln_time_terms(&recipe, &product, 132, terms);
    CHECK(terms, EVEN, 1);                        /* 256 / 132 */
    kiln_time_terms(&recipe, &product, 0, terms); /* as if there were one unit */
    CHECK(terms, EVEN, 256);
    CHECK(terms, ROUNDS, 1);
}

/* A is fetched once for each column of tiles, B once for each row. */
static void operands_are_fetched_by_tiles(void **state)
{
    const struct kiln_recipe recipe = tiles();
    (void) state;
    for (unsigned pair = 0; pair < 4; pair++) {
        const unsigned transa = pair / 2, transb = pair % 2;
        const struct kiln_product product = kiln_product_dense(KILN_ID_SINGLE, FLOATS, transa,
                transb, 70, 200, 30);
        uint64_t terms[KILN_NUM_TERMS];
        kiln_time_terms(&recipe, &product, 4, terms);
        CHECK(terms, A, EVENLY(2100, 4));
        CHECK(terms, B, EVENLY(6000, 4));
        CHECK(terms, C, EVENLY(14000, 4));
        CHECK(terms, FETCHED_A, EVENLY(4 * 2100, 4));
        CHECK(terms, FETCHED_B, EVENLY(3 * 6000, 4));
        CHECK(terms, TRANSPOSED_A, transa ? EVENLY(2100, 4) : 0);
        CHECK(terms, TRANSPOSED_B, transb ? EVENLY(6000, 4) : 0);
        CHECK(terms, FETCHED_TRANSPOSED_A, transa ? EVENLY(4 * 2100, 4) : 0);
        CHECK(terms, FETCHED_TRANSPOSED_B, transb ? EVENLY(3 * 6000, 4) : 0);
        CHECK(terms, FETCHED_PLAIN_A, transa ? 0 : EVENLY(4 * 2100, 4));
        CHECK(terms, FETCHED_PLAIN_B, transb ? 0 : EVENLY(3 * 6000, 4));
    }
}

/* Rows begin with lines of 64 bytes unless one of three numbers says otherwise. */
static void ragged_rows_are_seen(void **state)
{
    const struct kiln_recipe recipe = tiles();
    static const size_t bytes[] = { 2, 4, 8 };
    (void) state;
    for (unsigned i = 0; i < 3; i++) {
        const size_t unit = 64 / bytes[i];
        struct kiln_product product = kiln_product_dense(KILN_ID_SINGLE, bytes[i], 0, 0, 8,
                3 * unit, unit);
        struct kiln_matrix *const matrices[] = { &product.a, &product.b, &product.c };
        for (unsigned of = 0; of < 3; of++) {
            size_t *const fields[] = { &matrices[of]->ld, &matrices[of]->offset,
                &matrices[of]->stride };
            for (unsigned f = 0; f < 3; f++)
                for (size_t more = 0; more <= unit; more++) {
                    const bool is_ragged = more % unit;
                    uint64_t terms[KILN_NUM_TERMS];
                    *fields[f] += more;
                    kiln_time_terms(&recipe, &product, 4, terms);
                    assert_int_equal(kiln_time_ragged(&product), is_ragged ? 1u << of : 0);
                    CHECK(terms, FETCHED_RAGGED_A,
                            is_ragged && of == 0 ? terms[KILN_TERM_FETCHED_A] : 0);
                    CHECK(terms, FETCHED_RAGGED_B,
                            is_ragged && of == 1 ? terms[KILN_TERM_FETCHED_B] : 0);
                    CHECK(terms, RAGGED_C, is_ragged && of == 2 ? EVENLY(8 * 3 * unit, 4) : 0);
                    *fields[f] -= more;
                }
        }
    }
}

static void without_k_the_call_counts(void **state)
{
    const struct kiln_recipe recipe = tiles();
    const struct kiln_product product = dense(100, 100, 0);
    uint64_t terms[KILN_NUM_TERMS];
    (void) state;
    kiln_time_terms(&recipe, &product, 4, terms);
    CHECK(terms, CALL, 1);
    CHECK(terms, ROUNDS, 2); /* 4 x 2 tiles of C are written all the same */
    CHECK(terms, C, EVENLY(10000, 4));
    CHECK(terms, STEPS, 0);
    CHECK(terms, DEPTH, 0);
    CHECK(terms, A, 0);
    CHECK(terms, FETCHED_B, 0);
}

/* ---- At the limits ---- */

static const size_t huge[] = { 0, 1, 15, 16, 17, 4095, (size_t) 1 << 31, SIZE_MAX / 3,
    SIZE_MAX / 2 + 1, SIZE_MAX - 1, SIZE_MAX };
enum { NUM_HUGE = sizeof huge / sizeof huge[0] };

/* A count as it would be without a limit, in floating point. */
static long double parts(long double extent, long double size)
{
    return ceill(extent / size);
}

static void check_stops(uint64_t found, long double exact)
{
    const long double most = (long double) KILN_TIME_MAX;
    if (exact >= most * 1.01L)
        assert_true(found == KILN_TIME_MAX);
    else if (exact <= most * 0.99L)
        assert_true(fabsl((long double) found - exact) <= exact * 1e-15L + 1);
    assert_true(found <= KILN_TIME_MAX);
}

/* Products of extents stop where they would overflow, and never begin anew. */
static void counts_stop_at_the_most(void **state)
{
    struct kiln_recipe recipe = tiles();
    (void) state;
    for (unsigned i = 0; i < NUM_HUGE * NUM_HUGE * NUM_HUGE; i++) {
        const size_t m = huge[i % NUM_HUGE], n = huge[i / NUM_HUGE % NUM_HUGE];
        const size_t k = huge[i / NUM_HUGE / NUM_HUGE];
        struct kiln_product product = dense(1, 1, 1);
        uint64_t terms[KILN_NUM_TERMS];
        product.m = m;
        product.n = n;
        product.k = k;
        kiln_time_terms(&recipe, &product, 1, terms);
        check_stops(terms[KILN_TERM_A], (long double) m * k * 256);
        check_stops(terms[KILN_TERM_B], (long double) k * n * 256);
        check_stops(terms[KILN_TERM_C], (long double) m * n * 256);
        check_stops(terms[KILN_TERM_PRODUCTS], (long double) m * n * k * 256);
        check_stops(terms[KILN_TERM_ROUNDS], parts(m, 32) * parts(n, 64));
        check_stops(terms[KILN_TERM_STEPS], parts(m, 32) * parts(n, 64) * parts(k, 16));
        check_stops(terms[KILN_TERM_FETCHED_A], parts(n, 64) * m * k * 256);
        check_stops(terms[KILN_TERM_FETCHED_B], parts(m, 32) * n * k * 256);
        for (unsigned t = 0; t < KILN_NUM_TERMS; t++)
            assert_true(terms[t] <= KILN_TIME_MAX);
    }
}

/* 32 MiB are 8192 x 1024 singles. */
static void large_operands_are_fetched_from_memory(void **state)
{
    const struct kiln_recipe recipe = tiles();
    const struct kiln_product just = dense(8192, 65, 1024), more = dense(8193, 65, 1024);
    const struct kiln_product both = dense(8193, 8193, 1024);
    uint64_t terms[KILN_NUM_TERMS];
    (void) state;
    kiln_time_terms(&recipe, &just, 4, terms);
    CHECK(terms, FETCHED_UNCACHED, 0);
    kiln_time_terms(&recipe, &more, 4, terms);
    CHECK(terms, FETCHED_UNCACHED, EVENLY((uint64_t) 2 * 8193 * 1024, 4));
    kiln_time_terms(&recipe, &both, 4, terms);
    CHECK(terms, FETCHED_UNCACHED, EVENLY((uint64_t) (129 + 257) * 8193 * 1024, 4));
}

/* More of an extent or fewer units never make a count smaller. */
static void counts_grow_with_the_extents(void **state)
{
    uint64_t random = 7;
    (void) state;
    for (int i = 0; i < 20000; i++) {
        struct kiln_recipe recipe = tiles();
        struct kiln_product small = dense(1, 1, 1), large;
        uint64_t of_small[KILN_NUM_TERMS], of_large[KILN_NUM_TERMS];
        size_t *const extents[] = { &small.m, &small.n, &small.k };
        for (int d = 0; d < 3; d++) {
            *extents[d] = (size_t) (random_next(&random) >> (1 + random_next(&random) % 63));
            recipe.tile[d] = 1 + random_next(&random) % 300;
        }
        recipe.unit_turns = i % 3 ? 1 + random_next(&random) % 8 : 0;
        recipe.shares = i % 3 == 2;
        const uint32_t units = 1 + random_next(&random) % 200;
        large = small;
        large.m += random_next(&random) % 100;
        large.n += random_next(&random) % 100;
        large.k += random_next(&random) % 100;
        kiln_time_terms(&recipe, &small, units + random_next(&random) % 3, of_small);
        kiln_time_terms(&recipe, &large, units, of_large);
        for (unsigned t = 0; t < KILN_NUM_TERMS; t++)
            assert_true(of_small[t] <= of_large[t] || t == KILN_TERM_SHARED || t == KILN_TERM_KEPT);
    }
}

/* Parts of K take part of the depth each, and none is too large to count. */
static void parts_cover_the_depth(void **state)
{
    uint64_t random = 11;
    unsigned num_shared = 0;
    (void) state;
    for (int i = 0; i < 20000; i++) {
        struct kiln_recipe recipe = tiles();
        struct kiln_product product = dense(1, 1, 1);
        uint64_t terms[KILN_NUM_TERMS];
        size_t *const extents[] = { &product.m, &product.n, &product.k };
        for (int d = 0; d < 3; d++) {
            *extents[d] = (size_t) (random_next(&random) >> (1 + random_next(&random) % 63));
            recipe.tile[d] = 1 + random_next(&random) % 300;
        }
        recipe.unit_parts = (uint16_t) (1 + random_next(&random) % 9);
        const uint32_t units = (uint32_t) (1 + random_next(&random) % 200);
        const uint64_t parts = kiln_num_parts(&recipe, &product, units);
        const uint64_t steps = kiln_ceil_div(product.k, recipe.tile[2]);
        kiln_time_terms(&recipe, &product, units, terms);
        for (unsigned t = 0; t < KILN_NUM_TERMS; t++)
            assert_true(terms[t] <= KILN_TIME_MAX);
        if (steps < KILN_TIME_MAX)
            assert_true(terms[KILN_TERM_DEPTH] == kiln_ceil_div(steps, parts));
        assert_true((terms[KILN_TERM_KEPT] > 0) == (parts > 1));
        num_shared += parts > 1;
    }
    assert_true(num_shared > 500);
}

/* ---- The sum ---- */

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 wide_uint;

/* A count's first 29 bits, times the coefficient's 24, in integers; the fraction is dropped. */
static uint64_t exact_term(float coefficient, uint64_t count)
{
    int exponent;
    const unsigned bits = count ? 64 - (unsigned) __builtin_clzll(count) : 0;
    const unsigned below = bits > 29 ? bits - 29 : 0;
    const float fraction = frexpf(coefficient, &exponent);
    wide_uint value = (wide_uint) ldexpf(fraction, 24) * (count >> below);
    const int shift = exponent - 24 + (int) below;
    if (shift <= -128)
        return 0;
    if (shift < 0)
        value >>= -shift;
    for (int i = 0; i < shift && value < KILN_TIME_MAX; i++)
        value <<= 1;
    return value < KILN_TIME_MAX ? (uint64_t) value : KILN_TIME_MAX;
}

static uint64_t exact_sum(const struct kiln_time *time, const uint64_t terms[KILN_NUM_TERMS])
{
    wide_uint sum = 0;
    for (unsigned t = 0; t < KILN_NUM_TERMS; t++)
        sum += exact_term(time->coefficient[t], terms[t]);
    return sum < KILN_TIME_MAX ? (uint64_t) sum : KILN_TIME_MAX;
}

/* Every size of coefficient with every size of count: nothing depends on how a machine rounds. */
static void the_sum_is_exact(void **state)
{
    uint64_t random = 1;
    unsigned capped = 0;
    (void) state;
    for (int i = 0; i < 200000; i++) {
        struct kiln_time time;
        uint64_t terms[KILN_NUM_TERMS];
        for (unsigned t = 0; t < KILN_NUM_TERMS; t++) {
            const int exponent = (int) (random_next(&random) % 60) - 40;
            const float fraction = (float) (random_next(&random) >> 40) * 0x1p-24f;
            time.coefficient[t] = random_next(&random) % 3 ? ldexpf(fraction, exponent) : 0;
            terms[t] = random_next(&random) >> (2 + random_next(&random) % 62);
        }
        if (i % 16 == 0)
            time.coefficient[i % KILN_NUM_TERMS] = i % 32 ? 0x1p-149f : 0x1.fffffep61f;
        assert_true(kiln_time_is_sound(&time));
        const uint64_t sum = kiln_time_sum(&time, terms);
        assert_true(sum == exact_sum(&time, terms));
        capped += sum == KILN_TIME_MAX;
    }
    assert_in_range(capped, 1000, 150000);
}
#else
static void the_sum_is_exact(void **state)
{
    (void) state;
    skip();
}
#endif

static void sums_worked_out_by_hand(void **state)
{
    struct kiln_time time = { { 0 } };
    uint64_t terms[KILN_NUM_TERMS] = { 1, 1000, 3 };
    (void) state;
    assert_true(kiln_time_sum(&time, terms) == 0);
    time.coefficient[0] = 5e6f;
    time.coefficient[1] = 0.75f;
    time.coefficient[2] = 0.3f; /* 0.9: fractions of a term are dropped */
    assert_true(kiln_time_sum(&time, terms) == 5000750);
    terms[1] = (UINT64_C(1) << 29) - 1;
    assert_true(kiln_time_sum(&time, terms) == 5000000 + 402653183);
    terms[1] = (UINT64_C(1) << 40) + (1 << 11) + 1; /* of which 29 bits count */
    assert_true(kiln_time_sum(&time, terms) == 5000000 + (UINT64_C(3) << 38));
}

static void times_stop_at_the_most(void **state)
{
    struct kiln_time time;
    uint64_t terms[KILN_NUM_TERMS];
    (void) state;
    for (unsigned t = 0; t < KILN_NUM_TERMS; t++) {
        time.coefficient[t] = 0x1.fffffep61f;
        terms[t] = KILN_TIME_MAX;
    }
    assert_true(kiln_time_sum(&time, terms) == KILN_TIME_MAX);
    memset(&time, 0, sizeof time);
    time.coefficient[KILN_TERM_A] = 1;
    time.coefficient[KILN_TERM_CALL] = 1;
    terms[KILN_TERM_CALL] = 1;
    assert_true(kiln_time_sum(&time, terms) == KILN_TIME_MAX); /* not one beyond it */
    terms[KILN_TERM_A] = KILN_TIME_MAX / 2;
    assert_true(kiln_time_sum(&time, terms) == KILN_TIME_MAX / 2 + 1);
    struct kiln_recipe recipe = tiles();
    struct kiln_product product = dense(1, 1, 1);
    product.m = product.n = product.k = SIZE_MAX;
    recipe.time = &time;
    if (sizeof(size_t) == 8)
        assert_true(kiln_time_predict(&recipe, &product, 1) == KILN_TIME_MAX);
}

static void a_prediction_is_the_sum_of_the_terms(void **state)
{
    struct kiln_time time;
    struct kiln_recipe recipe = tiles();
    const struct kiln_product product = dense(100, 200, 300);
    uint64_t terms[KILN_NUM_TERMS];
    (void) state;
    recipe.time = &time;
    for (unsigned t = 0; t < KILN_NUM_TERMS; t++) {
        memset(&time, 0, sizeof time);
        time.coefficient[t] = 3;
        kiln_time_terms(&recipe, &product, 7, terms);
        assert_true(kiln_time_predict(&recipe, &product, 7) == 3 * terms[t]);
    }
}

static void only_numbers_are_sound(void **state)
{
    static const float good[] = { 0, -0.0f, FLT_MIN, 0x1p-149f, 1, 1e18f, 0x1.fffffep61f };
    static const float bad[] = { NAN, -NAN, INFINITY, -INFINITY, -1, -FLT_MIN, -0x1p-149f, 0x1p62f,
        FLT_MAX };
    struct kiln_time time;
    (void) state;
    memset(&time, 0, sizeof time);
    assert_true(kiln_time_is_sound(&time));
    for (unsigned t = 0; t < KILN_NUM_TERMS; t++) {
        for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
            time.coefficient[t] = good[i];
            assert_true(kiln_time_is_sound(&time));
        }
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
            time.coefficient[t] = bad[i];
            assert_false(kiln_time_is_sound(&time));
        }
        time.coefficient[t] = 1;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_are_whole),
        cmocka_unit_test(parts_of_k_are_groups),
        cmocka_unit_test(turns_share_the_steps),
        cmocka_unit_test(copies_are_counted),
        cmocka_unit_test(even_counts_in_parts),
        cmocka_unit_test(operands_are_fetched_by_tiles),
        cmocka_unit_test(large_operands_are_fetched_from_memory),
        cmocka_unit_test(ragged_rows_are_seen),
        cmocka_unit_test(without_k_the_call_counts),
        cmocka_unit_test(counts_stop_at_the_most),
        cmocka_unit_test(counts_grow_with_the_extents),
        cmocka_unit_test(parts_cover_the_depth),
        cmocka_unit_test(the_sum_is_exact),
        cmocka_unit_test(sums_worked_out_by_hand),
        cmocka_unit_test(times_stop_at_the_most),
        cmocka_unit_test(a_prediction_is_the_sum_of_the_terms),
        cmocka_unit_test(members_are_tiles_of_one_launch),
        cmocka_unit_test(only_numbers_are_sound),
    };
    return cmocka_run_group_tests_name("predict", tests, NULL, NULL);
}
