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
// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored K x M.
// B is stored K x N.
// Through local memory.
// A work-group of 4 x 4 work-items computes 8 x 8 of C, each work-item
// 2 x 2 of it. K advances by 4.
// K is cut into 4 parts, each for work-groups of its own; another kernel adds them up.
__kernel __attribute__((reqd_work_group_size(4, 4, 1)))
void kiln_dgemm_tiled_multiply(int M, int N, int K,
        __global const double *restrict A, int a_offset, int lda,
        __global const double *restrict B, int b_offset, int ldb,
        __global double *restrict work, long parts_at)
{
    __local double a_tile[4][8];
    const int local_m = get_local_id(1), local_n = get_local_id(0);
    const int item = local_m * 4 + local_n;
    const int first_m = (int) get_group_id(1) * 8;
    const int first_n = (int) get_group_id(0) * 8;
    const int row = first_m + local_m * 2, col = first_n + local_n * 2;
    A += a_offset;
    B += b_offset;
    // This part's share of K, in whole tiles; the last parts may have none.
    const int share = (K / 16 + (K % 16 != 0)) * 4;
    const int begin = (int) get_group_id(2) * share, from = begin < K ? begin : 0;
    K = clamp(K - begin, (int) 0, share);
    A += from * lda;
    B += from * ldb;
    const int s0 = min(col, N - 1);
    const int s1 = min(col + 1, N - 1);

    // Accumulators are scalars by name, so that no compiler has to promote an array to registers.
    double2 c0_0 = 0;
    double2 c1_0 = 0;

    for (int k0 = 0; k0 < K; k0 += 4) {
        // Stage A: 4 x 8, transposed if need be.
        {
            const int e = item, m = e % 8, k = e / 8;
            a_tile[k][m] = first_m + m < M && k0 + k < K
                    ? load(A + (k0 + k) * lda + first_m + m) : 0;
        }
        {
            const int e = item + 16, m = e % 8, k = e / 8;
            a_tile[k][m] = first_m + m < M && k0 + k < K
                    ? load(A + (k0 + k) * lda + first_m + m) : 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);

        const int depth = min(K - k0, (int) 4);
        int k = 0;
        for (; k < depth; k++) {
            {
                __global const double *b = B + (k0 + k) * ldb;
                const double2 b0 = (double2) (load(b + s0), load(b + s1));
                const double a0 = a_tile[k][local_m * 2];
                c0_0 += a0 * b0;
                const double a1 = a_tile[k][local_m * 2 + 1];
                c1_0 += a1 * b0;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    // The tile of this part, as it is; there is room for whole tiles.
    const int ld = (int) get_num_groups(0) * 8;
    __global double *part = work + parts_at * 4
            + (long) get_group_id(2) * get_num_groups(1) * 8 * ld;
    {
        __global double *out = part + row * ld + col;
        vstore2(c0_0, 0, out);
    }
    {
        __global double *out = part + (row + 1) * ld + col;
        vstore2(c1_0, 0, out);
    }
}
// C = alpha (p0 + p1 + ...) + beta C for 4 parts, which are added in this order, so that the
// result is always bitwise the same. A part has room for whole tiles of 8 x 8.
// Each work-item adds up 2 columns of a row.
__kernel __attribute__((reqd_work_group_size(4, 4, 1)))
void kiln_dgemm_tiled_add(int M, int N,
        __global const double *restrict work, long parts_at, double alpha, double beta,
        __global double *restrict C, int c_offset, int ldc)
{
    const int row = get_global_id(1), col = (int) get_global_id(0) * 2;
    const int ld = (N + 7) / 8 * 8;
    const long size = (long) ((M + 7) / 8 * 8) * ld;
    __global const double *part = work + parts_at * 4 + row * ld + col;
    C += c_offset;
    double2 c0_0 = 0;
    for (int p = 0; p < 4; p += 4, part += 4 * size) {
        const double2 x0 = vload2(0, part + 0 * size);
        const double2 x1 = vload2(0, part + 1 * size);
        const double2 x2 = vload2(0, part + 2 * size);
        const double2 x3 = vload2(0, part + 3 * size);
        c0_0 += x0; c0_0 += x1; c0_0 += x2; c0_0 += x3;
    }

    // C = alpha c + beta C for the 1 x 2 block at (row, col).
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
}
