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
        { "y = (v + 0) / 1;\n", "y = v;\n" }, { "f(x) + 0;\n", "f(x);\n" },
        { "y = 0 + x;\n", "y = x;\n" }, { "y += 1 * x;\n", "y += x;\n" },
        { "y = t / (1 * n);\n", "y = t / n;\n" }, { "y = (b ^ 0) + x;\n", "y = b + x;\n" },
        { "y = x / 2 * 1;\n", "y = x / 2;\n" }, { "y = -1 * x * 1;\n", "y = -1 * x;\n" },
        { "a + 0\n    - b;\n", "a\n    - b;\n" },
        { "y = a ^ 0 + b;\n", "y = a ^ b;\n" }, { "y = a & 0 + b;\n", "y = a & b;\n" },
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
        "(x) + 0;\n", "a + 0\n* b;\n", "a + 0\t* b;\n", "return - 0;\n", "(float) - 0 + x;\n",
        "#define F(a) \\\n    ((a + 0) * b)\n", "a - 0 * f(x);\n", "y = x << 1 + n;\n",
        "y = a ^ 0 & b;\n", "y = a & b ^ 0u;\n", "y = a % 1 * b;\n", "y = 0 * x;\n",
        "/* a + 0\n   b * 1 */\n", "  #pragma a + 0\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        check(&(struct pair) { texts[i], texts[i] }, 1);
}

/* What it takes to know a type: the number's is not that of the operand, or the operand goes. */
static void types(void **state)
{
    (void) state;
    static const struct pair rows[] = {
        { "void f(uint x)\n{\n    y = x % 1 * 16;\n}\n", "void f(uint x)\n{\n    y = 0;\n}\n" },
        { "void f(uint x)\n{\n    y = a + x / 2 % 1;\n}\n",
          "void f(uint x)\n{\n    y = a + 0u;\n}\n" },
        { "void f(uint x)\n{\n    y = x + 0u;\n}\n", "void f(uint x)\n{\n    y = x;\n}\n" },
        { "void f(int x)\n{\n    y = x + 0u;\n}\n", "void f(int x)\n{\n    y = x + 0u;\n}\n" },
        { "void f(int x)\n{\n    y = z + 0u;\n}\n", "void f(int x)\n{\n    y = z + 0u;\n}\n" },
        { "void f(__global float *x, long n)\n{\n    y = x + 0 * n;\n}\n",
          "void f(__global float *x, long n)\n{\n    y = x;\n}\n" },
        { "void f(uint x, long n)\n{\n    y = x + 0 * n;\n}\n",
          "void f(uint x, long n)\n{\n    y = x + 0L;\n}\n" },
        { "void f(float x)\n{\n    y = x * 0;\n}\n", "void f(float x)\n{\n    y = x * 0;\n}\n" },
        { "void f(uint x)\n{\n    y = (int) x + 0u;\n}\n",
          "void f(uint x)\n{\n    y = (int) x + 0u;\n}\n" },
        { "uint g(int a)\n{\n}\n\nvoid f(int x)\n{\n    y = g(x) + 0u;\n}\n",
          "uint g(int a)\n{\n}\n\nvoid f(int x)\n{\n    y = g(x);\n}\n" },
        { "void f(void)\n{\n    const int a = 1, x = 2;\n    y = x % 1;\n}\n",
          "void f(void)\n{\n    const int a = 1, x = 2;\n    y = 0;\n}\n" },
        /* Other functions' names and other blocks' do not count; of two, neither does. */
        { "void g(int x)\n{\n    x;\n}\n\nvoid f(uint x)\n{\n    y = x + 0u;\n}\n",
          "void g(int x)\n{\n    x;\n}\n\nvoid f(uint x)\n{\n    y = x;\n}\n" },
        { "void f(uint x)\n{\n    { int x; }\n    y = x + 0u;\n}\n",
          "void f(uint x)\n{\n    { int x; }\n    y = x;\n}\n" },
        { "void f(uint x)\n{\n    for (int x = 0; x < n; x++)\n        g(x + 0u);\n}\n",
          "void f(uint x)\n{\n    for (int x = 0; x < n; x++)\n        g(x + 0u);\n}\n" },
        { "void f(unsigned int x)\n{\n    y = x + 0u;\n}\n",
          "void f(unsigned int x)\n{\n    y = x + 0u;\n}\n" },
        { "void f(uint *x)\n{\n    y = x[1] % 1;\n}\n",
          "void f(uint *x)\n{\n    y = x[1] % 1;\n}\n" },
        { "void f(uint x)\n{\n    y = s.x % 1 + -x % 1;\n}\n",
          "void f(uint x)\n{\n    y = s.x % 1 + -x % 1;\n}\n" },
        { "void f(uint x)\n{\n    y = x + 1 + 2;\n}\n", "void f(uint x)\n{\n    y = x + 3;\n}\n" },
        { "void f(float x)\n{\n    y = x + 1 + 2;\n}\n",
          "void f(float x)\n{\n    y = x + 1 + 2;\n}\n" },
        { "void f(uint x)\n{\n    y = x + 1 + 2 * n;\n}\n",
          "void f(uint x)\n{\n    y = x + 1 + 2 * n;\n}\n" },
    };
    check(rows, sizeof rows / sizeof rows[0]);
}

static void numbers(void **state)
{
    (void) state;
    static const struct pair rows[] = {
        { "y = 2 * 3;\n", "y = 6;\n" }, { "y = 2 + 3 * 4;\n", "y = 14;\n" },
        { "y = 7 / 2 % 2;\n", "y = 1;\n" }, { "p[0 / 8 * 512 + x];\n", "p[x];\n" },
        { "y = (2 + 3) * x;\n", "y = 5 * x;\n" }, { "f(2u * 3);\n", "f(6u);\n" },
        { "p[2u * 3];\n", "p[6];\n" },
        /* What is not two numbers of a sum or product, what does not fit, and fractions. */
        { "y = x * 2 * 3;\n", "y = x * 2 * 3;\n" }, { "y = x - 2 + 3;\n", "y = x - 2 + 3;\n" },
        { "y = x / 2 * 3;\n", "y = x / 2 * 3;\n" }, { "y = 2 + 3 * x;\n", "y = 2 + 3 * x;\n" },
        { "y = 2 - 3;\n", "y = 2 - 3;\n" }, { "y = 2 / 0;\n", "y = 2 / 0;\n" },
        { "y = -2 * 3;\n", "y = -2 * 3;\n" }, { "y = ~2 + 3;\n", "y = ~2 + 3;\n" },
        { "y = 65536 * 65536;\n", "y = 65536 * 65536;\n" },
        { "y = 2.0 * 3;\n", "y = 2.0 * 3;\n" }, { "y = 010 * 3;\n", "y = 010 * 3;\n" },
        { "y = (float) 2 * 3;\n", "y = (float) 2 * 3;\n" },
    };
    check(rows, sizeof rows / sizeof rows[0]);
}

/* A text with macros: their lines stay, and all of it where a macro does not make the same of
 * arguments of the same value. */
static void macros(void **state)
{
    (void) state;
    static const struct pair rows[] = {
        { "#define F(a) g((a))\nF(x + 0);\ny = x * 1;\n", "#define F(a) g((a))\nF(x);\ny = x;\n" },
        { "#define F(a)\nF(x + 0);\n", "#define F(a)\nF(x);\n" },
        { "#define F(a) a * 2\nF(x + 0);\n", "#define F(a) a * 2\nF(x + 0);\n" },
        { "#define F(a) #a\nF(x + 0);\n", "#define F(a) #a\nF(x + 0);\n" },
        { "#define F(...) (__VA_ARGS__)\nF(x + 0);\n",
          "#define F(...) (__VA_ARGS__)\nF(x + 0);\n" },
        { "#define X a + b\ny = (X + 0) * 2;\n", "#define X a + b\ny = (X) * 2;\n" },
        { "#define T(a) (int)\ny = T(a) - 0;\n", "#define T(a) (int)\ny = T(a) - 0;\n" },
        { "#define N v\nfor (int v = 0; v < 1; v++)\n    f(N);\n",
          "#define N v\nfor (int v = 0; v < 1; v++)\n    f(N);\n" },
        { "#define N break\nfor (int v = 0; v < 1; v++)\n    N;\n",
          "#define N break\nfor (int v = 0; v < 1; v++)\n    N;\n" },
        { "#define F(a) (a)++\nfor (int v = 0; v < 1; v++)\n    F(v);\n",
          "#define F(a) (a)++\nfor (int v = 0; v < 1; v++)\n    F(v);\n" },
    };
    check(rows, sizeof rows / sizeof rows[0]);
}

static void loops_of_one_turn(void **state)
{
    (void) state;
    static const struct pair rows[] = {
        { "    for (int v = 0; v < 1; v++)\n        f(v);\n", "    f(0);\n" },
        { "    for (int v = 3; v < 8; v += 8)\n        f(v);\n", "    f(3);\n" },
        { "    for (uint v = 0; v < 8; v += 8)\n        f(v);\n", "    f(0u);\n" },
        { "    for (int v = 1; v < 2; v++)\n        x[v] += v * 16;\n", "    x[1] += 16;\n" },
        { "{\n    a;\n\n#pragma unroll\n    for (int v = 0; v < 1; v++) {\n        f(v);\n"
          "        g();\n"
          "    }\n}\n", "{\n    a;\n\n    f(0);\n    g();\n}\n" },
        { "    a;\n    #pragma unroll 4\n    // Why.\n    for (int v = 0; v < 1; v++)\n"
          "        f(v);\n",
          "    a;\n    // Why.\n    f(0);\n" },
        /* Loops within loops, and pragmas of those that stay. */
        { "a;\n#pragma unroll\n    for (int v = 0; v < 1; v++)\n#pragma unroll\n"
          "        for (int w = 0; w < 2; w++)\n            f(v, w);\n",
          "a;\n#pragma unroll\n    for (int w = 0; w < 2; w++)\n        f(0, w);\n" },
        { "#pragma unroll\n    for (int w = 0; w < 2; w++)\n        for (int v = 0; v < 1; v++)\n"
          "            f(v, w);\n",
          "#pragma unroll\n    for (int w = 0; w < 2; w++)\n        f(0, w);\n" },
        { "    for (int v = 0; v < 1; v++)\n        for (int w = v; w < 1; w++)\n"
          "            f(w);\n",
          "    f(0);\n" },
        /* What hides a name, what marks a loop, and what a macro may take as its block. */
        { "{\n    for (int v = 0; v < 1; v++) {\n        float (*w)[4] = p;\n        f(w, v);\n"
          "    }\n    g(w);\n}\n",
          "{\n    {\n        float (*w)[4] = p;\n        f(w, 0);\n    }\n    g(w);\n}\n" },
        { "__attribute__((x(1)))\nfor (int v = 0; v < 1; v++)\n    f(v);\n",
          "__attribute__((x(1)))\nfor (int v = 0; v < 1; v++)\n    f(v);\n" },
        { "for (int v = 1; v < 1; v++)\n    EACH(i) {\n        f();\n    }\ng();\n",
          "for (int v = 1; v < 1; v++)\n    EACH(i) {\n        f();\n    }\ng();\n" },
        /* A remark ends with its line. */
        { "a;\n{ for (int v = 0; v < 1; v++) { f(v); // c\n} }\n",
          "a;\n{ f(0); // c\n }\n" },
        { "y = 2 // c\n    * 3;\n", "y = 6 // c\n;\n" },
        { "y = 0 // c\n    + x;\n", "y = // c\n x;\n" },
        /* Lines that choose within a statement; signs that would join. */
        { "y = 2\n#if A\n * 3\n#endif\n;\n", "y = 2\n#if A\n * 3\n#endif\n;\n" },
        { "y = a -1 * -x;\n", "y = a -1 * -x;\n" },
        /* Loops in one without a turn go with it. */
        { "{\n    for (int a = 3; a < 2; a++) {\n        for (int b = 0; b < 1; b++) {\n"
          "            for (int c = 0; c < 1; c++) {\n            }\n"
          "            for (int d = 0; d < 1; d++)\n                f();\n        }\n    }\n"
          "    g();\n}\n",
          "{\n    g();\n}\n" },
        /* What has the variable's name, and is another. */
        { "    for (int x = 0; x < 1; x++)\n        f(two.x, p->x, \"x\", x); // x\n",
          "    f(two.x, p->x, \"x\", 0); // x\n" },
        /* Declarations: braces stay where a name is known in the block, or there is none. */
        { "{\n    for (int v = 0; v < 1; v++) {\n        const int w = v;\n        f(w);\n    }\n"
          "}\n",
          "{\n    const int w = 0;\n    f(w);\n}\n" },
        { "{\n    for (int v = 0; v < 1; v++) {\n        const int a = v, w = v;\n        f(w);\n"
          "    }\n"
          "    g(w);\n}\n",
          "{\n    {\n        const int a = 0, w = 0;\n        f(w);\n    }\n    g(w);\n}\n" },
        { "void k(int w)\n{\n    for (int v = 0; v < 1; v++) {\n        float4 *w = p;\n    }\n}\n",
          "void k(int w)\n{\n    {\n        float4 *w = p;\n    }\n}\n" },
        { "{\n    for (int v = 0; v < 1; v++) {\n        f();\n        w = x * v;\n    }\n"
          "    g(w, x);\n}\n",
          "{\n    f();\n    w = x * 0;\n    g(w, x);\n}\n" },
        { "{\n    if (a)\n        for (int v = 0; v < 1; v++) {\n            if (b)\n"
          "                f(v);\n        }\n    else\n        g();\n}\n",
          "{\n    if (a)\n        {\n            if (b)\n"
          "                f(0);\n        }\n    else\n        g();\n}\n" },
        { "{\n    for (int v = 0; v < 1; v++) {\n        unsigned int w = v;\n        f(w);\n"
          "    }\n    g(w);\n}\n",
          "{\n    {\n        unsigned int w = 0;\n        f(w);\n    }\n    g(w);\n}\n" },
        { "{\n    for (int v = 0; v < 1; v++) {\n        struct s w;\n    }\n}\n",
          "{\n    {\n        struct s w;\n    }\n}\n" },
        /* Jumps of loops within. */
        { "    a;\n    for (int v = 0; v < 1; v++)\n        while (a)\n            if (b)\n"
          "                break;\n",
          "    a;\n    while (a)\n        if (b)\n            break;\n" },
        { "    a;\n    for (int v = 0; v < 1; v++)\n        do\n            continue;\n"
          "        while (a);\n    b;\n",
          "    a;\n    do\n        continue;\n    while (a);\n    b;\n" },
        { "    a;\n    for (int v = 0; v < 1; v++)\n        switch (a) { default: break; }\n",
          "    a;\n    switch (a) { default: break; }\n" },
        { "    a & b;\n    for (int v = 0; v < 1; v++)\n        f(a & v);\n",
          "    a & b;\n    f(a & 0);\n" },
    };
    check(rows, sizeof rows / sizeof rows[0]);
}

static void loops_of_no_turn(void **state)
{
    (void) state;
    static const struct pair rows[] = {
        { "{\n    a;\n#pragma unroll\n    for (int v = 1; v < 1; v++)\n        f(v);\n    b;\n}\n",
          "{\n    a;\n    b;\n}\n" },
        { "{\n    for (int v = 2; v < 1; v++) {\n        break;\n    }\n}\n", "{\n}\n" },
        { "    if (a)\n        for (int v = 1; v < 1; v++)\n            f(v);\n    b;\n",
          "    if (a);\n    b;\n" },
        { "    if (a)\n        for (int v = 1; v < 1; v++) {\n            f(v);\n        }\n"
          "    b;\n",
          "    if (a) {\n        }\n    b;\n" },
        /* What they alone call goes too. */
        { "static void f(void)\n{\n}\n\nvoid k(void)\n{\n    for (int v = 1; v < 1; v++)\n"
          "        f();\n"
          "}\n", "void k(void)\n{\n}\n" },
    };
    check(rows, sizeof rows / sizeof rows[0]);
}

static void loops_that_stay(void **state)
{
    (void) state;
    static const char *const texts[] = {
        /* Of other forms, or of more turns. */
        "for (int v = 0; v < 2; v++)\n    f(v);\n", "for (int v = 0; v < 9; v += 8)\n    f(v);\n",
        "for (int v = 0; v <= 0; v++)\n    f(v);\n", "for (int v = 0; v < n; v++)\n    f(v);\n",
        "for (int v = a; v < 1; v++)\n    f(v);\n", "for (v = 0; v < 1; v++)\n    f(v);\n",
        "for (int v = 0; v < 1; v += n)\n    f(v);\n", "for (int v = 0; v < 1; v += 0)\n"
          "    f(v);\n",
        "for (int v = 0; v < 1; v++, w++)\n    f(v);\n",
        "for (int v = 0, w = 0; v < 1; v++)\n    f(v);\n",
        "for (float v = 0; v < 1; v++)\n    f(v);\n", "for (uchar v = 0; v < 1; v++)\n    f(v);\n",
        "for (int v = 0; w < 1; v++)\n    f(v);\n", "for (int v = 0; v < 1; w++)\n    f(v);\n",
        "for (int v = 0; v < 1.5; v++)\n    f(v);\n",
        /* The variable changes, its address is taken, or it may be another one. */
        "for (int v = 0; v < 1; v++)\n    v = 2;\n", "for (int v = 0; v < 1; v++)\n    v -= 2;\n",
        "for (int v = 0; v < 1; v++)\n    f(v--);\n", "for (int v = 0; v < 1; v++)\n    f(--v);\n",
        "for (int v = 0; v < 1; v++)\n    f(&v);\n", "for (int v = 0; v < 1; v++)\n    f(a, &v);\n",
        "for (int v = 0; v < 1; v++) {\n    int v = 2;\n}\n",
        "for (int v = 0; v < 1; v++) {\n    int a, v;\n}\n",
        "for (int v = 0; v < 1; v++) {\n    float *v;\n}\n",
        "for (int v = 0; v < 1; v++)\n    for (int v = 0; v < n; v++)\n        f(v);\n",
        "for (int v = 0; v < 1; v++)\n    asm(\"\" : \"=r\"(v));\n",
        "for (int v = 0; v < 1; v++) {\nv:\n    f();\n}\n",
        /* Jumps. */
        "for (int v = 0; v < 1; v++)\n    if (a)\n        break;\n",
        "for (int v = 0; v < 1; v++) {\n    if (a)\n        continue;\n    f();\n}\n",
        "for (int v = 0; v < 1; v++) {\n    while (a)\n        f();\n    break;\n}\n",
        "for (int v = 0; v < 1; v++)\n    switch (a) { default: continue; }\n",
        "for (int v = 0; v < 1; v++)\n    goto end;\n",
        /* Lines of the preprocessor, and what is no code. */
        "for (int v = 0; v < 1; v++) {\n#if A\n    f();\n#endif\n}\n",
        "for (int v = 0; v < 1; v++)\n#pragma unroll v\n    for (int w = 0; w < 2; w++)\n"
          "        f(w);\n",
        "\"for (int v = 0; v < 1; v++) f(v);\"\n", "// for (int v = 0; v < 1; v++) f(v);\n",
        "#define L for (int v = 0; v < 1; v++) f(v);\n",
        /* Brackets that do not match. */
        "for (int v = 0; v < 1; v++) {\n    f(v + 0);\n", "f(x + 0;\n", "x + 0);\n",
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
        /* Behind a function is a blank line. */
        { "static int f(void)\n{\n}\n__kernel void k(void)\n{\n    f();\n}\n",
          "static int f(void)\n{\n}\n\n__kernel void k(void)\n{\n    f();\n}\n" },
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
        /* A comment calls nothing. */
        { "static int f(void)\n{\n}\n\nvoid k(void)\n{\n    // As f does.\n}\n",
          "void k(void)\n{\n    // As f does.\n}\n" },
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
        /* A string is broken behind a comma, and is not without one. */
        { "    f(\"A string with blanks, and commas, that is as long as it has to be for this "
          "test, and a bit longer\");\n",
          "    f(\"A string with blanks, and commas, that is as long as it has to be for this "
          "test, \"\n            \"and a bit longer\");\n" },
        { "    f(\"A string with blanks and without commas that is as long as it has to be for "
          "this test and longer\");\n",
          "    f(\"A string with blanks and without commas that is as long as it has to be for "
          "this test and longer\");\n" },
        { "    f(\"A string that has a \\\", and whose last comma that fits is far to the left of "
          "where its line would end\", x, y);\n",
          "    f(\"A string that has a \\\", \"\n            \"and whose last comma that fits is "
          "far to the left of where its line would end\", x, y);\n" },
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
    static const struct pair rows[] = {
        { "// One two three four five six seven eight nine ten eleven twelve thirteen fourteen "
          "fifteen sixteen of\n// them.\nint x;\n",
          "// One two three four five six seven eight nine ten eleven twelve thirteen fourteen "
          "fifteen sixteen\n// of them.\nint x;\n" },
        { "    // One\n    // two\n    // three.\n    int x;\n",
          "    // One two three.\n    int x;\n" },
        /* What ends a line ends a part of the comment. */
        { "// One.\n// Two:\n// three\n// four.\n", "// One.\n// Two:\n// three four.\n" },
        /* A list. */
        { "// One\n//   - two\n//   - three\n// four\n// five\n",
          "// One\n//   - two\n//   - three\n// four five\n" },
        /* Another indentation is another comment, and what has no blank is none to fill. */
        { "// One\n    // two\n//- three\n//- four\n",
          "// One\n    // two\n//- three\n//- four\n" },
    };
    (void) state;
    check(rows, sizeof rows / sizeof rows[0]);
}

static void blocks_in_blocks(void **state)
{
    static const struct pair rows[] = {
        { "void k(void)\n{\n    {\n        f();\n    }\n}\n", "void k(void)\n{\n    f();\n}\n" },
        { "void k(int x)\n{\n    if (x) {\n        {\n            {\n                // Why.\n"
          "                int y = x;\n            }\n        }\n        f();\n    }\n}\n",
          "void k(int x)\n{\n    if (x) {\n        // Why.\n        int y = x;\n        f();\n"
          "    }\n}\n" },
        { "void k(void)\n{\n    do {\n        {\n            f();\n        }\n    } while (x);\n"
          "}\n",
          "void k(void)\n{\n    do {\n        f();\n    } while (x);\n}\n" },
        /* A name that the block around it has, before or behind, or a parameter. */
        { "void k(int x)\n{\n    {\n        int x = 1;\n    }\n}\n",
          "void k(int x)\n{\n    {\n        int x = 1;\n    }\n}\n" },
        { "void k(void)\n{\n    {\n        int y = 1;\n    }\n    {\n        int y = 2;\n"
          "    }\n}\n",
          "void k(void)\n{\n    {\n        int y = 1;\n    }\n    {\n        int y = 2;\n    }\n"
          "}\n" },
        /* Lists. */
        { "void k(void)\n{\n    int x[1][1] = { { 1 } };\n    int y[1][1][1] = { { { 2 } } };\n"
          "}\n",
          "void k(void)\n{\n    int x[1][1] = { { 1 } };\n    int y[1][1][1] = { { { 2 } } };\n"
          "}\n" },
        { "struct s {\n    int x;\n};\nstruct s a[] = { { 1 }, { 2 } };\n",
          "struct s {\n    int x;\n};\nstruct s a[] = { { 1 }, { 2 } };\n" },
        /* Empty; of an if; a line of the preprocessor. */
        { "void k(void)\n{\n    {\n    }\n}\n", "void k(void)\n{\n    {\n    }\n}\n" },
        { "void k(int x)\n{\n    if (x) {\n        f();\n    } else {\n        g();\n    }\n}\n",
          "void k(int x)\n{\n    if (x) {\n        f();\n    } else {\n        g();\n    }\n}\n" },
        { "void k(void)\n{\n    {\n#if X\n        f();\n#endif\n    }\n}\n",
          "void k(void)\n{\n    {\n#if X\n        f();\n#endif\n    }\n}\n" },
    };
    (void) state;
    check(rows, sizeof rows / sizeof rows[0]);
}

#define WORD "a_word_of_forty_characters_as_it_has_to_be"

static void what_fits_a_line_is_one(void **state)
{
    static const struct pair rows[] = {
        { "    f(a,\n            b,\n            c);\n    g();\n", "    f(a, b, c);\n    g();\n" },
        { "    if (a &&\n            b)\n        f();\n", "    if (a && b)\n        f();\n" },
        { "__kernel void k(int a,\n        int b)\n{\n}\n",
          "__kernel void k(int a, int b)\n{\n}\n" },
        /* All that it goes on in, or nothing. */
        { "    f(a,\n            b_" WORD WORD ",\n            c_" WORD ");\n",
          "    f(a,\n            b_" WORD WORD ",\n            c_" WORD ");\n" },
        /* A statement of its own, a comment, a line of the preprocessor. */
        { "    if (a)\n        f();\n", "    if (a)\n        f();\n" },
        { "    f(a,\n            // What b is.\n            b);\n",
          "    f(a,\n            // What b is.\n            b);\n" },
        { "    f(a, // what a is\n            b);\n", "    f(a, // what a is\n            b);\n" },
        { "    f(a,\n#pragma unroll\n            b);\n",
          "    f(a,\n#pragma unroll\n            b);\n" },
        { "#define X 1\n            + 2\n", "#define X 1\n            + 2\n" },
        { "    #pragma unroll 4\n            f();\n", "    #pragma unroll 4\n            f();\n" },
        /* No blank within brackets; a division. */
        { "    f(\n            a,\n            b\n            );\n", "    f(a, b);\n" },
        { "    x = a\n            / b;\n", "    x = a / b;\n" },
    };
    (void) state;
    check(rows, sizeof rows / sizeof rows[0]);
}

static void long_lines_are_broken_where_little_holds(void **state)
{
    static const struct pair rows[] = {
        /* Outside of brackets rather than within, before a sum rather than before a product. */
        { "    x = f(some_argument_that_is_long(1, 2), another_one_that_is_as_long(3, 4), "
          "the_last_of_them(5, 6));\n",
          "    x = f(some_argument_that_is_long(1, 2), another_one_that_is_as_long(3, 4),\n"
          "            the_last_of_them(5, 6));\n" },
        { "    some_sum = some_factor_that_is_long * another_factor_that_is_long + some_factor_x * "
          "another_factor_z;\n",
          "    some_sum = some_factor_that_is_long * another_factor_that_is_long\n"
          "            + some_factor_x * another_factor_z;\n" },
        /* Before what joins conditions, not before what compares. */
        { "    some_value = some_function_that_is_long(a, b) < a_limit && another_function(c, d) < "
          "another_limit_2;\n",
          "    some_value = some_function_that_is_long(a, b) < a_limit\n"
          "            && another_function(c, d) < another_limit_2;\n" },
        /* What is too long is broken anew over all of its lines, */
        { "    some_sum = some_factor_that_is_long * another_factor_that_is_long + some_factor_x * "
          "another_factor_z\n            + c;\n",
          "    some_sum = some_factor_that_is_long * another_factor_that_is_long\n"
          "            + some_factor_x * another_factor_z + c;\n" },
        /* but a matrix in the head of a kernel keeps its line. */
        { "void k(long M, float a_" WORD ", float b_" WORD ",\n        float c,\n"
          "        __global float *C)\n;\n",
          "void k(long M, float a_" WORD ",\n        float b_" WORD ",\n        float c,\n"
          "        __global float *C)\n;\n" },
        { "void k(long M, float a_" WORD ", float b_" WORD ",\n        __global float *C)\n;\n",
          "void k(long M, float a_" WORD ",\n        float b_" WORD ",\n"
          "        __global float *C)\n;\n" },
    };
    (void) state;
    check(rows, sizeof rows / sizeof rows[0]);
}

static void comments_are_dropped(void **state)
{
    static const struct pair rows[] = {
        { "// One.\nvoid k(void)\n{\n    // Two,\n    // three.\n    f(); // four\n}\n// Five.",
          "void k(void)\n{\n    f(); // four\n}\n" },
        { "asm(\"//@a;\");\n\n", "asm(\"//@a;\");\n\n" },
        { "f();", "f();" },
        { "//", "" },
        { "", "" },
    };
    (void) state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *text = strdup(rows[i].text);
        assert_non_null(text);
        tidy_drop_comments(text);
        assert_string_equal(text, rows[i].tidied);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_operations), cmocka_unit_test(what_only_looks_idle),
        cmocka_unit_test(types), cmocka_unit_test(numbers), cmocka_unit_test(macros),
        cmocka_unit_test(loops_of_one_turn), cmocka_unit_test(loops_of_no_turn),
        cmocka_unit_test(loops_that_stay),
        cmocka_unit_test(functions), cmocka_unit_test(blank_lines), cmocka_unit_test(long_lines),
        cmocka_unit_test(comments_are_filled), cmocka_unit_test(what_fits_a_line_is_one),
        cmocka_unit_test(blocks_in_blocks),
        cmocka_unit_test(long_lines_are_broken_where_little_holds),
        cmocka_unit_test(comments_are_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
