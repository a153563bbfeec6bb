/* tmpl.c: the template engine.
 *
 * Each file is checked first: every directive known, every block closed. Rendering may then walk
 * the text line by line, and skip the arms it does not take, without asking again. A block is
 * rendered by a function that returns the line which closes it. The first failure is kept; after it
 * nothing is written and every loop ends.
 *
 * The texts of $list and $if are taken as they stand, blanks included. The names a file sets with
 * @let end with that file.
 */
#include "tmpl.h"
#include "expr.h"
#include "lines.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Templates may come from anyone: these bound time, memory and the C stack. */
enum {
    MAX_OUTPUT_BYTES = 4 << 20,
    MAX_WORK_BYTES = 16 << 20,         /* of template read, repeats counted */
    MAX_FORM_DEPTH = 16,
    MAX_INCLUDE_DEPTH = 8,
};

/* Lines that a fragment is wrapped around, and where they stand. */
struct body {
    struct line first;
    const struct tmpl_file *file;
    const struct body *outer;          /* of that file */
    size_t indent, level;              /* of that file; of the lines in it */
    size_t num, floor;                 /* of its scope */
};

struct render {
    const struct tmpl_file *files, *file;
    const struct body *body;           /* what the present file is wrapped around; or NULL */
    size_t num_files;
    int line, include_depth, form_depth;
    size_t indent;                     /* of the @include lines on the way here */
    size_t level;                      /* blanks that the open blocks of this file add */
    struct scope *scope;
    char *out;
    size_t len, cap, work;
    struct tmpl_error *err;
    bool failed;
};

/* A text, and where it begins. */
struct place {
    const struct tmpl_file *file;
    struct line first;
};

struct range {
    struct span name;
    int64_t from, to;
};

static struct line render_block(struct render *r, struct line l);
static void render_fragment(struct render *r, const struct line *l, const struct body *body);
static void render_line_of_text(struct render *r, const struct line *l);
static void render_text(struct render *r, struct span text);
static void render_place(struct render *r, const struct place *place, size_t given);

__attribute__((format(printf, 2, 3)))
static void fail(struct render *r, const char *format, ...)
{
    if (r->failed)
        return;
    r->failed = true;
    va_list args;
    va_start(args, format);
    vsnprintf(r->err->what, sizeof r->err->what, format, args);
    va_end(args);
    snprintf(r->err->file, sizeof r->err->file, "%s", r->file->name);
    r->err->line = r->line;
    /* What is quoted from a template must not disturb a terminal or a row of a journal. */
    for (char *c = r->err->what; *c; c++)
        if ((unsigned char) *c < 0x20 || *c == 0x7f)
            *c = '?';
}

/* Counts what is read, so that a loop which writes nothing ends too. */
static void charge(struct render *r, size_t bytes)
{
    r->work += bytes;
    if (r->work > MAX_WORK_BYTES)
        fail(r, "rendering takes too long (a very long @for or $list?)");
}

static bool reserve(struct render *r, size_t len)
{
    if (len > MAX_OUTPUT_BYTES - r->len) {
        fail(r, "the rendered text exceeds %d MiB", MAX_OUTPUT_BYTES >> 20);
        return false;
    }
    if (r->len + len < r->cap)
        return true;
    size_t cap = 2 * (r->len + len) + 4096;
    char *out = realloc(r->out, cap);
    if (!out) {
        fail(r, "out of memory");
        return false;
    }
    r->out = out;
    r->cap = cap;
    return true;
}

static void put(struct render *r, const char *text, size_t len)
{
    if (r->failed || !reserve(r, len))
        return;
    memcpy(r->out + r->len, text, len);
    r->len += len;
    r->out[r->len] = '\0';
}

static int64_t eval(struct render *r, struct span expr)
{
    struct expr_error err;
    int64_t value = 0;
    if (!expr_eval(expr.p, span_len(expr), r->scope, &value, &err))
        fail(r, "%s", err.what);
    return value;
}

static void bind(struct render *r, struct span name, int64_t value)
{
    char copy[SCOPE_NAME_BYTES];
    if (span_len(name) >= sizeof copy) {
        fail(r, "the name '%.*s' is longer than %d bytes", span_shown(name), name.p,
                SCOPE_NAME_BYTES - 1);
        return;
    }
    memcpy(copy, name.p, span_len(name));
    copy[span_len(name)] = '\0';
    for (size_t i = 0; i < r->scope->globals; i++)
        if (!strcmp(r->scope->entries[i].name, copy))
            fail(r, "the name '%s' has a meaning already, for all templates", copy);
    if (!scope_set(r->scope, copy, value))
        fail(r, "no room for the name '%s': %d are set", copy, SCOPE_MAX_NAMES);
}

/* Sets a name as it is set already. */
static void bind_again(struct render *r, const struct scope_entry *entry)
{
    if (r->scope->num == SCOPE_MAX_NAMES)
        fail(r, "no room for the name '%s': %d are set", entry->name, SCOPE_MAX_NAMES);
    else
        r->scope->entries[r->scope->num++] = *entry;
}

/* The line after l. */
static struct line advance(struct render *r, const struct line *l)
{
    charge(r, span_len(l->all) + 1);
    return line_read(l->next, l->number + 1);
}

/* The line that ends the block or arm whose first line is l. */
static struct line skip_block(struct render *r, struct line l)
{
    int depth = 0;
    while (l.kind != DIR_EOF && (depth > 0 || !line_closes_block(&l))) {
        depth += line_opens_block(&l) - (l.kind == DIR_END);
        l = advance(r, &l);
    }
    return l;
}

/* "NAME in A..B". No expression holds "..", so the first one divides the bounds. */
static bool parse_range(struct render *r, struct span text, struct range *range)
{
    struct span rest = span_trim(text);
    range->name = span_take_word(&rest);
    struct span gap = rest;
    rest = span_trim(rest);
    bool spaced = rest.p > gap.p;
    struct span in = span_take_word(&rest);
    const char *dots = rest.p;
    while (rest.end - dots >= 2 && memcmp(dots, "..", 2) != 0)
        dots++;
    if (!span_is_name(range->name) || !spaced || !span_is(in, "in") || rest.end - dots < 2) {
        fail(r, "expected NAME in A..B, found '%.*s'", span_shown(text), text.p);
        return false;
    }
    range->from = eval(r, (struct span){ rest.p, dots });
    range->to = eval(r, (struct span){ dots + 2, rest.end });
    return !r->failed;
}

/* What stands between the parentheses of $list or $if, divided at semicolons. */
struct parts {
    struct span part[3];
    unsigned num;
    const char *next;                  /* behind the closing parenthesis */
};

/* Divides at the form's own semicolons, not at those of a form within; the last part may have more.
 * s.p is behind the opening parenthesis of `form`. */
static bool split_parts(struct render *r, struct span s, const char *form, struct parts *parts)
{
    int depth = 1;
    const char *p = s.p, *begin = s.p;
    *parts = (struct parts){ .num = 0 };
    for (; p < s.end; p++) {
        depth += (*p == '(') - (*p == ')');
        if (depth == 0)
            break;
        if (*p == ';' && depth == 1 && parts->num < 2) {
            parts->part[parts->num++] = (struct span){ begin, p };
            begin = p + 1;
        }
    }
    charge(r, (size_t) (p - s.p));
    if (p == s.end) {
        fail(r, "'%s(' without its ')'", form);
        return false;
    }
    parts->part[parts->num++] = (struct span){ begin, p };
    parts->next = p + 1;
    return true;
}

static void render_items(struct render *r, const struct parts *list, const struct range *range)
{
    const struct span separator = list->part[1], text = list->part[2];
    for (int64_t i = range->from; i < range->to && !r->failed; i++) {
        size_t mark = r->scope->num;
        charge(r, span_len(separator) + span_len(text) + 1);
        if (i > range->from)
            render_text(r, separator);
        bind(r, range->name, i);
        render_text(r, text);
        r->scope->num = mark;
    }
}

static void render_list(struct render *r, const struct parts *list)
{
    struct range range;
    if (list->num < 3)
        fail(r, "expected $list(NAME in A..B; SEP; TEXT)");
    else if (parse_range(r, list->part[0], &range))
        render_items(r, list, &range);
}

static void render_choice(struct render *r, const struct parts *choice)
{
    if (choice->num < 2)
        fail(r, "expected $if(EXPR; TEXT) or $if(EXPR; TEXT; TEXT)");
    else if (eval(r, choice->part[0]))
        render_text(r, choice->part[1]);
    else
        render_text(r, choice->part[2]);
}

static const struct form {
    const char *opening, *name;
    void (*render)(struct render *, const struct parts *);
} forms[] = {
    { "$list(", "$list", render_list },
    { "$if(", "$if", render_choice },
};

/* s.p is behind the form's opening parenthesis. Returns where the text goes on. */
static const char *render_parts(struct render *r, const struct form *form, struct span s)
{
    struct parts parts;
    if (r->form_depth == MAX_FORM_DEPTH) {
        fail(r, "%s nested deeper than %d", form->name, MAX_FORM_DEPTH);
        return s.end;
    }
    if (!split_parts(r, s, form->name, &parts))
        return s.end;
    r->form_depth++;
    form->render(r, &parts);
    r->form_depth--;
    return parts.next;
}

/* s.p is behind "${". Returns where the text goes on. */
static const char *render_value(struct render *r, struct span s)
{
    const char *close = memchr(s.p, '}', span_len(s));
    if (!close) {
        fail(r, "'${' without its '}'");
        return s.end;
    }
    struct span expr = span_trim((struct span){ s.p, close });
    const struct scope_entry *entry = scope_find(r->scope, expr.p, span_len(expr));
    if (entry && entry->is_text) {
        put(r, entry->text, strlen(entry->text));
    } else {
        char number[24];
        put(r, number, (size_t) snprintf(number, sizeof number, "%" PRId64, eval(r, expr)));
    }
    return close + 1;
}

/* A form, where text.p is its '$'. Returns where the text goes on. */
static const char *render_form(struct render *r, struct span text)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (span_begins(text, forms[i].opening))
            return render_parts(r, &forms[i],
                    (struct span){ text.p + strlen(forms[i].opening), text.end });
    fail(r, "'$' begins neither '${' nor '$list(' nor '$if('");
    return text.end;
}

static void render_text(struct render *r, struct span text)
{
    while (text.p < text.end && !r->failed) {
        const char *dollar = memchr(text.p, '$', span_len(text));
        const char *plain_end = dollar ? dollar : text.end;
        put(r, text.p, (size_t) (plain_end - text.p));
        text.p = plain_end;
        if (span_begins(text, "${"))
            text.p = render_value(r, (struct span){ text.p + 2, text.end });
        else if (dollar)
            text.p = render_form(r, text);
    }
}

/* The lines of a block, which are indented by a level more than it is. */
static struct line render_inner(struct render *r, struct line l)
{
    r->level += LINES_LEVEL;
    struct line close = render_block(r, l);
    r->level -= LINES_LEVEL;
    return close;
}

/* The one line behind a colon. */
static void render_only(struct render *r, const struct line *l)
{
    const struct line only = line_only(l);
    charge(r, span_len(only.all) + 1);
    if (only.kind == DIR_INCLUDE)
        render_fragment(r, &only, NULL);
    else
        render_line_of_text(r, &only);
}

/* The whole chain @if @elif @else @end; returns the line after it. */
static struct line render_if(struct render *r, struct line l)
{
    bool done = false;
    if (l.only.p) {
        if (eval(r, l.rest))
            render_only(r, &l);
        return advance(r, &l);
    }
    while (!r->failed && l.kind != DIR_END) {
        r->line = l.number;
        bool take = !done && (l.kind == DIR_ELSE || eval(r, l.rest) != 0);
        struct line body = advance(r, &l);
        l = take ? render_inner(r, body) : skip_block(r, body);
        done = done || take;
    }
    return advance(r, &l);
}

static struct line render_for(struct render *r, struct line l)
{
    struct range range;
    struct line body = advance(r, &l);
    if (!parse_range(r, l.rest, &range))
        return body;
    const bool is_block = !l.only.p;
    struct line close = is_block && range.from >= range.to ? skip_block(r, body) : body;
    for (int64_t i = range.from; i < range.to && !r->failed; i++) {
        size_t mark = r->scope->num;
        charge(r, 1);
        r->line = l.number;
        bind(r, range.name, i);
        if (is_block)
            close = render_inner(r, body);
        else
            render_only(r, &l);
        r->scope->num = mark;
    }
    return is_block ? advance(r, &close) : body;
}

/* "NAME = EXPR", and sets it. */
static void set_name(struct render *r, struct span text)
{
    struct span rest = text;
    struct span name = span_take_word(&rest);
    rest = span_trim(rest);
    /* "A == B" is a slip, not a name followed by an odd expression. */
    bool assigns = rest.p < rest.end && *rest.p == '=' && !span_begins(rest, "==");
    if (!span_is_name(name) || !assigns) {
        fail(r, "expected NAME = EXPR, found '%.*s'", span_shown(text), text.p);
        return;
    }
    rest.p++;
    bind(r, name, eval(r, rest));
}

/* A file is called by its name without the ending. */
static const struct tmpl_file *find_file(const struct render *r, struct span name)
{
    for (size_t i = 0; i < r->num_files; i++) {
        const char *full = r->files[i].name;
        if (!strncmp(full, name.p, span_len(name)) && !strcmp(full + span_len(name), TMPL_ENDING))
            return &r->files[i];
    }
    return NULL;
}

/* Finds FILE, FILE:FRAGMENT, or :FRAGMENT, which is of the present file. */
static bool find_text(struct render *r, struct span name, struct place *place)
{
    const char *colon = memchr(name.p, ':', span_len(name));
    const struct span file = { name.p, colon ? colon : name.end };
    place->file = colon == name.p ? r->file : find_file(r, file);
    if (!place->file) {
        fail(r, "no template called '%.*s'", span_shown(file), file.p);
        return false;
    }
    if (!colon) {
        place->first = line_read(place->file->text, 1);
        return true;
    }
    const struct span fragment = { colon + 1, name.end };
    place->first = line_find_fragment(place->file->text, fragment);
    if (!place->first.number)
        fail(r, "no fragment called '%.*s' in %s", span_shown(fragment), fragment.p,
                place->file->name);
    else
        charge(r, (size_t) (place->first.all.p - place->file->text));
    return !r->failed;
}

/* The names that an @include sets for its fragment: "NAME = EXPR; ...", or nothing. */
static void set_names(struct render *r, struct span text)
{
    while (!r->failed && text.p < text.end) {
        const char *semicolon = memchr(text.p, ';', span_len(text));
        const char *end = semicolon ? semicolon : text.end;
        set_name(r, span_trim((struct span){ text.p, end }));
        text.p = semicolon ? semicolon + 1 : text.end;
    }
}

/* The text that @include or @wrap names, with the names that it is given, around the body of a
 * @wrap. */
static void render_fragment(struct render *r, const struct line *l, const struct body *body)
{
    const struct tmpl_file *includer = r->file;
    const struct body *outer = r->body;
    struct span name = l->rest, names;
    name.end = name.p + strcspn(name.p, " \n");
    if (name.end > l->rest.end)
        name.end = l->rest.end;
    names = span_trim((struct span){ name.end, l->rest.end });
    struct place place;
    if (name.p == name.end) {
        fail(r, "expected the name of a template after '@%.*s'", span_shown(l->word), l->word.p);
    } else if (!find_text(r, name, &place)) {
        return;
    } else if (r->include_depth == MAX_INCLUDE_DEPTH) {
        fail(r, "@include nested deeper than %d (does it include itself?)", MAX_INCLUDE_DEPTH);
    } else {
        const size_t level = r->level, indent = l->indent - level, given = r->scope->num;
        set_names(r, names);
        r->include_depth++;
        r->indent += indent;
        r->level = 0;
        r->body = body;
        if (!r->failed)
            render_place(r, &place, given);
        r->body = outer;
        r->level = level;
        r->indent -= indent;
        r->include_depth--;
        r->scope->num = given;
        r->file = includer;
        r->line = l->number;
    }
}

/* Returns the line after the @end. */
static struct line render_wrap(struct render *r, struct line l)
{
    const struct body body = {
        .first = advance(r, &l),
        .file = r->file,
        .outer = r->body,
        .indent = r->indent,
        .level = r->level + LINES_LEVEL,
        .num = r->scope->num,
        .floor = r->scope->floor,
    };
    render_fragment(r, &l, &body);
    struct line close = skip_block(r, body.first);
    return advance(r, &close);
}

/* The body sees what it sees where it is written: the fragment's names are set aside meanwhile. */
static void render_body(struct render *r, const struct line *l)
{
    const struct body *body = r->body;
    const struct tmpl_file *fragment = r->file;
    if (!body) {
        fail(r, "'@body' in a text that no '@wrap' names");
        return;
    }
    struct scope *scope = r->scope;
    const size_t num = scope->num, floor = scope->floor, indent = r->indent, level = r->level;
    const size_t aside = num - body->num;
    struct scope_entry *entries = malloc((aside + 1) * sizeof *entries);
    if (!entries) {
        fail(r, "out of memory");
        return;
    }
    memcpy(entries, &scope->entries[body->num], aside * sizeof *entries);
    scope->num = body->num;
    scope->floor = body->floor;
    r->file = body->file;
    r->body = body->outer;
    r->indent = body->indent + l->indent - level;
    r->level = body->level;
    render_block(r, body->first);
    memcpy(&scope->entries[body->num], entries, aside * sizeof *entries);
    free(entries);
    scope->num = num;
    scope->floor = floor;
    r->indent = indent;
    r->level = level;
    r->body = body;
    if (!r->failed)
        r->file = fragment;
}

/* A line as it is without its blocks. An included text is indented like its @include. */
static void render_line_of_text(struct render *r, const struct line *l)
{
    const size_t blanks = strspn(l->all.p, " ");
    const struct span text = { l->all.p + blanks, l->all.end };
    for (size_t i = r->level; i < r->indent + l->indent && span_len(text) > 0; i++)
        put(r, " ", 1);
    render_text(r, text);
    put(r, "\n", 1);
}

/* Renders one line, or the block it opens; returns the line after. */
static struct line render_line(struct render *r, struct line l)
{
    r->line = l.number;
    switch (l.kind) {
    case DIR_IF: return render_if(r, l);
    case DIR_FOR: return render_for(r, l);
    case DIR_LET: set_name(r, l.rest); break;
    case DIR_INCLUDE: render_fragment(r, &l, NULL); break;
    case DIR_WRAP: return render_wrap(r, l);
    case DIR_BODY: render_body(r, &l); break;
    case DIR_COMMENT: break;
    default: render_line_of_text(r, &l); break;
    }
    return advance(r, &l);
}

/* Renders from l up to the line that closes its block, and returns that line. */
static struct line render_block(struct render *r, struct line l)
{
    size_t mark = r->scope->num;
    while (!r->failed && !line_closes_block(&l))
        l = render_line(r, l);
    r->scope->num = mark;
    return l;
}

/* Takes over the names of one line "@takes NAME NAME ...". */
static void take_names(struct render *r, const struct line *l)
{
    r->line = l->number;
    struct span rest = l->rest;
    while (!r->failed && rest.p < rest.end) {
        const struct span name = span_take_word(&rest);
        const struct scope_entry *entry = scope_find(r->scope, name.p, span_len(name));
        if (!span_is_name(name))
            fail(r, "expected names after '@takes', found '%.*s'", span_shown(l->rest), l->rest.p);
        else if (!entry)
            fail(r, "it takes '%.*s', which is not set where it is included", span_shown(name),
                    name.p);
        else
            bind_again(r, entry);
        rest = span_trim(rest);
    }
}

/* Whether the names that an @include sets, entries [given, taken), are all taken. */
static void check_given(struct render *r, size_t given, size_t taken)
{
    struct scope *scope = r->scope;
    for (size_t i = given; i < taken && !r->failed; i++) {
        bool is_taken = false;
        for (size_t j = taken; j < scope->num; j++)
            is_taken = is_taken || !strcmp(scope->entries[i].name, scope->entries[j].name);
        if (!is_taken)
            fail(r, "it is given '%s', which it does not take", scope->entries[i].name);
    }
}

/* Entries from `given` on are those that the text is given. */
static void render_place(struct render *r, const struct place *place, size_t given)
{
    struct scope *scope = r->scope;
    const size_t floor = scope->floor, taken = scope->num;
    struct line l = place->first;
    r->file = place->file;
    r->line = l.number;
    for (; !r->failed && (l.kind == DIR_TAKES || l.kind == DIR_COMMENT); l = advance(r, &l))
        if (l.kind == DIR_TAKES)
            take_names(r, &l);
    check_given(r, given, taken);
    scope->floor = taken;
    char why[LINES_MESSAGE_BYTES];
    if (!r->failed && !lines_check(l, &r->line, why))
        fail(r, "%s", why);
    if (!r->failed)
        render_block(r, l);
    scope->floor = floor;
}

char *tmpl_render(const struct tmpl_file *files, size_t num_files, const char *name,
        struct scope *scope, struct tmpl_error *err)
{
    const struct tmpl_file unknown = { name, "" };
    struct render r = {
        .files = files,
        .num_files = num_files,
        .file = &unknown,
        .line = 1,
        .scope = scope,
        .err = err,
    };
    const size_t mark = scope->num, globals = scope->globals;
    scope->globals = mark;
    struct place place;
    put(&r, "", 0); /* an empty template gives an empty text, not NULL */
    if (find_text(&r, (struct span){ name, name + strlen(name) }, &place))
        render_place(&r, &place, mark);
    scope->num = mark;
    scope->globals = globals;
    if (r.failed) {
        free(r.out);
        return NULL;
    }
    return r.out;
}
