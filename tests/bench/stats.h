/* stats.h: the averages of this program, and percentiles. */
#ifndef BENCH_STATS_H
#define BENCH_STATS_H

#include <stddef.h>

/* Median of `count` > 0 values; the mean of the middle two when the count is even. Sorts them. */
double stats_median(double *values, size_t count);

/* The least of `count` > 0 values that `percent` of them do not exceed. Sorts them. */
double stats_percentile(double *values, size_t count, unsigned percent);

/* Geometric mean of `count` > 0 positive values. */
double stats_geometric_mean(const double *values, size_t count);

#endif
