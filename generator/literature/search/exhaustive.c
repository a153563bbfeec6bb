/* exhaustive: every legal configuration in order (Steinsland 2011, linear search). */
#include "../../search/search.h"

static bool propose(struct search *search, struct point *point)
{
    return search_scan(search, point, UINT64_MAX);
}

extern const struct search_strategy search_exhaustive;
const struct search_strategy search_exhaustive = {
    "exhaustive", "every legal configuration in order", propose, NULL, 0, 0
};
