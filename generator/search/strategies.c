/* strategies.c: the list of strategies. They call what they share (search.c), which knows none. */
#include "search.h"

#include <string.h>

#define STRATEGY(name) extern const struct search_strategy search_##name;
#include "strategies.inc"
#undef STRATEGY

const struct search_strategy *const search_strategies[] = {
#define STRATEGY(name) &search_##name,
#include "strategies.inc"
#undef STRATEGY
};
const size_t num_search_strategies = sizeof search_strategies / sizeof search_strategies[0];

const struct search_strategy *search_find(const char *name)
{
    for (size_t i = 0; i < num_search_strategies; i++)
        if (!strcmp(search_strategies[i]->name, name))
            return search_strategies[i];
    return NULL;
}
