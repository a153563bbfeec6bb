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

// NVIDIA's instructions, as the PTX ISA names them. An address in local memory is its 32 bits.
static uint local_address(__local const void *p)
{
    return (uint) (ulong) p;
}

// Divisions of 64 bits take long.
static ulong divide(ulong x, ulong y)
{
    return (x | y) >> 32 ? x / y : (uint) x / (uint) y;
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

// Begins to copy 32 lines of 32 elements, of which this work-item copies 1 at a time, in one of
// every 8 lines. There are `lines` and `cols` of the matrix left; what lies beyond is 0.
static void copy_a(uint to, __global const float *from, long ld, uint lines, int cols, uint item)
{
    const uint first = item / 32, col = item % 32;
    from += first * ld + col;
    if (lines >= 32 && cols >= 32) {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 32; n += 8) {
            const uint line = first + n;
            const uint where = x / 32 * 4096 + line * 128 + x % 32 * 4;
            copy_element(to + where, from + n * ld, true);
        }
    } else {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 32; n += 8) {
            const uint line = first + n;
            const uint where = x / 32 * 4096 + line * 128 + x % 32 * 4;
            copy_element(to + where, from + n * ld, line < lines && (int) x < cols);
        }
    }
}

// Begins to copy 64 lines of 32 elements, of which this work-item copies 4 at a time, in one of
// every 32 lines. There are `lines` and `cols` of the matrix left; what lies beyond is 0.
static void copy_b(uint to, __global const float *from, long ld, uint lines, int cols, uint item)
{
    const uint first = item / 8, col = item % 8 * 4;
    from += first * ld + col;
    to += col * 256 + first % 4 * 4;
    if (lines >= 64 && cols >= 32) {
        #pragma unroll
        for (uint i = 0; i < 4; i += 1) {
            const uint x = col + i;
            #pragma unroll
            for (uint n = 0; n < 64; n += 32) {
                const uint line = first + n;
                // Four lines of a value of k lie side by side: no two work-items meet in a bank.
                const uint where = n / 64 * 8192 + i * 256
                        + (first / 4 ^ col / 4 ^ n % 64 / 4) * 16;
                copy_element(to + where, from + n * ld + i, true);
            }
        }
    } else {
        #pragma unroll
        for (uint i = 0; i < 4; i += 1) {
            const uint x = col + i;
            #pragma unroll
            for (uint n = 0; n < 64; n += 32) {
                const uint line = first + n;
                // Four lines of a value of k lie side by side: no two work-items meet in a bank.
                const uint where = n / 64 * 8192 + i * 256
                        + (first / 4 ^ col / 4 ^ n % 64 / 4) * 16;
                copy_element(to + where, from + n * ld + i, line < lines && (int) x < cols);
            }
        }
    }
}

// put for column `col` of the row `out`, if there is such a column and it is stored.
static void put_column(float x, __global float *out, long col, long N, float alpha, float beta)
{
    if (col < N)
        store(beta == 0 ? alpha * x : alpha * x + beta * load(out + col), out + col);
}

static uint exchange(uint x, uint distance)
{
    uint other;
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;" :
            "=r"(other) : "r"(x), "r"(distance));
    return other;
}

// x[i] of work-item j of four, which are so far apart, becomes x[j] of work-item i.
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

// put for four columns side by side, at an address that is a multiple of their size.
static void put_four(float4 x, __global float *out, float alpha, float beta)
{
    x *= alpha;
    if (beta != 0)
        x += beta * *(__global float4 *) out;
    *(__global float4 *) out = x;
}

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored K x M.
// B is stored N x K.
// For NVIDIA's compute capability 8.0 and later.
// A work-group computes 32 x 64 of C, a warp 32 x 32 of it. Tiles of A and B, 32 deep, are copied
// into local memory asynchronously, 2 ahead of those that are multiplied.
// As many work-groups as run at once take tiles in turn.
// Of the tiles that do not make a whole turn, the steps are shared out evenly (stream-K, Osama et
// al. 2023); what a work-group has of such a tile is kept, to be added up later.
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void kiln_sgemm_async_stream(long M, long N, long K,
        __global const float *restrict A, long a_offset, long lda,
        __global const float *restrict B, long b_offset, long ldb,
        __global float *work, long parts_at,
        float alpha, float beta,
        __global float *restrict C, long c_offset, long ldc)
{
    __local uchar both_tiles[36864] __attribute__((aligned(1024)));
    __local uchar *a_tiles = both_tiles, *b_tiles = both_tiles + 12288;
    const uint a_at = local_address(a_tiles), b_at = local_address(b_tiles);
    const uint item = get_local_id(0), warp = item / 32, lane = item % 32;
    C += c_offset;
    // Whether every row of C starts where 4 columns may be stored at once.
    const ulong misaligned = ((ulong) C | (ulong) (ldc * 4)) & 15;
    const bool is_aligned = misaligned == 0;
    A += a_offset;
    B += b_offset;
    __global float *parts = work + parts_at + 4 * item;
    // The first `whole` tiles are done in turns; of the rest, which are `steps` steps each, a
    // work-group takes `share` steps. A last turn that is three quarters full is a turn.
    const uint groups = get_num_groups(0);
    const uint tiles = ((uint) M + 31) / 32 * (((uint) N + 63) / 64);
    const uint in_turns = tiles / groups * groups;
    const uint whole = tiles - in_turns < groups * 3 / 4 ? in_turns : tiles;
    const uint steps = ((uint) K + 31) / 32;
    const ulong all = (ulong) (tiles - whole) * steps;
    const ulong share = (all + groups - 1) / groups;
    const ulong begin = min(get_group_id(0) * share, all), end = min(begin + share, all);

    for (ulong turn = get_group_id(0), at = begin; turn < whole || at < end; ) {
        const bool is_whole = turn < whole;
        const uint done = is_whole ? 0 : divide(at, steps);
        const uint tile = is_whole ? turn : whole + done;
        const int first = is_whole ? 0 : at - (ulong) done * steps;
        const int num = is_whole ? steps : min((ulong) (steps - first), end - at);
        // Work-groups are at the same steps, modulo `share`, at the same time, so that what one
        // reads lies in the cache for others: it begins `late` steps after `first`. (Where a share
        // goes over two tiles, for a part of it.)
        const uint ago = at - begin, each = share;
        const uint behind = is_whole ? 0 : (ago + each - (uint) first % each) % each;
        const int late = behind < num ? behind : 0;
        turn += groups;
        at += is_whole ? 0 : num;
        // Work-groups that run together share rows and columns: 8 rows of tiles at a time.
        const uint tiles_m = ((uint) M + 31) / 32, tiles_n = ((uint) N + 63) / 64;
        const uint band = tile / (8 * tiles_n) * 8, in_band = tile - band * tiles_n;
        const uint band_rows = min(tiles_m - band, (uint) 8);
        const uint tile_m = band + in_band % band_rows, tile_n = in_band / band_rows;
        const int first_m = tile_m * 32, first_n = tile_n * 64;
        // Work-items i and i ^ 1 read the same of B, i and i ^ 2 the same of A. So a read of 16
        // bytes takes two turns of local memory, not four.
        const uint lane_m = lane % 2 + lane / 8 * 2, lane_n = lane / 2 % 4;
        const uint warp_m = 0, warp_n = warp % 2 * 32;
        // Where a work-item's first rows (columns of B) are in the parts of a tile, which have 32
        // rows (64 columns) by 32 values of k.
        const uint a_chunk = warp_m / 32 * 4096 + (warp_m % 32 / 4 + lane_m) * 16;
        const uint b_chunk = warp_n / 64 * 8192 + (warp_n % 64 / 4 + lane_n) * 16;
        float c[4][8];
        #pragma unroll
        for (int m = 0; m < 4; m++)
            #pragma unroll
            for (int n = 0; n < 8; n++)
                c[m][n] = 0;
        // Of each step this warp has one part of 4.
        const int slice = warp / 2;
        // All have read what is left of the tiles before.
        barrier(CLK_LOCAL_MEM_FENCE);
        int stage = 0;
        for (int t = 0; t < num + 2; t++) {
            // What was asked for at t - 2 is there for all, and all have multiplied those of the
            // step before, whose place is the next one to copy to.
            if (t >= 2) {
                wait_for_copies();
                barrier(CLK_LOCAL_MEM_FENCE);
            }
            if (t < num) {
                const int after_first = t + late;
                const int step = first + after_first - (after_first < num ? 0 : num);
                const int k = step * 32;
                copy_a(a_at + stage * 4096, A + k * lda + first_m, lda, K - k, M - first_m, item);
                copy_b(b_at + stage * 8192, B + first_n * ldb + k, ldb, N - first_n, K - k, item);
            }
            commit_copies();
            if (++stage == 3)
                stage = 0;
            if (t < 2)
                continue;
            // K's last step may come at any time.
            const int after_first = t - 2 + late;
            const int step = first + after_first - (after_first < num ? 0 : num);
            const long left = K - (long) step * 32;
            if (left >= 32) {
                __local const uchar *a_tile = a_tiles + stage * 4096;
                __local const uchar *b_tile = b_tiles + stage * 8192;
                // Goes through k; of each it reads its rows and columns by fours, and multiplies
                // each by each.
                #pragma unroll 2
                for (int q = slice * 2; q < (slice + 1) * 2; q++) {
                    const uint a_from = a_chunk;
                    const uint b_from = b_chunk ^ q * 16;
                    #pragma unroll
                    for (int k = 4 * q; k < 4 * q + 4; k++) {
                        float as[4], bs[8];
                        {
                            const float4 x = *(__local const float4 *) (a_tile + k * 128 + a_from);
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
                                // Rows go up in even columns and down in odd ones: so two products
                                // in a row have a factor in common, which is not read from its
                                // register again.
                                const int m = n % 2 ? 3 - i : i;
                                c[m][n] += as[m] * bs[n];
                            }
                    }
                }
            } else {
                __local const uchar *a_tile = a_tiles + stage * 4096;
                __local const uchar *b_tile = b_tiles + stage * 8192;
                // Goes through k; of each it reads its rows and columns by fours, and multiplies
                // each by each.
                for (int q = slice * 2; q < (slice + 1) * 2 && 4 * q < left; q++) {
                    const uint a_from = a_chunk;
                    const uint b_from = b_chunk ^ q * 16;
                    #pragma unroll
                    for (int k = 4 * q; k < 4 * q + 4; k++) {
                        float as[4], bs[8];
                        {
                            const float4 x = *(__local const float4 *) (a_tile + k * 128 + a_from);
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
                                // Rows go up in even columns and down in odd ones: so two products
                                // in a row have a factor in common, which is not read from its
                                // register again.
                                const int m = n % 2 ? 3 - i : i;
                                c[m][n] += as[m] * bs[n];
                            }
                    }
                }
            }
        }
        // What slices have is added up, always in the same order, through local memory: all tiles
        // have been multiplied.
        __local float *sums = (__local float *) a_tiles + item % 64;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (slice > 0)
            #pragma unroll
            for (int m = 0; m < 4; m++)
                #pragma unroll
                for (int n = 0; n < 8; n++)
                    sums[((slice - 1) * 32 + m * 8 + n) * 64] = c[m][n];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (slice > 0)
            continue;
        #pragma unroll
        for (int x = 0; x < 3; x++)
            #pragma unroll
            for (int m = 0; m < 4; m++)
                #pragma unroll
                for (int n = 0; n < 8; n++)
                    c[m][n] += sums[(x * 32 + m * 8 + n) * 64];
        if (num < steps) {
            // Not all of the tile: kept for the stage that adds up.
            __global float *part = parts + (2 * get_group_id(0) + (first == 0)) * 2048;
            #pragma unroll
            for (int m = 0; m < 4; m++)
                #pragma unroll
                for (int n = 0; n < 8; n += 4)
                    *(__global float4 *) (part + (m * 8 + n) * 64) =
                            (float4) (c[m][n], c[m][n + 1], c[m][n + 2], c[m][n + 3]);
            continue;
        }
        #pragma unroll
        for (int m = 0; m < 4; m++) {
            const long row = first_m + warp_m + m / 4 * 32 + lane_m * 4 + m % 4;
            __global float *out = C + row * ldc;
            #pragma unroll
            for (int n = 0; n < 8; n += 4) {
                const long block = first_n + warp_n + n * 4;
                if (is_aligned && block + 15 < N) {
                    if (row < M)
                        put_four((float4) (c[m][n], c[m][n + 1], c[m][n + 2], c[m][n + 3]),
                                out + block + lane_n * 4, alpha, beta);
                } else {
                    // Not stored by fours: the four work-items of a row trade elements, and then
                    // store four neighbouring columns side by side.
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
}

// Adds up what work-groups have of a tile that none did alone, and stores it. What a work-item of
// theirs has lies in pieces of 16 bytes, each beside those of the other work-items.
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void kiln_sgemm_async_add(long M, long N, long K,
        __global const float *restrict work, long parts_at,
        float alpha, float beta,
        __global float *restrict C, long c_offset, long ldc)
{
    typedef float sum_t;
    __local float sums[8][128] __attribute__((aligned(16)));
    __local uint told[6];
    const uint adder = get_local_id(0);
    // Work-groups share a tile. One work-item finds out which it is, and what there is of it.
    if (adder == 0) {
        // The first `whole` tiles are done in turns; of the rest, which are `steps` steps each, a
        // work-group takes `share` steps. A last turn that is three quarters full is a turn.
        const uint groups = get_num_groups(0);
        const uint tiles = ((uint) M + 31) / 32 * (((uint) N + 63) / 64);
        const uint in_turns = tiles / groups * groups;
        const uint whole = tiles - in_turns < groups * 3 / 4 ? in_turns : tiles;
        const uint steps = ((uint) K + 31) / 32;
        const ulong all = (ulong) (tiles - whole) * steps;
        const ulong share = (all + groups - 1) / groups;
        const uint adders = groups * get_num_groups(1);
        const uint number = get_group_id(1) * groups + get_group_id(0);
        const uint each = min(adders / max(tiles - whole, 1U), 16U);
        const uint tile = whole + number / each;
        told[0] = 1;
        if (tile < tiles) {
            // Work-groups that run together share rows and columns: 8 rows of tiles at a time.
            const uint tiles_m = ((uint) M + 31) / 32, tiles_n = ((uint) N + 63) / 64;
            const uint band = tile / (8 * tiles_n) * 8, in_band = tile - band * tiles_n;
            const uint band_rows = min(tiles_m - band, (uint) 8);
            const uint tile_m = band + in_band % band_rows, tile_n = in_band / band_rows;
            const int first_m = tile_m * 32, first_n = tile_n * 64;
            // The work-groups that have the tile's first and last step: the first has it as its
            // last piece, the others what they have of it as their first.
            const ulong begin = (ulong) (tile - whole) * steps;
            const uint from = steps > 0 ? divide(begin, share) : 0;
            told[0] = steps > 0 ? divide(begin + steps - 1, share) - from + 1 : 0;
            told[1] = from;
            told[2] = number % each;
            told[3] = each;
            told[4] = first_m;
            told[5] = first_n;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint num = told[0];
    if (num == 1)
        return;
    const int first_m = told[4], first_n = told[5];
    __global const float *parts = work + parts_at + 2 * (ulong) told[1] * 2048;
    C += c_offset;
    // Where pieces are few, or a tile has so much that no work-item is idle, each adds up all
    // pieces of its elements.
    if (num <= 8 || told[3] < 4) {
        // Whether every row of C starts where 4 columns may be stored at once.
        const ulong misaligned = ((ulong) C | (ulong) (ldc * 4)) & 15;
        const bool is_aligned = misaligned == 0;
        for (uint at = told[2] * 256 + adder; at < 512; at += told[3] * 256) {
            __global const float4 *part = (__global const float4 *) parts + at;
            float4 sum = 0;
            for (uint p = 0; p < num; p += 4) {
                float4 some[4];
                #pragma unroll
                for (int q = 0; q < 4; q++)
                    some[q] = p + q >= num ? 0 : part[(p + q == 0 ? 1 : 2 * (p + q)) * 512];
                #pragma unroll
                for (int q = 0; q < 4; q++)
                    sum += some[q];
            }
            const uint item = at % 64, first = at / 64 * 4;
            const uint e = first;
            const uint warp = item / 32, lane = item % 32;
            // Work-items i and i ^ 1 read the same of B, i and i ^ 2 the same of A. So a read of 16
            // bytes takes two turns of local memory, not four.
            const uint lane_m = lane % 2 + lane / 8 * 2, lane_n = lane / 2 % 4;
            const uint warp_m = 0, warp_n = warp % 2 * 32;
            const uint m = e / 8, n = e % 8;
            const long row = first_m + warp_m + m / 4 * 32 + lane_m * 4 + m % 4;
            const long col = first_n + warp_n + n / 4 * 16 + lane_n * 4 + n % 4;
            if (row < M) {
                if (is_aligned && col + 3 < N) {
                    put_four(sum, C + row * ldc + col, alpha, beta);
                } else {
                    const float four[4] = { sum.s0, sum.s1, sum.s2, sum.s3 };
                    #pragma unroll
                    for (int u = 0; u < 4; u++)
                        put_column(four[u], C + row * ldc, col + u, N, alpha, beta);
                }
            }
        }
        return;
    }
    // Of 128 reals at a time each of eight warps adds up every eighth part; what they have is then
    // added in their order.
    for (uint at = told[2]; at < 16; at += told[3]) {
        float4 sum = 0;
        for (uint p = adder / 32; p < num; p += 72) {
            float4 part[9];
            #pragma unroll
            for (int u = 0; u < 9; u++) {
                const uint q = p + u * 8, piece = q == 0 ? 1 : 2 * q;
                part[u] = 0;
                if (q < num)
                    part[u] = *(__global const float4 *) (parts + piece * 2048
                            + at * 128 + adder % 32 * 4);
            }
            #pragma unroll
            for (int u = 0; u < 9; u++)
                sum += part[u];
        }
        *(__local float4 *) &sums[adder / 32][adder % 32 * 4] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (adder < 128) {
            sum_t all = 0;
            #pragma unroll
            for (int u = 0; u < 8; u++)
                all += sums[u][adder];
            const uint element = at * 128 + adder;
            const uint item = element / 4 % 64;
            const uint e = element / 256 * 4 + element % 4;
            const uint warp = item / 32, lane = item % 32;
            // Work-items i and i ^ 1 read the same of B, i and i ^ 2 the same of A. So a read of 16
            // bytes takes two turns of local memory, not four.
            const uint lane_m = lane % 2 + lane / 8 * 2, lane_n = lane / 2 % 4;
            const uint warp_m = 0, warp_n = warp % 2 * 32;
            const uint m = e / 8, n = e % 8;
            const long row = first_m + warp_m + m / 4 * 32 + lane_m * 4 + m % 4;
            const long col = first_n + warp_n + n / 4 * 16 + lane_n * 4 + n % 4;
            if (row < M)
                put_column(all, C + row * ldc, col, N, alpha, beta);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
