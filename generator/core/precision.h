/* precision.h: the precisions of runtime/precisions.inc, as generator and bench see them. */
#ifndef KILN_CORE_PRECISION_H
#define KILN_CORE_PRECISION_H

#include "plan.h"
#include "shape.h"

struct precision {
    unsigned id;                       /* enum kiln_precision of kiln.h */
    const char *constant;              /* "HALF": 1 in expressions for its problems */
    char letter;                       /* of BLAS: h, s, d, c, z; x: emulated */
    const char *name, *element, *real; /* "half", "half", "float" */
    enum kiln_storage storage;         /* of an element's real numbers, */
    size_t parts;                      /* of which it has so many: 2 if it is complex */
    int element_bytes, real_bytes;
    int significand_bits;              /* behind the point; eps is 2^-significand_bits */
};

extern const struct precision precisions[KILN_NUM_PRECISIONS];

/* NULL: there is none. */
const struct precision *precision_find(const char *name_or_letter);
const struct precision *precision_of_id(unsigned id);

/* Additions and multiplications: of complex numbers eight for each of m n k. */
double precision_operations(const struct precision *precision, struct shape shape);

#endif
