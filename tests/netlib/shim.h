/* shim.h: what the files of the shim share. */
#ifndef KILN_NETLIB_SHIM_H
#define KILN_NETLIB_SHIM_H

#include <kiln/kiln.h>

/* Elements before a matrix in its buffer; odd, so that offsets count. */
enum { OFFSET_A = 5, OFFSET_B = 3, OFFSET_C = 7 };

/* The tester's; it takes the number of the bad argument. */
void xerbla_(const char *routine, const int *argument, size_t length) __attribute__((weak));

struct operand {
    const void *data;
    int ld;
    size_t bytes;                      /* from the first element to the last */
    cl_mem buffer;
};

/* A device buffer that grows with the operands. */
struct store {
    cl_mem buffer;
    size_t bytes;
};

extern struct shim_device {
    cl_context context;
    cl_command_queue queue;
    struct kiln_context *kiln;
    struct store a, b, c;
    unsigned long calls;
} shim_device;

/* Ends the program unless the status is 0. */
void shim_check(const char *what, int status);
/* Opens the device once. */
void shim_open(void);
/* Brings an operand to the device, `offset` bytes into its buffer. */
void shim_upload(struct operand *operand, struct store *store, size_t offset);

#endif
