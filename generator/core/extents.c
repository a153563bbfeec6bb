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

/* Reads the three extents and moves *text behind them. */
static bool read_extents(const char **text, struct shape *shape)
{
    size_t *const extents[] = { &shape->m, &shape->n, &shape->k };
    *text += strspn(*text, blanks);
    for (int i = 0; i < 3; i++)
        if ((i && !read_separator(text)) || !read_extent(text, extents[i]))
            return false;
    return true;
}

bool extents_parse(const char *text, struct shape *shape)
{
    *shape = (struct shape){ .batch = 0 };
    return read_extents(&text, shape) && !text[strspn(text, blanks)];
}

/* ---- the words behind a shape ---- */

/* What of a line was given. */
struct given {
    bool precision, pair, batch, weight;
};

static const char *twice(bool *given, const char *why)
{
    const bool before = *given;
    *given = true;
    return before ? why : NULL;
}

static const char *read_weight(const char *word, double *weight)
{
    char *end;
    *weight = strtod(word, &end);
    return *word && !word[strspn(word, "0123456789.eE+-")] && !*end && *weight > 0 && *weight <= 1e9
                 ? NULL
                 : "weight is not a number above 0, up to 1e9";
}

/* Returns why a word is refused, or NULL. */
static const char *read_word(const char *word, struct given *given, struct extents_line *line)
{
    const struct precision *precision = precision_find(word);
    const int pair = pair_find(word);
    const char *why;
    if (precision) {
        line->precision = precision;
        return twice(&given->precision, "more than one precision");
    }
    if (pair >= 0) {
        line->pair = pair;
        return twice(&given->pair, "more than one pair of transposes");
    }
    if (!strncmp(word, "batch=", 6)) {
        return shape_parse_batch(word, &line->batch) ? twice(&given->batch, "batch is given twice")
                                                     : "batch is not a number from 1 to 16777216";
    }
    if (!strncmp(word, "weight=", 7)) {
        why = read_weight(word + 7, &line->weight);
        return why ? why : twice(&given->weight, "weight is given twice");
    }
    return "expected M N K, and behind it a precision (h, s, d, c, z, x or its name), a pair (nn, "
           "nt, tn, tt), batch=N, weight=X";
}

static const char *read_line(const char *text, struct extents_line *line)
{
    struct given given = { false };
    char word[32];
    *line = (struct extents_line){ .pair = -1, .weight = 1 };
    if (!read_extents(&text, &line->shape) || !(strspn(text, blanks) || !*text))
        return "expected M N K, each from 1 to 16777216";
    for (text += strspn(text, blanks); *text; text += strspn(text, blanks)) {
        const size_t len = strcspn(text, blanks);
        const char *why;
        snprintf(word, sizeof word, "%.*s", (int) (len < sizeof word ? len : 0), text);
        why = read_word(word, &given, line);
        if (why)
            return why;
        text += len;
    }
    return NULL;
}

/* ---- files ---- */

static bool refuse(const char *path, unsigned number, const char *why,
        char error[EXTENTS_ERROR_BYTES])
{
    snprintf(error, EXTENTS_ERROR_BYTES, "%.120s: line %u: %.150s", path, number, why);
    return false;
}

bool extents_parse_file(const char *text, const char *path, extents_take *take, void *user,
        char error[EXTENTS_ERROR_BYTES])
{
    static const char mark[] = "\xef\xbb\xbf";
    char copy[256];
    if (!strncmp(text, mark, sizeof mark - 1))
        text += sizeof mark - 1;
    for (unsigned number = 1; *text; number++) {
        const size_t len = strcspn(text, "\n"), used = strcspn(text, "#\n");
        const char *why = NULL;
        struct extents_line line;
        snprintf(copy, sizeof copy, "%.*s", (int) (used < sizeof copy ? used : 0), text);
        if (used >= sizeof copy && strspn(text, blanks) < used)
            why = "a line of more than 255 characters";
        else if (strspn(text, blanks) < used) {
            why = read_line(copy, &line);
            why = why ? why : take(user, &line);
        }
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
