/* test_record.c: journals as text, generator/core/record.c. */
#include "wide.h"
#include "record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct record make_row(enum record_kind kind, const char *precision, int pair,
        const char *config, const char *outcome)
{
    struct record row = {
        .kind = kind,
        .precision = precision_find(precision),
        .pair = pair,
        .m = 1024,
        .n = 16,
        .k = 512,
        .seconds = 1.25e-5,
        .spread = 0.015,
        .cost = 0.5,
    };
    char error[FAMILY_ERROR_BYTES];
    assert_true(config_parse(config, &row.config, error));
    snprintf(row.outcome, sizeof row.outcome, "%s", outcome);
    return row;
}

static struct journal_head make_head(void)
{
    struct journal_head head = { .facts = facts_wide(), .generator = 0x0123456789abcdefu };
    strcpy(head.facts.device, "A device (R), with all: sorts of = characters");
    return head;
}

/* A journal of three rows. */
static void make_journal(struct text *text)
{
    const struct journal_head head = make_head();
    struct record rows[3] = {
        make_row(RECORD_OWN, "single", 0, "packed TM=12 NV=2 VEC=16", "ok"),
        make_row(RECORD_EDGES, "half", 3, "tiled INDEX=64", "wrong"),
        make_row(RECORD_HELD, "double", 2, "direct", "timeout"),
    };
    char line[RECORD_LINE_BYTES];
    strcpy(rows[1].message, "ragged: C[1][2] is nan, not 3");
    rows[0].batch = 250;
    record_format_head(&head, text);
    for (int i = 0; i < 3; i++) {
        assert_true(record_format(&rows[i], line));
        text_add(text, "%s", line);
    }
    assert_false(text->failed);
}

static void check_same(const struct record *a, const struct record *b)
{
    assert_true(record_same_evaluation(a, b));
    assert_string_equal(a->outcome, b->outcome);
    assert_string_equal(a->message, b->message);
    assert_true(a->seconds == b->seconds && a->spread == b->spread && a->cost == b->cost);
}

static void journals_come_back(void **state)
{
    (void) state;
    const struct journal_head head = make_head();
    struct text text = { 0 }, again = { 0 };
    struct records records;
    char error[FAMILY_ERROR_BYTES], line[RECORD_LINE_BYTES];
    make_journal(&text);
    assert_true(records_parse(text.bytes, &records, error));
    assert_int_equal(records.num, 3);
    assert_int_equal(records.whole_bytes, text.len);
    assert_true(records.head.generator == head.generator);
    assert_string_equal(records.head.facts.platform, head.facts.platform);
    assert_string_equal(records.head.facts.device, head.facts.device);
    assert_string_equal(records.head.facts.driver, head.facts.driver);
    assert_memory_equal(records.head.facts.value, head.facts.value, sizeof head.facts.value);
    assert_string_equal(records.rows[1].message, "ragged: C[1][2] is nan, not 3");
    struct record first = make_row(RECORD_OWN, "single", 0, "packed TM=12 NV=2 VEC=16", "ok");
    first.batch = 250;
    check_same(&records.rows[0], &first);
    record_format_head(&records.head, &again);
    for (size_t i = 0; i < records.num; i++) {
        assert_true(record_format(&records.rows[i], line));
        text_add(&again, "%s", line);
    }
    assert_string_equal(text.bytes, again.bytes);
    records_free(&records);
    text_free(&text);
    text_free(&again);
}

static size_t whole_rows(const char *text)
{
    size_t lines = 0;
    const char *begin = strstr(text, "\nbegin\n");
    for (const char *p = begin ? begin + 7 : ""; (p = strchr(p, '\n')); p++)
        lines++;
    return lines;
}

/* Cut at any byte, a journal holds its whole rows, and says how far they reach. */
static void torn_at_every_byte(void **state)
{
    (void) state;
    struct text text = { 0 };
    make_journal(&text);
    for (size_t len = 0; len <= text.len; len++) {
        char error[FAMILY_ERROR_BYTES] = "";
        struct records records;
        char *torn = calloc(1, len + 1);
        assert_non_null(torn);
        memcpy(torn, text.bytes, len);
        if (!records_parse(torn, &records, error))
            fail_msg("cut at %zu: %s", len, error);
        assert_int_equal(records.num, whole_rows(torn));
        assert_true(records.whole_bytes <= len);
        if (records.whole_bytes)
            assert_int_equal(torn[records.whole_bytes - 1], '\n');
        else
            assert_null(strstr(torn, "\nbegin\n"));
        if (records.whole_bytes)
            assert_null(strchr(torn + records.whole_bytes, '\n'));
        records_free(&records);
        free(torn);
    }
    text_free(&text);
}

/* No bit of a row can change and leave a row that says something else. */
static void check_changed(const struct text *text, const struct records *original, size_t at,
        int bit)
{
    char error[FAMILY_ERROR_BYTES];
    struct records records;
    char *changed = calloc(1, text->len + 1);
    assert_non_null(changed);
    memcpy(changed, text->bytes, text->len);
    changed[at] = (char) (changed[at] ^ 1 << bit);
    if (changed[at] && records_parse(changed, &records, error)) {
        for (size_t i = 0; i < records.num; i++)
            check_same(&original->rows[i], &records.rows[i]);
        records_free(&records);
    }
    free(changed);
}

static void every_changed_bit_is_noticed(void **state)
{
    (void) state;
    struct text text = { 0 };
    struct records records;
    char error[FAMILY_ERROR_BYTES];
    make_journal(&text);
    assert_true(records_parse(text.bytes, &records, error));
    const char *rows = strstr(text.bytes, "\nbegin\n") + 7;
    for (size_t i = (size_t) (rows - text.bytes); i + 1 < text.len; i++)
        for (int bit = 0; bit < 8; bit++)
            check_changed(&text, &records, i, bit);
    records_free(&records);
    text_free(&text);
}

static void check_refused(const char *text, const char *expected)
{
    struct records records;
    char error[FAMILY_ERROR_BYTES] = "";
    if (records_parse(text, &records, error))
        fail_msg("not refused: %s", text);
    assert_string_equal(error, expected);
    assert_null(records.rows);
}

static void wrong_heads(void **state)
{
    (void) state;
    char text[2048], name[300];
    check_refused("kiln-journal\t2\n", "line 1: not a kiln-journal, version 1");
    check_refused("kiln-winners\t1\n", "line 1: not a kiln-journal, version 1");
    check_refused("\n", "line 1: not a kiln-journal, version 1");
    check_refused("kiln-journal\t1\ndevice\tonly one\n", "line 2: unknown row in the head");
    check_refused("kiln-journal\t1\nsomething\n", "line 2: unknown row in the head");
    check_refused("kiln-journal\t1\nfact\tWEIGHT\t3\n", "line 2: unknown fact");
    check_refused("kiln-journal\t1\nfact\tUNITS\tmany\n", "line 2: a fact is no whole number");
    check_refused("kiln-journal\t1\nfact\tUNITS\t8 \n", "line 2: a fact is no whole number");
    check_refused("kiln-journal\t1\nfact\tUNITS\t9223372036854775808\n",
            "line 2: a fact is no whole number");
    check_refused("kiln-journal\t1\ngenerator\t0123456789abcdeg\n",
            "line 2: the generator's hash has not 16 digits");
    check_refused("kiln-journal\t1\ngenerator\t123\n",
            "line 2: the generator's hash has not 16 digits");
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    snprintf(text, sizeof text, "kiln-journal\t1\ndevice\tp\t%s\td\n", name);
    check_refused(text, "line 2: a device's name is too long");
    memset(text, 'x', sizeof text - 1);
    strcpy(text + sizeof text - 3, "\n");
    check_refused(text, "line 1: too long");
}

/* A row with the given fields and the right checksum. */
static void make_line(const char *fields, char *line, size_t size)
{
    uint32_t hash = 0x811c9dc5u;
    for (const char *p = fields; *p; p++)
        hash = (hash ^ (unsigned char) *p) * 0x01000193u;
    snprintf(line, size, "kiln-journal\t1\nbegin\n%s%08x\n", fields, (unsigned) hash);
}

static void wrong_rows(void **state)
{
    (void) state;
    const struct {
        const char *fields, *error;
    } rows[] = {
        { "search\tsingle\tnn\t1\t1\t1\tpacked\tok\t1\t0\t0\t", "line 3: wrong number of fields" },
        { "search\tsingle\tnn\t1\t1\t1\tpacked\tok\t1\t0\t0\t\t\t",
                "line 3: wrong number of fields" },
        { "search\tsingle\tnn\t1\t1\t1\tbatch=0\tpacked\tok\t1\t0\t0\t\t",
                "line 3: wrong number of fields" },
        { "search\tsingle\tnn\t1\t1\t1\tbatch=2x\tpacked\tok\t1\t0\t0\t\t",
                "line 3: wrong number of fields" },
        { "search\tsingle\tnn\t1\t1\tbatch=2\tpacked\tok\t1\t0\t0\t\t", "line 3: a bad extent" },
        { "serch\tsingle\tnn\t1\t1\t1\tpacked\tok\t1\t0\t0\t\t",
                "line 3: unknown kind, precision or transposes" },
        { "search\tquad\tnn\t1\t1\t1\tpacked\tok\t1\t0\t0\t\t",
                "line 3: unknown kind, precision or transposes" },
        { "search\tsingle\tno\t1\t1\t1\tpacked\tok\t1\t0\t0\t\t",
                "line 3: unknown kind, precision or transposes" },
        { "search\tsingle\tnn\t-1\t1\t1\tpacked\tok\t1\t0\t0\t\t", "line 3: a bad extent" },
        { "search\tsingle\tnn\t1\tx\t1\tpacked\tok\t1\t0\t0\t\t", "line 3: a bad extent" },
        { "search\tsingle\tnn\t1\t1\t99999999999999999999\tpacked\tok\t1\t0\t0\t\t",
                "line 3: a bad extent" },
        { "search\tsingle\tnn\t1\t1\t1\tpickled\tok\t1\t0\t0\t\t", "line 3: no family 'pickled'" },
        { "search\tsingle\tnn\t1\t1\t1\tpacked\tok\tfast\t0\t0\t\t", "line 3: a bad result" },
        { "search\tsingle\tnn\t1\t1\t1\tpacked\tan outcome too long\t1\t0\t0\t\t",
                "line 3: a bad result" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char line[512];
        make_line(rows[i].fields, line, sizeof line);
        check_refused(line, rows[i].error);
    }
    check_refused("kiln-journal\t1\nbegin\nword\n", "line 3: not a row");
    check_refused("kiln-journal\t1\nbegin\nsearch\tsingle\t00000000\n", "line 3: wrong checksum");
    check_refused("kiln-journal\t1\nbegin\nsearch\tsingle\t\n", "line 3: wrong checksum");
}

static void evaluations(void **state)
{
    (void) state;
    const struct record row = make_row(RECORD_SEARCH, "single", 0, "packed", "ok");
    struct record other = row;
    strcpy(other.outcome, "crash");
    other.seconds = 7;
    assert_true(record_same_evaluation(&row, &other));
    other.k++;
    assert_false(record_same_evaluation(&row, &other));
    other = row;
    other.batch = 2;
    assert_false(record_same_evaluation(&row, &other));
    other = row;
    other.pair = 1;
    assert_false(record_same_evaluation(&row, &other));
    other = row;
    other.kind = RECORD_MATRIX;
    assert_false(record_same_evaluation(&row, &other));
    other = make_row(RECORD_SEARCH, "single", 0, "packed TM=4", "ok");
    assert_false(record_same_evaluation(&row, &other));
    other = make_row(RECORD_SEARCH, "half", 0, "packed", "ok");
    assert_false(record_same_evaluation(&row, &other));
}

static void a_row_that_does_not_fit(void **state)
{
    (void) state;
    struct record row = make_row(RECORD_SEARCH, "single", 0, "tiled", "ok");
    char line[RECORD_LINE_BYTES];
    memset(row.message, 'x', sizeof row.message - 1);
    assert_true(record_format(&row, line));
    assert_in_range(strlen(line), 256, RECORD_LINE_BYTES - 1);
}

static void the_generator_hash_is_repeatable(void **state)
{
    (void) state;
    assert_true(record_generator_hash() == record_generator_hash());
    assert_true(record_generator_hash() != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(journals_come_back),
        cmocka_unit_test(torn_at_every_byte),
        cmocka_unit_test(every_changed_bit_is_noticed),
        cmocka_unit_test(wrong_heads),
        cmocka_unit_test(wrong_rows),
        cmocka_unit_test(evaluations),
        cmocka_unit_test(a_row_that_does_not_fit),
        cmocka_unit_test(the_generator_hash_is_repeatable),
    };
    return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
