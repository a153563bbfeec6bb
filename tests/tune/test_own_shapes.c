/* test_own_shapes.c: the application's own shapes as the tuner reads them,
 * generator/tune/own_shapes.c. */
#include "own_shapes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct own_shapes own;

static bool read_text(const char *text, char error[EXTENTS_ERROR_BYTES])
{
    char path[] = "/tmp/kiln-own-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    assert_int_equal(close(file), 0);
    const bool ok = own_shapes_read(path, &own, error);
    assert_int_equal(remove(path), 0);
    return ok;
}

static void check(size_t i, size_t m, const char *precision, int pair, double weight)
{
    assert_int_equal(own.at[i].shape.m, m);
    assert_ptr_equal(own.at[i].precision, precision ? precision_find(precision) : NULL);
    assert_int_equal(own.at[i].pair, pair);
    assert_true(own.at[i].weight == weight);
}

/* The members of a batch count; equal weights stay in the order of the file. */
static void what_weighs_most_comes_first(void **state)
{
    char error[EXTENTS_ERROR_BYTES] = "";
    (void) state;
    assert_true(read_text("1 1 1\n2 1 1 s batch=3 weight=2\n3 1 1 tn\n4 1 1 weight=7\n", error));
    assert_int_equal(own.num, 4);
    check(0, 4, NULL, -1, 7);
    check(1, 2, "single", -1, 6);
    check(2, 1, NULL, -1, 1);
    check(3, 3, NULL, 2, 1);
    assert_true(own_shape_is_for(&own.at[0], precision_find("half")));
    assert_true(own_shape_is_for(&own.at[1], precision_find("single")));
    assert_false(own_shape_is_for(&own.at[1], precision_find("half")));
    assert_true(own_shape_is_for(&own.at[0], precision_find("complex_single")));
    assert_false(own_shape_is_for(&own.at[1], precision_find("complex_single")));
}

/* A batch is another problem than one of its members, and than another batch. */
static void batches_are_problems_of_their_own(void **state)
{
    char error[EXTENTS_ERROR_BYTES] = "";
    (void) state;
    assert_true(read_text("8 1 1 s batch=2\n8 1 1 s\n8 1 1 s batch=1\n8 1 1 s batch=3\n"
                          "8 1 1 s batch=2\n",
            error));
    assert_int_equal(own.num, 3);
    check(0, 8, "single", -1, 4);
    assert_int_equal(own.at[0].shape.batch, 2);
    check(1, 8, "single", -1, 3);
    assert_int_equal(own.at[1].shape.batch, 3);
    check(2, 8, "single", -1, 2);
    assert_int_equal(own.at[2].shape.batch, 0);
}

/* What differs in precision or pair is not the same. */
static void the_same_problem_is_one(void **state)
{
    char error[EXTENTS_ERROR_BYTES] = "";
    (void) state;
    assert_true(read_text("8 1 1 s nn\n8x1x1 nn single weight=4 # again\n8 1 1 d nn\n8 1 1 s nt\n"
                          "8 1 1\n",
            error));
    assert_int_equal(own.num, 4);
    check(0, 8, "single", 0, 5);
    check(1, 8, "double", 0, 1);
    check(2, 8, "single", 1, 1);
    check(3, 8, NULL, -1, 1);
}

static void only_so_many(void **state)
{
    char text[4096] = "", error[EXTENTS_ERROR_BYTES] = "";
    (void) state;
    for (int i = 0, at = 0; i < OWN_MAX; i++)
        at += sprintf(text + at, "%d 1 1\n", i + 1);
    strcat(text, "1 1 1\n"); /* is there already */
    assert_true(read_text(text, error));
    assert_int_equal(own.num, OWN_MAX);
    strcat(text, "1 2 1\n");
    assert_false(read_text(text, error));
    assert_non_null(strstr(error, ": line 66: more than 64 shapes"));
}

/* A file that lost its lines would tune for what nobody asked for. */
static void none_is_told_of(void **state)
{
    static const char *const texts[] = { "", "\n", "# M N K\n\n   # none yet\n", "\xef\xbb\xbf" };
    (void) state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char error[EXTENTS_ERROR_BYTES] = "";
        assert_true(read_text(texts[i], error));
        assert_int_equal(own.num, 0);
        assert_ptr_equal(strstr(error, "no shapes in /tmp/kiln-own-"), error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_weighs_most_comes_first),
        cmocka_unit_test(batches_are_problems_of_their_own),
        cmocka_unit_test(the_same_problem_is_one),
        cmocka_unit_test(only_so_many),
        cmocka_unit_test(none_is_told_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
