/* wrap.c: see wrap.h. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "wrap.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Who calls: a thread of the driver, the test itself, or the library for the test. */
enum caller { CALLER_DRIVER, CALLER_TEST, CALLER_LIBRARY };

enum { MAX_OBJECTS = 1 << 14 };

struct reference {
    const void *object;
    const char *type;
    long count;                        /* below 0: given back too often */
};

static _Thread_local enum caller caller;
static _Thread_local struct fault fault;
static _Thread_local struct wrap_report report;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct reference references[MAX_OBJECTS]; /* guarded by lock */
static size_t num_references;
static long allocations; /* not freed yet; guarded by lock */

static const cl_int codes[] = {
    [FAULT_HOST_MEMORY] = CL_OUT_OF_HOST_MEMORY,
    [FAULT_RESOURCES] = CL_OUT_OF_RESOURCES,
    [FAULT_DEVICE_MEMORY] = CL_MEM_OBJECT_ALLOCATION_FAILURE,
};

void wrap_enter_thread(void)
{
    caller = CALLER_TEST;
}

void wrap_begin(const struct fault *wanted)
{
    fault = *wanted;
    report = (struct wrap_report){ .calls = 0 };
    caller = CALLER_LIBRARY;
}

void wrap_begin_quietly(void)
{
    wrap_begin(&(struct fault){ .at = 0 });
}

struct wrap_report wrap_end(void)
{
    caller = CALLER_TEST;
    return report;
}

static bool call_fails(const char *name, cl_int code)
{
    if (caller != CALLER_LIBRARY || (fault.only != NULL && strcmp(fault.only, name) != 0)) {
        return false;
    }
    const unsigned long number = ++report.calls;
    const bool is_due = number == fault.at || (fault.for_good && number > fault.at);
    const bool fails = fault.at > 0 && is_due && code != CL_SUCCESS;
    if (fails && report.failed == NULL) {
        report.failed = name;
        report.code = code;
    }
    return fails;
}

static cl_int code_of(cl_int refusal)
{
    return fault.kind == FAULT_REFUSED ? refusal : codes[fault.kind];
}

/* ---- References ---- */

static void count(const void *object, const char *type, long by)
{
    if (object == NULL || caller == CALLER_TEST) {
        return;
    }
    pthread_mutex_lock(&lock);
    size_t i = 0;
    while (i < num_references && references[i].object != object) {
        i++;
    }
    if (i == num_references && num_references < MAX_OBJECTS) {
        references[num_references++] = (struct reference){ object, type, 0 };
    }
    if (i < num_references) {
        references[i].count += by;
        if (references[i].count == 0) {
            references[i] = references[--num_references];
        }
    }
    pthread_mutex_unlock(&lock);
}

static long sum_of(int sign)
{
    long sum = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < num_references; i++) {
        const long here = sign * references[i].count;
        sum += here > 0 ? here : 0;
    }
    pthread_mutex_unlock(&lock);
    return sum;
}

long wrap_held(void)
{
    return sum_of(1);
}

long wrap_given_too_often(void)
{
    return sum_of(-1);
}

long wrap_allocated(void)
{
    pthread_mutex_lock(&lock);
    const long num = allocations;
    pthread_mutex_unlock(&lock);
    return num;
}

void wrap_forget_all(void)
{
    pthread_mutex_lock(&lock);
    num_references = 0;
    allocations = 0;
    pthread_mutex_unlock(&lock);
}

void wrap_take_over(const void *object)
{
    const enum caller before = caller;
    caller = CALLER_LIBRARY;
    count(object, "taken over", -1);
    caller = before;
}

void wrap_print(void)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < num_references; i++) {
        printf("    %s: %ld references\n", references[i].type, references[i].count);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- What stands in OpenCL's place ---- */

#define CALL(name, refusal, parameters, arguments)                       \
    cl_int __real_##name parameters;                                     \
    cl_int __wrap_##name parameters;                                     \
    cl_int __wrap_##name parameters                                      \
    {                                                                    \
        const cl_int code = code_of(refusal);                            \
        return call_fails(#name, code) ? code : __real_##name arguments; \
    }

#define CREATE(name, refusal, type, parameters, arguments) \
    type __real_##name parameters;                         \
    type __wrap_##name parameters;                         \
    type __wrap_##name parameters                          \
    {                                                      \
        const cl_int code = code_of(refusal);              \
        if (call_fails(#name, code)) {                     \
            if (error != NULL) {                           \
                *error = code;                             \
            }                                              \
            return NULL;                                   \
        }                                                  \
        type made = __real_##name arguments;               \
        count(made, #type, 1);                             \
        return made;                                       \
    }

#define ENQUEUE(name, refusal, parameters, arguments)     \
    cl_int __real_##name parameters;                      \
    cl_int __wrap_##name parameters;                      \
    cl_int __wrap_##name parameters                       \
    {                                                     \
        cl_int code = code_of(refusal);                   \
        if (call_fails(#name, code)) {                    \
            return code;                                  \
        }                                                 \
        code = __real_##name arguments;                   \
        if (code == CL_SUCCESS && event != NULL) {        \
            count(*event, "cl_event", 1);                 \
        }                                                 \
        return code;                                      \
    }

#define RETAIN(name, refusal, type)        \
    cl_int __real_##name(type object);     \
    cl_int __wrap_##name(type object);     \
    cl_int __wrap_##name(type object)      \
    {                                      \
        cl_int code = code_of(refusal);    \
        if (call_fails(#name, code)) {     \
            return code;                   \
        }                                  \
        code = __real_##name(object);      \
        if (code == CL_SUCCESS) {          \
            count(object, #type, 1);       \
        }                                  \
        return code;                       \
    }

/* A release does not fail: nobody could do anything about it. */
#define RELEASE(name, type)                \
    cl_int __real_##name(type object);     \
    cl_int __wrap_##name(type object);     \
    cl_int __wrap_##name(type object)      \
    {                                      \
        count(object, #type, -1);          \
        return __real_##name(object);      \
    }

#include "wrapped.inc"

/* Allocations fail when it is memory on the host that is lacking. */
static bool allocation_fails(void)
{
    return call_fails("an allocation",
            fault.kind == FAULT_HOST_MEMORY ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS);
}

static void *count_allocation(void *memory)
{
    if (memory != NULL && caller != CALLER_TEST) {
        pthread_mutex_lock(&lock);
        allocations++;
        pthread_mutex_unlock(&lock);
    }
    return memory;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    return allocation_fails() ? NULL : count_allocation(__real_malloc(size));
}

void *__real_calloc(size_t num, size_t size);
void *__wrap_calloc(size_t num, size_t size);
void *__wrap_calloc(size_t num, size_t size)
{
    return allocation_fails() ? NULL : count_allocation(__real_calloc(num, size));
}

void __real_free(void *memory);
void __wrap_free(void *memory);
void __wrap_free(void *memory)
{
    if (memory != NULL && caller != CALLER_TEST) {
        pthread_mutex_lock(&lock);
        allocations--;
        pthread_mutex_unlock(&lock);
    }
    __real_free(memory);
}
