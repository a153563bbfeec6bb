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

static float2 load_vector(__global const float *p)
{
    return vload2(0, p);
}

static float2 load_row(__global const float *p)
{
    return load_vector(p);
}

// C = alpha op(A) op(B) + beta C for few rows: X is B, Y is A.
// C is S x L, row-major.
// X is stored K x L: rows times elements of Y are added up.
// Y is stored S x K or K x S, as y_row and y_step say.
// A work-group of 4 work-items along L and 4 along K has 8 x 1 of C.
__kernel __attribute__((reqd_work_group_size(4, 4, 1)))
void kiln_sgemm_thin_multiply(long L, long S, long K,
        float alpha, float beta,
        __global const float *restrict X, long x_offset, long x_stride, long ldx,
        __global const float *restrict Y, long y_offset, long y_stride, long y_row, long y_step,
        __global float *restrict C, long c_offset, long c_stride, long ldc)
{
    __local float2 part[16];
    const int along_k = get_local_id(1), along_l = get_local_id(0);
    const long l = (long) get_group_id(0) * 8 + along_l * 2;
    const long s = (long) get_group_id(1);
    const long from = 0, to = K;
    const long member = get_group_id(2);
    X += x_offset + member * x_stride;
    Y += y_offset + member * y_stride;
    C += c_offset + member * c_stride;
    __global const float *y0 = Y + min(s, S - 1) * y_row;

    // Past the end the last vector, which ends where the row does, is repeated.
    const long begin = l;
    const long first = max(min(l, L - 2), 0L);
    float2 c0 = 0;
    long k = from + along_k;
    if (L < 2)
        for (; k < to; k += 4) {
            // A row is less than a vector.
            __global const float *x = X + k * ldx;
            const float2 a = (float2) (load(x + min(0L, L - 1)), load(x + min(1L, L - 1)));
            c0 += a * load(y0 + k * y_step);
        }
    for (; k + 4 < to; k += 8) {
        __global const float *x = X + k * ldx + first;
        const float2 a0 = load_row(x);
        const float2 a1 = load_row(x + 4 * ldx);
        c0 += a0 * load(y0 + k * y_step);
        c0 += a1 * load(y0 + (k + 4) * y_step);
    }
    for (; k < to; k += 4) {
        __global const float *x = X + k * ldx + first;
        const float2 a0 = load_row(x);
        c0 += a0 * load(y0 + k * y_step);
    }

    const int item = along_k * 4 + along_l;
    part[item] = c0;
    for (int half_way = 2; half_way > 0; half_way /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (along_k < half_way)
            part[item] += part[item + half_way * 4];
    }
    if (along_k == 0 && s < S) {
        float sums[2];
        vstore2(part[item], 0, sums);
        for (int i = 0; i < 2; i++)
            if (first + i >= begin && first + i < L)
                put(sums[i], alpha, beta, C + s * ldc + first + i);

    }
}
