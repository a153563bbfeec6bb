/* select.h: chooses the recipes of a bundle from what was measured. Pure.
 *
 * Per precision the candidates are the configurations that passed every edge class for all four
 * transpose pairs. A greedy cover over the matrix of times takes, one by one, the recipe that
 * lowers the mean loss against the best candidate most, and exchanges earlier ones for better ones,
 * until another one gains little; large problems count more. Anchors are the measured shapes. What
 * loses to the generic bundle on the whole does not ship. The
 * regret is computed on held-out shapes, through the same nearest-anchor rule that the library
 * follows.
 */
#ifndef KILN_CORE_SELECT_H
#define KILN_CORE_SELECT_H

#include "record.h"
#include "winners.h"

/* From a journal's text; name: of the bundle, NULL: made from the device's name. False with error
 * when the journal is bad or no configuration in it may ship. */
bool select_winners(const char *journal, const char *name, struct winners *winners,
        char error[FAMILY_ERROR_BYTES]);

/* What a bundle takes for a problem that was measured, and how far that is from the best candidate
 * there. */
struct selection {
    size_t m, n, k;
    int pair;
    int recipe;                        /* its number in winners, among those of the precision */
    double seconds, best;
};

/* Lists the problems of one kind of row in the order of the journal; freed by the caller. False
 * when out of memory. */
bool select_list(const struct records *records, const struct winners *winners,
        const struct precision *precision, enum record_kind kind, struct selection **list,
        unsigned *num);

/* How a precision's bundle stands against the generic one, at the shapes where both were timed. */
struct select_generic {
    unsigned shapes, slower;           /* how many, and at how many of them generic is clearly
                                          faster, by a recipe that was not verified in time */
    double factor;                     /* weighted mean of time over generic's; 0: not compared */
    bool is_left;                      /* generic is faster on the whole, or all that was chosen is
                                          its own: nothing ships */
};
bool select_generic(const struct records *records, const struct precision *precision,
        struct select_generic *out);

bool select_from_records(const struct records *records, const char *name,
        struct winners *winners, char error[FAMILY_ERROR_BYTES]);

#endif
