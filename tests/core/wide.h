/* wide.h: facts for tests. With facts_wide every preset of every family is legal for some
 * precision. */
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
    facts_minimal(&facts);
    facts.value[FACT_MAX_ITEMS] = 1024;
    facts.value[FACT_MAX_ITEMS_X] = 1024;
    facts.value[FACT_MAX_ITEMS_Y] = 1024;
    facts.value[FACT_LOCAL_BYTES] = 65536;
    facts.value[FACT_VECTOR_BYTES] = 64;
    facts.value[FACT_REGISTER_BYTES] = 2048;
    return facts;
}

#endif
