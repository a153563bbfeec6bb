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

static float4 load_vector(__global const float *p)
{
    return vload4(0, p);
}

static void store_vector(float4 x, __global float *p)
{
    vstore4(x, 0, p);
}

// put for elements side by side.
static void put_vector(float4 x, float alpha, float beta, __global float *p)
{
    if (beta == 0)
        store_vector(alpha * x, p);
    else
        store_vector(alpha * x + beta * load_vector(p), p);
}

// Packs a matrix into panels of 2: panel p holds, for every k, the lines p * 2 to p * 2 + 1 side by
// side. Lines past the end repeat the last one; what is computed from them is not stored. One
// work-item packs 256 values of k of one panel.
// The source is lines x K: line after line.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void kiln_sgemm_packed_packa(long lines, long K,
        __global const float *restrict X, long x_offset, long ldx,
        __global float *restrict packed, long at)
{
    const long line = get_group_id(0) * 2;
    const long k0 = get_group_id(1) * 256, k1 = min(K, k0 + 256);
    __global float *restrict out = packed + at + line * K + k0 * 2;
    __global const float *restrict in = X + x_offset + k0;
    const long l0 = min(line, lines - 1) * ldx;
    const long l1 = min(line + 1, lines - 1) * ldx;
    long k = k0;
    // A square of lines by k is transposed: each step puts the even and the odd elements of two
    // neighbours together.
    for (; k + 2 <= k1; k += 2, in += 2, out += 4) {
        const float2 x0_0 = vload2(0, in + l0);
        const float2 x0_1 = vload2(0, in + l1);
        const float2 x1_0 = (float2) (x0_0.even, x0_1.even);
        const float2 x1_1 = (float2) (x0_0.odd, x0_1.odd);
        vstore2(x1_0, 0, out);
        vstore2(x1_1, 0, out + 2);
    }
    for (; k < k1; k++, in++, out += 2) {
        out[0] = load(in + l0);
        out[1] = load(in + l1);
    }
}

// Packs a matrix into panels of 4: panel p holds, for every k, the lines p * 4 to p * 4 + 3 side by
// side. Lines past the end repeat the last one; what is computed from them is not stored. One
// work-item packs 256 values of k of one panel.
// The source is K x lines: those of one k side by side.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void kiln_sgemm_packed_packb(long lines, long K,
        __global const float *restrict X, long x_offset, long ldx,
        __global float *restrict packed, long at)
{
    const long line = get_group_id(0) * 4;
    const long k0 = get_group_id(1) * 256, k1 = min(K, k0 + 256);
    __global float *restrict out = packed + at + line * K + k0 * 4;
    __global const float *restrict in = X + x_offset + k0 * ldx + line;
    if (line + 4 <= lines) {
        for (long k = k0; k < k1; k++, in += ldx, out += 4) {
            vstore4(vload4(0, in), 0, out);
        }
    } else {
        for (long k = k0; k < k1; k++, in += ldx, out += 4)
            for (int i = 0; i < 4; i++)
                out[i] = load(in + min((long) i, lines - 1 - line));
    }
}

// vstore, where memory is aligned to vectors: one store, for which vstore may take several.
static void keep(float4 x, long i, __local float *p)
{
    *(__local float4 *) (p + i * 4) = x;
}

// C = alpha A B + beta C from packed A and packed B; C is M x N, row-major.
//
// What is packed lies panel after panel: for every k, a panel's 2 rows or 4 columns.
// A work-group is one work-item; it computes up to 2 x 2 blocks of 2 x 4, each held in registers.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void kiln_sgemm_packed_multiply(long M, long N, long K,
        float alpha, float beta,
        __global const float *restrict packed_a, long a_at,
        __global const float *restrict packed_b, long b_at,
        __global float *restrict C, long c_offset, long ldc)
{
    const long first_row = get_group_id(1) * 4, end_row = min(first_row + 4, M);
    const long first_col = get_group_id(0) * 8, end_col = min(first_col + 8, N);
    // What the slices of K add up to so far, block after block.
    __local float sums[32] __attribute__((aligned(16)));
    C += c_offset;

    // K advances by 128, so that a slice of a panel of B stays in the nearest cache.
    for (long k0 = 0; k0 == 0 || k0 < K; k0 += 128) {
        const long depth = min(K - k0, 128L);
        __local float *sum = sums;
        // Columns in the outer loop: a panel of B stays in the nearest cache for 2 panels of A.
        for (long col = first_col; col < end_col; col += 4)
            for (long row = first_row; row < end_row; row += 2) {
                __global const float *restrict b = packed_b + b_at + col * K + k0 * 4;
                __global const float *restrict a = packed_a + a_at + row * K + k0 * 2;
                float4 c0_0 = 0;
                float4 c1_0 = 0;
                if (k0 > 0) {
                    c0_0 = vload4(0, sum);
                    c1_0 = vload4(1, sum);
                }
                long k = 0;
                for (; k + 2 <= depth; k += 2) {
                    {
                        const float4 b0 = vload4(0, b);
                        const float a0 = a[0];
                        c0_0 += a0 * b0;
                        const float a1 = a[1];
                        c1_0 += a1 * b0;
                        b += 4;
                        a += 2;
                    }
                    {
                        const float4 b0 = vload4(0, b);
                        const float a0 = a[0];
                        c0_0 += a0 * b0;
                        const float a1 = a[1];
                        c1_0 += a1 * b0;
                        b += 4;
                        a += 2;
                    }
                }
                for (; k < depth; k++) {
                    const float4 b0 = vload4(0, b);
                    const float a0 = a[0];
                    c0_0 += a0 * b0;
                    const float a1 = a[1];
                    c1_0 += a1 * b0;
                    b += 4;
                    a += 2;
                }
                // Alpha and beta are for the sum of all slices.
                if (k0 + 128 < K) {
                    keep(c0_0, 0, sum);
                    keep(c1_0, 1, sum);
                } else {
                    // C = alpha c + beta C for the 2 x 4 block at (row, col).
                    if (row < M) {
                        __global float *out = C + row * ldc + col;
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
                        __global float *out = C + (row + 1) * ldc + col;
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
                sum += 8;
            }
    }
}
