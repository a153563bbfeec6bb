/* triangles.c: see triangles.h. */
#include "triangles.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "core/files.h"
#include "element.h"
#include "stats.h"

/* The distance of elements that are checked, or else how many of a row are. */
enum { TRIANGLES_APART = 13, TRIANGLES_MOST = 128 };

struct triangles_bench {
    struct kiln_context *context;
    struct operands operands;
    struct kiln_gemm gemm[NUM_TRIANGLES];
    double *seconds[NUM_TRIANGLES];    /* of each round */
};

struct triangles_turn {
    const struct triangles_bench *bench;
    unsigned which;
};

static bool triangles_enqueue(void *user, cl_command_queue queue, cl_event *event)
{
    const struct triangles_turn *turn = user;

    return kiln_gemm_enqueue(turn->bench->context, &turn->bench->gemm[turn->which], queue, 0, NULL,
                   event) == KILN_SUCCESS;
}

static void triangles_describe(struct triangles_bench *bench, const struct problem *problem)
{
    struct kiln_gemm *gemm = bench->gemm;

    gemm[TRIANGLES_PRODUCT] = (struct kiln_gemm){
        .precision = problem->precision,
        .transb = KILN_TRANS,
        .m = problem->m,
        .n = problem->n,
        .k = problem->k,
        .alpha = 1,
        .a = bench->operands.a,
        .b = bench->operands.b,
        .c = bench->operands.c,
    };
    gemm[TRIANGLES_SYRK] = gemm[TRIANGLES_PRODUCT];
    gemm[TRIANGLES_SYRK].b = bench->operands.a;
    gemm[TRIANGLES_SYRK].uplo_c = KILN_LOWER;
    gemm[TRIANGLES_SYMM] = gemm[TRIANGLES_PRODUCT];
    gemm[TRIANGLES_SYMM].transb = KILN_NO_TRANS;
    gemm[TRIANGLES_SYMM].uplo_a = KILN_LOWER;
}

/* Does one call, and copies what it leaves of a C of NaN. */
static bool triangles_call(const struct triangles_bench *bench, unsigned which,
        const struct device *device, const struct problem *problem, void *c)
{
    struct triangles_turn turn = { bench, which };

    return operands_poison(&bench->operands, device, problem) &&
           triangles_enqueue(&turn, device->queue, NULL) &&
           operands_read(&bench->operands, device, problem, c);
}

/* The error from which on an element is wrong. On the diagonal of A A' with real A all products are
 * positive: the sum grows with every step and so do the roundings, by chance up and down, so that
 * an error grows with the root of K. One product left out of K is 1 / (K eps) units. */
static double triangles_limit(const struct problem *problem, bool is_square)
{
    return is_square ? fmax(PROBLEM_WRONG, sqrt((double) problem->k)) : PROBLEM_WRONG;
}

/* Whether elements all over C are right, and those above the diagonal still NaN where `is_lower`,
 * where C is A A'. */
static bool triangles_are_right(const struct problem *problem, const void *c, bool is_lower)
{
    const size_t n = problem->n;
    const size_t apart = n / TRIANGLES_MOST > TRIANGLES_APART ? n / TRIANGLES_MOST
                                                              : TRIANGLES_APART;

    for (size_t i = 0; i < n + apart - 1; i += apart) {
        for (size_t j = 0; j < n + apart - 1; j += apart) {
            const size_t row = i < n ? i : n - 1, column = j < n ? j : n - 1;
            const double error = problem_error_at(problem, c, row, column);
            const double limit = triangles_limit(problem, is_lower && row == column);

            if (is_lower && row < column ? error != INFINITY : !(error < limit)) {
                fprintf(stderr,
                        "kiln-bench: %s, %c, %zu: wrong in row %zu, column %zu, by %.3g units\n",
                        is_lower ? "A A'" : "symmetric A times B",
                        compare_precision_letter(problem->precision), n, row, column, error);
                return false;
            }
        }
    }
    return true;
}

/* Leaves `problem` with what SYMM multiplies: a symmetric A, and B not transposed. */
static bool triangles_check(const struct triangles_bench *bench, const struct device *device,
        struct problem *problem)
{
    const size_t n = problem->n, bytes = kiln_element_bytes(problem->precision);
    unsigned char *a = problem->a, *c = malloc(problem->c_bytes);
    struct problem own = *problem;
    bool good = c != NULL && triangles_call(bench, TRIANGLES_SYRK, device, problem, c);

    own.b = own.a;
    own.b_norms = own.a_norms;
    good = good && triangles_are_right(&own, c, true);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i + 1; j < n; j++) {
            memcpy(a + (i * n + j) * bytes, a + (j * n + i) * bytes, bytes);
        }
    }
    problem->transb = false;
    problem_measure_lines(problem);
    good = good && triangles_call(bench, TRIANGLES_SYMM, device, problem, c) &&
           triangles_are_right(problem, c, false);
    free(c);
    return good;
}

/* The first round warms up. */
static bool triangles_time(struct triangles_bench *bench, const struct options *options,
        const struct device *device)
{
    const unsigned clock = device->has_clock ? CLOCK_DEVICE : CLOCK_WALL;

    for (size_t round = 0; round <= options->rounds; round++) {
        for (unsigned i = 0; i < NUM_TRIANGLES; i++) {
            struct triangles_turn turn = { bench, i };
            struct sample sample = { { 0 } };

            if (!device_sample(device, triangles_enqueue, &turn, options->min_seconds, &sample)) {
                return false;
            }
            bench->seconds[i][round == 0 ? 0 : round - 1] = sample.seconds[clock];
        }
    }
    return true;
}

/* A triangle takes n (n + 1) k multiplications and additions. */
static void triangles_summarise(struct triangles_bench *bench, const struct options *options,
        const struct problem *problem, struct triangles_row *row)
{
    const double n = (double) problem->n, flops = problem_flops(problem);
    const double of[NUM_TRIANGLES] = { flops, flops * (n + 1) / (2 * n), flops };

    *row = (struct triangles_row){ .precision = problem->precision, .n = problem->n };
    for (unsigned i = 0; i < NUM_TRIANGLES; i++) {
        row->seconds[i] = stats_median(bench->seconds[i], options->rounds);
        row->least[i] = bench->seconds[i][0];
        row->most[i] = bench->seconds[i][options->rounds - 1];
        row->gflops[i] = of[i] / row->seconds[i] / 1e9;
    }
}

static void triangles_print(const struct triangles_row *row)
{
    const double *rate = row->gflops;

    printf("%c %6zu %10.2f %10.2f %10.2f %7.2f %7.2f\n", compare_precision_letter(row->precision),
            row->n, rate[TRIANGLES_PRODUCT], rate[TRIANGLES_SYRK], rate[TRIANGLES_SYMM],
            rate[TRIANGLES_SYRK] / rate[TRIANGLES_PRODUCT],
            rate[TRIANGLES_SYMM] / rate[TRIANGLES_PRODUCT]);
    files_flush_output();
}

static bool triangles_run(struct triangles_bench *bench, const struct options *options,
        const struct device *device, enum kiln_precision precision, const struct bench_shape *shape,
        struct triangles_row *row)
{
    struct problem problem;

    if (!problem_create(&problem, precision, false, true, shape)) {
        return false;
    }
    bool good = operands_create(&bench->operands, device, &problem);

    if (good) {
        triangles_describe(bench, &problem);
        good = triangles_check(bench, device, &problem) && triangles_time(bench, options, device);
        if (good) {
            triangles_summarise(bench, options, &problem, row);
            triangles_print(row);
        }
        operands_destroy(&bench->operands);
    }
    problem_destroy(&problem);
    return good;
}

static bool triangles_run_all(struct triangles_bench *bench, const struct options *options,
        const struct device *device, struct triangles *triangles)
{
    puts("GFLOP/s, medians; of the products, A A' of which a triangle is stored, A B with a\n"
         "symmetric A; then the latter two over the first\n\n"
         "       n        AB'        AA'    sym. AB     AA'    sym.");
    for (size_t p = 0; p < options->num_precisions; p++) {
        for (size_t i = 0; i < options->shapes.count; i++) {
            const struct bench_shape *shape = &options->shapes.items[i];

            if (shape->m != shape->n || shape->n != shape->k) {
                continue;
            }
            if (!triangles_run(bench, options, device, options->precisions[p], shape,
                        &triangles->rows[triangles->num_rows])) {
                fputs("kiln-bench: a call failed, a result is wrong, or memory is short\n", stderr);
                return false;
            }
            triangles->num_rows++;
        }
    }
    if (triangles->num_rows == 0) {
        fputs("kiln-bench: --triangles is of square matrices, and no shape is of these\n", stderr);
    }
    return triangles->num_rows > 0;
}

bool triangles_measure(const struct options *options, const struct device *device,
        struct triangles *triangles)
{
    struct triangles_bench bench = { .context = NULL };
    bool good;

    triangles->rows = calloc(options->num_precisions * options->shapes.count,
            sizeof(*triangles->rows));
    good = triangles->rows != NULL;
    for (unsigned i = 0; i < NUM_TRIANGLES; i++) {
        bench.seconds[i] = calloc(options->rounds, sizeof(double));
        good = good && bench.seconds[i] != NULL;
    }
    good = good &&
           kiln_context_create(device->context, device->id, NULL, &bench.context) == KILN_SUCCESS;
    good = good && triangles_run_all(&bench, options, device, triangles);
    kiln_context_destroy(&bench.context);
    for (unsigned i = 0; i < NUM_TRIANGLES; i++) {
        free(bench.seconds[i]);
    }
    return good;
}
