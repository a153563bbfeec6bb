/* soak.h: what the parts of soak share. */
#ifndef KILN_TESTS_SOAK_H
#define KILN_TESTS_SOAK_H

#include "tune/device.h"
#include "tune/verify.h"

struct soak_options {
    const char *device;
    unsigned long calls, seed, most, work;
    unsigned long only;                /* the number of a step; 0: all */
    unsigned long first;               /* the step to begin with */
    unsigned long seconds;             /* 0: as long as it takes */
    bool singles, sessions;            /* which kinds of steps */
    bool huge;                         /* not random: matrices past 2^31 elements */
};

enum { SOAK_EXPLAIN_BYTES = 2048, SOAK_MAX_KERNELS = 1024 };

struct soak {
    const struct soak_options *options;
    struct device_facts facts;
    struct launcher launcher;
    struct verifier verifier;
    struct kiln_context *context;
    size_t base_bytes;                 /* where sub-buffers may begin: at multiples */
    cl_command_queue_properties orders;
    bool one_by_one;                   /* the driver is not to run two kernels at once */
    char *kernels[SOAK_MAX_KERNELS];   /* those that served a call, each once */
    unsigned num_kernels, num_failures;
    unsigned long num_calls;
    unsigned long step;
};

/* ---- soak.c ---- */

/* Where a stream of random numbers begins: a salt, a stream. */
uint64_t soak_seed(const struct soak *soak, unsigned long salt);
/* From 0 to limit - 1. */
size_t soak_below(uint64_t *state, size_t limit);
/* From 1 to `most`, each octave as likely as any other. */
size_t soak_log_random(uint64_t *state, size_t most);
const struct precision *soak_random_precision(uint64_t *state, const struct device_facts *facts);

/* Counts the kernel that serves a call. */
void soak_note_kernel(struct soak *soak, struct kiln_context *context,
        const struct kiln_gemm *gemm);
/* How to see this failure again, alone. */
void soak_report(struct soak *soak, const char *message, const char *kernel);
/* The lines on bundle and kernel of what the library says of a call. */
void soak_explain(struct kiln_context *context, const struct kiln_gemm *gemm,
        char text[SOAK_EXPLAIN_BYTES]);

/* ---- soak_single.c: one call at a time, judged by verify.h, of any size ---- */

enum { SOAK_NUM_HUGE = 9 }; /* huge calls: of each precision, and each operand in it */

void soak_single(struct soak *soak);
void soak_huge(struct soak *soak);

/* ---- soak_session.c: many calls under way at once ---- */

void soak_session(struct soak *soak);
void soak_session_end(void);

#endif
