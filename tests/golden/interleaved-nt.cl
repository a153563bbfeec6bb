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
static void copy_element(uint to, __global const float2 *from, bool is_there)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::
            "r"(to), "l"((ulong) from),
            "r"(is_there ? 8 : 0) : "memory");
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

// Where the x-th 16 bytes of a line are, in boxes whose lines have `part` (2, 4 or 8) times 16
// bytes; boxes side by side have 16 lines. Of eight lines in a row the pieces of a column lie in
// different banks.
static uint swizzled(uint line, uint x, uint part)
{
    return (x / part * part * 16 + line * part + (x % part ^ line % 8 / (8 / part))) * 16;
}

// Begins to copy 64 lines of 16 elements, of which this work-item copies 1 at a time, in one of
// every 8 lines. There are `lines` and `cols` of the matrix left; what lies beyond is 0.
static void copy_a(uint to, __global const float2 *from, long ld, uint lines, int cols, uint item)
{
    const uint first = item / 16, col = item % 16;
    from += first * ld + col;
    if (lines >= 64 && cols >= 16) {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 64; n += 8) {
            const uint line = first + n;
            const uint where = swizzled(line, x / 2, 8) + x % 2 * 8;
            copy_element(to + where, from + n * ld, true);
        }
    } else {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 64; n += 8) {
            const uint line = first + n;
            const uint where = swizzled(line, x / 2, 8) + x % 2 * 8;
            copy_element(to + where, from + n * ld, line < lines && (int) x < cols);
        }
    }
}

// Begins to copy 32 lines of 16 elements, of which this work-item copies 1 at a time, in one of
// every 8 lines. There are `lines` and `cols` of the matrix left; what lies beyond is 0.
static void copy_b(uint to, __global const float2 *from, long ld, uint lines, int cols, uint item)
{
    const uint first = item / 16, col = item % 16;
    from += first * ld + col;
    if (lines >= 32 && cols >= 16) {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 32; n += 8) {
            const uint line = first + n;
            const uint where = swizzled(line, x / 2, 8) + x % 2 * 8;
            copy_element(to + where, from + n * ld, true);
        }
    } else {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 32; n += 8) {
            const uint line = first + n;
            const uint where = swizzled(line, x / 2, 8) + x % 2 * 8;
            copy_element(to + where, from + n * ld, line < lines && (int) x < cols);
        }
    }
}

static float2 load(__global const float2 *p)
{
    return *p;
}

static void store(float2 x, __global float2 *p)
{
    *p = x;
}

// x times (re, im). A factor that is real multiplies each part alone, as real products do.
static float2 scaled(float2 x, float re, float im)
{
    return im == 0 ? re * x : (float2) (re * x.x - im * x.y, re * x.y + im * x.x);
}

// C = alpha x + beta C for one element, x conjugated if so; beta == 0 does not read C.
static void put(float2 x, int is_conjugated, float alpha, float alpha_imag,
        float beta, float beta_imag, __global float2 *p)
{
    x.y *= is_conjugated ? -1 : 1;
    x = scaled(x, alpha, alpha_imag);
    if (beta != 0 || beta_imag != 0)
        x += scaled(load(p), beta, beta_imag);
    store(x, p);
}

// The first row and column of a tile of C. Tiles are taken in bands of 8 rows, each column by
// column, so that work-groups that run together share rows and columns.
// The last band may have fewer rows.
static int2 origin_of_tile(uint tile, long M, long N)
{
    const uint tiles_m = ((uint) M + 63) / 64;
    const uint tiles_n = ((uint) N + 31) / 32;
    const uint band = tile / (8 * tiles_n) * 8, in_band = tile - band * tiles_n;
    const uint band_rows = min(tiles_m - band, 8U);
    const uint tile_m = band + in_band % band_rows, tile_n = in_band / band_rows;
    return (int2) (tile_m * 64, tile_n * 32);
}

// Row and column, in its tile, of the e-th element that a work-item has.
static uint2 place_of(uint item, uint e)
{
    const uint warp = item / 32, lane = item % 32;
    const uint warp_m = warp % 2 * 32, warp_n = warp / 2 * 16;
    // Work-items i and i ^ 1 read the same of B, i and i ^ 2 the same of A. So a read of 16 bytes
    // takes two turns of local memory, not four.
    const uint lane_m = lane % 2 + lane / 8 * 2, lane_n = lane / 2 % 4;
    const uint m = e / 4, n = e % 4;
    const uint row = m * 8 + lane_m;
    const uint col = n * 4 + lane_n;
    return (uint2) (warp_m + row, warp_n + col);
}

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored M x K.
// B is stored N x K.
// For NVIDIA's compute capability 8.0 and later. Real part and imaginary part lie side by side.
// A work-group computes 64 x 32 of C, a warp 32 x 16 of it. Tiles of A and B, 16 deep, are copied
// into local memory asynchronously, 2 ahead of those that are multiplied.
__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void kiln_cgemm_interleaved_multiply(long M, long N, long K, int conj_b,
        float alpha, float alpha_imag, float beta, float beta_imag, int conj_a,
        __global const float2 *restrict A, long a_offset, long a_stride, long lda,
        __global const float2 *restrict B, long b_offset, long b_stride, long ldb,
        __global float2 *restrict C, long c_offset, long c_stride, long ldc)
{
    __local uchar both_tiles[36864] __attribute__((aligned(1024)));
    __local uchar *a_tiles = both_tiles, *b_tiles = both_tiles + 24576;
    const uint a_at = local_address(a_tiles), b_at = local_address(b_tiles);
    const uint item = get_local_id(0), warp = item / 32, lane = item % 32;
    // Work-items i and i ^ 1 read the same of B, i and i ^ 2 the same of A. So a read of 16 bytes
    // takes two turns of local memory, not four.
    const uint lane_m = lane % 2 + lane / 8 * 2, lane_n = lane / 2 % 4;
    const uint warp_m = warp % 2 * 32, warp_n = warp / 2 * 16;
    const long member = member_of_batch();
    A += a_offset + member * a_stride;
    B += b_offset + member * b_stride;
    C += c_offset;
    // conj(A) B is the conjugate of A conj(B): until C is stored, only B is conjugated.
    const float sign = conj_a == conj_b ? 1 : -1;

    const uint tile = get_group_id(1) * get_num_groups(0) + get_group_id(0);
    const int num = (K + 15) / 16;
    const int2 origin = origin_of_tile(tile, M, N);
    const int first_m = origin.x, first_n = origin.y;
    // c[2 m + p][2 n + q] adds up part p of A's row m times part q of B's column n; part 0 is the
    // real one.
    float c[8][8];
    #pragma unroll
    for (int e = 0; e < 64; e++)
        c[e / 8][e % 8] = 0;
    // K has all of `whole_steps` steps, and `left` values of k of one more, if that is not 0.
    const int whole_steps = K / 16, left = K % 16;
    int stage = 0;
    for (int t = 0; t < whole_steps + 2; t++) {
        // What was asked for at t - 2 is there for all, and all have multiplied those of the step
        // before, whose stage is the next one to copy to.
        if (t >= 2) {
            wait_for_copies();
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (t < num) {
            const int step = t;
            const int k = step * 16;
            copy_a(a_at + stage * 8192, A + first_m * lda + k, lda, M - first_m, K - k, item);
            copy_b(b_at + stage * 4096, B + first_n * ldb + k, ldb, N - first_n, K - k, item);
        }
        commit_copies();
        // Behind the stage that is copied to comes the one copied to 2 steps before.
        if (++stage == 3)
            stage = 0;
        if (t < 2)
            continue;
        __local const uchar *a_tile = a_tiles + stage * 8192;
        __local const uchar *b_tile = b_tiles + stage * 4096;
        // A line of a tile has 128 bytes, and its x-th 16 bytes lie at x ^ line % 8. A read of 16
        // bytes brings two elements: of A two values of k of a row, of B two values of k of a
        // column.
        #pragma unroll 2
        for (int q = 0; q < 8; q++) {
            float2 as[2][4], bs[2][4];
            #pragma unroll
            for (int m = 0; m < 4; m++) {
                const float4 x = *(__local const float4 *) (a_tile + m * 1024
                        + ((warp_m + lane_m) * 128 + lane_m * 16 ^ q * 16));
                as[0][m] = x.s01, as[1][m] = x.s23;
            }
            #pragma unroll
            for (int n = 0; n < 4; n++) {
                const float4 x = *(__local const float4 *) (b_tile + n * 512
                        + ((warp_n + lane_n) * 128 + lane_n * 16 ^ q * 16 ^ n % 2 * 64));
                bs[0][n] = x.s01, bs[1][n] = x.s23;
            }
            // Each part of A by each part of B. Two products in a row have a factor in common,
            // which is kept where it is multiplied: registers are read in two banks, and a product
            // has three operands.
            #pragma unroll
            for (int h = 0; h < 2; h++)
                #pragma unroll
                for (int n = 0; n < 8; n++)
                    #pragma unroll
                    for (int i = 0; i < 8; i++) {
                        const int m = n % 2 ? 7 - i : i;
                        c[m][n] += (m % 2 ? as[h][m / 2].y : as[h][m / 2].x)
                                * (n % 2 ? bs[h][n / 2].y : bs[h][n / 2].x);
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
        __local const uchar *b_tile = b_tiles + stage * 4096;
        // A line of a tile has 128 bytes, and its x-th 16 bytes lie at x ^ line % 8. A read of 16
        // bytes brings two elements: of A two values of k of a row, of B two values of k of a
        // column.
        for (int q = 0; 2 * q < left; q++) {
            float2 as[2][4], bs[2][4];
            #pragma unroll
            for (int m = 0; m < 4; m++) {
                const float4 x = *(__local const float4 *) (a_tile + m * 1024
                        + ((warp_m + lane_m) * 128 + lane_m * 16 ^ q * 16));
                as[0][m] = x.s01, as[1][m] = x.s23;
            }
            #pragma unroll
            for (int n = 0; n < 4; n++) {
                const float4 x = *(__local const float4 *) (b_tile + n * 512
                        + ((warp_n + lane_n) * 128 + lane_n * 16 ^ q * 16 ^ n % 2 * 64));
                bs[0][n] = x.s01, bs[1][n] = x.s23;
            }
            // Each part of A by each part of B. Two products in a row have a factor in common,
            // which is kept where it is multiplied: registers are read in two banks, and a product
            // has three operands.
            #pragma unroll
            for (int h = 0; h < 2; h++)
                #pragma unroll
                for (int n = 0; n < 8; n++)
                    #pragma unroll
                    for (int i = 0; i < 8; i++) {
                        const int m = n % 2 ? 7 - i : i;
                        c[m][n] += (m % 2 ? as[h][m / 2].y : as[h][m / 2].x)
                                * (n % 2 ? bs[h][n / 2].y : bs[h][n / 2].x);
                    }
        }
    }
    // C of this member of a batch. The member is asked for anew: kept until now, the place would
    // take registers while tiles are multiplied.
    __global float2 *const own = C + member_of_batch() * c_stride;
    #pragma unroll
    for (int e = 0; e < 16; e++) {
        const int m = e / 4 * 2, n = e % 4 * 2;
        const float2 sum = (float2) (c[m][n] - sign * c[m + 1][n + 1],
                sign * c[m][n + 1] + c[m + 1][n]);
        const uint2 place = place_of(item, e);
        const long row = first_m + place.x, col = first_n + place.y;
        if (row < M && col < N)
            put(sum, conj_a, alpha, alpha_imag, beta, beta_imag, own + row * ldc + col);
    }
}
