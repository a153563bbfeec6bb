/* test_queues.c: many queues and many threads, on a real driver, and a fork.
 *
 * Threads take the library's turns on one queue: with its own workspaces, and with one that the
 * caller shares among all, which an in-order queue allows. Products are of integers, and each call
 * has a C of its own, so that stages of two calls that mix are seen.
 */
#define _DEFAULT_SOURCE
#include "bundles.h"
#include "setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 48, NUM_THREADS = 4, NUM_CALLS = 200, NUM_QUEUES = 20, MANY_QUEUES = 200 };

struct worker {
    pthread_t thread;
    unsigned number;
    cl_mem a, b, c[NUM_CALLS];
    float wanted[SIZE * SIZE];
    unsigned failures;                 /* calls that were refused */
};

struct pool {
    struct setup setup;
    struct kiln_context *kiln;
    cl_command_queue queues[NUM_QUEUES];
    unsigned num_queues;
    cl_mem workspace;                  /* NULL: the context's */
    pthread_barrier_t start;
    struct worker workers[NUM_THREADS];
};

static struct pool pool;
static bool is_open;

static float value(const struct worker *worker, size_t index, unsigned modulus)
{
    return (float) ((index + worker->number * 3) % modulus) - (float) (modulus / 2);
}

static cl_mem integers(const struct worker *worker, unsigned modulus)
{
    float values[SIZE * SIZE];
    for (size_t i = 0; i < SIZE * SIZE; i++) {
        values[i] = value(worker, i, modulus);
    }
    return setup_buffer(&pool.setup, sizeof values, values);
}

static void worker_open(struct worker *worker, unsigned number)
{
    *worker = (struct worker){ .number = number };
    worker->a = integers(worker, 7);
    worker->b = integers(worker, 5);
    for (unsigned i = 0; i < NUM_CALLS; i++) {
        worker->c[i] = setup_buffer(&pool.setup, sizeof worker->wanted, NULL);
    }
    for (size_t i = 0; i < SIZE * SIZE; i++) {
        for (size_t p = 0; p < SIZE; p++) {
            worker->wanted[i] += value(worker, i / SIZE * SIZE + p, 7) *
                                 value(worker, p * SIZE + i % SIZE, 5);
        }
    }
}

static unsigned worker_close(struct worker *worker)
{
    float found[SIZE * SIZE];
    unsigned wrong = 0;
    for (unsigned i = 0; i < NUM_CALLS; i++) {
        setup_read(&pool.setup, worker->c[i], sizeof found, found);
        wrong += memcmp(found, worker->wanted, sizeof found) != 0;
        clReleaseMemObject(worker->c[i]);
    }
    clReleaseMemObject(worker->a);
    clReleaseMemObject(worker->b);
    return wrong;
}

static struct kiln_gemm call_of(const struct worker *worker, unsigned number)
{
    return (struct kiln_gemm){
        .m = SIZE,
        .n = SIZE,
        .k = SIZE,
        .alpha = 1,
        .a = worker->a,
        .b = worker->b,
        .c = worker->c[number],
        .workspace = pool.workspace,
    };
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    pthread_barrier_wait(&pool.start);
    for (unsigned i = 0; i < NUM_CALLS; i++) {
        const struct kiln_gemm gemm = call_of(worker, i);
        worker->failures += kiln_gemm_enqueue(pool.kiln, &gemm,
                                    pool.queues[(worker->number + i) % pool.num_queues], 0, NULL,
                                    NULL) != KILN_SUCCESS;
    }
    return NULL;
}

static void finish_all(void)
{
    for (unsigned i = 0; i < pool.num_queues; i++) {
        clFinish(pool.queues[i]);
    }
}

/* The calls of all threads at once, and what came of them. */
static unsigned run_threads(const char *what)
{
    unsigned wrong = 0, refused = 0;
    pthread_barrier_init(&pool.start, NULL, NUM_THREADS);
    for (unsigned i = 0; i < NUM_THREADS; i++) {
        worker_open(&pool.workers[i], i);
    }
    for (unsigned i = 0; i < NUM_THREADS; i++) {
        need(pthread_create(&pool.workers[i].thread, NULL, work, &pool.workers[i]) == 0,
                "a thread");
    }
    for (unsigned i = 0; i < NUM_THREADS; i++) {
        pthread_join(pool.workers[i].thread, NULL);
        refused += pool.workers[i].failures;
    }
    finish_all();
    for (unsigned i = 0; i < NUM_THREADS; i++) {
        wrong += worker_close(&pool.workers[i]);
    }
    pthread_barrier_destroy(&pool.start);
    if (wrong + refused > 0) {
        printf("FAILED: %s: of %d calls %u are wrong, %u were refused\n", what,
                NUM_THREADS * NUM_CALLS, wrong, refused);
    }
    return wrong + refused > 0;
}

static void open_queues(unsigned num, bool loose)
{
    cl_command_queue_properties orders = 0;
    clGetDeviceInfo(pool.setup.device, CL_DEVICE_QUEUE_PROPERTIES, sizeof orders, &orders, NULL);
    pool.num_queues = num;
    for (unsigned i = 0; i < num; i++) {
        const bool is_loose = loose && i % 2 == 0;
        pool.queues[i] = clCreateCommandQueue(pool.setup.cl, pool.setup.device,
                is_loose ? orders & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0, NULL);
        need(pool.queues[i] != NULL, "a queue");
    }
}

static void close_queues(void)
{
    for (unsigned i = 0; i < pool.num_queues; i++) {
        clReleaseCommandQueue(pool.queues[i]);
    }
}

/* ---- Items ---- */

static unsigned one_queue(void)
{
    open_queues(1, false);
    const unsigned failures = run_threads("one in-order queue");
    close_queues();
    return failures;
}

static unsigned one_loose_queue(void)
{
    open_queues(1, true);
    const unsigned failures = run_threads("one out-of-order queue");
    close_queues();
    return failures;
}

/* More than the context keeps workspaces for. */
static unsigned many_queues(void)
{
    open_queues(NUM_QUEUES, true);
    const unsigned failures = run_threads("many queues");
    close_queues();
    return failures;
}

static unsigned shared_workspace(void)
{
    size_t bytes = 0;
    const struct kiln_gemm gemm = { .m = SIZE, .n = SIZE, .k = SIZE, .alpha = 1 };
    need(kiln_gemm_workspace_bytes(pool.kiln, &gemm, &bytes) == KILN_SUCCESS && bytes > 0,
            "a recipe with a workspace");
    pool.workspace = setup_buffer(&pool.setup, bytes, NULL);
    open_queues(1, false);
    const unsigned failures = run_threads("one in-order queue and one workspace of the caller's");
    close_queues();
    clReleaseMemObject(pool.workspace);
    pool.workspace = NULL;
    return failures;
}

/* The references of queues that are long gone are given back, and so is their memory. */
static unsigned queues_in_turn(void)
{
    unsigned failures = 0;
    worker_open(&pool.workers[0], 0);
    for (unsigned i = 0; i < MANY_QUEUES && failures == 0; i++) {
        const struct kiln_gemm gemm = call_of(&pool.workers[0], i % NUM_CALLS);
        open_queues(1, i % 3 == 0);
        failures += kiln_gemm_enqueue(pool.kiln, &gemm, pool.queues[0], 0, NULL, NULL) !=
                    KILN_SUCCESS;
        clFinish(pool.queues[0]);
        close_queues();
    }
    failures += worker_close(&pool.workers[0]);
    failures += pool.kiln->num_workspaces > KILN_MAX_WORKSPACES;
    if (failures > 0) {
        printf("FAILED: queues in turn\n");
    }
    return failures;
}

/* OpenCL is the parent's: a child that leaves it alone, and ends by _exit or exec, is no harm. Each
 * item is itself done in a child that was forked before OpenCL was used. */
static unsigned fork_in_between(void)
{
    unsigned failures = 0;
    for (unsigned i = 0; i < 3; i++) {
        int status = 0;
        open_queues(2, false);
        worker_open(&pool.workers[0], i);
        for (unsigned n = 0; n < NUM_CALLS; n++) {
            const struct kiln_gemm gemm = call_of(&pool.workers[0], n);
            failures += kiln_gemm_enqueue(pool.kiln, &gemm, pool.queues[n % 2], 0, NULL, NULL) !=
                        KILN_SUCCESS;
            if (n == NUM_CALLS / 2) {
                const pid_t child = fork();
                need(child >= 0, "fork");
                if (child == 0) {
                    _exit(EXIT_SUCCESS);
                }
                need(waitpid(child, &status, 0) == child, "waitpid");
            }
        }
        finish_all();
        failures += worker_close(&pool.workers[0]) + (status != 0);
        close_queues();
    }
    if (failures > 0) {
        printf("FAILED: a fork between calls\n");
    }
    return failures;
}

static unsigned (*const items[])(void) = {
    one_queue, one_loose_queue, many_queues, shared_workspace, queues_in_turn, fork_in_between
};

enum { NUM_ITEMS = sizeof items / sizeof *items, NUM_SHORT_ROUNDS = 4, NUM_ROUNDS = 100 };

static unsigned do_item(const struct options *options, unsigned long number)
{
    const struct kiln_bundle *const bundles[] = { staged_bundle(), imaged_bundle() };
    unsigned failures = 0;
    if (!is_open) {
        setup_open(options, &pool.setup);
        is_open = true;
    }
    if (!options->whole && number / NUM_ITEMS >= NUM_SHORT_ROUNDS) {
        return 0;
    }
    const struct kiln_bundle *bundle = bundles[number / NUM_ITEMS % 2];
    children_note("bundle %s", bundle->name);
    pool.kiln = setup_kiln(&pool.setup, bundle);
    failures = items[number % NUM_ITEMS]();
    kiln_context_destroy(&pool.kiln);
    return failures;
}

int main(int argc, char **argv)
{
    const struct options options = options_of(argc, argv);
    return children_run(&options, NUM_ITEMS * NUM_ROUNDS, do_item);
}
