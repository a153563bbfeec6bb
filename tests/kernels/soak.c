/* soak.c: random calls of the library as it is linked, bundles and all.
 *
 * A step is one call of any size (soak_single.c) or many small ones under way at once
 * (soak_session.c), made up from the seed and the number of the step alone; a failure prints the
 * command that repeats its step. Every result is judged. At the end no reference may be left, and
 * the memory of the process must not have grown.
 */
#include "soak.h"

#include "../faults/wrap.h"
#include "core/random.h"
#include "tune/clock.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    EXIT_USAGE = 2, EXIT_UNFINISHED = 75, EXIT_SKIPPED = 77, MAX_FAILURES = 10,
    SINGLE_EVERY = 4,                  /* of steps of both kinds, one in so many is a single call */
    CALLBACK_STEPS = 10000             /* milliseconds to wait for the driver's callbacks */
};

static const double report_seconds = 5;

static const char help[] =
    "usage: soak [OPTION]...\n"
    "\n"
    "  --device SUB     substring of the device's name; default: the first, GPUs before CPUs\n"
    "  --calls N        how many random calls (default 2000)\n"
    "  --seconds T      end after so long with exit status 75; the last line says how to go on\n"
    "  --first I        begin with step I\n"
    "  --seed S         that the calls follow from (default 1)\n"
    "  --kind K         single: one at a time, of any size; session: many under way at once;\n"
    "                   both (default)\n"
    "  --most N         the largest extent of C in a single call; K may be 16 times that\n"
    "                   (default 1024)\n"
    "  --work N         the most multiply-adds of a single call, in millions (default 64)\n"
    "  --step I         only step I, counted from 1\n"
    "  --huge           instead: each operand in turn and precision in a buffer of more than 2^31\n"
    "                   elements; up to 17 GB on the host and on the device\n"
    "\n"
    "Exit status: 0 all right, 1 a failure, 2 wrong usage, 75 time was up, 77 no device, or too\n"
    "small a one.\n";

/* ---- What the parts share ---- */

uint64_t soak_seed(const struct soak *soak, unsigned long salt)
{
    return soak->options->seed * 0x9e3779b97f4a7c15u ^ salt;
}

size_t soak_below(uint64_t *state, size_t limit)
{
    return (size_t) (random_next(state) % limit);
}

size_t soak_log_random(uint64_t *state, size_t most)
{
    const double fraction = (double) (random_next(state) >> 11) * 0x1p-53;
    return (size_t) exp2(fraction * log2((double) most + 1));
}

const struct precision *soak_random_precision(uint64_t *state, const struct device_facts *facts)
{
    const struct precision *precision;
    do
        precision = &precisions[soak_below(state, KILN_NUM_PRECISIONS)];
    while (kiln_precision_is_complex(precision->id) ||
            (precision->real_bytes == sizeof(double) && !facts->value[FACT_HAS_DOUBLE]));
    return precision;
}

void soak_explain(struct kiln_context *context, const struct kiln_gemm *gemm,
        char text[SOAK_EXPLAIN_BYTES])
{
    text[0] = '\0';
    if (gemm->m)
        kiln_gemm_explain(context, gemm, text, SOAK_EXPLAIN_BYTES);
    char *end = strchr(text, '\n');
    if (end)
        end[strcspn(end + 1, "\n") + 2] = '\0';
}

void soak_note_kernel(struct soak *soak, struct kiln_context *context, const struct kiln_gemm *gemm)
{
    char text[SOAK_EXPLAIN_BYTES];
    soak_explain(context, gemm, text);
    for (unsigned i = 0; i < soak->num_kernels; i++)
        if (!strcmp(soak->kernels[i], text))
            return;
    if (text[0] && soak->num_kernels < SOAK_MAX_KERNELS &&
            (soak->kernels[soak->num_kernels] = malloc(strlen(text) + 1)))
        strcpy(soak->kernels[soak->num_kernels++], text);
}

void soak_report(struct soak *soak, const char *message, const char *kernel)
{
    const struct soak_options *options = soak->options;
    soak->num_failures++;
    printf("FAILED step %lu: %s\n%s    again: soak --device '%s' --seed %lu --most %lu "
           "--work %lu --step %lu%s%s\n",
            soak->step, message, kernel, options->device, options->seed, options->most,
            options->work, soak->step, options->huge ? " --huge" : "",
            options->singles && options->sessions ? ""
            : options->singles                    ? " --kind single"
                                                  : " --kind session");
    fflush(stdout);
}

/* ---- Memory ---- */

/* Of the process, resident; 0: this system does not tell. */
static size_t resident_bytes(void)
{
    unsigned long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file)
        return 0;
    if (fscanf(file, "%lu %lu", &pages, &resident) != 2)
        resident = 0;
    fclose(file);
    return resident * (size_t) sysconf(_SC_PAGESIZE);
}

/* What the first quarter of the calls leaves is warmth: kernels, pools, what the driver keeps. */
struct growth {
    unsigned long calls_at_start;
    size_t at_start, most;
};

enum { MEASURED_CALLS = 1000, ALLOWED_BYTES = 64 << 20, ALLOWED_BYTES_PER_CALL = 1024 };

static void note_memory(struct growth *growth, const struct soak *soak)
{
    const size_t now = resident_bytes();
    growth->most = now > growth->most ? now : growth->most;
    if (!growth->at_start && soak->num_calls >= soak->options->calls / 4) {
        growth->at_start = now;
        growth->calls_at_start = soak->num_calls;
    }
}

/* That nothing of ours is left is counted (nothing_is_left). A driver keeps more, for kernels that
 * come and go, and freed memory is not all given back: PoCL 3.1 grows by less and less, by 100 MiB
 * in the last 75,000 of 100,000 calls. */
static bool memory_is_flat(const struct growth *growth, const struct soak *soak)
{
    const size_t now = resident_bytes();
    const unsigned long calls = soak->num_calls - growth->calls_at_start;
    const size_t allowed = ALLOWED_BYTES + calls * ALLOWED_BYTES_PER_CALL;
    if (!growth->at_start || calls < MEASURED_CALLS)
        return true;
    printf("memory: %zu MiB after a quarter, %zu MiB at the end, %zu MiB at most\n",
            growth->at_start >> 20, now >> 20, growth->most >> 20);
    if (now > growth->at_start + allowed)
        printf("FAILED: the memory of the process has grown\n");
    return now <= growth->at_start + allowed;
}

/* The driver calls callbacks when it likes; what they give back comes late. */
static bool nothing_is_left(void)
{
    for (unsigned i = 0; i < CALLBACK_STEPS && wrap_held() > 0; i++)
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    if (!wrap_held() && !wrap_given_too_often() && !wrap_allocated())
        return true;
    printf("FAILED: %ld references are left, %ld were given back too often, %ld allocations are "
           "left\n",
            wrap_held(), wrap_given_too_often(), wrap_allocated());
    wrap_print();
    return false;
}

/* ---- Steps ---- */

static void run_step(struct soak *soak)
{
    const struct soak_options *options = soak->options;
    if (options->huge)
        soak_huge(soak);
    else if (options->singles && (!options->sessions || soak->step % SINGLE_EVERY == 0))
        soak_single(soak);
    else
        soak_session(soak);
}

static bool is_last(const struct soak *soak)
{
    const struct soak_options *options = soak->options;
    if (options->only || soak->num_failures >= MAX_FAILURES)
        return true;
    return options->huge ? soak->step == SOAK_NUM_HUGE : soak->num_calls >= options->calls;
}

static int run_all(struct soak *soak)
{
    const struct soak_options *options = soak->options;
    const double start = clock_now();
    double reported = start;
    struct growth growth = { .most = 0 };
    bool is_over = false;
    soak->step = options->only ? options->only : options->first;
    for (;; soak->step++) {
        run_step(soak);
        note_memory(&growth, soak);
        is_over = is_last(soak);
        if (is_over || (options->seconds && clock_now() - start > (double) options->seconds))
            break;
        if (clock_now() - reported >= report_seconds) {
            reported = clock_now();
            printf("%lu calls, %u failures, %.0f s, %zu MiB\n", soak->num_calls, soak->num_failures,
                    reported - start, resident_bytes() >> 20);
            fflush(stdout);
        }
    }
    soak->num_failures += memory_is_flat(&growth, soak) ? 0 : 1;
    printf("seed %lu: steps %lu to %lu, %lu calls, %u kernels, %u failures, %.0f s\n",
            options->seed, options->only ? options->only : options->first, soak->step,
            soak->num_calls, soak->num_kernels, soak->num_failures, clock_now() - start);
    if (!soak->num_calls)
        return EXIT_SKIPPED;
    if (!is_over && !soak->num_failures)
        printf("time is up: go on with --first %lu --calls %lu\n", soak->step + 1,
                options->calls - soak->num_calls);
    return soak->num_failures ? EXIT_FAILURE : is_over ? EXIT_SUCCESS : EXIT_UNFINISHED;
}

/* PoCL before 6.0 ends the process when launches of a kernel with grids of different sizes are
 * under way at once and the second needs more than any before: it counts the uses of one of two
 * loaded copies twice (pocl_release_dlhandle_cache). On 16 processors some hundred calls do it. On
 * two a run of the suite ended so, or by another race: one in hundreds, and none could be
 * provoked. */
static bool loses_count(cl_device_id device)
{
    char platform_name[64] = "", driver[64] = "";
    cl_platform_id platform = NULL;
    cl_uint units = 0;
    clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
    clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof platform_name, platform_name, NULL);
    clGetDeviceInfo(device, CL_DRIVER_VERSION, sizeof driver, driver, NULL);
    clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
    return !strcmp(platform_name, "Portable Computing Language") && atoi(driver) < 6 && units > 1;
}

static bool open_soak(struct soak *soak, cl_device_id device)
{
    char error[FAMILY_ERROR_BYTES];
    cl_uint bits = 0;
    if (!device_facts(device, &soak->facts, error) ||
            !launcher_open(&soak->launcher, device, error)) {
        fprintf(stderr, "soak: %s\n", error);
        return false;
    }
    clGetDeviceInfo(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, NULL);
    clGetDeviceInfo(device, CL_DEVICE_QUEUE_PROPERTIES, sizeof soak->orders, &soak->orders, NULL);
    soak->orders &= CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    soak->one_by_one = loses_count(device);
    if (soak->one_by_one) {
        soak->orders = 0;
        puts("sessions have one queue: this version of PoCL fails where kernels overlap");
    }
    soak->base_bytes = bits >= 8 ? bits / 8 : 1;
    const enum kiln_status status = kiln_context_create(soak->launcher.context, device, NULL,
            &soak->context);
    verifier_init(&soak->verifier, &soak->launcher);
    if (status != KILN_SUCCESS)
        fprintf(stderr, "soak: %s\n", kiln_status_string(status));
    return status == KILN_SUCCESS;
}

static int run_on_device(const struct soak_options *options)
{
    static struct soak soak;
    cl_device_id device;
    char error[FAMILY_ERROR_BYTES];
    soak.options = options;
    if (!device_find(options->device, &device, error)) {
        fprintf(stderr, "soak: %s\n", error);
        return EXIT_SKIPPED;
    }
    wrap_enter_thread();
    wrap_begin_quietly();
    int result = open_soak(&soak, device) ? run_all(&soak) : EXIT_FAILURE;
    soak_session_end();
    for (unsigned i = 0; i < soak.num_kernels; i++)
        free(soak.kernels[i]);
    verifier_free(&soak.verifier);
    kiln_context_destroy(&soak.context);
    launcher_close(&soak.launcher);
    return nothing_is_left() ? result : EXIT_FAILURE;
}

/* ---- The command line ---- */

static int usage(const char *what, const char *value)
{
    fprintf(stderr, "soak: %s '%s'\n%s", what, value, help);
    return EXIT_USAGE;
}

static int set_kind(struct soak_options *options, const char *kind)
{
    options->singles = strcmp(kind, "session") != 0;
    options->sessions = strcmp(kind, "single") != 0;
    return !options->singles || !options->sessions || !strcmp(kind, "both")
                 ? 0
                 : usage("unknown kind", kind);
}

static int set_option(struct soak_options *options, const char *name, const char *value)
{
    const struct {
        const char *name;
        unsigned long *number;
    } numbers[] = {
        { "--calls", &options->calls },
        { "--seed", &options->seed },
        { "--most", &options->most },
        { "--work", &options->work },
        { "--step", &options->only },
        { "--first", &options->first },
        { "--seconds", &options->seconds },
    };
    if (!strcmp(name, "--device")) {
        options->device = value;
        return 0;
    }
    if (!strcmp(name, "--kind"))
        return set_kind(options, value);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (!strcmp(name, numbers[i].name)) {
            char *end;
            errno = 0;
            *numbers[i].number = strtoul(value, &end, 10);
            return *value == '-' || *end || errno || !*numbers[i].number
                         ? usage("no positive number for", name)
                         : 0;
        }
    return usage("unknown option", name);
}

int main(int argc, char **argv)
{
    struct soak_options options = {
        .device = "",
        .calls = 2000,
        .seed = 1,
        .most = 1024,
        .work = 64,
        .first = 1,
        .singles = true,
        .sessions = true,
    };
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
