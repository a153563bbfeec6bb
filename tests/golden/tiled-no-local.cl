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

// C = alpha x + beta C for one element; beta == 0 does not read C.
static void put(float x, float alpha, float beta, __global float *p)
{
    store(beta == 0 ? alpha * x : alpha * x + beta * load(p), p);
}

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored M x K.
// B is stored N x K.
// A work-group of 4 x 4 work-items computes 8 x 8 of C. K advances by 4.
// A work-item has 2 x 2 of it.
// A and B are read where they lie.
__kernel __attribute__((reqd_work_group_size(4, 4, 1)))
void kiln_sgemm_tiled_multiply(int M, int N, int K,
        float alpha, float beta,
        __global const float *restrict A, int a_offset, int a_stride, int lda,
        __global const float *restrict B, int b_offset, int b_stride, int ldb,
        __global float *restrict C, int c_offset, int c_stride, int ldc)
{
    const int local_m = get_local_id(1), local_n = get_local_id(0);
    const int first_m = (int) get_group_id(1) * 8;
    const int first_n = (int) get_group_id(0) * 8;
    const int row = first_m + local_m * 2, col = first_n + local_n * 2;
    const int member = get_group_id(2);
    A += a_offset + member * a_stride;
    B += b_offset + member * b_stride;
    C += c_offset + member * c_stride;
    const int r0 = min(row, M - 1) * lda;
    const int r1 = min(row + 1, M - 1) * lda;
    const int s0 = min(col, N - 1) * ldb;
    const int s1 = min(col + 1, N - 1) * ldb;

    // Accumulators are scalars by name, so that no compiler has to promote an array to registers.
    float c0_0 = 0, c0_1 = 0;
    float c1_0 = 0, c1_1 = 0;

    for (int k0 = 0; k0 < K; k0 += 4) {
        const int depth = min(K - k0, 4);
        for (int k = 0; k < depth; k++) {
            __global const float *b = B + k0 + k;
            const float b0 = load(b + s0);
            const float b1 = load(b + s1);
            __global const float *a = A + k0 + k;
            const float a0 = load(a + r0);
            c0_0 += a0 * b0; c0_1 += a0 * b1;
            const float a1 = load(a + r1);
            c1_0 += a1 * b0; c1_1 += a1 * b1;
        }
    }

    // C = alpha c + beta C for the 2 x 2 block at (row, col).
    if (row < M) {
        __global float *out = C + row * ldc + col;
        if (col < N)
            put(c0_0, alpha, beta, out);
        if (col + 1 < N)
            put(c0_1, alpha, beta, out + 1);
    }
    if (row + 1 < M) {
        __global float *out = C + (row + 1) * ldc + col;
        if (col < N)
            put(c1_0, alpha, beta, out);
        if (col + 1 < N)
            put(c1_1, alpha, beta, out + 1);
    }
}
