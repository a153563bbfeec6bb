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

// Packs a matrix into panels of 3: panel p holds, for every k, the lines p * 3 to p * 3 + 2 side by
// side, conjugated if asked for. Lines past the end repeat the last one; what is computed from them
// is not stored. One work-item packs 256 values of k of one panel.
// The source is K x lines: those of one k side by side.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void kiln_cgemm_packed_packa(long lines, long K,
        __global const float2 *restrict X, long x_offset, long ldx,
        __global float *restrict packed, long at, int is_conjugated)
{
    const long line = get_group_id(0) * 3;
    const long k0 = get_group_id(1) * 256, k1 = min(K, k0 + 256);
    const float2 signs = (float2) (1, is_conjugated ? -1 : 1);
    __global float *restrict out = packed + 2 * (at + line * K + k0 * 3);
    __global const float2 *restrict in = X + x_offset + k0 * ldx + line;
    if (line + 3 <= lines) {
        const float4 all_signs = (float4) (signs, signs);
        for (long k = k0; k < k1; k++, in += ldx, out += 6) {
            vstore4(load_vector(in) * all_signs, 0, out);
            vstore2(load(in + 2) * signs, 2, out);
        }
    } else {
        for (long k = k0; k < k1; k++, in += ldx, out += 6)
            for (int i = 0; i < 3; i++)
                vstore2(load(in + min((long) i, lines - 1 - line)) * signs, i, out);
    }
}

// Packs a matrix into panels of 4: panel p holds, for every k, the lines p * 4 to p * 4 + 3 side by
// side, conjugated if asked for. Lines past the end repeat the last one; what is computed from them
// is not stored. One work-item packs 256 values of k of one panel.
// The source is K x lines: those of one k side by side.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void kiln_cgemm_packed_packb(long lines, long K,
        __global const float2 *restrict X, long x_offset, long ldx,
        __global float *restrict packed, long at, int is_conjugated)
{
    const long line = get_group_id(0) * 4;
    const long k0 = get_group_id(1) * 256, k1 = min(K, k0 + 256);
    const float2 signs = (float2) (1, is_conjugated ? -1 : 1);
    __global float *restrict out = packed + 2 * (at + line * K + k0 * 4);
    __global const float2 *restrict in = X + x_offset + k0 * ldx + line;
    if (line + 4 <= lines) {
        const float4 all_signs = (float4) (signs, signs);
        for (long k = k0; k < k1; k++, in += ldx, out += 8) {
            vstore4(load_vector(in) * all_signs, 0, out);
            vstore4(load_vector(in + 2) * all_signs, 1, out);
        }
    } else {
        for (long k = k0; k < k1; k++, in += ldx, out += 8)
            for (int i = 0; i < 4; i++)
                vstore2(load(in + min((long) i, lines - 1 - line)) * signs, i, out);
    }
}

// vstore, where memory is aligned to vectors: one store, for which vstore may take several.
static void keep(float4 x, long i, __local float *p)
{
    *(__local float4 *) (p + i * 4) = x;
}

// C = alpha A B + beta C from packed A and packed B; C is M x N, row-major.
//
// What is packed lies panel after panel: for every k, a panel's 3 rows or 4 columns.
// A work-group is one work-item; it computes up to 2 x 2 blocks of 3 x 4, each held in registers.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void kiln_cgemm_packed_multiply(long M, long N, long K,
        float alpha, float alpha_imag, float beta, float beta_imag,
        __global const float *restrict packed_a, long a_at,
        __global const float *restrict packed_b, long b_at,
        __global float2 *restrict C, long c_offset, long ldc)
{
    const long first_row = get_group_id(1) * 6, end_row = min(first_row + 6, M);
    const long first_col = get_group_id(0) * 8, end_col = min(first_col + 8, N);
    // What the slices of K add up to so far, block after block.
    __local float sums[96] __attribute__((aligned(16)));
    C += c_offset;
    // Operands were conjugated as they were packed.
    const int conj_a = 0;

    // K advances by 128, so that a slice of a panel of B stays in the nearest cache.
    for (long k0 = 0; k0 == 0 || k0 < K; k0 += 128) {
        const long depth = min(K - k0, 128L);
        __local float *sum = sums;
        // Columns in the outer loop: a panel of B stays in the nearest cache for 2 panels of A.
        for (long col = first_col; col < end_col; col += 4)
            for (long row = first_row; row < end_row; row += 3) {
                __global const float *restrict b = packed_b + 2 * (b_at + col * K + k0 * 4);
                __global const float *restrict a = packed_a + 2 * (a_at + row * K + k0 * 3);
                float4 c0_0 = 0, c0_1 = 0;
                float4 c1_0 = 0, c1_1 = 0;
                float4 c2_0 = 0, c2_1 = 0;
                if (k0 > 0) {
                    c0_0 = vload4(0, sum); c0_1 = vload4(1, sum);
                    c1_0 = vload4(2, sum); c1_1 = vload4(3, sum);
                    c2_0 = vload4(4, sum); c2_1 = vload4(5, sum);
                }
                for (long k = 0; k < depth; k++) {
                    const float4 b0 = vload4(0, b);
                    const float4 b1 = vload4(1, b);
                    c0_0 += a[0] * b0; c0_1 += a[0] * b1;
                    c1_0 += a[2] * b0; c1_1 += a[2] * b1;
                    c2_0 += a[4] * b0; c2_1 += a[4] * b1;
                    const float4 q0 = times_i(b0), q1 = times_i(b1);
                    c0_0 += a[1] * q0; c0_1 += a[1] * q1;
                    c1_0 += a[3] * q0; c1_1 += a[3] * q1;
                    c2_0 += a[5] * q0; c2_1 += a[5] * q1;
                    b += 8;
                    a += 6;
                }
                // Alpha and beta are for the sum of all slices.
                if (k0 + 128 < K) {
                    keep(c0_0, 0, sum); keep(c0_1, 1, sum);
                    keep(c1_0, 2, sum); keep(c1_1, 3, sum);
                    keep(c2_0, 4, sum); keep(c2_1, 5, sum);
                } else {
                    // C = alpha c + beta C for the 3 x 4 block at (row, col).
                    if (row < M) {
                        __global float2 *out = C + row * ldc + col;
                        if (col + 4 <= N) {
                            put_vector(c0_0, conj_a, alpha, alpha_imag, beta, beta_imag, out);
                            put_vector(c0_1, conj_a, alpha, alpha_imag, beta, beta_imag, out + 2);
                        } else {
                            float2 x[4];
                            vstore4(c0_0, 0, (float *) &x[0]);
                            vstore4(c0_1, 0, (float *) &x[2]);
                            for (int n = 0; n < 4 && col + n < N; n++)
                                put(x[n], conj_a, alpha, alpha_imag, beta, beta_imag, out + n);
                        }
                    }
                    if (row + 1 < M) {
                        __global float2 *out = C + (row + 1) * ldc + col;
                        if (col + 4 <= N) {
                            put_vector(c1_0, conj_a, alpha, alpha_imag, beta, beta_imag, out);
                            put_vector(c1_1, conj_a, alpha, alpha_imag, beta, beta_imag, out + 2);
                        } else {
                            float2 x[4];
                            vstore4(c1_0, 0, (float *) &x[0]);
                            vstore4(c1_1, 0, (float *) &x[2]);
                            for (int n = 0; n < 4 && col + n < N; n++)
                                put(x[n], conj_a, alpha, alpha_imag, beta, beta_imag, out + n);
                        }
                    }
                    if (row + 2 < M) {
                        __global float2 *out = C + (row + 2) * ldc + col;
                        if (col + 4 <= N) {
                            put_vector(c2_0, conj_a, alpha, alpha_imag, beta, beta_imag, out);
                            put_vector(c2_1, conj_a, alpha, alpha_imag, beta, beta_imag, out + 2);
                        } else {
                            float2 x[4];
                            vstore4(c2_0, 0, (float *) &x[0]);
                            vstore4(c2_1, 0, (float *) &x[2]);
                            for (int n = 0; n < 4 && col + n < N; n++)
                                put(x[n], conj_a, alpha, alpha_imag, beta, beta_imag, out + n);
                        }
                    }
                }
                sum += 24;
            }
    }
}
