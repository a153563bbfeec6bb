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

// NVIDIA's instructions, as the PTX ISA names them.

// An address in local memory as PTX takes it, in 32 bits.
static uint local_address(__local const void *p)
{
    return (uint) (ulong) p;
}

// The member of a batch that the work-group multiplies.
static long member_of_batch(void)
{
    uint member;
    asm volatile("mov.u32 %0, %%ctaid.z;" : "=r"(member));
    return member;
}

// Begins to copy an element into local memory, or 0 where there is none.
static void copy_element(uint to, __global const float *from, bool is_there)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::
            "r"(to), "l"((ulong) from),
            "r"(is_there ? 4 : 0) : "memory");
}

// What this work-item has begun to copy since it last committed is one step's.
static void commit_copies(void)
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until of the steps that this work-item has committed at most 1 are on their way.
static void wait_for_copies(void)
{
    asm volatile("cp.async.wait_group 1;" ::: "memory");
}

// Begins to copy 64 lines of 32 elements, of which this work-item copies 4 at a time, in one of
// every 16 lines. There are `lines` and `cols` of the matrix left; what lies beyond is 0.
static void copy_a(uint to, __global const float *from, long ld, uint lines, int cols, uint item)
{
    const uint first = item / 8, col = item % 8 * 4;
    from += first * ld + col;
    to += col * 256 + first % 4 * 4;
    if (lines >= 64 && cols >= 32) {
        #pragma unroll
        for (uint i = 0; i < 4; i++) {
            #pragma unroll
            for (uint n = 0; n < 64; n += 16) {
                // The tile has k for its lines. Of value k of the tile, which is x, four lines r of
                // the matrix lie side by side, the r / 4-th four at r / 4 ^ k / 4: so no two
                // work-items meet in a bank.
                const uint where = n / 64 * 8192 + i * 256
                        + (first / 4 ^ col / 4 ^ n % 64 / 4) * 16;
                copy_element(to + where, from + n * ld + i, true);
            }
        }
    } else {
        #pragma unroll
        for (uint i = 0; i < 4; i++) {
            const uint x = col + i;
            #pragma unroll
            for (uint n = 0; n < 64; n += 16) {
                const uint line = first + n;
                // The tile has k for its lines. Of value k of the tile, which is x, four lines r of
                // the matrix lie side by side, the r / 4-th four at r / 4 ^ k / 4: so no two
                // work-items meet in a bank.
                const uint where = n / 64 * 8192 + i * 256
                        + (first / 4 ^ col / 4 ^ n % 64 / 4) * 16;
                copy_element(to + where, from + n * ld + i, line < lines && (int) x < cols);
            }
        }
    }
}

// Begins to copy 64 lines of 32 elements, of which this work-item copies 4 at a time, in one of
// every 16 lines. There are `lines` and `cols` of the matrix left; what lies beyond is 0.
static void copy_b(uint to, __global const float *from, long ld, uint lines, int cols, uint item)
{
    const uint first = item / 8, col = item % 8 * 4;
    from += first * ld + col;
    to += col * 256 + first % 4 * 4;
    if (lines >= 64 && cols >= 32) {
        #pragma unroll
        for (uint i = 0; i < 4; i++) {
            #pragma unroll
            for (uint n = 0; n < 64; n += 16) {
                // The tile has k for its lines. Of value k of the tile, which is x, four lines r of
                // the matrix lie side by side, the r / 4-th four at r / 4 ^ k / 4: so no two
                // work-items meet in a bank.
                const uint where = n / 64 * 8192 + i * 256
                        + (first / 4 ^ col / 4 ^ n % 64 / 4) * 16;
                copy_element(to + where, from + n * ld + i, true);
            }
        }
    } else {
        #pragma unroll
        for (uint i = 0; i < 4; i++) {
            const uint x = col + i;
            #pragma unroll
            for (uint n = 0; n < 64; n += 16) {
                const uint line = first + n;
                // The tile has k for its lines. Of value k of the tile, which is x, four lines r of
                // the matrix lie side by side, the r / 4-th four at r / 4 ^ k / 4: so no two
                // work-items meet in a bank.
                const uint where = n / 64 * 8192 + i * 256
                        + (first / 4 ^ col / 4 ^ n % 64 / 4) * 16;
                copy_element(to + where, from + n * ld + i, line < lines && (int) x < cols);
            }
        }
    }
}

// The first row and column of a tile of C. Tiles are taken in bands of 8 rows, each column by
// column, so that work-groups that run together share rows and columns.
// The last band may have fewer rows.
static int2 origin_of_tile(uint tile, long M, long N)
{
    const uint tiles_m = ((uint) M + 63) / 64;
    const uint tiles_n = ((uint) N + 63) / 64;
    const uint band = tile / (8 * tiles_n) * 8, in_band = tile - band * tiles_n;
    const uint band_rows = min(tiles_m - band, 8U);
    const uint tile_m = band + in_band % band_rows, tile_n = in_band / band_rows;
    return (int2) (tile_m * 64, tile_n * 64);
}

// C = alpha x + beta C for column `col` of the row `out`, if C has it.
static void put_column(float x, __global float *out, long col, long N, float alpha, float beta)
{
    if (col < N)
        store(beta == 0 ? alpha * x : alpha * x + beta * load(out + col), out + col);
}

// The x of the work-item whose lane differs by `distance`, a power of two.
static uint exchange(uint x, uint distance)
{
    uint other;
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;" :
            "=r"(other) : "r"(x), "r"(distance));
    return other;
}

// Transposes a square across four work-items, which are `apart` lanes apart: x[i] of the j-th
// becomes x[j] of the i-th.
static void transpose_four(uint x[4], uint j, uint apart)
{
    #pragma unroll
    for (int i = 0; i < 4; i += 2) {
        const uint other = exchange(j & 1 ? x[i] : x[i + 1], apart);
        x[i] = j & 1 ? other : x[i];
        x[i + 1] = j & 1 ? x[i + 1] : other;
    }
    #pragma unroll
    for (int i = 0; i < 2; i++) {
        const uint other = exchange(j & 2 ? x[i] : x[i + 2], 2 * apart);
        x[i] = j & 2 ? other : x[i];
        x[i + 2] = j & 2 ? x[i + 2] : other;
    }
}

// C = alpha x + beta C for four columns side by side, at an address that is a multiple of their
// size.
static void put_four(float4 x, __global float *out, float alpha, float beta)
{
    x *= alpha;
    if (beta != 0)
        x += beta * *(__global float4 *) out;
    *(__global float4 *) out = x;
}

// Where an element of a tile of C is in local memory: the pieces of 16 bytes of a row are in an
// order of its own, so that work-items side by side meet different banks.
static uint c_place(uint row, uint col)
{
    return row * 64 + (col / 4 ^ (row + row / 4) % 8) * 4 + col % 4;
}

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored M x K.
// B is stored N x K.
// For NVIDIA's compute capability 8.0 and later.
// A work-group computes 64 x 64 of C, a warp 32 x 32 of it. Tiles of A and B, 32 deep, are copied
// into local memory asynchronously, 2 ahead of those that are multiplied.
__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void kiln_sgemm_async_multiply(long M, long N, long K,
        __global const float *restrict A, long a_offset, long a_stride, long lda,
        __global const float *restrict B, long b_offset, long b_stride, long ldb,
        float alpha, float beta,
        __global float *restrict C, long c_offset, long c_stride, long ldc)
{
    __local uchar both_tiles[49152] __attribute__((aligned(1024)));
    __local uchar *a_tiles = both_tiles, *b_tiles = both_tiles + 24576;
    const uint a_at = local_address(a_tiles), b_at = local_address(b_tiles);
    const uint item = get_local_id(0), warp = item / 32, lane = item % 32;
    const long member = member_of_batch();
    A += a_offset + member * a_stride;
    B += b_offset + member * b_stride;
    C += c_offset;
    // Whether every row of C starts where 4 columns may be stored at once.
    const ulong misaligned = ((ulong) (C + member * c_stride) | (ulong) (ldc * 4)) & 15;
    const bool is_aligned = misaligned == 0;

    const uint tile = get_group_id(1) * get_num_groups(0) + get_group_id(0);
    const int num = (K + 31) / 32;
    const int2 origin = origin_of_tile(tile, M, N);
    const int first_m = origin.x, first_n = origin.y;
    // Work-items i and i ^ 1 read the same of B, i and i ^ 2 the same of A. So a read of 16 bytes
    // takes two turns of local memory, not four.
    const uint lane_m = lane % 2 + lane / 8 * 2, lane_n = lane / 2 % 4;
    const uint warp_m = warp % 2 * 32, warp_n = warp / 2 * 32;
    // Where a work-item's first four rows and columns are in line 0 of their boxes, which are 32
    // values of k by 64 rows of A or 64 columns of B.
    const uint a_chunk = warp_m / 64 * 8192 + (warp_m % 64 / 4 + lane_m) * 16;
    const uint b_chunk = warp_n / 64 * 8192 + (warp_n % 64 / 4 + lane_n) * 16;
    float c[4][8];
    #pragma unroll
    for (int m = 0; m < 4; m++)
        #pragma unroll
        for (int n = 0; n < 8; n++)
            c[m][n] = 0;
    int stage = 0;
    // K has all of `whole_steps` steps, and `left` values of k of one more, if that is not 0.
    const int whole_steps = K / 32, left = K % 32;
    for (int t = 0; t < whole_steps + 2; t++) {
        // What was asked for at t - 2 is there for all, and all have multiplied those of the step
        // before, whose stage is the next one to copy to.
        if (t >= 2) {
            wait_for_copies();
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (t < num) {
            const int step = t;
            const int k = step * 32;
            copy_a(a_at + stage * 8192, A + first_m * lda + k, lda, M - first_m, K - k, item);
            copy_b(b_at + stage * 8192, B + first_n * ldb + k, ldb, N - first_n, K - k, item);
        }
        commit_copies();
        // Behind the stage that is copied to comes the one copied to 2 steps before.
        if (++stage == 3)
            stage = 0;
        if (t < 2)
            continue;
        __local const uchar *a_tile = a_tiles + stage * 8192;
        __local const uchar *b_tile = b_tiles + stage * 8192;
        // Goes through k, four values (a quad) at a time; of each it reads its rows and columns by
        // fours, and multiplies each by each.
        // In a transposed tile four rows or columns lie at their number ^ q.
        #pragma unroll 2
        for (int q = 0; q < 8; q++) {
            const uint a_from = a_chunk ^ q * 16;
            const uint b_from = b_chunk ^ q * 16;
            #pragma unroll
            for (int k = 4 * q; k < 4 * q + 4; k++) {
                float as[4], bs[8];
                {
                    const float4 x = *(__local const float4 *) (a_tile + k * 256 + a_from);
                    as[0] = x.s0, as[1] = x.s1, as[2] = x.s2, as[3] = x.s3;
                }
                #pragma unroll
                for (int n = 0; n < 8; n += 4) {
                    const float4 x = *(__local const float4 *) (b_tile + k * 256
                            + (b_from ^ n % 8 * 16) + n / 8 * 128);
                    bs[n] = x.s0, bs[n + 1] = x.s1, bs[n + 2] = x.s2, bs[n + 3] = x.s3;
                }
                #pragma unroll
                for (int n = 0; n < 8; n++)
                    #pragma unroll
                    for (int i = 0; i < 4; i++) {
                        // Rows go up in even columns and down in odd ones: so two products in a row
                        // have a factor in common, which is not read from its register again.
                        const int m = n % 2 ? 3 - i : i;
                        c[m][n] += as[m] * bs[n];
                    }
            }
        }
    }
    // What there is of the last step: the loop has fetched it.
    if (left > 0) {
        wait_for_copies();
        barrier(CLK_LOCAL_MEM_FENCE);
        if (++stage == 3)
            stage = 0;
        __local const uchar *a_tile = a_tiles + stage * 8192;
        __local const uchar *b_tile = b_tiles + stage * 8192;
        // Goes through k, four values (a quad) at a time; of each it reads its rows and columns by
        // fours, and multiplies each by each.
        // In a transposed tile four rows or columns lie at their number ^ q.
        for (int q = 0; 4 * q < left; q++) {
            const uint a_from = a_chunk ^ q * 16;
            const uint b_from = b_chunk ^ q * 16;
            #pragma unroll
            for (int k = 4 * q; k < 4 * q + 4; k++) {
                float as[4], bs[8];
                {
                    const float4 x = *(__local const float4 *) (a_tile + k * 256 + a_from);
                    as[0] = x.s0, as[1] = x.s1, as[2] = x.s2, as[3] = x.s3;
                }
                #pragma unroll
                for (int n = 0; n < 8; n += 4) {
                    const float4 x = *(__local const float4 *) (b_tile + k * 256
                            + (b_from ^ n % 8 * 16) + n / 8 * 128);
                    bs[n] = x.s0, bs[n + 1] = x.s1, bs[n + 2] = x.s2, bs[n + 3] = x.s3;
                }
                #pragma unroll
                for (int n = 0; n < 8; n++)
                    #pragma unroll
                    for (int i = 0; i < 4; i++) {
                        // Rows go up in even columns and down in odd ones: so two products in a row
                        // have a factor in common, which is not read from its register again.
                        const int m = n % 2 ? 3 - i : i;
                        c[m][n] += as[m] * bs[n];
                    }
            }
        }
    }
    // C of this member of a batch. The member is asked for anew: kept until now, the place would
    // take registers while tiles are multiplied.
    __global float *const own = C + member_of_batch() * c_stride;
    // Where rows of C begin anywhere, the tile goes through local memory, so that a warp stores
    // columns side by side.
    if (!is_aligned) {
        __local float *c_tile = (__local float *) both_tiles;
        // All have multiplied the last step.
        barrier(CLK_LOCAL_MEM_FENCE);
        #pragma unroll
        for (int m = 0; m < 4; m++)
            #pragma unroll
            for (int n = 0; n < 8; n += 4)
                *(__local float4 *) (c_tile + c_place(warp_m + m / 4 * 32 + lane_m * 4 + m % 4,
                        warp_n + n * 4 + lane_n * 4)) =
                        (float4) (c[m][n], c[m][n + 1], c[m][n + 2], c[m][n + 3]);
        barrier(CLK_LOCAL_MEM_FENCE);
        const int num_rows = min(M - first_m, 64L);
        const int first_col = 0, end_col = min(N - first_n, 64L);
        __global float *out = own + (first_m + warp) * ldc + first_n + lane;
        #pragma unroll 4
        for (int m = warp; m < num_rows; m += 4) {
            #pragma unroll
            for (int n = 0; n < 64; n += 32) {
                const int col = n + (int) lane;
                if (col >= first_col && col < end_col)
                    put(c_tile[c_place(m, col)], alpha, beta, out + n);
            }
            out += 4 * ldc;
        }
        return;
    }
    // A work-item has rows by fours, 32 apart, and columns by fours, 16 apart.
    #pragma unroll
    for (int m = 0; m < 4; m++) {
        const long row = first_m + warp_m + lane_m * 4 + m;
        __global float *out = own + row * ldc;
        #pragma unroll
        for (int n = 0; n < 8; n += 4) {
            const long block = first_n + warp_n + n * 4;
            if (block + 15 < N) {
                if (row < M)
                    put_four((float4) (c[m][n], c[m][n + 1], c[m][n + 2], c[m][n + 3]),
                            out + block + lane_n * 4, alpha, beta);
            } else {
                // Not stored by fours: the four work-items of a row trade elements, and then store
                // four neighbouring columns side by side.
                uint x[4] = { as_uint(c[m][n]), as_uint(c[m][n + 1]), as_uint(c[m][n + 2]),
                        as_uint(c[m][n + 3]) };
                transpose_four(x, lane_n, 2);
                if (row < M)
                    #pragma unroll
                    for (int i = 0; i < 4; i++)
                        put_column(as_float(x[i]), out, block + i * 4 + lane_n, N, alpha, beta);
            }
        }
    }
}
