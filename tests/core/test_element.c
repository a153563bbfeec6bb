/* test_element.c: half from and to float, runtime/element.h. */
#include "element.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_half_known_values(void **state)
{
    static const struct {
        float value;
        uint16_t half;
    } known[] = {
        { 0.0f, 0x0000 },
        { -0.0f, 0x8000 },
        { 1.0f, 0x3c00 },
        { -2.0f, 0xc000 },
        { 65504.0f, 0x7bff },
        { 65519.96f, 0x7bff },
        { 65520.0f, 0x7c00 },
        { 1e30f, 0x7c00 },
        { -1e30f, 0xfc00 },
        { INFINITY, 0x7c00 },
        { -INFINITY, 0xfc00 },
        { 0x1p-14f, 0x0400 },     /* the least normal */
        { 0x1.ff8p-15f, 0x03ff }, /* the largest subnormal */
        { 0x1.ffcp-15f, 0x0400 }, /* half way to the least normal: to even */
        { 0x1p-24f, 0x0001 },
        { 0x1p-25f, 0x0000 },
        { 0x1.000002p-25f, 0x0001 },
        { 0x1.8p-24f, 0x0002 },
        { 0x1p-26f, 0x0000 },
        { 0x1p-149f, 0x0000 },
        { 2049.0f, 0x6800 },
        { 2051.0f, 0x6802 }, /* ties go to the even neighbour */
        { 2048.998f, 0x6800 },
        { 2049.002f, 0x6801 },
    };
    (void) state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        assert_int_equal(kiln_half_from_float(known[i].value), known[i].half);
}

/* Every half survives the way to float and back; NaN stays NaN. */
static void test_half_round_trip(void **state)
{
    (void) state;
    for (unsigned bits = 0; bits <= 0xffff; bits++) {
        const float value = kiln_half_to_float((uint16_t) bits);
        if (isnan(value))
            assert_true(isnan(kiln_half_to_float(kiln_half_from_float(value))));
        else
            assert_int_equal(kiln_half_from_float(value), bits);
    }
    assert_true(isnan(kiln_half_to_float(kiln_half_from_float(NAN))));
}

/* Between any two neighbours, the middle goes to the even one and the rest to the nearer one. */
static void test_half_rounds_to_nearest_even(void **state)
{
    (void) state;
    for (unsigned bits = 0; bits < 0x7bff; bits++) {
        const float low = kiln_half_to_float((uint16_t) bits);
        const float high = kiln_half_to_float((uint16_t) (bits + 1));
        const float middle = low + (high - low) / 2;
        assert_int_equal(kiln_half_from_float(middle), bits + (bits & 1));
        assert_int_equal(kiln_half_from_float(nextafterf(middle, 0)), bits);
        assert_int_equal(kiln_half_from_float(nextafterf(middle, INFINITY)), bits + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_half_known_values),
        cmocka_unit_test(test_half_round_trip),
        cmocka_unit_test(test_half_rounds_to_nearest_even),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
