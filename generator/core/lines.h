/* lines.h: a template line by line: what each says, and whether its blocks are whole. Pure.
 *
 * Nothing is copied: a span is a part of the template's text.
 */
#ifndef KILN_CORE_LINES_H
#define KILN_CORE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum {
    LINES_LEVEL = 4,                   /* blanks by which what a block encloses is indented */
    LINES_SHOWN_BYTES = 48,            /* of a span in a message */
    LINES_MESSAGE_BYTES = 160,
};

enum directive {
    DIR_TEXT, DIR_EOF, DIR_IF, DIR_ELIF, DIR_ELSE, DIR_END, DIR_FOR, DIR_LET, DIR_INCLUDE,
    DIR_TAKES, DIR_WRAP, DIR_BODY, DIR_COMMENT,
    DIR_FRAGMENT,                      /* ends the text above it, as DIR_EOF does */
    DIR_UNKNOWN,
};

/* A part of a template: not terminated, never owned. */
struct span {
    const char *p, *end;
};

static inline size_t span_len(struct span s)
{
    return (size_t) (s.end - s.p);
}

static inline bool span_is(struct span s, const char *word)
{
    return span_len(s) == strlen(word) && memcmp(s.p, word, span_len(s)) == 0;
}

static inline bool span_same(struct span s, struct span t)
{
    return span_len(s) == span_len(t) && memcmp(s.p, t.p, span_len(s)) == 0;
}

static inline bool span_begins(struct span s, const char *prefix)
{
    return span_len(s) >= strlen(prefix) && memcmp(s.p, prefix, strlen(prefix)) == 0;
}

/* The length for a %.*s in a message. */
static inline int span_shown(struct span s)
{
    return span_len(s) < LINES_SHOWN_BYTES ? (int) span_len(s) : LINES_SHOWN_BYTES;
}

/* A name begins with a letter or an underscore; what is no name may be digits. */
static inline bool span_is_name(struct span s)
{
    return s.p < s.end && !(*s.p >= '0' && *s.p <= '9');
}

/* Without the blanks at both ends. */
struct span span_trim(struct span s);
/* Takes the name, or the digits, at the start of *s; empty where there is none. */
struct span span_take_word(struct span *s);

struct line {
    struct span all;                   /* without its newline */
    const char *next;
    int number;                        /* from 1 */
    size_t indent;                     /* blanks before it */
    enum directive kind;
    struct span word, rest;            /* of a directive: "for" and "i in 0..4" */
    struct span only;                  /* what "@if EXPR: TEXT" and "@for NAME in A..B: TEXT" have
                                          behind the colon; p is NULL where a block follows */
};

/* The line that begins at p. */
struct line line_read(const char *p, int number);
/* What stands behind the colon as a line of its own, indented as the directive is. */
struct line line_only(const struct line *line);
/* The line below "@fragment NAME" in a file's text; of kind DIR_EOF, and number 0, where there is
 * none. */
struct line line_find_fragment(const char *text, struct span name);
/* Whether the text ends here. */
bool line_ends_text(const struct line *line);
/* @if, @for, @wrap; and @elif, @else, @end, the text's end. */
bool line_opens_block(const struct line *line);
bool line_closes_block(const struct line *line);

/* Whether every directive from `first` to the text's end is known, every block closed and
 * everything indented as tmpl.h says. False with the number of the line that is wrong, and why. */
bool lines_check(struct line first, int *number, char why[LINES_MESSAGE_BYTES]);

#endif
