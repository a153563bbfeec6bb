/* precision.c: see precision.h. */
#include "precision.h"

#include <string.h>

const struct precision precisions[KILN_NUM_PRECISIONS] = {
#define PRECISION(constant, id, name, letter, element, storage, parts, real, bits) \
    { id, #constant, letter, #name, element, #real, KILN_STORED_##storage, parts, \
        (parts) * KILN_##storage##_BYTES, sizeof(real), bits },
#include "precisions.inc"
#undef PRECISION
};

const struct precision *precision_find(const char *name)
{
    for (size_t i = 0; i < KILN_NUM_PRECISIONS; i++)
        if (!strcmp(precisions[i].name, name) || (name[0] == precisions[i].letter && !name[1]))
            return &precisions[i];
    return NULL;
}

const struct precision *precision_of_id(unsigned id)
{
    for (size_t i = 0; i < KILN_NUM_PRECISIONS; i++)
        if (precisions[i].id == id)
            return &precisions[i];
    return NULL;
}

double precision_operations(const struct precision *precision, struct shape shape)
{
    return (kiln_precision_is_complex(precision->id) ? 8 : 2) * (double) shape.m *
           (double) shape.n * (double) shape.k * (double) shape_members(shape);
}
