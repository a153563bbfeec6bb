/* halves: single precision by products of halves on the tensor units of NVIDIA's compute capability
 * 9.0, for callers who allow it (KILN_ALLOW_EMULATION). A stage of its own cuts the operands into
 * pieces, in the order in which tiles lie in local memory. */
#include "halves.h"
#include "../table.h"

static const struct family_param params[] = {
    { "BM", "64 128 192 256", 128, "rows of C of a work-group", "CUTLASS CtaTileM" },
    { "BN", "64 96 128 192", 128, "columns of C of a work-group", "CUTLASS CtaTileN" },
    { "BK", "32 64", 64, "k in a tile", "CUTLASS CtaTileK" },
    { "ST", "2 3 4 5 6 8", 3, "tiles under way", "CUTLASS Stages" },
    { "APART", "0 1", 1, "whether products with a low piece have sums of their own", NULL },
    HALVES_CUTTING,
    { "GROUP", "1 2 4 8 16", 8, "rows of tiles that work-groups take together", "CUTLASS swizzle" },
    { "STREAM", "0 1", 0, "work-groups a compute unit, which share the steps; 0: one a tile",
      "Osama et al. 2023", .sibling = 1 },
    { "SHARED", "0 1", 1, "whether they share those of tiles that make no whole turn", NULL },
};

static const struct family_value values[] = {
    HALVES_VALUES,
    HALVES_WGMMA,
    // Warp groups, each with 64 rows of the tile.
    { "CONSUMERS", "BM / 64" },
    { "WORKERS", "CONSUMERS * 128" },
    { "PAIRS", "0" },
    { "OWNERS", "WORKERS" },
    // Sums, and what is found to be needed beside them, in registers of a work-item. As of tma.
    { "REGISTERS", "BN + APART * BN / 2 + 40" },
    { "GIVES", "REGISTERS > 512 / ceil_div(WORKERS + 32, 128) / 8 * 8" },
    { "ITEMS", "WORKERS + (GIVES ? 128 : 32)" },
    { "LEAVES", "24" },
    NV_REGISTERS,
    // Sums of a work-item.
    { "SUMS", "BN / 2" },
    { "TILES", "ST * ((BM + BN) * BK * 4 + 16)" },
    // Columns of C that a warp puts side by side to store them.
    { "COLUMNS", "TILES + WORKERS * 32 <= 226 * 1024 ? 32 : 16" },
};

static const struct family_rule rules[] = {
    { "COMPUTE_CAPABILITY == 90", "not a device of compute capability 9.0" },
    { "TILES + WORKERS * COLUMNS <= 226 * 1024", "tiles exceed local memory" },
    { "REGISTERS <= KEEPS && KEEPS <= 256", "a work-group exceeds the registers" },
    { "SHARED || STREAM", "SHARED is for work-groups that take tiles in turn" },
};

#define WORK "WORKSPACE as __global uchar *work; REGION_2 as long parts_at; "

static const struct family_stage stages[] = {
    CUT_STAGES,
    NV_MULTIPLY("halves/halves", "ITEMS", "", WORK, "1", PIECES(A, a) PIECES(B, b), ""),
    NV_ADD("PARTS", "SWAPPED = 0", "REGION_2"),
};

static const struct family_region regions[] = {
    CUT_REGIONS,
    NV_PARTS("PARTS"),
};

static const struct family_preset presets[] = {
    { "hopper-halves", "halves BM=128 BN=128", 'x', "found by a probe on one H200" },
    { "hopper-halves-wide", "halves BM=128 BN=192 BK=32 ST=5 APART=0", 'x' },
    { "hopper-halves-turns", "halves BM=128 BN=128 CUTTERS=1024 STREAM=1", 'x' },
    { "hopper-halves-deep", "halves BM=64 BN=64 ST=6 SHARES=16 STREAM=1", 'x' },
    { "hopper-halves-small", "halves BM=64 BN=128 ST=4", 'x' },
    { "hopper-halves-square", "halves BM=64 BN=64 ST=6", 'x' },
};

extern const struct family family_halves;
const struct family family_halves = {
    .name = "halves",
    .triangles = 1,
    .meaning = "single precision by products of halves on tensor units",
    .serves = "EMULATED",
    TABLE(params),
    TABLE(rules),
    TABLE(values),
    TABLE(stages),
    TABLE(regions),
    TABLE(presets),
    .prelude = "halves/prelude",
    .guard = { "1", "1", "1" },
    .most = CUT_MOST,
    .tile = { "BM", "BN", "BK" },
    .edges = { "8; 64", "2; 8", CUT_EDGES },
    .unit_turns = "STREAM",
    .shares = "PARTS",
    .capability = 90,
    .ptx = "90",
    .rank = "BM * BN / (BM + BN) * 4 + ST - STREAM * 50",
};
