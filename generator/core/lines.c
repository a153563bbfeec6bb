/* lines.c: see lines.h. */
#include "lines.h"

#include <stdarg.h>
#include <stdio.h>

enum { MAX_BLOCK_DEPTH = 32 };

static const struct {
    const char *word;
    enum directive kind;
} directives[] = {
    { "if", DIR_IF }, { "elif", DIR_ELIF }, { "else", DIR_ELSE }, { "end", DIR_END },
    { "for", DIR_FOR }, { "let", DIR_LET }, { "include", DIR_INCLUDE }, { "takes", DIR_TAKES },
    { "wrap", DIR_WRAP }, { "body", DIR_BODY }, { "fragment", DIR_FRAGMENT },
};

/* ---- spans ---- */

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
}

struct span span_trim(struct span s)
{
    while (s.p < s.end && is_blank(*s.p))
        s.p++;
    while (s.p < s.end && is_blank(s.end[-1]))
        s.end--;
    return s;
}

struct span span_take_word(struct span *s)
{
    struct span word = { s->p, s->p };
    while (word.end < s->end && is_name_char(*word.end))
        word.end++;
    s->p = word.end;
    return word;
}

/* ---- lines ---- */

static enum directive find_directive(struct span word)
{
    for (size_t i = 0; i < sizeof directives / sizeof directives[0]; i++)
        if (span_is(word, directives[i].word))
            return directives[i].kind;
    return DIR_UNKNOWN;
}

/* Divides what follows @if, @elif or @for at the first colon behind which stands a blank and before
 * which none does, unlike that of `a ? b : c`. */
static void take_only(struct line *l)
{
    for (const char *p = l->rest.p; p < l->rest.end - 1; p++)
        if (*p == ':' && p > l->rest.p && !is_blank(p[-1]) && is_blank(p[1])) {
            l->only = span_trim((struct span){ p + 1, l->rest.end });
            l->rest.end = p;
            return;
        }
}

/* Whether @fragment comes before anything else. */
static bool is_above_fragment(const char *p)
{
    static const char word[] = "@fragment";
    while (is_blank(*p))
        p++;
    return !strncmp(p, word, strlen(word));
}

static void find_kind(struct line *l)
{
    struct span text = span_trim(l->all);
    if (text.p == text.end && is_above_fragment(l->next))
        l->kind = DIR_COMMENT;
    if (text.p == text.end || *text.p != '@')
        return;
    text.p++;
    l->word = span_take_word(&text);
    l->rest = span_trim(text);
    const bool is_remark = l->word.p == l->word.end && span_begins(text, "//");
    l->kind = is_remark ? DIR_COMMENT : find_directive(l->word);
    if (l->kind == DIR_IF || l->kind == DIR_ELIF || l->kind == DIR_FOR)
        take_only(l);
}

struct line line_read(const char *p, int number)
{
    struct line l = { .number = number, .kind = *p ? DIR_TEXT : DIR_EOF };
    l.all = (struct span){ p, p + strcspn(p, "\n") };
    l.next = *l.all.end ? l.all.end + 1 : l.all.end;
    l.indent = strspn(p, " ");
    find_kind(&l);
    return l;
}

struct line line_only(const struct line *line)
{
    struct line l = { .all = line->only, .next = line->next, .number = line->number };
    l.indent = line->indent;
    l.kind = DIR_TEXT;
    find_kind(&l);
    return l;
}

struct line line_find_fragment(const char *text, struct span name)
{
    int number = 1;
    for (const char *p = text; p; number++) {
        if (*p == '@') {
            const struct line l = line_read(p, number);
            if (l.kind == DIR_FRAGMENT && span_same(l.rest, name))
                return line_read(l.next, number + 1);
        }
        p = strchr(p, '\n');
        p = p ? p + 1 : NULL;
    }
    return line_read("", 0);
}

bool line_ends_text(const struct line *line)
{
    return line->kind == DIR_EOF || line->kind == DIR_FRAGMENT;
}

bool line_opens_block(const struct line *line)
{
    return (line->kind == DIR_IF || line->kind == DIR_FOR || line->kind == DIR_WRAP) &&
           !line->only.p;
}

bool line_closes_block(const struct line *line)
{
    return line->kind == DIR_ELIF || line->kind == DIR_ELSE || line->kind == DIR_END ||
           line_ends_text(line);
}

/* ---- blocks ---- */

/* A block that was opened and is not closed yet. */
struct block {
    struct line opening;
    bool saw_else;
};

struct check {
    struct block open[MAX_BLOCK_DEPTH];
    int num;                           /* blocks that are open */
    int number;                        /* the line that is looked at */
    bool failed;
    char *why;
};

__attribute__((format(printf, 2, 3)))
static void fail(struct check *check, const char *format, ...)
{
    if (check->failed)
        return;
    check->failed = true;
    va_list args;
    va_start(args, format);
    vsnprintf(check->why, LINES_MESSAGE_BYTES, format, args);
    va_end(args);
}

static struct block *innermost(struct check *check)
{
    return check->num > 0 ? &check->open[check->num - 1] : NULL;
}

static void check_arm(struct check *check, const struct line *l)
{
    struct block *block = innermost(check);
    const char *word = l->kind == DIR_ELSE ? "@else" : "@elif";
    if (!block || block->opening.kind != DIR_IF)
        fail(check, "'%s' without '@if'", word);
    else if (block->saw_else && l->kind == DIR_ELSE)
        fail(check, "second '@else' for the '@if' of line %d", block->opening.number);
    else if (block->saw_else)
        fail(check, "'@elif' after the '@else' of the '@if' of line %d", block->opening.number);
    else
        block->saw_else = l->kind == DIR_ELSE;
}

/* A block's lines are indented more than its directive, its arms and its end as much. */
static void check_indent(struct check *check, const struct line *l)
{
    const struct block *block = innermost(check);
    if (!block)
        return;
    const struct line *opening = &block->opening;
    const bool closes = line_closes_block(l);
    const size_t wanted = opening->indent + (closes ? 0 : LINES_LEVEL);
    if (closes ? l->indent != wanted : l->indent < wanted && span_len(span_trim(l->all)) > 0)
        fail(check, "indented by %zu blanks; the '@%.*s' of line %d wants %zu%s", l->indent,
                span_shown(opening->word), opening->word.p, opening->number, wanted,
                closes ? "" : " or more");
}

static void check_line(struct check *check, const struct line *l)
{
    check->number = l->number;
    if (l->kind == DIR_UNKNOWN)
        fail(check, "unknown directive '@%.*s'", span_shown(l->word), l->word.p);
    if (l->kind == DIR_TAKES)
        fail(check, "'@takes' below the head of the text");
    if ((l->kind == DIR_ELSE || l->kind == DIR_END || l->kind == DIR_BODY) &&
            l->rest.p < l->rest.end)
        fail(check, "text after '@%.*s'", span_shown(l->word), l->word.p);
    if (l->kind == DIR_ELIF || l->kind == DIR_ELSE)
        check_arm(check, l);
    if (l->kind == DIR_ELIF && l->only.p)
        fail(check, "'@elif' with a text behind a colon");
    else if (l->only.p) {
        const struct line only = line_only(l);
        if (only.kind != DIR_TEXT && only.kind != DIR_INCLUDE)
            fail(check, "behind the colon stands neither text nor '@include'");
    }
    if (l->kind == DIR_END && check->num == 0)
        fail(check, "'@end' without '@if', '@for' or '@wrap'");
    if (line_opens_block(l) && check->num == MAX_BLOCK_DEPTH)
        fail(check, "blocks nested deeper than %d", MAX_BLOCK_DEPTH);
    check_indent(check, l);
    if (!check->failed && line_opens_block(l))
        check->open[check->num++] = (struct block){ .opening = *l };
    else if (!check->failed && l->kind == DIR_END)
        check->num--;
}

/* What ends the text: nothing, or a fragment that can be named. */
static void check_last(struct check *check, const struct line *l)
{
    const struct block *block = innermost(check);
    if (block) {
        check->number = block->opening.number;
        fail(check, "'@%.*s' without '@end'", span_shown(block->opening.word),
                block->opening.word.p);
    } else if (l->kind == DIR_FRAGMENT) {
        struct span rest = l->rest;
        const struct span name = span_take_word(&rest);
        check->number = l->number;
        if (l->indent > 0)
            fail(check, "'@fragment' is indented");
        else if (!span_is_name(name) || rest.p < rest.end)
            fail(check, "expected a name after '@fragment', found '%.*s'", span_shown(l->rest),
                    l->rest.p);
    }
}

bool lines_check(struct line first, int *number, char why[LINES_MESSAGE_BYTES])
{
    struct check check = { .why = why };
    struct line l = first;
    for (; !check.failed && !line_ends_text(&l); l = line_read(l.next, l.number + 1))
        check_line(&check, &l);
    if (!check.failed)
        check_last(&check, &l);
    *number = check.number;
    return !check.failed;
}
