/* svg.h: pieces of an HTML page: escaped text, and charts as inline SVG.
 *
 * Colours are CSS classes of the page, so that a chart follows the reader's light or dark mode.
 * Numbers are printed with few digits, the same on every machine.
 */
#ifndef KILN_REPORT_SVG_H
#define KILN_REPORT_SVG_H

#include "../core/text.h"

enum { SVG_NUM_COLOURS = 9 }; /* classes c0 to c8 */

/* Text as HTML: what has a meaning there is escaped, what is no UTF-8 becomes "?". */
void html_text(struct text *text, const char *string);

/* A chart under way. The plot's area is what the margins leave of width x height. */
struct svg_plot {
    struct text *text;
    double width, height;
    double left, right, top, bottom;   /* margins */
    double x_min, x_max, y_min, y_max; /* of the data */
};

/* `title` is read aloud and shown on hovering; what `more` says of it too, which may be NULL. */
void svg_begin(const struct svg_plot *plot, const char *class, const char *title, const char *more);
void svg_end(const struct svg_plot *plot);
double svg_x(const struct svg_plot *plot, double value);
double svg_y(const struct svg_plot *plot, double value);

void svg_line(const struct svg_plot *plot, const char *class, double x1, double y1, double x2,
        double y2);
/* anchor: "start", "middle" or "end". The content is HTML. */
__attribute__((format(printf, 6, 7)))
void svg_text(const struct svg_plot *plot, const char *class, const char *anchor, double x,
        double y, const char *format, ...);

/* 1, 2 or 5 times a power of ten, so that at most about five steps are in the range. */
double svg_round_step(double range);
/* Grid lines with numbers at round values; y in percent of 1. A label says what they are. */
void svg_axis_x(const struct svg_plot *plot, const char *label);
void svg_axis_y(const struct svg_plot *plot, double step, const char *label);

#endif
