/* test_draw.c: shapes from a distribution, generator/core/draw.c. */
#include "draw.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct draw_limits large_device = { .least_ops = 1000000,
    .most_ops = 500000000000,
    .most_elements = 1 << 27,
    .largest = 8192 };
static const struct draw_limits all_limits[] = {
    { .least_ops = 1000000, .most_ops = 500000000000, .most_elements = 1 << 27, .largest = 8192 },
    { .least_ops = 30000000, .most_ops = 10000000000, .most_elements = 1 << 27, .largest = 4096 },
    { .least_ops = 1000, .most_ops = 100000, .most_elements = 1 << 20, .largest = 64 },
    { .least_ops = 1000000, .most_ops = 8000000, .most_elements = 1 << 20, .largest = 1024 },
};
enum { NUM_LIMITS = sizeof all_limits / sizeof all_limits[0], NUM_DRAWN = 1200 };

static bool are_same(const struct drawn *left, const struct drawn *right)
{
    return left->m == right->m && left->n == right->n && left->k == right->k &&
           left->transa == right->transa && left->transb == right->transb;
}

/* The same on every machine: what was measured with a seed can be measured again. */
static void pinned(void **state)
{
    static const char *const expected[] = {
        "large nt 1664 4400 816",
        "thin tt 8 439 892",
        "medium nn 2544 1856 544",
        "deep nt 161 76 12627",
        "small tn 496 48 80",
        "flat tt 1071 3159 5",
        "large nn 811 8101 7420",
        "thin tt 5 560 1744",
    };
    struct draw draw;
    struct drawn drawn;
    char text[64];
    (void) state;
    draw_begin(&draw, "bench", 1, &large_device);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        assert_true(draw_shape(&draw, &drawn));
        snprintf(text, sizeof text, "%s %c%c %zu %zu %zu", draw_class_name(drawn.class),
                drawn.transa ? 't' : 'n', drawn.transb ? 't' : 'n', drawn.m, drawn.n, drawn.k);
        assert_string_equal(text, expected[i]);
    }
}

static size_t least_of(size_t left, size_t right)
{
    return left < right ? left : right;
}

static size_t most_of(size_t left, size_t right)
{
    return left > right ? left : right;
}

static void check_class(const struct drawn *drawn)
{
    const char *name = draw_class_name(drawn->class);
    size_t least = least_of(drawn->m, drawn->n), most = most_of(drawn->m, drawn->n);
    if (strcmp(name, "thin") == 0) {
        assert_in_range(least, 1, DRAW_THIN_MOST);
        assert_true(most >= DRAW_THIN_TIMES * least && drawn->k >= DRAW_THIN_TIMES * least);
    } else if (strcmp(name, "deep") == 0) {
        assert_true(drawn->k >= DRAW_DEEP_TIMES * most);
    } else if (strcmp(name, "flat") == 0) {
        assert_true(least >= DRAW_FLAT_TIMES * drawn->k);
    }
}

static void check_limits(const struct draw_limits *limits, const struct drawn *drawn)
{
    size_t m = drawn->m, n = drawn->n, k = drawn->k;
    bool is_deep = strcmp(draw_class_name(drawn->class), "deep") == 0;
    bool is_thin = strcmp(draw_class_name(drawn->class), "thin") == 0;
    assert_in_range((uint64_t) 2 * m * n * k, limits->least_ops, limits->most_ops);
    assert_true((uint64_t) m * k + k * n + m * n <= limits->most_elements);
    assert_true(most_of(m, n) <= limits->largest && least_of(least_of(m, n), k) >= 1);
    assert_true(k <= limits->largest * (is_deep ? DRAW_DEEP_TIMES : 1));
    if (drawn->aligned)
        assert_true(k % DRAW_UNIT == 0 && most_of(m, n) % DRAW_UNIT == 0 &&
                    (is_thin || least_of(m, n) % DRAW_UNIT == 0));
}

static void within_limits_and_class(void **state)
{
    (void) state;
    for (size_t i = 0; i < NUM_LIMITS; i++) {
        struct draw draw;
        struct drawn drawn;
        assert_null(draw_limits_error(&all_limits[i]));
        draw_begin(&draw, "bench", i, &all_limits[i]);
        for (size_t j = 0; j < NUM_DRAWN; j++) {
            assert_true(draw_shape(&draw, &drawn));
            check_limits(&all_limits[i], &drawn);
            check_class(&drawn);
        }
    }
}

/* Small, medium and large follow each other without overlap. */
static void thirds(void **state)
{
    uint64_t least[DRAW_NUM_CLASSES], most[DRAW_NUM_CLASSES] = { 0 };
    int small = 0, medium = 0, large = 0;
    struct draw draw;
    struct drawn drawn;
    (void) state;
    memset(least, 0xff, sizeof least);
    draw_begin(&draw, "bench", 5, &large_device);
    for (size_t i = 0; i < NUM_DRAWN; i++) {
        assert_true(draw_shape(&draw, &drawn));
        uint64_t ops = (uint64_t) 2 * drawn.m * drawn.n * drawn.k;
        least[drawn.class] = ops < least[drawn.class] ? ops : least[drawn.class];
        most[drawn.class] = ops > most[drawn.class] ? ops : most[drawn.class];
    }
    for (int i = 0; i < DRAW_NUM_CLASSES; i++) {
        small = strcmp(draw_class_name(i), "small") == 0 ? i : small;
        medium = strcmp(draw_class_name(i), "medium") == 0 ? i : medium;
        large = strcmp(draw_class_name(i), "large") == 0 ? i : large;
    }
    assert_true(most[small] <= least[medium] && most[medium] <= least[large]);
}

/* Of each class as many, half of them aligned, and all pairs; extents over the whole range. */
static void shares(void **state)
{
    size_t num[DRAW_NUM_CLASSES] = { 0 }, aligned[DRAW_NUM_CLASSES] = { 0 }, pairs[4] = { 0 };
    size_t below = 0, num_thin = 0;
    struct draw draw;
    struct drawn drawn;
    (void) state;
    draw_begin(&draw, "tune", 9, &large_device);
    for (size_t i = 0; i < NUM_DRAWN; i++) {
        assert_true(draw_shape(&draw, &drawn));
        num[drawn.class]++;
        aligned[drawn.class] += drawn.aligned;
        pairs[drawn.transa * 2 + drawn.transb]++;
        if (strcmp(draw_class_name(drawn.class), "thin") == 0) {
            num_thin++;
            below += least_of(drawn.m, drawn.n) < 8;
        }
    }
    for (int i = 0; i < DRAW_NUM_CLASSES; i++) {
        assert_int_equal(num[i], NUM_DRAWN / DRAW_NUM_CLASSES);
        assert_int_equal(aligned[i], num[i] / 2);
    }
    for (int i = 0; i < 4; i++)
        assert_in_range(pairs[i], NUM_DRAWN / 5, NUM_DRAWN / 3);
    assert_in_range(below, num_thin / 3, num_thin * 2 / 3);
}

/* A stream begins anew with the same shapes, and goes on as it would have with more drawn. */
static void purposes_and_seeds(void **state)
{
    struct draw first, again, other, purpose;
    struct drawn of_first, of_again, of_other, of_purpose;
    size_t same_other = 0, same_purpose = 0;
    (void) state;
    draw_begin(&first, "bench", 1, &large_device);
    draw_begin(&again, "bench", 1, &large_device);
    draw_begin(&other, "bench", 2, &large_device);
    draw_begin(&purpose, "tune", 1, &large_device);
    for (size_t i = 0; i < NUM_DRAWN; i++) {
        draw_shape(&first, &of_first);
        draw_shape(&again, &of_again);
        draw_shape(&other, &of_other);
        draw_shape(&purpose, &of_purpose);
        assert_true(are_same(&of_first, &of_again));
        same_other += are_same(&of_first, &of_other);
        same_purpose += are_same(&of_first, &of_purpose);
    }
    assert_true(same_other < 3 && same_purpose < 3);
    again.next = 10;
    draw_begin(&first, "bench", 1, &large_device);
    for (size_t i = 0; i < 11; i++)
        draw_shape(&first, &of_first);
    draw_shape(&again, &of_again);
    assert_true(are_same(&of_first, &of_again));
}

static void bad_limits(void **state)
{
    static const struct draw_limits bad[] = {
        { .least_ops = 999, .most_ops = 100000, .most_elements = 1 << 20, .largest = 64 },
        { .least_ops = 1000, .most_ops = 7999, .most_elements = 1 << 20, .largest = 64 },
        { .least_ops = 1000, .most_ops = DRAW_MOST_OPS + 1, .most_elements = 1, .largest = 64 },
        { .least_ops = 1000, .most_ops = 100000, .most_elements = 1 << 20, .largest = 15 },
        { .least_ops = 1000, .most_ops = 100000, .most_elements = 1, .largest = 2 << 20 },
        { .least_ops = 1000000, .most_ops = 100000000, .most_elements = 1 << 20, .largest = 100 },
    };
    struct draw_limits narrow = large_device;
    struct draw draw;
    struct drawn drawn;
    (void) state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_non_null(draw_limits_error(&bad[i]));
    narrow.most_elements = 1000;
    assert_null(draw_limits_error(&narrow));
    draw_begin(&draw, "bench", 1, &narrow);
    assert_false(draw_shape(&draw, &drawn));
    assert_string_equal(draw_class_name(drawn.class), "large");
    assert_int_equal(draw.next, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pinned),
        cmocka_unit_test(within_limits_and_class),
        cmocka_unit_test(thirds),
        cmocka_unit_test(shares),
        cmocka_unit_test(purposes_and_seeds),
        cmocka_unit_test(bad_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
