/* test_report.c: journals as HTML pages, generator/report. */
#include "wide.h"
#include "bench.h"
#include "report/report.h"
#include "report/svg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Pages are well formed ---- */

enum { MAX_DEPTH = 32, NAME_BYTES = 16 };

struct reader {
    const char *at;
    char open[MAX_DEPTH][NAME_BYTES];
    unsigned depth;
};

static bool is_void(const char *name)
{
    return !strcmp(name, "meta") || !strcmp(name, "br");
}

/* Reads name="value" pairs up to the tag's end; whether that is "/>". */
static bool read_attributes(struct reader *reader)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
    while (*reader->at == ' ') {
        reader->at++;
        const size_t name = strspn(reader->at, allowed);
        assert_in_range(name, 1, 20);
        reader->at += name;
        if (strncmp(reader->at, "=\"", 2))
            continue;
        reader->at += 2;
        reader->at += strcspn(reader->at, "\"<>");
        assert_int_equal(*reader->at++, '"');
    }
    const bool closes = *reader->at == '/';
    reader->at += closes;
    assert_int_equal(*reader->at++, '>');
    return closes;
}

static void read_tag(struct reader *reader)
{
    char name[NAME_BYTES];
    const bool ends = *reader->at == '/';
    reader->at += ends;
    const size_t len = strspn(reader->at, "abcdefghijklmnopqrstuvwxyz123456");
    assert_in_range(len, 1, NAME_BYTES - 1);
    snprintf(name, sizeof name, "%.*s", (int) len, reader->at);
    reader->at += len;
    if (ends) {
        assert_true(reader->depth > 0);
        assert_string_equal(reader->open[--reader->depth], name);
        assert_int_equal(*reader->at++, '>');
    } else if (!read_attributes(reader) && !is_void(name)) {
        assert_in_range(reader->depth, 0, MAX_DEPTH - 1);
        strcpy(reader->open[reader->depth++], name);
    }
}

/* An entity of those that the page uses, or a number. */
static void read_entity(struct reader *reader)
{
    static const char *const known[] = { "amp;", "lt;", "gt;", "quot;" };
    for (size_t i = 0; i < 4; i++)
        if (!strncmp(reader->at, known[i], strlen(known[i])))
            return;
    assert_int_equal(reader->at[0], '#');
    const size_t digits = strspn(reader->at + 1, "0123456789");
    assert_in_range(digits, 2, 5);
    assert_int_equal(reader->at[1 + digits], ';');
}

static void check_page(const char *page)
{
    static const char doctype[] = "<!DOCTYPE html>\n";
    struct reader reader = { .at = page + sizeof doctype - 1 };
    assert_int_equal(strncmp(page, doctype, sizeof doctype - 1), 0);
    while (*reader.at)
        switch (*reader.at++) {
        case '<': read_tag(&reader); break;
        case '&': read_entity(&reader); break;
        case '>': fail_msg("a stray '>' before: %.40s", reader.at); break;
        default: break;
        }
    assert_int_equal(reader.depth, 0);
    assert_null(strstr(page, "nan"));
    assert_null(strstr(page, "inf"));
    assert_null(strstr(page, "<script"));
    assert_null(strstr(page, "http"));
    assert_null(strstr(page, "url("));
}

/* ---- Journals ---- */

static struct text journal, page;

static void begin_journal(const char *device)
{
    struct journal_head head = { .facts = facts_wide(), .generator = record_generator_hash() };
    strcpy(head.facts.platform, "Platform");
    strcpy(head.facts.driver, "1.0");
    strcpy(head.facts.device, device);
    record_format_head(&head, &journal);
}

static void add_row(enum record_kind kind, int pair, size_t size, const char *config,
        const char *outcome, double seconds, const char *message)
{
    struct record row = { .kind = kind,
        .precision = precision_find("single"),
        .pair = pair,
        .m = size,
        .n = size,
        .k = size,
        .seconds = seconds,
        .cost = 0.25 };
    char line[RECORD_LINE_BYTES], error[FAMILY_ERROR_BYTES];
    assert_true(config_parse(config, &row.config, error));
    strcpy(row.outcome, outcome);
    strcpy(row.message, message);
    assert_true(record_format(&row, line));
    text_add(&journal, "%s", line);
}

/* Two searches, two recipes that each win once, a held-out shape, and failures. */
static void make_journal(void)
{
    static const char *const configs[] = { "packed TM=6", "packed TM=12 NV=1", "direct TM=4" };
    begin_journal("Device");
    for (int c = 0; c < 3; c++) {
        add_row(RECORD_SEARCH, 0, 1024, configs[c], "ok", 4e-3 - 1e-3 * c, "");
        add_row(RECORD_SEARCH, 0, 64, configs[c], c == 1 ? "slow" : "ok", 1e-5 * (c + 1), "");
    }
    add_row(RECORD_SEARCH, 0, 1024, "tiled", "build", 0, "a < b && \"c\"");
    add_row(RECORD_SEARCH, 0, 1024, "tiled KT=4", "build", 0, "");
    add_row(RECORD_SEARCH, 0, 1024, "tiled KT=8", "wrong", 0, "C[0][0] is 1, not 2");
    for (int c = 0; c < 2; c++)
        for (int pair = 0; pair < NUM_PAIRS; pair++)
            add_row(RECORD_EDGES, pair, 0, configs[c], "ok", 0, "");
    for (int pair = 0; pair < NUM_PAIRS; pair++) {
        add_row(RECORD_MATRIX, pair, 1000, configs[0], "ok", 2e-3, "");
        add_row(RECORD_MATRIX, pair, 1000, configs[1], "ok", 1e-3, "");
        add_row(RECORD_MATRIX, pair, 16, configs[0], "ok", 1e-6, "");
        add_row(RECORD_MATRIX, pair, 16, configs[1], "ok", 2e-6, "");
    }
    add_row(RECORD_HELD, 0, 900, configs[0], "ok", 1e-3, "");
    add_row(RECORD_HELD, 0, 900, configs[1], "ok", 1.5e-3, "");
}

static void make_page(void)
{
    char error[FAMILY_ERROR_BYTES];
    assert_false(journal.failed);
    if (!report_html(journal.bytes ? journal.bytes : "", NULL, &page, error))
        fail_msg("%s", error);
    check_page(page.bytes);
}

static int clean(void **state)
{
    (void) state;
    text_free(&journal);
    text_free(&page);
    return 0;
}

static void holds(const char *what)
{
    if (!strstr(page.bytes, what))
        fail_msg("the page does not hold '%s'", what);
}

static void lacks(const char *what)
{
    if (strstr(page.bytes, what))
        fail_msg("the page holds '%s'", what);
}

/* ---- Tests ---- */

static void a_page_shows_all(void **state)
{
    (void) state;
    make_journal();
    make_page();
    holds("<h1>Device</h1>");
    holds("<b>2 recipes were</b> chosen out of 35 evaluations");
    holds("a call takes <b>50&#8239;%</b> longer");
    holds("<tr><th scope=\"row\">single</th><td>2&#160;packed</td>");
    lacks("<th scope=\"row\">double</th>");
    holds("<h2>What choosing loses</h2>");
    holds("<title>900 &#215; 900 &#215; 900 nn: 50&#8239;%</title>");
    lacks("<h2>Against the generic bundle</h2>");
    holds("<td>small&#160;(4); 4 of 9<br><code>packed TM=6 ");
    holds("<td>large&#160;(5); 5 of 9<br><code>packed TM=12 NV=1 ");
    holds("1024 &#215; 1024 &#215; 1024 nn: 1074 GFLOP/s, 6 tried");
    holds("64 &#215; 64 &#215; 64 nn: 52.43 GFLOP/s, 3 tried");
    holds("<title>matrix: 4.0 s</title>");
    holds("<summary>Failures: 3 of 35 rows</summary>");
    holds("<th scope=\"row\">build</th><td class=\"num\">2</td>");
    holds("a &lt; b &amp;&amp; &quot;c&quot;");
}

static void the_same_journal_gives_the_same_bytes(void **state)
{
    struct text again = { 0 };
    char error[FAMILY_ERROR_BYTES];
    (void) state;
    make_journal();
    make_page();
    assert_true(report_html(journal.bytes, NULL, &again, error));
    assert_string_equal(page.bytes, again.bytes);
    text_free(&again);
}

static void an_empty_journal_says_so(void **state)
{
    (void) state;
    make_page();
    holds("<h1>No device</h1>");
    holds("The journal holds no rows: nothing was tuned");
    text_free(&page);
    begin_journal("Device");
    make_page();
    holds("<h1>Device</h1>");
    holds("The journal holds no rows: nothing was tuned");
}

static void failures_alone_have_no_chart(void **state)
{
    (void) state;
    begin_journal("Device");
    add_row(RECORD_SEARCH, 0, 64, "direct", "crash", 0, "signal 11");
    add_row(RECORD_SEARCH, 0, 64, "direct TM=2", "timeout", 0, "");
    make_page();
    holds("64 &#215; 64 &#215; 64 nn: none of 2 could be timed");
    holds("nothing in the journal may ship");
    holds("<th scope=\"row\">crash</th><td class=\"num\">1</td>");
    lacks("class=\"chart\"");
    lacks("<h2>What was chosen</h2>");
}

static void one_time_is_a_chart(void **state)
{
    (void) state;
    begin_journal("Device");
    add_row(RECORD_SEARCH, 2, 64, "direct", "ok", 1e-3, "");
    make_page();
    holds("64 &#215; 64 &#215; 64 tn: 0.5243 GFLOP/s, 1 tried");
    holds("class=\"chart\"");
}

static void names_are_escaped(void **state)
{
    (void) state;
    begin_journal("<b>&'\"\xff\xc3\xa9\xe2\x82\xac\xc0\xaf\xed\xa0\x80\xf0\x9f\x94\xa5\x01</b>");
    make_page();
    holds("<h1>&lt;b&gt;&amp;&#39;&quot;?\xc3\xa9\xe2\x82\xac?????"
          "\xf0\x9f\x94\xa5?&lt;/b&gt;</h1>");
    lacks("<b>&");
    lacks("\xff");
}

static void what_is_no_journal_is_refused(void **state)
{
    char error[FAMILY_ERROR_BYTES];
    (void) state;
    assert_false(report_html("no journal\n", NULL, &page, error));
    assert_string_equal(error, "line 1: not a kiln-journal, version 1");
    make_journal();
    strstr(journal.bytes, "\nsearch")[1] = 'S';
    assert_false(report_html(journal.bytes, NULL, &page, error));
    assert_non_null(strstr(error, "wrong checksum"));
    assert_null(page.bytes);
}

static void a_benchmark_is_shown_or_refused(void **state)
{
    static const char json[] =
            "{\"format\": \"kiln-bench 2\", \"device\": {\"name\": \"a device\"}, \"comparison\": {"
            "\"peers\": [{\"key\": \"kiln\", \"title\": \"Kiln\"},"
            " {\"key\": \"blas\", \"title\": \"BLAS\"}],"
            " \"rows\": [{\"precision\": \"S\", \"transpose\": \"nn\", \"m\": 1000, \"n\": 1000,"
            " \"k\": 1000, \"ratios\": {\"kiln/blas\": 1.25}, \"recipes\": ["
            "{\"name\": \"direct\", \"outcome\": \"timed\", \"median_seconds\": 0.5},"
            "{\"name\": \"thin\", \"outcome\": \"failed\", \"median_seconds\": 0.25},"
            "{\"name\": \"gone TM=4\", \"outcome\": \"timed\", \"median_seconds\": 0.25}]}]}}";
    char cut[sizeof json], error[FAMILY_ERROR_BYTES];
    struct bench bench = { .num_rows = 0 };
    (void) state;
    if (!bench_parse(json, &bench, error))
        fail_msg("%s", error);
    make_journal();
    assert_true(report_html(journal.bytes, &bench, &page, error));
    check_page(page.bytes);
    holds("<h2>Against its peers</h2>");
    holds("1000 &#215; 1000 &#215; 1000 nn: 1.25");
    assert_int_equal(bench.rows[0].num_times, 1);
    assert_string_equal(bench.rows[0].times[0].config.family->name, "direct");
    assert_true(bench.rows[0].times[0].seconds == 0.5);
    bench_free(&bench);
    for (size_t end = 0; end < sizeof json - 1; end++) {
        memcpy(cut, json, end);
        cut[end] = 0;
        assert_false(bench_parse(cut, &bench, error));
        bench_free(&bench);
    }
}

#define TEST(function) cmocka_unit_test_teardown(function, clean)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_page_shows_all),
        TEST(the_same_journal_gives_the_same_bytes),
        TEST(an_empty_journal_says_so),
        TEST(failures_alone_have_no_chart),
        TEST(one_time_is_a_chart),
        TEST(names_are_escaped),
        TEST(what_is_no_journal_is_refused),
        TEST(a_benchmark_is_shown_or_refused),
    };
    return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
