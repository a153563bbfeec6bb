// Elements of float are computed with as float. A product and a sum are fused where the device does
// that in one step: FP_CONTRACT, on by default, allows it.
static float load(__global const float *p)
{
    return *p;
}

static void store(float x, __global float *p)
{
    *p = x;
}

// C = alpha x + beta C for one element; beta == 0 does not read C.
static void put(float x, float alpha, float beta, __global float *p)
{
    store(beta == 0 ? alpha * x : alpha * x + beta * load(p), p);
}

static float2 load_vector(__global const float *p)
{
    return vload2(0, p);
}

static void store_vector(float2 x, __global float *p)
{
    vstore2(x, 0, p);
}

// put for elements side by side.
static void put_vector(float2 x, float alpha, float beta, __global float *p)
{
    if (beta == 0)
        store_vector(alpha * x, p);
    else
        store_vector(alpha * x + beta * load_vector(p), p);
}

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored M x K.
// B is stored N x K.
// A work-group of 4 x 4 work-items computes 8 x 8 of C. K advances by 4.
// A work-item has 2 x 2 of it.
// Tiles of A and B go through local memory.
__kernel __attribute__((reqd_work_group_size(4, 4, 1)))
void kiln_sgemm_tiled_multiply(int M, int N, int K,
        float alpha, float beta,
        __global const float *restrict A, int a_offset, int a_stride, int lda,
        __global const float *restrict B, int b_offset, int b_stride, int ldb,
        __global float *restrict C, int c_offset, int c_stride, int ldc)
{
    __local float a_tiles[2][4][8] __attribute__((aligned(8)));
    __local float b_tiles[2][4][8] __attribute__((aligned(8)));
    const int local_m = get_local_id(1), local_n = get_local_id(0);
    const int item = local_m * 4 + local_n;
    const int tiles_m = get_num_groups(1), tiles_n = get_num_groups(0);
    const int tile = (int) get_group_id(1) * tiles_n + get_group_id(0);
    // Work-groups take tiles of C along Hilbert's curve, so that those which run together share
    // rows and columns. The curve covers the next power of two; what lies outside C is left out.
    // It goes through a square's quarters to the right, down and to the left; in the first one it
    // is transposed, in the last one transposed and turned around.
    int tile_m = 0, tile_n = 0, left = tile, side = 1;
    while (side < max(tiles_m, tiles_n))
        side *= 2;
    int transposed = 0, reversed = 0;
    while (side > 1) {
        side /= 2;
        int quarter = 0;
        for (;; quarter++) {
            const int along = quarter / 2, across = along ^ quarter % 2;
            const int m = tile_m + ((transposed ? across : along) ^ reversed) * side;
            const int n = tile_n + ((transposed ? along : across) ^ reversed) * side;
            const int inside = max(min(side, tiles_m - m), 0) * max(min(side, tiles_n - n), 0);
            if (left < inside) {
                tile_m = m;
                tile_n = n;
                break;
            }
            left -= inside;
        }
        transposed ^= quarter % 3 == 0;
        reversed ^= quarter == 3;
    }
    const int first_m = tile_m * 8;
    const int first_n = tile_n * 8;
    const int row = first_m + local_m * 2, col = first_n + local_n * 2;
    const int member = get_group_id(2);
    A += a_offset + member * a_stride;
    B += b_offset + member * b_stride;
    C += c_offset + member * c_stride;

    // Accumulators are scalars by name, so that no compiler has to promote an array to registers.
    float2 c0_0 = 0;
    float2 c1_0 = 0;

    // While the tile at k0 is multiplied, the next one, at k1, is fetched.
    float a_next0, a_next1;
    float b_next0, b_next1;
    int k1 = 0;
    if (K > 0) {
        // A tile of A, 4 deep, into registers.
        {
            const int e = item, k = e % 4, m = e / 4;
            const int row_a = first_m + m, at_k = k1 + k;
            a_next0 = load(A + row_a * lda + at_k);
        }
        {
            const int e = item + 16, k = e % 4, m = e / 4;
            const int row_a = first_m + m, at_k = k1 + k;
            a_next1 = load(A + row_a * lda + at_k);
        }
        // A tile of B, 4 deep, into registers.
        {
            const int e = item, k = e % 4, n = e / 4;
            const int at_k = k1 + k, col_b = first_n + n;
            b_next0 = load(B + col_b * ldb + at_k);
        }
        {
            const int e = item + 16, k = e % 4, n = e / 4;
            const int at_k = k1 + k, col_b = first_n + n;
            b_next1 = load(B + col_b * ldb + at_k);
        }
    }
    int now = 0;
    for (int k0 = 0; k0 < K; k0 += 4, now = 1 - now) {
        const int buffer = now;
        __local float (*a_tile)[8] = a_tiles[buffer];
        __local float (*b_tile)[8] = b_tiles[buffer];
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
        // The tiles are there, and all have multiplied those of the other buffer.
        barrier(CLK_LOCAL_MEM_FENCE);

        k1 += 4;
        if (k1 < K) {
            // A tile of A, 4 deep, into registers.
            {
                const int e = item, k = e % 4, m = e / 4;
                const int row_a = first_m + m, at_k = k1 + k;
                a_next0 = load(A + row_a * lda + at_k);
            }
            {
                const int e = item + 16, k = e % 4, m = e / 4;
                const int row_a = first_m + m, at_k = k1 + k;
                a_next1 = load(A + row_a * lda + at_k);
            }
            // A tile of B, 4 deep, into registers.
            {
                const int e = item, k = e % 4, n = e / 4;
                const int at_k = k1 + k, col_b = first_n + n;
                b_next0 = load(B + col_b * ldb + at_k);
            }
            {
                const int e = item + 16, k = e % 4, n = e / 4;
                const int at_k = k1 + k, col_b = first_n + n;
                b_next1 = load(B + col_b * ldb + at_k);
            }
        }

        for (int k = 0; k < 4; k++) {
            const float2 b0 = *(__local const float2 *) &b_tile[k][local_n * 2];
            const float2 a0 = *(__local const float2 *) &a_tile[k][local_m * 2];
            c0_0 += a0.s0 * b0;
            c1_0 += a0.s1 * b0;
        }
    }

    // C = alpha c + beta C for the 2 x 2 block at (row, col).
    if (row < M) {
        __global float *out = C + row * ldc + col;
        if (col + 2 <= N) {
            put_vector(c0_0, alpha, beta, out);
        } else {
            float x[2];
            vstore2(c0_0, 0, x);
            for (int n = 0; n < 2 && col + n < N; n++)
                put(x[n], alpha, beta, out + n);
        }
    }
    if (row + 1 < M) {
        __global float *out = C + (row + 1) * ldc + col;
        if (col + 2 <= N) {
            put_vector(c1_0, alpha, beta, out);
        } else {
            float x[2];
            vstore2(c1_0, 0, x);
            for (int n = 0; n < 2 && col + n < N; n++)
                put(x[n], alpha, beta, out + n);
        }
    }
}
