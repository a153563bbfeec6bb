#pragma OPENCL EXTENSION cl_khr_fp64 : enable
// Elements of double are computed with as double. A product and a sum are fused where the device
// does that in one step: FP_CONTRACT, on by default, allows it.
static double load(__global const double *p)
{
    return *p;
}

static void store(double x, __global double *p)
{
    *p = x;
}

// C = alpha x + beta C for one element; beta == 0 does not read C.
static void put(double x, double alpha, double beta, __global double *p)
{
    store(beta == 0 ? alpha * x : alpha * x + beta * load(p), p);
}

static double2 load_vector(__global const double *p)
{
    return vload2(0, p);
}

static double2 load_row(__global const double *p)
{
    return load_vector(p);
}

// C = alpha op(A) op(B) + beta C for few columns: X is A, Y is B.
// C is L x S, row-major.
// X is stored K x L: rows times elements of Y are added up.
// Y is stored S x K or K x S, as y_row and y_step say.
// A work-group of 1 work-items along L and 1 along K has 2 x 1 of C.
// Parts of K lie along axis 2, which another kernel adds up; of a batch its members.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void kiln_dgemm_thin_multiply(long L, long S, long K,
        double alpha, double beta,
        __global const double *restrict X, long x_offset, long x_stride, long ldx,
        __global const double *restrict Y, long y_offset, long y_stride, long y_row, long y_step,
                int num_parts,
        __global double *restrict parts, long parts_at,
        __global double *restrict C, long c_offset, long c_stride, long ldc)
{
    const int along_k = get_local_id(1), along_l = get_local_id(0);
    const long l = (long) get_group_id(0) * 2 + along_l * 2;
    const long s = (long) get_group_id(1);
    // A part of K has whole steps of 2, as many as another or one more.
    const long steps = K / 2 + (K % 2 != 0);
    const long own_part = get_group_id(2) % num_parts;
    const long each = steps / num_parts, longer = steps % num_parts;
    const long from = (own_part * each + min(own_part, longer)) * 2;
    const long to = min(from + (each + (own_part < longer)) * 2, K);
    const long member = get_group_id(2) / num_parts;
    X += x_offset + member * x_stride;
    Y += y_offset + member * y_stride;
    C += c_offset + member * c_stride;
    __global const double *y0 = Y + min(s, S - 1) * y_row;
    parts += parts_at + (long) own_part * S * L;

    // Past the end the last vector, which ends where the row does, is repeated.
    const long begin = l;
    const long first = max(min(l, L - 2), 0L);
    double2 c0 = 0;
    long k = from + along_k;
    if (L < 2)
        for (; k < to; k++) {
            // A row is less than a vector.
            __global const double *x = X + k * ldx;
            const double2 a = (double2) (load(x + min(0L, L - 1)), load(x + min(1L, L - 1)));
            c0 += a * load(y0 + k * y_step);
        }
    for (; k + 1 < to; k += 2) {
        __global const double *x = X + k * ldx + first;
        const double2 a0 = load_row(x);
        const double2 a1 = load_row(x + ldx);
        c0 += a0 * load(y0 + k * y_step);
        c0 += a1 * load(y0 + (k + 1) * y_step);
    }
    for (; k < to; k++) {
        __global const double *x = X + k * ldx + first;
        const double2 a0 = load_row(x);
        c0 += a0 * load(y0 + k * y_step);
    }

    if (along_k == 0 && s < S) {
        double sums[2];
        vstore2(c0, 0, sums);
        for (int i = 0; i < 2; i++)
            if (first + i >= begin && first + i < L) {
                if (num_parts > 1)
                    parts[s * L + first + i] = sums[i];
                else
                    put(sums[i], alpha, beta, C + (first + i) * ldc + s);
            }
    }
}

// C = alpha sum + beta C: adds up what each part of K has of an element, always in the same order.
__kernel __attribute__((reqd_work_group_size(32, 2, 1)))
void kiln_dgemm_thin_add(long L, long S,
        double alpha, double beta, int num_parts,
        __global const double *restrict parts, long parts_at,
        __global double *restrict C, long c_offset, long ldc)
{
    const long l = get_global_id(0), s = get_group_id(1);
    const long size = (long) S * L;
    __global const double *first = parts + parts_at + (long) s * L + min(l, L - 1);
    double sum = 0;
    // Each of 2 work-items adds up one part in 2; the first then adds up their sums.
    __local double sums[2][32];
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
