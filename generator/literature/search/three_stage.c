/* three-stage: the procedure of Matsumoto, Nakasato and Sedukhin 2012, section III.
 *
 *   1  measure every kernel at two sizes
 *   2  measure the fastest 50 at many sizes
 *   3  take the fastest
 *
 * A strategy sees one size and proposes a point once, so only the first stage is here: every legal
 * point, scattered over the space, so that a budget that ends early leaves a fair sample. The
 * second is the tuner's, which alone knows shapes: `num_reevaluated` asks it to evaluate 50 again.
 * The third is what it does with them.
 */
#include "../../search/search.h"

struct state {
    bool begun;
    uint64_t at, stride, left;         /* the next index, the step to the one after it, how many */
};

static const double golden_section = 0.6180339887498949;

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* A random beginning, and a step near the golden section of the size, so that it scatters the
 * points, that shares no divisor with it, so that it visits each once. */
static void begin(struct search *search, struct state *state)
{
    const uint64_t size = search_size(search);
    state->begun = true;
    state->left = size;
    state->at = random_next(&search->random) % size;
    state->stride = 1 + (uint64_t) (golden_section * (double) size);
    while (common_divisor(state->stride, size) != 1)
        state->stride++;
    state->stride %= size;
}

static bool propose(struct search *search, struct point *point)
{
    struct state *state = search->state;
    if (!state->begun)
        begin(search, state);
    for (; state->left > 0; state->left--) {
        const uint64_t size = search_size(search), room = size - state->at;
        *point = search_point(search, state->at);
        state->at = state->stride < room ? state->at + state->stride : state->stride - room;
        if (search_is_new(search, point)) {
            state->left--;
            return true;
        }
    }
    return false;
}

extern const struct search_strategy search_three_stage;
const struct search_strategy search_three_stage = {
    "three-stage",
    "every legal configuration in scattered order; asks for a re-evaluation of the best 50",
    propose, NULL, sizeof(struct state), 50
};
