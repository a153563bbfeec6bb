/* brief.c: see brief.h. */
#include "brief.h"

#include <stdio.h>
#include <string.h>

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

/* What a program has: a value of each parameter, a precision and a transpose pair. Returns how
 * many.
 */
static unsigned list_slots(const struct config *config, const struct problem *problem,
        unsigned slots[FAMILY_MAX_PARAMS + 2])
{
    unsigned num = 0;
    while (num < config->family->num_params) {
        slots[num] = slot_of(config, num);
        num++;
    }
    slots[num++] = BRIEF_PRECISIONS + (unsigned) (problem->precision - precisions);
    slots[num++] = BRIEF_PAIRS + (unsigned) pair_of_problem(problem);
    return num;
}

bool brief_begin(struct brief *brief, const struct config *config, const struct problem *problem)
{
    unsigned slots[FAMILY_MAX_PARAMS + 2];
    const unsigned num = list_slots(config, problem, slots);
    bool begins = false;
    for (unsigned i = 0; i < num; i++)
        begins = begins || brief->in_programs[slots[i]] < BRIEF_LEAST;
    for (unsigned i = 0; i < num && begins; i++)
        brief->in_programs[slots[i]]++;
    brief->num_programs += begins;
    return begins;
}

bool brief_takes(struct brief *brief, const struct config *config, const struct problem *problem,
        const char *class)
{
    const unsigned at = class_of(brief, class);
    unsigned slots[FAMILY_MAX_PARAMS + 2];
    const unsigned num = list_slots(config, problem, slots);
    const unsigned turn = brief->sparsely && brief->num_classes > BRIEF_SPARSE ? BRIEF_SPARSE
                                                                               : brief->num_classes;
    bool takes = at % turn == brief->num_programs % turn;
    for (unsigned i = 0; i < num; i++)
        if (!brief->sparsely || slots[i] >= BRIEF_PRECISIONS)
            takes = meets(brief, slots[i], at) || takes;
    return takes;
}
