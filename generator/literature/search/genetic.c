/* genetic: the search of Fabeiro, Andrade and Fraguela (HPL), section 4.2.
 *
 * The first generation is random. Individuals of the next ones are random again, or cross two good
 * ones of those that live; some of their genes mutate, mostly to the next value. An individual that
 * is illegal or was measured before is discarded before it costs anything. The fittest of both
 * generations live on. It ends when five generations have passed without a better individual.
 */
#include "../../search/search.h"

#include <math.h>

enum { POPULATION = 20, PATIENCE = 5, BREEDINGS = 200, RANDOM_IN = 10, STEPS_IN = 3 };

struct individual {
    struct point genes;
    double cost;
};

struct state {
    struct individual living[2 * POPULATION];        /* parents, then their children */
    unsigned num_parents, num_children;
    unsigned idle;                     /* generations without a better individual */
    double best_cost;                  /* before this generation */
};

static unsigned below(struct search *search, unsigned bound)
{
    return (unsigned) (random_next(&search->random) % bound);
}

static void mutate(struct search *search, struct point *genes)
{
    const struct search_space *space = &search->space;
    for (unsigned p = 0; p < space->num_params; p++) {
        const unsigned value = genes->at[p], num = space->num_values[p];
        if (below(search, space->num_params))
            continue;
        if (!below(search, STEPS_IN))
            genes->at[p] = (unsigned char) below(search, num);
        else if (below(search, 2))
            genes->at[p] = (unsigned char) (value + 1 < num ? value + 1 : value);
        else
            genes->at[p] = (unsigned char) (value > 0 ? value - 1 : 0);
    }
}

/* The better one of two parents drawn. */
static const struct point *choose_parent(struct search *search)
{
    const struct state *state = search->state;
    const struct individual *a = &state->living[below(search, state->num_parents)];
    const struct individual *b = &state->living[below(search, state->num_parents)];
    return b->cost < a->cost ? &b->genes : &a->genes;
}

static bool breed(struct search *search, struct point *child)
{
    for (int i = 0; i < BREEDINGS; i++) {
        const struct point *mother = choose_parent(search), *father = choose_parent(search);
        *child = *mother;
        for (unsigned p = 0; p < search->space.num_params; p++)
            if (below(search, 2))
                child->at[p] = father->at[p];
        mutate(search, child);
        if (search_is_new(search, child))
            return true;
    }
    return false;
}

/* Children grow up, and the fittest become the next parents. */
static void next_generation(struct search *search)
{
    struct state *state = search->state;
    const unsigned num = state->num_parents + state->num_children;
    for (unsigned i = 1; i < num; i++) {
        const struct individual one = state->living[i];
        unsigned at = i;
        for (; at > 0 && state->living[at - 1].cost > one.cost; at--)
            state->living[at] = state->living[at - 1];
        state->living[at] = one;
    }
    const bool better = !state->num_parents || search->best_cost < state->best_cost;
    state->idle = better ? 0 : state->idle + 1;
    state->best_cost = search->best_cost;
    state->num_parents = num < POPULATION ? num : POPULATION;
    state->num_children = 0;
}

static bool propose(struct search *search, struct point *point)
{
    struct state *state = search->state;
    if (state->num_children == POPULATION)
        next_generation(search);
    if (state->idle >= PATIENCE)
        return false;
    return (state->num_parents && below(search, RANDOM_IN) && breed(search, point)) ||
           search_draw(search, point);
}

static void observe(struct search *search, const struct point *point, double cost)
{
    struct state *state = search->state;
    if (state->num_children == POPULATION)
        next_generation(search);
    state->living[state->num_parents + state->num_children] = (struct individual) { *point, cost };
    state->num_children++;
}

extern const struct search_strategy search_genetic;
const struct search_strategy search_genetic = {
    "genetic", "crossover and mutation of the fittest, until five generations bring nothing better",
    propose, observe, sizeof(struct state), 0
};
