// Elements of float are computed with as float. A product and a sum are fused where the device does
// that in one step: FP_CONTRACT, on by default, allows it.
static float load(__global const float *p)
{
    return *p;
}

static void store(float x, __global float *p)
{
    *p = x;
}

// C = alpha op(A) op(B) + beta C by blocks; C is M x N, row-major.
// A is stored M x K.
// B is stored N x K.
// A work-group of 4 x 4 work-items computes 8 x 4 of C, each work-item 2 rows of it, 4 apart, by 1
// vectors of 1, 4 vectors apart.
// K advances by 4, and in it by 1.

// Copies 8 lines of X, 4 elements of each, to a tile in local memory.
// What lies beyond `lines` and `depth` becomes 0.
static void stage_a(
        __local float (*tile)[9], __global const float *X, int ld, int item,
        int lines, int depth)
{
    for (int e = item; e < 32; e += 16) {
        const int k = e % 4, line = e / 4;
        const float x = line < lines && k < depth ? load(X + line * ld + k) : 0;
        tile[k][line] = x;
    }
}

// Copies 4 lines of X, 4 elements of each, to a tile in local memory.
// What lies beyond `lines` and `depth` becomes 0.
static void stage_b(
        __local float (*tile)[4], __global const float *X, int ld, int item,
        int lines, int depth)
{
    for (int e = item; e < 16; e += 16) {
        const int k = e % 4, line = e / 4;
        const float x = line < lines && k < depth ? load(X + line * ld + k) : 0;
        tile[line][k] = x;
    }
}

// C = x + beta C for a vector of C, of which the first `left` elements are inside.
static void update(float x, float beta, __global float *C, int left)
{
    store(beta == 0 ? x : x + beta * load(C), C);
}

__kernel __attribute__((reqd_work_group_size(4, 4, 1)))
void kiln_sgemm_blocked_multiply(int M, int N, int K,
        float alpha, float beta,
        __global const float *restrict A, int a_offset, int lda,
        __global const float *restrict B, int b_offset, int ldb,
        __global float *restrict C, int c_offset, int ldc)
{
    const int local_m = get_local_id(1), local_n = get_local_id(0);
    const int first_m = (int) get_group_id(1) * 8;
    const int first_n = (int) get_group_id(0) * 4;
    // Where this work-item's rows and columns begin in the work-group's block.
    const int tile_m = local_m, tile_n = local_n;
    const int item = local_m * 4 + local_n;
    A += a_offset;
    B += b_offset;
    C += c_offset;
    __local float a_tile[4][9];
    __local float b_tile[4][4];
    const int row0 = first_m + tile_m;
    const int row1 = first_m + tile_m + 4;
    const int col0 = first_n + tile_n;
    float c0_0 = 0;
    float c1_0 = 0;

    for (int k0 = 0; k0 < K; k0 += 4) {
        const int k1 = k0;
        __global const float *a_from = A + first_m * lda + k1;
        stage_a(a_tile, a_from, lda, item, M - first_m, K - k1);
        __global const float *b_from = B + first_n * ldb + k1;
        stage_b(b_tile, b_from, ldb, item, N - first_n, K - k1);
        barrier(CLK_LOCAL_MEM_FENCE);
        const int depth = min(K - k0, (int) 4);
        int k = 0;
        for (; k + 1 <= depth; k += 1) {
            {
                const float a0_0 = a_tile[k][tile_m];
                const float b0_0 = b_tile[tile_n][k];
                c0_0 += a0_0 * b0_0;
            }
            {
                const float a1_0 = a_tile[k][tile_m + 4];
                const float b0_0 = b_tile[tile_n][k];
                c1_0 += a1_0 * b0_0;
            }
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
