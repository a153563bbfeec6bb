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

// NVIDIA's instructions, as the PTX ISA names them. What only sm_90a has is masked as a comment;
// the mask is taken from the PTX that this is compiled to.

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

// Divisions of 64 bits take long.
static ulong divide(ulong x, ulong y)
{
    return (x | y) >> 32 ? x / y : (uint) x / (uint) y;
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

// Begins to copy an element into local memory, or 0 where there is none.
static void copy_element(uint to, __global const float *from, bool is_there)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::
            "r"(to), "l"((ulong) from),
            "r"(is_there ? 4 : 0) : "memory");
}

// Begins to copy the tile that begins at `from`. `left` is what C has from there on, and is not
// copied beyond; `ks` is what K has, and what lies beyond is 0.
// Value k is line k % 16 * 2 + k / 16 of the tile.
// A warp copies 16 values of k of two rows. In a line four rows are at r / 4 ^ k % 16 / 2, each of
// them at r % 4 ^ k % 2 * 2, so that no two of these 32 elements meet in a bank.
static void fetch_a(uint tile, __global const float *from, long ld, int left, int ks, uint who)
{
    const int x = who % 16, high = who / 32 % 2, y = who / 16 % 2 + who / 64 * 2;
    const bool is_there = high * 16 + x < ks;
    from += y * ld + high * 16 + x;
    tile += (x * 2 + high) * 256 + (y ^ x % 2 * 2) * 4;
    left -= y;
    #pragma unroll
    for (int row = 0; row < 64; row += 4) {
        if (row < left)
            copy_element(tile + row / 64 * 8192 + row % 64 / 32 * 128
                    + (row % 32 / 4 ^ x / 2) * 16, from, is_there);
        from += 4 * ld;
    }
}

// Begins to copy the tile that begins at `from`. `left` is what C has from there on, and is not
// copied beyond; `ks` is what K has, and what lies beyond is 0.
// Value k is line k % 16 * 2 + k / 16 of the tile.
static void fetch_b(uint tile, __global const float *from, long ld, int left, int ks, uint who)
{
    const int x = who % 32, y = who / 32;
    from += y * ld + x;
    #pragma unroll
    for (int k = 0; k < 32; k += 4) {
        const bool is_there = k + y < ks;
        const uint line = tile + ((k % 16 + y) * 2 + k / 16) * 256 + x * 4;
        #pragma unroll
        for (int i = 0; i < 128; i += 32)
            if (i + x < left)
                copy_element(line + i / 64 * 8192 + i % 64 * 4, from + i, is_there);
        from += 4 * ld;
    }
}

// The first row and column of a tile of C. Tiles are taken in bands of 8 rows, each column by
// column, so that work-groups that run together share rows and columns.
// The last band may have fewer rows.
static int2 origin_of_tile(uint tile, long M, long N)
{
    const uint tiles_m = ((uint) M + 63) / 64;
    const uint tiles_n = ((uint) N + 127) / 128;
    const uint band = tile / (8 * tiles_n) * 8, in_band = tile - band * tiles_n;
    const uint band_rows = min(tiles_m - band, 8U);
    const uint tile_m = band + in_band % band_rows, tile_n = in_band / band_rows;
    return (int2) (tile_m * 64, tile_n * 128);
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

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored M x K.
// B is stored K x N.
// For NVIDIA's compute capability 9.0.
// A work-group computes 64 x 128 of C. Tiles of A and B, 32 deep, are fetched into local memory, up
// to 6 at a time, by four warps. A tile's `full` barrier says that it is there. A warp computes 64
// x 32 of C, and says by `empty` when it has read a tile.
// As many work-groups as run at once take tiles in turn.
// Of the tiles that do not make a whole turn, the steps are shared out evenly (stream-K, Osama et
// al. 2023); what a work-group has of such a tile is kept, to be added up later.
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void kiln_sgemm_tma_stream(long M, long N, long K,
        __global const float *restrict A, long a_offset, long a_stride, long lda,
        __global const float *restrict B, long b_offset, long b_stride, long ldb,
        __global uchar *work, long parts_at,
        float alpha, float beta,
        __global float *restrict C, long c_offset, long c_stride, long ldc)
{
    __local uchar a_tiles[49152] __attribute__((aligned(1024)));
    __local uchar b_tiles[98304] __attribute__((aligned(1024)));
    __local ulong full[6];
    __local ulong empty[6];
    const uint item = get_local_id(0);
    const uint fulls = local_address(full);
    const uint a_at = local_address(a_tiles), b_at = local_address(b_tiles);
    const uint empties = local_address(empty);
    const long member = member_of_batch();
    A += a_offset + member * a_stride;
    B += b_offset + member * b_stride;
    C += c_offset;
    // Whether every row of C starts where 4 columns may be stored at once.
    const ulong misaligned = ((ulong) (C + member * c_stride) | (ulong) (ldc * 4)) & 15;
    const bool is_aligned = misaligned == 0;
    __global float *parts = (__global float *) (work + parts_at * 4) + 4 * item;
    // The first `whole` tiles are done in turns; of the rest, which are `steps` steps each, a
    // work-group takes `share` steps. A last turn that is three quarters full is a turn.
    const uint groups = get_num_groups(0);
    const uint tiles = ((uint) M + 63) / 64 * (((uint) N + 127) / 128);
    const uint in_turns = tiles / groups * groups;
    const uint whole = tiles - in_turns < groups * 3 / 4 ? in_turns : tiles;
    const uint steps = ((uint) K + 31) / 32;
    const ulong all = (ulong) (tiles - whole) * steps;
    const ulong share = (all + groups - 1) / groups;
    const ulong begin = min(get_group_id(0) * share, all), end = min(begin + share, all);

    // Those who fetch begin with parity 1, and find all stages empty; those who multiply, with 0.
    if (item == 0) {
        for (int s = 0; s < 6; s++) {
            mbarrier_init(fulls + 8 * s, 128);
            mbarrier_init(empties + 8 * s, 4);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    // Those who fetch: the last 4 warps.
    if (item >= 128) {
        const uint who = item - 128;
        uint stage = 0, phase = 1;
        // Whole tiles in turns, then the steps from `begin` to `end` of the shared ones: of a tile,
        // `num` from its step `first` on.
        for (ulong turn = get_group_id(0), at = begin; turn < whole || at < end; ) {
            const bool is_whole = turn < whole;
            const uint nth = is_whole ? 0 : divide(at, steps);
            const uint tile = is_whole ? turn : whole + nth;
            const int first = is_whole ? 0 : at - (ulong) nth * steps;
            const int num = is_whole ? steps : min((ulong) (steps - first), end - at);
            // Steps are rotated: the first one is `rotation` steps after `first`, and is, modulo
            // `share`, the number of steps that the work-group has done. So all work-groups are at
            // the same k, modulo `share`, and find in the cache what others have read. What would
            // begin behind the `num` steps is not rotated.
            const uint done = at - begin, period = share;
            const uint shift = is_whole ? 0 : (done + period - (uint) first % period) % period;
            const int rotation = shift < num ? shift : 0;
            turn += groups;
            at += is_whole ? 0 : num;
            const int2 origin = origin_of_tile(tile, M, N);
            const int first_m = origin.x, first_n = origin.y;
            for (int t = 0; t < num; t++) {
                const int rotated = t + rotation;
                const int step = first + rotated - (rotated < num ? 0 : num);
                const int k = step * 32;
                mbarrier_wait(empties + 8 * stage, phase);
                fetch_a(a_at + stage * 8192, A + first_m * lda + k, lda, M - first_m, K - k, who);
                fetch_b(b_at + stage * 16384, B + k * ldb + first_n, ldb, N - first_n, K - k, who);
                mbarrier_arrive_copied(fulls + 8 * stage);
                if (++stage == 6) {
                    stage = 0;
                    phase ^= 1;
                }
            }
        }
        return;
    }
    // Those who multiply: the first 4 warps.
    uint stage = 0, phase = 0;
    const uint warp = item / 32, lane = item % 32;
    // Whole tiles in turns, then the steps from `begin` to `end` of the shared ones: of a tile,
    // `num` from its step `first` on.
    for (ulong turn = get_group_id(0), at = begin; turn < whole || at < end; ) {
        const bool is_whole = turn < whole;
        const uint nth = is_whole ? 0 : divide(at, steps);
        const uint tile = is_whole ? turn : whole + nth;
        const int first = is_whole ? 0 : at - (ulong) nth * steps;
        const int num = is_whole ? steps : min((ulong) (steps - first), end - at);
        turn += groups;
        at += is_whole ? 0 : num;
        const int2 origin = origin_of_tile(tile, M, N);
        const int first_m = origin.x, first_n = origin.y;
        const uint lane_m = lane / 4, lane_n = lane % 4;
        const uint warp_m = 0, warp_n = warp * 32;
        // Where a work-item's first four rows and columns are in line 0 of their boxes, which are
        // 32 values of k by 64 rows of A or 64 columns of B.
        const uint a_chunk = warp_m / 64 * 8192 + (warp_m % 64 / 4 + lane_m) * 16;
        const uint b_chunk = warp_n / 64 * 8192 + (warp_n % 64 / 4 + lane_n) * 16;
        float c[8][8];
        #pragma unroll
        for (int m = 0; m < 8; m++)
            #pragma unroll
            for (int n = 0; n < 8; n++)
                c[m][n] = 0;
        for (int now = 0; now < num; now++) {
            mbarrier_wait(fulls + 8 * stage, phase);
            // Hands back the stage of the step before, which is not done sooner: what is read from
            // local memory has surely arrived only when it has been multiplied.
            warp_sync();
            if (now > 0 && lane == 0)
                mbarrier_arrive(empties + 8 * (stage == 0 ? 5 : stage - 1));
            __local const uchar *a_tile = a_tiles + stage * 8192;
            __local const uchar *b_tile = b_tiles + stage * 16384;
            // Goes through k, four values (a quad) at a time; of each it reads its rows and columns
            // by fours, and multiplies each by each.
            // In a transposed tile four rows or columns lie at their number ^ q.
            // Of four that are transposed the other two come first in every other pair of lines.
            #pragma unroll 4
            for (int q = 0; q < 8; q++) {
                const uint a_from = a_chunk ^ q * 16;
                const uint b_from = b_chunk;
                #pragma unroll
                for (int k = 4 * q; k < 4 * q + 4; k++) {
                    float as[8], bs[8];
                    #pragma unroll
                    for (int m = 0; m < 8; m += 4) {
                        const float4 x = *(__local const float4 *) (a_tile + k * 256 + a_from
                                + m / 8 * 8192 + m % 8 * 32);
                        const float four[4] = { x.s0, x.s1, x.s2, x.s3 };
                        #pragma unroll
                        for (int i = 0; i < 4; i++)
                            as[m + i] = four[i ^ (k & 2)];
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
                        for (int i = 0; i < 8; i++) {
                            // Rows go up in even columns and down in odd ones: so two products in a
                            // row have a factor in common, which is not read from its register
                            // again.
                            const int m = n % 2 ? 7 - i : i;
                            c[m][n] += as[m] * bs[n];
                        }
                }
            }
            if (++stage == 6) {
                stage = 0;
                phase ^= 1;
            }
        }
        // Hands back the stage of the step before, which is not done sooner: what is read from
        // local memory has surely arrived only when it has been multiplied.
        warp_sync();
        if (num > 0 && lane == 0)
            mbarrier_arrive(empties + 8 * (stage == 0 ? 5 : stage - 1));
        if (num < steps) {
            // Not all of the tile: kept for the stage that adds up. Of the two parts that a
            // work-group has room for, the second is for the tile that it has begun.
            __global float *part = parts + (2 * get_group_id(0) + (first == 0)) * 8192;
            #pragma unroll
            for (int m = 0; m < 8; m++)
                #pragma unroll
                for (int n = 0; n < 8; n += 4)
                    *(__global float4 *) (part + (m * 8 + n) * 128) =
                            (float4) (c[m][n], c[m][n + 1], c[m][n + 2], c[m][n + 3]);
            continue;
        }
        // C of this member of a batch. The member is asked for anew: kept until now, the place
        // would take registers while tiles are multiplied.
        __global float *const own = C + member_of_batch() * c_stride;
        // A work-item has rows by fours, 32 apart, and columns by fours, 16 apart.
        #pragma unroll
        for (int m = 0; m < 8; m++) {
            const long row = first_m + warp_m + m / 4 * 32 + lane_m * 4 + m % 4;
            __global float *out = own + row * ldc;
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
                    transpose_four(x, lane_n, 1);
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
// A work-group that multiplies has room for two parts of tiles, of 8192 numbers each: the second is
// for the tile whose first step it has done, the first for one that another has begun. So, of the
// parts of a tile, that of the work-group that began it is a second one, all others are first ones.
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void kiln_sgemm_tma_add(long M, long N, long K,
        __global const float *restrict work, long parts_at,
        float alpha, float beta,
        __global float *restrict C, long c_offset, long ldc)
{
    __local float sums[8][128] __attribute__((aligned(16)));
    // The tile whose parts this work-group adds up, with others: how many parts there are, which
    // work-group has the first of them, which of how many work-groups that add it up this one is,
    // and where the tile is in C.
    __local struct {
        uint num_parts, first_group, own, adders;
        int first_m, first_n;
    } tile_of;
    const uint adder = get_local_id(0);
    if (adder == 0) {
        // The first `whole` tiles are done in turns; of the rest, which are `steps` steps each, a
        // work-group takes `share` steps. A last turn that is three quarters full is a turn.
        const uint groups = get_num_groups(0);
        const uint tiles = ((uint) M + 63) / 64 * (((uint) N + 127) / 128);
        const uint in_turns = tiles / groups * groups;
        const uint whole = tiles - in_turns < groups * 3 / 4 ? in_turns : tiles;
        const uint steps = ((uint) K + 31) / 32;
        const ulong all = (ulong) (tiles - whole) * steps;
        const ulong share = (all + groups - 1) / groups;
        // As many work-groups add up each shared tile.
        const uint all_adders = groups * get_num_groups(1);
        const uint number = get_group_id(1) * groups + get_group_id(0);
        const uint adders = min(all_adders / max(tiles - whole, 1U), 64U);
        const uint tile = whole + number / adders;
        tile_of.num_parts = 1;
        if (tile < tiles) {
            const int2 origin = origin_of_tile(tile, M, N);
            const int first_m = origin.x, first_n = origin.y;
            // The work-groups from that which has the tile's first step to that which has its last.
            // K of 0 has no steps: then nothing is added up, and C becomes beta C.
            const ulong begin = (ulong) (tile - whole) * steps;
            const uint first_group = steps > 0 ? divide(begin, share) : 0;
            tile_of.num_parts = steps > 0 ? divide(begin + steps - 1, share) - first_group + 1 : 0;
            tile_of.first_group = first_group;
            tile_of.own = number % adders;
            tile_of.adders = adders;
            tile_of.first_m = first_m;
            tile_of.first_n = first_n;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    // What one work-group did alone it has stored; or there is no tile left for this work-group.
    const uint num = tile_of.num_parts;
    if (num == 1)
        return;
    const int first_m = tile_of.first_m, first_n = tile_of.first_n;
    __global const float *parts = work + parts_at + 2 * (ulong) tile_of.first_group * 8192;
    C += c_offset;
    // Where parts are few, or a tile has so much that no work-item is idle, each work-item adds up
    // all parts of its elements.
    if (num <= 8 || tile_of.adders < 16) {
        // Whether every row of C starts where 4 columns may be stored at once.
        const ulong misaligned = ((ulong) C | (ulong) (ldc * 4)) & 15;
        const bool is_aligned = misaligned == 0;
        for (uint at = tile_of.own * 256 + adder; at < 2048;
             at += tile_of.adders * 256) {
            __global const float4 *part = (__global const float4 *) parts + at;
            float4 sum = 0;
            for (uint p = 0; p < num; p += 4) {
                float4 terms[4];
                #pragma unroll
                for (int q = 0; q < 4; q++)
                    terms[q] = p + q >= num ? 0 : part[(p + q == 0 ? 1 : 2 * (p + q)) * 2048];
                #pragma unroll
                for (int q = 0; q < 4; q++)
                    sum += terms[q];
            }
            const uint item = at % 128, first = at / 128 * 4;
            const uint e = first;
            const uint warp = item / 32, lane = item % 32;
            const uint lane_m = lane / 4, lane_n = lane % 4;
            const uint warp_m = 0, warp_n = warp * 32;
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
    // Of 128 reals at a time each of eight warps adds up every eighth part, 9 with loads under way
    // at once; what the warps have is then added in their order.
    for (uint at = tile_of.own; at < 64; at += tile_of.adders) {
        float4 sum = 0;
        for (uint p = adder / 32; p < num; p += 72) {
            float4 part[9];
            #pragma unroll
            for (int u = 0; u < 9; u++) {
                const uint q = p + u * 8, piece = q == 0 ? 1 : 2 * q;
                part[u] = 0;
                if (q < num)
                    part[u] = *(__global const float4 *) (parts + piece * 8192
                            + at * 128 + adder % 32 * 4);
            }
            #pragma unroll
            for (int u = 0; u < 9; u++)
                sum += part[u];
        }
        *(__local float4 *) &sums[adder / 32][adder % 32 * 4] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (adder < 128) {
            float all = 0;
            #pragma unroll
            for (int u = 0; u < 8; u++)
                all += sums[u][adder];
            const uint element = at * 128 + adder;
            const uint item = element / 4 % 128;
            const uint e = element / 512 * 4 + element % 4;
            const uint warp = item / 32, lane = item % 32;
            const uint lane_m = lane / 4, lane_n = lane % 4;
            const uint warp_m = 0, warp_n = warp * 32;
            const uint m = e / 8, n = e % 8;
            const long row = first_m + warp_m + m / 4 * 32 + lane_m * 4 + m % 4;
            const long col = first_n + warp_n + n / 4 * 16 + lane_n * 4 + n % 4;
            if (row < M)
                put_column(all, C + row * ldc, col, N, alpha, beta);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
