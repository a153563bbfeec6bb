/* failures.c: what became of the candidates that give no time, by cause. */
#include "section.h"

#include <string.h>

enum { MAX_CAUSES = 32 };

struct cause {
    const struct record *first;        /* with this outcome, and a message if any has one */
    size_t num;
};

static unsigned list_causes(const struct report *report, struct cause causes[MAX_CAUSES])
{
    unsigned num = 0;
    for (size_t i = 0; i < report->records->num; i++) {
        const struct record *row = &report->records->rows[i];
        unsigned c = 0;
        if (!record_is_failure(row))
            continue;
        while (c < num && strcmp(causes[c].first->outcome, row->outcome))
            c++;
        if (c == MAX_CAUSES)
            continue;
        if (c == num)
            causes[num++] = (struct cause){ row, 0 };
        if (!causes[c].first->message[0])
            causes[c].first = row;
        causes[c].num++;
    }
    return num;
}

/* The most frequent ones first. */
static void sort_causes(struct cause *causes, unsigned num)
{
    for (unsigned i = 1; i < num; i++) {
        const struct cause one = causes[i];
        unsigned at = i;
        for (; at > 0 && causes[at - 1].num < one.num; at--)
            causes[at] = causes[at - 1];
        causes[at] = one;
    }
}

static void add_row(const struct report *report, const struct cause *cause, size_t most)
{
    char config[CONFIG_TEXT_BYTES];
    const struct svg_plot bar = { .text = report->text, .width = 160, .height = 14 };
    config_format(&cause->first->config, config);
    text_add(report->text, "<tr><td>");
    html_text(report->text, cause->first->outcome);
    text_add(report->text, "</td><td class=\"num\">%zu</td><td>", cause->num);
    svg_begin(&bar, "bar", cause->first->outcome);
    text_add(report->text, "<rect class=\"heat\" width=\"%.1f\" height=\"14\" rx=\"2\"/>\n",
            2 + (bar.width - 2) * (double) cause->num / (double) most);
    svg_end(&bar);
    text_add(report->text, "</td><td>");
    html_text(report->text, cause->first->message);
    text_add(report->text, "<br><code>%s ", cause->first->precision->name);
    html_text(report->text, config);
    text_add(report->text, "</code></td></tr>\n");
}

void report_failures(const struct report *report)
{
    struct cause causes[MAX_CAUSES];
    const unsigned num = list_causes(report, causes);
    sort_causes(causes, num);
    text_add(report->text, "<h2>Failures by cause</h2>\n");
    if (!num) {
        text_add(report->text, "<p>None.</p>\n");
        return;
    }
    text_add(report->text, "<table><thead><tr><th>cause</th><th class=\"num\">rows</th><th></th>"
                           "<th>the first one</th></tr></thead>\n<tbody>\n");
    for (unsigned i = 0; i < num; i++)
        add_row(report, &causes[i], causes[0].num);
    text_add(report->text, "</tbody></table>\n");
}
