/* journal_text.h: makes mutated journals get further. The last field of a row is its checksum; a
 * mutation rarely leaves it right, so the rows of an input are given the right one. */
#ifndef KILN_TESTS_FUZZ_JOURNAL_TEXT_H
#define KILN_TESTS_FUZZ_JOURNAL_TEXT_H

#include "core/record.h"

#include <string.h>

/* Writes the eight digits that a row of this text should end with. */
static inline void journal_text_put_checksum(char *line, size_t len)
{
    size_t at = len;
    while (at > 0 && line[at - 1] != '\t')
        at--;
    if (len - at != 8)
        return;
    const uint32_t hash = record_checksum(line, at);
    for (int i = 0; i < 8; i++)
        line[at + (size_t) i] = "0123456789abcdef"[hash >> (28 - 4 * i) & 15];
}

static inline void journal_text_repair(char *text)
{
    for (char *p = text; *p;) {
        const size_t len = strcspn(p, "\n");
        journal_text_put_checksum(p, len);
        p += len + (p[len] == '\n');
    }
}

#endif
