/* laws.h: journals made by hand, whose times follow laws that coefficients can be fitted to. */
#ifndef KILN_TESTS_CORE_LAWS_H
#define KILN_TESTS_CORE_LAWS_H

#include "wide.h"
#include "record.h"

#include <stdlib.h>
#include <string.h>

static const char *const configs[] = {
    "packed TM=12 NV=2 VEC=16", "direct WGM=8 WGN=8 TM=4 NV=1 VEC=4", "tiled TM=8 NV=2 VEC=4",
    "packed TM=6 NV=2 VEC=8",
    "packed TM=12 NV=2 VEC=16 KU=2", /* as A in all that its time is predicted by */
};
enum { A, B, C, D, LIKE_A };

static inline void begin(struct records *records)
{
    *records = (struct records){ .num = 0 };
    records->head.facts = facts_wide();
    records->head.facts.value[FACT_IS_CPU] = 1;
}

static inline void add_text(struct records *records, enum record_kind kind, const char *precision,
        const char *config, int pair, size_t m, size_t n, size_t k, double seconds)
{
    struct record row = { .kind = kind,
        .precision = precision_find(precision),
        .pair = pair,
        .m = m,
        .n = n,
        .k = k,
        .seconds = seconds };
    char error[FAMILY_ERROR_BYTES];
    if (!config_parse(config, &row.config, error))
        fail_msg("%s", error);
    strcpy(row.outcome, seconds < 0 ? "wrong" : "ok");
    assert_true(records_add(records, &row));
}

static inline void add(struct records *records, enum record_kind kind, const char *precision,
        int config, int pair, size_t m, size_t n, size_t k, double seconds)
{
    add_text(records, kind, precision, configs[config], pair, m, n, k, seconds);
}

/* A configuration passes the edges, but for the pairs in `failed` (a bit each). */
static inline void edges(struct records *records, int config, unsigned failed)
{
    for (int pair = 0; pair < NUM_PAIRS; pair++)
        add(records, RECORD_EDGES, "single", config, pair, 0, 0, 0, failed >> pair & 1 ? -1 : 0);
}

/* Microseconds of a call, and picoseconds of an element of C. */
struct law {
    double call, c;
};

static inline double law_seconds(struct law law, size_t m, size_t n)
{
    return law.call * 1e-6 + law.c * 1e-12 * (double) m * (double) n;
}

static inline void add_law(struct records *records, enum record_kind kind, int config, size_t m,
        size_t n, size_t k, struct law law)
{
    add(records, kind, "single", config, 0, m, n, k, law_seconds(law, m, n));
}

/* Eight squares from 16 to 2048, for choosing. */
static inline void add_squares(struct records *records, int config, struct law law)
{
    for (size_t size = 16; size <= 2048; size *= 2)
        add_law(records, RECORD_MATRIX, config, size, size, size, law);
}

#endif
