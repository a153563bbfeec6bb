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

// Divisions of 64 bits take long.
static ulong divide(ulong x, ulong y)
{
    return (x | y) >> 32 ? x / y : (uint) x / (uint) y;
}

// Begins to copy 16 bytes into local memory: the first `bytes` of them, and zeros.
static void copy_16(uint to, __global const half *from, uint bytes)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::
            "r"(to), "l"((ulong) from),
            "r"(bytes) : "memory");
}

// What this work-item has begun to copy since it last committed is one step's.
static void commit_copies(void)
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until of the steps that this work-item has committed at most 2 are on their way.
static void wait_for_copies(void)
{
    asm volatile("cp.async.wait_group 2;" ::: "memory");
}

// Where the x-th 16 bytes of a line are, in boxes whose lines have `part` (2, 4 or 8) times 16
// bytes; boxes side by side have 64 lines. Of eight lines in a row the pieces of a column lie in
// different banks.
static uint swizzled(uint line, uint x, uint part)
{
    return (x / part * part * 64 + line * part + (x % part ^ line % 8 / (8 / part))) * 16;
}

// Begins to copy 64 lines of 64 elements, of which this work-item copies 8 at a time, in one of
// every 16 lines. There are `lines` and `cols` of the matrix left; what lies beyond is 0.
static void copy_a(uint to, __global const half *from, long ld, uint lines, int cols, uint item)
{
    const uint first = item / 8, col = item % 8 * 8;
    from += first * ld + col;
    if (lines >= 64 && cols >= 64) {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 64; n += 16) {
            const uint line = first + n;
            const uint where = swizzled(line, x / 8, 8) + x % 8 * 2;
            copy_16(to + where, from + n * ld, 16);
        }
    } else {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 64; n += 16) {
            const uint line = first + n;
            const uint where = swizzled(line, x / 8, 8) + x % 8 * 2;
            copy_16(to + where, from + n * ld, line < lines ? clamp(cols - (int) x, 0, 8) * 2 : 0);
        }
    }
}

// Begins to copy 64 lines of 64 elements, of which this work-item copies 8 at a time, in one of
// every 16 lines. There are `lines` and `cols` of the matrix left; what lies beyond is 0.
static void copy_b(uint to, __global const half *from, long ld, uint lines, int cols, uint item)
{
    const uint first = item / 8, col = item % 8 * 8;
    from += first * ld + col;
    if (lines >= 64 && cols >= 64) {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 64; n += 16) {
            const uint line = first + n;
            const uint where = swizzled(line, x / 8, 8) + x % 8 * 2;
            copy_16(to + where, from + n * ld, 16);
        }
    } else {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 64; n += 16) {
            const uint line = first + n;
            const uint where = swizzled(line, x / 8, 8) + x % 8 * 2;
            copy_16(to + where, from + n * ld, line < lines ? clamp(cols - (int) x, 0, 8) * 2 : 0);
        }
    }
}

// Reads four blocks of 8 x 8 halves from local memory, as mma wants them; lines are rows of A,
// columns of B.
static void load_blocks(uint to[4], uint from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" :
            "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(from) : "memory");
}

// The same where lines are columns of A, rows of B.
static void load_transposed_blocks(uint to[4], uint from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" :
            "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(from) : "memory");
}

// c += a b for blocks of 16 x 8, 16 x 16 and 16 x 8, spread over a warp as the PTX ISA says.
static void multiply_blocks(float c[4], const uint a[4], const uint b[2])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" :
            "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) :
            "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
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
static void put_column(float x, __global half *out, long col, long N, float alpha, float beta)
{
    if (col < N)
        store(beta == 0 ? alpha * x : alpha * x + beta * load(out + col), out + col);
}

// Two halves as a word, each rounded to the nearest.
static uint pack_halves(float low, float high)
{
    uint both;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}

// The same for two columns side by side; `whole`: they are at a multiple of their size.
static void put_pair(float x, float y, __global half *out, long col,
        long N, float alpha, float beta, bool whole)
{
    if (!whole || col + 1 >= N) {
        put_column(x, out, col, N, alpha, beta);
        put_column(y, out, col + 1, N, alpha, beta);
        return;
    }
    float2 z = alpha * (float2) (x, y);
    if (beta != 0) {
        const uint both = *(__global uint *) (out + col);
        z += beta * vload_half2(0, (const half *) &both);
    }
    *(__global uint *) (out + col) = pack_halves(z.x, z.y);
}

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored M x K.
// B is stored K x N.
// For NVIDIA's compute capability 8.0 and later.
// A work-group computes 64 x 64 of C, a warp 32 x 32 of it. Tiles of A and B, 64 deep, are copied
// into local memory asynchronously, 3 ahead of those that are multiplied.
// As many work-groups as run at once take tiles in turn.
// Of the tiles that do not make a whole turn, the steps are shared out evenly (stream-K, Osama et
// al. 2023); what a work-group has of such a tile is kept, to be added up later.
__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void kiln_hgemm_async_stream(long M, long N, long K,
        __global const half *restrict A, long a_offset, long a_stride, long lda,
        __global const half *restrict B, long b_offset, long b_stride, long ldb,
        __global float *work, long parts_at,
        float alpha, float beta,
        __global half *restrict C, long c_offset, long c_stride, long ldc)
{
    __local uchar both_tiles[65536] __attribute__((aligned(1024)));
    __local uchar *a_tiles = both_tiles, *b_tiles = both_tiles + 32768;
    const uint a_at = local_address(a_tiles), b_at = local_address(b_tiles);
    const uint item = get_local_id(0), warp = item / 32, lane = item % 32;
    const long member = member_of_batch();
    A += a_offset + member * a_stride;
    B += b_offset + member * b_stride;
    C += c_offset;
    // Whether every row of C starts where 8 columns may be stored at once.
    const ulong misaligned = ((ulong) (C + member * c_stride) | (ulong) (ldc * 2)) & 15;
    const bool is_aligned = misaligned == 0;
    __global float *parts = work + parts_at + 4 * item;
    // The first `whole` tiles are done in turns; of the rest, which are `steps` steps each, a
    // work-group takes `share` steps. A last turn that is three quarters full is a turn.
    const uint groups = get_num_groups(0);
    const uint tiles = ((uint) M + 63) / 64 * (((uint) N + 63) / 64);
    const uint in_turns = tiles / groups * groups;
    const uint whole = tiles - in_turns < groups * 3 / 4 ? in_turns : tiles;
    const uint steps = ((uint) K + 63) / 64;
    const ulong all = (ulong) (tiles - whole) * steps;
    const ulong share = (all + groups - 1) / groups;
    const ulong begin = min(get_group_id(0) * share, all), end = min(begin + share, all);

    // Whole tiles in turns, then the steps from `begin` to `end` of the shared ones: of a tile,
    // `num` from its step `first` on.
    for (ulong turn = get_group_id(0), at = begin; turn < whole || at < end; ) {
        const bool is_whole = turn < whole;
        const uint nth = is_whole ? 0 : divide(at, steps);
        const uint tile = is_whole ? turn : whole + nth;
        const int first = is_whole ? 0 : at - (ulong) nth * steps;
        const int num = is_whole ? steps : min((ulong) (steps - first), end - at);
        // Steps are rotated: the first one is `rotation` steps after `first`, and is, modulo
        // `share`, the number of steps that the work-group has done. So all work-groups are at the
        // same k, modulo `share`, and find in the cache what others have read. What would begin
        // behind the `num` steps is not rotated.
        const uint done = at - begin, period = share;
        const uint shift = is_whole ? 0 : (done + period - (uint) first % period) % period;
        const int rotation = shift < num ? shift : 0;
        turn += groups;
        at += is_whole ? 0 : num;
        const int2 origin = origin_of_tile(tile, M, N);
        const int first_m = origin.x, first_n = origin.y;
        const uint lane_m = lane / 4, lane_k = lane % 4;
        const uint lane_r = lane_m;
        const uint warp_m = warp % 2 * 32, warp_n = warp / 2 * 32;
        float c[2][4][4];
        #pragma unroll
        for (int i = 0; i < 2; i++)
            #pragma unroll
            for (int j = 0; j < 4; j++)
                #pragma unroll
                for (int e = 0; e < 4; e++)
                    c[i][j][e] = 0;
        uint as0[2][4], bs0[2][4];
        // All have read what is left of the tiles before.
        barrier(CLK_LOCAL_MEM_FENCE);
        int stage = 0;
        for (int t = 0; t < num + 3; t++) {
            // What was asked for at t - 3 is there for all, and all have multiplied those of the
            // step before, whose stage is the next one to copy to.
            if (t >= 3) {
                wait_for_copies();
                barrier(CLK_LOCAL_MEM_FENCE);
            }
            if (t < num) {
                const int rotated = t + rotation;
                const int step = first + rotated - (rotated < num ? 0 : num);
                const int k = step * 64;
                copy_a(a_at + stage * 8192, A + first_m * lda + k, lda, M - first_m, K - k, item);
                copy_b(b_at + stage * 8192, B + k * ldb + first_n, ldb, K - k, N - first_n, item);
            }
            commit_copies();
            // Behind the stage that is copied to comes the one copied to 3 steps before.
            if (++stage == 4)
                stage = 0;
            if (t < 3)
                continue;
            // K's last step may come at any time.
            const int rotated = t - 3 + rotation;
            const int step = first + rotated - (rotated < num ? 0 : num);
            const long left = K - (long) step * 64;
            if (left >= 64) {
                const uint a_tile = a_at + stage * 8192, b_tile = b_at + stage * 8192;
                #pragma unroll
                for (int s = 0; s < 4; s++) {
                    // The s-th part of the tiles' k into fragments.
                    // Sixteen values of k of the tile. Blocks of 8 x 8 are read four at once:
                    // work-item l says where line l % 8 of block l / 8 is.
                    #pragma unroll
                    for (int i = 0; i < 2; i++) {
                        const uint line = warp_m + i * 16 + lane % 16, x = s * 2 + lane / 16;
                        load_blocks(as0[i], a_tile + swizzled(line, x, 8));
                    }
                    #pragma unroll
                    for (int j = 0; j < 4; j += 2) {
                        const uint line = s * 16 + lane % 16, x = warp_n / 8 + j + lane / 16;
                        load_transposed_blocks(bs0[j / 2], b_tile + swizzled(line, x, 8));
                    }
                    #pragma unroll
                    for (int i = 0; i < 2; i++)
                        #pragma unroll
                        for (int j = 0; j < 4; j++)
                            multiply_blocks(c[i][j], as0[i], bs0[j / 2] + j % 2 * 2);
                }
            } else {
                const uint a_tile = a_at + stage * 8192, b_tile = b_at + stage * 8192;
                for (int s = 0; s * 16 < left; s++) {
                    // The s-th part of the tiles' k into fragments.
                    // Sixteen values of k of the tile. Blocks of 8 x 8 are read four at once:
                    // work-item l says where line l % 8 of block l / 8 is.
                    #pragma unroll
                    for (int i = 0; i < 2; i++) {
                        const uint line = warp_m + i * 16 + lane % 16, x = s * 2 + lane / 16;
                        load_blocks(as0[i], a_tile + swizzled(line, x, 8));
                    }
                    #pragma unroll
                    for (int j = 0; j < 4; j += 2) {
                        const uint line = s * 16 + lane % 16, x = warp_n / 8 + j + lane / 16;
                        load_transposed_blocks(bs0[j / 2], b_tile + swizzled(line, x, 8));
                    }
                    #pragma unroll
                    for (int i = 0; i < 2; i++)
                        #pragma unroll
                        for (int j = 0; j < 4; j++)
                            multiply_blocks(c[i][j], as0[i], bs0[j / 2] + j % 2 * 2);
                }
            }
        }
        if (num < steps) {
            // Not all of the tile: kept for the stage that adds up. Of the two parts that a
            // work-group has room for, the second is for the tile that it has begun.
            __global float *part = parts + (2 * get_group_id(0) + (first == 0)) * 4096;
            #pragma unroll
            for (int i = 0; i < 2; i++)
                #pragma unroll
                for (int j = 0; j < 4; j++)
                    *(__global float4 *) (part + (i * 4 + j) * 512) =
                            (float4) (c[i][j][0], c[i][j][1], c[i][j][2], c[i][j][3]);
            continue;
        }
        // C of this member of a batch. The member is asked for anew: kept until now, the place
        // would take registers while tiles are multiplied.
        __global half *const own = C + member_of_batch() * c_stride;
        if (beta != 0) {
            #pragma unroll
            for (int i = 0; i < 2; i++)
                #pragma unroll
                for (int h = 0; h < 2; h++) {
                    const long row = first_m + warp_m + i * 16 + h * 8 + lane_r;
                    if (row >= M)
                        break;
                    const long first_col = 0, end_col = N;
                    #pragma unroll
                    for (int j = 0; j < 4; j++) {
                        const long col = first_n + warp_n + j * 8 + lane_k * 2;
                        __global const half *old = own + row * ldc + col;
                        if (is_aligned && col + 1 < end_col) {
                            const uint both = *(__global const uint *) old;
                            const float2 y = vload_half2(0, (const half *) &both);
                            c[i][j][2 * h] = alpha * c[i][j][2 * h] + beta * y.x;
                            c[i][j][2 * h + 1] = alpha * c[i][j][2 * h + 1] + beta * y.y;
                            continue;
                        }
                        if (col >= first_col && col < end_col)
                            c[i][j][2 * h] = alpha * c[i][j][2 * h] + beta * load(old);
                        if (col + 1 >= first_col && col + 1 < end_col)
                            c[i][j][2 * h + 1] = alpha * c[i][j][2 * h + 1] + beta * load(old + 1);
                    }
                }
        }
        const float factor = beta != 0 ? 1 : alpha;
        // The tile goes through local memory, as words of two halves. Rows lie four words further
        // apart than they are long, so that eight of them meet in no bank.
        __local uint *c_words = (__local uint *) both_tiles;
        // All have multiplied the last step.
        barrier(CLK_LOCAL_MEM_FENCE);
        {
            __local uint *to = c_words + (warp_m + lane_r) * 36 + warp_n / 2 + lane_k;
            #pragma unroll
            for (int i = 0; i < 2; i++)
                #pragma unroll
                for (int h = 0; h < 2; h++)
                    #pragma unroll
                    for (int j = 0; j < 4; j++)
                        to[(i * 16 + h * 8) * 36 + j * 4] =
                                pack_halves(factor * c[i][j][2 * h], factor * c[i][j][2 * h + 1]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const int num_rows = min(M - first_m, 64L);
        if (is_aligned && first_n + 64 <= N) {
            const int first_row = item / 8, x = item % 8;
            __global uint4 *out = (__global uint4 *) (own + (first_m + first_row) * ldc + first_n)
                    + x;
            __local const uint *from = c_words + first_row * 36 + x * 4;
            #pragma unroll
            for (int m = 0; m < 64; m += 16)
                if (first_row + m < num_rows)
                    out[m * (ldc / 8)] = *(__local const uint4 *) (from + m * 36);
        } else {
            // A word of C is a word of local memory or, where a row of C begins in the middle of
            // one, the second half of one and the first half of the next.
            // Warps are even in number: ldc may be odd, but all rows of one warp begin alike.
            __global ushort *out = (__global ushort *) own + (first_m + warp) * ldc + first_n;
            const int within = (ulong) out / 2 % 2;
            const int first_col = 0, end_col = min(N - first_n, 64L);
            {
                const int x = (int) lane, col = 2 * x - within;
                const bool is_there = col >= 0 && col + 1 < end_col;
                __local const uint *from = c_words + warp * 36 + x;
                __global ushort *to = out + col;
                #pragma unroll 4
                for (int m = warp; m < num_rows; m += 4) {
                    if (is_there)
                        *(__global uint *) to = within ? from[-1] >> 16 | from[0] << 16 : from[0];
                    from += 144;
                    to += 4 * ldc;
                }
            }
            // The first and the last column of a row, where they are in a word with what is not
            // stored.
            for (int p = item; p < 2 * num_rows; p += 128) {
                const int m = p / 2;
                const int col = p % 2 == 0 ? first_col : end_col - 1;
                __global ushort *to = (__global ushort *) own + (first_m + m) * ldc + first_n + col;
                if (first_col < end_col && (ulong) to / 2 % 2 != p % 2)
                    *to = ((__local const ushort *) (c_words + m * 36))[col];
            }
        }
    }
}

// Adds up what work-groups have of a tile that none did alone, and stores it. What a work-item of
// theirs has lies in pieces of 16 bytes, each beside those of the other work-items.
// A work-group that multiplies has room for two parts of tiles, of 4096 numbers each: the second is
// for the tile whose first step it has done, the first for one that another has begun. So, of the
// parts of a tile, that of the work-group that began it is a second one, all others are first ones.
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void kiln_hgemm_async_add(long M, long N, long K,
        __global const float *restrict work, long parts_at,
        float alpha, float beta,
        __global half *restrict C, long c_offset, long ldc)
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
        const uint tiles = ((uint) M + 63) / 64 * (((uint) N + 63) / 64);
        const uint in_turns = tiles / groups * groups;
        const uint whole = tiles - in_turns < groups * 3 / 4 ? in_turns : tiles;
        const uint steps = ((uint) K + 63) / 64;
        const ulong all = (ulong) (tiles - whole) * steps;
        const ulong share = (all + groups - 1) / groups;
        // As many work-groups add up each shared tile.
        const uint all_adders = groups * get_num_groups(1);
        const uint number = get_group_id(1) * groups + get_group_id(0);
        const uint adders = min(all_adders / max(tiles - whole, 1U), 32U);
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
    __global const float *parts = work + parts_at + 2 * (ulong) tile_of.first_group * 4096;
    C += c_offset;
    // Where parts are few, or a tile has so much that no work-item is idle, each work-item adds up
    // all parts of its elements.
    if (num <= 8 || tile_of.adders < 8) {
        // Whether every row of C starts where 2 columns may be stored at once.
        const ulong misaligned = ((ulong) C | (ulong) (ldc * 2)) & 3;
        const bool is_aligned = misaligned == 0;
        for (uint at = tile_of.own * 256 + adder; at < 1024;
             at += tile_of.adders * 256) {
            __global const float4 *part = (__global const float4 *) parts + at;
            float4 sum = 0;
            for (uint p = 0; p < num; p += 4) {
                float4 terms[4];
                #pragma unroll
                for (int q = 0; q < 4; q++)
                    terms[q] = p + q >= num ? 0 : part[(p + q == 0 ? 1 : 2 * (p + q)) * 1024];
                #pragma unroll
                for (int q = 0; q < 4; q++)
                    sum += terms[q];
            }
            const uint item = at % 128, first = at / 128 * 4;
            const union {
                float4 all;
                float each[4];
            } sums_of = { sum };
            #pragma unroll
            for (int u = 0; u < 4; u += 2) {
                const uint e = first + u;
                const uint warp = item / 32, lane = item % 32;
                const uint lane_m = lane / 4, lane_k = lane % 4;
                const uint lane_r = lane_m;
                const uint warp_m = warp % 2 * 32, warp_n = warp / 2 * 32;
                const uint in_m = e / 4 / 4 * 16, in_n = e / 4 % 4 * 8;
                const long row = first_m + warp_m + in_m + e / 2 % 2 * 8 + lane_r;
                const long col = first_n + warp_n + in_n + lane_k * 2 + e % 2;
                if (row < M)
                    put_pair(sums_of.each[u], sums_of.each[u + 1], C + row * ldc, col,
                            N, alpha, beta, is_aligned);
            }
        }
        return;
    }
    // Of 128 reals at a time each of eight warps adds up every eighth part, 9 with loads under way
    // at once; what the warps have is then added in their order.
    for (uint at = tile_of.own; at < 32; at += tile_of.adders) {
        float4 sum = 0;
        for (uint p = adder / 32; p < num; p += 72) {
            float4 part[9];
            #pragma unroll
            for (int u = 0; u < 9; u++) {
                const uint q = p + u * 8, piece = q == 0 ? 1 : 2 * q;
                part[u] = 0;
                if (q < num)
                    part[u] = *(__global const float4 *) (parts + piece * 4096
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
            const uint lane_m = lane / 4, lane_k = lane % 4;
            const uint lane_r = lane_m;
            const uint warp_m = warp % 2 * 32, warp_n = warp / 2 * 32;
            const uint in_m = e / 4 / 4 * 16, in_n = e / 4 % 4 * 8;
            const long row = first_m + warp_m + in_m + e / 2 % 2 * 8 + lane_r;
            const long col = first_n + warp_n + in_n + lane_k * 2 + e % 2;
            if (row < M)
                put_column(all, C + row * ldc, col, N, alpha, beta);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
