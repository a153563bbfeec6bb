/* draw.c: shapes from a distribution. A class is a row: ranges of extents and of operations; what
 * they do not say, a function of the row does. No floating-point numbers are used here, as machines
 * differ in their logarithms. */
#include "draw.h"

#include <string.h>

#include "fnv.h"
#include "random.h"

enum { DRAW_TRIES = 20000 };

/* The extents of cubes that divide the operations into thirds by logarithm: the smallest, the first
 * that is "big", the first that is large, the largest. */
struct scale {
    uint64_t side[4];
};

struct range {
    uint64_t least, most;
};

/* What a class asks of extents and of the operations. */
struct wanted {
    struct range m, n, k, ops;
    bool has_any_n;                    /* N is as it comes, aligned or not */
};

/* ---- Integers ---- */

static uint64_t cube_root(uint64_t value)
{
    uint64_t root = 0;
    for (uint64_t bit = UINT64_C(1) << 20; bit > 0; bit >>= 1) {
        uint64_t tried = root | bit;
        if (tried * tried <= value / tried)
            root = tried;
    }
    return root;
}

static uint64_t least_of(uint64_t left, uint64_t right)
{
    return left < right ? left : right;
}

static uint64_t most_of(uint64_t left, uint64_t right)
{
    return left > right ? left : right;
}

static bool is_in(const struct range *range, uint64_t value)
{
    return value >= range->least && value <= range->most;
}

/* Log-uniform from least to most. Every octave is as likely as any other; within it x is drawn
 * uniformly and accepted with a probability of the octave's start over x. */
static uint64_t draw_extent(uint64_t *random, const struct range *range)
{
    unsigned first = 0, last = 0;
    while (range->least >> first > 1)
        first++;
    while (range->most >> last > 1)
        last++;
    for (;;) {
        uint64_t start = UINT64_C(1) << (first + random_next(random) % (last - first + 1));
        uint64_t extent = start + random_next(random) % start;
        if (random_next(random) % extent < start && is_in(range, extent))
            return extent;
    }
}

/* The nearest multiple of the unit that is not 0. */
static uint64_t to_unit(uint64_t extent)
{
    return most_of((extent + DRAW_UNIT / 2) / DRAW_UNIT * DRAW_UNIT, DRAW_UNIT);
}

/* ---- Classes ---- */

/* Operations in the given third; extents up to a factor of two from those of cubes. */
static void want_third(const struct scale *scale, unsigned third, const struct draw_limits *limits,
        struct wanted *wanted)
{
    uint64_t least = scale->side[third], most = scale->side[third + 1];
    wanted->m = (struct range){ most_of(least / 2, 1), least_of(most * 2, limits->largest) };
    wanted->n = wanted->k = wanted->m;
    if (third > 0)
        wanted->ops.least = most_of(2 * least * least * least, wanted->ops.least);
    if (third < 2)
        wanted->ops.most = least_of(2 * most * most * most, wanted->ops.most);
}

static void want_large(const struct scale *scale, const struct draw_limits *limits,
        struct wanted *wanted)
{
    want_third(scale, 2, limits, wanted);
}

static void want_medium(const struct scale *scale, const struct draw_limits *limits,
        struct wanted *wanted)
{
    want_third(scale, 1, limits, wanted);
}

static void want_small(const struct scale *scale, const struct draw_limits *limits,
        struct wanted *wanted)
{
    want_third(scale, 0, limits, wanted);
}

/* N is the thin one; draw_try changes them over. A few vectors times aligned weights is what
 * applications have most of all. */
static void want_thin(const struct scale *scale, const struct draw_limits *limits,
        struct wanted *wanted)
{
    wanted->m = wanted->k = (struct range){ scale->side[1], limits->largest };
    wanted->n = (struct range){ 1, least_of(DRAW_THIN_MOST, limits->largest) };
    wanted->has_any_n = true;
}

static void want_deep(const struct scale *scale, const struct draw_limits *limits,
        struct wanted *wanted)
{
    wanted->m = wanted->n = (struct range){ least_of(8, scale->side[1]), scale->side[1] };
    wanted->k = (struct range){ scale->side[1], DRAW_DEEP_TIMES * (uint64_t) limits->largest };
}

static void want_flat(const struct scale *scale, const struct draw_limits *limits,
        struct wanted *wanted)
{
    wanted->m = wanted->n = (struct range){ scale->side[1], limits->largest };
    wanted->k = (struct range){ least_of(4, scale->side[1]), scale->side[1] };
}

static bool is_any(uint64_t m, uint64_t n, uint64_t k)
{
    (void) m, (void) n, (void) k;
    return true;
}

static bool is_thin(uint64_t m, uint64_t n, uint64_t k)
{
    return n <= DRAW_THIN_MOST && m >= DRAW_THIN_TIMES * n && k >= DRAW_THIN_TIMES * n;
}

static bool is_deep(uint64_t m, uint64_t n, uint64_t k)
{
    return k >= DRAW_DEEP_TIMES * most_of(m, n);
}

static bool is_flat(uint64_t m, uint64_t n, uint64_t k)
{
    return least_of(m, n) >= DRAW_FLAT_TIMES * k;
}

const char *const draw_kind_names[DRAW_NUM_KINDS] = { "thin", "deep", "flat", "even" };

enum draw_kind draw_kind_of(struct shape shape)
{
    const uint64_t m = shape.m, n = shape.n, k = shape.k;
    return is_thin(m, n, k) || is_thin(n, m, k) ? DRAW_THIN
         : is_deep(m, n, k)                     ? DRAW_DEEP
         : is_flat(m, n, k)                     ? DRAW_FLAT
                                                : DRAW_EVEN;
}

static const struct class {
    const char *name;
    void (*want)(const struct scale *, const struct draw_limits *, struct wanted *);
    bool (*is_of)(uint64_t m, uint64_t n, uint64_t k);
} classes[DRAW_NUM_CLASSES] = {
    { "large", want_large, is_any }, { "thin", want_thin, is_thin },
    { "medium", want_medium, is_any }, { "deep", want_deep, is_deep },
    { "small", want_small, is_any }, { "flat", want_flat, is_flat },
};

const char *draw_class_name(unsigned class)
{
    return classes[class].name;
}

/* ---- The stream ---- */

const char *draw_limits_error(const struct draw_limits *limits)
{
    if (limits->least_ops < DRAW_LEAST_OPS || limits->most_ops > DRAW_MOST_OPS)
        return "the operations of a drawn shape are from 1000 to 1e15";
    if (limits->most_ops / 8 < limits->least_ops)
        return "the most operations of a drawn shape are at least 8 times the least";
    if (limits->largest < DRAW_LARGEST_LEAST || limits->largest > DRAW_LARGEST_MOST)
        return "the largest extent of a drawn shape is from 16 to 1048576";
    if (cube_root(limits->least_ops) >= limits->largest)
        return "the largest extent of a drawn shape has too few operations";
    return NULL;
}

static struct scale scale_of(const struct draw_limits *limits)
{
    uint64_t least = most_of(cube_root(limits->least_ops / 2), 1);
    uint64_t most = least_of(cube_root(limits->most_ops / 2), limits->largest);
    most = most_of(least, most);
    return (struct scale){ { least, cube_root(least * least * most), cube_root(least * most * most),
            most } };
}

void draw_begin(struct draw *draw, const char *purpose, uint64_t seed,
        const struct draw_limits *limits)
{
    uint64_t state = kiln_hash(KILN_HASH_BEGIN, purpose, strlen(purpose)) ^ random_next(&seed);
    *draw = (struct draw){ .limits = *limits, .key = random_next(&state) };
}

static void exchange(size_t *left, size_t *right)
{
    size_t kept = *left;
    *left = *right;
    *right = kept;
}

/* Tries one shape; `drawn` says whether it is to be aligned. False when the try fails. */
static bool draw_try(const struct draw_limits *limits, const struct wanted *wanted,
        uint64_t *random, struct drawn *drawn)
{
    uint64_t m = draw_extent(random, &wanted->m), n = draw_extent(random, &wanted->n);
    uint64_t k = draw_extent(random, &wanted->k);
    bool is_other_way = random_next(random) >> 63;
    if (drawn->aligned) {
        m = to_unit(m);
        n = wanted->has_any_n ? n : to_unit(n);
        k = to_unit(k);
    }
    if (m > wanted->m.most || n > wanted->n.most || k > wanted->k.most ||
            !is_in(&wanted->ops, 2 * m * n * k) || m * k + k * n + m * n > limits->most_elements ||
            !classes[drawn->class].is_of(m, n, k))
        return false;
    drawn->m = (size_t) m;
    drawn->n = (size_t) n;
    drawn->k = (size_t) k;
    if (is_other_way)
        exchange(&drawn->m, &drawn->n);
    return true;
}

bool draw_shape(struct draw *draw, struct drawn *drawn)
{
    uint64_t number = draw->next++;
    uint64_t turn = number / DRAW_NUM_CLASSES, random = draw->key ^ number;
    struct scale scale = scale_of(&draw->limits);
    struct wanted wanted = { .ops = { draw->limits.least_ops, draw->limits.most_ops } };
    random = random_next(&random);
    *drawn = (struct drawn){ .class = (unsigned) (number % DRAW_NUM_CLASSES) };
    drawn->aligned = (turn + drawn->class) % 2 == 0;
    drawn->transa = random_next(&random) >> 63;
    drawn->transb = random_next(&random) >> 63;
    classes[drawn->class].want(&scale, &draw->limits, &wanted);
    for (int i = 0; i < DRAW_TRIES; i++) {
        /* Narrow limits may hold no multiples. */
        drawn->aligned = drawn->aligned && i < DRAW_TRIES / 2;
        if (draw_try(&draw->limits, &wanted, &random, drawn))
            return true;
    }
    return false;
}
