/* direct: every work-item reads A and B from global memory; any shape, no workspace. It is the
 * family of small and thin problems, and of the generic bundle. */
#include "../table.h"

static const struct family_param params[] = {
    { "WGM", "1 2 4 8 16 32", 8, "work-items of a work-group along M", "Steinsland 2011" },
    { "WGN", "1 2 4 8 16 32 64", 8, "work-items of a work-group along N", "Steinsland 2011" },
    { "TM", "1 2 4 6 8 12 14", 1, "rows of C per work-item", "Matsumoto 2012 m_wi" },
    { "NV", "1 2 3 4", 1, "vectors of C's row per work-item", "Matsumoto 2012 n_wi = NV VEC" },
    { "VEC", "1 2 4 8 16", 1, "width of a vector", "Matsumoto 2012 vw" },
    { "KU", "1 2 4", 1, "steps of k in the loop's body", "Matsumoto 2012 k_wi" },
    { "INDEX", "32 64", 64, "bits of an index", NULL },
};

static const struct family_value values[] = {
    { "TN", "NV * VEC" },
    // Numbers in a vector.
    { "LANES", "VEC * (1 + COMPLEX)" },
};

static const struct family_rule rules[] = {
    RULE_DOUBLE,
    { "WGM * WGN <= MAX_ITEMS", "work-group larger than the device's" },
    { "WGN <= MAX_ITEMS_X && WGM <= MAX_ITEMS_Y", "work-group longer than the device's" },
    { "LANES <= 16", "OpenCL's vectors have at most 16 numbers" },
    { "VEC == 1 || LANES * REAL_BYTES <= max(VECTOR_BYTES, 16)",
      "vectors wider than the device's" },
    { "(TM + 1 + COMPLEX) * NV * LANES * REAL_BYTES <= REGISTER_BYTES",
      "the block of C exceeds the registers" },
};

#define MULTIPLY(when, factors, more) \
    { "multiply", when, "direct/direct", NULL, \
      "N M", "WGN * TN; WGM * TM", "WGN; WGM", NULL, \
      "M N K " factors ALL_OPERANDS "TRIANGLE" more }

static const struct family_stage stages[] = {
    MULTIPLY("!COMPLEX", "ALPHA BETA ", ""),
    MULTIPLY("COMPLEX", COMPLEX_FACTORS "CONJ_B ", " HERMITIAN"),
};

static const struct family_preset presets[] = {
    { "cpu-block", "direct WGM=1 WGN=1 TM=12 NV=2 VEC=16", 0, "spike: register block of a CPU" },
    { "cpu-double", "direct WGM=1 WGN=1 TM=12 NV=2 VEC=8", 'd' },
    { "cpu-complex", "direct WGM=1 WGN=1 TM=6 NV=3 VEC=8", 'c' },
    { "cpu-complex-double", "direct WGM=1 WGN=1 TM=6 NV=3 VEC=4", 'z' },
    { "cpu-complex-thin", "direct WGM=1 WGN=1 TM=1 NV=4 VEC=8", 'c' },
    { "gpu-complex", "direct WGM=8 WGN=8 TM=2 NV=2 VEC=1 INDEX=32", 'c' },
    { "cpu-thin", "direct WGM=1 WGN=1 TM=1 NV=4 VEC=16" },
    { "gpu", "direct WGM=8 WGN=8 TM=4 NV=1 VEC=4 INDEX=32" },
};

extern const struct family family_direct;
const struct family family_direct = {
    .name = "direct",
    .serves = "HALF || SINGLE || DOUBLE || COMPLEX",
    .triangles = 1,
    .meaning = "a block of C in registers, operands straight from global memory, any shape",
    TABLE(params),
    TABLE(rules),
    TABLE(values),
    TABLE(stages),
    TABLE(presets),
    .prelude = "common/elements",
    .batches = "1",
    .guard = { "1", "1", "1" },
    .tile = { "WGM * TM", "WGN * TN", "KU" },
    .edges = { "TM", "VEC; TN", NULL },
    .rank = "TM * TN * 64 / (TM + NV)"
            " + (IS_CPU ? (WGM * WGN == 1) * 200 + (VEC * REAL_BYTES == VECTOR_BYTES) * 200"
            " : (WGM * WGN >= 64) * 200 + (TM * TN <= 32) * 100)",
};
