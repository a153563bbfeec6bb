/* finals.h: finalists against each other, at shapes drawn from a distribution that fits the device
 * and at the application's own. */
#ifndef KILN_TUNE_FINALS_H
#define KILN_TUNE_FINALS_H

#include "phase.h"
#include "../core/draw.h"

/* A stream of shapes. None of them takes the best configuration known so far longer than its share
 * of the budget. */
struct draw finals_draw(const struct phases *phases, const char *purpose);

/* The pair of transposes of the shape with the number in the stream of the matrix. Within eight
 * turns of the classes each class has all four, once with extents that are multiples of 16 and once
 * with others (draw.h): otherwise a short tuning may by chance see no large product of a pair, and
 * predict that what is fast at small ones is fast there too. */
int finals_pair(unsigned number);

/* Whether shapes with fewer rows or columns are timed beside this one: it is thin or deep. Some
 * kernels are for few rows or columns alone, and drawn shapes seldom have so few. */
bool finals_has_fewer_beside(struct shape shape);

/* Times the finalists at up to `num` drawn shapes, RECORD_MATRIX or RECORD_HELD, until `end`. For
 * the matrix, generic is timed beside them at the first shapes. Finalists far behind by prediction
 * are left out at its later shapes, and those very far behind at held-out shapes, where
 * the few fastest are timed again (RECORD_AGAIN). False when the run must stop. */
bool finals_time(struct phases *phases, enum record_kind kind, const char *purpose, unsigned num,
        double end);

/* Goes through the shapes of the matrix once more: finalists that were left out there, and that the
 * fits to all times predict to be near the best, are timed. Not on a CPU, whose speed changes with
 * time. False when the run must stop. */
bool finals_fill(struct phases *phases, const char *purpose, unsigned num, double end);

/* The application's own shapes are pinned to what was fastest at exactly them. */
bool finals_time_own(struct phases *phases, double end);

#endif
