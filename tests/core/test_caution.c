/* test_caution.c: times of few samples, as generator/core/select.c counts them. */
#include "laws.h"
#include "predict.h"
#include "select.h"

#include <math.h>

static struct winners winners;

static void select_all(struct records *records)
{
    char error[FAMILY_ERROR_BYTES] = "";
    if (!select_within(records, "test", NULL, &winners, error))
        fail_msg("%s", error);
    records_free(records);
}

static void check_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-3 * expected))
        fail_msg("%g is not %g", value, expected);
}

/* What the only chosen recipe tells of a thousand calls. */
static double told(int config)
{
    const uint64_t terms[KILN_NUM_TERMS] = { [KILN_TERM_CALL] = 1000 };
    struct config wanted;
    char error[FAMILY_ERROR_BYTES];
    assert_true(config_parse(configs[config], &wanted, error));
    assert_int_equal(winners.num_recipes, 1);
    assert_true(config_equal(&winners.recipes[0].config, &wanted));
    return (double) kiln_time_sum(&winners.recipes[0].time, terms);
}

/* What A's times, each so often in the journal, tell of a call. */
static double told_of(bool is_cpu, int times)
{
    struct records records;
    begin(&records);
    records.head.facts.value[FACT_IS_CPU] = is_cpu;
    edges(&records, A, 0);
    for (int i = 0; i < times; i++)
        add_squares(&records, A, (struct law){ 10, 0 });
    select_all(&records);
    return told(A);
}

static bool is_for_device; /* where A is known from */

static const struct kiln_time *know_a(const void *user, const struct device_facts *facts,
        const struct precision *precision, const struct config *config, struct prior_source *source)
{
    static const struct kiln_time known = { { [KILN_TERM_CALL] = 1e7f } };
    char text[CONFIG_TEXT_BYTES];
    (void) user;
    (void) facts;
    (void) precision;
    source->is_for_device = is_for_device;
    config_format(config, text);
    return strncmp(text, configs[A], strlen(configs[A])) ? NULL : &known;
}

/* How many are chosen beside A, which is known to take 10 us and does, of B alone. */
static unsigned chosen_beside_a(bool is_cpu, double microseconds)
{
    struct records records;
    begin(&records);
    records.head.facts.value[FACT_IS_CPU] = is_cpu;
    records.prior = know_a;
    edges(&records, A, 0);
    add_squares(&records, A, (struct law){ 10, 0 });
    edges(&records, B, 0);
    add_squares(&records, B, (struct law){ microseconds, 0 });
    select_all(&records);
    return winners.num_recipes - 1;
}

/* B's eight times count as 1 + 8/9 times as long; on a CPU beside what is known of the device, as
 * 1 + 30/9. */
static void what_is_known_is_left_for_a_clear_gain(void **state)
{
    (void) state;
    for (int which = 0; which < 4; which++) {
        const bool is_cpu = which & 1;
        is_for_device = which & 2;
        const double most = is_cpu && is_for_device ? 10 / (1 + 30 / 9.0) : 10 / (1 + 8 / 9.0);
        assert_int_equal(chosen_beside_a(is_cpu, 1.1 * most), 0);
        assert_int_equal(chosen_beside_a(is_cpu, 0.9 * most), 1);
    }
    is_for_device = false;
}

static void few_samples_are_trusted_less(void **state)
{
    (void) state;
    struct records records;
    const double plain = told_of(false, 1);
    check_near(told_of(false, 2), plain);
    check_near(told_of(true, 1), (1 + 8 / 9.0) * plain);
    check_near(told_of(true, 5), (1 + 8 / 41.0) * plain);
    /* On a GPU, where a relative knows of A: B, which is as fast, is not trusted as far. */
    begin(&records);
    records.head.facts.value[FACT_IS_CPU] = 0;
    records.prior = know_a;
    for (int config = A; config <= B; config++) {
        edges(&records, config, 0);
        add_squares(&records, config, (struct law){ 10, 0 });
    }
    select_all(&records);
    check_near(told(A), plain);
}

/* Where a bundle's own coefficients are fitted anew, on a CPU too. */
static void what_a_bundle_knows_of_itself_is_trusted(void **state)
{
    (void) state;
    struct records records;
    const double plain = told_of(false, 1);
    begin(&records);
    records.prior = know_a;
    records.prior_is_own = true;
    edges(&records, A, 0);
    add_squares(&records, A, (struct law){ 10, 0 });
    select_all(&records);
    check_near(told(A), plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_samples_are_trusted_less),
        cmocka_unit_test(what_is_known_is_left_for_a_clear_gain),
        cmocka_unit_test(what_a_bundle_knows_of_itself_is_trusted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
