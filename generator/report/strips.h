/* strips.h: ratios of times by class of shape, as a chart: a strip for each class with a dot for
 * each shape, the geometric mean as a bar and in figures, and all classes together.
 */
#ifndef KILN_REPORT_STRIPS_H
#define KILN_REPORT_STRIPS_H

#include "../core/shape.h"
#include "../core/text.h"

struct strip_dot {
    WITH_SHAPE;
    int pair;
    unsigned class;                    /* of draw.h, by number */
    double ratio;                      /* above 0, finite */
};

struct strip_summary {
    unsigned num;
    double mean, p95, worst;           /* geometric mean, 95th percentile, largest */
};

/* What the ratio says: what is lost, 1 is nothing, as percent beyond it; or how many times as fast
 * something is. */
enum strips_kind { STRIPS_LOSS, STRIPS_SPEED };

/* Charts beside each other have the same range. */
struct strips_range {
    double least, most;
};

/* Sorts the dots by their ratio. */
void strips_summarize(struct strip_dot *dots, unsigned num, struct strip_summary *summary);
/* Widens a range so that it holds the dots, and 1; begin with { 1, 1 }. */
void strips_widen(struct strips_range *range, const struct strip_dot *dots, unsigned num);
/* A figure; the title is HTML without tags. */
void strips_chart(struct text *text, enum strips_kind kind, const char *title,
        const struct strips_range *range, const struct strip_dot *dots, unsigned num);
/* "3.2 %" or "1.25 x". */
void strips_ratio(struct text *text, enum strips_kind kind, double ratio);

#endif
