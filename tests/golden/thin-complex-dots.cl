#pragma OPENCL EXTENSION cl_khr_fp64 : enable

static double2 load(__global const double2 *p)
{
    return vload2(0, (__global const double *) p);
}

static void store(double2 x, __global double2 *p)
{
    vstore2(x, 0, (__global double *) p);
}

// x times (re, im). A factor that is real multiplies each part alone, as real products do.
static double2 scaled(double2 x, double re, double im)
{
    return im == 0 ? re * x : (double2) (re * x.x - im * x.y, re * x.y + im * x.x);
}

// C = alpha x + beta C for one element, x conjugated if so; beta == 0 does not read C.
static void put(double2 x, int is_conjugated, double alpha, double alpha_imag,
        double beta, double beta_imag, __global double2 *p)
{
    x.y *= is_conjugated ? -1 : 1;
    x = scaled(x, alpha, alpha_imag);
    if (beta != 0 || beta_imag != 0)
        x += scaled(load(p), beta, beta_imag);
    store(x, p);
}

// x times y; with `sign` -1, y is conjugated.
static double2 products(double2 x, double2 y, double sign)
{
    const double im = sign * y.y;
    return (double2) (x.x * y.x - x.y * im, x.y * y.x + x.x * im);
}

static double2 load_row(__global const double2 *p)
{
    return load(p);
}

// C = alpha op(A) op(B) + beta C for few columns: X is A, Y is B.
// C is L x S, row-major.
// X is stored L x K: a row times Y is a sum.
// Y is stored S x K or K x S, as y_row and y_step say.
// A work-group of 2 work-items along L and 4 along K has 4 x 1 of C.
// Parts of K lie along axis 2, which another kernel adds up; of a batch its members.
__kernel __attribute__((reqd_work_group_size(4, 2, 1)))
void kiln_zgemm_thin_multiply(long L, long S, long K,
        double alpha, double alpha_imag, double beta, double beta_imag, int conj_a, int conj_b,
        __global const double2 *restrict X, long x_offset, long x_stride, long ldx,
        __global const double2 *restrict Y, long y_offset, long y_stride, long y_row, long y_step,
                int num_parts,
        __global double2 *restrict parts, long parts_at,
        __global double2 *restrict C, long c_offset, long c_stride, long ldc)
{
    __local double2 part[2][8];
    const int along_k = get_local_id(0), along_l = get_local_id(1);
    const long l = (long) get_group_id(0) * 4 + along_l * 2;
    const long s = (long) get_group_id(1);
    // A part of K has whole steps of 4, as many as another or one more.
    const long steps = K / 4 + (K % 4 != 0);
    const long own_part = get_group_id(2) % num_parts;
    const long each = steps / num_parts, longer = steps % num_parts;
    const long from = (own_part * each + min(own_part, longer)) * 4;
    const long to = min(from + (each + (own_part < longer)) * 4, K);
    const long member = get_group_id(2) / num_parts;
    X += x_offset + member * x_stride;
    Y += y_offset + member * y_stride;
    C += c_offset + member * c_stride;
    // conj(x) y is the conjugate of x conj(y): until C is stored, only Y is conjugated.
    const double sign = conj_a == conj_b ? 1 : -1;
    __global const double2 *y0 = Y + min(s, S - 1) * y_row;
    parts += parts_at + (long) own_part * S * L;

    // Rows past the end repeat the last one; what is computed from them is not stored.
    __global const double2 *x0 = X + min(l, L - 1) * ldx;
    __global const double2 *x1 = X + min(l + 1, L - 1) * ldx;
    double2 c0_0 = 0, c0_1 = 0;
    long k = from + along_k;
    for (; k < to; k += 4) {
        const double2 a0 = load_row(x0 + k);
        const double2 a1 = load_row(x1 + k);
        const double2 b0 = load(y0 + k * y_step);
        c0_0 += products(a0, b0, sign); c0_1 += products(a1, b0, sign);
    }

    const long first = l;
    const int item = along_l * 4 + along_k;
    part[0][item] = c0_0;
    part[1][item] = c0_1;
    for (int half_way = 2; half_way > 0; half_way /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (along_k < half_way) {
            part[0][item] += part[0][item + half_way];
            part[1][item] += part[1][item + half_way];
        }
    }
    if (along_k == 0 && s < S) {
        const double2 sums[] = { part[0][item], part[1][item] };
        for (int i = 0; i < 2; i++)
            if (first + i < L) {
                if (num_parts > 1)
                    parts[s * L + first + i] = sums[i];
                else
                    put(sums[i], conj_a, alpha, alpha_imag, beta, beta_imag,
                            C + (first + i) * ldc + s);
            }
    }
}

// C = alpha sum + beta C: adds up what each part of K has of an element, always in the same order.
__kernel __attribute__((reqd_work_group_size(32, 2, 1)))
void kiln_zgemm_thin_add(long L, long S,
        double alpha, double alpha_imag, double beta, double beta_imag, int conj_a, int conj_b,
                int num_parts,
        __global const double2 *restrict parts, long parts_at,
        __global double2 *restrict C, long c_offset, long ldc)
{
    const long l = get_global_id(0), s = get_group_id(1);
    const long size = (long) S * L;
    __global const double2 *first = parts + parts_at + (long) s * L + min(l, L - 1);
    double2 sum = 0;
    // Each of 2 work-items adds up one part in 2; the first then adds up their sums.
    __local double2 sums[2][32];
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
        put(sum, conj_a, alpha, alpha_imag, beta, beta_imag, C + c_offset + l * ldc + s);
}
