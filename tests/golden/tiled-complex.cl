static float2 load(__global const float2 *p)
{
    return vload2(0, (__global const float *) p);
}

static void store(float2 x, __global float2 *p)
{
    vstore2(x, 0, (__global float *) p);
}

// x times (re, im). A factor that is real multiplies each part alone, as real products do.
static float2 scaled(float2 x, float re, float im)
{
    return im == 0 ? re * x : (float2) (re * x.x - im * x.y, re * x.y + im * x.x);
}

// C = alpha x + beta C for one element, x conjugated if so; beta == 0 does not read C.
static void put(float2 x, int is_conjugated, float alpha, float alpha_imag,
        float beta, float beta_imag, __global float2 *p)
{
    x.y *= is_conjugated ? -1 : 1;
    x = scaled(x, alpha, alpha_imag);
    if (beta != 0 || beta_imag != 0)
        x += scaled(load(p), beta, beta_imag);
    store(x, p);
}

// The elements of x times i.
static float4 times_i(float4 x)
{
    // The parts change places, and what becomes the real one its sign.
    const uint4 signs = (uint4) (0, 1U << 31, 0, 1U << 31);
    x = as_float4(as_uint4(x) ^ signs);
    return x.s1032;
}

static float4 scaled_vector(float4 x, float re, float im)
{
    return im == 0 ? re * x : re * x + im * times_i(x);
}

static float4 load_vector(__global const float2 *p)
{
    return vload4(0, (__global const float *) p);
}

// put for elements side by side.
static void put_vector(float4 x, int is_conjugated, float alpha, float alpha_imag,
        float beta, float beta_imag, __global float2 *p)
{
    const float sign = is_conjugated ? -1 : 1;
    x *= (float4) (1, sign, 1, sign);
    x = scaled_vector(x, alpha, alpha_imag);
    if (beta != 0 || beta_imag != 0)
        x += scaled_vector(load_vector(p), beta, beta_imag);
    vstore4(x, 0, (__global float *) p);
}

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored K x M.
// B is stored K x N.
// A work-group of 4 x 4 work-items computes 8 x 8 of C. K advances by 4.
// A work-item has 2 x 2 of it.
// Tiles of A and B go through local memory.
// Parts of K lie along axis 2, which another kernel adds up; of a batch its members.
__kernel __attribute__((reqd_work_group_size(4, 4, 1)))
void kiln_cgemm_tiled_multiply(int M, int N, int K,
        float alpha, float alpha_imag, float beta, float beta_imag, int conj_a, int conj_b,
                int num_parts,
        __global float2 *restrict parts, long parts_at,
        __global const float2 *restrict A, int a_offset, int a_stride, int lda,
        __global const float2 *restrict B, int b_offset, int b_stride, int ldb,
        __global float2 *restrict C, int c_offset, int c_stride, int ldc)
{
    __local float2 a_tile[4][10] __attribute__((aligned(16)));
    __local float2 b_tile[4][10] __attribute__((aligned(16)));
    const int local_m = get_local_id(1), local_n = get_local_id(0);
    const int item = local_m * 4 + local_n;
    const int first_m = (int) get_group_id(1) * 8;
    const int first_n = (int) get_group_id(0) * 8;
    const int row = first_m + local_m * 2, col = first_n + local_n * 2;
    const int member = get_group_id(2) / num_parts;
    A += a_offset + member * a_stride;
    B += b_offset + member * b_stride;
    C += c_offset + member * c_stride;
    // conj(A) B is the conjugate of A conj(B): until C is stored, only B is conjugated.
    const float sign = conj_a == conj_b ? 1 : -1;
    const float2 signs = (float2) (1, sign);
    // A part of K has whole steps of 4, as many as another or one more.
    const int steps = K / 4 + (K % 4 != 0);
    const int own_part = get_group_id(2) % num_parts;
    const int each = steps / num_parts, longer = steps % num_parts;
    const int from = (own_part * each + min(own_part, longer)) * 4;
    const int to = min(from + (each + (own_part < longer)) * 4, K);
    K = to - from;
    A += from * lda;
    B += from * ldb;

    // Accumulators are scalars by name, so that no compiler has to promote an array to registers.
    float4 c0_0 = 0;
    float4 c1_0 = 0;

    for (int k0 = 0; k0 < K; k0 += 4) {
        // A tile of A, 4 deep, one row for each k.
        {
            const int e = item, m = e % 8, k = e / 8;
            const int row_a = min(first_m + m, M - 1), at_k = min(k0 + k, K - 1);
            a_tile[k][m] = load(A + at_k * lda + row_a);
        }
        {
            const int e = item + 16, m = e % 8, k = e / 8;
            const int row_a = min(first_m + m, M - 1), at_k = min(k0 + k, K - 1);
            a_tile[k][m] = load(A + at_k * lda + row_a);
        }
        // A tile of B, 4 deep, one row for each k.
        {
            const int e = item, n = e % 8, k = e / 8;
            const int at_k = min(k0 + k, K - 1), col_b = min(first_n + n, N - 1);
            b_tile[k][n] = load(B + at_k * ldb + col_b) * signs;
        }
        {
            const int e = item + 16, n = e % 8, k = e / 8;
            const int at_k = min(k0 + k, K - 1), col_b = min(first_n + n, N - 1);
            b_tile[k][n] = load(B + at_k * ldb + col_b) * signs;
        }
        // The tiles are there.
        barrier(CLK_LOCAL_MEM_FENCE);

        const int depth = min(K - k0, 4);
        for (int k = 0; k < depth; k++) {
            const float4 b0 = *(__local const float4 *) &b_tile[k][local_n * 2];
            const float4 q0 = times_i(b0);
            const float4 a0 = *(__local const float4 *) &a_tile[k][local_m * 2];
            c0_0 += a0.s0 * b0;
            c0_0 += a0.s1 * q0;
            c1_0 += a0.s2 * b0;
            c1_0 += a0.s3 * q0;
        }
        // The tiles have been read.
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    if (num_parts > 1) {
        // The tile, as it is, to what this part has of C; there is room for whole tiles.
        const int ld = (int) get_num_groups(0) * 8;
        __global float2 *own = parts + parts_at + (long) own_part * get_num_groups(1) * 8 * ld;
        {
            __global float2 *out = own + row * ld + col;
            vstore4(c0_0, 0, (__global float *) out);
        }
        {
            __global float2 *out = own + (row + 1) * ld + col;
            vstore4(c1_0, 0, (__global float *) out);
        }
        return;
    }
    // C = alpha c + beta C for the 2 x 2 block at (row, col).
    if (row < M) {
        __global float2 *out = C + row * ldc + col;
        if (col + 2 <= N) {
            put_vector(c0_0, conj_a, alpha, alpha_imag, beta, beta_imag, out);
        } else {
            float2 x[2];
            vstore4(c0_0, 0, (float *) &x[0]);
            for (int n = 0; n < 2 && col + n < N; n++)
                put(x[n], conj_a, alpha, alpha_imag, beta, beta_imag, out + n);
        }
    }
    if (row + 1 < M) {
        __global float2 *out = C + (row + 1) * ldc + col;
        if (col + 2 <= N) {
            put_vector(c1_0, conj_a, alpha, alpha_imag, beta, beta_imag, out);
        } else {
            float2 x[2];
            vstore4(c1_0, 0, (float *) &x[0]);
            for (int n = 0; n < 2 && col + n < N; n++)
                put(x[n], conj_a, alpha, alpha_imag, beta, beta_imag, out + n);
        }
    }
}

// C = alpha sum + beta C: adds up what each part of K has of an element, always in the same order.
// A part has room for whole tiles of 8 x 8.
__kernel __attribute__((reqd_work_group_size(32, 2, 1)))
void kiln_cgemm_tiled_add(int M, int N,
        float alpha, float alpha_imag, float beta, float beta_imag, int conj_a, int num_parts,
        __global const float2 *restrict parts, long parts_at,
        __global float2 *restrict C, int c_offset, int ldc)
{
    const int row = get_group_id(0), col = (int) get_group_id(1) * 32 + get_local_id(0);
    const int ld = (N + 7) / 8 * 8;
    const long size = (long) ((M + 7) / 8 * 8) * ld;
    __global const float2 *first = parts + parts_at + (long) row * ld + min(col, N - 1);
    float2 sum = 0;
    // Each of 2 work-items adds up one part in 2; the first then adds up their sums.
    __local float2 sums[2][32];
    const int way = get_local_id(1), adder = get_local_id(0);
    #pragma unroll 4
    for (int p = way; p < num_parts; p += 2)
        sum += first[p * size];
    sums[way][adder] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (way > 0)
        return;
    sum += sums[1][adder];
    if (col < N)
        put(sum, conj_a, alpha, alpha_imag, beta, beta_imag, C + c_offset + row * ldc + col);
}
