/* test_repro_refuses.c: what `kiln-tune repro` writes no program for. No device is needed. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

#include "core/family.h"
#include "tune/repro.h"

static const char in_pieces[] = "async BM=64 BN=64 WM=32 WN=16 DEPTH=64 ST=2 KU=2 GROUP=1 STREAM=0 "
                                "BYTES=4 COPY=0 SLICES=1";

static bool write_for(const char *text, size_t m, size_t n, size_t k,
        char error[FAMILY_ERROR_BYTES])
{
    struct device_facts facts;
    struct config config;
    const struct problem problem = { precision_find("half"), false, false };
    facts_ample(&facts);
    facts.value[FACT_COMPUTE_CAPABILITY] = 80;
    assert_true(config_parse(text, &config, error));
    const bool ok = repro_write(&config, &problem, (struct shape){ m, n, k }, &facts, "refused",
            error);
    unlink("refused.c");
    unlink("refused.cl");
    return ok;
}

/* Pieces of four bytes are two halves: the leading dimensions must be even. */
static void leading_dimensions(void **state)
{
    (void) state;
    char error[FAMILY_ERROR_BYTES];
    assert_true(write_for(in_pieces, 201, 180, 334, error));
    assert_false(write_for(in_pieces, 200, 180, 333, error));
    assert_string_equal(error,
            "the configuration does not take the shape, or its leading dimensions");
    assert_false(write_for(in_pieces, 200, 181, 334, error));
}

static void no_product(void **state)
{
    (void) state;
    char error[FAMILY_ERROR_BYTES];
    assert_false(write_for("mirror", 8, 8, 8, error));
    assert_string_equal(error, "mirror multiplies nothing that a program could check");
    assert_false(write_for(in_pieces, 0, 8, 8, error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leading_dimensions),
        cmocka_unit_test(no_product),
    };
    return cmocka_run_group_tests_name("repro_refuses", tests, NULL, NULL);
}
