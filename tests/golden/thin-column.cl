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

// The sum of the elements of x.
static float total(float4 x)
{
    float e[4];
    vstore4(x, 0, e);
    return e[0] + e[1] + e[2] + e[3];
}

// In one load what begins at a multiple of its size, 8 bytes.
static float4 load_aligned(__global const half *p)
{
    const uint2 bits = *(__global const uint2 *) p;
    return vload_half4(0, (const half *) &bits);
}

// C = alpha op(A) op(B) + beta C for few columns: X is A, Y is B.
// C is L x S, row-major.
// X is stored L x K: a row times Y is a sum.
// Y is stored S x K or K x S, as y_row and y_step say.
// A work-group of 2 work-items along L and 4 along K has 4 x 1 of C.
__kernel __attribute__((reqd_work_group_size(4, 2, 1)))
void kiln_hgemm_thin_multiply(int L, int S, int K,
        float alpha, float beta,
        __global const half *restrict X, int x_offset, int x_stride, int ldx,
        __global const half *restrict Y, int y_offset, int y_stride, int y_row, int y_step,
        __global half *restrict C, int c_offset, int c_stride, int ldc)
{
    __local float part[2][8];
    const int along_k = get_local_id(0), along_l = get_local_id(1);
    const int l = (int) get_group_id(0) * 4 + along_l * 2;
    const int s = (int) get_group_id(1);
    const int from = 0, to = K;
    const int member = get_group_id(2);
    X += x_offset + member * x_stride;
    Y += y_offset + member * y_stride;
    C += c_offset + member * c_stride;
    __global const half *y0 = Y + min(s, S - 1) * y_row;

    // Rows past the end repeat the last one; what is computed from them is not stored.
    __global const half *x0 = X + min(l, L - 1) * ldx;
    __global const half *x1 = X + min(l + 1, L - 1) * ldx;
    float4 c0_0 = 0, c0_1 = 0;
    // Vectors, where rows of X begin at multiples of their size; else single elements, 4 apart, so
    // that those of all work-items are side by side. The address itself is tested: a buffer may
    // begin at any element.
    const bool is_aligned = ldx % 4 == 0 && (size_t) X % 8 == 0;
    // Elements of Y must lie side by side if there are vectors of them.
    const bool fast = is_aligned && y_step == 1;
    int k = from + along_k * (fast ? 4 : 1);
    if (fast) {
        for (; k + 4 <= to; k += 16) {
            const float4 a0 = load_aligned(x0 + k);
            const float4 a1 = load_aligned(x1 + k);
            const float4 b0 = load_vector(y0 + k);
            c0_0 += a0 * b0; c0_1 += a1 * b0;
        }
    } else {
        for (; k + 12 < to; k += 16) {
            const float4 a0 = (float4) (load(x0 + k), load(x0 + k + 4), load(x0 + k + 8),
                    load(x0 + k + 12));
            const float4 a1 = (float4) (load(x1 + k), load(x1 + k + 4), load(x1 + k + 8),
                    load(x1 + k + 12));
            const float4 b0 =
                    (float4) (load(y0 + k * y_step), load(y0 + (k + 4) * y_step),
                            load(y0 + (k + 8) * y_step), load(y0 + (k + 12) * y_step));
            c0_0 += a0 * b0; c0_1 += a1 * b0;
        }
    }
    // What is left of K: less than a vector, one work-item's, or elements of all.
    for (; k < to; k += fast ? 1 : 4) {
        const float b0 = load(y0 + k * y_step);
        const float a0 = load(x0 + k);
        c0_0.s0 += a0 * b0;
        const float a1 = load(x1 + k);
        c0_1.s0 += a1 * b0;
    }

    const int first = l;
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
                put(sums[i], alpha, beta, C + (first + i) * ldc + s);

    }
}
