/* literature.c: see literature.h.
 *
 * A preset that cannot run here has its row like the others, with the rule that forbids it or what
 * became of it. Extents become what the preset's guards want; Kiln's own kernel is asked
 * for at the same shape.
 */
#include "literature.h"
#include "../core/assemble.h"
#include "../core/files.h"
#include "../core/text.h"
#include "../tune/device.h"
#include "../tune/linked.h"
#include "../tune/supervise.h"
#include "../tune/verify.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OWN, PRESET, NUM_RUNS, NUM_COLUMNS = 7, REMARK_BYTES = 320 };

/* The extent on a device where nothing was said: what naive kernels can do in seconds. */
static const size_t cpu_size = 512, gpu_size = 4096;

struct literature {
    const struct options *options;
    struct supervisor *supervisor;
    struct launcher launcher;          /* to ask the library what it would do */
    struct device_facts facts;
    struct text cells;                 /* all cells of the table, each ended by a tab */
    unsigned num_rows, num_failed;     /* rows; presets that are wrong in themselves */
    unsigned num_outcomes[NUM_TRIAL_OUTCOMES];
};

/* One preset on its way. */
struct entry {
    const struct family_preset *preset;
    struct config config, own;
    struct problem problem;
    WITH_SHAPE;
    bool has_own;
    double own_seconds;
    struct trial_result result;
    char remark[REMARK_BYTES];
};

static volatile int stop_requested;

static void request_stop(int signal_number)
{
    (void) signal_number;
    stop_requested = 1;
}

static int fail(const char *what)
{
    fprintf(stderr, "kiln-tune: %s\n", what);
    return EXIT_FAILURE;
}

/* ---- One preset ---- */

/* The device facts that a broken rule names, with their values: the limits that are exceeded. */
static void name_limits(const struct entry *entry, const struct device_facts *facts,
        const char *reason, struct text *text)
{
    const struct family *family = entry->config.family;
    const char *before = " (";
    for (unsigned r = 0; r < family->num_rules; r++) {
        if (family->rules[r].reason != reason)
            continue;
        for (int i = 0; i < NUM_FACTS; i++) {
            const char *at = strstr(family->rules[r].expr, fact_names[i]);
            const size_t len = strlen(fact_names[i]);
            if (!at || strspn(at + len, "_ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
                continue;
            text_add(text, "%s%s is %ld", before, fact_names[i], facts->value[i]);
            before = ", ";
        }
        text_add(text, "%s", *before == ',' ? ")" : "");
        return;
    }
}

static bool is_legal(struct entry *entry, const struct device_facts *facts)
{
    struct text text = { 0 };
    const char *reason;
    if (config_legal(&entry->config, &entry->problem, facts, &reason))
        return true;
    text_add(&text, "%s", reason);
    name_limits(entry, facts, reason, &text);
    snprintf(entry->remark, sizeof entry->remark, "%s", text.failed ? reason : text.bytes);
    text_free(&text);
    entry->result.outcome = TRIAL_ILLEGAL;
    return false;
}

/* The shape: the wanted extent, changed as little as the preset's guards want. */
static bool choose_shape(const struct literature *literature, struct entry *entry)
{
    const size_t size = literature->options->size ? literature->options->size
            : literature->facts.value[FACT_IS_CPU] ? cpu_size : gpu_size;
    struct assembly assembly;
    unsigned index;
    bool ok = false;
    snprintf(entry->remark, sizeof entry->remark, "out of memory");
    if (assembly_init(&assembly, "literature", &literature->facts)) {
        ok = assembly_add(&assembly, &entry->config, &entry->problem, &index, entry->remark);
        entry->m = entry->n = entry->k = size;
        if (ok)
            verify_fit(&assembly.recipes[index].guard, &entry->m, &entry->n, &entry->k);
    }
    assembly_free(&assembly);
    if (ok)
        entry->remark[0] = '\0';
    else
        entry->result.outcome = TRIAL_BUILD;
    return ok;
}

/* Asks the trial process about the preset, and about Kiln's own kernel in turn with it. */
static bool measure(struct literature *literature, struct entry *entry)
{
    struct trial_result results[NUM_RUNS];
    struct trial_request request = {
        .kind = TRIAL_MEASURE, .problem = entry->problem, .shape = entry->shape,
        .deadline = literature->options->preset_seconds,
    };
    entry->has_own = linked_dispatch(&literature->launcher, &entry->problem, entry->shape,
            &entry->own);
    const bool is_own = entry->has_own && config_equal(&entry->own, &entry->config);
    if (entry->has_own && !is_own)
        request.configs[request.num_configs++] = entry->own;
    request.configs[request.num_configs++] = entry->config;
    const bool answered = supervise_run(literature->supervisor, &request, results,
            &stop_requested);
    entry->result = results[request.num_configs - 1];
    entry->own_seconds = entry->has_own ? results[0].seconds : 0;
    snprintf(entry->remark, sizeof entry->remark, "%s", entry->result.message);
    if (is_own)
        snprintf(entry->remark, sizeof entry->remark, "is Kiln's own here");
    else if (!entry->has_own)
        snprintf(entry->remark, sizeof entry->remark, "%s%sno kernel of Kiln's serves the call",
                entry->result.message, *entry->result.message ? "; " : "");
    return answered;
}

/* ---- The table ---- */

static const char *const headings[NUM_COLUMNS] = {
    "preset", "published on", "GFLOP/s there", "run here", "GFLOP/s here", "of Kiln's own", "remark"
};

static void add_cell(struct literature *literature, const char *cell)
{
    text_add(&literature->cells, "%s\t", cell);
}

static double gflops(const struct entry *entry, double seconds)
{
    return 1e-9 * precision_operations(entry->problem.precision, entry->shape) / seconds;
}

static void add_published(struct literature *literature, const struct family_figure *figure)
{
    char cell[160] = "";
    snprintf(cell, sizeof cell, figure->extent ? "%s, %ld" : "%s",
            figure->device ? figure->device : "", figure->extent);
    add_cell(literature, cell);
    snprintf(cell, sizeof cell, "%.0f", figure->gflops);
    add_cell(literature, figure->gflops > 0 ? cell : "");
}

static void add_measured(struct literature *literature, const struct entry *entry)
{
    char cell[160] = "";
    const double seconds = entry->result.seconds;
    const bool shaped = entry->m > 0;
    snprintf(cell, sizeof cell, shaped ? "%cgemm %s %zux%zux%zu" : "%cgemm %s",
            entry->problem.precision->letter, pair_names[pair_of_problem(&entry->problem)],
            entry->m, entry->n, entry->k);
    add_cell(literature, cell);
    snprintf(cell, sizeof cell, "%.4g", seconds > 0 ? gflops(entry, seconds) : 0);
    add_cell(literature, seconds > 0 ? cell : trial_outcome_words[entry->result.outcome]);
    snprintf(cell, sizeof cell, "%.3f", seconds > 0 ? entry->own_seconds / seconds : 0);
    add_cell(literature, seconds > 0 && entry->own_seconds > 0 ? cell : "");
}

static void add_row(struct literature *literature, const struct entry *entry)
{
    const enum trial_outcome outcome = entry->result.outcome;
    add_cell(literature, entry->preset->name);
    add_published(literature, &entry->preset->figure);
    add_measured(literature, entry);
    add_cell(literature, entry->remark);
    literature->num_rows++;
    literature->num_outcomes[outcome]++;
    literature->num_failed += outcome == TRIAL_WRONG || outcome == TRIAL_BUILD ||
                              outcome == TRIAL_CRASH || outcome == TRIAL_DEVICE;
}

/* A table of Markdown, its columns aligned so that it can be read as it is. */
static void print_table(const struct text *cells, unsigned num_rows)
{
    size_t width[NUM_COLUMNS] = { 0 };
    const char *p = cells->bytes;
    for (unsigned i = 0; i < num_rows * NUM_COLUMNS; i++, p = strchr(p, '\t') + 1)
        if (strcspn(p, "\t") > width[i % NUM_COLUMNS])
            width[i % NUM_COLUMNS] = strcspn(p, "\t");
    p = cells->bytes;
    for (unsigned i = 0; i < num_rows * NUM_COLUMNS; i++, p = strchr(p, '\t') + 1) {
        const unsigned column = i % NUM_COLUMNS;
        printf("%s%-*.*s%s", column ? " | " : "| ", (int) width[column],
                (int) strcspn(p, "\t"), p, column + 1 == NUM_COLUMNS ? " |\n" : "");
        for (unsigned c = 0; i + 1 == NUM_COLUMNS && c < NUM_COLUMNS; c++)
            printf(c + 1 == NUM_COLUMNS ? "|---|\n" : "|---");
    }
}

/* ---- All of them ---- */

static bool is_wanted(const struct options *options, const char *name)
{
    return !options->num_words || strstr(name, options->words[0]);
}

bool literature_has(const char *part)
{
    for (size_t f = 0; f < num_families; f++)
        for (unsigned i = 0; i < families[f]->num_presets; i++)
            if (strstr(families[f]->presets[i].name, part))
                return true;
    return false;
}

static bool run_preset(struct literature *literature, const struct family_preset *preset)
{
    struct entry entry = { .preset = preset, .result = { .outcome = TRIAL_OK } };
    bool answered = true;
    if (!config_parse(preset->config, &entry.config, entry.remark)) {
        fprintf(stderr, "kiln-tune: preset '%s': %s\n", preset->name, entry.remark);
        return false;
    }
    entry.problem = preset_problem(preset, &entry.config, &literature->facts);
    if (is_legal(&entry, &literature->facts) && choose_shape(literature, &entry))
        answered = measure(literature, &entry);
    if (!literature->options->quiet)
        fprintf(stderr, "kiln-tune: %s: %s\n", preset->name,
                trial_outcome_words[entry.result.outcome]);
    add_row(literature, &entry);
    return answered;
}

static bool run_all(struct literature *literature)
{
    for (int i = 0; i < NUM_COLUMNS; i++)
        add_cell(literature, headings[i]);
    literature->num_rows = 1;
    for (size_t f = 0; f < num_families; f++)
        for (unsigned i = 0; i < families[f]->num_presets; i++) {
            const struct family_preset *preset = &families[f]->presets[i];
            if (is_wanted(literature->options, preset->name) &&
                !run_preset(literature, preset))
                return false;
        }
    return true;
}

static int conclude(const struct literature *literature, bool complete)
{
    if (literature->cells.failed)
        return fail("out of memory");
    printf("%s, %s; Kiln's own: what its linked bundles serve the same call with\n\n",
            literature->facts.device, literature->facts.driver);
    print_table(&literature->cells, literature->num_rows);
    printf("\n%u presets:", literature->num_rows - 1);
    for (int i = 0, some = 0; i < NUM_TRIAL_OUTCOMES; i++)
        if (literature->num_outcomes[i])
            printf("%s %u %s", some++ ? "," : "", literature->num_outcomes[i],
                    trial_outcome_words[i]);
    printf("%s\n", complete ? "" : "; ended before the others");
    files_flush_output();
    return literature->num_failed || !complete ? EXIT_FAILURE : EXIT_SUCCESS;
}

static bool open_all(struct literature *literature, cl_device_id *device)
{
    const struct options *options = literature->options;
    char error[TRIAL_MESSAGE_BYTES];
    if (device_find(options->device, device, error) &&
        launcher_open(&literature->launcher, *device, error) &&
        (literature->supervisor = supervise_open(options->program, options->device,
                &stop_requested, &literature->facts, error)))
        return true;
    fail(error);
    return false;
}

int literature_main(const struct options *options)
{
    struct literature literature = { .options = options };
    const struct sigaction action = { .sa_handler = request_stop };
    cl_device_id device;
    int status = EXIT_FAILURE;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (open_all(&literature, &device))
        status = conclude(&literature, run_all(&literature));
    supervise_close(&literature.supervisor);
    launcher_close(&literature.launcher);
    text_free(&literature.cells);
    return status;
}
