/* precision.c: the precisions, one row each; everything that depends on one walks this table. */
#include "internal.h"

#include <assert.h>

static const struct kiln_precision_facts precision_rows[KILN_NUM_PRECISIONS] = {
#define PRECISION(constant, value, word, letter, element, storage, parts, real, ...) \
    {.precision = KILN_##constant, .name = #word, .real_bytes = sizeof(real)},
#include "precisions.inc"
#undef PRECISION
};

#define PRECISION(constant, value, ...) \
    static_assert(KILN_##constant == value, #constant " of kiln.h");
#include "precisions.inc"
#undef PRECISION

const struct kiln_precision_facts *kiln_precision_at(size_t place)
{
    return &precision_rows[place];
}

const struct kiln_precision_facts *kiln_precision_find(unsigned precision)
{
    for (size_t i = 0; i < KILN_NUM_PRECISIONS; i++) {
        if (precision_rows[i].precision == precision) {
            return &precision_rows[i];
        }
    }
    return NULL;
}

bool kiln_precision_runs(unsigned precision, const struct kiln_device_facts *facts)
{
    const struct kiln_precision_facts *row = kiln_precision_find(precision);
    return row != NULL && (row->real_bytes < sizeof(cl_double) || facts->has_double);
}
