/* recipes.c: what was chosen, and what each recipe serves. */
#include "section.h"
#include "../core/draw.h"

#include <math.h>

/* What a recipe was taken for, at the shapes that were measured. */
struct use {
    unsigned num, of_class[DRAW_NUM_CLASSES];
    double gflops;                     /* the most that was seen */
};

static void count_use(const struct report_part *part, int recipe, struct use *use)
{
    *use = (struct use){ .num = 0 };
    for (int list = 0; list < REPORT_NUM_LISTS; list++)
        for (unsigned i = 0; i < part->num[list]; i++) {
            const struct selection *s = &part->lists[list][i];
            if (s->recipe != recipe)
                continue;
            use->num++;
            use->of_class[report_class(&part->scale, s->shape)]++;
            use->gflops = fmax(use->gflops, report_gflops(part->precision, s->shape, s->seconds));
        }
}

/* The classes, the most frequent one first: "thin (9), deep (2)". */
static void add_use(const struct report *report, const struct report_part *part, struct use use)
{
    const char *separator = "";
    unsigned all = 0;
    for (int list = 0; list < REPORT_NUM_LISTS; list++)
        all += part->num[list];
    if (!use.num) {
        text_add(report->text, "none of the %u that were measured", all);
        return;
    }
    for (unsigned i = 0; i < DRAW_NUM_CLASSES; i++) {
        unsigned most = 0;
        for (unsigned c = 0; c < DRAW_NUM_CLASSES; c++)
            if (use.of_class[c] > use.of_class[most])
                most = c;
        if (use.of_class[most])
            text_add(report->text, "%s%s&#160;(%u)", separator, draw_class_name(most),
                    use.of_class[most]);
        use.of_class[most] = 0;
        separator = ", ";
    }
    text_add(report->text, "; %u of %u", use.num, all);
}

static unsigned count_pins(const struct report *report, const struct precision *precision,
        int recipe)
{
    unsigned num = 0;
    for (unsigned i = 0; i < report->winners->num_pins; i++)
        for (int pair = 0; pair < NUM_PAIRS; pair++)
            num += report->winners->pins[i].precision == precision &&
                   report->winners->pins[i].recipe[pair] == recipe;
    return num;
}

static void add_recipe(const struct report *report, const struct report_part *part, int recipe)
{
    const struct winner *winner = winners_recipe(report->winners, part->precision, recipe);
    const unsigned pins = count_pins(report, part->precision, recipe);
    char config[CONFIG_TEXT_BYTES];
    struct use use;
    count_use(part, recipe, &use);
    config_format(&winner->config, config);
    text_add(report->text, "<tr><th scope=\"row\">");
    report_letter(report->text, recipe);
    text_add(report->text, "</th><td>");
    add_use(report, part, use);
    if (pins)
        text_add(report->text, "; fastest at %u of the application's own", pins);
    text_add(report->text, "<br><code>");
    html_text(report->text, config);
    text_add(report->text, "</code></td><td class=\"num\">");
    if (use.gflops > 0)
        text_add(report->text, "%.4g", use.gflops);
    else
        text_add(report->text, "&#8211;");
    text_add(report->text, "</td></tr>\n");
}

static void add_part(const struct report *report, const struct report_part *part)
{
    struct text caption = { 0 };
    if (!part->num_recipes)
        return;
    report_precision(&caption, part->precision);
    text_add(&caption, " precision");
    report->text->failed = report->text->failed || caption.failed;
    report_table(report->text, caption.bytes, "recipe|takes which shapes|#GFLOP/s, at most");
    text_free(&caption);
    for (int i = 0; i < part->num_recipes; i++)
        add_recipe(report, part, i);
    report_table_end(report->text);
}

/* What the families are that something was chosen of. */
static void add_families(const struct report *report)
{
    text_add(report->text, "<dl>\n");
    for (size_t f = 0; f < num_families; f++) {
        unsigned num = 0;
        for (unsigned i = 0; i < report->winners->num_recipes; i++)
            num += report->winners->recipes[i].config.family == families[f];
        if (!num)
            continue;
        text_add(report->text, "<dt>%s</dt><dd>", families[f]->name);
        html_text(report->text, families[f]->meaning);
        text_add(report->text, "</dd>\n");
    }
    text_add(report->text, "</dl>\n");
}

void report_recipes(const struct report *report)
{
    if (!report->winners)
        return;
    text_add(report->text, "<h2>What was chosen</h2>\n<p>A recipe is a kernel with its parameters. "
                           "The library takes the one that it predicts to be fastest; how often "
                           "that was which, at the shapes that were measured:</p>\n");
    for (size_t i = 0; i < KILN_NUM_PRECISIONS; i++)
        add_part(report, &report->parts[i]);
    add_families(report);
}
