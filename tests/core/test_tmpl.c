/* test_tmpl.c: the template engine, generator/core/tmpl.c. */
#include "repeat.h"
#include "scope.h"
#include "tmpl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct scope names;

static int fill_names(void **state)
{
    (void) state;
    names.num = 0;
    bool ok = scope_set(&names, "M", 3) && scope_set(&names, "N", 0) &&
              scope_set(&names, "VEC", 4) && scope_set_text(&names, "T", "float") &&
              scope_set_text(&names, "RAW", "${M} @end");
    return ok ? 0 : -1;
}

static const struct tmpl_file parts[] = {
    { "main.cl.in", NULL },
    { "inner.cl.in", "inner ${M}\n" },
    { "lets.cl.in", "@let X = M + 10\n@let FRESH = 1\nlets ${X}\n" },
    { "takes.cl.in", "@// A remark.\n@takes X Y\n@takes T\n${T} ${X} ${Y}\n" },
    { "inner_x.cl.in", "${X}\n" },
    { "around.cl.in", "@takes X\n@let Y = X\n  {${Y}\n@body\n  }\n" },
    { "twice.cl.in", "@body\n@body\n" },
    { "late.cl.in", "a\n@takes X\n" },
    { "broken.cl.in", "fine\n\n  ${MISSING}\n" },
    { "unclosed.cl.in", "@if 1\n" },
    { "loop.cl.in", "@include loop\n" },
    { "no_newline.cl.in", "tail" },
    { "several.cl.in", "own\n@include :second\n\n@fragment first\n@takes X\n${X}\n@body\n\n"
                       "@fragment second\n@// A remark.\n@let Y = 2\nsecond ${Y}\n"
                       "@fragment wrong\n\n${MISSING}\n@fragment open\n@if 1\n@fragment again\n"
                       "a\n  @fragment inside\nb\n" },
};
enum { NUM_PARTS = sizeof parts / sizeof parts[0] };

static char *render(const char *text, struct tmpl_error *err)
{
    struct tmpl_file files[NUM_PARTS];
    memcpy(files, parts, sizeof files);
    files[0].text = text;
    size_t mark = names.num;
    char *out = tmpl_render(files, NUM_PARTS, "main", &names, err);
    assert_int_equal(names.num, mark);
    return out;
}

struct good {
    const char *text, *out;
};

static void check_good(const struct good *rows, size_t num)
{
    for (size_t i = 0; i < num; i++) {
        struct tmpl_error err = { .what = "" };
        char *out = render(rows[i].text, &err);
        if (!out)
            fail_msg("'%s': %s:%d: %s", rows[i].text, err.file, err.line, err.what);
        assert_string_equal(out, rows[i].out);
        free(out);
    }
}

struct bad {
    const char *text, *message;        /* "file:line: what" */
};

static void check_bad(const struct bad *rows, size_t num)
{
    for (size_t i = 0; i < num; i++) {
        struct tmpl_error err = { .what = "" };
        char *out = render(rows[i].text, &err), message[256];
        if (out)
            fail_msg("'%s' gave '%s', not an error", rows[i].text, out);
        snprintf(message, sizeof message, "%s:%d: %s", err.file, err.line, err.what);
        if (strcmp(message, rows[i].message) != 0)
            fail_msg("'%s':\n  '%s', not\n  '%s'", rows[i].text, message, rows[i].message);
    }
}

static void values(void **state)
{
    (void) state;
    static const struct good rows[] = {
        { "", "" },
        { "\n", "\n" },
        { "plain", "plain\n" },
        { "a\n\n  b\n", "a\n\n  b\n" },
        { "x${M}y${ M * 2 }z\n", "x3y6z\n" },
        { "${T} a; ${ T }4\n", "float a; float4\n" },
        { "${-M}\n", "-3\n" },
        { "${RAW}\n", "${M} @end\n" },
        { "{}()@ } mail@if\n", "{}()@ } mail@if\n" },
    };
    check_good(rows, sizeof rows / sizeof rows[0]);
}

static void conditions(void **state)
{
    (void) state;
    static const struct good rows[] = {
        { "@if M\n    yes\n@end\n", "yes\n" },
        { "@if N\n    yes\n@end\n", "" },
        { "@if N\n    a\n@else\n    b\n@end\nc", "b\nc\n" },
        { "@if N\n    a\n@elif M == 3\n    b\n@elif M\n    c\n@else\n    d\n@end\n", "b\n" },
        { "@if N\n    a\n@elif N\n    b\n@else\n    c\n@end\n", "c\n" },
        { "@if 1\n    @if 0\n        a\n    @else\n        b\n    @end\n@else\n    c\n@end\n",
                "b\n" },
        { "@if 0\n    @if 1\n        a\n    @else\n        b\n    @end\n"
          "    @for i in 0..2\n        x\n    @end\n@else\n    c\n@end\n",
                "c\n" },
        { "  @if M\n        kept\n  @end  \n", "    kept\n" },
        { "@if(M)\n    yes\n@end", "yes\n" },
        { "@if M: yes ${M}\n@if N: no\nb\n", "yes 3\nb\n" },
        { "  @if M ? N : M: no\n  @if N ? N : M: yes: this\n", "  yes: this\n" },
        { "    @if M\n        @if M: in\n    @else\n        @if M: not\n    @end\n", "    in\n" },
        { "@if N\n    @if M: x\n    @if MISSING: x\n@else\n    y\n@end\n", "y\n" },
        { "@for i in 0..3:   c${i};\n@for i in 1..1: no\n", "c0;\nc1;\nc2;\n" },
        { "@for i in 0..2\n    @for j in 0..2: ${i}${j}\n@end\n", "00\n01\n10\n11\n" },
        { "  @if M: @include inner\n", "  inner 3\n" },
        /* What is not taken is not evaluated. */
        { "@if 0\n    ${MISSING}\n    @if MISSING\n    @end\n@end\n", "" },
        { "@if 1\n    x\n@elif MISSING\n@end\n", "x\n" },
    };
    check_good(rows, sizeof rows / sizeof rows[0]);
}

static void loops(void **state)
{
    (void) state;
    static const struct good rows[] = {
        { "  @for i in 0..M\n      c${i};\n  @end\n", "  c0;\n  c1;\n  c2;\n" },
        { "@for i in 0..0\n    x\n@end\ny\n", "y\n" },
        { "@for i in 5..2\n    x\n@end\n", "" },
        { "@for i in -1..1\n    ${i}\n@end\n", "-1\n0\n" },
        { "@for i in (M - 1) * 2..max(M, (VEC + 1))\n    ${i}\n@end\n", "4\n" },
        { "@for i in M - 1 .. M + 1\n    ${i}\n@end\n", "2\n3\n" },
        { "@for i in 0..2\n    @for j in i..2\n        ${i}${j}\n    @end\n@end\n",
                "00\n01\n11\n" },
        { "@for i in 0..2\n    ${i}\n@end\n${M}\n", "0\n1\n3\n" },
        { "@for i in 0..3\n    @if i == 1\n        one\n    @else\n        ${i}\n    @end\n@end\n",
                "0\none\n2\n" },
        { "@for i in 0..2\n    @let j = i * 2\n    ${j}\n@end\n", "0\n2\n" },
        { "@for i in 9223372036854775806..9223372036854775807\n    ${i}\n@end\n",
                "9223372036854775806\n" },
    };
    check_good(rows, sizeof rows / sizeof rows[0]);
}

static void choices(void **state)
{
    (void) state;
    static const struct good rows[] = {
        { "a$if(M; + b)\n", "a + b\n" },
        { "a$if(!M; + b)\n", "a\n" },
        { "vload$if(M == 3;_half)4(p)\n", "vload_half4(p)\n" },
        { "$if(M > 3;M;K) $if(M < 4;M;K)\n", "K M\n" },
        { "$if(0;a;b; c;)\n", "b; c;\n" },
        { "$if(1;a;)\n", "a\n" },
        { "$if(1;f(a);)$if(0;;b)\n", "f(a)b\n" },
        { "$if(0;${NOWHERE};f(${M}))\n", "f(3)\n" },
        { "$list(i in 0..4;;$if(i == 2; - ;$if(i; + ))a${i})\n", "a0 + a1 - a2 + a3\n" },
        { "$if(1;$list(i in 0..2;, ;a${i});$list(i in 0..2;, ;b${i}))\n", "a0, a1\n" },
        { "$if(1;$if(0;a;b);c)\n", "b\n" },
    };
    check_good(rows, sizeof rows / sizeof rows[0]);
}

static void lists(void **state)
{
    (void) state;
    static const struct good rows[] = {
        { "$list(i in 0..M;, ;a${i});\n", "a0, a1, a2;\n" },
        { "[$list(i in 0..0;, ;a)]\n", "[]\n" },
        { "[$list(i in 0..1;, ;a)]\n", "[a]\n" },
        { "$list(i in 0..2; + ; ${i})\n", " 0 +  1\n" },
        { "$list(v in 0..2; ;c${v} = fma((T) a, b${v}, (c${v}));)\n",
                "c0 = fma((T) a, b0, (c0)); c1 = fma((T) a, b1, (c1));\n" },
        { "f($list(i in 0..2;, ;g($list(j in 0..2;, ;x${i}${j}))))\n",
                "f(g(x00, x01), g(x10, x11))\n" },
        { "$list(i in max(0, (M - 2))..min(M, (4));, ;${(i + 1) * 2})\n", "4, 6\n" },
        { "$list(i in 0..3;${T};x)\n", "xfloatxfloatx\n" },
        { "$list(i in 0..2;;$list(j in 0..2;-;${j}))\n", "0-10-1\n" },
        { "  @for i in 0..2\n      $list(j in 0..2; ;${i * 2 + j})\n  @end\n", "  0 1\n  2 3\n" },
    };
    check_good(rows, sizeof rows / sizeof rows[0]);
}

static void lets(void **state)
{
    (void) state;
    static const struct good rows[] = {
        { "@let X = M * 2\n${X}\n", "6\n" },
        { "@let X=M\n@let X = X + 1\n${X}\n", "4\n" },
        { "@let X = 7\n@if 1\n    @let X = 8\n    ${X}\n@end\n${X}\n", "8\n7\n" },
        { "@let X = 1 == 1\n${X}\n", "1\n" },
    };
    check_good(rows, sizeof rows / sizeof rows[0]);
    static const struct bad bad[] = {
        { "\n@let M = 7\n", "main.cl.in:2: the name 'M' has a meaning already, for all templates" },
        { "@for T in 0..1\n@end\n",
                "main.cl.in:1: the name 'T' has a meaning already, for all templates" },
    };
    check_bad(bad, sizeof bad / sizeof bad[0]);
}

static void includes(void **state)
{
    (void) state;
    static const struct good rows[] = {
        { "a\n@include inner\nb\n", "a\ninner 3\nb\n" },
        { "  @for i in 0..2\n      @include inner\n  @end\n", "  inner 3\n  inner 3\n" },
        { "@include lets\n${M}\n", "lets 13\n3\n" },
        { "@include no_newline\nnext\n", "tail\nnext\n" },
    };
    check_good(rows, sizeof rows / sizeof rows[0]);
    static const struct bad bad[] = {
        { "\n@include nowhere\n", "main.cl.in:2: no template called 'nowhere'" },
        { "@include\n", "main.cl.in:1: expected the name of a template after '@include'" },
        { "@include broken\n", "broken.cl.in:3: undefined name 'MISSING'" },
        { "@include unclosed\n", "unclosed.cl.in:1: '@if' without '@end'" },
        { "@include lets\n${FRESH}\n", "main.cl.in:2: undefined name 'FRESH'" },
        { "@include loop\n",
                "loop.cl.in:1: @include nested deeper than 8 (does it include itself?)" },
        { "@include main\n",
                "main.cl.in:1: @include nested deeper than 8 (does it include itself?)" },
    };
    check_bad(bad, sizeof bad / sizeof bad[0]);
}

/* A file's fragments: what is above the first is the file's own text. */
static void fragments(void **state)
{
    (void) state;
    static const struct good rows[] = {
        { "@include several\n", "own\nsecond 2\n" },
        { "  @include several:second\nnext\n", "  second 2\nnext\n" },
        { "@wrap several:first X = 5\n    b\n@end\n", "5\nb\n" },
        { "@include :mine\n\n@fragment mine\nmine ${M}\n", "mine 3\n" },
        { "@if 1: @include :b\n@fragment bc\n1\n@fragment b\n2\n", "2\n" },
        { "a\r\n@include :y\r\n\r\n@fragment y\r\nb\r\n", "a\r\nb\r\n" },
        { "a\n\n\n@fragment y\nb\n", "a\n" },
        { "@include :y\n@fragment y", "" },
        { "@include :y\n@fragment y\n1\n@fragment y\n2\n", "1\n" },
        { "@wrap several:first X = 5\n    @include :mine\n@end\n@fragment mine\nmine\n",
                "5\nmine\n" },
    };
    check_good(rows, sizeof rows / sizeof rows[0]);
    static const struct bad bad[] = {
        { "@include several:third\n", "main.cl.in:1: no fragment called 'third' in several.cl.in" },
        { "@include several:\n", "main.cl.in:1: no fragment called '' in several.cl.in" },
        { "\n@include :first\n", "main.cl.in:2: no fragment called 'first' in main.cl.in" },
        { "@include nowhere:first\n", "main.cl.in:1: no template called 'nowhere'" },
        { "@include several:wrong\n", "several.cl.in:15: undefined name 'MISSING'" },
        { "@include several:open\n", "several.cl.in:17: '@if' without '@end'" },
        { "@include several:again\n", "several.cl.in:20: '@fragment' is indented" },
        { "a\n@fragment\n", "main.cl.in:2: expected a name after '@fragment', found ''" },
        { "@include sever\n", "main.cl.in:1: no template called 'sever'" },
        { "@include several:sec\n", "main.cl.in:1: no fragment called 'sec' in several.cl.in" },
        { "@include several:second X = 1\n",
                "several.cl.in:10: it is given 'X', which it does not take" },
        { "@include several:first\n",
                "several.cl.in:5: it takes 'X', which is not set where it is included" },
        { "@fragment 2\n", "main.cl.in:1: expected a name after '@fragment', found '2'" },
        { "@fragment two names\n",
                "main.cl.in:1: expected a name after '@fragment', found 'two names'" },
        { "@if 1: @fragment x\n",
                "main.cl.in:1: behind the colon stands neither text nor '@include'" },
    };
    check_bad(bad, sizeof bad / sizeof bad[0]);
}

/* A fragment sees what it takes, and what it is given. */
static void takes(void **state)
{
    (void) state;
    static const struct good rows[] = {
        { "@let X = 1\n@let Y = 2\n@include takes\n", "float 1 2\n" },
        { "@let X = 1\n@include takes Y = X + 1\n${X}\n", "float 1 2\n1\n" },
        { "@let X = 1\n@include takes Y = X + 1; X = 7\n${X}\n", "float 7 2\n1\n" },
        { "@for X in 0..2\n    @include takes Y = X\n@end\n", "float 0 0\nfloat 1 1\n" },
    };
    check_good(rows, sizeof rows / sizeof rows[0]);
    static const struct bad bad[] = {
        { "@let X = 1\n@include inner_x\n", "inner_x.cl.in:1: undefined name 'X'" },
        { "@let X = 1\n@include takes\n",
                "takes.cl.in:2: it takes 'Y', which is not set where it is included" },
        { "\n@include inner_x X = 1\n",
                "inner_x.cl.in:1: it is given 'X', which it does not take" },
        { "@include takes X\n", "main.cl.in:1: expected NAME = EXPR, found 'X'" },
        { "@include late\n", "late.cl.in:2: '@takes' below the head of the text" },
        { "@takes X\n", "main.cl.in:1: it takes 'X', which is not set where it is included" },
        { "@if 1\n@else// no\n@end\n", "main.cl.in:2: text after '@else'" },
        { "@takes 3\n", "main.cl.in:1: expected names after '@takes', found '3'" },
    };
    check_bad(bad, sizeof bad / sizeof bad[0]);
}

/* What is wrapped sees what it would see without, and not what the fragment sets. */
static void wraps(void **state)
{
    (void) state;
    static const struct good rows[] = {
        { "  @let X = 1\n  @wrap around\n      x ${X}\n  @end\nend ${X}\n",
                "    {1\n  x 1\n    }\nend 1\n" },
        { "@let Y = 5\n@wrap around X = 2\n    @let X = 9\n    ${X} ${Y}\n@end\n${Y}\n",
                "  {2\n9 5\n  }\n5\n" },
        { "@for i in 0..2\n    @wrap twice\n        @if i\n            ${i}\n        @else\n"
          "            no\n        @end\n    @end\n@end\n",
                "no\nno\n1\n1\n" },
        { "@wrap twice\n    @wrap around X = 3\n        b\n    @end\n@end\n",
                "  {3\nb\n  }\n  {3\nb\n  }\n" },
    };
    check_good(rows, sizeof rows / sizeof rows[0]);
    static const struct bad bad[] = {
        { "@body\n", "main.cl.in:1: '@body' in a text that no '@wrap' names" },
        { "@include twice\n", "twice.cl.in:1: '@body' in a text that no '@wrap' names" },
        { "@wrap twice\n", "main.cl.in:1: '@wrap' without '@end'" },
        { "@wrap around X = 2\n    ${Y}\n@end\n", "main.cl.in:2: undefined name 'Y'" },
        { "@wrap\n@end\n", "main.cl.in:1: expected the name of a template after '@wrap'" },
        { "@wrap twice\n    @body\n@end\n",
                "main.cl.in:2: '@body' in a text that no '@wrap' names" },
    };
    check_bad(bad, sizeof bad / sizeof bad[0]);
}

static void block_errors(void **state)
{
    (void) state;
    static const struct bad rows[] = {
        { "a\n@end\n", "main.cl.in:2: '@end' without '@if', '@for' or '@wrap'" },
        { "@if 1\n@end\n@end\n", "main.cl.in:3: '@end' without '@if', '@for' or '@wrap'" },
        { "@else\n", "main.cl.in:1: '@else' without '@if'" },
        { "@elif 1\n", "main.cl.in:1: '@elif' without '@if'" },
        { "@if 1\n    @for i in 0..2\n    @else\n    @end\n@end\n",
                "main.cl.in:3: '@else' without '@if'" },
        { "\n@if 1\n@else\n@else\n@end\n", "main.cl.in:4: second '@else' for the '@if' of line 2" },
        { "@if 0\n    @if 1\n    @else\n    @else\n    @end\n@end\n",
                "main.cl.in:4: second '@else' for the '@if' of line 2" },
        { "@if 1\n@else\n@elif 1\n@end\n",
                "main.cl.in:3: '@elif' after the '@else' of the '@if' of line 1" },
        { "x\n@if 1\n    @for i in 0..1\n    @end\n", "main.cl.in:2: '@if' without '@end'" },
        { "@for i in 0..1\n    @if 1\n    @end\n", "main.cl.in:1: '@for' without '@end'" },
        { "a\n  @while 1\n", "main.cl.in:2: unknown directive '@while'" },
        { "@\n", "main.cl.in:1: unknown directive '@'" },
        { "@ if 1\n", "main.cl.in:1: unknown directive '@'" },
        { "@iff 1\n@end\n", "main.cl.in:1: unknown directive '@iff'" },
        { "@if 1: @if 1: x\n",
                "main.cl.in:1: behind the colon stands neither text nor '@include'" },
        { "@for i in 0..1: @let X = i\n",
                "main.cl.in:1: behind the colon stands neither text nor '@include'" },
        { "@if 1: x\n@end\n", "main.cl.in:2: '@end' without '@if', '@for' or '@wrap'" },
        { "@if 1: x\n@else\n", "main.cl.in:2: '@else' without '@if'" },
        { "@if 1\n    x\n@elif 1: y\n@end\n", "main.cl.in:3: '@elif' with a text behind a colon" },
        { "@if 0\n@elif 0 ? 1: 0\n@end\n", "main.cl.in:2: '@elif' with a text behind a colon" },
        { "@if : x\n@end\n", "main.cl.in:1: expected a value, found ':'" },
        { "@for i in 0..2:x\n@end\n", "main.cl.in:1: expected an operator, found ':'" },
        { "@if 0\n    @wihle\n@end\n", "main.cl.in:2: unknown directive '@wihle'" },
        { "@if 1\n@else if 2\n@end\n", "main.cl.in:2: text after '@else'" },
        { "@if 1\n@end if\n", "main.cl.in:2: text after '@end'" },
        { "@if 1\n   x\n@end\n",
                "main.cl.in:2: indented by 3 blanks; the '@if' of line 1 wants 4 or more" },
        { "  @for i in 0..1\n    @let X = i\n  @end\n",
                "main.cl.in:2: indented by 4 blanks; the '@for' of line 1 wants 6 or more" },
        { "  @if 1\n      x\n@else\n  @end\n",
                "main.cl.in:3: indented by 0 blanks; the '@if' of line 1 wants 2" },
        { "@if 0\n    @if 0\n    x\n    @end\n@end\n",
                "main.cl.in:3: indented by 4 blanks; the '@if' of line 2 wants 8 or more" },
    };
    check_bad(rows, sizeof rows / sizeof rows[0]);
}

static void line_errors(void **state)
{
    (void) state;
    static const struct bad rows[] = {
        { "\n\n${TILE}\n", "main.cl.in:3: undefined name 'TILE'" },
        { "${M / N}\n", "main.cl.in:1: division by zero" },
        { "${}\n", "main.cl.in:1: expected a value at the end" },
        { "${T + 1}\n", "main.cl.in:1: 'T' is a text, not a number" },
        { "a ${M\n}\n", "main.cl.in:1: '${' without its '}'" },
        { "cost: $5\n", "main.cl.in:1: '$' begins neither '${' nor '$list(' nor '$if('" },
        { "$", "main.cl.in:1: '$' begins neither '${' nor '$list(' nor '$if('" },
        { "$list\n", "main.cl.in:1: '$' begins neither '${' nor '$list(' nor '$if('" },
        { "$list(i in 0..2;, ;(a)\n", "main.cl.in:1: '$list(' without its ')'" },
        { "$list(i in 0..2;, )\n", "main.cl.in:1: expected $list(NAME in A..B; SEP; TEXT)" },
        { "$if(1;a\n", "main.cl.in:1: '$if(' without its ')'" },
        { "$if(1)\n", "main.cl.in:1: expected $if(EXPR; TEXT) or $if(EXPR; TEXT; TEXT)" },
        { "$if()\n", "main.cl.in:1: expected $if(EXPR; TEXT) or $if(EXPR; TEXT; TEXT)" },
        { "$if(j;a;b)\n", "main.cl.in:1: undefined name 'j'" },
        { "$if(1;${j};b)\n", "main.cl.in:1: undefined name 'j'" },
        { "$list(i in 0..2)\n", "main.cl.in:1: expected $list(NAME in A..B; SEP; TEXT)" },
        { "$list(i of 0..2;;x)\n", "main.cl.in:1: expected NAME in A..B, found 'i of 0..2'" },
        { "$list(i in 0..2;;${j})\n", "main.cl.in:1: undefined name 'j'" },
        { "@for i in 0...4\n@end\n", "main.cl.in:1: expected a value, found '.'" },
        { "@for i in 0\n@end\n", "main.cl.in:1: expected NAME in A..B, found 'i in 0'" },
        { "@for 1 in 0..2\n@end\n", "main.cl.in:1: expected NAME in A..B, found '1 in 0..2'" },
        { "@for\n@end\n", "main.cl.in:1: expected NAME in A..B, found ''" },
        { "@for i in ..2\n@end\n", "main.cl.in:1: expected a value at the end" },
        { "@for i in 0..N / N\n@end\n", "main.cl.in:1: division by zero" },
        { "@for i in 0..3\n\n    ${6 / (2 - i)}\n@end\n", "main.cl.in:3: division by zero" },
        { "@if\n@end\n", "main.cl.in:1: expected a value at the end" },
        { "@if 0\n@elif TILE\n@end\n", "main.cl.in:2: undefined name 'TILE'" },
        { "@if 0\n@elif\n@end\n", "main.cl.in:2: expected a value at the end" },
        { "@for i in 0..1\n@end\n${i}\n", "main.cl.in:3: undefined name 'i'" },
        { "@if 1\n    @let X = 1\n@end\n${X}\n", "main.cl.in:4: undefined name 'X'" },
        { "@let X\n", "main.cl.in:1: expected NAME = EXPR, found 'X'" },
        { "@let 2 = 3\n", "main.cl.in:1: expected NAME = EXPR, found '2 = 3'" },
        { "@let X == 3\n", "main.cl.in:1: expected NAME = EXPR, found 'X == 3'" },
        { "@let X =\n", "main.cl.in:1: expected a value at the end" },
        { "@let ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEF = 1\n",
                "main.cl.in:1: the name 'ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEF' "
                "is longer than 31 bytes" },
        { "@for \x1b[31m\n@end\n", "main.cl.in:1: expected NAME in A..B, found '?[31m'" },
    };
    check_bad(rows, sizeof rows / sizeof rows[0]);
}

static void unknown_template(void **state)
{
    (void) state;
    struct tmpl_error err;
    assert_null(tmpl_render(parts + 1, NUM_PARTS - 1, "gemm", &names, &err));
    assert_string_equal(err.file, "gemm");
    assert_int_equal(err.line, 1);
    assert_string_equal(err.what, "no template called 'gemm'");
    assert_null(tmpl_render(NULL, 0, "x", &names, &err));
}

/* Huge ranges, with and without output, end with an error soon. */
static void runaway_templates(void **state)
{
    (void) state;
    static const struct bad rows[] = {
        { "@for i in 0..9223372036854775807\n@end\n",
                "main.cl.in:1: rendering takes too long (a very long @for or $list?)" },
        { "@for i in 0..1000000000: @include :x\n0123456789\n@fragment x\n",
                "main.cl.in:1: rendering takes too long (a very long @for or $list?)" },
        { "@for i in 0..1000000000: $if(0; 0123456789)\n",
                "main.cl.in:1: rendering takes too long (a very long @for or $list?)" },
        { "@for i in 0..1000000000\n    @if 0\n    @end\n@end\n",
                "main.cl.in:2: rendering takes too long (a very long @for or $list?)" },
        { "$list(i in 0..9000000000;;$if(0;x))\n",
                "main.cl.in:1: rendering takes too long (a very long @for or $list?)" },
        { "$list(i in 0..9000000000;;)\n",
                "main.cl.in:1: rendering takes too long (a very long @for or $list?)" },
        { "@for i in 0..1000000000\n    0123456789abcdef\n@end\n",
                "main.cl.in:2: the rendered text exceeds 4 MiB" },
        { "$list(i in 0..1000000000;, ;${i})\n", "main.cl.in:1: the rendered text exceeds 4 MiB" },
        { "$list(i in 0..3000;;$list(j in 0..3000;;x))\n",
                "main.cl.in:1: the rendered text exceeds 4 MiB" },
    };
    check_bad(rows, sizeof rows / sizeof rows[0]);
}

static void check_repeated(const char *text, size_t times, const char *tail, const char *message)
{
    char *all = repeat(text, times, tail);
    struct bad row = { all, message };
    check_bad(&row, 1);
    free(all);
}

/* A thousand blocks one within the other, each of them indented as it should be. */
static void check_nested(const char *directive)
{
    enum { DEPTH = 1000, MOST = 4 * DEPTH + 20 };
    char *all = malloc(DEPTH * MOST), *end = all;
    assert_non_null(all);
    for (int i = 0; i < DEPTH; i++)
        end += snprintf(end, MOST, "%*s%s\n", 4 * i, "", directive);
    struct bad row = { all, "main.cl.in:33: blocks nested deeper than 32" };
    check_bad(&row, 1);
    free(all);
}

static void deep_nesting(void **state)
{
    (void) state;
    check_nested("@if 1");
    check_nested("@for i in 0..1");
    check_repeated("@let X = 1\n", 1000, "",
            "main.cl.in:316: no room for the name 'X': 320 are set");
    char *lists = repeat("$list(i in 0..1;;", 17, "x)))))))))))))))))");
    struct bad row = { lists, "main.cl.in:1: $list nested deeper than 16" };
    check_bad(&row, 1);
    free(lists);
    char *mixed = repeat("$list(i in 0..1;;$if(1;", 9, "x))))))))))))))))))");
    row = (struct bad){ mixed, "main.cl.in:1: $list nested deeper than 16" };
    check_bad(&row, 1);
    free(mixed);
}

static void large_text_is_fine(void **state)
{
    (void) state;
    char *text = repeat("    c[${M}] = ${T};\n", 50000, "");
    char *expected = repeat("    c[3] = float;\n", 50000, "");
    struct good row = { text, expected };
    check_good(&row, 1);
    free(text);
    free(expected);
}

static void rendering_is_pure(void **state)
{
    (void) state;
    const char *text = "@for i in 0..20\n    $list(j in 0..i;, ;${T} x${i}_${j})\n@end\n";
    struct tmpl_error err;
    char *first = render(text, &err), *second = render(text, &err);
    assert_non_null(first);
    assert_non_null(second);
    assert_string_equal(first, second);
    free(first);
    free(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(values, fill_names),
        cmocka_unit_test_setup(conditions, fill_names),
        cmocka_unit_test_setup(loops, fill_names),
        cmocka_unit_test_setup(choices, fill_names),
        cmocka_unit_test_setup(lists, fill_names),
        cmocka_unit_test_setup(lets, fill_names),
        cmocka_unit_test_setup(includes, fill_names),
        cmocka_unit_test_setup(fragments, fill_names),
        cmocka_unit_test_setup(takes, fill_names),
        cmocka_unit_test_setup(wraps, fill_names),
        cmocka_unit_test_setup(block_errors, fill_names),
        cmocka_unit_test_setup(line_errors, fill_names),
        cmocka_unit_test_setup(unknown_template, fill_names),
        cmocka_unit_test_setup(runaway_templates, fill_names),
        cmocka_unit_test_setup(deep_nesting, fill_names),
        cmocka_unit_test_setup(large_text_is_fine, fill_names),
        cmocka_unit_test_setup(rendering_is_pure, fill_names),
    };
    return cmocka_run_group_tests_name("tmpl", tests, NULL, NULL);
}
