/* text.c: printf into memory that grows. */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static bool reserve(struct text *text, size_t more)
{
    if (text->len + more < text->capacity)
        return true;
    const size_t capacity = (text->len + more + 1) * 2;
    char *bytes = realloc(text->bytes, capacity);
    if (!bytes)
        return false;
    text->bytes = bytes;
    text->capacity = capacity;
    return true;
}

void text_add(struct text *text, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int len = vsnprintf(NULL, 0, format, args);
    text->failed = text->failed || len < 0 || !reserve(text, (size_t) len);
    if (!text->failed)
        text->len += (size_t) vsnprintf(text->bytes + text->len, text->capacity - text->len, format,
                again);
    va_end(again);
    va_end(args);
}

void text_quote(struct text *text, const char *string)
{
    const unsigned char *start = (const unsigned char *) string;
    text_add(text, "\"");
    for (const unsigned char *p = start; *p; p++)
        if (*p == '"' || *p == '\\' || (*p == '?' && p > start && p[-1] == '?')) /* no trigraphs */
            text_add(text, "\\%c", *p);
        else if (*p == '\n')
            text_add(text, "\\n");
        else if (*p == '\t')
            text_add(text, "\\t");
        else if (*p < ' ' || *p > '~')
            text_add(text, "\\%03o", *p);
        else
            text_add(text, "%c", *p);
    text_add(text, "\"");
}

void text_quote_json(struct text *text, const char *string)
{
    text_add(text, "\"");
    for (const unsigned char *p = (const unsigned char *) string; *p; p++)
        if (*p == '"' || *p == '\\')
            text_add(text, "\\%c", *p);
        else if (*p < ' ')
            text_add(text, "\\u%04x", *p);
        else
            text_add(text, "%c", *p);
    text_add(text, "\"");
}

void text_free(struct text *text)
{
    free(text->bytes);
    *text = (struct text){ 0 };
}
