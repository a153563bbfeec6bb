/* fold.h: constants of rendered text, folded. Pure. */
#ifndef KILN_CORE_FOLD_H
#define KILN_CORE_FOLD_H

#include "tokens.h"

/* Computes what has numbers alone, and takes out what changes nothing: `+ 0`, `- 0`, `^ 0`, `* 1`,
 * `/ 1`, also `0 +` and `1 *`; `% 1` and `* 0` become 0. Parentheses go around what then stands
 * alone. Values and types of expressions stay what they were. To an operand of a type that is not
 * known, which is taken for an integer, this is done where it depends on the number's alone.
 *
 * Returns whether anything changed. */
bool fold_constants(struct tokens *tokens);

#endif
