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

// C = alpha x + beta C for one element; beta == 0 does not read C.
static void put(float x, float alpha, float beta, __global half *p)
{
    store(beta == 0 ? alpha * x : alpha * x + beta * load(p), p);
}

static float4 load_vector(__global const half *p)
{
    return vload_half4(0, p);
}

static void store_vector(float4 x, __global half *p)
{
    vstore_half4(x, 0, p);
}

// put for elements side by side.
static void put_vector(float4 x, float alpha, float beta, __global half *p)
{
    if (beta == 0)
        store_vector(alpha * x, p);
    else
        store_vector(alpha * x + beta * load_vector(p), p);
}

// vstore, where memory is aligned to vectors: one store, for which vstore may take several.
static void keep(float4 x, long i, __local float *p)
{
    *(__local float4 *) (p + i * 4) = x;
}

static float2 load_side(__global const half *p)
{
    return vload_half2(0, p);
}

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored K x M.
// B is stored K x N.
// A work-group is one work-item. It packs slices of panels of B into local memory, and multiplies
// them with blocks of 6 rows of A, which it packs too. A block of C is held in registers.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void kiln_hgemm_fused_multiply(long M, long N, long K,
        float alpha, float beta,
        __global const half *restrict A, long a_offset, long a_stride, long lda,
        __global const half *restrict B, long b_offset, long b_stride, long ldb,
        __global half *restrict C, long c_offset, long c_stride, long ldc)
{
    // A slice of a panel: for every k a row, of the panel's columns of B side by side. Rows are 4
    // numbers apart.
    // Panels are up to 4 columns wide, slices up to 64 of K deep. All are of equal size, but for 4
    // columns or the last slice.
    // Panels that are packed together lie one after the other, and so do their sums.
    __local float packed[512] __attribute__((aligned(16)));
    // A slice of a chunk of A: block after block, for every k the block's rows side by side.
    __local float packed_a[1536] __attribute__((aligned(16)));
    // What the slices of K add up to so far, block after block.
    __local float sums[192] __attribute__((aligned(16)));

    const long blocks = (M + 5) / 6;
    const long vectors = (N + 3) / 4, panels = vectors;
    const long slices = max((K + 63) / 64, 1L), slice = (K + slices - 1) / slices;

    // Chunks of up to 4 blocks of rows; panels in a chunk; blocks in a panel. Each work-group takes
    // as many blocks, to one, of this order.
    const long group = get_group_id(0), groups = get_num_groups(0);
    const long member = get_group_id(2);
    A += a_offset + member * a_stride;
    B += b_offset + member * b_stride;
    C += c_offset + member * c_stride;
    const long share = blocks * panels / groups, rest = blocks * panels % groups;
    long at = group * share + min(group, rest);
    const long end = at + share + (group < rest);
    while (at < end) {
        const long chunk = at / (4 * panels) * 4;
        const long height = min(blocks - chunk, 4L);
        const long in_chunk = at - chunk * panels, this_panel = in_chunk / height;
        const long first = in_chunk % height, last = min(height, first + end - at);
        // Panels of which the work-group has all blocks are packed together.
        const long whole = max((end - at) / height, 1L);
        const long together = first > 0 ? 1 : min(min(whole, 2L), panels - this_panel);
        long vector[3];
        for (long p = 0; p <= together; p++)
            vector[p] = vectors * (this_panel + p) / panels;
        at += together * (last - first);
        long k0 = 0;
        do {
            const long depth = min(slice, K - k0);
            // Packs B from row k0 on, `depth` of K.
            // Columns past the end repeat the last one; what is computed from them is not stored.
            {
                const long whole = N / 4;
                __global const half *in = B + k0 * ldb;
                for (long k = 0; k < depth; k++, in += ldb)
                    for (long p = 0; p < together; p++) {
                        __local float *out = packed + p * 256 + k * 4;
                        long v = vector[p];
                        for (; v < min(vector[p + 1], whole); v++, out += 4)
                            keep(load_vector(in + v * 4), 0, out);
                        for (long i = v * 4; i < vector[p + 1] * 4; i++)
                            *out++ = load(in + min(i, N - 1));
                    }
            }
            // Packs the blocks of A from `first` to `last` of the chunk, `depth` of K from k0 on:
            // for every k, the rows of a block side by side. Rows past the end repeat the last one;
            // what is computed from them is not stored.
            for (long block = first; block < last; block++) {
                const long row = (chunk + block) * 6;
                __local float *out = packed_a + block * 384;
                __global const half *in = A + k0 * lda + row;
                const bool is_whole = row + 6 <= M;
                for (long k = 0; k < depth; k++, in += lda, out += 6)
                    if (is_whole) {
                        *(__local float2 *) (out) = load_side(in);
                        *(__local float2 *) (out + 2) = load_side(in + 2);
                        *(__local float2 *) (out + 4) = load_side(in + 4);
                    } else {
                        for (long i = 0; i < 6; i++)
                            out[i] = load(in + min(i, M - 1 - row));
                    }
            }
            for (long p = 0; p < together; p++) {
                const long width = vector[p + 1] - vector[p], col = vector[p] * 4;
                __local const float *panel = packed + p * 256;
                for (long block = first; block < last; block++) {
                    const long row = (chunk + block) * 6;
                    __local float *sum = sums + p * 96 + (slices > 1 ? block * 24 : 0);
                    __local const float *b = panel;
                    __local const float *a = packed_a + block * 384;
                    // Adds the slice's share of a block of 6 rows and 1 vector to `sum`, whose rows
                    // are 1 vector apart.
                    float4 c0_0 = 0;
                    float4 c1_0 = 0;
                    float4 c2_0 = 0;
                    float4 c3_0 = 0;
                    float4 c4_0 = 0;
                    float4 c5_0 = 0;
                    if (k0 > 0) {
                        c0_0 = vload4(0, sum);
                        c1_0 = vload4(1, sum);
                        c2_0 = vload4(2, sum);
                        c3_0 = vload4(3, sum);
                        c4_0 = vload4(4, sum);
                        c5_0 = vload4(5, sum);
                    }
                    for (long k = 0; k < depth; k++) {
                        const float4 b0 = vload4(0, b);
                        const float a0 = a[0];
                        c0_0 += a0 * b0;
                        const float a1 = a[1];
                        c1_0 += a1 * b0;
                        const float a2 = a[2];
                        c2_0 += a2 * b0;
                        const float a3 = a[3];
                        c3_0 += a3 * b0;
                        const float a4 = a[4];
                        c4_0 += a4 * b0;
                        const float a5 = a[5];
                        c5_0 += a5 * b0;
                        b += 4;
                        a += 6;
                    }
                    keep(c0_0, 0, sum);
                    keep(c1_0, 1, sum);
                    keep(c2_0, 2, sum);
                    keep(c3_0, 3, sum);
                    keep(c4_0, 4, sum);
                    keep(c5_0, 5, sum);
                    if (k0 + depth == K) {
                        // C = alpha sum + beta C for a block of `width` vectors at (row, col).
                        for (long m = 0; m < 6 && row + m < M; m++) {
                            __global half *out = C + (row + m) * ldc + col;
                            __local const float *x = sum + m * 4;
                            const long end_n = min(width * 4, N - col);
                            long n = 0;
                            for (; n + 4 <= end_n; n += 4)
                                put_vector(vload4(0, x + n), alpha, beta, out + n);
                            for (; n < end_n; n++)
                                put(x[n], alpha, beta, out + n);
                        }
                    }
                }
            }
            k0 += depth;
        } while (k0 < K);
    }
}
