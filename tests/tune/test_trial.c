/* test_trial.c: the real trial process on a real device, through the supervisor.
 *
 * Usage: test_trial PATH-OF-KILN-TUNE. 77 without a device.
 */
#include "kiln/kiln.h"
#include "supervise.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct supervisor *supervisor;
static struct device_facts facts;

static struct trial_request request;
static struct trial_result results[TRIAL_MAX_CONFIGS];

static void begin_request(enum trial_kind kind, const char *precision, size_t extent)
{
    memset(&request, 0, sizeof request);
    request.kind = kind;
    request.problem.precision = precision_find(precision);
    request.m = request.n = request.k = extent;
    request.deadline = 3600; /* none, however slow the machine */
}

static void add_config(const char *text)
{
    char error[FAMILY_ERROR_BYTES];
    if (!config_parse(text, &request.configs[request.num_configs++], error))
        fail_msg("%s", error);
}

static void expect(unsigned config, enum trial_outcome outcome)
{
    if (results[config].outcome != outcome)
        fail_msg("config %u: %s: %s", config, trial_outcome_words[results[config].outcome],
                results[config].message);
}

static void test_facts(void **state)
{
    (void) state;
    assert_true(facts.device[0] && facts.platform[0] && facts.driver[0]);
    assert_true(facts.value[FACT_MAX_ITEMS] >= 1 && facts.value[FACT_UNITS] >= 1);
}

static void test_measures_several(void **state)
{
    (void) state;
    begin_request(TRIAL_MEASURE, "single", 96);
    add_config("direct");
    add_config("direct TM=4");
    add_config("tiled WGM=4 WGN=4 KT=4");
    assert_true(supervise_run(supervisor, &request, results, NULL));
    for (unsigned i = 0; i < 3; i++) {
        expect(i, TRIAL_OK);
        assert_true(results[i].seconds > 0 && results[i].seconds < results[i].cost);
        assert_true(results[i].cost > 0 && results[i].spread >= 0);
    }
}

/* A launch for all members, and one for each: packed prepares operands. */
static void test_measures_batches(void **state)
{
    (void) state;
    begin_request(TRIAL_MEASURE, "single", 24);
    request.problem.transa = true;
    request.batch = 40;
    add_config("tiled WGM=4 WGN=4 KT=4");
    add_config("packed");
    assert_true(supervise_run(supervisor, &request, results, NULL));
    for (unsigned i = 0; i < 2; i++) {
        expect(i, TRIAL_OK);
        assert_true(results[i].seconds > 0 && results[i].seconds < results[i].cost);
    }
    request.batch = SIZE_MAX / 24; /* of more elements than can be counted */
    assert_true(supervise_run(supervisor, &request, results, NULL));
    for (unsigned i = 0; i < 2; i++) {
        expect(i, TRIAL_LAUNCH);
        assert_string_equal(results[i].message, kiln_status_string(KILN_SIZE_OVERFLOW));
    }
}

static void test_comes_back_to_a_candidate(void **state)
{
    (void) state;
    begin_request(TRIAL_MEASURE, "single", 64);
    add_config("direct TM=2 KU=2");
    assert_true(supervise_run(supervisor, &request, results, NULL));
    expect(0, TRIAL_OK);
    request.m = 65;
    assert_true(supervise_run(supervisor, &request, results, NULL));
    expect(0, TRIAL_OK);
}

/* What was built ahead, legal or not, is measured as if it had not been. */
static void test_builds_ahead(void **state)
{
    (void) state;
    begin_request(TRIAL_MEASURE, "single", 64);
    add_config("direct TM=2 KU=4");
    assert_true(supervise_build(supervisor, &request));
    assert_true(supervise_run(supervisor, &request, results, NULL));
    expect(0, TRIAL_OK);
    begin_request(TRIAL_MEASURE, "single", 64);
    add_config("tiled WGM=32 WGN=32 TM=8 NV=8 VEC=16");
    assert_true(supervise_build(supervisor, &request));
    assert_true(supervise_run(supervisor, &request, results, NULL));
    expect(0, TRIAL_ILLEGAL);
}

static void test_slow(void **state)
{
    (void) state;
    begin_request(TRIAL_MEASURE, "single", 128);
    add_config("direct");
    request.incumbent = 1e-7;
    assert_true(supervise_run(supervisor, &request, results, NULL));
    expect(0, TRIAL_SLOW);
    assert_true(results[0].seconds > 1.5e-7);
}

static void test_illegal(void **state)
{
    (void) state;
    begin_request(TRIAL_MEASURE, "single", 100);
    add_config("tiled GUARD=0"); /* 100 is no multiple of its tiles */
    add_config("tiled WGM=32 WGN=32 TM=8 NV=8 VEC=16");
    assert_true(supervise_run(supervisor, &request, results, NULL));
    expect(0, TRIAL_ILLEGAL);
    expect(1, TRIAL_ILLEGAL);
    assert_true(results[0].message[0] && results[1].message[0]);
}

/* A request to build has an answer for each. */
static void test_compiles(void **state)
{
    (void) state;
    begin_request(TRIAL_COMPILE, "single", 0);
    add_config("direct TM=2 NV=2 VEC=2 KU=2");
    add_config("tiled WGM=32 WGN=32 TM=8 NV=8 VEC=16");
    assert_true(supervise_run(supervisor, &request, results, NULL));
    expect(0, TRIAL_OK);
    expect(1, TRIAL_ILLEGAL);
    assert_true(results[0].seconds == 0 && results[1].message[0]);
}

/* Each precision and each transpose pair once, on every edge class. */
static void test_edges(void **state)
{
    static const char *const all[] = { "half", "single", "double" };
    (void) state;
    for (int pair = 0; pair < 4; pair++) {
        const int p = pair % 3;
        if (p == 2 && !facts.value[FACT_HAS_DOUBLE])
            continue;
        begin_request(TRIAL_EDGES, all[p], 0);
        request.problem.transa = pair / 2;
        request.problem.transb = pair % 2;
        add_config("direct TM=2 NV=2 VEC=2 KU=2");
        add_config("tiled WGM=4 WGN=4 TM=2 NV=2 VEC=2 KT=8 KU=2 PAD=1");
        add_config("tiled WGM=4 WGN=4 TM=2 NV=2 GUARD=0");
        add_config("packed TM=3 NV=2 VEC=2 MP=2 NP=2 KU=2");
        add_config("packed TM=4 NV=1 VEC=4 MP=2 NP=1 PACKA=0");
        assert_true(supervise_run(supervisor, &request, results, NULL));
        for (unsigned i = 0; i < request.num_configs; i++)
            expect(i, TRIAL_OK);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_measures_several),
        cmocka_unit_test(test_measures_batches),
        cmocka_unit_test(test_comes_back_to_a_candidate),
        cmocka_unit_test(test_builds_ahead),
        cmocka_unit_test(test_slow),
        cmocka_unit_test(test_illegal),
        cmocka_unit_test(test_compiles),
        cmocka_unit_test(test_edges),
    };
    char error[TRIAL_MESSAGE_BYTES];
    if (argc != 2) {
        fprintf(stderr, "usage: test_trial KILN-TUNE\n");
        return EXIT_FAILURE;
    }
    supervisor = supervise_open(argv[1], "", NULL, &facts, error);
    if (!supervisor) {
        printf("no trial process: %s\n", error);
        return strstr(error, "no OpenCL device") ? 77 : EXIT_FAILURE;
    }
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    supervise_close(&supervisor);
    return failed;
}
