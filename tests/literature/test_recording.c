/* test_recording.c: recorded search spaces from text, generator/literature/replay/recording.c. */
#include "record.h"
#include "recordings.h"
#include "literature/replay/recording.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct recording recording, other;

/* Parses what must be right. */
static void parse(const char *text, struct recording *to)
{
    char error[RECORDING_ERROR_BYTES];
    if (!recording_parse(text, to, error))
        fail_msg("%s", error);
}

static void columns_are_found_by_name(void **state)
{
    (void) state;
    parse("B\tA\tmedian_ms\tsamples\n8\t-1\t2.5\t7\n2\t3\t1.5\t7\r\n2\t-1\tnan\t7", &recording);
    assert_int_equal(recording.num_params, 2);
    assert_string_equal(recording.names[0], "B");
    assert_int_equal(recording.num_values[0], 2);
    assert_int_equal(recording.values[0][0], 2);
    assert_int_equal(recording.values[0][1], 8);
    assert_int_equal(recording.values[1][0], -1);
    assert_int_equal(recording.num_rows, 3);
    assert_true(recording.best_cost == 1.5);
    assert_false(recording.is_ranked);
    const struct point best = { { 0, 1 } }, failed = { { 0, 0 } }, illegal = { { 1, 1 } };
    assert_true(recording_find(&recording, &best)->cost == 1.5);
    assert_true(recording_find(&recording, &failed)->cost == HUGE_VAL);
    assert_null(recording_find(&recording, &illegal));
    recording_free(&recording);
}

static void the_median_is_preferred(void **state)
{
    (void) state;
    parse("P\tmin_ms\tfirst_ms\n1\t4\t5\n", &recording);
    assert_true(recording.best_cost == 4);
    recording_free(&recording);
    parse("P\tfirst_ms\tmin_ms\tmedian_ms\n1\t5\t3\t4\n", &recording);
    assert_true(recording.best_cost == 4);
    recording_free(&recording);
}

static void wrong_tables_are_refused_by_line(void **state)
{
    (void) state;
    static const struct {
        const char *text, *error;
    } cases[] = {
        { "", "line 1: a bad name of a column: " },
        { "P\tQ\n", "line 1: no column first_ms, min_ms or median_ms" },
        { "P\tsamples\n1\t2\n", "line 1: no column first_ms, min_ms or median_ms" },
        { "min_ms\n1\n", "line 1: no column of a parameter" },
        { "P\tmin_ms\tQ\n", "line 1: unexpected column Q" },
        { "P\t\tmin_ms\n", "line 1: a bad name of a column: " },
        { "P\tQ\tP\tmin_ms\n", "line 1: two columns have the name P" },
        { "P\tmin_ms\n", "no configuration has a time" },
        { "P\tmin_ms\n1\tinf\n", "no configuration has a time" },
        { "P\tmin_ms\n1\t2\n1.5\t2\n", "line 3: not a whole number: 1.5" },
        { "P\tmin_ms\n1\t2\n2\t0\n", "line 3: not a time: 0" },
        { "P\tmin_ms\n1\tfast\n", "line 2: not a time: fast" },
        { "P\tmin_ms\n1\n", "line 2: not as many columns as the first line" },
        { "P\tmin_ms\n1\t2\n\n", "line 3: not as many columns as the first line" },
        { "P\tmin_ms\n1\t2\n2\t2\n1\t1\n", "line 4: the configuration of line 2 again" },
        { "kiln-journal\t1\nbegin\n", "no row of a search" },
        { "kiln-journal\t1\nnonsense\n", "line 2: unknown row in the head" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char error[RECORDING_ERROR_BYTES] = "";
        assert_false(recording_parse(cases[i].text, &recording, error));
        assert_string_equal(error, cases[i].error);
        assert_null(recording.rows);
    }
}

static void too_many_values_are_refused(void **state)
{
    (void) state;
    struct text text = { 0 };
    char error[RECORDING_ERROR_BYTES];
    text_add(&text, "P\tmin_ms\n");
    for (int i = 0; i <= RECORDING_MAX_VALUES; i++)
        text_add(&text, "%d\t1\n", -i);
    assert_false(text.failed);
    assert_false(recording_parse(text.bytes, &recording, error));
    assert_string_equal(error, "line 257: too many values of P");
    text_free(&text);
}

static void add_record(struct text *text, const char *config, size_t m, enum record_kind kind,
        const char *outcome, double seconds)
{
    struct record row = {
        .kind = kind,
        .precision = precision_find("single"),
        .m = m,
        .n = m,
        .k = m,
        .seconds = seconds,
    };
    char line[RECORD_LINE_BYTES], error[FAMILY_ERROR_BYTES];
    snprintf(row.outcome, sizeof row.outcome, "%s", outcome);
    assert_true(config_parse(config, &row.config, error));
    assert_true(record_format(&row, line));
    text_add(text, "%s", line);
}

/* The largest group of search rows counts, with its family's rank; failures are legal points. */
static void journals_are_recordings(void **state)
{
    (void) state;
    struct journal_head head = { .generator = 1 };
    struct text text = { 0 };
    facts_minimal(&head.facts);
    record_format_head(&head, &text);
    add_record(&text, "packed TM=4", 64, RECORD_SEARCH, "ok", 0.5);
    add_record(&text, "packed TM=4", 1024, RECORD_SEARCH, "ok", 0.25);
    add_record(&text, "packed TM=6", 1024, RECORD_SEARCH, "ok", 0.125);
    add_record(&text, "packed TM=8", 1024, RECORD_SEARCH, "timeout", 0);
    add_record(&text, "packed TM=10", 1024, RECORD_SEARCH, "slow", 1);
    add_record(&text, "packed TM=12", 1024, RECORD_MATRIX, "ok", 0.0625);
    assert_false(text.failed);
    parse(text.bytes, &recording);
    text_free(&text);
    assert_string_equal(recording.title, "packed single nn 1024x1024x1024");
    assert_int_equal(recording.num_rows, 4);
    assert_true(recording.best_cost == 125);
    assert_true(recording.rows[2].cost == HUGE_VAL && recording.rows[3].cost == 1000);
    assert_true(recording.is_ranked);
    recording_free(&recording);
}

static void rows_are_translated_by_name(void **state)
{
    (void) state;
    parse("A\tB\tmin_ms\n1\t10\t3\n1\t20\t4\n2\t20\t5\n", &recording);
    parse("B\tA\tmin_ms\n20\t1\t1\n20\t3\t2\n10\t2\t3\n", &other);
    const struct recording_row *row = recording_translate(&recording, &other, &other.rows[1]);
    assert_non_null(row);
    assert_true(other.rows[1].cost == 1 && row->cost == 4);
    assert_null(recording_translate(&recording, &other, &other.rows[0])); /* no row */
    assert_null(recording_translate(&recording, &other, &other.rows[2])); /* no such value */
    recording_free(&other);
    parse("B\tC\tmin_ms\n20\t1\t1\n", &other);
    assert_null(recording_translate(&recording, &other, &other.rows[0]));
    recording_free(&other);
    recording_free(&recording);
}

static void generated_recordings_are_whole(void **state)
{
    (void) state;
    struct text text = { 0 };
    recordings_add(&text, &(struct taste){ 7, 4, 2 });
    parse(text.bytes, &recording);
    text_free(&text);
    assert_int_equal(recording.num_params, 6);
    for (size_t i = 0; i < recording.num_rows; i++)
        assert_ptr_equal(recording_find(&recording, &recording.rows[i].point), &recording.rows[i]);
    recording_free(&recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_found_by_name),
        cmocka_unit_test(the_median_is_preferred),
        cmocka_unit_test(wrong_tables_are_refused_by_line),
        cmocka_unit_test(too_many_values_are_refused),
        cmocka_unit_test(journals_are_recordings),
        cmocka_unit_test(rows_are_translated_by_name),
        cmocka_unit_test(generated_recordings_are_whole),
    };
    return cmocka_run_group_tests_name("recording", tests, NULL, NULL);
}
