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

// C = alpha x + beta C for one element; beta == 0 does not read C.
static void put(float x, float alpha, float beta, __global half *p)
{
    store(beta == 0 ? alpha * x : alpha * x + beta * load(p), p);
}

static float4 load_vector(__global const half *p)
{
    return vload_half4(0, p);
}

static void store_vector(float4 x, __global half *p)
{
    vstore_half4(x, 0, p);
}

// put for elements side by side.
static void put_vector(float4 x, float alpha, float beta, __global half *p)
{
    if (beta == 0)
        store_vector(alpha * x, p);
    else
        store_vector(alpha * x + beta * load_vector(p), p);
}

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored K x M.
// B is stored N x K.
// Straight from global memory, for any shape.
// A work-group of 8 x 8 work-items; each computes 2 x 4 of C in registers.
// Rows and columns past the end repeat the last one; what is computed from them is not stored.
__kernel __attribute__((reqd_work_group_size(8, 8, 1)))
void kiln_hgemm_direct_multiply(long M, long N, long K,
        float alpha, float beta,
        __global const half *restrict A, long a_offset, long a_stride, long lda,
        __global const half *restrict B, long b_offset, long b_stride, long ldb,
        __global half *restrict C, long c_offset, long c_stride, long ldc)
{
    const long row = (long) get_global_id(1) * 2;
    const long col = (long) get_global_id(0) * 4;
    if (row >= M || col >= N)
        return;
    const long member = get_group_id(2);
    A += a_offset + member * a_stride;
    B += b_offset + member * b_stride;
    C += c_offset + member * c_stride;
    const long r0 = min(row, M - 1);
    const long r1 = min(row + 1, M - 1);
    const long s0 = min(col, N - 1) * ldb;
    const long s1 = min(col + 1, N - 1) * ldb;
    const long s2 = min(col + 2, N - 1) * ldb;
    const long s3 = min(col + 3, N - 1) * ldb;
    float4 c0_0 = 0;
    float4 c1_0 = 0;

    for (long k = 0; k < K; k++) {
        __global const half *b = B + k;
        const float4 b0 = (float4) (load(b + s0), load(b + s1), load(b + s2), load(b + s3));
        __global const half *a = A + k * lda;
        const float a0 = load(a + r0);
        c0_0 += a0 * b0;
        const float a1 = load(a + r1);
        c1_0 += a1 * b0;
    }

    // C = alpha c + beta C for the 2 x 4 block at (row, col).
    if (row < M) {
        __global half *out = C + row * ldc + col;
        if (col + 4 <= N) {
            put_vector(c0_0, alpha, beta, out);
        } else {
            float x[4];
            vstore4(c0_0, 0, x);
            for (int n = 0; n < 4 && col + n < N; n++)
                put(x[n], alpha, beta, out + n);
        }
    }
    if (row + 1 < M) {
        __global half *out = C + (row + 1) * ldc + col;
        if (col + 4 <= N) {
            put_vector(c1_0, alpha, beta, out);
        } else {
            float x[4];
            vstore4(c1_0, 0, x);
            for (int n = 0; n < 4 && col + n < N; n++)
                put(x[n], alpha, beta, out + n);
        }
    }
}
