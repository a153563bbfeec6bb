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

// C = alpha x + beta C for one element; beta == 0 does not read C.
static void put(float x, float alpha, float beta, __global float *p)
{
    store(beta == 0 ? alpha * x : alpha * x + beta * load(p), p);
}

static float4 load_vector(__global const float *p)
{
    return vload4(0, p);
}

static void store_vector(float4 x, __global float *p)
{
    vstore4(x, 0, p);
}

// put for elements side by side.
static void put_vector(float4 x, float alpha, float beta, __global float *p)
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
// A is stored M x K.
// B is stored K x N.
// A work-group is one work-item. It packs slices of panels of B into local memory, and multiplies
// them with blocks of 2 rows of A, as they lie. A block of C is held in registers.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void kiln_sgemm_fused_multiply(long M, long N, long K,
        float alpha, float beta,
        __global const float *restrict A, long a_offset, long a_stride, long lda,
        __global const float *restrict B, long b_offset, long b_stride, long ldb,
        __global float *restrict C, long c_offset, long c_stride, long ldc)
{
    // A slice of a panel: for every k a row, of the panel's columns of B side by side. Rows are 8
    // numbers apart.
    // Panels are up to 8 columns wide, slices up to 64 of K deep. All are of equal size, but for 4
    // columns or the last slice.
    __local float panel[512] __attribute__((aligned(16)));
    // What the slices of K add up to so far, block after block.
    __local float sums[64] __attribute__((aligned(16)));

    const long blocks = (M + 1) / 2;
    const long vectors = (N + 3) / 4, panels = (vectors + 1) / 2;
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
            {
                const long whole = min(width, (N - col) / 4);
                __local float *out = panel;
                __global const float *in = B + k0 * ldb + col;
                for (long k = 0; k < depth; k++, in += ldb, out += 8) {
                    for (long v = 0; v < whole; v++)
                        keep(load_vector(in + v * 4), v, out);
                    for (long i = whole * 4; i < width * 4; i++)
                        out[i] = load(in + min(i, N - 1 - col));
                }
            }
            for (long block = first; block < last; block++) {
                const long row = (chunk + block) * 2;
                __local float *sum = sums + (slices > 1 ? block * 16 : 0);
                __local const float *b = panel;
                __global const float *restrict a = A + k0;
                const long r0 = min(row, M - 1) * lda;
                const long r1 = min(row + 1, M - 1) * lda;
                if (width == 1) {
                    // Adds the slice's share of a block of 2 rows and 1 vector to `sum`, whose rows
                    // are 2 vectors apart.
                    float4 c0_0 = 0;
                    float4 c1_0 = 0;
                    if (k0 > 0) {
                        c0_0 = vload4(0, sum);
                        c1_0 = vload4(2, sum);
                    }
                    for (long k = 0; k < depth; k++) {
                        const float4 b0 = vload4(0, b);
                        const float a0 = load(a + r0);
                        c0_0 += a0 * b0;
                        const float a1 = load(a + r1);
                        c1_0 += a1 * b0;
                        b += 8;
                        a++;
                    }
                    keep(c0_0, 0, sum);
                    keep(c1_0, 2, sum);
                }
                if (width == 2) {
                    // Adds the slice's share of a block of 2 rows and 2 vectors to `sum`, whose
                    // rows are 2 vectors apart.
                    float4 c0_0 = 0, c0_1 = 0;
                    float4 c1_0 = 0, c1_1 = 0;
                    if (k0 > 0) {
                        c0_0 = vload4(0, sum); c0_1 = vload4(1, sum);
                        c1_0 = vload4(2, sum); c1_1 = vload4(3, sum);
                    }
                    for (long k = 0; k < depth; k++) {
                        const float4 b0 = vload4(0, b);
                        const float4 b1 = vload4(1, b);
                        const float a0 = load(a + r0);
                        c0_0 += a0 * b0; c0_1 += a0 * b1;
                        const float a1 = load(a + r1);
                        c1_0 += a1 * b0; c1_1 += a1 * b1;
                        b += 8;
                        a++;
                    }
                    keep(c0_0, 0, sum); keep(c0_1, 1, sum);
                    keep(c1_0, 2, sum); keep(c1_1, 3, sum);
                }
                if (k0 + depth == K) {
                    // C = alpha sum + beta C for a block of `width` vectors at (row, col).
                    for (long m = 0; m < 2 && row + m < M; m++) {
                        __global float *out = C + (row + m) * ldc + col;
                        __local const float *x = sum + m * 8;
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
