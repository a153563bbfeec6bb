/* test_finalists.c: the siblings of finalists, generator/tune/finalists.c. */
#include "finalists.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

extern const struct kiln_bundle *const kiln_tuner_bundles[];
const struct kiln_bundle *const kiln_tuner_bundles[] = { NULL };
const struct kiln_bundle *const kiln_linked_bundles[] = { NULL };

static struct tuner tuner;
static struct phases phases;

static void begin(const char *precision)
{
    memset(&tuner, 0, sizeof tuner);
    memset(&phases, 0, sizeof phases);
    facts_ample(&tuner.facts);
    tuner.facts.value[FACT_COMPUTE_CAPABILITY] = 90;
    phases.tuner = &tuner;
    phases.precision = precision_find(precision);
}

static void have(const char *text)
{
    struct config config;
    char error[FAMILY_ERROR_BYTES];
    if (!config_parse(text, &config, error))
        fail_msg("%s", error);
    finalists_add(&phases, &config);
}

/* Exactly these, in any order. */
static void expect(const char *const *texts, unsigned num)
{
    assert_int_equal(phases.num_finalists, num);
    for (unsigned i = 0; i < num; i++) {
        struct config config;
        char error[FAMILY_ERROR_BYTES];
        assert_true(config_parse(texts[i], &config, error));
        if (finalists_differ(phases.finalists, phases.num_finalists, &config, 1))
            fail_msg("%s is missing", texts[i]);
    }
}

/* The next values that are legal, of one parameter at a time: 8 bytes are for double precision. */
static void siblings_are_one_legal_step_away(void **state)
{
    static const char *const all[] = {
        "async BM=64 BN=32 WM=32 WN=16 ST=4",
        "async BM=64 BN=32 WM=32 WN=16 ST=4 STREAM=1",
        "async BM=64 BN=32 WM=32 WN=16 ST=4 BYTES=4",
        "async BM=64 BN=32 WM=32 WN=16 ST=4 COPY=1",
    };
    (void) state;
    begin("half");
    have(all[0]);
    finalists_add_siblings(&phases);
    expect(all, 4);
}

static void both_sides_of_what_is_thin_are_siblings(void **state)
{
    static const char *const all[] = {
        "thin VEC=4 ROWS=4",
        "thin SIDE=1 VEC=4 ROWS=4",
        "thin SHORT=2 VEC=4 ROWS=4",
    };
    (void) state;
    begin("single");
    have(all[0]);
    finalists_add_siblings(&phases);
    expect(all, 3);
}

/* Siblings have none of their own in the same step, and what is there already is no news. */
static void siblings_of_siblings_wait(void **state)
{
    static const char *const all[] = {
        "tma STREAM=1",
        "tma STREAM=0",
        "tma STREAM=2",
        "tma STREAM=4",
    };
    (void) state;
    begin("half");
    have(all[0]);
    finalists_add_siblings(&phases);
    expect(all, 3);
    finalists_add_siblings(&phases);
    expect(all, 4);
    finalists_add_siblings(&phases);
    expect(all, 4);
}

static void there_is_room_for_so_many(void **state)
{
    char text[CONFIG_TEXT_BYTES];
    (void) state;
    begin("half");
    for (unsigned i = 0; i < MAX_FINALISTS - 1; i++) {
        snprintf(text, sizeof text, "tma ST=%u GROUP=%u EARLY=%u BN=%u", 2 + i % 3, 1u << i / 3 % 5,
                i / 15 % 3, i < 45 ? 128 : 64);
        have(text);
    }
    assert_int_equal(phases.num_finalists, MAX_FINALISTS - 1);
    finalists_add_siblings(&phases);
    assert_int_equal(phases.num_finalists, MAX_FINALISTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(siblings_are_one_legal_step_away),
        cmocka_unit_test(both_sides_of_what_is_thin_are_siblings),
        cmocka_unit_test(siblings_of_siblings_wait),
        cmocka_unit_test(there_is_room_for_so_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
