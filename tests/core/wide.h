/* wide.h: what the tests of the core include, and facts of a device that allows much. */
#ifndef KILN_TESTS_CORE_WIDE_H
#define KILN_TESTS_CORE_WIDE_H

#include "family.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static inline struct device_facts facts_wide(void)
{
    struct device_facts facts;
    facts_ample(&facts);
    facts.value[FACT_COMPUTE_CAPABILITY] = 0; /* a family that wants one has it set for it */
    return facts;
}

/* The precision of that number, or the first that the family is for. */
static inline size_t served_precision(const struct family *family, size_t wished)
{
    size_t p = 0;
    while (!family_serves(family, &precisions[p]))
        p++;
    return family_serves(family, &precisions[wished]) ? wished : p;
}

#endif
