/* choice.c: which recipe serves which shape, and what that costs against the best candidate there.
 */
#include "section.h"
#include "../core/select.h"

#include <math.h>
#include <stdlib.h>

enum { ROW_HEIGHT = 22, CELL_WIDTH = 76, NAME_WIDTH = 150 };

/* A recipe's name in the chart: A, B, C... */
static char letter_of(int recipe)
{
    return (char) (recipe < 26 ? 'A' + recipe : '?');
}

static void add_recipes(const struct report *report, const struct precision *precision)
{
    char config[CONFIG_TEXT_BYTES];
    const struct winner *winner;
    text_add(report->text, "<ol class=\"recipes\">\n");
    for (int i = 0; (winner = winners_recipe(report->winners, precision, i)); i++) {
        config_format(&winner->config, config);
        text_add(report->text, "<li><b>%c</b> <code>", letter_of(i));
        html_text(report->text, config);
        text_add(report->text, "</code></li>\n");
    }
    text_add(report->text, "</ol>\n");
}

static bool same_shape(const struct selection *a, const struct selection *b)
{
    return a->m == b->m && a->n == b->n && a->k == b->k;
}

/* Gives each selection the place of its shape among those that differ; returns how many do. */
static unsigned number_rows(const struct selection *list, unsigned num, unsigned *rows)
{
    unsigned num_rows = 0;
    for (unsigned i = 0; i < num; i++) {
        unsigned j = 0;
        while (j < i && !same_shape(&list[i], &list[j]))
            j++;
        rows[i] = j < i ? rows[j] : num_rows++;
    }
    return num_rows;
}

static void add_cell(const struct svg_plot *plot, const struct selection *s, unsigned row)
{
    const double regret = s->seconds / s->best - 1;
    const double x = plot->left + s->pair * CELL_WIDTH, y = plot->top + row * ROW_HEIGHT;
    text_add(plot->text,
            "<g><title>%zu &#215; %zu &#215; %zu %s: recipe %c, %.4g GFLOP/s, "
            "the best candidate %.4g</title><rect class=\"cell\" x=\"%.0f\" y=\"%.0f\" "
            "width=\"%d\" height=\"%d\"/>",
            s->m, s->n, s->k, pair_names[s->pair], letter_of(s->recipe),
            report_gflops(s->m, s->n, s->k, s->seconds), report_gflops(s->m, s->n, s->k, s->best),
            x, y, CELL_WIDTH - 2, ROW_HEIGHT - 2);
    if (regret > 0.0005)
        text_add(plot->text,
                "<rect class=\"regret\" x=\"%.0f\" y=\"%.0f\" width=\"%d\" "
                "height=\"%d\" fill-opacity=\"%.2f\"/>",
                x, y, CELL_WIDTH - 2, ROW_HEIGHT - 2, fmin(0.85, 0.1 + 2.5 * regret));
    text_add(plot->text,
            "<text class=\"in-cell\" x=\"%.0f\" y=\"%.0f\"><tspan class=\"letter\">%c"
            "</tspan> %.1f&#8239;%%</text></g>\n",
            x + 8, y + 15, letter_of(s->recipe), 100 * regret);
}

static void add_shape(const struct svg_plot *plot, const struct selection *s, unsigned row)
{
    text_add(plot->text,
            "<text class=\"tick\" x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\">"
            "%zu &#215; %zu &#215; %zu</text>\n",
            plot->left - 10, plot->top + row * ROW_HEIGHT + 15, s->m, s->n, s->k);
}

static void add_map(const struct report *report, const char *title, const struct selection *list,
        unsigned num, unsigned *rows)
{
    const unsigned num_rows = number_rows(list, num, rows);
    const struct svg_plot plot = {
        .text = report->text,
        .left = NAME_WIDTH,
        .top = 22,
        .width = NAME_WIDTH + NUM_PAIRS * CELL_WIDTH,
        .height = 22 + num_rows * ROW_HEIGHT,
    };
    text_add(report->text, "<figure><figcaption>");
    html_text(report->text, title);
    text_add(report->text, "</figcaption>\n");
    svg_begin(&plot, "map", title);
    for (int pair = 0; pair < NUM_PAIRS; pair++)
        text_add(report->text, "<text class=\"tick\" x=\"%d\" y=\"14\">%s</text>\n",
                NAME_WIDTH + pair * CELL_WIDTH + 8, pair_names[pair]);
    for (unsigned i = 0, named = 0; i < num; i++) {
        if (rows[i] == named)
            add_shape(&plot, &list[i], named++);
        add_cell(&plot, &list[i], rows[i]);
    }
    svg_end(&plot);
    text_add(report->text, "</figure>\n");
}

static bool add_kind(const struct report *report, const struct precision *precision,
        enum record_kind kind, const char *title)
{
    struct selection *list = NULL;
    unsigned num = 0;
    bool ok = select_list(report->records, report->winners, precision, kind, &list, &num);
    unsigned *rows = ok && num ? calloc(num, sizeof *rows) : NULL;
    if (rows)
        add_map(report, title, list, num, rows);
    ok = ok && (rows || !num);
    free(rows);
    free(list);
    return ok;
}

bool report_choice(const struct report *report, const struct precision *precision)
{
    if (!report->winners || !winners_recipe(report->winners, precision, 0))
        return true;
    text_add(report->text,
            "<h3>Chosen recipes</h3>\n<p>For each shape and pair of transposes the "
            "recipe that the bundle takes, and how much longer it takes than the best candidate "
            "measured there.</p>\n");
    add_recipes(report, precision);
    text_add(report->text, "<div class=\"maps\">\n");
    const bool ok = add_kind(report, precision, RECORD_OWN, "The application's own shapes") &&
                    add_kind(report, precision, RECORD_MATRIX, "Shapes used for choosing") &&
                    add_kind(report, precision, RECORD_HELD,
                            "Held-out shapes: what is lost "
                            "elsewhere");
    text_add(report->text, "</div>\n");
    return ok;
}
