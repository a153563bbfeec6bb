/* test_prior.c: times of recipes that a bundle knows of, generator/core/times.c. */
#include "fit.h"
#include "laws.h"
#include "times.h"

#include <math.h>

/* What a bundle knows of each configuration. */
static struct known {
    struct kiln_time time;
    bool is_known;
    struct prior_source source;
} known[sizeof configs / sizeof configs[0]];

static const struct kiln_time *know(const void *user, const struct device_facts *facts,
        const struct precision *precision, const struct config *config, struct prior_source *source)
{
    (void) user;
    (void) facts;
    (void) precision;
    for (size_t i = 0; i < sizeof configs / sizeof configs[0]; i++) {
        struct config named;
        char error[FAMILY_ERROR_BYTES];
        assert_true(config_parse(configs[i], &named, error));
        if (known[i].is_known && config_equal(&named, config)) {
            *source = known[i].source;
            return &known[i].time;
        }
    }
    return NULL;
}

static const struct prior_source device = { .bundle = 1, .is_for_device = true };
static const struct prior_source farther = { .bundle = 2, .is_for_device = true };
static const struct prior_source relative = { .bundle = 3 };

/* Known to take so many microseconds a call, at any shape. */
static void make_known(int config, double microseconds, struct prior_source source)
{
    known[config] = (struct known){ .is_known = true, .source = source };
    known[config].time.coefficient[KILN_TERM_CALL] = (float) (microseconds * 1e6);
}

static void begin_known(struct records *records)
{
    memset(known, 0, sizeof known);
    begin(records);
    records->prior = know;
}

static const struct times_candidate *candidate_of(const struct times *times, int config)
{
    struct config named;
    char error[FAMILY_ERROR_BYTES];
    assert_true(config_parse(configs[config], &named, error));
    return &times->candidates[times_find(times, &named)];
}

/* Microseconds that a configuration is told to take for a square of 100. */
static void check_told(const struct times *times, int config, double microseconds)
{
    const int at = (int) (candidate_of(times, config) - times->candidates);
    const double told = (double) times_predict(times, at, 0, (struct shape){ 100, 100, 100 }) *
                        1e-6;
    if (!(fabs(told - microseconds) <= 2e-3 * microseconds))
        fail_msg("%s: %g us, not %g", configs[config], told, microseconds);
}

static void open_known(const struct records *records, struct times *times)
{
    assert_true(times_open(records, precision_find("single"), false, times));
}

static void close_known(struct records *records, struct times *times)
{
    times_free(times);
    records_free(records);
}

/* Each by the median of its own times. */
static void what_a_relative_knows_is_scaled_one_by_one(void **state)
{
    struct records records;
    struct times times;
    (void) state;
    begin_known(&records);
    for (int config = A; config <= B; config++) {
        make_known(config, 10, relative);
        edges(&records, config, 0);
        add_squares(&records, config, (struct law){ config == A ? 20 : 80, 0 });
    }
    add_law(&records, RECORD_MATRIX, A, 300, 300, 300, (struct law){ 2000, 0 });
    open_known(&records, &times);
    check_told(&times, A, 20);
    check_told(&times, B, 80);
    close_known(&records, &times);
}

/* A, B and D take 2, 8 and 100 times as long as known: like twenty more times, 8 counts for each of
 * them, and alone for C, of which there is no time. */
static void what_the_device_knows_is_scaled_together(void **state)
{
    struct records records;
    struct times times;
    (void) state;
    begin_known(&records);
    for (int config = A; config <= D; config++) {
        make_known(config, 10, device);
        edges(&records, config, 0);
    }
    add_squares(&records, A, (struct law){ 20, 0 });
    add_squares(&records, B, (struct law){ 80, 0 });
    for (size_t size = 17; size <= 2176; size *= 2)
        add_law(&records, RECORD_MATRIX, D, size, size, size, (struct law){ 1000, 0 });
    open_known(&records, &times);
    check_told(&times, A, 80 * pow(2 / 8.0, 8 / 28.0));
    check_told(&times, B, 80);
    check_told(&times, C, 80);
    check_told(&times, D, 80 * pow(100 / 8.0, 8 / 28.0));
    close_known(&records, &times);
}

/* Times of other bundles do not compare with these. */
static void one_bundle_for_the_device_is_known(void **state)
{
    struct records records;
    struct times times;
    (void) state;
    begin_known(&records);
    make_known(A, 10, farther);
    make_known(B, 10, device);
    make_known(C, 10, relative);
    for (int config = A; config <= C; config++)
        edges(&records, config, 0);
    open_known(&records, &times);
    assert_false(candidate_of(&times, A)->has_prior || candidate_of(&times, A)->is_fitted);
    assert_true(candidate_of(&times, B)->has_prior && candidate_of(&times, B)->is_for_device);
    assert_false(candidate_of(&times, C)->has_prior || candidate_of(&times, C)->is_fitted);
    close_known(&records, &times);
    /* Unless none of its recipes runs here. */
    begin_known(&records);
    make_known(B, 10, device);
    make_known(C, 10, relative);
    edges(&records, C, 0);
    open_known(&records, &times);
    assert_true(candidate_of(&times, C)->has_prior && !candidate_of(&times, C)->is_for_device);
    close_known(&records, &times);
}

/* From so many times on a recipe is fitted to them; the others learn from it all the same. */
static void of_enough_times_nothing_is_known(void **state)
{
    (void) state;
    for (size_t num = FIT_ENOUGH - 1; num <= FIT_ENOUGH; num++) {
        struct records records;
        struct times times;
        begin_known(&records);
        make_known(A, 0, device);
        make_known(B, 10, device);
        known[A].time.coefficient[KILN_TERM_PRODUCTS] = 10 / 256.0f; /* 10 us for a square of 100 */
        edges(&records, A, 0);
        edges(&records, B, 0);
        for (size_t i = 0; i < num; i++)
            add_law(&records, RECORD_MATRIX, A, 100, 100, 100 + i, (struct law){ 30, 0 });
        open_known(&records, &times);
        const int at = (int) (candidate_of(&times, A) - times.candidates);
        const double twice = (double) times_predict(&times, at, 0,
                                     (struct shape){ 100, 100, 400 }) /
                             (double) times_predict(&times, at, 0, (struct shape){ 100, 100, 200 });
        /* By products, as it was known, or a call's time, as it was measured. */
        assert_true(num < FIT_ENOUGH ? fabs(twice - 2) < 1e-3 : twice < 1.5);
        assert_int_equal(times.candidates[at].num_samples, num);
        check_told(&times, B, 10 * 30 / (10 * (1 + (double) (num - 1 - num / 2) / 100)));
        close_known(&records, &times);
    }
}

/* A is fitted anew: known to take 10 microseconds at any shape, it was measured to take a hundred
 * times as long at a few where the operands are in no cache. What it takes there, microseconds,
 * where B is known to take so much for what is in no cache. */
static double told_uncached(const struct prior_source *of_b, float uncached)
{
    enum { LARGE = 6000, LARGE_ROWS = 6, SMALL = 100, SMALL_ROWS = 20 };
    struct records records;
    struct times times;
    begin_known(&records);
    records.prior_is_own = true;
    make_known(A, 10, device);
    make_known(B, 10, *of_b);
    known[B].time.coefficient[KILN_TERM_FETCHED_UNCACHED] = uncached;
    for (int config = A; config <= B; config++)
        edges(&records, config, 0);
    for (size_t i = 0; i < SMALL_ROWS; i++)
        add_law(&records, RECORD_MATRIX, A, SMALL + i, SMALL + i, SMALL + i, (struct law){ 10, 0 });
    for (size_t i = 0; i < LARGE_ROWS; i++)
        add_law(&records, RECORD_MATRIX, A, LARGE + i, LARGE + i, LARGE + i,
                (struct law){ 1000, 0 });
    open_known(&records, &times);
    const int at = (int) (candidate_of(&times, A) - times.candidates);
    const double told =
            (double) times_predict(&times, at, 0, (struct shape){ LARGE, LARGE, LARGE }) * 1e-6;
    close_known(&records, &times);
    return told;
}

/* A bundle that is older than the term for what is in no cache tells nothing of such shapes. One
 * coefficient of the device's shows that there was the term; a relative's does not. */
static void an_older_bundle_knows_no_caches(void **state)
{
    (void) state;
    assert_true(fabs(told_uncached(&device, 0) - 1000) < 100);
    assert_true(fabs(told_uncached(&relative, 1) - 1000) < 100);
    assert_true(told_uncached(&device, 1) < 100);
    assert_true(told_uncached(&farther, 1) < 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_relative_knows_is_scaled_one_by_one),
        cmocka_unit_test(what_the_device_knows_is_scaled_together),
        cmocka_unit_test(one_bundle_for_the_device_is_known),
        cmocka_unit_test(an_older_bundle_knows_no_caches),
        cmocka_unit_test(of_enough_times_nothing_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
