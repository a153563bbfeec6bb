/* nnls.c: see nnls.h. */
#include "nnls.h"

#include <math.h>
#include <stdbool.h>

/* Each step adds a term, and may remove some; rounding could make that go on for ever. */
enum { MAX_STEPS = 10 * NNLS_MOST_TERMS };

/* So many sums are computed at a time, so that compilers make vectors of them. Nothing reads what
 * that adds above the diagonal. */
enum { LANES = 4 };
_Static_assert(NNLS_MOST_TERMS % LANES == 0, "a row has a part of a vector");

/* The weight of the ridge against that of all equations. */
static const double ridge = 1e-5;

/* A slope or a value below this part of the values counts as 0. */
static const double still = 1e-9;

void nnls_add(struct nnls *nnls, const double *terms, double value, double weight)
{
    double row[NNLS_MOST_TERMS] = { 0 };
    for (unsigned t = 0; t < nnls->num_terms; t++)
        row[t] = terms[t] / value;
    for (unsigned t = 0; t < nnls->num_terms; t++) {
        const double weighted = weight * row[t];
        if (!(row[t] > 0))
            continue;
        nnls->largest[t] = row[t] > nnls->largest[t] ? row[t] : nnls->largest[t];
        nnls->right[t] += weighted;
        for (unsigned u = 0; u <= t; u += LANES)
            for (unsigned lane = 0; lane < LANES; lane++)
                nnls->gram[t][u + lane] += weighted * row[u + lane];
    }
    nnls->weights += weight;
}

/* The same as a problem: minimise x'Gx / 2 - h'x over x >= 0, in units in which the largest value
 * of a term is 1. */
static struct nnls scaled(const struct nnls *nnls)
{
    struct nnls problem = { .num_terms = nnls->num_terms };
    for (unsigned t = 0; t < nnls->num_terms; t++) {
        const double largest = problem.largest[t] = nnls->largest[t];
        if (largest > 0)
            problem.right[t] = nnls->right[t] / largest / nnls->weights;
        for (unsigned u = 0; u <= t; u++)
            if (largest > 0 && nnls->largest[u] > 0)
                problem.gram[t][u] = nnls->gram[t][u] / largest / nnls->largest[u] / nnls->weights;
        problem.gram[t][t] += ridge;
    }
    return problem;
}

static double gram_at(const struct nnls *problem, unsigned t, unsigned u)
{
    return problem->gram[t > u ? t : u][t > u ? u : t];
}

/* Which terms may be above 0 (Lawson and Hanson's set P). */
struct passive {
    unsigned term[NNLS_MOST_TERMS];
    unsigned num;
};

/* The least squares of the passive terms alone, others 0, by Cholesky's factors: the ridge makes
 * the matrix positive definite. */
static void solve_passive(const struct nnls *problem, const struct passive *passive,
        double x[NNLS_MOST_TERMS])
{
    double l[NNLS_MOST_TERMS][NNLS_MOST_TERMS], y[NNLS_MOST_TERMS];
    for (unsigned i = 0; i < passive->num; i++) {
        y[i] = problem->right[passive->term[i]];
        for (unsigned j = 0; j <= i; j++) {
            double sum = gram_at(problem, passive->term[i], passive->term[j]);
            for (unsigned k = 0; k < j; k++)
                sum -= l[i][k] * l[j][k];
            l[i][j] = i == j ? sqrt(fmax(sum, ridge * ridge)) : sum / l[j][j];
        }
        for (unsigned k = 0; k < i; k++)
            y[i] -= l[i][k] * y[k];
        y[i] /= l[i][i];
    }
    for (unsigned t = 0; t < problem->num_terms; t++)
        x[t] = 0;
    for (unsigned i = passive->num; i-- > 0;) {
        double sum = y[i];
        for (unsigned k = i + 1; k < passive->num; k++)
            sum -= l[k][i] * x[passive->term[k]];
        x[passive->term[i]] = sum / l[i][i];
    }
}

/* Goes from x, which is above 0 in all passive terms but the last, towards y, as far as no term
 * gets below 0. Terms that end at 0 leave the passive ones. False when y is reached. */
static bool step_towards(const double y[NNLS_MOST_TERMS], struct passive *passive,
        double x[NNLS_MOST_TERMS])
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

/* The term that is 0 and would lower the sum of squares fastest; num_terms: none would. */
static unsigned steepest(const struct nnls *problem, const struct passive *passive,
        const double x[NNLS_MOST_TERMS])
{
    unsigned best = problem->num_terms;
    double most = still;
    for (unsigned t = 0; t < problem->num_terms; t++) {
        double slope = problem->right[t];
        bool is_passive = false;
        for (unsigned i = 0; i < passive->num; i++) {
            is_passive |= passive->term[i] == t;
            slope -= gram_at(problem, t, passive->term[i]) * x[passive->term[i]];
        }
        if (!is_passive && problem->largest[t] > 0 && slope > most) {
            most = slope;
            best = t;
        }
    }
    return best;
}

void nnls_solve(const struct nnls *nnls, double *coefficients)
{
    const struct nnls problem = scaled(nnls);
    struct passive passive = { .num = 0 };
    double x[NNLS_MOST_TERMS] = { 0 }, y[NNLS_MOST_TERMS];
    for (int step = 0; step < MAX_STEPS; step++) {
        const unsigned term = steepest(&problem, &passive, x);
        if (term == problem.num_terms)
            break;
        passive.term[passive.num++] = term;
        do
            solve_passive(&problem, &passive, y);
        while (step_towards(y, &passive, x) && passive.num > 0);
    }
    for (unsigned t = 0; t < problem.num_terms; t++)
        coefficients[t] = problem.largest[t] > 0 ? x[t] / problem.largest[t] : 0;
}
