/* device.h: the OpenCL device under test, and the operands of a problem in its memory. */
#ifndef BENCH_DEVICE_H
#define BENCH_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "problem.h"

struct device {
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;            /* in order, no profiling: what an application would use */
    char name[256], platform[256], driver[256];
    bool has_half, has_double;         /* arithmetic, not storage */
    int host_threads;                  /* for peers on the host: what the device uses, if a CPU */
};

/* Opens the first device of any platform whose name contains `substring`; NULL or "" fits all.
 * False with a message in `error`. */
bool device_open(struct device *device, const char *substring, char *error, size_t size);
void device_close(struct device *device);

struct operands {
    cl_mem a, b, c;
};

/* Copies A and B to the device and makes room for C. False with everything released again. */
bool operands_create(struct operands *operands, const struct device *device,
        const struct problem *problem);
void operands_destroy(struct operands *operands);

/* Fills C with NaN, so that an element that nobody wrote shows. */
bool operands_poison(const struct operands *operands, const struct device *device,
        const struct problem *problem);

/* Copies C to host memory. */
bool operands_read(const struct operands *operands, const struct device *device,
        const struct problem *problem, void *c);

#endif
