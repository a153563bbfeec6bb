/* test_edges.c: generator/tune/edges.c: an edge class has the extents that it claims, measured at
 * the tile and the further edges that the recipe's family states.
 *
 *     test_edges TUNED     the folder of the committed bundles
 */
#include "verify.h"
#include "winners.h"
#include "files.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

const struct kiln_bundle *const kiln_linked_bundles[] = { NULL };

static const char *tuned;

/* ---- What a class claims ---- */

enum { ALL = 3, MOST_WORK = 1 << 29, MOST_ELEMENTS = 1 << 25 };

static const struct edge_case *find(const struct edge_case *cases, unsigned num, const char *name)
{
    for (unsigned i = 0; i < num; i++)
        if (!strcmp(cases[i].name, name))
            return &cases[i];
    return NULL;
}

/* Whether there is a case with these extents, of which 0 is any, that multiplies. Where the guard
 * takes other extents only, one with what it makes of these. */
static bool has(const struct edge_case *cases, unsigned num, const struct kiln_guard *guard,
        const size_t wanted[ALL])
{
    size_t want[ALL] = { wanted[0], wanted[1], wanted[2] };
    verify_fit(guard, &want[0], &want[1], &want[2]);
    for (unsigned i = 0; i < num; i++) {
        const struct verify_case *of = &cases[i].of;
        if ((!wanted[0] || of->m == want[0]) && (!wanted[1] || of->n == want[1]) &&
                (!wanted[2] || of->k == want[2]) && of->m && of->n && of->k && of->alpha != 0)
            return true;
    }
    return false;
}

static void check_has(const struct edge_case *cases, unsigned num, const struct kiln_recipe *recipe,
        size_t m, size_t n, size_t k, const char *what)
{
    if (!has(cases, num, &recipe->guard, (const size_t[ALL]){ m, n, k }))
        fail_msg("%s: no case of %zu x %zu x %zu (0: any), %s", recipe->name, m, n, k, what);
}

static size_t less_one(size_t value)
{
    return value > 1 ? value - 1 : 1;
}

static void check_tile(const struct edge_case *cases, unsigned num,
        const struct kiln_recipe *recipe)
{
    const size_t m = recipe->tile[0], n = recipe->tile[1], k = recipe->tile[2];
    check_has(cases, num, recipe, m, n, k, "a tile");
    check_has(cases, num, recipe, less_one(m), less_one(n), less_one(k), "a tile less one");
    check_has(cases, num, recipe, m + 1, n + 1, k + 1, "a tile and one");
    check_has(cases, num, recipe, less_one(m), n, k + 1, "less, whole, more");
    check_has(cases, num, recipe, m + 1, less_one(n), k, "more, less, whole");
    check_has(cases, num, recipe, m, n + 1, less_one(k), "whole, more, less");
}

/* Several tiles and a rest, in C and in K, unless the guard forbids it. */
static void check_several(const struct edge_case *cases, unsigned num,
        const struct kiln_recipe *recipe)
{
    const struct kiln_guard *guard = &recipe->guard;
    bool rows = false, steps = false;
    for (unsigned i = 0; i < num; i++) {
        const struct verify_case *of = &cases[i].of;
        rows = rows || ((guard->most[0] || of->m > 2 * recipe->tile[0]) &&
                               (guard->most[1] || of->n > 2 * recipe->tile[1]) &&
                               (guard->m > 1 || guard->most[0] || of->m % recipe->tile[0] ||
                                       recipe->tile[0] == 1));
        steps = steps || (of->k > 2 * recipe->tile[2] &&
                                 (of->k % recipe->tile[2] || recipe->tile[2] == 1 || guard->k > 1));
    }
    assert_true(rows && steps);
}

static void check_edges(const struct edge_case *cases, unsigned num,
        const struct kiln_recipe *recipe, const struct assembly_edges *edges)
{
    for (unsigned d = 0; d < ALL; d++)
        for (unsigned e = 0; e < edges->num[d]; e++) {
            const size_t unit = edges->unit[d][e];
            const size_t around[] = { unit - 1, unit, unit + 1, 2 * unit + (unit / 2 | 1) };
            for (size_t i = 0; i < sizeof around / sizeof around[0]; i++) {
                size_t want[ALL] = { 0 };
                want[d] = around[i];
                check_has(cases, num, recipe, want[0], want[1], want[2], "a further edge");
            }
        }
}

static size_t num_blocks(const struct assembly_edges *edges, const struct verify_case *of)
{
    return (of->m + edges->block[0] - 1) / edges->block[0] *
           ((of->n + edges->block[1] - 1) / edges->block[1]);
}

/* Work-groups that take tiles in turn meet fewer tiles, one more, and more; all with steps to
 * share. */
static void check_turns(const struct edge_case *cases, unsigned num,
        const struct kiln_recipe *recipe, const struct assembly_edges *edges)
{
    const size_t border = (size_t) edges->turns * 3 / 4;
    bool fewer = false, one_more = false, several = false, shared = border < 2, full = border < 1;
    for (unsigned i = 0; i < num; i++) {
        const size_t tiles = num_blocks(edges, &cases[i].of);
        if (cases[i].of.k <= 2 * recipe->tile[2] || cases[i].of.alpha == 0)
            continue;
        fewer = fewer || tiles + 1 == edges->turns || edges->turns == 1;
        one_more = one_more || tiles == edges->turns + 1;
        several = several || tiles > 2 * edges->turns;
        shared = shared || tiles + 1 == border;
        full = full || tiles == border;
    }
    assert_true(!edges->turns || (fewer && one_more && several));
    assert_true(!recipe->shares || (shared && full));
}

static uint32_t parts_of(const struct kiln_recipe *recipe, const struct assembly_edges *edges,
        const struct verify_case *of)
{
    const struct kiln_product product = kiln_product_dense(recipe->precision,
            (size_t) of->problem.precision->element_bytes, of->problem.transa, of->problem.transb,
            of->m, of->n, of->alpha != 0 ? of->k : 0);
    return kiln_num_parts(recipe, &product, edges->room / recipe->unit_parts);
}

/* Where K is shared: just so and just not; several tiles, alpha and beta, padded rows and offsets;
 * and many parts of one tile, as far as the device has room for them. */
static void check_parts(const struct edge_case *cases, unsigned num,
        const struct kiln_recipe *recipe, const struct assembly_edges *edges)
{
    const size_t border = (size_t) (KILN_SHARED_STEPS - 1) * recipe->tile[2];
    bool not_yet = false, shared = false, several = edges->room < 4, many = edges->room < 9;
    for (unsigned i = 0; edges->room && i < num; i++) {
        const struct verify_case *of = &cases[i].of;
        const uint32_t parts = parts_of(recipe, edges, of);
        const bool is_placed = of->pad_c > 0 && of->offset_c > 0 && of->alpha != 1;
        not_yet = not_yet || (parts == 1 && of->k == border);
        shared = shared || (parts > 1 && of->k == border + 1 && is_placed && of->beta != 0);
        several = several || (parts > 1 && (of->m > recipe->tile[0] || of->n > recipe->tile[1]));
        many = many || parts > 8;
    }
    assert_true(!edges->room || (not_yet && shared && several && many));
}

static bool is_aligned(size_t ld, size_t offset, size_t element_bytes)
{
    return (ld | offset) * element_bytes % KILN_ALIGNED_BYTES == 0;
}

/* What is taken as it is where it is aligned meets each operand aligned and not, beside the other
 * one aligned and not. */
static void check_aligned(const struct edge_case *cases, unsigned num,
        const struct kiln_recipe *recipe)
{
    bool seen[2][2] = { { false } };
    for (unsigned i = 0; i < num; i++) {
        const struct verify_case *of = &cases[i].of;
        const size_t bytes = (size_t) of->problem.precision->element_bytes;
        const size_t lda = (of->problem.transa ? of->m : of->k) + of->pad_a;
        const size_t ldb = (of->problem.transb ? of->k : of->n) + of->pad_b;
        if (of->m && of->n && of->k && of->alpha != 0)
            seen[is_aligned(lda, of->offset_a, bytes)][is_aligned(ldb, of->offset_b, bytes)] = true;
    }
    assert_true(!recipe->as_is || (seen[0][0] && seen[0][1] && seen[1][0] && seen[1][1]));
}

/* Only a device with many work-groups has as many tiles. */
static double most_work(const struct edge_case *edge)
{
    return strncmp(edge->name, "turn", 4) ? MOST_WORK : 16.0 * MOST_WORK;
}

static void check_costs(const struct edge_case *cases, unsigned num)
{
    assert_in_range(num, 20, VERIFY_MAX_EDGES - 1);
    for (unsigned i = 0; i < num; i++) {
        const struct verify_case *of = &cases[i].of;
        for (unsigned j = 0; j < i; j++)
            assert_string_not_equal(cases[i].name, cases[j].name);
        if ((double) of->m * (double) of->n * (double) of->k > most_work(&cases[i]) ||
                of->m * of->n > MOST_ELEMENTS || of->m * of->k > MOST_ELEMENTS ||
                of->n * of->k > MOST_ELEMENTS)
            fail_msg("%s is %zu x %zu x %zu", cases[i].name, of->m, of->n, of->k);
    }
}

static void check_recipe(const struct problem *problem, const struct kiln_recipe *recipe,
        const struct assembly_edges *edges)
{
    struct edge_case cases[VERIFY_MAX_EDGES];
    const unsigned num = verify_edges(problem, recipe, edges, cases);
    check_costs(cases, num);
    check_tile(cases, num, recipe);
    check_several(cases, num, recipe);
    check_edges(cases, num, recipe, edges);
    check_turns(cases, num, recipe, edges);
    check_parts(cases, num, recipe, edges);
    check_aligned(cases, num, recipe);
}

static void check_config(const struct config *config, const struct problem *problem,
        const struct device_facts *facts)
{
    struct assembly assembly;
    char error[FAMILY_ERROR_BYTES];
    unsigned index;
    assert_true(assembly_init(&assembly, "edges", facts));
    if (!assembly_add(&assembly, config, problem, &index, error))
        fail_msg("%s", error);
    check_recipe(problem, &assembly.recipes[index], &assembly.edges[index]);
    assembly_free(&assembly);
}

/* ---- Recipes ---- */

static void check_bundle(const char *name)
{
    static struct winners winners;
    char path[4096], error[FILES_ERROR_BYTES];
    snprintf(path, sizeof path, "%s/%s/winners.tsv", tuned, name);
    char *text = files_read(path, error);
    assert_non_null(text);
    if (!winners_parse(text, &winners, error))
        fail_msg("%s: %s", path, error);
    free(text);
    assert_true(winners.num_recipes > 0);
    for (unsigned i = 0; i < winners.num_recipes; i++)
        for (int pair = 0; pair < NUM_PAIRS; pair++) {
            const struct problem problem = problem_of_pair(winners.recipes[i].precision, pair);
            check_config(&winners.recipes[i].config, &problem, &winners.facts);
        }
}

static void classes_of_committed_bundles_are_not_hollow(void **state)
{
    unsigned num = 0;
    DIR *folder = opendir(tuned);
    (void) state;
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s/winners.tsv", tuned, entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
        if (!file)
            continue;
        fclose(file);
        check_bundle(entry->d_name);
        num++;
    }
    closedir(folder);
    assert_true(num >= 3);
}

static void classes_of_presets_are_not_hollow(void **state)
{
    struct device_facts facts;
    unsigned num = 0;
    (void) state;
    facts_ample(&facts);
    facts.value[FACT_UNITS] = 132;
    for (size_t i = 0; i < num_families * KILN_NUM_PRECISIONS * NUM_PAIRS; i++) {
        const struct family *family = families[i / NUM_PAIRS / KILN_NUM_PRECISIONS];
        const struct problem problem = problem_of_pair(
                &precisions[i / NUM_PAIRS % KILN_NUM_PRECISIONS], (int) (i % NUM_PAIRS));
        for (unsigned p = 0; p < family->num_presets; p++) {
            struct config config;
            const char *reason;
            char error[FAMILY_ERROR_BYTES];
            assert_true(config_parse(family->presets[p].config, &config, error));
            if (!config_legal(&config, &problem, &facts, &reason))
                continue;
            check_config(&config, &problem, &facts);
            num++;
        }
    }
    assert_true(num > 100);
}

/* ---- Guards ---- */

static const struct assembly_edges no_edges;

static struct problem problem_nn(void)
{
    return (struct problem){ .precision = precision_find("single") };
}

static void edges_respect_guards(void **state)
{
    const struct problem problem = { precision_find("single"), true, false };
    const struct kiln_recipe recipe = { .tile = { 4, 16, 1 },
        .guard = { .m = 12, .n = 16, .k = 8, .a = 4, .b = 2, .c = 16 } };
    struct edge_case cases[VERIFY_MAX_EDGES];
    const unsigned num = verify_edges(&problem, &recipe, &no_edges, cases);
    (void) state;
    for (unsigned i = 0; i < num; i++) {
        const struct verify_case *of = &cases[i].of;
        assert_true(kiln_guard_takes_extents(&recipe.guard, of->m, of->n, of->k));
        assert_int_equal(of->offset_a % 4 + of->offset_b % 2 + of->offset_c % 16, 0);
        assert_int_equal(((of->m ? of->m : 1) + of->pad_a) % 4, 0);
        assert_int_equal(((of->n ? of->n : 1) + of->pad_b) % 2, 0);
        assert_int_equal(((of->n ? of->n : 1) + of->pad_c) % 16, 0);
    }
}

static void edges_respect_the_most(void **state)
{
    const struct problem problem = problem_nn();
    const struct kiln_recipe recipe = { .tile = { 4, 16, 1 },
        .guard = { .m = 1, .n = 4, .k = 1, .most = { 3, 30, 0 } } };
    struct edge_case cases[VERIFY_MAX_EDGES];
    const unsigned num = verify_edges(&problem, &recipe, &no_edges, cases);
    (void) state;
    for (unsigned i = 0; i < num; i++) {
        const struct verify_case *of = &cases[i].of;
        /* Of a batch each member, which has a part of the rows, or of a single row's columns. */
        const size_t parts = of->members > 0 ? of->members : 1;
        const size_t m = of->m > 1 ? of->m / parts : of->m, n = of->m > 1 ? of->n : of->n / parts;
        assert_true(kiln_guard_takes_extents(&recipe.guard, m, n, of->k));
        assert_in_range(m, 0, 3);
        assert_in_range(n, 0, 28);
    }
    assert_true(kiln_guard_takes_extents(&recipe.guard, 3, 28, 1000));
    assert_false(kiln_guard_takes_extents(&recipe.guard, 4, 28, 1000));
    assert_false(kiln_guard_takes_extents(&recipe.guard, 3, 32, 1000));
}

/* Extents become what a recipe takes; where it takes rests, they leave each of them. */
static void extents_fit_the_guard(void **state)
{
    const struct {
        uint32_t unit, rest;
        size_t extent, fitted;
    } rows[] = {
        { 1, 0, 131, 131 },
        { 64, 0, 131, 192 },
        { 64, 4, 131, 131 },
        { 64, 4, 128, 128 },
        { 64, 4, 133, 131 },
        { 64, 4, 134, 132 },
        { 64, 4, 7, 66 },
        { 64, 4, 3, 3 },
    };
    (void) state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct kiln_guard guard = { .m = rows[i].unit, .rest = { rows[i].rest } };
        size_t m = rows[i].extent, n = 5, k = 6;
        verify_fit(&guard, &m, &n, &k);
        assert_int_equal(m, rows[i].fitted);
        assert_int_equal(n, 5);
        assert_int_equal(k, 6);
    }
}

/* ---- Names and checks ---- */

/* A case is known by its name, which kernel_test and journals give. */
static void names_say_what_is_meant(void **state)
{
    const struct problem problem = problem_nn();
    const struct kiln_recipe recipe = { .tile = { 64, 256, 32 } };
    const struct assembly_edges edges = { .num = { 1, 2, 2 },
        .unit = { { 16 }, { 4, 32 }, { 8, 96 } },
        .turns = 5,
        .block = { 64, 256 } };
    const struct {
        const char *name;
        size_t m, n, k;
    } rows[] = {
        { "tile", 64, 256, 32 },
        { "tile-less-one", 63, 255, 31 },
        { "tile-and-one", 65, 257, 33 },
        { "whole-more-less", 64, 257, 31 },
        { "tiles", 161, 641, 33 },
        { "steps", 65, 255, 81 },
        { "edge-1-less-one", 15, 3, 95 },
        { "edge-1-whole", 16, 4, 96 },
        { "edge-1-several", 41, 11, 241 },
        { "edge-2-and-one", 11, 33, 9 },
        { "turn-less-one", 97, 385, 209 },
        { "turn-and-one", 161, 385, 209 },
        { "turns", 33, 3201, 209 },
    };
    struct edge_case cases[VERIFY_MAX_EDGES];
    const unsigned num = verify_edges(&problem, &recipe, &edges, cases);
    (void) state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct edge_case *edge = find(cases, num, rows[i].name);
        if (!edge)
            fail_msg("no class '%s'", rows[i].name);
        assert_int_equal(edge->of.m, rows[i].m);
        assert_int_equal(edge->of.n, rows[i].n);
        assert_int_equal(edge->of.k, rows[i].k);
    }
}

static void checks_cross_tiles(void **state)
{
    const struct problem problem = problem_nn();
    const struct assembly_edges edges = { .num = { 0, 0, 2 },
        .unit = { { 0 }, { 0 }, { 512, 65536 } } };
    struct kiln_recipe recipe = { .tile = { 1, 1, 4 } };
    (void) state;
    for (uint32_t tile = 2; tile <= 1024; tile += tile < 40 ? 1 : 37) {
        struct verify_case exact, gauge;
        recipe.tile[0] = recipe.tile[1] = tile;
        verify_check_cases(&problem, &recipe, &edges, &exact, &gauge);
        assert_true(exact.m > tile && exact.m % tile && exact.n > tile && exact.n % tile);
        assert_true(exact.k > 512 && exact.k % 512 && exact.k < 2048);
        assert_true(verify_has_reference(&gauge));
        assert_true(gauge.m >= 33 && gauge.n >= 33 && gauge.k >= 33);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_of_committed_bundles_are_not_hollow),
        cmocka_unit_test(classes_of_presets_are_not_hollow),
        cmocka_unit_test(edges_respect_guards),
        cmocka_unit_test(edges_respect_the_most),
        cmocka_unit_test(extents_fit_the_guard),
        cmocka_unit_test(names_say_what_is_meant),
        cmocka_unit_test(checks_cross_tiles),
    };
    if (argc != 2) {
        fprintf(stderr, "usage: test_edges TUNED\n");
        return EXIT_FAILURE;
    }
    tuned = argv[1];
    return cmocka_run_group_tests_name("edges", tests, NULL, NULL);
}
