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
static void multiply_64(float c[32], uint a, uint b)
{
    asm volatile("//@wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
            "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "
                    "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
            "%32, %33, 1, 1, 1, 1, 0;" :
            "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]),
                    "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]),
                    "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]),
                    "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]),
                    "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]), "+f"(c[30]),
                    "+f"(c[31]) :
            "l"((1UL << 30 | 64) << 32 | a),
            "l"((1UL << 30 | 64) << 32 | b));
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
// A is stored K x M.
// B is stored N x K.
// For NVIDIA's compute capability 9.0.
// A work-group computes 64 x 64 of C. Tiles of A and B, 64 deep, are fetched into local memory, up
// to 5 at a time, by the copy engine for one work-item. A tile's `full` barrier says that it is
// there. A warp group computes 64 x 64 of C, and says by `empty` when it has read a tile.
// The first 2 are copied by all who multiply, while the tensor maps are made.
// As many work-groups as run at once take tiles in turn.
// Of the tiles that do not make a whole turn, the steps are shared out evenly (stream-K, Osama et
// al. 2023); what a work-group has of such a tile is kept, to be added up later.
__kernel __attribute__((reqd_work_group_size(192, 1, 1)))
void kiln_hgemm_tma_stream(long M, long N, long K,
        __global const half *restrict A, long a_offset, long a_stride, long lda,
        __global const half *restrict B, long b_offset, long b_stride, long ldb,
        __global uchar *work, long maps_at, long parts_at,
        float alpha, float beta,
        __global half *restrict C, long c_offset, long c_stride, long ldc)
{
    __local uchar a_tiles[40960] __attribute__((aligned(1024)));
    __local uchar b_tiles[40960] __attribute__((aligned(1024)));
    __local ulong full[5];
    __local ulong empty[5];
    __local uint4 c_rows[128];
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
    __global float *parts = (__global float *) (work + parts_at * 4) + 4 * item;
    // The first `whole` tiles are done in turns; of the rest, which are `steps` steps each, a
    // work-group takes `share` steps. A last turn that is three quarters full is a turn.
    const uint groups = get_num_groups(0);
    const uint tiles = ((uint) M + 63) / 64 * (((uint) N + 63) / 64);
    const uint in_turns = tiles / groups * groups;
    const uint whole = tiles - in_turns < groups * 3 / 4 ? in_turns : tiles;
    const uint steps = ((uint) K + 63) / 64;
    const ulong all = (ulong) (tiles - whole) * steps;
    const ulong share = (all + groups - 1) / groups;
    const ulong begin = min(get_group_id(0) * share, all), end = min(begin + share, all);

    // The rows (columns) of a box. Lines along k that lie outside C are not fetched.
    const int box_m = 64;
    const int box_n = min(((int) N + 7) & -8, 64);
    const ulong a_map = (ulong) (work + (maps_at + member) * 256), b_map = a_map + 128;
    __local uint maps[64] __attribute__((aligned(128)));
    // Those who fetch begin with parity 1, and find all stages empty; those who multiply, with 0.
    if (item == 0) {
        for (int s = 0; s < 5; s++) {
            mbarrier_init(fulls + 8 * s, 1);
            mbarrier_init(empties + 8 * s, 1);
        }
        // The copy engine is to see the barriers as they were initialised.
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    // Those who fetch: the last 2 warps.
    if (item >= 128) {
        // One warp writes the map of A, the next that of B, to where all work-groups write the
        // same.
        const uint which = (item - 128) / 32, lane = item % 32;
        __local uint *map = maps + which * 32;
        map[lane] = 0;
        warp_sync();
        if (item == 128)
            write_map(local_address(map), (ulong) A, K, M, lda, 64, 64, 3);
        if (item == 160)
            write_map(local_address(map), (ulong) B, N, K, ldb, box_n, 64, 3);
        warp_sync();
        publish_map(a_map + which * 128, local_address(map));
        // Both maps are published before one work-item fetches by them.
        asm volatile("bar.sync 3, 64;" ::: "memory");
        // Steps of a tile before this one are fetched by those who multiply: of the first tile 2,
        // of others none.
        int early = 2;
        if (item == 128) {
            acquire_map(a_map);
            acquire_map(b_map);
            uint stage = 0, phase = 1;
            // Whole tiles in turns, then the steps from `begin` to `end` of the shared ones: of a
            // tile, `num` from its step `first` on.
            for (ulong turn = get_group_id(0), at = begin; turn < whole || at < end; ) {
                const bool is_whole = turn < whole;
                const uint nth = is_whole ? 0 : divide(at, steps);
                const uint tile = is_whole ? turn : whole + nth;
                const int first = is_whole ? 0 : at - (ulong) nth * steps;
                const int num = is_whole ? steps : min((ulong) (steps - first), end - at);
                // Steps are rotated: the first one is `rotation` steps after `first`, and is,
                // modulo `share`, the number of steps that the work-group has done. So all
                // work-groups are at the same k, modulo `share`, and find in the cache what others
                // have read. What would begin behind the `num` steps is not rotated.
                const uint done = at - begin, period = share;
                const uint shift = is_whole ? 0 : (done + period - (uint) first % period) % period;
                const int rotation = shift < num ? shift : 0;
                turn += groups;
                at += is_whole ? 0 : num;
                const int2 origin = origin_of_tile(tile, M, N);
                const int first_m = origin.x, first_n = origin.y;
                for (int t = 0; t < num; t++) {
                    if (t >= early) {
                        mbarrier_wait(empties + 8 * stage, phase);
                        const int rotated = t + rotation;
                        const int step = first + rotated - (rotated < num ? 0 : num);
                        const uint mbarrier = fulls + 8 * stage;
                        const int k = step * 64;
                        mbarrier_expect(mbarrier, (box_m + box_n) * 128);
                        fetch_box(a_at + stage * 8192, a_map, first_m, k, mbarrier);
                        fetch_box(b_at + stage * 8192, b_map, k, first_n, mbarrier);
                    }
                    if (++stage == 5) {
                        stage = 0;
                        phase ^= 1;
                    }
                }
                early = 0;
            }
        }
        return;
    }
    // Those who multiply fetch the first steps, while the tensor maps are made.
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
        const int early = min(num, 2);
        for (int t = 0; t < early; t++) {
            const int rotated = t + rotation;
            const int step = first + rotated - (rotated < num ? 0 : num);
            const int k = step * 64;
            for (uint i = item; i < 512; i += 128) {
                const uint line = i / 8, x = i % 8;
                const uint to = swizzled(line, x, 8);
                fetch_chunk(a_at + t * 8192 + to, A, K, M, lda, k + line, first_m + x * 8);
            }
            for (uint i = item; i < 512; i += 128) {
                const uint line = i / 8, x = i % 8;
                const uint to = swizzled(line, x, 8);
                fetch_chunk(b_at + t * 8192 + to, B, N, K, ldb, first_n + line, k + x * 8);
            }
            mbarrier_arrive_later(fulls + 8 * t);
        }
        // `full` waits for one arrival, and for each that was added above. So the one comes last,
        // when all have added theirs.
        asm volatile("bar.sync 2, 128;" ::: "memory");
        if (item == 0)
            for (int s = 0; s < early; s++)
                mbarrier_arrive(fulls + 8 * s);
        // Of the first tile alone.
        break;
    }
    // Those who multiply: the first 4 warps.
    uint stage = 0, phase = 0;
    const uint group = uniform(item / 128);
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
        float c[32];
        #pragma unroll
        for (int i = 0; i < 32; i++)
            c[i] = 0;
        for (int now = 0; now < num; now++) {
            // The low words of descriptors (PTX ISA, "matrix descriptor"), in units of 16 bytes:
            // the address of a tile, and above it the leading dimension's stride. That is the
            // distance from 64 rows of A to the next; of B, whose lines lie along k, it is not
            // used.
            const uint a = (a_at + stage * 8192 + group * 8192) >> 4 | 512 << 16;
            const uint b = (b_at + stage * 8192) >> 4 | 1 << 16;
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
                multiply_64(c, a + s * 128, b + s * 2);
            asm volatile("//@wgmma.commit_group.sync.aligned;" ::: "memory");
            // The products of the step before are done: its tiles have been read.
            asm volatile("//@wgmma.wait_group.sync.aligned 1;" ::: "memory");
            if (now > 0 && item % 128 == 0)
                mbarrier_arrive(empties + 8 * (stage == 0 ? 4 : stage - 1));
            if (++stage == 5) {
                stage = 0;
                phase ^= 1;
            }
        }
        asm volatile("//@wgmma.wait_group.sync.aligned 0;" ::: "memory");
        if (num > 0 && item % 128 == 0)
            mbarrier_arrive(empties + 8 * (stage == 0 ? 4 : stage - 1));
        if (num < steps) {
            // Not all of the tile: kept for the stage that adds up. Of the two parts that a
            // work-group has room for, the second is for the tile that it has begun.
            __global float *part = parts + (2 * get_group_id(0) + (first == 0)) * 4096;
            #pragma unroll
            for (int i = 0; i < 32; i += 4)
                *(__global float4 *) (part + i * 128) =
                        (float4) (c[i], c[i + 1], c[i + 2], c[i + 3]);
            continue;
        }
        // C of this member of a batch. The member is asked for anew: kept until now, the place
        // would take registers while tiles are multiplied.
        __global half *const own = C + member_of_batch() * c_stride;
        #pragma unroll
        for (int h = 0; h < 2; h++) {
            const long row_0 = first_m + item / 32 * 16 + h * 8, row = row_0 + item % 32 / 4;
            #pragma unroll
            for (int j = 0; j < 2; j++) {
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
                // Where rows of C begin anywhere: a row after the other, by 32 work-items side by
                // side.
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
}

// Adds up what work-groups have of a tile that none did alone, and stores it. What a work-item of
// theirs has lies in pieces of 16 bytes, each beside those of the other work-items.
// A work-group that multiplies has room for two parts of tiles, of 4096 numbers each: the second is
// for the tile whose first step it has done, the first for one that another has begun. So, of the
// parts of a tile, that of the work-group that began it is a second one, all others are first ones.
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void kiln_hgemm_tma_add(long M, long N, long K,
        __global const float *restrict work, long parts_at,
        float alpha, float beta,
        __global half *restrict C, long c_offset, long ldc)
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
        const uint steps = ((uint) K + 63) / 64;
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
        const ulong misaligned = ((ulong) C | (ulong) (ldc * 2)) & 3;
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
