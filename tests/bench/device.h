/* device.h: the OpenCL device under test, and the operands of a problem in its memory. */
#ifndef BENCH_DEVICE_H
#define BENCH_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "problem.h"
#include "timer.h"

struct device {
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;            /* in order, no profiling: what an application would use */
    cl_command_queue profiling_queue;  /* in order; NULL unless has_clock */
    char name[256], platform[256], driver[256];
    bool has_half, has_double;         /* arithmetic, not storage */
    bool is_cpu;                       /* the host's own processor: its peers are on the host */
    bool is_nvidia;
    bool has_clock;                    /* timed by its own clock too: all but CPUs */
    uint64_t most_buffer_bytes;        /* of one buffer */
    uint64_t memory_bytes;             /* of all */
    unsigned compute_units;
    int host_threads;                  /* for peers on the host: what the device uses, if a CPU */
};

/* Opens the first device of any platform whose name contains `substring`; NULL or "" fits all. A
 * CPU gets a clock only when `wants_clock`. False with a message in `error`. */
bool device_open(struct device *device, const char *substring, bool wants_clock, char *error,
        size_t size);
void device_close(struct device *device);

/* What POCL_AFFINITY says where the device is PoCL's and it says anything; else NULL. */
const char *device_affinity(const struct device *device);

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

/* Enqueues one multiplication. `event` may be NULL; otherwise it is complete when C is. */
typedef bool device_enqueue(void *user, cl_command_queue queue, cl_event *event);

/* The way in which every peer on an OpenCL queue takes a sample: batches where the device has a
 * clock of its own, otherwise call by call, as the peers on the host do. */
bool device_sample(const struct device *device, device_enqueue *enqueue, void *user,
        double min_seconds, struct sample *sample);

/* Copies C to host memory. */
bool operands_read(const struct operands *operands, const struct device *device,
        const struct problem *problem, void *c);

#endif
