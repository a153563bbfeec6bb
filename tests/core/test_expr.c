/* test_expr.c: names and the expressions over them, generator/core/{scope,expr}.c. */
#include "expr.h"
#include "repeat.h"
#include "scope.h"

#include <inttypes.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* One for all tests: a scope is too big to put on the stack by habit. */
static struct scope names;

static int fill_names(void **state)
{
    (void) state;
    names.num = 0;
    bool ok = scope_set(&names, "M", 96) && scope_set(&names, "N", 0) &&
              scope_set(&names, "VEC", 4) && scope_set(&names, "min", 7) &&
              scope_set(&names, "BIG", INT64_MAX) && scope_set(&names, "SMALL", INT64_MIN) &&
              scope_set_text(&names, "T", "float");
    return ok ? 0 : -1;
}

struct good {
    const char *text;
    int64_t value;
};

static void check_good(const struct good *rows, size_t num)
{
    for (size_t i = 0; i < num; i++) {
        struct expr_error err = { .what = "" };
        int64_t value = -12345;
        if (!expr_eval(rows[i].text, strlen(rows[i].text), &names, &value, &err))
            fail_msg("'%s': %s", rows[i].text, err.what);
        if (value != rows[i].value)
            fail_msg("'%s' is %" PRId64 ", not %" PRId64, rows[i].text, value, rows[i].value);
    }
}

struct bad {
    const char *text;
    size_t at;
    const char *what;
};

static void check_bad(const struct bad *rows, size_t num)
{
    for (size_t i = 0; i < num; i++) {
        struct expr_error err = { .what = "" };
        int64_t value = -12345;
        if (expr_eval(rows[i].text, strlen(rows[i].text), &names, &value, &err))
            fail_msg("'%s' is %" PRId64 ", not an error", rows[i].text, value);
        assert_int_equal(value, -12345);
        if (strcmp(err.what, rows[i].what) != 0 || err.at != rows[i].at)
            fail_msg("'%s': '%s' at %zu, not '%s' at %zu", rows[i].text, err.what, err.at,
                    rows[i].what, rows[i].at);
    }
}

static void operators(void **state)
{
    (void) state;
    static const struct good rows[] = {
        { "1", 1 },
        { " \t42\n", 42 },
        { "M", 96 },
        { "1 + 2 * 3", 7 },
        { "(1 + 2) * 3", 9 },
        { "10 - 3 - 2", 5 },
        { "100 / 10 / 2", 5 },
        { "17 % 5", 2 },
        { "-7 / 2", -3 },
        { "-7 % 2", -1 },
        { "2 * 3 % 4", 2 },
        { "- - 3", 3 },
        { "1--1", 2 },
        { "!0", 1 },
        { "!5", 0 },
        { "!!5", 1 },
        { "!0 == 1", 1 },
        { "-M + 1", -95 },
        { "1 == 1", 1 },
        { "1 != 1", 0 },
        { "1 < 2", 1 },
        { "2 <= 2", 1 },
        { "2 > 2", 0 },
        { "2 >= 2", 1 },
        { "3 > 2 > 1", 0 },
        { "1 < 2 == 1", 1 },
        { "1 + 1 < 3", 1 },
        { "0 == 1 < 2", 0 },
        { "0 || 2", 1 },
        { "2 && 3", 1 },
        { "1 || 0 && 0", 1 },
        { "0 == 0 && 1 != 2", 1 },
        { "1 ? 2 : 3", 2 },
        { "0 ? 2 : 3", 3 },
        { "0 ? 1 : 0 ? 2 : 3", 3 },
        { "1 ? 0 ? 4 : 5 : 6", 5 },
        { "0 || 1 ? 7 : 8", 7 },
        { "M % (VEC * 8) == 0", 1 },
        { "M%VEC==0&&!N", 1 },
    };
    check_good(rows, sizeof rows / sizeof rows[0]);
}

static void functions(void **state)
{
    (void) state;
    static const struct good rows[] = {
        { "min(3, 2)", 2 },
        { "max(3, 2)", 3 },
        { "min", 7 },
        { "min (1, 2) + min", 8 },
        { "max(min(1, 2), (3 > 2) ? 5 : 6)", 5 },
        { "ceil_div(7, 2)", 4 },
        { "ceil_div(8, 2)", 4 },
        { "ceil_div(0, 3)", 0 },
        { "ceil_div(-7, 2)", -3 },
        { "ceil_div(7, -2)", -3 },
        { "ceil_div(-7, -2)", 4 },
        { "ceil_div(BIG, 2)", INT64_MAX / 2 + 1 },
        { "ceil_div(BIG, BIG)", 1 },
        { "round_up(7, 4)", 8 },
        { "round_up(8, 4)", 8 },
        { "round_up(0, 4)", 0 },
        { "gcd(192, 128)", 64 },
        { "gcd(16, 256)", 16 },
        { "gcd(9, 4)", 1 },
        { "gcd(BIG, BIG)", INT64_MAX },
        { "pow2(1)", 1 },
        { "pow2(64)", 1 },
        { "pow2(0)", 0 },
        { "pow2(-4)", 0 },
        { "pow2(12)", 0 },
        { "pow2(SMALL)", 0 },
        { "log2(1)", 0 },
        { "log2(8)", 3 },
        { "log2(9)", 3 },
        { "log2(BIG)", sizeof(int64_t) * CHAR_BIT - 2 },
    };
    check_good(rows, sizeof rows / sizeof rows[0]);
}

static void untaken_side_is_not_evaluated(void **state)
{
    (void) state;
    static const struct good rows[] = {
        { "N && M % N == 0", 0 },
        { "!N || M / N", 1 },
        { "N ? M / N : 5", 5 },
        { "!N ? 5 : M % N", 5 },
        { "0 && BIG + 1", 0 },
        { "0 && ceil_div(1, 0)", 0 },
        { "1 || log2(0)", 1 },
        { "0 && -SMALL", 0 },
        { "0 && (1 || 1 / 0)", 0 },
        { "0 && 1 / 0 || 1", 1 },
        { "1 ? 2 : 0 ? 1 / 0 : 1 / 0", 2 },
        { "0 ? (1 ? 1 / 0 : 2) : 3", 3 },
    };
    check_good(rows, sizeof rows / sizeof rows[0]);
    /* A name that is written wrong is found wherever it stands. */
    static const struct bad wrong[] = {
        { "0 && TYLE", 5, "undefined name 'TYLE'" },
        { "1 ? 2 : T", 8, "'T' is a text, not a number" },
        { "0 && min(1)", 5, "min takes 2 arguments" },
        { "1 / 0 && 0", 2, "division by zero" },
        { "(0 && 1 / 0) + 1 / 0", 17, "division by zero" },
    };
    check_bad(wrong, sizeof wrong / sizeof wrong[0]);
}

static void limits_of_arithmetic(void **state)
{
    (void) state;
    static const struct good good[] = {
        { "BIG", INT64_MAX },
        { "SMALL", INT64_MIN },
        { "-BIG - 1", INT64_MIN },
        { "BIG + SMALL", -1 },
        { "SMALL / 1", INT64_MIN },
        { "BIG / -1", -INT64_MAX },
        { "min(BIG, SMALL)", INT64_MIN },
    };
    check_good(good, sizeof good / sizeof good[0]);
    static const struct bad bad[] = {
        { "BIG + 1", 4, "overflow" },
        { "SMALL - 1", 6, "overflow" },
        { "BIG * 2", 4, "overflow" },
        { "-SMALL", 0, "overflow" },
        { "SMALL / -1", 6, "overflow" },
        { "SMALL % -1", 6, "overflow" },
        { "ceil_div(SMALL, -1)", 0, "overflow" },
        { "round_up(BIG, 2)", 0, "overflow" },
        { "1 / 0", 2, "division by zero" },
        { "1 % N", 2, "division by zero" },
        { "ceil_div(1, N)", 0, "division by zero" },
        { "round_up(1, N)", 0, "division by zero" },
        { "gcd(N, 4)", 0, "gcd of 0" },
        { "1 + gcd(4, -2)", 4, "gcd of -2" },
        { "log2(0)", 0, "log2 of 0" },
        { "2 * log2(-3)", 4, "log2 of -3" },
        { "99999999999999999999999", 0, "number too large" },
    };
    check_bad(bad, sizeof bad / sizeof bad[0]);
}

static void malformed_text(void **state)
{
    (void) state;
    static const struct bad rows[] = {
        { "", 0, "expected a value at the end" },
        { "  ", 2, "expected a value at the end" },
        { "1 +", 3, "expected a value at the end" },
        { "* 2", 0, "expected a value, found '*'" },
        { "(1", 2, "expected ')' at the end" },
        { "(1]", 2, "expected ')', found ']'" },
        { "1)", 1, "expected an operator, found ')'" },
        { "1 2", 2, "expected an operator, found '2'" },
        { "2x", 1, "expected an operator, found 'x'" },
        { "M = 4", 2, "expected an operator, found '='" },
        { "M | 4", 2, "expected an operator, found '|'" },
        { "1 << 2", 3, "expected a value, found '<'" },
        { "1 ? 2", 5, "expected ':' at the end" },
        { "1 ? 2, 3", 5, "expected ':', found ','" },
        { "1.5", 1, "expected an operator, found '.'" },
        { "\x80", 0, "expected a value, found byte 0x80" },
        { "TILE * 2", 0, "undefined name 'TILE'" },
        { "2 * TILE", 4, "undefined name 'TILE'" },
        { "T", 0, "'T' is a text, not a number" },
        { "T == 1", 0, "'T' is a text, not a number" },
        { "sqrt(2)", 0, "unknown function 'sqrt'" },
        { "M(2)", 0, "unknown function 'M'" },
        { "min()", 0, "min takes 2 arguments" },
        { "min(1)", 0, "min takes 2 arguments" },
        { "1 + pow2(1, 2)", 4, "pow2 takes 1 argument" },
        { "max(1, 2, 3, 4, 5)", 0, "max takes 2 arguments" },
        { "min(1, )", 7, "expected a value, found ')'" },
        { "min(1, 2", 8, "expected ')' at the end" },
    };
    check_bad(rows, sizeof rows / sizeof rows[0]);
}

static void only_len_bytes_are_read(void **state)
{
    (void) state;
    struct expr_error err;
    int64_t value;
    assert_true(expr_eval("12345", 2, &names, &value, &err));
    assert_int_equal(value, 12);
    assert_true(expr_eval("VECTOR", 3, &names, &value, &err));
    assert_int_equal(value, 4);
    assert_true(expr_eval("1 <= 2", 3, &names, &value, &err) == false);
    assert_false(expr_eval("M\0M", 3, &names, &value, &err));
    assert_string_equal(err.what, "expected an operator, found byte 0x00");
}

static void deep_nesting_is_an_error(void **state)
{
    (void) state;
    static const char *const openers[] = { "(", "-", "!", "1 ? ", "1 ? 1 : ", "min(", "1 + (2 * " };
    for (size_t i = 0; i < sizeof openers / sizeof openers[0]; i++) {
        char *text = repeat(openers[i], 200000, "1");
        struct expr_error err;
        int64_t value;
        assert_false(expr_eval(text, strlen(text), &names, &value, &err));
        assert_string_equal(err.what, "nested deeper than 100");
        free(text);
    }
    char *text = repeat("(", 40, "1))))))))))))))))))))))))))))))))))))))))");
    struct good fits = { text, 1 };
    check_good(&fits, 1);
    free(text);
}

static void long_text_is_fine(void **state)
{
    (void) state;
    char *text = repeat("1 + ", 100000, "1");
    struct good sum = { text, 100001 };
    check_good(&sum, 1);
    free(text);
    text = repeat("A", 100000, "");
    struct expr_error err;
    int64_t value;
    assert_false(expr_eval(text, strlen(text), &names, &value, &err));
    /* A message quotes 48 bytes of a name and no more. */
    assert_string_equal(err.what,
            "undefined name 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'");
    free(text);
}

static void later_names_hide_earlier(void **state)
{
    (void) state;
    size_t mark = names.num;
    assert_true(scope_set(&names, "M", 1));
    assert_int_equal(scope_find(&names, "M", 1)->value, 1);
    assert_true(scope_set_text(&names, "M", "half"));
    assert_true(scope_find(&names, "M", 1)->is_text);
    assert_string_equal(scope_find(&names, "M", 1)->text, "half");
    names.num = mark;
    assert_int_equal(scope_find(&names, "M", 1)->value, 96);
    assert_null(scope_find(&names, "MM", 2));
    assert_null(scope_find(&names, "VEC", 2));
    assert_null(scope_find(&names, "", 0));
}

static void scope_refuses_what_does_not_fit(void **state)
{
    (void) state;
    char name[SCOPE_NAME_BYTES + 1] = { 0 }, text[SCOPE_TEXT_BYTES + 1] = { 0 };
    memset(name, 'n', SCOPE_NAME_BYTES);
    memset(text, 't', SCOPE_TEXT_BYTES);
    size_t mark = names.num;
    assert_false(scope_set(&names, name, 1));
    assert_false(scope_set_text(&names, name, "x"));
    assert_false(scope_set_text(&names, "x", text));
    assert_int_equal(names.num, mark);
    assert_true(scope_set_text(&names, name + 1, text + 1));
    assert_string_equal(scope_find(&names, name + 1, SCOPE_NAME_BYTES - 1)->text, text + 1);
    while (names.num < SCOPE_MAX_NAMES)
        assert_true(scope_set(&names, "filler", 0));
    assert_false(scope_set(&names, "one_more", 0));
    assert_false(scope_set_text(&names, "one_more", ""));
    assert_int_equal(names.num, SCOPE_MAX_NAMES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(operators, fill_names),
        cmocka_unit_test_setup(functions, fill_names),
        cmocka_unit_test_setup(untaken_side_is_not_evaluated, fill_names),
        cmocka_unit_test_setup(limits_of_arithmetic, fill_names),
        cmocka_unit_test_setup(malformed_text, fill_names),
        cmocka_unit_test_setup(only_len_bytes_are_read, fill_names),
        cmocka_unit_test_setup(deep_nesting_is_an_error, fill_names),
        cmocka_unit_test_setup(long_text_is_fine, fill_names),
        cmocka_unit_test_setup(later_names_hide_earlier, fill_names),
        cmocka_unit_test_setup(scope_refuses_what_does_not_fit, fill_names),
    };
    return cmocka_run_group_tests_name("expr", tests, NULL, NULL);
}
