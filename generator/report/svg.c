/* svg.c: see svg.h. */
#include "svg.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* How many bytes at p are one character of UTF-8; 0 when they are none. */
static unsigned utf8_length(const unsigned char *p)
{
    static const struct {
        unsigned char mask, start;
    } forms[] = { { 0xe0, 0xc0 }, { 0xf0, 0xe0 }, { 0xf8, 0xf0 } };
    for (unsigned i = 0; i < 3; i++) {
        if ((p[0] & forms[i].mask) != forms[i].start)
            continue;
        for (unsigned k = 1; k <= i + 1; k++)
            if ((p[k] & 0xc0) != 0x80)
                return 0;
        const bool is_long = p[0] == 0xc0 || p[0] == 0xc1 || (p[0] == 0xe0 && p[1] < 0xa0) ||
                             (p[0] == 0xf0 && p[1] < 0x90);
        /* Surrogates, what is beyond the last character, and control characters. */
        const bool is_none = (p[0] == 0xed && p[1] >= 0xa0) || p[0] > 0xf4 ||
                             (p[0] == 0xf4 && p[1] >= 0x90) || (p[0] == 0xc2 && p[1] < 0xa0);
        return is_long || is_none ? 0 : i + 2;
    }
    return 0;
}

void html_text(struct text *text, const char *string)
{
    for (const unsigned char *p = (const unsigned char *) string; *p; p++) {
        const unsigned length = *p < 0x80 ? 1 : utf8_length(p);
        if (*p == '&')
            text_add(text, "&amp;");
        else if (*p == '<')
            text_add(text, "&lt;");
        else if (*p == '>')
            text_add(text, "&gt;");
        else if (*p == '"')
            text_add(text, "&quot;");
        else if (*p == '\'')
            text_add(text, "&#39;");
        else if (!length || *p < ' ' || *p == 0x7f)
            text_add(text, "?");
        else
            text_add(text, "%.*s", (int) length, (const char *) p);
        p += length > 1 ? length - 1 : 0;
    }
}

void svg_begin(const struct svg_plot *plot, const char *class, const char *title, const char *more)
{
    text_add(plot->text, "<svg class=\"%s\" viewBox=\"0 0 %g %g\" role=\"img\">\n<title>", class,
            plot->width, plot->height);
    html_text(plot->text, title);
    text_add(plot->text, "</title>\n");
    if (more) {
        text_add(plot->text, "<desc>");
        html_text(plot->text, more);
        text_add(plot->text, "</desc>\n");
    }
}

void svg_end(const struct svg_plot *plot)
{
    text_add(plot->text, "</svg>\n");
}

double svg_x(const struct svg_plot *plot, double value)
{
    return plot->left + (value - plot->x_min) / (plot->x_max - plot->x_min) *
                                (plot->width - plot->left - plot->right);
}

double svg_y(const struct svg_plot *plot, double value)
{
    return plot->height - plot->bottom -
           (value - plot->y_min) / (plot->y_max - plot->y_min) *
                   (plot->height - plot->top - plot->bottom);
}

double svg_round_step(double range)
{
    const double raw = range / 5, power = pow(10, floor(log10(raw)));
    const double parts = raw / power;
    return power * (parts <= 1 ? 1 : parts <= 2 ? 2 : parts <= 5 ? 5 : 10);
}

void svg_line(const struct svg_plot *plot, const char *class, double x1, double y1, double x2,
        double y2)
{
    text_add(plot->text, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
            class, x1, y1, x2, y2);
}

void svg_text(const struct svg_plot *plot, const char *class, const char *anchor, double x,
        double y, const char *format, ...)
{
    char content[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(content, sizeof content, format, arguments);
    va_end(arguments);
    text_add(plot->text, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n",
            class, x, y, anchor, content);
}

void svg_axis_x(const struct svg_plot *plot, const char *label)
{
    const double step = svg_round_step(plot->x_max - plot->x_min);
    const double bottom = plot->height - plot->bottom;
    for (int i = (int) ceil(plot->x_min / step); i * step <= plot->x_max * (1 + 1e-9); i++) {
        const double x = svg_x(plot, i * step);
        svg_line(plot, "grid", x, plot->top, x, bottom);
        svg_text(plot, "tick", "middle", x, bottom + 15, "%g", i * step);
    }
    svg_text(plot, "label", "end", plot->width - plot->right, plot->height - 4, "%s", label);
}

void svg_axis_y(const struct svg_plot *plot, double step, const char *label)
{
    for (int i = (int) ceil(plot->y_min / step - 1e-9); i * step <= plot->y_max + 1e-9; i++) {
        const double y = svg_y(plot, i * step);
        svg_line(plot, "grid", plot->left, y, plot->width - plot->right, y);
        svg_text(plot, "tick", "end", plot->left - 5, y + 4, "%.0f&#8239;%%", 100 * i * step);
    }
    if (label)
        svg_text(plot, "label", "start", 0, 11, "%s", label);
}
