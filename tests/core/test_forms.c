/* test_forms.c: recipes that follow from others, generator/core/forms.c. */
#include "forms.h"
#include "text.h"
#include "wide.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct winners winners;

static const char text[] =
    "kiln-winners\t4\n"
    "bundle\ttest\n"
    "fact\tHAS_DOUBLE\t1\n"
    "fact\tMAX_ITEMS\t256\n"
    "fact\tMAX_ITEMS_X\t256\n"
    "fact\tMAX_ITEMS_Y\t256\n"
    "fact\tLOCAL_BYTES\t32768\n"
    "fact\tREGISTER_BYTES\t2048\n"
    "fact\tVECTOR_BYTES\t64\n"
    "recipe\tsingle\tdirect WGM=4 WGN=4 INDEX=32\t0\t0\t0\t0\n"
    "recipe\tsingle\tdirect WGM=8 WGN=8\t0\t0\t0\t0\n"
    "recipe\tsingle\tthin\t0\t0\t0\t0\n"
    "recipe\tsingle\tdirect WGM=2 WGN=2\t0\t0\t0\t0\n"
    "recipe\tdouble\tdirect\t0\t0\t0\t0\n";

static void make(void)
{
    char error[FAMILY_ERROR_BYTES] = "";
    if (!winners_parse(text, &winners, error) || !forms_add(&winners, error))
        fail_msg("%s", error);
}

static unsigned count(const char *precision, const char *family, bool triangle)
{
    unsigned num = 0;
    for (unsigned i = 0; i < winners.num_recipes; i++) {
        const struct winner *winner = &winners.recipes[i];
        num += !strcmp(winner->precision->name, precision) && winner->triangle == triangle &&
               !strcmp(winner->config.family->name, family);
    }
    return num;
}

static void each_precision_has_its_forms(void **state)
{
    static const char *const precisions_there[] = { "single", "double", "complex_single",
        "complex_double" };
    (void) state;
    make();
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(count(precisions_there[i], "mirror", false), 1);
        assert_int_equal(count(precisions_there[i], "complex", false), i >= 2);
    }
    assert_int_equal(count("half", "mirror", false), 0);
    assert_int_equal(count("emulated", "mirror", false), 0);
}

/* What has no time is as good as others: one that takes every shape is among them. */
static void triangles_are_of_families_that_store_them(void **state)
{
    (void) state;
    make();
    bool takes_all = false;
    for (unsigned i = 0; i < winners.num_recipes; i++) {
        const struct winner *winner = &winners.recipes[i];
        takes_all = takes_all || (winner->triangle && winner->config.value[0] != 4);
        if (winner->triangle)
            assert_true(winner->config.family->triangles && form_is(winner));
    }
    assert_true(takes_all);
    assert_int_equal(count("single", "thin", true), 0);
    assert_int_equal(count("double", "direct", true), 1);
}

static void complex_products_have_triangles_too(void **state)
{
    static const char complex[] = "recipe\tcomplex_single\tdirect\t0\t0\t0\t0\n";
    char error[FAMILY_ERROR_BYTES] = "", all[sizeof text + sizeof complex];
    (void) state;
    snprintf(all, sizeof all, "%s%s", text, complex);
    if (!winners_parse(all, &winners, error) || !forms_add(&winners, error))
        fail_msg("%s", error);
    assert_int_equal(count("complex_single", "direct", true), 1);
    assert_int_equal(count("complex_single", "complex", false), 1);
}

/* A recipe that is slow where B is transposed, and another one: A A' wants the latter, what complex
 * products become the former. */
static void triangles_are_for_two_pairs(void **state)
{
    static const char times[] = "time\tsingle\t1\t0\t0\t0\t0\t0\t0\t0\t1000\t0\t0\t0\t0\t1e6"
                                "\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\n"
                                "time\tsingle\t3\t0\t0\t0\t0\t0\t0\t0\t2000\t0\t0\t0\t0\t0"
                                "\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\n";
    char error[FAMILY_ERROR_BYTES] = "", both[sizeof text + sizeof times];
    unsigned num[2] = { 0 };
    (void) state;
    snprintf(both, sizeof both, "%s%s", text, times);
    assert_true(winners_parse(both, &winners, error) && forms_add(&winners, error));
    for (unsigned i = 0; i < winners.num_recipes; i++) {
        const struct winner *winner = &winners.recipes[i];
        if (winner->triangle && winner->precision->letter == 's' && winner->is_timed)
            num[winner->config.value[0] == 2]++;
    }
    assert_int_equal(num[0], 1);
    assert_int_equal(num[1], 1);
}

static void they_take_the_place_of_older_ones(void **state)
{
    char error[FAMILY_ERROR_BYTES] = "";
    struct text first = { 0 }, second = { 0 };
    (void) state;
    make();
    winners_format(&winners, &first);
    if (!winners_parse(first.bytes, &winners, error) || !forms_add(&winners, error))
        fail_msg("%s", error);
    winners_format(&winners, &second);
    assert_string_equal(first.bytes, second.bytes);
    text_free(&first);
    text_free(&second);
}

/* Kernels for a triangle are told of it; others are not. */
static void their_kernels_are_told(void **state)
{
    char error[FAMILY_ERROR_BYTES] = "";
    struct assembly assembly;
    unsigned always = 0, mirrors = 0;
    (void) state;
    make();
    if (!winners_assemble(&winners, &assembly, error))
        fail_msg("%s", error);
    for (uint32_t i = 0; i < assembly.bundle.num_recipes; i++) {
        const struct kiln_recipe *recipe = &assembly.bundle.recipes[i];
        const struct kiln_stage *last = &recipe->stages[recipe->num_stages - 1];
        const bool told = memchr(last->args, KILN_ARG_TRIANGLE, last->num_args) != NULL;
        always += recipe->triangles == KILN_TRIANGLES_ALWAYS;
        mirrors += recipe->routine == KILN_ROUTINE_MIRROR;
        if (!kiln_precision_is_complex(recipe->precision))
            assert_int_equal(told, recipe->triangles != KILN_TRIANGLES_NEVER);
    }
    assert_int_equal(always % NUM_PAIRS, 0);
    assert_true(always >= 2 * NUM_PAIRS);
    assert_int_equal(mirrors, 4); /* one a precision, whatever the transposes */
    assembly_free(&assembly);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_precision_has_its_forms),
        cmocka_unit_test(triangles_are_of_families_that_store_them),
        cmocka_unit_test(complex_products_have_triangles_too),
        cmocka_unit_test(triangles_are_for_two_pairs),
        cmocka_unit_test(they_take_the_place_of_older_ones),
        cmocka_unit_test(their_kernels_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
