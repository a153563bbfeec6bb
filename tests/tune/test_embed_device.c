/* test_embed_device.c: on the device that there is, binaries made by processes of kiln-tune are
 * those that are made without. Skipped without a device, or where a driver gives out other bytes
 * each time.
 * usage: test_embed_device KILN_TUNE */
#include "core/emit.h"
#include "core/files.h"
#include "core/winners.h"
#include "device.h"
#include "embed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* No other bundle serves. */
extern const struct kiln_bundle *const kiln_linked_bundles[];
const struct kiln_bundle *const kiln_linked_bundles[] = { NULL };

static const char rows[] =
    "kiln-winners\t4\nbundle\tembedded\nprovenance\ta test\n"
    "recipe\tsingle\tdirect WGM=8 WGN=8 TM=4 NV=1 VEC=4 KU=1 INDEX=32\t0\t0\t0\t0\n"
    "recipe\tsingle\tdirect WGM=8 WGN=8 TM=1 NV=1 VEC=1 KU=1 INDEX=64\t0\t0\t0\t0\n";

static struct embed_crew crew;
static struct winners winners;
static char error[FAMILY_ERROR_BYTES];

static void embed(unsigned size, struct text *text)
{
    struct assembly assembly;
    crew.size = size;
    if (!winners_assemble(&winners, &assembly, error) ||
            !embed_binaries(&assembly, "", false, NULL, &crew, error))
        fail_msg("%s", error);
    emit_bundle(&assembly.bundle, NULL, text);
    assert_false(text->failed);
    assembly_free(&assembly);
}

static bool is_same(unsigned size, const struct text *text)
{
    struct text other = { 0 };
    embed(size, &other);
    const bool same = text->len == other.len && !memcmp(text->bytes, other.bytes, text->len);
    text_free(&other);
    return same;
}

/* All is in a driver's cache by now, if it has one. */
static void a_crew_makes_the_same(void **state)
{
    struct text text = { 0 };
    (void) state;
    embed(0, &text);
    if (!is_same(0, &text)) {
        text_free(&text);
        skip();
    }
    assert_true(is_same(1, &text));
    assert_true(is_same(3, &text));
    text_free(&text);
}

static void a_crew_makes_all(void **state)
{
    struct assembly assembly;
    (void) state;
    assert_true(winners_assemble(&winners, &assembly, error));
    const uint32_t num = assembly.bundle.num_programs;
    struct embed_made *made = calloc(num, sizeof *made);
    assert_non_null(made);
    crew.size = 2;
    embed_crew_make(&crew, "", &assembly.bundle, CUBIN_BY_NONE, made);
    for (uint32_t i = 0; i < num; i++) {
        assert_non_null(made[i].data);
        assert_null(made[i].cubin);
        embed_made_free(&made[i]);
    }
    free(made);
    assembly_free(&assembly);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crew_makes_all),
        cmocka_unit_test(a_crew_makes_the_same),
    };
    char folder[] = "/tmp/kiln-embed-XXXXXX", path[64];
    cl_device_id device;
    if (argc != 2)
        return 2;
    if (!device_find("", &device, error)) {
        fprintf(stderr, "%s\n", error);
        return 77;
    }
    if (!mkdtemp(folder) || !winners_parse(rows, &winners, error))
        return 1;
    snprintf(path, sizeof path, "%s/winners.tsv", folder);
    if (!files_write(path, rows, sizeof rows - 1, error))
        return 1;
    crew = (struct embed_crew){ .program = argv[1], .output = folder };
    const int status = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    rmdir(folder);
    return status;
}
