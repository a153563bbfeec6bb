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

// The first column of a row that is stored, and the one behind the last. `triangle` is 0 for all of
// C, 1 or -1 for its lower or upper triangle, 2 or -2 for the same where an element is two columns.
static long2 stored_columns(long row, long N, int triangle)
{
    return (long2) (triangle < 0 ? row * -triangle : 0,
            triangle > 0 ? min(N, (row + 1) * triangle) : N);
}

// Is nothing stored of a block of C? `triangle` is 0 for all of C, 1 or -1 for its lower or upper
// triangle, 2 or -2 for the same where an element is two columns.
static bool is_left_out(long row, long col, int rows, int columns, int triangle)
{
    return triangle > 0 ? col >= (row + rows) * triangle
            : triangle < 0 && col + columns <= row * -triangle;
}

// C = alpha x + beta C for one element; beta == 0 does not read C.
static void put(float x, float alpha, float beta, __global float *p)
{
    store(beta == 0 ? alpha * x : alpha * x + beta * load(p), p);
}

// Packs a matrix into panels of 2: panel p holds, for every k, the lines p * 2 to p * 2 + 1 side by
// side. Lines past the end repeat the last one; what is computed from them is not stored. One
// work-item packs 256 values of k of one panel.
// The source is lines x K: line after line.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void kiln_sgemmt_packed_packa(long lines, long K,
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
// The source is lines x K: line after line.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void kiln_sgemmt_packed_packb(long lines, long K,
        __global const float *restrict X, long x_offset, long ldx,
        __global float *restrict packed, long at)
{
    const long line = get_group_id(0) * 4;
    const long k0 = get_group_id(1) * 256, k1 = min(K, k0 + 256);
    __global float *restrict out = packed + at + line * K + k0 * 4;
    __global const float *restrict in = X + x_offset + k0;
    const long l0 = min(line, lines - 1) * ldx;
    const long l1 = min(line + 1, lines - 1) * ldx;
    const long l2 = min(line + 2, lines - 1) * ldx;
    const long l3 = min(line + 3, lines - 1) * ldx;
    long k = k0;
    // A square of lines by k is transposed: each step puts the even and the odd elements of two
    // neighbours together.
    for (; k + 4 <= k1; k += 4, in += 4, out += 16) {
        const float4 x0_0 = vload4(0, in + l0);
        const float4 x0_1 = vload4(0, in + l1);
        const float4 x0_2 = vload4(0, in + l2);
        const float4 x0_3 = vload4(0, in + l3);
        const float4 x1_0 = (float4) (x0_0.even, x0_1.even);
        const float4 x1_2 = (float4) (x0_0.odd, x0_1.odd);
        const float4 x1_1 = (float4) (x0_2.even, x0_3.even);
        const float4 x1_3 = (float4) (x0_2.odd, x0_3.odd);
        const float4 x2_0 = (float4) (x1_0.even, x1_1.even);
        const float4 x2_2 = (float4) (x1_0.odd, x1_1.odd);
        const float4 x2_1 = (float4) (x1_2.even, x1_3.even);
        const float4 x2_3 = (float4) (x1_2.odd, x1_3.odd);
        vstore4(x2_0, 0, out);
        vstore4(x2_1, 0, out + 4);
        vstore4(x2_2, 0, out + 8);
        vstore4(x2_3, 0, out + 12);
    }
    for (; k < k1; k++, in++, out += 4) {
        out[0] = load(in + l0);
        out[1] = load(in + l1);
        out[2] = load(in + l2);
        out[3] = load(in + l3);
    }
}

// C = alpha A B + beta C from packed A and packed B; C is M x N, row-major.
//
// What is packed lies panel after panel: for every k, a panel's 2 rows or 4 columns.
// A work-group is one work-item; it computes up to 2 x 2 blocks of 2 x 4, each held in registers.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void kiln_sgemmt_packed_multiply(long M, long N, long K,
        float alpha, float beta,
        __global const float *restrict packed_a, long a_at,
        __global const float *restrict packed_b, long b_at,
        __global float *restrict C, long c_offset, long ldc, int triangle)
{
    const long first_row = get_group_id(1) * 4, end_row = min(first_row + 4, M);
    const long first_col = get_group_id(0) * 8, end_col = min(first_col + 8, N);
    C += c_offset;

    // Columns in the outer loop: a panel of B stays in the nearest cache for 2 panels of A.
    for (long col = first_col; col < end_col; col += 4)
        for (long row = first_row; row < end_row; row += 2) {
            if (is_left_out(row, col, 2, 4, triangle))
                continue;
            __global const float *restrict b = packed_b + b_at + col * K;
            __global const float *restrict a = packed_a + a_at + row * K;
            float4 c0_0 = 0;
            float4 c1_0 = 0;
            for (long k = 0; k < K; k++) {
                const float4 b0 = vload4(0, b);
                const float a0 = a[0];
                c0_0 += a0 * b0;
                const float a1 = a[1];
                c1_0 += a1 * b0;
                b += 4;
                a += 2;
            }
            // Of C = alpha c + beta C for 2 x 4 of C from (row, col) on, what is in the triangle.
            if (row < M) {
                __global float *out = C + row * ldc + col;
                const long2 stored = stored_columns(row, N, triangle);
                float x[4];
                vstore4(c0_0, 0, x);
                for (int i = 0; i < 4; i++) {
                    const int n = i;
                    if (col + n >= stored.x && col + n < stored.y)
                        put(x[i], alpha, beta, out + n);
                }
            }
            if (row + 1 < M) {
                __global float *out = C + (row + 1) * ldc + col;
                const long2 stored = stored_columns(row + 1, N, triangle);
                float x[4];
                vstore4(c1_0, 0, x);
                for (int i = 0; i < 4; i++) {
                    const int n = i;
                    if (col + n >= stored.x && col + n < stored.y)
                        put(x[i], alpha, beta, out + n);
                }
            }
        }
}
