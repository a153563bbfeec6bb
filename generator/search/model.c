/* model.c: a small Gaussian process. */
#include "model.h"

#include <float.h>
#include <math.h>

/* The distance over which likeness falls to 1/e; what repeated timings differ by, as part of the
 * variance; and by how many standard deviations a prediction is optimistic. */
static const double reach = 8, noise = 0.003, optimism = 1.5;

unsigned model_distance(unsigned num_params, const struct point *a, const struct point *b)
{
    unsigned distance = 0;
    for (unsigned p = 0; p < num_params; p++)
        if (a->at[p] > b->at[p])
            distance += 1u + a->at[p] - b->at[p];
        else if (a->at[p] < b->at[p])
            distance += 1u + b->at[p] - a->at[p];
    return distance;
}

static double likeness(const struct model *model, const struct point *a, const struct point *b)
{
    const unsigned distance = model_distance(model->num_params, a, b);
    return model->likeness[distance < MODEL_MAX_DISTANCE ? distance : MODEL_MAX_DISTANCE];
}

/* Copies the observations nearest to the centre, and their costs. */
static void choose(struct model *model, const struct observation *observed, size_t num,
        const struct point *centre, double costs[MODEL_MAX_OBSERVED])
{
    unsigned far[MODEL_MAX_OBSERVED];
    model->num = 0;
    for (size_t i = 0; i < num; i++) {
        const unsigned distance = model_distance(model->num_params, &observed[i].point, centre);
        unsigned at = model->num;
        if (at == MODEL_MAX_OBSERVED && distance >= far[at - 1])
            continue;
        if (at < MODEL_MAX_OBSERVED)
            model->num++;
        else
            at--;
        for (; at > 0 && far[at - 1] > distance; at--) {
            far[at] = far[at - 1];
            costs[at] = costs[at - 1];
            model->points[at] = model->points[at - 1];
        }
        far[at] = distance;
        costs[at] = observed[i].cost;
        model->points[at] = observed[i].point;
    }
}

/* Costs become logarithms, centred; a failure is as bad as the worst. */
static void centre_costs(struct model *model, double costs[MODEL_MAX_OBSERVED])
{
    double worst = DBL_MIN, sum = 0, squares = 0;
    for (unsigned i = 0; i < model->num; i++)
        if (costs[i] < HUGE_VAL)
            worst = fmax(worst, costs[i]);
    for (unsigned i = 0; i < model->num; i++) {
        costs[i] = log(fmax(fmin(costs[i], worst), DBL_MIN));
        sum += costs[i];
    }
    model->mean = sum / model->num;
    for (unsigned i = 0; i < model->num; i++) {
        costs[i] -= model->mean;
        squares += costs[i] * costs[i];
    }
    model->deviation = sqrt(squares / model->num);
}

static double dot(const double *a, const double *b, unsigned num)
{
    double sum = 0;
    for (unsigned i = 0; i < num; i++)
        sum += a[i] * b[i];
    return sum;
}

static void factorise(struct model *model)
{
    for (unsigned i = 0; i < model->num; i++)
        for (unsigned j = 0; j <= i; j++) {
            const double rest = likeness(model, &model->points[i], &model->points[j]) -
                                dot(model->factor[i], model->factor[j], j);
            model->factor[i][j] = i == j ? sqrt(rest + noise) : rest / model->factor[j][j];
        }
}

void model_fit(struct model *model, unsigned num_params, const struct observation *observed,
        size_t num, const struct point *centre)
{
    double costs[MODEL_MAX_OBSERVED], half[MODEL_MAX_OBSERVED];
    model->num_params = num_params;
    for (unsigned d = 0; d <= MODEL_MAX_DISTANCE; d++)
        model->likeness[d] = exp(-(double) d / reach);
    choose(model, observed, num, centre, costs);
    centre_costs(model, costs);
    factorise(model);
    for (unsigned i = 0; i < model->num; i++)
        half[i] = (costs[i] - dot(model->factor[i], half, i)) / model->factor[i][i];
    for (unsigned i = model->num; i-- > 0;) {
        double rest = half[i];
        for (unsigned k = i + 1; k < model->num; k++)
            rest -= model->factor[k][i] * model->weight[k];
        model->weight[i] = rest / model->factor[i][i];
    }
}

/* The more of the variance is explained, the less room for hope: it ends when the bound is out of
 * reach. */
double model_promise(const struct model *model, const struct point *point, double bound)
{
    const double hope = optimism * model->deviation;
    double like[MODEL_MAX_OBSERVED], half[MODEL_MAX_OBSERVED];
    double expected = model->mean, unknown = 1;
    for (unsigned i = 0; i < model->num; i++) {
        like[i] = likeness(model, point, &model->points[i]);
        expected += like[i] * model->weight[i];
    }
    const double needed = expected > bound ? (expected - bound) / hope : 0;
    for (unsigned i = 0; i < model->num; i++) {
        if (unknown < needed * needed)
            return bound;
        half[i] = (like[i] - dot(model->factor[i], half, i)) / model->factor[i][i];
        unknown -= half[i] * half[i];
    }
    return expected - hope * sqrt(fmax(unknown, 0));
}
