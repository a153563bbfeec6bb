/* test_blas.c: libkiln-blas against the library behind it: the same calls to both, on the same
 * memory, must leave the same memory behind. Numbers are small integers, so that sums are exact.
 *
 * Linked with the library, and so called as programs call it. It says on standard error who served
 * a call (KILN_BLAS_VERBOSE=1), which is read here. What the tests find depends on the environment
 * that meson.build gives them:
 *
 *     calls         KILN_BLAS_LEAST_OPS=0: Kiln serves; with zero copy and with copies
 *     defaults      the limits as they are
 *     no-device     there is none
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include "rows.h"

#include <CL/cl.h>
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { EXIT_SKIP = 77, MOST = 40, NUM_CALLS = 1200, NUM_THREADS = 4 };
/* As CBLAS has them. */
enum { ROW_MAJOR = 101, COL_MAJOR = 102, NO_TRANS = 111, TRANS = 112, CONJ_TRANS = 113 };
enum { UPPER = 121, LOWER = 122, LEFT = 141, RIGHT = 142 };

/* A name of the library that keeps it linked; the others are looked up. */
extern const char dgemm_[];
static const char *const volatile linked = dgemm_;

static void *fallback; /* the handle of the library behind */
static bool zero_copy;

/* ---- What stands between the library and OpenCL ---- */

/* The call of OpenCL that fails, if it is not NULL. */
static const char *failing;

#define WRAP(type, name, params, arguments, failure) \
    type name params; \
    type name params \
    { \
        type(*real) params; \
        *(void **) &real = dlsym(RTLD_NEXT, #name); \
        if (failing != NULL && strcmp(failing, #name) == 0) { \
            failure; \
        } \
        return real arguments; \
    }
WRAP(cl_mem, clCreateBuffer,
        (cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *error),
        (context, flags, size, host, error), *error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
        return NULL)
WRAP(cl_int, clEnqueueNDRangeKernel,
        (cl_command_queue queue, cl_kernel kernel, cl_uint dim, const size_t *offset,
                const size_t *global, const size_t *local, cl_uint num, const cl_event *list,
                cl_event *event),
        (queue, kernel, dim, offset, global, local, num, list, event), return CL_OUT_OF_RESOURCES)
WRAP(cl_int, clEnqueueWriteBufferRect,
        (cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t *o1,
                const size_t *o2, const size_t *region, size_t p1, size_t s1, size_t p2, size_t s2,
                const void *host, cl_uint num, const cl_event *list, cl_event *event),
        (queue, buffer, blocking, o1, o2, region, p1, s1, p2, s2, host, num, list, event),
        return CL_OUT_OF_RESOURCES)
WRAP(cl_int, clWaitForEvents, (cl_uint num, const cl_event *list), (num, list),
        return CL_OUT_OF_RESOURCES)

/* ---- What the library says ---- */

static int standard_error, capture; /* descriptors */

/* Counts `pattern` in what the library wrote since the last call of this. */
static int said(const char *pattern)
{
    static char text[1 << 22];
    static off_t position;
    fflush(stderr);
    const ssize_t length = pread(capture, text, sizeof text - 1, position);
    assert_true(length >= 0 && (size_t) length < sizeof text - 1);
    text[length] = '\0';
    position += length;
    int num = 0;
    for (const char *at = text; (at = strstr(at, pattern)) != NULL; at++) {
        num++;
    }
    return num;
}

static int begin_capture(void **state)
{
    (void) state;
    dup2(capture, STDERR_FILENO);
    said("\n");
    return 0;
}

static int end_capture(void **state)
{
    (void) state;
    dup2(standard_error, STDERR_FILENO);
    return 0;
}

/* ---- One call, made at random ---- */

struct problem {
    const struct row *row;
    struct arguments x;
    char letters[2];
    bool by_fortran;
    size_t real_bytes, numbers;        /* of an element: 4 or 8; 1 or 2 */
    size_t bytes;                      /* of the memory */
    char *before, *kiln, *other;       /* the memory: as it was, after Kiln, after the fallback */
    size_t at[3];                      /* where A, B and C are in it */
    double alpha[2], beta[2];
    float alpha_single[2], beta_single[2];
};

static unsigned draw(unsigned *seed, unsigned most)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % (most + 1);
}

static double get(const struct problem *p, const char *memory, size_t i)
{
    return p->real_bytes == sizeof(double) ? ((const double *) memory)[i]
                                           : (double) ((const float *) memory)[i];
}

static void put(const struct problem *p, char *memory, size_t i, double value)
{
    if (p->real_bytes == sizeof(double)) {
        ((double *) memory)[i] = value;
    } else {
        ((float *) memory)[i] = (float) value;
    }
}

/* Layout and modes, with the letters that Fortran has for them. */
static void draw_modes(struct problem *p, unsigned *seed)
{
    const int trans[] = { NO_TRANS, TRANS, CONJ_TRANS };
    const char trans_letters[] = "NTCntc", uplo_letters[] = "ULul", side_letters[] = "LRlr";
    const unsigned lower = draw(seed, 1);
    struct arguments *x = &p->x;
    x->layout = p->by_fortran || draw(seed, 1) ? COL_MAJOR : ROW_MAJOR;
    for (int i = 0; i < 2; i++) {
        const bool is_trans = p->row->family == GEMM || (p->row->family == SYRK && i == 1);
        const bool is_side = p->row->family == SYMM && i == 0;
        unsigned mode = draw(seed, is_trans ? 2 : 1);
        if (p->row->family == SYRK && i == 1 && p->row->is_complex && mode > 0) {
            mode = p->row->is_hermitian ? 2 : 1;
        }
        x->modes[i] = is_trans ? trans[mode] : (is_side ? LEFT : UPPER) + (int) mode;
        p->letters[i] = is_trans ? trans_letters[mode + 3 * lower]
                      : is_side  ? side_letters[mode + 2 * lower]
                                 : uplo_letters[mode + 2 * lower];
    }
}

/* Rows and columns of A, B and C; B has none where the routine has no B. */
static void extents(const struct problem *p, int rows[3], int columns[3])
{
    const struct arguments *x = &p->x;
    const int m = p->row->family == SYRK ? x->n : x->m;
    if (p->row->family == SYMM) {
        rows[0] = columns[0] = x->modes[0] == LEFT ? m : x->n;
        rows[1] = m, columns[1] = x->n;
    } else {
        const bool is_plain = x->modes[p->row->family == SYRK] == NO_TRANS;
        rows[0] = is_plain ? m : x->k, columns[0] = is_plain ? x->k : m;
        const bool is_plain_b = x->modes[1] == NO_TRANS;
        rows[1] = is_plain_b ? x->k : x->n, columns[1] = is_plain_b ? x->n : x->k;
    }
    if (p->row->family == SYRK) {
        rows[1] = columns[1] = 0;
    }
    rows[2] = m, columns[2] = x->n;
}

/* Puts the matrices into the memory: one behind the other, interleaved as parts of one large
 * matrix, or with B on top of A. */
static void place(struct problem *p, unsigned *seed)
{
    int rows[3], columns[3], *lds[3] = { &p->x.lda, &p->x.ldb, &p->x.ldc };
    const unsigned arrangement = draw(seed, 2);
    size_t end = draw(seed, 9), lines = 0;
    extents(p, rows, columns);
    if (arrangement == 1) {
        int ld = 0;
        size_t from = end;
        for (int i = 0; i < 3; i++) {
            const bool by_columns = p->x.layout == COL_MAJOR;
            const int length = by_columns ? rows[i] : columns[i];
            const int num = by_columns ? columns[i] : rows[i];
            p->at[i] = from;
            from += (size_t) length + draw(seed, 2);
            ld += length + 2;
            lines = (size_t) num > lines ? (size_t) num : lines;
        }
        p->x.lda = p->x.ldb = p->x.ldc = ld + 1;
        end += (lines + 1) * (size_t) (ld + 1);
    } else {
        for (int i = 0; i < 3; i++) {
            const bool by_columns = p->x.layout == COL_MAJOR;
            const int length = by_columns ? rows[i] : columns[i];
            const int num = by_columns ? columns[i] : rows[i];
            const int ld = (length > 1 ? length : 1) + (int) draw(seed, 5);
            *lds[i] = ld;
            p->at[i] = arrangement == 2 && i == 1 ? p->at[0] + draw(seed, 1) : end;
            const size_t last = p->at[i] + (size_t) ld * (size_t) num + (size_t) length;
            end = (last > end ? last : end) + draw(seed, 5);
        }
    }
    p->bytes = (end + 8) * p->numbers * p->real_bytes;
}

/* Fills the memory. C is not defined where beta is 0; what lies between the matrices never is. */
static void fill(struct problem *p, unsigned *seed)
{
    int rows[3], columns[3];
    const int lds[3] = { p->x.lda, p->x.ldb, p->x.ldc };
    const bool reads_c = p->beta[0] != 0 || p->beta[1] != 0;
    extents(p, rows, columns);
    const size_t num = p->bytes / p->real_bytes;
    for (size_t i = 0; i < num; i++) {
        put(p, p->before, i, (double) NAN);
    }
    for (int which = 0; which < (reads_c ? 3 : 2); which++) {
        const bool by_columns = p->x.layout == COL_MAJOR;
        const int length = by_columns ? rows[which] : columns[which];
        const int lines = by_columns ? columns[which] : rows[which];
        for (int i = 0; i < lines; i++) {
            for (size_t j = 0; j < (size_t) length * p->numbers; j++) {
                const size_t at = (p->at[which] + (size_t) i * (size_t) lds[which]) * p->numbers;
                put(p, p->before, at + j, (double) draw(seed, 8) - 4);
            }
        }
    }
}

static void draw_problem(struct problem *p, const struct row *row, unsigned *seed)
{
    static const double scalars[] = { 0, 1, -1, 2, -3 };
    *p = (struct problem){ .row = row,
        .by_fortran = draw(seed, 1),
        .real_bytes = row->is_double ? sizeof(double) : sizeof(float),
        .numbers = row->is_complex ? 2 : 1 };
    const bool is_real = !row->is_complex || (row->family == SYRK && row->is_hermitian);
    draw_modes(p, seed);
    p->x.m = (int) draw(seed, MOST);
    p->x.n = (int) draw(seed, MOST);
    p->x.k = (int) draw(seed, MOST);
    p->alpha[0] = scalars[draw(seed, 4)], p->alpha[1] = is_real ? 0 : scalars[draw(seed, 4)];
    p->beta[0] = scalars[draw(seed, 4)], p->beta[1] = is_real ? 0 : scalars[draw(seed, 2)];
    for (int i = 0; i < 2; i++) {
        p->alpha_single[i] = (float) p->alpha[i], p->beta_single[i] = (float) p->beta[i];
    }
    place(p, seed);
    p->before = malloc(p->bytes);
    p->kiln = malloc(p->bytes);
    p->other = malloc(p->bytes);
    fill(p, seed);
}

static void free_problem(struct problem *p)
{
    free(p->before);
    free(p->kiln);
    free(p->other);
}

/* Does the call by the function of a library, on a copy of the memory. */
static void call(struct problem *p, void *library, char *memory)
{
    char name[32];
    struct arguments x = p->x;
    const size_t bytes = p->numbers * p->real_bytes;
    memcpy(memory, p->before, p->bytes);
    x.alpha = p->real_bytes == sizeof(double) ? (const void *) p->alpha : p->alpha_single;
    x.beta = p->real_bytes == sizeof(double) ? (const void *) p->beta : p->beta_single;
    x.a = memory + p->at[0] * bytes;
    x.b = memory + p->at[1] * bytes;
    x.c = memory + p->at[2] * bytes;
    snprintf(name, sizeof name, p->by_fortran ? "%s_" : "cblas_%s", p->row->name);
    void *function = dlsym(library, name);
    if (p->by_fortran) {
        call_fortran(p->row->family, function, p->letters, &x);
    } else {
        p->row->call(function, &x);
    }
}

/* Does the call by both, and compares all of the memory. */
static bool agrees(struct problem *p)
{
    call(p, RTLD_DEFAULT, p->kiln);
    call(p, fallback, p->other);
    for (size_t i = 0; i < p->bytes / p->real_bytes; i++) {
        const double x = get(p, p->kiln, i), y = get(p, p->other, i);
        if (x != y && (x == x || y == y)) {
            fprintf(stdout,
                    "%s layout %d modes %d %d, %d %d %d, alpha %g %g beta %g %g, ld %d %d "
                    "%d: number %zu is %g, not %g\n",
                    p->row->name, p->x.layout, p->x.modes[0], p->x.modes[1], p->x.m, p->x.n, p->x.k,
                    p->alpha[0], p->alpha[1], p->beta[0], p->beta[1], p->x.lda, p->x.ldb, p->x.ldc,
                    i, x, y);
            return false;
        }
    }
    return true;
}

/* ---- Tests ---- */

static void test_random_calls(void **state)
{
    (void) state;
    unsigned seed = 1;
    for (int i = 0; i < NUM_CALLS; i++) {
        struct problem p;
        draw_problem(&p, &table[i % NUM_ROWS], &seed);
        assert_true(agrees(&p));
        free_problem(&p);
    }
    assert_true(said(": Kiln, ") > NUM_CALLS / 2);
}

static void *run_thread(void *user)
{
    unsigned seed = *(unsigned *) user;
    for (int i = 0; i < NUM_CALLS / 4; i++) {
        struct problem p;
        draw_problem(&p, &table[draw(&seed, NUM_ROWS - 1)], &seed);
        const bool ok = agrees(&p);
        free_problem(&p);
        if (!ok) {
            return user;
        }
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void) state;
    pthread_t threads[NUM_THREADS];
    unsigned seeds[NUM_THREADS];
    for (unsigned i = 0; i < NUM_THREADS; i++) {
        seeds[i] = 100 + i;
        assert_int_equal(pthread_create(&threads[i], NULL, run_thread, &seeds[i]), 0);
    }
    for (unsigned i = 0; i < NUM_THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        assert_null(result);
    }
    assert_true(said(": Kiln, ") > 0);
}

/* A product of which C is read (1) or not (0), with nothing at random but its numbers. */
static void make_product(struct problem *p, const char *name, int size, double beta)
{
    unsigned seed = 7;
    int which = 0;
    while (strcmp(table[which].name, name) != 0) {
        which++;
    }
    do {
        if (p->row != NULL) {
            free_problem(p);
        }
        draw_problem(p, &table[which], &seed);
    } while (p->x.m < 2 || p->x.n < 2 || p->x.k < 2 || p->alpha[0] == 0);
    free_problem(p);
    p->by_fortran = true;
    p->x.layout = COL_MAJOR;
    memcpy(p->letters, "NN", 2);
    p->x.modes[0] = p->x.modes[1] = NO_TRANS;
    p->x.m = p->x.n = p->x.k = size;
    p->beta[0] = beta, p->beta_single[0] = (float) beta;
    p->x.lda = p->x.ldb = p->x.ldc = size;
    for (size_t i = 0; i < 3; i++) {
        p->at[i] = i * (size_t) size * (size_t) size;
    }
    p->bytes = 3 * (size_t) size * (size_t) size * p->numbers * p->real_bytes;
    p->before = malloc(p->bytes);
    p->kiln = malloc(p->bytes);
    p->other = malloc(p->bytes);
    fill(p, &seed);
}

/* What fails before C is written leaves the call to the fallback, and the next one to Kiln. */
static void test_failures(void **state)
{
    (void) state;
    static const char *const calls[] = { "clCreateBuffer", "clEnqueueNDRangeKernel",
        "clEnqueueWriteBufferRect", "clWaitForEvents" };
    for (int i = 0; i < 8; i++) {
        struct problem p = { .row = NULL };
        /* Sizes grow, so that the pool has to. */
        make_product(&p, "dgemm", 2 * MOST + i, i % 2);
        said("\n");
        failing = calls[i / 2];
        assert_true(agrees(&p));
        failing = NULL;
        assert_int_equal(said(": fallback, CL_"), zero_copy && i >= 4 ? 0 : 1);
        assert_true(agrees(&p));
        assert_int_equal(said(": Kiln, "), 1);
        free_problem(&p);
    }
}

/* Complex matrices that share memory, but not a grid of elements. */
/* C, or all operands, begin at a multiple of a real number alone, as BLAS allows. */
static void test_part_of_an_element(void **state)
{
    (void) state;
    const double one[2] = { 1, 0 }, zero[2] = { 0, 0 };
    for (size_t skew = 0; skew < 2; skew++) {
        _Alignas(16) double memory[41] = { 0 };
        double *a = memory + skew;
        const struct arguments x = { .m = 1,
            .n = 1,
            .k = 2,
            .lda = 8,
            .ldb = 2,
            .ldc = 1,
            .alpha = one,
            .beta = zero,
            .a = a,
            .b = a + 20,
            .c = memory + 5 };
        a[0] = 1, a[1] = 2, a[16] = 1, a[20] = 1, a[22] = 2;
        said("\n");
        call_fortran(GEMM, dlsym(RTLD_DEFAULT, "zgemm_"), "NN", &x);
        assert_true(memory[5] == 3 && memory[6] == 2);
        assert_int_equal(said("begins at a part of an element"), zero_copy);
    }
}

static int reported;

/* The program's own, as BLAS allows; the fallback calls it. */
void xerbla_(const char *routine, const int *argument, size_t length);
void xerbla_(const char *routine, const int *argument, size_t length)
{
    (void) routine, (void) length;
    reported = *argument;
}

static void test_bad_arguments(void **state)
{
    (void) state;
    static const struct {
        const char *name, *letters;
        int m, n, k, ld[3], number;
    } bad[] = {
        { "dgemm_", "XN", 2, 2, 2, { 2, 2, 2 }, 1 },
        { "dgemm_", "NX", 2, 2, 2, { 2, 2, 2 }, 2 },
        { "dgemm_", "NN", -1, 2, 2, { 2, 2, 2 }, 3 },
        { "dgemm_", "NN", 2, -1, 2, { 2, 2, 2 }, 4 },
        { "dgemm_", "NN", 2, 2, -1, { 2, 2, 2 }, 5 },
        { "dgemm_", "NN", 2, 2, 2, { 1, 2, 2 }, 8 },
        { "dgemm_", "NN", 2, 2, 2, { 2, 1, 2 }, 10 },
        { "dgemm_", "NN", 2, 2, 2, { 2, 2, 1 }, 13 },
        { "dgemm_", "TN", 1, 2, 2, { 1, 2, 2 }, 8 },
        { "zhemm_", "XU", 2, 2, 0, { 2, 2, 2 }, 1 },
        { "zhemm_", "LX", 2, 2, 0, { 2, 2, 2 }, 2 },
        { "zhemm_", "LU", 2, 2, 0, { 1, 2, 2 }, 7 },
        { "zhemm_", "RU", 2, 2, 0, { 2, 1, 2 }, 9 },
        { "zherk_", "XN", 0, 2, 2, { 2, 0, 2 }, 1 },
        { "zherk_", "UT", 0, 2, 2, { 2, 0, 2 }, 2 },
        { "csyrk_", "UC", 0, 2, 2, { 2, 0, 2 }, 2 },
        { "csyrk_", "UN", 0, 2, 2, { 2, 0, 1 }, 10 },
    };
    static const double number[2] = { 1, 0 };
    double memory[3][16] = { { 0 } };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct arguments x = { .m = bad[i].m,
            .n = bad[i].n,
            .k = bad[i].k,
            .lda = bad[i].ld[0],
            .ldb = bad[i].ld[1],
            .ldc = bad[i].ld[2],
            .alpha = number,
            .beta = number,
            .a = memory[0],
            .b = memory[1],
            .c = memory[2] };
        const enum family family = strstr(bad[i].name, "mm_") == NULL  ? SYRK
                                 : strstr(bad[i].name, "gemm") != NULL ? GEMM
                                                                       : SYMM;
        reported = 0;
        said("\n");
        call_fortran(family, dlsym(RTLD_DEFAULT, bad[i].name), bad[i].letters, &x);
        assert_int_equal(said(": fallback, an argument is not valid"), 1);
        assert_int_equal(reported, bad[i].number);
    }
}

static void test_fork(void **state)
{
    (void) state;
    struct problem p = { .row = NULL };
    int status = -1;
    make_product(&p, "sgemm", 64, 1);
    assert_true(agrees(&p));
    assert_int_equal(said(": Kiln, "), 1);
    const pid_t child = fork();
    if (child == 0) {
        _exit(agrees(&p) ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(said(": fallback, the process was forked"), 1);
    assert_true(agrees(&p));
    assert_int_equal(said(": Kiln, "), 1);
    free_problem(&p);
}

static void test_small_and_large(void **state)
{
    (void) state;
    for (int size = 32; size <= 1024; size *= 32) {
        struct problem p = { .row = NULL };
        make_product(&p, "sgemm", size, 0);
        assert_true(agrees(&p));
        assert_int_equal(said(size == 32 ? ": fallback, it is small" : ": Kiln, "), 1);
        free_problem(&p);
    }
}

static void test_no_device(void **state)
{
    (void) state;
    struct problem p = { .row = NULL };
    make_product(&p, "dgemm", 40, 1);
    for (int i = 0; i < 2; i++) {
        assert_true(agrees(&p));
        assert_int_equal(said(": fallback, there is no device"), 1);
    }
    free_problem(&p);
}

/* Whether a call can come to Kiln at all. */
static bool has_device(void)
{
    cl_platform_id platform;
    cl_uint num = 0;
    return clGetPlatformIDs(1, &platform, NULL) == CL_SUCCESS &&
           clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &num) == CL_SUCCESS && num > 0;
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_capture, end_capture)
    const struct CMUnitTest calls[] = { TEST(test_random_calls), TEST(test_threads),
        TEST(test_failures), TEST(test_part_of_an_element), TEST(test_bad_arguments),
        TEST(test_fork) };
    const struct CMUnitTest defaults[] = { TEST(test_small_and_large) };
    const struct CMUnitTest no_device[] = { TEST(test_no_device) };
    const char *which = argc > 1 ? argv[1] : "", *copies = getenv("KILN_BLAS_ZERO_COPY");
    FILE *file = tmpfile();
    fallback = dlopen(FALLBACK_FILE, RTLD_LAZY | RTLD_LOCAL);
    if (file == NULL || fallback == NULL || linked == NULL) {
        fputs("no room for a file, or no " FALLBACK_FILE "\n", stderr);
        return EXIT_SKIP;
    }
    zero_copy = copies == NULL || *copies != '0';
    capture = fileno(file);
    standard_error = dup(STDERR_FILENO);
    if (strcmp(which, "no-device") == 0) {
        return cmocka_run_group_tests(no_device, NULL, NULL);
    }
    if (!has_device()) {
        fputs("no OpenCL device\n", stderr);
        return EXIT_SKIP;
    }
    return strcmp(which, "defaults") == 0 ? cmocka_run_group_tests(defaults, NULL, NULL)
                                          : cmocka_run_group_tests(calls, NULL, NULL);
}
