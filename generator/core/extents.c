/* extents.c: see extents.h. */
#include "extents.h"
#include "files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char blanks[] = " \t\r";

/* Reads one number and moves *text behind it. */
static bool read_extent(const char **text, size_t *extent)
{
    char *end;
    if (**text < '0' || **text > '9')
        return false;
    errno = 0;
    const unsigned long long value = strtoull(*text, &end, 10);
    *extent = (size_t) value;
    *text = end;
    return !errno && value >= 1 && value <= EXTENTS_MOST;
}

/* Blanks, an x, or an x between blanks. */
static bool read_separator(const char **text)
{
    const char *start = *text;
    *text += strspn(*text, blanks);
    if (**text == 'x' || **text == 'X')
        ++*text;
    *text += strspn(*text, blanks);
    return *text > start;
}

bool extents_parse(const char *text, size_t extents[3])
{
    text += strspn(text, blanks);
    for (int i = 0; i < 3; i++)
        if ((i && !read_separator(&text)) || !read_extent(&text, &extents[i]))
            return false;
    return !text[strspn(text, blanks)];
}

static bool refuse(const char *path, unsigned number, const char *why,
        char error[EXTENTS_ERROR_BYTES])
{
    snprintf(error, EXTENTS_ERROR_BYTES, "%.120s: line %u: %.100s", path, number, why);
    return false;
}

bool extents_parse_file(const char *text, const char *path, extents_take *take, void *user,
        char error[EXTENTS_ERROR_BYTES])
{
    static const char mark[] = "\xef\xbb\xbf";
    char line[256];
    if (!strncmp(text, mark, sizeof mark - 1))
        text += sizeof mark - 1;
    for (unsigned number = 1; *text; number++) {
        const size_t len = strcspn(text, "\n"), used = strcspn(text, "#\n");
        const char *why = NULL;
        size_t extents[3];
        snprintf(line, sizeof line, "%.*s", (int) (used < sizeof line ? used : sizeof line), text);
        if (strspn(text, blanks) < used)
            why = used < sizeof line && extents_parse(line, extents) ? take(user, extents)
                : "expected M N K, each from 1 to 16777216";
        if (why)
            return refuse(path, number, why, error);
        text += len + (text[len] == '\n');
    }
    return true;
}

bool extents_read_file(const char *path, extents_take *take, void *user,
        char error[EXTENTS_ERROR_BYTES])
{
    char cause[FILES_ERROR_BYTES];
    char *text = files_read(path, cause);
    const bool ok = text && extents_parse_file(text, path, take, user, error);
    if (!text)
        snprintf(error, EXTENTS_ERROR_BYTES, "%s", cause);
    free(text);
    return ok;
}
