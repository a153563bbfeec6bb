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

static float4 load_row(__global const float *p)
{
    return load_vector(p);
}

// C = alpha op(A) op(B) + beta C for few rows: X is B, Y is A.
// C is S x L, row-major.
// X is stored K x L: rows times elements of Y are added up.
// Y is stored S x K or K x S, as y_row and y_step say.
// A work-group of 1 work-items along L and 1 along K has 16 x 1 of C.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void kiln_sgemm_thin_multiply(long L, long S, long K,
        float alpha, float beta,
        __global const float *restrict X, long x_offset, long x_stride, long ldx,
        __global const float *restrict Y, long y_offset, long y_stride, long y_row, long y_step,
        __global float *restrict C, long c_offset, long c_stride, long ldc)
{
    const int along_k = get_local_id(1), along_l = get_local_id(0);
    const long l = (long) get_group_id(0) * 16 + along_l * 16;
    const long s = (long) get_group_id(1);
    const long from = 0, to = K;
    const long member = get_group_id(2);
    X += x_offset + member * x_stride;
    Y += y_offset + member * y_stride;
    C += c_offset + member * c_stride;
    __global const float *y0 = Y + min(s, S - 1) * y_row;

    // The last vector ends where the row does.
    const long last = max(L - 4, 0L);
    const int vectors = min((L - l + 3) / 4, 4L);
    float4 c0[4];
    for (int v = 0; v < vectors; v++) {
        c0[v] = 0;
    }
    long k = from;
    for (; L < 4 && k < to; k++) {
        // A row is less than a vector.
        __global const float *x = X + k * ldx;
        const float4 a = (float4) (
                load(x + min(0L, L - 1)), load(x + min(1L, L - 1)), load(x + min(2L, L - 1)),
                        load(x + min(3L, L - 1)));
        c0[0] += a * load(y0 + k * y_step);
    }
    for (; k + 1 < to; k += 2) {
        const float b0_0 = load(y0 + k * y_step), b0_1 = load(y0 + (k + 1) * y_step);
        for (int v = 0; v < vectors; v++) {
            __global const float *x = X + k * ldx + min(l + v * 4, last);
            const float4 a0 = load_row(x);
            const float4 a1 = load_row(x + ldx);
            c0[v] += a0 * b0_0 + a1 * b0_1;
        }
    }
    for (; k < to; k++) {
        const float b0_0 = load(y0 + k * y_step);
        for (int v = 0; v < vectors; v++) {
            __global const float *x = X + k * ldx + min(l + v * 4, last);
            const float4 a0 = load_row(x);
            c0[v] += a0 * b0_0;
        }
    }

    for (int v = 0; v < vectors && s < S; v++) {
        const long begin = l + v * 4, first = min(begin, last);
        float sums[4];
        vstore4(c0[v], 0, sums);
        for (int i = 0; i < 4; i++)
            if (first + i >= begin && first + i < L)
                put(sums[i], alpha, beta, C + s * ldc + first + i);

    }
}
