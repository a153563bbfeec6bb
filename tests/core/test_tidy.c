/* test_tidy.c: unit tests of generator/core/tidy.c. */
#include "tidy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct pair {
    const char *text, *tidied;
};

static void check(const struct pair *rows, size_t num)
{
    for (size_t i = 0; i < num; i++) {
        char *text = strdup(rows[i].text);
        assert_non_null(text);
        text = tidy(text);
        assert_non_null(text);
        assert_string_equal(text, rows[i].tidied);
        free(text);
    }
}

static void idle_operations(void **state)
{
    (void) state;
    static const struct pair rows[] = {
        { "x[at + 0] = y;\n", "x[at] = y;\n" }, { "a - 0;\n", "a;\n" },
        { "f(x) * 1;\n", "f(x);\n" },
        { "x[0] * 1;\n", "x[0];\n" }, { "a / 1 + b;\n", "a + b;\n" }, { "a + 0 + 0;\n", "a;\n" },
        { "(item - 0) / 32;\n", "item / 32;\n" }, { "y = (k + 0) * n;\n", "y = k * n;\n" },
        { "p[(k + 0)];\n", "p[k];\n" }, { "f(k + 0);\n", "f(k);\n" },
        { "if (n - 0)\n", "if (n)\n" }, { "f (k + 0);\n", "f (k);\n" },
        { "f(a, k + 0);\n", "f(a, k);\n" },
        { "a * (b + 0);\n", "a * b;\n" }, { "a + 0 - b;\n", "a - b;\n" },
    };
    check(rows, sizeof rows / sizeof rows[0]);
}

static void what_only_looks_idle(void **state)
{
    (void) state;
    static const char *const texts[] = {
        "a + 0.5f;\n", "a + 01;\n", "a * 1.5;\n", "a * 10;\n", "a + 0x8;\n", "a + 0 * b;\n",
        "a - 0 / b;\n", "a + 0 % b;\n", "a = 0;\n", "x, + 0;\n", "\"a + 0\";\n", "// a + 0\n",
        "'a' + 1;\n", "#define A a + 0\n", "a + 0u;\n", "\"\\\"a + 0\";\n", "a * 1e3f;\n",
        "f(x) + 0;\n", "a + 0\n* b;\n", "a + 0\t* b;\n", "return - 0;\n", "(float) - 0 + x;\n",
        "#define F(a) \\\n    ((a + 0) * b)\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        check(&(struct pair) { texts[i], texts[i] }, 1);
}

static void functions(void **state)
{
    (void) state;
    static const struct pair rows[] = {
        { "static int f(void)\n{\n    return 1;\n}\n\n__kernel void k(void)\n{\n}\n",
          "__kernel void k(void)\n{\n}\n" },
        { "static int f(void)\n{\n}\n__kernel void k(void)\n{\n    f();\n}\n",
          "static int f(void)\n{\n}\n__kernel void k(void)\n{\n    f();\n}\n" },
        /* What only a function that goes calls goes too, and its comment. */
        { "// Of g.\nstatic int f(void)\n{\n}\n\n// Of none.\nstatic int g(int x,\n"
          "        int y)\n{\n"
          "    f();\n}\n\n// A kernel.\n__kernel void k(void)\n{\n}\n",
          "// A kernel.\n__kernel void k(void)\n{\n}\n" },
        { "static int f(void)\n{\n}\n\nstatic int g(void)\n{\n    f();\n}\n\nvoid k(void)\n{\n"
          "    g();\n}\n",
          "static int f(void)\n{\n}\n\nstatic int g(void)\n{\n    f();\n}\n\nvoid k(void)\n{\n"
          "    g();\n}\n" },
        /* What is no function, or not surely one, stays. */
        { "static int f(int x);\n\nstatic int g(void)\n{\n}\n\nvoid k(void)\n{\n    g();\n}\n",
          "static int f(int x);\n\nstatic int g(void)\n{\n}\n\nvoid k(void)\n{\n    g();\n}\n" },
        { "static __attribute__((noinline)) int f(int x)\n{\n}\n",
          "static __attribute__((noinline)) int f(int x)\n{\n}\n" },
        /* A name that is a part of another. */
        { "static int f(void)\n{\n}\n\nvoid k(void)\n{\n    f_2();\n    af();\n}\n",
          "void k(void)\n{\n    f_2();\n    af();\n}\n" },
        { "static int f(void)\n{\n    f();\n}\n", "" },
        { "", "" },
    };
    check(rows, sizeof rows / sizeof rows[0]);
}

static void blank_lines(void **state)
{
    (void) state;
    check(&(struct pair) { "a;\n\n\n\nb;\n\nc;\n", "a;\n\nb;\n\nc;\n" }, 1);
}

/* Every line fits, and without blanks the text is what it was. */
static void check_broken(const char *text)
{
    char *broken = tidy(strdup(text));
    assert_non_null(broken);
    const char *p = text;
    for (const char *q = broken; *q; q++) {
        if (*q == ' ' || *q == '\n' || *q == '/')
            continue;
        while (*p == ' ' || *p == '\n' || *p == '/')
            p++;
        assert_int_equal(*p, *q);
        p++;
    }
    for (const char *line = broken; *line; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= 100);
    free(broken);
}

static void long_lines(void **state)
{
    (void) state;
    check_broken("        const float4 a = (float4) (load(x + min(first, L)), load(x + "
      "min(second, L)), "
            "load(x + min(third, L)));\n");
    check_broken("    // A remark that is so long that it takes more than one line, by a few "
      "words or so "
            "that are too many.\n    // And goes on.\n    int x;\n");
    check_broken("    const uint where = first_of_all_the_names * second_of_all_the_names + "
            "third_of_all_the_names % fourth;\n");
    static const struct pair rows[] = {
        /* A string is not broken, nor what has no blank. */
        { "    f(\"A string with blanks, and commas, that is as long as it has to be for this "
          "test, "
          "and a bit longer\");\n",
          "    f(\"A string with blanks, and commas, that is as long as it has to be for this "
          "test, "
          "and a bit longer\");\n" },
        { "#pragma A line of the preprocessor, which ends where the line does, however long, "
          "longer "
          "than a hundred\n",
          "#pragma A line of the preprocessor, which ends where the line does, however long, "
          "longer "
          "than a hundred\n" },
    };
    check(rows, sizeof rows / sizeof rows[0]);
}

static void comments_are_filled(void **state)
{
    (void) state;
    check(&(struct pair) {
            "// One two three four five six seven eight nine ten eleven twelve thirteen fourteen "
            "fifteen sixteen of\n// them.\nint x;\n",
            "// One two three four five six seven eight nine ten eleven twelve thirteen fourteen "
            "fifteen sixteen\n// of them.\nint x;\n" }, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_operations), cmocka_unit_test(what_only_looks_idle),
        cmocka_unit_test(functions), cmocka_unit_test(blank_lines), cmocka_unit_test(long_lines),
        cmocka_unit_test(comments_are_filled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
