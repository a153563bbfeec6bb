/* openblas_child.c: a process that multiplies with OpenBLAS on request. OpenBLAS reads
 * OPENBLAS_CORETYPE once, when it is loaded: each core type therefore needs a process of its own,
 * and that process lives through the whole run, so that the peers can be interleaved. */
#include "openblas_child.h"

#include <cblas.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "problem.h"
#include "timer.h"

struct openblas_child {
    struct problem problem;
    void *c;
};

/* One of a batch. */
static void openblas_child_multiply_one(const struct openblas_child *child, size_t member)
{
    const struct problem *p = &child->problem;
    const size_t bytes = kiln_element_bytes(p->precision);
    const void *a = (const unsigned char *) p->a + member * p->a_stride * bytes;
    const void *b = (const unsigned char *) p->b + member * p->b_stride * bytes;
    void *c = (unsigned char *) child->c + member * p->c_stride * bytes;
    enum CBLAS_TRANSPOSE transa = p->transa ? CblasTrans : CblasNoTrans;
    enum CBLAS_TRANSPOSE transb = p->transb ? CblasTrans : CblasNoTrans;
    blasint m = (blasint) p->m, n = (blasint) p->n, k = (blasint) p->k;
    blasint lda = (blasint) p->lda, ldb = (blasint) p->ldb, ldc = (blasint) p->ldc;

    const float one[2] = { 1, 0 }, zero[2] = { 0, 0 };
    const double wide_one[2] = { 1, 0 }, wide_zero[2] = { 0, 0 };

    switch (p->precision) {
    case KILN_DOUBLE:
        cblas_dgemm(CblasRowMajor, transa, transb, m, n, k, 1, a, lda, b, ldb, 0, c, ldc);
        break;
    case KILN_COMPLEX_SINGLE:
        cblas_cgemm(CblasRowMajor, transa, transb, m, n, k, one, a, lda, b, ldb, zero, c, ldc);
        break;
    case KILN_COMPLEX_DOUBLE:
        cblas_zgemm(CblasRowMajor, transa, transb, m, n, k, wide_one, a, lda, b, ldb, wide_zero, c,
                ldc);
        break;
    default:
        cblas_sgemm(CblasRowMajor, transa, transb, m, n, k, 1, a, lda, b, ldb, 0, c, ldc);
        break;
    }
}

static bool openblas_child_multiply(void *user)
{
    const struct openblas_child *child = user;

    for (size_t i = 0; i < child->problem.batch; i++) {
        openblas_child_multiply_one(child, i);
    }
    return true;
}

static void openblas_child_problem(struct openblas_child *child, const char *request)
{
    int precision, transa, transb;
    struct bench_shape shape;

    problem_destroy(&child->problem);
    free(child->c);
    child->c = NULL;
    if (sscanf(request, "problem %d %d %d %zu %zu %zu %zu", &precision, &transa, &transb, &shape.m,
                &shape.n, &shape.k, &shape.batch) != 7) {
        printf("failed\n");
        return;
    }
    if (precision == KILN_HALF) {
        printf("refused\n");
        return;
    }
    if (!problem_create(&child->problem, (enum kiln_precision) precision, transa, transb, &shape)) {
        printf("failed\n");
        return;
    }
    child->c = malloc(child->problem.c_bytes);
    printf(child->c != NULL ? "ok\n" : "failed\n");
}

static void openblas_child_sample(struct openblas_child *child, const char *request)
{
    struct sample sample;
    double min_seconds;

    if (child->c == NULL || sscanf(request, "sample %lf", &min_seconds) != 1) {
        printf("failed\n");
        return;
    }
    timer_sample(openblas_child_multiply, child, min_seconds, &sample);
    timer_wait_until_idle();
    printf("ok %.9e\n", sample.seconds[CLOCK_WALL]);
}

static void openblas_child_result(struct openblas_child *child)
{
    if (child->c == NULL) {
        printf("failed\n");
        return;
    }
    memset(child->c, 0xff, child->problem.c_bytes);
    openblas_child_multiply(child);
    timer_wait_until_idle();
    printf("ok %zu\n", child->problem.c_bytes);
    fwrite(child->c, 1, child->problem.c_bytes, stdout);
}

static void openblas_child_serve(struct openblas_child *child, const char *request)
{
    if (strncmp(request, "core", 4) == 0) {
        printf("ok %s %d %s\n", openblas_get_corename(), openblas_get_num_threads(),
                openblas_get_config());
    } else if (strncmp(request, "problem", 7) == 0) {
        openblas_child_problem(child, request);
    } else if (strncmp(request, "sample", 6) == 0) {
        openblas_child_sample(child, request);
    } else if (strncmp(request, "result", 6) == 0) {
        openblas_child_result(child);
    } else {
        printf("failed\n");
    }
    fflush(stdout);
}

int openblas_child_run(const char *threads)
{
    struct openblas_child child = { .c = NULL };
    char request[256];

    openblas_set_num_threads(atoi(threads));
    while (fgets(request, sizeof(request), stdin) != NULL) {
        openblas_child_serve(&child, request);
    }
    problem_destroy(&child.problem);
    free(child.c);
    return EXIT_SUCCESS;
}
