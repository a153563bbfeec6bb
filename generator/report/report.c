/* report.c: the page: head, style, what was measured, and the sections in their order. */
#include "report.h"
#include "section.h"
#include "../core/select.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Colours of curves: Okabe and Ito's, which people who see few colours tell apart; the yellow one
 * is too pale on white, the black one unseen on black. */
static const char style[] =
    ":root { color-scheme: light dark; --paper: #fff; --ink: #1c1e21; --dim: #6b7075;\n"
    "  --line: #dfe2e5; --panel: #f6f7f8; --heat: #2068b0; --regret: #e8743b; --best: #c2410c;\n"
    "  --c0: #0072b2; --c1: #d55e00; --c2: #009e73; --c3: #b5548f; --c4: #3a9fd8; --c5: #b8860b;\n"
    "  --c6: #6a51a3; --c7: #7f7f7f; }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "  :root { --paper: #16181b; --ink: #e6e8ea; --dim: #989ea4; --line: #33373c;\n"
    "    --panel: #1f2226; --heat: #6cb2f2; --regret: #b8541c; --best: #ff9d66;\n"
    "    --c0: #56a8e8; --c1: #ff8c42; --c2: #2ec99a; --c3: #e08fc0; --c4: #8fd0f5;\n"
    "    --c5: #e0b040; --c6: #a893e0; --c7: #a6a6a6; } }\n"
    "* { box-sizing: border-box; }\n"
    "body { margin: 0 auto; max-width: 1080px; padding: 24px; background: var(--paper);\n"
    "  color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }\n"
    "h1 { font-size: 26px; margin: 0 0 4px; } h2 { font-size: 21px; margin: 44px 0 8px;\n"
    "  padding-top: 16px; border-top: 1px solid var(--line); }\n"
    "h3 { font-size: 17px; margin: 28px 0 4px; } h4 { margin: 20px 0 6px; }\n"
    "p { margin: 4px 0 12px; color: var(--dim); max-width: 72ch; } small { color: var(--dim);\n"
    "  font-weight: normal; }\n"
    "code { font: 13px ui-monospace, monospace; overflow-wrap: anywhere; }\n"
    "table { border-collapse: collapse; width: 100%; } td, th { padding: 5px 12px 5px 0;\n"
    "  text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }\n"
    "th { color: var(--dim); font-weight: normal; } .num { text-align: right;\n"
    "  font-variant-numeric: tabular-nums; }\n"
    "figure { margin: 0; } figcaption { color: var(--dim); font-size: 13px; }\n"
    "figcaption b { color: var(--ink); }\n"
    ".pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(320px, 1fr));\n"
    "  gap: 20px; } .grid-of { display: grid; gap: 14px 20px;\n"
    "  grid-template-columns: repeat(auto-fill, minmax(240px, 1fr)); }\n"
    ".maps { display: flex; flex-wrap: wrap; gap: 24px; }\n"
    ".legend, .recipes { list-style: none; padding: 0; margin: 8px 0; font-size: 13px; }\n"
    ".legend { display: flex; flex-wrap: wrap; gap: 2px 20px; }\n"
    ".legend span { display: inline-block; width: 18px; height: 3px; margin-right: 6px;\n"
    "  vertical-align: middle; background: currentColor; }\n"
    "svg { display: block; font: 11px system-ui, sans-serif; } .chart { width: 100%; }\n"
    ".map { width: 454px; max-width: 100%; } .bar { width: 160px; }\n"
    ".grid { stroke: var(--line); } .tick { fill: var(--dim); } .tick.none { opacity: 0.45; }\n"
    ".label { fill: var(--dim); } .curve { fill: none; stroke: currentColor; stroke-width: 2;\n"
    "  stroke-linejoin: round; } .heat { fill: var(--heat); } .regret { fill: var(--regret); }\n"
    ".cell { fill: var(--panel); } .in-cell { fill: var(--ink); } .letter { font-weight: 700; }\n"
    ".best { stroke: var(--best); stroke-width: 2.5; }\n"
    ".c0 { color: var(--c0); } .c1 { color: var(--c1); } .c2 { color: var(--c2); }\n"
    ".c3 { color: var(--c3); } .c4 { color: var(--c4); } .c5 { color: var(--c5); }\n"
    ".c6 { color: var(--c6); } .c7 { color: var(--c7); }\n";

/* ---- What the journal holds ---- */

/* Lists the searches; at most as many as there are rows. */
static size_t list_searches(const struct records *records, struct report_search *searches)
{
    size_t num = 0;
    for (size_t i = 0; i < records->num; i++) {
        const struct record *row = &records->rows[i];
        size_t s = 0;
        if (row->kind != RECORD_SEARCH)
            continue;
        while (s < num && !report_is_of(&searches[s], row))
            s++;
        if (s == num)
            searches[num++] = (struct report_search){ .precision = row->precision,
                .m = row->m,
                .n = row->n,
                .k = row->k,
                .pair = row->pair,
                .best = HUGE_VAL };
        searches[s].num++;
        if (!record_is_timed(row))
            continue;
        searches[s].num_timed++;
        searches[s].best = fmin(searches[s].best, row->seconds);
    }
    return num;
}

/* ---- The page ---- */

static void add_head(const struct report *report)
{
    const struct device_facts *facts = &report->records->head.facts;
    struct text *text = report->text;
    text_add(text, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                   "<title>Kiln: ");
    html_text(text, facts->device[0] ? facts->device : "no device");
    text_add(text, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>", style);
    html_text(text, facts->device[0] ? facts->device : "No device");
    text_add(text, "</h1>\n<p>");
    html_text(text, facts->platform);
    text_add(text, ", driver ");
    html_text(text, facts->driver);
    text_add(text, ". Kernels of generator %016" PRIx64 "%s", report->records->head.generator,
            report->records->head.generator == record_generator_hash() ? ""
                                                                       : ", which is not this one");
    if (report->records->head.shard.num)
        text_add(text, ". Shard %u of %u", report->records->head.shard.index,
                report->records->head.shard.num);
    if (report->records->head.merged)
        text_add(text, ". Merged from %u journals", report->records->head.merged);
    text_add(text, ".</p>\n");
}

/* Rows and failures of one kind, or of all kinds. */
static void count_rows(const struct report *report, const struct precision *precision, size_t *num,
        size_t *failed, double *cost)
{
    *num = *failed = 0;
    *cost = 0;
    for (size_t i = 0; i < report->records->num; i++) {
        const struct record *row = &report->records->rows[i];
        if (row->precision != precision)
            continue;
        ++*num;
        *failed += record_is_failure(row);
        *cost += report_cost(row);
    }
}

static void add_summary_row(const struct report *report, const struct precision *precision)
{
    const struct winner_loss *loss = report->winners
                                           ? winners_loss(report->winners, precision, "all")
                                           : NULL;
    size_t num, failed, searches = 0;
    double cost, best = 0;
    int recipes = 0;
    count_rows(report, precision, &num, &failed, &cost);
    if (!num)
        return;
    for (size_t i = 0; i < report->num_searches; i++) {
        const struct report_search *s = &report->searches[i];
        searches += s->precision == precision;
        if (s->precision == precision && s->num_timed)
            best = fmax(best, report_gflops(s->m, s->n, s->k, s->best));
    }
    while (report->winners && winners_recipe(report->winners, precision, recipes))
        recipes++;
    text_add(report->text,
            "<tr><td>%s</td><td class=\"num\">%zu</td><td class=\"num\">%zu</td>"
            "<td class=\"num\">%zu</td><td class=\"num\">%.0f</td><td class=\"num\">%.4g</td>"
            "<td class=\"num\">%d</td><td class=\"num\">",
            precision->name, searches, num, failed, cost, best, recipes);
    if (loss)
        text_add(report->text, "%.1f&#8239;%%, worst %.1f&#8239;%%, on %u", 100 * (loss->mean - 1),
                100 * (loss->worst - 1), loss->shapes);
    text_add(report->text, "</td></tr>\n");
}

static void add_summary(const struct report *report)
{
    text_add(report->text,
            "<table><thead><tr><th>precision</th><th class=\"num\">searches</th>"
            "<th class=\"num\">rows</th><th class=\"num\">failed</th><th class=\"num\">seconds</th>"
            "<th class=\"num\">best GFLOP/s</th><th class=\"num\">recipes</th>"
            "<th class=\"num\">lost by choosing, held-out shapes</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < num_precisions; i++)
        add_summary_row(report, &precisions[i]);
    text_add(report->text, "</tbody></table>\n");
    if (!report->winners)
        text_add(report->text, "<p>No configuration passed every edge class, or none is faster "
                               "than the generic bundle: nothing may ship.</p>\n");
}

static bool add_precision(const struct report *report, const struct precision *precision)
{
    size_t num, failed;
    double cost;
    count_rows(report, precision, &num, &failed, &cost);
    if (!num)
        return true;
    text_add(report->text, "<h2>%c%s precision</h2>\n", precision->name[0] - 'a' + 'A',
            precision->name + 1);
    report_curves(report, precision);
    report_landscape(report, precision);
    return report_choice(report, precision);
}

static bool add_page(const struct report *report)
{
    bool ok = true;
    add_head(report);
    if (report->records->num) {
        add_summary(report);
        for (size_t i = 0; ok && i < num_precisions; i++)
            ok = add_precision(report, &precisions[i]);
        report_failures(report);
    } else
        text_add(report->text, "<p>The journal holds no rows.</p>\n");
    text_add(report->text, "</body>\n</html>\n");
    return ok && !report->text->failed;
}

bool report_html(const char *journal, struct text *text, char error[FAMILY_ERROR_BYTES])
{
    struct records records;
    struct select_budget budget = { .most_bytes = 1024 * SELECT_DEFAULT_KIB };
    char none[FAMILY_ERROR_BYTES];
    if (!records_parse(journal, &records, error))
        return false;
    struct winners *winners = calloc(1, sizeof *winners);
    struct report_search *searches = calloc(records.num + 1, sizeof *searches);
    struct report report = { .records = &records, .searches = searches, .text = text };
    bool ok = winners && searches;
    if (ok && select_within(&records, NULL, &budget, winners, none))
        report.winners = winners;
    if (ok)
        report.num_searches = list_searches(&records, searches);
    ok = ok && add_page(&report);
    if (!ok)
        snprintf(error, FAMILY_ERROR_BYTES, "out of memory");
    free(searches);
    free(winners);
    records_free(&records);
    return ok;
}
