/* test_plan.c: how the tuner spends its budget, generator/tune/{plan,hunt}.c, with made-up times
 * in place of a device. */
#include "core/space.h"
#include "ahead.h"
#include "hunt.h"
#include "known.h"
#include "tuner.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- In place of the device and of the linked bundles ---- */

enum { MAX_KNOWN = 8 };

static struct config known[MAX_KNOWN];
static size_t num_known;
static const char *outcome;            /* of every question but the first */
static bool is_flat;                   /* all configurations take the same time */
static const char *slow_family;        /* NULL, or its configurations take ten times as long */

size_t known_configs(const struct device_facts *facts, const struct precision *precision,
        struct config *configs, size_t max)
{
    (void) facts;
    (void) precision;
    const size_t num = num_known < max ? num_known : max;
    memcpy(configs, known, num * sizeof *configs);
    return num;
}

/* Different for each configuration, and differently so at each shape. */
static double time_of(const struct config *config, struct shape shape)
{
    uint64_t hash = shape.m * 31 + shape.n * 7 + shape.k;
    for (unsigned i = 0; i < config->family->num_params; i++)
        hash = hash * 1000003 + (uint64_t) config->value[i];
    const bool is_slow = slow_family && !strcmp(config->family->name, slow_family);
    const double seconds = is_slow ? 1e-2 : 1e-3;
    return is_flat ? seconds : seconds * (1 + (double) (point_random(&hash) >> 40) * 0x1p-24);
}

/* What the search announced and has not asked for yet; one more each time than is allowed shows. */
static struct config expected[16];
static unsigned num_expected, most_expected;

void tuner_expect(struct tuner *tuner, const struct problem *problem, struct shape shape,
        const struct config *config)
{
    (void) tuner;
    (void) problem;
    (void) shape;
    assert_in_range(num_expected, 0, 15);
    expected[num_expected++] = *config;
    if (num_expected > most_expected)
        most_expected = num_expected;
}

/* A question of a search: it must be the first one announced. */
static void take_expected(const struct config *config)
{
    assert_true(num_expected > 0);
    assert_true(config_equal(&expected[0], config));
    memmove(expected, expected + 1, --num_expected * sizeof expected[0]);
}

bool tuner_ask(struct tuner *tuner, enum record_kind kind, const struct problem *problem,
        struct shape shape, const struct config *configs, unsigned num, double incumbent,
        struct record *answers)
{
    (void) incumbent;
    if (kind == RECORD_SEARCH)
        take_expected(&configs[0]);
    for (unsigned i = 0; i < num; i++) {
        answers[i] = (struct record) {
            .kind = kind, .precision = problem->precision, .pair = pair_of_problem(problem),
            .m = shape.m, .n = shape.n, .k = shape.k, .config = configs[i],
            .seconds = kind == RECORD_EDGES ? 0 : time_of(&configs[i], shape), .cost = 0.01,
        };
        strcpy(answers[i].outcome, tuner->records.num ? outcome : "ok");
        tuner->spent += answers[i].cost;
        assert_true(records_add(&tuner->records, &answers[i]));
    }
    return true;
}

/* ---- Running a plan ---- */

static const volatile int never;
static struct tuner tuner;

static bool is_cpu;
static long compute_capability;

static void make_tuner(const struct search_strategy *strategy, double seconds)
{
    records_free(&tuner.records);
    num_expected = most_expected = 0;
    tuner = (struct tuner) { .strategy = strategy, .seed = 1, .budget = seconds, .quiet = true,
            .stop = &never };
    facts_minimal(&tuner.facts);
    tuner.facts.value[FACT_LOCAL_BYTES] = 163 * 1024;
    tuner.facts.value[FACT_IS_CPU] = is_cpu;
    tuner.facts.value[FACT_COMPUTE_CAPABILITY] = compute_capability;
    tuner.facts.value[FACT_VECTOR_BYTES] = 64;
    tuner.facts.value[FACT_REGISTER_BYTES] = 2048;
}

static void run_plan(const struct search_strategy *strategy, double seconds)
{
    make_tuner(strategy, seconds);
    assert_true(plan_precision(&tuner, precision_find("single"), seconds));
}

/* One search of a plan alone, which on a GPU has many. */
static void run_hunt(const struct search_strategy *strategy, size_t extent, double seconds)
{
    const struct quarry quarry = { .problem = { precision_find("single"), false, false },
            .shape = { extent, extent, extent } };
    make_tuner(strategy, seconds);
    assert_true(hunt(&tuner, &quarry, seconds));
}

static int begin(void **state)
{
    (void) state;
    num_known = 0;
    outcome = "ok";
    is_flat = false;
    is_cpu = true;
    slow_family = NULL;
    compute_capability = 0;
    return 0;
}

static int end(void **state)
{
    (void) state;
    records_free(&tuner.records);
    return 0;
}

static void add_known(const char *text)
{
    char error[FAMILY_ERROR_BYTES];
    assert_true(config_parse(text, &known[num_known++], error));
}

static unsigned differences(const struct config *a, const struct config *b)
{
    unsigned num = 0;
    for (unsigned i = 0; i < a->family->num_params; i++)
        num += a->value[i] != b->value[i];
    return num;
}

/* ---- Starts ---- */

/* What the search at this extent asks of one family, in order. */
static size_t list_asked(const char *family, size_t extent, const struct record *asked[],
        size_t most)
{
    size_t num = 0;
    for (size_t i = 0; i < tuner.records.num && num < most; i++) {
        const struct record *r = &tuner.records.rows[i];
        if (r->kind == RECORD_SEARCH && r->m == extent && r->n == extent && r->k == extent &&
            !strcmp(r->config.family->name, family))
            asked[num++] = r;
    }
    return num;
}

static void near_copies_among_the_known_are_left_out(void **state)
{
    const struct record *asked[2];
    (void) state;
    add_known("packed TM=12 NV=2 VEC=16 MP=2 NP=16");
    add_known("packed TM=12 NV=2 VEC=16 MP=4 NP=16");
    add_known("packed TM=14 NV=2 VEC=16 MP=2 NP=8");
    add_known("packed TM=14 NV=2 VEC=16 MP=4 NP=8");
    run_plan(search_find("guided"), 2);
    assert_int_equal(list_asked("packed", 1024, asked, 2), 2);
    assert_true(config_equal(&asked[0]->config, &known[0]));
    assert_false(config_equal(&asked[1]->config, &known[1]));
    assert_true(config_equal(&asked[1]->config, &known[2]));
}

static bool is_preset(const struct config *config)
{
    struct config preset;
    char error[FAMILY_ERROR_BYTES];
    for (unsigned i = 0; i < config->family->num_presets; i++)
        if (config_parse(config->family->presets[i].config, &preset, error) &&
            config_equal(config, &preset))
            return true;
    return false;
}

static void what_ranks_best_is_diverse(void **state)
{
    enum { RANKED = 4, MOST = 64 };
    const struct record *asked[MOST];
    size_t first = 0;
    (void) state;
    is_flat = true;                    /* so that every family's start is gone through */
    run_hunt(search_find("guided"), 1024, 10);
    assert_int_equal(list_asked("packed", 1024, asked, MOST), MOST);
    while (first < MOST - RANKED && is_preset(&asked[first]->config))
        first++;
    assert_in_range(first, 1, MOST - RANKED - 1);
    for (size_t i = first; i < first + RANKED; i++)
        for (size_t j = 0; j < i; j++)
            assert_in_range(differences(&asked[i]->config, &asked[j]->config),
                    asked[i]->config.family->num_params / 3,
                    asked[i]->config.family->num_params);
}

/* The first that were asked must be the family's presets for singles; returns how many there are. */
static size_t assert_presets_first(const struct record *const asked[], size_t num)
{
    const struct family *family = asked[0]->config.family;
    size_t num_meant = 0;
    for (unsigned i = 0; i < family->num_presets; i++) {
        struct config preset;
        char error[FAMILY_ERROR_BYTES];
        if (family->presets[i].figure.precision != 's')
            continue;
        assert_true(config_parse(family->presets[i].config, &preset, error));
        assert_in_range(num_meant, 0, num - 1);
        assert_true(config_equal(&asked[num_meant++]->config, &preset));
    }
    return num_meant;
}

/* A family that is far behind is still asked for all presets that are meant for the precision,
 * before what is known of other devices, and for nothing else. */
static void a_gpu_tries_its_presets(void **state)
{
    const struct record *asked[64];
    (void) state;
    is_cpu = false;
    compute_capability = 90;
    slow_family = "bulk";
    add_known("bulk BM=64 BN=64 ST=3");
    run_hunt(search_find("guided"), 4096, 9);
    const size_t num = list_asked("bulk", 4096, asked, 64);
    assert_in_range(num, 1, 63);
    assert_int_equal(assert_presets_first(asked, num), num);
}

/* A family for later devices is none for earlier ones, and leaves them to the other. */
static void a_gpu_is_asked_what_it_can_run(void **state)
{
    const struct record *asked[64];
    (void) state;
    is_cpu = false;
    compute_capability = 80;
    run_hunt(search_find("guided"), 4096, 9);
    const size_t num = list_asked("async", 4096, asked, 64);
    assert_in_range(num, 3, 64);
    assert_in_range(assert_presets_first(asked, num), 3, num);
    assert_int_equal(list_asked("bulk", 4096, asked, 64), 0);
}

/* ---- Costs ---- */

static double costs[4096];
static size_t num_costs;

static bool spy_propose(struct search *search, struct point *point)
{
    return search_draw(search, point);
}

static void spy_observe(struct search *search, const struct point *point, double cost)
{
    (void) search;
    (void) point;
    if (num_costs < sizeof costs / sizeof costs[0])
        costs[num_costs++] = cost;
}

static const struct search_strategy spy = { "spy", "", spy_propose, spy_observe, 0, 0 };

static void a_slow_one_counts_as_its_time(void **state)
{
    (void) state;
    outcome = "slow";
    num_costs = 0;
    run_plan(&spy, 5);
    assert_in_range(num_costs, 100, 4096);
    for (size_t i = 0; i < num_costs; i++) {
        const struct record *r = &tuner.records.rows[i];
        assert_int_equal(r->kind, RECORD_SEARCH);
        assert_true(costs[i] == r->seconds);
    }
}

static void a_failure_costs_infinitely_much(void **state)
{
    (void) state;
    outcome = "timing";
    num_costs = 0;
    run_plan(&spy, 5);
    assert_in_range(num_costs, 100, 4096);
    assert_true(costs[0] == tuner.records.rows[0].seconds);
    for (size_t i = 1; i < num_costs; i++)
        assert_true(costs[i] == HUGE_VAL);
}

/* ---- Second looks ---- */

static unsigned count_rows(enum record_kind kind, const struct config *config)
{
    unsigned num = 0;
    for (size_t i = 0; i < tuner.records.num; i++)
        num += tuner.records.rows[i].kind == kind &&
               (!config || config_equal(&tuner.records.rows[i].config, config));
    return num;
}

/* How many search rows of the first quest were faster than this one. */
static unsigned place_of(const struct record *row)
{
    unsigned num = 0;
    for (size_t i = 0; i < tuner.records.num; i++) {
        const struct record *r = &tuner.records.rows[i];
        num += r->kind == RECORD_SEARCH && r->m == row->m && r->n == row->n && r->k == row->k &&
               r->seconds < row->seconds;
    }
    return num;
}

static void the_best_fifty_are_looked_at_again_at_every_shape(void **state)
{
    enum { LOOKS = 50, SHAPES = 7 };
    unsigned num_best = 0;
    (void) state;
    run_plan(search_find("three-stage"), 60);
    assert_int_equal(count_rows(RECORD_LOOK, NULL), LOOKS * SHAPES);
    for (size_t i = 0; i < tuner.records.num; i++) {
        const struct record *r = &tuner.records.rows[i];
        if (r->kind == RECORD_LOOK)
            assert_int_equal(count_rows(RECORD_LOOK, &r->config), SHAPES);
        if (r->kind == RECORD_SEARCH && place_of(r) < LOOKS / SHAPES) {
            assert_int_equal(count_rows(RECORD_LOOK, &r->config), SHAPES);
            num_best++;
        }
    }
    assert_in_range(num_best, LOOKS / SHAPES * SHAPES, LOOKS + SHAPES);
}

static double all_round(const struct config *config)
{
    double sum = 0;
    for (size_t i = 0; i < tuner.records.num; i++) {
        const struct record *r = &tuner.records.rows[i];
        if (r->kind == RECORD_LOOK && config_equal(&r->config, config))
            sum += log(r->seconds);
    }
    return sum;
}

/* The first finalist, which is verified first, is the one that is best over all shapes. */
static void the_winner_of_all_shapes_is_a_finalist(void **state)
{
    const struct config *first = NULL;
    (void) state;
    run_plan(search_find("three-stage"), 60);
    for (size_t i = 0; i < tuner.records.num && !first; i++)
        if (tuner.records.rows[i].kind == RECORD_EDGES)
            first = &tuner.records.rows[i].config;
    assert_non_null(first);
    for (size_t i = 0; i < tuner.records.num; i++)
        if (tuner.records.rows[i].kind == RECORD_LOOK)
            assert_true(all_round(first) <= all_round(&tuner.records.rows[i].config));
}

static void others_take_no_second_look(void **state)
{
    (void) state;
    run_plan(search_find("guided"), 20);
    assert_int_equal(count_rows(RECORD_LOOK, NULL), 0);
    assert_true(count_rows(RECORD_EDGES, NULL) > 0 && count_rows(RECORD_MATRIX, NULL) > 0);
}

/* ---- Building ahead ---- */

static void a_cpu_is_told_of_nothing_ahead(void **state)
{
    (void) state;
    run_plan(search_find("guided"), 20);
    assert_int_equal(most_expected, 1);
    assert_int_equal(num_expected, 0);
}

/* Every strategy, as each must bear to hear of its points late; and again, for the same order. */
static void others_are_told_of_a_few(void **state)
{
    static struct record first[1000];
    size_t num = 0;
    (void) state;
    is_cpu = false;
    for (size_t s = 0; s < num_search_strategies; s++) {
        run_hunt(search_strategies[s], 4096, 2);
        assert_int_equal(most_expected, AHEAD + 1);
        assert_int_equal(num_expected, 0);
        for (num = 0; num < 1000 && num < tuner.records.num; num++)
            first[num] = tuner.records.rows[num];
        assert_true(num > 100);
        run_hunt(search_strategies[s], 4096, 2);
        assert_int_equal(tuner.records.num, num);
        for (size_t i = 0; i < num; i++)
            assert_true(record_same_question(&first[i], &tuner.records.rows[i]));
    }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(near_copies_among_the_known_are_left_out),
        TEST(what_ranks_best_is_diverse),
        TEST(a_gpu_tries_its_presets),
        TEST(a_gpu_is_asked_what_it_can_run),
        TEST(a_slow_one_counts_as_its_time),
        TEST(a_failure_costs_infinitely_much),
        TEST(the_best_fifty_are_looked_at_again_at_every_shape),
        TEST(the_winner_of_all_shapes_is_a_finalist),
        TEST(others_take_no_second_look),
        TEST(a_cpu_is_told_of_nothing_ahead),
        TEST(others_are_told_of_a_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
