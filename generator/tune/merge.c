/* merge.c: the command that joins journals, above all those of the shards of a search. */
#include "options.h"
#include "../core/files.h"
#include "../core/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static int fail(const char *what)
{
    fprintf(stderr, "kiln-tune: %s\n", what);
    return EXIT_FAILURE;
}

static bool is_there(const char *path)
{
    struct stat status;
    return !stat(path, &status) && status.st_size > 0;
}

static bool read_parts(const struct options *options, struct merge_part *parts)
{
    char error[FILES_ERROR_BYTES];
    for (int i = 0; i < options->num_words; i++) {
        parts[i].path = options->words[i];
        parts[i].text = files_read(options->words[i], error);
        if (!parts[i].text) {
            fail(error);
            return false;
        }
    }
    return true;
}

static int merge(const struct options *options, const struct merge_part *parts)
{
    struct text merged = { 0 }, notes = { 0 };
    char error[MERGE_ERROR_BYTES];
    const bool ok = merge_journals(parts, (unsigned) options->num_words, &merged, &notes, error) &&
                    files_write(options->journal, merged.bytes, merged.len, error);
    for (const char *p = ok ? notes.bytes : NULL; p && *p;) {
        int len = 0;
        while (p[len] && p[len] != '\n')
            len++;
        fprintf(stderr, "kiln-tune: %.*s\n", len, p);
        p += len + (p[len] == '\n');
    }
    text_free(&merged);
    text_free(&notes);
    return ok ? EXIT_SUCCESS : fail(error);
}

int merge_main(const struct options *options)
{
    char error[MERGE_ERROR_BYTES];
    if (is_there(options->journal)) {
        snprintf(error, sizeof error, "%.900s: is there already: not overwritten",
                options->journal);
        return fail(error);
    }
    struct merge_part *parts = calloc((size_t) options->num_words, sizeof *parts);
    if (!parts)
        return fail("out of memory");
    const int status = read_parts(options, parts) ? merge(options, parts) : EXIT_FAILURE;
    for (int i = 0; i < options->num_words; i++)
        free(parts[i].text);
    free(parts);
    return status;
}
