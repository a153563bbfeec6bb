/* section.c: see section.h. */
#include "section.h"
#include "../core/draw.h"

#include <math.h>
#include <string.h>

bool report_is_of(const struct report_search *s, const struct record *row)
{
    return s->precision == row->precision && s->pair == row->pair &&
           shape_equal(s->shape, row->shape);
}

const struct report_search *report_search_of(const struct report *report, const struct record *row)
{
    for (size_t i = 0; row->kind == RECORD_SEARCH && i < report->num_searches; i++)
        if (report_is_of(&report->searches[i], row))
            return &report->searches[i];
    return NULL;
}

double report_gflops(const struct precision *precision, struct shape shape, double seconds)
{
    return 1e-9 * precision_operations(precision, shape) / seconds;
}

double report_cost(const struct record *row)
{
    return row->cost > 0 ? fmin(row->cost, 1e9) : 0;
}

/* ---- Classes ---- */

static double size_of(struct shape shape)
{
    return log(2 + (double) shape.m * (double) shape.n * (double) shape.k *
                           (double) shape_members(shape));
}

void report_scale_add(struct report_scale *scale, struct shape shape)
{
    const double size = size_of(shape);
    if (draw_kind_of(shape) != DRAW_EVEN)
        return;
    scale->least = scale->most > 0 ? fmin(scale->least, size) : size;
    scale->most = fmax(scale->most, size);
}

/* The number of a class by its name. */
static unsigned class_named(const char *name)
{
    unsigned class = 0;
    while (class + 1 < DRAW_NUM_CLASSES && strcmp(draw_class_name(class), name))
        class ++;
    return class;
}

unsigned report_class(const struct report_scale *scale, struct shape shape)
{
    static const char *const thirds[] = { "small", "medium", "large" };
    const enum draw_kind kind = draw_kind_of(shape);
    const double range = scale->most - scale->least;
    if (kind != DRAW_EVEN)
        return class_named(draw_kind_names[kind]);
    const double third = range > 1 ? 3 * (size_of(shape) - scale->least) / range : 1;
    return class_named(thirds[third < 1 ? 0 : third < 2 ? 1 : 2]);
}

/* ---- Words ---- */

void report_letter(struct text *text, int recipe)
{
    if (recipe < 0)
        text_add(text, "-");
    else if (recipe < 26)
        text_add(text, "%c", 'A' + recipe);
    else
        text_add(text, "%c%c", 'A' + recipe / 26 - 1, 'A' + recipe % 26);
}

void report_precision(struct text *text, const struct precision *precision)
{
    for (const char *p = precision->name; *p; p++)
        text_add(text, "%c", *p == '_' ? ' ' : *p);
}

void report_shape(struct text *text, struct shape shape, int pair)
{
    char batch[SHAPE_BATCH_BYTES];
    shape_format_batch(shape, ' ', batch);
    text_add(text, "%zu &#215; %zu &#215; %zu %s%s", shape.m, shape.n, shape.k, pair_names[pair],
            batch);
}

void report_table(struct text *text, const char *caption, const char *columns)
{
    text_add(text, "<div class=\"scroll\"><table>\n");
    if (caption)
        text_add(text, "<caption>%s</caption>\n", caption);
    text_add(text, "<thead><tr>");
    while (*columns) {
        const size_t len = strcspn(columns, "|");
        const bool is_number = *columns == '#';
        text_add(text, "<th scope=\"col\"%s>%.*s</th>", is_number ? " class=\"num\"" : "",
                (int) (len - is_number), columns + is_number);
        columns += len + (columns[len] == '|');
    }
    text_add(text, "</tr></thead>\n<tbody>\n");
}

void report_table_end(struct text *text)
{
    text_add(text, "</tbody></table></div>\n");
}
