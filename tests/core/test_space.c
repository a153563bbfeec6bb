/* test_space.c: configurations as points, generator/core/space.c. */
#include "wide.h"
#include "assemble.h"
#include "random.h"
#include "space.h"

#include <stdlib.h>
#include <string.h>

/* Of points that are rendered and of pairs of parameters one in so many is tried: code under a
 * sanitizer is much slower. */
#ifdef __SANITIZE_ADDRESS__
enum { APART = 5 };
#else
enum { APART = 1 };
#endif

static struct space make_space(size_t family, size_t precision)
{
    const struct problem problem = { &precisions[served_precision(families[family], precision)],
        false, true };
    struct device_facts facts = facts_wide();
    struct space space;
    facts.value[FACT_COMPUTE_CAPABILITY] = families[family]->capability;
    space_init(&space, families[family], &problem, &facts);
    return space;
}

static void sizes_are_products(void **state)
{
    (void) state;
    for (size_t f = 0; f < num_families; f++) {
        const struct space space = make_space(f, 1);
        uint64_t size = 1;
        assert_int_equal(space.num_params, families[f]->num_params);
        for (unsigned i = 0; i < space.num_params; i++) {
            assert_in_range(space.num_values[i], 1, FAMILY_MAX_VALUES);
            size *= space.num_values[i];
        }
        assert_true(space_size(&space) == size);
    }
}

static void shards_part_the_space(void **state)
{
    enum { NUM = 5 };
    const char *reason;
    (void) state;
    for (size_t f = 0; f < num_families; f++) {
        struct space space = make_space(f, 1);
        const uint64_t size = space_size(&space);
        if (size < NUM * NUM) // too few to be parted
            continue;
        unsigned held[NUM] = { 0 }, legal = 0;
        for (uint64_t i = 0, step = size / 20000 + 1; i < size; i += step) {
            const struct point point = space_point(&space, i);
            unsigned owners = 0;
            space.shard = (struct shard){ .num = 0 };
            const bool is_legal = space_legal(&space, &point, &reason);
            for (unsigned s = 1; s <= NUM; s++) {
                space.shard = (struct shard){ s, NUM };
                const bool is_its = space_legal(&space, &point, &reason);
                owners += is_its;
                held[s - 1] += is_its;
            }
            assert_int_equal(owners, is_legal);
            legal += is_legal;
        }
        assert_true(legal > 100);
        for (unsigned s = 0; s < NUM; s++)
            assert_in_range(held[s], legal / NUM / 2, legal / NUM * 2);
    }
}

/* A family that reads rows where they lie takes those that begin at multiples of its pieces. */
static void a_shape_limits_the_points(void **state)
{
    const struct family *async = family_find("async");
    const char *reason;
    struct config config;
    struct point point;
    char error[FAMILY_ERROR_BYTES];
    (void) state;
    for (size_t f = 0; f < num_families; f++) {
        struct space space = make_space(f, 2);
        if (families[f] != async)
            continue;
        assert_true(config_parse("async BYTES=16", &config, error));
        assert_true(space_locate(&space, &config, &point));
        assert_true(space_legal(&space, &point, &reason));
        space.shape = (struct shape){ 1500, 1500, 1500 };
        assert_true(space_legal(&space, &point, &reason));
        space.shape.k = 1501;
        assert_false(space_legal(&space, &point, &reason));
        assert_true(config_parse("async BYTES=16 COPY=1", &config, error));
        assert_true(space_locate(&space, &config, &point));
        assert_true(space_legal(&space, &point, &reason));
        return;
    }
    fail_msg("there is no family async");
}

static void shards_are_written_as_parts(void **state)
{
    static const char *const bad[] = { "", "1", "/", "1/", "/2", "0/2", "3/2", "1/0", "1/2/3",
        "-1/2", "1/-2", "1/10000", " 1/2", "1/2 ", "1.0/2", "00000000000000001/2" };
    struct shard shard;
    (void) state;
    assert_true(shard_parse("1/1", &shard) && shard.index == 1 && shard.num == 1);
    assert_true(shard_parse("17/9999", &shard) && shard.index == 17 && shard.num == 9999);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (shard_parse(bad[i], &shard))
            fail_msg("'%s' is taken for a shard", bad[i]);
}

static void indices_come_back(void **state)
{
    (void) state;
    for (size_t f = 0; f < num_families; f++) {
        const struct space space = make_space(f, 1);
        const uint64_t size = space_size(&space);
        for (uint64_t i = 0, step = size / 1000 + 1; i < size; i += step) {
            const struct point point = space_point(&space, i);
            assert_true(space_index(&space, &point) == i);
            for (unsigned p = 0; p < space.num_params; p++)
                assert_in_range(point.at[p], 0, space.num_values[p] - 1);
        }
        const struct point last = space_point(&space, size - 1);
        for (unsigned p = 0; p < space.num_params; p++)
            assert_int_equal(last.at[p], space.num_values[p] - 1);
    }
}

static void configurations_come_back(void **state)
{
    (void) state;
    for (size_t f = 0; f < num_families; f++) {
        const struct space space = make_space(f, 1);
        for (uint64_t draw = 0, random = 3; draw < 300; draw++) {
            const struct point point = space_point(&space,
                    random_next(&random) % space_size(&space));
            struct point again;
            struct config config;
            const char *by_point, *by_config;
            space_config(&space, &point, &config);
            assert_true(space_locate(&space, &config, &again));
            assert_memory_equal(&point, &again, sizeof point);
            assert_int_equal(space_legal(&space, &point, &by_point),
                    config_legal(&config, &space.problem, &space.facts, &by_config));
            assert_ptr_equal(by_point, by_config);
        }
    }
}

static void unknown_values_are_not_located(void **state)
{
    (void) state;
    const struct space space = make_space(0, 1);
    struct config config;
    struct point point;
    config_default(families[0], &config);
    assert_true(space_locate(&space, &config, &point));
    config.value[0] = 5000;
    assert_false(space_locate(&space, &config, &point));
}

/* A legal point that does not render would only be found when a search comes upon it. */
static void legal_points_render(void **state)
{
    enum { NUM = 60 / APART };
    (void) state;
    for (size_t f = 0; f < num_families; f++)
        for (size_t p = 0; p < KILN_NUM_PRECISIONS; p++) {
            const struct space space = make_space(f, p);
            uint64_t random = 11;
            int rendered = 0;
            for (int draw = 0; draw < 20000 && rendered < NUM; draw++) {
                const struct point point = space_point(&space,
                        random_next(&random) % space_size(&space));
                struct config config;
                struct assembly assembly;
                const char *reason;
                char error[FAMILY_ERROR_BYTES], text[CONFIG_TEXT_BYTES];
                unsigned index;
                if (!space_legal(&space, &point, &reason))
                    continue;
                space_config(&space, &point, &config);
                config_format(&config, text);
                assert_true(assembly_init(&assembly, "space", &space.facts));
                if (!assembly_add(&assembly, &config, &space.problem, &index, error))
                    fail_msg("%s: %s", text, error);
                assembly_free(&assembly);
                rendered++;
            }
            assert_int_equal(rendered, NUM);
        }
}

/* ---- Corners ---- */

enum { CORNER_DRAWS = 300, RARE_DRAWS = 20000 };

static void render_config(const struct space *space, const struct config *config)
{
    char text[CONFIG_TEXT_BYTES], error[FAMILY_ERROR_BYTES];
    config_format(config, text);
    char *kernels = assemble_text(config, &space->problem, &space->facts, error);
    if (!kernels)
        fail_msg("%s: %s", text, error);
    assert_non_null(strstr(kernels, "__kernel"));
    free(kernels);
}

/* The defaults with two parameters at given values, or else the first of some random points with
 * these values that is legal. False when there is none, as when a rule forbids the two together. */
static bool render_corner(const struct space *space, unsigned i, unsigned vi, unsigned j,
        unsigned vj, int draws)
{
    uint64_t random = i * 1000 + vi * 100 + j * 10 + vj;
    struct config config;
    struct point point;
    config_default(space->family, &config);
    assert_true(space_locate(space, &config, &point));
    for (int draw = 0; draw < draws; draw++) {
        const char *reason;
        point.at[i] = (unsigned char) vi;
        point.at[j] = (unsigned char) vj;
        if (space_legal(space, &point, &reason)) {
            space_config(space, &point, &config);
            render_config(space, &config);
            return true;
        }
        point = space_point(space, random_next(&random) % space_size(space));
    }
    return false;
}

/* Whether two values are legal together for some precision; renders them for the first. */
static bool render_for_some(const struct space spaces[KILN_NUM_PRECISIONS], unsigned i, unsigned vi,
        unsigned j, unsigned vj)
{
    for (size_t p = 0; p < KILN_NUM_PRECISIONS; p++)
        if (render_corner(&spaces[p], i, vi, j, vj, CORNER_DRAWS))
            return true;
    return false;
}

/* Two parameters at their least and greatest values, in all four ways; for every two of them. At
 * least three quarters are legal. */
static void render_pairs(const struct space spaces[KILN_NUM_PRECISIONS])
{
    const struct space *space = spaces;
    unsigned num = 0, corners = 0, rendered = 0;
    for (unsigned i = 0; i < space->num_params; i++)
        for (unsigned j = 0; j < i; j++) {
            if (num++ % APART)
                continue;
            corners += 4;
            for (unsigned corner = 0; corner < 4; corner++)
                rendered += render_for_some(spaces, i, corner % 2 ? space->num_values[i] - 1 : 0, j,
                        corner / 2 ? space->num_values[j] - 1 : 0);
        }
    if (rendered < corners * 3 / 4)
        fail_msg("%s: %u of %u corners", space->family->name, rendered, corners);
}

/* Whether a value is legal for some precision; renders it for each for which it is. Values that are
 * rarely legal are looked for longer. */
static bool render_value(const struct space spaces[KILN_NUM_PRECISIONS], unsigned i, unsigned v)
{
    bool legal = false;
    for (size_t p = 0; p < KILN_NUM_PRECISIONS; p++)
        legal = render_corner(&spaces[p], i, v, i, v, CORNER_DRAWS) || legal;
    for (size_t p = 0; p < KILN_NUM_PRECISIONS && !legal; p++)
        legal = render_corner(&spaces[p], i, v, i, v, RARE_DRAWS);
    return legal;
}

static void corners_render(void **state)
{
    (void) state;
    for (size_t f = 0; f < num_families; f++) {
        struct space spaces[KILN_NUM_PRECISIONS];
        for (size_t p = 0; p < KILN_NUM_PRECISIONS; p++)
            spaces[p] = make_space(f, p);
        const struct space space = spaces[1];
        struct config config;
        config_default(families[f], &config);
        render_config(&space, &config);
        for (unsigned i = 0; i < space.num_params; i++)
            for (unsigned v = 0; v < space.num_values[i]; v++)
                if (!render_value(spaces, i, v))
                    fail_msg("%s: %s=%ld is never legal", families[f]->name,
                            families[f]->params[i].name, space.values[i][v]);
        render_pairs(spaces);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_products),
        cmocka_unit_test(indices_come_back),
        cmocka_unit_test(shards_part_the_space),
        cmocka_unit_test(a_shape_limits_the_points),
        cmocka_unit_test(shards_are_written_as_parts),
        cmocka_unit_test(configurations_come_back),
        cmocka_unit_test(unknown_values_are_not_located),
        cmocka_unit_test(legal_points_render),
        cmocka_unit_test(corners_render),
    };
    return cmocka_run_group_tests_name("space", tests, NULL, NULL);
}
