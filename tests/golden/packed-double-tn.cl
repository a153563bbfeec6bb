#pragma OPENCL EXTENSION cl_khr_fp64 : enable
// Elements of double are computed with as double. A product and a sum are fused where the device
// does that in one step: FP_CONTRACT, on by default, allows it.
static double load(__global const double *p)
{
    return *p;
}

static void store(double x, __global double *p)
{
    *p = x;
}

// C = alpha x + beta C for one element; beta == 0 does not read C.
static void put(double x, double alpha, double beta, __global double *p)
{
    store(beta == 0 ? alpha * x : alpha * x + beta * load(p), p);
}

static double2 load_vector(__global const double *p)
{
    return vload2(0, p);
}

static void store_vector(double2 x, __global double *p)
{
    vstore2(x, 0, p);
}

// put for elements side by side.
static void put_vector(double2 x, double alpha, double beta, __global double *p)
{
    if (beta == 0)
        store_vector(alpha * x, p);
    else
        store_vector(alpha * x + beta * load_vector(p), p);
}

// Packs a matrix into panels of 2: panel p holds, for every k, the lines p * 2 to p * 2 + 1 side by
// side. Lines past the end repeat the last one; what is computed from them is not stored. One
// work-item packs 256 values of k of one panel.
// The source is K x lines: those of one k side by side.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void kiln_dgemm_packed_packa(long lines, long K,
        __global const double *restrict X, long x_offset, long ldx,
        __global double *restrict packed, long at)
{
    const long line = get_group_id(0) * 2;
    const long k0 = get_group_id(1) * 256, k1 = min(K, k0 + 256);
    __global double *restrict out = packed + at + line * K + k0 * 2;
    __global const double *restrict in = X + x_offset + k0 * ldx + line;
    if (line + 2 <= lines) {
        for (long k = k0; k < k1; k++, in += ldx, out += 2) {
            vstore2(vload2(0, in), 0, out);
        }
    } else {
        for (long k = k0; k < k1; k++, in += ldx, out += 2)
            for (int i = 0; i < 2; i++)
                out[i] = load(in + min((long) i, lines - 1 - line));
    }
}

// Packs a matrix into panels of 2: panel p holds, for every k, the lines p * 2 to p * 2 + 1 side by
// side. Lines past the end repeat the last one; what is computed from them is not stored. One
// work-item packs 256 values of k of one panel.
// The source is K x lines: those of one k side by side.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void kiln_dgemm_packed_packb(long lines, long K,
        __global const double *restrict X, long x_offset, long ldx,
        __global double *restrict packed, long at)
{
    const long line = get_group_id(0) * 2;
    const long k0 = get_group_id(1) * 256, k1 = min(K, k0 + 256);
    __global double *restrict out = packed + at + line * K + k0 * 2;
    __global const double *restrict in = X + x_offset + k0 * ldx + line;
    if (line + 2 <= lines) {
        for (long k = k0; k < k1; k++, in += ldx, out += 2) {
            vstore2(vload2(0, in), 0, out);
        }
    } else {
        for (long k = k0; k < k1; k++, in += ldx, out += 2)
            for (int i = 0; i < 2; i++)
                out[i] = load(in + min((long) i, lines - 1 - line));
    }
}

// C = alpha A B + beta C from packed A and packed B; C is M x N, row-major.
//
// What is packed lies panel after panel: for every k, a panel's 2 rows or 2 columns.
// A work-group is one work-item; it computes up to 2 x 2 blocks of 2 x 2, each held in registers.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void kiln_dgemm_packed_multiply(long M, long N, long K,
        double alpha, double beta,
        __global const double *restrict packed_a, long a_at,
        __global const double *restrict packed_b, long b_at,
        __global double *restrict C, long c_offset, long ldc)
{
    const long first_row = get_group_id(1) * 4, end_row = min(first_row + 4, M);
    const long first_col = get_group_id(0) * 4, end_col = min(first_col + 4, N);
    C += c_offset;

    // Columns in the outer loop: a panel of B stays in the nearest cache for 2 panels of A.
    for (long col = first_col; col < end_col; col += 2)
        for (long row = first_row; row < end_row; row += 2) {
            __global const double *restrict b = packed_b + b_at + col * K;
            __global const double *restrict a = packed_a + a_at + row * K;
            double2 c0_0 = 0;
            double2 c1_0 = 0;
            for (long k = 0; k < K; k++) {
                const double2 b0 = vload2(0, b);
                const double a0 = a[0];
                c0_0 += a0 * b0;
                const double a1 = a[1];
                c1_0 += a1 * b0;
                b += 2;
                a += 2;
            }
            // C = alpha c + beta C for the 2 x 2 block at (row, col).
            if (row < M) {
                __global double *out = C + row * ldc + col;
                if (col + 2 <= N) {
                    put_vector(c0_0, alpha, beta, out);
                } else {
                    double x[2];
                    vstore2(c0_0, 0, x);
                    for (int n = 0; n < 2 && col + n < N; n++)
                        put(x[n], alpha, beta, out + n);
                }
            }
            if (row + 1 < M) {
                __global double *out = C + (row + 1) * ldc + col;
                if (col + 2 <= N) {
                    put_vector(c1_0, alpha, beta, out);
                } else {
                    double x[2];
                    vstore2(c1_0, 0, x);
                    for (int n = 0; n < 2 && col + n < N; n++)
                        put(x[n], alpha, beta, out + n);
                }
            }
        }
}
