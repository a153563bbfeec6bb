/* test_status.c: the table of status texts. */
#include "fixture.h"

#include <string.h>

static void every_status_has_its_own_text(void **state)
{
    (void) state;
    for (int i = 0; i < KILN_NUM_STATUSES; i++) {
        const char *text = kiln_status_string((enum kiln_status) i);
        assert_non_null(text);
        assert_true(strlen(text) > 3);
        assert_string_not_equal(text, "unknown status");
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(text, kiln_status_string((enum kiln_status) j));
        }
    }
}

static void opencl_codes_have_texts(void **state)
{
    (void) state;
    static const cl_int codes[] = { CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY,
        CL_INVALID_KERNEL_ARGS, CL_BUILD_PROGRAM_FAILURE };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        const char *text = kiln_status_string((enum kiln_status) codes[i]);
        assert_non_null(text);
        assert_true(strlen(text) > 3);
        assert_string_not_equal(text, kiln_status_string(KILN_SUCCESS));
    }
}

static void unknown_codes_have_a_text(void **state)
{
    (void) state;
    assert_string_equal(kiln_status_string((enum kiln_status) KILN_NUM_STATUSES), "unknown status");
    assert_non_null(kiln_status_string((enum kiln_status) 12345));
    assert_non_null(kiln_status_string((enum kiln_status) - 12345));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_its_own_text),
        cmocka_unit_test(opencl_codes_have_texts),
        cmocka_unit_test(unknown_codes_have_a_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
