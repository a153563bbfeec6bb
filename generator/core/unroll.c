/* unroll.c: see unroll.h. */
#include "unroll.h"

#include <string.h>

struct loop {
    uint32_t begin, head;              /* `for`; the `)` of its head */
    uint32_t variable;
    uint32_t body, end;                /* the first and the last token of its body */
    uint64_t value, turns;
    enum token_type type;
    bool in_block;                     /* it is a statement of a block */
};

/* ---- what a loop is ---- */

/* The last token of the statement that begins at `at`; 0: it is not understood. */
static uint32_t statement_end(const struct tokens *tokens, uint32_t at)
{
    static const char *const heads[] = { "for", "while", "switch", "if", NULL };
    const struct token *of = tokens->of;
    if (token_is(tokens, at, "{"))
        return of[at].match;
    if (token_is_one_of(tokens, at, heads)) {
        const uint32_t open = of[at].next;
        uint32_t end = token_is(tokens, open, "(") ? statement_end(tokens, of[of[open].match].next)
                                                   : 0;
        if (end && token_is(tokens, at, "if") && token_is(tokens, of[end].next, "else"))
            end = statement_end(tokens, of[of[end].next].next);
        return end;
    }
    if (token_is(tokens, at, "do")) {
        at = statement_end(tokens, of[at].next);
        if (!at)
            return 0;
        at = of[at].next;
    }
    for (; at && !token_is(tokens, at, ";"); at = of[at].next) {
        /* Behind a macro, a label or an attribute: a block. */
        const bool is_block = token_is(tokens, at, "{") &&
                              (token_is(tokens, of[at].prev, ")") ||
                                      token_is(tokens, of[at].prev, ":"));
        if (is_block || (of[at].match && of[at].match < at))
            return 0;
        if (of[at].match)
            at = of[at].match;
    }
    return at;
}

static bool is_number_of(const struct tokens *tokens, uint32_t at, enum token_type type,
        uint64_t *value)
{
    enum token_type its;
    return token_number(tokens, at, value, &its) && its <= type;
}

/* Reads a loop's head; false: it is of another form. */
static bool read_head(const struct tokens *tokens, struct loop *loop)
{
    const struct token *of = tokens->of;
    uint32_t t[15];
    uint64_t last, step = 1;
    t[0] = loop->begin;
    for (int i = 1; i < 15; i++)
        t[i] = of[t[i - 1]].next;
    if (!token_is(tokens, t[0], "for") || !token_is(tokens, t[1], "("))
        return false;
    loop->type = token_is(tokens, t[2], "int") ? TYPE_INT : token_type_word(tokens, t[2]);
    loop->variable = t[3];
    loop->head = of[t[1]].match;
    if (!loop->type || (loop->type == TYPE_INT && !token_is(tokens, t[2], "int")) ||
            !token_is_name(tokens, t[3]) || !token_is(tokens, t[4], "=") ||
            !is_number_of(tokens, t[5], loop->type, &loop->value) || !token_is(tokens, t[6], ";") ||
            !token_same(tokens, t[7], t[3]) || !token_is(tokens, t[8], "<") ||
            !is_number_of(tokens, t[9], loop->type, &last) || !token_is(tokens, t[10], ";") ||
            !token_same(tokens, t[11], t[3]))
        return false;
    const bool is_one = token_is(tokens, t[12], "++") && loop->head == t[13];
    const bool is_more = token_is(tokens, t[12], "+=") && loop->head == t[14] &&
                         is_number_of(tokens, t[13], loop->type, &step);
    if ((!is_one && !is_more) || !step)
        return false;
    loop->turns = loop->value < last ? (last - loop->value + step - 1) / step : 0;
    return true;
}

/* Has the text from..to, other than code, what is no remark or pragma, or a word? */
static bool has_directive(const struct tokens *tokens, uint32_t from, uint32_t to,
        const struct token *word)
{
    for (uint32_t i = from; i <= to; i++) {
        const struct token *line = &tokens->of[i];
        if (line->kind != TOKEN_DIRECTIVE)
            continue;
        if (line->len < 7 || memcmp(line->text, "#pragma", 7))
            return true;
        if (tokens_has_word(line->text, line->text + line->len, word->text, word->len))
            return true;
    }
    return false;
}

static bool is_jump(const struct tokens *tokens, uint32_t at)
{
    return token_is(tokens, at, "break") || token_is(tokens, at, "continue");
}

/* Does the loop's body have a jump of this loop? */
static bool jumps(const struct tokens *tokens, const struct loop *loop)
{
    static const char *const loops[] = { "for", "while", "do", NULL };
    const struct token *of = tokens->of;
    uint32_t inner = 0, choice = 0; /* where a loop, or a switch, within it ends */
    for (uint32_t i = loop->body;; i = of[i].next) {
        if (i > inner && token_is_one_of(tokens, i, loops)) {
            inner = statement_end(tokens, i);
            if (!inner)
                return true;
        }
        if (i > choice && token_is(tokens, i, "switch"))
            choice = statement_end(tokens, i);
        if (token_is(tokens, i, "goto") || (is_jump(tokens, i) && i > inner &&
                                                   (i > choice || token_is(tokens, i, "continue"))))
            return true;
        if (i == loop->end)
            return false;
    }
}

static bool is_member(const struct tokens *tokens, uint32_t at)
{
    const uint32_t before = tokens->of[at].prev;
    return token_is(tokens, before, ".") || token_is(tokens, before, "->");
}

static bool begins_statement(const struct tokens *tokens, uint32_t at)
{
    static const char *const list[] = { ";", "{", "}", NULL };
    return token_is_one_of(tokens, tokens->of[at].prev, list);
}

/* Is the name at `at` read there, and nothing else? */
static bool is_read(const struct tokens *tokens, uint32_t at)
{
    static const char *const changes[] = { "=",
        "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--", "(", NULL };
    static const char *const steps[] = { "++", "--", NULL };
    const struct token *of = tokens->of;
    const uint32_t before = of[at].prev, begin = of[before].prev;
    if (token_is_one_of(tokens, of[at].next, changes) || token_is_one_of(tokens, before, steps))
        return false;
    if (token_is(tokens, before, "&"))
        return token_ends_operand(tokens, begin);
    if (token_is(tokens, before, "*")) /* a declaration? */
        return !token_is_qualifier(tokens, begin) && !token_is(tokens, begin, "*") &&
               !(token_is_name(tokens, begin) && begins_statement(tokens, begin)) &&
               !(token_is_name(tokens, begin) && token_is_name(tokens, of[begin].prev)) &&
               !(token_is_name(tokens, begin) && token_is_qualifier(tokens, of[begin].prev));
    if (token_is(tokens, before, ","))
        return of[at].open && !token_is(tokens, of[at].open, "{");
    /* An argument of asm, and of a macro, may be written. */
    if (begins_statement(tokens, at) || of[begin].kind == TOKEN_STRING)
        return false;
    for (uint32_t open = of[at].open; open; open = of[open].open)
        if (token_is_macro(tokens, of[open].prev))
            return false;
    return of[before].kind != TOKEN_NAME || token_is(tokens, before, "return");
}

static bool is_only_read(const struct tokens *tokens, const struct loop *loop)
{
    for (uint32_t i = loop->body;; i = tokens->of[i].next) {
        if (token_same(tokens, i, loop->variable) && !is_member(tokens, i) && !is_read(tokens, i))
            return false;
        if (i == loop->end)
            return true;
    }
}

static bool is_in_macro(const struct tokens *tokens, const struct token *name)
{
    return token_is_in_macro(tokens, name->text, name->len) ||
           token_is_in_macro(tokens, "break", 5) || token_is_in_macro(tokens, "continue", 8) ||
           token_is_in_macro(tokens, "goto", 4);
}

/* Does an attribute, or _Pragma, stand before `at`? It would be left to what follows. */
static bool has_attribute(const struct tokens *tokens, uint32_t at)
{
    const uint32_t before = tokens->of[at].prev;
    return token_is(tokens, before, ")") &&
           token_is_name(tokens, tokens->of[tokens->of[before].match].prev);
}

/* Does a loop that can go begin at `at`? */
static bool read_loop(const struct tokens *tokens, uint32_t at, struct loop *loop)
{
    const struct token *of = tokens->of;
    *loop = (struct loop){ .begin = at };
    if (!read_head(tokens, loop) || loop->turns > 1 || has_attribute(tokens, at))
        return false;
    loop->body = of[loop->head].next;
    loop->end = statement_end(tokens, loop->body);
    loop->in_block = begins_statement(tokens, at) || !of[at].prev;
    const struct token *name = &of[loop->variable];
    if (!loop->end || has_directive(tokens, at, loop->end, name) || is_in_macro(tokens, name))
        return false;
    if (!loop->turns && !loop->in_block && !token_is(tokens, loop->body, "{") &&
            !token_is(tokens, loop->end, ";"))
        return false;
    for (uint32_t i = at; i < loop->head; i++)
        if (of[i].kind == TOKEN_COMMENT || of[i].kind == TOKEN_DIRECTIVE)
            return false;
    return !loop->turns || (!jumps(tokens, loop) && is_only_read(tokens, loop));
}

/* ---- names that its block knows ---- */

/* Is the name of a token there somewhere in from..to, but not in the loop? */
static bool is_known(const struct tokens *tokens, uint32_t from, uint32_t to,
        const struct loop *loop, uint32_t name)
{
    const struct token *word = &tokens->of[name];
    for (uint32_t i = from; i <= to; i++)
        if ((i < loop->begin || i > loop->end) && token_same(tokens, i, name) &&
                !tokens->of[i].is_gone && !is_member(tokens, i))
            return true;
    return token_is_in_macro(tokens, word->text, word->len);
}

/* Does a declaration of the body, one of its own statements, begin at `at`? Then *at becomes its
 * first declarator. */
static bool is_declaration(const struct tokens *tokens, uint32_t *at)
{
    const struct token *of = tokens->of;
    uint32_t i = *at;
    while (token_is_qualifier(tokens, i))
        i = of[i].next;
    if (!token_is_name(tokens, i))
        return false;
    for (i = of[i].next; token_is(tokens, i, "*") || token_is_qualifier(tokens, i); i = of[i].next)
        continue;
    if (!token_is_name(tokens, i))
        return false;
    while (token_is_name(tokens, of[i].next)) /* a type of several words */
        i = of[i].next;
    *at = i;
    return true;
}

/* Does a declaration's list, which begins at `at` and ends with a `;`, have a name that the block
 * knows? */
static bool list_clashes(const struct tokens *tokens, const struct loop *loop, uint32_t from,
        uint32_t to, uint32_t at)
{
    const struct token *of = tokens->of;
    for (bool is_name = true; at && !token_is(tokens, at, ";"); at = of[at].next) {
        if (is_name && token_is_name(tokens, at)) {
            if (is_known(tokens, from, to, loop, at))
                return true;
            is_name = false;
        }
        if (of[at].match > at)
            at = of[at].match;
        else if (token_is(tokens, at, ","))
            is_name = true;
    }
    return false;
}

/* May the statement be a declaration such as `T (*z)[n]`? */
static bool is_wrapped(const struct tokens *tokens, uint32_t at)
{
    const struct token *of = tokens->of;
    while (token_is_name(tokens, at) || token_is_qualifier(tokens, at))
        at = of[at].next;
    return token_is(tokens, at, "(") && token_is(tokens, of[at].next, "*");
}

/* Must the braces of the body stay? */
static bool keeps_braces(const struct tokens *tokens, const struct loop *loop)
{
    static const char *const other[] = { "struct", "union", "enum", "typedef", "static", "case",
        "default", NULL };
    const struct token *of = tokens->of;
    if (!loop->in_block)
        return true;
    uint32_t from = of[loop->begin].open;
    while (of[from].is_gone)
        from = of[from].open;
    const uint32_t to = from ? of[from].match : tokens->num - 1;
    if (token_is(tokens, of[from].prev, ")"))
        from = of[of[from].prev].match;
    for (uint32_t i = of[loop->body].next, end; i != loop->end; i = of[end].next) {
        end = statement_end(tokens, i);
        uint32_t list = i;
        if (!end || token_is_one_of(tokens, i, other) || is_wrapped(tokens, i) ||
                (is_declaration(tokens, &list) && list_clashes(tokens, loop, from, to, list)))
            return true;
    }
    return false;
}

/* ---- blocks that are a statement of a block ---- */

/* Does a `{` open a block, and no list? */
static bool opens_block(const struct tokens *tokens, uint32_t at)
{
    static const char *const heads[] = { "else", "do", NULL };
    const struct token *of = tokens->of;
    while (at && begins_statement(tokens, at))
        at = of[at].open;
    const uint32_t before = of[at].prev;
    if (token_is(tokens, before, ")")) {
        const uint32_t name = of[of[before].match].prev;
        return of[name].kind == TOKEN_NAME && !token_is(tokens, name, "return");
    }
    return token_is_one_of(tokens, before, heads);
}

/* Does a block that can lose its braces begin at `at`? It is read as a loop of one turn. */
static bool read_block(const struct tokens *tokens, uint32_t at, struct loop *loop)
{
    const struct token *of = tokens->of;
    *loop = (struct loop){ .begin = at,
        .head = at - 1,
        .body = at,
        .end = of[at].match,
        .turns = 1,
        .in_block = true };
    return begins_statement(tokens, at) && opens_block(tokens, at) && of[at].next != loop->end &&
           !has_directive(tokens, at, loop->end, &of[at]) && !keeps_braces(tokens, loop);
}

/* ---- taking it out ---- */

static uint32_t count_lines(const struct token *token)
{
    uint32_t num = token->more_lines;
    for (uint32_t i = 0; i < token->space_len; i++)
        num += token->space[i] == '\n';
    return num;
}

/* How far a token is indented; -1: it does not begin a line. */
static int indent_of(const struct token *token)
{
    uint32_t len = 0;
    while (len < token->space_len && token->space[token->space_len - 1 - len] == ' ')
        len++;
    return len < token->space_len && token->space[token->space_len - 1 - len] == '\n'
                 ? (int) len
                 : -1;
}

/* Takes `#pragma unroll` above the loop away; the loop then stands where it stood. */
static void drop_pragma(struct tokens *tokens, uint32_t at)
{
    struct token *of = tokens->of;
    uint32_t i = at - 1;
    while (of[i].kind == TOKEN_COMMENT || of[i].is_gone)
        i--;
    struct token *line = &of[i];
    if (line->kind != TOKEN_DIRECTIVE || line->len < 14 || memcmp(line->text, "#pragma unroll", 14))
        return;
    line->is_gone = true;
    const uint32_t lines = count_lines(line), have = count_lines(&of[i + 1]);
    if (lines > have)
        of[i + 1].more_lines = (uint16_t) (lines - have);
}

/* Moves what begins lines in from..to to the left. */
static void move_left(struct tokens *tokens, uint32_t from, uint32_t to, int by)
{
    for (uint32_t i = from; i <= to; i++) {
        struct token *token = &tokens->of[i];
        const int indent = indent_of(token);
        if (indent > 0)
            token->space_len -= (uint32_t) (indent < by ? indent : by);
    }
}

/* Puts the first thing of the body where the loop began; a pragma keeps a line of its own. */
static void take_place(struct tokens *tokens, const struct token *loop, uint32_t at)
{
    struct token *first = &tokens->of[at];
    if (first->kind == TOKEN_DIRECTIVE) {
        const uint32_t lines = count_lines(loop), have = count_lines(first);
        first->more_lines = (uint16_t) (lines > have ? lines - have : 0);
        return;
    }
    first->space = loop->space;
    first->space_len = loop->space_len;
    first->more_lines = loop->more_lines;
}

static void remove_range(struct tokens *tokens, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i <= to; i++)
        if (tokens->of[i].kind == TOKEN_COMMENT || tokens->of[i].kind == TOKEN_DIRECTIVE)
            tokens->of[i].is_gone = true;
        else if (!tokens->of[i].is_gone)
            token_remove(tokens, i);
}

/* A loop without a turn; where it was the body of something, an empty one stays. */
static void drop_statement(struct tokens *tokens, const struct loop *loop)
{
    if (loop->in_block) {
        remove_range(tokens, loop->begin, loop->end);
    } else if (token_is(tokens, loop->body, "{")) {
        remove_range(tokens, loop->begin, loop->head);
        remove_range(tokens, loop->body + 1, loop->end - 1);
    } else {
        remove_range(tokens, loop->begin, loop->end - 1);
    }
}

static void take_out(struct tokens *tokens, const struct loop *loop)
{
    struct token *of = tokens->of;
    if (!loop->turns) {
        drop_statement(tokens, loop);
        return;
    }
    for (uint32_t i = loop->body; loop->variable && i <= loop->end; i++)
        if (!of[i].is_gone && token_same(tokens, i, loop->variable) && !is_member(tokens, i))
            token_set_number(tokens, i, loop->value, loop->type);
    const struct token place = of[loop->begin];
    const bool is_block = token_is(tokens, loop->body, "{"), keeps = keeps_braces(tokens, loop);
    const uint32_t within = is_block ? of[loop->body].next : loop->body;
    const int by = indent_of(&of[within]) - indent_of(&place);
    remove_range(tokens, loop->begin, loop->head);
    if (is_block && keeps) {
        take_place(tokens, &place, loop->body);
        return;
    }
    if (by > 0 && indent_of(&place) >= 0)
        move_left(tokens, loop->head + 1, loop->end, by);
    uint32_t first = loop->head + 1;
    if (is_block) {
        token_remove(tokens, loop->body);
        token_remove(tokens, loop->end);
    }
    while (first < loop->end && of[first].is_gone)
        first++;
    if (!of[first].is_gone)
        take_place(tokens, &place, first);
}

bool drop_loops(struct tokens *tokens)
{
    bool any = false;
    for (uint32_t i = tokens->of[0].next, next; i; i = next) {
        const uint32_t before = tokens->of[i].prev;
        struct loop loop;
        next = tokens->of[i].next;
        if (token_is(tokens, i, "for") ? !read_loop(tokens, i, &loop)
                                       : !token_is(tokens, i, "{") || !read_block(tokens, i, &loop))
            continue;
        if (loop.variable)
            drop_pragma(tokens, i);
        take_out(tokens, &loop);
        next = tokens->of[before].next; /* what stands there now */
        any = true;
    }
    return any;
}
