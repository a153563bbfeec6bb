/* svg.h: pieces of an HTML page: escaped text, and charts as inline SVG.
 *
 * Colours are CSS classes of the page, so that a chart follows the reader's light or dark mode.
 * Numbers are printed with few digits, the same on every machine.
 */
#ifndef KILN_REPORT_SVG_H
#define KILN_REPORT_SVG_H

#include "../core/text.h"

enum { SVG_NUM_COLOURS = 8 }; /* classes c0 to c7 */

/* Text as HTML: what has a meaning there is escaped, what is no UTF-8 becomes "?". */
void html_text(struct text *text, const char *string);

/* A chart under way. The plot's area is what the margins leave of width x height. */
struct svg_plot {
    struct text *text;
    double width, height;
    double left, right, top, bottom;   /* margins */
    double x_min, x_max, y_min, y_max; /* of the data */
};

/* `title` is read aloud and shown on hovering. */
void svg_begin(const struct svg_plot *plot, const char *class, const char *title);
void svg_end(const struct svg_plot *plot);
double svg_x(const struct svg_plot *plot, double value);
double svg_y(const struct svg_plot *plot, double value);

/* Grid lines with numbers at round values; y in percent of 1. */
void svg_axis_x(const struct svg_plot *plot, const char *label);
void svg_axis_y(const struct svg_plot *plot, double step);

#endif
