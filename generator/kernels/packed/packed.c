/* packed: the CPU's family. Both operands are packed into panels once; then one work-item at a time
 * multiplies panels with a block of C in vector registers (Goto and van de Geijn 2008; BLIS). */
#include "../table.h"

static const struct family_param params[] = {
    { "TM", "1 2 3 4 6 8 10 12 14 16 20 24", 8, "rows of C in registers", "Goto 2008 m_r" },
    { "NV", "1 2 3 4", 2, "vectors of C's row in registers", "Goto 2008 n_r = NV VEC" },
    { "VEC", "2 4 8 16", 4, "width of a vector", "Matsumoto 2012 vw" },
    { "MP", "1 2 4 8 16", 4, "blocks of rows a work-group computes", "Goto 2008 m_c = MP TM" },
    { "NP", "1 2 4 8 16 32", 4, "blocks of columns a work-group computes", "Goto 2008 n_c" },
    { "KC", "0 128 256 384 512 1024", 0, "depth of a slice of K; 0 is all of K", "Goto 2008 k_c" },
    { "KU", "1 2 4", 1, "steps of k in the loop's body", "Matsumoto 2012 k_wi" },
    { "PACKA", "0 1", 1, "whether A is packed", "Goto 2008" },
};

static const struct family_value values[] = {
    { "TN", "NV * VEC" },
    // Numbers in a vector, and in a row of a panel of B.
    { "LANES", "VEC * (1 + COMPLEX)" },
    { "ROW", "NV * LANES" },
    // Numbers of a panel of A, of one k.
    { "COLUMN", "TM * (1 + COMPLEX)" },
    { "INDEX", "64" },
    { "DEPTH", "256" },
    // Squares that are transposed where A is packed.
    { "SIDE_A", SQUARE_OF_ROWS },
    { "HALVINGS_A", HALVINGS_OF("SIDE_A") },
    { "HALVINGS_B", HALVINGS_OF("VEC") },
    { "PACKED_BYTES", "REAL_BYTES * (1 + COMPLEX)" },
    { "SUMBYTES", "KC ? MP * TM * NP * ROW * REAL_BYTES : 0" },
};

static const struct family_rule rules[] = {
    RULE_DOUBLE,
    { "LANES <= 16", "OpenCL's vectors have at most 16 numbers" },
    { "LANES * REAL_BYTES <= max(VECTOR_BYTES, 16)", "vectors wider than the device's" },
    { "!COMPLEX || (PACKA && VEC > 1)", "complex elements are packed, and come by vectors" },
    { "(TM + 1 + COMPLEX) * ROW * REAL_BYTES <= REGISTER_BYTES",
      "the block of C exceeds the registers" },
    { "MP * TM <= 512 && NP * TN <= 1024", "a work-group's share of C is too large" },
    { "SUMBYTES <= LOCAL_BYTES", "the sums of slices of K exceed local memory" },
};

#define PACK_ARGS(lines, X) \
    lines " as long lines; K " #X " as __global const ${T} *restrict X; " \
    #X "_OFFSET as long x_offset; LD" #X " as long ldx; " \
    "PACKED_" #X " as __global ${R} *restrict packed; PACKED_" #X "_AT as long at"
#define PACK(name, when, text, lets, lines, width, X, more) \
    { name, when, text, lets, lines " K", width "; DEPTH", "1; 1", NULL, \
      PACK_ARGS(lines, X) more, #X }
#define MULTIPLY(when, operands, more) \
    { "multiply", when, "packed/packed", NULL, \
      "N M", "NP * TN; MP * TM", "1; 1", "SUMBYTES", \
      "M N K " operands "PACKED_B PACKED_B_AT C C_OFFSET LDC TRIANGLE" more }

static const struct family_stage stages[] = {
    PACK("packa", "PACKA && !COMPLEX", "packed/pack",
            "WIDTH = TM; CONTIGUOUS = TA; SIDE = SIDE_A; STEPS = HALVINGS_A", "M", "TM", A, ""),
    PACK("packb", "!COMPLEX", "packed/pack",
            "WIDTH = TN; CONTIGUOUS = !TB; SIDE = VEC; STEPS = HALVINGS_B", "N", "TN", B, ""),
    PACK("packa", "COMPLEX", "packed/pack:pairs", "WIDTH = TM; CONTIGUOUS = TA",
            "M", "TM", A, "; CONJ_A as int is_conjugated"),
    PACK("packb", "COMPLEX", "packed/pack:pairs", "WIDTH = TN; CONTIGUOUS = !TB",
            "N", "TN", B, "; CONJ_B as int is_conjugated"),
    MULTIPLY("PACKA && !COMPLEX", "ALPHA BETA PACKED_A PACKED_A_AT ", ""),
    MULTIPLY("!PACKA", "ALPHA BETA A A_OFFSET LDA ", ""),
    MULTIPLY("COMPLEX", "ALPHA ALPHA_IMAG BETA BETA_IMAG PACKED_A PACKED_A_AT ",
            " HERMITIAN"),
};

static const struct family_region regions[] = {
    { "PACKA", "M K", "TM; 1", "PACKED_BYTES", "A" },
    { NULL, "N K", "TN; 1", "PACKED_BYTES", "B" },
};

static const struct family_preset presets[] = {
    { "avx512-wide",
      "packed TM=6 NV=4 VEC=16 MP=16 NP=1 KC=512 KU=4 PACKA=0", 0, "found by tuning" },
    { "avx512-wide-double",
      "packed TM=6 NV=4 VEC=8 MP=16 NP=8 KC=384 KU=4", 'd', "found by tuning" },
    { "avx512", "packed TM=12 NV=2 VEC=16 MP=2 NP=16", 0, "BLIS skx: 12 x 32" },
    { "avx512-double", "packed TM=14 NV=2 VEC=8 MP=2 NP=16", 'd', "BLIS skx: 14 x 16" },
    { "avx2", "packed TM=6 NV=2 VEC=8 MP=4 NP=16", 0, "BLIS haswell: 6 x 16" },
    { "avx2-double", "packed TM=6 NV=2 VEC=4 MP=4 NP=16", 'd', "BLIS haswell: 6 x 8" },
    // Slices of K, of which a block of A fits the second cache and a panel of B the first, which for
    // AVX-512 has 32 to 48 KiB.
    { "avx2-sliced", "packed TM=6 NV=2 VEC=8 MP=8 NP=4 KC=256", 0, "Goto 2008" },
    { "avx2-sliced-double", "packed TM=6 NV=2 VEC=4 MP=8 NP=4 KC=256", 'd', "Goto 2008" },
    { "avx512-sliced", "packed TM=12 NV=2 VEC=16 MP=16 NP=4 KC=384", 0, "Goto 2008" },
    { "avx512-sliced-double", "packed TM=14 NV=2 VEC=8 MP=8 NP=8 KC=256", 'd', "Goto 2008" },
    { "avx512-complex", "packed TM=12 NV=2 VEC=8 MP=2 NP=16", 'c' },
    { "avx512-complex-double", "packed TM=12 NV=2 VEC=4 MP=2 NP=16", 'z' },
    { "avx2-complex", "packed TM=6 NV=2 VEC=4 MP=16 NP=8 KC=256", 'c' },
    { "avx2-complex-double", "packed TM=6 NV=2 VEC=2 MP=16 NP=8 KC=256", 'z' },
    { "neon", "packed TM=8 NV=3 VEC=4 MP=4 NP=16", 0, "BLIS armv8a: 8 x 12" },
    { "thin", "packed TM=4 NV=1 VEC=16 MP=1 NP=4" },
};

extern const struct family family_packed;
const struct family family_packed = {
    .name = "packed",
    .serves = "HALF || SINGLE || DOUBLE || COMPLEX",
    .triangles = 1,
    .meaning = "panels packed once, then a block of C in registers, one work-item per work-group",
    TABLE(params),
    TABLE(rules),
    TABLE(values),
    TABLE(stages),
    TABLE(regions),
    TABLE(presets),
    .prelude = "common/elements",
    .guard = { "1", "1", "1" },
    .tile = { "MP * TM", "NP * TN", "KU" },
    .edges = { "TM", "VEC; TN", "DEPTH; KC" },
    // Multiply-adds per element loaded, as long as the block's rows hide the latency of fma.
    .rank = "IS_CPU * (1000 + TM * TN * 64 / (TM + NV) * (LANES * REAL_BYTES == VECTOR_BYTES ? 2 : 1)"
            " - (MP * TM > 96 ? MP * TM : 0) - KU)",
};
