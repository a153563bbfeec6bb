/* files.c: whole files in and out. The only part of core that touches the file system. */
#include "files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void explain(char error[FILES_ERROR_BYTES], const char *path, int cause)
{
    snprintf(error, FILES_ERROR_BYTES, "%.160s: %s", path, strerror(cause));
}

static char *read_all(FILE *file, size_t *len)
{
    size_t capacity = 1 << 14;
    char *bytes = malloc(capacity);
    for (*len = 0; bytes;) {
        *len += fread(bytes + *len, 1, capacity - *len - 1, file);
        if (*len < capacity - 1)
            break;
        char *more = realloc(bytes, capacity *= 2);
        if (!more)
            free(bytes);
        bytes = more;
    }
    if (bytes)
        bytes[*len] = '\0';
    return bytes;
}

char *files_read(const char *path, char error[FILES_ERROR_BYTES])
{
    size_t len;
    FILE *file = fopen(path, "rb");
    if (!file) {
        explain(error, path, errno);
        return NULL;
    }
    errno = 0;
    char *bytes = read_all(file, &len);
    if (!bytes || ferror(file)) {
        explain(error, path, errno ? errno : ENOMEM);
        free(bytes);
        bytes = NULL;
    }
    fclose(file);
    if (bytes && strlen(bytes) != len) {
        snprintf(error, FILES_ERROR_BYTES, "%.160s: not a text: it holds a NUL byte", path);
        free(bytes);
        bytes = NULL;
    }
    return bytes;
}

static bool same_content(const char *path, const char *bytes, size_t len)
{
    size_t old_len = 0;
    FILE *file = fopen(path, "rb");
    char *old = file ? read_all(file, &old_len) : NULL;
    const bool same = old && old_len == len && !memcmp(old, bytes, len);
    free(old);
    if (file)
        fclose(file);
    return same;
}

bool files_write(const char *path, const char *bytes, size_t len, char error[FILES_ERROR_BYTES])
{
    char temporary[4096];
    if (same_content(path, bytes, len))
        return true;
    if (snprintf(temporary, sizeof temporary, "%s.new", path) >= (int) sizeof temporary) {
        explain(error, path, ENAMETOOLONG);
        return false;
    }
    FILE *file = fopen(temporary, "wb");
    if (!file) {
        explain(error, temporary, errno);
        return false;
    }
    errno = 0;
    const bool written = fwrite(bytes, 1, len, file) == len;
    const bool closed = fclose(file) == 0;
    if (!written || !closed || rename(temporary, path)) {
        explain(error, path, errno ? errno : EIO);
        remove(temporary);
        return false;
    }
    return true;
}

bool files_end_output(char error[FILES_ERROR_BYTES])
{
    errno = 0;
    if (!fflush(stdout) && !ferror(stdout))
        return true;
    snprintf(error, FILES_ERROR_BYTES, "cannot write to standard output: %s",
            strerror(errno ? errno : EIO));
    return false;
}
