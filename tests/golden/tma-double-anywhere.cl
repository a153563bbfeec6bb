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

// Arrives when what this work-item has begun to copy is there.
static void mbarrier_arrive_copied(uint mbarrier)
{
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"(mbarrier) : "memory");
}

// Where the x-th 16 bytes of a line are, in boxes whose lines have `part` (2, 4 or 8) times 16
// bytes; boxes side by side have 16 lines. Of eight lines in a row the pieces of a column lie in
// different banks. The copy engine's swizzle is the same.
static uint swizzled(uint line, uint x, uint part)
{
    return (x / part * part * 16 + line * part + (x % part ^ line % 8 / (8 / part))) * 16;
}

// Begins to copy an element into local memory, or 0 where there is none.
static void copy_element(uint to, __global const double *from, bool is_there)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::
            "r"(to), "l"((ulong) from),
            "r"(is_there ? 8 : 0) : "memory");
}

// Begins to copy the tile that begins at `from`. `left` is what C has from there on, and is not
// copied beyond; `ks` is what K has, and what lies beyond is 0.
// The lines are swizzled.
static void fetch_a(uint tile, __global const double *from, long ld, int left, int ks, uint who)
{
    const int x = who % 16, y = who / 16;
    const bool is_there = x < ks;
    from += y * ld + x;
    #pragma unroll
    for (int row = 0; row < 128; row += 8) {
        if (row + y < left)
            copy_element(tile + swizzled(row + y, x / 2, 8) + x % 2 * 8, from, is_there);
        from += 8 * ld;
    }
}

// Begins to copy the tile that begins at `from`. `left` is what C has from there on, and is not
// copied beyond; `ks` is what K has, and what lies beyond is 0.
// The lines are swizzled.
static void fetch_b(uint tile, __global const double *from, long ld, int left, int ks, uint who)
{
    const int x = who % 16, y = who / 16;
    const bool is_there = x < ks;
    from += y * ld + x;
    #pragma unroll
    for (int row = 0; row < 64; row += 8) {
        if (row + y < left)
            copy_element(tile + swizzled(row + y, x / 2, 8) + x % 2 * 8, from, is_there);
        from += 8 * ld;
    }
}

// c += a b for blocks of 16 x 8, 16 x 8 and 8 x 8, spread over a warp as the PTX ISA says.
static void multiply_blocks(double c[4], const double a[4], const double b[2])
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" :
            "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3]) :
            "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}

// The first row and column of a tile of C. Tiles are taken in bands of 2 rows, each column by
// column, so that work-groups that run together share rows and columns.
// The last band may have fewer rows.
static int2 origin_of_tile(uint tile, long M, long N)
{
    const uint tiles_m = ((uint) M + 127) / 128;
    const uint tiles_n = ((uint) N + 63) / 64;
    const uint band = tile / (2 * tiles_n) * 2, in_band = tile - band * tiles_n;
    const uint band_rows = min(tiles_m - band, 2U);
    const uint tile_m = band + in_band % band_rows, tile_n = in_band / band_rows;
    return (int2) (tile_m * 128, tile_n * 64);
}

// C = alpha x + beta C for column `col` of the row `out`, if C has it.
static void put_column(double x, __global double *out, long col, long N, double alpha, double beta)
{
    if (col < N)
        store(beta == 0 ? alpha * x : alpha * x + beta * load(out + col), out + col);
}

// The same for two columns side by side; `whole`: they are at a multiple of their size.
static void put_pair(double x, double y, __global double *out, long col,
        long N, double alpha, double beta, bool whole)
{
    if (!whole || col + 1 >= N) {
        put_column(x, out, col, N, alpha, beta);
        put_column(y, out, col + 1, N, alpha, beta);
        return;
    }
    double2 z = alpha * (double2) (x, y);
    if (beta != 0)
        z += beta * *(__global double2 *) (out + col);
    *(__global double2 *) (out + col) = z;
}

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored M x K.
// B is stored N x K.
// For NVIDIA's compute capability 9.0.
// A work-group computes 128 x 64 of C. Tiles of A and B, 16 deep, are fetched into local memory, up
// to 5 at a time, by four warps. A tile's `full` barrier says that it is there. A warp computes 16
// x 64 of C, and says by `empty` when it has read a tile.
__kernel __attribute__((reqd_work_group_size(384, 1, 1)))
void kiln_dgemm_tma_multiply(long M, long N, long K,
        __global const double *restrict A, long a_offset, long a_stride, long lda,
        __global const double *restrict B, long b_offset, long b_stride, long ldb,
        double alpha, double beta,
        __global double *restrict C, long c_offset, long c_stride, long ldc)
{
    __local uchar a_tiles[81920] __attribute__((aligned(1024)));
    __local uchar b_tiles[40960] __attribute__((aligned(1024)));
    __local ulong full[5];
    __local ulong empty[5];
    const uint item = get_local_id(0);
    const uint fulls = local_address(full);
    const uint a_at = local_address(a_tiles), b_at = local_address(b_tiles);
    const uint empties = local_address(empty);
    const long member = member_of_batch();
    A += a_offset + member * a_stride;
    B += b_offset + member * b_stride;
    C += c_offset;
    // Whether every row of C starts where 2 columns may be stored at once.
    const ulong misaligned = ((ulong) (C + member * c_stride) | (ulong) (ldc * 8)) & 15;
    const bool is_aligned = misaligned == 0;

    // Those who fetch begin with parity 1, and find all stages empty; those who multiply, with 0.
    if (item == 0) {
        for (int s = 0; s < 5; s++) {
            mbarrier_init(fulls + 8 * s, 128);
            mbarrier_init(empties + 8 * s, 8);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    // Those who fetch: the last 4 warps.
    if (item >= 256) {
        const uint who = item - 256;
        uint stage = 0, phase = 1;
        const uint tile = get_group_id(1) * get_num_groups(0) + get_group_id(0);
        const int num = (K + 15) / 16;
        const int2 origin = origin_of_tile(tile, M, N);
        const int first_m = origin.x, first_n = origin.y;
        for (int t = 0; t < num; t++) {
            const int step = t;
            const int k = step * 16;
            mbarrier_wait(empties + 8 * stage, phase);
            fetch_a(a_at + stage * 16384, A + first_m * lda + k, lda, M - first_m, K - k, who);
            fetch_b(b_at + stage * 8192, B + first_n * ldb + k, ldb, N - first_n, K - k, who);
            mbarrier_arrive_copied(fulls + 8 * stage);
            if (++stage == 5) {
                stage = 0;
                phase ^= 1;
            }
        }
        return;
    }
    // Those who multiply: the first 8 warps.
    uint stage = 0, phase = 0;
    const uint warp = item / 32, lane = item % 32;
    const uint tile = get_group_id(1) * get_num_groups(0) + get_group_id(0);
    const int num = (K + 15) / 16;
    const int2 origin = origin_of_tile(tile, M, N);
    const int first_m = origin.x, first_n = origin.y;
    const uint lane_m = lane / 4, lane_k = lane % 4;
    // Rows 0, 1, 4, 5, 2, 3, 6, 7 of A (columns of B).
    const uint lane_r = (lane_m & 1) | (lane_m & 2) << 1 | (lane_m & 4) >> 1;
    const uint warp_m = warp % 8 * 16, warp_n = warp / 8 * 64;
    double c[1][8][4];
    #pragma unroll
    for (int j = 0; j < 8; j++)
        #pragma unroll
        for (int e = 0; e < 4; e++)
            c[0][j][e] = 0;
    // Eight values of k at a time. In which order is ours to choose, as long as A and B agree, and
    // so is the order of rows and columns within a block. Column x, in 16 bytes, of row r of a tile
    // is at x ^ r % 8. The orders here let no two work-items that read together meet in a bank (8
    // together read 16 bytes each, 16 read 8 bytes each), and what is read is where it is used.
    // The tensor core's k and k + 4 are 0 3 4 7 and 1 2 5 6.
    const uint a_first = (warp_m + lane_r) * 128;
    const uint b_first = (warp_n + lane_r) * 128;
    double as0[1][4], bs0[8][2];
    for (int now = 0; now < num; now++) {
        mbarrier_wait(fulls + 8 * stage, phase);
        // Hands back the stage of the step before, which is not done sooner: what is read from
        // local memory has surely arrived only when it has been multiplied.
        warp_sync();
        if (now > 0 && lane == 0)
            mbarrier_arrive(empties + 8 * (stage == 0 ? 4 : stage - 1));
        __local const uchar *a_tile = a_tiles + stage * 16384;
        __local const uchar *b_tile = b_tiles + stage * 8192;
        #pragma unroll
        for (int s = 0; s < 2; s++) {
            // The s-th part of the tiles' k into fragments.
            // Eight values of k of the tile.
            {
                const uint at = ((4 * s + lane_k) ^ lane_r) * 16 + lane_k % 2 * 8;
                as0[0][0] = *(__local const double *) (a_tile + a_first + at);
                as0[0][1] = *(__local const double *) (a_tile + a_first + 1024 + at);
                as0[0][2] = *(__local const double *) (a_tile + a_first + (at ^ 8));
                as0[0][3] = *(__local const double *) (a_tile + a_first + 1024 + (at ^ 8));
            }
            #pragma unroll
            for (int j = 0; j < 8; j++) {
                const uint at = ((4 * s + lane_k) ^ lane_r) * 16 + lane_k % 2 * 8;
                bs0[j][0] = *(__local const double *) (b_tile + b_first + j * 1024 + at);
                bs0[j][1] = *(__local const double *) (b_tile + b_first + j * 1024 + (at ^ 8));
            }
            #pragma unroll
            for (int j = 0; j < 8; j++)
                multiply_blocks(c[0][j], as0[0], bs0[j]);
        }
        if (++stage == 5) {
            stage = 0;
            phase ^= 1;
        }
    }
    // C of this member of a batch. The member is asked for anew: kept until now, the place would
    // take registers while tiles are multiplied.
    __global double *const own = C + member_of_batch() * c_stride;
    // Rows and columns of a block are in the order in which they were read.
    #pragma unroll
    for (int h = 0; h < 2; h++) {
        const long row = first_m + warp_m + h * 8 + lane_r;
        if (row >= M)
            break;
        __global double *out = own + row * ldc;
        #pragma unroll
        for (int j = 0; j < 8; j++) {
            const long col = first_n + warp_n + j * 8 + lane_k % 2 * 4 + lane_k / 2 * 2;
            put_pair(c[0][j][2 * h], c[0][j][2 * h + 1], out, col, N, alpha, beta, is_aligned);
        }
    }
}
