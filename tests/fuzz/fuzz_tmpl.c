/* fuzz_tmpl.c: any bytes as a set of templates give a text or an error, within bounds.
 *
 * A form feed ends one file and starts the next; they are called a, b, c, d, with TMPL_ENDING.
 */
#include "fuzz.h"
#include "tmpl.h"

#include <stdlib.h>
#include <string.h>

enum { NUM_FILES = 4 };

const char *const fuzz_seeds[] = {
    "plain ${M} ${T}\n  ${ceil_div(M * VEC, 4)}\n",
    "@if M == 4\n    a\n@elif N\n    b\n@else\n    c\n@end\n",
    "@for i in 0..VEC\n    x${i};\n    @for j in i..VEC\n        y${i}_${j}\n    @end\n@end\n",
    "@let X = M * 2\n@if 1\n    @let X = X + 1\n    ${X}\n@end\n${X}\n",
    "f($list(i in 0..(VEC - 1) * 2; , ;g($list(j in 0..i;, ;${T} x${i}${j}))));\n",
    "a$if(M > N; + b;$if(VEC; * $list(i in 0..2;;${i});c;))$if(0;d)\n",
    "@include b\n${M}\f@for M in 0..3\n    @include c\n@end\n\f(${M}) @ $\n\f@include d\n",
    "@include d\n\f\f\f@include d\n",
    "@if N\n    @for i in 0..M\n    @end\n@else\n    @let A = 1 ? 2 : 3\n    ${A}\n@end\n",
    "@let X = 1\n@include b Y = X + 1\n@include b Y = 0; X = 2\n\f"
    "@// A remark.\n@takes X Y\n${X + Y}\n",
    "@let X = 1\n@wrap b Y = 2\n    @for i in 0..2\n        ${X + i}\n    @end\n@end\n\f"
    "@takes Y\n{${Y}\n@body\n@body\n}\n",
    "@include :x\n@wrap b:y Z = 1\n    q\n@end\n\n@fragment x\n${M}\n\f"
    "@fragment y\n@takes Z\n${Z}\n@body\n\n@fragment z\n@include :y Z = 2\n",
    "@wrap b\n@wrap c\n@body\n@end\n@end\n\f@wrap c\n@body\n@end\n\f@let X = 1\n@body\n",
    NULL,
};
const char *const fuzz_words[] = {
    "@if ", "@if M: ", "@elif ", "@else\n", "@end\n", "@for i in 0..", "@let X = ", "@include b\n",
    "@include b X = ", "@takes X\n", "@wrap b\n", "@body\n", "@// ",
    "@fragment x\n", "@include :x\n", "@include b:x\n", "\n\n@fragment ", "\r\n",
    "$list(i in 0..", "$if(", "${",
    "}", "..", ";", "\f", "\n", "X", "VEC", NULL,
};

/* Those of the hand-written seeds, then those of the kernels in the corpus. */
static struct scope *names(void)
{
    static const struct {
        const char *name;
        int value;
    } numbers[] = {
        { "M", 4 },
        { "N", 0 },
        { "VEC", 3 },
        { "TM", 2 },
        { "NV", 2 },
        { "KU", 2 },
        { "KT", 8 },
        { "TA", 0 },
        { "TB", 1 },
        { "WHOLE", 0 },
        { "GUARD", 1 },
    };
    static const struct {
        const char *name, *value;
    } texts[] = {
        { "T", "float" },
        { "R", "float" },
        { "RV", "float4" },
        { "I", "int" },
    };
    static struct scope scope;
    if (scope.num > 0)
        return &scope;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        abort_unless(scope_set(&scope, numbers[i].name, numbers[i].value));
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        abort_unless(scope_set_text(&scope, texts[i].name, texts[i].value));
    return &scope;
}

/* Divides text in place; every file is there, the last ones perhaps empty. */
static void split(char *text, struct tmpl_file *files)
{
    static const char *const file_names[NUM_FILES] = { "a" TMPL_ENDING, "b" TMPL_ENDING,
        "c" TMPL_ENDING, "d" TMPL_ENDING };
    char *end = text + strlen(text);
    for (int i = 0; i < NUM_FILES; i++) {
        files[i] = (struct tmpl_file){ file_names[i], text };
        text += strcspn(text, "\f");
        if (text < end)
            *text++ = '\0';
    }
}

static char *render(const struct tmpl_file *files)
{
    struct tmpl_error err;
    memset(&err, 0xff, sizeof err);
    size_t mark = names()->num;
    char *out = tmpl_render(files, NUM_FILES, "a", names(), &err);
    if (names()->num != mark || names()->floor || names()->globals)
        abort();
    if (!out && (err.line < 1 || !memchr(err.file, '\0', sizeof err.file) ||
                        !memchr(err.what, '\0', sizeof err.what) || err.what[0] == '\0'))
        abort();
    return out;
}

/* What is tried is rendered: a text that is right gives no error. */
static void check_harness(void)
{
    char text[] = "@include b:x\n\f@fragment x\n${M}\n";
    struct tmpl_file files[NUM_FILES];
    split(text, files);
    char *out = render(files);
    abort_unless(out && !strcmp(out, "4\n"));
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool is_checked;
    struct tmpl_file files[NUM_FILES];
    if (!is_checked)
        check_harness();
    is_checked = true;
    char *text = fuzz_text(data, size);
    split(text, files);
    char *first = render(files), *second = first ? render(files) : NULL;
    if (first && (!second || strcmp(first, second) != 0))
        abort();
    free(first);
    free(second);
    free(text);
    return 0;
}
