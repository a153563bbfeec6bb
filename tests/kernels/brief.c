/* brief.c: see brief.h. */
#include "brief.h"

#include <stdio.h>
#include <string.h>

void brief_begin(struct brief *brief)
{
    brief->num_programs++;
}

/* The number of the class; those beyond the last place share it. */
static unsigned class_of(struct brief *brief, const char *name)
{
    unsigned i = 0;
    while (i < brief->num_classes && strcmp(brief->classes[i], name))
        i++;
    if (i == brief->num_classes && i < BRIEF_MAX_CLASSES) {
        snprintf(brief->classes[i], BRIEF_NAME_BYTES, "%s", name);
        brief->num_classes++;
    }
    return i < BRIEF_MAX_CLASSES ? i : BRIEF_MAX_CLASSES - 1;
}

static unsigned slot_of(const struct config *config, unsigned param)
{
    long values[FAMILY_MAX_VALUES];
    const unsigned num = param_values(&config->family->params[param], values);
    unsigned v = 0;
    while (v + 1 < num && values[v] != config->value[param])
        v++;
    return param * FAMILY_MAX_VALUES + v;
}

static bool meets(struct brief *brief, unsigned slot, unsigned class)
{
    const bool is_new = !brief->has_met[slot][class];
    brief->has_met[slot][class] = true;
    return is_new;
}

bool brief_takes(struct brief *brief, const struct config *config, const struct problem *problem,
        const char *class)
{
    const unsigned at = class_of(brief, class);
    bool takes = at == brief->num_programs % brief->num_classes;
    for (unsigned i = 0; i < config->family->num_params; i++)
        takes = meets(brief, slot_of(config, i), at) || takes;
    takes = meets(brief, BRIEF_PRECISIONS + (unsigned) (problem->precision - precisions), at) ||
            takes;
    return meets(brief, BRIEF_PAIRS + (unsigned) pair_of_problem(problem), at) || takes;
}
