/* triangles.c: see triangles.h. */
#include "triangles.h"

#include <stdio.h>
#include <stdlib.h>

#include "compare.h"
#include "stats.h"

enum { TRIANGLES_PRODUCT, TRIANGLES_SYRK, TRIANGLES_SYMM, NUM_TRIANGLES };

struct triangles {
    struct kiln_context *context;
    struct operands operands;
    struct kiln_gemm gemm[NUM_TRIANGLES];
    double *seconds[NUM_TRIANGLES];    /* of each round */
};

struct triangles_call {
    const struct triangles *triangles;
    unsigned which;
};

static bool triangles_enqueue(void *user, cl_command_queue queue, cl_event *event)
{
    const struct triangles_call *call = user;

    return kiln_gemm_enqueue(call->triangles->context, &call->triangles->gemm[call->which], queue,
                   0, NULL, event) == KILN_SUCCESS;
}

static void triangles_describe(struct triangles *triangles, const struct problem *problem)
{
    struct kiln_gemm *gemm = triangles->gemm;

    gemm[TRIANGLES_PRODUCT] = (struct kiln_gemm){
        .precision = problem->precision,
        .transb = KILN_TRANS,
        .m = problem->m,
        .n = problem->n,
        .k = problem->k,
        .alpha = 1,
        .a = triangles->operands.a,
        .b = triangles->operands.b,
        .c = triangles->operands.c,
    };
    gemm[TRIANGLES_SYRK] = gemm[TRIANGLES_PRODUCT];
    gemm[TRIANGLES_SYRK].b = triangles->operands.a;
    gemm[TRIANGLES_SYRK].uplo_c = KILN_LOWER;
    gemm[TRIANGLES_SYMM] = gemm[TRIANGLES_PRODUCT];
    gemm[TRIANGLES_SYMM].transb = KILN_NO_TRANS;
    gemm[TRIANGLES_SYMM].uplo_a = KILN_LOWER;
}

/* The first round warms up. */
static bool triangles_measure(struct triangles *triangles, const struct options *options,
        const struct device *device)
{
    const unsigned clock = device->has_clock ? CLOCK_DEVICE : CLOCK_WALL;

    for (size_t round = 0; round <= options->rounds; round++) {
        for (unsigned i = 0; i < NUM_TRIANGLES; i++) {
            struct triangles_call call = { triangles, i };
            struct sample sample = { { 0 } };

            if (!device_sample(device, triangles_enqueue, &call, options->min_seconds, &sample)) {
                return false;
            }
            triangles->seconds[i][round == 0 ? 0 : round - 1] = sample.seconds[clock];
        }
    }
    return true;
}

/* A triangle takes n (n + 1) k multiplications and additions. */
static void triangles_print(struct triangles *triangles, const struct options *options,
        const struct problem *problem)
{
    const double n = (double) problem->n, flops = problem_flops(problem);
    const double of[NUM_TRIANGLES] = { flops, flops * (n + 1) / (2 * n), flops };
    double rate[NUM_TRIANGLES];

    for (unsigned i = 0; i < NUM_TRIANGLES; i++) {
        rate[i] = of[i] / stats_median(triangles->seconds[i], options->rounds) / 1e9;
    }
    printf("%c %6zu %10.2f %10.2f %10.2f %7.2f %7.2f\n",
            compare_precision_letter(problem->precision), problem->n, rate[0], rate[1], rate[2],
            rate[1] / rate[0], rate[2] / rate[0]);
    fflush(stdout);
}

static bool triangles_run(struct triangles *triangles, const struct options *options,
        const struct device *device, enum kiln_precision precision, const struct shape *shape)
{
    struct problem problem;

    if (!problem_create(&problem, precision, false, true, shape)) {
        return false;
    }
    bool good = operands_create(&triangles->operands, device, &problem);

    if (good) {
        triangles_describe(triangles, &problem);
        good = triangles_measure(triangles, options, device);
        if (good) {
            triangles_print(triangles, options, &problem);
        }
        operands_destroy(&triangles->operands);
    }
    problem_destroy(&problem);
    return good;
}

static bool triangles_run_all(struct triangles *triangles, const struct options *options,
        const struct device *device)
{
    puts("GFLOP/s, medians; of the products, A A' of which a triangle is stored, A B with a\n"
         "symmetric A; then the latter two over the first\n\n"
         "       n        AB'        AA'    sym. AB     AA'    sym.");
    for (size_t p = 0; p < options->num_precisions; p++) {
        for (size_t i = 0; i < options->shapes.count; i++) {
            const struct shape *shape = &options->shapes.items[i];

            if (shape->m == shape->n && shape->n == shape->k &&
                    !triangles_run(triangles, options, device, options->precisions[p], shape)) {
                fputs("kiln-bench: a call failed, or memory is short\n", stderr);
                return false;
            }
        }
    }
    return true;
}

bool triangles_report(const struct options *options, const struct device *device)
{
    struct triangles triangles = { .context = NULL };
    bool good = true;

    for (unsigned i = 0; i < NUM_TRIANGLES; i++) {
        triangles.seconds[i] = calloc(options->rounds, sizeof(double));
        good = good && triangles.seconds[i] != NULL;
    }
    good = good && kiln_context_create(device->context, device->id, NULL, &triangles.context) ==
                           KILN_SUCCESS;
    good = good && triangles_run_all(&triangles, options, device);
    kiln_context_destroy(&triangles.context);
    for (unsigned i = 0; i < NUM_TRIANGLES; i++) {
        free(triangles.seconds[i]);
    }
    return good;
}
