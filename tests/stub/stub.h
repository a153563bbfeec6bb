/* stub.h: what a test says to the fake OpenCL driver, and what it may ask of it.
 *
 * The driver is a static library linked instead of libOpenCL. It runs no kernel: it checks every
 * call as a strict driver would, records what is enqueued, and fails where a test told it to.
 * Commands complete at once. Released objects stay readable until stub_reset(), so that the use of
 * a dead handle is found and counted rather than being undefined. No function here or behind the
 * OpenCL names calls malloc: a test may count the allocations of the code it tests.
 *
 * The OpenCL functions may be called from any thread, as OpenCL allows it; the functions of this
 * header belong to the main thread while no other runs, except where noted.
 */
#ifndef KILN_TESTS_STUB_H
#define KILN_TESTS_STUB_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#ifndef CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#endif
#include <CL/cl.h>
#include <stdbool.h>
#include <stddef.h>

enum { STUB_MAX_ARGS = 32, STUB_MAX_ARG_BYTES = 16 };

/* What clGetPlatformInfo and clGetDeviceInfo answer. Strings must outlive the device. */
struct stub_facts {
    const char *platform_name, *platform_version;
    const char *name, *vendor, *driver, *version, *c_version, *profile, *extensions;
    cl_device_type type;
    cl_uint compute_units, address_bits, base_align_bits;
    cl_uint vector_half, vector_float, vector_double;     /* native widths */
    size_t max_work_group;
    size_t max_work_items[3];
    cl_ulong local_bytes, global_bytes, max_alloc_bytes;
    size_t max_pixels;                                    /* of an image over a buffer; 0: none */
    cl_device_fp_config double_config;                    /* 0: no double precision */
    cl_bool available, compiler_available, linker_available;
    /* cl_nv_device_attribute_query, answered where the extensions name it. */
    cl_uint nv_major, nv_minor;
    const char *binary_head;           /* of binaries, before the program's text; NULL: nothing */
};

enum stub_kind {
    STUB_PLATFORM, STUB_DEVICE, STUB_CONTEXT, STUB_QUEUE, STUB_MEM, STUB_PROGRAM, STUB_KERNEL,
    STUB_EVENT, STUB_NUM_KINDS
};

enum stub_command {
    STUB_NDRANGE, STUB_MARKER, STUB_BARRIER, STUB_READ, STUB_WRITE, STUB_COPY, STUB_FILL
};

/* One side of a copy of a rectangle: the first byte, and the bytes from a row to the next. */
struct stub_rows {
    cl_mem buffer;
    size_t start, pitch;
};

struct stub_arg {
    size_t size;                       /* bytes; 0: never set */
    unsigned char bytes[STUB_MAX_ARG_BYTES];
};

/* One command that was enqueued, in the order of arrival. */
struct stub_record {
    enum stub_command command;
    cl_command_queue queue;
    cl_kernel kernel;                  /* NULL unless STUB_NDRANGE; so are all to args */
    const char *entry;                 /* the kernel's name */
    const char *text;                  /* its program's text */
    cl_uint work_dim;
    size_t global[3], local[3];        /* 1 beyond work_dim; local is all 0 where it was NULL */
    unsigned num_args;
    struct stub_arg args[STUB_MAX_ARGS];
    cl_uint num_waits;
    const cl_event *waits;
    struct stub_rows from, to;         /* of STUB_COPY, with the two below */
    size_t num_rows, row_bytes;
    cl_event event;                    /* NULL where the caller asked for none */
    unsigned long thread;              /* a number of the calling thread, from 1 */
};

/* Called for each kernel launch, with the driver locked: it may call nothing but the stub_record_
 * and stub_buffer_ functions. */
typedef void stub_emulator(void *user, const struct stub_record *record);

/* Forgets everything: objects, records, counts, plans. Handles made before are invalid memory. */
void stub_reset(void);

struct stub_facts stub_default_facts(void);
cl_device_id stub_make_device(const struct stub_facts *facts); /* on a platform of its own */
cl_context stub_make_context(cl_uint num_devices, const cl_device_id *devices);
cl_command_queue stub_make_queue(cl_context context, cl_device_id device, bool out_of_order);
cl_mem stub_make_buffer(cl_context context, size_t bytes);         /* memory comes at first use */
cl_mem stub_make_part(cl_mem parent, size_t offset, size_t bytes); /* its sub-buffer */
cl_mem stub_make_image(cl_context context, size_t bytes);          /* a cl_mem, but no buffer */
cl_event stub_make_event(cl_context context);                      /* complete, of no queue */
/* The extent of an image over a buffer and that buffer, both also after the image is released. */
size_t stub_image_pixels(cl_mem image, cl_mem *buffer);
void *stub_buffer_data(cl_mem buffer); /* its memory, zeroed */

/* The nth call of the function from now on (1: the next one) fails with the code; nth 0: every call
 * does. Any number of plans up to 16; stub_clear_plans() drops them, builds and limits included. */
void stub_fail(const char *function, unsigned nth, cl_int code);
/* clBuildProgram fails with the code for programs whose text contains `part`. */
void stub_fail_build(const char *part, cl_int code);
/* clGetKernelWorkGroupInfo and launches of the named kernel see this limit, not the device's. */
void stub_limit_kernel(const char *entry, size_t max_work_group);
void stub_clear_plans(void);
void stub_emulate(stub_emulator *emulator, void *user);
/* Whether clEnqueueCopyBufferRect copies. At first it is only recorded: rows may be spread over
 * more memory than the machine has. */
void stub_copy_rows(bool is_done);
/* A non-zero value makes threads yield now and then inside the driver, to provoke interleaving. */
void stub_set_yield(unsigned every);

unsigned long stub_calls(const char *function); /* since stub_reset() */
unsigned long stub_misuses(void);               /* dead handles, shared kernels, ... so far */
const char *stub_last_misuse(void);             /* "" where there was none */
unsigned stub_live(enum stub_kind kind);        /* objects that still have references */
int stub_refs(const void *handle);              /* of any OpenCL object */

size_t stub_num_records(void);
const struct stub_record *stub_record_at(size_t index);
void stub_clear_records(void); /* events made stay valid */
/* Whether a driver may start command `later` only after command `earlier` has ended, by the order
 * of an in-order queue, wait lists, markers and barriers, directly or through other commands. */
bool stub_record_depends(size_t later, size_t earlier);
/* Whether command `later` waits for the event, directly or through other commands. */
bool stub_record_awaits(size_t later, cl_event event);
/* The index of the command that the event stands for, or (size_t)-1. */
size_t stub_record_of(cl_event event);
long long stub_record_int(const struct stub_record *record, unsigned arg); /* 4 or 8 bytes */
double stub_record_real(const struct stub_record *record, unsigned arg);   /* 4 or 8 bytes */
cl_mem stub_record_mem(const struct stub_record *record, unsigned arg);

#endif
