/* tokens.c: see tokens.h. */
#include "tokens.h"
#include "fnv.h"
#include "text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))
#define BLANKS " \t\n\r\v\f"

static bool is_name_char(char c)
{
    return isalnum((unsigned char) c) || c == '_';
}

static bool starts_with(const char *text, const char *prefix)
{
    return !strncmp(text, prefix, strlen(prefix));
}

/* ---- reading ---- */

const char *tokens_directive_end(const char *p)
{
    for (; *p && *p != '\n'; p++)
        if (*p == '\\' && p[1] == '\n')
            p++;
    return p;
}

const char *tokens_string_end(const char *p, char quote)
{
    for (; *p && *p != quote && *p != '\n'; p++)
        if (*p == '\\' && p[1])
            p++;
    return *p == quote ? p + 1 : p;
}

static const char *skip_number(const char *p)
{
    for (; is_name_char(*p) || *p == '.'; p++)
        if (strchr("eEpP", *p) && (p[1] == '+' || p[1] == '-'))
            p++;
    return p;
}

static const char *skip_mark(const char *p)
{
    static const char *const marks[] = { "<<=", ">>=", "...", "++", "--",
        "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>", "<=", ">=", "==", "!=", "&&",
        "||", "->" };
    for (size_t i = 0; strchr("=<>.+-&|", p[1]) && i < LENGTH(marks); i++)
        if (starts_with(p, marks[i]))
            return p + strlen(marks[i]);
    return p + 1;
}

/* The token at p, which is not a blank; returns where it ends. */
static const char *read_token(const char *p, bool begins_line, enum token_kind *kind)
{
    if (p[0] == '/' && p[1] == '/') {
        *kind = TOKEN_COMMENT;
        return p + strcspn(p, "\n");
    }
    if (p[0] == '/' && p[1] == '*') {
        const char *end = strstr(p + 2, "*/");
        *kind = TOKEN_COMMENT;
        return end ? end + 2 : p + strlen(p);
    }
    if (*p == '#' && begins_line) {
        *kind = TOKEN_DIRECTIVE;
        return tokens_directive_end(p);
    }
    if (*p == '"' || *p == '\'') {
        *kind = TOKEN_STRING;
        return tokens_string_end(p + 1, *p);
    }
    if (isdigit((unsigned char) *p) || (*p == '.' && isdigit((unsigned char) p[1]))) {
        *kind = TOKEN_NUMBER;
        return skip_number(p);
    }
    *kind = is_name_char(*p) ? TOKEN_NAME : TOKEN_MARK;
    if (*kind == TOKEN_MARK)
        return skip_mark(p);
    while (is_name_char(*p))
        p++;
    return p;
}

uint64_t tokens_hash(const char *text)
{
    uint64_t hash = KILN_HASH_BEGIN;
    bool begins_line = true, in_string = false;
    for (const char *p = text, *end; *p; p = end) {
        enum token_kind kind;
        if (strchr(BLANKS, *p)) {
            begins_line = begins_line || *p == '\n';
            end = p + 1;
            continue;
        }
        end = read_token(p, begins_line, &kind);
        begins_line = false;
        if (kind == TOKEN_COMMENT)
            continue;
        /* Each with a 0 behind it; of strings side by side, which are one, the last. */
        const bool is_string = kind == TOKEN_STRING && *p == '"';
        const size_t quote = is_string && in_string;
        if (in_string && !is_string)
            hash = kiln_hash(hash, "\"", 2);
        hash = kiln_hash(hash, p + quote, (size_t) (end - p) - quote - is_string);
        if (!is_string)
            hash = kiln_hash(hash, "", 1);
        in_string = is_string;
    }
    return in_string ? kiln_hash(hash, "\"", 2) : hash;
}

/* Splits the text; NULL only counts. */
static uint32_t split(const char *text, struct token *tokens)
{
    uint32_t num = 1;
    for (const char *p = text;; num++) {
        struct token token = { .space = p };
        bool begins_line = p == text;
        for (; *p && strchr(BLANKS, *p); p++)
            begins_line = begins_line || *p == '\n';
        token.space_len = (uint32_t) (p - token.space);
        token.text = p;
        if (*p)
            p = read_token(p, begins_line, &token.kind);
        token.len = (uint32_t) (p - token.text);
        if (tokens)
            tokens[num] = token;
        if (!token.len)
            return num + 1;
    }
}

static bool is_code(const struct token *token)
{
    return token->kind != TOKEN_COMMENT && token->kind != TOKEN_DIRECTIVE;
}

/* A line of the preprocessor, but for a pragma, may choose what follows. */
static bool is_choice(const struct token *token)
{
    return token->kind == TOKEN_DIRECTIVE && !starts_with(token->text, "#pragma");
}

static bool ends_statement(const struct token *token)
{
    return token->kind == TOKEN_EDGE || (token->kind == TOKEN_MARK && strchr(";{}", *token->text));
}

/* Links code, and brackets with their matches. */
static bool link(struct tokens *tokens)
{
    uint32_t last = 0, open = 0;
    for (uint32_t i = 1; i < tokens->num; i++) {
        struct token *token = &tokens->of[i];
        token->open = open;
        if (is_choice(token) && !ends_statement(&tokens->of[last]))
            return false;
        if (!is_code(token))
            continue;
        token->prev = last;
        tokens->of[last].next = i;
        last = i;
        if (token->kind != TOKEN_MARK || token->len != 1)
            continue;
        if (strchr("([{", *token->text)) {
            open = i;
        } else if (strchr(")]}", *token->text)) {
            const char wanted = *token->text == ')' ? '(' : *token->text == ']' ? '[' : '{';
            if (!open || *tokens->of[open].text != wanted)
                return false;
            token->match = open;
            token->open = tokens->of[open].open;
            tokens->of[open].match = i;
            open = token->open;
        }
    }
    return !open;
}

/* ---- macros ---- */

static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && strchr(" \t\\\n", *p))
        p++;
    return p;
}

/* The name that a line defines, which ends at `*end`; NULL: it defines none. */
static const char *defined_name(const struct token *line, const char **end)
{
    if (line->kind != TOKEN_DIRECTIVE)
        return NULL;
    const char *stop = line->text + line->len;
    const char *p = skip_blanks(line->text + 1, stop);
    if (stop - p < 6 || memcmp(p, "define", 6))
        return NULL;
    p = skip_blanks(p + 6, stop);
    for (*end = p; *end < stop && is_name_char(**end); ++*end)
        continue;
    return p;
}

bool tokens_has_word(const char *p, const char *end, const char *word, size_t len)
{
    for (const char *begin = p; len && (p = memchr(p, *word, (size_t) (end - p))); p++)
        if ((size_t) (end - p) >= len && !memcmp(p, word, len) &&
                (p == begin || !is_name_char(p[-1])) && (p + len == end || !is_name_char(p[len])))
            return true;
    return false;
}

/* Is the word [begin, end) of the macro's body, which begins at `body`, in its own parentheses? */
static bool is_enclosed(const char *body, const char *begin, const char *end, const char *stop)
{
    while (begin > body && strchr(" \t", begin[-1]))
        begin--;
    end = skip_blanks(end, stop);
    return begin > body && begin[-1] == '(' && end < stop && *end == ')';
}

/* Whatever a macro's arguments are, it makes the same of them if they have the same value. */
static bool keeps_arguments(const struct token *line)
{
    const char *stop = line->text + line->len, *params;
    if (!defined_name(line, &params))
        return true;
    if (memchr(params, '#', (size_t) (stop - params)))
        return false;
    if (params == stop || *params != '(')
        return true;
    const char *body = memchr(params, ')', (size_t) (stop - params));
    if (!body || memchr(params, '.', (size_t) (body - params)))
        return false;
    for (const char *p = body + 1; p < stop;) {
        const char *begin = p;
        while (p < stop && is_name_char(*p))
            p++;
        if (p > begin && tokens_has_word(params, body, begin, (size_t) (p - begin)) &&
                !is_enclosed(body + 1, begin, p, stop))
            return false;
        p += p == begin;
    }
    return true;
}

bool token_is_macro(const struct tokens *tokens, uint32_t at)
{
    const struct token *token = &tokens->of[at];
    for (uint32_t i = tokens->macros; i; i = tokens->of[i].next) {
        const char *end, *name = defined_name(&tokens->of[i], &end);
        if ((size_t) (end - name) == token->len && !memcmp(name, token->text, token->len))
            return true;
    }
    return false;
}

bool token_is_in_macro(const struct tokens *tokens, const char *word, size_t len)
{
    for (uint32_t i = tokens->macros; i; i = tokens->of[i].next) {
        const struct token *line = &tokens->of[i];
        if (tokens_has_word(line->text, line->text + line->len, word, len))
            return true;
    }
    return false;
}

/* Links the lines that define macros; false: one does not keep its arguments. */
static bool link_macros(struct tokens *tokens)
{
    for (uint32_t i = tokens->num; i-- > 0;) {
        struct token *line = &tokens->of[i];
        const char *end;
        if (!defined_name(line, &end))
            continue;
        if (!keeps_arguments(line))
            return false;
        line->next = tokens->macros;
        tokens->macros = i;
    }
    return true;
}

bool tokens_read(const char *text, struct tokens *tokens)
{
    tokens->num = split(text, NULL);
    tokens->of = calloc(tokens->num, sizeof *tokens->of);
    if (!tokens->of)
        return false;
    split(text, tokens->of);
    tokens->of[0].space = tokens->of[0].text = text;
    tokens->macros = 0;
    const bool ok = link(tokens) && link_macros(tokens);
    if (!ok)
        tokens_free(tokens);
    return ok;
}

void tokens_free(struct tokens *tokens)
{
    free(tokens->of);
    *tokens = (struct tokens){ 0 };
}

static bool ends_its_line(const struct token *token)
{
    return token->kind == TOKEN_DIRECTIVE ||
           (token->kind == TOKEN_COMMENT && starts_with(token->text, "//"));
}

/* What was between two tokens may be gone with its line end: it is written where one must be. */
char *tokens_write(const struct tokens *tokens)
{
    size_t size = 1;
    for (uint32_t i = 0; i < tokens->num; i++)
        size += (size_t) tokens->of[i].more_lines + tokens->of[i].space_len + tokens->of[i].len + 1;
    bool ends = false;
    char *text = malloc(size), *out = text;
    for (uint32_t i = 0; text && i < tokens->num; i++) {
        const struct token *token = &tokens->of[i];
        if (token->is_gone)
            continue;
        if (ends && !token->more_lines && token->kind != TOKEN_EDGE &&
                !memchr(token->space, '\n', token->space_len))
            *out++ = '\n';
        ends = ends_its_line(token);
        memset(out, '\n', token->more_lines);
        out += token->more_lines;
        memcpy(out, token->space, token->space_len);
        out += token->space_len;
        memcpy(out, *token->number ? token->number : token->text, token->len);
        out += token->len;
    }
    if (text)
        *out = '\0';
    return text;
}

/* ---- what a token is ---- */

bool token_is(const struct tokens *tokens, uint32_t at, const char *text)
{
    const struct token *token = &tokens->of[at];
    return token->kind != TOKEN_STRING && !*token->number && token->len && *token->text == *text &&
           token->len == strlen(text) && !memcmp(token->text, text, token->len);
}

bool token_is_one_of(const struct tokens *tokens, uint32_t at, const char *const *list)
{
    for (; *list; list++)
        if (token_is(tokens, at, *list))
            return true;
    return false;
}

bool token_same(const struct tokens *tokens, uint32_t a, uint32_t b)
{
    const struct token *x = &tokens->of[a], *y = &tokens->of[b];
    return x->kind == y->kind && x->len == y->len && !*x->number && !*y->number &&
           !memcmp(x->text, y->text, x->len);
}

bool token_is_keyword(const struct tokens *tokens, uint32_t at)
{
    static const char *const list[] = { "return", "if", "else", "for", "while", "do", "switch",
        "case", "default", "goto", "break", "continue", "sizeof", "asm", NULL };
    return token_is_one_of(tokens, at, list);
}

bool token_is_qualifier(const struct tokens *tokens, uint32_t at)
{
    static const char *const list[] = { "const", "volatile", "restrict", "static", "inline",
        "__global", "__local", "__constant", "__private", "__kernel", NULL };
    return token_is_one_of(tokens, at, list);
}

bool token_is_name(const struct tokens *tokens, uint32_t at)
{
    return tokens->of[at].kind == TOKEN_NAME && !*tokens->of[at].number &&
           !token_is_keyword(tokens, at) && !token_is_qualifier(tokens, at);
}

/* May the parentheses that end here be a cast's, or a statement's own? */
static bool is_no_operand(const struct tokens *tokens, uint32_t at)
{
    const uint32_t before = tokens->of[tokens->of[at].match].prev;
    if (token_is_name(tokens, before))
        return token_is_macro(tokens, before);
    if (token_is_keyword(tokens, before) && !token_is(tokens, before, "return"))
        return true;
    for (uint32_t i = tokens->of[at].prev; i != tokens->of[at].match; i = tokens->of[i].prev)
        if (tokens->of[i].kind != TOKEN_NAME && !token_is(tokens, i, "*"))
            return false;
    return true;
}

bool token_ends_operand(const struct tokens *tokens, uint32_t at)
{
    if (token_is(tokens, at, ")"))
        return !is_no_operand(tokens, at);
    return tokens->of[at].kind == TOKEN_NUMBER || token_is_name(tokens, at) ||
           token_is(tokens, at, "]");
}

/* ---- numbers ---- */

bool token_number(const struct tokens *tokens, uint32_t at, uint64_t *value, enum token_type *type)
{
    const struct token *token = &tokens->of[at];
    const char *p = *token->number ? token->number : token->text, *end = p + token->len;
    if (token->kind != TOKEN_NUMBER ||
            (*p == '0' && token->len > 1 && isalnum(p[1] & 127) && !strchr("uUlL", p[1])))
        return false;
    for (*value = 0; p < end && isdigit((unsigned char) *p); p++)
        if ((*value = *value * 10 + (unsigned) (*p - '0')) > INT32_MAX)
            return false;
    const size_t suffix = (size_t) (end - p);
    *type = !suffix                                 ? TYPE_INT
          : suffix == 1 && (*p == 'u' || *p == 'U') ? TYPE_UINT
          : suffix == 1 && (*p == 'l' || *p == 'L') ? TYPE_LONG
          : suffix == 2 && (*p == 'u' || *p == 'U') && (p[1] == 'l' || p[1] == 'L')
                  ? TYPE_ULONG
                  : TYPE_UNKNOWN;
    return *type != TYPE_UNKNOWN;
}

void token_set_number(struct tokens *tokens, uint32_t at, uint64_t value, enum token_type type)
{
    static const char *const suffixes[] = { "", "", "u", "L", "UL", "" };
    struct token *token = &tokens->of[at];
    token->kind = TOKEN_NUMBER;
    token->len = (uint32_t) snprintf(token->number, sizeof token->number, "%" PRIu64 "%s", value,
            suffixes[type]);
}

/* ---- types ---- */

enum token_type token_type_word(const struct tokens *tokens, uint32_t at)
{
    static const char *const small[] = { "int", "bool", "char", "uchar", "short", "ushort", NULL };
    return token_is_one_of(tokens, at, small) ? TYPE_INT
         : token_is(tokens, at, "uint")       ? TYPE_UINT
         : token_is(tokens, at, "long")       ? TYPE_LONG
         : token_is(tokens, at, "ulong")      ? TYPE_ULONG
                                              : TYPE_UNKNOWN;
}

/* Is it a type's name, float4 say? */
static bool is_type_name(const struct tokens *tokens, uint32_t at)
{
    static const char *const names[] = { "void", "bool", "char", "uchar", "short", "ushort", "int",
        "uint", "long", "ulong", "half", "float", "double" };
    const struct token *token = &tokens->of[at];
    size_t len = token->len;
    while (len && isdigit((unsigned char) token->text[len - 1]))
        len--;
    for (size_t i = 0; token->kind == TOKEN_NAME && i < LENGTH(names); i++)
        if (len == strlen(names[i]) && !memcmp(token->text, names[i], len))
            return true;
    return false;
}

/* What an appearance of a name says of its type. */
struct said {
    bool declares;
    enum token_type type;
};

/* The word that says the type of a list of declarators in which a name stands behind a comma;
 * 0: no such list. */
static uint32_t list_type(const struct tokens *tokens, uint32_t comma)
{
    const struct token *of = tokens->of;
    uint32_t i = of[comma].prev;
    for (; i; i = of[i].prev) {
        if (token_is(tokens, i, ";") || token_is(tokens, i, "{") || token_is(tokens, i, "(") ||
                token_is(tokens, i, "["))
            break;
        if (token_is(tokens, i, "}") && !token_is(tokens, of[i].next, ",") &&
                !token_is(tokens, of[i].next, ";"))
            break;
        if (of[i].match && of[i].match < i)
            i = of[i].match;
    }
    if (token_is(tokens, i, "[") ||
            (token_is(tokens, i, "(") && !token_is(tokens, of[i].prev, "for")))
        return 0;
    for (i = of[i].next; token_is_qualifier(tokens, i); i = of[i].next)
        continue;
    const uint32_t next = of[i].next;
    return token_is_name(tokens, i) && (token_is_name(tokens, next) || token_is(tokens, next, "*"))
                 ? i
                 : 0;
}

static struct said said_at(const struct tokens *tokens, uint32_t at)
{
    const struct token *of = tokens->of;
    uint32_t before = of[at].prev, type = 0;
    const bool is_array = token_is(tokens, of[at].next, "[");
    if (of[before].kind == TOKEN_NAME && !token_is_keyword(tokens, before)) {
        /* Of two words, unsigned int say, none is known. */
        const uint32_t one = of[before].prev;
        type = token_is_name(tokens, one) ? one : before;
        if (type == one)
            return (struct said){ .declares = true };
    } else if (token_is(tokens, before, "*")) {
        while (token_is(tokens, before, "*") || token_is_qualifier(tokens, before))
            before = of[before].prev;
        const uint32_t begin = of[before].prev;
        if (is_type_name(tokens, before))
            return (struct said){ true, is_array ? TYPE_UNKNOWN : TYPE_POINTER };
        return (struct said){
            .declares = token_is_name(tokens, before) &&
                        (token_is_name(tokens, begin) || token_is_qualifier(tokens, begin) ||
                                token_is(tokens, begin, ";") || token_is(tokens, begin, "{") ||
                                token_is(tokens, begin, "}"))
        };
    } else if (token_is(tokens, before, ",")) {
        type = list_type(tokens, before);
    }
    return (struct said){ type != 0, is_array ? TYPE_UNKNOWN : token_type_word(tokens, type) };
}

/* Adds what an appearance says; false: declarations differ. */
static bool hear(const struct tokens *tokens, uint32_t at, struct said *all)
{
    const struct said said = said_at(tokens, at);
    if (said.declares && all->declares && said.type != all->type)
        return false;
    if (said.declares)
        *all = said;
    return true;
}

enum token_type token_type_of(const struct tokens *tokens, uint32_t at)
{
    const struct token *of = tokens->of;
    const bool is_call = token_is(tokens, of[at].next, "(");
    struct said all = { 0 };
    if (!token_is_name(tokens, at) || token_is_macro(tokens, at))
        return TYPE_UNKNOWN;
    for (uint32_t i = of[at].prev; i; i = of[i].prev) {
        if (token_is(tokens, i, "}")) {
            i = of[i].match; /* what a block declares is its own */
            continue;
        }
        if (token_is(tokens, i, ")") && !of[i].open) {
            /* Parameters are of the function that the name stands in. */
            if (!token_is(tokens, of[i].next, "{") || of[of[i].next].match < at)
                i = of[i].match;
            continue;
        }
        if (token_same(tokens, i, at) && token_is(tokens, of[i].next, "(") == is_call &&
                !hear(tokens, i, &all))
            return TYPE_UNKNOWN;
        /* Behind the name of the function that the name stands in. */
        if (!of[i].open && of[i].kind == TOKEN_NAME && all.declares && !is_call)
            break;
    }
    return all.declares ? all.type : TYPE_UNKNOWN;
}

/* ---- changing ---- */

void token_remove(struct tokens *tokens, uint32_t at)
{
    struct token *token = &tokens->of[at];
    tokens->of[token->prev].next = token->next;
    tokens->of[token->next].prev = token->prev;
    token->is_gone = true;
}

void token_remove_before(struct tokens *tokens, uint32_t at)
{
    struct token *token = &tokens->of[at], *next = &tokens->of[token->next];
    next->space = token->space;
    next->space_len = token->space_len;
    next->more_lines = token->more_lines;
    token_remove(tokens, at);
}
