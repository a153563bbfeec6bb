/* pool.h: the text of a bundle's programs, in which each line stands once.
 *
 * Programs are added as lines. What programs share beyond lines is found for all of them at once,
 * when a bundle is emitted (share.h). runtime/bundle.h says what a pool is. Pure.
 */
#ifndef KILN_CORE_POOL_H
#define KILN_CORE_POOL_H

#include "bundle.h"

#include <stdbool.h>
#include <stddef.h>

enum { POOL_MAX_LINE = 4096, POOL_MAX_SYMBOLS = UINT16_MAX };

struct pool {
    struct kiln_pool data;             /* points to what follows */
    char *text;
    uint32_t *lines;
    struct kiln_pair *pairs;
    uint16_t *symbols;
    size_t text_room, lines_room, pairs_room, symbols_room;
    uint32_t *slots;                   /* 1 + a line, by the hash of its text; 0 is free */
    size_t num_slots;                  /* a power of 2 */
};

/* Adds a program's text: fills in its symbols and text_bytes. A newline ends the text in any case.
 * False when out of memory, and for a line longer than POOL_MAX_LINE or more than POOL_MAX_SYMBOLS
 * lines. */
bool pool_add(struct pool *pool, const char *text, struct kiln_program *program);

/* Adds a pair, after all lines, or one of a program's symbols. False as above. */
bool pool_add_pair(struct pool *pool, struct kiln_pair pair);
bool pool_add_symbol(struct pool *pool, uint16_t symbol);

void pool_free(struct pool *pool);

/* The text of a program; freed by the caller. NULL when out of memory, or when what is packed
 * does not unpack. The pool is one that the generator made. */
char *pool_text(const struct kiln_pool *pool, const struct kiln_program *program);

#endif
