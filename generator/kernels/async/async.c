/* async: NVIDIA's compute capability 8.0 and later. Tiles are copied into local memory by
 * cp.async, some steps ahead, from where A and B lie. In pieces of one element (S, D) rows may
 * begin anywhere; in pieces of 4 bytes, halves of even leading dimension and offset; others go
 * through registers, or are copied first. Doubles and halves go through the tensor cores
 * (mma.sync); for singles, tiles whose k lie side by side are transposed as they are copied. */
#include "../nv/nv.h"
#include "../table.h"

static const struct family_param params[] = {
    { "BM", "32 64 128 256", 64, "rows of C of a work-group", "CUTLASS CtaTileM" },
    { "BN", "32 64 128 256", 64, "columns of C of a work-group", "CUTLASS CtaTileN" },
    { "WM", "16 32 64 128", 32, "rows of C of a warp", "CUTLASS WarpTileM" },
    { "WN", "16 32 64", 32, "columns of C of a warp", "CUTLASS WarpTileN" },
    { "DEPTH", "64 128", 128, "bytes of k in a tile (H: either)", "CUTLASS CtaTileK" },
    { "ST", "2 3 4 5 6 8", 2, "tiles in local memory", "CUTLASS Stages" },
    { "KU", "1 2 4 8", 2, "unrolling of the loop over quads of k (S)", NULL },
    { "GROUP", "1 2 4 8 16", 8, "rows of tiles that work-groups take together", "CUTLASS swizzle" },
    { "STREAM", "0 1 2 4", 0, "work-groups a compute unit, which share the steps; 0: one a tile",
      "Osama et al. 2023", .sibling = 1 },
    { "BYTES", "2 4 8 16", 16, "bytes that are copied at once (transposed: 4; 2: 16 from anywhere)",
      NULL, .sibling = 1 },
    { "COPY", "0 1", 0, "whether what is not aligned is copied first", NULL, .sibling = 1 },
    { "SLICES", "1 2 4", 1, "groups of warps that take a part each of a tile's k",
      "CUTLASS sliced-K" },
};

static const struct family_value values[] = {
    NV_VALUES,
    NV_NEXTN("1"),
    { "BATCHES", "1" },
    { "ASYNC", "1" },
    { "FETCHING", "0" },
    // Halves of rows that begin anywhere: pieces go through registers.
    { "ANYWHERE", "HALF && BYTES == 2" },
    // What the fragments ask for and tma alone has.
    { "EARLY", "0" },
    { "ROTATED", "0" },
    { "EDGES", "0" },
    { "WGMMA", "0" },
    { "PIPED", "0" },
    { "PARTS", "STREAM" },
    { "MMA", "!SINGLE" },
    // Whether what there is of K in its last step comes behind the loop over whole steps.
    { "TAIL", "!STREAM && !DOUBLE" },
    // Whether slices share the k of each tile, and the quads of it that a warp of S multiplies.
    { "SPLIT", "SLICES > 1" },
    { "QUADS", "8 / SLICES" },
    // Whether the pieces of a line are in an order of its own.
    { "SWIZZLED", "MMA" },
    { "TILES", "ST * (BM + BN) * DEPTH" },
    // Whether a tile of C is put into local memory: of halves always, if warps are even in number,
    // else where rows of C begin anywhere, in the place of the tiles of A and B.
    { "CBYTES", "BM * (HALF ? BN + 8 : BN) * ELEM_BYTES" },
    { "THROUGH", "SLICES == 1 && BN % 32 == 0 && "
        "(HALF ? WARPM * WARPN % 2 == 0 && CBYTES <= LOCAL_BYTES : CBYTES <= TILES)" },
    { "BOTHBYTES", "THROUGH ? max(TILES, CBYTES) : TILES" },
    { "OWNERS", "WARPM * WARPN * 32" },
    { "WORKERS", "OWNERS * SLICES" },
    { "COPIERS", "WORKERS" },
    { "PIECEA", "ANYWHERE ? 16 : TRANSPOSEA ? 4 : BYTES" },
    { "PIECEB", "ANYWHERE ? 16 : TRANSPOSEB ? 4 : BYTES" },
    { "COPYA", "COPY && !TRANSPOSEA" },
    { "COPYB", "COPY && !TRANSPOSEB" },
    { "REGISTERS", "DOUBLE ? TM * TN * 2 + 80 : "
        "TM * TN + 60 + ANYWHERE * (BM + BN) * DEPTH / 4 / max(WORKERS, 32)" },
};

static const struct family_rule rules[] = {
    { "COMPUTE_CAPABILITY >= 80", "not a device of NVIDIA's compute capability 8.0 or later" },
    { "TILES <= LOCAL_BYTES", "tiles exceed local memory" },
    { "HALF || DEPTH == 128", "DEPTH is for half precision" },
    { "SINGLE || KU == 2", "KU is for single precision" },
    { "!SINGLE || WM >= 32", "rows come by four" },
    { "BM % WM == 0 && BN % WN == 0", "warps do not divide the tile" },
    { "WORKERS <= 512", "work-group too large" },
    { "TM * TN * REAL_BYTES / 4 <= 128", "the block of C exceeds the registers" },
    { "REGISTERS <= min(255, 65536 / max(WORKERS, 32))", "a work-group exceeds the registers" },
    { "SLICES == 1 || (DOUBLE ? SLICES <= 2 : SINGLE || SLICES <= BK / 16)",
      "slices take whole parts of a tile" },
    { "(SLICES - 1) * BM * BN * REAL_BYTES <= TILES",
      "slices exceed the room to add them up" },
    { "BYTES >= ELEM_BYTES", "elements are copied whole" },
    { "BYTES != 8 || DOUBLE", "pieces of 8 bytes are for double precision" },
    { "!COPY || BYTES == 16", "copied rows are aligned" },
    { "!SINGLE || WORKERS <= 8 * min(BM, BN)",
      "more work-items than eighths of rows to transpose" },
    { "min(BM, BN) * DEPTH / (ANYWHERE ? 16 : BYTES) >= WORKERS",
      "more work-items than pieces to copy" },
    // Of singles those that are transposed, by whichever transposes.
    { "max(BM, BN) * DEPTH / (ANYWHERE ? 16 : SINGLE ? 4 : BYTES) <= 32 * WORKERS",
      "too many pieces to copy" },
};

#define MULTIPLY(copies, operands) \
    NV_MULTIPLY("async/async", "WORKERS", "", \
            "WORKSPACE as __global ${R} *work; REGION_2 as long parts_at; ", copies, operands, \
            "C_STRIDE ")

static const struct family_stage stages[] = {
    COPY_STAGES,
    MULTIPLY("!COPYA && !COPYB", AS_IT_IS(A) AS_IT_IS(B)),
    MULTIPLY("!COPYA && COPYB", AS_IT_IS(A) COPIED(B, b)),
    MULTIPLY("COPYA && !COPYB", COPIED(A, a) AS_IT_IS(B)),
    MULTIPLY("COPYA && COPYB", COPIED(A, a) COPIED(B, b)),
    NV_ADD("STREAM", "SWAPPED = 0", "REGION_2"),
};

static const struct family_region regions[] = {
    COPY_REGIONS,
    NV_PARTS("STREAM"),
};

static const struct family_preset presets[] = {
    { "ampere-single", "async BM=128 BN=256 WM=64 WN=64 ST=3", 's' },
    { "ampere-single-middle", "async BM=128 BN=128 WM=64 WN=32 ST=3 KU=4", 's' },
    { "ampere-single-odd", "async BM=128 BN=128 WM=64 WN=32 ST=3 KU=4 BYTES=4", 's' },
    { "ampere-single-small", "async BM=32 BN=64 WM=32 WN=16 ST=3 KU=8 BYTES=4", 's' },
    { "ampere-single-flat", "async BM=64 BN=128 WM=64 WN=32 ST=2 KU=4 BYTES=4", 's' },
    { "ampere-single-flat-small", "async BM=64 BN=64 WM=32 WN=32 ST=2 KU=4 GROUP=1 BYTES=4", 's' },
    { "ampere-single-deep", "async BM=64 BN=64 WM=64 WN=16 ST=2 KU=4 STREAM=2", 's' },
    { "ampere-single-odd-middle", "async BM=128 BN=64 WM=64 WN=16 ST=4 KU=4 BYTES=4", 's' },
    { "ampere-single-odd-deep", "async BM=64 BN=32 WN=16 ST=2 KU=4 STREAM=2 BYTES=4", 's' },
    { "ampere-single-slices", "async BM=64 BN=64 WM=64 ST=3 BYTES=4 SLICES=4", 's' },
    { "ampere-single-slices-deep", "async BM=32 BN=64 ST=3 STREAM=1 BYTES=4 SLICES=4", 's' },
    { "ampere-single-slices-middle", "async BM=128 BN=64 WM=64 ST=3 BYTES=4 SLICES=2", 's' },
    { "ampere-double", "async BM=64 BN=64 WM=32 WN=32 ST=4", 'd' },
    { "ampere-double-large", "async BM=128 BN=128 WM=64 WN=32 ST=4", 'd' },
    { "ampere-double-odd", "async BM=64 BN=64 WM=32 WN=32 ST=4 BYTES=8", 'd' },
    { "ampere-double-flat", "async BM=64 BN=64 WM=32 WN=32 ST=2 GROUP=1 BYTES=8", 'd' },
    { "ampere-double-small", "async BM=64 BN=32 WM=32 WN=16 ST=4 BYTES=8", 'd' },
    { "ampere-double-deep", "async BM=64 BN=32 WM=32 WN=16 ST=4 STREAM=2", 'd' },
    { "ampere-double-slices", "async BM=64 BN=64 WM=64 ST=4 BYTES=8 SLICES=2", 'd' },
    { "ampere-half", "async BM=128 BN=128 WM=64 WN=32 DEPTH=64 ST=4", 'h' },
    { "ampere-half-large", "async BM=128 BN=256 WM=64 WN=64 ST=3", 'h' },
    { "ampere-half-odd", "async BM=128 BN=128 WM=64 WN=32 DEPTH=64 ST=4 COPY=1", 'h' },
    { "ampere-half-small", "async BM=64 BN=32 WM=32 WN=16 ST=4", 'h' },
    { "ampere-half-anywhere", "async BM=64 BN=32 WM=32 WN=16 ST=2 BYTES=2", 'h' },
    { "ampere-half-anywhere-slices", "async BM=32 BN=32 WM=16 WN=16 ST=3 BYTES=2 SLICES=2", 'h' },
    { "ampere-half-anywhere-deep", "async BM=64 BN=64 WM=32 WN=32 ST=2 BYTES=2 STREAM=2", 'h' },
    { "ampere-half-flat", "async BM=128 BN=64 WM=64 WN=32 DEPTH=64 ST=4 BYTES=2", 'h' },
    { "ampere-half-flat-anywhere",
      "async BM=64 BN=64 WM=32 WN=16 DEPTH=64 ST=2 GROUP=1 BYTES=2", 'h' },
    { "ampere-half-flat-uneven",
      "async BM=64 BN=64 WM=32 WN=16 DEPTH=64 ST=2 GROUP=1 BYTES=4", 'h' },
    { "ampere-half-uneven", "async BM=64 BN=32 WM=32 WN=16 ST=4 BYTES=4", 'h' },
    { "ampere-half-slices", "async BM=64 BN=64 ST=4 BYTES=4 SLICES=2", 'h' },
    { "ampere-half-deep", "async BM=64 BN=64 WM=32 WN=32 ST=4 STREAM=2", 'h' },
};

extern const struct family family_async;
const struct family family_async = {
    .name = "async",
    .triangles = 1,
    .meaning = "tiles copied asynchronously on NVIDIA's compute capability 8.0 and later",
    TABLE(params),
    TABLE(rules),
    TABLE(values),
    TABLE(stages),
    TABLE(regions),
    TABLE(presets),
    .prelude = "async/prelude",
    .batches = "BATCHES",
    .guard = { "1", "1", "1" },
    .align = { "COPYA || ANYWHERE ? 1 : PIECEA / ELEM_BYTES",
        "COPYB || ANYWHERE ? 1 : PIECEB / ELEM_BYTES", "1" },
    .as_is = { "COPYA", "COPYB" },
    .most = { "2147483136", "2147483136", "2147483136" },
    .tile = NV_TILE,
    .edges = NV_EDGES("WM", "WN; THROUGH ? HALF ? 2 : 32 : 1",
        "PIECEA / ELEM_BYTES; PIECEB / ELEM_BYTES; BK / SLICES; HALF ? 16 : SINGLE ? 4 : 1"),
    .unit_turns = "STREAM",
    .shares = "STREAM > 0",
    .capability = 80,
    .rank = "BM * BN / (BM + BN) * 4 + ST + 2 * BYTES - COPY * 100 - STREAM * 50",
};
