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

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored K x M.
// B is stored N x K.
// A work-group is one work-item. It packs slices of panels of B into local memory, and multiplies
// them with blocks of 2 rows of A, as they lie. A block of C is held in registers.
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
    __local float panel[256] __attribute__((aligned(16)));
    // What the slices of K add up to so far, block after block.
    __local float sums[32] __attribute__((aligned(16)));

    const long blocks = (M + 1) / 2;
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
        const long vector = vectors * this_panel / panels;
        const long width = vectors * (this_panel + 1) / panels - vector, col = vector * 4;
        at += last - first;
        long k0 = 0;
        do {
            const long depth = min(slice, K - k0);
            // Packs B from (k0, col) on, `depth` of K and `width` vectors.
            // Columns past the end repeat the last one; what is computed from them is not stored.
            for (long v = 0; v < width; v++) {
                __local float *out = panel + v * 4;
                __global const half *in = B + k0;
                const long l0 = min(col + v * 4, N - 1) * ldb;
                const long l1 = min(col + v * 4 + 1, N - 1) * ldb;
                const long l2 = min(col + v * 4 + 2, N - 1) * ldb;
                const long l3 = min(col + v * 4 + 3, N - 1) * ldb;
                long k = 0;
                // A square of columns by k is transposed: each step puts the even and the odd
                // elements of two neighbours together.
                for (; k + 4 <= depth; k += 4, in += 4, out += 16) {
                    const float4 x0_0 = load_vector(in + l0);
                    const float4 x0_1 = load_vector(in + l1);
                    const float4 x0_2 = load_vector(in + l2);
                    const float4 x0_3 = load_vector(in + l3);
                    const float4 x1_0 = (float4) (x0_0.even, x0_1.even);
                    const float4 x1_2 = (float4) (x0_0.odd, x0_1.odd);
                    const float4 x1_1 = (float4) (x0_2.even, x0_3.even);
                    const float4 x1_3 = (float4) (x0_2.odd, x0_3.odd);
                    const float4 x2_0 = (float4) (x1_0.even, x1_1.even);
                    const float4 x2_2 = (float4) (x1_0.odd, x1_1.odd);
                    const float4 x2_1 = (float4) (x1_2.even, x1_3.even);
                    const float4 x2_3 = (float4) (x1_2.odd, x1_3.odd);
                    keep(x2_0, 0, out);
                    keep(x2_1, 0, out + 4);
                    keep(x2_2, 0, out + 8);
                    keep(x2_3, 0, out + 12);
                }
                for (; k < depth; k++, in++, out += 4) {
                    out[0] = load(in + l0);
                    out[1] = load(in + l1);
                    out[2] = load(in + l2);
                    out[3] = load(in + l3);
                }
            }
            for (long block = first; block < last; block++) {
                const long row = (chunk + block) * 2;
                __local float *sum = sums + (slices > 1 ? block * 8 : 0);
                __local const float *b = panel;
                __global const half *restrict a = A + k0 * lda;
                const long r0 = min(row, M - 1);
                const long r1 = min(row + 1, M - 1);
                // Adds the slice's share of a block of 2 rows and 1 vector to `sum`, whose rows are
                // 1 vector apart.
                float4 c0_0 = 0;
                float4 c1_0 = 0;
                if (k0 > 0) {
                    c0_0 = vload4(0, sum);
                    c1_0 = vload4(1, sum);
                }
                long k = 0;
                for (; k + 2 <= depth; k += 2) {
                    {
                        const float4 b0 = vload4(0, b);
                        const float a0 = load(a + r0);
                        c0_0 += a0 * b0;
                        const float a1 = load(a + r1);
                        c1_0 += a1 * b0;
                        b += 4;
                        a += lda;
                    }
                    {
                        const float4 b0 = vload4(0, b);
                        const float a0 = load(a + r0);
                        c0_0 += a0 * b0;
                        const float a1 = load(a + r1);
                        c1_0 += a1 * b0;
                        b += 4;
                        a += lda;
                    }
                }
                for (; k < depth; k++) {
                    const float4 b0 = vload4(0, b);
                    const float a0 = load(a + r0);
                    c0_0 += a0 * b0;
                    const float a1 = load(a + r1);
                    c1_0 += a1 * b0;
                    b += 4;
                    a += lda;
                }
                keep(c0_0, 0, sum);
                keep(c1_0, 1, sum);
                if (k0 + depth == K) {
                    // C = alpha sum + beta C for a block of `width` vectors at (row, col).
                    for (long m = 0; m < 2 && row + m < M; m++) {
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
            k0 += depth;
        } while (k0 < K);
    }
}
