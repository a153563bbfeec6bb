#pragma OPENCL EXTENSION cl_khr_fp64 : enable

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

// The work-items of a warp wait for each other, and see what each has written.
static void warp_sync(void)
{
    asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
}

// A barrier in local memory counts arrivals, and the bytes of copies under way.
static void mbarrier_init(uint mbarrier, uint arrivals)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(mbarrier), "r"(arrivals) : "memory");
}

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

// Where the x-th 16 bytes of a line are, in boxes whose lines have 2, 4 or 8 times 16 bytes; boxes
// side by side have 8 lines.
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
        for (uint n = 0; n < 8; n += 1) {
            const uint line = first + n;
            const uint where = swizzled(line, x, 8);
            copy_element(to + where, from + n * ld, true);
        }
    } else {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 8; n += 1) {
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
static void put(double2 x, int is_conjugated, double alpha, double alpha_imag, double beta,
        double beta_imag,
        __global double2 *p)
{
    x.y *= is_conjugated ? -1 : 1;
    x = scaled(x, alpha, alpha_imag);
    if (beta != 0 || beta_imag != 0)
        x += scaled(load(p), beta, beta_imag);
    store(x, p);
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
        __global double *work, long parts_at,
        __global const double2 *restrict A, long a_offset, long lda,
        __global const double2 *restrict B, long b_offset, long ldb, int conj_b,
        double alpha, double alpha_imag, double beta, double beta_imag, int conj_a,
        __global double2 *restrict C, long c_offset, long ldc)
{
    __local uchar both_tiles[32768] __attribute__((aligned(1024)));
    __local uchar *a_tiles = both_tiles, *b_tiles = both_tiles + 16384;
    const uint a_at = local_address(a_tiles), b_at = local_address(b_tiles);
    __local ulong full[4], empty[4];
    const uint fulls = local_address(full), empties = local_address(empty);
    A += a_offset;
    B += b_offset;
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
    if (get_local_id(0) >= 128) {
        const uint item = get_local_id(0) - 128;
        uint stage = 0, phase = 1;
        for (ulong turn = get_group_id(0), at = begin; turn < whole || at < end; ) {
            const bool is_whole = turn < whole;
            const uint done = is_whole ? 0 : divide(at, steps);
            const uint tile = is_whole ? turn : whole + done;
            const int first = is_whole ? 0 : at - (ulong) done * steps;
            const int num = is_whole ? steps : min((ulong) (steps - first), end - at);
            // Work-groups are at the same steps, modulo `share`, at the same time, so that what one
            // reads lies in the cache for others: it begins `late` steps after `first`. (Where a
            // share goes over two tiles, for a part of it.)
            const uint ago = at - begin, each = share;
            const uint behind = is_whole ? 0 : (ago + each - (uint) first % each) % each;
            const int late = behind < num ? behind : 0;
            turn += groups;
            at += is_whole ? 0 : num;
            // Work-groups that run together share rows and columns: 8 rows of tiles at a time.
            const uint tiles_m = ((uint) M + 31) / 32, tiles_n = ((uint) N + 31) / 32;
            const uint band = tile / (8 * tiles_n) * 8, in_band = tile - band * tiles_n;
            const uint band_rows = min(tiles_m - band, (uint) 8);
            const uint tile_m = band + in_band % band_rows, tile_n = in_band / band_rows;
            const int first_m = tile_m * 32, first_n = tile_n * 32;
            for (int t = 0; t < num; t++) {
                mbarrier_wait(empties + 8 * stage, phase);
                const int after_first = t + late;
                const int step = first + after_first - (after_first < num ? 0 : num);
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
    const uint item = get_local_id(0), warp = item / 32, lane = item % 32;
    const uint lane_m = lane / 4, lane_n = lane % 4;
    const uint warp_m = warp % 2 * 16, warp_n = warp / 2 * 16;
    uint stage = 0, phase = 0;
    // conj(A) B is the conjugate of A conj(B): until C is stored, only B is conjugated.
    const ulong flip = (ulong) (conj_a ^ conj_b) << 63;
    __global double2 *parts = (__global double2 *) (work + parts_at) + item;

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
        const uint tiles_m = ((uint) M + 31) / 32, tiles_n = ((uint) N + 31) / 32;
        const uint band = tile / (8 * tiles_n) * 8, in_band = tile - band * tiles_n;
        const uint band_rows = min(tiles_m - band, (uint) 8);
        const uint tile_m = band + in_band % band_rows, tile_n = in_band / band_rows;
        const int first_m = tile_m * 32, first_n = tile_n * 32;
        double re[1][2][4], im[1][2][4];
        #pragma unroll
        for (int e = 0; e < 8; e++)
            re[e / 8][e / 4 % 2][e % 4] = im[e / 8][e / 4 % 2][e % 4] = 0;
        // Eight values of k at a time: the tensor core's k and k + 4 are 2 k and 2 k + 1. No two
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
            // Hands back the place of the step before, which is not done sooner: what is read from
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
        // Hands back the place of the step before, which is not done sooner: what is read from
        // local memory has surely arrived only when it has been multiplied.
        warp_sync();
        if (num > 0 && lane == 0)
            mbarrier_arrive(empties + 8 * (stage == 0 ? 3 : stage - 1));
        if (num < steps) {
            // Not all of the tile: kept for the stage that adds up.
            __global double2 *part = parts + (2 * get_group_id(0) + (first == 0)) * 1024;
            #pragma unroll
            for (int e = 0; e < 8; e++) {
                const double2 sum = (double2) (re[e / 8][e / 4 % 2][e % 4],
                        im[e / 8][e / 4 % 2][e % 4]);
                part[e * 128] = sum;
            }
            continue;
        }
        #pragma unroll
        for (int e = 0; e < 8; e++) {
            const double2 sum = (double2) (re[e / 8][e / 4 % 2][e % 4],
                    im[e / 8][e / 4 % 2][e % 4]);
            const uint2 place = place_of(item, e);
            const long row = first_m + place.x, col = first_n + place.y;
            if (row < M && col < N)
                put(sum, conj_a, alpha, alpha_imag, beta, beta_imag, C + row * ldc + col);
        }
    }
}

// Adds up what work-groups have of a tile that none did alone, and stores it. What a work-item of
// theirs has lies in pieces of 16 bytes, each beside those of the other work-items.
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void kiln_zgemm_interleaved_add(long M, long N, long K,
        __global const double *restrict work, long parts_at,
        double alpha, double alpha_imag, double beta, double beta_imag, int conj_a,
        __global double2 *restrict C, long c_offset, long ldc)
{
    typedef double2 sum_t;
    __local double sums[8][64] __attribute__((aligned(16)));
    __local uint told[6];
    const uint adder = get_local_id(0);
    // Work-groups share a tile. One work-item finds out which it is, and what there is of it.
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
        const uint adders = groups * get_num_groups(1);
        const uint number = get_group_id(1) * groups + get_group_id(0);
        const uint each = min(adders / max(tiles - whole, 1U), 32U);
        const uint tile = whole + number / each;
        told[0] = 1;
        if (tile < tiles) {
            // Work-groups that run together share rows and columns: 8 rows of tiles at a time.
            const uint tiles_m = ((uint) M + 31) / 32, tiles_n = ((uint) N + 31) / 32;
            const uint band = tile / (8 * tiles_n) * 8, in_band = tile - band * tiles_n;
            const uint band_rows = min(tiles_m - band, (uint) 8);
            const uint tile_m = band + in_band % band_rows, tile_n = in_band / band_rows;
            const int first_m = tile_m * 32, first_n = tile_n * 32;
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
    __global const double *parts = work + parts_at + 2 * (ulong) told[1] * 2048;
    C += c_offset;
    // Where pieces are few, or a tile has so much that no work-item is idle, each adds up all
    // pieces of its elements.
    if (num <= 8 || told[3] < 8) {
        for (uint at = told[2] * 256 + adder; at < 1024; at += told[3] * 256) {
            __global const double2 *part = (__global const double2 *) parts + at;
            double2 sum = 0;
            for (uint p = 0; p < num; p += 4) {
                double2 some[4];
                #pragma unroll
                for (int q = 0; q < 4; q++)
                    some[q] = p + q >= num ? 0 : part[(p + q == 0 ? 1 : 2 * (p + q)) * 1024];
                #pragma unroll
                for (int q = 0; q < 4; q++)
                    sum += some[q];
            }
            const uint item = at % 128, first = at / 128;
            const uint e = first;
            const sum_t all = sum;
            const uint2 place = place_of(item, e);
            const long row = first_m + place.x, col = first_n + place.y;
            if (row < M && col < N)
                put(all, conj_a, alpha, alpha_imag, beta, beta_imag, C + row * ldc + col);
        }
        return;
    }
    // Of 64 reals at a time each of eight warps adds up every eighth part; what they have is then
    // added in their order.
    for (uint at = told[2]; at < 32; at += told[3]) {
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
            sum_t all = 0;
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
