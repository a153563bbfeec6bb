/* triangles.h: what Kiln gains and loses by matrices of which one triangle counts. */
#ifndef BENCH_TRIANGLES_H
#define BENCH_TRIANGLES_H

#include <stdbool.h>

#include "device.h"
#include "options.h"

/* Times, in turns, a product A B' of square matrices of the options' extents and precisions, A A'
 * of which the lower triangle is stored, and A B with a symmetric A, and reports their rates; other
 * shapes are passed over. False with a message on stderr. */
bool triangles_report(const struct options *options, const struct device *device);

#endif
