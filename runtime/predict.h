/* predict.h: how long a recipe takes for a product, by its fitted coefficients.
 *
 * The time is a sum of terms, each a count that follows from the shape and from what the recipe
 * says of itself (bundle.h), times a coefficient. It is corrected where no sum fits: on CPUs for
 * how operands lie, elsewhere for what the host takes. Like plan.h it is pure, and shared by the
 * library and the generator, which fits the coefficients. Counts and times are integers, and a
 * coefficient times a count is exact, so that the choice among recipes is the same on every
 * machine.
 */
#ifndef KILN_PREDICT_H
#define KILN_PREDICT_H

#include "plan.h"

/* No time is longer. */
#define KILN_TIME_MAX (UINT64_C(1) << 62)

/* The matrices whose rows do not all begin with a line of memory, as a set of bits. */
enum kiln_ragged { KILN_RAGGED_A = 1, KILN_RAGGED_B = 2, KILN_RAGGED_C = 4 };
KILN_INTERNAL unsigned kiln_time_ragged(const struct kiln_product *product);

/* The operands whose rows meet in the same lines of a CPU's first cache (enum kiln_prepared). */
KILN_INTERNAL unsigned kiln_time_meeting(const struct kiln_product *product);

/* The counts of a product's terms, by enum kiln_term, on a device with so many compute units (0 is
 * taken as 1): of all members of a batch where a launch takes several, else of one. None is above
 * 2^62, and none that units share above 2^62 over their number. */
KILN_INTERNAL void kiln_time_terms(const struct kiln_recipe *recipe,
        const struct kiln_product *product, uint32_t units, uint64_t terms[KILN_NUM_TERMS]);

/* How many times these counts are those of all members: 1 where a launch takes several. */
KILN_INTERNAL size_t kiln_time_repeats(const struct kiln_recipe *recipe,
        const struct kiln_product *product, uint32_t units);

/* The counts times the coefficients: picoseconds, at most KILN_TIME_MAX. */
KILN_INTERNAL uint64_t kiln_time_sum(const struct kiln_time *time,
        const uint64_t terms[KILN_NUM_TERMS]);

/* The predicted time of a product, all members of a batch: picoseconds, at most KILN_TIME_MAX. The
 * recipe has a time. */
KILN_INTERNAL uint64_t kiln_time_predict(const struct kiln_recipe *recipe,
        const struct kiln_product *product, uint32_t units);

/* A predicted time on a CPU: longer where operands that are read in place, anew for each tile, lie
 * badly for its caches. No term counts that, and the tuner's own predictions leave it out. At most
 * KILN_TIME_MAX. */
KILN_INTERNAL uint64_t kiln_time_on_cpu(const struct kiln_recipe *recipe,
        const struct kiln_product *product, uint64_t time);

/* A predicted time on a device that is no CPU: at least about what the host takes to enqueue the
 * recipe's kernels, which the device waits for. Of times below that the shorter stays the shorter.
 * At most KILN_TIME_MAX. */
KILN_INTERNAL uint64_t kiln_time_with_host(const struct kiln_recipe *recipe,
        const struct kiln_product *product, uint32_t units, uint64_t time);

/* Is every coefficient a number, and none negative? */
KILN_INTERNAL bool kiln_time_is_sound(const struct kiln_time *time);

#endif
