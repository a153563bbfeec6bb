/* report.c: what a journal holds and what comes out of it, then the sections in their order. */
#include "report.h"
#include "section.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
                .shape = row->shape,
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

/* Rows, seconds, and how large the drawn shapes are. */
static void count_rows(const struct records *records, struct report_part *part)
{
    for (size_t i = 0; i < records->num; i++) {
        const struct record *row = &records->rows[i];
        if (row->precision != part->precision)
            continue;
        part->num_rows++;
        part->seconds += report_cost(row);
        if (row->kind == RECORD_MATRIX || row->kind == RECORD_HELD)
            report_scale_add(&part->scale, row->shape);
    }
}

/* What was chosen, and for which shapes. False when out of memory. */
static bool list_choices(const struct report *report, struct report_part *part)
{
    static const enum record_kind kinds[REPORT_NUM_LISTS] = { [REPORT_OWN] = RECORD_OWN,
        [REPORT_MATRIX] = RECORD_MATRIX,
        [REPORT_HELD] = RECORD_HELD };
    bool ok = true;
    while (report->winners && winners_recipe(report->winners, part->precision, part->num_recipes))
        part->num_recipes++;
    for (int list = 0; list < REPORT_NUM_LISTS && part->num_recipes && ok; list++)
        ok = select_list(report->records, report->winners, part->precision, kinds[list],
                &part->lists[list], &part->num[list]);
    return ok;
}

/* ---- The page ---- */

static void add_page(const struct report *report)
{
    struct text *text = report->text;
    const char *device = report->records->head.facts.device;
    text_add(text, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                   "<title>Kiln: ");
    html_text(text, device[0] ? device : "no device");
    text_add(text, "</title>\n<style>\n%s</style>\n</head>\n<body>\n", report_style);
    report_answer(report);
    report_losses(report);
    report_generic(report);
    report_peers(report);
    report_recipes(report);
    if (report->records->num) {
        text_add(text, "<h2>The search</h2>\n");
        report_budget(report);
        report_families(report);
        report_curves(report);
        text_add(text, "<h2>Details</h2>\n");
        report_failures(report);
        report_finalists(report);
        report_shapes(report);
        report_landscape(report);
    }
    text_add(text, "</body>\n</html>\n");
}

/* Everything of `report` but what the sections share; freed by close_parts. */
static bool open_parts(struct report *report, struct report_part *parts)
{
    bool ok = true;
    for (size_t i = 0; i < KILN_NUM_PRECISIONS && ok; i++) {
        parts[i].precision = &precisions[i];
        count_rows(report->records, &parts[i]);
        ok = list_choices(report, &parts[i]);
    }
    report->parts = parts;
    return ok;
}

static void close_parts(struct report_part *parts)
{
    for (size_t i = 0; parts && i < KILN_NUM_PRECISIONS; i++)
        for (int list = 0; list < REPORT_NUM_LISTS; list++)
            free(parts[i].lists[list]);
    free(parts);
}

bool report_html(const char *journal, const struct bench *bench, struct text *text,
        char error[FAMILY_ERROR_BYTES])
{
    struct records records;
    struct select_budget budget = { .most_bytes = 1024 * SELECT_DEFAULT_KIB };
    char none[FAMILY_ERROR_BYTES];
    if (!records_parse(journal, &records, error))
        return false;
    struct winners *winners = calloc(1, sizeof *winners);
    struct report_search *searches = calloc(records.num + 1, sizeof *searches);
    struct report_part *parts = calloc(KILN_NUM_PRECISIONS, sizeof *parts);
    struct report report = { .records = &records,
        .searches = searches,
        .bench = bench,
        .why_none = none,
        .is_torn = records.whole_bytes < strlen(journal),
        .text = text };
    bool ok = winners && searches && parts;
    if (ok && select_within(&records, NULL, &budget, winners, none))
        report.winners = winners;
    if (ok)
        report.num_searches = list_searches(&records, searches);
    ok = ok && open_parts(&report, parts);
    if (ok)
        add_page(&report);
    ok = ok && !text->failed;
    if (!ok)
        snprintf(error, FAMILY_ERROR_BYTES, "out of memory");
    close_parts(parts);
    free(searches);
    free(winners);
    records_free(&records);
    return ok;
}
