static float2 load_vector(__global const float *p)
{
    return vload2(0, p);
}

static void store_vector(float2 x, __global float *p)
{
    vstore2(x, 0, p);
}

// C = alpha op(A) op(B) + beta C by blocks of 8 x 8 x 4; C is M x N, row-major.
// A is stored M x K; B is stored N x K.
// Each of 4 x 4 work-items computes 2 x 2 of the work-group's block.

// A vector of A.
static float2 fetch_a(__global const float *X, int at)
{
    return load_vector(X + at);
}

// A vector of B.
static float2 fetch_b(__global const float *X, int at)
{
    return load_vector(X + at);
}

// A vector of what the work-items share.
static float2 shared(__local const float *tile, int at)
{
    return vload2(0, tile + at);
}

// C = x + beta C for a vector of C.
static void update(float2 x, float beta, __global float *C)
{
    if (beta == 0)
        store_vector(x, C);
    else
        store_vector(x + beta * load_vector(C), C);
}

__kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void kiln_sgemm_blockmajor_multiply(int M, int N, int K,
        float alpha, float beta,
        __global const float *restrict A, int a_offset, int lda,
        __global const float *restrict B, int b_offset, int ldb,
        __global float *restrict C, int c_offset, int ldc)
{
    const int item = get_local_id(0);
    const int tile_m = item / 4 * 2, tile_n = item % 4 * 2;
    const int first_m = (int) get_group_id(1) * 8;
    const int first_n = (int) get_group_id(0) * 8;
    // Where the work-group's blocks of A and B begin, and how far it is to the next ones.
    int a = 0;
    A += a_offset;
    const int next_a = 4;
    a += first_m * lda;
    int b = 0;
    B += b_offset;
    const int next_b = 4;
    b += first_n * ldb;
    __local float a_tile[32];
    float2 c0_0 = 0;
    float2 c1_0 = 0;

    for (int k0 = 0; k0 < K; k0 += 4, a += next_a, b += next_b) {
        for (int e = item; e < 16; e += 16) {
            const int line = e / 2, at = e % 2 * 2;
            const float2 x = fetch_a(A, a + line * lda + at);
            vstore2(x, e, a_tile);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 4; k += 2) {
            // 2 steps of k: 2 rows of A by 2 columns of B.
            const float2 a0_0 = shared(a_tile, tile_m * 4 + k);
            const float2 a1_0 = shared(a_tile, (tile_m + 1) * 4 + k);
            const float2 b0_0 = fetch_b(B, b + tile_n * ldb + k);
            const float2 b1_0 = fetch_b(B, b + (tile_n + 1) * ldb + k);
            const float2 t0_0 = (float2) (b0_0.s0, b1_0.s0);
            c0_0 += a0_0.s0 * t0_0;
            c1_0 += a1_0.s0 * t0_0;
            const float2 t1_0 = (float2) (b0_0.s1, b1_0.s1);
            c0_0 += a0_0.s1 * t1_0;
            c1_0 += a1_0.s1 * t1_0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    const int row = first_m + tile_m, col = first_n + tile_n;
    C += c_offset;
    update(alpha * c0_0, beta, C + row * ldc + col);
    update(alpha * c1_0, beta, C + (row + 1) * ldc + col);
}
