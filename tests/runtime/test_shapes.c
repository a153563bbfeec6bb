/* test_shapes.c: what the log is told of the shapes that calls have (log_calls). */
#include "fixture.h"

#include "internal.h"

#include <stdio.h>
#include <string.h>

/* The shapes that were told, each behind a newline. */
struct told {
    char text[4096];
    unsigned num;
};

static void take(void *user, const char *message)
{
    struct told *told = user;
    size_t length = strlen(told->text);
    if (strncmp(message, "shape: ", 7) == 0) {
        told->num++;
        snprintf(told->text + length, sizeof told->text - length, "\n%s", message + 7);
    }
}

static struct kiln_context_params params_of(struct told *told)
{
    *told = (struct told){ .num = 0 };
    return (struct kiln_context_params){ .log = take, .log_user = told, .log_calls = 1 };
}

static void run(struct fixture *f, struct kiln_gemm gemm)
{
    fixture_run(f, &gemm);
    stub_clear_records();
}

static void nothing_is_told_unless_asked_for(void **state)
{
    struct fixture *f = *state;
    struct told told;
    struct kiln_context_params params = params_of(&told);
    params.log_calls = 0;
    fixture_new_context(f, &params);
    run(f, fixture_gemm(f, 10, 20, 30));
    assert_string_equal(told.text, "");
    params = params_of(&told);
    params.log = NULL;
    fixture_new_context(f, &params);
    run(f, fixture_gemm(f, 10, 20, 30));
}

static void a_shape_is_told_once(void **state)
{
    struct fixture *f = *state;
    struct told told;
    struct kiln_context_params params = params_of(&told);
    fixture_new_context(f, &params);
    for (unsigned i = 0; i < 3; i++) {
        run(f, fixture_gemm(f, 10, 20, 30));
        run(f, fixture_gemm(f, 11, 20, 30));
    }
    assert_string_equal(told.text, "\n10 20 30 single nn\n11 20 30 single nn");
}

/* Row-major in any case, whatever bundle serves. */
static void it_is_told_as_the_file_wants_it(void **state)
{
    struct fixture *f = *state;
    struct told told;
    struct kiln_context_params params = params_of(&told);
    fixture_new_context(f, &params);
    struct kiln_gemm gemm = fixture_gemm(f, 10, 20, 30);
    gemm.transb = KILN_TRANS;
    run(f, gemm);
    gemm.layout = KILN_COL_MAJOR;
    run(f, gemm);
    gemm = fixture_gemm(f, 10, 20, 30);
    gemm.precision = KILN_DOUBLE;
    gemm.transa = gemm.transb = KILN_TRANS;
    run(f, gemm);
    gemm = fixture_gemm(f, 4, 5, 6);
    gemm.precision = KILN_HALF;
    gemm.batch_count = 2;
    gemm.a_stride = 24;
    gemm.b_stride = 30;
    gemm.c_stride = 20;
    run(f, gemm);
    run(f, gemm);
    assert_string_equal(told.text, "\n10 20 30 single nt\n20 10 30 single tn\n10 20 30 double tt"
                                   "\n4 5 6 half nn batch=2");
}

/* A call that multiplies nothing has no shape. */
static void an_empty_call_is_not_told(void **state)
{
    struct fixture *f = *state;
    struct told told;
    struct kiln_context_params params = params_of(&told);
    fixture_new_context(f, &params);
    run(f, fixture_gemm(f, 0, 20, 30));
    assert_string_equal(told.text, "");
}

/* What is no longer remembered is told again: each shape at least once, and none at each call. */
static void many_shapes(void **state)
{
    struct fixture *f = *state;
    struct told told;
    struct kiln_context_params params = params_of(&told);
    fixture_new_context(f, &params);
    for (size_t n = 1; n <= 2 * KILN_NUM_RECENT; n++) {
        unsigned before = told.num;
        told.text[0] = '\0';
        for (unsigned i = 0; i < 3; i++) {
            run(f, fixture_gemm(f, 3, n, 5));
        }
        assert_int_equal(told.num, before + 1);
        char expected[64];
        snprintf(expected, sizeof expected, "\n3 %zu 5 single nn", n);
        assert_string_equal(told.text, expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        TEST(nothing_is_told_unless_asked_for),
        TEST(a_shape_is_told_once),
        TEST(it_is_told_as_the_file_wants_it),
        TEST(an_empty_call_is_not_told),
        TEST(many_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
