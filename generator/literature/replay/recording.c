/* recording.c: recordings from text.
 *
 * Both readers fill a list of raw rows, whose values are plain numbers; finish() turns them into
 * points.
 */
#include "recording.h"
#include "../../core/fields.h"
#include "../../core/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FIELDS = POINT_MAX_PARAMS + 4, LINE_BYTES = 1024 };

struct raw_row {
    long value[POINT_MAX_PARAMS];
    double cost;
    int64_t rank;
    unsigned line;                     /* of a table */
};

struct raw {
    struct raw_row *rows;
    size_t num, capacity;
};

static bool refuse(unsigned line, const char *what, const char *of,
        char error[RECORDING_ERROR_BYTES])
{
    snprintf(error, RECORDING_ERROR_BYTES, "line %u: %s%.100s", line, what, of);
    return false;
}

static struct raw_row *add_row(struct raw *raw)
{
    if (raw->num == raw->capacity) {
        const size_t capacity = raw->capacity ? raw->capacity * 2 : 1024;
        struct raw_row *rows = realloc(raw->rows, capacity * sizeof *rows);
        if (!rows)
            return NULL;
        raw->rows = rows;
        raw->capacity = capacity;
    }
    struct raw_row *row = &raw->rows[raw->num++];
    *row = (struct raw_row) { .line = 0 };
    return row;
}

/* ---- points ---- */

static int compare_longs(const void *a, const void *b)
{
    const long x = *(const long *) a, y = *(const long *) b;
    return (x > y) - (x < y);
}

/* The place of a value among a parameter's, or -1. */
static int place_of(const struct recording *recording, unsigned param, long value)
{
    const long *found = bsearch(&value, recording->values[param], recording->num_values[param],
            sizeof value, compare_longs);
    return found ? (int) (found - recording->values[param]) : -1;
}

/* Adds a value where its order wants it. False when there are too many. */
static bool add_value(struct recording *recording, unsigned param, long value)
{
    long *values = recording->values[param];
    unsigned at = recording->num_values[param];
    if (place_of(recording, param, value) >= 0)
        return true;
    if (at == RECORDING_MAX_VALUES)
        return false;
    for (; at > 0 && values[at - 1] > value; at--)
        values[at] = values[at - 1];
    values[at] = value;
    recording->num_values[param]++;
    return true;
}

static bool add_values(struct recording *recording, const struct raw *raw,
        char error[RECORDING_ERROR_BYTES])
{
    uint64_t size = 1;
    for (unsigned p = 0; p < recording->num_params; p++) {
        for (size_t i = 0; i < raw->num; i++)
            if (!add_value(recording, p, raw->rows[i].value[p]))
                return refuse(raw->rows[i].line, "too many values of ", recording->names[p], error);
        if (__builtin_mul_overflow(size, (uint64_t) recording->num_values[p], &size))
            return refuse(1, "more points than 64 bits number", "", error);
    }
    return true;
}

static uint64_t index_of(const struct recording *recording, const struct point *point)
{
    uint64_t index = 0;
    for (unsigned p = 0; p < recording->num_params; p++)
        index = index * recording->num_values[p] + point->at[p];
    return index;
}

/* The order of points; where a point has two rows, the cheaper one first. */
static int compare_rows(const void *a, const void *b)
{
    const struct recording_row *x = a, *y = b;
    if (x->index != y->index)
        return x->index > y->index ? 1 : -1;
    return (x->cost > y->cost) - (x->cost < y->cost);
}

/* A journal may hold an evaluation twice; a table that does is broken. */
static bool drop_repeats(struct recording *recording, char error[RECORDING_ERROR_BYTES])
{
    size_t kept = 0;
    for (size_t i = 0; i < recording->num_rows; i++) {
        const struct recording_row *row = &recording->rows[i];
        const struct recording_row *last = kept ? &recording->rows[kept - 1] : NULL;
        if (!last || last->index != row->index)
            recording->rows[kept++] = *row;
        else if (row->line) {
            snprintf(error, RECORDING_ERROR_BYTES, "line %u: the configuration of line %u again",
                    row->line > last->line ? row->line : last->line,
                    row->line > last->line ? last->line : row->line);
            return false;
        }
    }
    recording->num_rows = kept;
    return true;
}

static bool finish(struct recording *recording, const struct raw *raw,
        char error[RECORDING_ERROR_BYTES])
{
    if (!add_values(recording, raw, error))
        return false;
    recording->rows = calloc(raw->num ? raw->num : 1, sizeof *recording->rows);
    if (!recording->rows) {
        snprintf(error, RECORDING_ERROR_BYTES, "out of memory");
        return false;
    }
    recording->best_cost = HUGE_VAL;
    recording->num_rows = raw->num;
    for (size_t i = 0; i < raw->num; i++) {
        struct recording_row *row = &recording->rows[i];
        for (unsigned p = 0; p < recording->num_params; p++)
            row->point.at[p] = (unsigned char) place_of(recording, p, raw->rows[i].value[p]);
        row->index = index_of(recording, &row->point);
        row->cost = raw->rows[i].cost;
        row->rank = raw->rows[i].rank;
        row->line = raw->rows[i].line;
        recording->best_cost = fmin(recording->best_cost, row->cost);
    }
    qsort(recording->rows, recording->num_rows, sizeof *recording->rows, compare_rows);
    if (recording->best_cost < HUGE_VAL)
        return drop_repeats(recording, error);
    snprintf(error, RECORDING_ERROR_BYTES, "no configuration has a time");
    return false;
}

/* ---- tables ---- */

struct line {
    char bytes[LINE_BYTES];
    char *field[MAX_FIELDS];
    unsigned num, number;
};

/* Cuts the next line into fields and moves *text behind it. */
static bool next_line(const char **text, struct line *line, char error[RECORDING_ERROR_BYTES])
{
    line->number++;
    if (!line_cut(text, line->bytes, sizeof line->bytes))
        return refuse(line->number, "too long", "", error);
    const size_t len = strlen(line->bytes);
    if (len && line->bytes[len - 1] == '\r')
        line->bytes[len - 1] = '\0';
    line->num = line_split(line->bytes, line->field, MAX_FIELDS);
    return line->num <= MAX_FIELDS || refuse(line->number, "too many columns", "", error);
}

/* Which column is the cost: the later, the less it is disturbed by chance. */
static const char *const result_columns[] = { "samples", "first_ms", "min_ms", "median_ms" };

static int result_column(const char *name)
{
    return word_find(result_columns, 4, name, strlen(name));
}

static int find_param(const struct recording *recording, const char *name)
{
    for (unsigned p = 0; p < recording->num_params; p++)
        if (!strcmp(recording->names[p], name))
            return (int) p;
    return -1;
}

/* The parameters stand first, the results behind them; *cost is the column of the time. */
static bool parse_header(const struct line *line, struct recording *recording, unsigned *cost,
        char error[RECORDING_ERROR_BYTES])
{
    int best = 0;
    for (unsigned i = 0; i < line->num; i++) {
        const int result = result_column(line->field[i]);
        const size_t bytes = strlen(line->field[i]) + 1;
        if (result < 0 && (i > recording->num_params || i == POINT_MAX_PARAMS))
            return refuse(1, "unexpected column ", line->field[i], error);
        if (result < 0 && (bytes == 1 || bytes > SCOPE_NAME_BYTES))
            return refuse(1, "a bad name of a column: ", line->field[i], error);
        if (result < 0 && find_param(recording, line->field[i]) >= 0)
            return refuse(1, "two columns have the name ", line->field[i], error);
        if (result < 0)
            memcpy(recording->names[recording->num_params++], line->field[i], bytes);
        if (result > best) {
            best = result;
            *cost = i;
        }
    }
    if (!recording->num_params)
        return refuse(1, "no column of a parameter", "", error);
    return best > 0 || refuse(1, "no column first_ms, min_ms or median_ms", "", error);
}

/* A time; "inf" and "nan" mean that the configuration failed. */
static bool parse_cost(const char *field, double *cost)
{
    if (!field_real(field, cost) || *cost <= 0)
        return false;
    if (!isfinite(*cost))
        *cost = HUGE_VAL;
    return true;
}

static bool parse_table_row(const struct line *line, const struct recording *recording,
        unsigned cost, struct raw_row *row, char error[RECORDING_ERROR_BYTES])
{
    row->line = line->number;
    for (unsigned p = 0; p < recording->num_params; p++)
        if (!field_long(line->field[p], &row->value[p]))
            return refuse(line->number, "not a whole number: ", line->field[p], error);
    return parse_cost(line->field[cost], &row->cost) ||
           refuse(line->number, "not a time: ", line->field[cost], error);
}

static bool parse_table(const char *text, struct recording *recording, struct raw *raw,
        char error[RECORDING_ERROR_BYTES])
{
    struct line line = { .number = 0 };
    unsigned cost = 0, columns;
    if (!next_line(&text, &line, error) || !parse_header(&line, recording, &cost, error))
        return false;
    columns = line.num;
    while (*text) {
        if (!next_line(&text, &line, error))
            return false;
        if (line.num != columns)
            return refuse(line.number, "not as many columns as the first line", "", error);
        struct raw_row *row = add_row(raw);
        if (!row)
            return refuse(line.number, "out of memory", "", error);
        if (!parse_table_row(&line, recording, cost, row, error))
            return false;
    }
    return true;
}

/* ---- journals ---- */

static bool same_group(const struct record *a, const struct record *b)
{
    return b->kind == RECORD_SEARCH && a->config.family == b->config.family &&
           a->precision == b->precision && a->pair == b->pair && shape_equal(a->shape, b->shape);
}

/* A row of the largest group of search rows; NULL when there are none. */
static const struct record *largest_group(const struct records *records)
{
    const struct record *best = NULL;
    size_t most = 0;
    for (size_t i = 0; i < records->num; i++) {
        const struct record *r = &records->rows[i];
        size_t num = 0;
        if (r->kind != RECORD_SEARCH || (best && same_group(best, r)))
            continue;
        for (size_t j = i; j < records->num; j++)
            num += same_group(r, &records->rows[j]);
        if (num > most) {
            best = r;
            most = num;
        }
    }
    return best;
}

static double cost_of(const struct record *r)
{
    return record_is_timed(r) ? r->seconds * 1e3 : HUGE_VAL;
}

static bool take_group(const struct records *records, const struct record *group,
        struct recording *recording, struct raw *raw)
{
    const struct problem problem = problem_of_pair(group->precision, group->pair);
    for (size_t i = 0; i < records->num; i++) {
        const struct record *r = &records->rows[i];
        if (!same_group(group, r))
            continue;
        struct raw_row *row = add_row(raw);
        if (!row)
            return false;
        memcpy(row->value, r->config.value, recording->num_params * sizeof row->value[0]);
        row->cost = cost_of(r);
        row->rank = config_rank(&r->config, &problem, &records->head.facts);
    }
    return true;
}

static bool parse_journal(const char *text, struct recording *recording, struct raw *raw,
        char error[RECORDING_ERROR_BYTES])
{
    struct records records;
    if (!records_parse(text, &records, error))
        return false;
    const struct record *group = largest_group(&records);
    bool ok = group != NULL;
    if (group) {
        const struct family *family = group->config.family;
        char shape[SHAPE_TEXT_BYTES];
        shape_format(group->shape, shape);
        recording->num_params = family->num_params;
        recording->is_ranked = true;
        for (unsigned p = 0; p < family->num_params; p++)
            snprintf(recording->names[p], SCOPE_NAME_BYTES, "%s", family->params[p].name);
        snprintf(recording->title, sizeof recording->title, "%s %s %s %s", family->name,
                group->precision->name, pair_names[group->pair], shape);
        ok = take_group(&records, group, recording, raw);
    }
    if (!ok)
        snprintf(error, RECORDING_ERROR_BYTES, group ? "out of memory" : "no row of a search");
    records_free(&records);
    return ok;
}

bool recording_parse(const char *text, struct recording *recording,
        char error[RECORDING_ERROR_BYTES])
{
    struct raw raw = { .num = 0 };
    *recording = (struct recording) { .num_params = 0 };
    bool ok = strncmp(text, "kiln-journal\t", 13) ? parse_table(text, recording, &raw, error)
                                                   : parse_journal(text, recording, &raw, error);
    ok = ok && finish(recording, &raw, error);
    free(raw.rows);
    if (!ok)
        recording_free(recording);
    return ok;
}

void recording_free(struct recording *recording)
{
    free(recording->rows);
    recording->rows = NULL;
    recording->num_rows = 0;
}

/* ---- look-up ---- */

static int compare_index(const void *key, const void *row)
{
    const uint64_t index = *(const uint64_t *) key;
    const uint64_t at = ((const struct recording_row *) row)->index;
    return (index > at) - (index < at);
}

const struct recording_row *recording_find(const struct recording *recording,
        const struct point *point)
{
    const uint64_t index = index_of(recording, point);
    return bsearch(&index, recording->rows, recording->num_rows, sizeof *recording->rows,
            compare_index);
}

const struct recording_row *recording_translate(const struct recording *recording,
        const struct recording *other, const struct recording_row *row)
{
    struct point point = { { 0 } };
    if (recording->num_params != other->num_params)
        return NULL;
    for (unsigned p = 0; p < recording->num_params; p++) {
        const int from = find_param(other, recording->names[p]);
        const int at = from < 0 ? -1
                     : place_of(recording, p, other->values[from][row->point.at[from]]);
        if (at < 0)
            return NULL;
        point.at[p] = (unsigned char) at;
    }
    return recording_find(recording, &point);
}
