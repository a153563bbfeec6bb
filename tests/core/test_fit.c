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

static const struct fit_guesses no_guesses = { NULL, 0, 0 };

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
    assert_true(fit_time(samples, MOST, &no_guesses, &time));
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
    assert_true(fit_time(samples, MOST, &no_guesses, &time));
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
        assert_true(fit_time(samples, 20, &no_guesses, &time));
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
    assert_true(fit_time(falling, 10, &no_guesses, &time));
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
    assert_true(fit_time(samples, 4, &no_guesses, &time));
    /* Minimal sum of (x / s - 1)^2: x = sum(1/s) / sum(1/s^2), hardly more than the short time. */
    assert_true(fabsf(time.coefficient[KILN_TERM_CALL] / 1.001e6f - 1) < 1e-3f);
    for (size_t i = 0; i < 4; i++)
        samples[i].terms[KILN_TERM_A] = i < 2 ? 1 : 1000000;
    assert_true(fit_time(samples, 4, &no_guesses, &time));
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
        assert_false(fit_time(samples, num, &no_guesses, &time));
    assert_true(fit_time(samples, FIT_LEAST, &no_guesses, &time));
    assert_true(kiln_time_is_sound(&time));
}

/* Whether all coefficients are a multiple of others. */
static void check_multiple(const struct kiln_time *time, const struct kiln_time *of, float factor)
{
    for (unsigned t = 0; t < KILN_NUM_TERMS; t++)
        assert_true(fabsf(time->coefficient[t] - factor * of->coefficient[t]) <=
                    1e-3f * factor * of->coefficient[t]);
}

/* The median of what the samples took longer; of many, that of the first. */
static void a_prior_is_compared(void **state)
{
    static struct fit_sample samples[2 * FIT_ENOUGH];
    struct kiln_time prior = known(), twice = known(), time = known();
    (void) state;
    assert_true(fit_factor_over(&prior, NULL, 0) == 1);
    for (unsigned t = 0; t < KILN_NUM_TERMS; t++)
        twice.coefficient[t] *= 2;
    random_state = 4;
    make_samples(&twice, 0, samples, 2 * FIT_ENOUGH);
    for (size_t i = FIT_ENOUGH; i < 2 * FIT_ENOUGH; i++)
        samples[i].seconds *= 1000;
    for (size_t num = 1; num <= 2 * FIT_ENOUGH; num += 37)
        assert_true(fabs(fit_factor_over(&prior, samples, num) - 2) < 1e-3);
    samples[0].seconds *= 100; /* the median does not care */
    samples[1].seconds /= 100;
    fit_lengthen(&time, fit_factor_over(&prior, samples, 9));
    check_multiple(&time, &prior, 2);
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
    assert_true(fit_time(samples, MOST, &no_guesses, &time));
    make_samples(&truth, 0, samples, MOST);
    assert_true(mean_error(&time, samples, MOST) < 0.05);
    /* Times without a spread, of one shape, and extremes. */
    for (size_t i = 1; i < MOST; i++)
        samples[i] = samples[0];
    assert_true(fit_time(samples, MOST, &no_guesses, &time));
    assert_true(worst_error(&time, samples, MOST) < 0.01);
    for (size_t i = 0; i < MOST; i++) {
        for (unsigned t = 0; t < KILN_NUM_TERMS; t++)
            samples[i].terms[t] = i % 2 ? KILN_TIME_MAX : 0;
        samples[i].seconds = i % 3 ? 1e-9 : 1e4;
    }
    assert_true(fit_time(samples, MOST, &no_guesses, &time));
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
    assert_true(fit_time(samples, MOST, &no_guesses, &time));
    for (unsigned t = 0; t < KILN_NUM_TERMS; t++) {
        char digits[32];
        snprintf(digits, sizeof digits, "%.5g", (double) time.coefficient[t]);
        assert_true(strtof(digits, NULL) == time.coefficient[t]);
    }
}

/* What the fit makes least: near 1 each factor q of told over measured time counts as the square of
 * its logarithm. */
static double misfit(const struct kiln_time *time, const struct fit_sample *samples, size_t num)
{
    double sum = 0;
    for (size_t i = 0; i < num; i++) {
        const double q = seconds_of(time, samples[i].terms) / samples[i].seconds;
        sum += 2 * (q - 1 - log(q));
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
        assert_true(fit_time(samples, MOST, &no_guesses, &time));
        const double least = misfit(&time, samples, MOST);
        for (unsigned t = 0; t < KILN_NUM_TERMS; t++)
            for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
                struct kiln_time other = time;
                other.coefficient[t] = (float) (steps[i] * (double) time.coefficient[t]);
                if (!(time.coefficient[t] > 0) && i == 3)
                    other.coefficient[t] = 1e-3f;
                assert_true(misfit(&other, samples, MOST) > least * (1 - 1e-4));
            }
    }
}

/* ---- families ---- */

/* Recipes that differ in their tiles, and somewhat in speed. */
static const struct member {
    uint32_t tile[3];
    double factor;
} members[] = {
    { { 128, 64, 32 }, 1 },
    { { 64, 64, 32 }, 1.3 },
    { { 256, 128, 16 }, 0.8 },
    { { 32, 32, 32 }, 1.1 },
    { { 64, 128, 64 }, 0.9 },          /* timed once, and not at all */
    { { 128, 32, 16 }, 1 },
};

enum { NUM_MEMBERS = sizeof members / sizeof members[0], TIMED_OFTEN = 4, EACH = 40 };

/* The times of a member are those of its tile's products, fetched and stored elements. */
static struct fit_sample sample_of(const struct member *member)
{
    struct kiln_recipe recipe = tiles();
    struct kiln_time law = { { 0 } };
    struct fit_sample sample;
    const double m = member->tile[0], n = member->tile[1], k = member->tile[2];
    const struct kiln_product product = kiln_product_dense(KILN_ID_SINGLE, 4, 0, 0, draw(8000),
            draw(8000), draw(8000));
    memcpy(recipe.tile, member->tile, sizeof recipe.tile);
    law.coefficient[KILN_TERM_CALL] = 5e6f;
    law.coefficient[KILN_TERM_STEPS] = (float) (3 * m * n * k + 20 * (m + n) * k);
    law.coefficient[KILN_TERM_ROUNDS] = (float) (50 * m * n);
    kiln_time_terms(&recipe, &product, UNITS, sample.terms);
    sample.seconds = member->factor * seconds_of(&law, sample.terms);
    return sample;
}

/* Times of those that were timed often, and one of the next. */
static size_t make_timings(struct fit_timing timings[NUM_MEMBERS * EACH],
        const struct fit_timing *list[NUM_MEMBERS * EACH])
{
    size_t num = 0;
    random_state = 11;
    for (unsigned i = 0; i <= TIMED_OFTEN; i++)
        for (unsigned j = 0; j < (i < TIMED_OFTEN ? EACH : 1); j++, num++) {
            timings[num] = (struct fit_timing){ sample_of(&members[i]), members[i].tile, i };
            list[num] = &timings[num];
        }
    return num;
}

/* What is told of recipes that were timed often, once, and never: the last without its factor. */
static void a_family_tells_of_its_recipes(void **state)
{
    static const double most[NUM_MEMBERS] = { 0.05, 0.05, 0.05, 0.05, 0.1, 0.15 };
    struct fit_timing timings[NUM_MEMBERS * EACH];
    const struct fit_timing *list[NUM_MEMBERS * EACH];
    struct fit_factor factors[NUM_MEMBERS];
    struct fit_family family;
    (void) state;
    fit_family(list, make_timings(timings, list), NUM_MEMBERS, factors, &family);
    assert_true(family.is_known);
    assert_int_equal(factors[0].num, EACH);
    assert_int_equal(factors[TIMED_OFTEN].num, 1);
    assert_true(factors[NUM_MEMBERS - 1].times == 1);
    for (unsigned i = 0; i < NUM_MEMBERS; i++) {
        double sum = 0;
        for (unsigned j = 0; j < EACH; j++) {
            const struct fit_sample sample = sample_of(&members[i]);
            const double guess = fit_guess(&family, members[i].tile, sample.terms);
            sum += fabs(factors[i].times * guess / sample.seconds - 1);
        }
        assert_true(sum / EACH < most[i]);
    }
}

/* Ten times that were measured are the least. */
static void few_times_tell_nothing_of_a_family(void **state)
{
    struct fit_timing timings[NUM_MEMBERS * EACH];
    const struct fit_timing *list[NUM_MEMBERS * EACH];
    struct fit_factor factors[NUM_MEMBERS];
    struct fit_family family;
    (void) state;
    make_timings(timings, list);
    fit_family(list, FIT_FAMILY_LEAST - 1, NUM_MEMBERS, factors, &family);
    assert_false(family.is_known);
    assert_true(factors[0].times == 1);
    fit_family(list, FIT_FAMILY_LEAST, NUM_MEMBERS, factors, &family);
    assert_true(family.is_known);
    fit_family(list, 0, NUM_MEMBERS, factors, &family);
    assert_false(family.is_known);
}

/* Where little was measured, guesses tell the times; where much was, even bad ones hardly count. */
static void guesses_count_as_a_few_samples(void **state)
{
    static struct fit_sample samples[10 * MOST], told[MOST];
    const struct fit_guesses guesses = { told, MOST, FIT_FAMILY_COUNTS };
    const struct kiln_time truth = known();
    struct kiln_time time;
    (void) state;
    random_state = 12;
    make_samples(&truth, 0, told, MOST);
    assert_true(fit_time(NULL, 0, &guesses, &time));
    assert_true(mean_error(&time, told, MOST) < 0.01);
    make_samples(&truth, 0, samples, 10 * MOST);
    assert_true(fit_time(samples, 2, &guesses, &time));
    assert_true(mean_error(&time, samples, MOST) < 0.05);
    for (size_t i = 0; i < MOST; i++)
        told[i].seconds *= 1.5;
    assert_true(fit_time(samples, 10 * MOST, &guesses, &time));
    assert_true(mean_error(&time, samples, 10 * MOST) < 0.03);
    assert_true(fit_time(samples, 2, &guesses, &time));
    assert_true(mean_error(&time, samples, MOST) > 0.2);
}

/* What was fitted to many shapes outweighs a few noisy ones; many measured times outweigh it. */
static void a_prior_counts_as_many_samples(void **state)
{
    static struct fit_sample samples[10 * MOST], told[MOST];
    const struct fit_guesses guesses = { told, MOST, FIT_PRIOR_COUNTS };
    const struct kiln_time truth = known();
    struct kiln_time alone, time;
    (void) state;
    random_state = 13;
    make_samples(&truth, 0, told, MOST);
    make_samples(&truth, 0.2, samples, 20);
    assert_true(fit_time(samples, 20, &no_guesses, &alone));
    assert_true(fit_time(samples, 20, &guesses, &time));
    assert_true(mean_error(&time, told, MOST) < 0.02);
    assert_true(mean_error(&alone, told, MOST) > 2 * mean_error(&time, told, MOST));
    for (size_t i = 0; i < MOST; i++)
        told[i].seconds *= 1.5;
    make_samples(&truth, 0, samples, 10 * MOST);
    assert_true(fit_time(samples, 10 * MOST, &guesses, &time));
    assert_true(mean_error(&time, samples, 10 * MOST) < 0.2);
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
        cmocka_unit_test(a_prior_is_compared),
        cmocka_unit_test(one_sample_does_not_break),
        cmocka_unit_test(five_digits_are_kept),
        cmocka_unit_test(a_family_tells_of_its_recipes),
        cmocka_unit_test(few_times_tell_nothing_of_a_family),
        cmocka_unit_test(guesses_count_as_a_few_samples),
        cmocka_unit_test(a_prior_counts_as_many_samples),
    };
    return cmocka_run_group_tests_name("fit", tests, NULL, NULL);
}
