/* test_budget.c: what is dropped so that a bundle fits its bytes, generator/core/select.c. */
#include "wide.h"
#include "emit.h"
#include "select.h"

#include <stdio.h>
#include <string.h>

static const char *const configs[] = {
    "packed TM=12 NV=2 VEC=16", "direct WGM=8 WGN=8 TM=4 NV=1 VEC=4", "tiled TM=8 NV=2 VEC=4",
};
enum { LARGE, SMALL, MIDDLE, NUM_CONFIGS }; /* what each is best for */

static struct winners winners;
static struct select_budget budget;

static void add(struct records *records, enum record_kind kind, const char *precision, int config,
        int pair, size_t m, size_t n, size_t k, double seconds)
{
    struct record row = { .kind = kind,
        .precision = precision_find(precision),
        .pair = pair,
        .m = m,
        .n = n,
        .k = k,
        .outcome = "ok",
        .seconds = seconds };
    char error[FAMILY_ERROR_BYTES];
    if (!config_parse(configs[config], &row.config, error))
        fail_msg("%s", error);
    assert_true(records_add(records, &row));
}

/* Times that can be fitted to: microseconds of a call, picoseconds of an element of C. */
static void add_law(struct records *records, const char *precision, int config, double call,
        double c)
{
    for (int pair = 0; pair < NUM_PAIRS; pair++)
        add(records, RECORD_EDGES, precision, config, pair, 0, 0, 0, 0);
    for (size_t size = 16; size <= 2048; size *= 2)
        add(records, RECORD_MATRIX, precision, config, 0, size, size, size,
                call * 1e-6 + c * 1e-12 * (double) (size * size));
}

/* Each of three is worth its place; the middle one least. */
static struct records three(void)
{
    struct records records = { .num = 0 };
    records.head.facts = facts_wide();
    records.head.facts.value[FACT_IS_CPU] = 1;
    add_law(&records, "single", LARGE, 50, 1);
    add_law(&records, "single", SMALL, 1, 100);
    add_law(&records, "single", MIDDLE, 12, 30);
    return records;
}

static void select_bytes(const struct records *records, size_t bytes)
{
    char error[FAMILY_ERROR_BYTES] = "";
    budget = (struct select_budget){ .most_bytes = bytes };
    if (!select_within(records, "test", &budget, &winners, error))
        fail_msg("%s", error);
}

/* The bundle of the winners as it would ship. */
static size_t bytes_of_winners(void)
{
    struct assembly assembly;
    char error[FAMILY_ERROR_BYTES] = "";
    size_t bytes;
    if (!winners_assemble(&winners, &assembly, error) || !emit_bytes(&assembly.bundle, &bytes))
        fail_msg("%s", error);
    assembly_free(&assembly);
    return bytes;
}

static void check_chosen(const char *precision, unsigned set)
{
    const struct winner *winner;
    unsigned chosen = 0;
    for (int i = 0; (winner = winners_recipe(&winners, precision_find(precision), i)); i++)
        for (int config = 0; config < NUM_CONFIGS; config++) {
            struct config known;
            char error[FAMILY_ERROR_BYTES];
            assert_true(config_parse(configs[config], &known, error));
            chosen |= (unsigned) config_equal(&known, &winner->config) << config;
        }
    assert_int_equal(chosen, set);
}

static void check_dropped(unsigned i, const char *precision, int config, bool is_pinned)
{
    struct config known;
    char error[FAMILY_ERROR_BYTES];
    assert_true(config_parse(configs[config], &known, error));
    assert_true(budget.num_dropped > i);
    assert_ptr_equal(budget.dropped[i].precision, precision_find(precision));
    assert_true(config_equal(&budget.dropped[i].config, &known));
    assert_int_equal(budget.dropped[i].is_pinned, is_pinned);
}

static void what_fits_is_kept(void **state)
{
    struct records records = three();
    (void) state;
    select_bytes(&records, 0);
    check_chosen("single", 1 << LARGE | 1 << SMALL | 1 << MIDDLE);
    assert_true(budget.num_dropped == 0 && budget.bytes == 0);
    const size_t whole = bytes_of_winners();
    select_bytes(&records, whole);
    check_chosen("single", 1 << LARGE | 1 << SMALL | 1 << MIDDLE);
    assert_int_equal(budget.num_dropped, 0);
    assert_int_equal(budget.bytes, whole);
    records_free(&records);
}

static void what_is_worth_least_is_dropped(void **state)
{
    struct records records = three();
    (void) state;
    select_bytes(&records, 0);
    const size_t whole = bytes_of_winners();
    select_bytes(&records, whole - 1);
    check_chosen("single", 1 << LARGE | 1 << SMALL);
    assert_int_equal(budget.num_dropped, 1);
    check_dropped(0, "single", MIDDLE, false);
    assert_true(budget.dropped[0].loss > 1 && budget.dropped[0].loss < 1.2);
    assert_int_equal(budget.bytes, bytes_of_winners());
    assert_true(budget.bytes < whole);
    records_free(&records);
}

/* What is worth least of all precisions, not of each. */
static void precisions_share_the_budget(void **state)
{
    struct records records = three();
    (void) state;
    add_law(&records, "double", MIDDLE, 500, 1);
    add_law(&records, "double", SMALL, 1, 1000);
    select_bytes(&records, 0);
    check_chosen("double", 1 << MIDDLE | 1 << SMALL);
    select_bytes(&records, bytes_of_winners() - 1);
    check_chosen("single", 1 << LARGE | 1 << SMALL);
    check_chosen("double", 1 << MIDDLE | 1 << SMALL);
    records_free(&records);
}

/* What serves a shape of the application's own goes last, and its pin with it. */
static void pinned_recipes_are_dropped_last(void **state)
{
    struct records records = three();
    (void) state;
    add(&records, RECORD_OWN, "single", LARGE, 0, 300, 200, 100, 50e-6);
    add(&records, RECORD_OWN, "single", MIDDLE, 0, 300, 200, 100, 13e-6);
    select_bytes(&records, 0);
    assert_int_equal(winners.num_pins, 1);
    select_bytes(&records, bytes_of_winners() - 1);
    assert_int_equal(budget.num_dropped, 1);
    assert_false(budget.dropped[0].is_pinned);
    select_bytes(&records, 1);
    check_chosen("single", 1 << MIDDLE);
    assert_int_equal(winners.num_pins, 1);
    assert_int_equal(winners.pins[0].recipe[0], 0);
    assert_true(budget.num_dropped == 2 && !budget.dropped[1].is_pinned);
    records_free(&records);
}

/* Of two pinned ones one goes; its shape is pinned to the next best that is left. */
static void a_pin_goes_to_the_next_best(void **state)
{
    struct records records = three();
    (void) state;
    add(&records, RECORD_OWN, "single", LARGE, 0, 300, 200, 100, 50e-6);
    add(&records, RECORD_OWN, "single", MIDDLE, 0, 300, 200, 100, 13e-6);
    add(&records, RECORD_OWN, "single", LARGE, 1, 3000, 20, 100, 12e-6);
    add(&records, RECORD_OWN, "single", MIDDLE, 1, 3000, 20, 100, 13e-6);
    select_bytes(&records, 1);
    assert_int_equal(winners.num_recipes, 1);
    assert_int_equal(budget.num_dropped, 2);
    check_dropped(0, "single", SMALL, false);
    assert_true(budget.dropped[1].is_pinned);
    assert_int_equal(winners.num_pins, 2);
    assert_int_equal(winners.pins[0].recipe[0], 0);
    assert_int_equal(winners.pins[1].recipe[1], 0);
    records_free(&records);
}

/* One recipe a precision stays, whatever it takes, and that is said. */
static void something_is_kept(void **state)
{
    struct records records = three();
    struct text text = { 0 };
    char config[CONFIG_TEXT_BYTES];
    (void) state;
    add_law(&records, "double", SMALL, 50, 1);
    select_bytes(&records, 1024);
    assert_int_equal(winners.num_recipes, 2);
    check_chosen("double", 1 << SMALL);
    assert_int_equal(budget.num_dropped, 2);
    assert_int_equal(budget.bytes, bytes_of_winners());
    assert_true(budget.bytes > 1024);
    select_tell_dropped(&budget, "test", &text);
    assert_non_null(strstr(text.bytes, "test: single: dropped to keep within 1 KiB, which costs "));
    config_format(&budget.dropped[1].config, config);
    assert_non_null(strstr(text.bytes, config));
    assert_non_null(strstr(text.bytes, "test: warning: the bundle takes "));
    assert_non_null(strstr(text.bytes, " KiB, not 1: one recipe a precision is kept\n"));
    text_free(&text);
    records_free(&records);
}

static void nothing_dropped_is_nothing_told(void **state)
{
    struct records records = three();
    struct text text = { 0 };
    (void) state;
    select_bytes(&records, (size_t) 1 << 30);
    select_tell_dropped(&budget, "test", &text);
    assert_int_equal(text.len, 0);
    text_free(&text);
    records_free(&records);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fits_is_kept),
        cmocka_unit_test(what_is_worth_least_is_dropped),
        cmocka_unit_test(precisions_share_the_budget),
        cmocka_unit_test(pinned_recipes_are_dropped_last),
        cmocka_unit_test(a_pin_goes_to_the_next_best),
        cmocka_unit_test(something_is_kept),
        cmocka_unit_test(nothing_dropped_is_nothing_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
