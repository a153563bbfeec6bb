/* unroll.h: takes loops of one turn or none, and braces that keep no name apart, out of rendered
 * text. Pure. */
#ifndef KILN_CORE_UNROLL_H
#define KILN_CORE_UNROLL_H

#include "tokens.h"

/* `for (TYPE v = A; v < B; v++)`, or `v += S`, with numbers for A, B and S that give one turn,
 * becomes its body, with A for v and without the braces where it begins a statement of a block and
 * declares no name that the block knows; with none it goes. `#pragma unroll` above it goes with it.
 *
 * A loop stays whose body may change v or declare another v, or has a `break` or `continue` of this
 * loop, a `goto`, or lines of the preprocessor but pragmas. TYPE is int, uint, long or ulong.
 *
 * A block that is a statement of a block loses its braces likewise.
 *
 * Returns whether anything changed. */
bool drop_loops(struct tokens *tokens);

#endif
