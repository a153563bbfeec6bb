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
typedef uint element_bits;
typedef uint4 chunk;

// 16 bytes from where an element is, out of the one or two aligned chunks that they lie in.
static uint4 load_anywhere(__global const element_bits *from)
{
    const uint at = (ulong) from % 16;
    __global const uint4 *chunks = (__global const uint4 *) ((ulong) from - at);
    const uint4 low = chunks[0], high = at > 0 ? chunks[1] : (uint4) 0;
    uint4 x = at & 8 ? (uint4) (low.zw, high.xy) : low;
    uint2 next = at & 8 ? high.zw : high.xy;
    x = at & 4 ? (uint4) (x.yzw, next.x) : x;
    return x;
}

// All work-items copy a matrix so that its rows start at multiples of 16 bytes, a chunk at a time.
// What pads the rows is undefined.
static void copy_matrix(long rows, long cols, __global const element_bits *X, long ldx,
        __global element_bits *out)
{
    const ulong each = (cols + 3) / 4;
    for (ulong i = get_global_id(0); i < rows * each; i += get_global_size(0)) {
        const long row = divide(i, each), col = (i - row * each) * 4, last = cols - 1 - col;
        __global const element_bits *from = X + row * ldx + col;
        uint4 x;
        // Elements are copied one by one where a chunk may lie beyond the last of all.
        if (last >= 7 || (row + 1 < rows && cols >= 8))
            x = load_anywhere(from);
        else
            x = as_uint4((chunk) (from[min(0L, last)], from[min(1L, last)], from[min(2L, last)],
                    from[min(3L, last)]));
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
            "r"(map), "l"(ld * 4) : "memory");
    asm volatile("//@tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], 0, 1;" ::
            "r"(map) : "memory");
    asm volatile("//@tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], 1, 1;" ::
            "r"(map) : "memory");
    asm volatile("//@tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%0], 7;" ::
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

// Copies the box at (x, y) of a tensor map into local memory; what lies outside the matrix is 0.
static void fetch_box(uint to, ulong map, int x, int y, uint mbarrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
            "[%0], [%1, {%2, %3}], [%4];" ::
            "r"(to), "l"(map), "r"(x), "r"(y), "r"(mbarrier) : "memory");
}

// Transposes 32 or 64 rows of 32 values of k in their place, by 128 work-items. Before, row r is a
// line of 128 bytes, in which the q-th four values of k are at q ^ r % 8, as the copy engine puts
// them; then, each k has a line, in which the g-th four rows are at g ^ k / 4. Either way no two
// work-items that read or write together meet in a bank.
static void transpose_block(__local uchar *tile, uint rows, uint i)
{
    const uint q = i % 8, g = i / 8;
    __local const uchar *from = tile + g * 512;
    __local uchar *to = tile + q * 16 * rows + (g ^ q) * 16;
    const bool has_block = g < rows / 4;
    float4 x[4];
    if (has_block)
        #pragma unroll
        for (int r = 0; r < 4; r++)
            x[r] = *(__local const float4 *) (from + r * 128 + (q ^ (g % 2 * 4 + r)) * 16);
    warp_sync();
    // All who transpose have read the block.
    asm volatile("bar.sync 1, 128;" ::: "memory");
    if (has_block) {
        *(__local float4 *) to = (float4) (x[0].s0, x[1].s0, x[2].s0, x[3].s0);
        *(__local float4 *) (to + 4 * rows) = (float4) (x[0].s1, x[1].s1, x[2].s1, x[3].s1);
        *(__local float4 *) (to + 8 * rows) = (float4) (x[0].s2, x[1].s2, x[2].s2, x[3].s2);
        *(__local float4 *) (to + 12 * rows) = (float4) (x[0].s3, x[1].s3, x[2].s3, x[3].s3);
    }
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

// C = alpha x + beta C for four columns side by side, at an address that is a multiple of their
// size.
static void put_four(float4 x, __global float *out, float alpha, float beta)
{
    x *= alpha;
    if (beta != 0)
        x += beta * *(__global float4 *) out;
    *(__global float4 *) out = x;
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void kiln_sgemm_tma_copy(long a_rows, long a_cols,
        __global const element_bits *restrict A, long a_offset, long lda,
        __global uchar *restrict a_work, long a_at, long b_rows, long b_cols,
        __global const element_bits *restrict B, long b_offset, long ldb,
        __global uchar *restrict b_work, long b_at)
{
    copy_matrix(a_rows, a_cols, A + a_offset, lda, (__global element_bits *) a_work + a_at);
    copy_matrix(b_rows, b_cols, B + b_offset, ldb, (__global element_bits *) b_work + b_at);
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void kiln_sgemm_tma_copya(long rows, long cols,
        __global const element_bits *restrict X, long x_offset, long ldx,
        __global uchar *restrict work, long at)
{
    copy_matrix(rows, cols, X + x_offset, ldx, (__global element_bits *) work + at);
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void kiln_sgemm_tma_copyb(long rows, long cols,
        __global const element_bits *restrict X, long x_offset, long ldx,
        __global uchar *restrict work, long at)
{
    copy_matrix(rows, cols, X + x_offset, ldx, (__global element_bits *) work + at);
}

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored M x K.
// B is stored K x N.
// For NVIDIA's compute capability 9.0.
// A work-group computes 64 x 64 of C. Tiles of A and B, 32 deep, are fetched into local memory, up
// to 4 at a time, by the copy engine for one work-item. A tile's `full` barrier says that it is
// there. A warp computes 32 x 16 of C, and says by `empty` when it has read a tile.
// Tiles whose k lie side by side are transposed by four warps of their own; the `transposed`
// barrier says that they were.
__kernel __attribute__((reqd_work_group_size(384, 1, 1)))
void kiln_sgemm_tma_multiply(long M, long N, long K,
        __global const float *restrict A, long a_offset, long a_stride, long lda,
        __global const float *restrict B, long b_offset, long b_stride, long ldb,
        __global uchar *work, long maps_at, long parts_at,
        float alpha, float beta,
        __global float *restrict C, long c_offset, long c_stride, long ldc)
{
    __local uchar a_tiles[32768] __attribute__((aligned(1024)));
    __local uchar b_tiles[32768] __attribute__((aligned(1024)));
    __local ulong full[4];
    __local ulong empty[4];
    __local ulong transposed[4];
    const uint item = get_local_id(0);
    const uint fulls = local_address(full);
    const uint a_at = local_address(a_tiles), b_at = local_address(b_tiles);
    const uint empties = local_address(empty);
    const uint transposeds = local_address(transposed);
    const long member = member_of_batch();
    A += a_offset + member * a_stride;
    B += b_offset + member * b_stride;
    C += c_offset;
    // Whether every row of C starts where 4 columns may be stored at once.
    const ulong misaligned = ((ulong) (C + member * c_stride) | (ulong) (ldc * 4)) & 15;
    const bool is_aligned = misaligned == 0;

    // The rows (columns) of a box. Lines along k that lie outside C are not fetched.
    const int box_m = min(((int) M + 7) & -8, 64);
    const int box_n = 64;
    const ulong a_map = (ulong) (work + (maps_at + member) * 256), b_map = a_map + 128;
    __local uint maps[64] __attribute__((aligned(128)));
    // One warp writes the map of A, the next that of B, to where all work-groups write the same.
    if (item < 64) {
        const uint which = item / 32, lane = item % 32;
        __local uint *map = maps + which * 32;
        map[lane] = 0;
        warp_sync();
        if (item == 0)
            write_map(local_address(map), (ulong) A, M, K, lda, box_m, 32, 3);
        if (item == 32)
            write_map(local_address(map), (ulong) B, K, N, ldb, 32, 64, 0);
        warp_sync();
        publish_map(a_map + which * 128, local_address(map));
    }
    // Those who fetch begin with parity 1, and find all stages empty; those who multiply, with 0.
    if (item == 0) {
        for (int s = 0; s < 4; s++) {
            mbarrier_init(fulls + 8 * s, 1);
            mbarrier_init(empties + 8 * s, 8);
            mbarrier_init(transposeds + 8 * s, 4);
        }
        // The copy engine is to see the barriers as they were initialised.
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    // Those who fetch and transpose: the last 4 warps.
    if (item >= 256) {
        asm volatile("//@setmaxnreg.dec.sync.aligned.u32 56;" ::: "memory");
        if (item == 256) {
            acquire_map(a_map);
            acquire_map(b_map);
        }
        warp_sync();
        uint stage = 0, phase = 1, transpose_phase = 0;
        const uint tile = get_group_id(1) * get_num_groups(0) + get_group_id(0);
        const int num = (K + 31) / 32;
        const int2 origin = origin_of_tile(tile, M, N);
        const int first_m = origin.x, first_n = origin.y;
        // A tile is transposed when the next one has been asked for.
        for (int t = 0; t <= num; t++) {
            const uint p = stage == 0 ? 3 : stage - 1;
            if (item == 256 && t < num) {
                mbarrier_wait(empties + 8 * stage, phase);
                const int step = t;
                const uint mbarrier = fulls + 8 * stage;
                const int k = step * 32;
                mbarrier_expect(mbarrier, (box_m + box_n) * 128);
                fetch_box(a_at + stage * 8192, a_map, k, first_m, mbarrier);
                fetch_box(b_at + stage * 8192, b_map, first_n, k, mbarrier);
            }
            if (t > 0) {
                // Transposes the tiles of stage p, as soon as they are there, and says so. Of up to
                // 64 rows (columns) at a time each work-item has 4, with 4 values of k.
                mbarrier_wait(fulls + 8 * p, transpose_phase);
                transpose_block(a_tiles + p * 8192, 64, item - 256);
                warp_sync();
                if (item % 32 == 0)
                    mbarrier_arrive(transposeds + 8 * p);
                transpose_phase ^= p == 3;
            }
            if (t < num && ++stage == 4) {
                stage = 0;
                phase ^= 1;
            }
        }
        return;
    }
    // Those who multiply: the first 8 warps.
    asm volatile("//@setmaxnreg.inc.sync.aligned.u32 224;" ::: "memory");
    uint stage = 0, phase = 0;
    const uint warp = item / 32, lane = item % 32;
    const uint tile = get_group_id(1) * get_num_groups(0) + get_group_id(0);
    const int num = (K + 31) / 32;
    const int2 origin = origin_of_tile(tile, M, N);
    const int first_m = origin.x, first_n = origin.y;
    // Work-items i and i ^ 1 read the same of B, i and i ^ 2 the same of A. So a read of 16 bytes
    // takes two turns of local memory, not four.
    const uint lane_m = lane % 2 + lane / 8 * 2, lane_n = lane / 2 % 4;
    const uint warp_m = warp % 2 * 32, warp_n = warp / 2 * 16;
    // Where a work-item's first four rows and columns are in line 0 of their boxes, which are 32
    // values of k by 64 rows of A or 64 columns of B.
    const uint a_chunk = warp_m / 64 * 8192 + (warp_m % 64 / 4 + lane_m) * 16;
    const uint b_chunk = warp_n / 64 * 8192 + (warp_n % 64 / 4 + lane_n) * 16;
    float c[4][4];
    #pragma unroll
    for (int m = 0; m < 4; m++)
        #pragma unroll
        for (int n = 0; n < 4; n++)
            c[m][n] = 0;
    for (int now = 0; now < num; now++) {
        mbarrier_wait(transposeds + 8 * stage, phase);
        // Hands back the stage of the step before, which is not done sooner: what is read from
        // local memory has surely arrived only when it has been multiplied.
        warp_sync();
        if (now > 0 && lane == 0)
            mbarrier_arrive(empties + 8 * (stage == 0 ? 3 : stage - 1));
        __local const uchar *a_tile = a_tiles + stage * 8192;
        __local const uchar *b_tile = b_tiles + stage * 8192;
        // Goes through k, four values (a quad) at a time; of each it reads its rows and columns by
        // fours, and multiplies each by each.
        // In a transposed tile four rows or columns lie at their number ^ q.
        #pragma unroll 2
        for (int q = 0; q < 8; q++) {
            const uint a_from = a_chunk ^ q * 16;
            const uint b_from = b_chunk;
            #pragma unroll
            for (int k = 4 * q; k < 4 * q + 4; k++) {
                float as[4], bs[4];
                {
                    const float4 x = *(__local const float4 *) (a_tile + k * 256 + a_from);
                    as[0] = x.s0, as[1] = x.s1, as[2] = x.s2, as[3] = x.s3;
                }
                {
                    const float4 x = *(__local const float4 *) (b_tile + k * 256 + b_from);
                    bs[0] = x.s0, bs[1] = x.s1, bs[2] = x.s2, bs[3] = x.s3;
                }
                #pragma unroll
                for (int n = 0; n < 4; n++)
                    #pragma unroll
                    for (int i = 0; i < 4; i++) {
                        // Rows go up in even columns and down in odd ones: so two products in a row
                        // have a factor in common, which is not read from its register again.
                        const int m = n % 2 ? 3 - i : i;
                        c[m][n] += as[m] * bs[n];
                    }
            }
        }
        if (++stage == 4) {
            stage = 0;
            phase ^= 1;
        }
    }
    // C of this member of a batch. The member is asked for anew: kept until now, the place would
    // take registers while tiles are multiplied.
    __global float *const own = C + member_of_batch() * c_stride;
    // A work-item has rows by fours, 32 apart, and columns by fours, 16 apart.
    #pragma unroll
    for (int m = 0; m < 4; m++) {
        const long row = first_m + warp_m + lane_m * 4 + m;
        __global float *out = own + row * ldc;
        const long block = first_n + warp_n;
        if (is_aligned && block + 15 < N) {
            if (row < M)
                put_four((float4) (c[m][0], c[m][1], c[m][2], c[m][3]),
                        out + block + lane_n * 4, alpha, beta);
        } else {
            // Not stored by fours: the four work-items of a row trade elements, and then store four
            // neighbouring columns side by side.
            uint x[4] = { as_uint(c[m][0]), as_uint(c[m][1]), as_uint(c[m][2]), as_uint(c[m][3]) };
            transpose_four(x, lane_n, 2);
            if (row < M)
                #pragma unroll
                for (int i = 0; i < 4; i++)
                    put_column(as_float(x[i]), out, block + i * 4 + lane_n, N, alpha, beta);
        }
    }
}
