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

// Begins to copy 64 lines of 16 elements, of which this work-item copies 2 at a time, in one of
// every 16 lines. There are `lines` and `cols` of the matrix left; what lies beyond is 0.
static void copy_a(uint to, __global const float2 *from, long ld, uint lines, int cols, uint item)
{
    const uint first = item / 8, col = item % 8 * 2;
    from += first * ld + col;
    if (lines >= 64 && cols >= 16) {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 64; n += 16) {
            const uint line = first + n;
            const uint where = swizzled(line, x / 2, 8) + x % 2 * 8;
            copy_16(to + where, from + n * ld, 16);
        }
    } else {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 64; n += 16) {
            const uint line = first + n;
            const uint where = swizzled(line, x / 2, 8) + x % 2 * 8;
            copy_16(to + where, from + n * ld, line < lines ? clamp(cols - (int) x, 0, 2) * 8 : 0);
        }
    }
}

// Begins to copy 64 lines of 16 elements, of which this work-item copies 2 at a time, in one of
// every 16 lines. There are `lines` and `cols` of the matrix left; what lies beyond is 0.
static void copy_b(uint to, __global const float2 *from, long ld, uint lines, int cols, uint item)
{
    const uint first = item / 8, col = item % 8 * 2;
    from += first * ld + col;
    if (lines >= 64 && cols >= 16) {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 64; n += 16) {
            const uint line = first + n;
            const uint where = swizzled(line, x / 2, 8) + x % 2 * 8;
            copy_16(to + where, from + n * ld, 16);
        }
    } else {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 64; n += 16) {
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

// The first column of a row that is stored, and the one behind the last. `triangle` is 0 for all of
// C, 1 or -1 for its lower or upper triangle, 2 or -2 for the same where an element is two columns.
static long2 stored_columns(long row, long N, int triangle)
{
    return (long2) (triangle < 0 ? row * -triangle : 0,
            triangle > 0 ? min(N, (row + 1) * triangle) : N);
}

// An element of the diagonal of a Hermitian matrix.
static void make_real(__global float2 *p)
{
    ((__global float *) p)[1] = 0;
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

// The sum of floor(i a / b) over i < m, where a and b have no common divisor.
static uint sum_of_floors(uint m, uint a, uint b)
{
    const uint whole = m / b, rest = m % b;
    uint sum = a * (b * (whole * (whole - 1) / 2) + rest * whole) + whole * ((a - 1) * (b - 1) / 2);
    if (a > 1)
        for (uint i = 0; i < rest; i++)
            sum += i * a / b;
    return sum;
}

// How many columns of tiles the diagonal crosses in a row of tiles, as x / y.
static uint2 slope_of(int triangle)
{
    return (uint2) (triangle % 2 == 0 ? 2 : 1, 1);
}

// Tiles of which something is stored are counted row by row: how many there are before a row.
static uint tiles_before(uint row, uint tiles_n, int triangle)
{
    const uint2 slope = slope_of(triangle);
    return triangle < 0 ? row * tiles_n - sum_of_floors(row, slope.x, slope.y)
            : sum_of_floors(row + 1, slope.x, slope.y) + row - row / slope.y;
}

static uint count_tiles(uint tiles_m, uint tiles_n, int triangle)
{
    const uint before_last = tiles_before(tiles_m - 1, tiles_n, triangle);
    return min(tiles_before(tiles_m, tiles_n, triangle), before_last + tiles_n);
}

// The row and the column of such a tile. A root tells the row but for a few.
static uint2 place_of_tile(uint tile, uint tiles_n, int triangle)
{
    const uint2 slope = slope_of(triangle);
    const float a = slope.x / (float) slope.y, half_a = (a + 1 - 1.0f / slope.y) / 2;
    const float from = triangle < 0 ? tiles_n + half_a : half_a;
    const float root = sqrt(fmax(from * from + 2 * a * (triangle < 0 ? -(float) tile : tile),
            0.0f));
    uint row = fabs(root - from) / a;
    while (row > 0 && tiles_before(row, tiles_n, triangle) > tile)
        row--;
    while (tiles_before(row + 1, tiles_n, triangle) <= tile)
        row++;
    const uint of_row = tile - tiles_before(row, tiles_n, triangle);
    return (uint2) (row, of_row + (triangle < 0 ? row * slope.x / slope.y : 0));
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
// For NVIDIA's compute capability 9.0. Real part and imaginary part lie side by side.
// A work-group computes 64 x 64 of C, a warp 32 x 16 of it. Tiles of A and B, 16 deep, are copied
// into local memory by 4 warps of their own, up to 6 at a time: a tile's `full` barrier says that
// it is there, its `empty` barrier that all whose step it is have read it.
// As many work-groups as run at once take tiles in turn.
// Of the tiles that do not make a whole turn, the steps are shared out evenly (stream-K, Osama et
// al. 2023); what a work-group has of such a tile is kept, to be added up later.
__kernel __attribute__((reqd_work_group_size(384, 1, 1)))
void kiln_cgemmt_interleaved_stream(long M, long N, long K,
        __global float *work, long parts_at, int conj_b,
        float alpha, float alpha_imag, float beta, float beta_imag, int conj_a,
        __global const float2 *restrict A, long a_offset, long a_stride, long lda,
        __global const float2 *restrict B, long b_offset, long b_stride, long ldb,
        __global float2 *restrict C, long c_offset, long c_stride, long ldc, int triangle,
                int is_hermitian)
{
    __local uchar both_tiles[98304] __attribute__((aligned(1024)));
    __local uchar *a_tiles = both_tiles, *b_tiles = both_tiles + 49152;
    const uint a_at = local_address(a_tiles), b_at = local_address(b_tiles);
    __local ulong full[6], empty[6];
    const uint fulls = local_address(full), empties = local_address(empty);
    const long member = member_of_batch();
    A += a_offset + member * a_stride;
    B += b_offset + member * b_stride;
    C += c_offset;
    // The first `whole` tiles are done in turns; of the rest, which are `steps` steps each, a
    // work-group takes `share` steps. A last turn that is three quarters full is a turn.
    const uint groups = get_num_groups(0);
    const uint tiles = count_tiles(((uint) M + 63) / 64, ((uint) N + 63) / 64, triangle);
    const uint in_turns = tiles / groups * groups;
    const uint whole = tiles - in_turns < groups * 3 / 4 ? in_turns : tiles;
    const uint steps = ((uint) K + 15) / 16;
    const ulong all = (ulong) (tiles - whole) * steps;
    const ulong share = (all + groups - 1) / groups;
    const ulong begin = min(get_group_id(0) * share, all), end = min(begin + share, all);
    if (get_local_id(0) == 0)
        for (int s = 0; s < 6; s++) {
            mbarrier_init(fulls + 8 * s, 128);
            mbarrier_init(empties + 8 * s, 8);
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    // Those who copy: the last 4 warps, whose work-items count from 0.
    if (get_local_id(0) >= 256) {
        const uint item = get_local_id(0) - 256;
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
            // Tiles of which something is stored, row by row.
            const uint2 of_tile = place_of_tile(tile, ((uint) N + 63) / 64, triangle);
            const int first_m = of_tile.x * 64, first_n = of_tile.y * 64;
            for (int t = 0; t < num; t++) {
                mbarrier_wait(empties + 8 * stage, phase);
                const int rotated = t + rotation;
                const int step = first + rotated - (rotated < num ? 0 : num);
                const int k = step * 16;
                copy_a(a_at + stage * 8192, A + first_m * lda + k, lda, M - first_m, K - k, item);
                copy_b(b_at + stage * 8192, B + first_n * ldb + k, ldb, N - first_n, K - k, item);
                mbarrier_arrive_copied(fulls + 8 * stage);
                if (++stage == 6) {
                    stage = 0;
                    phase ^= 1;
                }
            }
        }
        return;
    }
    // Those who multiply.
    const uint item = get_local_id(0), warp = item / 32, lane = item % 32;
    // Work-items i and i ^ 1 read the same of B, i and i ^ 2 the same of A. So a read of 16 bytes
    // takes two turns of local memory, not four.
    const uint lane_m = lane % 2 + lane / 8 * 2, lane_n = lane / 2 % 4;
    const uint warp_m = warp % 2 * 32, warp_n = warp / 2 * 16;
    uint stage = 0, phase = 0;
    // conj(A) B is the conjugate of A conj(B): until C is stored, only B is conjugated.
    const float sign = conj_a == conj_b ? 1 : -1;
    __global float2 *parts = (__global float2 *) (work + parts_at) + 2 * item;

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
        // Tiles of which something is stored, row by row.
        const uint2 of_tile = place_of_tile(tile, ((uint) N + 63) / 64, triangle);
        const int first_m = of_tile.x * 64, first_n = of_tile.y * 64;
        // c[2 m + p][2 n + q] adds up part p of A's row m times part q of B's column n; part 0 is
        // the real one.
        float c[8][8];
        #pragma unroll
        for (int e = 0; e < 64; e++)
            c[e / 8][e % 8] = 0;
        int now = 0;
        for (; now < num; now++) {
            mbarrier_wait(fulls + 8 * stage, phase);
            __local const uchar *a_tile = a_tiles + stage * 8192;
            __local const uchar *b_tile = b_tiles + stage * 8192;
            // Hands back the stage of the step before, which is not done sooner: what is read from
            // local memory has surely arrived only when it has been multiplied.
            warp_sync();
            if (now > 0 && lane == 0)
                mbarrier_arrive(empties + 8 * (stage == 0 ? 5 : stage - 1));
            // A line of a tile has 128 bytes, and its x-th 16 bytes lie at x ^ line % 8. A read of
            // 16 bytes brings two elements: of A two values of k of a row, of B two values of k of
            // a column.
            #pragma unroll 8
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
                // which is kept where it is multiplied: registers are read in two banks, and a
                // product has three operands.
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
            __global float2 *part = parts + (2 * get_group_id(0) + (first == 0)) * 4096;
            #pragma unroll
            for (int e = 0; e < 16; e++) {
                const int m = e / 4 * 2, n = e % 4 * 2;
                const float2 sum = (float2) (c[m][n] - sign * c[m + 1][n + 1],
                        sign * c[m][n + 1] + c[m + 1][n]);
                part[e / 2 * 512 + e % 2] = sum;
            }
            continue;
        }
        // C of this member of a batch. The member is asked for anew: kept until now, the place
        // would take registers while tiles are multiplied.
        __global float2 *const own = C + member_of_batch() * c_stride;
        #pragma unroll
        for (int e = 0; e < 16; e++) {
            const int m = e / 4 * 2, n = e % 4 * 2;
            const float2 sum = (float2) (c[m][n] - sign * c[m + 1][n + 1],
                    sign * c[m][n + 1] + c[m + 1][n]);
            const uint2 place = place_of(item, e);
            const long row = first_m + place.x, col = first_n + place.y;
            const long2 stored = stored_columns(row, N, triangle);
            if (row < M && col >= stored.x && col < stored.y)
                put(sum, conj_a, alpha, alpha_imag, beta, beta_imag, own + row * ldc + col);
            if (is_hermitian && row == col && row < M)
                make_real(own + row * ldc + col);
        }
    }
}

// Adds up what work-groups have of a tile that none did alone, and stores it. What a work-item of
// theirs has lies in pieces of 16 bytes, each beside those of the other work-items.
// A work-group that multiplies has room for two parts of tiles, of 8192 numbers each: the second is
// for the tile whose first step it has done, the first for one that another has begun. So, of the
// parts of a tile, that of the work-group that began it is a second one, all others are first ones.
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void kiln_cgemmt_interleaved_add(long M, long N, long K,
        __global const float *restrict work, long parts_at,
        float alpha, float alpha_imag, float beta, float beta_imag, int conj_a,
        __global float2 *restrict C, long c_offset, long ldc, int triangle, int is_hermitian)
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
        const uint tiles = count_tiles(((uint) M + 63) / 64, ((uint) N + 63) / 64, triangle);
        const uint in_turns = tiles / groups * groups;
        const uint whole = tiles - in_turns < groups * 3 / 4 ? in_turns : tiles;
        const uint steps = ((uint) K + 15) / 16;
        const ulong all = (ulong) (tiles - whole) * steps;
        const ulong share = (all + groups - 1) / groups;
        // As many work-groups add up each shared tile.
        const uint all_adders = groups * get_num_groups(1);
        const uint number = get_group_id(1) * groups + get_group_id(0);
        const uint adders = min(all_adders / max(tiles - whole, 1U), 64U);
        const uint tile = whole + number / adders;
        tile_of.num_parts = 1;
        if (tile < tiles) {
            // Tiles of which something is stored, row by row.
            const uint2 of_tile = place_of_tile(tile, ((uint) N + 63) / 64, triangle);
            const int first_m = of_tile.x * 64, first_n = of_tile.y * 64;
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
            const uint item = at % 256, first = at / 256 * 2;
            const union {
                float4 all;
                float2 each[2];
            } sums_of = { sum };
            #pragma unroll
            for (int u = 0; u < 2; u++) {
                const uint e = first + u;
                const float2 all = sums_of.each[u];
                const uint2 place = place_of(item, e);
                const long row = first_m + place.x, col = first_n + place.y;
                const long2 stored = stored_columns(row, N, triangle);
                if (row < M && col >= stored.x && col < stored.y)
                    put(all, conj_a, alpha, alpha_imag, beta, beta_imag, C + row * ldc + col);
                if (is_hermitian && row == col && row < M)
                    make_real(C + row * ldc + col);
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
        if (adder < 64) {
            float2 all = 0;
            #pragma unroll
            for (int u = 0; u < 8; u++)
                all += (float2) (sums[u][2 * adder], sums[u][2 * adder + 1]);
            const uint element = at * 64 + adder;
            const uint item = element / 2 % 256;
            const uint e = element / 512 * 2 + element % 2;
            const uint2 place = place_of(item, e);
            const long row = first_m + place.x, col = first_n + place.y;
            const long2 stored = stored_columns(row, N, triangle);
            if (row < M && col >= stored.x && col < stored.y)
                put(all, conj_a, alpha, alpha_imag, beta, beta_imag, C + row * ldc + col);
            if (is_hermitian && row == col && row < M)
                make_real(C + row * ldc + col);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
