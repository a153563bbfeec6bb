/* blocked: the kernels of the literature, from the naive one to register blocks with double
 * buffers. One table holds the parameters of Steinsland 2011, Lien 2012, Nugteren 2014 and Fabeiro,
 * Andrade and Fraguela (HPL); its presets are their published configurations (README.md). A default
 * search leaves it out. */
#include "../../kernels/table.h"

static const struct family_param params[] = {
    { "LM", "1 2 4 8 16 32", 8, "work-items of a work-group along M", "HPL lszx" },
    { "LN", "1 2 4 8 16 32 64 128 256", 8, "work-items of a work-group along N", "HPL lszy" },
    { "TM", "1 2 4 8 16", 1, "rows of C per work-item", "HPL bszy, Nugteren WPTN" },
    { "TN", "1 2 4 8 16", 1, "columns of C per work-item", "HPL bszx, Nugteren WPTM" },
    { "VA", "1 2 4 8 16", 1, "width of loads of A from global memory", "HPL vA" },
    { "VB", "1 2 4 8 16", 1, "width of loads of B from global memory", "HPL vB" },
    { "VEC", "1 2 4 8 16", 1, "width of the vectors of C", "HPL vC, Nugteren WIDTH" },
    { "KT", "2 4 8 16 32 64 128 256 512", 8, "depth of a tile", "HPL tW, Nugteren TSK" },
    { "KU", "1 2 4 8", 1, "depth of a register block", "HPL uf, Steinsland" },
    { "COPYA", "0 1 2", 0, "A through local memory; 2: rows padded by one", "HPL copyA" },
    { "COPYB", "0 1 2", 0, "B through local memory; 2: rows padded by one", "HPL copyB" },
    { "REGA", "0 1", 0, "A read into registers before use", "Steinsland: private memory" },
    { "REGB", "0 1", 0, "B read into registers before use", "Steinsland: private memory" },
    { "AHEAD", "0 1", 0, "B's registers read one block early", "Steinsland 2011, A.1" },
    { "FLIPA", "0 1", 0, "A transposed on its way into local memory", "Steinsland" },
    { "FLIPB", "0 1", 0, "B transposed on its way into local memory", "Steinsland" },
    { "ORDER", "12 21 102 120 201 210", 12, "loops over rows 0, columns 1, depth 2; 12 is 012",
      "HPL order" },
    { "MAP", "0 1", 0, "a work-item's elements: side by side, or strided", "Nugteren" },
    { "BUFS", "1 2", 1, "buffers of a tile; 2: the next is fetched early", "Nugteren 9" },
    { "PREA", "0 1", 0, "A transposed in global memory beforehand", "Nugteren 5" },
    { "SHUF", "0 1", 0, "A's registers shared by shuffles", "Nugteren 8" },
    { "XM", "0 1", 0, "axis 0 of a work-group: along N, or along M", "HPL x" },
    { "GUARD", "0 1", 1, "whether any shape is taken, or only whole tiles", "Nugteren 10" },
    { "INDEX", "32 64", 32, "bits of an index", NULL },
};

static const struct family_value values[] = {
    { "NV", "TN / VEC" },
    { "BLKM", "LM * TM" },
    { "BLKN", "LN * TN" },
    // Along axis 0 of a work-group lies M. A side of one work-item never does: where a loop with a
    // barrier is not entered, PoCL 3.1 would run what follows twice for the first work-item.
    { "X", "XM ? LM > 1 || LN == 1 : LN == 1 && LM > 1" },
    { "AT", "TA != PREA" },                      // A is K x M as the multiplication sees it
    { "AKM", "FLIPA != AT" },                    // A's tile is KT x BLKM, not BLKM x KT
    { "BKM", "FLIPB == TB" },                    // B's tile is KT x BLKN, not BLKN x KT
    // A transposed operand is read in single elements where the tile's other side has no vectors.
    { "AVS", "(AT ? BLKM : KT) % VA ? 1 : VA" },
    { "BVS", "(TB ? KT : BLKN) % VB ? 1 : VB" },
    { "AWIDTH", "(AKM ? BLKM : KT) + (COPYA == 2)" },
    { "BWIDTH", "(BKM ? BLKN : KT) + (COPYB == 2)" },
    { "AELEMENTS", "COPYA ? (AKM ? KT : BLKM) * AWIDTH : 0" },
    { "BELEMENTS", "COPYB ? (BKM ? KT : BLKN) * BWIDTH : 0" },
    { "TILEBYTES", "REAL_BYTES * BUFS * (AELEMENTS + BELEMENTS)" },
};

static const struct family_rule rules[] = {
    RULE_DOUBLE,
    RULE_STACK("LM * LN * TM * TN"),
    { "LM * LN <= MAX_ITEMS", "work-group larger than the device's" },
    { "(X ? LM : LN) <= MAX_ITEMS_X && (X ? LN : LM) <= MAX_ITEMS_Y",
      "work-group longer than the device's" },
    { "!PREA || 256 <= MAX_ITEMS", "the transposition's work-group is larger than the device's" },
    { "TILEBYTES <= LOCAL_BYTES", "tiles exceed local memory" },
    { "!SHUF || SHUFFLES", "the device has no shuffles between registers" },
    { "TN % VEC == 0", "a work-item's columns are not a multiple of the vector" },
    { "KT % KU == 0", "a tile's depth is not a multiple of the register block" },
    { "TM * TN <= 128 && TM * NV * KU <= 256", "the block in registers is too large" },
    { "COPYA ? (PREA ? BLKM : KT) % VA == 0 : VA == 1 || (KU % VA == 0 && VA <= 8 && REGA)",
      "vectors of A do not divide the tile or the register block" },
    { "COPYB ? BLKN % VB == 0 : VB <= VEC",
      "vectors of B do not divide the tile or are wider than those of C" },
    { "(COPYA || !FLIPA) && (COPYB || !FLIPB)", "transposed on the way without local memory" },
    { "BUFS == 1 || COPYA || COPYB", "two buffers without local memory" },
    { "!AHEAD || (REGB && !COPYB && !GUARD && ORDER >= 201)",
      "B ahead wants whole tiles, B in registers from global memory, and depth outermost" },
    { "!SHUF || (COPYA && REGA && !X && TM <= LN && TM <= 8)",
      "shuffles need A in local memory and a row of work-items in a sub-group" },
};

#define TRANSPOSE_ARGS(rows, cols) \
    rows " as ${I} rows; " cols " as ${I} cols; A as __global const ${T} *restrict X; " \
    "A_OFFSET as ${I} x_offset; LDA as ${I} ldx; WORKSPACE as __global ${T} *restrict work; " \
    "REGION_0 as long at"

static const struct family_stage stages[] = {
    { "transpose", "PREA && !TA", "blocked/transpose", NULL,
      "K M", "16; 16", "16; 16", "16 * 17 * REAL_BYTES",
      TRANSPOSE_ARGS("M", "K") },
    { "transpose", "PREA && TA", "blocked/transpose", NULL,
      "M K", "16; 16", "16; 16", "16 * 17 * REAL_BYTES",
      TRANSPOSE_ARGS("K", "M") },
    { "multiply", "!PREA && !X", "blocked/blocked", NULL,
      "N M", "BLKN; BLKM", "LN; LM", "TILEBYTES",
      "M N K ALPHA BETA A A_OFFSET LDA B B_OFFSET LDB C C_OFFSET LDC" },
    { "multiply", "!PREA && X", "blocked/blocked", NULL,
      "M N", "BLKM; BLKN", "LM; LN", "TILEBYTES",
      "M N K ALPHA BETA A A_OFFSET LDA B B_OFFSET LDB C C_OFFSET LDC" },
    { "multiply", "PREA && !X", "blocked/blocked", NULL,
      "N M", "BLKN; BLKM", "LN; LM", "TILEBYTES",
      "M N K ALPHA BETA WORKSPACE as __global const ${T} *restrict work; REGION_0 as long a_at; "
      "B B_OFFSET LDB C C_OFFSET LDC" },
    { "multiply", "PREA && X", "blocked/blocked", NULL,
      "M N", "BLKM; BLKN", "LM; LN", "TILEBYTES",
      "M N K ALPHA BETA WORKSPACE as __global const ${T} *restrict work; REGION_0 as long a_at; "
      "B B_OFFSET LDB C C_OFFSET LDC" },
};

static const struct family_region regions[] = {
    { "PREA", "M K", "1; 1", "ELEM_BYTES" },
};

/* ---- The published configurations ---- */

/* Of the five versions only the two that won are printed; the extents of the others are ours. */
#define STEINSLAND(version, parameters, precision, ...) \
    { "steinsland-" version, "blocked GUARD=0 " parameters, precision, \
      "Steinsland 2011, " version, { __VA_ARGS__ } }
#define STEINSLAND_BLOCK "LM=4 LN=16 TM=4 TN=1 MAP=1 KT=16 "

#define LIEN(listing, parameters, device) \
    { "lien-" listing, "blocked GUARD=0 LM=8 LN=8 KT=8 " parameters, 's', \
      "Lien 2012, " listing, { device, "nn" } }

/* His matrices are column-major: his A is our B, and his M our N. */
#define NUGTEREN(kernel, parameters) \
    { "nugteren-" kernel, "blocked " parameters, 's', "Nugteren 2014, kernel " kernel, \
      { "Tesla K40m", "nn" } }
#define NUGTEREN_2D "LM=16 LN=16 TM=8 TN=8 KT=16 PREA=1 MAP=1 COPYB=1 REGA=1 REGB=1 ORDER=210 "

/* Fig. 2 lays rows along x: LM = lszx and TM = bszy. szx = M / bszy and szy = N / bszx follow. */
#define HPL(parameters, copya, copyb, order) \
    "blocked GUARD=0 XM=1 REGA=1 REGB=1 " parameters " COPYA=" copya " COPYB=" copyb \
    " ORDER=" order
#define HPL_TABLE_4 "Fabeiro, Andrade and Fraguela, Table 4"

static const struct family_preset presets[] = {
    STEINSLAND("v1", STEINSLAND_BLOCK, 0, NULL),
    STEINSLAND("v2", STEINSLAND_BLOCK "COPYA=2 COPYB=2 FLIPA=1", 0, NULL),
    STEINSLAND("v3", "LM=1 LN=64 TM=16 KT=16 KU=4 COPYA=1 REGB=1 ORDER=201", 0, NULL),
    STEINSLAND("v4", STEINSLAND_BLOCK "KU=4 REGA=1 REGB=1", 0, NULL),
    STEINSLAND("v5", STEINSLAND_BLOCK "KU=4 COPYA=2 COPYB=2 FLIPA=1 REGA=1 REGB=1", 0, NULL),
    STEINSLAND("a1", "LM=1 LN=64 TM=16 KT=16 KU=4 COPYA=2 FLIPA=1 REGB=1 AHEAD=1 ORDER=201",
            's', "Radeon HD 5870, HD 5750", "nn"),
    STEINSLAND("a2", "LM=8 LN=8 KT=2 KU=2 REGA=1 REGB=1", 's', "Tesla C2070", "nn", 0, 260),
    LIEN("a1", "COPYA=1 COPYB=1 FLIPA=1 FLIPB=1", "GeForce GTX 570, Radeon HD 5870"),
    LIEN("a2", "COPYA=1 COPYB=1 KU=4 REGA=1 REGB=1", "Tesla C2050"),
    NUGTEREN("1", "LM=32 LN=32 KT=32 GUARD=0"),
    NUGTEREN("2", "LM=32 LN=32 KT=32 COPYA=1 COPYB=1 GUARD=0"),
    NUGTEREN("3", "LM=4 LN=32 TM=8 MAP=1 KT=32 COPYA=1 COPYB=1 GUARD=0"),
    NUGTEREN("4-w1", "LM=32 LN=32 KT=32 COPYA=1 COPYB=1 GUARD=0"),
    NUGTEREN("4-w2", "LM=32 LN=16 TN=2 VA=2 VB=2 VEC=2 KT=32 COPYA=1 COPYB=1 GUARD=0"),
    NUGTEREN("4-w4", "LM=32 LN=8 TN=4 VA=4 VB=4 VEC=4 KT=32 COPYA=1 COPYB=1 GUARD=0"),
    NUGTEREN("4-w8", "LM=32 LN=4 TN=8 VA=8 VB=8 VEC=8 KT=32 COPYA=1 COPYB=1 GUARD=0"),
    NUGTEREN("5", "LM=4 LN=32 TM=8 MAP=1 KT=16 PREA=1 COPYA=2 FLIPA=1 COPYB=1 GUARD=0"),
    NUGTEREN("6", NUGTEREN_2D "COPYA=2 FLIPA=1 GUARD=0"),
    NUGTEREN("7", NUGTEREN_2D "COPYA=1 VA=4 VB=4 GUARD=0"),
    NUGTEREN("8", NUGTEREN_2D "COPYA=1 VA=4 VB=4 SHUF=1 GUARD=0"),
    NUGTEREN("9", NUGTEREN_2D "COPYA=1 VA=4 VB=4 BUFS=2 GUARD=0"),
    NUGTEREN("10", NUGTEREN_2D "COPYA=1 VA=4 VB=4 BUFS=2"),
    { "hpl-cpu-1024",
      HPL("LM=8 LN=64 TM=4 TN=16 KT=32 KU=1 VA=8 VB=8 VEC=8", "2", "0", "201"),
      's', HPL_TABLE_4, { "2 x Xeon E5-2660", "nn", 1024, 318.0 } },
    { "hpl-cpu-2048",
      HPL("LM=8 LN=128 TM=4 TN=16 KT=32 KU=1 VA=8 VB=8 VEC=8", "2", "0", "201"),
      's', HPL_TABLE_4, { "2 x Xeon E5-2660", "nn", 2048, 304.33 } },
    { "hpl-cpu-4096",
      HPL("LM=2 LN=256 TM=4 TN=16 KT=256 KU=8 VA=16 VB=16 VEC=16", "1", "0", "12"),
      's', HPL_TABLE_4, { "2 x Xeon E5-2660", "nn", 4096, 241.75 } },
    { "hpl-cpu-8192",
      HPL("LM=32 LN=32 TM=4 TN=16 KT=32 KU=4 VA=16 VB=16 VEC=16", "2", "0", "201"),
      's', HPL_TABLE_4, { "2 x Xeon E5-2660", "nn", 8192, 230.57 } },
    { "hpl-nvidia-1024",
      HPL("LM=2 LN=64 TM=8 TN=4 KT=32 KU=2 VA=2 VB=4 VEC=4", "2", "0", "210"),
      's', HPL_TABLE_4, { "Tesla K20m", "nn", 1024, 969.52 } },
    { "hpl-nvidia-2048",
      HPL("LM=4 LN=64 TM=4 TN=8 KT=256 KU=4 VA=2 VB=4 VEC=4", "2", "0", "102"),
      's', HPL_TABLE_4, { "Tesla K20m", "nn", 2048, 999.64 } },
    { "hpl-nvidia-4096",
      HPL("LM=16 LN=16 TM=8 TN=8 KT=32 KU=2 VA=2 VB=2 VEC=2", "2", "0", "102"),
      's', HPL_TABLE_4, { "Tesla K20m", "nn", 4096, 1026.54 } },
    { "hpl-nvidia-8192",
      HPL("LM=2 LN=128 TM=8 TN=8 KT=32 KU=2 VA=4 VB=8 VEC=8", "2", "0", "210"),
      's', HPL_TABLE_4, { "Tesla K20m", "nn", 8192, 1028.37 } },
    { "hpl-amd-1024",
      HPL("LM=4 LN=32 TM=4 TN=8 KT=128 KU=1 VA=4 VB=8 VEC=8", "2", "0", "102"),
      's', HPL_TABLE_4, { "FirePro S9150", "nn", 1024, 2126.22 } },
    { "hpl-amd-2048",
      HPL("LM=1 LN=128 TM=8 TN=8 KT=256 KU=2 VA=4 VB=8 VEC=8", "2", "0", "120"),
      's', HPL_TABLE_4, { "FirePro S9150", "nn", 2048, 2630.91 } },
    { "hpl-amd-4096",
      HPL("LM=4 LN=16 TM=8 TN=8 KT=32 KU=2 VA=4 VB=8 VEC=8", "2", "0", "12"),
      's', HPL_TABLE_4, { "FirePro S9150", "nn", 4096, 2164.73 } },
    { "hpl-amd-8192",
      HPL("LM=1 LN=128 TM=8 TN=8 KT=32 KU=4 VA=4 VB=8 VEC=8", "2", "0", "12"),
      's', HPL_TABLE_4, { "FirePro S9150", "nn", 8192, 1310.21 } },
    { "hpl-phi-1024",
      HPL("LM=1 LN=16 TM=4 TN=16 KT=8 KU=2 VA=1 VB=16 VEC=16", "0", "0", "120"),
      's', HPL_TABLE_4, { "Xeon Phi 5110P", "nn", 1024, 288.91 } },
    { "hpl-phi-2048",
      HPL("LM=1 LN=8 TM=8 TN=16 KT=512 KU=8 VA=8 VB=16 VEC=16", "0", "0", "120"),
      's', HPL_TABLE_4, { "Xeon Phi 5110P", "nn", 2048, 387.11 } },
    { "hpl-phi-4096",
      HPL("LM=16 LN=32 TM=2 TN=16 KT=32 KU=1 VA=8 VB=16 VEC=16", "2", "0", "201"),
      's', HPL_TABLE_4, { "Xeon Phi 5110P", "nn", 4096, 391.62 } },
    { "hpl-phi-8192",
      HPL("LM=16 LN=16 TM=2 TN=16 KT=32 KU=1 VA=16 VB=2 VEC=2", "2", "0", "21"),
      's', HPL_TABLE_4, { "Xeon Phi 5110P", "nn", 8192, 342.15 } },
};

extern const struct family family_blocked;
const struct family family_blocked = {
    .name = "blocked",
    .meaning = "the kernels of the literature: blocks of C, local memory, registers, or neither",
    .literature = true,
    TABLE(params),
    TABLE(rules),
    TABLE(values),
    TABLE(stages),
    TABLE(regions),
    TABLE(presets),
    .prelude = "common/element",
    .guard = { "GUARD ? 1 : BLKM", "GUARD ? 1 : BLKN", "GUARD ? 1 : KT" },
    .tile = { "BLKM", "BLKN", "KT" },
    .edges = { "TM; LM; VA; PREA * 16", "VEC; TN; LN; VB", "KU; VA; VB; PREA * 16" },
};
