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

// In one load what begins at a multiple of its size, 8 bytes.
static float2 load_aligned(__global const float *p)
{
    return *(__global const float2 *) p;
}

// C = alpha op(A) op(B) + beta C for few rows: X is B, Y is A.
// C is S x L, row-major.
// X is stored L x K: a row times Y is a sum.
// Y is stored S x K.
// A work-group of 2 work-items along L and 4 along K has 4 x 2 of C.
// It brings the part of Y for 64 values of k into local memory, and goes through them.
__kernel __attribute__((reqd_work_group_size(4, 2, 1)))
void kiln_sgemm_thin_multiply(long L, long S, long K,
        float alpha, float beta,
        __global const float *restrict X, long x_offset, long x_stride, long ldx,
        __global const float *restrict Y, long y_offset, long y_stride, long y_row, long y_step,
        __global float *restrict C, long c_offset, long c_stride, long ldc)
{
    // A part of Y; at the end the sums.
    __local float kept[132] __attribute__((aligned(8)));
    const int along_k = get_local_id(0), along_l = get_local_id(1);
    const long l = (long) get_group_id(0) * 4 + along_l * 2;
    const long s = (long) get_group_id(1) * 2;
    const long from = 0, to = K;
    const long member = get_group_id(2);
    X += x_offset + member * x_stride;
    Y += y_offset + member * y_stride;
    C += c_offset + member * c_stride;
    const int item = get_local_id(1) * 4 + get_local_id(0);

    const long base = (long) get_group_id(0) * 4;
    // Rows past the end repeat the last one; what is computed from them is not stored.
    __global const float *x[2];
    #pragma unroll
    for (int r = 0; r < 2; r++)
        x[r] = X + min(l + r, L - 1) * ldx;
    float c[2][2];
    #pragma unroll
    for (int j = 0; j < 2; j++)
        #pragma unroll
        for (int i = 0; i < 2; i++)
            c[j][i] = 0;
    // The address itself is tested: a buffer may begin at any element.
    const bool is_aligned = ldx % 2 == 0 && (size_t) X % 8 == 0;
    for (long chunk = from; chunk < to; chunk += 64) {
        // The part of Y for the values of k from `chunk` to `end`.
        const long end = min(chunk + 64, to);
        // All are through with the part before.
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = get_local_id(1); j < 2; j += 2) {
            __global const float *y = Y + min(s + j, S - 1) * y_row + chunk;
            for (int at = get_local_id(0); at < end - chunk; at += 4)
                kept[j * 66 + at] = load(y + at);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        long k = chunk + (is_aligned ? along_k * 2 : along_k);
        if (is_aligned) {
            for (; k + 2 <= end; k += 8) {
                float2 a[2];
                #pragma unroll
                for (int r = 0; r < 2; r++)
                    a[r] = load_aligned(x[r] + k);
                #pragma unroll
                for (int j = 0; j < 2; j++) {
                    const float2 b = *(__local const float2 *) (kept + j * 66 + (k - chunk));
                    #pragma unroll
                    for (int r = 0; r < 2; r++) {
                        c[j][r] += a[r].s0 * b.s0;
                        c[j][r] += a[r].s1 * b.s1;
                    }
                }
            }
            // What is left of K is less than a vector, and one work-item's.
            for (; k < end; k++) {
                float a[1][2];
                #pragma unroll
                for (int r = 0; r < 2; r++)
                    a[0][r] = load(x[r] + k);
                #pragma unroll
                for (int j = 0; j < 2; j++) {
                    const float b = kept[j * 66 + (k - chunk)];
                    #pragma unroll
                    for (int r = 0; r < 2; r++)
                        c[j][r] += a[0][r] * b;
                }
            }
        } else {
            for (; k + 4 < end; k += 8) {
                float a[2][2];
                #pragma unroll
                for (int v = 0; v < 2; v++)
                    #pragma unroll
                    for (int r = 0; r < 2; r++)
                        a[v][r] = load(x[r] + k + v * 4);
                #pragma unroll
                for (int v = 0; v < 2; v++)
                    #pragma unroll
                    for (int j = 0; j < 2; j++) {
                        const float b = kept[j * 66 + (k - chunk) + v * 4];
                        #pragma unroll
                        for (int r = 0; r < 2; r++)
                            c[j][r] += a[v][r] * b;
                    }
            }
            for (; k < end; k += 4) {
                float a[1][2];
                #pragma unroll
                for (int r = 0; r < 2; r++)
                    a[0][r] = load(x[r] + k);
                #pragma unroll
                for (int j = 0; j < 2; j++) {
                    const float b = kept[j * 66 + (k - chunk)];
                    #pragma unroll
                    for (int r = 0; r < 2; r++)
                        c[j][r] += a[0][r] * b;
                }
            }
        }
    }
    // What the work-items along K have of each sum is added up, in their order.
    barrier(CLK_LOCAL_MEM_FENCE);
    #pragma unroll
    for (int j = 0; j < 2; j++)
        #pragma unroll
        for (int v = 0; v < 2; v++)
            kept[(j * 2 + v) * 12 + along_k * 3 + along_l] = c[j][v];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = item; i < 8; i += 8) {
        const int of = i % 2, v = i / 2 % 2, j = i / 4;
        const long at = base + of * 2 + v;
        __local const float *sums = kept + (j * 2 + v) * 12 + of;
        float sum = sums[0];
        for (int k = 1; k < 4; k++)
            sum += sums[k * 3];
        const long short_at = s + j;
        if (at < L && short_at < S) {
            put(sum, alpha, beta, C + short_at * ldc + at);
        }
    }
}
