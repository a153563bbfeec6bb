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

// The first row and column of a tile of C. Tiles are taken in bands of 8 rows, each column by
// column, so that work-groups that run together share rows and columns.
// The last band may have fewer rows.
static int2 origin_of_tile(uint tile, long M, long N)
{
    const uint tiles_m = ((uint) M + 15) / 16;
    const uint tiles_n = ((uint) N + 63) / 64;
    const uint band = tile / (8 * tiles_n) * 8, in_band = tile - band * tiles_n;
    const uint band_rows = min(tiles_m - band, 8U);
    const uint tile_m = band + in_band % band_rows, tile_n = in_band / band_rows;
    return (int2) (tile_m * 16, tile_n * 64);
}

// C = alpha x + beta C for column `col` of the row `out`, if C has it.
static void put_column(float x, __global half *out, long col, long N, float alpha, float beta)
{
    if (col < N)
        store(beta == 0 ? alpha * x : alpha * x + beta * load(out + col), out + col);
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
// B is stored N x K.
// For NVIDIA's compute capability 9.0.
// A work-group computes 16 x 64 of C. Tiles of A and B, 64 deep, are fetched into local memory, up
// to 12 at a time, by the copy engine for one work-item. A tile's `full` barrier says that it is
// there. A warp computes 16 x 16 of C, and says by `empty` when it has read a tile.
// The first 2 are copied by all who multiply, while the tensor maps are made.
__kernel __attribute__((reqd_work_group_size(192, 1, 1)))
void kiln_hgemm_tma_multiply(long M, long N, long K,
        __global const half *restrict A, long a_offset, long a_stride, long lda,
        __global const half *restrict B, long b_offset, long b_stride, long ldb,
        __global uchar *work, long maps_at, long parts_at,
        float alpha, float beta,
        __global half *restrict C, long c_offset, long c_stride, long ldc)
{
    __local uchar a_tiles[24576] __attribute__((aligned(1024)));
    __local uchar b_tiles[98304] __attribute__((aligned(1024)));
    __local ulong full[12];
    __local ulong empty[12];
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
    const int box_m = min(((int) M + 7) & -8, 16);
    const int box_n = min(((int) N + 7) & -8, 64);
    const ulong a_map = (ulong) (work + (maps_at + member) * 256), b_map = a_map + 128;
    __local uint maps[64] __attribute__((aligned(128)));
    // Those who fetch begin with parity 1, and find all stages empty; those who multiply, with 0.
    if (item == 0) {
        for (int s = 0; s < 12; s++) {
            mbarrier_init(fulls + 8 * s, 1);
            mbarrier_init(empties + 8 * s, 4);
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
            write_map(local_address(map), (ulong) A, M, K, lda, box_m, 64, 3);
        if (item == 160)
            write_map(local_address(map), (ulong) B, N, K, ldb, box_n, 64, 3);
        warp_sync();
        publish_map(a_map + which * 128, local_address(map));
        // Both maps are published before one work-item fetches by them.
        asm volatile("bar.sync 3, 64;" ::: "memory");
        // Steps before this one are fetched by those who multiply.
        const int early = 2;
        if (item == 128) {
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
                    fetch_box(a_at + stage * 2048, a_map, k, first_m, mbarrier);
                    fetch_box(b_at + stage * 8192, b_map, k, first_n, mbarrier);
                }
                if (++stage == 12) {
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
            for (uint i = item; i < 128; i += 128) {
                const uint line = i / 8, x = i % 8;
                const uint to = swizzled(line, x, 8);
                fetch_chunk(a_at + t * 2048 + to, A, M, K, lda, first_m + line, k + x * 8);
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
    }
    // Those who multiply: the first 4 warps.
    uint stage = 0, phase = 0;
    const uint warp = item / 32, lane = item % 32;
    const uint tile = get_group_id(1) * get_num_groups(0) + get_group_id(0);
    const int num = (K + 63) / 64;
    const int2 origin = origin_of_tile(tile, M, N);
    const int first_m = origin.x, first_n = origin.y;
    const uint lane_m = lane / 4, lane_k = lane % 4;
    const uint lane_r = lane_m;
    const uint warp_m = 0, warp_n = warp * 16;
    float c[1][2][4];
    #pragma unroll
    for (int j = 0; j < 2; j++)
        #pragma unroll
        for (int e = 0; e < 4; e++)
            c[0][j][e] = 0;
    uint as0[1][4], bs0[1][4];
    for (int now = 0; now < num; now++) {
        mbarrier_wait(fulls + 8 * stage, phase);
        // Hands back the stage of the step before, which is not done sooner: what is read from
        // local memory has surely arrived only when it has been multiplied.
        warp_sync();
        if (now > 0 && lane == 0)
            mbarrier_arrive(empties + 8 * (stage == 0 ? 11 : stage - 1));
        const uint a_tile = a_at + stage * 2048, b_tile = b_at + stage * 8192;
        #pragma unroll
        for (int s = 0; s < 4; s++) {
            // The s-th part of the tiles' k into fragments.
            // Sixteen values of k of the tile. Blocks of 8 x 8 are read four at once: work-item l
            // says where line l % 8 of block l / 8 is.
            {
                const uint line = warp_m + lane % 16, x = s * 2 + lane / 16;
                load_blocks(as0[0], a_tile + swizzled(line, x, 8));
            }
            {
                const uint line = warp_n + lane / 16 * 8 + lane % 8, x = s * 2 + lane / 8 % 2;
                load_blocks(bs0[0], b_tile + swizzled(line, x, 8));
            }
            #pragma unroll
            for (int j = 0; j < 2; j++)
                multiply_blocks(c[0][j], as0[0], bs0[j / 2] + j % 2 * 2);
        }
        if (++stage == 12) {
            stage = 0;
            phase ^= 1;
        }
    }
    // C of this member of a batch. The member is asked for anew: kept until now, the place would
    // take registers while tiles are multiplied.
    __global half *const own = C + member_of_batch() * c_stride;
    #pragma unroll
    for (int h = 0; h < 2; h++) {
        const long row = first_m + warp_m + h * 8 + lane_r;
        if (row >= M)
            break;
        __global half *out = own + row * ldc;
        #pragma unroll
        for (int j = 0; j < 2; j++) {
            const long col = first_n + warp_n + j * 8 + lane_k * 2;
            put_pair(c[0][j][2 * h], c[0][j][2 * h + 1], out, col, N, alpha, beta, is_aligned);
        }
    }
}
