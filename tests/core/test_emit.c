/* test_emit.c: bundles as C, generator/core/emit.c and embedded.c.
 *
 * What is emitted is compiled with every warning an error, loaded, and compared with the bundle in
 * memory field by field.
 */
#include "wide.h"
#include "assemble.h"
#include "embedded.h"
#include "emit.h"
#include "fnv.h"
#include "winners.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check_text(const char *a, const char *b)
{
    assert_int_equal(a == NULL, b == NULL);
    if (a)
        assert_string_equal(a, b);
}

/* Pools may be made differently; the text may not differ. */
static void check_program(const struct kiln_bundle *left, const struct kiln_bundle *right,
        uint32_t number)
{
    const struct kiln_program *a = &left->programs[number], *b = &right->programs[number];
    char *text_a = pool_text(&left->pool, a), *text_b = pool_text(&right->pool, b);
    assert_non_null(text_a);
    assert_non_null(text_b);
    assert_string_equal(text_a, text_b);
    free(text_a);
    free(text_b);
    assert_true(a->hash == b->hash);
    assert_int_equal(a->ptx, b->ptx);
    assert_int_equal(a->num_symbols == 0, b->num_symbols == 0);
    assert_int_equal(a->text_bytes, b->text_bytes);
    assert_int_equal(a->num_binaries, b->num_binaries);
    for (uint32_t i = 0; i < a->num_binaries; i++) {
        check_text(a->binaries[i].platform, b->binaries[i].platform);
        check_text(a->binaries[i].device, b->binaries[i].device);
        check_text(a->binaries[i].driver, b->binaries[i].driver);
        assert_int_equal(a->binaries[i].compute_capability, b->binaries[i].compute_capability);
        assert_true(a->binaries[i].source_hash == b->binaries[i].source_hash);
        assert_true(a->binaries[i].data_hash == b->binaries[i].data_hash);
        assert_int_equal(a->binaries[i].size, b->binaries[i].size);
        assert_memory_equal(a->binaries[i].data, b->binaries[i].data, a->binaries[i].size);
    }
}

static void check_stage(const struct kiln_stage *a, const struct kiln_stage *b)
{
    assert_string_equal(a->entry, b->entry);
    assert_int_equal(a->work_dim, b->work_dim);
    assert_memory_equal(a->dim, b->dim, sizeof a->dim);
    assert_memory_equal(a->tile, b->tile, sizeof a->tile);
    assert_memory_equal(a->local, b->local, sizeof a->local);
    assert_int_equal(a->local_bytes, b->local_bytes);
    assert_int_equal(a->num_args, b->num_args);
    assert_memory_equal(a->args, b->args, sizeof a->args);
    assert_int_equal(a->prepares, b->prepares);
    assert_int_equal(a->role, b->role);
}

static void check_recipe(const struct kiln_recipe *a, const struct kiln_recipe *b)
{
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->precision, b->precision);
    assert_int_equal(a->transa, b->transa);
    assert_int_equal(a->transb, b->transb);
    assert_int_equal(a->index_bits, b->index_bits);
    assert_memory_equal(&a->guard, &b->guard, sizeof a->guard);
    assert_memory_equal(a->tile, b->tile, sizeof a->tile);
    assert_memory_equal(a->reach, b->reach, sizeof a->reach);
    assert_int_equal(a->unit_parts, b->unit_parts);
    assert_int_equal(a->unit_turns, b->unit_turns);
    assert_int_equal(a->shares, b->shares);
    assert_int_equal(a->as_is, b->as_is);
    assert_int_equal(a->batches, b->batches);
    assert_int_equal(a->time == NULL, b->time == NULL);
    if (a->time)
        assert_memory_equal(a->time, b->time, sizeof *a->time);
    assert_int_equal(a->program, b->program);
    assert_int_equal(a->num_stages, b->num_stages);
    assert_int_equal(a->num_regions, b->num_regions);
    assert_int_equal(a->kinds, b->kinds);
    assert_int_equal(a->vector_floats, b->vector_floats);
    for (unsigned i = 0; i < a->num_stages; i++)
        check_stage(&a->stages[i], &b->stages[i]);
    for (unsigned i = 0; i < a->num_regions; i++) {
        assert_memory_equal(a->regions[i].dim, b->regions[i].dim, sizeof a->regions[i].dim);
        assert_memory_equal(a->regions[i].round, b->regions[i].round, sizeof a->regions[i].round);
        assert_int_equal(a->regions[i].element_bytes, b->regions[i].element_bytes);
        assert_int_equal(a->regions[i].holds, b->regions[i].holds);
    }
}

static void check_bundle(const struct kiln_bundle *a, const struct kiln_bundle *b)
{
    assert_int_equal(a->format, b->format);
    check_text(a->name, b->name);
    check_text(a->provenance, b->provenance);
    check_text(a->match.platform, b->match.platform);
    check_text(a->match.device, b->match.device);
    check_text(a->match.driver, b->match.driver);
    check_text(a->match.verified, b->match.verified);
    assert_int_equal(a->match.native_vector_float, b->match.native_vector_float);
    assert_int_equal(a->match.compute_capability, b->match.compute_capability);
    assert_int_equal(a->traits.is_cpu, b->traits.is_cpu);
    assert_int_equal(a->traits.compute_units, b->traits.compute_units);
    assert_int_equal(a->traits.native_vector_float, b->traits.native_vector_float);
    assert_int_equal(a->traits.local_bytes, b->traits.local_bytes);
    assert_int_equal(a->traits.compute_capability, b->traits.compute_capability);
    assert_int_equal(a->num_programs, b->num_programs);
    assert_int_equal(a->num_recipes, b->num_recipes);
    assert_int_equal(a->num_pins, b->num_pins);
    for (uint32_t i = 0; i < a->num_programs; i++)
        check_program(a, b, i);
    for (uint32_t i = 0; i < a->num_recipes; i++)
        check_recipe(&a->recipes[i], &b->recipes[i]);
    for (uint32_t i = 0; i < a->num_pins; i++) {
        assert_int_equal(a->pins[i].precision, b->pins[i].precision);
        assert_int_equal(a->pins[i].m, b->pins[i].m);
        assert_int_equal(a->pins[i].n, b->pins[i].n);
        assert_int_equal(a->pins[i].k, b->pins[i].k);
        assert_int_equal(a->pins[i].batch, b->pins[i].batch);
        assert_memory_equal(a->pins[i].recipe, b->pins[i].recipe, sizeof a->pins[i].recipe);
    }
}

/* ---- Compiling ---- */

static char folder[] = "/tmp/kiln-emit-XXXXXX";

static int make_folder(void **state)
{
    (void) state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void) state;
    return rmdir(folder);
}

/* Compiles the text; what is loaded from it stays until the test ends. */
static const struct kiln_bundle *load(const char *text, const char *symbol)
{
    static int number; /* the loader knows a library by its name */
    char source[64], object[64], command[1024];
    snprintf(source, sizeof source, "%s/bundle_%d.c", folder, number);
    snprintf(object, sizeof object, "%s/bundle_%d.so", folder, number++);
    FILE *file = fopen(source, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    snprintf(command, sizeof command,
            "%s -std=c11 -Wall -Wextra -pedantic -Werror -O0 -fPIC "
            "-shared -I'%s' -o %s %s",
            TEST_CC, TEST_RUNTIME, object, source);
    assert_int_equal(system(command), 0);
    void *library = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail_msg("%s", dlerror());
    const struct kiln_bundle *bundle = dlsym(library, symbol);
    assert_non_null(bundle);
    unlink(source);
    unlink(object);
    return bundle;
}

/* Emits twice, compiles, compares; what was loaded is emitted as the same text, so that each field
 * that test_hash.c knows to be printed is in its place. */
static void check_emitted(const struct kiln_bundle *bundle, const char *comment)
{
    struct text first = { 0 }, second = { 0 }, again = { 0 }, symbol = { 0 };
    emit_bundle(bundle, comment, &first);
    emit_bundle(bundle, comment, &second);
    emit_symbol(bundle->name, &symbol);
    assert_false(first.failed || second.failed || symbol.failed);
    assert_string_equal(first.bytes, second.bytes);
    assert_null(strstr(first.bytes, "/tmp"));
    const struct kiln_bundle *loaded = load(first.bytes, symbol.bytes);
    check_bundle(bundle, loaded);
    emit_bundle(loaded, comment, &again);
    assert_string_equal(first.bytes, again.bytes);
    text_free(&again);
    text_free(&first);
    text_free(&second);
    text_free(&symbol);
}

/* ---- Bundles ---- */

static void add_all_pairs(struct assembly *assembly, const char *text, const char *precision)
{
    struct config config;
    char error[FAMILY_ERROR_BYTES];
    unsigned index;
    assert_true(config_parse(text, &config, error));
    for (int pair = 0; pair < 4; pair++) {
        const struct problem problem = { precision_find(precision), pair / 2, pair % 2 };
        if (!assembly_add(assembly, &config, &problem, &index, error))
            fail_msg("%s", error);
    }
}

static void every_family(void **state)
{
    (void) state;
    const struct device_facts facts = facts_wide();
    const struct kiln_pin pins[] = {
        { KILN_ID_SINGLE, 1024, 1024, 1024, 1, { 0, 1, 2, 3 } },
        { KILN_ID_DOUBLE, 1, 4294967295u, 7, 9, { KILN_NO_RECIPE, 5, 6, 7 } },
    };
    struct assembly assembly;
    assert_true(assembly_init(&assembly, "every-family", &facts));
    add_all_pairs(&assembly, "packed TM=12 NV=2 VEC=16", "single");
    add_all_pairs(&assembly, "packed TM=6 NV=2 VEC=4 PACKA=0 KC=256", "double");
    add_all_pairs(&assembly, "tiled TM=8 NV=2 VEC=4 PAD=1", "half");
    add_all_pairs(&assembly, "direct INDEX=32", "single");
    assembly.facts.value[FACT_COMPUTE_CAPABILITY] = 90;
    add_all_pairs(&assembly, "tma STREAM=1", "half");
    assert_true(assembly_pins(&assembly, pins, 2));
    assembly.recipes[0].kinds = KILN_KIND_CPU;
    assembly.recipes[0].vector_floats = 16;
    assembly.recipes[1].kinds = KILN_KIND_OTHER;
    assembly.bundle.match = (struct kiln_match){ .platform = "P*",
        .driver = "1.0",
        .verified = "2.*|\"3\"",
        .native_vector_float = 16,
        .compute_capability = 90 };
    assembly.bundle.traits = (struct kiln_device_traits){ 1, 132, 16, UINT32_MAX, 90 };
    check_emitted(&assembly.bundle, " *\n * A comment: x */ y /* z */*/\n");
    assembly_free(&assembly);
}

/* Recipes that share a time have one; others stay without. What is emitted has six digits. */
static void times_come_back(void **state)
{
    static const float values[] = { 0, 0.125f, 1.2345e-3f, 1e18f, 7, 1.17549e-38f, 98765.4f };
    const struct device_facts facts = facts_wide();
    struct kiln_time times[3];
    struct assembly assembly;
    struct text text = { 0 };
    unsigned num = 0;
    (void) state;
    assert_true(assembly_init(&assembly, "times", &facts));
    add_all_pairs(&assembly, "direct", "single");
    for (unsigned i = 0; i < 3; i++)
        for (unsigned t = 0; t < KILN_NUM_TERMS; t++)
            times[i].coefficient[t] = values[(i * 3 + t) % 7];
    assert_true(assembly_time(&assembly, 0, &times[0]));
    assert_true(assembly_time(&assembly, 1, &times[1]));
    assert_true(assembly_time(&assembly, 3, &times[0]));
    assert_ptr_equal(assembly.recipes[0].time, assembly.recipes[3].time);
    assert_null(assembly.recipes[2].time);
    assembly.recipes[2].unit_parts = 16;
    assembly.recipes[2].unit_turns = 132;
    assembly.recipes[2].shares = 1;
    assembly.recipes[0].as_is = KILN_PREPARED_BOTH;
    assembly.recipes[1].unit_turns = 4;
    check_emitted(&assembly.bundle, NULL);
    emit_bundle(&assembly.bundle, NULL, &text);
    for (const char *at = text.bytes; (at = strstr(at, "    { {\n")); at++)
        num++;
    assert_int_equal(num, 2);
    text_free(&text);
    assembly_free(&assembly);
}

static void texts_that_need_escapes(void **state)
{
    (void) state;
    const struct device_facts facts = facts_wide();
    struct assembly assembly;
    assert_true(assembly_init(&assembly, "a \"name\" with\\every.thing", &facts));
    add_all_pairs(&assembly, "direct", "single");
    assembly.bundle.provenance = "tab\tnewline\nquote\"backslash\\"
                                 "trigraph\?\?=\?\?\?/\x01"
                                 "1\x7f\xc3\xa9";
    assembly.bundle.match.device = "Intel(R) Xeon(R) \"\?\?/\" *";
    check_emitted(&assembly.bundle, NULL);
    assembly_free(&assembly);
}

static void binaries_beside_and_instead_of_source(void **state)
{
    (void) state;
    const struct device_facts facts = facts_wide();
    unsigned char bytes[300];
    struct assembly assembly;
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char) i;
    assert_true(assembly_init(&assembly, "binaries", &facts));
    add_all_pairs(&assembly, "direct", "single");
    assert_int_equal(assembly.bundle.num_programs, 4);
    const struct kiln_binary binaries[] = {
        { "platform", "device \"quoted\"", "1.0", 0, assembly.programs[0].hash,
                kiln_hash(KILN_HASH_BEGIN, bytes, sizeof bytes), bytes, sizeof bytes },
        { "platform", NULL, NULL, 90, assembly.programs[0].hash,
                kiln_hash(KILN_HASH_BEGIN, bytes + 7, 1), bytes + 7, 1 },
    };
    assembly.programs[0].binaries = binaries;
    assembly.programs[0].num_binaries = 2;
    assembly.programs[2].binaries = binaries;
    assembly.programs[2].num_binaries = 1;
    assembly.programs[2].num_symbols = assembly.programs[2].text_bytes = 0;
    check_emitted(&assembly.bundle, NULL);
    for (unsigned i = 0; i < 4; i++) {
        assembly.programs[i].binaries = binaries;
        assembly.programs[i].num_binaries = 1;
        assembly.programs[i].num_symbols = assembly.programs[i].text_bytes = 0;
    }
    check_emitted(&assembly.bundle, NULL);
    assembly_free(&assembly);
}

/* ---- Emitted without the binaries ---- */

enum { EMBEDDED_PROGRAMS = 4 };

static const unsigned char embedded_bytes[] = { 11, 22, 33 };

static void open_embedded(struct assembly *assembly)
{
    const struct device_facts facts = facts_wide();
    assert_true(assembly_init(assembly, "embedded-1", &facts));
    add_all_pairs(assembly, "direct", "single");
    assert_int_equal(assembly->bundle.num_programs, EMBEDDED_PROGRAMS);
}

/* Two binaries of the first program and one of each other; what is in the mask has text too. */
static void emit_embedded(unsigned with_text, struct text *text)
{
    struct assembly assembly;
    struct kiln_binary binaries[EMBEDDED_PROGRAMS][2];
    open_embedded(&assembly);
    for (unsigned i = 0; i < EMBEDDED_PROGRAMS; i++) {
        struct kiln_program *program = &assembly.programs[i];
        for (unsigned b = 0; b < 2; b++)
            binaries[i][b] = (struct kiln_binary){ .platform = "a platform",
                .source_hash = program->hash,
                .data = embedded_bytes,
                .size = sizeof embedded_bytes };
        program->binaries = binaries[i];
        program->num_binaries = i ? 1 : 2;
        if (!(with_text >> i & 1))
            program->first_symbol = program->num_symbols = program->text_bytes = 0;
    }
    emit_bundle(&assembly.bundle, " * A comment.\n", text);
    assert_false(text->failed);
    assembly_free(&assembly);
}

static bool is_emitted(const char *source, const char *comment, const char *changed)
{
    struct assembly assembly;
    open_embedded(&assembly);
    if (changed && !strcmp(changed, "recipe"))
        assembly.recipes[3].guard.k++;
    if (changed && !strcmp(changed, "program"))
        assembly.programs[3].hash++;
    if (changed && !strcmp(changed, "fewer"))
        assembly.bundle.num_programs--;
    assert_true(embedded_is_there(source));
    const bool is = embedded_is_emitted(source, &assembly, comment);
    assembly_free(&assembly);
    return is;
}

/* The same text with one part of it replaced. */
static bool is_emitted_with(const struct text *text, const char *part, const char *by)
{
    struct text edited = { 0 };
    const char *at = strstr(text->bytes, part);
    assert_non_null(at);
    text_add(&edited, "%.*s%s%s", (int) (at - text->bytes), text->bytes, by, at + strlen(part));
    const bool is = is_emitted(edited.bytes, " * A comment.\n", NULL);
    text_free(&edited);
    return is;
}

static void bytes_of_binaries_alone_may_differ(void **state)
{
    static const char data[] = "bundle_embedded_1_binary_2_0[] = {\n    11,22,33,\n";
    (void) state;
    for (unsigned with_text = 0; with_text < 1 << EMBEDDED_PROGRAMS; with_text += 3) {
        struct text text = { 0 };
        emit_embedded(with_text, &text);
        assert_true(is_emitted(text.bytes, " * A comment.\n", NULL));
        assert_false(is_emitted(text.bytes, " * Another.\n", NULL));
        assert_false(is_emitted(text.bytes, " * A comment.\n", "recipe"));
        assert_false(is_emitted(text.bytes, " * A comment.\n", "program"));
        assert_false(is_emitted(text.bytes, " * A comment.\n", "fewer"));
        assert_true(
                is_emitted_with(&text, data, "bundle_embedded_1_binary_2_0[] = {\n    1,2,3,4,\n"));
        assert_true(is_emitted_with(&text, "\"a platform\"", "\"another\""));
        assert_false(is_emitted_with(&text, "2, bundle_embedded_1_binaries_0 }", "0, NULL }"));
        assert_false(is_emitted_with(&text, "bundle_embedded_1_binaries_1 }",
                "bundle_embedded_1_binaries_2 }"));
        assert_false(is_emitted_with(&text, "1, bundle_embedded_1_binaries_1 }",
                "2, bundle_embedded_1_binaries_1 }"));
        assert_false(is_emitted_with(&text, ".name = \"embedded-1\"", ".name = \"embedded.1\""));
        assert_false(is_emitted_with(&text, "_stages[] = {\n", "_stages[] = {\n\n"));
        assert_false(is_emitted_with(&text, "#include \"bundle.h\"\n", ""));
        text_add(&text, "/* edited */\n");
        assert_false(is_emitted(text.bytes, " * A comment.\n", NULL));
        text_free(&text);
    }
}

/* As where a recipe has changed since: its program is another one, by its hash. */
static void binaries_of_other_source_are_noticed(void **state)
{
    struct text text = { 0 };
    char *at;
    (void) state;
    emit_embedded(0, &text);
    at = strstr(text.bytes, "UINT64_C(0x");
    assert_non_null(at);
    at += strlen("UINT64_C(0x");
    *at = *at == '0' ? '1' : '0';
    assert_false(is_emitted(text.bytes, " * A comment.\n", NULL));
    text_free(&text);
}

static void a_bundle_without_recipes(void **state)
{
    (void) state;
    const struct kiln_bundle empty = { .format = KILN_BUNDLE_FORMAT,
        .name = "empty-1",
        .provenance = "",
        .match = { .platform = "" } };
    check_emitted(&empty, NULL);
}

static void symbols(void **state)
{
    (void) state;
    struct text text = { 0 };
    emit_symbol("pocl-avx512.2", &text);
    assert_string_equal(text.bytes, "kiln_bundle_pocl_avx512_2");
    text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_family),
        cmocka_unit_test(times_come_back),
        cmocka_unit_test(texts_that_need_escapes),
        cmocka_unit_test(binaries_beside_and_instead_of_source),
        cmocka_unit_test(bytes_of_binaries_alone_may_differ),
        cmocka_unit_test(binaries_of_other_source_are_noticed),
        cmocka_unit_test(a_bundle_without_recipes),
        cmocka_unit_test(symbols),
    };
    return cmocka_run_group_tests_name("emit", tests, make_folder, remove_folder);
}
