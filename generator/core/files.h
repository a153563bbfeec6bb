/* files.h: whole files in and out. */
#ifndef KILN_CORE_FILES_H
#define KILN_CORE_FILES_H

#include <stdbool.h>
#include <stddef.h>

enum { FILES_ERROR_BYTES = 256 };

/* The file's bytes, NUL-terminated, freed by the caller; NULL with "path: cause" in error, also
 * when the file is no text because it holds a NUL byte. */
char *files_read(const char *path, char error[FILES_ERROR_BYTES]);
/* The same of any bytes, with another NUL behind them. */
char *files_read_bytes(const char *path, size_t *len, char error[FILES_ERROR_BYTES]);

/* Writes through a temporary file beside it and a rename, and only when the content differs, so
 * that a full disk or a kill leaves the old file whole and an unchanged file keeps its time. The
 * file keeps its mode, and a link stays one. What is no plain file, a device say, is written to. */
bool files_write(const char *path, const char *bytes, size_t len, char error[FILES_ERROR_BYTES]);

/* Hands on what was printed. Called right after printing, it keeps the cause where that fails: a
 * stream does not. */
void files_flush_output(void);

/* What was printed has reached standard output; false with a message when it has not. A program
 * that prints calls this before it ends. */
bool files_end_output(char error[FILES_ERROR_BYTES]);

#endif
