/* async: NVIDIA's compute capability 8.0 and later. Tiles are copied into local memory by
 * cp.async, some steps ahead, from where A and B lie. In pieces of one element (S, D) rows may
 * begin anywhere; in pieces of 4 bytes, halves of even leading dimension and offset; others are
 * copied first. Doubles and halves go through the tensor cores (mma.sync); for singles, tiles
 * whose k lie side by side are turned as they are copied. */
#include "nv.h"
#include "table.h"

static const struct family_param params[] = {
    { "BM", "32 64 128 256", 64, "rows of C of a work-group", "CUTLASS CtaTileM" },
    { "BN", "32 64 128 256", 64, "columns of C of a work-group", "CUTLASS CtaTileN" },
    { "TM", "2 4 8 16", 4, "an eighth of the rows of a warp", "CUTLASS WarpTileM / 8" },
    { "TN", "4 8 16", 8, "a quarter of the columns of a warp", "CUTLASS WarpTileN / 4" },
    { "DEPTH", "64 128", 128, "bytes of k in a tile (H: either)", "CUTLASS CtaTileK" },
    { "ST", "2 3 4 5 6 8", 2, "tiles in local memory", "CUTLASS Stages" },
    { "KU", "1 2 4 8", 2, "unrolling of the loop over quads of k (S)", NULL },
    { "GROUP", "1 2 4 8 16", 8, "rows of tiles that work-groups take together", "CUTLASS swizzle" },
    { "STREAM", "0 1 2 4", 0, "work-groups a compute unit, which share the steps; 0: one a tile",
      "Osama et al. 2023" },
    { "BYTESA", "4 8 16", 16, "bytes of A that are copied at once (turned: 4)", NULL },
    { "BYTESB", "4 8 16", 16, "bytes of B that are copied at once", NULL },
    { "COPYA", "0 1", 0, "whether A is copied first, to where rows are aligned", NULL },
    { "COPYB", "0 1", 0, "whether B is copied first", NULL },
};

static const struct family_value values[] = {
    NV_VALUES,
    { "ASYNC", "1" },
    // What the fragments ask for and bulk alone has.
    { "EARLY", "0" },
    { "EDGES", "0" },
    { "WGMMA", "0" },
    { "PIPED", "0" },
    { "SLICES", "1" },
    { "PARTS", "STREAM" },
    { "MMA", "PRECISION != 32" },
    { "WORKERS", "WARPM * WARPN * 32" },
    { "PIECEA", "TURNA ? 4 : BYTESA" },
    { "PIECEB", "TURNB ? 4 : BYTESB" },
    { "REGISTERS", "PRECISION == 64 ? TM * TN * 2 + 80 : TM * TN + 60" },
};

static const struct family_rule rules[] = {
    { "COMPUTE_CAPABILITY >= 80", "not a device of NVIDIA's compute capability 8.0 or later" },
    { "ST * (BM + BN) * DEPTH <= LOCAL_BYTES", "tiles exceed local memory" },
    { "PRECISION == 16 || DEPTH == 128", "DEPTH is for half precision" },
    { "PRECISION == 32 || KU == 2", "KU is for single precision" },
    { "PRECISION != 32 || TM >= 4", "rows come by four" },
    { "BM % (TM * 8) == 0 && BN % (TN * 4) == 0", "warps do not divide the tile" },
    { "WORKERS <= 512", "work-group too large" },
    { "TM * TN * REAL_BYTES / 4 <= 128", "the block of C exceeds the registers" },
    { "REGISTERS <= min(255, 65536 / max(WORKERS, 32))", "a work-group exceeds the registers" },
    { "BYTESA >= ELEM_BYTES && BYTESB >= ELEM_BYTES", "elements are copied whole" },
    { "(!COPYA || BYTESA == 16) && (!COPYB || BYTESB == 16)", "copied rows are aligned" },
    { "PRECISION != 32 || WORKERS <= 8 * min(BM, BN)",
      "more work-items than eighths of rows to turn" },
    { "BM * DEPTH / BYTESA >= WORKERS && BN * DEPTH / BYTESB >= WORKERS",
      "more work-items than pieces to copy" },
    { "BM * DEPTH / (PRECISION == 32 ? 4 : BYTESA) <= 32 * WORKERS && "
      "BN * DEPTH / (PRECISION == 32 ? 4 : BYTESB) <= 32 * WORKERS", "too many pieces to copy" },
};

static const struct family_stage stages[] = {
    COPY_STAGES,
    NV_MULTIPLY("async.cl.in", "WORKERS", "", "WORKSPACE REGION_2 "),
    { "add", "STREAM", "nv_add.cl.in", NULL, NULL, "A B", "ONE", "ADDERS", "256", NULL,
      "M N K WORKSPACE REGION_2 ALPHA BETA C C_OFFSET LDC" },
};

static const struct family_region regions[] = {
    COPY_REGIONS,
    { "STREAM", "ONE ONE", "2 * BM * BN; UNITS * STREAM", "REAL_BYTES" },
};

static const struct family_preset presets[] = {
    { "ampere-single", "async BM=128 BN=256 TM=8 TN=16 ST=3", NULL, FOR_PRECISION('s') },
    { "ampere-single-middle", "async BM=128 BN=128 TM=8 TN=8 ST=3 KU=4", NULL, FOR_PRECISION('s') },
    { "ampere-single-odd", "async BM=128 BN=128 TM=8 TN=8 ST=3 KU=4 BYTESA=4 BYTESB=4", NULL,
      FOR_PRECISION('s') },
    { "ampere-single-small", "async BM=32 BN=64 TM=4 TN=4 ST=3 KU=8 BYTESA=4 BYTESB=4", NULL,
      FOR_PRECISION('s') },
    { "ampere-single-deep", "async BM=64 BN=64 TM=8 TN=4 ST=2 KU=4 STREAM=2", NULL,
      FOR_PRECISION('s') },
    { "ampere-double", "async BM=64 BN=64 TM=4 TN=8 ST=4", NULL, FOR_PRECISION('d') },
    { "ampere-double-large", "async BM=128 BN=128 TM=8 TN=8 ST=4", NULL, FOR_PRECISION('d') },
    { "ampere-double-odd", "async BM=64 BN=64 TM=4 TN=8 ST=4 BYTESA=8 BYTESB=8", NULL,
      FOR_PRECISION('d') },
    { "ampere-double-small", "async BM=64 BN=32 TM=4 TN=4 ST=4 BYTESA=8 BYTESB=8", NULL,
      FOR_PRECISION('d') },
    { "ampere-double-deep", "async BM=64 BN=32 TM=4 TN=4 ST=4 STREAM=2", NULL,
      FOR_PRECISION('d') },
    { "ampere-half", "async BM=128 BN=128 TM=8 TN=8 DEPTH=64 ST=4", NULL, FOR_PRECISION('h') },
    { "ampere-half-large", "async BM=128 BN=256 TM=8 TN=16 ST=3", NULL, FOR_PRECISION('h') },
    { "ampere-half-odd", "async BM=128 BN=128 TM=8 TN=8 DEPTH=64 ST=4 COPYA=1 COPYB=1", NULL,
      FOR_PRECISION('h') },
    { "ampere-half-small", "async BM=64 BN=32 TM=4 TN=4 ST=4", NULL, FOR_PRECISION('h') },
    { "ampere-half-uneven", "async BM=64 BN=32 TM=4 TN=4 ST=4 BYTESA=4 BYTESB=4", NULL,
      FOR_PRECISION('h') },
    { "ampere-half-deep", "async BM=64 BN=64 TM=4 TN=8 ST=4 STREAM=2", NULL, FOR_PRECISION('h') },
};

extern const struct family family_async;
const struct family family_async = {
    .name = "async",
    .meaning = "tiles copied asynchronously on NVIDIA's compute capability 8.0 and later",
    TABLE(params),
    TABLE(rules),
    TABLE(values),
    TABLE(stages),
    TABLE(regions),
    TABLE(presets),
    .prelude = "async_prelude.cl.in",
    .guard = { "1", "1", "1" },
    .align = { "COPYA ? 1 : PIECEA / ELEM_BYTES", "COPYB ? 1 : PIECEB / ELEM_BYTES", "1" },
    .most = { "2147483136", "2147483136", "2147483136" },
    .tile = NV_TILE,
    .edges = NV_EDGES("TM * 8", "TN * 4", "PIECEA / ELEM_BYTES; PIECEB / ELEM_BYTES"),
    .turns = "UNITS * STREAM",
    .capability = 80,
    .rank = "BM * BN / (BM + BN) * 4 + ST + BYTESA + BYTESB - (COPYA + COPYB) * 100 - STREAM * 50",
};
