#pragma OPENCL EXTENSION cl_khr_fp64 : enable
// Elements of double are computed with as double. A product and a sum are fused where the device
// does that in one step: FP_CONTRACT, on by default, allows it.
static double load(__global const double *p)
{
    return *p;
}

static void store(double x, __global double *p)
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

// C = alpha x + beta C for one element; beta == 0 does not read C.
static void put(double x, double alpha, double beta, __global double *p)
{
    store(beta == 0 ? alpha * x : alpha * x + beta * load(p), p);
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
static void copy_16(uint to, __global const double *from, uint bytes)
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

// Begins to copy 64 lines of 16 elements, of which this work-item copies 2 at a time, in one of
// every 16 lines. There are `lines` and `cols` of the matrix left; what lies beyond is 0.
static void copy_a(uint to, __global const double *from, long ld, uint lines, int cols, uint item)
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
static void copy_b(uint to, __global const double *from, long ld, uint lines, int cols, uint item)
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

// c += a b for blocks of 16 x 8, 16 x 8 and 8 x 8, spread over a warp as the PTX ISA says.
static void multiply_blocks(double c[4], const double a[4], const double b[2])
{
    #pragma unroll
    for (int i = 0; i < 4; i++)
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
                "{%0, %1}, {%2}, {%3}, {%0, %1};" :
                "+d"(c[i % 2 * 2]), "+d"(c[i % 2 * 2 + 1]) : "d"(a[i]), "d"(b[i / 2]));
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

// Is all of a tile stored, but for what C has not?
static bool is_inside(long row, long col, uint rows, uint columns, int triangle)
{
    if (triangle < 0)
        return col >= (row + rows - 1) * -triangle;
    return col + columns <= (row + 1) * triangle;
}

// C = alpha x + beta C for column `col` of the row `out`, if it is stored.
static void put_column(double x, __global double *out, long col, long2 stored,
        double alpha, double beta)
{
    if (col >= stored.x && col < stored.y)
        store(beta == 0 ? alpha * x : alpha * x + beta * load(out + col), out + col);
}

// The same for two columns side by side; `whole`: they are at a multiple of their size.
static void put_pair(double x, double y, __global double *out, long col,
        long2 stored, double alpha, double beta, bool whole)
{
    if (!whole || col + 1 >= stored.y) {
        put_column(x, out, col, stored, alpha, beta);
        put_column(y, out, col + 1, stored, alpha, beta);
        return;
    }
    double2 z = alpha * (double2) (x, y);
    if (beta != 0)
        z += beta * *(__global double2 *) (out + col);
    *(__global double2 *) (out + col) = z;
}

// Where an element of a tile of C is in local memory: the pieces of 16 bytes of a row are in an
// order of its own, so that work-items side by side meet different banks.
static uint c_place(uint row, uint col)
{
    return row * 64 + (col / 2 ^ (row + row / 4) % 8) * 2 + col % 2;
}

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored M x K.
// B is stored N x K.
// For NVIDIA's compute capability 8.0 and later.
// A work-group computes 64 x 64 of C, a warp 32 x 32 of it. Tiles of A and B, 16 deep, are copied
// into local memory asynchronously, 2 ahead of those that are multiplied.
// As many work-groups as run at once take tiles in turn.
// Of the tiles that do not make a whole turn, the steps are shared out evenly (stream-K, Osama et
// al. 2023); what a work-group has of such a tile is kept, to be added up later.
__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void kiln_dgemmt_async_stream(long M, long N, long K,
        __global const double *restrict A, long a_offset, long a_stride, long lda,
        __global const double *restrict B, long b_offset, long b_stride, long ldb,
        __global double *work, long parts_at,
        double alpha, double beta,
        __global double *restrict C, long c_offset, long c_stride, long ldc, int triangle)
{
    __local uchar both_tiles[49152] __attribute__((aligned(1024)));
    __local uchar *a_tiles = both_tiles, *b_tiles = both_tiles + 24576;
    const uint a_at = local_address(a_tiles), b_at = local_address(b_tiles);
    const uint item = get_local_id(0), warp = item / 32, lane = item % 32;
    const long member = member_of_batch();
    A += a_offset + member * a_stride;
    B += b_offset + member * b_stride;
    C += c_offset;
    // Whether every row of C starts where 2 columns may be stored at once.
    const ulong misaligned = ((ulong) (C + member * c_stride) | (ulong) (ldc * 8)) & 15;
    const bool are_aligned = misaligned == 0;
    __global double *parts = work + parts_at + 2 * item;
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
        // Tiles of which something is stored, row by row.
        const uint2 of_tile = place_of_tile(tile, ((uint) N + 63) / 64, triangle);
        const int first_m = of_tile.x * 64, first_n = of_tile.y * 64;
        const uint lane_m = lane / 4, lane_k = lane % 4;
        // Rows 0, 1, 4, 5, 2, 3, 6, 7 of A (columns of B).
        const uint lane_r = (lane_m & 1) | (lane_m & 2) << 1 | (lane_m & 4) >> 1;
        const uint warp_m = warp % 2 * 32, warp_n = warp / 2 * 32;
        double c[2][4][4];
        #pragma unroll
        for (int i = 0; i < 2; i++)
            #pragma unroll
            for (int j = 0; j < 4; j++)
                #pragma unroll
                for (int e = 0; e < 4; e++)
                    c[i][j][e] = 0;
        // Eight values of k at a time. In which order is ours to choose, as long as A and B agree,
        // and so is the order of rows and columns within a block. Column x, in 16 bytes, of row r
        // of a tile is at x ^ r % 8. The orders here let no two work-items that read together meet
        // in a bank (8 together read 16 bytes each, 16 read 8 bytes each), and what is read is
        // where it is used.
        // The tensor core's k and k + 4 are 0 3 4 7 and 1 2 5 6.
        const uint a_first = (warp_m + lane_r) * 128;
        const uint b_first = (warp_n + lane_r) * 128;
        double as0[2][4], bs0[4][2];
        // All have read what is left of the tiles before.
        barrier(CLK_LOCAL_MEM_FENCE);
        int stage = 0;
        for (int t = 0; t < num + 2; t++) {
            // What was asked for at t - 2 is there for all, and all have multiplied those of the
            // step before, whose stage is the next one to copy to.
            if (t >= 2) {
                wait_for_copies();
                barrier(CLK_LOCAL_MEM_FENCE);
            }
            if (t < num) {
                const int rotated = t + rotation;
                const int step = first + rotated - (rotated < num ? 0 : num);
                const int k = step * 16;
                copy_a(a_at + stage * 8192, A + first_m * lda + k, lda, M - first_m, K - k, item);
                copy_b(b_at + stage * 8192, B + first_n * ldb + k, ldb, N - first_n, K - k, item);
            }
            commit_copies();
            // Behind the stage that is copied to comes the one copied to 2 steps before.
            if (++stage == 3)
                stage = 0;
            if (t < 2)
                continue;
            __local const uchar *a_tile = a_tiles + stage * 8192;
            __local const uchar *b_tile = b_tiles + stage * 8192;
            #pragma unroll
            for (int s = 0; s < 2; s++) {
                // The s-th part of the tiles' k into fragments.
                // Eight values of k of the tile.
                #pragma unroll
                for (int i = 0; i < 2; i++) {
                    const uint at = ((4 * s + lane_k) ^ lane_r) * 16 + lane_k % 2 * 8;
                    as0[i][0] = *(__local const double *) (a_tile + a_first + i * 2048 + at);
                    as0[i][1] = *(__local const double *) (a_tile + a_first + i * 2048 + 1024 + at);
                    as0[i][2] = *(__local const double *) (a_tile + a_first + i * 2048 + (at ^ 8));
                    as0[i][3] = *(__local const double *) (a_tile + a_first + i * 2048
                            + 1024 + (at ^ 8));
                }
                #pragma unroll
                for (int j = 0; j < 4; j++) {
                    const uint at = ((4 * s + lane_k) ^ lane_r) * 16 + lane_k % 2 * 8;
                    bs0[j][0] = *(__local const double *) (b_tile + b_first + j * 1024 + at);
                    bs0[j][1] = *(__local const double *) (b_tile + b_first + j * 1024 + (at ^ 8));
                }
                #pragma unroll
                for (int i = 0; i < 2; i++)
                    #pragma unroll
                    for (int j = 0; j < 4; j++)
                        multiply_blocks(c[i][j], as0[i], bs0[j]);
            }
        }
        if (num < steps) {
            // Not all of the tile: kept for the stage that adds up. Of the two parts that a
            // work-group has room for, the second is for the tile that it has begun.
            __global double *part = parts + (2 * get_group_id(0) + (first == 0)) * 4096;
            #pragma unroll
            for (int i = 0; i < 2; i++)
                #pragma unroll
                for (int j = 0; j < 4; j++)
                    #pragma unroll
                    for (int e = 0; e < 4; e += 2)
                        *(__global double2 *) (part + ((i * 4 + j) * 4 + e) * 128) =
                                (double2) (c[i][j][e], c[i][j][e + 1]);
            continue;
        }
        const bool is_aligned = are_aligned && is_inside(first_m, first_n, 64, 64, triangle);
        // C of this member of a batch. The member is asked for anew: kept until now, the place
        // would take registers while tiles are multiplied.
        __global double *const own = C + member_of_batch() * c_stride;
        // Where rows of C begin anywhere, and where a triangle has not all of the tile, the tile
        // goes through local memory, so that a warp stores columns side by side.
        if (!is_aligned) {
            __local double *c_tile = (__local double *) both_tiles;
            // All have multiplied the last step.
            barrier(CLK_LOCAL_MEM_FENCE);
            #pragma unroll
            for (int i = 0; i < 2; i++)
                #pragma unroll
                for (int h = 0; h < 2; h++) {
                    const uint row = warp_m + i * 16 + h * 8 + lane_r;
                    #pragma unroll
                    for (int j = 0; j < 4; j++) {
                        const uint col = warp_n + j * 8 + lane_k % 2 * 4 + lane_k / 2 * 2;
                        *(__local double2 *) (c_tile + c_place(row, col)) =
                                (double2) (c[i][j][2 * h], c[i][j][2 * h + 1]);
                    }
                }
            barrier(CLK_LOCAL_MEM_FENCE);
            const int num_rows = min(M - first_m, 64L);
            __global double *out = own + (first_m + warp) * ldc + first_n + lane;
            #pragma unroll 4
            for (int m = warp; m < num_rows; m += 4) {
                const long2 stored = stored_columns(first_m + m, N, triangle) - first_n;
                const int first_col = max(stored.x, 0L), end_col = clamp(stored.y, 0L, 64L);
                #pragma unroll
                for (int n = 0; n < 64; n += 32) {
                    const int col = n + (int) lane;
                    if (col >= first_col && col < end_col)
                        put(c_tile[c_place(m, col)], alpha, beta, out + n);
                }
                out += 4 * ldc;
            }
            continue;
        }
        // Rows and columns of a block are in the order in which they were read.
        #pragma unroll
        for (int i = 0; i < 2; i++)
            #pragma unroll
            for (int h = 0; h < 2; h++) {
                const long row = first_m + warp_m + i * 16 + h * 8 + lane_r;
                if (row >= M)
                    break;
                const long2 stored = stored_columns(row, N, triangle);
                __global double *out = own + row * ldc;
                #pragma unroll
                for (int j = 0; j < 4; j++) {
                    const long col = first_n + warp_n + j * 8 + lane_k % 2 * 4 + lane_k / 2 * 2;
                    put_pair(c[i][j][2 * h], c[i][j][2 * h + 1], out, col, stored, alpha, beta,
                            true);
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
void kiln_dgemmt_async_add(long M, long N, long K,
        __global const double *restrict work, long parts_at,
        double alpha, double beta,
        __global double *restrict C, long c_offset, long ldc, int triangle)
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
    __global const double *parts = work + parts_at + 2 * (ulong) tile_of.first_group * 4096;
    C += c_offset;
    // Where parts are few, or a tile has so much that no work-item is idle, each work-item adds up
    // all parts of its elements.
    if (num <= 8 || tile_of.adders < 16) {
        // Whether every row of C starts where 2 columns may be stored at once.
        const ulong misaligned = ((ulong) C | (ulong) (ldc * 8)) & 15;
        const bool are_aligned = misaligned == 0;
        const bool is_aligned = are_aligned && is_inside(first_m, first_n, 64, 64, triangle);
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
            const uint item = at % 128, first = at / 128 * 2;
            const union {
                double2 all;
                double each[2];
            } sums_of = { sum };
            const uint e = first;
            const uint warp = item / 32, lane = item % 32;
            const uint lane_m = lane / 4, lane_k = lane % 4;
            // Rows 0, 1, 4, 5, 2, 3, 6, 7 of A (columns of B).
            const uint lane_r = (lane_m & 1) | (lane_m & 2) << 1 | (lane_m & 4) >> 1;
            const uint warp_m = warp % 2 * 32, warp_n = warp / 2 * 32;
            const uint in_m = e / 4 / 4 * 16, in_n = e / 4 % 4 * 8;
            const long row = first_m + warp_m + in_m + e / 2 % 2 * 8 + lane_r;
            const long col = first_n + warp_n + in_n + lane_k % 2 * 4 + lane_k / 2 * 2 + e % 2;
            const long2 stored = stored_columns(row, N, triangle);
            if (row < M)
                put_pair(sums_of.each[0], sums_of.each[1], C + row * ldc, col,
                        stored, alpha, beta, is_aligned);
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
        if (adder < 64) {
            double all = 0;
            #pragma unroll
            for (int u = 0; u < 8; u++)
                all += sums[u][adder];
            const uint element = at * 64 + adder;
            const uint item = element / 2 % 128;
            const uint e = element / 256 * 2 + element % 2;
            const uint warp = item / 32, lane = item % 32;
            const uint lane_m = lane / 4, lane_k = lane % 4;
            // Rows 0, 1, 4, 5, 2, 3, 6, 7 of A (columns of B).
            const uint lane_r = (lane_m & 1) | (lane_m & 2) << 1 | (lane_m & 4) >> 1;
            const uint warp_m = warp % 2 * 32, warp_n = warp / 2 * 32;
            const uint in_m = e / 4 / 4 * 16, in_n = e / 4 % 4 * 8;
            const long row = first_m + warp_m + in_m + e / 2 % 2 * 8 + lane_r;
            const long col = first_n + warp_n + in_n + lane_k % 2 * 4 + lane_k / 2 * 2 + e % 2;
            const long2 stored = stored_columns(row, N, triangle);
            if (row < M)
                put_column(all, C + row * ldc, col, stored, alpha, beta);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
