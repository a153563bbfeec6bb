static float2 load(__global const float2 *p)
{
    return vload2(0, (__global const float *) p);
}

static void store(float2 x, __global float2 *p)
{
    vstore2(x, 0, (__global float *) p);
}

// The first column of a row that is stored, and the one behind the last. `triangle` is 0 for all of
// C, 1 or -1 for its lower or upper triangle, 2 or -2 for the same where an element is two columns.
static long2 stored_columns(long row, long N, int triangle)
{
    return (long2) (triangle < 0 ? row * -triangle : 0,
            triangle > 0 ? min(N, (row + 1) * triangle) : N);
}

// An element of the diagonal of a Hermitian matrix.
static void make_real(__global float2 *p)
{
    ((__global float *) p)[1] = 0;
}

// x times (re, im). A factor that is real multiplies each part alone, as real products do.
static float2 scaled(float2 x, float re, float im)
{
    return im == 0 ? re * x : (float2) (re * x.x - im * x.y, re * x.y + im * x.x);
}

// C = alpha x + beta C for one element, x conjugated if so; beta == 0 does not read C.
static void put(float2 x, int is_conjugated, float alpha, float alpha_imag,
        float beta, float beta_imag, __global float2 *p)
{
    x.y *= is_conjugated ? -1 : 1;
    x = scaled(x, alpha, alpha_imag);
    if (beta != 0 || beta_imag != 0)
        x += scaled(load(p), beta, beta_imag);
    store(x, p);
}

// The elements of x times i.
static float4 times_i(float4 x)
{
    // The parts change places, and what becomes the real one its sign.
    const uint4 signs = (uint4) (0, 1U << 31, 0, 1U << 31);
    x = as_float4(as_uint4(x) ^ signs);
    return x.s1032;
}

static float4 scaled_vector(float4 x, float re, float im)
{
    return im == 0 ? re * x : re * x + im * times_i(x);
}

static float4 load_vector(__global const float2 *p)
{
    return vload4(0, (__global const float *) p);
}

// put for elements side by side.
static void put_vector(float4 x, int is_conjugated, float alpha, float alpha_imag,
        float beta, float beta_imag, __global float2 *p)
{
    const float sign = is_conjugated ? -1 : 1;
    x *= (float4) (1, sign, 1, sign);
    x = scaled_vector(x, alpha, alpha_imag);
    if (beta != 0 || beta_imag != 0)
        x += scaled_vector(load_vector(p), beta, beta_imag);
    vstore4(x, 0, (__global float *) p);
}

// vstore, where memory is aligned to vectors: one store, for which vstore may take several.
static void keep(float4 x, long i, __local float *p)
{
    *(__local float4 *) (p + i * 4) = x;
}

// Of a panel of the vectors from `vector` to `end`, and a chunk of blocks of rows: the first block
// of which something is stored, in the chunk, and the one behind the last.
static long2 stored_blocks(long chunk, long blocks, long vector, long end, int triangle)
{
    const long rows = 2 * abs(triangle), height = min(blocks - chunk, 4L);
    const long first = triangle > 0 ? vector * 2 / rows : 0;
    const long last = triangle > 0 ? blocks : (end * 2 - 1) / rows + 1;
    return (long2) (clamp(first - chunk, 0L, height), clamp(last - chunk, 0L, height));
}

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored M x K.
// B is stored K x N.
// A work-group is one work-item. It packs slices of panels of B into local memory, and multiplies
// them with blocks of 2 rows of A, as they lie. A block of C is held in registers. Blocks of which
// nothing is stored are left out.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void kiln_cgemmt_fused_multiply(long M, long N, long K,
        float alpha, float alpha_imag, float beta, float beta_imag, int conj_a, int conj_b,
        __global const float2 *restrict A, long a_offset, long a_stride, long lda,
        __global const float2 *restrict B, long b_offset, long b_stride, long ldb,
        __global float2 *restrict C, long c_offset, long c_stride, long ldc, int triangle,
                int is_hermitian)
{
    // A slice of a panel: for every k a row, of the panel's columns of B side by side. Rows are 8
    // numbers apart.
    // Panels are up to 4 columns wide, slices up to 64 of K deep. All are of equal size, but for 2
    // columns or the last slice.
    __local float panel[512] __attribute__((aligned(16)));
    // What the slices of K add up to so far, block after block.
    __local float sums[64] __attribute__((aligned(16)));

    const long blocks = (M + 1) / 2;
    const long vectors = (N + 1) / 2, panels = (vectors + 1) / 2;
    const long slices = max((K + 63) / 64, 1L), slice = (K + slices - 1) / slices;

    // Chunks of up to 4 blocks of rows; panels in a chunk; blocks in a panel. Each work-group takes
    // as many blocks, to one, of this order.
    const long group = get_group_id(0), groups = get_num_groups(0);
    const long member = get_group_id(2);
    A += a_offset + member * a_stride;
    B += b_offset + member * b_stride;
    C += c_offset + member * c_stride;
    // conj(A) B is the conjugate of A conj(B): until C is stored, only B is conjugated.
    const float sign = conj_a == conj_b ? 1 : -1;
    long count = 0;
    for (long chunk = 0; chunk < blocks; chunk += 4)
        for (long p = 0; p < panels; p++) {
            const long2 stored = stored_blocks(chunk, blocks, vectors * p / panels,
                    vectors * (p + 1) / panels, triangle);
            count += stored.y - stored.x;
        }
    long left = count / groups + (group < count % groups);
    long before = count / groups * group + min(group, count % groups);
    for (long chunk = 0, this_panel = 0; left > 0; this_panel++) {
        if (this_panel == panels) {
            chunk += 4;
            this_panel = 0;
        }
        const long vector = vectors * this_panel / panels;
        const long width = vectors * (this_panel + 1) / panels - vector, col = vector * 2;
        const long2 stored = stored_blocks(chunk, blocks, vector, vector + width, triangle);
        const long in_panel = stored.y - stored.x;
        if (before >= in_panel) {
            before -= in_panel;
            continue;
        }
        const long first = stored.x + before, last = min(stored.y, first + left);
        left -= last - first;
        before = 0;
        long k0 = 0;
        do {
            const long depth = min(slice, K - k0);
            // Packs B from (k0, col) on, `depth` of K and `width` vectors.
            // Columns past the end repeat the last one; what is computed from them is not stored.
            {
                const float4 signs = (float4) (1, sign, 1, sign);
                const long whole = min(width, (N - col) / 2);
                __local float *out = panel;
                __global const float2 *in = B + k0 * ldb + col;
                for (long k = 0; k < depth; k++, in += ldb, out += 8) {
                    for (long v = 0; v < whole; v++)
                        keep(load_vector(in + v * 2) * signs, v, out);
                    for (long i = whole * 2; i < width * 2; i++)
                        vstore2(load(in + min(i, N - 1 - col)) * (float2) (1, sign), i, out);
                }
            }
            for (long block = first; block < last; block++) {
                const long row = (chunk + block) * 2;
                __local float *sum = sums + (slices > 1 ? block * 16 : 0);
                __local const float *b = panel;
                __global const float2 *restrict a = A + k0;
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
                        // The parts of A are read one by one, each into all lanes of a vector.
                        __global const float *a0 = (__global const float *) (a + r0);
                        c0_0 += a0[0] * b0;
                        __global const float *a1 = (__global const float *) (a + r1);
                        c1_0 += a1[0] * b0;
                        const float4 q0 = times_i(b0);
                        c0_0 += a0[1] * q0;
                        c1_0 += a1[1] * q0;
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
                        // The parts of A are read one by one, each into all lanes of a vector.
                        __global const float *a0 = (__global const float *) (a + r0);
                        c0_0 += a0[0] * b0; c0_1 += a0[0] * b1;
                        __global const float *a1 = (__global const float *) (a + r1);
                        c1_0 += a1[0] * b0; c1_1 += a1[0] * b1;
                        const float4 q0 = times_i(b0), q1 = times_i(b1);
                        c0_0 += a0[1] * q0; c0_1 += a0[1] * q1;
                        c1_0 += a1[1] * q0; c1_1 += a1[1] * q1;
                        b += 8;
                        a++;
                    }
                    keep(c0_0, 0, sum); keep(c0_1, 1, sum);
                    keep(c1_0, 2, sum); keep(c1_1, 3, sum);
                }
                if (k0 + depth == K) {
                    // C = alpha sum + beta C for a block of `width` vectors at (row, col).
                    for (long m = 0; m < 2 && row + m < M; m++) {
                        __global float2 *out = C + (row + m) * ldc + col;
                        __local const float *x = sum + m * 8;
                        const long2 stored = stored_columns(row + m, N, triangle);
                        const long end_n = min(width * 2, stored.y - col);
                        long n = max(stored.x - col, 0L);
                        for (; n + 2 <= end_n; n += 2)
                            put_vector(vload4(0, x + 2 * n), conj_a, alpha, alpha_imag, beta,
                                    beta_imag, out + n);
                        for (; n < end_n; n++)
                            put(vload2(n, x), conj_a, alpha, alpha_imag, beta, beta_imag, out + n);
                        if (is_hermitian && row + m >= col && row + m < col + width * 2)
                            make_real(out + (row + m - col));
                    }
                }
            }
            k0 += depth;
        } while (k0 < K);
    }
}
