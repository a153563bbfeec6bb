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
            "bar.red.or.pred all, 1, 256, mine;\n"
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

// The sums of products that have been waited for: nothing that reads them comes sooner.
static void settle(float c[48])
{
    asm volatile("" : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]),
            "+f"(c[6]), "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]),
            "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]),
            "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]),
            "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]), "+f"(c[30]),
            "+f"(c[31]), "+f"(c[32]), "+f"(c[33]), "+f"(c[34]), "+f"(c[35]), "+f"(c[36]),
            "+f"(c[37]), "+f"(c[38]), "+f"(c[39]), "+f"(c[40]), "+f"(c[41]), "+f"(c[42]),
            "+f"(c[43]), "+f"(c[44]), "+f"(c[45]), "+f"(c[46]), "+f"(c[47]) :: "memory");
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

// c += a b, or c = a b, for 64 x 16, 16 x 96 and 64 x 96, asynchronously: a in registers, b by the
// low word of its descriptor; the high one has the stride from eight lines to the next.
static void multiply(float c[48], const uint a[4], uint b)
{
    asm volatile("//@wgmma.mma_async.sync.aligned.m64n96k16.f32.f16.f16 "
            "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "
                    "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, "
                    "%34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47}, "
            "{%48, %49, %50, %51}, %52, 1, 1, 1, 0;" :
            "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]),
                    "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]),
                    "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]),
                    "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]),
                    "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]), "+f"(c[30]),
                    "+f"(c[31]), "+f"(c[32]), "+f"(c[33]), "+f"(c[34]), "+f"(c[35]), "+f"(c[36]),
                    "+f"(c[37]), "+f"(c[38]), "+f"(c[39]), "+f"(c[40]), "+f"(c[41]), "+f"(c[42]),
                    "+f"(c[43]), "+f"(c[44]), "+f"(c[45]), "+f"(c[46]), "+f"(c[47]) :
            "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"((ulong) 128 << 32 | b));
}

static void multiply_first(float c[48], const uint a[4], uint b)
{
    asm volatile("//@wgmma.mma_async.sync.aligned.m64n96k16.f32.f16.f16 "
            "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "
                    "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, "
                    "%34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47}, "
            "{%48, %49, %50, %51}, %52, 0, 1, 1, 0;" :
            "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]),
                    "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]),
                    "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]),
                    "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]),
                    "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]), "+f"(c[30]),
                    "+f"(c[31]), "+f"(c[32]), "+f"(c[33]), "+f"(c[34]), "+f"(c[35]), "+f"(c[36]),
                    "+f"(c[37]), "+f"(c[38]), "+f"(c[39]), "+f"(c[40]), "+f"(c[41]), "+f"(c[42]),
                    "+f"(c[43]), "+f"(c[44]), "+f"(c[45]), "+f"(c[46]), "+f"(c[47]) :
            "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"((ulong) 128 << 32 | b));
}

// What work-item `lane` of the warp has.
static float of_lane(float x, uint lane)
{
    float of;
    asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;" : "=f"(of) : "f"(x), "r"(lane));
    return of;
}

// 2 to the e, which is 0 at most; below the normal numbers 0.
static float power(int e)
{
    return e < -126 ? 0 : as_float((e + 127) << 23);
}

// One work-item fetches a tile of Y.
static void fetch_y(uint to, uint full, __global const uchar *from)
{
    mbarrier_expect(full, 24576);
    fetch_bytes(to, from, 24576, full);
}

// The first row and column of a tile of C. Tiles are taken in bands of 16 rows, each column by
// column, so that work-groups that run together share rows and columns.
// The last band may have fewer rows.
static int2 origin_of_tile(uint tile, long M, long N)
{
    const uint tiles_m = ((uint) M + 95) / 96;
    const uint tiles_n = ((uint) N + 127) / 128;
    const uint band = tile / (16 * tiles_n) * 16, in_band = tile - band * tiles_n;
    const uint band_rows = min(tiles_m - band, 16U);
    const uint tile_m = band + in_band % band_rows, tile_n = in_band / band_rows;
    return (int2) (tile_m * 96, tile_n * 128);
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

// Begins to copy four elements, or one.
static void copy_float4(uint to, __global const float *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::
            "r"(to), "l"((ulong) from) : "memory");
}

static void copy_float(uint to, __global const float *from)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::
            "r"(to), "l"((ulong) from) : "memory");
}

// Begins to copy an element into local memory, or 0 where there is none.
static void copy_element(uint to, __global const float *from, bool is_there)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::
            "r"(to), "l"((ulong) from),
            "r"(is_there ? 4 : 0) : "memory");
}

// Where a k of a line is among a warp's elements, so that work-items meet in few banks.
static uint x_place(uint line, uint k)
{
    // 16 lines are side by side, first for even k; with every other pair of k their halves change
    // places.
    return (k % 2 * 32 + k / 2) * 16 + (line ^ k / 4 % 2 * 8);
}

// Brings 64 k of 16 lines, all of which are there, four elements at a time or one.
static void copy_ones(uint to, __global const float *X, long ldx)
{
    const uint lane = get_local_id(0) % 32;
    const uint line = lane % 16, k = lane / 16;
    X += k * ldx + line;
    #pragma unroll
    for (uint i = 0; i < 64; i += 2, X += 2 * ldx)
        copy_float(to + x_place(line, k + i) * 4, X);
}

static void copy_fours(uint to, __global const float *X, long ldx)
{
    const uint lane = get_local_id(0) % 32;
    const uint line = lane % 4 * 4, k = lane / 4;
    X += k * ldx + line;
    #pragma unroll
    for (uint i = 0; i < 64; i += 8, X += 8 * ldx)
        copy_float4(to + x_place(line, k + i) * 4, X);
}

// The same where `num` lines and `depth` k are there, the others become 0.
static void copy_some(uint to, __global const float *X, long ldx, int num, int depth)
{
    const uint lane = get_local_id(0) % 32;
    #pragma unroll 8
    for (uint i = 0; i < 32; i++) {
        const uint line = lane % 16, k = i * 2 + lane / 16;
        __global const float *from = X + k * ldx + line;
        const bool is_there = (int) line < num && (int) k < depth;
        copy_element(to + x_place(line, k) * 4, is_there ? from : X, is_there);
    }
}

// What a work-item cuts, as wgmma wants the left operand: for each 16 of k two k side by side of a
// line and of that 8 lines further on, then those that lie 8 k further on.
static void read_x(float2 x[16], __local const float *from)
{
    const uint lane = get_local_id(0) % 32;
    #pragma unroll
    for (uint i = 0; i < 16; i++) {
        const uint line = lane / 4 + i % 2 * 8, k = i / 2 * 8 + lane % 4 * 2;
        x[i] = (float2) (from[x_place(line, k)], from[x_place(line, k + 1)]);
    }
}

// The larger one of `most` and the size of x; no number is the largest.
static float larger(float most, float x)
{
    float both;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(both) : "f"(most), "f"(fabs(x)));
    return both;
}

// The exponent that brings the largest element of a line, of those that four work-items have, to
// 2^14 or more, below 2^15; `h` says which of the two lines. Where nothing but 0 is there, it is
// `before`. *refuses is set where the line cannot be cut: an element is infinite or no number, or
// all are so small that it takes more than a multiplication.
static int exponent_of_x(const float2 x[16], int h, int before, uint *refuses)
{
    float most = 0;
    #pragma unroll
    for (int i = h; i < 16; i += 2)
        most = larger(larger(most, x[i].x), x[i].y);
    #pragma unroll
    for (uint distance = 1; distance < 4; distance *= 2)
        most = larger(most, as_float(exchange(as_uint(most), distance)));
    const int exponent = as_uint(most) >> 23;
    if (most == 0)
        return before;
    *refuses |= exponent == 255 || exponent < 15;
    // That of the largest numbers if there is an infinity.
    return 141 - clamp(exponent, 15, 254);
}

// Pieces of what a work-item has of 16 k, and the low ones times 2^11.
static void cut_x(const float2 x[4], const int e[2], uint high[4], uint low[4])
{
    #pragma unroll
    for (int i = 0; i < 4; i++) {
        const float2 y = x[i] * as_float((e[i % 2] + 127) << 23);
        high[i] = pack_halves(y.x, y.y);
        const float2 rest = (y - unpack_halves(high[i])) * 2048;
        low[i] = pack_halves(rest.x, rest.y);
    }
}

// Cuts into halves op(X), whose lines are rows of op(A) or columns of op(B).
__kernel __attribute__((reqd_work_group_size(512, 1, 1)))
void kiln_xgemm_skinny_cuta(long lines, long depth,
        __global const float *restrict X, long x_offset, long ldx,
        __global uchar *restrict work, long at)
{
    __local uint scratch[384];
    const long padded = (lines + 95) / 96 * 96;
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
// B is stored K x N.
// For NVIDIA's compute capability 9.0.
// X is op(B), and Y is op(A), of few rows.
// A line is a column of X or a row of Y.
// Y has been cut into halves, an element y of a line into y = 2^-e (high + 2^-11 low). A work-group
// multiplies 128 lines of X with 96 of Y, 64 of k at a time. A warp group has 64 lines of X, and
// cuts them itself. Up to 3 tiles are under way: of X, each warp copies what it cuts; of Y, one
// work-item fetches the tile, and a `full` barrier says that it is there.
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void kiln_xgemm_skinny_multiply(long M, long N, long K,
        __global const float *restrict X, long x_offset, long ldx,
        __global const uchar *restrict packed_y, long packed_y_at,
        float alpha, float beta,
        __global float *restrict C, long c_offset, long ldc)
{
    __local float x_tiles[24576] __attribute__((aligned(16)));
    __local uchar y_tiles[73728] __attribute__((aligned(1024)));
    __local ulong full[3];
    const uint item = get_local_id(0), lane = item % 32;
    const uint fulls = local_address(full), x_at = local_address(x_tiles);
    const uint y_at = local_address(y_tiles);
    C += c_offset;
    const long x_lines = N, y_lines = (M + 95) / 96 * 96;
    X += x_offset;
    // Whether four elements of X may be copied at once.
    const bool x_is_aligned = (((ulong) X | (ulong) (ldx * 4)) & 15) == 0;
    // The exponents, one for each line, lie before the pieces.
    __global const int *exponents = (__global const int *) (packed_y + packed_y_at * 4);
    __global const uchar *pieces = (__global const uchar *) (exponents + y_lines);
    if (item == 0) {
        for (int s = 0; s < 3; s++)
            mbarrier_init(fulls + 8 * s, 1);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    // The barriers are used only behind the first any_worker, where all meet.
    uint stage = 0, phase = 0;
    const uint tile = get_group_id(1) * get_num_groups(0) + get_group_id(0);
    const int num = (K + 63) / 64;
    const int2 origin = origin_of_tile(tile, M, N);
    const int first_m = origin.x, first_n = origin.y;
    const long first_x = first_n, first_y = first_m;
    // Where a line of Y is not cut, no line of X is.
    uint is_plain = 0;
    for (int i = item; i < 96; i += 256)
        is_plain |= exponents[first_y + i] == 1000;
    is_plain = any_worker(is_plain);

    // The first line of the warp's, and how many are left from there on.
    const long own = first_x + item / 32 * 16;
    const int num_own = x_lines - own;
    __global const float *own_x = X + own;
    // Sums are times 2^(e of the line of Y) and 2^r, where r is the least exponent that the line of
    // X has had so far; 300, before, is more than any. A work-item has parts of two lines.
    float c[48];
    int r[2] = { is_plain ? 0 : 300, is_plain ? 0 : 300 };
    #pragma unroll
    for (int i = 0; i < 48; i++)
        c[i] = 0;
    // A step is asked for 2 steps before it is multiplied.
    for (int now = -2; now < num; now++) {
        const int t = now + 2;
        float2 x[16];
        float scale[2];
        int e[2];
        uint refuses = is_plain;
        if (now >= 0) {
            asm volatile("cp.async.wait_group 1;" ::: "memory");
            warp_sync();
            read_x(x, x_tiles + stage * 8192 + item / 32 * 1024);
            float before[2];
            #pragma unroll
            for (int h = 0; h < 2; h++) {
                e[h] = exponent_of_x(x, h, r[h], &refuses);
                const int least = is_plain ? 0 : min(r[h], e[h]);
                before[h] = power(least - r[h]);
                scale[h] = power(least - e[h]);
                r[h] = least;
            }
            if (before[0] != 1 || before[1] != 1)
                #pragma unroll
                for (int i = 0; i < 48; i++)
                    c[i] *= before[i / 2 % 2];
            // Here all have read the tile of Y before this one.
            refuses = any_worker(refuses);
        }
        if (t < num) {
            const int step = t;
            const uint next = (stage + min(t, 2)) % 3;
            if (item == 0)
                fetch_y(y_at + next * 24576, fulls + 8 * next,
                        pieces + (step * (y_lines / 8) + first_y / 8) * 2048);
            const uint x_to = x_at + (next * 128 + item / 32 * 16) * 256;
            __global const float *from = own_x + (long) step * 64 * ldx;
            const int depth = (int) K - step * 64;
            if (num_own < 16 || depth < 64)
                copy_some(x_to, from, ldx, num_own, depth);
            else if (x_is_aligned)
                copy_fours(x_to, from, ldx);
            else
                copy_ones(x_to, from, ldx);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
        if (now < 0)
            continue;
        mbarrier_wait(fulls + 8 * stage, phase);
        if (refuses) {
            __local uchar *y_tile = y_tiles + stage * 24576;
            #pragma unroll 1
            for (uint eight = item / 32; eight < 12; eight += 8) {
                const int of_y = exponents[first_y + eight * 8 + lane % 8];
                restore(y_tile + eight * 2048, eight, is_plain ? of_y : 0, lane);
            }
            asm volatile("bar.sync 2, 256;" ::: "memory");
            float sums[48];
            #pragma unroll
            for (int i = 0; i < 48; i++)
                sums[i] = 0;
            #pragma unroll
            for (int i = 0; i < 16; i++)
                x[i] *= as_float((min(r[i % 2], 126) + 127) << 23);
            #pragma unroll 1
            for (uint quarter = 0; quarter < 4; quarter++)
                #pragma unroll
                for (int i = 0; i < 16; i++) {
                    const uint k = i / 4 * 16 + i / 2 % 2 * 8 + quarter * 2 + i % 2;
                    const uint from = lane / 4 * 4 + quarter;
                    const float x_0 = of_lane(i % 2 ? x[i - 1].y : x[i].x, from);
                    const float x_1 = of_lane(i % 2 ? x[i].y : x[i + 1].x, from);
                    #pragma unroll
                    for (uint j = 0; j < 12; j++) {
                        const float2 y = *(__local const float2 *) (y_tile + j * 2048
                                + (k ^ j % 4) * 32 + lane % 4 * 8);
                        sums[4 * j] += x_0 * y.x;
                        sums[4 * j + 1] += x_0 * y.y;
                        sums[4 * j + 2] += x_1 * y.x;
                        sums[4 * j + 3] += x_1 * y.y;
                    }
                }
            #pragma unroll
            for (int i = 0; i < 48; i++)
                c[i] += sums[i];
            // What was written here is read no more when the copy engine writes.
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        } else {
            // The low word of a descriptor (PTX ISA, "matrix descriptor"): the address of the high
            // pieces, and 128 bytes from eight k to the next. The low pieces lie 1024 bytes further
            // on.
            const uint y = (y_at + stage * 24576) >> 4 | 8 << 16;
            uint high[4][4], low[4][4];
            float h[48], l[48];
            #pragma unroll
            for (int s = 0; s < 4; s++)
                cut_x(x + 4 * s, e, high[s], low[s]);
            warp_sync();
            asm volatile("//@wgmma.fence.sync.aligned;" ::: "memory");
            multiply_first(h, high[0], y);
            multiply_first(l, high[0], y + 64);
            multiply(l, low[0], y);
            #pragma unroll
            for (int s = 1; s < 4; s++) {
                multiply(h, high[s], y + s * 16);
                multiply(l, high[s], y + s * 16 + 64);
                multiply(l, low[s], y + s * 16);
            }
            asm volatile("//@wgmma.commit_group.sync.aligned;" ::: "memory");
            asm volatile("//@wgmma.wait_group.sync.aligned 0;" ::: "memory");
            settle(h);
            settle(l);
            #pragma unroll
            for (int i = 0; i < 48; i++)
                c[i] += (h[i] + l[i] * 0x1p-11f) * scale[i / 2 % 2];
        }
        if (++stage == 3) {
            stage = 0;
            phase ^= 1;
        }
    }
    if (!is_plain)
        #pragma unroll
        for (int i = 0; i < 48; i++) {
            const int both = r[i / 2 % 2] + exponents[first_y + lane % 4 * 2 + i / 4 * 8 + i % 2];
            c[i] = scaled(c[i], clamp(-both, -252, 252));
        }
    #pragma unroll
    for (int i = 0; i < 48; i++) {
        const long row = first_m + lane % 4 * 2 + i / 4 * 8 + i % 2;
        if (row < M)
            put_column(c[i], C + row * ldc, first_n + item / 32 * 16 + lane / 4 + i / 2 % 2 * 8, N,
                    alpha, beta);
    }
}
