static float load(__global const float *X, long at)
{
    return X[at];
}

static void store(float x, __global float *X, long at)
{
    X[at] = x;
}

// A is symmetric, or Hermitian (conj_a), and M x M. Of it one triangle is read: the lower one, or
// the upper one where triangle < 0. C becomes the whole matrix.
__kernel __attribute__((reqd_work_group_size(8, 2, 1)))
void kiln_sgemm_mirror_mirror(long M,
        __global const float *restrict A, long a_offset, long lda, int conj_a, int triangle,
        __global float *restrict C, long c_offset, long ldc)
{
    __local float tile[8][9];
    const long first_row = get_group_id(1) * 8, first_col = get_group_id(0) * 8;
    const uint x = get_local_id(0);
    for (uint y = get_local_id(1); y < 8; y += 2) {
        const long row = first_row + y, col = first_col + x;
        if (row < M && col < M && (triangle < 0 ? col >= row : col <= row)) {
            const float element = load(A, a_offset + row * lda + col);
            store(element, C, c_offset + row * ldc + col);
            tile[x][y] = element;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint y = get_local_id(1); y < 8; y += 2) {
        const long row = first_col + y, col = first_row + x;
        if (row < M && col < M && (triangle < 0 ? row > col : row < col)) {
            store(tile[y][x], C, c_offset + row * ldc + col);
        }
    }
}
