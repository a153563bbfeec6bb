/* test_fit.c: coefficients from times that are known to follow them, generator/core/fit.c. */
#include "fit.h"
#include "random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 80, UNITS = 132 };

static uint64_t random_state;

/* From 1 to `most`, log-uniform. */
static size_t draw(double most)
{
    const double part = (double) (random_next(&random_state) >> 11) * 0x1p-53;
    return (size_t) exp(part * log(most)) + 1;
}

static struct kiln_recipe tiles(void)
{
    return (struct kiln_recipe){
        .precision = KILN_ID_SINGLE,
        .tile = { 128, 64, 32 },
        .reach = { 128, 64, 32 },
        .split = 1,
    };
}

static double seconds_of(const struct kiln_time *time, const uint64_t terms[KILN_NUM_TERMS])
{
    double sum = 0;
    for (unsigned t = 0; t < KILN_NUM_TERMS; t++)
        sum += (double) time->coefficient[t] * (double) terms[t];
    return sum * 1e-12;
}

/* Times of shapes of all kinds, with this relative noise. */
static void make_samples(const struct kiln_time *time, double noise, struct fit_sample *samples,
        size_t num)
{
    const struct kiln_recipe recipe = tiles();
    for (size_t i = 0; i < num; i++) {
        const struct kiln_product product = kiln_product_dense(KILN_ID_SINGLE, 4, i & 1, i / 2 & 1,
                draw(8000), draw(8000), draw(8000));
        kiln_time_terms(&recipe, &product, UNITS, samples[i].terms);
        const double part = (double) (random_next(&random_state) >> 11) * 0x1p-52 - 1;
        samples[i].seconds = seconds_of(time, samples[i].terms) * (1 + noise * part);
    }
}

/* The largest relative error of the times that coefficients give. */
static double worst_error(const struct kiln_time *time, const struct fit_sample *samples,
        size_t num)
{
    double worst = 0;
    for (size_t i = 0; i < num; i++)
        worst = fmax(worst, fabs(seconds_of(time, samples[i].terms) / samples[i].seconds - 1));
    return worst;
}

static double mean_error(const struct kiln_time *time, const struct fit_sample *samples, size_t num)
{
    double sum = 0;
    for (size_t i = 0; i < num; i++)
        sum += fabs(seconds_of(time, samples[i].terms) / samples[i].seconds - 1);
    return sum / (double) num;
}

/* Few terms, as a recipe has them. */
static struct kiln_time known(void)
{
    struct kiln_time time = { { 0 } };
    time.coefficient[KILN_TERM_CALL] = 5e6f;
    time.coefficient[KILN_TERM_STEPS] = 4000;
    time.coefficient[KILN_TERM_ROUNDS] = 800000;
    time.coefficient[KILN_TERM_RAGGED_C] = 3;
    time.coefficient[KILN_TERM_FETCHED_TRANSPOSED_A] = 0.05f;
    return time;
}

static void known_coefficients_are_found(void **state)
{
    struct fit_sample samples[MOST];
    const struct kiln_time truth = known();
    struct kiln_time time;
    (void) state;
    random_state = 1;
    make_samples(&truth, 0, samples, MOST);
    assert_true(fit_time(samples, MOST, NULL, &time));
    assert_true(kiln_time_is_sound(&time));
    assert_true(fabsf(time.coefficient[KILN_TERM_CALL] / 5e6f - 1) < 0.02f);
    assert_true(fabsf(time.coefficient[KILN_TERM_RAGGED_C] / 3 - 1) < 0.3f);
    assert_true(worst_error(&time, samples, MOST) < 0.03);
    /* And they hold for shapes that were not seen. */
    make_samples(&truth, 0, samples, MOST);
    assert_true(worst_error(&time, samples, MOST) < 0.1);
}

static void noise_is_averaged(void **state)
{
    struct fit_sample samples[MOST];
    const struct kiln_time truth = known();
    struct kiln_time time;
    (void) state;
    random_state = 2;
    make_samples(&truth, 0.1, samples, MOST); /* 5 % in the mean */
    assert_true(fit_time(samples, MOST, NULL, &time));
    make_samples(&truth, 0, samples, MOST);
    assert_true(mean_error(&time, samples, MOST) < 0.05);
}

/* Where the best line would go below nothing, the coefficient is 0. */
static void no_coefficient_is_negative(void **state)
{
    (void) state;
    for (unsigned seed = 0; seed < 50; seed++) {
        struct fit_sample samples[20];
        struct kiln_time time;
        random_state = seed;
        for (size_t i = 0; i < 20; i++) {
            for (unsigned t = 0; t < KILN_NUM_TERMS; t++)
                samples[i].terms[t] = draw(1e12) - 1;
            samples[i].seconds = (double) draw(1e9) * 1e-9;
        }
        assert_true(fit_time(samples, 20, NULL, &time));
        assert_true(kiln_time_is_sound(&time));
    }
    struct fit_sample falling[10];
    struct kiln_time time;
    memset(falling, 0, sizeof falling);
    for (size_t i = 0; i < 10; i++) {
        falling[i].terms[KILN_TERM_CALL] = 1;
        falling[i].terms[KILN_TERM_A] = 100 * (i + 1); /* the more, the shorter */
        falling[i].seconds = 1e-6 * (double) (20 - i);
    }
    assert_true(fit_time(falling, 10, NULL, &time));
    assert_true(time.coefficient[KILN_TERM_A] == 0);
    assert_true(time.coefficient[KILN_TERM_CALL] > 10e6f);
    assert_true(time.coefficient[KILN_TERM_CALL] < 20e6f);
}

/* At one size 1 and 2 us, at another 1 and 2 ms: with squares of relative errors, either pair has
 * the same say, and a constant lies where it is as far from both by ratio. */
static void relative_errors_count(void **state)
{
    struct fit_sample samples[4];
    struct kiln_time time;
    (void) state;
    memset(samples, 0, sizeof samples);
    for (size_t i = 0; i < 4; i++) {
        samples[i].terms[KILN_TERM_CALL] = 1;
        samples[i].seconds = i < 2 ? 1e-6 : 1e-3;
    }
    assert_true(fit_time(samples, 4, NULL, &time));
    /* Minimal sum of (x / s - 1)^2: x = sum(1/s) / sum(1/s^2), hardly more than the short time. */
    assert_true(fabsf(time.coefficient[KILN_TERM_CALL] / 1.001e6f - 1) < 1e-3f);
    for (size_t i = 0; i < 4; i++)
        samples[i].terms[KILN_TERM_A] = i < 2 ? 1 : 1000000;
    assert_true(fit_time(samples, 4, NULL, &time));
    assert_true(worst_error(&time, samples, 4) < 0.01);
}

static void few_samples_say_nothing(void **state)
{
    struct fit_sample samples[FIT_LEAST];
    const struct kiln_time truth = known();
    struct kiln_time time;
    (void) state;
    random_state = 3;
    make_samples(&truth, 0, samples, FIT_LEAST);
    for (size_t num = 0; num < FIT_LEAST; num++)
        assert_false(fit_time(samples, num, NULL, &time));
    assert_true(fit_time(samples, FIT_LEAST, NULL, &time));
    assert_true(kiln_time_is_sound(&time));
}

/* Whether all coefficients are a multiple of others. */
static void check_multiple(const struct kiln_time *time, const struct kiln_time *of, float factor)
{
    for (unsigned t = 0; t < KILN_NUM_TERMS; t++)
        assert_true(fabsf(time->coefficient[t] - factor * of->coefficient[t]) <=
                    1e-3f * factor * of->coefficient[t]);
}

/* A relative says how the time depends on the shape; the samples, how long it takes here. */
static void a_prior_is_scaled(void **state)
{
    static struct fit_sample samples[FIT_ENOUGH];
    struct kiln_time prior = known(), twice = known(), time, alone;
    (void) state;
    assert_true(fit_time(NULL, 0, &prior, &time));
    assert_memory_equal(&time, &prior, sizeof time);
    for (unsigned t = 0; t < KILN_NUM_TERMS; t++)
        twice.coefficient[t] *= 2;
    random_state = 4;
    make_samples(&twice, 0, samples, FIT_ENOUGH);
    for (size_t num = 1; num < FIT_ENOUGH; num += 37) {
        assert_true(fit_time(samples, num, &prior, &time));
        check_multiple(&time, &prior, 2);
    }
    samples[0].seconds *= 100; /* the median does not care */
    samples[1].seconds /= 100;
    assert_true(fit_time(samples, 9, &prior, &time));
    check_multiple(&time, &prior, 2);
    assert_true(fit_time(samples, FIT_ENOUGH, &prior, &time));
    assert_true(fit_time(samples, FIT_ENOUGH, NULL, &alone));
    assert_memory_equal(&time, &alone, sizeof time);
}

/* One time that is ten times too long among many does not spoil the others much. */
static void one_sample_does_not_break(void **state)
{
    struct fit_sample samples[MOST];
    const struct kiln_time truth = known();
    struct kiln_time time;
    (void) state;
    random_state = 5;
    make_samples(&truth, 0, samples, MOST);
    samples[7].seconds *= 10;
    assert_true(fit_time(samples, MOST, NULL, &time));
    make_samples(&truth, 0, samples, MOST);
    assert_true(mean_error(&time, samples, MOST) < 0.05);
    /* Times without a spread, of one shape, and extremes. */
    for (size_t i = 1; i < MOST; i++)
        samples[i] = samples[0];
    assert_true(fit_time(samples, MOST, NULL, &time));
    assert_true(worst_error(&time, samples, MOST) < 0.01);
    for (size_t i = 0; i < MOST; i++) {
        for (unsigned t = 0; t < KILN_NUM_TERMS; t++)
            samples[i].terms[t] = i % 2 ? KILN_TIME_MAX : 0;
        samples[i].seconds = i % 3 ? 1e-9 : 1e4;
    }
    assert_true(fit_time(samples, MOST, NULL, &time));
    assert_true(kiln_time_is_sound(&time));
}

/* The text of winners.tsv holds five digits: what is read there is what was fitted. */
static void five_digits_are_kept(void **state)
{
    struct fit_sample samples[MOST];
    const struct kiln_time truth = known();
    struct kiln_time time;
    (void) state;
    random_state = 6;
    make_samples(&truth, 0.05, samples, MOST);
    assert_true(fit_time(samples, MOST, NULL, &time));
    for (unsigned t = 0; t < KILN_NUM_TERMS; t++) {
        char digits[32];
        snprintf(digits, sizeof digits, "%.5g", (double) time.coefficient[t]);
        assert_true(strtof(digits, NULL) == time.coefficient[t]);
    }
}

/* The sum of squares of the relative errors. */
static double squares(const struct kiln_time *time, const struct fit_sample *samples, size_t num)
{
    double sum = 0;
    for (size_t i = 0; i < num; i++) {
        const double error = seconds_of(time, samples[i].terms) / samples[i].seconds - 1;
        sum += error * error;
    }
    return sum;
}

/* With noise, and laws in which terms are alike: no coefficient can be changed for the better. */
static void no_change_is_for_the_better(void **state)
{
    static const double steps[] = { 0.9, 0.99, 1.01, 1.1 };
    (void) state;
    for (random_state = 1; random_state < 40; random_state += 2) {
        struct fit_sample samples[MOST];
        struct kiln_time law = known(), time;
        for (unsigned t = 0; t < KILN_NUM_TERMS; t++)
            if (random_next(&random_state) % 3 == 0)
                law.coefficient[t] = (float) draw(5000);
        make_samples(&law, 0.5, samples, MOST);
        assert_true(fit_time(samples, MOST, NULL, &time));
        const double least = squares(&time, samples, MOST);
        for (unsigned t = 0; t < KILN_NUM_TERMS; t++)
            for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
                struct kiln_time other = time;
                other.coefficient[t] = (float) (steps[i] * (double) time.coefficient[t]);
                if (!(time.coefficient[t] > 0) && i == 3)
                    other.coefficient[t] = 1e-3f;
                assert_true(squares(&other, samples, MOST) > least * (1 - 1e-4));
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_change_is_for_the_better),
        cmocka_unit_test(known_coefficients_are_found),
        cmocka_unit_test(noise_is_averaged),
        cmocka_unit_test(no_coefficient_is_negative),
        cmocka_unit_test(relative_errors_count),
        cmocka_unit_test(few_samples_say_nothing),
        cmocka_unit_test(a_prior_is_scaled),
        cmocka_unit_test(one_sample_does_not_break),
        cmocka_unit_test(five_digits_are_kept),
    };
    return cmocka_run_group_tests_name("fit", tests, NULL, NULL);
}
