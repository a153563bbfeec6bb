/* answer.c: what came out, in a few sentences and one table. */
#include "section.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void add_device(const struct report *report)
{
    const struct journal_head *head = &report->records->head;
    struct text *text = report->text;
    text_add(text, "<h1>");
    html_text(text, head->facts.device[0] ? head->facts.device : "No device");
    text_add(text, "</h1>\n");
    if (!head->facts.platform[0])
        return;
    text_add(text, "<p class=\"where\">");
    html_text(text, head->facts.platform);
    text_add(text, ", driver ");
    html_text(text, head->facts.driver);
    if (head->shard.num)
        text_add(text, "; shard %u of %u", head->shard.index, head->shard.num);
    if (head->merged)
        text_add(text, "; merged from %u journals", head->merged);
    text_add(text, "</p>\n");
}

/* "single, double and half". */
static void add_precisions(const struct report *report)
{
    unsigned num = 0, at = 0;
    for (size_t i = 0; i < KILN_NUM_PRECISIONS; i++)
        num += report->parts[i].num_rows > 0;
    for (size_t i = 0; i < KILN_NUM_PRECISIONS; i++)
        if (report->parts[i].num_rows) {
            text_add(report->text, "%s", !at ? "" : at + 1 < num ? ", " : " and ");
            report_precision(report->text, &precisions[i]);
            at++;
        }
}

static void add_effort(const struct report *report)
{
    double seconds = 0;
    for (size_t i = 0; i < KILN_NUM_PRECISIONS; i++)
        seconds += report->parts[i].seconds;
    text_add(report->text, " out of %zu evaluations in ", report->records->num);
    if (seconds < 600)
        text_add(report->text, "%.0f seconds", seconds);
    else
        text_add(report->text, seconds < 36000 ? "%.0f minutes" : "%.1f hours",
                seconds < 36000 ? seconds / 60 : seconds / 3600);
}

static void add_loss(const struct report *report)
{
    struct strip_summary loss;
    unsigned num;
    struct strip_dot *dots = report_loss_dots(report, NULL, &num);
    struct text *text = report->text;
    if (!dots) {
        text_add(text, " No shape was held out, so it is not known what choosing loses.");
        return;
    }
    strips_summarize(dots, num, &loss);
    text_add(text, " At %u shape%s that nothing was chosen by, a call takes <b>", num,
            num == 1 ? "" : "s");
    strips_ratio(text, STRIPS_LOSS, loss.mean);
    text_add(text, "</b> longer than the fastest kernel known there; 95&#8239;%% of them lose at "
                   "most ");
    strips_ratio(text, STRIPS_LOSS, loss.p95);
    text_add(text, ", the worst ");
    strips_ratio(text, STRIPS_LOSS, loss.worst);
    text_add(text, ".");
    free(dots);
}

static void add_generic(const struct report *report)
{
    struct strip_summary gain;
    unsigned num;
    struct strip_dot *dots = report_generic_dots(report, NULL, &num);
    if (!dots)
        return;
    strips_summarize(dots, num, &gain);
    text_add(report->text, " It is <b>%.*f times</b> as fast as the generic bundle.",
            gain.mean < 9.95 ? 1 : 0, gain.mean);
    free(dots);
}

static void add_sentences(const struct report *report)
{
    struct text *text = report->text;
    text_add(text, "<p class=\"lead\">");
    if (report->winners) {
        unsigned num = 0;
        for (size_t i = 0; i < KILN_NUM_PRECISIONS; i++)
            num += (unsigned) report->parts[i].num_recipes;
        text_add(text, "For ");
        add_precisions(report);
        text_add(text, " precision, <b>%u recipe%s</b> chosen", num, num == 1 ? " was" : "s were");
        add_effort(report);
        text_add(text, ".");
        add_loss(report);
        add_generic(report);
    } else {
        text_add(text, "Of ");
        add_precisions(report);
        text_add(text, " precision, <b>nothing</b> was chosen");
        add_effort(report);
        text_add(text, ": the generic bundle serves. The reason: ");
        html_text(text, report->why_none);
        text_add(text, ".");
    }
    text_add(text, "</p>\n");
}

/* How many recipes of each family: "3 packed, 1 thin". */
static void add_families(const struct report *report, const struct precision *precision)
{
    const struct winner *winner;
    bool any = false;
    for (size_t f = 0; f < num_families && report->winners; f++) {
        unsigned num = 0;
        for (int i = 0; (winner = winners_recipe(report->winners, precision, i)); i++)
            num += winner->config.family == families[f];
        if (num)
            text_add(report->text, "%s%u&#160;%s", any ? ", " : "", num, families[f]->name);
        any = any || num;
    }
    if (!any)
        text_add(report->text, "none: generic serves");
}

static void add_ratio(const struct report *report, enum strips_kind kind, double ratio)
{
    text_add(report->text, "<td class=\"num\">");
    if (ratio > 0)
        strips_ratio(report->text, kind, ratio);
    else
        text_add(report->text, "&#8211;");
    text_add(report->text, "</td>");
}

static void add_row(const struct report *report, const struct precision *precision)
{
    struct strip_summary loss = { 0 }, gain = { 0 };
    unsigned num_losses, num_gains;
    struct strip_dot *losses = report_loss_dots(report, precision, &num_losses);
    struct strip_dot *gains = report_generic_dots(report, precision, &num_gains);
    if (losses)
        strips_summarize(losses, num_losses, &loss);
    if (gains)
        strips_summarize(gains, num_gains, &gain);
    text_add(report->text, "<tr><th scope=\"row\">");
    report_precision(report->text, precision);
    text_add(report->text, "</th><td>");
    add_families(report, precision);
    text_add(report->text, "</td>");
    add_ratio(report, STRIPS_LOSS, loss.mean);
    add_ratio(report, STRIPS_LOSS, loss.p95);
    add_ratio(report, STRIPS_LOSS, loss.worst);
    add_ratio(report, STRIPS_SPEED, gain.mean);
    text_add(report->text, "</tr>\n");
    free(losses);
    free(gains);
}

/* What a reader must know before believing the rest. */
static void add_notes(const struct report *report)
{
    const struct journal_head *head = &report->records->head;
    if (report->records->num && head->generator != record_generator_hash())
        text_add(report->text,
                "<p class=\"note\">The journal was made by other kernels, of generator %016" PRIx64
                ": what is chosen here is what this version makes of it.</p>\n",
                head->generator);
    if (report->is_torn)
        text_add(report->text, "<p class=\"note\">The journal ends within a row, which is left "
                               "out: it was still being written, or the tuner was killed.</p>\n");
}

void report_answer(const struct report *report)
{
    text_add(report->text, "<section id=\"answer\">\n");
    add_device(report);
    if (!report->records->num)
        text_add(report->text, "<p class=\"lead\">The journal holds no rows: nothing was tuned, or "
                               "the tuner has only just begun.</p>\n");
    else
        add_sentences(report);
    add_notes(report);
    if (report->records->num) {
        report_table(report->text, NULL,
                "precision|chosen|#lost, mean|#of 95&#8239;%|#worst|#over generic");
        for (size_t i = 0; i < KILN_NUM_PRECISIONS; i++)
            if (report->parts[i].num_rows)
                add_row(report, &precisions[i]);
        report_table_end(report->text);
    }
    text_add(report->text, "</section>\n");
}
