/* test_pool.c: the text of bundles, generator/core/pool.c and share.c, and what a bundle takes,
 * emit.c. */
#include "wide.h"
#include "emit.h"
#include "fnv.h"
#include "lz4_pack.h"
#include "reader.h"
#include "share.h"
#include "winners.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PROGRAMS = 40, TEXT_ROOM = 16384 };

/* ---- Pools ---- */

static void check_text(const struct kiln_pool *pool, const struct kiln_program *program,
        const char *expected)
{
    size_t bytes;
    char *text = pool_text(pool, program);
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
    assert_int_equal(program->text_bytes, strlen(expected));
    assert_true(kiln_pool_hash(pool, program, &bytes) ==
                kiln_hash(KILN_HASH_BEGIN, expected, strlen(expected)));
    assert_int_equal(bytes, strlen(expected));
}

static void a_text_is_read_as_it_was_added(void **state)
{
    static const char *const texts[] = { "a\nb\na\n", "\n\n\nb\n", "x\n", "\n", "b\na\n" };
    enum { NUM = sizeof texts / sizeof texts[0] };
    struct kiln_program programs[NUM] = { { 0 } };
    struct pool pool = { .num_slots = 0 };
    (void) state;
    for (int i = 0; i < NUM; i++)
        assert_true(pool_add(&pool, texts[i], &programs[i]));
    for (int i = 0; i < NUM; i++)
        check_text(&pool.data, &programs[i], texts[i]);
    assert_int_equal(pool.data.num_lines, 4);
    assert_int_equal(pool.data.num_symbols, 11);
    pool_free(&pool);
}

/* However many spaces a line begins with, and however many there are of them alone. */
static void indentation_takes_a_byte(void **state)
{
    (void) state;
    for (int spaces = 0; spaces < 100; spaces++) {
        struct kiln_program program = { 0 };
        struct pool pool = { .num_slots = 0 };
        char text[512];
        snprintf(text, sizeof text, "%*sx\n%*s\n%*s y\n", spaces, "", spaces, "", spaces, "");
        assert_true(pool_add(&pool, text, &program));
        check_text(&pool.data, &program, text);
        assert_true(pool.data.text_bytes <= 3 * (3 + (spaces < 32 ? 1 : (unsigned) spaces - 30)));
        pool_free(&pool);
    }
    struct kiln_program program = { 0 };
    struct pool pool = { .num_slots = 0 };
    assert_false(pool_add(&pool, "\tx\n", &program));
    pool_free(&pool);
}

static void a_newline_ends_a_text(void **state)
{
    struct kiln_program program = { 0 };
    struct pool pool = { .num_slots = 0 };
    (void) state;
    assert_true(pool_add(&pool, "first\nlast", &program));
    check_text(&pool.data, &program, "first\nlast\n");
    pool_free(&pool);
}

/* Lines of many lengths, up to the longest that there may be, each with a NUL after it. */
static void lines_lie_one_after_another(void **state)
{
    struct pool pool = { .num_slots = 0 };
    static char line[POOL_MAX_LINE + 1];
    size_t at = 0;
    (void) state;
    memset(line, 'x', sizeof line - 1);
    for (size_t len = 1; len <= POOL_MAX_LINE; len += len < POOL_MAX_LINE - 50 ? 7 : 1) {
        struct kiln_program program = { 0 };
        assert_true(pool_add(&pool, line + POOL_MAX_LINE - len, &program));
        assert_int_equal(program.text_bytes, len + 1);
    }
    assert_true(pool.data.num_lines > 500);
    for (uint32_t i = 0; i < pool.data.num_lines; i++) {
        assert_int_equal(pool.data.lines[i], at);
        at += strlen(pool.data.text + at) + 1;
    }
    assert_int_equal(pool.data.text_bytes, at);
    pool_free(&pool);
}

static void a_line_may_be_too_long(void **state)
{
    struct pool pool = { .num_slots = 0 };
    struct kiln_program program = { 0 };
    static char line[POOL_MAX_LINE + 2];
    (void) state;
    memset(line, 'x', sizeof line - 1);
    assert_false(pool_add(&pool, line, &program));
    pool_free(&pool);
}

static void lines_may_be_too_many(void **state)
{
    struct pool pool = { .num_slots = 0 };
    struct kiln_program program = { 0 };
    char line[16];
    (void) state;
    for (unsigned i = 0; i < POOL_MAX_SYMBOLS; i++) {
        snprintf(line, sizeof line, "%u\n", i);
        assert_true(pool_add(&pool, line, &program));
    }
    check_text(&pool.data, &program, line);
    assert_true(pool_add(&pool, "0\n", &program));
    assert_false(pool_add(&pool, "another\n", &program));
    assert_false(pool_add_pair(&pool, (struct kiln_pair){ 0, 0 }));
    pool_free(&pool);
}

/* ---- Sharing ---- */

static uint64_t drawn;

static unsigned draw(unsigned num)
{
    drawn = drawn * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (unsigned) (drawn >> 33) % num;
}

/* A text of one family: lines in order, of which some are left out, repeated, or are its own. */
static void write_text(char *text, unsigned number)
{
    size_t at = 0;
    const unsigned skip = 2 + draw(9);
    for (unsigned i = 0; i < 300; i++)
        if (draw(40) == 0)
            for (unsigned times = draw(9); times; times--)
                at += (size_t) sprintf(text + at, "}\n");
        else if (draw(skip * 8))
            at += (size_t) sprintf(text + at, "line %u of %u\n", i, draw(60) ? 0 : number);
}

static unsigned depth_of(const struct kiln_pool *pool, uint16_t symbol)
{
    if (symbol < pool->num_lines)
        return 0;
    const struct kiln_pair *pair = &pool->pairs[symbol - pool->num_lines];
    assert_true(pair->first < symbol && pair->second < symbol);
    const unsigned a = depth_of(pool, pair->first), b = depth_of(pool, pair->second);
    return 1 + (a > b ? a : b);
}

static bool same_pools(const struct kiln_pool *a, const struct kiln_pool *b)
{
    return a->text_bytes == b->text_bytes && a->num_lines == b->num_lines &&
           a->num_pairs == b->num_pairs && a->num_symbols == b->num_symbols &&
           !memcmp(a->text, b->text, a->text_bytes) &&
           !memcmp(a->lines, b->lines, a->num_lines * sizeof *a->lines) &&
           !memcmp(a->pairs, b->pairs, a->num_pairs * sizeof *a->pairs) &&
           !memcmp(a->symbols, b->symbols, a->num_symbols * sizeof *a->symbols);
}

/* The texts stay, and what was shared is shared in the same way again. */
static void check_shared(const struct kiln_bundle *bundle, char texts[][TEXT_ROOM])
{
    struct shared shared, again;
    assert_true(share_text(bundle, &shared));
    const struct kiln_pool *pool = &shared.pool.data;
    for (uint32_t i = 0; i < bundle->num_programs; i++)
        if (bundle->programs[i].num_symbols)
            check_text(pool, &shared.programs[i], texts[i]);
        else
            assert_int_equal(shared.programs[i].num_symbols, 0);
    for (uint32_t i = 0; i < pool->num_symbols; i++)
        assert_in_range(depth_of(pool, pool->symbols[i]), 0, KILN_MAX_DEPTH);
    struct kiln_bundle loaded = *bundle;
    loaded.pool = *pool;
    loaded.programs = shared.programs;
    assert_true(share_text(&loaded, &again));
    assert_true(same_pools(pool, &again.pool.data));
    assert_memory_equal(shared.programs, again.programs,
            bundle->num_programs * sizeof *shared.programs);
    share_free(&again);
    share_free(&shared);
}

static void what_programs_share_is_found(void **state)
{
    static char texts[MOST_PROGRAMS][TEXT_ROOM];
    struct kiln_program programs[MOST_PROGRAMS] = { { 0 } };
    (void) state;
    for (unsigned round = 0; round < 20; round++) {
        struct pool pool = { .num_slots = 0 };
        const unsigned num = 1 + draw(MOST_PROGRAMS);
        for (unsigned i = 0; i < num; i++) {
            programs[i] = (struct kiln_program){ .hash = i };
            write_text(texts[i], i);
            if (draw(10)) /* or else it is a program of binaries */
                assert_true(pool_add(&pool, texts[i], &programs[i]));
        }
        const struct kiln_bundle bundle = { .num_programs = num,
            .programs = programs,
            .pool = pool.data };
        check_shared(&bundle, texts);
        pool_free(&pool);
    }
}

/* Forty programs that differ in one line of three hundred each: about ten symbols for each. */
static void small_differences_take_little(void **state)
{
    static char texts[MOST_PROGRAMS][TEXT_ROOM];
    struct kiln_program programs[MOST_PROGRAMS] = { { 0 } };
    struct pool pool = { .num_slots = 0 };
    struct shared shared;
    (void) state;
    for (unsigned i = 0; i < MOST_PROGRAMS; i++) {
        size_t at = 0;
        const unsigned own = draw(300);
        for (unsigned line = 0; line < 300; line++)
            at += (size_t) sprintf(texts[i] + at, "line %u of %u\n", line, line == own ? i : 99);
        assert_true(pool_add(&pool, texts[i], &programs[i]));
    }
    const struct kiln_bundle bundle = { .num_programs = MOST_PROGRAMS,
        .programs = programs,
        .pool = pool.data };
    check_shared(&bundle, texts);
    assert_true(share_text(&bundle, &shared));
    assert_in_range(shared.pool.data.num_lines, 301, 300 + MOST_PROGRAMS);
    assert_in_range(shared.pool.data.num_symbols, 1, 15 * MOST_PROGRAMS);
    assert_in_range(shared.pool.data.num_pairs, 1, 600);
    share_free(&shared);
    pool_free(&pool);
}

/* ---- Packing ---- */

enum { PACK_ROOM = 70000 };

/* Words of some letters, and runs of what was written some way back: far, too, and into itself. */
static void write_bytes(char *text, size_t bytes, unsigned letters)
{
    for (size_t at = 0; at < bytes;) {
        const size_t back = 1 + draw(at > 66000 && draw(2) ? 66000 : 300);
        size_t run = 1 + draw(draw(5) ? 12 : 700);
        const bool copies = draw(3) && back <= at;
        for (; run && at < bytes; run--, at++)
            text[at] = (char) (copies ? text[at - back] : (char) ('a' + (int) draw(letters)));
    }
}

static void check_packed(const char *text, size_t bytes)
{
    static char unpacked[PACK_ROOM + 1];
    size_t packed_bytes;
    unsigned char *packed = lz4_pack(text, bytes, &packed_bytes);
    assert_non_null(packed);
    unpacked[bytes] = 17;
    assert_true(kiln_lz4_unpack(packed, packed_bytes, unpacked, bytes));
    assert_true(!bytes || !memcmp(unpacked, text, bytes));
    assert_int_equal(unpacked[bytes], 17);
    assert_false(kiln_lz4_unpack(packed, packed_bytes, unpacked, bytes + 1));
    assert_false(bytes && kiln_lz4_unpack(packed, packed_bytes, unpacked, bytes - 1));
    free(packed);
}

static void what_is_packed_unpacks(void **state)
{
    static char text[PACK_ROOM];
    (void) state;
    check_packed(NULL, 0);
    for (size_t bytes = 1; bytes < PACK_ROOM; bytes += 1 + bytes / 9)
        for (unsigned letters = 1; letters <= 26; letters += 5) {
            write_bytes(text, bytes, letters);
            check_packed(text, bytes);
        }
}

/* A block by hand: three literals, a match that goes into itself, two literals. */
static void a_block_is_as_the_format_says(void **state)
{
    static const unsigned char block[] = { 0x32, 'a', 'b', 'c', 3, 0, 0x20, 'x', 'y' };
    char text[11];
    (void) state;
    assert_true(kiln_lz4_unpack(block, sizeof block, text, sizeof text));
    assert_memory_equal(text, "abcabcabcxy", sizeof text);
}

/* Whatever bit is wrong, and wherever it ends, nothing is touched that is not there: a sanitizer
 * watches. */
static void what_is_damaged_does_no_harm(void **state)
{
    enum { BYTES = 3000 };
    static char text[BYTES];
    size_t packed_bytes;
    char *unpacked = malloc(BYTES);
    (void) state;
    write_bytes(text, BYTES, 4);
    unsigned char *packed = lz4_pack(text, BYTES, &packed_bytes);
    assert_non_null(packed);
    assert_non_null(unpacked);
    for (size_t bit = 0; bit < 8 * packed_bytes; bit++) {
        packed[bit / 8] ^= (unsigned char) (1u << bit % 8);
        (void) kiln_lz4_unpack(packed, packed_bytes, unpacked, BYTES);
        packed[bit / 8] ^= (unsigned char) (1u << bit % 8);
    }
    for (size_t end = 0; end < packed_bytes; end++) {
        unsigned char *cut = malloc(end + !end);
        assert_non_null(cut);
        memcpy(cut, packed, end);
        assert_false(kiln_lz4_unpack(cut, end, unpacked, BYTES));
        free(cut);
    }
    free(packed);
    free(unpacked);
}

/* A pool that is packed has the texts that it had. */
static void a_packed_pool_is_read(void **state)
{
    static const char first[] = "one\n  two\n", second[] = "two\n  two\n";
    struct kiln_program programs[2] = { { 0 } };
    struct pool pool = { .num_slots = 0 };
    size_t packed_bytes;
    (void) state;
    assert_true(pool_add(&pool, first, &programs[0]) && pool_add(&pool, second, &programs[1]));
    unsigned char *block = lz4_pack(pool.data.text, pool.data.text_bytes, &packed_bytes);
    struct kiln_pool packed = pool.data;
    packed.text = NULL;
    packed.packed = block;
    packed.packed_bytes = (uint32_t) packed_bytes;
    char *text = pool_text(&packed, &programs[1]);
    assert_string_equal(text, second);
    free(text);
    packed.packed_bytes--;
    assert_null(pool_text(&packed, &programs[0]));
    free(block);
    pool_free(&pool);
}

/* ---- What a bundle takes ---- */

static void each_part_of_a_bundle_counts(void **state)
{
    static const unsigned char data[1000];
    const struct device_facts facts = facts_wide();
    const struct kiln_binary binary = { .data = data, .size = sizeof data };
    const struct kiln_pin pin = { KILN_ID_SINGLE, 1, 1, 1, 1,
        { 0, 1, KILN_NO_RECIPE, KILN_NO_RECIPE } };
    const struct kiln_time time = { { 1 } };
    struct assembly assembly;
    struct config config;
    char error[FAMILY_ERROR_BYTES];
    unsigned index;
    size_t bytes = 0, before = 0;
    (void) state;
    assert_true(assembly_init(&assembly, "bytes", &facts));
    assert_true(emit_bytes(&assembly.bundle, &bytes));
    assert_in_range(bytes, sizeof(struct kiln_bundle), 1000);
    assert_true(config_parse("direct", &config, error));
    for (int pair = 0; pair < 2; pair++) {
        const struct problem problem = problem_of_pair(precision_find("single"), pair);
        before = bytes;
        assert_true(assembly_add(&assembly, &config, &problem, &index, error));
        assert_true(emit_bytes(&assembly.bundle, &bytes));
        assert_true(bytes > before + sizeof(struct kiln_recipe) + sizeof(struct kiln_stage) +
                                    sizeof(struct kiln_program));
    }
    /* What the second says again is not there again. */
    assert_true(bytes - before < before);
    before = bytes;
    assert_true(assembly_pins(&assembly, &pin, 1));
    assert_true(emit_bytes(&assembly.bundle, &bytes));
    assert_int_equal(bytes, before + sizeof pin);
    before = bytes;
    assert_true(assembly_time(&assembly, 0, &time));
    assert_true(emit_bytes(&assembly.bundle, &bytes));
    assert_true(bytes >= before + sizeof time);
    const size_t shared = bytes - before - sizeof time; /* the pointer's */
    assert_true(assembly_time(&assembly, 1, &time));
    before = bytes;
    assert_true(emit_bytes(&assembly.bundle, &bytes));
    assert_int_equal(bytes, before + shared);
    before = bytes;
    assembly.programs[0].binaries = &binary;
    assembly.programs[0].num_binaries = 1;
    assert_true(emit_bytes(&assembly.bundle, &bytes));
    assert_true(bytes >= before + sizeof data + sizeof binary);
    assembly_free(&assembly);
}

/* The largest bundle that is committed: 217 recipes for 4 pairs take 484 KB. With generic and the
 * library's code, 100 KB, the archive stays under 1 MiB. */
static void a_large_bundle_takes_little(void **state)
{
    static struct winners winners;
    static char text[1 << 20];
    struct assembly assembly;
    char error[FAMILY_ERROR_BYTES];
    size_t bytes;
    (void) state;
    FILE *file = fopen(TEST_TUNED "/nvidia-h200/winners.tsv", "r");
    assert_non_null(file);
    const size_t len = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[len] = '\0';
    if (!winners_parse(text, &winners, error) || !winners_assemble(&winners, &assembly, error))
        fail_msg("%s", error);
    assert_true(emit_bytes(&assembly.bundle, &bytes));
    assert_in_range(bytes, 1, 512 * 1024);
    assembly_free(&assembly);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_read_as_it_was_added),
        cmocka_unit_test(indentation_takes_a_byte),
        cmocka_unit_test(a_newline_ends_a_text),
        cmocka_unit_test(lines_lie_one_after_another),
        cmocka_unit_test(a_line_may_be_too_long),
        cmocka_unit_test(lines_may_be_too_many),
        cmocka_unit_test(what_programs_share_is_found),
        cmocka_unit_test(small_differences_take_little),
        cmocka_unit_test(what_is_packed_unpacks),
        cmocka_unit_test(a_block_is_as_the_format_says),
        cmocka_unit_test(what_is_damaged_does_no_harm),
        cmocka_unit_test(a_packed_pool_is_read),
        cmocka_unit_test(each_part_of_a_bundle_counts),
        cmocka_unit_test(a_large_bundle_takes_little),
    };
    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
