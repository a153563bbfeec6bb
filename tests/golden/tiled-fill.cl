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
// A work-group of 4 x 4 work-items computes 8 x 8 of C. K advances by 4.
// A work-item has 2 x 2 of it.
// Tiles of A go through local memory; B is read where it lies.
// Parts of K lie along axis 2, which another kernel adds up; of a batch its members.
__kernel __attribute__((reqd_work_group_size(4, 4, 1)))
void kiln_dgemm_tiled_multiply(int M, int N, int K,
        double alpha, double beta, int num_parts,
        __global double *restrict parts, long parts_at,
        __global const double *restrict A, int a_offset, int a_stride, int lda,
        __global const double *restrict B, int b_offset, int b_stride, int ldb,
        __global double *restrict C, int c_offset, int c_stride, int ldc)
{
    __local double a_tile[4][8] __attribute__((aligned(16)));
    const int local_m = get_local_id(1), local_n = get_local_id(0);
    const int item = local_m * 4 + local_n;
    const int first_m = (int) get_group_id(1) * 8;
    const int first_n = (int) get_group_id(0) * 8;
    const int row = first_m + local_m * 2, col = first_n + local_n * 2;
    const int member = get_group_id(2) / num_parts;
    A += a_offset + member * a_stride;
    B += b_offset + member * b_stride;
    C += c_offset + member * c_stride;
    // A part of K has whole steps of 4, as many as another or one more.
    const int steps = K / 4 + (K % 4 != 0);
    const int own_part = get_group_id(2) % num_parts;
    const int each = steps / num_parts, longer = steps % num_parts;
    const int from = (own_part * each + min(own_part, longer)) * 4;
    const int to = min(from + (each + (own_part < longer)) * 4, K);
    K = to - from;
    A += from * lda;
    B += from * ldb;
    const int s0 = min(col, N - 1);
    const int s1 = min(col + 1, N - 1);

    // Accumulators are scalars by name, so that no compiler has to promote an array to registers.
    double2 c0_0 = 0;
    double2 c1_0 = 0;

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
        // The tiles are there.
        barrier(CLK_LOCAL_MEM_FENCE);

        const int depth = min(K - k0, 4);
        for (int k = 0; k < depth; k++) {
            __global const double *b = B + (k0 + k) * ldb;
            const double2 b0 = (double2) (load(b + s0), load(b + s1));
            const double2 a0 = *(__local const double2 *) &a_tile[k][local_m * 2];
            c0_0 += a0.s0 * b0;
            c1_0 += a0.s1 * b0;
        }
        // The tiles have been read.
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    if (num_parts > 1) {
        // The tile, as it is, to what this part has of C; there is room for whole tiles.
        const int ld = (int) get_num_groups(0) * 8;
        __global double *own = parts + parts_at + (long) own_part * get_num_groups(1) * 8 * ld;
        {
            __global double *out = own + row * ld + col;
            vstore2(c0_0, 0, out);
        }
        {
            __global double *out = own + (row + 1) * ld + col;
            vstore2(c1_0, 0, out);
        }
        return;
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

// C = alpha sum + beta C: adds up what each part of K has of an element, always in the same order.
// A part has room for whole tiles of 8 x 8.
__kernel __attribute__((reqd_work_group_size(32, 2, 1)))
void kiln_dgemm_tiled_add(int M, int N,
        double alpha, double beta, int num_parts,
        __global const double *restrict parts, long parts_at,
        __global double *restrict C, int c_offset, int ldc)
{
    const int row = get_group_id(0), col = (int) get_group_id(1) * 32 + get_local_id(0);
    const int ld = (N + 7) / 8 * 8;
    const long size = (long) ((M + 7) / 8 * 8) * ld;
    __global const double *first = parts + parts_at + (long) row * ld + min(col, N - 1);
    double sum = 0;
    // Each of 2 work-items adds up one part in 2; the first then adds up their sums.
    __local double sums[2][32];
    const int way = get_local_id(1), adder = get_local_id(0);
    #pragma unroll 4
    for (int p = way; p < num_parts; p += 2)
        sum += first[p * size];
    sums[way][adder] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (way > 0)
        return;
    sum += sums[1][adder];
    if (col < N)
        put(sum, alpha, beta, C + c_offset + row * ldc + col);
}
