/* test_ptx.c: masks are taken from PTX, and nothing else. */
#include "ptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

const struct kiln_bundle *const kiln_linked_bundles[] = { NULL };

static void test_unmask(void **state)
{
    char text[160] = "// by a compiler\n.version 8.8\n.target sm_90, texmode_independent\n"
            "//@wgmma.fence.sync.aligned;\nadd.f32 a, b, c; //@x\n// @kept\n";
    (void) state;
    assert_true(ptx_unmask(text, sizeof text, 90));
    assert_string_equal(text, "// by a compiler\n.version 8.8\n"
            ".target sm_90a, texmode_independent\n"
            "wgmma.fence.sync.aligned;\nadd.f32 a, b, c; x\n// @kept\n");
    assert_true(ptx_unmask(text, sizeof text, 90));
    assert_null(strstr(text, "sm_90aa"));
}

static void test_refusals(void **state)
{
    char other[] = ".target sm_80\n\0", none[] = "\x7f" "ELF\0", full[] = ".target sm_90\n";
    (void) state;
    assert_false(ptx_unmask(other, sizeof other, 90));
    assert_false(ptx_unmask(none, sizeof none, 90));
    assert_false(ptx_unmask(full, sizeof full, 90));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unmask),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
