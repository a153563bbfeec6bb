/* fit.c: see fit.h. */
#include "fit.h"
#include "sort.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_SWEEPS = 20000 };

/* The weight of the ridge against that of the samples' mean. */
static const double ridge = 1e-5;

/* A sweep that changes less than this, in parts of the times, is the last. */
static const double still = 1e-9;

static const double picoseconds = 1e12;

/* Minimise x'Gx / 2 - h'x over x >= 0, in units in which the largest value of a term is 1. */
struct problem_of_fit {
    double gram[KILN_NUM_TERMS][KILN_NUM_TERMS];
    double right[KILN_NUM_TERMS];
    double scale[KILN_NUM_TERMS];      /* 0: the term does not occur */
};

/* What part of the measured time one picosecond a unit of the term would be. */
static double relative(const struct fit_sample *sample, unsigned term)
{
    return (double) sample->terms[term] / (sample->seconds * picoseconds);
}

static void find_scales(const struct fit_sample *samples, size_t num, struct problem_of_fit *fit)
{
    for (unsigned t = 0; t < KILN_NUM_TERMS; t++) {
        fit->scale[t] = 0;
        for (size_t i = 0; i < num; i++)
            fit->scale[t] = fmax(fit->scale[t], relative(&samples[i], t));
    }
}

static void add_sample(const struct fit_sample *sample, double weight, struct problem_of_fit *fit)
{
    double row[KILN_NUM_TERMS];
    for (unsigned t = 0; t < KILN_NUM_TERMS; t++)
        row[t] = fit->scale[t] > 0 ? relative(sample, t) / fit->scale[t] : 0;
    for (unsigned t = 0; t < KILN_NUM_TERMS; t++) {
        fit->right[t] += weight * row[t];
        for (unsigned u = 0; u < KILN_NUM_TERMS; u++)
            fit->gram[t][u] += weight * row[t] * row[u];
    }
}

static void add_ridge(struct problem_of_fit *fit)
{
    for (unsigned t = 0; t < KILN_NUM_TERMS; t++)
        fit->gram[t][t] += ridge;
}

/* Coordinate descent: the problem is small and strictly convex. */
static void descend(const struct problem_of_fit *fit, double x[KILN_NUM_TERMS])
{
    double change = 1;
    for (unsigned t = 0; t < KILN_NUM_TERMS; t++)
        x[t] = 0;
    for (int sweep = 0; sweep < MAX_SWEEPS && change > still; sweep++) {
        change = 0;
        for (unsigned t = 0; t < KILN_NUM_TERMS; t++) {
            double slope = fit->right[t];
            for (unsigned u = 0; u < KILN_NUM_TERMS; u++)
                slope -= fit->gram[t][u] * x[u];
            const double next = fmax(0, x[t] + slope / fit->gram[t][t]);
            change = fmax(change, fabs(next - x[t]));
            x[t] = next;
        }
    }
}

/* As winners.tsv holds it, so that what is emitted there and then is the same. */
static float as_written(double value)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%.5g", value);
    return strtof(digits, NULL);
}

static void solve(const struct fit_sample *samples, size_t num, struct kiln_time *time)
{
    struct problem_of_fit fit = { .scale = { 0 } };
    double x[KILN_NUM_TERMS];
    find_scales(samples, num, &fit);
    for (size_t i = 0; i < num; i++)
        add_sample(&samples[i], 1 / (double) num, &fit);
    add_ridge(&fit);
    descend(&fit, x);
    for (unsigned t = 0; t < KILN_NUM_TERMS; t++)
        time->coefficient[t] = fit.scale[t] > 0 ? as_written(x[t] / fit.scale[t]) : 0;
}

/* The median of measured over predicted times; at most FIT_ENOUGH samples. */
static double factor_over(const struct kiln_time *prior, const struct fit_sample *samples,
        size_t num)
{
    double factors[FIT_ENOUGH];
    size_t known = 0;
    for (size_t i = 0; i < num; i++) {
        const double predicted = (double) kiln_time_sum(prior, samples[i].terms);
        if (predicted > 0)
            factors[known++] = samples[i].seconds * picoseconds / predicted;
    }
    qsort(factors, known, sizeof *factors, compare_doubles);
    return known ? factors[known / 2] : 1;
}

bool fit_time(const struct fit_sample *samples, size_t num, const struct kiln_time *prior,
        struct kiln_time *time)
{
    if (prior && num < FIT_ENOUGH) {
        const double factor = factor_over(prior, samples, num);
        for (unsigned t = 0; t < KILN_NUM_TERMS; t++)
            time->coefficient[t] = as_written(factor * (double) prior->coefficient[t]);
        return true;
    }
    if (num < FIT_LEAST)
        return false;
    solve(samples, num, time);
    return true;
}
