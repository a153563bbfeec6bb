/* test_bundle.c: see test_bundle.h. Kernel bodies are empty: the fake driver runs none. */
#include "test_bundle.h"

#include "reader.h"

/* Of the longest text and more. */
enum { TEXT_BYTES = 512 };

/* For tables only: a plain kernel's text, its arguments, and its one stage. */
#define PLAIN_KERNEL(name, index, real, type)                                                     \
    "kernel void " name "(" index " m, " index " n, " index " k, " real " alpha,\n"               \
    "    global const " type " *a, " index " a_offset, " index " lda,\n"                          \
    "    global const " type " *b, " index " b_offset, " index " ldb,\n"                          \
    "    " real " beta, global " type " *c, " index " c_offset, " index " ldc)\n{\n}"
#define PLAIN_ARGS                                                                                \
    KILN_ARG_M, KILN_ARG_N, KILN_ARG_K, KILN_ARG_ALPHA, KILN_ARG_A, KILN_ARG_A_OFFSET,            \
    KILN_ARG_LDA, KILN_ARG_B, KILN_ARG_B_OFFSET, KILN_ARG_LDB, KILN_ARG_BETA, KILN_ARG_C,         \
    KILN_ARG_C_OFFSET, KILN_ARG_LDC
#define PLAIN_STAGE(name)                                                                         \
    {.entry = name, .work_dim = 2, .dim = {KILN_DIM_N, KILN_DIM_M}, .tile = {16, 16},             \
     .local = {16, 16}, .num_args = NUM_PLAIN_ARGS, .args = {PLAIN_ARGS}}

#define PLAIN_TILE .tile = { 16, 16, 1 }, .reach = { 16, 16, 1 }

/* Of one kernel each. Their last newline is the one that ends a line. */
static const char texts[][TEXT_BYTES] = {
    {PLAIN_KERNEL("aligned_mul", "int", "float", "float")},
    {"kernel void pack_a(int m, int k, global const float *a, int a_offset, int lda,\n"
     "    global float *packed_a, long a_at)\n"
     "{\n"
     "}"},
    {"kernel void pack_b(int k, int n, global const float *b, int b_offset, int ldb,\n"
     "    global double *packed_b, long b_at)\n"
     "{\n"
     "}"},
    {"kernel void packed_mul(global const float *packed_a, long a_at,\n"
     "    global const double *packed_b, long b_at,\n"
     "    int m, int n, int k, float alpha, float beta, global float *c, int c_offset, int ldc)\n"
     "{\n"
     "}"},
    {"kernel void pack_b_64(long k, long n, global const float *b, long b_offset, long ldb,\n"
     "    global float *work, long region)\n"
     "{\n"
     "}"},
    {"kernel void mul_64(long m, long n, long k, float alpha,\n"
     "    global const float *a, long a_offset, long lda, global float *work, long region,\n"
     "    float beta, global float *c, long c_offset, long ldc)\n"
     "{\n"
     "}"},
    {PLAIN_KERNEL("small_mul", "int", "float", "float")},
    {PLAIN_KERNEL("tn_mul", "int", "float", "float")},
    {PLAIN_KERNEL("double_mul", "int", "double", "double")},
    {PLAIN_KERNEL("generic_s_nn", "int", "float", "float")},
    {PLAIN_KERNEL("generic_s_nt", "int", "float", "float")},
    {PLAIN_KERNEL("generic_s_tn", "int", "float", "float")},
    {PLAIN_KERNEL("generic_s_tt", "int", "float", "float")},
    {PLAIN_KERNEL("generic_s_nn_64", "long", "float", "float")},
    {PLAIN_KERNEL("generic_s_nt_64", "long", "float", "float")},
    {PLAIN_KERNEL("generic_s_tn_64", "long", "float", "float")},
    {PLAIN_KERNEL("generic_s_tt_64", "long", "float", "float")},
    {PLAIN_KERNEL("generic_d_nn", "int", "double", "double")},
    {PLAIN_KERNEL("generic_d_nt", "int", "double", "double")},
    {PLAIN_KERNEL("generic_d_tn", "int", "double", "double")},
    {PLAIN_KERNEL("generic_d_tt", "int", "double", "double")},
    {PLAIN_KERNEL("generic_d_nn_64", "long", "double", "double")},
    {PLAIN_KERNEL("generic_d_nt_64", "long", "double", "double")},
    {PLAIN_KERNEL("generic_d_tn_64", "long", "double", "double")},
    {PLAIN_KERNEL("generic_d_tt_64", "long", "double", "double")},
    {PLAIN_KERNEL("generic_h_nn", "int", "float", "half")},
    {PLAIN_KERNEL("generic_h_nt", "int", "float", "half")},
    {PLAIN_KERNEL("generic_h_tn", "int", "float", "half")},
    {PLAIN_KERNEL("generic_h_tt", "int", "float", "half")},
    {PLAIN_KERNEL("generic_h_nn_64", "long", "float", "half")},
    {PLAIN_KERNEL("generic_h_nt_64", "long", "float", "half")},
    {PLAIN_KERNEL("generic_h_tn_64", "long", "float", "half")},
    {PLAIN_KERNEL("generic_h_tt_64", "long", "float", "half")},
};

#define LINES(i) TEXT_BYTES *(i), TEXT_BYTES *((i) + 1), TEXT_BYTES *((i) + 2)
static const uint32_t text_lines[] = {
    LINES(0), LINES(3), LINES(6), LINES(9), LINES(12), LINES(15), LINES(18), LINES(21),
    LINES(24), LINES(27), LINES(30),
};
static const uint16_t symbols[] = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
    24, 25, 26, 27, 28, 29, 30, 31, 32,
};
#define NUM_TEXTS (sizeof texts / sizeof *texts)
#define POOL                                                                                      \
    .pool = {.text_bytes = sizeof texts, .num_lines = NUM_TEXTS, .num_symbols = NUM_TEXTS,        \
             .text = texts[0], .lines = text_lines, .symbols = symbols}

static const struct kiln_program tuned_programs[] = {
    {.hash = 0x085631f26b2096b4u, .first_symbol = 0, .num_symbols = 1, .text_bytes = 218},
    {.hash = 0x78e745b85265f384u, .first_symbol = 1, .num_symbols = 3, .text_bytes = 449},
    {.hash = 0x5b221630a5a41a85u, .first_symbol = 4, .num_symbols = 2, .text_bytes = 330},
    {.hash = 0x3f929dcc48b797a2u, .first_symbol = 6, .num_symbols = 2, .text_bytes = 429},
    {.hash = 0xc77f6e6d263d3a64u, .first_symbol = 8, .num_symbols = 1, .text_bytes = 222},
};

static const struct kiln_program generic_programs[] = {
    {.hash = 0x4860f808c24a4b6du, .first_symbol = 9, .num_symbols = 4, .text_bytes = 876},
    {.hash = 0x857c46a1eb457a65u, .first_symbol = 13, .num_symbols = 4, .text_bytes = 924},
    {.hash = 0x3ec07cf4ccaffaadu, .first_symbol = 17, .num_symbols = 4, .text_bytes = 896},
    {.hash = 0x1cb7f3eaa837210du, .first_symbol = 21, .num_symbols = 4, .text_bytes = 944},
    {.hash = 0x247a146ca65ac67du, .first_symbol = 25, .num_symbols = 4, .text_bytes = 864},
    {.hash = 0x68e387b7a75acb5du, .first_symbol = 29, .num_symbols = 4, .text_bytes = 912},
};

static const struct kiln_stage aligned_stages[] = {
    {.entry = "aligned_mul", .work_dim = 2, .dim = {KILN_DIM_N, KILN_DIM_M}, .tile = {64, 32},
     .local = {16, 8}, .local_bytes = 8192, .num_args = NUM_PLAIN_ARGS, .args = {PLAIN_ARGS}},
};

static const struct kiln_stage packed_stages[] = {
    {.entry = "pack_a", .work_dim = 2, .dim = {KILN_DIM_K, KILN_DIM_M}, .tile = {4, 8},
     .local = {4, 8}, .num_args = 7,
     .args = {KILN_ARG_M, KILN_ARG_K, KILN_ARG_A, KILN_ARG_A_OFFSET, KILN_ARG_LDA,
              KILN_ARG_PACKED_A, KILN_ARG_PACKED_A_AT}, .prepares = KILN_PREPARED_A},
    {.entry = "pack_b", .work_dim = 1, .dim = {KILN_DIM_N}, .tile = {16}, .local = {16},
     .num_args = 7,
     .args = {KILN_ARG_K, KILN_ARG_N, KILN_ARG_B, KILN_ARG_B_OFFSET, KILN_ARG_LDB,
              KILN_ARG_PACKED_B, KILN_ARG_PACKED_B_AT}, .prepares = KILN_PREPARED_B},
    {.entry = "packed_mul", .work_dim = 3, .dim = {KILN_DIM_N, KILN_DIM_M, KILN_DIM_ONE},
     .tile = {64, 32, 1}, .local = {16, 8, 1}, .num_args = 12,
     .args = {KILN_ARG_PACKED_A, KILN_ARG_PACKED_A_AT, KILN_ARG_PACKED_B, KILN_ARG_PACKED_B_AT,
              KILN_ARG_M, KILN_ARG_N, KILN_ARG_K, KILN_ARG_ALPHA, KILN_ARG_BETA, KILN_ARG_C,
              KILN_ARG_C_OFFSET, KILN_ARG_LDC}},
};

static const struct kiln_region packed_regions[] = {
    {.dim = {KILN_DIM_M, KILN_DIM_K}, .round = {8, 4}, .element_bytes = 4,
     .holds = KILN_PREPARED_A},
    {.dim = {KILN_DIM_K, KILN_DIM_N}, .round = {4, 16}, .element_bytes = 8,
     .holds = KILN_PREPARED_B},
};

static const struct kiln_stage packed_64_stages[] = {
    {.entry = "pack_b_64", .work_dim = 1, .dim = {KILN_DIM_N}, .tile = {16}, .local = {16},
     .num_args = 7,
     .args = {KILN_ARG_K, KILN_ARG_N, KILN_ARG_B, KILN_ARG_B_OFFSET, KILN_ARG_LDB,
              KILN_ARG_WORKSPACE, KILN_ARG_REGION_0}},
    {.entry = "mul_64", .work_dim = 2, .dim = {KILN_DIM_N, KILN_DIM_M}, .tile = {64, 32},
     .local = {16, 8}, .num_args = 13,
     .args = {KILN_ARG_M, KILN_ARG_N, KILN_ARG_K, KILN_ARG_ALPHA, KILN_ARG_A, KILN_ARG_A_OFFSET,
              KILN_ARG_LDA, KILN_ARG_WORKSPACE, KILN_ARG_REGION_0, KILN_ARG_BETA, KILN_ARG_C,
              KILN_ARG_C_OFFSET, KILN_ARG_LDC}},
};

static const struct kiln_region packed_64_regions[] = {
    {.dim = {KILN_DIM_K, KILN_DIM_N}, .round = {1, 16}, .element_bytes = 4},
};

static const struct kiln_stage small_stages[] = { PLAIN_STAGE("small_mul") };
static const struct kiln_stage tn_stages[] = { PLAIN_STAGE("tn_mul") };
static const struct kiln_stage double_stages[] = { PLAIN_STAGE("double_mul") };

/* Of a call, of each k, and of each element of C where four units share these. */
#define TIME(call, depth, c)                                                                      \
    {{[KILN_TERM_CALL] = (call), [KILN_TERM_DEPTH] = (depth), [KILN_TERM_C] = (c) * 4 / 256.0f}}
static const struct kiln_time aligned_time = TIME(9e6f, 2000, 10);
static const struct kiln_time packed_time = TIME(10e6f, 100, 20);
static const struct kiln_time packed_64_time = TIME(20e6f, 100, 20);
static const struct kiln_time small_time = TIME(1e6f, 10000, 100);

const struct kiln_recipe tuned_recipes[NUM_TUNED] = {
    [TUNED_ALIGNED] = {
        .time = &aligned_time,
        .name = "tuned_aligned", .precision = KILN_SINGLE, .index_bits = 32,
            .program = PROGRAM_ALIGNED,
        .guard = {.m = 8, .n = 8, .k = 4, .a = 4, .b = 4, .c = 4},
        .tile = {32, 64, 1}, .reach = {32, 64, 1},
        .num_stages = 1, .stages = aligned_stages,
    },
    [TUNED_PACKED] = {
        .time = &packed_time,
        .name = "tuned_packed", .precision = KILN_SINGLE, .index_bits = 32,
            .program = PROGRAM_PACKED,
        .tile = {32, 64, 1}, .reach = {32, 64, 4},
        .num_stages = 3, .stages = packed_stages, .num_regions = 2, .regions = packed_regions,
    },
    [TUNED_PACKED_64] = {
        .time = &packed_64_time,
        .name = "tuned_packed_64", .precision = KILN_SINGLE, .index_bits = 64,
        .program = PROGRAM_PACKED_64, .tile = {32, 64, 1}, .reach = {32, 64, 1},
        .num_stages = 2, .stages = packed_64_stages,
        .num_regions = 1, .regions = packed_64_regions,
    },
    [TUNED_SMALL] = {
        .time = &small_time,
        .name = "tuned_small", .precision = KILN_SINGLE, .index_bits = 32, .program = PROGRAM_SMALL,
        PLAIN_TILE,
        .num_stages = 1, .stages = small_stages,
    },
    [TUNED_TN] = {
        .name = "tuned_tn", .precision = KILN_SINGLE, .transa = 1, .index_bits = 32,
        .program = PROGRAM_SMALL, PLAIN_TILE,
        .num_stages = 1, .stages = tn_stages,
    },
    [TUNED_DOUBLE] = {
        .name = "tuned_double", .precision = KILN_DOUBLE, .index_bits = 32,
            .program = PROGRAM_DOUBLE,
        PLAIN_TILE,
        .num_stages = 1, .stages = double_stages,
    },
};

const struct kiln_bundle tuned_bundle = {
    .format = KILN_BUNDLE_FORMAT, .name = "tuned", .provenance = "written by hand",
    .match = {.platform = "Stub*", .device = "Stub Dev*"}, POOL,
    .traits = {.compute_units = 4, .native_vector_float = 8, .local_bytes = 32768},
    .num_programs = NUM_TUNED_PROGRAMS, .num_recipes = NUM_TUNED,
    .programs = tuned_programs, .recipes = tuned_recipes,
};

static const struct kiln_stage generic_stages[] = {
    PLAIN_STAGE("generic_s_nn"),
    PLAIN_STAGE("generic_s_nt"),
    PLAIN_STAGE("generic_s_tn"),
    PLAIN_STAGE("generic_s_tt"),
    PLAIN_STAGE("generic_s_nn_64"),
    PLAIN_STAGE("generic_s_nt_64"),
    PLAIN_STAGE("generic_s_tn_64"),
    PLAIN_STAGE("generic_s_tt_64"),
    PLAIN_STAGE("generic_d_nn"),
    PLAIN_STAGE("generic_d_nt"),
    PLAIN_STAGE("generic_d_tn"),
    PLAIN_STAGE("generic_d_tt"),
    PLAIN_STAGE("generic_d_nn_64"),
    PLAIN_STAGE("generic_d_nt_64"),
    PLAIN_STAGE("generic_d_tn_64"),
    PLAIN_STAGE("generic_d_tt_64"),
    PLAIN_STAGE("generic_h_nn"),
    PLAIN_STAGE("generic_h_nt"),
    PLAIN_STAGE("generic_h_tn"),
    PLAIN_STAGE("generic_h_tt"),
    PLAIN_STAGE("generic_h_nn_64"),
    PLAIN_STAGE("generic_h_nt_64"),
    PLAIN_STAGE("generic_h_tn_64"),
    PLAIN_STAGE("generic_h_tt_64"),
};

static const struct kiln_recipe generic_recipes[] = {
    {.name = "generic_s_nn", .precision = KILN_SINGLE, .transa = 0, .transb = 0, .index_bits = 32,
     .program = 0, PLAIN_TILE, .num_stages = 1, .stages = &generic_stages[0]},
    {.name = "generic_s_nt", .precision = KILN_SINGLE, .transa = 0, .transb = 1, .index_bits = 32,
     .program = 0, PLAIN_TILE, .num_stages = 1, .stages = &generic_stages[1]},
    {.name = "generic_s_tn", .precision = KILN_SINGLE, .transa = 1, .transb = 0, .index_bits = 32,
     .program = 0, PLAIN_TILE, .num_stages = 1, .stages = &generic_stages[2]},
    {.name = "generic_s_tt", .precision = KILN_SINGLE, .transa = 1, .transb = 1, .index_bits = 32,
     .program = 0, PLAIN_TILE, .num_stages = 1, .stages = &generic_stages[3]},
    {.name = "generic_s_nn_64", .precision = KILN_SINGLE, .transa = 0, .transb = 0,
        .index_bits = 64,
     .program = 1, PLAIN_TILE, .num_stages = 1, .stages = &generic_stages[4]},
    {.name = "generic_s_nt_64", .precision = KILN_SINGLE, .transa = 0, .transb = 1,
        .index_bits = 64,
     .program = 1, PLAIN_TILE, .num_stages = 1, .stages = &generic_stages[5]},
    {.name = "generic_s_tn_64", .precision = KILN_SINGLE, .transa = 1, .transb = 0,
        .index_bits = 64,
     .program = 1, PLAIN_TILE, .num_stages = 1, .stages = &generic_stages[6]},
    {.name = "generic_s_tt_64", .precision = KILN_SINGLE, .transa = 1, .transb = 1,
        .index_bits = 64,
     .program = 1, PLAIN_TILE, .num_stages = 1, .stages = &generic_stages[7]},
    {.name = "generic_d_nn", .precision = KILN_DOUBLE, .transa = 0, .transb = 0, .index_bits = 32,
     .program = 2, PLAIN_TILE, .num_stages = 1, .stages = &generic_stages[8]},
    {.name = "generic_d_nt", .precision = KILN_DOUBLE, .transa = 0, .transb = 1, .index_bits = 32,
     .program = 2, PLAIN_TILE, .num_stages = 1, .stages = &generic_stages[9]},
    {.name = "generic_d_tn", .precision = KILN_DOUBLE, .transa = 1, .transb = 0, .index_bits = 32,
     .program = 2, PLAIN_TILE, .num_stages = 1, .stages = &generic_stages[10]},
    {.name = "generic_d_tt", .precision = KILN_DOUBLE, .transa = 1, .transb = 1, .index_bits = 32,
     .program = 2, PLAIN_TILE, .num_stages = 1, .stages = &generic_stages[11]},
    {.name = "generic_d_nn_64", .precision = KILN_DOUBLE, .transa = 0, .transb = 0,
        .index_bits = 64,
     .program = 3, PLAIN_TILE, .num_stages = 1, .stages = &generic_stages[12]},
    {.name = "generic_d_nt_64", .precision = KILN_DOUBLE, .transa = 0, .transb = 1,
        .index_bits = 64,
     .program = 3, PLAIN_TILE, .num_stages = 1, .stages = &generic_stages[13]},
    {.name = "generic_d_tn_64", .precision = KILN_DOUBLE, .transa = 1, .transb = 0,
        .index_bits = 64,
     .program = 3, PLAIN_TILE, .num_stages = 1, .stages = &generic_stages[14]},
    {.name = "generic_d_tt_64", .precision = KILN_DOUBLE, .transa = 1, .transb = 1,
        .index_bits = 64,
     .program = 3, PLAIN_TILE, .num_stages = 1, .stages = &generic_stages[15]},
    {.name = "generic_h_nn", .precision = KILN_HALF, .transa = 0, .transb = 0, .index_bits = 32,
     .program = 4, PLAIN_TILE, .num_stages = 1, .stages = &generic_stages[16]},
    {.name = "generic_h_nt", .precision = KILN_HALF, .transa = 0, .transb = 1, .index_bits = 32,
     .program = 4, PLAIN_TILE, .num_stages = 1, .stages = &generic_stages[17]},
    {.name = "generic_h_tn", .precision = KILN_HALF, .transa = 1, .transb = 0, .index_bits = 32,
     .program = 4, PLAIN_TILE, .num_stages = 1, .stages = &generic_stages[18]},
    {.name = "generic_h_tt", .precision = KILN_HALF, .transa = 1, .transb = 1, .index_bits = 32,
     .program = 4, PLAIN_TILE, .num_stages = 1, .stages = &generic_stages[19]},
    {.name = "generic_h_nn_64", .precision = KILN_HALF, .transa = 0, .transb = 0, .index_bits = 64,
     .program = 5, PLAIN_TILE, .num_stages = 1, .stages = &generic_stages[20]},
    {.name = "generic_h_nt_64", .precision = KILN_HALF, .transa = 0, .transb = 1, .index_bits = 64,
     .program = 5, PLAIN_TILE, .num_stages = 1, .stages = &generic_stages[21]},
    {.name = "generic_h_tn_64", .precision = KILN_HALF, .transa = 1, .transb = 0, .index_bits = 64,
     .program = 5, PLAIN_TILE, .num_stages = 1, .stages = &generic_stages[22]},
    {.name = "generic_h_tt_64", .precision = KILN_HALF, .transa = 1, .transb = 1, .index_bits = 64,
     .program = 5, PLAIN_TILE, .num_stages = 1, .stages = &generic_stages[23]},
};

const struct kiln_bundle generic_bundle = {
    .format = KILN_BUNDLE_FORMAT, .name = "generic", .provenance = "written by hand", POOL,
    .num_programs = sizeof generic_programs / sizeof *generic_programs,
    .num_recipes = sizeof generic_recipes / sizeof *generic_recipes,
    .programs = generic_programs, .recipes = generic_recipes,
};

const struct kiln_bundle *const kiln_linked_bundles[] = { &tuned_bundle, &generic_bundle, NULL };

void test_bundle_finish(const struct kiln_pool *pool, struct kiln_program *program)
{
    size_t bytes = 0;
    program->text_bytes = UINT32_MAX;
    program->hash = kiln_pool_hash(pool, program, &bytes);
    program->text_bytes = (uint32_t) bytes;
}

static size_t round_up(size_t value, size_t unit)
{
    return (value + unit - 1) / unit * unit;
}

size_t test_bundle_packed_bytes(size_t m, size_t n, size_t k, size_t *second_region)
{
    size_t first = round_up(m, 8) * round_up(k, 4) * 4;
    size_t start = round_up(first, KILN_REGION_ALIGN);
    *second_region = start / 8;
    return start + round_up(k, 4) * round_up(n, 16) * 8;
}
