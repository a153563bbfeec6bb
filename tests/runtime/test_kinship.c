/* test_kinship.c: which bundles serve a device that none, or another one, was tuned on. */
#include "fixture.h"

#include "internal.h"

#include <stdio.h>
#include <string.h>

extern const struct kiln_bundle kiln_bundle_nvidia;
extern const struct kiln_bundle kiln_bundle_nvidia_h100;
extern const struct kiln_bundle kiln_bundle_nvidia_h200;
extern const struct kiln_bundle kiln_bundle_pocl_avx2;
extern const struct kiln_bundle kiln_bundle_pocl_avx512;
extern const struct kiln_bundle kiln_bundle_pocl_avx512_intel;
extern const struct kiln_bundle kiln_bundle_generic;

static const struct kiln_bundle *const committed[] = {
    &kiln_bundle_pocl_avx512_intel, &kiln_bundle_pocl_avx512, &kiln_bundle_pocl_avx2,
    &kiln_bundle_nvidia_h200, &kiln_bundle_generic, NULL};

/* Bundles without recipes, of made-up devices. The capability is that of the trait. */
#define NVIDIA(bundle_name, units, kib, capability) \
    {.format = KILN_BUNDLE_FORMAT, .name = bundle_name, \
     .match = {.platform = "NVIDIA CUDA", .device = bundle_name}, \
     .traits = {0, units, 1, (kib) * 1024, capability}}
#define OTHER(bundle_name, platform_name, driver_name, is_cpu, units, width) \
    {.format = KILN_BUNDLE_FORMAT, .name = bundle_name, \
     .match = {.platform = platform_name, .device = bundle_name, .driver = driver_name}, \
     .traits = {is_cpu, units, width, 65536, 0}}

static const struct kiln_bundle far_off = NVIDIA("far", 16, 227, 90);
static const struct kiln_bundle near_by = NVIDIA("near", 114, 227, 90);
static const struct kiln_bundle older = NVIDIA("older", 132, 227, 80);
static const struct kiln_bundle later = NVIDIA("later", 132, 227, 100);
static const struct kiln_bundle no_traits = {
    .format = KILN_BUNDLE_FORMAT, .name = "unknown",
    .match = {.platform = "NVIDIA CUDA", .device = "unknown"}};
static const struct kiln_bundle everywhere = {.format = KILN_BUNDLE_FORMAT, .name = "everywhere"};

static const struct kiln_device_facts hopper = {
    .platform = "NVIDIA CUDA", .device = "new", .driver = "580", .compute_units = 132,
    .native_vector_float = 1, .local_bytes = 227 * 1024, .compute_capability = 90};

/* The names of a chain, each with a blank behind it. */
static const char *chain_of(const struct kiln_bundle *const *linked, bool exact_only,
        const struct kiln_device_facts *facts)
{
    static char names[256];
    const struct kiln_bundle *chain[KILN_MAX_LINKS];
    unsigned num = 0;
    names[0] = '\0';
    assert_int_equal(kiln_select_bundles(NULL, linked, exact_only, facts, chain, &num),
            KILN_SUCCESS);
    for (unsigned i = 0; i < num; i++) {
        size_t length = strlen(names);
        snprintf(names + length, sizeof names - length, "%s ", chain[i]->name);
    }
    return names;
}

static void the_nearest_come_first(void **state)
{
    const struct kiln_bundle *const linked[] = { &older, &far_off, &near_by, &later, &no_traits,
        &everywhere, NULL };
    struct kiln_device_facts facts = hopper;
    (void) state;
    assert_string_equal(chain_of(linked, false, &facts), "near far older everywhere ");
    assert_string_equal(chain_of(linked, true, &facts), "everywhere ");
    facts.compute_units = 17;
    assert_string_equal(chain_of(linked, false, &facts), "far near older everywhere ");
    facts.device = "older";
    assert_string_equal(chain_of(linked, false, &facts), "older far near everywhere ");
    assert_string_equal(chain_of(linked, true, &facts), "older everywhere ");
    facts.device = "unknown";
    assert_string_equal(chain_of(linked, true, &facts), "unknown everywhere ");
    facts.device = "new";
    facts.compute_capability = 86;
    assert_string_equal(chain_of(linked, false, &facts), "older everywhere ");
    facts.compute_capability = 75;
    assert_string_equal(chain_of(linked, false, &facts), "everywhere ");
    facts.compute_capability = 0;
    assert_string_equal(chain_of(linked, false, &facts), "everywhere ");
}

/* Of two at the same distance, the one that is linked first. */
static void local_memory_and_the_order_of_linking_count(void **state)
{
    static const struct kiln_bundle little = NVIDIA("little", 132, 99, 90);
    static const struct kiln_bundle much = NVIDIA("much", 132, 227, 90);
    static const struct kiln_bundle same = NVIDIA("same", 132, 227, 90);
    const struct kiln_bundle *const linked[] = { &little, &much, &same, &everywhere, NULL };
    (void) state;
    assert_string_equal(chain_of(linked, false, &hopper), "much same little everywhere ");
}

/* The last bundle serves whatever it is for, and comes once. */
static void the_last_one_need_not_be_generic(void **state)
{
    const struct kiln_bundle *const relative[] = { &far_off, &near_by, NULL };
    const struct kiln_bundle *const stranger[] = { &far_off, &later, NULL };
    (void) state;
    assert_string_equal(chain_of(relative, false, &hopper), "near far ");
    assert_string_equal(chain_of(stranger, false, &hopper), "far later ");
}

static void kind_and_width_count_elsewhere(void **state)
{
    static const struct kiln_bundle gpu = OTHER("gpu", "Any*", NULL, 0, 8, 1);
    static const struct kiln_bundle cpu = OTHER("cpu", "Any*", NULL, 1, 8, 1);
    static const struct kiln_bundle wide = OTHER("wide", "Any*", NULL, 1, 8, 8);
    static const struct kiln_bundle foreign = OTHER("foreign", "Other", NULL, 1, 8, 8);
    static const struct kiln_bundle vague = OTHER("vague", NULL, NULL, 1, 8, 8);
    const struct kiln_bundle *const linked[] = { &gpu, &cpu, &wide, &foreign, &vague, &everywhere,
        NULL };
    struct kiln_device_facts facts = { .platform = "Any platform",
        .device = "new",
        .driver = "1",
        .compute_units = 8,
        .local_bytes = 65536 };
    (void) state;
    assert_string_equal(chain_of(linked, false, &facts), "gpu everywhere ");
    facts.is_cpu = true;
    assert_string_equal(chain_of(linked, false, &facts), "cpu everywhere ");
    facts.native_vector_float = 8;
    assert_string_equal(chain_of(linked, false, &facts), "wide everywhere ");
    facts.native_vector_float = 4;
    assert_string_equal(chain_of(linked, false, &facts), "everywhere ");
}

/* A compiler that may end the process is given the kernels that its version was tried with. */
static void in_process_only_the_verified_driver_serves(void **state)
{
    static char *const platforms[] = { "Portable Computing Language", "rusticl", "Clover",
        "Oclgrind", "Another" };
    (void) state;
    for (size_t i = 0; i < sizeof platforms / sizeof *platforms; i++) {
        const bool inside = i < 4;
        const struct kiln_bundle named = OTHER("named", platforms[i], "3.1*", 1, 8, 8);
        const struct kiln_bundle unnamed = OTHER("unnamed", platforms[i], NULL, 1, 8, 8);
        const struct kiln_bundle *const linked[] = { &named, &unnamed, &everywhere, NULL };
        struct kiln_device_facts facts = { .platform = platforms[i],
            .device = "new",
            .driver = "3.1+debian",
            .is_cpu = true,
            .compute_units = 8,
            .native_vector_float = 8,
            .local_bytes = 65536 };
        assert_string_equal(chain_of(linked, false, &facts),
                inside ? "named everywhere " : "named unnamed everywhere ");
        facts.driver = "3.0";
        assert_string_equal(chain_of(linked, false, &facts),
                inside ? "everywhere " : "named unnamed everywhere ");
        /* Of several patterns one is enough. */
        const struct kiln_bundle several = OTHER("several", platforms[i], "1|3.*|5.0+debian", 1, 8,
                8);
        const struct kiln_bundle *const both[] = { &several, &everywhere, NULL };
        static const struct {
            const char *driver;
            bool serves;
        } rows[] = {
            { "1", true },
            { "3.", true },
            { "3.1", true },
            { "5.0+debian", true },
            { "1|3.*", false },
            { "5.0", false },
            { "5.0+debian1", false },
            { "", false },
        };
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
            facts.driver = (char *) rows[r].driver;
            assert_string_equal(chain_of(both, false, &facts),
                    rows[r].serves || !inside ? "several everywhere " : "everywhere ");
        }
    }
}

/* A driver that it was only verified on makes it a relative's, and the nearest of these. */
static void a_verified_driver_makes_a_relative(void **state)
{
    struct kiln_bundle near = OTHER("near", "Portable Computing Language", "3.1", 1, 8, 8);
    struct kiln_bundle same = OTHER("a CPU", "Portable Computing Language", "3.1", 1, 2, 8);
    const struct kiln_bundle *const linked[] = { &near, &same, &everywhere, NULL };
    struct kiln_device_facts facts = { .platform = "Portable Computing Language",
        .device = "a CPU",
        .driver = "7.1",
        .is_cpu = true,
        .compute_units = 8,
        .native_vector_float = 8,
        .local_bytes = 65536 };
    (void) state;
    assert_string_equal(chain_of(linked, false, &facts), "everywhere ");
    near.match.verified = same.match.verified = "6.*|7.1";
    assert_string_equal(chain_of(linked, false, &facts), "a CPU near everywhere ");
    assert_string_equal(chain_of(linked, true, &facts), "everywhere ");
    assert_false(kiln_bundle_matches(&same, &facts));
    /* Beside one that is as large but another device it is the nearer. */
    same.traits.compute_units = 8;
    assert_true(kiln_bundle_distance(&same, &facts) == 1);
    assert_true(kiln_bundle_distance(&near, &facts) > 1);
    facts.driver = "7.2";
    assert_string_equal(chain_of(linked, false, &facts), "everywhere ");
    facts.driver = "3.1";
    assert_true(kiln_bundle_matches(&same, &facts));
    /* A compiler that ends no process serves with any driver, verified or not. */
    near.match.platform = same.match.platform = facts.platform = "Another";
    facts.driver = "7.2";
    assert_string_equal(chain_of(linked, false, &facts), "a CPU near everywhere ");
    facts.driver = "7.1";
    assert_string_equal(chain_of(linked, false, &facts), "a CPU near everywhere ");
}

/* The tuner goes through all of them. */
static void strangers_come_last_and_other_formats_not_at_all(void **state)
{
    struct kiln_bundle old = near_by;
    old.format = KILN_BUNDLE_FORMAT - 1;
    const struct kiln_bundle *const linked[] = { &later, &old, &far_off, &no_traits, &everywhere,
        NULL };
    const struct kiln_bundle *const expected[] = { &everywhere, &far_off, &later, &no_traits };
    struct kiln_kin kin = { 0 };
    (void) state;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_ptr_equal(kiln_kin_next(linked, &hopper, &kin), expected[i]);
        assert_ptr_equal(kin.bundle, expected[i]);
        assert_true((kin.distance == INT64_MAX) == (i >= 2));
    }
    assert_null(kiln_kin_next(linked, &hopper, &kin));
    assert_null(kiln_kin_next(linked, &hopper, &kin));
}

/* ---- The committed bundles ---- */

static struct kiln_device_facts ask(const struct stub_facts *from)
{
    struct kiln_device_facts facts;
    assert_int_equal(kiln_device_facts_query(stub_make_device(from), &facts), KILN_SUCCESS);
    return facts;
}

static struct stub_facts nvidia_gpu(const char *name, cl_uint major)
{
    struct stub_facts facts = fixture_nvidia_facts(major, 0);
    facts.platform_name = "NVIDIA CUDA";
    facts.name = name;
    facts.compute_units = 132;
    facts.vector_float = 1;
    facts.max_work_group = 1024;
    facts.max_work_items[0] = facts.max_work_items[1] = 1024;
    facts.local_bytes = 49152;
    return facts;
}

static size_t num_left_out(const struct kiln_bundle *bundle, const struct kiln_device_facts *facts)
{
    size_t num = 0;
    for (uint32_t i = 0; i < bundle->num_recipes; i++) {
        num += kiln_recipe_misfit(bundle, &bundle->recipes[i], facts) != NULL;
    }
    return num;
}

static void the_h100_is_served_as_the_h200_is(void **state)
{
    static const char *const names[] = { "NVIDIA H100 80GB HBM3", "NVIDIA H200" };
    (void) state;
    for (size_t i = 0; i < 2; i++) {
        struct stub_facts from = nvidia_gpu(names[i], 9);
        struct kiln_device_facts facts = ask(&from);
        assert_string_equal(chain_of(committed, false, &facts), "nvidia-h200 generic ");
        assert_true((kiln_bundle_distance(&kiln_bundle_nvidia_h200, &facts) == 0) == (i == 1));
        assert_int_equal(num_left_out(&kiln_bundle_nvidia_h200, &facts), 0);
        assert_string_equal(chain_of(committed, true, &facts),
                i == 0 ? "generic " : "nvidia-h200 generic ");
        kiln_device_facts_free(&facts);
    }
}

/* Masked PTX runs on its own compute capability alone, OpenCL C on later ones too. */
static void a_later_capability_gets_what_is_not_masked(void **state)
{
    struct stub_facts from = nvidia_gpu("NVIDIA B200", 10);
    struct kiln_device_facts facts = ask(&from);
    const struct kiln_bundle *bundle = &kiln_bundle_nvidia_h200;
    size_t num_masked = 0;
    (void) state;
    for (uint32_t i = 0; i < bundle->num_recipes; i++) {
        num_masked += bundle->programs[bundle->recipes[i].program].ptx != 0;
    }
    assert_string_equal(chain_of(committed, false, &facts), "nvidia-h200 generic ");
    assert_true(num_masked > 0 && num_masked < bundle->num_recipes);
    assert_int_equal(num_left_out(bundle, &facts), num_masked);
    kiln_device_facts_free(&facts);
    from.nv_major = 8;
    facts = ask(&from);
    assert_string_equal(chain_of(committed, false, &facts), "generic ");
    kiln_device_facts_free(&facts);
}

/* Of NVIDIA's bundles, the device's own, then those of relatives, nearest first. */
static void nvidia_has_a_bundle_for_each_capability(void **state)
{
    static const struct kiln_bundle *const linked[2][5] = {
        { &kiln_bundle_nvidia, &kiln_bundle_nvidia_h100, &kiln_bundle_nvidia_h200,
                &kiln_bundle_generic, NULL },
        { &kiln_bundle_nvidia_h200, &kiln_bundle_nvidia_h100, &kiln_bundle_nvidia,
                &kiln_bundle_generic, NULL },
    };
    static const struct {
        const char *name;
        cl_uint major, minor;
        const char *chain;
    } rows[] = {
        { "NVIDIA H100 80GB HBM3", 9, 0, "nvidia-h100 nvidia-h200 nvidia generic " },
        { "NVIDIA H200", 9, 0, "nvidia-h200 nvidia-h100 nvidia generic " },
        { "NVIDIA A100-SXM4-80GB", 8, 0, "nvidia generic " },
        { "NVIDIA GeForce RTX 3090", 8, 6, "nvidia generic " },
        { "NVIDIA L4", 8, 9, "nvidia generic " },
        { "NVIDIA T4", 7, 5, "generic " },
    };
    (void) state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct stub_facts from = nvidia_gpu(rows[i].name, rows[i].major);
        from.nv_minor = rows[i].minor;
        struct kiln_device_facts facts = ask(&from);
        assert_string_equal(chain_of(linked[0], false, &facts), rows[i].chain);
        assert_string_equal(chain_of(linked[1], false, &facts), rows[i].chain);
        if (rows[i].major >= 8) {
            assert_int_equal(num_left_out(&kiln_bundle_nvidia, &facts), 0);
        }
        kiln_device_facts_free(&facts);
    }
}

static void pocl_is_bound_to_its_version(void **state)
{
    struct stub_facts from = stub_default_facts();
    (void) state;
    from.platform_name = "Portable Computing Language";
    from.name = "pthread-another";
    from.type = CL_DEVICE_TYPE_CPU;
    from.vector_float = 16;
    from.driver = "3.1+debian";
    struct kiln_device_facts facts = ask(&from);
    assert_string_equal(chain_of(committed, false, &facts),
            "pocl-avx512 pocl-avx512-intel generic ");
    kiln_device_facts_free(&facts);
    from.name = "pthread-skylake-avx512-Intel(R) Xeon(R) Processor";
    facts = ask(&from);
    assert_string_equal(chain_of(committed, false, &facts),
            "pocl-avx512-intel pocl-avx512 generic ");
    kiln_device_facts_free(&facts);
    from.vector_float = 8;
    facts = ask(&from);
    assert_string_equal(chain_of(committed, false, &facts), "pocl-avx2 generic ");
    kiln_device_facts_free(&facts);
    from.driver = "3.0-rc2";
    facts = ask(&from);
    assert_string_equal(chain_of(committed, false, &facts), "generic ");
    kiln_device_facts_free(&facts);
}

static void recipes_of_generic_are_for_some_kinds(void **state)
{
    enum { CPU = KILN_KIND_CPU, OTHER = KILN_KIND_OTHER };
    static const struct {
        bool is_cpu;
        cl_uint floats;
        uint8_t kinds, vector_floats;
        bool fits;
    } cases[] = {
        { true, 16, 0, 0, true },
        { true, 16, CPU, 16, true },
        { true, 8, CPU, 16, false },
        { true, 8, CPU, 8, true },
        { true, 8, OTHER, 0, false },
        { true, 8, CPU | OTHER, 0, true },
        { false, 1, CPU, 0, false },
        { false, 1, OTHER, 0, true },
        { false, 4, OTHER, 8, false },
        { true, 1, CPU, 0, false },
        { true, 1, OTHER, 0, false },
        { true, 0, 0, 0, true },
    };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct kiln_recipe recipe = { .kinds = cases[i].kinds,
            .vector_floats = cases[i].vector_floats };
        const struct kiln_device_facts facts = { .is_cpu = cases[i].is_cpu,
            .native_vector_float = cases[i].floats };
        assert_true((kiln_recipe_kind_misfit(&recipe, &facts) == NULL) == cases[i].fits);
    }
}

/* ---- Contexts ---- */

struct log {
    char text[4096];
};

static void add_message(void *user, const char *message)
{
    struct log *log = user;
    size_t length = strlen(log->text);
    snprintf(log->text + length, sizeof log->text - length, "%s\n", message);
}

/* What the library says of a call on a device with these facts, and what it logs. */
static void look(const struct stub_facts *facts, bool exact_only, char text[4096], struct log *log)
{
    const struct kiln_gemm gemm = { .m = 1024, .n = 1024, .k = 1024, .alpha = 1.0 };
    const struct kiln_context_params params = { .log = add_message,
        .log_user = log,
        .exact_only = exact_only };
    cl_device_id device = stub_make_device(facts);
    cl_context cl = stub_make_context(1, &device);
    struct kiln_context *kiln = NULL;
    log->text[0] = '\0';
    assert_int_equal(kiln_context_create(cl, device, &params, &kiln), KILN_SUCCESS);
    assert_int_equal(kiln_gemm_explain(kiln, &gemm, text, 4096), KILN_SUCCESS);
    kiln_context_destroy(&kiln);
}

static const char tuned_lines[] = "bundle: tuned\nkernel: tuned_aligned\n";
static const char relative_line[] = "tuned on: a relative of the device, Stub Dev*\n";
static const char relative_message[] =
        "bundle tuned, tuned on a relative of the device: Stub Dev*\nbundle generic\n";

static void a_context_says_that_a_relative_serves(void **state)
{
    struct stub_facts facts = stub_default_facts();
    char text[4096];
    struct log log;
    (void) state;
    look(&facts, false, text, &log);
    assert_memory_equal(text, tuned_lines, sizeof tuned_lines - 1);
    assert_null(strstr(text, "relative"));
    assert_string_equal(log.text, "bundle tuned\nbundle generic\n");
    facts.name = "Another Device";
    look(&facts, false, text, &log);
    assert_memory_equal(text, tuned_lines, sizeof tuned_lines - 1);
    assert_memory_equal(text + sizeof tuned_lines - 1, relative_line, sizeof relative_line - 1);
    assert_string_equal(log.text, relative_message);
    look(&facts, true, text, &log);
    assert_memory_equal(text, "bundle: generic\nkernel: generic_s_nn\nprecision", 46);
    assert_string_equal(log.text, "bundle generic\n");
}

/* Nothing is built for what the device can not run; the next recipe serves. */
static void recipes_are_left_out_one_by_one(void **state)
{
    struct stub_facts facts = stub_default_facts();
    char text[4096];
    struct log log;
    (void) state;
    facts.name = "Another Device";
    facts.local_bytes = 8191;
    look(&facts, false, text, &log);
    assert_memory_equal(text, "bundle: tuned\nkernel: tuned_packed\n", 35);
    assert_non_null(strstr(log.text, "\nbundle tuned: recipes that are not for the device: 1; the "
                                     "first: tuned_aligned: too little local memory\n"));
    assert_int_equal(stub_calls("clBuildProgram"), 1);
    facts.local_bytes = 8192;
    look(&facts, false, text, &log);
    assert_memory_equal(text, tuned_lines, sizeof tuned_lines - 1);
    assert_string_equal(log.text, relative_message);
}

static void recipes_in_double_want_double(void **state)
{
    struct stub_facts facts = stub_default_facts();
    char text[4096];
    struct log log;
    (void) state;
    facts.double_config = 0;
    look(&facts, false, text, &log);
    assert_non_null(strstr(log.text, "bundle tuned: recipes that are not for the device: 1; the "
                                     "first: tuned_double: no double precision\n"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_nearest_come_first),
        TEST(local_memory_and_the_order_of_linking_count),
        TEST(the_last_one_need_not_be_generic),
        TEST(kind_and_width_count_elsewhere),
        TEST(in_process_only_the_verified_driver_serves),
        TEST(a_verified_driver_makes_a_relative),
        TEST(strangers_come_last_and_other_formats_not_at_all),
        TEST(the_h100_is_served_as_the_h200_is),
        TEST(a_later_capability_gets_what_is_not_masked),
        TEST(nvidia_has_a_bundle_for_each_capability),
        TEST(pocl_is_bound_to_its_version),
        TEST(recipes_of_generic_are_for_some_kinds),
        TEST(a_context_says_that_a_relative_serves),
        TEST(recipes_are_left_out_one_by_one),
        TEST(recipes_in_double_want_double),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
