/* section.h: what the sections of a report have in common. */
#ifndef KILN_REPORT_SECTION_H
#define KILN_REPORT_SECTION_H

#include "../core/record.h"
#include "../core/select.h"
#include "../core/winners.h"
#include "bench.h"
#include "strips.h"
#include "svg.h"

/* The rows of one search: all of a kind "search" that share precision, transposes and shape. */
struct report_search {
    const struct precision *precision;
    WITH_SHAPE;
    int pair;
    size_t num, num_timed;
    double best;                       /* seconds; HUGE_VAL when nothing was timed */
};

/* The operations of shapes in which no extent stands out, as logarithms. */
struct report_scale {
    double least, most;
};

/* What the choice is judged by: the shapes of the application, those used for choosing, and those
 * held out. */
enum { REPORT_OWN, REPORT_MATRIX, REPORT_HELD, REPORT_NUM_LISTS };

/* A precision: what the journal holds of it and what came out. */
struct report_part {
    const struct precision *precision;
    size_t num_rows;                   /* 0: the journal does not know it */
    double seconds;
    int num_recipes;
    struct report_scale scale;
    struct selection *lists[REPORT_NUM_LISTS];
    unsigned num[REPORT_NUM_LISTS];
};

struct report {
    const struct records *records;
    const struct winners *winners;     /* NULL: nothing in the journal may ship */
    const char *why_none;              /* then */
    const struct bench *bench;         /* NULL: none */
    bool is_torn;                      /* the last row was cut off */
    const struct report_part *parts;   /* KILN_NUM_PRECISIONS of them */
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
double report_gflops(const struct precision *precision, struct shape shape, double seconds);

/* Classes of shapes are those of draw.h, by their number there. What has no extent that stands out
 * is large, medium or small by the third of the scale that it is in. */
void report_scale_add(struct report_scale *scale, struct shape shape);
unsigned report_class(const struct report_scale *scale, struct shape shape);

/* A recipe's name on the page: A, B, C... of its precision. */
void report_letter(struct text *text, int recipe);
/* "complex single". */
void report_precision(struct text *text, const struct precision *precision);
/* "512 x 64 x 1024 nt", with signs of multiplication; of a batch "512 x 64 x 1024 nt batch=20". */
void report_shape(struct text *text, struct shape shape, int pair);
/* A table's head, which may be scrolled where it is too wide, up to its first row; columns are
 * separated by "|", those of numbers begin with "#". And its end. */
void report_table(struct text *text, const char *caption, const char *columns);
void report_table_end(struct text *text);

extern const char report_style[]; /* of the page, as CSS */

/* What was lost at held-out shapes: time over that of the best candidate. precision: NULL is all.
 * Freed by the caller; NULL without any, or out of memory, which the text then says. */
struct strip_dot *report_loss_dots(const struct report *report, const struct precision *precision,
        unsigned *num);
/* How many times as fast as the generic bundle it is where both were timed; the same. */
struct strip_dot *report_generic_dots(const struct report *report,
        const struct precision *precision, unsigned *num);

/* The sections, in the order of the page; nothing where there is nothing to show. */
void report_answer(const struct report *report);
void report_losses(const struct report *report);
void report_generic(const struct report *report);
void report_peers(const struct report *report);
void report_recipes(const struct report *report);
void report_budget(const struct report *report);
void report_families(const struct report *report);
void report_curves(const struct report *report);
void report_shapes(const struct report *report);
void report_finalists(const struct report *report);
void report_landscape(const struct report *report);
void report_failures(const struct report *report);

#endif
