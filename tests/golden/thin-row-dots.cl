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

// The sum of the elements of x.
static float total(float2 x)
{
    float e[2];
    vstore2(x, 0, e);
    return e[0] + e[1];
}

static float2 load_row(__global const float *p)
{
    return load_vector(p);
}

// C = alpha op(A) op(B) + beta C for few rows: X is B, Y is A.
// C is S x L, row-major.
// X is stored L x K: a row times Y is a sum.
// Y is stored S x K or K x S, as y_row and y_step say.
// A work-group of 2 work-items along L and 4 along K has 4 x 2 of C.
__kernel __attribute__((reqd_work_group_size(4, 2, 1)))
void kiln_sgemm_thin_multiply(long L, long S, long K,
        float alpha, float beta,
        __global const float *restrict X, long x_offset, long x_stride, long ldx,
        __global const float *restrict Y, long y_offset, long y_stride, long y_row, long y_step,
        __global float *restrict C, long c_offset, long c_stride, long ldc)
{
    __local float part[2][8];
    const int along_k = get_local_id(0), along_l = get_local_id(1);
    const long l = (long) get_group_id(0) * 4 + along_l * 2;
    const long s = (long) get_group_id(1) * 2;
    const long from = 0, to = K;
    const long member = get_group_id(2);
    X += x_offset + member * x_stride;
    Y += y_offset + member * y_stride;
    C += c_offset + member * c_stride;
    __global const float *y0 = Y + min(s, S - 1) * y_row;
    __global const float *y1 = Y + min(s + 1, S - 1) * y_row;

    // Rows past the end repeat the last one; what is computed from them is not stored.
    __global const float *x0 = X + min(l, L - 1) * ldx;
    __global const float *x1 = X + min(l + 1, L - 1) * ldx;
    float2 c0_0 = 0, c0_1 = 0;
    float2 c1_0 = 0, c1_1 = 0;
    // Elements of Y must lie side by side if there are vectors of them.
    const bool fast = y_step == 1;
    long k = from + along_k * 2;
    if (fast) {
        for (; k + 2 <= to; k += 8) {
            const float2 a0 = load_row(x0 + k);
            const float2 a1 = load_row(x1 + k);
            const float2 b0 = load_vector(y0 + k);
            c0_0 += a0 * b0; c0_1 += a1 * b0;
            const float2 b1 = load_vector(y1 + k);
            c1_0 += a0 * b1; c1_1 += a1 * b1;
        }
    } else {
        for (; k + 2 <= to; k += 8) {
            const float2 a0 = load_row(x0 + k);
            const float2 a1 = load_row(x1 + k);
            const float2 b0 = (float2) (load(y0 + k * y_step), load(y0 + (k + 1) * y_step));
            c0_0 += a0 * b0; c0_1 += a1 * b0;
            const float2 b1 = (float2) (load(y1 + k * y_step), load(y1 + (k + 1) * y_step));
            c1_0 += a0 * b1; c1_1 += a1 * b1;
        }
    }
    // What is left of K: less than a vector, one work-item's.
    for (; k < to; k++) {
        const float b0 = load(y0 + k * y_step);
        const float b1 = load(y1 + k * y_step);
        const float a0 = load(x0 + k);
        c0_0.s0 += a0 * b0; c1_0.s0 += a0 * b1;
        const float a1 = load(x1 + k);
        c0_1.s0 += a1 * b0; c1_1.s0 += a1 * b1;
    }

    const long first = l;
    const int item = along_l * 4 + along_k;
    part[0][item] = total(c0_0);
    part[1][item] = total(c0_1);
    for (int half_way = 2; half_way > 0; half_way /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (along_k < half_way) {
            part[0][item] += part[0][item + half_way];
            part[1][item] += part[1][item + half_way];
        }
    }
    if (along_k == 0 && s < S) {
        const float sums[] = { part[0][item], part[1][item] };
        for (int i = 0; i < 2; i++)
            if (first + i < L)
                put(sums[i], alpha, beta, C + s * ldc + first + i);

    }
    barrier(CLK_LOCAL_MEM_FENCE);
    part[0][item] = total(c1_0);
    part[1][item] = total(c1_1);
    for (int half_way = 2; half_way > 0; half_way /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (along_k < half_way) {
            part[0][item] += part[0][item + half_way];
            part[1][item] += part[1][item + half_way];
        }
    }
    if (along_k == 0 && s + 1 < S) {
        const float sums[] = { part[0][item], part[1][item] };
        for (int i = 0; i < 2; i++)
            if (first + i < L)
                put(sums[i], alpha, beta, C + (s + 1) * ldc + first + i);

    }
}
