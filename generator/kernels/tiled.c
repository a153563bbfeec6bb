/* tiled: a work-group stages tiles of A and B in local memory, each work-item keeps a block of C in
 * registers. The common shape of GPU kernels since Volkov and Demmel 2008. */
#include "table.h"

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
    { "GUARD", "0 1", 1, "whether any shape is taken, or only whole tiles", NULL },
    { "INDEX", "32 64", 32, "bits of an index", NULL },
};

static const struct family_value values[] = {
    { "TN", "NV * VEC" },
    { "BLKM", "WGM * TM" },
    { "BLKN", "WGN * TN" },
    { "TILEBYTES", "REAL_BYTES * KT * (LOCALA * (BLKM + PAD) + LOCALB * (BLKN + PAD))" },
};

static const struct family_rule rules[] = {
    RULE_DOUBLE,
    { "WGM * WGN <= MAX_ITEMS", "work-group larger than the device's" },
    { "WGN <= MAX_ITEMS_X && WGM <= MAX_ITEMS_Y", "work-group longer than the device's" },
    { "TILEBYTES <= LOCAL_BYTES", "tiles exceed local memory" },
    { "KT % KU == 0", "a tile's depth is not a multiple of the unrolling" },
    { "VEC == 1 || VEC * REAL_BYTES <= max(VECTOR_BYTES, 16)", "vectors wider than the device's" },
    { "(TM + 1) * TN * REAL_BYTES <= REGISTER_BYTES", "the block of C exceeds the registers" },
    { "LOCALA || LOCALB || PAD == 0", "padding without local memory" },
    { "ceil_div(BLKM * KT, WGM * WGN) <= 32 && ceil_div(BLKN * KT, WGM * WGN) <= 32",
      "too many loads per work-item and tile" },
};

static const struct family_stage stages[] = {
    { "multiply", NULL, "tiled.cl.in", NULL, NULL, "A B",
      "N M", "BLKN; BLKM", "WGN; WGM", "TILEBYTES",
      "M N K ALPHA BETA A A_OFFSET LDA B B_OFFSET LDB C C_OFFSET LDC" },
};

static const struct family_preset presets[] = {
    { "gpu-64", "tiled WGM=16 WGN=16 TM=4 NV=4 VEC=1 KT=16 KU=4 PAD=1",
      "Volkov and Demmel 2008", NO_FIGURE },
    { "gpu-128", "tiled WGM=16 WGN=16 TM=8 NV=2 VEC=4 KT=16 KU=4", NULL, NO_FIGURE },
};

extern const struct family family_tiled;
const struct family family_tiled = {
    .name = "tiled",
    .meaning = "tiles of A and B staged in local memory, a block of C in registers",
    TABLE(params),
    TABLE(rules),
    TABLE(values),
    TABLE(stages),
    TABLE(presets),
    .prelude = "element.cl.in",
    .guard = { "GUARD ? 1 : BLKM", "GUARD ? 1 : BLKN", "GUARD ? 1 : KT" },
    .rank = "LOCAL_IS_GLOBAL ? 0 : TM * TN * 64 / (TM + TN) + (LOCALA + LOCALB) * 100"
            " + (WGM * WGN == 128 || WGM * WGN == 256 ? 200 : 0)",
};
