/* stub_internal.h: what the files of the fake driver share.
 *
 * Every object starts with a struct stub_object; memory comes from an arena that lives until
 * stub_reset(). One mutex guards the lists. clSetKernelArg takes no lock on purpose: OpenCL forbids
 * two threads on one kernel, and so the thread sanitizer sees such a race as it is.
 */
#ifndef KILN_TESTS_STUB_INTERNAL_H
#define KILN_TESTS_STUB_INTERNAL_H

#include "stub.h"

#include <pthread.h>
#include <stdatomic.h>

struct stub_object {
    enum stub_kind kind;
    atomic_int refs;
    struct stub_object *next;
};

struct _cl_platform_id {
    struct stub_object object;
    struct stub_facts facts;
};

struct _cl_device_id {
    struct stub_object object;
    cl_platform_id platform;
    struct stub_facts facts;
};

struct _cl_context {
    struct stub_object object;
    cl_uint num_devices;
    cl_device_id *devices;
};

struct _cl_command_queue {
    struct stub_object object;
    cl_context context;
    cl_device_id device;
    cl_command_queue_properties properties;
};

struct _cl_mem {
    struct stub_object object;
    cl_context context;
    cl_mem_object_type type;
    cl_mem_flags flags;
    size_t size;
    cl_mem under;                      /* the buffer that an image lies over, or NULL */
    cl_mem parent;                     /* NULL: it is no sub-buffer */
    size_t offset;                     /* in the parent */
    void *host;
    void *data;                        /* NULL until it is used */
};

struct _cl_program {
    struct stub_object object;
    cl_context context;
    cl_uint num_devices;               /* of the context; one for a program from a binary */
    const cl_device_id *devices;
    cl_device_id built_for;
    char *text;
    size_t length;
    bool binary, built;
    cl_build_status status;
};

struct _cl_kernel {
    struct stub_object object;
    cl_program program;
    char *entry;
    unsigned num_args;
    size_t arg_size[STUB_MAX_ARGS];    /* as declared; 0: unknown type, any size */
    bool arg_is_mem[STUB_MAX_ARGS];
    struct stub_arg args[STUB_MAX_ARGS];
    atomic_ulong setter;               /* thread that set arguments since the last launch */
};

struct _cl_event {
    struct stub_object object;
    cl_context context;
    cl_command_queue queue;
    cl_command_type type;
    cl_ulong time;
};

enum stub_function {
#define FUNCTION(name) STUB_##name,
#include "stub_functions.inc"
#undef FUNCTION
    STUB_NUM_FUNCTIONS
};

extern pthread_mutex_t stub_mutex;

/* Counts a call and says how it must fail: CL_SUCCESS, or the code of a plan. */
cl_int stub_enter(enum stub_function function);
void stub_misuse(const char *what);
void *stub_alloc(size_t bytes);                        /* zeroed; locked by the caller */
char *stub_copy_text(const char *text, size_t length); /* locked by the caller */
/* A new object of one reference; takes the lock. */
void *stub_new(enum stub_kind kind, size_t bytes);
void *stub_new_locked(enum stub_kind kind, size_t bytes);
/* Whether the handle is a living object of the kind; a dead one is counted as a misuse. */
bool stub_valid(const void *handle, enum stub_kind kind);
cl_int stub_retain(enum stub_function function, void *handle, enum stub_kind kind, cl_int error);
cl_int stub_release(enum stub_function function, void *handle, enum stub_kind kind, cl_int error);
/* The tail of every clGetXInfo. */
cl_int stub_put(const void *value, size_t bytes, size_t capacity, void *out, size_t *bytes_ret);
cl_int stub_put_text(const char *text, size_t capacity, void *out, size_t *bytes_ret);
struct stub_object *stub_objects(void); /* newest first; locked by the caller */
unsigned long stub_thread_number(void);
void stub_maybe_yield(void);
void stub_keep_record(struct stub_record *record); /* locked by the caller */
void stub_forget_records(void);
bool stub_build_fails(const char *text, cl_int *code);
size_t stub_kernel_limit(cl_kernel kernel, cl_device_id device);
void stub_run_emulator(const struct stub_record *record);
/* A driver's out-parameter for errors. */
void stub_set_error(cl_int *error_ret, cl_int error);

#endif
