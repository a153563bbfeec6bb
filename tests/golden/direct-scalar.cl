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
// B is stored K x N.
// Straight from global memory, for any shape.
// A work-group of 8 x 8 work-items; each computes 1 x 1 of C in registers.
// Rows and columns past the end repeat the last one; what is computed from them is not stored.
__kernel __attribute__((reqd_work_group_size(8, 8, 1)))
void kiln_sgemm_direct_multiply(int M, int N, int K,
        float alpha, float beta,
        __global const float *restrict A, int a_offset, int a_stride, int lda,
        __global const float *restrict B, int b_offset, int b_stride, int ldb,
        __global float *restrict C, int c_offset, int c_stride, int ldc)
{
    const int row = (int) get_global_id(1);
    const int col = (int) get_global_id(0);
    if (row >= M || col >= N)
        return;
    const int member = get_group_id(2);
    A += a_offset + member * a_stride;
    B += b_offset + member * b_stride;
    C += c_offset + member * c_stride;
    const int r0 = min(row, M - 1) * lda;
    const int s0 = min(col, N - 1);
    float c0_0 = 0;

    int k = 0;
    for (; k + 2 <= K; k += 2) {
        {
            __global const float *b = B + k * ldb;
            const float b0 = load(b + s0);
            __global const float *a = A + k;
            const float a0 = load(a + r0);
            c0_0 += a0 * b0;
        }
        {
            __global const float *b = B + (k + 1) * ldb;
            const float b0 = load(b + s0);
            __global const float *a = A + (k + 1);
            const float a0 = load(a + r0);
            c0_0 += a0 * b0;
        }
    }
    for (; k < K; k++) {
        __global const float *b = B + k * ldb;
        const float b0 = load(b + s0);
        __global const float *a = A + k;
        const float a0 = load(a + r0);
        c0_0 += a0 * b0;
    }

    // C = alpha c + beta C for the 1 x 1 block at (row, col).
    if (row < M) {
        __global float *out = C + row * ldc + col;
        if (col < N)
            put(c0_0, alpha, beta, out);
    }
}
