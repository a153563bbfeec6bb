/* tidy.h: makes rendered kernel text fit to read.
 *
 * A template is written for all values of its parameters, so that with some of them what is
 * rendered says `at + 0`, has a loop of one turn, or functions that nothing calls. For a compiler
 * they do not matter; a reader stumbles over them. Pure.
 */
#ifndef KILN_CORE_TIDY_H
#define KILN_CORE_TIDY_H

/* Tidies OpenCL C in place of the text given, a malloc'd string, and returns it, perhaps moved;
 * NULL (and frees it) when out of memory. Preprocessor lines stay as they are, and so do comments,
 * but that these are filled; a line that ends with `.` or `:` ends a part of a comment, and one
 * whose words are indented stays. Strings say what they said.
 *
 * - Loops of one turn or none go, with the `#pragma unroll` above them, and braces that keep no
 *   name apart (unroll.h).
 * - Constants are folded, and what changes nothing goes (fold.h).
 * - A static function that is not called goes, with the comment above it. A function begins at the
 *   start of a line with `static` and ends with the next line that is `}`.
 * - No line is longer than 100 characters, where blanks allow that; a string is broken into two
 *   behind a comma. What goes on in lines indented by 8 more becomes one line where it fits, and is
 *   broken anew where its first line is too long. Of blank lines one is left, and behind a function
 *   there is one.
 *
 * What a template must heed: sums of floats have no constant 0.
 *
 * Loops and constants stay in a text whose brackets do not match, that has a preprocessor line
 * within a statement, or that defines a macro whose parameters do not all stand in parentheses of
 * their own, or that quotes or joins them. */
char *tidy(char *text);

/* Takes the lines out of the text that are nothing but a comment. */
void tidy_drop_comments(char *text);

#endif
