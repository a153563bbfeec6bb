#pragma OPENCL EXTENSION cl_khr_fp64 : enable

// Elements lie at multiples of their parts: the application's own memory may begin at any.
static double2 load(__global const double *X, long at)
{
    return vload2(at, X);
}

static void store(double2 x, __global double *X, long at)
{
    vstore2(x, at, X);
}

// A is symmetric, or Hermitian (conj_a), and M x M. Of it one triangle is read: the lower one, or
// the upper one where triangle < 0. C becomes the whole matrix.
__kernel __attribute__((reqd_work_group_size(8, 2, 1)))
void kiln_zgemm_mirror_mirror(long M,
        __global const double *restrict A, long a_offset, long lda, int conj_a, int triangle,
        __global double *restrict C, long c_offset, long ldc)
{
    __local double2 tile[8][9];
    const long first_row = get_group_id(1) * 8, first_col = get_group_id(0) * 8;
    const uint x = get_local_id(0);
    for (uint y = get_local_id(1); y < 8; y += 2) {
        const long row = first_row + y, col = first_col + x;
        if (row < M && col < M && (triangle < 0 ? col >= row : col <= row)) {
            double2 element = load(A, a_offset + row * lda + col);
            if (conj_a && row == col)
                element.y = 0;
            store(element, C, c_offset + row * ldc + col);
            tile[x][y] = element;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint y = get_local_id(1); y < 8; y += 2) {
        const long row = first_col + y, col = first_row + x;
        if (row < M && col < M && (triangle < 0 ? row > col : row < col)) {
            const double2 element = tile[y][x];
            store((double2) (element.x, conj_a ? -element.y : element.y), C,
                    c_offset + row * ldc + col);
        }
    }
}
