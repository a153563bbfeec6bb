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
    size_t extents[3];
    (void) state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        if (!extents_parse(good[i], extents))
            fail_msg("'%s' is refused", good[i]);
        assert_true(extents[0] == 64 && extents[1] == 32 && extents[2] == 16);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (extents_parse(bad[i], extents))
            fail_msg("'%s' is taken", bad[i]);
}

struct taken {
    size_t num, most, sum;
};

static const char *take(void *user, const size_t extents[3])
{
    struct taken *taken = user;
    if (taken->num == taken->most)
        return "enough";
    taken->num++;
    taken->sum += extents[0] + extents[1] + extents[2];
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
        cmocka_unit_test(long_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
