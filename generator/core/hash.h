/* hash.h: what is hashed by the runtime's fnv.h: texts, families' tables, bundles in memory.
 *
 * No list of fields is kept by hand anywhere else. A forgotten field of a table does not compile;
 * of a bundle, all that is emitted counts. */
#ifndef KILN_CORE_HASH_H
#define KILN_CORE_HASH_H

#include "bundle.h"
#include "family.h"
#include "fnv.h"

/* Hashes the end of a text too, and NULL as a value of its own, so that texts one after the other
 * do not run together. */
uint64_t hash_text(uint64_t hash, const char *text);

/* Every field of every table of a family, even those that only readers need. */
uint64_t hash_family(uint64_t hash, const struct family *family);

/* A bundle's text as C, and so every field of its programs, recipes, stages and regions. */
uint64_t hash_bundle(uint64_t hash, const struct kiln_bundle *bundle);

#endif
