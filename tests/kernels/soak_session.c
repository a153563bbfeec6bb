/* soak_session.c: many calls under way at once, from several threads on several queues.
 *
 * Everything is enqueued while a gate is closed that some of it waits for, so that a call which
 * waits for the device never returns. Then the gate is opened, and the arena (soak_call.h) must be
 * what it should be, to the byte.
 */
#include "soak_call.h"

#include "../faults/wrap.h"
#include "element.h"

#include <stdio.h>
#include <string.h>

enum {
    MAX_CALLS = 24, MAX_THREADS = 4, MAX_QUEUES = 12, MAX_WAITS = 4, EPOCH = 40,
    PACK_OFFSET = 256, WORKSPACE_OFFSET = 512
};

/* Whose workspace a call uses. */
enum workspace { WORKSPACE_OF_CONTEXT, WORKSPACE_OF_QUEUE, WORKSPACE_OF_CALL };

struct job {
    struct soak_call call;
    unsigned queue, thread;
    bool wants_event, has_room;
    cl_mem workspace, rooms[2];        /* rooms[i] is released when has_own_room[i] */
    bool has_own_room[2], has_own_workspace;
    size_t room_offsets[2];
    struct kiln_pack packs[2];
    cl_event done;
    enum kiln_status status;
};

struct session {
    struct soak *soak;
    struct kiln_context *kiln;
    cl_context cl;
    cl_command_queue queues[MAX_QUEUES], copies;
    bool is_loose[MAX_QUEUES];
    cl_mem workspaces[MAX_QUEUES];     /* of the caller's, shared by the calls of a queue */
    size_t workspace_bytes[MAX_QUEUES];
    unsigned num_queues, num_threads, num_jobs;
    struct job jobs[MAX_CALLS];
    cl_mem staging;                    /* the arena with everything in it */
    cl_event gate;
};

/* What outlives a session. */
static struct soak_arena arena;
static struct kiln_context *epoch_kiln;
static unsigned long epoch_of; /* 0: none */
static struct kiln_bundle solo_bundle;
static struct kiln_recipe solo_recipe;

/* ---- Contexts ---- */

/* All recipes of the linked bundles that match the device are as likely as any other. */
static const struct kiln_bundle *random_solo(const struct soak *soak, uint64_t *state)
{
    size_t num = 0;
    for (size_t i = 0; kiln_linked_bundles[i]; i++)
        if (kiln_bundle_distance(kiln_linked_bundles[i], &soak->context->facts) <= 1)
            num += kiln_linked_bundles[i]->num_recipes;
    if (!num)
        return NULL;
    size_t number = soak_below(state, num);
    for (size_t i = 0; kiln_linked_bundles[i]; i++) {
        const struct kiln_bundle *bundle = kiln_linked_bundles[i];
        if (kiln_bundle_distance(bundle, &soak->context->facts) > 1)
            continue;
        if (number < bundle->num_recipes) {
            solo_bundle = *bundle;
            solo_recipe = bundle->recipes[number];
            solo_bundle.recipes = &solo_recipe;
            solo_bundle.num_recipes = 1;
            solo_bundle.num_pins = 0;
            solo_bundle.pins = NULL;
            return &solo_bundle;
        }
        number -= bundle->num_recipes;
    }
    return NULL;
}

/* The context of this and the steps around it: of all bundles, or of one recipe and the generic
 * bundle behind it. */
static bool open_epoch(struct soak *soak)
{
    const unsigned long epoch = soak->step / EPOCH + 1;
    uint64_t state = soak_seed(soak, ~epoch);
    if (epoch == epoch_of)
        return true;
    kiln_context_destroy(&epoch_kiln);
    const struct kiln_context_params params = {
        .bundle = soak_below(&state, 2) ? random_solo(soak, &state) : NULL,
        .self_test = !soak_below(&state, 8),
    };
    epoch_of = epoch;
    return kiln_context_create(soak->launcher.context, soak->launcher.device, &params,
                   &epoch_kiln) == KILN_SUCCESS;
}

void soak_session_end(void)
{
    kiln_context_destroy(&epoch_kiln);
    soak_arena_close(&arena);
}

/* ---- Making up ---- */

static cl_mem make_buffer(const struct session *session, size_t bytes)
{
    return clCreateBuffer(session->cl, CL_MEM_READ_WRITE, bytes ? bytes : 1, NULL, NULL);
}

static bool open_queues(struct session *session, uint64_t *state)
{
    session->num_queues = 1 + (unsigned) soak_below(state, MAX_QUEUES);
    if (session->soak->one_by_one)
        session->num_queues = 1;
    session->copies = clCreateCommandQueue(session->cl, session->soak->launcher.device, 0, NULL);
    for (unsigned i = 0; i < session->num_queues; i++) {
        session->is_loose[i] = session->soak->orders && soak_below(state, 3) == 0;
        session->queues[i] = clCreateCommandQueue(session->cl, session->soak->launcher.device,
                session->is_loose[i] ? session->soak->orders : 0, NULL);
        if (!session->queues[i])
            return false;
    }
    return session->copies != NULL;
}

/* Rooms for its packs: of their own, or in the arena where that is used as a whole. */
static bool make_rooms(struct session *session, uint64_t *state, struct job *job)
{
    for (unsigned i = 0; i < 2; i++) {
        size_t bytes = 0;
        if (!(job->call.packed >> i & 1))
            continue;
        if (kiln_pack_bytes(session->kiln, &job->call.gemm, i ? KILN_PACK_B : KILN_PACK_A, &bytes))
            return false;
        if (!arena.by_parts && soak_below(state, 2) &&
                soak_arena_place_pack(&arena, bytes + 1, &job->rooms[i], &job->room_offsets[i]))
            continue;
        job->room_offsets[i] = PACK_OFFSET;
        job->rooms[i] = make_buffer(session, PACK_OFFSET + bytes);
        job->has_own_room[i] = true;
        if (!job->rooms[i])
            return false;
    }
    return true;
}

static bool make_workspace(struct session *session, uint64_t *state, struct job *job)
{
    const enum workspace whose = job->call.is_typed ? WORKSPACE_OF_CONTEXT
                                                    : (enum workspace) soak_below(state, 3);
    size_t bytes = 0;
    if (whose == WORKSPACE_OF_CONTEXT)
        return true;
    struct kiln_gemm gemm = job->call.gemm;
    gemm.workspace_offset = WORKSPACE_OFFSET;
    if (kiln_gemm_workspace_bytes(session->kiln, &gemm, &bytes))
        return false;
    job->call.gemm.workspace_offset = WORKSPACE_OFFSET;
    if (whose == WORKSPACE_OF_CALL || session->is_loose[job->queue]) {
        job->workspace = make_buffer(session, WORKSPACE_OFFSET + bytes);
        job->has_own_workspace = true;
        return job->workspace != NULL;
    }
    job->has_room = true;
    if (bytes > session->workspace_bytes[job->queue])
        session->workspace_bytes[job->queue] = bytes;
    return true;
}

/* Those that share their queue's. */
static bool share_workspaces(struct session *session)
{
    for (unsigned i = 0; i < session->num_jobs; i++) {
        struct job *job = &session->jobs[i];
        cl_mem *shared = &session->workspaces[job->queue];
        if (!job->has_room)
            continue;
        if (!*shared)
            *shared = make_buffer(session, WORKSPACE_OFFSET + session->workspace_bytes[job->queue]);
        if (!*shared)
            return false;
        job->workspace = *shared;
    }
    return true;
}

static bool make_jobs(struct session *session, uint64_t *state)
{
    const unsigned wanted = 1 + (unsigned) soak_below(state, MAX_CALLS);
    while (session->num_jobs < wanted) {
        struct job *job = &session->jobs[session->num_jobs];
        if (!soak_call_make(session->soak, &arena, state, &job->call))
            break;
        session->num_jobs++;
        job->queue = (unsigned) soak_below(state, session->num_queues);
        job->thread = (unsigned) soak_below(state, session->num_threads);
        job->wants_event = soak_below(state, 2);
        if (!make_rooms(session, state, job) || !make_workspace(session, state, job))
            return false;
    }
    return share_workspaces(session);
}

/* The arena as it begins, and the one with what comes late. */
static bool upload(struct session *session)
{
    session->staging = make_buffer(session, ARENA_BYTES);
    return session->staging &&
           !clEnqueueWriteBuffer(session->copies, session->staging, CL_TRUE, 0, ARENA_BYTES,
                   arena.wanted, 0, NULL, NULL) &&
           !clEnqueueWriteBuffer(session->copies, arena.whole, CL_TRUE, 0, ARENA_BYTES, arena.begin,
                   0, NULL, NULL);
}

/* ---- Enqueuing ---- */

/* Events that a command waits for, and that are released behind it. */
struct waits {
    cl_uint num;
    cl_event events[MAX_WAITS];
};

static void drop(struct waits *waits)
{
    while (waits->num)
        clReleaseEvent(waits->events[--waits->num]);
}

static const cl_event *list_of(const struct waits *waits)
{
    return waits->num ? waits->events : NULL;
}

/* A copy of A from the staging buffer, behind the gate. */
static enum kiln_status bring_late(struct session *session, const struct job *job,
        struct waits *waits)
{
    const struct matrix_place *a = &job->call.places[CALL_A];
    const size_t to = a->offset * (kiln_element_bytes(job->call.gemm.precision));
    const cl_int error = clEnqueueCopyBuffer(session->copies, session->staging, a->buffer, a->base,
            to, a->bytes, 1, &session->gate, &waits->events[waits->num]);
    waits->num += error == CL_SUCCESS;
    clFlush(session->copies);
    return (enum kiln_status) error;
}

/* Where the queue keeps no order the call waits for its packs, and these for what it waits for. */
static enum kiln_status pack_all(struct session *session, struct job *job, struct kiln_gemm *gemm,
        struct waits *waits)
{
    const bool is_loose = session->is_loose[job->queue];
    struct waits packed = { .num = 0 };
    enum kiln_status status = KILN_SUCCESS;
    for (unsigned i = 0; i < 2 && status == KILN_SUCCESS; i++) {
        if (!(job->call.packed >> i & 1))
            continue;
        status = kiln_pack_enqueue(session->kiln, gemm, i ? KILN_PACK_B : KILN_PACK_A,
                job->rooms[i], job->room_offsets[i], session->queues[job->queue], waits->num,
                list_of(waits), is_loose ? &packed.events[packed.num] : NULL, &job->packs[i]);
        packed.num += status == KILN_SUCCESS && is_loose;
        *(i ? &gemm->packed_b : &gemm->packed_a) = &job->packs[i];
    }
    if (packed.num) {
        drop(waits);
        *waits = packed;
    }
    return status;
}

static enum kiln_status multiply(struct session *session, const struct kiln_gemm *g, bool is_typed,
        cl_command_queue queue, const struct waits *waits, cl_event *event)
{
    const cl_uint num = waits->num;
    const cl_event *list = list_of(waits);
    const enum kiln_transpose ta = g->transa, tb = g->transb;
    if (!is_typed)
        return kiln_gemm_enqueue(session->kiln, g, queue, num, list, event);
    switch (g->precision) {
    case KILN_HALF:
        return kiln_hgemm(session->kiln, g->layout, ta, tb, g->m, g->n, g->k, (float) g->alpha,
                g->a, g->a_offset, g->lda, g->b, g->b_offset, g->ldb, (float) g->beta, g->c,
                g->c_offset, g->ldc, queue, num, list, event);
    case KILN_SINGLE:
        return kiln_sgemm(session->kiln, g->layout, ta, tb, g->m, g->n, g->k, (float) g->alpha,
                g->a, g->a_offset, g->lda, g->b, g->b_offset, g->ldb, (float) g->beta, g->c,
                g->c_offset, g->ldc, queue, num, list, event);
    default:
        return kiln_dgemm(session->kiln, g->layout, ta, tb, g->m, g->n, g->k, g->alpha, g->a,
                g->a_offset, g->lda, g->b, g->b_offset, g->ldb, g->beta, g->c, g->c_offset, g->ldc,
                queue, num, list, event);
    }
}

static enum kiln_status enqueue(struct session *session, struct job *job)
{
    struct waits waits = { .num = 0 };
    struct kiln_gemm gemm = job->call.gemm;
    const bool is_loose = session->is_loose[job->queue];
    enum kiln_status status = job->call.is_late ? bring_late(session, job, &waits) : KILN_SUCCESS;
    gemm.workspace = job->workspace;
    if (status == KILN_SUCCESS)
        status = pack_all(session, job, &gemm, &waits);
    for (unsigned i = 0; i < job->call.times && status == KILN_SUCCESS; i++) {
        const bool is_last = i + 1 == job->call.times;
        cl_event event = NULL;
        status = multiply(session, &gemm, job->call.is_typed, session->queues[job->queue], &waits,
                is_last    ? (job->wants_event ? &event : NULL)
                : is_loose ? &event
                           : NULL);
        if (is_last)
            job->done = event;
        else if (event) {
            drop(&waits);
            waits = (struct waits){ .num = 1, .events = { event } };
        }
    }
    drop(&waits);
    clFlush(session->queues[job->queue]);
    return status;
}

struct worker {
    pthread_t thread;
    struct session *session;
    unsigned number;
};

static void *work(void *argument)
{
    const struct worker *worker = argument;
    struct session *session = worker->session;
    wrap_begin_quietly();
    for (unsigned i = 0; i < session->num_jobs; i++)
        if (session->jobs[i].thread == worker->number)
            session->jobs[i].status = enqueue(session, &session->jobs[i]);
    return NULL;
}

/* False: a thread could not be had. */
static bool enqueue_all(struct session *session)
{
    struct worker workers[MAX_THREADS];
    unsigned num = 0;
    for (; num < session->num_threads; num++) {
        workers[num] = (struct worker){ .session = session, .number = num };
        if (pthread_create(&workers[num].thread, NULL, work, &workers[num]))
            break;
    }
    for (unsigned i = 0; i < num; i++)
        pthread_join(workers[i].thread, NULL);
    return num == session->num_threads;
}

static void finish(struct session *session)
{
    clSetUserEventStatus(session->gate, CL_COMPLETE);
    clFinish(session->copies);
    for (unsigned i = 0; i < session->num_queues; i++)
        clFinish(session->queues[i]);
}

/* ---- Judging ---- */

static void report(struct session *session, const struct job *job, const char *what)
{
    char call[VERIFY_MESSAGE_BYTES], text[2 * VERIFY_MESSAGE_BYTES], kernel[SOAK_EXPLAIN_BYTES];
    soak_call_print(&job->call, call);
    snprintf(text, sizeof text, "call %td, queue %u%s, thread %u: %s; %s", job - session->jobs + 1,
            job->queue, session->is_loose[job->queue] ? " (loose)" : "", job->thread, what, call);
    soak_explain(session->kiln, &job->call.gemm, kernel);
    soak_report(session->soak, text, kernel);
}

static bool event_is_right(const struct job *job)
{
    cl_int state = CL_QUEUED;
    if ((job->done != NULL) != job->wants_event)
        return false;
    return !job->done || (!clGetEventInfo(job->done, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                  sizeof state, &state, NULL) &&
                                 state == CL_COMPLETE);
}

static void judge(struct session *session)
{
    size_t at = 0;
    bool is_right = true;
    if (clEnqueueReadBuffer(session->copies, arena.whole, CL_TRUE, 0, ARENA_BYTES, arena.found, 0,
                NULL, NULL)) {
        soak_report(session->soak, "the arena can not be read", "");
        return;
    }
    for (unsigned i = 0; i < session->num_jobs; i++)
        soak_call_apply(&session->jobs[i].call, &arena);
    for (unsigned i = 0; i < session->num_jobs; i++) {
        const struct job *job = &session->jobs[i];
        const bool is_product = soak_call_judge(&job->call, &arena);
        is_right = is_right && is_product;
        if (job->status != KILN_SUCCESS)
            report(session, job, kiln_status_string(job->status));
        else if (!is_product)
            report(session, job, "a wrong product");
        else if (!event_is_right(job))
            report(session, job, "the event is missing, unwanted or not complete");
    }
    if (is_right && !soak_arena_is_intact(&arena, &at)) {
        char text[64];
        snprintf(text, sizeof text, "a stray write, at byte %zu of the arena", at);
        soak_report(session->soak, text, "");
    }
}

static void release(cl_mem buffer)
{
    if (buffer)
        clReleaseMemObject(buffer);
}

static void session_close(struct session *session)
{
    for (unsigned i = 0; i < session->num_jobs; i++) {
        struct job *job = &session->jobs[i];
        if (job->done)
            clReleaseEvent(job->done);
        if (job->has_own_workspace)
            release(job->workspace);
        for (unsigned j = 0; j < 2; j++)
            if (job->has_own_room[j])
                release(job->rooms[j]);
    }
    for (unsigned i = 0; i < session->num_queues; i++) {
        release(session->workspaces[i]);
        if (session->queues[i])
            clReleaseCommandQueue(session->queues[i]);
    }
    if (session->copies)
        clReleaseCommandQueue(session->copies);
    if (session->gate)
        clReleaseEvent(session->gate);
    release(session->staging);
}

void soak_session(struct soak *soak)
{
    static struct session session;
    uint64_t state = soak_seed(soak, soak->step << 20);
    session = (struct session){ .soak = soak, .cl = soak->launcher.context };
    if ((!arena.whole && !soak_arena_open(&arena, session.cl, soak->base_bytes)) ||
            !open_epoch(soak)) {
        soak_report(soak, "no arena or no context", "");
        return;
    }
    session.kiln = epoch_kiln;
    session.num_threads = 1 + (unsigned) soak_below(&state, MAX_THREADS);
    session.gate = clCreateUserEvent(session.cl, NULL);
    soak_arena_clear(&arena, soak_below(&state, 2));
    if (session.gate && open_queues(&session, &state) && make_jobs(&session, &state) &&
            upload(&session) && enqueue_all(&session)) {
        finish(&session);
        judge(&session);
    } else
        soak_report(soak, "a session can not be made up", "");
    soak->num_calls += session.num_jobs;
    if (session.num_jobs)
        soak_note_kernel(soak, session.kiln, &session.jobs[0].call.gemm);
    session_close(&session);
}
