/* exhaustive: every legal point in order (Steinsland 2011, linear search). */
#include "search.h"

static bool propose(struct search *search, struct point *point)
{
    const struct search_space *space = &search->space;
    uint64_t size = 1;
    for (unsigned i = 0; i < space->num_params; i++)
        size *= space->num_values[i];
    while (search->next < size) {
        uint64_t index = search->next++;
        *point = (struct point) { { 0 } };
        for (unsigned i = space->num_params; i-- > 0; index /= space->num_values[i])
            point->at[i] = (unsigned char) (index % space->num_values[i]);
        if (search_is_new(search, point))
            return true;
    }
    return false;
}

extern const struct search_strategy search_exhaustive;
const struct search_strategy search_exhaustive = {
    "exhaustive", "every legal point in order", propose, NULL
};
