/* describe.h: what the families' tables hold, as text for people. */
#ifndef KILN_CORE_DESCRIBE_H
#define KILN_CORE_DESCRIBE_H

#include "family.h"
#include "text.h"

/* A line for each family. */
void describe_families(struct text *text);

/* The configurations with a name, and what was published of them. */
void describe_presets(struct text *text);

/* A family's parameters, values, rules and presets, and how many points its space has. */
void describe_space(struct text *text, const struct family *family, const struct problem *problem,
        const struct device_facts *facts);

#endif
