/* interleaved: complex products on NVIDIA's devices of compute capability 8.0 and later. Elements
 * are multiplied as they lie, real part beside imaginary part: tiles are copied into local memory
 * by cp.async, as by `async`, and each element that is read from there takes part in four
 * multiplications. Complex singles are multiplied by FMAs, complex doubles on the tensor cores. */
#include "../nv/nv.h"
#include "../table.h"

static const struct family_param params[] = {
    { "BM", "16 32 64 128", 64, "rows of C of a work-group", "CUTLASS CtaTileM" },
    { "BN", "16 32 64 128", 64, "columns of C of a work-group", "CUTLASS CtaTileN" },
    { "WM", "16 32 64", 32, "rows of C of a warp", "CUTLASS WarpTileM" },
    { "WN", "8 16 32", 32, "columns of C of a warp", "CUTLASS WarpTileN" },
    { "ST", "2 3 4 5 6 8", 2, "tiles in local memory", "CUTLASS Stages" },
    { "KU", "1 2 4 8", 2, "unrolling of the loop over pairs of k (C)", NULL },
    { "GROUP", "1 2 4 8 16", 8, "rows of tiles that work-groups take together", "CUTLASS swizzle" },
    { "STREAM", "0 1 2 4", 0, "work-groups a compute unit, which share the steps; 0: one a tile",
      "Osama et al. 2023", .sibling = 1 },
    { "BYTES", "8 16", 16, "bytes that are copied at once", NULL, .sibling = 1 },
    { "FETCH", "0 1 2 4", 0, "warps that fetch while the others multiply; 0: all do both", NULL },
    { "SLICES", "1 2 4", 1, "groups of warps that take the steps of a tile in turn (FETCH)",
      "CUTLASS sliced-K" },
};

static const struct family_value values[] = {
    { "DEPTH", "128" },
    NV_VALUES,
    NV_NEXTN("1"),
    { "BATCHES", "1" },
    { "ASYNC", "1" },
    { "ANYWHERE", "0" },
    { "FETCHING", "FETCH > 0" },
    { "SWIZZLED", "1" },
    { "EDGES", "0" },
    { "THROUGH", "0" },
    { "WGMMA", "0" },
    { "COPYA", "0" },
    { "COPYB", "0" },
    { "PARTS", "STREAM" },
    { "MMA", "COMPLEX_DOUBLE" },
    // Whether what there is of K in its last step comes behind the loop over whole steps.
    { "TAIL", "COMPLEX_SINGLE && !STREAM" },
    { "OWNERS", "WARPM * WARPN * 32" },
    { "WORKERS", "OWNERS * SLICES" },
    // What slices have beside the first one's; in turns others fetch while it is added up.
    { "SUMBYTES", "(SLICES - 1) * BM * BN * ELEM_BYTES" },
    // Whether C is stored by rows, through the memory of tiles, where it has room and is not filled
    // anew. Of complex singles a row's neighbours are side by side where B is transposed.
    { "BYROWS", "(COMPLEX_DOUBLE || !TB) && SLICES == 1 && !(FETCH && STREAM) && "
      "BM * (BN + 1) * ELEM_BYTES <= ST * (BM + BN) * DEPTH" },
    { "COPIERS", "FETCH ? FETCH * 32 : WORKERS" },
    { "ITEMS", "max(WORKERS, 32) + FETCH * 32" },
    { "REGISTERS", "TM * TN * 4 + (COMPLEX_DOUBLE ? TM * 8 + 60 : (TM + TN) * 4 + 40)" },
    { "GIVES", "FETCH == 4 && REGISTERS > 512 / ceil_div(ITEMS, 128) / 8 * 8" },
    { "LEAVES", "40" },
    NV_REGISTERS,
    { "PIECEA", "BYTES" },
    { "PIECEB", "BYTES" },
};

static const struct family_rule rules[] = {
    { "COMPUTE_CAPABILITY >= 80", "not a device of NVIDIA's compute capability 8.0 or later" },
    { "ST * (BM + BN) * DEPTH + (STREAM ? SUMBYTES : 0) <= LOCAL_BYTES",
      "tiles exceed local memory" },
    { "COMPLEX_SINGLE || KU == 2", "KU is for complex singles" },
    { "BM % WM == 0 && BN % WN == 0", "warps do not divide the tile" },
    { "ITEMS <= 512", "work-group too large" },
    { "TM * TN <= 32", "the block of C exceeds the registers" },
    { "REGISTERS <= (GIVES ? KEEPS : min(255, 65536 / max(ITEMS, 32)))",
      "a work-group exceeds the registers" },
    { "BYTES >= ELEM_BYTES", "elements are copied whole" },
    { "!FETCH || COMPUTE_CAPABILITY == 90", "FETCH is for compute capability 9.0" },
    { "SLICES == 1 || (FETCH && SLICES < ST && ST % SLICES == 0)",
      "slices need tiles of their own, and who fetches" },
    { "SLICES == 1 || STREAM || SUMBYTES <= ST * (BM + BN) * DEPTH", "slices exceed local memory" },
    { "min(BM, BN) * DEPTH / BYTES >= COPIERS", "more work-items than pieces to copy" },
    { "max(BM, BN) * DEPTH / BYTES <= 32 * COPIERS", "too many pieces to copy" },
};

#define ARGS "CONJ_B " COMPLEX_FACTORS ALL_OPERANDS "TRIANGLE HERMITIAN"
#define MULTIPLY "interleaved/interleaved", NULL

static const struct family_stage stages[] = {
    { "multiply", "!STREAM", MULTIPLY, "N M", "BN; BM", "ITEMS; 1", NULL, "M N K " ARGS, NULL,
      NULL },
    { "stream", "STREAM", MULTIPLY, "UNITS", "STREAM", "ITEMS", NULL,
      "M N K WORKSPACE as __global ${R} *work; REGION_0 as long parts_at; " ARGS, NULL, NULL },
    { "add", "STREAM", "nv/add", "SWAPPED = 0", "UNITS ONE", "STREAM; 4 / STREAM",
      "256; 1", NULL, "M N K WORKSPACE as __global const ${R} *restrict work; "
      "REGION_0 as long parts_at; " COMPLEX_FACTORS "C C_OFFSET LDC TRIANGLE HERMITIAN", NULL, "ADD" },
};

static const struct family_region regions[] = {
    { "STREAM", "UNITS ONE", "1; 4 * BM * BN * STREAM", "REAL_BYTES", NULL },
};

static const struct family_preset presets[] = {
    { "interleaved-single", "interleaved BM=64 BN=64 WM=32 WN=32 ST=3", 'c' },
    { "interleaved-single-large", "interleaved BM=128 BN=64 WM=32 WN=32 ST=2 KU=4", 'c' },
    { "interleaved-single-small", "interleaved BM=32 BN=32 WM=16 WN=16 ST=4 BYTES=8", 'c' },
    { "interleaved-single-odd", "interleaved BM=64 BN=64 WM=32 WN=32 ST=3 BYTES=8", 'c' },
    { "interleaved-single-deep", "interleaved BM=32 BN=32 WM=16 WN=16 ST=4 STREAM=2", 'c' },
    { "interleaved-single-deep-odd",
      "interleaved BM=64 BN=64 WM=32 WN=32 ST=3 STREAM=1 BYTES=8", 'c' },
    { "interleaved-single-hopper", "interleaved BM=128 BN=64 WM=32 WN=32 ST=6 KU=8 FETCH=4", 'c' },
    { "interleaved-single-hopper-turns",
      "interleaved BM=64 BN=64 WM=32 WN=16 ST=6 KU=8 STREAM=1 BYTES=8 FETCH=4", 'c' },
    { "interleaved-single-hopper-slices",
      "interleaved BM=64 BN=32 WM=32 WN=16 ST=8 KU=8 BYTES=8 FETCH=4 SLICES=2", 'c' },
    { "interleaved-double-hopper-slices",
      "interleaved BM=64 BN=32 WM=32 WN=32 ST=8 FETCH=4 SLICES=4", 'z' },
    { "interleaved-double-hopper", "interleaved BM=128 BN=64 WM=32 WN=32 ST=6 FETCH=4", 'z' },
    { "interleaved-double", "interleaved BM=64 BN=64 WM=32 WN=32 ST=3", 'z' },
    { "interleaved-double-middle", "interleaved BM=64 BN=32 WM=32 WN=16 ST=4", 'z' },
    { "interleaved-double-small", "interleaved BM=32 BN=32 WM=16 WN=16 ST=4", 'z' },
    { "interleaved-double-deep", "interleaved BM=32 BN=32 WM=16 WN=16 ST=4 STREAM=2", 'z' },
    { "interleaved-double-deep-large", "interleaved BM=64 BN=64 WM=32 WN=32 ST=3 STREAM=1", 'z' },
};

extern const struct family family_interleaved;
const struct family family_interleaved = {
    .name = "interleaved",
    .triangles = 1,
    .meaning = "complex products on NVIDIA's compute capability 8.0 and later",
    .serves = "COMPLEX",
    TABLE(params),
    TABLE(rules),
    TABLE(values),
    TABLE(stages),
    TABLE(regions),
    TABLE(presets),
    .prelude = "interleaved/prelude",
    .batches = "BATCHES",
    .guard = { "1", "1", "1" },
    .align = { "BYTES / ELEM_BYTES", "BYTES / ELEM_BYTES", "1" },
    .most = { "1073741568", "1073741568", "1073741568" },
    .tile = NV_TILE,
    .edges = NV_EDGES("WM", "WN", "BYTES / ELEM_BYTES; SLICES * BK"),
    .unit_turns = "STREAM",
    .shares = "STREAM > 0",
    .capability = 90,
    .ptx = "FETCH ? 90 : 0",
    .rank = "BM * BN / (BM + BN) * 4 + ST - STREAM * 20",
};
