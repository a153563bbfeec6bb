/* tiled: a work-group stages tiles of A and B in local memory, each work-item keeps a block of C in
 * registers. The common shape of GPU kernels since Volkov and Demmel 2008.
 *
 * BUFS and AHEAD make the three algorithms of Matsumoto, Nakasato and Sedukhin 2012b: the basic one
 * (1, 0), software pipelining (1, 1) and double buffering (2, 0); and that of CUTLASS (2, 1). */
#include "../table.h"

static const struct family_param params[] = {
    { "WGM", "2 4 8 16 32", 8, "work-items of a work-group along M", "Matsumoto 2012 m_wg / m_wi" },
    { "WGN", "2 4 8 16 32", 8, "work-items of a work-group along N", "Matsumoto 2012 n_wg / n_wi" },
    { "TM", "1 2 4 6 8", 4, "rows of C per work-item", "Matsumoto 2012 m_wi" },
    { "NV", "1 2 4 8", 4, "vectors of C's row per work-item", "Matsumoto 2012 n_wi = NV VEC" },
    { "VEC", "1 2 4 8 16", 1, "width of a vector", "Matsumoto 2012 vw" },
    { "KT", "4 8 16 32", 8, "depth of a tile", "Matsumoto 2012 k_wg" },
    { "KU", "1 2 4 8", 1, "steps of k in the loop's body", "Matsumoto 2012 k_wi" },
    { "LOCALA", "0 1", 1, "whether A is staged in local memory", "Steinsland 2011" },
    { "LOCALB", "0 1", 1, "whether B is staged in local memory", "Steinsland 2011" },
    { "PAD", "0 1 2 4", 0, "elements that pad a row of local memory", "Steinsland 2011" },
    { "BUFS", "1 2", 1, "local buffers of a tile; 2: one barrier a tile", "Matsumoto 2012b DB" },
    { "AHEAD", "0 1", 0, "whether the next tile is fetched into registers early",
      "Volkov and Demmel 2008; Matsumoto 2012b PL" },
    { "MAPM", "0 1", 0, "a work-item's rows: side by side, or WGM apart", "Nugteren 2014" },
    { "MAPN", "0 1", 0, "a work-item's vectors: side by side, or WGN vectors apart",
      "Nugteren 2014" },
    { "ORDER", "0 1 2 3", 0, "tiles by rows 0, columns 1, bands of rows 2, Hilbert's curve 3",
      "CUTLASS swizzle; Hilbert 1891" },
    { "GROUP", "2 4 8 16", 8, "rows of tiles of a band", "CUTLASS swizzle" },
    { "FILL", "0 1 2 4 8", 0,
      "work-groups for each compute unit, for which K is shared where tiles are few; 0: it is not",
      "CUTLASS split-K" },
    { "GUARD", "0 1", 1, "whether any shape is taken, or only whole tiles", NULL },
    { "INDEX", "32 64", 32, "bits of an index", NULL },
};

/* Whether `n` of a work-item's rows are read from local memory at once: 16 aligned bytes at most.
 * Of columns, BVEC are. */
#define AT_ONCE(n) \
    "LOCALA && !MAPM && TM % " #n " == 0 && PAD % " #n " == 0 && " #n " * REALS * REAL_BYTES <= 16"

static const struct family_value values[] = {
    { "REALS", "1 + COMPLEX" },                  // numbers of an element
    { "VBYTES", "REALS * VEC * REAL_BYTES" },
    { "TN", "NV * VEC" },
    { "BLKM", "WGM * TM" },
    { "BLKN", "WGN * TN" },
    { "MEACH", "MAPM ? 1 : TM" },                // rows between work-items
    { "MSTEP", "MAPM ? WGM : 1" },               // rows between those of a work-item
    { "NEACH", "MAPN ? VEC : TN" },
    { "NSTEP", "MAPN ? WGN * VEC : VEC" },       // columns between vectors of a work-item
    { "ITEMS", "WGM * WGN" },
    { "ALOADS", "ceil_div(BLKM * KT, ITEMS)" },  // elements of a tile that a work-item fetches
    { "BLOADS", "ceil_div(BLKN * KT, ITEMS)" },
    { "AWIDE", "TA ? BLKM : KT" },               // elements of a tile side by side where A lies
    { "BWIDE", "TB ? KT : BLKN" },
    { "EARLY", "AHEAD || BUFS == 2" },           // the next tile comes while one is multiplied
    { "FETCHED", "AHEAD * (LOCALA * ALOADS + LOCALB * BLOADS)" },
    { "BVEC", "LOCALB && PAD % VEC == 0 ? VEC : 1" },
    { "AVEC", AT_ONCE(4) " ? 4 : " AT_ONCE(2) " ? 2 : 1" },
    { "VECTORA", "REALS * AVEC > 1" },           // whether what is read at once is a vector
    { "STAGED", "LOCALA || LOCALB" },            // whether anything is in local memory
    { "ABYTES", "AVEC * REALS * REAL_BYTES" },
    VALUES_ADD,
    { "TILEBYTES",
      "BUFS * REALS * REAL_BYTES * KT * (LOCALA * (BLKM + PAD) + LOCALB * (BLKN + PAD))" },
};

static const struct family_rule rules[] = {
    RULE_DOUBLE,
    { "ITEMS <= MAX_ITEMS", "work-group larger than the device's" },
    { "WGN <= MAX_ITEMS_X && WGM <= MAX_ITEMS_Y", "work-group longer than the device's" },
    { "TILEBYTES <= LOCAL_BYTES", "tiles exceed local memory" },
    { "KT % KU == 0", "a tile's depth is not a multiple of the unrolling" },
    { "REALS * VEC <= 16", "OpenCL's vectors have at most 16 numbers" },
    { "VEC == 1 || VBYTES <= max(VECTOR_BYTES, 16)", "vectors wider than the device's" },
    { "((TM + REALS) * TN + FETCHED) * REALS * REAL_BYTES <= REGISTER_BYTES",
      "the block of C, and what is fetched ahead, exceed the registers" },
    { "LOCALA || LOCALB || PAD == 0", "padding without local memory" },
    { "ALOADS <= 32 && BLOADS <= 32", "too many loads per work-item and tile" },
    { "LOCALA || LOCALB || !EARLY", "nothing to fetch early without local memory" },
    { "TM > 1 || !MAPM", "one row of C per work-item cannot be strided" },
    { "NV > 1 || !MAPN", "one vector of C per work-item cannot be strided" },
    { "ORDER == 2 || GROUP == 8", "GROUP is for bands" },
};

#define MULTIPLY(when, factors, more) \
    { "multiply", "!FILL && " when, "tiled/tiled", NULL, \
      "N M", "BLKN; BLKM", "WGN; WGM", "TILEBYTES", \
      "M N K " factors ALL_OPERANDS "TRIANGLE" more }, \
    { "multiply", "FILL && " when, "tiled/tiled", NULL, \
      "N M PARTS", "BLKN; BLKM; 1", "WGN; WGM; 1", "TILEBYTES", \
      "M N K " factors "PARTS WORKSPACE as __global ${TC} *restrict parts; " \
      "REGION_0 as long parts_at; " ALL_OPERANDS "TRIANGLE" more }
#define ADD(when, factors, more) \
    { "add", "FILL && " when, "tiled/tiled:add", NULL, \
      "M N", "1; ADDERS", "ADDERS; ADDWAYS", ADD_LOCAL_BYTES, \
      "M N " factors "PARTS WORKSPACE as __global const ${TC} *restrict parts; " \
      "REGION_0 as long parts_at; C C_OFFSET LDC TRIANGLE" more, NULL, "ADD" }

static const struct family_stage stages[] = {
    MULTIPLY("!COMPLEX", "ALPHA BETA ", ""),
    MULTIPLY("COMPLEX", COMPLEX_FACTORS "CONJ_B ", " HERMITIAN"),
    ADD("!COMPLEX", "ALPHA BETA ", ""),
    ADD("COMPLEX", COMPLEX_FACTORS, " HERMITIAN"),
};

/* C in whole tiles, as each part of K has it. */
static const struct family_region regions[] = {
    { "FILL", "M N", "BLKM; BLKN", "REALS * REAL_BYTES", .each_part = 1 },
};

static const struct family_preset presets[] = {
    { "gpu-64",
      "tiled WGM=16 WGN=16 TM=4 NV=4 VEC=1 KT=16 KU=4 PAD=1", 0, "Volkov and Demmel 2008" },
    // Rows of local memory begin at vectors, each at other banks than the one before.
    { "gpu-128", "tiled WGM=16 WGN=16 TM=8 NV=2 VEC=4 KT=8 KU=8 PAD=4 AHEAD=1 MAPN=1 FILL=4" },
    { "gpu-pipelined",
      "tiled WGM=16 WGN=16 TM=8 NV=2 VEC=4 KT=8 KU=8 AHEAD=1 MAPM=1 MAPN=1",
      0, "Matsumoto 2012b, PL" },
    { "gpu-buffers",
      "tiled WGM=16 WGN=16 TM=8 NV=2 VEC=4 KT=8 KU=8 BUFS=2 MAPN=1 ORDER=2",
      0, "Matsumoto 2012b, DB" },
    { "gpu-both",
      "tiled WGM=16 WGN=16 TM=8 NV=2 VEC=4 KT=8 KU=8 BUFS=2 AHEAD=1 MAPN=1 ORDER=3", 0, "CUTLASS" },
    { "gpu-deep",
      "tiled WGM=8 WGN=16 TM=4 NV=1 VEC=4 KT=16 KU=8 PAD=4 AHEAD=1 FILL=4", 0, "CUTLASS split-K" },
    { "gpu-tiles-double",
      "tiled WGM=8 WGN=16 TM=8 NV=2 VEC=2 KT=8 KU=8 PAD=2 AHEAD=1 MAPN=1 FILL=4", 'd' },
    { "gpu-tiles-double-deep",
      "tiled WGM=8 WGN=8 TM=4 NV=2 VEC=2 KT=8 KU=8 PAD=2 AHEAD=1 MAPN=1 FILL=4", 'd' },
    { "gpu-tiles-complex",
      "tiled WGM=16 WGN=16 TM=4 NV=2 VEC=2 KT=16 KU=8 PAD=2 AHEAD=1 MAPN=1 FILL=4", 'c' },
    { "gpu-tiles-complex-deep",
      "tiled WGM=8 WGN=16 TM=4 NV=1 VEC=2 KT=8 KU=8 PAD=2 AHEAD=1 FILL=4", 'c' },
    { "gpu-tiles-complex-double",
      "tiled WGM=8 WGN=16 TM=6 NV=4 VEC=1 KT=8 KU=8 PAD=1 MAPN=1 FILL=4", 'z' },
    { "gpu-tiles-complex-double-deep",
      "tiled WGM=8 WGN=8 TM=4 NV=4 VEC=1 KT=8 KU=8 PAD=1 AHEAD=1 MAPN=1 FILL=4", 'z' },
};

extern const struct family family_tiled;
const struct family family_tiled = {
    .name = "tiled",
    .serves = "HALF || SINGLE || DOUBLE || COMPLEX",
    .triangles = 1,
    .meaning = "tiles of A and B staged in local memory, a block of C in registers",
    TABLE(params),
    TABLE(rules),
    TABLE(values),
    TABLE(stages),
    TABLE(regions),
    TABLE(presets),
    .prelude = "common/elements",
    .batches = "1",
    .guard = { "GUARD ? 1 : BLKM", "GUARD ? 1 : BLKN", "GUARD ? 1 : KT" },
    // A band's tiles are counted in an index.
    .most = { NULL, "ORDER == 2 && INDEX == 32 && GROUP > BLKN ? 2147483647 / GROUP * BLKN : 0" },
    .tile = { "BLKM", "BLKN", "KT" },
    .edges = { "TM; WGM", "VEC; TN; WGN * VEC; FILL ? ADDERS : 1", "KU" },
    .unit_parts = "FILL",
    .rank = "LOCAL_IS_GLOBAL ? 0 : TM * TN * 64 / (TM + TN) + (LOCALA + LOCALB) * 100"
            " + (ITEMS == 128 || ITEMS == 256 ? 200 : 0) - (FILL > 0) * 300",
};
