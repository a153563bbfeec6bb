/* result.h: what a tuning leaves: the files, and the words about them. */
#ifndef KILN_TUNE_RESULT_H
#define KILN_TUNE_RESULT_H

#include "options.h"
#include "tuner.h"
#include "../core/select.h"
#include "../core/winners.h"

/* Writes winners.tsv and bundle.c, or device.tsv; false when that failed, after a message. */
bool result_write(const struct options *options, const struct winners *winners);
bool result_write_device(const struct options *options, const struct device_facts *facts);

/* Writes the same of a bundle that is for no device, so that generic serves. An exit status. */
int result_write_empty(const struct options *options, const char *why, bool is_warning);

/* What was measured, and that it was one shard. */
void result_report_counts(const struct tuner *tuner);

/* What was dropped so that the bundle fits its budget of bytes. */
void result_report_dropped(const struct select_budget *budget);

/* Says what was chosen; and warns of what was asked for and is not there, and why, and of what is
 * worse than it could be, and what to do. */
void result_report(const struct options *options, const struct tuner *tuner,
        const struct winners *winners);

/* Names the files that are left; where their folder is one of the source tree's tuned/, says how to
 * link the bundle. */
void result_report_files(const struct options *options, const char *journal);

/* Why nothing ships for a precision. */
void result_why(const struct tuner *tuner, const struct precision *precision,
        char why[FAMILY_ERROR_BYTES]);

#endif
