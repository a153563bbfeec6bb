/* select.h: chooses the recipes of a bundle from what was measured. Pure.
 *
 * Per precision the candidates are the configurations that passed every edge class for all four
 * transpose pairs, each with coefficients fitted to its times (times.h). What a set of recipes is
 * worth is the time of what the library would dispatch, by these coefficients, against the best
 * candidate. A greedy choice takes, one by one, the recipe that lowers the mean loss most, and
 * exchanges earlier ones for better ones, until another one gains little; large tasks count more.
 * Predicted times at drawn shapes are used beside measured ones, which are few for all the kinds of
 * shapes there are. What is fastest at a shape of the application's own is chosen as well, and
 * pinned to it. What loses to the generic bundle on the whole does not ship, unless the bundle is
 * to serve alone. Where the bundle has a budget of bytes, what is worth least is dropped until it
 * fits. The losses that are told are those at held-out shapes.
 */
#ifndef KILN_CORE_SELECT_H
#define KILN_CORE_SELECT_H

#include "record.h"
#include "winners.h"

enum { SELECT_DEFAULT_KIB = 1024, SELECT_MOST_KIB = 1 << 20 };

/* What a bundle may take in an archive (emit_bytes), and what was dropped for it. */
struct select_budget {
    bool is_in_turn;                   /* all recipes were timed in turn at every shape */
    bool is_alone;                     /* what loses to generic ships: generic may not be there */
    size_t most_bytes;                 /* 0: any number, and none are counted */
    size_t bytes;                      /* in the end; more than most_bytes only where one recipe a
                                          precision, which is always kept, takes more */
    unsigned num_dropped;
    struct select_dropped {
        const struct precision *precision;
        struct config config;
        double loss;                   /* factor by which the mean time rose */
        bool is_pinned;                /* it was fastest at a shape of the application's own */
    } dropped[WINNERS_MAX_RECIPES];
};

/* Says what was dropped, one line a recipe, and by how much the bundle is still over the budget. */
void select_tell_dropped(const struct select_budget *budget, const char *program,
        struct text *text);

/* From a journal's text; name: of the bundle, NULL: made from the device's name. False with error
 * when the journal is bad or no configuration in it may ship. budget: NULL is none. */
bool select_winners(const char *journal, const char *name, struct select_budget *budget,
        struct winners *winners, char error[FAMILY_ERROR_BYTES]);

/* What a bundle takes for a task that was measured, and how far that is from the best candidate
 * there. */
struct selection {
    WITH_SHAPE;
    int pair;
    int recipe;                        /* its number in winners, among those of the precision */
    double seconds, best;
    double generic;                    /* of the generic bundle, HUGE_VAL: not measured */
};

/* Lists the tasks of one kind of row in the order of the journal; freed by the caller. False
 * when out of memory. */
bool select_list(const struct records *records, const struct winners *winners,
        const struct precision *precision, enum record_kind kind, struct selection **list,
        unsigned *num);

/* How a precision's bundle stands against the generic one, at the shapes where both were timed. */
struct select_generic {
    unsigned shapes, slower;           /* how many; at how many of them generic is clearly faster */
    unsigned unverified;               /* at how many of these the faster recipe was not verified in
                                          time; at the others it is predicted to be slower */
    double factor;                     /* weighted mean of time over generic's; 0: not compared */
    bool is_left;                      /* generic is faster on the whole, or all that was chosen is
                                          its own: nothing ships */
};
bool select_generic(const struct records *records, const struct precision *precision,
        struct select_generic *out);

/* The same from parsed rows. */
bool select_within(const struct records *records, const char *name, struct select_budget *budget,
        struct winners *winners, char error[FAMILY_ERROR_BYTES]);

#endif
