// Elements of half are computed with as float. A product and a sum are fused where the device does
// that in one step: FP_CONTRACT, on by default, allows it.
static float load(__global const half *p)
{
    return vload_half(0, p);
}

static void store(float x, __global half *p)
{
    vstore_half(x, 0, p);
}

// Copies X, whose lines meet in the product, to the workspace in blocks of 4 x 8, one for each
// work-group. What lies beyond `lines` and K becomes 0.
// X is stored K x lines; the copy is column block after column block, each K x 8.
__kernel __attribute__((reqd_work_group_size(16, 4, 1)))
void kiln_hgemm_blockmajor_copya(int lines, int K,
        __global const half *restrict X, int x_offset, int ldx,
        __global float *restrict work, long at)
{
    const int x = get_local_id(0), y = get_local_id(1);
    const int first_line = (int) get_group_id(0) * 8;
    const int first_k = (int) get_group_id(1) * 4;
    // The block as the copy sees it: its rows, its columns, and how many of them X has.
    const int rows = K - first_k, cols = lines - first_line;
    const int depth = (K + 3) / 4 * 4, ld = 8;
    __global float *out = work + at + first_line * depth + first_k * ld;
    X += x_offset + first_k * ldx + first_line;
    for (int row = y; row < 4; row += 4)
        for (int col = x; col < 8; col += 16)
            out[row * ld + col] = row < rows && col < cols ? load(X + row * ldx + col) : 0;
}

// Copies X, whose lines meet in the product, to the workspace in blocks of 4 x 8, one for each
// work-group. What lies beyond `lines` and K becomes 0.
// X is stored K x lines; the copy is column block after column block, each K x 8.
__kernel __attribute__((reqd_work_group_size(16, 4, 1)))
void kiln_hgemm_blockmajor_copyb(int lines, int K,
        __global const half *restrict X, int x_offset, int ldx,
        __global float *restrict work, long at)
{
    const int x = get_local_id(0), y = get_local_id(1);
    const int first_line = (int) get_group_id(0) * 8;
    const int first_k = (int) get_group_id(1) * 4;
    // The block as the copy sees it: its rows, its columns, and how many of them X has.
    const int rows = K - first_k, cols = lines - first_line;
    const int depth = (K + 3) / 4 * 4, ld = 8;
    __global float *out = work + at + first_line * depth + first_k * ld;
    X += x_offset + first_k * ldx + first_line;
    for (int row = y; row < 4; row += 4)
        for (int col = x; col < 8; col += 16)
            out[row * ld + col] = row < rows && col < cols ? load(X + row * ldx + col) : 0;
}

// C = alpha op(A) op(B) + beta C by blocks of 8 x 8 x 4; C is M x N, row-major.
// A lies in the workspace column block after column block, each K x 8, and B likewise, each K x 8.
// What lies in the workspace is padded with zeros to whole blocks.
// Each of 4 x 4 work-items computes 2 x 2 of the work-group's block.

// A vector of A, out of the workspace.
static float2 fetch_a(__global const float *X, int at)
{
    return vload2(0, X + at);
}

// A vector of B, out of the workspace.
static float2 fetch_b(__global const float *X, int at)
{
    return vload2(0, X + at);
}

// A vector of what the work-items share.
static float2 shared(__local const float *tile, int at)
{
    return vload2(0, tile + at);
}

// C = x + beta C for a vector of C, of which the first `left` elements are inside.
static void update(float2 x, float beta, __global half *C, int left)
{
    // One by one: PoCL 3.1 may store a vector of halfs as if it were aligned to its size.
    float parts[2];
    vstore2(x, 0, parts);
    for (int i = 0; i < 2 && i < left; i++)
        store(beta == 0 ? parts[i] : parts[i] + beta * load(C + i), C + i);
}

__kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void kiln_hgemm_blockmajor_multiply(int M, int N, int K,
        float alpha, float beta,
        __global const float *restrict A, long a_at,
        __global const float *restrict B, long b_at,
        __global half *restrict C, int c_offset, int ldc)
{
    const int item = get_local_id(0);
    const int tile_m = item / 4 * 2, tile_n = item % 4 * 2;
    const int first_m = (int) get_group_id(1) * 8;
    const int first_n = (int) get_group_id(0) * 8;
    const int depth = (K + 3) / 4 * 4;
    // Where the work-group's blocks of A and B begin, and how far it is to the next ones.
    int a = 0;
    A += a_at;
    const int lda = 8;
    const int next_a = 32;
    a += first_m * depth;
    int b = 0;
    B += b_at;
    const int ldb = 8;
    const int next_b = 32;
    b += first_n * depth;
    __local float b_tile[32];
    float2 c0_0 = 0;
    float2 c1_0 = 0;

    for (int k0 = 0; k0 < K; k0 += 4, a += next_a, b += next_b) {
        for (int e = item; e < 16; e += 16) {
            const int line = e / 4, at = e % 4 * 2;
            const float2 x = fetch_b(B, b + line * ldb + at);
            vstore2(x, e, b_tile);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 4; k += 2) {
            // 2 steps of k: 2 rows of A by 2 columns of B.
            const float2 a0_0 = fetch_a(A, a + k * lda + tile_m);
            const float2 a1_0 = fetch_a(A, a + (k + 1) * lda + tile_m);
            const float2 b0_0 = shared(b_tile, k * 8 + tile_n);
            const float2 b1_0 = shared(b_tile, (k + 1) * 8 + tile_n);
            c0_0 += a0_0.s0 * b0_0;
            c1_0 += a0_0.s1 * b0_0;
            c0_0 += a1_0.s0 * b1_0;
            c1_0 += a1_0.s1 * b1_0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    const int row = first_m + tile_m, col = first_n + tile_n;
    C += c_offset;
    if (row < M) {
        if (col < N)
            update(alpha * c0_0, beta, C + row * ldc + col, N - col);
    }
    if (row + 1 < M) {
        if (col < N)
            update(alpha * c1_0, beta, C + (row + 1) * ldc + col, N - col);
    }
}
