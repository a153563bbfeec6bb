/* text.h: a growing piece of text. */
#ifndef KILN_CORE_TEXT_H
#define KILN_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
    char *bytes;                       /* NUL-terminated; NULL while empty */
    size_t len, capacity;
    bool failed;                       /* out of memory; what follows is dropped */
};

__attribute__((format(printf, 2, 3)))
void text_add(struct text *text, const char *format, ...);
/* Appends a string in double quotes, as C and as JSON want it. */
void text_quote(struct text *text, const char *string);
void text_quote_json(struct text *text, const char *string);

void text_free(struct text *text);

#endif
