#pragma OPENCL EXTENSION cl_khr_fp64 : enable

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

// Begins to copy an element into local memory, or 0 where there is none.
static void copy_element(uint to, __global const double2 *from, bool is_there)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::
            "r"(to), "l"((ulong) from),
            "r"(is_there ? 16 : 0) : "memory");
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
// bytes; boxes side by side have 8 lines. Of eight lines in a row the pieces of a column lie in
// different banks.
static uint swizzled(uint line, uint x, uint part)
{
    return (x / part * part * 8 + line * part + (x % part ^ line % 8 / (8 / part))) * 16;
}

// Begins to copy 8 lines of 64 elements, of which this work-item copies 1 at a time, in one of
// every 2 lines. There are `lines` and `cols` of the matrix left; what lies beyond is 0.
static void copy_a(uint to, __global const double2 *from, long ld, uint lines, int cols, uint item)
{
    const uint first = item / 64, col = item % 64;
    from += first * ld + col;
    if (lines >= 8 && cols >= 64) {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 8; n += 2) {
            const uint line = first + n;
            const uint where = swizzled(line, x, 8);
            copy_element(to + where, from + n * ld, true);
        }
    } else {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 8; n += 2) {
            const uint line = first + n;
            const uint where = swizzled(line, x, 8);
            copy_element(to + where, from + n * ld, line < lines && (int) x < cols);
        }
    }
}

// Begins to copy 8 lines of 32 elements, of which this work-item copies 1 at a time, in one of
// every 4 lines. There are `lines` and `cols` of the matrix left; what lies beyond is 0.
static void copy_b(uint to, __global const double2 *from, long ld, uint lines, int cols, uint item)
{
    const uint first = item / 32, col = item % 32;
    from += first * ld + col;
    if (lines >= 8 && cols >= 32) {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 8; n += 4) {
            const uint line = first + n;
            const uint where = swizzled(line, x, 8);
            copy_element(to + where, from + n * ld, true);
        }
    } else {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 8; n += 4) {
            const uint line = first + n;
            const uint where = swizzled(line, x, 8);
            copy_element(to + where, from + n * ld, line < lines && (int) x < cols);
        }
    }
}

// c += a b for blocks of 16 x 8, 16 x 8 and 8 x 8, spread over a warp as the PTX ISA says.
static void multiply_blocks(double c[4], const double a[4], const double b[2])
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" :
            "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3]) :
            "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}

static double2 load(__global const double2 *p)
{
    return *p;
}

static void store(double2 x, __global double2 *p)
{
    *p = x;
}

// x times (re, im). A factor that is real multiplies each part alone, as real products do.
static double2 scaled(double2 x, double re, double im)
{
    return im == 0 ? re * x : (double2) (re * x.x - im * x.y, re * x.y + im * x.x);
}

// C = alpha x + beta C for one element, x conjugated if so; beta == 0 does not read C.
static void put(double2 x, int is_conjugated, double alpha, double alpha_imag,
        double beta, double beta_imag, __global double2 *p)
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
    const uint block = e / 4;
    return (uint2) (warp_m + block / 2 * 16 + e / 2 % 2 * 8 + lane / 4,
            warp_n + block % 2 * 8 + lane % 4 * 2 + e % 2);
}

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored K x M.
// B is stored K x N.
// For NVIDIA's compute capability 8.0 and later. Real part and imaginary part lie side by side.
// A work-group computes 64 x 32 of C, a warp 32 x 16 of it. Tiles of A and B, 8 deep, are copied
// into local memory asynchronously, 3 ahead of those that are multiplied.
// As many work-groups as run at once take tiles in turn.
// Of the tiles that do not make a whole turn, the steps are shared out evenly (stream-K, Osama et
// al. 2023); what a work-group has of such a tile is kept, to be added up later.
__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void kiln_zgemm_interleaved_stream(long M, long N, long K,
        __global double *work, long parts_at, int conj_b,
        double alpha, double alpha_imag, double beta, double beta_imag, int conj_a,
        __global const double2 *restrict A, long a_offset, long a_stride, long lda,
        __global const double2 *restrict B, long b_offset, long b_stride, long ldb,
        __global double2 *restrict C, long c_offset, long c_stride, long ldc)
{
    __local uchar both_tiles[49152] __attribute__((aligned(1024)));
    __local uchar *a_tiles = both_tiles, *b_tiles = both_tiles + 32768;
    const uint a_at = local_address(a_tiles), b_at = local_address(b_tiles);
    const uint item = get_local_id(0), warp = item / 32, lane = item % 32;
    const uint lane_m = lane / 4, lane_n = lane % 4;
    const uint warp_m = warp % 2 * 32, warp_n = warp / 2 * 16;
    const long member = member_of_batch();
    A += a_offset + member * a_stride;
    B += b_offset + member * b_stride;
    C += c_offset;
    // conj(A) B is the conjugate of A conj(B): until C is stored, only B is conjugated.
    const ulong flip = (ulong) (conj_a ^ conj_b) << 63;
    __global double2 *parts = (__global double2 *) (work + parts_at) + item;
    // The first `whole` tiles are done in turns; of the rest, which are `steps` steps each, a
    // work-group takes `share` steps. A last turn that is three quarters full is a turn.
    const uint groups = get_num_groups(0);
    const uint tiles = ((uint) M + 63) / 64 * (((uint) N + 31) / 32);
    const uint in_turns = tiles / groups * groups;
    const uint whole = tiles - in_turns < groups * 3 / 4 ? in_turns : tiles;
    const uint steps = ((uint) K + 7) / 8;
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
        double re[2][2][4], im[2][2][4];
        #pragma unroll
        for (int e = 0; e < 16; e++)
            re[e / 8][e / 4 % 2][e % 4] = im[e / 8][e / 4 % 2][e % 4] = 0;
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
                const int k = step * 8;
                copy_a(a_at + stage * 8192, A + k * lda + first_m, lda, K - k, M - first_m, item);
                copy_b(b_at + stage * 4096, B + k * ldb + first_n, ldb, K - k, N - first_n, item);
            }
            commit_copies();
            // Behind the stage that is copied to comes the one copied to 3 steps before.
            if (++stage == 4)
                stage = 0;
            if (t < 3)
                continue;
            __local const uchar *a_tile = a_tiles + stage * 8192;
            __local const uchar *b_tile = b_tiles + stage * 4096;
            // Eight values of k at a time: the tensor core's k and k + 4 are 2 k and 2 k + 1. A
            // line of a tile has 128 bytes, and its x-th element lies at x ^ line % 8, so that no
            // two work-items that read together meet in a bank. Where a work-item's first element
            // of A and of B is in a tile:
            const uint a_first = warp_m * 128 + lane_n * 256 + (lane_m ^ 2 * lane_n) * 16;
            const uint b_first = warp_n * 128 + lane_n * 256 + (lane_m ^ 2 * lane_n) * 16;
            double2 a0[2][4];
            #pragma unroll
            for (int i = 0; i < 2; i++)
                #pragma unroll
                for (int e = 0; e < 4; e++)
                    a0[i][e] = *(__local const double2 *) (a_tile + i * 2048 + e % 2 * 1024
                            + (a_first ^ e / 2 * 144));
            #pragma unroll
            for (int j = 0; j < 2; j++) {
                const int next = j;
                double2 b0[2];
                #pragma unroll
                for (int e = 0; e < 2; e++)
                    b0[e] = *(__local const double2 *) (b_tile + next * 1024 + (b_first ^ e * 144));
                double b_re[2], b_im[2], b_minus[2];
                #pragma unroll
                for (int e = 0; e < 2; e++) {
                    b_re[e] = b0[e].x;
                    b_im[e] = as_double(as_ulong(b0[e].y) ^ flip);
                    b_minus[e] = -b_im[e];
                }
                #pragma unroll
                for (int i = 0; i < 2; i++) {
                    const double a_re[4] = { a0[i][0].x, a0[i][1].x, a0[i][2].x, a0[i][3].x };
                    const double a_im[4] = { a0[i][0].y, a0[i][1].y, a0[i][2].y, a0[i][3].y };
                    multiply_blocks(re[i][j], a_re, b_re);
                    multiply_blocks(im[i][j], a_re, b_im);
                    multiply_blocks(re[i][j], a_im, b_minus);
                    multiply_blocks(im[i][j], a_im, b_re);
                }
            }
        }
        if (num < steps) {
            // Not all of the tile: kept for the stage that adds up. Of the two parts that a
            // work-group has room for, the second is for the tile that it has begun.
            __global double2 *part = parts + (2 * get_group_id(0) + (first == 0)) * 2048;
            #pragma unroll
            for (int e = 0; e < 16; e++) {
                const double2 sum = (double2) (re[e / 8][e / 4 % 2][e % 4],
                        im[e / 8][e / 4 % 2][e % 4]);
                part[e * 128] = sum;
            }
            continue;
        }
        // C of this member of a batch. The member is asked for anew: kept until now, the place
        // would take registers while tiles are multiplied.
        __global double2 *const own = C + member_of_batch() * c_stride;
        // The tile goes through local memory, where rows are an element longer, so that work-items
        // meet in few banks.
        __local double2 *c_tile = (__local double2 *) both_tiles;
        // All have multiplied the last step.
        barrier(CLK_LOCAL_MEM_FENCE);
        #pragma unroll
        for (int e = 0; e < 16; e++) {
            const double2 sum = (double2) (re[e / 8][e / 4 % 2][e % 4],
                    im[e / 8][e / 4 % 2][e % 4]);
            const uint2 place = place_of(item, e);
            c_tile[place.x * 33 + place.y] = sum;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        #pragma unroll 4
        for (uint i = item; i < 2048; i += 128) {
            const long row = first_m + i / 32, col = first_n + i % 32;
            const double2 sum = c_tile[i / 32 * 33 + i % 32];
            if (row < M && col < N)
                put(sum, conj_a, alpha, alpha_imag, beta, beta_imag, own + row * ldc + col);
        }
    }
}

// Adds up what work-groups have of a tile that none did alone, and stores it. What a work-item of
// theirs has lies in pieces of 16 bytes, each beside those of the other work-items.
// A work-group that multiplies has room for two parts of tiles, of 4096 numbers each: the second is
// for the tile whose first step it has done, the first for one that another has begun. So, of the
// parts of a tile, that of the work-group that began it is a second one, all others are first ones.
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void kiln_zgemm_interleaved_add(long M, long N, long K,
        __global const double *restrict work, long parts_at,
        double alpha, double alpha_imag, double beta, double beta_imag, int conj_a,
        __global double2 *restrict C, long c_offset, long ldc)
{
    __local double sums[8][64] __attribute__((aligned(16)));
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
        const uint tiles = ((uint) M + 63) / 64 * (((uint) N + 31) / 32);
        const uint in_turns = tiles / groups * groups;
        const uint whole = tiles - in_turns < groups * 3 / 4 ? in_turns : tiles;
        const uint steps = ((uint) K + 7) / 8;
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
    __global const double *parts = work + parts_at + 2 * (ulong) tile_of.first_group * 4096;
    C += c_offset;
    // Where parts are few, or a tile has so much that no work-item is idle, each work-item adds up
    // all parts of its elements.
    if (num <= 8 || tile_of.adders < 16) {
        for (uint at = tile_of.own * 256 + adder; at < 2048;
             at += tile_of.adders * 256) {
            __global const double2 *part = (__global const double2 *) parts + at;
            double2 sum = 0;
            for (uint p = 0; p < num; p += 4) {
                double2 terms[4];
                #pragma unroll
                for (int q = 0; q < 4; q++)
                    terms[q] = p + q >= num ? 0 : part[(p + q == 0 ? 1 : 2 * (p + q)) * 2048];
                #pragma unroll
                for (int q = 0; q < 4; q++)
                    sum += terms[q];
            }
            const uint item = at % 128, first = at / 128;
            const uint e = first;
            const double2 all = sum;
            const uint2 place = place_of(item, e);
            const long row = first_m + place.x, col = first_n + place.y;
            if (row < M && col < N)
                put(all, conj_a, alpha, alpha_imag, beta, beta_imag, C + row * ldc + col);
        }
        return;
    }
    // Of 64 reals at a time each of eight warps adds up every eighth part, 9 with loads under way
    // at once; what the warps have is then added in their order.
    for (uint at = tile_of.own; at < 64; at += tile_of.adders) {
        double2 sum = 0;
        for (uint p = adder / 32; p < num; p += 72) {
            double2 part[9];
            #pragma unroll
            for (int u = 0; u < 9; u++) {
                const uint q = p + u * 8, piece = q == 0 ? 1 : 2 * q;
                part[u] = 0;
                if (q < num)
                    part[u] = *(__global const double2 *) (parts + piece * 4096
                            + at * 64 + adder % 32 * 2);
            }
            #pragma unroll
            for (int u = 0; u < 9; u++)
                sum += part[u];
        }
        *(__local double2 *) &sums[adder / 32][adder % 32 * 2] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (adder < 32) {
            double2 all = 0;
            #pragma unroll
            for (int u = 0; u < 8; u++)
                all += (double2) (sums[u][2 * adder], sums[u][2 * adder + 1]);
            const uint element = at * 32 + adder;
            const uint item = element % 128, e = element / 128;
            const uint2 place = place_of(item, e);
            const long row = first_m + place.x, col = first_n + place.y;
            if (row < M && col < N)
                put(all, conj_a, alpha, alpha_imag, beta, beta_imag, C + row * ldc + col);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
