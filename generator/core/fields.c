/* fields.c: see fields.h. */
#include "fields.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool line_cut(const char **text, char *line, size_t size)
{
    const size_t len = strcspn(*text, "\n");
    if (len >= size)
        return false;
    const bool is_ended = (*text)[len] == '\n';
    memcpy(line, *text, len);
    line[is_ended && len && line[len - 1] == '\r' ? len - 1 : len] = '\0';
    *text += len + is_ended;
    return true;
}

unsigned line_split(char *line, char *field[], unsigned max)
{
    unsigned num = 0;
    while (line && num < max) {
        field[num++] = line;
        line = strchr(line, '\t');
        if (line)
            *line++ = '\0';
    }
    return line ? max + 1 : num;
}

bool field_long(const char *field, long *value)
{
    char *end;
    errno = 0;
    *value = strtol(field, &end, 10);
    return end != field && !*end && !errno;
}

bool field_real(const char *field, double *value)
{
    char *end;
    *value = strtod(field, &end);
    return end != field && !*end;
}

bool field_copy(char *to, size_t size, const char *field)
{
    return snprintf(to, size, "%s", field) < (int) size;
}

int word_find(const char *const *words, int num, const char *word, size_t len)
{
    for (int i = 0; i < num; i++)
        if (strlen(words[i]) == len && !memcmp(words[i], word, len))
            return i;
    return -1;
}
