/* first_result.h: how long a fresh process waits for its first result. */
#ifndef BENCH_FIRST_RESULT_H
#define BENCH_FIRST_RESULT_H

#include <stdbool.h>
#include <stddef.h>

#include "options.h"

enum { FIRST_RESULT_MAX_ROUNDS = 64, FIRST_RESULT_PEERS = 2 };

struct first_result {
    size_t size;                       /* extent of the matrices */
    size_t rounds;
    bool has[FIRST_RESULT_PEERS];      /* Kiln, CLBlast */
    double samples[FIRST_RESULT_PEERS][FIRST_RESULT_MAX_ROUNDS];       /* seconds */
    double median[FIRST_RESULT_PEERS];
    double ready[FIRST_RESULT_MAX_ROUNDS];     /* Kiln's: until the OpenCL context and the matrices
                                                  are there, before Kiln is called */
    double median_ready;
    char kernels[32];                  /* Kiln's: "source" or "binary" */
};

extern const char *const first_result_keys[FIRST_RESULT_PEERS];

/* The hidden first argument of a child; a peer's key, the extent and the device's text follow. */
#define FIRST_RESULT_CHILD_OPTION "--first-result-child"

/* False with a message on stderr. */
bool first_result_measure(const struct options *options, struct first_result *result);
void first_result_report(const struct first_result *result);

/* The child: computes one SGEMM and prints "ok SECONDS KERNELS". Returns the exit status. */
int first_result_child(const char *key, const char *size, const char *device);

#endif
