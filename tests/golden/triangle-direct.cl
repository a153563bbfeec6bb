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

// The first column of a row that is stored, and the one behind the last. `triangle` is 0 for all of
// C, 1 or -1 for its lower or upper triangle, 2 or -2 for the same where an element is two columns.
static long2 stored_columns(long row, long N, int triangle)
{
    return (long2) (triangle < 0 ? row * -triangle : 0,
            triangle > 0 ? min(N, (row + 1) * triangle) : N);
}

// Is nothing stored of a block of C? `triangle` is 0 for all of C, 1 or -1 for its lower or upper
// triangle, 2 or -2 for the same where an element is two columns.
static bool is_left_out(long row, long col, int rows, int columns, int triangle)
{
    return triangle > 0 ? col >= (row + rows) * triangle
            : triangle < 0 && col + columns <= row * -triangle;
}

// C = alpha x + beta C for one element; beta == 0 does not read C.
static void put(float x, float alpha, float beta, __global float *p)
{
    store(beta == 0 ? alpha * x : alpha * x + beta * load(p), p);
}

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored M x K.
// B is stored N x K.
// Straight from global memory, for any shape.
// A work-group of 8 x 8 work-items; each computes 2 x 2 of C in registers.
// Rows and columns past the end repeat the last one; what is computed from them is not stored.
__kernel __attribute__((reqd_work_group_size(8, 8, 1)))
void kiln_sgemmt_direct_multiply(long M, long N, long K,
        float alpha, float beta,
        __global const float *restrict A, long a_offset, long a_stride, long lda,
        __global const float *restrict B, long b_offset, long b_stride, long ldb,
        __global float *restrict C, long c_offset, long c_stride, long ldc, int triangle)
{
    const long row = (long) get_global_id(1) * 2;
    const long col = (long) get_global_id(0) * 2;
    if (row >= M || col >= N || is_left_out(row, col, 2, 2, triangle))
        return;
    const long member = get_group_id(2);
    A += a_offset + member * a_stride;
    B += b_offset + member * b_stride;
    C += c_offset + member * c_stride;
    const long r0 = min(row, M - 1) * lda;
    const long r1 = min(row + 1, M - 1) * lda;
    const long s0 = min(col, N - 1) * ldb;
    const long s1 = min(col + 1, N - 1) * ldb;
    float c0_0 = 0, c0_1 = 0;
    float c1_0 = 0, c1_1 = 0;

    for (long k = 0; k < K; k++) {
        __global const float *b = B + k;
        const float b0 = load(b + s0);
        const float b1 = load(b + s1);
        __global const float *a = A + k;
        const float a0 = load(a + r0);
        c0_0 += a0 * b0; c0_1 += a0 * b1;
        const float a1 = load(a + r1);
        c1_0 += a1 * b0; c1_1 += a1 * b1;
    }

    // Of C = alpha c + beta C for 2 x 2 of C from (row, col) on, what is in the triangle.
    if (row < M) {
        __global float *out = C + row * ldc + col;
        const long2 stored = stored_columns(row, N, triangle);
        if (col >= stored.x && col < stored.y)
            put(c0_0, alpha, beta, out);
        if (col + 1 >= stored.x && col + 1 < stored.y)
            put(c0_1, alpha, beta, out + 1);
    }
    if (row + 1 < M) {
        __global float *out = C + (row + 1) * ldc + col;
        const long2 stored = stored_columns(row + 1, N, triangle);
        if (col >= stored.x && col < stored.y)
            put(c1_0, alpha, beta, out);
        if (col + 1 >= stored.x && col + 1 < stored.y)
            put(c1_1, alpha, beta, out + 1);
    }
}
