/* arena.h: memory that is freed all at once. */
#ifndef KILN_CORE_ARENA_H
#define KILN_CORE_ARENA_H

#include <stddef.h>

struct arena_block;
struct arena {
    struct arena_block *last;
};

/* Zeroed memory that lives until arena_free, or NULL. */
void *arena_alloc(struct arena *arena, size_t bytes);
void *arena_copy(struct arena *arena, const void *data, size_t bytes);
char *arena_string(struct arena *arena, const char *text);
void arena_free(struct arena *arena);

#endif
