/* peers.c: Kiln against other libraries, as kiln-bench measured them, by class of shape. */
#include "section.h"

#include <stdio.h>
#include <stdlib.h>

/* The rows of a precision that compare Kiln with a peer, as dots. */
static unsigned gather(const struct bench *bench, const struct precision *precision, unsigned peer,
        struct strip_dot *dots)
{
    struct report_scale scale = { 0, 0 };
    unsigned num = 0;
    for (size_t i = 0; i < bench->num_rows; i++)
        if (bench->rows[i].precision == precision)
            report_scale_add(&scale, bench->rows[i].shape);
    for (size_t i = 0; i < bench->num_rows; i++) {
        const struct bench_row *row = &bench->rows[i];
        if (row->precision == precision && row->ratio[peer] > 0)
            dots[num++] = (struct strip_dot){ .shape = row->shape,
                .pair = row->pair,
                .class = report_class(&scale, row->shape),
                .ratio = row->ratio[peer] };
    }
    return num;
}

static void add_chart(const struct report *report, const struct precision *precision, unsigned peer,
        const struct strips_range *range, struct strip_dot *dots)
{
    struct text title = { 0 };
    const unsigned num = gather(report->bench, precision, peer, dots);
    if (!num)
        return;
    report_precision(&title, precision);
    text_add(&title, ", %u shape%s, over ", num, num == 1 ? "" : "s");
    html_text(&title, report->bench->peers[peer].title);
    report->text->failed = report->text->failed || title.failed;
    if (title.bytes)
        strips_chart(report->text, STRIPS_SPEED, title.bytes, range, dots, num);
    text_free(&title);
}

void report_peers(const struct report *report)
{
    const struct bench *bench = report->bench;
    struct strips_range range = { 1, 1 };
    struct strip_dot *dots = bench ? calloc(bench->num_rows + 1, sizeof *dots) : NULL;
    if (!dots) {
        report->text->failed = report->text->failed || bench;
        return;
    }
    for (unsigned peer = 0; peer < bench->num_peers; peer++)
        for (size_t i = 0; i < KILN_NUM_PRECISIONS; i++)
            strips_widen(&range, dots, gather(bench, &precisions[i], peer, dots));
    text_add(report->text, "<h2>Against its peers</h2>\n<p>As kiln-bench measured it on ");
    html_text(report->text, bench->device);
    text_add(report->text, ": how many times as fast as each peer Kiln is.</p>\n"
                           "<div class=\"panels\">\n");
    for (size_t i = 0; i < KILN_NUM_PRECISIONS; i++)
        for (unsigned peer = 0; peer < bench->num_peers; peer++)
            add_chart(report, &precisions[i], peer, &range, dots);
    text_add(report->text, "</div>\n");
    free(dots);
}
