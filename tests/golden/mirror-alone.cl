// Elements lie at multiples of their parts: the application's own memory may begin at any.
static float2 load(__global const float *X, long at)
{
    return vload2(at, X);
}

static void store(float2 x, __global float *X, long at)
{
    vstore2(x, at, X);
}

// A is symmetric, or Hermitian (conj_a), and M x M. Of it one triangle is read: the lower one, or
// the upper one where triangle < 0. C becomes the whole matrix.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void kiln_cgemm_mirror_mirror(long M,
        __global const float *restrict A, long a_offset, long lda, int conj_a, int triangle,
        __global float *restrict C, long c_offset, long ldc)
{
    const long first_row = get_group_id(1) * 8, end_row = min(first_row + 8, M);
    const long first_col = get_group_id(0) * 8, end_col = min(first_col + 8, M);
    for (long row = first_row; row < end_row; row++) {
        // Of the row what is stored: to its place, and across the diagonal.
        const long from = triangle < 0 ? max(first_col, row) : first_col;
        const long end = triangle < 0 ? end_col : min(end_col, row + 1);
        for (long col = from; col < end; col++) {
            float2 element = load(A, a_offset + row * lda + col);
            if (conj_a && row == col)
                element.y = 0;
            store((float2) (element.x, conj_a ? -element.y : element.y), C,
                    c_offset + col * ldc + row);
            store(element, C, c_offset + row * ldc + col);
        }
    }
}
