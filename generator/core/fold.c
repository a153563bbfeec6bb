/* fold.c: see fold.h. A sum is operands between + and -, a product one between *, / and %. */
#include "fold.h"

#include <string.h>

static bool is_times(const struct tokens *tokens, uint32_t at)
{
    static const char *const list[] = { "*", "/", "%", NULL };
    return token_is_one_of(tokens, at, list);
}

static bool is_plus(const struct tokens *tokens, uint32_t at)
{
    return token_is(tokens, at, "+") || token_is(tokens, at, "-");
}

/* Is the operator at `at` one of two operands? */
static bool is_binary(const struct tokens *tokens, uint32_t at)
{
    return token_ends_operand(tokens, tokens->of[at].prev);
}

/* Does a sum begin behind `before`? */
static bool begins_sum(const struct tokens *tokens, uint32_t before)
{
    static const char *const list[] = { "(", "[", "{", ",", ";", "=",
        "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "?", ":", "&&", "||",
        "==", "!=", "<", ">", "<=", ">=", "<<", ">>", "^", "|", "return", NULL };
    return token_is_one_of(tokens, before, list) ||
           (token_is(tokens, before, "&") && is_binary(tokens, before));
}

static bool begins_product(const struct tokens *tokens, uint32_t before)
{
    return begins_sum(tokens, before) || (is_plus(tokens, before) && is_binary(tokens, before));
}

/* Is what stands behind an operand part of it? */
static bool is_postfix(const struct tokens *tokens, uint32_t at)
{
    static const char *const list[] = { "(", "[", "{", ".", "->", "++", "--", NULL };
    return token_is_one_of(tokens, at, list) || token_is_name(tokens, at) ||
           tokens->of[at].kind == TOKEN_STRING;
}

/* A number, or a name by itself, and of a type that is known; neither signs nor casts before it. */
static enum token_type plain_type(const struct tokens *tokens, uint32_t at)
{
    uint64_t value;
    enum token_type type;
    if (is_postfix(tokens, tokens->of[at].next))
        return TYPE_UNKNOWN;
    if (token_number(tokens, at, &value, &type))
        return type;
    const enum token_type of_name = token_type_of(tokens, at);
    return of_name == TYPE_POINTER ? TYPE_UNKNOWN : of_name;
}

/* The type of the operand that ends at *at, or unknown, and its first token, without signs. */
static enum token_type operand_type(const struct tokens *tokens, uint32_t *at)
{
    const struct token *of = tokens->of;
    uint64_t value;
    enum token_type type = TYPE_UNKNOWN;
    uint32_t begin = *at;
    if (token_is(tokens, begin, ")") && token_is_name(tokens, of[of[begin].match].prev)) {
        begin = of[of[begin].match].prev;
        type = token_type_of(tokens, begin);
    } else if (token_number(tokens, begin, &value, &type)) {
        begin = *at;
    } else if (token_is_name(tokens, begin)) {
        type = token_type_of(tokens, begin);
    } else {
        while (token_is(tokens, begin, "]") || token_is(tokens, begin, ")")) {
            begin = of[begin].match;
            if (!token_is(tokens, of[begin].prev, "]") && !token_is(tokens, of[begin].prev, ")") &&
                    !token_is_name(tokens, of[begin].prev))
                break;
            begin = of[begin].prev;
        }
    }
    /* Parts of structures and vectors. */
    while (token_is(tokens, of[begin].prev, ".") || token_is(tokens, of[begin].prev, "->")) {
        type = TYPE_UNKNOWN;
        begin = of[of[begin].prev].prev;
        while (token_is(tokens, begin, "]") || token_is(tokens, begin, ")"))
            begin = of[of[begin].match].prev;
    }
    *at = begin;
    return type;
}

/* The type of what ends at `at`, a product or a sum, or one that becomes it, and what stands before
 * it; unknown if no operand's is known. */
static enum token_type least_type(const struct tokens *tokens, uint32_t at, bool sum,
        uint32_t *before)
{
    const struct token *of = tokens->of;
    enum token_type least = TYPE_UNKNOWN;
    for (;;) {
        uint32_t begin = at;
        enum token_type type = operand_type(tokens, &begin);
        *before = of[begin].prev;
        if (token_is(tokens, *before, ")") && of[of[*before].prev].prev == of[*before].match &&
                token_type_word(tokens, of[*before].prev)) {
            type = token_type_word(tokens, of[*before].prev);
            *before = of[of[*before].match].prev;
        }
        const bool goes_on = (is_times(tokens, *before) || (sum && is_plus(tokens, *before))) &&
                             is_binary(tokens, *before);
        if (!goes_on && !(sum ? begins_sum : begins_product)(tokens, *before))
            return least;
        least = type > least ? type : least;
        if (!goes_on)
            return least;
        at = of[*before].prev;
    }
}

/* The type of the product that begins at `at`, or one that becomes it. */
static enum token_type first_type(const struct tokens *tokens, uint32_t at)
{
    const struct token *of = tokens->of;
    if (token_is(tokens, at, "(") && of[of[at].next].next == of[at].match)
        return token_type_word(tokens, of[at].next);
    if (token_is_name(tokens, at) && token_is(tokens, of[at].next, "(") &&
            !is_postfix(tokens, of[of[of[at].next].match].next))
        return token_type_of(tokens, at);
    if (is_postfix(tokens, of[at].next))
        return TYPE_UNKNOWN;
    uint64_t value;
    enum token_type type;
    return token_number(tokens, at, &value, &type) ? type : token_type_of(tokens, at);
}

/* Takes away the parentheses around a token that stands alone, unless they are those of a call, a
 * cast or a statement. */
static void drop_parentheses(struct tokens *tokens, uint32_t at)
{
    static const char *const list[] = { "+", "-", "*", "/", "%", "&", "|", "^", "<", ">", "<<",
        ">>", "<=", ">=", "==", "!=", "&&", "||", "=", "+=", "-=", ",", "(", "[", "?", ":", NULL };
    const struct token *of = tokens->of;
    while (token_is(tokens, of[at].prev, "(") && token_is(tokens, of[at].next, ")")) {
        const uint32_t before = of[of[at].prev].prev;
        if ((before && !token_is_one_of(tokens, before, list)) || token_is_macro(tokens, at))
            return;
        token_remove(tokens, of[at].next);
        token_remove_before(tokens, of[at].prev);
    }
}

/* Removes from..to. */
static void remove_all(struct tokens *tokens, uint32_t from, uint32_t to)
{
    for (uint32_t i = from, next; i != to; i = next) {
        next = tokens->of[i].next;
        token_remove(tokens, i);
    }
    token_remove(tokens, to);
}

/* What an operator makes of two numbers; false: no number that fits. */
static bool compute(char operator, uint64_t a, uint64_t b, uint64_t *out)
{
    if (((operator== '/' || operator== '%') && !b) || (operator== '-' && a<b))
        return false;
    *out = operator== '+' ? a + b :
         operator== '-'   ? a - b
         :
         operator== '*' ? a * b
         :
         operator== '/' ? a / b
                        : a % b;
    return *out <= INT32_MAX;
}

/* A number at `at`, an operator and a number: the first becomes the result. */
static bool fold_numbers(struct tokens *tokens, uint32_t at)
{
    const struct token *of = tokens->of;
    const uint32_t operator = of[at].next, other = of[operator].next;
    uint64_t a, b, result;
    enum token_type x, y;
    if (!token_number(tokens, at, &a, &x) || !token_number(tokens, other, &b, &y))
        return false;
    const bool is_product = is_times(tokens, operator) && begins_product(tokens, of[at].prev);
    const bool is_sum = is_plus(tokens, operator) && begins_sum(tokens, of[at].prev) &&
                        !is_times(tokens, of[other].next);
    if ((!is_product && !is_sum) || !compute(*of[operator].text, a, b, &result))
        return false;
    remove_all(tokens, operator, other);
    token_set_number(tokens, at, result, x > y ? x : y);
    drop_parentheses(tokens, at);
    return true;
}

/* Is all of the sum that ends at `at` of integers that are known? */
static bool is_plain_sum(const struct tokens *tokens, uint32_t at)
{
    const struct token *of = tokens->of;
    while (plain_type(tokens, at)) {
        const uint32_t before = of[at].prev;
        if (begins_sum(tokens, before))
            return true;
        if (!is_times(tokens, before) && !is_plus(tokens, before))
            return false;
        at = of[before].prev;
    }
    return false;
}

/* `x + 1 + 2`, at the first number. */
static bool fold_behind(struct tokens *tokens, uint32_t at)
{
    const struct token *of = tokens->of;
    const uint32_t operator = of[at].next, other = of[operator].next;
    uint64_t a, b;
    enum token_type x, y;
    if (!token_is(tokens, of[at].prev, "+") || !token_is(tokens, operator, "+") ||
            !token_number(tokens, at, &a, &x) || !token_number(tokens, other, &b, &y) ||
            x > TYPE_INT || y > TYPE_INT || a + b > INT32_MAX || is_times(tokens, of[other].next) ||
            !is_plain_sum(tokens, of[of[at].prev].prev))
        return false;
    remove_all(tokens, operator, other);
    token_set_number(tokens, at, a + b, TYPE_INT);
    return true;
}

/* `0 + x`, `1 * x`, by the number. */
static bool fold_first(struct tokens *tokens, uint32_t at)
{
    const struct token *of = tokens->of;
    const uint32_t operator = of[at].next, operand = of[operator].next;
    uint64_t value;
    enum token_type type;
    if (!token_number(tokens, at, &value, &type))
        return false;
    const bool adds = !value && token_is(tokens, operator, "+") && begins_sum(tokens, of[at].prev);
    const bool scales = value == 1 && token_is(tokens, operator, "*") &&
                        begins_product(tokens, of[at].prev);
    if ((!adds && !scales) || (type > TYPE_INT && first_type(tokens, operand) < type))
        return false;
    if (is_plus(tokens, operand)) /* a sign, which would join with one before it */
        return false;
    token_remove_before(tokens, at);
    token_remove_before(tokens, operator);
    drop_parentheses(tokens, operand);
    return true;
}

/* `0 * x` becomes 0. */
static bool fold_nothing(struct tokens *tokens, uint32_t at)
{
    const struct token *of = tokens->of;
    const uint32_t operator = of[at].next, other = of[operator].next;
    uint64_t a = 1, b = 1;
    enum token_type ignored;
    const bool is_zero = (token_number(tokens, at, &a, &ignored) && !a) ||
                         (token_number(tokens, other, &b, &ignored) && !b);
    if (!is_zero || !token_is(tokens, operator, "*") || !begins_product(tokens, of[at].prev))
        return false;
    const enum token_type x = a ? token_type_of(tokens, at) : plain_type(tokens, at);
    const enum token_type y = plain_type(tokens, other);
    if (!x || !y || x == TYPE_POINTER)
        return false;
    remove_all(tokens, operator, other);
    token_set_number(tokens, at, 0, x > y ? x : y);
    drop_parentheses(tokens, at);
    return true;
}

/* May an operand of ^ end before `at`, or begin behind it? */
static bool is_beside_xor(const struct tokens *tokens, uint32_t at)
{
    static const char *const list[] = { "(", ")", "[", "]", "}", ";", ",", ":", "?", "^", "|", "&&",
        "||", "=", "return", NULL };
    return token_is_one_of(tokens, at, list);
}

/* `x + 0`, `x * 1` and their like: an operator at `at`. */
static bool fold_idle(struct tokens *tokens, uint32_t at)
{
    const struct token *of = tokens->of;
    const uint32_t number = of[at].next, behind = of[number].next;
    const uint32_t last = of[at].prev;
    uint32_t before;
    uint64_t value;
    enum token_type type;
    if (!token_ends_operand(tokens, last) || !token_number(tokens, number, &value, &type) ||
            is_postfix(tokens, behind))
        return false;
    const bool adds = !value && is_plus(tokens, at) && !is_times(tokens, behind);
    const bool scales = value == 1 && (token_is(tokens, at, "*") || token_is(tokens, at, "/"));
    const bool differs = !value && token_is(tokens, at, "^") && is_beside_xor(tokens, behind);
    if (!adds && !scales && !differs)
        return false;
    if (type > TYPE_INT && (least_type(tokens, last, !scales, &before) < type ||
                                   (differs && !is_beside_xor(tokens, before))))
        return false;
    token_remove(tokens, at);
    token_remove(tokens, number);
    drop_parentheses(tokens, last);
    return true;
}

/* `x % 1` becomes 0, where the operator stands at `at`. */
static bool fold_remainder(struct tokens *tokens, uint32_t at)
{
    const struct token *of = tokens->of;
    const uint32_t number = of[at].next;
    uint64_t value;
    enum token_type type;
    if (!token_is(tokens, at, "%") || !token_number(tokens, number, &value, &type) || value != 1)
        return false;
    uint32_t begin = of[at].prev;
    for (;; begin = of[of[begin].prev].prev) {
        const enum token_type other = plain_type(tokens, begin);
        if (!other)
            return false;
        type = other > type ? other : type;
        if (!is_times(tokens, of[begin].prev))
            break;
    }
    if (!begins_product(tokens, of[begin].prev))
        return false;
    remove_all(tokens, of[begin].next, number);
    token_set_number(tokens, begin, 0, type);
    drop_parentheses(tokens, begin);
    return true;
}

/* A number by itself in brackets, or as a value that is assigned, has the type that it gets. */
static bool drop_suffix(struct tokens *tokens, uint32_t at)
{
    const struct token *of = tokens->of;
    uint64_t value;
    enum token_type type;
    if (!token_number(tokens, at, &value, &type) || type == TYPE_INT)
        return false;
    const bool is_index = token_is(tokens, of[at].prev, "[") && token_is(tokens, of[at].next, "]");
    const bool is_value = token_is(tokens, of[at].prev, "=") &&
                          (token_is(tokens, of[at].next, ";") ||
                                  token_is(tokens, of[at].next, ","));
    if (is_index || is_value)
        token_set_number(tokens, at, value, TYPE_INT);
    return is_index || is_value;
}

static bool fold_at(struct tokens *tokens, uint32_t at)
{
    const struct token *of = tokens->of;
    const uint32_t next = of[at].next;
    const bool is_number = of[at].kind == TOKEN_NUMBER;
    if (is_number && (fold_numbers(tokens, at) || fold_behind(tokens, at) ||
                             fold_first(tokens, at) || drop_suffix(tokens, at)))
        return true;
    if (of[next].kind == TOKEN_NUMBER && (fold_remainder(tokens, at) || fold_idle(tokens, at)))
        return true;
    return (is_number || of[of[next].next].kind == TOKEN_NUMBER) && fold_nothing(tokens, at);
}

bool fold_constants(struct tokens *tokens)
{
    bool any = false;
    for (bool is_new = true; is_new; any = any || is_new) {
        is_new = false;
        for (uint32_t i = tokens->of[0].next; i; i = tokens->of[i].next)
            if (fold_at(tokens, i))
                is_new = true; /* what was taken out leads on */
    }
    return any;
}
