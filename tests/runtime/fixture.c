/* fixture.c: see fixture.h. */
#include "fixture.h"

#include <stdio.h>
#include <string.h>

static struct fixture the_fixture;

int fixture_setup(void **state)
{
    struct fixture *f = &the_fixture;
    stub_reset();
    struct stub_facts facts = stub_default_facts();
    f->device = stub_make_device(&facts);
    f->other_device = stub_make_device(&facts);
    f->cl = stub_make_context(2, (cl_device_id[]){ f->device, f->other_device });
    f->other_cl = stub_make_context(1, &f->device);
    f->queue = stub_make_queue(f->cl, f->device, false);
    f->loose = stub_make_queue(f->cl, f->device, true);
    f->a = stub_make_buffer(f->cl, (size_t) 1 << (sizeof(size_t) > 4 ? 44 : 29));
    f->b = stub_make_buffer(f->cl, (size_t) 1 << (sizeof(size_t) > 4 ? 44 : 29));
    f->c = stub_make_buffer(f->cl, (size_t) 1 << (sizeof(size_t) > 4 ? 44 : 29));
    f->kiln = NULL;
    fixture_new_context(f, NULL);
    *state = f;
    return 0;
}

static void check_references(const struct fixture *f)
{
    const void *const objects[] = { f->device, f->other_device, f->cl, f->other_cl, f->queue,
        f->loose, f->a, f->b, f->c };
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
        assert_int_equal(stub_refs(objects[i]), 1);
    }
}

int fixture_teardown(void **state)
{
    struct fixture *f = *state;
    stub_clear_plans();
    kiln_context_destroy(&f->kiln);
    assert_null(f->kiln);
    check_references(f);
    assert_int_equal(stub_live(STUB_PROGRAM), 0);
    assert_int_equal(stub_live(STUB_KERNEL), 0);
    assert_int_equal(stub_live(STUB_EVENT), 0);
    assert_int_equal(stub_live(STUB_MEM), 3);
    assert_string_equal(stub_last_misuse(), "");
    return 0;
}

void fixture_new_context(struct fixture *f, const struct kiln_context_params *params)
{
    kiln_context_destroy(&f->kiln);
    assert_int_equal(kiln_context_create(f->cl, f->device, params, &f->kiln), KILN_SUCCESS);
    assert_non_null(f->kiln);
}

struct stub_facts fixture_nvidia_facts(cl_uint major, cl_uint minor)
{
    struct stub_facts facts = stub_default_facts();
    facts.extensions = "cl_khr_fp64 cl_nv_device_attribute_query cl_nv_pragma_unroll";
    facts.nv_major = major;
    facts.nv_minor = minor;
    return facts;
}

struct fixture_nvidia fixture_nvidia_open(const struct stub_facts *facts,
        const struct kiln_context_params *params)
{
    struct fixture_nvidia nvidia = { .device = stub_make_device(facts) };
    nvidia.cl = stub_make_context(1, &nvidia.device);
    assert_int_equal(kiln_context_create(nvidia.cl, nvidia.device, params, &nvidia.kiln),
            KILN_SUCCESS);
    return nvidia;
}

void fixture_nvidia_close(struct fixture_nvidia *nvidia)
{
    kiln_context_destroy(&nvidia->kiln);
    assert_int_equal(stub_refs(nvidia->cl), 1);
}

struct kiln_gemm fixture_gemm(const struct fixture *f, size_t m, size_t n, size_t k)
{
    return (struct kiln_gemm){ .m = m,
        .n = n,
        .k = k,
        .alpha = 1.0,
        .a = f->a,
        .b = f->b,
        .c = f->c };
}

void fixture_run(struct fixture *f, const struct kiln_gemm *gemm)
{
    stub_clear_records();
    assert_int_equal(kiln_gemm_enqueue(f->kiln, gemm, f->queue, 0, NULL, NULL), KILN_SUCCESS);
}

void fixture_need_large_buffers(void)
{
    if (sizeof(size_t) < 8)
        skip();
}

const struct stub_record *fixture_only(const char *entry)
{
    assert_int_equal(stub_num_records(), 1);
    const struct stub_record *record = stub_record_at(0);
    assert_int_equal(record->command, STUB_NDRANGE);
    assert_string_equal(record->entry, entry);
    return record;
}

void fixture_expect(const char *entry, ...)
{
    va_list rest;
    size_t count = 0;
    va_start(rest, entry);
    for (; entry != NULL; entry = va_arg(rest, const char *)) {
        assert_true(count < stub_num_records());
        assert_int_equal(stub_record_at(count)->command, STUB_NDRANGE);
        assert_string_equal(stub_record_at(count)->entry, entry);
        count++;
    }
    va_end(rest);
    assert_int_equal(stub_num_records(), count);
}

void fixture_expect_recipe(struct fixture *f, const struct kiln_gemm *gemm, const char *bundle,
        const char *recipe)
{
    fixture_expect_recipe_on(f->kiln, gemm, bundle, recipe);
}

void fixture_expect_recipe_on(struct kiln_context *kiln, const struct kiln_gemm *gemm,
        const char *bundle, const char *recipe)
{
    char text[4096];
    char expected[512];
    assert_int_equal(kiln_gemm_explain(kiln, gemm, text, sizeof text), KILN_SUCCESS);
    int length = snprintf(expected, sizeof expected, "bundle: %s\nkernel: %s\n", bundle, recipe);
    assert_true(length > 0 && strlen(text) >= (size_t) length - 1);
    text[length] = '\0';
    assert_string_equal(text, expected);
}
