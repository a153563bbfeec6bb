/* fields.h: reads lines of fields with tabs between them: journals, winners, tables. */
#ifndef KILN_CORE_FIELDS_H
#define KILN_CORE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

/* Copies the line at *text, without what ends it (a newline, or a carriage return and a newline),
 * and moves *text behind it. False if it does not fit into `size` bytes. */
bool line_cut(const char **text, char *line, size_t size);
/* Cuts a line at its tabs. Gives the number of fields, or max + 1 if there are more than max. */
unsigned line_split(char *line, char *field[], unsigned max);

/* A number that is all of the field. */
bool field_long(const char *field, long *value);
bool field_real(const char *field, double *value);
/* False if it does not fit. */
bool field_copy(char *to, size_t size, const char *field);

/* Which of the words the `len` characters at `word` are, or -1. */
int word_find(const char *const *words, int num, const char *word, size_t len);

#endif
