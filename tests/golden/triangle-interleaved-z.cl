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

// Waits until of the steps that this work-item has committed at most 2 are on their way.
static void wait_for_copies(void)
{
    asm volatile("cp.async.wait_group 2;" ::: "memory");
}

// Where the x-th 16 bytes of a line are, in boxes whose lines have `part` (2, 4 or 8) times 16
// bytes; boxes side by side have 8 lines. Of eight lines in a row the pieces of a column lie in
// different banks.
static uint swizzled(uint line, uint x, uint part)
{
    return (x / part * part * 8 + line * part + (x % part ^ line % 8 / (8 / part))) * 16;
}

// Begins to copy 32 lines of 8 elements, of which this work-item copies 1 at a time, in one of
// every 16 lines. There are `lines` and `cols` of the matrix left; what lies beyond is 0.
static void copy_a(uint to, __global const double2 *from, long ld, uint lines, int cols, uint item)
{
    const uint first = item / 8, col = item % 8;
    from += first * ld + col;
    if (lines >= 32 && cols >= 8) {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 32; n += 16) {
            const uint line = first + n;
            const uint where = swizzled(line, x, 8);
            copy_element(to + where, from + n * ld, true);
        }
    } else {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 32; n += 16) {
            const uint line = first + n;
            const uint where = swizzled(line, x, 8);
            copy_element(to + where, from + n * ld, line < lines && (int) x < cols);
        }
    }
}

// Begins to copy 8 lines of 32 elements, of which this work-item copies 1 at a time, in one of
// every 4 lines. There are `lines` and `cols` of the matrix left; what lies beyond is 0.
static void copy_b(uint to, __global const double2 *from, long ld, uint lines, int cols, uint item)
{
    const uint first = item / 32, col = item % 32;
    from += first * ld + col;
    if (lines >= 8 && cols >= 32) {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 8; n += 4) {
            const uint line = first + n;
            const uint where = swizzled(line, x, 8);
            copy_element(to + where, from + n * ld, true);
        }
    } else {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 8; n += 4) {
            const uint line = first + n;
            const uint where = swizzled(line, x, 8);
            copy_element(to + where, from + n * ld, line < lines && (int) x < cols);
        }
    }
}

// c += a b for blocks of 16 x 8, 16 x 8 and 8 x 8, spread over a warp as the PTX ISA says.
static void multiply_blocks(double c[4], const double a[4], const double b[2])
{
    #pragma unroll
    for (int i = 0; i < 4; i++)
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
                "{%0, %1}, {%2}, {%3}, {%0, %1};" :
                "+d"(c[i % 2 * 2]), "+d"(c[i % 2 * 2 + 1]) : "d"(a[i]), "d"(b[i / 2]));
}

static double2 load(__global const double2 *p)
{
    return *p;
}

static void store(double2 x, __global double2 *p)
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

// An element of the diagonal of a Hermitian matrix.
static void make_real(__global double2 *p)
{
    ((__global double *) p)[1] = 0;
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
    return (uint2) (triangle % 2 == 0 ? 2 : 1, 1);
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

// Row and column, in its tile, of the e-th element that a work-item has.
static uint2 place_of(uint item, uint e)
{
    const uint warp = item / 32, lane = item % 32;
    const uint warp_m = warp % 2 * 16, warp_n = warp / 2 * 16;
    const uint block = e / 4;
    return (uint2) (warp_m + block / 2 * 16 + e / 2 % 2 * 8 + lane / 4,
            warp_n + block % 2 * 8 + lane % 4 * 2 + e % 2);
}

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored M x K.
// B is stored K x N.
// For NVIDIA's compute capability 8.0 and later. Real part and imaginary part lie side by side.
// A work-group computes 32 x 32 of C, a warp 16 x 16 of it. Tiles of A and B, 8 deep, are copied
// into local memory asynchronously, 3 ahead of those that are multiplied.
__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void kiln_zgemmt_interleaved_multiply(long M, long N, long K, int conj_b,
        double alpha, double alpha_imag, double beta, double beta_imag, int conj_a,
        __global const double2 *restrict A, long a_offset, long a_stride, long lda,
        __global const double2 *restrict B, long b_offset, long b_stride, long ldb,
        __global double2 *restrict C, long c_offset, long c_stride, long ldc, int triangle,
                int is_hermitian)
{
    __local uchar both_tiles[32768] __attribute__((aligned(1024)));
    __local uchar *a_tiles = both_tiles, *b_tiles = both_tiles + 16384;
    const uint a_at = local_address(a_tiles), b_at = local_address(b_tiles);
    const uint item = get_local_id(0), warp = item / 32, lane = item % 32;
    const uint lane_m = lane / 4, lane_n = lane % 4;
    const uint warp_m = warp % 2 * 16, warp_n = warp / 2 * 16;
    const uint tiles = count_tiles(((uint) M + 31) / 32, ((uint) N + 31) / 32, triangle);
    if (get_group_id(1) * get_num_groups(0) + get_group_id(0) >= tiles)
        return;
    const long member = member_of_batch();
    A += a_offset + member * a_stride;
    B += b_offset + member * b_stride;
    C += c_offset;
    // conj(A) B is the conjugate of A conj(B): until C is stored, only B is conjugated.
    const ulong flip = (ulong) (conj_a ^ conj_b) << 63;

    const uint tile = get_group_id(1) * get_num_groups(0) + get_group_id(0);
    const int num = (K + 7) / 8;
    // Tiles of which something is stored, row by row.
    const uint2 of_tile = place_of_tile(tile, ((uint) N + 31) / 32, triangle);
    const int first_m = of_tile.x * 32, first_n = of_tile.y * 32;
    double re[1][2][4], im[1][2][4];
    #pragma unroll
    for (int e = 0; e < 8; e++)
        re[e / 8][e / 4 % 2][e % 4] = im[e / 8][e / 4 % 2][e % 4] = 0;
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
            const int k = step * 8;
            copy_a(a_at + stage * 4096, A + first_m * lda + k, lda, M - first_m, K - k, item);
            copy_b(b_at + stage * 4096, B + k * ldb + first_n, ldb, K - k, N - first_n, item);
        }
        commit_copies();
        // Behind the stage that is copied to comes the one copied to 3 steps before.
        if (++stage == 4)
            stage = 0;
        if (t < 3)
            continue;
        __local const uchar *a_tile = a_tiles + stage * 4096;
        __local const uchar *b_tile = b_tiles + stage * 4096;
        // Eight values of k at a time: the tensor core's k and k + 4 are 2 k and 2 k + 1. A line of
        // a tile has 128 bytes, and its x-th element lies at x ^ line % 8, so that no two
        // work-items that read together meet in a bank. Where a work-item's first element of A and
        // of B is in a tile:
        const uint a_first = (warp_m + lane_m) * 128 + (lane_m ^ 2 * lane_n) * 16;
        const uint b_first = warp_n * 128 + lane_n * 256 + (lane_m ^ 2 * lane_n) * 16;
        double2 a0[1][4];
        #pragma unroll
        for (int e = 0; e < 4; e++)
            a0[0][e] = *(__local const double2 *) (a_tile + e % 2 * 1024 + (a_first ^ e / 2 * 16));
        #pragma unroll
        for (int j = 0; j < 2; j++) {
            const int next = j;
            double2 b0[2];
            #pragma unroll
            for (int e = 0; e < 2; e++)
                b0[e] = *(__local const double2 *) (b_tile + next * 1024 + (b_first ^ e * 144));
            double b_re[2], b_im[2], b_minus[2];
            #pragma unroll
            for (int e = 0; e < 2; e++) {
                b_re[e] = b0[e].x;
                b_im[e] = as_double(as_ulong(b0[e].y) ^ flip);
                b_minus[e] = -b_im[e];
            }
            const double a_re[4] = { a0[0][0].x, a0[0][1].x, a0[0][2].x, a0[0][3].x };
            const double a_im[4] = { a0[0][0].y, a0[0][1].y, a0[0][2].y, a0[0][3].y };
            multiply_blocks(re[0][j], a_re, b_re);
            multiply_blocks(im[0][j], a_re, b_im);
            multiply_blocks(re[0][j], a_im, b_minus);
            multiply_blocks(im[0][j], a_im, b_re);
        }
    }
    // C of this member of a batch. The member is asked for anew: kept until now, the place would
    // take registers while tiles are multiplied.
    __global double2 *const own = C + member_of_batch() * c_stride;
    // The tile goes through local memory, where rows are an element longer, so that work-items meet
    // in few banks.
    __local double2 *c_tile = (__local double2 *) both_tiles;
    // All have multiplied the last step.
    barrier(CLK_LOCAL_MEM_FENCE);
    #pragma unroll
    for (int e = 0; e < 8; e++) {
        const double2 sum = (double2) (re[e / 8][e / 4 % 2][e % 4], im[e / 8][e / 4 % 2][e % 4]);
        const uint2 place = place_of(item, e);
        c_tile[place.x * 33 + place.y] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    #pragma unroll 4
    for (uint i = item; i < 1024; i += 128) {
        const long row = first_m + i / 32, col = first_n + i % 32;
        const double2 sum = c_tile[i / 32 * 33 + i % 32];
        const long2 stored = stored_columns(row, N, triangle);
        if (row < M && col >= stored.x && col < stored.y)
            put(sum, conj_a, alpha, alpha_imag, beta, beta_imag, own + row * ldc + col);
        if (is_hermitian && row == col && row < M)
            make_real(own + row * ldc + col);
    }
}
