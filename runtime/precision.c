/* precision.c: the precisions, one row each; everything that depends on one walks this table. */
#include "internal.h"

const struct kiln_precision_facts kiln_precisions[] = {
    {KILN_HALF, "half", sizeof(cl_half), sizeof(cl_float)},
    {KILN_SINGLE, "single", sizeof(cl_float), sizeof(cl_float)},
    {KILN_DOUBLE, "double", sizeof(cl_double), sizeof(cl_double)},
};

_Static_assert(sizeof kiln_precisions / sizeof *kiln_precisions == KILN_NUM_PRECISIONS,
        "every precision needs a row");

size_t kiln_precision_slot(unsigned precision)
{
    size_t slot = 0;
    while (slot < KILN_NUM_PRECISIONS && kiln_precisions[slot].precision != precision) {
        slot++;
    }
    return slot;
}

bool kiln_precision_runs(unsigned precision, const struct kiln_device_facts *facts)
{
    size_t slot = kiln_precision_slot(precision);
    return slot < KILN_NUM_PRECISIONS &&
           (kiln_precisions[slot].real_bytes < sizeof(cl_double) || facts->has_double);
}
