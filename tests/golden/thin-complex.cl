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

static float4 load_vector(__global const float2 *p)
{
    return vload4(0, (__global const float *) p);
}

// Each element of x times y.
static float4 products(float4 x, float2 y, float sign)
{
    return x * y.x + times_i(x) * (sign * y.y);
}

static float4 load_row(__global const float2 *p)
{
    return load_vector(p);
}

// In one load what begins at a multiple of its size, 16 bytes.
static float4 load_aligned(__global const float2 *p)
{
    return *(__global const float4 *) p;
}

// C = alpha op(A) op(B) + beta C for few rows: X is B, Y is A.
// C is S x L, row-major.
// X is stored K x L: rows times elements of Y are added up.
// Y is stored S x K or K x S, as y_row and y_step say.
// A work-group of 2 work-items along L and 4 along K has 4 x 1 of C.
__kernel __attribute__((reqd_work_group_size(2, 4, 1)))
void kiln_cgemm_thin_multiply(long L, long S, long K,
        float alpha, float alpha_imag, float beta, float beta_imag, int conj_b, int conj_a,
        __global const float2 *restrict X, long x_offset, long x_stride, long ldx,
        __global const float2 *restrict Y, long y_offset, long y_stride, long y_row, long y_step,
        __global float2 *restrict C, long c_offset, long c_stride, long ldc)
{
    __local float4 part[8];
    const int along_k = get_local_id(1), along_l = get_local_id(0);
    const long l = (long) get_group_id(0) * 4 + along_l * 2;
    const long s = (long) get_group_id(1);
    const long from = 0, to = K;
    const long member = get_group_id(2);
    X += x_offset + member * x_stride;
    Y += y_offset + member * y_stride;
    C += c_offset + member * c_stride;
    // conj(x) y is the conjugate of x conj(y): until C is stored, only Y is conjugated.
    const float sign = conj_a == conj_b ? 1 : -1;
    __global const float2 *y0 = Y + min(s, S - 1) * y_row;

    // Past the end the last vector, which ends where the row does, is repeated.
    const long begin = l;
    const long first = max(min(l, L - 2), 0L);
    float4 c0 = 0;
    long k = from + along_k;
    if (L < 2)
        for (; k < to; k += 4) {
            // A row is less than a vector.
            __global const float2 *x = X + k * ldx;
            const float4 a = (float4) (load(x + min(0L, L - 1)), load(x + min(1L, L - 1)));
            c0 += products(a, load(y0 + k * y_step), sign);
        }
    // The address itself is tested: a buffer may begin at any element.
    if (ldx % 2 == 0 && (size_t) (X + first) % 16 == 0) {
        for (; k + 4 < to; k += 8) {
            __global const float2 *x = X + k * ldx + first;
            const float4 a0 = load_aligned(x);
            const float4 a1 = load_aligned(x + 4 * ldx);
            c0 += products(a0, load(y0 + k * y_step), sign);
            c0 += products(a1, load(y0 + (k + 4) * y_step), sign);
        }
        for (; k < to; k += 4) {
            __global const float2 *x = X + k * ldx + first;
            const float4 a0 = load_aligned(x);
            c0 += products(a0, load(y0 + k * y_step), sign);
        }
    } else {
        for (; k + 4 < to; k += 8) {
            __global const float2 *x = X + k * ldx + first;
            const float4 a0 = load_row(x);
            const float4 a1 = load_row(x + 4 * ldx);
            c0 += products(a0, load(y0 + k * y_step), sign);
            c0 += products(a1, load(y0 + (k + 4) * y_step), sign);
        }
        for (; k < to; k += 4) {
            __global const float2 *x = X + k * ldx + first;
            const float4 a0 = load_row(x);
            c0 += products(a0, load(y0 + k * y_step), sign);
        }
    }

    const int item = along_k * 2 + along_l;
    part[item] = c0;
    for (int half_way = 2; half_way > 0; half_way /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (along_k < half_way)
            part[item] += part[item + half_way * 2];
    }
    if (along_k == 0 && s < S) {
        float2 sums[2];
        vstore4(part[item], 0, (float *) sums);
        for (int i = 0; i < 2; i++)
            if (first + i >= begin && first + i < L)
                put(sums[i], conj_a, alpha, alpha_imag, beta, beta_imag, C + s * ldc + first + i);

    }
}
