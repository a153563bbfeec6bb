/* blas.h: what the files of libkiln-blas share.
 *
 * A call goes this way: names.c has the functions of BLAS, routines.c checks the arguments and
 * writes them as Kiln wants them, serve.c decides who computes the call, device.c opens the device,
 * memory.c brings the operands there and the result back. What Kiln does not compute goes to the
 * function of the same name in another BLAS library (fallback.c). settings.c reads the environment.
 *
 * Names begin with kiln_blas_, because a static library can not hide them.
 */
#ifndef KILN_BLAS_H
#define KILN_BLAS_H

#include <kiln/kiln.h>

#include <stdbool.h>

/* ---- settings.c ---- */

struct kiln_blas_settings {
    const char *device;                /* a part of the device's name; NULL: any device */
    const char *fallback;              /* NULL: the one that the library was built for */
    double least_ops;                  /* fewer are the fallback's; negative: measured limits */
    int zero_copy;                     /* negative: by the kind of device */
    bool verbose;
};

/* Read from the environment once. */
const struct kiln_blas_settings *kiln_blas_settings(void);

/* One line on standard error. */
__attribute__((format(printf, 1, 2)))
void kiln_blas_say(const char *format, ...);

/* ---- fallback.c ---- */

enum kiln_blas_name {
#define GEMM(name, precision, scalar, hermitian) KILN_BLAS_##name, KILN_BLAS_cblas_##name,
#define SYMM GEMM
#define SYRK GEMM
#include "routines.inc"
    KILN_BLAS_NUM_NAMES
};

/* The name as C and the linker see it. */
const char *kiln_blas_symbol(enum kiln_blas_name name);

typedef void (*kiln_blas_function)(void);

/* The fallback's function. Ends the program where there is none: BLAS has no way to fail. */
kiln_blas_function kiln_blas_fallback(enum kiln_blas_name name);

/* ---- routines.c ---- */

enum { KILN_BLAS_A, KILN_BLAS_B, KILN_BLAS_C, KILN_BLAS_NUM_OPERANDS };

/* A matrix: `lines` of `length` elements, `ld` elements from one line to the next. Lines are rows
 * or columns, as the layout has it. */
struct kiln_blas_operand {
    char *host;
    size_t lines, length, ld;          /* 0 lines: it is not read */
    cl_mem buffer;                     /* where the device has it, once it was brought there */
    size_t device_offset, device_ld;   /* elements */
};

struct kiln_blas_call {
    enum kiln_blas_name name;
    struct kiln_gemm gemm;             /* all but the operands */
    struct kiln_blas_operand operands[KILN_BLAS_NUM_OPERANDS];
    size_t element_bytes;
    const char *refusal;               /* why Kiln can not compute it; NULL: it can */
};

struct kiln_blas_routine {
    enum kiln_blas_name name;          /* by which it was called */
    enum kiln_precision precision;
    bool is_hermitian;
};

/* Layouts and modes are CBLAS's numbers, which are Kiln's; what a routine does not allow may be any
 * other. alpha and beta point to what the routine's scalars are. */
struct kiln_blas_call kiln_blas_gemm(const struct kiln_blas_routine *routine, int layout,
        int transa, int transb, int m, int n, int k, const void *alpha, const void *a, int lda,
        const void *b, int ldb, const void *beta, void *c, int ldc);
struct kiln_blas_call kiln_blas_symm(const struct kiln_blas_routine *routine, int layout, int side,
        int uplo, int m, int n, const void *alpha, const void *a, int lda, const void *b, int ldb,
        const void *beta, void *c, int ldc);
struct kiln_blas_call kiln_blas_syrk(const struct kiln_blas_routine *routine, int layout, int uplo,
        int trans, int n, int k, const void *alpha, const void *a, int lda, const void *beta,
        void *c, int ldc);

/* ---- serve.c ---- */

/* True: the call is done. False: C is as it was, and the fallback has to compute it. */
bool kiln_blas_serve(struct kiln_blas_call *call);

/* ---- device.c ---- */

struct kiln_blas_device {
    cl_context context;
    cl_device_id id;
    cl_command_queue queue;            /* in-order */
    struct kiln_context *kiln;
    char name[256];
    bool has_double;
    bool zero_copy;
    size_t pool_bytes;                 /* what the pool may keep between calls */
};

/* Opens the device at the first call. NULL: there is none. One thread at a time. */
struct kiln_blas_device *kiln_blas_open(void);

/* ---- memory.c ---- */

/* Makes the operands reachable for the device. NULL: done; otherwise what went wrong. */
const char *kiln_blas_bring(struct kiln_blas_device *device, struct kiln_blas_call *call);
/* Waits for the event of the call and brings C back. NULL: done; otherwise what went wrong, and
 * *touched says whether C may have been written. */
const char *kiln_blas_fetch(struct kiln_blas_device *device, struct kiln_blas_call *call,
        cl_event done, bool *touched);
/* Releases what was made for the call. */
void kiln_blas_release(struct kiln_blas_device *device, struct kiln_blas_call *call);

#endif
