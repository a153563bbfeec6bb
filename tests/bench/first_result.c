/* first_result.c: a new process for every sample, each with a new, empty cache directory, so that
 * no driver finds a kernel that it compiled before. The clock runs in the child, from the first
 * OpenCL call to the moment when the result is known to be right; what that is compared with was
 * computed before. Kiln and CLBlast take turns. */
#include "first_result.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "peers.h"
#include "process.h"
#include "stats.h"
#include "timer.h"
#include "tune/interrupt.h"

const char *const first_result_keys[FIRST_RESULT_PEERS] = { "kiln", "clblast" };

/* ---- The child ---- */

/* Whether the library took the kernels of this call from embedded source or from a binary. */
static void first_result_kernels(struct kiln_context *context, const struct kiln_gemm *gemm,
        char kernels[32])
{
    const char *key = "program: ";
    char text[4096];
    const char *at = NULL;

    if (kiln_gemm_explain(context, gemm, text, sizeof(text)) == KILN_SUCCESS) {
        at = strstr(text, key);
    }
    if (at != NULL) {
        at += strlen(key);
        snprintf(kernels, 32, "%.*s", (int) strcspn(at, "\n"), at);
    }
}

static bool first_result_by_kiln(const struct device *device, const struct problem *p,
        const struct operands *o, void *c, char kernels[32])
{
    const struct kiln_gemm gemm = {
        .m = p->m,
        .n = p->n,
        .k = p->k,
        .alpha = 1,
        .a = o->a,
        .b = o->b,
        .c = o->c,
    };
    struct kiln_context *context = NULL;
    bool good = kiln_context_create(device->context, device->id, NULL, &context) == KILN_SUCCESS &&
                kiln_gemm_enqueue(context, &gemm, device->queue, 0, NULL, NULL) == KILN_SUCCESS &&
                operands_read(o, device, p, c);

    if (good) {
        first_result_kernels(context, &gemm, kernels);
    }
    kiln_context_destroy(&context);
    return good;
}

static bool first_result_by_clblast(const struct device *device, const struct problem *problem,
        const struct operands *operands, void *c)
{
#ifdef HAVE_CLBLAST
    return peer_clblast_once(device, problem, operands) &&
           operands_read(operands, device, problem, c);
#else
    (void) device, (void) problem, (void) operands, (void) c;
    return false;
#endif
}

/* Everything that the clock sees. */
static bool first_result_compute(const char *key, const char *substring,
        const struct problem *problem, const double *reference, void *c, char kernels[32],
        double *ready)
{
    struct device device;
    struct operands operands;
    char error[256];
    bool good;

    if (!device_open(&device, substring, false, error, sizeof(error))) {
        fprintf(stderr, "kiln-bench: %s\n", error);
        return false;
    }
    good = operands_create(&operands, &device, problem);
    *ready = timer_now();
    if (good) {
        good = strcmp(key, "kiln") == 0
                     ? first_result_by_kiln(&device, problem, &operands, c, kernels)
                     : first_result_by_clblast(&device, problem, &operands, c);
        operands_destroy(&operands);
    }
    device_close(&device);
    return good && problem_error_from(problem, c, reference) < PROBLEM_WRONG;
}

int first_result_child(const char *key, const char *size, const char *device)
{
    size_t extent = strtoul(size, NULL, 10);
    const struct bench_shape shape = { extent, extent, extent };
    char kernels[32] = "unknown";
    struct problem problem;
    double *reference;
    void *c;
    bool good = false;

    if (extent == 0 || !problem_create(&problem, KILN_SINGLE, false, false, &shape)) {
        return EXIT_FAILURE;
    }
    c = malloc(problem.c_bytes);
    reference = malloc(extent * extent * sizeof(*reference));
    if (c != NULL && reference != NULL) {
        double start, ready = 0;

        problem_reference(&problem, reference);
        start = timer_now();
        good = first_result_compute(key, device, &problem, reference, c, kernels, &ready);
        if (good) {
            printf("ok %.9e %.9e %s\n", timer_now() - start, ready - start, kernels);
        }
    }
    free(c);
    free(reference);
    problem_destroy(&problem);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- The parent ---- */

/* Removes a directory with all that a driver left in it. */
static void first_result_remove(const char *path)
{
    DIR *directory = opendir(path);
    struct dirent *item;

    while (directory != NULL && (item = readdir(directory)) != NULL) {
        char inner[4096];
        struct stat status;

        if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0) {
            continue;
        }
        snprintf(inner, sizeof(inner), "%s/%s", path, item->d_name);
        if (lstat(inner, &status) == 0 && S_ISDIR(status.st_mode)) {
            first_result_remove(inner);
        } else {
            unlink(inner);
        }
    }
    if (directory != NULL) {
        closedir(directory);
    }
    rmdir(path);
}

static bool first_result_ask(const char *key, const struct options *options, const char *cache,
        double *seconds, double *ready, char kernels[32])
{
    char size[16], pocl[512], xdg[512], cuda[512], answer[128];
    const char *const arguments[] = { FIRST_RESULT_CHILD_OPTION, key, size,
        options->device != NULL ? options->device : "", NULL };
    const char *const environment[] = { pocl, xdg, cuda, "CUDA_CACHE_DISABLE=1", NULL };
    struct process process;
    bool good;

    snprintf(size, sizeof(size), "%zu", options->size);
    snprintf(pocl, sizeof(pocl), "POCL_CACHE_DIR=%s", cache);
    snprintf(xdg, sizeof(xdg), "XDG_CACHE_HOME=%s", cache);
    snprintf(cuda, sizeof(cuda), "CUDA_CACHE_PATH=%s", cache);
    if (!process_start(&process, arguments, environment, false)) {
        return false;
    }
    good = fgets(answer, sizeof(answer), process.from) != NULL &&
           sscanf(answer, "ok %lf %lf %31[^\n]", seconds, ready, kernels) == 3;
    return process_stop(&process) && good;
}

/* One sample: a new process with a new directory. */
static bool first_result_sample(const char *key, const struct options *options, double *seconds,
        double *ready, char kernels[32])
{
    const char *parent = getenv("TMPDIR");
    struct interrupt interrupt;
    char cache[448];
    bool made;
    bool good;

    snprintf(cache, sizeof(cache), "%s/kiln-bench-XXXXXX", parent != NULL ? parent : "/tmp");
    interrupt_defer(&interrupt);
    made = mkdtemp(cache) != NULL;
    good = made && first_result_ask(key, options, cache, seconds, ready, kernels);
    if (made) {
        first_result_remove(cache);
    }
    interrupt_end(&interrupt);
    if (!made) {
        fprintf(stderr, "kiln-bench: %s: no directory can be made\n", cache);
    } else if (!good) {
        fprintf(stderr, "kiln-bench: the child of %s came to no right result\n", key);
    }
    return good;
}

bool first_result_measure(const struct options *options, struct first_result *result)
{
    *result = (struct first_result){ .size = options->size, .rounds = options->rounds };
    if (result->rounds > FIRST_RESULT_MAX_ROUNDS) {
        result->rounds = FIRST_RESULT_MAX_ROUNDS;
    }
    result->has[0] = true;
#ifdef HAVE_CLBLAST
    result->has[1] = true;
#endif
    for (size_t round = 0; round < result->rounds; round++) {
        for (size_t i = 0; i < FIRST_RESULT_PEERS; i++) {
            char kernels[32];
            double ready = 0;

            if (!result->has[i]) {
                continue;
            }
            if (!first_result_sample(first_result_keys[i], options, &result->samples[i][round],
                        &ready, kernels)) {
                return false;
            }
            if (i == 0) {
                memcpy(result->kernels, kernels, sizeof(kernels));
                result->ready[round] = ready;
            }
        }
    }
    result->median_ready = stats_median(result->ready, result->rounds);
    for (size_t i = 0; i < FIRST_RESULT_PEERS; i++) {
        result->median[i] = result->has[i] ? stats_median(result->samples[i], result->rounds) : 0;
    }
    return true;
}

void first_result_report(const struct first_result *result)
{
    printf("\nfirst result of a fresh process, SGEMM at %zu, driver caches empty,"
           " medians of %zu\n\n",
            result->size, result->rounds);
    printf("  Kiln, kernels from %-20s %9.1f ms\n", result->kernels, 1e3 * result->median[0]);
    printf("  of these, until there is a context      %9.1f ms\n", 1e3 * result->median_ready);
    if (result->has[1]) {
        printf("  CLBlast                                 %9.1f ms\n", 1e3 * result->median[1]);
        printf("  CLBlast / Kiln                          %9.2f\n",
                result->median[1] / result->median[0]);
    }
}
