/* describe.c: see describe.h. */
#include "describe.h"
#include "space.h"

#include <inttypes.h>

void describe_families(struct text *text)
{
    for (size_t i = 0; i < num_families; i++)
        text_add(text, "%-8s %s%s\n", families[i]->name, families[i]->meaning,
                family_is_searched(families[i]) ? "" : "; not searched by default");
}

static void describe_preset(struct text *text, const struct family_preset *preset)
{
    const struct family_figure *figure = &preset->figure;
    text_add(text, "%s\n    %s\n", preset->name, preset->config);
    if (preset->origin)
        text_add(text, "    %s\n", preset->origin);
    if (figure->device && figure->gflops > 0)
        text_add(text, "    %g GFLOP/s, ", figure->gflops);
    else if (figure->device)
        text_add(text, "    ");
    if (figure->device)
        text_add(text, "%cgemm %s on %s", (char) preset->precision,
                figure->pair ? figure->pair : "nn", figure->device);
    if (figure->device && figure->extent)
        text_add(text, ", %ld x %ld x %ld", figure->extent, figure->extent, figure->extent);
    if (figure->device)
        text_add(text, "\n");
}

void describe_presets(struct text *text)
{
    for (size_t f = 0; f < num_families; f++)
        for (unsigned i = 0; i < families[f]->num_presets; i++)
            describe_preset(text, &families[f]->presets[i]);
}

static uint64_t count_legal(const struct space *space)
{
    uint64_t legal = 0;
    for (uint64_t i = 0; i < space_size(space); i++) {
        const struct point point = space_point(space, i);
        const char *reason;
        legal += space_legal(space, &point, &reason);
    }
    return legal;
}

void describe_space(struct text *text, const struct family *family, const struct problem *problem,
        const struct device_facts *facts)
{
    struct space space;
    space_init(&space, family, problem, facts);
    text_add(text, "%s: %s\n\nparameters\n", family->name, family->meaning);
    for (unsigned i = 0; i < family->num_params; i++) {
        const struct family_param *p = &family->params[i];
        text_add(text, "  %-7s %-28s default %-3ld %s%s%s\n", p->name, p->values, p->default_value,
                p->meaning, p->origin ? "; " : "", p->origin ? p->origin : "");
    }
    text_add(text, "\nrules\n");
    for (unsigned i = 0; i < family->num_rules; i++)
        text_add(text, "  %s\n      else: %s\n", family->rules[i].expr, family->rules[i].reason);
    text_add(text, "\npresets\n");
    for (unsigned i = 0; i < family->num_presets; i++)
        text_add(text, "  %-22s %s%s%s\n", family->presets[i].name, family->presets[i].config,
                family->presets[i].origin ? "; " : "",
                family->presets[i].origin ? family->presets[i].origin : "");
    text_add(text, "\n%" PRIu64 " points", space_size(&space));
    if (space_size(&space) <= 1000000)
        text_add(text, ", %" PRIu64 " legal", count_legal(&space));
    text_add(text, "\n");
}
