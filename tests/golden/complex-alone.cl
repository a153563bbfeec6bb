// Is nothing stored of a block of C? `triangle` is 0 for all of C, 1 or -1 for its lower or upper
// triangle, 2 or -2 for the same where an element is two columns.
static bool is_left_out(long row, long col, int rows, int columns, int triangle)
{
    return triangle > 0 ? col >= (row + rows) * triangle
            : triangle < 0 && col + columns <= row * -triangle;
}

// Elements lie at multiples of their parts: the application's own memory may begin at any.
static float2 load(__global const float *X, long at)
{
    return vload2(at, X);
}

static void store(float2 x, __global float *X, long at)
{
    vstore2(x, at, X);
}

static float2 product(float2 x, float2 y)
{
    return (float2) (x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);
}

// A step before a real product: op(B), K x N, from B stored K x N, conjugated if asked for.
// Each element b becomes two rows of two real columns, (re b, im b) and (-im b, re b), so that the
// product of A's elements as pairs of reals with it is that of complex numbers. Rows are whole
// pairs of elements.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void kiln_cgemm_complex_expand(long N, long K,
        __global const float *restrict B, long b_offset, long ldb, int conj_b,
        __global float *restrict packed_b, long b_at)
{
    const long first_n = get_group_id(0) * 32, end_n = min(first_n + 32, N);
    const long first_k = get_group_id(1) * 256, end_k = min(first_k + 256, K);
    const long ld = (N + 1) / 2 * 2;
    const float sign = conj_b ? -1 : 1;
    const float16 signs = (float16) (1, sign, 1, sign, 1, sign, 1, sign, 1, sign, 1, sign, 1, sign,
            1, sign);
    for (long k = first_k; k < end_k; k++) {
        long n = first_n;
        for (; n + 8 <= end_n; n += 8) {
            const long from = 2 * (b_offset + k * ldb + n), at = 2 * (2 * b_at + 2 * k * ld + n);
            const float16 b = vload16(0, B + from) * signs;
            float16 by_i;
            by_i.even = -b.odd;
            by_i.odd = b.even;
            vstore16(b, 0, packed_b + at);
            vstore16(by_i, 0, packed_b + at + 2 * ld);
        }
        for (; n < end_n; n++) {
            const float2 b = load(B, b_offset + k * ldb + n) * (float2) (1, sign);
            const long at = 2 * b_at + 2 * k * ld + n;
            store(b, packed_b, at);
            store((float2) (-b.y, b.x), packed_b, at + ld);
        }
    }
}

// A step before a real product: what `expand` made of op(B), times a complex alpha.
__kernel __attribute__((reqd_work_group_size(32, 4, 1)))
void kiln_cgemm_complex_rotate(long N, long K,
        float alpha, float alpha_imag,
        __global const float *restrict packed_b, long b_at,
        __global float *restrict work, long work_at)
{
    const long n = get_group_id(0) * 32 + get_local_id(0), ld = (N + 1) / 2 * 2;
    const long first_k = get_group_id(1) * 256, end = min(first_k + 256, K);
    for (long k = 2 * first_k + get_local_id(1); k < 2 * end; k += 4)
        if (n < N)
            store(product((float2) (alpha, alpha_imag), load(packed_b, 2 * b_at + k * ld + n)),
                    work, 2 * work_at + k * ld + n);
}

// A step before a real product: C (M x N) times a complex beta, as far as it is stored.
__kernel __attribute__((reqd_work_group_size(32, 4, 1)))
void kiln_cgemm_complex_scale(long M, long N, float beta, float beta_imag,
        __global float *restrict C, long c_offset, long ldc, int triangle)
{
    const long n = get_group_id(0) * 32 + get_local_id(0);
    const long first_m = get_group_id(1) * 256, end = min(first_m + 256, M);
    for (long m = first_m + get_local_id(1); m < end; m += 4)
        if (n < N && !is_left_out(m, n, 1, 1, triangle)) {
            const long at = c_offset + m * ldc + n;
            store(product((float2) (beta, beta_imag), load(C, at)), C, at);
        }
}

// The diagonal of C, which is Hermitian: its imaginary parts become 0.
__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void kiln_cgemm_complex_diagonal(long M, __global float *restrict C, long c_offset, long ldc)
{
    const long m = get_global_id(0);
    if (m < M)
        C[2 * (c_offset + m * ldc + m) + 1] = 0;
}
