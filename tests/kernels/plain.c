/* plain.c: see checks.h. */
#include "checks.h"
#include "internal.h"

/* What pads a row so that the next one begins at a multiple of the unit. */
static size_t padding(size_t columns, uint32_t unit)
{
    return unit > 1 ? (unit - columns % unit) % unit : 0;
}

struct verify_case plain_case(const struct problem *problem, const struct kiln_recipe *recipe,
        size_t m, size_t n, size_t k)
{
    const struct kiln_guard *guard = &recipe->guard;
    verify_fit(guard, &m, &n, &k);
    return (struct verify_case){
        .problem = *problem,
        .m = m,
        .n = n,
        .k = k,
        .alpha = 1,
        .beta = 1,
        .pad_a = padding(problem->transa ? m : k, guard->a),
        .pad_b = padding(problem->transb ? k : n, guard->b),
        .pad_c = padding(n, guard->c),
    };
}

bool plain_init(struct plain *plain, const struct verify_case *of)
{
    const enum kiln_storage storage = of->problem.precision->storage;
    const bool ta = of->problem.transa, tb = of->problem.transb;
    plain->of = of;
    const bool a = matrix_init(&plain->a, storage, ta ? of->k : of->m, ta ? of->m : of->k,
            of->pad_a, of->offset_a);
    const bool b = matrix_init(&plain->b, storage, tb ? of->n : of->k, tb ? of->k : of->n,
            of->pad_b, of->offset_b);
    const bool c = matrix_init(&plain->c, storage, of->m, of->n, of->pad_c, of->offset_c);
    return a && b && c;
}

void plain_free(struct plain *plain)
{
    matrix_free(&plain->a);
    matrix_free(&plain->b);
    matrix_free(&plain->c);
}

void plain_set_a(struct plain *plain, size_t i, size_t p, double value)
{
    const bool trans = plain->of->problem.transa;
    matrix_set(&plain->a, trans ? p : i, trans ? i : p, value);
}

void plain_set_b(struct plain *plain, size_t p, size_t j, double value)
{
    const bool trans = plain->of->problem.transb;
    matrix_set(&plain->b, trans ? j : p, trans ? p : j, value);
}

size_t plain_bytes(const struct matrix *matrix)
{
    return matrix->bytes - 2 * MATRIX_ZONE_BYTES;
}

unsigned char *plain_begin(const struct matrix *matrix)
{
    return matrix->image + MATRIX_ZONE_BYTES;
}

struct kiln_gemm plain_gemm(const struct plain *plain, const cl_mem buffers[3])
{
    const struct verify_case *of = plain->of;
    return (struct kiln_gemm){
        .precision = kiln_precision_of_call(of->problem.precision->id),
        .arithmetic = kiln_arithmetic_of_call(of->problem.precision->id),
        .layout = KILN_ROW_MAJOR,
        .transa = of->problem.transa ? KILN_TRANS : KILN_NO_TRANS,
        .transb = of->problem.transb ? KILN_TRANS : KILN_NO_TRANS,
        .m = of->m,
        .n = of->n,
        .k = of->k,
        .alpha = of->alpha,
        .beta = of->beta,
        .a = buffers[0],
        .a_offset = of->offset_a,
        .lda = plain->a.ld,
        .b = buffers[1],
        .b_offset = of->offset_b,
        .ldb = plain->b.ld,
        .c = buffers[2],
        .c_offset = of->offset_c,
        .ldc = plain->c.ld,
    };
}

enum kiln_status plain_run(struct plain *plain, struct verifier *verifier,
        struct kiln_context *context, const struct kiln_gemm *gemm)
{
    struct launcher *launcher = verifier->launcher;
    struct kiln_gemm call = *gemm;
    double seconds;
    enum kiln_status status = KILN_OUT_OF_MEMORY;
    if (call.a && call.b && call.c)
        status = launcher_prepare(launcher, context, &call);
    if (gemm->workspace)
        call.workspace = gemm->workspace;
    if (status == KILN_SUCCESS)
        status = launcher_run(launcher, context, &call, &seconds);
    if (status == KILN_SUCCESS)
        status = (enum kiln_status) clEnqueueReadBuffer(launcher->queue, call.c, CL_TRUE, 0,
                plain_bytes(&plain->c), plain_begin(&plain->c), 0, NULL, NULL);
    return status;
}
