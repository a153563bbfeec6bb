/* pool.c: arrays that grow; lines are found by their hash. */
#include "pool.h"
#include "reader.h"

#include <stdlib.h>

/* An array with room for `wanted` elements in all; what is new is zero. NULL when out of memory:
 * the array is as it was. */
static void *reserve(void *data, size_t *room, size_t wanted, size_t size)
{
    if (wanted <= *room)
        return data;
    const size_t more = wanted < 64 ? 64 : 2 * wanted;
    unsigned char *grown = realloc(data, more * size);
    if (!grown)
        return NULL;
    memset(grown + *room * size, 0, (more - *room) * size);
    *room = more;
    return grown;
}

static void show(struct pool *pool)
{
    pool->data.text = pool->text;
    pool->data.lines = pool->lines;
    pool->data.pairs = pool->pairs;
    pool->data.symbols = pool->symbols;
}

/* Where the line is, or where it belongs if it is not there. */
static uint32_t *slot_of(struct pool *pool, const char *line, size_t len)
{
    size_t at = (size_t) kiln_hash(KILN_HASH_BEGIN, line, len) & (pool->num_slots - 1);
    for (; pool->slots[at]; at = (at + 1) & (pool->num_slots - 1)) {
        const char *other = pool->text + pool->lines[pool->slots[at] - 1];
        if (strlen(other) == len && !memcmp(other, line, len))
            break;
    }
    return &pool->slots[at];
}

static bool grow_slots(struct pool *pool)
{
    if (2 * (size_t) (pool->data.num_lines + 1) <= pool->num_slots)
        return true;
    const size_t num = pool->num_slots ? 2 * pool->num_slots : 256;
    uint32_t *slots = calloc(num, sizeof *slots);
    if (!slots)
        return false;
    free(pool->slots);
    pool->slots = slots;
    pool->num_slots = num;
    for (uint32_t i = 0; i < pool->data.num_lines; i++) {
        const char *line = pool->text + pool->lines[i];
        *slot_of(pool, line, strlen(line)) = i + 1;
    }
    return true;
}

/* The text ends with the line's NUL. */
static bool append_line(struct pool *pool, const char *line, size_t len)
{
    struct kiln_pool *data = &pool->data;
    const size_t at = data->text_bytes;
    if (at + len + 1 > UINT32_MAX)
        return false;
    char *text = reserve(pool->text, &pool->text_room, at + len + 1, sizeof *text);
    if (!text)
        return false;
    pool->text = text;
    uint32_t *lines = reserve(pool->lines, &pool->lines_room, (size_t) data->num_lines + 1,
            sizeof *lines);
    if (!lines)
        return false;
    pool->lines = lines;
    memcpy(pool->text + at, line, len);
    pool->lines[data->num_lines++] = (uint32_t) at;
    data->text_bytes = (uint32_t) (at + len + 1);
    return true;
}

/* Puts how many spaces a line begins with into one byte (bundle.h). False when the line is too
 * long, or begins with such a byte. */
static bool encode_line(char encoded[POOL_MAX_LINE], const char **line, size_t *len)
{
    const size_t most = ' ' - 1, spaces = strspn(*line, " ");
    const size_t indent = spaces < most ? spaces : most;
    if (*len > POOL_MAX_LINE || (*len && (unsigned char) **line < ' '))
        return false;
    if (indent < 2 || indent > *len)
        return true;
    encoded[0] = (char) indent;
    memcpy(encoded + 1, *line + indent, *len - indent);
    *line = encoded;
    *len -= indent - 1;
    return true;
}

static bool add_line(struct pool *pool, const char *line, size_t len)
{
    char encoded[POOL_MAX_LINE];
    if (!encode_line(encoded, &line, &len) || !grow_slots(pool))
        return false;
    uint32_t *slot = slot_of(pool, line, len);
    if (!*slot) {
        if (pool->data.num_lines + pool->data.num_pairs == POOL_MAX_SYMBOLS ||
                !append_line(pool, line, len))
            return false;
        *slot = pool->data.num_lines;
    }
    return pool_add_symbol(pool, (uint16_t) (*slot - 1));
}

bool pool_add_symbol(struct pool *pool, uint16_t symbol)
{
    const uint32_t num = pool->data.num_symbols;
    uint16_t *symbols = num == UINT32_MAX ? NULL
                                          : reserve(pool->symbols, &pool->symbols_room,
                                                    (size_t) num + 1, sizeof *symbols);
    if (!symbols)
        return false;
    pool->symbols = symbols;
    pool->symbols[pool->data.num_symbols++] = symbol;
    show(pool);
    return true;
}

bool pool_add_pair(struct pool *pool, struct kiln_pair pair)
{
    const uint32_t num = pool->data.num_pairs;
    struct kiln_pair *pairs = pool->data.num_lines + num == POOL_MAX_SYMBOLS
                                    ? NULL
                                    : reserve(pool->pairs, &pool->pairs_room, (size_t) num + 1,
                                              sizeof *pairs);
    if (!pairs)
        return false;
    pool->pairs = pairs;
    pool->pairs[pool->data.num_pairs++] = pair;
    show(pool);
    return true;
}

bool pool_add(struct pool *pool, const char *text, struct kiln_program *program)
{
    const uint32_t first = pool->data.num_symbols;
    size_t bytes = 0;
    while (*text) {
        const size_t len = strcspn(text, "\n");
        if (!add_line(pool, text, len)) {
            show(pool); /* what grew may have moved */
            return false;
        }
        bytes += len + 1;
        text += len + (text[len] == '\n');
    }
    program->first_symbol = first;
    program->num_symbols = pool->data.num_symbols - first;
    program->text_bytes = (uint32_t) bytes;
    return bytes <= UINT32_MAX;
}

void pool_free(struct pool *pool)
{
    free(pool->text);
    free(pool->lines);
    free(pool->pairs);
    free(pool->symbols);
    free(pool->slots);
    *pool = (struct pool){ .num_slots = 0 };
}

char *pool_text(const struct kiln_pool *pool, const struct kiln_program *program)
{
    const bool is_packed = !pool->text && pool->text_bytes;
    struct kiln_pool unpacked = *pool;
    char *lines = is_packed ? malloc(pool->text_bytes) : NULL;
    char *text = malloc((size_t) program->text_bytes + 1);
    if (is_packed)
        unpacked.text = lines;
    if (text && (!is_packed || (lines && kiln_pool_unpack(pool, lines))))
        kiln_pool_copy(&unpacked, program, text);
    else {
        free(text);
        text = NULL;
    }
    free(lines);
    return text;
}
