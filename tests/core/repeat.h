/* repeat.h: long texts. */
#ifndef KILN_TESTS_CORE_REPEAT_H
#define KILN_TESTS_CORE_REPEAT_H

#include <stdlib.h>
#include <string.h>

/* text repeated `times`, then `tail`. The caller frees it. */
static inline char *repeat(const char *text, size_t times, const char *tail)
{
    size_t len = strlen(text);
    char *all = malloc(len * times + strlen(tail) + 1);
    if (!all)
        abort();
    for (size_t i = 0; i < times; i++)
        memcpy(all + i * len, text, len);
    strcpy(all + len * times, tail);
    return all;
}

#endif
