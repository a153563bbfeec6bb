/* landscape.c: what each parameter's values are worth.
 *
 * A chart per parameter: a column per value, in which a darker cell stands for more of the value's
 * configurations at that part of the best speed, and a bar for the best one of them.
 */
#include "section.h"

#include <math.h>
#include <stdio.h>

enum { NUM_BINS = 20 };

/* The configurations of one value of a parameter. */
struct column {
    size_t num, bins[NUM_BINS];
    double best;                       /* part of the best of the same search */
};

static bool is_shown(const struct record *row, const struct precision *precision,
        const struct family *family)
{
    return row->kind == RECORD_SEARCH && row->precision == precision &&
           row->config.family == family && record_is_timed(row);
}

static void fill_column(const struct report *report, const struct precision *precision,
        const struct family *family, unsigned param, long value, struct column *column)
{
    *column = (struct column){ .num = 0 };
    for (size_t i = 0; i < report->records->num; i++) {
        const struct record *row = &report->records->rows[i];
        if (!is_shown(row, precision, family) || row->config.value[param] != value)
            continue;
        const double part = report_search_of(report, row)->best / row->seconds;
        const unsigned bin = (unsigned) (part * NUM_BINS);
        column->bins[bin < NUM_BINS ? bin : NUM_BINS - 1]++;
        column->best = fmax(column->best, part);
        column->num++;
    }
}

/* Every how many values one is named, so that names do not touch. */
static unsigned name_each(const struct svg_plot *plot, const long *values, unsigned num)
{
    int longest = 1;
    for (unsigned i = 0; i < num; i++) {
        const int length = snprintf(NULL, 0, "%ld", values[i]);
        longest = length > longest ? length : longest;
    }
    return (unsigned) ceil((longest * 7.0 + 5) / (svg_x(plot, 1) - svg_x(plot, 0)));
}

static void add_column(const struct svg_plot *plot, const struct column *column, unsigned at,
        long value, bool is_named)
{
    const double x = svg_x(plot, at), width = svg_x(plot, at + 1) - x - 2;
    text_add(plot->text, "<g><title>%ld: ", value);
    text_add(plot->text,
            column->num ? "%zu tried, the best %.0f%%</title>\n" : "none timed</title>\n",
            column->num, 100 * column->best);
    for (unsigned bin = 0; bin < NUM_BINS; bin++)
        if (column->bins[bin])
            text_add(plot->text,
                    "<rect class=\"heat\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                    "height=\"%.1f\" fill-opacity=\"%.2f\"/>\n",
                    x + 1, svg_y(plot, (bin + 1.0) / NUM_BINS), width,
                    svg_y(plot, 0) - svg_y(plot, 1.0 / NUM_BINS),
                    0.12 + 0.78 * sqrt((double) column->bins[bin] / (double) column->num));
    if (column->num)
        svg_line(plot, "best", x + 1, svg_y(plot, column->best), x + 1 + width,
                svg_y(plot, column->best));
    if (is_named)
        svg_text(plot, column->num ? "tick" : "tick none", "middle", x + 1 + width / 2,
                plot->height - plot->bottom + 13, "%ld", value);
    text_add(plot->text, "</g>\n");
}

static void add_chart(const struct report *report, const struct precision *precision,
        const struct family *family, unsigned param)
{
    long values[FAMILY_MAX_VALUES];
    const unsigned num = param_values(&family->params[param], values);
    const struct svg_plot plot = {
        .text = report->text,
        .width = 300,
        .height = 150,
        .left = 46,
        .right = 4,
        .top = 8,
        .bottom = 18,
        .x_max = num,
        .y_max = 1,
    };
    struct column column;
    if (num < 2)
        return;
    text_add(report->text, "<figure><figcaption><b>");
    html_text(report->text, family->params[param].name);
    text_add(report->text, "</b> ");
    html_text(report->text, family->params[param].meaning);
    text_add(report->text, "</figcaption>\n");
    svg_begin(&plot, "chart", family->params[param].name, family->params[param].meaning);
    svg_axis_y(&plot, 0.5, NULL);
    const unsigned each = name_each(&plot, values, num);
    for (unsigned i = 0; i < num; i++) {
        fill_column(report, precision, family, param, values[i], &column);
        add_column(&plot, &column, i, values[i], i % each == 0);
    }
    svg_end(&plot);
    text_add(report->text, "</figure>\n");
}

static void add_family(const struct report *report, const struct precision *precision,
        const struct family *family)
{
    size_t num = 0;
    for (size_t i = 0; i < report->records->num; i++)
        num += is_shown(&report->records->rows[i], precision, family);
    if (!num)
        return;
    text_add(report->text, "<h4>%s <small>%zu timed</small></h4>\n<div class=\"panels small\">\n",
            family->name, num);
    for (unsigned p = 0; p < family->num_params; p++)
        add_chart(report, precision, family, p);
    text_add(report->text, "</div>\n");
}

static void add_precision(const struct report *report, const struct precision *precision)
{
    bool any = false;
    for (size_t i = 0; i < report->num_searches; i++)
        any = any || (report->searches[i].precision == precision && report->searches[i].num_timed);
    if (!any)
        return;
    text_add(report->text, "<details><summary>What each parameter is worth, ");
    report_precision(report->text, precision);
    text_add(report->text, "</summary>\n<p>For each value of a parameter: how near to the speed of "
                           "the best of its search the configurations with it came. Darker cells "
                           "hold more of them, the bar is the best one.</p>\n");
    for (size_t f = 0; f < num_families; f++)
        add_family(report, precision, families[f]);
    text_add(report->text, "</details>\n");
}

void report_landscape(const struct report *report)
{
    for (size_t i = 0; i < KILN_NUM_PRECISIONS; i++)
        add_precision(report, &precisions[i]);
}
