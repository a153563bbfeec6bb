/* kiln.h: matrix multiplication on OpenCL devices, with kernels chosen at build time.
 *
 * One operation: C = alpha op(A) op(B) + beta C, in half, single and double precision, and in
 * single and double of complex numbers, where op(X) is X, its transpose or its conjugate
 * transpose, and one triangle of A, B or C may be all that counts. The kernels, and data that tell
 * how long each of them takes for a shape, were made when the library was built ("bundles"); a call
 * takes what is predicted to be fastest, and enqueues it. There is no search at run time, and no
 * file or environment variable is read.
 *
 *     struct kiln_context *kiln = NULL;
 *     enum kiln_status status = kiln_context_create(context, device, NULL, &kiln);
 *     if (status == KILN_SUCCESS) {
 *         status = kiln_sgemm(kiln, KILN_ROW_MAJOR, KILN_NO_TRANS, KILN_NO_TRANS, m, n, k,
 *                 1.0f, a, 0, k, b, 0, n, 0.0f, c, 0, n, queue, 0, NULL, NULL);
 *     }
 *     kiln_context_destroy(&kiln);
 *
 * Rules that hold for every function, unless it says otherwise:
 *
 * - Failure: the status says what was wrong. Everything that can be wrong with the arguments is
 *   found before anything is enqueued, and C is unchanged. Nothing aborts, nothing prints. Handles
 *   are checked by asking the driver: one that is released, or was never made, is found only if the
 *   driver finds it.
 * - Lack of memory: it may be over by the next call, so it makes no kernel and no context unusable.
 *   The call uses another kernel or gives OpenCL's code (KILN_OUT_OF_MEMORY where it is the
 *   library's own memory), and later calls try again.
 * - Threads: all functions may be called from any thread at any time, on one context as well as on
 *   several, except that a context must not be in use while it is destroyed. There is no global
 *   state. A process that is forked after its parent has used OpenCL must not use OpenCL or Kiln.
 * - Ownership: handles and pointers that are passed in stay the caller's. The library retains what
 *   it needs for longer than the call (OpenCL's own reference counts).
 * - Blocking: a call that multiplies only enqueues. It blocks in two cases: the first call that
 *   needs a kernel builds it (KILN_BUILD_NOW moves that to creation), and calls from several
 *   threads on one queue take turns while they enqueue, if they need a workspace. It never waits
 *   for the device.
 * - Memory: a call allocates on the host only when it builds a kernel, needs a workspace on a queue
 *   that has none (see struct kiln_context), or when more calls are under way at once than ever
 *   before, or for a wait list of more than 14 events on an out-of-order queue; and on the device
 *   only when the workspace of a queue must grow, or be made anew after a failure. A kernel that
 *   reads an image, which none of the committed bundles has, needs both in every call. The driver's
 *   own needs are not counted.
 * - Lengths, offsets, strides and leading dimensions are in elements; what is named bytes is in
 *   bytes.
 * - Determinism: the same bundle, device, driver and arguments give bitwise the same C, unless
 *   memory was lacking for the kernels of a call.
 *
 * From version 1.0 on everything in this header is stable: values and layouts of structs change
 * only with the soname.
 */
#ifndef KILN_KILN_H
#define KILN_KILN_H

#include <stddef.h>
#include <stdint.h>

/* Kiln needs OpenCL 1.2. An application that uses more defines the version before. */
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#ifdef __APPLE__
#include <OpenCL/cl.h>
#else
#include <CL/cl.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Marks what the shared library exports. */
#ifndef KILN_API
#if defined(__GNUC__)
#define KILN_API __attribute__((visibility("default")))
#else
#define KILN_API
#endif
#endif

/* How the elements of a matrix follow each other. Values as in CBLAS.
 * KILN_ROW_MAJOR: element (i, j) lies at offset + i * ld + j; ld is at least the length of a row.
 * KILN_COL_MAJOR: element (i, j) lies at offset + j * ld + i; ld is at least that of a column.
 * The layout holds for A, B and C alike. */
enum kiln_layout { KILN_ROW_MAJOR = 101, KILN_COL_MAJOR = 102 };

/* What op(X) is. Values as in CBLAS. For real elements CONJ_TRANS means TRANS. */
enum kiln_transpose { KILN_NO_TRANS = 111, KILN_TRANS = 112, KILN_CONJ_TRANS = 113 };

/* Which triangle of a square matrix, its diagonal included; rows and columns are those of the
 * call's layout. Values as in CBLAS. */
enum kiln_uplo { KILN_UPPER = 121, KILN_LOWER = 122 };

/* On which side of the product the symmetric matrix is. Values as in CBLAS. */
enum kiln_side { KILN_LEFT = 141, KILN_RIGHT = 142 };

/* The elements of A, B and C: cl_half, cl_float, cl_double; complex ones are two of these, the real
 * part before the imaginary one (cl_float2, cl_double2, C's float complex). Half matrices are
 * accumulated in float and take float alpha and beta; the device needs no half arithmetic. */
enum kiln_precision {
    KILN_HALF = 1, KILN_SINGLE = 2, KILN_DOUBLE = 3,
    KILN_COMPLEX_SINGLE = 5, KILN_COMPLEX_DOUBLE = 6
};

/* How single precision may be computed, and complex single precision.
 * KILN_NATIVE: by fused multiply-adds of floats.
 * KILN_ALLOW_EMULATION: or by products of halves on tensor units, where the device has them, the
 *     bundles have kernels for it, and these are predicted to be faster; as natively elsewhere.
 * Other precisions have one arithmetic, whatever is said here.
 *
 * Emulation (the idea: Markidis et al. 2018; with scales: Ootomo and Yokota 2022): each row of
 * op(A) and column of op(B), or each part of one, is scaled by a power of two, and each element is
 * cut into two halves, x = high + low / 2^11. Three products, high high, high low and low high,
 * are added up in float.
 * - Error: an element of op(A) op(B) differs from the exact one by at most
 *   2^-24 (192 + k / 16) sum |a||b| + 2^-48 k max |a| max |b|, with sum and maxima over its row and
 *   column, where a native one may differ by 2^-24 k sum |a||b|. What was measured is less by far,
 *   and on most data a fifth of the native error (tests/bench/RESULTS.md). The second term is for
 *   elements more than 2^28 times smaller than the largest of their row or column: they lose bits,
 *   and below 2^-49 of it they keep their sign alone.
 * - A row or column with an infinity or NaN, or whose elements but 0 are on average more than 2^20
 *   times smaller than the largest, is not cut. Tiles of C that it meets are computed by fused
 *   multiply-adds of floats, of it and of what the pieces of others stand for, with the error of a
 *   native product; so are all where k is below 16. Where C has few rows or columns, lines of the
 *   long matrix are looked at for infinities and NaN alone, and scaled 32 or 64 elements at a time:
 *   what is far smaller than these is left to the second term. Nothing is read back to the host.
 * - An infinity or NaN among the elements has the effect that it has natively. A sum that overflows
 *   natively before its end may come out finite.
 * - Subnormal elements are like others: it is the largest of their row or column that counts.
 *   Products of integers of at most 2048 are exact where they are natively.
 * - Complex single precision is emulated as a real product with twice the k, where the bundle that
 *   serves the call predicts that to be faster than to multiply complex numbers.
 * - The same call gives bitwise the same result; it differs from the native one.
 * - Devices: NVIDIA's compute capability 8.0 and later. The bound was measured on 9.0. */
enum kiln_arithmetic { KILN_NATIVE = 1, KILN_ALLOW_EMULATION = 2 };

/* The result of a call. 0 is success. Positive values are Kiln's own and do not change. They are
 * numbered in the order in which arguments are checked: of several errors the lowest number counts.
 * Two kinds are out of that order. KILN_SIZE_OVERFLOW counts in the place of the operand whose size
 * overflows. What is known only with the kernels comes after all else: KILN_NO_KERNEL,
 * KILN_NO_COMPILER, KILN_WORKSPACE_TOO_SMALL, KILN_PACK_BUFFER_TOO_SMALL and KILN_OUT_OF_MEMORY.
 * Negative values are OpenCL's codes (CL_OUT_OF_RESOURCES and so on), passed through unchanged;
 * compare with `status == (enum kiln_status)CL_OUT_OF_RESOURCES`. */
enum kiln_status {
    KILN_STATUS_LEAST = -2147483647 - 1,   /* never returned: makes room for OpenCL's codes */
    KILN_SUCCESS = 0,
    KILN_INVALID_ARGUMENT = 1,         /* NULL where a pointer is required, kiln_context included */
    KILN_INVALID_CONTEXT = 2,          /* at creation: NULL, or not a cl_context */
    KILN_INVALID_DEVICE = 3,           /* at creation: NULL, or not a device of the cl_context */
    KILN_INVALID_QUEUE = 4,            /* NULL, or not a cl_command_queue */
    KILN_QUEUE_CONTEXT_MISMATCH = 5,   /* the queue belongs to another cl_context */
    KILN_QUEUE_DEVICE_MISMATCH = 6,    /* the queue belongs to another device */
    KILN_INVALID_WAIT_LIST = 7,        /* a count without a list or the reverse, a NULL in it */
    KILN_INVALID_PRECISION = 8,
    KILN_INVALID_LAYOUT = 9,
    KILN_INVALID_TRANSPOSE_A = 10,
    KILN_INVALID_TRANSPOSE_B = 11,
    KILN_INVALID_LDA = 12,             /* shorter than a row (by columns: a column) as stored */
    KILN_INVALID_LDB = 13,
    KILN_INVALID_LDC = 14,
    KILN_INVALID_BUFFER_A = 15,        /* NULL, or not a cl_mem, while A is read; a sub-buffer that
                                          begins at no multiple of 16 bytes */
    KILN_INVALID_BUFFER_B = 16,
    KILN_INVALID_BUFFER_C = 17,        /* NULL, or not a cl_mem, while C has elements */
    KILN_BUFFER_CONTEXT_MISMATCH = 18, /* one of them, or the workspace, is of another cl_context */
    KILN_OFFSET_A_PAST_END = 19,       /* the first element lies past the end of the buffer */
    KILN_OFFSET_B_PAST_END = 20,
    KILN_OFFSET_C_PAST_END = 21,
    KILN_BUFFER_A_TOO_SMALL = 22,      /* the last element lies past the end of the buffer */
    KILN_BUFFER_B_TOO_SMALL = 23,
    KILN_BUFFER_C_TOO_SMALL = 24,
    KILN_SIZE_OVERFLOW = 25,           /* the bytes up to a matrix's last element exceed size_t */
    KILN_INVALID_BATCH_STRIDE = 26,    /* c_stride is shorter than one C, so that members overlap */
    KILN_INVALID_WORKSPACE = 27,       /* not a cl_mem, or workspace_offset is no multiple of 256 */
    KILN_WORKSPACE_TOO_SMALL = 28,     /* less than kiln_gemm_workspace_bytes from the offset on */
    KILN_NO_DOUBLE = 29,               /* double precision on a device that has none */
    KILN_NO_KERNEL = 30,               /* no recipe, not even a generic one, runs on the device */
    KILN_INVALID_BUNDLE = 31,          /* of another format, or its tables are not consistent in
                                          themselves. Kernel text and binaries are looked at when
                                          they are first used: a damaged one is not shown to the
                                          driver, and other kernels serve */
    KILN_SELF_TEST_FAILED = 32,        /* the device computes a wrong product */
    KILN_OUT_OF_MEMORY = 33,           /* on the host, in the library itself */
    KILN_TEXT_TOO_SMALL = 34,          /* the text is cut off, and still ended by NUL */
    KILN_INVALID_PACK_OPERAND = 35,    /* kiln_pack_*: neither KILN_PACK_A nor KILN_PACK_B */
    KILN_INVALID_PACK_BUFFER = 36,     /* not a cl_mem, or an offset that is no multiple of 256 */
    KILN_PACK_BUFFER_TOO_SMALL = 37,   /* less than kiln_pack_bytes from the offset on */
    KILN_INVALID_PACK = 38,            /* empty or never made, or its cl_mem can not hold it */
    KILN_PACK_CONTEXT_MISMATCH = 39,   /* a pack's buffer is of another cl_context */
    KILN_PACK_OPERAND_MISMATCH = 40,   /* made of the other operand, as seen in row-major layout */
    KILN_PACK_PRECISION_MISMATCH = 41,
    KILN_PACK_TRANSPOSE_MISMATCH = 42,
    KILN_PACK_SHAPE_MISMATCH = 43,     /* its m and k (of A) or k and n (of B) are others */
    KILN_PACK_BATCH_MISMATCH = 44,     /* a batch in which the packed operand has a stride */
    KILN_PACK_BUNDLE_MISMATCH = 45,    /* made with a bundle that the kiln_context does not use */
    KILN_PACK_RECIPE_MISMATCH = 46,    /* the packs of A and B were made for different kernels */
    KILN_PACK_UNSUITABLE = 47,         /* the kernels it was made for can not serve the call: its
                                          shape, say, or they emulate and it does not allow that */
    KILN_INVALID_ARITHMETIC = 48,      /* of a call or, at creation, of the parameters */
    KILN_INVALID_SIDE = 49,            /* of a typed call */
    KILN_INVALID_UPLO = 50,            /* of A, B or C */
    KILN_NOT_SQUARE = 51,              /* a matrix of which one triangle counts */
    KILN_PACK_OF_TRIANGLE = 52,        /* an operand is packed, or to be packed, and uplo_a or
                                          uplo_b says that one triangle of it is stored */
    KILN_NO_COMPILER = 53              /* the device has no compiler (CL_DEVICE_COMPILER_AVAILABLE),
                                          and no bundle has a binary for the call that its driver
                                          takes */
};
enum { KILN_NUM_STATUSES = 54 }; /* Kiln's own, KILN_SUCCESS included */

/* A status in words, for people: a few words for Kiln's own, the name ("CL_OUT_OF_RESOURCES") for
 * those of OpenCL 1.2, a general text for any other value. Never NULL; static, not to be freed. */
KILN_API const char *kiln_status_string(enum kiln_status status);

/* Kernels for one device of one cl_context, and a workspace for each of the eight queues that
 * needed one last, more only while more than eight calls are under way at once. Retains the
 * cl_context, the device, and those queues until others have taken their places or the context is
 * destroyed. Thread-safe: one per device is enough for a whole process. */
struct kiln_context;

/* Kernels and their times, made by Kiln's generator: constant data without functions, declared in
 * the bundle's own header. A library contains one or more ("linked"), the generic one last. */
struct kiln_bundle;

/* When the kernels of a context are built.
 * KILN_BUILD_AT_FIRST_USE: by the first call that needs them, which blocks for that long. Two
 * threads never build one program twice: the second waits for the first.
 * KILN_BUILD_NOW: at creation, for each precision and transpose pair, what the first bundle that
 * serves it has for it: the kernels whose times are known, or those tried before the first that
 * serves every shape; kernels that emulate, if that is the context's default. A call may still
 * build another one when its alignment or size rules these out, when memory was lacking for them,
 * or when one triangle of a matrix counts. */
enum kiln_build { KILN_BUILD_AT_FIRST_USE = 0, KILN_BUILD_NOW = 1 };

/* Options of a context. All zero is the default of every field, and what NULL in their place is. */
struct kiln_context_params {
    /* NULL: the linked bundles that are for the device, in their order, then those that were tuned
     * on a relative of it, the nearest first; three at most. A bundle's device is a relative if it
     * is of the same platform and, for NVIDIA's, its compute capability is the same or an earlier
     * one; for others, if it is of the same kind (CPU or not) and has the same native vector width.
     * The same device with a driver that the bundle does not name counts as one too. Where the
     * platform compiles in the application's process (PoCL, rusticl, Clover, Oclgrind), the driver
     * must in any case be one that the bundle was tuned or verified on.
     * Otherwise this bundle, whatever device it was tuned on; it must outlive the context. In both
     * cases the last linked bundle, the generic one, serves the calls that those before can not.
     * Recipes that the device can not run, for example for lack of local memory, are left out one
     * by one. */
    const struct kiln_bundle *bundle;
    /* NULL: silent. Otherwise called once for each message, which is ended by NUL, has no newline
     * behind it, and is valid during the call only: which bundles are used, and whether they were
     * tuned on a relative, how many recipes were left out, why a kernel was refused, what the
     * driver's compiler said. Called from the thread whose call gave rise to the message, so
     * possibly from several at once; it must not call Kiln with the same context. */
    void (*log)(void *user, const char *message);
    void *log_user;                    /* passed through; may be NULL */
    enum kiln_build build;
    /* Not 0: multiply small integer matrices in every precision that the device and the bundles
     * have, and each transpose pair, once with triangles too, and compare exactly. Blocks until
     * they are done. */
    int self_test;
    /* Not 0: no bundle serves that was tuned on a relative, or that names other drivers than the
     * device's. If no bundle is for the device, the generic one alone serves. */
    int exact_only;
    /* Not 0: the log is also told the shape of each call, and of each question about one, unless it
     * was seen lately: "shape: M N K single nt", and " batch=N" for a batch. Behind the first word
     * it is a line of the file for option shapes. The precision is "emulated" where emulation is
     * allowed and available. For a complex product that is computed as a real one, the real one is
     * told, which has twice the n and k; other complex ones are not told. Shapes are those in
     * row-major layout: a column-major call shows up with m and n swapped. A shape may be told
     * again when others came between (at most 128 are remembered) or its leading dimensions are of
     * another kind. With packs, the shape is that of the call that an operand was packed for; for
     * complex products, of the call that multiplies. A call whose shape is remembered takes no
     * longer than without this. */
    int log_calls;
    /* That of calls that name none, the typed ones among them. 0: KILN_NATIVE. */
    enum kiln_arithmetic arithmetic;
};

/* Makes a context for a device.
 *
 * context, device: required; the device must be one of the context's. Both are retained.
 * params: NULL for defaults; not kept, though the bundle that it names is.
 * out: required; the context, to be given to kiln_context_destroy, or NULL on failure.
 *
 * Errors: KILN_INVALID_ARGUMENT (out is NULL), KILN_INVALID_CONTEXT, KILN_INVALID_DEVICE,
 * KILN_INVALID_ARITHMETIC, KILN_INVALID_BUNDLE, KILN_OUT_OF_MEMORY, KILN_NO_KERNEL (no bundle at
 * all, or KILN_BUILD_NOW found nothing that the device takes), KILN_NO_COMPILER (the device has no
 * compiler and no bundle a binary for it, or KILN_BUILD_NOW found none that the driver takes),
 * KILN_SELF_TEST_FAILED, OpenCL's own, such as that of memory when KILN_BUILD_NOW has nothing for
 * some calls because of it.
 * Blocks: only with KILN_BUILD_NOW or self_test. */
KILN_API enum kiln_status kiln_context_create(cl_context context, cl_device_id device,
        const struct kiln_context_params *params, struct kiln_context **out);

/* Frees *context and sets it to NULL. A NULL pointer, and a pointer to NULL, are allowed.
 *
 * No other thread may be using the context. What was enqueued goes on: kernels and workspaces are
 * released, and OpenCL keeps them until the device has done with them. Does not wait for the
 * device, unless the driver does when objects are released. */
KILN_API void kiln_context_destroy(struct kiln_context **context);

/* The typed calls: C = alpha op(A) op(B) + beta C, enqueued.
 *
 * context: required.
 * layout, transa, transb: required; 0 is an error here.
 * m, n, k: C is m x n, op(A) is m x k, op(B) is k x n. Any may be 0, as in BLAS: with m or n of 0
 *     nothing is done, with k of 0 C becomes beta C.
 * alpha, beta: with alpha of 0, A and B are not read (their buffers may be NULL) and C becomes
 *     beta C. With beta of 0, C is not read: NaN and infinity in it do not matter. With alpha or k
 *     of 0 and beta of 1, nothing is done.
 * a, b, c: buffers of the context's cl_context. Sub-buffers begin at a multiple of 16 bytes in
 *     their parents, as OpenCL wants it on every device (CL_DEVICE_MEM_BASE_ADDR_ALIGN); buffers of
 *     the application's own memory, at any multiple of an element. A and B may share a buffer, and
 *     overlap. C must not overlap A or B, which is not checked. c must be writable by kernels, and
 *     all of them readable.
 * x_offset: elements from the start of the buffer to the first element of the matrix.
 * ldx: elements from one row (row-major) or column (column-major) of the matrix as stored to the
 *     next; at least max(1, the length of a row or column). What lies between does not
 *     matter, and is not written.
 * queue: required; of the context's cl_context and device, in-order or out-of-order. An in-order
 *     queue is the cheaper one. The context holds a workspace for the queue, and retains it, when
 *     the call needs one; see struct kiln_context for how long. More than eight queues in turn make
 *     and free workspaces all the time; struct kiln_gemm takes one of yours instead.
 * num_events_in_wait_list, event_wait_list: what must be complete before the first kernel starts; 0
 *     and NULL for none. Both or neither. Where nothing has to be done, a marker waits in place of
 *     the kernels, so that what follows on an in-order queue comes after the list in any case.
 * event: NULL, or where the event of the whole call goes; the caller releases it. Set on success
 *     only, even when nothing had to be done: then it stands for the wait list and, on an in-order
 *     queue, for what was enqueued before. It is a marker's, or the only one of the list, or a user
 *     event that is complete.
 *
 * Errors: KILN_INVALID_ARGUMENT, every status from KILN_INVALID_QUEUE to KILN_SIZE_OVERFLOW,
 * KILN_NO_DOUBLE, KILN_NO_KERNEL, KILN_NO_COMPILER, KILN_OUT_OF_MEMORY, OpenCL's own. On any of
 * them C is unchanged, with one exception: some kernels write C in two launches, and so do a
 * complex beta that is no real number and a Hermitian C. If the driver takes the first of these and
 * then refuses the second, for example for lack of memory, C is undefined.
 * When the driver refuses a kernel, its sizes or its arguments, or memory is lacking for it or its
 * workspace, on the host or on the device, the next recipe that can serve the call is tried. The
 * status is an error, that of the first, only if none is left.
 * A call that failed may have enqueued launches that read A and B and write a workspace. They are
 * complete when the queue is (clFinish), or a marker enqueued behind them.
 * Blocks: see the rules above. An error while a kernel runs shows in the event, as in OpenCL; where
 * an in-order queue goes on after a launch that failed, that of the last launch counts. If an event
 * of the wait list fails, no launch of the call runs. On an out-of-order queue, calls that were
 * enqueued before such a failure was known and share its workspace fail with it. */

/* Single precision: buffers of cl_float. */
KILN_API enum kiln_status kiln_sgemm(struct kiln_context *context, enum kiln_layout layout,
        enum kiln_transpose transa, enum kiln_transpose transb, size_t m, size_t n, size_t k,
        float alpha, cl_mem a, size_t a_offset, size_t lda, cl_mem b, size_t b_offset, size_t ldb,
        float beta, cl_mem c, size_t c_offset, size_t ldc, cl_command_queue queue,
        cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event);

/* Double precision: buffers of cl_double. KILN_NO_DOUBLE on a device without. */
KILN_API enum kiln_status kiln_dgemm(struct kiln_context *context, enum kiln_layout layout,
        enum kiln_transpose transa, enum kiln_transpose transb, size_t m, size_t n, size_t k,
        double alpha, cl_mem a, size_t a_offset, size_t lda, cl_mem b, size_t b_offset, size_t ldb,
        double beta, cl_mem c, size_t c_offset, size_t ldc, cl_command_queue queue,
        cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event);

/* Half precision: buffers of cl_half; sums, alpha and beta are float, and C is rounded once. */
KILN_API enum kiln_status kiln_hgemm(struct kiln_context *context, enum kiln_layout layout,
        enum kiln_transpose transa, enum kiln_transpose transb, size_t m, size_t n, size_t k,
        float alpha, cl_mem a, size_t a_offset, size_t lda, cl_mem b, size_t b_offset, size_t ldb,
        float beta, cl_mem c, size_t c_offset, size_t ldc, cl_command_queue queue,
        cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event);

/* Complex single precision: buffers of cl_float2. Two complex numbers are multiplied in four
 * multiplications: an element has the error of a sum of 2 k products, in the real part and in the
 * imaginary one. Where no kernels for complex numbers are chosen, a real product of twice the
 * columns and depth is computed: B takes twice its size in the workspace; with a transposed A, so
 * does A its own; alpha that is not real takes another B. */
KILN_API enum kiln_status kiln_cgemm(struct kiln_context *context, enum kiln_layout layout,
        enum kiln_transpose transa, enum kiln_transpose transb, size_t m, size_t n, size_t k,
        cl_float2 alpha, cl_mem a, size_t a_offset, size_t lda, cl_mem b, size_t b_offset,
        size_t ldb, cl_float2 beta, cl_mem c, size_t c_offset, size_t ldc, cl_command_queue queue,
        cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event);

/* Complex double precision: buffers of cl_double2. KILN_NO_DOUBLE on a device without. */
KILN_API enum kiln_status kiln_zgemm(struct kiln_context *context, enum kiln_layout layout,
        enum kiln_transpose transa, enum kiln_transpose transb, size_t m, size_t n, size_t k,
        cl_double2 alpha, cl_mem a, size_t a_offset, size_t lda, cl_mem b, size_t b_offset,
        size_t ldb, cl_double2 beta, cl_mem c, size_t c_offset, size_t ldc, cl_command_queue queue,
        cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event);

/* A symmetric or Hermitian operand: C = alpha A B + beta C (KILN_LEFT; A is m x m) or C = alpha B A
 * + beta C (KILN_RIGHT; A is n x n), where B and C are m x n. Of A the triangle that uplo names is
 * read. These are calls by struct kiln_gemm with uplo_a or uplo_b, and all that is said there
 * holds. Statuses are those of A and B as they are called here; that of a matrix which the layout
 * or the side has brought to the other's place may name the other. */
KILN_API enum kiln_status kiln_ssymm(struct kiln_context *context, enum kiln_layout layout,
        enum kiln_side side, enum kiln_uplo uplo, size_t m, size_t n, float alpha, cl_mem a,
        size_t a_offset, size_t lda, cl_mem b, size_t b_offset, size_t ldb, float beta, cl_mem c,
        size_t c_offset, size_t ldc, cl_command_queue queue, cl_uint num_events_in_wait_list,
        const cl_event *event_wait_list, cl_event *event);
KILN_API enum kiln_status kiln_dsymm(struct kiln_context *context, enum kiln_layout layout,
        enum kiln_side side, enum kiln_uplo uplo, size_t m, size_t n, double alpha, cl_mem a,
        size_t a_offset, size_t lda, cl_mem b, size_t b_offset, size_t ldb, double beta, cl_mem c,
        size_t c_offset, size_t ldc, cl_command_queue queue, cl_uint num_events_in_wait_list,
        const cl_event *event_wait_list, cl_event *event);
KILN_API enum kiln_status kiln_csymm(struct kiln_context *context, enum kiln_layout layout,
        enum kiln_side side, enum kiln_uplo uplo, size_t m, size_t n, cl_float2 alpha, cl_mem a,
        size_t a_offset, size_t lda, cl_mem b, size_t b_offset, size_t ldb, cl_float2 beta,
        cl_mem c, size_t c_offset, size_t ldc, cl_command_queue queue,
        cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event);
KILN_API enum kiln_status kiln_zsymm(struct kiln_context *context, enum kiln_layout layout,
        enum kiln_side side, enum kiln_uplo uplo, size_t m, size_t n, cl_double2 alpha, cl_mem a,
        size_t a_offset, size_t lda, cl_mem b, size_t b_offset, size_t ldb, cl_double2 beta,
        cl_mem c, size_t c_offset, size_t ldc, cl_command_queue queue,
        cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event);

/* Hermitian: imaginary parts of A's diagonal count as 0. */
KILN_API enum kiln_status kiln_chemm(struct kiln_context *context, enum kiln_layout layout,
        enum kiln_side side, enum kiln_uplo uplo, size_t m, size_t n, cl_float2 alpha, cl_mem a,
        size_t a_offset, size_t lda, cl_mem b, size_t b_offset, size_t ldb, cl_float2 beta,
        cl_mem c, size_t c_offset, size_t ldc, cl_command_queue queue,
        cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event);
KILN_API enum kiln_status kiln_zhemm(struct kiln_context *context, enum kiln_layout layout,
        enum kiln_side side, enum kiln_uplo uplo, size_t m, size_t n, cl_double2 alpha, cl_mem a,
        size_t a_offset, size_t lda, cl_mem b, size_t b_offset, size_t ldb, cl_double2 beta,
        cl_mem c, size_t c_offset, size_t ldc, cl_command_queue queue,
        cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event);

/* A matrix times its own transpose: C = alpha op(A) op(A)' + beta C, where op(A) is n x k and C is
 * n x n; for herk, op(A) times its conjugate transpose, alpha and beta are real, and the imaginary
 * parts of C's diagonal become 0, unless nothing is done. Of C the triangle that uplo names is read
 * and written. trans is KILN_NO_TRANS (A is n x k) or KILN_TRANS (k x n); for herk KILN_CONJ_TRANS
 * instead; for real matrices either. These are calls by struct kiln_gemm with uplo_c. */
KILN_API enum kiln_status kiln_ssyrk(struct kiln_context *context, enum kiln_layout layout,
        enum kiln_uplo uplo, enum kiln_transpose trans, size_t n, size_t k, float alpha, cl_mem a,
        size_t a_offset, size_t lda, float beta, cl_mem c, size_t c_offset, size_t ldc,
        cl_command_queue queue, cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
        cl_event *event);
KILN_API enum kiln_status kiln_dsyrk(struct kiln_context *context, enum kiln_layout layout,
        enum kiln_uplo uplo, enum kiln_transpose trans, size_t n, size_t k, double alpha, cl_mem a,
        size_t a_offset, size_t lda, double beta, cl_mem c, size_t c_offset, size_t ldc,
        cl_command_queue queue, cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
        cl_event *event);
KILN_API enum kiln_status kiln_csyrk(struct kiln_context *context, enum kiln_layout layout,
        enum kiln_uplo uplo, enum kiln_transpose trans, size_t n, size_t k, cl_float2 alpha,
        cl_mem a, size_t a_offset, size_t lda, cl_float2 beta, cl_mem c, size_t c_offset,
        size_t ldc, cl_command_queue queue, cl_uint num_events_in_wait_list,
        const cl_event *event_wait_list, cl_event *event);
KILN_API enum kiln_status kiln_zsyrk(struct kiln_context *context, enum kiln_layout layout,
        enum kiln_uplo uplo, enum kiln_transpose trans, size_t n, size_t k, cl_double2 alpha,
        cl_mem a, size_t a_offset, size_t lda, cl_double2 beta, cl_mem c, size_t c_offset,
        size_t ldc, cl_command_queue queue, cl_uint num_events_in_wait_list,
        const cl_event *event_wait_list, cl_event *event);

/* Hermitian: alpha and beta are real. */
KILN_API enum kiln_status kiln_cherk(struct kiln_context *context, enum kiln_layout layout,
        enum kiln_uplo uplo, enum kiln_transpose trans, size_t n, size_t k, float alpha, cl_mem a,
        size_t a_offset, size_t lda, float beta, cl_mem c, size_t c_offset, size_t ldc,
        cl_command_queue queue, cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
        cl_event *event);
KILN_API enum kiln_status kiln_zherk(struct kiln_context *context, enum kiln_layout layout,
        enum kiln_uplo uplo, enum kiln_transpose trans, size_t n, size_t k, double alpha, cl_mem a,
        size_t a_offset, size_t lda, double beta, cl_mem c, size_t c_offset, size_t ldc,
        cl_command_queue queue, cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
        cl_event *event);

struct kiln_pack;

/* Every field of a call. 0 and NULL mean the documented default, so that designated initialisers
 * name only what differs. Fields mean what the arguments of the typed calls mean. Plain data: it
 * may be copied, reused, and shared between threads that only read it; no call keeps a pointer to
 * it. */
struct kiln_gemm {
    enum kiln_precision precision;     /* 0: KILN_SINGLE */
    enum kiln_layout layout;           /* 0: KILN_ROW_MAJOR */
    enum kiln_transpose transa, transb;    /* 0: KILN_NO_TRANS */
    size_t m, n, k;                    /* no default: 0 is 0 */
    double alpha, beta;                /* 0 is 0; rounded to float unless numbers are doubles */
    double alpha_imag, beta_imag;      /* imaginary parts; not looked at unless it is complex */
    cl_mem a, b, c;
    size_t a_offset, b_offset, c_offset;   /* elements */
    size_t lda, ldb, ldc;              /* elements; 0: dense, the length of a row or column */
    /* Members of the batch: products of one shape. 0: 1. One launch takes many of them where the
     * kernels that serve the call can do so; else they are enqueued one after the other. */
    size_t batch_count;
    /* Elements from one member to the next; not looked at for one member. a_stride and b_stride may
     * be 0: all members share the matrix. c_stride is at least the span of one C, from its first
     * element to its last. */
    size_t a_stride, b_stride, c_stride;
    /* Scratch memory on the device. NULL: the context holds one buffer per queue, grown on demand.
     * Otherwise a buffer of at least kiln_gemm_workspace_bytes from the offset on, readable and
     * writable, which overlaps no operand; over the application's own memory, that begins at a
     * multiple of 16 bytes. Not looked at while C has no elements. It is in use until the call's
     * event is complete; two calls may share it only if one waits for the other. An in-order queue
     * sees to that for all calls with one kiln_context, from any thread. */
    cl_mem workspace;
    size_t workspace_offset;           /* bytes; a multiple of 256 */
    /* NULL: A and B are read from their buffers. Otherwise A or B as kiln_pack_enqueue packed
     * it; its buffer, offset and leading dimension are not looked at, and the kernels are
     * those that the pack was made for, but for a real product in the place of a complex
     * one. All members of a batch share it, so that its stride must be 0. */
    const struct kiln_pack *packed_a, *packed_b;
    enum kiln_arithmetic arithmetic;   /* 0: that of the context */
    /* 0: all elements count. Otherwise A, or B, is symmetric (square), and this triangle of it is
     * read, as it is stored: op(A) is as if the whole were there. The whole matrix is written to
     * the workspace first, once for each member of a batch that has its own. Such an operand can
     * not be packed. */
    enum kiln_uplo uplo_a, uplo_b;
    /* 0: all of C. Otherwise C is square, and this triangle of it is read and written: the rest
     * stays as it is. About half the work is done, where the kernels that serve the call can leave
     * tiles out. */
    enum kiln_uplo uplo_c;
    /* Not 0, for complex matrices: those of which one triangle counts are Hermitian. What lies
     * across the diagonal of A and B is the conjugate; imaginary parts of their diagonals count as
     * 0. Those of C's diagonal become 0, unless nothing is done; a beta that is no real number
     * reads them. */
    int hermitian;
};

/* Enqueues the call that *gemm describes. The typed calls are this with fewer fields; all that is
 * said there holds here.
 *
 * context, gemm, queue: required.
 * event: as there; it covers the whole batch.
 *
 * Errors: those of the typed calls, and KILN_INVALID_PRECISION, KILN_INVALID_BATCH_STRIDE,
 * KILN_INVALID_WORKSPACE, KILN_WORKSPACE_TOO_SMALL; with packs, every status from KILN_INVALID_PACK
 * on. Packs are looked at when all else is checked, but before the size of a workspace, on which
 * they decide, and only when A and B are read. A call with packs is served by the kernels that they
 * were made for, or not at all: when the driver refuses those, no others are tried. That holds for
 * the form of complex operands, not for the real product of these.
 *
 * On any error C is unchanged, with one more exception: if in the middle of a batch the driver
 * refuses every recipe, the members already enqueued are computed completely, and the others are
 * unchanged. */
KILN_API enum kiln_status kiln_gemm_enqueue(struct kiln_context *context,
        const struct kiln_gemm *gemm, cl_command_queue queue, cl_uint num_events_in_wait_list,
        const cl_event *event_wait_list, cl_event *event);

/* How much workspace the call needs.
 *
 * gemm: required; the call as it will be enqueued: shape, offsets, leading dimensions and strides,
 *     and which parts of alpha and beta are 0, decide which recipe serves it. The buffers a, b and
 *     c are not looked at and may be NULL. A workspace is not required, and its size not checked;
 *     its offset counts all the same.
 * bytes: required; from the workspace offset on, for the whole batch; 0 when none is needed, and on
 *     failure.
 *
 * Errors: KILN_INVALID_ARGUMENT, those of kiln_gemm_enqueue that can be found without a queue and
 * without A, B and C. Nothing is enqueued.
 * Blocks: builds the kernels of the call if they were not yet. */
KILN_API enum kiln_status kiln_gemm_workspace_bytes(struct kiln_context *context,
        const struct kiln_gemm *gemm, size_t *bytes);

/* Says, for people, what the call would do: one fact per line, "key: value". The first two lines
 * are "bundle: NAME" and "kernel: NAME"; after them come, where the bundle was tuned on a relative
 * of the device, "tuned on: a relative of the device", then the canonical shape (row-major: a
 * column-major call shows up with m and n swapped), how the kernels were built, the
 * launches, the workspace, and the first few candidates with their predicted times, which are those
 * of a whole batch. Keys may be added; these two lines stay.
 *
 * gemm: required; as for kiln_gemm_workspace_bytes.
 * text: required; size bytes, ended by NUL whenever size is not 0. 4096 bytes do for most calls.
 *     Empty on errors other than KILN_TEXT_TOO_SMALL.
 *
 * Errors: those of kiln_gemm_workspace_bytes, and KILN_TEXT_TOO_SMALL. Nothing is enqueued.
 * Blocks: builds the kernels of the call if they were not yet. */
KILN_API enum kiln_status kiln_gemm_explain(struct kiln_context *context,
        const struct kiln_gemm *gemm, char *text, size_t size);

/* ---- Packed operands ----
 *
 * Many kernels bring A and B into a form of their own before they multiply. An operand that many
 * calls share, the weights of a network say, can be packed once:
 *
 *     struct kiln_gemm gemm = { .m = m, .n = n, .k = k, .alpha = 1, .a = a, .b = b, .c = c };
 *     struct kiln_pack packed_b;
 *     size_t bytes = 0;
 *     status = kiln_pack_bytes(kiln, &gemm, KILN_PACK_B, &bytes);
 *     cl_mem room = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, NULL);
 *     status = kiln_pack_enqueue(kiln, &gemm, KILN_PACK_B, room, 0, queue, 0, NULL, NULL,
 *             &packed_b);
 *     gemm.packed_b = &packed_b;
 *     status = kiln_gemm_enqueue(kiln, &gemm, queue, 0, NULL, NULL);     (as often as wanted)
 *
 * The kernels are chosen when the operand is packed: those that the same call without packs would
 * use, so that the result is bitwise the same. Kernels that take an operand as it is get a plain
 * copy of it, whose rows are aligned as the operand's are in a buffer that begins at a multiple of
 * 64 bytes. A result may differ in its last bits in two cases. Where a complex product is computed
 * as a real one, the operand's form for that is kept, and the kernels of the real product are
 * chosen by each call. And a batch with a pack may be one launch where without it there is one for
 * each member, which shares K among work-groups. */

/* Which operand. */
enum kiln_pack_operand { KILN_PACK_A = 1, KILN_PACK_B = 2 };

/* A packed operand: what kiln_pack_enqueue says about it. Plain data of the caller's, to be read
 * only; it may be copied, and shared between threads. There is nothing to destroy but the buffer,
 * which stays the caller's and is not retained: it must live as long as the pack is used, with what
 * was packed unchanged. All zero is no pack (KILN_INVALID_PACK).
 *
 * The fields describe the operand in row-major layout: a column-major call has A and B, and each
 * one's rows and columns, change places. So a pack fits any call that reads the same memory in the
 * same way. */
struct kiln_pack {
    cl_mem buffer;
    size_t offset, bytes;              /* where it lies in the buffer; of a plain copy, bytes also
                                          tell how far apart rows are */
    const struct kiln_bundle *bundle;  /* whose kernels read it */
    uint32_t recipe;                   /* which of them: an index into the bundle */
    enum kiln_precision precision;
    enum kiln_pack_operand operand;
    enum kiln_transpose trans;         /* KILN_CONJ_TRANS of complex elements alone */
    size_t rows, columns;              /* of op(A), m x k, or op(B), k x n */
};

/* How much memory a packed operand takes.
 *
 * gemm: required; the call that the pack is for, as it will be enqueued: it decides on the kernels.
 *     Buffers, alpha and beta are not looked at, nor is the workspace. When the other operand is
 *     packed already, and both will be used together, its pack should be named here: then the same
 *     kernels are chosen in any case. The field of the operand to be packed is not looked at.
 * operand: which one is to be packed.
 * bytes: required; from any offset on that is a multiple of 256. 0 when there is nothing to pack
 *     (m, n or k of 0), and on failure. The operand's leading dimension and offset count: a plain
 *     copy's rows are as far apart as its alignment asks for, by 31 elements at most, or as many
 *     multiples of what the kernels want of a leading dimension.
 *
 * Errors: KILN_INVALID_ARGUMENT, KILN_INVALID_PACK_OPERAND, those of kiln_gemm_workspace_bytes, and
 * those of kiln_gemm_enqueue for the other operand's pack. KILN_PACK_BATCH_MISMATCH: the call is a
 * batch in which the operand has a stride. Nothing is enqueued.
 * Blocks: builds the kernels of the call if they were not yet. */
KILN_API enum kiln_status kiln_pack_bytes(struct kiln_context *context,
        const struct kiln_gemm *gemm, enum kiln_pack_operand operand, size_t *bytes);

/* Enqueues the packing of an operand.
 *
 * gemm, operand: as for kiln_pack_bytes, but the operand's own buffer is read. A call with another
 *     n may use packed A, and one with another m packed B, as long as the same kernels can serve it
 *     (else KILN_PACK_UNSUITABLE); they are chosen for the shape given here.
 * buffer, offset: where to; a buffer of the context's cl_context with at least kiln_pack_bytes from
 *     the offset on, which is in bytes and a multiple of 256; the application's own memory begins
 *     at a multiple of 16 bytes. It may be the operand's own buffer, or another part of the same,
 *     but the two must not overlap, which is not checked. A plain copy within one buffer goes
 *     through the queue's workspace. Not looked at when there is nothing to pack.
 * queue, num_events_in_wait_list, event_wait_list, event: as for the typed calls. Calls that use
 *     the pack must come later on the same in-order queue, or wait for the event.
 * pack: required; filled before the function returns. All zero on failure, and when there is
 *     nothing to pack: calls of that shape do not look at it.
 *
 * Errors: those of kiln_pack_bytes, every status from KILN_INVALID_QUEUE to KILN_INVALID_WAIT_LIST
 * and from KILN_INVALID_PACK_BUFFER to KILN_PACK_CONTEXT_MISMATCH, those of the operand's buffer,
 * OpenCL's own. When the driver refuses a kernel, the next one that can serve the call is tried, as
 * long as the buffer does for it. */
KILN_API enum kiln_status kiln_pack_enqueue(struct kiln_context *context,
        const struct kiln_gemm *gemm, enum kiln_pack_operand operand, cl_mem buffer, size_t offset,
        cl_command_queue queue, cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
        cl_event *event, struct kiln_pack *pack);

#ifdef __cplusplus
}
#endif
#endif
