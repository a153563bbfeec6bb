/* fit.c: see fit.h. */
#include "fit.h"
#include "sort.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Each step adds a term, and takes some away; rounding could make it go round. */
enum { MAX_STEPS = 10 * KILN_NUM_TERMS };

/* The weight of the ridge against that of the samples' mean. */
static const double ridge = 1e-5;

/* A slope or a value below this, in parts of the times, is none. */
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

/* Which terms may be above 0 (Lawson and Hanson's set P). */
struct passive {
    unsigned term[KILN_NUM_TERMS];
    unsigned num;
};

/* The least squares of the passive terms alone, others 0, by Cholesky's factors: the ridge makes
 * the matrix positive definite. */
static void solve_passive(const struct problem_of_fit *fit, const struct passive *passive,
        double x[KILN_NUM_TERMS])
{
    double l[KILN_NUM_TERMS][KILN_NUM_TERMS], y[KILN_NUM_TERMS];
    for (unsigned i = 0; i < passive->num; i++) {
        y[i] = fit->right[passive->term[i]];
        for (unsigned j = 0; j <= i; j++) {
            double sum = fit->gram[passive->term[i]][passive->term[j]];
            for (unsigned k = 0; k < j; k++)
                sum -= l[i][k] * l[j][k];
            l[i][j] = i == j ? sqrt(fmax(sum, ridge * ridge)) : sum / l[j][j];
        }
        for (unsigned k = 0; k < i; k++)
            y[i] -= l[i][k] * y[k];
        y[i] /= l[i][i];
    }
    for (unsigned t = 0; t < KILN_NUM_TERMS; t++)
        x[t] = 0;
    for (unsigned i = passive->num; i-- > 0;) {
        double sum = y[i];
        for (unsigned k = i + 1; k < passive->num; k++)
            sum -= l[k][i] * x[passive->term[k]];
        x[passive->term[i]] = sum / l[i][i];
    }
}

/* Goes from x, which is above 0 in all passive terms but the last, towards y as far as none gets
 * below 0. Terms that end at 0 are passive no more. False when y is reached. */
static bool step_towards(const double y[KILN_NUM_TERMS], struct passive *passive,
        double x[KILN_NUM_TERMS])
{
    double part = 1;
    unsigned kept = 0;
    for (unsigned i = 0; i < passive->num; i++) {
        const unsigned t = passive->term[i];
        if (y[t] <= 0)
            part = fmin(part, x[t] > 0 ? x[t] / (x[t] - y[t]) : 0);
    }
    for (unsigned i = 0; i < passive->num; i++) {
        const unsigned t = passive->term[i];
        const double at_end = x[t] + part * (y[t] - x[t]);
        const bool is_left = y[t] <= 0 && at_end <= still;
        x[t] = is_left ? 0 : at_end;
        if (!is_left)
            passive->term[kept++] = t;
    }
    passive->num = kept;
    return part < 1;
}

/* The term that is 0 and would lower the sum of squares fastest; KILN_NUM_TERMS: none would. */
static unsigned steepest(const struct problem_of_fit *fit, const struct passive *passive,
        const double x[KILN_NUM_TERMS])
{
    unsigned best = KILN_NUM_TERMS;
    double most = still;
    for (unsigned t = 0; t < KILN_NUM_TERMS; t++) {
        double slope = fit->right[t];
        bool is_passive = false;
        for (unsigned i = 0; i < passive->num; i++)
            is_passive |= passive->term[i] == t;
        for (unsigned u = 0; u < KILN_NUM_TERMS; u++)
            slope -= fit->gram[t][u] * x[u];
        if (!is_passive && fit->scale[t] > 0 && slope > most) {
            most = slope;
            best = t;
        }
    }
    return best;
}

static void minimise(const struct problem_of_fit *fit, double x[KILN_NUM_TERMS])
{
    struct passive passive = { .num = 0 };
    double y[KILN_NUM_TERMS];
    for (unsigned t = 0; t < KILN_NUM_TERMS; t++)
        x[t] = 0;
    for (int step = 0; step < MAX_STEPS; step++) {
        const unsigned term = steepest(fit, &passive, x);
        if (term == KILN_NUM_TERMS)
            return;
        passive.term[passive.num++] = term;
        do
            solve_passive(fit, &passive, y);
        while (step_towards(y, &passive, x) && passive.num > 0);
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
    minimise(&fit, x);
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
