/* test_prior.c: times of recipes that a bundle knows of, generator/core/times.c. */
#include "fit.h"
#include "laws.h"
#include "times.h"

#include <math.h>

/* What a bundle knows of each configuration. */
static struct known {
    struct kiln_time time;
    bool is_known, is_for_device;
} known[sizeof configs / sizeof configs[0]];

static const struct kiln_time *know(const struct device_facts *facts,
        const struct precision *precision, const struct config *config, struct prior_source *source)
{
    (void) facts;
    (void) precision;
    for (size_t i = 0; i < sizeof configs / sizeof configs[0]; i++) {
        struct config named;
        char error[FAMILY_ERROR_BYTES];
        assert_true(config_parse(configs[i], &named, error));
        if (known[i].is_known && config_equal(&named, config)) {
            source->is_for_device = known[i].is_for_device;
            return &known[i].time;
        }
    }
    return NULL;
}

/* Known to take so many microseconds a call, at any shape. */
static void make_known(int config, double microseconds, bool is_for_device)
{
    known[config] = (struct known){ .is_known = true, .is_for_device = is_for_device };
    known[config].time.coefficient[KILN_TERM_CALL] = (float) (microseconds * 1e6);
}

static void begin_known(struct records *records)
{
    memset(known, 0, sizeof known);
    begin(records);
    records->prior = know;
}

/* Ends the journal; what each is told to take for a square of 100, microseconds. */
static void check_told(struct records *records, int num, const double microseconds[])
{
    const struct precision *precision = precision_find("single");
    struct times times;
    assert_true(times_open(records, precision, false, &times));
    for (int i = 0; i < num; i++) {
        struct config named;
        char error[FAMILY_ERROR_BYTES];
        assert_true(config_parse(configs[i], &named, error));
        const uint64_t told = times_predict(&times, times_find(&times, &named), 0, 100, 100, 100);
        if (!(fabs((double) told * 1e-6 - microseconds[i]) <= 1e-3 * microseconds[i]))
            fail_msg("%s: %g us, not %g", configs[i], (double) told * 1e-6, microseconds[i]);
    }
    times_free(&times);
    records_free(records);
}

/* Each by the median of its own times. */
static void what_a_relative_knows_is_scaled_one_by_one(void **state)
{
    struct records records;
    (void) state;
    begin_known(&records);
    for (int config = A; config <= B; config++) {
        make_known(config, 10, false);
        edges(&records, config, 0);
        add_squares(&records, config, (struct law){ config == A ? 20 : 80, 0 });
    }
    add_law(&records, RECORD_MATRIX, A, 300, 300, 300, (struct law){ 2000, 0 });
    check_told(&records, 2, (const double[]){ 20, 80 });
}

/* Together, by the median of all, also one without a time. */
static void what_the_device_knows_is_scaled_alike(void **state)
{
    struct records records;
    (void) state;
    begin_known(&records);
    for (int config = A; config <= C; config++) {
        make_known(config, config == C ? 7 : 10, true);
        edges(&records, config, 0);
        if (config != C)
            add_squares(&records, config, (struct law){ config == A ? 20 : 80, 0 });
    }
    check_told(&records, 3, (const double[]){ 40, 40, 28 });
}

/* From so many times on a recipe is fitted to them; the others learn from it all the same. */
static void of_enough_times_nothing_is_known(void **state)
{
    (void) state;
    for (size_t num = FIT_ENOUGH - 1; num <= FIT_ENOUGH; num++) {
        struct records records;
        begin_known(&records);
        make_known(A, 10, true);
        make_known(B, 10, true);
        known[A].time.coefficient[KILN_TERM_CALL] = 0;
        known[A].time.coefficient[KILN_TERM_PRODUCTS] = 10; /* 10 us for a square of 100 */
        edges(&records, A, 0);
        edges(&records, B, 0);
        for (size_t i = 0; i < num; i++)
            add_law(&records, RECORD_MATRIX, A, 100 + i, 100, 100, (struct law){ 30, 0 });
        struct times times;
        struct config a;
        char error[FAMILY_ERROR_BYTES];
        assert_true(config_parse(configs[A], &a, error));
        assert_true(times_open(&records, precision_find("single"), false, &times));
        const int at = times_find(&times, &a);
        const double twice = (double) times_predict(&times, at, 0, 400, 100, 100) /
                             (double) times_predict(&times, at, 0, 200, 100, 100);
        /* Products as it was known, or a call's time as it was measured. */
        assert_true(num < FIT_ENOUGH ? fabs(twice - 2) < 1e-3 : twice < 1.5);
        assert_int_equal(times.candidates[at].num_samples, num);
        times_free(&times);
        records_free(&records);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_relative_knows_is_scaled_one_by_one),
        cmocka_unit_test(what_the_device_knows_is_scaled_alike),
        cmocka_unit_test(of_enough_times_nothing_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
