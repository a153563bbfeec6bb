/* fused: for CPUs. Each work-group packs the panels of B that it needs itself, into local memory,
 * and multiplies them while they are in its cache: one launch, no workspace (Goto and van de Geijn
 * 2008, with the packing of B, and of A too if so wanted, fused into the loop). */
#include "../table.h"

static const struct family_param params[] = {
    { "TM", "1 2 4 6 8 10 12 14", 8, "rows of C in registers", "Goto 2008 m_r" },
    { "NV", "1 2 3 4", 3, "vectors of C's row in registers", "Goto 2008 n_r = NV VEC" },
    { "VEC", "2 4 8 16", 4, "width of a vector", "Matsumoto 2012 vw" },
    { "MB", "4 8 16 32 64", 16, "blocks of rows that share a packed panel",
      "Goto 2008 m_c = MB TM" },
    { "KC", "64 128 192 256 384 512", 128, "depth of a slice of K", "Goto 2008 k_c" },
    { "KU", "1 2 4", 1, "steps of k in the loop's body", "Matsumoto 2012 k_wi" },
    { "TURNS", "1 2 4 8", 2, "work-groups for each compute unit", NULL },
    { "PANELS", "1 2 4 8 16 32", 1, "panels of B packed together, unless B alone is packed and transposed", NULL },
    { "PACKA", "0 1", 0, "whether A is packed, for all panels that are packed together",
      "Goto 2008" },
    { "PLANES", "0 1", 0, "complex: whether the parts of packed elements have vectors of their own",
      "Van Zee 2017 4m" },
};

static const struct family_value values[] = {
    { "TN", "NV * VEC" },
    // Numbers in a vector, and in a row of a panel.
    { "LANES", "VEC * (1 + COMPLEX)" },
    { "ROW", "NV * LANES" },
    // Columns that are packed as one: of a vector, or of one of real and one of imaginary parts.
    { "SPAN", "VEC * (1 + PLANES)" },
    { "SPANS", "NV / (1 + PLANES)" },
    { "INDEX", "64" },
    { "ALIGNED_BYTES", "LANES * REAL_BYTES" },
    { "STEPS", HALVINGS_OF("LANES") },
    // Numbers of a block of A, of one k.
    { "COLUMN", "TM * (1 + COMPLEX)" },
    // The rows of a transposed B lie along K: slices are deeper in place of panels together.
    { "WIDE", "TB && !PACKA ? 1 : PANELS" },
    { "DEPTH", "TB && !PACKA ? min(KC * PANELS, max(KC, 256)) : KC" },
    // Elements in a line of a CPU's cache, and how many rows of A ahead are asked for.
    { "LINE", "64 / ELEM_BYTES" },
    { "AHEAD", "PANELS > 1 && !PACKA ? 16 : 0" },
    { "SHARED_BYTES", "(WIDE * (DEPTH + MB * TM) * ROW + PACKA * MB * COLUMN * DEPTH) * REAL_BYTES" },
    // Squares that are transposed where A is packed.
    { "SIDE", SQUARE_OF_ROWS },
    { "SIDE_STEPS", HALVINGS_OF("SIDE") },
};

static const struct family_rule rules[] = {
    RULE_DOUBLE,
    { "LANES <= 16", "OpenCL's vectors have at most 16 numbers" },
    { "LANES * REAL_BYTES <= max(VECTOR_BYTES, 16)", "vectors wider than the device's" },
    { "(TM + 1 + COMPLEX) * ROW * REAL_BYTES <= REGISTER_BYTES",
      "the block of C exceeds the registers" },
    { "!PACKA || PANELS > 1", "A is packed for panels that are packed together" },
    { "!PLANES || COMPLEX", "only complex elements have parts" },
    { "!PLANES || NV % 2 == 0", "of vectors for parts there are as many of each" },
    { "!PACKA || !COMPLEX || PLANES", "complex operands are packed on both sides as planes alone" },
    { "!PACKA || TM > 1", "A is packed by blocks of rows" },
    { "SHARED_BYTES <= LOCAL_BYTES", "a panel and the sums of slices of K exceed local memory" },
};

/* The text is the same for any number of work-groups. */
#define MULTIPLY(when, factors, more) \
    { "multiply", when, "fused/fused", NULL, \
      "UNITS", "TURNS", "1", "SHARED_BYTES", \
      "M N K " factors ALL_OPERANDS "TRIANGLE" more }

static const struct family_stage stages[] = {
    MULTIPLY("!COMPLEX", "ALPHA BETA ", ""),
    MULTIPLY("COMPLEX", COMPLEX_FACTORS "CONJ_B ", " HERMITIAN"),
};

#define BOTH " TURNS=1 PANELS=16 PACKA=1"
#define AS_PLANES " MB=32 KC=128 TURNS=1 PANELS=8 PACKA=1 PLANES=1"

static const struct family_preset presets[] = {
    { "fused-avx512", "fused TM=8 NV=3 VEC=16 MB=64 KC=384" },
    { "fused-avx512-double", "fused TM=8 NV=3 VEC=8 MB=64 KC=256", 'd' },
    { "fused-avx512-rows", "fused TM=8 NV=3 VEC=16 MB=16 KC=64 PANELS=4" },
    { "fused-avx512-rows-double", "fused TM=8 NV=3 VEC=8 MB=16 KC=64 PANELS=4", 'd' },
    // Both operands packed: slices and sums fit the second cache, of 2 MiB, 1 MiB ("less") or, on
    // CPUs with AVX2, 512 KiB.
    { "fused-avx512-both", "fused TM=12 NV=2 VEC=16 MB=32 KC=256" BOTH, 0, "Goto 2008" },
    { "fused-avx512-both-less", "fused TM=12 NV=2 VEC=16 MB=16 KC=192" BOTH, 0, "Goto 2008" },
    { "fused-avx512-both-double", "fused TM=8 NV=3 VEC=8 MB=32 KC=192" BOTH, 'd', "Goto 2008" },
    { "fused-avx512-both-less-double",
      "fused TM=8 NV=3 VEC=8 MB=16 KC=192" BOTH, 'd', "Goto 2008" },
    { "fused-avx2-both", "fused TM=6 NV=2 VEC=8 MB=16 KC=192" BOTH, 0, "Goto 2008" },
    { "fused-avx2-both-double", "fused TM=6 NV=2 VEC=4 MB=16 KC=192" BOTH, 'd', "Goto 2008" },
    { "fused-avx512-flat", "fused TM=6 NV=4 VEC=16 MB=64 KC=384" },
    { "fused-avx2", "fused TM=6 NV=2 VEC=8 MB=32 KC=64 PANELS=8", 0, "BLIS haswell: 6 x 16" },
    { "fused-avx2-double",
      "fused TM=6 NV=2 VEC=4 MB=32 KC=64 PANELS=8", 'd', "BLIS haswell: 6 x 8" },
    { "fused-neon", "fused TM=8 NV=3 VEC=4 MB=32 KC=64 PANELS=4", 0, "BLIS armv8a: 8 x 12" },
    { "fused-avx512-complex", "fused TM=8 NV=3 VEC=8 MB=64 KC=192", 'c' },
    { "fused-avx512-complex-double", "fused TM=8 NV=3 VEC=4 MB=64 KC=128", 'z' },
    { "fused-avx2-complex", "fused TM=6 NV=2 VEC=4 MB=64 KC=128", 'c' },
    { "fused-avx2-complex-double", "fused TM=6 NV=2 VEC=2 MB=64 KC=128", 'z' },
    { "fused-avx512-planes", "fused TM=6 NV=4 VEC=8" AS_PLANES, 'c', "Van Zee 2017 4m" },
    { "fused-avx512-planes-double", "fused TM=6 NV=4 VEC=4" AS_PLANES, 'z', "Van Zee 2017 4m" },
    { "fused-avx2-planes", "fused TM=6 NV=2 VEC=4" AS_PLANES, 'c', "Van Zee 2017 4m" },
    { "fused-avx2-planes-double", "fused TM=6 NV=2 VEC=2" AS_PLANES, 'z', "Van Zee 2017 4m" },
    // For 32 KiB of local memory.
    { "fused-32k-avx512", "fused TM=8 NV=3 VEC=16 MB=4 KC=128" },
    { "fused-32k-avx512-double", "fused TM=8 NV=3 VEC=8 MB=4 KC=128", 'd' },
    { "fused-32k-avx2", "fused TM=6 NV=2 VEC=8 MB=8 KC=64 PANELS=4" },
    { "fused-32k-avx2-double", "fused TM=6 NV=2 VEC=4 MB=8 KC=64 PANELS=4", 'd' },
    { "fused-32k-neon", "fused TM=8 NV=2 VEC=4 MB=16 KC=512" },
};

extern const struct family family_fused;
const struct family family_fused = {
    .name = "fused",
    .serves = "HALF || SINGLE || DOUBLE || COMPLEX",
    .meaning = "a work-group packs panels of B, or of both, into local memory and multiplies them, "
               "one work-item per work-group",
    TABLE(params),
    TABLE(rules),
    TABLE(values),
    TABLE(stages),
    TABLE(presets),
    .prelude = "common/elements",
    .triangles = 1,
    .batches = "1",
    .guard = { "1", "1", "1" },
    .tile = { "TM", "SPAN", "KU" },
    .edges = { "MB * TM", "TN; PANELS * TN", "SPAN; KC; DEPTH" },
    .unit_turns = "TURNS",
    .block = { "TM", "TN" },
    // Multiply-adds per element loaded, as long as the block's rows hide the latency of fma.
    // Panels together are of use where B is large, and cost little elsewhere.
    .rank = "IS_CPU * (1000 + TM * TN * 64 / (TM + NV) * (LANES * REAL_BYTES == VECTOR_BYTES ? 2 : 1)"
            " + min(MB * TM, 256) + 8 * min(PANELS, 8) - KU)",
};
