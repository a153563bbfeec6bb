/* stats.c: medians of times, because disturbances only ever add; geometric means of ratios, because
 * they do not depend on which side is divided by which. */
#include "stats.h"

#include <math.h>
#include <stdlib.h>

#include "core/sort.h"

double stats_median(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), compare_doubles);
    if (count % 2 == 1) {
        return values[count / 2];
    }
    return 0.5 * (values[count / 2 - 1] + values[count / 2]);
}

double stats_percentile(double *values, size_t count, unsigned percent)
{
    size_t rank = (count * percent + 99) / 100;

    qsort(values, count, sizeof(*values), compare_doubles);
    return values[rank > 0 ? rank - 1 : 0];
}

double stats_geometric_mean(const double *values, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        sum += log(values[i]);
    }
    return exp(sum / (double) count);
}
