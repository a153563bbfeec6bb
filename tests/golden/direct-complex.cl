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
// A is stored M x K.
// B is stored N x K.
// Straight from global memory, for any shape.
// A work-group of 8 x 8 work-items; each computes 2 x 2 of C in registers.
// Rows and columns past the end repeat the last one; what is computed from them is not stored.
__kernel __attribute__((reqd_work_group_size(8, 8, 1)))
void kiln_cgemm_direct_multiply(long M, long N, long K,
        float alpha, float alpha_imag, float beta, float beta_imag, int conj_a, int conj_b,
        __global const float2 *restrict A, long a_offset, long a_stride, long lda,
        __global const float2 *restrict B, long b_offset, long b_stride, long ldb,
        __global float2 *restrict C, long c_offset, long c_stride, long ldc)
{
    const long row = (long) get_global_id(1) * 2;
    const long col = (long) get_global_id(0) * 2;
    if (row >= M || col >= N)
        return;
    const long member = get_group_id(2);
    A += a_offset + member * a_stride;
    B += b_offset + member * b_stride;
    C += c_offset + member * c_stride;
    // conj(A) B is the conjugate of A conj(B): until C is stored, only B is conjugated.
    const float sign = conj_a == conj_b ? 1 : -1;
    const float4 signs = (float4) (1, sign, 1, sign);
    const long r0 = min(row, M - 1) * lda;
    const long r1 = min(row + 1, M - 1) * lda;
    const long s0 = min(col, N - 1) * ldb;
    const long s1 = min(col + 1, N - 1) * ldb;
    float4 c0_0 = 0;
    float4 c1_0 = 0;

    for (long k = 0; k < K; k++) {
        __global const float2 *b = B + k;
        const float2 e0 = load(b + s0), e1 = load(b + s1);
        const float4 b0 = (float4) (e0.x, e0.y, e1.x, e1.y);
        const float4 p0 = b0 * signs, q0 = times_i(p0);
        __global const float2 *a = A + k;
        // The parts of A are read one by one, each into all lanes of a vector.
        __global const float *a0 = (__global const float *) (a + r0);
        c0_0 += a0[0] * p0;
        __global const float *a1 = (__global const float *) (a + r1);
        c1_0 += a1[0] * p0;
        c0_0 += a0[1] * q0;
        c1_0 += a1[1] * q0;
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
