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

static float2 load_vector(__global const float *p)
{
    return vload2(0, p);
}

static void store_vector(float2 x, __global float *p)
{
    vstore2(x, 0, p);
}

// put for elements side by side.
static void put_vector(float2 x, float alpha, float beta, __global float *p)
{
    if (beta == 0)
        store_vector(alpha * x, p);
    else
        store_vector(alpha * x + beta * load_vector(p), p);
}

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored M x K.
// B is stored N x K.
// A work-group of 4 x 4 work-items computes 8 x 8 of C. K advances by 4.
// A work-item has 2 x 2 of it.
// Tiles of A and B go through local memory.
__kernel __attribute__((reqd_work_group_size(4, 4, 1)))
void kiln_sgemm_tiled_multiply(int M, int N, int K,
        float alpha, float beta,
        __global const float *restrict A, int a_offset, int a_stride, int lda,
        __global const float *restrict B, int b_offset, int b_stride, int ldb,
        __global float *restrict C, int c_offset, int c_stride, int ldc)
{
    __local float a_tile[4][8] __attribute__((aligned(8)));
    __local float b_tile[4][8] __attribute__((aligned(8)));
    const int local_m = get_local_id(1), local_n = get_local_id(0);
    const int item = local_m * 4 + local_n;
    const int first_m = (int) get_group_id(1) * 8;
    const int first_n = (int) get_group_id(0) * 8;
    const int row = first_m + local_m * 2, col = first_n + local_n * 2;
    const int member = get_group_id(2);
    A += a_offset + member * a_stride;
    B += b_offset + member * b_stride;
    C += c_offset + member * c_stride;

    // Accumulators are scalars by name, so that no compiler has to promote an array to registers.
    float2 c0_0 = 0;
    float2 c1_0 = 0;

    for (int k0 = 0; k0 < K; k0 += 4) {
        // A tile of A, 4 deep, one row for each k: transposed.
        {
            const int e = item, k = e % 4, m = e / 4;
            const int row_a = min(first_m + m, M - 1), at_k = min(k0 + k, K - 1);
            a_tile[k][m] = load(A + row_a * lda + at_k);
        }
        {
            const int e = item + 16, k = e % 4, m = e / 4;
            const int row_a = min(first_m + m, M - 1), at_k = min(k0 + k, K - 1);
            a_tile[k][m] = load(A + row_a * lda + at_k);
        }
        // A tile of B, 4 deep, one row for each k: transposed.
        {
            const int e = item, k = e % 4, n = e / 4;
            const int at_k = min(k0 + k, K - 1), col_b = min(first_n + n, N - 1);
            b_tile[k][n] = load(B + col_b * ldb + at_k);
        }
        {
            const int e = item + 16, k = e % 4, n = e / 4;
            const int at_k = min(k0 + k, K - 1), col_b = min(first_n + n, N - 1);
            b_tile[k][n] = load(B + col_b * ldb + at_k);
        }
        // The tiles are there.
        barrier(CLK_LOCAL_MEM_FENCE);

        const int depth = min(K - k0, 4);
        for (int k = 0; k < depth; k++) {
            const float2 b0 = *(__local const float2 *) &b_tile[k][local_n * 2];
            const float2 a0 = *(__local const float2 *) &a_tile[k][local_m * 2];
            c0_0 += a0.s0 * b0;
            c1_0 += a0.s1 * b0;
        }
        // The tiles have been read.
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    // C = alpha c + beta C for the 2 x 2 block at (row, col).
    if (row < M) {
        __global float *out = C + row * ldc + col;
        if (col + 2 <= N) {
            put_vector(c0_0, alpha, beta, out);
        } else {
            float x[2];
            vstore2(c0_0, 0, x);
            for (int n = 0; n < 2 && col + n < N; n++)
                put(x[n], alpha, beta, out + n);
        }
    }
    if (row + 1 < M) {
        __global float *out = C + (row + 1) * ldc + col;
        if (col + 2 <= N) {
            put_vector(c1_0, alpha, beta, out);
        } else {
            float x[2];
            vstore2(c1_0, 0, x);
            for (int n = 0; n < 2 && col + n < N; n++)
                put(x[n], alpha, beta, out + n);
        }
    }
}
