/* test_embed_cubin.c: what is embedded on an NVIDIA device, and what serves from it, on the fake
 * OpenCL driver with stand-ins for what makes cubins.
 * usage: test_embed_cubin FAKE_CUDA FAKE_PTXAS */
#include "tune/embed.h"
#include "internal.h"
#include "stub.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

/* No other bundle serves. */
extern const struct kiln_bundle *const kiln_linked_bundles[];
const struct kiln_bundle *const kiln_linked_bundles[] = { NULL };

enum { NUM_PROGRAMS = 2, ELF_HEADER_BYTES = 64 };

/* The second is masked, and reads what the driver tells it. */
#define PARAMETERS                                                                                \
    "int m, int n, int k, float alpha, global const float *a, int a_offset, int lda, "            \
    "global const float *b, int b_offset, int ldb, float beta, global float *c, int c_offset, "   \
    "int ldc) {}\n"
static const char *const texts[NUM_PROGRAMS] = {
    "// .target sm_90\nkernel void first(" PARAMETERS,
    "// .target sm_90\n//@ %envreg3\nkernel void second(" PARAMETERS,
};

static struct cubin_tools driver, ptxas;
static const struct cubin_tools none = { "/nowhere", "/nowhere" };

struct world {
    cl_device_id device;
    cl_context cl;
    cl_command_queue queue;
    struct assembly assembly;
    struct kiln_stage stages[NUM_PROGRAMS];
    char error[FAMILY_ERROR_BYTES];
};

/* The first takes calls whose n is a multiple of 64, and the second others. */
static void add_recipe(struct world *w, unsigned number)
{
    struct assembly *assembly = &w->assembly;
    struct kiln_program *program = &assembly->programs[number];
    assert_true(pool_add(&assembly->pool, texts[number], program));
    program->hash = kiln_hash(KILN_HASH_BEGIN, texts[number], strlen(texts[number]));
    program->ptx = number ? 90 : 0;
    w->stages[number] = (struct kiln_stage) {
        .entry = number ? "second" : "first", .work_dim = 2, .dim = { KILN_DIM_N, KILN_DIM_M },
        .tile = { 1, 1 }, .local = { 1, 1 }, .num_args = 14,
        .args = { KILN_ARG_M, KILN_ARG_N, KILN_ARG_K, KILN_ARG_ALPHA, KILN_ARG_A,
                KILN_ARG_A_OFFSET, KILN_ARG_LDA, KILN_ARG_B, KILN_ARG_B_OFFSET, KILN_ARG_LDB,
                KILN_ARG_BETA, KILN_ARG_C, KILN_ARG_C_OFFSET, KILN_ARG_LDC },
    };
    assembly->recipes[number] = (struct kiln_recipe) {
        .name = w->stages[number].entry, .precision = KILN_SINGLE, .index_bits = 32,
        .guard.n = number ? 1 : 64, .tile = { 1, 1, 1 }, .reach = { 1, 1, 1 }, .split = 1,
        .program = number, .num_stages = 1, .stages = &w->stages[number],
    };
    assembly->bundle.num_programs = assembly->bundle.num_recipes = number + 1;
    assembly->bundle.pool = assembly->pool.data;
}

/* Multiplies as the kernels say, in NN. */
static void multiply(void *user, const struct stub_record *r)
{
    const float *a = stub_buffer_data(stub_record_mem(r, 4));
    const float *b = stub_buffer_data(stub_record_mem(r, 7));
    float *c = stub_buffer_data(stub_record_mem(r, 11));
    const long long m = stub_record_int(r, 0), n = stub_record_int(r, 1), k = stub_record_int(r, 2);
    const float alpha = (float) stub_record_real(r, 3), beta = (float) stub_record_real(r, 10);
    const bool *is_wrong = user;
    for (long long i = 0; i < m; i++)
        for (long long j = 0; j < n; j++) {
            float sum = *is_wrong ? 1 : 0;
            for (long long p = 0; p < k; p++)
                sum += a[i * stub_record_int(r, 6) + p] * b[p * stub_record_int(r, 9) + j];
            float *at = &c[i * stub_record_int(r, 13) + j];
            *at = alpha * sum + beta * *at;
        }
}

static bool products_are_wrong;

static void open_device(struct world *w, unsigned minor, const char *name)
{
    struct stub_facts facts = stub_default_facts();
    facts.extensions = "cl_khr_fp64 cl_nv_device_attribute_query";
    facts.name = name;
    facts.nv_major = 9;
    facts.nv_minor = minor;
    w->device = stub_make_device(&facts);
    w->cl = stub_make_context(1, &w->device);
    w->queue = stub_make_queue(w->cl, w->device, false);
}

static void open_world(struct world *w)
{
    struct device_facts facts;
    memset(w, 0, sizeof *w);
    stub_reset();
    products_are_wrong = false;
    stub_emulate(multiply, &products_are_wrong);
    open_device(w, 0, "Stub Device");
    facts_minimal(&facts);
    assert_true(assembly_init(&w->assembly, "embedded", &facts));
    for (unsigned i = 0; i < NUM_PROGRAMS; i++)
        add_recipe(w, i);
}

static void close_world(struct world *w)
{
    assert_int_equal(stub_live(STUB_PROGRAM), 0);
    assert_int_equal(stub_live(STUB_KERNEL), 0);
    assembly_free(&w->assembly);
}

static bool is_elf(const struct kiln_binary *binary)
{
    return binary->size > ELF_HEADER_BYTES && !memcmp(binary->data, "\177ELF", 4);
}

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
    struct kiln_gemm gemm = { .m = 3, .n = program ? 5 : 64, .k = 2, .alpha = 1,
        .a = stub_make_buffer(w->cl, 4096), .b = stub_make_buffer(w->cl, 4096),
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
        open_world(&w);
        assert_true(embed_binaries(&w.assembly, "", keep_source, tools[i / 2], w.error));
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
    open_world(&w);
    assert_true(embed_binaries(&w.assembly, "", true, &driver, w.error));
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
            open_world(&w);
            assert_true(embed_binaries(&w.assembly, "", keep_source, &driver, w.error));
            stub_fail("clCreateProgramWithBinary", 1, CL_INVALID_BINARY);
            expect_call(&w, p, keep_source, keep_source && !p ? 1 : 2);
            close_world(&w);
        }
}

static void another_capability_gets_no_cubin(void **state)
{
    struct world w;
    (void) state;
    open_world(&w);
    assert_true(embed_binaries(&w.assembly, "", true, &driver, w.error));
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
        open_world(&w);
        if (i / 2 == 1) {              /* the first is the masked program's PTX */
            stub_fail("clCreateProgramWithBinary", 2, CL_INVALID_BINARY);
            stub_fail("clCreateProgramWithBinary", 3, CL_INVALID_BINARY);
        }
        products_are_wrong = i / 2 == 2;
        assert_true(embed_binaries(&w.assembly, "", i % 2, i / 2 ? &driver : &none, w.error));
        expect_ptx_alone(&w, i % 2);
        close_world(&w);
    }
}

static void what_does_not_build_is_an_error(void **state)
{
    struct world w;
    (void) state;
    open_world(&w);
    stub_fail_build("second(", CL_BUILD_PROGRAM_FAILURE);
    assert_false(embed_binaries(&w.assembly, "", true, &driver, w.error));
    assert_non_null(strstr(w.error, "no binary of a program"));
    assert_false(embed_binaries(&w.assembly, "Another", true, &driver, w.error));
    assert_non_null(strstr(w.error, "Another"));
    close_world(&w);
}

/* On another vendor's device, the very device and driver. */
static void others_have_binaries_of_their_own(void **state)
{
    struct world w;
    (void) state;
    open_world(&w);
    stub_reset();
    struct stub_facts facts = stub_default_facts();
    w.device = stub_make_device(&facts);
    w.cl = stub_make_context(1, &w.device);
    w.queue = stub_make_queue(w.cl, w.device, false);
    w.assembly.bundle.num_programs = w.assembly.bundle.num_recipes = 1;
    assert_true(embed_binaries(&w.assembly, "", true, &driver, w.error));
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
        cmocka_unit_test(others_have_binaries_of_their_own),
    };
    if (argc != 3)
        return 2;
    driver = (struct cubin_tools) { argv[1], "/nowhere" };
    ptxas = (struct cubin_tools) { "/nowhere", argv[2] };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
