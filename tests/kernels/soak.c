/* soak.c: random multiplications through the library as it is linked, bundles and all.
 *
 * Each call is made up from the seed and its number alone: precision, transposes, layout, extents
 * (from 0 on, primes and multiples of tiles among them), leading dimensions, offsets, alpha, beta,
 * whose workspace, and which operands are packed. Its result is judged by the checks of verify.h,
 * over all elements; then it is done again, with the packs, and must be bitwise the same. A failure
 * prints the command that repeats it alone.
 */
#include "tune/clock.h"
#include "tune/device.h"
#include "tune/verify.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EXIT_USAGE = 2, EXIT_SKIPPED = 77, MAX_FAILURES = 10, MAX_KERNELS = 1024,
    GAUGE_WORK = 1 << 21,              /* multiply-adds of which a reference is made */
    EXPLAIN_BYTES = 2048,
    NUM_HUGE = 3                       /* huge calls of each precision: of A, of B, of C */
};

static const double report_seconds = 5;

struct options {
    const char *device;
    unsigned long calls, seed, most, work;
    unsigned long only;                /* the number of a call; 0: all */
    bool huge;                         /* not random: matrices past 2^31 elements */
};

struct soak {
    const struct options *options;
    struct device_facts facts;
    struct launcher launcher;
    struct verifier verifier;
    struct kiln_context *context;
    char *kernels[MAX_KERNELS];        /* those that served a call, each once */
    unsigned num_kernels, num_calls, num_failures;
};

static const char help[] =
    "usage: soak [OPTION]...\n"
    "\n"
    "  --device SUB     substring of the device's name; default: the first, GPUs before CPUs\n"
    "  --calls N        how many random calls (default 2000)\n"
    "  --seed S         that they follow from (default 1)\n"
    "  --most N         the largest extent of C; K may be 16 times that (default 1024)\n"
    "  --work N         the most multiply-adds of a call, in millions (default 64)\n"
    "  --call I         only call I of these, counted from 1\n"
    "  --huge           instead: each operand in turn and precision in a buffer of more than 2^31\n"
    "                   elements; up to 17 GB on the host and on the device\n"
    "\n"
    "Exit status: 0 all right, 1 a failure, 2 wrong usage, 77 no device, or too small a one.\n";

/* ---- Making up a call ---- */

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static size_t below(uint64_t *state, size_t limit)
{
    return (size_t) (next_random(state) % limit);
}

/* From 1 to `most`, each octave as likely as any other. */
static size_t log_random(uint64_t *state, size_t most)
{
    const double fraction = (double) (next_random(state) >> 11) * 0x1p-53;
    return (size_t) exp2(fraction * log2((double) most + 1));
}

static bool is_prime(size_t value)
{
    for (size_t i = 2; i * i <= value; i++)
        if (value % i == 0)
            return false;
    return value > 1;
}

static size_t random_extent(uint64_t *state, size_t most)
{
    const size_t tile = (size_t) 8 << below(state, 6), kind = below(state, 32);
    size_t extent = log_random(state, most);
    if (kind == 0)
        return 0;
    if (kind < 3)
        return 1;
    if (kind < 12)                     /* whole tiles */
        return extent < tile ? tile : extent - extent % tile;
    if (kind < 14)                     /* and one beside them */
        return extent < tile ? tile + 1 : extent - extent % tile - 1;
    while (kind < 22 && extent > 2 && !is_prime(extent))
        extent--;
    return extent;
}

static void random_extents(uint64_t *state, const struct options *options, struct verify_case *of)
{
    const double work = 1e6 * (double) options->work;
    do {
        of->m = random_extent(state, options->most);
        of->n = random_extent(state, options->most);
        of->k = random_extent(state, options->most * (below(state, 4) ? 1 : 16));
    } while ((double) of->m * (double) of->n * (double) of->k > work);
}

/* What a leading dimension has beyond a row of so many elements. */
static size_t random_pad(uint64_t *state, size_t row)
{
    switch (below(state, 4)) {
    case 0:
        return 1 + below(state, 40);
    case 1:
        return (64 - row % 64) % 64;   /* aligned */
    default:
        return 0;
    }
}

static size_t random_offset(uint64_t *state)
{
    switch (below(state, 4)) {
    case 0:
        return 1 + below(state, 100);
    case 1:
        return 64 * below(state, 8);   /* aligned */
    default:
        return 0;
    }
}

static const struct precision *random_precision(uint64_t *state, const struct device_facts *facts)
{
    const struct precision *precision;
    do
        precision = &precisions[below(state, num_precisions)];
    while (precision->bits == 64 && !facts->value[FACT_HAS_DOUBLE]);
    return precision;
}

static const size_t far_apart = (size_t) 1 << 30;

/* Three rows so far apart that the last one begins past 2^31 elements. */
static void make_up_huge(unsigned long number, struct verify_case *of)
{
    const size_t operand = number % NUM_HUGE;
    const struct precision *precision = &precisions[(number - 1) / NUM_HUGE % num_precisions];
    *of = (struct verify_case) {
        .problem = { .precision = precision }, .m = operand == 1 ? 65 : 3, .n = 70,
        .k = operand == 1 ? 3 : 67, .pad_a = operand == 0 ? far_apart : 0,
        .pad_b = operand == 1 ? far_apart : 0, .pad_c = operand == 2 ? far_apart : 0,
        .alpha = 2, .beta = 0.75, .by_columns = number % 2,
    };
}

/* Call `number`; alpha and beta as the exact check wants them. */
static void make_up(const struct soak *soak, unsigned long number, struct verify_case *of,
        bool *is_plain, bool *by_gauge)
{
    static const double alphas[] = { 1, 1, 1, 1, 2, -1, 0.25, -1.5, 7.75, 0 };
    static const double betas[] = { 0, 0, 0, 1, 1, -1, 0.75, -2.5 };
    uint64_t state = soak->options->seed * 0x9e3779b97f4a7c15u ^ number;
    const bool ta = below(&state, 2), tb = below(&state, 2);
    *of = (struct verify_case) {
        .problem = { random_precision(&state, &soak->facts), ta, tb }, .repeats = 1
    };
    random_extents(&state, soak->options, of);
    of->pad_a = random_pad(&state, ta ? of->m : of->k);
    of->pad_b = random_pad(&state, tb ? of->k : of->n);
    of->pad_c = random_pad(&state, of->n);
    of->offset_a = random_offset(&state);
    of->offset_b = random_offset(&state);
    of->offset_c = random_offset(&state);
    of->alpha = alphas[below(&state, sizeof alphas / sizeof alphas[0])];
    of->beta = betas[below(&state, sizeof betas / sizeof betas[0])];
    of->poison_inputs = of->alpha == 0;
    of->by_columns = below(&state, 2);
    of->packed = (unsigned) below(&state, 4);
    *is_plain = below(&state, 2);
    *by_gauge = below(&state, 2) && of->m * of->n * of->k <= GAUGE_WORK;
}

/* ---- Doing it ---- */

/* The lines on bundle and kernel of what the library says of the last call. */
static void explain(const struct soak *soak, char text[EXPLAIN_BYTES])
{
    text[0] = '\0';
    if (soak->verifier.gemm.m)
        kiln_gemm_explain(soak->context, &soak->verifier.gemm, text, EXPLAIN_BYTES);
    char *end = strchr(text, '\n');
    if (end)
        end[strcspn(end + 1, "\n") + 2] = '\0';
}

static void note_kernel(struct soak *soak)
{
    char text[EXPLAIN_BYTES];
    explain(soak, text);
    for (unsigned i = 0; i < soak->num_kernels; i++)
        if (!strcmp(soak->kernels[i], text))
            return;
    if (text[0] && soak->num_kernels < MAX_KERNELS &&
        (soak->kernels[soak->num_kernels] = malloc(strlen(text) + 1)))
        strcpy(soak->kernels[soak->num_kernels++], text);
}

/* How to see this failure again, alone. */
static void report(struct soak *soak, unsigned long number, const char *message)
{
    const struct options *options = soak->options;
    char text[EXPLAIN_BYTES];
    explain(soak, text);
    soak->num_failures++;
    printf("FAILED call %lu: %s\n%s    again: soak --device '%s' --seed %lu --most %lu "
            "--work %lu --call %lu%s\n", number, message, text, options->device, options->seed,
            options->most, options->work, number, options->huge ? " --huge" : "");
    fflush(stdout);
}

/* Whether the device gives buffers for a huge call. */
static bool has_room(const struct soak *soak, unsigned long number, const struct verify_case *of)
{
    const size_t elements = 2 * far_apart + (1 << 20);
    const size_t bytes = elements * (size_t) of->problem.precision->element_bytes;
    cl_ulong most = 0;
    clGetDeviceInfo(soak->launcher.device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL);
    if (most < bytes)
        printf("call %lu skipped: it takes %zu bytes, and the device gives %llu at most\n", number,
                bytes, (unsigned long long) most);
    return most >= bytes;
}

static void run_call(struct soak *soak, unsigned long number)
{
    struct verify_case of;
    bool by_gauge;
    char message[VERIFY_MESSAGE_BYTES];
    if (soak->options->huge) {
        make_up_huge(number, &of);
        if (!has_room(soak, number, &of))
            return;
        soak->launcher.is_plain = true;
        by_gauge = false;
    } else
        make_up(soak, number, &of, &soak->launcher.is_plain, &by_gauge);
    soak->verifier.gemm = (struct kiln_gemm) { .m = 0 };
    const enum verify_verdict verdict = by_gauge
            ? verify_gauge(&soak->verifier, soak->context, &of, message)
            : verify_exact(&soak->verifier, soak->context, &of, message);
    soak->num_calls++;
    if (verdict == VERIFY_OK)
        note_kernel(soak);
    else
        report(soak, number, message);
}

static int run_all(struct soak *soak)
{
    const struct options *options = soak->options;
    const unsigned long first = options->only ? options->only : 1;
    const unsigned long calls = options->huge ? NUM_HUGE * num_precisions : options->calls;
    const unsigned long last = options->only ? options->only : calls;
    const double start = clock_now();
    double reported = start;
    for (unsigned long i = first; i <= last && soak->num_failures < MAX_FAILURES; i++) {
        run_call(soak, i);
        if (clock_now() - reported >= report_seconds) {
            reported = clock_now();
            printf("%lu of %lu calls, %u failures, %.0f s\n", i, last, soak->num_failures,
                    reported - start);
            fflush(stdout);
        }
    }
    printf("seed %lu: %u calls, %u kernels, %u failures, %.0f s\n", options->seed, soak->num_calls,
            soak->num_kernels, soak->num_failures, clock_now() - start);
    if (!soak->num_calls)
        return EXIT_SKIPPED;
    return soak->num_failures ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int run_on_device(const struct options *options)
{
    static struct soak soak;
    cl_device_id device;
    char error[FAMILY_ERROR_BYTES];
    soak.options = options;
    if (!device_find(options->device, &device, error)) {
        fprintf(stderr, "soak: %s\n", error);
        return EXIT_SKIPPED;
    }
    if (!device_facts(device, &soak.facts, error) ||
        !launcher_open(&soak.launcher, device, error)) {
        fprintf(stderr, "soak: %s\n", error);
        return EXIT_FAILURE;
    }
    const enum kiln_status status = kiln_context_create(soak.launcher.context, device, NULL,
            &soak.context);
    int result = EXIT_FAILURE;
    verifier_init(&soak.verifier, &soak.launcher);
    if (status == KILN_SUCCESS)
        result = run_all(&soak);
    else
        fprintf(stderr, "soak: %s\n", kiln_status_string(status));
    for (unsigned i = 0; i < soak.num_kernels; i++)
        free(soak.kernels[i]);
    verifier_free(&soak.verifier);
    kiln_context_destroy(&soak.context);
    launcher_close(&soak.launcher);
    return result;
}

/* ---- The command line ---- */

static int usage(const char *what, const char *value)
{
    fprintf(stderr, "soak: %s '%s'\n%s", what, value, help);
    return EXIT_USAGE;
}

static int set_option(struct options *options, const char *name, const char *value)
{
    const struct {
        const char *name;
        unsigned long *number;
    } numbers[] = {
        { "--calls", &options->calls }, { "--seed", &options->seed }, { "--most", &options->most },
        { "--work", &options->work }, { "--call", &options->only },
    };
    if (!strcmp(name, "--device")) {
        options->device = value;
        return 0;
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (!strcmp(name, numbers[i].name)) {
            char *end;
            errno = 0;
            *numbers[i].number = strtoul(value, &end, 10);
            return *value == '-' || *end || errno || !*numbers[i].number
                    ? usage("no positive number for", name) : 0;
        }
    return usage("unknown option", name);
}

int main(int argc, char **argv)
{
    struct options options = { .device = "", .calls = 2000, .seed = 1, .most = 1024, .work = 64 };
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help"))
            return fputs(help, stdout) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
        if (!strcmp(argv[i], "--huge"))
            options.huge = true;
        else if (i + 1 == argc)
            return usage("a value is missing after", argv[i]);
        else if (set_option(&options, argv[i], argv[i + 1]))
            return EXIT_USAGE;
        else
            i++;
    }
    return run_on_device(&options);
}
