/* classes.c: what choosing loses, and what tuning gains, by class of shape. */
#include "section.h"

#include <math.h>
#include <stdlib.h>

/* How many selections of a part, of one list, hold what is asked for; and these as dots, unless
 * dots is NULL. */
static unsigned gather(const struct report_part *part, int list, bool generic,
        struct strip_dot *dots)
{
    unsigned num = 0;
    for (unsigned i = 0; i < part->num[list]; i++) {
        const struct selection *s = &part->lists[list][i];
        const double ratio = generic ? s->generic / s->seconds : s->seconds / s->best;
        if (!(ratio > 0 && ratio < HUGE_VAL))
            continue;
        if (dots)
            dots[num] = (struct strip_dot){ .shape = s->shape,
                .pair = s->pair,
                .class = report_class(&part->scale, s->shape),
                .ratio = ratio };
        num++;
    }
    return num;
}

static struct strip_dot *dots_of(const struct report *report, const struct precision *precision,
        bool generic, unsigned *num)
{
    const int from = generic ? REPORT_OWN : REPORT_HELD, to = generic ? REPORT_MATRIX : REPORT_HELD;
    struct strip_dot *dots = NULL;
    *num = 0;
    for (int pass = 0; pass < 2; pass++) {
        unsigned at = 0;
        for (size_t i = 0; i < KILN_NUM_PRECISIONS; i++)
            for (int list = from; list <= to; list++)
                if (!precision || precision == &precisions[i])
                    at += gather(&report->parts[i], list, generic, dots ? &dots[at] : NULL);
        if (pass || !at)
            *num = at;
        else if (!(dots = calloc(at, sizeof *dots))) {
            report->text->failed = true;
            return NULL;
        }
    }
    return dots;
}

struct strip_dot *report_loss_dots(const struct report *report, const struct precision *precision,
        unsigned *num)
{
    return dots_of(report, precision, false, num);
}

struct strip_dot *report_generic_dots(const struct report *report,
        const struct precision *precision, unsigned *num)
{
    return dots_of(report, precision, true, num);
}

static void add_chart(const struct report *report, const struct precision *precision, bool generic,
        const struct strips_range *range)
{
    const enum strips_kind kind = generic ? STRIPS_SPEED : STRIPS_LOSS;
    struct text title = { 0 };
    struct strip_summary summary;
    unsigned num;
    struct strip_dot *dots = dots_of(report, precision, generic, &num);
    if (!dots)
        return;
    strips_summarize(dots, num, &summary);
    report_precision(&title, precision);
    text_add(&title, ", %u shape%s", num, num == 1 ? "" : "s");
    report->text->failed = report->text->failed || title.failed;
    if (title.bytes)
        strips_chart(report->text, kind, title.bytes, range, dots, num);
    text_free(&title);
    free(dots);
}

static void add_charts(const struct report *report, bool generic, const char *head)
{
    struct strips_range range = { 1, 1 };
    unsigned num;
    struct strip_dot *dots = dots_of(report, NULL, generic, &num);
    if (!dots)
        return;
    strips_widen(&range, dots, num);
    free(dots);
    text_add(report->text, "%s<div class=\"panels\">\n", head);
    for (size_t i = 0; i < KILN_NUM_PRECISIONS; i++)
        add_chart(report, &precisions[i], generic, &range);
    text_add(report->text, "</div>\n");
}

void report_losses(const struct report *report)
{
    add_charts(report, false,
            "<h2>What choosing loses</h2>\n<p>A dot is a shape that nothing was chosen by: how "
            "much longer the library takes there than the fastest finalist. The bar is the "
            "geometric mean.</p>\n");
}

void report_generic(const struct report *report)
{
    add_charts(report, true,
            "<h2>Against the generic bundle</h2>\n<p>How many times as fast as the kernels for any "
            "device the choice is, at the shapes where both were timed. These served for choosing "
            "too.</p>\n");
}
