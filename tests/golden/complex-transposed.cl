#pragma OPENCL EXTENSION cl_khr_fp64 : enable

// Is nothing stored of a block of C? `triangle` is 0 for all of C, 1 or -1 for its lower or upper
// triangle, 2 or -2 for the same where an element is two columns.
static bool is_left_out(long row, long col, int rows, int columns, int triangle)
{
    return triangle > 0 ? col >= (row + rows) * triangle
            : triangle < 0 && col + columns <= row * -triangle;
}

// Elements lie at multiples of their parts: the application's own memory may begin at any.
static double2 load(__global const double *X, long at)
{
    return vload2(at, X);
}

static void store(double2 x, __global double *X, long at)
{
    vstore2(x, at, X);
}

static double2 product(double2 x, double2 y)
{
    return (double2) (x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);
}

// A step before a real product: op(A) by rows, M x K, from A stored K x M, conjugated if asked for.
// Rows of what is written are whole pairs of elements.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void kiln_zgemm_complex_transpose(long M, long K,
        __global const double *restrict A, long a_offset, long lda, int conj_a,
        __global double *restrict packed_a, long a_at)
{
    const long first_k = get_group_id(0) * 32, end_k = min(first_k + 32, K);
    const long first_m = get_group_id(1) * 256, end_m = min(first_m + 256, M);
    const long ld = (K + 1) / 2 * 2;
    const double sign = conj_a ? -1 : 1;
    // Blocks whose lines find room in the first cache, even where rows meet there.
    for (long m0 = first_m; m0 < end_m; m0 += 8)
        for (long k0 = first_k; k0 < end_k; k0 += 8)
            for (long m = m0; m < min(m0 + 8, end_m); m++)
                for (long k = k0; k < min(k0 + 8, end_k); k++) {
                    const double2 element = load(A, a_offset + k * lda + m);
                    store((double2) (element.x, sign * element.y), packed_a, a_at + m * ld + k);
                }
}

// A step before a real product: op(B), K x N, from B stored N x K, conjugated if asked for.
// Each element b becomes two rows of two real columns, (re b, im b) and (-im b, re b), so that the
// product of A's elements as pairs of reals with it is that of complex numbers. Rows are whole
// pairs of elements.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void kiln_zgemm_complex_expand(long N, long K,
        __global const double *restrict B, long b_offset, long ldb, int conj_b,
        __global double *restrict packed_b, long b_at)
{
    const long first_n = get_group_id(0) * 32, end_n = min(first_n + 32, N);
    const long first_k = get_group_id(1) * 256, end_k = min(first_k + 256, K);
    const long ld = (N + 1) / 2 * 2;
    const double sign = conj_b ? -1 : 1;
    // Blocks whose lines find room in the first cache, even where rows meet there.
    for (long k0 = first_k; k0 < end_k; k0 += 8)
        for (long n0 = first_n; n0 < end_n; n0 += 8)
            for (long k = k0; k < min(k0 + 8, end_k); k++)
                for (long n = n0; n < min(n0 + 8, end_n); n++) {
                    const double2 b = load(B, b_offset + n * ldb + k) * (double2) (1, sign);
                    const long at = 2 * b_at + 2 * k * ld + n;
                    store(b, packed_b, at);
                    store((double2) (-b.y, b.x), packed_b, at + ld);
                }
}

// A step before a real product: what `expand` made of op(B), times a complex alpha.
__kernel __attribute__((reqd_work_group_size(32, 4, 1)))
void kiln_zgemm_complex_rotate(long N, long K,
        double alpha, double alpha_imag,
        __global const double *restrict packed_b, long b_at,
        __global double *restrict work, long work_at)
{
    const long n = get_group_id(0) * 32 + get_local_id(0), ld = (N + 1) / 2 * 2;
    const long first_k = get_group_id(1) * 256, end = min(first_k + 256, K);
    for (long k = 2 * first_k + get_local_id(1); k < 2 * end; k += 4)
        if (n < N)
            store(product((double2) (alpha, alpha_imag), load(packed_b, 2 * b_at + k * ld + n)),
                    work, 2 * work_at + k * ld + n);
}

// A step before a real product: C (M x N) times a complex beta, as far as it is stored.
__kernel __attribute__((reqd_work_group_size(32, 4, 1)))
void kiln_zgemm_complex_scale(long M, long N, double beta, double beta_imag,
        __global double *restrict C, long c_offset, long ldc, int triangle)
{
    const long n = get_group_id(0) * 32 + get_local_id(0);
    const long first_m = get_group_id(1) * 256, end = min(first_m + 256, M);
    for (long m = first_m + get_local_id(1); m < end; m += 4)
        if (n < N && !is_left_out(m, n, 1, 1, triangle)) {
            const long at = c_offset + m * ldc + n;
            store(product((double2) (beta, beta_imag), load(C, at)), C, at);
        }
}

// The diagonal of C, which is Hermitian: its imaginary parts become 0.
__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void kiln_zgemm_complex_diagonal(long M, __global double *restrict C, long c_offset, long ldc)
{
    const long m = get_global_id(0);
    if (m < M)
        C[2 * (c_offset + m * ldc + m) + 1] = 0;
}
