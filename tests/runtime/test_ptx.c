/* test_ptx.c: masks are taken from PTX, and nothing else. */
#include "fixture.h"

#include "internal.h"

#include <string.h>

static void masks_are_taken(void **state)
{
    char text[160] = "// by a compiler\n.version 8.8\n.target sm_90, texmode_independent\n"
                     "//@wgmma.fence.sync.aligned;\nadd.f32 a, b, c; //@x\n// @kept\n";
    (void) state;
    assert_true(kiln_ptx_unmask(text, sizeof text, 90));
    assert_string_equal(text, "// by a compiler\n.version 8.8\n"
                              ".target sm_90a, texmode_independent\n"
                              "wgmma.fence.sync.aligned;\nadd.f32 a, b, c; x\n// @kept\n");
    assert_true(kiln_ptx_unmask(text, sizeof text, 90));
    assert_null(strstr(text, "sm_90aa"));
}

/* Each kernel says what setmaxnreg needs, once. */
static void registers_can_be_given(void **state)
{
    char text[400] =
            ".target sm_90\n.entry x(\n)\n.reqntid 384, 1, 1\n{\n"
            "//@setmaxnreg.inc.sync.aligned.u32 224;\n}\n.entry y(\n)\n.reqntid 32, 1, 1\n{}\n";
    const char *expected = ".target sm_90a\n.entry x(\n)\n.minnctapersm 1\n.reqntid 384, 1, 1\n{\n"
                           "setmaxnreg.inc.sync.aligned.u32 224;\n}\n.entry y(\n)\n"
                           ".minnctapersm 1\n.reqntid 32, 1, 1\n{}\n";
    (void) state;
    const size_t least = strlen(text) + 2 + 2 * strlen(".minnctapersm 1\n");
    assert_false(kiln_ptx_unmask(text, least - 1, 90));
    assert_true(kiln_ptx_unmask(text, least, 90));
    assert_string_equal(text, expected);
    assert_true(kiln_ptx_unmask(text, sizeof text, 90));
    assert_string_equal(text, expected);
}

static void what_is_no_ptx_is_refused(void **state)
{
    char other[] = ".target sm_80\n\0",
         none[] = "\x7f"
                  "ELF\0",
         full[] = ".target sm_90\n";
    (void) state;
    assert_false(kiln_ptx_unmask(other, sizeof other, 90));
    assert_false(kiln_ptx_unmask(none, sizeof none, 90));
    assert_false(kiln_ptx_unmask(full, sizeof full, 90));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masks_are_taken),
        cmocka_unit_test(registers_can_be_given),
        cmocka_unit_test(what_is_no_ptx_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
