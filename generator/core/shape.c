/* shape.c: see shape.h. */
#include "shape.h"
#include "fields.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char batch_word[] = "batch=";

void shape_format(struct shape shape, char text[SHAPE_TEXT_BYTES])
{
    char batch[SHAPE_BATCH_BYTES];
    shape_format_batch(shape, ' ', batch);
    snprintf(text, SHAPE_TEXT_BYTES, "%zux%zux%zu%s", shape.m, shape.n, shape.k, batch);
}

void shape_format_batch(struct shape shape, char separator, char text[SHAPE_BATCH_BYTES])
{
    text[0] = '\0';
    if (shape.batch > 0)
        snprintf(text, SHAPE_BATCH_BYTES, "%c%s%zu", separator, batch_word, shape.batch);
}

bool shape_parse_batch(const char *field, size_t *batch)
{
    const size_t length = strlen(batch_word);
    long value;
    if (strncmp(field, batch_word, length) || !isdigit((unsigned char) field[length]) ||
            !field_long(field + length, &value) || value < 1 || value > SHAPE_MOST_BATCH)
        return false;
    *batch = value > 1 ? (size_t) value : 0;
    return true;
}
