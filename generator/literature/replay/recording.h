/* recording.h: a search space whose points were timed before, so that searches need no device.
 *
 * Two texts are read. A table of tab-separated columns: parameters, then any of "samples",
 * "first_ms", "min_ms", "median_ms", the last of which counts. Or a journal (core/record.h), of
 * which the largest group of search rows counts that share family, precision, transposes and shape.
 * Either way a parameter's values are those that occur, and a point is legal when it has a row.
 */
#ifndef KILN_LITERATURE_RECORDING_H
#define KILN_LITERATURE_RECORDING_H

#include "../../core/point.h"
#include "../../core/scope.h"

enum { RECORDING_MAX_VALUES = 255, RECORDING_ERROR_BYTES = 256, RECORDING_TITLE_BYTES = 128 };

struct recording_row {
    struct point point;
    uint64_t index;                    /* of the point in mixed-radix order: the rows' order */
    double cost;                       /* in ms; HUGE_VAL when it failed */
    int64_t rank;                         /* the family's, of a journal's row; else 0 */
    unsigned line;                     /* of a table; a journal's rows have 0 */
};

struct recording {
    unsigned num_params;
    char names[POINT_MAX_PARAMS][SCOPE_NAME_BYTES];
    long values[POINT_MAX_PARAMS][RECORDING_MAX_VALUES];       /* ascending */
    unsigned num_values[POINT_MAX_PARAMS];
    struct recording_row *rows;        /* freed by recording_free */
    size_t num_rows;
    double best_cost;
    bool is_ranked;                    /* the rows' ranks are set */
    char title[RECORDING_TITLE_BYTES];       /* of a journal, which rows count; else "" */
};

/* False with "line N: cause" in error. */
bool recording_parse(const char *text, struct recording *recording,
        char error[RECORDING_ERROR_BYTES]);
void recording_free(struct recording *recording);

/* The row of a point, or NULL: then it is illegal. */
const struct recording_row *recording_find(const struct recording *recording,
        const struct point *point);

/* The row of recording that has the values of a row of another one, matched by the columns' names;
 * NULL when the names differ or there is no such row. */
const struct recording_row *recording_translate(const struct recording *recording,
        const struct recording *other, const struct recording_row *row);

#endif
