/* edges.c: the multiplications that a kernel is verified on. */
#include "verify.h"

const struct edge_class verify_edges[] = {
    /* name, m, n, k, pad, offset, alpha, beta, poison_inputs */
    { "one", 1, 1, 1, 0, 0, 1, 0, false },
    { "one-row", 1, 97, 53, 0, 0, 1, 0, false },
    { "one-column", 89, 1, 61, 0, 0, 1, 0, false },
    { "one-term", 61, 67, 1, 0, 0, 1, 0, false },
    { "dot", 1, 1, 167, 0, 0, 1, 0.75, false },
    { "primes", 37, 41, 43, 0, 0, 1, 0, false },
    { "tile", EDGE_TILE, EDGE_TILE, EDGE_TILE, 0, 0, 1, 0, false },
    { "tile-less-one", EDGE_TILE - 1, EDGE_TILE - 1, EDGE_TILE - 1, 0, 0, 1, 0, false },
    { "tile-and-one", EDGE_TILE + 1, EDGE_TILE + 1, EDGE_TILE + 1, 0, 0, 1, 0, false },
    { "ragged", 151, 163, 157, 0, 0, -1.5, 0.75, false },
    { "leading-dimensions", 33, 45, 29, 7, 0, 1, 0, false },
    { "offsets", 31, 35, 27, 0, 11, 1, 0, false },
    { "padded-and-offset", 47, 39, 51, 5, 3, -1.5, 0.75, false },
    { "beta-zero-over-nan", 53, 59, 31, 0, 0, 2, 0, false },
    { "beta-one", 44, 52, 36, 0, 0, 1, 1, false },
    { "alpha-and-beta", 29, 71, 23, 0, 0, -1.5, 0.75, false },
    { "alpha-zero", 27, 31, 19, 3, 0, 0, 0.75, true },
    { "alpha-and-beta-zero", 27, 31, 19, 3, 0, 0, 0, true },
    { "alpha-zero-beta-one", 27, 31, 19, 3, 0, 0, 1, true },
    { "no-terms", 26, 33, 0, 2, 0, 1, 0.75, false },
    { "no-terms-beta-zero", 26, 33, 0, 2, 0, 1, 0, false },
    { "no-rows", 0, 33, 17, 0, 0, 1, 0, false },
    { "no-columns", 26, 0, 17, 0, 0, 1, 0, false },
    { "deep", 5, 7, 4099, 0, 0, 1, 0.75, false },
};
const size_t verify_num_edges = sizeof verify_edges / sizeof verify_edges[0];

enum { EDGE_MAX_TILE = 160, SMALL_TILE = 16 };

/* The smallest and the largest tile of any stage along a dimension; 1 when no stage has one. */
static void tile_range(const struct kiln_recipe *recipe, unsigned dim, size_t *least, size_t *most)
{
    *least = *most = 1;
    for (unsigned i = 0; i < recipe->num_stages; i++)
        for (unsigned d = 0; d < recipe->stages[i].work_dim; d++) {
            const size_t tile = recipe->stages[i].tile[d];
            if (recipe->stages[i].dim[d] != dim || tile == 1)
                continue;
            if (*least == 1 || tile < *least)
                *least = tile;
            if (tile > *most)
                *most = tile;
        }
}

/* Parameters whose names begin with K divide K in slices, tiles and unrolled steps. */
static size_t largest_k_param(const struct config *config)
{
    size_t most = 1;
    for (unsigned i = 0; config && i < config->family->num_params; i++)
        if (config->family->params[i].name[0] == 'K' && config->value[i] > (long) most)
            most = (size_t) config->value[i];
    return most;
}

static size_t at_most(size_t value, size_t most, size_t otherwise)
{
    return value <= most ? value : otherwise;
}

static size_t round_to(size_t value, size_t unit)
{
    return unit > 1 ? (value + unit - 1) / unit * unit : value;
}

/* The extent changed to what the guard takes: whole units, and where it takes rests, one of these. */
static size_t fit(size_t extent, uint32_t unit, uint32_t rest, uint32_t most)
{
    const bool fits = unit <= 1 || extent % unit <= rest;
    const size_t rounded = fits ? extent
            : !rest ? round_to(extent, unit)
            : (extent < unit ? 1 : extent / unit) * unit + extent % (rest + 1);
    return most && rounded > most ? (unit > 1 ? most / unit * unit : most) : rounded;
}

void verify_fit(const struct kiln_guard *guard, size_t *m, size_t *n, size_t *k)
{
    *m = fit(*m, guard->m, guard->rest[0], guard->most[0]);
    *n = fit(*n, guard->n, guard->rest[1], guard->most[1]);
    *k = fit(*k, guard->k, guard->rest[2], guard->most[2]);
}

/* Extents, leading dimensions and offsets become what the recipe's guards want. */
static void respect_guard(struct verify_case *of, const struct kiln_guard *guard)
{
    verify_fit(guard, &of->m, &of->n, &of->k);
    const size_t a = of->problem.transa ? of->m : of->k, b = of->problem.transb ? of->k : of->n;
    const size_t least_a = a ? a : 1, least_b = b ? b : 1, least_c = of->n ? of->n : 1;
    of->pad_a = round_to(least_a + of->pad_a, guard->a) - least_a;
    of->pad_b = round_to(least_b + of->pad_b, guard->b) - least_b;
    of->pad_c = round_to(least_c + of->pad_c, guard->c) - least_c;
    of->offset_a = round_to(of->offset_a, guard->a);
    of->offset_b = round_to(of->offset_b, guard->b);
    of->offset_c = round_to(of->offset_c, guard->c);
}

static size_t edge_extent(int extent, size_t tile)
{
    if (extent < EDGE_TILE / 2)
        return (size_t) extent;
    const size_t value = tile + (size_t) extent - EDGE_TILE;
    return value ? value : 1;
}

void verify_edge_case(const struct edge_class *edge, const struct problem *problem,
        const struct kiln_recipe *recipe, const struct config *config, struct verify_case *of)
{
    size_t least, m, n, k;
    tile_range(recipe, KILN_DIM_M, &least, &m);
    m = at_most(m, EDGE_MAX_TILE, least);
    tile_range(recipe, KILN_DIM_N, &least, &n);
    n = at_most(n, EDGE_MAX_TILE, least);
    k = at_most(largest_k_param(config), EDGE_MAX_TILE, SMALL_TILE);
    *of = (struct verify_case) {
        .problem = *problem,
        .m = edge_extent(edge->m, m), .n = edge_extent(edge->n, n), .k = edge_extent(edge->k, k),
        .pad_a = edge->pad, .pad_b = edge->pad ? edge->pad + 1 : 0,
        .pad_c = edge->pad ? edge->pad + 2 : 0,
        .offset_a = edge->offset, .offset_b = edge->offset ? edge->offset + 1 : 0,
        .offset_c = edge->offset ? edge->offset + 2 : 0,
        .alpha = edge->alpha, .beta = edge->beta, .poison_inputs = edge->poison_inputs,
    };
    respect_guard(of, &recipe->guard);
}

/* Whole tiles up to a usual size, and about half of one. */
static size_t across(size_t tile)
{
    const size_t whole = (32 + tile) / tile * tile;
    return whole + (tile > 2 ? tile / 2 + 1 : tile - 1);
}

/* Cuts a shape to a number of multiply-adds: the longer of m and n first, then k. */
static void cut_to(struct verify_case *of, size_t most)
{
    while (of->m * of->n * of->k > most) {
        size_t *longest = of->m > of->n ? &of->m : &of->n;
        if (*longest <= 96)
            longest = &of->k;
        *longest = *longest / 2 | 1;
    }
}

void verify_check_cases(const struct problem *problem, const struct kiln_recipe *recipe,
        const struct config *config, struct verify_case *exact, struct verify_case *gauge)
{
    size_t least, m, n, k;
    const size_t param = largest_k_param(config);
    tile_range(recipe, KILN_DIM_M, &least, &m);
    tile_range(recipe, KILN_DIM_N, &least, &n);
    tile_range(recipe, KILN_DIM_K, &least, &k);
    k = k > param ? k : param;
    *exact = (struct verify_case) {
        .problem = *problem, .m = across(m), .n = across(n), .k = across(k),
        .pad_a = 3, .pad_b = 5, .pad_c = 7, .offset_a = 2, .offset_b = 1, .offset_c = 3,
        .alpha = -1.5, .beta = 0.75,
    };
    *gauge = (struct verify_case) {
        .problem = *problem, .m = across(m), .n = across(n), .k = across(k), .alpha = 1,
    };
    cut_to(gauge, (size_t) 1 << 22);
    respect_guard(exact, &recipe->guard);
    respect_guard(gauge, &recipe->guard);
}

bool verify_takes_shape(const struct kiln_recipe *recipe, size_t m, size_t n, size_t k)
{
    size_t near[3] = { m, n, k };
    verify_fit(&recipe->guard, &near[0], &near[1], &near[2]);
    return near[0] == m && near[1] == n && near[2] == k;
}
