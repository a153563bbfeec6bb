/* fuzz_expr.c: any bytes as an expression give a value or an error, and never touch what they must
 * not. */
#include "expr.h"
#include "fuzz.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

const char *const fuzz_seeds[] = {
    "TILE_M % (WG_M * VEC) == 0", "N && M % N == 0", "ceil_div(M * VEC, 64) * round_up(VEC, 8)",
    "pow2(VEC) && log2(VEC) <= 4 || !N", "M > 4 ? N ? 1 : 2 : min(M, max(VEC, -1))",
    "-9223372036854775807 - 1", "SMALL / -1", "SMALL % -1", "BIG * BIG", "((((1))))", "!-!-1",
    "T == 1", "a1 + _b2 * 3 != 4 && 5 >= 6 || 7 < 8", NULL,
};
const char *const fuzz_words[] = {
    "ceil_div(", "round_up(", "pow2(", "log2(", "min(", "max(", "TILE_M", "BIG", "SMALL", "VEC",
    "&&", "||", "==", "!=", "<=", ">=", " ? ", " : ", "(", ")", "!", "-", "%", "/", "*", NULL,
};

static const struct scope *names(void)
{
    static struct scope scope;
    if (scope.num > 0)
        return &scope;
    if (!scope_set(&scope, "M", 96) || !scope_set(&scope, "N", 0) || !scope_set(&scope, "VEC", 4) ||
            !scope_set(&scope, "TILE_M", 64) || !scope_set(&scope, "WG_M", 8) ||
            !scope_set(&scope, "BIG", INT64_MAX) || !scope_set(&scope, "SMALL", INT64_MIN) ||
            !scope_set_text(&scope, "T", "float"))
        abort();
    return &scope;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct expr_error err;
    memset(&err, 0xff, sizeof err);
    int64_t value = 4711, again = 4711;
    bool ok = expr_eval((const char *) data, size, names(), &value, &err);
    if (!ok && (value != 4711 || err.at > size || !memchr(err.what, '\0', sizeof err.what) ||
                       err.what[0] == '\0'))
        abort();
    if (expr_eval((const char *) data, size, names(), &again, &err) != ok || again != value)
        abort();
    return 0;
}
