/* verify.c: see verify.h. */
#include "verify.h"
#include "reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* ---- Operands ---- */

static void operands_free(struct verify_operands *operands)
{
    matrix_free(&operands->a);
    matrix_free(&operands->b);
    matrix_free(&operands->c);
}

static bool operands_init(struct verify_operands *operands, const struct verify_case *of)
{
    const size_t bytes = (size_t) of->problem.precision->element_bytes;
    const bool ta = of->problem.transa, tb = of->problem.transb;
    const bool a = matrix_init(&operands->a, bytes, ta ? of->k : of->m, ta ? of->m : of->k,
            of->pad_a, of->offset_a);
    const bool b = matrix_init(&operands->b, bytes, tb ? of->n : of->k, tb ? of->k : of->n,
            of->pad_b, of->offset_b);
    const bool c = matrix_init(&operands->c, bytes, of->m, of->n, of->pad_c, of->offset_c);
    return a && b && c;
}

static double get_op(const struct matrix *matrix, bool trans, size_t i, size_t j)
{
    return trans ? matrix_get(matrix, j, i) : matrix_get(matrix, i, j);
}

/* By columns every matrix as stored is its own transpose: C' = op(B)' op(A)'. */
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
    return swapped;
}

static struct kiln_gemm gemm_of(const struct verify_operands *operands,
        const struct verify_case *of)
{
    const struct kiln_gemm gemm = {
        .precision = (enum kiln_precision) of->problem.precision->bits,
        .layout = KILN_ROW_MAJOR,
        .transa = of->problem.transa ? KILN_TRANS : KILN_NO_TRANS,
        .transb = of->problem.transb ? KILN_TRANS : KILN_NO_TRANS,
        .m = of->m, .n = of->n, .k = of->k, .alpha = of->alpha, .beta = of->beta,
        .a = operands->a.buffer, .a_offset = of->offset_a, .lda = operands->a.ld,
        .b = operands->b.buffer, .b_offset = of->offset_b, .ldb = operands->b.ld,
        .c = operands->c.buffer, .c_offset = of->offset_c, .ldc = operands->c.ld,
    };
    return of->by_columns ? by_columns(&gemm) : gemm;
}

/* ---- Messages ---- */

/* Says of a verdict at which multiplication it was found. */
static enum verify_verdict say(enum verify_verdict verdict, const struct verify_case *of,
        const char *what, char message[VERIFY_MESSAGE_BYTES])
{
    snprintf(message, VERIFY_MESSAGE_BYTES,
            "%s; %cgemm %c%c %zu x %zu x %zu, alpha %g, beta %g, ld +%zu +%zu +%zu, "
            "offsets %zu %zu %zu%s%s%s",
            what, of->problem.precision->letter, of->problem.transa ? 't' : 'n',
            of->problem.transb ? 't' : 'n', of->m, of->n, of->k, of->alpha, of->beta, of->pad_a,
            of->pad_b, of->pad_c, of->offset_a, of->offset_b, of->offset_c,
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

/* C on the device before and after the candidate ran; A and B are there already, and packed now if
 * so wanted. */
static enum verify_verdict run_once(struct verifier *verifier, struct kiln_context *context,
        struct verify_operands *operands, const struct verify_case *of, unsigned packed,
        char message[VERIFY_MESSAGE_BYTES])
{
    struct launcher *launcher = verifier->launcher;
    struct launcher_packs packs;
    cl_int error = matrix_upload(&operands->c, launcher->context, launcher->queue);
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

/* Does it again over `before`, C as it was; `after` is room for as much. */
static enum verify_verdict run_again(struct verifier *verifier, struct kiln_context *context,
        struct verify_operands *operands, const struct verify_case *of,
        const unsigned char *before, unsigned char *after, char message[VERIFY_MESSAGE_BYTES])
{
    struct matrix *c = &operands->c;
    memcpy(after, c->image, c->bytes);
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
    else
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

/* C before the multiplication: small multiples of 4, so that a quarter of one is an integer. */
static double exact_c(size_t row, size_t col)
{
    return 4.0 * ((double) ((row * 5 + col * 3) % 17) - 8);
}

/* Every partial sum must fit the mantissa that is accumulated in, counted in quarters. */
static bool rank_fits(const struct verify_case *of, int rank)
{
    const double limit = of->problem.precision->bits == 64 ? 0x1p53 : 0x1p24;
    const double alpha = fabs(of->alpha) > 1 ? fabs(of->alpha) : 1;
    return 4 * (alpha * rank * rank * (double) of->k + fabs(of->beta) * 32) < limit;
}

/* Signs in the first `rank` columns, 0 in the rest: with an odd rank sums of products are odd. */
static void fill_factor(signed char (*factor)[VERIFY_RANK], size_t rows, int rank, uint64_t seed)
{
    for (size_t i = 0; i < rows; i++) {
        const uint64_t bits = next_random(&seed);
        for (int r = 0; r < rank; r++)
            factor[i][r] = bits >> (20 + r) & 1 ? 1 : -1;
    }
}

static void factors_free(struct verify_factors *factors)
{
    free(factors->u);
    free(factors->v_a);
    free(factors->v_b);
    free(factors->x);
}

static bool factors_init(struct verify_factors *factors, const struct verify_case *of, int rank)
{
    *factors = (struct verify_factors) {
        .u = calloc(of->m + 1, VERIFY_RANK), .v_a = calloc(of->k + 1, VERIFY_RANK),
        .v_b = calloc(of->k + 1, VERIFY_RANK), .x = calloc(of->n + 1, VERIFY_RANK),
    };
    if (!factors->u || !factors->v_a || !factors->v_b || !factors->x)
        return false;
    fill_factor(factors->u, of->m, rank, 1);
    fill_factor(factors->v_a, of->k, rank, 2);
    fill_factor(factors->v_b, of->k, rank, 3);
    fill_factor(factors->x, of->n, rank, 4);
    for (size_t p = 0; p < of->k; p++)
        for (int r = 0; r < VERIFY_RANK; r++)
            for (int s = 0; s < VERIFY_RANK; s++)
                factors->core[r][s] += factors->v_a[p][r] * factors->v_b[p][s];
    return true;
}

/* Fills a matrix whose element (i, j) is row i of one factor times row j of another. */
static void fill_product(struct matrix *matrix, signed char (*by_row)[VERIFY_RANK],
        signed char (*by_col)[VERIFY_RANK])
{
    for (size_t i = 0; i < matrix->rows; i++)
        for (size_t j = 0; j < matrix->cols; j++) {
            int sum = 0;
            for (int r = 0; r < VERIFY_RANK; r++)
                sum += by_row[i][r] * by_col[j][r];
            matrix_set(matrix, i, j, sum);
        }
}

static void fill_exact_c(struct matrix *c, double beta)
{
    matrix_poison(c);
    for (size_t i = 0; beta != 0 && i < c->rows; i++)
        for (size_t j = 0; j < c->cols; j++)
            matrix_set(c, i, j, exact_c(i, j));
}

/* The first wrong element of a row, or its length. Zeros of either sign are the same. */
static size_t wrong_in_row(const struct verify_case *of, const struct verify_factors *factors,
        const struct matrix *c, size_t i, double *wanted)
{
    double row[VERIFY_RANK] = { 0 };   /* row i of U (V' V") */
    for (int r = 0; r < VERIFY_RANK; r++)
        for (int s = 0; s < VERIFY_RANK; s++)
            row[s] += (double) factors->u[i][r] * (double) factors->core[r][s];
    for (size_t j = 0; j < of->n; j++) {
        double sum = 0;
        for (int s = 0; s < VERIFY_RANK; s++)
            sum += row[s] * factors->x[j][s];
        *wanted = of->alpha * sum;
        if (of->beta != 0)
            *wanted += of->beta * exact_c(i, j);
        if (matrix_bits(c, i, j) != matrix_bits_of(c->element_bytes, *wanted) &&
            !(*wanted == 0 && matrix_get(c, i, j) == 0))
            return j;
    }
    return of->n;
}

static enum verify_verdict judge_exact(const struct verify_case *of,
        const struct verify_factors *factors, const struct matrix *c,
        char message[VERIFY_MESSAGE_BYTES])
{
    for (size_t i = 0; i < of->m; i++) {
        double wanted;
        const size_t j = wrong_in_row(of, factors, c, i, &wanted);
        if (j < of->n) {
            char what[96];
            snprintf(what, sizeof what, "C[%zu][%zu] is %.9g, not %.9g", i, j,
                    matrix_get(c, i, j), wanted);
            return say(VERIFY_WRONG, of, what, message);
        }
    }
    return VERIFY_OK;
}

static void slot_free(struct verify_slot *slot)
{
    operands_free(&slot->operands);
    factors_free(&slot->factors);
    *slot = (struct verify_slot) { .used = 0 };
}

bool verify_same_inputs(const struct verify_case *x, const struct verify_case *y)
{
    return x->problem.precision == y->problem.precision &&
           x->problem.transa == y->problem.transa && x->problem.transb == y->problem.transb &&
           x->m == y->m && x->n == y->n && x->k == y->k && x->pad_a == y->pad_a &&
           x->pad_b == y->pad_b && x->pad_c == y->pad_c && x->offset_a == y->offset_a &&
           x->offset_b == y->offset_b && x->offset_c == y->offset_c && x->alpha == y->alpha &&
           x->beta == y->beta && x->poison_inputs == y->poison_inputs;
}

static enum verify_verdict slot_fill(struct verifier *verifier, struct verify_slot *slot,
        const struct verify_case *of, char message[VERIFY_MESSAGE_BYTES])
{
    const int rank = rank_fits(of, VERIFY_RANK) ? VERIFY_RANK : 1;
    if (!rank_fits(of, rank))
        return say(VERIFY_IMPOSSIBLE, of, "too deep to be verified exactly", message);
    if (!operands_init(&slot->operands, of) || !factors_init(&slot->factors, of, rank))
        return say(VERIFY_IMPOSSIBLE, of, "out of memory", message);
    const struct verify_factors *f = &slot->factors;
    const bool ta = of->problem.transa, tb = of->problem.transb;
    if (!of->poison_inputs) {
        fill_product(&slot->operands.a, ta ? f->v_a : f->u, ta ? f->u : f->v_a);
        fill_product(&slot->operands.b, tb ? f->x : f->v_b, tb ? f->v_b : f->x);
    }
    const enum kiln_status status = upload_inputs(verifier, &slot->operands);
    slot->of = *of;
    return status == KILN_SUCCESS ? VERIFY_OK : say_status(status, of, message);
}

/* The slot with the case's inputs; the one used longest ago makes way for a new case. */
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
    fill_exact_c(&slot->operands.c, of->beta);
    verdict = run(verifier, context, &slot->operands, of, message);
    if (verdict == VERIFY_OK)
        verdict = judge_exact(of, &slot->factors, &slot->operands.c, message);
    return verdict;
}

/* ---- The gauge check ---- */

/* Of either sign, from 1/2 to 1, so that no product comes near the subnormal numbers of half. */
static void fill_random(struct matrix *matrix, int mantissa_bits, uint64_t seed)
{
    for (size_t i = 0; i < matrix->rows; i++)
        for (size_t j = 0; j < matrix->cols; j++) {
            const uint64_t bits = next_random(&seed);
            const double fraction = ldexp((double) (bits >> (64 - mantissa_bits)), -mantissa_bits);
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

/* Copies op(X) to a dense array. */
static void densify(const struct matrix *matrix, bool trans, size_t rows, size_t cols, double *out)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            out[i * cols + j] = get_op(matrix, trans, i, j);
}

/* The reference; `operands` as they are before the multiplication. */
static bool gauge_init(struct gauge *gauge, const struct verify_operands *operands,
        const struct verify_case *of)
{
    const size_t m = of->m, n = of->n, k = of->k;
    *gauge = (struct gauge) {
        .a = calloc(m * k + 1, sizeof(double)), .b = calloc(k * n + 1, sizeof(double)),
        .c = calloc(m * n + 1, sizeof(double)), .high = calloc(m * n + 1, sizeof(double)),
        .low = calloc(m * n + 1, sizeof(double)), .magnitude = calloc(m * n + 1, sizeof(double)),
    };
    if (!gauge->a || !gauge->b || !gauge->c || !gauge->high || !gauge->low || !gauge->magnitude)
        return false;
    densify(&operands->a, of->problem.transa, m, k, gauge->a);
    densify(&operands->b, of->problem.transb, k, n, gauge->b);
    densify(&operands->c, false, m, n, gauge->c);
    const struct reference reference = {
        .m = m, .n = n, .k = k, .alpha = of->alpha, .beta = of->beta,
        .a = gauge->a, .b = gauge->b, .c = gauge->c, .is_double = of->problem.precision->bits == 64,
        .high = gauge->high, .low = gauge->low, .magnitude = gauge->magnitude,
    };
    return reference_gemm(&reference);
}

static enum verify_verdict judge_gauge(const struct verify_case *of, const struct gauge *gauge,
        const struct matrix *c, char message[VERIFY_MESSAGE_BYTES])
{
    const double eps = ldexp(1, -of->problem.precision->mantissa_bits);
    for (size_t i = 0; i < of->m; i++)
        for (size_t j = 0; j < of->n; j++) {
            const size_t at = i * of->n + j;
            const double value = matrix_get(c, i, j);
            const double error = fabs((value - gauge->high[at]) - gauge->low[at]);
            const double unit = eps * gauge->magnitude[at];
            if (error == 0 || error / unit < VERIFY_LIMIT)
                continue;
            char what[128];
            snprintf(what, sizeof what, "C[%zu][%zu] is %.9g, not %.9g, an error of %.3g units", i,
                    j, value, gauge->high[at], error / unit);
            return say(VERIFY_WRONG, of, what, message);
        }
    return VERIFY_OK;
}

static void fill_gauge(struct verify_operands *operands, const struct verify_case *of)
{
    const int bits = of->problem.precision->mantissa_bits;
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
    const bool made = operands_init(&operands, of);
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
    *verifier = (struct verifier) { .launcher = launcher };
}

void verifier_free(struct verifier *verifier)
{
    for (int i = 0; i < VERIFY_NUM_SLOTS; i++)
        slot_free(&verifier->slots[i]);
}
