/* test_protocol.c: the lines between the tuner and its trial process, and lines that are none. */
#include "protocol.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char line[PROTOCOL_LINE_BYTES];

static void test_greeting(void **state)
{
    (void) state;
    struct device_facts facts = { .platform = "A platform", .device = "D", .driver = "1.0 beta" };
    struct device_facts heard = { .value = { 0 } };
    for (int i = 0; i < NUM_FACTS; i++)
        facts.value[i] = 11 + i;
    for (unsigned i = 0; i < PROTOCOL_GREETING_LINES; i++) {
        protocol_write_greeting(&facts, i, line);
        assert_true(protocol_read_greeting(line, i, &heard));
    }
    assert_memory_equal(&heard, &facts, sizeof facts);
    assert_true(!strncmp(line, "facts 11 12 13 ", 15));
    assert_false(protocol_read_greeting("kiln-trial 22", 0, &heard));
    assert_false(protocol_read_greeting("facts 1 2 3", 5, &heard));
    assert_false(protocol_read_greeting("device a tab\tin it", 2, &heard));
}

static void test_begin(void **state)
{
    (void) state;
    unsigned config = 77;
    protocol_write_begin(31, line);
    assert_string_equal(line, "begin 31");
    assert_true(protocol_read_begin(line, 32, &config) && config == 31);
    static const char *const wrong[] = {
        "begin 31",
        "begin 4294967296",
        "begin 18446744073709551616",
        "begin -0",
        "begin +0",
        "begin  0",
        "begin 00",
        "begin 0 ",
        "begin ",
        "begin",
        "",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(protocol_read_begin(wrong[i], 31, &config));
}

static void test_result(void **state)
{
    (void) state;
    const struct trial_result wrote = { .outcome = TRIAL_WRONG,
        .seconds = 0.25,
        .spread = 0.5,
        .message = "C[0][0] is nan" };
    struct trial_result read = { .cost = 1 };
    unsigned config;
    protocol_write_result(3, &wrote, line);
    assert_string_equal(line, "result 3 wrong 0.25 0.5 C[0][0] is nan");
    assert_true(protocol_read_result(line, 4, &config, &read) && config == 3);
    assert_true(read.outcome == TRIAL_WRONG && read.seconds == 0.25 && read.spread == 0.5);
    assert_string_equal(read.message, wrote.message);
    assert_true(read.cost == 1);
    assert_true(protocol_read_result("result 0 ok 0.001 0.01", 1, &config, &read));
    assert_string_equal(read.message, "");
    static const char *const wrong[] = {
        "result 4 ok 1 1 ",
        "result 4294967296 ok 1 1 ",
        "result 0 good 1 1 ",
        "result 0 ok 1",
        "result 0 ok fast 1 ",
        "result 0 ok 1 1x",
        "result 0 wrong 0 0 a tab\tin it",
        "result",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(protocol_read_result(wrong[i], 4, &config, &read));
}

static void test_requests(void **state)
{
    (void) state;
    static struct trial_request read;
    struct trial_request wrote = { .kind = TRIAL_MEASURE,
        .problem = { precision_find("single"), true, false },
        .m = 1,
        .n = 2,
        .k = 3,
        .batch = 4,
        .incumbent = 0.5 };
    protocol_write_request(&wrote, 7, line);
    assert_string_equal(line, "measure s 1 0 1 2 3 4 0.5 7");
    assert_true(protocol_read_request(line, &read) && read.kind == TRIAL_MEASURE);
    assert_true(
            read.m == 1 && read.n == 2 && read.k == 3 && read.batch == 4 && read.incumbent == 0.5);
    assert_true(read.num_configs == 7 && read.problem.transa && !read.problem.transb);
    wrote.kind = TRIAL_EDGES;
    protocol_write_request(&wrote, 1, line);
    assert_string_equal(line, "edges s 1 0 1");
    assert_true(protocol_read_request(line, &read) && read.kind == TRIAL_EDGES);
    wrote.kind = TRIAL_BUILD_ONLY;
    protocol_write_request(&wrote, 1, line);
    assert_string_equal(line, "build s 1 0 1");
    assert_true(protocol_read_request(line, &read) && read.kind == TRIAL_BUILD_ONLY);
    wrote.kind = TRIAL_COMPILE;
    protocol_write_request(&wrote, 1, line);
    assert_string_equal(line, "compile s 1 0 1");
    assert_true(protocol_read_request(line, &read) && read.kind == TRIAL_COMPILE);
    static const char *const wrong[] = {
        "edges s 0 0 0",
        "edges s 0 0 65",
        "edges s 2 0 1",
        "edges q 0 0 1",
        "edges s 0 0 1 1",
        "measure s 0 0 1 1 1 0 nan 1",
        "measure s 0 0 -1 1 1 0 0 1",
        "measure s 0 0 1 1 1 -1 0 1",
        "measure s 0 0 1 1 1 0 -1 1",
        "measure s 0 0 1 1 1 0 1",
        "edges",
        "",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(protocol_read_request(wrong[i], &read));
}

static void test_configs(void **state)
{
    (void) state;
    struct config wrote, read;
    char error[FAMILY_ERROR_BYTES];
    assert_true(config_parse("direct TM=4", &wrote, error));
    protocol_write_config(&wrote, line);
    assert_true(protocol_read_config(line, &read, error) && config_equal(&wrote, &read));
    assert_true(protocol_read_config("config direct TM=5", &read, error) && !read.family);
    assert_false(protocol_read_config("direct TM=4", &read, error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_greeting),
        cmocka_unit_test(test_begin),
        cmocka_unit_test(test_result),
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_configs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
