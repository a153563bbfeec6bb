/* verify.c: see verify.h. */
#include "verify.h"
#include "../core/random.h"
#include "parallel.h"
#include "reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Operands ---- */

static void operands_free(struct verify_operands *operands)
{
    matrix_free(&operands->a);
    matrix_free(&operands->b);
    matrix_free(&operands->c);
}

/* A complex matrix is taken as one of its parts, of twice the columns. */
static size_t parts_in(const struct verify_case *of)
{
    return of->problem.precision->parts;
}

/* `make` is matrix_init or matrix_layout. */
static bool operands_init(struct verify_operands *operands, const struct verify_case *of,
        bool (*make)(struct matrix *matrix, enum kiln_storage storage, size_t rows, size_t cols,
                size_t pad, size_t offset))
{
    const size_t parts = parts_in(of);
    const enum kiln_storage storage = of->problem.precision->storage;
    const bool ta = of->problem.transa, tb = of->problem.transb;
    const bool a = make(&operands->a, storage, ta ? of->k : of->m, parts * (ta ? of->m : of->k),
            parts * of->pad_a, parts * of->offset_a);
    const bool b = make(&operands->b, storage, tb ? of->n : of->k, parts * (tb ? of->k : of->n),
            parts * of->pad_b, parts * of->offset_b);
    const bool c = make(&operands->c, storage, of->m, parts * of->n, parts * of->pad_c,
            parts * of->offset_c);
    return a && b && c;
}

/* In column-major layout every stored matrix is its own transpose: C' = op(B)' op(A)'. */
static struct kiln_gemm by_columns(const struct kiln_gemm *gemm)
{
    struct kiln_gemm swapped = *gemm;
    swapped.layout = KILN_COL_MAJOR;
    swapped.transa = gemm->transb;
    swapped.transb = gemm->transa;
    swapped.m = gemm->n;
    swapped.n = gemm->m;
    swapped.a = gemm->b;
    swapped.a_offset = gemm->b_offset;
    swapped.lda = gemm->ldb;
    swapped.b = gemm->a;
    swapped.b_offset = gemm->a_offset;
    swapped.ldb = gemm->lda;
    swapped.a_stride = gemm->b_stride;
    swapped.b_stride = gemm->a_stride;
    return swapped;
}

struct verify_case verify_case_of(const struct problem *problem, struct shape shape)
{
    return (struct verify_case){ .problem = *problem,
        .m = shape.m * shape_members(shape),
        .n = shape.n,
        .k = shape.k,
        .alpha = 1,
        .members = shape.batch };
}

void verify_make_batch(const struct verify_case *of, struct kiln_gemm *gemm)
{
    if (!of->members)
        return;
    const bool by_rows = of->m > 1, ta = of->problem.transa, tb = of->problem.transb;
    const size_t each = (by_rows ? of->m : of->n) / of->members;
    gemm->batch_count = of->members;
    *(by_rows ? &gemm->m : &gemm->n) = each;
    gemm->a_stride = !by_rows ? 0 : ta ? each : each * gemm->lda;
    gemm->b_stride = by_rows ? 0 : tb ? each * gemm->ldb : each;
    gemm->c_stride = by_rows ? each * gemm->ldc : each;
}

static struct kiln_gemm gemm_of(const struct verify_operands *operands,
        const struct verify_case *of)
{
    const size_t parts = parts_in(of);
    struct kiln_gemm gemm = launcher_gemm(&of->problem, (struct shape){ of->m, of->n, of->k, 0 });
    gemm.alpha = of->alpha, gemm.beta = of->beta;
    gemm.a = operands->a.buffer, gemm.a_offset = of->offset_a, gemm.lda = operands->a.ld / parts;
    gemm.b = operands->b.buffer, gemm.b_offset = of->offset_b, gemm.ldb = operands->b.ld / parts;
    gemm.c = operands->c.buffer, gemm.c_offset = of->offset_c, gemm.ldc = operands->c.ld / parts;
    verify_make_batch(of, &gemm);
    return of->by_columns ? by_columns(&gemm) : gemm;
}

/* ---- Messages ---- */

/* Adds to a verdict at which multiplication it was found. */
static enum verify_verdict say(enum verify_verdict verdict, const struct verify_case *of,
        const char *what, char message[VERIFY_MESSAGE_BYTES])
{
    char members[32] = "";
    if (of->members)
        snprintf(members, sizeof members, ", %zu members", of->members);
    snprintf(message, VERIFY_MESSAGE_BYTES,
            "%s; %cgemm %c%c %zu x %zu x %zu, alpha %g, beta %g, ld +%zu +%zu +%zu, "
            "offsets %zu %zu %zu%s%s%s%s",
            what, of->problem.precision->letter, of->problem.transa ? 't' : 'n',
            of->problem.transb ? 't' : 'n', of->m, of->n, of->k, of->alpha, of->beta, of->pad_a,
            of->pad_b, of->pad_c, of->offset_a, of->offset_b, of->offset_c, members,
            of->by_columns ? ", by columns" : "", of->packed & 1 ? ", packed A" : "",
            of->packed & 2 ? ", packed B" : "");
    return verdict;
}

static enum verify_verdict say_status(enum kiln_status status, const struct verify_case *of,
        char message[VERIFY_MESSAGE_BYTES])
{
    return say(status == KILN_NO_KERNEL ? VERIFY_REFUSED : VERIFY_FAILED, of,
            kiln_status_string(status), message);
}

/* ---- Running ---- */

/* C before the candidate runs; at beta = 0 poison, which the device writes faster than the host. */
static cl_int put_c(struct launcher *launcher, struct matrix *c, const struct verify_case *of)
{
    return of->beta == 0 ? matrix_poison_device(c, launcher->context, launcher->queue)
                         : matrix_upload(c, launcher->context, launcher->queue);
}

/* Runs the candidate on C; A and B are on the device already, and are packed now if wanted. */
static enum verify_verdict run_once(struct verifier *verifier, struct kiln_context *context,
        struct verify_operands *operands, const struct verify_case *of, unsigned packed,
        char message[VERIFY_MESSAGE_BYTES])
{
    struct launcher *launcher = verifier->launcher;
    struct launcher_packs packs;
    const cl_int error = put_c(launcher, &operands->c, of);
    struct kiln_gemm gemm = gemm_of(operands, of);
    enum kiln_status status = launcher_pack(launcher, context, &gemm, packed, &packs);
    if (status == KILN_SUCCESS)
        status = (enum kiln_status) error;
    if (status == KILN_SUCCESS)
        status = launcher_prepare(launcher, context, &gemm);
    if (status == KILN_SUCCESS)
        status = launcher_run(launcher, context, &gemm, &verifier->seconds);
    if (status == KILN_SUCCESS)
        status = (enum kiln_status) matrix_download(&operands->c, launcher->queue);
    launcher_packs_free(&packs);
    gemm.packed_a = gemm.packed_b = NULL;
    verifier->gemm = gemm;
    if (status != KILN_SUCCESS)
        return say_status(status, of, message);
    char where[MATRIX_MESSAGE_BYTES];
    if (!matrix_is_intact(&operands->c, where))
        return say(VERIFY_WRONG, of, where, message);
    return VERIFY_OK;
}

/* Does it again over `before`, C as it was unless beta = 0; `after` is room for as much. */
static enum verify_verdict run_again(struct verifier *verifier, struct kiln_context *context,
        struct verify_operands *operands, const struct verify_case *of, const unsigned char *before,
        unsigned char *after, char message[VERIFY_MESSAGE_BYTES])
{
    struct matrix *c = &operands->c;
    memcpy(after, c->image, c->bytes);
    if (of->beta != 0)
        memcpy(c->image, before, c->bytes);
    const enum verify_verdict verdict = run_once(verifier, context, operands, of, of->packed,
            message);
    if (verdict == VERIFY_OK && memcmp(c->image, after, c->bytes))
        return say(VERIFY_WRONG, of, "done again, C has other bits", message);
    return verdict;
}

static enum verify_verdict run(struct verifier *verifier, struct kiln_context *context,
        struct verify_operands *operands, const struct verify_case *of,
        char message[VERIFY_MESSAGE_BYTES])
{
    const size_t bytes = of->repeats ? operands->c.bytes : 0;
    unsigned char *before = malloc(bytes + 1), *after = malloc(bytes + 1);
    enum verify_verdict verdict = VERIFY_OK;
    if (!before || !after)
        verdict = say(VERIFY_IMPOSSIBLE, of, "out of memory", message);
    else if (of->beta != 0)
        memcpy(before, operands->c.image, bytes);
    if (verdict == VERIFY_OK)
        verdict = run_once(verifier, context, operands, of, 0, message);
    for (unsigned i = 0; verdict == VERIFY_OK && i < of->repeats; i++)
        verdict = run_again(verifier, context, operands, of, before, after, message);
    free(before);
    free(after);
    return verdict;
}

static enum kiln_status upload_inputs(struct verifier *verifier, struct verify_operands *operands)
{
    struct launcher *launcher = verifier->launcher;
    cl_int error = matrix_upload(&operands->a, launcher->context, launcher->queue);
    if (error == CL_SUCCESS)
        error = matrix_upload(&operands->b, launcher->context, launcher->queue);
    return (enum kiln_status) error;
}

/* ---- The exact check ---- */

/* Every partial sum must fit the significand that is accumulated in, counted in quarters. */
static bool rank_fits(const struct verify_case *of, int rank)
{
    const double limit = of->problem.precision->real_bytes == sizeof(double) ? 0x1p53 : 0x1p24;
    const double alpha = fabs(of->alpha) > 1 ? fabs(of->alpha) : 1;
    return 4 * (alpha * rank * rank * (double) (parts_in(of) * of->k) + fabs(of->beta) * 32) <
           limit;
}

/* Into how many parts a matrix is divided on this machine. */
static unsigned parts_of(const struct verifier *verifier, const struct matrix *matrix)
{
    return parallel_parts(verifier->cores, matrix->rows, matrix->cols);
}

static const char *part_word(const struct verify_case *of, size_t col)
{
    return parts_in(of) == 1 ? "" : col % 2 ? ", imaginary part," : ", real part,";
}

static enum verify_verdict judge_exact(const struct verifier *verifier,
        const struct verify_slot *slot, const struct verify_case *of,
        char message[VERIFY_MESSAGE_BYTES])
{
    const struct matrix *c = &slot->operands.c;
    const struct exact_goal goal = { .factors = &slot->factors,
        .alpha = of->alpha,
        .beta = of->beta };
    struct exact_wrong wrong;
    char what[128];
    if (exact_judge(&goal, c, parts_of(verifier, c), &wrong))
        return VERIFY_OK;
    snprintf(what, sizeof what, "C[%zu][%zu]%s is %.9g, not %.9g", wrong.row,
            wrong.col / parts_in(of), part_word(of, wrong.col), matrix_get(c, wrong.row, wrong.col),
            wrong.wanted);
    return say(VERIFY_WRONG, of, what, message);
}

static void slot_free(struct verify_slot *slot)
{
    operands_free(&slot->operands);
    exact_free(&slot->factors);
    *slot = (struct verify_slot){ .used = 0 };
}

bool verify_same_inputs(const struct verify_case *x, const struct verify_case *y)
{
    return x->problem.precision == y->problem.precision && x->problem.transa == y->problem.transa &&
           x->problem.transb == y->problem.transb && x->m == y->m && x->n == y->n && x->k == y->k &&
           x->pad_a == y->pad_a && x->pad_b == y->pad_b && x->pad_c == y->pad_c &&
           x->offset_a == y->offset_a && x->offset_b == y->offset_b && x->offset_c == y->offset_c &&
           x->alpha == y->alpha && x->beta == y->beta && x->poison_inputs == y->poison_inputs;
}

/* Lends a matrix the image that all exact checks share, until end_loan: getting new memory takes
 * longer than filling it. */
static bool lend_image(struct verifier *verifier, struct matrix *matrix)
{
    if (verifier->image_bytes < matrix->bytes) {
        free(verifier->image);
        verifier->image = malloc(matrix->bytes);
        verifier->image_bytes = verifier->image ? matrix->bytes : 0;
    }
    matrix->image = verifier->image;
    return matrix->image != NULL;
}

static void end_loan(struct matrix *matrix)
{
    matrix->image = NULL;
}

/* A or B on the device. */
static enum verify_verdict put_input(struct verifier *verifier, struct verify_slot *slot, bool is_b,
        char message[VERIFY_MESSAGE_BYTES])
{
    struct launcher *launcher = verifier->launcher;
    struct matrix *matrix = is_b ? &slot->operands.b : &slot->operands.a;
    const struct problem *problem = &slot->of.problem;
    const unsigned parts = parts_of(verifier, matrix);
    cl_int error;
    if (slot->of.poison_inputs) {
        error = matrix_poison_device(matrix, launcher->context, launcher->queue);
    } else {
        if (!lend_image(verifier, matrix))
            return say(VERIFY_IMPOSSIBLE, &slot->of, "out of memory", message);
        if (is_b)
            exact_fill_b(matrix, &slot->factors, problem->transb, parts);
        else
            exact_fill_a(matrix, &slot->factors, problem->transa, parts);
        error = matrix_upload(matrix, launcher->context, launcher->queue);
        end_loan(matrix);
    }
    return error == CL_SUCCESS ? VERIFY_OK
                               : say_status((enum kiln_status) error, &slot->of, message);
}

static enum verify_verdict slot_fill(struct verifier *verifier, struct verify_slot *slot,
        const struct verify_case *of, char message[VERIFY_MESSAGE_BYTES])
{
    const int rank = rank_fits(of, EXACT_RANK) ? EXACT_RANK : 1;
    if (!rank_fits(of, rank))
        return say(VERIFY_IMPOSSIBLE, of, "too deep to be verified exactly", message);
    if (!operands_init(&slot->operands, of, matrix_layout) ||
            !exact_init(&slot->factors, of->m, of->n, of->k, rank, (unsigned) parts_in(of)))
        return say(VERIFY_IMPOSSIBLE, of, "out of memory", message);
    slot->of = *of;
    const enum verify_verdict verdict = put_input(verifier, slot, false, message);
    return verdict == VERIFY_OK ? put_input(verifier, slot, true, message) : verdict;
}

/* The slot with the case's inputs; for a new case the one used longest ago is replaced. */
static struct verify_slot *slot_find(struct verifier *verifier, const struct verify_case *of)
{
    struct verify_slot *oldest = &verifier->slots[0];
    for (int i = 0; i < VERIFY_NUM_SLOTS; i++) {
        struct verify_slot *slot = &verifier->slots[i];
        if (slot->used && verify_same_inputs(&slot->of, of))
            return slot;
        if (slot->used < oldest->used)
            oldest = slot;
    }
    slot_free(oldest);
    return oldest;
}

enum verify_verdict verify_exact(struct verifier *verifier, struct kiln_context *context,
        const struct verify_case *of, char message[VERIFY_MESSAGE_BYTES])
{
    struct verify_slot *slot = slot_find(verifier, of);
    enum verify_verdict verdict = VERIFY_OK;
    message[0] = '\0';
    if (!slot->used)
        verdict = slot_fill(verifier, slot, of, message);
    if (verdict != VERIFY_OK) {
        slot_free(slot);
        return verdict;
    }
    slot->used = ++verifier->clock;
    struct matrix *c = &slot->operands.c;
    if (!lend_image(verifier, c))
        return say(VERIFY_IMPOSSIBLE, of, "out of memory", message);
    if (of->beta != 0)
        exact_fill_c(c, &slot->factors, parts_of(verifier, c));
    verdict = run(verifier, context, &slot->operands, of, message);
    if (verdict == VERIFY_OK)
        verdict = judge_exact(verifier, slot, of, message);
    end_loan(c);
    return verdict;
}

/* ---- The gauge check ---- */

/* Of either sign, from 1/2 to 1, so that no product comes near the subnormal numbers of half. */
static void fill_random(struct matrix *matrix, int bits_behind, uint64_t seed)
{
    for (size_t i = 0; i < matrix->rows; i++)
        for (size_t j = 0; j < matrix->cols; j++) {
            const uint64_t bits = random_next(&seed);
            const double fraction = ldexp((double) (bits >> (64 - bits_behind)), -bits_behind);
            matrix_set(matrix, i, j, (bits & 1 ? -0.5 : 0.5) * (1 + fraction));
        }
}

struct gauge {
    double *a, *b, *c, *high, *low, *magnitude;
};

static void gauge_free(struct gauge *gauge)
{
    free(gauge->a);
    free(gauge->b);
    free(gauge->c);
    free(gauge->high);
    free(gauge->low);
    free(gauge->magnitude);
}

/* Copies op(X) to a dense array, its parts side by side. */
static void densify(const struct matrix *matrix, bool trans, size_t rows, size_t cols, size_t parts,
        double *out)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            for (size_t h = 0; h < parts; h++)
                *out++ = trans ? matrix_get(matrix, j, parts * i + h)
                               : matrix_get(matrix, i, parts * j + h);
}

/* op(B) of complex numbers as the real matrix of twice the rows and columns that A's parts are
 * multiplied with. */
static void densify_pairs(const struct matrix *matrix, bool trans, size_t rows, size_t cols,
        double *out)
{
    for (size_t i = 0; i < rows; i++, out += 4 * cols) {
        for (size_t j = 0; j < cols; j++)
            for (size_t h = 0; h < 2; h++)
                out[2 * j + h] = trans ? matrix_get(matrix, j, 2 * i + h)
                                       : matrix_get(matrix, i, 2 * j + h);
        for (size_t j = 0; j < cols; j++) {
            out[2 * (cols + j)] = -out[2 * j + 1];
            out[2 * (cols + j) + 1] = out[2 * j];
        }
    }
}

/* The reference; `operands` as they are before the multiplication. */
static bool gauge_init(struct gauge *gauge, const struct verify_operands *operands,
        const struct verify_case *of)
{
    const size_t parts = parts_in(of), m = of->m, n = parts * of->n, k = parts * of->k;
    *gauge = (struct gauge){
        .a = calloc(m * k + 1, sizeof(double)),
        .b = calloc(k * n + 1, sizeof(double)),
        .c = calloc(m * n + 1, sizeof(double)),
        .high = calloc(m * n + 1, sizeof(double)),
        .low = calloc(m * n + 1, sizeof(double)),
        .magnitude = calloc(m * n + 1, sizeof(double)),
    };
    if (!gauge->a || !gauge->b || !gauge->c || !gauge->high || !gauge->low || !gauge->magnitude)
        return false;
    densify(&operands->a, of->problem.transa, m, of->k, parts, gauge->a);
    if (parts == 1)
        densify(&operands->b, of->problem.transb, k, n, parts, gauge->b);
    else
        densify_pairs(&operands->b, of->problem.transb, of->k, of->n, gauge->b);
    densify(&operands->c, false, m, of->n, parts, gauge->c);
    const struct reference reference = {
        .m = m,
        .n = n,
        .k = k,
        .alpha = of->alpha,
        .beta = of->beta,
        .a = gauge->a,
        .b = gauge->b,
        .c = gauge->c,
        .is_double = of->problem.precision->real_bytes == sizeof(double),
        .high = gauge->high,
        .low = gauge->low,
        .magnitude = gauge->magnitude,
    };
    return reference_gemm(&reference);
}

static enum verify_verdict judge_gauge(const struct verify_case *of, const struct gauge *gauge,
        const struct matrix *c, char message[VERIFY_MESSAGE_BYTES])
{
    const double eps = ldexp(1, -of->problem.precision->significand_bits);
    const size_t cols = parts_in(of) * of->n;
    for (size_t i = 0; i < of->m; i++)
        for (size_t j = 0; j < cols; j++) {
            const size_t at = i * cols + j;
            const double value = matrix_get(c, i, j);
            const double error = fabs((value - gauge->high[at]) - gauge->low[at]);
            const double unit = eps * gauge->magnitude[at];
            if (error == 0 || error / unit < VERIFY_LIMIT)
                continue;
            char what[160];
            snprintf(what, sizeof what, "C[%zu][%zu]%s is %.9g, not %.9g, an error of %.3g units",
                    i, j / parts_in(of), part_word(of, j), value, gauge->high[at], error / unit);
            return say(VERIFY_WRONG, of, what, message);
        }
    return VERIFY_OK;
}

static void fill_gauge(struct verify_operands *operands, const struct verify_case *of)
{
    const int bits = of->problem.precision->significand_bits;
    if (!of->poison_inputs) {
        fill_random(&operands->a, bits, 5);
        fill_random(&operands->b, bits, 6);
    }
    if (of->beta != 0)
        fill_random(&operands->c, bits, 7);
}

enum verify_verdict verify_gauge(struct verifier *verifier, struct kiln_context *context,
        const struct verify_case *of, char message[VERIFY_MESSAGE_BYTES])
{
    struct verify_operands operands = { .a = { .rows = 0 } };
    struct gauge gauge = { .a = NULL };
    enum verify_verdict verdict = VERIFY_OK;
    message[0] = '\0';
    const bool made = operands_init(&operands, of, matrix_init);
    if (made)
        fill_gauge(&operands, of);
    if (!made || !gauge_init(&gauge, &operands, of))
        verdict = say(VERIFY_IMPOSSIBLE, of, "out of memory", message);
    if (verdict == VERIFY_OK) {
        const enum kiln_status status = upload_inputs(verifier, &operands);
        if (status != KILN_SUCCESS)
            verdict = say_status(status, of, message);
    }
    if (verdict == VERIFY_OK)
        verdict = run(verifier, context, &operands, of, message);
    if (verdict == VERIFY_OK)
        verdict = judge_gauge(of, &gauge, &operands.c, message);
    gauge_free(&gauge);
    operands_free(&operands);
    return verdict;
}

/* ---- */

void verifier_init(struct verifier *verifier, struct launcher *launcher)
{
    *verifier = (struct verifier){ .launcher = launcher, .cores = sysconf(_SC_NPROCESSORS_ONLN) };
}

void verifier_free(struct verifier *verifier)
{
    for (int i = 0; i < VERIFY_NUM_SLOTS; i++)
        slot_free(&verifier->slots[i]);
    free(verifier->image);
}
