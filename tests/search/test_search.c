/* test_search.c: what every search strategy promises, generator/search. */
#include "search/search.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_PROPOSALS = 4000 };

/* ---- Spaces ---- */

static const unsigned small_values[] = { 4, 5, 1, 3 };
static const unsigned large_values[] = { 8, 8, 8, 8, 8, 8 };

static bool all_legal(void *env, const struct point *point)
{
    (void) env;
    (void) point;
    return true;
}

static bool some_legal(void *env, const struct point *point)
{
    (void) env;
    return (point->at[0] + point->at[1] + point->at[3]) % 3 != 0;
}

static bool none_legal(void *env, const struct point *point)
{
    (void) env;
    (void) point;
    return false;
}

static const struct search_space small_space = {
    .num_params = 4, .num_values = small_values, .legal = some_legal
};
static const struct search_space large_space = {
    .num_params = 6, .num_values = large_values, .legal = all_legal
};

/* A bowl whose parameters depend on each other a little; 1 at its bottom. */
static double bowl(const struct point *point, const unsigned char bottom[6])
{
    double sum = 1;
    for (int i = 0; i < 6; i++) {
        const double d = (double) point->at[i] - bottom[i];
        const double next = (double) point->at[(i + 1) % 6] - bottom[(i + 1) % 6];
        sum += d * d + 0.5 * d * next;
    }
    return sum;
}

/* What a strategy proposes when it is told these costs. Returns how many points. */
static size_t propose_all(const struct search_strategy *strategy, const struct search_space *space,
        uint64_t seed, bool fails, size_t most, struct point *points)
{
    static const unsigned char bottom[6] = { 3, 1, 0, 2, 5, 4 };
    struct search search;
    size_t num = 0;
    assert_true(search_init(&search, strategy, space, seed));
    while (num < most && search_propose(&search, &points[num])) {
        search_observe(&search, &points[num], fails ? HUGE_VAL : bowl(&points[num], bottom));
        num++;
    }
    assert_int_equal(search.num_tried, num);
    search_free(&search);
    return num;
}

static bool same(const struct point *a, const struct point *b)
{
    return !memcmp(a, b, sizeof *a);
}

static void check_legal_and_new(const struct search_space *space, const struct point *points,
        size_t num)
{
    for (size_t i = 0; i < num; i++) {
        for (unsigned p = 0; p < space->num_params; p++)
            assert_true(points[i].at[p] < space->num_values[p]);
        assert_true(space->legal(space->env, &points[i]));
        for (size_t j = 0; j < i; j++)
            if (same(&points[i], &points[j]))
                fail_msg("proposal %zu repeats %zu", i, j);
    }
}

/* ---- Every strategy ---- */

static struct point points[MAX_PROPOSALS], others[MAX_PROPOSALS];

static size_t count_legal(const struct search_space *space)
{
    size_t size = 1, num = 0;
    for (unsigned p = 0; p < space->num_params; p++)
        size *= space->num_values[p];
    for (size_t i = 0; i < size; i++) {
        struct point point = { { 0 } };
        size_t rest = i;
        for (unsigned p = 0; p < space->num_params; p++) {
            point.at[p] = (unsigned char) (rest % space->num_values[p]);
            rest /= space->num_values[p];
        }
        num += space->legal(space->env, &point);
    }
    return num;
}

static void small_spaces_are_exhausted(void **state)
{
    (void) state;
    const size_t legal = count_legal(&small_space);
    assert_int_equal(legal, 40);
    for (size_t s = 0; s < num_search_strategies; s++)
        for (int fails = 0; fails < 2; fails++) {
            const size_t num = propose_all(search_strategies[s], &small_space, 5, fails,
                    MAX_PROPOSALS, points);
            if (num != legal)
                fail_msg("%s: %zu of %zu points", search_strategies[s]->name, num, legal);
            check_legal_and_new(&small_space, points, num);
        }
}

static void nothing_legal_is_no_proposal(void **state)
{
    (void) state;
    struct search_space space = small_space;
    space.legal = none_legal;
    for (size_t s = 0; s < num_search_strategies; s++)
        assert_int_equal(propose_all(search_strategies[s], &space, 1, false, 10, points), 0);
}

/* The genetic search alone ends by itself before the space does. */
static bool may_end_early(const struct search_strategy *strategy)
{
    return !strcmp(strategy->name, "genetic");
}

static void large_spaces_are_never_repeated(void **state)
{
    (void) state;
    for (size_t s = 0; s < num_search_strategies; s++) {
        const size_t num = propose_all(search_strategies[s], &large_space, 9, false, MAX_PROPOSALS,
                points);
        assert_true(num == MAX_PROPOSALS || (num >= 100 && may_end_early(search_strategies[s])));
        check_legal_and_new(&large_space, points, num);
    }
}

static void seeds_are_repeatable(void **state)
{
    (void) state;
    for (size_t s = 0; s < num_search_strategies; s++) {
        const struct search_strategy *strategy = search_strategies[s];
        const size_t num = propose_all(strategy, &large_space, 42, false, 500, points);
        assert_true(num == 500 || may_end_early(strategy));
        assert_int_equal(propose_all(strategy, &large_space, 42, false, 500, others), num);
        assert_memory_equal(points, others, num * sizeof points[0]);
        propose_all(strategy, &large_space, 43, false, 500, others);
        if (strcmp(strategy->name, "exhaustive"))
            assert_memory_not_equal(points, others, num * sizeof points[0]);
    }
}

/* Costs may be told a few proposals late: then, too, nothing is proposed twice, and a small space
 * is gone through. */
static void costs_may_come_late(void **state)
{
    enum { LATE = 3, MOST = 200 };
    static const unsigned char bottom[6] = { 3, 1, 0, 2, 5, 4 };
    (void) state;
    for (size_t s = 0; s < num_search_strategies; s++)
        for (int small = 0; small < 2; small++) {
            const struct search_space *space = small ? &small_space : &large_space;
            struct search search;
            size_t num = 0, told = 0;
            assert_true(search_init(&search, search_strategies[s], space, 5));
            while (num < MOST && search_propose(&search, &points[num]))
                if (++num > LATE) {
                    search_observe(&search, &points[told], bowl(&points[told], bottom));
                    told++;
                }
            for (; told < num; told++)
                search_observe(&search, &points[told], bowl(&points[told], bottom));
            check_legal_and_new(space, points, num);
            if (search_strategies[s] != search_find("genetic")) /* which may end */
                assert_int_equal(num, small ? count_legal(space) : MOST);
            search_free(&search);
        }
}

static void the_best_is_remembered(void **state)
{
    (void) state;
    for (size_t s = 0; s < num_search_strategies; s++) {
        struct search search;
        struct point point;
        double best = HUGE_VAL;
        assert_true(search_init(&search, search_strategies[s], &large_space, 3));
        assert_true(search.best_cost == HUGE_VAL);
        for (int i = 0; i < 300; i++) {
            assert_true(search_propose(&search, &point));
            const double cost = i % 3 ? 1000.0 - i % 7 * i : HUGE_VAL;
            search_observe(&search, &point, cost);
            best = fmin(best, cost);
            assert_true(search.best_cost == best);
        }
        search_free(&search);
    }
}

static void strategies_are_found_by_name(void **state)
{
    (void) state;
    for (size_t s = 0; s < num_search_strategies; s++) {
        assert_ptr_equal(search_find(search_strategies[s]->name), search_strategies[s]);
        assert_true(search_strategies[s]->meaning[0]);
    }
    assert_null(search_find("clairvoyant"));
}

/* ---- One each ---- */

static void exhaustive_goes_in_order(void **state)
{
    (void) state;
    const struct point expected[] = {
        { { 0 } },
        { { 0, 0, 0, 0, 0, 1 } },
        { { 0, 0, 0, 0, 0, 2 } },
    };
    assert_int_equal(propose_all(search_find("exhaustive"), &large_space, 1, false, 3, points), 3);
    assert_memory_equal(points, expected, sizeof expected);
}

/* The start's points come first and in order; illegal ones and repetitions are left out. */
static void guided_tries_its_start_first(void **state)
{
    (void) state;
    const struct point start[] = {
        { { 1, 1, 0, 0 } },
        { { 0, 0, 0, 0 } },
        { { 3, 4, 0, 0 } },
        { { 1, 1, 0, 0 } },
        { { 2, 2, 0, 1 } },
    };
    struct search_space space = small_space;
    space.start = start;
    space.num_start = 5;
    assert_int_equal(propose_all(search_find("guided"), &space, 1, true, 40, points), 40);
    assert_true(same(&points[0], &start[0]));
    assert_true(same(&points[1], &start[2]));
    assert_true(same(&points[2], &start[4]));
    check_legal_and_new(&space, points, 40);
}

/* How many points a strategy needs until it proposes the cheapest, at most `most`. */
static size_t cost_of_finding(const char *name, uint64_t seed, size_t most)
{
    const uint64_t bits = seed * 0x9e3779b97f4a7c15u;
    unsigned char bottom[6];
    struct search search;
    struct point point;
    size_t num = 0;
    for (int i = 0; i < 6; i++)
        bottom[i] = bits >> (20 + 3 * i) & 7;
    assert_true(search_init(&search, search_find(name), &large_space, seed));
    while (search.best_cost > 1 && num < most && search_propose(&search, &point)) {
        search_observe(&search, &point, bowl(&point, bottom));
        num++;
    }
    search_free(&search);
    return num;
}

static void diverse_is_a_third_of_the_parameters(void **state)
{
    (void) state;
    const struct point known[] = { { { 1, 1, 1, 1, 1, 1 } }, { { 5, 5, 5, 5, 5, 5 } } };
    const struct point near = { { 1, 1, 1, 1, 1, 2 } }, far = { { 1, 1, 1, 1, 3, 2 } };
    assert_false(search_is_diverse(known, 2, &near, 6));
    assert_true(search_is_diverse(known, 2, &far, 6));
    assert_false(search_is_diverse(known, 2, &known[1], 6));
    assert_true(search_is_diverse(known, 1, &known[1], 6));
    assert_true(search_is_diverse(known, 0, &near, 6));
    assert_false(search_is_diverse(known, 1, &near, 2));
    assert_false(search_is_diverse(known, 1, &far, 1));
}

static void guided_beats_random_where_costs_are_smooth(void **state)
{
    (void) state;
    enum { SEEDS = 10, MOST = 20000 };
    size_t guided = 0, by_chance = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        guided += cost_of_finding("guided", seed, MOST);
        by_chance += cost_of_finding("random", seed, MOST);
    }
    print_message("points until the optimum: guided %zu, random more than %zu\n", guided / SEEDS,
            by_chance / SEEDS);
    assert_true(guided * 4 < by_chance);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_spaces_are_exhausted),
        cmocka_unit_test(nothing_legal_is_no_proposal),
        cmocka_unit_test(large_spaces_are_never_repeated),
        cmocka_unit_test(seeds_are_repeatable),
        cmocka_unit_test(costs_may_come_late),
        cmocka_unit_test(the_best_is_remembered),
        cmocka_unit_test(strategies_are_found_by_name),
        cmocka_unit_test(exhaustive_goes_in_order),
        cmocka_unit_test(guided_tries_its_start_first),
        cmocka_unit_test(diverse_is_a_third_of_the_parameters),
        cmocka_unit_test(guided_beats_random_where_costs_are_smooth),
    };
    return cmocka_run_group_tests_name("search", tests, NULL, NULL);
}
