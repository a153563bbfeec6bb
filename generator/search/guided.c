/* guided: a good start, then iterated local search in the order that a model finds promising.
 *
 * First the start's points in order. Then, each time, the most promising point (model.h) of those
 * that differ from a centre in one or two parameters. The centre is the best point of this climb;
 * every few turns it is another of the best of all. A climb that has found nothing better for a
 * while ends, and a random point begins the next one (iterated local search: Lourenco, Martin and
 * Stuetzle 2003). The model knows what every climb saw.
 */
#include "search.h"
#include "model.h"

#include <math.h>

enum { MAX_OBSERVED = 1024, ELITE = 8, LEAVE_EVERY = 4, PATIENCE = 60 };

struct state {
    size_t next_start, num_observed;
    unsigned turn;
    unsigned idle;                     /* points since this climb's best, or its beginning */
    bool climbing;                     /* whether the climb has a centre */
    struct observation centre;
    struct observation observed[MAX_OBSERVED];   /* the latest, in a ring */
    struct model model;
};

static size_t count_observed(const struct state *state)
{
    return state->num_observed < MAX_OBSERVED ? state->num_observed : MAX_OBSERVED;
}

/* Keeps the point if it is the most promising one so far. */
static void consider(struct search *search, const struct point *point, double *bound,
        struct point *best)
{
    const struct state *state = search->state;
    const double promise = model_promise(&state->model, point, *bound);
    if (promise < *bound && search_is_new(search, point)) {
        *bound = promise;
        *best = *point;
    }
}

/* Considers the point with each other value of a parameter than the centre's. */
static void consider_values(struct search *search, const struct point *centre,
        const struct point *from, unsigned param, double *bound, struct point *best)
{
    struct point point = *from;
    for (unsigned v = 0; v < search->space.num_values[param]; v++) {
        point.at[param] = (unsigned char) v;
        if (v != centre->at[param])
            consider(search, &point, bound, best);
    }
}

/* The most promising new point that differs from the centre in one or two parameters. */
static bool neighbour(struct search *search, const struct point *centre, struct point *best)
{
    struct state *state = search->state;
    const struct search_space *space = &search->space;
    double bound = HUGE_VAL;
    model_fit(&state->model, space->num_params, state->observed, count_observed(state), centre);
    for (unsigned p = 0; p < space->num_params; p++) {
        consider_values(search, centre, centre, p, &bound, best);
        for (unsigned v = 0; v < space->num_values[p]; v++) {
            struct point point = *centre;
            point.at[p] = (unsigned char) v;
            for (unsigned q = p + 1; v != centre->at[p] && q < space->num_params; q++)
                consider_values(search, centre, &point, q, &bound, best);
        }
    }
    return bound < HUGE_VAL;
}

/* One of the best few observations that succeeded, by chance. */
static struct point choose_elite(struct search *search)
{
    const struct state *state = search->state;
    const struct observation *elite[ELITE];
    unsigned num = 0;
    for (size_t i = 0; i < count_observed(state); i++) {
        const struct observation *observation = &state->observed[i];
        unsigned at = num;
        if (observation->cost == HUGE_VAL)
            continue;
        if (num < ELITE)
            num++;
        else if (observation->cost < elite[ELITE - 1]->cost)
            at--;
        else
            continue;
        for (; at > 0 && elite[at - 1]->cost > observation->cost; at--)
            elite[at] = elite[at - 1];
        elite[at] = observation;
    }
    return num ? elite[random_next(&search->random) % num]->point : search->best;
}

static bool propose(struct search *search, struct point *point)
{
    struct state *state = search->state;
    while (state->next_start < search->space.num_start) {
        *point = search->space.start[state->next_start++];
        if (search_is_new(search, point))
            return true;
    }
    if (state->idle >= PATIENCE)
        state->climbing = false;
    if (!state->climbing)
        return search_draw(search, point);
    const bool leave = ++state->turn % LEAVE_EVERY == 0;
    const struct point centre = leave ? choose_elite(search) : state->centre.point;
    return neighbour(search, &centre, point) || search_draw(search, point);
}

static void observe(struct search *search, const struct point *point, double cost)
{
    struct state *state = search->state;
    const struct observation observation = { *point, cost };
    state->observed[state->num_observed++ % MAX_OBSERVED] = observation;
    state->idle++;
    if (cost < HUGE_VAL && (!state->climbing || cost < state->centre.cost)) {
        state->climbing = true;
        state->centre = observation;
        state->idle = 0;
    }
}

extern const struct search_strategy search_guided;
const struct search_strategy search_guided = {
    "guided", "a good start, then iterated local search (the default)", propose, observe,
    sizeof(struct state), 0
};
