/* extents.h: shapes of multiplications as text, for every program that reads them.
 *
 * One shape is three numbers, M N K, with blanks or "x" between them: "64 64 64", "64x64x64". In a
 * file each line holds one; # starts a comment. A byte-order mark, as some editors write, and the
 * line ends of other systems are passed over.
 *
 * Behind the shape a line of a file may have words, in any order: a precision (its name or
 * letter: h, s, d, c, z, x), a pair of transposes (nn, nt, tn, tt), batch=N, weight=X.
 */
#ifndef KILN_CORE_EXTENTS_H
#define KILN_CORE_EXTENTS_H

#include "family.h"

#include <stdbool.h>
#include <stddef.h>

enum { EXTENTS_MOST = 1 << 24, EXTENTS_ERROR_BYTES = 320 };

/* Reads one shape; false when the text is none. Each extent is from 1 to EXTENTS_MOST. */
bool extents_parse(const char *text, struct shape *shape);

/* What a line of a file says. */
struct extents_line {
    WITH_SHAPE;
    const struct precision *precision; /* NULL: all of them */
    int pair;                          /* kiln_pair(); -1: all four */
    double weight;                     /* above 0, up to 1e9; 1 when it is not given */
};

/* Gives each line of a file's text that holds a shape to `take`, which returns NULL, or why it
 * refuses one; that ends the reading. On failure a message with the path and the line's number
 * stands in error. */
typedef const char *extents_take(void *user, const struct extents_line *line);
bool extents_parse_file(const char *text, const char *path, extents_take *take, void *user,
        char error[EXTENTS_ERROR_BYTES]);

/* The same for a file by its name. */
bool extents_read_file(const char *path, extents_take *take, void *user,
        char error[EXTENTS_ERROR_BYTES]);

#endif
