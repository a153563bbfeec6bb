/* status.c: what a call reports: CLBlast's codes, and lines on standard error. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* secure_getenv */
#endif
#include "kiln_clblast.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int kiln_clblast_status(enum kiln_status status)
{
    switch (status) {
    case KILN_INVALID_QUEUE:
    case KILN_QUEUE_CONTEXT_MISMATCH:
    case KILN_QUEUE_DEVICE_MISMATCH: return KILN_CLBLAST_INVALID_COMMAND_QUEUE;
    case KILN_INVALID_BUFFER_A: return -1022;
    case KILN_INVALID_BUFFER_B: return -1021;
    case KILN_INVALID_BUFFER_C: return -1020;
    case KILN_BUFFER_CONTEXT_MISMATCH: return CL_INVALID_MEM_OBJECT;
    case KILN_INVALID_LDA: return KILN_CLBLAST_INVALID_LD_A;
    case KILN_INVALID_LDB: return KILN_CLBLAST_INVALID_LD_A + 1;
    case KILN_INVALID_LDC: return KILN_CLBLAST_INVALID_LD_A + 2;
    case KILN_OFFSET_A_PAST_END:
    case KILN_BUFFER_A_TOO_SMALL: return KILN_CLBLAST_TOO_SMALL_A;
    case KILN_OFFSET_B_PAST_END:
    case KILN_BUFFER_B_TOO_SMALL: return KILN_CLBLAST_TOO_SMALL_A + 1;
    case KILN_OFFSET_C_PAST_END:
    case KILN_BUFFER_C_TOO_SMALL: return KILN_CLBLAST_TOO_SMALL_A + 2;
    case KILN_INVALID_WORKSPACE:
    case KILN_WORKSPACE_TOO_SMALL: return -2050;
    case KILN_NO_DOUBLE: return -2044;
    case KILN_NO_KERNEL:
    case KILN_NO_COMPILER:
    case KILN_INVALID_BUNDLE: return KILN_CLBLAST_NOT_IMPLEMENTED;
    case KILN_OUT_OF_MEMORY: return CL_OUT_OF_HOST_MEMORY;
    default: return (int) status <= 0 ? (int) status : KILN_CLBLAST_INVALID_VALUE;
    }
}

static bool is_verbose;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void read_environment(void)
{
    const char *text = secure_getenv("KILN_CLBLAST_VERBOSE");
    is_verbose = text != NULL && strcmp(text, "1") == 0;
}

void kiln_clblast_say(const struct kiln_clblast_call *call, int status, int is_by_clblast)
{
    char code[32];
    pthread_once(&once, read_environment);
    if (is_verbose) {
        snprintf(code, sizeof code, "status %d", status);
        fprintf(stderr, "kiln-clblast: %s %zu %zu %zu: %s%s\n", call->name, call->gemm.m,
                call->gemm.n, call->gemm.k,
                is_by_clblast                            ? "no kernel; CLBlast: "
                : status == KILN_CLBLAST_NOT_IMPLEMENTED ? "no kernel: "
                                                         : "",
                status == 0 ? "success" : code);
    }
}
