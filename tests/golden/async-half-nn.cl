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

// Where the x-th 16 bytes of a line are, in boxes whose lines have 2, 4 or 8 times 16 bytes; boxes
// side by side have 64 lines.
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

// put for column `col` of the row `out`, if there is such a column and it is stored.
static void put_column(float x, __global half *out, long col, long N, float alpha, float beta)
{
    if (col < N)
        store(beta == 0 ? alpha * x : alpha * x + beta * load(out + col), out + col);
}

static uint pack_halves(float low, float high)
{
    uint both;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}

// put for two columns side by side; `whole` says that they are at a multiple of their size.
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
        __global const half *restrict A, long a_offset, long lda,
        __global const half *restrict B, long b_offset, long ldb,
        __global float *work, long parts_at,
        float alpha, float beta,
        __global half *restrict C, long c_offset, long ldc)
{
    __local uchar both_tiles[65536] __attribute__((aligned(1024)));
    __local uchar *a_tiles = both_tiles, *b_tiles = both_tiles + 32768;
    const uint a_at = local_address(a_tiles), b_at = local_address(b_tiles);
    const uint item = get_local_id(0), warp = item / 32, lane = item % 32;
    C += c_offset;
    // Whether every row of C starts where 8 columns may be stored at once.
    const ulong misaligned = ((ulong) C | (ulong) (ldc * 2)) & 15;
    const bool is_aligned = misaligned == 0;
    A += a_offset;
    B += b_offset;
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
        const uint tiles_m = ((uint) M + 63) / 64, tiles_n = ((uint) N + 63) / 64;
        const uint band = tile / (8 * tiles_n) * 8, in_band = tile - band * tiles_n;
        const uint band_rows = min(tiles_m - band, (uint) 8);
        const uint tile_m = band + in_band % band_rows, tile_n = in_band / band_rows;
        const int first_m = tile_m * 64, first_n = tile_n * 64;
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
            // step before, whose place is the next one to copy to.
            if (t >= 3) {
                wait_for_copies();
                barrier(CLK_LOCAL_MEM_FENCE);
            }
            if (t < num) {
                const int after_first = t + late;
                const int step = first + after_first - (after_first < num ? 0 : num);
                const int k = step * 64;
                copy_a(a_at + stage * 8192, A + first_m * lda + k, lda, M - first_m, K - k, item);
                copy_b(b_at + stage * 8192, B + k * ldb + first_n, ldb, K - k, N - first_n, item);
            }
            commit_copies();
            if (++stage == 4)
                stage = 0;
            if (t < 3)
                continue;
            // K's last step may come at any time.
            const int after_first = t - 3 + late;
            const int step = first + after_first - (after_first < num ? 0 : num);
            const long left = K - (long) step * 64;
            if (left >= 64) {
                const uint a_tile = a_at + stage * 8192, b_tile = b_at + stage * 8192;
                #pragma unroll
                for (int s = 0; s < 4; s++) {
                    // Reads what is multiplied at once, the s-th of a tile, into fragments 0.
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
                    // Reads what is multiplied at once, the s-th of a tile, into fragments 0.
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
            // Not all of the tile: kept for the stage that adds up.
            __global float *part = parts + (2 * get_group_id(0) + (first == 0)) * 4096;
            #pragma unroll
            for (int i = 0; i < 2; i++)
                #pragma unroll
                for (int j = 0; j < 4; j++)
                    *(__global float4 *) (part + (i * 4 + j) * 512) =
                            (float4) (c[i][j][0], c[i][j][1], c[i][j][2], c[i][j][3]);
            continue;
        }
        if (beta != 0) {
            #pragma unroll
            for (int i = 0; i < 2; i++)
                #pragma unroll
                for (int h = 0; h < 2; h++) {
                    const long row = first_m + warp_m + i * 16 + h * 8 + lane_r;
                    if (row >= M)
                        break;
                    const long begin = 0, end = N;
                    #pragma unroll
                    for (int j = 0; j < 4; j++) {
                        const long col = first_n + warp_n + j * 8 + lane_k * 2;
                        __global const half *old = C + row * ldc + col;
                        if (is_aligned && col + 1 < end) {
                            const uint both = *(__global const uint *) old;
                            const float2 y = vload_half2(0, (const half *) &both);
                            c[i][j][2 * h] = alpha * c[i][j][2 * h] + beta * y.x;
                            c[i][j][2 * h + 1] = alpha * c[i][j][2 * h + 1] + beta * y.y;
                            continue;
                        }
                        if (col >= begin && col < end)
                            c[i][j][2 * h] = alpha * c[i][j][2 * h] + beta * load(old);
                        if (col + 1 >= begin && col + 1 < end)
                            c[i][j][2 * h + 1] = alpha * c[i][j][2 * h + 1] + beta * load(old + 1);
                    }
                }
        }
        const float factor = beta != 0 ? 1 : alpha;
        // A word is two halves. Rows lie four words further apart than they are long, so that eight
        // of them meet in no bank.
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
        const int rows = min(M - first_m, 64L);
        if (is_aligned && first_n + 64 <= N) {
            const int first_row = item / 8, x = item % 8;
            __global uint4 *out = (__global uint4 *) (C + (first_m + first_row) * ldc + first_n)
                    + x;
            __local const uint *from = c_words + first_row * 36 + x * 4;
            #pragma unroll
            for (int m = 0; m < 64; m += 16)
                if (first_row + m < rows)
                    out[m * (ldc / 8)] = *(__local const uint4 *) (from + m * 36);
        } else {
            // A word of C is a word of local memory or, where a row of C begins in the middle of
            // one, the second half of one and the first half of the next.
            // Warps are even in number, so that all rows of one begin alike.
            __global ushort *out = (__global ushort *) C + (first_m + warp) * ldc + first_n;
            const int within = (ulong) out / 2 % 2;
            const int begin = 0, end = min(N - first_n, 64L);
            {
                const int x = (int) lane, col = 2 * x - within;
                const bool is_there = col >= 0 && col + 1 < end;
                __local const uint *from = c_words + warp * 36 + x;
                __global ushort *to = out + col;
                #pragma unroll 4
                for (int m = warp; m < rows; m += 4) {
                    if (is_there)
                        *(__global uint *) to = within ? from[-1] >> 16 | from[0] << 16 : from[0];
                    from += 144;
                    to += 4 * ldc;
                }
            }
            // The first and the last column of a row, where they are in a word with what is not
            // stored.
            for (int p = item; p < 2 * rows; p += 128) {
                const int m = p / 2;
                const int col = p % 2 == 0 ? begin : end - 1;
                __global ushort *to = (__global ushort *) C + (first_m + m) * ldc + first_n + col;
                if (begin < end && (ulong) to / 2 % 2 != p % 2)
                    *to = ((__local const ushort *) (c_words + m * 36))[col];
            }
        }
    }
}

// Adds up what work-groups have of a tile that none did alone, and stores it. What a work-item of
// theirs has lies in pieces of 16 bytes, each beside those of the other work-items.
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void kiln_hgemm_async_add(long M, long N, long K,
        __global const float *restrict work, long parts_at,
        float alpha, float beta,
        __global half *restrict C, long c_offset, long ldc)
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
        const uint tiles = ((uint) M + 63) / 64 * (((uint) N + 63) / 64);
        const uint in_turns = tiles / groups * groups;
        const uint whole = tiles - in_turns < groups * 3 / 4 ? in_turns : tiles;
        const uint steps = ((uint) K + 63) / 64;
        const ulong all = (ulong) (tiles - whole) * steps;
        const ulong share = (all + groups - 1) / groups;
        const uint adders = groups * get_num_groups(1);
        const uint number = get_group_id(1) * groups + get_group_id(0);
        const uint each = min(adders / max(tiles - whole, 1U), 32U);
        const uint tile = whole + number / each;
        told[0] = 1;
        if (tile < tiles) {
            // Work-groups that run together share rows and columns: 8 rows of tiles at a time.
            const uint tiles_m = ((uint) M + 63) / 64, tiles_n = ((uint) N + 63) / 64;
            const uint band = tile / (8 * tiles_n) * 8, in_band = tile - band * tiles_n;
            const uint band_rows = min(tiles_m - band, (uint) 8);
            const uint tile_m = band + in_band % band_rows, tile_n = in_band / band_rows;
            const int first_m = tile_m * 64, first_n = tile_n * 64;
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
    __global const float *parts = work + parts_at + 2 * (ulong) told[1] * 4096;
    C += c_offset;
    // Where pieces are few, or a tile has so much that no work-item is idle, each adds up all
    // pieces of its elements.
    if (num <= 8 || told[3] < 8) {
        // Whether every row of C starts where 2 columns may be stored at once.
        const ulong misaligned = ((ulong) C | (ulong) (ldc * 2)) & 3;
        const bool is_aligned = misaligned == 0;
        for (uint at = told[2] * 256 + adder; at < 1024; at += told[3] * 256) {
            __global const float4 *part = (__global const float4 *) parts + at;
            float4 sum = 0;
            for (uint p = 0; p < num; p += 4) {
                float4 some[4];
                #pragma unroll
                for (int q = 0; q < 4; q++)
                    some[q] = p + q >= num ? 0 : part[(p + q == 0 ? 1 : 2 * (p + q)) * 1024];
                #pragma unroll
                for (int q = 0; q < 4; q++)
                    sum += some[q];
            }
            const uint item = at % 128, first = at / 128 * 4;
            const union {
                float4 all;
                sum_t each[4];
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
    // Of 128 reals at a time each of eight warps adds up every eighth part; what they have is then
    // added in their order.
    for (uint at = told[2]; at < 32; at += told[3]) {
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
            sum_t all = 0;
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
