// Elements of half are computed with as float. A product and a sum are fused where the device does
// that in one step: FP_CONTRACT, on by default, allows it.
static float load(__global const half *p)
{
    return vload_half(0, p);
}

static void store(float x, __global half *p)
{
    vstore_half(x, 0, p);
}

// C = alpha x + beta C for one element; beta == 0 does not read C.
static void put(float x, float alpha, float beta, __global half *p)
{
    store(beta == 0 ? alpha * x : alpha * x + beta * load(p), p);
}

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored K x M.
// B is stored N x K.
// A work-group of 4 x 4 work-items computes 8 x 8 of C. K advances by 4.
// A work-item has 2 x 2 of it, rows 4 apart, vectors 4 apart.
// Tiles of A and B go through local memory.
__kernel __attribute__((reqd_work_group_size(4, 4, 1)))
void kiln_hgemm_tiled_multiply(int M, int N, int K,
        float alpha, float beta,
        __global const half *restrict A, int a_offset, int a_stride, int lda,
        __global const half *restrict B, int b_offset, int b_stride, int ldb,
        __global half *restrict C, int c_offset, int c_stride, int ldc)
{
    __local float a_tile[4][8];
    __local float b_tile[4][8];
    const int local_m = get_local_id(1), local_n = get_local_id(0);
    const int item = local_m * 4 + local_n;
    const int tiles_m = get_num_groups(1), tiles_n = get_num_groups(0);
    const int tile = (int) get_group_id(1) * tiles_n + get_group_id(0);
    // Work-groups take tiles of C column by column.
    const int tile_m = tile % tiles_m, tile_n = tile / tiles_m;
    const int first_m = tile_m * 8;
    const int first_n = tile_n * 8;
    const int row = first_m + local_m, col = first_n + local_n;
    const int member = get_group_id(2);
    A += a_offset + member * a_stride;
    B += b_offset + member * b_stride;
    C += c_offset + member * c_stride;

    // Accumulators are scalars by name, so that no compiler has to promote an array to registers.
    float c0_0 = 0, c0_1 = 0;
    float c1_0 = 0, c1_1 = 0;

    // While the tile at k0 is multiplied, the next one, at k1, is fetched.
    float a_next0, a_next1;
    float b_next0, b_next1;
    int k1 = 0;
    if (K > 0) {
        // A tile of A, 4 deep, into registers.
        {
            const int e = item, m = e % 8, k = e / 8;
            const int row_a = min(first_m + m, M - 1), at_k = min(k1 + k, K - 1);
            a_next0 = load(A + at_k * lda + row_a);
        }
        {
            const int e = item + 16, m = e % 8, k = e / 8;
            const int row_a = min(first_m + m, M - 1), at_k = min(k1 + k, K - 1);
            a_next1 = load(A + at_k * lda + row_a);
        }
        // A tile of B, 4 deep, into registers.
        {
            const int e = item, k = e % 4, n = e / 4;
            const int at_k = min(k1 + k, K - 1), col_b = min(first_n + n, N - 1);
            b_next0 = load(B + col_b * ldb + at_k);
        }
        {
            const int e = item + 16, k = e % 4, n = e / 4;
            const int at_k = min(k1 + k, K - 1), col_b = min(first_n + n, N - 1);
            b_next1 = load(B + col_b * ldb + at_k);
        }
    }
    for (int k0 = 0; k0 < K; k0 += 4) {
        // What was fetched becomes tiles.
        {
            const int e = item, m = e % 8, k = e / 8;
            a_tile[k][m] = a_next0;
        }
        {
            const int e = item + 16, m = e % 8, k = e / 8;
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
                const int e = item, m = e % 8, k = e / 8;
                const int row_a = min(first_m + m, M - 1), at_k = min(k1 + k, K - 1);
                a_next0 = load(A + at_k * lda + row_a);
            }
            {
                const int e = item + 16, m = e % 8, k = e / 8;
                const int row_a = min(first_m + m, M - 1), at_k = min(k1 + k, K - 1);
                a_next1 = load(A + at_k * lda + row_a);
            }
            // A tile of B, 4 deep, into registers.
            {
                const int e = item, k = e % 4, n = e / 4;
                const int at_k = min(k1 + k, K - 1), col_b = min(first_n + n, N - 1);
                b_next0 = load(B + col_b * ldb + at_k);
            }
            {
                const int e = item + 16, k = e % 4, n = e / 4;
                const int at_k = min(k1 + k, K - 1), col_b = min(first_n + n, N - 1);
                b_next1 = load(B + col_b * ldb + at_k);
            }
        }

        const int depth = min(K - k0, 4);
        for (int k = 0; k < depth; k++) {
            const float b0 = b_tile[k][local_n];
            const float b1 = b_tile[k][local_n + 4];
            const float a0 = a_tile[k][local_m];
            c0_0 += a0 * b0; c0_1 += a0 * b1;
            const float a1 = a_tile[k][local_m + 4];
            c1_0 += a1 * b0; c1_1 += a1 * b1;
        }
        // The tiles have been read.
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    // C = alpha c + beta C for 2 x 2 of C from (row, col) on.
    if (row < M) {
        __global half *out = C + row * ldc + col;
        if (col < N)
            put(c0_0, alpha, beta, out);
        if (col + 4 < N)
            put(c0_1, alpha, beta, out + 4);
    }
    if (row + 4 < M) {
        __global half *out = C + (row + 4) * ldc + col;
        if (col < N)
            put(c1_0, alpha, beta, out);
        if (col + 4 < N)
            put(c1_1, alpha, beta, out + 4);
    }
}
