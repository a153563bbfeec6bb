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
static void copy_element(uint to, __global const double2 *from, bool is_there)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::
            "r"(to), "l"((ulong) from),
            "r"(is_there ? 16 : 0) : "memory");
}

// Where the x-th 16 bytes of a line are, in boxes whose lines have `part` (2, 4 or 8) times 16
// bytes; boxes side by side have 8 lines. Of eight lines in a row the pieces of a column lie in
// different banks.
static uint swizzled(uint line, uint x, uint part)
{
    return (x / part * part * 8 + line * part + (x % part ^ line % 8 / (8 / part))) * 16;
}

// Begins to copy 8 lines of 32 elements, of which this work-item copies 1 at a time. There are
// `lines` and `cols` of the matrix left; what lies beyond is 0.
static void copy_a(uint to, __global const double2 *from, long ld, uint lines, int cols, uint item)
{
    const uint first = item / 32, col = item % 32;
    from += first * ld + col;
    if (lines >= 8 && cols >= 32) {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 8; n++) {
            const uint line = first + n;
            const uint where = swizzled(line, x, 8);
            copy_element(to + where, from + n * ld, true);
        }
    } else {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 8; n++) {
            const uint line = first + n;
            const uint where = swizzled(line, x, 8);
            copy_element(to + where, from + n * ld, line < lines && (int) x < cols);
        }
    }
}

// Begins to copy 32 lines of 8 elements, of which this work-item copies 1 at a time, in one of
// every 4 lines. There are `lines` and `cols` of the matrix left; what lies beyond is 0.
static void copy_b(uint to, __global const double2 *from, long ld, uint lines, int cols, uint item)
{
    const uint first = item / 8, col = item % 8;
    from += first * ld + col;
    if (lines >= 32 && cols >= 8) {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 32; n += 4) {
            const uint line = first + n;
            const uint where = swizzled(line, x, 8);
            copy_element(to + where, from + n * ld, true);
        }
    } else {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 32; n += 4) {
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
    const uint tiles_m = ((uint) M + 31) / 32;
    const uint tiles_n = ((uint) N + 31) / 32;
    const uint band = tile / (8 * tiles_n) * 8, in_band = tile - band * tiles_n;
    const uint band_rows = min(tiles_m - band, 8U);
    const uint tile_m = band + in_band % band_rows, tile_n = in_band / band_rows;
    return (int2) (tile_m * 32, tile_n * 32);
}

// Row and column, in its tile, of the e-th element that a work-item has.
static uint2 place_of(uint item, uint e)
{
    const uint warp = item / 32, lane = item % 32;
    const uint warp_m = warp % 2 * 16, warp_n = warp / 2 * 16;
    const uint block = e / 4;
    return (uint2) (warp_m + block / 2 * 16 + e / 2 % 2 * 8 + lane / 4,
            warp_n + block % 2 * 8 + lane % 4 * 2 + e % 2);
}

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored K x M.
// B is stored N x K.
// For NVIDIA's compute capability 9.0. Real part and imaginary part lie side by side.
// A work-group computes 32 x 32 of C, a warp 16 x 16 of it. Tiles of A and B, 8 deep, are copied
// into local memory by 1 warps of their own, up to 4 at a time: a tile's `full` barrier says that
// it is there, its `empty` barrier that all whose step it is have read it.
// As many work-groups as run at once take tiles in turn.
// Of the tiles that do not make a whole turn, the steps are shared out evenly (stream-K, Osama et
// al. 2023); what a work-group has of such a tile is kept, to be added up later.
__kernel __attribute__((reqd_work_group_size(160, 1, 1)))
void kiln_zgemm_interleaved_stream(long M, long N, long K,
        __global double *work, long parts_at, int conj_b,
        double alpha, double alpha_imag, double beta, double beta_imag, int conj_a,
        __global const double2 *restrict A, long a_offset, long a_stride, long lda,
        __global const double2 *restrict B, long b_offset, long b_stride, long ldb,
        __global double2 *restrict C, long c_offset, long c_stride, long ldc)
{
    __local uchar both_tiles[32768] __attribute__((aligned(1024)));
    __local uchar *a_tiles = both_tiles, *b_tiles = both_tiles + 16384;
    const uint a_at = local_address(a_tiles), b_at = local_address(b_tiles);
    __local ulong full[4], empty[4];
    const uint fulls = local_address(full), empties = local_address(empty);
    const long member = member_of_batch();
    A += a_offset + member * a_stride;
    B += b_offset + member * b_stride;
    C += c_offset;
    // The first `whole` tiles are done in turns; of the rest, which are `steps` steps each, a
    // work-group takes `share` steps. A last turn that is three quarters full is a turn.
    const uint groups = get_num_groups(0);
    const uint tiles = ((uint) M + 31) / 32 * (((uint) N + 31) / 32);
    const uint in_turns = tiles / groups * groups;
    const uint whole = tiles - in_turns < groups * 3 / 4 ? in_turns : tiles;
    const uint steps = ((uint) K + 7) / 8;
    const ulong all = (ulong) (tiles - whole) * steps;
    const ulong share = (all + groups - 1) / groups;
    const ulong begin = min(get_group_id(0) * share, all), end = min(begin + share, all);
    if (get_local_id(0) == 0)
        for (int s = 0; s < 4; s++) {
            mbarrier_init(fulls + 8 * s, 32);
            mbarrier_init(empties + 8 * s, 4);
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    // Those who copy: the last 1 warp, whose work-items count from 0.
    if (get_local_id(0) >= 128) {
        const uint item = get_local_id(0) - 128;
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
                mbarrier_wait(empties + 8 * stage, phase);
                const int rotated = t + rotation;
                const int step = first + rotated - (rotated < num ? 0 : num);
                const int k = step * 8;
                copy_a(a_at + stage * 4096, A + k * lda + first_m, lda, K - k, M - first_m, item);
                copy_b(b_at + stage * 4096, B + first_n * ldb + k, ldb, N - first_n, K - k, item);
                mbarrier_arrive_copied(fulls + 8 * stage);
                if (++stage == 4) {
                    stage = 0;
                    phase ^= 1;
                }
            }
        }
        return;
    }
    // Those who multiply.
    const uint item = get_local_id(0), warp = item / 32, lane = item % 32;
    const uint lane_m = lane / 4, lane_n = lane % 4;
    const uint warp_m = warp % 2 * 16, warp_n = warp / 2 * 16;
    uint stage = 0, phase = 0;
    // conj(A) B is the conjugate of A conj(B): until C is stored, only B is conjugated.
    const ulong flip = (ulong) (conj_a ^ conj_b) << 63;
    __global double2 *parts = (__global double2 *) (work + parts_at) + item;

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
        double re[1][2][4], im[1][2][4];
        #pragma unroll
        for (int e = 0; e < 8; e++)
            re[e / 8][e / 4 % 2][e % 4] = im[e / 8][e / 4 % 2][e % 4] = 0;
        // Eight values of k at a time: the tensor core's k and k + 4 are 2 k and 2 k + 1. A line of
        // a tile has 128 bytes, and its x-th element lies at x ^ line % 8, so that no two
        // work-items that read together meet in a bank. Where a work-item's first element of A and
        // of B is in a tile:
        const uint a_first = warp_m * 128 + lane_n * 256 + (lane_m ^ 2 * lane_n) * 16;
        const uint b_first = (warp_n + lane_m) * 128 + (lane_m ^ 2 * lane_n) * 16;
        // Set 0 is multiplied while set 1 is read for what comes next: the rows of a step while the
        // last columns of the one before are multiplied.
        double2 a0[1][4], b0[2], a1[1][4], b1[2];
        if (num > 0) {
            mbarrier_wait(fulls + 8 * stage, phase);
            __local const uchar *a_tile = a_tiles + stage * 4096;
            __local const uchar *b_tile = b_tiles + stage * 4096;
            const int next = 0;
            #pragma unroll
            for (int e = 0; e < 4; e++)
                a1[0][e] = *(__local const double2 *) (a_tile + e % 2 * 1024
                        + (a_first ^ e / 2 * 144));
            #pragma unroll
            for (int e = 0; e < 2; e++)
                b1[e] = *(__local const double2 *) (b_tile + next * 1024 + (b_first ^ e * 16));
        }
        for (int now = 0; now < num; now++) {
            #pragma unroll
            for (int e = 0; e < 4; e++)
                a0[e / 4][e % 4] = a1[e / 4][e % 4];
            // Hands back the stage of the step before, which is not done sooner: what is read from
            // local memory has surely arrived only when it has been multiplied.
            warp_sync();
            if (now > 0 && lane == 0)
                mbarrier_arrive(empties + 8 * (stage == 0 ? 3 : stage - 1));
            __local const uchar *b_tile = b_tiles + stage * 4096;
            if (++stage == 4) {
                stage = 0;
                phase ^= 1;
            }
            #pragma unroll
            for (int j = 0; j < 2; j++) {
                b0[0] = b1[0], b0[1] = b1[1];
                if (j + 1 < 2) {
                    const int next = j + 1;
                    #pragma unroll
                    for (int e = 0; e < 2; e++)
                        b1[e] = *(__local const double2 *) (b_tile + next * 1024
                                + (b_first ^ e * 16));
                } else if (now + 1 < num) {
                    mbarrier_wait(fulls + 8 * stage, phase);
                    __local const uchar *a_tile = a_tiles + stage * 4096;
                    __local const uchar *b_tile = b_tiles + stage * 4096;
                    const int next = 0;
                    #pragma unroll
                    for (int e = 0; e < 4; e++)
                        a1[0][e] = *(__local const double2 *) (a_tile + e % 2 * 1024
                                + (a_first ^ e / 2 * 144));
                    #pragma unroll
                    for (int e = 0; e < 2; e++)
                        b1[e] = *(__local const double2 *) (b_tile + next * 1024
                                + (b_first ^ e * 16));
                }
                double b_re[2], b_im[2], b_minus[2];
                #pragma unroll
                for (int e = 0; e < 2; e++) {
                    b_re[e] = b0[e].x;
                    b_im[e] = as_double(as_ulong(b0[e].y) ^ flip);
                    b_minus[e] = -b_im[e];
                }
                const double a_re[4] = { a0[0][0].x, a0[0][1].x, a0[0][2].x, a0[0][3].x };
                const double a_im[4] = { a0[0][0].y, a0[0][1].y, a0[0][2].y, a0[0][3].y };
                multiply_blocks(re[0][j], a_re, b_re);
                multiply_blocks(im[0][j], a_re, b_im);
                multiply_blocks(re[0][j], a_im, b_minus);
                multiply_blocks(im[0][j], a_im, b_re);
            }
        }
        // Hands back the stage of the step before, which is not done sooner: what is read from
        // local memory has surely arrived only when it has been multiplied.
        warp_sync();
        if (num > 0 && lane == 0)
            mbarrier_arrive(empties + 8 * (stage == 0 ? 3 : stage - 1));
        if (num < steps) {
            // Not all of the tile: kept for the stage that adds up. Of the two parts that a
            // work-group has room for, the second is for the tile that it has begun.
            __global double2 *part = parts + (2 * get_group_id(0) + (first == 0)) * 1024;
            #pragma unroll
            for (int e = 0; e < 8; e++) {
                const double2 sum = (double2) (re[e / 8][e / 4 % 2][e % 4],
                        im[e / 8][e / 4 % 2][e % 4]);
                part[e * 128] = sum;
            }
            continue;
        }
        // C of this member of a batch. The member is asked for anew: kept until now, the place
        // would take registers while tiles are multiplied.
        __global double2 *const own = C + member_of_batch() * c_stride;
        #pragma unroll
        for (int e = 0; e < 8; e++) {
            const double2 sum = (double2) (re[e / 8][e / 4 % 2][e % 4],
                    im[e / 8][e / 4 % 2][e % 4]);
            const uint2 place = place_of(item, e);
            const long row = first_m + place.x, col = first_n + place.y;
            if (row < M && col < N)
                put(sum, conj_a, alpha, alpha_imag, beta, beta_imag, own + row * ldc + col);
        }
    }
}

// Adds up what work-groups have of a tile that none did alone, and stores it. What a work-item of
// theirs has lies in pieces of 16 bytes, each beside those of the other work-items.
// A work-group that multiplies has room for two parts of tiles, of 2048 numbers each: the second is
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
        const uint tiles = ((uint) M + 31) / 32 * (((uint) N + 31) / 32);
        const uint in_turns = tiles / groups * groups;
        const uint whole = tiles - in_turns < groups * 3 / 4 ? in_turns : tiles;
        const uint steps = ((uint) K + 7) / 8;
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
    __global const double *parts = work + parts_at + 2 * (ulong) tile_of.first_group * 2048;
    C += c_offset;
    // Where parts are few, or a tile has so much that no work-item is idle, each work-item adds up
    // all parts of its elements.
    if (num <= 8 || tile_of.adders < 8) {
        for (uint at = tile_of.own * 256 + adder; at < 1024;
             at += tile_of.adders * 256) {
            __global const double2 *part = (__global const double2 *) parts + at;
            double2 sum = 0;
            for (uint p = 0; p < num; p += 4) {
                double2 terms[4];
                #pragma unroll
                for (int q = 0; q < 4; q++)
                    terms[q] = p + q >= num ? 0 : part[(p + q == 0 ? 1 : 2 * (p + q)) * 1024];
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
    for (uint at = tile_of.own; at < 32; at += tile_of.adders) {
        double2 sum = 0;
        for (uint p = adder / 32; p < num; p += 72) {
            double2 part[9];
            #pragma unroll
            for (int u = 0; u < 9; u++) {
                const uint q = p + u * 8, piece = q == 0 ? 1 : 2 * q;
                part[u] = 0;
                if (q < num)
                    part[u] = *(__global const double2 *) (parts + piece * 2048
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
