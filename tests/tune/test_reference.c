/* test_reference.c: generator/tune/reference.c. */
#include "reference.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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
    return (struct reference){ .m = m,
        .n = n,
        .k = k,
        .alpha = 1,
        .a = x->a,
        .b = x->b,
        .c = x->c,
        .high = x->high,
        .low = x->low,
        .magnitude = x->magnitude };
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
    memcpy(x.a, (double[]){ 0x1p60, 1, -0x1p60 }, 3 * sizeof(double));
    memcpy(x.b, (double[]){ 1, 1, 1 }, 3 * sizeof(double));
    assert_true(reference_gemm(&r));
    assert_true(x.high[0] == 1 && x.low[0] == 0);
    const double near_one = 1 + 0x1p-52; /* its square is 1 + 2^-51 + 2^-104 */
    memcpy(x.a, (double[]){ near_one, -1, -0x1p-51 }, 3 * sizeof(double));
    memcpy(x.b, (double[]){ near_one, 1, 1 }, 3 * sizeof(double));
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
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_double_keeps_what_double_loses),
        cmocka_unit_test(test_zero_scalars_do_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
