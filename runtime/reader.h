/* reader.h: reads the text of a program from its bundle's pool (bundle.h), for the generator too.
 * The pool must be sound (sound.c), and its text unpacked. */
#ifndef KILN_READER_H
#define KILN_READER_H

#include "bundle.h"
#include "fnv.h"
#include "lz4.h"

#include <stdbool.h>
#include <string.h>

/* Unpacks the text of a pool to `text`, which has room for text_bytes. False when it is damaged. */
static inline bool kiln_pool_unpack(const struct kiln_pool *pool, char *text)
{
    return kiln_lz4_unpack(pool->packed, pool->packed_bytes, text, pool->text_bytes) &&
           pool->text_bytes > 0 && text[pool->text_bytes - 1] == '\0';
}

struct kiln_reader {
    const struct kiln_pool *pool;
    const uint16_t *next, *end;        /* symbols of the program */
    uint16_t waiting[KILN_MAX_DEPTH];  /* second halves, the innermost last */
    unsigned num_waiting;
};

static inline struct kiln_reader kiln_reader_begin(const struct kiln_pool *pool,
        const struct kiln_program *program)
{
    struct kiln_reader reader = { .pool = pool };
    if (program->num_symbols > 0) {
        reader.next = pool->symbols + program->first_symbol;
        reader.end = reader.next + program->num_symbols;
    }
    return reader;
}

/* How many spaces a line begins with, as its first byte says; behind that is what follows. */
static inline size_t kiln_line_indent(const char **line)
{
    const unsigned char first = (unsigned char) **line;
    const bool is_count = first > 0 && first < ' ';
    *line += is_count;
    return is_count ? first : 0;
}

/* The next line without its newline, as the pool has it. NULL at the end, or where pairs are nested
 * too deep. */
static inline const char *kiln_reader_line(struct kiln_reader *reader)
{
    if (reader->num_waiting == 0 && reader->next == reader->end) {
        return NULL;
    }
    const struct kiln_pool *pool = reader->pool;
    uint32_t symbol = reader->num_waiting > 0 ? reader->waiting[--reader->num_waiting]
                                              : *reader->next++;
    while (symbol >= pool->num_lines) {
        const struct kiln_pair *pair = &pool->pairs[symbol - pool->num_lines];
        if (reader->num_waiting == KILN_MAX_DEPTH) {
            return NULL;
        }
        reader->waiting[reader->num_waiting++] = pair->second;
        symbol = pair->first;
    }
    return pool->text + pool->lines[symbol];
}

/* The hash of a program's text. *bytes are those that were read: at most one line more than the
 * program is said to have. */
static inline uint64_t kiln_pool_hash(const struct kiln_pool *pool,
        const struct kiln_program *program, size_t *bytes)
{
    struct kiln_reader reader = kiln_reader_begin(pool, program);
    uint64_t hash = KILN_HASH_BEGIN;
    const char *line;
    *bytes = 0;
    while (*bytes <= program->text_bytes && (line = kiln_reader_line(&reader)) != NULL) {
        static const char spaces[] = "                               ";
        size_t indent = kiln_line_indent(&line), length = strlen(line);
        hash = kiln_hash(hash, spaces, indent);
        hash = kiln_hash(kiln_hash(hash, line, length), "\n", 1);
        *bytes += indent + length + 1;
    }
    return hash;
}

/* Is a program's text the one that its hash was made of? */
static inline bool kiln_pool_is_whole(const struct kiln_pool *pool,
        const struct kiln_program *program)
{
    size_t bytes = 0;
    return kiln_pool_hash(pool, program, &bytes) == program->hash && bytes == program->text_bytes;
}

/* Writes the text of a program that is whole, and a NUL, to `text`, which has room for
 * text_bytes + 1. */
static inline void kiln_pool_copy(const struct kiln_pool *pool, const struct kiln_program *program,
        char *text)
{
    struct kiln_reader reader = kiln_reader_begin(pool, program);
    for (const char *line; (line = kiln_reader_line(&reader)) != NULL;) {
        size_t indent = kiln_line_indent(&line), length = strlen(line);
        memset(text, ' ', indent);
        memcpy(text + indent, line, length);
        text[indent + length] = '\n';
        text += indent + length + 1;
    }
    *text = '\0';
}

#endif
