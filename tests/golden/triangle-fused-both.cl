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

// The first column of a row that is stored, and the one behind the last. `triangle` is 0 for all of
// C, 1 or -1 for its lower or upper triangle, 2 or -2 for the same where an element is two columns.
static long2 stored_columns(long row, long N, int triangle)
{
    return (long2) (triangle < 0 ? row * -triangle : 0,
            triangle > 0 ? min(N, (row + 1) * triangle) : N);
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

static void store_vector(double2 x, __global double *p)
{
    vstore2(x, 0, p);
}

// put for elements side by side.
static void put_vector(double2 x, double alpha, double beta, __global double *p)
{
    if (beta == 0)
        store_vector(alpha * x, p);
    else
        store_vector(alpha * x + beta * load_vector(p), p);
}

// vstore, where memory is aligned to vectors: one store, for which vstore may take several.
static void keep(double2 x, long i, __local double *p)
{
    *(__local double2 *) (p + i * 2) = x;
}

static double2 load_side(__global const double *p)
{
    return vload2(0, p);
}

// Of a panel of the vectors from `vector` to `end`, and a chunk of blocks of rows: the first block
// of which something is stored, in the chunk, and the one behind the last.
static long2 stored_blocks(long chunk, long blocks, long vector, long end, int triangle)
{
    const long rows = 2 * abs(triangle), height = min(blocks - chunk, 4L);
    const long first = triangle > 0 ? vector * 2 / rows : 0;
    const long last = triangle > 0 ? blocks : (end * 2 - 1) / rows + 1;
    return (long2) (clamp(first - chunk, 0L, height), clamp(last - chunk, 0L, height));
}

// C = alpha op(A) op(B) + beta C; C is M x N, row-major.
// A is stored K x M.
// B is stored N x K.
// A work-group is one work-item. It packs slices of panels of B into local memory, and multiplies
// them with blocks of 2 rows of A, which it packs too. A block of C is held in registers. Blocks of
// which nothing is stored are left out.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void kiln_dgemmt_fused_multiply(long M, long N, long K,
        double alpha, double beta,
        __global const double *restrict A, long a_offset, long a_stride, long lda,
        __global const double *restrict B, long b_offset, long b_stride, long ldb,
        __global double *restrict C, long c_offset, long c_stride, long ldc, int triangle)
{
    // A slice of a panel: for every k a row, of the panel's columns of B side by side. Rows are 4
    // numbers apart.
    // Panels are up to 4 columns wide, slices up to 64 of K deep. All are of equal size, but for 2
    // columns or the last slice.
    // Panels that are packed together lie one after the other, and so do their sums.
    __local double packed[512] __attribute__((aligned(16)));
    // A slice of a chunk of A: block after block, for every k the block's rows side by side.
    __local double packed_a[512] __attribute__((aligned(16)));
    // What the slices of K add up to so far, block after block.
    __local double sums[64] __attribute__((aligned(16)));

    const long blocks = (M + 1) / 2;
    const long vectors = (N + 1) / 2, panels = (vectors + 1) / 2;
    const long slices = max((K + 63) / 64, 1L), slice = (K + slices - 1) / slices;

    // Chunks of up to 4 blocks of rows; panels in a chunk; blocks in a panel. Each work-group takes
    // as many blocks, to one, of this order.
    const long group = get_group_id(0), groups = get_num_groups(0);
    const long member = get_group_id(2);
    A += a_offset + member * a_stride;
    B += b_offset + member * b_stride;
    C += c_offset + member * c_stride;
    long count = 0;
    for (long chunk = 0; chunk < blocks; chunk += 4)
        for (long p = 0; p < panels; p++) {
            const long2 stored = stored_blocks(chunk, blocks, vectors * p / panels,
                    vectors * (p + 1) / panels, triangle);
            count += stored.y - stored.x;
        }
    long left = count / groups + (group < count % groups);
    long before = count / groups * group + min(group, count % groups);
    for (long chunk = 0, this_panel = 0; left > 0; this_panel++) {
        if (this_panel == panels) {
            chunk += 4;
            this_panel = 0;
        }
        long vector[3];
        vector[0] = vectors * this_panel / panels;
        vector[1] = vectors * (this_panel + 1) / panels;
        const long2 stored = stored_blocks(chunk, blocks, vector[0], vector[1], triangle);
        const long in_panel = stored.y - stored.x;
        if (before >= in_panel) {
            before -= in_panel;
            continue;
        }
        const long first = stored.x + before, last = min(stored.y, first + left);
        left -= last - first;
        before = 0;
        // Panels of the same blocks, all of which are the work-group's, are packed together.
        long together = 1;
        while (together < 2 && this_panel + 1 < panels && last - first == in_panel
                && left >= in_panel) {
            const long next = vectors * (this_panel + 2) / panels;
            const long2 as_well = stored_blocks(chunk, blocks, vector[together], next, triangle);
            if (as_well.x != first || as_well.y != last)
                break;
            vector[++together] = next;
            left -= in_panel;
            this_panel++;
        }
        long k0 = 0;
        do {
            const long depth = min(slice, K - k0);
            for (long p = 0; p < together; p++) {
                const long width = vector[p + 1] - vector[p], col = vector[p] * 2;
                __local double *panel = packed + p * 256;
                // Packs B from (k0, col) on, `depth` of K and `width` vectors.
                // Columns past the end repeat the last one; what is computed from them is not
                // stored.
                for (long v = 0; v < width; v++) {
                    __local double *out = panel + v * 2;
                    __global const double *in = B + k0;
                    const long l0 = min(col + v * 2, N - 1) * ldb;
                    const long l1 = min(col + v * 2 + 1, N - 1) * ldb;
                    long k = 0;
                    // A square of columns by k is transposed: each step puts the even and the odd
                    // elements of two neighbours together.
                    for (; k + 2 <= depth; k += 2, in += 2, out += 8) {
                        const double2 x0_0 = load_vector(in + l0);
                        const double2 x0_1 = load_vector(in + l1);
                        const double2 x1_0 = (double2) (x0_0.even, x0_1.even);
                        const double2 x1_1 = (double2) (x0_0.odd, x0_1.odd);
                        keep(x1_0, 0, out);
                        keep(x1_1, 0, out + 4);
                    }
                    for (; k < depth; k++, in++, out += 4) {
                        out[0] = load(in + l0);
                        out[1] = load(in + l1);
                    }
                }
            }
            // Packs the blocks of A from `first` to `last` of the chunk, `depth` of K from k0 on:
            // for every k, the rows of a block side by side. Rows past the end repeat the last one;
            // what is computed from them is not stored.
            for (long block = first; block < last; block++) {
                const long row = (chunk + block) * 2;
                __local double *out = packed_a + block * 128;
                __global const double *in = A + k0 * lda + row;
                const bool is_whole = row + 2 <= M;
                for (long k = 0; k < depth; k++, in += lda, out += 2)
                    if (is_whole) {
                        *(__local double2 *) (out) = load_side(in);
                    } else {
                        for (long i = 0; i < 2; i++)
                            out[i] = load(in + min(i, M - 1 - row));
                    }
            }
            for (long p = 0; p < together; p++) {
                const long width = vector[p + 1] - vector[p], col = vector[p] * 2;
                __local const double *panel = packed + p * 256;
                for (long block = first; block < last; block++) {
                    const long row = (chunk + block) * 2;
                    __local double *sum = sums + p * 32 + (slices > 1 ? block * 8 : 0);
                    __local const double *b = panel;
                    __local const double *a = packed_a + block * 128;
                    if (width == 1) {
                        // Adds the slice's share of a block of 2 rows and 1 vector to `sum`, whose
                        // rows are 2 vectors apart.
                        double2 c0_0 = 0;
                        double2 c1_0 = 0;
                        if (k0 > 0) {
                            c0_0 = vload2(0, sum);
                            c1_0 = vload2(2, sum);
                        }
                        for (long k = 0; k < depth; k++) {
                            const double2 b0 = vload2(0, b);
                            const double a0 = a[0];
                            c0_0 += a0 * b0;
                            const double a1 = a[1];
                            c1_0 += a1 * b0;
                            b += 4;
                            a += 2;
                        }
                        keep(c0_0, 0, sum);
                        keep(c1_0, 2, sum);
                    }
                    if (width == 2) {
                        // Adds the slice's share of a block of 2 rows and 2 vectors to `sum`, whose
                        // rows are 2 vectors apart.
                        double2 c0_0 = 0, c0_1 = 0;
                        double2 c1_0 = 0, c1_1 = 0;
                        if (k0 > 0) {
                            c0_0 = vload2(0, sum); c0_1 = vload2(1, sum);
                            c1_0 = vload2(2, sum); c1_1 = vload2(3, sum);
                        }
                        for (long k = 0; k < depth; k++) {
                            const double2 b0 = vload2(0, b);
                            const double2 b1 = vload2(1, b);
                            const double a0 = a[0];
                            c0_0 += a0 * b0; c0_1 += a0 * b1;
                            const double a1 = a[1];
                            c1_0 += a1 * b0; c1_1 += a1 * b1;
                            b += 4;
                            a += 2;
                        }
                        keep(c0_0, 0, sum); keep(c0_1, 1, sum);
                        keep(c1_0, 2, sum); keep(c1_1, 3, sum);
                    }
                    if (k0 + depth == K) {
                        // C = alpha sum + beta C for a block of `width` vectors at (row, col).
                        for (long m = 0; m < 2 && row + m < M; m++) {
                            __global double *out = C + (row + m) * ldc + col;
                            __local const double *x = sum + m * 4;
                            const long2 stored = stored_columns(row + m, N, triangle);
                            const long end_n = min(width * 2, stored.y - col);
                            long n = max(stored.x - col, 0L);
                            for (; n + 2 <= end_n; n += 2)
                                put_vector(vload2(0, x + n), alpha, beta, out + n);
                            for (; n < end_n; n++)
                                put(x[n], alpha, beta, out + n);
                        }
                    }
                }
            }
            k0 += depth;
        } while (k0 < K);
    }
}
