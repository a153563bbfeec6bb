#pragma OPENCL EXTENSION cl_khr_fp64 : enable

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

// Begins to copy an element into local memory, or 0 where there is none.
static void copy_element(uint to, __global const double2 *from, bool is_there)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::
            "r"(to), "l"((ulong) from),
            "r"(is_there ? 16 : 0) : "memory");
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

// Where the x-th 16 bytes of a line are, in boxes whose lines have `part` (2, 4 or 8) times 16
// bytes; boxes side by side have 8 lines. Of eight lines in a row the pieces of a column lie in
// different banks.
static uint swizzled(uint line, uint x, uint part)
{
    return (x / part * part * 8 + line * part + (x % part ^ line % 8 / (8 / part))) * 16;
}

// Begins to copy 64 lines of 8 elements, of which this work-item copies 1 at a time, in one of
// every 16 lines. There are `lines` and `cols` of the matrix left; what lies beyond is 0.
static void copy_a(uint to, __global const double2 *from, long ld, uint lines, int cols, uint item)
{
    const uint first = item / 8, col = item % 8;
    from += first * ld + col;
    if (lines >= 64 && cols >= 8) {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 64; n += 16) {
            const uint line = first + n;
            const uint where = swizzled(line, x, 8);
            copy_element(to + where, from + n * ld, true);
        }
    } else {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 64; n += 16) {
            const uint line = first + n;
            const uint where = swizzled(line, x, 8);
            copy_element(to + where, from + n * ld, line < lines && (int) x < cols);
        }
    }
}

// Begins to copy 64 lines of 8 elements, of which this work-item copies 1 at a time, in one of
// every 16 lines. There are `lines` and `cols` of the matrix left; what lies beyond is 0.
static void copy_b(uint to, __global const double2 *from, long ld, uint lines, int cols, uint item)
{
    const uint first = item / 8, col = item % 8;
    from += first * ld + col;
    if (lines >= 64 && cols >= 8) {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 64; n += 16) {
            const uint line = first + n;
            const uint where = swizzled(line, x, 8);
            copy_element(to + where, from + n * ld, true);
        }
    } else {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 64; n += 16) {
            const uint line = first + n;
            const uint where = swizzled(line, x, 8);
            copy_element(to + where, from + n * ld, line < lines && (int) x < cols);
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

static double2 load(__global const double2 *p)
{
    return *p;
}

static void store(double2 x, __global double2 *p)
{
    *p = x;
}

// x times (re, im). A factor that is real multiplies each part alone, as real products do.
static double2 scaled(double2 x, double re, double im)
{
    return im == 0 ? re * x : (double2) (re * x.x - im * x.y, re * x.y + im * x.x);
}

// C = alpha x + beta C for one element, x conjugated if so; beta == 0 does not read C.
static void put(double2 x, int is_conjugated, double alpha, double alpha_imag,
        double beta, double beta_imag, __global double2 *p)
{
    x.y *= is_conjugated ? -1 : 1;
    x = scaled(x, alpha, alpha_imag);
    if (beta != 0 || beta_imag != 0)
        x += scaled(load(p), beta, beta_imag);
    store(x, p);
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

// Row and column, in its tile, of the e-th element that a work-item has.
static uint2 place_of(uint item, uint e)
{
    const uint warp = item / 32, lane = item % 32;
    const uint warp_m = warp % 2 * 32, warp_n = warp / 2 * 32;
    const uint block = e / 4;
    return (uint2) (warp_m + block / 4 * 16 + e / 2 % 2 * 8 + lane / 4,
            warp_n + block % 4 * 8 + lane % 4 * 2 + e % 2);
}

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored M x K.
// B is stored N x K.
// For NVIDIA's compute capability 8.0 and later. Real part and imaginary part lie side by side.
// A work-group computes 64 x 64 of C, a warp 32 x 32 of it. Tiles of A and B, 8 deep, are copied
// into local memory asynchronously, 1 ahead of those that are multiplied.
__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void kiln_zgemm_interleaved_multiply(long M, long N, long K, int conj_b,
        double alpha, double alpha_imag, double beta, double beta_imag, int conj_a,
        __global const double2 *restrict A, long a_offset, long a_stride, long lda,
        __global const double2 *restrict B, long b_offset, long b_stride, long ldb,
        __global double2 *restrict C, long c_offset, long c_stride, long ldc)
{
    __local uchar both_tiles[32768] __attribute__((aligned(1024)));
    __local uchar *a_tiles = both_tiles, *b_tiles = both_tiles + 16384;
    const uint a_at = local_address(a_tiles), b_at = local_address(b_tiles);
    const uint item = get_local_id(0), warp = item / 32, lane = item % 32;
    const uint lane_m = lane / 4, lane_n = lane % 4;
    const uint warp_m = warp % 2 * 32, warp_n = warp / 2 * 32;
    const long member = member_of_batch();
    A += a_offset + member * a_stride;
    B += b_offset + member * b_stride;
    C += c_offset;
    // conj(A) B is the conjugate of A conj(B): until C is stored, only B is conjugated.
    const ulong flip = (ulong) (conj_a ^ conj_b) << 63;

    const uint tile = get_group_id(1) * get_num_groups(0) + get_group_id(0);
    const int num = (K + 7) / 8;
    const int2 origin = origin_of_tile(tile, M, N);
    const int first_m = origin.x, first_n = origin.y;
    double re[2][4][4], im[2][4][4];
    #pragma unroll
    for (int e = 0; e < 32; e++)
        re[e / 16][e / 4 % 4][e % 4] = im[e / 16][e / 4 % 4][e % 4] = 0;
    int stage = 0;
    for (int t = 0; t < num + 1; t++) {
        // What was asked for at t - 1 is there for all, and all have multiplied those of the step
        // before, whose stage is the next one to copy to.
        if (t >= 1) {
            wait_for_copies();
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (t < num) {
            const int step = t;
            const int k = step * 8;
            copy_a(a_at + stage * 8192, A + first_m * lda + k, lda, M - first_m, K - k, item);
            copy_b(b_at + stage * 8192, B + first_n * ldb + k, ldb, N - first_n, K - k, item);
        }
        commit_copies();
        // Behind the stage that is copied to comes the one copied to 1 steps before.
        if (++stage == 2)
            stage = 0;
        if (t < 1)
            continue;
        __local const uchar *a_tile = a_tiles + stage * 8192;
        __local const uchar *b_tile = b_tiles + stage * 8192;
        // Eight values of k at a time: the tensor core's k and k + 4 are 2 k and 2 k + 1. A line of
        // a tile has 128 bytes, and its x-th element lies at x ^ line % 8, so that no two
        // work-items that read together meet in a bank. Where a work-item's first element of A and
        // of B is in a tile:
        const uint a_first = (warp_m + lane_m) * 128 + (lane_m ^ 2 * lane_n) * 16;
        const uint b_first = (warp_n + lane_m) * 128 + (lane_m ^ 2 * lane_n) * 16;
        double2 a0[2][4];
        #pragma unroll
        for (int i = 0; i < 2; i++)
            #pragma unroll
            for (int e = 0; e < 4; e++)
                a0[i][e] = *(__local const double2 *) (a_tile + i * 2048 + e % 2 * 1024
                        + (a_first ^ e / 2 * 16));
        #pragma unroll
        for (int j = 0; j < 4; j++) {
            const int next = j;
            double2 b0[2];
            #pragma unroll
            for (int e = 0; e < 2; e++)
                b0[e] = *(__local const double2 *) (b_tile + next * 1024 + (b_first ^ e * 16));
            double b_re[2], b_im[2], b_minus[2];
            #pragma unroll
            for (int e = 0; e < 2; e++) {
                b_re[e] = b0[e].x;
                b_im[e] = as_double(as_ulong(b0[e].y) ^ flip);
                b_minus[e] = -b_im[e];
            }
            #pragma unroll
            for (int i = 0; i < 2; i++) {
                const double a_re[4] = { a0[i][0].x, a0[i][1].x, a0[i][2].x, a0[i][3].x };
                const double a_im[4] = { a0[i][0].y, a0[i][1].y, a0[i][2].y, a0[i][3].y };
                multiply_blocks(re[i][j], a_re, b_re);
                multiply_blocks(im[i][j], a_re, b_im);
                multiply_blocks(re[i][j], a_im, b_minus);
                multiply_blocks(im[i][j], a_im, b_re);
            }
        }
    }
    // C of this member of a batch. The member is asked for anew: kept until now, the place would
    // take registers while tiles are multiplied.
    __global double2 *const own = C + member_of_batch() * c_stride;
    #pragma unroll
    for (int e = 0; e < 32; e++) {
        const double2 sum = (double2) (re[e / 16][e / 4 % 4][e % 4], im[e / 16][e / 4 % 4][e % 4]);
        const uint2 place = place_of(item, e);
        const long row = first_m + place.x, col = first_n + place.y;
        if (row < M && col < N)
            put(sum, conj_a, alpha, alpha_imag, beta, beta_imag, own + row * ldc + col);
    }
}
