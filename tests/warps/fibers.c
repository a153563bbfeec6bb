/* fibers.c: see fibers.h. Fibers run one at a time, and only give way where they wait. They change
 * places by a few instructions of x86-64: swapcontext asks the kernel each time. */
#include "fibers.h"
#include "core/random.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of registers that a function leaves as they are, and where it returns to. */
enum { STACK_BYTES = 128 * 1024, MOST_AHEAD = 16, KEPT_REGISTERS = 6 };

struct fiber {
    void *at;                          /* its stack where it gave way */
    char *stack;
    bool is_done;
};

static struct fiber fibers[FIBERS_MOST];
static void *scheduler;
static unsigned current, count;
static bool has_moved;
static void (*fiber_body)(const void *);
static const void *fiber_user;
static uint64_t random_state = 1;

void fibers_fail(const char *what)
{
    fprintf(stderr, "warps: %s\n", what);
    exit(1);
}

unsigned fibers_self(void)
{
    return current;
}

unsigned fibers_count(void)
{
    return count;
}

/* Leaves this stack, and goes on with another one. */
void fibers_change(void **from, void *to);
__asm__(".text\n"
        ".type fibers_change, @function\n"
        "fibers_change:\n"
        "    pushq %rbx\n    pushq %rbp\n    pushq %r12\n"
        "    pushq %r13\n    pushq %r14\n    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n    popq %r14\n    popq %r13\n"
        "    popq %r12\n    popq %rbp\n    popq %rbx\n"
        "    ret\n");

static void give_way(void)
{
    fibers_change(&fibers[current].at, scheduler);
}

void fibers_meet(struct fibers_meeting *meeting, unsigned num, void (*last)(void *), void *user)
{
    const unsigned generation = meeting->generation;
    has_moved = true;
    if (++meeting->arrived == num) {
        if (last)
            last(user);
        meeting->arrived = 0;
        meeting->generation++;
        return;
    }
    while (meeting->generation == generation)
        give_way();
}

void fibers_wait(bool (*is_so)(const void *), const void *user)
{
    while (!is_so(user))
        give_way();
    has_moved = true;
}

void fibers_moved(void)
{
    has_moved = true;
}

bool fibers_toss(void)
{
    return random_next(&random_state) >> 63;
}

static void run_one(void)
{
    fiber_body(fiber_user);
    fibers[current].is_done = true;
    has_moved = true;
    give_way();
}

static void begin(unsigned number)
{
    struct fiber *fiber = &fibers[number];
    if (!fiber->stack && !(fiber->stack = aligned_alloc(16, STACK_BYTES)))
        fibers_fail("out of memory");
    fiber->is_done = false;
    /* As if it had given way at the head of run_one, which never returns. */
    void **top = (void **) (void *) (fiber->stack + STACK_BYTES) - 2;
    void (*const body)(void) = run_one;
    memcpy(top, &body, sizeof body);
    memset(top - KEPT_REGISTERS, 0, KEPT_REGISTERS * sizeof *top);
    fiber->at = top - KEPT_REGISTERS;
}

static void resume_warp(unsigned warp)
{
    const unsigned end = (warp + 1) * FIBERS_WARP;
    for (current = warp * FIBERS_WARP; current < end && current < count; current++)
        if (!fibers[current].is_done)
            fibers_change(&scheduler, fibers[current].at);
}

static bool are_done(void)
{
    for (unsigned i = 0; i < count; i++)
        if (!fibers[i].is_done)
            return false;
    return true;
}

void fibers_run(unsigned num, void (*body)(const void *), const void *user)
{
    const unsigned warps = (num + FIBERS_WARP - 1) / FIBERS_WARP;
    count = num;
    fiber_body = body;
    fiber_user = user;
    for (unsigned i = 0; i < num; i++)
        begin(i);
    while (!are_done()) {
        /* One warp gets ahead, then each comes once. */
        const unsigned ahead = (unsigned) (random_next(&random_state) % warps);
        const unsigned turns = (unsigned) (random_next(&random_state) % MOST_AHEAD);
        has_moved = false;
        for (unsigned i = 0; i < turns; i++)
            resume_warp(ahead);
        for (unsigned w = 0; w < warps; w++)
            resume_warp((ahead + w) % warps);
        if (!has_moved)
            fibers_fail("work-items wait for others that do not come");
    }
}
