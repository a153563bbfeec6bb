/* arena.c: a chain of allocations. */
#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct arena_block {
    struct arena_block *previous;
    max_align_t data[];
};

void *arena_alloc(struct arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX - sizeof(struct arena_block))
        return NULL;
    struct arena_block *block = calloc(1, sizeof *block + bytes);
    if (!block)
        return NULL;
    block->previous = arena->last;
    arena->last = block;
    return block->data;
}

void *arena_copy(struct arena *arena, const void *data, size_t bytes)
{
    void *copy = arena_alloc(arena, bytes);
    if (copy && bytes)
        memcpy(copy, data, bytes);
    return copy;
}

char *arena_string(struct arena *arena, const char *text)
{
    return arena_copy(arena, text, strlen(text) + 1);
}

void arena_free(struct arena *arena)
{
    while (arena->last) {
        struct arena_block *previous = arena->last->previous;
        free(arena->last);
        arena->last = previous;
    }
}
