/* test_merge.c: journals joined and refused, generator/core/merge.c. */
#include "wide.h"
#include "merge.h"
#include "record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Journals ---- */

static struct text texts[4], merged, notes;
static char error[MERGE_ERROR_BYTES];

static struct journal_head make_head(unsigned index, unsigned num)
{
    struct journal_head head = { .facts = facts_wide(),
        .generator = record_generator_hash(),
        .shard = { index, num } };
    strcpy(head.facts.platform, "Platform");
    strcpy(head.facts.device, "Device");
    strcpy(head.facts.driver, "1.0");
    return head;
}

static void add_row(struct text *text, enum record_kind kind, size_t size, const char *outcome)
{
    struct record row = { .kind = kind,
        .precision = precision_find("single"),
        .pair = 1,
        .m = size,
        .n = size,
        .k = size,
        .seconds = 1.0 / 3,
        .cost = 0.5 };
    char line[RECORD_LINE_BYTES];
    strcpy(row.outcome, outcome);
    config_default(families[0], &row.config);
    assert_true(record_format(&row, line));
    text_add(text, "%s", line);
}

static struct merge_part part_of(struct text *text, const char *path)
{
    assert_false(text->failed);
    return (struct merge_part){ path, text->bytes };
}

/* A journal with one row of each kind. */
static struct merge_part make_part(int i, const char *path, const struct journal_head *head)
{
    record_format_head(head, &texts[i]);
    for (int kind = 0; kind < NUM_RECORD_KINDS; kind++)
        add_row(&texts[i], (enum record_kind) kind, (size_t) (100 * (i + 1) + kind), "ok");
    return part_of(&texts[i], path);
}

static bool merge(const struct merge_part *parts, unsigned num)
{
    text_free(&merged);
    text_free(&notes);
    error[0] = '\0';
    return merge_journals(parts, num, &merged, &notes, error);
}

static int clean(void **state)
{
    (void) state;
    for (int i = 0; i < 4; i++)
        text_free(&texts[i]);
    text_free(&merged);
    text_free(&notes);
    return 0;
}

/* A second journal that differs in one thing is refused with these words. */
static void refuses(const struct journal_head *head, const char *what)
{
    const struct journal_head first = make_head(1, 2);
    const struct merge_part parts[] = { make_part(0, "a.tsv", &first),
        make_part(1, "b.tsv", head) };
    assert_false(merge(parts, 2));
    if (!strstr(error, what) || !strstr(error, "b.tsv"))
        fail_msg("'%s' does not say '%s'", error, what);
    clean(NULL);
}

/* ---- Tests ---- */

static void what_was_searched_and_verified_is_kept(void **state)
{
    const struct journal_head one = make_head(1, 2), two = make_head(2, 2);
    const struct merge_part parts[] = { make_part(0, "a.tsv", &one), make_part(1, "b.tsv", &two) };
    struct records records;
    (void) state;
    assert_true(merge(parts, 2));
    assert_null(notes.bytes);
    assert_true(records_parse(merged.bytes, &records, error));
    assert_int_equal(records.head.merged, 2);
    assert_int_equal(records.head.shard.num, 0);
    assert_null(journal_difference(&records.head, &one));
    assert_int_equal(records.num, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(records.rows[i].kind, i % 2 ? RECORD_EDGES : RECORD_SEARCH);
        assert_int_equal(records.rows[i].m / 100, 1 + i / 2);
        assert_true(records.rows[i].seconds == 0.333333333);
    }
    records_free(&records);
}

static void failures_of_finalists_are_kept(void **state)
{
    const struct journal_head head = make_head(0, 0);
    struct records records;
    (void) state;
    record_format_head(&head, &texts[0]);
    add_row(&texts[0], RECORD_MATRIX, 10, "ok");
    add_row(&texts[0], RECORD_MATRIX, 20, "slow");
    add_row(&texts[0], RECORD_MATRIX, 30, "wrong");
    const struct merge_part part = part_of(&texts[0], "a.tsv");
    assert_true(merge(&part, 1));
    assert_true(records_parse(merged.bytes, &records, error));
    assert_int_equal(records.num, 1);
    assert_int_equal(records.rows[0].m, 30);
    records_free(&records);
}

static void rows_are_kept_byte_by_byte(void **state)
{
    const struct journal_head head = make_head(0, 0);
    const struct merge_part part = make_part(0, "a.tsv", &head);
    (void) state;
    assert_true(merge(&part, 1));
    const char *row = strstr(part.text, "begin\n"), *again = strstr(merged.bytes, "begin\n");
    assert_non_null(row);
    assert_non_null(again);
    assert_memory_equal(row, again, strcspn(row + 6, "\n") + 7);
}

static void another_device_is_refused(void **state)
{
    struct journal_head head;
    (void) state;
    head = make_head(2, 2);
    strcpy(head.facts.platform, "Other");
    refuses(&head, "made with another platform than a.tsv: 'Other', not 'Platform'");
    head = make_head(2, 2);
    strcpy(head.facts.device, "Other");
    refuses(&head, "made with another device than a.tsv: 'Other', not 'Device'");
    head = make_head(2, 2);
    strcpy(head.facts.driver, "1.1");
    refuses(&head, "made with another driver than a.tsv: '1.1', not '1.0'");
    for (int fact = 0; fact < NUM_FACTS; fact++) {
        char what[64];
        head = make_head(2, 2);
        head.facts.value[fact] += 1;
        snprintf(what, sizeof what, "made with another %s than a.tsv", fact_names[fact]);
        if (fact != FACT_CLOCK_MHZ)
            refuses(&head, what);
    }
}

static void another_clock_is_the_same_device(void **state)
{
    const struct journal_head one = make_head(1, 2);
    struct journal_head two = make_head(2, 2);
    (void) state;
    two.facts.value[FACT_CLOCK_MHZ] += 100;
    const struct merge_part parts[] = { make_part(0, "a.tsv", &one), make_part(1, "b.tsv", &two) };
    assert_true(merge(parts, 2));
}

static void another_generator_is_refused(void **state)
{
    struct journal_head head = make_head(2, 2);
    (void) state;
    head.generator++;
    refuses(&head, "b.tsv: made by another version of the kernels");
}

static void shards_that_overlap_are_refused(void **state)
{
    struct journal_head head = make_head(1, 2);
    (void) state;
    refuses(&head, "a.tsv and b.tsv are both shard 1/2");
    head = make_head(2, 3);
    refuses(&head, "a.tsv is shard 1/2 and b.tsv shard 2/3: they overlap");
}

static void missing_shards_are_named(void **state)
{
    const struct journal_head two = make_head(2, 4), four = make_head(4, 4);
    const struct merge_part parts[] = { make_part(0, "a.tsv", &two), make_part(1, "b.tsv", &four) };
    (void) state;
    assert_true(merge(parts, 2));
    assert_string_equal(notes.bytes, "missing of the shards: 1, 3 of 4; what they would have "
                                     "searched was not\n");
}

static void damage_is_refused(void **state)
{
    const struct journal_head one = make_head(1, 2), two = make_head(2, 2);
    struct merge_part parts[] = { make_part(0, "a.tsv", &one), make_part(1, "b.tsv", &two) };
    (void) state;
    char *row = strstr(parts[1].text, "\nsearch\t");
    assert_non_null(row);
    row[9]++;
    assert_false(merge(parts, 2));
    assert_non_null(strstr(error, "b.tsv: line "));
    assert_non_null(strstr(error, "wrong checksum"));
    parts[1].text[0] = 'x';
    assert_false(merge(parts, 2));
    assert_string_equal(error, "b.tsv: line 1: not a kiln-journal, version 1");
    parts[1].text[0] = '\0';
    assert_false(merge(parts, 2));
    assert_string_equal(error, "b.tsv: empty, or torn within its head");
}

/* What a kill leaves behind is no damage. */
static void a_torn_last_row_is_left_out(void **state)
{
    const struct journal_head one = make_head(1, 2), two = make_head(2, 2);
    const struct merge_part parts[] = { make_part(0, "a.tsv", &one), make_part(1, "b.tsv", &two) };
    (void) state;
    parts[1].text[strlen(parts[1].text) - 5] = '\0';
    assert_true(merge(parts, 2));
    assert_string_equal(notes.bytes, "b.tsv: its last row was torn and is left out\n");
}

static void a_journal_without_a_search_is_named(void **state)
{
    const struct journal_head one = make_head(1, 2), two = make_head(2, 2);
    (void) state;
    record_format_head(&two, &texts[1]);
    const struct merge_part parts[] = { make_part(0, "a.tsv", &one), part_of(&texts[1], "b.tsv") };
    assert_true(merge(parts, 2));
    assert_string_equal(notes.bytes, "b.tsv: nothing was searched\n");
}

#define TEST(function) cmocka_unit_test_teardown(function, clean)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_was_searched_and_verified_is_kept),
        TEST(failures_of_finalists_are_kept),
        TEST(rows_are_kept_byte_by_byte),
        TEST(another_device_is_refused),
        TEST(another_clock_is_the_same_device),
        TEST(another_generator_is_refused),
        TEST(shards_that_overlap_are_refused),
        TEST(missing_shards_are_named),
        TEST(damage_is_refused),
        TEST(a_torn_last_row_is_left_out),
        TEST(a_journal_without_a_search_is_named),
    };
    return cmocka_run_group_tests_name("merge", tests, NULL, NULL);
}
