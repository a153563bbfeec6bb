/* test_signature.c: unit tests of generator/core/signature.c. */
#include "signature.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void check(const char *args, unsigned num, const uint8_t *codes, const char *declared)
{
    struct signature signature;
    struct text text = { 0 };
    assert_true(signature_parse(args, false, &signature));
    assert_int_equal(signature.num, num);
    for (unsigned i = 0; i < num; i++)
        assert_int_equal(signature.args[i].code, codes[i]);
    assert_true(signature_head("f", "WGN; 2 * WGM", args, false, &text));
    char expected[512];
    snprintf(expected, sizeof expected,
            "__kernel __attribute__((reqd_work_group_size(${WGN}, "
            "${2 * WGM}, 1)))\nvoid f(%s)\n",
            declared);
    assert_string_equal(text.bytes, expected);
    text_free(&text);
}

static void codes_have_declarations(void **state)
{
    (void) state;
    check("M  K ALPHA A A_OFFSET LDA C ", 7,
            (const uint8_t[]){ KILN_ARG_M, KILN_ARG_K, KILN_ARG_ALPHA, KILN_ARG_A,
                    KILN_ARG_A_OFFSET, KILN_ARG_LDA, KILN_ARG_C },
            "${I} M, ${I} K,\n        ${R} alpha,\n        __global const ${T} *restrict A, "
            "${I} a_offset, ${I} lda,\n        __global ${T} *restrict C");
    check("", 0, NULL, "");
}

static void a_list_may_declare(void **state)
{
    (void) state;
    check("M WORKSPACE as __global uchar *work; REGION_0 as long maps_at; BETA", 4,
            (const uint8_t[]){ KILN_ARG_M, KILN_ARG_WORKSPACE, KILN_ARG_REGION_0, KILN_ARG_BETA },
            "${I} M,\n        __global uchar *work, long maps_at, ${R} beta");
    check("; N as int cols;K as int depth", 2, (const uint8_t[]){ KILN_ARG_N, KILN_ARG_K },
            "int cols, int depth");
}

/* A family calls what lies in the workspace by what it is. */
static void what_has_no_name_is_refused(void **state)
{
    struct signature signature;
    struct text text = { 0 };
    char many[3 * (KILN_MAX_ARGS + 1) + 1] = "";
    (void) state;
    for (unsigned i = 0; i <= KILN_MAX_ARGS; i++)
        strcat(many, "M; ");
    const char *const malformed[] = {
        "M WORKSPACE",
        "REGION_3",
        "PACKED_LDA",
        "M O",
        "m",
        "as long M",
        "WORKSPACE as ; M",
        "WORKSPACE as",
        many,
    };
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++)
        assert_false(signature_parse(malformed[i], false, &signature) ||
                     signature_head("f", "1", malformed[i], false, &text));
    assert_null(text.bytes);
    many[strlen(many) - 3] = '\0';
    assert_true(signature_parse(many, false, &signature));
    assert_int_equal(signature.num, KILN_MAX_ARGS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_have_declarations),
        cmocka_unit_test(a_list_may_declare),
        cmocka_unit_test(what_has_no_name_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
