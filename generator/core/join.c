/* join.c: see join.h. */
#include "join.h"
#include "forms.h"

#include <stdio.h>
#include <string.h>

/* What the recipes of a file are for if they do not say so themselves. */
static void set_kind(const struct winners *from, struct winner *winner)
{
    const long floats = from->facts.value[FACT_VECTOR_BYTES] / 4;
    if (winner->kinds || !from->has_facts)
        return;
    winner->kinds = from->facts.value[FACT_IS_CPU] ? KILN_KIND_CPU : KILN_KIND_OTHER;
    if (winner->kinds == KILN_KIND_CPU)
        winner->vector_floats = (uint8_t) (floats < UINT8_MAX ? floats : UINT8_MAX);
}

/* The same recipe for the same kind of device, or NULL. */
static struct winner *find_same(struct winners *winners, const struct winner *winner)
{
    for (unsigned i = 0; i < winners->num_recipes; i++) {
        struct winner *other = &winners->recipes[i];
        if (other->precision == winner->precision && other->kinds == winner->kinds &&
                config_equal(&other->config, &winner->config))
            return other;
    }
    return NULL;
}

static void join_facts(struct winners *to, const struct winners *from)
{
    for (int i = 0; i < NUM_FACTS; i++)
        if (!to->has_facts || to->facts.value[i] < from->facts.value[i])
            to->facts.value[i] = from->facts.value[i];
    to->has_facts = true;
}

bool join_winners(struct winners *to, const struct winners *from, char error[FAMILY_ERROR_BYTES])
{
    if (from->has_facts && from->facts.value[FACT_IS_CPU] &&
            from->facts.value[FACT_VECTOR_BYTES] <= 4) {
        snprintf(error, FAMILY_ERROR_BYTES,
                "%s: tuned on a CPU without vectors, which is of no "
                "kind",
                from->name);
        return false;
    }
    for (unsigned i = 0; i < from->num_recipes; i++) {
        struct winner winner = from->recipes[i];
        if (form_is(&winner))
            continue;
        set_kind(from, &winner);
        struct winner *same = find_same(to, &winner);
        if (same) {
            if (same->vector_floats > winner.vector_floats)
                same->vector_floats = winner.vector_floats;
            continue;
        }
        if (to->num_recipes == WINNERS_MAX_RECIPES) {
            snprintf(error, FAMILY_ERROR_BYTES, "more than %d recipes", WINNERS_MAX_RECIPES);
            return false;
        }
        to->recipes[to->num_recipes++] = winner;
    }
    if (from->has_facts)
        join_facts(to, from);
    return true;
}
