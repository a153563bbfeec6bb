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

// C = alpha op(A) op(B) + beta C by blocks; C is M x N, row-major.
// A is stored K x M.
// B is stored K x N.
// A work-group of 4 x 4 work-items computes 8 x 16 of C, each work-item 2 x 4 of it, side by side.
// K advances by 4, and in it by 2.

// Copies 16 lines of X, 4 elements of each, to a tile in local memory.
// What lies beyond `lines` and `depth` becomes 0.
static void stage_b(
        __local float (*tile)[16], __global const half *X, int ld, int item,
        int lines, int depth)
{
    for (int e = item; e < 16; e += 16) {
        const int line = e % 4 * 4, k = e / 4;
        // A vector across the end, one by one.
        if (k >= depth || line + 4 > lines) {
            for (int i = 0; i < 4; i++) {
                const float x = line + i < lines && k < depth ? load(X + k * ld + line + i) : 0;
                tile[k][line + i] = x;
            }
            continue;
        }
        const float4 x = vload_half4(0, X + k * ld + line);
        vstore4(x, 0, &tile[k][line]);
    }
}

// C = x + beta C for a vector of C, of which the first `left` elements are inside.
static void update(float4 x, float beta, __global half *C, int left)
{
    // One by one: PoCL 3.1 may store a vector of halfs as if it were aligned to its size.
    float parts[4];
    vstore4(x, 0, parts);
    for (int i = 0; i < 4 && i < left; i++)
        store(beta == 0 ? parts[i] : parts[i] + beta * load(C + i), C + i);
}

__kernel __attribute__((reqd_work_group_size(4, 4, 1)))
void kiln_hgemm_blocked_multiply(int M, int N, int K,
        float alpha, float beta,
        __global const half *restrict A, int a_offset, int lda,
        __global const half *restrict B, int b_offset, int ldb,
        __global half *restrict C, int c_offset, int ldc)
{
    const int local_m = get_local_id(1), local_n = get_local_id(0);
    const int first_m = (int) get_group_id(1) * 8;
    const int first_n = (int) get_group_id(0) * 16;
    // Where this work-item's rows and columns begin in the work-group's block.
    const int tile_m = local_m * 2, tile_n = local_n * 4;
    const int item = local_m * 4 + local_n;
    A += a_offset;
    B += b_offset;
    C += c_offset;
    __local float b_tile[4][16];
    const int row0 = first_m + tile_m;
    const int row1 = first_m + tile_m + 1;
    const int col0 = first_n + tile_n;
    const int r0 = min(row0, M - 1);
    const int r1 = min(row1, M - 1);
    float4 c0_0 = 0;
    float4 c1_0 = 0;

    for (int k0 = 0; k0 < K; k0 += 4) {
        const int k1 = k0;
        __global const half *b_from = B + k1 * ldb + first_n;
        stage_b(b_tile, b_from, ldb, item, N - first_n, K - k1);
        barrier(CLK_LOCAL_MEM_FENCE);
        const int depth = min(K - k0, (int) 4);
        int k = 0;
        for (; k + 2 <= depth; k += 2) {
            const int kk = k0 + k;
            const float a0_0 = load(A + kk * lda + r0);
            const float a0_1 = load(A + (kk + 1) * lda + r0);
            const float a1_0 = load(A + kk * lda + r1);
            const float a1_1 = load(A + (kk + 1) * lda + r1);
            const float4 b0_0 = vload4(0, &b_tile[k][tile_n]);
            const float4 b1_0 = vload4(0, &b_tile[k + 1][tile_n]);
            c0_0 += a0_0 * b0_0;
            c1_0 += a1_0 * b0_0;
            c0_0 += a0_1 * b1_0;
            c1_0 += a1_1 * b1_0;
        }
        for (; k < depth; k++) {
            const int kk = k0 + k;
            const float a0_0 = load(A + kk * lda + r0);
            const float a1_0 = load(A + kk * lda + r1);
            const float4 b0_0 = vload4(0, &b_tile[k][tile_n]);
            c0_0 += a0_0 * b0_0;
            c1_0 += a1_0 * b0_0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    if (row0 < M) {
        if (col0 < N)
            update(alpha * c0_0, beta, C + row0 * ldc + col0, N - col0);
    }
    if (row1 < M) {
        if (col0 < N)
            update(alpha * c1_0, beta, C + row1 * ldc + col0, N - col0);
    }
}
