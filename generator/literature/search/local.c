/* local: iterated local search alone (Lourenco, Martin and Stuetzle 2003), from a random
 * configuration.
 *
 * Neighbours of the centre, which differ in one parameter, are tried in random order; a better one
 * becomes the new centre at once. When all were tried, the best point is shaken in a few parameters
 * and the search goes on from there.
 */
#include "../../search/search.h"

#include <math.h>

enum { SHAKES = 200 };

struct state {
    bool standing;                     /* whether there is a centre */
    struct point centre;
    double cost;                       /* of the centre */
};

/* A new point that differs from the centre in one parameter, or false when all were tried. */
static bool neighbour(struct search *search, const struct point *centre, struct point *point)
{
    const struct search_space *space = &search->space;
    const unsigned first = (unsigned) (random_next(&search->random) % space->num_params);
    for (unsigned i = 0; i < space->num_params; i++) {
        const unsigned p = (first + i) % space->num_params;
        const unsigned turn = (unsigned) (random_next(&search->random) % space->num_values[p]);
        for (unsigned v = 0; v < space->num_values[p]; v++) {
            *point = *centre;
            point->at[p] = (unsigned char) ((turn + v) % space->num_values[p]);
            if (point->at[p] != centre->at[p] && search_is_new(search, point))
                return true;
        }
    }
    return false;
}

/* A new point that differs from the best in at most three parameters. */
static bool shake(struct search *search, struct point *point)
{
    const struct search_space *space = &search->space;
    for (int i = 0; i < SHAKES; i++) {
        *point = search->best;
        const unsigned changes = 2 + (unsigned) (random_next(&search->random) % 2);
        for (unsigned c = 0; c < changes; c++) {
            const unsigned p = (unsigned) (random_next(&search->random) % space->num_params);
            point->at[p] = (unsigned char) (random_next(&search->random) % space->num_values[p]);
        }
        if (search_is_new(search, point))
            return true;
    }
    return false;
}

static bool propose(struct search *search, struct point *point)
{
    struct state *state = search->state;
    if (search->best_cost == HUGE_VAL)
        return search_draw(search, point);
    if (state->standing && neighbour(search, &state->centre, point))
        return true;
    if (neighbour(search, &search->best, point))
        return true;
    /* The valley is searched: the next point that succeeds is the new centre. */
    state->standing = false;
    return shake(search, point) || search_draw(search, point);
}

static void observe(struct search *search, const struct point *point, double cost)
{
    struct state *state = search->state;
    if (cost == HUGE_VAL || (state->standing && cost >= state->cost && cost > search->best_cost))
        return;
    *state = (struct state) { true, *point, cost };
}

extern const struct search_strategy search_local;
const struct search_strategy search_local = {
    "local", "iterated local search from a random configuration", propose, observe,
    sizeof(struct state), 0
};
