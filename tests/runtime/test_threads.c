/* test_threads.c: eight threads on one context and three queues.
 *
 * The fake driver finds a kernel that two threads set up at once; here the record is checked: the
 * stages that share a workspace must come in whole groups, and on an out-of-order queue in a chain
 * of events. The thread sanitizer runs the same test. The threads count their failures, because
 * cmocka's asserts may only jump out of the main one. */
#include "fixture.h"

#include "internal.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { NUM_THREADS = 8, NUM_CALLS = 500, NUM_QUEUES = 3, NUM_NEW_QUEUES = 40 };

struct worker {
    struct fixture *fixture;
    cl_command_queue queues[NUM_QUEUES];
    unsigned number;
    cl_mem workspace;                  /* NULL: the context's; else shared by all on one queue */
    const struct kiln_pack *shared;
    unsigned failures;
    pthread_t thread;
};

/* The i-th call of a thread. Every argument names the call, to be found again in the record. */
static struct kiln_gemm call_of(const struct fixture *f, unsigned worker, unsigned i)
{
    static const size_t shapes[][3] = { { 16, 16, 4096 }, { 64, 64, 64 }, { 16, 20, 4000 },
        { 1024, 1024, 1024 }, { 17, 15, 5000 } };
    const size_t *shape = shapes[(worker + i) % 5];
    struct kiln_gemm gemm = fixture_gemm(f, shape[0], shape[1], shape[2]);
    gemm.alpha = worker * NUM_CALLS + i + 1;
    gemm.a_offset = gemm.b_offset = gemm.c_offset = (worker * NUM_CALLS + i) * 4;
    gemm.transa = i % 7 == 0 ? KILN_TRANS : KILN_NO_TRANS;
    return gemm;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    for (unsigned i = 0; i < NUM_CALLS; i++) {
        struct kiln_gemm gemm = call_of(worker->fixture, worker->number, i);
        cl_event done = NULL;
        bool wants_event = i % 3 == 0;
        unsigned place = (worker->number + i / 5) % NUM_QUEUES;
        gemm.workspace = place == 0 ? worker->workspace : NULL;
        enum kiln_status status = kiln_gemm_enqueue(worker->fixture->kiln, &gemm,
                worker->queues[place], 0, NULL, wants_event ? &done : NULL);
        worker->failures += status != KILN_SUCCESS || wants_event != (done != NULL);
        if (done != NULL) {
            clReleaseEvent(done);
        }
    }
    return NULL;
}

static bool is_entry(const struct stub_record *record, const char *entry)
{
    return record->command == STUB_NDRANGE && strcmp(record->entry, entry) == 0;
}

static bool uses_workspace(const struct stub_record *record)
{
    return is_entry(record, "pack_a") || is_entry(record, "pack_b") ||
           is_entry(record, "packed_mul");
}

/* The three stages agree with each other and with a call that was made. */
static void check_group(const struct stub_record *const stages[3])
{
    assert_true(is_entry(stages[0], "pack_a"));
    assert_true(is_entry(stages[1], "pack_b"));
    assert_true(is_entry(stages[2], "packed_mul"));
    assert_int_equal(stages[0]->thread, stages[2]->thread);
    assert_int_equal(stages[1]->thread, stages[2]->thread);
    long long offset = stub_record_int(stages[2], MUL_C_OFFSET);
    assert_int_equal(stub_record_int(stages[0], PACK_A_OFFSET), offset);
    assert_int_equal(stub_record_int(stages[1], PACK_B_OFFSET), offset);
    assert_true(stub_record_real(stages[2], MUL_ALPHA) == (double) (offset / 4 + 1));
    assert_int_equal(stub_record_int(stages[0], PACK_A_K), stub_record_int(stages[2], MUL_K));
    assert_int_equal(stub_record_int(stages[1], PACK_B_N), stub_record_int(stages[2], MUL_N));
    assert_ptr_equal(stub_record_mem(stages[0], PACK_A_WORK), stub_record_mem(stages[2], MUL_WORK));
}

static bool waits_for(const struct stub_record *record, cl_event event)
{
    for (cl_uint i = 0; i < record->num_waits; i++) {
        if (record->waits[i] == event) {
            return true;
        }
    }
    return false;
}

/* Walks the workspace's users on one queue: whole groups, and a chain where there is no order. */
static size_t check_queue(cl_command_queue queue, bool out_of_order)
{
    const struct stub_record *group[3] = { NULL };
    const struct stub_record *before = NULL;
    size_t num = 0;
    for (size_t i = 0; i < stub_num_records(); i++) {
        const struct stub_record *record = stub_record_at(i);
        if (record->queue != queue || !uses_workspace(record)) {
            continue;
        }
        assert_true(!out_of_order || before == NULL || waits_for(record, before->event));
        before = record;
        group[num % 3] = record;
        num++;
        if (num % 3 == 0) {
            check_group(group);
        }
    }
    assert_int_equal(num % 3, 0);
    return num / 3;
}

static void check_plain(void)
{
    for (size_t i = 0; i < stub_num_records(); i++) {
        const struct stub_record *r = stub_record_at(i);
        if (r->command == STUB_NDRANGE && !uses_workspace(r)) {
            long long offset = stub_record_int(r, PLAIN_C_OFFSET);
            assert_int_equal(stub_record_int(r, PLAIN_A_OFFSET), offset);
            assert_int_equal(stub_record_int(r, PLAIN_B_OFFSET), offset);
            assert_true(stub_record_real(r, PLAIN_ALPHA) == (double) (offset / 4 + 1));
        }
    }
}

static size_t count_groups(void)
{
    size_t groups = 0;
    for (unsigned worker = 0; worker < NUM_THREADS; worker++) {
        for (unsigned i = 0; i < NUM_CALLS; i++) {
            groups += (worker + i) % 5 % 2 == 0 && i % 7 != 0;
        }
    }
    return groups;
}

static void run_workers(struct fixture *f, struct worker workers[NUM_THREADS],
        cl_command_queue third, cl_mem workspace)
{
    for (unsigned i = 0; i < NUM_THREADS; i++) {
        workers[i] = (struct worker){ .fixture = f,
            .queues = { f->queue, f->loose, third },
            .number = i,
            .workspace = workspace };
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < NUM_THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
    }
}

static void share_a_context(struct fixture *f, cl_mem workspace)
{
    struct worker workers[NUM_THREADS];
    cl_command_queue third = stub_make_queue(f->cl, f->device, false);
    stub_set_yield(5);
    run_workers(f, workers, third, workspace);
    for (unsigned i = 0; i < NUM_THREADS; i++) {
        assert_int_equal(workers[i].failures, 0);
    }
    size_t groups = check_queue(f->queue, false);
    groups += check_queue(f->loose, true);
    groups += check_queue(third, false);
    assert_int_equal(groups, count_groups());
    check_plain();
    assert_string_equal(stub_last_misuse(), "");
    assert_int_equal(stub_calls("clBuildProgram"), 3);
    clReleaseCommandQueue(third);
}

static void threads_share_a_context(void **state)
{
    share_a_context(*state, NULL);
}

/* On an in-order queue: there each call waits for the one before. */
static void threads_share_the_callers_workspace(void **state)
{
    struct fixture *f = *state;
    cl_mem workspace = stub_make_buffer(f->cl, 1 << 24);
    share_a_context(f, workspace);
    clReleaseMemObject(workspace);
}

static void *build_first(void *argument)
{
    struct worker *worker = argument;
    struct kiln_gemm gemm = fixture_gemm(worker->fixture, 1024, 1024, 1024);
    worker->failures = kiln_gemm_enqueue(worker->fixture->kiln, &gemm, worker->queues[0], 0, NULL,
                               NULL) != KILN_SUCCESS;
    return NULL;
}

static void run_on_new_queue(struct fixture *f, const struct kiln_gemm *gemm)
{
    cl_command_queue queue = stub_make_queue(f->cl, f->device, false);
    assert_int_equal(kiln_gemm_enqueue(f->kiln, gemm, queue, 0, NULL, NULL), KILN_SUCCESS);
    clReleaseCommandQueue(queue);
}

static void *use_new_queues(void *argument)
{
    struct worker *worker = argument;
    const struct fixture *f = worker->fixture;
    struct kiln_gemm gemm = fixture_gemm(f, 16, 16, 4096);
    for (unsigned i = 0; i < NUM_NEW_QUEUES; i++) {
        cl_command_queue_properties order = i % 2 * CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
        cl_command_queue queue = clCreateCommandQueue(f->cl, f->device, order, NULL);
        for (unsigned j = 0; j < 3; j++) {
            cl_command_queue used = j == 1 ? f->queue : queue;
            worker->failures += kiln_gemm_enqueue(f->kiln, &gemm, used, 0, NULL, NULL) !=
                                KILN_SUCCESS;
        }
        clReleaseCommandQueue(queue);
    }
    return NULL;
}

/* Each thread's queues take the places of the others'; nobody loses a workspace in use. */
static void threads_take_each_others_places(void **state)
{
    struct fixture *f = *state;
    struct worker workers[NUM_THREADS];
    unsigned queues = stub_live(STUB_QUEUE);
    unsigned buffers = stub_live(STUB_MEM);
    struct kiln_gemm gemm = fixture_gemm(f, 16, 16, 4096);
    stub_set_yield(3);
    for (unsigned i = 0; i < NUM_THREADS; i++) {
        workers[i] = (struct worker){ .fixture = f };
        assert_int_equal(pthread_create(&workers[i].thread, NULL, use_new_queues, &workers[i]), 0);
    }
    for (unsigned i = 0; i < NUM_THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_int_equal(workers[i].failures, 0);
    }
    assert_int_equal(stub_num_records(), NUM_THREADS * NUM_NEW_QUEUES * 9);
    run_on_new_queue(f, &gemm);
    assert_int_equal(f->kiln->num_workspaces, KILN_MAX_WORKSPACES);
    assert_true(stub_live(STUB_QUEUE) <= queues + KILN_MAX_WORKSPACES);
    assert_true(stub_live(STUB_MEM) <= buffers + KILN_MAX_WORKSPACES);
    assert_string_equal(stub_last_misuse(), "");
}

/* First calls at once: one builds, the others wait for it, also where the build is refused. */
static void threads_build_once(void **state)
{
    struct fixture *f = *state;
    struct worker workers[NUM_THREADS];
    stub_set_yield(1);
    stub_fail_build(MARK_ALIGNED, CL_BUILD_PROGRAM_FAILURE);
    for (unsigned i = 0; i < NUM_THREADS; i++) {
        workers[i] = (struct worker){ .fixture = f, .queues = { f->queue } };
        assert_int_equal(pthread_create(&workers[i].thread, NULL, build_first, &workers[i]), 0);
    }
    for (unsigned i = 0; i < NUM_THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_int_equal(workers[i].failures, 0);
    }
    assert_int_equal(stub_calls("clBuildProgram"), 2);
    assert_int_equal(stub_num_records(), 3 * NUM_THREADS);
}

enum { NUM_PACKED_CALLS = 100 };

/* Packs B anew and multiplies with that, and with A that all threads share. */
static void *use_packs(void *argument)
{
    struct worker *worker = argument;
    const struct fixture *f = worker->fixture;
    struct kiln_gemm gemm = fixture_gemm(f, 16, 16, 4096);
    cl_mem room = stub_make_buffer(f->cl, 1 << 20);
    for (unsigned i = 0; i < NUM_PACKED_CALLS; i++) {
        cl_command_queue queue = worker->queues[(worker->number + i) % NUM_QUEUES];
        struct kiln_pack b;
        cl_event packed = NULL;
        gemm.packed_a = worker->shared;
        gemm.packed_b = NULL;
        worker->failures += kiln_pack_enqueue(f->kiln, &gemm, KILN_PACK_B, room, 0, queue, 0, NULL,
                                    &packed, &b) != KILN_SUCCESS;
        gemm.packed_b = i % 2 == 0 ? &b : NULL;
        worker->failures += kiln_gemm_enqueue(f->kiln, &gemm, queue, 1, &packed, NULL) !=
                            KILN_SUCCESS;
        clReleaseEvent(packed);
    }
    clReleaseMemObject(room);
    return NULL;
}

/* Every product reads the shared A, and B from the thread's own pack or the queue's workspace. */
static size_t count_packed_products(cl_mem a)
{
    size_t num = 0;
    for (size_t i = 0; i < stub_num_records(); i++) {
        const struct stub_record *r = stub_record_at(i);
        assert_false(is_entry(r, "pack_a"));
        if (is_entry(r, "packed_mul")) {
            assert_ptr_equal(stub_record_mem(r, MUL_WORK), a);
            assert_ptr_not_equal(stub_record_mem(r, MUL_WORK_B), a);
            num++;
        }
    }
    return num;
}

static void threads_share_packs(void **state)
{
    struct fixture *f = *state;
    struct worker workers[NUM_THREADS];
    struct kiln_gemm gemm = fixture_gemm(f, 16, 16, 4096);
    struct kiln_pack a;
    cl_command_queue third = stub_make_queue(f->cl, f->device, false);
    cl_mem room = stub_make_buffer(f->cl, 1 << 20);
    assert_int_equal(
            kiln_pack_enqueue(f->kiln, &gemm, KILN_PACK_A, room, 0, f->queue, 0, NULL, NULL, &a),
            KILN_SUCCESS);
    stub_clear_records();
    stub_set_yield(5);
    for (unsigned i = 0; i < NUM_THREADS; i++) {
        workers[i] = (struct worker){ .fixture = f,
            .queues = { f->queue, f->loose, third },
            .number = i,
            .shared = &a };
        assert_int_equal(pthread_create(&workers[i].thread, NULL, use_packs, &workers[i]), 0);
    }
    for (unsigned i = 0; i < NUM_THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_int_equal(workers[i].failures, 0);
    }
    assert_int_equal(count_packed_products(room), NUM_THREADS * NUM_PACKED_CALLS);
    clReleaseMemObject(room);
    clReleaseCommandQueue(third);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(threads_share_a_context),
        TEST(threads_share_the_callers_workspace),
        TEST(threads_take_each_others_places),
        TEST(threads_build_once),
        TEST(threads_share_packs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
