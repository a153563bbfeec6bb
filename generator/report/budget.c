/* budget.c: what the time went into: phases as bars, and what was tried of each family. */
#include "section.h"
#include "fnv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What happens in the rows of each kind, in the order of a tuning. */
static const struct {
    enum record_kind kind;
    const char *meaning;
} phases[] = {
    { RECORD_GENERIC, "the generic bundle, to compare with" },
    { RECORD_FIRST, "what is known already, at a few shapes" },
    { RECORD_SEARCH, "new configurations, at one shape of each class" },
    { RECORD_LOOK, "the best of all searches once more, beside each other" },
    { RECORD_EDGES, "finalists are verified at sizes that kernels fail at" },
    { RECORD_OWN, "finalists at the application's own shapes" },
    { RECORD_MATRIX, "finalists against each other, for choosing" },
    { RECORD_HELD, "the same at shapes that nothing is chosen by" },
    { RECORD_AGAIN, "the few fastest there, for longer" },
};
_Static_assert(sizeof phases / sizeof phases[0] == NUM_RECORD_KINDS, "a row for each kind");

/* Rows, failures and seconds of a kind; of a precision, or of all (NULL). */
struct share {
    size_t num, failed;
    double seconds;
};

static struct share share_of(const struct report *report, enum record_kind kind,
        const struct precision *precision)
{
    struct share share = { 0, 0, 0 };
    for (size_t i = 0; i < report->records->num; i++) {
        const struct record *row = &report->records->rows[i];
        if (row->kind != kind || (precision && row->precision != precision))
            continue;
        share.num++;
        share.failed += record_is_failure(row);
        share.seconds += report_cost(row);
    }
    return share;
}

/* A bar without text, as wide as the page allows: the table beside it has the words. */
static void add_bar(const struct report *report, const struct report_part *part, double most)
{
    double x = 0;
    text_add(report->text, "<svg class=\"stack\" viewBox=\"0 0 1000 20\" "
                           "preserveAspectRatio=\"none\" role=\"img\"><title>");
    report_precision(report->text, part->precision);
    text_add(report->text, ": seconds by phase</title>\n");
    for (unsigned i = 0; i < NUM_RECORD_KINDS; i++) {
        const struct share share = share_of(report, phases[i].kind, part->precision);
        const double width = 1000 * share.seconds / most;
        if (width > 0)
            text_add(report->text,
                    "<rect class=\"c%u\" x=\"%.1f\" width=\"%.1f\" height=\"20\"><title>%s: %.1f s"
                    "</title></rect>\n",
                    i, x, fmax(width - 1.5, 0.5), record_kind_words[phases[i].kind], share.seconds);
        x += width;
    }
    text_add(report->text, "</svg>");
}

static void add_bars(const struct report *report)
{
    double most = 1e-9;
    for (size_t i = 0; i < KILN_NUM_PRECISIONS; i++)
        most = fmax(most, report->parts[i].seconds);
    text_add(report->text, "<table class=\"bars\"><tbody>\n");
    for (size_t i = 0; i < KILN_NUM_PRECISIONS; i++) {
        const struct report_part *part = &report->parts[i];
        if (!part->num_rows)
            continue;
        text_add(report->text, "<tr><th scope=\"row\">");
        report_precision(report->text, part->precision);
        text_add(report->text, "</th><td>");
        add_bar(report, part, most);
        text_add(report->text, "</td><td class=\"num\">%.4g&#8239;s</td></tr>\n", part->seconds);
    }
    text_add(report->text, "</tbody></table>\n");
}

void report_budget(const struct report *report)
{
    text_add(report->text, "<h3>Where the time went</h3>\n<p>Parts of a bar stand in the order of "
                           "the table.</p>\n");
    add_bars(report);
    report_table(report->text, NULL, "phase|what happened|#rows|#failed|#seconds");
    for (unsigned i = 0; i < NUM_RECORD_KINDS; i++) {
        const struct share share = share_of(report, phases[i].kind, NULL);
        if (share.num)
            text_add(report->text,
                    "<tr><th scope=\"row\"><span class=\"swatch c%u\"></span>%s</th><td>%s</td>"
                    "<td class=\"num\">%zu</td><td class=\"num\">%zu</td>"
                    "<td class=\"num\">%.1f</td></tr>\n",
                    i, record_kind_words[phases[i].kind], phases[i].meaning, share.num,
                    share.failed, share.seconds);
    }
    report_table_end(report->text);
}

/* ---- Families ---- */

/* A row, and what its precision and configuration hash to. */
struct tried {
    uint64_t key;
    const struct record *row;
};

static int compare_tried(const void *a, const void *b)
{
    const struct tried *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key)
                            : (x->row > y->row) - (x->row < y->row);
}

static struct tried tried_of(const struct record *row)
{
    char config[CONFIG_TEXT_BYTES];
    config_format(&row->config, config);
    const uint64_t key = kiln_hash(KILN_HASH_BEGIN, &row->precision->id, sizeof row->precision->id);
    return (struct tried){ kiln_hash(key, config, strlen(config)), row };
}

struct family_share {
    unsigned tried, failed, verified;  /* configurations */
    double seconds;
};

/* Adds up the rows of one family; those of one configuration stand together. */
static struct family_share add_up(const struct tried *tried, size_t num,
        const struct family *family)
{
    struct family_share share = { 0, 0, 0, 0 };
    for (size_t i = 0, end; i < num; i = end) {
        bool failed = false, verified = false;
        for (end = i; end < num && tried[end].key == tried[i].key; end++) {
            const struct record *row = tried[end].row;
            failed = failed || record_is_failure(row);
            verified = verified || row->kind == RECORD_EDGES;
            share.seconds += row->config.family == family ? report_cost(row) : 0;
        }
        if (tried[i].row->config.family != family)
            continue;
        share.tried++;
        share.failed += failed;
        share.verified += verified && !failed;
    }
    return share;
}

static unsigned count_chosen(const struct report *report, const struct family *family)
{
    unsigned num = 0;
    for (unsigned i = 0; report->winners && i < report->winners->num_recipes; i++)
        num += report->winners->recipes[i].config.family == family;
    return num;
}

static void add_families(const struct report *report, const struct tried *tried, size_t num)
{
    text_add(report->text, "<h3>What was tried</h3>\n<p>Configurations of each family, counted "
                           "once for each precision.</p>\n");
    report_table(report->text, NULL, "family|#tried|#failed|#verified|#chosen|#seconds");
    for (size_t f = 0; f < num_families; f++) {
        const struct family_share share = add_up(tried, num, families[f]);
        if (share.tried)
            text_add(report->text,
                    "<tr><th scope=\"row\">%s</th><td class=\"num\">%u</td>"
                    "<td class=\"num\">%u</td><td class=\"num\">%u</td><td class=\"num\">%u</td>"
                    "<td class=\"num\">%.1f</td></tr>\n",
                    families[f]->name, share.tried, share.failed, share.verified,
                    count_chosen(report, families[f]), share.seconds);
    }
    report_table_end(report->text);
}

void report_families(const struct report *report)
{
    struct tried *tried = calloc(report->records->num + 1, sizeof *tried);
    size_t num = 0;
    if (!tried) {
        report->text->failed = true;
        return;
    }
    for (size_t i = 0; i < report->records->num; i++)
        if (report->records->rows[i].kind != RECORD_GENERIC)
            tried[num++] = tried_of(&report->records->rows[i]);
    qsort(tried, num, sizeof *tried, compare_tried);
    add_families(report, tried, num);
    free(tried);
}
