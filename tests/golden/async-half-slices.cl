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

// Begins to copy 4 bytes into local memory: the first `bytes` of them, and zeros.
static void copy_4(uint to, __global const half *from, uint bytes)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::
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
// bytes; boxes side by side have 64 lines. Of eight lines in a row the pieces of a column lie in
// different banks.
static uint swizzled(uint line, uint x, uint part)
{
    return (x / part * part * 64 + line * part + (x % part ^ line % 8 / (8 / part))) * 16;
}

// Begins to copy 64 lines of 64 elements, of which this work-item copies 2 at a time, in one of
// every 8 lines. There are `lines` and `cols` of the matrix left; what lies beyond is 0.
static void copy_a(uint to, __global const half *from, long ld, uint lines, int cols, uint item)
{
    const uint first = item / 32, col = item % 32 * 2;
    from += first * ld + col;
    if (lines >= 64 && cols >= 64) {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 64; n += 8) {
            const uint line = first + n;
            const uint where = swizzled(line, x / 8, 8) + x % 8 * 2;
            copy_4(to + where, from + n * ld, 4);
        }
    } else {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 64; n += 8) {
            const uint line = first + n;
            const uint where = swizzled(line, x / 8, 8) + x % 8 * 2;
            copy_4(to + where, from + n * ld, line < lines ? clamp(cols - (int) x, 0, 2) * 2 : 0);
        }
    }
}

// Begins to copy 64 lines of 64 elements, of which this work-item copies 2 at a time, in one of
// every 8 lines. There are `lines` and `cols` of the matrix left; what lies beyond is 0.
static void copy_b(uint to, __global const half *from, long ld, uint lines, int cols, uint item)
{
    const uint first = item / 32, col = item % 32 * 2;
    from += first * ld + col;
    if (lines >= 64 && cols >= 64) {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 64; n += 8) {
            const uint line = first + n;
            const uint where = swizzled(line, x / 8, 8) + x % 8 * 2;
            copy_4(to + where, from + n * ld, 4);
        }
    } else {
        const uint x = col;
        #pragma unroll
        for (uint n = 0; n < 64; n += 8) {
            const uint line = first + n;
            const uint where = swizzled(line, x / 8, 8) + x % 8 * 2;
            copy_4(to + where, from + n * ld, line < lines ? clamp(cols - (int) x, 0, 2) * 2 : 0);
        }
    }
}

// Reads four blocks of 8 x 8 halves from local memory, as mma wants them; lines are rows of A,
// columns of B.
static void load_blocks(uint to[4], uint from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" :
            "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(from) : "memory");
}

// The same where lines are columns of A, rows of B.
static void load_transposed_blocks(uint to[4], uint from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" :
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

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored M x K.
// B is stored K x N.
// For NVIDIA's compute capability 8.0 and later.
// A work-group computes 64 x 64 of C, a warp 32 x 32 of it. Tiles of A and B, 64 deep, are copied
// into local memory asynchronously, 3 ahead of those that are multiplied.
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void kiln_hgemm_async_multiply(long M, long N, long K,
        __global const half *restrict A, long a_offset, long a_stride, long lda,
        __global const half *restrict B, long b_offset, long b_stride, long ldb,
        float alpha, float beta,
        __global half *restrict C, long c_offset, long c_stride, long ldc)
{
    __local uchar both_tiles[65536] __attribute__((aligned(1024)));
    __local uchar *a_tiles = both_tiles, *b_tiles = both_tiles + 32768;
    const uint a_at = local_address(a_tiles), b_at = local_address(b_tiles);
    const uint item = get_local_id(0), warp = item / 32, lane = item % 32;
    const long member = member_of_batch();
    A += a_offset + member * a_stride;
    B += b_offset + member * b_stride;
    C += c_offset;
    // Whether every row of C starts where 8 columns may be stored at once.
    const ulong misaligned = ((ulong) (C + member * c_stride) | (ulong) (ldc * 2)) & 15;
    const bool is_aligned = misaligned == 0;

    const uint tile = get_group_id(1) * get_num_groups(0) + get_group_id(0);
    const int num = (K + 63) / 64;
    const int2 origin = origin_of_tile(tile, M, N);
    const int first_m = origin.x, first_n = origin.y;
    const uint lane_m = lane / 4, lane_k = lane % 4;
    const uint lane_r = lane_m;
    const uint warp_m = warp % 2 * 32, warp_n = warp / 2 % 2 * 32;
    float c[2][4][4];
    #pragma unroll
    for (int i = 0; i < 2; i++)
        #pragma unroll
        for (int j = 0; j < 4; j++)
            #pragma unroll
            for (int e = 0; e < 4; e++)
                c[i][j][e] = 0;
    // Of each step this warp has one part of 2.
    const int slice = warp / 4;
    uint as0[2][4], bs0[2][4];
    int stage = 0;
    // K has all of `whole_steps` steps, and `left` values of k of one more, if that is not 0.
    const int whole_steps = K / 64, left = K % 64;
    for (int t = 0; t < whole_steps + 3; t++) {
        // What was asked for at t - 3 is there for all, and all have multiplied those of the step
        // before, whose stage is the next one to copy to.
        if (t >= 3) {
            wait_for_copies();
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (t < num) {
            const int step = t;
            const int k = step * 64;
            copy_a(a_at + stage * 8192, A + first_m * lda + k, lda, M - first_m, K - k, item);
            copy_b(b_at + stage * 8192, B + k * ldb + first_n, ldb, K - k, N - first_n, item);
        }
        commit_copies();
        // Behind the stage that is copied to comes the one copied to 3 steps before.
        if (++stage == 4)
            stage = 0;
        if (t < 3)
            continue;
        const uint a_tile = a_at + stage * 8192, b_tile = b_at + stage * 8192;
        const int from = slice * 2;
        #pragma unroll
        for (int s = from; s < from + 2; s++) {
            // The s-th part of the tiles' k into fragments.
            // Sixteen values of k of the tile. Blocks of 8 x 8 are read four at once: work-item l
            // says where line l % 8 of block l / 8 is.
            #pragma unroll
            for (int i = 0; i < 2; i++) {
                const uint line = warp_m + i * 16 + lane % 16, x = s * 2 + lane / 16;
                load_blocks(as0[i], a_tile + swizzled(line, x, 8));
            }
            #pragma unroll
            for (int j = 0; j < 4; j += 2) {
                const uint line = s * 16 + lane % 16, x = warp_n / 8 + j + lane / 16;
                load_transposed_blocks(bs0[j / 2], b_tile + swizzled(line, x, 8));
            }
            #pragma unroll
            for (int i = 0; i < 2; i++)
                #pragma unroll
                for (int j = 0; j < 4; j++)
                    multiply_blocks(c[i][j], as0[i], bs0[j / 2] + j % 2 * 2);
        }
    }
    // What there is of the last step: the loop has fetched it.
    if (left > 0) {
        wait_for_copies();
        barrier(CLK_LOCAL_MEM_FENCE);
        if (++stage == 4)
            stage = 0;
        const uint a_tile = a_at + stage * 8192, b_tile = b_at + stage * 8192;
        const int from = slice * 2;
        for (int s = from; s < from + 2 && s * 16 < left; s++) {
            // The s-th part of the tiles' k into fragments.
            // Sixteen values of k of the tile. Blocks of 8 x 8 are read four at once: work-item l
            // says where line l % 8 of block l / 8 is.
            #pragma unroll
            for (int i = 0; i < 2; i++) {
                const uint line = warp_m + i * 16 + lane % 16, x = s * 2 + lane / 16;
                load_blocks(as0[i], a_tile + swizzled(line, x, 8));
            }
            #pragma unroll
            for (int j = 0; j < 4; j += 2) {
                const uint line = s * 16 + lane % 16, x = warp_n / 8 + j + lane / 16;
                load_transposed_blocks(bs0[j / 2], b_tile + swizzled(line, x, 8));
            }
            #pragma unroll
            for (int i = 0; i < 2; i++)
                #pragma unroll
                for (int j = 0; j < 4; j++)
                    multiply_blocks(c[i][j], as0[i], bs0[j / 2] + j % 2 * 2);
        }
    }
    // What slices have is added up, always in the same order, through the memory of the tiles, when
    // all have multiplied theirs.
    __local float *sums = (__local float *) a_tiles + item % 128;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (slice > 0)
        #pragma unroll
        for (int i = 0; i < 2; i++)
            #pragma unroll
            for (int j = 0; j < 4; j++)
                #pragma unroll
                for (int e = 0; e < 4; e++)
                    sums[((slice - 1) * 32 + (i * 4 + j) * 4 + e) * 128] = c[i][j][e];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (slice > 0)
        return;
    #pragma unroll
    for (int i = 0; i < 2; i++)
        #pragma unroll
        for (int j = 0; j < 4; j++)
            #pragma unroll
            for (int e = 0; e < 4; e++)
                c[i][j][e] += sums[((i * 4 + j) * 4 + e) * 128];
    // C of this member of a batch. The member is asked for anew: kept until now, the place would
    // take registers while tiles are multiplied.
    __global half *const own = C + member_of_batch() * c_stride;
    #pragma unroll
    for (int i = 0; i < 2; i++)
        #pragma unroll
        for (int h = 0; h < 2; h++) {
            const long row = first_m + warp_m + i * 16 + h * 8 + lane_r;
            if (row >= M)
                break;
            __global half *out = own + row * ldc;
            #pragma unroll
            for (int j = 0; j < 4; j++) {
                const long col = first_n + warp_n + j * 8 + lane_k * 2;
                put_pair(c[i][j][2 * h], c[i][j][2 * h + 1], out, col, N, alpha, beta, is_aligned);
            }
        }
}
