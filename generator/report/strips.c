/* strips.c: see strips.h. */
#include "section.h"
#include "../core/draw.h"
#include "../core/family.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW = 21, LEFT = 58, RIGHT = 54, WIDTH = 340, TOP = 6, BOTTOM = 36 };

static int compare_dots(const void *a, const void *b)
{
    const double x = ((const struct strip_dot *) a)->ratio;
    const double y = ((const struct strip_dot *) b)->ratio;
    return (x > y) - (x < y);
}

void strips_summarize(struct strip_dot *dots, unsigned num, struct strip_summary *summary)
{
    double sum = 0;
    *summary = (struct strip_summary){ .num = num };
    if (!num)
        return;
    qsort(dots, num, sizeof *dots, compare_dots);
    for (unsigned i = 0; i < num; i++)
        sum += log(dots[i].ratio);
    summary->mean = exp(sum / num);
    summary->p95 = dots[(19 * num + 19) / 20 - 1].ratio;
    summary->worst = dots[num - 1].ratio;
}

void strips_widen(struct strips_range *range, const struct strip_dot *dots, unsigned num)
{
    for (unsigned i = 0; i < num; i++) {
        range->least = fmin(range->least, dots[i].ratio);
        range->most = fmax(range->most, dots[i].ratio);
    }
}

void strips_ratio(struct text *text, enum strips_kind kind, double ratio)
{
    const double percent = fmin(100 * (ratio - 1), 1e6);
    if (kind == STRIPS_LOSS)
        text_add(text, percent < 9.95 ? "%.1f&#8239;%%" : "%.0f&#8239;%%", percent);
    else
        text_add(text, ratio < 9.95 ? "%.2f&#8239;&#215;" : "%.0f&#8239;&#215;", ratio);
}

/* Losses count from 1, evenly; speeds by their logarithm, so that half and twice are as far from 1.
 */
static double place(enum strips_kind kind, double ratio)
{
    return kind == STRIPS_LOSS ? ratio - 1 : log2(ratio);
}

static void add_tick(const struct svg_plot *plot, enum strips_kind kind, double ratio)
{
    const double x = svg_x(plot, place(kind, ratio)), bottom = plot->height - plot->bottom;
    svg_line(plot, fabs(ratio - 1) < 1e-9 ? "one" : "grid", x, plot->top, x, bottom);
    if (kind == STRIPS_LOSS)
        svg_text(plot, "tick", "middle", x, bottom + 14, "%g&#8239;%%", 100 * (ratio - 1));
    else
        svg_text(plot, "tick", "middle", x, bottom + 14, "%g", ratio);
}

/* Round percents; powers of two, or round numbers where the range is short of them. */
static void add_axis(const struct svg_plot *plot, enum strips_kind kind)
{
    const double least = plot->x_min, most = plot->x_max, range = most - least;
    if (kind == STRIPS_LOSS) {
        const double step = svg_round_step(range);
        for (int i = 0; i * step <= most * (1 + 1e-9); i++)
            add_tick(plot, kind, 1 + i * step);
    } else if (range > 2) {
        const int step = (int) ceil(range / 6);
        for (int i = (int) ceil(least / step); i * step <= most; i++)
            add_tick(plot, kind, exp2(i * step));
    } else {
        const double step = svg_round_step(exp2(most) - exp2(least));
        for (int i = (int) ceil(exp2(least) / step); i * step <= exp2(most) * (1 + 1e-9); i++)
            add_tick(plot, kind, i * step);
    }
    svg_text(plot, "label", "start", plot->left, plot->height - 5,
            kind == STRIPS_LOSS ? "longer than the fastest known"
                                : "times as fast; right of 1 is faster");
    svg_text(plot, "label", "end", plot->width, plot->height - 5, "mean");
}

/* The dots are those of one class; its mean stands at the right. */
static void add_strip(const struct svg_plot *plot, enum strips_kind kind, const char *name,
        double y, const struct strip_dot *dots, unsigned num)
{
    const bool is_all = !strcmp(name, "all");
    struct text mean = { 0 };
    double sum = 0;
    svg_text(plot, is_all ? "name all" : "name", "end", plot->left - 8, y + 4, "%s", name);
    svg_line(plot, "grid", plot->left, y, plot->width - plot->right, y);
    for (unsigned i = 0; i < num; i++) {
        const struct strip_dot *dot = &dots[i];
        sum += log(dot->ratio);
        text_add(plot->text, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"%s\"><title>",
                svg_x(plot, place(kind, dot->ratio)), y + (is_all ? 0 : (int) (i % 3) * 3 - 3.0),
                is_all ? "2" : "3");
        report_shape(plot->text, dot->shape, dot->pair);
        text_add(plot->text, ": ");
        strips_ratio(plot->text, kind, dot->ratio);
        text_add(plot->text, "</title></circle>\n");
    }
    if (num) {
        const double x = svg_x(plot, place(kind, exp(sum / num)));
        svg_line(plot, "best", x, y - 7, x, y + 7);
        strips_ratio(&mean, kind, exp(sum / num));
    }
    svg_text(plot, is_all ? "name all" : "name", "end", plot->width, y + 4, "%s",
            mean.bytes ? mean.bytes : "&#8211;");
    plot->text->failed = plot->text->failed || mean.failed;
    text_free(&mean);
}

void strips_chart(struct text *text, enum strips_kind kind, const char *title,
        const struct strips_range *range, const struct strip_dot *dots, unsigned num)
{
    const struct svg_plot plot = {
        .text = text,
        .width = WIDTH,
        .height = TOP + (DRAW_NUM_CLASSES + 1) * ROW + BOTTOM,
        .left = LEFT,
        .right = RIGHT,
        .top = TOP,
        .bottom = BOTTOM,
        .x_min = kind == STRIPS_LOSS ? 0 : fmin(place(kind, range->least), -0.1),
        .x_max = fmax(place(kind, range->most), kind == STRIPS_LOSS ? 0.05 : 0.1),
    };
    struct strip_dot *some = calloc(num + 1, sizeof *some);
    if (!some) {
        text->failed = true;
        return;
    }
    text_add(text, "<figure><figcaption>%s</figcaption>\n", title);
    svg_begin(&plot, "chart", title, "A dot for each shape, a strip for each class of shapes.");
    add_axis(&plot, kind);
    for (unsigned row = 0; row <= DRAW_NUM_CLASSES; row++) {
        unsigned n = 0;
        for (unsigned i = 0; i < num; i++)
            if (row == DRAW_NUM_CLASSES || dots[i].class == row)
                some[n++] = dots[i];
        add_strip(&plot, kind, row < DRAW_NUM_CLASSES ? draw_class_name(row) : "all",
                TOP + ROW * (row + 0.5), some, n);
    }
    svg_end(&plot);
    text_add(text, "</figure>\n");
    free(some);
}
