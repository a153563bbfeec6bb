/* expr.h: integer expressions over named values, as in "TILE_M % (WG_M * VEC) == 0".
 *
 * C's operators with C's precedence: ?: || && == != < <= > >= + - * / % ! unary -, parentheses,
 * decimal integers, and the functions min(a, b), max(a, b), ceil_div(a, b), round_up(a, b),
 * gcd(a, b) (of positive numbers), pow2(a) (1 when a is a positive power of two), log2(a) (floor).
 * The untaken side of ?: && || is not evaluated, so "N && M % N == 0" never divides by zero.
 * Overflow and division by zero are errors.
 */
#ifndef KILN_CORE_EXPR_H
#define KILN_CORE_EXPR_H

#include "scope.h"

struct expr_error {
    size_t at;                         /* offset into the text */
    char what[96];                     /* "undefined name 'TILE'" */
};

/* Evaluates text[0..len). On failure returns false, fills *err and leaves *value. */
bool expr_eval(const char *text, size_t len, const struct scope *scope, int64_t *value,
        struct expr_error *err);

#endif
