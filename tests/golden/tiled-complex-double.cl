#pragma OPENCL EXTENSION cl_khr_fp64 : enable

static double2 load(__global const double2 *p)
{
    return vload2(0, (__global const double *) p);
}

static void store(double2 x, __global double2 *p)
{
    vstore2(x, 0, (__global double *) p);
}

// x times (re, im). A factor that is real multiplies each part alone, as real products do.
static double2 scaled(double2 x, double re, double im)
{
    return im == 0 ? re * x : (double2) (re * x.x - im * x.y, re * x.y + im * x.x);
}

// C = alpha x + beta C for one element, x conjugated if so; beta == 0 does not read C.
static void put(double2 x, int is_conjugated, double alpha, double alpha_imag,
        double beta, double beta_imag, __global double2 *p)
{
    x.y *= is_conjugated ? -1 : 1;
    x = scaled(x, alpha, alpha_imag);
    if (beta != 0 || beta_imag != 0)
        x += scaled(load(p), beta, beta_imag);
    store(x, p);
}

// The elements of x times i.
static double2 times_i(double2 x)
{
    return (double2) (x.y * -1, x.x);
}

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored M x K.
// B is stored N x K.
// A work-group of 4 x 4 work-items computes 8 x 8 of C. K advances by 4.
// A work-item has 2 x 2 of it, vectors 4 apart.
// Tiles of A and B go through local memory.
__kernel __attribute__((reqd_work_group_size(4, 4, 1)))
void kiln_zgemm_tiled_multiply(int M, int N, int K,
        double alpha, double alpha_imag, double beta, double beta_imag, int conj_a, int conj_b,
        __global const double2 *restrict A, int a_offset, int a_stride, int lda,
        __global const double2 *restrict B, int b_offset, int b_stride, int ldb,
        __global double2 *restrict C, int c_offset, int c_stride, int ldc)
{
    __local double2 a_tile[4][9];
    __local double2 b_tile[4][9];
    const int local_m = get_local_id(1), local_n = get_local_id(0);
    const int item = local_m * 4 + local_n;
    const int first_m = (int) get_group_id(1) * 8;
    const int first_n = (int) get_group_id(0) * 8;
    const int row = first_m + local_m * 2, col = first_n + local_n;
    const int member = get_group_id(2);
    A += a_offset + member * a_stride;
    B += b_offset + member * b_stride;
    C += c_offset + member * c_stride;
    // conj(A) B is the conjugate of A conj(B): until C is stored, only B is conjugated.
    const double sign = conj_a == conj_b ? 1 : -1;
    const double2 signs = (double2) (1, sign);

    // Accumulators are scalars by name, so that no compiler has to promote an array to registers.
    double2 c0_0 = 0, c0_1 = 0;
    double2 c1_0 = 0, c1_1 = 0;

    // While the tile at k0 is multiplied, the next one, at k1, is fetched.
    double2 a_next0, a_next1;
    double2 b_next0, b_next1;
    int k1 = 0;
    if (K > 0) {
        // A tile of A, 4 deep, into registers.
        {
            const int e = item, k = e % 4, m = e / 4;
            const int row_a = min(first_m + m, M - 1), at_k = min(k1 + k, K - 1);
            a_next0 = load(A + row_a * lda + at_k);
        }
        {
            const int e = item + 16, k = e % 4, m = e / 4;
            const int row_a = min(first_m + m, M - 1), at_k = min(k1 + k, K - 1);
            a_next1 = load(A + row_a * lda + at_k);
        }
        // A tile of B, 4 deep, into registers.
        {
            const int e = item, k = e % 4, n = e / 4;
            const int at_k = min(k1 + k, K - 1), col_b = min(first_n + n, N - 1);
            b_next0 = load(B + col_b * ldb + at_k) * signs;
        }
        {
            const int e = item + 16, k = e % 4, n = e / 4;
            const int at_k = min(k1 + k, K - 1), col_b = min(first_n + n, N - 1);
            b_next1 = load(B + col_b * ldb + at_k) * signs;
        }
    }
    for (int k0 = 0; k0 < K; k0 += 4) {
        // What was fetched becomes tiles.
        {
            const int e = item, k = e % 4, m = e / 4;
            a_tile[k][m] = a_next0;
        }
        {
            const int e = item + 16, k = e % 4, m = e / 4;
            a_tile[k][m] = a_next1;
        }
        {
            const int e = item, k = e % 4, n = e / 4;
            b_tile[k][n] = b_next0;
        }
        {
            const int e = item + 16, k = e % 4, n = e / 4;
            b_tile[k][n] = b_next1;
        }
        // The tiles are there.
        barrier(CLK_LOCAL_MEM_FENCE);

        k1 += 4;
        if (k1 < K) {
            // A tile of A, 4 deep, into registers.
            {
                const int e = item, k = e % 4, m = e / 4;
                const int row_a = min(first_m + m, M - 1), at_k = min(k1 + k, K - 1);
                a_next0 = load(A + row_a * lda + at_k);
            }
            {
                const int e = item + 16, k = e % 4, m = e / 4;
                const int row_a = min(first_m + m, M - 1), at_k = min(k1 + k, K - 1);
                a_next1 = load(A + row_a * lda + at_k);
            }
            // A tile of B, 4 deep, into registers.
            {
                const int e = item, k = e % 4, n = e / 4;
                const int at_k = min(k1 + k, K - 1), col_b = min(first_n + n, N - 1);
                b_next0 = load(B + col_b * ldb + at_k) * signs;
            }
            {
                const int e = item + 16, k = e % 4, n = e / 4;
                const int at_k = min(k1 + k, K - 1), col_b = min(first_n + n, N - 1);
                b_next1 = load(B + col_b * ldb + at_k) * signs;
            }
        }

        const int depth = min(K - k0, 4);
        for (int k = 0; k < depth; k++) {
            const double2 b0 = b_tile[k][local_n];
            const double2 b1 = b_tile[k][local_n + 4];
            const double2 q0 = times_i(b0);
            const double2 q1 = times_i(b1);
            const double2 a0 = a_tile[k][local_m * 2];
            c0_0 += a0.s0 * b0; c0_1 += a0.s0 * b1;
            c0_0 += a0.s1 * q0; c0_1 += a0.s1 * q1;
            const double2 a1 = a_tile[k][local_m * 2 + 1];
            c1_0 += a1.s0 * b0; c1_1 += a1.s0 * b1;
            c1_0 += a1.s1 * q0; c1_1 += a1.s1 * q1;
        }
        // The tiles have been read.
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    // C = alpha c + beta C for 2 x 2 of C from (row, col) on.
    if (row < M) {
        __global double2 *out = C + row * ldc + col;
        if (col < N)
            put(c0_0, conj_a, alpha, alpha_imag, beta, beta_imag, out);
        if (col + 4 < N)
            put(c0_1, conj_a, alpha, alpha_imag, beta, beta_imag, out + 4);
    }
    if (row + 1 < M) {
        __global double2 *out = C + (row + 1) * ldc + col;
        if (col < N)
            put(c1_0, conj_a, alpha, alpha_imag, beta, beta_imag, out);
        if (col + 4 < N)
            put(c1_1, conj_a, alpha, alpha_imag, beta, beta_imag, out + 4);
    }
}
