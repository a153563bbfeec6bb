/* phases_world.h: the phases of a tuning with made-up times in place of a device. */
#ifndef KILN_TESTS_TUNE_PHASES_WORLD_H
#define KILN_TESTS_TUNE_PHASES_WORLD_H

#include "core/draw.h"
#include "core/select.h"
#include "core/space.h"
#include "ahead.h"
#include "linked.h"
#include "own_shapes.h"
#include "task_search.h"
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
static const char *outcome;        /* of every evaluation but the first */
static const char *failing_family; /* NULL, or its configurations are wrong */
static bool is_flat;               /* all configurations take the same time */
static const char *slow_family;    /* NULL, or its configurations take ten times as long */
static double rate;                /* 0, or operations per second of all configurations */
static bool is_behind;             /* family direct takes three times as long */
static bool is_uneven;             /* family direct begins at once, is slow at large shapes */
static bool is_replay;             /* only what there are rows of is known */
static size_t num_missed;
static size_t stop_after; /* Ctrl-C after so many rows; 0: never */
static volatile int stop;

size_t linked_configs(const struct device_facts *facts, const struct precision *precision,
        struct config *configs, size_t max)
{
    (void) facts;
    (void) precision;
    const size_t num = num_known < max ? num_known : max;
    memcpy(configs, known, num * sizeof *configs);
    return num;
}

/* Different for each configuration, and differently so at each shape. */
static inline double time_of(const struct config *config, struct shape shape)
{
    const double operations = 2 * (double) shape.m * (double) shape.n * (double) shape.k;
    if (rate > 0)
        return operations / rate;
    if (is_behind)
        return (strcmp(config->family->name, "direct") ? 1 : 3) * (1e-3 + operations * 1e-11);
    if (is_uneven)
        return strcmp(config->family->name, "direct") ? 1e-3 + operations * 1e-11
                                                      : 1e-6 + operations * 1e-9;
    uint64_t hash = shape.m * 31 + shape.n * 7 + shape.k;
    for (unsigned i = 0; i < config->family->num_params; i++)
        hash = hash * 1000003 + (uint64_t) config->value[i];
    const bool is_slow = slow_family && !strcmp(config->family->name, slow_family);
    const double seconds = is_slow ? 1e-2 : 1e-3;
    return is_flat ? seconds : seconds * (1 + (double) (random_next(&hash) >> 40) * 0x1p-24);
}

/* What the search announced and has not evaluated yet; one more each time than is allowed shows. */
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

/* An evaluation of a search: it must be the first one announced. */
static inline void take_expected(const struct config *config)
{
    assert_true(num_expected > 0);
    assert_true(config_equal(&expected[0], config));
    memmove(expected, expected + 1, --num_expected * sizeof expected[0]);
}

/* A recipe of generic that wins when it is compared with the finalists, and only then. */
static bool is_late_winner;

static inline double generic_time(const struct tuner *tuner, const struct record *row)
{
    for (size_t i = 0; i < tuner->records.num; i++) {
        const struct record *r = &tuner->records.rows[i];
        if (r->kind == RECORD_MATRIX && r->m == row->m && r->n == row->n && r->k == row->k)
            return 1e-6;
    }
    return 1;
}

static inline struct record *find_row(const struct tuner *tuner, const struct record *row)
{
    for (size_t i = 0; i < tuner->records.num; i++)
        if (record_same_evaluation(&tuner->records.rows[i], row))
            return &tuner->records.rows[i];
    return NULL;
}

/* Of one row, seconds. */
static double edges_cost;

static inline void measure(struct tuner *tuner, struct record *result)
{
    const struct shape shape = { result->m, result->n, result->k };
    result->seconds = result->kind == RECORD_EDGES ? 0
                    : result->kind == RECORD_GENERIC && is_late_winner
                            ? generic_time(tuner, result)
                            : time_of(&result->config, shape);
    result->cost = result->kind == RECORD_EDGES ? edges_cost : 0.01;
    result->used = true;
    const bool fails = failing_family && !strcmp(result->config.family->name, failing_family);
    strcpy(result->outcome, fails ? "wrong" : tuner->records.num ? outcome : "ok");
    tuner->spent += result->cost;
    assert_true(records_add(&tuner->records, result));
    if (tuner->records.num == stop_after)
        stop = 1;
}

/* A budget that is strict holds from the first evaluation on. */
static inline void check_limit(const struct tuner *tuner)
{
    if (tuner->is_strict)
        assert_true(tuner->limit > 0 && tuner->limit <= tuner->budget);
}

bool tuner_evaluate(struct tuner *tuner, enum record_kind kind, const struct problem *problem,
        struct shape shape, const struct config *configs, unsigned num, double incumbent,
        struct record *results)
{
    (void) incumbent;
    if (*tuner->stop)
        return false;
    if (kind == RECORD_SEARCH)
        take_expected(&configs[0]);
    for (unsigned i = 0; i < num; i++) {
        results[i] = (struct record){
            .kind = kind,
            .precision = problem->precision,
            .pair = pair_of_problem(problem),
            .m = shape.m,
            .n = shape.n,
            .k = shape.k,
            .config = configs[i],
        };
        struct record *row = find_row(tuner, &results[i]);
        if (row) {
            tuner->spent += row->used ? 0 : row->cost;
            row->used = true;
            results[i] = *row;
        } else if (is_replay) {
            num_missed++;
            return false;
        } else {
            check_limit(tuner);
            measure(tuner, &results[i]);
        }
    }
    return true;
}

void tuner_warm(struct tuner *tuner, const struct problem *problem, const struct config *configs,
        unsigned num)
{
    (void) tuner;
    (void) problem;
    (void) configs;
    (void) num;
}

/* How many were verified at once, at most. */
static unsigned most_at_once;

bool tuner_evaluate_each(struct tuner *tuner, enum record_kind kind,
        const struct evaluation *evaluations, unsigned num, struct record *results)
{
    most_at_once = num > most_at_once ? num : most_at_once;
    for (unsigned i = 0; i < num; i++)
        results[i] = (struct record){ .kind = kind };
    for (unsigned i = 0; i < num; i++) {
        if (!tuner_evaluate(tuner, kind, &evaluations[i].problem, evaluations[i].shape,
                    &evaluations[i].config, 1, 0, &results[i]))
            return false;
    }
    return true;
}

/* ---- Running the phases ---- */

static struct tuner tuner;

static bool is_cpu;
static long compute_capability;

static inline void make_tuner(const struct search_strategy *strategy, double seconds)
{
    records_free(&tuner.records);
    num_expected = most_expected = 0;
    tuner = (struct tuner){ .strategy = strategy,
        .seed = 1,
        .budget = seconds,
        .quiet = true,
        .stop = &stop };
    facts_minimal(&tuner.facts);
    tuner.facts.value[FACT_LOCAL_BYTES] = 163 * 1024;
    tuner.facts.value[FACT_IS_CPU] = is_cpu;
    tuner.facts.value[FACT_COMPUTE_CAPABILITY] = compute_capability;
    tuner.facts.value[FACT_VECTOR_BYTES] = 64;
    tuner.facts.value[FACT_REGISTER_BYTES] = 2048;
    tuner.records.head.facts = tuner.facts;
}

static inline void run_phases(const struct search_strategy *strategy, double seconds)
{
    make_tuner(strategy, seconds);
    assert_true(phases_run(&tuner, precision_find("single"), seconds));
}

/* The search for one task alone; a GPU has many. */
static inline void run_search(const struct search_strategy *strategy, size_t extent, double seconds)
{
    const struct task task = { { extent, extent, extent }, 0, 1 };
    const struct initial_configs none = { .num = 0 };
    make_tuner(strategy, seconds);
    assert_true(task_search(&tuner, precision_find("single"), &task, &none, seconds));
}

static inline int begin(void **state)
{
    (void) state;
    num_known = 0;
    outcome = "ok";
    failing_family = NULL;
    is_flat = false;
    is_cpu = true;
    slow_family = NULL;
    compute_capability = 0;
    rate = 0;
    edges_cost = 0.01;
    most_at_once = 0;
    is_uneven = is_behind = is_replay = is_late_winner = false;
    num_missed = stop_after = 0;
    stop = 0;
    return 0;
}

static inline int end(void **state)
{
    (void) state;
    records_free(&tuner.records);
    return 0;
}

/* ---- Rows ---- */

static inline bool same_task(const struct record *a, const struct record *b)
{
    return a->precision == b->precision && a->pair == b->pair && a->m == b->m && a->n == b->n &&
           a->k == b->k;
}

/* Whether an earlier row of the kind is for the same task. */
static inline bool is_repeated(size_t row)
{
    const struct record *rows = tuner.records.rows;
    for (size_t i = 0; i < row; i++)
        if (rows[i].kind == rows[row].kind && same_task(&rows[i], &rows[row]))
            return true;
    return false;
}

static inline unsigned count_tasks(enum record_kind kind)
{
    unsigned num = 0;
    for (size_t i = 0; i < tuner.records.num; i++)
        num += tuner.records.rows[i].kind == kind && !is_repeated(i);
    return num;
}

static inline unsigned count_rows(enum record_kind kind, const struct config *config)
{
    unsigned num = 0;
    for (size_t i = 0; i < tuner.records.num; i++)
        num += tuner.records.rows[i].kind == kind &&
               (!config || config_equal(&tuner.records.rows[i].config, config));
    return num;
}

/* ---- A device with relatives ---- */

static struct config kin[MAX_KNOWN];
static size_t num_kin;

static inline size_t list_kin(const void *user, const struct device_facts *facts,
        const struct precision *precision, struct config *configs, size_t max)
{
    (void) user;
    (void) facts;
    (void) precision;
    const size_t num = num_kin < max ? num_kin : max;
    memcpy(configs, kin, num * sizeof *configs);
    return num;
}

static const char *const kin_texts[] = {
    "packed TM=12 NV=2 VEC=16 MP=2 NP=16", "direct WGM=1 WGN=1 TM=4 NV=1 VEC=4 INDEX=64",
};

/* A tuner whose device has relatives with two recipes. */
static inline void make_kin(double seconds)
{
    char error[FAMILY_ERROR_BYTES];
    make_tuner(search_find("random"), seconds);
    for (num_kin = 0; num_kin < sizeof kin_texts / sizeof kin_texts[0]; num_kin++)
        assert_true(config_parse(kin_texts[num_kin], &kin[num_kin], error));
    tuner.kin = list_kin;
}

static inline bool run_made(double seconds)
{
    return phases_run(&tuner, precision_find("single"), seconds);
}

static inline size_t first_row(enum record_kind kind)
{
    size_t i = 0;
    while (i < tuner.records.num && tuner.records.rows[i].kind != kind)
        i++;
    return i;
}

/* Whether a configuration passed the edge classes for all pairs within the first so many rows. */
static inline bool is_verified(const struct config *config, size_t num_rows)
{
    bool ok[NUM_PAIRS] = { false };
    for (size_t i = 0; i < num_rows; i++) {
        const struct record *r = &tuner.records.rows[i];
        if (r->kind == RECORD_EDGES && config_equal(&r->config, config))
            ok[r->pair] = !strcmp(r->outcome, "ok");
    }
    return ok[0] && ok[1] && ok[2] && ok[3];
}

static inline double most_operations(void)
{
    double most = 0;
    for (size_t i = 0; i < tuner.records.num; i++) {
        const struct record *r = &tuner.records.rows[i];
        if (r->kind != RECORD_GENERIC && r->kind != RECORD_EDGES)
            most = fmax(most, 2 * (double) r->m * (double) r->n * (double) r->k);
    }
    return most;
}

static inline size_t list_generic(const void *user, const struct device_facts *facts,
        const struct precision *precision, struct config *configs, size_t max)
{
    char error[FAMILY_ERROR_BYTES];
    (void) user;
    (void) facts;
    (void) precision;
    assert_true(max > 0);
    assert_true(config_parse("direct WGM=1 WGN=1 TM=2 NV=1 VEC=2 INDEX=64", &configs[0], error));
    return 1;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

#endif
