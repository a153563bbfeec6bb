/* test_rank.c: in which order recipes are tried, runtime/rank.c, against a plain sort. */
#include "rank.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "random.h"

enum { FLOATS = 4, MOST = 60, UNITS = 4 };

/* Recipes of which only the CALL coefficient counts, for a CPU: there it is all of the time. */
struct clay {
    struct kiln_time times[MOST];
    struct kiln_recipe recipes[MOST];
    struct kiln_pin pins[4];
    struct kiln_bundle bundle;
};

static void clay_make(struct clay *clay, unsigned num)
{
    memset(clay, 0, sizeof *clay);
    for (unsigned i = 0; i < num; i++)
        clay->recipes[i] = (struct kiln_recipe){
            .name = "clay",
            .precision = KILN_ID_SINGLE,
            .index_bits = 32,
            .tile = { 8, 8, 8 },
            .reach = { 8, 8, 8 },
            .time = &clay->times[i],
        };
    for (unsigned i = 0; i < 4; i++)
        memset(clay->pins[i].recipe, 0xff, sizeof clay->pins[i].recipe);
    clay->bundle = (struct kiln_bundle){ .num_recipes = num,
        .recipes = clay->recipes,
        .pins = clay->pins,
        .traits = { .is_cpu = 1 } };
}

static struct kiln_product cube(void)
{
    return kiln_product_dense(KILN_ID_SINGLE, FLOATS, 0, 0, 64, 64, 64);
}

/* The orders of all batches, one after the other; returns how many recipes they are. */
static unsigned order_of(const struct clay *clay, const struct kiln_product *product,
        uint32_t order[MOST])
{
    struct kiln_rank ranks[KILN_RANKED], last;
    const struct kiln_rank *after = NULL;
    unsigned num = 0, found;
    do {
        found = kiln_rank(&clay->bundle, NULL, product, UNITS, after, ranks);
        assert_in_range(found, 0, KILN_RANKED);
        for (unsigned i = 0; i < found; i++) {
            const struct kiln_rank of = kiln_rank_of(&clay->bundle, NULL, ranks[i].recipe, product,
                    UNITS);
            assert_true(num < clay->bundle.num_recipes);
            assert_true(of.time == ranks[i].time && of.recipe == ranks[i].recipe);
            order[num++] = ranks[i].recipe;
        }
        if (found)
            last = ranks[found - 1];
        after = &last;
    } while (found == KILN_RANKED);
    if (num)
        assert_int_equal(kiln_rank(&clay->bundle, NULL, product, UNITS, after, ranks), 0);
    return num;
}

static void check_order(const struct clay *clay, const struct kiln_product *product,
        const uint32_t *expected, unsigned num)
{
    uint32_t order[MOST];
    assert_int_equal(order_of(clay, product, order), num);
    for (unsigned i = 0; i < num; i++)
        assert_int_equal(order[i], expected[i]);
}

static void the_least_time_comes_first(void **state)
{
    struct clay clay;
    const struct kiln_product product = cube();
    struct kiln_rank ranks[KILN_RANKED];
    (void) state;
    clay_make(&clay, 4);
    clay.times[0].coefficient[0] = 30;
    clay.times[1].coefficient[0] = 20;
    clay.times[2].coefficient[0] = 40;
    clay.times[3].coefficient[0] = 10;
    check_order(&clay, &product, (const uint32_t[]){ 3, 1, 0, 2 }, 4);
    assert_int_equal(kiln_rank(&clay.bundle, NULL, &product, UNITS, NULL, ranks), 4);
    assert_true(ranks[0].time == 11 && ranks[3].time == 41);
}

static void without_a_time_the_bundle_decides(void **state)
{
    struct clay clay;
    const struct kiln_product product = cube();
    struct kiln_rank ranks[KILN_RANKED];
    (void) state;
    clay_make(&clay, 6);
    clay.recipes[0].time = clay.recipes[1].time = clay.recipes[4].time = NULL;
    clay.times[2].coefficient[0] = 7;
    clay.times[3].coefficient[0] = 0x1.fffffep61f;
    for (unsigned t = 0; t < KILN_NUM_TERMS; t++)
        clay.times[5].coefficient[t] = 0x1.fffffep61f; /* the longest time that there is */
    check_order(&clay, &product, (const uint32_t[]){ 2, 3, 5, 0, 1, 4 }, 6);
    assert_int_equal(kiln_rank(&clay.bundle, NULL, &product, UNITS, NULL, ranks), 6);
    assert_true(ranks[2].time == KILN_TIME_MAX + 1 && ranks[3].time == KILN_RANK_UNTIMED);
}

static void what_is_left_out_takes_no_place(void **state)
{
    enum { NUM = KILN_RANKED + 2 };
    static const bool left_out[NUM] = { [0] = true, [3] = true };
    struct clay clay;
    const struct kiln_product product = cube();
    struct kiln_rank ranks[KILN_RANKED];
    (void) state;
    clay_make(&clay, NUM);
    for (unsigned i = 0; i < NUM; i++)
        clay.times[i].coefficient[0] = (float) (10 + i);
    assert_int_equal(kiln_rank(&clay.bundle, left_out, &product, UNITS, NULL, ranks), KILN_RANKED);
    for (unsigned i = 0, recipe = 0; i < KILN_RANKED; i++, recipe++) {
        recipe += left_out[recipe];
        assert_int_equal(ranks[i].recipe, recipe);
    }
}

static void ties_go_by_the_bundle(void **state)
{
    struct clay clay;
    const struct kiln_product product = cube();
    uint32_t order[MOST];
    (void) state;
    for (unsigned num = 0; num <= 3 * KILN_RANKED; num++) {
        clay_make(&clay, num);
        assert_int_equal(order_of(&clay, &product, order), num);
        for (unsigned i = 0; i < num; i++)
            assert_int_equal(order[i], i);
    }
}

static void a_pin_comes_first(void **state)
{
    struct clay clay;
    struct kiln_product product = cube();
    (void) state;
    clay_make(&clay, 3);
    clay.times[0].coefficient[0] = 0; /* even before what takes no time */
    clay.times[1].coefficient[0] = 5;
    clay.recipes[2].time = NULL;
    clay.bundle.num_pins = 4;
    clay.pins[0] = (struct kiln_pin){ KILN_ID_DOUBLE, 64, 64, 64, 1, { 1, 1, 1, 1 } };
    clay.pins[1] = (struct kiln_pin){ KILN_ID_SINGLE, 64, 64, 63, 1, { 1, 1, 1, 1 } };
    clay.pins[2] = (struct kiln_pin){ KILN_ID_SINGLE, 64, 64, 64, 1, { 2, 0, 1, KILN_NO_RECIPE } };
    clay.pins[3] = (struct kiln_pin){ KILN_ID_SINGLE, 64, 64, 64, 1,
        { 1, 1, 1, 1 } }; /* too late */
    check_order(&clay, &product, (const uint32_t[]){ 2, 0, 1 }, 3);
    product.batch_count = 2;
    check_order(&clay, &product, (const uint32_t[]){ 0, 1, 2 }, 3);
    clay.pins[2].batch = 2;
    check_order(&clay, &product, (const uint32_t[]){ 2, 0, 1 }, 3);
    product.batch_count = 3;
    check_order(&clay, &product, (const uint32_t[]){ 0, 1, 2 }, 3);
    clay.pins[2].batch = 1;
    product.one_by_one = true;
    check_order(&clay, &product, (const uint32_t[]){ 2, 0, 1 }, 3);
    product.one_by_one = false;
    product.batch_count = 1;
    product.k = 63;
    check_order(&clay, &product, (const uint32_t[]){ 1, 0, 2 }, 3);
    product.k = 65;
    check_order(&clay, &product, (const uint32_t[]){ 0, 1, 2 }, 3);
    product = cube();
    clay.pins[2].recipe[0] = KILN_NO_RECIPE;
    check_order(&clay, &product, (const uint32_t[]){ 0, 1, 2 }, 3);
}

/* Each pair of transposes has a pin of its own. */
static void pins_are_for_one_pair(void **state)
{
    struct clay clay;
    (void) state;
    clay_make(&clay, 8);
    for (unsigned i = 0; i < 8; i++) {
        clay.recipes[i].transa = i / 4;
        clay.recipes[i].transb = i / 2 % 2;
    }
    clay.bundle.num_pins = 1;
    clay.pins[0] = (struct kiln_pin){ KILN_ID_SINGLE, 64, 64, 64, 1, { 1, 3, 5, 7 } };
    for (unsigned pair = 0; pair < 4; pair++) {
        const struct kiln_product product = kiln_product_dense(KILN_ID_SINGLE, FLOATS, pair / 2,
                pair % 2, 64, 64, 64);
        check_order(&clay, &product, (const uint32_t[]){ 2 * pair + 1, 2 * pair }, 2);
    }
}

/* What does not take the extents or is for another problem is left out, also when it is pinned. */
static void only_what_takes_the_extents_is_ranked(void **state)
{
    struct clay clay;
    struct kiln_product product = cube();
    (void) state;
    clay_make(&clay, 9);
    clay.recipes[0].guard.m = 60;
    clay.recipes[1].precision = KILN_ID_DOUBLE;
    clay.recipes[2].transa = 1;
    clay.recipes[3].transb = 1;
    clay.recipes[4].guard.most[1] = 63;
    clay.recipes[5].guard.k = 60;
    clay.recipes[5].guard.rest[2] = 4; /* which 64 leaves */
    clay.recipes[6].guard.a = 1000;    /* of leading dimensions, which are not looked at */
    clay.recipes[7].guard.n = 65;
    clay.bundle.num_pins = 1;
    clay.pins[0] = (struct kiln_pin){ KILN_ID_SINGLE, 64, 64, 64, 1,
        { 0, KILN_NO_RECIPE, KILN_NO_RECIPE, KILN_NO_RECIPE } };
    check_order(&clay, &product, (const uint32_t[]){ 5, 6, 8 }, 3);
    product.precision = KILN_ID_HALF;
    check_order(&clay, &product, NULL, 0);
}

/* The device's units and the leading dimension of C count as predict.c says. */
static void the_prediction_decides(void **state)
{
    struct clay clay;
    struct kiln_product product = cube();
    struct kiln_rank ranks[KILN_RANKED];
    (void) state;
    clay_make(&clay, 2);
    clay.times[0].coefficient[KILN_TERM_ROUNDS] = 10; /* 64 tiles */
    clay.times[1].coefficient[KILN_TERM_CALL] = 100;
    kiln_rank(&clay.bundle, NULL, &product, 4, NULL, ranks);
    assert_true(ranks[0].recipe == 1 && ranks[1].time == 161);
    kiln_rank(&clay.bundle, NULL, &product, 8, NULL, ranks);
    assert_true(ranks[0].recipe == 0 && ranks[0].time == 81);
    clay.times[0].coefficient[KILN_TERM_RAGGED_C] = 1;
    kiln_rank(&clay.bundle, NULL, &product, 8, NULL, ranks);
    assert_int_equal(ranks[0].recipe, 0);
    product.c.ld = 65;
    kiln_rank(&clay.bundle, NULL, &product, 8, NULL, ranks);
    assert_int_equal(ranks[0].recipe, 1);
}

/* ---- Against a sort ---- */

struct entry {
    int is_pinned, is_timed;
    uint64_t time;
    uint32_t recipe;
};

static int compare(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    if (a->is_pinned != b->is_pinned)
        return b->is_pinned - a->is_pinned;
    if (a->is_timed != b->is_timed)
        return b->is_timed - a->is_timed;
    if (a->is_timed && a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->recipe < b->recipe ? -1 : 1;
}

/* Where the host takes longer to enqueue two kernels than the device takes for them, one kernel
 * that is a little slower comes first; of two alike the faster one. On a CPU, and of recipes for
 * CPUs alone, only sums count. */
static void short_kernels_wait_for_the_host(void **state)
{
    static const struct host {
        float two, one; /* microseconds of the recipes of two kernels and of one */
        bool one_is_first, one_is_first_on_cpus;
    } cases[] = {
        { 3, 4, true, false },    /* both wait */
        { 8, 9, true, false },    /* the first waits */
        { 8, 13, false, false },  /* so long does it not wait */
        { 18, 19, false, false }, /* neither waits */
        { 18, 17, true, true },
    };
    enum { NUM_CASES = sizeof cases / sizeof cases[0] };
    struct kiln_product product = kiln_product_dense(KILN_ID_SINGLE, FLOATS, 0, 0, 8, 8,
            8 * KILN_SHARED_STEPS);
    struct clay clay;
    uint32_t order[MOST];
    (void) state;
    product.a.ld++;
    for (unsigned way = 0; way < 3; way++)
        for (unsigned i = 0; i < 3 * NUM_CASES; i++) {
            const unsigned is_cpu = i / NUM_CASES == 1, is_for_cpus = i / NUM_CASES == 2;
            const struct host *host = &cases[i % NUM_CASES];
            const bool one_is_first = is_cpu || is_for_cpus ? host->one_is_first_on_cpus
                                                            : host->one_is_first;
            clay_make(&clay, 3);
            for (unsigned r = 0; r < 3; r++)
                clay.recipes[r].kinds = is_for_cpus ? KILN_KIND_CPU : 0;
            clay.recipes[0].unit_parts = way == 0;                          /* K is shared, */
            clay.recipes[0].unit_turns = clay.recipes[0].shares = way == 1; /* or steps, */
            clay.recipes[0].as_is = way == 2 ? KILN_PREPARED_A : 0;         /* or A is copied */
            clay.bundle.traits.is_cpu = (uint8_t) is_cpu;
            clay.times[0].coefficient[KILN_TERM_CALL] = host->two * 1e6f;
            clay.times[2].coefficient[KILN_TERM_CALL] = host->one * 1e6f;
            clay.times[1].coefficient[KILN_TERM_CALL] = host->one * 1e6f + 100;
            assert_int_equal(order_of(&clay, &product, order), 3);
            assert_int_equal(order[0], one_is_first ? 2 : 0);
            assert_int_equal(order[1], one_is_first ? 1 : 2);
        }
}

/* On a CPU, rows that begin at multiples of 4096 bytes: what reads them in place takes longer. */
static void rows_that_meet_count_on_cpus(void **state)
{
    static const struct kiln_stage keeps = { .entry = "keeps", .work_dim = 1, .local_bytes = 64 };
    struct clay clay;
    struct kiln_product product = cube();
    uint32_t order[MOST];
    (void) state;
    clay_make(&clay, 2);
    clay.times[0].coefficient[KILN_TERM_CALL] = 1000;
    clay.times[1].coefficient[KILN_TERM_CALL] = 1100;
    clay.recipes[1].num_stages = 1;
    clay.recipes[1].stages = &keeps;
    for (unsigned is_cpu = 0; is_cpu < 2; is_cpu++)
        for (unsigned meets = 0; meets < 4; meets++) {
            clay.bundle.traits.is_cpu = (uint8_t) is_cpu;
            product.a.ld = meets & 1 ? 1024 : 1040;
            product.b.ld = meets & 2 ? 2048 : 64;
            assert_int_equal(order_of(&clay, &product, order), 2);
            assert_int_equal(order[0], is_cpu && meets);
            assert_int_equal(kiln_time_meeting(&product), meets);
        }
    product.m = product.a.rows = 8; // one row of tiles reads B once
    assert_int_equal(order_of(&clay, &product, order), 2);
    assert_int_equal(order[0], 0);
}

/* On a CPU, an operand of more than 4 MiB of which a piece of every row is read for each column of
 * tiles: what reads it in place counts twice. */
static void far_operands_count_on_cpus(void **state)
{
    static const struct kiln_stage keeps = { .entry = "keeps", .work_dim = 1, .local_bytes = 64 };
    static const struct far {
        unsigned transa, transb;
        size_t m, n, k;
        bool is_far;
    } cases[] = {
        { 0, 0, 64, 1032, 1020, true }, { 0, 0, 64, 1032, 1010, false }, /* 4 MiB, not more */
        { 0, 1, 64, 1032, 1020, false },                                 /* its rows lie along K */
        { 1, 1, 1032, 64, 1020, true }, { 0, 1, 1032, 64, 1020, false },
        { 0, 0, 8, 1032, 1020, false },   /* one row of tiles */
        { 0, 0, 1032, 8, 140000, false }, /* one column of tiles: whole rows of B are read */
        { 1, 0, 1032, 1032, 1020, true }, /* both count once */
    };
    struct clay clay;
    uint32_t order[MOST];
    (void) state;
    clay_make(&clay, 2);
    clay.times[0].coefficient[KILN_TERM_CALL] = 1000;
    clay.recipes[1].num_stages = 1;
    clay.recipes[1].stages = &keeps;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (unsigned is_cpu = 0; is_cpu < 2; is_cpu++) {
            const struct far *far = &cases[i];
            const struct kiln_product product = kiln_product_dense(KILN_ID_SINGLE, FLOATS,
                    far->transa, far->transb, far->m, far->n, far->k);
            clay.bundle.traits.is_cpu = (uint8_t) is_cpu;
            for (unsigned r = 0; r < 2; r++) {
                clay.recipes[r].transa = (uint8_t) far->transa;
                clay.recipes[r].transb = (uint8_t) far->transb;
            }
            for (unsigned later = 0; later < 2; later++) {
                clay.times[1].coefficient[KILN_TERM_CALL] = later ? 2010 : 1990;
                assert_int_equal(order_of(&clay, &product, order), 2);
                assert_int_equal(order[0], is_cpu && far->is_far && !later);
            }
        }
    /* Not of complex elements. */
    const struct kiln_product pairs = kiln_product_dense(KILN_ID_COMPLEX_SINGLE, 2 * FLOATS, 0, 0,
            64, 1032, 1020);
    clay.bundle.traits.is_cpu = 1;
    for (unsigned r = 0; r < 2; r++) {
        clay.recipes[r].precision = KILN_ID_COMPLEX_SINGLE;
        clay.recipes[r].transa = clay.recipes[r].transb = 0;
    }
    clay.times[1].coefficient[KILN_TERM_CALL] = 1990;
    assert_int_equal(order_of(&clay, &pairs, order), 2);
    assert_int_equal(order[0], 0);
}

/* Batches list every recipe that is for the extents, each once, in the order of a plain sort. */
static void batches_list_each_once(void **state)
{
    uint64_t random = 3;
    (void) state;
    for (int i = 0; i < 3000; i++) {
        struct clay clay;
        struct entry entries[MOST];
        uint32_t order[MOST];
        unsigned num = 0;
        const struct kiln_product product = cube();
        clay_make(&clay, (unsigned) (random_next(&random) % (MOST + 1)));
        const uint32_t pinned = (uint32_t) (random_next(&random) % (MOST + 10));
        if (pinned < clay.bundle.num_recipes) {
            clay.bundle.num_pins = 1;
            clay.pins[0] = (struct kiln_pin){ KILN_ID_SINGLE, 64, 64, 64, 1,
                { (uint16_t) pinned, KILN_NO_RECIPE, KILN_NO_RECIPE, KILN_NO_RECIPE } };
        }
        for (uint32_t r = 0; r < clay.bundle.num_recipes; r++) {
            clay.times[r].coefficient[0] = (float) (random_next(&random) % (i % 2 ? 5 : 1000));
            if (random_next(&random) % 4 == 0)
                clay.recipes[r].time = NULL;
            if (random_next(&random) % 5 == 0)
                clay.recipes[r].guard.k = 48;
            else
                entries[num++] = (struct entry){ r == pinned, clay.recipes[r].time != NULL,
                    (uint64_t) clay.times[r].coefficient[0], r };
        }
        if (num)
            qsort(entries, num, sizeof entries[0], compare);
        assert_int_equal(order_of(&clay, &product, order), num);
        for (unsigned j = 0; j < num; j++)
            assert_int_equal(order[j], entries[j].recipe);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_time_comes_first),
        cmocka_unit_test(without_a_time_the_bundle_decides),
        cmocka_unit_test(what_is_left_out_takes_no_place),
        cmocka_unit_test(ties_go_by_the_bundle),
        cmocka_unit_test(a_pin_comes_first),
        cmocka_unit_test(pins_are_for_one_pair),
        cmocka_unit_test(only_what_takes_the_extents_is_ranked),
        cmocka_unit_test(the_prediction_decides),
        cmocka_unit_test(short_kernels_wait_for_the_host),
        cmocka_unit_test(rows_that_meet_count_on_cpus),
        cmocka_unit_test(far_operands_count_on_cpus),
        cmocka_unit_test(batches_list_each_once),
    };
    return cmocka_run_group_tests_name("rank", tests, NULL, NULL);
}
