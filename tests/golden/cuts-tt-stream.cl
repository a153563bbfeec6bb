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

// Waits until of the steps that this work-item has committed at most 0 are on their way.
static void wait_for_copies(void)
{
    asm volatile("cp.async.wait_group 0;" ::: "memory");
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
    uint4 high[2], low[2];
    #pragma unroll
    for (int i = 0; i < 2; i++) {
        high[i] = *(__local const uint4 *) (eight + i * 512 + lane * 16);
        low[i] = *(__local const uint4 *) (eight + 1024 + i * 512 + lane * 16);
    }
    warp_sync();
    #pragma unroll
    for (int i = 0; i < 2; i++) {
        uint x[8];
        vstore4(high[i], 0, x);
        vstore4(low[i], 1, x);
        #pragma unroll
        for (int u = 0; u < 8; u++) {
            const uint k = i * 32 + lane / 8 * 8 + u;
            const float2 two = unpack_halves(x[u / 2]) + unpack_halves(x[4 + u / 2]) * 0x1p-11f;
            *(__local float *) (eight + (k ^ nth % 4) * 32 + lane % 8 * 4) =
                    e == 1000 ? as_float(x[u]) : scaled(u % 2 ? two.y : two.x, -e);
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
        load_blocks(to[i], from + i * 4096);
}

static void read_b(uint to[1][4], uint from)
{
    load_blocks(to[0], from);
}

// c += a b for what a warp has read.
static void multiply(float c[2][2][4], uint a[2][4], uint b[1][4])
{
    #pragma unroll
    for (int i = 0; i < 2; i++)
        #pragma unroll
        for (int j = 0; j < 2; j++)
            multiply_blocks(c[i][j], a[i], b[j / 2] + j % 2 * 2);
}

// A work-item's sums become 0.
static void clear(float c[2][2][4])
{
    #pragma unroll
    for (int i = 0; i < 2; i++)
        #pragma unroll
        for (int j = 0; j < 2; j++)
            #pragma unroll
            for (int e = 0; e < 4; e++)
                c[i][j][e] = 0;
}

// c += factor x, for all sums of a work-item.
static void add(float c[2][2][4], float x[2][2][4], float factor)
{
    #pragma unroll
    for (int i = 0; i < 2; i++)
        #pragma unroll
        for (int j = 0; j < 2; j++)
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
    const uint tiles_n = ((uint) N + 31) / 32;
    const uint band = tile / (8 * tiles_n) * 8, in_band = tile - band * tiles_n;
    const uint band_rows = min(tiles_m - band, 8U);
    const uint tile_m = band + in_band % band_rows, tile_n = in_band / band_rows;
    return (int2) (tile_m * 64, tile_n * 32);
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
    return row * 32 + (col / 4 ^ (row + row / 4) % 8) * 4 + col % 4;
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

// Eight elements of a line along k: the high pieces, and the low ones times 2^11 1024 bytes further
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
    *(__global uint4 *) (to + 1024) = (uint4) (low[0], low[1], low[2], low[3]);
}

// Where the pieces of a line are from k on, which is a multiple of 8; `padded` lines are cut.
static __global uchar *pieces_at(__global uchar *work, long padded, long line, long k)
{
    return work + padded * 196 + (k / 64 * (padded / 8) + line / 8) * 2048
            + k % 64 / 8 * 128 + line % 8 * 16;
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

// Looks at op(A) and op(B).
__kernel __attribute__((reqd_work_group_size(512, 1, 1)))
void kiln_xgemm_cuts_look(long a_lines, long a_depth,
        __global const float *restrict A, long a_offset, long lda,
        __global uchar *restrict a_work, long a_at, long b_lines, long b_depth,
        __global const float *restrict B, long b_offset, long ldb,
        __global uchar *restrict b_work, long b_at)
{
    __local uint scratch[384];
    const long a_padded = (a_lines + 63) / 64 * 64;
    const long b_padded = (b_lines + 31) / 32 * 32;
    for (long task = get_group_id(0); task < (a_padded + b_padded) / 8 * 16;
         task += get_num_groups(0)) {
        const long of_both = task / 16 * 8, part = task % 16, depth = a_depth;
        if (of_both < a_padded) {
            const long first = of_both, lines = a_lines, ldx = lda, padded = a_padded;
            __global const float *X = A + a_offset;
            __global uchar *work = a_work + a_at * 4;
            // A part of K is a whole number of tiles.
            const long tiles_k = (depth + 63) / 64, begin = tiles_k * part / 16 * 64;
            const long next = tiles_k * (part + 1) / 16 * 64, end = min(next, depth);
            __global uint *heads = (__global uint *) work + padded + first + get_local_id(0) % 8;
            const struct look look = look_of_all(
                    look_across(first, X, ldx, lines, begin, end), scratch);
            if (get_local_id(0) < 8) {
                heads[3 * part * padded] = look.most;
                heads[(3 * part + 1) * padded] = look.exponents;
                heads[(3 * part + 2) * padded] = look.num;
            }
        } else {
            const long first = of_both - a_padded, lines = b_lines, ldx = ldb, padded = b_padded;
            __global const float *X = B + b_offset;
            __global uchar *work = b_work + b_at * 4;
            // A part of K is a whole number of tiles.
            const long tiles_k = (depth + 63) / 64, begin = tiles_k * part / 16 * 64;
            const long next = tiles_k * (part + 1) / 16 * 64, end = min(next, depth);
            __global uint *heads = (__global uint *) work + padded + first + get_local_id(0) % 8;
            const struct look look = look_of_all(
                    look_along(first, X, ldx, lines, begin, end), scratch);
            if (get_local_id(0) < 8) {
                heads[3 * part * padded] = look.most;
                heads[(3 * part + 1) * padded] = look.exponents;
                heads[(3 * part + 2) * padded] = look.num;
            }
        }
    }
}

// Looks at op(X), whose lines are rows of op(A) or columns of op(B).
__kernel __attribute__((reqd_work_group_size(512, 1, 1)))
void kiln_xgemm_cuts_looka(long lines, long depth,
        __global const float *restrict X, long x_offset, long ldx,
        __global uchar *restrict work, long at)
{
    __local uint scratch[384];
    const long padded = (lines + 63) / 64 * 64;
    X += x_offset;
    work += at * 4;
    for (long task = get_group_id(0); task < padded / 8 * 16;
         task += get_num_groups(0)) {
        const long first = task / 16 * 8, part = task % 16;
        // A part of K is a whole number of tiles.
        const long tiles_k = (depth + 63) / 64, begin = tiles_k * part / 16 * 64;
        const long next = tiles_k * (part + 1) / 16 * 64, end = min(next, depth);
        __global uint *heads = (__global uint *) work + padded + first + get_local_id(0) % 8;
        const struct look look = look_of_all(
                look_across(first, X, ldx, lines, begin, end), scratch);
        if (get_local_id(0) < 8) {
            heads[3 * part * padded] = look.most;
            heads[(3 * part + 1) * padded] = look.exponents;
            heads[(3 * part + 2) * padded] = look.num;
        }
    }
}

// Looks at op(X), whose lines are rows of op(A) or columns of op(B).
__kernel __attribute__((reqd_work_group_size(512, 1, 1)))
void kiln_xgemm_cuts_lookb(long lines, long depth,
        __global const float *restrict X, long x_offset, long ldx,
        __global uchar *restrict work, long at)
{
    __local uint scratch[384];
    const long padded = (lines + 31) / 32 * 32;
    X += x_offset;
    work += at * 4;
    for (long task = get_group_id(0); task < padded / 8 * 16;
         task += get_num_groups(0)) {
        const long first = task / 16 * 8, part = task % 16;
        // A part of K is a whole number of tiles.
        const long tiles_k = (depth + 63) / 64, begin = tiles_k * part / 16 * 64;
        const long next = tiles_k * (part + 1) / 16 * 64, end = min(next, depth);
        __global uint *heads = (__global uint *) work + padded + first + get_local_id(0) % 8;
        const struct look look = look_of_all(
                look_along(first, X, ldx, lines, begin, end), scratch);
        if (get_local_id(0) < 8) {
            heads[3 * part * padded] = look.most;
            heads[(3 * part + 1) * padded] = look.exponents;
            heads[(3 * part + 2) * padded] = look.num;
        }
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
    const long a_padded = (a_lines + 63) / 64 * 64;
    const long b_padded = (b_lines + 31) / 32 * 32;
    for (long task = get_group_id(0); task < (a_padded + b_padded) / 8 * 16;
         task += get_num_groups(0)) {
        const long of_both = task / 16 * 8, part = task % 16, depth = a_depth;
        if (of_both < a_padded) {
            const long first = of_both, lines = a_lines, ldx = lda, padded = a_padded;
            __global const float *X = A + a_offset;
            __global uchar *work = a_work + a_at * 4;
            // A part of K is a whole number of tiles.
            const long tiles_k = (depth + 63) / 64, begin = tiles_k * part / 16 * 64;
            const long next = tiles_k * (part + 1) / 16 * 64, end = min(next, depth);
            __global uint *heads = (__global uint *) work + padded + first + get_local_id(0) % 8;
            uint most = 0;
            ulong exponents = 0, num = 0;
            #pragma unroll
            for (int i = 0; i < 16; i++) {
                most = max(most, heads[3 * i * padded]);
                exponents += heads[(3 * i + 1) * padded];
                num += heads[(3 * i + 2) * padded];
            }
            const int e = exponent_of(most, exponents, num, depth);
            if (part == 0 && get_local_id(0) < 8)
                ((__global int *) work)[first + get_local_id(0)] = e;
            cut_across(first, e, X, ldx, lines, begin, end, next, padded, work);
        } else {
            const long first = of_both - a_padded, lines = b_lines, ldx = ldb, padded = b_padded;
            __global const float *X = B + b_offset;
            __global uchar *work = b_work + b_at * 4;
            // A part of K is a whole number of tiles.
            const long tiles_k = (depth + 63) / 64, begin = tiles_k * part / 16 * 64;
            const long next = tiles_k * (part + 1) / 16 * 64, end = min(next, depth);
            __global uint *heads = (__global uint *) work + padded + first + get_local_id(0) % 8;
            uint most = 0;
            ulong exponents = 0, num = 0;
            #pragma unroll
            for (int i = 0; i < 16; i++) {
                most = max(most, heads[3 * i * padded]);
                exponents += heads[(3 * i + 1) * padded];
                num += heads[(3 * i + 2) * padded];
            }
            const int e = exponent_of(most, exponents, num, depth);
            if (part == 0 && get_local_id(0) < 8)
                ((__global int *) work)[first + get_local_id(0)] = e;
            cut_along(first, e, X, ldx, lines, begin, end, next, padded, work);
        }
    }
}

// Cuts into halves op(X), whose lines are rows of op(A) or columns of op(B).
__kernel __attribute__((reqd_work_group_size(512, 1, 1)))
void kiln_xgemm_cuts_cuta(long lines, long depth,
        __global const float *restrict X, long x_offset, long ldx,
        __global uchar *restrict work, long at)
{
    const long padded = (lines + 63) / 64 * 64;
    X += x_offset;
    work += at * 4;
    for (long task = get_group_id(0); task < padded / 8 * 16;
         task += get_num_groups(0)) {
        const long first = task / 16 * 8, part = task % 16;
        // A part of K is a whole number of tiles.
        const long tiles_k = (depth + 63) / 64, begin = tiles_k * part / 16 * 64;
        const long next = tiles_k * (part + 1) / 16 * 64, end = min(next, depth);
        __global uint *heads = (__global uint *) work + padded + first + get_local_id(0) % 8;
        uint most = 0;
        ulong exponents = 0, num = 0;
        #pragma unroll
        for (int i = 0; i < 16; i++) {
            most = max(most, heads[3 * i * padded]);
            exponents += heads[(3 * i + 1) * padded];
            num += heads[(3 * i + 2) * padded];
        }
        const int e = exponent_of(most, exponents, num, depth);
        if (part == 0 && get_local_id(0) < 8)
            ((__global int *) work)[first + get_local_id(0)] = e;
        cut_across(first, e, X, ldx, lines, begin, end, next, padded, work);
    }
}

// Cuts into halves op(X), whose lines are rows of op(A) or columns of op(B).
__kernel __attribute__((reqd_work_group_size(512, 1, 1)))
void kiln_xgemm_cuts_cutb(long lines, long depth,
        __global const float *restrict X, long x_offset, long ldx,
        __global uchar *restrict work, long at)
{
    const long padded = (lines + 31) / 32 * 32;
    X += x_offset;
    work += at * 4;
    for (long task = get_group_id(0); task < padded / 8 * 16;
         task += get_num_groups(0)) {
        const long first = task / 16 * 8, part = task % 16;
        // A part of K is a whole number of tiles.
        const long tiles_k = (depth + 63) / 64, begin = tiles_k * part / 16 * 64;
        const long next = tiles_k * (part + 1) / 16 * 64, end = min(next, depth);
        __global uint *heads = (__global uint *) work + padded + first + get_local_id(0) % 8;
        uint most = 0;
        ulong exponents = 0, num = 0;
        #pragma unroll
        for (int i = 0; i < 16; i++) {
            most = max(most, heads[3 * i * padded]);
            exponents += heads[(3 * i + 1) * padded];
            num += heads[(3 * i + 2) * padded];
        }
        const int e = exponent_of(most, exponents, num, depth);
        if (part == 0 && get_local_id(0) < 8)
            ((__global int *) work)[first + get_local_id(0)] = e;
        cut_along(first, e, X, ldx, lines, begin, end, next, padded, work);
    }
}

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored K x M.
// B is stored N x K.
// For NVIDIA's compute capability 8.0 and later.
// op(A) and op(B) have been cut into halves, an element x of a row (column) into x = 2^-e (high +
// 2^-11 low). A work-group computes 64 x 32 of C, a warp 32 x 16 of it. Tiles of both pieces, 64
// deep, are copied into local memory asynchronously, 1 ahead of those that are multiplied.
// As many work-groups as run at once take tiles in turn.
// Of the tiles that do not make a whole turn, the steps are shared out evenly (stream-K, Osama et
// al. 2023); what a work-group has of such a tile is kept, to be added up later.
__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void kiln_xgemm_cuts_stream(long M, long N, long K,
        __global const uchar *restrict packed_a, long packed_a_at,
        __global const uchar *restrict packed_b, long packed_b_at,
        __global float *work, long parts_at,
        float alpha, float beta,
        __global float *restrict C, long c_offset, long ldc)
{
    __local uchar both_tiles[49152] __attribute__((aligned(128)));
    __local uchar *a_tiles = both_tiles, *b_tiles = both_tiles + 32768;
    const uint a_at = local_address(a_tiles), b_at = local_address(b_tiles);
    const uint item = get_local_id(0), warp = item / 32, lane = item % 32;
    C += c_offset;
    // Whether every row of C starts where 2 columns may be stored at once.
    const ulong misaligned = ((ulong) C | (ulong) (ldc * 4)) & 7;
    const bool is_aligned = misaligned == 0;
    __global float *parts = work + parts_at + 4 * item;
    // The first `whole` tiles are done in turns; of the rest, which are `steps` steps each, a
    // work-group takes `share` steps. A last turn that is three quarters full is a turn.
    const uint groups = get_num_groups(0);
    const uint tiles = ((uint) M + 63) / 64 * (((uint) N + 31) / 32);
    const uint in_turns = tiles / groups * groups;
    const uint whole = tiles - in_turns < groups * 3 / 4 ? in_turns : tiles;
    const uint steps = ((uint) K + 63) / 64;
    const ulong all = (ulong) (tiles - whole) * steps;
    const ulong share = (all + groups - 1) / groups;
    const ulong begin = min(get_group_id(0) * share, all), end = min(begin + share, all);
    // The exponents, one for each line, lie before the pieces.
    const long a_lines = (M + 63) / 64 * 64;
    const long b_lines = (N + 31) / 32 * 32;
    __global const int *a_exponents = (__global const int *) (packed_a + packed_a_at * 4);
    __global const int *b_exponents = (__global const int *) (packed_b + packed_b_at * 4);
    __global const float *a_pieces = (__global const float *) (a_exponents + 49 * a_lines);
    __global const float *b_pieces = (__global const float *) (b_exponents + 49 * b_lines);

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
        const uint warp_m = warp % 2 * 32, warp_n = warp / 2 * 16;
        // Where a line of the tile is not cut, which the exponent 1000 says, the tile is multiplied
        // in single precision.
        uint is_plain = 0;
        for (int i = item; i < 64; i += 128) { is_plain |= a_exponents[first_m + i] == 1000;
            if (i < 32)
                is_plain |= b_exponents[first_n + i] == 1000;
        }
        is_plain = any_worker(is_plain);
        float c[2][2][4];
        clear(c);
        int stage = 0;
        if (is_plain) {
            // 128 of k have sums of their own, so that fewer are added one after the other.
            float sums[2][2][4];
            clear(sums);
            for (int t = 0; t < num + 1; t++) {
                // What was asked for at t - 1 is there for all, and all have multiplied those of
                // the step before, whose stage is the next one to copy to.
                if (t >= 1) {
                    wait_for_copies();
                    barrier(CLK_LOCAL_MEM_FENCE);
                }
                if (t < num) {
                    const int rotated = t + rotation;
                    const int step = first + rotated - (rotated < num ? 0 : num);
                    // A tile is one run of bytes: block after block of 64 of k, of each eight lines
                    // after the other, which have 2048 bytes (512 floats).
                    __global const float *a_from = a_pieces
                            + (step * (a_lines / 8) + first_m / 8) * 512 + item * 4;
                    __global const float *b_from = b_pieces
                            + (step * (b_lines / 8) + first_n / 8) * 512 + item * 4;
                    const uint a_to = a_at + stage * 16384 + item * 16;
                    const uint b_to = b_at + stage * 8192 + item * 16;
                    #pragma unroll
                    for (uint i = 0; i < 1024; i += 128)
                        copy_16(a_to + i * 16, a_from + i * 4, 16);
                    #pragma unroll
                    for (uint i = 0; i < 512; i += 128)
                        copy_16(b_to + i * 16, b_from + i * 4, 16);
                }
                commit_copies();
                // Behind the stage that is copied to comes the one copied to 1 steps before.
                if (++stage == 2)
                    stage = 0;
                if (t < 1)
                    continue;
                __local uchar *a_tile = a_tiles + stage * 16384;
                __local uchar *b_tile = b_tiles + stage * 8192;
                #pragma unroll 1
                for (uint g = warp; g < 12; g += 4) {
                    const bool is_a = g < 8;
                    const uint nth = is_a ? g : g - 8;
                    __local uchar *eight = (is_a ? a_tile : b_tile) + nth * 2048;
                    const int e = is_a ? a_exponents[first_m + nth * 8 + lane % 8]
                            : b_exponents[first_n + nth * 8 + lane % 8];
                    restore(eight, nth, e, lane);
                }
                barrier(CLK_LOCAL_MEM_FENCE);
                if (t % 2 == 0) {
                    add(c, sums, 1);
                    clear(sums);
                }
                #pragma unroll 2
                for (uint k = 0; k < 64; k++) {
                    float x[4];
                    #pragma unroll
                    for (uint i = 0; i < 4; i++) {
                        const uint nth = warp_m / 8 + i;
                        x[i] = *(__local const float *) (a_tile + nth * 2048
                                + (k ^ nth % 4) * 32 + lane_m * 4);
                    }
                    #pragma unroll
                    for (uint j = 0; j < 2; j++) {
                        const uint nth = warp_n / 8 + j;
                        const float2 y = *(__local const float2 *) (b_tile
                                + nth * 2048 + (k ^ nth % 4) * 32 + lane_k * 8);
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
            // Blocks of 8 x 8 are read four at once: work-item l says where line l % 8 of block l /
            // 8 is.
            const uint a_line = a_at + (warp_m / 8 + lane / 8 % 2) * 2048
                    + lane / 16 * 128 + lane % 8 * 16;
            const uint b_line = b_at + (warp_n / 8 + lane / 16) * 2048
                    + lane / 8 % 2 * 128 + lane % 8 * 16;
            for (int t = 0; t < num + 1; t++) {
                // What was asked for at t - 1 is there for all, and all have multiplied those of
                // the step before, whose stage is the next one to copy to.
                if (t >= 1) {
                    wait_for_copies();
                    barrier(CLK_LOCAL_MEM_FENCE);
                }
                if (t < num) {
                    const int rotated = t + rotation;
                    const int step = first + rotated - (rotated < num ? 0 : num);
                    // A tile is one run of bytes: block after block of 64 of k, of each eight lines
                    // after the other, which have 2048 bytes (512 floats).
                    __global const float *a_from = a_pieces
                            + (step * (a_lines / 8) + first_m / 8) * 512 + item * 4;
                    __global const float *b_from = b_pieces
                            + (step * (b_lines / 8) + first_n / 8) * 512 + item * 4;
                    const uint a_to = a_at + stage * 16384 + item * 16;
                    const uint b_to = b_at + stage * 8192 + item * 16;
                    #pragma unroll
                    for (uint i = 0; i < 1024; i += 128)
                        copy_16(a_to + i * 16, a_from + i * 4, 16);
                    #pragma unroll
                    for (uint i = 0; i < 512; i += 128)
                        copy_16(b_to + i * 16, b_from + i * 4, 16);
                }
                commit_copies();
                // Behind the stage that is copied to comes the one copied to 1 steps before.
                if (++stage == 2)
                    stage = 0;
                if (t < 1)
                    continue;
                // The low pieces lie 1024 bytes behind the high ones.
                const uint a_tile = a_line + stage * 16384, b_tile = b_line + stage * 8192;
                float h[2][2][4];
                uint a[2][4], b[1][4], b_low[1][4];
                clear(h);
                // Products with a low piece first.
                #pragma unroll
                for (uint s = 0; s < 4; s++) {
                    read_a(a, a_tile + s * 256);
                    read_b(b_low, b_tile + s * 256 + 1024);
                    multiply(h, a, b_low);
                    read_a(a, a_tile + s * 256 + 1024);
                    read_b(b, b_tile + s * 256);
                    multiply(h, a, b);
                }
                add(c, h, 0x1p-11f);
                clear(h);
                #pragma unroll
                for (uint s = 0; s < 4; s++) {
                    read_a(a, a_tile + s * 256);
                    read_b(b, b_tile + s * 256);
                    multiply(h, a, b);
                }
                // The tensor units round sums towards 0: few are added there.
                add(c, h, 1);
            }
            #pragma unroll
            for (int i = 0; i < 2; i++)
                #pragma unroll
                for (int j = 0; j < 2; j++)
                    #pragma unroll
                    for (int e = 0; e < 4; e++) {
                        const uint row = warp_m + i * 16 + e / 2 * 8 + lane_r;
                        const uint col = warp_n + j * 8 + lane_k * 2 + e % 2;
                        const int both = a_exponents[first_m + row] + b_exponents[first_n + col];
                        c[i][j][e] = scaled(c[i][j][e], clamp(-both, -252, 252));
                    }
        }
        if (num < steps) {
            // Not all of the tile: kept for the stage that adds up. Of the two parts that a
            // work-group has room for, the second is for the tile that it has begun.
            __global float *part = parts + (2 * get_group_id(0) + (first == 0)) * 2048;
            #pragma unroll
            for (int i = 0; i < 2; i++)
                #pragma unroll
                for (int j = 0; j < 2; j++)
                    *(__global float4 *) (part + (i * 2 + j) * 512) =
                            (float4) (c[i][j][0], c[i][j][1], c[i][j][2], c[i][j][3]);
            continue;
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
                    for (int j = 0; j < 2; j++) {
                        const uint col = warp_n + j * 8 + lane_k * 2;
                        *(__local float2 *) (c_tile + c_place(row, col)) =
                                (float2) (c[i][j][2 * h], c[i][j][2 * h + 1]);
                    }
                }
            barrier(CLK_LOCAL_MEM_FENCE);
            const int num_rows = min(M - first_m, 64L);
            const int first_col = 0, end_col = min(N - first_n, 32L);
            __global float *out = own + (first_m + warp) * ldc + first_n + lane;
            #pragma unroll 4
            for (int m = warp; m < num_rows; m += 4) {
                const int col = (int) lane;
                if (col >= first_col && col < end_col)
                    put(c_tile[c_place(m, col)], alpha, beta, out);
                out += 4 * ldc;
            }
            continue;
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
                for (int j = 0; j < 2; j++) {
                    const long col = first_n + warp_n + j * 8 + lane_k * 2;
                    put_pair(c[i][j][2 * h], c[i][j][2 * h + 1], out, col, N, alpha, beta, true);
                }
            }
    }
}

// Adds up what work-groups have of a tile that none did alone, and stores it. What a work-item of
// theirs has lies in pieces of 16 bytes, each beside those of the other work-items.
// A work-group that multiplies has room for two parts of tiles, of 2048 numbers each: the second is
// for the tile whose first step it has done, the first for one that another has begun. So, of the
// parts of a tile, that of the work-group that began it is a second one, all others are first ones.
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void kiln_xgemm_cuts_add(long M, long N, long K,
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
        const uint tiles = ((uint) M + 63) / 64 * (((uint) N + 31) / 32);
        const uint in_turns = tiles / groups * groups;
        const uint whole = tiles - in_turns < groups * 3 / 4 ? in_turns : tiles;
        const uint steps = ((uint) K + 63) / 64;
        const ulong all = (ulong) (tiles - whole) * steps;
        const ulong share = (all + groups - 1) / groups;
        // As many work-groups add up each shared tile.
        const uint all_adders = groups * get_num_groups(1);
        const uint number = get_group_id(1) * groups + get_group_id(0);
        const uint adders = min(all_adders / max(tiles - whole, 1U), 16U);
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
    __global const float *parts = work + parts_at + 2 * (ulong) tile_of.first_group * 2048;
    C += c_offset;
    // Where parts are few, or a tile has so much that no work-item is idle, each work-item adds up
    // all parts of its elements.
    if (num <= 8 || tile_of.adders < 4) {
        // Whether every row of C starts where 2 columns may be stored at once.
        const ulong misaligned = ((ulong) C | (ulong) (ldc * 4)) & 7;
        const bool is_aligned = misaligned == 0;
        for (uint at = tile_of.own * 256 + adder; at < 512;
             at += tile_of.adders * 256) {
            __global const float4 *part = (__global const float4 *) parts + at;
            float4 sum = 0;
            for (uint p = 0; p < num; p += 4) {
                float4 terms[4];
                #pragma unroll
                for (int q = 0; q < 4; q++)
                    terms[q] = p + q >= num ? 0 : part[(p + q == 0 ? 1 : 2 * (p + q)) * 512];
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
                const uint warp_m = warp % 2 * 32, warp_n = warp / 2 * 16;
                const uint in_m = e / 4 / 2 * 16, in_n = e / 4 % 2 * 8;
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
    for (uint at = tile_of.own; at < 16; at += tile_of.adders) {
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
            const uint warp_m = warp % 2 * 32, warp_n = warp / 2 * 16;
            const uint in_m = e / 4 / 2 * 16, in_n = e / 4 % 2 * 8;
            const long row = first_m + warp_m + in_m + e / 2 % 2 * 8 + lane_r;
            const long col = first_n + warp_n + in_n + lane_k * 2 + e % 2;
            if (row < M)
                put_column(all, C + row * ldc, col, N, alpha, beta);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
