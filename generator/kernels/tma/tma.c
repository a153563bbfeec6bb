/* tma: NVIDIA's compute capability 9.0. Tiles come from where A and B lie through the copy engine
 * and tensor maps, so that nothing is packed; a matrix whose rows do not start at multiples of 16
 * bytes is copied first. Without ENGINE (S, D), warps of their own copy tiles element by element,
 * from rows that begin anywhere. Doubles and halves go through the tensor cores; for singles, tiles
 * whose k lie side by side are transposed on their way, by the warps that fetch. */
#include "../nv/nv.h"
#include "../table.h"

static const struct family_param params[] = {
    { "BM", "16 32 64 128 192 256", 128, "rows of C of a work-group", "CUTLASS CtaTileM" },
    { "BN", "16 32 64 128 192 256", 128, "columns of C of a work-group", "CUTLASS CtaTileN" },
    { "WM", "16 32 64 128", 64, "rows of C of a warp (S, D; H if BM < 64)", "CUTLASS WarpTileM" },
    { "WN", "16 32 64", 32, "columns of C of a warp (likewise)", "CUTLASS WarpTileN" },
    { "DEPTH", "64 128", 128, "bytes of k in a tile (H: either)", "CUTLASS CtaTileK" },
    { "ST", "2 3 4 5 6 8 12 16", 4, "tiles under way", "CUTLASS Stages" },
    { "EARLY", "0 1 2", 0, "tiles copied by who multiplies, while the tensor maps are made", NULL },
    { "KU", "1 2 4 8", 2, "unrolling of the loop over quads of k (S)", NULL },
    { "GROUP", "1 2 4 8 16", 8, "rows of tiles that work-groups take together", "CUTLASS swizzle" },
    { "STREAM", "0 1 2 4", 0, "work-groups a compute unit, which share the steps; 0: one a tile",
      "Osama et al. 2023", .sibling = 1 },
    { "SHARED", "0 1", 1, "whether they share those of tiles that make no whole turn", NULL },
    { "SLICES", "1 2 4", 1, "groups of warps that take the steps of a tile in turn (S, D)",
      "CUTLASS sliced-K" },
    { "ENGINE", "0 1", 1, "whether the copy engine fetches; 0: four warps do (S, D)", NULL,
      .sibling = 1 },
    { "EDGES", "0 1", 0, "whether less is done for tiles that C does not fill", NULL },
};

static const struct family_value values[] = {
    NV_VALUES,
    { "BATCHES", "1" },
    { "ASYNC", "0" },
    { "FETCHING", "1" },
    { "ANYWHERE", "0" },
    // Whether slices share the k of each tile, and the quads of it that a warp of S multiplies.
    { "SPLIT", "0" },
    { "QUADS", "8" },
    // Whether of four rows (columns) of a transposed tile, the other two come first in some lines.
    { "ROTATED", "SINGLE && !ENGINE" },
    // The copy engine takes aligned rows alone: others are copied.
    { "COPYA", "ENGINE" },
    { "COPYB", "ENGINE" },
    { "THROUGH", "0" },
    // How the copy engine is told to swizzle a line.
    { "SWIZZLEA", "SINGLE && TA ? 0 : LINEA / 64 + 1" },
    { "SWIZZLEB", "SINGLE && !TB ? 0 : LINEB / 64 + 1" },
    // Warp groups multiply by wgmma what has 64 rows; a warp of D, or of fewer rows of H, by mma.
    { "WGMMA", "HALF && BM >= 64" },
    { "MMA", "DOUBLE || (HALF && BM < 64)" },
    // Whether what a work-group has of a tile may be a part.
    { "PARTS", "STREAM && SHARED" },
    // Who reads a tile: warp groups, or warps.
    { "CONSUMERS", "WGMMA ? BM / 64 : WARPM * WARPN" },
    { "WORKERS", "CONSUMERS * (WGMMA ? 128 : SLICES * 32)" },
    // A block of C, and what is found to be needed beside it, in registers of a work-item.
    { "REGISTERS", "WGMMA ? BN / 2 + 28 : DOUBLE ? TM * TN * 2 + 90 : "
        "TM * TN + 60" },
    // Registers are given out by eights, as many as there are for the warps on each of four
    // schedulers. Where that is too few, four warps fetch and leave theirs to those that multiply.
    { "GIVES", "SINGLE ? SLICES == 1 && CONSUMERS >= 8 : "
        "REGISTERS > 512 / ceil_div(WORKERS + (ENGINE ? EARLY ? 64 : 32 : 128), 128) / 8 * 8" },
    // Who has a block of C in the end.
    { "OWNERS", "WORKERS / SLICES" },
    { "FETCHERS", "SINGLE || GIVES || !ENGINE ? 128 : EARLY ? 64 : 32" },
    { "ITEMS", "WORKERS + FETCHERS" },
    { "LEAVES", "SINGLE || !ENGINE ? 56 : 24" },
    NV_REGISTERS,
    { "MAPPER", "EARLY ? WORKERS : 0" },
    { "TRANSPOSING", "ENGINE && (TRANSPOSEA || TRANSPOSEB)" },
    // Who multiplies waits for those that transpose, where these have both operands.
    NV_NEXTN("!(ENGINE && TRANSPOSEA && TRANSPOSEB)"),
    // Whether a warp of D reads what it multiplies next before it multiplies.
    { "PIPED", "DOUBLE && TM * TN <= 16" },
};

static const struct family_rule rules[] = {
    { "COMPUTE_CAPABILITY == 90", "not a device of compute capability 9.0" },
    { "ST * ((BM + BN) * DEPTH + 24) + WGMMA * WORKERS * 16 <= 227 * 1024 - 1280",
      "tiles exceed local memory" },
    { "!WGMMA || (WM == 64 && WN == 32)", "warp groups multiply 64 x BN" },
    { "ENGINE || (SHARED && !(HALF || EARLY || EDGES))",
      "without the copy engine there are neither halves nor EARLY nor EDGES nor SHARED=0" },
    { "HALF || DEPTH == 128", "DEPTH is for half precision" },
    { "SINGLE || KU == 2", "KU is for single precision" },
    { "!SINGLE || WM >= 32", "rows come by four" },
    { "!SINGLE || ST >= SLICES + 2", "tiles are read, one is transposed and one fetched" },
    { "!GIVES || WORKERS % 128 == 0", "registers are given to groups of four warps" },
    { "WGMMA || (BM % WM == 0 && BN % WN == 0)",
      "warps do not divide the tile" },
    { "WGMMA || ITEMS <= 512", "work-group too large" },
    { "WGMMA || TM * TN * REAL_BYTES / 4 <= 128",
      "the block of C exceeds the registers" },
    { "!WGMMA || !EDGES || !STREAM", "a warp group of H has all columns" },
    { "SHARED || STREAM", "SHARED is for work-groups that take tiles in turn" },
    { "SLICES == 1 || (!HALF && !STREAM && !EDGES)",
      "slices are for single and double precision, a work-group a tile" },
    { "SLICES == 1 || ((SLICES - 1) * BN * REAL_BYTES <= ST * DEPTH && SLICES < ST)",
      "slices need tiles of their own, and room to be added up" },
    { "REGISTERS <= KEEPS", "a work-group exceeds the registers" },
    { "(!SINGLE && !WGMMA) || BN >= 32", "columns of a tile come by 32" },
    { "!SINGLE || BM >= 32", "rows of a tile come by 32" },
};

/* What work-groups share beside the operands: tensor maps, and parts of tiles. */
#define WORK "WORKSPACE as __global uchar *work; REGION_2 as long maps_at; " \
    "REGION_3 as long parts_at; "
#define PARTS_WORK "WORKSPACE as __global uchar *work; REGION_3 as long parts_at; "

static const struct family_stage stages[] = {
    COPY_STAGES,
    NV_MULTIPLY("tma/tma", "ITEMS", WORK, WORK, "ENGINE", COPIED(A, a) COPIED(B, b), "C_STRIDE "),
    NV_MULTIPLY("tma/tma", "ITEMS", "", PARTS_WORK, "!ENGINE", AS_IT_IS(A) AS_IT_IS(B),
            "C_STRIDE "),
    NV_ADD("PARTS", "SWAPPED = 0", "REGION_3"),
};

static const struct family_region regions[] = {
    COPY_REGIONS,
    { "ENGINE", "ONE ONE", "1; 1", "256", .each_member = 1 },
    NV_PARTS("PARTS"),
};

static const struct family_preset presets[] = {
    { "hopper-single",
      "tma BM=128 BN=256 WM=64 WN=64 ST=4 KU=4", 's', "found by a probe on one H200" },
    { "hopper-single-turns",
      "tma BM=128 BN=256 WM=64 WN=64 ST=3 KU=4 GROUP=1 STREAM=1 SHARED=0", 's' },
    { "hopper-single-middle", "tma BM=64 BN=128 WN=16 ST=6 EARLY=2 KU=4", 's' },
    { "hopper-single-wide", "tma BM=64 BN=128 WN=32 ST=6 EARLY=2 KU=4", 's' },
    { "hopper-single-high", "tma BM=128 BN=64 WN=32 ST=6 EARLY=2 KU=4", 's' },
    { "hopper-single-square", "tma BM=128 BN=128 WN=32 ST=6 EARLY=2 KU=4", 's' },
    { "hopper-single-slices-square", "tma BM=64 BN=64 WN=16 ST=6 EARLY=2 KU=4 SLICES=2", 's' },
    { "hopper-single-small", "tma BM=64 BN=32 WM=32 WN=16 ST=4 EARLY=1 KU=8", 's' },
    { "hopper-single-odd", "tma BM=128 BN=256 WM=64 WN=64 ST=4 EDGES=1", 's' },
    { "hopper-single-deep", "tma BM=64 BN=64 WM=32 ST=8 EARLY=2 KU=8 STREAM=1", 's' },
    { "hopper-single-tall", "tma BM=256 BN=32 WN=16 ST=5 EARLY=2", 's' },
    { "hopper-single-skinny", "tma BM=256 BN=32 WN=16 ST=5 STREAM=1 EDGES=1", 's' },
    { "hopper-single-flat", "tma BM=32 BN=256 WM=32 ST=6 KU=4 STREAM=1", 's' },
    { "hopper-single-slices", "tma BM=64 BN=64 ST=6 EARLY=2 SLICES=4", 's' },
    { "hopper-single-slices-small", "tma BM=64 BN=32 WN=16 ST=6 EARLY=2 SLICES=4", 's' },
    { "hopper-single-slices-middle", "tma BM=128 BN=64 ST=4 EARLY=1 SLICES=2", 's' },
    { "hopper-single-anywhere", "tma BM=128 BN=256 WM=64 WN=64 ST=4 KU=4 ENGINE=0", 's' },
    { "hopper-single-anywhere-shared", "tma BM=128 BN=128 WN=32 ST=6 KU=4 STREAM=1 ENGINE=0", 's' },
    { "hopper-single-anywhere-wide", "tma BM=64 BN=128 WN=32 ST=6 KU=4 STREAM=1 ENGINE=0", 's' },
    { "hopper-single-anywhere-high", "tma BM=128 BN=64 WN=32 ST=4 KU=4 ENGINE=0", 's' },
    { "hopper-single-anywhere-square", "tma BM=64 BN=64 WN=16 ST=4 KU=4 ENGINE=0", 's' },
    { "hopper-single-anywhere-slices", "tma BM=64 BN=64 WN=16 ST=6 KU=4 SLICES=2 ENGINE=0", 's' },
    { "hopper-single-anywhere-small", "tma BM=64 BN=32 WM=32 WN=16 ST=4 KU=8 ENGINE=0", 's' },
    { "hopper-double", "tma BM=128 BN=128 ST=5 EARLY=1", 'd', "found by a probe on one H200" },
    { "hopper-double-middle", "tma BM=64 BN=128 WM=32 ST=8 EARLY=2", 'd' },
    { "hopper-double-small", "tma BM=64 BN=32 WM=16 WN=16 ST=6 EARLY=1", 'd' },
    { "hopper-double-odd", "tma BM=128 BN=128 ST=5 EDGES=1", 'd' },
    { "hopper-double-deep", "tma BM=64 BN=32 WM=16 WN=16 ST=8 EARLY=2 STREAM=1", 'd' },
    { "hopper-double-tall", "tma BM=256 BN=32 WM=32 ST=4 EARLY=2", 'd' },
    { "hopper-double-slices", "tma BM=64 BN=32 WM=32 ST=8 EARLY=1 SLICES=4 GROUP=1", 'd' },
    { "hopper-double-narrow", "tma BM=32 BN=32 WM=32 ST=16 EARLY=2 SLICES=4", 'd' },
    { "hopper-double-skinny", "tma BM=32 BN=16 WM=16 WN=16 ST=16 EARLY=2 SLICES=4", 'd' },
    { "hopper-double-flat", "tma BM=16 BN=32 WM=16 WN=16 ST=16 EARLY=2 SLICES=4", 'd' },
    { "hopper-double-anywhere", "tma BM=128 BN=64 WM=16 WN=64 ST=5 GROUP=2 ENGINE=0", 'd' },
    { "hopper-double-anywhere-shared",
      "tma BM=128 BN=64 WM=16 WN=64 ST=5 GROUP=2 STREAM=1 ENGINE=0", 'd' },
    { "hopper-double-anywhere-middle", "tma BM=64 BN=64 WM=32 WN=32 ST=6 ENGINE=0", 'd' },
    { "hopper-double-anywhere-small", "tma BM=64 BN=32 WM=16 WN=16 ST=6 STREAM=2 ENGINE=0", 'd' },
    { "hopper-half", "tma BM=128 BN=256 ST=4", 'h', "found by a probe on one H200" },
    { "hopper-half-turns", "tma BM=256 BN=128 ST=4 STREAM=1 SHARED=0", 'h' },
    { "hopper-half-wide", "tma BM=128 BN=192 ST=5", 'h' },
    { "hopper-half-high", "tma BM=192 BN=128 ST=5 EARLY=2", 'h' },
    { "hopper-half-middle", "tma BM=128 BN=128 ST=6 EARLY=2", 'h' },
    { "hopper-half-middle-shared", "tma BM=128 BN=128 ST=6 EARLY=2 STREAM=1", 'h' },
    { "hopper-half-medium", "tma BM=128 BN=64 ST=8 EARLY=2", 'h' },
    { "hopper-half-low", "tma BM=64 BN=128 ST=8 EARLY=2", 'h' },
    { "hopper-half-shared", "tma BM=192 BN=192 ST=4 EARLY=2 STREAM=1", 'h' },
    { "hopper-half-narrow", "tma BM=64 BN=32 ST=12 EARLY=2", 'h' },
    { "hopper-half-small", "tma BM=64 BN=64 ST=8 EARLY=2", 'h' },
    { "hopper-half-odd", "tma BM=192 BN=192 ST=4 EDGES=1", 'h' },
    { "hopper-half-large-odd", "tma BM=192 BN=256 ST=3", 'h' },
    { "hopper-half-deep", "tma BM=64 BN=64 ST=5 EARLY=2 STREAM=1", 'h' },
    { "hopper-half-tall", "tma BM=256 BN=32 ST=4 EARLY=2", 'h' },
    { "hopper-half-skinny", "tma BM=32 BN=16 WM=16 WN=16 ST=12 EARLY=2", 'h' },
    { "hopper-half-flat", "tma BM=16 BN=64 WM=16 WN=16 ST=12 EARLY=2", 'h' },
};

extern const struct family family_tma;
const struct family family_tma = {
    .name = "tma",
    .triangles = 1,
    .meaning = "tiles fetched by the copy engine of NVIDIA's compute capability 9.0",
    TABLE(params),
    TABLE(rules),
    TABLE(values),
    TABLE(stages),
    TABLE(regions),
    TABLE(presets),
    .prelude = "tma/prelude",
    .batches = "BATCHES",
    .guard = { "EDGES && !STREAM && !WGMMA ? BM : 1",
        "EDGES && !STREAM && !WGMMA ? BN : 1", "1" },
    .rest = { "4", "4", "0" },
    .as_is = { "COPYA", "COPYB" },
    .most = { "2147483136", "2147483136", "2147483136" },
    .tile = NV_TILE,
    .edges = NV_EDGES("EDGES * 4; 8; WGMMA ? 64 : WM", "EDGES * 4; 8; WGMMA ? 1 : WN",
            "SLICES * BK"),
    .unit_turns = "STREAM",
    .shares = "PARTS",
    .capability = 90,
    .ptx = "90",
    .rank = "BM * BN / (BM + BN) * 4 + ST - STREAM * 50",
};
