/* test_times.c: times as a table of problems by configurations, generator/core/times.c. */
#include "laws.h"
#include "fit.h"
#include "times.h"

#include <math.h>
#include <stdio.h>

static const struct precision *single(void)
{
    return precision_find("single");
}

static void open_times(const struct records *records, struct times *times)
{
    assert_true(times_open(records, single(), false, times));
}

static unsigned num_candidates(struct records *records)
{
    struct times times;
    open_times(records, &times);
    const unsigned num = times.num_candidates;
    times_free(&times);
    records_free(records);
    return num;
}

static const struct times_candidate *candidate_of(const struct times *times, int config)
{
    struct config wanted;
    char error[FAMILY_ERROR_BYTES];
    assert_true(config_parse(configs[config], &wanted, error));
    const int at = times_find(times, &wanted);
    return at < 0 ? NULL : &times->candidates[at];
}

/* ---- Candidates ---- */

static void candidates_passed_all_edges(void **state)
{
    struct records records;
    (void) state;
    begin(&records);
    assert_int_equal(num_candidates(&records), 0);
    for (unsigned failed = 0; failed < 16; failed++) {
        begin(&records);
        edges(&records, A, failed);
        assert_int_equal(num_candidates(&records), failed == 0);
    }
    for (int missing = 0; missing < NUM_PAIRS; missing++) {
        begin(&records);
        for (int pair = 0; pair < NUM_PAIRS; pair++)
            if (pair != missing)
                add(&records, RECORD_EDGES, "single", A, pair, 0, 0, 0, 0);
        assert_int_equal(num_candidates(&records), 0);
    }
    begin(&records); /* of another precision they do not count */
    for (int pair = 0; pair < NUM_PAIRS; pair++)
        add(&records, RECORD_EDGES, pair == 2 ? "half" : "single", A, pair, 0, 0, 0, 0);
    assert_int_equal(num_candidates(&records), 0);
    begin(&records); /* what was not measured may ship; each is there once */
    edges(&records, A, 0);
    edges(&records, B, 0);
    edges(&records, A, 0);
    assert_int_equal(num_candidates(&records), 2);
}

/* Wherever it was, and whatever else it passed. */
static void what_failed_anywhere_is_no_candidate(void **state)
{
    static const struct {
        const char *outcome;
        bool may_ship;
    } rows[] = {
        { "wrong", false },
        { "crash", false },
        { "timeout", false },
        { "build", true },
        { "late", true },
        { "slow", true },
    };
    (void) state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int kind = 0; kind < NUM_RECORD_KINDS; kind++) {
            struct records records;
            if (kind == RECORD_EDGES)
                continue;
            begin(&records);
            edges(&records, A, 0);
            add(&records, (enum record_kind) kind, "single", A, 1, 64, 64, 64, 0);
            strcpy(records.rows[records.num - 1].outcome, rows[i].outcome);
            assert_int_equal(num_candidates(&records), rows[i].may_ship);
        }
}

static void illegal_configurations_are_no_candidates(void **state)
{
    struct records records;
    (void) state;
    begin(&records);
    edges(&records, A, 0);
    edges(&records, B, 0);
    records.head.facts.value[FACT_VECTOR_BYTES] = 16; /* A's vectors are of 64 */
    assert_int_equal(num_candidates(&records), 1);
}

/* ---- Coefficients ---- */

/* Times of all kinds are fitted, but not those that are held out. */
static void held_times_are_not_fitted(void **state)
{
    const struct law law = { 5, 20 };
    (void) state;
    for (int kind = 0; kind < NUM_RECORD_KINDS; kind++) {
        struct records records;
        struct times times;
        if (kind == RECORD_EDGES)
            continue;
        begin(&records);
        edges(&records, A, 0);
        for (size_t size = 16; size <= 2048; size *= 2)
            add_law(&records, (enum record_kind) kind, A, size, size, size, law);
        open_times(&records, &times);
        assert_int_equal(times.num_candidates, 1);
        assert_int_equal(times.candidates[0].is_fitted,
                kind != RECORD_HELD && kind != RECORD_AGAIN);
        times_free(&times);
        records_free(&records);
    }
}

/* Of those that were timed again the second times count, whichever row comes first: A was lucky,
 * and B, which was not timed again, too. */
static void second_times_count(void **state)
{
    (void) state;
    for (int again_first = 0; again_first < 2; again_first++) {
        struct records records;
        struct times times;
        begin(&records);
        edges(&records, A, 0);
        edges(&records, B, 0);
        edges(&records, C, 0);
        add(&records, RECORD_HELD, "single", A, 0, 64, 64, 64, 1e-6);
        for (int i = 0; i < 2; i++)
            if (i == again_first) {
                add(&records, RECORD_HELD, "single", B, 0, 64, 64, 64, 0.5e-6);
                add(&records, RECORD_HELD, "single", C, 0, 64, 64, 64, 4e-6);
            } else {
                add(&records, RECORD_AGAIN, "single", A, 0, 64, 64, 64, 2e-6);
                add(&records, RECORD_AGAIN, "single", C, 0, 64, 64, 64, 3e-6);
            }
        open_times(&records, &times);
        assert_true(times_add(&records, RECORD_HELD, &times));
        assert_int_equal(times.num_tasks, 1);
        const struct times_task *task = &times.tasks[0];
        assert_true(task->best == 2e-6);
        assert_true(task->seconds[times_find(&times, &candidate_of(&times, A)->config)] == 2e-6);
        assert_true(task->seconds[times_find(&times, &candidate_of(&times, B)->config)] == 0.5e-6);
        assert_true(task->seconds[times_find(&times, &candidate_of(&times, C)->config)] == 3e-6);
        times_free(&times);
        records_free(&records);
    }
}

static void held_times_change_nothing(void **state)
{
    struct records records;
    struct times times;
    struct kiln_time without;
    (void) state;
    begin(&records);
    edges(&records, A, 0);
    add_squares(&records, A, (struct law){ 5, 20 });
    open_times(&records, &times);
    without = times.candidates[0].time;
    times_free(&times);
    for (size_t size = 20; size < 900; size += 20)
        add(&records, RECORD_HELD, "single", A, 0, size, size, size, 1);
    open_times(&records, &times);
    assert_memory_equal(&times.candidates[0].time, &without, sizeof without);
    times_free(&times);
    add(&records, RECORD_MATRIX, "single", A, 0, 900, 900, 900, 1);
    open_times(&records, &times);
    assert_memory_not_equal(&times.candidates[0].time, &without, sizeof without);
    times_free(&times);
    records_free(&records);
}

/* A failure is no time, nor is that of another precision or configuration. */
static void other_rows_are_not_fitted(void **state)
{
    struct records records;
    struct times times;
    (void) state;
    begin(&records);
    edges(&records, A, 0);
    edges(&records, B, 0);
    for (size_t i = 0; i < FIT_LEAST - 1; i++)
        add(&records, RECORD_MATRIX, "single", A, 0, 64 + i, 64, 64, 1e-6);
    add(&records, RECORD_MATRIX, "double", A, 0, 64, 64, 64, 1e-6);
    add(&records, RECORD_MATRIX, "single", A, 0, 80, 80, 80, 0);
    add(&records, RECORD_MATRIX, "single", A, 0, 81, 81, 81, 1e-6);
    strcpy(records.rows[records.num - 1].outcome, "build");
    for (size_t i = 0; i < FIT_LEAST; i++)
        add(&records, RECORD_MATRIX, "single", B, 3, 64 + i, 64, 64, 1e-6);
    open_times(&records, &times);
    assert_false(candidate_of(&times, A)->is_fitted);
    assert_true(candidate_of(&times, B)->is_fitted);
    assert_null(candidate_of(&times, C));
    times_free(&times);
    add(&records, RECORD_MATRIX, "single", A, 0, 1000, 64, 64, 1e-6);
    strcpy(records.rows[records.num - 1].outcome, "slow"); /* a time all the same */
    open_times(&records, &times);
    assert_true(candidate_of(&times, A)->is_fitted);
    times_free(&times);
    records_free(&records);
}

/* D was timed once. What its family takes elsewhere tells the rest: that D is slower than A by a
 * factor, not by a constant. */
static void a_family_tells_of_what_was_timed_once(void **state)
{
    const struct law law = { 5, 20 };
    struct records records;
    struct times times;
    (void) state;
    begin(&records);
    edges(&records, A, 0);
    edges(&records, D, 0);
    for (size_t size = 64; size <= 4096; size = size * 5 / 4)
        add_law(&records, RECORD_MATRIX, A, size, size, size, law);
    add(&records, RECORD_MATRIX, "single", D, 0, 2048, 2048, 2048,
            2 * law_seconds(law, 2048, 2048));
    open_times(&records, &times);
    const int a = times_find(&times, &candidate_of(&times, A)->config);
    const int d = times_find(&times, &candidate_of(&times, D)->config);
    assert_true(times.candidates[d].is_fitted);
    for (size_t size = 1500; size <= 4000; size += 500) {
        const double ratio =
                (double) times_predict(&times, d, 0, (struct shape){ size, size, size }) /
                (double) times_predict(&times, a, 0, (struct shape){ size, size, size });
        assert_true(ratio > 1.2 && ratio < 2.5);
    }
    times_free(&times);
    records_free(&records);
}

/* What an application's batch takes is no time to learn from; one among drawn shapes is. */
static void own_batches_tell_of_nothing_else(void **state)
{
    static const enum record_kind kinds[] = { RECORD_SEARCH, RECORD_GENERIC, RECORD_OWN,
        RECORD_MATRIX };
    const struct law law = { 5, 20 };
    uint64_t before = 0;
    (void) state;
    for (size_t i = 0; i <= sizeof kinds / sizeof kinds[0]; i++) {
        struct records records;
        struct times times;
        begin(&records);
        edges(&records, A, 0);
        for (size_t size = 64; size <= 4096; size = size * 5 / 4)
            add_law(&records, RECORD_MATRIX, A, size, size, size, law);
        for (size_t n = 0; n < 20 && i > 0; n++) {
            add(&records, kinds[i - 1], "single", A, 0, 512, 512 + n, 512, 1e-9);
            records.rows[records.num - 1].batch = 100;
        }
        open_times(&records, &times);
        const int a = times_find(&times, &candidate_of(&times, A)->config);
        const uint64_t now = times_predict(&times, a, 0, (struct shape){ 1000, 1000, 1000 });
        if (i > 0 && (now == before) != (kinds[i - 1] != RECORD_MATRIX))
            fail_msg("%s", record_kind_words[kinds[i - 1]]);
        before = i > 0 ? before : now;
        times_free(&times);
        records_free(&records);
    }
}

/* What was timed while the machine was slow is not taken to be slow itself: B is the fastest, but
 * was timed at no other moments. */
static void slow_moments_are_left_out(void **state)
{
    static const struct law
            laws[] = { [A] = { 10, 10 }, [B] = { 7, 7 }, [C] = { 30, 12 }, [D] = { 12, 30 } };
    bool chosen[TIMES_MAX_CANDIDATES] = { true, true, true, true };
    struct records records;
    struct times times;
    (void) state;
    begin(&records);
    for (int config = A; config <= D; config++)
        edges(&records, config, 0);
    for (size_t i = 0; i < 16; i++)
        for (int config = A; config <= D; config++) {
            const size_t size = 64 + 120 * i;
            const double slowness = i % 2 ? 2 : 1;
            if (config != B || i % 2)
                add(&records, RECORD_MATRIX, "single", config, 0, size, size, size,
                        slowness * law_seconds(laws[config], size, size));
        }
    add(&records, RECORD_HELD, "single", A, 0, 1000, 1000, 1000, 1);
    open_times(&records, &times);
    assert_true(times_add(&records, RECORD_HELD, &times));
    assert_int_equal(times_dispatched(&times.tasks[0], chosen),
            times_find(&times, &candidate_of(&times, B)->config));
    times_free(&times);
    records_free(&records);
}

/* ---- Problems ---- */

static void problems_are_merged(void **state)
{
    struct records records;
    struct times times;
    (void) state;
    begin(&records);
    edges(&records, A, 0);
    edges(&records, B, 0);
    add(&records, RECORD_MATRIX, "single", A, 0, 64, 65, 66, 4);
    add(&records, RECORD_MATRIX, "single", B, 0, 64, 65, 66, 2);
    add(&records, RECORD_OWN, "single", A, 0, 64, 65, 66, 3);
    add(&records, RECORD_OWN, "single", A, 1, 64, 65, 66, 1);
    add(&records, RECORD_OWN, "single", A, 0, 65, 64, 66, 1);
    add(&records, RECORD_HELD, "single", A, 0, 64, 65, 66, 0.5);
    add(&records, RECORD_MATRIX, "single", C, 0, 64, 65, 66, 0.1); /* may not ship */
    open_times(&records, &times);
    assert_true(times_add(&records, RECORD_MATRIX, &times));
    assert_int_equal(times.num_tasks, 1);
    assert_true(times.tasks[0].seconds[0] == 4 && times.tasks[0].seconds[1] == 2);
    assert_true(times.tasks[0].best == 2);
    assert_true(times_add(&records, RECORD_OWN, &times));
    assert_int_equal(times.num_tasks, 3);
    assert_true(times.tasks[0].seconds[0] == 3 && times.tasks[0].best == 2);
    assert_true(times.tasks[1].pair == 1 && times.tasks[1].seconds[1] == HUGE_VAL);
    times_clear(&times);
    assert_int_equal(times.num_tasks, 0);
    assert_int_equal(times.num_candidates, 2);
    assert_true(times_add(&records, RECORD_HELD, &times));
    assert_int_equal(times.num_tasks, 1);
    assert_true(times.tasks[0].best == 0.5);
    times_free(&times);
    records_free(&records);
}

static void many_problems_are_kept(void **state)
{
    struct records records;
    struct times times;
    (void) state;
    begin(&records);
    edges(&records, A, 0);
    for (size_t i = 1; i <= 1000; i++)
        add(&records, RECORD_MATRIX, "single", A, 0, i, 7, 9, 1e-6 * (double) i);
    open_times(&records, &times);
    assert_true(times_add(&records, RECORD_MATRIX, &times));
    assert_int_equal(times.num_tasks, 1000);
    for (size_t i = 0; i < 1000; i++)
        assert_true(times.tasks[i].m == i + 1 && times.tasks[i].best == 1e-6 * (double) (i + 1));
    times_free(&times);
    records_free(&records);
}

static void generic_joins_what_was_measured(void **state)
{
    struct records records;
    struct times times;
    (void) state;
    begin(&records);
    edges(&records, A, 0);
    edges(&records, B, 0);
    add(&records, RECORD_MATRIX, "single", A, 0, 64, 64, 64, 4);
    add(&records, RECORD_MATRIX, "single", A, 0, 65, 64, 64, 4);
    add(&records, RECORD_MATRIX, "single", A, 0, 66, 64, 64, 4);
    add(&records, RECORD_GENERIC, "single", B, 0, 64, 64, 64, 3); /* a candidate as well */
    add(&records, RECORD_GENERIC, "single", C, 0, 65, 64, 64, 2); /* not one */
    add(&records, RECORD_GENERIC, "single", B, 0, 67, 64, 64, 1); /* no such problem */
    add(&records, RECORD_GENERIC, "single", B, 1, 64, 64, 64, 1);
    open_times(&records, &times);
    assert_true(times_add(&records, RECORD_MATRIX, &times));
    times_add_generic(&records, &times);
    assert_int_equal(times.num_tasks, 3);
    assert_true(times.tasks[0].generic == 3 && times.tasks[0].by_generic == 1);
    assert_true(times.tasks[0].best == 3 && times.tasks[0].seconds[1] == 3);
    assert_true(times.tasks[1].generic == 2 && times.tasks[1].by_generic == -1);
    assert_true(times.tasks[1].best == 4);
    assert_true(times.tasks[2].generic == HUGE_VAL && times.tasks[2].by_generic == -1);
    times_free(&times);
    records_free(&records);
}

/* ---- What the library would take ---- */

/* By what is predicted, not by what was measured there. */
static void the_least_prediction_is_dispatched(void **state)
{
    bool chosen[TIMES_MAX_CANDIDATES] = { false };
    struct records records;
    struct times times;
    (void) state;
    begin(&records);
    edges(&records, A, 0);
    edges(&records, B, 0);
    add_squares(&records, A, (struct law){ 20, 1 });
    add_squares(&records, B, (struct law){ 1, 100 });
    add(&records, RECORD_HELD, "single", A, 0, 100, 100, 100, 1e-9);
    add(&records, RECORD_HELD, "single", B, 0, 1500, 1500, 1500, 1e-9);
    open_times(&records, &times);
    assert_true(times_add(&records, RECORD_HELD, &times));
    assert_int_equal(times_dispatched(&times.tasks[0], chosen), -1);
    chosen[A] = true;
    assert_int_equal(times_dispatched(&times.tasks[0], chosen), A);
    chosen[B] = true;
    assert_int_equal(times_dispatched(&times.tasks[0], chosen), B);
    assert_int_equal(times_dispatched(&times.tasks[1], chosen), A);
    chosen[A] = false;
    assert_int_equal(times_dispatched(&times.tasks[1], chosen), B);
    /* 2 and 101 us where it was told: 1 and 100 x 0.01 */
    assert_in_range(times.tasks[0].predicted[B], 1900000, 2100000);
    assert_in_range(times.tasks[0].predicted[A], 18000000, 22000000);
    times_free(&times);
    records_free(&records);
}

/* What is for whole tiles alone is not dispatched elsewhere, however short its time would be. */
static void guards_count_in_dispatch(void **state)
{
    static const char whole[] = "tiled TM=8 NV=2 VEC=4 GUARD=0";
    bool chosen[TIMES_MAX_CANDIDATES] = { true, true };
    struct records records;
    struct times times;
    (void) state;
    begin(&records);
    edges(&records, A, 0);
    for (int pair = 0; pair < NUM_PAIRS; pair++)
        add_text(&records, RECORD_EDGES, "single", whole, pair, 0, 0, 0, 0);
    add_squares(&records, A, (struct law){ 20, 10 });
    for (size_t size = 256; size <= 4096; size *= 2)
        add_text(&records, RECORD_MATRIX, "single", whole, 0, size, size, size,
                law_seconds((struct law){ 10, 5 }, size, size));
    add(&records, RECORD_HELD, "single", A, 0, 1024, 1024, 1024, 1);
    add(&records, RECORD_HELD, "single", A, 0, 1023, 1024, 1024, 1);
    add(&records, RECORD_HELD, "single", A, 0, 1024, 1023, 1024, 1);
    add(&records, RECORD_HELD, "single", A, 0, 1024, 1024, 1023, 1);
    open_times(&records, &times);
    assert_int_equal(times.num_candidates, 2);
    assert_true(times_add(&records, RECORD_HELD, &times));
    for (unsigned i = 0; i < 4; i++) {
        const struct times_task *task = &times.tasks[i];
        assert_int_equal(times_dispatched(task, chosen), i == 0);
        assert_int_equal(task->predicted[1] == UINT64_MAX, i > 0);
    }
    times_free(&times);
    records_free(&records);
}

/* Shapes that are drawn lie where those of the journal do that are not held out. */
static void guesses_are_drawn_where_shapes_lie(void **state)
{
    const uint64_t least_ops = 2 * UINT64_C(16) * 16 * 16;
    const uint64_t most_ops = 2 * UINT64_C(2048) * 2048 * 2048;
    unsigned pairs = 0;
    struct records records;
    struct times times;
    (void) state;
    begin(&records);
    edges(&records, A, 0);
    add_squares(&records, A, (struct law){ 20, 10 });
    add(&records, RECORD_HELD, "single", A, 0, 8192, 8192, 8192, 1);
    open_times(&records, &times);
    assert_true(times_add(&records, RECORD_MATRIX, &times));
    const unsigned measured = times.num_tasks;
    assert_true(times_add_guesses(&records, 200, &times));
    assert_in_range(times.num_guesses, 100, 200);
    assert_int_equal(times.num_tasks, measured + times.num_guesses);
    for (unsigned i = measured; i < times.num_tasks; i++) {
        const struct times_task *task = &times.tasks[i];
        const uint64_t ops = 2 * (uint64_t) task->m * task->n * task->k;
        assert_true(task->is_guess && task->m <= 2048 && task->n <= 2048);
        assert_true(ops >= least_ops && ops <= most_ops);
        pairs |= 1u << task->pair;
        assert_true(task->seconds[A] == (double) task->predicted[A] * 1e-12);
        assert_true(task->best == task->seconds[A]);
    }
    assert_int_equal(pairs, (1u << NUM_PAIRS) - 1);
    times_free(&times);
    records_free(&records);
}

static void no_guesses_are_drawn_around_one_shape(void **state)
{
    struct records records;
    struct times times;
    (void) state;
    begin(&records);
    edges(&records, A, 0);
    for (int pair = 0; pair < NUM_PAIRS; pair++)
        add(&records, RECORD_MATRIX, "single", A, pair, 1024, 1024, 1024, 1);
    open_times(&records, &times);
    assert_true(times_add(&records, RECORD_MATRIX, &times));
    assert_true(times_add_guesses(&records, 200, &times));
    assert_int_equal(times.num_guesses, 0);
    times_free(&times);
    records_free(&records);
}

static void what_has_no_time_is_dispatched_at_last(void **state)
{
    bool chosen[TIMES_MAX_CANDIDATES] = { true, true, true };
    struct records records;
    struct times times;
    (void) state;
    begin(&records);
    for (int config = A; config <= C; config++)
        edges(&records, config, 0);
    add_squares(&records, C, (struct law){ 1000, 1000 });
    add(&records, RECORD_HELD, "single", A, 0, 64, 64, 64, 1e-9);
    open_times(&records, &times);
    assert_true(times_add(&records, RECORD_HELD, &times));
    assert_true(times.tasks[0].predicted[A] == TIMES_UNTIMED);
    assert_int_equal(times_dispatched(&times.tasks[0], chosen), C);
    chosen[C] = false;
    assert_int_equal(times_dispatched(&times.tasks[0], chosen), A);
    chosen[A] = false;
    assert_int_equal(times_dispatched(&times.tasks[0], chosen), B);
    times_free(&times);
    records_free(&records);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(candidates_passed_all_edges),
        cmocka_unit_test(what_failed_anywhere_is_no_candidate),
        cmocka_unit_test(illegal_configurations_are_no_candidates),
        cmocka_unit_test(held_times_are_not_fitted),
        cmocka_unit_test(second_times_count),
        cmocka_unit_test(held_times_change_nothing),
        cmocka_unit_test(other_rows_are_not_fitted),
        cmocka_unit_test(a_family_tells_of_what_was_timed_once),
        cmocka_unit_test(slow_moments_are_left_out),
        cmocka_unit_test(problems_are_merged),
        cmocka_unit_test(many_problems_are_kept),
        cmocka_unit_test(generic_joins_what_was_measured),
        cmocka_unit_test(own_batches_tell_of_nothing_else),
        cmocka_unit_test(the_least_prediction_is_dispatched),
        cmocka_unit_test(guards_count_in_dispatch),
        cmocka_unit_test(guesses_are_drawn_where_shapes_lie),
        cmocka_unit_test(no_guesses_are_drawn_around_one_shape),
        cmocka_unit_test(what_has_no_time_is_dispatched_at_last),
    };
    return cmocka_run_group_tests_name("times", tests, NULL, NULL);
}
