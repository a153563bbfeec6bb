/* test_places.c: which tile of a triangle a kernel takes for a number (nv/triangle.cl.in), against
 * what the library counts (kiln_stored_tiles), and row by row. */
#include "program.h"

#include "assemble.h"
#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TILES = 400000, NUM_SOME = 60 };

/* Behind the functions of the text. */
static const char kernel[] =
        "__kernel __attribute__((reqd_work_group_size(1, 1, 1)))\n"
        "void places(__global uint *out, uint tiles_m, uint tiles_n, uint from, uint num, "
        "int triangle)\n"
        "{\n"
        "    out[0] = count_tiles(tiles_m, tiles_n, triangle);\n"
        "    for (uint i = 0; i < num; i++) {\n"
        "        const uint2 place = place_of_tile(from + i, tiles_n, triangle);\n"
        "        out[1 + 2 * i] = place.x;\n"
        "        out[2 + 2 * i] = place.y;\n"
        "    }\n"
        "}\n";

static void fail(const char *what)
{
    fprintf(stderr, "test_places: %s\n", what);
    exit(EXIT_FAILURE);
}

/* What a configuration with these tiles counts by. */
static char *functions(const char *config_text, bool is_double)
{
    struct device_facts facts;
    struct config config;
    char error[FAMILY_ERROR_BYTES];
    const struct precision *precision = precision_find(is_double ? "double" : "half");
    const struct problem problem = { precision, false, true, true };
    facts_ample(&facts);
    facts.value[FACT_COMPUTE_CAPABILITY] = 90;
    if (!config_parse(config_text, &config, error))
        fail(error);
    char *text = assemble_text(&config, &problem, &facts, error);
    if (!text)
        fail(error);
    char *begin = strstr(text, "\nstatic uint sum_of_floors("), *end = NULL;
    if (begin)
        end = strstr(begin, "\nstatic bool is_inside(");
    if (!end)
        fail("the functions have other names");
    char *all = malloc((size_t) (end - begin) + sizeof kernel + 1);
    if (!all)
        fail("out of memory");
    sprintf(all, "%.*s\n%s", (int) (end - begin), begin, kernel);
    free(text);
    return all;
}

struct world {
    struct program_kernel places;
    uint32_t *out;
    struct kiln_recipe recipe;         /* its tile */
};

static void call(const struct world *world, uint32_t tiles_m, uint32_t tiles_n, uint32_t from,
        uint32_t num, int32_t triangle)
{
    const void *const arguments[] = { &world->out, &tiles_m, &tiles_n, &from, &num, &triangle };
    world->places.call(arguments);
}

/* All tiles, of which there are few, or some, those at both ends of rows among them. */
static void check(const struct world *world, size_t m, int32_t triangle)
{
    const size_t pair = (size_t) abs(triangle), n = m * pair;
    const uint32_t tile_m = world->recipe.tile[0], tile_n = world->recipe.tile[1];
    const uint32_t rows = (uint32_t) kiln_ceil_div(m, tile_m),
                   columns = (uint32_t) kiln_ceil_div(n, tile_n);
    struct kiln_product product = { .m = m, .n = n, .triangle = triangle };
    const uint64_t count = kiln_stored_tiles(&world->recipe, &product);
    const uint32_t stride = rows / NUM_SOME + 1;
    uint64_t before = 0;
    if (count > MOST_TILES)
        fail("too many tiles");
    for (uint32_t row = 0; row < rows; row++) {
        const uint64_t crossed = (uint64_t) row * tile_m * pair;
        const uint32_t first = triangle < 0 ? (uint32_t) (crossed / tile_n) : 0;
        const uint64_t end = triangle < 0 ? columns
                                          : kiln_ceil_div(crossed + tile_m * pair, tile_n);
        const uint32_t num = (uint32_t) (end < columns ? end : columns) - first;
        if (row % stride == 0 || row + 1 == rows) {
            call(world, rows, columns, (uint32_t) before, num, triangle);
            for (uint32_t i = 0; i < num; i++)
                if (world->out[1 + 2 * i] != row || world->out[2 + 2 * i] != first + i) {
                    fprintf(stderr, "tile %lu of %u x %u, %zu rows, triangle %d: row %u, not %u\n",
                            (unsigned long) before + i, tile_m, tile_n, m, triangle,
                            world->out[1 + 2 * i], row);
                    fail("a tile is elsewhere");
                }
        }
        before += num;
    }
    if (before != count || world->out[0] != count)
        fail("another number of tiles");
}

static void check_tiles(const char *config, bool is_double, uint32_t tile_m, uint32_t tile_n)
{
    static const size_t extents[] = { 1, 15, 16, 17, 127, 128, 129, 191, 192, 193, 1000, 1024, 4097,
        10007 };
    char *text = functions(config, is_double);
    struct world world = {
        .places = program_find(text, "places"),
        .out = calloc(1 + 2 * MOST_TILES, sizeof *world.out),
        .recipe = { .tile = { tile_m, tile_n, 1 } },
    };
    if (!world.out)
        fail("out of memory");
    for (size_t i = 0; i < sizeof extents / sizeof extents[0]; i++)
        for (int32_t triangle = -2; triangle <= 2; triangle++)
            if (triangle != 0)
                check(&world, extents[i], triangle);
    free(world.out);
    free(text);
}

int main(void)
{
    check_tiles("tma BM=16 BN=128 WM=16 WN=16 ST=2 STREAM=0 SLICES=1", true, 16, 128);
    check_tiles("tma BM=128 BN=16 WM=32 WN=16 ST=2 STREAM=0 SLICES=1", true, 128, 16);
    check_tiles("tma BM=128 BN=32 WM=32 WN=16 ST=2 STREAM=0 SLICES=1", true, 128, 32);
    check_tiles("tma BM=64 BN=64 WM=32 WN=32 ST=2 STREAM=0 SLICES=1", true, 64, 64);
    check_tiles("tma BM=192 BN=128 WM=64 WN=32 ST=2 STREAM=0 SLICES=1", false, 192, 128);
    check_tiles("tma BM=128 BN=192 WM=64 WN=32 ST=2 STREAM=0 SLICES=1", false, 128, 192);
    check_tiles("tma BM=64 BN=192 WM=64 WN=32 ST=2 STREAM=0 SLICES=1", false, 64, 192);
    check_tiles("tma BM=256 BN=64 WM=64 WN=32 ST=2 STREAM=0 SLICES=1", false, 256, 64);
    return EXIT_SUCCESS;
}
