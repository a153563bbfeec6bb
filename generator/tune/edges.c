/* edges.c: the multiplications that a kernel is verified on.
 *
 * Some are the same for all kernels. The others lie on either side of what the recipe's family
 * states: its tile, what else its kernels go through M, N and K by, the work-groups that take tiles
 * in turn, and those among which K is shared. Nothing is guessed from how it is launched. */
#include "verify.h"

#include <stdio.h>
#include <string.h>

/* Extents of a class: a tile, with more or less; two tiles and an odd rest. Others are plain. */
enum { TILE = 1 << 20, SEVERAL = 1 << 21 };

struct edge_class {
    const char *name;
    int m, n, k;
    unsigned pad, offset;              /* elements; B and C get one and two more when not 0 */
    double alpha, beta;
    bool poison_inputs;
};

static const struct edge_class classes[] = {
    /* name, m, n, k, pad, offset, alpha, beta, poison_inputs */
    { "one", 1, 1, 1, 0, 0, 1, 0, false },
    { "one-row", 1, 97, 53, 0, 0, 1, 0, false },
    { "one-column", 89, 1, 61, 0, 0, 1, 0, false },
    { "one-term", 61, 67, 1, 0, 0, 1, 0, false },
    { "dot", 1, 1, 167, 0, 0, 1, 0.75, false },
    { "primes", 37, 41, 43, 0, 0, 1, 0, false },
    { "tile", TILE, TILE, TILE, 0, 0, 1, 0, false },
    { "tile-less-one", TILE - 1, TILE - 1, TILE - 1, 0, 0, 1, 0, false },
    { "tile-and-one", TILE + 1, TILE + 1, TILE + 1, 0, 0, 1, 0, false },
    { "less-whole-more", TILE - 1, TILE, TILE + 1, 0, 0, -1.5, 0.75, false },
    { "more-less-whole", TILE + 1, TILE - 1, TILE, 3, 0, 1, 0, false },
    { "whole-more-less", TILE, TILE + 1, TILE - 1, 0, 5, 1, 1, false },
    { "tiles", SEVERAL, SEVERAL, TILE + 1, 0, 0, 1, 0.75, false },
    { "steps", TILE + 1, TILE - 1, SEVERAL, 0, 0, 1, 0, false },
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

/* The class without a tile, for a dimension that has no further edge. */
enum { PLAIN_M = 11, PLAIN_N = 13, PLAIN_K = 17 };

/* Multiply-adds that a reference does in less than a second; the steps of K of tiles that are taken
 * in turn; the largest part of K on which a candidate is checked before it is timed; and the
 * multiply-adds of a deep tile. */
enum { REFERENCE_WORK = 1 << 22, TURN_STEPS = 6, CHECKED_DEPTH = 1024, DEEP_WORK = 1 << 26 };

/* The members of a batch. */
enum { BATCH = 3 };

static size_t round_to(size_t value, size_t unit)
{
    return unit > 1 ? (value + unit - 1) / unit * unit : value;
}

/* Changes an extent to a near one that the guard takes: whole units, and one of the rests that it
 * takes. */
static size_t fit(size_t extent, uint32_t unit, uint32_t rest, uint32_t most)
{
    const size_t rounded = kiln_extent_is_whole(unit, rest, extent) ? extent
                         : !rest                                    ? round_to(extent, unit)
                                 : (extent < unit ? 1 : extent / unit) * unit + extent % (rest + 1);
    return kiln_extent_is_at_most(most, rounded) ? rounded : unit > 1 ? most / unit * unit : most;
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

/* Less than a tile, and odd, so that it is no multiple of a vector. */
static size_t odd_rest(size_t tile)
{
    return tile / 2 | 1;
}

static size_t edge_extent(int extent, size_t tile)
{
    if (extent < TILE / 2)
        return (size_t) extent;
    if (extent == SEVERAL)
        return 2 * tile + odd_rest(tile);
    const size_t value = tile + (size_t) extent - TILE;
    return value ? value : 1;
}

/* A class's case; `tile` holds what TILE stands for in M, N and K. */
static struct verify_case case_of(const struct edge_class *class, const struct problem *problem,
        const size_t tile[3])
{
    const unsigned pad = class->pad, offset = class->offset;
    return (struct verify_case){
        .problem = *problem,
        .m = edge_extent(class->m, tile[0]),
        .n = edge_extent(class->n, tile[1]),
        .k = edge_extent(class->k, tile[2]),
        .pad_a = pad,
        .pad_b = pad ? pad + 1 : 0,
        .pad_c = pad ? pad + 2 : 0,
        .offset_a = offset,
        .offset_b = offset ? offset + 1 : 0,
        .offset_c = offset ? offset + 2 : 0,
        .alpha = class->alpha,
        .beta = class->beta,
        .poison_inputs = class->poison_inputs,
    };
}

/* The cases of a recipe while they are collected. */
struct collection {
    const struct problem *problem;
    const struct kiln_recipe *recipe;
    struct edge_case *cases;
    unsigned num;
};

/* A case that the guard changed may be there already. */
static bool is_known(const struct collection *all, const struct verify_case *of)
{
    for (unsigned i = 0; i < all->num; i++) {
        const struct verify_case *other = &all->cases[i].of;
        if (verify_same_inputs(of, other))
            return true;
    }
    return false;
}

static void add(struct collection *all, const struct edge_class *class, const size_t tile[3])
{
    struct verify_case of = case_of(class, all->problem, tile);
    respect_guard(&of, &all->recipe->guard);
    if (all->num == VERIFY_MAX_EDGES || is_known(all, &of))
        return;
    struct edge_case *next = &all->cases[all->num++];
    next->of = of;
    snprintf(next->name, sizeof next->name, "%s", class->name);
}

/* Adds cases on either side of the i-th further edges. The largest edge of K goes with the smallest
 * of M and N, so that no matrix is large. */
static void add_edges(struct collection *all, const struct assembly_edges *edges, unsigned i)
{
    static const struct {
        const char *name;
        int extent;
        double beta;
    } sides[] = {
        { "less-one", TILE - 1, 0 },
        { "whole", TILE, 0.75 },
        { "and-one", TILE + 1, 0 },
        { "several", SEVERAL, 1 },
    };
    static const int plain[3] = { PLAIN_M, PLAIN_N, PLAIN_K };
    const unsigned at[3] = { i, i, edges->num[2] - 1 - i };
    size_t unit[3];
    for (unsigned d = 0; d < 3; d++)
        unit[d] = i < edges->num[d] ? edges->unit[d][at[d]] : 0;
    for (size_t s = 0; s < sizeof sides / sizeof sides[0]; s++) {
        char name[VERIFY_EDGE_BYTES];
        int extents[3];
        for (unsigned d = 0; d < 3; d++)
            extents[d] = unit[d] ? sides[s].extent : plain[d];
        snprintf(name, sizeof name, "edge-%u-%s", i + 1, sides[s].name);
        add(all,
                &(struct edge_class){ name, extents[0], extents[1], extents[2], 0, 0, 1,
                        sides[s].beta, false },
                unit);
    }
}

/* A whole tile with the largest part of K, without padding and offsets. */
static void add_deep_tile(struct collection *all, const struct assembly_edges *edges,
        const size_t tile[3])
{
    const size_t deep[3] = { tile[0], tile[1],
        edges->num[2] ? edges->unit[2][edges->num[2] - 1] : 0 };
    if (deep[2] && (double) deep[0] * (double) deep[1] * (double) deep[2] <= DEEP_WORK)
        add(all, &(struct edge_class){ "deep-tile", TILE, TILE, TILE, 0, 0, 1, 0.75, false }, deep);
}

/* As many blocks as work-groups take in turn, up to three in a column, with all steps of K that
 * work-groups may share. */
static void add_blocks(struct collection *all, const char *name, const uint32_t block[2],
        size_t num)
{
    const uint32_t depth = all->recipe->tile[2];
    const size_t rows = num % 3 == 0 ? 3 : num % 2 == 0 ? 2 : 1;
    const size_t extents[3] = { (rows - 1) * block[0] + odd_rest(block[0]),
        (num / rows - 1) * block[1] + odd_rest(block[1]), TURN_STEPS * depth + odd_rest(depth) };
    if (num)
        add(all, &(struct edge_class){ name, TILE, TILE, TILE, 0, 0, 1, 0.75, false }, extents);
}

/* The same, where rows of C begin at aligned places: what work-groups share is then stored in
 * another way. */
static void add_blocks_aligned(struct collection *all, const char *name, const uint32_t block[2],
        size_t num)
{
    const unsigned before = all->num;
    add_blocks(all, name, block, num);
    if (all->num == before)
        return;
    struct verify_case *of = &all->cases[before].of;
    const size_t unit = KILN_ALIGNED_BYTES / (size_t) all->problem->precision->element_bytes;
    of->pad_c = round_to(of->n, unit) - of->n;
    of->offset_c = unit;
}

/* Rows begin at aligned places and end at none: many kernels load vectors there, in all work-groups
 * but the last. Where aligned operands are taken as they are, and others copied, also: one of the
 * two aligned, and both aligned but for where they begin. */
static void add_aligned(struct collection *all, const size_t tile[3])
{
    static const struct {
        const char *name;
        size_t over_a, over_b, offset;
    } rows[] = {
        { "aligned", 0, 0, 1 },
        { "aligned-a", 0, 1, 1 },
        { "aligned-b", 1, 0, 1 },
        { "aligned-but-offset", 0, 0, 0 },
    };
    static const struct edge_class class = { "", TILE + 1, TILE + 1, TILE + 1, 0, 0, 1, 0.75,
        false };
    const size_t unit = KILN_ALIGNED_BYTES / (size_t) all->problem->precision->element_bytes;
    const size_t num = all->recipe->as_is ? sizeof rows / sizeof rows[0] : 1;
    for (size_t i = 0; i < num && all->num < VERIFY_MAX_EDGES; i++) {
        struct edge_case *next = &all->cases[all->num++];
        struct verify_case *of = &next->of;
        *of = case_of(&class, all->problem, tile);
        verify_fit(&all->recipe->guard, &of->m, &of->n, &of->k);
        const size_t a = of->problem.transa ? of->m : of->k, b = of->problem.transb ? of->k : of->n;
        of->pad_a = round_to(a, unit) - a + rows[i].over_a;
        of->pad_b = round_to(b, unit) - b + rows[i].over_b;
        of->offset_a = of->offset_b = rows[i].offset ? unit : 1;
        snprintf(next->name, sizeof next->name, "%s", rows[i].name);
    }
}

/* K of the most steps that are not shared, and of one term more, with two tiles in a row and in a
 * column if there is room for two parts of each; and one tile with more parts than are added up at
 * once (common/parts:add). */
static void add_parts(struct collection *all, const struct assembly_edges *edges)
{
    const struct kiln_recipe *recipe = all->recipe;
    const size_t across = edges->room >= 4 ? 1 : 0, down = edges->room >= 8 ? 1 : 0;
    const size_t m = down * recipe->tile[0] + odd_rest(recipe->tile[0]);
    const size_t n = across * recipe->tile[1] + odd_rest(recipe->tile[1]);
    const size_t depth = recipe->tile[2], few = (KILN_SHARED_STEPS - 1) * depth;
    const struct {
        const char *name;
        size_t m, n, k;
        unsigned pad, offset;
        double beta;
    } rows[] = {
        { "parts-not-yet", m, n, few, 0, 0, 0 },
        { "parts", m, n, few + 1, 3, 5, 0.75 },
        { "parts-many", odd_rest(recipe->tile[0]), odd_rest(recipe->tile[1]),
                45 * depth + odd_rest(depth), 0, 3, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const size_t extents[3] = { rows[i].m, rows[i].n, rows[i].k };
        add(all,
                &(struct edge_class){ rows[i].name, TILE, TILE, TILE, rows[i].pad, rows[i].offset,
                        -1.5, rows[i].beta, false },
                extents);
    }
}

static size_t larger(size_t x, size_t y)
{
    return x > y ? x : y;
}

/* A batch of three, each of two tiles of rows; or of columns, if C is one row. */
static void add_batch(struct collection *all, const char *name, const size_t tile[3], bool by_rows,
        size_t unit)
{
    const struct kiln_guard *guard = &all->recipe->guard;
    const size_t whole = larger(unit, larger(guard->a, larger(guard->b, guard->c)));
    const size_t rows = tile[0] + odd_rest(tile[0]), columns = tile[1] + odd_rest(tile[1]);
    struct verify_case of = {
        .problem = *all->problem,
        .m = by_rows ? round_to(rows, whole) : 1,
        .n = by_rows ? odd_rest(tile[1]) : round_to(columns, whole),
        .k = tile[2] + odd_rest(tile[2]),
        .offset_a = whole,
        .offset_b = whole,
        .alpha = -1.5,
        .beta = 0.75,
        .members = BATCH,
    };
    verify_fit(guard, &of.m, &of.n, &of.k);
    if (all->num == VERIFY_MAX_EDGES || (!by_rows && of.m != 1))
        return;
    *(by_rows ? &of.m : &of.n) *= BATCH;
    const size_t a = of.problem.transa ? of.m : of.k, b = of.problem.transb ? of.k : of.n;
    of.pad_a = round_to(a + unit / 2, whole) - a;
    of.pad_b = round_to(b + unit / 2, whole) - b;
    of.pad_c = round_to(of.n, whole) - of.n;
    struct edge_case *next = &all->cases[all->num++];
    next->of = of;
    snprintf(next->name, sizeof next->name, "%s", name);
}

/* Rows begin anywhere, and at aligned places, where kernels that copy what is not aligned take all
 * members in one launch. */
static void add_batches(struct collection *all, const size_t tile[3])
{
    const size_t unit = KILN_ALIGNED_BYTES / (size_t) all->problem->precision->element_bytes;
    add_batch(all, "batch-rows", tile, true, 1);
    add_batch(all, "batch-rows-aligned", tile, true, unit);
    add_batch(all, "batch-columns", tile, false, 1);
    add_batch(all, "batch-columns-aligned", tile, false, unit);
}

enum { ALIGNED_CASES = 4, BATCH_CASES = 4 };
_Static_assert(sizeof classes / sizeof classes[0] + 4 * ASSEMBLY_MAX_EDGES + 7 + ALIGNED_CASES +
                               BATCH_CASES <=
                       VERIFY_MAX_EDGES,
        "a class may be left out");

unsigned verify_edges(const struct problem *problem, const struct kiln_recipe *recipe,
        const struct assembly_edges *edges, struct edge_case cases[VERIFY_MAX_EDGES])
{
    struct collection all = { .problem = problem, .recipe = recipe, .cases = cases };
    const size_t tile[3] = { recipe->tile[0], recipe->tile[1], recipe->tile[2] };
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        add(&all, &classes[i], tile);
    for (unsigned i = 0; i < ASSEMBLY_MAX_EDGES; i++)
        if (i < edges->num[0] || i < edges->num[1] || i < edges->num[2])
            add_edges(&all, edges, i);
    add_deep_tile(&all, edges, tile);
    if (edges->turns) {
        add_blocks(&all, "turn-less-one", edges->block, edges->turns - 1);
        add_blocks(&all, "turn-and-one", edges->block, edges->turns + 1);
        add_blocks(&all, "turns", edges->block, 2 * (size_t) edges->turns + odd_rest(edges->turns));
    }
    if (edges->turns && recipe->shares) { /* three quarters of a turn count as a turn */
        const size_t border = (size_t) edges->turns * 3 / 4;
        add_blocks(&all, "turn-shared", edges->block, border > 0 ? border - 1 : 0);
        add_blocks_aligned(&all, "turn-shared-aligned", edges->block, border > 0 ? border - 1 : 0);
        add_blocks(&all, "turn-nearly-full", edges->block, border);
    }
    if (edges->room)
        add_parts(&all, edges);
    add_aligned(&all, tile);
    add_batches(&all, tile);
    return all.num;
}

bool verify_has_reference(const struct verify_case *of)
{
    return (double) of->m * (double) of->n * (double) of->k <= REFERENCE_WORK;
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

/* The largest part of K, except those that would take long; and at least what is shared. */
static size_t checked_depth(const struct kiln_recipe *recipe, const struct assembly_edges *edges)
{
    const size_t shared = edges->room ? (size_t) KILN_SHARED_STEPS * recipe->tile[2] : 0;
    size_t most = shared && shared <= CHECKED_DEPTH ? shared : recipe->tile[2];
    for (unsigned i = 0; i < edges->num[2]; i++)
        if (edges->unit[2][i] > most && edges->unit[2][i] <= CHECKED_DEPTH)
            most = edges->unit[2][i];
    return most;
}

void verify_check_cases(const struct problem *problem, const struct kiln_recipe *recipe,
        const struct assembly_edges *edges, struct verify_case *exact, struct verify_case *gauge)
{
    const size_t m = across(recipe->tile[0]), n = across(recipe->tile[1]);
    const size_t k = across(checked_depth(recipe, edges));
    *exact = (struct verify_case){
        .problem = *problem,
        .m = m,
        .n = n,
        .k = k,
        .pad_a = 3,
        .pad_b = 5,
        .pad_c = 7,
        .offset_a = 2,
        .offset_b = 1,
        .offset_c = 3,
        .alpha = -1.5,
        .beta = 0.75,
    };
    *gauge = (struct verify_case){ .problem = *problem, .m = m, .n = n, .k = k, .alpha = 1 };
    cut_to(gauge, REFERENCE_WORK);
    respect_guard(exact, &recipe->guard);
    respect_guard(gauge, &recipe->guard);
}
