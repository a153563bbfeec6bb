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
// B is stored K x N.
// A work-group of 1 x 16 work-items computes 4 x 16 of C, each work-item 4 x 1 of it, side by side.
// K advances by 8, and in it by 2.

// Copies 4 lines of X, 8 elements of each, to a tile in local memory.
static void stage_a(__local float (*tile)[5], __global const float *X, int ld, int item)
{
    for (int e = item; e < 32; e += 16) {
        const int k = e % 8, line = e / 8;
        const float x = load(X + line * ld + k);
        tile[k][line] = x;
    }
}

// C = x + beta C for a vector of C.
static void update(float x, float beta, __global float *C)
{
    store(beta == 0 ? x : x + beta * load(C), C);
}

__kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void kiln_sgemm_blocked_multiply(int M, int N, int K,
        float alpha, float beta,
        __global const float *restrict A, int a_offset, int lda,
        __global const float *restrict B, int b_offset, int ldb,
        __global float *restrict C, int c_offset, int ldc)
{
    const int local_m = get_local_id(1), local_n = get_local_id(0);
    const int first_m = (int) get_group_id(1) * 4;
    const int first_n = (int) get_group_id(0) * 16;
    // Where this work-item's rows and columns begin in the work-group's block.
    const int tile_m = local_m * 4, tile_n = local_n;
    const int item = local_m * 16 + local_n;
    A += a_offset;
    B += b_offset;
    C += c_offset;
    __local float a_tile[8][5];
    const int row0 = first_m + tile_m;
    const int row1 = first_m + tile_m + 1;
    const int row2 = first_m + tile_m + 2;
    const int row3 = first_m + tile_m + 3;
    const int col0 = first_n + tile_n;
    const int s0 = col0;
    float c0_0 = 0;
    float c1_0 = 0;
    float c2_0 = 0;
    float c3_0 = 0;
    float b0_0, b1_0;
    if (K > 0) {
        const int kk = 0;
        b0_0 = load(B + kk * ldb + s0);
        b1_0 = load(B + (kk + 1) * ldb + s0);
    }

    for (int k0 = 0; k0 < K; k0 += 8) {
        const int k1 = k0;
        __global const float *a_from = A + first_m * lda + k1;
        stage_a(a_tile, a_from, lda, item);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 8; k += 2) {
            const int kk = k0 + k;
            const float a0_0 = a_tile[k][tile_m];
            c0_0 += a0_0 * b0_0;
            const float a1_0 = a_tile[k][tile_m + 1];
            c1_0 += a1_0 * b0_0;
            const float a2_0 = a_tile[k][tile_m + 2];
            c2_0 += a2_0 * b0_0;
            const float a3_0 = a_tile[k][tile_m + 3];
            c3_0 += a3_0 * b0_0;
            {
                // The register's next value; in the last round a present one again.
                const int kk = min(k0 + k + 2, K - 2);
                b0_0 = load(B + kk * ldb + s0);
            }
            const float a0_1 = a_tile[k + 1][tile_m];
            c0_0 += a0_1 * b1_0;
            const float a1_1 = a_tile[k + 1][tile_m + 1];
            c1_0 += a1_1 * b1_0;
            const float a2_1 = a_tile[k + 1][tile_m + 2];
            c2_0 += a2_1 * b1_0;
            const float a3_1 = a_tile[k + 1][tile_m + 3];
            c3_0 += a3_1 * b1_0;
            {
                // The register's next value; in the last round a present one again.
                const int kk = min(k0 + k + 2, K - 2);
                b1_0 = load(B + (kk + 1) * ldb + s0);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    update(alpha * c0_0, beta, C + row0 * ldc + col0);
    update(alpha * c1_0, beta, C + row1 * ldc + col0);
    update(alpha * c2_0, beta, C + row2 * ldc + col0);
    update(alpha * c3_0, beta, C + row3 * ldc + col0);
}
