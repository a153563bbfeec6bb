#pragma OPENCL EXTENSION cl_khr_fp64 : enable

static double2 load(__global const double2 *p)
{
    return vload2(0, (__global const double *) p);
}

static void store(double2 x, __global double2 *p)
{
    vstore2(x, 0, (__global double *) p);
}

// The first column of a row that is stored, and the one behind the last. `triangle` is 0 for all of
// C, 1 or -1 for its lower or upper triangle, 2 or -2 for the same where an element is two columns.
static int2 stored_columns(int row, int N, int triangle)
{
    return (int2) (triangle < 0 ? row * -triangle : 0,
            triangle > 0 ? min(N, (row + 1) * triangle) : N);
}

// Is nothing stored of a block of C? `triangle` is 0 for all of C, 1 or -1 for its lower or upper
// triangle, 2 or -2 for the same where an element is two columns.
static bool is_left_out(int row, int col, int rows, int columns, int triangle)
{
    return triangle > 0 ? col >= (row + rows) * triangle
            : triangle < 0 && col + columns <= row * -triangle;
}

// An element of the diagonal of a Hermitian matrix.
static void make_real(__global double2 *p)
{
    ((__global double *) p)[1] = 0;
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
// A is stored K x M.
// B is stored N x K.
// A work-group of 4 x 4 work-items computes 8 x 8 of C. K advances by 4.
// A work-item has 2 x 2 of it, vectors 4 apart.
// Tiles of A and B go through local memory.
// Parts of K lie along axis 2, which another kernel adds up; of a batch its members.
__kernel __attribute__((reqd_work_group_size(4, 4, 1)))
void kiln_zgemmt_tiled_multiply(int M, int N, int K,
        double alpha, double alpha_imag, double beta, double beta_imag, int conj_a, int conj_b,
                int num_parts,
        __global double2 *restrict parts, long parts_at,
        __global const double2 *restrict A, int a_offset, int a_stride, int lda,
        __global const double2 *restrict B, int b_offset, int b_stride, int ldb,
        __global double2 *restrict C, int c_offset, int c_stride, int ldc, int triangle,
                int is_hermitian)
{
    __local double2 a_tile[4][8];
    __local double2 b_tile[4][8];
    const int local_m = get_local_id(1), local_n = get_local_id(0);
    const int item = local_m * 4 + local_n;
    const int first_m = (int) get_group_id(1) * 8;
    const int first_n = (int) get_group_id(0) * 8;
    // Of what is not stored nothing is multiplied. No work-item leaves before the others are
    // through: PoCL 3.1 gets barriers behind a return wrong.
    if (is_left_out(first_m, first_n, 8, 8, triangle))
        K = 0;
    const int row = first_m + local_m * 2, col = first_n + local_n;
    const int member = get_group_id(2) / num_parts;
    A += a_offset + member * a_stride;
    B += b_offset + member * b_stride;
    C += c_offset + member * c_stride;
    // conj(A) B is the conjugate of A conj(B): until C is stored, only B is conjugated.
    const double sign = conj_a == conj_b ? 1 : -1;
    const double2 signs = (double2) (1, sign);
    // A part of K has whole steps of 4, as many as another or one more.
    const int steps = K / 4 + (K % 4 != 0);
    const int own_part = get_group_id(2) % num_parts;
    const int each = steps / num_parts, longer = steps % num_parts;
    const int from = (own_part * each + min(own_part, longer)) * 4;
    const int to = min(from + (each + (own_part < longer)) * 4, K);
    K = to - from;
    A += from * lda;
    B += from;

    // Accumulators are scalars by name, so that no compiler has to promote an array to registers.
    double2 c0_0 = 0, c0_1 = 0;
    double2 c1_0 = 0, c1_1 = 0;

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
        // A tile of B, 4 deep, one row for each k: transposed.
        {
            const int e = item, k = e % 4, n = e / 4;
            const int at_k = min(k0 + k, K - 1), col_b = min(first_n + n, N - 1);
            b_tile[k][n] = load(B + col_b * ldb + at_k) * signs;
        }
        {
            const int e = item + 16, k = e % 4, n = e / 4;
            const int at_k = min(k0 + k, K - 1), col_b = min(first_n + n, N - 1);
            b_tile[k][n] = load(B + col_b * ldb + at_k) * signs;
        }
        // The tiles are there.
        barrier(CLK_LOCAL_MEM_FENCE);

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

    if (num_parts > 1) {
        // The tile, as it is, to what this part has of C; there is room for whole tiles.
        const int ld = (int) get_num_groups(0) * 8;
        __global double2 *own = parts + parts_at + (long) own_part * get_num_groups(1) * 8 * ld;
        {
            __global double2 *out = own + row * ld + col;
            out[0] = c0_0;
            out[4] = c0_1;
        }
        {
            __global double2 *out = own + (row + 1) * ld + col;
            out[0] = c1_0;
            out[4] = c1_1;
        }
        return;
    }
    // Of C = alpha c + beta C for 2 x 2 of C from (row, col) on, what is in the triangle.
    if (row < M) {
        __global double2 *out = C + row * ldc + col;
        const int2 stored = stored_columns(row, N, triangle);
        if (col >= stored.x && col < stored.y)
            put(c0_0, conj_a, alpha, alpha_imag, beta, beta_imag, out);
        if (col + 4 >= stored.x && col + 4 < stored.y)
            put(c0_1, conj_a, alpha, alpha_imag, beta, beta_imag, out + 4);
        if (is_hermitian && row >= col && row < col + 1)
            make_real(out + (row - col));
        if (is_hermitian && row >= col + 4 && row < col + 5)
            make_real(out + (row - col));
    }
    if (row + 1 < M) {
        __global double2 *out = C + (row + 1) * ldc + col;
        const int2 stored = stored_columns(row + 1, N, triangle);
        if (col >= stored.x && col < stored.y)
            put(c1_0, conj_a, alpha, alpha_imag, beta, beta_imag, out);
        if (col + 4 >= stored.x && col + 4 < stored.y)
            put(c1_1, conj_a, alpha, alpha_imag, beta, beta_imag, out + 4);
        if (is_hermitian && row + 1 >= col && row + 1 < col + 1)
            make_real(out + (row + 1 - col));
        if (is_hermitian && row + 1 >= col + 4 && row + 1 < col + 5)
            make_real(out + (row + 1 - col));
    }
}

// C = alpha sum + beta C: adds up what each part of K has of an element, always in the same order.
// A part has room for whole tiles of 8 x 8.
__kernel __attribute__((reqd_work_group_size(32, 2, 1)))
void kiln_zgemmt_tiled_add(int M, int N,
        double alpha, double alpha_imag, double beta, double beta_imag, int conj_a, int num_parts,
        __global const double2 *restrict parts, long parts_at,
        __global double2 *restrict C, int c_offset, int ldc, int triangle, int is_hermitian)
{
    const int row = get_group_id(0), col = (int) get_group_id(1) * 32 + get_local_id(0);
    const int ld = (N + 7) / 8 * 8;
    const long size = (long) ((M + 7) / 8 * 8) * ld;
    __global const double2 *first = parts + parts_at + (long) row * ld + min(col, N - 1);
    double2 sum = 0;
    // Each of 2 work-items adds up one part in 2; the first then adds up their sums.
    __local double2 sums[2][32];
    const int way = get_local_id(1), adder = get_local_id(0);
    #pragma unroll 4
    for (int p = way; p < num_parts; p += 2)
        sum += first[p * size];
    sums[way][adder] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (way > 0)
        return;
    sum += sums[1][adder];
    const int2 stored = stored_columns(row, N, triangle);
    if (col >= stored.x && col < stored.y)
        put(sum, conj_a, alpha, alpha_imag, beta, beta_imag, C + c_offset + row * ldc + col);
    if (is_hermitian && row == col)
        make_real(C + c_offset + row * ldc + col);
}
