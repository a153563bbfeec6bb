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

// C = alpha x + beta C for one element; beta == 0 does not read C.
static void put(double x, double alpha, double beta, __global double *p)
{
    store(beta == 0 ? alpha * x : alpha * x + beta * load(p), p);
}

// NVIDIA's instructions, as the PTX ISA names them.

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

// Begins to copy 16 bytes into local memory: the first `bytes` of them, and zeros.
static void copy_16(uint to, __global const double *from, uint bytes)
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

// Waits until of the steps that this work-item has committed at most 2 are on their way.
static void wait_for_copies(void)
{
    asm volatile("cp.async.wait_group 2;" ::: "memory");
}

// Where the x-th 16 bytes of a line are, in boxes whose lines have `part` (2, 4 or 8) times 16
// bytes; boxes side by side have 16 lines. Of eight lines in a row the pieces of a column lie in
// different banks.
static uint swizzled(uint line, uint x, uint part)
{
    return (x / part * part * 16 + line * part + (x % part ^ line % 8 / (8 / part))) * 16;
}

// Begins to copy 16 lines of 64 elements, of which this work-item copies 2 at a time, in one of
// every 4 lines. There are `lines` and `cols` of the matrix left; what lies beyond is 0.
static void copy_a(uint to, __global const double *from, long ld, uint lines, int cols, uint item)
{
    const uint first = item / 32, col = item % 32 * 2;
    from += first * ld + col;
    if (lines >= 16 && cols >= 64) {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 16; n += 4) {
            const uint line = first + n;
            const uint where = swizzled(line, x / 2, 8) + x % 2 * 8;
            copy_16(to + where, from + n * ld, 16);
        }
    } else {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 16; n += 4) {
            const uint line = first + n;
            const uint where = swizzled(line, x / 2, 8) + x % 2 * 8;
            copy_16(to + where, from + n * ld, line < lines ? clamp(cols - (int) x, 0, 2) * 8 : 0);
        }
    }
}

// Begins to copy 16 lines of 64 elements, of which this work-item copies 2 at a time, in one of
// every 4 lines. There are `lines` and `cols` of the matrix left; what lies beyond is 0.
static void copy_b(uint to, __global const double *from, long ld, uint lines, int cols, uint item)
{
    const uint first = item / 32, col = item % 32 * 2;
    from += first * ld + col;
    if (lines >= 16 && cols >= 64) {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 16; n += 4) {
            const uint line = first + n;
            const uint where = swizzled(line, x / 2, 8) + x % 2 * 8;
            copy_16(to + where, from + n * ld, 16);
        }
    } else {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 16; n += 4) {
            const uint line = first + n;
            const uint where = swizzled(line, x / 2, 8) + x % 2 * 8;
            copy_16(to + where, from + n * ld, line < lines ? clamp(cols - (int) x, 0, 2) * 8 : 0);
        }
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

// Where an element of a tile of C is in local memory: the pieces of 16 bytes of a row are in an
// order of its own, so that work-items side by side meet different banks.
static uint c_place(uint row, uint col)
{
    return row * 64 + (col / 2 ^ (row + row / 4) % 8) * 2 + col % 2;
}

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored K x M.
// B is stored K x N.
// For NVIDIA's compute capability 8.0 and later.
// A work-group computes 64 x 64 of C, a warp 32 x 32 of it. Tiles of A and B, 16 deep, are copied
// into local memory asynchronously, 3 ahead of those that are multiplied.
__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void kiln_dgemm_async_multiply(long M, long N, long K,
        __global const double *restrict A, long a_offset, long a_stride, long lda,
        __global const double *restrict B, long b_offset, long b_stride, long ldb,
        double alpha, double beta,
        __global double *restrict C, long c_offset, long c_stride, long ldc)
{
    __local uchar both_tiles[65536] __attribute__((aligned(1024)));
    __local uchar *a_tiles = both_tiles, *b_tiles = both_tiles + 32768;
    const uint a_at = local_address(a_tiles), b_at = local_address(b_tiles);
    const uint item = get_local_id(0), warp = item / 32, lane = item % 32;
    const long member = member_of_batch();
    A += a_offset + member * a_stride;
    B += b_offset + member * b_stride;
    C += c_offset;
    // Whether every row of C starts where 2 columns may be stored at once.
    const ulong misaligned = ((ulong) (C + member * c_stride) | (ulong) (ldc * 8)) & 15;
    const bool is_aligned = misaligned == 0;

    const uint tile = get_group_id(1) * get_num_groups(0) + get_group_id(0);
    const int num = (K + 15) / 16;
    const int2 origin = origin_of_tile(tile, M, N);
    const int first_m = origin.x, first_n = origin.y;
    const uint lane_m = lane / 4, lane_k = lane % 4;
    const uint warp_m = warp % 2 * 32, warp_n = warp / 2 * 32;
    double c[2][4][4];
    #pragma unroll
    for (int i = 0; i < 2; i++)
        #pragma unroll
        for (int j = 0; j < 4; j++)
            #pragma unroll
            for (int e = 0; e < 4; e++)
                c[i][j][e] = 0;
    // Eight values of k at a time. In which order is ours to choose, as long as A and B agree, and
    // so is the order of rows and columns within a block. Column x, in 16 bytes, of row r of a tile
    // is at x ^ r % 8. The orders here let no two work-items that read together meet in a bank (8
    // together read 16 bytes each, 16 read 8 bytes each), and what is read is where it is used.
    // The tensor core's k and k + 4 are 0 3 4 7 and 1 2 5 6.
    const uint k_0 = 2 * lane_k + lane_k % 2;
    const uint a_first = warp_m * 128;
    const uint b_first = warp_n * 128 + lane_m % 2 * 8;
    double as0[2][4], bs0[4][2];
    int stage = 0;
    for (int t = 0; t < num + 3; t++) {
        // What was asked for at t - 3 is there for all, and all have multiplied those of the step
        // before, whose stage is the next one to copy to.
        if (t >= 3) {
            wait_for_copies();
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (t < num) {
            const int step = t;
            const int k = step * 16;
            copy_a(a_at + stage * 8192, A + k * lda + first_m, lda, K - k, M - first_m, item);
            copy_b(b_at + stage * 8192, B + k * ldb + first_n, ldb, K - k, N - first_n, item);
        }
        commit_copies();
        // Behind the stage that is copied to comes the one copied to 3 steps before.
        if (++stage == 4)
            stage = 0;
        if (t < 3)
            continue;
        __local const uchar *a_tile = a_tiles + stage * 8192;
        __local const uchar *b_tile = b_tiles + stage * 8192;
        #pragma unroll
        for (int s = 0; s < 2; s++) {
            // The s-th part of the tiles' k into fragments.
            // Eight values of k of the tile.
            #pragma unroll
            for (int i = 0; i < 2; i++) {
                const uint at = k_0 * 128 + (lane_m ^ k_0) * 16;
                const double2 p = *(__local const double2 *) (a_tile + a_first + i * 2048
                        + s * 1024 + at);
                const double2 q = *(__local const double2 *) (a_tile + a_first + i * 2048
                        + s * 1024 + (at ^ 144));
                as0[i][0] = p.x, as0[i][1] = p.y, as0[i][2] = q.x, as0[i][3] = q.y;
            }
            #pragma unroll
            for (int j = 0; j < 4; j++) {
                const uint at = (k_0 * 128 + ((lane_m / 2) ^ k_0) * 16) ^ j % 2 * 64;
                bs0[j][0] = *(__local const double *) (b_tile + b_first + j / 2 * 2048
                        + s * 1024 + at);
                bs0[j][1] = *(__local const double *) (b_tile + b_first + j / 2 * 2048
                        + s * 1024 + (at ^ 144));
            }
            #pragma unroll
            for (int i = 0; i < 2; i++)
                #pragma unroll
                for (int j = 0; j < 4; j++)
                    multiply_blocks(c[i][j], as0[i], bs0[j]);
        }
    }
    // C of this member of a batch. The member is asked for anew: kept until now, the place would
    // take registers while tiles are multiplied.
    __global double *const own = C + member_of_batch() * c_stride;
    // Where rows of C begin anywhere, the tile goes through local memory, so that a warp stores
    // columns side by side.
    if (!is_aligned) {
        __local double *c_tile = (__local double *) both_tiles;
        // All have multiplied the last step.
        barrier(CLK_LOCAL_MEM_FENCE);
        #pragma unroll
        for (int i = 0; i < 2; i++)
            #pragma unroll
            for (int h = 0; h < 2; h++) {
                const uint row = warp_m + i * 16 + h + lane_m * 2;
                #pragma unroll
                for (int j = 0; j < 4; j++) {
                    const uint col = warp_n + j * 8 + lane_k * 2;
                    *(__local double2 *) (c_tile + c_place(row, col)) =
                            (double2) (c[i][j][2 * h], c[i][j][2 * h + 1]);
                }
            }
        barrier(CLK_LOCAL_MEM_FENCE);
        const int num_rows = min(M - first_m, 64L);
        const int first_col = 0, end_col = min(N - first_n, 64L);
        __global double *out = own + (first_m + warp) * ldc + first_n + lane;
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
    // Rows and columns of a block are in the order in which they were read.
    #pragma unroll
    for (int i = 0; i < 2; i++)
        #pragma unroll
        for (int h = 0; h < 2; h++) {
            const long row = first_m + warp_m + i * 16 + h + lane_m * 2;
            if (row >= M)
                break;
            __global double *out = own + row * ldc;
            #pragma unroll
            for (int j = 0; j < 4; j++) {
                const long col = first_n + warp_n + j * 8 + lane_k * 2;
                put_pair(c[i][j][2 * h], c[i][j][2 * h + 1], out, col, N, alpha, beta, true);
            }
        }
}
