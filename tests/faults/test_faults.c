/* test_faults.c: every OpenCL call and every allocation that a public function makes fails, once or
 * from then on, with every code that matters. Then
 * - the status is the code of what failed, or success where the call could do without;
 * - C is as it was, or the product; nothing is given out by a call that failed;
 * - when the fault is over, the same call works, by the kernel that it would have had, unless the
 *   driver had refused that kernel for good;
 * - when the context is destroyed, every reference is given back, each once.
 *
 * An item is the n-th call of a scene. In the short form every sixth one fails, in one way of
 * eight, which changes with n.
 */
#include "bundles.h"
#include "scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MAX_CALLS = 8000, NUM_WAYS = 2 * NUM_FAULT_KINDS, BUNDLE_LINKED = 3, NUM_BUNDLES, NUM_MODES = 4,
    CALLBACK_STEPS = 10000,            /* milliseconds to wait for the driver's callbacks */
    LONG_LACK = 50,
    SHORT_STRIDE = 6,                  /* the short form fails one call of so many */
    WHOLE_STRIDE = 16                  /* the whole form does so many times more of the slowest */
};

/* The settings of all scenes: for each bundle in-order and out-of-order, listed and not. */
struct plan_cache {
    bool is_known;
    struct scene_plans plans;
};

static struct setup setup;
static bool is_open;

static const char *const fault_names[] = {
    [FAULT_HOST_MEMORY] = "no host memory", [FAULT_RESOURCES] = "no resources",
    [FAULT_DEVICE_MEMORY] = "no device memory", [FAULT_REFUSED] = "refused",
};

/* ---- Settings ---- */

/* The first linked recipe for single precision without transposes that has a workspace. */
static const struct kiln_bundle *bundle_with_workspace(void)
{
    static struct solo solo;
    const struct kiln_bundle *bundle = NULL;
    uint32_t index = 0;
    for (unsigned long i = 0; linked_recipe(i, &bundle, &index); i++) {
        const struct kiln_recipe *recipe = &bundle->recipes[index];
        if (recipe->precision == KILN_SINGLE && recipe->num_regions > 0 && !recipe->transa &&
                !recipe->transb) {
            solo_make(&solo, bundle, index);
            return &solo.bundle;
        }
    }
    return NULL;
}

static struct scene_setting setting_of(unsigned bundle, unsigned mode, bool warm)
{
    const struct kiln_bundle *const small[] = { staged_bundle(), imaged_bundle(), split_bundle() };
    struct scene_setting setting = {
        .m = 96,
        .n = 96,
        .k = 96,
        .loose = mode / 2,
        .listed = mode % 2,
        .warm = warm,
        .bundle_name = "linked",
    };
    if (bundle == BUNDLE_LINKED) {
        setting.bundle = bundle_with_workspace();
    } else {
        setting.m = 20;
        setting.n = 24;
        setting.k = 28;
        setting.bundle = small[bundle];
        setting.bundle_name = small[bundle]->name;
        setting.splits = small[bundle] == split_bundle();
    }
    return setting;
}

static const struct scene_plans *plans_of(unsigned bundle, const struct scene_setting *setting)
{
    static struct plan_cache cache[NUM_BUNDLES];
    if (!cache[bundle].is_known) {
        scene_plans_make(&setup, setting, &cache[bundle].plans);
        cache[bundle].is_known = true;
    }
    return &cache[bundle].plans;
}

/* ---- Judging ---- */

/* What the header lets a function say of something that OpenCL refuses. */
static bool is_refusal(enum kiln_status status, cl_int code)
{
    switch ((int) status) {
    case KILN_INVALID_CONTEXT:
    case KILN_INVALID_DEVICE:
    case KILN_INVALID_QUEUE:
    case KILN_INVALID_BUFFER_A:
    case KILN_INVALID_BUFFER_B:
    case KILN_INVALID_BUFFER_C:
    case KILN_INVALID_WORKSPACE:
    case KILN_INVALID_PACK_BUFFER:
    case KILN_INVALID_PACK:
    case KILN_NO_KERNEL:
    case KILN_NO_COMPILER:
    case KILN_NO_DOUBLE:
    case KILN_PACK_UNSUITABLE: return true;
    default: return (int) status == code || ((int) status < 0 && code != 0);
    }
}

static bool is_allowed(const struct fault *fault, const struct wrap_report *report,
        enum kiln_status status)
{
    if (status == KILN_SUCCESS || report->failed == NULL) {
        return status == KILN_SUCCESS;
    }
    if (fault->kind == FAULT_REFUSED) {
        return is_refusal(status, report->code);
    }
    return (int) status == report->code ||
           (fault->kind == FAULT_HOST_MEMORY && status == KILN_OUT_OF_MEMORY);
}

/* The driver calls callbacks when it likes; what they give back comes late. */
static void wait_for_callbacks(void)
{
    for (unsigned i = 0; i < CALLBACK_STEPS && wrap_held() > 0; i++) {
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
}

static unsigned check_references(void)
{
    const long held = wrap_held(), too_often = wrap_given_too_often(), memory = wrap_allocated();
    if (held == 0 && too_often == 0 && memory == 0) {
        return 0;
    }
    printf("    %ld references are left, %ld were given back too often, %ld allocations are left\n",
            held, too_often, memory);
    wrap_print();
    return 1;
}

static void destroy(struct scene *scene)
{
    wrap_begin_quietly();
    kiln_context_destroy(&scene->kiln);
    wrap_end();
}

/* The kernel that serves now is the one that serves when nothing ever failed. */
static unsigned check_plan(struct scene *scene)
{
    struct kiln_gemm gemm = scene->gemm;
    gemm.packed_b = NULL;
    gemm.workspace = NULL;
    gemm.batch_count = 0;
    wrap_begin_quietly();
    const enum kiln_status status = kiln_gemm_explain(scene->kiln, &gemm, scene->text, SCENE_TEXT);
    wrap_end();
    if (status == KILN_SUCCESS && strcmp(scene->text, scene->plans->text[0]) == 0) {
        return 0;
    }
    printf("    for good, another kernel serves: %.*s\n", (int) strcspn(scene->text, "p"),
            scene->text);
    return 1;
}

/* The same call again, with the fault gone. What a driver refused may stay refused. */
static unsigned check_recovery(struct scene *scene, const struct scene_kind *kind,
        const struct fault *fault)
{
    const bool is_refused = fault->kind == FAULT_REFUSED;
    unsigned failures = 0;
    if (kind->creates) {
        destroy(scene);
    }
    scene_rewind(scene);
    scene->was_faulty = false;
    wrap_begin_quietly();
    const enum kiln_status status = kind->act(scene);
    wrap_end();
    scene_settle(scene);
    if (status != KILN_SUCCESS) {
        const bool is_known = status == KILN_NO_KERNEL || status == KILN_PACK_UNSUITABLE;
        if (is_refused && is_known && (fault->for_good || status == KILN_PACK_UNSUITABLE)) {
            return 0;
        }
        printf("    again, with the fault gone: %s\n", kiln_status_string(status));
        return 1;
    }
    if (!is_refused || kind->creates || !kind->tells) {
        failures += kind->check(scene, status);
    }
    return failures + (is_refused && !kind->creates ? 0 : check_plan(scene));
}

/* One call with one fault; tells what failed, if anything. */
static unsigned run(const struct scene_kind *kind, const struct scene_setting *setting,
        const struct scene_plans *plans, const struct fault *fault, struct wrap_report *report)
{
    struct scene scene;
    unsigned failures = 0;
    wrap_forget_all();
    scene_open(&scene, &setup, setting, plans, kind);
    wrap_begin(fault);
    const enum kiln_status status = kind->act(&scene);
    *report = wrap_end();
    scene.was_faulty = report->failed != NULL;
    scene_settle(&scene);
    if (!is_allowed(fault, report, status)) {
        printf("    the status is %d, %s\n", status, kiln_status_string(status));
        failures++;
    }
    if (fault->kind != FAULT_REFUSED || !kind->tells || status != KILN_SUCCESS) {
        failures += kind->check(&scene, status);
    }
    failures += check_recovery(&scene, kind, fault);
    destroy(&scene);
    wait_for_callbacks();
    failures += check_references();
    scene_close(&scene);
    return failures;
}

/* ---- Items ---- */

struct place {
    const struct scene_kind *kind;
    unsigned bundle, mode;
    bool warm;
    unsigned long call;                /* from 1 on */
};

/* And one more, a fault that lasts. */
static unsigned long num_items(void)
{
    return num_scene_kinds * NUM_BUNDLES * NUM_MODES * 2 * MAX_CALLS + 1;
}

static struct place place_of(unsigned long number)
{
    struct place place = { .call = number % MAX_CALLS + 1 };
    number /= MAX_CALLS;
    place.warm = number % 2;
    number /= 2;
    place.mode = (unsigned) (number % NUM_MODES);
    number /= NUM_MODES;
    place.bundle = (unsigned) (number % NUM_BUNDLES);
    place.kind = &scene_kinds[number / NUM_BUNDLES % num_scene_kinds];
    return place;
}

/* Some places are like others: what makes a context or answers a question knows no queue. In the
 * short form each kind of call is made in two modes, and with the small bundles alone. */
static bool is_wanted(const struct options *options, const struct place *place)
{
    const size_t kind = (size_t) (place->kind - scene_kinds);
    const bool has_queue = place->kind->check != scene_kinds[0].check && !place->kind->tells;
    if ((place->kind->creates && (place->warm || place->bundle != 0)) ||
            (!has_queue && place->mode != 0)) {
        return false;
    }
    if (options->whole) {
        return place->call % (1 + place->kind->stride / WHOLE_STRIDE) == 0;
    }
    const unsigned mode = (unsigned) (kind + place->warm) % NUM_MODES;
    if (place->call % place->kind->stride != 0 || (has_queue && place->mode != mode)) {
        return false;
    }
    return place->bundle == 0 || (place->bundle < BUNDLE_LINKED && place->warm && has_queue);
}

/* How often the call can fail; counted once for each scene and setting. */
static unsigned long calls_of(const struct place *place, const struct scene_setting *setting,
        const struct scene_plans *plans)
{
    static const struct scene_kind *kind;
    static struct scene_setting last;
    static struct wrap_report report;
    if (kind != place->kind || memcmp(&last, setting, sizeof last) != 0) {
        const struct fault none = { .at = 0 };
        kind = place->kind;
        last = *setting;
        need(run(kind, setting, plans, &none, &report) == 0, "a call that works in peace");
        need(report.calls < MAX_CALLS, "a larger MAX_CALLS");
    }
    return report.calls;
}

static unsigned run_ways(const struct options *options, const struct place *place,
        const struct scene_setting *setting, const struct scene_plans *plans)
{
    unsigned failures = 0;
    for (unsigned way = 0; way < NUM_WAYS; way++) {
        const struct fault fault = { place->call, way >= NUM_FAULT_KINDS, way % NUM_FAULT_KINDS };
        const unsigned long turn = place->call + (unsigned long) (place->kind - scene_kinds) +
                                   5 * place->mode + 11 * place->bundle + 7 * place->warm;
        struct wrap_report report = { .calls = 0 };
        if (!options->whole && turn % (SHORT_STRIDE * NUM_WAYS) != way * SHORT_STRIDE) {
            continue;
        }
        children_note("%s, bundle %s, %s, %s, %s: call %lu fails, %s, %s", place->kind->name,
                setting->bundle_name, setting->loose ? "out of order" : "in order",
                setting->listed ? "with events" : "without events", setting->warm ? "warm" : "cold",
                place->call, fault_names[fault.kind], fault.for_good ? "for good" : "once");
        const unsigned here = run(place->kind, setting, plans, &fault, &report);
        if (here > 0) {
            printf("FAILED: %s (%s)\n", children_noted(),
                    report.failed != NULL ? report.failed : "none");
            failures++;
        }
    }
    return failures;
}

/* Memory is lacking for many calls, and then it is there again: the first call after that works. */
static unsigned outlast_a_lack(void)
{
    const struct scene_kind *kind = &scene_kinds[SCENE_PLAIN_CALL];
    const struct scene_setting setting = setting_of(0, 0, false);
    unsigned failures = 0;
    for (unsigned i = 0; i < FAULT_REFUSED; i++) {
        const struct fault fault = { 1, true, (enum fault_kind) i, "clBuildProgram" };
        struct scene scene;
        children_note("%d calls while no program can be built: %s", LONG_LACK, fault_names[i]);
        scene_open(&scene, &setup, &setting, plans_of(0, &setting), kind);
        for (unsigned call = 0; call < LONG_LACK; call++) {
            wrap_begin(&fault);
            const enum kiln_status status = kind->act(&scene);
            wrap_end();
            failures += status == KILN_SUCCESS;
        }
        failures += check_recovery(&scene, kind, &fault);
        destroy(&scene);
        scene_close(&scene);
        if (failures > 0) {
            printf("FAILED: %s\n", children_noted());
        }
    }
    return failures;
}

static unsigned do_item(const struct options *options, unsigned long number)
{
    const struct place place = place_of(number);
    if (!is_open) {
        wrap_enter_thread();
        setup_open(options, &setup);
        is_open = true;
    }
    if (number == num_items() - 1) {
        return outlast_a_lack();
    }
    if (!is_wanted(options, &place)) {
        return 0;
    }
    const struct scene_setting setting = setting_of(place.bundle, place.mode, place.warm);
    if (setting.bundle == NULL) {
        return 0;
    }
    const struct scene_plans *plans = plans_of(place.bundle, &setting);
    if (place.call > calls_of(&place, &setting, plans)) {
        return 0;
    }
    return run_ways(options, &place, &setting, plans);
}

int main(int argc, char **argv)
{
    const struct options options = options_of(argc, argv);
    return children_run(&options, num_items(), do_item);
}
