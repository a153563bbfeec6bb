/* bench.c: kiln-bench. Chooses between the modes; each has files of its own. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "compare.h"
#include "core/files.h"
#include "errors.h"
#include "first_result.h"
#include "json.h"
#include "openblas_child.h"
#include "options.h"
#include "overhead.h"
#include "process.h"
#include "report.h"
#include "triangles.h"
#include "tune/interrupt.h"
#include "tune/processors.h"

enum { EXIT_USAGE = 2 };

static int bench_write(const struct options *options, const struct json_document *document,
        int status)
{
    if (options->json != NULL && !json_write(options->json, document)) {
        return EXIT_FAILURE;
    }
    return status;
}

/* The peer whose choice of recipes is judged. */
static const struct peer *bench_judged(const struct peer *peers, size_t num_peers)
{
    const struct peer *kiln = peers_find(peers, num_peers, "kiln");

    return kiln != NULL ? kiln : peers_find(peers, num_peers, "kiln-emulated");
}

static int bench_compare_peers(const struct options *options, const struct device *device,
        struct peer *peers, size_t num_peers, struct recipes *recipes)
{
    const struct peer *kiln = bench_judged(peers, num_peers);
    struct comparison comparison = {
        .peers = peers,
        .num_peers = num_peers,
        .data = options->data,
        .rounds = options->rounds,
        .min_seconds = options->min_seconds,
        .clock = device->has_clock ? CLOCK_DEVICE : CLOCK_WALL,
        .recipes = recipes,
        .kiln = kiln != NULL ? (size_t) (kiln - peers) : num_peers,
    };
    const struct json_document document = { .device = device,
        .options = options,
        .peers = peers,
        .num_peers = num_peers,
        .comparison = &comparison };
    struct interrupt interrupt;
    int status;

    report_peers(peers, num_peers);
    interrupt_defer(&interrupt);
    if (!compare_run(&comparison, options, device, report_row)) {
        fprintf(stderr, "kiln-bench: out of memory\n");
        status = EXIT_FAILURE;
    } else {
        report_end(&comparison, options);
        status = compare_is_clean(&comparison) ? EXIT_SUCCESS : EXIT_FAILURE;
        status = bench_write(options, &document, status);
    }
    compare_free(&comparison);
    files_flush_output();
    interrupt_end(&interrupt);
    return status;
}

static int bench_compare(struct options *options, const struct device *device)
{
    const struct peer_setup setup = {
        .device = device,
        .precisions = options->precisions,
        .num_precisions = options->num_precisions,
        .min_seconds = options->min_seconds,
    };
    struct recipes recipes = { .setup = &setup };
    struct peer peers[PEERS_MAX];
    size_t count;
    int status;

    if (!options_draw(options, device)) {
        return EXIT_FAILURE;
    }
    if (!peers_open(peers, &count, options->peers, &setup)) {
        return EXIT_FAILURE;
    }
    if (options->best && bench_judged(peers, count) == NULL) {
        fprintf(stderr, "kiln-bench: --best needs the peer 'kiln' or 'kiln-emulated'\n");
        status = EXIT_FAILURE;
    } else {
        recipes.emulates = peers_find(peers, count, "kiln") == NULL;
        status = bench_compare_peers(options, device, peers, count,
                options->best ? &recipes : NULL);
    }
    recipes_close(&recipes);
    peers_close(peers, count);
    return status;
}

static int bench_errors(struct options *options, const struct device *device)
{
    const enum kiln_precision precision = KILN_SINGLE;
    const struct peer_setup setup = {
        .device = device,
        .precisions = &precision,
        .num_precisions = 1,
        .min_seconds = options->min_seconds,
    };
    struct peer peers[PEERS_MAX];
    size_t count;

    if (!options_draw(options, device) || !peers_open(peers, &count, options->peers, &setup)) {
        return EXIT_FAILURE;
    }
    report_peers(peers, count);
    struct errors_table table = { 0 };
    const bool good = errors_report(options, device, peers, count, &table);
    const struct json_document document = { .device = device,
        .options = options,
        .peers = peers,
        .num_peers = count,
        .errors = &table };
    const int status = bench_write(options, &document, good ? EXIT_SUCCESS : EXIT_FAILURE);

    free(table.rows);
    peers_close(peers, count);
    return status;
}

static int bench_triangles(struct options *options, const struct device *device)
{
    struct triangles triangles = { 0 };
    const struct json_document document = { .device = device,
        .options = options,
        .triangles = &triangles };
    int status = EXIT_FAILURE;

    if (options_draw(options, device) && triangles_measure(options, device, &triangles)) {
        status = bench_write(options, &document, EXIT_SUCCESS);
    }
    free(triangles.rows);
    return status;
}

static int bench_host_overhead(const struct options *options, const struct device *device)
{
    struct overhead overhead;
    const struct json_document document = { .device = device,
        .options = options,
        .overhead = &overhead };

    if (!overhead_measure(device, &overhead)) {
        return EXIT_FAILURE;
    }
    overhead_report(&overhead);
    return bench_write(options, &document, EXIT_SUCCESS);
}

static int bench_first_result(const struct options *options, const struct device *device)
{
    struct first_result result;
    const struct json_document document = { .device = device,
        .options = options,
        .first_result = &result };

    if (!first_result_measure(options, &result)) {
        return EXIT_FAILURE;
    }
    first_result_report(&result);
    return bench_write(options, &document, EXIT_SUCCESS);
}

static int bench_on_device(struct options *options)
{
    struct device device;
    char error[512];
    int status;

    if (!device_open(&device, options->device, options->device_clock, error, sizeof(error))) {
        fprintf(stderr, "kiln-bench: %s\n", error);
        return EXIT_FAILURE;
    }
    report_device(&device);
    switch (options->mode) {
    case MODE_HOST_OVERHEAD: status = bench_host_overhead(options, &device); break;
    case MODE_ERRORS: status = bench_errors(options, &device); break;
    case MODE_TRIANGLES: status = bench_triangles(options, &device); break;
    case MODE_FIRST_RESULT: status = bench_first_result(options, &device); break;
    default: status = bench_compare(options, &device); break;
    }
    device_close(&device);
    return status;
}

/* Asked before anything is measured; what the file held stays until there is something better. */
static bool can_write(const char *path)
{
    struct stat found;
    const bool is_there = path != NULL && lstat(path, &found) == 0;
    FILE *file = path ? fopen(path, "a") : NULL;

    if (path == NULL || (file != NULL && fclose(file) == 0)) {
        if (path != NULL && !is_there) {
            remove(path);
        }
        return true;
    }
    fprintf(stderr, "kiln-bench: cannot write %s: %s\n", path, strerror(errno));
    return false;
}

static int bench_run(struct options *options)
{
    switch (options->mode) {
    case MODE_HELP: options_print_help(stdout); return EXIT_SUCCESS;
    case MODE_VERSION: printf("kiln-bench %s\n", KILN_VERSION); return EXIT_SUCCESS;
    case MODE_LIST_PEERS: peers_list(stdout); return EXIT_SUCCESS;
    case MODE_LIST_SHAPES: shapes_print_lists(stdout); return EXIT_SUCCESS;
    default: return can_write(options->json) ? bench_on_device(options) : EXIT_FAILURE;
    }
}

/* What was printed has to reach its reader. */
static int bench_end(int status)
{
    char error[FILES_ERROR_BYTES];

    if (files_end_output(error)) {
        return status;
    }
    fprintf(stderr, "kiln-bench: %s\n", error);
    return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    struct options options;
    int status = EXIT_USAGE;

    /* A child that died shows as a failed request, not as the end of this process. */
    signal(SIGPIPE, SIG_IGN);
    process_set_program(argv[0]);
    if (argc == 5 && strcmp(argv[1], FIRST_RESULT_CHILD_OPTION) == 0) {
        return first_result_child(argv[2], argv[3], argv[4]);
    }
#ifdef HAVE_OPENBLAS
    if (argc == 3 && strcmp(argv[1], OPENBLAS_CHILD_OPTION) == 0) {
        return openblas_child_run(argv[2]);
    }
#endif
    processors_bind_pocl();
    if (options_parse(&options, argc, argv)) {
        status = bench_run(&options);
    } else if (options.failed) {
        status = EXIT_FAILURE;
    }
    options_free(&options);
    return bench_end(status);
}
