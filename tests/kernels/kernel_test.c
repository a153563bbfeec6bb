/* kernel_test.c: every family x precision x transpose pair x edge class, on a device.
 *
 * The presets and a covering set of each family run on each edge class, exactly and against a
 * reference (verify.h), or on buffers without room around them (--tight). The first configuration
 * of a family runs for all four transpose pairs, the others for one each in turn, unless --all is
 * given: compiling takes longer than everything else. With --bundle the recipes of a bundle run.
 * The checks of checks.h follow.
 */
#include "brief.h"
#include "checks.h"
#include "cover.h"
#include "core/assemble.h"
#include "core/fields.h"
#include "core/files.h"
#include "core/forms.h"
#include "core/space.h"
#include "core/winners.h"
#include "internal.h"
#include "tune/candidate.h"
#include "tune/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EXIT_USAGE = 2, EXIT_ILLEGAL = 3, EXIT_SKIPPED = 77, MAX_FACTS = 8, WORKSPACE_BYTES = 1 << 20,
    SMALL_CASE = 4000,                 /* multiply-adds that a simulator may do twice */
    FEW_ITEMS = 2048                   /* work-items that it may have for 32 x 32 x 32 */
};

struct options {
    const char *device, *config, *edge, *bundle;
    const struct family *family;       /* NULL: all; likewise below */
    const struct precision *precision;
    int pair;                          /* -1: all */
    size_t most;                       /* 0: no limit */
    struct shard shard;                /* of the bundle; 0: the whole */
    bool all, brief, sparse, list, tight, presets, real, complex;
    const char *facts[MAX_FACTS];      /* "NAME=VALUE": what to take the device for */
    unsigned num_facts;
};

struct counts {
    unsigned programs, classes, failed, cases, failures;
    unsigned illegal;                  /* of what --config was to run for */
};

struct run {
    const struct options *options;
    struct device_facts facts;
    struct launcher launcher;
    struct verifier verifier;
    struct candidates candidates;
    struct counts counts;
    struct brief brief;
};

static const char help[] =
    "usage: kernel_test [OPTION]...\n"
    "\n"
    "  --device SUB          substring of the device's name; default: the first\n"
    "  --family F, --precision P, --transpose XY, --config CONFIG, --edge CLASS\n"
    "                        only this one\n"
    "  --real, --complex     only such precisions\n"
    "  --bundle DIR          the recipes of DIR/winners.tsv as they are emitted, for all four\n"
    "                        transpose pairs\n"
    "  --shard I/N           of these the I-th part of N, so that each ends in time\n"
    "  --most N              extents above N become less, and configurations are left out whose\n"
    "                        kernels go through rows or columns by more than N or which pad an\n"
    "                        operand to a multiple of more\n"
    "  --brief               of each family, as few programs as have every value of every "
    "parameter,\n"
    "                        every precision and every transpose pair twice, and of these as few\n"
    "                        cases as let all that meet every edge class\n"
    "  --sparse              with --brief: precisions and pairs meet every class, and each "
    "program\n"
    "                        an eighth of them\n"
    "  --fact NAME=VALUE     take the device for one with this fact (see kiln-tune probe)\n"
    "  --tight               instead of comparing with a reference, run on buffers that end with\n"
    "                        their last element, for a simulator that sees stray accesses;\n"
    "                        compare small cases only\n"
    "  --presets             the presets alone, and exactly only\n"
    "  --all                 every configuration for all four transpose pairs\n"
    "  --list                print what would run\n"
    "\n"
    "Exit status: 0 all right, 1 a failure, 2 wrong usage, 3 no failure, but the configuration\n"
    "of --config is illegal on the device for some of what it was to run for, 77 no device.\n";

static int usage(const char *what, const char *value)
{
    fprintf(stderr, "kernel_test: %s '%s'\n%s", what, value, help);
    return EXIT_USAGE;
}

/* ---- One case ---- */

static bool counts(const struct options *options, const struct precision *precision)
{
    return (!options->precision || options->precision == precision) &&
           !(kiln_precision_is_complex(precision->id) ? options->real : options->complex);
}

static bool is_within(const struct options *options, const struct verify_case *of)
{
    return !options->most ||
           (of->m <= options->most && of->n <= options->most && of->k <= options->most);
}

/* Between a half and all of the most. */
static void shorten(size_t *extent, size_t most)
{
    if (*extent > most)
        *extent = most / 2 + *extent % (most / 2 + 1);
}

/* Makes a case small enough; false when it would not be what the recipe's guards want. */
static bool fit_within(const struct options *options, const struct kiln_recipe *recipe,
        struct verify_case *of)
{
    const struct kiln_guard *guard = &recipe->guard;
    if (is_within(options, of))
        return true;
    if (of->members)
        return false;
    shorten(&of->m, options->most);
    shorten(&of->n, options->most);
    shorten(&of->k, options->most);
    return kiln_guard_takes_extents(guard, of->m, of->n, of->k) && guard->a <= 1 && guard->b <= 1 &&
           guard->c <= 1;
}

/* How to see this failure again, alone. */
static void report(struct run *run, const struct candidate *candidate, const char *edge,
        const char *message)
{
    const struct options *options = run->options;
    const struct problem *problem = &candidate->problem;
    char config[CONFIG_TEXT_BYTES];
    config_format(&candidate->config, config);
    run->counts.failures++;
    printf("\nFAILED %s: %s\n    again: kernel_test --device '%s' --config '%s' --precision %s "
           "--transpose %s",
            edge, message, options->device, config, problem->precision->name,
            pair_names[pair_of_problem(problem)]);
    for (unsigned i = 0; i < options->num_facts; i++)
        printf(" --fact %s", options->facts[i]);
    printf("%s --edge %s\n", options->tight ? " --tight" : "", edge);
}

static const struct kiln_recipe *recipe_of(const struct candidate *candidate)
{
    return &candidate->assembly.bundle.recipes[0];
}

/* Fills the workspace with NaNs of any precision, so that what a stage forgot to write shows.
 *
 * It is made before any buffer is released. Oclgrind does not notice a release: a buffer that takes
 * the place of a smaller one would be held for uninitialised beyond that one's end. */
static bool poison_workspace(struct launcher *launcher)
{
    cl_int error = CL_SUCCESS;
    if (!launcher->workspace) {
        launcher->workspace = clCreateBuffer(launcher->context, CL_MEM_READ_WRITE, WORKSPACE_BYTES,
                NULL, &error);
        launcher->workspace_bytes = launcher->workspace ? WORKSPACE_BYTES : 0;
    }
    unsigned char *bytes = malloc(launcher->workspace_bytes + 1);
    if (bytes && launcher->workspace) {
        memset(bytes, 0xff, launcher->workspace_bytes);
        error = clEnqueueWriteBuffer(launcher->queue, launcher->workspace, CL_TRUE, 0,
                launcher->workspace_bytes, bytes, 0, NULL, NULL);
    }
    free(bytes);
    return bytes && launcher->workspace && error == CL_SUCCESS;
}

static void run_case(struct run *run, struct candidate *candidate, const char *edge,
        const struct verify_case *of, kernel_check *verify)
{
    char message[VERIFY_MESSAGE_BYTES];
    run->counts.cases++;
    if (!poison_workspace(&run->launcher))
        report(run, candidate, edge, "the workspace cannot be written");
    else if (verify(&run->verifier, candidate->context, of, message) != VERIFY_OK)
        report(run, candidate, edge, *message ? message : candidate->log.text);
}

/* A buffer that begins with the first element that the offset leaves out and ends with the last. */
static cl_mem tight_buffer(struct launcher *launcher, const struct verify_case *of, size_t rows,
        size_t cols, size_t pad, size_t offset)
{
    const size_t elements = rows && cols ? offset + (rows - 1) * (cols + pad) + cols : 1;
    const size_t bytes = elements * (size_t) of->problem.precision->element_bytes;
    void *zeros = calloc(1, bytes);
    cl_mem buffer = zeros ? clCreateBuffer(launcher->context,
                                    CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, zeros, NULL)
                          : NULL;
    free(zeros);
    return buffer;
}

static size_t at_least_one(size_t value)
{
    return value ? value : 1;
}

/* The guard zones of verify.h hide what is read outside and not used. Here there is nothing
 * outside; whoever watches the device says what was touched, and the result does not matter. */
static enum verify_verdict run_tight(struct verifier *verifier, struct kiln_context *context,
        const struct verify_case *of, char message[VERIFY_MESSAGE_BYTES])
{
    struct launcher *launcher = verifier->launcher;
    const bool ta = of->problem.transa, tb = of->problem.transb;
    const size_t a_cols = ta ? of->m : of->k, b_cols = tb ? of->k : of->n;
    struct kiln_gemm gemm = {
        .precision = kiln_precision_of_call(of->problem.precision->id),
        .arithmetic = kiln_arithmetic_of_call(of->problem.precision->id),
        .layout = KILN_ROW_MAJOR,
        .transa = ta ? KILN_TRANS : KILN_NO_TRANS,
        .transb = tb ? KILN_TRANS : KILN_NO_TRANS,
        .m = of->m,
        .n = of->n,
        .k = of->k,
        .alpha = of->alpha,
        .beta = of->beta,
        .a = tight_buffer(launcher, of, ta ? of->k : of->m, a_cols, of->pad_a, of->offset_a),
        .b = tight_buffer(launcher, of, tb ? of->n : of->k, b_cols, of->pad_b, of->offset_b),
        .c = tight_buffer(launcher, of, of->m, of->n, of->pad_c, of->offset_c),
        .lda = at_least_one(a_cols) + of->pad_a,
        .ldb = at_least_one(b_cols) + of->pad_b,
        .ldc = at_least_one(of->n) + of->pad_c,
        .a_offset = of->offset_a,
        .b_offset = of->offset_b,
        .c_offset = of->offset_c,
    };
    double seconds;
    enum kiln_status status = KILN_OUT_OF_MEMORY;
    verify_make_batch(of, &gemm);
    if (gemm.a && gemm.b && gemm.c)
        status = launcher_prepare(launcher, context, &gemm);
    if (status == KILN_SUCCESS)
        status = launcher_run(launcher, context, &gemm, &seconds);
    snprintf(message, VERIFY_MESSAGE_BYTES, "on tight buffers: %s", kiln_status_string(status));
    if (gemm.a)
        clReleaseMemObject(gemm.a);
    if (gemm.b)
        clReleaseMemObject(gemm.b);
    if (gemm.c)
        clReleaseMemObject(gemm.c);
    return status == KILN_SUCCESS ? VERIFY_OK : VERIFY_FAILED;
}

static bool is_wanted(const struct options *options, const char *edge)
{
    return !options->edge || !strcmp(options->edge, edge);
}

/* One edge class in two is done again with packs, by turns of A, of B and of both. */
static void with_packs(size_t number, struct verify_case *of)
{
    of->repeats = number % 2;
    of->packed = (unsigned) (number / 2 % 3 + 1);
    if (of->members) /* those share one operand */
        of->packed &= of->m > 1 ? 2 : 1;
}

static void run_class(struct run *run, struct candidate *candidate, unsigned number,
        const struct edge_case *edge)
{
    struct verify_case of = edge->of;
    const unsigned failures = run->counts.failures;
    if (!is_wanted(run->options, edge->name) ||
            !fit_within(run->options, recipe_of(candidate), &of) ||
            (run->options->brief &&
                    !brief_takes(&run->brief, &candidate->config, &candidate->problem, edge->name)))
        return;
    if (!run->options->tight || of.m * of.n * of.k <= SMALL_CASE)
        run_case(run, candidate, edge->name, &of, verify_exact);
    with_packs(number, &of);
    if (!run->options->presets)
        run_case(run, candidate, edge->name, &of,
                run->options->tight         ? run_tight
                : verify_has_reference(&of) ? verify_gauge
                                            : verify_exact);
    run->counts.classes++;
    run->counts.failed += run->counts.failures > failures;
}

static void run_edges(struct run *run, struct candidate *candidate)
{
    struct edge_case edges[VERIFY_MAX_EDGES];
    struct verify_case exact, gauge;
    const struct kiln_recipe *recipe = recipe_of(candidate);
    const struct assembly_edges *stated = candidate->assembly.edges;
    const unsigned num = verify_edges(&candidate->problem, recipe, stated, edges);
    for (unsigned i = 0; i < num; i++)
        run_class(run, candidate, i, &edges[i]);
    verify_check_cases(&candidate->problem, recipe, stated, &exact, &gauge);
    if (is_wanted(run->options, "check-exact") && is_within(run->options, &exact))
        run_case(run, candidate, "check-exact", &exact, verify_exact);
    if (is_wanted(run->options, "check-gauge") && is_within(run->options, &gauge))
        run_case(run, candidate, "check-gauge", &gauge, verify_gauge);
}

/* The checks of checks.h: on a few rows and columns, of a K that is cut where the recipe cuts any,
 * and on whole vectors. */
static void run_checks(struct run *run, struct candidate *candidate)
{
    const struct kiln_recipe *recipe = recipe_of(candidate);
    const struct problem *problem = &candidate->problem;
    struct verify_case deep, gauge;
    if (kiln_precision_is_complex(problem->precision->id))
        return;
    verify_check_cases(problem, recipe, candidate->assembly.edges, &deep, &gauge);
    const struct verify_case few = plain_case(problem, recipe, 13, 27, deep.k);
    const struct verify_case whole = plain_case(problem, recipe, 64, 64, 64);
    if (is_wanted(run->options, "special-values"))
        run_case(run, candidate, "special-values", &few, check_special_values);
    if (is_wanted(run->options, "host-memory")) {
        run_case(run, candidate, "host-memory", &few, check_host_memory);
        run_case(run, candidate, "host-memory", &whole, check_host_memory);
    }
}

static void print_counts(const struct counts *counts)
{
    printf("%u classes, %u failed; %u cases, %u failures\n", counts->classes, counts->failed,
            counts->cases, counts->failures);
}

static void run_config(struct run *run, const struct config *config, const struct problem *problem)
{
    char name[CONFIG_TEXT_BYTES];
    const char *reason;
    if (run->options->brief && !brief_begin(&run->brief, config, problem))
        return;
    config_format(config, name);
    /* Named before it runs: it might crash. */
    printf("%s %s %s: ", problem->precision->name, pair_names[pair_of_problem(problem)], name);
    if (run->options->config && !config_legal(config, problem, &run->facts, &reason)) {
        printf("illegal: %s\n", reason);
        run->counts.illegal++;
        return;
    }
    if (run->options->list) {
        printf("would run\n");
        return;
    }
    fflush(stdout);
    const struct counts before = run->counts;
    struct candidate *candidate = candidate_get(&run->candidates, config, problem);
    run->counts.programs++;
    if (candidate->outcome == TRIAL_OK)
        run_edges(run, candidate);
    else
        report(run, candidate, "build", candidate->message);
    if (candidate->outcome == TRIAL_OK && !run->options->tight && !run->options->presets)
        run_checks(run, candidate);
    print_counts(&(struct counts){ .classes = run->counts.classes - before.classes,
            .failed = run->counts.failed - before.failed,
            .cases = run->counts.cases - before.cases,
            .failures = run->counts.failures - before.failures });
    fflush(stdout);
}

/* ---- What to run ---- */

/* Rows and columns of C may be gone through by no more than so many, and no operand be padded to a
 * multiple of more. */
static bool is_small(const struct kiln_recipe *recipe, size_t most)
{
    bool ok = recipe->reach[0] <= most && recipe->reach[1] <= most;
    for (unsigned i = 0; i < recipe->num_regions; i++)
        for (unsigned d = 0; d < 2; d++)
            ok = ok &&
                 (recipe->regions[i].dim[d] == KILN_DIM_ONE || recipe->regions[i].round[d] <= most);
    return ok;
}

/* Do work-groups cover M, N or K? Others are as many whatever the shape, and parts of K are few. */
static bool is_of_extent(unsigned dim)
{
    return dim != KILN_DIM_ONE && dim != KILN_DIM_UNITS && dim != KILN_DIM_PARTS;
}

static size_t count_items(const struct kiln_recipe *recipe, size_t extent)
{
    size_t sum = 0;
    for (unsigned i = 0; i < recipe->num_stages; i++) {
        const struct kiln_stage *stage = &recipe->stages[i];
        size_t items = 1;
        for (unsigned d = 0; d < stage->work_dim; d++)
            items *= stage->local[d] *
                     (is_of_extent(stage->dim[d]) ? (extent + stage->tile[d] - 1) / stage->tile[d]
                                                  : stage->tile[d]);
        sum += items;
    }
    return sum;
}

static bool accepts(void *env, const struct config *config, const struct problem *problem)
{
    const struct run *run = env;
    struct assembly assembly;
    char error[FAMILY_ERROR_BYTES];
    unsigned index;
    bool ok = true;
    if (!run->options->most)
        return true;
    if (assembly_init(&assembly, "size", &run->facts) &&
            assembly_add(&assembly, config, problem, &index, error))
        ok = is_small(&assembly.recipes[index], run->options->most) &&
             (!run->options->brief || count_items(&assembly.recipes[index], 32) <= FEW_ITEMS);
    assembly_free(&assembly);
    return ok;
}

static void run_pairs(struct run *run, const struct config *config,
        const struct precision *precision, unsigned number)
{
    for (unsigned pair = 0; pair < NUM_PAIRS; pair++) {
        const struct problem problem = { precision, pair / 2, pair % 2 };
        if (run->options->pair >= 0
                        ? (int) pair == run->options->pair
                        : run->options->all || number == 0 || number % NUM_PAIRS == pair)
            run_config(run, config, &problem);
    }
}

static void run_family(struct run *run, const struct family *family)
{
    static struct cover cover;
    if (family->capability && !run->facts.value[FACT_COMPUTE_CAPABILITY]) {
        printf("%s: for NVIDIA's devices alone\n", family->name);
        return;
    }
    run->brief = (struct brief){ .sparsely = run->options->sparse };
    for (size_t p = 0; p < KILN_NUM_PRECISIONS; p++) {
        const struct problem problem = { &precisions[p], false, false };
        if (!counts(run->options, &precisions[p]))
            continue;
        cover_make(family, &problem, &run->facts, accepts, run, &cover);
        if (!cover.num && !run->options->presets)
            printf("%s %s: no configuration is legal on the device\n", precisions[p].name,
                    family->name);
        const unsigned num = run->options->presets ? cover.num_presets : cover.num;
        for (unsigned i = 0; i < num; i++)
            run_pairs(run, &cover.configs[i], &precisions[p], i);
    }
}

/* In the precision that is named, or in all that the family is for. */
static int run_named(struct run *run)
{
    struct config config;
    char error[FAMILY_ERROR_BYTES];
    if (!config_parse(run->options->config, &config, error))
        return usage("--config:", error);
    for (size_t p = 0; p < KILN_NUM_PRECISIONS; p++)
        if (counts(run->options, &precisions[p]) &&
                (run->options->precision || family_serves(config.family, &precisions[p])))
            run_pairs(run, &config, &precisions[p], 0);
    return EXIT_SUCCESS;
}

static bool read_bundle(const char *folder, struct winners *winners)
{
    char path[4096], error[FILES_ERROR_BYTES];
    snprintf(path, sizeof path, "%s/winners.tsv", folder);
    char *text = files_read(path, error);
    const bool ok = text && winners_parse(text, winners, error);
    if (!ok)
        fprintf(stderr, "kernel_test: %s: %s\n", path, error);
    free(text);
    return ok;
}

/* Whether a recipe of the bundle is one of those asked for. `number` counts these. */
static bool is_asked_for(const struct options *options, const struct winner *winner, int pair,
        unsigned *number)
{
    return !form_is(winner) && // see runtime-forms
           (!options->family || options->family == winner->config.family) &&
           counts(options, winner->precision) && (options->pair < 0 || options->pair == pair) &&
           (!options->shard.num || (*number)++ % options->shard.num + 1 == options->shard.index);
}

/* They are assembled with the facts that the bundle was made with, as when it was emitted. */
static int run_bundle(struct run *run)
{
    static struct winners winners;
    unsigned number = 0;
    if (!read_bundle(run->options->bundle, &winners))
        return EXIT_USAGE;
    run->facts = winners.facts;
    for (unsigned i = 0; i < winners.num_recipes; i++)
        for (int pair = 0; pair < NUM_PAIRS; pair++) {
            const struct winner *winner = &winners.recipes[i];
            const struct problem problem = problem_of_pair(winner->precision, pair);
            if (is_asked_for(run->options, winner, pair, &number))
                run_config(run, &winner->config, &problem);
        }
    return EXIT_SUCCESS;
}

static int run_all(struct run *run)
{
    int status = EXIT_SUCCESS;
    if (run->options->bundle)
        status = run_bundle(run);
    else if (run->options->config)
        status = run_named(run);
    else
        for (size_t i = 0; i < num_families; i++)
            if (!run->options->family || run->options->family == families[i])
                run_family(run, families[i]);
    printf("%u programs, ", run->counts.programs);
    print_counts(&run->counts);
    if (status)
        return status;
    if (run->counts.failures)
        return EXIT_FAILURE;
    if (run->counts.illegal)
        return EXIT_ILLEGAL;
    if (run->options->family && !run->counts.programs && !run->options->list)
        return EXIT_SKIPPED;
    return run->counts.cases || run->options->list ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int pretend(const struct options *options, struct device_facts *facts)
{
    for (unsigned i = 0; i < options->num_facts; i++) {
        const char *equals = strchr(options->facts[i], '=');
        const int fact = equals ? word_find(fact_names, NUM_FACTS, options->facts[i],
                                          (size_t) (equals - options->facts[i]))
                                : -1;
        if (fact < 0)
            return usage("--fact:", options->facts[i]);
        facts->value[fact] = strtol(equals + 1, NULL, 10);
    }
    return EXIT_SUCCESS;
}

static int run_on_device(const struct options *options)
{
    static struct run run;
    cl_device_id device;
    char error[FAMILY_ERROR_BYTES];
    run.options = options;
    if (!device_find(options->device, &device, error)) {
        fprintf(stderr, "kernel_test: %s\n", error);
        return EXIT_SKIPPED;
    }
    if (!device_facts(device, &run.facts, error) || !launcher_open(&run.launcher, device, error)) {
        fprintf(stderr, "kernel_test: %s\n", error);
        return EXIT_FAILURE;
    }
    int status = pretend(options, &run.facts);
    verifier_init(&run.verifier, &run.launcher);
    candidates_init(&run.candidates, &run.launcher, &run.verifier, &run.facts, false);
    if (!status)
        status = run_all(&run);
    candidates_free(&run.candidates);
    verifier_free(&run.verifier);
    launcher_close(&run.launcher);
    return status;
}

/* ---- The command line ---- */

static int set_option(struct options *options, const char *name, const char *value)
{
    char *end;
    if (!strcmp(name, "--device"))
        options->device = value;
    else if (!strcmp(name, "--config"))
        options->config = value;
    else if (!strcmp(name, "--bundle"))
        options->bundle = value;
    else if (!strcmp(name, "--shard"))
        return shard_parse(value, &options->shard) ? 0 : usage("no part", value);
    else if (!strcmp(name, "--edge"))
        options->edge = value;
    else if (!strcmp(name, "--fact") && options->num_facts < MAX_FACTS)
        options->facts[options->num_facts++] = value;
    else if (!strcmp(name, "--family"))
        return (options->family = family_find(value)) ? 0 : usage("no family", value);
    else if (!strcmp(name, "--precision"))
        return (options->precision = precision_find(value)) ? 0 : usage("no precision", value);
    else if (!strcmp(name, "--transpose"))
        return (options->pair = pair_find(value)) >= 0 ? 0 : usage("no transposes", value);
    else if (!strcmp(name, "--most")) {
        options->most = strtoul(value, &end, 10);
        return *end || !options->most ? usage("--most: no positive number", value) : 0;
    } else
        return usage("unknown option", name);
    return 0;
}

int main(int argc, char **argv)
{
    struct options options = { .device = "", .pair = -1 };
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help"))
            return fputs(help, stdout) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
        if (!strcmp(argv[i], "--all"))
            options.all = true;
        else if (!strcmp(argv[i], "--brief"))
            options.brief = true;
        else if (!strcmp(argv[i], "--sparse"))
            options.sparse = true;
        else if (!strcmp(argv[i], "--presets"))
            options.presets = true;
        else if (!strcmp(argv[i], "--tight"))
            options.tight = true;
        else if (!strcmp(argv[i], "--list"))
            options.list = true;
        else if (!strcmp(argv[i], "--real"))
            options.real = true;
        else if (!strcmp(argv[i], "--complex"))
            options.complex = true;
        else if (i + 1 == argc)
            return usage("a value is missing after", argv[i]);
        else if (set_option(&options, argv[i], argv[i + 1]))
            return EXIT_USAGE;
        else
            i++;
    }
    return run_on_device(&options);
}
