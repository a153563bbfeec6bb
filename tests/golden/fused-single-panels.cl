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

// Asks for the line of memory of an address that is read soon: nothing, unless there is the
// builtin. The address may lie outside of a buffer, so that this is for compilers that make a CPU's
// own code; others do without.
#define ask_for(address)
#if defined(__has_builtin) && !defined(__SPIR__) && !defined(__SPIRV__)
#if __has_builtin(__builtin_prefetch)
#undef ask_for
// The builtin takes an address without an address space.
#define ask_for(address) __builtin_prefetch((const void *) (uintptr_t) (address))
#endif
#endif

// vstore, where memory is aligned to vectors: one store, for which vstore may take several.
static void keep(float4 x, long i, __local float *p)
{
    *(__local float4 *) (p + i * 4) = x;
}

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored K x M.
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
    // A slice of a panel: for every k a row, of the panel's columns of B side by side. Rows are 4
    // numbers apart.
    // Panels are up to 4 columns wide, slices up to 64 of K deep. All are of equal size, but for 4
    // columns or the last slice.
    // Panels that are packed together lie one after the other, and so do their sums.
    __local float packed[1024] __attribute__((aligned(16)));
    // What the slices of K add up to so far, block after block.
    __local float sums[128] __attribute__((aligned(16)));

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
        // Panels of which the work-group has all blocks are packed together.
        const long whole = max((end - at) / height, 1L);
        const long together = first > 0 ? 1 : min(min(whole, 4L), panels - this_panel);
        long vector[5];
        for (long p = 0; p <= together; p++)
            vector[p] = vectors * (this_panel + p) / panels;
        at += together * (last - first);
        long k0 = 0;
        do {
            const long depth = min(slice, K - k0);
            // Packs B from row k0 on, `depth` of K.
            // Columns past the end repeat the last one; what is computed from them is not stored.
            const long whole = N / 4;
            __global const float *in = B + k0 * ldb;
            for (long k = 0; k < depth; k++, in += ldb)
                for (long p = 0; p < together; p++) {
                    __local float *out = packed + p * 256 + k * 4;
                    long v = vector[p];
                    for (; v < min(vector[p + 1], whole); v++, out += 4)
                        keep(load_vector(in + v * 4), 0, out);
                    for (long i = v * 4; i < vector[p + 1] * 4; i++)
                        *out++ = load(in + min(i, N - 1));
                }
            for (long p = 0; p < together; p++) {
                const long width = vector[p + 1] - vector[p], col = vector[p] * 4;
                __local const float *panel = packed + p * 256;
                for (long block = first; block < last; block++) {
                    const long row = (chunk + block) * 2;
                    __local float *sum = sums + p * 32 + (slices > 1 ? block * 8 : 0);
                    __local const float *b = panel;
                    // The rows of B that are packed next: those below or, after the last slice,
                    // beside these.
                    __global const float *next = B + col;
                    next += k0 + depth < K ? (k0 + depth) * ldb
                            : (vector[together] - vector[0]) * 4;
                    __global const float *restrict a = A + k0 * lda;
                    const long r0 = min(row, M - 1);
                    const long r1 = min(row + 1, M - 1);
                    // Adds the slice's share of a block of 2 rows and 1 vector to `sum`, whose rows
                    // are 1 vector apart.
                    float4 c0_0 = 0;
                    float4 c1_0 = 0;
                    if (k0 > 0) {
                        c0_0 = vload4(0, sum);
                        c1_0 = vload4(1, sum);
                    }
                    for (long k = 0; k < depth; k++) {
                        ask_for(next);
                        next += ldb;
                        ask_for(a + r0 + 16 * lda);
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
                            __global float *out = C + (row + m) * ldc + col;
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
