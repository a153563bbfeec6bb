/* report.h: a journal as one HTML page for people. Pure.
 *
 * The page holds its charts and its style, refers to nothing outside, and is the same for the same
 * journal: it names no date and no file.
 */
#ifndef KILN_REPORT_REPORT_H
#define KILN_REPORT_REPORT_H

#include "../core/record.h"
#include "bench.h"

/* bench: what kiln-bench measured, or NULL. False with a message when the text is no journal or
 * memory runs out. */
bool report_html(const char *journal, const struct bench *bench, struct text *text,
        char error[FAMILY_ERROR_BYTES]);

#endif
