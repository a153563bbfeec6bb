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

// The first column of a row that is stored, and the one behind the last. `triangle` is 0 for all of
// C, 1 or -1 for its lower or upper triangle, 2 or -2 for the same where an element is two columns.
static long2 stored_columns(long row, long N, int triangle)
{
    return (long2) (triangle < 0 ? row * -triangle : 0,
            triangle > 0 ? min(N, (row + 1) * triangle) : N);
}

// NVIDIA's instructions, as the PTX ISA names them. What only sm_90a has is masked as a comment;
// the mask is taken from the PTX that this is compiled to.

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

// A barrier in local memory counts arrivals, and the bytes of copies under way. When none is left
// its phase is over, and the next one begins; phases have the parities 0, 1, 0 and so on.
static void mbarrier_init(uint mbarrier, uint arrivals)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(mbarrier), "r"(arrivals) : "memory");
}

// Arrives, and lets the phase wait for so many bytes of the copy engine's as well.
static void mbarrier_expect(uint mbarrier, uint bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::
            "r"(mbarrier), "r"(bytes) : "memory");
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

// Copies bytes that lie one after the other into local memory.
static void fetch_bytes(uint to, __global const uchar *from, uint bytes, uint mbarrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
            "[%0], [%1], %2, [%3];" ::
            "r"(to), "l"((ulong) from), "r"(bytes), "r"(mbarrier) : "memory");
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

// What all work-items of a warp have alike; the compiler then knows that they do.
static uint uniform(uint x)
{
    uint first;
    asm("shfl.sync.idx.b32 %0, %1, 0, 31, 0xffffffff;" : "=r"(first) : "r"(x));
    return first;
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

// The sums of products that have been waited for: nothing that reads them comes sooner.
static void settle(float c[64])
{
    asm volatile("" : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]),
            "+f"(c[6]), "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]),
            "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]),
            "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]),
            "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]), "+f"(c[30]),
            "+f"(c[31]), "+f"(c[32]), "+f"(c[33]), "+f"(c[34]), "+f"(c[35]), "+f"(c[36]),
            "+f"(c[37]), "+f"(c[38]), "+f"(c[39]), "+f"(c[40]), "+f"(c[41]), "+f"(c[42]),
            "+f"(c[43]), "+f"(c[44]), "+f"(c[45]), "+f"(c[46]), "+f"(c[47]), "+f"(c[48]),
            "+f"(c[49]), "+f"(c[50]), "+f"(c[51]), "+f"(c[52]), "+f"(c[53]), "+f"(c[54]),
            "+f"(c[55]), "+f"(c[56]), "+f"(c[57]), "+f"(c[58]), "+f"(c[59]), "+f"(c[60]),
            "+f"(c[61]), "+f"(c[62]), "+f"(c[63]) :: "memory");
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

// c += a b, or c = a b, for 64 x 16, 16 x 128 and 64 x 128, asynchronously, by the low words of
// descriptors of a and b; the high ones have the stride from eight lines to the next.
static void multiply(float c[64], uint a, uint b)
{
    asm volatile("//@wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
            "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "
                    "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, "
                    "%34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, "
                    "%49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
            "%64, %65, 1, 1, 1, 0, 0;" :
            "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]),
                    "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]),
                    "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]),
                    "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]),
                    "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]), "+f"(c[30]),
                    "+f"(c[31]), "+f"(c[32]), "+f"(c[33]), "+f"(c[34]), "+f"(c[35]), "+f"(c[36]),
                    "+f"(c[37]), "+f"(c[38]), "+f"(c[39]), "+f"(c[40]), "+f"(c[41]), "+f"(c[42]),
                    "+f"(c[43]), "+f"(c[44]), "+f"(c[45]), "+f"(c[46]), "+f"(c[47]), "+f"(c[48]),
                    "+f"(c[49]), "+f"(c[50]), "+f"(c[51]), "+f"(c[52]), "+f"(c[53]), "+f"(c[54]),
                    "+f"(c[55]), "+f"(c[56]), "+f"(c[57]), "+f"(c[58]), "+f"(c[59]), "+f"(c[60]),
                    "+f"(c[61]), "+f"(c[62]), "+f"(c[63]) :
            "l"((ulong) 128 << 32 | a), "l"((ulong) 128 << 32 | b));
}

static void multiply_first(float c[64], uint a, uint b)
{
    asm volatile("//@wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
            "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "
                    "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, "
                    "%34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, "
                    "%49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
            "%64, %65, 0, 1, 1, 0, 0;" :
            "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]),
                    "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]),
                    "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]),
                    "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]),
                    "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]), "+f"(c[30]),
                    "+f"(c[31]), "+f"(c[32]), "+f"(c[33]), "+f"(c[34]), "+f"(c[35]), "+f"(c[36]),
                    "+f"(c[37]), "+f"(c[38]), "+f"(c[39]), "+f"(c[40]), "+f"(c[41]), "+f"(c[42]),
                    "+f"(c[43]), "+f"(c[44]), "+f"(c[45]), "+f"(c[46]), "+f"(c[47]), "+f"(c[48]),
                    "+f"(c[49]), "+f"(c[50]), "+f"(c[51]), "+f"(c[52]), "+f"(c[53]), "+f"(c[54]),
                    "+f"(c[55]), "+f"(c[56]), "+f"(c[57]), "+f"(c[58]), "+f"(c[59]), "+f"(c[60]),
                    "+f"(c[61]), "+f"(c[62]), "+f"(c[63]) :
            "l"((ulong) 128 << 32 | a), "l"((ulong) 128 << 32 | b));
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
    return (uint2) (1, triangle % 2 == 0 ? 1 : 2);
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

// C = alpha x + beta C for column `col` of the row `out`, if it is stored.
static void put_column(float x, __global float *out, long col, long2 stored,
        float alpha, float beta)
{
    if (col >= stored.x && col < stored.y)
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
    return work + padded * 4 + (k / 64 * (padded / 8) + line / 8) * 2048
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

// Cuts into halves op(A) and op(B).
__kernel __attribute__((reqd_work_group_size(512, 1, 1)))
void kiln_xgemmt_halves_cut(long a_lines, long a_depth,
        __global const float *restrict A, long a_offset, long lda,
        __global uchar *restrict a_work, long a_at, long b_lines, long b_depth,
        __global const float *restrict B, long b_offset, long ldb,
        __global uchar *restrict b_work, long b_at)
{
    __local uint scratch[384];
    const long a_padded = (a_lines + 63) / 64 * 64;
    const long b_padded = (b_lines + 127) / 128 * 128;
    for (long task = get_group_id(0); task < (a_padded + b_padded) / 8;
         task += get_num_groups(0)) {
        const long of_both = task * 8, depth = a_depth;
        if (of_both < a_padded) {
            const long first = of_both, lines = a_lines, ldx = lda, padded = a_padded;
            __global const float *X = A + a_offset;
            __global uchar *work = a_work + a_at * 4;
            const long begin = 0, end = depth, next = (depth + 63) / 64 * 64;
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
            const long begin = 0, end = depth, next = (depth + 63) / 64 * 64;
            const struct look look = look_of_all(
                    look_along(first, X, ldx, lines, begin, end), scratch);
            const int e = exponent_of(look.most, look.exponents, look.num, depth);
            if (get_local_id(0) < 8)
                ((__global int *) work)[first + get_local_id(0)] = e;
            cut_along(first, e, X, ldx, lines, begin, end, next, padded, work);
        }
    }
}

// Cuts into halves op(X), whose lines are rows of op(A) or columns of op(B).
__kernel __attribute__((reqd_work_group_size(512, 1, 1)))
void kiln_xgemmt_halves_cuta(long lines, long depth,
        __global const float *restrict X, long x_offset, long ldx,
        __global uchar *restrict work, long at)
{
    __local uint scratch[384];
    const long padded = (lines + 63) / 64 * 64;
    X += x_offset;
    work += at * 4;
    for (long first = get_group_id(0) * 8; first < padded; first += get_num_groups(0) * 8) {
        const long begin = 0, end = depth, next = (depth + 63) / 64 * 64;
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
void kiln_xgemmt_halves_cutb(long lines, long depth,
        __global const float *restrict X, long x_offset, long ldx,
        __global uchar *restrict work, long at)
{
    __local uint scratch[384];
    const long padded = (lines + 127) / 128 * 128;
    X += x_offset;
    work += at * 4;
    for (long first = get_group_id(0) * 8; first < padded; first += get_num_groups(0) * 8) {
        const long begin = 0, end = depth, next = (depth + 63) / 64 * 64;
        const struct look look = look_of_all(
                look_along(first, X, ldx, lines, begin, end), scratch);
        const int e = exponent_of(look.most, look.exponents, look.num, depth);
        if (get_local_id(0) < 8)
            ((__global int *) work)[first + get_local_id(0)] = e;
        cut_along(first, e, X, ldx, lines, begin, end, next, padded, work);
    }
}

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored M x K.
// B is stored N x K.
// For NVIDIA's compute capability 9.0.
// op(A) and op(B) have been cut into halves, an element x of a row (column) into x = 2^-e (high +
// 2^-11 low). A work-group computes 64 x 128 of C; tiles of both pieces, 64 deep, are fetched into
// local memory, up to 4 at a time, and a tile's `full` barrier says that it is there. One work-item
// fetches; warp groups multiply (1), 64 rows of C each, and say by the `empty` barrier when they
// have read a tile.
__kernel __attribute__((reqd_work_group_size(160, 1, 1)))
void kiln_xgemmt_halves_multiply(long M, long N, long K,
        __global const uchar *restrict packed_a, long packed_a_at,
        __global const uchar *restrict packed_b, long packed_b_at,
        float alpha, float beta,
        __global float *restrict C, long c_offset, long ldc, int triangle)
{
    __local uchar a_tiles[65536] __attribute__((aligned(1024)));
    __local uchar b_tiles[131072] __attribute__((aligned(1024)));
    __local float c_rows[1024];
    __local ulong full[4];
    __local ulong empty[4];
    const uint item = get_local_id(0), lane = item % 32;
    const uint fulls = local_address(full), empties = local_address(empty);
    const uint a_at = local_address(a_tiles), b_at = local_address(b_tiles);
    const uint tiles = count_tiles(((uint) M + 63) / 64, ((uint) N + 127) / 128, triangle);
    if (get_group_id(1) * get_num_groups(0) + get_group_id(0) >= tiles)
        return;
    C += c_offset;
    // The exponents, one for each line, lie before the pieces.
    const long a_lines = (M + 63) / 64 * 64;
    const long b_lines = (N + 127) / 128 * 128;
    __global const int *a_exponents = (__global const int *) (packed_a + packed_a_at * 4);
    __global const int *b_exponents = (__global const int *) (packed_b + packed_b_at * 4);
    if (item == 0) {
        for (int s = 0; s < 4; s++) {
            mbarrier_init(fulls + 8 * s, 1);
            mbarrier_init(empties + 8 * s, 1);
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    if (item >= 128) {
        if (item == 128) {
            __global const uchar *a_pieces = (__global const uchar *) (a_exponents + a_lines);
            __global const uchar *b_pieces = (__global const uchar *) (b_exponents + b_lines);
            uint stage = 0, phase = 1;
            const uint tile = get_group_id(1) * get_num_groups(0) + get_group_id(0);
            const int num = (K + 63) / 64;
            // Tiles of which something is stored, row by row.
            const uint2 of_tile = place_of_tile(tile, ((uint) N + 127) / 128, triangle);
            const int first_m = of_tile.x * 64, first_n = of_tile.y * 128;
            for (int t = 0; t < num; t++) {
                const int step = t;
                mbarrier_wait(empties + 8 * stage, phase);
                mbarrier_expect(fulls + 8 * stage, 49152);
                fetch_bytes(a_at + stage * 16384, a_pieces
                        + (step * (a_lines / 8) + first_m / 8) * 2048, 16384,
                        fulls + 8 * stage);
                fetch_bytes(b_at + stage * 32768, b_pieces
                        + (step * (b_lines / 8) + first_n / 8) * 2048, 32768,
                        fulls + 8 * stage);
                if (++stage == 4) {
                    stage = 0;
                    phase ^= 1;
                }
            }
        }
        return;
    }
    uint stage = 0, phase = 0;
    const uint group = uniform(item / 128);
    const uint tile = get_group_id(1) * get_num_groups(0) + get_group_id(0);
    const int num = (K + 63) / 64;
    // Tiles of which something is stored, row by row.
    const uint2 of_tile = place_of_tile(tile, ((uint) N + 127) / 128, triangle);
    const int first_m = of_tile.x * 64, first_n = of_tile.y * 128;
    // Where a line of the tile is not cut, which the exponent 1000 says, the tile is multiplied in
    // single precision.
    uint is_plain = 0;
    for (int i = item; i < 128; i += 128) {
        if (i < 64)
            is_plain |= a_exponents[first_m + i] == 1000;
            is_plain |= b_exponents[first_n + i] == 1000;
    }
    is_plain = any_worker(is_plain);
    float c[64];
    #pragma unroll
    for (int i = 0; i < 64; i++)
        c[i] = 0;
    if (is_plain) {
        const uint warp = item / 32;
        // 128 of k have sums of their own, so that fewer are added one after the other.
        float sums[64];
        #pragma unroll
        for (int i = 0; i < 64; i++)
            sums[i] = 0;
        for (int now = 0; now < num; now++) {
            __local uchar *a_tile = a_tiles + stage * 16384;
            __local uchar *b_tile = b_tiles + stage * 32768;
            mbarrier_wait(fulls + 8 * stage, phase);
            // Lines that were cut are put together again.
            #pragma unroll 1
            for (uint g = warp; g < 24; g += 4) {
                const bool is_a = g < 8;
                const uint nth = is_a ? g : g - 8;
                __local uchar *eight = (is_a ? a_tile : b_tile) + nth * 2048;
                const int e = is_a ? a_exponents[first_m + nth * 8 + lane % 8]
                        : b_exponents[first_n + nth * 8 + lane % 8];
                restore(eight, nth, e, lane);
            }
            asm volatile("bar.sync 2, 128;" ::: "memory");
            if (now % 2 == 0) {
                #pragma unroll
                for (int i = 0; i < 64; i++) {
                    c[i] += sums[i];
                    sums[i] = 0;
                }
            }
            #pragma unroll 2
            for (uint k = 0; k < 64; k++) {
                float x[2];
                #pragma unroll
                for (uint h = 0; h < 2; h++) {
                    const uint nth = warp * 2 + h;
                    x[h] = *(__local const float *) (a_tile + nth * 2048 + (k ^ nth % 4) * 32
                            + lane / 4 * 4);
                }
                #pragma unroll
                for (uint j = 0; j < 16; j++) {
                    const float2 y = *(__local const float2 *) (b_tile + j * 2048 + (k ^ j % 4) * 32
                            + lane % 4 * 8);
                    #pragma unroll
                    for (uint h = 0; h < 2; h++) {
                        sums[4 * j + 2 * h] += x[h] * y.x;
                        sums[4 * j + 2 * h + 1] += x[h] * y.y;
                    }
                }
            }
            // What was written here is read no more when the copy engine writes.
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            asm volatile("bar.sync 2, 128;" ::: "memory");
            if (item % 128 == 0)
                mbarrier_arrive(empties + 8 * stage);
            if (++stage == 4) {
                stage = 0;
                phase ^= 1;
            }
        }
        #pragma unroll
        for (int i = 0; i < 64; i++)
            c[i] += sums[i];
    } else {
        // c[] are sums of all products, h[] those of the high pieces of one step, l[] those with a
        // low piece, times 2^11. These are small: little is lost when the tensor units add up 1024
        // of k.
        float h[64];
        #pragma unroll
        for (int i = 0; i < 64; i++)
            h[i] = 0;
        for (int from = 0; from < num; from += 16) {
            float l[64];
            #pragma unroll
            for (int i = 0; i < 64; i++)
                l[i] = 0;
            for (int now = from; now < min(from + 16, num); now++) {
                // The low words of descriptors (PTX ISA, "matrix descriptor"): the address of the
                // high pieces, and 128 bytes from eight k to the next. The low pieces lie 1024
                // bytes further on. All are in units of 16 bytes.
                const uint a = (a_at + stage * 16384 + group * 16384) >> 4 | 8 << 16;
                const uint b = (b_at + stage * 32768) >> 4 | 8 << 16;
                mbarrier_wait(fulls + 8 * stage, phase);
                warp_sync();
                asm volatile("//@wgmma.fence.sync.aligned;" ::: "memory");
                multiply_first(h, a, b);
                multiply(h, a + 16, b + 16);
                multiply(h, a + 32, b + 32);
                multiply(h, a + 48, b + 48);
                asm volatile("//@wgmma.commit_group.sync.aligned;" ::: "memory");
                #pragma unroll
                for (int s = 0; s < 4; s++) {
                    multiply(l, a + s * 16, b + s * 16 + 64);
                    multiply(l, a + s * 16 + 64, b + s * 16);
                }
                asm volatile("//@wgmma.commit_group.sync.aligned;" ::: "memory");
                // The high products are there, and the step before this one has been read.
                asm volatile("//@wgmma.wait_group.sync.aligned 1;" ::: "memory");
                if (now > 0 && item % 128 == 0)
                    mbarrier_arrive(empties + 8 * (stage == 0 ? 3 : stage - 1));
                // The tensor units round sums towards 0: few are added there.
                settle(h);
                #pragma unroll
                for (int i = 0; i < 64; i++)
                    c[i] += h[i];
                if (++stage == 4) {
                    stage = 0;
                    phase ^= 1;
                }
            }
            asm volatile("//@wgmma.wait_group.sync.aligned 0;" ::: "memory");
            settle(l);
            #pragma unroll
            for (int i = 0; i < 64; i++)
                c[i] += l[i] * 0x1p-11f;
        }
        const long row_0 = first_m + item / 32 * 16 + item % 32 / 4, col_0 = first_n + item % 4 * 2;
        #pragma unroll
        for (int i = 0; i < 64; i++) {
            const int e = a_exponents[row_0 + i / 2 % 2 * 8]
                    + b_exponents[col_0 + i / 4 * 8 + i % 2];
            c[i] = scaled(c[i], clamp(-e, -252, 252));
        }
    }
    // A warp puts 8 rows and 32 columns after the other into local memory, and stores them row by
    // row: columns side by side are stored at once, wherever a row begins. In which place eight
    // columns are differs from row to row, so that work-items meet in few banks.
    __local float *eight_rows = c_rows + item / 32 * 256;
    #pragma unroll
    for (int h = 0; h < 2; h++)
        #pragma unroll
        for (int j = 0; j < 16; j += 4) {
            warp_sync();
            #pragma unroll
            for (int b = 0; b < 4; b++)
                *(__local float2 *) (eight_rows + lane / 4 * 32
                        + (b ^ lane / 4 % 4) * 8 + lane % 4 * 2) =
                        (float2) (c[4 * (j + b) + 2 * h], c[4 * (j + b) + 2 * h + 1]);
            warp_sync();
            #pragma unroll
            for (int i = 0; i < 8; i++) {
                const uint r = i, column = lane;
                const long row = first_m + item / 32 * 16 + h * 8 + r;
                const long2 stored = stored_columns(row, N, triangle);
                if (row < M)
                    put_column(
                            eight_rows[r * 32 + (column / 8 ^ r % 4) * 8 + column % 8],
                            C + row * ldc, first_n + j * 8 + column, stored, alpha, beta);
            }
        }
}
