/* stats.h: the two averages of this program. */
#ifndef BENCH_STATS_H
#define BENCH_STATS_H

#include <stddef.h>

/* Median of `count` > 0 values; the mean of the middle two when the count is even. Sorts them. */
double stats_median(double *values, size_t count);

/* Geometric mean of `count` > 0 positive values. */
double stats_geometric_mean(const double *values, size_t count);

#endif
