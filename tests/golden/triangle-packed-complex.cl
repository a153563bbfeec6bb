static float2 load(__global const float2 *p)
{
    return vload2(0, (__global const float *) p);
}

static void store(float2 x, __global float2 *p)
{
    vstore2(x, 0, (__global float *) p);
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

// An element of the diagonal of a Hermitian matrix.
static void make_real(__global float2 *p)
{
    ((__global float *) p)[1] = 0;
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

// Packs a matrix into panels of 2: panel p holds, for every k, the lines p * 2 to p * 2 + 1 side by
// side, conjugated if asked for. Lines past the end repeat the last one; what is computed from them
// is not stored. One work-item packs 256 values of k of one panel.
// The source is lines x K: line after line.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void kiln_cgemmt_packed_packa(long lines, long K,
        __global const float2 *restrict X, long x_offset, long ldx,
        __global float *restrict packed, long at, int is_conjugated)
{
    const long line = get_group_id(0) * 2;
    const long k0 = get_group_id(1) * 256, k1 = min(K, k0 + 256);
    const float2 signs = (float2) (1, is_conjugated ? -1 : 1);
    __global float *restrict out = packed + 2 * (at + line * K + k0 * 2);
    __global const float2 *restrict in = X + x_offset + k0;
    const long l0 = min(line, lines - 1) * ldx;
    const long l1 = min(line + 1, lines - 1) * ldx;
    for (long k = k0; k < k1; k++, in++, out += 4) {
        vstore2(load(in + l0) * signs, 0, out);
        vstore2(load(in + l1) * signs, 1, out);
    }
}

// Packs a matrix into panels of 2: panel p holds, for every k, the lines p * 2 to p * 2 + 1 side by
// side, conjugated if asked for. Lines past the end repeat the last one; what is computed from them
// is not stored. One work-item packs 256 values of k of one panel.
// The source is lines x K: line after line.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void kiln_cgemmt_packed_packb(long lines, long K,
        __global const float2 *restrict X, long x_offset, long ldx,
        __global float *restrict packed, long at, int is_conjugated)
{
    const long line = get_group_id(0) * 2;
    const long k0 = get_group_id(1) * 256, k1 = min(K, k0 + 256);
    const float2 signs = (float2) (1, is_conjugated ? -1 : 1);
    __global float *restrict out = packed + 2 * (at + line * K + k0 * 2);
    __global const float2 *restrict in = X + x_offset + k0;
    const long l0 = min(line, lines - 1) * ldx;
    const long l1 = min(line + 1, lines - 1) * ldx;
    for (long k = k0; k < k1; k++, in++, out += 4) {
        vstore2(load(in + l0) * signs, 0, out);
        vstore2(load(in + l1) * signs, 1, out);
    }
}

// C = alpha A B + beta C from packed A and packed B; C is M x N, row-major.
//
// What is packed lies panel after panel: for every k, a panel's 2 rows or 2 columns.
// A work-group is one work-item; it computes up to 2 x 2 blocks of 2 x 2, each held in registers.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void kiln_cgemmt_packed_multiply(long M, long N, long K,
        float alpha, float alpha_imag, float beta, float beta_imag,
        __global const float *restrict packed_a, long a_at,
        __global const float *restrict packed_b, long b_at,
        __global float2 *restrict C, long c_offset, long ldc, int triangle, int is_hermitian)
{
    const long first_row = get_group_id(1) * 4, end_row = min(first_row + 4, M);
    const long first_col = get_group_id(0) * 4, end_col = min(first_col + 4, N);
    C += c_offset;
    // Operands were conjugated as they were packed.
    const int conj_a = 0;

    // Columns in the outer loop: a panel of B stays in the nearest cache for 2 panels of A.
    for (long col = first_col; col < end_col; col += 2)
        for (long row = first_row; row < end_row; row += 2) {
            if (is_left_out(row, col, 2, 2, triangle))
                continue;
            __global const float *restrict b = packed_b + 2 * (b_at + col * K);
            __global const float *restrict a = packed_a + 2 * (a_at + row * K);
            float4 c0_0 = 0;
            float4 c1_0 = 0;
            for (long k = 0; k < K; k++) {
                const float4 b0 = vload4(0, b);
                c0_0 += a[0] * b0;
                c1_0 += a[2] * b0;
                const float4 q0 = times_i(b0);
                c0_0 += a[1] * q0;
                c1_0 += a[3] * q0;
                b += 4;
                a += 4;
            }
            // Of C = alpha c + beta C for 2 x 2 of C from (row, col) on, what is in the triangle.
            if (row < M) {
                __global float2 *out = C + row * ldc + col;
                const long2 stored = stored_columns(row, N, triangle);
                float2 x[2];
                vstore4(c0_0, 0, (float *) &x[0]);
                for (int i = 0; i < 2; i++) {
                    const int n = i;
                    if (col + n >= stored.x && col + n < stored.y)
                        put(x[i], conj_a, alpha, alpha_imag, beta, beta_imag, out + n);
                }
                if (is_hermitian && row >= col && row < col + 2)
                    make_real(out + (row - col));
            }
            if (row + 1 < M) {
                __global float2 *out = C + (row + 1) * ldc + col;
                const long2 stored = stored_columns(row + 1, N, triangle);
                float2 x[2];
                vstore4(c1_0, 0, (float *) &x[0]);
                for (int i = 0; i < 2; i++) {
                    const int n = i;
                    if (col + n >= stored.x && col + n < stored.y)
                        put(x[i], conj_a, alpha, alpha_imag, beta, beta_imag, out + n);
                }
                if (is_hermitian && row + 1 >= col && row + 1 < col + 2)
                    make_real(out + (row + 1 - col));
            }
        }
}
