/* soak_single.c: random multiplications, one at a time.
 *
 * Each call is made up from the seed and the step's number alone: precision, transposes, layout,
 * extents (from 0 on, primes and multiples of tiles among them), leading dimensions, offsets,
 * alpha, beta, whose workspace, and which operands are packed. Its result is judged by the checks
 * of verify.h, over all elements; then it is done again, with the packs, and must be bitwise the
 * same.
 */
#include "soak.h"

#include <stdio.h>
#include <string.h>

enum {
    GAUGE_WORK = 1 << 21,              /* multiply-adds of which a reference is made */
    NUM_OPERANDS = 3
};

static bool is_prime(size_t value)
{
    for (size_t i = 2; i * i <= value; i++)
        if (value % i == 0)
            return false;
    return value > 1;
}

static size_t random_extent(uint64_t *state, size_t most)
{
    const size_t tile = (size_t) 8 << soak_below(state, 6), kind = soak_below(state, 32);
    size_t extent = soak_log_random(state, most);
    if (kind == 0)
        return 0;
    if (kind < 3)
        return 1;
    if (kind < 12) /* whole tiles */
        return extent < tile ? tile : extent - extent % tile;
    if (kind < 14) /* and one beside them */
        return extent < tile ? tile + 1 : extent - extent % tile - 1;
    while (kind < 22 && extent > 2 && !is_prime(extent))
        extent--;
    return extent;
}

static void random_extents(uint64_t *state, const struct soak_options *options,
        struct verify_case *of)
{
    const double work = 1e6 * (double) options->work;
    do {
        of->m = random_extent(state, options->most);
        of->n = random_extent(state, options->most);
        of->k = random_extent(state, options->most * (soak_below(state, 4) ? 1 : 16));
    } while ((double) of->m * (double) of->n * (double) of->k > work);
}

/* What a leading dimension has beyond a row of so many elements. */
static size_t random_pad(uint64_t *state, size_t row)
{
    switch (soak_below(state, 4)) {
    case 0: return 1 + soak_below(state, 40);
    case 1: return (64 - row % 64) % 64; /* aligned */
    default: return 0;
    }
}

static size_t random_offset(uint64_t *state)
{
    switch (soak_below(state, 4)) {
    case 0: return 1 + soak_below(state, 100);
    case 1: return 64 * soak_below(state, 8); /* aligned */
    default: return 0;
    }
}

static const size_t far_apart = (size_t) 1 << 30;

/* Three rows so far apart that the last one begins past 2^31 elements. */
static void make_up_huge(unsigned long number, struct verify_case *of)
{
    const size_t operand = number % NUM_OPERANDS;
    static const char letters[] = "hsdx";
    const char letter[2] = { letters[(number - 1) / NUM_OPERANDS % strlen(letters)], '\0' };
    const struct precision *precision = precision_find(letter);
    *of = (struct verify_case){
        .problem = { .precision = precision },
        .m = operand == 1 ? 65 : 3,
        .n = 70,
        .k = operand == 1 ? 3 : 67,
        .pad_a = operand == 0 ? far_apart : 0,
        .pad_b = operand == 1 ? far_apart : 0,
        .pad_c = operand == 2 ? far_apart : 0,
        .alpha = 2,
        .beta = 0.75,
        .by_columns = number % 2,
    };
}

/* The call of a step; alpha and beta as the exact check wants them. */
static void make_up(const struct soak *soak, unsigned long number, struct verify_case *of,
        bool *is_plain, bool *by_gauge)
{
    static const double alphas[] = { 1, 1, 1, 1, 2, -1, 0.25, -1.5, 7.75, 0 };
    static const double betas[] = { 0, 0, 0, 1, 1, -1, 0.75, -2.5 };
    uint64_t state = soak_seed(soak, number);
    const bool ta = soak_below(&state, 2), tb = soak_below(&state, 2);
    *of = (struct verify_case){ .problem = { soak_random_precision(&state, &soak->facts), ta, tb },
        .repeats = 1 };
    random_extents(&state, soak->options, of);
    of->pad_a = random_pad(&state, ta ? of->m : of->k);
    of->pad_b = random_pad(&state, tb ? of->k : of->n);
    of->pad_c = random_pad(&state, of->n);
    of->offset_a = random_offset(&state);
    of->offset_b = random_offset(&state);
    of->offset_c = random_offset(&state);
    of->alpha = alphas[soak_below(&state, sizeof alphas / sizeof alphas[0])];
    of->beta = betas[soak_below(&state, sizeof betas / sizeof betas[0])];
    of->poison_inputs = of->alpha == 0;
    of->by_columns = soak_below(&state, 2);
    of->packed = (unsigned) soak_below(&state, 4);
    *is_plain = soak_below(&state, 2);
    *by_gauge = soak_below(&state, 2) && of->m * of->n * of->k <= GAUGE_WORK;
}

/* ---- Doing it ---- */

/* Whether the device gives buffers for a huge call. */
static bool has_room(const struct soak *soak, unsigned long number, const struct verify_case *of)
{
    const size_t elements = 2 * far_apart + (1 << 20);
    const size_t bytes = elements * (size_t) of->problem.precision->element_bytes;
    cl_ulong most = 0;
    clGetDeviceInfo(soak->launcher.device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL);
    if (most < bytes)
        printf("step %lu skipped: it takes %zu bytes, and the device gives %llu at most\n", number,
                bytes, (unsigned long long) most);
    return most >= bytes;
}

static void judge(struct soak *soak, const struct verify_case *of, bool by_gauge)
{
    char message[VERIFY_MESSAGE_BYTES], kernel[SOAK_EXPLAIN_BYTES];
    soak->verifier.gemm = (struct kiln_gemm){ .m = 0 };
    const enum verify_verdict verdict =
            by_gauge ? verify_gauge(&soak->verifier, soak->context, of, message)
                     : verify_exact(&soak->verifier, soak->context, of, message);
    soak->num_calls++;
    if (verdict == VERIFY_OK) {
        soak_note_kernel(soak, soak->context, &soak->verifier.gemm);
        return;
    }
    soak_explain(soak->context, &soak->verifier.gemm, kernel);
    soak_report(soak, message, kernel);
}

void soak_single(struct soak *soak)
{
    struct verify_case of;
    bool by_gauge;
    make_up(soak, soak->step, &of, &soak->launcher.is_plain, &by_gauge);
    judge(soak, &of, by_gauge);
}

void soak_huge(struct soak *soak)
{
    struct verify_case of;
    make_up_huge(soak->step, &of);
    soak->launcher.is_plain = true;
    if (has_room(soak, soak->step, &of))
        judge(soak, &of, false);
}
