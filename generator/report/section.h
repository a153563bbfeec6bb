/* section.h: what the sections of a report have in common. */
#ifndef KILN_REPORT_SECTION_H
#define KILN_REPORT_SECTION_H

#include "../core/record.h"
#include "../core/winners.h"
#include "svg.h"

/* The rows of one search: all of a kind "search" that share precision, transposes and shape. */
struct report_search {
    const struct precision *precision;
    size_t m, n, k;
    int pair;
    size_t num, num_timed;
    double best;                       /* seconds; HUGE_VAL when nothing was timed */
};

struct report {
    const struct records *records;
    const struct winners *winners;     /* NULL: nothing in the journal may ship */
    const struct report_search *searches;
    size_t num_searches;               /* in the order in which they began */
    struct text *text;
};

/* Is the row of this search's precision, transposes and shape? */
bool report_is_of(const struct report_search *search, const struct record *row);
/* The search that a row belongs to, or NULL. */
const struct report_search *report_search_of(const struct report *report, const struct record *row);

/* Seconds; a journal may hold any number. */
double report_cost(const struct record *row);
double report_gflops(size_t m, size_t n, size_t k, double seconds);

/* One section each, for a precision; nothing where there is nothing to show. */
void report_curves(const struct report *report, const struct precision *precision);
void report_landscape(const struct report *report, const struct precision *precision);
/* False when out of memory. */
bool report_choice(const struct report *report, const struct precision *precision);

/* For all precisions. */
void report_failures(const struct report *report);

#endif
