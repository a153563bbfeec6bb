/* random: legal configurations drawn uniformly, without repetition. */
#include "../../search/search.h"

static bool propose(struct search *search, struct point *point)
{
    return search_draw(search, point);
}

extern const struct search_strategy search_random;
const struct search_strategy search_random = {
    "random", "legal configurations drawn uniformly", propose, NULL, 0, 0
};
