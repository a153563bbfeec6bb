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

static double2 load_vector(__global const double *p)
{
    return vload2(0, p);
}

static void store_vector(double2 x, __global double *p)
{
    vstore2(x, 0, p);
}

// Copies X, whose lines meet in the product, to the workspace in blocks of 4 x 8, one for each
// work-group. What lies beyond `lines` and K becomes 0.
// X is stored K x lines; the copy is, for every 4 of K, block after block, each 4 x 8.
__kernel __attribute__((reqd_work_group_size(16, 4, 1)))
void kiln_dgemm_blockmajor_copya(long lines, long K,
        __global const double *restrict X, long x_offset, long ldx,
        __global double *restrict work, long at)
{
    const int x = get_local_id(0), y = get_local_id(1);
    const long first_line = (long) get_group_id(0) * 8;
    const long first_k = (long) get_group_id(1) * 4;
    // The block as the copy sees it: its rows, its columns, and how many of them X has.
    const long rows = K - first_k, cols = lines - first_line;
    const long width = (lines + 7) / 8 * 8, ld = 8;
    __global double *out = work + at + first_k * width + first_line * 4;
    X += x_offset + first_k * ldx + first_line;
    for (int row = y; row < 4; row += 4)
        for (int col = x; col < 8; col += 16)
            out[row * ld + col] = row < rows && col < cols ? load(X + row * ldx + col) : 0;
}

// Copies X, whose lines meet in the product, to the workspace in blocks of 4 x 8, one for each
// work-group. What lies beyond `lines` and K becomes 0.
// X is stored lines x K; the copy is, for every 4 of K, block after block, each 4 x 8.
__kernel __attribute__((reqd_work_group_size(16, 4, 1)))
void kiln_dgemm_blockmajor_copyb(long lines, long K,
        __global const double *restrict X, long x_offset, long ldx,
        __global double *restrict work, long at)
{
    const int x = get_local_id(0), y = get_local_id(1);
    const long first_line = (long) get_group_id(0) * 8;
    const long first_k = (long) get_group_id(1) * 4;
    // The block as the copy sees it: its rows, its columns, and how many of them X has.
    const long rows = K - first_k, cols = lines - first_line;
    const long width = (lines + 7) / 8 * 8, ld = 8;
    __global double *out = work + at + first_k * width + first_line * 4;
    X += x_offset + first_line * ldx + first_k;
    // Turned by tiles in local memory, so that both sides are read and written along lines.
    __local double tile[16][17];
    for (int i = y; i < 8; i += 4)
        tile[i][x] = x < rows && i < cols ? load(X + i * ldx + x) : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = y; i < 4; i += 4)
        if (x < 8)
            out[i * ld + x] = tile[x][i];
    barrier(CLK_LOCAL_MEM_FENCE);
}

// C = alpha op(A) op(B) + beta C by blocks of 8 x 8 x 4; C is M x N, row-major.
// A lies in the workspace as blocks of 4 x 8, and B of 4 x 8: for every 4 of K, block after block.
// What lies in the workspace is padded with zeros to whole blocks.
// Each of 4 x 4 work-items computes 2 x 2 of the work-group's block.

// A vector of A, out of the workspace.
static double2 fetch_a(__global const double *X, long at)
{
    return vload2(0, X + at);
}

// A vector of B, out of the workspace.
static double2 fetch_b(__global const double *X, long at)
{
    return vload2(0, X + at);
}

// C = x + beta C for a vector of C, of which the first `left` elements are inside.
static void update(double2 x, double beta, __global double *C, long left)
{
    if (left < 2) {
        double parts[2];
        vstore2(x, 0, parts);
        for (int i = 0; i < left; i++)
            store(beta == 0 ? parts[i] : parts[i] + beta * load(C + i), C + i);
        return;
    }
    if (beta == 0)
        store_vector(x, C);
    else
        store_vector(x + beta * load_vector(C), C);
}

__kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void kiln_dgemm_blockmajor_multiply(long M, long N, long K,
        double alpha, double beta,
        __global const double *restrict A, long a_at,
        __global const double *restrict B, long b_at,
        __global double *restrict C, long c_offset, long ldc)
{
    const int item = get_local_id(0);
    const int tile_m = item / 4 * 2, tile_n = item % 4 * 2;
    const long first_m = (long) get_group_id(1) * 8;
    const long first_n = (long) get_group_id(0) * 8;
    // Where the work-group's blocks of A and B begin, and how far it is to the next ones.
    long a = 0;
    A += a_at;
    const long lda = 8;
    const long next_a = (M + 7) / 8 * 32;
    a += first_m * 4;
    long b = 0;
    B += b_at;
    const long ldb = 8;
    const long next_b = (N + 7) / 8 * 32;
    b += first_n * 4;
    double2 c0_0 = 0;
    double2 c1_0 = 0;

    for (long k0 = 0; k0 < K; k0 += 4, a += next_a, b += next_b) {
        for (int k = 0; k < 4; k += 2) {
            // 2 steps of k: 2 rows of A by 2 columns of B.
            const double2 a0_0 = fetch_a(A, a + k * lda + tile_m);
            const double2 a1_0 = fetch_a(A, a + (k + 1) * lda + tile_m);
            const double2 b0_0 = fetch_b(B, b + k * ldb + tile_n);
            const double2 b1_0 = fetch_b(B, b + (k + 1) * ldb + tile_n);
            c0_0 += a0_0.s0 * b0_0;
            c1_0 += a0_0.s1 * b0_0;
            c0_0 += a1_0.s0 * b1_0;
            c1_0 += a1_0.s1 * b1_0;
        }
    }

    const long row = first_m + tile_m, col = first_n + tile_n;
    C += c_offset;
    if (row < M) {
        if (col < N)
            update(alpha * c0_0, beta, C + row * ldc + col, N - col);
    }
    if (row + 1 < M) {
        if (col < N)
            update(alpha * c1_0, beta, C + (row + 1) * ldc + col, N - col);
    }
}
