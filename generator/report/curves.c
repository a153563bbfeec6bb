/* curves.c: how fast each search came near the best that it found. */
#include "section.h"

#include <math.h>

/* Walks through the rows of one search in their order. */
struct walk {
    size_t at, num;                    /* the next row; rows of the search so far */
    double seconds;                    /* that they took */
    double best;                       /* of their times */
};

/* To the next row that is faster than all before it. False when there is none. */
static bool next_better(const struct report *report, const struct report_search *search,
        struct walk *walk)
{
    for (; walk->at < report->records->num; walk->at++) {
        const struct record *row = &report->records->rows[walk->at];
        if (report_search_of(report, row) != search)
            continue;
        walk->num++;
        walk->seconds += report_cost(row);
        if (record_is_timed(row) && row->seconds < walk->best) {
            walk->best = row->seconds;
            walk->at++;
            return true;
        }
    }
    return false;
}

static double at_of(const struct walk *walk, bool over_time)
{
    return over_time ? walk->seconds : (double) walk->num;
}

/* The largest x and the least y of a precision's curves. */
static void find_range(const struct report *report, const struct precision *precision,
        bool over_time, struct svg_plot *plot)
{
    for (size_t i = 0; i < report->num_searches; i++) {
        const struct report_search *search = &report->searches[i];
        struct walk walk = { .best = HUGE_VAL };
        if (search->precision != precision || !search->num_timed)
            continue;
        if (next_better(report, search, &walk))
            plot->y_min = fmin(plot->y_min, floor(10 * search->best / walk.best) / 10);
        while (next_better(report, search, &walk))
            continue;
        plot->x_max = fmax(plot->x_max, at_of(&walk, over_time));
    }
    plot->y_min = fmin(plot->y_min, 0.9);
}

static void add_curve(const struct report *report, const struct report_search *search,
        unsigned colour, bool over_time, const struct svg_plot *plot)
{
    struct walk walk = { .best = HUGE_VAL };
    double y = 0;
    bool begun = false;
    text_add(plot->text, "<path class=\"curve c%u\" d=\"", colour % SVG_NUM_COLOURS);
    while (next_better(report, search, &walk)) {
        const double x = svg_x(plot, at_of(&walk, over_time));
        if (begun)
            text_add(plot->text, "H%.1f", x);
        y = svg_y(plot, search->best / walk.best);
        text_add(plot->text, begun ? "V%.1f" : "M%.1f %.1f", begun ? y : x, y);
        begun = true;
    }
    text_add(plot->text, "H%.1f\"><title>", svg_x(plot, at_of(&walk, over_time)));
    report_shape(plot->text, search->shape, search->pair);
    text_add(plot->text, "</title></path>\n");
}

static void add_chart(const struct report *report, const struct precision *precision,
        bool over_time)
{
    struct svg_plot plot = {
        .text = report->text,
        .width = 380,
        .height = 230,
        .left = 46,
        .right = 10,
        .top = 24,
        .bottom = 38,
        .x_max = 1e-9,
        .y_min = 1,
        .y_max = 1,
    };
    const char *title = over_time ? "Best so far over time" : "Best so far over tries";
    find_range(report, precision, over_time, &plot);
    svg_begin(&plot, "chart", title, "A line for each search; its end is the best it found.");
    svg_axis_y(&plot, plot.y_min < 0.5 ? 0.2 : 0.1, "speed, of the best found");
    svg_axis_x(&plot, over_time ? "seconds of the search" : "configurations tried");
    unsigned colour = 0;
    for (size_t i = 0; i < report->num_searches; i++)
        if (report->searches[i].precision == precision && report->searches[i].num_timed)
            add_curve(report, &report->searches[i], colour++, over_time, &plot);
    svg_end(&plot);
}

static void add_legend(const struct report *report, const struct precision *precision)
{
    unsigned colour = 0;
    text_add(report->text, "<ul class=\"legend\">\n");
    for (size_t i = 0; i < report->num_searches; i++) {
        const struct report_search *s = &report->searches[i];
        if (s->precision != precision)
            continue;
        text_add(report->text, "<li>");
        if (s->num_timed)
            text_add(report->text, "<span class=\"swatch c%u\"></span>",
                    colour++ % SVG_NUM_COLOURS);
        report_shape(report->text, s->shape, s->pair);
        if (s->num_timed)
            text_add(report->text, ": %.4g GFLOP/s, %zu tried</li>\n",
                    report_gflops(precision, s->shape, s->best), s->num);
        else
            text_add(report->text, ": none of %zu could be timed</li>\n", s->num);
    }
    text_add(report->text, "</ul>\n");
}

static void add_precision(const struct report *report, const struct precision *precision)
{
    bool any = false, timed = false;
    for (size_t i = 0; i < report->num_searches; i++) {
        const struct report_search *search = &report->searches[i];
        any = any || search->precision == precision;
        timed = timed || (search->precision == precision && search->num_timed);
    }
    if (!any)
        return;
    text_add(report->text, "<h4>");
    report_precision(report->text, precision);
    text_add(report->text, "</h4>\n");
    if (timed) {
        text_add(report->text, "<div class=\"panels wide\">\n");
        add_chart(report, precision, false);
        add_chart(report, precision, true);
        text_add(report->text, "</div>\n");
    }
    add_legend(report, precision);
}

void report_curves(const struct report *report)
{
    if (!report->num_searches)
        return;
    text_add(report->text,
            "<h3>How fast the searches converged</h3>\n<p>The best so far, as a part "
            "of the best that the search found.</p>\n");
    for (size_t i = 0; i < KILN_NUM_PRECISIONS; i++)
        add_precision(report, &precisions[i]);
}
