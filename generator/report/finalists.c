/* finalists.c: the configurations that the choice was made from. */
#include "section.h"
#include "../core/times.h"

#include <math.h>
#include <stdlib.h>

/* One of them: at how many shapes it was timed, and at how many of these it is the fastest; the
 * geometric mean of its time over the best one's there. */
struct finalist {
    unsigned candidate, num, num_best;
    double behind;
};

/* The best first; those without a time last. */
static int compare_finalists(const void *a, const void *b)
{
    const struct finalist *x = a, *y = b;
    if (x->num_best != y->num_best)
        return (x->num_best < y->num_best) - (x->num_best > y->num_best);
    return (x->behind > y->behind) - (x->behind < y->behind);
}

static struct finalist judge(const struct times *times, unsigned candidate)
{
    struct finalist finalist = { .candidate = candidate, .behind = HUGE_VAL };
    double sum = 0;
    for (unsigned i = 0; i < times->num_tasks; i++) {
        const struct times_task *task = &times->tasks[i];
        if (!(task->seconds[candidate] < HUGE_VAL))
            continue;
        sum += log(task->seconds[candidate] / task->best);
        finalist.num++;
        finalist.num_best += task->seconds[candidate] <= task->best;
    }
    if (finalist.num)
        finalist.behind = exp(sum / finalist.num);
    return finalist;
}

/* Its number among the recipes of its precision, or -1. */
static int recipe_of(const struct report *report, const struct precision *precision,
        const struct config *config)
{
    const struct winner *winner;
    for (int i = 0; report->winners; i++) {
        if (!(winner = winners_recipe(report->winners, precision, i)))
            break;
        if (config_equal(&winner->config, config))
            return i;
    }
    return -1;
}

static void add_row(const struct report *report, const struct times *times,
        const struct finalist *finalist)
{
    char config[CONFIG_TEXT_BYTES];
    const struct config *of = &times->candidates[finalist->candidate].config;
    config_format(of, config);
    text_add(report->text, "<tr><th scope=\"row\"><code>");
    html_text(report->text, config);
    text_add(report->text, "</code></th><td>");
    report_letter(report->text, recipe_of(report, times->precision, of));
    text_add(report->text,
            "</td><td class=\"num\">%u</td><td class=\"num\">%u</td>"
            "<td class=\"num\">",
            finalist->num_best, finalist->num);
    if (finalist->num)
        strips_ratio(report->text, STRIPS_LOSS, finalist->behind);
    text_add(report->text, "</td></tr>\n");
}

static void add_table(const struct report *report, const struct times *times)
{
    struct finalist *finalists = calloc(times->num_candidates + 1, sizeof *finalists);
    if (!finalists) {
        report->text->failed = true;
        return;
    }
    for (unsigned c = 0; c < times->num_candidates; c++)
        finalists[c] = judge(times, c);
    qsort(finalists, times->num_candidates, sizeof *finalists, compare_finalists);
    text_add(report->text, "<details><summary>Finalists, ");
    report_precision(report->text, times->precision);
    text_add(report->text,
            ": %u</summary>\n<p>Configurations that are right at every edge, at the "
            "%u shapes used for choosing: how often each is the fastest, and how "
            "much longer than the fastest it takes in the mean.</p>\n",
            times->num_candidates, times->num_tasks);
    report_table(report->text, NULL, "configuration|recipe|#fastest|#timed|#behind");
    for (unsigned i = 0; i < times->num_candidates; i++)
        add_row(report, times, &finalists[i]);
    report_table_end(report->text);
    text_add(report->text, "</details>\n");
    free(finalists);
}

void report_finalists(const struct report *report)
{
    for (size_t i = 0; i < KILN_NUM_PRECISIONS; i++) {
        struct times times = { 0 };
        if (!report->parts[i].num_rows)
            continue;
        if (!times_open(report->records, &precisions[i], false, &times) ||
                !times_add(report->records, RECORD_MATRIX, &times) ||
                !times_add(report->records, RECORD_OWN, &times))
            report->text->failed = true;
        else if (times.num_candidates)
            add_table(report, &times);
        times_free(&times);
    }
}
