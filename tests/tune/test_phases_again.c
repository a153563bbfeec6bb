/* test_phases_again.c: runs that end early, go on or are one shard of several; and what is built
 * ahead. With made-up times in place of a device. */
#include "phases_world.h"
#include "finals.h"
#include "result.h"

extern const struct kiln_bundle *const kiln_linked_bundles[];
const struct kiln_bundle *const kiln_linked_bundles[] = { NULL };

/* ---- Budgets and ends ---- */

static void budgets_hold(void **state)
{
    (void) state;
    for (int strict = 0; strict < 2; strict++)
        for (double seconds = 4; seconds < 20; seconds *= 4) {
            make_kin(seconds);
            tuner.is_strict = strict; /* then every evaluation's limit counts */
            run_made(seconds);
            assert_true(tuner.spent < seconds + 1);
            assert_true(is_verified(&tuner.records.rows[first_row(RECORD_EDGES)].config,
                    tuner.records.num));
        }
}

static void what_was_interrupted_can_ship(void **state)
{
    static const size_t ends[] = { 3, 40, 200, 1500 };
    static struct winners winners;
    char error[FAMILY_ERROR_BYTES];
    (void) state;
    for (size_t e = 0; e < sizeof ends / sizeof ends[0]; e++) {
        is_cpu = e > 0; /* there nothing is timed as early */
        make_kin(60);
        stop = 0;
        stop_after = ends[e];
        assert_false(run_made(60));
        assert_true(stop);
        stop = 0;
        stop_after = 0;
        assert_true(phases_finish(&tuner, precision_find("single")));
        assert_true(select_within(&tuner.records, "some", NULL, &winners, error));
        assert_true(winners.num_recipes > 0);
    }
}

/* One that has used its part of the budget was not interrupted, even with nothing to ship. */
static void only_what_was_cut_short_is_called_interrupted(void **state)
{
    char why[FAMILY_ERROR_BYTES];
    (void) state;
    make_tuner(search_find("random"), 40);
    tuner.facts.value[FACT_HAS_DOUBLE] = 1;
    outcome = "late";
    assert_true(run_made(20));
    outcome = "ok";
    stop_after = tuner.records.num + 3;
    assert_false(phases_run(&tuner, precision_find("double"), 20));
    tuner.is_interrupted = true;
    result_why(&tuner, precision_find("single"), why);
    assert_non_null(strstr(why, "the budget ended before"));
    result_why(&tuner, precision_find("double"), why);
    assert_non_null(strstr(why, "interrupted before"));
    result_why(&tuner, precision_find("half"), why);
    assert_string_equal(why, "interrupted before it began");
}

static void generic_that_wins_is_verified(void **state)
{
    struct config generic;
    (void) state;
    is_late_winner = true;
    make_kin(60);
    tuner.generic = list_generic;
    list_generic(NULL, NULL, NULL, &generic, 1);
    assert_true(run_made(60));
    assert_true(is_verified(&generic, tuner.records.num));
    assert_false(is_verified(&generic, first_row(RECORD_MATRIX)));
    assert_true(count_rows(RECORD_MATRIX, &generic) > 0);
}

/* ---- Again ---- */

static struct record *copy_rows(size_t num)
{
    struct record *rows = calloc(num + 1, sizeof *rows);
    assert_non_null(rows);
    memcpy(rows, tuner.records.rows, num * sizeof *rows);
    return rows;
}

/* The tuner with the first so many rows of an earlier run, none of them used yet. */
static void make_again(const struct record *rows, size_t num, double seconds)
{
    make_kin(seconds);
    for (size_t i = 0; i < num; i++) {
        struct record row = rows[i];
        row.used = false;
        assert_true(records_add(&tuner.records, &row));
    }
}

/* Shapes where a finalist was left out that was timed at others. */
static unsigned count_pruned(const struct config *config)
{
    unsigned num = 0;
    for (size_t i = 0; i < tuner.records.num; i++)
        num += tuner.records.rows[i].kind == RECORD_MATRIX && !is_repeated(i);
    return num - count_rows(RECORD_MATRIX, config);
}

static void a_finalist_far_behind_is_left_out(void **state)
{
    enum { FITTED_FROM = 12 };
    unsigned shapes = 0, timed = 0;
    (void) state;
    is_behind = true;
    make_kin(60);
    assert_true(run_made(60));
    for (size_t i = 0; i < tuner.records.num && shapes <= FITTED_FROM; i++) {
        const struct record *r = &tuner.records.rows[i];
        shapes += r->kind == RECORD_MATRIX && !is_repeated(i);
        timed += shapes <= FITTED_FROM && r->kind == RECORD_MATRIX &&
                 config_equal(&r->config, &kin[1]);
    }
    assert_int_equal(timed, FITTED_FROM); /* as long as nothing is known */
    assert_in_range(count_pruned(&kin[1]), 1, count_tasks(RECORD_MATRIX) - FITTED_FROM);
    /* At held-out shapes it must be far behind indeed. */
    const unsigned held = count_rows(RECORD_HELD, &kin[1]), all = count_tasks(RECORD_HELD);
    assert_in_range(held, 1, all);
    assert_true(held * count_tasks(RECORD_MATRIX) > count_rows(RECORD_MATRIX, &kin[1]) * all);
}

/* The second of two finalists, as fast as the first one or a tenth, is timed at some shapes of the
 * matrix and left out at others; which it is at, when those are gone through once more. */
static unsigned count_filled(bool is_slow)
{
    enum { SHAPES = 30, TIMED = 16 };
    is_flat = true;
    is_cpu = false;
    slow_family = is_slow ? "direct" : NULL;
    make_kin(1000);
    struct phases phases = { .tuner = &tuner,
        .precision = precision_find("single"),
        .seconds = 1000,
        .rate = 1e9,
        .finalists = { kin[0], kin[1] },
        .num_finalists = 2 };
    struct draw draw = finals_draw(&phases, "tune");
    struct record results[2];
    for (int pair = 0; pair < NUM_PAIRS; pair++) {
        const struct problem problem = problem_of_pair(phases.precision, pair);
        assert_true(tuner_evaluate(&tuner, RECORD_EDGES, &problem, (struct shape){ 0, 0, 0 }, kin,
                2, 0, results));
    }
    for (unsigned i = 0; i < SHAPES; i++) {
        struct drawn drawn;
        assert_true(draw_shape(&draw, &drawn));
        const struct problem problem = problem_of_pair(phases.precision, finals_pair(i));
        assert_true(tuner_evaluate(&tuner, RECORD_MATRIX, &problem,
                (struct shape){ drawn.m, drawn.n, drawn.k }, kin, i < TIMED ? 2 : 1, 0, results));
    }
    assert_int_equal(count_rows(RECORD_MATRIX, &kin[1]), TIMED);
    assert_true(finals_fill(&phases, "tune", 2 * SHAPES, 1));
    assert_int_equal(count_tasks(RECORD_MATRIX), SHAPES); /* none that was not there */
    return count_rows(RECORD_MATRIX, &kin[1]) - TIMED;
}

static void who_was_left_out_and_may_be_best_is_timed(void **state)
{
    (void) state;
    assert_int_equal(count_filled(false), 14);
    assert_int_equal(count_filled(true), 0);
}

/* The times for a task by the kind of row: the fastest, the slowest, how many. */
struct range {
    double fastest, slowest;
    unsigned num;
};

static struct range range_of(enum record_kind kind, const struct record *task)
{
    struct range range = { .fastest = 1e9 };
    for (size_t i = 0; i < tuner.records.num; i++) {
        const struct record *r = &tuner.records.rows[i];
        if (r->kind != kind || !same_task(r, task))
            continue;
        range.num++;
        range.fastest = r->seconds < range.fastest ? r->seconds : range.fastest;
        range.slowest = r->seconds > range.slowest ? r->seconds : range.slowest;
    }
    return range;
}

/* At held-out shapes, the fastest and what is predicted to be. */
static void the_fastest_are_timed_again(void **state)
{
    unsigned fewer = 0;
    (void) state;
    make_kin(60);
    assert_true(run_made(60));
    assert_in_range(count_tasks(RECORD_AGAIN), DRAW_NUM_CLASSES, count_tasks(RECORD_HELD));
    for (size_t i = 0; i < tuner.records.num; i++) {
        const struct record *r = &tuner.records.rows[i];
        if (r->kind != RECORD_AGAIN || is_repeated(i))
            continue;
        const struct range held = range_of(RECORD_HELD, r), again = range_of(RECORD_AGAIN, r);
        assert_in_range(again.num, 2, 4);
        assert_true(again.fastest == held.fastest);
        fewer += again.num < held.num && again.slowest < held.slowest;
    }
    assert_true(fewer > 0);
}

static void a_replay_evaluates_nothing(void **state)
{
    (void) state;
    is_uneven = true;
    make_kin(30);
    assert_true(run_made(30));
    const size_t num = tuner.records.num;
    struct record *rows = copy_rows(num);
    const double spent = tuner.spent;
    make_again(rows, num, 30);
    is_replay = true;
    assert_true(run_made(30));
    assert_int_equal(num_missed, 0);
    assert_int_equal(tuner.records.num, num);
    for (size_t i = 0; i < num; i++)
        assert_true(tuner.records.rows[i].used);
    assert_true(fabs(tuner.spent - spent) < 1e-6);
    free(rows);
}

/* From wherever it was stopped, what is evaluated is what would have been. */
static void a_resumed_run_evaluates_the_same(void **state)
{
    static const unsigned parts[] = { 1, 6, 9 }; /* of 10 */
    (void) state;
    is_uneven = true;
    make_kin(30);
    assert_true(run_made(30));
    assert_true(count_pruned(&kin[1]) > 0);
    const size_t num = tuner.records.num;
    struct record *rows = copy_rows(num);
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
        make_again(rows, num * parts[p] / 10, 30);
        assert_true(run_made(30));
        assert_int_equal(tuner.records.num, num);
        for (size_t i = 0; i < num; i++)
            assert_true(record_same_evaluation(&tuner.records.rows[i], &rows[i]));
    }
    free(rows);
}

/* ---- Shards ---- */

/* Runs one shard of two; returns a copy of its rows, freed by the caller. */
static struct record *run_shard(unsigned index, double seconds, size_t *num)
{
    make_kin(seconds);
    tuner.records.head.shard = (struct shard){ .index = index, .num = 2 };
    assert_true(run_made(seconds));
    *num = tuner.records.num;
    return copy_rows(*num);
}

/* Shards need not have the same time to search at the same shapes. */
static void a_shard_only_searches(void **state)
{
    size_t num[2];
    (void) state;
    struct record *rows[2] = { run_shard(1, 10, &num[0]), run_shard(2, 9.3, &num[1]) };
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < num[s]; i++) {
            bool is_there = false;
            assert_int_equal(rows[s][i].kind, RECORD_SEARCH);
            for (size_t j = 0; j < num[1 - s]; j++) {
                is_there = is_there || same_task(&rows[s][i], &rows[1 - s][j]);
                assert_false(record_same_evaluation(&rows[s][i], &rows[1 - s][j]));
            }
            assert_true(is_there); /* all are searched by both */
        }
    free(rows[0]);
    free(rows[1]);
}

/* Shards do not know how fast the device is, and search at large shapes all the same. */
static void shards_search_at_large_shapes(void **state)
{
    size_t num;
    (void) state;
    is_cpu = false;
    struct record *rows = run_shard(1, 10, &num);
    const double most_of_one = most_operations();
    free(rows);
    make_tuner(search_find("guided"), 10);
    tuner.facts.value[FACT_UNITS] = 100;
    tuner.records.head.shard = (struct shard){ .index = 1, .num = 2 };
    assert_true(run_made(10));
    assert_true(most_operations() > 10 * most_of_one);
}

static void a_merged_run_does_not_search(void **state)
{
    size_t num[2];
    (void) state;
    struct record *rows[2] = { run_shard(1, 10, &num[0]), run_shard(2, 10, &num[1]) };
    make_again(rows[0], num[0], 20);
    for (size_t i = 0; i < num[1]; i++) {
        struct record row = rows[1][i];
        row.used = false;
        assert_true(records_add(&tuner.records, &row));
    }
    tuner.records.head.merged = 2;
    const unsigned searched = count_rows(RECORD_SEARCH, NULL);
    const unsigned tasks = count_tasks(RECORD_SEARCH);
    assert_true(run_made(20));
    assert_int_equal(count_rows(RECORD_SEARCH, NULL), searched);
    assert_int_equal(count_rows(RECORD_FIRST, NULL), 0);
    assert_int_equal(count_tasks(RECORD_LOOK), tasks);
    for (size_t i = 0; i < tuner.records.num; i++) {
        const struct record *r = &tuner.records.rows[i];
        bool was_searched = r->kind != RECORD_LOOK;
        for (size_t j = 0; j < searched && !was_searched; j++)
            was_searched = same_task(r, &tuner.records.rows[j]);
        assert_true(was_searched);
    }
    assert_true(count_rows(RECORD_EDGES, NULL) && count_rows(RECORD_MATRIX, NULL) &&
                count_rows(RECORD_HELD, NULL));
    free(rows[0]);
    free(rows[1]);
}

/* ---- Building ahead ---- */

static void a_cpu_is_told_of_nothing_ahead(void **state)
{
    (void) state;
    run_phases(search_find("guided"), 20);
    assert_int_equal(most_expected, 1);
    assert_int_equal(num_expected, 0);
}

/* Every strategy, as each must bear to hear of its points late; and again, for the same order. */
static void others_are_told_of_a_few(void **state)
{
    static struct record first[1000];
    size_t num = 0;
    (void) state;
    is_cpu = false;
    for (size_t s = 0; s < num_search_strategies; s++) {
        run_search(search_strategies[s], 4096, 2);
        assert_int_equal(most_expected, AHEAD + 1);
        assert_int_equal(num_expected, 0);
        for (num = 0; num < 1000 && num < tuner.records.num; num++)
            first[num] = tuner.records.rows[num];
        assert_true(num > 100);
        run_search(search_strategies[s], 4096, 2);
        assert_int_equal(tuner.records.num, num);
        for (size_t i = 0; i < num; i++)
            assert_true(record_same_evaluation(&first[i], &tuner.records.rows[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(budgets_hold),
        TEST(what_was_interrupted_can_ship),
        TEST(only_what_was_cut_short_is_called_interrupted),
        TEST(generic_that_wins_is_verified),
        TEST(a_finalist_far_behind_is_left_out),
        TEST(who_was_left_out_and_may_be_best_is_timed),
        TEST(the_fastest_are_timed_again),
        TEST(a_replay_evaluates_nothing),
        TEST(a_resumed_run_evaluates_the_same),
        TEST(a_shard_only_searches),
        TEST(shards_search_at_large_shapes),
        TEST(a_merged_run_does_not_search),
        TEST(a_cpu_is_told_of_nothing_ahead),
        TEST(others_are_told_of_a_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
