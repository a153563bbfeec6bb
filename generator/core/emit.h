/* emit.h: prints a bundle in memory as C. */
#ifndef KILN_CORE_EMIT_H
#define KILN_CORE_EMIT_H

#include "bundle.h"
#include "text.h"

/* Appends a C source file that defines `const struct kiln_bundle kiln_bundle_NAME` (NAME with every
 * character that C does not allow replaced by _). `comment` is printed at its head, NULL for none;
 * what would end it or begin another one there is broken up by a blank.
 * Deterministic: equal bundles give equal bytes. */
void emit_bundle(const struct kiln_bundle *bundle, const char *comment, struct text *text);

/* The bytes that a bundle takes in an archive, with what its pointers cost there: as compiled for
 * 64 bits, less the 2 KB of an object file. False when out of memory, or when the bundle has too
 * many lines. */
bool emit_bytes(const struct kiln_bundle *bundle, size_t *bytes);

/* The symbol emit_bundle defines. */
void emit_symbol(const char *name, struct text *text);

#endif
