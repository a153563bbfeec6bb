/* test_rechoose.c: a committed bundle, chosen from anew by times that are known, generator/core. */
#include "wide.h"
#include "assemble.h"
#include "draw.h"
#include "files.h"
#include "forms.h"
#include "predict.h"
#include "rechoose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHAPES = 180, MOST_TIMED = 40 };

static struct winners old, now;
static struct bench bench;
static struct select_budget budget;
static struct rechosen done[KILN_NUM_PRECISIONS];
static unsigned num_done;
static uint32_t units; /* of the device that was measured; 0: of the bundle's */
static char error[FAMILY_ERROR_BYTES];

static int read_bundle(void **state)
{
    char cause[FILES_ERROR_BYTES];
    char *text = files_read(TEST_TUNED "/pocl-avx2/winners.tsv", cause);
    (void) state;
    if (!text || !winners_parse(text, &old, error))
        fail_msg("%s%s", text ? "" : cause, error);
    free(text);
    return 0;
}

/* How long a recipe takes by its coefficients; 0: it does not take the shape. */
static double seconds_of(const struct winner *winner, const struct bench_row *row)
{
    const struct problem problem = winner_problem(winner, row->pair);
    const struct kiln_product product = product_dense(&problem, row->shape);
    struct kiln_recipe recipe;
    if (!assemble_traits(&winner->config, &problem, &old.facts, &recipe, error))
        fail_msg("%s", error);
    recipe.time = &winner->time;
    const uint32_t some = units ? units : (uint32_t) old.facts.value[FACT_UNITS];
    return kiln_guard_takes(&recipe.guard, &product)
                 ? (double) kiln_time_predict(&recipe, &product, some) * 1e-12
                 : 0;
}

static void time_row(struct bench_row *row, const struct winner *slow, double factor)
{
    row->times = calloc(MOST_TIMED, sizeof *row->times);
    assert_non_null(row->times);
    for (unsigned i = 0; i < old.num_recipes; i++) {
        const struct winner *winner = &old.recipes[i];
        const double seconds = winner->precision == row->precision && !form_is(winner)
                                     ? seconds_of(winner, row)
                                     : 0;
        if (seconds > 0 && row->num_times < MOST_TIMED)
            row->times[row->num_times++] = (struct bench_time){
                .config = winner->config,
                .seconds = seconds * (winner == slow ? factor : 1),
            };
    }
}

/* The recipe that the bundle believes to be the fastest for a cube. */
static const struct winner *believed(const struct precision *precision)
{
    const struct bench_row cube = { .precision = precision, .m = 512, .n = 512, .k = 512 };
    const struct winner *winner, *best = NULL;
    double least = 0;
    for (int i = 0; (winner = winners_recipe(&old, precision, i)); i++) {
        const double seconds = form_is(winner) ? 0 : seconds_of(winner, &cube);
        if (seconds > 0 && (!best || seconds < least)) {
            best = winner;
            least = seconds;
        }
    }
    return best;
}

/* As if the bench had timed all recipes of double precision, of which one takes `factor` times as
 * long as the bundle believes. */
static void measure(unsigned shapes, double factor)
{
    const struct draw_limits limits = { 1000000, 2000000000, 1 << 24, 4096 };
    const struct precision *precision = precision_find("double");
    struct draw draw;
    draw_begin(&draw, "test", 1, &limits);
    bench = (struct bench){ .units = units, .rows = calloc(shapes, sizeof *bench.rows) };
    snprintf(bench.device, sizeof bench.device, "a device");
    while (bench.num_rows < shapes) {
        struct drawn drawn;
        if (!draw_shape(&draw, &drawn))
            continue;
        struct bench_row *row = &bench.rows[bench.num_rows++];
        *row = (struct bench_row){ .precision = precision,
            .pair = 2 * drawn.transa + drawn.transb,
            .m = drawn.m,
            .n = drawn.n,
            .k = drawn.k };
        time_row(row, believed(precision), factor);
    }
}

static int forget(void **state)
{
    (void) state;
    bench_free(&bench);
    units = 0;
    return 0;
}

/* What was done to the bundle, too. */
static int forget_all(void **state)
{
    forget(state);
    return read_bundle(state);
}

static bool choose(void)
{
    return rechoose(&old, &bench, 1, &budget, &now, done, &num_done, error);
}

static void what_is_slower_is_believed(void **state)
{
    (void) state;
    measure(SHAPES, 3);
    if (!choose())
        fail_msg("%s", error);
    assert_int_equal(num_done, 1);
    assert_string_equal(done[0].precision->name, "double");
    assert_int_equal(done[0].shapes, SHAPES);
    assert_in_range(done[0].held, SHAPES / RECHOOSE_HELD_ONE_OF / 2,
            2 * SHAPES / RECHOOSE_HELD_ONE_OF);
    assert_true(done[0].now < 1 + (done[0].before - 1) / 2); /* whatever the bundle is */
    assert_true(done[0].recipes <= done[0].of);
}

/* Shapes of all kinds are held out, whose classes take turns in what is measured. */
static void all_kinds_are_held_out(void **state)
{
    (void) state;
    measure(SHAPES, 1);
    assert_true(choose());
    for (unsigned kind = 0; kind < DRAW_NUM_KINDS; kind++) {
        const struct winner_loss *loss = winners_loss(&now, done[0].precision,
                draw_kind_names[kind]);
        assert_non_null(loss);
        assert_in_range(loss->shapes, 1, done[0].held - 1);
    }
}

/* Twice the same shapes are as many shapes as once. */
static void repeats_are_no_more_shapes(void **state)
{
    (void) state;
    measure(RECHOOSE_LEAST_SHAPES - 1, 1);
    const struct bench twice[] = { bench, bench };
    assert_false(rechoose(&old, twice, 2, &budget, &now, done, &num_done, error));
    assert_non_null(strstr(error, "at 39 shapes"));
}

/* At the same shapes a device with more compute units takes other times. */
static void larger_devices_are_told_apart(void **state)
{
    (void) state;
    units = 16;
    measure(SHAPES, 1);
    if (!choose())
        fail_msg("%s", error);
    assert_true(done[0].before == 1);
    assert_true(done[0].now < 1.01);
    bench.units = 0; /* as if one of the bundle's size had taken them */
    assert_true(choose());
    assert_true(done[0].before > 1.01);
    bench_free(&bench);
    units = (uint32_t) old.facts.value[FACT_UNITS];
    measure(RECHOOSE_LEAST_SHAPES - 1, 1);
    struct bench alike[] = { bench, bench }; /* one that does not say it, and one that does */
    alike[1].units = 0;
    assert_false(rechoose(&old, alike, 2, &budget, &now, done, &num_done, error));
    assert_non_null(strstr(error, "at 39 shapes"));
    struct bench both[] = { bench, bench };
    both[1].units = 64;
    assert_true(rechoose(&old, both, 2, &budget, &now, done, &num_done, error));
    assert_int_equal(done[0].shapes, 2 * (RECHOOSE_LEAST_SHAPES - 1));
}

/* A batch of a shape is another shape; of its times are learnt the same coefficients. */
static void batches_are_fitted_to(void **state)
{
    const struct precision *precision = precision_find("double");
    (void) state;
    measure(SHAPES, 1);
    for (size_t i = 1; i < bench.num_rows; i += 2) {
        struct bench_row *row = &bench.rows[i], *before = row - 1;
        free(row->times);
        *row = (struct bench_row){ .precision = precision,
            .pair = before->pair,
            .batch = 2 + i % 7,
            .m = before->m,
            .n = before->n,
            .k = before->k };
        time_row(row, believed(precision), 3);
        free(before->times);
        before->times = NULL;
        before->num_times = 0;
        time_row(before, believed(precision), 3);
    }
    if (!rechoose_times(&old, &bench, 1, NULL, &now, done, &num_done, error))
        fail_msg("%s", error);
    assert_int_equal(done[0].shapes, SHAPES);
    assert_true(done[0].now < 1 + (done[0].before - 1) / 2);
}

static void the_bench_tells_how_large(void **state)
{
    (void) state;
    assert_true(bench_parse("{\"format\": \"kiln-bench 2\", "
                            "\"device\": {\"name\": \"x\", \"compute_units\": 16}}",
            &bench, error));
    assert_int_equal(bench.units, 16);
    assert_true(bench_parse("{\"format\": \"kiln-bench 2\", \"device\": {\"name\": \"x\"}}", &bench,
            error));
    assert_int_equal(bench.units, 0);
    assert_true(bench_parse("{\"format\": \"kiln-bench 2\", \"device\": {\"name\": \"x\"}, "
                            "\"comparison\": {\"rows\": [{\"precision\": \"S\", "
                            "\"transpose\": \"nt\", \"m\": 1, \"n\": 2, \"k\": 3}, "
                            "{\"precision\": \"S\", \"transpose\": \"nt\", "
                            "\"m\": 1, \"n\": 2, \"k\": 3, \"batch\": 12}]}}",
            &bench, error));
    assert_int_equal(bench.num_rows, 2);
    assert_int_equal(bench.rows[0].batch, 0);
    assert_int_equal(bench.rows[1].batch, 12);
    bench_free(&bench);
}

/* Times that are as was believed change no choice. */
static void what_is_as_believed_stays(void **state)
{
    (void) state;
    measure(SHAPES, 1);
    if (!choose())
        fail_msg("%s", error);
    assert_true(done[0].before == 1);
    assert_true(done[0].now < 1.01);
}

static void other_precisions_stay(void **state)
{
    (void) state;
    measure(SHAPES, 3);
    assert_true(choose());
    for (size_t p = 0; p < KILN_NUM_PRECISIONS; p++) {
        const struct winner *winner;
        for (int i = 0; (winner = winners_recipe(&old, &precisions[p], i)); i++)
            if (&precisions[p] != done[0].precision)
                assert_memory_equal(winner, winners_recipe(&now, &precisions[p], i),
                        sizeof *winner);
        const struct winner_loss *loss = winners_loss(&old, &precisions[p], "all");
        if (loss && &precisions[p] != done[0].precision)
            assert_memory_equal(loss, winners_loss(&now, &precisions[p], "all"), sizeof *loss);
    }
    assert_string_equal(now.name, old.name);
    assert_string_equal(now.driver, old.driver);
    assert_string_equal(now.verified, old.verified);
    if (!forms_add(&now, error)) /* and so does the rest of the bundle */
        fail_msg("%s", error);
}

/* Whatever is chosen, a shape of the application's own keeps its recipe. */
static void pins_stay(void **state)
{
    const struct precision *precision = precision_find("double");
    (void) state;
    old.num_pins = 1;
    old.pins[0] = (struct winner_pin){ precision, { { 10, 20, 30, 0 } }, { 0, 1, -1, 0 } };
    measure(SHAPES, 100);
    assert_true(choose());
    if (!forms_add(&now, error))
        fail_msg("%s", error);
    assert_int_equal(now.num_pins, 1);
    for (int pair = 0; pair < NUM_PAIRS; pair++) {
        const struct winner *was = winners_recipe(&old, precision, old.pins[0].recipe[pair]);
        const struct winner *is = winners_recipe(&now, precision, now.pins[0].recipe[pair]);
        assert_int_equal(!!was, !!is);
        assert_true(!was || config_equal(&was->config, &is->config));
    }
    old.num_pins = 0;
}

/* The times of one family, or of all: the choice is not worse, and recipes are the same. Where it
 * is all, what is lost is told anew, of that precision. */
static void times_alone_are_fitted(void **state)
{
    const struct precision *precision = precision_find("double");
    const struct family *family = winners_recipe(&old, precision, 0)->config.family;
    (void) state;
    measure(SHAPES, 3);
    for (int all = 0; all < 2; all++) {
        unsigned others = 0;
        if (!rechoose_times(&old, &bench, 1, all ? NULL : family, &now, done, &num_done, error))
            fail_msg("%s", error);
        assert_int_equal(num_done, 1);
        assert_int_equal(now.num_recipes, old.num_recipes);
        for (unsigned i = 0; i < old.num_recipes; i++) {
            struct winner was = old.recipes[i], is = now.recipes[i];
            const bool may_change = was.precision == precision &&
                                    (all || was.config.family == family);
            others += was.precision == precision && was.config.family != family;
            if (may_change) {
                was.time = is.time;
                memcpy(was.hash, is.hash, sizeof was.hash);
            }
            assert_memory_equal(&was, &is, sizeof was);
        }
        assert_true(others > 0);
        assert_true(all ? done[0].recipes > 1 : done[0].recipes < done[0].of);
        assert_true(!all || done[0].now < 1 + (done[0].before - 1) / 2);
        for (size_t p = 0; p < KILN_NUM_PRECISIONS; p++) {
            const struct winner_loss *was = winners_loss(&old, &precisions[p], "all");
            const struct winner_loss *is = winners_loss(&now, &precisions[p], "all");
            const bool is_new = all && &precisions[p] == precision;
            assert_int_equal(was != NULL, is != NULL);
            assert_true(!was || (was->shapes == is->shapes && was->mean == is->mean) != is_new);
            assert_true(!is_new || (is->shapes == done[0].held && is->mean == done[0].now));
        }
        assert_true(all || now.num_losses == old.num_losses);
    }
    assert_false(
            rechoose_times(&old, &bench, 1, family_find("async"), &now, done, &num_done, error));
    assert_string_equal(error, "no recipe of async was timed");
    for (size_t i = 0; i < bench.num_rows; i++) /* one of the bundle that was not measured */
        for (size_t t = 0; t < bench.rows[i].num_times; t++)
            if (bench.rows[i].times[t].config.family == family)
                bench.rows[i].times[t].config.family = NULL;
    assert_false(rechoose_times(&old, &bench, 1, family, &now, done, &num_done, error));
    assert_non_null(strstr(error, "was timed"));
}

/* Where the text of a recipe has changed, what was measured says more than what is known. */
static void older_texts_tell_less(void **state)
{
    (void) state;
    const struct precision *precision = precision_find("double");
    const struct bench_row cube = { .precision = precision, .m = 512, .n = 512, .k = 512 };
    const ptrdiff_t slow = believed(precision) - old.recipes;
    const double before = seconds_of(&old.recipes[slow], &cube);
    double after[2];
    measure(SHAPES, 3);
    for (unsigned is_older = 0; is_older < 2; is_older++) {
        for (unsigned i = 0; i < old.num_recipes; i++)
            old.recipes[i].is_changed[i % NUM_PAIRS] = is_older;
        assert_true(rechoose_times(&old, &bench, 1, NULL, &now, done, &num_done, error));
        after[is_older] = seconds_of(&now.recipes[slow], &cube);
    }
    assert_true(before < after[0] && after[0] < after[1]);
}

/* The bundle's texts are those that were timed, or not, pair by pair. */
static void older_texts_are_found(void **state)
{
    (void) state;
    if (!winners_rehash(&old, error) || !winners_find_changed(&old, error))
        fail_msg("%s", error);
    for (unsigned i = 0; i < old.num_recipes; i++)
        for (int pair = 0; pair < NUM_PAIRS; pair++)
            assert_false(old.recipes[i].is_changed[pair]);
    old.recipes[1].hash[NUM_PAIRS - 1]++;
    old.recipes[2].hash[0] = 0; /* never timed */
    assert_true(winners_find_changed(&old, error));
    for (unsigned i = 0; i < old.num_recipes; i++)
        for (int pair = 0; pair < NUM_PAIRS; pair++)
            assert_int_equal(old.recipes[i].is_changed[pair], i == 1 && pair == NUM_PAIRS - 1);
}

static void refused(const char *why)
{
    assert_false(choose());
    if (!strstr(error, why))
        fail_msg("\"%s\" is not in \"%s\"", why, error);
    bench_free(&bench);
}

static void what_tells_nothing_is_refused(void **state)
{
    (void) state;
    measure(RECHOOSE_LEAST_SHAPES - 1, 1);
    refused("double: recipes of the bundle were timed at 39 shapes; 40 are the fewest");
    bench = (struct bench){ .num_rows = 0 };
    refused("no recipe of the bundle was timed");
    measure(SHAPES, 1);
    bench.rows[7].times[0].is_wrong = true;
    refused("was wrong");
    measure(SHAPES, 1);
    snprintf(old.device, sizeof old.device, "another one");
    refused("the bundle is for \"another one\", and \"a device\" was measured");
    old.device[0] = '\0';
    old.recipes[0].kinds = KILN_KIND_CPU;
    refused("of several kinds");
    old.recipes[0].kinds = 0;
    old.has_facts = false;
    refused("no facts");
    old.has_facts = true;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(what_is_slower_is_believed, forget),
        cmocka_unit_test_teardown(all_kinds_are_held_out, forget),
        cmocka_unit_test_teardown(repeats_are_no_more_shapes, forget),
        cmocka_unit_test_teardown(larger_devices_are_told_apart, forget),
        cmocka_unit_test_teardown(batches_are_fitted_to, forget_all),
        cmocka_unit_test_teardown(the_bench_tells_how_large, forget),
        cmocka_unit_test_teardown(what_is_as_believed_stays, forget),
        cmocka_unit_test_teardown(other_precisions_stay, forget),
        cmocka_unit_test_teardown(pins_stay, forget),
        cmocka_unit_test_teardown(times_alone_are_fitted, forget),
        cmocka_unit_test_teardown(older_texts_tell_less, forget_all),
        cmocka_unit_test_teardown(older_texts_are_found, forget_all),
        cmocka_unit_test(what_tells_nothing_is_refused),
    };
    return cmocka_run_group_tests_name("rechoose", tests, read_bundle, NULL);
}
