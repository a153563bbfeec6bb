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

// C = alpha op(A) op(B) + beta C by blocks; C is M x N, row-major.
// A is stored M x K.
// B is stored K x N.
// A work-group of 4 x 4 work-items computes 8 x 8 of C, each work-item 2 x 2 of it, side by side.
// K advances by 4, and in it by 1.

// Copies 8 lines of X, 4 elements of each, to a tile in local memory.
// What lies beyond `lines` and `depth` becomes 0.
static void stage_a(
        __local double (*tile)[4], __global const double *X, int ld, int item,
        int lines, int depth)
{
    for (int e = item; e < 32; e += 16) {
        const int k = e % 4, line = e / 4;
        const double x = line < lines && k < depth ? load(X + line * ld + k) : 0;
        tile[line][k] = x;
    }
}

// Copies 8 lines of X, 4 elements of each, to a tile in local memory.
// What lies beyond `lines` and `depth` becomes 0.
static void stage_b(
        __local double (*tile)[8], __global const double *X, int ld, int item,
        int lines, int depth)
{
    for (int e = item; e < 32; e += 16) {
        const int line = e % 8, k = e / 8;
        const double x = line < lines && k < depth ? load(X + k * ld + line) : 0;
        tile[k][line] = x;
    }
}

// C = x + beta C for a vector of C, of which the first `left` elements are inside.
static void update(double x, double beta, __global double *C, int left)
{
    store(beta == 0 ? x : x + beta * load(C), C);
}

__kernel __attribute__((reqd_work_group_size(4, 4, 1)))
void kiln_dgemm_blocked_multiply(int M, int N, int K,
        double alpha, double beta,
        __global const double *restrict A, int a_offset, int lda,
        __global const double *restrict B, int b_offset, int ldb,
        __global double *restrict C, int c_offset, int ldc)
{
    const int local_m = get_local_id(0), local_n = get_local_id(1);
    const int first_m = (int) get_group_id(0) * 8;
    const int first_n = (int) get_group_id(1) * 8;
    // Where this work-item's rows and columns begin in the work-group's block.
    const int tile_m = local_m * 2, tile_n = local_n * 2;
    const int item = local_n * 4 + local_m;
    A += a_offset;
    B += b_offset;
    C += c_offset;
    __local double a_tiles[2][8][4];
    __local double b_tiles[2][4][8];
    const int row0 = first_m + tile_m;
    const int row1 = first_m + tile_m + 1;
    const int col0 = first_n + tile_n;
    const int col1 = first_n + tile_n + 1;
    double c0_0 = 0, c0_1 = 0;
    double c1_0 = 0, c1_1 = 0;

    // Two buffers: while one is computed with, the next tile is fetched into the other.
    int now = 0;
    if (K > 0) {
        const int k1 = 0;
        const int next = 0;
        __global const double *a_from = A + first_m * lda + k1;
        stage_a(a_tiles[next], a_from, lda, item, M - first_m, K - k1);
        __global const double *b_from = B + k1 * ldb + first_n;
        stage_b(b_tiles[next], b_from, ldb, item, N - first_n, K - k1);
    }
    for (int k0 = 0; k0 < K; k0 += 4, now = 1 - now) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (k0 + 4 < K) {
            const int k1 = k0 + 4;
            const int next = 1 - now;
            __global const double *a_from = A + first_m * lda + k1;
            stage_a(a_tiles[next], a_from, lda, item, M - first_m, K - k1);
            __global const double *b_from = B + k1 * ldb + first_n;
            stage_b(b_tiles[next], b_from, ldb, item, N - first_n, K - k1);
        }
        __local double (*a_tile)[4] = a_tiles[now];
        __local double (*b_tile)[8] = b_tiles[now];
        const int depth = min(K - k0, (int) 4);
        int k = 0;
        for (; k + 1 <= depth; k += 1) {
            const double a0_0 = a_tile[tile_m][k];
            const double a1_0 = a_tile[tile_m + 1][k];
            const double b0_0 = b_tile[k][tile_n];
            const double b0_1 = b_tile[k][tile_n + 1];
            c0_0 += a0_0 * b0_0;
            c1_0 += a1_0 * b0_0;
            c0_1 += a0_0 * b0_1;
            c1_1 += a1_0 * b0_1;
        }
    }

    if (row0 < M) {
        if (col0 < N)
            update(alpha * c0_0, beta, C + row0 * ldc + col0, N - col0);
        if (col1 < N)
            update(alpha * c0_1, beta, C + row0 * ldc + col1, N - col1);
    }
    if (row1 < M) {
        if (col0 < N)
            update(alpha * c1_0, beta, C + row1 * ldc + col0, N - col0);
        if (col1 < N)
            update(alpha * c1_1, beta, C + row1 * ldc + col1, N - col1);
    }
}
