/* test_embedded.c: the embedded profile: a device without a compiler is served from binaries alone,
 * and what its driver refuses leaves the call to the next recipe. */
#include "fixture.h"

#include "internal.h"
#include "reader.h"

#include <stdio.h>
#include <string.h>

enum { MAX_BINARY = 1024, MAX_LOG = 16384, NUM_RECIPES = 4 };

/* What becomes of a program's binary, and so of the recipe that needs it. */
enum fate {
    FATE_GOOD,
    FATE_ABSENT,                       /* source alone */
    FATE_OTHER_DRIVER,
    FATE_DAMAGED,
    FATE_REFUSED,                      /* CL_INVALID_BINARY */
    FATE_DOUBTFUL,                     /* a program, of which the status says CL_INVALID_BINARY */
    FATE_NO_BUILD,
    FATE_NO_KERNEL,
    NUM_FATES
};

#define UNBUILDABLE "/* refused */"

/* The recipes for NN in single precision, each of a program of its own: what they launch last. */
static const char *const last_stage[NUM_RECIPES] = { "aligned_mul", "packed_mul", "mul_64",
    "small_mul" };

/* The tuned bundle with binaries for its programs, and with its source. */
struct world {
    struct fixture *f;
    struct stub_facts facts;
    cl_device_id device;
    cl_context cl;
    cl_command_queue queue;
    cl_mem c;
    struct kiln_context *kiln;
    struct kiln_bundle bundle;
    struct kiln_program programs[NUM_TUNED_PROGRAMS];
    struct kiln_binary binaries[NUM_TUNED_PROGRAMS];
    char data[NUM_TUNED_PROGRAMS][MAX_BINARY];
    char log[MAX_LOG];
};

static struct world the_world;

static void note(void *user, const char *message)
{
    struct world *w = user;
    size_t length = strlen(w->log);
    assert_true(length + strlen(message) + 2 < sizeof w->log);
    snprintf(w->log + length, sizeof w->log - length, "%s\n", message);
}

static struct world *open_world(void **state, cl_bool compiler, const char *extensions)
{
    struct world *w = &the_world;
    memset(w, 0, sizeof *w);
    w->f = *state;
    w->facts = stub_default_facts();
    w->facts.profile = "EMBEDDED_PROFILE";
    w->facts.extensions = extensions;
    w->facts.compiler_available = w->facts.linker_available = compiler;
    w->facts.max_pixels = 0;
    w->device = stub_make_device(&w->facts);
    w->cl = stub_make_context(1, &w->device);
    w->queue = stub_make_queue(w->cl, w->device, false);
    w->c = stub_make_buffer(w->cl, (size_t) 1 << 30);
    w->bundle = tuned_bundle;
    w->bundle.programs = w->programs;
    memcpy(w->programs, tuned_bundle.programs, sizeof w->programs);
    return w;
}

static void close_world(struct world *w)
{
    kiln_context_destroy(&w->kiln);
    assert_int_equal(stub_live(STUB_PROGRAM), 0);
    assert_int_equal(stub_live(STUB_KERNEL), 0);
    clReleaseMemObject(w->c);
    assert_int_equal(stub_refs(w->device), 1);
    assert_int_equal(stub_refs(w->cl), 1);
}

/* Gives a program the binary that the fake driver would make of it, spoilt as the fate wants. */
static void set_fate(struct world *w, unsigned program, enum fate fate)
{
    struct kiln_program *to = &w->programs[program];
    char *data = w->data[program];
    size_t size = strlen("STUBBIN:") + to->text_bytes;
    assert_true(size + sizeof UNBUILDABLE < MAX_BINARY);
    memcpy(data, fate == FATE_DOUBTFUL ? "STUBODD:" : "STUBBIN:", 8);
    kiln_pool_copy(&tuned_bundle.pool, to, data + 8);
    data[0] = fate == FATE_REFUSED ? 'X' : data[0];
    if (fate == FATE_NO_BUILD) {
        memcpy(data + size, UNBUILDABLE, strlen(UNBUILDABLE));
        size += strlen(UNBUILDABLE);
    }
    for (size_t i = 0; i < size && fate == FATE_NO_KERNEL; i++) {
        data[i] = data[i] == '(' ? '[' : data[i];
    }
    w->binaries[program] = (struct kiln_binary){ .platform = "Stub Platform",
        .device = "Stub Device",
        .driver = fate == FATE_OTHER_DRIVER ? "0.9" : "1.0",
        .source_hash = to->hash,
        .data_hash = kiln_hash(KILN_HASH_BEGIN, data, size) + (fate == FATE_DAMAGED),
        .data = (const unsigned char *) data,
        .size = size };
    to->binaries = &w->binaries[program];
    to->num_binaries = fate != FATE_ABSENT;
}

static enum kiln_status create(struct world *w, enum kiln_build build)
{
    const struct kiln_context_params params = { .bundle = &w->bundle,
        .log = note,
        .log_user = w,
        .build = build };
    kiln_context_destroy(&w->kiln);
    w->log[0] = '\0';
    stub_clear_plans();
    stub_fail_build(UNBUILDABLE, CL_BUILD_PROGRAM_FAILURE);
    return kiln_context_create(w->cl, w->device, &params, &w->kiln);
}

static struct kiln_gemm gemm_of(const struct world *w, size_t size)
{
    return (struct kiln_gemm){ .m = size,
        .n = size,
        .k = size,
        .alpha = 1,
        .a = w->c,
        .b = w->c,
        .c = w->c };
}

static enum kiln_status run(struct world *w, const struct kiln_gemm *gemm)
{
    stub_clear_records();
    return kiln_gemm_enqueue(w->kiln, gemm, w->queue, 0, NULL, NULL);
}

/* Which recipe has served the call. */
static unsigned who_served(void)
{
    const char *last = stub_record_at(stub_num_records() - 1)->entry;
    for (unsigned i = 0; i < NUM_RECIPES; i++) {
        if (strcmp(last, last_stage[i]) == 0) {
            return i;
        }
    }
    fail_msg("%s", last);
    return NUM_RECIPES;
}

/* The recipes in the order in which a shape tries them: each time the first one's binary goes. */
static void find_order(struct world *w, const struct kiln_gemm *gemm, unsigned order[NUM_RECIPES])
{
    unsigned seen = 0;
    for (unsigned i = 0; i < NUM_RECIPES; i++) {
        set_fate(w, i, FATE_GOOD);
    }
    for (unsigned i = 0; i < NUM_RECIPES; i++) {
        assert_int_equal(create(w, KILN_BUILD_AT_FIRST_USE), KILN_SUCCESS);
        assert_int_equal(run(w, gemm), KILN_SUCCESS);
        order[i] = who_served();
        assert_false(seen & 1u << order[i]);
        seen |= 1u << order[i];
        set_fate(w, order[i], FATE_REFUSED);
    }
}

static void expect_nothing(struct world *w, const struct kiln_gemm *gemm)
{
    char text[1024];
    size_t bytes = 1;
    assert_int_equal(run(w, gemm), KILN_NO_COMPILER);
    assert_int_equal(stub_num_records(), 0);
    assert_int_equal(kiln_gemm_explain(w->kiln, gemm, text, sizeof text), KILN_NO_COMPILER);
    assert_int_equal(kiln_gemm_workspace_bytes(w->kiln, gemm, &bytes), KILN_NO_COMPILER);
    assert_int_equal(bytes, 0);
}

/* One way in which the binaries of all four recipes fare. */
static void expect_served(struct world *w, const struct kiln_gemm *gemm,
        const unsigned order[NUM_RECIPES], unsigned fates)
{
    unsigned served = NUM_RECIPES;
    bool any_fits = false;
    for (unsigned i = 0; i < NUM_RECIPES; i++, fates /= NUM_FATES) {
        const enum fate fate = (enum fate)(fates % NUM_FATES);
        set_fate(w, order[i], fate);
        served = served == NUM_RECIPES && fate == FATE_GOOD ? i : served;
        any_fits = any_fits || (fate != FATE_ABSENT && fate != FATE_OTHER_DRIVER);
    }
    const enum kiln_status status = create(w, KILN_BUILD_AT_FIRST_USE);
    assert_non_null(strstr(w->log, "the device has no compiler"));
    if (!any_fits) {
        assert_int_equal(status, KILN_NO_COMPILER);
        assert_non_null(strstr(w->log, "no bundle has a binary for the device"));
        return;
    }
    assert_int_equal(status, KILN_SUCCESS);
    for (int twice = 0; twice < 2; twice++) {
        if (served < NUM_RECIPES) {
            assert_int_equal(run(w, gemm), KILN_SUCCESS);
            assert_int_equal(who_served(), order[served]);
        } else {
            expect_nothing(w, gemm);
        }
    }
    kiln_context_destroy(&w->kiln);
}

/* Every fate of every binary, in two orders of the recipes. */
static void sweep(void **state, size_t size)
{
    struct world *w = open_world(state, CL_FALSE, "cles_khr_int64");
    const struct kiln_gemm gemm = gemm_of(w, size);
    unsigned order[NUM_RECIPES], num = 1;
    find_order(w, &gemm, order);
    for (unsigned i = 0; i < NUM_RECIPES; i++) {
        num *= NUM_FATES;
    }
    for (unsigned fates = 0; fates < num; fates++) {
        expect_served(w, &gemm, order, fates);
    }
    assert_int_equal(stub_calls("clCreateProgramWithSource"), 0);
    close_world(w);
}

static void the_first_good_binary_serves_large_shapes(void **state)
{
    sweep(state, 1024);
}

static void the_first_good_binary_serves_small_shapes(void **state)
{
    sweep(state, 64);
}

/* The library as it is built by default has source alone. */
static void source_alone_is_no_use_without_a_compiler(void **state)
{
    struct world *w = open_world(state, CL_FALSE, "cles_khr_int64");
    for (int build = 0; build < 2; build++) {
        assert_int_equal(create(w, (enum kiln_build) build), KILN_NO_COMPILER);
        assert_null(w->kiln);
        assert_non_null(strstr(w->log, "no embedded binary fits, and the device has no compiler"));
        assert_non_null(strstr(w->log, "no bundle has a binary for the device"));
    }
    assert_int_equal(stub_calls("clCreateProgramWithSource"), 0);
    assert_int_equal(stub_calls("clBuildProgram"), 0);
    close_world(w);
}

/* Other precisions and transposes, of which there are no binaries. */
static void what_has_no_binary_is_told(void **state)
{
    struct world *w = open_world(state, CL_FALSE, "cles_khr_int64");
    struct kiln_gemm gemm = gemm_of(w, 64);
    set_fate(w, PROGRAM_SMALL, FATE_GOOD);
    assert_int_equal(create(w, KILN_BUILD_NOW), KILN_SUCCESS);
    assert_int_equal(run(w, &gemm), KILN_SUCCESS);
    gemm.precision = KILN_HALF;
    expect_nothing(w, &gemm);
    gemm.precision = KILN_SINGLE;
    gemm.transb = KILN_TRANS;
    expect_nothing(w, &gemm);
    gemm.transa = KILN_TRANS;
    gemm.transb = KILN_NO_TRANS; /* a recipe of the same program */
    assert_int_equal(run(w, &gemm), KILN_SUCCESS);
    assert_int_equal(stub_calls("clCreateProgramWithSource"), 0);
    set_fate(w, PROGRAM_SMALL, FATE_NO_BUILD);
    assert_int_equal(create(w, KILN_BUILD_NOW), KILN_NO_COMPILER);
    assert_non_null(strstr(w->log, "CL_BUILD_PROGRAM_FAILURE"));
    close_world(w);
}

/* A driver that says it has a compiler, and refuses to use it at either step. */
static void a_compiler_that_is_not_there_is_told(void **state)
{
    static const char *const refusing[] = { "clCreateProgramWithSource", "clBuildProgram" };
    struct world *w = open_world(state, CL_TRUE, "cles_khr_int64");
    const struct kiln_gemm gemm = gemm_of(w, 64);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(create(w, KILN_BUILD_AT_FIRST_USE), KILN_SUCCESS);
        stub_fail(refusing[i], 0, CL_COMPILER_NOT_AVAILABLE);
        assert_int_equal(run(w, &gemm), KILN_NO_KERNEL);
        assert_int_equal(stub_num_records(), 0);
        assert_non_null(strstr(w->log, "CL_COMPILER_NOT_AVAILABLE"));
    }
    close_world(w);
}

/* Kernels index with 64 bits. A driver that has made a binary of one can. */
static void without_long_binaries_alone_serve(void **state)
{
    struct world *w = open_world(state, CL_TRUE, "cl_khr_fp16");
    struct kiln_gemm gemm = gemm_of(w, 64);
    assert_int_equal(create(w, KILN_BUILD_AT_FIRST_USE), KILN_NO_KERNEL);
    assert_non_null(strstr(w->log, "the device has no 64-bit integers"));
    set_fate(w, PROGRAM_SMALL, FATE_GOOD);
    assert_int_equal(create(w, KILN_BUILD_AT_FIRST_USE), KILN_SUCCESS);
    assert_int_equal(run(w, &gemm), KILN_SUCCESS);
    assert_int_equal(stub_calls("clCreateProgramWithSource"), 0);
    close_world(w);
    w = open_world(state, CL_TRUE, "cl_khr_fp16 cles_khr_int64");
    gemm = gemm_of(w, 64);
    assert_int_equal(create(w, KILN_BUILD_AT_FIRST_USE), KILN_SUCCESS);
    assert_int_equal(run(w, &gemm), KILN_SUCCESS);
    assert_int_equal(stub_calls("clCreateProgramWithSource"), 1);
    close_world(w);
}

/* The least of the profile: no double, 1 KB of local memory, work-groups of one work-item. */
static void the_least_device_is_refused_by_the_call(void **state)
{
    struct world *w = open_world(state, CL_FALSE, "cles_khr_int64");
    struct stub_facts least = w->facts;
    struct kiln_gemm gemm = gemm_of(w, 64);
    least.local_bytes = 1024;
    least.double_config = 0;
    least.max_work_group = 1;
    for (int i = 0; i < 3; i++) {
        least.max_work_items[i] = 1;
    }
    clReleaseMemObject(w->c);
    w->device = stub_make_device(&least);
    w->cl = stub_make_context(1, &w->device);
    w->queue = stub_make_queue(w->cl, w->device, false);
    w->c = gemm.a = gemm.b = gemm.c = stub_make_buffer(w->cl, 1 << 20);
    for (unsigned i = 0; i < NUM_TUNED_PROGRAMS; i++) {
        set_fate(w, i, FATE_GOOD);
    }
    assert_int_equal(create(w, KILN_BUILD_AT_FIRST_USE), KILN_NO_COMPILER);
    assert_non_null(strstr(w->log, "its work-groups are too large"));
    close_world(w);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_first_good_binary_serves_large_shapes),
        TEST(the_first_good_binary_serves_small_shapes),
        TEST(source_alone_is_no_use_without_a_compiler),
        TEST(what_has_no_binary_is_told),
        TEST(a_compiler_that_is_not_there_is_told),
        TEST(without_long_binaries_alone_serve),
        TEST(the_least_device_is_refused_by_the_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
