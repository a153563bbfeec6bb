// Elements of half are computed with as float. A product and a sum are fused where the device does
// that in one step: FP_CONTRACT, on by default, allows it.
static float load(__global const half *p)
{
    return vload_half(0, p);
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

// The first `num` of eight elements that lie anywhere, and zeros; the matrix ends at `end`. Of the
// aligned chunks that they lie in all is read that is in the matrix, then what is beyond `num` is
// cleared.
static uint4 load_piece(__global const element_bits *from, int num,
        __global const element_bits *end)
{
    if (num <= 0)
        return (uint4) 0;
    uint x[4] = { 0, 0, 0, 0 };
    if (end - from >= 16) {
        vstore4(load_anywhere(from), 0, x);
        if (num < 8)
            #pragma unroll
            for (int i = 0; i < 4; i++)
                x[i] &= num > 2 * i + 1 ? 0xffffffff : num > 2 * i ? 0xffff : 0;
    } else
        #pragma unroll
        for (int i = 0; i < 8; i++)
            if (i < num)
                x[i / 2] |= (uint) from[i] << i % 2 * 16;
    return (uint4) (x[0], x[1], x[2], x[3]);
}

// Where the x-th 16 bytes of a line are, in boxes whose lines have `part` (2, 4 or 8) times 16
// bytes; boxes side by side have 64 lines. Of eight lines in a row the pieces of a column lie in
// different banks.
static uint swizzled(uint line, uint x, uint part)
{
    return (x / part * part * 64 + line * part + (x % part ^ line % 8 / (8 / part))) * 16;
}

// Of 64 lines of 64 elements that begin anywhere, this work-item's pieces of 8: from the matrix, of
// which `lines` and `cols` are left, into registers, and from there into local memory. What lies
// beyond the matrix, which ends at `end`, is 0.
static void fetch_a(uint4 pieces[4], __global const half *from, long ld,
        int lines, int cols, __global const half *end, uint item)
{
    #pragma unroll
    for (int p = 0; p < 4; p++) {
        const int line = (item + p * 128) / 8, x = item % 8 * 8;
        pieces[p] = load_piece((__global const element_bits *) from + line * ld + x,
                line < lines ? cols - x : 0, (__global const element_bits *) end);
    }
}

static void put_a(__local uchar *tile, const uint4 pieces[4], uint item)
{
    #pragma unroll
    for (int p = 0; p < 4; p++) {
        const uint line = (item + p * 128) / 8, x = item % 8;
        *(__local uint4 *) (tile + swizzled(line, x, 8)) = pieces[p];
    }
}

// Of 64 lines of 64 elements that begin anywhere, this work-item's pieces of 8: from the matrix, of
// which `lines` and `cols` are left, into registers, and from there into local memory. What lies
// beyond the matrix, which ends at `end`, is 0.
static void fetch_b(uint4 pieces[4], __global const half *from, long ld,
        int lines, int cols, __global const half *end, uint item)
{
    #pragma unroll
    for (int p = 0; p < 4; p++) {
        const int line = (item + p * 128) / 8, x = item % 8 * 8;
        pieces[p] = load_piece((__global const element_bits *) from + line * ld + x,
                line < lines ? cols - x : 0, (__global const element_bits *) end);
    }
}

static void put_b(__local uchar *tile, const uint4 pieces[4], uint item)
{
    #pragma unroll
    for (int p = 0; p < 4; p++) {
        const uint line = (item + p * 128) / 8, x = item % 8;
        *(__local uint4 *) (tile + swizzled(line, x, 8)) = pieces[p];
    }
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
    const uint tiles_m = ((uint) M + 63) / 64;
    const uint tiles_n = ((uint) N + 63) / 64;
    const uint band = tile / (8 * tiles_n) * 8, in_band = tile - band * tiles_n;
    const uint band_rows = min(tiles_m - band, 8U);
    const uint tile_m = band + in_band % band_rows, tile_n = in_band / band_rows;
    return (int2) (tile_m * 64, tile_n * 64);
}

// Two halves as a word, each rounded to the nearest.
static uint pack_halves(float low, float high)
{
    uint both;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored M x K.
// B is stored N x K.
// For NVIDIA's compute capability 8.0 and later.
// A work-group computes 64 x 64 of C, a warp 32 x 32 of it. Tiles of A and B, 64 deep, are copied
// into local memory asynchronously, 3 ahead of those that are multiplied.
__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
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
    const uint warp_m = warp % 2 * 32, warp_n = warp / 2 * 32;
    float c[2][4][4];
    #pragma unroll
    for (int i = 0; i < 2; i++)
        #pragma unroll
        for (int j = 0; j < 4; j++)
            #pragma unroll
            for (int e = 0; e < 4; e++)
                c[i][j][e] = 0;
    uint as0[2][4], bs0[2][4];
    int stage = 0;
    // K has all of `whole_steps` steps, and `left` values of k of one more, if that is not 0.
    const int whole_steps = K / 64, left = K % 64;
    // Halves that begin anywhere go through registers. `a_end` and `b_end` are behind the last
    // elements of A and B.
    __global const half *a_end = A + (M - 1) * lda + K;
    __global const half *b_end = B + (N - 1) * ldb + K;
    for (int t = 0; t < whole_steps + 3; t++) {
        // All have put what was asked for at t - 3, and have multiplied those of the step before,
        // whose stage is the next one.
        if (t >= 3)
            barrier(CLK_LOCAL_MEM_FENCE);
        uint4 a_pieces[4], b_pieces[4];
        const int next = stage;
        if (t < num) {
            const int step = t;
            const int k = step * 64;
            fetch_a(a_pieces, A + first_m * lda + k, lda, M - first_m, K - k, a_end, item);
            fetch_b(b_pieces, B + first_n * ldb + k, ldb, N - first_n, K - k, b_end, item);
        }
        if (++stage == 4)
            stage = 0;
        // What is fetched is on its way meanwhile.
        if (t >= 3) {
            const uint a_tile = a_at + stage * 8192, b_tile = b_at + stage * 8192;
            #pragma unroll
            for (int s = 0; s < 4; s++) {
                // The s-th part of the tiles' k into fragments.
                // Sixteen values of k of the tile. Blocks of 8 x 8 are read four at once: work-item
                // l says where line l % 8 of block l / 8 is.
                #pragma unroll
                for (int i = 0; i < 2; i++) {
                    const uint line = warp_m + i * 16 + lane % 16, x = s * 2 + lane / 16;
                    load_blocks(as0[i], a_tile + swizzled(line, x, 8));
                }
                #pragma unroll
                for (int j = 0; j < 4; j += 2) {
                    const uint line = warp_n + j * 8 + lane / 16 * 8 + lane % 8,
                            x = s * 2 + lane / 8 % 2;
                    load_blocks(bs0[j / 2], b_tile + swizzled(line, x, 8));
                }
                #pragma unroll
                for (int i = 0; i < 2; i++)
                    #pragma unroll
                    for (int j = 0; j < 4; j++)
                        multiply_blocks(c[i][j], as0[i], bs0[j / 2] + j % 2 * 2);
            }
        }
        if (t < num) {
            put_a(a_tiles + next * 8192, a_pieces, item);
            put_b(b_tiles + next * 8192, b_pieces, item);
        }
    }
    // What there is of the last step: the loop has fetched it.
    if (left > 0) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (++stage == 4)
            stage = 0;
        const uint a_tile = a_at + stage * 8192, b_tile = b_at + stage * 8192;
        for (int s = 0; s * 16 < left; s++) {
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
                const uint line = warp_n + j * 8 + lane / 16 * 8 + lane % 8,
                        x = s * 2 + lane / 8 % 2;
                load_blocks(bs0[j / 2], b_tile + swizzled(line, x, 8));
            }
            #pragma unroll
            for (int i = 0; i < 2; i++)
                #pragma unroll
                for (int j = 0; j < 4; j++)
                    multiply_blocks(c[i][j], as0[i], bs0[j / 2] + j % 2 * 2);
        }
    }
    // C of this member of a batch. The member is asked for anew: kept until now, the place would
    // take registers while tiles are multiplied.
    __global half *const own = C + member_of_batch() * c_stride;
    if (beta != 0) {
        #pragma unroll
        for (int i = 0; i < 2; i++)
            #pragma unroll
            for (int h = 0; h < 2; h++) {
                const long row = first_m + warp_m + i * 16 + h * 8 + lane_r;
                if (row >= M)
                    break;
                const long first_col = 0, end_col = N;
                #pragma unroll
                for (int j = 0; j < 4; j++) {
                    const long col = first_n + warp_n + j * 8 + lane_k * 2;
                    __global const half *old = own + row * ldc + col;
                    if (is_aligned && col + 1 < end_col) {
                        const uint both = *(__global const uint *) old;
                        const float2 y = vload_half2(0, (const half *) &both);
                        c[i][j][2 * h] = alpha * c[i][j][2 * h] + beta * y.x;
                        c[i][j][2 * h + 1] = alpha * c[i][j][2 * h + 1] + beta * y.y;
                        continue;
                    }
                    if (col >= first_col && col < end_col)
                        c[i][j][2 * h] = alpha * c[i][j][2 * h] + beta * load(old);
                    if (col + 1 >= first_col && col + 1 < end_col)
                        c[i][j][2 * h + 1] = alpha * c[i][j][2 * h + 1] + beta * load(old + 1);
                }
            }
    }
    const float factor = beta != 0 ? 1 : alpha;
    // The tile goes through local memory, as words of two halves. Rows lie four words further apart
    // than they are long, so that eight of them meet in no bank.
    __local uint *c_words = (__local uint *) both_tiles;
    // All have multiplied the last step.
    barrier(CLK_LOCAL_MEM_FENCE);
    {
        __local uint *to = c_words + (warp_m + lane_r) * 36 + warp_n / 2 + lane_k;
        #pragma unroll
        for (int i = 0; i < 2; i++)
            #pragma unroll
            for (int h = 0; h < 2; h++)
                #pragma unroll
                for (int j = 0; j < 4; j++)
                    to[(i * 16 + h * 8) * 36 + j * 4] =
                            pack_halves(factor * c[i][j][2 * h], factor * c[i][j][2 * h + 1]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const int num_rows = min(M - first_m, 64L);
    if (is_aligned && first_n + 64 <= N) {
        const int first_row = item / 8, x = item % 8;
        __global uint4 *out = (__global uint4 *) (own + (first_m + first_row) * ldc + first_n) + x;
        __local const uint *from = c_words + first_row * 36 + x * 4;
        #pragma unroll
        for (int m = 0; m < 64; m += 16)
            if (first_row + m < num_rows)
                out[m * (ldc / 8)] = *(__local const uint4 *) (from + m * 36);
    } else {
        // A word of C is a word of local memory or, where a row of C begins in the middle of one,
        // the second half of one and the first half of the next.
        // Warps are even in number: ldc may be odd, but all rows of one warp begin alike.
        __global ushort *out = (__global ushort *) own + (first_m + warp) * ldc + first_n;
        const int within = (ulong) out / 2 % 2;
        const int first_col = 0, end_col = min(N - first_n, 64L);
        {
            const int x = (int) lane, col = 2 * x - within;
            const bool is_there = col >= 0 && col + 1 < end_col;
            __local const uint *from = c_words + warp * 36 + x;
            __global ushort *to = out + col;
            #pragma unroll 4
            for (int m = warp; m < num_rows; m += 4) {
                if (is_there)
                    *(__global uint *) to = within ? from[-1] >> 16 | from[0] << 16 : from[0];
                from += 144;
                to += 4 * ldc;
            }
        }
        // The first and the last column of a row, where they are in a word with what is not stored.
        for (int p = item; p < 2 * num_rows; p += 128) {
            const int m = p / 2;
            const int col = p % 2 == 0 ? first_col : end_col - 1;
            __global ushort *to = (__global ushort *) own + (first_m + m) * ldc + first_n + col;
            if (first_col < end_col && (ulong) to / 2 % 2 != p % 2)
                *to = ((__local const ushort *) (c_words + m * 36))[col];
        }
    }
}
