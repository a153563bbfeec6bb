/* expr.c: evaluates integer expressions while parsing them, by precedence climbing.
 *
 * The parser is "live" where the value counts. The untaken side of ?: && || is parsed all the same,
 * so a misspelt name there is still found, but it computes nothing: each of its values is 0.
 * The first failure is kept, and moves the parser to the end of the text, where everything stops.
 */
#include "expr.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_DEPTH = 100,                   /* of parentheses, unary operators and ?: */
    MAX_ARGS = 2,
    SHOWN_NAME_BYTES = 48,             /* of a name in a message */
};

struct parser {
    const char *start, *p, *end;
    const struct scope *scope;
    struct expr_error *err;
    int depth;
    bool live, failed;
};

enum op {
    OP_OR, OP_AND, OP_EQ, OP_NE, OP_LE, OP_GE, OP_LT, OP_GT, OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_MOD,
};

/* Level 1 binds loosest. A longer operator stands before the one that begins it. */
static const struct binary_op {
    const char *text;
    int level;
    enum op op;
} binary_ops[] = {
    { "||", 1, OP_OR },
    { "&&", 2, OP_AND },
    { "==", 3, OP_EQ }, { "!=", 3, OP_NE },
    { "<=", 4, OP_LE }, { ">=", 4, OP_GE }, { "<", 4, OP_LT }, { ">", 4, OP_GT },
    { "+", 5, OP_ADD }, { "-", 5, OP_SUB },
    { "*", 6, OP_MUL }, { "/", 6, OP_DIV }, { "%", 6, OP_MOD },
};

static int64_t parse_ternary(struct parser *ps);

/* These do not ask the locale, so that a build gives the same bytes everywhere. */
static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

static int shown(size_t len)
{
    return len < SHOWN_NAME_BYTES ? (int) len : SHOWN_NAME_BYTES;
}

__attribute__((format(printf, 3, 4)))
static int64_t fail(struct parser *ps, const char *at, const char *format, ...)
{
    if (!ps->failed) {
        va_list args;
        va_start(args, format);
        vsnprintf(ps->err->what, sizeof ps->err->what, format, args);
        va_end(args);
        ps->err->at = (size_t) (at - ps->start);
        ps->failed = true;
    }
    ps->p = ps->end;
    return 0;
}

static void skip_space(struct parser *ps)
{
    while (ps->p < ps->end && is_space(*ps->p))
        ps->p++;
}

static bool accept(struct parser *ps, char c)
{
    skip_space(ps);
    if (ps->p == ps->end || *ps->p != c)
        return false;
    ps->p++;
    return true;
}

/* Reports what stands in the place of what was wanted. */
static int64_t fail_here(struct parser *ps, const char *wanted)
{
    skip_space(ps);
    if (ps->p == ps->end)
        return fail(ps, ps->p, "expected %s at the end", wanted);
    unsigned char c = (unsigned char) *ps->p;
    if (c < 0x20 || c >= 0x7f)
        return fail(ps, ps->p, "expected %s, found byte 0x%02x", wanted, c);
    return fail(ps, ps->p, "expected %s, found '%c'", wanted, c);
}

static void expect(struct parser *ps, char c)
{
    if (!accept(ps, c))
        fail_here(ps, c == ')' ? "')'" : "':'");
}

static int64_t fail_overflow(struct parser *ps, const char *at)
{
    return fail(ps, at, "overflow");
}

static int64_t add(struct parser *ps, const char *at, int64_t a, int64_t b)
{
    int64_t value;
    return __builtin_add_overflow(a, b, &value) ? fail_overflow(ps, at) : value;
}

static int64_t subtract(struct parser *ps, const char *at, int64_t a, int64_t b)
{
    int64_t value;
    return __builtin_sub_overflow(a, b, &value) ? fail_overflow(ps, at) : value;
}

static int64_t multiply(struct parser *ps, const char *at, int64_t a, int64_t b)
{
    int64_t value;
    return __builtin_mul_overflow(a, b, &value) ? fail_overflow(ps, at) : value;
}

static bool divisible(struct parser *ps, const char *at, int64_t a, int64_t b)
{
    if (b == 0)
        fail(ps, at, "division by zero");
    else if (a == INT64_MIN && b == -1)
        fail_overflow(ps, at);
    return !ps->failed;
}

static int64_t divide(struct parser *ps, const char *at, int64_t a, int64_t b)
{
    return divisible(ps, at, a, b) ? a / b : 0;
}

static int64_t remainder_of(struct parser *ps, const char *at, int64_t a, int64_t b)
{
    return divisible(ps, at, a, b) ? a % b : 0;
}

static int64_t call_min(struct parser *ps, const char *at, const int64_t *arg)
{
    (void) ps;
    (void) at;
    return arg[0] < arg[1] ? arg[0] : arg[1];
}

static int64_t call_max(struct parser *ps, const char *at, const int64_t *arg)
{
    (void) ps;
    (void) at;
    return arg[0] > arg[1] ? arg[0] : arg[1];
}

static int64_t call_ceil_div(struct parser *ps, const char *at, const int64_t *arg)
{
    if (!divisible(ps, at, arg[0], arg[1]))
        return 0;
    /* C truncates towards zero, which is up already where the quotient is negative. */
    bool up = arg[0] % arg[1] != 0 && (arg[0] < 0) == (arg[1] < 0);
    return arg[0] / arg[1] + up;
}

static int64_t call_round_up(struct parser *ps, const char *at, const int64_t *arg)
{
    return multiply(ps, at, call_ceil_div(ps, at, arg), arg[1]);
}

static int64_t call_gcd(struct parser *ps, const char *at, const int64_t *arg)
{
    int64_t a = arg[0], b = arg[1];
    if (a < 1 || b < 1)
        return fail(ps, at, "gcd of %" PRId64, a < b ? a : b);
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static int64_t call_pow2(struct parser *ps, const char *at, const int64_t *arg)
{
    (void) ps;
    (void) at;
    return arg[0] > 0 && (arg[0] & (arg[0] - 1)) == 0;
}

static int64_t call_log2(struct parser *ps, const char *at, const int64_t *arg)
{
    if (arg[0] < 1)
        return fail(ps, at, "log2 of %" PRId64, arg[0]);
    int64_t value = 0;
    for (int64_t rest = arg[0]; rest > 1; rest /= 2)
        value++;
    return value;
}

static const struct function {
    const char *name;
    int num_args;
    int64_t (*call)(struct parser *ps, const char *at, const int64_t *arg);
} functions[] = {
    { "min", 2, call_min },
    { "max", 2, call_max },
    { "ceil_div", 2, call_ceil_div },
    { "round_up", 2, call_round_up },
    { "gcd", 2, call_gcd },
    { "pow2", 1, call_pow2 },
    { "log2", 1, call_log2 },
};

static const struct function *find_function(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (strncmp(functions[i].name, name, len) == 0 && !functions[i].name[len])
            return &functions[i];
    return NULL;
}

/* A call; the parser stands behind its opening parenthesis. */
static int64_t parse_call(struct parser *ps, const char *name, size_t len)
{
    const struct function *function = find_function(name, len);
    if (!function)
        return fail(ps, name, "unknown function '%.*s'", shown(len), name);
    int64_t arg[MAX_ARGS] = { 0 };
    int num = 0;
    if (!accept(ps, ')')) {
        do {
            int64_t value = parse_ternary(ps);
            if (num < MAX_ARGS)
                arg[num] = value;
            if (num <= MAX_ARGS) /* one too many is as wrong as a thousand */
                num++;
        } while (accept(ps, ','));
        expect(ps, ')');
    }
    if (!ps->failed && num != function->num_args)
        return fail(ps, name, "%s takes %d argument%s", function->name, function->num_args,
                function->num_args == 1 ? "" : "s");
    return ps->live && !ps->failed ? function->call(ps, name, arg) : 0;
}

static int64_t parse_number(struct parser *ps)
{
    const char *at = ps->p;
    int64_t value = 0;
    for (; ps->p < ps->end && is_digit(*ps->p); ps->p++) {
        if (__builtin_mul_overflow(value, INT64_C(10), &value) ||
                __builtin_add_overflow(value, (int64_t) (*ps->p - '0'), &value))
            return fail(ps, at, "number too large");
    }
    return value;
}

static int64_t parse_name(struct parser *ps)
{
    const char *name = ps->p;
    while (ps->p < ps->end && is_name_char(*ps->p))
        ps->p++;
    size_t len = (size_t) (ps->p - name);
    if (accept(ps, '('))
        return parse_call(ps, name, len);
    const struct scope_entry *entry = scope_find(ps->scope, name, len);
    if (!entry)
        return fail(ps, name, "undefined name '%.*s'", shown(len), name);
    if (entry->is_text)
        return fail(ps, name, "'%.*s' is a text, not a number", shown(len), name);
    return entry->value;
}

static int64_t parse_primary(struct parser *ps)
{
    skip_space(ps);
    if (accept(ps, '(')) {
        int64_t value = parse_ternary(ps);
        expect(ps, ')');
        return value;
    }
    if (ps->p < ps->end && is_digit(*ps->p))
        return parse_number(ps);
    if (ps->p < ps->end && is_name_char(*ps->p))
        return parse_name(ps);
    return fail_here(ps, "a value");
}

/* Bounds the C stack that hostile text can take. Each true is paired with leave(). */
static bool enter(struct parser *ps)
{
    if (ps->depth >= MAX_DEPTH) {
        fail(ps, ps->p, "nested deeper than %d", MAX_DEPTH);
        return false;
    }
    ps->depth++;
    return true;
}

static void leave(struct parser *ps)
{
    ps->depth--;
}

static int64_t parse_unary(struct parser *ps)
{
    skip_space(ps);
    const char *at = ps->p;
    bool negate = accept(ps, '-');
    if (!negate && !accept(ps, '!'))
        return parse_primary(ps);
    if (!enter(ps))
        return 0;
    int64_t value = parse_unary(ps);
    leave(ps);
    if (!ps->live)
        return 0;
    return negate ? subtract(ps, at, 0, value) : !value;
}

static const struct binary_op *peek_binary(struct parser *ps)
{
    skip_space(ps);
    if (ps->p == ps->end)
        return NULL;
    const char first = ps->p[0], second = ps->end - ps->p > 1 ? ps->p[1] : '\0';
    for (size_t i = 0; i < sizeof binary_ops / sizeof binary_ops[0]; i++) {
        const char *text = binary_ops[i].text;
        if (text[0] == first && (!text[1] || text[1] == second))
            return &binary_ops[i];
    }
    return NULL;
}

static int64_t apply(struct parser *ps, const char *at, enum op op, int64_t a, int64_t b)
{
    switch (op) {
    case OP_OR: return a || b;
    case OP_AND: return a && b;
    case OP_EQ: return a == b;
    case OP_NE: return a != b;
    case OP_LE: return a <= b;
    case OP_GE: return a >= b;
    case OP_LT: return a < b;
    case OP_GT: return a > b;
    case OP_ADD: return add(ps, at, a, b);
    case OP_SUB: return subtract(ps, at, a, b);
    case OP_MUL: return multiply(ps, at, a, b);
    case OP_DIV: return divide(ps, at, a, b);
    case OP_MOD: return remainder_of(ps, at, a, b);
    }
    return 0;
}

/* Operands joined by operators that bind at least as tightly as min_level. */
static int64_t parse_binary(struct parser *ps, int min_level)
{
    int64_t a = parse_unary(ps);
    const struct binary_op *op = peek_binary(ps);
    for (; op && op->level >= min_level; op = peek_binary(ps)) {
        const char *at = ps->p;
        bool live = ps->live;
        bool settled = (op->op == OP_AND && !a) || (op->op == OP_OR && a);
        ps->p += strlen(op->text);
        ps->live = live && !settled;
        int64_t b = parse_binary(ps, op->level + 1);
        ps->live = live;
        a = live && !ps->failed ? apply(ps, at, op->op, a, b) : 0;
    }
    return a;
}

static int64_t parse_ternary(struct parser *ps)
{
    if (!enter(ps))
        return 0;
    int64_t value = parse_binary(ps, 1);
    if (accept(ps, '?')) {
        bool live = ps->live, yes = value != 0;
        ps->live = live && yes;
        int64_t if_yes = parse_ternary(ps);
        expect(ps, ':');
        ps->live = live && !yes;
        int64_t if_no = parse_ternary(ps);
        ps->live = live;
        value = yes ? if_yes : if_no;
    }
    leave(ps);
    return value;
}

bool expr_eval(const char *text, size_t len, const struct scope *scope, int64_t *value,
        struct expr_error *err)
{
    struct parser ps = {
        .start = text,
        .p = text,
        .end = text + len,
        .scope = scope,
        .err = err,
        .live = true,
    };
    int64_t result = parse_ternary(&ps);
    skip_space(&ps);
    if (!ps.failed && ps.p != ps.end)
        fail_here(&ps, "an operator");
    if (!ps.failed)
        *value = result;
    return !ps.failed;
}
