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

// The sums of products that have been waited for: nothing that reads them comes sooner.
static void settle(float c[32])
{
    asm volatile("" : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]),
            "+f"(c[6]), "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]),
            "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]),
            "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]),
            "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]), "+f"(c[30]),
            "+f"(c[31]) :: "memory");
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

// c += a b, or c = a b, for 64 x 16, 16 x 64 and 64 x 64, asynchronously: a in registers, b by the
// low word of its descriptor; the high one has the stride from eight lines to the next.
static void multiply(float c[32], const uint a[4], uint b)
{
    asm volatile("//@wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
            "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "
                    "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
            "{%32, %33, %34, %35}, %36, 1, 1, 1, 0;" :
            "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]),
                    "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]),
                    "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]),
                    "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]),
                    "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]), "+f"(c[30]),
                    "+f"(c[31]) :
            "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"((ulong) 64 << 32 | b));
}

static void multiply_first(float c[32], const uint a[4], uint b)
{
    asm volatile("//@wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
            "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "
                    "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
            "{%32, %33, %34, %35}, %36, 0, 1, 1, 0;" :
            "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]),
                    "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]),
                    "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]),
                    "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]),
                    "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]), "+f"(c[30]),
                    "+f"(c[31]) :
            "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"((ulong) 64 << 32 | b));
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
    mbarrier_expect(full, 8192);
    fetch_bytes(to, from, 8192, full);
}

// The first row and column of a tile of C. Tiles are taken row by row.
static int2 origin_of_tile(uint tile, long M, long N)
{
    const uint tiles_n = ((uint) N + 63) / 64;
    const uint tile_m = tile / tiles_n, tile_n = tile - tile_m * tiles_n;
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
    return work + padded * 196 + (k / 32 * (padded / 8) + line / 8) * 1024
            + k % 32 / 8 * 128 + line % 8 * 16;
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
    // Eight k side by side are in another place in each of four lines.
    return line * 32 + (k / 8 ^ line % 4) * 8 + k % 8;
}

// Brings 32 k of 16 lines, all of which are there, four elements at a time or one.
static void copy_ones(uint to, __global const float *X, long ldx)
{
    const uint lane = get_local_id(0) % 32;
    const uint line = 0, k = lane;
    X += line * ldx + k;
    #pragma unroll
    for (uint i = 0; i < 16; i++, X += ldx)
        copy_float(to + x_place(line + i, k) * 4, X);
}

static void copy_fours(uint to, __global const float *X, long ldx)
{
    const uint lane = get_local_id(0) % 32;
    const uint line = lane / 8, k = lane % 8 * 4;
    X += line * ldx + k;
    #pragma unroll
    for (uint i = 0; i < 16; i += 4, X += 4 * ldx)
        copy_float4(to + x_place(line + i, k) * 4, X);
}

// The same where `num` lines and `depth` k are there, the others become 0.
static void copy_some(uint to, __global const float *X, long ldx, int num, int depth)
{
    const uint lane = get_local_id(0) % 32;
    #pragma unroll 8
    for (uint i = 0; i < 16; i++) {
        const uint line = i, k = lane;
        __global const float *from = X + line * ldx + k;
        const bool is_there = (int) line < num && (int) k < depth;
        copy_element(to + x_place(line, k) * 4, is_there ? from : X, is_there);
    }
}

// What a work-item cuts, as wgmma wants the left operand: for each 16 of k two k side by side of a
// line and of that 8 lines further on, then those that lie 8 k further on.
static void read_x(float2 x[8], __local const float *from)
{
    const uint lane = get_local_id(0) % 32;
    #pragma unroll
    for (uint i = 0; i < 8; i++) {
        const uint line = lane / 4 + i % 2 * 8, k = i / 2 * 8 + lane % 4 * 2;
        x[i] = *(__local const float2 *) (from + x_place(line, k));
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
static int exponent_of_x(const float2 x[8], int h, int before, uint *refuses)
{
    float most = 0;
    #pragma unroll
    for (int i = h; i < 8; i += 2)
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

// Looks at op(X), whose lines are rows of op(A) or columns of op(B).
__kernel __attribute__((reqd_work_group_size(512, 1, 1)))
void kiln_xgemm_skinny_lookb(long lines, long depth,
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
        const long tiles_k = (depth + 31) / 32, begin = tiles_k * part / 16 * 32;
        const long next = tiles_k * (part + 1) / 16 * 32, end = min(next, depth);
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

// Cuts into halves op(X), whose lines are rows of op(A) or columns of op(B).
__kernel __attribute__((reqd_work_group_size(512, 1, 1)))
void kiln_xgemm_skinny_cutb(long lines, long depth,
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
        const long tiles_k = (depth + 31) / 32, begin = tiles_k * part / 16 * 32;
        const long next = tiles_k * (part + 1) / 16 * 32, end = min(next, depth);
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

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored M x K.
// B is stored K x N.
// For NVIDIA's compute capability 9.0.
// X is op(A), and Y is op(B), of few columns.
// A line is a row of X or a column of Y.
// Y has been cut into halves, an element y of a line into y = 2^-e (high + 2^-11 low). A work-group
// multiplies 64 lines of X with 64 of Y, 32 of k at a time. A warp group has 64 lines of X, and
// cuts them itself. Up to 4 tiles are under way: of X, each warp copies what it cuts; of Y, one
// work-item fetches the tile, and a `full` barrier says that it is there.
// As many work-groups as run at once take tiles in turn.
// Of the tiles that do not make a whole turn, the steps are shared out evenly (stream-K, Osama et
// al. 2023); what a work-group has of such a tile is kept, to be added up later.
__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void kiln_xgemm_skinny_stream(long M, long N, long K,
        __global const float *restrict X, long x_offset, long ldx,
        __global const uchar *restrict packed_y, long packed_y_at,
        __global uchar *work, long parts_at,
        float alpha, float beta,
        __global float *restrict C, long c_offset, long ldc)
{
    __local float x_tiles[8192] __attribute__((aligned(16)));
    __local uchar y_tiles[32768] __attribute__((aligned(1024)));
    __local float c_rows[1024];
    __local ulong full[4];
    const uint item = get_local_id(0), lane = item % 32;
    const uint fulls = local_address(full), x_at = local_address(x_tiles);
    const uint y_at = local_address(y_tiles);
    C += c_offset;
    __global float *parts = (__global float *) (work + parts_at * 4) + 4 * item;
    // The first `whole` tiles are done in turns; of the rest, which are `steps` steps each, a
    // work-group takes `share` steps. A last turn that is three quarters full is a turn.
    const uint groups = get_num_groups(0);
    const uint tiles = ((uint) M + 63) / 64 * (((uint) N + 63) / 64);
    const uint in_turns = tiles / groups * groups;
    const uint whole = tiles - in_turns < groups * 3 / 4 ? in_turns : tiles;
    const uint steps = ((uint) K + 31) / 32;
    const ulong all = (ulong) (tiles - whole) * steps;
    const ulong share = (all + groups - 1) / groups;
    const ulong begin = min(get_group_id(0) * share, all), end = min(begin + share, all);
    const long x_lines = M, y_lines = (N + 63) / 64 * 64;
    X += x_offset;
    // Whether four elements of X may be copied at once.
    const bool x_is_aligned = (((ulong) X | (ulong) (ldx * 4)) & 15) == 0;
    // The exponents, one for each line, lie before the pieces.
    __global const int *exponents = (__global const int *) (packed_y + packed_y_at * 4);
    __global const uchar *pieces = (__global const uchar *) (exponents + 49 * y_lines);
    if (item == 0) {
        for (int s = 0; s < 4; s++)
            mbarrier_init(fulls + 8 * s, 1);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    // The barriers are used only behind the first any_worker, where all meet.
    uint stage = 0, phase = 0;
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
        const long first_x = first_m, first_y = first_n;
        // Where a line of Y is not cut, no line of X is.
        uint is_plain = 0;
        for (int i = item; i < 64; i += 128)
            is_plain |= exponents[first_y + i] == 1000;
        is_plain = any_worker(is_plain);

        // The first line of the warp's, and how many are left from there on.
        const long own = first_x + item / 32 * 16;
        const int num_own = x_lines - own;
        __global const float *own_x = X + own * ldx;
        // Sums are times 2^(e of the line of Y) and 2^r, where r is the least exponent that the
        // line of X has had so far; 300, before, is more than any. A work-item has parts of two
        // lines.
        float c[32];
        int r[2] = { is_plain ? 0 : 300, is_plain ? 0 : 300 };
        #pragma unroll
        for (int i = 0; i < 32; i++)
            c[i] = 0;
        // A step is asked for 3 steps before it is multiplied.
        for (int now = -3; now < num; now++) {
            const int t = now + 3;
            float2 x[8];
            float scale[2];
            int e[2];
            uint refuses = is_plain;
            if (now >= 0) {
                asm volatile("cp.async.wait_group 2;" ::: "memory");
                warp_sync();
                read_x(x, x_tiles + stage * 2048 + item / 32 * 512);
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
                    for (int i = 0; i < 32; i++)
                        c[i] *= before[i / 2 % 2];
                // Here all have read the tile of Y before this one.
                refuses = any_worker(refuses);
            }
            if (t < num) {
                const int rotated = t + rotation;
                const int step = first + rotated - (rotated < num ? 0 : num);
                const uint next = (stage + min(t, 3)) % 4;
                if (item == 0)
                    fetch_y(y_at + next * 8192, fulls + 8 * next,
                            pieces + (step * (y_lines / 8) + first_y / 8) * 1024);
                const uint x_to = x_at + (next * 64 + item / 32 * 16) * 128;
                __global const float *from = own_x + (long) step * 32;
                const int depth = (int) K - step * 32;
                if (num_own < 16 || depth < 32)
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
                __local uchar *y_tile = y_tiles + stage * 8192;
                #pragma unroll 1
                for (uint eight = item / 32; eight < 8; eight += 4) {
                    const int of_y = exponents[first_y + eight * 8 + lane % 8];
                    restore(y_tile + eight * 1024, eight, is_plain ? of_y : 0, lane);
                }
                asm volatile("bar.sync 2, 128;" ::: "memory");
                float sums[32];
                #pragma unroll
                for (int i = 0; i < 32; i++)
                    sums[i] = 0;
                #pragma unroll
                for (int i = 0; i < 8; i++)
                    x[i] *= as_float((min(r[i % 2], 126) + 127) << 23);
                #pragma unroll 1
                for (uint quarter = 0; quarter < 4; quarter++)
                    #pragma unroll
                    for (int i = 0; i < 8; i++) {
                        const uint k = i / 4 * 16 + i / 2 % 2 * 8 + quarter * 2 + i % 2;
                        const uint from = lane / 4 * 4 + quarter;
                        const float x_0 = of_lane(i % 2 ? x[i - 1].y : x[i].x, from);
                        const float x_1 = of_lane(i % 2 ? x[i].y : x[i + 1].x, from);
                        #pragma unroll
                        for (uint j = 0; j < 8; j++) {
                            const float2 y = *(__local const float2 *) (y_tile + j * 1024
                                    + (k ^ j % 4) * 32 + lane % 4 * 8);
                            sums[4 * j] += x_0 * y.x;
                            sums[4 * j + 1] += x_0 * y.y;
                            sums[4 * j + 2] += x_1 * y.x;
                            sums[4 * j + 3] += x_1 * y.y;
                        }
                    }
                #pragma unroll
                for (int i = 0; i < 32; i++)
                    c[i] += sums[i];
                // What was written here is read no more when the copy engine writes.
                asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            } else {
                // The low word of a descriptor (PTX ISA, "matrix descriptor"): the address of the
                // high pieces, and 128 bytes from eight k to the next. The low pieces lie 512 bytes
                // further on.
                const uint y = (y_at + stage * 8192) >> 4 | 8 << 16;
                uint high[2][4], low[2][4];
                float h[32], l[32];
                #pragma unroll
                for (int s = 0; s < 2; s++)
                    cut_x(x + 4 * s, e, high[s], low[s]);
                warp_sync();
                asm volatile("//@wgmma.fence.sync.aligned;" ::: "memory");
                multiply_first(h, high[0], y);
                multiply_first(l, high[0], y + 32);
                multiply(l, low[0], y);
                multiply(h, high[1], y + 16);
                multiply(l, high[1], y + 48);
                multiply(l, low[1], y + 16);
                asm volatile("//@wgmma.commit_group.sync.aligned;" ::: "memory");
                asm volatile("//@wgmma.wait_group.sync.aligned 0;" ::: "memory");
                settle(h);
                settle(l);
                #pragma unroll
                for (int i = 0; i < 32; i++)
                    c[i] += (h[i] + l[i] * 0x1p-11f) * scale[i / 2 % 2];
            }
            if (++stage == 4) {
                stage = 0;
                phase ^= 1;
            }
        }
        if (!is_plain)
            #pragma unroll
            for (int i = 0; i < 32; i++) {
                const int both = r[i / 2 % 2]
                        + exponents[first_y + lane % 4 * 2 + i / 4 * 8 + i % 2];
                c[i] = scaled(c[i], clamp(-both, -252, 252));
            }
        if (num < steps) {
            // Not all of the tile: kept for the stage that adds up. Of the two parts that a
            // work-group has room for, the second is for the tile that it has begun.
            __global float *part = parts + (2 * get_group_id(0) + (first == 0)) * 4096;
            #pragma unroll
            for (int i = 0; i < 32; i += 4)
                *(__global float4 *) (part + i * 128) = (float4) (c[i], c[i + 1], c[i + 2],
                        c[i + 3]);
            continue;
        }
        // A warp puts 8 rows and 32 columns after the other into local memory, and stores them row
        // by row: columns side by side are stored at once, wherever a row begins. In which place
        // eight columns are differs from row to row, so that work-items meet in few banks.
        __local float *eight_rows = c_rows + item / 32 * 256;
        #pragma unroll
        for (int h = 0; h < 2; h++)
            #pragma unroll
            for (int j = 0; j < 8; j += 4) {
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
                    if (row < M)
                        put_column(
                                eight_rows[r * 32 + (column / 8 ^ r % 4) * 8 + column % 8],
                                C + row * ldc, first_n + j * 8 + column, N, alpha, beta);
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
void kiln_xgemm_skinny_add(long M, long N, long K,
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
        const uint tiles = ((uint) M + 63) / 64 * (((uint) N + 63) / 64);
        const uint in_turns = tiles / groups * groups;
        const uint whole = tiles - in_turns < groups * 3 / 4 ? in_turns : tiles;
        const uint steps = ((uint) K + 31) / 32;
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
    __global const float *parts = work + parts_at + 2 * (ulong) tile_of.first_group * 4096;
    C += c_offset;
    // Where parts are few, or a tile has so much that no work-item is idle, each work-item adds up
    // all parts of its elements.
    if (num <= 8 || tile_of.adders < 8) {
        // Whether every row of C starts where 2 columns may be stored at once.
        const ulong misaligned = ((ulong) C | (ulong) (ldc * 4)) & 7;
        const bool is_aligned = misaligned == 0;
        for (uint at = tile_of.own * 256 + adder; at < 1024;
             at += tile_of.adders * 256) {
            __global const float4 *part = (__global const float4 *) parts + at;
            float4 sum = 0;
            for (uint p = 0; p < num; p += 4) {
                float4 terms[4];
                #pragma unroll
                for (int q = 0; q < 4; q++)
                    terms[q] = p + q >= num ? 0 : part[(p + q == 0 ? 1 : 2 * (p + q)) * 1024];
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
                const long row = first_m + item / 32 * 16 + item % 32 / 4 + e / 2 % 2 * 8;
                const long col = first_n + e / 4 * 8 + item % 4 * 2 + e % 2;
                if (row < M)
                    put_pair(sums_of.each[u], sums_of.each[u + 1], C + row * ldc, col,
                            N, alpha, beta, is_aligned);
            }
        }
        return;
    }
    // Of 128 reals at a time each of eight warps adds up every eighth part, 9 with loads under way
    // at once; what the warps have is then added in their order.
    for (uint at = tile_of.own; at < 32; at += tile_of.adders) {
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
            float all = 0;
            #pragma unroll
            for (int u = 0; u < 8; u++)
                all += sums[u][adder];
            const uint element = at * 128 + adder;
            const uint item = element / 4 % 128;
            const uint e = element / 512 * 4 + element % 4;
            const long row = first_m + item / 32 * 16 + item % 32 / 4 + e / 2 % 2 * 8;
            const long col = first_n + e / 4 * 8 + item % 4 * 2 + e % 2;
            if (row < M)
                put_column(all, C + row * ldc, col, N, alpha, beta);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
