/* files.c: whole files in and out. The only part of core that touches the file system. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void explain(char error[FILES_ERROR_BYTES], const char *path, int cause)
{
    snprintf(error, FILES_ERROR_BYTES, "%.160s: %s", path, strerror(cause));
}

/* More than any file of ours, so that a device that never ends is not read for ever. */
static const size_t most_bytes = (size_t) 1 << 28;

static char *read_all(FILE *file, size_t *len)
{
    size_t capacity = 1 << 14;
    char *bytes = malloc(capacity);
    for (*len = 0; bytes;) {
        *len += fread(bytes + *len, 1, capacity - *len - 1, file);
        if (*len < capacity - 1)
            break;
        const bool fits = capacity < most_bytes;
        char *more = fits ? realloc(bytes, capacity *= 2) : NULL;
        if (!more) {
            errno = fits ? ENOMEM : EFBIG;
            free(bytes);
        }
        bytes = more;
    }
    if (bytes)
        bytes[*len] = '\0';
    return bytes;
}

char *files_read_bytes(const char *path, size_t *len, char error[FILES_ERROR_BYTES])
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        explain(error, path, errno);
        return NULL;
    }
    errno = 0;
    char *bytes = read_all(file, len);
    if (!bytes || ferror(file)) {
        explain(error, path, errno ? errno : ENOMEM);
        free(bytes);
        bytes = NULL;
    }
    fclose(file);
    return bytes;
}

char *files_read(const char *path, char error[FILES_ERROR_BYTES])
{
    size_t len;
    char *bytes = files_read_bytes(path, &len, error);
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

/* Writes to a new file, or into one that is there; messages call it `name`. */
static bool write_there(const char *path, const char *name, const char *bytes, size_t len,
        char error[FILES_ERROR_BYTES])
{
    FILE *file = fopen(path, "wb");
    if (!file) {
        explain(error, path, errno);
        return false;
    }
    errno = 0;
    const bool written = fwrite(bytes, 1, len, file) == len;
    const int cause = errno;
    const bool closed = fclose(file) == 0;
    if (!written || !closed)
        explain(error, name, !written && cause ? cause : errno ? errno : EIO);
    return written && closed;
}

/* Replaces a plain file, or makes one where there is none. */
static bool replace(const char *path, const struct stat *old, const char *bytes, size_t len,
        char error[FILES_ERROR_BYTES])
{
    char temporary[4096];
    if (snprintf(temporary, sizeof temporary, "%s.new", path) >= (int) sizeof temporary) {
        explain(error, path, ENAMETOOLONG);
        return false;
    }
    if (!write_there(temporary, path, bytes, len, error)) {
        remove(temporary);
        return false;
    }
    if ((old && chmod(temporary, old->st_mode & 07777)) || rename(temporary, path)) {
        explain(error, path, errno);
        remove(temporary);
        return false;
    }
    return true;
}

static bool is_stdout(const struct stat *file)
{
    struct stat output;
    return !fstat(1, &output) && output.st_dev == file->st_dev && output.st_ino == file->st_ino;
}

bool files_write(const char *path, const char *bytes, size_t len, char error[FILES_ERROR_BYTES])
{
    struct stat old;
    const bool is_there = !stat(path, &old), is_link = !is_there && !lstat(path, &old);
    if (is_link || (is_there && (!S_ISREG(old.st_mode) || is_stdout(&old))))
        return write_there(path, path, bytes, len, error);
    if (is_there && (size_t) old.st_size == len && same_content(path, bytes, len))
        return true;
    char *target = is_there ? realpath(path, NULL) : NULL; /* what a link stands for */
    const bool ok = replace(target ? target : path, is_there ? &old : NULL, bytes, len, error);
    free(target);
    return ok;
}

/* Why standard output failed first; 0: it did not. */
static int output_cause;

void files_flush_output(void)
{
    const int printing = errno; /* of what was printed, where that has failed */
    errno = 0;
    fflush(stdout);
    if (ferror(stdout) && !output_cause)
        output_cause = errno ? errno : printing ? printing : EIO;
}

bool files_end_output(char error[FILES_ERROR_BYTES])
{
    files_flush_output();
    if (!output_cause)
        return true;
    snprintf(error, FILES_ERROR_BYTES, "cannot write to standard output: %s",
            strerror(output_cause));
    return false;
}
