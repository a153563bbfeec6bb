/* test_winners.c: winners.tsv to and from memory, and into a bundle, generator/core/winners.c. */
#include "wide.h"
#include "tokens.h"
#include "winners.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct winners winners, again;

#define HEAD "kiln-winners\t4\nbundle\ttest\n"
/* All but two coefficients. */
#define ZEROS "\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0"
#define RECIPE "recipe\tsingle\tdirect TM=4 VEC=4\t0\t1\tff\tffffffffffffffff\n"

/* As much as a fact can be, and what a bundle tells of it. */
#if LONG_MAX > INT32_MAX
#define LOCAL_BYTES "4294967296"
#define LOCAL_BYTES_TOLD UINT32_MAX
#else
#define LOCAL_BYTES "2147483647"
#define LOCAL_BYTES_TOLD INT32_MAX
#endif

static const char good[] =
    HEAD
    "platform\tPortable*\n"
    "device\t*avx512*\n"
    "driver\t3.1\n"
    "verified\t5.0|6.*\n"
    "vector\t16\n"
    "provenance\ttuned on a device\n"
    "fact\tVECTOR_BYTES\t64\n"
    "fact\tREGISTER_BYTES\t2048\n"
    "fact\tIS_CPU\t1\n"
    "fact\tUNITS\t132\n"
    "fact\tLOCAL_BYTES\t" LOCAL_BYTES "\n"
    "fact\tCOMPUTE_CAPABILITY\t90\n"
    "# a comment, and an empty line\n"
    "\n"
    "recipe\tdouble\tpacked TM=4 NV=2 VEC=4\t0\t0\t0\t0\n"
    RECIPE
    "recipe\tsingle\tpacked TM=12 NV=2 VEC=16\t0\t0\t0\t0\n"
    "time\tsingle\t1\t5.25e+06\t0.125" ZEROS "\t7\t8\t9\n"
    "time\tdouble\t0" ZEROS "\t0\t1e-3\n"
    "pin\tsingle\t1024\t1000\t999\t1\t1\t0\t-\n"
    "pin\tdouble\t64\t64\t1\tbatch=12\t0\t-\t-\t-\n"
    "loss\tsingle\tall\t9\t1.0123\t1.05\t1.25\n"
    "loss\tsingle\tthin\t2\t1.02\t1.03\t1.04\n";

static void parse(const char *text, struct winners *to)
{
    char error[FAMILY_ERROR_BYTES] = "";
    if (!winners_parse(text, to, error))
        fail_msg("%s", error);
}

static void rows_mean_what_they_say(void **state)
{
    (void) state;
    parse(good, &winners);
    assert_string_equal(winners.name, "test");
    assert_string_equal(winners.platform, "Portable*");
    assert_string_equal(winners.device, "*avx512*");
    assert_string_equal(winners.driver, "3.1");
    assert_string_equal(winners.verified, "5.0|6.*");
    assert_int_equal(winners.vector, 16);
    assert_string_equal(winners.provenance, "tuned on a device");
    assert_int_equal(winners.facts.value[FACT_VECTOR_BYTES], 64);
    assert_int_equal(winners.facts.value[FACT_MAX_ITEMS], 64);
    assert_int_equal(winners.num_recipes, 3);
    assert_true(winners.recipes[1].hash[2] == 0xff && winners.recipes[1].hash[3] == UINT64_MAX);
    assert_true(winners.recipes[2].is_timed && winners.recipes[0].is_timed);
    assert_false(winners.recipes[1].is_timed);
    assert_true(winners.recipes[2].time.coefficient[0] == 5.25e6f);
    assert_true(winners.recipes[2].time.coefficient[1] == 0.125f);
    assert_true(winners.recipes[2].time.coefficient[2] == 0);
    assert_true(winners.recipes[2].time.coefficient[KILN_TERM_KEPT] == 7);
    assert_true(winners.recipes[2].time.coefficient[KILN_TERM_FETCHED_PLAIN_B] == 9);
    /* Of a file that knows nothing of the last terms. */
    assert_true(winners.recipes[0].time.coefficient[KILN_TERM_SHARED] == 1e-3f);
    assert_true(winners.recipes[0].time.coefficient[KILN_TERM_KEPT] == 0);
    assert_int_equal(winners.num_pins, 2);
    assert_int_equal(winners.pins[0].m, 1024);
    assert_int_equal(winners.pins[0].n, 1000);
    assert_int_equal(winners.pins[0].k, 999);
    assert_int_equal(winners.pins[0].recipe[0], 1);
    assert_int_equal(winners.pins[0].recipe[2], 0);
    assert_int_equal(winners.pins[0].recipe[3], -1);
    assert_int_equal(winners.pins[0].batch, 0);
    assert_int_equal(winners.pins[1].batch, 12);
    assert_int_equal(winners.pins[1].recipe[0], 0);
    const struct winner_loss *loss = winners_loss(&winners, precision_find("single"), "all");
    assert_non_null(loss);
    assert_int_equal(loss->shapes, 9);
    assert_true(loss->mean == 1.0123 && loss->p95 == 1.05 && loss->worst == 1.25);
    assert_int_equal(winners_loss(&winners, precision_find("single"), "thin")->shapes, 2);
    assert_null(winners_loss(&winners, precision_find("double"), "all"));
    assert_null(winners_loss(&winners, precision_find("single"), "deep"));
    /* Numbers count within a precision. */
    assert_ptr_equal(winners_recipe(&winners, precision_find("single"), 1), &winners.recipes[2]);
    assert_ptr_equal(winners_recipe(&winners, precision_find("double"), 0), &winners.recipes[0]);
    assert_null(winners_recipe(&winners, precision_find("double"), 1));
    assert_null(winners_recipe(&winners, precision_find("half"), 0));
    assert_null(winners_recipe(&winners, precision_find("single"), -1));
}

static void winners_come_back(void **state)
{
    (void) state;
    struct text first = { 0 }, second = { 0 };
    parse(good, &winners);
    winners_format(&winners, &first);
    parse(first.bytes, &again);
    winners_format(&again, &second);
    assert_false(first.failed || second.failed);
    assert_string_equal(first.bytes, second.bytes);
    assert_int_equal(again.num_recipes, winners.num_recipes);
    assert_int_equal(again.num_pins, winners.num_pins);
    assert_int_equal(again.num_losses, winners.num_losses);
    for (unsigned i = 0; i < winners.num_recipes; i++)
        assert_memory_equal(&again.recipes[i].time, &winners.recipes[i].time,
                sizeof again.recipes[i].time);
    assert_memory_equal(&again.facts.value, &winners.facts.value, sizeof winners.facts.value);
    text_free(&first);
    text_free(&second);
}

static void the_last_newline_may_be_missing(void **state)
{
    (void) state;
    parse("kiln-winners\t4\nbundle\ttest", &winners);
    assert_string_equal(winners.name, "test");
    assert_int_equal(winners.num_recipes, 0);
}

static void lines_may_end_as_on_windows(void **state)
{
    (void) state;
    parse("kiln-winners\t4\r\nbundle\ttest\r\n\r\n# more\r\nfact\tUNITS\t7\r\n", &winners);
    assert_string_equal(winners.name, "test");
    assert_int_equal(winners.facts.value[FACT_UNITS], 7);
}

#define COEFFICIENT "line 4: a coefficient is a number, not negative and at most 1e18"
#define TWICE "line 3: a row that is there already"
#define REPEATED \
    "a recipe that is there already: single direct WGM=8 WGN=8 TM=4 NV=1 VEC=4 KU=1 INDEX=64"
#define LOSS "line 3: a loss has a precision, a kind, a number of shapes and three factors"

static void each_error_is_told(void **state)
{
    (void) state;
    const struct {
        const char *text, *error;
    } rows[] = {
        { "", "empty" },
        { "kiln-winners\t3\n", "line 1: not a kiln-winners file, version 4" },
        { "kiln-winners\t5\n", "line 1: not a kiln-winners file, version 4" },
        { "kiln-journal\t2\n", "line 1: not a kiln-winners file, version 4" },
        { "kiln-winners\t4\n", "no bundle row" },
        { HEAD "winner\tx\n", "line 3: unknown row" },
        { HEAD "driver\n", "line 3: expected one text, not too long" },
        { HEAD "platform\ta\tb\n", "line 3: expected one text, not too long" },
        { HEAD "driver\t3.1|\n", "line 3: a pattern of a driver is empty" },
        { HEAD "driver\t|3.1\n", "line 3: a pattern of a driver is empty" },
        { HEAD "verified\t3.1||5.0\n", "line 3: a pattern of a driver is empty" },
        { HEAD "bundle\tanother\n", TWICE },
        { "kiln-winners\t4\nbundle\ta b\n",
                "line 2: a bundle's name is made of letters, digits, . _ -" },
        { "kiln-winners\t4\nbundle\tx*/\n",
                "line 2: a bundle's name is made of letters, digits, . _ -" },
        { HEAD RECIPE "recipe\tdouble\tdirect TM=4 VEC=4\t0\t0\t0\t0\n" RECIPE, REPEATED },
        { HEAD RECIPE RECIPE "kind\tsingle\t0\tcpu\t4\nkind\tsingle\t1\tcpu\t8\n", REPEATED },
        { HEAD "verified\t5.0\nverified\t6.0\n", "line 4: a row that is there already" },
        { HEAD "vector\t4\nvector\t8\n", "line 4: a row that is there already" },
        { HEAD "vector\tmany\n", "line 3: vector is a number" },
        { HEAD "vector\t-1\n", "line 3: vector is a number" },
        { HEAD "fact\tMAX_ITEMS\n", "line 3: a fact has a name and a number" },
        { HEAD "fact\tMAX_ITEMS\tx\n", "line 3: a fact has a name and a number" },
        { HEAD "fact\tMAX_ITEMS\t99999999999999999999\n",
                "line 3: a fact has a name and a number" },
        { HEAD "fact\tWEIGHT\t1\n", "line 3: unknown fact" },
        { HEAD "recipe\tsingle\tdirect\t0\t0\t0\n",
                "line 3: a recipe has a precision, a configuration and four hashes" },
        { HEAD "recipe\tquad\tdirect\t0\t0\t0\t0\n", "line 3: unknown precision" },
        { HEAD "recipe\tsingle\tdirekt\t0\t0\t0\t0\n", "line 3: no family 'direkt'" },
        { HEAD "recipe\tsingle\tdirect TM=5\t0\t0\t0\t0\n",
                "line 3: 'TM=5': TM is one of: 1 2 4 6 8 12 14" },
        { HEAD "recipe\tsingle\tdirect\t0\tx\t0\t0\n", "line 3: a hash is hexadecimal" },
        { HEAD "recipe\tsingle\tdirect\t0\t0\t\t0\n", "line 3: a hash is hexadecimal" },
        { HEAD "anchor\tsingle\t1\n", "line 3: unknown row" },
        { HEAD "regret\tsingle\t1\t1\n", "line 3: unknown row" },
        { HEAD RECIPE "time\tsingle\t0\t1" ZEROS "\n",
                "line 4: a time has a precision, a recipe and a coefficient for each term" },
        { HEAD RECIPE "time\tsingle\t0\t1\t2\t3\t4" ZEROS "\n",
                "line 4: a time has a precision, a recipe and a coefficient for each term" },
        { HEAD RECIPE "time\tquad\t0\t1\t2" ZEROS "\n", "line 4: unknown precision" },
        { HEAD RECIPE "time\tsingle\t1\t1\t2" ZEROS "\n",
                "line 4: a time is of a recipe above it" },
        { HEAD RECIPE "time\thalf\t0\t1\t2" ZEROS "\n", "line 4: a time is of a recipe above it" },
        { HEAD RECIPE "time\tsingle\t-1\t1\t2" ZEROS "\n",
                "line 4: a time is of a recipe above it" },
        { HEAD "time\tsingle\t0\t1\t2" ZEROS "\n" RECIPE,
                "line 3: a time is of a recipe above it" },
        { HEAD RECIPE "time\tsingle\t0\t1\t2" ZEROS "\ntime\tsingle\t0\t1\t2" ZEROS "\n",
                "line 5: a recipe has one time" },
        { HEAD "recipe\tsingle\tmirror\t0\t0\t0\t0\ntime\tsingle\t0\t1\t2" ZEROS "\n",
                "line 4: a recipe that mirrors has no time" },
        { HEAD RECIPE "time\tsingle\t0\t1\t-2" ZEROS "\n", COEFFICIENT },
        { HEAD RECIPE "time\tsingle\t0\t1\tnan" ZEROS "\n", COEFFICIENT },
        { HEAD RECIPE "time\tsingle\t0\tinf\t2" ZEROS "\n", COEFFICIENT },
        { HEAD RECIPE "time\tsingle\t0\t1e19\t2" ZEROS "\n", COEFFICIENT },
        { HEAD RECIPE "time\tsingle\t0\t\t2" ZEROS "\n", COEFFICIENT },
        { HEAD RECIPE "time\tsingle\t0\t1x\t2" ZEROS "\n", COEFFICIENT },
        { HEAD RECIPE "pin\tsingle\t1\t1\t1\t0\t0\t0\n",
                "line 4: a pin has a precision, three extents and four recipes" },
        { HEAD RECIPE "pin\tsingle\t1\t1\t1\tbatch=16777217\t0\t0\t0\t0\n",
                "line 4: a pin has a precision, three extents and four recipes" },
        { HEAD RECIPE "pin\tsingle\t1\t1\t1\tbatch=0\t0\t0\t0\t0\n",
                "line 4: a pin has a precision, three extents and four recipes" },
        { HEAD RECIPE "pin\tsingle\t1\t1\t1\t0\t0\t0\t0\tbatch=2\n",
                "line 4: a pin has a precision, three extents and four recipes" },
        { HEAD RECIPE "pin\tquad\t1\t1\t1\t0\t0\t0\t0\n", "line 4: unknown precision" },
        { HEAD RECIPE "pin\tsingle\t0\t1\t1\t0\t0\t0\t0\n",
                "line 4: an extent is a positive number" },
        { HEAD RECIPE "pin\tsingle\t1\t2147483648\t1\t0\t0\t0\t0\n",
                "line 4: an extent is a positive number" },
        { HEAD RECIPE "pin\tsingle\t1\t1\tx\t0\t0\t0\t0\n",
                "line 4: an extent is a positive number" },
        { HEAD RECIPE "pin\tsingle\t1\t1\t1\t0\t0\t0\t1\n",
                "line 4: a pin names a recipe above it, or -" },
        { HEAD RECIPE "pin\tsingle\t1\t1\t1\tx\t0\t0\t0\n",
                "line 4: a pin names a recipe above it, or -" },
        { HEAD RECIPE "pin\tsingle\t1\t1\t1\t-1\t0\t0\t0\n",
                "line 4: a pin names a recipe above it, or -" },
        { HEAD RECIPE "pin\tdouble\t1\t1\t1\t0\t-\t-\t-\n",
                "line 4: a pin names a recipe above it, or -" },
        { HEAD "loss\tsingle\tall\t1\t1\t1\n", LOSS },
        { HEAD "loss\tquad\tall\t1\t1\t1\t1\n", LOSS },
        { HEAD "loss\tsingle\tall\tx\t1\t1\t1\n", LOSS },
        { HEAD "loss\tsingle\tall\t1\t-1\t1\t1\n", LOSS },
        { HEAD "loss\tsingle\tall\t1\t1\tnan\t1\n", LOSS },
        { HEAD "loss\tsingle\tall\t1\t1\t1\tx\n", LOSS },
        { HEAD "loss\tsingle\tfour and twenty\t1\t1\t1\t1\t1\n", LOSS },
        { HEAD "loss\tsingle\tfour and twenty.\t1\t1\t1\t1\n", LOSS },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char error[FAMILY_ERROR_BYTES] = "";
        if (winners_parse(rows[i].text, &winners, error))
            fail_msg("not refused: %s", rows[i].text);
        assert_string_equal(error, rows[i].error);
    }
}

/* For different kinds, or for all of C and a triangle of it, a recipe may be there twice. */
static void a_recipe_may_be_for_each_kind(void **state)
{
    (void) state;
    parse(HEAD RECIPE RECIPE "triangle\tsingle\tdirect TM=4 VEC=4\t0\t0\t0\t0\n"
                             "kind\tsingle\t0\tcpu\t4\nkind\tsingle\t1\tother\t0\n",
            &winners);
    assert_int_equal(winners.num_recipes, 3);
}

static void names_are_for_paths_and_c(void **state)
{
    static const char longest[] = "123456789012345678901234567890123456789012345678901234567890123";
    char longer[66];
    (void) state;
    snprintf(longer, sizeof longer, "%s4", longest);
    assert_true(winners_is_name("pocl-avx512_2.B") && winners_is_name(longest));
    assert_false(winners_is_name("") || winners_is_name(longer));
    assert_false(winners_is_name("a b") || winners_is_name("a/b") || winners_is_name("a\"b"));
}

/* `times` rows more than the head. */
static void check_too_many(const char *row, int times, const char *expected)
{
    char error[FAMILY_ERROR_BYTES] = "";
    struct text text = { 0 };
    text_add(&text, HEAD);
    for (int i = 0; i < times; i++)
        text_add(&text, "%s", row);
    assert_false(winners_parse(text.bytes, &winners, error));
    assert_string_equal(error, expected);
    text_free(&text);
}

/* Files from before the terms of operands that are not transposed, before that of products, and
 * before that of operands that are in no cache. */
static void times_of_older_files_are_read(void **state)
{
    (void) state;
    parse(HEAD RECIPE "time\tsingle\t0" ZEROS "\t1\t2\t3\n", &winners);
    assert_true(winners.recipes[0].time.coefficient[KILN_TERM_KEPT] == 3);
    assert_true(winners.recipes[0].time.coefficient[KILN_TERM_FETCHED_PLAIN_A] == 0);
    parse(HEAD RECIPE "time\tsingle\t0" ZEROS "\t1\t2\t3\t4\t5\n", &winners);
    assert_true(winners.recipes[0].time.coefficient[KILN_TERM_FETCHED_PLAIN_B] == 5);
    assert_true(winners.recipes[0].time.coefficient[KILN_TERM_PRODUCTS] == 0);
    parse(HEAD RECIPE "time\tsingle\t0" ZEROS "\t1\t2\t3\t4\t5\t6\n", &winners);
    assert_true(winners.recipes[0].time.coefficient[KILN_TERM_PRODUCTS] == 6);
    assert_true(winners.recipes[0].time.coefficient[KILN_TERM_FETCHED_UNCACHED] == 0);
    parse(HEAD RECIPE "time\tsingle\t0" ZEROS "\t1\t2\t3\t4\t5\t6\t7\n", &winners);
    assert_true(winners.recipes[0].time.coefficient[KILN_TERM_FETCHED_UNCACHED] == 7);
}

static void limits_are_told(void **state)
{
    (void) state;
    char line[2000];
    char error[FAMILY_ERROR_BYTES];
    check_too_many(RECIPE, WINNERS_MAX_RECIPES + 1, "line 259: too many recipes");
    check_too_many("pin\tsingle\t1\t1\t1\t-\t-\t-\t-\n", WINNERS_MAX_PINS + 1,
            "line 387: too many pins");
    check_too_many("loss\tsingle\tall\t1\t1\t1\t1\n", WINNERS_MAX_LOSSES + 1,
            "line 35: a loss has a precision, a kind, a number of shapes and three factors");
    memset(line, 'x', sizeof line);
    memcpy(line, HEAD, strlen(HEAD));
    line[sizeof line - 1] = '\0';
    assert_false(winners_parse(line, &winners, error));
    assert_string_equal(error, "line 3: too long");
}

/* ---- Into a bundle ---- */

static void winners_become_a_bundle(void **state)
{
    (void) state;
    struct assembly assembly;
    char error[FAMILY_ERROR_BYTES] = "";
    parse(good, &winners);
    if (!winners_assemble(&winners, &assembly, error))
        fail_msg("%s", error);
    const struct kiln_bundle *bundle = &assembly.bundle;
    assert_string_equal(bundle->name, "test");
    assert_string_equal(bundle->match.platform, "Portable*");
    assert_string_equal(bundle->match.driver, "3.1");
    assert_string_equal(bundle->match.verified, "5.0|6.*");
    assert_int_equal(bundle->match.native_vector_float, 16);
    assert_int_equal(bundle->traits.is_cpu, 1);
    assert_int_equal(bundle->traits.compute_units, 132);
    assert_int_equal(bundle->traits.native_vector_float, 16);
    assert_int_equal(bundle->traits.local_bytes, LOCAL_BYTES_TOLD);
    assert_int_equal(bundle->traits.compute_capability, 90);
    assert_int_equal(bundle->num_recipes, 3 * NUM_PAIRS);
    assert_int_equal(bundle->num_pins, 2);
    for (uint32_t i = 0; i < bundle->num_pins; i++)
        for (unsigned pair = 0; pair < NUM_PAIRS; pair++) {
            const uint16_t at = bundle->pins[i].recipe[pair];
            if (at == KILN_NO_RECIPE)
                continue;
            assert_true(at < bundle->num_recipes);
            assert_int_equal(bundle->recipes[at].precision, bundle->pins[i].precision);
            assert_int_equal(2 * bundle->recipes[at].transa + bundle->recipes[at].transb, pair);
        }
    assert_int_equal(bundle->pins[0].batch, 1);
    assert_int_equal(bundle->pins[1].batch, 12);
    const struct kiln_pin *single = &bundle->pins[0];
    assert_int_equal(single->precision, KILN_ID_SINGLE);
    assert_int_equal(single->m, 1024);
    assert_int_equal(single->n, 1000);
    assert_int_equal(single->k, 999);
    assert_int_equal(single->recipe[3], KILN_NO_RECIPE);
    assert_non_null(strstr(bundle->recipes[single->recipe[0]].name, "TM=12"));
    assert_non_null(strstr(bundle->recipes[single->recipe[2]].name, "direct"));
    /* A time is that of its recipe for all four pairs. */
    for (uint32_t i = 0; i < bundle->num_recipes; i++) {
        const struct kiln_recipe *recipe = &bundle->recipes[i];
        const bool is_direct = strstr(recipe->name, "direct") != NULL;
        assert_int_equal(recipe->time == NULL, is_direct);
        if (!is_direct)
            assert_memory_equal(recipe->time,
                    &winners.recipes[recipe->precision == KILN_ID_DOUBLE ? 0 : 2].time,
                    sizeof *recipe->time);
    }
    assembly_free(&assembly);
}

static void absent_globs_match_anything(void **state)
{
    (void) state;
    struct assembly assembly;
    char error[FAMILY_ERROR_BYTES];
    parse(HEAD RECIPE, &winners);
    assert_true(winners_assemble(&winners, &assembly, error));
    assert_null(assembly.bundle.match.platform);
    assert_null(assembly.bundle.match.device);
    assert_null(assembly.bundle.match.driver);
    assert_null(assembly.bundle.match.verified);
    assert_int_equal(assembly.bundle.traits.compute_units, 0);
    assert_int_equal(assembly.bundle.num_pins, 0);
    assembly_free(&assembly);
}

static void winners_must_be_legal_for_their_facts(void **state)
{
    (void) state;
    struct assembly assembly;
    char error[FAMILY_ERROR_BYTES];
    parse(HEAD "recipe\tsingle\tpacked TM=12 NV=2 VEC=16\t0\t0\t0\t0\n", &winners);
    assert_false(winners_assemble(&winners, &assembly, error));
    assert_string_equal(error, "illegal configuration: vectors wider than the device's");
    assembly_free(&assembly);
}

static void what_a_bundle_must_have_is_told(void **state)
{
    (void) state;
    static const char no_driver
            [] = "a row verified needs a row driver, of the versions that the bundle was tuned on",
   no_traits[] = "a row verified needs the rows fact and platform: relatives are told by them",
   in_process[] = "the platform's compiler runs in the application's process: a row driver is "
                  "needed, and it and the row verified must name the versions that were tried";
#define POCL HEAD "platform\tPortable*\nfact\tUNITS\t2\n"
    static const struct {
        const char *text, *wanting;
    } rows[] = {
        { HEAD, NULL },
        { HEAD "platform\tNVIDIA*\n", NULL },
        { HEAD "platform\tNVIDIA*\nfact\tUNITS\t2\ndriver\t*\nverified\t*\n", NULL },
        { POCL, in_process },
        { POCL "driver\t*\n", in_process },
        { POCL "driver\t3.1|**\n", in_process },
        { POCL "driver\t3.1|5.*\n", NULL },
        { POCL "driver\t3.1\nverified\t*\n", in_process },
        { POCL "driver\t3.1\nverified\t*|5.0\n", in_process },
        { POCL "driver\t3.1\nverified\t5.*|6.0\n", NULL },
        { POCL "verified\t5.0\n", no_driver },
        { HEAD "fact\tUNITS\t2\ndriver\t3.1\nverified\t5.0\n", no_traits },
        { HEAD "platform\tPortable*\ndriver\t3.1\nverified\t5.0\n", no_traits },
    };
#undef POCL
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        parse(rows[i].text, &winners);
        const char *wanting = winners_wanting(&winners);
        if (rows[i].wanting)
            assert_string_equal(wanting, rows[i].wanting);
        else
            assert_null(wanting);
    }
}

static void hashes_are_those_of_the_text(void **state)
{
    (void) state;
    struct assembly assembly;
    char error[FAMILY_ERROR_BYTES];
    parse(good, &winners);
    assert_true(winners_rehash(&winners, error));
    assert_true(winners_assemble(&winners, &assembly, error));
    for (unsigned i = 0; i < winners.num_recipes; i++)
        for (int pair = 0; pair < NUM_PAIRS; pair++) {
            bool found = false;
            for (uint32_t p = 0; p < assembly.bundle.num_programs; p++) {
                char *text = pool_text(&assembly.bundle.pool, &assembly.programs[p]);
                assert_non_null(text);
                found = found || tokens_hash(text) == winners.recipes[i].hash[pair];
                free(text);
            }
            assert_true(found && winners.recipes[i].hash[pair]);
        }
    assembly_free(&assembly);
}

static void the_comment_tells_the_loss(void **state)
{
    (void) state;
    struct text text = { 0 };
    parse(good, &winners);
    winners_comment(&winners, &text);
    assert_non_null(strstr(text.bytes, "Bundle test: tuned on a device"));
    assert_non_null(strstr(text.bytes, "single: 1.2 % slower"));
    assert_non_null(strstr(text.bytes, "mean of 9\n"));
    text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_mean_what_they_say),
        cmocka_unit_test(winners_come_back),
        cmocka_unit_test(the_last_newline_may_be_missing),
        cmocka_unit_test(lines_may_end_as_on_windows),
        cmocka_unit_test(each_error_is_told),
        cmocka_unit_test(a_recipe_may_be_for_each_kind),
        cmocka_unit_test(names_are_for_paths_and_c),
        cmocka_unit_test(times_of_older_files_are_read),
        cmocka_unit_test(limits_are_told),
        cmocka_unit_test(winners_become_a_bundle),
        cmocka_unit_test(absent_globs_match_anything),
        cmocka_unit_test(winners_must_be_legal_for_their_facts),
        cmocka_unit_test(what_a_bundle_must_have_is_told),
        cmocka_unit_test(hashes_are_those_of_the_text),
        cmocka_unit_test(the_comment_tells_the_loss),
    };
    return cmocka_run_group_tests_name("winners", tests, NULL, NULL);
}
