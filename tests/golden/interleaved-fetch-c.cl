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

// The work-items of a warp wait for each other, and see what each has written.
static void warp_sync(void)
{
    asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
}

// A barrier in local memory counts arrivals, and the bytes of copies under way. When none is left
// its phase is over, and the next one begins; phases have the parities 0, 1, 0 and so on.
static void mbarrier_init(uint mbarrier, uint arrivals)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(mbarrier), "r"(arrivals) : "memory");
}

// Waits until the phase of this parity is over. At first that holds for parity 1.
static void mbarrier_wait(uint mbarrier, uint phase)
{
    asm volatile("{ .reg .pred done;\n"
            "again: mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n"
            "@!done bra again; }" :: "r"(mbarrier), "r"(phase) : "memory");
}

static void mbarrier_arrive(uint mbarrier)
{
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(mbarrier) : "memory");
}

// Arrives when what this work-item has begun to copy is there.
static void mbarrier_arrive_copied(uint mbarrier)
{
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"(mbarrier) : "memory");
}

// Begins to copy 16 bytes into local memory: the first `bytes` of them, and zeros.
static void copy_16(uint to, __global const float2 *from, uint bytes)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::
            "r"(to), "l"((ulong) from),
            "r"(bytes) : "memory");
}

// Where the x-th 16 bytes of a line are, in boxes whose lines have `part` (2, 4 or 8) times 16
// bytes; boxes side by side have 16 lines. Of eight lines in a row the pieces of a column lie in
// different banks.
static uint swizzled(uint line, uint x, uint part)
{
    return (x / part * part * 16 + line * part + (x % part ^ line % 8 / (8 / part))) * 16;
}

// Begins to copy 128 lines of 16 elements, of which this work-item copies 2 at a time, in one of
// every 16 lines. There are `lines` and `cols` of the matrix left; what lies beyond is 0.
static void copy_a(uint to, __global const float2 *from, long ld, uint lines, int cols, uint item)
{
    const uint first = item / 8, col = item % 8 * 2;
    from += first * ld + col;
    if (lines >= 128 && cols >= 16) {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 128; n += 16) {
            const uint line = first + n;
            const uint where = swizzled(line, x / 2, 8) + x % 2 * 8;
            copy_16(to + where, from + n * ld, 16);
        }
    } else {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 128; n += 16) {
            const uint line = first + n;
            const uint where = swizzled(line, x / 2, 8) + x % 2 * 8;
            copy_16(to + where, from + n * ld, line < lines ? clamp(cols - (int) x, 0, 2) * 8 : 0);
        }
    }
}

// Begins to copy 16 lines of 64 elements, of which this work-item copies 2 at a time, in one of
// every 4 lines. There are `lines` and `cols` of the matrix left; what lies beyond is 0.
static void copy_b(uint to, __global const float2 *from, long ld, uint lines, int cols, uint item)
{
    const uint first = item / 32, col = item % 32 * 2;
    from += first * ld + col;
    if (lines >= 16 && cols >= 64) {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 16; n += 4) {
            const uint line = first + n;
            const uint where = swizzled(line, x / 2, 8) + x % 2 * 8;
            copy_16(to + where, from + n * ld, 16);
        }
    } else {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 16; n += 4) {
            const uint line = first + n;
            const uint where = swizzled(line, x / 2, 8) + x % 2 * 8;
            copy_16(to + where, from + n * ld, line < lines ? clamp(cols - (int) x, 0, 2) * 8 : 0);
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
    const uint tiles_m = ((uint) M + 127) / 128;
    const uint tiles_n = ((uint) N + 63) / 64;
    const uint band = tile / (8 * tiles_n) * 8, in_band = tile - band * tiles_n;
    const uint band_rows = min(tiles_m - band, 8U);
    const uint tile_m = band + in_band % band_rows, tile_n = in_band / band_rows;
    return (int2) (tile_m * 128, tile_n * 64);
}

// Row and column, in its tile, of the e-th element that a work-item has.
static uint2 place_of(uint item, uint e)
{
    const uint warp = item / 32, lane = item % 32;
    const uint warp_m = warp % 4 * 32, warp_n = warp / 4 * 32;
    // Work-items i and i ^ 1 read the same of B, i and i ^ 2 the same of A. So a read of 16 bytes
    // takes two turns of local memory, not four.
    const uint lane_m = lane % 2 + lane / 8 * 2, lane_n = lane / 2 % 4;
    const uint m = e / 8, n = e % 8;
    const uint row = m * 8 + lane_m;
    const uint col = n / 2 * 8 + lane_n * 2 + n % 2;
    return (uint2) (warp_m + row, warp_n + col);
}

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored M x K.
// B is stored K x N.
// For NVIDIA's compute capability 9.0. Real part and imaginary part lie side by side.
// A work-group computes 128 x 64 of C, a warp 32 x 32 of it. Tiles of A and B, 16 deep, are copied
// into local memory by 4 warps of their own, up to 6 at a time: a tile's `full` barrier says that
// it is there, its `empty` barrier that all whose step it is have read it.
__kernel __attribute__((reqd_work_group_size(384, 1, 1)))
void kiln_cgemm_interleaved_multiply(long M, long N, long K, int conj_b,
        float alpha, float alpha_imag, float beta, float beta_imag, int conj_a,
        __global const float2 *restrict A, long a_offset, long a_stride, long lda,
        __global const float2 *restrict B, long b_offset, long b_stride, long ldb,
        __global float2 *restrict C, long c_offset, long c_stride, long ldc)
{
    __local uchar both_tiles[147456] __attribute__((aligned(1024)));
    __local uchar *a_tiles = both_tiles, *b_tiles = both_tiles + 98304;
    const uint a_at = local_address(a_tiles), b_at = local_address(b_tiles);
    __local ulong full[6], empty[6];
    const uint fulls = local_address(full), empties = local_address(empty);
    const long member = member_of_batch();
    A += a_offset + member * a_stride;
    B += b_offset + member * b_stride;
    C += c_offset;
    if (get_local_id(0) == 0)
        for (int s = 0; s < 6; s++) {
            mbarrier_init(fulls + 8 * s, 128);
            mbarrier_init(empties + 8 * s, 8);
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    // Those who copy: the last 4 warps, whose work-items count from 0.
    if (get_local_id(0) >= 256) {
        asm volatile("//@setmaxnreg.dec.sync.aligned.u32 40;" ::: "memory");
        const uint item = get_local_id(0) - 256;
        uint stage = 0, phase = 1;
        const uint tile = get_group_id(1) * get_num_groups(0) + get_group_id(0);
        const int num = (K + 15) / 16;
        const int2 origin = origin_of_tile(tile, M, N);
        const int first_m = origin.x, first_n = origin.y;
        for (int t = 0; t < num; t++) {
            mbarrier_wait(empties + 8 * stage, phase);
            const int step = t;
            const int k = step * 16;
            copy_a(a_at + stage * 16384, A + first_m * lda + k, lda, M - first_m, K - k, item);
            copy_b(b_at + stage * 8192, B + k * ldb + first_n, ldb, K - k, N - first_n, item);
            mbarrier_arrive_copied(fulls + 8 * stage);
            if (++stage == 6) {
                stage = 0;
                phase ^= 1;
            }
        }
        return;
    }
    // Those who multiply.
    asm volatile("//@setmaxnreg.inc.sync.aligned.u32 232;" ::: "memory");
    const uint item = get_local_id(0), warp = item / 32, lane = item % 32;
    // Work-items i and i ^ 1 read the same of B, i and i ^ 2 the same of A. So a read of 16 bytes
    // takes two turns of local memory, not four.
    const uint lane_m = lane % 2 + lane / 8 * 2, lane_n = lane / 2 % 4;
    const uint warp_m = warp % 4 * 32, warp_n = warp / 4 * 32;
    uint stage = 0, phase = 0;
    // conj(A) B is the conjugate of A conj(B): until C is stored, only B is conjugated.
    const float sign = conj_a == conj_b ? 1 : -1;

    const uint tile = get_group_id(1) * get_num_groups(0) + get_group_id(0);
    const int num = (K + 15) / 16;
    const int2 origin = origin_of_tile(tile, M, N);
    const int first_m = origin.x, first_n = origin.y;
    // c[2 m + p][2 n + q] adds up part p of A's row m times part q of B's column n; part 0 is the
    // real one.
    float c[8][16];
    #pragma unroll
    for (int e = 0; e < 128; e++)
        c[e / 16][e % 16] = 0;
    // K has all of `whole_steps` steps, and `left` values of k of one more, if that is not 0.
    const int whole_steps = K / 16, left = K % 16;
    int now = 0;
    for (; now < whole_steps; now++) {
        mbarrier_wait(fulls + 8 * stage, phase);
        __local const uchar *a_tile = a_tiles + stage * 16384;
        __local const uchar *b_tile = b_tiles + stage * 8192;
        // Hands back the stage of the step before, which is not done sooner: what is read from
        // local memory has surely arrived only when it has been multiplied.
        warp_sync();
        if (now > 0 && lane == 0)
            mbarrier_arrive(empties + 8 * (stage == 0 ? 5 : stage - 1));
        // A line of a tile has 128 bytes, and its x-th 16 bytes lie at x ^ line % 8. A read of 16
        // bytes brings two elements: of A two values of k of a row, of B two columns of one k.
        #pragma unroll 8
        for (int q = 0; q < 8; q++) {
            float2 as[2][4], bs[2][8];
            #pragma unroll
            for (int m = 0; m < 4; m++) {
                const float4 x = *(__local const float4 *) (a_tile + m * 1024
                        + ((warp_m + lane_m) * 128 + lane_m * 16 ^ q * 16));
                as[0][m] = x.s01, as[1][m] = x.s23;
            }
            #pragma unroll
            for (int h = 0; h < 2; h++)
                #pragma unroll
                for (int n = 0; n < 8; n += 2) {
                    const uint k = 2 * q + h;
                    const float4 x = *(__local const float4 *) (b_tile + k * 128 + n / 4 * 2048
                            + (warp_n / 16 * 2048 + (warp_n / 2 % 8 + lane_n) * 16 ^ k % 8 * 16
                                    ^ n / 2 % 2 * 64));
                    bs[h][n] = x.s01, bs[h][n + 1] = x.s23;
                }
            // Each part of A by each part of B. Two products in a row have a factor in common,
            // which is kept where it is multiplied: registers are read in two banks, and a product
            // has three operands.
            #pragma unroll
            for (int h = 0; h < 2; h++)
                #pragma unroll
                for (int n = 0; n < 16; n++)
                    #pragma unroll
                    for (int i = 0; i < 8; i++) {
                        const int m = n % 2 ? 7 - i : i;
                        c[m][n] += (m % 2 ? as[h][m / 2].y : as[h][m / 2].x)
                                * (n % 2 ? bs[h][n / 2].y : bs[h][n / 2].x);
                    }
        }
        if (++stage == 6) {
            stage = 0;
            phase ^= 1;
        }
    }
    // What there is of the last step.
    if (now < num) {
        mbarrier_wait(fulls + 8 * stage, phase);
        __local const uchar *a_tile = a_tiles + stage * 16384;
        __local const uchar *b_tile = b_tiles + stage * 8192;
        // A line of a tile has 128 bytes, and its x-th 16 bytes lie at x ^ line % 8. A read of 16
        // bytes brings two elements: of A two values of k of a row, of B two columns of one k.
        for (int q = 0; 2 * q < left; q++) {
            float2 as[2][4], bs[2][8];
            #pragma unroll
            for (int m = 0; m < 4; m++) {
                const float4 x = *(__local const float4 *) (a_tile + m * 1024
                        + ((warp_m + lane_m) * 128 + lane_m * 16 ^ q * 16));
                as[0][m] = x.s01, as[1][m] = x.s23;
            }
            #pragma unroll
            for (int h = 0; h < 2; h++)
                #pragma unroll
                for (int n = 0; n < 8; n += 2) {
                    const uint k = 2 * q + h;
                    const float4 x = *(__local const float4 *) (b_tile + k * 128 + n / 4 * 2048
                            + (warp_n / 16 * 2048 + (warp_n / 2 % 8 + lane_n) * 16 ^ k % 8 * 16
                                    ^ n / 2 % 2 * 64));
                    bs[h][n] = x.s01, bs[h][n + 1] = x.s23;
                }
            // Each part of A by each part of B. Two products in a row have a factor in common,
            // which is kept where it is multiplied: registers are read in two banks, and a product
            // has three operands.
            #pragma unroll
            for (int h = 0; h < 2; h++)
                #pragma unroll
                for (int n = 0; n < 16; n++)
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
    // The tile goes through local memory, where rows are an element longer, so that work-items meet
    // in few banks.
    __local float2 *c_tile = (__local float2 *) both_tiles;
    // All have multiplied the last step.
    asm volatile("bar.sync 2, 256;" ::: "memory");
    #pragma unroll
    for (int e = 0; e < 32; e++) {
        const int m = e / 8 * 2, n = e % 8 * 2;
        const float2 sum = (float2) (c[m][n] - sign * c[m + 1][n + 1],
                sign * c[m][n + 1] + c[m + 1][n]);
        const uint2 place = place_of(item, e);
        c_tile[place.x * 65 + place.y] = sum;
    }
    asm volatile("bar.sync 2, 256;" ::: "memory");
    #pragma unroll 4
    for (uint i = item; i < 8192; i += 256) {
        const long row = first_m + i / 64, col = first_n + i % 64;
        const float2 sum = c_tile[i / 64 * 65 + i % 64];
        if (row < M && col < N)
            put(sum, conj_a, alpha, alpha_imag, beta, beta_imag, own + row * ldc + col);
    }
}
