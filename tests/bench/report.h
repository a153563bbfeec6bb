/* report.h: the comparison as text. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "compare.h"

/* The ratios that are shown: Kiln beside each of these peers. */
enum { REPORT_NUM_RATIOS = 4 };
extern const char *const report_ratio_keys[REPORT_NUM_RATIOS];

/* Finds the peers of ratio `index`, by the clock that counts; false when one of them takes no part
 * in the run. */
bool report_ratio(const struct comparison *comparison, size_t index, struct versus *versus);

/* Names the device, the driver and what each peer really is. */
void report_device(const struct device *device);
void report_peers(const struct peer *peers, size_t count);

/* Prints one row of the table, and the table's head before the first; for compare_run. */
void report_row(const struct comparison *comparison, const struct row *row);

/* Prints the geometric means; what choosing lost, where the recipes took part; the same table by
 * the wall clock, where another clock counts; the kernels that served the rows; and the largest
 * errors. */
void report_end(const struct comparison *comparison, const struct options *options);

#endif
