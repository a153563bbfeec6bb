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

// Begins to copy an element into local memory, or 0 where there is none.
static void copy_element(uint to, __global const double2 *from, bool is_there)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::
            "r"(to), "l"((ulong) from),
            "r"(is_there ? 16 : 0) : "memory");
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

// Begins to copy 128 lines of 8 elements, of which this work-item copies 1 at a time, in one of
// every 16 lines. There are `lines` and `cols` of the matrix left; what lies beyond is 0.
static void copy_b(uint to, __global const double2 *from, long ld, uint lines, int cols, uint item)
{
    const uint first = item / 8, col = item % 8;
    from += first * ld + col;
    if (lines >= 128 && cols >= 8) {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 128; n += 16) {
            const uint line = first + n;
            const uint where = swizzled(line, x, 8);
            copy_element(to + where, from + n * ld, true);
        }
    } else {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 128; n += 16) {
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
    return (uint2) (1, triangle % 2 == 0 ? 1 : 2);
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
    const uint warp_m = warp % 2 * 32, warp_n = warp / 2 * 32;
    const uint block = e / 4;
    return (uint2) (warp_m + block / 4 * 16 + e / 2 % 2 * 8 + lane / 4,
            warp_n + block % 4 * 8 + lane % 4 * 2 + e % 2);
}

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored M x K.
// B is stored N x K.
// For NVIDIA's compute capability 9.0. Real part and imaginary part lie side by side.
// A work-group computes 64 x 128 of C, a warp 32 x 32 of it. Tiles of A and B, 8 deep, are copied
// into local memory by 4 warps of their own, up to 6 at a time: a tile's `full` barrier says that
// it is there, its `empty` barrier that all whose step it is have read it.
__kernel __attribute__((reqd_work_group_size(384, 1, 1)))
void kiln_zgemmt_interleaved_multiply(long M, long N, long K, int conj_b,
        double alpha, double alpha_imag, double beta, double beta_imag, int conj_a,
        __global const double2 *restrict A, long a_offset, long a_stride, long lda,
        __global const double2 *restrict B, long b_offset, long b_stride, long ldb,
        __global double2 *restrict C, long c_offset, long c_stride, long ldc, int triangle,
                int is_hermitian)
{
    __local uchar both_tiles[147456] __attribute__((aligned(1024)));
    __local uchar *a_tiles = both_tiles, *b_tiles = both_tiles + 49152;
    const uint a_at = local_address(a_tiles), b_at = local_address(b_tiles);
    __local ulong full[6], empty[6];
    const uint fulls = local_address(full), empties = local_address(empty);
    const uint tiles = count_tiles(((uint) M + 63) / 64, ((uint) N + 127) / 128, triangle);
    if (get_group_id(1) * get_num_groups(0) + get_group_id(0) >= tiles)
        return;
    const long member = member_of_batch();
    A += a_offset + member * a_stride;
    B += b_offset + member * b_stride;
    C += c_offset;
    if (get_local_id(0) == 0)
        for (int s = 0; s < 6; s++) {
            mbarrier_init(fulls + 8 * s, 128);
            mbarrier_init(empties + 8 * s, 8);
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    // Those who copy: the last 4 warps, whose work-items count from 0.
    if (get_local_id(0) >= 256) {
        asm volatile("//@setmaxnreg.dec.sync.aligned.u32 40;" ::: "memory");
        const uint item = get_local_id(0) - 256;
        uint stage = 0, phase = 1;
        const uint tile = get_group_id(1) * get_num_groups(0) + get_group_id(0);
        const int num = (K + 7) / 8;
        // Tiles of which something is stored, row by row.
        const uint2 of_tile = place_of_tile(tile, ((uint) N + 127) / 128, triangle);
        const int first_m = of_tile.x * 64, first_n = of_tile.y * 128;
        for (int t = 0; t < num; t++) {
            mbarrier_wait(empties + 8 * stage, phase);
            const int step = t;
            const int k = step * 8;
            copy_a(a_at + stage * 8192, A + first_m * lda + k, lda, M - first_m, K - k, item);
            copy_b(b_at + stage * 16384, B + first_n * ldb + k, ldb, N - first_n, K - k, item);
            mbarrier_arrive_copied(fulls + 8 * stage);
            if (++stage == 6) {
                stage = 0;
                phase ^= 1;
            }
        }
        return;
    }
    // Those who multiply.
    asm volatile("//@setmaxnreg.inc.sync.aligned.u32 232;" ::: "memory");
    const uint item = get_local_id(0), warp = item / 32, lane = item % 32;
    const uint lane_m = lane / 4, lane_n = lane % 4;
    const uint warp_m = warp % 2 * 32, warp_n = warp / 2 * 32;
    uint stage = 0, phase = 0;
    // conj(A) B is the conjugate of A conj(B): until C is stored, only B is conjugated.
    const ulong flip = (ulong) (conj_a ^ conj_b) << 63;

    const uint tile = get_group_id(1) * get_num_groups(0) + get_group_id(0);
    const int num = (K + 7) / 8;
    // Tiles of which something is stored, row by row.
    const uint2 of_tile = place_of_tile(tile, ((uint) N + 127) / 128, triangle);
    const int first_m = of_tile.x * 64, first_n = of_tile.y * 128;
    double re[2][4][4], im[2][4][4];
    #pragma unroll
    for (int e = 0; e < 32; e++)
        re[e / 16][e / 4 % 4][e % 4] = im[e / 16][e / 4 % 4][e % 4] = 0;
    // Eight values of k at a time: the tensor core's k and k + 4 are 2 k and 2 k + 1. A line of a
    // tile has 128 bytes, and its x-th element lies at x ^ line % 8, so that no two work-items that
    // read together meet in a bank. Where a work-item's first element of A and of B is in a tile:
    const uint a_first = (warp_m + lane_m) * 128 + (lane_m ^ 2 * lane_n) * 16;
    const uint b_first = (warp_n + lane_m) * 128 + (lane_m ^ 2 * lane_n) * 16;
    // Set 0 is multiplied while set 1 is read for what comes next: the rows of a step while the
    // last columns of the one before are multiplied.
    double2 a0[2][4], b0[2], a1[2][4], b1[2];
    if (num > 0) {
        mbarrier_wait(fulls + 8 * stage, phase);
        __local const uchar *a_tile = a_tiles + stage * 8192;
        __local const uchar *b_tile = b_tiles + stage * 16384;
        const int next = 0;
        #pragma unroll
        for (int i = 0; i < 2; i++)
            #pragma unroll
            for (int e = 0; e < 4; e++)
                a1[i][e] = *(__local const double2 *) (a_tile + i * 2048 + e % 2 * 1024
                        + (a_first ^ e / 2 * 16));
        #pragma unroll
        for (int e = 0; e < 2; e++)
            b1[e] = *(__local const double2 *) (b_tile + next * 1024 + (b_first ^ e * 16));
    }
    for (int now = 0; now < num; now++) {
        #pragma unroll
        for (int e = 0; e < 8; e++)
            a0[e / 4][e % 4] = a1[e / 4][e % 4];
        // Hands back the stage of the step before, which is not done sooner: what is read from
        // local memory has surely arrived only when it has been multiplied.
        warp_sync();
        if (now > 0 && lane == 0)
            mbarrier_arrive(empties + 8 * (stage == 0 ? 5 : stage - 1));
        __local const uchar *b_tile = b_tiles + stage * 16384;
        if (++stage == 6) {
            stage = 0;
            phase ^= 1;
        }
        #pragma unroll
        for (int j = 0; j < 4; j++) {
            b0[0] = b1[0], b0[1] = b1[1];
            if (j + 1 < 4) {
                const int next = j + 1;
                #pragma unroll
                for (int e = 0; e < 2; e++)
                    b1[e] = *(__local const double2 *) (b_tile + next * 1024 + (b_first ^ e * 16));
            } else if (now + 1 < num) {
                mbarrier_wait(fulls + 8 * stage, phase);
                __local const uchar *a_tile = a_tiles + stage * 8192;
                __local const uchar *b_tile = b_tiles + stage * 16384;
                const int next = 0;
                #pragma unroll
                for (int i = 0; i < 2; i++)
                    #pragma unroll
                    for (int e = 0; e < 4; e++)
                        a1[i][e] = *(__local const double2 *) (a_tile + i * 2048 + e % 2 * 1024
                                + (a_first ^ e / 2 * 16));
                #pragma unroll
                for (int e = 0; e < 2; e++)
                    b1[e] = *(__local const double2 *) (b_tile + next * 1024 + (b_first ^ e * 16));
            }
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
    // The tile goes through local memory, where rows are an element longer, so that work-items meet
    // in few banks.
    __local double2 *c_tile = (__local double2 *) both_tiles;
    // All have multiplied the last step.
    asm volatile("bar.sync 2, 256;" ::: "memory");
    #pragma unroll
    for (int e = 0; e < 32; e++) {
        const double2 sum = (double2) (re[e / 16][e / 4 % 4][e % 4], im[e / 16][e / 4 % 4][e % 4]);
        const uint2 place = place_of(item, e);
        c_tile[place.x * 129 + place.y] = sum;
    }
    asm volatile("bar.sync 2, 256;" ::: "memory");
    #pragma unroll 4
    for (uint i = item; i < 8192; i += 256) {
        const long row = first_m + i / 128, col = first_n + i % 128;
        const double2 sum = c_tile[i / 128 * 129 + i % 128];
        const long2 stored = stored_columns(row, N, triangle);
        if (row < M && col >= stored.x && col < stored.y)
            put(sum, conj_a, alpha, alpha_imag, beta, beta_imag, own + row * ldc + col);
        if (is_hermitian && row == col && row < M)
            make_real(own + row * ldc + col);
    }
}
