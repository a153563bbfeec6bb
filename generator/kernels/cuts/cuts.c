/* cuts: single precision by products of halves on the tensor units of NVIDIA's compute capability
 * 8.0 and later (mma.sync), for callers who allow it (KILN_ALLOW_EMULATION). Operands are cut by
 * the stages of halves, so that a tile is one run of bytes; cp.async copies it, some steps ahead. */
#include "../halves/halves.h"
#include "../table.h"

static const struct family_param params[] = {
    { "BM", "32 64 128 256", 64, "rows of C of a work-group", "CUTLASS CtaTileM" },
    { "BN", "32 64 128 256", 64, "columns of C of a work-group", "CUTLASS CtaTileN" },
    { "WM", "16 32 64", 32, "rows of C of a warp", "CUTLASS WarpTileM" },
    { "WN", "16 32 64", 32, "columns of C of a warp", "CUTLASS WarpTileN" },
    { "BK", "32 64", 32, "k in a tile", "CUTLASS CtaTileK" },
    { "ST", "2 3 4 5 6 8", 2, "tiles in local memory", "CUTLASS Stages" },
    { "APART", "0 1", 1, "whether products with a low piece have sums of their own", NULL },
    HALVES_CUTTING,
    { "GROUP", "1 2 4 8 16", 8, "rows of tiles that work-groups take together", "CUTLASS swizzle" },
    { "STREAM", "0 1 2 4", 0, "work-groups a compute unit, which share the steps; 0: one a tile",
      "Osama et al. 2023", .sibling = 1 },
    { "SHARED", "0 1", 1, "whether they share those of tiles that make no whole turn", NULL },
};

static const struct family_value values[] = {
    HALVES_VALUES,
    // What the fragments of nv ask for, as of async.
    { "BATCHES", "0" },
    { "ASYNC", "1" },
    { "MMA", "1" },
    { "TAIL", "0" },
    { "WGMMA", "0" },
    { "SLICES", "1" },
    { "PAIRS", "0" },
    { "SWAPROWS", "0" },
    { "SWAPCOLS", "0" },
    { "PIECEA", "16" },
    { "PIECEB", "16" },
    { "ATONCE", "2" },
    // Warps along M and along N, and the elements of C that a work-item has.
    { "WARPM", "BM / WM" },
    { "WARPN", "BN / WN" },
    { "TM", "WM / 8" },
    { "TN", "WN / 4" },
    { "SUMS", "TM * TN" },
    { "WORKERS", "WARPM * WARPN * 32" },
    { "OWNERS", "WORKERS" },
    { "TILES", "ST * (BM + BN) * BK * 4" },
    // Whether a tile of C is put into local memory where rows of C begin anywhere.
    { "THROUGH", "BM * BN * 4 <= TILES" },
    // Sums, and what is found to be needed beside them.
    { "REGISTERS", "SUMS * (2 + APART) + 48 + 24 * (STREAM > 0)" },
};

static const struct family_rule rules[] = {
    { "COMPUTE_CAPABILITY >= 80", "not a device of NVIDIA's compute capability 8.0 or later" },
    { "TILES <= LOCAL_BYTES", "tiles exceed local memory" },
    { "BM % WM == 0 && BN % WN == 0", "warps do not divide the tile" },
    { "WORKERS <= 512", "work-group too large" },
    { "REGISTERS <= min(255, 65536 / max(WORKERS, 32))", "a work-group exceeds the registers" },
    { "min(BM, BN) * BK / 4 >= WORKERS", "more work-items than pieces to copy" },
    { "SHARED || STREAM", "SHARED is for work-groups that take tiles in turn" },
};

static const struct family_stage stages[] = {
    CUT_STAGES,
    NV_MULTIPLY("cuts/cuts", "WORKERS", "",
            "WORKSPACE as __global float *work; REGION_2 as long parts_at; ", "1",
            PIECES(A, a) PIECES(B, b), ""),
    NV_ADD("PARTS", "SWAPPED = 0", "REGION_2"),
};

static const struct family_region regions[] = {
    CUT_REGIONS,
    NV_PARTS("PARTS"),
};

static const struct family_preset presets[] = {
    { "ampere-halves", "cuts BM=128 BN=128 WM=64 ST=3", 'x' },
    { "ampere-halves-middle", "cuts BM=128 BN=64 WM=64 ST=3", 'x' },
    { "ampere-halves-small", "cuts BM=64 BN=64 ST=3", 'x' },
    { "ampere-halves-deep", "cuts BM=64 BN=64 ST=3 SHARES=16 STREAM=2", 'x' },
};

extern const struct family family_cuts;
const struct family family_cuts = {
    .name = "cuts",
    .triangles = 1,
    .meaning = "single precision by products of halves on NVIDIA's compute capability 8.0 and later",
    .serves = "EMULATED",
    TABLE(params),
    TABLE(rules),
    TABLE(values),
    TABLE(stages),
    TABLE(regions),
    TABLE(presets),
    .prelude = "cuts/prelude",
    .guard = { "1", "1", "1" },
    .most = CUT_MOST,
    .tile = { "BM", "BN", "BK" },
    .edges = { "8; WM", "2; 8; WN; THROUGH ? 32 : 1", CUT_EDGES },
    .unit_turns = "STREAM",
    .shares = "PARTS",
    .capability = 80,
    .rank = "BM * BN / (BM + BN) * 4 + ST - STREAM * 50",
};
