/* kiln-tune: everything that needs a device. */
#include "literature/literature.h"
#include "tune/embed.h"
#include "tune/options.h"
#include "tune/probe.h"
#include "tune/repro.h"
#include "tune/device.h"
#include "tune/supervise.h"
#include "core/extents.h"
#include "core/fields.h"
#include "core/files.h"
#include "core/select.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_USAGE = 2 };

static const char help[] =
    "usage: kiln-tune COMMAND [OPTION]...\n"
    "\n"
    "Finds the fastest kernels of Kiln for an OpenCL device. Each candidate is verified before it\n"
    "is timed. The result is a bundle, for a library to be linked with.\n"
    "\n"
    "  probe                 print the facts of the device\n"
    "  tune                  search, verify, time; write winners.tsv, device.tsv and bundle.c\n"
    "  merge JOURNAL...      join the journals of shards into the one of --journal; tune over it\n"
    "                        then times the best again on one device\n"
    "  literature [PART]     run every preset, or those with PART in their name; print one table:\n"
    "                        what was published, what is measured here, the part of Kiln's own\n"
    "  repro CONFIG          write a standalone program, STEM.c and STEM.cl, to run a candidate\n"
    "  trial                 the child process of tune; speaks a protocol on standard input\n"
    "  binaries              the same for --embed: makes binaries of DIR/winners.tsv\n"
    "\n"
    "  --device NAME         substring of the device's name; default: the first, GPUs before CPUs\n"
    "  --json                probe, tune: results as JSON on standard output\n"
    "  --help                print this\n"
    "  --version             print the version\n"
    "\n"
    "tune:\n"
    "  --output DIR          where the results go (default .)\n"
    "  --journal FILE        append-only record; a run over an existing one goes on where it\n"
    "                        stopped (default DIR/journal.tsv)\n"
    "  --seconds S           budget (default 180)\n"
    "  --precisions LIST     of half, single, double, emulated, complex_single,\n"
    "                        complex_double (default single,double,half)\n"
    "  --facts FILE          tune as for a lesser device: of memory, work-groups, vectors and so\n"
    "                        on the lesser of this device's and the file's counts, which is a\n"
    "                        device.tsv or winners.tsv\n"
    "  --shapes FILE         the application's own shapes, tuned exactly, 64 at most: one\n"
    "                        \"M N K\" or \"MxNxK\" a line, and behind it, in any order, a "
    "precision\n"
    "                        (default: all), transposes nn, nt, tn or tt (default: all),\n"
    "                        batch=N and weight=X (default 1); a batch is tuned as one call;\n"
    "                        the search's time for a shape is in proportion to N times X;\n"
    "                        # starts a comment\n"
    "  --strategy NAME       guided (default), local, genetic, three-stage, random, exhaustive\n"
    "  --seed N              of the search's random numbers (default 1)\n"
    "  --shard I/N           search the I-th of N parts of the space, for the N-th part of the\n"
    "                        search's time, and choose nothing: see merge\n"
    "  --name NAME           of the bundle (default: made from the device's name)\n"
    "  --bundle-kib N        what the bundle may take in an archive, KiB, as source; recipes that\n"
    "                        are worth least are dropped until it fits (default 1024; 0: any\n"
    "                        number)\n"
    "  --embed WHAT          source, binary or both (default source)\n"
    "  --unless-matched      do nothing when there is no device or a linked bundle is for it\n"
    "  --or-generic          where nothing can be tuned or verified in time, write a bundle for\n"
    "                        no device, so that the generic one serves, and say why: for builds\n"
    "  --set-aside           a damaged journal, or one of another device or generator, becomes\n"
    "                        FILE.oldN; without this option it is refused\n"
    "  --replay              use only what the journal holds, and no device; with --embed binary\n"
    "                        or both, the journal's device and driver must be here\n"
    "  --quiet               no progress; also of literature\n"
    "\n"
    "literature:\n"
    "  --size N              extent of the square problems, rounded up to whole tiles "
    "(default 512\n"
    "                        on CPUs, 4096 elsewhere)\n"
    "  --budget S            seconds that one preset may take (default 60)\n"
    "  Status 1 also when a preset is wrong, does not build or takes its process down.\n"
    "\n"
    "repro:\n"
    "  --precision P         of the product (default single)\n"
    "  --transpose XY        nn, nt, tn or tt (default nn)\n"
    "  --shape MxNxK         of the product (default 100x90x80)\n"
    "  --stem PATH           of the files (default repro)\n"
    "\n"
    "\"kiln-gen report JOURNAL -o FILE\" shows a journal as an HTML page.\n"
    "Ctrl-C keeps the best so far. Exit status: 0 on success, 1 on failure, 2 on wrong usage.\n";

/* What was printed has to reach its reader. */
static int end(int status)
{
    char error[FILES_ERROR_BYTES];
    if (files_end_output(error))
        return status;
    fprintf(stderr, "kiln-tune: %s\n", error);
    return EXIT_FAILURE;
}

static int usage(const char *format, const char *what)
{
    fprintf(stderr, "kiln-tune: ");
    fprintf(stderr, format, what);
    fprintf(stderr, "\nTry 'kiln-tune --help'.\n");
    return EXIT_USAGE;
}

static int set_name(struct options *o, const char *v)
{
    o->name = v;
    return winners_is_name(v)
                 ? 0
                 : usage("--name: '%s' is not made of up to 63 letters, digits, . _ -", v);
}

static int set_shard(struct options *o, const char *v)
{
    return shard_parse(v, &o->shard)
                 ? 0
                 : usage("--shard: '%s' is not I/N, 1/1 to 9999/9999, I not above N", v);
}

static bool is_chosen(const struct options *o, const struct precision *precision)
{
    for (size_t i = 0; i < o->num_precisions; i++)
        if (o->precisions[i] == precision)
            return true;
    return false;
}

static bool parse_seconds(const char *v, double *seconds)
{
    return field_real(v, seconds) && *seconds > 0 && *seconds < 1e7;
}

static int set_seconds(struct options *o, const char *v)
{
    return parse_seconds(v, &o->seconds) ? 0 : usage("--seconds: '%s' is not a positive number", v);
}

static int set_budget(struct options *o, const char *v)
{
    return parse_seconds(v, &o->preset_seconds)
                 ? 0
                 : usage("--budget: '%s' is not a positive number", v);
}

static bool parse_count(const char *v, unsigned long least, unsigned long most, size_t *count)
{
    char *end;
    const unsigned long value = strtoul(v, &end, 10);
    *count = value;
    return *v >= '0' && *v <= '9' && !*end && value >= least && value <= most;
}

static int set_size(struct options *o, const char *v)
{
    return parse_count(v, 1, 1 << 20, &o->size)
                 ? 0
                 : usage("--size: '%s' is not a number from 1 to 1048576", v);
}

static int set_bundle_kib(struct options *o, const char *v)
{
    return parse_count(v, 0, SELECT_MOST_KIB, &o->bundle_kib)
                 ? 0
                 : usage("--bundle-kib: '%s' is not a number from 0 to 1048576", v);
}

static int set_seed(struct options *o, const char *v)
{
    char *end;
    errno = 0;
    o->seed = strtoull(v, &end, 10);
    return *v < '0' || *v > '9' || *end || errno ? usage("--seed: '%s' is not a number", v) : 0;
}

static int set_strategy(struct options *o, const char *v)
{
    o->strategy = search_find(v);
    return o->strategy ? 0 : usage("--strategy: no strategy '%s'", v);
}

static int set_embed(struct options *o, const char *v)
{
    static const char *const words[] = { "source", "binary", "both" };
    for (int i = 0; i < 3; i++)
        if (!strcmp(words[i], v)) {
            o->embed = (enum embed) i;
            return 0;
        }
    return usage("--embed: '%s' is not source, binary or both", v);
}

static int set_precisions(struct options *o, const char *v)
{
    o->num_precisions = 0;
    while (*v) {
        char name[16];
        const size_t len = strcspn(v, ",");
        snprintf(name, sizeof name, "%.*s", (int) (len < 15 ? len : 15), v);
        const struct precision *precision = precision_find(name);
        if (!precision)
            return usage("--precisions: no precision '%s'", name);
        if (!is_chosen(o, precision))
            o->precisions[o->num_precisions++] = precision;
        v += len + (v[len] == ',');
    }
    return o->num_precisions ? 0 : usage("%s", "--precisions: none given");
}

static int set_precision(struct options *o, const char *v)
{
    o->precision = precision_find(v);
    return o->precision ? 0 : usage("--precision: no precision '%s'", v);
}

static int set_transpose(struct options *o, const char *v)
{
    o->pair = pair_find(v);
    return o->pair >= 0 ? 0 : usage("--transpose: '%s' is not nn, nt, tn or tt", v);
}

static int set_shape(struct options *o, const char *v)
{
    if (!extents_parse(v, &o->shape))
        return usage("--shape: '%s' is not MxNxK, each from 1 to 16777216", v);
    return 0;
}

/* The commands, as a set: which of them take an option. */
enum {
    PROBE = 1, TUNE = 2, MERGE = 4, LITERATURE = 8, REPRO = 16, TRIAL = 32, BINARIES = 64,
    ON_A_DEVICE = PROBE | TUNE | LITERATURE | REPRO | TRIAL | BINARIES
};

/* An option is a text that is kept, a flag, or a value that is read by a function. */
static const struct option {
    const char *name;
    unsigned commands;                 /* that take it; of others it is wrong usage */
    int (*read)(struct options *options, const char *value);
    size_t text, flag;                 /* offsets in struct options; 0: it is none */
} option_table[] = {
#define TEXT(field) .text = offsetof(struct options, field)
#define FLAG(field) .flag = offsetof(struct options, field)
    { "--device", ON_A_DEVICE, TEXT(device) },
    { "--output", TUNE | BINARIES, TEXT(output) },
    { "--journal", TUNE | MERGE, TEXT(journal) },
    { "--seconds", TUNE, set_seconds },
    { "--precisions", TUNE, set_precisions },
    { "--shapes", TUNE, TEXT(shapes_file) },
    { "--strategy", TUNE, set_strategy },
    { "--seed", TUNE, set_seed },
    { "--shard", TUNE, set_shard },
    { "--name", TUNE, set_name },
    { "--embed", TUNE, set_embed },
    { "--bundle-kib", TUNE, set_bundle_kib },
    { "--facts", TUNE | TRIAL, TEXT(facts) },
    { "--unless-matched", TUNE, FLAG(unless_matched) },
    { "--or-generic", TUNE, FLAG(or_generic) },
    { "--set-aside", TUNE, FLAG(set_aside) },
    { "--replay", TUNE, FLAG(replay) },
    { "--json", PROBE | TUNE, FLAG(json) },
    { "--quiet", TUNE | LITERATURE, FLAG(quiet) },
    { "--precision", REPRO, set_precision },
    { "--transpose", REPRO, set_transpose },
    { "--shape", REPRO, set_shape },
    { "--stem", REPRO, TEXT(stem) },
    { "--size", LITERATURE, set_size },
    { "--budget", LITERATURE, set_budget },
    { "--member", TRIAL, FLAG(is_member) },
#undef TEXT
#undef FLAG
};

static int set_option(const struct option *option, struct options *options, const char *value)
{
    if (option->flag)
        *(bool *) ((char *) options + option->flag) = true;
    else if (option->text)
        *(const char **) ((char *) options + option->text) = value;
    return option->read ? option->read(options, value) : 0;
}

static int repro_command(const struct options *options)
{
    struct config config;
    struct device_facts facts;
    cl_device_id device;
    char error[FAMILY_ERROR_BYTES];
    if (options->num_words != 1)
        return usage("%s", "repro needs one configuration");
    if (!config_parse(options->words[0], &config, error))
        return usage("%s", error);
    const struct problem problem = problem_of_pair(options->precision, options->pair);
    if (!device_find(options->device, &device, error) || !device_facts(device, &facts, error) ||
            !repro_write(&config, &problem, options->shape, &facts, options->stem, error)) {
        fprintf(stderr, "kiln-tune: %s\n", error);
        return EXIT_FAILURE;
    }
    printf("%s.c and %s.cl: gcc %s.c -lOpenCL -lm\n", options->stem, options->stem, options->stem);
    return EXIT_SUCCESS;
}

static int merge_command(const struct options *options)
{
    if (!options->num_words)
        return usage("%s", "merge needs journals");
    if (!options->journal)
        return usage("%s", "merge needs --journal FILE, for what comes out");
    return merge_main(options);
}

static int probe_command(const struct options *options)
{
    return probe_main(options->device, options->json);
}

static int trial_command(const struct options *options)
{
    return trial_main(options->device, options->facts, options->is_member);
}

static int binaries_command(const struct options *options)
{
    return embed_main(options->device, options->output);
}

static int literature_command(const struct options *options)
{
    return !options->num_words || literature_has(options->words[0])
                 ? literature_main(options)
                 : usage("no preset has '%s' in its name", options->words[0]);
}

static const struct command {
    const char *name;
    unsigned command;
    int (*run)(const struct options *options);
    int most_words;                    /* INT_MAX: any */
} commands[] = {
    { "probe", PROBE, probe_command, 0 }, { "tune", TUNE, tune_main, 0 },
    { "merge", MERGE, merge_command, INT_MAX },
    { "literature", LITERATURE, literature_command, 1 },
    { "repro", REPRO, repro_command, 1 }, { "trial", TRIAL, trial_command, 0 },
    { "binaries", BINARIES, binaries_command, 0 },
};

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (!strcmp(commands[i].name, name))
            return &commands[i];
    return NULL;
}

static int refuse(const struct command *command, const char *option)
{
    char what[64];
    snprintf(what, sizeof what, "%s takes no option '%.32s'", command->name, option);
    return usage("%s", what);
}

static int parse_option(const struct command *command, struct options *options, int argc,
        char **argv, int *at)
{
    for (size_t i = 0; i < sizeof option_table / sizeof option_table[0]; i++) {
        const struct option *option = &option_table[i];
        if (strcmp(option->name, argv[*at]))
            continue;
        if (!(option->commands & command->command))
            return refuse(command, argv[*at]);
        if (!option->flag && *at + 1 == argc)
            return usage("option '%s' needs a value", argv[*at]);
        return set_option(option, options, option->flag ? NULL : argv[++*at]);
    }
    if (argv[*at][0] == '-')
        return usage("unexpected '%s'", argv[*at]);
    options->words[options->num_words++] = argv[*at];
    return 0;
}

static int run(const struct command *command, const struct options *options)
{
    return options->num_words > command->most_words
                 ? usage("unexpected '%s'", options->words[command->most_words])
                 : command->run(options);
}

int main(int argc, char **argv)
{
    struct options options = {
        .program = "/proc/self/exe",
        .device = "",
        .output = ".",
        .stem = "repro",
        .strategy = search_find("guided"),
        .seed = 1,
        .seconds = 180,
        .preset_seconds = 60,
        .bundle_kib = SELECT_DEFAULT_KIB,
        .precision = precision_find("single"),
        .shape = { 100, 90, 80, 0 },
        .precisions = { precision_find("single"), precision_find("double"),
                precision_find("half") },
        .num_precisions = 3,
    };
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
            return end(fputs(help, stdout) < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
    if (argc < 2)
        return usage("%s", "no command");
    if (!strcmp(argv[1], "--version"))
        return end(puts("kiln-tune " KILN_VERSION) < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
    const struct command *command = find_command(argv[1]);
    if (!command)
        return usage("no command '%s'", argv[1]);
    options.words = argv + 2;
    for (int i = 2; i < argc; i++)
        if (parse_option(command, &options, argc, argv, &i))
            return EXIT_USAGE;
    return end(run(command, &options));
}
