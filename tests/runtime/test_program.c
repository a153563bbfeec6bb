/* test_program.c: what is built when, from a binary or from source, and what follows a refusal. */
#include "fixture.h"

#include "internal.h"
#include "reader.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_TEXT = 4096 };

/* A copy of the tuned bundle whose program of small kernels may be changed. */
struct variant {
    struct kiln_program programs[NUM_TUNED_PROGRAMS];
    struct kiln_binary binaries[2];
    struct kiln_bundle bundle;
    char data[MAX_TEXT];
};

/* The binary that the fake driver would make of a program. */
static size_t make_binary(const struct kiln_program *program, char data[MAX_TEXT])
{
    size_t length = strlen("STUBBIN:");
    memcpy(data, "STUBBIN:", length);
    assert_true(length + program->text_bytes < MAX_TEXT);
    kiln_pool_copy(&tuned_bundle.pool, program, data + length);
    return length + program->text_bytes;
}

static void make_variant(struct variant *v)
{
    v->bundle = tuned_bundle;
    v->bundle.programs = v->programs;
    for (int i = 0; i < NUM_TUNED_PROGRAMS; i++) {
        v->programs[i] = tuned_bundle.programs[i];
    }
    struct kiln_program *small = &v->programs[PROGRAM_SMALL];
    size_t size = make_binary(small, v->data);
    for (int i = 0; i < 2; i++) {
        v->binaries[i] = (struct kiln_binary){ .platform = "Stub Platform",
            .device = "Stub Device",
            .driver = "1.0",
            .source_hash = small->hash,
            .data_hash = kiln_hash(KILN_HASH_BEGIN, v->data, size),
            .data = (const unsigned char *) v->data,
            .size = size };
    }
    small->binaries = v->binaries;
    small->num_binaries = 1;
}

static void use_variant(struct fixture *f, const struct variant *v)
{
    fixture_new_context(f, &(struct kiln_context_params){ .bundle = &v->bundle });
}

static void expect_builds(unsigned long from_binary, unsigned long from_source,
        unsigned long builds)
{
    assert_int_equal(stub_calls("clCreateProgramWithBinary"), from_binary);
    assert_int_equal(stub_calls("clCreateProgramWithSource"), from_source);
    assert_int_equal(stub_calls("clBuildProgram"), builds);
}

static void the_test_bundle_has_its_hashes(void **state)
{
    (void) state;
    const struct kiln_bundle *bundles[] = { &tuned_bundle, &generic_bundle };
    for (int b = 0; b < 2; b++) {
        for (uint32_t i = 0; i < bundles[b]->num_programs; i++) {
            struct kiln_program program = bundles[b]->programs[i];
            test_bundle_finish(&bundles[b]->pool, &program);
            assert_true(program.hash == bundles[b]->programs[i].hash);
            assert_int_equal(program.text_bytes, bundles[b]->programs[i].text_bytes);
        }
    }
}

static void a_program_is_built_once_at_first_use(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
    expect_builds(0, 0, 0);
    for (int i = 0; i < 5; i++) {
        fixture_run(f, &gemm);
    }
    gemm.transa = KILN_TRANS; /* another kernel of the same program */
    fixture_run(f, &gemm);
    fixture_only("tn_mul");
    expect_builds(0, 1, 1);
}

static void a_program_can_be_built_at_creation(void **state)
{
    struct fixture *f = *state;
    fixture_new_context(f, &(struct kiln_context_params){ .build = KILN_BUILD_NOW });
    unsigned long builds = stub_calls("clBuildProgram");
    assert_true(builds >= 4);
    static const size_t shapes[][3] = { { 64, 64, 64 }, { 1024, 1024, 1024 }, { 16, 16, 4096 } };
    for (int i = 0; i < 3; i++) {
        struct kiln_gemm gemm = fixture_gemm(f, shapes[i][0], shapes[i][1], shapes[i][2]);
        fixture_run(f, &gemm);
    }
    assert_int_equal(stub_calls("clBuildProgram"), builds);
    assert_int_equal(stub_num_records(), 3);
}

/* Where no bundle before it serves a precision and transpose pair, a bundle without a table is
 * built for them too: here everything but the tuned pairs. */
static void no_call_builds_what_creation_has_built(void **state)
{
    const struct kiln_bundle *const bundles[] = { NULL, &generic_bundle };
    struct fixture *f = *state;
    for (size_t b = 0; b < 2; b++) {
        kiln_context_destroy(&f->kiln);
        fixture_new_context(f,
                &(struct kiln_context_params){ .bundle = bundles[b], .build = KILN_BUILD_NOW });
        unsigned long builds = stub_calls("clBuildProgram");
        for (unsigned i = 0; i < 3 * 4; i++) {
            struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
            gemm.precision = (enum kiln_precision)(KILN_HALF + i / 4);
            gemm.transa = i & 2 ? KILN_TRANS : KILN_NO_TRANS;
            gemm.transb = i & 1 ? KILN_TRANS : KILN_NO_TRANS;
            fixture_run(f, &gemm);
        }
        assert_int_equal(stub_calls("clBuildProgram"), builds);
    }
}

/* Who asked for kernels in advance is told that some calls have none now. */
static void creation_fails_while_memory_is_lacking(void **state)
{
    struct fixture *f = *state;
    struct kiln_context_params params = { .build = KILN_BUILD_NOW };
    struct kiln_context *kiln = NULL;
    stub_fail("clBuildProgram", 0, CL_OUT_OF_HOST_MEMORY);
    assert_int_equal(kiln_context_create(f->cl, f->device, &params, &kiln), CL_OUT_OF_HOST_MEMORY);
    assert_null(kiln);
    stub_clear_plans();
    stub_fail_build("generic_d_", CL_OUT_OF_HOST_MEMORY);
    assert_int_equal(kiln_context_create(f->cl, f->device, &params, &kiln), CL_OUT_OF_HOST_MEMORY);
    assert_null(kiln);
    stub_clear_plans();
    stub_fail_build(MARK_PACKED, CL_OUT_OF_HOST_MEMORY);
    assert_int_equal(kiln_context_create(f->cl, f->device, &params, &kiln), KILN_SUCCESS);
    kiln_context_destroy(&kiln);
}

/* What the driver answers to one program for ever must not be compiled by every call for ever. */
static void what_lacks_memory_for_ever_costs_little(void **state)
{
    enum { NUM_CALLS = 1000 };
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 1024, 1024, 1024);
    stub_fail_build(MARK_ALIGNED, CL_OUT_OF_RESOURCES);
    for (int i = 0; i < NUM_CALLS; i++) {
        fixture_run(f, &gemm);
        assert_string_equal(stub_record_at(0)->entry, "pack_a");
    }
    assert_true(stub_calls("clBuildProgram") < 40);
    for (int i = 0; i < 3; i++) { /* what nothing else serves is tried by every call */
        unsigned long builds = stub_calls("clBuildProgram");
        stub_fail("clBuildProgram", 0, CL_OUT_OF_RESOURCES);
        stub_fail("clEnqueueNDRangeKernel", 0, CL_OUT_OF_RESOURCES);
        assert_int_equal(kiln_gemm_enqueue(f->kiln, &gemm, f->queue, 0, NULL, NULL),
                CL_OUT_OF_RESOURCES);
        assert_true(stub_calls("clBuildProgram") > builds);
    }
    stub_clear_plans();
    stub_fail_build(MARK_ALIGNED, CL_OUT_OF_RESOURCES);
    fixture_run(f, &gemm);
    stub_clear_plans();
    int num_calls = 0;
    for (; num_calls == 0 || strcmp(stub_record_at(0)->entry, "aligned_mul") != 0; num_calls++) {
        fixture_run(f, &gemm);
        assert_true(num_calls < 100);
    }
}

static void a_lack_that_lasts_ends_with_the_next_call(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 1024, 1024, 1024);
    stub_fail("clBuildProgram", 0, CL_OUT_OF_HOST_MEMORY);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(kiln_gemm_enqueue(f->kiln, &gemm, f->queue, 0, NULL, NULL),
                CL_OUT_OF_HOST_MEMORY);
    }
    stub_clear_plans();
    fixture_run(f, &gemm);
}

/* The sizes that are told meanwhile do for the recipe that comes back. */
static void sizes_do_for_what_comes_back(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 16, 16, 4096);
    struct kiln_pack made;
    size_t bytes[2], packed[2];
    assert_int_equal(kiln_gemm_workspace_bytes(f->kiln, &gemm, &bytes[0]), KILN_SUCCESS);
    assert_int_equal(kiln_pack_bytes(f->kiln, &gemm, KILN_PACK_B, &packed[0]), KILN_SUCCESS);
    kiln_context_destroy(&f->kiln);
    fixture_new_context(f, NULL);
    stub_fail_build(MARK_PACKED, CL_OUT_OF_RESOURCES);
    assert_int_equal(kiln_gemm_workspace_bytes(f->kiln, &gemm, &bytes[1]), KILN_SUCCESS);
    assert_int_equal(kiln_pack_bytes(f->kiln, &gemm, KILN_PACK_B, &packed[1]), KILN_SUCCESS);
    assert_int_equal(bytes[1], bytes[0]);
    assert_int_equal(packed[1], packed[0]);
    stub_clear_plans();
    gemm.workspace = stub_make_buffer(f->cl, bytes[1]);
    fixture_run(f, &gemm);
    fixture_expect("pack_a", "pack_b", "packed_mul", NULL);
    cl_mem room = stub_make_buffer(f->cl, packed[1]);
    assert_int_equal(
            kiln_pack_enqueue(f->kiln, &gemm, KILN_PACK_B, room, 0, f->queue, 0, NULL, NULL, &made),
            KILN_SUCCESS);
    clReleaseMemObject(room);
    clReleaseMemObject(gemm.workspace);
}

/* A bundle need not have a dispatch table: its first recipe that can, serves. */
static void a_bundle_without_tables_can_be_built_at_creation(void **state)
{
    struct fixture *f = *state;
    fixture_new_context(f,
            &(struct kiln_context_params){ .bundle = &generic_bundle, .build = KILN_BUILD_NOW });
    struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
    fixture_run(f, &gemm);
    fixture_only("generic_s_nn");
}

/* The generic bundle, which has no table here, keeps the context alive. */
static void a_refused_bundle_does_not_fail_the_creation(void **state)
{
    struct fixture *f = *state;
    stub_fail_build("_mul(", CL_BUILD_PROGRAM_FAILURE);
    stub_fail_build("mul_64(", CL_BUILD_PROGRAM_FAILURE);
    fixture_new_context(f, &(struct kiln_context_params){ .build = KILN_BUILD_NOW });
    struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
    fixture_run(f, &gemm);
    fixture_only("generic_s_nn");
}

static void a_matching_binary_needs_no_source(void **state)
{
    struct fixture *f = *state;
    struct variant v;
    struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
    make_variant(&v);
    v.programs[PROGRAM_SMALL].num_symbols = 0;
    use_variant(f, &v);
    fixture_run(f, &gemm);
    fixture_only("small_mul");
    expect_builds(1, 0, 1);
    kiln_context_destroy(&f->kiln);
}

static void any_difference_makes_a_binary_unfit(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
    for (unsigned long i = 0; i < 5; i++) {
        struct variant v;
        make_variant(&v);
        v.binaries[0].platform = i == 0 ? "Stub*" : v.binaries[0].platform;
        v.binaries[0].device = i == 1 ? "Stub" : v.binaries[0].device;
        v.binaries[0].driver = i == 2 ? "1.0.1" : v.binaries[0].driver;
        v.binaries[0].source_hash += i == 3;
        v.binaries[0].compute_capability = i == 4 ? 90 : 0;
        use_variant(f, &v);
        fixture_run(f, &gemm);
        fixture_only("small_mul");
        expect_builds(0, i + 1, i + 1);
        kiln_context_destroy(&f->kiln);
    }
}

static void what_a_binary_does_not_name_may_be_any(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
    for (unsigned long i = 0; i < 4; i++) {
        struct variant v;
        make_variant(&v);
        v.binaries[0].platform = i == 0 || i == 3 ? NULL : v.binaries[0].platform;
        v.binaries[0].device = i == 1 || i == 3 ? NULL : v.binaries[0].device;
        v.binaries[0].driver = i == 2 || i == 3 ? NULL : v.binaries[0].driver;
        use_variant(f, &v);
        fixture_run(f, &gemm);
        fixture_only("small_mul");
        expect_builds(i + 1, 0, i + 1);
        kiln_context_destroy(&f->kiln);
    }
}

/* As PTX is embedded: for a compute capability, whatever the device is called. */
static void a_binary_may_be_for_a_compute_capability(void **state)
{
    static const struct {
        cl_uint major, minor;
        const char *recipe;
    } cases[] = { { 9, 0, "tuned_small" }, { 9, 1, "tuned_aligned" }, { 8, 0, "tuned_aligned" } };
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct variant v;
        struct stub_facts facts = fixture_nvidia_facts(cases[i].major, cases[i].minor);
        make_variant(&v);
        v.programs[PROGRAM_SMALL].num_symbols = 0;
        v.binaries[0].platform = v.binaries[0].device = v.binaries[0].driver = NULL;
        v.binaries[0].compute_capability = 90;
        struct fixture_nvidia nvidia = fixture_nvidia_open(&facts,
                &(struct kiln_context_params){ .bundle = &v.bundle });
        fixture_expect_recipe_on(nvidia.kiln, &gemm, "tuned", cases[i].recipe);
        fixture_nvidia_close(&nvidia);
    }
}

static void the_binary_that_fits_is_found(void **state)
{
    struct fixture *f = *state;
    struct variant v;
    struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
    make_variant(&v);
    v.binaries[0].driver = "0.9";
    v.programs[PROGRAM_SMALL].num_binaries = 2;
    use_variant(f, &v);
    fixture_run(f, &gemm);
    expect_builds(1, 0, 1);
    kiln_context_destroy(&f->kiln);
}

/* Refused when it is loaded, when it is built, or for want of a kernel: the source serves. */
static void a_refused_binary_falls_back_to_source(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
    for (unsigned i = 0; i < 3; i++) {
        struct variant v;
        make_variant(&v);
        unsigned long sources = stub_calls("clCreateProgramWithSource");
        v.data[0] = i == 0 ? 'X' : v.data[0];
        v.binaries[0].data_hash = kiln_hash(KILN_HASH_BEGIN, v.data, v.binaries[0].size);
        if (i == 1) {
            stub_fail("clBuildProgram", 1, CL_INVALID_BINARY);
        }
        if (i == 2) {
            memcpy(strstr(v.data, "tn_mul"), "other_", 6);
            v.binaries[0].data_hash = kiln_hash(KILN_HASH_BEGIN, v.data, v.binaries[0].size);
        }
        use_variant(f, &v);
        fixture_run(f, &gemm);
        fixture_only("small_mul");
        assert_int_equal(stub_calls("clCreateProgramWithBinary"), i + 1);
        assert_int_equal(stub_calls("clCreateProgramWithSource"), sources + 1);
        stub_clear_plans();
        kiln_context_destroy(&f->kiln);
        assert_int_equal(stub_live(STUB_PROGRAM), 0);
    }
}

/* A driver may not survive a binary that is not what it wrote: none with a changed bit is shown to
 * it. */
static void a_damaged_binary_is_not_loaded(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
    struct variant v;
    make_variant(&v);
    const size_t size = v.binaries[0].size;
    for (size_t i = 0; i < size; i += size / 16) {
        make_variant(&v);
        v.data[i] ^= 1;
        use_variant(f, &v);
        fixture_run(f, &gemm);
        fixture_only("small_mul");
        kiln_context_destroy(&f->kiln);
    }
    make_variant(&v);
    v.binaries[0].size--;
    use_variant(f, &v);
    fixture_run(f, &gemm);
    assert_int_equal(stub_calls("clCreateProgramWithBinary"), 0);
    kiln_context_destroy(&f->kiln);
}

/* A changed character, a hash or a length that is another text's: the compiler is not asked, and
 * the next recipe serves. A binary needs no text. */
static void a_damaged_text_is_not_compiled(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
    struct variant v;
    char *text = malloc(tuned_bundle.pool.text_bytes);
    assert_non_null(text);
    for (int fault = 0; fault < 4; fault++) {
        make_variant(&v);
        memcpy(text, tuned_bundle.pool.text, tuned_bundle.pool.text_bytes);
        const uint32_t first = tuned_bundle.pool.symbols[v.programs[PROGRAM_SMALL].first_symbol];
        text[tuned_bundle.pool.lines[first]] ^= fault == 0;
        v.programs[PROGRAM_SMALL].hash += fault == 1;
        v.programs[PROGRAM_SMALL].text_bytes += fault == 2;
        v.programs[PROGRAM_SMALL].text_bytes -= fault == 3;
        v.programs[PROGRAM_SMALL].num_binaries = 0;
        v.bundle.pool.text = text;
        use_variant(f, &v);
        fixture_run(f, &gemm);
        fixture_only("aligned_mul");
        assert_int_equal(stub_calls("clCreateProgramWithSource"), fault + 1);
        kiln_context_destroy(&f->kiln);
    }
    make_variant(&v);
    text[0] = '\0';
    v.bundle.pool.text = text;
    use_variant(f, &v);
    fixture_run(f, &gemm);
    fixture_only("small_mul");
    assert_int_equal(stub_calls("clCreateProgramWithBinary"), 1);
    kiln_context_destroy(&f->kiln);
    free(text);
}

/* An LZ4 block of literals alone; freed by the caller. */
static unsigned char *block_of(const char *text, uint32_t bytes, uint32_t *packed_bytes)
{
    unsigned char *block = malloc(bytes + bytes / 255 + 2);
    size_t length = 0;
    uint32_t rest = bytes - 15;
    assert_non_null(block);
    assert_true(bytes >= 15);
    block[length++] = 0xf0;
    for (; rest >= 255; rest -= 255) {
        block[length++] = 255;
    }
    block[length++] = (unsigned char) rest;
    memcpy(block + length, text, bytes);
    *packed_bytes = (uint32_t) (length + bytes);
    return block;
}

/* A program's text of a pool that is packed. With one character changed the next recipe serves;
 * where the block is cut, the next bundle. */
static void a_packed_text_is_unpacked_or_not_compiled(void **state)
{
    static const char *const served[] = { "small_mul", "aligned_mul", "generic_s_nn" };
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
    struct variant v;
    const struct kiln_pool *pool = &tuned_bundle.pool;
    for (int fault = 0; fault < 3; fault++) {
        uint32_t packed_bytes = 0;
        unsigned char *block = block_of(pool->text, pool->text_bytes, &packed_bytes);
        make_variant(&v);
        const uint32_t first = pool->symbols[v.programs[PROGRAM_SMALL].first_symbol];
        block[packed_bytes - pool->text_bytes + pool->lines[first]] ^= fault == 1;
        v.programs[PROGRAM_SMALL].num_binaries = 0;
        v.bundle.pool.text = NULL;
        v.bundle.pool.packed = block;
        v.bundle.pool.packed_bytes = packed_bytes - (fault == 2);
        use_variant(f, &v);
        fixture_run(f, &gemm);
        fixture_only(served[fault]);
        kiln_context_destroy(&f->kiln);
        free(block);
    }
}

static void without_binary_and_source_the_next_recipe_serves(void **state)
{
    struct fixture *f = *state;
    struct variant v;
    struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
    make_variant(&v);
    v.binaries[0].driver = "0.9";
    v.programs[PROGRAM_SMALL].num_symbols = 0;
    use_variant(f, &v);
    fixture_run(f, &gemm);
    fixture_only("aligned_mul");
    gemm.transa = KILN_TRANS;
    fixture_run(f, &gemm);
    fixture_only("generic_s_tn");
    kiln_context_destroy(&f->kiln);
}

static void a_refused_source_falls_to_the_next_recipe(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 1024, 1024, 1024);
    stub_fail_build(MARK_ALIGNED, CL_BUILD_PROGRAM_FAILURE);
    stub_fail_build(MARK_PACKED, CL_COMPILER_NOT_AVAILABLE);
    for (int i = 0; i < 3; i++) {
        fixture_run(f, &gemm);
        fixture_expect("pack_b_64", "mul_64", NULL);
    }
    expect_builds(0, 3, 3);
    stub_clear_plans(); /* what was refused stays refused */
    fixture_run(f, &gemm);
    fixture_expect("pack_b_64", "mul_64", NULL);
}

/* What can lack memory on the way to a kernel. */
static const char *const preparing[] = {
    "clCreateProgramWithSource", "clBuildProgram", "clCreateKernel", "clGetKernelWorkGroupInfo",
    "clGetKernelInfo", "clGetKernelArgInfo",
};
enum { NUM_PREPARING = sizeof preparing / sizeof *preparing };
static const cl_int passing[] = {
    CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_RESOURCES, CL_MEM_OBJECT_ALLOCATION_FAILURE,
};

static void while_memory_is_lacking_the_code_says_so(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 1024, 1024, 1024);
    for (size_t i = 0; i < NUM_PREPARING * 3; i++) {
        const enum kiln_status expected = (enum kiln_status) passing[i / NUM_PREPARING];
        char text[1024];
        size_t bytes = 1;
        kiln_context_destroy(&f->kiln);
        fixture_new_context(f, NULL);
        stub_clear_records();
        stub_fail(preparing[i % NUM_PREPARING], 0, passing[i / NUM_PREPARING]);
        assert_int_equal(kiln_gemm_enqueue(f->kiln, &gemm, f->queue, 0, NULL, NULL), expected);
        assert_int_equal(kiln_gemm_explain(f->kiln, &gemm, text, sizeof text), expected);
        assert_int_equal(kiln_gemm_workspace_bytes(f->kiln, &gemm, &bytes), expected);
        assert_int_equal(bytes, 0);
        assert_int_equal(stub_num_records(), 0);
        stub_clear_plans();
        fixture_run(f, &gemm);
        fixture_only("aligned_mul");
    }
}

/* The call does with another recipe; the next one has its own again. */
static void a_moment_without_memory_disables_nothing(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 1024, 1024, 1024);
    for (size_t i = 0; i < NUM_PREPARING * 3; i++) {
        kiln_context_destroy(&f->kiln);
        fixture_new_context(f, NULL);
        stub_fail(preparing[i % NUM_PREPARING], 1, passing[i / NUM_PREPARING]);
        fixture_run(f, &gemm);
        fixture_expect("pack_a", "pack_b", "packed_mul", NULL);
        fixture_run(f, &gemm);
        fixture_only("aligned_mul");
        stub_clear_plans();
    }
}

/* A binary that can not be loaded for the moment is no reason to compile for good. */
static void a_moment_without_memory_does_not_cost_the_binary(void **state)
{
    static const char *const loading[] = { "clCreateProgramWithBinary", "clBuildProgram",
        "clCreateKernel" };
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
    for (size_t i = 0; i < 3; i++) {
        struct variant v;
        make_variant(&v);
        kiln_context_destroy(&f->kiln);
        use_variant(f, &v);
        stub_fail(loading[i], 0, CL_OUT_OF_HOST_MEMORY);
        (void) kiln_gemm_enqueue(f->kiln, &gemm, f->queue, 0, NULL, NULL);
        stub_clear_plans();
        unsigned long sources = stub_calls("clCreateProgramWithSource");
        fixture_run(f, &gemm);
        fixture_only("small_mul");
        assert_int_equal(stub_calls("clCreateProgramWithSource"), sources);
        kiln_context_destroy(&f->kiln);
    }
}

/* A table that is not the kernel's own: another count, a number for memory and the reverse, another
 * size. */
static void a_recipe_with_other_arguments_is_passed_over(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
    for (int fault = 0; fault < 4; fault++) {
        /* Where a handle has the size of a number, no driver can tell them apart. */
        if (sizeof(cl_mem) == sizeof(cl_int) && (fault == 1 || fault == 2))
            continue;
        struct kiln_recipe recipes[NUM_TUNED];
        struct kiln_bundle bundle = tuned_bundle;
        memcpy(recipes, tuned_recipes, sizeof recipes);
        struct kiln_stage stage = recipes[TUNED_SMALL].stages[0];
        stage.num_args -= fault == 0;
        stage.args[PLAIN_M] = fault == 1 ? KILN_ARG_A : stage.args[PLAIN_M];
        stage.args[PLAIN_B] = fault == 2 ? KILN_ARG_LDB : stage.args[PLAIN_B];
        recipes[TUNED_SMALL].index_bits = fault == 3 ? 64 : 32;
        recipes[TUNED_SMALL].stages = &stage;
        bundle.recipes = recipes;
        fixture_new_context(f, &(struct kiln_context_params){ .bundle = &bundle });
        for (int i = 0; i < 2; i++) {
            fixture_run(f, &gemm);
            assert_string_not_equal(stub_record_at(0)->entry, "small_mul");
        }
        kiln_context_destroy(&f->kiln);
    }
}

static void a_refused_bundle_falls_to_the_generic_one(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 1024, 1024, 1024);
    stub_fail_build(MARK_ALIGNED, CL_BUILD_PROGRAM_FAILURE);
    stub_fail_build(MARK_PACKED, CL_BUILD_PROGRAM_FAILURE);
    stub_fail_build(MARK_PACKED_64, CL_BUILD_PROGRAM_FAILURE);
    stub_fail_build(MARK_SMALL, CL_BUILD_PROGRAM_FAILURE);
    fixture_run(f, &gemm);
    fixture_only("generic_s_nn");
    fixture_expect_recipe(f, &gemm, "generic", "generic_s_nn");
}

static void a_refused_kernel_falls_to_the_next_recipe(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 1024, 1024, 1024);
    stub_fail("clCreateKernel", 1, CL_INVALID_KERNEL_DEFINITION);
    fixture_run(f, &gemm);
    fixture_expect("pack_a", "pack_b", "packed_mul", NULL);
}

static void when_nothing_builds_there_is_no_kernel(void **state)
{
    struct fixture *f = *state;
    struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
    cl_event done = NULL;
    size_t bytes;
    char text[1024];
    stub_fail("clBuildProgram", 0, CL_BUILD_PROGRAM_FAILURE);
    assert_int_equal(kiln_gemm_enqueue(f->kiln, &gemm, f->queue, 0, NULL, &done), KILN_NO_KERNEL);
    assert_null(done);
    assert_int_equal(stub_num_records(), 0);
    assert_int_equal(kiln_gemm_workspace_bytes(f->kiln, &gemm, &bytes), KILN_NO_KERNEL);
    assert_int_equal(kiln_gemm_explain(f->kiln, &gemm, text, sizeof text), KILN_NO_KERNEL);
    struct kiln_context *kiln = NULL;
    struct kiln_context_params params = { .build = KILN_BUILD_NOW };
    assert_int_equal(kiln_context_create(f->cl, f->device, &params, &kiln), KILN_NO_KERNEL);
    assert_null(kiln);
}

static void note_message(void *user, const char *message)
{
    char *all = user;
    size_t length = strlen(all);
    assert_true(*message != '\0' && message[strlen(message) - 1] != '\n');
    if (length + strlen(message) + 2 < MAX_TEXT) {
        strcat(all, message);
        strcat(all, "\n");
    }
}

static void refusals_are_logged(void **state)
{
    struct fixture *f = *state;
    char all[MAX_TEXT] = "";
    struct kiln_gemm gemm = fixture_gemm(f, 1024, 1024, 1024);
    fixture_new_context(f, &(struct kiln_context_params){ .log = note_message, .log_user = all });
    stub_fail_build(MARK_ALIGNED, CL_BUILD_PROGRAM_FAILURE);
    stub_limit_kernel("packed_mul", 8);
    fixture_run(f, &gemm);
    assert_non_null(strstr(all, "CL_BUILD_PROGRAM_FAILURE"));
    assert_non_null(strstr(all, "stub: refused as planned"));
    assert_non_null(strstr(all, "tuned_aligned"));
    assert_non_null(strstr(all, "tuned_packed"));
    kiln_context_destroy(&f->kiln);
}

/* What the tuner embeds is what the next context loads. */
static void binaries_make_the_round_trip(void **state)
{
    struct fixture *f = *state;
    struct variant v;
    unsigned char *data = NULL;
    size_t size = 0;
    struct kiln_gemm gemm = fixture_gemm(f, 64, 64, 64);
    make_variant(&v);
    assert_int_equal(kiln_context_binary(f->kiln, PROGRAM_SMALL, &data, &size), KILN_SUCCESS);
    assert_int_equal(size, v.binaries[0].size);
    assert_memory_equal(data, v.data, size);
    v.binaries[0].data = data;
    use_variant(f, &v);
    fixture_run(f, &gemm);
    assert_int_equal(stub_calls("clCreateProgramWithBinary"), 1);
    kiln_context_destroy(&f->kiln);
    free(data);
}

static void binaries_that_are_not_there_say_so(void **state)
{
    struct fixture *f = *state;
    unsigned char *data = NULL;
    size_t size = 1;
    assert_int_equal(kiln_context_binary(f->kiln, NUM_TUNED_PROGRAMS, &data, &size),
            KILN_INVALID_ARGUMENT);
    assert_int_equal(kiln_context_binary(NULL, 0, &data, &size), KILN_INVALID_ARGUMENT);
    stub_fail_build(MARK_SMALL, CL_BUILD_PROGRAM_FAILURE);
    assert_int_equal(kiln_context_binary(f->kiln, PROGRAM_SMALL, &data, &size), KILN_NO_KERNEL);
    stub_fail("clGetProgramInfo", 3, CL_OUT_OF_HOST_MEMORY);
    assert_int_not_equal(kiln_context_binary(f->kiln, PROGRAM_PACKED, &data, &size), KILN_SUCCESS);
    assert_null(data);
    assert_int_equal(size, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_test_bundle_has_its_hashes),
        TEST(a_program_is_built_once_at_first_use),
        TEST(a_program_can_be_built_at_creation),
        TEST(a_bundle_without_tables_can_be_built_at_creation),
        TEST(no_call_builds_what_creation_has_built),
        TEST(creation_fails_while_memory_is_lacking),
        TEST(what_lacks_memory_for_ever_costs_little),
        TEST(a_lack_that_lasts_ends_with_the_next_call),
        TEST(sizes_do_for_what_comes_back),
        TEST(a_refused_bundle_does_not_fail_the_creation),
        TEST(a_matching_binary_needs_no_source),
        TEST(any_difference_makes_a_binary_unfit),
        TEST(what_a_binary_does_not_name_may_be_any),
        TEST(a_binary_may_be_for_a_compute_capability),
        TEST(the_binary_that_fits_is_found),
        TEST(a_refused_binary_falls_back_to_source),
        TEST(without_binary_and_source_the_next_recipe_serves),
        TEST(a_refused_source_falls_to_the_next_recipe),
        TEST(a_damaged_binary_is_not_loaded),
        TEST(a_damaged_text_is_not_compiled),
        TEST(a_packed_text_is_unpacked_or_not_compiled),
        TEST(while_memory_is_lacking_the_code_says_so),
        TEST(a_moment_without_memory_disables_nothing),
        TEST(a_moment_without_memory_does_not_cost_the_binary),
        TEST(a_recipe_with_other_arguments_is_passed_over),
        TEST(a_refused_bundle_falls_to_the_generic_one),
        TEST(a_refused_kernel_falls_to_the_next_recipe),
        TEST(when_nothing_builds_there_is_no_kernel),
        TEST(refusals_are_logged),
        TEST(binaries_make_the_round_trip),
        TEST(binaries_that_are_not_there_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
