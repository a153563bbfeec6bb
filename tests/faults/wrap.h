/* wrap.h: stands between the library and OpenCL, malloc and its kin, by the linker's --wrap.
 *
 * What the library calls between wrap_begin and wrap_end, in the thread that called them, is
 * counted, and one call or all from one on can fail. References that it takes and gives back are
 * counted there, and in threads of the driver, which call the library's callbacks.
 */
#ifndef KILN_TESTS_WRAP_H
#define KILN_TESTS_WRAP_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>
#include <stdbool.h>

/* Passing ones, of which nothing follows, and last the function's own way to say no for good. */
enum fault_kind {
    FAULT_HOST_MEMORY, FAULT_RESOURCES, FAULT_DEVICE_MEMORY, FAULT_REFUSED, NUM_FAULT_KINDS
};

struct fault {
    unsigned long at;                  /* 0: no call fails; 1: the first, ... */
    bool for_good;                     /* and all that follow */
    enum fault_kind kind;
    const char *only;                  /* NULL, or calls of other functions do not count */
};

/* What became of a fault. */
struct wrap_report {
    unsigned long calls;               /* that could have failed */
    const char *failed;                /* the first that did; NULL: none */
    cl_int code;                       /* with which; of an allocation CL_OUT_OF_HOST_MEMORY */
};

/* In each thread of the test, before anything else. */
void wrap_enter_thread(void);

void wrap_begin(const struct fault *fault);
/* As above, and nothing fails. */
void wrap_begin_quietly(void);
struct wrap_report wrap_end(void);

/* References that the library holds, and those that it gave back without having them. */
long wrap_held(void);
long wrap_given_too_often(void);
/* Allocations that it has not freed; below 0: it freed what it did not allocate. */
long wrap_allocated(void);
void wrap_forget_all(void);
/* The test takes a reference over, such as that of a call's event. */
void wrap_take_over(const void *object);
/* Says on stdout what is held. */
void wrap_print(void);

#endif
