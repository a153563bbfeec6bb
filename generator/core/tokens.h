/* tokens.h: OpenCL C as tokens, some of which are taken out or become numbers. Pure.
 *
 * Links lead from one token of code to the next; comments and lines of the preprocessor are none,
 * and are never changed. What is written is what was read, but for what was changed.
 */
#ifndef KILN_CORE_TOKENS_H
#define KILN_CORE_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum token_kind {
    TOKEN_EDGE,                        /* the first and the last one, without text */
    TOKEN_NAME, TOKEN_NUMBER, TOKEN_STRING, TOKEN_MARK,
    TOKEN_COMMENT, TOKEN_DIRECTIVE     /* no code */
};

struct token {
    enum token_kind kind;
    const char *space, *text;          /* what stands before it; itself */
    uint32_t space_len, len;
    uint32_t prev, next;               /* tokens of code */
    uint32_t match;                    /* of a bracket: the other one */
    uint32_t open;                     /* the bracket that it stands in, 0: none */
    uint16_t more_lines;               /* line ends before the space */
    bool is_gone;
    char number[24];                   /* text that it was given */
};

struct tokens {
    struct token *of;                  /* 0 and num - 1 are the edges */
    uint32_t num;
    uint32_t macros;                   /* the first line that defines one; `next` leads on */
};

/* False: out of memory, or a text that is not understood: its brackets do not match, or it has a
 * line of the preprocessor within a statement, or a macro that does not keep its parameters in
 * parentheses of their own, quotes or joins them. */
bool tokens_read(const char *text, struct tokens *tokens);
/* A malloc'd text; NULL when out of memory. */
char *tokens_write(const struct tokens *tokens);
void tokens_free(struct tokens *tokens);

/* A hash of what a text says: its tokens but for comments, however they are laid out. */
uint64_t tokens_hash(const char *text);

/* Where a line of the preprocessor that begins at p ends, with those that go on from it. */
const char *tokens_directive_end(const char *p);
/* The same of a string, or what is left of it at p, with its quote. */
const char *tokens_string_end(const char *p, char quote);

/* Is it a word of the text [p, end)? */
bool tokens_has_word(const char *p, const char *end, const char *word, size_t len);

bool token_is(const struct tokens *tokens, uint32_t at, const char *text);
bool token_is_one_of(const struct tokens *tokens, uint32_t at, const char *const *list);
bool token_same(const struct tokens *tokens, uint32_t a, uint32_t b);

/* A name that begins a statement, or stands before an operand: return, if, sizeof and such. */
bool token_is_keyword(const struct tokens *tokens, uint32_t at);
/* A name that may be declared or called: no keyword. */
bool token_is_name(const struct tokens *tokens, uint32_t at);
/* const, __local and what else stands before a type. */
bool token_is_qualifier(const struct tokens *tokens, uint32_t at);

/* Is the name a macro of this text? */
bool token_is_macro(const struct tokens *tokens, uint32_t at);
/* Is it a word of a macro's line, so that what a macro stands for may use it? */
bool token_is_in_macro(const struct tokens *tokens, const char *word, size_t len);

/* Does an operand end here, behind which + and - take two? What may be a cast is none. */
bool token_ends_operand(const struct tokens *tokens, uint32_t at);

/* Types of integers, in the order in which one becomes the other. */
enum token_type {
    TYPE_UNKNOWN, TYPE_INT, TYPE_UINT, TYPE_LONG, TYPE_ULONG,
    TYPE_POINTER                       /* which stays one, whatever is added to it */
};

/* The type that a word says, as it is computed with. */
enum token_type token_type_word(const struct tokens *tokens, uint32_t at);
/* The type of a name where it is used, or of what a function returns. Unknown unless all
 * declarations say the same that may be meant, and of what is neither number nor pointer. */
enum token_type token_type_of(const struct tokens *tokens, uint32_t at);

/* Is it a decimal number without fraction? */
bool token_number(const struct tokens *tokens, uint32_t at, uint64_t *value, enum token_type *type);
/* Makes it such a number. */
void token_set_number(struct tokens *tokens, uint32_t at, uint64_t value, enum token_type type);

/* Takes tokens of code out. */
void token_remove(struct tokens *tokens, uint32_t at);
/* The same; what follows stands where it stood. */
void token_remove_before(struct tokens *tokens, uint32_t at);

#endif
