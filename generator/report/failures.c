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

static void add_row(const struct report *report, const struct cause *cause)
{
    char config[CONFIG_TEXT_BYTES];
    config_format(&cause->first->config, config);
    text_add(report->text, "<tr><th scope=\"row\">");
    html_text(report->text, cause->first->outcome);
    text_add(report->text, "</th><td class=\"num\">%zu</td><td>", cause->num);
    html_text(report->text, cause->first->message);
    text_add(report->text, "<br><code>");
    report_precision(report->text, cause->first->precision);
    text_add(report->text, " ");
    html_text(report->text, config);
    text_add(report->text, "</code></td></tr>\n");
}

void report_failures(const struct report *report)
{
    struct cause causes[MAX_CAUSES];
    const unsigned num = list_causes(report, causes);
    size_t rows = 0;
    sort_causes(causes, num);
    for (unsigned i = 0; i < num; i++)
        rows += causes[i].num;
    text_add(report->text, "<details><summary>Failures: %zu of %zu rows</summary>\n", rows,
            report->records->num);
    if (num) {
        report_table(report->text, NULL, "cause|#rows|the first one");
        for (unsigned i = 0; i < num; i++)
            add_row(report, &causes[i]);
        report_table_end(report->text);
    } else
        text_add(report->text, "<p>None.</p>\n");
    text_add(report->text, "</details>\n");
}
