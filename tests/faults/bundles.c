/* bundles.c: see bundles.h. */
#include "bundles.h"

#include "reader.h"

#include "kiln/kiln.h"

/* Of the longest text and more. */
enum { TEXT_BYTES = 1024 };

/* Of one kernel each. Their last newline is the one that ends a line. */
static const char texts[][TEXT_BYTES] = { {
    "kernel void staged_a(int m, int k, global const float *a, int at, int ld,\n"
    "    global float *packed, long start)\n"
    "{\n"
    "    const int p = get_global_id(0), i = get_global_id(1);\n"
    "    packed[start + (long) i * k + p] = a[at + i * ld + p];\n"
    "}"
}, {
    "kernel void staged_b(int n, int k, global const float *b, int at, int ld,\n"
    "    global float *packed, long start)\n"
    "{\n"
    "    const int j = get_global_id(0), p = get_global_id(1);\n"
    "    packed[start + (long) p * n + j] = b[at + p * ld + j];\n"
    "}"
}, {
    "kernel void staged_multiply(int n, int k, float alpha, float beta,\n"
    "    global const float *a, long a_start, global const float *b, long b_start,\n"
    "    global float *c, int at, int ld)\n"
    "{\n"
    "    const int j = get_global_id(0), i = get_global_id(1), here = at + i * ld + j;\n"
    "    float sum = 0;\n"
    "    for (int p = 0; p < k; p++)\n"
    "        sum += a[a_start + i * k + p] * b[b_start + p * n + j];\n"
    "    c[here] = beta == 0 ? alpha * sum : alpha * sum + beta * c[here];\n"
    "}"
}, {
    "kernel void imaged_copy(int k, global const float *a, int at, int ld,\n"
    "    global float *work, long start)\n"
    "{\n"
    "    const int p = get_global_id(0), i = get_global_id(1);\n"
    "    work[start + (long) i * k + p] = a[at + i * ld + p];\n"
    "}"
}, {
    "kernel void imaged_multiply(int k, float alpha, float beta, read_only image1d_buffer_t work,\n"
    "    long start, global const float *b, int b_at, int b_ld, global float *c, int at, int ld)\n"
    "{\n"
    "    const int j = get_global_id(0), i = get_global_id(1), here = at + i * ld + j;\n"
    "    float sum = 0;\n"
    "    for (int p = 0; p < k; p++) {\n"
    "        const int place = start + i * k + p;\n"
    "        const uint4 pixel = read_imageui(work, place / 4);\n"
    "        const uint bits = place % 4 == 0 ? pixel.x : place % 4 == 1 ? pixel.y\n"
    "            : place % 4 == 2 ? pixel.z : pixel.w;\n"
    "        sum += as_float(bits) * b[b_at + p * b_ld + j];\n"
    "    }\n"
    "    c[here] = beta == 0 ? alpha * sum : alpha * sum + beta * c[here];\n"
    "}"
}, {
    "kernel void split_multiply(int m, int n, int k, float alpha, float beta,\n"
    "    global const float *a, int a_at, int a_ld, global const float *b, int b_at, int b_ld,\n"
    "    global float *work, long start, global float *c, int at, int ld)\n"
    "{\n"
    "    const int j = get_global_id(0), i = get_global_id(1), here = at + i * ld + j;\n"
    "    float sum = 0;\n"
    "    for (int p = 0; p < k; p++)\n"
    "        sum += a[a_at + i * a_ld + p] * b[b_at + p * b_ld + j];\n"
    "    if (i < m / 2)\n"
    "        c[here] = beta == 0 ? alpha * sum : alpha * sum + beta * c[here];\n"
    "    else\n"
    "        work[start + i * n + j] = sum;\n"
    "}"
}, {
    "kernel void split_add(int m, int n, float alpha, float beta, global const float *work,\n"
    "    long start, global float *c, int at, int ld)\n"
    "{\n"
    "    const int j = get_global_id(0), i = get_global_id(1), here = at + i * ld + j;\n"
    "    const float sum = alpha * work[start + i * n + j];\n"
    "    if (i >= m / 2)\n"
    "        c[here] = beta == 0 ? sum : sum + beta * c[here];\n"
    "}"
}, {
    "kernel void plain_multiply(int k, float alpha, float beta, global const float *a, int a_at,\n"
    "    int a_ld, global const float *b, int b_at, int b_ld, global float *c, int at, int ld)\n"
    "{\n"
    "    const int j = get_global_id(0), i = get_global_id(1), here = at + i * ld + j;\n"
    "    float sum = 0;\n"
    "    for (int p = 0; p < k; p++)\n"
    "        sum += a[a_at + i * a_ld + p] * b[b_at + p * b_ld + j];\n"
    "    c[here] = beta == 0 ? alpha * sum : alpha * sum + beta * c[here];\n"
    "}"
} };

enum { STAGED, IMAGED = 3, SPLIT = 5, PLAIN_TEXT = 7, NUM_TEXTS = 8 };

static const uint32_t lines[NUM_TEXTS] = {
    0, TEXT_BYTES, 2 * TEXT_BYTES, 3 * TEXT_BYTES, 4 * TEXT_BYTES, 5 * TEXT_BYTES, 6 * TEXT_BYTES,
    7 * TEXT_BYTES,
};
static const uint16_t symbols[NUM_TEXTS] = { 0, 1, 2, 3, 4, 5, 6, 7 };

#define POOL                                                                        \
    .pool = { .text_bytes = sizeof texts, .num_lines = NUM_TEXTS, .text = texts[0], \
              .num_symbols = NUM_TEXTS, .lines = lines, .symbols = symbols }

/* One work-item an element. */
#define EACH(x, y)                                              \
    .work_dim = 2, .dim = { KILN_DIM_##x, KILN_DIM_##y }, .tile = { 1, 1 }, .local = { 1, 1 }

static const struct kiln_stage staged_stages[] = {
    { .entry = "staged_a", EACH(K, M), .num_args = 7,
      .args = { KILN_ARG_M, KILN_ARG_K, KILN_ARG_A, KILN_ARG_A_OFFSET, KILN_ARG_LDA,
                KILN_ARG_PACKED_A, KILN_ARG_PACKED_A_AT },
      .prepares = KILN_PREPARED_A },
    { .entry = "staged_b", EACH(N, K), .num_args = 7,
      .args = { KILN_ARG_N, KILN_ARG_K, KILN_ARG_B, KILN_ARG_B_OFFSET, KILN_ARG_LDB,
                KILN_ARG_PACKED_B, KILN_ARG_PACKED_B_AT },
      .prepares = KILN_PREPARED_B },
    { .entry = "staged_multiply", EACH(N, M), .num_args = 11,
      .args = { KILN_ARG_N, KILN_ARG_K, KILN_ARG_ALPHA, KILN_ARG_BETA, KILN_ARG_PACKED_A,
                KILN_ARG_PACKED_A_AT, KILN_ARG_PACKED_B, KILN_ARG_PACKED_B_AT, KILN_ARG_C,
                KILN_ARG_C_OFFSET, KILN_ARG_LDC } },
};

static const struct kiln_stage imaged_stages[] = {
    { .entry = "imaged_copy", EACH(K, M), .num_args = 6,
      .args = { KILN_ARG_K, KILN_ARG_A, KILN_ARG_A_OFFSET, KILN_ARG_LDA, KILN_ARG_WORKSPACE,
                KILN_ARG_REGION_0 } },
    { .entry = "imaged_multiply", EACH(N, M), .num_args = 11,
      .args = { KILN_ARG_K, KILN_ARG_ALPHA, KILN_ARG_BETA, KILN_ARG_WORKSPACE_IMAGE,
                KILN_ARG_REGION_0, KILN_ARG_B, KILN_ARG_B_OFFSET, KILN_ARG_LDB, KILN_ARG_C,
                KILN_ARG_C_OFFSET, KILN_ARG_LDC } },
};

static const struct kiln_stage split_stages[] = {
    { .entry = "split_multiply", EACH(N, M), .num_args = 16,
      .args = { KILN_ARG_M, KILN_ARG_N, KILN_ARG_K, KILN_ARG_ALPHA, KILN_ARG_BETA, KILN_ARG_A,
                KILN_ARG_A_OFFSET, KILN_ARG_LDA, KILN_ARG_B, KILN_ARG_B_OFFSET, KILN_ARG_LDB,
                KILN_ARG_WORKSPACE, KILN_ARG_REGION_0, KILN_ARG_C, KILN_ARG_C_OFFSET,
                KILN_ARG_LDC } },
    { .entry = "split_add", EACH(N, M), .num_args = 9,
      .args = { KILN_ARG_M, KILN_ARG_N, KILN_ARG_ALPHA, KILN_ARG_BETA, KILN_ARG_WORKSPACE,
                KILN_ARG_REGION_0, KILN_ARG_C, KILN_ARG_C_OFFSET, KILN_ARG_LDC } },
};

static const struct kiln_stage plain_stages[] = {
    { .entry = "plain_multiply", EACH(N, M), .num_args = 12,
      .args = { KILN_ARG_K, KILN_ARG_ALPHA, KILN_ARG_BETA, KILN_ARG_A, KILN_ARG_A_OFFSET,
                KILN_ARG_LDA, KILN_ARG_B, KILN_ARG_B_OFFSET, KILN_ARG_LDB, KILN_ARG_C,
                KILN_ARG_C_OFFSET, KILN_ARG_LDC } },
};

static const struct kiln_region staged_regions[] = {
    { .dim = { KILN_DIM_M, KILN_DIM_K }, .round = { 1, 1 }, .element_bytes = sizeof(cl_float),
      .holds = KILN_PREPARED_A },
    { .dim = { KILN_DIM_K, KILN_DIM_N }, .round = { 1, 1 }, .element_bytes = sizeof(cl_float),
      .holds = KILN_PREPARED_B },
};

static const struct kiln_region imaged_regions[] = {
    { .dim = { KILN_DIM_M, KILN_DIM_K }, .round = { 1, 4 }, .element_bytes = sizeof(cl_float) },
};

static const struct kiln_region split_regions[] = {
    { .dim = { KILN_DIM_M, KILN_DIM_N }, .round = { 1, 1 }, .element_bytes = sizeof(cl_float) },
};

/* Their hashes and bytes are filled in at first use. */
static struct kiln_program staged_programs[] = {
    { .first_symbol = STAGED, .num_symbols = 3 },
    { .first_symbol = PLAIN_TEXT, .num_symbols = 1 },
};

static struct kiln_program imaged_programs[] = {
    { .first_symbol = IMAGED, .num_symbols = 2 },
    { .first_symbol = PLAIN_TEXT, .num_symbols = 1 },
};

static struct kiln_program split_programs[] = {
    { .first_symbol = SPLIT, .num_symbols = 2 },
    { .first_symbol = PLAIN_TEXT, .num_symbols = 1 },
};

#define PLAIN \
    { \
        SINGLE, .name = "plain", .program = 1, .num_stages = 1, .stages = plain_stages \
    }

static const struct kiln_recipe staged_recipes[] = {
    { SINGLE, .name = "staged", .num_stages = 3, .stages = staged_stages, .num_regions = 2,
      .regions = staged_regions },
    PLAIN,
};

static const struct kiln_recipe imaged_recipes[] = {
    { SINGLE, .name = "imaged", .num_stages = 2, .stages = imaged_stages, .num_regions = 1,
      .regions = imaged_regions },
    PLAIN,
};

static const struct kiln_recipe split_recipes[] = {
    { SINGLE, .name = "split", .num_stages = 2, .stages = split_stages, .num_regions = 1,
      .regions = split_regions },
    PLAIN,
};

static const struct kiln_bundle *with_hashes(const struct kiln_bundle *bundle,
        struct kiln_program *programs)
{
    for (uint32_t i = 0; i < bundle->num_programs; i++) {
        size_t bytes = 0;
        programs[i].text_bytes = UINT32_MAX;
        programs[i].hash = kiln_pool_hash(&bundle->pool, &programs[i], &bytes);
        programs[i].text_bytes = (uint32_t) bytes;
    }
    return bundle;
}

const struct kiln_bundle *staged_bundle(void)
{
    static const struct kiln_bundle bundle = {
        .format = KILN_BUNDLE_FORMAT,
        .name = "staged",
        .num_programs = 2,
        .num_recipes = 2,
        .programs = staged_programs,
        .recipes = staged_recipes,
        POOL,
    };
    return with_hashes(&bundle, staged_programs);
}

const struct kiln_bundle *imaged_bundle(void)
{
    static const struct kiln_bundle bundle = {
        .format = KILN_BUNDLE_FORMAT,
        .name = "imaged",
        .num_programs = 2,
        .num_recipes = 2,
        .programs = imaged_programs,
        .recipes = imaged_recipes,
        POOL,
    };
    return with_hashes(&bundle, imaged_programs);
}

const struct kiln_bundle *split_bundle(void)
{
    static const struct kiln_bundle bundle = {
        .format = KILN_BUNDLE_FORMAT,
        .name = "split",
        .num_programs = 2,
        .num_recipes = 2,
        .programs = split_programs,
        .recipes = split_recipes,
        POOL,
    };
    return with_hashes(&bundle, split_programs);
}
