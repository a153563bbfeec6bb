/* finalists.h: the configurations of a precision that are verified and timed against each other. */
#ifndef KILN_TUNE_FINALISTS_H
#define KILN_TUNE_FINALISTS_H

#include "phase.h"
#include "task_search.h"

/* Whether a configuration differs from each of these in at least so many parameters; one of another
 * family differs in all. */
bool finalists_differ(const struct config *from, unsigned num, const struct config *config,
        unsigned least);

/* Whether a row is an evaluation for a task. What else was timed at its very shape counts as
 * searched. */
bool finalists_is_row_of(const struct record *r, enum record_kind kind, const struct phases *phases,
        const struct task *task);

/* The fastest configuration for a task that differs from each of the taken ones in at least so many
 * parameters. */
const struct record *finalists_best(const struct phases *phases, enum record_kind kind,
        const struct task *task, const struct config *taken, unsigned num_taken, unsigned least);

/* Adds one that is not there yet, as long as there is room. */
void finalists_add(struct phases *phases, const struct config *config);

/* Adds the siblings of those that are there, the first ones' first, as long as there is room: what
 * differs by the next legal value of one parameter that says less of speed than of shapes. */
void finalists_add_siblings(struct phases *phases);

/* The best of a search, and others that are not its near copies: these would win and lose together.
 * Re-evaluations, where there are any, count more than the first evaluation. */
void finalists_add_best(struct phases *phases, const struct task *task, unsigned from, unsigned to);

#endif
