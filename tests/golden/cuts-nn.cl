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

// NVIDIA's instructions, as the PTX ISA names them.

// An address in local memory as PTX takes it, in 32 bits.
static uint local_address(__local const void *p)
{
    return (uint) (ulong) p;
}

// The work-items of a warp wait for each other, and see what each has written.
static void warp_sync(void)
{
    asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
}

// Begins to copy 16 bytes into local memory: the first `bytes` of them, and zeros.
static void copy_16(uint to, __global const float *from, uint bytes)
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

// Whether any of those who multiply says so. It is a barrier for them (barrier 1), too.
static uint any_worker(uint says)
{
    uint any;
    asm volatile("{ .reg .pred mine, all;\n"
            "setp.ne.u32 mine, %1, 0;\n"
            "bar.red.or.pred all, 1, 128, mine;\n"
            "selp.u32 %0, 1, 0, all; }" : "=r"(any) : "r"(says) : "memory");
    return any;
}

// x times 2 to the e, rounded once; e is from -252 to 252.
static float scaled(float x, int e)
{
    return x * as_float((e / 2 + 127) << 23) * as_float((e - e / 2 + 127) << 23);
}

static float2 unpack_halves(uint both)
{
    return vload_half2(0, (const half *) &both);
}

// The nth eight lines of a tile as floats again, in the place of their pieces, and times 2^-e: k
// after k, each with the eight lines side by side. k is at k ^ nth % 4, so that work-items meet in
// few banks. Lines whose exponent is 1000 were not cut. A warp does so.
static void restore(__local uchar *eight, uint nth, int e, uint lane)
{
    uint4 high[1], low[1];
    high[0] = *(__local const uint4 *) (eight + lane * 16);
    low[0] = *(__local const uint4 *) (eight + 512 + lane * 16);
    warp_sync();
    uint x[8];
    vstore4(high[0], 0, x);
    vstore4(low[0], 1, x);
    #pragma unroll
    for (int u = 0; u < 8; u++) {
        const uint k = lane / 8 * 8 + u;
        const float2 two = unpack_halves(x[u / 2]) + unpack_halves(x[4 + u / 2]) * 0x1p-11f;
        *(__local float *) (eight + (k ^ nth % 4) * 32 + lane % 8 * 4) =
                e == 1000 ? as_float(x[u]) : scaled(u % 2 ? two.y : two.x, -e);
    }
}

// Reads four blocks of 8 x 8 halves from local memory, as mma wants them; lines are rows of A,
// columns of B.
static void load_blocks(uint to[4], uint from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" :
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

// Blocks of a warp's rows of A, and of its columns of B: sixteen k of one piece.
static void read_a(uint to[2][4], uint from)
{
    #pragma unroll
    for (int i = 0; i < 2; i++)
        load_blocks(to[i], from + i * 2048);
}

static void read_b(uint to[2][4], uint from)
{
    #pragma unroll
    for (int i = 0; i < 2; i++)
        load_blocks(to[i], from + i * 2048);
}

// c += a b for what a warp has read.
static void multiply(float c[2][4][4], uint a[2][4], uint b[2][4])
{
    #pragma unroll
    for (int i = 0; i < 2; i++)
        #pragma unroll
        for (int j = 0; j < 4; j++)
            multiply_blocks(c[i][j], a[i], b[j / 2] + j % 2 * 2);
}

// A work-item's sums become 0.
static void clear(float c[2][4][4])
{
    #pragma unroll
    for (int i = 0; i < 2; i++)
        #pragma unroll
        for (int j = 0; j < 4; j++)
            #pragma unroll
            for (int e = 0; e < 4; e++)
                c[i][j][e] = 0;
}

// c += factor x, for all sums of a work-item.
static void add(float c[2][4][4], float x[2][4][4], float factor)
{
    #pragma unroll
    for (int i = 0; i < 2; i++)
        #pragma unroll
        for (int j = 0; j < 4; j++)
            #pragma unroll
            for (int e = 0; e < 4; e++)
                c[i][j][e] += factor * x[i][j][e];
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

// Two halves as a word, each rounded to the nearest.
static uint pack_halves(float low, float high)
{
    uint both;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}

// The same for two columns side by side; `whole`: they are at a multiple of their size.
static void put_pair(float x, float y, __global float *out, long col,
        long N, float alpha, float beta, bool whole)
{
    if (!whole || col + 1 >= N) {
        put_column(x, out, col, N, alpha, beta);
        put_column(y, out, col + 1, N, alpha, beta);
        return;
    }
    float2 z = alpha * (float2) (x, y);
    if (beta != 0)
        z += beta * *(__global float2 *) (out + col);
    *(__global float2 *) (out + col) = z;
}

// Where an element of a tile of C is in local memory: the pieces of 16 bytes of a row are in an
// order of its own, so that work-items side by side meet different banks.
static uint c_place(uint row, uint col)
{
    return row * 64 + (col / 4 ^ (row + row / 4) % 8) * 4 + col % 4;
}

// How a line is cut: the exponent of the power of two that brings its largest element to 2^14 or
// more, below 2^15. `most` has its bits without the sign; `exponents` is the sum of the exponents,
// as floats hold them, of the `num` elements but 0.
// 1000: it stays as it is, as an element is infinite or no number, or as the exponents are on
// average 20 below the largest, or as it is so short that nothing is gained.
static int exponent_of(uint most, ulong exponents, ulong num, long depth)
{
    if (depth < 16 || most >= 0x7f800000 || exponents + 20 * num < (most >> 23) * num)
        return 1000;
    return most != 0 ? 14 - ilogb(as_float(most)) : 0;
}

// The low piece of x, of which y is too small for any piece: as small as may be, but not 0, so that
// a product with an infinity stays one.
static uint not_0(float x, float y, uint low)
{
    return x != 0 && fabs(y) < 0x1p-35f ? (x < 0 ? 0x8001 : 1) : low;
}

// Eight elements of a line along k: the high pieces, and the low ones times 2^11 512 bytes further
// on. Of a line that is not cut, four elements each.
static void put_pieces(const float x[8], int e, __global uchar *to)
{
    uint high[4], low[4];
    if (e == 1000) {
        #pragma unroll
        for (int i = 0; i < 4; i++) {
            high[i] = as_uint(x[i]);
            low[i] = as_uint(x[4 + i]);
        }
    } else {
        #pragma unroll
        for (int i = 0; i < 4; i++) {
            const float2 y = (float2) (scaled(x[2 * i], e), scaled(x[2 * i + 1], e));
            high[i] = pack_halves(y.x, y.y);
            const float2 rest = (y - unpack_halves(high[i])) * 2048;
            low[i] = pack_halves(rest.x, rest.y);
            low[i] = not_0(x[2 * i], y.x, low[i] & 0xffff)
                    | not_0(x[2 * i + 1], y.y, low[i] >> 16) << 16;
        }
    }
    *(__global uint4 *) to = (uint4) (high[0], high[1], high[2], high[3]);
    *(__global uint4 *) (to + 512) = (uint4) (low[0], low[1], low[2], low[3]);
}

// Where the pieces of a line are from k on, which is a multiple of 8; `padded` lines are cut.
static __global uchar *pieces_at(__global uchar *work, long padded, long line, long k)
{
    return work + padded * 4 + (k / 32 * (padded / 8) + line / 8) * 1024
            + k % 32 / 8 * 128 + line % 8 * 16;
}

// Eight elements of a line from k on.
static void load_along(float x[8], __global const float *X, long ldx, long line, long k)
{
    __global const float *from = X + line * ldx + k;
    if (((ulong) from & 15) == 0) {
        vstore4(*(__global const float4 *) from, 0, x);
        vstore4(*(__global const float4 *) (from + 4), 1, x);
    } else {
        #pragma unroll
        for (int i = 0; i < 8; i++)
            x[i] = from[i];
    }
}

static void load_across(float x[8], __global const float *X, long ldx, long line, long k)
{
    #pragma unroll
    for (int i = 0; i < 8; i++)
        x[i] = X[(k + i) * ldx + line];
}

// The same at the edge of the matrix: what lies outside is 0. Elements of a line are `step` apart.
static void load_some(float x[8], __global const float *from, long step, long num)
{
    #pragma unroll
    for (int i = 0; i < 8; i++)
        x[i] = i < num ? from[i * step] : 0;
}

// What exponent_of asks of a line.
struct look {
    uint most, exponents, num;
};

static void look_at(struct look *look, const float x[8])
{
    #pragma unroll
    for (int i = 0; i < 8; i++) {
        const uint bits = as_uint(x[i]) & 0x7fffffff;
        look->most = max(look->most, bits);
        look->exponents += bits >> 23;
        look->num += bits != 0;
    }
}

// What the work-items of a group have of each of eight lines, put together.
static struct look look_of_all(struct look look, __local uint *scratch)
{
    const uint item = get_local_id(0), own = item % 8;
    #pragma unroll
    for (uint distance = 8; distance < 32; distance *= 2) {
        look.most = max(look.most, exchange(look.most, distance));
        look.exponents += exchange(look.exponents, distance);
        look.num += exchange(look.num, distance);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item % 32 < 8) {
        scratch[item / 32 * 8 + own] = look.most;
        scratch[128 + item / 32 * 8 + own] = look.exponents;
        scratch[256 + item / 32 * 8 + own] = look.num;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    struct look all = { 0, 0, 0 };
    for (int i = 0; i < 16; i++) {
        all.most = max(all.most, scratch[i * 8 + own]);
        all.exponents += scratch[128 + i * 8 + own];
        all.num += scratch[256 + i * 8 + own];
    }
    return all;
}

// A work-item looks at eight of each 512 elements of one of eight lines, from `first` on, for k
// from `begin` to `end`.
static struct look look_along(long first,
        __global const float *X, long ldx, long lines, long begin, long end)
{
    const long line = first + get_local_id(0) % 8;
    long k = begin + get_local_id(0) / 8 * 8;
    struct look look = { 0, 0, 0 };
    if (line >= lines)
        return look;
    for (; k + 519 < end; k += 1024) {
        float x[8], y[8];
        load_along(x, X, ldx, line, k);
        load_along(y, X, ldx, line, k + 512);
        look_at(&look, x);
        look_at(&look, y);
    }
    for (; k < end; k += 512) {
        float x[8];
        load_some(x, X + line * ldx + k, 1, end - k);
        look_at(&look, x);
    }
    return look;
}

// Cuts what was looked at; behind the end of K, up to `padded_end`, pieces are 0.
static void cut_along(long first, int e,
        __global const float *X, long ldx, long lines, long begin, long end, long padded_end,
        long padded, __global uchar *work)
{
    const long line = first + get_local_id(0) % 8;
    long k = begin + get_local_id(0) / 8 * 8;
    for (; line < lines && k + 519 < end; k += 1024) {
        float x[8], y[8];
        load_along(x, X, ldx, line, k);
        load_along(y, X, ldx, line, k + 512);
        put_pieces(x, e, pieces_at(work, padded, line, k));
        put_pieces(y, e, pieces_at(work, padded, line, k + 512));
    }
    for (; k < padded_end; k += 512) {
        float x[8];
        load_some(x, X + line * ldx + k, 1, line < lines ? end - k : 0);
        put_pieces(x, e, pieces_at(work, padded, line, k));
    }
}

// A work-item looks at eight of each 512 elements of one of eight lines, from `first` on, for k
// from `begin` to `end`.
static struct look look_across(long first,
        __global const float *X, long ldx, long lines, long begin, long end)
{
    const long line = first + get_local_id(0) % 8;
    long k = begin + get_local_id(0) / 8 * 8;
    struct look look = { 0, 0, 0 };
    if (line >= lines)
        return look;
    for (; k + 519 < end; k += 1024) {
        float x[8], y[8];
        load_across(x, X, ldx, line, k);
        load_across(y, X, ldx, line, k + 512);
        look_at(&look, x);
        look_at(&look, y);
    }
    for (; k < end; k += 512) {
        float x[8];
        load_some(x, X + k * ldx + line, ldx, end - k);
        look_at(&look, x);
    }
    return look;
}

// Cuts what was looked at; behind the end of K, up to `padded_end`, pieces are 0.
static void cut_across(long first, int e,
        __global const float *X, long ldx, long lines, long begin, long end, long padded_end,
        long padded, __global uchar *work)
{
    const long line = first + get_local_id(0) % 8;
    long k = begin + get_local_id(0) / 8 * 8;
    for (; line < lines && k + 519 < end; k += 1024) {
        float x[8], y[8];
        load_across(x, X, ldx, line, k);
        load_across(y, X, ldx, line, k + 512);
        put_pieces(x, e, pieces_at(work, padded, line, k));
        put_pieces(y, e, pieces_at(work, padded, line, k + 512));
    }
    for (; k < padded_end; k += 512) {
        float x[8];
        load_some(x, X + k * ldx + line, ldx, line < lines ? end - k : 0);
        put_pieces(x, e, pieces_at(work, padded, line, k));
    }
}

// Cuts into halves op(A) and op(B).
__kernel __attribute__((reqd_work_group_size(512, 1, 1)))
void kiln_xgemm_cuts_cut(long a_lines, long a_depth,
        __global const float *restrict A, long a_offset, long lda,
        __global uchar *restrict a_work, long a_at, long b_lines, long b_depth,
        __global const float *restrict B, long b_offset, long ldb,
        __global uchar *restrict b_work, long b_at)
{
    __local uint scratch[384];
    const long a_padded = (a_lines + 63) / 64 * 64;
    const long b_padded = (b_lines + 63) / 64 * 64;
    for (long task = get_group_id(0); task < (a_padded + b_padded) / 8;
         task += get_num_groups(0)) {
        const long of_both = task * 8, depth = a_depth;
        if (of_both < a_padded) {
            const long first = of_both, lines = a_lines, ldx = lda, padded = a_padded;
            __global const float *X = A + a_offset;
            __global uchar *work = a_work + a_at * 4;
            const long begin = 0, end = depth, next = (depth + 31) / 32 * 32;
            const struct look look = look_of_all(
                    look_along(first, X, ldx, lines, begin, end), scratch);
            const int e = exponent_of(look.most, look.exponents, look.num, depth);
            if (get_local_id(0) < 8)
                ((__global int *) work)[first + get_local_id(0)] = e;
            cut_along(first, e, X, ldx, lines, begin, end, next, padded, work);
        } else {
            const long first = of_both - a_padded, lines = b_lines, ldx = ldb, padded = b_padded;
            __global const float *X = B + b_offset;
            __global uchar *work = b_work + b_at * 4;
            const long begin = 0, end = depth, next = (depth + 31) / 32 * 32;
            const struct look look = look_of_all(
                    look_across(first, X, ldx, lines, begin, end), scratch);
            const int e = exponent_of(look.most, look.exponents, look.num, depth);
            if (get_local_id(0) < 8)
                ((__global int *) work)[first + get_local_id(0)] = e;
            cut_across(first, e, X, ldx, lines, begin, end, next, padded, work);
        }
    }
}

// Cuts into halves op(X), whose lines are rows of op(A) or columns of op(B).
__kernel __attribute__((reqd_work_group_size(512, 1, 1)))
void kiln_xgemm_cuts_cuta(long lines, long depth,
        __global const float *restrict X, long x_offset, long ldx,
        __global uchar *restrict work, long at)
{
    __local uint scratch[384];
    const long padded = (lines + 63) / 64 * 64;
    X += x_offset;
    work += at * 4;
    for (long first = get_group_id(0) * 8; first < padded; first += get_num_groups(0) * 8) {
        const long begin = 0, end = depth, next = (depth + 31) / 32 * 32;
        const struct look look = look_of_all(
                look_along(first, X, ldx, lines, begin, end), scratch);
        const int e = exponent_of(look.most, look.exponents, look.num, depth);
        if (get_local_id(0) < 8)
            ((__global int *) work)[first + get_local_id(0)] = e;
        cut_along(first, e, X, ldx, lines, begin, end, next, padded, work);
    }
}

// Cuts into halves op(X), whose lines are rows of op(A) or columns of op(B).
__kernel __attribute__((reqd_work_group_size(512, 1, 1)))
void kiln_xgemm_cuts_cutb(long lines, long depth,
        __global const float *restrict X, long x_offset, long ldx,
        __global uchar *restrict work, long at)
{
    __local uint scratch[384];
    const long padded = (lines + 63) / 64 * 64;
    X += x_offset;
    work += at * 4;
    for (long first = get_group_id(0) * 8; first < padded; first += get_num_groups(0) * 8) {
        const long begin = 0, end = depth, next = (depth + 31) / 32 * 32;
        const struct look look = look_of_all(
                look_across(first, X, ldx, lines, begin, end), scratch);
        const int e = exponent_of(look.most, look.exponents, look.num, depth);
        if (get_local_id(0) < 8)
            ((__global int *) work)[first + get_local_id(0)] = e;
        cut_across(first, e, X, ldx, lines, begin, end, next, padded, work);
    }
}

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored M x K.
// B is stored K x N.
// For NVIDIA's compute capability 8.0 and later.
// op(A) and op(B) have been cut into halves, an element x of a row (column) into x = 2^-e (high +
// 2^-11 low). A work-group computes 64 x 64 of C, a warp 32 x 32 of it. Tiles of both pieces, 32
// deep, are copied into local memory asynchronously, 2 ahead of those that are multiplied.
__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void kiln_xgemm_cuts_multiply(long M, long N, long K,
        __global const uchar *restrict packed_a, long packed_a_at,
        __global const uchar *restrict packed_b, long packed_b_at,
        float alpha, float beta,
        __global float *restrict C, long c_offset, long ldc)
{
    __local uchar both_tiles[49152] __attribute__((aligned(128)));
    __local uchar *a_tiles = both_tiles, *b_tiles = both_tiles + 24576;
    const uint a_at = local_address(a_tiles), b_at = local_address(b_tiles);
    const uint item = get_local_id(0), warp = item / 32, lane = item % 32;
    C += c_offset;
    // Whether every row of C starts where 2 columns may be stored at once.
    const ulong misaligned = ((ulong) C | (ulong) (ldc * 4)) & 7;
    const bool is_aligned = misaligned == 0;
    // The exponents, one for each line, lie before the pieces.
    const long a_lines = (M + 63) / 64 * 64;
    const long b_lines = (N + 63) / 64 * 64;
    __global const int *a_exponents = (__global const int *) (packed_a + packed_a_at * 4);
    __global const int *b_exponents = (__global const int *) (packed_b + packed_b_at * 4);
    __global const float *a_pieces = (__global const float *) (a_exponents + a_lines);
    __global const float *b_pieces = (__global const float *) (b_exponents + b_lines);

    const uint tile = get_group_id(1) * get_num_groups(0) + get_group_id(0);
    const int num = (K + 31) / 32;
    const int2 origin = origin_of_tile(tile, M, N);
    const int first_m = origin.x, first_n = origin.y;
    const uint lane_m = lane / 4, lane_k = lane % 4;
    const uint lane_r = lane_m;
    const uint warp_m = warp % 2 * 32, warp_n = warp / 2 * 32;
    // Where a line of the tile is not cut, which the exponent 1000 says, the tile is multiplied in
    // single precision.
    uint is_plain = 0;
    for (int i = item; i < 64; i += 128)
        is_plain |= a_exponents[first_m + i] == 1000 || b_exponents[first_n + i] == 1000;
    is_plain = any_worker(is_plain);
    float c[2][4][4];
    clear(c);
    int stage = 0;
    if (is_plain) {
        // 128 of k have sums of their own, so that fewer are added one after the other.
        float sums[2][4][4];
        clear(sums);
        for (int t = 0; t < num + 2; t++) {
            // What was asked for at t - 2 is there for all, and all have multiplied those of the
            // step before, whose stage is the next one to copy to.
            if (t >= 2) {
                wait_for_copies();
                barrier(CLK_LOCAL_MEM_FENCE);
            }
            if (t < num) {
                const int step = t;
                // A tile is one run of bytes: block after block of 32 of k, of each eight lines
                // after the other, which have 1024 bytes (256 floats).
                __global const float *a_from = a_pieces
                        + (step * (a_lines / 8) + first_m / 8) * 256 + item * 4;
                __global const float *b_from = b_pieces
                        + (step * (b_lines / 8) + first_n / 8) * 256 + item * 4;
                const uint a_to = a_at + stage * 8192 + item * 16;
                const uint b_to = b_at + stage * 8192 + item * 16;
                #pragma unroll
                for (uint i = 0; i < 512; i += 128)
                    copy_16(a_to + i * 16, a_from + i * 4, 16);
                #pragma unroll
                for (uint i = 0; i < 512; i += 128)
                    copy_16(b_to + i * 16, b_from + i * 4, 16);
            }
            commit_copies();
            // Behind the stage that is copied to comes the one copied to 2 steps before.
            if (++stage == 3)
                stage = 0;
            if (t < 2)
                continue;
            __local uchar *a_tile = a_tiles + stage * 8192;
            __local uchar *b_tile = b_tiles + stage * 8192;
            #pragma unroll 1
            for (uint g = warp; g < 16; g += 4) {
                const bool is_a = g < 8;
                const uint nth = is_a ? g : g - 8;
                __local uchar *eight = (is_a ? a_tile : b_tile) + nth * 1024;
                const int e = is_a ? a_exponents[first_m + nth * 8 + lane % 8]
                        : b_exponents[first_n + nth * 8 + lane % 8];
                restore(eight, nth, e, lane);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            if (t % 4 == 0) {
                add(c, sums, 1);
                clear(sums);
            }
            #pragma unroll 2
            for (uint k = 0; k < 32; k++) {
                float x[4];
                #pragma unroll
                for (uint i = 0; i < 4; i++) {
                    const uint nth = warp_m / 8 + i;
                    x[i] = *(__local const float *) (a_tile + nth * 1024
                            + (k ^ nth % 4) * 32 + lane_m * 4);
                }
                #pragma unroll
                for (uint j = 0; j < 4; j++) {
                    const uint nth = warp_n / 8 + j;
                    const float2 y = *(__local const float2 *) (b_tile
                            + nth * 1024 + (k ^ nth % 4) * 32 + lane_k * 8);
                    #pragma unroll
                    for (uint i = 0; i < 4; i++) {
                        sums[i / 2][j][i % 2 * 2] += x[i] * y.x;
                        sums[i / 2][j][i % 2 * 2 + 1] += x[i] * y.y;
                    }
                }
            }
        }
        add(c, sums, 1);
    } else {
        // Blocks of 8 x 8 are read four at once: work-item l says where line l % 8 of block l / 8
        // is.
        const uint a_line = a_at + (warp_m / 8 + lane / 8 % 2) * 1024
                + lane / 16 * 128 + lane % 8 * 16;
        const uint b_line = b_at + (warp_n / 8 + lane / 16) * 1024
                + lane / 8 % 2 * 128 + lane % 8 * 16;
        // Products with a low piece are small, so that little is lost when the tensor units add up
        // many.
        float l[2][4][4];
        clear(l);
        for (int t = 0; t < num + 2; t++) {
            // What was asked for at t - 2 is there for all, and all have multiplied those of the
            // step before, whose stage is the next one to copy to.
            if (t >= 2) {
                wait_for_copies();
                barrier(CLK_LOCAL_MEM_FENCE);
            }
            if (t < num) {
                const int step = t;
                // A tile is one run of bytes: block after block of 32 of k, of each eight lines
                // after the other, which have 1024 bytes (256 floats).
                __global const float *a_from = a_pieces
                        + (step * (a_lines / 8) + first_m / 8) * 256 + item * 4;
                __global const float *b_from = b_pieces
                        + (step * (b_lines / 8) + first_n / 8) * 256 + item * 4;
                const uint a_to = a_at + stage * 8192 + item * 16;
                const uint b_to = b_at + stage * 8192 + item * 16;
                #pragma unroll
                for (uint i = 0; i < 512; i += 128)
                    copy_16(a_to + i * 16, a_from + i * 4, 16);
                #pragma unroll
                for (uint i = 0; i < 512; i += 128)
                    copy_16(b_to + i * 16, b_from + i * 4, 16);
            }
            commit_copies();
            // Behind the stage that is copied to comes the one copied to 2 steps before.
            if (++stage == 3)
                stage = 0;
            if (t < 2)
                continue;
            // The low pieces lie 512 bytes behind the high ones.
            const uint a_tile = a_line + stage * 8192, b_tile = b_line + stage * 8192;
            float h[2][4][4];
            uint a[2][4], b[2][4], b_low[2][4];
            clear(h);
            #pragma unroll
            for (uint s = 0; s < 2; s++) {
                read_a(a, a_tile + s * 256);
                read_b(b, b_tile + s * 256);
                read_b(b_low, b_tile + s * 256 + 512);
                multiply(h, a, b);
                multiply(l, a, b_low);
                read_a(a, a_tile + s * 256 + 512);
                multiply(l, a, b);
            }
            if (t % 32 == 0) {
                add(c, l, 0x1p-11f);
                clear(l);
            }
            // The tensor units round sums towards 0: few are added there.
            add(c, h, 1);
        }
        add(c, l, 0x1p-11f);
        #pragma unroll
        for (int i = 0; i < 2; i++)
            #pragma unroll
            for (int j = 0; j < 4; j++)
                #pragma unroll
                for (int e = 0; e < 4; e++) {
                    const uint row = warp_m + i * 16 + e / 2 * 8 + lane_r;
                    const uint col = warp_n + j * 8 + lane_k * 2 + e % 2;
                    const int both = a_exponents[first_m + row] + b_exponents[first_n + col];
                    c[i][j][e] = scaled(c[i][j][e], clamp(-both, -252, 252));
                }
    }
    __global float *const own = C;
    // Where rows of C begin anywhere, the tile goes through local memory, so that a warp stores
    // columns side by side.
    if (!is_aligned) {
        __local float *c_tile = (__local float *) both_tiles;
        // All have multiplied the last step.
        barrier(CLK_LOCAL_MEM_FENCE);
        #pragma unroll
        for (int i = 0; i < 2; i++)
            #pragma unroll
            for (int h = 0; h < 2; h++) {
                const uint row = warp_m + i * 16 + h * 8 + lane_r;
                #pragma unroll
                for (int j = 0; j < 4; j++) {
                    const uint col = warp_n + j * 8 + lane_k * 2;
                    *(__local float2 *) (c_tile + c_place(row, col)) =
                            (float2) (c[i][j][2 * h], c[i][j][2 * h + 1]);
                }
            }
        barrier(CLK_LOCAL_MEM_FENCE);
        const int num_rows = min(M - first_m, 64L);
        const int first_col = 0, end_col = min(N - first_n, 64L);
        __global float *out = own + (first_m + warp) * ldc + first_n + lane;
        #pragma unroll 4
        for (int m = warp; m < num_rows; m += 4) {
            #pragma unroll
            for (int n = 0; n < 64; n += 32) {
                const int col = n + (int) lane;
                if (col >= first_col && col < end_col)
                    put(c_tile[c_place(m, col)], alpha, beta, out + n);
            }
            out += 4 * ldc;
        }
        return;
    }
    #pragma unroll
    for (int i = 0; i < 2; i++)
        #pragma unroll
        for (int h = 0; h < 2; h++) {
            const long row = first_m + warp_m + i * 16 + h * 8 + lane_r;
            if (row >= M)
                break;
            __global float *out = own + row * ldc;
            #pragma unroll
            for (int j = 0; j < 4; j++) {
                const long col = first_n + warp_n + j * 8 + lane_k * 2;
                put_pair(c[i][j][2 * h], c[i][j][2 * h + 1], out, col, N, alpha, beta, true);
            }
        }
}
