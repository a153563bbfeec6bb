/* overhead.h: what a warm call costs the host. */
#ifndef BENCH_OVERHEAD_H
#define BENCH_OVERHEAD_H

#include <stdbool.h>
#include <stddef.h>

#include "device.h"

enum { OVERHEAD_BATCHES = 101, OVERHEAD_SERIES = 3 };

struct overhead {
    unsigned stages;                   /* launches of one call */
    size_t calls;                      /* of a batch */
    /* Microseconds a call, one sample a batch, sorted: kiln_sgemm, and as many launches of a
     * trivial and of a wide kernel as it makes. */
    double samples[OVERHEAD_SERIES][OVERHEAD_BATCHES];
    double call_us;                    /* one kiln_sgemm, median */
    double launch_us;                  /* one clEnqueueNDRangeKernel of a trivial kernel */
    double launch_wide_us;             /* the same of a kernel with as many arguments as a GEMM's */
    double beyond_us;                  /* (call_us - stages * launch_us) / stages */
    double beyond_wide_us;             /* the same against launch_wide_us */
};

/* Measures at 64 x 64 x 64, single precision. False with a message on stderr. */
bool overhead_measure(const struct device *device, struct overhead *overhead);
void overhead_report(const struct overhead *overhead);

#endif
