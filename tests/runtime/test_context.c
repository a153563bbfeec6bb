/* test_context.c: making and destroying contexts, whatever the driver answers. */
#include "fixture.h"

static const char *const asked[] = {
    "clGetContextInfo", "clGetDeviceInfo", "clGetPlatformInfo", "clRetainContext",
    "clRetainDevice",
};

/* Each question fails once at each of its calls; the teardown finds what is lost. Some facts have a
 * safe default, so that the creation may succeed all the same. */
static void creation_survives_any_failing_question(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        for (unsigned nth = 1; nth <= 16; nth++) {
            struct kiln_context *kiln = NULL;
            stub_fail(asked[i], nth, CL_OUT_OF_HOST_MEMORY);
            enum kiln_status status = kiln_context_create(f->cl, f->device, NULL, &kiln);
            assert_true((status == KILN_SUCCESS) == (kiln != NULL));
            assert_true(nth > 1 || status != KILN_SUCCESS);
            stub_clear_plans();
            kiln_context_destroy(&kiln);
        }
    }
}

static void a_context_holds_its_handles(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(stub_refs(f->cl), 2);
    assert_int_equal(stub_refs(f->device), 2);
    kiln_context_destroy(&f->kiln);
    assert_int_equal(stub_refs(f->cl), 1);
    assert_int_equal(stub_refs(f->device), 1);
    kiln_context_destroy(&f->kiln);
}

static void contexts_do_not_share(void **state)
{
    struct fixture *f = *state;
    struct kiln_context *second = NULL;
    struct kiln_gemm gemm = fixture_gemm(f, 16, 16, 4096);
    assert_int_equal(kiln_context_create(f->cl, f->device, NULL, &second), KILN_SUCCESS);
    fixture_run(f, &gemm);
    cl_mem first_work = stub_record_mem(stub_record_at(0), PACK_A_WORK);
    stub_clear_records();
    assert_int_equal(kiln_gemm_enqueue(second, &gemm, f->queue, 0, NULL, NULL), KILN_SUCCESS);
    assert_ptr_not_equal(stub_record_mem(stub_record_at(0), PACK_A_WORK), first_work);
    kiln_context_destroy(&second);
    fixture_run(f, &gemm);
    fixture_expect("pack_a", "pack_b", "packed_mul", NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(creation_survives_any_failing_question),
        TEST(a_context_holds_its_handles),
        TEST(contexts_do_not_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
