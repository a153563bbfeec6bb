/* kiln-gen: everything about kernels and bundles that needs no device. */
#include "core/assemble.h"
#include "core/bench.h"
#include "core/describe.h"
#include "core/embedded.h"
#include "core/emit.h"
#include "core/files.h"
#include "core/forms.h"
#include "core/join.h"
#include "core/rechoose.h"
#include "core/select.h"
#include "core/winners.h"
#include "literature/replay/replay.h"
#include "report/report.h"
#include "search/search.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_USAGE = 2, MAX_SEEDS = 1000000, MAX_BENCHES = 16 };

struct options {
    const struct precision *precision; /* NULL: single, or the preset's */
    int pair;                          /* kiln_pair(); -1: nn, or the preset's */
    const char *facts, *output, *name, *preset;
    const char *strategy, *start, *rank, *provenance, *benches[MAX_BENCHES];
    bool times_only;
    const struct family *times_of;     /* for times_only; NULL: of all */
    unsigned seeds, ahead, bundle_kib, num_benches;
    bool triangle;
    char **words;
    int num_words;
};

static int fail(const char *format, const char *what)
{
    fprintf(stderr, "kiln-gen: ");
    fprintf(stderr, format, what);
    fputc('\n', stderr);
    return EXIT_FAILURE;
}

static const char help[] =
    "usage: kiln-gen COMMAND [OPTION]... [ARGUMENT]...\n"
    "\n"
    "Makes the kernels and bundles of Kiln. It needs no device.\n"
    "\n"
    "  families              list the kernel families\n"
    "  presets               list the configurations with a name, and what was published of them\n"
    "  space FAMILY          its parameters, values, rules and presets, and the number of points\n"
    "  render CONFIG         print the kernels of a configuration, \"packed TM=12 NV=2 VEC=16\",\n"
    "                        or with --preset those of a preset\n"
    "  explain CONFIG        say which rules a configuration obeys and what follows from it,\n"
    "                        or with --preset those of a preset\n"
    "  select JOURNAL        choose recipes from a journal, print winners.tsv\n"
    "  select WINNERS        choose among a bundle's recipes by what kiln-bench --best measured\n"
    "                        of them (--bench), fit their times anew, print winners.tsv\n"
    "  emit WINNERS          print a bundle as C\n"
    "  join WINNERS...       print winners.tsv of a bundle for any device, out of tunings on\n"
    "                        several kinds; each recipe is for the kind that it was tuned on\n"
    "  forms WINNERS         choose anew, by the times there, what needs no search, and print\n"
    "                        winners.tsv: recipes for triangles, and of complex products by\n"
    "                        real ones\n"
    "  check DIR...          fail unless each DIR/bundle.c is what DIR/winners.tsv emits\n"
    "  replay RECORDING...   run searches on recorded times, a table or a journal; print how near\n"
    "                        they come to the best after 25 to 400 points\n"
    "  report JOURNAL        print a journal as an HTML page: what was chosen, what that "
    "loses and\n"
    "                        gains, how it was searched for, all details\n"
    "\n"
    "      --preset NAME     render, explain: a preset in place of CONFIG\n"
    "  -p, --precision P     half, single, double, emulated, complex_single or complex_double\n"
    "                        (default: single, or the preset's own)\n"
    "  -t, --transpose XY    nn, nt, tn or tt (default: nn, or the preset's own)\n"
    "      --store WHAT      render, explain: all of C, or a triangle (default all)\n"
    "  -f, --facts FILE      device facts (kiln-tune probe, or winners.tsv); default: the least\n"
    "                        device of OpenCL 1.2, with --preset one that allows every preset\n"
    "  -n, --name NAME       select, join: the bundle's name\n"
    "      --provenance TEXT join: what its head says of its making\n"
    "      --bundle-kib N    select: what the bundle may take in an archive, KiB; recipes that\n"
    "                        are worth least are dropped until it fits (default 1024; 0: any);\n"
    "                        with --bench, the precisions that were measured\n"
    "      --strategy NAME   replay: one strategy, or all (default all)\n"
    "      --seeds N         replay: the mean of so many runs (default 100)\n"
    "      --start FILE      replay: guided begins also with the best of this recording\n"
    "      --ahead N         replay: a search proposes N points before it is told of the\n"
    "                        first, as where one is compiled while another one is measured\n"
    "      --rank EXPR       replay: merit by the columns' names, for guided to begin with; "
    "0 is by\n"
    "                        chance (default: the family's, or what fits of\n"
    "                        literature/replay/ranks.inc)\n"
    "      --bench FILE      what kiln-bench wrote with --json. select: with --best, at 40 shapes\n"
    "                        of a precision or more; up to 16 times. report: Kiln over its peers\n"
    "      --times FAMILY    select with --bench: choose nothing but the recipes for triangles;\n"
    "                        fit anew the times of this family's recipes, or with `all` of all\n"
    "                        and what choosing loses with them (rows loss)\n"
    "  -o, --output FILE     write there, and only if it changes; default: standard output\n"
    "  -h, --help            print this\n"
    "      --version         print the version\n"
    "\n"
    "Exit status: 0 on success, 1 on failure, 2 on wrong usage.\n";

static int usage(const char *format, const char *what)
{
    fprintf(stderr, "kiln-gen: ");
    fprintf(stderr, format, what);
    fprintf(stderr, "\nTry 'kiln-gen --help'.\n");
    return EXIT_USAGE;
}

static int print(const char *text)
{
    char error[FILES_ERROR_BYTES];
    fputs(text, stdout);
    return files_end_output(error) ? EXIT_SUCCESS : fail("%s", error);
}

static int finish(const struct options *options, struct text *text)
{
    char error[FILES_ERROR_BYTES];
    int status = EXIT_SUCCESS;
    if (text->failed)
        status = fail("%s", "out of memory");
    else if (!options->output)
        status = print(text->bytes ? text->bytes : "");
    else if (!files_write(options->output, text->bytes ? text->bytes : "", text->len, error))
        status = fail("%s", error);
    text_free(text);
    return status;
}

/* Without a path *facts stays as it is. */
static bool read_facts(const char *path, struct device_facts *facts)
{
    char error[FAMILY_ERROR_BYTES];
    if (!path || facts_read(path, facts, error))
        return true;
    fail("%s", error);
    return false;
}

static struct problem problem_of(const struct options *options)
{
    return problem_of_pair(options->precision ? options->precision : precision_find("single"),
            options->pair < 0 ? 0 : options->pair);
}

/* What render and explain are about. */
struct subject {
    struct config config;
    struct problem problem;
    struct device_facts facts;
};

/* What is added to the reason why a configuration is illegal. */
static const char *device_meant(const struct options *options)
{
    return options->facts  ? ""
         : options->preset ? " (the device: one that allows every preset; --facts names another)"
                           : " (the device: the least of OpenCL 1.2; --facts names another)";
}

/* An exit status; 0 when all is well. */
static int find_subject(const struct options *options, const char *command, struct subject *subject)
{
    const struct family_preset *preset = NULL;
    char error[FAMILY_ERROR_BYTES];
    if (!options->num_words && !options->preset)
        return usage("%s needs a configuration or --preset", command);
    if (options->num_words && options->preset)
        return usage("%s takes a configuration or --preset, not both", command);
    if (options->preset)
        preset = preset_find(options->preset, &subject->config, error);
    if (options->preset ? !preset : !config_parse(options->words[0], &subject->config, error))
        return usage("%s", error);
    facts_minimal(&subject->facts);
    if (preset)
        facts_ample(&subject->facts);
    if (!read_facts(options->facts, &subject->facts))
        return EXIT_FAILURE;
    subject->problem = preset ? preset_problem(preset, &subject->config, &subject->facts)
                              : problem_of(options);
    if (options->precision)
        subject->problem.precision = options->precision;
    if (options->pair >= 0)
        subject->problem = problem_of_pair(subject->problem.precision, options->pair);
    subject->problem.triangle = options->triangle;
    return EXIT_SUCCESS;
}

static int command_families(const struct options *options)
{
    struct text text = { 0 };
    describe_families(&text);
    return finish(options, &text);
}

static int command_presets(const struct options *options)
{
    struct text text = { 0 };
    describe_presets(&text);
    return finish(options, &text);
}

static int command_space(const struct options *options)
{
    const struct family *family = options->num_words ? family_find(options->words[0]) : NULL;
    struct device_facts facts;
    struct text text = { 0 };
    if (!options->num_words)
        return usage("%s", "space needs a family; 'kiln-gen families' lists them");
    if (!family)
        return usage("no family '%s'", options->words[0]);
    facts_minimal(&facts);
    if (!read_facts(options->facts, &facts))
        return EXIT_FAILURE;
    const struct problem problem = problem_of(options);
    describe_space(&text, family, &problem, &facts);
    return finish(options, &text);
}

static int command_render(const struct options *options)
{
    struct subject subject;
    struct text text = { 0 };
    char error[FAMILY_ERROR_BYTES];
    const int status = find_subject(options, "render", &subject);
    if (status)
        return status;
    char *kernels = assemble_text(&subject.config, &subject.problem, &subject.facts, error);
    if (!kernels) {
        const bool is_illegal = !strncmp(error, "illegal", 7);
        fprintf(stderr, "kiln-gen: %s%s\n", error, is_illegal ? device_meant(options) : "");
        return EXIT_FAILURE;
    }
    text_add(&text, "%s", kernels);
    free(kernels);
    return finish(options, &text);
}

static int command_explain(const struct options *options)
{
    struct subject subject;
    struct text text = { 0 };
    char error[FAMILY_ERROR_BYTES], name[CONFIG_TEXT_BYTES];
    const char *reason;
    const int status = find_subject(options, "explain", &subject);
    if (status)
        return status;
    const bool legal = config_legal(&subject.config, &subject.problem, &subject.facts, &reason);
    struct scope *scope = calloc(1, sizeof *scope);
    config_format(&subject.config, name);
    text_add(&text, "%s\n%s%s%s\nrank %" PRId64 "\n", name,
            legal ? "legal" : "illegal: ", legal ? "" : reason, legal ? "" : device_meant(options),
            config_rank(&subject.config, &subject.problem, &subject.facts));
    const bool scoped = scope && config_scope(&subject.config, &subject.problem, &subject.facts,
                                         scope, error);
    for (size_t i = 0; scoped && i < scope->num; i++) {
        const struct scope_entry *entry = &scope->entries[i];
        if (entry->is_text)
            text_add(&text, "  %-16s %s\n", entry->name, entry->text);
        else
            text_add(&text, "  %-16s %" PRId64 "\n", entry->name, entry->value);
    }
    free(scope);
    return finish(options, &text);
}

static bool read_winners(const char *path, struct winners *winners)
{
    char error[FILES_ERROR_BYTES], cause[FAMILY_ERROR_BYTES];
    char *bytes = files_read(path, error);
    const bool ok = bytes && winners_parse(bytes, winners, cause);
    if (!bytes)
        fail("%s", error);
    else if (!ok)
        fprintf(stderr, "kiln-gen: %s: %s\n", path, cause);
    free(bytes);
    return ok;
}

/* False with a message; free the assembly in any case. */
static bool assemble_file(const char *path, const struct winners *winners,
        struct assembly *assembly)
{
    char error[FAMILY_ERROR_BYTES];
    const bool ok = winners_assemble(winners, assembly, error);
    if (!ok)
        fprintf(stderr, "kiln-gen: %s: %s\n", path, error);
    return ok;
}

static int command_emit(const struct options *options)
{
    static struct winners winners;
    struct assembly assembly;
    struct text comment = { 0 }, text = { 0 };
    if (options->num_words != 1)
        return usage("%s", "emit needs one winners file");
    if (!read_winners(options->words[0], &winners))
        return EXIT_FAILURE;
    const bool ok = assemble_file(options->words[0], &winners, &assembly);
    if (ok) {
        winners_comment(&winners, &comment);
        emit_bundle(&assembly.bundle, comment.bytes, &text);
    }
    text_free(&comment);
    assembly_free(&assembly);
    return ok ? finish(options, &text) : EXIT_FAILURE;
}

/* Names each winner whose text is not what was timed, and for which pairs. */
static void name_changed(const char *dir, const struct winners *winners)
{
    for (unsigned i = 0; i < winners->num_recipes; i++) {
        const struct winner *winner = &winners->recipes[i];
        char config[CONFIG_TEXT_BYTES], pairs[4 * NUM_PAIRS + 1] = "";
        for (int pair = 0; pair < NUM_PAIRS; pair++)
            if (winner->is_changed[pair])
                strcat(strcat(pairs, " "), pair_names[pair]);
        if (!*pairs)
            continue;
        config_format(&winner->config, config);
        fprintf(stderr, "kiln-gen: %s: changed since they were timed: %s%s of %s%s\n", dir,
                winner->precision->name, pairs, config,
                winner->triangle ? ", a triangle of C" : "");
    }
}

/* Whether the assembly is what bundle.c holds; a message when it is not. */
static bool compare(const char *path, const char *comment, struct assembly *assembly)
{
    struct text text = { 0 };
    char error[FILES_ERROR_BYTES];
    char *committed = files_read(path, error);
    bool same = false;
    if (!committed) {
        fail("%s", error);
    } else if (embedded_is_there(committed)) {
        same = embedded_is_emitted(committed, assembly, comment);
        if (!same)
            fail("%s is not what its winners.tsv emits, but for its binaries: run kiln-tune tune "
                 "--replay --embed",
                    path);
    } else {
        emit_bundle(&assembly->bundle, comment, &text);
        same = text.bytes && !strcmp(committed, text.bytes);
        if (!same)
            fail("%s is not what its winners.tsv emits: run kiln-gen emit", path);
    }
    free(committed);
    text_free(&text);
    return same;
}

static bool check_one(const char *dir)
{
    static struct winners winners;
    struct assembly assembly;
    struct text comment = { 0 };
    char path[4096], error[FILES_ERROR_BYTES];
    snprintf(path, sizeof path, "%s/winners.tsv", dir);
    if (!read_winners(path, &winners))
        return false;
    bool ok = assemble_file(path, &winners, &assembly);
    if (ok) {
        const char *wanting = winners_wanting(&winners);
        if (winners_find_changed(&winners, error))
            name_changed(dir, &winners);
        winners_comment(&winners, &comment);
        snprintf(path, sizeof path, "%s/bundle.c", dir);
        ok = compare(path, comment.bytes, &assembly) && !wanting;
        if (wanting)
            fprintf(stderr, "kiln-gen: %s/winners.tsv: %s\n", dir, wanting);
    }
    text_free(&comment);
    assembly_free(&assembly);
    return ok;
}

static int command_check(const struct options *options)
{
    bool ok = true;
    if (!options->num_words)
        return usage("%s", "check needs a folder");
    for (int i = 0; i < options->num_words; i++)
        ok = check_one(options->words[i]) && ok;
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* An exit status; 0 when the file was read. */
static int read_bench(const char *path, struct bench *bench)
{
    char error[FILES_ERROR_BYTES], cause[FAMILY_ERROR_BYTES];
    char *json = files_read(path, error);
    if (!json)
        return fail("%s", error);
    const bool ok = bench_parse(json, bench, cause);
    free(json);
    if (!ok)
        fprintf(stderr, "kiln-gen: %s: %s\n", path, cause);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* NULL with a message when it is empty and must not be, or cannot be read. */
static char *read_journal(const char *path, bool may_be_empty)
{
    char error[FILES_ERROR_BYTES];
    char *journal = files_read(path, error);
    if (!journal) {
        fail("%s", error);
    } else if (!journal[0] && !may_be_empty) {
        fail("%s: empty", path);
        free(journal);
        journal = NULL;
    }
    return journal;
}

/* Chooses from a journal. */
static bool choose_from_journal(const struct options *options, struct select_budget *budget,
        struct winners *winners)
{
    char cause[FAMILY_ERROR_BYTES];
    char *journal = read_journal(options->words[0], false);
    const bool ok = journal && select_winners(journal, options->name, budget, winners, cause);
    if (journal && !ok)
        fprintf(stderr, "kiln-gen: %s: %s\n", options->words[0], cause);
    free(journal);
    return ok;
}

static void tell_rechosen(const struct rechosen *done, unsigned num, bool times_only)
{
    for (unsigned i = 0; i < num; i++)
        fprintf(stderr,
                "kiln-gen: %s: %s%u of %u recipes; %u shapes; at %u held out what is chosen takes "
                "%.3f of the fastest, before %.3f\n",
                done[i].precision->name, times_only ? "times of " : "", done[i].recipes, done[i].of,
                done[i].shapes, done[i].held, done[i].now, done[i].before);
}

/* Chooses among the recipes of a bundle. */
static bool choose_from_bench(const struct options *options, struct select_budget *budget,
        struct winners *winners)
{
    static struct winners old;
    struct bench benches[MAX_BENCHES] = { { .num_rows = 0 } };
    struct rechosen done[KILN_NUM_PRECISIONS];
    unsigned num_done = 0;
    char error[FAMILY_ERROR_BYTES] = "";
    bool ok = read_winners(options->words[0], &old);
    if (ok && !winners_find_changed(&old, error)) {
        fprintf(stderr, "kiln-gen: %s: %s\n", options->words[0], error);
        ok = false;
    }
    for (unsigned i = 0; i < options->num_benches && ok; i++)
        ok = !read_bench(options->benches[i], &benches[i]);
    if (ok) {
        ok = options->times_only
                   ? rechoose_times(&old, benches, options->num_benches, options->times_of, winners,
                             done, &num_done, error)
                   : rechoose(&old, benches, options->num_benches, budget, winners, done, &num_done,
                             error);
        if (!ok)
            fprintf(stderr, "kiln-gen: %s: %s\n", options->words[0], error);
        else
            tell_rechosen(done, num_done, options->times_only);
    }
    if (options->name)
        snprintf(winners->name, sizeof winners->name, "%s", options->name);
    for (unsigned i = 0; i < options->num_benches; i++)
        bench_free(&benches[i]);
    return ok;
}

static int command_select(const struct options *options)
{
    static struct winners winners;
    static struct select_budget budget;
    struct text text = { 0 };
    char error[FAMILY_ERROR_BYTES];
    budget.most_bytes = (size_t) 1024 * options->bundle_kib;
    if (options->num_words != 1)
        return usage("%s", "select needs one journal, or one winners file and --bench");
    if (options->times_only && !options->num_benches)
        return usage("%s", "--times needs --bench");
    if (options->times_only && options->bundle_kib != SELECT_DEFAULT_KIB)
        return usage("%s", "--bundle-kib: --times chooses nothing");
    if (!(options->num_benches ? choose_from_bench(options, &budget, &winners)
                               : choose_from_journal(options, &budget, &winners)))
        return EXIT_FAILURE;
    if (!forms_add(&winners, error))
        return fail("%s", error);
    select_tell_dropped(&budget, "kiln-gen", &text);
    if (text.len && !text.failed)
        fputs(text.bytes, stderr);
    text_free(&text);
    winners_format(&winners, &text);
    return finish(options, &text);
}

/* For a bundle whose journal is gone, when a family learns to store triangles. */
static int command_forms(const struct options *options)
{
    static struct winners winners;
    struct text text = { 0 };
    char error[FAMILY_ERROR_BYTES];
    if (options->num_words != 1)
        return usage("%s", "forms needs one winners file");
    if (!read_winners(options->words[0], &winners))
        return EXIT_FAILURE;
    if (!forms_add(&winners, error))
        return fail("%s", error);
    winners_format(&winners, &text);
    return finish(options, &text);
}

static int command_join(const struct options *options)
{
    static struct winners all, one;
    struct text text = { 0 };
    char error[FAMILY_ERROR_BYTES];
    if (!options->num_words)
        return usage("%s", "join needs winners files");
    snprintf(all.name, sizeof all.name, "%s", options->name ? options->name : "generic");
    if (options->provenance && strlen(options->provenance) >= sizeof all.provenance)
        return usage("%s", "--provenance: too long");
    snprintf(all.provenance, sizeof all.provenance, "%s",
            options->provenance ? options->provenance : "");
    facts_minimal(&all.facts);
    for (int i = 0; i < options->num_words; i++) {
        if (!read_winners(options->words[i], &one))
            return EXIT_FAILURE;
        if (!join_winners(&all, &one, error))
            return fail("%s", error);
    }
    if (!forms_add(&all, error))
        return fail("%s", error);
    winners_format(&all, &text);
    return finish(options, &text);
}

static int command_report(const struct options *options)
{
    struct text text = { 0 };
    struct bench bench = { .num_rows = 0 };
    char cause[FAMILY_ERROR_BYTES];
    if (options->num_words != 1)
        return usage("%s", "report needs one journal");
    if (options->num_benches > 1)
        return usage("%s", "report takes one --bench");
    /* A page may be of a comparison alone. */
    char *journal = read_journal(options->words[0], options->num_benches > 0);
    if (!journal)
        return EXIT_FAILURE;
    int status = options->num_benches ? read_bench(options->benches[0], &bench) : EXIT_SUCCESS;
    if (!status && options->num_benches && !bench.num_peers)
        status = fail("%s: it compares Kiln with no peer", options->benches[0]);
    if (!status && !report_html(journal, options->num_benches ? &bench : NULL, &text, cause)) {
        fprintf(stderr, "kiln-gen: %s: %s\n", options->words[0], cause);
        status = EXIT_FAILURE;
    }
    free(journal);
    bench_free(&bench);
    if (!status)
        return finish(options, &text);
    text_free(&text);
    return status;
}

static int command_replay(const struct options *options)
{
    const struct replay_options replay = {
        .strategy = options->strategy,
        .seeds = options->seeds,
        .start = options->start,
        .ahead = options->ahead,
        .rank = options->rank,
        .paths = options->words,
        .num_paths = options->num_words,
    };
    struct text text = { 0 };
    char error[FILES_ERROR_BYTES];
    if (!options->num_words)
        return usage("%s", "replay needs a recording");
    if (!replay_report(&replay, &text, error)) {
        text_free(&text);
        return fail("%s", error);
    }
    return finish(options, &text);
}

enum option {
    OPTION_PRECISION, OPTION_TRANSPOSE, OPTION_FACTS, OPTION_OUTPUT, OPTION_NAME, OPTION_STRATEGY,
    OPTION_SEEDS, OPTION_START, OPTION_RANK, OPTION_AHEAD, OPTION_PRESET, OPTION_BUNDLE_KIB,
    OPTION_PROVENANCE, OPTION_STORE, OPTION_BENCH, OPTION_TIMES, NUM_OPTIONS,
    OPTION_UNKNOWN, NO_OPTION
};

static const struct {
    const char *name;
    char letter;                       /* 0: only the long form */
} option_words[NUM_OPTIONS] = {
    [OPTION_PRECISION] = { "precision", 'p' }, [OPTION_TRANSPOSE] = { "transpose", 't' },
    [OPTION_FACTS] = { "facts", 'f' }, [OPTION_OUTPUT] = { "output", 'o' },
    [OPTION_NAME] = { "name", 'n' }, [OPTION_STRATEGY] = { "strategy", 0 },
    [OPTION_SEEDS] = { "seeds", 0 }, [OPTION_START] = { "start", 0 }, [OPTION_RANK] = { "rank", 0 },
    [OPTION_AHEAD] = { "ahead", 0 },
    [OPTION_PRESET] = { "preset", 0 }, [OPTION_BUNDLE_KIB] = { "bundle-kib", 0 },
    [OPTION_PROVENANCE] = { "provenance", 0 }, [OPTION_STORE] = { "store", 0 },
    [OPTION_BENCH] = { "bench", 0 }, [OPTION_TIMES] = { "times", 0 },
};

/* The options that a command takes; any other one is wrong usage. */
#define TAKES(name) (1u << OPTION_##name)

enum {
    ANY_WORDS = -1,
    PROBLEM_OPTIONS = TAKES(PRECISION) | TAKES(TRANSPOSE) | TAKES(FACTS) | TAKES(OUTPUT)
};

static const struct command {
    const char *name;
    int (*run)(const struct options *options);
    int most_words;
    unsigned options;
} commands[] = {
    { "families", command_families, 0, TAKES(OUTPUT) },
    { "presets", command_presets, 0, TAKES(OUTPUT) },
    { "space", command_space, 1, PROBLEM_OPTIONS },
    { "render", command_render, 1, PROBLEM_OPTIONS | TAKES(PRESET) | TAKES(STORE) },
    { "explain", command_explain, 1, PROBLEM_OPTIONS | TAKES(PRESET) | TAKES(STORE) },
    { "select", command_select, 1,
        TAKES(NAME) | TAKES(BUNDLE_KIB) | TAKES(BENCH) | TAKES(TIMES) | TAKES(OUTPUT) },
    { "emit", command_emit, 1, TAKES(OUTPUT) },
    { "check", command_check, ANY_WORDS, 0 },
    { "replay", command_replay, ANY_WORDS,
        TAKES(STRATEGY) | TAKES(SEEDS) | TAKES(START) | TAKES(RANK) | TAKES(AHEAD) |
                TAKES(OUTPUT) },
    { "report", command_report, 1, TAKES(BENCH) | TAKES(OUTPUT) },
    { "join", command_join, ANY_WORDS, TAKES(NAME) | TAKES(PROVENANCE) | TAKES(OUTPUT) },
    { "forms", command_forms, 1, TAKES(OUTPUT) },
};

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (!strcmp(commands[i].name, name))
            return &commands[i];
    return NULL;
}

static int run(const struct command *command, const struct options *options)
{
    const int most = command->most_words;
    return most != ANY_WORDS && options->num_words > most
                 ? usage("unexpected '%s'", options->words[most])
                 : command->run(options);
}

static enum option find_option(const char *word)
{
    if (word[0] != '-' || !word[1])
        return NO_OPTION;
    for (int i = 0; i < NUM_OPTIONS; i++)
        if ((word[1] == option_words[i].letter && !word[2]) ||
                (word[1] == '-' && !strcmp(word + 2, option_words[i].name)))
            return (enum option) i;
    return OPTION_UNKNOWN;
}

static int set_strategy(struct options *options, const char *value)
{
    options->strategy = value;
    return !strcmp(value, "all") || search_find(value) ? 0 : usage("no strategy '%s'", value);
}

static int set_number(unsigned *number, const char *value, unsigned least, unsigned most,
        const char *what)
{
    char *end;
    const unsigned long v = strtoul(value, &end, 10);
    *number = (unsigned) v;
    return end != value && !*end && v >= least && v <= most ? 0 : usage(what, value);
}

/* A row of winners.tsv ends at the first of some characters. */
static int set_text(const char **text, const char *value)
{
    *text = value;
    return !value[strcspn(value, "\t\r\n")] ? 0 : usage("a tab or a line's end is in '%s'", value);
}

static int set_name(struct options *options, const char *value)
{
    options->name = value;
    return winners_is_name(value)
                 ? 0
                 : usage("--name: '%s' is not made of up to 63 letters, digits, . _ -", value);
}

static int set_option(struct options *options, enum option option, const char *value)
{
    switch (option) {
    case OPTION_PRECISION:
        options->precision = precision_find(value);
        return options->precision ? 0 : usage("no precision '%s'", value);
    case OPTION_TRANSPOSE:
        options->pair = pair_find(value);
        return options->pair >= 0 ? 0 : usage("no transposes '%s'", value);
    case OPTION_FACTS: options->facts = value; return 0;
    case OPTION_OUTPUT: options->output = value; return 0;
    case OPTION_STRATEGY: return set_strategy(options, value);
    case OPTION_SEEDS:
        return set_number(&options->seeds, value, 1, MAX_SEEDS, "not a number of seeds: '%s'");
    case OPTION_AHEAD:
        return set_number(&options->ahead, value, 0, REPLAY_MAX_AHEAD,
                "--ahead: not a number from 0 to 63: '%s'");
    case OPTION_BUNDLE_KIB:
        return set_number(&options->bundle_kib, value, 0, SELECT_MOST_KIB,
                "--bundle-kib: not a number from 0 to 1048576: '%s'");
    case OPTION_START: options->start = value; return 0;
    case OPTION_RANK: options->rank = value; return 0;
    case OPTION_PRESET: options->preset = value; return 0;
    case OPTION_BENCH:
        if (options->num_benches == MAX_BENCHES)
            return usage("--bench: at most 16 files, and not also '%s'", value);
        options->benches[options->num_benches++] = value;
        return 0;
    case OPTION_TIMES:
        options->times_only = true;
        options->times_of = family_find(value);
        return options->times_of || !strcmp(value, "all") ? 0 : usage("no family '%s'", value);
    case OPTION_PROVENANCE: return set_text(&options->provenance, value);
    case OPTION_STORE:
        options->triangle = !strcmp(value, "triangle");
        return options->triangle || !strcmp(value, "all")
                     ? 0
                     : usage("--store: neither all nor triangle: '%s'", value);
    default: return set_name(options, value);
    }
}

static int refuse(const struct command *command, const char *option)
{
    char what[64];
    snprintf(what, sizeof what, "%s takes no option '%.32s'", command->name, option);
    return usage("%s", what);
}

static int parse_options(int argc, char **argv, const struct command *command,
        struct options *options)
{
    options->words = argv + 2;
    for (int i = 2; i < argc; i++) {
        const enum option option = find_option(argv[i]);
        if (option == NO_OPTION)
            options->words[options->num_words++] = argv[i];
        else if (option == OPTION_UNKNOWN)
            return usage("unknown option '%s'", argv[i]);
        else if (!(command->options >> option & 1))
            return refuse(command, argv[i]);
        else if (i + 1 == argc)
            return usage("option '%s' needs a value", argv[i]);
        else if (set_option(options, option, argv[i + 1]))
            return EXIT_USAGE;
        else
            i++;
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct options options = {
        .pair = -1,
        .strategy = "all",
        .seeds = 100,
        .bundle_kib = SELECT_DEFAULT_KIB,
    };
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
            return print(help);
    if (argc < 2)
        return usage("%s", "no command");
    if (!strcmp(argv[1], "--version"))
        return print("kiln-gen " KILN_VERSION "\n");
    const struct command *command = find_command(argv[1]);
    if (!command)
        return usage("no command '%s'", argv[1]);
    return parse_options(argc, argv, command, &options) ? EXIT_USAGE : run(command, &options);
}
