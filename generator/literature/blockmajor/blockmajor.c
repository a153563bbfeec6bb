/* blockmajor: the kernels of Matsumoto, Nakasato and Sedukhin 2012, whose operands lie in memory by
 * rows, by column blocks (CBL) or by row blocks (RBL). What is not taken as it is stored is copied
 * to the workspace first, transposed if need be and padded with zeros. A default search leaves it
 * out. */
#include "../../kernels/table.h"

static const struct family_param params[] = {
    { "BLKM", "8 16 32 64 128 256", 32, "rows of C per work-group", "Matsumoto 2012 m_l" },
    { "BLKN", "8 16 32 64 128", 32, "columns of C per work-group", "Matsumoto 2012 n_l" },
    { "KT", "4 8 16 32 64 128 256", 16, "depth of a block", "Matsumoto 2012 k_l" },
    { "TM", "1 2 4 8 16", 4, "rows of C per work-item", "Matsumoto 2012 m_s" },
    { "TN", "1 2 4 8 16", 4, "columns of C per work-item", "Matsumoto 2012 n_s" },
    { "KU", "1 2 4 8", 4, "depth of a register block", "Matsumoto 2012 k_s" },
    { "VEC", "1 2 4 8", 2, "width of a vector", "Matsumoto 2012 Vector" },
    { "LOCALA", "0 1", 0, "whether A is shared in local memory", "Matsumoto 2012 Shared" },
    { "LOCALB", "0 1", 0, "whether B is shared in local memory", "Matsumoto 2012 Shared" },
    { "IMAGEA", "0 1", 0, "whether A is read as an image", "Matsumoto 2012 Image" },
    { "IMAGEB", "0 1", 0, "whether B is read as an image", "Matsumoto 2012 Image" },
    { "LAYOUT", "0 1 2", 0, "row-major, column blocks (CBL), row blocks (RBL)", "Matsumoto 2012" },
    { "FLIP", "0 1", 0, "row-major: A copied to K x M and B to K x N where they are not",
      "Matsumoto 2012, after Du et al." },
    { "PAD", "0 1", 0, "row-major: copied with zero padding, for any shape", "Matsumoto 2012" },
    { "INDEX", "32 64", 32, "bits of an index", NULL },
};

static const struct family_value values[] = {
    { "LM", "BLKM / TM" },
    { "LN", "BLKN / TN" },
    { "NV", "TN / VEC" },
    { "AKM", "LAYOUT || FLIP || TA" },           // A is K x M as the multiplication sees it
    { "BKM", "LAYOUT || FLIP || !TB" },          // B is K x N
    { "COPYA", "LAYOUT || PAD || IMAGEA || AKM != TA" },
    { "COPYB", "LAYOUT || PAD || IMAGEB || BKM == TB" },
    { "GUARD", "COPYA || COPYB" },               // C may end inside a block
    { "AWIDTH", "AKM ? BLKM : KT" },             // of a line of a block
    { "BWIDTH", "BKM ? BLKN : KT" },
    { "TILEBYTES", "REAL_BYTES * KT * (LOCALA * BLKM + LOCALB * BLKN)" },
};

static const struct family_rule rules[] = {
    RULE_DOUBLE,
    RULE_STACK("LM * LN * TM * TN"),
    { "BLKM % TM == 0 && BLKN % TN == 0", "a work-item's block exceeds the work-group's" },
    { "LM * LN <= MAX_ITEMS && LM * LN <= MAX_ITEMS_X", "work-group larger than the device's" },
    { "!(LAYOUT || FLIP || PAD || IMAGEA || IMAGEB) || "
      "(64 <= MAX_ITEMS && 16 <= MAX_ITEMS_X && 4 <= MAX_ITEMS_Y)",
      "the copying kernels' work-group is larger than the device's" },
    { "!(IMAGEA || IMAGEB) || IMAGE_PIXELS", "the device has no images over buffers" },
    { "!(IMAGEA || IMAGEB) || VEC * REAL_BYTES <= 16", "vectors wider than a pixel, 16 bytes" },
    { "TILEBYTES <= LOCAL_BYTES && 16 * 17 * REAL_BYTES <= LOCAL_BYTES",
      "tiles exceed local memory" },
    { "KT % KU == 0", "a block's depth is not a multiple of the register block" },
    // Whatever the transposes: as stored, vectors of A lie along M or K.
    { "TM % VEC == 0 && TN % VEC == 0 && (LAYOUT || FLIP || KU % VEC == 0)",
      "a work-item's block is not a multiple of the vector" },
    { "TM * TN <= 128 && TM * NV * KU <= 256", "the block in registers is too large" },
    { "LAYOUT == 0 || (!FLIP && !PAD)", "block-major layouts are transposed and padded anyway" },
};

/* How the multiplication takes an operand: when, and by which arguments. */
#define STORED(X) "!COPY" #X, #X " " #X "_OFFSET LD" #X " "
#define COPIED(X, x, region) "COPY" #X " && !IMAGE" #X, \
    "WORKSPACE as __global const ${R} *restrict " #X "; REGION_" #region " as long " #x "_at; "
#define IMAGE(X, x, region) "IMAGE" #X, \
    "WORKSPACE_IMAGE as __read_only image1d_buffer_t " #X "; " \
    "REGION_" #region " as long " #x "_at; "
#define COPY_ARGS(lines, X, region) \
    lines " as ${I} lines; K " #X " as __global const ${T} *restrict X; " \
    #X "_OFFSET as ${I} x_offset; LD" #X " as ${I} ldx; " \
    "WORKSPACE as __global ${R} *restrict work; REGION_" #region " as long at"
#define MULTIPLY(operand_a, operand_b) MULTIPLY_OF(operand_a, operand_b)
#define MULTIPLY_OF(when_a, a, when_b, b) \
    { "multiply", when_a " && " when_b, "blockmajor/blockmajor", NULL, "N M", \
      "BLKN; BLKM", "LM * LN; 1", "TILEBYTES", "M N K ALPHA BETA " a b "C C_OFFSET LDC" }

static const struct family_stage stages[] = {
    { "copya", "COPYA", "blockmajor/copy", "LINES = BLKM; KM = AKM; STOREDKM = TA",
      "M K", "BLKM; KT", "16; 4",
      "AKM == TA ? 0 : 16 * 17 * REAL_BYTES", COPY_ARGS("M", A, 0) },
    { "copyb", "COPYB", "blockmajor/copy", "LINES = BLKN; KM = BKM; STOREDKM = !TB",
      "N K", "BLKN; KT", "16; 4",
      "BKM != TB ? 0 : 16 * 17 * REAL_BYTES", COPY_ARGS("N", B, 1) },
    MULTIPLY(STORED(A), STORED(B)), MULTIPLY(STORED(A), COPIED(B, b, 1)),
    MULTIPLY(STORED(A), IMAGE(B, b, 1)), MULTIPLY(COPIED(A, a, 0), STORED(B)),
    MULTIPLY(COPIED(A, a, 0), COPIED(B, b, 1)), MULTIPLY(COPIED(A, a, 0), IMAGE(B, b, 1)),
    MULTIPLY(IMAGE(A, a, 0), STORED(B)), MULTIPLY(IMAGE(A, a, 0), COPIED(B, b, 1)),
    MULTIPLY(IMAGE(A, a, 0), IMAGE(B, b, 1)),
};

static const struct family_region regions[] = {
    { "COPYA", "M K", "BLKM; KT", "REAL_BYTES" },
    { "COPYB", "N K", "BLKN; KT", "REAL_BYTES" },
};

/* A row of Table II: the fastest kernel of its kind on a Radeon HD 7970. */
#define TABLE_2(name, precision, pair, gflops, parameters) \
    { "matsumoto-" name, "blockmajor " parameters, precision, "Matsumoto 2012, Table II", \
      { "Radeon HD 7970", pair, 0, gflops } }

static const struct family_preset presets[] = {
    TABLE_2("dgemm-cbl", 'd', "tn", 848,
            "BLKM=64 BLKN=16 KT=16 TM=4 TN=4 KU=2 VEC=2 LOCALB=1 LAYOUT=1"),
    TABLE_2("dgemm-rbl", 'd', "tn", 812,
            "BLKM=64 BLKN=16 KT=16 TM=4 TN=4 KU=2 VEC=2 LOCALB=1 LAYOUT=2"),
    TABLE_2("dgemm-tn", 'd', "tn", 790, "BLKM=256 BLKN=8 KT=16 TM=4 TN=4 KU=2 VEC=2 LAYOUT=0"),
    TABLE_2("dgemm-nn", 'd', "nn", 689,
            "BLKM=32 BLKN=128 KT=128 TM=4 TN=4 KU=4 VEC=4 LOCALA=1 LAYOUT=0"),
    TABLE_2("sgemm-cbl", 's', "tn", 2646,
            "BLKM=128 BLKN=128 KT=256 TM=16 TN=8 KU=4 VEC=4 LAYOUT=1"),
    TABLE_2("sgemm-rbl", 's', "tn", 2577,
            "BLKM=128 BLKN=32 KT=8 TM=8 TN=8 KU=8 VEC=2 LOCALB=1 LAYOUT=2"),
    TABLE_2("sgemm-tn", 's', "tn", 2488, "BLKM=128 BLKN=64 KT=4 TM=8 TN=4 KU=4 VEC=4 LAYOUT=0"),
    TABLE_2("sgemm-nn", 's', "nn", 2382,
            "BLKM=128 BLKN=64 KT=256 TM=8 TN=4 KU=4 VEC=4 LAYOUT=0 IMAGEA=1"),
};

extern const struct family family_blockmajor;
const struct family family_blockmajor = {
    .name = "blockmajor",
    .meaning = "operands by rows, column blocks or row blocks, copied with zero padding",
    .literature = true,
    TABLE(params),
    TABLE(rules),
    TABLE(values),
    TABLE(stages),
    TABLE(regions),
    TABLE(presets),
    .prelude = "common/element",
    .tile = { "BLKM", "BLKN", "KT" },
    .edges = { "VEC; TM; COPYA * 16", "VEC; TN; COPYB * 16", "VEC; KU; GUARD * 16" },
    .guard = { "COPYA ? 1 : BLKM", "COPYB ? 1 : BLKN", "COPYA && COPYB ? 1 : KT" },
};
