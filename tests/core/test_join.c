/* test_join.c: several tunings as one bundle, generator/core/join.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "join.h"

#include <stdio.h>
#include <string.h>

#define HEAD "kiln-winners\t4\nbundle\tpart\nplatform\tP\ndevice\tD\n"
#define FACTS(cpu, vector, local) "fact\tIS_CPU\t" cpu "\nfact\tVECTOR_BYTES\t" vector "\n" \
    "fact\tLOCAL_BYTES\t" local "\nfact\tREGISTER_BYTES\t1024\n"
#define RECIPE(text) "recipe\tsingle\t" text "\t0\t0\t0\t0\n"
#define TIME(call) "time\tsingle\t0\t" call \
    "\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\n"

static struct winners all, part;

static bool add(const char *text, char error[FAMILY_ERROR_BYTES])
{
    if (!winners_parse(text, &part, error))
        fail_msg("%s", error);
    return join_winners(&all, &part, error);
}

static void must_add(const char *text)
{
    char error[FAMILY_ERROR_BYTES];
    if (!add(text, error))
        fail_msg("%s", error);
}

static int begin(void **state)
{
    (void) state;
    all = (struct winners){ .name = "all" };
    facts_minimal(&all.facts);
    return 0;
}

static void expect(unsigned i, unsigned kinds, unsigned floats, float call)
{
    assert_int_equal(all.recipes[i].kinds, kinds);
    assert_int_equal(all.recipes[i].vector_floats, floats);
    assert_true(all.recipes[i].time.coefficient[0] == call);
}

static void each_is_for_what_it_was_tuned_on(void **state)
{
    (void) state;
    must_add(HEAD FACTS("1", "64", "32768") RECIPE("packed TM=4 VEC=16") TIME("1"));
    must_add(HEAD FACTS("0", "4", "16384") RECIPE("tiled TM=4") TIME("2"));
    must_add(HEAD RECIPE("direct"));
    assert_int_equal(all.num_recipes, 3);
    expect(0, KILN_KIND_CPU, 16, 1);
    expect(1, KILN_KIND_OTHER, 0, 2);
    expect(2, 0, 0, 0);
    /* It is for any device, and all of its recipes are legal. */
    assert_string_equal(all.name, "all");
    assert_false(all.platform[0] || all.device[0]);
    assert_int_equal(all.facts.value[FACT_VECTOR_BYTES], 64);
    assert_int_equal(all.facts.value[FACT_LOCAL_BYTES], 32768);
}

static void one_recipe_may_be_for_both_kinds(void **state)
{
    (void) state;
    must_add(HEAD FACTS("1", "64", "32768") RECIPE("direct TM=4 VEC=4") TIME("1"));
    must_add(HEAD FACTS("0", "16", "32768") RECIPE("direct TM=4 VEC=4") TIME("2"));
    must_add(HEAD FACTS("1", "32", "32768") RECIPE("direct TM=4 VEC=4") TIME("3"));
    must_add(HEAD RECIPE("direct TM=4 VEC=4"));
    assert_int_equal(all.num_recipes, 3);
    expect(0, KILN_KIND_CPU, 8, 1);
    expect(1, KILN_KIND_OTHER, 0, 2);
    expect(2, 0, 0, 0);

    /* Each is a recipe of its own in the bundle, with its own time; the programs are shared. */
    struct assembly assembly;
    char error[FAMILY_ERROR_BYTES];
    assert_true(winners_assemble(&all, &assembly, error));
    assert_int_equal(assembly.bundle.num_recipes, 3 * NUM_PAIRS);
    assert_int_equal(assembly.bundle.num_programs, NUM_PAIRS);
    const struct kiln_recipe *r = assembly.bundle.recipes;
    assert_true(r[0].kinds == KILN_KIND_CPU && r[0].vector_floats == 8);
    assert_true(r[0].time->coefficient[0] == 1);
    assert_true(r[NUM_PAIRS].kinds == KILN_KIND_OTHER && r[NUM_PAIRS].vector_floats == 0);
    assert_true(r[NUM_PAIRS].time->coefficient[0] == 2);
    assert_true(r[2 * NUM_PAIRS].kinds == 0 && !r[2 * NUM_PAIRS].time);
    assembly_free(&assembly);
}

static void kinds_come_back(void **state)
{
    (void) state;
    struct text text = { 0 };
    char error[FAMILY_ERROR_BYTES];
    must_add(HEAD FACTS("1", "32", "32768") RECIPE("packed TM=4 VEC=8"));
    must_add(HEAD RECIPE("tiled TM=4") RECIPE("direct") "kind\tsingle\t0\tother\t0\n");
    winners_format(&all, &text);
    assert_non_null(strstr(text.bytes, "kind\tsingle\t0\tcpu\t8\nkind\tsingle\t1\tother\t0\n"));
    assert_true(winners_parse(text.bytes, &part, error));
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(part.recipes[i].kinds, all.recipes[i].kinds);
        assert_int_equal(part.recipes[i].vector_floats, all.recipes[i].vector_floats);
    }
    text_free(&text);
}

static void what_can_not_be_is_refused(void **state)
{
    static const char *const rows[] = {
        "kind\tsingle\t0\tcpu\n",
        "kind\tsingle\t1\tcpu\t8\n",
        "kind\tquad\t0\tcpu\t8\n",
        "kind\tsingle\t0\tgpu\t8\n",
        "kind\tsingle\t0\tcpu\t256\n",
        "kind\tsingle\t0\tcpu\t-1\n",
    };
    char error[FAMILY_ERROR_BYTES], text[512];
    (void) state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(text, sizeof text, "%s%s", HEAD RECIPE("direct"), rows[i]);
        assert_false(winners_parse(text, &part, error));
        assert_string_equal(error, "line 6: a kind has a precision, a recipe above it, cpu or "
                                   "other, and the least floats of a vector");
    }
    assert_false(add(HEAD FACTS("1", "4", "32768") RECIPE("direct"), error));
    assert_string_equal(error, "part: tuned on a CPU without vectors, which is of no kind");
    for (all.num_recipes = WINNERS_MAX_RECIPES; all.num_recipes-- > 0;)
        config_parse("packed", &all.recipes[all.num_recipes].config, error);
    all.num_recipes = WINNERS_MAX_RECIPES;
    assert_false(add(HEAD RECIPE("direct"), error));
    assert_string_equal(error, "more than 256 recipes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_is_for_what_it_was_tuned_on, begin),
        cmocka_unit_test_setup(one_recipe_may_be_for_both_kinds, begin),
        cmocka_unit_test_setup(kinds_come_back, begin),
        cmocka_unit_test_setup(what_can_not_be_is_refused, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
