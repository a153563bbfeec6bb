/* tidy.h: makes rendered kernel text fit to read.
 *
 * A template is written for all values of its parameters, so that with some of them what is
 * rendered says `at + 0` or has functions that nothing calls. For a compiler they do not matter; a
 * reader stumbles over them. Pure.
 */
#ifndef KILN_CORE_TIDY_H
#define KILN_CORE_TIDY_H

/* Tidies OpenCL C in place of the text given, a malloc'd string, and returns it, perhaps moved;
 * NULL (and frees it) when out of memory. Strings and preprocessor lines stay as they are.
 *
 * - A static function that is not called goes, with the comment above it. A function begins at the
 *   start of a line with `static` and ends with the next line that is `}`.
 * - `+ 0`, `- 0`, `* 1` and `/ 1` go behind an operand, which is taken for an integer, and
 *   parentheses around a name that then stands alone; not in a text that defines macros.
 * - No line is longer than 100 characters, where blanks allow that; of blank lines one is left. */
char *tidy(char *text);

#endif
