/* test_context.c: making and destroying contexts, whatever the driver answers. */
#include "fixture.h"

#include "internal.h"

static const char *const asked[] = {
    "clGetContextInfo", "clGetDeviceInfo", "clGetPlatformInfo", "clRetainContext",
    "clRetainDevice",
};

/* Each question fails once at each of its calls; the teardown finds what is lost. None of the facts
 * has a default that a moment without memory could put in its place. */
static void creation_survives_any_failing_question(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        for (unsigned nth = 1; nth <= 16; nth++) {
            struct kiln_context *kiln = NULL;
            unsigned long before = stub_calls(asked[i]);
            stub_fail(asked[i], nth, CL_OUT_OF_HOST_MEMORY);
            enum kiln_status status = kiln_context_create(f->cl, f->device, NULL, &kiln);
            bool failed = stub_calls(asked[i]) - before >= nth;
            assert_int_equal(status, failed ? CL_OUT_OF_HOST_MEMORY : KILN_SUCCESS);
            assert_true((status == KILN_SUCCESS) == (kiln != NULL));
            assert_true(nth > 1 || failed);
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

/* ---- What is asked of an NVIDIA device ---- */

static struct kiln_device_facts facts_of(const struct stub_facts *from)
{
    struct kiln_device_facts facts;
    assert_int_equal(kiln_device_facts_query(stub_make_device(from), &facts), KILN_SUCCESS);
    return facts;
}

static void compute_capability_is_asked_for(void **state)
{
    static const struct {
        cl_uint major, minor, capability;
    } cases[] = { { 9, 0, 90 }, { 8, 6, 86 }, { 10, 0, 100 }, { 7, 10, 0 } };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stub_facts from = fixture_nvidia_facts(cases[i].major, cases[i].minor);
        struct kiln_device_facts facts = facts_of(&from);
        assert_int_equal(facts.compute_capability, cases[i].capability);
        kiln_device_facts_free(&facts);
    }
}

/* The numbers of the queries may mean something else to another vendor's driver. */
static void only_the_extension_is_asked(void **state)
{
    struct stub_facts from = fixture_nvidia_facts(9, 0);
    (void) state;
    from.extensions = stub_default_facts().extensions;
    struct kiln_device_facts facts = facts_of(&from);
    assert_int_equal(facts.compute_capability, 0);
    assert_int_equal(facts.local_bytes, from.local_bytes);
    kiln_device_facts_free(&facts);
}

/* Whichever question fails, the device counts as one without, if it can be used at all. */
static void an_unanswered_attribute_is_none(void **state)
{
    struct stub_facts from = fixture_nvidia_facts(9, 0);
    cl_device_id device = stub_make_device(&from);
    unsigned num_without = 0;
    (void) state;
    for (unsigned nth = 1; nth <= 30; nth++) {
        struct kiln_device_facts facts;
        stub_fail("clGetDeviceInfo", nth, CL_INVALID_VALUE);
        enum kiln_status status = kiln_device_facts_query(device, &facts);
        assert_true(facts.compute_capability == 0 || facts.compute_capability == 90);
        num_without += status == KILN_SUCCESS && facts.compute_capability == 0;
        kiln_device_facts_free(&facts);
        stub_clear_plans();
    }
    assert_int_equal(num_without, 4); /* the extensions' length and text, major, minor */
}

/* Work-groups of 8.0 and later are taken to have more local memory than the driver says. */
static void local_memory_is_raised(void **state)
{
    static const struct {
        cl_uint major, minor;
        cl_ulong told, counted;
    } cases[] = { { 9, 0, 49152, 227 * 1024 }, { 9, 0, 1 << 20, 1 << 20 },
        { 8, 0, 49152, 163 * 1024 }, { 8, 6, 49152, 99 * 1024 }, { 12, 0, 49152, 99 * 1024 },
        { 7, 5, 49152, 49152 } };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stub_facts from = fixture_nvidia_facts(cases[i].major, cases[i].minor);
        from.local_bytes = cases[i].told;
        struct kiln_device_facts facts = facts_of(&from);
        assert_int_equal(facts.local_bytes, cases[i].counted);
        kiln_device_facts_free(&facts);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(creation_survives_any_failing_question),
        TEST(a_context_holds_its_handles),
        TEST(contexts_do_not_share),
        TEST(compute_capability_is_asked_for),
        TEST(only_the_extension_is_asked),
        TEST(an_unanswered_attribute_is_none),
        TEST(local_memory_is_raised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
