/* test_embed_cubin.c: what is embedded on an NVIDIA device, and what serves from it, on the fake
 * OpenCL driver with stand-ins for what makes cubins.
 * usage: test_embed_cubin FAKE_CUDA FAKE_PTXAS */
#include "embed_world.h"
#include "tune/device.h"

enum { NUM_PROGRAMS = 2 };

static struct cubin_tools driver, ptxas;
static const struct cubin_tools none = { "/nowhere", "/nowhere" };

static void expect_any_device(const struct kiln_binary *binary, const char *driver_version)
{
    assert_string_equal(binary->platform, "Stub Platform");
    assert_null(binary->device);
    assert_int_equal(binary->compute_capability, 90);
    if (driver_version)
        assert_string_equal(binary->driver, driver_version);
    else
        assert_null(binary->driver);
}

static unsigned long num_sources, num_binaries;

static void count(void)
{
    num_sources = stub_calls("clCreateProgramWithSource");
    num_binaries = stub_calls("clCreateProgramWithBinary");
}

/* Has a fresh context multiply with a program; what is built for it stands in the counts. */
static enum kiln_status call(struct world *w, unsigned program)
{
    struct kiln_context *kiln;
    const struct kiln_context_params params = { .bundle = &w->assembly.bundle };
    struct kiln_gemm gemm = { .m = 3,
        .n = program ? 5 : 64,
        .k = 2,
        .alpha = 1,
        .a = stub_make_buffer(w->cl, 4096),
        .b = stub_make_buffer(w->cl, 4096),
        .c = stub_make_buffer(w->cl, 4096) };
    count();
    assert_int_equal(kiln_context_create(w->cl, w->device, &params, &kiln), KILN_SUCCESS);
    const enum kiln_status status = kiln_gemm_enqueue(kiln, &gemm, w->queue, 0, NULL, NULL);
    kiln_context_destroy(&kiln);
    clReleaseMemObject(gemm.a);
    clReleaseMemObject(gemm.b);
    clReleaseMemObject(gemm.c);
    num_sources = stub_calls("clCreateProgramWithSource") - num_sources;
    num_binaries = stub_calls("clCreateProgramWithBinary") - num_binaries;
    return status;
}

static void expect_call(struct world *w, unsigned program, unsigned long sources,
        unsigned long binaries)
{
    assert_int_equal(call(w, program), KILN_SUCCESS);
    assert_int_equal(num_sources, sources);
    assert_int_equal(num_binaries, binaries);
}

/* One program is built, of its cubin, on any device of the compute capability; also where the
 * driver does not tell of what kind the arguments of such kernels are. */
static void cubins_come_first(void **state)
{
    const struct cubin_tools *const tools[] = { &driver, &ptxas };
    (void) state;
    for (unsigned i = 0; i < 4; i++) {
        const bool keep_source = i % 2;
        struct world w;
        open_world(&w, NUM_PROGRAMS);
        assert_true(embed_binaries(&w.assembly, "", keep_source, tools[i / 2], NULL, w.error));
        for (unsigned p = 0; p < NUM_PROGRAMS; p++) {
            const struct kiln_program *program = &w.assembly.programs[p];
            assert_int_equal(program->num_binaries, keep_source ? 1 : 2);
            assert_int_equal(program->num_symbols > 0, keep_source);
            assert_true(is_elf(&program->binaries[0]));
            expect_any_device(&program->binaries[0], p ? "1.0" : NULL);
            assert_false(is_elf(&program->binaries[1]));
            expect_any_device(&program->binaries[1], NULL);
            expect_call(&w, p, 0, 1);
        }
        open_device(&w, 0, "A relative");
        expect_call(&w, 0, 0, 1);
        expect_call(&w, 1, 0, 1);
        stub_fail("clGetKernelArgInfo", 0, CL_KERNEL_ARG_INFO_NOT_AVAILABLE);
        expect_call(&w, 0, 0, 1);
        expect_call(&w, 1, 0, 1);
        close_world(&w);
    }
}

/* The masks are gone before the cubin is made. */
static void cubins_are_made_of_unmasked_ptx(void **state)
{
    struct world w;
    (void) state;
    open_world(&w, NUM_PROGRAMS);
    assert_true(embed_binaries(&w.assembly, "", true, &driver, NULL, w.error));
    const struct kiln_binary *binary = w.assembly.programs[1].binaries;
    char *text = calloc(1, binary->size + 1);
    assert_non_null(text);
    memcpy(text, binary->data + ELF_HEADER_BYTES, binary->size - ELF_HEADER_BYTES);
    assert_non_null(strstr(text, ".target sm_90a"));
    assert_null(strstr(text, "//@"));
    free(text);
    close_world(&w);
}

/* With source behind it, that serves; without, PTX. */
static void a_cubin_that_is_refused_costs_nothing_but_time(void **state)
{
    (void) state;
    for (unsigned keep_source = 0; keep_source < 2; keep_source++)
        for (unsigned p = 0; p < NUM_PROGRAMS; p++) {
            struct world w;
            open_world(&w, NUM_PROGRAMS);
            assert_true(embed_binaries(&w.assembly, "", keep_source, &driver, NULL, w.error));
            stub_fail("clCreateProgramWithBinary", 1, CL_INVALID_BINARY);
            expect_call(&w, p, keep_source, keep_source && !p ? 1 : 2);
            close_world(&w);
        }
}

static void another_capability_gets_no_cubin(void **state)
{
    struct world w;
    (void) state;
    open_world(&w, NUM_PROGRAMS);
    assert_true(embed_binaries(&w.assembly, "", true, &driver, NULL, w.error));
    open_device(&w, 1, "Stub Device");
    expect_call(&w, 0, 1, 0);
    assert_int_equal(call(&w, 1), KILN_NO_KERNEL);
    close_world(&w);
}

static void expect_ptx_alone(struct world *w, bool keep_source)
{
    for (unsigned p = 0; p < NUM_PROGRAMS; p++) {
        const struct kiln_program *program = &w->assembly.programs[p];
        assert_int_equal(program->num_binaries, 1);
        assert_int_equal(program->num_symbols > 0, keep_source);
        assert_false(is_elf(&program->binaries[0]));
        expect_any_device(&program->binaries[0], NULL);
        expect_call(w, p, 0, 1);
    }
}

/* Nothing makes cubins; the driver does not take them; it computes something else with them. */
static void without_cubins_ptx_is_embedded(void **state)
{
    (void) state;
    for (unsigned i = 0; i < 6; i++) {
        struct world w;
        open_world(&w, NUM_PROGRAMS);
        if (i / 2 == 1) { /* the first is the masked program's PTX */
            stub_fail("clCreateProgramWithBinary", 2, CL_INVALID_BINARY);
            stub_fail("clCreateProgramWithBinary", 3, CL_INVALID_BINARY);
        }
        products_are_wrong = i / 2 == 2;
        const struct cubin_tools *tools = i / 2 ? &driver : &none;
        assert_true(embed_binaries(&w.assembly, "", i % 2, tools, NULL, w.error));
        expect_ptx_alone(&w, i % 2);
        close_world(&w);
    }
}

static void what_does_not_build_is_an_error(void **state)
{
    struct world w;
    (void) state;
    open_world(&w, NUM_PROGRAMS);
    stub_fail_build("second(", CL_BUILD_PROGRAM_FAILURE);
    assert_false(embed_binaries(&w.assembly, "", true, &driver, NULL, w.error));
    assert_non_null(strstr(w.error, "no binary of a program"));
    assert_false(embed_binaries(&w.assembly, "Another", true, &driver, NULL, w.error));
    assert_non_null(strstr(w.error, "Another"));
    close_world(&w);
}

/* Of no use are those that another platform, device or driver makes; how much it can do does not
 * matter, as a device may be tuned as a lesser one. */
static void another_device_than_the_journals_is_refused(void **state)
{
    struct world w;
    struct device_facts tuned;
    (void) state;
    open_world(&w, NUM_PROGRAMS);
    assert_true(device_facts(w.device, &tuned, w.error));
    tuned.value[FACT_LOCAL_BYTES] /= 2;
    assert_true(embed_is_for("Stub", &tuned, w.error));
    char *const names[] = { tuned.platform, tuned.device, tuned.driver };
    for (unsigned i = 0; i < 3; i++) {
        const char first = names[i][0];
        names[i][0] = 'X';
        assert_false(embed_is_for("", &tuned, w.error));
        assert_non_null(strstr(w.error, "need the device of the journal"));
        assert_non_null(strstr(w.error, names[i]));
        names[i][0] = first;
    }
    assert_false(embed_is_for("Another", &tuned, w.error));
    assert_non_null(strstr(w.error, "need the device of the journal: no device's name contains"));
    close_world(&w);
}

/* On another vendor's device, the very device and driver. */
static void others_have_binaries_of_their_own(void **state)
{
    struct world w;
    (void) state;
    open_world(&w, NUM_PROGRAMS);
    stub_reset();
    struct stub_facts facts = stub_default_facts();
    w.device = stub_make_device(&facts);
    w.cl = stub_make_context(1, &w.device);
    w.queue = stub_make_queue(w.cl, w.device, false);
    w.assembly.bundle.num_programs = w.assembly.bundle.num_recipes = 1;
    assert_true(embed_binaries(&w.assembly, "", true, &driver, NULL, w.error));
    const struct kiln_binary *binary = w.assembly.programs[0].binaries;
    assert_int_equal(w.assembly.programs[0].num_binaries, 1);
    assert_string_equal(binary->platform, "Stub Platform");
    assert_string_equal(binary->device, "Stub Device");
    assert_string_equal(binary->driver, "1.0");
    assert_int_equal(binary->compute_capability, 0);
    expect_call(&w, 0, 0, 1);
    close_world(&w);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cubins_come_first),
        cmocka_unit_test(cubins_are_made_of_unmasked_ptx),
        cmocka_unit_test(a_cubin_that_is_refused_costs_nothing_but_time),
        cmocka_unit_test(another_capability_gets_no_cubin),
        cmocka_unit_test(without_cubins_ptx_is_embedded),
        cmocka_unit_test(what_does_not_build_is_an_error),
        cmocka_unit_test(another_device_than_the_journals_is_refused),
        cmocka_unit_test(others_have_binaries_of_their_own),
    };
    if (argc != 3)
        return 2;
    driver = (struct cubin_tools){ argv[1], "/nowhere" };
    ptxas = (struct cubin_tools){ "/nowhere", argv[2] };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
