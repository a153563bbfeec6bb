/* triangles.h: what Kiln gains and loses by matrices of which one triangle counts. */
#ifndef BENCH_TRIANGLES_H
#define BENCH_TRIANGLES_H

#include <stdbool.h>

#include "device.h"
#include "options.h"

enum triangles_call { TRIANGLES_PRODUCT, TRIANGLES_SYRK, TRIANGLES_SYMM, NUM_TRIANGLES };

/* Of one extent and precision; by the clock that counts. */
struct triangles_row {
    enum kiln_precision precision;
    size_t n;
    double seconds[NUM_TRIANGLES];     /* medians */
    double least[NUM_TRIANGLES], most[NUM_TRIANGLES];
    double gflops[NUM_TRIANGLES];
};

/* Zero-initialised is empty; free() the rows. */
struct triangles {
    struct triangles_row *rows;
    size_t num_rows;
};

/* Times, in turns, a product A B' of square matrices of the options' extents and precisions, A A'
 * of which the lower triangle is stored, and A B with a symmetric A, and prints their rates; other
 * shapes are passed over. Before, elements all over C are compared with exact sums, and those
 * of the other triangle must be as they were. False with a message on stderr. */
bool triangles_measure(const struct options *options, const struct device *device,
        struct triangles *triangles);

#endif
