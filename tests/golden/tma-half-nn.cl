// Elements of half are computed with as float. A product and a sum are fused where the device does
// that in one step: FP_CONTRACT, on by default, allows it.
static float load(__global const half *p)
{
    return vload_half(0, p);
}

static void store(float x, __global half *p)
{
    vstore_half(x, 0, p);
}

// NVIDIA's instructions, as the PTX ISA names them. What only sm_90a has is masked as a comment;
// the mask is taken from the PTX that this is compiled to.

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

// An element, and 16 bytes of them, as they are copied.
typedef ushort element_bits;
typedef ushort8 chunk;

// 16 bytes from where an element is, out of the one or two aligned chunks that they lie in.
static uint4 load_anywhere(__global const element_bits *from)
{
    const uint at = (ulong) from % 16;
    __global const uint4 *chunks = (__global const uint4 *) ((ulong) from - at);
    const uint4 low = chunks[0], high = at > 0 ? chunks[1] : (uint4) 0;
    uint4 x = at & 8 ? (uint4) (low.zw, high.xy) : low;
    uint2 next = at & 8 ? high.zw : high.xy;
    x = at & 4 ? (uint4) (x.yzw, next.x) : x;
    next.x = at & 4 ? next.y : next.x;
    x = at & 2 ? x >> 16 | (uint4) (x.yzw, next.x) << 16 : x;
    return x;
}

// All work-items copy a matrix so that its rows start at multiples of 16 bytes, a chunk at a time.
// What pads the rows is undefined.
static void copy_matrix(long rows, long cols, __global const element_bits *X, long ldx,
        __global element_bits *out)
{
    const ulong each = (cols + 7) / 8;
    for (ulong i = get_global_id(0); i < rows * each; i += get_global_size(0)) {
        const long row = divide(i, each), col = (i - row * each) * 8, last = cols - 1 - col;
        __global const element_bits *from = X + row * ldx + col;
        uint4 x;
        // Elements are copied one by one where a chunk may lie beyond the last of all.
        if (last >= 15 || (row + 1 < rows && cols >= 16))
            x = load_anywhere(from);
        else
            x = as_uint4((chunk) (from[min(0L, last)], from[min(1L, last)], from[min(2L, last)],
                    from[min(3L, last)], from[min(4L, last)], from[min(5L, last)],
                    from[min(6L, last)], from[min(7L, last)]));
        ((__global uint4 *) out)[i] = x;
    }
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

// Arrives when what this work-item has begun to copy by fetch_chunk is there. The barrier's phase
// waits for it beside the arrivals that the barrier was initialised for.
static void mbarrier_arrive_later(uint mbarrier)
{
    asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" :: "r"(mbarrier) : "memory");
}

// Writes a tensor map (PTX ISA, "tensor-map"), through which tiles are fetched. The matrix has
// `rows` x `cols` elements, its rows `ld` apart; a box is what one fetch copies. `swizzle` is 3, 2,
// 1 or 0 for boxes whose columns are 128, 64, 32 or any number of bytes. `map` is in local memory,
// all zero.
static void write_map(uint map, ulong address, long rows, long cols, long ld, uint box_rows,
        uint box_cols, uint swizzle)
{
    asm volatile("//@tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::
            "r"(map), "l"(address) : "memory");
    asm volatile("//@tensormap.replace.tile.rank.shared::cta.b1024.b32 [%0], 1;" ::
            "r"(map) : "memory");
    asm volatile("//@tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 0, %1;" ::
            "r"(map), "r"(box_cols) : "memory");
    asm volatile("//@tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 1, %1;" ::
            "r"(map), "r"(box_rows) : "memory");
    asm volatile("//@tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 0, %1;" ::
            "r"(map), "r"((uint) cols) : "memory");
    asm volatile("//@tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %1;" ::
            "r"(map), "r"((uint) rows) : "memory");
    asm volatile("//@tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], 0, %1;" ::
            "r"(map), "l"(ld * 2) : "memory");
    asm volatile("//@tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], 0, 1;" ::
            "r"(map) : "memory");
    asm volatile("//@tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], 1, 1;" ::
            "r"(map) : "memory");
    asm volatile("//@tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%0], 6;" ::
            "r"(map) : "memory");
    asm volatile("//@tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%0], 0;" ::
            "r"(map) : "memory");
    if (swizzle == 0)
        asm volatile("//@tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%0], "
                "0;" :: "r"(map) : "memory");
    if (swizzle == 1)
        asm volatile("//@tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%0], "
                "1;" :: "r"(map) : "memory");
    if (swizzle == 2)
        asm volatile("//@tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%0], "
                "2;" :: "r"(map) : "memory");
    if (swizzle == 3)
        asm volatile("//@tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%0], "
                "3;" :: "r"(map) : "memory");
    asm volatile("//@tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%0], 0;" ::
            "r"(map) : "memory");
}

// Copies a tensor map from local memory to where fetches find it. All of a warp take part.
static void publish_map(ulong to, uint map)
{
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu"
            ".sync.aligned [%0], [%1], 128;" :: "l"(to), "r"(map) : "memory");
}

// What work-groups have written of a tensor map is seen by the fetches that follow.
static void acquire_map(ulong map)
{
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" :: "l"(map) : "memory");
}

// Copies 16 bytes at (row, col) of a matrix into local memory; what lies outside the matrix is 0.
static void fetch_chunk(uint to, __global const half *X, long rows, long cols, long ld, long row,
        long col)
{
    const uint bytes = row < rows ? clamp((cols - col) * 2, 0L, 16L) : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::
            "r"(to), "l"((ulong) (X + row * ld + col)), "r"(bytes) : "memory");
}

// Copies the box at (x, y) of a tensor map into local memory; what lies outside the matrix is 0.
static void fetch_box(uint to, ulong map, int x, int y, uint mbarrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
            "[%0], [%1, {%2, %3}], [%4];" ::
            "r"(to), "l"(map), "r"(x), "r"(y), "r"(mbarrier) : "memory");
}

// Where the x-th 16 bytes of a line are, in boxes whose lines have `part` (2, 4 or 8) times 16
// bytes; boxes side by side have 64 lines. Of eight lines in a row the pieces of a column lie in
// different banks. The copy engine's swizzle is the same.
static uint swizzled(uint line, uint x, uint part)
{
    return (x / part * part * 64 + line * part + (x % part ^ line % 8 / (8 / part))) * 16;
}

// What all work-items of a warp have alike; the compiler then knows that they do.
static uint uniform(uint x)
{
    uint first;
    asm("shfl.sync.idx.b32 %0, %1, 0, 31, 0xffffffff;" : "=r"(first) : "r"(x));
    return first;
}

// c += a b for 64 x 16, 16 x n and 64 x n, asynchronously, by the low words of descriptors of a and
// b; the high words have the stride from eight lines to the next, in units of 16 bytes, and in
// their two highest bits the swizzle: 1, 2 or 3 for 128, 64 or 32 bytes.
static void multiply_128(float c[64], uint a, uint b)
{
    asm volatile("//@wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
            "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "
                    "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, "
                    "%34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, "
                    "%49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
            "%64, %65, 1, 1, 1, 0, 1;" :
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
            "l"((1UL << 30 | 64) << 32 | a),
            "l"((1UL << 30 | 64) << 32 | b));
}

// The first row and column of a tile of C. Tiles are taken in bands of 8 rows, each column by
// column, so that work-groups that run together share rows and columns.
// The last band may have fewer rows.
static int2 origin_of_tile(uint tile, long M, long N)
{
    const uint tiles_m = ((uint) M + 127) / 128;
    const uint tiles_n = ((uint) N + 127) / 128;
    const uint band = tile / (8 * tiles_n) * 8, in_band = tile - band * tiles_n;
    const uint band_rows = min(tiles_m - band, 8U);
    const uint tile_m = band + in_band % band_rows, tile_n = in_band / band_rows;
    return (int2) (tile_m * 128, tile_n * 128);
}

// C = alpha x + beta C for column `col` of the row `out`, if C has it.
static void put_column(float x, __global half *out, long col, long N, float alpha, float beta)
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

// Transposes a square across four work-items, which are `apart` lanes apart: x[i] of the j-th
// becomes x[j] of the i-th.
static void transpose_four(uint x[4], uint j, uint apart)
{
    #pragma unroll
    for (int i = 0; i < 4; i += 2) {
        const uint other = exchange(j & 1 ? x[i] : x[i + 1], apart);
        x[i] = j & 1 ? other : x[i];
        x[i + 1] = j & 1 ? x[i + 1] : other;
    }
    #pragma unroll
    for (int i = 0; i < 2; i++) {
        const uint other = exchange(j & 2 ? x[i] : x[i + 2], 2 * apart);
        x[i] = j & 2 ? other : x[i];
        x[i + 2] = j & 2 ? x[i + 2] : other;
    }
}

// Two halves as a word, each rounded to the nearest.
static uint pack_halves(float low, float high)
{
    uint both;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}

// The same for two columns side by side; `whole`: they are at a multiple of their size.
static void put_pair(float x, float y, __global half *out, long col,
        long N, float alpha, float beta, bool whole)
{
    if (!whole || col + 1 >= N) {
        put_column(x, out, col, N, alpha, beta);
        put_column(y, out, col + 1, N, alpha, beta);
        return;
    }
    float2 z = alpha * (float2) (x, y);
    if (beta != 0) {
        const uint both = *(__global uint *) (out + col);
        z += beta * vload_half2(0, (const half *) &both);
    }
    *(__global uint *) (out + col) = pack_halves(z.x, z.y);
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void kiln_hgemm_tma_copy(long a_rows, long a_cols,
        __global const element_bits *restrict A, long a_offset, long lda,
        __global uchar *restrict a_work, long a_at, long b_rows, long b_cols,
        __global const element_bits *restrict B, long b_offset, long ldb,
        __global uchar *restrict b_work, long b_at)
{
    copy_matrix(a_rows, a_cols, A + a_offset, lda, (__global element_bits *) a_work + a_at);
    copy_matrix(b_rows, b_cols, B + b_offset, ldb, (__global element_bits *) b_work + b_at);
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void kiln_hgemm_tma_copya(long rows, long cols,
        __global const element_bits *restrict X, long x_offset, long ldx,
        __global uchar *restrict work, long at)
{
    copy_matrix(rows, cols, X + x_offset, ldx, (__global element_bits *) work + at);
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void kiln_hgemm_tma_copyb(long rows, long cols,
        __global const element_bits *restrict X, long x_offset, long ldx,
        __global uchar *restrict work, long at)
{
    copy_matrix(rows, cols, X + x_offset, ldx, (__global element_bits *) work + at);
}

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored M x K.
// B is stored K x N.
// For NVIDIA's compute capability 9.0.
// A work-group computes 128 x 128 of C. Tiles of A and B, 64 deep, are fetched into local memory,
// up to 6 at a time, by the copy engine for one work-item. A tile's `full` barrier says that it is
// there. A warp group computes 64 x 128 of C, and says by `empty` when it has read a tile.
// The first 2 are copied by all who multiply, while the tensor maps are made.
__kernel __attribute__((reqd_work_group_size(320, 1, 1)))
void kiln_hgemm_tma_multiply(long M, long N, long K,
        __global const half *restrict A, long a_offset, long a_stride, long lda,
        __global const half *restrict B, long b_offset, long b_stride, long ldb,
        __global uchar *work, long maps_at, long parts_at,
        float alpha, float beta,
        __global half *restrict C, long c_offset, long c_stride, long ldc)
{
    __local uchar a_tiles[98304] __attribute__((aligned(1024)));
    __local uchar b_tiles[98304] __attribute__((aligned(1024)));
    __local ulong full[6];
    __local ulong empty[6];
    __local uint4 c_rows[256];
    const uint item = get_local_id(0);
    const uint fulls = local_address(full);
    const uint a_at = local_address(a_tiles), b_at = local_address(b_tiles);
    const uint empties = local_address(empty);
    const long member = member_of_batch();
    A += a_offset + member * a_stride;
    B += b_offset + member * b_stride;
    C += c_offset;
    // Whether every row of C starts where 8 columns may be stored at once.
    const ulong misaligned = ((ulong) (C + member * c_stride) | (ulong) (ldc * 2)) & 15;
    const bool is_aligned = misaligned == 0;

    // The rows (columns) of a box. Lines along k that lie outside C are not fetched.
    const int box_m = min(((int) M + 7) & -8, 128);
    const int box_n = 128;
    const ulong a_map = (ulong) (work + (maps_at + member) * 256), b_map = a_map + 128;
    __local uint maps[64] __attribute__((aligned(128)));
    // Those who fetch begin with parity 1, and find all stages empty; those who multiply, with 0.
    if (item == 0) {
        for (int s = 0; s < 6; s++) {
            mbarrier_init(fulls + 8 * s, 1);
            mbarrier_init(empties + 8 * s, 2);
        }
        // The copy engine is to see the barriers as they were initialised.
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    // Those who fetch: the last 2 warps.
    if (item >= 256) {
        // One warp writes the map of A, the next that of B, to where all work-groups write the
        // same.
        const uint which = (item - 256) / 32, lane = item % 32;
        __local uint *map = maps + which * 32;
        map[lane] = 0;
        warp_sync();
        if (item == 256)
            write_map(local_address(map), (ulong) A, M, K, lda, box_m, 64, 3);
        if (item == 288)
            write_map(local_address(map), (ulong) B, K, N, ldb, 64, 64, 3);
        warp_sync();
        publish_map(a_map + which * 128, local_address(map));
        // Both maps are published before one work-item fetches by them.
        asm volatile("bar.sync 3, 64;" ::: "memory");
        // Steps before this one are fetched by those who multiply.
        const int early = 2;
        if (item == 256) {
            acquire_map(a_map);
            acquire_map(b_map);
            uint stage = 0, phase = 1;
            const uint tile = get_group_id(1) * get_num_groups(0) + get_group_id(0);
            const int num = (K + 63) / 64;
            const int2 origin = origin_of_tile(tile, M, N);
            const int first_m = origin.x, first_n = origin.y;
            for (int t = 0; t < num; t++) {
                if (t >= early) {
                    mbarrier_wait(empties + 8 * stage, phase);
                    const int step = t;
                    const uint mbarrier = fulls + 8 * stage;
                    const int k = step * 64;
                    mbarrier_expect(mbarrier, (box_m + box_n) * 128);
                    fetch_box(a_at + stage * 16384, a_map, k, first_m, mbarrier);
                    for (int x = 0; x < 128; x += 64)
                        fetch_box(b_at + stage * 16384 + x * 128, b_map, first_n + x, k, mbarrier);
                }
                if (++stage == 6) {
                    stage = 0;
                    phase ^= 1;
                }
            }
        }
        return;
    }
    {
        // Those who multiply fetch the first steps, while the tensor maps are made.
        const uint tile = get_group_id(1) * get_num_groups(0) + get_group_id(0);
        const int num = (K + 63) / 64;
        const int2 origin = origin_of_tile(tile, M, N);
        const int first_m = origin.x, first_n = origin.y;
        const int early = min(num, 2);
        for (int t = 0; t < early; t++) {
            const int step = t;
            const int k = step * 64;
            for (uint i = item; i < 1024; i += 256) {
                const uint line = i / 8, x = i % 8;
                const uint to = swizzled(line, x, 8);
                fetch_chunk(a_at + t * 16384 + to, A, M, K, lda, first_m + line, k + x * 8);
            }
            for (uint i = item; i < 1024; i += 256) {
                const uint line = i / 16, x = i % 16;
                const uint to = swizzled(line, x, 8);
                fetch_chunk(b_at + t * 16384 + to, B, K, N, ldb, k + line, first_n + x * 8);
            }
            mbarrier_arrive_later(fulls + 8 * t);
        }
        // `full` waits for one arrival, and for each that was added above. So the one comes last,
        // when all have added theirs.
        asm volatile("bar.sync 2, 256;" ::: "memory");
        if (item == 0)
            for (int s = 0; s < early; s++)
                mbarrier_arrive(fulls + 8 * s);
    }
    // Those who multiply: the first 8 warps.
    uint stage = 0, phase = 0;
    const uint group = uniform(item / 128);
    const uint tile = get_group_id(1) * get_num_groups(0) + get_group_id(0);
    const int num = (K + 63) / 64;
    const int2 origin = origin_of_tile(tile, M, N);
    const int first_m = origin.x, first_n = origin.y;
    float c[64];
    #pragma unroll
    for (int i = 0; i < 64; i++)
        c[i] = 0;
    for (int now = 0; now < num; now++) {
        // The low words of descriptors (PTX ISA, "matrix descriptor"), in units of 16 bytes: the
        // address of a tile, and above it the leading dimension's stride. That is the distance from
        // 64 columns of B to the next; of A, whose lines lie along k, it is not used.
        const uint a = (a_at + stage * 16384 + group * 8192) >> 4 | 1 << 16;
        const uint b = (b_at + stage * 16384) >> 4 | 512 << 16;
        mbarrier_wait(fulls + 8 * stage, phase);
        // The tensor cores read by the asynchronous proxy, and are to see what work-items have
        // copied.
        if (now < 2)
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        warp_sync();
        asm volatile("//@wgmma.fence.sync.aligned;" ::: "memory");
        // The next 16 k are 32 bytes further on in a line, or 16 lines further on.
        #pragma unroll
        for (int s = 0; s < 4; s++)
            multiply_128(c, a + s * 2, b + s * 128);
        asm volatile("//@wgmma.commit_group.sync.aligned;" ::: "memory");
        // The products of the step before are done: its tiles have been read.
        asm volatile("//@wgmma.wait_group.sync.aligned 1;" ::: "memory");
        if (now > 0 && item % 128 == 0)
            mbarrier_arrive(empties + 8 * (stage == 0 ? 5 : stage - 1));
        if (++stage == 6) {
            stage = 0;
            phase ^= 1;
        }
    }
    asm volatile("//@wgmma.wait_group.sync.aligned 0;" ::: "memory");
    // C of this member of a batch. The member is asked for anew: kept until now, the place would
    // take registers while tiles are multiplied.
    __global half *const own = C + member_of_batch() * c_stride;
    #pragma unroll
    for (int h = 0; h < 2; h++) {
        const long row_0 = first_m + item / 32 * 16 + h * 8, row = row_0 + item % 32 / 4;
        #pragma unroll
        for (int j = 0; j < 4; j++) {
            // Four blocks of 8 columns, of each of which a work-item has two.
            const long block = first_n + j * 32;
            if (beta != 0) {
                if (row < M)
                    #pragma unroll
                    for (int b = 0; b < 4; b++)
                        put_pair(c[(4 * j + b) * 4 + 2 * h], c[(4 * j + b) * 4 + 2 * h + 1],
                                own + row * ldc, block + b * 8 + item % 4 * 2, N, alpha, beta,
                                is_aligned);
                continue;
            }
            // Four neighbours exchange: each then has eight columns side by side of one of the
            // blocks.
            uint x[4];
            #pragma unroll
            for (int b = 0; b < 4; b++)
                x[b] = pack_halves(alpha * c[(4 * j + b) * 4 + 2 * h],
                        alpha * c[(4 * j + b) * 4 + 2 * h + 1]);
            transpose_four(x, item % 4, 1);
            if (is_aligned && block + 31 < N) {
                if (row < M)
                    *(__global uint4 *) (own + row * ldc + block + item % 4 * 8) =
                            (uint4) (x[0], x[1], x[2], x[3]);
                continue;
            }
            // Where rows of C begin anywhere: a row after the other, by 32 work-items side by side.
            warp_sync();
            c_rows[item] = (uint4) (x[0], x[1], x[2], x[3]);
            warp_sync();
            __local const ushort *from = (__local const ushort *) (c_rows + item / 32 * 32)
                    + item % 32;
            if (block + item % 32 < N)
                #pragma unroll
                for (int r = 0; r < 8; r++)
                    if (row_0 + r < M)
                        *((__global ushort *) own + (row_0 + r) * ldc + block + item % 32) =
                                from[r * 32];
        }
    }
}
