/* model.h: predicts the cost of a point from those near it that were tried.
 *
 * A Gaussian process (Rasmussen and Williams 2006, algorithm 2.1) over the logarithm of the cost.
 * The fewer parameters of two points differ, and by the fewer steps, the more alike they are. The
 * model knows nothing else.
 */
#ifndef KILN_SEARCH_MODEL_H
#define KILN_SEARCH_MODEL_H

#include "../core/point.h"

#include <stddef.h>

enum { MODEL_MAX_OBSERVED = 96, MODEL_MAX_DISTANCE = 128 };

struct observation {
    struct point point;
    double cost;                       /* HUGE_VAL when it failed */
};

struct model {
    unsigned num_params, num;
    double likeness[MODEL_MAX_DISTANCE + 1];                   /* by distance, at most the last */
    struct point points[MODEL_MAX_OBSERVED];
    double factor[MODEL_MAX_OBSERVED][MODEL_MAX_OBSERVED];         /* Cholesky, lower */
    double weight[MODEL_MAX_OBSERVED];
    double mean, deviation;            /* of the logarithms */
};

/* How far apart two points are: for each parameter that differs, one and the steps between. */
unsigned model_distance(unsigned num_params, const struct point *a, const struct point *b);

/* Learns from the observations nearest to the centre. A failure counts as the costliest of them. */
void model_fit(struct model *model, unsigned num_params, const struct observation *observed,
        size_t num, const struct point *centre);

/* A hopeful guess at the logarithm of the point's cost: the less is known of the point, the lower.
 * Exact only where it is below `bound`. */
double model_promise(const struct model *model, const struct point *point, double bound);

#endif
