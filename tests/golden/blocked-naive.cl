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
// A work-group of 8 x 8 work-items computes 8 x 8 of C, each work-item 1 x 1 of it, side by side.
// K advances by 8, and in it by 1.

// C = x + beta C for a vector of C, of which the first `left` elements are inside.
static void update(float x, float beta, __global float *C, int left)
{
    store(beta == 0 ? x : x + beta * load(C), C);
}

__kernel __attribute__((reqd_work_group_size(8, 8, 1)))
void kiln_sgemm_blocked_multiply(int M, int N, int K,
        float alpha, float beta,
        __global const float *restrict A, int a_offset, int lda,
        __global const float *restrict B, int b_offset, int ldb,
        __global float *restrict C, int c_offset, int ldc)
{
    const int local_m = get_local_id(1), local_n = get_local_id(0);
    const int first_m = (int) get_group_id(1) * 8;
    const int first_n = (int) get_group_id(0) * 8;
    // Where this work-item's rows and columns begin in the work-group's block.
    const int tile_m = local_m, tile_n = local_n;
    A += a_offset;
    B += b_offset;
    C += c_offset;
    const int row0 = first_m + tile_m;
    const int col0 = first_n + tile_n;
    const int r0 = min(row0, M - 1) * lda;
    const int s0 = min(col0, N - 1);
    float c0_0 = 0;

    for (int k0 = 0; k0 < K; k0 += 8) {
        const int depth = min(K - k0, (int) 8);
        int k = 0;
        for (; k + 1 <= depth; k += 1) {
            const int kk = k0 + k;
            const float a0_0 = load(A + r0 + kk);
            const float b0_0 = load(B + kk * ldb + s0);
            c0_0 += a0_0 * b0_0;
        }
    }

    if (row0 < M) {
        if (col0 < N)
            update(alpha * c0_0, beta, C + row0 * ldc + col0, N - col0);
    }
}
