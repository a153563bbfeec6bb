/* test_extents.c: shapes as text, generator/core/extents.c. */
#include "extents.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void one_shape(void **state)
{
    static const char *const good[] = { "64 32 16", "64x32x16", " 64\t32  16 ", "64 x 32 x16\r",
        "64 32x16", "64X32X16" };
    static const char *const bad[] = { "", " ", "64", "64 32", "64 32 16 8", "64x32x", "x64x32x16",
        "64xx32x16", "64,32,16", "0 1 1", "1 1 16777217", "-1 1 1", "+1 1 1", "1 1 1.5",
        "99999999999999999999 1 1", "1 1 1\n" };
    struct shape shape;
    (void) state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        if (!extents_parse(good[i], &shape))
            fail_msg("'%s' is refused", good[i]);
        assert_true(shape_equal(shape, (struct shape){ 64, 32, 16 }));
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (extents_parse(bad[i], &shape))
            fail_msg("'%s' is taken", bad[i]);
}

struct taken {
    size_t num, most, sum;
};

static const char *take(void *user, const struct extents_line *line)
{
    struct taken *taken = user;
    if (taken->num == taken->most)
        return "enough";
    taken->num++;
    taken->sum += line->m + line->n + line->k;
    return NULL;
}

static void a_file(void **state)
{
    struct taken taken = { .most = 3 };
    char error[EXTENTS_ERROR_BYTES] = "";
    (void) state;
    assert_true(extents_parse_file("\xef\xbb\xbf# one\n1 2 3 # more\r\n\n\t\n4x5x6\n7 8 9", "f",
            take, &taken, error));
    assert_int_equal(taken.num, 3);
    assert_int_equal(taken.sum, 45);
    assert_false(extents_parse_file("\n1 2 3\n", "f", take, &taken, error));
    assert_string_equal(error, "f: line 2: enough");
    assert_false(extents_parse_file("# 1\n1 2\n3\n", "f", take, &taken, error));
    assert_string_equal(error, "f: line 2: expected M N K, each from 1 to 16777216");
    assert_true(extents_parse_file("", "f", take, &taken, error));
}

static const char *take_line(void *user, const struct extents_line *line)
{
    *(struct extents_line *) user = *line;
    return NULL;
}

static struct extents_line read_line(const char *text)
{
    struct extents_line line;
    char error[EXTENTS_ERROR_BYTES];
    if (!extents_parse_file(text, "f", take_line, &line, error))
        fail_msg("%s: %s", text, error);
    return line;
}

/* What a line does not say is the default. */
static void words(void **state)
{
    (void) state;
    struct extents_line line = read_line("4 5 6");
    assert_true(!line.precision && line.pair == -1 && line.batch == 0 && line.weight == 1);
    line = read_line("4x5x6\thalf tn batch=12 weight=.5e1  # all\r");
    assert_true(line.m == 4 && line.n == 5 && line.k == 6);
    assert_true(line.precision == precision_find("half") && line.pair == 2 && line.batch == 12 &&
                line.weight == 5);
    line = read_line("4 x 5 x 6 weight=2 tt batch=16777216 d\r\n");
    assert_true(line.precision == precision_find("double") && line.pair == 3 &&
                line.batch == 16777216 && line.weight == 2);
    assert_true(read_line("1 1 1 single").precision == read_line("1 1 1 s").precision);
    assert_true(read_line("1 1 1 h").precision == precision_find("half"));
    assert_true(read_line("1 1 1 z").precision == precision_find("complex_double"));
    assert_int_equal(read_line("1 1 1 nn").pair, 0);
    assert_int_equal(read_line("1 1 1 nt").pair, 1);
}

static void bad_words(void **state)
{
    static const char unknown[] =
            "expected M N K, and behind it a precision (h, s, d, c, z, x or its name), a pair "
            "(nn, nt, tn, tt), batch=N, weight=X";
    static const char batch[] = "batch is not a number from 1 to 16777216",
                      weight[] = "weight is not a number above 0, up to 1e9";
    static const struct {
        const char *text, *why;
    } cases[] = {
        { "1 2 3nn", "expected M N K, each from 1 to 16777216" },
        { "1 2 3x nn", "expected M N K, each from 1 to 16777216" },
        { "s 1 2 3", "expected M N K, each from 1 to 16777216" },
        { "1 2 3 4", unknown },
        { "1 2 3 NN", unknown },
        { "1 2 3 quad", unknown },
        { "1 2 3 batch", unknown },
        { "1 2 3 batch = 2", unknown },
        { "1 2 3 sd", unknown },
        { "1 2 3 nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn", unknown },
        { "1 2 3 batch=", batch },
        { "1 2 3 batch=0", batch },
        { "1 2 3 batch=-1", batch },
        { "1 2 3 batch=+1", batch },
        { "1 2 3 batch=1.5", batch },
        { "1 2 3 batch=16777217", batch },
        { "1 2 3 weight=", weight },
        { "1 2 3 weight=0", weight },
        { "1 2 3 weight=-1", weight },
        { "1 2 3 weight=inf", weight },
        { "1 2 3 weight=nan", weight },
        { "1 2 3 weight=2e9", weight },
        { "1 2 3 weight=1x", weight },
        { "1 2 3 s single", "more than one precision" },
        { "1 2 3 nn nt", "more than one pair of transposes" },
        { "1 2 3 batch=1 batch=1", "batch is given twice" },
        { "1 2 3 weight=1 weight=1", "weight is given twice" },
    };
    struct extents_line line;
    char text[128], error[EXTENTS_ERROR_BYTES], expected[EXTENTS_ERROR_BYTES];
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(text, sizeof text, "1 1 1\n%s\n", cases[i].text);
        snprintf(expected, sizeof expected, "f: line 2: %s", cases[i].why);
        if (extents_parse_file(text, "f", take_line, &line, error))
            fail_msg("'%s' is taken", cases[i].text);
        assert_string_equal(error, expected);
    }
}

/* A line is never cut into a shape that it does not hold. */
static void long_lines(void **state)
{
    struct taken taken = { .most = 3 };
    char line[600], error[EXTENTS_ERROR_BYTES] = "";
    (void) state;
    memset(line, ' ', sizeof line);
    line[599] = '\0';
    for (int at = 230; at < 300; at++) {
        memset(line, ' ', 599);
        memcpy(line + at, "1 1 1234567", 11);
        assert_false(extents_parse_file(line, "f", take, &taken, error));
    }
    memset(line, '#', 300);
    assert_true(extents_parse_file(line, "f", take, &taken, error));
    assert_int_equal(taken.num, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_shape),
        cmocka_unit_test(a_file),
        cmocka_unit_test(words),
        cmocka_unit_test(bad_words),
        cmocka_unit_test(long_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
