/* fit.c: see fit.h. */
#include "fit.h"
#include "nnls.h"
#include "sort.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double picoseconds = 1e12;

/* A recipe is fitted so many times, each time with weights from the fit before, which are so large
 * at most. */
enum { PASSES = 4, MOST_BALANCE = 2 };

/* A family and the factors of its recipes are fitted in turn, so often. */
enum { FAMILY_PASSES = 3 };

/* For each term that goes with the work of a tile: which part of the work. */
static const struct by_tile {
    enum fit_by_tile by;
    unsigned term;
} by_tile[] = {
    { FIT_BY_PRODUCTS, KILN_TERM_STEPS },
    { FIT_BY_PRODUCTS, KILN_TERM_PAIRED_STEPS },
    { FIT_BY_PRODUCTS, KILN_TERM_EVEN },
    { FIT_BY_PRODUCTS, KILN_TERM_DEPTH },
    { FIT_BY_FETCHED, KILN_TERM_STEPS },
    { FIT_BY_FETCHED, KILN_TERM_PAIRED_STEPS },
    { FIT_BY_FETCHED, KILN_TERM_EVEN },
    { FIT_BY_FETCHED, KILN_TERM_DEPTH },
    { FIT_BY_STORED, KILN_TERM_ROUNDS },
    { FIT_BY_STORED, KILN_TERM_PAIRED_ROUNDS },
};

enum { NUM_BY_TILE = sizeof by_tile / sizeof by_tile[0] };

_Static_assert(KILN_NUM_TERMS + NUM_BY_TILE <= NNLS_MOST_TERMS, "a family has too many terms");

/* ---- one recipe ---- */

/* As winners.tsv holds it, so that what is emitted now and from that file is the same. */
static float as_written(double value)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%.5g", value);
    return strtof(digits, NULL);
}

/* The square of a relative error is less for a time told too short than for one told too long by
 * the same factor. With these weights both count about the same. The weights are bounded, so that a
 * single wild time does not count much more than others. */
static double balance(double measured, double told)
{
    return told > 0 ? fmin(fmax(measured / told, 1.0 / MOST_BALANCE), MOST_BALANCE) : MOST_BALANCE;
}

/* told: the coefficients that the samples are weighted by; NULL: all weigh the same. */
static void add_samples(const struct fit_sample *samples, size_t num, double weight,
        const double *told, struct nnls *nnls)
{
    for (size_t i = 0; i < num; i++) {
        const double measured = samples[i].seconds * picoseconds;
        double terms[KILN_NUM_TERMS], sum = 0;
        for (unsigned t = 0; t < KILN_NUM_TERMS; t++) {
            terms[t] = (double) samples[i].terms[t];
            sum += told ? told[t] * terms[t] : 0;
        }
        nnls_add(nnls, terms, measured, told ? weight * balance(measured, sum) : weight);
    }
}

static void solve(const struct fit_sample *samples, size_t num, const struct fit_guesses *guesses,
        struct kiln_time *time)
{
    double x[NNLS_MOST_TERMS];
    for (int pass = 0; pass < PASSES; pass++) {
        struct nnls nnls = { .num_terms = KILN_NUM_TERMS };
        const double *told = pass > 0 ? x : NULL;
        add_samples(samples, num, 1, told, &nnls);
        if (guesses->num)
            add_samples(guesses->samples, guesses->num, guesses->count / (double) guesses->num,
                    told, &nnls);
        nnls_solve(&nnls, x);
    }
    for (unsigned t = 0; t < KILN_NUM_TERMS; t++)
        time->coefficient[t] = as_written(x[t]);
}

double fit_factor_over(const struct kiln_time *prior, const struct fit_sample *samples, size_t num)
{
    double factors[FIT_ENOUGH];
    size_t known = 0;
    for (size_t i = 0; i < num && known < FIT_ENOUGH; i++) {
        const double predicted = (double) kiln_time_sum(prior, samples[i].terms);
        if (predicted > 0)
            factors[known++] = samples[i].seconds * picoseconds / predicted;
    }
    qsort(factors, known, sizeof *factors, compare_doubles);
    return known ? factors[known / 2] : 1;
}

void fit_lengthen(struct kiln_time *time, double factor)
{
    for (unsigned t = 0; t < KILN_NUM_TERMS; t++)
        time->coefficient[t] = as_written(factor * (double) time->coefficient[t]);
}

bool fit_time(const struct fit_sample *samples, size_t num, const struct fit_guesses *guesses,
        struct kiln_time *time)
{
    if (num < FIT_LEAST && !guesses->num)
        return false;
    solve(samples, num, guesses, time);
    return true;
}

/* ---- families ---- */

static double size_by(enum fit_by_tile by, const uint32_t tile[3])
{
    const double m = tile[0], n = tile[1], k = tile[2];
    return by == FIT_BY_PRODUCTS ? m * n * k
         : by == FIT_BY_FETCHED  ? (m + n) * k
         : by == FIT_BY_STORED   ? m * n
                                 : 1;
}

static void add_timing(const struct fit_timing *timing, double factor, struct nnls *nnls)
{
    const uint64_t *terms = timing->sample.terms;
    double row[NNLS_MOST_TERMS];
    for (unsigned t = 0; t < KILN_NUM_TERMS; t++)
        row[t] = (double) terms[t];
    for (unsigned i = 0; i < NUM_BY_TILE; i++)
        row[KILN_NUM_TERMS + i] = (double) terms[by_tile[i].term] *
                                  size_by(by_tile[i].by, timing->tile);
    nnls_add(nnls, row, timing->sample.seconds * picoseconds / factor, 1);
}

static void solve_family(const struct fit_timing *const *timings, size_t num,
        const struct fit_factor *factors, struct fit_family *family)
{
    struct nnls nnls = { .num_terms = KILN_NUM_TERMS + NUM_BY_TILE };
    double x[NNLS_MOST_TERMS];
    for (size_t i = 0; i < num; i++)
        add_timing(timings[i], factors[timings[i]->candidate].times, &nnls);
    nnls_solve(&nnls, x);
    memset(family->coefficient, 0, sizeof family->coefficient);
    memcpy(family->coefficient[FIT_BY_NONE], x, sizeof family->coefficient[FIT_BY_NONE]);
    for (unsigned i = 0; i < NUM_BY_TILE; i++)
        family->coefficient[by_tile[i].by][by_tile[i].term] = x[KILN_NUM_TERMS + i];
}

double fit_guess(const struct fit_family *family, const uint32_t tile[3],
        const uint64_t terms[KILN_NUM_TERMS])
{
    double sum = 0;
    for (unsigned by = 0; by < FIT_NUM_BY; by++) {
        double of_tile = 0;
        for (unsigned t = 0; t < KILN_NUM_TERMS; t++)
            of_tile += family->coefficient[by][t] * (double) terms[t];
        sum += of_tile * size_by((enum fit_by_tile) by, tile);
    }
    return sum / picoseconds;
}

/* For each recipe the mean of the logarithms, as if one more time had been just what the family
 * tells. */
static void find_factors(const struct fit_family *family, const struct fit_timing *const *timings,
        size_t num, unsigned num_candidates, struct fit_factor *factors)
{
    for (unsigned c = 0; c < num_candidates; c++)
        factors[c] = (struct fit_factor){ .times = 1 };
    for (size_t i = 0; i < num; i++) {
        struct fit_factor *factor = &factors[timings[i]->candidate];
        const double guess = fit_guess(family, timings[i]->tile, timings[i]->sample.terms);
        if (guess > 0) {
            factor->sum += log(timings[i]->sample.seconds / guess);
            factor->num++;
        }
    }
    for (unsigned c = 0; c < num_candidates; c++)
        factors[c].times = exp(factors[c].sum / (factors[c].num + 1));
}

void fit_family(const struct fit_timing *const *timings, size_t num, unsigned num_candidates,
        struct fit_factor *factors, struct fit_family *family)
{
    *family = (struct fit_family){ .is_known = num >= FIT_FAMILY_LEAST };
    for (unsigned c = 0; c < num_candidates; c++)
        factors[c] = (struct fit_factor){ .times = 1 };
    for (int pass = 0; family->is_known && pass < FAMILY_PASSES; pass++) {
        solve_family(timings, num, factors, family);
        find_factors(family, timings, num, num_candidates, factors);
    }
}
