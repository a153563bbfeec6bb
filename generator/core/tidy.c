/* tidy.c: see tidy.h. */
#include "tidy.h"
#include "fold.h"
#include "text.h"
#include "unroll.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 100, CONTINUED = 8, MAX_FUNCTIONS = 128 };

static bool is_name_char(char c)
{
    return isalnum((unsigned char) c) || c == '_';
}

static const char *line_end(const char *p)
{
    return p + strcspn(p, "\n");
}

static const char *next_line(const char *p)
{
    p = line_end(p);
    return *p ? p + 1 : p;
}

static bool starts_with(const char *text, const char *prefix)
{
    return !strncmp(text, prefix, strlen(prefix));
}

static bool line_is_comment(const char *p)
{
    return starts_with(p + strspn(p, " "), "//");
}

/* ---- functions that nothing calls ---- */

struct function {
    const char *begin, *end;           /* with the comment above and the blank line below */
    const char *name;
    size_t name_len;
    bool is_called;
};

static void name_function(const char *p, struct function *function)
{
    const char *open = p + strcspn(p, "(");
    const char *name = open;
    while (name > p && is_name_char(name[-1]))
        name--;
    function->name = name;
    function->name_len = (size_t) (open - name);
}

/* Does a function's head begin at p? A line `{` ends it; what has a `;`, a directive or an
 * attribute before that is left alone. */
static bool is_head(const char *p)
{
    for (; *p; p = next_line(p)) {
        const char *end = line_end(p);
        if (*p == '{' && end == p + 1)
            return true;
        if (*p == '#' || memchr(p, ';', (size_t) (end - p)))
            return false;
        for (const char *q = p; q < end; q++)
            if (starts_with(q, "__attribute__"))
                return false;
    }
    return false;
}

/* Lists the functions of a text; returns how many. */
static unsigned list_functions(const char *text, struct function functions[MAX_FUNCTIONS])
{
    unsigned num = 0;
    const char *comment = NULL; /* where the comment above the present line begins */
    for (const char *p = text; *p && num < MAX_FUNCTIONS; p = next_line(p)) {
        if (starts_with(p, "//")) {
            comment = comment ? comment : p;
            continue;
        }
        if (starts_with(p, "static ") && memchr(p, '(', (size_t) (line_end(p) - p)) && is_head(p)) {
            struct function *function = &functions[num++];
            *function = (struct function){ .begin = comment ? comment : p };
            name_function(p, function);
            while (*p && !(p[0] == '}' && (p[1] == '\n' || !p[1])))
                p = next_line(p);
            function->end = next_line(p);
            if (*function->end == '\n')
                function->end++;
        }
        comment = NULL;
    }
    return num;
}

/* Does the text [from, to) call the function? Lines that are comments call nothing. */
static bool calls(const char *from, const char *to, const struct function *function)
{
    for (const char *p = from; p < to; p = next_line(p)) {
        const char *end = line_end(p) < to ? line_end(p) : to;
        if (!line_is_comment(p) && tokens_has_word(p, end, function->name, function->name_len))
            return true;
    }
    return false;
}

/* Marks what the text outside functions calls, then what is called by what is called. */
static void mark_called(const char *text, struct function *functions, unsigned num)
{
    const char *at = text;
    for (unsigned i = 0; i <= num; i++) {
        const char *end = i < num ? functions[i].begin : text + strlen(text);
        for (unsigned j = 0; j < num; j++)
            functions[j].is_called = functions[j].is_called || calls(at, end, &functions[j]);
        at = i < num ? functions[i].end : end;
    }
    for (bool is_new = true; is_new;) {
        is_new = false;
        for (unsigned i = 0; i < num; i++)
            for (unsigned j = 0; functions[i].is_called && j < num; j++)
                if (!functions[j].is_called &&
                        calls(functions[i].begin, functions[i].end, &functions[j]))
                    is_new = functions[j].is_called = true;
    }
}

static void drop_functions(char *text)
{
    struct function functions[MAX_FUNCTIONS];
    const unsigned num = list_functions(text, functions);
    mark_called(text, functions, num);
    for (unsigned i = num; i-- > 0;)
        if (!functions[i].is_called) {
            char *begin = text + (functions[i].begin - text);
            memmove(begin, functions[i].end, strlen(functions[i].end) + 1);
        }
}

/* ---- lines that are too long, or shorter than they need be ---- */

/* Does a part of an expression begin behind the blank at p: with an operator, or a string? */
static bool begins_part(const char *p)
{
    return p[1] == '"' || (p[1] && strchr("+-*/%&|^<>=?:", p[1]) &&
                                  (p[2] == ' ' || (p[2] && p[2] != ')' && p[3] == ' ')));
}

/* How firmly the operator behind the blank at p holds together what stands around it, 0 to 3. */
static int hold_of(const char *p)
{
    if (p[1] && p[2] == '=' && strchr("+-*/%&|^", p[1]))
        return 0; /* an assignment */
    if (starts_with(p + 1, "&&") || starts_with(p + 1, "||") || starts_with(p + 1, "= "))
        return 0;
    return strchr("*/%", p[1]) ? 3 : strchr("+-", p[1]) ? 2 : strchr("?:\"", p[1]) ? 0 : 1;
}

/* A blank where a line may be broken, and how firmly it holds together what stands around it: by
 * brackets, and by operators. */
struct place {
    const char *at;
    int hold;
};

/* Takes a place further right, unless it holds more; a place far to the left makes a short
 * line. */
static void take_place(struct place *best, struct place other, const char *half)
{
    if (!best->at || best->at < half || other.hold <= best->hold)
        *best = other;
}

/* The blank where the text [p, end) is broken best, at `limit` if that can be: behind a comma, or
 * before an operator. NULL: nowhere. The text may begin within a string. */
static const char *find_break(const char *p, const char *limit, const char *end, bool in_string)
{
    const char *half = p + (limit - p) / 2;
    struct place comma = { NULL }, part = { NULL };
    int depth = 0;
    for (const char *q = in_string ? tokens_string_end(p, '"') : p;
            q < end && (q <= limit || (!comma.at && !part.at)); q++) {
        if (starts_with(q, "//"))
            break;
        if (*q == '"' || *q == '\'') {
            q = tokens_string_end(q + 1, *q) - 1;
            continue;
        }
        depth += *q && strchr("([{", *q) ? 1 : *q && strchr(")]}", *q) ? -1 : 0;
        if (*q != ' ' || q == p)
            continue;
        if (q[-1] == ',')
            take_place(&comma, (struct place){ q, 4 * depth }, half);
        if (begins_part(q))
            take_place(&part, (struct place){ q, 4 * depth + hold_of(q) }, half);
    }
    if (!comma.at || !part.at)
        return comma.at ? comma.at : part.at;
    const bool is_part = comma.at <= half || (part.at > half && part.hold < comma.hold);
    return is_part ? part.at : comma.at;
}

/* Where a string of the text [p, end) is broken into two, behind a comma and a blank; NULL: nowhere
 * before `limit`. */
static const char *find_string_break(const char *p, const char *limit, const char *end,
        bool in_string)
{
    const char *found = NULL;
    char quote = '"';
    for (const char *q = p; q < end && q + 2 <= limit; q++)
        if (!in_string) {
            if (starts_with(q, "//"))
                break;
            in_string = *q == '"' || *q == '\'';
            quote = *q;
        } else if (*q == quote) {
            in_string = false;
        } else if (*q == '\\') {
            q++;
        } else if (quote == '"' && *q == ' ' && q > p && q[-1] == ',' && q[1] != quote) {
            found = q + 1;
        }
    return found;
}

static void add_span(struct text *out, const char *from, const char *to)
{
    text_add(out, "%.*s", (int) (to - from), from);
}

/* Writes a line of code, as several lines if it is too long. */
static void add_code(struct text *out, const char *p, const char *end)
{
    const size_t indent = strspn(p, " ");
    size_t lead = 0;
    bool in_string = false;
    p += indent;
    while ((size_t) (end - p) + in_string + indent + lead > WIDTH && indent + lead < WIDTH) {
        const char *limit = p + WIDTH - indent - lead - in_string;
        const char *at = find_break(p, limit, end, in_string);
        const char *cut = at && at <= limit ? NULL : find_string_break(p, limit, end, in_string);
        if (!at && !cut)
            break;
        text_add(out, "%*s%s", (int) (indent + lead), "", in_string ? "\"" : "");
        add_span(out, p, cut ? cut : at);
        text_add(out, cut ? "\"\n" : "\n");
        p = cut ? cut : at + 1;
        in_string = cut != NULL;
        lead = CONTINUED;
    }
    if (p < end)
        text_add(out, "%*s%s", (int) (indent + lead), "", in_string ? "\"" : "");
    add_span(out, p, end);
    text_add(out, "\n");
}

/* Adds the words of a comment to a line that is `at` long, or 0, and to as many as they take;
 * returns how long the last one is. */
static size_t add_words(struct text *out, const char *p, const char *end, size_t indent, size_t at)
{
    while (p < end) {
        const char *word = p;
        while (p < end && *p != ' ')
            p++;
        const size_t len = (size_t) (p - word);
        if (at && at + 1 + len > WIDTH) {
            text_add(out, "\n");
            at = 0;
        }
        if (at)
            text_add(out, " ");
        else
            text_add(out, "%*s// ", (int) indent, "");
        at = (at ? at + 1 : indent + 3) + len;
        add_span(out, word, p);
        p += p < end;
    }
    return at;
}

/* A comment's line begins at p, which is indented so far, and has words that may be moved. */
static bool is_comment(const char *p, size_t indent)
{
    return strspn(p, " ") == indent && starts_with(p + indent, "// ") && p[indent + 3] != ' ';
}

/* A comment from its first line on, filled up to a line that ends with a sentence; returns the line
 * behind it. */
static const char *add_comment(struct text *out, const char *p)
{
    const size_t indent = strspn(p, " ");
    size_t at = 0;
    bool ends = false;
    for (; !ends && is_comment(p, indent); p = next_line(p)) {
        at = add_words(out, p + indent + 3, line_end(p), indent, at);
        ends = strchr(".:", line_end(p)[-1]);
    }
    text_add(out, "\n");
    return p;
}

/* May the line at p, which is indented so far, go on what stands above it? */
static bool goes_on(const char *p, size_t indent)
{
    const char *begin = p + strspn(p, " ");
    return begin >= p + indent + CONTINUED &&
         *begin != '#' && !starts_with(begin, "//") && !starts_with(begin, "/*");
}

/* The line behind those over which what begins at p is continued, if together they fit one line or
 * the first is too long; else the next one. */
static const char *continued_end(const char *p)
{
    const size_t indent = strspn(p, " ");
    size_t len = (size_t) (line_end(p) - p);
    bool is_long = len > WIDTH;
    const char *next = next_line(p);
    for (; goes_on(next, indent); next = next_line(next)) {
        const char *begin = next + strspn(next, " ");
        len += 1 + (size_t) (line_end(next) - begin);
        /* Matrices in the head of a kernel keep lines of their own. */
        is_long = is_long && !starts_with(begin, "__");
    }
    for (const char *q = p; q < next; q++)
        if (starts_with(q, "//"))
            return next_line(p);
    return is_long || len <= WIDTH ? next : next_line(p);
}

/* The lines [p, end) of code as one, or as several if that is too long. */
static void add_lines(struct text *out, const char *p, const char *end)
{
    struct text line = { NULL };
    add_span(&line, p, line_end(p));
    while ((p = next_line(p)) < end) {
        const char *begin = p + strspn(p, " ");
        const bool apart = line.len && !strchr("([", line.bytes[line.len - 1]) &&
                           !strchr(")];", *begin);
        text_add(&line, apart ? " " : "");
        add_span(&line, begin, line_end(p));
    }
    if (!line.failed)
        add_code(out, line.bytes, line.bytes + line.len);
    out->failed = out->failed || line.failed;
    text_free(&line);
}

static char *fill_lines(const char *text)
{
    struct text out = { NULL };
    for (const char *p = text; *p;) {
        if (p[strspn(p, " ")] == '#') {
            add_span(&out, p, tokens_directive_end(p));
            text_add(&out, "\n");
            p = next_line(tokens_directive_end(p));
        } else if (is_comment(p, strspn(p, " "))) {
            p = add_comment(&out, p);
        } else if (*p == '\n') {
            /* Of several blank lines one is kept. */
            if (!out.len || out.bytes[out.len - 1] != '\n' || out.len < 2 ||
                    out.bytes[out.len - 2] != '\n')
                text_add(&out, "\n");
            p++;
        } else {
            const char *end = continued_end(p);
            add_lines(&out, p, end);
            /* Behind a function is a blank line. */
            if (starts_with(p, "}\n") && *end && *end != '\n')
                text_add(&out, "\n");
            p = end;
        }
    }
    if (out.failed) {
        text_free(&out);
        return NULL;
    }
    return out.bytes;
}

/* ---- all of it ---- */

/* Loops and constants; a text that is not understood stays as it is. */
static char *simplify(char *text)
{
    struct tokens tokens;
    if (!tokens_read(text, &tokens))
        return text;
    do
        fold_constants(&tokens);
    while (drop_loops(&tokens));
    char *simple = tokens_write(&tokens);
    tokens_free(&tokens);
    free(text);
    return simple;
}

char *tidy(char *text)
{
    text = simplify(text);
    if (!text)
        return NULL;
    drop_functions(text);
    char *filled = *text ? fill_lines(text) : text;
    if (filled != text)
        free(text);
    return filled;
}

void tidy_drop_comments(char *text)
{
    char *to = text;
    for (const char *p = text, *next; *p; p = next) {
        next = next_line(p);
        if (!line_is_comment(p)) {
            memmove(to, p, (size_t) (next - p));
            to += next - p;
        }
    }
    *to = '\0';
}
