/* test_reference.c: generator/tune/reference.c: half conversions and the reference itself. */
#include "reference.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_half_known_values(void **state)
{
    static const struct {
        float value;
        uint16_t half;
    } known[] = {
        { 0.0f, 0x0000 }, { -0.0f, 0x8000 }, { 1.0f, 0x3c00 }, { -2.0f, 0xc000 },
        { 65504.0f, 0x7bff }, { 65519.96f, 0x7bff }, { 65520.0f, 0x7c00 }, { 1e30f, 0x7c00 },
        { -1e30f, 0xfc00 }, { INFINITY, 0x7c00 }, { -INFINITY, 0xfc00 },
        { 0x1p-14f, 0x0400 },                    /* the least normal */
        { 0x1.ff8p-15f, 0x03ff },                /* the largest subnormal */
        { 0x1.ffcp-15f, 0x0400 },                /* half way to the least normal: to even */
        { 0x1p-24f, 0x0001 }, { 0x1p-25f, 0x0000 }, { 0x1.000002p-25f, 0x0001 },
        { 0x1.8p-24f, 0x0002 }, { 0x1p-26f, 0x0000 }, { 0x1p-149f, 0x0000 },
        { 2049.0f, 0x6800 }, { 2051.0f, 0x6802 },/* ties go to the even neighbour */
        { 2048.998f, 0x6800 }, { 2049.002f, 0x6801 },
    };
    (void) state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        assert_int_equal(half_from_float(known[i].value), known[i].half);
}

/* Every half survives the way to float and back; NaN stays NaN. */
static void test_half_round_trip(void **state)
{
    (void) state;
    for (unsigned bits = 0; bits <= 0xffff; bits++) {
        const float value = half_to_float((uint16_t) bits);
        if (isnan(value))
            assert_true(isnan(half_to_float(half_from_float(value))));
        else
            assert_int_equal(half_from_float(value), bits);
    }
    assert_true(isnan(half_to_float(half_from_float(NAN))));
}

/* Between any two neighbours, the middle goes to the even one and the rest to the nearer one. */
static void test_half_rounds_to_nearest_even(void **state)
{
    (void) state;
    for (unsigned bits = 0; bits < 0x7bff; bits++) {
        const float low = half_to_float((uint16_t) bits);
        const float high = half_to_float((uint16_t) (bits + 1));
        const float middle = low + (high - low) / 2;
        assert_int_equal(half_from_float(middle), bits + (bits & 1));
        assert_int_equal(half_from_float(nextafterf(middle, 0)), bits);
        assert_int_equal(half_from_float(nextafterf(middle, INFINITY)), bits + 1);
    }
}

/* Runs a reference over filled buffers; the caller frees them. */
struct buffers {
    double *a, *b, *c, *high, *low, *magnitude;
};

static struct reference prepare(struct buffers *x, size_t m, size_t n, size_t k)
{
    x->a = calloc(m * k + 1, sizeof(double));
    x->b = calloc(k * n + 1, sizeof(double));
    x->c = calloc(m * n + 1, sizeof(double));
    x->high = calloc(m * n + 1, sizeof(double));
    x->low = calloc(m * n + 1, sizeof(double));
    x->magnitude = calloc(m * n + 1, sizeof(double));
    assert_true(x->a && x->b && x->c && x->high && x->low && x->magnitude);
    return (struct reference) { .m = m, .n = n, .k = k, .alpha = 1, .a = x->a, .b = x->b, .c = x->c,
            .high = x->high, .low = x->low, .magnitude = x->magnitude };
}

static void release(struct buffers *x)
{
    free(x->a);
    free(x->b);
    free(x->c);
    free(x->high);
    free(x->low);
    free(x->magnitude);
}

/* Odd shapes against a plain triple loop on integers. */
static void test_integers(void **state)
{
    (void) state;
    for (int is_double = 0; is_double < 2; is_double++) {
        struct buffers x;
        struct reference r = prepare(&x, 7, 131, 19);
        r.alpha = -1.5;
        r.beta = 0.75;
        r.is_double = is_double;
        for (size_t i = 0; i < 7 * 19; i++)
            x.a[i] = (double) (i * 7 % 11) - 5;
        for (size_t i = 0; i < 19 * 131; i++)
            x.b[i] = (double) (i * 5 % 13) - 6;
        for (size_t i = 0; i < 7 * 131; i++)
            x.c[i] = (double) (i % 9) - 4;
        assert_true(reference_gemm(&r));
        for (size_t i = 0; i < 7; i++)
            for (size_t j = 0; j < 131; j++) {
                double sum = 0, magnitude = 0;
                for (size_t p = 0; p < 19; p++) {
                    sum += x.a[i * 19 + p] * x.b[p * 131 + j];
                    magnitude += fabs(x.a[i * 19 + p] * x.b[p * 131 + j]);
                }
                const double c = x.c[i * 131 + j];
                assert_true(x.high[i * 131 + j] + x.low[i * 131 + j] == -1.5 * sum + 0.75 * c);
                assert_true(x.magnitude[i * 131 + j] == 1.5 * magnitude + 0.75 * fabs(c));
            }
        release(&x);
    }
}

/* Sums that a double loses altogether: 2^60 + 1 - 2^60, and products that need 106 bits. */
static void test_double_keeps_what_double_loses(void **state)
{
    struct buffers x;
    (void) state;
    struct reference r = prepare(&x, 1, 1, 3);
    r.is_double = true;
    memcpy(x.a, (double[]) { 0x1p60, 1, -0x1p60 }, 3 * sizeof(double));
    memcpy(x.b, (double[]) { 1, 1, 1 }, 3 * sizeof(double));
    assert_true(reference_gemm(&r));
    assert_true(x.high[0] == 1 && x.low[0] == 0);
    const double near_one = 1 + 0x1p-52;         /* its square is 1 + 2^-51 + 2^-104 */
    memcpy(x.a, (double[]) { near_one, -1, -0x1p-51 }, 3 * sizeof(double));
    memcpy(x.b, (double[]) { near_one, 1, 1 }, 3 * sizeof(double));
    assert_true(reference_gemm(&r));
    assert_true(x.high[0] + x.low[0] == 0x1p-104);
    release(&x);
}

/* As in BLAS: with beta 0 C is not read, with alpha 0 A and B are not. */
static void test_zero_scalars_do_not_read(void **state)
{
    struct buffers x;
    (void) state;
    struct reference r = prepare(&x, 2, 3, 4);
    for (int i = 0; i < 6; i++)
        x.c[i] = NAN;
    assert_true(reference_gemm(&r));
    for (int i = 0; i < 6; i++)
        assert_true(x.high[i] == 0 && x.magnitude[i] == 0);
    for (int i = 0; i < 8; i++)
        x.a[i] = NAN;
    for (int i = 0; i < 6; i++)
        x.c[i] = i;
    r.alpha = 0;
    r.beta = 2;
    assert_true(reference_gemm(&r));
    for (int i = 0; i < 6; i++)
        assert_true(x.high[i] == 2 * i && x.magnitude[i] == 2 * i);
    release(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_half_known_values),
        cmocka_unit_test(test_half_round_trip),
        cmocka_unit_test(test_half_rounds_to_nearest_even),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_double_keeps_what_double_loses),
        cmocka_unit_test(test_zero_scalars_do_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
