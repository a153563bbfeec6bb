/* test_recent.c: orders of recipes that are remembered by shape. What is recalled must be what
 * would be found anew, whoever writes in the meantime. The thread sanitizer runs the same test. */
#include "fixture.h"

#include "internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { NUM_RECIPES = 10, NUM_THREADS = 8, NUM_ROUNDS = 100000, NUM_CROWDED = 7, NUM_SHAPES = 200 };

/* Recipes of which each takes other extents, and is fastest at others. */
struct world {
    struct kiln_time times[NUM_RECIPES];
    struct kiln_recipe recipes[NUM_RECIPES];
    struct kiln_bundle bundle;
    struct kiln_recent *recent;
};

static void world_make(struct world *world)
{
    memset(world, 0, sizeof *world);
    for (unsigned i = 0; i < NUM_RECIPES; i++) {
        float *coefficient = world->times[i].coefficient;
        coefficient[KILN_TERM_CALL] = (float) (i * 5 % 7) * 100000;
        coefficient[KILN_TERM_DEPTH] = (float) (i * 3 % 11) * 1000;
        coefficient[KILN_TERM_RAGGED_C] = (float) (i * 7 % 5) * 1000;
        world->recipes[i] = tuned_recipes[TUNED_SMALL];
        world->recipes[i].time = i < NUM_RECIPES - 1 ? &world->times[i] : NULL;
        world->recipes[i].guard.m = i % 5;
    }
    world->bundle = tuned_bundle;
    world->bundle.recipes = world->recipes;
    world->bundle.num_recipes = NUM_RECIPES;
    world->recent = calloc(KILN_NUM_RECENT, sizeof *world->recent);
    assert_non_null(world->recent);
}

static struct kiln_product shape_of(unsigned number)
{
    struct kiln_product product = kiln_product_dense(KILN_SINGLE, 4, 0, 0, 1 + number % 12, 16,
            1 + number / 12 * 37);
    product.c.offset = number % 3 == 0;
    return product;
}

/* The order of one shape that is noted under a key. */
static void note(struct world *world, const struct kiln_recent_key *key, unsigned first,
        unsigned num)
{
    struct kiln_rank ranks[KILN_RANKED] = { { 0 } };
    for (unsigned i = 0; i < num; i++) {
        ranks[i].recipe = first + i;
    }
    kiln_recent_note(world->recent, key, ranks, num);
}

static void check_recalled(struct world *world, const struct kiln_recent_key *key, unsigned first,
        unsigned num)
{
    uint16_t recipes[KILN_RANKED];
    assert_int_equal(kiln_recent_recall(world->recent, key, recipes), num);
    for (unsigned i = 0; i < num; i++) {
        assert_int_equal(recipes[i], first + i);
    }
}

static void what_was_noted_is_recalled(void **state)
{
    struct world world;
    (void) state;
    world_make(&world);
    const struct kiln_product product = shape_of(5);
    const struct kiln_recent_key key = kiln_recent_key(1, &product);
    check_recalled(&world, &key, 0, 0);
    for (unsigned num = 1; num <= KILN_RANKED; num++) {
        note(&world, &key, 65534 - num, num);
        check_recalled(&world, &key, 65534 - num, num);
        check_recalled(&world, &key, 65534 - num, num);
    }
    note(&world, &key, 3, 1); /* of what was there, the rest does not come back */
    check_recalled(&world, &key, 3, 1);
    free(world.recent);
}

/* Each field that the order depends on is in the key; what it does not depend on is not. */
static void another_problem_is_not_recalled(void **state)
{
    struct world world;
    const struct kiln_product product = kiln_product_dense(KILN_SINGLE, 4, 0, 0, 64, 65, 66);
    struct kiln_product others[18];
    unsigned num = 0;
    (void) state;
    world_make(&world);
    for (unsigned i = 0; i < 18; i++) {
        others[i] = product;
    }
    others[num++].m++;
    others[num++].n++;
    others[num++].k++;
    others[num].m = product.n;
    others[num++].n = product.m;
    others[num++].m += (size_t) 1 << 31 << (sizeof(size_t) > 4 ? 10 : 0);
    others[num++].transa = 1;
    others[num++].transb = 1;
    others[num++].precision = KILN_HALF;
    others[num++].precision = KILN_DOUBLE;
    others[num++].a.ld = 68; /* aligned, as 65 and 66 floats are not */
    others[num++].b.ld = 68;
    others[num++].a.ld = 80; /* not ragged either */
    others[num++].b.ld = 80;
    others[num++].c.ld = 80;
    others[num++].batch_count = 9;
    others[num++].one_by_one = true;
    const struct kiln_recent_key key = kiln_recent_key(0, &product);
    note(&world, &key, 1, 4);
    for (unsigned i = 0; i < num; i++) {
        const struct kiln_recent_key other = kiln_recent_key(0, &others[i]);
        check_recalled(&world, &other, 0, 0);
    }
    for (unsigned link = 1; link < KILN_MAX_LINKS; link++) {
        const struct kiln_recent_key other = kiln_recent_key(link, &product);
        check_recalled(&world, &other, 0, 0);
    }
    struct kiln_product same = product;
    same.a.ld = 1001;
    same.b.offset = 3;
    same.c.ld = 67;
    same.c.offset = 1;
    const struct kiln_recent_key alike = kiln_recent_key(0, &same);
    check_recalled(&world, &alike, 1, 4);
    free(world.recent);
}

/* The keys of all combinations differ. */
static void no_two_kinds_have_one_key(void **state)
{
    static const unsigned precisions[][2] = {
        { KILN_HALF },
        { KILN_DOUBLE },
        { KILN_COMPLEX_SINGLE, KILN_SINGLE },
        { KILN_COMPLEX_SINGLE, KILN_EMULATED },
    };
    enum { NUM = 4 * 32 * KILN_MAX_LINKS * 6 };
    size_t seen[NUM];
    (void) state;
    for (unsigned i = 0; i < NUM; i++) {
        struct kiln_product product = kiln_product_dense(precisions[i % 4][0], 4, i / 4 & 1,
                i / 8 & 1, 64, 64, 64);
        product.real_precision = precisions[i % 4][1];
        product.a.offset = i / 16 & 1;
        product.b.offset = i / 32 & 1;
        product.c.offset = i / 64 & 1;
        product.triangle = (int) (i / 128 / KILN_MAX_LINKS % 3) - 1;
        product.routine = i / 128 / KILN_MAX_LINKS / 3;
        seen[i] = kiln_recent_key(i / 128 % KILN_MAX_LINKS, &product).part[KILN_RECENT_KEYS - 1];
        for (unsigned j = 0; j < i; j++) {
            assert_true(seen[i] != seen[j]);
        }
    }
}

static struct kiln_recent *place_noted(struct world *world)
{
    for (unsigned i = 0; i < KILN_NUM_RECENT; i++) {
        if (__atomic_load_n(&world->recent[i].num, __ATOMIC_SEQ_CST) != 0) {
            return &world->recent[i];
        }
    }
    fail_msg("nothing was noted");
    return NULL;
}

/* While its version is odd, a place is another writer's. */
static void a_place_being_written_is_left_alone(void **state)
{
    struct world world;
    (void) state;
    world_make(&world);
    const struct kiln_product product = shape_of(7);
    const struct kiln_recent_key key = kiln_recent_key(0, &product);
    note(&world, &key, 2, 3);
    struct kiln_recent *place = place_noted(&world);
    const size_t version = __atomic_load_n(&place->version, __ATOMIC_SEQ_CST);
    assert_int_equal(version % 2, 0);
    __atomic_store_n(&place->version, version + 1, __ATOMIC_SEQ_CST);
    check_recalled(&world, &key, 0, 0);
    note(&world, &key, 4, 2);
    assert_int_equal(__atomic_load_n(&place->version, __ATOMIC_SEQ_CST), version + 1);
    check_recalled(&world, &key, 0, 0);
    __atomic_store_n(&place->version, version + 2, __ATOMIC_SEQ_CST);
    check_recalled(&world, &key, 2, 3);
    note(&world, &key, 4, 2);
    check_recalled(&world, &key, 4, 2);
    free(world.recent);
}

/* Of two shapes with one place, the later one has it. */
static void a_place_holds_one_shape(void **state)
{
    struct world world;
    (void) state;
    world_make(&world);
    const struct kiln_product product = shape_of(0);
    const struct kiln_recent_key key = kiln_recent_key(0, &product);
    note(&world, &key, 1, 2);
    struct kiln_recent *place = place_noted(&world);
    unsigned others = 0;
    for (unsigned i = 1; i < 20 * KILN_NUM_RECENT; i++) {
        const struct kiln_product other = kiln_product_dense(KILN_SINGLE, 4, 0, 0, i, 2 * i, 3);
        const struct kiln_recent_key other_key = kiln_recent_key(0, &other);
        const size_t version = __atomic_load_n(&place->version, __ATOMIC_SEQ_CST);
        note(&world, &other_key, 3, 1);
        check_recalled(&world, &other_key, 3, 1);
        if (__atomic_load_n(&place->version, __ATOMIC_SEQ_CST) != version) {
            others++;
            check_recalled(&world, &key, 0, 0);
            note(&world, &key, 1, 2);
            check_recalled(&world, &other_key, 0, 0);
        }
        check_recalled(&world, &key, 1, 2);
    }
    assert_in_range(others, 1, 10 * 20); /* spread about evenly: 20 are to be expected */
    free(world.recent);
}

/* ---- Threads ---- */

/* Shapes, those first that share one place, and their orders. */
struct orders {
    struct kiln_recent_key keys[NUM_SHAPES];
    struct kiln_rank ranks[NUM_SHAPES][KILN_RANKED];
    unsigned num[NUM_SHAPES];
};

struct worker {
    struct kiln_recent *recent;
    const struct orders *orders;
    unsigned number, recalled, wrong;
    pthread_t thread;
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    const struct orders *orders = worker->orders;
    for (unsigned i = 0; i < NUM_ROUNDS; i++) {
        /* Most of the time all are at the one place, where half of them write. */
        const unsigned step = i * (2 * worker->number + 1) / 3;
        const unsigned shape = step % (i % 8 != 0 ? NUM_CROWDED : NUM_SHAPES);
        const struct kiln_rank *ranks = orders->ranks[shape];
        uint16_t recipes[KILN_RANKED];
        const unsigned found = kiln_recent_recall(worker->recent, &orders->keys[shape], recipes);
        worker->recalled += found != 0;
        worker->wrong += found != 0 && found != orders->num[shape];
        for (unsigned j = 0; j < found; j++) {
            worker->wrong += recipes[j] != ranks[j].recipe;
        }
        if (found == 0 || worker->number % 2 == 0) {
            kiln_recent_note(worker->recent, &orders->keys[shape], ranks, orders->num[shape]);
        }
    }
    return NULL;
}

/* Finds shapes whose place is that of the first one, and as many others. */
static void orders_make(struct world *world, struct orders *orders)
{
    unsigned crowded = 0, others = NUM_CROWDED;
    struct kiln_recent *place = NULL;
    for (unsigned i = 0; crowded < NUM_CROWDED || others < NUM_SHAPES; i++) {
        const struct kiln_product product = shape_of(i);
        const struct kiln_recent_key key = kiln_recent_key(0, &product);
        const size_t version = place != NULL ? __atomic_load_n(&place->version, __ATOMIC_SEQ_CST)
                                             : 0;
        note(world, &key, 0, 1);
        place = place != NULL ? place : place_noted(world);
        const bool is_there = __atomic_load_n(&place->version, __ATOMIC_SEQ_CST) != version;
        if (is_there ? crowded == NUM_CROWDED : others == NUM_SHAPES) {
            continue;
        }
        const unsigned at = is_there ? crowded++ : others++;
        orders->keys[at] = key;
        orders->num[at] = kiln_rank(&world->bundle, NULL, &product, 4, NULL, orders->ranks[at]);
        assert_true(orders->num[at] > 0);
    }
    free(world->recent); /* forgets what was noted to find them */
    world->recent = calloc(KILN_NUM_RECENT, sizeof *world->recent);
    assert_non_null(world->recent);
}

static void what_threads_recall_is_the_order(void **state)
{
    static struct orders orders;
    struct world world;
    struct worker workers[NUM_THREADS];
    unsigned recalled = 0, wrong = 0;
    (void) state;
    world_make(&world);
    orders_make(&world, &orders);
    for (unsigned i = 0; i < NUM_THREADS; i++) {
        workers[i] = (struct worker){ .recent = world.recent, .orders = &orders, .number = i };
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < NUM_THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        wrong += workers[i].wrong;
        recalled += workers[i].recalled;
    }
    assert_int_equal(wrong, 0);
    assert_true(recalled > 0);
    for (unsigned i = 0; i < KILN_NUM_RECENT; i++) {
        assert_int_equal(__atomic_load_n(&world.recent[i].version, __ATOMIC_SEQ_CST) % 2, 0);
    }
    free(world.recent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_noted_is_recalled),
        cmocka_unit_test(another_problem_is_not_recalled),
        cmocka_unit_test(no_two_kinds_have_one_key),
        cmocka_unit_test(a_place_being_written_is_left_alone),
        cmocka_unit_test(a_place_holds_one_shape),
        cmocka_unit_test(what_threads_recall_is_the_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
