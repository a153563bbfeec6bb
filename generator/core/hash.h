/* hash.h: what is hashed by the runtime's fnv.h: texts, families' tables, bundles in memory.
 *
 * No list of fields is kept by hand anywhere else. Of a table, a field that is forgotten does not
 * compile; of a bundle, all that is emitted counts. */
#ifndef KILN_CORE_HASH_H
#define KILN_CORE_HASH_H

#include "bundle.h"
#include "family.h"
#include "fnv.h"

/* With its end, and NULL as something of its own, so that texts in turn do not run together. */
uint64_t hash_text(uint64_t hash, const char *text);

/* Every field of every table of a family, what is only said to readers included. */
uint64_t hash_family(uint64_t hash, const struct family *family);

/* A bundle's text as C, and so every field of its programs, recipes, stages and regions. */
uint64_t hash_bundle(uint64_t hash, const struct kiln_bundle *bundle);

#endif
