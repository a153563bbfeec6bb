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
 * with a message. A damaged journal, and one of another device, driver or generator, is refused
 * too, or, with set_aside, renamed to PATH.oldN and a new one begun; one of another shard is only
 * refused. records->head is the journal's own. */
struct journal *journal_open(const char *path, const struct journal_head *head, bool set_aside,
        struct records *records, char error[FAMILY_ERROR_BYTES]);

/* Appends rows, all in one write; false with a message when they cannot be written whole. */
bool journal_append(struct journal *journal, const struct record *rows, unsigned num,
        char error[FAMILY_ERROR_BYTES]);

void journal_close(struct journal *journal);

#endif
