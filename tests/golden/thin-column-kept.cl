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

// C = alpha op(A) op(B) + beta C for few columns: X is A, Y is B.
// C is L x S, row-major.
// X is stored K x L: rows times elements of Y are added up.
// Y is stored K x S.
// A work-group of 4 work-items along L and 2 along K has 8 x 4 of C.
// It brings the part of Y for 64 values of k into local memory, and goes through them.
// Parts of K lie along axis 2, which another kernel adds up; of a batch its members.
__kernel __attribute__((reqd_work_group_size(4, 2, 1)))
void kiln_hgemm_thin_multiply(int L, int S, int K,
        float alpha, float beta,
        __global const half *restrict X, int x_offset, int x_stride, int ldx,
        __global const half *restrict Y, int y_offset, int y_stride, int y_row, int y_step,
                int num_parts,
        __global float *restrict parts, long parts_at,
        __global half *restrict C, int c_offset, int c_stride, int ldc)
{
    // A part of Y; at the end the sums.
    __local float kept[256] __attribute__((aligned(8)));
    const int along_k = get_local_id(1), along_l = get_local_id(0);
    const int s = (int) get_group_id(1) * 4;
    // A part of K has whole steps of 4, as many as another or one more.
    const int steps = K / 4 + (K % 4 != 0);
    const int own_part = get_group_id(2) % num_parts;
    const int each = steps / num_parts, longer = steps % num_parts;
    const int from = (own_part * each + min(own_part, longer)) * 4;
    const int to = min(from + (each + (own_part < longer)) * 4, K);
    const int member = get_group_id(2) / num_parts;
    X += x_offset + member * x_stride;
    Y += y_offset + member * y_stride;
    C += c_offset + member * c_stride;
    const int item = get_local_id(1) * 4 + get_local_id(0);
    parts += parts_at + (long) own_part * S * L;

    const int base = (int) get_group_id(0) * 8;
    // A work-item's columns of X are 4 apart, so that those of all are side by side.
    // Past the end the last is repeated.
    float c[4][2];
    #pragma unroll
    for (int j = 0; j < 4; j++)
        #pragma unroll
        for (int i = 0; i < 2; i++)
            c[j][i] = 0;
    int column[2];
    #pragma unroll
    for (int v = 0; v < 2; v++)
        column[v] = min(base + v * 4 + along_l, L - 1);
    for (int chunk = from; chunk < to; chunk += 64) {
        // The part of Y for the values of k from `chunk` to `end`.
        const int end = min(chunk + 64, to);
        // All are through with the part before.
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = item; i < (end - chunk) * 4; i += 8) {
            const int at = i / 4, j = i % 4;
            kept[at * 4 + j] = load(Y + (chunk + at) * y_step + min(s + j, S - 1));
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        int k = chunk + along_k;
        for (; k + 2 < end; k += 4) {
            __global const half *x = X + k * ldx;
            float a[2][2];
            #pragma unroll
            for (int r = 0; r < 2; r++)
                #pragma unroll
                for (int v = 0; v < 2; v++)
                    a[r][v] = load(x + r * 2 * ldx + column[v]);
            #pragma unroll
            for (int r = 0; r < 2; r++)
                #pragma unroll
                for (int j = 0; j < 4; j++) {
                    const float b = kept[(k - chunk + r * 2) * 4 + j];
                    #pragma unroll
                    for (int v = 0; v < 2; v++)
                        c[j][v] += a[r][v] * b;
                }
        }
        for (; k < end; k += 2) {
            __global const half *x = X + k * ldx;
            float a[1][2];
            #pragma unroll
            for (int v = 0; v < 2; v++)
                a[0][v] = load(x + column[v]);
            #pragma unroll
            for (int j = 0; j < 4; j++) {
                const float b = kept[(k - chunk) * 4 + j];
                #pragma unroll
                for (int v = 0; v < 2; v++)
                    c[j][v] += a[0][v] * b;
            }
        }
    }
    // What the work-items along K have of each sum is added up, in their order.
    barrier(CLK_LOCAL_MEM_FENCE);
    #pragma unroll
    for (int j = 0; j < 4; j++)
        #pragma unroll
        for (int v = 0; v < 2; v++)
            kept[(j * 2 + v) * 10 + along_k * 5 + along_l] = c[j][v];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = item; i < 32; i += 8) {
        const int of = i % 4, v = i / 4 % 2, j = i / 8;
        const int at = base + v * 4 + of;
        __local const float *sums = kept + (j * 2 + v) * 10 + of;
        float sum = sums[0];
        sum += sums[5];
        const int short_at = s + j;
        if (at < L && short_at < S) {
            if (num_parts > 1)
                parts[short_at * L + at] = sum;
            else
                put(sum, alpha, beta, C + at * ldc + short_at);
        }
    }
}

// C = alpha sum + beta C: adds up what each part of K has of an element, always in the same order.
__kernel __attribute__((reqd_work_group_size(32, 2, 1)))
void kiln_hgemm_thin_add(int L, int S,
        float alpha, float beta, int num_parts,
        __global const float *restrict parts, long parts_at,
        __global half *restrict C, int c_offset, int ldc)
{
    const int l = get_global_id(0), s = get_group_id(1);
    const long size = (long) S * L;
    __global const float *first = parts + parts_at + (long) s * L + min(l, L - 1);
    float sum = 0;
    // Each of 2 work-items adds up one part in 2; the first then adds up their sums.
    __local float sums[2][32];
    const int way = get_local_id(1), adder = get_local_id(0);
    #pragma unroll 4
    for (int p = way; p < num_parts; p += 2)
        sum += first[p * size];
    sums[way][adder] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (way > 0)
        return;
    sum += sums[1][adder];
    if (l < L)
        put(sum, alpha, beta, C + c_offset + l * ldc + s);
}
