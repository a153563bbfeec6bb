/* stub_core.c: the fake driver's objects, memory, and the plans that tests make for it.
 *
 * Memory is an arena of anonymous mappings, because the allocations of the code under test are
 * counted by wrapping malloc, which would count the driver's own as well.
 */
#define _GNU_SOURCE
#include "stub_internal.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { CHUNK_BYTES = 1 << 20, MAX_PLANS = 16, MAX_MISUSE = 160 };

struct chunk {
    struct chunk *next;
    size_t bytes, used;
};

struct fail_plan {
    enum stub_function function;
    unsigned long at;                  /* the count of calls at which it fails; 0: always */
    cl_int code;
};

struct build_plan {
    const char *part;
    cl_int code;
};

struct limit_plan {
    const char *entry;
    size_t max_work_group;
};

static const char *const function_names[STUB_NUM_FUNCTIONS] = {
#define FUNCTION(name) #name,
#include "stub_functions.inc"
#undef FUNCTION
};

pthread_mutex_t stub_mutex = PTHREAD_MUTEX_INITIALIZER;

static struct chunk *chunks;
static struct stub_object *objects;
static atomic_ulong counts[STUB_NUM_FUNCTIONS];
static struct fail_plan fail_plans[MAX_PLANS];
static unsigned num_fail_plans;
static struct build_plan build_plans[MAX_PLANS];
static unsigned num_build_plans;
static struct limit_plan limit_plans[MAX_PLANS];
static unsigned num_limit_plans;
static stub_emulator *emulator_function;
static void *emulator_user;
static unsigned yield_every;
static atomic_ulong misuse_count;
static char misuse_text[MAX_MISUSE];
static atomic_ulong thread_count;
static _Thread_local unsigned long thread_number;
static _Thread_local unsigned yield_count;

static void die(const char *what)
{
    fprintf(stderr, "stub driver: %s\n", what);
    abort();
}

static void *map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        die("out of memory");
    }
    return memory;
}

void *stub_alloc(size_t bytes)
{
    bytes = (bytes + 15) / 16 * 16;
    if (chunks == NULL || chunks->bytes - chunks->used < bytes) {
        size_t size = bytes + 64 > CHUNK_BYTES ? bytes + 64 : CHUNK_BYTES;
        struct chunk *chunk = map(size);
        chunk->bytes = size;
        chunk->used = (sizeof *chunk + 15) / 16 * 16;
        chunk->next = chunks;
        chunks = chunk;
    }
    void *memory = (char *) chunks + chunks->used;
    chunks->used += bytes;
    return memory;
}

char *stub_copy_text(const char *text, size_t length)
{
    char *copy = stub_alloc(length + 1);
    memcpy(copy, text, length);
    return copy;
}

void *stub_new_locked(enum stub_kind kind, size_t bytes)
{
    struct stub_object *object = stub_alloc(bytes);
    object->kind = kind;
    atomic_init(&object->refs, 1);
    object->next = objects;
    objects = object;
    return object;
}

void *stub_new(enum stub_kind kind, size_t bytes)
{
    pthread_mutex_lock(&stub_mutex);
    void *object = stub_new_locked(kind, bytes);
    pthread_mutex_unlock(&stub_mutex);
    return object;
}

struct stub_object *stub_objects(void)
{
    return objects;
}

bool stub_valid(const void *handle, enum stub_kind kind)
{
    const struct stub_object *object = handle;
    if (object == NULL || object->kind != kind) {
        return false;
    }
    if (atomic_load_explicit(&object->refs, memory_order_relaxed) <= 0) {
        stub_misuse("a released object was used");
        return false;
    }
    return true;
}

static cl_int count_reference(enum stub_function function, void *handle, enum stub_kind kind,
        cl_int error, int change)
{
    cl_int planned = stub_enter(function);
    if (planned != CL_SUCCESS) {
        return planned;
    }
    if (!stub_valid(handle, kind)) {
        return error;
    }
    struct stub_object *object = handle;
    atomic_fetch_add_explicit(&object->refs, change, memory_order_relaxed);
    return CL_SUCCESS;
}

cl_int stub_retain(enum stub_function function, void *handle, enum stub_kind kind, cl_int error)
{
    return count_reference(function, handle, kind, error, 1);
}

cl_int stub_release(enum stub_function function, void *handle, enum stub_kind kind, cl_int error)
{
    return count_reference(function, handle, kind, error, -1);
}

cl_int stub_put(const void *value, size_t bytes, size_t capacity, void *out, size_t *bytes_ret)
{
    if (out != NULL) {
        if (capacity < bytes) {
            return CL_INVALID_VALUE;
        }
        memcpy(out, value, bytes);
    }
    if (bytes_ret != NULL) {
        *bytes_ret = bytes;
    }
    return CL_SUCCESS;
}

cl_int stub_put_text(const char *text, size_t capacity, void *out, size_t *bytes_ret)
{
    return stub_put(text, strlen(text) + 1, capacity, out, bytes_ret);
}

void stub_set_error(cl_int *error_ret, cl_int error)
{
    if (error_ret != NULL) {
        *error_ret = error;
    }
}

static enum stub_function find_function(const char *name)
{
    for (unsigned i = 0; i < STUB_NUM_FUNCTIONS; i++) {
        if (strcmp(function_names[i], name) == 0) {
            return (enum stub_function) i;
        }
    }
    die(name);
    return STUB_NUM_FUNCTIONS;
}

cl_int stub_enter(enum stub_function function)
{
    unsigned long count = 1 + atomic_fetch_add_explicit(&counts[function], 1, memory_order_relaxed);
    for (unsigned i = 0; i < num_fail_plans; i++) {
        const struct fail_plan *plan = &fail_plans[i];
        if (plan->function == function && (plan->at == 0 || plan->at == count)) {
            return plan->code;
        }
    }
    return CL_SUCCESS;
}

unsigned long stub_calls(const char *function)
{
    return atomic_load(&counts[find_function(function)]);
}

static void check_room(unsigned used)
{
    if (used >= MAX_PLANS) {
        die("too many plans");
    }
}

void stub_fail(const char *function, unsigned nth, cl_int code)
{
    check_room(num_fail_plans);
    struct fail_plan *plan = &fail_plans[num_fail_plans++];
    plan->function = find_function(function);
    plan->at = nth == 0 ? 0 : stub_calls(function) + nth;
    plan->code = code;
}

void stub_fail_build(const char *part, cl_int code)
{
    check_room(num_build_plans);
    build_plans[num_build_plans++] = (struct build_plan){ part, code };
}

void stub_limit_kernel(const char *entry, size_t max_work_group)
{
    check_room(num_limit_plans);
    limit_plans[num_limit_plans++] = (struct limit_plan){ entry, max_work_group };
}

void stub_clear_plans(void)
{
    num_fail_plans = 0;
    num_build_plans = 0;
    num_limit_plans = 0;
}

bool stub_build_fails(const char *text, cl_int *code)
{
    for (unsigned i = 0; i < num_build_plans; i++) {
        if (strstr(text, build_plans[i].part) != NULL) {
            *code = build_plans[i].code;
            return true;
        }
    }
    return false;
}

size_t stub_kernel_limit(cl_kernel kernel, cl_device_id device)
{
    for (unsigned i = 0; i < num_limit_plans; i++) {
        if (strcmp(limit_plans[i].entry, kernel->entry) == 0) {
            return limit_plans[i].max_work_group;
        }
    }
    return device->facts.max_work_group;
}

void stub_emulate(stub_emulator *emulator, void *user)
{
    emulator_function = emulator;
    emulator_user = user;
}

void stub_run_emulator(const struct stub_record *record)
{
    if (emulator_function != NULL) {
        emulator_function(emulator_user, record);
    }
}

void stub_set_yield(unsigned every)
{
    yield_every = every;
}

void stub_maybe_yield(void)
{
    if (yield_every != 0 && ++yield_count % yield_every == 0) {
        sched_yield();
    }
}

unsigned long stub_thread_number(void)
{
    if (thread_number == 0) {
        thread_number = 1 + atomic_fetch_add_explicit(&thread_count, 1, memory_order_relaxed);
    }
    return thread_number;
}

/* Only the first misuse keeps its text: what follows it is often its consequence. */
void stub_misuse(const char *what)
{
    if (atomic_fetch_add(&misuse_count, 1) == 0) {
        snprintf(misuse_text, sizeof misuse_text, "%s", what);
    }
}

unsigned long stub_misuses(void)
{
    return atomic_load(&misuse_count);
}

const char *stub_last_misuse(void)
{
    return misuse_text;
}

unsigned stub_live(enum stub_kind kind)
{
    unsigned live = 0;
    pthread_mutex_lock(&stub_mutex);
    for (const struct stub_object *object = objects; object != NULL; object = object->next) {
        live += object->kind == kind && atomic_load(&object->refs) > 0;
    }
    pthread_mutex_unlock(&stub_mutex);
    return live;
}

int stub_refs(const void *handle)
{
    const struct stub_object *object = handle;
    return atomic_load(&object->refs);
}

static void *buffer_data(cl_mem buffer)
{
    if (buffer->parent != NULL) {
        return (char *) buffer_data(buffer->parent) + buffer->offset;
    }
    if (buffer->host != NULL) {
        return buffer->host;
    }
    if (buffer->data == NULL) {
        buffer->data = map(buffer->size);
    }
    return buffer->data;
}

/* Takes no lock: an emulator calls it with the lock held, a test when nothing else runs. */
void *stub_buffer_data(cl_mem buffer)
{
    return buffer_data(buffer);
}

static void unmap_buffers(void)
{
    for (struct stub_object *object = objects; object != NULL; object = object->next) {
        if (object->kind == STUB_MEM) {
            cl_mem buffer = (cl_mem) object;
            if (buffer->data != NULL) {
                munmap(buffer->data, buffer->size);
            }
        }
    }
}

void stub_reset(void)
{
    unmap_buffers();
    stub_forget_records();
    objects = NULL;
    while (chunks != NULL) {
        struct chunk *next = chunks->next;
        munmap(chunks, chunks->bytes);
        chunks = next;
    }
    for (unsigned i = 0; i < STUB_NUM_FUNCTIONS; i++) {
        atomic_store(&counts[i], 0);
    }
    stub_clear_plans();
    stub_emulate(NULL, NULL);
    stub_set_yield(0);
    atomic_store(&misuse_count, 0);
    misuse_text[0] = '\0';
}
