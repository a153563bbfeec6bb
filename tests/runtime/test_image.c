/* test_image.c: a recipe that reads the workspace as an image. It is the packed recipe of the tuned
 * bundle, whose regions nothing but the workspace holds, with the image in the place of A in its
 * last stage; the generic bundle serves what it cannot. */
#include "fixture.h"

#include "internal.h"

#include <string.h>

enum { PIXELS = 16, NUM_STAGES = 3 };

struct world {
    struct fixture *f;
    struct kiln_stage stages[NUM_STAGES];
    struct kiln_region regions[2];
    struct kiln_recipe recipe;
    struct kiln_bundle bundle;
};

/* Regions by their number, which no pack can take the place of. */
static void name_regions(struct kiln_stage *stage)
{
    stage->prepares = KILN_PREPARED_NONE;
    for (unsigned i = 0; i < stage->num_args; i++) {
        uint8_t *code = &stage->args[i];
        *code = *code == KILN_ARG_PACKED_A || *code == KILN_ARG_PACKED_B ? KILN_ARG_WORKSPACE
              : *code == KILN_ARG_PACKED_A_AT                            ? KILN_ARG_REGION_0
              : *code == KILN_ARG_PACKED_B_AT                            ? KILN_ARG_REGION_1
                                                                         : *code;
    }
}

static int setup(void **state)
{
    static struct world world;
    struct kiln_stage *last = &world.stages[NUM_STAGES - 1];
    const struct kiln_recipe *packed = &tuned_recipes[TUNED_PACKED];
    void *fixture;
    int error = fixture_setup(&fixture);
    world.f = fixture;
    assert_int_equal(packed->num_stages, NUM_STAGES);
    memcpy(world.stages, packed->stages, sizeof world.stages);
    memcpy(world.regions, packed->regions, sizeof world.regions);
    for (unsigned i = 0; i < NUM_STAGES; i++) {
        name_regions(&world.stages[i]);
    }
    for (unsigned i = 0; i < 2; i++) {
        world.regions[i].holds = KILN_PREPARED_NONE;
    }
    assert_int_equal(last->args[MUL_WORK], KILN_ARG_WORKSPACE);
    last->args[MUL_WORK] = KILN_ARG_WORKSPACE_IMAGE;
    world.recipe = *packed;
    world.recipe.stages = world.stages;
    world.recipe.regions = world.regions;
    world.bundle = tuned_bundle;
    world.bundle.num_recipes = 1;
    world.bundle.recipes = &world.recipe;
    const struct kiln_context_params params = { .bundle = &world.bundle };
    fixture_new_context(world.f, &params);
    *state = &world;
    return error;
}

static int teardown(void **state)
{
    void *fixture = ((struct world *) *state)->f;
    return fixture_teardown(&fixture);
}

/* The image that the last launch got; it must be over that buffer. */
static size_t pixels_over(cl_mem workspace)
{
    const struct stub_record *last = stub_record_at(stub_num_records() - 1);
    cl_mem buffer = NULL;
    assert_string_equal(last->entry, "packed_mul");
    size_t pixels = stub_image_pixels(stub_record_mem(last, MUL_WORK), &buffer);
    assert_ptr_equal(buffer, workspace);
    return pixels;
}

/* Both packing kernels get it as the same argument. */
static cl_mem workspace_of(size_t record)
{
    _Static_assert((int) PACK_A_WORK == (int) PACK_B_WORK, "the place of the workspace");
    return stub_record_mem(stub_record_at(record), PACK_A_WORK);
}

static void an_image_lies_over_the_workspace(void **state)
{
    const struct world *world = *state;
    struct kiln_gemm gemm = fixture_gemm(world->f, 16, 16, 64);
    size_t second = 0, bytes = test_bundle_packed_bytes(16, 16, 64, &second);
    for (int i = 0; i < 2; i++) {
        fixture_run(world->f, &gemm);
        fixture_expect("pack_a", "pack_b", "packed_mul", NULL);
        assert_int_equal(pixels_over(workspace_of(0)), bytes / PIXELS);
    }
}

/* Or the fixture's teardown would find it. */
static void the_image_goes_with_the_call(void **state)
{
    const struct world *world = *state;
    struct kiln_gemm gemm = fixture_gemm(world->f, 16, 16, 64);
    fixture_run(world->f, &gemm);
    cl_mem image = stub_record_mem(stub_record_at(2), MUL_WORK);
    assert_int_equal(stub_refs(image), 0);
    assert_int_equal(stub_calls("clSetEventCallback"), 1);
    stub_fail("clEnqueueNDRangeKernel", 3, CL_OUT_OF_RESOURCES);
    fixture_run(world->f, &gemm);
    assert_int_equal(stub_calls("clCreateImage"), 2);
}

/* The pixels count from the start of the buffer, as the regions do. */
static void the_callers_workspace_is_read_from_its_start(void **state)
{
    const struct world *world = *state;
    struct kiln_gemm gemm = fixture_gemm(world->f, 16, 16, 64);
    size_t second = 0, bytes = test_bundle_packed_bytes(16, 16, 64, &second);
    gemm.workspace_offset = 2 * KILN_REGION_ALIGN;
    gemm.workspace = stub_make_buffer(world->f->cl, gemm.workspace_offset + bytes);
    fixture_run(world->f, &gemm);
    assert_int_equal(pixels_over(gemm.workspace), (gemm.workspace_offset + bytes) / PIXELS);
    clReleaseMemObject(gemm.workspace);
}

/* Nothing is packed, but an image without pixels cannot be made. */
static void there_is_a_pixel_when_k_is_zero(void **state)
{
    const struct world *world = *state;
    struct kiln_gemm gemm = fixture_gemm(world->f, 16, 16, 0);
    size_t bytes = 0;
    gemm.beta = 2;
    assert_int_equal(kiln_gemm_workspace_bytes(world->f->kiln, &gemm, &bytes), KILN_SUCCESS);
    assert_int_equal(bytes, PIXELS);
    fixture_run(world->f, &gemm);
    fixture_expect("pack_b", "packed_mul", NULL);
    assert_int_equal(pixels_over(workspace_of(0)), 1);
}

/* The image is of the workspace, which is not there when an operand is packed. */
static void packing_makes_no_image(void **state)
{
    const struct world *world = *state;
    struct kiln_recipe recipe = world->recipe;
    struct kiln_stage stages[NUM_STAGES];
    struct kiln_region regions[2];
    struct kiln_bundle bundle = world->bundle;
    struct kiln_pack made;
    memcpy(regions, tuned_recipes[TUNED_PACKED].regions, sizeof regions);
    memcpy(stages, tuned_recipes[TUNED_PACKED].stages, sizeof stages);
    stages[NUM_STAGES - 1].args[MUL_WORK] = KILN_ARG_WORKSPACE_IMAGE;
    recipe.stages = stages;
    recipe.regions = regions;
    bundle.recipes = &recipe;
    fixture_new_context(world->f, &(struct kiln_context_params){ .bundle = &bundle });
    struct kiln_gemm gemm = fixture_gemm(world->f, 16, 16, 64);
    cl_mem room = stub_make_buffer(world->f->cl, 1 << 20);
    assert_int_equal(kiln_pack_enqueue(world->f->kiln, &gemm, KILN_PACK_A, room, 0, world->f->queue,
                             0, NULL, NULL, &made),
            KILN_SUCCESS);
    fixture_expect("pack_a", NULL);
    assert_int_equal(stub_calls("clCreateImage"), 0);
    gemm.packed_a = &made;
    fixture_run(world->f, &gemm);
    fixture_expect("pack_b", "packed_mul", NULL);
    assert_int_equal(stub_calls("clCreateImage"), 1);
    clReleaseMemObject(room);
    kiln_context_destroy(&world->f->kiln);
}

/* It must outlive the kernels that read it; without a call back, only the context's end is sure. */
static void an_image_that_nobody_tells_of_goes_with_the_context(void **state)
{
    const struct world *world = *state;
    struct kiln_gemm gemm = fixture_gemm(world->f, 16, 16, 64);
    stub_fail("clSetEventCallback", 1, CL_OUT_OF_HOST_MEMORY);
    fixture_run(world->f, &gemm);
    cl_mem image = stub_record_mem(stub_record_at(2), MUL_WORK);
    assert_int_equal(stub_refs(image), 1);
    kiln_context_destroy(&world->f->kiln);
    assert_int_equal(stub_refs(image), 0);
}

static void expect_generic(const struct world *world, const struct kiln_gemm *gemm)
{
    fixture_run(world->f, gemm);
    assert_string_equal(stub_record_at(stub_num_records() - 1)->entry, "generic_s_nn");
}

static void what_is_too_large_for_an_image_goes_elsewhere(void **state)
{
    const struct world *world = *state;
    struct kiln_gemm gemm = fixture_gemm(world->f, 16, 16, 64);
    size_t second = 0, bytes = test_bundle_packed_bytes(16, 16, 64, &second);
    world->f->kiln->facts.max_pixels = bytes / PIXELS;
    fixture_run(world->f, &gemm);
    fixture_expect("pack_a", "pack_b", "packed_mul", NULL);
    world->f->kiln->facts.max_pixels--;
    expect_generic(world, &gemm);
    world->f->kiln->facts.max_pixels = 0;
    expect_generic(world, &gemm);
}

static void an_image_that_cannot_be_made_is_no_failure(void **state)
{
    static const cl_int codes[] = { CL_IMAGE_FORMAT_NOT_SUPPORTED, CL_INVALID_IMAGE_SIZE,
        CL_MEM_OBJECT_ALLOCATION_FAILURE };
    const struct world *world = *state;
    struct kiln_gemm gemm = fixture_gemm(world->f, 16, 16, 64);
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        stub_fail("clCreateImage", 1, codes[i]);
        expect_generic(world, &gemm);
        stub_clear_plans();
    }
    fixture_run(world->f, &gemm);
    fixture_expect("pack_a", "pack_b", "packed_mul", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_image_lies_over_the_workspace, setup, teardown),
        cmocka_unit_test_setup_teardown(the_image_goes_with_the_call, setup, teardown),
        cmocka_unit_test_setup_teardown(the_callers_workspace_is_read_from_its_start, setup,
                teardown),
        cmocka_unit_test_setup_teardown(there_is_a_pixel_when_k_is_zero, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_too_large_for_an_image_goes_elsewhere, setup,
                teardown),
        cmocka_unit_test_setup_teardown(an_image_that_cannot_be_made_is_no_failure, setup,
                teardown),
        cmocka_unit_test_setup_teardown(packing_makes_no_image, setup, teardown),
        cmocka_unit_test_setup_teardown(an_image_that_nobody_tells_of_goes_with_the_context, setup,
                teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
