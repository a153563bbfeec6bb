/* test_exact.c: generator/tune/{exact,parallel}.c: matrices whose product is known, and one wrong
 * element among them, however the rows are divided among threads. Needs no device.
 */
#include "exact.h"
#include "parallel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const unsigned all_parts[] = { 1, 2, 5, PARALLEL_MOST };
enum { NUM_PARTS = sizeof all_parts / sizeof all_parts[0] };

static const struct { double alpha, beta; } scalars[] = {
    { 1, 0 }, { -1.5, 0.75 }, { 0, 0 }, { 0, 1 }, { 2, 0 },
};
enum { NUM_SCALARS = sizeof scalars / sizeof scalars[0] };

/* A multiplication that is computed here, term by term. */
struct work {
    struct exact_factors factors;
    struct matrix a, b, c;
    struct exact_goal goal;
    unsigned char *right;              /* C's image as it should be */
};

enum { M = 45, N = 71, K = 13 };

/* A part of an element of op(X). */
static double element(const struct work *work, const struct matrix *matrix, bool trans, size_t i,
        size_t j, unsigned part)
{
    const unsigned parts = work->factors.parts;
    return trans ? matrix_get(matrix, j, parts * i + part)
                 : matrix_get(matrix, i, parts * j + part);
}

/* A part of an element of the product. */
static double product(const struct work *work, bool ta, bool tb, size_t i, size_t j, unsigned part)
{
    double sum = 0;
    for (size_t p = 0; p < K; p++)
        for (unsigned of_a = 0; of_a < work->factors.parts; of_a++)
            sum += (of_a > part ? -1 : 1) * element(work, &work->a, ta, i, p, of_a) *
                   element(work, &work->b, tb, p, j, of_a ^ part);
    return sum;
}

static void multiply(struct work *work, bool ta, bool tb)
{
    const double alpha = work->goal.alpha, beta = work->goal.beta;
    const unsigned parts = work->factors.parts;
    for (size_t i = 0; i < M; i++)
        for (size_t c = 0; c < parts * N; c++) {
            const double sum = product(work, ta, tb, i, c / parts, c % parts);
            const double before = beta == 0 ? 0 : beta * matrix_get(&work->c, i, c);
            matrix_set(&work->c, i, c, alpha * sum + before);
        }
}

static void work_init_parts(struct work *work, enum kiln_storage storage, bool ta, bool tb,
        int rank, unsigned s, unsigned parts)
{
    memset(work, 0, sizeof *work);
    assert_true(exact_init(&work->factors, M, N, K, rank, parts));
    assert_true(matrix_init(&work->a, storage, ta ? K : M, parts * (ta ? M : K), 3, 1));
    assert_true(matrix_init(&work->b, storage, tb ? N : K, parts * (tb ? K : N), 0, 2));
    assert_true(matrix_init(&work->c, storage, M, parts * N, 2, 5));
    exact_fill_a(&work->a, &work->factors, ta, 2);
    exact_fill_b(&work->b, &work->factors, tb, 3);
    exact_fill_c(&work->c, &work->factors, 4);
    work->goal = (struct exact_goal){ .factors = &work->factors,
        .alpha = scalars[s].alpha,
        .beta = scalars[s].beta };
    multiply(work, ta, tb);
    work->right = malloc(work->c.bytes);
    assert_non_null(work->right);
    memcpy(work->right, work->c.image, work->c.bytes);
}

static void work_init(struct work *work, enum kiln_storage storage, bool ta, bool tb, int rank,
        unsigned s)
{
    work_init_parts(work, storage, ta, tb, rank, s, 1);
}

static void work_free(struct work *work)
{
    exact_free(&work->factors);
    matrix_free(&work->a);
    matrix_free(&work->b);
    matrix_free(&work->c);
    free(work->right);
}

static void test_product_is_known(void **state)
{
    (void) state;
    for (int type = 0; type < KILN_NUM_STORAGES; type++)
        for (unsigned t = 0; t < 16; t++)
            for (unsigned s = 0; s < NUM_SCALARS; s++) {
                struct work work;
                struct exact_wrong wrong;
                char message[MATRIX_MESSAGE_BYTES];
                work_init_parts(&work, (enum kiln_storage) type, t & 1, t & 2,
                        t & 4 ? 1 : EXACT_RANK, s, t & 8 ? 2 : 1);
                assert_true(matrix_is_intact(&work.a, message));
                assert_true(matrix_is_intact(&work.b, message));
                for (unsigned p = 0; p < NUM_PARTS; p++)
                    assert_true(exact_judge(&work.goal, &work.c, all_parts[p], &wrong));
                work_free(&work);
            }
}

/* Every element of A and B is odd, so that each term changes the sum. */
static void test_inputs_are_odd(void **state)
{
    struct work work;
    (void) state;
    work_init(&work, KILN_STORED_FLOAT, false, true, EXACT_RANK, 0);
    for (size_t i = 0; i < M; i++)
        for (size_t p = 0; p < K; p++)
            assert_true((long) matrix_get(&work.a, i, p) & 1);
    for (size_t j = 0; j < N; j++)
        for (size_t p = 0; p < K; p++)
            assert_true((long) matrix_get(&work.b, j, p) & 1);
    work_free(&work);
}

/* What the judge says, which is the same for any number of parts. */
static void assert_wrong_at(const struct work *work, size_t row, size_t col, double wanted)
{
    for (unsigned p = 0; p < NUM_PARTS; p++) {
        struct exact_wrong wrong = { .row = SIZE_MAX };
        assert_false(exact_judge(&work->goal, &work->c, all_parts[p], &wrong));
        assert_int_equal(wrong.row, row);
        assert_int_equal(wrong.col, col);
        assert_true(wrong.wanted == wanted);
    }
}

/* One bit of one element, the lowest; what is told is the element's value before. */
static void spoil_one(struct work *work, size_t row, size_t col)
{
    const double wanted = matrix_get(&work->c, row, col);
    matrix_row(&work->c, row)[col * work->c.element_bytes] ^= 1;
    assert_wrong_at(work, row, col, wanted);
    memcpy(work->c.image, work->right, work->c.bytes);
}

static void test_any_wrong_element_is_found(void **state)
{
    (void) state;
    for (int type = 0; type < KILN_NUM_STORAGES; type++)
        for (unsigned s = 0; s < 2; s++) {
            struct work work;
            work_init(&work, (enum kiln_storage) type, false, true, EXACT_RANK, s);
            for (size_t i = 0; i < M; i++)
                for (size_t j = 0; j < N; j += i % 9 == 0 ? 1 : N - 1)
                    spoil_one(&work, i, j);
            work_free(&work);
        }
}

static void test_first_of_several_is_told(void **state)
{
    struct work work;
    (void) state;
    work_init(&work, KILN_STORED_FLOAT, false, false, EXACT_RANK, 1);
    const double wanted = matrix_get(&work.c, 20, 30);
    for (size_t i = 21; i < M; i++)
        matrix_set(&work.c, i, 0, 1000);
    matrix_set(&work.c, 20, 31, 1000);
    matrix_set(&work.c, 20, 30, 1000);
    assert_wrong_at(&work, 20, 30, wanted);
    work_free(&work);
}

/* A zero may have either sign, also where a row has a wrong element behind it. */
static void test_signs_of_zeros(void **state)
{
    (void) state;
    for (int type = 0; type < KILN_NUM_STORAGES; type++) {
        struct work work;
        struct exact_wrong wrong;
        work_init(&work, (enum kiln_storage) type, false, false, EXACT_RANK, 2);
        for (size_t i = 0; i < M; i++)
            for (size_t j = 0; j < N; j++)
                matrix_set(&work.c, i, j, i % 2 ? 0.0 : -0.0);
        for (unsigned p = 0; p < NUM_PARTS; p++)
            assert_true(exact_judge(&work.goal, &work.c, all_parts[p], &wrong));
        matrix_set(&work.c, M - 1, N - 1, 1);
        assert_wrong_at(&work, M - 1, N - 1, 0);
        work_free(&work);
    }
}

static void test_nan_is_wrong(void **state)
{
    struct work work;
    (void) state;
    work_init(&work, KILN_STORED_DOUBLE, true, false, EXACT_RANK, 0);
    const double wanted = matrix_get(&work.c, M - 1, 0);
    matrix_set(&work.c, M - 1, 0, strtod("nan", NULL));
    assert_wrong_at(&work, M - 1, 0, wanted);
    work_free(&work);
}

/* Images are the same byte for byte. */
static void test_filled_the_same(void **state)
{
    struct exact_factors factors;
    struct matrix one, many;
    (void) state;
    assert_true(exact_init(&factors, M, N, K, EXACT_RANK, 1));
    assert_true(matrix_init(&one, KILN_STORED_HALF, M, N, 4, 3));
    exact_fill_c(&one, &factors, 1);
    for (unsigned p = 1; p < NUM_PARTS; p++) {
        assert_true(matrix_init(&many, KILN_STORED_HALF, M, N, 4, 3));
        memset(many.image, 0, many.bytes);
        exact_fill_c(&many, &factors, all_parts[p]);
        assert_memory_equal(one.image, many.image, one.bytes);
        matrix_free(&many);
    }
    matrix_free(&one);
    exact_free(&factors);
}

static void test_nothing_to_judge(void **state)
{
    (void) state;
    for (unsigned t = 0; t < 3; t++) {
        const size_t m = t == 0 ? 0 : 5, n = t == 1 ? 0 : 7, k = t == 2 ? 0 : 3;
        struct exact_factors factors;
        struct matrix c;
        struct exact_wrong wrong;
        char message[MATRIX_MESSAGE_BYTES];
        assert_true(exact_init(&factors, m, n, k, EXACT_RANK, 1));
        const struct exact_goal goal = { .factors = &factors, .alpha = 2, .beta = 1 };
        assert_true(matrix_init(&c, KILN_STORED_FLOAT, m, n, 1, 2));
        exact_fill_c(&c, &factors, 1);
        assert_true(matrix_is_intact(&c, message));
        assert_true(exact_judge(&goal, &c, 1, &wrong));
        matrix_free(&c);
        exact_free(&factors);
    }
}

/* ---- Threads ---- */

struct counts {
    unsigned char times[1000];
    unsigned char part[1000];
};

static void count_rows(void *user, unsigned part, size_t first, size_t end)
{
    struct counts *counts = user;
    for (size_t i = first; i < end; i++) {
        counts->times[i]++;
        counts->part[i] = (unsigned char) part;
    }
}

static void test_each_row_once_in_order(void **state)
{
    (void) state;
    for (size_t rows = 8; rows < 1000; rows += 31)
        for (unsigned p = 0; p < NUM_PARTS; p++) {
            struct counts counts = { .times = { 0 } };
            parallel_rows(rows, all_parts[p], count_rows, &counts);
            for (size_t i = 0; i < 1000; i++)
                assert_int_equal(counts.times[i], i < rows);
            assert_int_equal(counts.part[0], 0);
            assert_int_equal(counts.part[rows - 1], all_parts[p] - 1);
            for (size_t i = 1; i < rows; i++)
                assert_in_range(counts.part[i] - counts.part[i - 1], 0, 1);
        }
}

static void test_threads_where_they_pay(void **state)
{
    (void) state;
    assert_int_equal(parallel_parts(2, 4096, 4096), 1);
    assert_int_equal(parallel_parts(-1, 4096, 4096), 1);
    assert_int_equal(parallel_parts(4, 4096, 4096), 4);
    assert_int_equal(parallel_parts(64, 4096, 4096), PARALLEL_MOST);
    assert_int_equal(parallel_parts(64, 1024, 1023), 1);
    assert_int_equal(parallel_parts(64, 1024, 1024), PARALLEL_MOST);
    assert_int_equal(parallel_parts(64, 3, 1 << 20), 3);
    assert_int_equal(parallel_parts(64, 0, SIZE_MAX), 1);
    assert_int_equal(parallel_parts(64, SIZE_MAX, SIZE_MAX), PARALLEL_MOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_product_is_known),
        cmocka_unit_test(test_inputs_are_odd),
        cmocka_unit_test(test_any_wrong_element_is_found),
        cmocka_unit_test(test_first_of_several_is_told),
        cmocka_unit_test(test_signs_of_zeros),
        cmocka_unit_test(test_nan_is_wrong),
        cmocka_unit_test(test_filled_the_same),
        cmocka_unit_test(test_nothing_to_judge),
        cmocka_unit_test(test_each_row_once_in_order),
        cmocka_unit_test(test_threads_where_they_pay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
