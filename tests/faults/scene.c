/* scene.c: see scene.h. The values are small integers, so that every product is exact; beta is 2,
 * so that a C which was written before, or twice, shows. */
#include "scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const enum kiln_precision precisions[SCENE_QUESTIONS] = {
    KILN_SINGLE, KILN_DOUBLE, KILN_HALF
};

static size_t c_elements(const struct scene_setting *setting)
{
    return setting->m * setting->n;
}

/* ---- Plans ---- */

static void explain_all(struct kiln_context *kiln, const struct scene_setting *setting,
        struct scene_plans *plans)
{
    wrap_begin_quietly();
    for (unsigned i = 0; i < SCENE_QUESTIONS; i++) {
        const struct kiln_gemm gemm = {
            .precision = precisions[i],
            .m = setting->m,
            .n = setting->n,
            .k = setting->k,
            .alpha = 1,
            .beta = 2,
        };
        const enum kiln_status status = kiln_gemm_explain(kiln, &gemm, plans->text[i], SCENE_TEXT);
        if (status != KILN_SUCCESS) {
            strcpy(plans->text[i], kiln_status_string(status));
        }
    }
    wrap_end();
}

void scene_plans_make(const struct setup *setup, const struct scene_setting *setting,
        struct scene_plans *plans)
{
    struct kiln_context *kiln = setup_kiln(setup, setting->bundle);
    const struct kiln_gemm gemm = {
        .m = setting->m,
        .n = setting->n,
        .k = setting->k,
        .alpha = 1,
        .beta = 2,
    };
    explain_all(kiln, setting, plans);
    need(kiln_gemm_workspace_bytes(kiln, &gemm, &plans->workspace_bytes) == KILN_SUCCESS &&
                    kiln_pack_bytes(kiln, &gemm, KILN_PACK_B, &plans->pack_bytes) == KILN_SUCCESS,
            "bytes");
    kiln_context_destroy(&kiln);
}

/* ---- Before and after a call ---- */

static float value_of(size_t index, unsigned modulus)
{
    return (float) (index % modulus) - (float) (modulus / 2);
}

static cl_mem integers(const struct setup *setup, size_t num, unsigned modulus)
{
    float *values = malloc(num * sizeof *values);
    need(values != NULL, "memory");
    for (size_t i = 0; i < num; i++) {
        values[i] = value_of(i, modulus);
    }
    cl_mem buffer = setup_buffer(setup, num * sizeof *values, values);
    free(values);
    return buffer;
}

static void fill_wanted(struct scene *scene)
{
    const size_t m = scene->gemm.m, n = scene->gemm.n, k = scene->gemm.k;
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < n; j++) {
            float sum = 0;
            for (size_t p = 0; p < k; p++) {
                sum += value_of(i * k + p, 7) * value_of(p * n + j, 5);
            }
            for (size_t at = i * n + j; at < scene->num_elements; at += m * n) {
                scene->before[at] = value_of(at, 11);
                scene->wanted[at] = sum + 2 * scene->before[at];
            }
        }
    }
}

void scene_open(struct scene *scene, const struct setup *setup, const struct scene_setting *setting,
        const struct scene_plans *plans, const struct scene_kind *kind)
{
    const size_t num = SCENE_MEMBERS * c_elements(setting);
    *scene = (struct scene){
        .setup = setup,
        .setting = setting,
        .plans = plans,
        .num_elements = num,
        .queue = setting->loose ? setup->loose : setup->queue,
        .before = malloc(num * sizeof(float)),
        .wanted = malloc(num * sizeof(float)),
        .gemm = { .m = setting->m, .n = setting->n, .k = setting->k, .alpha = 1, .beta = 2 },
    };
    need(scene->before != NULL && scene->wanted != NULL, "memory");
    fill_wanted(scene);
    scene->gemm.a = integers(setup, setting->m * setting->k, 7);
    scene->gemm.b = integers(setup, setting->k * setting->n, 5);
    scene->gemm.c = setup_buffer(setup, num * sizeof(float), scene->before);
    wrap_begin_quietly();
    if (!kind->creates) {
        scene->kiln = setup_kiln(setup, setting->bundle);
    }
    if (setting->warm) {
        need(kiln_gemm_enqueue(scene->kiln, &scene->gemm, scene->queue, 0, NULL, NULL) ==
                        KILN_SUCCESS,
                "a first call");
        clFinish(scene->queue);
    }
    wrap_end();
    if (kind->prepare != NULL) {
        kind->prepare(scene);
    }
    scene_rewind(scene);
}

void scene_rewind(struct scene *scene)
{
    need(clEnqueueWriteBuffer(scene->setup->queue, scene->gemm.c, CL_TRUE, 0,
                 scene->num_elements * sizeof(float), scene->before, 0, NULL, NULL) == CL_SUCCESS,
            "a write");
    if (scene->setting->listed) {
        scene->gate = clCreateUserEvent(scene->setup->cl, NULL);
        need(scene->gate != NULL, "a user event");
    }
    memset(&scene->pack, 0xee, sizeof scene->pack);
    scene->bytes = 77;
    strcpy(scene->text, "old");
}

void scene_settle(struct scene *scene)
{
    if (scene->gate != NULL) {
        clSetUserEventStatus(scene->gate, CL_COMPLETE);
        clReleaseEvent(scene->gate);
        scene->gate = NULL;
    }
    clFinish(scene->queue);
}

static void release(cl_mem buffer)
{
    if (buffer != NULL) {
        clReleaseMemObject(buffer);
    }
}

void scene_close(struct scene *scene)
{
    free(scene->before);
    free(scene->wanted);
    release(scene->gemm.a);
    release(scene->gemm.b);
    release(scene->gemm.c);
    release(scene->workspace);
    release(scene->room);
}

/* ---- What a call gave out ---- */

static unsigned fail(const char *what)
{
    printf("    %s\n", what);
    return 1;
}

/* An event comes with success alone, and is complete when the queue is empty. */
static unsigned check_event(struct scene *scene, enum kiln_status status)
{
    cl_int state = CL_QUEUED;
    if ((scene->done != NULL) != (status == KILN_SUCCESS && scene->setting->listed)) {
        scene->done = NULL;
        return fail("an event that should not be there, or none");
    }
    if (scene->done == NULL) {
        return 0;
    }
    wrap_take_over(scene->done);
    clGetEventInfo(scene->done, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    clReleaseEvent(scene->done);
    scene->done = NULL;
    return state == CL_COMPLETE ? 0 : fail("the event is not complete");
}

/* How many members are done, from the first on, if the others are unchanged; else none is right. */
static unsigned check_members(struct scene *scene, unsigned least, unsigned most)
{
    const size_t num = c_elements(scene->setting), bytes = num * sizeof(float);
    float *found = malloc(SCENE_MEMBERS * bytes);
    unsigned done = 0;
    need(found != NULL, "memory");
    setup_read(scene->setup, scene->gemm.c, SCENE_MEMBERS * bytes, found);
    while (done < SCENE_MEMBERS &&
            memcmp(found + done * num, scene->wanted + done * num, bytes) == 0) {
        done++;
    }
    const bool rest_is_old = memcmp(found + done * num, scene->before + done * num,
                                     (SCENE_MEMBERS - done) * bytes) == 0;
    free(found);
    if (!rest_is_old) {
        return fail("C is neither what it was nor the product");
    }
    return done < least ? fail("C is not the product")
         : done > most  ? fail("C has changed, though the call failed")
                        : 0;
}

/* Of a batch, members that were enqueued before a failure are done. */
static unsigned check_product(struct scene *scene, enum kiln_status status)
{
    if (status != KILN_SUCCESS && scene->setting->splits) {
        return check_event(scene, status);
    }
    const unsigned num = scene->gemm.batch_count > 1 ? SCENE_MEMBERS : 1;
    const bool works = status == KILN_SUCCESS;
    return check_event(scene, status) +
           check_members(scene, works ? num : 0,
                   works     ? num
                   : num > 1 ? num - 1
                             : 0);
}

static unsigned check_nothing(struct scene *scene, enum kiln_status status)
{
    return check_event(scene, status) + check_members(scene, 0, 0);
}

/* Those of any kernel that may serve the call in the end. */
static unsigned check_number(const struct scene *scene, enum kiln_status status, size_t wanted)
{
    if (status != KILN_SUCCESS) {
        return scene->bytes == 0 ? 0 : fail("bytes are not 0, though the call failed");
    }
    return scene->bytes == wanted || (scene->was_faulty && scene->bytes > wanted)
                 ? 0
                 : fail("the bytes of another kernel");
}

static unsigned check_bytes(struct scene *scene, enum kiln_status status)
{
    return check_number(scene, status, scene->plans->workspace_bytes);
}

static unsigned check_pack_bytes(struct scene *scene, enum kiln_status status)
{
    return check_number(scene, status, scene->plans->pack_bytes);
}

static unsigned check_text(struct scene *scene, enum kiln_status status)
{
    if (status != KILN_SUCCESS) {
        return scene->text[0] == '\0' ? 0 : fail("the text is not empty, though the call failed");
    }
    const bool is_plan = strcmp(scene->text, scene->plans->text[0]) == 0;
    const bool is_some = strncmp(scene->text, "bundle: ", 8) == 0;
    return is_plan || (scene->was_faulty && is_some) ? 0 : fail("explains another kernel");
}

/* A pack that was made serves a call. */
static unsigned check_pack(struct scene *scene, enum kiln_status status)
{
    static const struct kiln_pack none;
    const unsigned failures = check_event(scene, status);
    if (status != KILN_SUCCESS) {
        const bool is_zero = scene->pack.buffer == NULL && scene->pack.bundle == NULL &&
                             scene->pack.bytes == 0 &&
                             memcmp(&scene->pack, &none, sizeof none) == 0;
        return failures + (is_zero ? 0 : fail("a pack, though the call failed")) +
               check_members(scene, 0, 0);
    }
    struct kiln_gemm gemm = scene->gemm;
    gemm.packed_b = &scene->pack;
    gemm.b = NULL;
    wrap_begin_quietly();
    const enum kiln_status used = kiln_gemm_enqueue(scene->kiln, &gemm, scene->queue, 0, NULL,
            NULL);
    wrap_end();
    clFinish(scene->queue);
    return failures + (used == KILN_SUCCESS ? check_members(scene, 1, 1)
                                            : fail("a call can not use the pack"));
}

/* A context that came out does all that one does which was made in peace. */
static unsigned check_context(struct scene *scene, enum kiln_status status)
{
    struct scene_plans plans;
    if (status != KILN_SUCCESS) {
        return scene->kiln == NULL ? 0 : fail("a context, though creation failed");
    }
    explain_all(scene->kiln, scene->setting, &plans);
    for (unsigned i = 0; i < SCENE_QUESTIONS; i++) {
        if (strcmp(plans.text[i], scene->plans->text[i]) != 0) {
            printf("    precision %d: '%.*s' instead of '%.*s'\n", precisions[i], 90, plans.text[i],
                    90, scene->plans->text[i]);
            return fail("the context serves calls by other kernels");
        }
    }
    return 0;
}

/* ---- The calls ---- */

static cl_uint num_waits(const struct scene *scene)
{
    return scene->gate != NULL ? 1 : 0;
}

static const cl_event *waits(const struct scene *scene)
{
    return scene->gate != NULL ? &scene->gate : NULL;
}

static cl_event *event(struct scene *scene)
{
    return scene->setting->listed ? &scene->done : NULL;
}

static enum kiln_status create(struct scene *scene, enum kiln_build build, int self_test)
{
    const struct kiln_context_params params = {
        .bundle = scene->setting->bundle,
        .build = build,
        .self_test = self_test,
    };
    return kiln_context_create(scene->setup->cl, scene->setup->device, &params, &scene->kiln);
}

static enum kiln_status act_create(struct scene *scene)
{
    return create(scene, KILN_BUILD_AT_FIRST_USE, 0);
}

static enum kiln_status act_build_now(struct scene *scene)
{
    return create(scene, KILN_BUILD_NOW, 0);
}

static enum kiln_status act_self_test(struct scene *scene)
{
    return create(scene, KILN_BUILD_AT_FIRST_USE, 1);
}

static enum kiln_status act_typed(struct scene *scene)
{
    const struct kiln_gemm *g = &scene->gemm;
    return kiln_sgemm(scene->kiln, KILN_ROW_MAJOR, KILN_NO_TRANS, KILN_NO_TRANS, g->m, g->n, g->k,
            (float) g->alpha, g->a, 0, g->k, g->b, 0, g->n, (float) g->beta, g->c, 0, g->n,
            scene->queue, num_waits(scene), waits(scene), event(scene));
}

static enum kiln_status act_struct(struct scene *scene)
{
    return kiln_gemm_enqueue(scene->kiln, &scene->gemm, scene->queue, num_waits(scene),
            waits(scene), event(scene));
}

static void prepare_batch(struct scene *scene)
{
    scene->gemm.batch_count = SCENE_MEMBERS;
    scene->gemm.c_stride = c_elements(scene->setting);
}

static void prepare_workspace(struct scene *scene)
{
    scene->gemm.workspace_offset = 256;
    scene->workspace = setup_buffer(scene->setup, 256 + scene->plans->workspace_bytes, NULL);
    scene->gemm.workspace = scene->workspace;
}

static void prepare_room(struct scene *scene)
{
    scene->room = setup_buffer(scene->setup, 256 + scene->plans->pack_bytes, NULL);
}

static enum kiln_status act_pack(struct scene *scene)
{
    return kiln_pack_enqueue(scene->kiln, &scene->gemm, KILN_PACK_B, scene->room, 256, scene->queue,
            num_waits(scene), waits(scene), event(scene), &scene->pack);
}

/* Made by a context of its own, so that the first call of the scene's is a first one. */
static void prepare_packed(struct scene *scene)
{
    struct kiln_context *other = setup_kiln(scene->setup, scene->setting->bundle);
    prepare_room(scene);
    need(kiln_pack_enqueue(other, &scene->gemm, KILN_PACK_B, scene->room, 256, scene->setup->queue,
                 0, NULL, NULL, &scene->brought) == KILN_SUCCESS,
            "a pack");
    clFinish(scene->setup->queue);
    kiln_context_destroy(&other);
    scene->gemm.packed_b = &scene->brought;
}

static enum kiln_status act_nothing(struct scene *scene)
{
    struct kiln_gemm gemm = scene->gemm;
    gemm.m = 0;
    return kiln_gemm_enqueue(scene->kiln, &gemm, scene->queue, num_waits(scene), waits(scene),
            event(scene));
}

static enum kiln_status act_pack_bytes(struct scene *scene)
{
    return kiln_pack_bytes(scene->kiln, &scene->gemm, KILN_PACK_B, &scene->bytes);
}

static enum kiln_status act_workspace_bytes(struct scene *scene)
{
    return kiln_gemm_workspace_bytes(scene->kiln, &scene->gemm, &scene->bytes);
}

static enum kiln_status act_explain(struct scene *scene)
{
    return kiln_gemm_explain(scene->kiln, &scene->gemm, scene->text, SCENE_TEXT);
}

const struct scene_kind scene_kinds[] = {
    { "create", 1, true, true, NULL, act_create, check_context },
    { "create, KILN_BUILD_NOW", 199, true, true, NULL, act_build_now, check_context },
    { "create, self_test", 83, true, true, NULL, act_self_test, check_context },
    { "kiln_sgemm", 1, false, false, NULL, act_typed, check_product },
    { "kiln_gemm_enqueue", 1, false, false, NULL, act_struct, check_product },
    { "a batch", 1, false, false, prepare_batch, act_struct, check_product },
    { "the caller's workspace", 1, false, false, prepare_workspace, act_struct, check_product },
    { "a call with a pack", 1, false, false, prepare_packed, act_struct, check_product },
    { "a call with nothing to do", 1, false, false, NULL, act_nothing, check_nothing },
    { "kiln_pack_enqueue", 1, false, false, prepare_room, act_pack, check_pack },
    { "kiln_pack_bytes", 1, false, true, NULL, act_pack_bytes, check_pack_bytes },
    { "kiln_gemm_workspace_bytes", 1, false, true, NULL, act_workspace_bytes, check_bytes },
    { "kiln_gemm_explain", 1, false, true, NULL, act_explain, check_text },
};
const size_t num_scene_kinds = sizeof scene_kinds / sizeof *scene_kinds;
