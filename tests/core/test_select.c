/* test_select.c: which recipes a bundle gets, generator/core/select.c, on matrices made by hand. */
#include "wide.h"
#include "select.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const configs[] = {
    "packed TM=12 NV=2 VEC=16", "direct WGM=8 WGN=8 TM=4 NV=1 VEC=4", "tiled TM=8 NV=2 VEC=4",
    "packed TM=6 NV=2 VEC=8",
};
enum { A, B, C, D };

static struct winners winners;

static void begin(struct records *records)
{
    *records = (struct records) { .num = 0 };
    records->head.facts = facts_wide();
    records->head.facts.value[FACT_IS_CPU] = 1;
}

static void add(struct records *records, enum record_kind kind, const char *precision, int config,
        int pair, size_t m, size_t n, size_t k, double seconds)
{
    struct record row = { .kind = kind, .precision = precision_find(precision), .pair = pair,
            .m = m, .n = n, .k = k, .seconds = seconds };
    char error[FAMILY_ERROR_BYTES];
    assert_true(config_parse(configs[config], &row.config, error));
    strcpy(row.outcome, seconds < 0 ? "wrong" : "ok");
    assert_true(records_add(records, &row));
}

/* A configuration passes the edges, but for the pairs in `failed` (a bit each). */
static void edges(struct records *records, int config, unsigned failed)
{
    for (int pair = 0; pair < NUM_PAIRS; pair++)
        add(records, RECORD_EDGES, "single", config, pair, 0, 0, 0, failed >> pair & 1 ? -1 : 0);
}

static void time_square(struct records *records, int config, size_t size, double seconds)
{
    add(records, RECORD_MATRIX, "single", config, 0, size, size, size, seconds);
}

static void select_all(struct records *records)
{
    char error[FAMILY_ERROR_BYTES] = "";
    if (!select_from_records(records, "test", &winners, error))
        fail_msg("%s", error);
    records_free(records);
}

static bool is_chosen(int config, int *number)
{
    struct config wanted;
    char error[FAMILY_ERROR_BYTES];
    assert_true(config_parse(configs[config], &wanted, error));
    for (unsigned i = 0; i < winners.num_recipes; i++)
        if (config_equal(&winners.recipes[i].config, &wanted)) {
            *number = (int) i;
            return true;
        }
    return false;
}

static const struct winner_anchor *anchor_at(size_t size)
{
    for (unsigned i = 0; i < winners.num_anchors; i++)
        if (winners.anchors[i].m == size)
            return &winners.anchors[i];
    fail_msg("no anchor at %zu", size);
    return NULL;
}

static void check_nothing_ships(struct records *records)
{
    char error[FAMILY_ERROR_BYTES] = "";
    assert_false(select_from_records(records, "test", &winners, error));
    assert_string_equal(error,
            "nothing in the journal may ship: it passed no edge classes, or is not faster than "
            "generic");
    records_free(records);
}

static void what_failed_an_edge_does_not_ship(void **state)
{
    (void) state;
    struct records records;
    begin(&records);
    check_nothing_ships(&records);
    for (unsigned failed = 1; failed < 16; failed += 7) {
        begin(&records);
        edges(&records, A, failed);
        time_square(&records, A, 64, 1);
        check_nothing_ships(&records);
    }
    begin(&records);                   /* three pairs are not four */
    for (int pair = 0; pair < 3; pair++)
        add(&records, RECORD_EDGES, "single", A, pair, 0, 0, 0, 0);
    time_square(&records, A, 64, 1);
    check_nothing_ships(&records);
}

static void the_fastest_that_passed_is_chosen(void **state)
{
    (void) state;
    struct records records;
    int number;
    begin(&records);
    edges(&records, A, 4);
    edges(&records, B, 0);
    edges(&records, C, 0);
    time_square(&records, A, 64, 1);
    time_square(&records, B, 64, 3);
    time_square(&records, C, 64, 2);
    select_all(&records);
    assert_int_equal(winners.num_recipes, 1);
    assert_true(is_chosen(C, &number));
    assert_int_equal(anchor_at(64)->recipe[0], 0);
    assert_true(anchor_at(64)->seconds[0] == 2);
}

static void a_cover_of_complements(void **state)
{
    (void) state;
    struct records records;
    int a, b, c;
    begin(&records);
    for (int config = A; config <= C; config++)
        edges(&records, config, 0);
    for (size_t size = 16; size <= 1024; size *= 2) {
        time_square(&records, A, size, size > 128 ? 1.0 : 3.0);
        time_square(&records, B, size, size > 128 ? 3.0 : 1.0);
        time_square(&records, C, size, 2.0);
    }
    select_all(&records);
    assert_int_equal(winners.num_recipes, 2);
    assert_true(is_chosen(A, &a) && is_chosen(B, &b) && !is_chosen(C, &c));
    assert_int_equal(winners.num_anchors, 7);
    assert_int_equal(anchor_at(16)->recipe[0], b);
    assert_int_equal(anchor_at(1024)->recipe[0], a);
    assert_true(winners.recipes[a].hash[0] && winners.recipes[a].hash[3]);
}

/* A is best at all sizes but the smallest, where B takes this part of its time. */
static void time_where_b_is_better_once(struct records *records, double part)
{
    edges(records, A, 0);
    edges(records, B, 0);
    for (size_t size = 16; size <= 1024; size *= 2) {
        time_square(records, A, size, 1.0);
        time_square(records, B, size, size == 16 ? part : 2.0);
    }
}

/* Another recipe costs size and must be worth it. */
static void a_little_faster_is_not_enough(void **state)
{
    (void) state;
    struct records records;
    int number;
    begin(&records);
    time_where_b_is_better_once(&records, 0.97);
    select_all(&records);
    assert_int_equal(winners.num_recipes, 1);
    assert_true(is_chosen(A, &number));
    assert_true(anchor_at(16)->seconds[0] == 1);
}

/* Where a CPU would do with one recipe, other devices get a second for less. */
static void a_gpu_is_given_more(void **state)
{
    (void) state;
    struct records records;
    for (int is_cpu = 0; is_cpu < 2; is_cpu++) {
        begin(&records);
        records.head.facts.value[FACT_IS_CPU] = is_cpu;
        time_where_b_is_better_once(&records, 0.9);
        select_all(&records);
        assert_int_equal(winners.num_recipes, is_cpu ? 1 : 2);
    }
}

/* A is best alone and chosen first; beside B, which takes the small ones, C does better than A, but
 * not by so much that all three were worth it. */
static void the_first_choice_may_be_exchanged(void **state)
{
    (void) state;
    struct records records;
    int number;
    begin(&records);
    for (int config = A; config <= C; config++)
        edges(&records, config, 0);
    for (size_t size = 64; size <= 512; size *= 2) {
        const bool is_small = size <= 128;
        time_square(&records, A, size, 1.1);
        time_square(&records, B, size, is_small ? 1.0 : 2.0);
        time_square(&records, C, size, is_small ? 2.0 : 1.09);
    }
    select_all(&records);
    assert_int_equal(winners.num_recipes, 2);
    assert_true(is_chosen(B, &number) && is_chosen(C, &number));
}

/* As many tasks of either size, and either may have one recipe: the loss at the large ones counts
 * more. */
static void large_problems_count_more(void **state)
{
    (void) state;
    struct records records;
    int number;
    begin(&records);
    edges(&records, A, 0);
    edges(&records, B, 0);
    time_square(&records, A, 64, 1.0);
    time_square(&records, B, 64, 1.05);
    time_square(&records, A, 2048, 1.02);
    time_square(&records, B, 2048, 1.0);
    select_all(&records);
    assert_int_equal(winners.num_recipes, 1);
    assert_true(is_chosen(B, &number));
}

/* A time that is missing counts as bad: who was measured once does not win for ever. */
static void missing_times_count_against(void **state)
{
    (void) state;
    struct records records;
    int a, b;
    begin(&records);
    edges(&records, B, 0);
    edges(&records, A, 0);
    for (size_t size = 16; size <= 1024; size *= 2)
        time_square(&records, A, size, 1.0);
    time_square(&records, B, 16, 0.5);
    select_all(&records);
    assert_true(is_chosen(A, &a) && is_chosen(B, &b));
    assert_int_equal(anchor_at(16)->recipe[0], b);
    assert_int_equal(anchor_at(32)->recipe[0], a);
    assert_int_equal(winners.num_anchors, 7);
}

static void failed_measurements_are_no_times(void **state)
{
    (void) state;
    struct records records;
    int number;
    begin(&records);
    edges(&records, A, 0);
    edges(&records, B, 0);
    time_square(&records, A, 64, 2);
    time_square(&records, B, 64, -1);
    time_square(&records, A, 64, 1);   /* measured twice: the better counts */
    select_all(&records);
    assert_int_equal(winners.num_recipes, 1);
    assert_true(is_chosen(A, &number));
    assert_true(anchor_at(64)->seconds[0] == 1);
}

/* As at the nearest shape where the pair was measured. */
static void pairs_that_were_not_measured_are_served(void **state)
{
    (void) state;
    struct records records;
    int a, b;
    begin(&records);
    edges(&records, A, 0);
    edges(&records, B, 0);
    for (int pair = 0; pair < NUM_PAIRS; pair++) {
        add(&records, RECORD_MATRIX, "single", A, pair, 64, 64, 64, pair == 2 ? 3 : 1);
        add(&records, RECORD_MATRIX, "single", B, pair, 64, 64, 64, pair == 2 ? 1 : 3);
    }
    add(&records, RECORD_MATRIX, "single", B, 0, 512, 512, 512, 1);
    add(&records, RECORD_MATRIX, "single", A, 0, 512, 512, 512, 3);
    add(&records, RECORD_MATRIX, "single", B, 0, 80, 80, 80, 1);
    add(&records, RECORD_MATRIX, "single", A, 0, 80, 80, 80, 3);
    add(&records, RECORD_MATRIX, "single", B, 0, 65, 65, 65, 1);
    add(&records, RECORD_MATRIX, "single", A, 0, 65, 65, 65, 3);
    select_all(&records);
    assert_true(is_chosen(A, &a) && is_chosen(B, &b));
    assert_int_equal(anchor_at(64)->recipe[0], a);
    assert_int_equal(anchor_at(64)->recipe[2], b);
    assert_int_equal(anchor_at(80)->recipe[0], b);
    assert_int_equal(anchor_at(80)->recipe[1], a);
    assert_int_equal(anchor_at(80)->recipe[2], b);
    assert_int_equal(anchor_at(80)->recipe[3], a);
    assert_true(anchor_at(80)->seconds[3] == 0);
    for (int pair = 0; pair < NUM_PAIRS; pair++) {    /* 64 is too far, and rows of 65 are ragged */
        assert_int_equal(anchor_at(512)->recipe[pair], b);
        assert_int_equal(anchor_at(65)->recipe[pair], b);
    }
}

/* The held-out shape nearest to the small anchor is served by B, which is twice as slow there. */
static void regret_is_that_of_the_dispatch(void **state)
{
    (void) state;
    struct records records;
    begin(&records);
    edges(&records, A, 0);
    edges(&records, B, 0);
    time_square(&records, A, 1024, 1);
    time_square(&records, B, 1024, 4);
    time_square(&records, A, 16, 4);
    time_square(&records, B, 16, 1);
    add(&records, RECORD_HELD, "single", A, 0, 20, 20, 20, 1);
    add(&records, RECORD_HELD, "single", B, 0, 20, 20, 20, 2);
    add(&records, RECORD_HELD, "single", A, 0, 900, 900, 900, 1);
    add(&records, RECORD_HELD, "single", B, 0, 900, 900, 900, 1);
    select_all(&records);
    assert_int_equal(winners.num_recipes, 2);
    assert_int_equal(winners.num_regrets, 1);
    assert_int_equal(winners.regrets[0].shapes, 2);
    assert_true(fabs(winners.regrets[0].factor - sqrt(2)) < 1e-4);
    assert_int_equal(winners.num_anchors, 2);
}

/* Generic is measured against, and counts for nothing as long as it is slower. */
static void what_beats_generic_ships(void **state)
{
    (void) state;
    struct records records;
    struct select_generic against;
    begin(&records);
    edges(&records, A, 0);
    time_square(&records, A, 1024, 1);
    time_square(&records, A, 64, 1);
    add(&records, RECORD_GENERIC, "single", B, 0, 1024, 1024, 1024, 4);
    add(&records, RECORD_GENERIC, "single", B, 0, 64, 64, 64, 0.5);
    add(&records, RECORD_GENERIC, "single", B, 0, 7, 7, 7, 0.1);    /* compared with nothing */
    assert_true(select_generic(&records, precision_find("single"), &against));
    assert_int_equal(against.shapes, 2);
    assert_int_equal(against.slower, 1);
    assert_true(against.factor < 1 && !against.is_left);
    select_all(&records);
    assert_int_equal(winners.num_recipes, 1);
    assert_int_equal(winners.num_anchors, 2);
}

/* Where its recipe won and was verified, it is one of the recipes. */
static void generic_ships_where_it_wins(void **state)
{
    (void) state;
    struct records records;
    int number;
    begin(&records);
    edges(&records, A, 0);
    edges(&records, B, 0);
    time_square(&records, A, 1024, 1);
    time_square(&records, A, 64, 4);
    add(&records, RECORD_GENERIC, "single", B, 0, 1024, 1024, 1024, 4);
    add(&records, RECORD_GENERIC, "single", B, 0, 64, 64, 64, 1);
    select_all(&records);
    assert_int_equal(winners.num_recipes, 2);
    assert_true(is_chosen(B, &number));
    assert_int_equal(anchor_at(64)->recipe[0], number);
}

/* Also where that is worth little on the whole; not for noise. */
static void a_lead_of_generic_is_kept(void **state)
{
    (void) state;
    for (int is_clear = 0; is_clear < 2; is_clear++) {
        struct records records;
        int number;
        begin(&records);
        edges(&records, A, 0);
        edges(&records, B, 0);
        for (size_t size = 1000; size < 1040; size++)
            time_square(&records, A, size, 1);
        time_square(&records, A, 64, is_clear ? 1.07 : 1.03);
        add(&records, RECORD_GENERIC, "single", B, 0, 64, 64, 64, 1);
        select_all(&records);
        assert_int_equal(is_chosen(B, &number), is_clear);
    }
}

/* What loses to it on the whole does not ship, and the rest of the bundle does. */
static void what_loses_to_generic_does_not_ship(void **state)
{
    (void) state;
    struct records records;
    struct select_generic against;
    char error[FAMILY_ERROR_BYTES];
    begin(&records);
    edges(&records, A, 0);
    time_square(&records, A, 1024, 4);
    add(&records, RECORD_GENERIC, "single", B, 0, 1024, 1024, 1024, 1);
    assert_true(select_generic(&records, precision_find("single"), &against));
    assert_true(against.is_left && fabs(against.factor - 4) < 1e-9);
    assert_false(select_from_records(&records, "test", &winners, error));
    assert_int_equal(winners.num_recipes, 0);
    for (int pair = 0; pair < NUM_PAIRS; pair++)
        add(&records, RECORD_EDGES, "double", C, pair, 0, 0, 0, 0);
    add(&records, RECORD_MATRIX, "double", C, 0, 64, 64, 64, 1);
    select_all(&records);
    assert_int_equal(winners.num_recipes, 1);
    assert_string_equal(winners.recipes[0].precision->name, "double");
}

/* A bundle of generic's own recipes alone could only be worse than all of generic. */
static void generic_alone_does_not_ship(void **state)
{
    (void) state;
    struct records records;
    struct select_generic against;
    char error[FAMILY_ERROR_BYTES];
    begin(&records);
    edges(&records, B, 0);
    time_square(&records, B, 64, 1);
    add(&records, RECORD_GENERIC, "single", B, 0, 64, 64, 64, 1);
    assert_true(select_generic(&records, precision_find("single"), &against));
    assert_true(against.is_left);
    assert_false(select_from_records(&records, "test", &winners, error));
    records_free(&records);
}

/* A driver that compiles in the process is named with its version; others are not. */
static void a_driver_in_the_process_is_named(void **state)
{
    static const char *const in_process[] = { "Portable Computing Language", "rusticl", "Oclgrind",
            "Portable*" };
    (void) state;
    for (size_t i = 0; i < sizeof in_process / sizeof in_process[0]; i++)
        assert_true(winners_want_driver(in_process[i]));
    assert_false(winners_want_driver("NVIDIA CUDA"));
    assert_false(winners_want_driver(""));
    for (int i = 0; i < 2; i++) {
        struct records records;
        begin(&records);
        snprintf(records.head.facts.platform, sizeof records.head.facts.platform, "%s",
                i ? "NVIDIA CUDA" : "Portable Computing Language");
        snprintf(records.head.facts.driver, sizeof records.head.facts.driver, "3.1+debian");
        edges(&records, A, 0);
        time_square(&records, A, 64, 1);
        select_all(&records);
        assert_string_equal(winners.driver, i ? "" : "3.1+debian");
    }
}

/* A run that was stopped before the matrix ships what the search found. */
static void a_search_alone_will_do(void **state)
{
    (void) state;
    struct records records;
    int number;
    begin(&records);
    add(&records, RECORD_SEARCH, "single", A, 0, 1024, 1024, 1024, 1);
    add(&records, RECORD_SEARCH, "single", B, 0, 1024, 1024, 1024, 2);
    edges(&records, A, 0);
    select_all(&records);
    assert_int_equal(winners.num_recipes, 1);
    assert_true(is_chosen(A, &number));
    assert_int_equal(anchor_at(1024)->recipe[0], 0);
    assert_int_equal(winners.num_regrets, 0);
}

static void precisions_are_apart(void **state)
{
    (void) state;
    struct records records;
    begin(&records);
    edges(&records, A, 0);
    time_square(&records, A, 64, 1);
    for (int pair = 0; pair < NUM_PAIRS; pair++)
        add(&records, RECORD_EDGES, "half", B, pair, 0, 0, 0, 0);
    add(&records, RECORD_MATRIX, "half", B, 0, 64, 64, 64, 1);
    add(&records, RECORD_MATRIX, "half", A, 0, 64, 64, 64, 0.1);
    select_all(&records);
    assert_int_equal(winners.num_recipes, 2);
    for (unsigned i = 0; i < winners.num_anchors; i++)
        assert_int_equal(winners.anchors[i].recipe[0], 0);
    assert_string_equal(winners_recipe(&winners, precision_find("half"), 0)->config.family->name,
            "direct");
}

static void bundles_are_named_and_matched(void **state)
{
    (void) state;
    struct records records;
    char error[FAMILY_ERROR_BYTES];
    begin(&records);
    strcpy(records.head.facts.platform, "A platform");
    strcpy(records.head.facts.device, "Device (TM) X-99, 2nd ");
    edges(&records, A, 0);
    time_square(&records, A, 64, 1);
    assert_true(select_from_records(&records, NULL, &winners, error));
    assert_string_equal(winners.name, "device-tm-x-99-2nd");
    assert_string_equal(winners.platform, "A platform");
    assert_string_equal(winners.device, "Device (TM) X-99, 2nd ");
    assert_non_null(strstr(winners.provenance, "Device (TM) X-99"));
    assert_memory_equal(winners.facts.value, records.head.facts.value, sizeof winners.facts.value);
    records_free(&records);
}

static void a_bad_journal_is_refused(void **state)
{
    (void) state;
    char error[FAMILY_ERROR_BYTES];
    assert_false(select_winners("kiln-journal\t7\n", "test", &winners, error));
    assert_string_equal(error, "line 1: not a kiln-journal, version 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_failed_an_edge_does_not_ship),
        cmocka_unit_test(the_fastest_that_passed_is_chosen),
        cmocka_unit_test(a_cover_of_complements),
        cmocka_unit_test(a_little_faster_is_not_enough),
        cmocka_unit_test(a_gpu_is_given_more),
        cmocka_unit_test(the_first_choice_may_be_exchanged),
        cmocka_unit_test(large_problems_count_more),
        cmocka_unit_test(missing_times_count_against),
        cmocka_unit_test(failed_measurements_are_no_times),
        cmocka_unit_test(pairs_that_were_not_measured_are_served),
        cmocka_unit_test(regret_is_that_of_the_dispatch),
        cmocka_unit_test(what_beats_generic_ships),
        cmocka_unit_test(generic_ships_where_it_wins),
        cmocka_unit_test(a_lead_of_generic_is_kept),
        cmocka_unit_test(what_loses_to_generic_does_not_ship),
        cmocka_unit_test(generic_alone_does_not_ship),
        cmocka_unit_test(a_driver_in_the_process_is_named),
        cmocka_unit_test(a_search_alone_will_do),
        cmocka_unit_test(precisions_are_apart),
        cmocka_unit_test(bundles_are_named_and_matched),
        cmocka_unit_test(a_bad_journal_is_refused),
    };
    return cmocka_run_group_tests_name("select", tests, NULL, NULL);
}
