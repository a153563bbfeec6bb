/* journal.h: the append-only file of everything that was measured.
 *
 * A row is one write, so that a kill loses at most the row being measured. The text is record.h's.
 */
#ifndef KILN_TUNE_JOURNAL_H
#define KILN_TUNE_JOURNAL_H

#include "../core/record.h"

struct journal;

/* Opens or creates the journal at path and locks it. Rows that it holds go to *records, a torn last
 * row is cut off. Refuses a file that is not a journal, and one that another process writes: NULL
 * with a message. A journal of another device, driver or generator is refused too, or, with
 * set_aside, renamed to PATH.old and a new one begun. */
struct journal *journal_open(const char *path, const struct journal_head *head, bool set_aside,
        struct records *records, char error[FAMILY_ERROR_BYTES]);

/* Appends a row; false with a message when it cannot be written whole. */
bool journal_append(struct journal *journal, const struct record *record,
        char error[FAMILY_ERROR_BYTES]);

void journal_close(struct journal *journal);

#endif
