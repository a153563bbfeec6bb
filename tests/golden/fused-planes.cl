static float2 load(__global const float2 *p)
{
    return vload2(0, (__global const float *) p);
}

static void store(float2 x, __global float2 *p)
{
    vstore2(x, 0, (__global float *) p);
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

// The real parts of 4 elements, side by side.
static float4 real_parts(__global const float2 *p)
{
    return (float4) (load_vector(p).even, load_vector(p + 2).even);
}

static float4 imaginary_parts(__global const float2 *p)
{
    return (float4) (load_vector(p).odd, load_vector(p + 2).odd);
}

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored M x K.
// B is stored N x K.
// A work-group is one work-item. It packs slices of panels of B into local memory, and multiplies
// them with blocks of 2 rows of A, as they lie. A block of C is held in registers.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void kiln_cgemm_fused_multiply(long M, long N, long K,
        float alpha, float alpha_imag, float beta, float beta_imag, int conj_a, int conj_b,
        __global const float2 *restrict A, long a_offset, long a_stride, long lda,
        __global const float2 *restrict B, long b_offset, long b_stride, long ldb,
        __global float2 *restrict C, long c_offset, long c_stride, long ldc)
{
    // A slice of a panel: for every k a row, of the panel's columns of B side by side. Rows are 8
    // numbers apart.
    // Panels are up to 4 columns wide, slices up to 64 of K deep. All are of equal size, but for 4
    // columns or the last slice.
    // 4 columns are packed as two vectors, of real and of imaginary parts.
    __local float panel[512] __attribute__((aligned(16)));
    // What the slices of K add up to so far, block after block.
    __local float sums[64] __attribute__((aligned(16)));

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
    // conj(A) B is the conjugate of A conj(B): until C is stored, only B is conjugated.
    const float sign = conj_a == conj_b ? 1 : -1;
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
                __local float *out = panel + v * 8;
                __global const float2 *in = B + k0;
                const long l0 = min(col + v * 4, N - 1) * ldb;
                const long l1 = min(col + v * 4 + 1, N - 1) * ldb;
                const long l2 = min(col + v * 4 + 2, N - 1) * ldb;
                const long l3 = min(col + v * 4 + 3, N - 1) * ldb;
                long k = 0;
                // A square of columns by k is transposed: each step puts the even and the odd
                // elements of two neighbours together.
                for (; k + 4 <= depth; k += 4, in += 4, out += 32) {
                    {
                        const float4 x0_0 = real_parts(in + l0);
                        const float4 x0_1 = real_parts(in + l1);
                        const float4 x0_2 = real_parts(in + l2);
                        const float4 x0_3 = real_parts(in + l3);
                        const float4 x1_0 = (float4) (x0_0.even, x0_1.even);
                        const float4 x1_2 = (float4) (x0_0.odd, x0_1.odd);
                        const float4 x1_1 = (float4) (x0_2.even, x0_3.even);
                        const float4 x1_3 = (float4) (x0_2.odd, x0_3.odd);
                        const float4 x2_0 = (float4) (x1_0.even, x1_1.even);
                        const float4 x2_2 = (float4) (x1_0.odd, x1_1.odd);
                        const float4 x2_1 = (float4) (x1_2.even, x1_3.even);
                        const float4 x2_3 = (float4) (x1_2.odd, x1_3.odd);
                        keep(x2_0, 0, out);
                        keep(x2_1, 0, out + 8);
                        keep(x2_2, 0, out + 16);
                        keep(x2_3, 0, out + 24);
                    }
                    {
                        const float4 x0_0 = sign * imaginary_parts(in + l0);
                        const float4 x0_1 = sign * imaginary_parts(in + l1);
                        const float4 x0_2 = sign * imaginary_parts(in + l2);
                        const float4 x0_3 = sign * imaginary_parts(in + l3);
                        const float4 x1_0 = (float4) (x0_0.even, x0_1.even);
                        const float4 x1_2 = (float4) (x0_0.odd, x0_1.odd);
                        const float4 x1_1 = (float4) (x0_2.even, x0_3.even);
                        const float4 x1_3 = (float4) (x0_2.odd, x0_3.odd);
                        const float4 x2_0 = (float4) (x1_0.even, x1_1.even);
                        const float4 x2_2 = (float4) (x1_0.odd, x1_1.odd);
                        const float4 x2_1 = (float4) (x1_2.even, x1_3.even);
                        const float4 x2_3 = (float4) (x1_2.odd, x1_3.odd);
                        keep(x2_0, 0, out + 4);
                        keep(x2_1, 0, out + 12);
                        keep(x2_2, 0, out + 20);
                        keep(x2_3, 0, out + 28);
                    }
                }
                for (; k < depth; k++, in++, out += 8) {
                    out[0] = load(in + l0).x;
                    out[4] = sign * load(in + l0).y;
                    out[1] = load(in + l1).x;
                    out[5] = sign * load(in + l1).y;
                    out[2] = load(in + l2).x;
                    out[6] = sign * load(in + l2).y;
                    out[3] = load(in + l3).x;
                    out[7] = sign * load(in + l3).y;
                }
            }
            for (long block = first; block < last; block++) {
                const long row = (chunk + block) * 2;
                __local float *sum = sums + (slices > 1 ? block * 16 : 0);
                __local const float *b = panel;
                __global const float2 *restrict a = A + k0;
                const long r0 = min(row, M - 1) * lda;
                const long r1 = min(row + 1, M - 1) * lda;
                // Adds the slice's share of a block of 2 rows and 2 vectors to `sum`, whose rows
                // are 2 vectors apart.
                float4 c0_0 = 0, c0_1 = 0;
                float4 c1_0 = 0, c1_1 = 0;
                if (k0 > 0) {
                    c0_0 = vload4(0, sum); c0_1 = vload4(1, sum);
                    c1_0 = vload4(2, sum); c1_1 = vload4(3, sum);
                }
                for (long k = 0; k < depth; k++) {
                    const float4 b0 = vload4(0, b);
                    const float4 b1 = vload4(1, b);
                    const float2 a0 = load(a + r0);
                    const float re0 = a0.x, im0 = a0.y;
                    c0_0 += re0 * b0; c0_1 += re0 * b1;
                    c0_0 -= im0 * b1; c0_1 += im0 * b0;
                    const float2 a1 = load(a + r1);
                    const float re1 = a1.x, im1 = a1.y;
                    c1_0 += re1 * b0; c1_1 += re1 * b1;
                    c1_0 -= im1 * b1; c1_1 += im1 * b0;
                    b += 8;
                    a++;
                }
                keep(c0_0, 0, sum); keep(c0_1, 1, sum);
                keep(c1_0, 2, sum); keep(c1_1, 3, sum);
                if (k0 + depth == K) {
                    // C = alpha sum + beta C for a block of `width` vectors at (row, col).
                    for (long m = 0; m < 2 && row + m < M; m++) {
                        __global float2 *out = C + (row + m) * ldc + col;
                        __local float *x = sum + m * 8;
                        // The parts of each element, side by side again.
                        for (long v = 0; v < width; v++) {
                            const float4 re = vload4(2 * v, x), im = vload4(2 * v + 1, x);
                            float4 low, high;
                            low.even = re.lo, low.odd = im.lo;
                            high.even = re.hi, high.odd = im.hi;
                            keep(low, 2 * v, x);
                            keep(high, 2 * v + 1, x);
                        }
                        const long end_n = min(width * 4, N - col);
                        long n = 0;
                        for (; n + 2 <= end_n; n += 2)
                            put_vector(vload4(0, x + 2 * n), conj_a, alpha, alpha_imag, beta,
                                    beta_imag, out + n);
                        for (; n < end_n; n++)
                            put(vload2(n, x), conj_a, alpha, alpha_imag, beta, beta_imag, out + n);
                    }
                }
            }
            k0 += depth;
        } while (k0 < K);
    }
}
