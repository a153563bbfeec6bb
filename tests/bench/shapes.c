/* shapes.c: the named lists of shapes; those of the command line are read by core/extents.c, and
 * random ones drawn by core/draw.c. To add a list: one array and one row in shape_lists. */
#include "shapes.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/draw.h"
#include "core/extents.h"
#include "core/random.h"
#include "internal.h"

static const struct bench_shape shapes_goals[] = {
    {512, 512, 512}, {1000, 1000, 1000}, {1024, 1024, 1024}, {2048, 2048, 2048},
};
static const struct bench_shape shapes_squares[] = {
    {64, 64, 64}, {96, 96, 96}, {128, 128, 128}, {192, 192, 192}, {256, 256, 256},
    {384, 384, 384}, {512, 512, 512}, {768, 768, 768}, {1024, 1024, 1024},
    {1536, 1536, 1536}, {2048, 2048, 2048},
};
/* One extent of C far below the other. */
static const struct bench_shape shapes_skinny[] = {
    {4096, 16, 512}, {16, 4096, 512}, {4096, 64, 1024}, {64, 4096, 1024},
    {2048, 1, 2048}, {1, 2048, 2048}, {1024, 128, 128}, {128, 1024, 128},
};
/* K far above both extents of C, and far below. */
static const struct bench_shape shapes_deep[] = {
    {64, 64, 16384}, {128, 128, 8192}, {256, 256, 4096}, {16, 16, 65536},
    {1024, 1024, 16}, {2048, 2048, 32},
};
static const struct bench_shape shapes_small[] = {
    {1, 1, 1}, {4, 4, 4}, {8, 8, 8}, {16, 16, 16}, {24, 24, 24}, {32, 32, 32}, {48, 48, 48},
    {64, 64, 64},
};
/* Nothing divides: primes and one beside powers of two. */
static const struct bench_shape shapes_odd[] = {
    {127, 127, 127}, {129, 129, 129}, {251, 257, 263}, {511, 513, 509}, {997, 991, 983},
    {1025, 1023, 1025},
};

/* What keeps a large GPU busy. */
static const struct bench_shape shapes_hopper[] = {
    {2048, 2048, 2048, "squares"}, {4096, 4096, 4096, "squares"}, {8192, 8192, 8192, "squares"},
    {1000, 1000, 1000, "odd"}, {2049, 2049, 2049, "odd"}, {4097, 4097, 4097, "odd"},
    {64, 64, 65536, "deep"}, {128, 128, 8192, "deep"},
    {4096, 16, 4096, "skinny"}, {16, 4096, 4096, "skinny"}, {4096, 64, 1024, "skinny"},
    {25600, 32, 256, "skinny"}, {1, 4096, 4096, "skinny"},
    {64, 64, 64, "small"}, {128, 128, 128, "small"}, {256, 256, 256, "small"},
    {512, 512, 512, "small"},
};

/* To fit times to, beside random shapes, which seldom are such: long vectors, few rows or columns
 * of a large matrix, aligned and not, and cubes. */
static const struct bench_shape shapes_corners[] = {
    {1, 4096, 4096, "vectors"}, {4096, 1, 4096, "vectors"}, {1, 8000, 7001, "vectors"},
    {7001, 1, 8003, "vectors"}, {1, 1500, 2000, "vectors"}, {2000, 1, 1000, "vectors"},
    {2, 5000, 6001, "few"}, {5501, 2, 7001, "few"}, {3, 3001, 12001, "few"},
    {8192, 3, 2048, "few"}, {6, 2003, 6981, "few"}, {2003, 6, 6981, "few"},
    {8, 4096, 4096, "few"}, {4096, 8, 4096, "few"}, {12, 4001, 4003, "few"},
    {4003, 12, 4001, "few"}, {22, 3360, 6272, "few"}, {4721, 20, 5137, "few"},
    {512, 512, 512, "cubes"}, {1024, 1024, 1024, "cubes"}, {2048, 2048, 2048, "cubes"},
    {4096, 4096, 4096, "cubes"}, {8192, 8192, 8192, "cubes"}, {1001, 1001, 1001, "cubes"},
    {4097, 4097, 4097, "cubes"},
};

#define SHAPE_LIST(name) #name, shapes_##name, sizeof(shapes_##name) / sizeof(shapes_##name[0])
static const struct shape_list {
    const char *name;
    const struct bench_shape *items;
    size_t count;
    bool is_apart;                     /* not part of "all": too much for a CPU */
} shape_lists[] = {
    {SHAPE_LIST(goals)}, {SHAPE_LIST(squares)}, {SHAPE_LIST(skinny)}, {SHAPE_LIST(deep)},
    {SHAPE_LIST(small)}, {SHAPE_LIST(odd)}, {SHAPE_LIST(hopper), .is_apart = true},
    {SHAPE_LIST(corners), .is_apart = true},
};
enum { SHAPES_GRID_LEAST = 16 };
enum { NUM_SHAPE_LISTS = sizeof(shape_lists) / sizeof(shape_lists[0]) };

static bool shapes_push(struct shapes *shapes, const struct bench_shape *shape, char *error,
        size_t size)
{
    struct bench_shape *grown = realloc(shapes->items, (shapes->count + 1) * sizeof(*grown));

    if (grown == NULL) {
        snprintf(error, size, "out of memory");
        return false;
    }
    shapes->items = grown;
    shapes->items[shapes->count++] = *shape;
    return true;
}

static bool shapes_append(struct shapes *shapes, const struct bench_shape *shape, char *error,
        size_t size)
{
    for (size_t i = 0; i < shapes->count; i++) {
        const struct bench_shape *old = &shapes->items[i];

        if (old->m == shape->m && old->n == shape->n && old->k == shape->k &&
                old->batch == shape->batch && old->precision == shape->precision &&
                old->has_pair == shape->has_pair && old->transa == shape->transa &&
                old->transb == shape->transb) {
            return true;
        }
    }
    return shapes_push(shapes, shape, error, size);
}

static bool shapes_append_list(struct shapes *shapes, const struct shape_list *list, char *error,
        size_t size)
{
    for (size_t i = 0; i < list->count; i++) {
        struct bench_shape shape = list->items[i];

        if (shape.group == NULL) {
            shape.group = list->name;
        }
        if (!shapes_append(shapes, &shape, error, size)) {
            return false;
        }
    }
    return true;
}

bool shapes_add_named(struct shapes *shapes, const char *name, char *error, size_t size)
{
    bool all = strcmp(name, "all") == 0;
    bool known = false;

    for (size_t i = 0; i < NUM_SHAPE_LISTS; i++) {
        const struct shape_list *list = &shape_lists[i];

        if (all ? list->is_apart : strcmp(name, list->name) != 0) {
            continue;
        }
        known = true;
        if (!shapes_append_list(shapes, list, error, size)) {
            return false;
        }
    }
    if (!known) {
        snprintf(error, size, "no list of shapes is called '%s' (see --list-shapes)", name);
    }
    return known;
}

bool shapes_add_text(struct shapes *shapes, const char *text, char *error, size_t size)
{
    struct shape shape;

    if (!extents_parse(text, &shape)) {
        snprintf(error, size, "'%s' is not a shape: MxNxK, each extent from 1 to 16777216", text);
        return false;
    }
    return shapes_append(shapes, &(struct bench_shape){ .m = shape.m, .n = shape.n, .k = shape.k },
            error, size);
}

/* The weight is the tuner's. */
static const char *shapes_take(void *user, const struct extents_line *line)
{
    char error[64];
    const struct bench_shape shape = {
        .m = line->m,
        .n = line->n,
        .k = line->k,
        .batch = line->batch,
        .precision = line->precision != NULL ? kiln_precision_of_call(line->precision->id) : 0,
        .has_pair = line->pair >= 0,
        .transa = line->pair > 1,
        .transb = line->pair == 1 || line->pair == 3,
    };

    return shapes_append(user, &shape, error, sizeof(error)) ? NULL : "out of memory";
}

bool shapes_add_file(struct shapes *shapes, const char *path, char *error, size_t size)
{
    char cause[EXTENTS_ERROR_BYTES];
    const size_t before = shapes->count;
    bool good = extents_read_file(path, shapes_take, shapes, cause);

    if (!good) {
        snprintf(error, size, "%s", cause);
    } else if (shapes->count == before) {
        snprintf(error, size, "%s: no shapes", path);
        good = false;
    }
    return good;
}

bool shapes_add_drawn(struct shapes *shapes, const struct draw_limits *limits, uint64_t seed,
        size_t count, char *error, size_t size)
{
    const char *wrong = draw_limits_error(limits);
    struct draw draw;

    if (wrong != NULL) {
        snprintf(error, size, "%s", wrong);
        return false;
    }
    draw_begin(&draw, "bench", seed, limits);
    for (size_t i = 0; i < count; i++) {
        struct drawn drawn;

        if (!draw_shape(&draw, &drawn)) {
            snprintf(error, size, "no shape of class '%s' is within the limits of random shapes",
                    draw_class_name(drawn.class));
            return false;
        }
        const struct bench_shape shape = {
            .m = drawn.m,
            .n = drawn.n,
            .k = drawn.k,
            .group = draw_class_name(drawn.class),
            .has_pair = true,
            .transa = drawn.transa,
            .transb = drawn.transb,
        };
        if (!shapes_push(shapes, &shape, error, size)) {
            return false;
        }
    }
    return true;
}

/* A number of so many bits, up to these, each as likely as the others. */
static size_t shapes_draw_extent(uint64_t *state, unsigned least_bits, unsigned most_bits)
{
    unsigned bits = least_bits + (unsigned) (random_next(state) % (most_bits - least_bits + 1));
    size_t leading = (size_t) 1 << (bits - 1);

    return leading + random_next(state) % leading;
}

/* Multiples of 8 but for what is below. */
static size_t shapes_round(size_t extent)
{
    return extent < 8 ? extent : extent / 8 * 8;
}

bool shapes_add_batches(struct shapes *shapes, uint64_t seed, size_t count, char *error,
        size_t size)
{
    uint64_t state = seed;

    for (size_t added = 0; added < count;) {
        size_t m = shapes_draw_extent(&state, 2, 9), n = shapes_draw_extent(&state, 2, 9);
        size_t k = shapes_draw_extent(&state, 3, 10), batch = shapes_draw_extent(&state, 2, 13);
        unsigned pair = (unsigned) (random_next(&state) % 4);

        if (added % 2 == 1) {
            m = shapes_round(m), n = shapes_round(n), k = shapes_round(k);
        }
        const double operations = 2.0 * (double) m * (double) n * (double) k * (double) batch;
        const struct bench_shape shape = { .m = m,
            .n = n,
            .k = k,
            .group = "batches",
            .has_pair = true,
            .transa = pair / 2 == 1,
            .transb = pair % 2 == 1,
            .batch = batch };

        if (operations >= 3e7 && operations <= 1.5e10 &&
                batch * (m * k + k * n + m * n) <= 10000000) {
            if (!shapes_push(shapes, &shape, error, size)) {
                return false;
            }
            added++;
        }
    }
    return true;
}

bool shapes_add_grid(struct shapes *shapes, const struct draw_limits *limits, size_t k, char *error,
        size_t size)
{
    const size_t before = shapes->count;

    for (size_t m = SHAPES_GRID_LEAST; m <= limits->largest; m *= 2) {
        for (size_t n = SHAPES_GRID_LEAST; n <= limits->largest; n *= 2) {
            const struct bench_shape shape = { .m = m, .n = n, .k = k, .group = "grid" };

            if ((uint64_t) m * n + (uint64_t) (m + n) * k <= limits->most_elements &&
                    !shapes_push(shapes, &shape, error, size)) {
                return false;
            }
        }
    }
    if (shapes->count == before) {
        snprintf(error, size, "no shape of the grid fits into the device's memory");
        return false;
    }
    return true;
}

void shapes_free(struct shapes *shapes)
{
    free(shapes->items);
    *shapes = (struct shapes){ 0 };
}

void shapes_print_lists(FILE *out)
{
    for (size_t list = 0; list < NUM_SHAPE_LISTS; list++) {
        fprintf(out, "%-8s", shape_lists[list].name);
        for (size_t i = 0; i < shape_lists[list].count; i++) {
            const struct bench_shape *shape = &shape_lists[list].items[i];

            fprintf(out, " %zux%zux%zu", shape->m, shape->n, shape->k);
        }
        fprintf(out, "\n");
    }
    fprintf(out, "%-8s every list above but hopper and corners\n", "all");
    fprintf(out, "%-8s --k, and M and N of 16, 32, ... --largest\n", "grid");
    fprintf(out, "%-8s drawn for --seed, --count and the limits; classes:", "random");
    for (unsigned class = 0; class < DRAW_NUM_CLASSES; class ++) {
        fprintf(out, " %s", draw_class_name(class));
    }
    fprintf(out, "\n");
}
