/* shapes.c: every shape that was measured: which recipe serves it, and what that loses. */
#include "section.h"
#include "../core/draw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The shapes that lose most come first. */
static int compare_selections(const void *a, const void *b)
{
    const struct selection *x = a, *y = b;
    const double left = x->seconds / x->best, right = y->seconds / y->best;
    return (left < right) - (left > right);
}

static void add_row(const struct report *report, const struct report_part *part,
        const struct selection *s)
{
    struct text *text = report->text;
    text_add(text, "<tr><th scope=\"row\">");
    report_shape(text, s->shape, s->pair);
    text_add(text, "</th><td>%s</td><td>", draw_class_name(report_class(&part->scale, s->shape)));
    report_letter(text, s->recipe);
    text_add(text, "</td><td class=\"num\">%.4g</td><td class=\"num\">",
            report_gflops(part->precision, s->shape, s->seconds));
    strips_ratio(text, STRIPS_LOSS, s->seconds / s->best);
    text_add(text, "</td><td class=\"num\">");
    if (s->generic < HUGE_VAL)
        strips_ratio(text, STRIPS_SPEED, s->generic / s->seconds);
    text_add(text, "</td></tr>\n");
}

static void add_list(const struct report *report, const struct report_part *part, int list,
        const char *caption)
{
    const unsigned num = part->num[list];
    struct selection *sorted = num ? calloc(num, sizeof *sorted) : NULL;
    if (!sorted) {
        report->text->failed = report->text->failed || num;
        return;
    }
    memcpy(sorted, part->lists[list], num * sizeof *sorted);
    qsort(sorted, num, sizeof *sorted, compare_selections);
    report_table(report->text, caption, "shape|class|recipe|#GFLOP/s|#lost|#over generic");
    for (unsigned i = 0; i < num; i++)
        add_row(report, part, &sorted[i]);
    report_table_end(report->text);
    free(sorted);
}

static void add_part(const struct report *report, const struct report_part *part)
{
    unsigned num = 0;
    for (int list = 0; list < REPORT_NUM_LISTS; list++)
        num += part->num[list];
    if (!num)
        return;
    text_add(report->text, "<details><summary>Every shape, ");
    report_precision(report->text, part->precision);
    text_add(report->text, ": %u</summary>\n", num);
    add_list(report, part, REPORT_OWN, "The application's own shapes");
    add_list(report, part, REPORT_HELD, "Held-out shapes, that nothing was chosen by");
    add_list(report, part, REPORT_MATRIX, "Shapes used for choosing");
    text_add(report->text, "</details>\n");
}

void report_shapes(const struct report *report)
{
    for (size_t i = 0; i < KILN_NUM_PRECISIONS; i++)
        add_part(report, &report->parts[i]);
}
