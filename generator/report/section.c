/* section.c: see section.h. */
#include "section.h"

#include <math.h>

bool report_is_of(const struct report_search *s, const struct record *row)
{
    return s->precision == row->precision && s->pair == row->pair && s->m == row->m &&
           s->n == row->n && s->k == row->k;
}

const struct report_search *report_search_of(const struct report *report, const struct record *row)
{
    for (size_t i = 0; row->kind == RECORD_SEARCH && i < report->num_searches; i++)
        if (report_is_of(&report->searches[i], row))
            return &report->searches[i];
    return NULL;
}

double report_gflops(size_t m, size_t n, size_t k, double seconds)
{
    return 2e-9 * (double) m * (double) n * (double) k / seconds;
}

double report_cost(const struct record *row)
{
    return row->cost > 0 ? fmin(row->cost, 1e9) : 0;
}
