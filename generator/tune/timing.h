/* timing.h: how long one multiplication takes on the device.
 *
 * A sample is a number of operations back to back, as many as make it long enough; its time runs
 * from the start of the first stage to the end of the last, by the device's own clock (profiling
 * events), or by the wall's where a driver's events hold no times. Several candidates are sampled
 * in turn, so that drift (heat, clocks, neighbours) meets all of them alike.
 */
#ifndef KILN_TUNE_TIMING_H
#define KILN_TUNE_TIMING_H

#include "launcher.h"
#include "supervise.h"

enum { TIMING_MAX_SAMPLES = 5, TIMING_MIN_SAMPLES = 3 };

/* Operands for timing: random numbers, made once for each precision and size class. */
struct timing_buffer {
    cl_mem memory;
    size_t bytes;
    bool is_filled;
};
struct timing_data {
    const struct precision *precision;
    struct timing_buffer buffers[3];   /* A, B, C */
};

/* Makes room for so many elements of A, B and C; *data is all zero before the first call. A and B
 * are filled with random numbers once, C is left as it is. */
enum kiln_status timing_data_reserve(struct timing_data *data, struct launcher *launcher,
        const struct precision *precision, const size_t elements[3]);
void timing_data_free(struct timing_data *data);

/* What operands hold: numbers, or parts of complex ones, of either sign and from 1/2 to 1, as many
 * as fit. Their sizes matter little to the time; constant bits would let some devices run cooler
 * and faster, and numbers that are not normal would make others slower. */
void timing_fill(const struct precision *precision, size_t bytes, unsigned char *block);

/* One candidate, built and verified at the call's shape. */
struct timing_entry {
    struct kiln_context *context;
    struct kiln_gemm gemm;
    struct trial_result *result;       /* out: outcome OK, SLOW, TIMING or LAUNCH; cost untouched */
    double first;                      /* seconds of one operation, as found while warming up */
    unsigned repeat;                   /* operations in a sample */
    unsigned num_samples;
    double samples[TIMING_MAX_SAMPLES];/* seconds of one operation */
    double total;                      /* seconds of all samples */
    bool done;
};

struct timing_limits {
    double incumbent;                  /* seconds; 0: none */
    double least;                      /* seconds: no operation can take less on this device */
    double sample;                     /* seconds that a sample lasts at least */
    double enough;                     /* seconds: samples need not last longer together */
    bool sustained;                    /* the median counts, not the fastest sample */
    bool is_broad;                     /* many are timed together: rough times are enough for those
                                          far behind */
};

/* Samples for so many candidates that are timed together. A GPU is given time to reach the clock
 * that it can hold; many candidates keep it busy by themselves. */
void timing_choose_samples(const struct device_facts *facts, unsigned num,
        struct timing_limits *limits);

/* The shortest time that an operation can take, with a margin: a shorter time shows a false
 * clock. */
double timing_least(const struct device_facts *facts, const struct precision *precision,
        struct shape shape);

/* Fills each entry's result. Calls `begin` with an entry's number before work on it begins. */
void timing_run(struct launcher *launcher, struct timing_entry *entries, unsigned num,
        const struct timing_limits *limits, void (*begin)(void *user, unsigned entry), void *user);

/* *seconds is the fastest sample, as what disturbs a sample only makes it longer. With `sustained`,
 * for devices whose clock follows the power that is drawn, it is the median (the lower of two): the
 * fastest sample had a clock that does not last. *spread is the distance of the quartiles in parts
 * of the fastest. Sorts the samples. num >= 1. */
void timing_summarise(double *samples, unsigned num, bool sustained, double *seconds,
        double *spread);

#endif
